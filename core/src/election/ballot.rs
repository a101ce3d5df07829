//! Whom a server would follow, and what it tells others of that.

use core::fmt;

use crate::ids::{Epoch, ServerId, Zxid};
use crate::quorum::Joint;

/// A candidate, with the history that speaks for it.
///
/// Ordered as ZooKeeper orders votes: the newer epoch, then the longer history, then the higher
/// id.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Ballot {
    /// The epoch whose leader the candidate last acknowledged.
    pub epoch: Epoch,
    /// The end of its history.
    pub zxid: Zxid,
    /// The candidate.
    pub leader: ServerId,
}

impl Ballot {
    /// Whether this one is to be preferred. Nobody without weight is; and whoever will have some
    /// votes for others until then.
    #[must_use]
    pub fn beats(&self, other: &Self, quorum: &Joint) -> bool {
        let waits = quorum.next.is_some() && quorum.weight(other.leader) == 0;
        quorum.weight(self.leader) > 0 && (self > other || waits)
    }
}

impl fmt::Display for Ballot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "server {} at {} of epoch {}", self.leader.0, self.zxid, self.epoch)
    }
}

/// What a server is doing, as far as an election is concerned.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Stance {
    /// It follows.
    Following,
    /// It leads.
    Leading,
    /// It looks for a leader.
    Looking,
    /// It follows without a vote.
    Observing,
}

/// What servers tell each other about whom to follow. It may be late, repeated or lost.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Notification {
    /// What the sender is doing.
    pub stance: Stance,
    /// Whom it votes for, or follows.
    pub ballot: Ballot,
    /// The sender's round; a decided server's is the one in which it decided.
    pub round: u64,
}

impl fmt::Display for Notification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {} round {}", self.stance, self.ballot, self.round)
    }
}
