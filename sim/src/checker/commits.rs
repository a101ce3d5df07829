//! Promises about what is proposed, acknowledged, committed and applied.

use std::sync::Arc;

use zoolab_core::{Epoch, ServerId, Txn, Zxid};

use super::judge::Judge;
use super::ledger::{Ledger, Proposals};
use super::promise::{Promise, Violation};

impl Ledger {
    pub(super) fn propose(
        &mut self,
        server: ServerId,
        txn: &Arc<Txn>,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        let zxid = txn.stamp.zxid;
        let epoch = zxid.epoch();
        let proposals = self.proposed.get(&epoch);
        let proposer = proposals.map(|proposals| proposals.proposer);
        judge.holds(
            Promise::PrimaryUniqueness,
            proposer.is_none_or(|other| other == server),
            || format!("server {server} proposed {zxid} in an epoch in which another had proposed"),
        )?;
        let count = proposals.map_or(0, |proposals| proposals.txns.len());
        self.change_proposed(server, txn, judge)?;
        judge.holds(Promise::LocalPrimaryOrder, count + 1 == zxid.counter() as usize, || {
            format!("server {server} proposed {zxid} as number {}", count + 1)
        })?;
        if count == 0 {
            let begun = self.reigns.get(&epoch).map(|reign| &reign.begun);
            // An old leader may not know yet that a newer one has gone on without it.
            let older = |end: &&Zxid| end.epoch() < epoch;
            let due = self.committed.ends().iter().rev().find(older).copied();
            let due = due.map_or(Zxid::ZERO, |due| due.min(self.delivered));
            judge.holds(
                Promise::PrimaryIntegrity,
                begun.is_some_and(|begun| begun.has(due)),
                || format!("server {server} proposed {zxid} without {due}, which was applied"),
            )?;
        }
        self.book(server, epoch, txn, judge)?;
        let proposals = self.proposed.entry(epoch);
        let proposals =
            proposals.or_insert_with(|| Proposals { proposer: server, txns: Vec::new() });
        // What was proposed first under a zxid stays, and behind a gap nothing is written down.
        if count + 1 == zxid.counter() as usize {
            proposals.txns.push((Arc::clone(txn), txn.digest));
        }
        Ok(())
    }

    pub(super) fn acked(
        &self,
        server: ServerId,
        zxid: Zxid,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        let member = self.member(server);
        judge.holds(Promise::AckDurable, member.durable >= zxid && member.history.has(zxid), || {
            format!("server {server} acknowledged {zxid}, safe is {}", member.durable)
        })
    }

    pub(super) fn ack_arrived(
        &mut self,
        from: ServerId,
        to: ServerId,
        zxid: Zxid,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        judge.holds(Promise::AckInOrder, self.first(zxid).is_some(), || {
            format!("server {from} acknowledged {zxid}, which was never proposed")
        })?;
        let before = self.member(from).acked.get(&to).copied();
        judge.holds(Promise::AckInOrder, before.is_some(), || {
            format!("server {from} acknowledged {zxid} before what the epoch begins with")
        })?;
        let before = before.unwrap_or_default();
        judge.holds(Promise::AckInOrder, before < zxid, || {
            format!("server {from} acknowledged {zxid} after {before}")
        })?;
        self.member_mut(from).acked.insert(to, before.max(zxid));
        Ok(())
    }

    /// Nothing is committed before a quorum of disks has it, now.
    pub(super) fn commit(
        &mut self,
        server: ServerId,
        zxid: Zxid,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        // Late acknowledgements may tell an old leader what its successor knows already.
        if self.committed.has(zxid) {
            return Ok(());
        }
        let newest = self.established;
        judge.holds(
            Promise::OldLeaderSilent,
            newest.is_none_or(|newest| newest <= zxid.epoch()),
            || {
                let newest = newest.unwrap_or_default();
                format!("server {server} committed {zxid} after epoch {newest} began")
            },
        )?;
        let next = newest == Some(zxid.epoch()) && self.committed.may_push(zxid);
        judge.holds(Promise::CommitOrder, next, || {
            format!("server {server} committed {zxid} after {}", self.committed.last())
        })?;
        let safe = self.changes.may_commit(zxid, |id| self.has(id, zxid));
        judge.holds(Promise::QuorumDurability, safe, || {
            format!("server {server} committed {zxid}, which no quorum has safe")
        })?;
        let newest = self.proposed.get(&zxid.epoch()).and_then(|all| all.txns.last());
        let newest = newest.map_or(zxid, |(txn, _)| txn.stamp.zxid);
        self.changes.committed(zxid, newest);
        for (epoch, reign) in self.reigns.range(zxid.epoch()..).skip(1) {
            judge.holds(Promise::LeaderCompleteness, reign.begun.has(zxid), || {
                format!("server {server} committed {zxid}, without which epoch {epoch} is to begin")
            })?;
        }
        // An order that goes back is none.
        if self.committed.last() < zxid {
            self.committed.push(zxid);
        }
        Ok(())
    }

    /// What was logged and not committed is applied between two roles.
    pub(super) fn caught_up(
        &mut self,
        server: ServerId,
        zxid: Zxid,
        digest: u64,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        let member = self.member(server);
        let safe = member.durable >= zxid && member.history.has(zxid);
        judge.holds(Promise::MemoryBehindDisk, safe, || {
            format!("server {server} caught up with {zxid}, safe is {}", member.durable)
        })?;
        self.equal_trees(server, zxid, digest, judge)?;
        self.member_mut(server).applied = zxid;
        Ok(())
    }

    /// The first tree at a zxid is what all others are held against.
    fn equal_trees(
        &mut self,
        server: ServerId,
        zxid: Zxid,
        digest: u64,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        let place = (zxid.counter() as usize).checked_sub(1);
        let proposals = self.proposed.get_mut(&zxid.epoch());
        let slot = proposals.zip(place).and_then(|(all, place)| all.txns.get_mut(place));
        let Some((_, slot)) = slot else { return Ok(()) };
        let due = *slot.get_or_insert(digest);
        // Whichever server comes first, the same is left to hold others against.
        *slot = Some(due.min(digest));
        judge.holds(Promise::EqualTrees, due == digest, || {
            format!("server {server} has another tree at {zxid} than others")
        })
    }

    pub(super) fn applied(
        &mut self,
        server: ServerId,
        txn: &Arc<Txn>,
        digest: u64,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        self.same(server, txn, judge)?;
        let zxid = txn.stamp.zxid;
        let before = self.member(server).applied;
        let what = || format!("server {server} applied {zxid} after {before}");
        judge.holds(Promise::DeliveredCommitted, self.committed.has(zxid), || {
            format!("server {server} applied {zxid}, which is not committed")
        })?;
        judge.holds(Promise::GlobalPrimaryOrder, before.epoch() <= zxid.epoch(), what)?;
        if zxid.counter() == 1 {
            let reign = self.reigns.get(&zxid.epoch());
            let due = reign.map_or(Zxid::ZERO, |reign| reign.begun.last());
            judge.holds(Promise::CommitConsistency, before == due, || {
                format!("server {server} applied {zxid} after {before}, the epoch began with {due}")
            })?;
        }
        judge.holds(Promise::TotalOrder, self.committed.follows(before, zxid), what)?;
        self.equal_trees(server, zxid, digest, judge)?;
        self.member_mut(server).applied = zxid;
        self.delivered = self.delivered.max(zxid);
        Ok(())
    }

    pub(super) fn serving(
        &self,
        server: ServerId,
        epoch: Epoch,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        let applied = self.member(server).applied;
        judge.holds(Promise::PrefixConsistency, self.committed.has(applied), || {
            format!("server {server} serves epoch {epoch} with {applied}, which is not committed")
        })?;
        let due = self.reigns.get(&epoch).map_or(Zxid::ZERO, |reign| reign.begun.last());
        judge.holds(Promise::CommitConsistency, due <= applied, || {
            format!("server {server} serves epoch {epoch} with {applied}, it began with {due}")
        })
    }
}
