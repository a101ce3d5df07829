//! Servers without a leader, and those who are content with reading.

use zoolab_core::request::ConnectRequest;
use zoolab_core::session::password;
use zoolab_core::{Branch, ConnId, LocalSessions, Request, ServerId, SessionId};

use crate::desk::{Desk, FOUR, ONE, THREE, TWO, create, ephemeral, exists};

/// Nobody leads, for long enough.
fn alone(local: LocalSessions) -> Desk {
    let mut desk = Desk::apart(
        |ensemble| {
            ensemble.read_only = true;
            ensemble.local_sessions = local;
        },
        |_| {},
    );
    desk.pass(2000);
    desk
}

/// Server 1 has led, and is gone; so is whoever made the session.
fn left(local: LocalSessions) -> (Desk, SessionId) {
    let change = |ensemble: &mut zoolab_core::Ensemble| {
        ensemble.read_only = true;
        ensemble.local_sessions = local;
    };
    let mut desk = Desk::with(change, |_| {});
    let (conn, session) = desk.client(TWO, 40_000);
    desk.call(conn, 1, ephemeral("/a"));
    desk.dies(ONE);
    desk.pass(2000);
    (desk, session)
}

fn hello(session: SessionId, read_only: Option<bool>) -> ConnectRequest {
    let password = Some(password(session)[..].into());
    ConnectRequest { session, timeout_ms: 10_000, password, read_only, ..ConnectRequest::default() }
}

fn comes(desk: &mut Desk, to: ServerId, session: SessionId) -> ConnId {
    desk.connects(to, hello(session, Some(true)))
}

#[test]
fn without_a_leader_for_a_while_those_who_only_read_are_served() {
    let mut desk = Desk::apart(
        |ensemble| {
            ensemble.read_only = true;
            ensemble.local_sessions = LocalSessions::On;
        },
        |_| {},
    );
    desk.pass(1999);
    let early = comes(&mut desk, TWO, SessionId::NONE);
    assert_eq!(desk.said(early), "closed");
    desk.pass(1);
    for at in [ONE, TWO, FOUR] {
        let conn = comes(&mut desk, at, SessionId::NONE);
        assert!(desk.server(at).is_read_only());
        let said = desk.said(conn);
        assert!(said.ends_with(", 10000 ms, read-only"), "{said}");
        assert_eq!(desk.call(conn, 1, exists("/")), "1 ok");
        assert_eq!(desk.call(conn, 2, Request::Ping), "-2 ok");
    }
    assert!(desk.reached.contains(&Branch::ReadOnlyServed));
}

#[test]
fn by_default_nobody_is_served_without_a_leader() {
    let mut desk = Desk::apart(|_| {}, |_| {});
    desk.pass(100_000);
    let conn = comes(&mut desk, TWO, SessionId::NONE);
    assert_eq!(desk.said(conn), "closed");
    assert!(!desk.server(TWO).is_read_only());
}

#[test]
fn who_wants_to_write_or_is_too_old_to_say_is_sent_away() {
    let mut desk = alone(LocalSessions::On);
    for read_only in [Some(false), None] {
        let conn = desk.connects(TWO, hello(SessionId::NONE, read_only));
        assert_eq!(desk.said(conn), "closed");
    }
}

#[test]
fn nothing_is_written_without_a_leader() {
    let mut desk = alone(LocalSessions::Upgrading);
    let conn = comes(&mut desk, TWO, SessionId::NONE);
    desk.said(conn);
    assert_eq!(desk.call(conn, 1, create("/a")), "1 NotReadOnly");
    assert_eq!(desk.call(conn, 2, ephemeral("/a")), "2 NotReadOnly");
    assert_eq!(desk.call(conn, 3, Request::Sync { path: None }), "3 NotReadOnly");
    assert_eq!(desk.call(conn, 4, Request::Multi(Vec::new())), "4 NotReadOnly");
    assert_eq!(desk.call(conn, 5, exists("/")), "5 ok", "and it goes on");
    assert_eq!(desk.server(TWO).sessions().locals().len(), 1, "it is as local as before");
    assert_eq!(desk.call(conn, 6, Request::CloseSession), "6 ok; closed");
    assert!(desk.server(TWO).sessions().locals().is_empty());
}

#[test]
fn a_session_of_the_ensemble_needs_a_leader() {
    let (mut desk, session) = left(LocalSessions::Off);
    let conn = comes(&mut desk, TWO, session);
    assert_eq!(desk.said(conn), "closed", "it is not over, only not here");
    desk.led_by(THREE);
    let conn = comes(&mut desk, TWO, session);
    desk.settle();
    assert_eq!(desk.said(conn), format!("session {session}, 10000 ms"));
}

/// The answer has no place in a handshake, and so it is with ZooKeeper.
#[test]
fn without_local_sessions_no_session_is_made_without_a_leader() {
    let mut desk = alone(LocalSessions::Off);
    let conn = comes(&mut desk, TWO, SessionId::NONE);
    assert_eq!(desk.said(conn), "0 NotReadOnly; closed");
}

/// It may have begun where there is a leader, which nobody here can know.
#[test]
fn without_local_sessions_an_unknown_session_is_taken_at_its_word() {
    let (mut desk, _) = left(LocalSessions::Off);
    let session = SessionId(7);
    let conn = comes(&mut desk, TWO, session);
    assert_eq!(desk.said(conn), format!("session {session}, 10000 ms, read-only"));
    assert_eq!(desk.call(conn, 1, exists("/a")), "1 ok at 1:2");
    assert_eq!(desk.call(conn, 2, Request::CloseSession), "2 NotReadOnly at 1:2");
    let thief = ConnectRequest { password: None, ..hello(session, Some(true)) };
    let thief = desk.connects(TWO, thief);
    assert_eq!(desk.said(thief), "session 0x0, 0 ms, read-only; closed");
}

#[test]
fn with_local_sessions_an_unknown_session_is_over() {
    let mut desk = alone(LocalSessions::On);
    let conn = comes(&mut desk, TWO, SessionId(7));
    assert_eq!(desk.said(conn), "session 0x0, 0 ms, read-only; closed");
}

#[test]
fn a_local_session_without_a_leader_comes_back_and_ends_like_others() {
    let mut desk = alone(LocalSessions::On);
    let conn = comes(&mut desk, TWO, SessionId::NONE);
    desk.hangs_up(conn);
    let session = desk.server(TWO).sessions().locals()[0];
    let again = comes(&mut desk, TWO, session);
    assert_eq!(desk.said(again), format!("session {session}, 10000 ms, read-only"));
    desk.pass(9000);
    assert_eq!(desk.call(again, 1, Request::Ping), "-2 ok");
    desk.pass(10_000);
    assert_eq!(desk.said(again), "");
    desk.pass(2000);
    assert_eq!(desk.said(again), "closed");
}

#[test]
fn who_has_seen_more_than_a_server_without_a_leader_is_not_served_there() {
    let (mut desk, _) = left(LocalSessions::On);
    let mut request = hello(SessionId::NONE, Some(true));
    request.last_zxid_seen = zoolab_core::Zxid(2 << 32 | 1);
    let conn = desk.connects(TWO, request);
    assert_eq!(desk.said(conn), "closed");
}

#[test]
fn when_a_leader_is_found_everybody_has_to_come_again() {
    let mut desk = alone(LocalSessions::On);
    let conn = comes(&mut desk, TWO, SessionId::NONE);
    let session = desk.server(TWO).sessions().locals()[0];
    desk.said(conn);
    desk.led_by(ONE);
    assert_eq!(desk.said(conn), "closed");
    assert!(!desk.server(TWO).is_read_only());
    let again = comes(&mut desk, TWO, session);
    desk.settle();
    assert_eq!(desk.said(again), "session 0x0, 0 ms; closed");
    let fresh = comes(&mut desk, TWO, SessionId::NONE);
    desk.settle();
    let said = desk.said(fresh);
    assert!(said.ends_with(", 10000 ms"), "{said}");
    assert!(desk.call(fresh, 1, create("/a")).starts_with("1 ok"));
    desk.pass(60_000);
    assert!(!desk.server(TWO).is_read_only(), "nor does it become so later");
}
