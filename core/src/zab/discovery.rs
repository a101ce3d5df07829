//! A leader-to-be gathers promises: a new epoch, and that nobody has more than it has.
//!
//! ```text
//!             infos of a quorum         safe on disk            promises of a quorum
//!   gathering -----------------> fixing ------------> promising --------------------> done
//! ```
//!
//! `Leader.getEpochToPropose` and `Leader.waitForEpochAck`. Nobody is taken out of the sets when
//! its connection ends: each entry stands for what is on that server's disk.

use alloc::collections::BTreeSet;

use crate::ids::{Epoch, ServerId, Zxid};
use crate::quorum::Joint;

/// See the [module](self).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Discovery {
    me: ServerId,
    /// Above everything that anyone who presented itself has promised.
    epoch: Epoch,
    /// Voters that presented themselves, this one included.
    present: BTreeSet<ServerId>,
    state: State,
    /// What this server has: nobody in the quorum may have more.
    mine: (Epoch, Zxid),
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
enum State {
    /// The epoch may still grow.
    Gathering,
    /// The epoch is being written.
    Fixing,
    /// Voters that have promised themselves to the epoch.
    Promising(BTreeSet<ServerId>),
}

/// A promise from a server that has more than this one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Behind;

impl Discovery {
    pub(crate) fn new(me: ServerId, accepted: Epoch, current: Epoch, zxid: Zxid) -> Self {
        Self {
            me,
            epoch: Epoch(accepted.0 + 1),
            present: BTreeSet::from([me]),
            state: State::Gathering,
            mine: (current, zxid),
        }
    }

    /// A server presents itself. Its promise counts for the epoch, also if it has no vote.
    pub(crate) fn present(&mut self, server: ServerId, accepted: Epoch, quorum: &Joint) {
        if self.state == State::Gathering {
            self.epoch = self.epoch.max(Epoch(accepted.0 + 1));
            if quorum.has_voter(server) {
                self.present.insert(server);
            }
        }
    }

    /// The epoch, once a quorum has presented itself. It is to be written now.
    pub(crate) fn fix(&mut self, quorum: &Joint) -> Option<Epoch> {
        let enough = self.state == State::Gathering && quorum.is_enough(&self.present);
        enough.then(|| {
            self.state = State::Fixing;
            self.epoch
        })
    }

    /// The epoch is safe on this server's disk, and thereby promised by itself.
    pub(crate) fn fixed(&mut self) {
        assert_eq!(self.state, State::Fixing, "an epoch is written once");
        self.state = State::Promising(BTreeSet::from([self.me]));
    }

    /// The epoch, if it may be told.
    pub(crate) fn epoch(&self) -> Option<Epoch> {
        match self.state {
            State::Gathering | State::Fixing => None,
            State::Promising(_) => Some(self.epoch),
        }
    }

    /// A server promised itself, and says what it has.
    ///
    /// # Errors
    /// If it has more than this one, which then must not lead.
    pub(crate) fn promised(
        &mut self,
        server: ServerId,
        current: Option<Epoch>,
        zxid: Zxid,
        quorum: &Joint,
    ) -> Result<(), Behind> {
        let Some(current) = current else { return Ok(()) };
        if (current, zxid) > self.mine && quorum.weight(server) > 0 {
            return Err(Behind);
        }
        if let State::Promising(promised) = &mut self.state
            && zxid != Zxid::NONE
            && quorum.has_voter(server)
        {
            promised.insert(server);
        }
        Ok(())
    }

    /// Whether enough have promised themselves.
    pub(crate) fn is_done(&self, quorum: &Joint) -> bool {
        match &self.state {
            State::Gathering | State::Fixing => false,
            State::Promising(promised) => quorum.is_enough(promised),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quorum::Quorum;

    fn three() -> Joint {
        Quorum::majority((1..=3).map(ServerId)).unwrap().into()
    }

    #[test]
    fn the_epoch_is_above_all_promises_and_told_only_when_safe() {
        let quorum = three();
        let mut discovery = Discovery::new(ServerId(1), Epoch(3), Epoch(3), Zxid(5));
        assert_eq!(discovery.fix(&quorum), None, "one of three");
        discovery.present(ServerId(9), Epoch(7), &quorum);
        assert_eq!(discovery.fix(&quorum), None, "without a vote it does not count");
        discovery.present(ServerId(2), Epoch(4), &quorum);
        assert_eq!(discovery.fix(&quorum), Some(Epoch(8)), "but its promise does");
        assert_eq!(discovery.epoch(), None);
        discovery.fixed();
        assert_eq!(discovery.epoch(), Some(Epoch(8)));
        assert!(!discovery.is_done(&quorum));
        discovery.promised(ServerId(2), None, Zxid(5), &quorum).unwrap();
        assert!(!discovery.is_done(&quorum), "it has promised that before");
        discovery.promised(ServerId(2), Some(Epoch(3)), Zxid::NONE, &quorum).unwrap();
        assert!(!discovery.is_done(&quorum), "it may have lost something");
        discovery.promised(ServerId(3), Some(Epoch(3)), Zxid(5), &quorum).unwrap();
        assert!(discovery.is_done(&quorum));
    }

    #[test]
    fn whoever_has_more_ends_it() {
        let quorum = three();
        let mut discovery = Discovery::new(ServerId(1), Epoch(3), Epoch(3), Zxid(5));
        discovery.present(ServerId(2), Epoch(3), &quorum);
        discovery.fix(&quorum).unwrap();
        discovery.fixed();
        let more = [(Epoch(3), Zxid(6)), (Epoch(4), Zxid(1))];
        for (current, zxid) in more {
            let heard = discovery.promised(ServerId(2), Some(current), zxid, &quorum);
            assert_eq!(heard, Err(Behind));
        }
    }
}
