//! How a world is set up: who is there and how patient they are. Part of every trace.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};
use zoolab_core::bugs::NotBuiltIn;
use zoolab_core::quorum::{Quorum, QuorumError};
use zoolab_core::{Bug, Bugs, Ensemble, ServerId, Settings, Ticks};

/// Everything a world begins with. Equal settings and equal steps make equal worlds.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Setting {
    /// The servers that vote, in groups, each with its weight. One group in which all weigh the
    /// same is a plain majority.
    pub voters: Vec<Vec<(u8, u64)>>,
    /// The servers that follow without a vote.
    pub observers: Vec<u8>,
    /// How many clients there are.
    pub clients: u16,
    /// How many nodes they use.
    pub nodes: u16,
    /// The unit of all waiting.
    pub tick_ms: u32,
    /// How many ticks connecting and synchronizing may take.
    pub init_limit: u32,
    /// How many ticks a leader or a learner may be silent.
    pub sync_limit: u32,
    /// What clients wish for their sessions.
    pub session_timeout_ms: i32,
    /// The largest counter of an epoch.
    pub counter_max: u32,
    /// How many transactions are kept at hand for learners.
    pub recent: u32,
    /// A snapshot after so many transactions; zero is never.
    pub snapshot_every: u32,
    /// How many nodes go into a snapshot at once.
    pub snapshot_nodes: NonZeroU32,
    /// How many bytes of a snapshot go into one message.
    pub snap_part_bytes: NonZeroU32,
    /// By how much log files grow; zero lets them grow with what is written.
    pub preallocate: u64,
    /// By how much each server's wall clock is off, in milliseconds, by server.
    pub skew_ms: Vec<i64>,
    /// Bugs of real servers that are on, by name. Only a program with the feature `bugs` has any.
    #[serde(with = "names", skip_serializing_if = "Vec::is_empty")]
    pub bugs: Vec<Bug>,
}

impl Default for Setting {
    fn default() -> Self {
        Self::plain(3)
    }
}

impl Setting {
    /// So many voters, and otherwise nothing special.
    #[must_use]
    pub fn plain(voters: u8) -> Self {
        Self {
            voters: vec![(1..=voters).map(|id| (id, 1)).collect()],
            observers: Vec::new(),
            clients: 1,
            nodes: 8,
            tick_ms: 2000,
            init_limit: 10,
            sync_limit: 5,
            session_timeout_ms: 10_000,
            counter_max: u32::MAX - 1,
            recent: 500,
            snapshot_every: 100_000,
            snapshot_nodes: NonZeroU32::new(10).expect("not zero"),
            snap_part_bytes: NonZeroU32::new(1024).expect("not zero"),
            preallocate: 0,
            skew_ms: Vec::new(),
            bugs: Vec::new(),
        }
    }

    /// What the servers agree on.
    ///
    /// # Errors
    /// If these voters cannot be an ensemble, or if bugs are asked for that are not built in.
    pub fn ensemble(&self) -> Result<Ensemble, SettingError> {
        let group = |group: &Vec<(u8, u64)>| -> Vec<(ServerId, u64)> {
            group.iter().map(|(id, weight)| (ServerId(*id), *weight)).collect()
        };
        let quorum = Quorum::hierarchical(self.voters.iter().map(group));
        let quorum = quorum.map_err(SettingError::Quorum)?;
        let mut ensemble = Ensemble::new(quorum);
        let observers: BTreeSet<ServerId> = self.observers.iter().copied().map(ServerId).collect();
        if let Some(id) = observers.iter().find(|id| ensemble.quorum.has_voter(**id)) {
            return Err(SettingError::Both(*id));
        }
        if self.init_limit == 0 || self.sync_limit == 0 || self.counter_max == 0 {
            return Err(SettingError::Zero);
        }
        ensemble.observers = observers;
        ensemble.init_limit = Ticks(self.init_limit);
        ensemble.sync_limit = Ticks(self.sync_limit);
        ensemble.counter_max = self.counter_max;
        ensemble.recent = self.recent;
        ensemble.snapshot_every = NonZeroU32::new(self.snapshot_every);
        ensemble.snapshot_nodes = self.snapshot_nodes;
        ensemble.snap_part_bytes = self.snap_part_bytes;
        ensemble.bugs = Bugs::of(self.bugs.iter().copied()).map_err(SettingError::Bugs)?;
        Ok(ensemble)
    }

    /// What the servers offer their clients.
    ///
    /// # Errors
    /// If they cannot work.
    pub fn settings(&self) -> Result<Settings, SettingError> {
        Settings::with_tick(self.tick_ms).checked().map_err(|_| SettingError::Zero)
    }
}

/// Why a world cannot be set up.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SettingError {
    /// A server both votes and does not.
    Both(ServerId),
    /// A bug is to be switched on that is not there.
    Bugs(NotBuiltIn),
    /// The voters cannot be an ensemble.
    Quorum(QuorumError),
    /// A limit that must be positive is zero.
    Zero,
}

impl std::fmt::Display for SettingError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Both(id) => write!(f, "server {id} is both a voter and an observer"),
            Self::Bugs(error) => error.fmt(f),
            Self::Quorum(error) => error.fmt(f),
            Self::Zero => write!(f, "tick-ms, the limits and counter-max must be positive"),
        }
    }
}

impl std::error::Error for SettingError {}

/// Bugs are written by their names.
mod names {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};
    use zoolab_core::Bug;

    pub(super) fn serialize<S: Serializer>(bugs: &[Bug], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(bugs.iter().map(|bug| bug.name()))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Bug>, D::Error> {
        let names = Vec::<String>::deserialize(from)?;
        let bug = |name: String| {
            name.parse().map_err(|error| D::Error::custom(format!("{name:?}: {error}")))
        };
        names.into_iter().map(bug).collect()
    }
}
