//! A leader in broadcast: proposes in order, commits in order, each once a quorum has it on disk.
//!
//! ```text
//!            propose            a quorum is durable         taken
//!   decided ---------> proposed -------------------> committed ----> applied
//! ```
//!
//! While the ensemble changes, two quorums have to agree:
//!
//! ```text
//!   … z-1 |  z: the change, and what is proposed until it is committed  | later …
//!    old  |                       old and new                           |  new
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
    rule: Rule,
}

/// Whose word is needed for which proposal.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Rule {
    /// The quorum before the last change, and the newest proposal that still needs it.
    before: Option<(Zxid, Arc<Quorum>)>,
    now: Arc<Quorum>,
    /// The quorum after the change under way, and the change, which is the first to need it.
    next: Option<(Zxid, Arc<Quorum>)>,
}

impl Rule {
    fn is_enough(&self, zxid: Zxid, has: impl Fn(ServerId) -> bool) -> bool {
        let before = self.before.iter().filter(|(last, _)| zxid <= *last);
        let next = self.next.iter().filter(|(first, _)| *first <= zxid);
        let besides = before.chain(next).map(|(_, quorum)| quorum);
        besides.chain([&self.now]).all(|quorum| quorum.is_enough_if(&has))
    }
}

impl Hash for Leader {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self { proposed, proposals, durable, syncs, rule } = self;
        proposed.hash(state);
        proposals.hash(state);
        hash_unordered(durable, state);
        syncs.hash(state);
        rule.hash(state);
    }
}

impl Leader {
    /// Goes on after this zxid.
    pub(crate) fn after(proposed: Zxid, quorum: &Arc<Quorum>) -> Self {
        let durable = quorum.voters().into_iter().map(|voter| (voter, Zxid::ZERO)).collect();
        let rule = Rule { before: None, now: Arc::clone(quorum), next: None };
        Self { proposed, proposals: VecDeque::new(), durable, syncs: VecDeque::new(), rule }
    }

    /// The newest proposal changes the ensemble: it and what follows need these as well.
    pub(crate) fn change(&mut self, next: &Arc<Quorum>) {
        assert!(self.rule.next.is_none(), "one change at a time");
        for voter in next.voters() {
            if self.durable.iter().all(|(known, _)| *known != voter) {
                self.durable.push((voter, Zxid::ZERO));
            }
        }
        self.rule.next = Some((self.proposed, Arc::clone(next)));
    }

    /// The change is committed: whatever is proposed from here on needs only those who are in
    /// the ensemble now.
    pub(crate) fn changed(&mut self) {
        let (_, next) = self.rule.next.take().expect("a change was under way");
        let before = core::mem::replace(&mut self.rule.now, next);
        self.rule.before = Some((self.proposed, before));
        let voters = self.rule.now.voters();
        self.durable.retain(|(voter, _)| {
            voters.contains(voter)
                || self.rule.before.as_ref().is_some_and(|(_, before)| before.has_voter(*voter))
        });
    }

    /// Which of these others has the most on disk; of equals the one with the highest name.
    pub(crate) fn furthest(&self, of: &Quorum, me: ServerId) -> Option<ServerId> {
        let others = self.durable.iter().filter(|(voter, _)| *voter != me);
        let known = others.filter(|(voter, _)| of.weight(*voter) > 0);
        known.map(|(voter, durable)| (*durable, *voter)).max().map(|(_, voter)| voter)
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
    pub(crate) fn commit(&mut self) -> Option<Arc<Txn>> {
        let zxid = self.proposals.front()?.stamp.zxid;
        let durable = &self.durable;
        let enough = self.rule.is_enough(zxid, |server| {
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

    fn committed(leader: &mut Leader) -> Vec<i64> {
        core::iter::from_fn(|| leader.commit()).map(|txn| txn.stamp.zxid.0).collect()
    }

    fn majority(ids: &[u8]) -> Arc<Quorum> {
        Arc::new(Quorum::majority(ids.iter().copied().map(ServerId)).unwrap())
    }

    /// From 1, 2, 3 to 3, 4, 5: the second proposal is the change.
    #[test]
    fn while_the_ensemble_changes_two_quorums_have_to_agree() {
        let mut leader = Leader::after(Zxid(0), &majority(&[1, 2, 3]));
        leader.propose(txn(1));
        leader.propose(txn(2));
        leader.change(&majority(&[3, 4, 5]));
        leader.propose(txn(3));
        let mut ack = |by, zxid| {
            leader.acknowledged(ServerId(by), Zxid(zxid));
            committed(&mut leader)
        };
        assert_eq!(ack(3, 3), []);
        assert_eq!(ack(4, 3), [], "two of those who come, one of those who are");
        assert_eq!(ack(5, 3), []);
        assert_eq!(ack(1, 3), [1, 2, 3], "before the change only those who are count");
    }

    #[test]
    fn what_was_proposed_while_it_changed_needs_both_for_good() {
        let mut leader = Leader::after(Zxid(0), &majority(&[1, 2, 3]));
        leader.propose(txn(1));
        leader.change(&majority(&[3, 4, 5]));
        leader.propose(txn(2));
        for (by, zxid) in [(1, 1), (3, 2), (4, 2), (5, 2)] {
            leader.acknowledged(ServerId(by), Zxid(zxid));
        }
        assert_eq!(leader.commit().map(|txn| txn.stamp.zxid), Some(Zxid(1)));
        leader.changed();
        leader.propose(txn(3));
        for by in [4, 5] {
            leader.acknowledged(ServerId(by), Zxid(3));
        }
        assert_eq!(committed(&mut leader), [], "of the old ones only 3 has the second");
        leader.acknowledged(ServerId(2), Zxid(2));
        assert_eq!(committed(&mut leader), [2, 3], "the third needs the new ones alone");
    }

    #[test]
    fn the_furthest_of_those_who_come_takes_over() {
        let mut leader = Leader::after(Zxid(0), &majority(&[1, 2, 3]));
        leader.propose(txn(1));
        let next = majority(&[2, 3]);
        leader.change(&next);
        leader.propose(txn(2));
        for (by, zxid) in [(1, 2), (2, 2), (3, 1)] {
            leader.acknowledged(ServerId(by), Zxid(zxid));
        }
        assert_eq!(leader.furthest(&next, ServerId(1)), Some(ServerId(2)));
        leader.acknowledged(ServerId(3), Zxid(2));
        assert_eq!(leader.furthest(&next, ServerId(1)), Some(ServerId(3)), "of equals the higher");
        assert_eq!(leader.furthest(&next, ServerId(3)), Some(ServerId(2)), "not itself");
    }

    #[test]
    fn commits_follow_the_disks_of_a_quorum() {
        let mut leader = Leader::after(Zxid(0), &majority(&[1, 2, 3]));
        for zxid in 1..=3 {
            leader.propose(txn(zxid));
        }
        assert_eq!(committed(&mut leader), []);
        leader.acknowledged(ServerId(1), Zxid(3));
        leader.acknowledged(ServerId(7), Zxid(3));
        assert_eq!(committed(&mut leader), [], "one vote, and a stranger");
        leader.acknowledged(ServerId(2), Zxid(2));
        assert_eq!(committed(&mut leader), [1, 2]);
        assert_eq!(leader.outstanding(), 1);
    }

    /// Server 2 acknowledges 1, leaves, and is cut back to 0 when it returns. Counting its old
    /// word would commit what only server 1 has.
    #[test]
    fn an_acknowledgement_does_not_survive_a_truncation() {
        let mut leader = Leader::after(Zxid(0), &majority(&[1, 2, 3]));
        leader.propose(txn(1));
        leader.acknowledged(ServerId(2), Zxid(1));
        assert!(leader.take_back(ServerId(2), Zxid(0)));
        leader.acknowledged(ServerId(1), Zxid(1));
        assert_eq!(committed(&mut leader), []);
        leader.acknowledged(ServerId(2), Zxid(1));
        assert_eq!(committed(&mut leader), [1]);
    }
}
