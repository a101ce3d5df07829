//! What was ever proposed and committed, and what each server has: everything the promises are
//! judged by. It survives every crash and is fed by what steps make visible, and nothing else.
//!
//! Each event is first held against the promises it could break, then written down. Which server
//! is touched says which entries are looked at, so the cost of a step does not grow with the
//! history.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use zoolab_core::unordered::hash_unordered;
use zoolab_core::zab::MessageKind;
use zoolab_core::{Ensemble, Epoch, Note, ServerId, Txn, Why, Zxid};

use super::books::Books;
use super::history::History;
use super::judge::Judge;
use super::members::Changes;
use super::promise::{Promise, Violation};
use crate::seen::{Said, Seen};

/// Something for each of some servers, of which none comes first.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct ByServer<T>(BTreeMap<ServerId, T>);

impl<T> Default for ByServer<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T: Hash> Hash for ByServer<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash_unordered(&self.0, state);
    }
}

impl<T> Deref for ByServer<T> {
    type Target = BTreeMap<ServerId, T>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<T> DerefMut for ByServer<T> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

/// What is known of one server.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(super) struct Member {
    /// In its log, safe or not.
    pub(super) history: History,
    /// The end of what is safe.
    pub(super) durable: Zxid,
    /// The epoch it has promised itself to, on disk.
    pub(super) accepted: Epoch,
    /// The epoch whose history it has, on disk.
    pub(super) current: Epoch,
    /// The newest epoch that it has given its counting word for.
    pub(super) promised: Epoch,
    /// The epoch it was last told of.
    pub(super) told: Epoch,
    /// The end of what is in its tree.
    pub(super) applied: Zxid,
    /// Its disk was lost, and it has not been given everything again.
    pub(super) lost: bool,
    /// Something on its disk is not as it was written.
    pub(super) damaged: bool,
    /// The version of the members that it takes for being in force.
    pub(super) members: Zxid,
    /// The version of those that are safe on its disk.
    pub(super) members_safe: Zxid,
    /// What snapshots under way to it stand for.
    pub(super) snapshots: Vec<History>,
    /// It has been told to cut its log there.
    pub(super) cut_at: Option<Zxid>,
    /// Its log went as far as this before it was cut.
    pub(super) cut_from: Zxid,
    /// What each leader has heard last that it has, beginning with what the epoch begins with.
    pub(super) acked: ByServer<Zxid>,
    /// It takes itself for the leader.
    pub(super) leads: bool,
    /// It is gathering promises: its epoch is not fixed yet, or not enough have promised.
    pub(super) gathers: bool,
    /// The newest epoch that it led.
    pub(super) led: Option<Epoch>,
    /// Who has presented itself to it, with which epoch.
    pub(super) presented: ByServer<Epoch>,
}

/// An epoch with a leader.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Reign {
    /// Who led it.
    pub(super) leader: ServerId,
    /// What it began with.
    pub(super) begun: History,
    /// Whether a quorum has had that.
    pub(super) established: bool,
}

/// What was proposed in one epoch.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Proposals {
    /// By whom.
    pub(super) proposer: ServerId,
    /// In order, each with the digest of the tree after it.
    pub(super) txns: Vec<(Arc<Txn>, Option<u64>)>,
}

/// See the [module](self).
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Ledger {
    pub(super) changes: Changes,
    /// By number: they are small.
    members: Vec<Member>,
    pub(super) proposed: BTreeMap<Epoch, Proposals>,
    /// The one order of what was committed.
    pub(super) committed: History,
    pub(super) reigns: BTreeMap<Epoch, Reign>,
    /// The newest epoch that has begun.
    pub(super) established: Option<Epoch>,
    /// The newest that any server has ever applied.
    pub(super) delivered: Zxid,
    /// Shared by ledgers that differ elsewhere.
    pub(super) books: Arc<Books>,
}

impl Hash for Ledger {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self {
            changes,
            members,
            proposed,
            committed,
            reigns,
            established,
            delivered,
            books: _,
        } = self;
        let ids = (0..).map(ServerId);
        hash_unordered(ids.zip(members), state);
        proposed.hash(state);
        committed.hash(state);
        reigns.hash(state);
        established.hash(state);
        delivered.hash(state);
        changes.hash(state);
    }
}

impl Ledger {
    pub(super) fn new(ensemble: &Ensemble) -> Self {
        let most = ensemble.servers().last().map_or(0, |server| usize::from(server.0));
        Self {
            changes: Changes::new(ensemble),
            members: vec![Member::default(); most + 1],
            proposed: BTreeMap::new(),
            committed: History::default(),
            reigns: BTreeMap::new(),
            established: None,
            delivered: Zxid::ZERO,
            books: Arc::new(Books::new(ensemble)),
        }
    }

    pub(super) fn member(&self, server: ServerId) -> &Member {
        &self.members[usize::from(server.0)]
    }

    pub(super) fn member_mut(&mut self, server: ServerId) -> &mut Member {
        &mut self.members[usize::from(server.0)]
    }

    /// What was first proposed under a zxid.
    pub(super) fn first(&self, zxid: Zxid) -> Option<&(Arc<Txn>, Option<u64>)> {
        let place = (zxid.counter() as usize).checked_sub(1)?;
        self.proposed.get(&zxid.epoch())?.txns.get(place)
    }

    /// What the leader of an epoch has: what it began with, and what it has proposed.
    pub(super) fn history_of(&self, epoch: Epoch) -> Option<History> {
        let mut history = self.reigns.get(&epoch)?.begun.clone();
        if let Some((last, _)) = self.proposed.get(&epoch).and_then(|all| all.txns.last()) {
            history.push(last.stamp.zxid);
        }
        Some(history)
    }

    /// Whether a disk has this. What a lost disk had is not held against anybody.
    pub(super) fn has(&self, server: ServerId, zxid: Zxid) -> bool {
        let member = self.member(server);
        member.lost || member.durable >= zxid && member.history.has(zxid)
    }

    pub(super) fn observe(&mut self, event: &Seen, judge: &mut Judge<'_>) -> Result<(), Violation> {
        match event {
            Seen::Appended { server, txn } => self.appended(*server, txn, judge),
            Seen::Client { .. } => Ok(()),
            Seen::Crashed { server, .. } | Seen::Halted { server } => {
                self.leaves(*server);
                Ok(())
            }
            Seen::Delivered { from, to, message } => self.delivered(*from, *to, *message, judge),
            Seen::EpochWritten { server, kind, epoch } => {
                self.epoch_written(*server, *kind, *epoch, judge)
            }
            Seen::Installed { server, zxid } => self.installed(*server, *zxid, judge),
            Seen::MembersWritten { server, members } => {
                let version = members.version();
                self.members_written(*server, version, judge)
            }
            Seen::Note { server, note } => self.note(*server, note, judge),
            Seen::Refused { server, why } => {
                let member = self.member_mut(*server);
                let excused = member.lost || member.damaged;
                member.lost = excused;
                judge.holds(Promise::BootTotality, excused, || {
                    format!("server {server} does not start again: {why}")
                })
            }
            Seen::Reloaded { server, saved } | Seen::Started { server, saved, .. } => {
                self.read(*server, saved, judge)
            }
            Seen::Rotten { server } => {
                self.member_mut(*server).damaged = true;
                Ok(())
            }
            Seen::Sent { from, to, message } => self.sent(*from, *to, *message, judge),
            Seen::Snapshotted { server, zxid } => {
                self.snapshotted(*server, *zxid);
                Ok(())
            }
            Seen::Synced { server, zxid } => {
                self.member_mut(*server).durable = *zxid;
                Ok(())
            }
            Seen::Truncated { server, to } => self.truncated(*server, *to, judge),
            Seen::Wiped { server } => {
                // What it said may still be on its way.
                let member = self.member_mut(*server);
                let (led, acked) = (member.led, std::mem::take(&mut member.acked));
                *member = Member { lost: true, led, acked, ..Member::default() };
                Ok(())
            }
        }
    }

    fn note(
        &mut self,
        server: ServerId,
        note: &Note,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        match note {
            Note::Applied { txn, digest } => self.applied(server, txn, *digest, judge),
            Note::CaughtUp { zxid, digest } => self.caught_up(server, *zxid, *digest, judge),
            Note::Committed(zxid) => self.commit(server, *zxid, judge),
            Note::Discovered { epoch, zxid: _ } => self.discovered(server, *epoch, judge),
            Note::Elected { leader, round: _ } => {
                let member = self.member_mut(server);
                member.leads = *leader == server;
                member.gathers = member.leads;
                Ok(())
            }
            Note::Established(epoch) => self.establish(server, *epoch, judge),
            Note::Joined(members) => self.joined(server, members, judge),
            Note::Left(why) => left(server, *why, judge),
            Note::Looking { ballot } => {
                self.leaves(server);
                // Its disk is done with whatever its leader wanted, and that is over.
                let member = self.member_mut(server);
                member.snapshots.clear();
                member.cut_at = None;
                ballot.map_or(Ok(()), |ballot| self.looking(server, ballot, judge))
            }
            Note::Proposed(txn) => self.propose(server, txn, judge),
            Note::Reached(_) => Ok(()),
            Note::Serving(epoch) => self.serving(server, *epoch, judge),
        }
    }

    /// A server leads nobody any more. What can be of no use to any promise is forgotten, so that
    /// equal worlds are judged by equal ledgers.
    fn leaves(&mut self, server: ServerId) {
        let member = self.member_mut(server);
        member.leads = false;
        member.gathers = false;
        member.told = Epoch(0);
        member.presented.clear();
        for member in &mut self.members {
            member.acked.remove(&server);
        }
    }

    fn sent(
        &mut self,
        from: ServerId,
        to: ServerId,
        message: Said,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        let Said { kind, zxid, counts } = message;
        match kind {
            MessageKind::AckEpoch => self.promise(from, counts, zxid, judge),
            MessageKind::Ack if zxid.counter() == 0 => self.epoch_acked(from, zxid.epoch(), judge),
            MessageKind::Ack => self.acked(from, zxid, judge),
            MessageKind::Snap => self.snapshot_sent(from, to, zxid, judge),
            MessageKind::Trunc => self.cut_sent(from, to, zxid, judge),
            MessageKind::NewLeader => {
                self.member_mut(to).acked.remove(&from);
                Ok(())
            }
            MessageKind::Commit
            | MessageKind::CommitAndActivate
            | MessageKind::Diff
            | MessageKind::FollowerInfo
            | MessageKind::Inform
            | MessageKind::InformAndActivate
            | MessageKind::LeaderInfo
            | MessageKind::Moved
            | MessageKind::ObserverInfo
            | MessageKind::Ping
            | MessageKind::Pong
            | MessageKind::Proposal
            | MessageKind::Request
            | MessageKind::Revalidate
            | MessageKind::Revalidated
            | MessageKind::SnapPart
            | MessageKind::Synced
            | MessageKind::UpToDate => Ok(()),
        }
    }

    fn delivered(
        &mut self,
        from: ServerId,
        to: ServerId,
        message: Said,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        let Said { kind, zxid, counts: _ } = message;
        match kind {
            MessageKind::Ack if zxid.counter() > 0 => self.ack_arrived(from, to, zxid, judge),
            MessageKind::Ack => {
                self.member_mut(from).acked.entry(to).or_insert(Zxid::ZERO);
                Ok(())
            }
            MessageKind::LeaderInfo => {
                self.member_mut(to).told = zxid.epoch();
                Ok(())
            }
            MessageKind::FollowerInfo | MessageKind::ObserverInfo => {
                let member = self.member_mut(to);
                if member.gathers {
                    member.presented.insert(from, zxid.epoch());
                }
                Ok(())
            }
            MessageKind::Commit
            | MessageKind::CommitAndActivate
            | MessageKind::Inform
            | MessageKind::InformAndActivate
            | MessageKind::NewLeader
            | MessageKind::Proposal => self.legal(from, zxid.epoch(), judge),
            MessageKind::AckEpoch
            | MessageKind::Diff
            | MessageKind::Moved
            | MessageKind::Ping
            | MessageKind::Pong
            | MessageKind::Request
            | MessageKind::Revalidate
            | MessageKind::Revalidated
            | MessageKind::Snap
            | MessageKind::SnapPart
            | MessageKind::Synced
            | MessageKind::Trunc
            | MessageKind::UpToDate => Ok(()),
        }
    }
}

/// Some reasons to leave a leader are somebody's broken promise.
fn left(server: ServerId, why: Why, judge: &mut Judge<'_>) -> Result<(), Violation> {
    let promise = match why {
        Why::CommitOutOfOrder { .. } => Promise::CommitMatches,
        Why::Misplaced => Promise::Phase,
        Why::ProposalOutOfOrder { .. } => Promise::ProposalInOrder,
        Why::Behind
        | Why::Changed { .. }
        | Why::Closed
        | Why::Epoch { .. }
        | Why::Members { .. }
        | Why::NoQuorum
        | Why::Rollover
        | Why::Silent
        | Why::Snapshot
        | Why::Truncate { .. }
        | Why::Unreachable => return Ok(()),
    };
    judge.holds(promise, false, || format!("server {server} left its leader: {why}"))
}
