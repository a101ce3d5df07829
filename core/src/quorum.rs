//! What is enough: which sets of servers speak for the ensemble.

use alloc::collections::BTreeSet;

use crate::ids::ServerId;

/// More than half of the voters.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Quorum {
    /// Invariant: not empty.
    voters: BTreeSet<ServerId>,
}

impl Quorum {
    /// An ensemble of one.
    #[must_use]
    pub fn of_one(me: ServerId) -> Self {
        Self { voters: BTreeSet::from([me]) }
    }

    /// Whether these servers are enough. Others than voters do not count.
    #[must_use]
    pub fn is_enough(&self, servers: &BTreeSet<ServerId>) -> bool {
        self.voters.intersection(servers).count() > self.voters.len() / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_enough_for_one_and_strangers_do_not_count() {
        let quorum = Quorum::of_one(ServerId(1));
        assert!(quorum.is_enough(&BTreeSet::from([ServerId(1)])));
        assert!(!quorum.is_enough(&BTreeSet::new()));
        assert!(!quorum.is_enough(&BTreeSet::from([ServerId(2), ServerId(3)])));
    }
}
