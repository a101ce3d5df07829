//! Why there is no client.

use std::fmt;
use std::time::Duration;

use zoolab_core::client::{AddressError, Chroot, ConfigError, State};

/// Why a client could not be had, or not be sent elsewhere.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ConnectError {
    /// The text is no connection string.
    Address(AddressError),
    /// A list of servers came with another chroot than the client has.
    Chroot {
        /// The client's.
        ours: Chroot,
        /// The one in the list.
        got: Chroot,
    },
    /// The session timeout cannot be.
    Config(ConfigError),
    /// The session that was to go on is over, or the credentials are wrong.
    Over(State),
    /// No server has taken us in this time.
    Timeout(Duration),
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(error) => write!(f, "{error}"),
            Self::Chroot { ours, got } => {
                write!(f, "servers with chroot {got}, expected none or {ours}")
            }
            Self::Config(error) => write!(f, "{error}"),
            Self::Over(state) => match state {
                State::AuthFailed => write!(f, "the server did not take the credentials"),
                State::Expired => write!(f, "the session is over"),
                State::Closed
                | State::Connected
                | State::ConnectedReadOnly
                | State::Connecting
                | State::NotConnected => write!(f, "the client is {state:?}"),
            },
            Self::Timeout(time) => write!(f, "no server took us within {time:?}"),
        }
    }
}

impl std::error::Error for ConnectError {}

impl From<AddressError> for ConnectError {
    fn from(error: AddressError) -> Self {
        Self::Address(error)
    }
}

impl From<ConfigError> for ConnectError {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}
