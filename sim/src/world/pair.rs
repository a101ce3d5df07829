//! Everything between two servers: connections, the newest votes on their way, cuts.

use zoolab_core::election::Notification;
use zoolab_core::{LinkId, ServerId};

use super::link::Link;

/// See the [module](self).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Pair {
    /// The two, the lower id first.
    pub ends: [ServerId; 2],
    /// In the order in which they were made.
    pub links: Vec<(LinkId, Link)>,
    /// From the first to the second, and back. Only the newest is kept.
    pub votes: [Option<Notification>; 2],
    /// Whether nothing gets there.
    pub cut: [bool; 2],
    /// By how much messages are slower.
    pub slow_us: [u32; 2],
}

impl Pair {
    /// Nothing between these two.
    #[must_use]
    pub const fn new(ends: [ServerId; 2]) -> Self {
        Self { ends, links: Vec::new(), votes: [None; 2], cut: [false; 2], slow_us: [0; 2] }
    }

    /// Which of the two ways begins at a server.
    #[must_use]
    pub fn way(&self, from: ServerId) -> usize {
        usize::from(self.ends[1] == from)
    }

    /// One connection.
    #[must_use]
    pub fn link(&self, id: LinkId) -> Option<&Link> {
        self.links.iter().find(|(other, _)| *other == id).map(|(_, link)| link)
    }

    /// The same, to be changed.
    pub fn link_mut(&mut self, id: LinkId) -> Option<&mut Link> {
        self.links.iter_mut().find(|(other, _)| *other == id).map(|(_, link)| link)
    }
}
