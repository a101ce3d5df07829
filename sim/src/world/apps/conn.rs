//! A client's connection: in order, lossless until closed. Each end learns by itself that the
//! other is closed, or does not learn it for a long time.

use std::collections::VecDeque;

use zoolab_core::client::{Frame, Line};
use zoolab_core::{ConnId, ServerId};

use crate::step::ClientId;
use crate::world::client::Down;

/// One way of a connection.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Lane<T> {
    /// Sent, not yet arrived.
    pub frames: VecDeque<T>,
    /// Whether the receiver will find the end after these.
    pub ends: bool,
}

impl<T> Lane<T> {
    /// Nothing is on its way.
    pub(super) const fn new() -> Self {
        Self { frames: VecDeque::new(), ends: false }
    }

    /// Whether anything is on its way.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty() && !self.ends
    }
}

/// A connection of an application to a server.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Conn {
    /// Its number.
    pub id: ConnId,
    /// Whose.
    pub client: ClientId,
    /// What the client calls it.
    pub line: Line,
    /// Where it goes to.
    pub server: ServerId,
    /// To the server.
    pub up: Lane<Frame>,
    /// To the client.
    pub down: Lane<Down>,
    /// Whether the client's end is open.
    pub client_open: bool,
    /// Whether the server's end is open.
    pub server_open: bool,
}

impl Conn {
    /// The client closes its end, or its process dies. True if the server has to be told.
    pub(super) fn leave(&mut self) -> bool {
        self.client_open = false;
        self.down = Lane::new();
        self.up.ends = self.server_open;
        self.server_open
    }

    /// The server closes its end, or its process dies. True if the client has to be told.
    pub(super) fn shut(&mut self, tell: bool) -> bool {
        self.server_open = false;
        let tell = tell && self.client_open && !self.down.ends;
        self.down.ends |= tell;
        tell
    }

    /// Whether nobody holds it for open.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        !self.client_open && !self.server_open
    }
}
