//! How a world is set up: who is there and how patient they are. Part of every trace.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use crate::checker::Promise;
use crate::world::Bounds;
use crate::world::disk::Grain;
use serde::{Deserialize, Serialize};
use zoolab_core::bugs::NotBuiltIn;
use zoolab_core::config::SettingsError;
use zoolab_core::quorum::{Quorum, QuorumError};
use zoolab_core::{Bug, Bugs, Ensemble, LocalSessions, ServerId, Settings, Ticks};

/// Everything a world begins with. Equal settings and equal steps make equal worlds.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Setting {
    /// The servers that vote, in groups, each with its weight. One group in which all weigh the
    /// same is a plain majority.
    pub voters: Vec<Vec<(u8, u64)>>,
    /// The servers that follow without a vote.
    pub observers: Vec<u8>,
    /// Whether the ensemble may change.
    #[serde(skip_serializing_if = "is_default")]
    pub reconfig: bool,
    /// The servers that are in no configuration yet.
    #[serde(skip_serializing_if = "is_default")]
    pub spares: Vec<u8>,
    /// How many simple clients there are: one request after another, for searches.
    pub clients: u16,
    /// How many applications there are, each with a client of the core's.
    #[serde(skip_serializing_if = "is_default")]
    pub apps: u16,
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
    /// Of what the disks are made.
    #[serde(skip_serializing_if = "is_default")]
    pub disks: Grain,
    /// What a search is bounded by; time stands still then.
    #[serde(skip_serializing_if = "is_default")]
    pub search: Option<Bounds>,
    /// By how much each server's wall clock is off, in milliseconds, by server.
    pub skew_ms: Vec<i64>,
    /// Whether a leader tells a server that a session has gone to another.
    #[serde(skip_serializing_if = "is_default")]
    pub tell_moved: bool,
    /// What a new session is.
    #[serde(skip_serializing_if = "is_default")]
    pub local_sessions: Locality,
    /// Whether servers without a leader serve those who only read.
    #[serde(skip_serializing_if = "is_default")]
    pub read_only: bool,
    /// Whether TTL nodes exist.
    #[serde(skip_serializing_if = "is_default")]
    pub extended_types: bool,
    /// How often to look for empty containers and old TTL nodes; zero is as often as ZooKeeper.
    #[serde(skip_serializing_if = "is_default")]
    pub container_check_ms: u32,
    /// Bugs of real servers that are on, by name. Only a program with the feature `bugs` has any.
    #[serde(with = "names", skip_serializing_if = "Vec::is_empty")]
    pub bugs: Vec<Bug>,
    /// The promises that end a run when they are broken, by name; all of them if none is named.
    #[serde(with = "names", skip_serializing_if = "Vec::is_empty")]
    pub promises: Vec<Promise>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What a new session is, as settings spell it: see [`LocalSessions`].
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Locality {
    /// All servers know each session.
    #[default]
    Off,
    /// New sessions are and stay local.
    On,
    /// New sessions are local until they want an ephemeral.
    Upgrading,
}

/// More patience than this is none at all, and would overflow when it is counted.
const TICKS_MAX: u32 = 1 << 16;
/// All weights together must be a number.
const WEIGHT_MAX: u64 = 1 << 32;
/// What ZooKeeper uses. Every log file of every server takes that much memory here.
const PREALLOCATE_MAX: u64 = 64 << 20;
/// Some ten years.
pub(crate) const LONG_MS: u64 = 1 << 38;

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
            reconfig: false,
            spares: Vec::new(),
            clients: 1,
            apps: 0,
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
            disks: Grain::Bytes,
            search: None,
            skew_ms: Vec::new(),
            tell_moved: false,
            local_sessions: Locality::Off,
            read_only: false,
            extended_types: false,
            container_check_ms: 0,
            bugs: Vec::new(),
            promises: Vec::new(),
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
        self.bounds()?;
        ensemble.observers = observers;
        let members = ensemble.members();
        let spares: BTreeSet<ServerId> = self.spares.iter().copied().map(ServerId).collect();
        if let Some(id) = spares.iter().find(|id| members.contains(id)) {
            return Err(SettingError::Spare(*id));
        }
        ensemble.spares = spares;
        ensemble.init_limit = Ticks(self.init_limit);
        ensemble.sync_limit = Ticks(self.sync_limit);
        ensemble.counter_max = self.counter_max;
        ensemble.recent = self.recent;
        ensemble.snapshot_every = NonZeroU32::new(self.snapshot_every);
        ensemble.snapshot_nodes = self.snapshot_nodes;
        ensemble.snap_part_bytes = self.snap_part_bytes;
        ensemble.tell_moved = self.tell_moved;
        ensemble.read_only = self.read_only;
        ensemble.local_sessions = match self.local_sessions {
            Locality::Off => LocalSessions::Off,
            Locality::On => LocalSessions::On,
            Locality::Upgrading => LocalSessions::Upgrading,
        };
        ensemble.bugs = Bugs::of(self.bugs.iter().copied()).map_err(SettingError::Bugs)?;
        Ok(ensemble)
    }

    fn bounds(&self) -> Result<(), SettingError> {
        let (init, sync) = (self.init_limit.into(), self.sync_limit.into());
        let skew = self.skew_ms.iter().map(|ms| ms.unsigned_abs()).max().unwrap_or(0);
        let weight = self.voters.iter().flatten().map(|(_, weight)| *weight).max().unwrap_or(0);
        for (name, value, least, most) in [
            ("tick-ms", self.tick_ms.into(), 1, u32::MAX.into()),
            ("init-limit", init, 1, TICKS_MAX.into()),
            ("sync-limit", sync, 1, TICKS_MAX.into()),
            ("counter-max", self.counter_max.into(), 1, u32::MAX.into()),
            ("preallocate", self.preallocate, 0, PREALLOCATE_MAX),
            ("skew-ms", skew, 0, LONG_MS),
            ("voters, weight", weight, 0, WEIGHT_MAX),
        ] {
            if !(least..=most).contains(&value) {
                return Err(SettingError::Bounds { name, value, least, most });
            }
        }
        Ok(())
    }

    /// What the servers offer their clients.
    ///
    /// # Errors
    /// If they cannot work.
    pub fn settings(&self) -> Result<Settings, SettingError> {
        let settings = Settings::with_tick(self.tick_ms);
        let container_check_ms = match self.container_check_ms {
            0 => settings.container_check_ms,
            ms => ms,
        };
        let (reconfig, extended_types) = (self.reconfig, self.extended_types);
        Settings { reconfig, extended_types, container_check_ms, ..settings }
            .checked()
            .map_err(SettingError::Settings)
    }
}

/// Why a world cannot be set up.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SettingError {
    /// A server both votes and does not.
    Both(ServerId),
    /// A number is too small or too large.
    Bounds {
        /// Which.
        name: &'static str,
        /// How large it is, whatever its sign.
        value: u64,
        /// The smallest that can be.
        least: u64,
        /// The largest that can be.
        most: u64,
    },
    /// A bug is to be switched on that is not there.
    Bugs(NotBuiltIn),
    /// The voters cannot be an ensemble.
    Quorum(QuorumError),
    /// The servers cannot serve.
    Settings(SettingsError),
    /// A server is in the ensemble already.
    Spare(ServerId),
}

impl std::fmt::Display for SettingError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Both(id) => write!(f, "observers: server {id} is a voter as well"),
            Self::Bounds { name, value, least, most } => {
                write!(f, "{name}: {value} where {least} to {most} are allowed")
            }
            Self::Bugs(error) => error.fmt(f),
            Self::Quorum(error) => write!(f, "voters: {error}"),
            Self::Settings(error) => write!(f, "tick-ms: {error}"),
            Self::Spare(id) => write!(f, "spares: server {id} is in the ensemble already"),
        }
    }
}

impl std::error::Error for SettingError {}

/// Bugs and promises are written by their names.
mod names {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<T: Display, S: Serializer>(
        all: &[T],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(all.iter().map(ToString::to_string))
    }

    pub(super) fn deserialize<'de, T: FromStr<Err: Display>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<T>, D::Error> {
        let names = Vec::<String>::deserialize(from)?;
        let named = |name: String| {
            name.parse().map_err(|error| D::Error::custom(format!("{name:?}: {error}")))
        };
        names.into_iter().map(named).collect()
    }
}
