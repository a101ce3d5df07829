//! What clients ask, as bytes.

use alloc::vec::Vec;

use super::jute::Writer;
use crate::Text;
use crate::acl::AclWish;
use crate::client::Frame;
use crate::ids::Xid;
use crate::request::{ConnectRequest, Create, Op, ReadOp, Request, SetWatches, opcode};

/// Asks a server, instead of a first frame, whether it can write. It answers `rw` or `ro` and a
/// line feed, and closes the connection.
pub const ISRO: &[u8; 4] = b"isro";

/// Appends whatever a client sends.
pub fn encode_frame(frame: &Frame, out: &mut Vec<u8>) {
    match frame {
        Frame::Connect(request) => encode_connect(request, out),
        Frame::Request(xid, request) => encode_request(*xid, request, out),
    }
}

/// Appends the first frame of a connection.
pub fn encode_connect(request: &ConnectRequest, out: &mut Vec<u8>) {
    let mut frame = Writer::frame(out);
    let ConnectRequest { last_zxid_seen, timeout_ms, session, password, read_only } = request;
    frame.int(0);
    frame.long(last_zxid_seen.0);
    frame.int(*timeout_ms);
    frame.long(session.0);
    frame.buffer(password.as_deref());
    if let Some(read_only) = read_only {
        frame.bool(*read_only);
    }
    frame.finish();
}

/// Appends a request.
///
/// What no client would ask, but a server can be asked, is written so that a server takes it for
/// exactly that: a null path, a broken multiRead, a body that cannot be read.
pub fn encode_request(xid: Xid, request: &Request, out: &mut Vec<u8>) {
    let mut frame = Writer::frame(out);
    frame.int(xid.0);
    frame.int(number(request));
    body(&mut frame, request);
    frame.finish();
}

/// The operation's number.
const fn number(request: &Request) -> i32 {
    match request {
        Request::AddWatch { .. } => opcode::ADD_WATCH,
        Request::Auth { .. } => opcode::AUTH,
        Request::CheckWatches { .. } => opcode::CHECK_WATCHES,
        Request::CloseSession => opcode::CLOSE_SESSION,
        Request::Create(Create { op, .. }) | Request::CreateNowhere { op, .. } => op.opcode(),
        Request::Delete { .. } => opcode::DELETE,
        Request::Exists { .. } => opcode::EXISTS,
        Request::GetAcl { .. } => opcode::GET_ACL,
        Request::GetAllChildrenNumber { .. } => opcode::GET_ALL_CHILDREN_NUMBER,
        Request::GetChildren { stat: false, .. } => opcode::GET_CHILDREN,
        Request::GetChildren { stat: true, .. } => opcode::GET_CHILDREN2,
        Request::GetData { .. } => opcode::GET_DATA,
        Request::GetEphemerals { .. } => opcode::GET_EPHEMERALS,
        Request::Multi(_) => opcode::MULTI,
        Request::MultiRead(_) | Request::MultiReadBroken(_) => opcode::MULTI_READ,
        Request::Ping => opcode::PING,
        Request::Reconfig { .. } => opcode::RECONFIG,
        Request::RemoveWatches { .. } => opcode::REMOVE_WATCHES,
        Request::Sasl => opcode::SASL,
        Request::SetAcl { .. } => opcode::SET_ACL,
        Request::SetData { .. } => opcode::SET_DATA,
        // Older servers know only the first, and only persistent watches need the second.
        Request::SetWatches(lists) if is_old(lists) => opcode::SET_WATCHES,
        Request::SetWatches(_) => opcode::SET_WATCHES2,
        Request::Sync { .. } => opcode::SYNC,
        Request::Unknown { opcode } | Request::Unreadable { opcode, .. } => *opcode,
        Request::WhoAmI => opcode::WHO_AM_I,
    }
}

const fn is_old(lists: &SetWatches) -> bool {
    lists.persistent.is_empty() && lists.recursive.is_empty()
}

fn body(frame: &mut Writer<'_>, request: &Request) {
    match request {
        Request::AddWatch { path, mode: number }
        | Request::CheckWatches { path, kind: number }
        | Request::Delete { path, version: number }
        | Request::RemoveWatches { path, kind: number } => path_and(frame, path, *number),
        Request::Auth { scheme, auth } => {
            frame.int(0);
            text(frame, scheme.as_ref());
            frame.buffer(auth.as_deref());
        }
        Request::Create(wish) => create(frame, wish),
        Request::CreateNowhere { op, flags, ttl_ms } => {
            text(frame, None);
            frame.buffer(None);
            frame.int(-1);
            frame.int(*flags);
            if op.opcode() == opcode::CREATE_TTL {
                frame.long(*ttl_ms);
            }
        }
        Request::Exists { path, watch }
        | Request::GetData { path, watch }
        | Request::GetChildren { path, watch, .. } => {
            frame.text(path);
            frame.bool(*watch);
        }
        Request::GetAcl { path } | Request::GetAllChildrenNumber { path } => frame.text(path),
        Request::GetEphemerals { prefix: path } | Request::Sync { path } => {
            text(frame, path.as_ref());
        }
        Request::Multi(ops) => {
            ops.iter().for_each(|op| write_op(frame, op));
            end_of_multi(frame);
        }
        Request::MultiRead(reads) => {
            reads.iter().for_each(|read| read_op(frame, read));
            end_of_multi(frame);
        }
        Request::MultiReadBroken(reads) => broken_reads(frame, reads),
        Request::Reconfig { joining, leaving, members, config_id } => {
            for servers in [joining, leaving, members] {
                text(frame, servers.as_ref());
            }
            frame.long(*config_id);
        }
        Request::Sasl => frame.buffer(None),
        Request::SetAcl { path, acl, version } => {
            frame.text(path);
            acls(frame, acl.as_deref());
            frame.int(*version);
        }
        Request::SetData { path, data, version } => {
            frame.text(path);
            frame.buffer(data.as_deref());
            frame.int(*version);
        }
        Request::SetWatches(lists) => set_watches(frame, lists),
        Request::Unreadable { opcode, whole: true } => null_path(frame, *opcode),
        Request::CloseSession
        | Request::Ping
        | Request::Unknown { .. }
        | Request::Unreadable { whole: false, .. }
        | Request::WhoAmI => {}
    }
}

fn text(frame: &mut Writer<'_>, value: Option<&Text>) {
    frame.buffer(value.map(|text| text.as_bytes()));
}

fn path_and(frame: &mut Writer<'_>, path: &str, number: i32) {
    frame.text(path);
    frame.int(number);
}

fn acls(frame: &mut Writer<'_>, acl: Option<&[AclWish]>) {
    let Some(lines) = acl else { return frame.int(-1) };
    frame.count(lines.len());
    for AclWish { perms, scheme, id } in lines {
        frame.int(*perms);
        text(frame, scheme.as_ref());
        text(frame, id.as_ref());
    }
}

fn create(frame: &mut Writer<'_>, wish: &Create) {
    let Create { op, path, data, acl, flags, ttl_ms } = wish;
    frame.text(path);
    frame.buffer(data.as_deref());
    acls(frame, acl.as_deref());
    frame.int(*flags);
    if op.opcode() == opcode::CREATE_TTL {
        frame.long(*ttl_ms);
    }
}

fn set_watches(frame: &mut Writer<'_>, lists: &SetWatches) {
    let SetWatches { relative_zxid, data, exist, child, persistent, recursive } = lists;
    let all: [&[Text]; 5] = [data, exist, child, persistent, recursive];
    frame.long(relative_zxid.0);
    for paths in if is_old(lists) { &all[..3] } else { &all } {
        frame.count(paths.len());
        paths.iter().for_each(|path| frame.text(path));
    }
}

fn write_op(frame: &mut Writer<'_>, op: &Op) {
    match op {
        Op::Check { path, version } => {
            multi_header(frame, opcode::CHECK);
            path_and(frame, path, *version);
        }
        Op::Create(wish) => {
            multi_header(frame, wish.op.opcode());
            create(frame, wish);
        }
        Op::Delete { path, version } => {
            multi_header(frame, opcode::DELETE);
            path_and(frame, path, *version);
        }
        Op::SetData { path, data, version } => {
            multi_header(frame, opcode::SET_DATA);
            frame.text(path);
            frame.buffer(data.as_deref());
            frame.int(*version);
        }
    }
}

fn read_op(frame: &mut Writer<'_>, op: &ReadOp) {
    let (kind, path) = match op {
        ReadOp::GetChildren { path } => (opcode::GET_CHILDREN, path),
        ReadOp::GetData { path } => (opcode::GET_DATA, path),
    };
    multi_header(frame, kind);
    frame.text(path);
    frame.bool(false);
}

/// Reads, and then one of a null path.
fn broken_reads(frame: &mut Writer<'_>, reads: &[ReadOp]) {
    reads.iter().for_each(|read| read_op(frame, read));
    multi_header(frame, opcode::GET_DATA);
    text(frame, None);
    frame.bool(false);
    end_of_multi(frame);
}

fn multi_header(frame: &mut Writer<'_>, kind: i32) {
    frame.int(kind);
    frame.bool(false);
    frame.int(-1);
}

fn end_of_multi(frame: &mut Writer<'_>) {
    frame.int(opcode::ERROR);
    frame.bool(true);
    frame.int(-1);
}

/// A record that is whole but for a null path. Zeros do for all that may follow it.
fn null_path(frame: &mut Writer<'_>, opcode: i32) {
    match opcode {
        opcode::MULTI => multi_header(frame, opcode::DELETE),
        opcode::SET_WATCHES | opcode::SET_WATCHES2 => frame.long(0),
        _ => {}
    }
    text(frame, None);
    for _ in 0..4 {
        frame.int(0);
    }
}
