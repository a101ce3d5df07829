//! Storage against generated histories: what is written comes back, and what is damaged is noticed.

mod bytes;
mod crash;
mod history;
mod power;
mod replay;
mod rules;
mod scribe;

use zoolab_core::Bugs;
use zoolab_core::storage::{FileOp, Files, Note, Recovered, Rules, recover};

pub(crate) const RULES: Rules =
    Rules { extended_types: true, scatter: 0, initialize: true, preallocate: 0, bugs: Bugs::NONE };

/// Carries everything out.
pub(crate) fn perform(files: &mut Files, ops: &[FileOp]) {
    for op in ops {
        files.perform(op).unwrap_or_else(|error| panic!("{op}: {error}"));
    }
}

/// Recovers, repairs, and checks that there is nothing left to repair.
pub(crate) fn recover_for_good(files: &mut Files) -> Recovered {
    let recovered = recover(files, &RULES).unwrap_or_else(|error| panic!("{error}"));
    perform(files, &recovered.repairs);
    let again = recover(files, &RULES).unwrap_or_else(|error| panic!("after repairs: {error}"));
    let only_syncs = |op: &FileOp| matches!(op, FileOp::Sync { .. } | FileOp::SyncDirectory);
    assert!(again.repairs.iter().all(only_syncs), "not repaired: {:?}", again.repairs);
    let unrepaired = |note: &Note| matches!(note, Note::Removed { .. } | Note::Torn { .. });
    assert!(!again.notes.iter().any(unrepaired), "not repaired: {:?}", again.notes);
    assert_eq!(again.saved.tree, recovered.saved.tree);
    assert_eq!(again.saved.sessions, recovered.saved.sessions);
    assert_eq!(again.saved.log, recovered.saved.log);
    assert_eq!(again.disk, recovered.disk);
    again.saved.tree.assert_invariants();
    recovered
}
