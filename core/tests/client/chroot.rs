//! A client under a chroot.

use insta::assert_snapshot;

use crate::desk::{Desk, config};

fn desk() -> Desk {
    Desk::connected(config("zk1,zk2/app"))
}

#[test]
fn paths_are_the_servers_on_the_way_and_the_clients_in_results() {
    assert_snapshot!(desk().run("
        1 create /a
        ok 1
        2 create /a stat
        ok 1
        3 create /a- sequential
        ok 1
        4 sync /
        ok 1
        5 get /
        ok 1
        6 exists /a/b
        ok 1
        7 setacl /a
        ok 1
        8 count /
        ok 1
        9 watch /a recursive w1
        ok 1
    "), @r#"
    1 create /a
      send #1 create /app/a Create 0
    ok 1
      1 is done at 1: /a
    2 create /a stat
      send #2 create /app/a Create2 0
    ok 1
      2 is done at 1: /a with stat
    3 create /a- sequential
      send #3 create /app/a- Create 2
    ok 1
      3 is done at 1: /a-0000000007
    4 sync /
      send #4 Sync { path: Some("/app") }
    ok 1
      4 is done at 1: /
    5 get /
      send #5 get /app
    ok 1
      5 is done at 1: data
    6 exists /a/b
      send #6 exists /app/a/b
    ok 1
      6 is done at 1: stat
    7 setacl /a
      send #7 SetAcl { path: "/app/a", acl: Some([AclWish { perms: 31, scheme: Some("world"), id: Some("anyone") }]), version: -1 }
    ok 1
      7 is done at 1: stat
    8 count /
      send #8 GetAllChildrenNumber { path: "/app" }
    ok 1
      8 is done at 1: 0
    9 watch /a recursive w1
      send #9 AddWatch { path: "/app/a", mode: 1 }
    ok 1
      9 is done at 1: 0
    "#);
}

#[test]
fn nobody_deletes_the_root() {
    assert_snapshot!(desk().run("1 delete /\nerr 2 BadArguments\n2 delete /a"), @r"
    1 delete /
      send #1 delete /
    err 2 BadArguments
      1 fails at 2: BadArguments (-8)
    2 delete /a
      send #2 delete /app/a
    ");
}

#[test]
fn a_number_after_the_root_is_a_child_of_the_chroot() {
    assert_snapshot!(desk().run("1 create / sequential\nok 2"), @r"
    1 create / sequential
      send #1 create /app/ Create 2
    ok 2
      1 is done at 2: /0000000007
    ");
    let mut bare = Desk::connected(config("zk1"));
    assert_snapshot!(bare.run("1 create / sequential\nok 2"), @r"
    1 create / sequential
      send #1 create / Create 2
    ok 2
      1 is done at 2: /0000000007
    ");
}

#[test]
fn ephemerals_and_results_of_multis_are_not_mapped_as_with_the_java_client() {
    assert_snapshot!(desk().run("
        1 ephemerals /
        ok 1
        2 ephemerals /e
        ok 1
        3 multi /a /b
        ok 1
        4 multiread /
        ok 1
    "), @r#"
    1 ephemerals /
      send #1 GetEphemerals { prefix: Some("/") }
    ok 1
      1 is done at 1: ["/app/e"]
    2 ephemerals /e
      send #2 GetEphemerals { prefix: Some("/e") }
    ok 1
      2 is done at 1: ["/app/e"]
    3 multi /a /b
      send #3 Multi([Delete { path: "/app/a", version: -1 }, Delete { path: "/app/b", version: -1 }])
    ok 1
      3 is done at 1: 2 results
    4 multiread /
      send #4 MultiRead([GetData { path: "/app" }])
    ok 1
      4 is done at 1: 1 results
    "#);
}

#[test]
fn events_come_with_the_clients_paths_and_the_configuration_is_nobodys() {
    let mut desk = desk();
    desk.run(
        "1 get /a w1\nok 1\n2 children / w2\nok 1\n3 config w3\nok 1\n4 watch / recursive w4\nok 1",
    );
    assert_snapshot!(desk.run("
        down
        timeout Redial
        up
        greet 10000
        ok 1
        event DataChanged /app/a 5
        event ChildrenChanged /app 6
        event DataChanged /zookeeper/config 7
        event Created /app/b 8
        event Created /apple 9
    "), @r"
    down
      tell w0 w1 w2 w3 w4: Disconnected
    timeout Redial
      dial zk2:2181 as 2
    up
      send connect session 1/1 10000 ms seen 1
    greet 10000
      tell w0 w1 w2 w3 w4: SyncConnected
      send #5 watch again since 1: data /app/a /zookeeper/config child /app recursive /app
    ok 1
    event DataChanged /app/a 5
      tell w1 w4: DataChanged /a at 5
    event ChildrenChanged /app 6
      tell w2: ChildrenChanged / at 6
    event DataChanged /zookeeper/config 7
      tell w3: DataChanged /zookeeper/config at 7
    event Created /app/b 8
      tell w4: Created /b at 8
    event Created /apple 9
    ");
}

#[test]
fn removed_watches_are_named_as_the_client_names_them() {
    let mut desk = desk();
    desk.run("1 get /a w1\nok 1");
    assert_snapshot!(desk.run("2 unwatch /a any\nok 2"), @r#"
    2 unwatch /a any
      send #2 RemoveWatches { path: "/app/a", kind: 3 }
    ok 2
      tell w1: Data watch removed /a
      2 is done at 2
    "#);
}
