//! Sessions that come back: on which connection they are served, and how long they live.

use zoolab_core::acl::AclWish;
use zoolab_core::request::{Body, Create, CreateOp};
use zoolab_core::{ConnId, Input, Output, Request, SessionId, Ticks, Timer, Xid};

use crate::Stage;

/// Ids can be foretold and passwords are made from ids, so a client may ask for a session that
/// another one is just opening. Whoever comes last is served.
#[test]
fn a_session_taken_over_while_it_opens_stays_with_the_one_who_took_it() {
    let mut stage = Stage::new();
    stage.connect(1, SessionId::NONE, 10_000);
    let session = SessionId(1 << 56);
    let out = stage.connect(2, session, 10_000);
    assert!(matches!(
        out[..],
        [Output::Close { conn: ConnId(1) }, Output::Connected { conn: ConnId(2), .. }]
    ));
    let read = Input::Request { conn: ConnId(2), xid: Xid(1), request: Request::Ping };
    assert_eq!(stage.step(read), [], "a read waits for the opening before it");
    let out = stage.disk();
    let [Output::Reply { conn: ConnId(2), reply }] = &out[..] else { panic!("{out:?}") };
    assert_eq!(reply.body, Body::None);
    assert_eq!(stage.server.session_of(ConnId(2)), Some(session));
}

#[test]
fn a_session_that_comes_back_with_a_shorter_timeout_ends_sooner() {
    let mut stage = Stage::new();
    stage.connect(1, SessionId::NONE, 40_000);
    stage.disk();
    let out = stage.connect(2, SessionId(1 << 56), 4000);
    let arm = Output::Arm { timer: Timer::Sessions, ticks: Ticks(3) };
    assert!(out.contains(&arm), "{out:?}");
    stage.step(Input::Timeout(Timer::Sessions));
    let out = stage.disk();
    assert!(out.contains(&Output::Close { conn: ConnId(2) }), "{out:?}");
    assert!(stage.server.sessions().is_empty());
}

fn create(path: &str, flags: i32) -> Request {
    let open = AclWish { perms: 31, scheme: Some("world".into()), id: Some("anyone".into()) };
    let (op, path, data, acl) = (CreateOp::Create, path.into(), None, Some(vec![open]));
    Request::Create(Create { op, path, data, acl, flags, ttl_ms: -1 })
}

/// Someone deletes an ephemeral and puts something of their own in its place, and its session is
/// closed before either has reached the disk.
#[test]
fn what_has_taken_the_place_of_an_ephemeral_outlives_its_session() {
    let mut stage = Stage::new();
    stage.connect(1, SessionId::NONE, 10_000);
    stage.connect(2, SessionId::NONE, 10_000);
    stage.disk();
    let ask = |conn, request| Input::Request { conn: ConnId(conn), xid: Xid(1), request };
    for path in ["/persistent", "/ephemeral"] {
        stage.step(ask(1, create(path, 1)));
    }
    stage.disk();
    for (path, flags) in [("/persistent", 0), ("/ephemeral", 1)] {
        stage.step(ask(2, Request::Delete { path: path.into(), version: -1 }));
        stage.step(ask(2, create(path, flags)));
    }
    stage.step(ask(1, Request::CloseSession));
    stage.disk();
    for path in ["/persistent", "/ephemeral"] {
        assert!(stage.server.tree().get(path).is_some(), "{path}");
    }
}
