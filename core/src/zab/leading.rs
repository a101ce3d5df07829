//! A server that leads, or is about to: its learners, its ticks, and the phase it is in.
//!
//! ```text
//!              enough promises                enough have what it has
//!   Discovery -----------------> Establishing ------------------------> Broadcast
//! ```

use alloc::collections::BTreeSet;
use core::hash::{Hash, Hasher};

use super::discovery::Discovery;
use super::leader::Leader;
use super::learner::Learners;
use crate::ids::{Epoch, ServerId};
use crate::quorum::Joint;
use crate::unordered::hash_unordered;

/// See the [module](self).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Leading {
    pub(crate) learners: Learners,
    /// Half ticks since it began.
    pub(crate) half_ticks: u64,
    pub(crate) phase: Phase,
}

/// What a leader is at.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Phase {
    /// Gathering promises.
    Discovery(Discovery),
    /// Waiting until enough have what the epoch begins with.
    Establishing(Establishing),
    /// Serving.
    Broadcast(Leader),
}

/// Who has what the epoch begins with, on disk. Nobody is taken out again.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Establishing {
    pub(crate) epoch: Epoch,
    pub(crate) have: BTreeSet<ServerId>,
}

impl Hash for Establishing {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self { epoch, have } = self;
        epoch.hash(state);
        hash_unordered(have, state);
    }
}

impl Leading {
    pub(crate) fn in_phase(phase: Phase) -> Self {
        Self { learners: Learners::default(), half_ticks: 0, phase }
    }

    /// Whole ticks since it began.
    pub(crate) const fn tick(&self) -> u64 {
        self.half_ticks / 2
    }

    /// The epoch, if it may be told.
    pub(crate) fn epoch(&self) -> Option<Epoch> {
        match &self.phase {
            Phase::Discovery(discovery) => discovery.epoch(),
            Phase::Establishing(establishing) => Some(establishing.epoch),
            Phase::Broadcast(leader) => Some(leader.proposed().epoch()),
        }
    }

    /// The one that proposes and commits, while it serves.
    pub(crate) fn leader(&self) -> Option<&Leader> {
        match &self.phase {
            Phase::Broadcast(leader) => Some(leader),
            Phase::Discovery(_) | Phase::Establishing(_) => None,
        }
    }

    /// The same, to be changed.
    pub(crate) fn leader_mut(&mut self) -> Option<&mut Leader> {
        match &mut self.phase {
            Phase::Broadcast(leader) => Some(leader),
            Phase::Discovery(_) | Phase::Establishing(_) => None,
        }
    }
}

impl Establishing {
    /// Whether enough have it, this server among them: its own disk has the epoch, then.
    pub(crate) fn is_done(&self, me: ServerId, quorum: &Joint) -> bool {
        self.have.contains(&me) && quorum.is_enough(&self.have)
    }
}
