//! What handles want of the task that drives the client.

use tokio::sync::{mpsc, oneshot};
use zoolab_core::Text;
use zoolab_core::client::{Call, Failed, ServerList, SessionState, WatcherId};
use zoolab_core::request::Body;

use crate::watch::Listener;

/// Where the result of a call goes.
pub(crate) type Reply = oneshot::Sender<Result<Body, Failed>>;

/// See the [module](self).
#[derive(Debug)]
pub(crate) enum Command {
    /// Another identity, now and on every later connection.
    AddAuth { scheme: Text, auth: Vec<u8> },
    /// Something to ask, and who listens if that sets a watch.
    Call { call: Call, reply: Reply, listener: Option<(WatcherId, Listener)> },
    /// The session is to end.
    Close { reply: Reply },
    /// Nobody listens to this watch any more.
    Forget(WatcherId),
    /// There are other servers.
    Servers(ServerList),
    /// Somebody wants to hear of the session.
    States(mpsc::UnboundedSender<SessionState>),
}
