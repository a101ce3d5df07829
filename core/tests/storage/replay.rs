//! What is written comes back, however it was written.

use std::collections::BTreeMap;

use proptest::prelude::*;
use zoolab_core::storage::{FileName, Files, Rules, recover};
use zoolab_core::tree::Tree;

use crate::history::{History, play, wishes};
use crate::scribe::Scribe;
use crate::{RULES, perform, recover_for_good};

/// How the disk is used between two transactions.
#[derive(Clone, Debug)]
enum Use {
    BeginSnapshot,
    Nothing,
    Purge,
    Roll,
    Sync,
    WriteSnapshot(usize),
}

fn uses() -> impl Strategy<Value = Vec<Use>> {
    let one = prop_oneof![
        6 => Just(Use::Nothing),
        2 => Just(Use::BeginSnapshot),
        6 => (1..4_usize).prop_map(Use::WriteSnapshot),
        1 => Just(Use::Purge),
        1 => Just(Use::Roll),
        2 => Just(Use::Sync),
    ];
    proptest::collection::vec(one, 60)
}

proptest! {
    #[test]
    fn a_history_comes_back(
        wishes in wishes(60),
        uses in uses(),
        preallocate in prop_oneof![Just(0), Just(100), Just(5000)],
    ) {
        let mut files = Files::new();
        let mut history = History::new();
        let rules = Rules { preallocate, ..RULES };
        let fresh = recover(&files, &rules).unwrap();
        perform(&mut files, &fresh.repairs);
        let (mut disk, mut ops) = (fresh.disk, Vec::new());
        let mut scribe = Scribe::default();
        for (wish, how) in wishes.iter().zip(uses) {
            if let Some(txn) = history.perform(wish) {
                disk.append(&txn, &mut ops);
            }
            match how {
                Use::BeginSnapshot => {
                    scribe.begin(&history, &mut disk, &mut ops);
                }
                Use::Nothing => {}
                Use::Purge => disk.purge(1, &mut ops),
                Use::Roll => disk.roll(&mut ops),
                Use::Sync => disk.sync(&mut ops),
                Use::WriteSnapshot(nodes) => {
                    scribe.go_on(&history, nodes, &mut disk, &mut ops);
                }
            }
            perform(&mut files, &std::mem::take(&mut ops));
        }
        let recovered = recover_for_good(&mut files);
        prop_assert_eq!(recovered.saved.zxid_last, history.zxid);
        prop_assert_eq!(&recovered.saved.tree, &history.tree);
        prop_assert_eq!(&recovered.saved.sessions, &history.sessions);
        let wrong: Vec<_> = recovered.notes.iter().filter(|note| is_mismatch(note)).collect();
        prop_assert!(wrong.is_empty(), "{:?}", wrong);
        prop_assert_eq!(recovered.disk.zxid_last(), history.zxid);
    }

    #[test]
    fn a_log_cut_anywhere_gives_a_prefix(wishes in wishes(20), cut in any::<prop::sample::Index>()) {
        let (states, txns) = play(&wishes);
        let mut files = Files::new();
        let fresh = recover(&files, &RULES).unwrap();
        perform(&mut files, &fresh.repairs);
        let (mut disk, mut ops) = (fresh.disk, Vec::new());
        txns.iter().for_each(|txn| disk.append(txn, &mut ops));
        perform(&mut files, &ops);
        let Some(first) = disk.logs().next() else { return Ok(()) };
        let whole = files.get(FileName::log(first)).unwrap().to_vec();
        let cut = cut.index(whole.len() + 1);
        files.insert(FileName::log(first), whole[..cut].to_vec());
        let recovered = recover_for_good(&mut files);
        let state = (recovered.saved.tree, recovered.saved.sessions);
        prop_assert_eq!(Some(&state), states.get(&recovered.saved.zxid_last));
        prop_assert_eq!(cut == whole.len(), recovered.saved.zxid_last == disk.zxid_last());
    }
}

fn is_mismatch(note: &zoolab_core::storage::Note) -> bool {
    matches!(note, zoolab_core::storage::Note::Mismatch { .. })
}

#[test]
fn an_empty_directory_is_an_empty_tree() {
    let mut files = Files::new();
    let recovered = recover_for_good(&mut files);
    assert_eq!(recovered.saved.tree, Tree::new(true, 0));
    assert_eq!(recovered.saved.sessions, BTreeMap::new());
    assert!(files.get(FileName::snapshot(zoolab_core::Zxid::ZERO)).is_some());
}
