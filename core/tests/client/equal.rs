//! Equal clients have equal futures.

use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

use crate::desk::{Desk, config};

const BEFORE: &str = "
    start
    1 get /a w1
    up
    greet 10000 ro
    ok 5
    auth digest a:b
    2 watch /b recursive w2
    ok 6
    after 1500
    3 set /a
";

const AFTER: &str = "
    event DataChanged /app/a 7
    down
    4 exists /c w3
    servers zk3,zk4,zk5
    after 1500
    up
    greet 9000
    ok 8
    ok 9
    event Created /app/b/x 10
    5 close
    after 20000
    refused
    after 60000
";

#[test]
fn a_clone_taken_on_the_way_goes_the_same_way() {
    let mut config = config("zk1,zk2/app");
    config.read_only = true;
    let mut desk = Desk::new(config);
    desk.run(BEFORE);
    let mut twin = desk.clone();
    let hash = BuildHasherDefault::<DefaultHasher>::default();
    for line in AFTER.lines() {
        assert_eq!(desk.run(line), twin.run(line), "{line}");
        assert_eq!(desk.client, twin.client, "{line}");
        assert_eq!(hash.hash_one(&desk.client), hash.hash_one(&twin.client), "{line}");
    }
}

#[test]
fn clients_that_came_the_same_way_are_equal_and_others_are_not() {
    let both = || {
        let mut desk = Desk::new(config("zk1,zk2/app"));
        desk.run(BEFORE);
        desk
    };
    let (one, mut other) = (both(), both());
    assert_eq!(one.client, other.client);
    other.run("9 get /a");
    assert_ne!(one.client, other.client);
}

#[test]
fn where_time_stands_still_timers_run_out_all_the_same() {
    let mut desk = Desk::connected(config("zk1,zk2"));
    for (timer, shows) in [("Ping", "send ping"), ("Silence", "Disconnected"), ("Redial", "dial")] {
        let said = desk.run(&format!("timeout {timer}"));
        assert!(said.contains(shows), "{timer}: {said}");
    }
    let said = desk.run("timeout Expiry");
    assert!(said.contains("Expired"), "{said}");
}
