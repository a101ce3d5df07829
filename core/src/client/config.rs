//! How a client is set up.

use core::fmt;
use core::num::NonZeroU32;

use super::address::ConnectString;
use super::io::WatcherId;
use crate::ids::SessionId;

/// What a client is told when it begins.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Config {
    /// Whom to connect to, and what to take for the root.
    pub connect: ConnectString,
    /// How long a session may go unheard of, as the client would like it; the server decides. Too
    /// short and a stutter costs the session; too long and the ephemerals of the dead linger.
    /// Invariant: positive.
    pub(super) timeout_ms: u32,
    /// Whether to make do with a server that cannot write while none can be found that can.
    pub read_only: bool,
    /// A session to go on with.
    pub session: Option<Session>,
    /// Who hears of the session even if it watches nothing.
    pub default_watcher: Option<WatcherId>,
    /// Whether to watch again on a new connection what was watched on the last one. Otherwise
    /// watches that go when they fire go with the connection as well, and persistent ones hear of
    /// the session only.
    pub rewatch: bool,
    /// How long a call may wait for its answer; without end if absent. One that waits longer ends
    /// the connection.
    pub request_timeout_ms: Option<NonZeroU32>,
}

impl Config {
    /// ZooKeeper's defaults.
    ///
    /// # Errors
    /// If the timeout is not positive.
    pub fn new(connect: ConnectString, timeout_ms: i32) -> Result<Self, ConfigError> {
        let timeout_ms = u32::try_from(timeout_ms)
            .ok()
            .filter(|timeout_ms| *timeout_ms > 0)
            .ok_or(ConfigError::Timeout { ms: timeout_ms })?;
        Ok(Self {
            connect,
            timeout_ms,
            read_only: false,
            session: None,
            default_watcher: None,
            rewatch: true,
            request_timeout_ms: None,
        })
    }

    /// How long a session may go unheard of, as the client would like it.
    #[must_use]
    pub const fn timeout_ms(&self) -> u32 {
        self.timeout_ms
    }
}

/// A session, and what proves that it is the client's own.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Session {
    /// Which one.
    pub id: SessionId,
    /// The proof.
    pub password: [u8; 16],
}

/// Why a configuration cannot be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ConfigError {
    /// A session that would be over at once.
    Timeout {
        /// What was asked for.
        ms: i32,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout { ms } => write!(f, "session timeout {ms} ms, expected a positive one"),
        }
    }
}

impl core::error::Error for ConfigError {}
