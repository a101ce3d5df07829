//! A learner between its leader's first word and UPTODATE.

use insta::assert_snapshot;
use zoolab_core::Bug;
use zoolab_core::zab::Message;

use crate::desk::{Desk, ONE, THREE, commit, new_leader, proposal, zxid};

/// A follower of epoch 1 with 1:1, 1:2 and a proposal 1:3 on its disk.
fn follower(bugs: &[Bug]) -> Desk {
    let mut desk = Desk::new(ONE, bugs);
    desk.follows(THREE, 1);
    for message in [Message::Diff { zxid: zxid(0, 0) }, new_leader(1)] {
        desk.hears(message);
    }
    desk.disk();
    desk.hears(Message::UpToDate);
    for counter in 1..=3 {
        desk.hears(proposal(1, counter));
    }
    desk.disk();
    desk.hears(commit(1, 1));
    desk.hears(commit(1, 2));
    desk
}

/// Server 1 lacks 1:1, and joins epoch 2 while 2:1 is proposed; its commit comes before UPTODATE.
fn joins(bugs: &[Bug]) -> String {
    let mut desk = Desk::new(ONE, bugs);
    desk.follows(THREE, 2);
    desk.log();
    desk.hears(Message::Diff { zxid: zxid(1, 1) });
    desk.hears(proposal(1, 1));
    desk.hears(commit(1, 1));
    desk.hears(proposal(2, 1));
    desk.hears(new_leader(2));
    desk.disk();
    desk.hears(commit(2, 1));
    desk.hears(Message::UpToDate);
    desk.disk();
    desk.log()
}

#[test]
fn history_then_epoch_then_acknowledgement() {
    assert_snapshot!(joins(&[]), @r"
    DIFF 1:1
    PROPOSAL 1:1
    COMMIT 1:1
    PROPOSAL 2:1
    NEWLEADER 2:0
      asks the disk: append 1:1
      asks the disk: sync
    disk done
      asks the disk: Current epoch 2
    disk done
      says ACK 2:0
    COMMIT 2:1
    UPTODATE
      asks the disk: append 2:1
      asks the disk: sync
      serves epoch 2
      says ACK 2:0
      applies 2:1
    disk done
      says ACK 2:1
    ");
}

#[test]
fn with_3023_it_serves_first_and_applies_later() {
    let mut desk = Desk::new(ONE, &[Bug::Zk3023]);
    desk.follows(THREE, 2);
    desk.log();
    desk.hears(Message::Diff { zxid: zxid(1, 1) });
    desk.hears(proposal(1, 1));
    desk.hears(commit(1, 1));
    desk.hears(new_leader(2));
    desk.disk();
    desk.hears(Message::UpToDate);
    assert_eq!(desk.server().zxid_last(), zxid(1, 1), "so it says");
    desk.hears(Message::Ping { zxid: zxid(2, 0) });
    assert_snapshot!(desk.log(), @r"
    DIFF 1:1
    PROPOSAL 1:1
    COMMIT 1:1
    NEWLEADER 2:0
      asks the disk: append 1:1
      asks the disk: sync
    disk done
      asks the disk: Current epoch 2
    disk done
      says ACK 2:0
    UPTODATE
      serves epoch 2
      says ACK 2:0
    PING 2:0
      applies 1:1
      says PONG
    ");
}

#[test]
fn with_3911_it_acknowledges_first_and_logs_later() {
    assert_snapshot!(joins(&[Bug::Zk3911]), @r"
    DIFF 1:1
    PROPOSAL 1:1
    COMMIT 1:1
    PROPOSAL 2:1
    NEWLEADER 2:0
      asks the disk: Current epoch 2
    disk done
      says ACK 2:0
    COMMIT 2:1
    UPTODATE
      asks the disk: append 1:1
      asks the disk: sync
      asks the disk: append 2:1
      serves epoch 2
      says ACK 2:0
      applies 1:1
      applies 2:1
    disk done
      asks the disk: sync
      says ACK 1:1
    disk done
      says ACK 2:1
    ");
}

#[test]
fn with_4394_it_forgets_what_is_only_proposed() {
    assert_snapshot!(joins(&[Bug::Zk4394]), @r"
    DIFF 1:1
    PROPOSAL 1:1
    COMMIT 1:1
    PROPOSAL 2:1
    NEWLEADER 2:0
      asks the disk: append 1:1
      asks the disk: sync
      asks the disk: append 2:1
    disk done
      asks the disk: sync
    disk done
      asks the disk: Current epoch 2
    disk done
      says ACK 2:0
    COMMIT 2:1
      leaves: commit 2:1 where nothing was proposed
      votes for server 1 at 2:1 of epoch 2
    UPTODATE
    ");
}

/// If the commit comes after UPTODATE, nothing is wrong.
#[test]
fn with_4394_a_late_commit_finds_its_proposal() {
    let mut desk = Desk::new(ONE, &[Bug::Zk4394]);
    desk.follows(THREE, 2);
    for message in [Message::Diff { zxid: zxid(0, 0) }, proposal(2, 1), new_leader(2)] {
        desk.hears(message);
    }
    desk.disk();
    desk.log();
    desk.hears(proposal(2, 2));
    desk.hears(Message::UpToDate);
    desk.disk();
    desk.hears(commit(2, 1));
    desk.hears(commit(2, 2));
    assert_snapshot!(desk.log(), @r"
    PROPOSAL 2:2
    UPTODATE
      asks the disk: append 2:2
      asks the disk: sync
      serves epoch 2
      says ACK 2:0
      says ACK 2:1
    disk done
      says ACK 2:2
    COMMIT 2:1
      applies 2:1
    COMMIT 2:2
      applies 2:2
    ");
}

#[test]
fn with_4643_it_notes_the_epoch_first() {
    assert_snapshot!(joins(&[Bug::Zk4643]), @r"
    DIFF 1:1
    PROPOSAL 1:1
    COMMIT 1:1
    PROPOSAL 2:1
    NEWLEADER 2:0
      asks the disk: Current epoch 2
    disk done
      asks the disk: append 1:1
      asks the disk: sync
    disk done
      says ACK 2:0
    COMMIT 2:1
    UPTODATE
      asks the disk: append 2:1
      asks the disk: sync
      serves epoch 2
      says ACK 2:0
      applies 2:1
    disk done
      says ACK 2:1
    ");
}

#[test]
fn with_4685_the_log_answers_first() {
    assert_snapshot!(joins(&[Bug::Zk4685]), @r"
    DIFF 1:1
    PROPOSAL 1:1
    COMMIT 1:1
    PROPOSAL 2:1
    NEWLEADER 2:0
      asks the disk: append 1:1
      asks the disk: sync
      asks the disk: append 2:1
    disk done
      asks the disk: sync
    disk done
      says ACK 1:1
      says ACK 2:1
      asks the disk: Current epoch 2
    disk done
      says ACK 2:0
    COMMIT 2:1
    UPTODATE
      serves epoch 2
      says ACK 2:0
      says ACK 2:1
      applies 2:1
    ");
}

/// It leaves epoch 1, and joins an epoch 2 in which 1:3 never was.
fn forgets(bugs: &[Bug]) -> (String, Vec<String>) {
    let mut desk = follower(bugs);
    desk.log();
    desk.is_left(THREE);
    desk.follows(THREE, 2);
    let log = desk.log();
    for message in [Message::Diff { zxid: zxid(2, 1) }, proposal(2, 1), commit(2, 1), new_leader(2)]
    {
        desk.hears(message);
    }
    desk.disk();
    (log, desk.on_disk())
}

#[test]
fn with_2845_it_votes_by_its_memory_and_the_log_is_ahead() {
    let (log, _) = forgets(&[]);
    assert_snapshot!(log, @r"
    connection lost
      leaves: the connection was closed
      votes for server 1 at 1:3 of epoch 1
      says FOLLOWERINFO 1:0
    LEADERINFO 2:0
      asks the disk: Accepted epoch 2
    disk done
      says ACKEPOCH 1:3
    ");
    let (log, on_disk) = forgets(&[Bug::Zk2845]);
    assert_snapshot!(log, @r"
    connection lost
      leaves: the connection was closed
      votes for server 1 at 1:2 of epoch 1
      says FOLLOWERINFO 1:0
    LEADERINFO 2:0
      asks the disk: Accepted epoch 2
    disk done
      says ACKEPOCH 1:2
    ");
    assert_eq!(on_disk, ["1:1", "1:2", "1:3", "2:1"], "the last but one is in no other log");
}
