//! Clients of a service that is made up.

use std::collections::{BTreeSet, VecDeque};

use super::service::Key;
use crate::history::record::{Answer, Kind, Mode};

/// Which of a client's lists a watch is in.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum List {
    Data,
    Exist,
    Child,
    Persistent,
    Recursive,
}

/// What a client wants.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Wish {
    Acl(Key),
    AddWatch(Key, bool),
    Check(Key, i32),
    Children(Key, bool),
    Close,
    Create(Key, Mode, u64),
    Delete(Key, i32),
    Exists(Key, bool),
    Get(Key, bool),
    Multi(Vec<Self>),
    Restore,
    Set(Key, u64, i32),
    SetAcl(Key, bool),
    Sync,
}

impl Wish {
    pub(super) const fn is_write(&self) -> bool {
        matches!(
            self,
            Self::Close
                | Self::Create(..)
                | Self::Delete(..)
                | Self::Multi(_)
                | Self::Set(..)
                | Self::SetAcl(..)
        )
    }

    pub(super) const fn key(&self) -> Option<Key> {
        match self {
            Self::Acl(key)
            | Self::AddWatch(key, _)
            | Self::Check(key, _)
            | Self::Children(key, _)
            | Self::Create(key, ..)
            | Self::Delete(key, _)
            | Self::Exists(key, _)
            | Self::Get(key, _)
            | Self::Set(key, ..)
            | Self::SetAcl(key, _) => Some(*key),
            Self::Close | Self::Multi(_) | Self::Restore | Self::Sync => None,
        }
    }
}

/// How far a request has come.
#[derive(Clone, Debug)]
pub(super) enum Stage {
    /// To be answered, or to be sent to the leader.
    Queued,
    /// In the log, with its answer to be.
    Proposed(i64, Box<Result<Answer, i32>>),
    /// A sync that waits for this position.
    Waiting(i64),
}

/// A request without an answer.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub(super) xid: i32,
    pub(super) wish: Wish,
    pub(super) stage: Stage,
    /// The newest that anybody was told when it was asked.
    pub(super) floor: i64,
    /// Its answer shows what goes wrong.
    pub(super) exposes: bool,
}

/// One client, with one session at a time.
#[derive(Clone, Debug, Default)]
pub(super) struct Client {
    pub(super) number: u64,
    pub(super) handle: u64,
    pub(super) session: i64,
    pub(super) conn: Option<u64>,
    pub(super) replica: usize,
    pub(super) pending: VecDeque<Pending>,
    pub(super) seen: i64,
    pub(super) relative: i64,
    pub(super) xid: i32,
    pub(super) watched: BTreeSet<(Key, List)>,
    /// The answer that was decided last.
    pub(super) answer: Option<Result<Answer, i32>>,
    /// It has asked for something.
    pub(super) acted: bool,
    /// It is at a server that has seen less.
    pub(super) behind: bool,
    /// It was told a position that is too new.
    pub(super) lied: bool,
    /// An event of this position did not come.
    pub(super) missed: i64,
    /// The position that it is told is that of another write.
    pub(super) shared: Option<i64>,
    /// Its session should be over.
    pub(super) overdue: bool,
    /// Its session ends at once.
    pub(super) hurried: bool,
    /// When its connection was opened.
    pub(super) opened: u64,
}

impl Client {
    /// One session handle.
    pub(super) const fn name(&self) -> u64 {
        self.handle * 100_000 + self.number
    }

    /// An event was received: a watch that fires once is gone.
    pub(super) fn heard(&mut self, kind: Kind, key: Key) {
        let lists: &[List] = match kind {
            Kind::ChildrenChanged => &[List::Child],
            Kind::Created | Kind::DataChanged => &[List::Data, List::Exist],
            Kind::Deleted => &[List::Data, List::Exist, List::Child],
        };
        for list in lists {
            self.watched.remove(&(key, *list));
        }
    }
}
