//! The tree as it will be: what has been decided and not yet applied, laid over the tree.
//!
//! `prepare` looks through it, so that a request sees the effects of all requests before it,
//! also those whose transactions are still on their way to disk.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use compact_str::CompactString;

use crate::Data;
use crate::acl::AclList;
use crate::ids::{SessionId, Zxid};
use crate::lookup::Lookup;
use crate::path;
use crate::tree::{StoredStat, Tree, node_digest};

/// A node as it will be.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct View {
    /// Its stat.
    pub stat: StoredStat,
    /// What it will hold.
    pub data: Data,
    /// Who may do what.
    pub acl: AclList,
    /// How many children it will have.
    pub children: usize,
    /// Its part of the tree's digest.
    pub digest: u32,
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Record {
    /// The newest decision about this node.
    zxid: Zxid,
    /// `None`: it will be gone.
    view: Option<View>,
}

/// See the [module](self).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Overlay {
    records: Lookup<CompactString, Record>,
    /// Which decision touched which node, oldest first.
    order: VecDeque<(Zxid, CompactString)>,
    /// The tree's digest when all of this has been applied.
    digest: u64,
}

/// What an overlay was before, to go back to if a multi fails half-way.
#[derive(Debug)]
pub struct Savepoint {
    digest: u64,
    order: usize,
    undo: Vec<(CompactString, Option<Record>)>,
}

impl Overlay {
    /// Nothing laid over this tree yet; `scatter` only moves entries about in memory.
    #[must_use]
    pub fn new(tree: &Tree, scatter: u64) -> Self {
        Self { records: Lookup::new(scatter), order: VecDeque::new(), digest: tree.digest() }
    }

    /// The digest the tree will have.
    #[must_use]
    pub const fn digest(&self) -> u64 {
        self.digest
    }

    /// How many nodes differ from the tree.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether nothing is under way.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// A node as it will be.
    #[must_use]
    pub fn view(&self, tree: &Tree, at: &str) -> Option<View> {
        let key = path::key(at);
        if !self.records.is_empty()
            && let Some(record) = self.records.get(key)
        {
            return record.view.clone();
        }
        let node = tree.get(key)?;
        Some(View {
            stat: *node.stat(),
            data: node.data().clone(),
            acl: tree.acl(node).clone(),
            children: node.children_len(),
            digest: node.digest(),
        })
    }

    /// Whether a node will be there.
    #[must_use]
    pub fn has(&self, tree: &Tree, at: &str) -> bool {
        let key = path::key(at);
        match self.records.get(key) {
            Some(record) => record.view.is_some(),
            None => tree.get(key).is_some(),
        }
    }

    /// Decides that a node will be so; `before` is its part of the digest until now.
    pub(crate) fn put(
        &mut self,
        zxid: Zxid,
        at: &str,
        mut view: View,
        before: u32,
        savepoint: &mut Option<Savepoint>,
    ) {
        let key = path::key(at);
        view.digest = node_digest(key, &view.data, &view.stat);
        self.digest =
            self.digest.wrapping_sub(u64::from(before)).wrapping_add(u64::from(view.digest));
        self.record(zxid, key.into(), Some(view), savepoint);
    }

    /// Decides that a node will be gone.
    pub(crate) fn remove(
        &mut self,
        zxid: Zxid,
        at: &str,
        before: u32,
        savepoint: &mut Option<Savepoint>,
    ) {
        self.digest = self.digest.wrapping_sub(u64::from(before));
        self.record(zxid, path::key(at).into(), None, savepoint);
    }

    fn record(
        &mut self,
        zxid: Zxid,
        key: CompactString,
        view: Option<View>,
        savepoint: &mut Option<Savepoint>,
    ) {
        let before = self.records.insert(key.clone(), Record { zxid, view });
        if let Some(savepoint) = savepoint {
            savepoint.undo.push((key.clone(), before));
        }
        self.order.push_back((zxid, key));
    }

    pub(crate) fn savepoint(&self) -> Savepoint {
        Savepoint { digest: self.digest, order: self.order.len(), undo: Vec::new() }
    }

    /// Takes back every decision since.
    pub(crate) fn roll_back(&mut self, savepoint: Savepoint) {
        let Savepoint { digest, order, undo } = savepoint;
        self.digest = digest;
        self.order.truncate(order);
        for (key, before) in undo.into_iter().rev() {
            match before {
                Some(record) => self.records.insert(key, record),
                None => self.records.remove(&key),
            };
        }
    }

    /// The tree has everything up to here now.
    pub fn applied(&mut self, zxid: Zxid) {
        while let Some((_, key)) = self.order.pop_front_if(|(decided, _)| *decided <= zxid) {
            if self.records.get(&key).is_some_and(|record| record.zxid <= zxid) {
                self.records.remove(&key);
            }
        }
    }

    /// How a session's ephemerals will differ from the tree's: which are new, which are gone.
    /// Gone is also what another node has taken the place of.
    pub(crate) fn ephemerals(&self, session: SessionId) -> impl Iterator<Item = (&str, bool)> {
        self.order.iter().filter_map(move |(_, key)| {
            let view = self.records.get(key)?.view.as_ref();
            let there = view.is_some_and(|view| view.stat.owner == session.0);
            Some((key.as_str(), there))
        })
    }

    /// Nothing laid over the tree means the tree itself.
    pub(crate) fn assert_invariants(&self, tree: &Tree) {
        if self.order.is_empty() {
            assert!(self.records.is_empty(), "records without a decision");
            assert_eq!(self.digest, tree.digest(), "the tree is not as was decided");
        }
    }
}
