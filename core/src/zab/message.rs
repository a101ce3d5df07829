//! What a leader and its learners say to each other, in the order of the protocol.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use crate::acl::Id;
use crate::ids::{Epoch, ServerId, SessionId, Xid, Zxid};
use crate::members::Members;
use crate::request::Request;
use crate::txn::Txn;

/// One packet of the quorum protocol.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Message {
    /// FOLLOWERINFO or OBSERVERINFO: a learner presents itself.
    LearnerInfo {
        /// Whether it has no vote.
        observer: bool,
        /// The newest epoch it has promised itself to.
        accepted: Epoch,
        /// The members in force, for all it knows; none while nobody has agreed on any.
        /// ZooKeeper's learners say only which version they have.
        members: Option<Arc<Members>>,
    },
    /// LEADERINFO: the leader's new epoch.
    LeaderInfo {
        /// The epoch.
        epoch: Epoch,
        /// The members in force, for all it knows. ZooKeeper's learners hear of them from
        /// those who look for a leader, or not before NEWLEADER.
        members: Option<Arc<Members>>,
    },
    /// ACKEPOCH: the learner promises itself to the epoch and says what it has.
    AckEpoch {
        /// The epoch whose history it has; `None` says "do not count me".
        current: Option<Epoch>,
        /// The end of its history; −1 if it may have lost some.
        zxid: Zxid,
        /// Whether nothing but a snapshot will do. ZooKeeper has no such word: its learners end
        /// their process instead.
        snapshot: bool,
    },
    /// DIFF: what follows is to be added.
    Diff {
        /// The end of the leader's history.
        zxid: Zxid,
    },
    /// TRUNC: everything later is to be cut off first.
    Trunc {
        /// What stays.
        zxid: Zxid,
    },
    /// SNAP: a snapshot replaces everything.
    Snap {
        /// Its last transaction.
        zxid: Zxid,
    },
    /// A part of the snapshot.
    SnapPart {
        /// The next bytes.
        bytes: Arc<[u8]>,
        /// Whether these are the last.
        last: bool,
    },
    /// PROPOSAL: to be logged and acknowledged.
    Proposal(Arc<Txn>),
    /// COMMIT: to be applied.
    Commit(Zxid),
    /// COMMITANDACTIVATE: to be applied, and from here on the ensemble is another.
    CommitAndActivate {
        /// The change.
        zxid: Zxid,
        /// Who leads it.
        leader: ServerId,
    },
    /// INFORM: to be applied, by those who have no vote.
    Inform(Arc<Txn>),
    /// INFORMANDACTIVATE: the same, and from here on the ensemble is another.
    InformAndActivate {
        /// The change.
        txn: Arc<Txn>,
        /// Who leads it.
        leader: ServerId,
    },
    /// NEWLEADER: this is what the epoch begins with.
    NewLeader {
        /// The epoch.
        epoch: Epoch,
        /// The members in force once the epoch has begun.
        members: Option<Arc<Members>>,
    },
    /// ACK: it is on disk. With counter zero: what the epoch begins with is.
    Ack(Zxid),
    /// UPTODATE: serve.
    UpToDate,
    /// PING: are you there?
    Ping {
        /// The newest proposal.
        zxid: Zxid,
    },
    /// The answer to a ping.
    Pong {
        /// The sessions heard from since the last one, with their timeouts.
        touched: Vec<(SessionId, i32)>,
    },
    /// REQUEST: a client of the learner wants something that only the leader can decide.
    Request(Box<Forwarded>),
    /// This learner does not serve the session any more: another server does. ZooKeeper has no
    /// such word; there the old connection lives until the next write on it is refused.
    Moved {
        /// Which one.
        session: SessionId,
    },
    /// SYNC: everything committed before the learner asked has been sent.
    Synced,
    /// REVALIDATE: does this session live?
    Revalidate {
        /// Which one.
        session: SessionId,
        /// As agreed on its new connection.
        timeout_ms: i32,
    },
    /// The answer to that.
    Revalidated {
        /// Which one.
        session: SessionId,
        /// Whether it does.
        valid: bool,
        /// The newest proposal. Whatever the learner has forwarded for that session so far has
        /// been decided up to here; whatever it forwards from now on comes later.
        zxid: Zxid,
    },
}

/// A client's wish on its way to the leader.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Forwarded {
    /// Whose.
    pub session: SessionId,
    /// Whether only the learner knows of that session. ZooKeeper's learners do not say; its
    /// leader then takes any session that it does not know for a local one, also one that is
    /// over.
    pub local: bool,
    /// The client's number for it.
    pub cxid: Xid,
    /// The client's identities.
    pub who: Arc<[Id]>,
    /// What it is.
    pub ask: Ask,
}

/// What can be forwarded.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Ask {
    /// A new session.
    Open {
        /// As agreed with the client.
        timeout_ms: i32,
    },
    /// A write.
    Write(Request),
    /// A sync: answered with [`Message::Synced`].
    Sync,
}

/// Which kind of message, by its protocol name.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[repr(u8)]
pub enum MessageKind {
    /// ACK.
    Ack,
    /// ACKEPOCH.
    AckEpoch,
    /// COMMIT.
    Commit,
    /// DIFF.
    Diff,
    /// FOLLOWERINFO.
    FollowerInfo,
    /// INFORM.
    Inform,
    /// LEADERINFO.
    LeaderInfo,
    /// NEWLEADER.
    NewLeader,
    /// OBSERVERINFO.
    ObserverInfo,
    /// PING.
    Ping,
    /// The answer to PING.
    Pong,
    /// PROPOSAL.
    Proposal,
    /// REQUEST.
    Request,
    /// REVALIDATE.
    Revalidate,
    /// The answer to REVALIDATE.
    Revalidated,
    /// SNAP.
    Snap,
    /// A part of a snapshot.
    SnapPart,
    /// SYNC.
    Synced,
    /// TRUNC.
    Trunc,
    /// UPTODATE.
    UpToDate,
    // Last, for what a seed means depends on the numbers of those before.
    /// COMMITANDACTIVATE.
    CommitAndActivate,
    /// INFORMANDACTIVATE.
    InformAndActivate,
    /// The session is served elsewhere.
    Moved,
}

impl MessageKind {
    /// All of them, each at the place that its number says.
    pub const ALL: [Self; 23] = [
        Self::Ack,
        Self::AckEpoch,
        Self::Commit,
        Self::Diff,
        Self::FollowerInfo,
        Self::Inform,
        Self::LeaderInfo,
        Self::NewLeader,
        Self::ObserverInfo,
        Self::Ping,
        Self::Pong,
        Self::Proposal,
        Self::Request,
        Self::Revalidate,
        Self::Revalidated,
        Self::Snap,
        Self::SnapPart,
        Self::Synced,
        Self::Trunc,
        Self::UpToDate,
        Self::CommitAndActivate,
        Self::InformAndActivate,
        Self::Moved,
    ];

    /// As it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ack => "ACK",
            Self::AckEpoch => "ACKEPOCH",
            Self::Commit => "COMMIT",
            Self::CommitAndActivate => "COMMITANDACTIVATE",
            Self::Diff => "DIFF",
            Self::FollowerInfo => "FOLLOWERINFO",
            Self::Inform => "INFORM",
            Self::InformAndActivate => "INFORMANDACTIVATE",
            Self::LeaderInfo => "LEADERINFO",
            Self::Moved => "MOVED",
            Self::NewLeader => "NEWLEADER",
            Self::ObserverInfo => "OBSERVERINFO",
            Self::Ping => "PING",
            Self::Pong => "PONG",
            Self::Proposal => "PROPOSAL",
            Self::Request => "REQUEST",
            Self::Revalidate => "REVALIDATE",
            Self::Revalidated => "REVALIDATED",
            Self::Snap => "SNAP",
            Self::SnapPart => "SNAPPART",
            Self::Synced => "SYNC",
            Self::Trunc => "TRUNC",
            Self::UpToDate => "UPTODATE",
        }
    }

    /// The kind with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl Message {
    /// Which kind it is.
    #[must_use]
    pub const fn kind(&self) -> MessageKind {
        match self {
            Self::Ack(_) => MessageKind::Ack,
            Self::AckEpoch { .. } => MessageKind::AckEpoch,
            Self::Commit(_) => MessageKind::Commit,
            Self::CommitAndActivate { .. } => MessageKind::CommitAndActivate,
            Self::Diff { .. } => MessageKind::Diff,
            Self::Inform(_) => MessageKind::Inform,
            Self::InformAndActivate { .. } => MessageKind::InformAndActivate,
            Self::LeaderInfo { .. } => MessageKind::LeaderInfo,
            Self::LearnerInfo { observer: false, .. } => MessageKind::FollowerInfo,
            Self::LearnerInfo { observer: true, .. } => MessageKind::ObserverInfo,
            Self::Moved { .. } => MessageKind::Moved,
            Self::NewLeader { .. } => MessageKind::NewLeader,
            Self::Ping { .. } => MessageKind::Ping,
            Self::Pong { .. } => MessageKind::Pong,
            Self::Proposal(_) => MessageKind::Proposal,
            Self::Request(_) => MessageKind::Request,
            Self::Revalidate { .. } => MessageKind::Revalidate,
            Self::Revalidated { .. } => MessageKind::Revalidated,
            Self::Snap { .. } => MessageKind::Snap,
            Self::SnapPart { .. } => MessageKind::SnapPart,
            Self::Synced => MessageKind::Synced,
            Self::Trunc { .. } => MessageKind::Trunc,
            Self::UpToDate => MessageKind::UpToDate,
        }
    }

    /// The number that tells it from others of its kind: a zxid, a session, or −1. An epoch is
    /// the zxid it begins with.
    #[must_use]
    pub fn zxid(&self) -> Zxid {
        match self {
            Self::Ack(zxid) | Self::Commit(zxid) => *zxid,
            Self::AckEpoch { zxid, .. }
            | Self::CommitAndActivate { zxid, .. }
            | Self::Diff { zxid }
            | Self::Ping { zxid }
            | Self::Snap { zxid }
            | Self::Trunc { zxid } => *zxid,
            Self::Inform(txn) | Self::InformAndActivate { txn, .. } | Self::Proposal(txn) => {
                txn.stamp.zxid
            }
            Self::LeaderInfo { epoch, .. }
            | Self::LearnerInfo { accepted: epoch, .. }
            | Self::NewLeader { epoch, .. } => Zxid::first_of(*epoch),
            Self::Moved { .. }
            | Self::Pong { .. }
            | Self::Request(_)
            | Self::Revalidate { .. }
            | Self::Revalidated { .. }
            | Self::SnapPart { .. }
            | Self::Synced
            | Self::UpToDate => Zxid::NONE,
        }
    }
}

impl fmt::Display for MessageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
