//! The tree of a service that is made up, once at its leader and once at each of its servers.

use std::collections::BTreeMap;

use super::client::{List, Wish};
use crate::history::hex::{Bytes, Hex};
use crate::history::record::{self, Answer, Kind, Mode, Stat};

/// A node by its place.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(super) enum Key {
    Root,
    Parent(u32),
    Child(u32, u32),
    /// A sequential node whose name is to be given.
    Next(u32),
    Sequential(u32, i32),
}

impl Key {
    pub(super) fn path(self) -> String {
        match self {
            Self::Root => "/".into(),
            Self::Parent(parent) => format!("/p{parent}"),
            Self::Child(parent, child) => format!("/p{parent}/c{child}"),
            Self::Next(parent) => format!("/p{parent}/s-"),
            Self::Sequential(parent, number) => format!("/p{parent}/s-{number:010}"),
        }
    }

    pub(super) const fn parent(self) -> Option<Self> {
        match self {
            Self::Root => None,
            Self::Parent(_) => Some(Self::Root),
            Self::Child(parent, _) | Self::Next(parent) | Self::Sequential(parent, _) => {
                Some(Self::Parent(parent))
            }
        }
    }

    fn name(self) -> String {
        let path = self.path();
        path.rsplit_once('/').map_or(String::new(), |(_, name)| name.into())
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub(super) data: u64,
    pub(super) czxid: i64,
    pub(super) mzxid: i64,
    pub(super) pzxid: i64,
    pub(super) version: i32,
    pub(super) aversion: i32,
    pub(super) created: i32,
    pub(super) owner: i64,
    pub(super) children: Vec<Key>,
    acl: Option<bool>,
    ctime: i64,
    mtime: i64,
    /// It is not as it should be, until it is made anew.
    wrong: bool,
    /// It has not the data that it should have, until it is set anew.
    wrong_data: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Change {
    Check { key: Key },
    Create { key: Key, data: u64, owner: i64, time: i64 },
    Delete { key: Key },
    Set { key: Key, data: u64, time: i64 },
    SetAcl { key: Key, acl: bool },
}

impl Change {
    pub(super) const fn key(&self) -> Key {
        match self {
            Self::Check { key }
            | Self::Create { key, .. }
            | Self::Delete { key }
            | Self::Set { key, .. }
            | Self::SetAcl { key, .. } => *key,
        }
    }

    fn record(&self) -> record::Change {
        let path = self.key().path();
        match self {
            Self::Check { .. } => record::Change::Check { path },
            Self::Create { data, owner, .. } => record::Change::Create {
                path,
                data: bytes(*data),
                acl: None,
                mode: if *owner == 0 { Mode::Persistent } else { Mode::Ephemeral },
            },
            Self::Delete { .. } => record::Change::Delete { path },
            Self::Set { data, .. } => {
                record::Change::SetData { path, data: bytes(*data), version: 0 }
            }
            Self::SetAcl { acl, .. } => {
                record::Change::SetAcl { path, acl: lines(Some(*acl)), version: 0 }
            }
        }
    }
}

/// What a transaction does.
#[derive(Clone, Debug)]
pub(super) enum Work {
    Changes(Vec<Change>),
    Close(Vec<Key>),
    Error(i32),
    /// These should be done, and are not.
    Lost(Vec<Change>),
    Nothing,
    Open,
    /// This is done twice.
    Twice(Change, Change),
}

impl Work {
    pub(super) fn change(&self) -> record::Change {
        match self {
            Self::Changes(changes) | Self::Lost(changes) => match changes.as_slice() {
                [one] => one.record(),
                all => record::Change::Multi(all.iter().map(Change::record).collect()),
            },
            Self::Close(keys) => {
                let paths = Some(keys.iter().map(|key| key.path()).collect());
                record::Change::CloseSession { paths }
            }
            Self::Error(code) => record::Change::Error { code: *code },
            Self::Nothing => record::Change::Error { code: 0 },
            Self::Open => record::Change::CreateSession { timeout_ms: super::TIMEOUT_MS },
            Self::Twice(one, _) => one.record(),
        }
    }
}

/// A transaction, and who is to be answered: which client, on which connection.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) zxid: i64,
    pub(super) who: Option<(usize, u64)>,
    pub(super) work: Work,
}

fn bytes(data: u64) -> Option<Bytes> {
    Some(Bytes(format!("v{data}").into_bytes()))
}

fn lines(acl: Option<bool>) -> Vec<String> {
    match acl {
        None => vec!["world:anyone:31".into()],
        Some(all) => {
            let world = if all { "world:anyone:31" } else { "world:anyone:15" };
            vec![world.into(), "ip:10.0.0.1:31".into()]
        }
    }
}

/// One server.
#[derive(Clone, Debug)]
pub(super) struct Replica {
    pub(super) zxid: i64,
    nodes: BTreeMap<Key, Node>,
    /// By node: which connection, and in which list.
    watches: BTreeMap<Key, Vec<(u64, List)>>,
}

impl Default for Replica {
    fn default() -> Self {
        let root = Node { created: 0, ..Node::default() };
        let nodes = BTreeMap::from([(Key::Root, root)]);
        Self { zxid: 0, nodes, watches: BTreeMap::new() }
    }
}

impl Replica {
    pub(super) fn get(&self, key: Key) -> Option<&Node> {
        self.nodes.get(&key)
    }

    /// The oldest sequential node of a parent, or one that is not there.
    pub(super) fn some_sequential(&self, parent: u32) -> i32 {
        let all = Key::Sequential(parent, 0)..Key::Sequential(parent, i32::MAX);
        match self.nodes.range(all).next() {
            Some((Key::Sequential(_, number), _)) => *number,
            _ => 0,
        }
    }

    pub(super) fn owned_by(&self, session: i64) -> Vec<Key> {
        let owned = self.nodes.iter().filter(|(_, node)| node.owner == session);
        owned.map(|(key, _)| *key).collect()
    }

    /// The nodes that these writes may touch, as they are.
    pub(super) fn clone_of(&self, wishes: &[Wish]) -> Vec<(Key, Option<Node>)> {
        let mut all = Vec::new();
        for wish in wishes {
            let Some(key) = wish.key() else { continue };
            let key = match key {
                Key::Next(parent) => {
                    let created = self.get(Key::Parent(parent)).map_or(0, |node| node.created);
                    all.push((Key::Sequential(parent, created + 1), None));
                    Key::Sequential(parent, created)
                }
                key => key,
            };
            for key in [Some(key), key.parent()].into_iter().flatten() {
                all.push((key, self.nodes.get(&key).cloned()));
            }
        }
        all
    }

    pub(super) fn restore(&mut self, nodes: Vec<(Key, Option<Node>)>) {
        for (key, node) in nodes {
            match node {
                Some(node) => {
                    self.nodes.insert(key, node);
                }
                None => {
                    self.nodes.remove(&key);
                }
            }
        }
    }

    pub(super) fn apply(&mut self, zxid: i64, work: &Work) {
        self.zxid = zxid;
        match work {
            Work::Changes(changes) => {
                changes.iter().for_each(|change| self.change(zxid, change));
            }
            Work::Close(keys) => {
                for key in keys {
                    self.change(zxid, &Change::Delete { key: *key });
                }
            }
            Work::Twice(one, other) => {
                self.change(zxid, one);
                self.change(zxid, other);
            }
            Work::Error(_) | Work::Lost(_) | Work::Nothing | Work::Open => {}
        }
    }

    pub(super) fn change(&mut self, zxid: i64, change: &Change) {
        match change {
            Change::Check { .. } => {}
            Change::Create { key, data, owner, time } => {
                let (data, owner, ctime, mtime) = (*data, *owner, *time, *time);
                let (czxid, mzxid, pzxid) = (zxid, zxid, zxid);
                let node =
                    Node { data, owner, ctime, mtime, czxid, mzxid, pzxid, ..Node::default() };
                self.nodes.insert(*key, node);
                if let Some(above) = key.parent().and_then(|key| self.nodes.get_mut(&key)) {
                    above.created += 1;
                    above.pzxid = zxid;
                    above.children.push(*key);
                }
            }
            Change::Delete { key } => {
                self.nodes.remove(key);
                if let Some(above) = key.parent().and_then(|key| self.nodes.get_mut(&key)) {
                    above.pzxid = zxid;
                    above.children.retain(|child| child != key);
                }
            }
            Change::Set { key, data, time } => {
                if let Some(node) = self.nodes.get_mut(key) {
                    (node.data, node.mtime, node.mzxid) = (*data, *time, zxid);
                    node.version += 1;
                    node.wrong_data = false;
                }
            }
            Change::SetAcl { key, acl } => {
                if let Some(node) = self.nodes.get_mut(key) {
                    node.acl = Some(*acl);
                    node.aversion += 1;
                }
            }
        }
    }

    /// A node goes without a trace.
    pub(super) fn drop_silently(&mut self, key: Key) {
        self.nodes.remove(&key);
        if let Some(above) = key.parent().and_then(|key| self.nodes.get_mut(&key)) {
            above.children.retain(|child| *child != key);
        }
    }

    /// A node is not as it should be.
    pub(super) fn mark(&mut self, key: Key) {
        if let Some(node) = self.nodes.get_mut(&key) {
            node.wrong = true;
        }
    }

    pub(super) fn spoil_value(&mut self, key: Key) {
        if let Some(node) = self.nodes.get_mut(&key) {
            node.data = 0;
            node.wrong_data = true;
        }
    }

    /// Whether a read shows that a node is not as it should be.
    pub(super) fn is_wrong(&self, key: Key, wish: &Wish) -> bool {
        let data = matches!(wish, Wish::Get(..));
        self.nodes.get(&key).is_some_and(|node| node.wrong || data && node.wrong_data)
    }

    pub(super) fn stat(&self, key: Key) -> Option<Stat> {
        let node = self.get(key)?;
        let count = i32::try_from(node.children.len()).unwrap_or(i32::MAX);
        // The root has a child that no history speaks of.
        let count = if key == Key::Root { count + 1 } else { count };
        let length = i32::try_from(format!("v{}", node.data).len()).unwrap_or(0);
        Some(Stat {
            czxid: Hex(node.czxid),
            mzxid: Hex(node.mzxid),
            pzxid: Hex(node.pzxid),
            ctime: node.ctime,
            mtime: node.mtime,
            version: node.version,
            cversion: node.created * 2 - count,
            aversion: node.aversion,
            ephemeral_owner: Hex(node.owner),
            data_length: length,
            num_children: count,
        })
    }

    /// What a read shows.
    pub(super) fn show(&self, wish: &Wish) -> Result<Answer, i32> {
        let answer = Answer::default();
        let Some(key) = wish.key() else { return Ok(answer) };
        if matches!(wish, Wish::AddWatch(..)) {
            return Ok(answer);
        }
        let node = self.get(key).ok_or(-101)?;
        let stat = self.stat(key);
        Ok(match wish {
            Wish::Get(..) => Answer { data: bytes(node.data), stat, ..answer },
            Wish::Children(..) => {
                let names = node.children.iter().map(|key| key.name()).collect();
                Answer { children: Some(names), stat, ..answer }
            }
            Wish::Acl(_) => Answer { acl: Some(lines(node.acl)), stat, ..answer },
            _ => Answer { stat, ..answer },
        })
    }

    pub(super) fn watch(&mut self, conn: u64, key: Key, list: List) {
        let list = if list == List::Exist { List::Data } else { list };
        let all = self.watches.entry(key).or_default();
        if !all.contains(&(conn, list)) {
            all.push((conn, list));
        }
    }

    /// A connection is gone, and its watches with it.
    pub(super) fn forget(&mut self, conn: u64) {
        for all in self.watches.values_mut() {
            all.retain(|(other, _)| *other != conn);
        }
        self.watches.retain(|_, all| !all.is_empty());
    }

    /// Who is told of a transaction: on which connection, of what, and by what kind of watch.
    pub(super) fn events(&mut self, work: &Work) -> Vec<(u64, Kind, Key, u8)> {
        let mut out = Vec::new();
        match work {
            Work::Changes(changes) | Work::Lost(changes) => {
                changes.iter().for_each(|change| self.tell(change, &mut out));
            }
            Work::Close(keys) => {
                for key in keys {
                    self.tell(&Change::Delete { key: *key }, &mut out);
                }
            }
            Work::Twice(one, _) => self.tell(one, &mut out),
            Work::Error(_) | Work::Nothing | Work::Open => {}
        }
        out
    }

    fn tell(&mut self, change: &Change, out: &mut Vec<(u64, Kind, Key, u8)>) {
        let key = change.key();
        let above = key.parent().unwrap_or(Key::Root);
        match change {
            Change::Check { .. } | Change::SetAcl { .. } => {}
            Change::Create { .. } => {
                self.call(Kind::Created, key, false, &[], out);
                self.call(Kind::ChildrenChanged, above, true, &[], out);
            }
            Change::Delete { .. } => {
                let told = self.call(Kind::Deleted, key, false, &[], out);
                self.call(Kind::Deleted, key, true, &told, out);
                self.call(Kind::ChildrenChanged, above, true, &[], out);
            }
            Change::Set { .. } => {
                self.call(Kind::DataChanged, key, false, &[], out);
            }
        }
    }

    fn call(
        &mut self,
        kind: Kind,
        key: Key,
        children: bool,
        reached: &[u64],
        out: &mut Vec<(u64, Kind, Key, u8)>,
    ) -> Vec<u64> {
        let mut told = Vec::new();
        let mut tell = |conn: u64, mode: u8| {
            if !reached.contains(&conn) && !told.contains(&conn) {
                told.push(conn);
                out.push((conn, kind, key, mode));
            }
        };
        let once = if children { List::Child } else { List::Data };
        if let Some(all) = self.watches.get_mut(&key) {
            for (conn, list) in &*all {
                match list {
                    list if *list == once => tell(*conn, 1),
                    List::Persistent => tell(*conn, 2),
                    List::Recursive if !children => tell(*conn, 2),
                    _ => {}
                }
            }
            all.retain(|(_, list)| *list != once);
        }
        if !children {
            let mut above = key.parent();
            while let Some(at) = above {
                for (conn, list) in self.watches.get(&at).into_iter().flatten() {
                    if *list == List::Recursive {
                        tell(*conn, 4);
                    }
                }
                above = at.parent();
            }
        }
        told
    }
}
