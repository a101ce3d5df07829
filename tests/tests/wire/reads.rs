//! Reads that are not about one node's data.

use zoolab_core::Settings;
use zoolab_tests::desk::Desk;
use zoolab_tests::raw::{Body, Request, Text, acl, perm};

use crate::ask::{
    all_fine, auth, children, create, create_acl, create_flag, err, exists, exists_watch, get,
    texts,
};

#[test]
fn ephemerals_are_found_by_text_and_own_session_only() {
    let mut desk = Desk::default();
    let (mine, other) = (desk.client(), desk.client());
    all_fine(&mut desk, mine, &[create_flag("/a", 1), create_flag("/ab", 1), create_flag("/b", 1)]);
    all_fine(&mut desk, other, &[create_flag("/ac", 1)]);
    let all = texts(&["/a", "/ab", "/b"]);
    for (prefix, expected) in [
        (Text::from("/a"), texts(&["/a", "/ab"])),
        ("/".into(), all.clone()),
        ("".into(), all.clone()),
        (Text::NULL, all.clone()),
        ("  ".into(), all),
        ("/c".into(), vec![]),
    ] {
        let reply = desk.call(mine, &Request::GetEphemerals { prefix: prefix.clone() });
        assert_eq!(reply.body, Body::Children(Some(expected)), "{prefix}");
    }
}

#[test]
fn descendants_are_counted() {
    let mut desk = Desk::default();
    let client = desk.client();
    all_fine(&mut desk, client, &[create("/a"), create("/a/b"), create("/a/b/c"), create("/ab")]);
    for (path, count) in [("/", 7), ("", 8), ("/a", 2), ("/a/b", 1), ("/ab", 0), ("/zookeeper", 2)]
    {
        let reply = desk.call(client, &Request::GetAllChildrenNumber { path: path.into() });
        assert_eq!(reply.body, Body::Count(count), "{path}");
    }
}

#[test]
fn who_am_i_names_users_without_their_digests() {
    let digest = zoolab_core::auth::digest_of("super:test");
    let mut desk = Desk::new(Settings { super_digest: Some(digest), ..Settings::default() });
    let client = desk.client();
    let ids = |desk: &mut Desk| {
        let Body::Ids(Some(ids)) = desk.call(client, &Request::WhoAmI).body else { panic!() };
        ids.into_iter().map(|(scheme, id)| (scheme.lossy(), id.lossy())).collect::<Vec<_>>()
    };
    let own = |scheme: &str, id: &str| (scheme.to_owned(), id.to_owned());
    assert_eq!(ids(&mut desk), [own("ip", "127.0.0.1")]);
    all_fine(&mut desk, client, &[auth("digest", "u:p"), auth("digest", "super:test")]);
    let mut now = ids(&mut desk);
    now.sort();
    assert_eq!(
        now,
        [own("digest", "super"), own("digest", "u"), own("ip", "127.0.0.1"), own("super", "")]
    );
}

#[test]
fn reading_needs_permission_and_exists_too() {
    let mut desk = Desk::default();
    let client = desk.client();
    all_fine(&mut desk, client, &[create_acl("/closed", &[acl(perm::WRITE, "world", "anyone")])]);
    for request in [
        get("/closed"),
        children("/closed"),
        exists("/closed"),
        Request::GetChildren2 { path: "/closed".into(), watch: false },
        Request::GetAllChildrenNumber { path: "/closed".into() },
        Request::GetAcl { path: "/closed".into() },
        exists_watch("/closed"),
    ] {
        assert_eq!(err(&mut desk, client, &request), -102, "{request:?}");
    }
    assert!(desk.server.watches().is_empty(), "a refused exists watches nothing");
}

#[test]
fn children_come_sorted_with_or_without_stat() {
    let mut desk = Desk::default();
    let client = desk.client();
    all_fine(&mut desk, client, &[create("/b"), create("/a"), create("/c")]);
    let names = texts(&["a", "b", "c", "zookeeper"]);
    assert_eq!(desk.call(client, &children("/")).body, Body::Children(Some(names.clone())));
    let reply = desk.call(client, &Request::GetChildren2 { path: "/".into(), watch: false });
    assert_eq!(reply.body.children(), Some(&names[..]));
    assert_eq!(reply.body.stat().unwrap().num_children, 4);
}
