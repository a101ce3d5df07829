//! What a stat says after which change.

use zoolab_tests::desk::Desk;
use zoolab_tests::raw::{Body, Request, acl, opcode, perm};

use crate::ask::{all_fine, create, create_as, create_flag, delete, err, set, set_acl, stat};

#[test]
fn fresh_nodes_of_zookeeper_were_never_created() {
    let mut desk = Desk::default();
    let client = desk.client();
    let root = stat(&mut desk, client, "/");
    assert_eq!((root.cversion, root.num_children, root.pzxid, root.ctime), (-1, 1, 0, 0));
    let own = stat(&mut desk, client, "/zookeeper");
    assert_eq!((own.cversion, own.num_children, own.pzxid), (-2, 2, 0));
    let reply = desk.call(client, &Request::GetAllChildrenNumber { path: "/".into() });
    assert_eq!(reply.body, Body::Count(3));
    let config = desk.call(client, &Request::GetAcl { path: "/zookeeper/config".into() });
    let Body::Acl(Some(lines), stat) = config.body else { panic!() };
    assert_eq!(lines, [acl(perm::READ, "world", "anyone")]);
    assert_eq!((stat.version, stat.aversion), (0, -1));
}

#[test]
fn births_and_deaths_move_the_parent() {
    let mut desk = Desk::default();
    let client = desk.client();
    all_fine(&mut desk, client, &[create("/p"), create("/p/a"), create("/p/b")]);
    let before = stat(&mut desk, client, "/p");
    assert_eq!((before.cversion, before.num_children, before.pzxid), (2, 2, 4));
    assert_eq!((before.version, before.mzxid, before.czxid), (0, 2, 2));
    all_fine(&mut desk, client, &[delete("/p/a")]);
    let after = stat(&mut desk, client, "/p");
    assert_eq!((after.cversion, after.num_children, after.pzxid), (3, 1, 5));
    let reply = desk.call(client, &create_flag("/p/s-", 2));
    assert_eq!(
        reply.body.path(),
        Some(&"/p/s-0000000002".into()),
        "every birth counts, sequential or not, and no death"
    );
    assert_eq!(err(&mut desk, client, &create("/p/b")), -110);
    let reply = desk.call(client, &create_flag("/p/s-", 2));
    assert_eq!(reply.body.path(), Some(&"/p/s-0000000003".into()), "a refusal does not count");
}

#[test]
fn setting_data_and_acl_move_what_is_theirs() {
    let mut desk = Desk::default();
    let client = desk.client();
    all_fine(&mut desk, client, &[create("/a")]);
    let born = stat(&mut desk, client, "/a");
    desk.pass(5);
    let everyone = [acl(perm::ALL, "world", "anyone")];
    let reply = desk.call(client, &set_acl("/a", &everyone));
    let acl_set = reply.body.stat().unwrap();
    assert_eq!(acl_set.aversion, 1);
    assert_eq!((acl_set.mzxid, acl_set.mtime, acl_set.version), (born.mzxid, born.mtime, 0));
    let reply = desk.call(client, &set("/a", "xyz"));
    let data_set = reply.body.stat().unwrap();
    assert_eq!((data_set.version, data_set.mzxid, data_set.data_length), (1, reply.zxid, 3));
    assert_eq!(data_set.mtime, born.mtime + 5);
    assert_eq!((data_set.ctime, data_set.czxid, data_set.pzxid), (born.ctime, 2, 2));
}

#[test]
fn create2_answers_with_a_fresh_stat() {
    let mut desk = Desk::default();
    let client = desk.client();
    let reply = desk.call(client, &create_as(opcode::CREATE2, "/a", 0));
    let Body::Created(path, stat) = reply.body else { panic!() };
    assert_eq!(path, "/a");
    assert_eq!((stat.czxid, stat.mzxid, stat.pzxid), (reply.zxid, reply.zxid, reply.zxid));
    assert_eq!((stat.version, stat.cversion, stat.aversion, stat.num_children), (0, 0, 0, 0));
}

#[test]
fn the_digest_leaves_out_acls_and_what_is_zookeepers_own() {
    let mut desk = Desk::default();
    let client = desk.client();
    assert_eq!(desk.server.tree().digest(), 0x51C6_D660);
    all_fine(&mut desk, client, &[create("/zookeeper/quota/x"), set("/zookeeper/quota/x", "1")]);
    assert_eq!(desk.server.tree().digest(), 0x51C6_D660);
    all_fine(&mut desk, client, &[create("/a")]);
    assert_ne!(desk.server.tree().digest(), 0x51C6_D660);
}

#[test]
fn refusals_have_no_digest_but_failed_multis_do() {
    let mut desk = Desk::default();
    let client = desk.client();
    err(&mut desk, client, &create("/missing/child"));
    assert_eq!(desk.log.last().unwrap().digest, None);
    err(&mut desk, client, &Request::Multi(vec![create("/missing/child")]));
    assert_eq!(desk.log.last().unwrap().digest, Some(0x51C6_D660));
    assert_eq!(desk.server.zxid_last().0, 3, "both took a place");
}
