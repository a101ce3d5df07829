//! The whole boundary on one screen: what happens to a server, and what it wants done.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::net::IpAddr;

use crate::ids::{ConnId, Ticks, Token, Xid};
use crate::request::{ConnectRequest, ConnectResponse, Event, Reply, Request};
use crate::txn::Txn;

/// Something that happened to one server.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Input {
    /// A client's connection came up. The number has not been used before.
    Accepted {
        /// The new connection.
        conn: ConnId,
        /// Where it comes from; becomes the client's `ip` identity.
        address: IpAddr,
    },
    /// A client's first frame.
    Connect {
        /// On which connection.
        conn: ConnId,
        /// What it says.
        request: ConnectRequest,
    },
    /// The connection is gone, or the client broke the rules of framing.
    Disconnected {
        /// Which one.
        conn: ConnId,
    },
    /// What [`Output::Persist`] asked for has been done.
    Persisted(Token),
    /// What [`Output::Persist`] asked for could not be done. The server stops taking part.
    PersistFailed(Token),
    /// A client's request.
    Request {
        /// On which connection.
        conn: ConnId,
        /// The client's number for it.
        xid: Xid,
        /// What is asked, decoded; also when it could not be.
        request: Request,
    },
    /// A timer armed by [`Output::Arm`] ran out.
    Timeout(Timer),
}

/// Something one server wants done. The order within one step is the order to do it in.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Output {
    /// Start `timer` afresh: it runs out at the beginning of the `ticks`-th tick from now, by the
    /// steady clock.
    Arm {
        /// Which one; arming it again replaces it.
        timer: Timer,
        /// How many tick boundaries away; at least one.
        ticks: Ticks,
    },
    /// Close a client's connection once everything put out before has been sent.
    Close {
        /// Which one. Nothing more is put out for it.
        conn: ConnId,
    },
    /// Answer a client's first frame.
    Connected {
        /// On which connection.
        conn: ConnId,
        /// The answer; one with a timeout of zero says that the session is over.
        response: ConnectResponse,
    },
    /// Stop for good: going on in memory after a failed write would be a lie.
    Halt {
        /// The write that failed.
        token: Token,
    },
    /// Tell a client of a change it watches. Shared, for the same event may go to thousands.
    Notify {
        /// On which connection.
        conn: ConnId,
        /// What happened.
        event: Arc<Event>,
    },
    /// Do this on disk, then answer with [`Input::Persisted`] or [`Input::PersistFailed`].
    Persist {
        /// Names it in the answer.
        token: Token,
        /// What to do.
        persist: Persist,
    },
    /// Answer a client.
    Reply {
        /// On which connection.
        conn: ConnId,
        /// The answer.
        reply: Reply,
    },
}

/// What a server wants of its disk. The host keeps the order.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Persist {
    /// Hand a transaction to the log. Promises nothing by itself.
    Append(Box<Txn>),
    /// Everything appended before survives a power loss once this is done.
    Sync,
}

/// What a server waits for.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Timer {
    /// Time to look for empty containers and old TTL nodes.
    Containers,
    /// The earliest session deadline.
    Sessions,
}

impl Timer {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Containers, Self::Sessions];
}
