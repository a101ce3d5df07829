//! A directory, read from each of its snapshots on.

use std::error::Error;
use std::fmt;
use std::path::Path;

use zoolab_core::storage::{FileName, Files, Note, Recovered, Rules, Saved, recover};
use zoolab_core::{Bugs, Zxid};

use super::directory;

const RULES: Rules = Rules {
    extended_types: true,
    scatter: 0,
    initialize: true,
    preallocate: 64 << 10,
    bugs: Bugs::NONE,
};

/// What a directory holds.
#[derive(Debug)]
pub struct Reading {
    /// From the newest snapshot on.
    pub recovered: Recovered,
    /// How many snapshots there are.
    pub snapshots: usize,
    /// How many transactions had a digest that was compared.
    pub digests: usize,
    /// What should not be: a wrong digest, a snapshot that cannot be used or leads elsewhere.
    pub complaints: Vec<String>,
}

impl Reading {
    /// Reads a directory. It must hold the same from whichever snapshot one starts.
    pub fn of(path: &Path) -> Result<Self, Box<dyn Error>> {
        let files = directory::read(path)?;
        let recovered = recover(&files, &RULES)?;
        let mut complaints = complaints(&recovered);
        let snapshots: Vec<Zxid> = files.snapshots().map(|(zxid, _)| zxid).collect();
        let mut digests = 0;
        for zxid in &snapshots {
            let earlier = recover(&without_later(&files, *zxid), &RULES)?;
            complaints.extend(self::complaints(&earlier));
            if earlier.saved.zxid_snapshot != *zxid {
                complaints.push(format!("snapshot {zxid} was not used"));
            }
            if earlier.saved.tree != recovered.saved.tree
                || earlier.saved.sessions != recovered.saved.sessions
            {
                complaints.push(format!("from snapshot {zxid} on it is another tree"));
            }
            let compared = earlier.saved.log.iter().filter(|txn| txn.digest.is_some()).count();
            digests = digests.max(compared);
        }
        Ok(Self { recovered, snapshots: snapshots.len(), digests, complaints })
    }
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { recovered, snapshots, digests, complaints: _ } = self;
        let Saved { zxid_last, tree, sessions, .. } = &recovered.saved;
        let (nodes, sessions) = (tree.len(), sessions.len());
        write!(
            f,
            "{snapshots} snapshots, up to {zxid_last}, {nodes} nodes, {sessions} sessions, "
        )?;
        write!(f, "{digests} digests")
    }
}

/// The directory as it would be if this were its newest snapshot.
fn without_later(files: &Files, zxid: Zxid) -> Files {
    let later: Vec<FileName> = files
        .snapshots()
        .filter(|(later, _)| *later > zxid)
        .map(|(later, _)| FileName::snapshot(later))
        .collect();
    let kept = files.iter().filter(|(name, _)| !later.contains(name));
    kept.map(|(name, bytes)| (name, bytes.to_vec())).collect()
}

fn complaints(recovered: &Recovered) -> Vec<String> {
    let bad = |note: &&Note| match note {
        Note::Mismatch { .. } | Note::Skipped { .. } | Note::Repeated { .. } => true,
        Note::EpochRaised { .. }
        | Note::Installed { .. }
        | Note::Removed { .. }
        | Note::Torn { .. } => false,
    };
    recovered.notes.iter().filter(bad).map(ToString::to_string).collect()
}
