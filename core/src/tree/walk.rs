//! Going through a tree that changes meanwhile.

use alloc::string::String;

use super::{Node, Tree};
use crate::acl::AclList;
use crate::path;

impl Tree {
    /// The node that comes after this one, parents first and siblings by name; the root with
    /// `None`. The key need not be there any more.
    #[must_use]
    pub fn after(&self, key: Option<&str>) -> Option<&Node> {
        let Some(mut key) = key else { return self.arena.get("") };
        let mut parent = key;
        let mut past = "";
        loop {
            let child = self.arena.get(parent).and_then(|node| node.child_after(past));
            if let Some(name) = child {
                let mut child = String::with_capacity(parent.len() + 1 + name.len());
                child.push_str(parent);
                child.push('/');
                child.push_str(name);
                return Some(self.arena.get(&child).expect("a child is a node"));
            }
            parent = path::parent(key)?;
            past = path::name(key);
            key = parent;
        }
    }

    /// Every ACL that some node has, in order.
    pub fn acl_lists(&self) -> impl Iterator<Item = &AclList> {
        self.acls.lists()
    }

    /// How many nodes cannot be reached from the root. There are none once every change that a
    /// snapshot has a part of has been applied again.
    #[must_use]
    pub fn unreachable(&self) -> usize {
        self.len() - self.nodes().count()
    }
}
