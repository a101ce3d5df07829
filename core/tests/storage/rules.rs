//! The rules of recovery, one by one.

use zoolab_core::storage::{
    EpochKind, FileName, FileOp, Files, Note, RecoverError, epoch, log, recover, snapshot,
};
use zoolab_core::txn::{Change, Txn};
use zoolab_core::{Code, Epoch, Zxid};

use crate::history::{History, Wish};
use crate::{RULES, perform, recover_for_good};

fn node(path: u8) -> Wish {
    Wish::Node { kind: 0, path, data: 2, session: 0 }
}

fn zxid(epoch: u32, counter: i64) -> Zxid {
    Zxid(Zxid::first_of(Epoch(epoch)).0 + counter)
}

/// A directory with an empty snapshot and these transactions, one file for each list.
fn directory(files_of: &[&[Txn]]) -> Files {
    let mut files = Files::new();
    perform(&mut files, &recover(&Files::new(), &RULES).unwrap().repairs);
    for txns in files_of {
        let mut bytes = log::HEADER.to_vec();
        txns.iter().for_each(|txn| log::put_entry(txn, &mut bytes));
        files.insert(FileName::log(txns[0].stamp.zxid), bytes);
    }
    files
}

fn txns(wishes: &[Wish]) -> (Vec<Txn>, History) {
    let mut history = History::new();
    let txns = wishes.iter().filter_map(|wish| history.perform(wish)).collect();
    (txns, history)
}

fn put_epoch(files: &mut Files, kind: EpochKind, epoch: u32) {
    files.insert(kind.name(), epoch::encode(Epoch(epoch)));
}

#[test]
fn a_gap_is_refused_and_named() {
    let (txns, _) = txns(&[node(0), node(1), node(2), node(3)]);
    let name = FileName::log(Zxid(4));
    let error = recover(&directory(&[&txns[..2], &txns[3..]]), &RULES).unwrap_err();
    assert_eq!(error, RecoverError::Gap { name, at: 16, last: Zxid(2), found: Zxid(4) });
    assert_eq!(
        error.to_string(),
        "log.4: byte 16: transaction 0:4 where the one after 0:2 was due"
    );
    let error = recover(&directory(&[&txns[1..]]), &RULES).unwrap_err();
    let name = FileName::log(Zxid(2));
    assert_eq!(error, RecoverError::Gap { name, at: 16, last: Zxid(0), found: Zxid(2) });
}

#[test]
fn a_new_epoch_begins_with_one() {
    let (txns, history) = txns(&[node(0), Wish::Epoch, node(1), Wish::Epoch, node(2), node(3)]);
    let recovered = recover_for_good(&mut directory(&[&txns[..1], &txns[1..2], &txns[2..]]));
    assert_eq!(recovered.saved.tree, history.tree);
    assert_eq!(recovered.saved.zxid_last, zxid(2, 2));
    assert_eq!(recovered.saved.log.len(), 4);
    let error = recover(&directory(&[&txns[..1], &txns[3..]]), &RULES).unwrap_err();
    let name = FileName::log(zxid(2, 2));
    assert_eq!(error, RecoverError::Gap { name, at: 16, last: Zxid(1), found: zxid(2, 2) });
}

/// ZooKeeper 3.9 does this for requests it cannot read.
#[test]
fn an_error_under_an_old_zxid_is_left_out() {
    let (mut txns, history) = txns(&[node(0), node(1)]);
    let mut error = txns[0].clone();
    error.change = Change::Error(Code::MarshallingError);
    error.digest = None;
    txns.insert(1, error);
    let recovered = recover_for_good(&mut directory(&[&txns]));
    assert_eq!(recovered.saved.tree, history.tree);
    assert_eq!(recovered.saved.log.len(), 2);
    assert!(matches!(recovered.notes[..], [Note::Repeated { zxid: Zxid(1), .. }]));

    txns[1] = txns[0].clone();
    let error = recover(&directory(&[&txns]), &RULES).unwrap_err();
    assert!(matches!(error, RecoverError::Backwards { last: Zxid(1), found: Zxid(1), .. }));
}

#[test]
fn a_misnamed_log_is_refused() {
    let (txns, _) = txns(&[node(0), node(1)]);
    let mut files = directory(&[&txns]);
    let (from, to) = (FileName::log(Zxid(1)), FileName::log(Zxid(2)));
    files.perform(&FileOp::Rename { from, to }).unwrap();
    let error = recover(&files, &RULES).unwrap_err();
    assert_eq!(error, RecoverError::Misnamed { name: to, found: Zxid(1) });
}

/// A file with a torn end stays behind when ZooKeeper goes on in another.
#[test]
fn a_torn_end_is_followed_by_the_next_file() {
    let (txns, history) = txns(&[node(0), node(1), node(2)]);
    let mut files = directory(&[&txns[..1], &txns[1..]]);
    let mut bytes = files.get(FileName::log(Zxid(1))).unwrap().to_vec();
    let (whole, entry) = (bytes.len(), bytes[16..60].to_vec());
    bytes.extend_from_slice(&entry);
    files.insert(FileName::log(Zxid(1)), bytes);
    let recovered = recover_for_good(&mut files);
    assert_eq!(recovered.saved.tree, history.tree);
    let name = FileName::log(Zxid(1));
    assert_eq!(recovered.notes, [Note::Torn { name, at: whole }]);
}

#[test]
fn a_file_that_was_never_begun_is_removed() {
    let (txns, history) = txns(&[node(0), node(1)]);
    for bytes in
        [&[][..], &[0; 16], b"ZKLG", &log::HEADER, b"ZKLG\0\0\0\x02\0\0\0\0\0\0\0\0\0\0\0\0"]
    {
        let mut files = directory(&[&txns]);
        files.insert(FileName::log(Zxid(3)), bytes.to_vec());
        files.insert(FileName::snapshot(Zxid(2)).temporary(), b"x".to_vec());
        let recovered = recover_for_good(&mut files);
        assert_eq!(recovered.saved.tree, history.tree);
        assert_eq!(files.get(FileName::log(Zxid(3))), None);
        assert_eq!(files.iter().count(), 2);
    }
}

#[test]
fn a_wrong_digest_is_noted_once() {
    let (mut txns, _) = txns(&[node(0), node(1), node(2), node(3)]);
    for txn in &mut txns[1..] {
        txn.digest = txn.digest.map(|digest| digest + 7);
    }
    let recovered = recover_for_good(&mut directory(&[&txns]));
    let digest = txns[1].digest.unwrap();
    let mismatch = Note::Mismatch { zxid: Zxid(2), expected: digest, got: digest - 7 };
    assert_eq!(recovered.notes, [mismatch]);
}

/// Before ZooKeeper 3.6 the end of a session did not say what goes with it.
#[test]
fn the_end_of_a_session_without_paths_takes_all_its_ephemerals() {
    let ephemeral = |path| Wish::Node { kind: 3, path, data: 2, session: 1 };
    let wishes = [ephemeral(0), ephemeral(1), node(8), Wish::Close { session: 1 }];
    let (txns, history) = txns(&wishes);
    let mut files = directory(&[&txns[..3]]);
    let mut bytes = files.get(FileName::log(Zxid(1))).unwrap().to_vec();
    let mut last = txns[3].clone();
    last.change = Change::CloseSession { paths: Vec::new() };
    let start = bytes.len();
    log::put_entry(&last, &mut bytes);
    // Take the empty list out of the payload: 32 bytes of header, 4 of list, 12 of digest.
    bytes.drain(start + 44..start + 48);
    bytes[start + 8..start + 12].copy_from_slice(&44_i32.to_be_bytes());
    let checksum = u64::from(adler2::adler32_slice(&bytes[start + 12..start + 56]));
    bytes[start..start + 8].copy_from_slice(&checksum.to_be_bytes());
    files.insert(FileName::log(Zxid(1)), bytes);
    let recovered = recover_for_good(&mut files);
    assert_eq!(recovered.saved.tree, history.tree);
    assert_eq!(recovered.notes, []);
    assert_eq!(*recovered.saved.log[3], txns[3], "with its paths, for those who are sent it");
}

/// A server that joins epoch 1 has its transactions but crashes before it notes the epoch.
#[test]
fn an_epoch_is_raised_to_the_history_if_it_was_promised() {
    let (txns, _) = txns(&[node(0), Wish::Epoch, node(1)]);
    assert_eq!(txns[1].stamp.zxid, zxid(1, 1));
    let mut files = directory(&[&txns]);
    put_epoch(&mut files, EpochKind::Current, 0);
    put_epoch(&mut files, EpochKind::Accepted, 1);
    let recovered = recover_for_good(&mut files);
    assert_eq!(
        (recovered.saved.accepted_epoch, recovered.saved.current_epoch),
        (Epoch(1), Epoch(1))
    );
    assert_eq!(recovered.notes, [Note::EpochRaised { from: Epoch(0), to: Epoch(1) }]);
    assert_eq!(files.get(EpochKind::Current.name()), Some(&b"1"[..]));

    put_epoch(&mut files, EpochKind::Current, 0);
    put_epoch(&mut files, EpochKind::Accepted, 0);
    let (accepted, current) = (Epoch(0), Epoch(1));
    let error = RecoverError::AcceptedBehind { accepted, current };
    assert_eq!(recover(&files, &RULES), Err(error));
}

#[test]
fn epochs_that_were_never_noted_are_those_of_the_history() {
    let (txns, _) = txns(&[Wish::Epoch, node(1)]);
    let recovered = recover_for_good(&mut directory(&[&txns]));
    assert_eq!(
        (recovered.saved.accepted_epoch, recovered.saved.current_epoch),
        (Epoch(1), Epoch(1))
    );
    let mut files = Files::new();
    put_epoch(&mut files, EpochKind::Accepted, 3);
    let error = recover(&files, &RULES).unwrap_err();
    assert_eq!(error, RecoverError::NoSnapshot { skipped: Vec::new() });
    files.insert(EpochKind::Accepted.name(), b"three".to_vec());
    perform(&mut files, &recover(&Files::new(), &RULES).unwrap().repairs);
    let error = recover(&files, &RULES).unwrap_err();
    let expected = "acceptedEpoch: \"three\", expected an epoch: a number from 0 to 4294967295";
    assert_eq!(error.to_string(), expected);
}

/// The snapshot shows a change that the log has lost: an older one must do, and it must go, for
/// the log will grow past it with other changes.
#[test]
fn a_snapshot_that_is_ahead_of_the_log_is_not_used() {
    let (txns, mut history) = txns(&[node(0), node(1)]);
    let mut files = directory(&[&txns]);
    let mut bytes = Vec::new();
    let state = &history.state();
    let mut writer = snapshot::SnapshotWriter::begin(history.zxid, &state.0, &state.1, &mut bytes);
    history.perform(&node(2)).unwrap();
    writer.chunk(&history.tree, history.zxid, 100, &mut bytes);
    files.insert(FileName::snapshot(Zxid(2)), bytes);
    let recovered = recover_for_good(&mut files);
    assert_eq!(recovered.saved.zxid_last, Zxid(2));
    assert_eq!(&(recovered.saved.tree, recovered.saved.sessions), state);
    assert_eq!(files.get(FileName::snapshot(Zxid(2))), None);
    assert_eq!(
        recovered.notes[0].to_string(),
        "snapshot.2: not usable: shows changes up to 0:3, but the log ends at 0:2"
    );
}

#[test]
fn a_broken_snapshot_is_passed_over() {
    let (txns, history) = txns(&[node(0), node(1)]);
    let mut files = directory(&[&txns]);
    let mut bytes = snapshot::encode(history.zxid, &history.tree, &history.sessions);
    bytes.truncate(100);
    files.insert(FileName::snapshot(Zxid(2)), bytes);
    let recovered = recover_for_good(&mut files);
    assert_eq!(recovered.saved.zxid_snapshot, Zxid(0));
    assert_eq!(recovered.saved.tree, history.tree);
}
