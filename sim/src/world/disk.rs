//! A server's disk: what it has been asked to do, and what a process finds when it starts.
//!
//! ```text
//!   ask ---> queue ---- finish ----> what is safe, what is not
//!              |                                |
//!              +--- crash, power loss, failure -+---> recover
//! ```
//!
//! In seeded runs it has bytes, in the files of the core's storage format; searches, in which each
//! byte would be a state, have whole records instead.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use zoolab_core::members::Members;
use zoolab_core::storage::{self, EpochKind, Rules, Saved};
use zoolab_core::{Epoch, Persist, ServerId, Token, Txn, Zxid};

use super::bytes::ByteDisk;
use super::records::RecordDisk;
use crate::seen::Seen;
use crate::step::Keep;

/// What became true of a disk.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum DiskSeen {
    /// A transaction was handed to the log.
    Appended(Arc<Txn>),
    /// An epoch is safe.
    Epoch(EpochKind, Epoch),
    /// A snapshot has replaced everything.
    Installed(Zxid),
    /// It is safe that these members are in force.
    Members(Arc<Members>),
    /// A snapshot stands for what the log does not have. It is not safe.
    Snapshotted(Zxid),
    /// Everything up to here is safe.
    Synced(Zxid),
    /// Nothing later is left.
    Truncated(Zxid),
}

impl DiskSeen {
    /// The same, of this server's disk.
    #[must_use]
    pub fn of(self, server: ServerId) -> Seen {
        match self {
            Self::Appended(txn) => Seen::Appended { server, txn },
            Self::Epoch(kind, epoch) => Seen::EpochWritten { server, kind, epoch },
            Self::Installed(zxid) => Seen::Installed { server, zxid },
            Self::Members(members) => Seen::MembersWritten { server, members },
            Self::Snapshotted(zxid) => Seen::Snapshotted { server, zxid },
            Self::Synced(zxid) => Seen::Synced { server, zxid },
            Self::Truncated(to) => Seen::Truncated { server, to },
        }
    }
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Finish {
    /// As asked.
    Done,
    /// It is impossible, and nothing has changed.
    Refused,
}

/// Of what disks are made.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grain {
    /// Of bytes, in files.
    #[default]
    Bytes,
    /// Of whole records.
    Records,
}

/// What a process starts from.
#[derive(Clone, Debug)]
pub struct Found {
    /// What the disk has.
    pub saved: Saved,
    /// What a person may want to know.
    pub notes: Vec<storage::Note>,
}

/// See the [module](self).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum SimDisk {
    /// Of bytes.
    Bytes(Box<ByteDisk>),
    /// Of records.
    Records(RecordDisk),
}

/// Hands a call on to whichever disk it is.
macro_rules! either {
    ($disk:expr, $either:ident => $call:expr) => {
        match $disk {
            SimDisk::Bytes($either) => $call,
            SimDisk::Records($either) => $call,
        }
    };
}

impl SimDisk {
    /// An empty one.
    #[must_use]
    pub fn new(grain: Grain, rules: Rules) -> Self {
        match grain {
            Grain::Bytes => Self::Bytes(Box::new(ByteDisk::new(rules))),
            Grain::Records => Self::Records(RecordDisk::new(rules)),
        }
    }

    /// Is asked to do something, after everything it was asked before.
    pub fn ask(&mut self, token: Token, persist: Persist, seen: &mut impl FnMut(DiskSeen)) {
        either!(self, disk => disk.ask(token, persist, seen));
    }

    /// What it can be done with next, if anything waits.
    #[must_use]
    pub fn pending(&self) -> Option<Token> {
        self.queue().next().map(|(token, _)| token)
    }

    /// What it has been asked to do and has not done, oldest first.
    pub fn queue(&self) -> impl Iterator<Item = (Token, &Persist)> {
        let queue = either!(self, disk => disk.queue());
        queue.iter().map(|(token, persist)| (*token, persist))
    }

    /// Gives what it has been asked to do other names: one, two, three.
    pub fn rename_tokens(&mut self) {
        let queue = either!(self, disk => disk.queue_mut());
        for (name, (token, _)) in (1..).zip(queue) {
            *token = Token(name);
        }
    }

    /// Whether it has room.
    #[must_use]
    pub fn is_full(&self) -> bool {
        match self {
            Self::Bytes(disk) => disk.is_full(),
            Self::Records(_) => false,
        }
    }

    /// Has room, or has none. A disk of records always has.
    pub fn set_full(&mut self, full: bool, seen: &mut impl FnMut(DiskSeen)) {
        match self {
            Self::Bytes(disk) => disk.set_full(full, seen),
            Self::Records(_) => {}
        }
    }

    /// Does what is next to its end.
    ///
    /// # Panics
    /// If something else is next.
    pub fn finish(&mut self, token: Token, seen: &mut impl FnMut(DiskSeen)) -> Finish {
        either!(self, disk => disk.finish(token, seen))
    }

    /// Fails at what is next, and does nothing of what comes after it. What was written and not
    /// synced is lost from memory, too, but for what had reached the disk before.
    pub fn fail(&mut self, luck: u64) {
        either!(self, disk => disk.fail(luck));
    }

    /// The process is gone. Of what it had asked for, luck decides how much was done.
    pub fn crash(&mut self, luck: u64, seen: &mut impl FnMut(DiskSeen)) {
        either!(self, disk => disk.crash(luck, seen));
    }

    /// The power is gone, too: so is some of what was not safe. True if something is kept behind
    /// something that is not; recovery may refuse that, for it looks like damage.
    pub fn power_loss(&mut self, luck: u64, keep: Keep, seen: &mut impl FnMut(DiskSeen)) -> bool {
        match self {
            Self::Bytes(disk) => disk.power_loss(luck, keep, seen),
            Self::Records(disk) => {
                disk.power_loss(luck, seen);
                false
            }
        }
    }

    /// A bit flips in a file that matters. False if there is none.
    pub fn rot(&mut self, luck: u64) -> bool {
        match self {
            Self::Bytes(disk) => disk.rot(luck),
            Self::Records(_) => false,
        }
    }

    /// Another disk is put in its place.
    pub fn wipe(&mut self) {
        either!(self, disk => disk.wipe());
    }

    /// Reads what is there, and puts it in order.
    ///
    /// # Errors
    /// If it cannot be believed, and why. Then nothing has changed.
    pub fn recover(&mut self) -> Result<Found, String> {
        match self {
            Self::Bytes(disk) => {
                let recovered = disk.recover().map_err(|error| error.to_string())?;
                Ok(Found { saved: recovered.saved, notes: recovered.notes })
            }
            Self::Records(disk) => disk.recover(),
        }
    }

    /// Reads what is there while a process goes on with it.
    ///
    /// # Errors
    /// As [`recover`](Self::recover).
    pub fn read_again(&mut self) -> Result<Found, String> {
        match self {
            Self::Bytes(disk) => {
                let recovered = disk.read_again().map_err(|error| error.to_string())?;
                Ok(Found { saved: recovered.saved, notes: recovered.notes })
            }
            Self::Records(disk) => disk.read_again(),
        }
    }

    /// How many ways there are for a crash to leave it, and for a power loss: below that, each
    /// luck is another. Disks of bytes have more than anybody could go through.
    #[must_use]
    pub fn ways(&self, power: bool) -> u64 {
        match self {
            Self::Bytes(_) => 3,
            Self::Records(disk) => disk.ways(power),
        }
    }
}
