//! From the bytes of a data directory to the state of a server.
//!
//! ```text
//!   newest snapshot that is whole -> its later transactions from the logs -> tree, sessions, zxid
//! ```
//!
//! Transactions are applied again on top of a snapshot that shows some of them already; what they
//! say is absolute, so this does no harm, and beyond the snapshot's end each one's digest must be
//! the tree's. The history must have no hole: within an epoch each zxid is the one before plus
//! one, across files as well. ZooKeeper does not look, and a hole in one server's log has cost
//! others their transactions.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::disk::{Disk, Installing, remove_for_good, whole};
use super::epoch::{self, EpochKind, NoEpoch};
use super::file::{FileKind, FileName, FileOp, Files};
use super::log::{self, Entries, LogError, Tail};
use super::snapshot::{self, Mark, Snapshot, SnapshotError};
use super::txn;
use crate::bugs::{Bug, Bugs};
use crate::config::Settings;
use crate::ids::{Epoch, SessionId, Zxid};
use crate::members::{Members, MembersError};
use crate::tree::Tree;
use crate::txn::{Change, NodeChange, SubChange, Txn};

/// How many snapshots are tried, as ZooKeeper does.
const SNAPSHOTS_TRIED: usize = 100;
/// How many wrong digests are noted: one cause makes all that follow wrong.
const MISMATCHES_NOTED: usize = 100;

/// What recovery has to know besides the bytes.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Rules {
    /// Whether TTL nodes exist.
    pub extended_types: bool,
    /// Scatters look-up tables; no behaviour depends on it.
    pub scatter: u64,
    /// Whether an empty directory is a new one, as ZooKeeper's `initialize` file says. If not, a
    /// disk was lost: the server must not vote before it has been given everything again, and
    /// nothing is written that would let it be taken for a new one after the next restart.
    pub initialize: bool,
    /// By how many bytes log files grow; ZooKeeper's 64 MiB save the disk some work at each
    /// sync. Zero lets them grow with what is written.
    pub preallocate: u64,
    /// Bugs that are to be found; none, for everybody else.
    pub bugs: Bugs,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            extended_types: false,
            scatter: 0,
            initialize: true,
            preallocate: 64 << 20,
            bugs: Bugs::NONE,
        }
    }
}

/// What a data directory comes to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Recovered {
    /// To be done before anything else, in this order; a crash in between does no harm. Also
    /// syncs what was read: what survived a crash of the process may not yet be safe from a
    /// power loss.
    pub repairs: Vec<FileOp>,
    /// What a server begins with.
    pub saved: Saved,
    /// Ready to go on.
    pub disk: Disk,
    /// What a person may want to know.
    pub notes: Vec<Note>,
}

/// The state of a server, as its disk has it.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Saved {
    /// The nodes.
    pub tree: Tree,
    /// The sessions with their timeouts.
    pub sessions: BTreeMap<SessionId, i32>,
    /// The last transaction.
    pub zxid_last: Zxid,
    /// The transaction after which the snapshot was begun.
    pub zxid_snapshot: Zxid,
    /// What was read from the log, for peers that lack some of it. Invariant: no holes, from the
    /// one after `zxid_snapshot` to `zxid_last`.
    pub log: VecDeque<Arc<Txn>>,
    /// The newest epoch this server has promised itself to.
    pub accepted_epoch: Epoch,
    /// The newest epoch whose history this server has.
    pub current_epoch: Epoch,
    /// The members that were in force, if anybody has ever agreed on any.
    pub members: Option<Arc<Members>>,
    /// Whether the disk was lost, and nothing has replaced what was on it.
    pub is_blank: bool,
}

impl Saved {
    /// What an empty disk comes to.
    #[must_use]
    pub fn blank(settings: &Settings, scatter: u64) -> Self {
        Self::at_zero(Tree::new(settings.extended_types, scatter))
    }

    fn at_zero(tree: Tree) -> Self {
        Self {
            tree,
            sessions: BTreeMap::new(),
            zxid_last: Zxid::ZERO,
            zxid_snapshot: Zxid::ZERO,
            log: VecDeque::new(),
            accepted_epoch: Epoch(0),
            current_epoch: Epoch(0),
            members: None,
            is_blank: false,
        }
    }
}

/// Something odd that did not keep recovery from its work.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Note {
    /// The history has transactions of a later epoch than the server had noted. It was
    /// interrupted after it got them.
    EpochRaised {
        /// What it had noted.
        from: Epoch,
        /// What it has.
        to: Epoch,
    },
    /// A snapshot was being installed; it has been, now.
    Installed {
        /// Which one.
        zxid: Zxid,
    },
    /// The tree is not the one that the leader had then. ZooKeeper's own digests are wrong after
    /// some requests: a create whose flags contradict it, the 2^31st child, and writes to the
    /// root that are in flight both as itself and as a parent.
    Mismatch {
        /// After which transaction. Later ones that are wrong by the same amount are not noted.
        zxid: Zxid,
        /// The digest in the log or the snapshot.
        expected: u64,
        /// The digest of the tree.
        got: u64,
    },
    /// A file that was not finished, or that has nothing in it.
    Removed {
        /// Which one.
        name: FileName,
    },
    /// An error transaction under a zxid that was used before, as ZooKeeper 3.9 writes for
    /// requests it cannot read. It changes nothing, and is left out.
    Repeated {
        /// In which file.
        name: FileName,
        /// Where.
        at: usize,
        /// The zxid.
        zxid: Zxid,
    },
    /// A snapshot that could not be used.
    Skipped {
        /// Which one.
        name: FileName,
        /// Why.
        why: Unusable,
    },
    /// The remains of a write that a crash broke off.
    Torn {
        /// In which file.
        name: FileName,
        /// From where on.
        at: usize,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EpochRaised { from, to } => {
                write!(f, "the history reaches into epoch {to}; raised from {from}")
            }
            Self::Installed { zxid } => {
                write!(f, "snapshot {zxid} was being installed; the older history is removed")
            }
            Self::Mismatch { zxid, expected, got } => {
                write!(f, "digest of the tree after {zxid} is {got:#x}, expected {expected:#x}")
            }
            Self::Removed { name } => write!(f, "{name}: unfinished or empty, removed"),
            Self::Repeated { name, at, zxid } => {
                write!(f, "{name}: byte {at}: an error under {zxid}, which was used before")
            }
            Self::Skipped { name, why } => write!(f, "{name}: not usable: {why}"),
            Self::Torn { name, at } => write!(f, "{name}: byte {at}: a torn write, cut off"),
        }
    }
}

/// Why a snapshot cannot be used.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Unusable {
    /// It cannot be read.
    Broken(SnapshotError),
    /// It shows changes that the log has lost.
    Dirty {
        /// Up to where it may show changes.
        shows: Zxid,
        /// Where the log ends.
        zxid_last: Zxid,
    },
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken(error) => error.fmt(f),
            Self::Dirty { shows, zxid_last } => {
                write!(f, "shows changes up to {shows}, but the log ends at {zxid_last}")
            }
        }
    }
}

/// Why a directory cannot be recovered. Someone has to look at it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum RecoverError {
    /// The server has promised itself to less than it has.
    AcceptedBehind {
        /// What it has promised.
        accepted: Epoch,
        /// What it has.
        current: Epoch,
    },
    /// A transaction after one that is not before it.
    Backwards {
        /// In which file.
        name: FileName,
        /// Where.
        at: usize,
        /// The one before.
        last: Zxid,
        /// This one.
        found: Zxid,
    },
    /// The history reaches into a later epoch than the server had noted, and by [`Bug::Zk1653`]
    /// that is taken for corruption.
    CurrentBehind {
        /// What it had noted.
        current: Epoch,
        /// What it has.
        history: Epoch,
    },
    /// An epoch file without an epoch.
    Epoch {
        /// Which one.
        name: FileName,
        /// What it says.
        error: NoEpoch,
    },
    /// Transactions are missing.
    Gap {
        /// In which file.
        name: FileName,
        /// Where.
        at: usize,
        /// The last one before.
        last: Zxid,
        /// The first one after.
        found: Zxid,
    },
    /// The note about a snapshot being installed cannot be read.
    Installing,
    /// A log file cannot be believed.
    Log {
        /// Which one.
        name: FileName,
        /// What is wrong.
        error: LogError,
    },
    /// The file of the members in force says something else.
    Members {
        /// What is wrong.
        error: MembersError,
    },
    /// A log file does not begin with the transaction it is named after.
    Misnamed {
        /// Which one.
        name: FileName,
        /// What it begins with.
        found: Zxid,
    },
    /// There are logs or epochs, but no snapshot they could belong to.
    NoSnapshot {
        /// Those that could not be used.
        skipped: Vec<(FileName, Unusable)>,
    },
    /// Nodes that hang in the air: snapshot and log do not belong together.
    Unreachable {
        /// How many.
        nodes: usize,
    },
}

impl fmt::Display for RecoverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AcceptedBehind { accepted, current } => {
                write!(f, "acceptedEpoch: {accepted}, expected at least {current}")
            }
            Self::Backwards { name, at, last, found } => {
                write!(f, "{name}: byte {at}: transaction {found} after {last}")
            }
            Self::CurrentBehind { current, history } => {
                write!(f, "currentEpoch: {current}, but the history reaches into {history}")
            }
            Self::Epoch { name, error } => write!(f, "{name}: {error}"),
            Self::Gap { name, at, last, found } => write!(
                f,
                "{name}: byte {at}: transaction {found} where the one after {last} was due"
            ),
            Self::Installing => write!(f, "installing: not a note about a snapshot"),
            Self::Log { name, error } => write!(f, "{name}: {error}"),
            Self::Members { error } => write!(f, "{}: {error}", FileName::of(FileKind::Members)),
            Self::Misnamed { name, found } => {
                write!(f, "{name}: begins with transaction {found} ({:x})", found.0)
            }
            Self::NoSnapshot { skipped } => {
                write!(f, "there are logs or epochs but no usable snapshot")?;
                skipped.iter().try_for_each(|(name, why)| write!(f, "; {name}: {why}"))
            }
            Self::Unreachable { nodes } => {
                write!(f, "{nodes} nodes without a parent: snapshot and log do not fit")
            }
        }
    }
}

impl core::error::Error for RecoverError {}

/// Builds the state of a server from its data directory. Changes nothing: what is to be done
/// there is in [`Recovered::repairs`].
///
/// # Errors
/// Says which file is wrong, where, and what was expected there.
pub fn recover(files: &Files, rules: &Rules) -> Result<Recovered, RecoverError> {
    let mut recovery = Recovery { files, rules, notes: Vec::new(), repairs: Vec::new() };
    recovery.leftovers();
    let valid = recovery.installing()?;
    if valid.is_empty() && files.logs().next().is_none() {
        if !rules.initialize {
            return recovery.lost();
        }
        if !has_epochs(files) {
            return recovery.fresh();
        }
    }
    let (zxid_snapshot, replay) = recovery.newest(&valid)?;
    let unreachable = replay.tree.unreachable();
    if unreachable > 0 {
        return Err(RecoverError::Unreachable { nodes: unreachable });
    }
    let Replay { tree, sessions, zxid_last, log, touched, emptied, mismatches, .. } = replay;
    recovery.notes.extend(mismatches);
    let (accepted_epoch, current_epoch, raised) = recovery.epochs(zxid_last)?;
    let members = recovery.members()?;

    let mut logs = valid.logs;
    for first in &emptied {
        let name = FileName::log(*first);
        recovery.notes.push(Note::Removed { name });
        recovery.repairs.push(FileOp::Remove { name });
        logs.remove(first);
    }
    for (name, cut) in touched {
        if let Some(at) = cut {
            recovery.notes.push(Note::Torn { name, at });
            recovery.repairs.push(FileOp::Truncate { name, size: at as u64 });
        }
        recovery.repairs.push(FileOp::Sync { name });
    }
    recovery.repairs.push(FileOp::Sync { name: FileName::snapshot(zxid_snapshot) });
    recovery.repairs.push(FileOp::SyncDirectory);
    if raised {
        whole(EpochKind::Current.name(), epoch::encode(current_epoch), &mut recovery.repairs);
        recovery.repairs.push(FileOp::SyncDirectory);
    }
    // One that turned out to be unusable must not be counted among those to keep.
    let usable = valid.snapshots.range(..=zxid_snapshot).copied().collect();
    let disk = Disk::new(rules, usable, logs, zxid_last);
    let Recovery { repairs, notes, .. } = recovery;
    let saved = Saved {
        tree,
        sessions,
        zxid_last,
        zxid_snapshot,
        log,
        accepted_epoch,
        current_epoch,
        members,
        is_blank: false,
    };
    Ok(Recovered { repairs, saved, disk, notes })
}

fn has_epochs(files: &Files) -> bool {
    [EpochKind::Accepted, EpochKind::Current].iter().any(|kind| files.get(kind.name()).is_some())
}

/// The files that count.
struct Valid {
    snapshots: BTreeSet<Zxid>,
    logs: BTreeSet<Zxid>,
}

impl Valid {
    fn is_empty(&self) -> bool {
        self.snapshots.is_empty() && self.logs.is_empty()
    }
}

struct Recovery<'a> {
    files: &'a Files,
    rules: &'a Rules,
    notes: Vec<Note>,
    repairs: Vec<FileOp>,
}

impl Recovery<'_> {
    /// Files that were being written when the server stopped.
    fn leftovers(&mut self) {
        for (name, _) in self.files.iter().filter(|(name, _)| name.temporary) {
            self.notes.push(Note::Removed { name });
            self.repairs.push(FileOp::Remove { name });
        }
    }

    /// Ends the installation of a snapshot that was interrupted, one way or the other.
    fn installing(&mut self) -> Result<Valid, RecoverError> {
        let mut snapshots: BTreeSet<Zxid> = self.files.snapshots().map(|(zxid, _)| zxid).collect();
        let mut logs: BTreeSet<Zxid> = self.files.logs().map(|(first, _)| first).collect();
        let name = FileName::of(FileKind::Installing);
        if let Some(bytes) = self.files.get(name) {
            let note = Installing::decode(bytes).ok_or(RecoverError::Installing)?;
            if note.is_done(self.files) {
                snapshots.remove(&note.zxid);
                remove_for_good(snapshots.into_iter(), logs.into_iter(), &mut self.repairs);
                self.notes.push(Note::Installed { zxid: note.zxid });
                (snapshots, logs) = (BTreeSet::from([note.zxid]), BTreeSet::new());
            }
            self.repairs.push(FileOp::Remove { name });
            self.repairs.push(FileOp::SyncDirectory);
        }
        Ok(Valid { snapshots, logs })
    }

    /// An empty directory becomes one with an empty snapshot. Then logs without a snapshot are
    /// never the beginning of a history, but always the rest of one.
    fn fresh(mut self) -> Result<Recovered, RecoverError> {
        let members = self.members()?;
        let tree = Tree::new(self.rules.extended_types, self.rules.scatter);
        let bytes = snapshot::encode(Zxid::ZERO, &tree, &BTreeMap::new());
        whole(FileName::snapshot(Zxid::ZERO), bytes, &mut self.repairs);
        self.repairs.push(FileOp::SyncDirectory);
        let snapshots = BTreeSet::from([Zxid::ZERO]);
        Ok(Recovered {
            repairs: self.repairs,
            saved: Saved { members, ..Saved::at_zero(tree) },
            disk: Disk::new(self.rules, snapshots, BTreeSet::new(), Zxid::ZERO),
            notes: self.notes,
        })
    }

    /// An empty directory that should not be empty stays empty until there is something to put
    /// into it. What the server has promised since holds.
    fn lost(self) -> Result<Recovered, RecoverError> {
        let read = |kind: EpochKind| {
            let name = kind.name();
            let epoch = self.files.get(name).map(epoch::decode).transpose();
            epoch.map_err(|error| RecoverError::Epoch { name, error })
        };
        let accepted_epoch = read(EpochKind::Accepted)?.unwrap_or_default();
        let current_epoch = read(EpochKind::Current)?.unwrap_or_default();
        if accepted_epoch < current_epoch {
            let (accepted, current) = (accepted_epoch, current_epoch);
            return Err(RecoverError::AcceptedBehind { accepted, current });
        }
        let members = self.members()?;
        let Rules { extended_types, scatter, .. } = *self.rules;
        let blank = Saved::at_zero(Tree::new(extended_types, scatter));
        Ok(Recovered {
            repairs: self.repairs,
            saved: Saved { accepted_epoch, current_epoch, members, is_blank: true, ..blank },
            disk: Disk::new(self.rules, BTreeSet::new(), BTreeSet::new(), Zxid::ZERO),
            notes: self.notes,
        })
    }

    /// The members in force, if the directory has any.
    fn members(&self) -> Result<Option<Arc<Members>>, RecoverError> {
        let Some(bytes) = self.files.get(FileName::of(FileKind::Members)) else { return Ok(None) };
        let text = alloc::string::String::from_utf8_lossy(bytes);
        let members = Members::parse(&text).map_err(|error| RecoverError::Members { error })?;
        Ok(Some(Arc::new(members)))
    }

    /// The newest snapshot that is whole and of which the log has lost nothing.
    fn newest(&mut self, valid: &Valid) -> Result<(Zxid, Replay), RecoverError> {
        let mut skipped = Vec::new();
        for &zxid in valid.snapshots.iter().rev().take(SNAPSHOTS_TRIED) {
            let name = FileName::snapshot(zxid);
            let bytes = self.files.get(name).unwrap_or_default();
            let Rules { extended_types, scatter, .. } = *self.rules;
            let why = match snapshot::decode(bytes, extended_types, scatter) {
                Err(error) => Unusable::Broken(error),
                Ok(read) => {
                    let replay = Replay::run(zxid, read, valid, self.files, self.rules.bugs)?;
                    match replay.dirty() {
                        None => {
                            self.notes.extend(replay.repeated.iter().cloned());
                            return Ok((zxid, replay));
                        }
                        Some(shows) => {
                            // Once the log has grown past it, nobody could tell any more.
                            self.repairs.push(FileOp::Remove { name });
                            Unusable::Dirty { shows, zxid_last: replay.zxid_last }
                        }
                    }
                }
            };
            self.notes.push(Note::Skipped { name, why: why.clone() });
            skipped.push((name, why));
        }
        Err(RecoverError::NoSnapshot { skipped })
    }

    /// Accepted and current epoch, and whether the latter has to be raised.
    ///
    /// ZooKeeper refuses to start when the history reaches into a later epoch than the current
    /// one. A server that gets transactions of the new epoch while it joins, and crashes before
    /// it notes that epoch, would then never start again. Having them without a hole means
    /// having all that came before, so the epoch may be raised to what was promised.
    fn epochs(&mut self, zxid_last: Zxid) -> Result<(Epoch, Epoch, bool), RecoverError> {
        let read = |kind: EpochKind| {
            let name = kind.name();
            let epoch = self.files.get(name).map(epoch::decode).transpose();
            epoch.map_err(|error| RecoverError::Epoch { name, error })
        };
        let history = zxid_last.epoch();
        let accepted = read(EpochKind::Accepted)?.unwrap_or(history);
        let noted = read(EpochKind::Current)?.unwrap_or(history);
        if noted < history && self.rules.bugs.on(Bug::Zk1653) {
            return Err(RecoverError::CurrentBehind { current: noted, history });
        }
        let current = noted.max(history);
        if accepted < current {
            return Err(RecoverError::AcceptedBehind { accepted, current });
        }
        if current > noted {
            self.notes.push(Note::EpochRaised { from: noted, to: current });
        }
        Ok((accepted, current, current > noted))
    }
}

/// A snapshot and what the logs add to it.
struct Replay {
    bugs: Bugs,
    tree: Tree,
    sessions: BTreeMap<SessionId, i32>,
    zxid_last: Zxid,
    log: VecDeque<Arc<Txn>>,
    /// Up to where the snapshot may show changes, if it says.
    mark: Option<Mark>,
    /// Whether the tree is one that ever was.
    settled: bool,
    /// By how much the last wrong digest was wrong.
    wrong_by: u64,
    mismatches: Vec<Note>,
    repeated: Vec<Note>,
    /// Log files that were read, and where to cut them.
    touched: Vec<(FileName, Option<usize>)>,
    /// Log files with nothing in them.
    emptied: Vec<Zxid>,
}

impl Replay {
    fn run(
        zxid: Zxid,
        snapshot: Snapshot,
        valid: &Valid,
        files: &Files,
        bugs: Bugs,
    ) -> Result<Self, RecoverError> {
        let Snapshot { tree, sessions, mark, zxid_processed: _ } = snapshot;
        // A mark before the beginning: no change was seen while it was written.
        let quiet = mark.is_some_and(|mark| mark.zxid < zxid);
        let mut replay = Self {
            bugs,
            tree,
            sessions,
            zxid_last: zxid,
            log: VecDeque::new(),
            mark,
            settled: quiet,
            wrong_by: 0,
            mismatches: Vec::new(),
            repeated: Vec::new(),
            touched: Vec::new(),
            emptied: Vec::new(),
        };
        replay.settle(zxid, None);
        let start = valid.logs.range(..=zxid).next_back().copied().unwrap_or(zxid);
        for &first in valid.logs.range(start..) {
            replay.file(first, zxid, files)?;
        }
        if let Some(Mark { zxid, digest: Some(digest) }) = replay.mark
            && zxid == replay.zxid_last
            && zxid > Zxid::ZERO // ZooKeeper writes zeros if nothing was applied yet.
            && !replay.settled
        {
            replay.compare(zxid, digest);
        }
        Ok(replay)
    }

    fn file(&mut self, first: Zxid, snapshot: Zxid, files: &Files) -> Result<(), RecoverError> {
        let name = FileName::log(first);
        let broken = |error| RecoverError::Log { name, error };
        let mut entries = Entries::new(files.get(name).unwrap_or_default()).map_err(broken)?;
        let mut empty = true;
        while let Some(entry) = entries.next().map_err(broken)? {
            let found = entry.read.txn.stamp.zxid;
            if core::mem::take(&mut empty) && found != first {
                return Err(RecoverError::Misnamed { name, found });
            }
            if found <= snapshot {
                continue;
            }
            let (at, last) = (entry.at, self.zxid_last);
            if log::follows(last, found) {
                self.txn(entry.read);
            } else if found > last {
                return Err(RecoverError::Gap { name, at, last, found });
            } else if matches!(entry.read.txn.change, Change::Error(_)) {
                self.repeated.push(Note::Repeated { name, at, zxid: found });
            } else {
                return Err(RecoverError::Backwards { name, at, last, found });
            }
        }
        if empty {
            self.emptied.push(first);
        } else {
            let torn = entries.tail() == Some(Tail::Torn);
            self.touched.push((name, torn.then_some(entries.end())));
        }
        Ok(())
    }

    fn txn(&mut self, read: txn::Read) {
        let txn::Read { mut txn, pathless } = read;
        if pathless {
            let paths = self.tree.ephemerals_of(txn.session).cloned().collect();
            txn.change = Change::CloseSession { paths };
        }
        match &txn.change {
            Change::Node(NodeChange::Create { path, .. })
                if self.bugs.on(Bug::Zk1046) && self.tree.get(path).is_some() => {}
            Change::CloseSession { .. }
            | Change::CreateSession { .. }
            | Change::Error(_)
            | Change::Multi(_)
            | Change::Node(_) => apply(&txn, &mut self.tree, &mut self.sessions),
        }
        let zxid = txn.stamp.zxid;
        self.zxid_last = zxid;
        self.settle(zxid, txn.digest);
        if let Some(digest) = txn.digest
            && self.settled
        {
            self.compare(zxid, digest);
        }
        self.log.push_back(Arc::new(txn));
    }

    /// Whether the tree is one that ever was, now that this transaction has been applied.
    ///
    /// At the mark it should be; but ZooKeeper writes the mark while the next transaction may be
    /// on its way, and a node may show that one already. Then it is right after the next.
    fn settle(&mut self, zxid: Zxid, digest: Option<u64>) {
        let got = Some(self.tree.digest());
        self.settled |= match self.mark {
            Some(mark) if mark.zxid == zxid => mark.digest.is_none() || mark.digest == got,
            Some(mark) => mark.zxid < zxid,
            // It does not say where it ended; it has once a digest is right.
            None => digest == got,
        };
    }

    fn compare(&mut self, zxid: Zxid, expected: u64) {
        let got = self.tree.digest();
        let wrong_by = got.wrapping_sub(expected);
        let news = core::mem::replace(&mut self.wrong_by, wrong_by) != wrong_by;
        if news && wrong_by != 0 && self.mismatches.len() < MISMATCHES_NOTED {
            self.mismatches.push(Note::Mismatch { zxid, expected, got });
        }
    }

    /// Up to where the snapshot may show changes that were not found in the log. A mark at an
    /// epoch's beginning is no transaction.
    fn dirty(&self) -> Option<Zxid> {
        let shows = self.mark?.zxid;
        (shows > self.zxid_last && shows.counter() > 0).then_some(shows)
    }
}

/// Applies a transaction to a tree and its sessions, as every server does, without anybody
/// watching.
pub fn apply(txn: &Txn, tree: &mut Tree, sessions: &mut BTreeMap<SessionId, i32>) {
    let mut triggers = Vec::new();
    let mut one = |change: &NodeChange| {
        tree.apply(txn.stamp, txn.session, change, &mut triggers);
    };
    match &txn.change {
        Change::CloseSession { paths } => {
            for path in paths {
                one(&NodeChange::Delete { path: path.clone(), container: false });
            }
            sessions.remove(&txn.session);
        }
        Change::CreateSession { timeout_ms } => {
            sessions.insert(txn.session, *timeout_ms);
        }
        Change::Error(_) => {}
        Change::Multi(parts) => {
            let changes = parts.iter().map(|part| match part {
                SubChange::Error(_) => None,
                SubChange::Node(change) => Some(change),
            });
            // One that failed takes all others with it.
            if let Some(changes) = changes.collect::<Option<Vec<_>>>() {
                changes.into_iter().for_each(one);
            }
        }
        Change::Node(change) => one(change),
    }
}
