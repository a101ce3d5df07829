//! Whoever writes snapshots bit by bit, as a server does.

use zoolab_core::storage::snapshot::{SnapshotWriter, encode};
use zoolab_core::storage::{Disk, FileOp};

use crate::history::History;

#[derive(Clone, Debug, Default)]
pub(crate) struct Scribe(Option<SnapshotWriter>);

impl Scribe {
    pub(crate) fn begin(&mut self, history: &History, disk: &mut Disk, ops: &mut Vec<FileOp>) {
        let History { zxid, tree, sessions, .. } = history;
        let mut bytes = Vec::new();
        self.0 = Some(SnapshotWriter::begin(*zxid, tree, sessions, &mut bytes));
        disk.begin_snapshot(*zxid, &bytes, ops);
    }

    /// Goes on by so many nodes, unless the disk has given the snapshot up. True if it is whole.
    pub(crate) fn go_on(
        &mut self,
        history: &History,
        nodes: usize,
        disk: &mut Disk,
        ops: &mut Vec<FileOp>,
    ) -> bool {
        let Some(mut writer) = self.0.take().filter(|_| disk.is_writing()) else { return false };
        let mut bytes = Vec::new();
        writer.chunk(&history.tree, history.zxid, nodes, &mut bytes);
        let whole = writer.is_done();
        disk.write_snapshot(&bytes, whole, ops);
        self.0 = Some(writer).filter(|_| !whole);
        whole
    }
}

pub(crate) fn install(history: &History, disk: &mut Disk, ops: &mut Vec<FileOp>) {
    let History { zxid, tree, sessions, .. } = history;
    disk.install_snapshot(*zxid, &encode(*zxid, tree, sessions), ops);
}
