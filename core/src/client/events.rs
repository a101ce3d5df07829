//! What watchers are told, and of what the session's state they have been told already.

use alloc::vec::Vec;

use super::io::{Output, WatcherId};
use super::watches::Watches;
use crate::Text;
use crate::ids::Zxid;
use crate::request::EventKind;

/// Something that happened.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Notice {
    /// To a node.
    Node {
        /// What.
        kind: EventKind,
        /// Where, as the client names it.
        path: Text,
        /// The transaction that did it; [`Zxid::NONE`] if it was found out later, or the server
        /// does not say.
        zxid: Zxid,
    },
    /// To the session.
    Session(SessionState),
    /// To watches: they were removed, as asked.
    WatchRemoved {
        /// Which ones.
        kind: Removed,
        /// Where, as the client names it.
        path: Text,
        /// Whether a server has removed them too, as far as is known: they may be removed here
        /// alone while the connection is lost.
        connected: bool,
    },
}

/// The state of a session, as watchers are told.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[repr(i32)]
pub enum SessionState {
    /// No server; the client is looking for one.
    #[default]
    Disconnected = 0,
    /// Connected.
    SyncConnected = 3,
    /// A server did not take our credentials; the client is over.
    AuthFailed = 4,
    /// Connected to a server that cannot reach a quorum, and only reads.
    ConnectedReadOnly = 5,
    /// Closed by the application; the client is over.
    Closed = 7,
    /// The session is over, and its ephemerals with it; so is the client.
    Expired = -112,
}

/// Which kind of watches were removed.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[repr(i32)]
pub enum Removed {
    /// On data, or on there being none.
    Data = 5,
    /// On children.
    Child = 6,
    /// Persistent ones of either sort.
    Persistent = 7,
}

impl Notice {
    /// The type of event, by ZooKeeper's number.
    #[must_use]
    pub const fn number(&self) -> i32 {
        match self {
            Self::Node { kind, .. } => kind.number(),
            Self::Session(_) => -1,
            Self::WatchRemoved { kind, .. } => *kind as i32,
        }
    }

    /// The state that goes with it.
    #[must_use]
    pub const fn state(&self) -> SessionState {
        match self {
            Self::Node { .. } | Self::WatchRemoved { connected: true, .. } => {
                SessionState::SyncConnected
            }
            Self::Session(state) => *state,
            Self::WatchRemoved { connected: false, .. } => SessionState::Disconnected,
        }
    }
}

/// Who hears of the session, and what was heard last.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(super) struct Events {
    /// Hears of the session even if it watches nothing.
    pub(super) default: Option<WatcherId>,
    told: SessionState,
}

impl Events {
    pub(super) const fn new(default: Option<WatcherId>) -> Self {
        Self { default, told: SessionState::Disconnected }
    }

    /// Tells the default watcher and everybody who watches anything, unless they know.
    pub(super) fn session(
        &mut self,
        state: SessionState,
        watches: &Watches,
        out: &mut Vec<Output>,
    ) {
        if self.told == state {
            return;
        }
        self.told = state;
        let others =
            watches.everybody().into_iter().filter(|watcher| Some(*watcher) != self.default);
        let to = self.default.into_iter().chain(others).collect();
        out.push(Output::Deliver { notice: Notice::Session(state), to });
    }
}
