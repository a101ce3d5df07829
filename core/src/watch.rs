//! Who wants to hear of what, and when it fires.
//!
//! A watch belongs to a connection, not to a session: with the connection it is gone, and the
//! client registers it again elsewhere. There are two kinds of interest in a path, in the node
//! itself and in its children, and three modes. One-shot watches go when they fire; persistent
//! ones stay; recursive ones also hear of everything below.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

use crate::Text;
use crate::acl::{AclList, perms};
use crate::ids::{ConnId, Zxid};
use crate::io::Output;
use crate::lookup::Lookup;
use crate::path;
use crate::request::{Event, EventKind};
use crate::tree::Trigger;

/// How long and how wide a watch is; several may be held at one path, independently.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Mode {
    /// Until it fires.
    OneShot = 1,
    /// Until removed.
    Persistent = 2,
    /// Until removed, and for everything below.
    Recursive = 4,
}

/// What is watched at a path.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Interest {
    /// The node itself.
    Data,
    /// Its children.
    Children,
}

/// A set of [`Mode`]s.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
struct Modes(u8);

impl Modes {
    const fn has(self, mode: Mode) -> bool {
        self.0 & mode as u8 != 0
    }

    const fn with(self, mode: Mode) -> Self {
        Self(self.0 | mode as u8)
    }

    const fn without(self, mode: Mode) -> Self {
        Self(self.0 & !(mode as u8))
    }

    const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

type Watchers = BTreeMap<ConnId, Modes>;

/// Everyone interested in one path.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Watched {
    path: Text,
    data: Watchers,
    children: Watchers,
}

impl Watched {
    fn watchers(&mut self, interest: Interest) -> &mut Watchers {
        match interest {
            Interest::Data => &mut self.data,
            Interest::Children => &mut self.children,
        }
    }

    fn is_empty(&self) -> bool {
        self.data.is_empty() && self.children.is_empty()
    }

    fn knows(&self, conn: ConnId) -> bool {
        self.data.contains_key(&conn) || self.children.contains_key(&conn)
    }
}

/// All watches of one server.
#[derive(Clone, Debug)]
pub struct Watches {
    /// Paths by number, so that a connection's own list is short to keep and quick to change.
    watched: Vec<Option<Watched>>,
    free: Vec<u32>,
    numbers: Lookup<Text, u32>,
    /// Invariant: exactly the numbers of the paths that know the connection.
    conns: Lookup<ConnId, BTreeSet<u32>>,
    /// How many recursive watches there are; with none, no ancestor need be asked.
    recursive: usize,
}

impl Watches {
    pub(crate) fn new(scatter: u64) -> Self {
        Self {
            watched: Vec::new(),
            free: Vec::new(),
            numbers: Lookup::new(scatter),
            conns: Lookup::new(scatter),
            recursive: 0,
        }
    }

    /// Begins to watch. Doing so twice is doing so once.
    pub(crate) fn add(&mut self, conn: ConnId, path: &Text, interest: Interest, mode: Mode) {
        let number = self.number(path);
        let watched = self.watched[number as usize].as_mut().expect("numbered paths are watched");
        let modes = watched.watchers(interest).entry(conn).or_default();
        if mode == Mode::Recursive && !modes.has(mode) {
            self.recursive += 1;
        }
        *modes = modes.with(mode);
        self.conns.or_insert_with(conn, BTreeSet::new).insert(number);
    }

    fn number(&mut self, path: &Text) -> u32 {
        if let Some(number) = self.numbers.get(path) {
            return *number;
        }
        let watched =
            Watched { path: path.clone(), data: Watchers::new(), children: Watchers::new() };
        let number = match self.free.pop() {
            Some(number) => {
                self.watched[number as usize] = Some(watched);
                number
            }
            None => {
                self.watched.push(Some(watched));
                u32::try_from(self.watched.len() - 1).expect("fewer than 2^32 watched paths")
            }
        };
        self.numbers.insert(path.clone(), number);
        number
    }

    /// Whether this connection watches a path so; `None` is any mode.
    pub(crate) fn has(
        &self,
        conn: ConnId,
        path: &str,
        interest: Interest,
        mode: Option<Mode>,
    ) -> bool {
        let Some(number) = self.numbers.get(path) else { return false };
        let Some(watched) = &self.watched[*number as usize] else { return false };
        let watchers = match interest {
            Interest::Data => &watched.data,
            Interest::Children => &watched.children,
        };
        watchers.get(&conn).is_some_and(|modes| mode.is_none_or(|mode| modes.has(mode)))
    }

    /// Forgets a watch; `None` is all modes. Says whether there was one.
    pub(crate) fn remove(
        &mut self,
        conn: ConnId,
        path: &str,
        interest: Interest,
        mode: Option<Mode>,
    ) -> bool {
        let Some(&number) = self.numbers.get(path) else { return false };
        let Some(watched) = &mut self.watched[number as usize] else { return false };
        let watchers = watched.watchers(interest);
        let Some(modes) = watchers.get_mut(&conn) else { return false };
        let before = *modes;
        *modes = mode.map_or(Modes::default(), |mode| modes.without(mode));
        let after = *modes;
        if after.is_empty() {
            watchers.remove(&conn);
        }
        if before.has(Mode::Recursive) && !after.has(Mode::Recursive) {
            self.recursive -= 1;
        }
        self.tidy(conn, number);
        before != after
    }

    /// Forgets everything of a connection.
    pub(crate) fn drop_conn(&mut self, conn: ConnId) {
        for number in self.conns.remove(&conn).into_iter().flatten() {
            let watched =
                self.watched[number as usize].as_mut().expect("numbered paths are watched");
            for modes in [watched.data.remove(&conn), watched.children.remove(&conn)] {
                self.recursive -=
                    usize::from(modes.is_some_and(|modes| modes.has(Mode::Recursive)));
            }
            self.free_if_empty(number);
        }
    }

    /// After a connection lost a watch at a path: its list, and the path's number.
    fn tidy(&mut self, conn: ConnId, number: u32) {
        if self.watched[number as usize].as_ref().is_some_and(|watched| watched.knows(conn)) {
            return;
        }
        unlist(&mut self.conns, conn, number);
        self.free_if_empty(number);
    }

    fn free_if_empty(&mut self, number: u32) {
        let place = &mut self.watched[number as usize];
        if let Some(watched) = place.take_if(|watched| watched.is_empty()) {
            self.numbers.remove(&watched.path);
            self.free.push(number);
        }
    }

    /// Tells everyone who waits for this, in the order of ZooKeeper's trigger calls.
    ///
    /// Whoever may not read the node is not told, but its one-shot watch is spent all the same.
    pub(crate) fn fire(
        &mut self,
        trigger: &Trigger,
        zxid: Zxid,
        may: &impl Fn(ConnId, &AclList) -> bool,
        out: &mut Vec<Output>,
    ) {
        if self.numbers.is_empty() {
            return;
        }
        let Trigger { kind, path: at, acl, parent_acl } = trigger;
        let event = |kind, path: &str| Event { kind, path: path.into(), zxid };
        let nobody = BTreeSet::new();
        let open = acl.lets_anyone(perms::READ);
        let may_know = |conn| open || may(conn, acl);
        let told = self.call(Interest::Data, at, &nobody, || event(*kind, at), &may_know, out);
        if *kind == EventKind::Deleted {
            self.call(Interest::Children, at, &told, || event(*kind, at), &may_know, out);
        }
        if let Some(acl) = parent_acl {
            let parent = path::shown(path::parent(at).unwrap_or_default());
            let event = || event(EventKind::ChildrenChanged, parent);
            let open = acl.lets_anyone(perms::READ);
            let may_know = |conn| open || may(conn, acl);
            self.call(Interest::Children, parent, &nobody, event, &may_know, out);
        }
    }

    /// One trigger call: everyone at exactly this path, and recursive watches above it, once
    /// each. Returns who was reached, for the call after it.
    fn call(
        &mut self,
        interest: Interest,
        at: &str,
        except: &BTreeSet<ConnId>,
        event: impl Fn() -> Event,
        may: &dyn Fn(ConnId) -> bool,
        out: &mut Vec<Output>,
    ) -> BTreeSet<ConnId> {
        let mut reached = BTreeSet::new();
        if let Some(&number) = self.numbers.get(at) {
            let Self { watched, conns, recursive, .. } = self;
            let watched = watched[number as usize].as_mut().expect("numbered paths are watched");
            let (mine, others) = match interest {
                Interest::Data => (&mut watched.data, &watched.children),
                Interest::Children => (&mut watched.children, &watched.data),
            };
            // Who has been reached matters to the next call only, and only if there is one.
            let list = interest == Interest::Data && (*recursive > 0 || !others.is_empty());
            let shared = (!mine.is_empty()).then(|| Arc::new(event()));
            mine.retain(|&conn, modes| {
                if !except.contains(&conn) && may(conn) {
                    let event = shared.clone().expect("made for the first watcher");
                    out.push(Output::Notify { conn, event });
                }
                if list {
                    reached.insert(conn);
                }
                *modes = modes.without(Mode::OneShot);
                if modes.is_empty() && !others.contains_key(&conn) {
                    unlist(conns, conn, number);
                }
                !modes.is_empty()
            });
            self.free_if_empty(number);
        }
        if interest == Interest::Data && self.recursive > 0 {
            self.call_above(at, &mut reached, event, may, out);
        }
        reached
    }

    fn call_above(
        &self,
        at: &str,
        reached: &mut BTreeSet<ConnId>,
        event: impl Fn() -> Event,
        may: &dyn Fn(ConnId) -> bool,
        out: &mut Vec<Output>,
    ) {
        let shared = Arc::new(event());
        for above in path::ancestors(at) {
            let Some(&number) = self.numbers.get(path::shown(above)) else { continue };
            let watched =
                self.watched[number as usize].as_ref().expect("numbered paths are watched");
            for (&conn, modes) in &watched.data {
                if modes.has(Mode::Recursive) && reached.insert(conn) && may(conn) {
                    out.push(Output::Notify { conn, event: shared.clone() });
                }
            }
        }
    }

    /// How many (path, connection) pairs are watched.
    #[must_use]
    pub fn len(&self) -> usize {
        self.conns.sorted().iter().map(|(_, numbers)| numbers.len()).sum()
    }

    /// Whether nobody watches anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// How many paths are watched.
    #[must_use]
    pub fn paths_len(&self) -> usize {
        self.numbers.len()
    }

    /// How many connections watch something.
    #[must_use]
    pub fn conns_len(&self) -> usize {
        self.conns.len()
    }

    /// Watched paths and who watches them.
    #[must_use]
    pub fn by_path(&self) -> Vec<(Text, Vec<ConnId>)> {
        self.sorted()
            .into_iter()
            .map(|watched| {
                let conns: BTreeSet<_> =
                    watched.data.keys().chain(watched.children.keys()).copied().collect();
                (watched.path.clone(), conns.into_iter().collect())
            })
            .collect()
    }

    /// Watching connections and what they watch.
    #[must_use]
    pub fn by_conn(&self) -> Vec<(ConnId, Vec<Text>)> {
        let path = |number: &u32| {
            let watched = self.watched[*number as usize].as_ref();
            watched.expect("numbered paths are watched").path.clone()
        };
        self.conns
            .sorted()
            .into_iter()
            .map(|(conn, numbers)| {
                let mut paths: Vec<Text> = numbers.iter().map(path).collect();
                paths.sort_unstable();
                (*conn, paths)
            })
            .collect()
    }

    fn sorted(&self) -> Vec<&Watched> {
        let mut all: Vec<&Watched> = self.watched.iter().flatten().collect();
        all.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        all
    }

    pub(crate) fn assert_invariants(&self) {
        let mut recursive = 0;
        for (number, watched) in self.watched.iter().enumerate() {
            let Some(watched) = watched else { continue };
            assert!(!watched.is_empty(), "{} is watched by nobody", watched.path);
            let number = u32::try_from(number).expect("fewer than 2^32 watched paths");
            assert_eq!(self.numbers.get(&watched.path), Some(&number));
            for (conn, modes) in watched.data.iter().chain(&watched.children) {
                recursive += usize::from(modes.has(Mode::Recursive));
                let listed = self.conns.get(conn).is_some_and(|all| all.contains(&number));
                assert!(listed, "{conn:?} does not list {}", watched.path);
            }
        }
        assert_eq!(recursive, self.recursive, "number of recursive watches");
        for (conn, numbers) in self.conns.sorted() {
            assert!(!numbers.is_empty(), "{conn:?} lists nothing");
            for number in numbers {
                let watched = self.watched[*number as usize].as_ref();
                assert!(watched.is_some_and(|watched| watched.knows(*conn)));
            }
        }
    }
}

fn unlist(conns: &mut Lookup<ConnId, BTreeSet<u32>>, conn: ConnId, number: u32) {
    if let Some(numbers) = conns.get_mut(&conn) {
        numbers.remove(&number);
        if numbers.is_empty() {
            conns.remove(&conn);
        }
    }
}

/// Equal when the same connections watch the same paths; the numbers of paths are nobody's
/// business.
impl PartialEq for Watches {
    fn eq(&self, other: &Self) -> bool {
        self.sorted() == other.sorted()
    }
}

impl Eq for Watches {}

impl Hash for Watches {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for Watched { path, data, children } in self.sorted() {
            path.hash(state);
            data.hash(state);
            children.hash(state);
        }
    }
}
