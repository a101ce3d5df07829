//! Requests as clients put them on the wire: the other half of what a server reads.

use zoolab_core::acl::AclWish;
use zoolab_core::request::{ConnectRequest, Create, CreateOp, Op, ReadOp, SetWatches, opcode};
use zoolab_core::wire::jute::Writer;
use zoolab_core::{Request, Text, Xid};

/// The payload of a connection's first frame.
pub(crate) fn connect(request: &ConnectRequest) -> Vec<u8> {
    let ConnectRequest { last_zxid_seen, timeout_ms, session, password, read_only } = request;
    payload(|frame| {
        frame.int(0);
        frame.long(last_zxid_seen.0);
        frame.int(*timeout_ms);
        frame.long(session.0);
        frame.buffer(password.as_deref());
        if let Some(read_only) = read_only {
            frame.bool(*read_only);
        }
    })
}

/// The payload of a request. One that cannot be read is made so that it cannot.
pub(crate) fn request(xid: Xid, request: &Request) -> Vec<u8> {
    payload(|frame| {
        frame.int(xid.0);
        frame.int(number(request));
        body(frame, request);
    })
}

fn payload(write: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut frame = Writer::frame(&mut bytes);
    write(&mut frame);
    frame.finish();
    bytes.split_off(4)
}

fn number(request: &Request) -> i32 {
    match request {
        Request::AddWatch { .. } => opcode::ADD_WATCH,
        Request::Auth { .. } => opcode::AUTH,
        Request::CheckWatches { .. } => opcode::CHECK_WATCHES,
        Request::CloseSession => opcode::CLOSE_SESSION,
        Request::Create(wish) => wish.op.opcode(),
        Request::CreateNowhere { op, .. } => op.opcode(),
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
        Request::SetWatches(lists) if is_old(lists) => opcode::SET_WATCHES,
        Request::SetWatches(_) => opcode::SET_WATCHES2,
        Request::Sync { .. } => opcode::SYNC,
        Request::Unknown { opcode } | Request::Unreadable { opcode, .. } => *opcode,
        Request::WhoAmI => opcode::WHO_AM_I,
    }
}

/// Clients before 3.6 know no persistent watches.
const fn is_old(lists: &SetWatches) -> bool {
    lists.persistent.is_empty() && lists.recursive.is_empty()
}

fn body(frame: &mut Writer<'_>, request: &Request) {
    match request {
        Request::Auth { scheme, auth } => {
            frame.int(0);
            text(frame, scheme.as_ref());
            frame.buffer(auth.as_deref());
        }
        Request::Create(wish) => create(frame, wish),
        Request::Delete { path, version }
        | Request::AddWatch { path, mode: version }
        | Request::CheckWatches { path, kind: version }
        | Request::RemoveWatches { path, kind: version } => {
            frame.text(path);
            frame.int(*version);
        }
        Request::Exists { path, watch }
        | Request::GetChildren { path, watch, stat: _ }
        | Request::GetData { path, watch } => {
            frame.text(path);
            frame.bool(*watch);
        }
        Request::GetAcl { path } | Request::GetAllChildrenNumber { path } => frame.text(path),
        Request::GetEphemerals { prefix: path } | Request::Sync { path } => {
            text(frame, path.as_ref());
        }
        Request::Multi(ops) => multi(frame, ops.iter(), op),
        Request::MultiRead(ops) => multi(frame, ops.iter(), read_op),
        Request::MultiReadBroken(ops) if ops.is_empty() => {
            let delete = Op::Delete { path: "/".into(), version: -1 };
            multi(frame, [&delete].into_iter(), op);
        }
        Request::MultiReadBroken(ops) => {
            ops.iter().for_each(|op| read_op(frame, op));
            header(frame, opcode::GET_DATA, false);
            frame.int(-1);
            frame.bool(false);
            header(frame, opcode::ERROR, true);
        }
        Request::CreateNowhere { op, flags, ttl_ms } => {
            // Null path, null data, null ACL.
            [-1, -1, -1, *flags].into_iter().for_each(|int| frame.int(int));
            if *op == CreateOp::Ttl {
                frame.long(*ttl_ms);
            }
        }
        Request::Reconfig { joining, leaving, members, config_id } => {
            for servers in [joining, leaving, members] {
                text(frame, servers.as_ref());
            }
            frame.long(*config_id);
        }
        Request::Sasl => frame.buffer(Some(b"token")),
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
        Request::Unreadable { opcode: _, whole: false }
        | Request::CloseSession
        | Request::Ping
        | Request::Unknown { .. }
        | Request::WhoAmI => {}
    }
}

/// A whole record but for the path in it.
fn null_path(frame: &mut Writer<'_>, kind: i32) {
    match kind {
        opcode::MULTI | opcode::MULTI_READ => {
            header(frame, opcode::DELETE, false);
            frame.int(-1);
            frame.int(-1);
        }
        opcode::SET_WATCHES | opcode::SET_WATCHES2 => {
            frame.long(0);
            frame.int(-1);
        }
        // Null path, null data, null ACL, no flags, or whatever it is that follows.
        _ => [-1, -1, -1, 0, 0, 0].into_iter().for_each(|int| frame.int(int)),
    }
}

fn text(frame: &mut Writer<'_>, value: Option<&Text>) {
    frame.buffer(value.map(|text| text.as_bytes()));
}

fn acls(frame: &mut Writer<'_>, acl: Option<&[AclWish]>) {
    let Some(acl) = acl else { return frame.int(-1) };
    frame.count(acl.len());
    for AclWish { perms, scheme, id } in acl {
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
    if *op == CreateOp::Ttl {
        frame.long(*ttl_ms);
    }
}

fn set_watches(frame: &mut Writer<'_>, lists: &SetWatches) {
    let SetWatches { relative_zxid, data, exist, child, persistent, recursive } = lists;
    frame.long(relative_zxid.0);
    let all = [data, exist, child, persistent, recursive];
    for paths in &all[..if is_old(lists) { 3 } else { 5 }] {
        frame.count(paths.len());
        paths.iter().for_each(|path| frame.text(path));
    }
}

fn multi<'a, T: 'a>(
    frame: &mut Writer<'_>,
    ops: impl Iterator<Item = &'a T>,
    write: fn(&mut Writer<'_>, &T),
) {
    for op in ops {
        write(frame, op);
    }
    header(frame, opcode::ERROR, true);
}

fn header(frame: &mut Writer<'_>, kind: i32, done: bool) {
    frame.int(kind);
    frame.bool(done);
    frame.int(-1);
}

fn op(frame: &mut Writer<'_>, op: &Op) {
    match op {
        Op::Check { path, version } => {
            header(frame, opcode::CHECK, false);
            frame.text(path);
            frame.int(*version);
        }
        Op::Create(wish) => {
            header(frame, wish.op.opcode(), false);
            create(frame, wish);
        }
        Op::Delete { path, version } => {
            header(frame, opcode::DELETE, false);
            frame.text(path);
            frame.int(*version);
        }
        Op::SetData { path, data, version } => {
            header(frame, opcode::SET_DATA, false);
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
    header(frame, kind, false);
    frame.text(path);
    frame.bool(true);
}
