//! Why a call did not do what was asked.

use core::fmt;

use crate::code::Code;

/// How a call failed.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Failed {
    /// A code that servers give. The client itself gives [`Code::BadArguments`] and
    /// [`Code::InvalidAcl`] to what it does not even send, [`Code::NoWatcher`] for a watch that it
    /// does not have, and [`Code::SessionExpired`] or [`Code::AuthFailed`] once it is over.
    Code(Code),
    /// The connection is gone. If the call was sent, nobody knows whether it was performed.
    ConnectionLoss,
    /// No answer came within the time that the configuration allows; the connection was given up.
    RequestTimeout,
    /// The server's code has no name here.
    Unknown(i32),
}

impl Failed {
    /// ZooKeeper's number for it.
    #[must_use]
    pub const fn number(self) -> i32 {
        match self {
            Self::Code(code) => code.number(),
            Self::ConnectionLoss => -4,
            Self::RequestTimeout => -122,
            Self::Unknown(number) => number,
        }
    }
}

impl From<Code> for Failed {
    fn from(code: Code) -> Self {
        Self::Code(code)
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "{code}"),
            Self::ConnectionLoss | Self::RequestTimeout => {
                write!(f, "{self:?} ({})", self.number())
            }
            Self::Unknown(number) => write!(f, "unknown code ({number})"),
        }
    }
}

impl core::error::Error for Failed {}
