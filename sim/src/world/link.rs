//! A connection between two servers: in order, lossless until closed. Each side learns by itself
//! that it is over, or does not learn it for a long time.

use std::collections::VecDeque;

use zoolab_core::ServerId;
use zoolab_core::zab::Message;

/// One direction of a connection.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Lane {
    /// Sent, not yet arrived.
    pub messages: VecDeque<Message>,
    /// Whether the receiver will find the end after these.
    pub ends: bool,
}

/// See the [module](self).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Link {
    /// Who dialled, and who was dialled.
    pub ends: [ServerId; 2],
    /// Which of them holds the connection for open.
    pub open: [bool; 2],
    /// To the one who was dialled, and back.
    pub lanes: [Lane; 2],
}

impl Link {
    /// A connection just made.
    #[must_use]
    pub fn new(dialler: ServerId, dialled: ServerId) -> Self {
        Self {
            ends: [dialler, dialled],
            open: [true; 2],
            lanes: [Lane::default(), Lane::default()],
        }
    }

    /// Which of the two ends a server is.
    #[must_use]
    pub fn side(&self, server: ServerId) -> usize {
        usize::from(self.ends[1] == server)
    }

    /// The server at the other end.
    #[must_use]
    pub fn peer(&self, server: ServerId) -> ServerId {
        self.ends[1 - self.side(server)]
    }

    /// What is on its way to a server.
    #[must_use]
    pub fn inbound(&self, server: ServerId) -> &Lane {
        &self.lanes[1 - self.side(server)]
    }

    /// The same, to be changed.
    pub fn inbound_mut(&mut self, server: ServerId) -> &mut Lane {
        &mut self.lanes[1 - self.side(server)]
    }

    /// Where a server puts what it sends. None if its end is not open; nowhere if the other end is
    /// not: nothing gets there, and whoever sends does not know.
    pub fn way_out(&mut self, from: ServerId) -> Option<Option<&mut VecDeque<Message>>> {
        let side = self.side(from);
        let lane = &mut self.lanes[side];
        let open = self.open[side] && !lane.ends;
        open.then(|| self.open[1 - side].then_some(&mut lane.messages))
    }

    /// One end closes it, or its process dies. Nothing reaches that end any more; the other end
    /// is told after everything sent before, unless nobody is left to tell it.
    pub fn close(&mut self, server: ServerId, tell: bool) {
        let side = self.side(server);
        self.open[side] = false;
        self.inbound_mut(server).messages.clear();
        self.inbound_mut(server).ends = false;
        if tell && self.open[1 - side] {
            self.lanes[side].ends = true;
        }
    }

    /// Whether nobody holds it for open.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        !self.open[0] && !self.open[1]
    }
}
