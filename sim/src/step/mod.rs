//! Everything that can happen. Traces, scripts, reports and diagrams all speak it.
//!
//! A step names what happens so exactly that it can be performed again to the letter: who, on
//! which connection, which message. What chance decides about the inside of a fault, such as
//! which bytes a power loss leaves, is a number in the step and worked out by our own code.

mod text;
pub mod wish;
mod wish_text;

use serde::{Deserialize, Serialize};
use zoolab_core::client;
use zoolab_core::zab::MessageKind;
use zoolab_core::{ConnId, LinkId, Millis, ServerId, Timer, Token, Zxid};

pub use self::text::NoStep;
use self::wish::{Beginning, Wish};
use crate::hash::RunningHash;
use crate::world::Bounds;

/// A simulated client.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub struct ClientId(pub u16);

/// Microseconds since the world began.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize,
)]
pub struct Instant(pub u64);

/// What a power loss may leave of the writes to a file that were not safe yet.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Keep {
    /// The first ones, the last of these torn.
    Beginning,
    /// Any of them: disks may write in an order of their own.
    Any,
}

/// Something that can happen.
///
/// Grouped: what a healthy ensemble does, what clients do, what can go wrong.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[expect(missing_docs, reason = "the sentence of a step speaks of all its fields")]
pub enum Step {
    // What a healthy ensemble does.
    /// The next message of a connection arrives.
    Deliver { link: LinkId, from: ServerId, to: ServerId, kind: MessageKind, zxid: Zxid },
    /// The end of a connection is noticed.
    Closed { link: LinkId, at: ServerId },
    /// A server reaches another that it dialled, or finds that it cannot.
    Dialled { from: ServerId, to: ServerId },
    /// The newest vote of one server arrives at another.
    Vote { from: ServerId, to: ServerId },
    /// The disk has done what it was asked.
    Disk { server: ServerId, token: Token },
    /// A server reads its disk again, as it asked to.
    Reload { server: ServerId },
    /// A timer runs out.
    Timeout { server: ServerId, timer: Timer },

    // What searches do.
    /// From now on time stands still, and what can go wrong is bounded.
    Free(Bounds),
    /// A quorum finds a leader, and discovery is done.
    Elect { leader: ServerId, followers: Vec<ServerId> },
    /// One more server finds the leader, and discovery with it is done.
    Join { leader: ServerId, server: ServerId },
    /// The leader's host wants a write.
    Write { server: ServerId, value: u32 },

    // What whoever looks after it does.
    /// The leader's host wants some servers to vote, some to observe, and some to leave.
    Change { server: ServerId, join: Vec<ServerId>, observe: Vec<ServerId>, leave: Vec<ServerId> },

    // What clients do.
    /// A client connects to a server.
    Dial { client: ClientId, server: ServerId },
    /// The client's next frame arrives at its server.
    Ask { client: ClientId },
    /// The next frame of its server arrives at the client; or the end of the connection does.
    Answer { client: ClientId },
    /// A client issues a request.
    Call { client: ClientId, call: Call },
    /// A client drops its connection.
    HangUp { client: ClientId },

    // What applications do, whose clients are the core's.
    /// An application starts a client.
    Begin { client: ClientId, how: Box<Beginning> },
    /// Its client reaches the server that it dials, or finds that it cannot.
    Reach { client: ClientId },
    /// The next frame of a connection, or its end, arrives at the server.
    Up { client: ClientId, conn: ConnId },
    /// The next frame of a connection, or its end, arrives at the client.
    Down { client: ClientId, conn: ConnId },
    /// A timer of the client runs out.
    Wake { client: ClientId, timer: client::Timer },
    /// The client hears whether the server it asked can write.
    Probe { client: ClientId },
    /// The application wants something.
    Want { client: ClientId, wish: Wish },
    /// Whoever called no longer waits for the answer to the application's so many-th call.
    GiveUp { client: ClientId, call: u64 },
    /// The application tells its client of other servers; `luck` spreads clients over them.
    Servers { client: ClientId, servers: Vec<ServerId>, luck: u64 },

    // What can go wrong.
    /// Nothing gets from one server to another any more; what is under way waits.
    Cut { from: ServerId, to: ServerId },
    /// It does again.
    Heal { from: ServerId, to: ServerId },
    /// A connection breaks; each side notices by itself.
    Break { link: LinkId },
    /// Messages from one server to another take so much longer.
    SlowLink { from: ServerId, to: ServerId, us: u32 },
    /// A vote gets lost.
    LoseVote { from: ServerId, to: ServerId },
    /// A vote arrives, and will arrive again.
    RepeatVote { from: ServerId, to: ServerId },
    /// A process dies; its files are as it left them. `luck` decides how far it had got.
    Crash { server: ServerId, luck: u64 },
    /// A process will die within its next step, when so many of its outputs are carried out.
    Doom { server: ServerId, outputs: u8 },
    /// The power goes, in all these places at once; `luck` decides what the disks have kept.
    PowerLoss { servers: Vec<ServerId>, luck: u64, keep: Keep },
    /// A server starts again.
    Restart { server: ServerId },
    /// The disk fails to do what it was asked; `luck` decides what is left of what was not safe.
    DiskFails { server: ServerId, token: Token, luck: u64 },
    /// The disk takes so much longer for everything.
    SlowDisk { server: ServerId, us: u32 },
    /// A bit of what is safely on disk flips; `luck` decides which.
    Rot { server: ServerId, luck: u64 },
    /// The disk has no room any more, or has again.
    Full { server: ServerId, full: bool },
    /// The disk of a stopped server is replaced by an empty one.
    Wipe { server: ServerId },
    /// A server stands still.
    Pause { server: ServerId },
    /// It goes on.
    Resume { server: ServerId },
    /// Somebody sets a server's wall clock.
    Jump { server: ServerId, ms: i64 },
    /// A server's clocks run by so many parts in a million too fast, or too slow.
    Drift { server: ServerId, ppm: i32 },

    // What can go wrong with applications.
    /// The application's process dies.
    Kill { client: ClientId },
    /// It stands still.
    Freeze { client: ClientId },
    /// It goes on.
    Thaw { client: ClientId },
    /// Nothing gets one way between a client and a server any more; what is under way waits.
    CutClient { client: ClientId, server: ServerId, way: Way },
    /// It does again.
    HealClient { client: ClientId, server: ServerId, way: Way },
    /// Everything to and from a client takes so much longer.
    SlowClient { client: ClientId, us: u32 },
    /// A client's connection breaks; each side notices by itself.
    BreakConn { client: ClientId, conn: ConnId },
}

/// One of the two ways of a client's connection.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Way {
    /// To the client.
    Down,
    /// To the server.
    Up,
}

/// What a simple client may ask for. Paths are `/n0`, `/n1` …, so that a call is two numbers.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the sentence of a call speaks of all its fields")]
pub enum Call {
    /// Make a node.
    Create { node: u16 },
    /// Make a node that goes with the session.
    CreateEphemeral { node: u16 },
    /// Remove a node, whatever its version.
    Delete { node: u16 },
    /// Give a node this data, whatever its version.
    Set { node: u16, value: u32 },
    /// Read a node.
    Get { node: u16 },
    /// Flush the way to the leader.
    Sync { node: u16 },
    /// Create two nodes or none.
    Multi { node: u16, other: u16 },
    /// End the session.
    Close,
    /// Say that one is there.
    Ping,
}

impl Instant {
    /// In whole milliseconds.
    #[must_use]
    pub const fn millis(self) -> Millis {
        Millis((self.0 / 1000).cast_signed())
    }
}

impl Step {
    /// Feeds a running hash: which step it is, and everything in it.
    pub fn words(&self, hash: &mut RunningHash) {
        let id = |server: &ServerId| u64::from(server.0);
        let pair = |from: &ServerId, to: &ServerId| u64::from(from.0) << 8 | u64::from(to.0);
        let (tag, a, b) = match self {
            Self::Deliver { link, from, to, kind, zxid } => {
                hash.word(zxid.0.cast_unsigned());
                (1, link.0, pair(from, to) << 8 | *kind as u64)
            }
            Self::Closed { link, at } => (2, link.0, id(at)),
            Self::Dialled { from, to } => (3, pair(from, to), 0),
            Self::Vote { from, to } => (4, pair(from, to), 0),
            Self::Disk { server, token } => (5, id(server), token.0),
            Self::Reload { server } => (6, id(server), 0),
            Self::Timeout { server, timer } => (7, id(server), *timer as u64),
            Self::Dial { client, server } => (8, u64::from(client.0), id(server)),
            Self::Ask { client } => (9, u64::from(client.0), 0),
            Self::Answer { client } => (10, u64::from(client.0), 0),
            Self::Call { client, call } => (11, u64::from(client.0), call.word()),
            Self::HangUp { client } => (12, u64::from(client.0), 0),
            Self::Cut { from, to } => (13, pair(from, to), 0),
            Self::Heal { from, to } => (14, pair(from, to), 0),
            Self::Break { link } => (15, link.0, 0),
            Self::SlowLink { from, to, us } => (16, pair(from, to), u64::from(*us)),
            Self::LoseVote { from, to } => (17, pair(from, to), 0),
            Self::RepeatVote { from, to } => (18, pair(from, to), 0),
            Self::Crash { server, luck } => (19, id(server), *luck),
            Self::Doom { server, outputs } => (20, id(server), u64::from(*outputs)),
            Self::PowerLoss { servers, luck, keep } => {
                servers.iter().for_each(|server| hash.word(id(server)));
                match keep {
                    Keep::Beginning => {}
                    Keep::Any => hash.word(1),
                }
                (21, servers.len() as u64, *luck)
            }
            Self::Restart { server } => (22, id(server), 0),
            Self::DiskFails { server, token, luck } => {
                hash.word(*luck);
                (23, id(server), token.0)
            }
            Self::SlowDisk { server, us } => (24, id(server), u64::from(*us)),
            Self::Rot { server, luck } => (25, id(server), *luck),
            Self::Full { server, full } => (26, id(server), u64::from(*full)),
            Self::Wipe { server } => (27, id(server), 0),
            Self::Pause { server } => (28, id(server), 0),
            Self::Resume { server } => (29, id(server), 0),
            Self::Jump { server, ms } => (30, id(server), ms.cast_unsigned()),
            Self::Drift { server, ppm } => (31, id(server), i64::from(*ppm).cast_unsigned()),
            Self::Free(bounds) => {
                let numbers = [
                    u8::from(bounds.alike),
                    u8::from(bounds.same_values),
                    u8::from(bounds.same_clients),
                    u8::from(bounds.as_is),
                    u8::from(bounds.coarse),
                    u8::from(bounds.quick_disks),
                    bounds.crashes,
                    bounds.power_losses,
                    bounds.breaks,
                    bounds.timeouts,
                    bounds.writes,
                    bounds.calls,
                    bounds.epochs,
                    bounds.rounds,
                ];
                numbers.iter().for_each(|number| hash.word(u64::from(*number)));
                (32, 0, 0)
            }
            Self::Elect { leader, followers } => {
                followers.iter().for_each(|server| hash.word(id(server)));
                (33, id(leader), followers.len() as u64)
            }
            Self::Join { leader, server } => (34, id(leader), id(server)),
            Self::Write { server, value } => (35, id(server), u64::from(*value)),
            Self::Change { server, join, observe, leave } => {
                for servers in [join, observe, leave] {
                    hash.word(servers.len() as u64);
                    servers.iter().for_each(|server| hash.word(id(server)));
                }
                (36, id(server), 0)
            }
            Self::Begin { client, how } => {
                how.words(hash);
                (52, u64::from(client.0), how.servers.len() as u64)
            }
            Self::Reach { client } => (37, u64::from(client.0), 0),
            Self::Up { client, conn } => (38, u64::from(client.0), conn.0),
            Self::Down { client, conn } => (39, u64::from(client.0), conn.0),
            Self::Wake { client, timer } => (40, u64::from(client.0), *timer as u64),
            Self::Probe { client } => (41, u64::from(client.0), 0),
            Self::Want { client, wish } => {
                wish.words(hash);
                (42, u64::from(client.0), 0)
            }
            Self::GiveUp { client, call } => (43, u64::from(client.0), *call),
            Self::Servers { client, servers, luck } => {
                servers.iter().for_each(|server| hash.word(id(server)));
                (44, u64::from(client.0), *luck)
            }
            Self::Kill { client } => (45, u64::from(client.0), 0),
            Self::Freeze { client } => (46, u64::from(client.0), 0),
            Self::Thaw { client } => (47, u64::from(client.0), 0),
            Self::CutClient { client, server, way } => {
                (48, u64::from(client.0), id(server) << 1 | *way as u64)
            }
            Self::HealClient { client, server, way } => {
                (49, u64::from(client.0), id(server) << 1 | *way as u64)
            }
            Self::SlowClient { client, us } => (50, u64::from(client.0), u64::from(*us)),
            Self::BreakConn { client, conn } => (51, u64::from(client.0), conn.0),
        };
        hash.word(tag);
        hash.word(a);
        hash.word(b);
    }
}

impl Call {
    const fn word(self) -> u64 {
        let (tag, a, b) = match self {
            Self::Create { node } => (1, node, 0),
            Self::CreateEphemeral { node } => (2, node, 0),
            Self::Delete { node } => (3, node, 0),
            Self::Set { node, value } => (4, node, value),
            Self::Get { node } => (5, node, 0),
            Self::Sync { node } => (6, node, 0),
            Self::Multi { node, other } => (7, node, other as u32),
            Self::Close => (8, 0, 0),
            Self::Ping => (9, 0, 0),
        };
        (tag << 56) | ((a as u64) << 32) | b as u64
    }
}
