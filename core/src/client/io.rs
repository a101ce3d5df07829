//! The whole boundary on one screen: what happens to a client, and what it wants done.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::address::{Address, ServerList};
use super::answer::Answer;
use super::call::Call;
use super::chance::Chance;
use super::error::Failed;
use super::events::Notice;
use crate::Text;
use crate::ids::{Xid, Zxid};
use crate::request::{Body, ConnectRequest, ConnectResponse, Request};

/// One connection of a client, or the attempt at one. Numbers are not used again, so that a late
/// input of a line that was given up cannot be taken for another's.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Line(pub u64);

/// The application's name for a call. What it does with them is its own business; the client
/// only hands them back.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct CallId(pub u64);

/// The application's name for something that wants to hear of events.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct WatcherId(pub u64);

/// One question whether a server can write.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ProbeId(pub u64);

/// Something that happened to a client.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Input {
    /// The application acquires an identity, now and on every later connection.
    AddAuth {
        /// `digest`.
        scheme: Text,
        /// What the scheme needs.
        auth: Arc<[u8]>,
    },
    /// A frame came, other than the first.
    Answered {
        /// On which line.
        line: Line,
        /// What it says.
        answer: Answer,
    },
    /// The application wants something.
    Call {
        /// Its name for it.
        id: CallId,
        /// What.
        call: Call,
    },
    /// The application is done; the session ends.
    Close {
        /// Its name for this.
        id: CallId,
    },
    /// A line is up.
    Connected {
        /// Which one.
        line: Line,
    },
    /// Another watcher hears of the session from now on.
    DefaultWatcher(Option<WatcherId>),
    /// A line is gone.
    Disconnected {
        /// Which one.
        line: Line,
    },
    /// Bytes came that are no frame, or none that could come here.
    Garbled {
        /// On which line.
        line: Line,
    },
    /// The first frame came.
    Greeted {
        /// On which line.
        line: Line,
        /// What it says.
        response: ConnectResponse,
    },
    /// Whether a server can write, as asked for by [`Output::Probe`]. No answer is the same as no.
    Probed {
        /// Which question.
        probe: ProbeId,
        /// The answer.
        writable: bool,
    },
    /// A line did not come about.
    Refused {
        /// Which one.
        line: Line,
    },
    /// The ensemble has other servers now.
    Servers {
        /// All of them.
        servers: ServerList,
        /// As many draws as [`ServerList::draws`] says, so that clients spread evenly.
        chance: Chance,
    },
    /// Begin.
    Start,
    /// A timer started by [`Output::Wake`] ran out.
    Timeout(Timer),
}

/// Something a client wants done. The order within one step is the order to do it in.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Output {
    /// Tell the application how its call went.
    Complete {
        /// Which call.
        id: CallId,
        /// The answering server's newest transaction, a write's own; [`Zxid::NONE`] if no server
        /// answered.
        zxid: Zxid,
        /// How it went. A multi that failed is a success here: its results say what went wrong.
        result: Result<Body, Failed>,
    },
    /// Tell watchers what happened.
    Deliver {
        /// What.
        notice: Notice,
        /// Whom, each once and in this order. What happens to the session is put out also if
        /// nobody wants to hear of it.
        to: Vec<WatcherId>,
    },
    /// Connect to a server, then answer with [`Input::Connected`] or [`Input::Refused`].
    Dial {
        /// What to call the connection.
        line: Line,
        /// Where.
        host: Address,
    },
    /// Forget a timer.
    Disarm {
        /// Which one; it may have run out already.
        timer: Timer,
    },
    /// Close a line, or give up the attempt at it, once everything put out before has been sent.
    HangUp {
        /// Which one. Nothing more is put out for it, nor of interest from it.
        line: Line,
    },
    /// Ask a server, on a connection of its own, whether it can write: send
    /// [`ISRO`](crate::wire::ISRO), read to the end, and answer with [`Input::Probed`] within a
    /// second.
    Probe {
        /// What to call the question.
        probe: ProbeId,
        /// Whom.
        host: Address,
    },
    /// Hand a frame to a line; it arrives in order unless the line breaks first.
    Send {
        /// Which line.
        line: Line,
        /// The frame.
        frame: Frame,
    },
    /// Start `timer` afresh: it runs out so long from now, by the steady clock.
    Wake {
        /// Which one; starting it again replaces it.
        timer: Timer,
        /// How long at least.
        ms: u32,
        /// How much longer at most: any whole number of milliseconds from none to this, all
        /// equally likely.
        spread_ms: u32,
    },
}

/// What a client sends.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Frame {
    /// Its first frame.
    Connect(ConnectRequest),
    /// A request.
    Request(Xid, Request),
}

/// What a client waits for.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Timer {
    /// An attempt to connect, or the handshake after it, takes too long.
    Attempt,
    /// Nothing was heard of the session for so long that it must be over.
    Expiry,
    /// Time to say something, lest the server take us for dead.
    Ping,
    /// Time to ask the next server whether it can write.
    Probe,
    /// Time to try to connect again.
    Redial,
    /// The oldest call has waited for its answer as long as the configuration allows.
    Request,
    /// Nothing was heard from the server for too long.
    Silence,
}

impl Timer {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Attempt,
        Self::Expiry,
        Self::Ping,
        Self::Probe,
        Self::Redial,
        Self::Request,
        Self::Silence,
    ];
}
