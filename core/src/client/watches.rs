//! Which watchers want to hear of which nodes: the client's side of its watches.
//!
//! A server knows only that a connection watches a path. Who in the application it was, and what
//! to watch again on the next connection, is known here. Paths are the server's.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::io::WatcherId;
use crate::Text;
use crate::ids::Zxid;
use crate::path;
use crate::request::{EventKind, SetWatches};

/// So much text of paths goes into one setWatches, give or take its last path: far below what
/// servers take in one frame.
pub const BATCH_BYTES: usize = 128 * 1024;

/// What is watched, and for how long.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(super) enum Kind {
    /// Children, until something happens.
    Child,
    /// The data of a node that exists, until something happens.
    Data,
    /// The coming of a node.
    Exist,
    /// A node and its children, until removed.
    Persistent,
    /// A node and everything below it, until removed.
    Recursive,
}

/// Which watches to remove, as applications and servers name them.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[repr(i32)]
pub enum WatcherKind {
    /// Those on children.
    Child = 1,
    /// Those on data, and on the coming of a node.
    Data = 2,
    /// All of them.
    Any = 3,
    /// Persistent ones that are not recursive.
    Persistent = 4,
    /// Persistent and recursive ones.
    Recursive = 5,
}

impl WatcherKind {
    /// The number on the wire.
    #[must_use]
    pub const fn number(self) -> i32 {
        self as i32
    }

    /// The kinds of watches that this means.
    const fn kinds(self) -> &'static [Kind] {
        match self {
            Self::Any => &[Kind::Data, Kind::Exist, Kind::Child, Kind::Persistent, Kind::Recursive],
            Self::Child => &[Kind::Child],
            Self::Data => &[Kind::Data, Kind::Exist],
            Self::Persistent => &[Kind::Persistent],
            Self::Recursive => &[Kind::Recursive],
        }
    }
}

type Watchers = BTreeSet<WatcherId>;

/// The watches of one kind. Invariant: no path without watchers.
type Table = BTreeMap<Text, Watchers>;

/// See the [module](self).
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(super) struct Watches {
    child: Table,
    data: Table,
    exist: Table,
    persistent: Table,
    recursive: Table,
}

impl Watches {
    const fn table(&self, kind: Kind) -> &Table {
        match kind {
            Kind::Child => &self.child,
            Kind::Data => &self.data,
            Kind::Exist => &self.exist,
            Kind::Persistent => &self.persistent,
            Kind::Recursive => &self.recursive,
        }
    }

    const fn table_mut(&mut self, kind: Kind) -> &mut Table {
        match kind {
            Kind::Child => &mut self.child,
            Kind::Data => &mut self.data,
            Kind::Exist => &mut self.exist,
            Kind::Persistent => &mut self.persistent,
            Kind::Recursive => &mut self.recursive,
        }
    }

    fn tables(&self) -> impl Iterator<Item = &Table> {
        WatcherKind::Any.kinds().iter().map(|kind| self.table(*kind))
    }

    /// Begins to watch; doing so twice is doing so once.
    pub(super) fn add(&mut self, kind: Kind, path: Text, watcher: WatcherId) {
        self.table_mut(kind).entry(path).or_default().insert(watcher);
    }

    /// Everybody who watches anything.
    pub(super) fn everybody(&self) -> Watchers {
        self.tables().flat_map(BTreeMap::values).flatten().copied().collect()
    }

    /// Forgets all watches that go when they fire.
    pub(super) fn forget_one_shot(&mut self) {
        self.child.clear();
        self.data.clear();
        self.exist.clear();
    }

    /// Who is to hear of an event. Watches that go when they fire are gone.
    pub(super) fn fire(&mut self, kind: EventKind, at: &Text) -> Watchers {
        let once: &[Kind] = match kind {
            EventKind::Created | EventKind::DataChanged => &[Kind::Data, Kind::Exist],
            EventKind::ChildrenChanged => &[Kind::Child],
            EventKind::Deleted => &[Kind::Data, Kind::Exist, Kind::Child],
        };
        let mut to = Watchers::new();
        for kind in once {
            to.extend(self.table_mut(*kind).remove(at).unwrap_or_default());
        }
        to.extend(self.persistent.get(at).into_iter().flatten());
        // The server sends these for watches on children below; recursive ones have heard of the
        // child itself.
        if kind != EventKind::ChildrenChanged && !self.recursive.is_empty() {
            for path in core::iter::once(&**at).chain(path::ancestors(at).map(path::shown)) {
                to.extend(self.recursive.get(path).into_iter().flatten());
            }
        }
        to
    }

    /// Whether there is such a watch; of anybody if `watcher` is absent.
    pub(super) fn has(&self, kind: WatcherKind, at: &Text, watcher: Option<WatcherId>) -> bool {
        kind.kinds().iter().any(|kind| match (self.table(*kind).get(at), watcher) {
            (Some(watchers), Some(watcher)) => watchers.contains(&watcher),
            (found, None) => found.is_some(),
            (None, Some(_)) => false,
        })
    }

    /// Removes watches, of everybody if `watcher` is absent, and says whose they were by kind.
    pub(super) fn remove(
        &mut self,
        kind: WatcherKind,
        at: &Text,
        watcher: Option<WatcherId>,
    ) -> Vec<(Kind, Watchers)> {
        let mut removed = Vec::new();
        for kind in kind.kinds() {
            let table = self.table_mut(*kind);
            let gone = match watcher {
                None => table.remove(at).unwrap_or_default(),
                Some(watcher) => {
                    let gone = table.get_mut(at).and_then(|watchers| watchers.take(&watcher));
                    if table.get(at).is_some_and(BTreeSet::is_empty) {
                        table.remove(at);
                    }
                    gone.into_iter().collect()
                }
            };
            if !gone.is_empty() {
                removed.push((*kind, gone));
            }
        }
        removed
    }

    /// What to watch again on a new connection, in frames of a fair size.
    pub(super) fn batches(&self, relative_zxid: Zxid) -> Vec<SetWatches> {
        let empty = || SetWatches { relative_zxid, ..SetWatches::default() };
        let (mut batches, mut batch, mut bytes) = (Vec::new(), empty(), 0);
        for kind in WatcherKind::Any.kinds() {
            for path in self.table(*kind).keys() {
                let list = match kind {
                    Kind::Child => &mut batch.child,
                    Kind::Data => &mut batch.data,
                    Kind::Exist => &mut batch.exist,
                    Kind::Persistent => &mut batch.persistent,
                    Kind::Recursive => &mut batch.recursive,
                };
                list.push(path.clone());
                bytes += path.len();
                if bytes >= BATCH_BYTES {
                    batches.push(core::mem::replace(&mut batch, empty()));
                    bytes = 0;
                }
            }
        }
        if bytes > 0 {
            batches.push(batch);
        }
        batches
    }

    pub(super) fn assert_invariants(&self) {
        for table in self.tables() {
            assert!(table.values().all(|watchers| !watchers.is_empty()), "nobody watches");
        }
    }
}
