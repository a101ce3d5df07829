//! One znode: its data, its stat, the names of its children.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

use compact_str::CompactString;

use super::acls::AclId;
use super::children::Children;
use super::digest::node_digest;
use crate::Data;
use crate::ids::{Millis, SessionId, Zxid};
use crate::txn::NodeKind;

/// What is kept of a node besides its data: `StatPersisted`.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct StoredStat {
    /// The transaction that made it.
    pub czxid: Zxid,
    /// The transaction that last set its data.
    pub mzxid: Zxid,
    /// The transaction that last added or removed a child.
    pub pzxid: Zxid,
    /// When it was made.
    pub ctime: Millis,
    /// When its data was last set.
    pub mtime: Millis,
    /// How often its data was set.
    pub version: i32,
    /// How many children were ever made: the next sequence number. Deleting does not count.
    pub cversion: i32,
    /// How often its ACL was set.
    pub aversion: i32,
    /// A session, or a mark that makes it a container or TTL node; see [`Owner`].
    pub owner: i64,
}

/// What a client is told of a node: `Stat`.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Stat {
    /// The transaction that made it.
    pub czxid: Zxid,
    /// The transaction that last set its data.
    pub mzxid: Zxid,
    /// When it was made.
    pub ctime: Millis,
    /// When its data was last set.
    pub mtime: Millis,
    /// How often its data was set.
    pub version: i32,
    /// How often children were added or removed.
    pub cversion: i32,
    /// How often its ACL was set.
    pub aversion: i32,
    /// The session it goes with, or none.
    pub ephemeral_owner: SessionId,
    /// Zero for null as well.
    pub data_length: i32,
    /// Now.
    pub num_children: i32,
    /// The transaction that last added or removed a child.
    pub pzxid: Zxid,
}

/// What a stored owner means.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Owner {
    /// A container.
    Container,
    /// A persistent node.
    Nobody,
    /// An ephemeral.
    Session(SessionId),
    /// A TTL node, with its milliseconds.
    Ttl(i64),
}

impl Owner {
    const CONTAINER: i64 = i64::MIN;
    const TTL_MARK: u64 = 0xFF00_0000_0000_0000;
    /// The longest TTL: 40 bits of milliseconds.
    pub const TTL_MAX_MS: i64 = 0xFF_FFFF_FFFF;

    /// Without extended types even a TTL mark is a session.
    #[must_use]
    pub const fn of(raw: i64, extended_types: bool) -> Self {
        let bits = raw.cast_unsigned();
        if raw == 0 {
            Self::Nobody
        } else if raw == Self::CONTAINER {
            Self::Container
        } else if extended_types && bits >> 40 == Self::TTL_MARK >> 40 {
            Self::Ttl(raw & Self::TTL_MAX_MS)
        } else {
            Self::Session(SessionId(raw))
        }
    }

    /// How a new node's owner is stored.
    #[must_use]
    pub const fn raw(kind: NodeKind, session: SessionId) -> i64 {
        match kind {
            NodeKind::Container => Self::CONTAINER,
            NodeKind::Ephemeral => session.0,
            NodeKind::Persistent => 0,
            NodeKind::Ttl { ms } => (Self::TTL_MARK | ms.cast_unsigned()).cast_signed(),
        }
    }
}

impl StoredStat {
    /// What a client is told, given what is not stored.
    #[must_use]
    pub fn reported(&self, data: &Data, children: usize, extended_types: bool) -> Stat {
        let Self { czxid, mzxid, pzxid, ctime, mtime, version, cversion, aversion, owner } = *self;
        let num_children = children as i32;
        let ephemeral_owner = match Owner::of(owner, extended_types) {
            Owner::Session(session) => session,
            Owner::Container | Owner::Nobody | Owner::Ttl(_) => SessionId::NONE,
        };
        Stat {
            czxid,
            mzxid,
            ctime,
            mtime,
            version,
            // Stored are births only; every birth without a living child was also a death.
            cversion: cversion.wrapping_mul(2).wrapping_sub(num_children),
            aversion,
            ephemeral_owner,
            data_length: data.as_ref().map_or(0, |data| data.len() as i32),
            num_children,
            pzxid,
        }
    }
}

/// One znode. Begins where a line of the processor's cache does, and fills two.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Node {
    /// Its path; empty for the root. Short ones live in the node itself and cost no detour.
    key: CompactString,
    pub(super) data: Data,
    pub(super) stat: StoredStat,
    pub(super) acl: AclId,
    /// Invariant: the digest of key, data and stat.
    digest: u32,
    /// Boxed because most nodes have none.
    children: Option<Box<Children>>,
}

const _: () = assert!(size_of::<Option<Node>>() == 128);

impl Node {
    pub(super) fn new(key: &str, data: Data, stat: StoredStat, acl: AclId) -> Self {
        let digest = node_digest(key, &data, &stat);
        Self { key: key.into(), data, stat, acl, digest, children: None }
    }

    /// Its path; empty for the root.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// What it holds.
    #[must_use]
    pub const fn data(&self) -> &Data {
        &self.data
    }

    /// As stored.
    #[must_use]
    pub const fn stat(&self) -> &StoredStat {
        &self.stat
    }

    /// Names its ACL within the tree.
    #[must_use]
    pub const fn acl(&self) -> AclId {
        self.acl
    }

    /// Its part of the tree's digest.
    #[must_use]
    pub const fn digest(&self) -> u32 {
        self.digest
    }

    /// Names of its children, in order.
    pub fn children(&self) -> impl DoubleEndedIterator<Item = &CompactString> {
        self.children.iter().flat_map(|children| children.iter())
    }

    /// All of them at once.
    #[must_use]
    pub fn child_names(&self) -> Vec<CompactString> {
        self.children.as_ref().map_or_else(Vec::new, |children| children.to_vec())
    }

    /// How many children it has.
    #[must_use]
    pub fn children_len(&self) -> usize {
        self.children.as_ref().map_or(0, |children| children.len())
    }

    /// The first child whose name comes after this one.
    pub(super) fn child_after(&self, name: &str) -> Option<&str> {
        self.children.as_ref()?.after(name).map(CompactString::as_str)
    }

    pub(super) fn reported(&self, extended_types: bool) -> Stat {
        self.stat.reported(&self.data, self.children_len(), extended_types)
    }

    /// Something of either line of the cache.
    pub(super) fn first_look(&self) -> u32 {
        self.digest ^ self.stat.version.cast_unsigned() ^ u32::from(self.data.is_some())
    }

    pub(super) fn add_child(&mut self, name: &str) {
        self.children.get_or_insert_default().insert(name);
    }

    pub(super) fn remove_child(&mut self, name: &str) {
        if let Some(children) = &mut self.children {
            children.remove(name);
            if children.is_empty() {
                self.children = None;
            }
        }
    }

    /// Computes the digest anew after a change, and returns by how much the tree's changes.
    pub(super) fn refresh_digest(&mut self) -> u64 {
        let old = self.digest;
        self.digest = node_digest(&self.key, &self.data, &self.stat);
        u64::from(self.digest).wrapping_sub(u64::from(old))
    }

    pub(super) fn same_but_for_acl(&self, other: &Self) -> bool {
        let Self { key, data, stat, acl: _, digest: _, children } = self;
        *key == other.key
            && *data == other.data
            && *stat == other.stat
            && *children == other.children
    }

    pub(super) fn hash_but_for_acl<H: Hasher>(&self, state: &mut H) {
        let Self { key, data, stat, acl: _, digest: _, children } = self;
        key.hash(state);
        data.hash(state);
        stat.hash(state);
        children.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_survive_being_stored() {
        let session = SessionId(0x0100_0012_3456_0000);
        let kinds = [
            (NodeKind::Persistent, Owner::Nobody),
            (NodeKind::Ephemeral, Owner::Session(session)),
            (NodeKind::Container, Owner::Container),
            (NodeKind::Ttl { ms: 1 }, Owner::Ttl(1)),
            (NodeKind::Ttl { ms: Owner::TTL_MAX_MS }, Owner::Ttl(Owner::TTL_MAX_MS)),
        ];
        for (kind, owner) in kinds {
            assert_eq!(Owner::of(Owner::raw(kind, session), true), owner);
        }
        let raw = Owner::raw(NodeKind::Ttl { ms: 5 }, session);
        assert_eq!(Owner::of(raw, false), Owner::Session(SessionId(raw)));
    }

    #[test]
    fn reported_cversion_counts_births_and_deaths() {
        let born = |cversion| StoredStat { cversion, ..StoredStat::default() };
        assert_eq!(born(0).reported(&None, 1, false).cversion, -1);
        assert_eq!(born(3).reported(&None, 1, false).cversion, 5);
        assert_eq!(born(i32::MAX).reported(&None, 0, false).cversion, -2);
    }
}
