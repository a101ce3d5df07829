//! How sessions begin, are kept and end, whichever server they are at.

use zoolab_core::{Code, Millis, Now, Request, SessionId, txn::Change};

use crate::desk::{Desk, FOUR, ONE, THREE, TICK_MS, TWO, create, delete, ephemeral, exists};

const ALL: [zoolab_core::ServerId; 4] = [ONE, TWO, THREE, FOUR];

/// Lets time pass while a client says now and then that it is there.
fn keep(desk: &mut Desk, conn: zoolab_core::ConnId, ms: i64) {
    for _ in 0..ms / 1000 {
        desk.pass(1000);
        desk.asks(conn, -2, Request::Ping);
        desk.settle();
        let said = desk.said(conn);
        assert!(said.starts_with("-2 ok"), "{said}");
    }
}

#[test]
fn a_session_is_made_by_a_transaction_and_known_everywhere() {
    for at in ALL {
        let mut desk = Desk::new();
        let (_, session) = desk.client(at, 10_000);
        assert_eq!(session.0 >> 56, i64::from(at.0), "the id begins with the server's");
        for server in ALL {
            assert_eq!(desk.server(server).sessions().list(), [(session, 10_000)]);
            assert_eq!(desk.ordered(server, session), "0 CreateSession { timeout_ms: 10000 }\n");
        }
    }
}

#[test]
fn a_client_is_not_told_of_its_session_before_that_is_applied_where_it_is() {
    let mut desk = Desk::new();
    desk.hold(ONE, TWO);
    let conn = desk.opens(TWO, 10_000);
    desk.settle();
    assert_eq!(desk.said(conn), "");
    assert_eq!(desk.server(THREE).sessions().len(), 1, "it is committed");
    desk.let_one(ONE, TWO);
    assert_eq!(desk.said(conn), "", "it is only proposed there");
    desk.let_one(ONE, TWO);
    assert_eq!(
        desk.said(conn),
        format!("session {}, 10000 ms", SessionId(2 << 56 | 1_000_000 << 16))
    );
}

#[test]
fn what_is_asked_before_the_session_is_open_is_answered_after_it() {
    let mut desk = Desk::new();
    desk.hold(ONE, TWO);
    let conn = desk.opens(TWO, 10_000);
    desk.asks(conn, 1, create("/a"));
    desk.asks(conn, 2, exists("/a"));
    desk.settle();
    assert_eq!(desk.said(conn), "");
    desk.release(ONE, TWO);
    let said = desk.said(conn);
    assert!(said.ends_with("ms; 1 ok at 1:2; 2 ok at 1:2"), "{said}");
}

#[test]
fn a_client_that_wants_too_much_or_too_little_is_told_what_it_gets() {
    let mut desk = Desk::new();
    for (wanted, given) in [(1, 4000), (10_000, 10_000), (1_000_000, 40_000)] {
        let (_, session) = desk.client(THREE, wanted);
        let table = desk.server(ONE).sessions().list();
        assert!(table.contains(&(session, given)), "{table:?}");
    }
}

#[test]
fn whoever_pings_a_learner_is_kept_by_the_leader() {
    for at in ALL {
        let mut desk = Desk::new();
        let (conn, session) = desk.client(at, 4000);
        keep(&mut desk, conn, 30_000);
        assert_eq!(desk.server(ONE).sessions().list(), [(session, 4000)]);
    }
}

#[test]
fn who_is_silent_lives_for_its_timeout_and_for_a_tick_and_two_pings_at_most() {
    for at in ALL {
        for offset in [0, 1, 999, 1500] {
            let mut desk = Desk::new();
            let (conn, _) = desk.client(at, 5000);
            keep(&mut desk, conn, 3000);
            desk.pass(offset);
            desk.asks(conn, -2, Request::Ping);
            desk.settle();
            desk.said(conn);
            let heard = desk.clock();
            while desk.said(conn).is_empty() {
                desk.pass(1);
                assert!(desk.clock() - heard < 20_000, "it lives for ever");
            }
            let lived = desk.clock() - heard;
            // The leader hears of it when it pings the learner next, half a tick later at most.
            assert!(lived > 5000, "{lived}");
            assert!(lived <= 5000 + TICK_MS + TICK_MS / 2, "{lived}");
        }
    }
}

/// Each session is in the bucket of one tick, and all of a bucket end together.
#[test]
fn the_leader_alone_counts_and_in_whole_ticks() {
    let mut desk = Desk::new();
    desk.client(TWO, 4000);
    desk.pass(1);
    desk.client(THREE, 4000);
    let buckets = desk.server(ONE).sessions().buckets();
    let [(tick, sessions)] = &buckets[..] else { panic!("{buckets:?}") };
    assert_eq!(sessions.len(), 2);
    let ends = i64::try_from(*tick).unwrap() * TICK_MS;
    assert!(ends > desk.clock() + 4000 && ends <= desk.clock() + 4000 + TICK_MS);
    for learner in [TWO, THREE, FOUR] {
        assert_eq!(desk.server(learner).sessions().buckets(), []);
    }
}

#[test]
fn expiry_is_a_transaction_with_all_ephemerals_by_name() {
    let mut desk = Desk::new();
    let (conn, session) = desk.client(TWO, 4000);
    for path in ["/b", "/a", "/c"] {
        desk.call(conn, 1, ephemeral(path));
    }
    desk.call(conn, 2, delete("/c"));
    desk.pass(20_000);
    assert_eq!(desk.said(conn), "closed", "without a word");
    for server in ALL {
        assert!(desk.server(server).sessions().is_empty());
        assert_eq!(desk.nodes(server), [""; 0]);
        let ordered = desk.ordered(server, session);
        let last = ordered.lines().last().unwrap();
        assert_eq!(last, "0 CloseSession { paths: [\"/a\", \"/b\"] }");
    }
}

/// The list is made when the end is decided: with what is decided and not yet applied.
#[test]
fn the_list_of_ephemerals_has_what_is_under_way() {
    let mut desk = Desk::new();
    let (conn, session) = desk.client(ONE, 10_000);
    let (other, _) = desk.client(ONE, 10_000);
    desk.call(conn, 1, ephemeral("/gone"));
    for follower in [TWO, THREE] {
        desk.hold(follower, ONE);
    }
    desk.asks(conn, 2, ephemeral("/new"));
    desk.asks(other, 1, delete("/gone"));
    desk.asks(conn, 3, Request::CloseSession);
    for follower in [TWO, THREE] {
        desk.release(follower, ONE);
    }
    let said = desk.said(conn);
    assert!(said.starts_with("2 ok") && said.ends_with("closed"), "{said}");
    let ordered = desk.ordered(ONE, session);
    assert!(ordered.ends_with("3 CloseSession { paths: [\"/new\"] }\n"), "{ordered}");
    assert_eq!(desk.nodes(FOUR), [""; 0]);
}

#[test]
fn who_closes_is_answered_and_then_left() {
    for at in ALL {
        let mut desk = Desk::new();
        let (conn, session) = desk.client(at, 10_000);
        desk.call(conn, 1, ephemeral("/a"));
        desk.asks(conn, 2, Request::CloseSession);
        desk.asks(conn, 3, create("/b"));
        desk.asks(conn, 4, exists("/a"));
        desk.settle();
        assert_eq!(desk.said(conn), "2 ok at 1:3; closed", "what comes after it is nobody's");
        let ordered = desk.ordered(ONE, session);
        assert!(ordered.ends_with("2 CloseSession { paths: [\"/a\"] }\n"), "{ordered}");
    }
}

/// The end comes from the leader while a write is on its way to it.
#[test]
fn a_write_that_arrives_after_the_end_is_refused() {
    let mut desk = Desk::new();
    let (conn, session) = desk.client(TWO, 4000);
    desk.hold(TWO, ONE);
    desk.hold(ONE, TWO);
    desk.asks(conn, 1, ephemeral("/late"));
    desk.asks(conn, 2, Request::CloseSession);
    // The others are enough to go on, and the held link has not been missed yet.
    desk.pass(8000);
    assert!(desk.server(ONE).sessions().is_empty());
    desk.release(TWO, ONE);
    let ordered = desk.ordered(ONE, session);
    let end = "0 CloseSession { paths: [] }\n1 Error(SessionExpired)\n2 Error(SessionExpired)\n";
    assert!(ordered.ends_with(end), "{ordered}");
    desk.release(ONE, TWO);
    assert_eq!(desk.said(conn), "closed", "it is gone before its requests are answered");
    assert_eq!(desk.nodes(TWO), [""; 0]);
}

/// An end that the leader itself decides on has the number zero; so may a client's request.
#[test]
fn the_end_of_a_session_is_not_the_answer_to_a_request_with_the_same_number() {
    let mut desk = Desk::new();
    let (conn, _) = desk.client(TWO, 4000);
    desk.hold(TWO, ONE);
    desk.asks(conn, 0, create("/never"));
    desk.pass(8000);
    assert!(desk.server(ONE).sessions().is_empty());
    assert_eq!(desk.said(conn), "closed");
    desk.release(TWO, ONE);
    assert_eq!(desk.nodes(TWO), [""; 0]);
}

#[test]
fn after_a_change_of_leaders_each_session_has_its_whole_time_again() {
    let mut desk = Desk::new();
    let (conn, session) = desk.client(TWO, 10_000);
    desk.call(conn, 1, ephemeral("/a"));
    desk.pass(9000);
    desk.dies(ONE);
    assert_eq!(desk.said(conn), "closed", "its server has no leader");
    desk.led_by(THREE);
    let begun = desk.clock();
    desk.pass(10_000);
    assert_eq!(desk.server(THREE).sessions().list(), [(session, 10_000)]);
    assert_eq!(desk.nodes(TWO), ["a"]);
    desk.pass(TICK_MS);
    assert!(desk.server(THREE).sessions().is_empty(), "{}", desk.clock() - begun);
    assert_eq!(desk.nodes(TWO), [""; 0]);
    let ordered = desk.ordered(TWO, session);
    assert!(ordered.ends_with("0 CloseSession { paths: [\"/a\"] }\n"), "{ordered}");
}

/// The end is proposed to the leader's own log only, and the leader dies.
#[test]
fn an_end_that_is_lost_with_its_leader_never_was() {
    let mut desk = Desk::new();
    let (conn, session) = desk.client(TWO, 4000);
    desk.call(conn, 1, ephemeral("/a"));
    for learner in [TWO, THREE, FOUR] {
        desk.hold(ONE, learner);
    }
    desk.pass(7000);
    assert_eq!(desk.server(ONE).outstanding(), 1);
    desk.dies(ONE);
    for learner in [TWO, THREE, FOUR] {
        desk.release(ONE, learner);
    }
    desk.led_by(THREE);
    let again = desk.comes_back(TWO, session, 4000);
    desk.settle();
    assert_eq!(desk.said(again), format!("session {session}, 4000 ms"));
    assert_eq!(desk.nodes(TWO), ["a"]);
}

/// It is on a quorum's disks when the leader dies, so that the next leader finishes it.
#[test]
fn an_end_that_is_safe_outlives_its_leader() {
    let mut desk = Desk::new();
    let (conn, session) = desk.client(TWO, 4000);
    desk.call(conn, 1, ephemeral("/a"));
    for learner in [TWO, THREE, FOUR] {
        desk.hold(learner, ONE);
    }
    desk.pass(7000);
    desk.dies(ONE);
    desk.led_by(THREE);
    let again = desk.comes_back(TWO, session, 4000);
    desk.settle();
    assert_eq!(desk.said(again), "session 0x0, 0 ms; closed");
    assert_eq!(desk.nodes(TWO), [""; 0]);
}

/// A host that begins to count anew gives out numbers that it has given out before.
#[test]
fn an_id_that_is_in_use_is_not_given_out_again() {
    let mut desk = Desk::new();
    let (_, first) = desk.client(THREE, 40_000);
    desk.dies(THREE);
    desk.restarts(THREE, Now { wall: Millis(0), steady: Millis(1_000_000) });
    let (_, second) = desk.client(THREE, 40_000);
    assert_eq!(second, SessionId(first.0 + 1));
}

#[test]
fn a_session_ends_once() {
    let mut desk = Desk::new();
    let (conn, session) = desk.client(TWO, 10_000);
    desk.hold(TWO, ONE);
    desk.asks(conn, 7, Request::CloseSession);
    let other = desk.comes_back(ONE, session, 10_000);
    desk.asks(other, 1, Request::CloseSession);
    desk.settle();
    desk.release(TWO, ONE);
    let Some(last) = desk.last(ONE) else { panic!("nothing was applied") };
    assert_eq!(last.change, Change::Error(Code::SessionExpired));
    assert_eq!(last.cxid.0, 7);
}
