//! A leader in broadcast: proposes in order, commits in order, each once a quorum has it on disk.
//!
//! ```text
//!            propose            a quorum is durable         taken
//!   decided ---------> proposed -------------------> committed ----> applied
//! ```
//!
//! An ensemble of one is its own quorum; it is led like any other, only that the one
//! acknowledgement that counts is its own disk's.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;

use super::log::LogTail;
use crate::ids::{Epoch, ServerId, Token, Zxid};
use crate::io::Output;
use crate::quorum::Quorum;
use crate::txn::Txn;

/// Proposes and commits, in order, for as long as this server leads.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Leader {
    me: ServerId,
    quorum: Quorum,
    /// Newest proposal.
    proposed: Zxid,
    /// Proposed, not yet committed. Invariant: zxids count up by one to `proposed`.
    proposals: VecDeque<Txn>,
    /// How far each server's disk has got; acknowledgements are cumulative.
    durable: BTreeMap<ServerId, Zxid>,
    log: LogTail,
}

impl Leader {
    /// Leads an ensemble of one, which never needs another epoch than its first.
    #[must_use]
    pub fn of_one(me: ServerId) -> Self {
        Self {
            me,
            quorum: Quorum::of_one(me),
            proposed: Zxid::first_of(Epoch(0)),
            proposals: VecDeque::new(),
            durable: BTreeMap::new(),
            log: LogTail::default(),
        }
    }

    /// The place the next proposal will have.
    #[must_use]
    pub fn next_zxid(&self) -> Zxid {
        self.proposed.next()
    }

    /// How many proposals are not committed.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        self.proposals.len()
    }

    /// Proposes a transaction, which must have the next place.
    pub fn propose(&mut self, txn: Txn, out: &mut Vec<Output>) {
        assert_eq!(txn.stamp.zxid, self.next_zxid(), "proposals leave no gap");
        self.proposed = txn.stamp.zxid;
        self.log.append(&txn, out);
        self.proposals.push_back(txn);
    }

    /// The own disk is done with something.
    pub fn persisted(&mut self, token: Token, out: &mut Vec<Output>) {
        if let Some(zxid) = self.log.persisted(token, out) {
            self.acknowledged(self.me, zxid);
        }
    }

    fn acknowledged(&mut self, by: ServerId, zxid: Zxid) {
        let durable = self.durable.entry(by).or_default();
        assert!(*durable <= zxid, "acknowledgements come in order");
        *durable = zxid;
    }

    /// The next transaction that a quorum has, to be applied now.
    pub fn commit(&mut self) -> Option<Txn> {
        let zxid = self.proposals.front()?.stamp.zxid;
        let have: BTreeSet<ServerId> = self
            .durable
            .iter()
            .filter(|(_, durable)| **durable >= zxid)
            .map(|(server, _)| *server)
            .collect();
        if self.quorum.is_enough(&have) { self.proposals.pop_front() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Code;
    use crate::ids::{Millis, SessionId, Xid};
    use crate::io::Persist;
    use crate::request::Stamp;
    use crate::txn::Change;

    fn txn(zxid: i64) -> Txn {
        Txn {
            stamp: Stamp { zxid: Zxid(zxid), time: Millis(0) },
            session: SessionId(7),
            cxid: Xid(1),
            change: Change::Error(Code::NoNode),
            digest: None,
        }
    }

    #[test]
    fn nothing_commits_before_the_disk_and_syncs_are_shared() {
        let mut leader = Leader::of_one(ServerId(1));
        let mut out = Vec::new();
        for zxid in 1..=3 {
            leader.propose(txn(zxid), &mut out);
            assert_eq!(leader.commit(), None);
        }
        let syncs: Vec<Token> = out
            .iter()
            .filter_map(|output| {
                let Output::Persist { token, persist: Persist::Sync } = output else { return None };
                Some(*token)
            })
            .collect();
        assert_eq!(syncs.len(), 1, "one sync at a time");
        out.clear();
        leader.persisted(syncs[0], &mut out);
        assert_eq!(leader.commit().map(|txn| txn.stamp.zxid), Some(Zxid(1)));
        assert_eq!(leader.commit(), None);
        let [Output::Persist { token, persist: Persist::Sync }] = out[..] else {
            panic!("a second sync for what came meanwhile: {out:?}");
        };
        leader.persisted(token, &mut Vec::new());
        assert_eq!(leader.commit().map(|txn| txn.stamp.zxid), Some(Zxid(2)));
        assert_eq!(leader.commit().map(|txn| txn.stamp.zxid), Some(Zxid(3)));
        assert_eq!(leader.outstanding(), 0);
    }

    #[test]
    fn a_completion_that_is_not_the_sync_says_nothing() {
        let mut leader = Leader::of_one(ServerId(1));
        let mut out = Vec::new();
        leader.propose(txn(1), &mut out);
        let Output::Persist { token, persist: Persist::Append(_) } = out[0] else { panic!() };
        leader.persisted(token, &mut out);
        assert_eq!(leader.commit(), None);
    }
}
