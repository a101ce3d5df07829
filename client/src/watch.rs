//! Watches: who listens, and what they are told.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use tokio::sync::mpsc;
use zoolab_core::Text;
use zoolab_core::client::{Call, Notice, SessionState, WatcherId, WatcherKind};

use crate::command::Command;
use crate::status::is_last;

/// What nobody listens to any more is forgotten.
#[derive(Debug)]
struct Ear {
    id: WatcherId,
    notices: mpsc::UnboundedReceiver<Notice>,
    commands: mpsc::UnboundedSender<Command>,
}

impl Drop for Ear {
    fn drop(&mut self) {
        // The task may be gone with its runtime, and all watches with it.
        let _ = self.commands.send(Command::Forget(self.id));
    }
}

/// A watch that is over when it fires: a future for its one event.
///
/// It goes with the session from server to server, and fires also if the change came while there
/// was no connection, unless all is again as it was. What it yields is
///
/// * [`Notice::Node`]: what happened,
/// * [`Notice::Session`] with the reason, if the session ended first,
/// * [`Notice::WatchRemoved`], if somebody [removed](crate::Client::remove_watches) it.
///
/// Dropping it gives the watch up.
#[derive(Debug)]
#[must_use = "dropping a watch gives it up"]
pub struct Watch(Ear);

impl Watch {
    /// What happened, if it is already there. Then there is nothing more to wait for.
    pub fn try_now(&mut self) -> Option<Notice> {
        self.0.notices.try_recv().ok()
    }
}

impl Future for Watch {
    type Output = Notice;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Notice> {
        // Without a notice the channel closes only when the client's task is gone.
        let closed = Notice::Session(SessionState::Closed);
        self.0.notices.poll_recv(cx).map(|notice| notice.unwrap_or(closed))
    }
}

/// A watch that stays: a stream of all that happens.
///
/// Also of what becomes of the session: after [`SessionState::Disconnected`] and until
/// [`SessionState::SyncConnected`] the server does not watch for us, and what happens meanwhile is
/// not told later. Whoever must not miss anything reads again then.
///
/// The stream ends with the session, or when somebody [removed](crate::Client::remove_watches) the
/// watch; its last notice says which. Dropping it gives the watch up. What is not taken out waits
/// here, however much it is.
#[derive(Debug)]
#[must_use = "dropping a watch gives it up"]
pub struct Events(Ear);

impl Events {
    /// The next notice. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Notice> {
        self.0.notices.recv().await
    }

    /// The next notice, if it is already there.
    pub fn try_next(&mut self) -> Option<Notice> {
        self.0.notices.try_recv().ok()
    }
}

impl Stream for Events {
    type Item = Notice;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Notice>> {
        self.0.notices.poll_recv(cx)
    }
}

/// What is listened to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    /// Children, once.
    Child,
    /// Data, and coming and going, once.
    Data,
    /// All of that, until further notice.
    Persistent,
    /// That, and everything below.
    Recursive,
}

impl Kind {
    const fn is_once(self) -> bool {
        match self {
            Self::Child | Self::Data => true,
            Self::Persistent | Self::Recursive => false,
        }
    }

    const fn number(self) -> WatcherKind {
        match self {
            Self::Child => WatcherKind::Child,
            Self::Data => WatcherKind::Data,
            Self::Persistent => WatcherKind::Persistent,
            Self::Recursive => WatcherKind::Recursive,
        }
    }
}

/// The driver's end of a watch.
#[derive(Debug)]
pub(crate) struct Listener {
    path: Text,
    kind: Kind,
    notices: mpsc::UnboundedSender<Notice>,
}

/// Both ends of a watch to be.
fn pair(
    id: WatcherId,
    path: &str,
    kind: Kind,
    commands: &mpsc::UnboundedSender<Command>,
) -> (Ear, Listener) {
    let (sender, notices) = mpsc::unbounded_channel();
    let ear = Ear { id, notices, commands: commands.clone() };
    (ear, Listener { path: path.into(), kind, notices: sender })
}

impl Watch {
    pub(crate) fn new(
        id: WatcherId,
        path: &str,
        kind: Kind,
        commands: &mpsc::UnboundedSender<Command>,
    ) -> (Self, Listener) {
        let (ear, listener) = pair(id, path, kind, commands);
        (Self(ear), listener)
    }
}

impl Events {
    pub(crate) fn new(
        id: WatcherId,
        path: &str,
        kind: Kind,
        commands: &mpsc::UnboundedSender<Command>,
    ) -> (Self, Listener) {
        let (ear, listener) = pair(id, path, kind, commands);
        (Self(ear), listener)
    }
}

/// Who listens.
#[derive(Debug, Default)]
pub(crate) struct Listeners(BTreeMap<WatcherId, Listener>);

impl Listeners {
    pub(crate) fn add(&mut self, id: WatcherId, listener: Listener) {
        self.0.insert(id, listener);
    }

    /// Its call has failed, and nothing is watched.
    pub(crate) fn remove(&mut self, id: WatcherId) {
        self.0.remove(&id);
    }

    /// Tells one of them, who is done with it if nothing can come after.
    pub(crate) fn tell(&mut self, id: WatcherId, notice: &Notice) {
        let Some(listener) = self.0.get(&id) else { return };
        let is_once = listener.kind.is_once();
        let last = match notice {
            Notice::Node { .. } => is_once,
            Notice::Session(state) => is_last(*state),
            Notice::WatchRemoved { .. } => true,
        };
        // A watch for one event goes on over what happens to the connection.
        if last || !is_once {
            // Whoever dropped the other end has said so, and that comes later.
            let _ = listener.notices.send(notice.clone());
        }
        if last {
            self.0.remove(&id);
        }
    }

    /// Nobody listens there any more: what to ask for so that nothing is left of it. Nothing, if
    /// it was over.
    pub(crate) fn forget(&mut self, id: WatcherId) -> Option<Call> {
        let Listener { path, kind, .. } = self.0.remove(&id)?;
        let shared = self.0.values().any(|other| other.kind == kind && other.path == path);
        // For one watcher a server is only asked, and goes on sending events: once, or for others.
        let watcher = (kind.is_once() || shared).then_some(id);
        Some(Call::RemoveWatches { path, kind: kind.number(), watcher, local: true })
    }
}
