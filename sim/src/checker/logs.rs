//! Promises about what disks have: logs, snapshots, and what is read from them.

use std::sync::Arc;

use zoolab_core::storage::Saved;
use zoolab_core::{ServerId, Txn, Zxid};

use super::history::History;
use super::judge::Judge;
use super::ledger::Ledger;
use super::promise::{Promise, Violation};

impl Ledger {
    /// The same zxid is the same transaction, for ever.
    pub(super) fn same(
        &self,
        server: ServerId,
        txn: &Arc<Txn>,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        let zxid = txn.stamp.zxid;
        let first = self.first(zxid);
        judge.holds(Promise::Integrity, first.is_some(), || {
            format!("server {server} has {zxid}, which was never proposed")
        })?;
        let same = first.is_some_and(|(first, _)| Arc::ptr_eq(first, txn) || first == txn);
        judge.holds(Promise::ZxidUniqueness, same, || {
            format!("server {server} has another {zxid} than was first proposed")
        })
    }

    pub(super) fn appended(
        &mut self,
        server: ServerId,
        txn: &Arc<Txn>,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        self.same(server, txn, judge)?;
        let (zxid, history) = (txn.stamp.zxid, &self.member(server).history);
        let last = history.last();
        let what = || format!("server {server} logged {zxid} after {last}");
        judge.holds(Promise::LogOrder, last < zxid, what)?;
        judge.holds(Promise::NoHole, history.may_push(zxid), what)?;
        if zxid.counter() == 1 {
            let reign = self.reigns.get(&zxid.epoch());
            let due = reign.map_or(Zxid::ZERO, |reign| reign.begun.last());
            judge.holds(Promise::HistoryConsistency, due == last, || {
                format!("server {server} logged {zxid} after {last}, the epoch began with {due}")
            })?;
        }
        self.member_mut(server).history.push(zxid);
        Ok(())
    }

    pub(super) fn snapshot_sent(
        &mut self,
        from: ServerId,
        to: ServerId,
        zxid: Zxid,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        let led = self.member(from).led;
        let mut history = led.and_then(|epoch| self.history_of(epoch)).unwrap_or_default();
        judge.holds(Promise::SnapshotSoundness, history.has(zxid), || {
            format!("server {from} sends server {to} a snapshot of {zxid}, which it has not")
        })?;
        history.cut(zxid);
        if !history.has(zxid) {
            history.push(zxid);
        }
        self.gives_up(to, &history, false, judge)?;
        self.member_mut(to).snapshots.push(history);
        Ok(())
    }

    pub(super) fn cut_sent(
        &mut self,
        from: ServerId,
        to: ServerId,
        zxid: Zxid,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        let led = self.member(from).led;
        let leaders = led.and_then(|epoch| self.history_of(epoch)).unwrap_or_default();
        judge.holds(Promise::TruncationTarget, leaders.has(zxid), || {
            format!("server {from} has server {to} cut its log at {zxid}, which it has not itself")
        })?;
        let mut after = self.member(to).history.clone();
        after.cut(zxid);
        self.gives_up(to, &after, false, judge)?;
        self.member_mut(to).cut_at = Some(zxid);
        Ok(())
    }

    /// Nothing committed is given up by whoever has it; unless it was told to before that was
    /// committed by others, who then must be enough.
    fn gives_up(
        &self,
        server: ServerId,
        after: &History,
        done: bool,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        let had = &self.member(server).history;
        for end in self.committed.ends() {
            // The last one of each epoch that it has is lost first.
            let most = had.ends().iter().find(|most| most.epoch() == end.epoch());
            let Some(lost) = most.map(|most| *most.min(end)).filter(|most| !after.has(*most))
            else {
                continue;
            };
            let others = |id: ServerId| {
                let member = self.member(id);
                member.lost || id != server && member.durable >= lost && member.history.has(lost)
            };
            let kept = done && self.changes.is_enough(others);
            judge.holds(Promise::CommittedDurability, kept, || {
                format!("server {server} is to give up {lost}, which is committed")
            })?;
        }
        Ok(())
    }

    pub(super) fn installed(
        &mut self,
        server: ServerId,
        zxid: Zxid,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        let snapshots = &self.member(server).snapshots;
        let history = snapshots.iter().rev().find(|history| history.last() == zxid).cloned();
        judge.holds(Promise::SnapshotSoundness, history.is_some(), || {
            format!("server {server} has installed a snapshot of {zxid} that nobody sent")
        })?;
        let history = history.unwrap_or_else(|| {
            let mut history = self.member(server).history.clone();
            history.cut(zxid);
            history.push(zxid);
            history
        });
        self.gives_up(server, &history, true, judge)?;
        let member = self.member_mut(server);
        member.history = history;
        member.durable = zxid;
        member.applied = zxid;
        member.snapshots.clear();
        member.damaged = false;
        Ok(())
    }

    /// What its leader had up to here is on its disk, safe or not, and in its tree.
    pub(super) fn snapshotted(&mut self, server: ServerId, zxid: Zxid) {
        // Its leader is that of the epoch it has promised itself to last.
        let mut history = self.history_of(self.member(server).accepted).unwrap_or_default();
        history.cut(zxid);
        let member = self.member_mut(server);
        member.history = history;
        member.applied = zxid;
    }

    pub(super) fn truncated(
        &mut self,
        server: ServerId,
        to: Zxid,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        let mut history = self.member(server).history.clone();
        judge.holds(Promise::TruncationTarget, history.has(to), || {
            format!("server {server} cut its log at {to}, which it does not have")
        })?;
        let last = history.last();
        history.cut(to);
        self.gives_up(server, &history, true, judge)?;
        let member = self.member_mut(server);
        member.durable = history.last();
        member.history = history;
        member.cut_at = None;
        member.cut_from = last;
        Ok(())
    }

    /// What a server reads from its disk is what was safe, and nothing that never was.
    pub(super) fn read(
        &mut self,
        server: ServerId,
        saved: &Saved,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        for txn in &saved.log {
            self.same(server, txn, judge)?;
        }
        let last = saved.zxid_last;
        let due = self.first(last).and_then(|(_, digest)| *digest);
        judge.holds(
            Promise::EqualTrees,
            due.is_none_or(|due| due == saved.tree.digest()),
            || format!("server {server} read another tree at {last} than others have"),
        )?;
        let version = saved.members.as_ref().map_or(Zxid::ZERO, |members| members.version());
        self.members_read(server, version, judge)?;
        let member = self.member(server);
        let (durable, lost) = (member.durable, member.lost || member.damaged);
        let least = member.cut_at.map_or(durable, |to| to.min(durable));
        // An installation that was interrupted may have been finished at the start.
        let snapshot = member.snapshots.iter().rev().find(|sent| sent.last() == last);
        let replaced = snapshot.is_some();
        judge.holds(Promise::Durability, lost || replaced || last >= least, || {
            format!("server {server} has {last} after a restart, {durable} was safe")
        })?;
        let mut history = member.history.clone();
        if !history.has(last) {
            let back = !lost && !replaced && last <= member.cut_from;
            judge.holds(Promise::TruncationDurable, !back, || {
                format!("server {server} read {last} again, which it had cut off")
            })?;
            judge.holds(Promise::SnapshotSoundness, back || replaced, || {
                format!("server {server} read {last}, which it never logged")
            })?;
            history = snapshot.cloned().unwrap_or_else(|| {
                history.cut(saved.zxid_snapshot);
                saved.log.iter().for_each(|txn| history.push(txn.stamp.zxid));
                history
            });
        }
        history.cut(last);
        let (accepted, current) = (member.accepted, member.current);
        if saved.current_epoch > current {
            let begun = self.reigns.get(&saved.current_epoch).map(|reign| &reign.begun);
            let has = begun.is_none_or(|begun| begun.is_prefix_of(&history));
            judge.holds(Promise::HistoryBeforeEpoch, has, || {
                let epoch = saved.current_epoch;
                format!("server {server} read epoch {epoch}, and {last}: not what it begins with")
            })?;
        }
        let kept = saved.accepted_epoch >= accepted && saved.current_epoch >= current;
        judge.holds(Promise::EpochMonotonicity, lost || kept, || {
            let (a, c) = (saved.accepted_epoch, saved.current_epoch);
            format!("server {server} read epochs {a} and {c}, {accepted} and {current} were safe")
        })?;
        let member = self.member_mut(server);
        member.history = history;
        member.snapshots.clear();
        member.cut_at = None;
        member.durable = last;
        member.applied = last;
        member.accepted = saved.accepted_epoch;
        member.current = saved.current_epoch;
        Ok(())
    }
}
