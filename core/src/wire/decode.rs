//! What clients send.

use alloc::vec::Vec;

use super::jute::{Reader, WireError};
use crate::Text;
use crate::acl::AclWish;
use crate::ids::{SessionId, Xid, Zxid};
use crate::request::{ConnectRequest, Create, CreateOp, Op, ReadOp, Request, SetWatches, opcode};

/// Reads the first frame of a connection.
///
/// # Errors
/// If it is none; then the connection ends.
pub fn decode_connect(payload: &[u8]) -> Result<ConnectRequest, WireError> {
    let mut reader = Reader::new(payload, payload.len());
    let _protocol_version = reader.int()?;
    Ok(ConnectRequest {
        last_zxid_seen: Zxid(reader.long()?),
        timeout_ms: reader.int()?,
        session: SessionId(reader.long()?),
        password: reader.buffer()?,
        // Clients before 3.4 say nothing of it.
        read_only: if reader.left() > 0 { Some(reader.bool()?) } else { None },
    })
}

/// Reads a request. A body that cannot be read is a request too, [`Request::Unreadable`].
///
/// # Errors
/// If there is no header, or an auth packet cannot be read; then the connection ends.
pub fn decode_request(payload: &[u8], max_buffer: usize) -> Result<(Xid, Request), WireError> {
    // As ZooKeeper: the limit once more on top, for what surrounds the data.
    let longest = max_buffer.saturating_add(max_buffer.max(1024));
    let mut reader = Reader::new(payload, longest);
    let xid = Xid(reader.int()?);
    let opcode = reader.int()?;
    let request = match body(&mut reader, opcode) {
        Ok(request) => request,
        Err(Unread::Wire(error)) if matches!(opcode, opcode::AUTH | opcode::SASL) => {
            return Err(error);
        }
        Err(Unread::Wire(_) | Unread::Nonsense) => Request::Unreadable { opcode, whole: false },
        Err(Unread::NullPath) => Request::Unreadable { opcode, whole: true },
    };
    Ok((xid, request))
}

/// Why a body is not a request.
enum Unread {
    /// It is no record.
    Wire(WireError),
    /// It is a record that no client may send.
    Nonsense,
    /// A path is null.
    NullPath,
}

impl From<WireError> for Unread {
    fn from(error: WireError) -> Self {
        Self::Wire(error)
    }
}

fn body(reader: &mut Reader<'_>, opcode: i32) -> Result<Request, Unread> {
    Ok(match opcode {
        opcode::CREATE => create(reader, CreateOp::Create)?,
        opcode::CREATE2 => create(reader, CreateOp::Create2)?,
        opcode::CREATE_CONTAINER => create(reader, CreateOp::Container)?,
        opcode::CREATE_TTL => create(reader, CreateOp::Ttl)?,
        opcode::DELETE => {
            let (path, version) = (reader.text()?, reader.int()?);
            Request::Delete { path: given(path)?, version }
        }
        opcode::EXISTS => {
            let (path, watch) = (reader.text()?, reader.bool()?);
            Request::Exists { path: given(path)?, watch }
        }
        opcode::GET_DATA => {
            let (path, watch) = (reader.text()?, reader.bool()?);
            Request::GetData { path: given(path)?, watch }
        }
        opcode::SET_DATA => {
            let (path, data, version) = (reader.text()?, reader.buffer()?, reader.int()?);
            Request::SetData { path: given(path)?, data, version }
        }
        opcode::GET_ACL => Request::GetAcl { path: given(reader.text()?)? },
        opcode::SET_ACL => {
            let (path, acl, version) = (reader.text()?, reader.vector(acl)?, reader.int()?);
            Request::SetAcl { path: given(path)?, acl, version }
        }
        opcode::GET_CHILDREN | opcode::GET_CHILDREN2 => {
            let (path, watch) = (reader.text()?, reader.bool()?);
            let stat = opcode == opcode::GET_CHILDREN2;
            Request::GetChildren { path: given(path)?, watch, stat }
        }
        opcode::SYNC => Request::Sync { path: reader.text()? },
        opcode::PING => Request::Ping,
        opcode::MULTI => match ops(reader)? {
            Ops::Writes(ops) => Request::Multi(ops),
            Ops::Reads(_) | Ops::ReadsBroken(_) => return Err(Unread::Nonsense),
        },
        opcode::MULTI_READ => match ops(reader)? {
            Ops::Reads(ops) => Request::MultiRead(ops),
            Ops::ReadsBroken(ops) => Request::MultiReadBroken(ops),
            Ops::Writes(ops) if ops.is_empty() => Request::MultiRead(Vec::new()),
            Ops::Writes(_) => Request::MultiReadBroken(Vec::new()),
        },
        opcode::RECONFIG => Request::Reconfig {
            joining: reader.text()?,
            leaving: reader.text()?,
            members: reader.text()?,
            config_id: reader.long()?,
        },
        opcode::CHECK_WATCHES => {
            let (path, kind) = (reader.text()?, reader.int()?);
            Request::CheckWatches { path: given(path)?, kind }
        }
        opcode::REMOVE_WATCHES => {
            let (path, kind) = (reader.text()?, reader.int()?);
            Request::RemoveWatches { path: given(path)?, kind }
        }
        opcode::AUTH => {
            let _type = reader.int()?;
            Request::Auth { scheme: reader.text()?, auth: reader.buffer()? }
        }
        opcode::SASL => {
            reader.buffer()?;
            Request::Sasl
        }
        opcode::SET_WATCHES | opcode::SET_WATCHES2 => set_watches(reader, opcode)?,
        opcode::GET_EPHEMERALS => Request::GetEphemerals { prefix: reader.text()? },
        opcode::GET_ALL_CHILDREN_NUMBER => {
            Request::GetAllChildrenNumber { path: given(reader.text()?)? }
        }
        opcode::ADD_WATCH => {
            let (path, mode) = (reader.text()?, reader.int()?);
            Request::AddWatch { path: given(path)?, mode }
        }
        opcode::WHO_AM_I => Request::WhoAmI,
        opcode::CLOSE_SESSION => Request::CloseSession,
        // `check` lives in multis only. Opening sessions and removing containers is the
        // server's own business: the Java server takes both from anyone, which helps no client.
        _ => Request::Unknown { opcode },
    })
}

fn given(path: Option<Text>) -> Result<Text, Unread> {
    path.ok_or(Unread::NullPath)
}

fn acl(reader: &mut Reader<'_>) -> Result<AclWish, WireError> {
    Ok(AclWish { perms: reader.int()?, scheme: reader.text()?, id: reader.text()? })
}

fn create(reader: &mut Reader<'_>, op: CreateOp) -> Result<Request, WireError> {
    let (path, data, acl) = (reader.text()?, reader.buffer()?, reader.vector(acl)?);
    let flags = reader.int()?;
    let ttl_ms = if op == CreateOp::Ttl { reader.long()? } else { -1 };
    Ok(match path {
        Some(path) => Request::Create(Create { op, path, data, acl, flags, ttl_ms }),
        None => Request::CreateNowhere { op, flags, ttl_ms },
    })
}

fn set_watches(reader: &mut Reader<'_>, opcode: i32) -> Result<Request, Unread> {
    let relative_zxid = Zxid(reader.long()?);
    let mut list = || -> Result<Vec<Text>, Unread> {
        let paths = reader.vector(Reader::text)?.ok_or(Unread::NullPath)?;
        paths.into_iter().map(given).collect()
    };
    let (data, exist, child) = (list()?, list()?, list()?);
    let (persistent, recursive) = match opcode {
        opcode::SET_WATCHES2 => (list()?, list()?),
        _ => (Vec::new(), Vec::new()),
    };
    let lists = SetWatches { relative_zxid, data, exist, child, persistent, recursive };
    Ok(Request::SetWatches(lists))
}

enum Ops {
    Reads(Vec<ReadOp>),
    /// A null path comes after these.
    ReadsBroken(Vec<ReadOp>),
    Writes(Vec<Op>),
}

/// The operations of a multi or multiRead: all of one kind.
fn ops(reader: &mut Reader<'_>) -> Result<Ops, Unread> {
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    let mut broken = false;
    loop {
        let (kind, done, _err) = (reader.int()?, reader.bool()?, reader.int()?);
        if done {
            break;
        }
        match kind {
            opcode::CREATE => writes.push(multi_create(reader, CreateOp::Create)?),
            opcode::CREATE2 => writes.push(multi_create(reader, CreateOp::Create2)?),
            opcode::CREATE_CONTAINER => writes.push(multi_create(reader, CreateOp::Container)?),
            opcode::CREATE_TTL => writes.push(multi_create(reader, CreateOp::Ttl)?),
            opcode::DELETE => {
                let (path, version) = (reader.text()?, reader.int()?);
                writes.push(Op::Delete { path: given(path)?, version });
            }
            opcode::SET_DATA => {
                let (path, data, version) = (reader.text()?, reader.buffer()?, reader.int()?);
                writes.push(Op::SetData { path: given(path)?, data, version });
            }
            opcode::CHECK => {
                let (path, version) = (reader.text()?, reader.int()?);
                writes.push(Op::Check { path: given(path)?, version });
            }
            opcode::GET_CHILDREN => {
                let (path, _watch) = (reader.text()?, reader.bool()?);
                broken |= path.is_none();
                reads.push(path.map(|path| ReadOp::GetChildren { path }));
            }
            opcode::GET_DATA => {
                let (path, _watch) = (reader.text()?, reader.bool()?);
                broken |= path.is_none();
                reads.push(path.map(|path| ReadOp::GetData { path }));
            }
            _ => return Err(Unread::Nonsense),
        }
    }
    match (reads.is_empty(), writes.is_empty()) {
        (true, _) => Ok(Ops::Writes(writes)),
        // What comes after a null path is not looked at.
        (false, true) if broken => {
            Ok(Ops::ReadsBroken(reads.into_iter().map_while(|op| op).collect()))
        }
        (false, true) => Ok(Ops::Reads(reads.into_iter().flatten().collect())),
        (false, false) => Err(Unread::Nonsense),
    }
}

/// From 3.9 on a multi refuses as a whole what a single create refuses by code: flags that do
/// not exist or do not fit the operation, and a null ACL. A TTL operation is not looked at so
/// closely there.
fn multi_create(reader: &mut Reader<'_>, op: CreateOp) -> Result<Op, Unread> {
    let Request::Create(wish) = create(reader, op)? else { return Err(Unread::NullPath) };
    let fits = op == CreateOp::Ttl || (0..=4).contains(&wish.flags) && wish.acl.is_some();
    if fits { Ok(Op::Create(wish)) } else { Err(Unread::Nonsense) }
}
