//! Nodes that nobody has to delete: the leader sees to it.

use zoolab_core::request::Create;
use zoolab_core::{Branch, Request, ServerId, SessionId, Settings};

use crate::desk::{Desk, FOUR, ONE, THREE, TWO, create, delete, wish};

const ALL: [ServerId; 4] = [ONE, TWO, THREE, FOUR];
/// How often the leader looks, by default.
const CHECK_MS: i64 = 60_000;

fn container(path: &str) -> Request {
    Request::Create(wish(path, 4))
}

fn ttl(path: &str, ttl_ms: i64) -> Request {
    Request::Create(Create { ttl_ms, ..wish(path, 5) })
}

fn typed() -> Desk {
    Desk::with(|_| {}, |settings| settings.extended_types = true)
}

/// Lets so much time pass, and keeps no client alive.
fn writes(desk: &mut Desk, at: ServerId, requests: &[Request]) {
    let (conn, _) = desk.client(at, 10_000);
    for (xid, request) in (1..).zip(requests) {
        let said = desk.call(conn, xid, request.clone());
        assert!(said.contains("ok"), "{request:?}: {said}");
    }
}

#[test]
fn a_container_goes_when_its_last_child_has_gone() {
    let mut desk = Desk::new();
    let requests =
        [container("/c"), create("/c/a"), delete("/c/a"), container("/d"), create("/d/a")];
    writes(&mut desk, TWO, &requests);
    assert_eq!(desk.nodes(FOUR), ["c", "d"]);
    desk.pass(CHECK_MS);
    for server in ALL {
        assert_eq!(desk.nodes(server), ["d"]);
        let ordered = desk.ordered(server, SessionId::NONE);
        assert_eq!(ordered, "0 Node(Delete { path: \"/c\", container: true })\n");
    }
    assert!(desk.reached.contains(&Branch::ContainerCleaned));
}

#[test]
fn a_container_that_never_had_a_child_stays_unless_told_otherwise() {
    let mut desk = Desk::new();
    writes(&mut desk, TWO, &[container("/c")]);
    desk.pass(5 * CHECK_MS);
    assert_eq!(desk.nodes(THREE), ["c"]);
    let rules = |settings: &mut Settings| settings.container_never_used_ms = Some(90_000);
    let mut desk = Desk::with(|_| {}, rules);
    writes(&mut desk, TWO, &[container("/c")]);
    desk.pass(CHECK_MS);
    assert_eq!(desk.nodes(THREE), ["c"]);
    desk.pass(CHECK_MS);
    assert_eq!(desk.nodes(THREE), [""; 0]);
}

/// A child is under way when the leader looks.
#[test]
fn a_container_that_is_about_to_have_a_child_stays() {
    let mut desk = Desk::new();
    writes(&mut desk, ONE, &[container("/c"), create("/c/a"), delete("/c/a")]);
    desk.pass(CHECK_MS - 3000);
    let (conn, _) = desk.client(ONE, 40_000);
    desk.hold(TWO, ONE);
    desk.hold(THREE, ONE);
    desk.asks(conn, 1, create("/c/b"));
    desk.pass(3000);
    desk.release(TWO, ONE);
    desk.release(THREE, ONE);
    assert_eq!(desk.nodes(TWO), ["c"]);
    assert_eq!(desk.ordered(TWO, SessionId::NONE), "");
}

#[test]
fn ttl_nodes_are_there_only_if_wanted() {
    let mut desk = Desk::new();
    let (conn, _) = desk.client(TWO, 10_000);
    assert_eq!(desk.call(conn, 1, ttl("/t", 1000)), "1 Unimplemented at 1:2");
}

#[test]
fn a_ttl_node_goes_when_its_time_is_over_and_it_has_no_children() {
    let mut desk = typed();
    let requests = [ttl("/t", 1000), ttl("/later", 90_000), ttl("/full", 1000), create("/full/a")];
    writes(&mut desk, THREE, &requests);
    desk.pass(CHECK_MS);
    assert_eq!(desk.nodes(FOUR), ["full", "later"]);
    writes(&mut desk, THREE, &[delete("/full/a")]);
    desk.pass(CHECK_MS);
    assert_eq!(desk.nodes(FOUR), [""; 0], "what its child does is not its own");
}

#[test]
fn a_ttl_node_that_is_set_begins_anew() {
    let mut desk = typed();
    writes(&mut desk, THREE, &[ttl("/t", 50_000)]);
    desk.pass(CHECK_MS / 2);
    let set = Request::SetData { path: "/t".into(), data: None, version: -1 };
    writes(&mut desk, TWO, &[set]);
    desk.pass(CHECK_MS / 2);
    assert_eq!(desk.nodes(FOUR), ["t"]);
    desk.pass(CHECK_MS);
    assert_eq!(desk.nodes(FOUR), [""; 0]);
}

#[test]
fn whoever_leads_next_looks_after_them() {
    let mut desk = Desk::new();
    writes(&mut desk, TWO, &[container("/c"), create("/c/a"), delete("/c/a")]);
    desk.dies(ONE);
    desk.led_by(THREE);
    desk.pass(CHECK_MS);
    for server in [TWO, THREE, FOUR] {
        assert_eq!(desk.nodes(server), [""; 0]);
        assert_eq!(desk.ordered(server, SessionId::NONE).lines().count(), 1, "one of them does");
    }
}

#[test]
fn not_all_of_them_go_at_once() {
    let mut desk = Desk::with(|_| {}, |settings| settings.container_max_per_minute = 2);
    for path in ["/a", "/b", "/c"] {
        let child = format!("{path}/child");
        writes(&mut desk, TWO, &[container(path), create(&child), delete(&child)]);
    }
    desk.pass(CHECK_MS);
    assert_eq!(desk.nodes(TWO), ["c"]);
    desk.pass(CHECK_MS);
    assert_eq!(desk.nodes(TWO), [""; 0]);
}
