//! The requests that look, and those that ask to be told.

use super::{Generator, Op};
use crate::differential::op::Ask;
use crate::differential::pool::{WatchKind, watch_kind};
use crate::raw::{Request, Text, WatchLists, watcher};

impl Generator {
    /// Watches where most will happen.
    pub(super) fn first_watches(&mut self, slot: usize) -> Vec<Op> {
        let mut asks = vec![];
        for tail in ["", "/a", "/b", "/a/b"] {
            let path = Text::from(format!("{}{tail}", self.paths.base()));
            let (one, other) = match watch_kind(self.seed, slot, &path) {
                WatchKind::Persistent => (Request::AddWatch { path, mode: 0 }, None),
                WatchKind::Recursive => (Request::AddWatch { path, mode: 1 }, None),
                WatchKind::Standard => (
                    Request::GetData { path: path.clone(), watch: true },
                    Some(Request::GetChildren { path, watch: true }),
                ),
            };
            if self.chance.percent(60) {
                asks.extend([one].into_iter().chain(other).map(Ask::Plain));
            }
        }
        if asks.is_empty() { vec![] } else { vec![Op::Ask { slot, asks, xid: None }] }
    }

    pub(super) fn multi_read(&mut self) -> Request {
        let count = self.chance.below(5);
        let ops = (0..count)
            .map(|_| {
                let (path, watch) = (self.paths.read(&mut self.chance), self.chance.percent(30));
                match self.chance.below(100) {
                    0..55 => Request::GetData { path, watch },
                    55..96 => Request::GetChildren { path, watch },
                    96 => Request::Exists { path, watch },
                    97 => Request::GetChildren2 { path, watch },
                    _ => Request::Check { path, version: -1 },
                }
            })
            .collect();
        Request::MultiRead(ops)
    }

    /// A path and whether to watch it with a one-shot watch.
    pub(super) fn watched(&mut self, slot: usize) -> (Text, bool) {
        let path = self.paths.read(&mut self.chance);
        let standard = watch_kind(self.seed, slot, &path) == WatchKind::Standard;
        (path, self.chance.percent(75) && standard)
    }

    /// In a row without a watch: 3.9 refuses what may not be read and then leaves no watch, and
    /// what that does to the requests behind it cannot be told apart from a fault.
    pub(super) fn exists(&mut self, slot: usize, alone: bool) -> Request {
        let (path, watch) = self.watched(slot);
        Request::Exists { path, watch: watch && alone }
    }

    pub(super) fn get_data(&mut self, slot: usize) -> Request {
        let (path, watch) = self.watched(slot);
        Request::GetData { path, watch }
    }

    pub(super) fn get_children(&mut self, slot: usize) -> Request {
        let (path, watch) = self.watched(slot);
        Request::GetChildren { path, watch }
    }

    pub(super) fn get_children2(&mut self, slot: usize) -> Request {
        let (path, watch) = self.watched(slot);
        Request::GetChildren2 { path, watch }
    }

    pub(super) fn add_watch(&mut self, slot: usize) -> Request {
        let mut path = self.paths.read(&mut self.chance);
        for _ in 0..4 {
            if watch_kind(self.seed, slot, &path) != WatchKind::Standard {
                break;
            }
            path = self.paths.read(&mut self.chance);
        }
        // A real server takes a watch at a null path, and then cannot close the connection.
        if path.is_null() {
            path = "".into();
        }
        let mode = match watch_kind(self.seed, slot, &path) {
            _ if self.chance.percent(6) => *self.chance.one(&[-1, 2, 7]),
            WatchKind::Persistent => 0,
            WatchKind::Recursive => 1,
            WatchKind::Standard => return Request::GetData { path, watch: true },
        };
        Request::AddWatch { path, mode }
    }

    pub(super) fn about_watches(&mut self, slot: usize) -> Request {
        let mut path = self.paths.read(&mut self.chance);
        // 3.8 looks for recursive watches at the parents, if anyone has one, and trips over a
        // path that does not begin with a slash.
        if !path.bytes().starts_with(b"/") {
            path = "".into();
        }
        let kinds = [
            (30, watcher::ANY),
            (25, watcher::DATA),
            (25, watcher::CHILDREN),
            (8, watcher::PERSISTENT),
            (8, watcher::PERSISTENT_RECURSIVE),
            (2, 0),
            (1, 6),
            (1, -1),
        ];
        let kind = match watch_kind(self.seed, slot, &path) {
            WatchKind::Persistent if self.chance.percent(30) => watcher::PERSISTENT,
            WatchKind::Recursive if self.chance.percent(30) => watcher::PERSISTENT_RECURSIVE,
            WatchKind::Standard | WatchKind::Persistent | WatchKind::Recursive => {
                *self.chance.weighted(&kinds)
            }
        };
        if self.chance.percent(50) {
            Request::CheckWatches { path, kind }
        } else {
            Request::RemoveWatches { path, kind }
        }
    }

    pub(super) fn set_watches(&mut self, slot: usize) -> Ask {
        let two = self.chance.percent(60);
        let mut lists = WatchLists::empty();
        for _ in 0..self.chance.below(6) {
            let path = self.paths.read(&mut self.chance);
            // A null in a list stops the server half way, with the watches before it set.
            if path.is_null() {
                continue;
            }
            let list = match watch_kind(self.seed, slot, &path) {
                WatchKind::Standard => match self.chance.below(3) {
                    0 => &mut lists.data,
                    1 => &mut lists.exist,
                    _ => &mut lists.child,
                },
                WatchKind::Persistent => &mut lists.persistent,
                WatchKind::Recursive => &mut lists.persistent_recursive,
            };
            list.as_mut().expect("it began empty").push(path);
        }
        if self.chance.percent(6) {
            // The lists before it must be empty, or the server stops half way.
            lists = WatchLists { data: None, ..WatchLists::empty() };
        }
        let backs = [(30, 0), (20, 3), (20, 10), (10, 40), (10, 1_000_000_000), (5, -5)];
        Ask::SetWatches { two, back: *self.chance.weighted(&backs), lists }
    }

    pub(super) fn prefix(&mut self) -> Text {
        match self.chance.below(10) {
            0 => Text::NULL,
            1 => "/".into(),
            2 => " ".into(),
            3 => format!("{}/a", self.paths.base()).into(),
            4 => self.paths.base().into(),
            _ => self.paths.read(&mut self.chance),
        }
    }
}
