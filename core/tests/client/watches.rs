//! Who hears of what, and what is watched again.

use insta::assert_snapshot;
use zoolab_core::client::{BATCH_BYTES, Call, CallId, Frame, Input, Output, WatcherId};
use zoolab_core::request::{Request, SetWatches};

use crate::desk::{Desk, config};

fn desk() -> Desk {
    Desk::connected(config("zk1,zk2"))
}

#[test]
fn a_watch_is_set_by_the_right_answers_only() {
    let mut desk = desk();
    desk.run(
        "
        1 get /data-ok w1
        ok 9
        2 get /data-none w1
        err 9 NoNode
        3 children /child-ok w1
        ok 9
        4 children /child-no w1
        err 9 NoAuth
        5 exists /exist-ok w1
        ok 9
        6 exists /exist-none w1
        err 9 NoNode
        7 exists /exist-no w1
        err 9 NoAuth
        8 watch /p-ok persistent w1
        ok 9
        9 watch /p-none persistent w1
        err 9 NoNode
        10 watch /p-no persistent w1
        err 9 NoAuth
        11 watch /r-ok recursive w1
        ok 9
        12 watch /r-none recursive w1
        err 9 NoNode
        13 get /lost w1
        down
        timeout Redial
        up
    ",
    );
    assert_snapshot!(desk.run("greet 10000"), @r"
    greet 10000
      tell w0 w1: SyncConnected
      send #14 watch again since 9: data /data-ok /exist-ok exist /exist-none child /child-ok persistent /p-none /p-ok recursive /r-none /r-ok
    ");
}

#[test]
fn events_go_to_those_who_watch_and_one_shot_watches_go_with_them() {
    let mut desk = desk();
    desk.run("1 get /a w1\nok 1\n2 exists /a w2\nok 1\n3 exists /b w3\nerr 1 NoNode\n4 children /a w4\nok 1");
    assert_snapshot!(desk.run("
        event DataChanged /a 2
        event DataChanged /a 3
        event ChildrenChanged /a 4
        event ChildrenChanged /a 5
        event Created /b 6
        event Created /b 7
    "), @r"
    event DataChanged /a 2
      tell w1 w2: DataChanged /a at 2
    event DataChanged /a 3
    event ChildrenChanged /a 4
      tell w4: ChildrenChanged /a at 4
    event ChildrenChanged /a 5
    event Created /b 6
      tell w3: Created /b at 6
    event Created /b 7
    ");
}

#[test]
fn a_deleted_node_is_told_to_all_who_watch_it_once_each() {
    let mut desk = desk();
    desk.run("1 get /a w1\nok 1\n2 children /a w2\nok 1\n3 children /a w1\nok 1");
    assert_snapshot!(desk.run("event Deleted /a 2\nevent Deleted /a 3"), @r"
    event Deleted /a 2
      tell w1 w2: Deleted /a at 2
    event Deleted /a 3
    ");
}

#[test]
fn persistent_watches_stay_and_recursive_ones_hear_of_everything_below_but_lists_of_children() {
    let mut desk = desk();
    desk.run("1 watch /a persistent w1\nok 1\n2 watch /a recursive w2\nok 1\n3 watch / recursive w3\nok 1");
    assert_snapshot!(desk.run("
        event Created /a 2
        event DataChanged /a 3
        event ChildrenChanged /a 4
        event Created /a/b/c 5
        event ChildrenChanged /a/b 6
        event Deleted /ab 7
        event Deleted /a 8
        event Created / 9
    "), @r"
    event Created /a 2
      tell w1 w2 w3: Created /a at 2
    event DataChanged /a 3
      tell w1 w2 w3: DataChanged /a at 3
    event ChildrenChanged /a 4
      tell w1: ChildrenChanged /a at 4
    event Created /a/b/c 5
      tell w2 w3: Created /a/b/c at 5
    event ChildrenChanged /a/b 6
    event Deleted /ab 7
      tell w3: Deleted /ab at 7
    event Deleted /a 8
      tell w1 w2 w3: Deleted /a at 8
    event Created / 9
      tell w3: Created / at 9
    ");
}

#[test]
fn an_event_that_nobody_watches_is_nothing() {
    assert_eq!(desk().run("event Created /a 2"), "event Created /a 2\n");
}

#[test]
fn what_is_watched_is_watched_again_since_the_last_answer() {
    let mut desk = desk();
    desk.run("1 get /a w1\nok 7\n2 children /a w1\nok 8\n3 exists /b w1\nerr 9 NoNode");
    assert_snapshot!(desk.run("
        4 set /c
        down
        timeout Redial
        up
        greet 10000
        5 get /d
        ok 10
        ok 11
        event DataChanged /a -1
        event ChildrenChanged /a -1
        event Created /b -1
        down
        timeout Redial
        up
        greet 10000
    "), @r"
    4 set /c
      send #4 set /c
    down
      4 fails: ConnectionLoss (-4)
      tell w0 w1: Disconnected
    timeout Redial
      dial zk2:2181 as 2
    up
      send connect session 1/1 10000 ms seen 9
    greet 10000
      tell w0 w1: SyncConnected
      send #5 watch again since 9: data /a exist /b child /a
    5 get /d
      send #6 get /d
    ok 10
    ok 11
      5 is done at 11: data
    event DataChanged /a -1
      tell w1: DataChanged /a at -1
    event ChildrenChanged /a -1
      tell w1: ChildrenChanged /a at -1
    event Created /b -1
      tell w1: Created /b at -1
    down
      tell w0: Disconnected
    timeout Redial
      dial zk1:2181 as 3
    up
      send connect session 1/1 10000 ms seen 11
    greet 10000
      tell w0: SyncConnected
    ");
}

#[test]
fn a_refused_setwatches_is_nobodys_business() {
    let mut desk = desk();
    desk.run("1 get /a w1\nok 7\ndown\ntimeout Redial\nup\ngreet 10000");
    assert_eq!(desk.run("err 9 MarshallingError"), "err 9 MarshallingError\n");
    assert_eq!(desk.client.zxid_last().0, 9);
}

#[test]
fn persistent_watches_need_the_newer_request_and_others_do_not() {
    let mut desk = desk();
    let mut again = |script: &str| {
        desk.run(script);
        desk.run("down\ntimeout Redial\nup");
        let out = desk.run("greet 10000");
        desk.run("ok 1");
        out.lines().find(|line| line.contains("since")).unwrap().trim().to_owned()
    };
    assert_eq!(again("1 get /a w1\nok 1"), "send #2 watch again since 1: data /a");
    assert_eq!(
        again("2 watch /b recursive w1\nok 1"),
        "send #4 watch again since 1: data /a recursive /b"
    );
}

/// What is watched again, batch by batch.
fn batches(desk: &mut Desk) -> Vec<SetWatches> {
    desk.run("down\ntimeout Redial\nup");
    let input = desk.input_of("greet 10000");
    let mut batches = Vec::new();
    for output in desk.step(input) {
        if let Output::Send { frame: Frame::Request(_, Request::SetWatches(lists)), .. } = output {
            batches.push(lists);
        }
    }
    batches
}

#[test]
fn many_watches_are_set_again_in_batches_of_128_kib_the_last_batch_first() {
    let mut desk = desk();
    let mut id = 0;
    let mut watch = |desk: &mut Desk, path: String, kind: &str| {
        id += 1;
        desk.run(&format!("{id} {kind} {path} w1\nok 5"));
    };
    // 1024 bytes each, so that 128 of them fill a batch to the byte.
    for number in 0..200 {
        watch(&mut desk, format!("/{number:01023}"), "get");
    }
    for number in 0..56 {
        watch(&mut desk, format!("/{number:01023}"), "children");
    }
    watch(&mut desk, "/short".into(), "watch");
    let batches = batches(&mut desk);
    let sizes: Vec<_> = batches
        .iter()
        .map(|lists| (lists.data.len(), lists.child.len(), lists.persistent.len()))
        .collect();
    assert_eq!(sizes, [(0, 0, 1), (72, 56, 0), (128, 0, 0)]);
    assert!(batches.iter().all(|lists| lists.relative_zxid.0 == 5));
    let text = |paths: &[zoolab_core::Text]| paths.iter().map(|path| path.len()).sum::<usize>();
    assert_eq!(text(&batches[2].data), BATCH_BYTES);
    assert_eq!(&*batches[2].data[0], format!("/{:01023}", 0));
}

#[test]
fn the_last_path_of_a_batch_may_be_too_much() {
    let mut desk = desk();
    for number in 0..3 {
        let call = Call::GetData {
            path: format!("/{number}{}", "x".repeat(100_000)).into(),
            watch: Some(WatcherId(1)),
        };
        desk.step(Input::Call { id: CallId(number), call });
        desk.run("ok 5");
    }
    let sizes: Vec<_> = batches(&mut desk).iter().map(|lists| lists.data.len()).collect();
    assert_eq!(sizes, [1, 2]);
}

#[test]
fn without_rewatching_one_shot_watches_go_with_the_connection() {
    let mut config = config("zk1");
    config.rewatch = false;
    let mut desk = Desk::connected(config);
    desk.run("1 get /a w1\nok 1\n2 watch /b persistent w2\nok 1");
    assert_snapshot!(desk.run("
        down
        timeout Redial
        up
        greet 10000
        event DataChanged /a 5
        down
    "), @r"
    down
      tell w0 w1 w2: Disconnected
    timeout Redial
      dial zk1:2181 as 2
    up
      send connect session 1/1 10000 ms seen 1
    greet 10000
      tell w0 w2: SyncConnected
    event DataChanged /a 5
    down
      tell w0 w2: Disconnected
    ");
}

#[test]
fn without_rewatching_watches_outlive_being_connected() {
    let mut config = config("zk1");
    config.rewatch = false;
    let mut desk = Desk::new(config);
    desk.run("start\nup\ngreet 10000\n1 get /a w1\nok 1");
    assert_snapshot!(desk.run("event DataChanged /a 5"), @r"
    event DataChanged /a 5
      tell w1: DataChanged /a at 5
    ");
}

#[test]
fn one_watcher_is_removed_here_and_the_server_is_only_asked() {
    let mut desk = desk();
    desk.run("1 get /a w1\nok 1\n2 get /a w2\nok 1\n3 children /a w1\nok 1");
    assert_snapshot!(desk.run("
        4 unwatch /a data w1
        ok 2
        event DataChanged /a 3
        5 unwatch /a data w1
        ok 3
    "), @r#"
    4 unwatch /a data w1
      send #4 CheckWatches { path: "/a", kind: 2 }
    ok 2
      tell w1: Data watch removed /a
      4 is done at 2
    event DataChanged /a 3
      tell w2: DataChanged /a at 3
    5 unwatch /a data w1
      send #5 CheckWatches { path: "/a", kind: 2 }
    ok 3
      5 fails at 3: NoWatcher (-121)
    "#);
}

#[test]
fn everybodys_watches_of_a_kind_are_removed_from_the_server() {
    let mut desk = desk();
    desk.run("1 get /a w1\nok 1\n2 exists /b w2\nerr 1 NoNode\n3 children /a w1\nok 1\n4 watch /a persistent w3\nok 1\n5 watch /a recursive w1\nok 1");
    assert_snapshot!(desk.run("
        6 unwatch /a child
        ok 2
        7 unwatch /b data
        ok 2
        8 unwatch /a recursive
        ok 2
        9 unwatch /a any
        ok 2
        10 unwatch /a any
        ok 2
    "), @r#"
    6 unwatch /a child
      send #6 RemoveWatches { path: "/a", kind: 1 }
    ok 2
      tell w1: Child watch removed /a
      6 is done at 2
    7 unwatch /b data
      send #7 RemoveWatches { path: "/b", kind: 2 }
    ok 2
      tell w2: Data watch removed /b
      7 is done at 2
    8 unwatch /a recursive
      send #8 RemoveWatches { path: "/a", kind: 5 }
    ok 2
      tell w1: Persistent watch removed /a
      8 is done at 2
    9 unwatch /a any
      send #9 RemoveWatches { path: "/a", kind: 3 }
    ok 2
      tell w1: Data watch removed /a
      tell w3: Persistent watch removed /a
      9 is done at 2
    10 unwatch /a any
      send #10 RemoveWatches { path: "/a", kind: 3 }
    ok 2
      10 fails at 2: NoWatcher (-121)
    "#);
}

#[test]
fn what_the_server_does_not_remove_stays() {
    let mut desk = desk();
    desk.run("1 get /a w1\nok 1");
    assert_snapshot!(desk.run("
        2 unwatch /a data
        err 2 NoWatcher
        3 unwatch /a data
        down
        timeout Redial
        up
        greet 10000
    "), @r#"
    2 unwatch /a data
      send #2 RemoveWatches { path: "/a", kind: 2 }
    err 2 NoWatcher
      2 fails at 2: NoWatcher (-121)
    3 unwatch /a data
      send #3 RemoveWatches { path: "/a", kind: 2 }
    down
      3 fails: ConnectionLoss (-4)
      tell w0 w1: Disconnected
    timeout Redial
      dial zk2:2181 as 2
    up
      send connect session 1/1 10000 ms seen 2
    greet 10000
      tell w0 w1: SyncConnected
      send #4 watch again since 2: data /a
    "#);
}

#[test]
fn local_removal_does_not_mind_the_server() {
    let mut desk = desk();
    desk.run("1 get /a w1\nok 1\n2 get /b w1\nok 1\n3 get /c w1\nok 1");
    assert_snapshot!(desk.run("
        4 unwatch /a data local
        err 2 NoWatcher
        5 unwatch /b data w1 local
        down
        timeout Redial
        up
        expired
        6 unwatch /c any local
        7 unwatch /c any local
    "), @r#"
    4 unwatch /a data local
      send #4 RemoveWatches { path: "/a", kind: 2 }
    err 2 NoWatcher
      tell w1: Data watch removed /a
      4 is done at 2
    5 unwatch /b data w1 local
      send #5 RemoveWatches { path: "/b", kind: 2 }
    down
      tell w1: Data watch removed /b, disconnected
      5 is done
      tell w0 w1: Disconnected
    timeout Redial
      dial zk2:2181 as 2
    up
      send connect session 1/1 10000 ms seen 2
    expired
      tell w0 w1: Expired
      hang up 2
    6 unwatch /c any local
      tell w1: Data watch removed /c, disconnected
      6 is done
    7 unwatch /c any local
      7 fails: NoWatcher (-121)
    "#);
}

#[test]
fn a_recursive_watch_hears_of_the_node_made_by_its_own_client() {
    let mut desk = desk();
    desk.run("1 watch /a recursive w1\nok 1");
    assert_snapshot!(desk.run("2 create /a/b\nevent Created /a/b 2\nok 2"), @r"
    2 create /a/b
      send #2 create /a/b Create 0
    event Created /a/b 2
      tell w1: Created /a/b at 2
    ok 2
      2 is done at 2: /a/b
    ");
}
