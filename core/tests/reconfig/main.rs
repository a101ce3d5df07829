//! The ensemble changes while it serves: who has to agree, who is told, who leads afterwards,
//! and what is left of it when somebody fails on the way.

mod net;
mod refusals;

use zoolab_core::note::{Branch, Note};
use zoolab_core::{ServerId, Zxid};

use net::{Net, ids};

const FOUR: &str = "server.4=zk4:2888:3888;2181";
const FOUR_OBSERVES: &str = "server.4=zk4:2888:3888:observer;2181";

fn zxid(epoch: i64, counter: i64) -> Zxid {
    Zxid(epoch << 32 | counter)
}

fn reached(notes: &[Note], branch: Branch) -> bool {
    notes.contains(&Note::Reached(branch))
}

#[test]
fn an_ensemble_that_begins_agrees_on_its_members() {
    let mut net = Net::three();
    assert_eq!(net.leader(), Some(3));
    for id in 1..=3 {
        assert_eq!(net.version(id), zxid(1, 0));
        assert_eq!(net.on_disk(id), Some(zxid(1, 0)), "server {id}");
        let (text, mzxid, version) = net.shown(id);
        assert!(text.starts_with("server.1=zk1:2888:3888:participant;0.0.0.0:2181\n"), "{text}");
        assert!(text.ends_with("\nversion=100000000"), "{text}");
        assert_eq!((mzxid, version), (zxid(1, 0), -1));
    }
    // And does not begin again.
    net.crash(3);
    net.settle();
    assert_eq!(net.leader(), Some(2));
    assert_eq!(net.version(2), zxid(1, 0));
}

#[test]
fn a_server_that_is_nobody_follows_without_a_vote_and_then_joins() {
    let mut net = Net::three();
    net.start(4);
    net.settle();
    assert_eq!(net.doing(), ["following", "following", "leading", "following"]);
    assert_eq!(net.version(4), zxid(1, 0), "it has learned who is in the ensemble");
    assert!(!net.server(4).joint().has_voter(ServerId(4)));
    // It is as good as an acknowledgement can be that does not count.
    net.slow_disk(1, true);
    net.slow_disk(2, true);
    net.own_write(3, "/a");
    net.arrive();
    assert_eq!(net.server(3).outstanding(), 1, "3 and 4 have it, and only 3 is asked");
    net.slow_disk(1, false);
    net.slow_disk(2, false);
    net.arrive();
    assert_eq!(net.server(3).outstanding(), 0);

    net.own(3, FOUR, "");
    net.arrive();
    let version = net.server(3).zxid_last();
    for id in 1..=4 {
        assert_eq!(net.version(id), version);
        assert_eq!(net.on_disk(id), Some(version));
        assert_eq!(net.shown(id).1, version);
        assert!(net.shown(id).0.contains("server.4=zk4:2888:3888:participant;0.0.0.0:2181\n"));
    }
    assert_eq!(net.leader(), Some(3), "nobody had to be elected");
    // Of four, two are not enough.
    net.crash(1);
    net.crash(2);
    net.tick();
    assert_eq!(net.leader(), None);
}

#[test]
fn a_change_needs_most_of_the_old_and_most_of_the_new() {
    let mut net = Net::three();
    net.start(4);
    net.start(5);
    net.settle();
    // From 1, 2, 3 to 3, 4, 5.
    net.slow_disk(1, true);
    net.slow_disk(2, true);
    net.own(3, "server.4=zk4:2888:3888;2181,server.5=zk5:2888:3888;2181", "1,2");
    net.arrive();
    assert_eq!(net.server(3).outstanding(), 1, "all of the new have it, one of the old");
    assert_eq!(net.version(3), zxid(1, 0));
    assert!(net.server(3).members_next().is_some());
    net.slow_disk(1, false);
    net.arrive();
    assert_eq!(net.server(3).outstanding(), 0);
    assert_eq!(net.server(3).joint().voters(), ids([3, 4, 5]));
    assert_eq!(net.version(1), net.version(3), "who has to go is told");
    assert_eq!(net.doing()[0], "following", "and may listen");
    // It does not count any more.
    net.slow_disk(2, false);
    net.slow_disk(4, true);
    net.slow_disk(5, true);
    net.own_write(3, "/a");
    net.arrive();
    assert_eq!(net.server(3).outstanding(), 1);
    net.slow_disk(4, false);
    net.arrive();
    assert_eq!(net.server(3).outstanding(), 0);
}

#[test]
fn a_leader_that_has_to_go_hands_over_without_an_election() {
    let mut net = Net::three();
    net.own(3, "", "3");
    net.settle();
    assert!(reached(&net.notes(3), Branch::HandedOver));
    assert_eq!(net.leader(), Some(2));
    let looked = |note: &Note| matches!(note, Note::Looking { .. });
    for id in 1..=2 {
        let notes = net.notes(id);
        assert_eq!(notes.iter().filter(|note| looked(note)).count(), 1, "only at the beginning");
    }
    assert_eq!(net.server(2).joint().voters(), ids([1, 2]));
    assert_eq!(net.doing(), ["following", "leading", "following"]);
    assert_eq!(net.server(2).leads_epoch().map(|epoch| epoch.0), Some(2));
    net.own_write(2, "/after");
    net.settle();
    assert!(net.server(3).tree().get("/after").is_some());
}

#[test]
fn a_leader_that_moves_to_another_address_hands_over() {
    let mut net = Net::three();
    net.own(3, "server.3=elsewhere:2888:3888;2181", "");
    net.settle();
    assert!(reached(&net.notes(3), Branch::HandedOver));
    assert_eq!(net.leader(), Some(1), "its acknowledgement came first, and was enough");
    assert_eq!(net.doing(), ["leading", "following", "following"]);
}

#[test]
fn voters_become_observers_and_back() {
    let mut net = Net::three();
    net.start(4);
    net.settle();
    net.own(3, FOUR_OBSERVES, "");
    net.settle();
    assert_eq!(net.doing()[3], "observing");
    net.own(3, FOUR, "");
    net.settle();
    assert_eq!(net.doing()[3], "following");
    assert_eq!(net.server(3).joint().voters(), ids([1, 2, 3, 4]));
    net.own(3, "server.2=zk2:2888:3888:observer;2181", "");
    net.settle();
    assert_eq!(net.doing(), ["following", "observing", "leading", "following"]);
    // The leader itself.
    net.own(3, "server.3=zk3:2888:3888:observer;2181,server.2=zk2:2888:3888;2181", "");
    net.settle();
    assert_eq!(net.doing(), ["following", "following", "observing", "leading"]);
    net.own_write(4, "/a");
    net.settle();
    for id in 1..=4 {
        assert!(net.server(id).tree().get("/a").is_some(), "server {id}");
    }
}

#[test]
fn a_change_that_its_leader_could_not_finish_is_finished_by_the_next() {
    let mut net = Net::three();
    net.start(4);
    net.settle();
    // Everybody has it, and nobody has heard that it is decided.
    for id in [1, 2, 4] {
        net.slow_disk(id, true);
    }
    net.own(3, FOUR, "");
    net.arrive();
    net.crash(3);
    for id in [1, 2, 4] {
        net.slow_disk(id, false);
    }
    net.settle();
    assert_eq!(net.leader(), Some(2), "only whoever is in force can be elected");
    assert!(reached(&net.notes(2), Branch::MembersPending));
    for id in [1, 2, 4] {
        assert_eq!(net.version(id), zxid(1, 1), "server {id}");
    }
    net.start(3);
    net.settle();
    assert_eq!(net.version(3), zxid(1, 1));
    assert_eq!(net.doing(), ["following", "leading", "following", "following"]);
}

#[test]
fn a_change_that_nobody_else_has_is_cut_off() {
    let mut net = Net::three();
    net.start(4);
    net.settle();
    for id in [1, 2, 4] {
        net.cut(id);
    }
    net.own(3, FOUR, "");
    net.slow_disk(3, false);
    // Only its own disk gets it.
    net.crash_after_disk(3);
    net.heal();
    net.settle();
    assert_eq!(net.leader(), Some(2));
    net.own_write(2, "/a");
    net.settle();
    net.start(3);
    assert!(net.server(3).members_next().is_some(), "its log still has it");
    net.settle();
    assert!(net.server(3).members_next().is_none());
    assert_eq!(net.server(3).joint().voters(), ids([1, 2, 3]));
    assert_eq!(net.doing(), ["following", "leading", "following", "following"]);
    // The way is free for another.
    net.own(2, FOUR, "");
    net.settle();
    assert_eq!(net.server(1).joint().voters(), ids([1, 2, 3, 4]));
}

/// From 1, 2, 3 to 3, 4, 5, while 1 and 2 are away and do not hear of it.
#[test]
fn whoever_missed_a_change_learns_of_it_from_those_it_looks_for() {
    let mut net = Net::three();
    net.start(4);
    net.start(5);
    net.settle();
    net.own(3, "server.4=zk4:2888:3888;2181,server.5=zk5:2888:3888;2181", "");
    net.settle();
    net.cut(1);
    net.give_up();
    net.own(3, "", "1,2");
    net.settle();
    assert_eq!(net.server(3).joint().voters(), ids([3, 4, 5]));
    assert_eq!(net.server(1).joint().voters(), ids([1, 2, 3, 4, 5]));
    net.heal();
    net.settle();
    net.give_up();
    net.settle();
    assert!(reached(&net.notes(1), Branch::MembersLearned));
    assert_eq!(net.server(1).joint().voters(), ids([3, 4, 5]));
    assert_eq!(net.doing()[0], "following", "without a vote");
}

/// An old majority that has not heard of the change cannot begin without the new one.
#[test]
fn an_old_majority_alone_begins_nothing() {
    let mut net = Net::three();
    net.start(4);
    net.start(5);
    net.settle();
    // It is decided, and only 3 knows.
    for id in [1, 2, 4, 5] {
        net.slow_disk(id, true);
    }
    net.own(3, "server.4=zk4:2888:3888;2181,server.5=zk5:2888:3888;2181", "1,2");
    net.arrive();
    for id in [1, 2, 4, 5] {
        net.slow_disk(id, false);
    }
    net.arrive();
    assert_eq!(net.server(3).joint().voters(), ids([3, 4, 5]));
    for id in [3, 4, 5] {
        net.cut(id);
    }
    net.settle();
    net.tick();
    net.give_up();
    assert!(!["leading", "following"].contains(&net.doing()[0]));
    assert!(!["leading", "following"].contains(&net.doing()[1]));
    net.heal();
    net.settle();
    net.give_up();
    net.settle();
    assert!(matches!(net.leader(), Some(3..=5)), "{:?}", net.doing());
}

#[test]
fn the_members_survive_a_crash_of_everybody() {
    let mut net = Net::three();
    net.start(4);
    net.settle();
    net.own(3, FOUR, "1");
    net.settle();
    let version = net.version(3);
    for id in 1..=4 {
        net.crash(id);
    }
    for id in [2, 3, 4] {
        net.start(id);
        assert_eq!(net.version(id), version);
        assert!(net.server(id).members_next().is_none());
    }
    net.settle();
    assert_eq!(net.leader(), Some(4));
    net.start(1);
    net.settle();
    assert_eq!(net.doing(), ["following", "following", "following", "leading"]);
    assert_eq!(net.shown(4).1, version);
}
