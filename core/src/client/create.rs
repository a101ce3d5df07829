//! New nodes, as applications wish for them.

use alloc::vec::Vec;

use super::chroot::Chroot;
use super::error::Failed;
use crate::acl::{Acl, AclList, AclWish};
use crate::code::Code;
use crate::path;
use crate::request::{Create, CreateOp};
use crate::tree::Owner;
use crate::{Data, Text};

/// A node to be.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct NewNode {
    /// Where; a number follows if it is sequential.
    pub path: Text,
    /// What it holds.
    pub data: Data,
    /// Who may do what with it; not empty.
    pub acl: Vec<Acl>,
    /// How long it lives.
    pub mode: CreateMode,
}

impl NewNode {
    /// A node with which everybody may do everything.
    #[must_use]
    pub fn open(path: &str, data: &[u8], mode: CreateMode) -> Self {
        let acl = AclList::open().lines().to_vec();
        Self { path: path.into(), data: Some(data.into()), acl, mode }
    }

    /// What the client itself can see to be wrong.
    pub(super) fn checked(&self) -> Result<(), Failed> {
        if self.mode.is_sequential() {
            // The number comes after whatever is there.
            path::validate(&alloc::format!("{}1", self.path))?;
        } else {
            path::validate(&self.path)?;
        }
        match self.mode {
            CreateMode::Ttl { ms } | CreateMode::TtlSequential { ms }
                if !(1..=Owner::TTL_MAX_MS).contains(&ms) =>
            {
                Err(Code::BadArguments.into())
            }
            CreateMode::Container
            | CreateMode::Ephemeral
            | CreateMode::EphemeralSequential
            | CreateMode::Persistent
            | CreateMode::PersistentSequential
            | CreateMode::Ttl { .. }
            | CreateMode::TtlSequential { .. } => Ok(()),
        }
    }

    pub(super) fn into_wish(self, stat: bool, chroot: &Chroot) -> Create {
        let Self { path, data, acl, mode } = self;
        let (flags, ttl_ms) = match mode {
            CreateMode::Persistent => (0, -1),
            CreateMode::Ephemeral => (1, -1),
            CreateMode::PersistentSequential => (2, -1),
            CreateMode::EphemeralSequential => (3, -1),
            CreateMode::Container => (4, -1),
            CreateMode::Ttl { ms } => (5, ms),
            CreateMode::TtlSequential { ms } => (6, ms),
        };
        let op = match mode {
            CreateMode::Container => CreateOp::Container,
            CreateMode::Ttl { .. } | CreateMode::TtlSequential { .. } => CreateOp::Ttl,
            CreateMode::Ephemeral
            | CreateMode::EphemeralSequential
            | CreateMode::Persistent
            | CreateMode::PersistentSequential => {
                if stat {
                    CreateOp::Create2
                } else {
                    CreateOp::Create
                }
            }
        };
        // A number after the root is a child of the root: under a chroot it must not become a
        // sibling of it, as it does with the Java client.
        let path = match (chroot.to_server(&path), mode.is_sequential() && &*path == "/") {
            (root, true) if &*root != "/" => alloc::format!("{root}/").into(),
            (path, _) => path,
        };
        Create { op, path, data, acl: Some(wishes(acl)), flags, ttl_ms }
    }
}

/// How long a node lives, and who names it.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum CreateMode {
    /// Until its last child has gone.
    Container,
    /// As long as the session.
    Ephemeral,
    /// As long as the session; a number is added to its name.
    EphemeralSequential,
    /// Until it is deleted.
    Persistent,
    /// Until it is deleted; a number is added to its name.
    PersistentSequential,
    /// Until it was not changed for a while and has no children.
    Ttl {
        /// 1 to 2^40 − 1.
        ms: i64,
    },
    /// The same; a number is added to its name.
    TtlSequential {
        /// 1 to 2^40 − 1.
        ms: i64,
    },
}

impl CreateMode {
    /// Whether the server adds a number to the name.
    #[must_use]
    pub const fn is_sequential(self) -> bool {
        match self {
            Self::EphemeralSequential | Self::PersistentSequential | Self::TtlSequential { .. } => {
                true
            }
            Self::Container | Self::Ephemeral | Self::Persistent | Self::Ttl { .. } => false,
        }
    }
}

/// An ACL as it is sent.
pub(super) fn wishes(acl: Vec<Acl>) -> Vec<AclWish> {
    let wish = |Acl { perms, id }| AclWish { perms, scheme: Some(id.scheme), id: Some(id.id) };
    acl.into_iter().map(wish).collect()
}
