//! What a server has asked of its disk: how much of the log is safe, and what else is under way.
//!
//! ```text
//!            append                 sync asked               Persisted
//!   nothing ---------> appended ------------------> syncing -----------> durable
//!                         ^                            |
//!                         +---- more was appended -----+  (group commit)
//! ```
//!
//! One sync at a time: whatever is appended meanwhile is covered by the next one together.
//! Invariant: what is not known to be durable is not spoken of to anybody.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::ids::{Epoch, Token, Zxid};
use crate::io::{Output, Persist};
use crate::storage::EpochKind;
use crate::txn::Txn;

/// Something other than a sync that the disk is at.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Task {
    /// Writing an epoch.
    Epoch { kind: EpochKind, epoch: Epoch },
    /// Replacing everything by a snapshot.
    Install { zxid: Zxid },
    /// Writing down who is in the ensemble.
    Members,
    /// Removing what is not needed.
    Purge,
    /// Writing a part of a snapshot; `whole` if it was the last.
    Snapshot { whole: bool },
    /// Writing a whole one that stands for what the log does not have.
    SnapshotUnsynced { zxid: Zxid },
    /// Cutting the log off.
    Truncate { to: Zxid },
}

/// What the disk is done with.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Finished {
    /// Everything up to here is safe.
    Synced(Zxid),
    /// Something else.
    Task(Task),
}

/// See the [module](self).
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(crate) struct Journal {
    appended: Zxid,
    /// Invariant: not after `appended`.
    durable: Zxid,
    /// The sync under way and what it covers.
    syncing: Option<(Token, Zxid)>,
    tasks: VecDeque<(Token, Task)>,
    tokens: u64,
}

impl Journal {
    /// A log that ends here, all of it safe.
    pub(crate) fn at(zxid: Zxid) -> Self {
        Self { appended: zxid, durable: zxid, ..Self::default() }
    }

    /// The log is another one now, and ends here, all of it safe.
    pub(crate) fn reset(&mut self, zxid: Zxid) {
        assert!(self.is_idle(), "the disk is still at the old log");
        self.appended = zxid;
        self.durable = zxid;
    }

    /// The last transaction handed to the log.
    pub(crate) const fn appended(&self) -> Zxid {
        self.appended
    }

    /// The last transaction that is safe.
    pub(crate) const fn durable(&self) -> Zxid {
        self.durable
    }

    /// Whether the disk has nothing to do and everything is safe.
    pub(crate) fn is_idle(&self) -> bool {
        self.syncing.is_none() && self.tasks.is_empty() && self.durable == self.appended
    }

    /// Hands a transaction to the log, and sees to it that it becomes safe.
    pub(crate) fn append(&mut self, txn: &Arc<Txn>, out: &mut Vec<Output>) {
        assert!(txn.stamp.zxid > self.appended, "the log only grows");
        self.appended = txn.stamp.zxid;
        let token = self.token();
        out.push(Output::Persist { token, persist: Persist::Append(Arc::clone(txn)) });
        self.sync(out);
    }

    fn sync(&mut self, out: &mut Vec<Output>) {
        if self.syncing.is_none() && self.durable < self.appended {
            let token = self.token();
            self.syncing = Some((token, self.appended));
            out.push(Output::Persist { token, persist: Persist::Sync });
        }
    }

    /// Has the disk do something else.
    pub(crate) fn ask(&mut self, task: Task, persist: Persist, out: &mut Vec<Output>) {
        let token = self.token();
        self.tasks.push_back((token, task));
        out.push(Output::Persist { token, persist });
    }

    /// Makes an epoch survive.
    pub(crate) fn write_epoch(&mut self, kind: EpochKind, epoch: Epoch, out: &mut Vec<Output>) {
        self.ask(Task::Epoch { kind, epoch }, Persist::Epoch { kind, epoch }, out);
    }

    /// The disk is done with something; `None` if that says nothing.
    pub(crate) fn persisted(&mut self, token: Token, out: &mut Vec<Output>) -> Option<Finished> {
        if let Some((_, covered)) = self.syncing.take_if(|(syncing, _)| *syncing == token) {
            assert!(covered <= self.appended, "a sync covers what was appended before");
            self.durable = covered;
            self.sync(out);
            return Some(Finished::Synced(covered));
        }
        self.task(token).map(Finished::Task)
    }

    /// The disk could not do something: which, unless it was about the log.
    pub(crate) fn failed(&mut self, token: Token) -> Option<Task> {
        self.task(token)
    }

    /// The newest name.
    pub(crate) const fn token_last(&self) -> Token {
        Token(self.tokens)
    }

    /// Gives everything under way another name; the newest one is `last` now.
    pub(crate) fn rename(&mut self, name: &dyn Fn(Token) -> Token, last: Token) {
        let syncing = self.syncing.iter_mut().map(|(token, _)| token);
        syncing.chain(self.tasks.iter_mut().map(|(token, _)| token)).for_each(|token| {
            *token = name(*token);
        });
        self.tokens = last.0;
    }

    fn task(&mut self, token: Token) -> Option<Task> {
        let place = self.tasks.iter().position(|(asked, _)| *asked == token)?;
        self.tasks.remove(place).map(|(_, task)| task)
    }

    fn token(&mut self) -> Token {
        self.tokens += 1;
        Token(self.tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Code;
    use crate::ids::{Millis, SessionId, Xid};
    use crate::request::Stamp;
    use crate::txn::Change;

    fn txn(zxid: i64) -> Arc<Txn> {
        Arc::new(Txn {
            stamp: Stamp { zxid: Zxid(zxid), time: Millis(0) },
            session: SessionId(7),
            cxid: Xid(1),
            change: Change::Error(Code::NoNode),
            digest: None,
        })
    }

    #[test]
    fn syncs_are_shared_and_only_they_make_safe() {
        let mut journal = Journal::default();
        let mut out = Vec::new();
        for zxid in 1..=3 {
            journal.append(&txn(zxid), &mut out);
        }
        let tokens: Vec<(Token, bool)> = out
            .iter()
            .filter_map(|output| {
                let Output::Persist { token, persist } = output else { return None };
                Some((*token, *persist == Persist::Sync))
            })
            .collect();
        let syncs: Vec<Token> =
            tokens.iter().filter(|(_, sync)| *sync).map(|(token, _)| *token).collect();
        assert_eq!(syncs.len(), 1, "one sync at a time");
        out.clear();
        assert_eq!(journal.persisted(tokens[0].0, &mut out), None, "an append promises nothing");
        assert_eq!(journal.persisted(syncs[0], &mut out), Some(Finished::Synced(Zxid(1))));
        let [Output::Persist { token, persist: Persist::Sync }] = out[..] else {
            panic!("a second sync for what came meanwhile: {out:?}");
        };
        assert!(!journal.is_idle());
        let done = journal.persisted(token, &mut Vec::new());
        assert_eq!(done, Some(Finished::Synced(Zxid(3))));
        assert!(journal.is_idle());
    }
}
