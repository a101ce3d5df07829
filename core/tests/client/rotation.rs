//! Which server is tried next, and after what rest.

use std::collections::BTreeSet;

use insta::assert_snapshot;
use zoolab_core::client::{Chance, ConnectString, Hosts, ServerList};

use crate::desk::{Desk, config, run};

pub(crate) fn servers(list: &str) -> ServerList {
    ConnectString::parse(list).unwrap().servers
}

#[test]
fn servers_are_tried_in_turn_at_once_before_any_was_reached_with_a_rest_after_each_round() {
    assert_snapshot!(run("zk1,zk2,zk3", "
        start
        refused
        refused
        refused
        timers
        after 1000
        refused
        refused
        refused
        timers
    "), @r"
    start
      dial zk1:2181 as 1
    refused
      dial zk2:2181 as 2
    refused
      dial zk3:2181 as 3
    refused
    timers
      Redial in 1000
    after 1000
      1000 ms: Redial
      dial zk1:2181 as 4
    refused
      dial zk2:2181 as 5
    refused
      dial zk3:2181 as 6
    refused
    timers
      Redial in 1000
    ");
}

#[test]
fn once_one_was_reached_each_attempt_waits_up_to_a_second_and_a_second_more_after_a_round() {
    let mut desk = Desk::connected(config("zk1,zk2,zk3"));
    assert_snapshot!(desk.run("
        down
        timers
        timeout Redial
        refused
        timers
        timeout Redial
        refused
        timers
        timeout Redial
        refused
        timers
    "), @r"
    down
      tell w0: Disconnected
    timers
      Expiry in 13333
      Redial in 0 to 999 more
    timeout Redial
      dial zk2:2181 as 2
    refused
    timers
      Expiry in 13333
      Redial in 0 to 999 more
    timeout Redial
      dial zk3:2181 as 3
    refused
    timers
      Expiry in 13333
      Redial in 1000 to 999 more
    timeout Redial
      dial zk1:2181 as 4
    refused
    timers
      Expiry in 13333
      Redial in 0 to 999 more
    ");
}

#[test]
fn a_round_begins_at_the_last_server_that_took_us() {
    assert_snapshot!(run("zk1,zk2,zk3", "
        start
        refused
        up
        greet 30000
        down
        timeout Redial
        refused
        timeout Redial
        refused
        timers
    "), @r"
    start
      dial zk1:2181 as 1
    refused
      dial zk2:2181 as 2
    up
      send connect session 0/0 10000 ms seen 0
    greet 30000
      tell w0: SyncConnected
    down
      tell w0: Disconnected
    timeout Redial
      dial zk3:2181 as 3
    refused
    timeout Redial
      dial zk1:2181 as 4
    refused
    timers
      Expiry in 40000
      Redial in 1000 to 999 more
    ");
}

#[test]
fn a_line_that_came_up_is_no_success_before_the_handshake() {
    let mut desk = Desk::connected(config("zk1,zk2"));
    assert_snapshot!(desk.run("
        down
        timeout Redial
        up
        down
        timers
    "), @r"
    down
      tell w0: Disconnected
    timeout Redial
      dial zk2:2181 as 2
    up
      send connect session 1/1 10000 ms seen 0
    down
    timers
      Expiry in 13333
      Redial in 1000 to 999 more
    ");
}

#[test]
fn a_single_server_is_tried_once_a_second() {
    let mut desk = Desk::connected(config("zk1"));
    assert_snapshot!(desk.run("down\ntimers\ntimeout Redial\nrefused\ntimers"), @r"
    down
      tell w0: Disconnected
    timers
      Expiry in 13333
      Redial in 1000 to 999 more
    timeout Redial
      dial zk1:2181 as 2
    refused
    timers
      Expiry in 13333
      Redial in 1000 to 999 more
    ");
}

#[test]
fn the_list_is_shuffled_once_by_the_draws_given() {
    let mut orders = BTreeSet::new();
    for draw in 0..6_u64 {
        let draws = [(draw / 2) * (u64::MAX / 3 + 1), (draw % 2) << 63];
        let mut hosts = Hosts::new(&servers("a,b,c"), &mut Chance::from_iter(draws));
        let round: Vec<_> = (0..3).map(|_| hosts.pick().host).collect();
        let again: Vec<_> = (0..3).map(|_| hosts.pick().host).collect();
        assert_eq!(round, again);
        orders.insert(round.concat());
    }
    assert_eq!(orders.len(), 6, "{orders:?}");
}

#[test]
fn without_draws_the_list_stays_in_its_order() {
    let mut hosts = Hosts::new(&servers("c,a,b"), &mut Chance::none());
    let round: Vec<_> = (0..4).map(|_| hosts.pick().host).collect();
    assert_eq!(round.concat(), "cabc");
}
