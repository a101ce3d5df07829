//! Error codes as clients see them, with their numbers.

use core::fmt;

/// Why a request was refused.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[repr(i32)]
pub enum Code {
    /// A later operation of a multi that failed before it; it was not looked at.
    RuntimeInconsistency = -2,
    /// The body could not be read, or made no sense at all.
    MarshallingError = -5,
    /// No such operation here.
    Unimplemented = -6,
    /// A path, flag or TTL that is not allowed.
    BadArguments = -8,
    /// The session is unknown.
    UnknownSession = -12,
    /// A new configuration has no connected quorum.
    NewConfigNoQuorum = -13,
    /// The previous reconfiguration is still under way.
    ReconfigInProgress = -14,
    /// The node, or its parent, does not exist.
    NoNode = -101,
    /// The ACL does not let this client.
    NoAuth = -102,
    /// The version is not the one expected.
    BadVersion = -103,
    /// Ephemerals have no children.
    NoChildrenForEphemerals = -108,
    /// The node exists already.
    NodeExists = -110,
    /// The node has children.
    NotEmpty = -111,
    /// The session is over, or closing.
    SessionExpired = -112,
    /// The ACL itself is not acceptable.
    InvalidAcl = -114,
    /// Authentication failed; the connection closes.
    AuthFailed = -115,
    /// The session is served elsewhere; clients see a closed connection instead.
    SessionMoved = -118,
    /// A read-only server does not write.
    NotReadOnly = -119,
    /// A local session that may not be upgraded wants an ephemeral.
    EphemeralOnLocalSession = -120,
    /// No such watch.
    NoWatcher = -121,
    /// Reconfiguration is switched off.
    ReconfigDisabled = -123,
    /// An authentication scheme is enforced and missing.
    SessionClosedRequireSaslAuth = -124,
    /// A hard quota would be exceeded.
    QuotaExceeded = -125,
    /// The request waited longer than allowed.
    ThrottledOp = -127,
}

impl Code {
    /// All codes a server puts out.
    pub const ALL: [Self; 24] = [
        Self::RuntimeInconsistency,
        Self::MarshallingError,
        Self::Unimplemented,
        Self::BadArguments,
        Self::UnknownSession,
        Self::NewConfigNoQuorum,
        Self::ReconfigInProgress,
        Self::NoNode,
        Self::NoAuth,
        Self::BadVersion,
        Self::NoChildrenForEphemerals,
        Self::NodeExists,
        Self::NotEmpty,
        Self::SessionExpired,
        Self::InvalidAcl,
        Self::AuthFailed,
        Self::SessionMoved,
        Self::NotReadOnly,
        Self::EphemeralOnLocalSession,
        Self::NoWatcher,
        Self::ReconfigDisabled,
        Self::SessionClosedRequireSaslAuth,
        Self::QuotaExceeded,
        Self::ThrottledOp,
    ];

    /// The number on the wire.
    #[must_use]
    pub const fn number(self) -> i32 {
        self as i32
    }

    /// The code with this number, if it is one a server puts out.
    #[must_use]
    pub fn from_number(number: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.number() == number)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?} ({})", self.number())
    }
}
