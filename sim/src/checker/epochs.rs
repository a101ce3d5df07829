//! Promises about epochs: who votes for what, who promises itself, who leads.

use zoolab_core::election::Ballot;
use zoolab_core::storage::EpochKind;
use zoolab_core::{Epoch, ServerId, Zxid};

use super::judge::Judge;
use super::ledger::{Ledger, Reign};
use super::promise::{Promise, Violation};

impl Ledger {
    pub(super) fn looking(
        &self,
        server: ServerId,
        ballot: Ballot,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        let member = self.member(server);
        let (epoch, zxid) = (member.current, member.durable);
        judge.holds(Promise::MemoryBehindDisk, member.applied <= zxid, || {
            format!(
                "server {server} looks for a leader with {} applied, safe is {zxid}",
                member.applied
            )
        })?;
        judge.holds(Promise::HonestVote, (ballot.epoch, ballot.zxid) == (epoch, zxid), || {
            format!("server {server} votes for {ballot}, safe are epoch {epoch} and {zxid}")
        })
    }

    pub(super) fn epoch_written(
        &mut self,
        server: ServerId,
        kind: EpochKind,
        epoch: Epoch,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        let member = self.member(server);
        let (accepted, current) = (member.accepted, member.current);
        match kind {
            EpochKind::Accepted => {
                judge.holds(Promise::EpochMonotonicity, epoch >= accepted, || {
                    format!("server {server} wrote accepted epoch {epoch} after {accepted}")
                })?;
                let known = |id: ServerId| {
                    id == server && accepted < epoch
                        || member.presented.get(&id).is_some_and(|accepted| *accepted < epoch)
                };
                let quorum = self.changes.quorum_of(member.members);
                let fresh = !member.leads || quorum.is_enough_if(known);
                judge.holds(Promise::EpochFresh, fresh, || {
                    format!("server {server} leads epoch {epoch}, a quorum has promised as much")
                })?;
                self.member_mut(server).accepted = epoch;
            }
            EpochKind::Current => {
                judge.holds(Promise::EpochMonotonicity, epoch >= current, || {
                    format!("server {server} wrote current epoch {epoch} after {current}")
                })?;
                judge.holds(Promise::EpochOrder, epoch <= accepted, || {
                    format!("server {server} wrote current epoch {epoch}, accepted is {accepted}")
                })?;
                let begun = self.reigns.get(&epoch).map(|reign| &reign.begun);
                let has = begun.is_none_or(|begun| {
                    begun.is_prefix_of(&member.history) && member.durable >= begun.last()
                });
                judge.holds(Promise::HistoryBeforeEpoch, has, || {
                    let due = begun.map_or(Zxid::ZERO, |begun| begun.last());
                    let safe = member.durable;
                    format!("server {server} noted epoch {epoch} with {safe} safe, {due} is due")
                })?;
                self.member_mut(server).current = epoch;
            }
        }
        Ok(())
    }

    /// A server promises itself to the epoch it was told of.
    pub(super) fn promise(
        &mut self,
        server: ServerId,
        counts: Option<Epoch>,
        zxid: Zxid,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        let member = self.member(server);
        let (told, accepted, promised) = (member.told, member.accepted, member.promised);
        let (durable, safe) = (member.durable, member.current);
        judge.holds(Promise::PromiseDurable, accepted >= told, || {
            format!("server {server} promised itself to epoch {told}, safe is {accepted}")
        })?;
        self.member_mut(server).told = Epoch(0);
        judge.holds(Promise::HonestVote, zxid == Zxid::NONE || zxid == durable, || {
            format!("server {server} says that it has {zxid}, safe is {durable}")
        })?;
        let Some(current) = counts else { return Ok(()) };
        judge.holds(Promise::HonestVote, current == safe, || {
            format!("server {server} says that it is in epoch {current}, safe is {safe}")
        })?;
        judge.holds(Promise::OnePromise, told > promised, || {
            format!("server {server} promised itself to epoch {accepted} twice")
        })?;
        self.member_mut(server).promised = promised.max(told);
        Ok(())
    }

    /// A server says that it has what the epoch begins with.
    pub(super) fn epoch_acked(
        &mut self,
        server: ServerId,
        epoch: Epoch,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        let member = self.member(server);
        judge.holds(Promise::EpochAckDurable, member.current >= epoch, || {
            let current = member.current;
            format!("server {server} acknowledged epoch {epoch}, safe is epoch {current}")
        })?;
        let leaders = self.history_of(epoch);
        let has = leaders.is_some_and(|leaders| member.history.is_prefix_of(&leaders));
        judge.holds(Promise::ProcessConsistency, has, || {
            let last = member.history.last();
            format!("server {server} joins epoch {epoch} with {last}, beside its leader's history")
        })?;
        let begun = self.reigns.get(&epoch).map(|reign| &reign.begun);
        let has = begun.is_none_or(|begun| {
            begun.is_prefix_of(&member.history) && member.durable >= begun.last()
        });
        judge.holds(Promise::EpochAckDurable, has, || {
            format!("server {server} acknowledged epoch {epoch} without what it begins with")
        })?;
        // From here on what it says rests on the disk that it has now.
        let member = self.member_mut(server);
        member.lost = false;
        member.snapshots.clear();
        member.cut_at = None;
        Ok(())
    }

    pub(super) fn discovered(
        &mut self,
        server: ServerId,
        epoch: Epoch,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        let other = self.reigns.get(&epoch).map(|reign| reign.leader);
        judge.holds(Promise::PrimaryUniqueness, other.is_none(), || {
            let other = other.unwrap_or(server);
            format!("servers {other} and {server} both lead epoch {epoch}")
        })?;
        let begun = self.member(server).history.clone();
        let mut earlier = self.reigns.range(..epoch).rev().map(|(_, reign)| reign);
        let initial = earlier.find(|reign| reign.established).map(|reign| &reign.begun);
        let has = initial.is_none_or(|initial| initial.is_prefix_of(&begun));
        judge.holds(Promise::InitialHistory, has, || {
            let due = initial.map_or(Zxid::ZERO, |initial| initial.last());
            let last = begun.last();
            format!("epoch {epoch} is to begin with {last}, an earlier one began with {due}")
        })?;
        // Whoever comes too late to lead may not know what was committed without it.
        let late = self.established.is_some_and(|newest| epoch < newest);
        judge.holds(
            Promise::LeaderCompleteness,
            late || self.committed.is_prefix_of(&begun),
            || {
                let (last, due) = (begun.last(), self.committed.last());
                format!("server {server} leads epoch {epoch} with {last}, committed is {due}")
            },
        )?;
        self.reigns.insert(epoch, Reign { leader: server, begun, established: false });
        let member = self.member_mut(server);
        member.led = Some(epoch);
        member.gathers = false;
        member.presented.clear();
        Ok(())
    }

    pub(super) fn establish(
        &mut self,
        server: ServerId,
        epoch: Epoch,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        let reign = self.reigns.get_mut(&epoch).filter(|reign| reign.leader == server);
        judge.holds(Promise::PrimaryUniqueness, reign.is_some(), || {
            format!("server {server} began epoch {epoch}, which it does not lead")
        })?;
        let Some(reign) = reign else { return Ok(()) };
        reign.established = true;
        let begun = reign.begun.clone();
        // The news that a quorum has it may come when the next epoch has begun already.
        let late = self.established.is_some_and(|newest| epoch < newest);
        let (older, newer) =
            if late { (&begun, &self.committed) } else { (&self.committed, &begun) };
        judge.holds(Promise::CommittedMonotonicity, older.is_prefix_of(newer), || {
            let (last, due) = (begun.last(), self.committed.last());
            format!("epoch {epoch} begins with {last}, committed is {due}")
        })?;
        for (newer, reign) in self.reigns.range(epoch..).skip(1) {
            judge.holds(Promise::InitialHistory, begun.is_prefix_of(&reign.begun), || {
                format!("epoch {newer} is to begin without what epoch {epoch} began with")
            })?;
        }
        if late {
            return Ok(());
        }
        let has = |id: ServerId| self.has(id, begun.last());
        let safe = self.changes.may_begin(|zxid| begun.has(zxid), has);
        judge.holds(Promise::QuorumDurability, safe, || {
            format!("epoch {epoch} begins with {}, which no quorum has safe", begun.last())
        })?;
        self.changes.begun(epoch, |zxid| begun.has(zxid));
        self.book_epoch(&begun);
        self.committed = begun;
        self.established = Some(epoch);
        Ok(())
    }

    /// Only the leader of an epoch, or of a later one, speaks of it.
    pub(super) fn legal(
        &self,
        from: ServerId,
        epoch: Epoch,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        let led = self.member(from).led;
        judge.holds(Promise::MessageLegal, led.is_some_and(|led| led >= epoch), || {
            format!("server {from} speaks for epoch {epoch}, which it does not lead")
        })
    }
}
