//! Creates within a multi: what the operation and the flag come to.

use zoolab_core::acl::AclWish;
use zoolab_core::request::{Body, Create, CreateOp, Op, OpResult, opcode};
use zoolab_core::tree::Owner;
use zoolab_core::wire::decode_request;
use zoolab_core::wire::jute::Writer;
use zoolab_core::{Code, ConnId, Input, Output, Request, SessionId, Xid};

use crate::Stage;

/// Creates `/n` in a multi of its own.
fn create(op: CreateOp, flags: i32) -> (OpResult, Option<Owner>) {
    let mut stage = Stage::new();
    stage.connect(1, SessionId::NONE, 10_000);
    stage.disk();
    let open = AclWish { perms: 31, scheme: Some("world".into()), id: Some("anyone".into()) };
    let (path, data, acl) = ("/n".into(), None, Some(vec![open]));
    let wish = Create { op, path, data, acl, flags, ttl_ms: -1 };
    let request = Request::Multi(vec![Op::Create(wish)]);
    stage.step(Input::Request { conn: ConnId(1), xid: Xid(1), request });
    let out = stage.disk();
    let Some(Output::Reply { reply, .. }) = out.last() else { panic!("{out:?}") };
    let Body::Multi(results) = &reply.body else { panic!("{reply:?}") };
    let tree = stage.server.tree();
    (results[0].clone(), tree.get("/n").map(|node| tree.owner(node.stat())))
}

#[test]
fn the_operation_holds_unless_the_flag_says_container_or_ttl() {
    let cases = [
        (CreateOp::Create, 0, Owner::Nobody, false),
        (CreateOp::Create, 4, Owner::Container, true),
        (CreateOp::Create2, 0, Owner::Nobody, true),
        (CreateOp::Container, 0, Owner::Container, true),
        (CreateOp::Container, 1, Owner::Container, true),
        (CreateOp::Ttl, 0, Owner::Nobody, false),
        (CreateOp::Ttl, 4, Owner::Container, true),
    ];
    for (op, flags, owner, with_stat) in cases {
        let (result, made) = create(op, flags);
        let OpResult::Created { stat, .. } = result else { panic!("{op:?} {flags}: {result:?}") };
        assert_eq!(stat.is_some(), with_stat, "{op:?} {flags}");
        assert_eq!(made, Some(owner), "{op:?} {flags}");
    }
}

#[test]
fn a_ttl_operation_with_a_bad_flag_fails_alone() {
    assert_eq!(create(CreateOp::Ttl, 9), (OpResult::Error(Some(Code::BadArguments)), None));
}

/// A multi of one create with neither ACL nor sense in its flags.
fn decode(kind: i32) -> Request {
    let mut bytes = Vec::new();
    let mut frame = Writer::frame(&mut bytes);
    frame.int(1);
    frame.int(opcode::MULTI);
    frame.int(kind);
    frame.bool(false);
    frame.int(-1);
    frame.text("/n");
    frame.buffer(None);
    frame.int(-1);
    frame.int(9);
    if kind == opcode::CREATE_TTL {
        frame.long(1);
    }
    frame.int(-1);
    frame.bool(true);
    frame.int(-1);
    frame.finish();
    decode_request(&bytes[4..], 1000).expect("there is a header").1
}

#[test]
fn flags_and_acls_are_looked_at_early_except_with_ttl() {
    for kind in [opcode::CREATE, opcode::CREATE2, opcode::CREATE_CONTAINER] {
        let unreadable = Request::Unreadable { opcode: opcode::MULTI, whole: false };
        assert_eq!(decode(kind), unreadable);
    }
    assert!(matches!(decode(opcode::CREATE_TTL), Request::Multi(_)));
}
