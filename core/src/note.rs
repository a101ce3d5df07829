//! What is worth noticing of a server's life, for those who watch over it. Nothing depends on it.

use alloc::sync::Arc;
use core::fmt;

use crate::election::Ballot;
use crate::ids::{Epoch, ServerId, Zxid};
use crate::members::Members;
use crate::txn::Txn;

/// Something that happened inside a server.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Note {
    /// A committed transaction was applied to the tree.
    Applied {
        /// The transaction.
        txn: Arc<Txn>,
        /// The digest of the tree after it.
        digest: u64,
    },
    /// Between two roles, when nobody is served: everything in the log is in the tree now,
    /// committed or not, as it would be after a crash.
    CaughtUp {
        /// The end of the log.
        zxid: Zxid,
        /// The digest of the tree.
        digest: u64,
    },
    /// As a leader: a quorum has this transaction, and so have all before it.
    Committed(Zxid),
    /// As a leader-to-be: enough servers have promised themselves to this epoch. Whatever this
    /// server has in its log is what the epoch begins with.
    Discovered {
        /// The epoch.
        epoch: Epoch,
        /// The end of the leader's history.
        zxid: Zxid,
    },
    /// A round of an election ended.
    Elected {
        /// Whom to follow, perhaps oneself.
        leader: ServerId,
        /// In which round.
        round: u64,
    },
    /// As a leader: enough servers have what the epoch begins with. From now on it serves.
    Established(Epoch),
    /// These members are in force, for all it knows.
    Joined(Arc<Members>),
    /// It left its leader, or its followers, and looks for a leader again.
    Left(Why),
    /// It begins to look for a leader, with this to offer.
    Looking {
        /// Its own vote; `None` if it has none.
        ballot: Option<Ballot>,
    },
    /// As a leader: this is the next transaction of the epoch.
    Proposed(Arc<Txn>),
    /// A rare branch of the protocol was taken.
    Reached(Branch),
    /// As a learner: it has everything the epoch begins with, and serves.
    Serving(Epoch),
}

/// Why a server stops leading or following.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Why {
    /// The leader-to-be has less than one of its followers.
    Behind,
    /// The connection to the leader is gone.
    Closed,
    /// A commit that does not fit what was proposed.
    CommitOutOfOrder {
        /// What was due, if anything was.
        expected: Option<Zxid>,
        /// What came.
        got: Zxid,
    },
    /// The epoch of the leader is older than what this server has promised.
    Epoch {
        /// What was promised.
        promised: Epoch,
        /// What the leader has.
        got: Epoch,
    },
    /// The ensemble has another leader or this server another part in it, by a change of members.
    Changed {
        /// Who leads now.
        leader: ServerId,
    },
    /// Others know of newer members.
    Members {
        /// Theirs.
        version: Zxid,
    },
    /// A message that has no place in this phase.
    Misplaced,
    /// Too few followers were there in time, or are left.
    NoQuorum,
    /// A proposal that does not follow the one before.
    ProposalOutOfOrder {
        /// The one before.
        last: Zxid,
        /// What came.
        got: Zxid,
    },
    /// The epoch has no more numbers for transactions.
    Rollover,
    /// The leader was not heard from.
    Silent,
    /// The leader's snapshot cannot be read.
    Snapshot,
    /// The log cannot be cut where the leader wants it.
    Truncate {
        /// Where.
        to: Zxid,
    },
    /// The leader could not be reached.
    Unreachable,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Behind => write!(f, "a follower has more"),
            Self::Closed => write!(f, "the connection was closed"),
            Self::CommitOutOfOrder { expected: Some(expected), got } => {
                write!(f, "commit {got} where {expected} was due")
            }
            Self::CommitOutOfOrder { expected: None, got } => {
                write!(f, "commit {got} where nothing was proposed")
            }
            Self::Epoch { promised, got } => {
                write!(f, "epoch {got}, but {promised} has been promised")
            }
            Self::Changed { leader } => {
                write!(f, "the ensemble has changed, and server {leader} leads")
            }
            Self::Members { version } => write!(f, "the ensemble has changed with {version}"),
            Self::Misplaced => write!(f, "a message that has no place here"),
            Self::NoQuorum => write!(f, "too few followers"),
            Self::ProposalOutOfOrder { last, got } => write!(f, "proposal {got} after {last}"),
            Self::Rollover => write!(f, "the epoch has no more numbers"),
            Self::Silent => write!(f, "the leader was not heard from"),
            Self::Snapshot => write!(f, "a snapshot that cannot be read"),
            Self::Truncate { to } => write!(f, "the log cannot be cut at {to}"),
            Self::Unreachable => write!(f, "the leader could not be reached"),
        }
    }
}

/// A branch of the protocol of which one wants to know how often it was taken.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Branch {
    /// A learner's acknowledgements above its sync point were taken back.
    AcksTakenBack,
    /// An empty container, or a node whose time was over, was removed.
    ContainerCleaned,
    /// A server that may have lost its data joined without a vote.
    DataMissing,
    /// A change of members was committed.
    ChangeCommitted,
    /// A change of members was proposed.
    ChangeProposed,
    /// A change of members was refused.
    ChangeRefused,
    /// A learner was sent what it lacks.
    Diff,
    /// A learner that had everything was sent nothing.
    DiffEmpty,
    /// The server's history reached into an epoch that it had not noted.
    EpochRaised,
    /// A server of an older promise did not count.
    EpochUncounted,
    /// A leader handed over to another, because it has no vote any more.
    HandedOver,
    /// A learner joined while the leader was serving already.
    LateJoiner,
    /// A learner came back before its earlier connection was known to be over.
    LinkReplaced,
    /// A server learned that the ensemble had changed without it.
    MembersLearned,
    /// An epoch began with a change of members that no leader had committed.
    MembersPending,
    /// A proposal without its commit was sent to a learner before NEWLEADER.
    OutstandingSent,
    /// A client was served by a server without a leader.
    ReadOnlyServed,
    /// A client came back to a session that was over.
    RevalidationRefused,
    /// A leader ran out of numbers.
    Rollover,
    /// A session is served by another server than before.
    SessionHandedOver,
    /// A write came from a server that did not serve its session any more.
    SessionMoved,
    /// A local session wanted an ephemeral, and became one that all servers know.
    SessionUpgraded,
    /// A learner was sent everything.
    Snap,
    /// A snapshot was written while transactions were applied.
    SnapshotFuzzy,
    /// A learner had too much, and nothing was missing then.
    Trunc,
    /// A learner had too much, and was sent what others have instead.
    TruncDiff,
    /// A learner could not cut its log and asked for everything.
    TruncRefused,
    /// A server has got a vote.
    VoterJoined,
    /// A server has lost its vote.
    VoterLeft,
    /// A local session became known to all when its client had gone or wanted to go.
    UpgradeRace,
    /// A server without a leader was asked for what only a leader can do.
    WriteRefused,
}
