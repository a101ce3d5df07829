//! Building a tree from what a snapshot says, node by node.

use super::{Node, RESERVED, StoredStat, Tree};
use crate::acl::AclList;
use crate::{Data, Text, path};

/// A tree that is not whole yet.
#[derive(Debug)]
pub struct Restore {
    tree: Tree,
    /// Which of ZooKeeper's own nodes were given. Old snapshots lack some; those stay fresh.
    given: [bool; RESERVED.len()],
}

/// Why a node cannot be put where it says.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Misplaced {
    /// Its parent was not given before it.
    Orphan,
    /// It was given already.
    Twice,
}

impl Restore {
    /// Nothing yet but ZooKeeper's own nodes.
    #[must_use]
    pub fn new(extended_types: bool, scatter: u64) -> Self {
        Self { tree: Tree::new(extended_types, scatter), given: [false; RESERVED.len()] }
    }

    /// Puts a node; parents come before their children.
    ///
    /// # Errors
    /// If they do not, or if the node is there already. Then nothing has changed.
    pub fn put(
        &mut self,
        key: &Text,
        data: Data,
        stat: StoredStat,
        acl: &AclList,
    ) -> Result<(), Misplaced> {
        let tree = &mut self.tree;
        if let Some(place) = RESERVED.iter().position(|reserved| *reserved == &**key) {
            if core::mem::replace(&mut self.given[place], true) {
                return Err(Misplaced::Twice);
            }
            let node = tree.arena.get_mut(key).expect("every tree has its reserved nodes");
            tree.data_bytes += data.as_ref().map_or(0, |data| data.len() as u64);
            node.data = data;
            node.stat = stat;
            tree.digest = tree.digest.wrapping_add(node.refresh_digest());
            let stale = core::mem::replace(&mut node.acl, tree.acls.intern(acl));
            tree.acls.release(stale);
        } else {
            if tree.arena.get(key).is_some() {
                return Err(Misplaced::Twice);
            }
            let parent = path::parent(key).and_then(|parent| tree.arena.get_mut(parent));
            let name = path::name(key);
            parent.filter(|_| !name.is_empty()).ok_or(Misplaced::Orphan)?.add_child(name);
            tree.data_bytes += (key.len() + data.as_ref().map_or(0, |data| data.len())) as u64;
            let node = Node::new(key, data, stat, tree.acls.intern(acl));
            tree.digest = tree.digest.wrapping_add(u64::from(node.digest()));
            tree.arena.insert(node);
        }
        self.tree.note_kind(key, &stat);
        Ok(())
    }

    /// The tree, with its quotas counted afresh: a snapshot taken while changes went on has
    /// counted some nodes and not others.
    #[must_use]
    pub fn finish(self) -> Tree {
        let mut tree = self.tree;
        tree.find_quotas();
        tree
    }
}
