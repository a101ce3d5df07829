//! How a client is set up.

use std::time::Duration;

use zoolab_core::client::{Config, ConnectString, Session, State};

use crate::client::Client;
use crate::driver::Driver;
use crate::error::ConnectError;
use crate::luck::Luck;

/// How long a session may go unheard of, unless told otherwise.
const SESSION_TIMEOUT: Duration = Duration::from_secs(10);

/// The longest frame taken from a server. A list of a million children fits.
const FRAME_MAX: usize = 64 << 20;

/// How a client is set up; begun by [`Client::builder`].
#[derive(Clone, Debug)]
#[must_use = "nothing is connected to"]
pub struct Builder {
    connect: String,
    session_timeout: Duration,
    within: Option<Duration>,
    read_only: bool,
    session: Option<Session>,
    request_timeout: Option<Duration>,
    auths: Vec<(String, Vec<u8>)>,
    frame_max: usize,
}

impl Builder {
    pub(crate) fn new(connect: &str) -> Self {
        Self {
            connect: connect.to_owned(),
            session_timeout: SESSION_TIMEOUT,
            within: None,
            read_only: false,
            session: None,
            request_timeout: None,
            auths: Vec::new(),
            frame_max: FRAME_MAX,
        }
    }

    /// How long the session may go unheard of, as we would like it; 10 s by default. The server
    /// decides. Too short and a stutter costs the session; too long and the ephemerals of the
    /// dead linger.
    pub const fn session_timeout(mut self, timeout: Duration) -> Self {
        self.session_timeout = timeout;
        self
    }

    /// How long [`connect`](Self::connect) looks for a server; the session timeout by default.
    pub const fn connect_within(mut self, time: Duration) -> Self {
        self.within = Some(time);
        self
    }

    /// Make do with a server that can only read, while none is found that can write.
    pub const fn read_only(mut self) -> Self {
        self.read_only = true;
        self
    }

    /// Go on with this session, for which somebody else has no more use.
    pub const fn resume(mut self, session: Session) -> Self {
        self.session = Some(session);
        self
    }

    /// How long a call may wait for its answer; without end by default. One that waits longer
    /// fails with [`Failed::RequestTimeout`](crate::Failed::RequestTimeout), and the connection is
    /// given up with it.
    pub const fn request_timeout(mut self, timeout: Duration) -> Self {
        self.request_timeout = Some(timeout);
        self
    }

    /// An identity to have from the beginning, on every connection: `digest` and `user:password`.
    pub fn auth(mut self, scheme: &str, auth: &[u8]) -> Self {
        self.auths.push((scheme.to_owned(), auth.to_owned()));
        self
    }

    /// The longest frame taken from a server, 64 MiB by default: it bounds how many children a
    /// node can be seen to have. A longer one ends the connection.
    pub const fn frame_max(mut self, bytes: usize) -> Self {
        self.frame_max = bytes;
        self
    }

    /// A client that looks for a server in the background. What is asked of it before it has found
    /// one waits.
    ///
    /// # Errors
    /// If the connection string or the timeout cannot be.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn start(self) -> Result<Client, ConnectError> {
        let connect = ConnectString::parse(&self.connect)?;
        let chroot = connect.chroot.clone();
        let mut luck = Luck::new();
        let chance = luck.chance(connect.servers.draws());
        let timeout_ms = i32::try_from(self.session_timeout.as_millis()).unwrap_or(i32::MAX);
        let mut config = Config::new(connect, timeout_ms)?;
        config.read_only = self.read_only;
        config.session = self.session;
        config.request_timeout_ms = self.request_timeout.and_then(|timeout| {
            let ms = u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX);
            // No time at all would mean none allowed, not any.
            std::num::NonZeroU32::new(ms.max(1))
        });
        let (driver, commands, status) = Driver::new(config, chance, luck, self.frame_max);
        let client = Client::new(commands, status, chroot);
        for (scheme, auth) in &self.auths {
            client.add_auth(scheme, auth);
        }
        tokio::spawn(driver.run());
        Ok(client)
    }

    /// A client that is connected.
    ///
    /// # Errors
    /// If the connection string or the timeout cannot be, no server takes us in time, or one says
    /// that the session to go on with is over.
    pub async fn connect(self) -> Result<Client, ConnectError> {
        let within = self.within.unwrap_or(self.session_timeout);
        let client = self.start()?;
        match tokio::time::timeout(within, client.established()).await {
            Ok(State::Connected | State::ConnectedReadOnly) => Ok(client),
            Ok(
                state @ (State::AuthFailed
                | State::Closed
                | State::Connecting
                | State::Expired
                | State::NotConnected),
            ) => Err(ConnectError::Over(state)),
            Err(_) => Err(ConnectError::Timeout(within)),
        }
    }
}
