//! What a disk does, and does not do, with a log that is to be cut off.

use insta::assert_snapshot;
use zoolab_core::Bug;
use zoolab_core::zab::Message;

use crate::desk::{Desk, ONE, THREE, commit, new_leader, proposal, zxid};

/// Server 1 has 1:1 to 1:3 and is told to keep only 1:1; then 2:1 comes.
fn is_cut(bugs: &[Bug]) -> (String, Vec<String>) {
    let mut desk = Desk::new(ONE, bugs);
    desk.follows(THREE, 1);
    desk.hears(Message::Diff { zxid: zxid(0, 0) });
    for counter in 1..=3 {
        desk.hears(proposal(1, counter));
        desk.hears(commit(1, counter));
    }
    desk.hears(new_leader(1));
    desk.disk();
    desk.is_left(THREE);
    desk.follows(THREE, 2);
    desk.log();
    desk.shows_files();
    desk.hears(Message::Trunc { zxid: zxid(1, 1) });
    desk.disk();
    for message in [proposal(2, 1), commit(2, 1), new_leader(2)] {
        desk.hears(message);
    }
    desk.disk();
    (desk.log(), desk.on_disk())
}

#[test]
fn a_truncation_is_forced_to_disk_and_so_is_what_follows() {
    let (log, on_disk) = is_cut(&[]);
    assert_snapshot!(log, @r"
    TRUNC 1:1
      asks the disk: truncate to 1:1
    disk done
        sync directory
        truncate log.100000001 65
        sync log.100000001
    read again
        sync log.100000001
        sync snapshot.0
        sync directory
    PROPOSAL 2:1
    COMMIT 2:1
    NEWLEADER 2:0
      asks the disk: append 2:1
      asks the disk: sync
        create log.200000001
        write log.200000001 0+65
    disk done
        sync log.200000001
        sync directory
      asks the disk: Current epoch 2
    disk done
        create currentEpoch.tmp
        write currentEpoch.tmp 0+1
        sync currentEpoch.tmp
        rename currentEpoch.tmp currentEpoch
        sync directory
      says ACK 2:0
    ");
    assert_eq!(on_disk, ["1:1", "2:1"]);
}

#[test]
fn with_trunc_not_synced_nothing_of_it_is() {
    let (log, on_disk) = is_cut(&[Bug::TruncNotSynced]);
    assert_snapshot!(log, @r"
    TRUNC 1:1
      asks the disk: truncate to 1:1
    disk done
        truncate log.100000001 65
    read again
    PROPOSAL 2:1
    COMMIT 2:1
    NEWLEADER 2:0
      asks the disk: append 2:1
      asks the disk: sync
        create log.200000001
        write log.200000001 0+65
    disk done
        sync log.200000001
        sync directory
      asks the disk: Current epoch 2
    disk done
        create currentEpoch.tmp
        write currentEpoch.tmp 0+1
        sync currentEpoch.tmp
        rename currentEpoch.tmp currentEpoch
        sync directory
      says ACK 2:0
    ");
    assert_eq!(on_disk, ["1:1", "2:1"], "as long as the power stays on");
}

#[test]
fn with_trunc_snapshot_not_synced_what_follows_is_not_logged() {
    let (log, on_disk) = is_cut(&[Bug::TruncSnapshotNotSynced]);
    assert_snapshot!(log, @r"
    TRUNC 1:1
      asks the disk: truncate to 1:1
    disk done
        sync directory
        truncate log.100000001 65
        sync log.100000001
    read again
        sync log.100000001
        sync snapshot.0
        sync directory
    PROPOSAL 2:1
    COMMIT 2:1
    NEWLEADER 2:0
      asks the disk: snapshot 2:1, as it is
    disk done
        create snapshot.200000001
        write snapshot.200000001 0+478
      asks the disk: Current epoch 2
    disk done
        create currentEpoch.tmp
        write currentEpoch.tmp 0+1
        sync currentEpoch.tmp
        rename currentEpoch.tmp currentEpoch
        sync directory
      says ACK 2:0
    ");
    assert!(on_disk.is_empty(), "it is in the snapshot, as long as the power stays on");
}
