//! What a leader knows of the servers that follow it.
//!
//! ```text
//!   Linked -> Silent -> Informed -> Promising -> Promised -> Syncing -> Synced -> UpToDate
//!             (info)    (epoch     (its ack     (quorum     (its ack   (quorum
//!                        is safe)   of epoch)    of acks)    of it)     of acks)
//! ```

use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

use crate::ids::{LinkId, ServerId, Zxid};
use crate::io::Output;
use crate::unordered::hash_unordered;
use crate::zab::Message;

/// How far one learner has got.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) enum Stage {
    /// Connected, nothing said yet.
    Silent,
    /// It said who it is.
    Informed,
    /// It was told the epoch.
    Promising,
    /// It said what it has.
    Promised {
        /// The end of its history.
        zxid: Zxid,
        /// Whether nothing but a snapshot will do.
        snapshot: bool,
    },
    /// It was sent what it lacks, and NEWLEADER. From here on it gets every proposal.
    Syncing,
    /// It has what the epoch begins with.
    Synced,
    /// It serves.
    UpToDate,
}

/// One server that follows.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Learner {
    pub(crate) link: LinkId,
    pub(crate) server: ServerId,
    pub(crate) observer: bool,
    pub(crate) stage: Stage,
    /// The last tick in which silence is forgiven.
    pub(crate) deadline: u64,
    /// A proposal it has not acknowledged, and in which tick it was sent.
    pub(crate) owes: Option<(Zxid, u64)>,
}

/// All that follow, by connection.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Learners(Vec<Learner>);

/// Who came first does not matter to anybody.
impl Hash for Learners {
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash_unordered(&self.0, state);
    }
}

impl Learners {
    pub(crate) fn add(&mut self, link: LinkId, server: ServerId, deadline: u64) {
        let apart = |learner: &Learner| learner.link != link && learner.server != server;
        assert!(self.0.iter().all(apart), "{server} is here already");
        let (observer, stage, owes) = (false, Stage::Silent, None);
        self.0.push(Learner { link, server, observer, stage, deadline, owes });
    }

    pub(crate) fn remove(&mut self, link: LinkId) -> Option<Learner> {
        let place = self.0.iter().position(|learner| learner.link == link)?;
        Some(self.0.remove(place))
    }

    pub(crate) fn remove_server(&mut self, server: ServerId) -> Option<Learner> {
        let place = self.0.iter().position(|learner| learner.server == server)?;
        Some(self.0.remove(place))
    }

    pub(crate) fn get_mut(&mut self, link: LinkId) -> Option<&mut Learner> {
        self.0.iter_mut().find(|learner| learner.link == link)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Learner> {
        self.0.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Learner> {
        self.0.iter_mut()
    }

    /// Tells everybody who takes part in broadcast: one thing those who vote, another those who
    /// only want to know.
    pub(crate) fn broadcast(
        &self,
        voters: &Message,
        observers: Option<&Message>,
        out: &mut Vec<Output>,
    ) {
        for learner in self.0.iter().filter(|learner| learner.stage >= Stage::Syncing) {
            let message = if learner.observer { observers } else { Some(voters) };
            if let Some(message) = message {
                out.push(Output::Send { link: learner.link, message: message.clone() });
            }
        }
    }
}
