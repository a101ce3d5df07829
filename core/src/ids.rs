//! Numbers with a meaning. Going from one to another is a named function.

use core::fmt;
use core::hash::{Hash, Hasher};

/// A transaction's place in the one order of all writes: epoch in the high half, counter in the
/// low half. Compared as ZooKeeper compares them, signed.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Zxid(pub i64);

impl Zxid {
    /// What stands where there is no transaction to name, on the wire.
    pub const NONE: Self = Self(-1);
    /// Before the first transaction.
    pub const ZERO: Self = Self(0);

    /// The first zxid of an epoch: counter zero, which no transaction has.
    #[must_use]
    pub const fn first_of(epoch: Epoch) -> Self {
        Self((epoch.0 as i64) << 32)
    }

    /// The epoch this belongs to.
    #[must_use]
    pub const fn epoch(self) -> Epoch {
        Epoch((self.0 >> 32) as u32)
    }

    /// The place within its epoch.
    #[must_use]
    pub const fn counter(self) -> u32 {
        self.0 as u32
    }

    /// The one after. The caller has to see to it that the counter does not run over.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Zxid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 0 {
            return write!(f, "{}", self.0);
        }
        write!(f, "{}:{}", self.epoch(), self.counter())
    }
}

/// The reign of one leader. An ensemble of one stays in epoch 0: it never needs another.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Epoch(pub u32);

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A member of the ensemble, by its `myid`.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct ServerId(pub u8);

/// As 16 bits, which nothing else inside a server hashes as: so a search can hash a server under
/// other names than its own.
impl Hash for ServerId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u16(u16::from(self.0));
    }
}

impl fmt::Display for ServerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A session, for all servers. Zero is no session.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SessionId(pub i64);

impl SessionId {
    /// No session: what a client without one sends, and who acts when the server itself does.
    pub const NONE: Self = Self(0);
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// One client connection of one server, for ever: numbers are not used again, so that a late
/// input of a closed connection cannot be taken for another's.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ConnId(pub u64);

/// One connection between two servers, for ever: numbers are not used again, so that nothing can
/// arrive from a connection that was closed.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct LinkId(pub u64);

/// As 128 bits, which nothing else inside a server hashes as; see [`ServerId`].
impl Hash for LinkId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u128(u128::from(self.0));
    }
}

/// A client's number for a request; the reply echoes it.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Xid(pub i32);

impl Xid {
    /// Stands before every watch event.
    pub const EVENT: Self = Self(-1);
    /// Every answer to a ping carries it, whatever the ping had.
    pub const PING: Self = Self(-2);
    /// What clients use for auth packets.
    pub const AUTH: Self = Self(-4);
    /// What the C client uses for setWatches.
    pub const SET_WATCHES: Self = Self(-8);
}

/// Names one [`Persist`](crate::Persist) until its completion.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Token(pub u64);

/// Milliseconds of some clock.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Millis(pub i64);

/// Whole ticks, the unit of all waiting.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Ticks(pub u32);

/// The two clocks of a host when an input arrives.
///
/// They are apart because a wall clock may be set back or forth by its owner, and no session may
/// die of that.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Now {
    /// Since 1970; becomes `ctime` and `mtime`, and is compared for TTLs only.
    pub wall: Millis,
    /// Never goes back; says in which tick a session was last heard from.
    pub steady: Millis,
}
