//! From state to state, and what watchers are told of it.

use insta::assert_snapshot;
use zoolab_core::SessionId;
use zoolab_core::client::{Config, ConfigError, ConnectString, Session, State};

use crate::desk::{Desk, config, run};

#[test]
fn a_client_connects_and_tells_so() {
    assert_snapshot!(run("zk1", "
        state
        start
        state
        up
        greet 8000
        state
    "), @r"
    state
      NotConnected
    start
      dial zk1:2181 as 1
    state
      Connecting
    up
      send connect session 0/0 10000 ms seen 0
    greet 8000
      tell w0: SyncConnected
    state
      Connected
    ");
}

#[test]
fn a_lost_connection_is_told_once_however_many_attempts_fail() {
    assert_snapshot!(run("zk1,zk2", "
        start
        up
        greet 10000
        down
        state
        timeout Redial
        refused
        timeout Redial
        up
        down
        timeout Redial
        up
        greet 10000
    "), @r"
    start
      dial zk1:2181 as 1
    up
      send connect session 0/0 10000 ms seen 0
    greet 10000
      tell w0: SyncConnected
    down
      tell w0: Disconnected
    state
      Connecting
    timeout Redial
      dial zk2:2181 as 2
    refused
    timeout Redial
      dial zk1:2181 as 3
    up
      send connect session 1/1 10000 ms seen 0
    down
    timeout Redial
      dial zk2:2181 as 4
    up
      send connect session 1/1 10000 ms seen 0
    greet 10000
      tell w0: SyncConnected
    ");
}

#[test]
fn who_was_never_connected_is_not_told_that_he_is_not() {
    assert_snapshot!(run("zk1,zk2", "
        start
        refused
        refused
        after 1000
        up
        greet 10000
    "), @r"
    start
      dial zk1:2181 as 1
    refused
      dial zk2:2181 as 2
    refused
    after 1000
      1000 ms: Redial
      dial zk1:2181 as 3
    up
      send connect session 0/0 10000 ms seen 0
    greet 10000
      tell w0: SyncConnected
    ");
}

#[test]
fn a_session_comes_back_with_its_id_its_password_and_what_it_has_seen() {
    assert_snapshot!(run("zk1,zk2", "
        start
        up
        greet 8000 s=5
        1 get /a
        ok 77
        down
        timeout Redial
        up
    "), @r"
    start
      dial zk1:2181 as 1
    up
      send connect session 0/0 10000 ms seen 0
    greet 8000 s=5
      tell w0: SyncConnected
    1 get /a
      send #1 get /a
    ok 77
      1 is done at 77: data
    down
      tell w0: Disconnected
    timeout Redial
      dial zk2:2181 as 2
    up
      send connect session 5/5 10000 ms seen 77
    ");
}

#[test]
fn a_saved_session_is_gone_on_with() {
    let mut config = config("zk1");
    config.session = Some(Session { id: SessionId(9), password: [3; 16] });
    assert_snapshot!(Desk::new(config).run("start\nup\ngreet 10000 s=9"), @r"
    start
      dial zk1:2181 as 1
    up
      send connect session 9/3 10000 ms seen 0
    greet 10000 s=9
      tell w0: SyncConnected
    ");
}

#[test]
fn a_saved_session_that_is_over_is_told_and_then_nothing_works() {
    let mut config = config("zk1");
    config.session = Some(Session { id: SessionId(9), password: [3; 16] });
    assert_snapshot!(Desk::new(config).run("
        start
        1 get /a
        up
        expired
        state
        2 get /a
        3 close
        timers
    "), @r"
    start
      dial zk1:2181 as 1
    1 get /a
    up
      send connect session 9/3 10000 ms seen 0
    expired
      tell w0: Expired
      hang up 1
      1 fails: SessionExpired (-112)
    state
      Expired
    2 get /a
      2 fails: SessionExpired (-112)
    3 close
      3 is done
    timers
    ");
}

#[test]
fn expiry_by_a_server_is_told_before_calls_fail() {
    assert_snapshot!(run("zk1", "
        start
        up
        greet 10000
        1 get /a w1
        ok 5
        2 set /a
        down
        3 set /a
        timeout Redial
        up
        expired
        state
    "), @r"
    start
      dial zk1:2181 as 1
    up
      send connect session 0/0 10000 ms seen 0
    greet 10000
      tell w0: SyncConnected
    1 get /a w1
      send #1 get /a watching
    ok 5
      1 is done at 5: data
    2 set /a
      send #2 set /a
    down
      2 fails: ConnectionLoss (-4)
      tell w0 w1: Disconnected
    3 set /a
    timeout Redial
      dial zk1:2181 as 2
    up
      send connect session 1/1 10000 ms seen 5
    expired
      tell w0 w1: Expired
      hang up 2
      3 fails: SessionExpired (-112)
    state
      Expired
    ");
}

#[test]
fn a_session_unheard_of_for_four_thirds_of_its_timeout_is_over_and_calls_fail_before_that_is_told()
{
    let mut desk = Desk::connected(config("zk1"));
    assert_snapshot!(desk.run("
        after 3000
        down
        timeout Redial
        1 set /a
        timers
        timeout Attempt
        2 set /a
        after 10333
        state
        timers
    "), @r"
    after 3000
      2333 ms: Ping
      send ping
    down
      tell w0: Disconnected
    timeout Redial
      dial zk1:2181 as 2
    1 set /a
    timers
      Attempt in 10000
      Expiry in 10333
    timeout Attempt
      hang up 2
      1 fails: ConnectionLoss (-4)
    2 set /a
    after 10333
      1000 ms: Redial
      dial zk1:2181 as 3
      10333 ms: Expiry
      hang up 3
      2 fails: SessionExpired (-112)
      tell w0: Expired
    state
      Expired
    timers
    ");
}

#[test]
fn a_server_that_takes_the_connection_counts_as_heard() {
    let mut desk = Desk::connected(config("zk1"));
    assert_snapshot!(desk.run("
        down
        after 1
        after 2000
        up
        timers
    "), @r"
    down
      tell w0: Disconnected
    after 1
    after 2000
      999 ms: Redial
      dial zk1:2181 as 2
    up
      send connect session 1/1 10000 ms seen 0
    timers
      Attempt in 10000
      Expiry in 13333
    ");
}

#[test]
fn without_a_session_nothing_expires() {
    let mut desk = Desk::new(config("zk1"));
    desk.run("start");
    for _ in 0..5 {
        desk.run("after 9000\nafter 9000");
        assert_eq!(desk.client.state(), State::Connecting);
    }
}

#[test]
fn whoever_slept_through_a_session_finds_it_over() {
    let mut desk = Desk::connected(config("zk1"));
    desk.now += 13_333;
    assert_snapshot!(desk.run("1 set /a\ntimeout Silence\nstate"), @r"
    1 set /a
      send #1 set /a
    timeout Silence
      hang up 1
      1 fails: SessionExpired (-112)
      tell w0: Expired
    state
      Expired
    ");
    let mut desk = Desk::connected(config("zk1"));
    desk.now += 13_332;
    desk.run("timeout Silence");
    assert_eq!(desk.client.state(), State::Connecting);
}

#[test]
fn credentials_that_are_not_taken_end_the_client() {
    let mut desk = Desk::connected(config("zk1"));
    assert_snapshot!(desk.run("
        1 get /a
        auth digest a:b
        2 get /b
        authfailed
        state
        3 get /c
        auth digest c:d
        timers
    "), @r"
    1 get /a
      send #1 get /a
    auth digest a:b
      send auth digest a:b
    2 get /b
      send #2 get /b
    authfailed
      tell w0: AuthFailed
      hang up 1
      1 fails: AuthFailed (-115)
      2 fails: AuthFailed (-115)
    state
      AuthFailed
    3 get /c
      3 fails: AuthFailed (-115)
    auth digest c:d
    timers
    ");
}

#[test]
fn credentials_are_shown_to_every_server_the_last_ones_first_and_before_anything_else() {
    let mut desk = Desk::connected(config("zk1"));
    assert_snapshot!(desk.run("
        auth digest a:b
        authok
        1 get /a w1
        ok 3
        down
        auth digest c:d
        2 get /b
        timeout Redial
        up
        greet 10000
        authok
        authok
        ok 4
        ok 4
    "), @r"
    auth digest a:b
      send auth digest a:b
    authok
    1 get /a w1
      send #1 get /a watching
    ok 3
      1 is done at 3: data
    down
      tell w0 w1: Disconnected
    auth digest c:d
    2 get /b
    timeout Redial
      dial zk1:2181 as 2
    up
      send connect session 1/1 10000 ms seen 3
    greet 10000
      tell w0 w1: SyncConnected
      send auth digest c:d
      send auth digest a:b
      send #2 watch again since 3: data /a
      send #3 get /b
    authok
    authok
    ok 4
    ok 4
      2 is done at 4: data
    ");
}

#[test]
fn closing_answers_what_came_before_refuses_what_comes_after_and_is_told_last() {
    let mut desk = Desk::connected(config("zk1"));
    assert_snapshot!(desk.run("
        1 get /a w1
        2 close
        3 get /b
        4 close
        ok 5
        ok 6
        state
        5 get /c
        6 close
        timers
    "), @r"
    1 get /a w1
      send #1 get /a watching
    2 close
      send #2 close
    3 get /b
      3 fails: ConnectionLoss (-4)
    4 close
      4 fails: ConnectionLoss (-4)
    ok 5
      1 is done at 5: data
    ok 6
      2 is done at 6
      hang up 1
      tell w0 w1: Closed
    state
      Closed
    5 get /c
      5 fails: SessionExpired (-112)
    6 close
      6 is done
    timers
    ");
}

#[test]
fn after_the_close_calls_are_expired() {
    let mut desk = Desk::connected(config("zk1"));
    assert_snapshot!(desk.run("
        1 close
        ok 5
        2 get /a
    "), @r"
    1 close
      send #1 close
    ok 5
      1 is done at 5
      hang up 1
      tell w0: Closed
    2 get /a
      2 fails: SessionExpired (-112)
    ");
}

#[test]
fn a_connection_lost_while_closing_is_not_tried_again() {
    let mut desk = Desk::connected(config("zk1"));
    assert_snapshot!(desk.run("
        1 set /a
        2 close
        down
        state
        timers
    "), @r"
    1 set /a
      send #1 set /a
    2 close
      send #2 close
    down
      1 fails: ConnectionLoss (-4)
      2 fails: ConnectionLoss (-4)
      tell w0: Disconnected
      tell w0: Closed
    state
      Closed
    timers
    ");
}

#[test]
fn closing_while_not_connected_waits_for_the_attempt_under_way() {
    let mut desk = Desk::connected(config("zk1,zk2"));
    assert_snapshot!(desk.run("
        down
        1 set /a
        2 close
        timeout Redial
        up
        greet 10000
        ok 5
        ok 6
        state
    "), @r"
    down
      tell w0: Disconnected
    1 set /a
    2 close
    timeout Redial
      dial zk2:2181 as 2
    up
      send connect session 1/1 10000 ms seen 0
    greet 10000
      tell w0: SyncConnected
      send #1 set /a
      send #2 close
    ok 5
      1 is done at 5: stat
    ok 6
      2 is done at 6
      hang up 2
      tell w0: Closed
    state
      Closed
    ");
}

#[test]
fn closing_while_not_connected_gives_up_with_the_attempt_under_way() {
    let mut desk = Desk::connected(config("zk1,zk2"));
    assert_snapshot!(desk.run("
        down
        1 set /a
        2 close
        timeout Redial
        refused
        state
        timers
    "), @r"
    down
      tell w0: Disconnected
    1 set /a
    2 close
    timeout Redial
      dial zk2:2181 as 2
    refused
      1 fails: ConnectionLoss (-4)
      2 fails: ConnectionLoss (-4)
      tell w0: Closed
    state
      Closed
    timers
    ");
}

#[test]
fn a_session_found_expired_while_closing_is_told_as_both() {
    let mut desk = Desk::connected(config("zk1"));
    assert_snapshot!(desk.run("
        down
        1 close
        timeout Redial
        up
        expired
        state
    "), @r"
    down
      tell w0: Disconnected
    1 close
    timeout Redial
      dial zk1:2181 as 2
    up
      send connect session 1/1 10000 ms seen 0
    expired
      tell w0: Expired
      hang up 2
      1 fails: SessionExpired (-112)
      tell w0: Closed
    state
      Closed
    ");
}

#[test]
fn a_client_that_never_began_closes_at_once() {
    assert_snapshot!(run("zk1", "
        1 get /a
        2 close
        state
        start
    "), @r"
    1 get /a
    2 close
      1 fails: SessionExpired (-112)
      2 is done
      tell w0: Closed
    state
      Closed
    start
    ");
}

#[test]
fn what_comes_from_a_line_that_was_given_up_is_nothing() {
    let mut desk = Desk::connected(config("zk1"));
    let mut old = desk.clone();
    desk.run("down\ntimeout Redial");
    let before = desk.client.clone();
    for late in ["down", "refused", "up", "garbled", "pong", "greet 10000", "event Created /a 5"] {
        // The old desk still speaks of the old line.
        let input = old.input_of(late);
        assert_eq!(desk.step(input), [], "{late}");
        assert_eq!(desk.client, before, "{late}");
    }
}

#[test]
fn frames_that_do_not_belong_there_end_the_line() {
    let mut desk = Desk::connected(config("zk1"));
    assert_snapshot!(desk.run("
        greet 10000
        timeout Redial
        up
        pong
        timeout Redial
        greet 10000
        timeout Redial
        up
        garbled
    "), @r"
    greet 10000
      hang up 1
      tell w0: Disconnected
    timeout Redial
      dial zk1:2181 as 2
    up
      send connect session 1/1 10000 ms seen 0
    pong
      hang up 2
    timeout Redial
      dial zk1:2181 as 3
    greet 10000
      hang up 3
    timeout Redial
      dial zk1:2181 as 4
    up
      send connect session 1/1 10000 ms seen 0
    garbled
      hang up 4
    ");
}

#[test]
fn another_default_watcher_hears_of_the_session_and_each_watcher_hears_once() {
    let mut desk = Desk::connected(config("zk1"));
    desk.run(
        "1 exists /a w3\nok 2\n2 get /a w1\nok 2\n3 get /b w0\nok 2\n4 watch /c recursive w1\nok 2",
    );
    assert_snapshot!(desk.run("down\ndefault w9\ntimeout Redial\nup\ngreet 10000"), @r"
    down
      tell w0 w1 w3: Disconnected
    default w9
    timeout Redial
      dial zk1:2181 as 2
    up
      send connect session 1/1 10000 ms seen 2
    greet 10000
      tell w9 w0 w1 w3: SyncConnected
      send #5 watch again since 2: data /a /b recursive /c
    ");
}

#[test]
fn other_codes_in_answer_to_credentials_are_nothing() {
    let mut desk = Desk::connected(config("zk1"));
    desk.run("auth digest a:b");
    assert_eq!(desk.run("authrefused NoAuth"), "authrefused NoAuth\n");
    assert_eq!(desk.client.state(), State::Connected);
}

#[test]
fn whatever_ends_a_client_that_is_closing_it_is_closed_in_the_end() {
    let mut desk = Desk::connected(config("zk1"));
    assert_snapshot!(desk.run("auth digest a:b\n1 close\nauthfailed\nstate"), @r"
    auth digest a:b
      send auth digest a:b
    1 close
      send #1 close
    authfailed
      tell w0: AuthFailed
      hang up 1
      1 fails: AuthFailed (-115)
      tell w0: Closed
    state
      Closed
    ");
    let mut desk = Desk::connected(config("zk1"));
    desk.run("1 close");
    desk.now += 20_000;
    assert_snapshot!(desk.run("timeout Silence\nstate"), @r"
    timeout Silence
      hang up 1
      1 fails: SessionExpired (-112)
      tell w0: Closed
    state
      Closed
    ");
    let mut desk = Desk::connected(config("zk1"));
    assert_snapshot!(desk.run("down\n1 close\ntimeout Expiry\nstate"), @r"
    down
      tell w0: Disconnected
    1 close
    timeout Expiry
      1 fails: SessionExpired (-112)
      tell w0: Closed
    state
      Closed
    ");
}

#[test]
fn a_timeout_that_cannot_be_is_refused() {
    let connect = ConnectString::parse("zk1").unwrap();
    for ms in [0, -1] {
        let error = Config::new(connect.clone(), ms).unwrap_err();
        assert_eq!(error, ConfigError::Timeout { ms });
        assert_eq!(error.to_string(), format!("session timeout {ms} ms, expected a positive one"));
    }
}
