//! A transaction as bytes: the payload of ZooKeeper's log (`SerializeUtils`, `TxnHeader`).
//!
//! ```text
//!   header: session, cxid, zxid, time, type | record of that type | digest: version, sum
//!   8       4        8     8     4          | …                   | 4        8   (may be absent)
//! ```

use alloc::vec::Vec;
use core::fmt;

use crate::acl::{Acl, AclList, Id};
use crate::code::Code;
use crate::ids::{Millis, SessionId, Xid, Zxid};
use crate::request::{CreateOp, Stamp, opcode};
use crate::txn::{Change, NodeChange, NodeKind, SubChange, Txn};
use crate::wire::jute::{Reader, WireError, Writer};
use crate::{Data, Text};

/// The way of summing that our digests follow, and the only one that can be compared.
pub(super) const DIGEST_VERSION: i32 = 2;
const DIGEST_BYTES: usize = 12;

/// Why a payload is no transaction.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TxnError {
    /// An error transaction with a code that no server puts out.
    Code {
        /// The number.
        number: i32,
    },
    /// A type that has no place here.
    Kind {
        /// The number.
        number: i32,
    },
    /// Neither the end nor a digest follows the record.
    Rest {
        /// How many bytes follow.
        left: usize,
    },
    /// A path that is null.
    Path,
    /// A record that ends too early, or a length that cannot be.
    Wire(WireError),
}

impl From<WireError> for TxnError {
    fn from(error: WireError) -> Self {
        Self::Wire(error)
    }
}

impl fmt::Display for TxnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code { number } => write!(f, "no such error code: {number}"),
            Self::Kind { number } => write!(f, "no such type of transaction here: {number}"),
            Self::Rest { left } => {
                write!(f, "{left} bytes follow the record, expected none or a digest of 12")
            }
            Self::Path => write!(f, "a path is null"),
            Self::Wire(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for TxnError {}

/// A transaction as read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Read {
    /// The transaction.
    pub txn: Txn,
    /// Whether this ends a session without saying which ephemerals go: then it is all that the
    /// session has. ZooKeeper wrote it so before 3.6, and still can.
    pub pathless: bool,
}

/// Writes a transaction behind `out`.
pub fn encode(txn: &Txn, out: &mut Writer<'_>) {
    let Txn { stamp, session, cxid, change, digest } = txn;
    out.long(session.0);
    out.int(cxid.0);
    out.long(stamp.zxid.0);
    out.long(stamp.time.0);
    match change {
        Change::CloseSession { paths } => {
            out.int(opcode::CLOSE_SESSION);
            out.count(paths.len());
            for path in paths {
                out.text(path);
            }
        }
        Change::CreateSession { timeout_ms } => {
            out.int(opcode::CREATE_SESSION);
            out.int(*timeout_ms);
        }
        Change::Error(code) => {
            out.int(opcode::ERROR);
            out.int(code.number());
        }
        Change::Multi(changes) => {
            out.int(opcode::MULTI);
            out.count(changes.len());
            for change in changes {
                match change {
                    SubChange::Error(code) => {
                        out.int(opcode::ERROR);
                        out.nested(|out| out.int(code.number()));
                    }
                    SubChange::Node(change) => {
                        out.int(kind(change));
                        out.nested(|out| record(change, out));
                    }
                }
            }
        }
        Change::Node(change) => {
            out.int(kind(change));
            record(change, out);
        }
    }
    if let Some(digest) = digest {
        out.int(DIGEST_VERSION);
        out.long(digest.cast_signed());
    }
}

/// The number of a change's type.
const fn kind(change: &NodeChange) -> i32 {
    match change {
        NodeChange::Check { .. } => opcode::CHECK,
        NodeChange::Create { op, .. } => op.opcode(),
        NodeChange::Delete { container: false, .. } => opcode::DELETE,
        NodeChange::Delete { container: true, .. } => opcode::DELETE_CONTAINER,
        NodeChange::SetAcl { .. } => opcode::SET_ACL,
        NodeChange::SetData { reconfig: false, .. } => opcode::SET_DATA,
        NodeChange::SetData { reconfig: true, .. } => opcode::RECONFIG,
    }
}

fn record(change: &NodeChange, out: &mut Writer<'_>) {
    match change {
        NodeChange::Check { path, version } => {
            out.text(path);
            out.int(*version);
        }
        NodeChange::Create { op, path, data, acl, kind, parent_cversion } => {
            out.text(path);
            out.buffer(data.as_deref());
            put_acl(acl, out);
            match op {
                CreateOp::Create | CreateOp::Create2 => out.bool(*kind == NodeKind::Ephemeral),
                CreateOp::Container | CreateOp::Ttl => {}
            }
            out.int(*parent_cversion);
            if let NodeKind::Ttl { ms } = kind {
                assert_eq!(*op, CreateOp::Ttl, "only createTTL makes TTL nodes");
                out.long(*ms);
            }
        }
        NodeChange::Delete { path, container: _ } => out.text(path),
        NodeChange::SetAcl { path, acl, version } => {
            out.text(path);
            put_acl(acl, out);
            out.int(*version);
        }
        NodeChange::SetData { path, data, version, reconfig: _ } => {
            out.text(path);
            out.buffer(data.as_deref());
            out.int(*version);
        }
    }
}

/// Reads a whole payload.
///
/// # Errors
/// Says what is wrong with it.
pub fn decode(payload: &[u8]) -> Result<Read, TxnError> {
    let mut reader = Reader::new(payload, payload.len());
    let session = SessionId(reader.long()?);
    let cxid = Xid(reader.int()?);
    let zxid = Zxid(reader.long()?);
    let time = Millis(reader.long()?);
    let number = reader.int()?;
    let mut pathless = false;
    let change = match number {
        opcode::CLOSE_SESSION => {
            pathless = is_pathless(&reader);
            let paths = if pathless { None } else { reader.vector(Reader::text)? };
            let paths: Option<Vec<Text>> = paths.unwrap_or_default().into_iter().collect();
            Change::CloseSession { paths: paths.ok_or(TxnError::Path)? }
        }
        opcode::CREATE_SESSION => Change::CreateSession { timeout_ms: reader.int()? },
        opcode::ERROR => Change::Error(code(&mut reader)?),
        opcode::MULTI => Change::Multi(parts(&mut reader)?),
        // A check alone changes nothing, and no server writes one.
        opcode::CHECK => return Err(TxnError::Kind { number }),
        number => Change::Node(node(number, &mut reader)?),
    };
    let digest = match reader.left() {
        0 => None,
        DIGEST_BYTES => {
            let version = reader.int()?;
            let digest = reader.long()?.cast_unsigned();
            Some(digest).filter(|_| version == DIGEST_VERSION)
        }
        left => return Err(TxnError::Rest { left }),
    };
    let stamp = Stamp { zxid, time };
    Ok(Read { txn: Txn { stamp, session, cxid, change, digest }, pathless })
}

/// Nothing, or nothing but a digest: two paths that are both empty would look the same, but
/// there is no such path.
fn is_pathless(reader: &Reader<'_>) -> bool {
    let left = reader.left();
    left == 0 || left == DIGEST_BYTES && reader.clone().int() == Ok(DIGEST_VERSION)
}

fn code(reader: &mut Reader<'_>) -> Result<Code, TxnError> {
    let number = reader.int()?;
    Code::from_number(number).ok_or(TxnError::Code { number })
}

/// The parts of a multi. The count is not believed: parts are read until they run out.
fn parts(reader: &mut Reader<'_>) -> Result<Vec<SubChange>, TxnError> {
    let count = reader.int()?;
    let mut parts = Vec::new();
    for _ in 0..count {
        let number = reader.int()?;
        let bytes = reader.buffer()?.unwrap_or_default();
        let mut reader = Reader::new(&bytes, bytes.len());
        parts.push(match number {
            opcode::ERROR => SubChange::Error(code(&mut reader)?),
            number => SubChange::Node(node(number, &mut reader)?),
        });
        if reader.left() > 0 {
            return Err(TxnError::Rest { left: reader.left() });
        }
    }
    Ok(parts)
}

fn node(number: i32, reader: &mut Reader<'_>) -> Result<NodeChange, TxnError> {
    let create = match number {
        opcode::CREATE => Some(CreateOp::Create),
        opcode::CREATE2 => Some(CreateOp::Create2),
        opcode::CREATE_CONTAINER => Some(CreateOp::Container),
        opcode::CREATE_TTL => Some(CreateOp::Ttl),
        _ => None,
    };
    if let Some(op) = create {
        return birth(op, reader);
    }
    Ok(match number {
        opcode::CHECK => NodeChange::Check { path: path(reader)?, version: reader.int()? },
        opcode::DELETE | opcode::DELETE_CONTAINER => {
            let container = number == opcode::DELETE_CONTAINER;
            NodeChange::Delete { path: path(reader)?, container }
        }
        opcode::SET_ACL => NodeChange::SetAcl {
            path: path(reader)?,
            acl: take_acl(reader)?,
            version: reader.int()?,
        },
        opcode::SET_DATA | opcode::RECONFIG => NodeChange::SetData {
            path: path(reader)?,
            data: reader.buffer()?,
            version: reader.int()?,
            reconfig: number == opcode::RECONFIG,
        },
        number => return Err(TxnError::Kind { number }),
    })
}

fn birth(op: CreateOp, reader: &mut Reader<'_>) -> Result<NodeChange, TxnError> {
    let path = path(reader)?;
    let data: Data = reader.buffer()?;
    let acl = take_acl(reader)?;
    let ephemeral = match op {
        CreateOp::Create | CreateOp::Create2 => reader.bool()?,
        CreateOp::Container | CreateOp::Ttl => false,
    };
    // Before 3.4 it did not say; then it is simply the next.
    let old = op == CreateOp::Create && reader.left() == 0;
    let parent_cversion = if old { -1 } else { reader.int()? };
    let kind = match op {
        CreateOp::Create | CreateOp::Create2 if ephemeral => NodeKind::Ephemeral,
        CreateOp::Create | CreateOp::Create2 => NodeKind::Persistent,
        CreateOp::Container => NodeKind::Container,
        CreateOp::Ttl => NodeKind::Ttl { ms: reader.long()? },
    };
    Ok(NodeChange::Create { op, path, data, acl, kind, parent_cversion })
}

fn path(reader: &mut Reader<'_>) -> Result<Text, TxnError> {
    reader.text()?.ok_or(TxnError::Path)
}

pub(super) fn put_acl(acl: &AclList, out: &mut Writer<'_>) {
    out.count(acl.lines().len());
    for Acl { perms, id } in acl.lines() {
        out.int(*perms);
        out.text(&id.scheme);
        out.text(&id.id);
    }
}

/// No list at all lets everybody, as with ZooKeeper.
pub(super) fn take_acl(reader: &mut Reader<'_>) -> Result<AclList, WireError> {
    let lines = reader.vector(|reader| {
        let perms = reader.int()?;
        let scheme = reader.text()?.unwrap_or_default();
        let id = reader.text()?.unwrap_or_default();
        Ok(Acl { perms, id: Id { scheme, id } })
    })?;
    Ok(lines.map_or_else(AclList::open, AclList::new))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(txn: &Txn) -> Vec<u8> {
        let mut out = Vec::new();
        encode(txn, &mut Writer::plain(&mut out));
        out
    }

    fn txn(change: Change, digest: Option<u64>) -> Txn {
        let stamp = Stamp { zxid: Zxid(0x1_0000_0002), time: Millis(1000) };
        Txn { stamp, session: SessionId(7), cxid: Xid(3), change, digest }
    }

    fn create(op: CreateOp, kind: NodeKind) -> NodeChange {
        let (path, data, acl) = ("/a".into(), Some([1, 2].into()), AclList::read_only());
        NodeChange::Create { op, path, data, acl, kind, parent_cversion: 5 }
    }

    fn samples() -> Vec<Change> {
        let nodes = [
            create(CreateOp::Create, NodeKind::Persistent),
            create(CreateOp::Create2, NodeKind::Ephemeral),
            create(CreateOp::Container, NodeKind::Container),
            create(CreateOp::Ttl, NodeKind::Ttl { ms: 9 }),
            NodeChange::Delete { path: "/a".into(), container: false },
            NodeChange::Delete { path: "/a".into(), container: true },
            NodeChange::SetAcl { path: "/a".into(), acl: AclList::open(), version: 1 },
            NodeChange::SetData { path: "/a".into(), data: None, version: 1, reconfig: false },
            NodeChange::SetData { path: "/a".into(), data: None, version: 1, reconfig: true },
        ];
        let mut parts: Vec<SubChange> = nodes.iter().cloned().map(SubChange::Node).collect();
        parts.push(SubChange::Node(NodeChange::Check { path: "/".into(), version: 3 }));
        parts.push(SubChange::Error(Code::RuntimeInconsistency));
        let mut all: Vec<Change> = nodes.into_iter().map(Change::Node).collect();
        all.extend([
            Change::Multi(parts),
            Change::Multi(Vec::new()),
            Change::CreateSession { timeout_ms: 4000 },
            Change::CloseSession { paths: Vec::new() },
            Change::CloseSession { paths: alloc::vec!["/a".into(), "/b".into()] },
            // As long as a digest, and not one.
            Change::CloseSession { paths: alloc::vec!["/abc".into()] },
            Change::Error(Code::NoNode),
        ]);
        all
    }

    #[test]
    fn every_kind_of_transaction_comes_back() {
        for change in samples() {
            for digest in [None, Some(0), Some(u64::MAX)] {
                let txn = txn(change.clone(), digest);
                let read = decode(&bytes(&txn)).unwrap();
                assert_eq!(read, Read { txn, pathless: false });
            }
        }
    }

    #[test]
    fn no_prefix_of_a_transaction_panics() {
        for change in samples() {
            let bytes = bytes(&txn(change, Some(1)));
            for end in 0..bytes.len() {
                let _ = decode(&bytes[..end]);
            }
        }
    }

    #[test]
    fn the_bytes_are_those_of_zookeeper() {
        let created =
            bytes(&txn(Change::Node(create(CreateOp::Create, NodeKind::Ephemeral)), None));
        let mut expected = alloc::vec![
            0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 3, 232,
            0, 0, 0, 1, 0, 0, 0, 2, b'/', b'a', 0, 0, 0, 2, 1, 2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0,
            5,
        ];
        expected.extend_from_slice(b"world\0\0\0\x06anyone\x01\0\0\0\x05");
        assert_eq!(created, expected);
    }

    #[test]
    fn old_forms_are_understood() {
        let new = bytes(&txn(Change::Node(create(CreateOp::Create, NodeKind::Persistent)), None));
        let Change::Node(NodeChange::Create { parent_cversion, .. }) =
            decode(&new[..new.len() - 4]).unwrap().txn.change
        else {
            panic!("not a create")
        };
        assert_eq!(parent_cversion, -1);

        let empty = Change::CloseSession { paths: Vec::new() };
        let new = bytes(&txn(empty.clone(), Some(77)));
        let mut old = new.clone();
        old.drain(32..36);
        let read = decode(&old).unwrap();
        assert_eq!(read, Read { txn: txn(empty.clone(), Some(77)), pathless: true });
        let read = decode(&old[..32]).unwrap();
        assert_eq!(read, Read { txn: txn(empty, None), pathless: true });
    }

    #[test]
    fn what_is_unknown_is_named() {
        let mut bytes = bytes(&txn(Change::Error(Code::NoNode), None));
        bytes[35] = 1;
        assert_eq!(decode(&bytes), Err(TxnError::Code { number: -255 }));
        bytes[28..32].copy_from_slice(&99_i32.to_be_bytes());
        assert_eq!(decode(&bytes), Err(TxnError::Kind { number: 99 }));
        bytes[28..32].copy_from_slice(&opcode::CREATE_SESSION.to_be_bytes());
        bytes.push(0);
        assert_eq!(decode(&bytes), Err(TxnError::Rest { left: 1 }));
    }

    #[test]
    fn a_digest_of_another_version_is_not_ours() {
        let mut bytes = bytes(&txn(Change::Error(Code::NoNode), Some(5)));
        bytes[39] = 3;
        assert_eq!(decode(&bytes).unwrap().txn.digest, None);
    }
}
