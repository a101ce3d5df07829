//! What a learner has to be sent so that it has what its leader has.
//!
//! ```text
//!   the learner's end       is sent
//!   = the leader's          DIFF
//!   in the leader's recent  DIFF, then what comes after it
//!   beyond, or beside it    TRUNC to the last one they share, then what comes after it
//!   before, or unclear      SNAP
//! ```
//!
//! Follows `LearnerHandler.syncFollower`, with two differences. A learner whose tail is beside the
//! leader's history is cut back to the last transaction of the tail's own epoch that the leader
//! has; the Java code sends a snapshot. That the learner holds that transaction is for the learner
//! to verify; if it does not, it comes back and asks for a snapshot. And nothing is read from log
//! files: what lies further back than is kept at hand means a snapshot.

use crate::bugs::{Bug, Bugs};
use crate::ids::Zxid;
use crate::note::Branch;

use super::recent::Recent;

/// How a learner is brought up to date.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Way {
    /// It is sent what comes after this.
    Diff { from: Zxid },
    /// It is sent a snapshot.
    Snap,
    /// It cuts off what comes after this, and is sent what the leader has there.
    Trunc { to: Zxid },
}

impl Way {
    /// For a learner whose history ends with `theirs`; `snapshot` if it wants nothing else.
    pub(crate) fn choose(theirs: Zxid, snapshot: bool, recent: &Recent, bugs: Bugs) -> Self {
        if snapshot || theirs < recent.base() {
            return Self::Snap;
        }
        // Within the window: nobody asks whether it was ever part of this history.
        if bugs.on(Bug::Zk1154) && theirs <= recent.last() {
            return Self::Diff { from: theirs };
        }
        let (shared, _) = recent.since(theirs);
        if shared == theirs {
            Self::Diff { from: theirs }
        } else if shared.epoch() == theirs.epoch() || theirs > recent.last() {
            Self::Trunc { to: shared }
        } else {
            Self::Snap
        }
    }

    /// The branch this is, given whether anything is sent after it.
    pub(crate) const fn branch(self, more: bool) -> Branch {
        match (self, more) {
            (Self::Diff { .. }, false) => Branch::DiffEmpty,
            (Self::Diff { .. }, true) => Branch::Diff,
            (Self::Snap, _) => Branch::Snap,
            (Self::Trunc { .. }, false) => Branch::Trunc,
            (Self::Trunc { .. }, true) => Branch::TruncDiff,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Code;
    use crate::ids::{Millis, SessionId, Xid};
    use crate::request::Stamp;
    use crate::txn::{Change, Txn};
    use alloc::sync::Arc;

    fn zxid(epoch: i64, counter: i64) -> Zxid {
        Zxid(epoch << 32 | counter)
    }

    fn recent(base: Zxid, zxids: &[Zxid]) -> Recent {
        let mut recent = Recent::after(base, 100);
        for zxid in zxids {
            let stamp = Stamp { zxid: *zxid, time: Millis(0) };
            let change = Change::Error(Code::NoNode);
            let session = SessionId(1);
            recent.push(Arc::new(Txn { stamp, session, cxid: Xid(1), change, digest: None }));
        }
        recent
    }

    #[test]
    fn every_learner_finds_its_way() {
        let recent = recent(zxid(1, 3), &[zxid(1, 4), zxid(1, 5), zxid(3, 1), zxid(3, 2)]);
        let way = |theirs| Way::choose(theirs, false, &recent, Bugs::NONE);
        assert_eq!(way(zxid(3, 2)), Way::Diff { from: zxid(3, 2) });
        assert_eq!(way(zxid(1, 3)), Way::Diff { from: zxid(1, 3) });
        assert_eq!(way(zxid(1, 5)), Way::Diff { from: zxid(1, 5) });
        assert_eq!(way(zxid(1, 2)), Way::Snap, "too far back");
        assert_eq!(way(zxid(3, 9)), Way::Trunc { to: zxid(3, 2) }, "too much");
        assert_eq!(way(zxid(4, 1)), Way::Trunc { to: zxid(3, 2) }, "of an epoch that failed");
        assert_eq!(way(zxid(1, 8)), Way::Trunc { to: zxid(1, 5) }, "an old leader's tail");
        assert_eq!(way(zxid(2, 1)), Way::Snap, "an epoch that this leader knows nothing of");
        assert_eq!(Way::choose(zxid(3, 2), true, &recent, Bugs::NONE), Way::Snap);
        assert_eq!(way(Zxid::NONE), Way::Snap);
    }

    #[test]
    #[cfg(feature = "bugs")]
    fn with_1154_whoever_lies_within_the_window_keeps_its_tail() {
        let recent = recent(zxid(1, 3), &[zxid(1, 4), zxid(1, 5), zxid(3, 1), zxid(3, 2)]);
        let bugs = Bugs::of([Bug::Zk1154]).unwrap();
        let ways =
            |theirs| [Bugs::NONE, bugs].map(|bugs| Way::choose(theirs, false, &recent, bugs));
        let (trunc, diff) = (|to| Way::Trunc { to }, |from| Way::Diff { from });
        assert_eq!(ways(zxid(1, 8)), [trunc(zxid(1, 5)), diff(zxid(1, 8))], "an old leader's tail");
        assert_eq!(ways(zxid(2, 1)), [Way::Snap, diff(zxid(2, 1))], "an epoch that failed");
        for same in [zxid(1, 2), zxid(1, 5), zxid(3, 9), zxid(4, 1)] {
            assert_eq!(ways(same)[0], ways(same)[1], "{same} is outside, or part of the history");
        }
    }
}
