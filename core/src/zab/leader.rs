//! A leader in broadcast: proposes in order, commits in order, each once a quorum has it on disk.
//!
//! ```text
//!            propose            a quorum is durable         taken
//!   decided ---------> proposed -------------------> committed ----> applied
//! ```
//!
//! An ensemble of one is its own quorum; it is led like any other, only that the one
//! acknowledgement that counts is its own disk's.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

use crate::ids::{LinkId, ServerId, Zxid};
use crate::quorum::Quorum;
use crate::txn::Txn;
use crate::unordered::hash_unordered;

/// Proposes and commits, in order, for as long as this server leads.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Leader {
    /// Newest proposal.
    proposed: Zxid,
    /// Proposed, not yet committed. Invariant: zxids count up by one to `proposed`.
    proposals: VecDeque<Arc<Txn>>,
    /// How far each voter's disk has got; acknowledgements are cumulative.
    durable: Vec<(ServerId, Zxid)>,
    /// Learners that wait until this has been committed.
    syncs: VecDeque<(Zxid, LinkId)>,
}

impl Hash for Leader {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self { proposed, proposals, durable, syncs } = self;
        proposed.hash(state);
        proposals.hash(state);
        hash_unordered(durable, state);
        syncs.hash(state);
    }
}

impl Leader {
    /// Goes on after this zxid.
    pub(crate) fn after(proposed: Zxid, quorum: &Quorum) -> Self {
        let durable = quorum.voters().into_iter().map(|voter| (voter, Zxid::ZERO)).collect();
        Self { proposed, proposals: VecDeque::new(), durable, syncs: VecDeque::new() }
    }

    /// The newest proposal.
    pub(crate) const fn proposed(&self) -> Zxid {
        self.proposed
    }

    /// How many proposals are not committed.
    pub(crate) fn outstanding(&self) -> usize {
        self.proposals.len()
    }

    /// Proposals that are not committed, in order.
    pub(crate) fn proposals(&self) -> impl Iterator<Item = &Arc<Txn>> {
        self.proposals.iter()
    }

    /// Gives up; what was proposed and not committed is left.
    pub(crate) fn into_proposals(self) -> VecDeque<Arc<Txn>> {
        self.proposals
    }

    /// Proposes a transaction, which must have the next place.
    pub(crate) fn propose(&mut self, txn: Arc<Txn>) {
        assert_eq!(txn.stamp.zxid, self.proposed.next(), "proposals leave no gap");
        self.proposed = txn.stamp.zxid;
        self.proposals.push_back(txn);
    }

    /// A server has everything up to here on disk. Whoever has no vote is not counted. True if it
    /// is one more that has the oldest proposal, so that this may be committed now.
    pub(crate) fn acknowledged(&mut self, by: ServerId, zxid: Zxid) -> bool {
        let Some((_, durable)) = self.durable.iter_mut().find(|(voter, _)| *voter == by) else {
            return false;
        };
        let before = *durable;
        *durable = before.max(zxid);
        let has = |txn: &Arc<Txn>| before < txn.stamp.zxid && txn.stamp.zxid <= zxid;
        self.proposals.front().is_some_and(has)
    }

    /// A server synchronizes anew and has been told to have no more than this. What it said
    /// before about later proposals is void: it may be cutting them off at this moment.
    ///
    /// Returns whether it had said such a thing.
    pub(crate) fn take_back(&mut self, from: ServerId, zxid: Zxid) -> bool {
        let Some((_, durable)) = self.durable.iter_mut().find(|(voter, _)| *voter == from) else {
            return false;
        };
        let more = *durable > zxid;
        *durable = (*durable).min(zxid);
        more
    }

    /// The next transaction that a quorum has, to be applied now.
    pub(crate) fn commit(&mut self, quorum: &Quorum) -> Option<Arc<Txn>> {
        let zxid = self.proposals.front()?.stamp.zxid;
        let durable = &self.durable;
        let enough = quorum.is_enough_if(|server| {
            durable.iter().any(|(voter, durable)| *voter == server && *durable >= zxid)
        });
        if enough { self.proposals.pop_front() } else { None }
    }

    /// A learner wants to know when everything proposed so far has been committed. True if it
    /// has been.
    pub(crate) fn sync(&mut self, link: LinkId) -> bool {
        let waits = !self.proposals.is_empty();
        if waits {
            self.syncs.push_back((self.proposed, link));
        }
        !waits
    }

    /// The next learner whose wait is over, now that this has been committed.
    pub(crate) fn synced(&mut self, zxid: Zxid) -> Option<LinkId> {
        self.syncs.pop_front_if(|(until, _)| *until <= zxid).map(|(_, link)| link)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Code;
    use crate::ids::{Millis, SessionId, Xid};
    use crate::request::Stamp;
    use crate::txn::Change;

    fn txn(zxid: i64) -> Arc<Txn> {
        Arc::new(Txn {
            stamp: Stamp { zxid: Zxid(zxid), time: Millis(0) },
            session: SessionId(7),
            cxid: Xid(1),
            change: Change::Error(Code::NoNode),
            digest: None,
        })
    }

    fn committed(leader: &mut Leader, quorum: &Quorum) -> Vec<i64> {
        core::iter::from_fn(|| leader.commit(quorum)).map(|txn| txn.stamp.zxid.0).collect()
    }

    #[test]
    fn commits_follow_the_disks_of_a_quorum() {
        let quorum = Quorum::majority((1..=3).map(ServerId)).unwrap();
        let mut leader = Leader::after(Zxid(0), &quorum);
        for zxid in 1..=3 {
            leader.propose(txn(zxid));
        }
        assert_eq!(committed(&mut leader, &quorum), []);
        leader.acknowledged(ServerId(1), Zxid(3));
        leader.acknowledged(ServerId(7), Zxid(3));
        assert_eq!(committed(&mut leader, &quorum), [], "one vote, and a stranger");
        leader.acknowledged(ServerId(2), Zxid(2));
        assert_eq!(committed(&mut leader, &quorum), [1, 2]);
        assert_eq!(leader.outstanding(), 1);
    }

    /// Server 2 acknowledges 1, leaves, and is cut back to 0 when it returns. Counting its old
    /// word would commit what only server 1 has.
    #[test]
    fn an_acknowledgement_does_not_survive_a_truncation() {
        let quorum = Quorum::majority((1..=3).map(ServerId)).unwrap();
        let mut leader = Leader::after(Zxid(0), &quorum);
        leader.propose(txn(1));
        leader.acknowledged(ServerId(2), Zxid(1));
        assert!(leader.take_back(ServerId(2), Zxid(0)));
        leader.acknowledged(ServerId(1), Zxid(1));
        assert_eq!(committed(&mut leader, &quorum), []);
        leader.acknowledged(ServerId(2), Zxid(1));
        assert_eq!(committed(&mut leader, &quorum), [1]);
    }
}
