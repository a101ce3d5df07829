//! Deleting and setting: versions, emptiness, and the order of checks.

use zoolab_tests::desk::Desk;
use zoolab_tests::raw::{Request, acl, code, open_acl, perm};

use crate::ask::{
    all_fine, create, create_acl, delete, err, exists, set, set_acl, set_version, stat,
};

#[test]
fn delete_asks_for_permission_before_it_looks_and_for_the_version_before_emptiness() {
    let mut desk = Desk::default();
    let client = desk.client();
    let no_delete = [acl(perm::ALL & !perm::DELETE, "world", "anyone")];
    all_fine(
        &mut desk,
        client,
        &[create_acl("/p", &no_delete), create("/p/a"), create("/q"), create("/q/a")],
    );
    assert_eq!(err(&mut desk, client, &delete("/p/missing")), code::NO_AUTH);
    assert_eq!(err(&mut desk, client, &delete("/p/a")), code::NO_AUTH);
    let versioned = |version| Request::Delete { path: "/q".into(), version };
    assert_eq!(err(&mut desk, client, &versioned(5)), -103);
    assert_eq!(err(&mut desk, client, &versioned(0)), -111);
    assert_eq!(err(&mut desk, client, &versioned(-1)), -111);
    all_fine(&mut desk, client, &[delete("/q/a"), versioned(0)]);
}

#[test]
fn nothing_is_asked_of_the_node_that_is_deleted() {
    let mut desk = Desk::default();
    let client = desk.client();
    all_fine(
        &mut desk,
        client,
        &[create_acl("/mine", &[acl(0, "world", "anyone")]), delete("/mine")],
    );
}

#[test]
fn setting_data_asks_permission_then_version() {
    let mut desk = Desk::default();
    let client = desk.client();
    all_fine(
        &mut desk,
        client,
        &[create_acl("/r", &[acl(perm::READ, "world", "anyone")]), create("/a")],
    );
    assert_eq!(err(&mut desk, client, &set_version("/r", "", 9)), -102);
    assert_eq!(err(&mut desk, client, &set_version("/a", "", 9)), -103);
    all_fine(&mut desk, client, &[set_version("/a", "1", 0), set_version("/a", "2", 1)]);
    assert_eq!(err(&mut desk, client, &set_version("/a", "3", 1)), -103);
    assert_eq!(stat(&mut desk, client, "/a").version, 2);
}

#[test]
fn setting_an_acl_judges_the_acl_before_it_looks() {
    let mut desk = Desk::default();
    let client = desk.client();
    assert_eq!(err(&mut desk, client, &set_acl("/missing", &[])), -114);
    assert_eq!(err(&mut desk, client, &set_acl("/missing", &open_acl())), -101);
    all_fine(&mut desk, client, &[create_acl("/r", &[acl(perm::READ, "world", "anyone")])]);
    assert_eq!(err(&mut desk, client, &set_acl("/r", &open_acl())), -102);
    all_fine(&mut desk, client, &[create("/a")]);
    let versioned = |version| Request::SetAcl { path: "/a".into(), acl: Some(open_acl()), version };
    assert_eq!(err(&mut desk, client, &versioned(3)), -103);
    all_fine(&mut desk, client, &[versioned(0), versioned(1)]);
}

#[test]
fn every_refused_write_takes_a_place_and_no_refused_read_does() {
    let mut desk = Desk::default();
    let client = desk.client();
    let mut zxid = 1;
    for request in [create("/m/c"), delete("/m"), set("/m", ""), set_acl("/m", &open_acl())] {
        zxid += 1;
        let reply = desk.call(client, &request);
        assert_eq!((reply.err, reply.zxid), (-101, zxid), "{request:?}");
    }
    let reply = desk.call(client, &exists("/m"));
    assert_eq!((reply.err, reply.zxid), (-101, zxid));
    assert_eq!(desk.log.len() as i64, zxid);
}

#[test]
fn a_write_sees_what_is_still_on_its_way_to_disk() {
    let mut desk = Desk::default();
    let client = desk.client();
    desk.hold_disk();
    let pipelined = [
        create("/a"),
        create("/a/b"),
        delete("/a"),
        set_version("/a/b", "x", 0),
        set_version("/a/b", "y", 0),
        delete("/a/b"),
        delete("/a"),
        create("/a/c"),
        create("/a"),
    ];
    for (xid, request) in (1..).zip(&pipelined) {
        desk.send_as(client, xid, request);
    }
    desk.release_disk();
    let codes: Vec<i32> = desk
        .frames(client)
        .iter()
        .map(|frame| match frame {
            zoolab_tests::raw::Frame::Reply(reply) => reply.err,
            zoolab_tests::raw::Frame::Event(event) => panic!("{event}"),
        })
        .collect();
    assert_eq!(codes, [0, 0, -111, 0, -103, 0, 0, -101, 0]);
}

#[test]
fn reconfiguration_is_refused_off_and_on() {
    use zoolab_core::Settings;
    for (reconfig, code) in [(false, -123), (true, -6)] {
        let mut desk = Desk::new(Settings { reconfig, ..Settings::default() });
        let client = desk.client();
        let none = zoolab_tests::raw::Text::NULL;
        let (joining, leaving) = (none.clone(), none.clone());
        let request = Request::Reconfig { joining, leaving, members: none, config_id: -1 };
        let reply = desk.call(client, &request);
        assert_eq!((reply.err, reply.zxid), (code, 2));
    }
}
