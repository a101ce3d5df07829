//! What a client is doing: as applications see it, and as it is.

use super::address::Address;
use super::answer::Shape;
use super::error::Failed;
use super::events::SessionState;
use super::io::Line;
use crate::code::Code;

/// What a client is doing, as applications see it.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum State {
    /// A server did not take its credentials. It is over.
    AuthFailed,
    /// It was closed. It is over.
    Closed,
    /// It can read and write.
    Connected,
    /// It can read.
    ConnectedReadOnly,
    /// It is looking for a server.
    Connecting,
    /// Its session is over, and so is it.
    Expired,
    /// It has not begun.
    NotConnected,
}

impl State {
    /// Whether there will be more of it.
    #[must_use]
    pub const fn is_alive(self) -> bool {
        match self {
            Self::AuthFailed | Self::Closed | Self::Expired => false,
            Self::Connected | Self::ConnectedReadOnly | Self::Connecting | Self::NotConnected => {
                true
            }
        }
    }
}

/// What the next frame on a line must be.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Expected {
    /// An event, or a reply of this shape. Without a request waiting, a reply of any shape is
    /// wrong.
    Answer(Shape),
    /// The answer to the first frame.
    Greeting,
    /// Nothing: the line is not up, or not any more.
    Nothing,
}

/// How a client ended.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(super) enum End {
    AuthFailed,
    Closed,
    Expired,
}

impl End {
    /// What calls are told.
    pub(super) const fn failure(self) -> Failed {
        match self {
            Self::AuthFailed => Failed::Code(Code::AuthFailed),
            Self::Closed | Self::Expired => Failed::Code(Code::SessionExpired),
        }
    }

    /// What watchers are told.
    pub(super) const fn state(self) -> SessionState {
        match self {
            Self::AuthFailed => SessionState::AuthFailed,
            Self::Closed => SessionState::Closed,
            Self::Expired => SessionState::Expired,
        }
    }
}

/// Where it stands with a connection.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) enum Phase {
    Dialling { line: Line, host: Address },
    Greeting { line: Line, host: Address },
    New,
    Open { line: Line, host: Address, read_only: bool },
    Over(End),
    Waiting,
}
