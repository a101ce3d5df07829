//! A list that changes: who moves where, and how likely.

use std::collections::BTreeMap;

use insta::assert_snapshot;
use zoolab_core::client::{Address, Chance, Hosts, Input};

use crate::desk::{Desk, config};
use crate::rotation::servers;

/// A generator of draws: a counter, well mixed.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn some(&mut self, count: usize) -> Chance {
        (0..count).map(|_| self.next()).collect()
    }
}

const CLIENTS: u32 = 30_000;

/// How many of many clients end up where, if each was connected at random before, and whoever
/// has to leave gets the first server it tries. Also how many left.
fn spread(old: &str, new: &str) -> (BTreeMap<String, u32>, u32) {
    let mut draws = Draws(17);
    let (mut counts, mut leaving) = (BTreeMap::new(), 0);
    for _ in 0..CLIENTS {
        let mut hosts = Hosts::new(&servers(old), &mut draws.some(10));
        let mut at = hosts.pick();
        hosts.on_connected();
        if hosts.update(&servers(new), Some(&at), draws.some(servers(new).draws())) {
            leaving += 1;
            at = hosts.pick();
            hosts.on_connected();
        }
        *counts.entry(at.host.to_string()).or_default() += 1;
    }
    (counts, leaving)
}

/// Whether a count is what is to be expected, give or take a tenth of it.
fn is_about(count: u32, parts: u32, of: u32) -> bool {
    let expected = CLIENTS * parts / of;
    count.abs_diff(expected) <= expected / 10
}

#[test]
fn from_three_to_five_servers_two_in_five_clients_move_and_all_go_to_new_ones() {
    let (counts, leaving) = spread("a,b,c", "a,b,c,d,e");
    assert!(is_about(leaving, 2, 5), "{leaving}");
    assert_eq!(counts.len(), 5);
    assert!(counts.values().all(|count| is_about(*count, 1, 5)), "{counts:?}");
    assert_eq!(leaving, counts["d"] + counts["e"]);
}

#[test]
fn from_five_to_three_servers_only_those_whose_server_goes_move() {
    let (counts, leaving) = spread("a,b,c,d,e", "a,b,c");
    assert!(is_about(leaving, 2, 5), "{leaving}");
    assert_eq!(counts.len(), 3);
    assert!(counts.values().all(|count| is_about(*count, 1, 3)), "{counts:?}");
}

#[test]
fn from_five_to_three_of_which_one_is_new_the_odds_are_four_ninths_for_old_ones() {
    let (counts, leaving) = spread("a,b,c,d,e", "a,b,f");
    assert!(is_about(leaving, 3, 5), "{leaving}");
    assert!(counts.values().all(|count| is_about(*count, 1, 3)), "{counts:?}");
    // Three fifths leave, and four ninths of them spread over a and b.
    assert!(is_about(leaving - counts["f"], 4, 15), "{counts:?}");
}

#[test]
fn where_one_server_replaces_another_its_clients_follow() {
    let (counts, leaving) = spread("a,b,c", "a,b,d");
    assert_eq!(leaving, counts["d"]);
    assert!(counts.values().all(|count| is_about(*count, 1, 3)), "{counts:?}");
}

#[test]
fn with_entirely_other_servers_everybody_moves() {
    for new in ["d,e,f", "d,e", "d,e,f,g"] {
        let (counts, leaving) = spread("a,b,c", new);
        assert_eq!(leaving, CLIENTS);
        let parts = u32::try_from(counts.len()).unwrap();
        assert!(counts.values().all(|count| is_about(*count, 1, parts)), "{counts:?}");
    }
}

fn at(host: &str) -> Address {
    servers(host).all()[0].clone()
}

/// A client of the list, connected to its first server.
fn connected(list: &str) -> Hosts {
    let mut hosts = Hosts::new(&servers(list), &mut Chance::none());
    hosts.pick();
    hosts.on_connected();
    hosts
}

/// The draw at which an event of these odds just does not happen.
fn edge(parts: u128, of: u128) -> u64 {
    ((parts << 64).div_ceil(of)) as u64
}

/// Draws that leave a list of this length as it is, and then these.
fn unshuffled(length: usize, then: &[u64]) -> Chance {
    std::iter::repeat_n(u64::MAX, length - 1).chain(then.iter().copied()).collect()
}

#[test]
fn the_draw_for_leaving_is_compared_exactly() {
    for (draw, leaves) in
        [(0, true), (edge(2, 5) - 1, true), (edge(2, 5), false), (u64::MAX, false)]
    {
        let mut hosts = connected("a,b,c");
        let chance = unshuffled(5, &[draw]);
        assert_eq!(hosts.update(&servers("a,b,c,d,e"), Some(&at("a")), chance), leaves, "{draw}");
    }
}

#[test]
fn the_draw_for_an_old_or_a_new_server_is_compared_exactly() {
    for (draw, host) in [(0, "f"), (edge(5, 9) - 1, "f"), (edge(5, 9), "b"), (u64::MAX, "b")] {
        let mut hosts = connected("a,b,c,d,e");
        let chance = unshuffled(3, &[draw]);
        assert!(hosts.update(&servers("b,c,f"), Some(&at("a")), chance));
        assert_eq!(&*hosts.pick().host, host, "{draw}");
    }
}

#[test]
fn whoever_moves_tries_all_servers_once_and_then_goes_round_again() {
    let mut hosts = connected("a,b,c,d,e");
    let chance = unshuffled(4, &[u64::MAX, 0, u64::MAX, 0]);
    assert!(hosts.update(&servers("b,f,c,g"), Some(&at("a")), chance));
    let mut tried = String::new();
    for _ in 0..4 {
        assert!(!hosts.is_round_over());
        tried += &hosts.pick().host;
    }
    // Old, new, old; then what is left.
    assert_eq!(tried, "bfcg");
    assert!(hosts.is_round_over());
    let round: String = (0..5).map(|_| hosts.pick().host.to_string()).collect();
    assert_eq!(round, "bfcgb");
}

#[test]
fn with_more_servers_whoever_moves_tries_new_ones_first() {
    let mut hosts = connected("a,b");
    assert!(hosts.update(&servers("a,c,b,d"), Some(&at("a")), unshuffled(4, &[0])));
    let tried: String = (0..4).map(|_| hosts.pick().host.to_string()).collect();
    assert_eq!(tried, "cdab");
}

#[test]
fn whoever_stays_goes_on_from_where_it_is() {
    let mut hosts = connected("a,b,c");
    assert!(!hosts.update(&servers("c,a,b"), Some(&at("a")), Chance::none()));
    assert_eq!(&*hosts.pick().host, "b");
    assert_eq!(&*hosts.pick().host, "c");
    assert!(hosts.is_round_over());
}

#[test]
fn whoever_is_not_connected_stands_for_where_it_was_last_or_would_begin() {
    // It was at b last, although it is trying c.
    let mut hosts = connected("b,c");
    hosts.pick();
    assert!(!hosts.clone().update(&servers("b,d"), None, Chance::none()));
    assert!(hosts.update(&servers("c,d"), None, Chance::none()));
    // It has never been anywhere.
    let mut fresh = Hosts::new(&servers("a,b"), &mut Chance::none());
    assert!(!fresh.clone().update(&servers("a,c"), None, Chance::none()));
    assert!(fresh.update(&servers("b,c"), None, Chance::none()));
}

#[test]
fn whoever_is_moving_stands_for_the_server_it_would_try_next() {
    let mut hosts = connected("a,b,c");
    assert!(hosts.update(&servers("d,e,f"), Some(&at("a")), Chance::none()));
    assert!(!hosts.clone().update(&servers("d,x"), None, Chance::none()));
    assert!(hosts.update(&servers("e,x"), None, Chance::none()));
}

#[test]
fn a_server_named_twice_does_no_harm() {
    let mut hosts = connected("a,b");
    assert!(hosts.update(&servers("b,b"), Some(&at("a")), Chance::none()));
    assert_eq!(&*hosts.pick().host, "b");
}

#[test]
fn a_client_that_has_to_move_fails_its_calls_and_dials_another_server() {
    let mut desk = Desk::connected(config("zk1,zk2"));
    assert_snapshot!(desk.run("
        1 get /a
        servers zk2,zk3
        timers
        timeout Redial
        up
        greet 10000
        timers
    "), @r"
    1 get /a
      send #1 get /a
    servers zk2,zk3
      hang up 1
      1 fails: ConnectionLoss (-4)
      tell w0: Disconnected
    timers
      Expiry in 13333
      Redial in 0 to 999 more
    timeout Redial
      dial zk3:2181 as 2
    up
      send connect session 1/1 10000 ms seen 0
    greet 10000
      tell w0: SyncConnected
    timers
      Ping in 2333
      Silence in 6666
    ");
}

#[test]
fn a_client_that_may_stay_does_not_notice() {
    let mut desk = Desk::connected(config("zk1,zk2"));
    assert_snapshot!(desk.run("
        1 get /a
        servers zk3,zk1
        ok 5
    "), @r"
    1 get /a
      send #1 get /a
    servers zk3,zk1
    ok 5
      1 is done at 5: data
    ");
}

#[test]
fn a_client_on_its_way_to_another_server_turns_around() {
    let mut desk = Desk::connected(config("zk1,zk2"));
    assert_snapshot!(desk.run("
        down
        servers zk2,zk3
        timeout Redial
        servers zk4,zk5
        timeout Redial
        1 get /a
        servers zk5,zk6
    "), @r"
    down
      tell w0: Disconnected
    servers zk2,zk3
    timeout Redial
      dial zk3:2181 as 2
    servers zk4,zk5
      hang up 2
    timeout Redial
      dial zk4:2181 as 3
    1 get /a
    servers zk5,zk6
    ");
}

#[test]
fn more_servers_with_a_draw_of_zero_move_the_client() {
    let mut desk = Desk::connected(config("zk1,zk2"));
    let servers = servers("zk1,zk2,zk3");
    let out = desk.step(Input::Servers { servers, chance: unshuffled(3, &[0]) });
    assert!(!out.is_empty());
    assert_snapshot!(desk.run("timeout Redial"), @r"
    timeout Redial
      dial zk3:2181 as 2
    ");
}
