//! Everything between two servers: connections, the newest votes on their way, cuts.

use std::sync::Arc;

use zoolab_core::election::Notification;
use zoolab_core::members::Members;
use zoolab_core::zab::Message;
use zoolab_core::{LinkId, ServerId};

use super::link::Link;

/// What a server says about whom to follow.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Vote {
    /// Whom.
    pub notification: Notification,
    /// The members in force, for all it knows.
    pub members: Option<Arc<Members>>,
}

/// See the [module](self).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Pair {
    /// The two, the lower id first.
    pub ends: [ServerId; 2],
    /// In the order in which they were made.
    pub links: Vec<(LinkId, Link)>,
    /// From the first to the second, and back. Only the newest is kept.
    pub votes: [Option<Vote>; 2],
    /// Whether nothing gets there.
    pub cut: [bool; 2],
    /// By how much messages are slower.
    pub slow_us: [u32; 2],
}

impl Pair {
    /// Nothing between these two.
    #[must_use]
    pub const fn new(ends: [ServerId; 2]) -> Self {
        Self { ends, links: Vec::new(), votes: [None, None], cut: [false; 2], slow_us: [0; 2] }
    }

    /// The same, told from the other end. For whoever gives the two other names: the lower one
    /// comes first.
    #[must_use]
    pub fn flipped(&self) -> Self {
        let Self { ends, links, votes: [there, back], cut, slow_us } = self.clone();
        let ends = [ends[1], ends[0]];
        let (votes, cut) = ([back, there], [cut[1], cut[0]]);
        Self { ends, links, votes, cut, slow_us: [slow_us[1], slow_us[0]] }
    }

    /// Which of the two ways begins at a server.
    #[must_use]
    pub fn way(&self, from: ServerId) -> usize {
        usize::from(self.ends[1] == from)
    }

    /// Where one connection is in `links`.
    #[must_use]
    pub fn place_of(&self, id: LinkId) -> Option<usize> {
        self.links.iter().position(|(other, _)| *other == id)
    }

    /// One connection.
    #[must_use]
    pub fn link(&self, id: LinkId) -> Option<&Link> {
        self.links.iter().find(|(other, _)| *other == id).map(|(_, link)| link)
    }

    /// Hands a message to a connection. None if its sender's end is not open; else whether it
    /// will arrive.
    pub fn send(&mut self, link: LinkId, from: ServerId, message: Message) -> Option<bool> {
        let lane = self.link_mut(link)?.way_out(from)?;
        let arrives = lane.is_some();
        if let Some(messages) = lane {
            messages.push_back(message);
        }
        Some(arrives)
    }

    /// Takes the next message out of a connection.
    ///
    /// # Panics
    /// If there is none.
    pub fn receive(&mut self, link: LinkId, to: ServerId) -> Message {
        let found = self.link_mut(link).expect("a connection between the two");
        found.inbound_mut(to).messages.pop_front().expect("a message on its way")
    }

    /// One end closes a connection. True if the other end has to be told.
    pub fn close(&mut self, link: LinkId, at: ServerId, tell: bool) -> bool {
        let Some(found) = self.link_mut(link) else { return false };
        found.close(at, tell);
        let over = found.is_over();
        if over {
            self.links.retain(|(id, _)| *id != link);
        }
        tell && !over
    }

    /// A connection breaks; each side will notice by itself. Returns who will.
    pub fn break_link(&mut self, link: LinkId) -> Vec<ServerId> {
        let Some(found) = self.link_mut(link) else { return Vec::new() };
        let mut notice = Vec::new();
        for side in 0..2 {
            found.lanes[1 - side].messages.clear();
            if found.open[side] {
                found.lanes[1 - side].ends = true;
                notice.push(found.ends[side]);
            }
        }
        notice
    }

    /// The process of one of the two is gone.
    pub fn died(&mut self, server: ServerId, tell: bool, note: &mut dyn FnMut(LinkId)) {
        for (id, link) in &mut self.links {
            if link.open[link.side(server)] {
                link.close(server, tell);
                if tell && link.open[link.side(link.peer(server))] {
                    note(*id);
                }
            }
        }
        self.links.retain(|(_, link)| !link.is_over());
    }

    /// The process of one of the two has started: the old one's connections are over.
    pub fn risen(&mut self, server: ServerId, note: &mut dyn FnMut(LinkId)) {
        for (id, link) in &mut self.links {
            let side = link.side(server);
            if !link.open[side] && link.open[1 - side] && !link.lanes[side].ends {
                link.lanes[side].ends = true;
                note(*id);
            }
        }
    }

    /// The same, to be changed.
    pub fn link_mut(&mut self, id: LinkId) -> Option<&mut Link> {
        self.links.iter_mut().find(|(other, _)| *other == id).map(|(_, link)| link)
    }
}
