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
    /// The last one asked for. Nodes that are made one after the other tend to have the same.
    recent: Option<AclId>,
    /// Everybody may do everything, whether or not some node has it; to be shared.
    open: AclList,
}

impl Acls {
    pub(super) fn new() -> Self {
        Self {
            lists: Vec::new(),
            free: Vec::new(),
            ids: BTreeMap::new(),
            recent: None,
            open: AclList::open(),
        }
    }

    pub(super) const fn open(&self) -> &AclList {
        &self.open
    }

    /// Counts one more node with this ACL.
    pub(super) fn intern(&mut self, list: &AclList) -> AclId {
        let known = match self.recent {
            Some(id) if self.get(id) == list => Some(id),
            Some(_) | None => self.ids.get(list).copied(),
        };
        let id = match known {
            Some(id) => {
                self.lists[id.0 as usize].1 += 1;
                id
            }
            None => self.add(list),
        };
        self.recent = Some(id);
        id
    }

    fn add(&mut self, list: &AclList) -> AclId {
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
            self.recent.take_if(|recent| *recent == id);
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
