//! Corners that chance seldom finds, played on purpose.

use zoolab_core::acl::AclWish;
use zoolab_core::request::{ConnectRequest, Create, CreateOp};
use zoolab_core::{ConnId, Request, Settings, Timer, Xid};

use crate::expected::{Expected, START, Step, Theme};
use crate::lab::{Lab, Look};

const ALL: usize = usize::MAX;

/// Opens a session on connection 1, then plays the steps, each compared with what is expected.
fn play(steps: impl IntoIterator<Item = Step>) -> Lab {
    let conn = ConnId(1);
    let request = ConnectRequest { timeout_ms: 10_000, ..ConnectRequest::default() };
    let opening = [
        Step::Accept { conn, address: [127, 0, 0, 1].into() },
        Step::Connect { conn, request },
        Step::Disk { count: ALL },
    ];
    let mut expected = Expected::new(Settings::with_tick(2000), Theme::default(), START, None);
    let mut lab = Lab::new(&expected);
    for step in opening.into_iter().chain(steps) {
        assert!(expected.can(&step), "{step:?}");
        expected.step(&step);
        lab.check(&step, &expected, Look::Inside);
    }
    lab
}

fn ask(request: Request) -> Step {
    Step::Request { conn: ConnId(1), xid: Xid(1), request }
}

fn create(op: CreateOp, path: &str, flags: i32) -> Step {
    let open = AclWish { perms: 31, scheme: Some("world".into()), id: Some("anyone".into()) };
    let (path, data, acl) = (path.into(), None, Some(vec![open]));
    ask(Request::Create(Create { op, path, data, acl, flags, ttl_ms: -1 }))
}

fn delete(path: &str) -> Step {
    ask(Request::Delete { path: path.into(), version: -1 })
}

/// An empty container that has had a child, and then what is still on its way to disk when the
/// server looks for such containers.
fn used_container(in_flight: impl IntoIterator<Item = Step>) -> Lab {
    let before = [
        create(CreateOp::Container, "/c", 4),
        create(CreateOp::Create, "/c/child", 0),
        delete("/c/child"),
        Step::Disk { count: ALL },
    ];
    let after = [Step::Timeout(Timer::Containers), Step::Disk { count: ALL }];
    play(before.into_iter().chain(in_flight).chain(after))
}

#[test]
fn a_used_container_goes() {
    assert!(used_container([]).server.tree().get("/c").is_none());
}

#[test]
fn a_container_that_gets_a_child_in_time_stays() {
    let lab = used_container([create(CreateOp::Create, "/c/next", 0)]);
    assert!(lab.server.tree().get("/c/next").is_some());
}

#[test]
fn what_has_taken_the_place_of_a_container_stays() {
    let lab = used_container([delete("/c"), create(CreateOp::Create, "/c", 1)]);
    assert_eq!(lab.server.ephemerals().len(), 1);
}

#[test]
fn a_container_goes_once_though_looked_for_twice() {
    let lab = used_container([Step::Timeout(Timer::Containers)]);
    assert!(lab.server.tree().get("/c").is_none());
}

#[test]
fn a_parent_goes_right_behind_the_ephemerals_of_a_session() {
    let conn = ConnId(2);
    let request = ConnectRequest { timeout_ms: 10_000, ..ConnectRequest::default() };
    let lab = play([
        Step::Accept { conn, address: [127, 0, 0, 1].into() },
        Step::Connect { conn, request },
        create(CreateOp::Create, "/p", 0),
        create(CreateOp::Create, "/p/e", 1),
        Step::Disk { count: ALL },
        ask(Request::CloseSession),
        Step::Request {
            conn,
            xid: Xid(1),
            request: Request::Delete { path: "/p".into(), version: -1 },
        },
        Step::Disk { count: ALL },
    ]);
    assert!(lab.server.tree().get("/p").is_none());
}
