//! A directory that a test makes up: what it holds, what of it would survive a power loss, and
//! when it does what it is told.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use tokio::time::{Duration, sleep};
use zoolab_core::storage::{FileName, FileOp, Files};
use zoolab_server::{Directory, Performing};

/// A disk. Clones are the same one; it outlives the server that uses it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    files: Files,
    /// What has been synced of files, whether their names have or not.
    synced: BTreeMap<FileName, Vec<u8>>,
    /// What a power loss leaves.
    durable: Files,
    /// How often a log was synced.
    syncs: usize,
    sync_takes: Duration,
    /// It says it has, and has not.
    lies: bool,
    fails: bool,
}

impl Memory {
    /// How long each sync takes from now on.
    pub(crate) fn sync_takes(&self, time: Duration) {
        self.0.lock().unwrap().sync_takes = time;
    }

    /// From now on it only says that it has synced.
    #[allow(dead_code, reason = "only some disks lie")]
    pub(crate) fn lie(&self) {
        self.0.lock().unwrap().lies = true;
    }

    /// From now on syncs fail.
    #[allow(dead_code, reason = "only some disks fail")]
    pub(crate) fn fail(&self) {
        self.0.lock().unwrap().fails = true;
    }

    /// How often a log was synced.
    #[allow(dead_code, reason = "not all tests count")]
    pub(crate) fn syncs(&self) -> usize {
        self.0.lock().unwrap().syncs
    }

    /// What was not synced is gone.
    pub(crate) fn lose_power(&self) {
        let mut state = self.0.lock().unwrap();
        state.files = state.durable.clone();
        state.synced = state.files.iter().map(|(name, bytes)| (name, bytes.to_vec())).collect();
    }
}

impl State {
    fn perform(&mut self, op: &FileOp) -> io::Result<()> {
        if op.is_sync() && self.fails {
            return Err(io::Error::other(format!("{op}: the disk is broken")));
        }
        self.files.perform(op).map_err(io::Error::other)?;
        match op {
            FileOp::Create { .. } | FileOp::Truncate { .. } | FileOp::Write { .. } => {}
            FileOp::Remove { name } => {
                self.synced.remove(name);
            }
            FileOp::Rename { from, to } => {
                let bytes = self.synced.remove(from).unwrap_or_default();
                self.synced.insert(*to, bytes);
            }
            FileOp::Sync { name } => {
                self.syncs +=
                    usize::from(self.files.logs().any(|(zxid, _)| *name == FileName::log(zxid)));
                if !self.lies {
                    let bytes = self.files.get(*name).expect("performed above").to_vec();
                    if self.durable.get(*name).is_some() {
                        self.durable.insert(*name, bytes.clone());
                    }
                    self.synced.insert(*name, bytes);
                }
            }
            FileOp::SyncDirectory => {
                if !self.lies {
                    let bytes = |name| self.synced.get(&name).cloned().unwrap_or_default();
                    self.durable = self.files.iter().map(|(name, _)| (name, bytes(name))).collect();
                }
            }
        }
        Ok(())
    }
}

impl Directory for Memory {
    fn read(&mut self) -> io::Result<Files> {
        Ok(self.0.lock().unwrap().files.clone())
    }

    fn perform(&mut self, ops: Vec<FileOp>) -> Performing<'_> {
        Box::pin(async move {
            for op in ops {
                if op.is_sync() {
                    let time = self.0.lock().unwrap().sync_takes;
                    sleep(time).await;
                }
                self.0.lock().unwrap().perform(&op)?;
            }
            Ok(())
        })
    }

    fn path(&self) -> Option<&Path> {
        None
    }
}
