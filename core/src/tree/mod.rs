//! The znodes: one map from path to node, and what has to be found without going through it.
//!
//! Nodes live in an arena and are found by the hash of their path; a child is known to its
//! parent by name, in order. The root's key is the empty text, as in ZooKeeper's digest and
//! snapshots; `/` means the same node to a reader.
//!
//! Only [`apply`](Tree::apply) changes a tree.

mod acls;
mod apply;
mod arena;
mod children;
mod digest;
mod index;
mod node;
mod restore;
mod walk;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

pub use acls::AclId;
pub use apply::{Done, Trigger};
pub use digest::node_digest;
pub use node::{Node, Owner, Stat, StoredStat};
pub use restore::{Misplaced, Restore};

use crate::acl::AclList;
use crate::ids::SessionId;
use crate::quota::Quotas;
use crate::{Text, path};

use acls::Acls;
use arena::Arena;

/// Where the quota limits and counts live.
pub const QUOTA_ROOT: &str = "/zookeeper/quota";
/// Where the configuration of the ensemble lives.
pub const CONFIG_NODE: &str = "/zookeeper/config";
/// Keys of nodes that cannot be deleted.
pub const RESERVED: [&str; 4] = ["", "/zookeeper", QUOTA_ROOT, CONFIG_NODE];

/// All znodes.
#[derive(Clone, Debug)]
pub struct Tree {
    arena: Arena,
    acls: Acls,
    /// Sum of all nodes' digests, kept as changes come.
    digest: u64,
    /// By owner. Invariant: exactly the nodes whose owner is a session.
    ephemerals: BTreeMap<SessionId, BTreeSet<Text>>,
    /// Invariant: exactly the container nodes.
    containers: BTreeSet<Text>,
    /// Invariant: exactly the TTL nodes.
    ttls: BTreeSet<Text>,
    quotas: Quotas,
    /// Invariant: the length of all paths and data.
    data_bytes: u64,
    extended_types: bool,
}

impl Tree {
    /// A fresh tree: the root and ZooKeeper's own nodes, which nobody created.
    #[must_use]
    pub fn new(extended_types: bool, scatter: u64) -> Self {
        let mut tree = Self {
            arena: Arena::new(scatter),
            acls: Acls::new(),
            digest: 0,
            ephemerals: BTreeMap::new(),
            containers: BTreeSet::new(),
            ttls: BTreeSet::new(),
            quotas: Quotas::default(),
            data_bytes: 0,
            extended_types,
        };
        for key in RESERVED {
            // The configuration was made read-only afterwards, at version -1: it shows in aversion.
            let (acl, aversion) = match key {
                CONFIG_NODE => (AclList::read_only(), -1),
                _ => (AclList::open(), 0),
            };
            let acl = tree.acls.intern(&acl);
            let stat = StoredStat { aversion, ..StoredStat::default() };
            let node = Node::new(key, Some([].into()), stat, acl);
            tree.digest = tree.digest.wrapping_add(u64::from(node.digest()));
            tree.data_bytes += path::shown(key).len() as u64;
            tree.arena.insert(node);
            if let Some(parent) = path::parent(key) {
                let parent = tree.arena.get_mut(parent).expect("parents come first in RESERVED");
                parent.add_child(path::name(key));
            }
        }
        tree
    }

    /// The node at a path, which may be `/` or its alias, the empty text.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<&Node> {
        self.arena.get(path::key(path))
    }

    /// Brings the nodes at these paths into the processor's cache, all at the same time, for
    /// whoever is about to ask for one after the other. Nothing changes.
    pub fn look_ahead(&self, paths: &[&str]) {
        self.arena.look_ahead(paths);
    }

    /// A node's ACL.
    #[must_use]
    pub fn acl(&self, node: &Node) -> &AclList {
        self.acls.get(node.acl())
    }

    /// The ACL that lets everybody do everything, to be shared by those who want it.
    #[must_use]
    pub const fn open_acl(&self) -> &AclList {
        self.acls.open()
    }

    /// A node's stat as clients see it.
    #[must_use]
    pub fn stat(&self, node: &Node) -> Stat {
        node.reported(self.extended_types)
    }

    /// What a stored owner means in this tree.
    #[must_use]
    pub fn owner(&self, stat: &StoredStat) -> Owner {
        Owner::of(stat.owner, self.extended_types)
    }

    /// How many nodes there are, ZooKeeper's own included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.arena.len()
    }

    /// Never: the root is always there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.arena.len() == 0
    }

    /// Bytes of paths and data.
    #[must_use]
    pub fn data_bytes(&self) -> u64 {
        self.data_bytes
    }

    /// The sum over all nodes that replicas compare.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// The ephemerals of a session, by path.
    pub fn ephemerals_of(&self, session: SessionId) -> impl Iterator<Item = &Text> {
        self.ephemerals.get(&session).into_iter().flatten()
    }

    /// All ephemerals, by session.
    pub fn ephemerals(&self) -> impl Iterator<Item = (SessionId, &BTreeSet<Text>)> {
        self.ephemerals.iter().map(|(session, paths)| (*session, paths))
    }

    /// How many ephemerals there are.
    #[must_use]
    pub fn ephemerals_len(&self) -> usize {
        self.ephemerals.values().map(BTreeSet::len).sum()
    }

    /// Containers, by path.
    pub fn containers(&self) -> impl Iterator<Item = &Text> {
        self.containers.iter()
    }

    /// TTL nodes, by path.
    pub fn ttls(&self) -> impl Iterator<Item = &Text> {
        self.ttls.iter()
    }

    /// Which subtrees have quotas.
    #[must_use]
    pub fn quotas(&self) -> &Quotas {
        &self.quotas
    }

    /// How many nodes lie below a path. As ZooKeeper counts: under its alias, the empty text, the
    /// root has itself below it.
    #[must_use]
    pub fn descendants(&self, path: &str) -> usize {
        match path {
            "" => self.arena.len(),
            "/" => self.arena.len() - 1,
            path => self.subtree(path).count().saturating_sub(1),
        }
    }

    /// A node and everything below it, parents first.
    pub fn subtree<'a>(&'a self, key: &str) -> impl Iterator<Item = &'a Node> {
        let mut ahead: Vec<&Node> = self.arena.get(key).into_iter().collect();
        core::iter::from_fn(move || {
            let node = ahead.pop()?;
            for name in node.children().rev() {
                let mut child = alloc::string::String::with_capacity(node.key().len() + 25);
                child.push_str(node.key());
                child.push('/');
                child.push_str(name);
                ahead.push(self.arena.get(&child).expect("a child is a node"));
            }
            Some(node)
        })
    }

    /// All nodes, parents first, siblings by name.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.subtree("")
    }

    /// Checks everything that must always be so. Goes through the whole tree.
    ///
    /// # Panics
    /// If it is not.
    pub fn assert_invariants(&self) {
        let mut digest = 0_u64;
        let mut count = 0;
        let mut owned = 0;
        let mut bytes = 0;
        for node in self.nodes() {
            count += 1;
            bytes +=
                path::shown(node.key()).len() + node.data().as_ref().map_or(0, |data| data.len());
            let fresh = node_digest(node.key(), node.data(), node.stat());
            assert_eq!(fresh, node.digest(), "digest of {:?}", node.key());
            digest = digest.wrapping_add(u64::from(fresh));
            match self.owner(node.stat()) {
                Owner::Session(session) => {
                    owned += 1;
                    let listed = self
                        .ephemerals
                        .get(&session)
                        .is_some_and(|paths| paths.contains(node.key()));
                    assert!(listed, "{:?} is not among the ephemerals of {session}", node.key());
                    assert_eq!(node.children_len(), 0, "ephemeral {:?} has children", node.key());
                }
                Owner::Container => assert!(self.containers.contains(node.key())),
                Owner::Ttl(_) => assert!(self.ttls.contains(node.key())),
                Owner::Nobody => {}
            }
        }
        assert_eq!(count, self.arena.len(), "nodes that cannot be reached from the root");
        assert_eq!(owned, self.ephemerals_len(), "ephemerals that are not nodes");
        assert_eq!(digest, self.digest, "sum of digests");
        assert_eq!(bytes as u64, self.data_bytes, "bytes of paths and data");
    }
}

/// Trees are equal when they hold the same nodes, wherever in memory those live.
impl PartialEq for Tree {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
            && self.len() == other.len()
            && self
                .nodes()
                .zip(other.nodes())
                .all(|(a, b)| a.same_but_for_acl(b) && self.acl(a) == other.acl(b))
    }
}

impl Eq for Tree {}

impl Hash for Tree {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for node in self.nodes() {
            node.hash_but_for_acl(state);
            self.acl(node).hash(state);
        }
    }
}
