//! A learner that is up to date: a follower, which takes part in broadcast, or an observer.
//!
//! ```text
//!            PROPOSAL             Persisted            COMMIT
//!   unknown ----------> logging ------------> acked ----------> applied
//!                          |                                       ^
//!                          +---------------------------------------+
//!                            COMMIT may overtake our own disk
//! ```

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::journal::Journal;
use crate::ids::{ConnId, LinkId, ServerId, SessionId, Zxid};
use crate::io::Output;
use crate::note::Why;
use crate::storage::log::follows;
use crate::txn::Txn;
use crate::zab::Message;

/// See the [module](self).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Follower {
    pub(crate) leader: ServerId,
    pub(crate) link: LinkId,
    /// Proposed, not yet committed. Invariant: zxids count up by one.
    pending: VecDeque<Arc<Txn>>,
    /// Logged, not yet acknowledged; empty for an observer.
    owed: VecDeque<Zxid>,
    observer: bool,
    /// Sessions that wait for SYNC, and on which connection, in the order they asked.
    pub(crate) syncs: VecDeque<(SessionId, ConnId)>,
    /// Connections that wait for the leader's word on their session, in the order they asked.
    pub(crate) revalidating: VecDeque<(SessionId, ConnId)>,
}

impl Follower {
    pub(crate) fn new(leader: ServerId, link: LinkId, observer: bool) -> Self {
        Self {
            leader,
            link,
            pending: VecDeque::new(),
            owed: VecDeque::new(),
            observer,
            syncs: VecDeque::new(),
            revalidating: VecDeque::new(),
        }
    }

    /// A proposal goes to the log.
    ///
    /// # Errors
    /// If it does not follow the last one. Then nothing has changed.
    pub(crate) fn propose(
        &mut self,
        txn: Arc<Txn>,
        journal: &mut Journal,
        out: &mut Vec<Output>,
    ) -> Result<(), Why> {
        let (last, got) = (journal.appended(), txn.stamp.zxid);
        if !follows(last, got) {
            return Err(Why::ProposalOutOfOrder { last, got });
        }
        journal.append(&txn, out);
        self.adopt(txn);
        Ok(())
    }

    /// A proposal that has been logged before it could be proposed here.
    pub(crate) fn adopt(&mut self, txn: Arc<Txn>) {
        if !self.observer {
            self.owed.push_back(txn.stamp.zxid);
        }
        self.pending.push_back(txn);
    }

    /// Whether it has no vote and takes no part in what is proposed.
    pub(crate) const fn observer(&self) -> bool {
        self.observer
    }

    /// The oldest proposal is committed, and taken.
    ///
    /// # Errors
    /// If it is another one. Then nothing has changed.
    pub(crate) fn commit(&mut self, got: Zxid) -> Result<Arc<Txn>, Why> {
        let expected = self.pending.front().map(|txn| txn.stamp.zxid);
        let next = self.pending.pop_front_if(|txn| txn.stamp.zxid == got);
        next.ok_or(Why::CommitOutOfOrder { expected, got })
    }

    /// Everything up to here is safe: says so, once for each.
    pub(crate) fn acknowledge(&mut self, durable: Zxid, out: &mut Vec<Output>) {
        while let Some(zxid) = self.owed.pop_front_if(|zxid| *zxid <= durable) {
            out.push(Output::Send { link: self.link, message: Message::Ack(zxid) });
        }
    }

    /// Gives up; what was logged and not committed is left.
    pub(crate) fn into_pending(self) -> VecDeque<Arc<Txn>> {
        self.pending
    }
}
