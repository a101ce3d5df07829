//! Sessions that one server alone knows, and what becomes of them when they want more.

use zoolab_core::request::Op;
use zoolab_core::{Branch, ConnId, LocalSessions, Request, ServerId, SessionId};

use crate::desk::{Desk, FOUR, ONE, THREE, TWO, create, ephemeral, exists, wish};

const ALL: [ServerId; 4] = [ONE, TWO, THREE, FOUR];

fn desk(local: LocalSessions) -> Desk {
    Desk::with(|ensemble| ensemble.local_sessions = local, |_| {})
}

fn client(desk: &mut Desk, at: ServerId) -> (ConnId, SessionId) {
    let (conn, session) = desk.client(at, 10_000);
    assert_eq!(desk.said(conn), "", "it was told already");
    (conn, session)
}

#[test]
fn a_local_session_is_nobody_elses_business() {
    for at in ALL {
        let mut desk = desk(LocalSessions::On);
        desk.hold(at, if at == ONE { TWO } else { ONE });
        let (_, session) = client(&mut desk, at);
        assert_eq!(session.0 >> 56, i64::from(at.0));
        for server in ALL {
            let here: &[SessionId] = if server == at { &[session] } else { &[] };
            assert_eq!(desk.server(server).sessions().locals(), here);
            assert!(desk.server(server).sessions().is_empty());
            assert_eq!(desk.ordered(server, session), "");
        }
    }
}

#[test]
fn a_local_session_reads_writes_and_syncs_in_order() {
    for at in ALL {
        let mut desk = desk(LocalSessions::On);
        let (conn, session) = client(&mut desk, at);
        desk.asks(conn, 1, create("/a"));
        desk.asks(conn, 2, exists("/a"));
        desk.asks(conn, 3, Request::Sync { path: Some("/".into()) });
        desk.asks(conn, 4, create("/a"));
        desk.settle();
        let said = desk.said(conn);
        assert_eq!(said, "1 ok at 1:1; 2 ok at 1:1; 3 ok at 1:1; 4 NodeExists at 1:2");
        assert_eq!(desk.ordered(THREE, session).lines().count(), 2);
    }
}

#[test]
fn its_server_ends_a_silent_local_session_without_a_transaction() {
    for at in ALL {
        let mut desk = desk(LocalSessions::On);
        let (conn, session) = client(&mut desk, at);
        for _ in 0..10 {
            desk.pass(3000);
            assert!(desk.call(conn, -2, Request::Ping).starts_with("-2 ok"));
        }
        let heard = desk.clock();
        desk.pass(10_000);
        assert_eq!(desk.said(conn), "");
        desk.pass(2000);
        assert_eq!(desk.said(conn), "closed", "after {}", desk.clock() - heard);
        assert!(desk.server(at).sessions().locals().is_empty());
        assert_eq!(desk.ordered(ONE, session), "");
        let again = desk.comes_back(at, session, 10_000);
        desk.settle();
        assert_eq!(desk.said(again), "session 0x0, 0 ms; closed");
    }
}

#[test]
fn a_local_session_is_closed_after_what_it_asked_for_before() {
    for at in ALL {
        let mut desk = desk(LocalSessions::On);
        let (conn, session) = client(&mut desk, at);
        desk.asks(conn, 1, create("/a"));
        desk.asks(conn, 2, exists("/a"));
        desk.asks(conn, 3, Request::CloseSession);
        desk.asks(conn, 4, create("/b"));
        desk.settle();
        assert_eq!(desk.said(conn), "1 ok at 1:1; 2 ok at 1:1; 3 ok at 1:1; closed");
        assert_eq!(desk.nodes(at), ["a"]);
        assert!(desk.server(at).sessions().locals().is_empty());
        assert_eq!(desk.ordered(ONE, session).lines().count(), 1);
    }
}

/// It closes with a write under way, goes, and is forgotten all the same.
#[test]
fn a_local_session_that_closes_and_goes_leaves_nothing() {
    let mut desk = desk(LocalSessions::On);
    let (conn, _) = client(&mut desk, TWO);
    desk.asks(conn, 1, create("/a"));
    desk.asks(conn, 2, Request::CloseSession);
    desk.hangs_up(conn);
    desk.settle();
    assert!(desk.server(TWO).sessions().locals().is_empty());
}

#[test]
fn a_local_session_cannot_own_ephemerals() {
    for at in ALL {
        let mut desk = desk(LocalSessions::On);
        let (conn, session) = client(&mut desk, at);
        let refused = "EphemeralOnLocalSession at";
        assert_eq!(desk.call(conn, 1, ephemeral("/a")), format!("1 {refused} 1:1"));
        let sequential = Request::Create(wish("/a", 3));
        assert_eq!(desk.call(conn, 2, sequential), format!("2 {refused} 1:2"));
        let both = Request::Multi(vec![Op::Create(wish("/a", 0)), Op::Create(wish("/b", 1))]);
        let said = desk.call(conn, 3, both);
        assert!(said.contains("EphemeralOnLocalSession"), "{said}");
        assert_eq!(desk.call(conn, 4, create("/c")), "4 ok at 1:4");
        assert_eq!(desk.nodes(FOUR), ["c"]);
        assert_eq!(desk.server(at).sessions().locals(), [session]);
    }
}

#[test]
fn a_local_session_becomes_one_for_all_when_it_wants_an_ephemeral() {
    for at in ALL {
        let mut desk = desk(LocalSessions::Upgrading);
        let (conn, session) = client(&mut desk, at);
        assert_eq!(desk.call(conn, 1, create("/before")), "1 ok at 1:1");
        desk.asks(conn, 2, Request::Multi(vec![Op::Create(wish("/a", 1))]));
        desk.asks(conn, 3, exists("/a"));
        desk.settle();
        let said = desk.said(conn);
        assert!(said.starts_with("2 ok at 1:3") && said.ends_with("; 3 ok at 1:3"), "{said}");
        for server in ALL {
            let ordered = desk.ordered(server, session);
            let mut kinds = ordered.lines().map(|line| line.split(' ').nth(1).unwrap());
            assert_eq!(kinds.by_ref().nth(1), Some("CreateSession"), "{ordered}");
            assert_eq!(desk.server(server).sessions().list(), [(session, 10_000)]);
            assert!(desk.server(server).sessions().locals().is_empty());
        }
        // From now on it is like any other: the leader ends it, and it can go elsewhere.
        let to = if at == TWO { THREE } else { TWO };
        let new = desk.comes_back(to, session, 10_000);
        desk.settle();
        assert_eq!(desk.said(new), format!("session {session}, 10000 ms"));
        desk.pass(14_000);
        assert_eq!(desk.said(new), "closed");
        assert_eq!(desk.nodes(at), ["before"]);
        assert!(desk.reached.contains(&Branch::SessionUpgraded));
        assert!(!desk.reached.contains(&Branch::UpgradeRace));
    }
}

#[test]
fn an_upgraded_session_that_pings_lives() {
    for at in ALL {
        let mut desk = desk(LocalSessions::Upgrading);
        let (conn, session) = client(&mut desk, at);
        desk.call(conn, 1, ephemeral("/a"));
        for _ in 0..10 {
            desk.pass(3000);
            assert!(desk.call(conn, -2, Request::Ping).starts_with("-2 ok"));
        }
        assert_eq!(desk.server(ONE).sessions().list(), [(session, 10_000)]);
    }
}

#[test]
fn a_local_session_ends_where_its_client_goes_elsewhere() {
    for (from, to) in [(TWO, THREE), (TWO, ONE), (ONE, TWO), (FOUR, TWO)] {
        let mut desk = desk(LocalSessions::On);
        let (old, session) = client(&mut desk, from);
        let new = desk.comes_back(to, session, 10_000);
        desk.settle();
        assert_eq!(desk.said(new), "session 0x0, 0 ms; closed");
        assert!(desk.call(old, 1, create("/a")).starts_with("1 ok"), "where it is, it lives");
    }
}

#[test]
fn a_local_session_goes_on_where_it_is() {
    for at in ALL {
        let mut desk = desk(LocalSessions::On);
        let (old, session) = client(&mut desk, at);
        desk.asks(old, 1, create("/a"));
        let new = desk.comes_back(at, session, 20_000);
        desk.asks(new, 1, create("/b"));
        desk.settle();
        assert_eq!(desk.said(old), "closed");
        assert_eq!(desk.said(new), format!("session {session}, 20000 ms; 1 ok at 1:2"));
    }
}

#[test]
fn a_local_session_is_lost_when_its_server_loses_its_leader() {
    let mut desk = desk(LocalSessions::On);
    let (conn, session) = client(&mut desk, TWO);
    desk.dies(ONE);
    desk.led_by(THREE);
    assert_eq!(desk.said(conn), "closed");
    assert!(desk.server(TWO).sessions().locals().is_empty());
    let again = desk.comes_back(TWO, session, 10_000);
    desk.settle();
    assert_eq!(desk.said(again), "session 0x0, 0 ms; closed");
}

/// The client goes while its session is being made known.
#[test]
fn an_upgrade_whose_client_has_gone_ends_like_any_silent_session() {
    for at in [TWO, FOUR] {
        let mut desk = desk(LocalSessions::Upgrading);
        let (conn, session) = client(&mut desk, at);
        desk.asks(conn, 1, ephemeral("/a"));
        desk.hangs_up(conn);
        desk.settle();
        assert!(desk.reached.contains(&Branch::UpgradeRace));
        assert_eq!(desk.nodes(THREE), ["a"]);
        desk.pass(14_000);
        assert_eq!(desk.nodes(THREE), [""; 0]);
        assert!(desk.ordered(ONE, session).ends_with("0 CloseSession { paths: [\"/a\"] }\n"));
    }
}

/// Its end is asked for right behind.
#[test]
fn an_upgrade_and_an_end_behind_it_come_in_that_order() {
    for at in ALL {
        let mut desk = desk(LocalSessions::Upgrading);
        let (conn, session) = client(&mut desk, at);
        desk.asks(conn, 1, ephemeral("/a"));
        desk.asks(conn, 2, Request::CloseSession);
        desk.settle();
        assert_eq!(desk.said(conn), "1 ok at 1:2; 2 ok at 1:3; closed");
        assert!(desk.ordered(FOUR, session).ends_with("2 CloseSession { paths: [\"/a\"] }\n"));
        assert!(desk.reached.contains(&Branch::UpgradeRace));
    }
}

/// The client comes back, here or elsewhere, while its session is being made known.
#[test]
fn an_upgrade_that_the_leader_has_heard_of_can_move() {
    for to in [TWO, THREE] {
        let mut desk = desk(LocalSessions::Upgrading);
        let (old, session) = client(&mut desk, TWO);
        for follower in [TWO, THREE] {
            desk.hold(follower, ONE);
        }
        desk.asks(old, 1, ephemeral("/a"));
        desk.let_one(TWO, ONE);
        let new = desk.comes_back(to, session, 10_000);
        for follower in [THREE, TWO] {
            desk.release(follower, ONE);
        }
        assert_eq!(desk.said(old), "closed");
        assert!(desk.call(new, 2, create("/b")).ends_with("2 ok at 1:3"));
        // What was under way when it moved elsewhere is refused.
        let nodes: &[&str] = if to == TWO { &["a", "b"] } else { &["b"] };
        assert_eq!(desk.nodes(FOUR), nodes);
    }
}

#[test]
fn an_upgrade_is_lost_with_the_leader_that_has_not_heard_of_it() {
    let mut desk = desk(LocalSessions::Upgrading);
    let (conn, session) = client(&mut desk, TWO);
    desk.hold(TWO, ONE);
    desk.asks(conn, 1, ephemeral("/a"));
    desk.dies(ONE);
    desk.led_by(THREE);
    assert_eq!(desk.said(conn), "closed");
    let again = desk.comes_back(TWO, session, 10_000);
    desk.settle();
    assert_eq!(desk.said(again), "session 0x0, 0 ms; closed");
}

/// A leader does not know the local sessions of others, and must not take for one of them what
/// has been known and is over.
#[test]
fn what_comes_late_from_an_upgraded_session_is_refused() {
    let mut desk = desk(LocalSessions::Upgrading);
    let (conn, session) = desk.client(TWO, 4000);
    desk.call(conn, 1, ephemeral("/a"));
    desk.hold(TWO, ONE);
    desk.asks(conn, 2, create("/late"));
    // Not so long that the learner itself is missed.
    desk.pass(8000);
    desk.release(TWO, ONE);
    let ordered = desk.ordered(ONE, session);
    assert!(ordered.ends_with("2 Error(SessionExpired)\n"), "{ordered}");
    assert_eq!(desk.nodes(TWO), [""; 0]);
}

/// The epoch has one number left, and the session would need two.
#[test]
fn an_upgrade_may_end_the_epoch() {
    let change = |ensemble: &mut zoolab_core::Ensemble| {
        ensemble.local_sessions = LocalSessions::Upgrading;
        ensemble.counter_max = 1;
    };
    let mut desk = Desk::with(change, |_| {});
    let (conn, _) = client(&mut desk, ONE);
    assert_eq!(desk.call(conn, 1, create("/a")), "1 ok at 1:1");
    assert_eq!(desk.call(conn, 2, ephemeral("/b")), "closed");
    assert!(desk.server(ONE).is_looking());
}
