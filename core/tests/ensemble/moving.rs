//! Clients that leave one server for another, and what they leave behind.

use zoolab_core::request::{ConnectRequest, Op};
use zoolab_core::{Branch, Request, ServerId, Zxid};

use crate::desk::{Desk, FOUR, ONE, THREE, TWO, create, ephemeral, exists, wish};

/// From each kind of server to each.
const MOVES: [(ServerId, ServerId); 8] = [
    (ONE, TWO),
    (TWO, ONE),
    (TWO, THREE),
    (TWO, FOUR),
    (FOUR, THREE),
    (FOUR, ONE),
    (TWO, TWO),
    (ONE, ONE),
];

#[test]
fn a_session_goes_on_wherever_its_client_comes_back() {
    for (from, to) in MOVES {
        let mut desk = Desk::new();
        let (conn, session) = desk.client(from, 10_000);
        desk.call(conn, 1, ephemeral("/a"));
        desk.hangs_up(conn);
        let conn = desk.comes_back(to, session, 10_000);
        desk.settle();
        assert_eq!(desk.said(conn), format!("session {session}, 10000 ms"));
        assert_eq!(desk.call(conn, 2, ephemeral("/b")), "2 ok at 1:3");
        assert_eq!(desk.nodes(THREE), ["a", "b"]);
    }
}

/// The client's old connection has not been missed yet.
#[test]
fn a_session_that_has_moved_is_served_in_one_place() {
    for (from, to) in MOVES {
        let mut desk = Desk::new();
        let (old, session) = desk.client(from, 10_000);
        desk.said(old);
        let new = desk.comes_back(to, session, 10_000);
        desk.settle();
        assert_eq!(desk.said(old), "closed", "{from} to {to}");
        assert_eq!(
            desk.call(new, 1, create("/a")),
            format!("session {session}, 10000 ms; 1 ok at 1:2")
        );
    }
}

/// As with ZooKeeper, if that is wanted: it reads on, and is closed when it writes.
#[test]
fn an_old_server_that_is_not_told_serves_until_it_writes() {
    let mut desk = Desk::with(|ensemble| ensemble.tell_moved = false, |_| {});
    let (old, session) = desk.client(TWO, 10_000);
    let new = desk.comes_back(THREE, session, 10_000);
    desk.settle();
    assert_eq!(desk.call(old, 1, exists("/a")), "1 NoNode at 1:1");
    assert_eq!(desk.call(old, 2, create("/a")), "closed");
    assert!(desk.call(new, 1, create("/a")).ends_with("1 ok at 1:3"));
}

/// What was sent through the old server arrives at the leader after the client has moved.
#[test]
fn a_late_write_of_the_old_connection_is_not_performed() {
    for (from, to) in [(TWO, ONE), (TWO, THREE), (FOUR, TWO)] {
        let mut desk = Desk::new();
        let (old, session) = desk.client(from, 10_000);
        desk.hold(from, ONE);
        desk.asks(old, 1, create("/late"));
        desk.asks(old, 2, Request::Multi(vec![Op::Create(wish("/later", 0))]));
        let new = desk.comes_back(to, session, 10_000);
        desk.settle();
        assert_eq!(
            desk.call(new, 3, create("/new")),
            format!("session {session}, 10000 ms; 3 ok at 1:2")
        );
        desk.release(from, ONE);
        assert_eq!(desk.nodes(ONE), ["new"]);
        assert!(desk.reached.contains(&Branch::SessionMoved));
        let ordered = desk.ordered(ONE, session);
        assert!(ordered.ends_with("1 Error(SessionMoved)\n2 Error(SessionMoved)\n"), "{ordered}");
    }
}

/// It was decided before the leader heard of the move; only its answer has nobody to go to.
#[test]
fn a_write_that_was_in_time_is_performed() {
    let mut desk = Desk::new();
    let (old, session) = desk.client(TWO, 10_000);
    desk.hold(ONE, TWO);
    desk.asks(old, 1, create("/in-time"));
    desk.settle();
    let new = desk.comes_back(THREE, session, 10_000);
    desk.settle();
    assert_eq!(
        desk.call(new, 2, exists("/in-time")),
        format!("session {session}, 10000 ms; 2 ok at 1:2")
    );
}

/// Two programs have the same session. Each counts its requests from one.
#[test]
fn of_two_that_fight_for_a_session_neither_gets_the_others_answers() {
    let mut desk = Desk::new();
    let (old, session) = desk.client(TWO, 10_000);
    desk.hold(TWO, ONE);
    desk.asks(old, 1, create("/of-the-first"));
    let new = desk.comes_back(THREE, session, 10_000);
    desk.settle();
    assert!(desk.call(new, 1, create("/of-the-second")).ends_with("1 ok at 1:2"));
    desk.release(TWO, ONE);
    assert_eq!(desk.said(old), "closed", "it knows nothing, which is true");
    assert_eq!(desk.nodes(TWO), ["of-the-second"]);
    // And so on.
    let third = desk.comes_back(TWO, session, 10_000);
    desk.settle();
    assert_eq!(desk.said(new), "closed");
    assert!(desk.call(third, 1, create("/of-the-third")).ends_with("1 ok at 1:4"));
}

/// The same two at the same server: what the first asked is still on its way when the second asks
/// under the same number.
#[test]
fn an_answer_to_an_earlier_connection_is_not_taken_for_another() {
    let mut desk = Desk::new();
    let (old, session) = desk.client(TWO, 10_000);
    desk.call(old, 7, create("/there"));
    desk.hold(THREE, ONE);
    desk.hold(TWO, ONE);
    desk.asks(old, 1, create("/there"));
    let new = desk.comes_back(TWO, session, 10_000);
    // The request and the question arrive, but not that the proposal is safe.
    for _ in 0..2 {
        desk.let_one(TWO, ONE);
    }
    assert_eq!(desk.said(new), format!("session {session}, 10000 ms"));
    desk.asks(new, 1, create("/new"));
    desk.release(TWO, ONE);
    assert_eq!(desk.said(new), "1 ok at 1:4");
}

/// A sync speaks of what was complete when it was asked for.
#[test]
fn a_sync_is_not_answered_by_what_an_earlier_connection_asked() {
    let mut desk = Desk::new();
    let (old, session) = desk.client(TWO, 10_000);
    let (writer, _) = desk.client(ONE, 10_000);
    for follower in [TWO, THREE] {
        desk.hold(follower, ONE);
    }
    desk.asks(old, 1, Request::Sync { path: Some("/".into()) });
    let new = desk.comes_back(TWO, session, 10_000);
    desk.asks(writer, 1, create("/first"));
    desk.settle();
    for _ in 0..2 {
        desk.let_one(TWO, ONE);
    }
    assert!(desk.said(new).starts_with("session"), "it is served while the sync is waited for");
    desk.hold(ONE, TWO);
    desk.asks(writer, 2, create("/second"));
    desk.settle();
    desk.asks(new, 1, Request::Sync { path: Some("/".into()) });
    desk.asks(new, 2, exists("/second"));
    desk.release(THREE, ONE);
    desk.release(TWO, ONE);
    desk.release(ONE, TWO);
    assert_eq!(desk.said(new), "1 ok at 1:4; 2 ok at 1:4");
}

#[test]
fn who_comes_back_through_a_learner_gets_the_timeout_it_wants_now() {
    let mut desk = Desk::new();
    let (old, session) = desk.client(TWO, 4000);
    desk.hangs_up(old);
    let new = desk.comes_back(THREE, session, 20_000);
    desk.pass(19_000);
    assert_eq!(desk.said(new), format!("session {session}, 20000 ms"));
    assert_eq!(desk.server(ONE).sessions().list(), [(session, 4000)], "as it was made");
    desk.pass(4000);
    assert_eq!(desk.said(new), "closed");
}

/// It is the old connection that is heard from, and it had a longer timeout.
#[test]
fn a_touch_from_the_old_server_does_not_bring_the_old_timeout_back() {
    let mut desk = Desk::new();
    let (old, session) = desk.client(TWO, 40_000);
    desk.hold(TWO, ONE);
    desk.asks(old, -2, Request::Ping);
    desk.pass(1000);
    let new = desk.comes_back(THREE, session, 4000);
    desk.settle();
    desk.said(new);
    desk.release(TWO, ONE);
    desk.pass(7000);
    assert_eq!(desk.said(new), "closed");
}

#[test]
fn a_session_that_is_over_is_refused_everywhere() {
    let mut desk = Desk::new();
    let (conn, session) = desk.client(TWO, 4000);
    desk.pass(20_000);
    assert!(desk.said(conn).ends_with("closed"));
    for at in [ONE, TWO, THREE, FOUR] {
        let again = desk.comes_back(at, session, 4000);
        desk.settle();
        assert_eq!(desk.said(again), "session 0x0, 0 ms; closed");
    }
    // The leader itself need not ask.
    let refused = |branch: &&Branch| **branch == Branch::RevalidationRefused;
    assert_eq!(desk.reached.iter().filter(refused).count(), 3);
}

/// Its end is decided, and not yet applied.
#[test]
fn a_session_that_is_ending_is_refused_everywhere() {
    for at in [ONE, TWO, THREE, FOUR] {
        let mut desk = Desk::new();
        let (conn, session) = desk.client(ONE, 4000);
        desk.hold(TWO, ONE);
        desk.hold(THREE, ONE);
        desk.asks(conn, 1, Request::CloseSession);
        desk.settle();
        let again = desk.comes_back(at, session, 4000);
        desk.release(TWO, ONE);
        desk.release(THREE, ONE);
        assert_eq!(desk.said(again), "session 0x0, 0 ms; closed");
    }
}

#[test]
fn a_wrong_password_is_no_proof_anywhere() {
    for at in [ONE, TWO, FOUR] {
        let mut desk = Desk::new();
        let (_, session) = desk.client(ONE, 10_000);
        let request = ConnectRequest {
            session,
            timeout_ms: 10_000,
            password: Some([7; 16][..].into()),
            ..ConnectRequest::default()
        };
        let thief = desk.connects(at, request);
        desk.settle();
        assert_eq!(desk.said(thief), "session 0x0, 0 ms; closed");
    }
}

#[test]
fn who_has_seen_more_than_a_server_is_not_served_there() {
    let mut desk = Desk::new();
    let (conn, session) = desk.client(ONE, 10_000);
    desk.hold(ONE, TWO);
    desk.call(conn, 1, create("/a"));
    let request = |zxid: i64| ConnectRequest {
        session,
        timeout_ms: 10_000,
        password: Some(zoolab_core::session::password(session)[..].into()),
        last_zxid_seen: Zxid(1 << 32 | zxid),
        ..ConnectRequest::default()
    };
    let early = desk.connects(TWO, request(2));
    assert_eq!(desk.said(early), "closed");
    desk.release(ONE, TWO);
    let late = desk.connects(TWO, request(2));
    desk.settle();
    assert_eq!(desk.said(late), format!("session {session}, 10000 ms"));
}

/// After a change of leaders nobody acts for a session until its client has come back.
#[test]
fn a_session_is_whoevers_comes_first_after_a_change_of_leaders() {
    let mut desk = Desk::new();
    let (old, session) = desk.client(TWO, 10_000);
    desk.dies(ONE);
    desk.led_by(THREE);
    assert!(desk.said(old).ends_with("closed"));
    let new = desk.comes_back(FOUR, session, 10_000);
    desk.settle();
    assert!(desk.call(new, 1, ephemeral("/a")).ends_with("1 ok at 2:1"));
}

/// Two servers ask about the same session at once; whom the leader hears last has it.
#[test]
fn of_two_that_come_back_at_once_the_later_is_served() {
    let mut desk = Desk::new();
    let (_, session) = desk.client(ONE, 10_000);
    desk.hold(TWO, ONE);
    desk.hold(THREE, ONE);
    let first = desk.comes_back(TWO, session, 10_000);
    let second = desk.comes_back(THREE, session, 10_000);
    desk.release(THREE, ONE);
    assert_eq!(desk.said(second), format!("session {session}, 10000 ms"));
    desk.release(TWO, ONE);
    assert_eq!(desk.said(second), "closed");
    assert!(desk.call(first, 1, create("/a")).ends_with("ms; 1 ok at 1:2"));
}
