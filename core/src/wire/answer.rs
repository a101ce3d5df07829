//! What clients are told, out of bytes.

use alloc::vec::Vec;

use compact_str::CompactString;

use super::jute::{Reader, WireError};
use crate::Text;
use crate::acl::{Acl, AclList, Id};
use crate::client::{Answer, Shape};
use crate::code::Code;
use crate::ids::{Millis, SessionId, Xid, Zxid};
use crate::request::{Body, ConnectResponse, Event, EventKind, OpResult, Reply, opcode};
use crate::tree::Stat;

/// Whether a server that was asked [`ISRO`](super::ISRO) said that it can write.
#[must_use]
pub fn is_read_write(answer: &[u8]) -> bool {
    answer == b"rw\n"
}

/// Reads the answer to the first frame of a connection.
///
/// # Errors
/// If it is none; then the connection ends.
pub fn decode_connected(payload: &[u8]) -> Result<ConnectResponse, WireError> {
    let mut reader = Reader::new(payload, payload.len());
    let _protocol_version = reader.int()?;
    let (timeout_ms, session) = (reader.int()?, SessionId(reader.long()?));
    let password = reader.buffer()?.unwrap_or_default();
    let password = password.as_ref().try_into().map_err(|_| WireError::Length {
        at: reader.at() - password.len() - 4,
        length: password.len() as i32,
        most: 16,
    })?;
    // Servers before 3.4 say nothing of it.
    let read_only = if reader.left() > 0 { Some(reader.bool()?) } else { None };
    Ok(ConnectResponse { timeout_ms, session, password, read_only })
}

/// Reads an event or a reply. What body a reply must have follows from what was asked, and is
/// not in the bytes; a refusal has none.
///
/// # Errors
/// If it is neither; then the connection ends.
pub fn decode_answer(payload: &[u8], shape: Shape) -> Result<Answer, WireError> {
    let mut reader = Reader::new(payload, payload.len());
    let (xid, zxid) = (Xid(reader.int()?), Zxid(reader.long()?));
    let number = reader.int()?;
    if xid == Xid::EVENT {
        return Ok(Answer::Event(event(&mut reader, zxid)?));
    }
    if number != 0 {
        return Ok(match Code::from_number(number) {
            Some(code) => Answer::Reply(Reply { xid, zxid, err: Some(code), body: Body::None }),
            None => Answer::Unnamed { xid, zxid, number },
        });
    }
    let body = match xid {
        // No request of the application's is answered by these.
        Xid::PING | Xid::AUTH => Body::None,
        _ => body(&mut reader, shape)?,
    };
    Ok(Answer::Reply(Reply { xid, zxid, err: None, body }))
}

fn event(reader: &mut Reader<'_>, zxid: Zxid) -> Result<Event, WireError> {
    let (number, _state) = (reader.int()?, reader.int()?);
    let kinds = [
        EventKind::Created,
        EventKind::Deleted,
        EventKind::DataChanged,
        EventKind::ChildrenChanged,
    ];
    let kind = kinds.into_iter().find(|kind| kind.number() == number);
    let expected = "the number of an event, 1 to 4";
    let kind = kind.ok_or(WireError::Number { at: reader.at() - 4, got: number, expected })?;
    Ok(Event { kind, path: text(reader)?, zxid })
}

fn body(reader: &mut Reader<'_>, shape: Shape) -> Result<Body, WireError> {
    Ok(match shape {
        Shape::Acl => Body::Acl { acl: acl(reader)?, stat: stat(reader)? },
        Shape::Children { stat: with } => {
            Body::Children { names: names(reader)?, stat: stat_if(reader, with)? }
        }
        Shape::Count => Body::Count(reader.int()?),
        Shape::Created { stat: with } => {
            Body::Created { path: text(reader)?, stat: stat_if(reader, with)? }
        }
        Shape::Data => Body::Data { data: reader.buffer()?, stat: stat(reader)? },
        Shape::Multi => Body::Multi(multi(reader)?),
        Shape::None => Body::None,
        Shape::Paths => Body::Paths(reader.vector(text)?.unwrap_or_default()),
        Shape::Stat => Body::Stat(stat(reader)?),
        Shape::Synced => Body::Synced(reader.text()?),
        Shape::Token => {
            reader.buffer()?;
            Body::Token
        }
        Shape::Users => {
            let users = reader.vector(|reader| Ok((text(reader)?, text(reader)?)))?;
            Body::Users(users.unwrap_or_default())
        }
    })
}

fn text(reader: &mut Reader<'_>) -> Result<Text, WireError> {
    reader.text()?.ok_or(WireError::Null { at: reader.at() })
}

fn names(reader: &mut Reader<'_>) -> Result<Vec<CompactString>, WireError> {
    let names = reader.vector(|reader| Ok(CompactString::from(&*text(reader)?)))?;
    Ok(names.unwrap_or_default())
}

fn acl(reader: &mut Reader<'_>) -> Result<AclList, WireError> {
    let lines = reader.vector(|reader| {
        let perms = reader.int()?;
        Ok(Acl { perms, id: Id { scheme: text(reader)?, id: text(reader)? } })
    })?;
    Ok(AclList::new(lines.unwrap_or_default()))
}

fn stat_if(reader: &mut Reader<'_>, with: bool) -> Result<Option<Stat>, WireError> {
    if with { stat(reader).map(Some) } else { Ok(None) }
}

fn stat(reader: &mut Reader<'_>) -> Result<Stat, WireError> {
    Ok(Stat {
        czxid: Zxid(reader.long()?),
        mzxid: Zxid(reader.long()?),
        ctime: Millis(reader.long()?),
        mtime: Millis(reader.long()?),
        version: reader.int()?,
        cversion: reader.int()?,
        aversion: reader.int()?,
        ephemeral_owner: SessionId(reader.long()?),
        data_length: reader.int()?,
        num_children: reader.int()?,
        pzxid: Zxid(reader.long()?),
    })
}

fn multi(reader: &mut Reader<'_>) -> Result<Vec<OpResult>, WireError> {
    let mut results = Vec::new();
    loop {
        let (kind, done, _err) = (reader.int()?, reader.bool()?, reader.int()?);
        if done {
            return Ok(results);
        }
        results.push(match kind {
            opcode::CHECK => OpResult::Check,
            opcode::CREATE => OpResult::Created { path: text(reader)?, stat: None },
            opcode::CREATE2 => OpResult::Created { path: text(reader)?, stat: Some(stat(reader)?) },
            opcode::DELETE => OpResult::Deleted,
            opcode::ERROR => OpResult::Error(code(reader)?),
            opcode::GET_CHILDREN => OpResult::Children(names(reader)?),
            opcode::GET_DATA => OpResult::Data { data: reader.buffer()?, stat: stat(reader)? },
            opcode::SET_DATA => OpResult::Set(stat(reader)?),
            got => {
                let expected = "the number of a result within a multi";
                return Err(WireError::Number { at: reader.at(), got, expected });
            }
        });
    }
}

/// The code of one result; there, zero is nothing unusual.
fn code(reader: &mut Reader<'_>) -> Result<Option<Code>, WireError> {
    let got = reader.int()?;
    if got == 0 {
        return Ok(None);
    }
    let expected = "the number of a code";
    let unknown = WireError::Number { at: reader.at(), got, expected };
    Code::from_number(got).map(Some).ok_or(unknown)
}
