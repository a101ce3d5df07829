//! Which server to try next.
//!
//! Round and round through a list shuffled once, so that the clients of an ensemble spread over
//! it. When the list changes, clients move so that each server of the new list can expect as
//! many as any other, and no more of them than that takes (ZOOKEEPER-1355):
//!
//! ```text
//!                      our server stays          our server goes
//!   more servers    leave, 1 - old/new         leave, to a new one
//!   no more         stay                       leave, to an old one with
//!                                              kept(old - new) / new(old - kept)
//! ```
//!
//! Who has left is *moving*: it tries new and old servers by those odds until it is connected or
//! has tried them all.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::address::{Address, ServerList};
use super::chance::{Chance, Odds};

/// The servers of an ensemble, and which to try next.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Hosts {
    /// Shuffled. Invariant: not empty.
    list: Vec<Address>,
    /// The place of the server tried last.
    at: Option<usize>,
    /// Coming back here means that all were tried: the server of the last success or, before the
    /// first, the one tried first.
    last: Option<usize>,
    moving: Option<Moving>,
}

/// On the way to another server after the list changed.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Moving {
    /// Not tried yet, and in the list before as well.
    kept: VecDeque<Address>,
    /// Not tried yet, and new.
    added: VecDeque<Address>,
    /// Of going to a new one.
    new: Odds,
    chance: Chance,
}

impl Moving {
    fn is_over(&self) -> bool {
        self.kept.is_empty() && self.added.is_empty()
    }

    fn pick(&mut self) -> Option<Address> {
        let new = self.chance.happens(self.new);
        let first = if new || self.kept.is_empty() { &mut self.added } else { &mut self.kept };
        first.pop_front().or_else(|| self.kept.pop_front())
    }
}

impl Hosts {
    /// This list, shuffled.
    #[must_use]
    pub fn new(servers: &ServerList, chance: &mut Chance) -> Self {
        let mut list = servers.all().to_vec();
        chance.shuffle(&mut list);
        Self { list, at: None, last: None, moving: None }
    }

    /// How many there are.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.list.len()
    }

    fn place_after(&self) -> usize {
        self.at.map_or(0, |at| at + 1) % self.list.len()
    }

    /// Whether [`pick`](Self::pick) would begin another round, before which one should rest.
    #[must_use]
    pub fn is_round_over(&self) -> bool {
        match &self.moving {
            Some(moving) => moving.is_over(),
            None => self.last == Some(self.place_after()),
        }
    }

    /// The server to try now.
    pub fn pick(&mut self) -> Address {
        if let Some(moving) = &mut self.moving {
            if let Some(host) = moving.pick() {
                self.at = self.list.iter().position(|listed| *listed == host);
                return host;
            }
            self.moving = None;
        }
        let at = self.place_after();
        self.at = Some(at);
        self.last = self.last.or(Some(0));
        self.list[at].clone()
    }

    /// The server tried last has taken us.
    pub fn on_connected(&mut self) {
        self.last = self.at;
        self.moving = None;
    }

    /// Takes another list. True if the client has to leave the server it is connected to, and
    /// look for another with [`pick`](Self::pick).
    pub fn update(
        &mut self,
        servers: &ServerList,
        connected: Option<&Address>,
        mut chance: Chance,
    ) -> bool {
        let mut list = servers.all().to_vec();
        chance.shuffle(&mut list);
        let ours = match connected {
            // Who is moving already stands for whatever comes next.
            _ if self.moving.is_some() => self.pick(),
            Some(connected) => connected.clone(),
            None => self.list[self.last.unwrap_or(0)].clone(),
        };
        let (kept, added): (VecDeque<_>, VecDeque<_>) =
            list.iter().cloned().partition(|host| self.list.contains(host));
        let stays = list.contains(&ours);
        let new = odds_of_new(self.list.len(), list.len(), kept.len(), stays, &mut chance);
        let at = self.at.map(|at| &self.list[at]);
        self.at = match new {
            Some(_) => None,
            None => list.iter().position(|host| Some(host) == at),
        };
        self.last = self.at;
        self.list = list;
        self.moving = new.map(|new| Moving { kept, added, new, chance });
        self.moving.is_some()
    }
}

/// The odds of going to a new server rather than an old one, or `None` to stay.
///
/// `old` servers were listed and `new` are, `kept` of them in both lists; `stays` says whether
/// ours is in the new one.
fn odds_of_new(
    old: usize,
    new: usize,
    kept: usize,
    stays: bool,
    chance: &mut Chance,
) -> Option<Odds> {
    if new > old {
        let leaves = !stays || chance.happens(Odds::new(new - old, new));
        return leaves.then_some(Odds::CERTAIN);
    }
    if stays {
        return None;
    }
    if kept == old {
        // Only a list that names a server twice comes here: there is nothing but old ones.
        return Some(Odds::NEVER);
    }
    Some(Odds::new(kept * (old - new), new * (old - kept)).not())
}
