//! Where a client stands.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use tokio::sync::mpsc;
use zoolab_core::Zxid;
use zoolab_core::client::{Client as Machine, Session, SessionState, State};

/// Where a client stands at some moment.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Status {
    /// What it is doing.
    pub state: State,
    /// Its session, to go on with elsewhere; kept also when it is over.
    pub session: Option<Session>,
    /// How long its session may go unheard of, in milliseconds: what the server agreed to or,
    /// before that, what was asked for.
    pub timeout_ms: u32,
    /// The server it is connected to, as it was named.
    pub server: Option<String>,
    /// The newest transaction it has heard of in a reply.
    pub zxid_last: Zxid,
}

impl Status {
    pub(crate) fn of(machine: &Machine) -> Self {
        Self {
            state: machine.state(),
            session: machine.session(),
            timeout_ms: machine.timeout_ms(),
            server: machine.server().map(ToString::to_string),
            zxid_last: machine.zxid_last(),
        }
    }

    /// Becomes the status of the machine. True if more than the newest transaction has changed.
    pub(crate) fn update(&mut self, machine: &Machine) -> bool {
        self.zxid_last = machine.zxid_last();
        // Two servers in a row have none between them, so its name need not be compared.
        let same = self.state == machine.state()
            && self.session == machine.session()
            && self.timeout_ms == machine.timeout_ms()
            && self.server.is_some() == machine.server().is_some();
        if !same {
            *self = Self::of(machine);
        }
        !same
    }
}

/// What becomes of the session, from when this was made on, each change once.
///
/// It ends after [`SessionState::Closed`], [`Expired`](SessionState::Expired) or
/// [`AuthFailed`](SessionState::AuthFailed). What is not taken out waits here.
#[derive(Debug)]
pub struct States(pub(crate) mpsc::UnboundedReceiver<SessionState>);

impl States {
    /// The next change. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<SessionState> {
        self.0.recv().await
    }

    /// The next change, if it is already there.
    pub fn try_next(&mut self) -> Option<SessionState> {
        self.0.try_recv().ok()
    }
}

impl Stream for States {
    type Item = SessionState;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<SessionState>> {
        self.0.poll_recv(cx)
    }
}

/// Whether nothing comes after this.
pub(crate) const fn is_last(state: SessionState) -> bool {
    match state {
        SessionState::AuthFailed | SessionState::Closed | SessionState::Expired => true,
        SessionState::ConnectedReadOnly
        | SessionState::Disconnected
        | SessionState::SyncConnected => false,
    }
}
