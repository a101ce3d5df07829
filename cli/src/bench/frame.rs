//! Requests as a client sends them: the few that a benchmark asks.

use zoolab_core::Xid;
use zoolab_core::request::{Create, Op, Request, opcode};
use zoolab_core::wire::jute::Writer;

/// Appends a request as a frame.
///
/// # Panics
/// If it is none of those that are asked here.
#[expect(clippy::wildcard_enum_match_arm, reason = "a benchmark asks few of all requests")]
pub(crate) fn frame(xid: Xid, request: &Request, out: &mut Vec<u8>) {
    let mut frame = Writer::frame(out);
    frame.int(xid.0);
    match request {
        Request::CloseSession => frame.int(opcode::CLOSE_SESSION),
        Request::Create(wish) => {
            frame.int(opcode::CREATE);
            create(&mut frame, wish);
        }
        Request::Delete { path, version } => {
            frame.int(opcode::DELETE);
            frame.text(path);
            frame.int(*version);
        }
        Request::Exists { path, watch } => {
            frame.int(opcode::EXISTS);
            frame.text(path);
            frame.bool(*watch);
        }
        Request::GetChildren { path, watch, stat } => {
            frame.int(if *stat { opcode::GET_CHILDREN2 } else { opcode::GET_CHILDREN });
            frame.text(path);
            frame.bool(*watch);
        }
        Request::GetData { path, watch } => {
            frame.int(opcode::GET_DATA);
            frame.text(path);
            frame.bool(*watch);
        }
        Request::Multi(ops) => {
            frame.int(opcode::MULTI);
            for op in ops {
                part(&mut frame, op);
            }
            frame.int(-1);
            frame.bool(true);
            frame.int(-1);
        }
        Request::Ping => frame.int(opcode::PING),
        Request::SetData { path, data, version } => {
            frame.int(opcode::SET_DATA);
            frame.text(path);
            frame.buffer(data.as_deref());
            frame.int(*version);
        }
        other => unreachable!("not asked by a benchmark: {other:?}"),
    }
    frame.finish();
}

fn create(frame: &mut Writer<'_>, wish: &Create) {
    let Create { op: _, path, data, acl, flags, ttl_ms: _ } = wish;
    frame.text(path);
    frame.buffer(data.as_deref());
    let acl = acl.as_deref().unwrap_or_default();
    frame.count(acl.len());
    for line in acl {
        frame.int(line.perms);
        frame.buffer(line.scheme.as_ref().map(|scheme| scheme.as_bytes()));
        frame.buffer(line.id.as_ref().map(|id| id.as_bytes()));
    }
    frame.int(*flags);
}

fn part(frame: &mut Writer<'_>, op: &Op) {
    let kind = match op {
        Op::Check { .. } => opcode::CHECK,
        Op::Create(_) => opcode::CREATE,
        Op::Delete { .. } => opcode::DELETE,
        Op::SetData { .. } => opcode::SET_DATA,
    };
    frame.int(kind);
    frame.bool(false);
    frame.int(-1);
    match op {
        Op::Check { path, version } | Op::Delete { path, version } => {
            frame.text(path);
            frame.int(*version);
        }
        Op::Create(wish) => create(frame, wish),
        Op::SetData { path, data, version } => {
            frame.text(path);
            frame.buffer(data.as_deref());
            frame.int(*version);
        }
    }
}
