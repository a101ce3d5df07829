//! Each distinct ACL once, with a number for the nodes that have it.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::acl::AclList;

/// Names an ACL within one tree.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct AclId(u32);

#[derive(Clone, Debug)]
pub(super) struct Acls {
    /// With how many nodes have it. Invariant: a place with no nodes is in `free`.
    lists: Vec<(AclList, u32)>,
    free: Vec<AclId>,
    ids: BTreeMap<AclList, AclId>,
}

impl Acls {
    pub(super) const fn new() -> Self {
        Self { lists: Vec::new(), free: Vec::new(), ids: BTreeMap::new() }
    }

    /// Counts one more node with this ACL.
    pub(super) fn intern(&mut self, list: &AclList) -> AclId {
        if let Some(&id) = self.ids.get(list) {
            self.lists[id.0 as usize].1 += 1;
            return id;
        }
        let entry = (list.clone(), 1);
        let id = match self.free.pop() {
            Some(id) => {
                self.lists[id.0 as usize] = entry;
                id
            }
            None => {
                self.lists.push(entry);
                AclId(u32::try_from(self.lists.len() - 1).expect("fewer than 2^32 ACLs"))
            }
        };
        self.ids.insert(list.clone(), id);
        id
    }

    /// Counts one node less.
    pub(super) fn release(&mut self, id: AclId) {
        let (list, users) = &mut self.lists[id.0 as usize];
        *users -= 1;
        if *users == 0 {
            self.ids.remove(list);
            self.free.push(id);
        }
    }

    /// Every ACL that some node has, in order.
    pub(super) fn lists(&self) -> impl Iterator<Item = &AclList> {
        self.ids.keys()
    }

    pub(super) fn get(&self, id: AclId) -> &AclList {
        &self.lists[id.0 as usize].0
    }
}
