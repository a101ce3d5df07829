//! What is enough: which sets of servers speak for the ensemble.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::hash::{Hash, Hasher};

use crate::ids::ServerId;
use crate::unordered::hash_unordered;

/// Which sets of servers are enough. Any two such sets have a server in common.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Quorum {
    /// Groups of servers with their weights, in order. Invariant: at least one server has weight,
    /// and no server is in two groups. A plain majority is one group in which all weigh the same.
    groups: Vec<Vec<(ServerId, u64)>>,
}

impl Hash for Quorum {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self { groups } = self;
        groups.len().hash(state);
        groups.iter().for_each(|group| hash_unordered(group, state));
    }
}

/// Why servers cannot be an ensemble.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum QuorumError {
    /// Nobody could ever be enough.
    NoWeight,
    /// A server is in two groups.
    Twice(ServerId),
}

impl fmt::Display for QuorumError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoWeight => write!(f, "no voter has any weight"),
            Self::Twice(server) => write!(f, "server {} is in two groups", server.0),
        }
    }
}

impl core::error::Error for QuorumError {}

impl Quorum {
    /// An ensemble of one.
    #[must_use]
    pub fn of_one(me: ServerId) -> Self {
        Self { groups: alloc::vec![alloc::vec![(me, 1)]] }
    }

    /// More than half of the voters.
    ///
    /// # Errors
    /// Without voters.
    pub fn majority(voters: impl IntoIterator<Item = ServerId>) -> Result<Self, QuorumError> {
        Self::weighted(voters.into_iter().map(|voter| (voter, 1)))
    }

    /// More than half of the weight.
    ///
    /// # Errors
    /// If nobody has any, or somebody is named twice.
    pub fn weighted(
        voters: impl IntoIterator<Item = (ServerId, u64)>,
    ) -> Result<Self, QuorumError> {
        Self::hierarchical([voters])
    }

    /// More than half of the weight in more than half of the groups that have any.
    ///
    /// # Errors
    /// If nobody has any, or somebody is named twice.
    pub fn hierarchical<G: IntoIterator<Item = (ServerId, u64)>>(
        groups: impl IntoIterator<Item = G>,
    ) -> Result<Self, QuorumError> {
        let mut seen = BTreeSet::new();
        let mut all = Vec::new();
        for group in groups {
            let mut members = Vec::new();
            for (server, weight) in group {
                if !seen.insert(server) {
                    return Err(QuorumError::Twice(server));
                }
                members.push((server, weight));
            }
            members.sort_unstable();
            all.push(members);
        }
        if all.iter().flatten().all(|(_, weight)| *weight == 0) {
            return Err(QuorumError::NoWeight);
        }
        Ok(Self { groups: all })
    }

    /// The servers that vote, in order.
    #[must_use]
    pub fn voters(&self) -> BTreeSet<ServerId> {
        self.groups.iter().flatten().map(|(server, _)| *server).collect()
    }

    /// The groups, each with its servers and their weights.
    pub fn groups(&self) -> impl Iterator<Item = impl Iterator<Item = (ServerId, u64)>> {
        self.groups.iter().map(|group| group.iter().copied())
    }

    /// Whether it is more than half of the voters that is enough.
    #[must_use]
    pub fn is_majority(&self) -> bool {
        self.groups.len() == 1 && self.groups.iter().flatten().all(|(_, weight)| *weight == 1)
    }

    /// Whether a server votes.
    #[must_use]
    pub fn has_voter(&self, server: ServerId) -> bool {
        self.groups.iter().flatten().any(|(voter, _)| *voter == server)
    }

    /// What a server's vote weighs; without weight it cannot be elected.
    #[must_use]
    pub fn weight(&self, server: ServerId) -> u64 {
        let mut all = self.groups.iter().flatten();
        all.find(|(voter, _)| *voter == server).map_or(0, |(_, weight)| *weight)
    }

    /// Whether these servers are enough. Others than voters do not count.
    #[must_use]
    pub fn is_enough(&self, servers: &BTreeSet<ServerId>) -> bool {
        self.is_enough_if(|server| servers.contains(&server))
    }

    /// Whether the servers of which this is true are enough.
    #[must_use]
    pub fn is_enough_if(&self, mut is: impl FnMut(ServerId) -> bool) -> bool {
        let (mut groups, mut won) = (0, 0);
        for group in &self.groups {
            let (mut all, mut here) = (0, 0);
            for (server, weight) in group {
                all += weight;
                here += if is(*server) { *weight } else { 0 };
            }
            groups += usize::from(all > 0);
            won += usize::from(here > all / 2);
        }
        won > groups / 2
    }
}

/// What is enough at the moment: one quorum, and while the ensemble changes, one of those who
/// come as well.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Joint {
    /// Of the members in force.
    pub now: Arc<Quorum>,
    /// Of the members that are proposed.
    pub next: Option<Arc<Quorum>>,
}

impl Joint {
    fn all(&self) -> impl Iterator<Item = &Quorum> {
        core::iter::once(&self.now).chain(&self.next).map(|quorum| &**quorum)
    }

    /// The servers that vote in either, in order.
    #[must_use]
    pub fn voters(&self) -> BTreeSet<ServerId> {
        self.all().flat_map(Quorum::voters).collect()
    }

    /// Whether a server votes in either.
    #[must_use]
    pub fn has_voter(&self, server: ServerId) -> bool {
        self.all().any(|quorum| quorum.has_voter(server))
    }

    /// What a server's vote weighs among the members in force. Without weight it cannot be
    /// elected: others may not have heard of it, and would wait for somebody else for ever.
    #[must_use]
    pub fn weight(&self, server: ServerId) -> u64 {
        self.now.weight(server)
    }

    /// Whether these servers are enough in both.
    #[must_use]
    pub fn is_enough(&self, servers: &BTreeSet<ServerId>) -> bool {
        self.all().all(|quorum| quorum.is_enough(servers))
    }

    /// Whether these servers are enough in one of the two, for what needs no promise.
    #[must_use]
    pub fn is_enough_in_one(&self, servers: &BTreeSet<ServerId>) -> bool {
        self.all().any(|quorum| quorum.is_enough(servers))
    }

    /// Whether the servers of which this is true are enough in both.
    #[must_use]
    pub fn is_enough_if(&self, mut is: impl FnMut(ServerId) -> bool) -> bool {
        self.all().all(|quorum| quorum.is_enough_if(&mut is))
    }
}

impl From<Quorum> for Joint {
    fn from(quorum: Quorum) -> Self {
        Self { now: Arc::new(quorum), next: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn servers(ids: &[u8]) -> BTreeSet<ServerId> {
        ids.iter().copied().map(ServerId).collect()
    }

    #[test]
    fn one_is_enough_for_one_and_strangers_do_not_count() {
        let quorum = Quorum::of_one(ServerId(1));
        assert!(quorum.is_enough(&servers(&[1])));
        assert!(!quorum.is_enough(&servers(&[])));
        assert!(!quorum.is_enough(&servers(&[2, 3])));
    }

    #[test]
    fn more_than_half_is_enough() {
        let three = Quorum::majority((1..=3).map(ServerId)).unwrap();
        assert!(three.is_enough(&servers(&[1, 3])));
        assert!(!three.is_enough(&servers(&[1, 7, 8])));
        let four = Quorum::majority((1..=4).map(ServerId)).unwrap();
        assert!(!four.is_enough(&servers(&[1, 2])));
        assert!(four.is_enough(&servers(&[1, 2, 4])));
    }

    #[test]
    fn weight_decides_and_none_decides_nothing() {
        let weights = [(ServerId(1), 3), (ServerId(2), 1), (ServerId(3), 1), (ServerId(4), 0)];
        let quorum = Quorum::weighted(weights).unwrap();
        assert!(quorum.is_enough(&servers(&[1])));
        assert!(!quorum.is_enough(&servers(&[2, 3, 4])));
        assert_eq!(quorum.weight(ServerId(4)), 0);
        assert!(quorum.has_voter(ServerId(4)));
    }

    #[test]
    fn a_hierarchy_needs_most_groups() {
        let group = |ids: [u8; 3]| ids.map(|id| (ServerId(id), 1));
        let groups = [group([1, 2, 3]), group([4, 5, 6]), group([7, 8, 9])];
        let quorum = Quorum::hierarchical(groups).unwrap();
        assert!(quorum.is_enough(&servers(&[1, 2, 4, 5])));
        assert!(!quorum.is_enough(&servers(&[1, 2, 3, 4, 7])));
        // A group without weight is no group.
        let idle = [[(ServerId(1), 1)], [(ServerId(2), 0)]];
        assert!(Quorum::hierarchical(idle).unwrap().is_enough(&servers(&[1])));
    }

    #[test]
    fn two_quorums_always_meet() {
        let group = |ids: [u8; 2], weights: [u64; 2]| {
            [(ServerId(ids[0]), weights[0]), (ServerId(ids[1]), weights[1])]
        };
        let some = [
            Quorum::majority((1..=5).map(ServerId)).unwrap(),
            Quorum::weighted((1..=5).map(|id| (ServerId(id), u64::from(id)))).unwrap(),
            Quorum::hierarchical([
                group([1, 2], [1, 2]),
                group([3, 4], [1, 1]),
                group([5, 6], [0, 1]),
            ])
            .unwrap(),
        ];
        for quorum in some {
            let sets: Vec<BTreeSet<ServerId>> = (0..64_u8)
                .map(|bits| {
                    (1..=6).filter(|id| bits & (1 << (id - 1)) != 0).map(ServerId).collect()
                })
                .filter(|set| quorum.is_enough(set))
                .collect();
            assert!(!sets.is_empty());
            for a in &sets {
                for b in &sets {
                    assert!(!a.is_disjoint(b), "{a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn while_it_changes_both_must_agree() {
        let of = |ids: &[u8]| Quorum::majority(servers(ids)).unwrap();
        let next = Some(Arc::new(of(&[3, 4, 5])));
        let joint = Joint { now: Arc::new(of(&[1, 2, 3])), next };
        assert_eq!(joint.voters(), servers(&[1, 2, 3, 4, 5]));
        assert!(!joint.is_enough(&servers(&[1, 2, 4])), "one of the three that come");
        assert!(!joint.is_enough(&servers(&[3, 4, 5])), "one of the three that are");
        assert!(joint.is_enough_in_one(&servers(&[1, 2, 4])));
        assert!(!joint.is_enough_in_one(&servers(&[1, 4])));
        assert!(joint.is_enough(&servers(&[2, 3, 4])));
        assert!(joint.has_voter(ServerId(5)) && !joint.has_voter(ServerId(6)));
    }

    #[test]
    fn impossible_ensembles_are_refused() {
        assert_eq!(Quorum::majority([]), Err(QuorumError::NoWeight));
        let twice = [[(ServerId(1), 1)], [(ServerId(1), 1)]];
        assert_eq!(Quorum::hierarchical(twice), Err(QuorumError::Twice(ServerId(1))));
    }
}
