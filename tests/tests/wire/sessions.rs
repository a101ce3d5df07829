//! Sessions: their end, and what is left of them.

use zoolab_core::Settings;
use zoolab_tests::desk::Desk;
use zoolab_tests::raw::{Frame, Hello, Request};

use crate::ask::{all_fine, auth, create, create_flag, err, exists, set};

#[test]
fn a_session_ends_within_a_tick_after_its_timeout_never_before() {
    for offset in [0, 1, 700, 1999] {
        let mut desk = Desk::new(Settings::with_tick(2000));
        desk.pass(offset);
        let conn = desk.dial();
        desk.greet(conn, &Hello { timeout_ms: 4000, ..Hello::default() });
        let welcome = desk.welcome(conn);
        let touched = desk.clock();
        desk.pass(4000);
        assert!(!desk.is_closed(conn), "not before its time");
        while !desk.is_closed(conn) {
            desk.pass(1);
        }
        let lived = desk.clock() - touched;
        assert!((4001..=6000).contains(&lived), "{offset}: {lived}");
        assert_eq!(desk.clock() % 2000, 0);
        assert_eq!(desk.bytes(conn), None, "no word of it on the living connection");
        let back = desk.dial();
        desk.greet(back, &welcome.again());
        assert!(desk.welcome(back).is_expired());
        assert!(desk.is_closed(back));
    }
}

#[test]
fn every_request_keeps_a_session_alive_but_auth_does_not() {
    let mut desk = Desk::default();
    let quiet = desk.dial();
    desk.greet(quiet, &Hello { timeout_ms: 4000, ..Hello::default() });
    desk.welcome(quiet);
    let busy = desk.dial();
    desk.greet(busy, &Hello { timeout_ms: 4000, ..Hello::default() });
    desk.welcome(busy);
    for _ in 0..10 {
        desk.pass(1000);
        assert_eq!(err(&mut desk, busy, &Request::Ping), 0);
        if !desk.is_closed(quiet) {
            assert_eq!(err(&mut desk, quiet, &auth("digest", "u:p")), 0);
        }
    }
    assert!(desk.is_closed(quiet));
    assert!(!desk.is_closed(busy));
}

#[test]
fn closing_removes_all_ephemerals_in_one_place() {
    let mut desk = Desk::default();
    let (owner, other) = (desk.client(), desk.client());
    all_fine(&mut desk, owner, &[create("/p"), create_flag("/p/a", 1), create_flag("/p/b", 3)]);
    let reply = desk.call(owner, &Request::CloseSession);
    assert_eq!(reply.err, 0);
    assert!(desk.is_closed(owner));
    let stat = crate::ask::stat(&mut desk, other, "/p");
    assert_eq!((stat.num_children, stat.pzxid, stat.cversion), (0, reply.zxid, 4));
    assert_eq!(desk.server.sessions().len(), 1);
}

#[test]
fn expiry_removes_ephemerals_too() {
    let mut desk = Desk::default();
    let owner = desk.dial();
    desk.greet(owner, &Hello { timeout_ms: 4000, ..Hello::default() });
    desk.welcome(owner);
    let other = desk.client();
    all_fine(&mut desk, owner, &[create_flag("/e", 1)]);
    desk.hang_up(owner);
    assert_eq!(err(&mut desk, other, &exists("/e")), 0, "a lost connection is not the end");
    desk.pass(6000);
    assert_eq!(err(&mut desk, other, &exists("/e")), -101);
}

#[test]
fn what_is_on_its_way_to_disk_counts_when_a_session_closes() {
    let mut desk = Desk::default();
    let (owner, other) = (desk.client(), desk.client());
    all_fine(&mut desk, owner, &[create_flag("/old", 1), create_flag("/doomed", 1)]);
    desk.hold_disk();
    desk.send_as(owner, 1, &create_flag("/fresh", 1));
    desk.send_as(owner, 2, &crate::ask::delete("/doomed"));
    desk.send_as(owner, 3, &Request::CloseSession);
    // Behind its own end a session is not heard.
    desk.send_as(owner, 4, &create("/late"));
    desk.send_as(owner, 5, &exists("/"));
    desk.release_disk();
    let xids: Vec<i32> = desk
        .frames(owner)
        .iter()
        .map(|frame| match frame {
            Frame::Reply(reply) => reply.xid,
            Frame::Event(event) => panic!("{event}"),
        })
        .collect();
    assert_eq!(xids, [1, 2, 3]);
    assert!(desk.is_closed(owner));
    let zoolab_core::txn::Change::CloseSession { paths } = &desk.log.last().unwrap().change else {
        panic!("{:?}", desk.log.last())
    };
    assert_eq!(paths.iter().map(|path| &**path).collect::<Vec<_>>(), ["/fresh", "/old"]);
    for path in ["/old", "/fresh", "/late"] {
        assert_eq!(err(&mut desk, other, &exists(path)), -101, "{path}");
    }
}

#[test]
fn a_parent_can_go_right_behind_the_session_that_held_it() {
    let mut desk = Desk::default();
    let (owner, other) = (desk.client(), desk.client());
    all_fine(&mut desk, owner, &[create("/p"), create_flag("/p/e", 1)]);
    desk.hold_disk();
    desk.send_as(owner, 1, &Request::CloseSession);
    desk.send_as(other, 1, &crate::ask::delete("/p"));
    desk.release_disk();
    let frames = desk.frames(other);
    let [Frame::Reply(reply)] = &frames[..] else { panic!("{frames:?}") };
    assert_eq!(reply.err, 0);
    assert_eq!(err(&mut desk, other, &exists("/p")), -101);
}

#[test]
fn a_client_that_vanishes_while_its_session_opens_leaves_it_to_expire() {
    let mut desk = Desk::default();
    desk.hold_disk();
    let conn = desk.dial();
    desk.greet(conn, &Hello { timeout_ms: 4000, ..Hello::default() });
    desk.hang_up(conn);
    desk.release_disk();
    assert_eq!(desk.server.sessions().len(), 1);
    desk.pass(6000);
    assert_eq!(desk.server.sessions().len(), 0);
}

#[test]
fn writes_under_way_survive_their_connection() {
    let mut desk = Desk::default();
    let conn = desk.dial();
    desk.greet(conn, &Hello::default());
    let welcome = desk.welcome(conn);
    desk.hold_disk();
    desk.send_as(conn, 1, &create("/a"));
    desk.send_as(conn, 2, &exists("/a"));
    desk.hang_up(conn);
    let back = desk.come_back(&welcome, 0);
    desk.send_as(back, 1, &exists("/a"));
    assert_eq!(desk.frames(back), [], "behind the session's own write");
    desk.release_disk();
    let frames = desk.frames(back);
    let [Frame::Reply(reply)] = &frames[..] else { panic!("{frames:?}") };
    assert_eq!(reply.err, 0, "a session reads its own writes, also elsewhere");
    all_fine(&mut desk, back, &[set("/a", "x")]);
}
