//! An application: its client, and what the client waits for.

use zoolab_core::ServerId;
use zoolab_core::client::{Client, Line, ProbeId, Session, State, Timer};

use crate::step::Instant;

/// What became of what it wanted.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Deeds {
    /// Calls that a server answered, in whatever way.
    pub answered: u64,
    /// Calls that were answered without an error.
    pub done: u64,
    /// Calls that were answered with one, or refused by the client itself.
    pub refused: u64,
    /// Calls of which nobody knows what became of them.
    pub unknown: u64,
    /// How often it was connected.
    pub connected: u64,
}

/// An application: one client machine and what it has under way.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct App {
    /// Its client; none before it begins, and when its process is gone.
    pub machine: Option<Client>,
    /// When each timer of the client may run out, and by how much later it may be.
    pub(super) timers: [Option<(Instant, u32)>; Timer::ALL.len()],
    /// The server that the client tries to reach.
    pub(super) dial: Option<(Line, ServerId)>,
    /// The server that the client has asked whether it can write.
    pub(super) probe: Option<(ProbeId, ServerId)>,
    /// Whether it stands still.
    pub frozen: bool,
    /// How much longer everything takes to and from it.
    pub slow_us: u32,
    /// How many calls it has made, over all clients.
    pub calls: u64,
    /// How many of them have no answer.
    pub waiting: u32,
    /// The last session it had.
    pub session: Option<Session>,
    /// What became of what it wanted.
    pub deeds: Deeds,
}

impl App {
    /// Whether it can want anything.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.state().is_alive() && self.machine.is_some()
    }

    /// What its client is doing.
    #[must_use]
    pub fn state(&self) -> State {
        self.machine.as_ref().map_or(State::NotConnected, Client::state)
    }

    /// Whether its client can read and write.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.state() == State::Connected
    }
}
