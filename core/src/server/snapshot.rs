//! Writing a snapshot bit by bit, while transactions go on being applied.

use alloc::vec::Vec;

use super::Server;
use crate::bugs::Bug;
use crate::io::{Output, Persist};
use crate::note::{Branch, Note};
use crate::storage::snapshot::SnapshotWriter;
use crate::zab::journal::Task;

impl Server {
    /// Begins a snapshot if enough has happened since the last.
    ///
    /// Only what is committed is ever applied while this server serves, so no snapshot shows
    /// what may have to be taken back.
    pub(super) fn snapshot_if_due(&mut self, out: &mut Vec<Output>) {
        self.since_snapshot = self.since_snapshot.saturating_add(1);
        let due = self
            .ensemble
            .snapshot_every
            .is_some_and(|every| self.since_snapshot >= every.get() && self.snapshot.is_none());
        if !due {
            return;
        }
        self.since_snapshot = 0;
        let zxid = self.zxid_last;
        let mut bytes = Vec::new();
        let mut writer = SnapshotWriter::begin(zxid, &self.tree, self.sessions.table(), &mut bytes);
        // Some of it is written before the tree is changed. One node at least stays for later: the
        // root's own is followed by those of the system.
        if self.ensemble.bugs.on(Bug::Zk1090) {
            writer.chunk(&self.tree, zxid, self.tree.len() - 1, &mut bytes);
        }
        if self.ensemble.bugs.on(Bug::Zk1046) {
            writer.with_newborn();
        }
        self.snapshot = Some(writer);
        let persist = Persist::SnapshotBegin { zxid, bytes: bytes.into() };
        self.journal.ask(Task::Snapshot { whole: false }, persist, out);
    }

    /// A part is written: goes on with the next.
    pub(super) fn snapshot_on(&mut self, whole: bool, out: &mut Vec<Output>) {
        if whole {
            let keep = self.ensemble.snapshots_kept.get();
            self.journal.ask(Task::Purge, Persist::Purge { keep }, out);
            return;
        }
        let Some(writer) = &mut self.snapshot else { return };
        let mut bytes = Vec::new();
        let nodes = self.ensemble.snapshot_nodes.get() as usize;
        writer.chunk(&self.tree, self.zxid_last, nodes, &mut bytes);
        let whole = writer.is_done();
        if whole {
            if self.zxid_last > writer.zxid() {
                out.push(Output::Note(Note::Reached(Branch::SnapshotFuzzy)));
            }
            self.snapshot = None;
        }
        let persist = Persist::SnapshotMore { bytes: bytes.into(), whole };
        self.journal.ask(Task::Snapshot { whole }, persist, out);
    }
}
