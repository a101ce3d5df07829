//! The promises by name. The letters in brackets are those of the literature on ZooKeeper's
//! protocol that each goes back to: properties of the protocol (P), of logs and leaders (L), of
//! disks (D), of single steps (E).

use std::fmt;
use std::str::FromStr;

use zoolab_core::Bug;

/// Something that must hold in every step of every run.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Promise {
    /// An acknowledgement that arrives is for something proposed, none goes back, and the first is
    /// for what the epoch begins with (E3).
    AckInOrder,
    /// What a server acknowledges is safe on its disk, with everything before it (D6).
    AckDurable,
    /// Whatever a crash left behind, the server starts again (D9).
    BootTotality,
    /// A client completes each call once.
    CallOnce,
    /// Requests are answered in the order in which they were made.
    CallOrder,
    /// Whoever serves in an epoch, or applies its first transaction, has applied what the epoch
    /// began with (P9).
    CommitConsistency,
    /// A commit is for the oldest proposal that waits for one (E5).
    CommitMatches,
    /// Leaders commit without a gap, and only in an epoch that has begun (L7).
    CommitOrder,
    /// Nobody is told to give up what is committed, and nothing committed is given up unless a
    /// quorum keeps it (L4).
    CommittedDurability,
    /// An epoch begins with everything that is committed (L2).
    CommittedMonotonicity,
    /// Only what is committed is applied (L8).
    DeliveredCommitted,
    /// What was safe is there after a restart.
    Durability,
    /// Whoever acknowledges that an epoch begins has noted the epoch on disk (D5).
    EpochAckDurable,
    /// A new epoch is newer than what a quorum had promised itself to (E8).
    EpochFresh,
    /// Epochs on disk never go back, not even over a restart (D2).
    EpochMonotonicity,
    /// Nobody is in an epoch that it has not promised itself to (D1).
    EpochOrder,
    /// Equal zxids, equal trees.
    EqualTrees,
    /// Epochs never decrease along what a server applies (P6).
    GlobalPrimaryOrder,
    /// Whoever notes an epoch has what it began with safe on disk (D4).
    HistoryBeforeEpoch,
    /// Servers in one epoch have histories of which one continues the other (P10).
    HistoryConsistency,
    /// A vote and a promise tell the truth about what is safe on disk (D8).
    HonestVote,
    /// A later epoch begins with what an earlier one began with (P8).
    InitialHistory,
    /// What a server has was proposed (P2).
    Integrity,
    /// Whoever leads has everything that is committed (L1).
    LeaderCompleteness,
    /// A leader's proposals are numbered without a gap (P5).
    LocalPrimaryOrder,
    /// Zxids in a log increase (L6).
    LogOrder,
    /// Whoever takes members for being in force, quorums of the old and of the new have had that
    /// change safe.
    MembersDecided,
    /// Nobody goes back to older members, not even over a restart.
    MembersMonotonicity,
    /// Whoever looks for a leader, or catches up with its log, has nothing in memory that is not
    /// on disk (D12).
    MemoryBehindDisk,
    /// Only the leader of an epoch speaks for it (E7).
    MessageLegal,
    /// Logs have no holes (L5).
    NoHole,
    /// The leader of an older epoch commits nothing once a newer one has begun (E9).
    OldLeaderSilent,
    /// A leader proposes no change of members while another is undecided.
    OneChange,
    /// A server promises itself to an epoch once in its life (E1).
    OnePromise,
    /// Messages arrive in the phase they belong to (E2).
    Phase,
    /// What whoever serves has applied is a beginning of what is committed (P11).
    PrefixConsistency,
    /// Before it proposes, a leader has everything that anybody has applied of earlier epochs (P7).
    PrimaryIntegrity,
    /// An epoch has one leader (P1).
    PrimaryUniqueness,
    /// Whoever joins an epoch has nothing that its leader does not have (L3).
    ProcessConsistency,
    /// A promise is on disk before it is given (D3).
    PromiseDurable,
    /// A proposal follows the one before (E4).
    ProposalInOrder,
    /// What is committed is safe on the disks of a quorum (D7).
    QuorumDurability,
    /// A session is never shown an older state than it was shown before.
    SessionForward,
    /// Nothing is ordered of a session that nobody has opened, and nobody else owns ephemerals (S1).
    SessionKnown,
    /// After its end nothing is ordered of a session but refusals (S2).
    SessionOver,
    /// Nobody is answered in a session after its end.
    SessionSilent,
    /// A session's end takes its ephemerals, by name, and nothing else (S2).
    SessionTakesAll,
    /// A snapshot is the state of some point of the history (D10).
    SnapshotSoundness,
    /// All servers apply one sequence: each the next one, none twice (P3, P4).
    TotalOrder,
    /// What was cut off does not come back (D11).
    TruncationDurable,
    /// A log is cut off at something it has (E6).
    TruncationTarget,
    /// Who watches is told of a change before anything is shown that comes after it.
    WatchFirst,
    /// No watch is lost but one for a node that was made and deleted while its client was away.
    WatchKept,
    /// A watch that goes when it fires fires once.
    WatchOnce,
    /// Events come in the order of the changes.
    WatchOrder,
    /// Nobody is told of what did not happen, or of what it does not watch.
    WatchTrue,
    /// One zxid, one transaction (P12).
    ZxidUniqueness,
}

impl Promise {
    /// All of them, by name.
    pub const ALL: [Self; 57] = [
        Self::AckInOrder,
        Self::AckDurable,
        Self::BootTotality,
        Self::CallOnce,
        Self::CallOrder,
        Self::CommitConsistency,
        Self::CommitMatches,
        Self::CommitOrder,
        Self::CommittedDurability,
        Self::CommittedMonotonicity,
        Self::DeliveredCommitted,
        Self::Durability,
        Self::EpochAckDurable,
        Self::EpochFresh,
        Self::EpochMonotonicity,
        Self::EpochOrder,
        Self::EqualTrees,
        Self::GlobalPrimaryOrder,
        Self::HistoryBeforeEpoch,
        Self::HistoryConsistency,
        Self::HonestVote,
        Self::InitialHistory,
        Self::Integrity,
        Self::LeaderCompleteness,
        Self::LocalPrimaryOrder,
        Self::LogOrder,
        Self::MembersDecided,
        Self::MembersMonotonicity,
        Self::MemoryBehindDisk,
        Self::MessageLegal,
        Self::NoHole,
        Self::OldLeaderSilent,
        Self::OneChange,
        Self::OnePromise,
        Self::Phase,
        Self::PrefixConsistency,
        Self::PrimaryIntegrity,
        Self::PrimaryUniqueness,
        Self::ProcessConsistency,
        Self::PromiseDurable,
        Self::ProposalInOrder,
        Self::QuorumDurability,
        Self::SessionForward,
        Self::SessionKnown,
        Self::SessionOver,
        Self::SessionSilent,
        Self::SessionTakesAll,
        Self::SnapshotSoundness,
        Self::TotalOrder,
        Self::TruncationDurable,
        Self::TruncationTarget,
        Self::WatchFirst,
        Self::WatchKept,
        Self::WatchOnce,
        Self::WatchOrder,
        Self::WatchTrue,
        Self::ZxidUniqueness,
    ];

    /// The promise that most often is the first to be broken when this bug is on.
    #[must_use]
    pub const fn broken_by(bug: Bug) -> Self {
        match bug {
            Bug::Zk335 => Self::EpochMonotonicity,
            Bug::Zk1154 => Self::HistoryConsistency,
            Bug::Zk2845 => Self::HonestVote,
            Bug::Zk3023 => Self::CommitConsistency,
            Bug::Zk3911 | Bug::Zk4643 | Bug::TruncSnapshotNotSynced => Self::HistoryBeforeEpoch,
            Bug::Zk962 | Bug::Zk4394 => Self::CommitMatches,
            Bug::Zk4685 => Self::AckInOrder,
            Bug::AckSurvivesTrunc => Self::CommittedDurability,
            Bug::TruncNotSynced | Bug::Zk1653 | Bug::Zk2872 => Self::BootTotality,
            Bug::Zk1046 | Bug::Zk1090 => Self::EqualTrees,
            Bug::Zk1156 | Bug::DirNotSynced => Self::Durability,
            Bug::Zk2355 => Self::MemoryBehindDisk,
            Bug::AckBeforeSync => Self::QuorumDurability,
        }
    }

    /// Its name, as reports and scripts spell it.
    #[must_use]
    pub fn name(self) -> String {
        let mut name = String::new();
        for letter in format!("{self:?}").chars() {
            if letter.is_uppercase() && !name.is_empty() {
                name.push('-');
            }
            name.push(letter.to_ascii_lowercase());
        }
        name
    }
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl FromStr for Promise {
    type Err = UnknownPromise;

    fn from_str(name: &str) -> Result<Self, UnknownPromise> {
        Self::ALL.into_iter().find(|promise| promise.name() == name).ok_or(UnknownPromise)
    }
}

/// There is no promise of that name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct UnknownPromise;

impl fmt::Display for UnknownPromise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Promise::ALL.map(Promise::name);
        write!(f, "no such promise; there are {}", names.join(", "))
    }
}

impl std::error::Error for UnknownPromise {}

/// A promise that was broken.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Violation {
    /// Which promise.
    pub promise: Promise,
    /// One sentence with the values that break it.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.promise, self.what)
    }
}
