//! The one task that writes to a server's directory.
//!
//! ```text
//!   host ---- what is to be persisted ----> file operations ----> directory
//!     ^                                                              |
//!     +------------------------ Persisted ---------------------------+
//! ```
//!
//! It takes all there is at a time. What was appended while the disk was busy shares its next
//! sync.

use std::io;

use zoolab_core::storage::Disk;
use zoolab_core::{Persist, Token};

use crate::directory::Directory;
use crate::shared::Shared;

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Keeper {
    format: Disk,
    directory: Box<dyn Directory>,
}

impl Keeper {
    /// Goes on with a directory that has been recovered and put in order.
    pub(crate) fn new(format: Disk, directory: Box<dyn Directory>) -> Self {
        Self { format, directory }
    }

    /// Writes for as long as the disk does what it is told. When it does not, the core has been
    /// told: it says nothing any more.
    pub(crate) async fn run(mut self, shared: &Shared) -> io::Error {
        loop {
            let asked = shared.with_host(|host| host.take_asked());
            if asked.is_empty() {
                shared.disk_asked.notified().await;
                continue;
            }
            let first = asked[0].0;
            let error = match self.carry_out(in_order(asked)).await {
                Ok(done) => {
                    shared.with_host(|host| host.persisted(shared.clock.now(), done));
                    continue;
                }
                Err(error) => error,
            };
            shared.with_host(|host| host.persist_failed(shared.clock.now(), first));
            return error;
        }
    }

    /// Does all of this; returns what the core waits to hear of.
    async fn carry_out(&mut self, asked: Vec<(Token, Persist)>) -> io::Result<Vec<Token>> {
        let Self { format, directory } = self;
        let mut ops = Vec::new();
        let mut done = Vec::new();
        for (token, persist) in &asked {
            // Only a leader whom this server follows has anything truncated.
            format
                .carry_out(
                    persist,
                    || unreachable!("an ensemble of one truncates nothing"),
                    &mut ops,
                )
                .map_err(io::Error::other)?;
            if !is_append(persist) {
                done.push(*token);
            }
        }
        if !ops.is_empty() {
            directory.perform(ops).await?;
        }
        Ok(done)
    }
}

/// Appends promise nothing by themselves, and nobody waits for them.
const fn is_append(persist: &Persist) -> bool {
    match persist {
        Persist::Append(_) => true,
        Persist::Epoch { .. }
        | Persist::Install { .. }
        | Persist::Members(_)
        | Persist::Purge { .. }
        | Persist::SnapshotBegin { .. }
        | Persist::SnapshotMore { .. }
        | Persist::SnapshotUnsynced { .. }
        | Persist::Sync
        | Persist::Truncate { .. } => false,
    }
}

/// The same, but a sync comes after the appends that follow it: then it covers them too, and the
/// next one finds nothing to do.
fn in_order(asked: Vec<(Token, Persist)>) -> Vec<(Token, Persist)> {
    let mut ordered = Vec::with_capacity(asked.len());
    let mut syncs = Vec::new();
    for (token, persist) in asked {
        if persist == Persist::Sync {
            syncs.push((token, persist));
            continue;
        }
        if !is_append(&persist) {
            ordered.append(&mut syncs);
        }
        ordered.push((token, persist));
    }
    ordered.append(&mut syncs);
    ordered
}
