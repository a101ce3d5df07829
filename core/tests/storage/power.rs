//! A disk that forgets what was not synced when the power goes.

use std::collections::BTreeMap;

use zoolab_core::storage::{FileName, FileOp, Files};

#[derive(Clone, Debug, Default)]
struct Inode {
    live: Vec<u8>,
    durable: Vec<u8>,
}

/// A change of the directory. A renaming happens or does not; it never happens by half.
#[derive(Clone, Debug)]
enum Change {
    Link(FileName, usize),
    Rename(FileName, FileName, usize),
    Unlink(FileName),
}

/// Files with what is safe and what is not.
#[derive(Clone, Debug, Default)]
pub(crate) struct Power {
    inodes: Vec<Inode>,
    live: BTreeMap<FileName, usize>,
    durable: BTreeMap<FileName, usize>,
    changes: Vec<Change>,
}

impl Power {
    pub(crate) fn perform(&mut self, op: &FileOp) {
        match op {
            FileOp::Create { name } => match self.live.get(name) {
                Some(inode) => self.inodes[*inode].live.clear(),
                None => {
                    self.inodes.push(Inode::default());
                    self.change(Change::Link(*name, self.inodes.len() - 1));
                }
            },
            FileOp::Remove { name } => self.change(Change::Unlink(*name)),
            FileOp::Rename { from, to } => {
                let inode = self.live[from];
                self.change(Change::Rename(*from, *to, inode));
            }
            FileOp::Sync { name } => {
                let inode = self.inode(*name);
                inode.durable.clone_from(&inode.live);
            }
            FileOp::SyncDirectory => {
                self.durable.clone_from(&self.live);
                self.changes.clear();
            }
            FileOp::Truncate { name, size } => self.inode(*name).live.resize(*size as usize, 0),
            FileOp::Write { name, at, bytes } => {
                let live = &mut self.inode(*name).live;
                let end = *at as usize + bytes.len();
                live.resize(live.len().max(end), 0);
                live[*at as usize..end].copy_from_slice(bytes);
            }
        }
    }

    fn inode(&mut self, name: FileName) -> &mut Inode {
        let inode = self.live.get(&name).unwrap_or_else(|| panic!("no {name}"));
        &mut self.inodes[*inode]
    }

    fn change(&mut self, change: Change) {
        make(&change, &mut self.live);
        self.changes.push(change);
    }

    /// What a crash of the process leaves.
    pub(crate) fn process_crash(&self) -> Files {
        self.live.iter().map(|(name, inode)| (*name, self.inodes[*inode].live.clone())).collect()
    }

    /// What a power loss leaves; `chance` says what is kept of that which is not safe.
    pub(crate) fn power_loss(&self, mut chance: impl FnMut(usize) -> usize) -> Files {
        let mut names = self.durable.clone();
        for change in self.changes.iter().filter(|_| chance(2) == 0) {
            make(change, &mut names);
        }
        let mut torn = |inode: &Inode| {
            let Inode { live, durable } = inode;
            if live == durable || chance(3) == 0 {
                return durable.clone();
            }
            if live.len() < durable.len() || chance(3) == 0 {
                return live.clone();
            }
            // A beginning of what was written has reached the disk; the size may be ahead of it.
            let mut bytes = live[..chance(live.len() + 1)].to_vec();
            if let Some(rest) = durable.get(bytes.len()..) {
                bytes.extend_from_slice(rest);
            }
            if chance(2) == 0 {
                bytes.resize(live.len(), 0);
            }
            bytes
        };
        names.iter().map(|(name, inode)| (*name, torn(&self.inodes[*inode]))).collect()
    }
}

fn make(change: &Change, names: &mut BTreeMap<FileName, usize>) {
    match change {
        Change::Link(name, inode) => {
            names.insert(*name, *inode);
        }
        Change::Rename(from, to, inode) => {
            if names.get(from) == Some(inode) {
                names.remove(from);
            }
            names.insert(*to, *inode);
        }
        Change::Unlink(name) => {
            names.remove(name);
        }
    }
}
