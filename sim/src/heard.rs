//! What clients say and hear, in the order in which each of them does: the raw material of a
//! history.
//!
//! ```text
//!   application   Called -----------------------------> Returned, Notified
//!                    \                                    ^
//!   library           \--> Said ~~~> server ~~~> Told ---/
//! ```
//!
//! For one client the order is that of its own machine: what it was [told](Heard::Told) comes in
//! the order in which its connection delivered it, and before what the library makes of it.

use zoolab_core::client::{Call, CallId, Failed, Frame, Notice, WatcherId};
use zoolab_core::request::Body;
use zoolab_core::{ConnId, ServerId, SessionId, Text, Zxid};

use crate::world::client::Down;

/// Something that a client said or heard.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Heard {
    /// A client begins, with nothing called and nothing watched.
    Began {
        /// What it takes for the root; `/` is everything.
        chroot: Text,
        /// The session that it was given to go on with.
        session: Option<SessionId>,
    },
    /// The application calls. Paths are the client's.
    Called {
        /// Its name for it; they count up.
        call: CallId,
        /// What it wants.
        what: Box<Call>,
    },
    /// The application wants its session to end. Answered like any call.
    Closing {
        /// Its name for it.
        call: CallId,
    },
    /// A connection is up. No number is used twice, by any client.
    Connected {
        /// Its number.
        conn: ConnId,
        /// Where it goes to.
        server: ServerId,
    },
    /// Whoever called no longer waits for the answer. It is shown all the same when it comes.
    GaveUp {
        /// Which call.
        call: CallId,
    },
    /// The client's process is gone, and everything it waited for. It says nothing to anybody.
    Gone,
    /// The library tells the application of an event.
    Notified {
        /// What happened.
        notice: Notice,
        /// To whom it says so.
        to: Vec<WatcherId>,
    },
    /// The client's end of a connection is closed: by itself, or it has noticed that the other is.
    Parted {
        /// Which one. Nothing is said or told on it any more.
        conn: ConnId,
    },
    /// The library tells the application how a call went.
    Returned {
        /// Which call.
        call: CallId,
        /// The zxid of the answer; [`Zxid::NONE`] if there was none.
        zxid: Zxid,
        /// How it went. Paths are the client's.
        result: Result<Body, Failed>,
    },
    /// A frame was handed to a connection. (Pings are not shown.) Paths are the server's.
    Said {
        /// To which.
        conn: ConnId,
        /// What it says.
        frame: Box<Frame>,
    },
    /// A frame was received. (Answers to pings are not shown.) Paths are the server's.
    Told {
        /// On which connection.
        conn: ConnId,
        /// What it says.
        frame: Down,
    },
}
