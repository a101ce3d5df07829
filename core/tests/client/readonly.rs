//! Making do with a server that only reads, and looking for one that writes.

use insta::assert_snapshot;
use zoolab_core::client::{Config, Timer};

use crate::desk::{Desk, config};

fn read_only() -> Config {
    let mut config = config("zk1,zk2,zk3");
    config.read_only = true;
    config
}

#[test]
fn a_client_that_may_be_read_only_looks_for_a_server_that_writes_and_goes_there() {
    let mut desk = Desk::new(read_only());
    assert_snapshot!(desk.run("
        start
        up
        greet 10000 ro s=5
        state
        1 get /a w1
        ok 7
        2 set /a
        err 7 NotReadOnly
        after 300
        readonly
        3 get /a
        after 400
        writable
        timers
        timeout Redial
        up
        greet 10000 s=6
        state
        timers
    "), @r"
    start
      dial zk1:2181 as 1
    up
      send connect session 0/0 10000 ms seen 0 or read-only
    greet 10000 ro s=5
      tell w0: ConnectedReadOnly
    state
      ConnectedReadOnly
    1 get /a w1
      send #1 get /a watching
    ok 7
      1 is done at 7: data
    2 set /a
      send #2 set /a
    err 7 NotReadOnly
      2 fails at 7: NotReadOnly (-119)
    after 300
      100 ms: Probe
      can zk2:2181 write?
      300 ms: Probe
      can zk3:2181 write?
    readonly
    3 get /a
      send #3 get /a
    after 400
      400 ms: Probe
      can zk1:2181 write?
    writable
      hang up 1
      3 fails: ConnectionLoss (-4)
      tell w0 w1: Disconnected
    timers
      Expiry in 12633
      Redial in 0 to 999 more
    timeout Redial
      dial zk1:2181 as 2
    up
      send connect session 0/5 10000 ms seen 7 or read-only
    greet 10000 s=6
      tell w0 w1: SyncConnected
      send #4 watch again since 7: data /a
    state
      Connected
    timers
      Ping in 2333
      Silence in 6666
    ");
}

#[test]
fn the_server_found_is_dialled_next_and_without_a_rest() {
    let mut config = config("zk1,zk2");
    config.read_only = true;
    let mut desk = Desk::new(config);
    // The question has come round to where the client is.
    assert_snapshot!(desk.run("
        start
        up
        greet 10000 ro
        after 300
        writable
        timers
        timeout Redial
        refused
        timeout Redial
    "), @r"
    start
      dial zk1:2181 as 1
    up
      send connect session 0/0 10000 ms seen 0 or read-only
    greet 10000 ro
      tell w0: ConnectedReadOnly
    after 300
      100 ms: Probe
      can zk2:2181 write?
      300 ms: Probe
      can zk1:2181 write?
    writable
      hang up 1
      tell w0: Disconnected
    timers
      Expiry in 13033
      Redial in 0 to 999 more
    timeout Redial
      dial zk1:2181 as 2
    refused
    timeout Redial
      dial zk2:2181 as 3
    ");
}

#[test]
fn a_server_found_before_the_list_changed_is_not_gone_to() {
    let mut desk = Desk::new(read_only());
    desk.run("start\nup\ngreet 10000 ro\nafter 100\nwritable");
    assert_snapshot!(desk.run("servers zk4,zk5\ntimeout Redial"), @r"
    servers zk4,zk5
    timeout Redial
      dial zk4:2181 as 2
    ");
}

#[test]
fn who_was_away_for_long_asks_at_once() {
    let mut desk = Desk::new(read_only());
    assert_snapshot!(desk.run("start\nafter 1000\nup\ngreet 10000 ro\ntimers"), @r"
    start
      dial zk1:2181 as 1
    after 1000
    up
      send connect session 0/0 10000 ms seen 0 or read-only
    greet 10000 ro
      tell w0: ConnectedReadOnly
      can zk2:2181 write?
    timers
      Ping in 2333
      Probe in 200
      Silence in 6666
    ");
}

#[test]
fn questions_come_after_a_tenth_of_a_second_and_then_twice_as_long_each_up_to_a_minute() {
    let mut desk = Desk::new(read_only());
    desk.run("start\nup\ngreet 2000000000 ro");
    let mut pauses = Vec::new();
    for _ in 0..13 {
        let (due, _) = desk.timers[&Timer::Probe];
        pauses.push(due - desk.now);
        desk.run(&format!("after {}", due - desk.now));
    }
    let expected =
        [100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 51_200, 60_000, 60_000, 60_000];
    assert_eq!(pauses, expected);
}

#[test]
fn pauses_go_on_where_they_were_after_a_lost_connection_and_begin_anew_after_a_find() {
    let mut desk = Desk::new(read_only());
    desk.run("start\nup\ngreet 10000 ro\nafter 700\ndown");
    let pause = |desk: &Desk| desk.timers[&Timer::Probe].0 - desk.now;
    // Asked after 100, 300 and 700; the next question is due 800 after the last.
    desk.run("after 0\ntimeout Redial\nup\nafter 50\ngreet 10000 ro");
    assert_eq!(pause(&desk), 750);
    desk.run("after 750\nwritable\ntimeout Redial\nup\nafter 20\ngreet 10000 ro");
    assert_eq!(pause(&desk), 80);
}

#[test]
fn a_session_that_only_readers_know_is_not_shown_to_others() {
    let mut desk = Desk::new(read_only());
    assert_snapshot!(desk.run("
        start
        up
        greet 10000 ro s=5
        down
        timeout Redial
        up
        greet 10000 s=6
        down
        timeout Redial
        up
        greet 10000 ro s=6
        down
        timeout Redial
        up
    "), @r"
    start
      dial zk1:2181 as 1
    up
      send connect session 0/0 10000 ms seen 0 or read-only
    greet 10000 ro s=5
      tell w0: ConnectedReadOnly
    down
      tell w0: Disconnected
    timeout Redial
      dial zk2:2181 as 2
    up
      send connect session 0/5 10000 ms seen 0 or read-only
    greet 10000 s=6
      tell w0: SyncConnected
    down
      tell w0: Disconnected
    timeout Redial
      dial zk3:2181 as 3
    up
      send connect session 6/6 10000 ms seen 0 or read-only
    greet 10000 ro s=6
      tell w0: ConnectedReadOnly
    down
      tell w0: Disconnected
    timeout Redial
      dial zk1:2181 as 4
    up
      send connect session 6/6 10000 ms seen 0 or read-only
    ");
}

#[test]
fn late_and_repeated_answers_are_nothing() {
    let mut desk = Desk::new(read_only());
    desk.run("start\nup\ngreet 10000 ro\nafter 100");
    let old = desk.input_of("writable");
    desk.run("after 200");
    assert_eq!(desk.step(old), []);
    let answer = desk.input_of("writable");
    assert_ne!(desk.step(answer.clone()), []);
    assert_eq!(desk.step(answer), []);
}

#[test]
fn a_client_that_is_closing_looks_no_further() {
    let mut desk = Desk::new(read_only());
    desk.run("start\nup\ngreet 10000 ro\nafter 100");
    assert_snapshot!(desk.run("1 close\nwritable\ntimers\nerr 5 NotReadOnly"), @r"
    1 close
      send #1 close
    writable
    timers
      Ping in 2333
      Silence in 6566
    err 5 NotReadOnly
      1 fails at 5: NotReadOnly (-119)
      hang up 1
      tell w0: Closed
    ");
}

#[test]
fn a_client_that_may_not_be_read_only_says_so() {
    let mut desk = Desk::new(config("zk1"));
    assert_snapshot!(desk.run("start\nup"), @r"
    start
      dial zk1:2181 as 1
    up
      send connect session 0/0 10000 ms seen 0
    ");
    let mut desk = Desk::new(read_only());
    assert_snapshot!(desk.run("start\nup"), @r"
    start
      dial zk1:2181 as 1
    up
      send connect session 0/0 10000 ms seen 0 or read-only
    ");
}

#[test]
fn another_state_is_told_each_time() {
    let mut desk = Desk::new(read_only());
    assert_snapshot!(desk.run("
        start
        up
        greet 10000 ro
        down
        timeout Redial
        up
        greet 10000 ro
        after 100
        writable
    "), @r"
    start
      dial zk1:2181 as 1
    up
      send connect session 0/0 10000 ms seen 0 or read-only
    greet 10000 ro
      tell w0: ConnectedReadOnly
    down
      tell w0: Disconnected
    timeout Redial
      dial zk2:2181 as 2
    up
      send connect session 0/1 10000 ms seen 0 or read-only
    greet 10000 ro
      tell w0: ConnectedReadOnly
    after 100
      100 ms: Probe
      can zk3:2181 write?
    writable
      hang up 2
      tell w0: Disconnected
    ");
}
