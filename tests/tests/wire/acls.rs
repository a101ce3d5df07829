//! Who may do what, who is who, and which ACLs are none.

use zoolab_core::Settings;
use zoolab_tests::desk::Desk;
use zoolab_tests::raw::{Acl, Body, Request, Text, acl, open_acl, perm};

use crate::ask::{all_fine, auth, create, create_acl, delete, err, get, get_acl, set, set_acl};

const DIGEST: &str = "u:Jq7wMyA/w2Vd5WIDAKdu4OIIFEQ=";

fn lines(body: Body) -> Vec<Acl> {
    let Body::Acl(Some(lines), _) = body else { panic!("an ACL expected, got {body}") };
    lines
}

#[test]
fn duplicates_go_and_permissions_stay_as_given() {
    let mut desk = Desk::default();
    let client = desk.client();
    let (open, none) = (acl(31, "world", "anyone"), acl(0, "ip", "10.0.0.1"));
    all_fine(&mut desk, client, &[create_acl("/a", &[open.clone(), none.clone(), open.clone()])]);
    assert_eq!(lines(desk.call(client, &get_acl("/a")).body), [open, none]);
}

#[test]
fn these_are_no_acls() {
    let mut desk = Desk::default();
    let client = desk.client();
    let null_scheme = Acl { perms: 31, scheme: Text::NULL, id: "x".into() };
    let bad: [&[Acl]; 12] = [
        &[],
        &[acl(31, "world", "other")],
        &[acl(31, "super", "x")],
        &[acl(31, "nosuch", "x")],
        &[acl(31, "digest", "nocolon")],
        &[acl(31, "digest", "a:b:c")],
        &[acl(31, "digest", "a:")],
        &[acl(31, "ip", "1.2.3")],
        &[acl(31, "ip", "1.2.3.4/33")],
        &[acl(31, "auth", "")],
        &[null_scheme],
        &[acl(31, "world", "anyone"), acl(31, "nosuch", "x")],
    ];
    for acls in bad {
        assert_eq!(err(&mut desk, client, &create_acl("/a", acls)), -114, "{acls:?}");
    }
    let null = Request::Create { opcode: 1, path: "/a".into(), data: None, acl: None, flags: 0 };
    assert_eq!(err(&mut desk, client, &null), -114);
    let world_null = Acl { perms: 31, scheme: "world".into(), id: Text::NULL };
    assert_eq!(err(&mut desk, client, &create_acl("/a", &[world_null])), -5);
    for good in ["a:b", ":b"] {
        assert_eq!(
            err(
                &mut desk,
                client,
                &create_acl(&format!("/{}", good.len()), &[acl(31, "digest", good)])
            ),
            0
        );
    }
    assert_eq!(
        err(&mut desk, client, &create_acl("/v6", &[acl(31, "ip", "fe80::/10")])),
        0,
        "from 3.9.4 on"
    );
}

#[test]
fn auth_stands_for_the_clients_own_identities() {
    let mut desk = Desk::default();
    let client = desk.client();
    all_fine(&mut desk, client, &[auth("digest", "u:p"), auth("digest", "v:q")]);
    let null_id = Acl { perms: perm::ALL, scheme: "auth".into(), id: Text::NULL };
    all_fine(&mut desk, client, &[create_acl("/a", &[null_id])]);
    let seen = lines(desk.call(client, &get_acl("/a")).body);
    assert_eq!(seen.len(), 2, "{seen:?}");
    assert_eq!(seen[0], acl(31, "digest", DIGEST));
}

#[test]
fn digests_let_in_who_knows_the_password_and_are_hidden_from_others() {
    let mut desk = Desk::default();
    let (mine, other) = (desk.client(), desk.client());
    let acls = [acl(perm::ALL, "digest", DIGEST), acl(perm::READ, "world", "anyone")];
    all_fine(&mut desk, mine, &[create_acl("/a", &acls)]);
    assert_eq!(err(&mut desk, mine, &set("/a", "x")), -102, "not yet");
    assert_eq!(lines(desk.call(other, &get_acl("/a")).body)[0], acl(31, "digest", "u:x"));
    all_fine(&mut desk, mine, &[auth("digest", "u:p"), set("/a", "x")]);
    assert_eq!(lines(desk.call(mine, &get_acl("/a")).body), acls);
    all_fine(&mut desk, other, &[auth("digest", "u:wrong"), get("/a")]);
    assert_eq!(err(&mut desk, other, &set("/a", "y")), -102);
    assert_eq!(err(&mut desk, other, &create("/a/b")), -102);
}

#[test]
fn getting_an_acl_needs_to_read_or_to_administer() {
    let mut desk = Desk::default();
    let client = desk.client();
    all_fine(
        &mut desk,
        client,
        &[
            create_acl("/r", &[acl(perm::READ, "world", "anyone")]),
            create_acl("/a", &[acl(perm::ADMIN, "world", "anyone")]),
            create_acl("/w", &[acl(perm::WRITE, "world", "anyone")]),
            get_acl("/r"),
            get_acl("/a"),
        ],
    );
    assert_eq!(err(&mut desk, client, &get_acl("/w")), -102);
    assert_eq!(err(&mut desk, client, &get_acl("/m")), -101);
}

#[test]
fn super_may_do_everything() {
    let digest = zoolab_core::auth::digest_of("super:test");
    let mut desk = Desk::new(Settings { super_digest: Some(digest), ..Settings::default() });
    let client = desk.client();
    all_fine(&mut desk, client, &[create_acl("/a", &[acl(0, "world", "anyone")])]);
    assert_eq!(err(&mut desk, client, &get("/a")), -102);
    all_fine(
        &mut desk,
        client,
        &[
            auth("digest", "super:test"),
            get("/a"),
            set("/a", "x"),
            create("/a/b"),
            delete("/a/b"),
            set_acl("/a", &open_acl()),
            set("/zookeeper/config", "x"),
        ],
    );
}

#[test]
fn addresses_are_identities() {
    let mut desk = Desk::default();
    let (local, remote) = (desk.client(), desk.dial_from([10, 1, 2, 3].into()));
    desk.greet(remote, &zoolab_tests::raw::Hello::default());
    desk.welcome(remote);
    all_fine(&mut desk, local, &[create_acl("/a", &[acl(31, "ip", "10.0.0.0/8")])]);
    assert_eq!(err(&mut desk, local, &get("/a")), -102);
    all_fine(&mut desk, remote, &[get("/a"), auth("ip", "")]);
}

#[test]
fn an_unknown_scheme_ends_the_connection_not_the_session() {
    let mut desk = Desk::default();
    let client = desk.client();
    let reply = desk.call(client, &auth("nosuch", "x"));
    assert_eq!((reply.err, reply.zxid), (-115, 0));
    assert!(desk.is_closed(client));
    assert_eq!(desk.server.sessions().len(), 1);
    let client = desk.client();
    let reply = desk.call(client, &Request::Sasl { token: Some(vec![1]) });
    assert_eq!((reply.err, reply.zxid), (-115, 0));
    assert!(desk.is_closed(client));
}

#[test]
fn requests_keep_the_identities_they_were_taken_with() {
    let mut desk = Desk::default();
    let client = desk.client();
    all_fine(&mut desk, client, &[create_acl("/a", &[acl(31, "digest", DIGEST)])]);
    desk.hold_disk();
    desk.send_as(client, 1, &create("/b"));
    desk.send_as(client, 2, &get("/a"));
    desk.send_as(client, -4, &auth("digest", "u:p"));
    desk.send_as(client, 3, &get("/a"));
    desk.release_disk();
    let codes: Vec<(i32, i32)> = desk
        .frames(client)
        .into_iter()
        .map(|frame| match frame {
            zoolab_tests::raw::Frame::Reply(reply) => (reply.xid, reply.err),
            zoolab_tests::raw::Frame::Event(event) => panic!("{event}"),
        })
        .collect();
    assert_eq!(codes, [(-4, 0), (1, 0), (2, -102), (3, 0)]);
}

#[test]
fn without_acls_everyone_may() {
    let mut desk = Desk::new(Settings { skip_acl: true, ..Settings::default() });
    let client = desk.client();
    all_fine(
        &mut desk,
        client,
        &[create_acl("/a", &[acl(0, "world", "anyone")]), get("/a"), set("/a", "x"), get_acl("/a")],
    );
}
