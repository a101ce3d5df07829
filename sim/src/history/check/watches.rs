//! Who watches what, and which events must come of it.

use std::collections::BTreeSet;

use hashbrown::HashMap;

use super::order::Order;
use super::promise::Promise;
use super::report::{Finding, Report, Verdict};
use super::tell;
use crate::history::intern::{PathId, ValueId};
use crate::history::record::Kind;
use crate::history::store::{Event, History, Restore};
use crate::history::tree::{Change, Is, Tree};

/// How a connection watches a path.
mod mode {
    pub(super) const STANDARD: u8 = 1;
    pub(super) const PERSISTENT: u8 = 2;
    pub(super) const RECURSIVE: u8 = 4;
}

#[derive(Clone, Copy, Debug)]
struct Watcher {
    conn: u32,
    modes: u8,
    /// Whether nobody can tell if it is still there.
    doubtful: bool,
}

type Table = HashMap<PathId, Vec<Watcher>>;

/// An event that must come, or may.
#[derive(Clone, Copy, Debug)]
struct Due {
    conn: u32,
    kind: Kind,
    path: PathId,
    may: bool,
}

/// Why an event that came is fine, or not.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Fit {
    Unexplained,
    Due,
}

/// See the [module](self).
pub(super) struct Watches {
    data: Table,
    child: Table,
    recursive: bool,
    /// By connection, then zxid, then the order in which they came; those without a zxid first.
    pub(super) events: Vec<Event>,
    fits: Vec<Fit>,
    /// By connection: where its events are, where those with a zxid begin, and where we are.
    spans: Vec<(usize, usize, usize)>,
    due: Vec<Due>,
    checked: [u64; 4],
}

impl Watches {
    pub(super) fn new(history: &History) -> Self {
        let mut events = history.events.clone();
        events.sort_by_key(|event| (event.conn, event.zxid, event.rank));
        let mut spans = vec![(0, 0, 0); history.conns.len()];
        let mut at = 0;
        for (conn, span) in (0_u32..).zip(&mut spans) {
            let blank =
                at + events[at..].partition_point(|event| (event.conn, event.zxid) <= (conn, 0));
            *span = (at, blank, blank);
            at = blank + events[blank..].partition_point(|event| event.conn == conn);
        }
        let fits = vec![Fit::Unexplained; events.len()];
        Self {
            data: Table::new(),
            child: Table::new(),
            recursive: false,
            events,
            fits,
            spans,
            due: Vec::new(),
            checked: [0; 4],
        }
    }

    fn add(table: &mut Table, path: PathId, conn: u32, modes: u8, doubtful: bool) {
        let watchers = table.entry(path).or_default();
        match watchers.iter_mut().find(|watcher| watcher.conn == conn) {
            Some(watcher) => watcher.modes |= modes,
            None => watchers.push(Watcher { conn, modes, doubtful }),
        }
    }

    /// A read that wants to hear of the next change was answered.
    pub(super) fn watch(&mut self, path: PathId, conn: u32, children: bool) {
        let table = if children { &mut self.child } else { &mut self.data };
        Self::add(table, path, conn, mode::STANDARD, false);
    }

    /// A watch until told otherwise.
    pub(super) fn add_watch(&mut self, path: PathId, conn: u32, recursive: bool) {
        if recursive {
            self.recursive = true;
            Self::add(&mut self.data, path, conn, mode::RECURSIVE, false);
        } else {
            Self::add(&mut self.data, path, conn, mode::PERSISTENT, false);
            Self::add(&mut self.child, path, conn, mode::PERSISTENT, false);
        }
    }

    /// A client was told that its watches are gone.
    pub(super) fn remove(&mut self, path: PathId, conn: u32, kind: i32) {
        let (data, child) = match kind {
            1 => (0, mode::STANDARD),
            2 => (mode::STANDARD, 0),
            4 => (mode::PERSISTENT, mode::PERSISTENT),
            5 => (mode::RECURSIVE, 0),
            _ => (u8::MAX, u8::MAX),
        };
        for (table, modes) in [(&mut self.data, data), (&mut self.child, child)] {
            let Some(watchers) = table.get_mut(&path) else { continue };
            for watcher in &mut *watchers {
                if watcher.conn == conn {
                    watcher.modes &= !modes;
                }
            }
            watchers.retain(|watcher| watcher.modes != 0);
        }
    }

    /// Nobody knows any more who watches this node.
    pub(super) fn doubt(&mut self, path: PathId) {
        for table in [&mut self.data, &mut self.child] {
            for watcher in table.get_mut(&path).into_iter().flatten() {
                watcher.doubtful = true;
            }
        }
    }

    /// Notes whom a transaction must tell.
    pub(super) fn fire(&mut self, history: &History, changes: &[Change]) {
        let mut told = Vec::new();
        for change in changes {
            let Change { kind, path, acl } = *change;
            match kind {
                Kind::ChildrenChanged => self.call(history, kind, path, true, acl, &[], &mut told),
                Kind::Created | Kind::DataChanged => {
                    self.call(history, kind, path, false, acl, &[], &mut told);
                }
                Kind::Deleted => {
                    self.call(history, kind, path, false, acl, &[], &mut told);
                    let reached = std::mem::take(&mut told);
                    self.call(history, kind, path, true, acl, &reached, &mut told);
                }
            }
            told.clear();
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one call of ZooKeeper's trigger")]
    fn call(
        &mut self,
        history: &History,
        kind: Kind,
        path: PathId,
        children: bool,
        acl: Option<ValueId>,
        reached: &[u32],
        told: &mut Vec<u32>,
    ) {
        let may_hide = acl.is_none_or(|acl| !readable(history, acl));
        let table = if children { &mut self.child } else { &mut self.data };
        let due = &mut self.due;
        let mut tell = |watcher: &Watcher| {
            let conn = watcher.conn;
            if !reached.contains(&conn) && !told.contains(&conn) {
                told.push(conn);
                due.push(Due { conn, kind, path, may: may_hide || watcher.doubtful });
            }
        };
        if let Some(watchers) = table.get_mut(&path) {
            watchers.iter().for_each(&mut tell);
            for watcher in &mut *watchers {
                watcher.modes &= !mode::STANDARD;
            }
            watchers.retain(|watcher| watcher.modes != 0);
            if watchers.is_empty() {
                table.remove(&path);
            }
        }
        if !self.recursive || kind == Kind::ChildrenChanged {
            return;
        }
        let mut above = path;
        while above != PathId::ROOT {
            above = history.paths.parent(above);
            for watcher in table.get(&above).into_iter().flatten() {
                if watcher.modes & mode::RECURSIVE != 0 {
                    tell(watcher);
                }
            }
        }
    }

    /// Holds what must come of a position against what came.
    pub(super) fn settle(
        &mut self,
        history: &History,
        order: &Order,
        zxid: i64,
        report: &mut Report,
    ) {
        let due = std::mem::take(&mut self.due);
        for Due { conn, kind, path, may } in &due {
            self.checked[0] += 1;
            if self.came(*conn, *kind, *path, zxid) {
                continue;
            }
            if *may || zxid > order.conn_last[*conn as usize] {
                continue;
            }
            report.find(Promise::W4, || {
                let newest = tell::zxid(order.conn_last[*conn as usize]);
                let conn = &history.conns[*conn as usize];
                let by = order.update_at(zxid).map(|op| tell::op(history, op));
                Finding {
                    promise: Promise::W4,
                    verdict: Verdict::Broken,
                    what: format!(
                        "connection {} watched {} and has seen {newest}, and never heard that it \
                         was {} by {}",
                        conn.name,
                        history.paths.text(*path),
                        tell::kind(*kind),
                        tell::zxid(zxid)
                    ),
                    with: by.into_iter().collect(),
                    because: Vec::new(),
                    cycle: Vec::new(),
                }
            });
        }
        self.due = due;
        self.due.clear();
    }

    /// Whether an event came, which is then explained.
    fn came(&mut self, conn: u32, kind: Kind, path: PathId, zxid: i64) -> bool {
        let (start, blank, at) = &mut self.spans[conn as usize];
        while self.events.get(*at).is_some_and(|event| event.conn == conn && event.zxid < zxid) {
            *at += 1;
        }
        let mut found = None;
        for (index, event) in self.events.iter().enumerate().skip(*at) {
            if event.conn != conn || event.zxid != zxid {
                break;
            }
            let same = event.kind == kind && event.path == path;
            if same && self.fits[index] == Fit::Unexplained {
                found = Some(index);
                break;
            }
        }
        // Older servers do not say by what: then it is the next that fits.
        while *start < *blank && self.fits[*start] == Fit::Due {
            *start += 1;
        }
        let found = found.or_else(|| {
            (*start..*blank).find(|index| {
                let event = &self.events[*index];
                event.kind == kind && event.path == path && self.fits[*index] == Fit::Unexplained
            })
        });
        let Some(found) = found else { return false };
        self.fits[found] = Fit::Due;
        self.events[found].zxid = zxid;
        true
    }

    /// A client came back: its watches fire for what they missed, or are armed again.
    pub(super) fn restore(
        &mut self,
        history: &History,
        tree: &Tree,
        restore: &Restore,
        op: u32,
        report: &mut Report,
    ) {
        let (conn, rank) = (history.ops[op as usize].conn, history.ops[op as usize].rank);
        let since = restore.relative;
        let lists = [(&restore.data, 0), (&restore.exist, 1), (&restore.child, 2)];
        for (paths, list) in lists {
            for path in paths {
                let node = tree.node(*path);
                let due = match (node.is, list) {
                    (Is::Unknown, _) => None,
                    (Is::Absent, 1) => Some(None),
                    (Is::Absent, _) => Some(Some(Kind::Deleted)),
                    (Is::Present, 1) => Some(Some(Kind::Created)),
                    (Is::Present, 0) => {
                        node.mzxid().map(|at| (at > since).then_some(Kind::DataChanged))
                    }
                    (Is::Present, _) => {
                        node.pzxid().map(|at| (at > since).then_some(Kind::ChildrenChanged))
                    }
                };
                let due = due.filter(|_| !node.guessed);
                self.checked[3] += 1;
                let kinds =
                    [Kind::Created, Kind::Deleted, Kind::DataChanged, Kind::ChildrenChanged];
                let came = match due {
                    Some(Some(kind)) => self.restored(conn, rank, kind, *path),
                    Some(None) => false,
                    None => kinds.into_iter().any(|kind| self.restored(conn, rank, kind, *path)),
                };
                if let Some(Some(kind)) = due
                    && !came
                {
                    report.find(Promise::W7, || Finding {
                        promise: Promise::W7,
                        verdict: Verdict::Broken,
                        what: format!(
                            "a client that had seen {} watches {} again, and is not told that it \
                             was {}",
                            tell::zxid(since),
                            history.paths.text(*path),
                            tell::kind(kind)
                        ),
                        with: vec![tell::op(history, op)],
                        because: Vec::new(),
                        cycle: Vec::new(),
                    });
                }
                if !came && due.is_none_or(|due| due.is_none()) {
                    let table = if list == 2 { &mut self.child } else { &mut self.data };
                    Self::add(table, *path, conn, mode::STANDARD, due.is_none());
                }
            }
        }
        for path in &restore.persistent {
            self.add_watch(*path, conn, false);
        }
        for path in &restore.recursive {
            self.add_watch(*path, conn, true);
        }
    }

    /// Whether an event without a zxid came before this reply, which is then explained.
    fn restored(&mut self, conn: u32, rank: u32, kind: Kind, path: PathId) -> bool {
        let (start, blank, _) = self.spans[conn as usize];
        let found = (start..blank).find(|index| {
            let event = &self.events[*index];
            let same = event.kind == kind && event.path == path && event.rank < rank;
            same && event.zxid == 0 && self.fits[*index] == Fit::Unexplained
        });
        if let Some(found) = found {
            self.fits[found] = Fit::Due;
        }
        found.is_some()
    }

    /// Whatever came and is not explained came from nowhere.
    pub(super) fn finish(
        mut self,
        history: &History,
        order: &Order,
        doubts: &dyn Fn(PathId, i64) -> Vec<u32>,
        report: &mut Report,
    ) -> Vec<Event> {
        let mut fired: BTreeSet<(u32, PathId, Kind)> = BTreeSet::new();
        for (event, fit) in self.events.iter().zip(&self.fits) {
            if *fit == Fit::Due {
                fired.insert((event.conn, event.path, event.kind));
            }
        }
        for (event, fit) in self.events.iter().zip(&self.fits) {
            self.checked[1] += 1;
            if *fit == Fit::Due {
                continue;
            }
            let because = doubts(event.path, event.zxid);
            let verdict = if because.is_empty() { Verdict::Broken } else { Verdict::Inconclusive };
            let again = fired.contains(&(event.conn, event.path, event.kind));
            let promise = match (event.zxid, again) {
                (0, _) => Promise::W7,
                (_, true) => Promise::W2,
                (_, false) => Promise::W1,
            };
            report.add(promise, verdict, || {
                let what = match (event.zxid, again) {
                    (0, _) => "no watch that was restored explains an event without a zxid",
                    (_, true) => {
                        "an event came for a watch that had fired already, or was not armed"
                    }
                    (_, false) => "an event came that no watch and no change explain",
                };
                let by = order.update_at(event.zxid).map(|op| tell::op(history, op));
                Finding {
                    promise,
                    verdict,
                    what: what.into(),
                    with: by.into_iter().chain([tell::event(history, event)]).collect(),
                    because: because.iter().map(|op| tell::op(history, *op)).collect(),
                    cycle: Vec::new(),
                }
            });
        }
        report.checked(Promise::W4, self.checked[0]);
        report.checked(Promise::W1, self.checked[1]);
        report.checked(Promise::W2, self.checked[1]);
        report.checked(Promise::W7, self.checked[3]);
        self.events.sort_by_key(|event| (event.conn, event.rank));
        self.events
    }
}

/// Whether everybody may read what has this ACL.
fn readable(history: &History, acl: ValueId) -> bool {
    let Some(lines) = history.values.get(acl) else { return true };
    let Ok(lines) = std::str::from_utf8(lines) else { return false };
    lines.lines().any(|line| {
        let perms = line.strip_prefix("world:anyone:").and_then(|perms| perms.parse::<i32>().ok());
        perms.is_some_and(|perms| perms & 1 == 1)
    })
}
