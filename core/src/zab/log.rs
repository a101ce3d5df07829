//! How much of the log is safe: what was appended, and what a finished sync covers.
//!
//! ```text
//!            append                 sync asked               Persisted
//!   nothing ---------> appended ------------------> syncing -----------> durable
//!                         ^                            |
//!                         +---- more was appended -----+  (group commit)
//! ```
//!
//! One sync at a time: whatever is appended meanwhile is covered by the next one together.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::ids::{Token, Zxid};
use crate::io::{Output, Persist};
use crate::txn::Txn;

/// The end of one server's log.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(super) struct LogTail {
    appended: Zxid,
    /// Invariant: not after `appended`.
    durable: Zxid,
    /// The sync under way and what it covers.
    syncing: Option<(Token, Zxid)>,
    tokens: u64,
}

impl LogTail {
    pub(super) fn append(&mut self, txn: &Txn, out: &mut Vec<Output>) {
        assert!(txn.stamp.zxid > self.appended, "the log only grows");
        self.appended = txn.stamp.zxid;
        let token = self.token();
        out.push(Output::Persist { token, persist: Persist::Append(Box::new(txn.clone())) });
        self.sync(out);
    }

    fn sync(&mut self, out: &mut Vec<Output>) {
        if self.syncing.is_none() && self.durable < self.appended {
            let token = self.token();
            self.syncing = Some((token, self.appended));
            out.push(Output::Persist { token, persist: Persist::Sync });
        }
    }

    /// Returns what has become durable, if this was the sync.
    pub(super) fn persisted(&mut self, token: Token, out: &mut Vec<Output>) -> Option<Zxid> {
        let (_, covered) = self.syncing.take_if(|(syncing, _)| *syncing == token)?;
        self.durable = covered;
        self.sync(out);
        Some(covered)
    }

    fn token(&mut self) -> Token {
        self.tokens += 1;
        Token(self.tokens)
    }
}
