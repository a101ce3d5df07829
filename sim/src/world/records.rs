//! A disk of whole records: what files come to when nothing is torn. For searches, in which each
//! byte would be a state.
//!
//! It promises what the files promise: transactions are safe after a sync, everything else once
//! it is done. What luck means is which of its ways it is.

use std::collections::VecDeque;
use std::sync::Arc;

use zoolab_core::members::Members;
use zoolab_core::storage::log::follows;
use zoolab_core::storage::recover::apply;
use zoolab_core::storage::snapshot::{self, Snapshot};
use zoolab_core::storage::{EpochKind, Note, Rules, Saved};
use zoolab_core::tree::Tree;
use zoolab_core::{Bug, Epoch, Persist, Settings, Token, Txn, Zxid};

use super::disk::{DiskSeen, Finish, Found};

/// What a history begins with.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
enum Base {
    /// Nothing.
    Empty,
    /// A snapshot that a leader sent.
    Installed(Zxid, Arc<Snapshot>),
}

/// A history, and how many records of the one that replaced it are in it as well.
type Before = (Base, Vec<Arc<Txn>>, usize);

/// See the [module](self).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct RecordDisk {
    rules: Rules,
    accepted: Epoch,
    current: Epoch,
    members: Option<Arc<Members>>,
    base: Base,
    /// After the base, without holes.
    log: Vec<Arc<Txn>>,
    /// How many of them are safe.
    synced: usize,
    /// What a power loss may bring back, because what replaced it was not forced to disk; and how
    /// many records of the log have been there since. Only bugs leave any.
    before: Option<Box<Before>>,
    /// Invariant: an append is never in it, for it is taken at once.
    queue: VecDeque<(Token, Persist)>,
}

impl RecordDisk {
    /// An empty one.
    #[must_use]
    pub const fn new(rules: Rules) -> Self {
        Self {
            rules,
            accepted: Epoch(0),
            current: Epoch(0),
            members: None,
            base: Base::Empty,
            log: Vec::new(),
            synced: 0,
            before: None,
            queue: VecDeque::new(),
        }
    }

    pub(super) const fn queue(&self) -> &VecDeque<(Token, Persist)> {
        &self.queue
    }

    pub(super) const fn queue_mut(&mut self) -> &mut VecDeque<(Token, Persist)> {
        &mut self.queue
    }

    const fn base_zxid(&self) -> Zxid {
        match &self.base {
            Base::Empty => Zxid::ZERO,
            Base::Installed(zxid, _) => *zxid,
        }
    }

    fn last(&self) -> Zxid {
        self.log.last().map_or(self.base_zxid(), |txn| txn.stamp.zxid)
    }

    pub(super) fn ask(&mut self, token: Token, persist: Persist, seen: &mut impl FnMut(DiskSeen)) {
        self.queue.push_back((token, persist));
        while let Some((_, Persist::Append(_))) = self.queue.front()
            && let Some((_, persist)) = self.queue.pop_front()
        {
            self.perform(persist, seen);
        }
    }

    pub(super) fn finish(&mut self, token: Token, seen: &mut impl FnMut(DiskSeen)) -> Finish {
        let (next, persist) = self.queue.pop_front().expect("something waits");
        assert_eq!(next, token, "one after the other");
        let done = self.perform(persist, seen);
        while let Some((_, Persist::Append(_))) = self.queue.front()
            && let Some((_, persist)) = self.queue.pop_front()
        {
            self.perform(persist, seen);
        }
        done
    }

    fn perform(&mut self, persist: Persist, seen: &mut impl FnMut(DiskSeen)) -> Finish {
        match persist {
            Persist::Append(txn) => {
                self.log.push(Arc::clone(&txn));
                seen(DiskSeen::Appended(txn));
            }
            Persist::Epoch { kind, epoch } => {
                match kind {
                    EpochKind::Accepted => self.accepted = epoch,
                    EpochKind::Current => self.current = epoch,
                }
                seen(DiskSeen::Epoch(kind, epoch));
            }
            Persist::Install { zxid, bytes } => {
                let Rules { extended_types, scatter, .. } = self.rules;
                let read = snapshot::decode(&bytes, extended_types, scatter);
                let read = read.expect("whoever sent it wrote it");
                self.base = Base::Installed(zxid, Arc::new(read));
                self.log.clear();
                self.synced = 0;
                seen(DiskSeen::Installed(zxid));
            }
            Persist::Members(members) => {
                self.members = Some(Arc::clone(&members));
                seen(DiskSeen::Members(members));
            }
            Persist::Purge { .. }
            | Persist::SnapshotBegin { .. }
            | Persist::SnapshotMore { .. } => {}
            Persist::SnapshotUnsynced { zxid, bytes } => {
                let Rules { extended_types, scatter, .. } = self.rules;
                let read = snapshot::decode(&bytes, extended_types, scatter);
                let read = Arc::new(read.expect("this server wrote it"));
                let base = std::mem::replace(&mut self.base, Base::Installed(zxid, read));
                self.before = Some(Box::new((base, std::mem::take(&mut self.log), 0)));
                self.synced = 0;
                seen(DiskSeen::Snapshotted(zxid));
            }
            Persist::Sync => {
                self.synced = self.log.len();
                seen(DiskSeen::Synced(self.last()));
            }
            Persist::Truncate { to } => {
                let has = self.log.iter().position(|txn| txn.stamp.zxid == to);
                let keep = if to == self.base_zxid() { Some(0) } else { has.map(|at| at + 1) };
                let Some(keep) = keep else { return Finish::Refused };
                if self.rules.bugs.on(Bug::TruncNotSynced) && keep < self.log.len() {
                    let before = (self.base.clone(), self.log.clone(), keep);
                    self.before = Some(Box::new(before));
                }
                self.log.truncate(keep);
                self.synced = keep;
                seen(DiskSeen::Truncated(to));
            }
        }
        Finish::Done
    }

    pub(super) fn fail(&mut self, _: u64) {
        self.queue.clear();
        self.log.truncate(self.synced);
    }

    /// Done: any beginning of what it was asked for. Kept by a power loss: any beginning of what
    /// is not safe then.
    pub(super) fn ways(&self, power: bool) -> u64 {
        let mut disk = self.clone();
        let mut ways = disk.kept(power);
        for (_, persist) in &self.queue {
            disk.perform(persist.clone(), &mut |_| {});
            ways += disk.kept(power);
        }
        ways
    }

    fn kept(&self, power: bool) -> u64 {
        let before = 1 + u64::from(self.before.is_some());
        if power { self.unsafe_ways() * before } else { 1 }
    }

    fn unsafe_ways(&self) -> u64 {
        (self.log.len() - self.synced) as u64 + 1
    }

    pub(super) fn crash(&mut self, luck: u64, seen: &mut impl FnMut(DiskSeen)) {
        self.get_on(luck % self.ways(false), false, seen);
    }

    pub(super) fn power_loss(&mut self, luck: u64, seen: &mut impl FnMut(DiskSeen)) {
        let way = self.get_on(luck % self.ways(true), true, seen);
        let (kept, back) = (way % self.unsafe_ways(), way / self.unsafe_ways() == 1);
        self.log.truncate(self.synced + kept as usize);
        if let Some(before) = self.before.take()
            && back
        {
            let (base, mut log, since) = *before;
            log.extend(self.log.drain(since.min(self.log.len())..));
            self.base = base;
            self.log = log;
        }
        // Whatever is read after that is as safe as it can be made.
        self.synced = self.log.len();
    }

    /// Does as much as this way says, and returns what is left of it.
    fn get_on(&mut self, mut way: u64, power: bool, seen: &mut impl FnMut(DiskSeen)) -> u64 {
        while way >= self.kept(power)
            && let Some((_, persist)) = self.queue.pop_front()
        {
            way -= self.kept(power);
            self.perform(persist, seen);
        }
        self.queue.clear();
        way
    }

    pub(super) fn wipe(&mut self) {
        *self = Self::new(Rules { initialize: false, ..self.rules });
    }

    /// As the files are recovered: the history is forced to disk, and an epoch that it reaches
    /// into is noted if it was promised.
    pub(super) fn recover(&mut self) -> Result<Found, String> {
        self.before = None;
        self.read_again()
    }

    /// The same, while a process goes on with it.
    pub(super) fn read_again(&mut self) -> Result<Found, String> {
        self.synced = self.log.len();
        let mut last = self.base_zxid();
        for txn in &self.log {
            let zxid = txn.stamp.zxid;
            if !follows(last, zxid) {
                return Err(format!("its log has {zxid} after {last}"));
            }
            last = zxid;
        }
        let mut notes = Vec::new();
        let settings =
            Settings { extended_types: self.rules.extended_types, ..Settings::default() };
        let mut saved = match &self.base {
            Base::Empty => Saved::blank(&settings, self.rules.scatter),
            Base::Installed(zxid, read) => Saved {
                tree: Tree::clone(&read.tree),
                sessions: read.sessions.clone(),
                zxid_last: *zxid,
                zxid_snapshot: *zxid,
                ..Saved::blank(&settings, self.rules.scatter)
            },
        };
        for txn in &self.log {
            apply(txn, &mut saved.tree, &mut saved.sessions);
        }
        saved.zxid_last = self.last();
        saved.log = self.log.iter().cloned().collect();
        let epoch = saved.zxid_last.epoch();
        if epoch > self.current {
            if epoch > self.accepted {
                let (accepted, last) = (self.accepted, saved.zxid_last);
                return Err(format!("it has {last} and has promised itself to {accepted} only"));
            }
            if self.rules.bugs.on(Bug::Zk1653) {
                let (current, last) = (self.current, saved.zxid_last);
                return Err(format!("it has {last} and noted epoch {current} only"));
            }
            notes.push(Note::EpochRaised { from: self.current, to: epoch });
            self.current = epoch;
        }
        saved.accepted_epoch = self.accepted;
        saved.current_epoch = self.current;
        saved.members.clone_from(&self.members);
        let empty = self.base == Base::Empty && self.log.is_empty();
        saved.is_blank = !self.rules.initialize && empty;
        Ok(Found { saved, notes })
    }
}
