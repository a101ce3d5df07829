//! Creating: modes, flags, sequence numbers, containers, TTLs, and the order of checks.

use zoolab_core::Settings;
use zoolab_tests::desk::Desk;
use zoolab_tests::raw::{Body, Request, acl, opcode, open_acl};

use crate::ask::{
    all_fine, create, create_acl, create_as, create_flag, create_ttl, delete, err, exists, stat,
};

fn extended() -> Desk {
    Desk::new(Settings { extended_types: true, ..Settings::default() })
}

#[test]
fn flags_are_an_enumeration() {
    let mut desk = extended();
    let client = desk.client();
    for flags in [7, 8, -1, i32::MAX] {
        assert_eq!(err(&mut desk, client, &create_flag("/a", flags)), -8, "{flags}");
    }
    for flags in [5, 6] {
        for opcode in [opcode::CREATE, opcode::CREATE2, opcode::CREATE_CONTAINER] {
            assert_eq!(err(&mut desk, client, &create_as(opcode, "/a", flags)), -8, "{flags}");
        }
    }
}

#[test]
fn checks_come_in_order() {
    let mut desk = Desk::default();
    let client = desk.client();
    all_fine(
        &mut desk,
        client,
        &[create_flag("/e", 1), create_acl("/r", &[acl(1, "world", "anyone")])],
    );
    let with = |path: &str, acls: &[zoolab_tests::raw::Acl], flags| {
        let (data, acl) = (None, Some(acls.to_vec()));
        Request::Create { opcode: opcode::CREATE, path: path.into(), data, acl, flags }
    };
    let bad_acl = [acl(31, "nosuch", "x")];
    let cases = [
        ("flags before the path", with("abc", &bad_acl, 9), -8),
        ("slash before the ACL", with("abc", &bad_acl, 0), -8),
        ("the ACL before the parent", with("/missing/a", &bad_acl, 0), -114),
        ("the parent before permission", with("/missing/a", &open_acl(), 0), -101),
        ("permission before validation", with("/r/.", &open_acl(), 0), -102),
        ("validation before existence", with("/e/", &open_acl(), 0), -8),
        ("existence before the ephemeral parent", with("/e", &open_acl(), 0), -110),
        ("no children for ephemerals", with("/e/a", &open_acl(), 0), -108),
    ];
    for (what, request, code) in cases {
        assert_eq!(err(&mut desk, client, &request), code, "{what}");
    }
}

#[test]
fn ephemerals_belong_to_their_session() {
    let mut desk = Desk::default();
    let (owner, other) = (desk.client(), desk.client());
    all_fine(&mut desk, owner, &[create_flag("/e", 1)]);
    let session = desk.server.session_of(owner).unwrap();
    assert_eq!(stat(&mut desk, other, "/e").ephemeral_owner, session.0);
    // Anyone may write and delete them.
    all_fine(&mut desk, other, &[crate::ask::set("/e", "x")]);
    assert_eq!(stat(&mut desk, other, "/e").ephemeral_owner, session.0);
    all_fine(&mut desk, other, &[delete("/e")]);
    assert_eq!(desk.server.tree().ephemerals_len(), 0);
}

#[test]
fn what_is_made_follows_the_operation_not_the_flag() {
    let mut desk = Desk::default();
    let client = desk.client();
    all_fine(&mut desk, client, &[create_flag("/plain", 4)]);
    assert_eq!(desk.server.tree().containers().count(), 0);
    for flags in [0, 1, 4] {
        let path = format!("/c{flags}");
        let reply = desk.call(client, &create_as(opcode::CREATE_CONTAINER, &path, flags));
        assert_eq!(reply.body.stat().unwrap().ephemeral_owner, 0, "reported as nobody's");
    }
    let reply = desk.call(client, &create_as(opcode::CREATE_CONTAINER, "/s", 2));
    assert_eq!(reply.body.path(), Some(&"/s0000000004".into()));
    assert_eq!(desk.server.tree().containers().count(), 4);
    assert_eq!(desk.server.tree().ephemerals_len(), 0);
    all_fine(&mut desk, client, &[create("/c0/child")]);
}

#[test]
fn without_extended_types_a_ttl_is_not_even_looked_at() {
    let mut desk = Desk::default();
    let client = desk.client();
    for ttl in [-1, 0, 1, i64::MAX] {
        assert_eq!(err(&mut desk, client, &create_ttl("/missing/a", 5, ttl)), -6);
        assert_eq!(err(&mut desk, client, &create_flag("/missing/a", 6)), -6);
    }
}

#[test]
fn ttls_have_a_range_and_need_their_flag() {
    let mut desk = extended();
    let client = desk.client();
    for ttl in [i64::MIN, -1, 0, 0x100_0000_0000, i64::MAX] {
        assert_eq!(err(&mut desk, client, &create_ttl("/t", 5, ttl)), -8, "{ttl}");
    }
    for flags in 0..=4 {
        for ttl in [-1, 0, 1] {
            assert_eq!(err(&mut desk, client, &create_ttl("/t", flags, ttl)), -8, "{flags} {ttl}");
        }
    }
    all_fine(&mut desk, client, &[create_ttl("/t1", 5, 1), create_ttl("/t2", 5, 0xFF_FFFF_FFFF)]);
    let reply = desk.call(client, &create_ttl("/t", 6, 7));
    assert_eq!(reply.body.path(), Some(&"/t0000000002".into()));
    assert_eq!(reply.body.stat().unwrap().ephemeral_owner, 0);
    all_fine(&mut desk, client, &[create("/t1/child")]);
}

#[test]
fn a_container_goes_when_its_last_child_has_gone() {
    let mut desk = Desk::default();
    let client = desk.client();
    all_fine(
        &mut desk,
        client,
        &[
            create_as(opcode::CREATE_CONTAINER, "/used", 4),
            create_as(opcode::CREATE_CONTAINER, "/never", 4),
            create_as(opcode::CREATE_CONTAINER, "/busy", 4),
            create("/used/a"),
            create("/busy/a"),
            delete("/used/a"),
        ],
    );
    keep_alive(&mut desk, client, 62_000);
    assert_eq!(err(&mut desk, client, &exists("/used")), -101);
    assert_eq!(err(&mut desk, client, &exists("/never")), 0, "never by default");
    assert_eq!(err(&mut desk, client, &exists("/busy")), 0);
    // And again after the next interval.
    all_fine(&mut desk, client, &[delete("/busy/a")]);
    keep_alive(&mut desk, client, 62_000);
    assert_eq!(err(&mut desk, client, &exists("/busy")), -101);
}

#[test]
fn a_container_that_was_never_used_may_be_told_to_go() {
    let settings = Settings { container_never_used_ms: Some(90_000), ..Settings::default() };
    let mut desk = Desk::new(settings);
    let client = desk.client();
    all_fine(&mut desk, client, &[create_as(opcode::CREATE_CONTAINER, "/never", 4)]);
    keep_alive(&mut desk, client, 62_000);
    assert_eq!(err(&mut desk, client, &exists("/never")), 0);
    keep_alive(&mut desk, client, 60_000);
    assert_eq!(err(&mut desk, client, &exists("/never")), -101);
}

#[test]
fn a_ttl_node_goes_by_its_own_age_once_it_has_no_children() {
    let mut desk = extended();
    let client = desk.client();
    all_fine(
        &mut desk,
        client,
        &[create_ttl("/old", 5, 1000), create_ttl("/held", 5, 1000), create("/held/child")],
    );
    all_fine(&mut desk, client, &[create_ttl("/young", 5, 1_000_000)]);
    keep_alive(&mut desk, client, 62_000);
    assert_eq!(err(&mut desk, client, &exists("/old")), -101);
    assert_eq!(err(&mut desk, client, &exists("/held")), 0);
    assert_eq!(err(&mut desk, client, &exists("/young")), 0);
    // A child does not make it younger.
    all_fine(&mut desk, client, &[delete("/held/child")]);
    keep_alive(&mut desk, client, 60_000);
    assert_eq!(err(&mut desk, client, &exists("/held")), -101);
}

fn keep_alive(desk: &mut Desk, client: zoolab_tests::desk::Client, ms: i64) {
    for _ in 0..ms / 2000 {
        desk.pass(2000);
        assert_eq!(desk.call(client, &Request::Ping).err, 0);
    }
}

#[test]
fn a_plain_create_is_answered_with_the_path_alone() {
    let mut desk = Desk::default();
    let client = desk.client();
    desk.send_as(client, 7, &create("/a"));
    let bytes = desk.bytes(client).unwrap();
    assert_eq!(bytes[16..], [0, 0, 0, 2, b'/', b'a']);
    let reply = desk.call(client, &create_as(opcode::CREATE_CONTAINER, "/c", 4));
    assert!(matches!(reply.body, Body::Created(..)));
}
