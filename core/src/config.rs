//! What an ensemble agrees on, and what one server is told at its start.

use alloc::collections::BTreeSet;
use alloc::string::String;
use core::num::NonZeroU32;

use crate::bugs::Bugs;
use crate::ids::{Millis, ServerId, Ticks};
use crate::quorum::Quorum;

/// What must be equal on all servers of an ensemble.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Settings {
    /// The unit of all waiting. Too small and healthy sessions expire when a host stutters; too
    /// large and dead ones linger.
    pub tick_ms: u32,
    /// Shorter wishes of clients become this.
    pub session_timeout_min_ms: i32,
    /// Longer wishes of clients become this.
    pub session_timeout_max_ms: i32,
    /// Whether TTL nodes exist. Off as in ZooKeeper, whose older versions cannot read them.
    pub extended_types: bool,
    /// Whether hard quotas refuse a write; otherwise they only warn.
    pub enforce_quota: bool,
    /// Whether `reconfig` is answered at all.
    pub reconfig: bool,
    /// Whether ACLs are looked at. Skipping them is for emergencies.
    pub skip_acl: bool,
    /// `user:digest` of whoever may do everything.
    pub super_digest: Option<String>,
    /// How often to look for empty containers and old TTL nodes.
    pub container_check_ms: u32,
    /// How many of them may go per minute; too many at once would crowd out clients.
    pub container_max_per_minute: u32,
    /// After how long a container that never had a child goes; never by default.
    pub container_never_used_ms: Option<u32>,
}

impl Settings {
    /// ZooKeeper's defaults at this tick.
    #[must_use]
    pub fn with_tick(tick_ms: u32) -> Self {
        let tick = i32::try_from(tick_ms).unwrap_or(i32::MAX);
        Self {
            tick_ms,
            session_timeout_min_ms: tick.saturating_mul(2),
            session_timeout_max_ms: tick.saturating_mul(20),
            extended_types: false,
            enforce_quota: false,
            reconfig: false,
            skip_acl: false,
            super_digest: None,
            container_check_ms: 60_000,
            container_max_per_minute: 10_000,
            container_never_used_ms: None,
        }
    }

    /// The same settings if they can work.
    ///
    /// # Errors
    /// Says which setting cannot be.
    pub fn checked(self) -> Result<Self, SettingsError> {
        if self.tick_ms == 0 {
            return Err(SettingsError::TickZero);
        }
        if self.session_timeout_min_ms <= 0 {
            return Err(SettingsError::SessionTimeoutZero);
        }
        if self.session_timeout_min_ms > self.session_timeout_max_ms {
            return Err(SettingsError::SessionTimeoutOrder {
                min: self.session_timeout_min_ms,
                max: self.session_timeout_max_ms,
            });
        }
        if self.container_check_ms == 0 {
            return Err(SettingsError::ContainerCheckZero);
        }
        Ok(self)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::with_tick(2000)
    }
}

/// Why settings cannot work.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SettingsError {
    /// Looking for containers all the time.
    ContainerCheckZero,
    /// The least is more than the most.
    SessionTimeoutOrder {
        /// The least.
        min: i32,
        /// The most.
        max: i32,
    },
    /// Sessions that are over at once.
    SessionTimeoutZero,
    /// Time that does not pass.
    TickZero,
}

impl core::fmt::Display for SettingsError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::ContainerCheckZero => write!(f, "the container check interval must be positive"),
            Self::SessionTimeoutOrder { min, max } => {
                write!(f, "the least session timeout, {min} ms, is above the greatest, {max} ms")
            }
            Self::SessionTimeoutZero => write!(f, "the least session timeout must be positive"),
            Self::TickZero => write!(f, "the tick must be positive"),
        }
    }
}

impl core::error::Error for SettingsError {}

/// What one server is told when it starts: its name, and the chance it may use.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Boot {
    /// Its `myid`; the highest byte of the ids of sessions that it opens.
    pub me: ServerId,
    /// The steady clock of the host, from which session ids begin, so that a restarted server
    /// does not give out old ones again.
    pub steady: Millis,
    /// Scatters look-up tables, so that nobody outside can make their entries collide. No
    /// behaviour depends on it.
    pub scatter: u64,
}

/// Whether sessions may be known to one server alone. Such a session costs no write, ends with
/// its server or when its client goes to another, and cannot own ephemerals.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum LocalSessions {
    /// No: all servers know each session.
    #[default]
    Off,
    /// New sessions are and stay local.
    On,
    /// New sessions are local until they want an ephemeral.
    Upgrading,
}

/// Who is in the ensemble, and how patient its members are. Equal on all of them.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Ensemble {
    /// Who votes, and what is enough.
    pub quorum: Quorum,
    /// Who follows without a vote.
    pub observers: BTreeSet<ServerId>,
    /// Who is in no configuration yet, and may come to be in one.
    pub spares: BTreeSet<ServerId>,
    /// How long connecting and synchronizing may take. Too short and a large snapshot never gets
    /// across; too long and a dead candidate is waited for.
    pub init_limit: Ticks,
    /// How long a leader or a learner may be silent. Too short and a stutter costs an election;
    /// too long and a dead one is waited for.
    pub sync_limit: Ticks,
    /// The largest counter that a leader proposes before it gives way to a new epoch. Only
    /// tests have a reason to make it smaller.
    pub counter_max: u32,
    /// How many transactions a server keeps at hand for learners that lack some. Fewer, and more
    /// learners need a snapshot.
    pub recent: u32,
    /// A snapshot after so many transactions; never if absent.
    pub snapshot_every: Option<NonZeroU32>,
    /// How many nodes go into a snapshot at once, between two transactions.
    pub snapshot_nodes: NonZeroU32,
    /// How many snapshots are kept.
    pub snapshots_kept: NonZeroU32,
    /// How many bytes of a snapshot are sent to a learner in one message.
    pub snap_part_bytes: NonZeroU32,
    /// Whether a leader tells a server that a session has gone to another, so that it serves it no
    /// longer. ZooKeeper's does not: there the old connection reads on until it writes.
    pub tell_moved: bool,
    /// What a new session is.
    pub local_sessions: LocalSessions,
    /// Whether a server that finds no leader serves reads to clients that are content with that.
    /// They may see what is behind, and what is going to be taken back.
    pub read_only: bool,
    /// Bugs that are to be found; none, for everybody else.
    pub bugs: Bugs,
}

impl Ensemble {
    /// ZooKeeper's defaults for these voters.
    #[must_use]
    pub const fn new(quorum: Quorum) -> Self {
        Self {
            quorum,
            observers: BTreeSet::new(),
            spares: BTreeSet::new(),
            init_limit: Ticks(10),
            sync_limit: Ticks(5),
            counter_max: u32::MAX - 1,
            recent: 500,
            snapshot_every: NonZeroU32::new(100_000),
            snapshot_nodes: NonZeroU32::new(1000).expect("not zero"),
            snapshots_kept: NonZeroU32::new(3).expect("not zero"),
            snap_part_bytes: NonZeroU32::new(64 * 1024).expect("not zero"),
            tell_moved: true,
            local_sessions: LocalSessions::Off,
            read_only: false,
            bugs: Bugs::NONE,
        }
    }

    /// This server by itself. Nobody ever lacks some of its history, and it writes no snapshots
    /// unless told so.
    #[must_use]
    pub fn of_one(me: ServerId) -> Self {
        Self { recent: 0, snapshot_every: None, ..Self::new(Quorum::of_one(me)) }
    }

    /// All servers that there are, in order: members, and those that may become members.
    #[must_use]
    pub fn servers(&self) -> BTreeSet<ServerId> {
        let mut servers = self.members();
        servers.extend(&self.spares);
        servers
    }

    /// All members, in order.
    #[must_use]
    pub fn members(&self) -> BTreeSet<ServerId> {
        let mut members = self.quorum.voters();
        members.extend(&self.observers);
        members
    }
}
