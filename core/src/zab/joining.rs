//! A learner on its way to having what its leader has.
//!
//! ```text
//!   Dialling -> AwaitEpoch -> WritingAccepted -> AwaitWay -+-> Streaming (DIFF)
//!                                                          +-> Truncating -> Reloading -> Streaming
//!                                                          +-> Receiving -> Installing -> Streaming
//!
//!   Streaming -- NEWLEADER --> Logging -> WritingCurrent -> Acknowledged -- UPTODATE --> follower
//! ```
//!
//! Three things become durable one after the other: the history, then the epoch, and only then is
//! the leader told. Each order that real servers had instead has lost transactions.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::ids::{Epoch, LinkId, ServerId, Zxid};
use crate::members::Members;
use crate::note::Why;
use crate::storage::log::follows;
use crate::storage::snapshot::Snapshot;
use crate::txn::Txn;
use crate::zab::Message;

/// See the [module](self).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Joining {
    pub(crate) leader: ServerId,
    pub(crate) link: Option<LinkId>,
    /// Whether it has said that it has no vote.
    pub(crate) observer: bool,
    /// The members in force when it is up to date, if the leader knows of any.
    pub(crate) members: Option<Arc<Members>>,
    /// How often connecting has failed.
    pub(crate) tries: u32,
    pub(crate) epoch: Epoch,
    pub(crate) state: State,
    /// What came while the disk was busy.
    pub(crate) inbox: VecDeque<Message>,
    /// The end of the history with everything received.
    pub(crate) last: Zxid,
    /// Received and not yet logged. Invariant: no holes up to `last`.
    pub(crate) txns: VecDeque<Arc<Txn>>,
    /// How many of these are committed.
    pub(crate) committed: usize,
    /// How many of these are in the log all the same. Only bugs log what is not committed.
    pub(crate) logged: usize,
    /// Whether its log was cut off on the way.
    pub(crate) was_cut: bool,
}

/// What a learner is at.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) enum State {
    /// No connection yet.
    Dialling,
    /// It has presented itself.
    AwaitEpoch,
    /// Its promise is on its way to disk.
    WritingAccepted,
    /// It has said what it has.
    AwaitWay,
    /// A snapshot comes in.
    Receiving { zxid: Zxid, bytes: Vec<u8> },
    /// The snapshot is on its way to disk.
    Installing(Arc<Snapshot>),
    /// The log is being cut off.
    Truncating { to: Zxid },
    /// What is left is being read.
    Reloading { to: Zxid },
    /// Transactions come in.
    Streaming,
    /// What is committed of them is on its way to disk.
    Logging,
    /// The epoch is on its way to disk.
    WritingCurrent,
    /// The leader knows.
    Acknowledged,
}

impl Joining {
    pub(crate) fn new(leader: ServerId) -> Self {
        Self {
            leader,
            link: None,
            observer: false,
            members: None,
            tries: 0,
            epoch: Epoch(0),
            state: State::Dialling,
            inbox: VecDeque::new(),
            last: Zxid::ZERO,
            txns: VecDeque::new(),
            committed: 0,
            logged: 0,
            was_cut: false,
        }
    }

    /// Whether it can take no message now.
    pub(crate) const fn is_busy(&self) -> bool {
        match self.state {
            State::Dialling
            | State::WritingAccepted
            | State::Installing(_)
            | State::Truncating { .. }
            | State::Reloading { .. }
            | State::Logging
            | State::WritingCurrent => true,
            State::AwaitEpoch
            | State::AwaitWay
            | State::Receiving { .. }
            | State::Streaming
            | State::Acknowledged => false,
        }
    }

    /// One more transaction.
    ///
    /// # Errors
    /// If it is not the next. Then nothing has changed.
    pub(crate) fn receive(&mut self, txn: Arc<Txn>) -> Result<(), Why> {
        let got = txn.stamp.zxid;
        if !follows(self.last, got) {
            return Err(Why::ProposalOutOfOrder { last: self.last, got });
        }
        self.last = got;
        self.txns.push_back(txn);
        Ok(())
    }

    /// The next transaction received is committed.
    ///
    /// # Errors
    /// If it is another one. Then nothing has changed.
    pub(crate) fn commit(&mut self, got: Zxid) -> Result<(), Why> {
        let expected = self.txns.get(self.committed).map(|txn| txn.stamp.zxid);
        if expected != Some(got) {
            return Err(Why::CommitOutOfOrder { expected, got });
        }
        self.committed += 1;
        Ok(())
    }

    /// The members that a transaction received and not yet logged brings.
    ///
    /// # Errors
    /// If it brings none, or is not there.
    pub(crate) fn proposed(&self, zxid: Zxid) -> Result<Arc<Members>, Why> {
        let txn = self.txns.iter().find(|txn| txn.stamp.zxid == zxid).ok_or(Why::Misplaced)?;
        Members::proposed_by(txn).map(Arc::new).ok_or(Why::Misplaced)
    }

    /// These will be in force when it is up to date, unless it knows of newer ones.
    pub(crate) fn know(&mut self, members: Option<Arc<Members>>) {
        let known = self.members.as_ref().map(|members| members.version());
        if let Some(members) = members
            && known.is_none_or(|known| known < members.version())
        {
            self.members = Some(members);
        }
    }

    /// These are in force while it joins.
    ///
    /// # Errors
    /// If another leads from here on.
    pub(crate) fn activate(&mut self, members: Arc<Members>, leader: ServerId) -> Result<(), Why> {
        self.know(Some(members));
        if leader == self.leader { Ok(()) } else { Err(Why::Changed { leader }) }
    }

    /// Takes the transactions that are committed.
    pub(crate) fn take_committed(&mut self) -> VecDeque<Arc<Txn>> {
        let rest = self.txns.split_off(core::mem::take(&mut self.committed));
        core::mem::replace(&mut self.txns, rest)
    }
}
