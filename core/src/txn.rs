//! A decided change: absolute results, so that applying it twice does no harm.

use alloc::vec::Vec;

use crate::acl::AclList;
use crate::code::Code;
use crate::ids::{SessionId, Xid};
use crate::request::{CreateOp, Stamp};
use crate::{Data, Text};

/// One entry of the one order of all writes.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Txn {
    /// Where in the order, and when.
    pub stamp: Stamp,
    /// Who asked; none when the server itself did.
    pub session: SessionId,
    /// The asking client's number for it.
    pub cxid: Xid,
    /// What to do.
    pub change: Change,
    /// The digest of the tree after it; absent on error transactions.
    pub digest: Option<u64>,
}

impl Txn {
    /// Whether it changes who is in the ensemble.
    #[must_use]
    pub const fn is_reconfig(&self) -> bool {
        matches!(self.change, Change::Node(NodeChange::SetData { reconfig: true, .. }))
    }
}

/// What a transaction does.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Change {
    /// Remove a session and its ephemerals.
    CloseSession {
        /// Exactly these, in this order.
        paths: Vec<Text>,
    },
    /// Make a session known.
    CreateSession {
        /// As agreed with the client.
        timeout_ms: i32,
    },
    /// A refused request: nothing changes, but it has its place.
    Error(Code),
    /// Several changes as one, or none of them.
    Multi(Vec<SubChange>),
    /// A change of one node.
    Node(NodeChange),
}

/// One part of a multi.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum SubChange {
    /// This part failed, or a part before it; then nothing of the multi is applied.
    Error(Code),
    /// This part would be fine.
    Node(NodeChange),
}

/// A change of one node.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum NodeChange {
    /// Nothing; its place in a multi is kept.
    Check {
        /// Which node was looked at.
        path: Text,
        /// Its version plus one, as ZooKeeper records it.
        version: i32,
    },
    /// A new node.
    Create {
        /// How it was asked for; decides the answer's form.
        op: CreateOp,
        /// With its sequence number.
        path: Text,
        /// What it holds.
        data: Data,
        /// After fixing.
        acl: AclList,
        /// What kind of node.
        kind: NodeKind,
        /// The parent's stored cversion afterwards.
        parent_cversion: i32,
    },
    /// A node goes.
    Delete {
        /// Which one.
        path: Text,
        /// Whether the server itself removed it for being empty or old.
        container: bool,
    },
    /// Another ACL.
    SetAcl {
        /// Whose.
        path: Text,
        /// After fixing.
        acl: AclList,
        /// The aversion afterwards.
        version: i32,
    },
    /// Other data.
    SetData {
        /// Whose.
        path: Text,
        /// The new data.
        data: Data,
        /// The version afterwards.
        version: i32,
        /// Whether the server itself did, because the ensemble changes.
        reconfig: bool,
    },
}

/// What kind of node, and thereby what ends it.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum NodeKind {
    /// Goes when its last child has gone.
    Container,
    /// Goes with its session.
    Ephemeral,
    /// Stays.
    Persistent,
    /// Goes when it has no children and its data was not set for this long.
    Ttl {
        /// 1 to 2^40 − 1.
        ms: i64,
    },
}
