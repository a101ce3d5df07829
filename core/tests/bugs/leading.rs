//! A leader: the epoch it chooses, and the acknowledgements it counts.

use insta::assert_snapshot;
use zoolab_core::request::ConnectRequest;
use zoolab_core::zab::Message;
use zoolab_core::{Bug, ConnId, Epoch, Input};

use crate::desk::{Desk, ONE, THREE, zxid};

/// Server 3 begins epoch 1 with server 1, loses it before anything is proposed, and leads again:
/// first without, then with a new process.
fn begins_thrice(bugs: &[Bug]) -> String {
    let mut desk = Desk::new(THREE, bugs);
    desk.leads();
    desk.is_followed(ONE, 0);
    desk.disk();
    let promise = Message::AckEpoch { current: Some(Epoch(0)), zxid: zxid(0, 0), snapshot: false };
    desk.hears(promise);
    desk.disk();
    desk.input(Input::Timeout(zoolab_core::Timer::Establish));
    desk.leads();
    desk.is_followed(ONE, 0);
    desk.disk();
    desk.restarts(THREE);
    desk.leads();
    desk.is_followed(ONE, 0);
    desk.disk();
    desk.log()
}

#[test]
fn with_335_an_epoch_without_transactions_leaves_no_trace() {
    assert_snapshot!(begins_thrice(&[]), @r"
      votes for server 3 at 0:0 of epoch 0
    FOLLOWERINFO 0:0
      asks the disk: Accepted epoch 1
    disk done
      says LEADERINFO 1:0
    ACKEPOCH 0:0
      asks the disk: Current epoch 1
      says DIFF 0:0
      says NEWLEADER 1:0
    disk done
      leaves: too few followers
      votes for server 3 at 0:0 of epoch 1
    FOLLOWERINFO 0:0
      asks the disk: Accepted epoch 2
    disk done
      says LEADERINFO 2:0
    restart
      votes for server 3 at 0:0 of epoch 1
    FOLLOWERINFO 0:0
      asks the disk: Accepted epoch 3
    disk done
      says LEADERINFO 3:0
    ");
    assert_snapshot!(begins_thrice(&[Bug::Zk335]), @r"
      votes for server 3 at 0:0 of epoch 0
    FOLLOWERINFO 0:0
      asks the disk: Accepted epoch 1
    disk done
      says LEADERINFO 1:0
    ACKEPOCH 0:0
      asks the disk: Current epoch 1
      says DIFF 0:0
      says NEWLEADER 1:0
    disk done
      leaves: too few followers
      votes for server 3 at 0:0 of epoch 1
    FOLLOWERINFO 0:0
      asks the disk: Accepted epoch 1
    disk done
      says LEADERINFO 1:0
    restart
      votes for server 3 at 0:0 of epoch 0
    FOLLOWERINFO 0:0
      asks the disk: Accepted epoch 1
    disk done
      says LEADERINFO 1:0
    ");
}

/// Server 1 has acknowledged 1:1 and comes back. While it cuts 1:1 off, the leader's own disk is
/// done with it.
fn comes_back(bugs: &[Bug]) -> String {
    let mut desk = Desk::new(THREE, bugs);
    desk.leads();
    let promise = |zxid, current| Message::AckEpoch { current, zxid, snapshot: false };
    desk.is_followed(ONE, 0);
    desk.disk();
    desk.hears(promise(zxid(0, 0), Some(Epoch(0))));
    desk.disk();
    desk.hears(Message::Ack(zxid(1, 0)));
    let conn = ConnId(1);
    desk.input(Input::Accepted { conn, address: [127, 0, 0, 1].into() });
    desk.input(Input::Connect { conn, request: ConnectRequest::default() });
    desk.hears(Message::Ack(zxid(1, 1)));
    desk.log();
    desk.is_left(ONE);
    desk.is_followed(ONE, 1);
    desk.hears(promise(zxid(1, 1), None));
    desk.disk();
    desk.log()
}

#[test]
fn with_ack_survives_trunc_what_is_cut_off_counts() {
    assert_snapshot!(comes_back(&[]), @r"
    connection lost
    FOLLOWERINFO 1:0
      says LEADERINFO 1:0
    ACKEPOCH 1:1
      says TRUNC 0:0
      says PROPOSAL 1:1
      says NEWLEADER 1:0
    disk done
    ");
    assert_snapshot!(comes_back(&[Bug::AckSurvivesTrunc]), @r"
    connection lost
    FOLLOWERINFO 1:0
      says LEADERINFO 1:0
    ACKEPOCH 1:1
      says TRUNC 0:0
      says PROPOSAL 1:1
      says NEWLEADER 1:0
    disk done
      commits 1:1
      says COMMIT 1:1
      applies 1:1
    ");
}
