//! Several operations as one.

use zoolab_core::Settings;
use zoolab_tests::desk::Desk;
use zoolab_tests::raw::{Body, OpResult, Request, acl, event, opcode, perm};

use crate::ask::{
    all_fine, check, children, children_watch, create, create_acl, create_as, create_flag,
    create_ttl, delete, err, exists, exists_watch, get, set, stat,
};

fn results(body: Body) -> Vec<OpResult> {
    let Body::Multi(results) = body else { panic!("results expected, got {body}") };
    results
}

fn codes(body: Body) -> Vec<i32> {
    results(body).into_iter().map(|result| result.err).collect()
}

#[test]
fn a_failed_multi_says_so_in_its_body_only() {
    let mut desk = Desk::default();
    let client = desk.client();
    desk.send_as(client, 3, &Request::Multi(vec![create("/a"), create("/m/x"), create("/b")]));
    let bytes = desk.bytes(client).unwrap();
    let hex: String = bytes[16..].iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(
        hex,
        "ffffffff000000000000000000ffffffff00ffffff9bffffff9bffffffff00fffffffefffffffe\
         ffffffff01ffffffff"
    );
    assert_eq!(bytes[..16], [0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0]);
    assert_eq!(err(&mut desk, client, &exists("/a")), -101, "nothing was done");
}

#[test]
fn an_empty_multi_succeeds_and_takes_a_place() {
    let mut desk = Desk::default();
    let client = desk.client();
    desk.send_as(client, 3, &Request::Multi(vec![]));
    let bytes = desk.bytes(client).unwrap();
    assert_eq!(bytes[..16], [0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0]);
    assert_eq!(bytes[16..], [255, 255, 255, 255, 1, 255, 255, 255, 255]);
}

#[test]
fn results_have_the_types_of_their_operations() {
    let mut desk = Desk::new(Settings { extended_types: true, ..Settings::default() });
    let client = desk.client();
    let reply = desk.call(
        client,
        &Request::Multi(vec![
            create("/a"),
            create_as(opcode::CREATE2, "/b", 0),
            create_as(opcode::CREATE_CONTAINER, "/c", 4),
            create_ttl("/t", 5, 100),
            set("/a", "x"),
            check("/a", 1),
            delete("/a"),
        ]),
    );
    let zxid = reply.zxid;
    let results = results(reply.body);
    let types: Vec<i32> = results.iter().map(|result| result.opcode).collect();
    assert_eq!(types, [1, 15, 15, 15, 5, 13, 2]);
    assert!(results[0].body.stat().is_none());
    for result in &results[1..4] {
        assert_eq!(result.body.stat().unwrap().czxid, zxid, "one place for all");
    }
    assert_eq!(results[4].body.stat().unwrap().version, 1);
}

#[test]
fn within_a_multi_the_flag_decides_what_is_made() {
    let mut desk = Desk::default();
    let client = desk.client();
    let reply = desk.call(client, &Request::Multi(vec![create_flag("/c", 4)]));
    assert_eq!(results(reply.body)[0].opcode, 15);
    assert_eq!(desk.server.tree().containers().count(), 1);
    let reply = desk.call(client, &Request::Multi(vec![create_ttl("/p", 0, 5)]));
    assert_eq!(
        results(reply.body)[0].opcode,
        1,
        "a TTL request without TTL flag is a plain create"
    );
}

#[test]
fn what_cannot_be_read_or_mixed_refuses_the_whole() {
    let mut desk = Desk::default();
    let client = desk.client();
    let null_acl = Request::Create {
        opcode: opcode::CREATE,
        path: "/a".into(),
        data: None,
        acl: None,
        flags: 0,
    };
    let cases = [
        Request::Multi(vec![get("/")]),
        Request::Multi(vec![create("/a"), get("/")]),
        Request::Multi(vec![get("/"), create("/a")]),
        Request::Multi(vec![create_flag("/a", 9)]),
        Request::Multi(vec![create_flag("/a", 5)]),
        Request::Multi(vec![null_acl]),
        Request::Multi(vec![crate::ask::set_acl("/", &zoolab_tests::raw::open_acl())]),
        Request::Multi(vec![exists("/")]),
        Request::MultiRead(vec![get("/"), create("/a")]),
    ];
    for request in cases {
        let reply = desk.call(client, &request);
        assert_eq!((reply.err, reply.body), (-5, Body::None), "{request:?}");
    }
}

#[test]
fn a_multi_read_of_writes_is_refused_with_a_body() {
    let mut desk = Desk::default();
    let client = desk.client();
    desk.send_as(client, 1, &Request::MultiRead(vec![create("/a")]));
    let bytes = desk.bytes(client).unwrap();
    assert_eq!(bytes[12..], [255, 255, 255, 251, 255, 255, 255, 255, 1, 255, 255, 255, 255]);
}

#[test]
fn a_multi_read_with_a_null_path_tells_what_it_has_read() {
    let mut desk = Desk::default();
    let client = desk.client();
    let null = Request::GetData { path: zoolab_tests::raw::Text::NULL, watch: false };
    let ops = vec![children("/zookeeper"), null, get("/")];
    desk.send_as(client, 1, &Request::MultiRead(ops));
    let bytes = desk.bytes(client).unwrap();
    assert_eq!(bytes[12..16], [255, 255, 255, 251]);
    assert_eq!(bytes[16..25], [0, 0, 0, 8, 0, 0, 0, 0, 0], "the children come first");
    assert_eq!(bytes[bytes.len() - 9..], [255, 255, 255, 255, 1, 255, 255, 255, 255]);
}

#[test]
fn an_operation_without_sense_refuses_the_whole() {
    let mut desk = Desk::default();
    let client = desk.client();
    let null = zoolab_tests::raw::Text::NULL;
    let nobody = zoolab_tests::raw::Acl { perms: 31, scheme: "world".into(), id: null };
    let ops = vec![create("/a"), create_acl("/b", &[nobody]), create("/c")];
    let reply = desk.call(client, &Request::Multi(ops));
    assert_eq!((reply.err, reply.body, reply.zxid), (-5, Body::None, 2));
    assert_eq!(err(&mut desk, client, &exists("/a")), -101);
}

#[test]
fn a_multi_read_answers_each_by_itself() {
    let mut desk = Desk::default();
    let client = desk.client();
    all_fine(&mut desk, client, &[create_acl("/closed", &[acl(perm::WRITE, "world", "anyone")])]);
    let ops = vec![get("/"), children("/"), get("/missing"), get("/closed"), get("/zookeeper")];
    let reply = desk.call(client, &Request::MultiRead(ops));
    assert_eq!(reply.err, 0);
    let results = results(reply.body);
    let seen: Vec<(i32, i32)> = results.iter().map(|result| (result.opcode, result.err)).collect();
    assert_eq!(seen, [(4, 0), (8, 0), (-1, -101), (-1, -102), (4, 0)]);
    assert_eq!(results[1].body, Body::Children(Some(crate::ask::texts(&["closed", "zookeeper"]))));
    let reply = desk.call(client, &Request::MultiRead(vec![]));
    assert_eq!((reply.err, reply.body), (0, Body::Multi(vec![])));
}

#[test]
fn a_failure_takes_back_sequence_numbers_and_stays_unseen() {
    let mut desk = Desk::default();
    let client = desk.client();
    all_fine(&mut desk, client, &[create("/p"), children_watch("/p")]);
    assert_eq!(err(&mut desk, client, &exists_watch("/p/a")), -101);
    let ops = vec![create("/p/a"), create_flag("/p/s", 2), check("/p", 7)];
    let reply = desk.call(client, &Request::Multi(ops));
    assert_eq!(codes(reply.body), [0, 0, -103]);
    let (_, reply) = desk.call_with_events(client, &create_flag("/p/s", 2));
    assert_eq!(reply.body.path(), Some(&"/p/s0000000000".into()));
}

#[test]
fn each_operation_sees_those_before_it() {
    let mut desk = Desk::default();
    let client = desk.client();
    let ops = vec![
        create("/a"),
        create("/a/b"),
        check("/a/b", 0),
        set("/a/b", "x"),
        check("/a/b", 1),
        delete("/a/b"),
        create_flag("/a/s", 2),
    ];
    let reply = desk.call(client, &Request::Multi(ops));
    let zxid = reply.zxid;
    let last = results(reply.body).pop().unwrap();
    assert_eq!(last.body.path(), Some(&"/a/s0000000001".into()));
    let a = stat(&mut desk, client, "/a");
    assert_eq!((a.czxid, a.pzxid, a.cversion, a.num_children), (zxid, zxid, 3, 1));
}

#[test]
fn check_asks_for_permission_to_read() {
    let mut desk = Desk::default();
    let client = desk.client();
    all_fine(&mut desk, client, &[create_acl("/closed", &[acl(perm::WRITE, "world", "anyone")])]);
    for (request, code) in
        [(check("/closed", 0), -102), (check("/m", 0), -101), (check("abc", 0), -8)]
    {
        let reply = desk.call(client, &Request::Multi(vec![request]));
        assert_eq!(codes(reply.body), [code]);
    }
    all_fine(&mut desk, client, &[create("/a")]);
    all_fine(&mut desk, client, &[Request::Multi(vec![check("/a", 0)])]);
    let zoolab_core::txn::Change::Multi(changes) = &desk.log.last().unwrap().change else {
        panic!()
    };
    assert_eq!(
        changes[..],
        [zoolab_core::txn::SubChange::Node(zoolab_core::txn::NodeChange::Check {
            path: "/a".into(),
            version: 1
        })],
        "the log has the version after the one that was checked"
    );
}

#[test]
fn watches_fire_per_operation_in_order_before_the_reply() {
    let mut desk = Desk::default();
    let client = desk.client();
    all_fine(&mut desk, client, &[create("/p")]);
    err(&mut desk, client, &exists_watch("/p/a"));
    all_fine(&mut desk, client, &[children_watch("/p"), crate::ask::get_watch("/p")]);
    let ops = vec![set("/p", "x"), create("/p/a"), create("/p/b")];
    let (events, reply) = desk.call_with_events(client, &Request::Multi(ops));
    let seen: Vec<(i32, String)> =
        events.iter().map(|event| (event.kind, event.path.lossy())).collect();
    assert_eq!(
        seen,
        [
            (event::NODE_DATA_CHANGED, "/p".into()),
            (event::NODE_CREATED, "/p/a".into()),
            (event::NODE_CHILDREN_CHANGED, "/p".into()),
        ]
    );
    assert!(events.iter().all(|event| event.zxid == reply.zxid && event.state == 3));
}
