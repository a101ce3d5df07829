//! Which paths are paths, and when that is looked at.

use zoolab_tests::desk::Desk;
use zoolab_tests::raw::{Request, Text, opcode, open_acl};

use crate::ask::{
    all_fine, children_watch, create, create_flag, delete, err, exists, get, set, set_acl,
};

#[test]
fn characters_are_judged_as_java_sees_them() {
    let mut desk = Desk::default();
    let client = desk.client();
    for good in ["/...", "/..a", "/a.", "/.a", "/\u{a0}", "/\u{ffef}", "/ü", "/a b", "/\u{d7ff}"] {
        assert_eq!(err(&mut desk, client, &create(good)), 0, "{good:?}");
        assert_eq!(err(&mut desk, client, &get(good)), 0, "{good:?}");
    }
    for bad in [
        "/.",
        "/..",
        "/a\u{1}",
        "/a\u{1f}",
        "/a\u{7f}",
        "/a\u{9f}",
        "/\u{e000}",
        "/\u{f8ff}",
        "/\u{fff0}",
        "/\u{ffff}",
        "/\u{1f600}",
        "/a\0",
    ] {
        assert_eq!(err(&mut desk, client, &create(bad)), -8, "{bad:?}");
        assert_eq!(err(&mut desk, client, &set(bad, "")), -8, "{bad:?}");
    }
    let path = Text(Some(b"/\xff".to_vec()));
    let (data, acl) = (None, Some(open_acl()));
    let broken = Request::Create { opcode: opcode::CREATE, path, data, acl, flags: 0 };
    assert_eq!(err(&mut desk, client, &broken), -8, "what is not UTF-8 becomes U+FFFD");
}

#[test]
fn creating_looks_for_the_parent_before_it_judges_the_path() {
    let mut desk = Desk::default();
    let client = desk.client();
    all_fine(&mut desk, client, &[create("/p")]);
    let cases = [
        ("a/b", -101),
        ("/x//y", -101),
        ("abc", -8),
        ("", -8),
        ("/p/", -8),
        ("/p/.", -8),
        ("/p/x/", -101),
        ("/", -110),
        ("/p", -110),
    ];
    for (path, code) in cases {
        assert_eq!(err(&mut desk, client, &create(path)), code, "{path:?}");
    }
    let reply = desk.call(client, &create_flag("/p/", 2));
    assert_eq!(reply.body.path(), Some(&"/p/0000000000".into()));
    let reply = desk.call(client, &create_flag("/", 2));
    assert_eq!(reply.body.path(), Some(&"/0000000001".into()));
}

#[test]
fn the_root_takes_sequences_from_zero() {
    let mut desk = Desk::default();
    let client = desk.client();
    let reply = desk.call(client, &create_flag("/", 2));
    assert_eq!(reply.body.path(), Some(&"/0000000000".into()));
}

#[test]
fn writes_judge_the_path_before_they_look() {
    let mut desk = Desk::default();
    let client = desk.client();
    for path in ["", "abc", "/a/", "//", "/a//b", "/./a"] {
        assert_eq!(err(&mut desk, client, &set(path, "")), -8, "{path:?}");
        assert_eq!(err(&mut desk, client, &set_acl(path, &open_acl())), -8, "{path:?}");
    }
    assert_eq!(err(&mut desk, client, &set("/missing", "")), -101);
}

#[test]
fn deleting_judges_little() {
    let mut desk = Desk::default();
    let client = desk.client();
    let cases = [
        ("/", -8),
        ("/zookeeper", -8),
        ("/zookeeper/quota", -8),
        ("/zookeeper/config", -8),
        ("abc", -8),
        ("", -8),
        ("/a\0", -8),
        ("/a//b", -101),
        ("/missing", -101),
        ("/missing/child", -101),
        ("/.", -101),
    ];
    for (path, code) in cases {
        assert_eq!(err(&mut desk, client, &delete(path)), code, "{path:?}");
    }
}

#[test]
fn the_empty_path_reads_the_root_and_hears_nothing() {
    let mut desk = Desk::default();
    let client = desk.client();
    for request in [
        exists(""),
        get(""),
        children_watch(""),
        Request::GetAcl { path: "".into() },
        Request::GetAllChildrenNumber { path: "".into() },
    ] {
        assert_eq!(err(&mut desk, client, &request), 0, "{request:?}");
    }
    let (events, _) = desk.call_with_events(client, &create("/a"));
    assert_eq!(events, []);
}

#[test]
fn reads_judge_no_path_but_exists_a_nul() {
    let mut desk = Desk::default();
    let client = desk.client();
    for path in ["abc", "/a/", "//", "/a//b", "/\u{1}"] {
        assert_eq!(err(&mut desk, client, &get(path)), -101, "{path:?}");
        assert_eq!(err(&mut desk, client, &exists(path)), -101, "{path:?}");
    }
    assert_eq!(err(&mut desk, client, &exists("/\0")), -8);
    assert_eq!(err(&mut desk, client, &get("/\0")), -101);
}

#[test]
fn zookeepers_own_nodes_may_be_written_and_have_children() {
    let mut desk = Desk::default();
    let client = desk.client();
    all_fine(
        &mut desk,
        client,
        &[
            create("/zookeeper/mine"),
            set("/", "x"),
            set("/zookeeper", "y"),
            set("/zookeeper/quota", "z"),
            set_acl("/", &open_acl()),
            set_acl("/zookeeper", &open_acl()),
        ],
    );
    assert_eq!(err(&mut desk, client, &set("/zookeeper/config", "")), -102, "read-only to all");
}
