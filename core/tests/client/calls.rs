//! What becomes of calls.

use insta::assert_snapshot;
use zoolab_core::client::Config;

use crate::desk::{Desk, config, run};

fn plain() -> Config {
    config("zk1,zk2")
}

#[test]
fn calls_are_sent_at_once_and_completed_in_order() {
    let mut desk = Desk::connected(plain());
    assert_snapshot!(desk.run("
        1 create /a
        2 get /a
        3 delete /b
        ok 5
        ok 5
        err 6 NoNode
    "), @r"
    1 create /a
      send #1 create /a Create 0
    2 get /a
      send #2 get /a
    3 delete /b
      send #3 delete /b
    ok 5
      1 is done at 5: /a
    ok 5
      2 is done at 5: data
    err 6 NoNode
      3 fails at 6: NoNode (-101)
    ");
}

#[test]
fn every_kind_of_call_becomes_its_request_and_its_result() {
    let mut desk = Desk::connected(plain());
    assert_snapshot!(desk.run("
        1 create /a
        ok 1
        2 create /a persistent stat
        ok 1
        3 create /a ephemeral
        ok 1
        4 create /a container
        ok 1
        5 create /a ttl 1000 stat
        ok 1
        6 create /a- sequential
        ok 1
        7 delete /a
        ok 1
        8 exists /a
        ok 1
        9 get /a
        ok 1
        10 set /a
        ok 1
        11 children /a
        ok 1
        12 children /a stat
        ok 1
        13 acl /a
        ok 1
        14 setacl /a
        ok 1
        15 count /a
        ok 1
        16 ephemerals /a
        ok 1
        17 sync /a
        ok 1
        18 multi /a /b
        ok 1
        19 multiread /a
        ok 1
        20 config
        ok 1
        21 reconfig 3
        ok 1
        22 watch /a persistent w1
        ok 1
        23 watch /a recursive w1
        ok 1
        24 unwatch /a any
        ok 1
        25 whoami
        ok 1
    "), @r#"
    1 create /a
      send #1 create /a Create 0
    ok 1
      1 is done at 1: /a
    2 create /a persistent stat
      send #2 create /a Create2 0
    ok 1
      2 is done at 1: /a with stat
    3 create /a ephemeral
      send #3 create /a Create 1
    ok 1
      3 is done at 1: /a
    4 create /a container
      send #4 create /a Container 4
    ok 1
      4 is done at 1: /a
    5 create /a ttl 1000 stat
      send #5 create /a Ttl 5
    ok 1
      5 is done at 1: /a with stat
    6 create /a- sequential
      send #6 create /a- Create 2
    ok 1
      6 is done at 1: /a-0000000007
    7 delete /a
      send #7 delete /a
    ok 1
      7 is done at 1
    8 exists /a
      send #8 exists /a
    ok 1
      8 is done at 1: stat
    9 get /a
      send #9 get /a
    ok 1
      9 is done at 1: data
    10 set /a
      send #10 set /a
    ok 1
      10 is done at 1: stat
    11 children /a
      send #11 children /a
    ok 1
      11 is done at 1: ["b"]
    12 children /a stat
      send #12 children2 /a
    ok 1
      12 is done at 1: ["b"] with stat
    13 acl /a
      send #13 GetAcl { path: "/a" }
    ok 1
      13 is done at 1: acl
    14 setacl /a
      send #14 SetAcl { path: "/a", acl: Some([AclWish { perms: 31, scheme: Some("world"), id: Some("anyone") }]), version: -1 }
    ok 1
      14 is done at 1: stat
    15 count /a
      send #15 GetAllChildrenNumber { path: "/a" }
    ok 1
      15 is done at 1: 0
    16 ephemerals /a
      send #16 GetEphemerals { prefix: Some("/a") }
    ok 1
      16 is done at 1: ["/app/e"]
    17 sync /a
      send #17 Sync { path: Some("/a") }
    ok 1
      17 is done at 1: /a
    18 multi /a /b
      send #18 Multi([Delete { path: "/a", version: -1 }, Delete { path: "/b", version: -1 }])
    ok 1
      18 is done at 1: 2 results
    19 multiread /a
      send #19 MultiRead([GetData { path: "/a" }])
    ok 1
      19 is done at 1: 1 results
    20 config
      send #20 get /zookeeper/config
    ok 1
      20 is done at 1: data
    21 reconfig 3
      send #21 Reconfig { joining: None, leaving: Some("3"), members: None, config_id: -1 }
    ok 1
      21 is done at 1: data
    22 watch /a persistent w1
      send #22 AddWatch { path: "/a", mode: 0 }
    ok 1
      22 is done at 1: 0
    23 watch /a recursive w1
      send #23 AddWatch { path: "/a", mode: 1 }
    ok 1
      23 is done at 1: 0
    24 unwatch /a any
      send #24 RemoveWatches { path: "/a", kind: 3 }
    ok 1
      tell w1: Persistent watch removed /a
      24 is done at 1
    25 whoami
      send #25 WhoAmI
    ok 1
      25 is done at 1: [("ip", "10.0.0.1")]
    "#);
}

#[test]
fn what_cannot_be_is_refused_on_the_spot_and_overtakes_what_waits() {
    let mut desk = Desk::connected(plain());
    assert_snapshot!(desk.run("
        1 get /a
        2 get a
        3 create /a/
        4 create /a/ sequential
        5 create /a ttl 0
        6 create /a ttl 1099511627776
        7 noacl /a
        8 multi /a b
        9 multiread //
        10 multi
        11 multiread
        12 sync /..
        ok 5
        ok 6
    "), @r"
    1 get /a
      send #1 get /a
    2 get a
      2 fails: BadArguments (-8)
    3 create /a/
      3 fails: BadArguments (-8)
    4 create /a/ sequential
      send #2 create /a/ Create 2
    5 create /a ttl 0
      5 fails: BadArguments (-8)
    6 create /a ttl 1099511627776
      6 fails: BadArguments (-8)
    7 noacl /a
      7 fails: InvalidAcl (-114)
    8 multi /a b
      8 fails: BadArguments (-8)
    9 multiread //
      9 fails: BadArguments (-8)
    10 multi
      10 is done: 0 results
    11 multiread
      11 is done: 0 results
    12 sync /..
      12 fails: BadArguments (-8)
    ok 5
      1 is done at 5: data
    ok 6
      4 is done at 6: /a/0000000007
    ");
}

#[test]
fn a_lost_connection_fails_what_was_sent_and_then_tells() {
    let mut desk = Desk::connected(plain());
    assert_snapshot!(desk.run("
        1 set /a
        2 get /a
        auth digest a:b
        timeout Ping
        down
    "), @r"
    1 set /a
      send #1 set /a
    2 get /a
      send #2 get /a
    auth digest a:b
      send auth digest a:b
    timeout Ping
      send ping
    down
      1 fails: ConnectionLoss (-4)
      2 fails: ConnectionLoss (-4)
      tell w0: Disconnected
    ");
}

#[test]
fn calls_made_while_not_connected_share_the_fate_of_the_next_attempt() {
    let mut desk = Desk::connected(plain());
    assert_snapshot!(desk.run("
        1 set /a
        down
        2 set /b
        timeout Redial
        3 set /c
        up
        4 set /d
        greet 10000
        5 set /e
    "), @r"
    1 set /a
      send #1 set /a
    down
      1 fails: ConnectionLoss (-4)
      tell w0: Disconnected
    2 set /b
    timeout Redial
      dial zk2:2181 as 2
    3 set /c
    up
      send connect session 1/1 10000 ms seen 0
    4 set /d
    greet 10000
      tell w0: SyncConnected
      send #2 set /b
      send #3 set /c
      send #4 set /d
    5 set /e
      send #5 set /e
    ");
    let mut desk = Desk::connected(plain());
    assert_snapshot!(desk.run("
        down
        1 set /b
        timeout Redial
        2 set /c
        up
        3 set /d
        down
        4 set /e
        timeout Redial
        refused
        5 set /f
        timeout Redial
        timeout Attempt
    "), @r"
    down
      tell w0: Disconnected
    1 set /b
    timeout Redial
      dial zk2:2181 as 2
    2 set /c
    up
      send connect session 1/1 10000 ms seen 0
    3 set /d
    down
      1 fails: ConnectionLoss (-4)
      2 fails: ConnectionLoss (-4)
      3 fails: ConnectionLoss (-4)
    4 set /e
    timeout Redial
      dial zk1:2181 as 3
    refused
      4 fails: ConnectionLoss (-4)
    5 set /f
    timeout Redial
      dial zk2:2181 as 4
    timeout Attempt
      hang up 4
      5 fails: ConnectionLoss (-4)
    ");
}

#[test]
fn calls_made_before_the_start_wait_for_the_first_attempt() {
    assert_snapshot!(run("zk1,zk2", "
        1 get /a
        start
        2 get /b
        refused
        3 get /c
        up
        greet 10000
    "), @r"
    1 get /a
    start
      dial zk1:2181 as 1
    2 get /b
    refused
      1 fails: ConnectionLoss (-4)
      2 fails: ConnectionLoss (-4)
      dial zk2:2181 as 2
    3 get /c
    up
      send connect session 0/0 10000 ms seen 0
    greet 10000
      tell w0: SyncConnected
      send #1 get /c
    ");
}

#[test]
fn request_numbers_go_on_across_connections() {
    let mut desk = Desk::connected(plain());
    assert_snapshot!(desk.run("
        1 get /a w1
        ok 1
        down
        timeout Redial
        up
        greet 10000
        2 get /b
    "), @r"
    1 get /a w1
      send #1 get /a watching
    ok 1
      1 is done at 1: data
    down
      tell w0 w1: Disconnected
    timeout Redial
      dial zk2:2181 as 2
    up
      send connect session 1/1 10000 ms seen 1
    greet 10000
      tell w0 w1: SyncConnected
      send #2 watch again since 1: data /a
    2 get /b
      send #3 get /b
    ");
}

#[test]
fn an_answer_to_another_request_ends_the_connection() {
    let mut desk = Desk::connected(plain());
    assert_snapshot!(desk.run("
        1 get /a
        2 get /b
        reply 2 50
        timeout Redial
        up
    "), @r"
    1 get /a
      send #1 get /a
    2 get /b
      send #2 get /b
    reply 2 50
      hang up 1
      1 fails: ConnectionLoss (-4)
      2 fails: ConnectionLoss (-4)
      tell w0: Disconnected
    timeout Redial
      dial zk2:2181 as 2
    up
      send connect session 1/1 10000 ms seen 0
    ");
}

#[test]
fn an_answer_to_nothing_ends_the_connection() {
    let mut desk = Desk::connected(plain());
    assert_snapshot!(desk.run("reply 1 50"), @r"
    reply 1 50
      hang up 1
      tell w0: Disconnected
    ");
}

#[test]
fn an_answer_of_the_wrong_shape_ends_the_connection() {
    let mut desk = Desk::connected(plain());
    // A body that is none, for a getData.
    assert_snapshot!(desk.run("1 get /a\nreply 1 50"), @r"
    1 get /a
      send #1 get /a
    reply 1 50
      hang up 1
      1 fails: ConnectionLoss (-4)
      tell w0: Disconnected
    ");
}

#[test]
fn only_answers_to_requests_say_what_was_seen() {
    let mut desk = Desk::connected(plain());
    let mut seen = |script: &str| {
        desk.run(script);
        desk.client.zxid_last().0
    };
    assert_eq!(seen("pong"), 0);
    assert_eq!(seen("event Created /a 9"), 0);
    assert_eq!(seen("auth digest a:b\nauthok"), 0);
    assert_eq!(seen("1 get /a\nok 5"), 5);
    assert_eq!(seen("2 get /a\nerr 6 NoNode"), 6);
    assert_eq!(seen("3 get /a\nerr -1 Unimplemented"), 6);
    assert_eq!(seen("4 get /a\nerr 0 AuthFailed"), 6);
}

#[test]
fn events_and_results_come_in_the_order_of_their_arrival() {
    let mut desk = Desk::connected(plain());
    assert_snapshot!(desk.run("
        1 get /a w1
        ok 1
        2 set /a
        event DataChanged /a 2
        ok 2
        3 get /a w1
        4 set /a
        ok 2
        event DataChanged /a 3
        ok 3
    "), @r"
    1 get /a w1
      send #1 get /a watching
    ok 1
      1 is done at 1: data
    2 set /a
      send #2 set /a
    event DataChanged /a 2
      tell w1: DataChanged /a at 2
    ok 2
      2 is done at 2: stat
    3 get /a w1
      send #3 get /a watching
    4 set /a
      send #4 set /a
    ok 2
      3 is done at 2: data
    event DataChanged /a 3
      tell w1: DataChanged /a at 3
    ok 3
      4 is done at 3: stat
    ");
}
