//! How long a client waits for what.

use core::num::NonZeroU32;

use insta::assert_snapshot;

use crate::desk::{Desk, config, run};

#[test]
fn an_attempt_may_take_the_timeout_divided_by_the_number_of_servers_and_the_handshake_again() {
    assert_snapshot!(run("zk1,zk2,zk3", "
        start
        timers
        after 3000
        up
        timers
        after 3333
    "), @r"
    start
      dial zk1:2181 as 1
    timers
      Attempt in 3333
    after 3000
    up
      send connect session 0/0 10000 ms seen 0
    timers
      Attempt in 3333
    after 3333
      3333 ms: Attempt
      hang up 1
      3333 ms: Redial
      dial zk2:2181 as 2
    ");
}

#[test]
fn once_agreed_the_servers_timeout_counts() {
    assert_snapshot!(run("zk1,zk2,zk3", "
        start
        up
        greet 6000
        timers
        down
        timers
        timeout Redial
        timers
        up
        timers
    "), @r"
    start
      dial zk1:2181 as 1
    up
      send connect session 0/0 10000 ms seen 0
    greet 6000
      tell w0: SyncConnected
    timers
      Ping in 1001
      Silence in 4000
    down
      tell w0: Disconnected
    timers
      Expiry in 8000
      Redial in 0 to 999 more
    timeout Redial
      dial zk2:2181 as 2
    timers
      Attempt in 2000
      Expiry in 8000
    up
      send connect session 1/1 10000 ms seen 0
    timers
      Attempt in 2000
      Expiry in 8000
    ");
}

#[test]
fn a_quiet_client_pings_a_second_before_a_third_of_the_timeout_has_passed() {
    let mut desk = Desk::connected(config("zk1"));
    // Connected at once, so all of the 2333 ms are left.
    assert_snapshot!(desk.run("
        timers
        after 2333
        pong
        after 2332
        after 1
    "), @r"
    timers
      Ping in 2333
      Silence in 6666
    after 2333
      2333 ms: Ping
      send ping
    pong
    after 2332
    after 1
      1 ms: Ping
      send ping
    ");
}

#[test]
fn whatever_is_sent_puts_off_the_ping() {
    let mut desk = Desk::connected(config("zk1"));
    assert_snapshot!(desk.run("
        after 2000
        1 get /a
        timers
        after 2000
        auth digest a:b
        timers
    "), @r"
    after 2000
    1 get /a
      send #1 get /a
    timers
      Ping in 2333
      Silence in 4666
    after 2000
    auth digest a:b
      send auth digest a:b
    timers
      Ping in 2333
      Silence in 2666
    ");
}

#[test]
fn the_first_ping_counts_from_the_first_frame() {
    let mut desk = Desk::new(config("zk1"));
    assert_snapshot!(desk.run("start\nup\nafter 2000\ngreet 10000\ntimers"), @r"
    start
      dial zk1:2181 as 1
    up
      send connect session 0/0 10000 ms seen 0
    after 2000
    greet 10000
      tell w0: SyncConnected
    timers
      Ping in 333
      Silence in 6666
    ");
    let mut desk = Desk::new(config("zk1"));
    assert_snapshot!(desk.run("start\nup\nafter 4000\ngreet 10000\nafter 0\ntimers"), @r"
    start
      dial zk1:2181 as 1
    up
      send connect session 0/0 10000 ms seen 0
    after 4000
    greet 10000
      tell w0: SyncConnected
    after 0
      0 ms: Ping
      send ping
    timers
      Ping in 2333
      Silence in 6666
    ");
}

#[test]
fn whatever_is_heard_puts_off_the_end_of_the_connection_and_nothing_else_does() {
    let mut desk = Desk::connected(config("zk1"));
    assert_snapshot!(desk.run("
        after 2000
        pong
        timers
        after 1000
        event Created /a 5
        after 1000
        1 get /a
        after 5665
        after 1
    "), @r"
    after 2000
    pong
    timers
      Ping in 333
      Silence in 6666
    after 1000
      333 ms: Ping
      send ping
    event Created /a 5
    after 1000
    1 get /a
      send #1 get /a
    after 5665
      2333 ms: Ping
      send ping
      4666 ms: Ping
      send ping
    after 1
      1 ms: Silence
      hang up 1
      1 fails: ConnectionLoss (-4)
      tell w0: Disconnected
    ");
}

#[test]
fn the_oldest_call_that_waits_too_long_takes_the_connection_with_it() {
    let mut config = config("zk1,zk2");
    config.request_timeout_ms = NonZeroU32::new(500);
    let mut desk = Desk::connected(config);
    assert_snapshot!(desk.run("
        1 get /a
        after 100
        2 get /b
        after 300
        ok 5
        timers
        3 get /c
        after 200
        timers
    "), @r"
    1 get /a
      send #1 get /a
    after 100
    2 get /b
      send #2 get /b
    after 300
    ok 5
      1 is done at 5: data
    timers
      Ping in 2033
      Request in 200
      Silence in 6666
    3 get /c
      send #3 get /c
    after 200
      200 ms: Request
      2 fails: RequestTimeout (-122)
      hang up 1
      3 fails: ConnectionLoss (-4)
      tell w0: Disconnected
      200 ms: Redial
      dial zk2:2181 as 2
    timers
      Attempt in 5000
      Expiry in 13133
    ");
}

#[test]
fn a_call_that_waits_for_a_connection_may_wait_too_long_as_well() {
    let mut config = config("zk1,zk2");
    config.request_timeout_ms = NonZeroU32::new(500);
    let mut desk = Desk::connected(config);
    assert_snapshot!(desk.run("
        down
        1 get /a
        after 0
        after 500
        state
        2 get /a
        3 close
        after 500
    "), @r"
    down
      tell w0: Disconnected
    1 get /a
    after 0
      0 ms: Redial
      dial zk2:2181 as 2
    after 500
      500 ms: Request
      1 fails: RequestTimeout (-122)
      hang up 2
    state
      Connecting
    2 get /a
    3 close
    after 500
      500 ms: Request
      2 fails: RequestTimeout (-122)
      500 ms: Request
      3 fails: RequestTimeout (-122)
      tell w0: Closed
    ");
}

#[test]
fn a_close_that_waits_too_long_closes_anyway() {
    let mut config = config("zk1");
    config.request_timeout_ms = NonZeroU32::new(500);
    let mut desk = Desk::connected(config);
    assert_snapshot!(desk.run("1 close\nafter 500\nstate"), @r"
    1 close
      send #1 close
    after 500
      500 ms: Request
      1 fails: RequestTimeout (-122)
      hang up 1
      tell w0: Closed
    state
      Closed
    ");
}

#[test]
fn a_timer_that_was_disarmed_may_run_out_late() {
    let mut desk = Desk::connected(config("zk1"));
    desk.run("down");
    let before = desk.client.clone();
    for timer in ["Attempt", "Ping", "Silence", "Probe", "Request"] {
        assert_eq!(desk.run(&format!("timeout {timer}")), format!("timeout {timer}\n"));
    }
    assert_eq!(desk.client, before);
}
