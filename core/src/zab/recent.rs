//! The newest transactions of a server's history, at hand for learners that lack some.

use alloc::collections::VecDeque;
use alloc::sync::Arc;

use crate::ids::Zxid;
use crate::storage::log::follows;
use crate::txn::Txn;

/// See the [module](self).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Recent {
    /// The transaction before the first one here.
    base: Zxid,
    /// Invariant: no holes, each follows the one before, the first one follows `base`.
    txns: VecDeque<Arc<Txn>>,
    /// How many are kept.
    most: usize,
}

impl Recent {
    /// Nothing after this one yet.
    pub(crate) fn after(base: Zxid, most: u32) -> Self {
        Self { base, txns: VecDeque::new(), most: most as usize }
    }

    /// One more.
    pub(crate) fn push(&mut self, txn: Arc<Txn>) {
        assert!(follows(self.last(), txn.stamp.zxid), "{} after {}", txn.stamp.zxid, self.last());
        self.txns.push_back(txn);
        while self.txns.len() > self.most
            && let Some(oldest) = self.txns.pop_front()
        {
            self.base = oldest.stamp.zxid;
        }
    }

    /// The newest.
    pub(crate) fn last(&self) -> Zxid {
        self.txns.back().map_or(self.base, |txn| txn.stamp.zxid)
    }

    /// The transaction before the first one here.
    pub(crate) const fn base(&self) -> Zxid {
        self.base
    }

    /// Those after a zxid, which need not be one of them, and the last one up to it.
    pub(crate) fn since(&self, zxid: Zxid) -> (Zxid, impl Iterator<Item = &Arc<Txn>>) {
        let place = self.txns.partition_point(|txn| txn.stamp.zxid <= zxid);
        let last = match place {
            0 => self.base,
            place => self.txns[place - 1].stamp.zxid,
        };
        (last, self.txns.range(place..))
    }
}

impl Extend<Arc<Txn>> for Recent {
    fn extend<T: IntoIterator<Item = Arc<Txn>>>(&mut self, txns: T) {
        txns.into_iter().for_each(|txn| self.push(txn));
    }
}
