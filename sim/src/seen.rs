//! What a step made visible, for those who watch over a world.

use std::sync::Arc;

use zoolab_core::members::Members;
use zoolab_core::storage::{self, EpochKind, Saved};
use zoolab_core::zab::{Message, MessageKind};
use zoolab_core::{Epoch, Note, ServerId, Txn, Zxid};

use crate::heard::Heard;
use crate::step::ClientId;

/// Something that was seen happen.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[expect(missing_docs, reason = "the sentence of an event speaks of all its fields")]
pub enum Seen {
    /// A transaction was handed to the log. Nothing is promised yet.
    Appended { server: ServerId, txn: Arc<Txn> },
    /// A client said or heard something.
    Client { client: ClientId, heard: Heard },
    /// A process died. Everything that was only in memory is gone.
    Crashed { server: ServerId, power: bool },
    /// A message arrived. (Pings, votes and clients' frames are not shown.)
    Delivered { from: ServerId, to: ServerId, message: Said },
    /// An epoch is safe on disk.
    EpochWritten { server: ServerId, kind: EpochKind, epoch: Epoch },
    /// The server stopped for good: its disk failed it.
    Halted { server: ServerId },
    /// A snapshot from the leader is safe on disk and has replaced everything else.
    Installed { server: ServerId, zxid: Zxid },
    /// It is safe on disk that these members are in force.
    MembersWritten { server: ServerId, members: Arc<Members> },
    /// Something happened inside a server.
    Note { server: ServerId, note: Note },
    /// A server refused to start from what its disk has.
    Refused { server: ServerId, why: String },
    /// A server read its disk while it ran, as it had asked to.
    Reloaded { server: ServerId, saved: Box<Saved> },
    /// A bit flipped on a server's disk.
    Rotten { server: ServerId },
    /// A message was handed to a connection. (Pings and clients' frames are not shown.)
    Sent { from: ServerId, to: ServerId, message: Said },
    /// A snapshot stands for what the server's log does not have. Nothing is promised yet.
    Snapshotted { server: ServerId, zxid: Zxid },
    /// A server started from its disk.
    Started { server: ServerId, saved: Box<Saved>, notes: Vec<storage::Note> },
    /// Everything appended up to here is safe on disk.
    Synced { server: ServerId, zxid: Zxid },
    /// No later transaction can come back from this disk.
    Truncated { server: ServerId, to: Zxid },
    /// A server's disk was replaced by an empty one.
    Wiped { server: ServerId },
}

/// A message, as far as promises speak of it. What a transaction does is seen when it is logged
/// and applied.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Said {
    /// Which kind it is.
    pub kind: MessageKind,
    /// The number that tells it from others of its kind; an epoch is the zxid it begins with.
    pub zxid: Zxid,
    /// If it is a promise that counts, the epoch that its sender says it is in.
    pub counts: Option<Epoch>,
}

impl Said {
    /// What this message says.
    #[must_use]
    pub fn of(message: &Message) -> Self {
        let counts = match message {
            Message::AckEpoch { current, .. } => *current,
            Message::Ack(_)
            | Message::Commit(_)
            | Message::CommitAndActivate { .. }
            | Message::Diff { .. }
            | Message::Inform(_)
            | Message::InformAndActivate { .. }
            | Message::LeaderInfo { .. }
            | Message::LearnerInfo { .. }
            | Message::Moved { .. }
            | Message::NewLeader { .. }
            | Message::Ping { .. }
            | Message::Pong { .. }
            | Message::Proposal(_)
            | Message::Request(_)
            | Message::Revalidate { .. }
            | Message::Revalidated { .. }
            | Message::Snap { .. }
            | Message::SnapPart { .. }
            | Message::Synced
            | Message::Trunc { .. }
            | Message::UpToDate => None,
        };
        Self { kind: message.kind(), zxid: message.zxid(), counts }
    }
}
