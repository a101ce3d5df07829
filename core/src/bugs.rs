//! Bugs that real servers had, each to be switched on by its name.
//!
//! With one of them on, a simulation must find out that a promise is broken: that is how one
//! knows that it would. They are there only with the feature `bugs`, which no build that serves
//! anybody has. Without it a [`Bugs`] cannot hold anything, and the compiler removes whatever asks.
//!
//! Where one of them is on, assertions are left out that the code of its time did not have; it is
//! for the promises to object.

use core::fmt;
use core::str::FromStr;

/// A bug of ZooKeeper's, by its number in ZooKeeper's tracker; one of a kindred server's; or
/// something that ZooKeeper's code does to this day and that nobody has reported.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Bug {
    /// Nothing on disk says that an epoch has begun until its first transaction is logged, so the
    /// next leader may take the same epoch and give its zxids to other transactions.
    Zk335,
    /// What a learner lacks is put together first, and it is registered for what comes later; what
    /// is on its way at that moment is in neither.
    Zk962,
    /// A create that is applied again and finds its node there returns at once, and its parent's
    /// counter of children stays behind.
    Zk1046,
    /// The last transaction applied is raised before the tree is changed; a snapshot that begins in
    /// between is named after a transaction that it does not show.
    Zk1090,
    /// A learner whose last transaction lies within the leader's window is sent what comes after
    /// it, although the leader never had that transaction.
    Zk1154,
    /// The place where a log is cut off is counted wrongly, and lies within the last transaction that
    /// was to stay.
    Zk1156,
    /// A server that crashed between getting what an epoch began with and noting the epoch does not
    /// start again.
    Zk1653,
    /// A learner takes the end of what it is going to be sent for what it has, and keeps that if its
    /// connection breaks in between.
    Zk2355,
    /// Memory is kept when a server leaves its role, without what is in the log and was not
    /// committed: it votes, and is brought up to date, by a zxid that its log is beyond.
    Zk2845,
    /// A snapshot that a learner was sent is not forced to disk before that is acknowledged, nor is
    /// its name.
    Zk2872,
    /// A learner serves as soon as it is told to, under the zxid it was brought up to, and applies
    /// what it was sent some time later.
    Zk3023,
    /// A learner acknowledges NEWLEADER first, and logs what came before it once it serves.
    Zk3911,
    /// At NEWLEADER a learner logs proposals that are not committed as well and forgets them, so
    /// that a COMMIT before UPTODATE finds nothing.
    Zk4394,
    /// At NEWLEADER a learner notes the epoch first, and logs what came before it afterwards.
    Zk4643,
    /// A learner acknowledges what it has logged at NEWLEADER before NEWLEADER itself, which its
    /// leader does not expect.
    Zk4685,
    /// A leader counts itself for a commit when it proposes, and not when its disk is done.
    AckBeforeSync,
    /// What a learner acknowledged counts for a commit also after it was told to cut it off.
    AckSurvivesTrunc,
    /// Files are forced to disk and their names are not: a power loss may take a whole log that was
    /// acknowledged.
    DirNotSynced,
    /// A log that was cut off is not forced to disk: neither the cut nor the files that were
    /// removed.
    TruncNotSynced,
    /// What a learner is sent after TRUNC goes into a snapshot and not into the log, and the
    /// snapshot is not forced to disk.
    TruncSnapshotNotSynced,
}

impl Bug {
    /// All of them.
    pub const ALL: [Self; 20] = [
        Self::Zk335,
        Self::Zk962,
        Self::Zk1046,
        Self::Zk1090,
        Self::Zk1154,
        Self::Zk1156,
        Self::Zk1653,
        Self::Zk2355,
        Self::Zk2845,
        Self::Zk2872,
        Self::Zk3023,
        Self::Zk3911,
        Self::Zk4394,
        Self::Zk4643,
        Self::Zk4685,
        Self::AckBeforeSync,
        Self::AckSurvivesTrunc,
        Self::DirNotSynced,
        Self::TruncNotSynced,
        Self::TruncSnapshotNotSynced,
    ];

    /// Its name, as settings and traces spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Zk335 => "ZOOKEEPER-335",
            Self::Zk962 => "ZOOKEEPER-962",
            Self::Zk1046 => "ZOOKEEPER-1046",
            Self::Zk1090 => "ZOOKEEPER-1090",
            Self::Zk1154 => "ZOOKEEPER-1154",
            Self::Zk1156 => "ZOOKEEPER-1156",
            Self::Zk1653 => "ZOOKEEPER-1653",
            Self::Zk2355 => "ZOOKEEPER-2355",
            Self::Zk2845 => "ZOOKEEPER-2845",
            Self::Zk2872 => "ZOOKEEPER-2872",
            Self::Zk3023 => "ZOOKEEPER-3023",
            Self::Zk3911 => "ZOOKEEPER-3911",
            Self::Zk4394 => "ZOOKEEPER-4394",
            Self::Zk4643 => "ZOOKEEPER-4643",
            Self::Zk4685 => "ZOOKEEPER-4685",
            Self::AckBeforeSync => "ETCD-14370",
            Self::AckSurvivesTrunc => "ACK-SURVIVES-TRUNC",
            Self::DirNotSynced => "DIR-FSYNC",
            Self::TruncNotSynced => "TRUNC-NOT-SYNCED",
            Self::TruncSnapshotNotSynced => "TRUNC-SNAPSHOT-NOT-SYNCED",
        }
    }

    /// What it is, in a line.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Zk335 => "a begun epoch leaves no trace on disk, and is begun once more",
            Self::Zk962 => "what is under way while a DIFF is put together is never sent",
            Self::Zk1046 => "a create that is applied again leaves its parent as it is",
            Self::Zk1090 => "a snapshot is named after a transaction it does not show",
            Self::Zk1154 => "a learner with a tail of its own is sent a DIFF instead of a TRUNC",
            Self::Zk1156 => "a log is cut off at the wrong byte",
            Self::Zk1653 => "a crash before the epoch is noted is taken for corruption",
            Self::Zk2355 => "the end of a DIFF counts as applied before it has come",
            Self::Zk2845 => "memory kept across an election lags behind the log",
            Self::Zk2872 => "a snapshot received is not forced to disk",
            Self::Zk3023 => "a learner serves before it has applied what it was sent",
            Self::Zk3911 => "NEWLEADER is acknowledged before the DIFF is logged",
            Self::Zk4394 => "a COMMIT between NEWLEADER and UPTODATE finds nothing proposed",
            Self::Zk4643 => "the epoch is on disk before what it begins with",
            Self::Zk4685 => "the ACK of a proposal overtakes the ACK of NEWLEADER",
            Self::AckBeforeSync => "a leader counts itself before its disk is done",
            Self::AckSurvivesTrunc => "an ACK counts although its transaction was cut off",
            Self::DirNotSynced => "names of files are not forced to disk",
            Self::TruncNotSynced => "a truncation is not forced to disk",
            Self::TruncSnapshotNotSynced => "the snapshot after a TRUNC is not forced to disk",
        }
    }
}

impl fmt::Display for Bug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Bug {
    type Err = UnknownBug;

    fn from_str(name: &str) -> Result<Self, UnknownBug> {
        let same = |bug: &Self| bug.name().eq_ignore_ascii_case(name);
        Self::ALL.into_iter().find(same).ok_or(UnknownBug)
    }
}

/// There is no bug of that name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct UnknownBug;

impl fmt::Display for UnknownBug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no such bug; there are ")?;
        for (place, bug) in Bug::ALL.into_iter().enumerate() {
            let comma = if place == 0 { "" } else { ", " };
            write!(f, "{comma}{bug}")?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownBug {}

/// Which of them are on.
#[derive(Clone, Copy, Default, Eq, Hash, PartialEq)]
pub struct Bugs {
    /// One bit for each, by its place.
    #[cfg(feature = "bugs")]
    on: u32,
}

const _: () = assert!(Bug::ALL.len() <= 32, "a bit for each");

impl Bugs {
    /// Whether there can be any.
    pub const BUILT_IN: bool = cfg!(feature = "bugs");

    /// None of them.
    pub const NONE: Self = Self {
        #[cfg(feature = "bugs")]
        on: 0,
    };

    /// These.
    ///
    /// # Errors
    /// If there are some, and they are not built in.
    pub fn of(bugs: impl IntoIterator<Item = Bug>) -> Result<Self, NotBuiltIn> {
        bugs.into_iter().try_fold(Self::NONE, Self::with)
    }

    #[cfg(feature = "bugs")]
    fn with(self, bug: Bug) -> Result<Self, NotBuiltIn> {
        Ok(Self { on: self.on | 1 << bug as u32 })
    }

    #[cfg(not(feature = "bugs"))]
    fn with(self, bug: Bug) -> Result<Self, NotBuiltIn> {
        Err(NotBuiltIn(bug))
    }

    /// Whether this one is on.
    #[cfg(feature = "bugs")]
    #[must_use]
    pub const fn on(self, bug: Bug) -> bool {
        self.on >> bug as u32 & 1 == 1
    }

    /// Whether this one is on: never.
    #[cfg(not(feature = "bugs"))]
    #[must_use]
    pub const fn on(self, _: Bug) -> bool {
        false
    }

    /// Those that are on.
    pub fn iter(self) -> impl Iterator<Item = Bug> {
        Bug::ALL.into_iter().filter(move |bug| self.on(*bug))
    }
}

impl fmt::Debug for Bugs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// A bug was asked for by a program that was built without them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NotBuiltIn(pub Bug);

impl fmt::Display for NotBuiltIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = "cargo build --release --features bugs";
        write!(f, "{} is asked for, but no bugs are built in: {how}", self.0)
    }
}

impl core::error::Error for NotBuiltIn {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::ToString as _;

    #[test]
    fn bugs_go_by_their_names() {
        for bug in Bug::ALL {
            assert_eq!(bug.to_string().parse(), Ok(bug));
            assert_eq!(bug.name().to_lowercase().parse(), Ok(bug));
        }
        let unknown = "ZOOKEEPER-1".parse::<Bug>().unwrap_err().to_string();
        assert!(unknown.contains("there are ZOOKEEPER-335, ZOOKEEPER-962, "), "{unknown}");
    }

    #[test]
    #[cfg(feature = "bugs")]
    fn those_are_on_that_were_switched_on() {
        let bugs = Bugs::of([Bug::Zk4643, Bug::TruncSnapshotNotSynced, Bug::Zk4643]).unwrap();
        assert!(bugs.iter().eq([Bug::Zk4643, Bug::TruncSnapshotNotSynced]));
        assert_eq!(format!("{bugs:?}"), "{Zk4643, TruncSnapshotNotSynced}");
        assert!(Bug::ALL.into_iter().all(|bug| !Bugs::NONE.on(bug)));
    }

    #[test]
    #[cfg(not(feature = "bugs"))]
    fn without_the_feature_there_is_nothing_to_switch_on() {
        assert_eq!(size_of::<Bugs>(), 0);
        for bug in Bug::ALL {
            assert_eq!(Bugs::of([bug]), Err(NotBuiltIn(bug)));
        }
        let refused = NotBuiltIn(Bug::Zk335).to_string();
        assert!(refused.ends_with("cargo build --release --features bugs"), "{refused}");
        assert_eq!(format!("{:?}", Bugs::of([])), "Ok({})");
    }
}
