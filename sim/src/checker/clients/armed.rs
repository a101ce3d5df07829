//! The watches that a server keeps for one connection, as it should.

use std::collections::{BTreeMap, VecDeque};

use zoolab_core::client::WatcherKind;
use zoolab_core::request::EventKind;
use zoolab_core::{Text, Zxid};

use super::past::{Past, Trigger, parent_of};

const ONCE: u8 = 1;
const PERSISTENT: u8 = 2;
const RECURSIVE: u8 = 4;

/// Something that a client is to be told.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Due {
    pub(super) zxid: Zxid,
    pub(super) kind: EventKind,
    pub(super) path: Text,
}

/// How a path is watched: the node itself, and its children.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
struct Modes {
    data: u8,
    children: u8,
}

/// What a request sets or removes if the answer is what it takes.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) enum Arm {
    /// Watches the children of a node that is there.
    Children(Text),
    /// Watches a node, also if it is not there.
    Exists(Text),
    /// Watches a node that is there.
    Data(Text),
    /// Nothing.
    Nothing,
    /// Watches until told otherwise.
    Persistent(Text),
    /// The same, and everything below.
    Recursive(Text),
    /// Forgets watches.
    Remove(Text, i32),
    /// Watches again what was watched elsewhere.
    Again(Box<zoolab_core::request::SetWatches>),
}

/// See the [module](self).
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(super) struct Armed {
    paths: BTreeMap<Text, Modes>,
    recursive: usize,
}

impl Armed {
    pub(super) fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    pub(super) fn data(&mut self, at: &Text) {
        self.paths.entry(at.clone()).or_default().data |= ONCE;
    }

    pub(super) fn children(&mut self, at: &Text) {
        self.paths.entry(at.clone()).or_default().children |= ONCE;
    }

    pub(super) fn persistent(&mut self, at: &Text) {
        let modes = self.paths.entry(at.clone()).or_default();
        modes.data |= PERSISTENT;
        modes.children |= PERSISTENT;
    }

    pub(super) fn recursive(&mut self, at: &Text) {
        let modes = self.paths.entry(at.clone()).or_default();
        self.recursive += usize::from(modes.data & RECURSIVE == 0);
        modes.data |= RECURSIVE;
    }

    /// Forgets watches of this kind.
    pub(super) fn remove(&mut self, at: &Text, kind: i32) {
        let Some(modes) = self.paths.get_mut(at) else { return };
        let before = modes.data & RECURSIVE;
        let (data, children) = match kind {
            kind if kind == WatcherKind::Child.number() => (0, ONCE),
            kind if kind == WatcherKind::Data.number() => (ONCE, 0),
            kind if kind == WatcherKind::Any.number() => (u8::MAX, u8::MAX),
            kind if kind == WatcherKind::Persistent.number() => (PERSISTENT, PERSISTENT),
            kind if kind == WatcherKind::Recursive.number() => (RECURSIVE, 0),
            _ => (0, 0),
        };
        modes.data &= !data;
        modes.children &= !children;
        self.recursive -= usize::from(before != 0 && modes.data & RECURSIVE == 0);
        self.tidy(at);
    }

    fn tidy(&mut self, at: &str) {
        if self.paths.get(at).is_some_and(|modes| *modes == Modes::default()) {
            self.paths.remove(at);
        }
    }

    /// Whether one of them watches everything below a path that is above.
    fn is_below_recursive(&self, at: &str) -> bool {
        let mut here = at;
        while self.recursive > 0 && here != "/" {
            here = parent_of(here);
            if self.paths.get(here).is_some_and(|modes| modes.data & RECURSIVE != 0) {
                return true;
            }
        }
        false
    }

    /// Something happens to a node. Each of three calls reaches a connection once, the second only
    /// if the first did not.
    pub(super) fn fire(&mut self, zxid: Zxid, trigger: &Trigger, due: &mut VecDeque<Due>) {
        let Trigger { kind, path: at } = trigger;
        let modes = self.paths.get(at).copied().unwrap_or_default();
        let told = modes.data != 0 || self.is_below_recursive(at);
        if told || *kind == EventKind::Deleted && modes.children != 0 {
            due.push_back(Due { zxid, kind: *kind, path: at.clone() });
        }
        if let Some(modes) = self.paths.get_mut(at) {
            modes.data &= !ONCE;
            if *kind == EventKind::Deleted {
                modes.children &= !ONCE;
            }
            self.tidy(at);
        }
        if *kind != EventKind::DataChanged {
            let parent = parent_of(at);
            if let Some(modes) = self.paths.get_mut(parent)
                && modes.children != 0
            {
                modes.children &= !ONCE;
                let path = Text::from(parent);
                due.push_back(Due { zxid, kind: EventKind::ChildrenChanged, path });
                self.tidy(parent);
            }
        }
    }

    /// A client comes back with its watches, to a server that is at `zxid`: what it has missed is
    /// due at once, and everything else is watched.
    pub(super) fn again(
        &mut self,
        lists: &zoolab_core::request::SetWatches,
        zxid: Zxid,
        past: &Past,
    ) -> Vec<Due> {
        let mut due = Vec::new();
        let since = lists.relative_zxid;
        let mut missed = |kind, path: &Text| {
            due.push(Due { zxid: Zxid::NONE, kind, path: path.clone() });
        };
        for at in &lists.data {
            match past.exists(at, zxid) {
                false => missed(EventKind::Deleted, at),
                true if past.set_at(at, zxid) > since => missed(EventKind::DataChanged, at),
                true => self.data(at),
            }
        }
        for at in &lists.exist {
            // Made and deleted while it was away: that is the one change nobody tells it of.
            match past.exists(at, zxid) {
                true => missed(EventKind::Created, at),
                false => self.data(at),
            }
        }
        for at in &lists.child {
            match past.exists(at, zxid) {
                false => missed(EventKind::Deleted, at),
                true if past.children_at(at, zxid) > since => {
                    missed(EventKind::ChildrenChanged, at);
                }
                true => self.children(at),
            }
        }
        lists.persistent.iter().for_each(|at| self.persistent(at));
        lists.recursive.iter().for_each(|at| self.recursive(at));
        due
    }
}
