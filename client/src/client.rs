//! The handle: everything one can ask.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::{mpsc, oneshot, watch};
use zoolab_core::client::{
    Call as Ask, Change, Chroot, ConnectString, CreateMode, Failed, NewNode, Session, State,
    WatcherId, WatcherKind,
};
use zoolab_core::request::{Body, OpResult, ReadOp};
use zoolab_core::tree::Stat;
use zoolab_core::{Acl, Code, Data, Text};

use crate::builder::Builder;
use crate::call::Call;
use crate::command::Command;
use crate::error::ConnectError;
use crate::status::{States, Status};
use crate::watch::{Events, Kind, Listener, Watch};

/// Any version.
const ANY: i32 = -1;

/// A ZooKeeper client. Clones are handles to the same one, with the same session.
///
/// Paths are below the chroot of the connection string. Where a method takes a version, the node
/// must have that one, and `None` is any. Each method that gives a [`Call`] asks at once, in the
/// order of the calls; see there for what it means to drop one.
#[derive(Clone, Debug)]
pub struct Client {
    commands: mpsc::UnboundedSender<Command>,
    status: watch::Receiver<Status>,
    shared: Arc<Shared>,
}

/// What all handles share.
#[derive(Debug)]
struct Shared {
    chroot: Chroot,
    watchers: AtomicU64,
}

/// What a node holds.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Content {
    /// Its data; none and empty are different.
    pub data: Data,
    /// Everything else.
    pub stat: Stat,
}

impl Content {
    /// Its data, or nothing.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.data.as_deref().unwrap_or_default()
    }
}

/// How much a persistent watch watches.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WatchMode {
    /// A node and its children.
    Persistent,
    /// A node and everything below it, but not the lists of children.
    Recursive,
}

/// Another ensemble: servers that come and go, or all that there shall be.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Reconfig {
    /// Servers to add or change, `server.1=…` with commas between them.
    pub joining: Option<String>,
    /// Ids of servers to remove, with commas between them.
    pub leaving: Option<String>,
    /// All servers, instead.
    pub members: Option<String>,
    /// The version of the configuration that this is about; none is any.
    pub version: Option<i64>,
}

impl Client {
    /// Connects with ZooKeeper's usual settings: `host:port,host:port/chroot`.
    ///
    /// # Errors
    /// If the text is no connection string, or no server takes us within ten seconds.
    pub async fn connect(servers: &str) -> Result<Self, ConnectError> {
        Self::builder(servers).connect().await
    }

    /// Begins to set a client up.
    pub fn builder(servers: &str) -> Builder {
        Builder::new(servers)
    }

    pub(crate) fn new(
        commands: mpsc::UnboundedSender<Command>,
        status: watch::Receiver<Status>,
        chroot: Chroot,
    ) -> Self {
        let shared = Arc::new(Shared { chroot, watchers: AtomicU64::new(0) });
        Self { commands, status, shared }
    }

    /// Where the client stands.
    #[must_use]
    pub fn status(&self) -> Status {
        self.status.borrow().clone()
    }

    /// The session, to go on with elsewhere by [`Builder::resume`]; none before the first
    /// connection.
    #[must_use]
    pub fn session(&self) -> Option<Session> {
        self.status.borrow().session
    }

    /// What becomes of the session from now on.
    #[must_use]
    pub fn states(&self) -> States {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.tell(Command::States(sender));
        States(receiver)
    }

    /// Waits for a connection, or for the client to be over; says which. Dropping the future loses
    /// nothing.
    pub async fn established(&self) -> State {
        let mut status = self.status.clone();
        let is_settled = |status: &Status| match status.state {
            State::AuthFailed
            | State::Closed
            | State::Connected
            | State::ConnectedReadOnly
            | State::Expired => true,
            State::Connecting | State::NotConnected => false,
        };
        // The sender goes with the runtime only.
        status.wait_for(is_settled).await.map_or(State::Closed, |status| status.state)
    }

    /// Another identity, on this connection and all later ones: `digest` and `user:password`.
    /// Calls made before do not have it yet.
    pub fn add_auth(&self, scheme: &str, auth: &[u8]) {
        self.tell(Command::AddAuth { scheme: scheme.into(), auth: auth.to_owned() });
    }

    /// The ensemble has these servers now: `host:port,host:port`. The client may move to another
    /// of them, so that each has as many clients as the others; its session goes with it.
    ///
    /// # Errors
    /// If this is no list of servers, or has another chroot.
    pub fn update_servers(&self, servers: &str) -> Result<(), ConnectError> {
        let ConnectString { servers, chroot } = ConnectString::parse(servers)?;
        if chroot != Chroot::NONE && chroot != self.shared.chroot {
            let ours = self.shared.chroot.clone();
            return Err(ConnectError::Chroot { ours, got: chroot });
        }
        self.tell(Command::Servers(servers));
        Ok(())
    }

    /// Ends the session, its ephemerals with it, and the client: what is asked afterwards fails.
    /// Calls made before are answered first. If the server cannot be told, the session is left to
    /// its timeout.
    pub fn close(&self) -> Call<()> {
        let (reply, result) = oneshot::channel();
        self.tell(Command::Close { reply });
        Call::new(result, |result| result.map(|_| ()))
    }

    /// Makes a node with which everybody may do everything. Gives its path, which has a number at
    /// its end if the mode is a sequential one.
    pub fn create(&self, path: &str, data: &[u8], mode: CreateMode) -> Call<Text> {
        let node = NewNode::open(path, data, mode);
        self.ask(Ask::Create { node, stat: false }, |body| {
            let Body::Created { path, .. } = body else { return None };
            Some(path)
        })
    }

    /// Makes a node, with an ACL of your own. Gives its path and stat.
    pub fn create_node(&self, node: NewNode) -> Call<(Text, Stat)> {
        self.ask(Ask::Create { node, stat: true }, |body| {
            let Body::Created { path, stat } = body else { return None };
            Some((path, stat?))
        })
    }

    /// Removes a node that has no children.
    pub fn delete(&self, path: &str, version: impl Into<Option<i32>>) -> Call<()> {
        let version = version.into().unwrap_or(ANY);
        self.ask(Ask::Delete { path: path.into(), version }, |_| Some(()))
    }

    /// Reads a node.
    pub fn get(&self, path: &str) -> Call<Content> {
        self.ask(Ask::GetData { path: path.into(), watch: None }, content)
    }

    /// Reads a node, and waits for it to be changed or deleted.
    pub fn get_and_watch(&self, path: &str) -> Call<(Content, Watch)> {
        let (id, watch, listener) = self.watch_once(path, Kind::Data);
        let ask = Ask::GetData { path: path.into(), watch: Some(id) };
        self.ask_and_watch(ask, (id, listener), |body| Some((content(body)?, watch)))
    }

    /// Replaces what a node holds.
    pub fn set(&self, path: &str, data: &[u8], version: impl Into<Option<i32>>) -> Call<Stat> {
        let version = version.into().unwrap_or(ANY);
        self.ask(Ask::SetData { path: path.into(), data: Some(data.into()), version }, stat)
    }

    /// Whether there is such a node.
    pub fn exists(&self, path: &str) -> Call<Option<Stat>> {
        let (sender, result) = oneshot::channel();
        let call = Ask::Exists { path: path.into(), watch: None };
        self.tell(Command::Call { call, reply: sender, listener: None });
        Call::new(result, existing)
    }

    /// Whether there is such a node, and waits for it to be created, changed or deleted.
    pub fn exists_and_watch(&self, path: &str) -> Call<(Option<Stat>, Watch)> {
        let (id, watch, listener) = self.watch_once(path, Kind::Data);
        let (sender, result) = oneshot::channel();
        let call = Ask::Exists { path: path.into(), watch: Some(id) };
        self.tell(Command::Call { call, reply: sender, listener: Some((id, listener)) });
        Call::new(result, |result| Ok((existing(result)?, watch)))
    }

    /// The names of a node's children, sorted, and its stat.
    pub fn children(&self, path: &str) -> Call<(Vec<String>, Stat)> {
        self.ask(Ask::GetChildren { path: path.into(), watch: None, stat: true }, children)
    }

    /// The same, and waits for children to come or go, or the node itself to be deleted.
    pub fn children_and_watch(&self, path: &str) -> Call<(Vec<String>, Stat, Watch)> {
        let (id, watch, listener) = self.watch_once(path, Kind::Child);
        let ask = Ask::GetChildren { path: path.into(), watch: Some(id), stat: true };
        self.ask_and_watch(ask, (id, listener), |body| {
            let (names, stat) = children(body)?;
            Some((names, stat, watch))
        })
    }

    /// How many nodes there are below a node.
    pub fn descendants(&self, path: &str) -> Call<i32> {
        self.ask(Ask::GetAllChildrenNumber { path: path.into() }, |body| {
            let Body::Count(count) = body else { return None };
            Some(count)
        })
    }

    /// The ephemerals of this session whose paths begin so. What is asked and what is answered are
    /// the server's paths, chroot or not, as with the Java client.
    pub fn ephemerals(&self, prefix: &str) -> Call<Vec<Text>> {
        self.ask(Ask::GetEphemerals { prefix: prefix.into() }, |body| {
            let Body::Paths(paths) = body else { return None };
            Some(paths)
        })
    }

    /// Who may do what with a node, and its stat.
    pub fn acl(&self, path: &str) -> Call<(Vec<Acl>, Stat)> {
        self.ask(Ask::GetAcl { path: path.into() }, |body| {
            let Body::Acl { acl, stat } = body else { return None };
            Some((acl.lines().to_vec(), stat))
        })
    }

    /// Replaces the ACL of a node. The version is that of the ACL.
    pub fn set_acl(
        &self,
        path: &str,
        acl: Vec<Acl>,
        version: impl Into<Option<i32>>,
    ) -> Call<Stat> {
        let version = version.into().unwrap_or(ANY);
        self.ask(Ask::SetAcl { path: path.into(), acl, version }, stat)
    }

    /// All of these changes or none. That one of them cannot be is no failure of the call: then
    /// each result is an [`OpResult::Error`], and the first that has a code other than
    /// [`Code::RuntimeInconsistency`] says which one it was.
    pub fn multi(&self, changes: Vec<Change>) -> Call<Vec<OpResult>> {
        let shared = Arc::clone(&self.shared);
        self.ask(Ask::Multi(changes), move |body| {
            let Body::Multi(mut results) = body else { return None };
            for result in &mut results {
                if let OpResult::Created { path, .. } = result {
                    *path = shared.chroot.to_client(path);
                }
            }
            Some(results)
        })
    }

    /// All of these from one state. Each has a result, or a code, of its own.
    pub fn multi_read(&self, reads: Vec<ReadOp>) -> Call<Vec<OpResult>> {
        self.ask(Ask::MultiRead(reads), |body| {
            let Body::Multi(results) = body else { return None };
            Some(results)
        })
    }

    /// Has our server catch up: what was complete before is seen by every read after it.
    pub fn sync(&self, path: &str) -> Call<()> {
        self.ask(Ask::Sync { path: path.into() }, |_| Some(()))
    }

    /// Watches until it is dropped.
    pub fn watch(&self, path: &str, mode: WatchMode) -> Call<Events> {
        let kind = match mode {
            WatchMode::Persistent => Kind::Persistent,
            WatchMode::Recursive => Kind::Recursive,
        };
        let id = self.next_watcher();
        let (events, listener) = Events::new(id, path, kind, &self.commands);
        let recursive = kind == Kind::Recursive;
        let ask = Ask::AddWatch { path: path.into(), watcher: id, recursive };
        self.ask_and_watch(ask, (id, listener), |_| Some(events))
    }

    /// Ends all watches of this client of this kind on this path; each of them yields
    /// [`Notice::WatchRemoved`](crate::Notice::WatchRemoved). To end one of them, drop it.
    ///
    /// Servers before 3.9 know no other kinds than the first three.
    pub fn remove_watches(&self, path: &str, kind: WatcherKind) -> Call<()> {
        let ask = Ask::RemoveWatches { path: path.into(), kind, watcher: None, local: false };
        self.ask(ask, |_| Some(()))
    }

    /// Who is in the ensemble: what `/zookeeper/config` holds.
    pub fn config(&self) -> Call<Content> {
        self.ask(Ask::GetConfig { watch: None }, content)
    }

    /// The same, and waits for it to change.
    pub fn config_and_watch(&self) -> Call<(Content, Watch)> {
        let (id, watch, listener) = self.watch_once(zoolab_core::client::CONFIG_NODE, Kind::Data);
        let ask = Ask::GetConfig { watch: Some(id) };
        self.ask_and_watch(ask, (id, listener), |body| Some((content(body)?, watch)))
    }

    /// Changes the ensemble. Gives the new configuration.
    pub fn reconfig(&self, reconfig: Reconfig) -> Call<Content> {
        let Reconfig { joining, leaving, members, version } = reconfig;
        let ask = Ask::Reconfig {
            joining: joining.map(Text::from),
            leaving: leaving.map(Text::from),
            members: members.map(Text::from),
            config_id: version.unwrap_or(-1),
        };
        self.ask(ask, content)
    }

    /// Which identities this connection has, as scheme and user.
    pub fn who_am_i(&self) -> Call<Vec<(Text, Text)>> {
        self.ask(Ask::WhoAmI, |body| {
            let Body::Users(users) = body else { return None };
            Some(users)
        })
    }

    fn tell(&self, command: Command) {
        // Without the task that drives the client, whose runtime is gone, whoever waits for an
        // answer is told when the command is dropped.
        let _ = self.commands.send(command);
    }

    fn ask<T>(&self, call: Ask, read: impl FnOnce(Body) -> Option<T> + Send + 'static) -> Call<T> {
        let (reply, result) = oneshot::channel();
        self.tell(Command::Call { call, reply, listener: None });
        Call::new(result, |result| Ok(fitting(read(result?))))
    }

    fn ask_and_watch<T>(
        &self,
        call: Ask,
        listener: (WatcherId, Listener),
        read: impl FnOnce(Body) -> Option<T> + Send + 'static,
    ) -> Call<T> {
        let (reply, result) = oneshot::channel();
        self.tell(Command::Call { call, reply, listener: Some(listener) });
        Call::new(result, |result| Ok(fitting(read(result?))))
    }

    fn next_watcher(&self) -> WatcherId {
        WatcherId(self.shared.watchers.fetch_add(1, Ordering::Relaxed))
    }

    fn watch_once(&self, path: &str, kind: Kind) -> (WatcherId, Watch, Listener) {
        let id = self.next_watcher();
        let (watch, listener) = Watch::new(id, path, kind, &self.commands);
        (id, watch, listener)
    }
}

/// The machine ends a connection rather than take an answer of another shape than was asked for.
fn fitting<T>(answer: Option<T>) -> T {
    answer.expect("answers are of the shape that was asked for")
}

fn content(body: Body) -> Option<Content> {
    let Body::Data { data, stat } = body else { return None };
    Some(Content { data, stat })
}

fn stat(body: Body) -> Option<Stat> {
    let Body::Stat(stat) = body else { return None };
    Some(stat)
}

fn children(body: Body) -> Option<(Vec<String>, Stat)> {
    let Body::Children { names, stat } = body else { return None };
    Some((names.into_iter().map(String::from).collect(), stat?))
}

fn existing(result: Result<Body, Failed>) -> Result<Option<Stat>, Failed> {
    match result {
        Ok(body) => Ok(Some(fitting(stat(body)))),
        Err(Failed::Code(Code::NoNode)) => Ok(None),
        Err(failed) => Err(failed),
    }
}
