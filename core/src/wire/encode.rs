//! What clients are told.

use alloc::vec::Vec;

use super::jute::Writer;
use crate::acl::AclList;
use crate::ids::{Xid, Zxid};
use crate::request::{Body, ConnectResponse, Event, OpResult, Reply, opcode};
use crate::tree::Stat;

/// Appends the answer to a first frame.
pub fn encode_connected(response: &ConnectResponse, out: &mut Vec<u8>) {
    let mut frame = Writer::frame(out);
    let ConnectResponse { timeout_ms, session, password, read_only } = response;
    frame.int(0);
    frame.int(*timeout_ms);
    frame.long(session.0);
    frame.buffer(Some(password));
    if let Some(read_only) = read_only {
        frame.bool(*read_only);
    }
    frame.finish();
}

/// Appends a watch event.
pub fn encode_event(event: &Event, out: &mut Vec<u8>) {
    /// The only state a server ever sends: SyncConnected.
    const STATE: i32 = 3;
    let mut frame = Writer::frame(out);
    let Event { kind, path, zxid } = event;
    header(&mut frame, Xid::EVENT, *zxid, 0);
    frame.int(kind.number());
    frame.int(STATE);
    frame.text(path);
    frame.finish();
}

/// Appends a reply.
pub fn encode_reply(reply: &Reply, out: &mut Vec<u8>) {
    let mut frame = Writer::frame(out);
    let Reply { xid, zxid, err, body } = reply;
    header(&mut frame, *xid, *zxid, err.map_or(0, |code| code.number()));
    match body {
        Body::Acl { acl, stat } => {
            acls(&mut frame, acl);
            put_stat(&mut frame, stat);
        }
        Body::Children { names, stat } => {
            texts(&mut frame, names);
            if let Some(stat) = stat {
                put_stat(&mut frame, stat);
            }
        }
        Body::Count(count) => frame.int(*count),
        Body::Created { path, stat } => {
            frame.text(path);
            if let Some(stat) = stat {
                put_stat(&mut frame, stat);
            }
        }
        Body::Data { data, stat } => {
            frame.buffer(data.as_deref());
            put_stat(&mut frame, stat);
        }
        Body::Multi(results) => multi(&mut frame, results),
        Body::None => {}
        Body::Paths(paths) => texts(&mut frame, paths),
        Body::Stat(stat) => put_stat(&mut frame, stat),
        Body::Synced(path) => frame.buffer(path.as_ref().map(|path| path.as_bytes())),
        Body::Token => frame.buffer(None),
        Body::Users(users) => {
            frame.count(users.len());
            for (scheme, user) in users {
                frame.text(scheme);
                frame.text(user);
            }
        }
    }
    frame.finish();
}

fn header(frame: &mut Writer<'_>, xid: Xid, zxid: Zxid, err: i32) {
    frame.int(xid.0);
    frame.long(zxid.0);
    frame.int(err);
}

fn texts<T: AsRef<str>>(frame: &mut Writer<'_>, texts: &[T]) {
    frame.count(texts.len());
    for text in texts {
        frame.text(text.as_ref());
    }
}

fn acls(frame: &mut Writer<'_>, acl: &AclList) {
    frame.count(acl.lines().len());
    for line in acl.lines() {
        frame.int(line.perms);
        frame.text(&line.id.scheme);
        frame.text(&line.id.id);
    }
}

fn put_stat(frame: &mut Writer<'_>, stat: &Stat) {
    let Stat {
        czxid,
        mzxid,
        ctime,
        mtime,
        version,
        cversion,
        aversion,
        ephemeral_owner,
        data_length,
        num_children,
        pzxid,
    } = stat;
    frame.long(czxid.0);
    frame.long(mzxid.0);
    frame.long(ctime.0);
    frame.long(mtime.0);
    frame.int(*version);
    frame.int(*cversion);
    frame.int(*aversion);
    frame.long(ephemeral_owner.0);
    frame.int(*data_length);
    frame.int(*num_children);
    frame.long(pzxid.0);
}

fn multi(frame: &mut Writer<'_>, results: &[OpResult]) {
    for result in results {
        match result {
            OpResult::Check => multi_header(frame, opcode::CHECK, 0),
            OpResult::Children(names) => {
                multi_header(frame, opcode::GET_CHILDREN, 0);
                texts(frame, names);
            }
            OpResult::Created { path, stat: None } => {
                multi_header(frame, opcode::CREATE, 0);
                frame.text(path);
            }
            // Containers and TTL nodes are answered as create2 as well.
            OpResult::Created { path, stat: Some(stat) } => {
                multi_header(frame, opcode::CREATE2, 0);
                frame.text(path);
                put_stat(frame, stat);
            }
            OpResult::Data { data, stat } => {
                multi_header(frame, opcode::GET_DATA, 0);
                frame.buffer(data.as_deref());
                put_stat(frame, stat);
            }
            OpResult::Deleted => multi_header(frame, opcode::DELETE, 0),
            OpResult::Error(code) => {
                let number = code.map_or(0, |code| code.number());
                multi_header(frame, opcode::ERROR, number);
                frame.int(number);
            }
            OpResult::Set(stat) => {
                multi_header(frame, opcode::SET_DATA, 0);
                put_stat(frame, stat);
            }
        }
    }
    frame.int(opcode::ERROR);
    frame.bool(true);
    frame.int(-1);
}

fn multi_header(frame: &mut Writer<'_>, kind: i32, err: i32) {
    frame.int(kind);
    frame.bool(false);
    frame.int(err);
}
