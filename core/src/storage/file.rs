//! Files by name, and what can be done with them.
//!
//! A host carries [`FileOp`]s out on real or simulated files, one after the other. What is
//! promised by which is what POSIX promises: bytes written survive a power loss once the file is
//! synced, a name created, renamed or removed once the directory is.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

use crate::ids::Zxid;

/// What a file holds.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum FileKind {
    /// `acceptedEpoch`: the newest epoch this server has promised itself to.
    AcceptedEpoch,
    /// `currentEpoch`: the newest epoch whose history this server has.
    CurrentEpoch,
    /// `installing`: says which snapshot replaces everything else. ZooKeeper has no such file,
    /// and does not mind it.
    Installing,
    /// `log.<hex>`: transactions from this one on.
    Log(Zxid),
    /// `zoo.cfg.dynamic`: the members in force. ZooKeeper's are beside its configuration file.
    Members,
    /// `snapshot.<hex>`: the whole tree as of this transaction, and perhaps more of it.
    Snapshot(Zxid),
}

/// The name of a file in a data directory.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct FileName {
    /// What the file holds.
    pub kind: FileKind,
    /// Whether it is still being written: `.tmp` follows the name.
    pub temporary: bool,
}

impl FileName {
    /// A log file.
    #[must_use]
    pub const fn log(first: Zxid) -> Self {
        Self { kind: FileKind::Log(first), temporary: false }
    }

    /// A snapshot.
    #[must_use]
    pub const fn snapshot(zxid: Zxid) -> Self {
        Self { kind: FileKind::Snapshot(zxid), temporary: false }
    }

    /// One of the files of which there is only one.
    #[must_use]
    pub const fn of(kind: FileKind) -> Self {
        Self { kind, temporary: false }
    }

    /// The file that is renamed to this one when it is whole.
    #[must_use]
    pub const fn temporary(self) -> Self {
        Self { kind: self.kind, temporary: true }
    }

    /// The file with this name, if it is one of ours. Others are left alone.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (text, temporary) = match text.strip_suffix(".tmp") {
            Some(text) => (text, true),
            None => (text, false),
        };
        let zxid = |hex: &str| {
            let plain = hex == "0" || !hex.starts_with('0');
            let digits = hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            i64::from_str_radix(hex, 16).ok().filter(|_| plain && digits).map(Zxid)
        };
        let kind = match text {
            "acceptedEpoch" => FileKind::AcceptedEpoch,
            "currentEpoch" => FileKind::CurrentEpoch,
            "installing" => FileKind::Installing,
            "zoo.cfg.dynamic" => FileKind::Members,
            text => match text.split_once('.')? {
                ("log", hex) => FileKind::Log(zxid(hex)?),
                ("snapshot", hex) => FileKind::Snapshot(zxid(hex)?),
                _ => return None,
            },
        };
        Some(Self { kind, temporary })
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            FileKind::AcceptedEpoch => write!(f, "acceptedEpoch")?,
            FileKind::CurrentEpoch => write!(f, "currentEpoch")?,
            FileKind::Installing => write!(f, "installing")?,
            FileKind::Log(zxid) => write!(f, "log.{:x}", zxid.0)?,
            FileKind::Members => write!(f, "zoo.cfg.dynamic")?,
            FileKind::Snapshot(zxid) => write!(f, "snapshot.{:x}", zxid.0)?,
        }
        if self.temporary { write!(f, ".tmp") } else { Ok(()) }
    }
}

/// One thing to do in a data directory.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum FileOp {
    /// Make an empty file; one that is there already is emptied.
    Create {
        /// Which one.
        name: FileName,
    },
    /// Remove a file.
    Remove {
        /// Which one.
        name: FileName,
    },
    /// Give a file another name, in place of whatever has it.
    Rename {
        /// The name it has.
        from: FileName,
        /// The name it gets.
        to: FileName,
    },
    /// Make what was written to a file, and its size, survive a power loss.
    Sync {
        /// Which one.
        name: FileName,
    },
    /// Make creations, renamings and removals survive a power loss.
    SyncDirectory,
    /// Cut a file off.
    Truncate {
        /// Which one.
        name: FileName,
        /// How many bytes stay.
        size: u64,
    },
    /// Write bytes into a file; what lies between its end and them becomes zeros.
    Write {
        /// Which one.
        name: FileName,
        /// Where.
        at: u64,
        /// What.
        bytes: Vec<u8>,
    },
}

impl FileOp {
    /// Whether it only makes safe what is there.
    #[must_use]
    pub const fn is_sync(&self) -> bool {
        match self {
            Self::Sync { .. } | Self::SyncDirectory => true,
            Self::Create { .. }
            | Self::Remove { .. }
            | Self::Rename { .. }
            | Self::Truncate { .. }
            | Self::Write { .. } => false,
        }
    }
}

impl fmt::Display for FileOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create { name } => write!(f, "create {name}"),
            Self::Remove { name } => write!(f, "remove {name}"),
            Self::Rename { from, to } => write!(f, "rename {from} {to}"),
            Self::Sync { name } => write!(f, "sync {name}"),
            Self::SyncDirectory => write!(f, "sync directory"),
            Self::Truncate { name, size } => write!(f, "truncate {name} {size}"),
            Self::Write { name, at, bytes } => write!(f, "write {name} {at}+{}", bytes.len()),
        }
    }
}

/// A data directory as it is read: every file with its bytes.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Files(BTreeMap<FileName, Vec<u8>>);

impl Files {
    /// An empty directory.
    #[must_use]
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// Puts a file there.
    pub fn insert(&mut self, name: FileName, bytes: Vec<u8>) {
        self.0.insert(name, bytes);
    }

    /// The bytes of a file.
    #[must_use]
    pub fn get(&self, name: FileName) -> Option<&[u8]> {
        self.0.get(&name).map(Vec::as_slice)
    }

    /// All files by name.
    pub fn iter(&self) -> impl Iterator<Item = (FileName, &[u8])> {
        self.0.iter().map(|(name, bytes)| (*name, bytes.as_slice()))
    }

    /// Whole log files by their first transaction.
    pub fn logs(&self) -> impl DoubleEndedIterator<Item = (Zxid, &[u8])> {
        self.0.iter().filter_map(|(name, bytes)| match name {
            FileName { kind: FileKind::Log(zxid), temporary: false } => {
                Some((*zxid, bytes.as_slice()))
            }
            FileName { .. } => None,
        })
    }

    /// Whole snapshots by the transaction they are named after.
    pub fn snapshots(&self) -> impl DoubleEndedIterator<Item = (Zxid, &[u8])> {
        self.0.iter().filter_map(|(name, bytes)| match name {
            FileName { kind: FileKind::Snapshot(zxid), temporary: false } => {
                Some((*zxid, bytes.as_slice()))
            }
            FileName { .. } => None,
        })
    }

    /// Does one thing, as if nothing could go wrong with disks.
    ///
    /// # Errors
    /// If there is no such file; then nothing has changed.
    pub fn perform(&mut self, op: &FileOp) -> Result<(), NoSuchFile> {
        match op {
            FileOp::Create { name } => {
                self.0.insert(*name, Vec::new());
            }
            FileOp::Remove { name } => {
                self.0.remove(name).ok_or(NoSuchFile(*name))?;
            }
            FileOp::Rename { from, to } => {
                let bytes = self.0.remove(from).ok_or(NoSuchFile(*from))?;
                self.0.insert(*to, bytes);
            }
            FileOp::Sync { name } => {
                self.0.get(name).ok_or(NoSuchFile(*name))?;
            }
            FileOp::SyncDirectory => {}
            FileOp::Truncate { name, size } => {
                let bytes = self.0.get_mut(name).ok_or(NoSuchFile(*name))?;
                bytes.resize(*size as usize, 0);
            }
            FileOp::Write { name, at, bytes: new } => {
                let bytes = self.0.get_mut(name).ok_or(NoSuchFile(*name))?;
                let (at, end) = (*at as usize, *at as usize + new.len());
                if bytes.len() < end {
                    bytes.resize(end, 0);
                }
                bytes[at..end].copy_from_slice(new);
            }
        }
        Ok(())
    }
}

impl FromIterator<(FileName, Vec<u8>)> for Files {
    fn from_iter<T: IntoIterator<Item = (FileName, Vec<u8>)>>(files: T) -> Self {
        Self(files.into_iter().collect())
    }
}

/// An operation names a file that is not there.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NoSuchFile(pub FileName);

impl fmt::Display for NoSuchFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no such file: {}", self.0)
    }
}

impl core::error::Error for NoSuchFile {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString as _;

    #[test]
    fn names_are_those_of_zookeeper() {
        for name in [
            "acceptedEpoch",
            "currentEpoch.tmp",
            "installing",
            "log.1",
            "log.100000001",
            "snapshot.0",
            "snapshot.3e.tmp",
        ] {
            assert_eq!(FileName::parse(name).unwrap().to_string(), name);
        }
        for name in ["myid", "log", "log.", "log.0A", "log.01", "log.-1", "snapshot.5.gz", ".tmp"] {
            assert_eq!(FileName::parse(name), None, "{name}");
        }
    }

    #[test]
    fn operations_do_what_files_do() {
        let name = FileName::log(Zxid(1));
        let mut files = Files::new();
        assert_eq!(files.perform(&FileOp::Sync { name }), Err(NoSuchFile(name)));
        let bytes = alloc::vec![1, 2, 3];
        for op in [
            FileOp::Create { name: name.temporary() },
            FileOp::Write { name: name.temporary(), at: 2, bytes },
            FileOp::Truncate { name: name.temporary(), size: 4 },
            FileOp::Rename { from: name.temporary(), to: name },
            FileOp::SyncDirectory,
        ] {
            files.perform(&op).unwrap();
        }
        assert_eq!(files.get(name), Some([0, 0, 1, 2].as_slice()));
        files.perform(&FileOp::Remove { name }).unwrap();
        assert_eq!(files, Files::new());
    }
}
