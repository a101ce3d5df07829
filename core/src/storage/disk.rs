//! What has to be done with files, and in which order, so that a power loss between any two
//! operations leaves a directory that recovers.
//!
//! ```text
//!   append      create log.<zxid>, grow, write              nothing is promised yet
//!   sync        sync the log, sync the directory            what was appended survives
//!   roll        sync; the next append begins a new file
//!   snapshot    write snapshot.<zxid>.tmp … sync the log, sync, rename, sync the directory
//!   epoch       write .tmp, sync, rename, sync the directory
//!   members     the same
//!   truncate    remove newer snapshots, later logs from the last on, cut, sync
//!   install     write snapshot and a note, rename, remove everything else, remove the note
//!   purge       remove snapshots and logs that recovery does not need
//! ```
//!
//! ZooKeeper leaves some of these syncs out. Each one here has its story beside it, and some of
//! them can be left out as it does, by [`Bug`].

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::epoch::{self, EpochKind};
use super::file::{FileKind, FileName, FileOp, Files};
use super::log::{self, Entries, LogError};
use super::recover::{RecoverError, Recovered, Rules, recover};
use super::snapshot;
use crate::bugs::{Bug, Bugs};
use crate::ids::{Epoch, Zxid};
use crate::io::Persist;
use crate::members::Members;
use crate::txn::Txn;

/// So much room is made for an entry of the log; most small writes fit.
const ENTRY_USUAL: usize = 128;

/// Which files there are, and where the next transaction goes.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Disk {
    preallocate: u64,
    bugs: Bugs,
    snapshots: BTreeSet<Zxid>,
    logs: BTreeSet<Zxid>,
    /// The file that grows, if one does.
    tail: Option<Tail>,
    /// The last transaction in the log, or the one the newest snapshot is named after.
    zxid_last: Zxid,
    /// Whether the directory has names that a power loss may take.
    names_unsynced: bool,
    writing: Option<Writing>,
}

/// The log file that grows.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Tail {
    first: Zxid,
    /// Where the next entry goes.
    position: u64,
    /// With padding.
    size: u64,
    unsynced: bool,
}

/// A snapshot in the making.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
struct Writing {
    zxid: Zxid,
    size: u64,
}

impl Disk {
    pub(super) const fn new(
        rules: &Rules,
        snapshots: BTreeSet<Zxid>,
        logs: BTreeSet<Zxid>,
        zxid_last: Zxid,
    ) -> Self {
        let Rules { preallocate, bugs, .. } = *rules;
        let (tail, names_unsynced, writing) = (None, false, None);
        Self { preallocate, bugs, snapshots, logs, tail, zxid_last, names_unsynced, writing }
    }

    /// The last transaction appended.
    #[must_use]
    pub const fn zxid_last(&self) -> Zxid {
        self.zxid_last
    }

    /// The snapshots there are, by the transactions they are named after.
    pub fn snapshots(&self) -> impl DoubleEndedIterator<Item = Zxid> {
        self.snapshots.iter().copied()
    }

    /// The log files there are, by their first transactions.
    pub fn logs(&self) -> impl DoubleEndedIterator<Item = Zxid> {
        self.logs.iter().copied()
    }

    /// How many bytes of entries the growing log file has.
    #[must_use]
    pub fn log_bytes(&self) -> u64 {
        self.tail.as_ref().map_or(0, |tail| tail.position)
    }

    /// What has to be done with files for one wish. `files` is the directory as it is; only a
    /// truncation looks.
    ///
    /// # Errors
    /// If a truncation is impossible; then nothing has changed.
    pub fn carry_out(
        &mut self,
        persist: &Persist,
        files: impl FnOnce() -> Files,
        out: &mut Vec<FileOp>,
    ) -> Result<(), TruncateError> {
        let before = out.len();
        match persist {
            Persist::Append(txn) => self.append(txn, out),
            Persist::Epoch { kind, epoch } => self.write_epoch(*kind, *epoch, out),
            Persist::Install { zxid, bytes } => self.install_snapshot(*zxid, bytes, out),
            Persist::Members(members) => Self::write_members(members, out),
            Persist::Purge { keep } => self.purge(*keep as usize, out),
            Persist::SnapshotBegin { zxid, bytes } => self.begin_snapshot(*zxid, bytes, out),
            Persist::SnapshotMore { bytes, whole } => self.write_snapshot(bytes, *whole, out),
            Persist::SnapshotUnsynced { zxid, bytes } => self.write_unsynced(*zxid, bytes, out),
            Persist::Sync => self.sync(out),
            Persist::Truncate { to } => self.truncate(*to, &files(), out)?,
        }
        if self.bugs.on(Bug::DirNotSynced) {
            leave_out(before, |op| *op == FileOp::SyncDirectory, out);
        }
        Ok(())
    }

    /// Hands a transaction to the log. Promises nothing by itself.
    ///
    /// # Panics
    /// If it leaves a gap.
    pub fn append(&mut self, txn: &Txn, out: &mut Vec<FileOp>) {
        let first = txn.stamp.zxid;
        let mut bytes = Vec::with_capacity(ENTRY_USUAL);
        let tail = match &mut self.tail {
            Some(tail) => tail,
            none => {
                out.push(FileOp::Create { name: FileName::log(first) });
                self.logs.insert(first);
                self.names_unsynced = true;
                bytes.extend_from_slice(&log::HEADER);
                none.insert(Tail { first, position: 0, size: 0, unsynced: true })
            }
        };
        let hole = [Bug::Zk2355, Bug::Zk2845].into_iter().any(|bug| self.bugs.on(bug));
        let follows = log::follows(self.zxid_last, first) || hole;
        assert!(follows, "{first} after {}", self.zxid_last);
        self.zxid_last = first;
        log::put_entry(txn, &mut bytes);
        let name = FileName::log(tail.first);
        // A new file is as long as its header before it grows.
        let header = log::HEADER.len() as u64;
        let (position, size) = (tail.position.max(header), tail.size.max(header));
        if let Some(size) = log::grown(position, size, self.preallocate) {
            out.push(FileOp::Write { name, at: size - 1, bytes: alloc::vec![0] });
            tail.size = size;
        }
        let at = tail.position;
        tail.position += bytes.len() as u64;
        tail.size = tail.size.max(tail.position);
        tail.unsynced = true;
        out.push(FileOp::Write { name, at, bytes });
    }

    /// Everything appended before survives a power loss once this is done.
    pub fn sync(&mut self, out: &mut Vec<FileOp>) {
        if let Some(tail) = &mut self.tail
            && core::mem::take(&mut tail.unsynced)
        {
            out.push(FileOp::Sync { name: FileName::log(tail.first) });
        }
        if core::mem::take(&mut self.names_unsynced) {
            out.push(FileOp::SyncDirectory);
        }
    }

    /// The next append begins a new file.
    ///
    /// The old one is synced first: a new file that survives a power loss which takes the end of
    /// the old one would leave a hole.
    pub fn roll(&mut self, out: &mut Vec<FileOp>) {
        self.sync(out);
        self.tail = None;
    }

    /// Makes an epoch survive.
    pub fn write_epoch(&mut self, kind: EpochKind, epoch: Epoch, out: &mut Vec<FileOp>) {
        // There were no such files then.
        if self.bugs.on(Bug::Zk335) {
            return;
        }
        whole(kind.name(), epoch::encode(epoch), out);
        out.push(FileOp::SyncDirectory);
    }

    /// Makes members survive.
    fn write_members(members: &Members, out: &mut Vec<FileOp>) {
        let text = alloc::string::ToString::to_string(members);
        whole(FileName::of(FileKind::Members), text.into_bytes(), out);
        out.push(FileOp::SyncDirectory);
    }

    /// Begins a snapshot after this transaction, and a new log file. One that was in the making
    /// is given up.
    pub fn begin_snapshot(&mut self, zxid: Zxid, bytes: &[u8], out: &mut Vec<FileOp>) {
        self.abandon_snapshot(out);
        self.roll(out);
        let name = FileName::snapshot(zxid).temporary();
        out.push(FileOp::Create { name });
        out.push(FileOp::Write { name, at: 0, bytes: bytes.to_vec() });
        self.writing = Some(Writing { zxid, size: bytes.len() as u64 });
    }

    /// Whether a snapshot is in the making.
    #[must_use]
    pub const fn is_writing(&self) -> bool {
        self.writing.is_some()
    }

    /// Goes on with the snapshot, if it has not been given up.
    ///
    /// It gets its name only after the log is synced: its nodes may show changes that a power
    /// loss would otherwise take from the log, and nothing could put them right again.
    pub fn write_snapshot(&mut self, bytes: &[u8], whole: bool, out: &mut Vec<FileOp>) {
        let Some(writing) = &mut self.writing else { return };
        let to = FileName::snapshot(writing.zxid);
        let from = to.temporary();
        let at = writing.size;
        writing.size += bytes.len() as u64;
        out.push(FileOp::Write { name: from, at, bytes: bytes.to_vec() });
        if whole {
            self.snapshots.insert(writing.zxid);
            self.writing = None;
            self.sync(out);
            out.push(FileOp::Sync { name: from });
            out.push(FileOp::Rename { from, to });
            out.push(FileOp::SyncDirectory);
        }
    }

    /// Gives up the snapshot in the making, if there is one.
    pub fn abandon_snapshot(&mut self, out: &mut Vec<FileOp>) {
        if let Some(writing) = self.writing.take() {
            let name = FileName::snapshot(writing.zxid).temporary();
            out.push(FileOp::Remove { name });
        }
    }

    /// Writes a snapshot that stands for what the log does not have, in place and without a sync:
    /// a power loss may take it, and keep what is logged after it.
    fn write_unsynced(&mut self, zxid: Zxid, bytes: &[u8], out: &mut Vec<FileOp>) {
        self.abandon_snapshot(out);
        self.roll(out);
        let name = FileName::snapshot(zxid);
        out.push(FileOp::Create { name });
        out.push(FileOp::Write { name, at: 0, bytes: bytes.to_vec() });
        self.snapshots.insert(zxid);
        self.zxid_last = zxid;
    }

    /// No recovery shows a transaction after `to` once this is done, neither from a log nor from
    /// a snapshot. `files` is the directory as it is.
    ///
    /// # Errors
    /// If the history up to `to` cannot be kept: then nothing has changed, and the server needs
    /// a snapshot from its leader instead.
    pub fn truncate(
        &mut self,
        to: Zxid,
        files: &Files,
        out: &mut Vec<FileOp>,
    ) -> Result<(), TruncateError> {
        if to > self.zxid_last {
            return Err(TruncateError::Beyond { to, zxid_last: self.zxid_last });
        }
        if to == self.zxid_last {
            self.sync(out);
            return Ok(());
        }
        // A snapshot that was still being written when a later change came shows some of it.
        let kept: BTreeSet<Zxid> =
            self.snapshots().filter(|zxid| shows_nothing_after(*zxid, to, files)).collect();
        let Some(base) = kept.last() else { return Err(TruncateError::NoSnapshot { to }) };
        let cut = self.logs.range(..=to).next_back().copied();
        let end = cut.map(|first| end_of(to, first, files)).transpose()?;
        // A snapshot may be named after the beginning of an epoch, which is no transaction.
        let is_known = *base == to || end.is_some_and(|(zxid, _)| zxid == to);
        if !is_known {
            return Err(TruncateError::NotInLog { to });
        }

        self.abandon_snapshot(out);
        self.roll(out);
        let cutting = out.len();
        // The snapshots go first: without their logs they would show half of what is cut off.
        for zxid in self.snapshots.iter().rev().filter(|zxid| !kept.contains(zxid)) {
            out.push(FileOp::Remove { name: FileName::snapshot(*zxid) });
        }
        out.push(FileOp::SyncDirectory);
        // One by one from the last on, so that no removal can survive without those after it.
        for first in self.logs.iter().rev().filter(|first| **first > to) {
            out.push(FileOp::Remove { name: FileName::log(*first) });
            out.push(FileOp::SyncDirectory);
        }
        if let (Some(first), Some((_, size))) = (cut, end) {
            let name = FileName::log(first);
            let size = if self.bugs.on(Bug::Zk1156) { size - 1 } else { size };
            out.push(FileOp::Truncate { name, size });
            out.push(FileOp::Sync { name });
        }
        if self.bugs.on(Bug::TruncNotSynced) {
            leave_out(cutting, FileOp::is_sync, out);
        }
        self.snapshots = kept;
        self.logs.retain(|first| *first <= to);
        self.zxid_last = to;
        Ok(())
    }

    /// Reads the directory again, for a process that goes on with what is there.
    ///
    /// # Errors
    /// If it cannot be believed.
    pub fn read_again(&self, files: &Files, rules: &Rules) -> Result<Recovered, RecoverError> {
        let mut recovered = recover(files, rules)?;
        // Reading for a new process makes safe what it finds; Java's does not sync what it reads.
        if self.bugs.on(Bug::TruncNotSynced) {
            recovered.repairs.retain(|op| !op.is_sync());
        }
        Ok(recovered)
    }

    /// Recovery yields exactly this snapshot once this is done: nothing of an older history is left.
    ///
    /// The note that says so is there before the snapshot gets its name, and that is the moment
    /// at which the old history ends. Without it, old logs that reach beyond the snapshot would
    /// be applied on top of it after a crash.
    pub fn install_snapshot(&mut self, zxid: Zxid, bytes: &[u8], out: &mut Vec<FileOp>) {
        self.abandon_snapshot(out);
        self.roll(out);
        let installing = out.len();
        let note = Installing::of(zxid, bytes);
        let (to, note_name) = (FileName::snapshot(zxid), FileName::of(FileKind::Installing));
        let from = to.temporary();
        out.push(FileOp::Create { name: from });
        out.push(FileOp::Write { name: from, at: 0, bytes: bytes.to_vec() });
        out.push(FileOp::Sync { name: from });
        whole(note_name, note.encode(), out);
        out.push(FileOp::SyncDirectory);
        out.push(FileOp::Rename { from, to });
        out.push(FileOp::SyncDirectory);
        let snapshots = self.snapshots.iter().filter(|old| **old != zxid);
        remove_for_good(snapshots.copied(), self.logs.iter().copied(), out);
        out.push(FileOp::Remove { name: note_name });
        out.push(FileOp::SyncDirectory);
        if self.bugs.on(Bug::Zk2872) {
            leave_out(installing, FileOp::is_sync, out);
        }
        self.snapshots = BTreeSet::from([zxid]);
        self.logs.clear();
        self.zxid_last = zxid;
    }

    /// Removes what recovery does not need: all snapshots but the newest `keep`, and the logs
    /// that end before the oldest of these.
    pub fn purge(&mut self, keep: usize, out: &mut Vec<FileOp>) {
        let Some(&newest) = self.snapshots.last() else { return };
        let fewer = self.snapshots.len().saturating_sub(keep.max(1));
        let oldest = self.snapshots.iter().nth(fewer).copied().unwrap_or(newest);
        // The newest log that begins at or before the snapshot may have what comes after it.
        let needed = self.logs.range(..=oldest).next_back().copied().unwrap_or(oldest);
        let snapshots: Vec<Zxid> = self.snapshots.range(..oldest).copied().collect();
        let logs: Vec<Zxid> = self.logs.range(..needed).copied().collect();
        if !snapshots.is_empty() || !logs.is_empty() {
            remove_for_good(snapshots.into_iter(), logs.into_iter(), out);
        }
        self.snapshots = self.snapshots.split_off(&oldest);
        self.logs = self.logs.split_off(&needed);
    }
}

/// Takes some of the operations from this place on back, as a bug has it.
fn leave_out(from: usize, which: impl Fn(&FileOp) -> bool, out: &mut Vec<FileOp>) {
    let kept = out.split_off(from).into_iter().filter(|op| !which(op));
    out.extend(kept);
}

/// A small file, whole or not at all. Its name survives with the next sync of the directory.
pub(super) fn whole(to: FileName, bytes: Vec<u8>, out: &mut Vec<FileOp>) {
    let from = to.temporary();
    out.push(FileOp::Create { name: from });
    out.push(FileOp::Write { name: from, at: 0, bytes });
    out.push(FileOp::Sync { name: from });
    out.push(FileOp::Rename { from, to });
}

pub(super) fn remove_for_good(
    snapshots: impl Iterator<Item = Zxid>,
    logs: impl Iterator<Item = Zxid>,
    out: &mut Vec<FileOp>,
) {
    out.extend(snapshots.map(|zxid| FileOp::Remove { name: FileName::snapshot(zxid) }));
    out.extend(logs.map(|first| FileOp::Remove { name: FileName::log(first) }));
    out.push(FileOp::SyncDirectory);
}

fn shows_nothing_after(zxid: Zxid, to: Zxid, files: &Files) -> bool {
    let read = files.get(FileName::snapshot(zxid)).map(|bytes| snapshot::decode(bytes, true, 0));
    let Some(Ok(read)) = read else { return false };
    zxid <= to && read.mark.is_some_and(|mark| mark.zxid <= to)
}

/// The last transaction up to `to` in the log file that begins with `first`, and where it ends.
fn end_of(to: Zxid, first: Zxid, files: &Files) -> Result<(Zxid, u64), TruncateError> {
    let name = FileName::log(first);
    let unreadable = |error| TruncateError::Log { name, error };
    let bytes = files.get(name).unwrap_or_default();
    let mut entries = Entries::new(bytes).map_err(unreadable)?;
    let mut last = (Zxid::ZERO, entries.end() as u64);
    while let Some(entry) = entries.next().map_err(unreadable)? {
        let zxid = entry.read.txn.stamp.zxid;
        if zxid > to {
            break;
        }
        last = (zxid, entry.end as u64);
    }
    Ok(last)
}

/// Why a log cannot be cut off there.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TruncateError {
    /// It does not reach that far.
    Beyond {
        /// What should stay.
        to: Zxid,
        /// Where the log ends.
        zxid_last: Zxid,
    },
    /// A log file cannot be read.
    Log {
        /// Which one.
        name: FileName,
        /// What is wrong.
        error: LogError,
    },
    /// Every snapshot shows something later, or cannot be read.
    NoSnapshot {
        /// What should stay.
        to: Zxid,
    },
    /// There is no such transaction in the log.
    NotInLog {
        /// What should stay.
        to: Zxid,
    },
}

impl fmt::Display for TruncateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Beyond { to, zxid_last } => {
                write!(f, "cannot truncate to {to}: the log ends at {zxid_last}")
            }
            Self::Log { name, error } => write!(f, "{name}: {error}"),
            Self::NoSnapshot { to } => {
                write!(f, "cannot truncate to {to}: no snapshot without later changes")
            }
            Self::NotInLog { to } => write!(f, "cannot truncate to {to}: it is not in the log"),
        }
    }
}

impl core::error::Error for TruncateError {}

/// The note that one snapshot replaces everything else.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Installing {
    pub(super) zxid: Zxid,
    size: usize,
    checksum: u32,
}

impl Installing {
    fn of(zxid: Zxid, snapshot: &[u8]) -> Self {
        Self { zxid, size: snapshot.len(), checksum: adler2::adler32_slice(snapshot) }
    }

    fn encode(self) -> Vec<u8> {
        let Self { zxid, size, checksum } = self;
        let text = format!("{:x} {size} {checksum:x} ", zxid.0);
        let check = adler2::adler32_slice(text.as_bytes());
        format!("{text}{check:x}").into_bytes()
    }

    /// The note with these bytes. Nothing else is ever written under its name.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(bytes);
        let mut words = text.split(' ');
        let zxid = Zxid(i64::from_str_radix(words.next()?, 16).ok()?);
        let size = words.next()?.parse().ok()?;
        let checksum = u32::from_str_radix(words.next()?, 16).ok()?;
        let note = Self { zxid, size, checksum };
        (note.encode() == bytes).then_some(note)
    }

    /// Whether the snapshot has got its name.
    pub(super) fn is_done(self, files: &Files) -> bool {
        let snapshot = files.get(FileName::snapshot(self.zxid));
        snapshot.is_some_and(|bytes| Self::of(self.zxid, bytes) == self)
    }
}
