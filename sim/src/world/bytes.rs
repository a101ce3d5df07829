//! A disk of files: what is safe in them, what is not, and what it has been asked to do.
//!
//! ```text
//!   ask ---> queue ---- finish ----> files: durable bytes, writes on top, names apart
//!              |                                    |
//!              +--- crash, power loss, failure -----+---> recover
//! ```
//!
//! The files are those of the core's storage format, operation by operation, so that what a
//! power loss leaves here is read by the code that reads real directories.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use zoolab_core::storage::{
    Disk, FileKind, FileName, FileOp, Files, RecoverError, Recovered, Rules, recover,
};
use zoolab_core::{Persist, Token, Txn, Zxid};

use super::disk::{DiskSeen, Finish};
use crate::luck::Luck;
use crate::step::Keep;

/// What has been done to a file since it was last synced.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
enum Change {
    Truncate(u64),
    Write(u64, Vec<u8>),
}

#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
struct Inode {
    durable: Vec<u8>,
    changes: Vec<Change>,
}

/// A change of the directory that is not safe yet. A renaming happens or does not; it never
/// happens by half.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Naming {
    Link(FileName, u32),
    Rename(FileName, FileName, u32),
    Unlink(FileName),
}

/// See the [module](self).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct ByteDisk {
    rules: Rules,
    /// Knows which operations a wish takes; none before the first recovery.
    format: Option<Disk>,
    inodes: BTreeMap<u32, Inode>,
    inode_next: u32,
    names: BTreeMap<FileName, u32>,
    names_durable: BTreeMap<FileName, u32>,
    namings: Vec<Naming>,
    /// Invariant: an append is at the front only while the disk is full.
    queue: VecDeque<(Token, Persist)>,
    full: bool,
    appended: Zxid,
    /// Room to work in. Invariant: empty between calls.
    room: Vec<FileOp>,
}

impl ByteDisk {
    /// An empty one.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        Self {
            rules,
            format: None,
            inodes: BTreeMap::new(),
            inode_next: 0,
            names: BTreeMap::new(),
            names_durable: BTreeMap::new(),
            namings: Vec::new(),
            queue: VecDeque::new(),
            full: false,
            appended: Zxid::ZERO,
            room: Vec::new(),
        }
    }

    /// Is asked to do something, after everything it was asked before.
    pub fn ask(&mut self, token: Token, persist: Persist, seen: &mut impl FnMut(DiskSeen)) {
        if self.queue.is_empty()
            && !self.full
            && let Persist::Append(txn) = persist
        {
            self.append(txn, seen);
        } else {
            self.queue.push_back((token, persist));
        }
    }

    /// Appends are handed on as soon as nothing is before them: they promise nothing.
    fn take_appends(&mut self, seen: &mut impl FnMut(DiskSeen)) {
        while !self.full
            && let Some((_, Persist::Append(_))) = self.queue.front()
            && let Some((_, persist)) = self.queue.pop_front()
        {
            if let Persist::Append(txn) = persist {
                self.append(txn, seen);
            }
        }
    }

    fn append(&mut self, txn: Arc<Txn>, seen: &mut impl FnMut(DiskSeen)) {
        let mut ops = std::mem::take(&mut self.room);
        let format = self.format.as_mut().expect("a disk is read before it is written");
        format.append(&txn, &mut ops);
        ops.drain(..).for_each(|op| self.perform(op));
        self.room = ops;
        self.appended = txn.stamp.zxid;
        seen(DiskSeen::Appended(txn));
    }

    pub(super) const fn queue(&self) -> &VecDeque<(Token, Persist)> {
        &self.queue
    }

    pub(super) const fn queue_mut(&mut self) -> &mut VecDeque<(Token, Persist)> {
        &mut self.queue
    }

    /// Whether it has room.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.full
    }

    /// Has room, or has none.
    pub fn set_full(&mut self, full: bool, seen: &mut impl FnMut(DiskSeen)) {
        self.full = full;
        self.take_appends(seen);
    }

    fn operations(&mut self, persist: &Persist) -> Option<Vec<FileOp>> {
        let mut ops = std::mem::take(&mut self.room);
        let mut format = self.format.take().expect("a disk is read before it is written");
        let done = format.carry_out(persist, || self.files(), &mut ops);
        self.format = Some(format);
        done.is_ok().then_some(ops)
    }

    /// Does what is next to its end.
    ///
    /// # Panics
    /// If something else is next.
    pub fn finish(&mut self, token: Token, seen: &mut impl FnMut(DiskSeen)) -> Finish {
        let (next, persist) = self.queue.pop_front().expect("something waits");
        assert_eq!(next, token, "one after the other");
        let Some(mut ops) = self.operations(&persist) else {
            self.take_appends(seen);
            return Finish::Refused;
        };
        ops.drain(..).for_each(|op| self.perform(op));
        self.room = ops;
        match persist {
            Persist::Append(txn) => {
                self.appended = txn.stamp.zxid;
                seen(DiskSeen::Appended(txn));
            }
            Persist::Epoch { kind, epoch } => seen(DiskSeen::Epoch(kind, epoch)),
            Persist::Install { zxid, .. } => {
                self.appended = zxid;
                seen(DiskSeen::Installed(zxid));
            }
            Persist::SnapshotUnsynced { zxid, .. } => {
                self.appended = zxid;
                seen(DiskSeen::Snapshotted(zxid));
            }
            Persist::Sync => seen(DiskSeen::Synced(self.appended)),
            Persist::Truncate { to } => {
                self.appended = to;
                seen(DiskSeen::Truncated(to));
            }
            Persist::Members(members) => seen(DiskSeen::Members(members)),
            Persist::Purge { .. }
            | Persist::SnapshotBegin { .. }
            | Persist::SnapshotMore { .. } => {}
        }
        self.take_appends(seen);
        Finish::Done
    }

    /// Fails at what is next, and does nothing of what comes after it. What was written and not
    /// synced is lost from memory, too, but for what had reached the disk before.
    pub fn fail(&mut self, luck: u64) {
        self.queue.clear();
        self.lose(&mut Luck::new(luck), Keep::Beginning, false);
    }

    /// The process is gone. Of what it had asked for, luck decides how much was done.
    pub fn crash(&mut self, luck: u64, seen: &mut impl FnMut(DiskSeen)) {
        self.get_on(&mut Luck::new(luck), seen);
    }

    /// The power is gone, too: so is some of what was not safe. True if something is kept behind
    /// something that is not; recovery may refuse that, for it looks like damage.
    pub fn power_loss(&mut self, luck: u64, keep: Keep, seen: &mut impl FnMut(DiskSeen)) -> bool {
        let luck = &mut Luck::new(luck);
        self.get_on(luck, seen);
        self.lose(luck, keep, true)
    }

    fn get_on(&mut self, luck: &mut Luck, seen: &mut impl FnMut(DiskSeen)) {
        while luck.below(3) > 0
            && !self.full
            && let Some((_, persist)) = self.queue.pop_front()
        {
            let Some(ops) = self.operations(&persist) else { continue };
            let (all, whole) = (ops.len(), luck.below(2) == 0);
            let done = if whole { all } else { luck.below(all + 1) };
            ops.into_iter().take(done).for_each(|op| self.perform(op));
            // What is done by half may show or not; what is done with the log must be known.
            match persist {
                Persist::Append(txn) if done > 0 => seen(DiskSeen::Appended(txn)),
                Persist::SnapshotUnsynced { zxid, .. } if done == all => {
                    seen(DiskSeen::Snapshotted(zxid));
                }
                Persist::Append(_)
                | Persist::Epoch { .. }
                | Persist::Install { .. }
                | Persist::Members(_)
                | Persist::Purge { .. }
                | Persist::SnapshotBegin { .. }
                | Persist::SnapshotMore { .. }
                | Persist::SnapshotUnsynced { .. }
                | Persist::Sync
                | Persist::Truncate { .. } => {}
            }
            if done < all {
                break;
            }
        }
        self.queue.clear();
        self.format = None;
    }

    /// Keeps some of what is not safe: of each file's changes a beginning, the last one torn, or
    /// any of them; of the directory's any. True if a file has a hole now.
    ///
    /// Files are apart: one may have kept everything and another nothing. A hole before whole
    /// entries of a log cannot be told from damage in ZooKeeper's format, and recovery refuses it.
    fn lose(&mut self, luck: &mut Luck, keep: Keep, names_too: bool) -> bool {
        let mut hole = false;
        if names_too {
            let mut names = std::mem::take(&mut self.names_durable);
            for naming in self.namings.drain(..) {
                if luck.below(2) == 0 {
                    name(naming, &mut names);
                }
            }
            self.names_durable.clone_from(&names);
            self.names = names;
        }
        for inode in self.inodes.values_mut() {
            let changes = std::mem::take(&mut inode.changes);
            if changes.is_empty() {
                continue;
            }
            if keep == Keep::Any {
                let mut missing = false;
                for change in &changes {
                    if luck.below(2) == 0 {
                        inode.apply(change);
                        hole |= missing;
                    } else {
                        missing = true;
                    }
                }
                continue;
            }
            let kept = luck.below(changes.len() + 1);
            changes[..kept].iter().for_each(|change| inode.apply(change));
            if let Some(Change::Write(at, bytes)) = changes.get(kept) {
                // The one that was being written: a beginning of it, and perhaps its length.
                let torn = bytes[..luck.below(bytes.len() + 1)].to_vec();
                let end = *at as usize + bytes.len();
                inode.apply(&Change::Write(*at, torn));
                if luck.below(2) == 0 && inode.durable.len() < end {
                    inode.durable.resize(end, 0);
                }
            }
        }
        self.collect();
        hole
    }

    /// A bit flips in a file that matters. False if there is none.
    pub fn rot(&mut self, luck: u64) -> bool {
        let luck = &mut Luck::new(luck);
        // An epoch file has no checksum in ZooKeeper's format; nobody could tell.
        let checked = |name: &FileName| match name.kind {
            FileKind::Log(_) | FileKind::Snapshot(_) => !name.temporary,
            FileKind::AcceptedEpoch
            | FileKind::CurrentEpoch
            | FileKind::Installing
            | FileKind::Members => false,
        };
        let durable = self.names_durable.iter().filter(|(name, _)| checked(name));
        let inodes: Vec<u32> = durable.map(|(_, inode)| *inode).collect();
        let full: Vec<u32> =
            inodes.into_iter().filter(|inode| !self.inodes[inode].durable.is_empty()).collect();
        if full.is_empty() {
            return false;
        }
        let inode = full[luck.below(full.len())];
        let bytes = &mut self.inodes.get_mut(&inode).expect("it has a name").durable;
        let (place, bit) = (luck.below(bytes.len()), luck.below(8));
        bytes[place] ^= 1 << bit;
        true
    }

    /// Another disk is put in its place.
    pub fn wipe(&mut self) {
        *self = Self::new(Rules { initialize: false, ..self.rules });
    }

    /// Reads what is there, and puts it in order.
    ///
    /// # Errors
    /// If it cannot be believed. Then nothing has changed.
    pub fn recover(&mut self) -> Result<Recovered, RecoverError> {
        let recovered = recover(&self.files(), &self.rules)?;
        self.begin(&recovered);
        Ok(recovered)
    }

    /// Reads what is there while a process goes on with it.
    ///
    /// # Errors
    /// If it cannot be believed. Then nothing has changed.
    pub fn read_again(&mut self) -> Result<Recovered, RecoverError> {
        let format = self.format.as_ref().expect("a disk is read before it is read again");
        let recovered = format.read_again(&self.files(), &self.rules)?;
        self.begin(&recovered);
        Ok(recovered)
    }

    fn begin(&mut self, recovered: &Recovered) {
        recovered.repairs.iter().for_each(|op| self.perform(op.clone()));
        self.format = Some(recovered.disk.clone());
        self.appended = recovered.saved.zxid_last;
    }

    /// The directory as a process sees it.
    #[must_use]
    pub fn files(&self) -> Files {
        let read = |inode: &u32| {
            let mut inode = self.inodes[inode].clone();
            inode.sync();
            inode.durable
        };
        self.names.iter().map(|(name, inode)| (*name, read(inode))).collect()
    }

    /// How many bytes it holds.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.inodes.values().map(|inode| inode.durable.len()).sum()
    }

    /// How many log files and snapshots it has.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        let count = |is: fn(&FileKind) -> bool| {
            self.names.keys().filter(|name| !name.temporary && is(&name.kind)).count()
        };
        (
            count(|kind| matches!(kind, FileKind::Log(_))),
            count(|kind| matches!(kind, FileKind::Snapshot(_))),
        )
    }

    fn perform(&mut self, op: FileOp) {
        match op {
            FileOp::Create { name } => match self.names.get(&name) {
                Some(inode) => self.changed(*inode, Change::Truncate(0)),
                None => {
                    self.inode_next += 1;
                    self.inodes.insert(self.inode_next, Inode::default());
                    self.rename(Naming::Link(name, self.inode_next));
                }
            },
            FileOp::Remove { name } => {
                if self.names.contains_key(&name) {
                    self.rename(Naming::Unlink(name));
                }
            }
            FileOp::Rename { from, to } => {
                let inode = self.names[&from];
                self.rename(Naming::Rename(from, to, inode));
            }
            FileOp::Sync { name } => {
                let inode = self.names[&name];
                self.inodes.get_mut(&inode).expect("it has a name").sync();
            }
            FileOp::SyncDirectory => {
                self.names_durable.clone_from(&self.names);
                self.namings.clear();
                self.collect();
            }
            FileOp::Truncate { name, size } => {
                self.changed(self.names[&name], Change::Truncate(size));
            }
            FileOp::Write { name, at, bytes } => {
                self.changed(self.names[&name], Change::Write(at, bytes));
            }
        }
    }

    fn changed(&mut self, inode: u32, change: Change) {
        self.inodes.get_mut(&inode).expect("it has a name").changes.push(change);
    }

    fn rename(&mut self, naming: Naming) {
        name(naming, &mut self.names);
        self.namings.push(naming);
    }

    /// Forgets files that have no name any more, in whatever way the power may go.
    fn collect(&mut self) {
        if self.namings.is_empty() {
            let names = &self.names;
            let named = |inode: &u32| names.values().any(|other| other == inode);
            self.inodes.retain(|inode, _| named(inode));
        }
    }
}

impl Inode {
    fn apply(&mut self, change: &Change) {
        match change {
            Change::Truncate(size) => self.durable.resize(*size as usize, 0),
            Change::Write(at, bytes) => {
                let (at, end) = (*at as usize, *at as usize + bytes.len());
                if at == self.durable.len() {
                    self.durable.extend_from_slice(bytes);
                    return;
                }
                if self.durable.len() < end {
                    self.durable.resize(end, 0);
                }
                self.durable[at..end].copy_from_slice(bytes);
            }
        }
    }

    fn sync(&mut self) {
        let mut changes = std::mem::take(&mut self.changes);
        changes.drain(..).for_each(|change| self.apply(&change));
        self.changes = changes;
    }
}

fn name(naming: Naming, names: &mut BTreeMap<FileName, u32>) {
    match naming {
        Naming::Link(name, inode) => {
            names.insert(name, inode);
        }
        Naming::Rename(from, to, inode) => {
            if names.get(&from) == Some(&inode) {
                names.remove(&from);
            }
            names.insert(to, inode);
        }
        Naming::Unlink(name) => {
            names.remove(&name);
        }
    }
}
