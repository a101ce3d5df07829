//! The whole boundary on one screen: what happens to a server, and what it wants done.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::net::IpAddr;

use crate::election::{Decision, Notification};
use crate::ids::{ConnId, Epoch, LinkId, ServerId, Ticks, Token, Xid, Zxid};
use crate::members::Members;
use crate::note::Note;
use crate::request::{ConnectRequest, ConnectResponse, Event, Reply, Request};
use crate::storage::{EpochKind, Saved};
use crate::txn::Txn;
use crate::zab::Message;

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
    /// Whom to follow was found without an election: for searches that leave elections out.
    Elected(Decision),
    /// Another server connected to this one, which it takes for its leader; or the connection
    /// that [`Output::Dial`] asked for is up.
    Linked {
        /// The new connection; the other end knows it by the same number in a simulation.
        link: LinkId,
        /// Who is at the other end.
        peer: ServerId,
        /// Whether this server asked for it.
        dialled: bool,
    },
    /// A message from another server, in the order it was sent.
    Message {
        /// On which connection.
        link: LinkId,
        /// What it says.
        message: Message,
    },
    /// The host itself wants a write, for no session: nobody waits for an answer.
    Own(Request),
    /// What [`Output::Persist`] asked for has been done.
    Persisted(Token),
    /// What [`Output::Persist`] asked for could not be done. The server stops taking part, unless
    /// it was a truncation that the files do not allow.
    PersistFailed(Token),
    /// What is on disk, read again because of [`Output::Reload`].
    Reloaded(Box<Saved>),
    /// A client's request.
    Request {
        /// On which connection.
        conn: ConnId,
        /// The client's number for it.
        xid: Xid,
        /// What is asked, decoded; also when it could not be.
        request: Request,
    },
    /// A timer armed by [`Output::Arm`] or [`Output::Wake`] ran out.
    Timeout(Timer),
    /// What another server says about whom to follow. It may be late, repeated, or from a server
    /// that has forgotten it.
    Told {
        /// Who says it.
        from: ServerId,
        /// What it says.
        notification: Notification,
        /// The members in force, for all it knows; none while nobody has agreed on any.
        members: Option<Arc<Members>>,
    },
    /// A connection to another server is gone, or could not be made.
    Unlinked {
        /// Which one; `None` if it never was.
        link: Option<LinkId>,
        /// Who is, or would have been, at the other end.
        peer: ServerId,
    },
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
    /// Connect to another server, then answer with [`Input::Linked`] or [`Input::Unlinked`].
    Dial {
        /// Which one.
        to: ServerId,
    },
    /// Forget a timer.
    Disarm {
        /// Which one; it may have run out already.
        timer: Timer,
    },
    /// Stop for good: going on in memory after a failed write would be a lie.
    Halt {
        /// The write that failed.
        token: Token,
    },
    /// End a connection to another server. What was sent before may still arrive.
    HangUp {
        /// Which one. Nothing more is put out for it.
        link: LinkId,
    },
    /// Something worth noticing happened. Nothing has to be done.
    Note(Note),
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
    /// Read the disk again and answer with [`Input::Reloaded`]. Until then there is nothing in
    /// memory to rely on.
    Reload,
    /// Answer a client.
    Reply {
        /// On which connection.
        conn: ConnId,
        /// The answer.
        reply: Reply,
    },
    /// Hand a message to a connection; it arrives in order unless the connection breaks first.
    Send {
        /// Which connection.
        link: LinkId,
        /// The message.
        message: Message,
    },
    /// Tell a server whom to follow. Only the newest such message matters; older ones that were
    /// not sent yet may be dropped.
    Tell {
        /// Whom.
        to: ServerId,
        /// What.
        notification: Notification,
        /// The members in force, for all this server knows.
        members: Option<Arc<Members>>,
    },
    /// Start `timer` afresh: it runs out so long from now, by the steady clock.
    Wake {
        /// Which one; starting it again replaces it.
        timer: Timer,
        /// How long.
        ms: u32,
    },
}

/// What a server wants of its disk. The host keeps the order.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Persist {
    /// Hand a transaction to the log. Promises nothing by itself.
    Append(Arc<Txn>),
    /// Make an epoch survive a power loss.
    Epoch {
        /// Which of the two.
        kind: EpochKind,
        /// Its new value.
        epoch: Epoch,
    },
    /// From now on recovery yields exactly this snapshot, whatever was there before.
    Install {
        /// The last transaction in it.
        zxid: Zxid,
        /// The snapshot, as a file.
        bytes: Arc<[u8]>,
    },
    /// Make it survive a power loss that these members are in force.
    Members(Arc<Members>),
    /// Remove what recovery does not need.
    Purge {
        /// How many snapshots stay.
        keep: u32,
    },
    /// The beginning of a snapshot file, and a new log file. One in the making is given up.
    SnapshotBegin {
        /// The last transaction applied before.
        zxid: Zxid,
        /// How the file begins.
        bytes: Arc<[u8]>,
    },
    /// More of the snapshot file that was begun.
    SnapshotMore {
        /// What comes next.
        bytes: Arc<[u8]>,
        /// Whether the file is whole now.
        whole: bool,
    },
    /// Write a snapshot in one piece that stands for what the log does not have, and promise
    /// nothing. Only [a bug](crate::Bug::TruncSnapshotNotSynced) wants this.
    SnapshotUnsynced {
        /// The last transaction in it.
        zxid: Zxid,
        /// The snapshot, as a file.
        bytes: Arc<[u8]>,
    },
    /// Everything appended before survives a power loss once this is done.
    Sync,
    /// No recovery shows anything later once this is done, neither from a log nor from a
    /// snapshot. If that cannot be had, it fails and nothing has changed.
    Truncate {
        /// The last transaction to stay.
        to: Zxid,
    },
}

/// What a server waits for.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Timer {
    /// Time to look for empty containers and old TTL nodes.
    Containers,
    /// A leader-to-be has not found enough followers in time.
    Establish,
    /// Half a tick of a leader's life has passed.
    HalfTick,
    /// Time to try to connect to the leader again.
    Redial,
    /// Time to say again whom to follow.
    Resend,
    /// The earliest session deadline.
    Sessions,
    /// Nothing better was heard of for a while: time to decide whom to follow.
    Settle,
    /// The leader was not heard from for too long.
    Silent,
    // Last, for what a seed means depends on the numbers of those before.
    /// No leader was found for so long that those are served who only read.
    ReadOnly,
}

impl Timer {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Containers,
        Self::Establish,
        Self::HalfTick,
        Self::Redial,
        Self::Resend,
        Self::Sessions,
        Self::Settle,
        Self::Silent,
        Self::ReadOnly,
    ];
}
