//! One member of the ensemble. Routes an input to whoever knows what to do with it.
//!
//! ```text
//!   Accepted -> Connect -> (CreateSession committed | session resumed) -> Request* -> closed
//! ```
//!
//! So far an ensemble has one member, which leads it from the start.

mod commit;
mod handshake;
mod upkeep;

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::net::IpAddr;

use crate::Text;
use crate::acl::Id;
use crate::auth;
use crate::code::Code;
use crate::config::{Boot, Settings};
use crate::ids::{ConnId, Now, SessionId, Xid, Zxid};
use crate::io::{Input, Output, Timer};
use crate::lookup::Lookup;
use crate::pipeline::prepare::{Asker, Prepare};
use crate::pipeline::read::Read;
use crate::pipeline::{Overlay, ahead};
use crate::request::{Body, Reply, Request, Stamp};
use crate::session::{Sessions, Waiting};
use crate::tree::Tree;
use crate::watch::Watches;
use crate::zab::Leader;

/// A client's connection.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Connection {
    address: IpAddr,
    /// Identities; they grow with auth packets and end with the connection.
    who: Arc<[Id]>,
    state: ConnState,
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
enum ConnState {
    /// Nothing said yet.
    Accepted,
    /// The session is on its way to disk. What the client says meanwhile waits here.
    Opening { read_only: Option<bool>, early: Vec<(Xid, Request)> },
    /// Serving this session.
    Open(SessionId),
}

/// A proposal that a client here waits for. Proposals of the server itself have none.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Asked {
    zxid: Zxid,
    conn: ConnId,
    xid: Xid,
}

/// One server, as a value.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Server {
    settings: Arc<Settings>,
    tree: Tree,
    overlay: Overlay,
    sessions: Sessions,
    watches: Watches,
    leader: Leader,
    conns: Lookup<ConnId, Connection>,
    /// In order of their zxids.
    asked: VecDeque<Asked>,
    /// Newest transaction applied.
    zxid_last: Zxid,
    /// A write failed: nothing is said any more.
    halted: bool,
}

impl Server {
    /// A server with nothing on disk, ready to serve.
    #[must_use]
    pub fn recover(settings: Settings, boot: Boot, out: &mut Vec<Output>) -> Self {
        let tree = Tree::new(settings.extended_types, boot.scatter);
        let server = Self {
            overlay: Overlay::new(&tree, boot.scatter),
            sessions: Sessions::new(&settings, &boot),
            watches: Watches::new(boot.scatter),
            leader: Leader::of_one(boot.me),
            conns: Lookup::new(boot.scatter),
            asked: VecDeque::new(),
            zxid_last: Zxid::ZERO,
            halted: false,
            settings: Arc::new(settings),
            tree,
        };
        server.arm_containers(out);
        server
    }

    /// Takes one input to its end. Afterwards nothing is half said.
    pub fn step(&mut self, now: Now, input: Input, out: &mut Vec<Output>) {
        if self.halted {
            return;
        }
        match input {
            Input::Accepted { conn, address } => {
                let who = Arc::new([auth::ip_id(address)]);
                let fresh = Connection { address, who, state: ConnState::Accepted };
                assert!(self.conns.insert(conn, fresh).is_none(), "{conn:?} is in use");
            }
            Input::Connect { conn, request } => self.on_connect(now, conn, request, out),
            Input::Disconnected { conn } => self.forget(conn),
            Input::Persisted(token) => self.on_persisted(now, token, out),
            Input::PersistFailed(token) => {
                self.halted = true;
                out.push(Output::Halt { token });
            }
            Input::Request { conn, xid, request } => self.on_request(now, conn, xid, request, out),
            Input::Timeout(Timer::Containers) => self.on_containers(now, out),
            Input::Timeout(Timer::Sessions) => self.on_sessions(now, out),
        }
    }

    /// Brings what these requests will need into the processor's cache. A host that has several
    /// at hand may call it before it steps through them; with a large tree they take half the
    /// time then. Nothing changes, and nothing depends on it.
    pub fn look_ahead<'a>(&self, requests: impl IntoIterator<Item = &'a Request>) {
        /// Smaller trees are in the cache as they are.
        const NODES_MIN: usize = 5_000;
        if self.tree.len() < NODES_MIN {
            return;
        }
        let mut paths = Vec::new();
        for request in requests {
            ahead::nodes(request, &mut paths);
        }
        self.tree.look_ahead(&paths);
    }

    fn on_request(
        &mut self,
        now: Now,
        conn: ConnId,
        xid: Xid,
        request: Request,
        out: &mut Vec<Output>,
    ) {
        let Some(connection) = self.conns.get_mut(&conn) else { return };
        let session = match &mut connection.state {
            ConnState::Accepted => return self.close(conn, out),
            ConnState::Opening { early, .. } => return early.push((xid, request)),
            ConnState::Open(session) => *session,
        };
        let who = connection.who.clone();
        if let Request::Auth { scheme, auth } = &request {
            return self.on_auth(conn, xid, scheme.as_ref(), auth.as_deref(), out);
        }
        if request == Request::Sasl {
            return self.refuse(conn, xid, Body::Token, out);
        }
        // Nothing is taken from a session whose end has been decided, and nobody is told.
        if !self.sessions.touch(now, session) {
            return;
        }
        if let Request::Unknown { .. } = request {
            let err = Some(Code::Unimplemented);
            self.reply(conn, Reply { xid, zxid: Zxid::NONE, err, body: Body::None }, out);
            self.close(conn, out);
            return;
        }
        let asker = Asker { session, who: &who, open: self.sessions.is_open(session) };
        let stamp = Stamp { zxid: self.leader.next_zxid(), time: now.wall };
        let mut prepare = Prepare::new(&self.tree, &mut self.overlay, &self.settings, stamp);
        if let Some(decided) = prepare.decide(asker, &request) {
            if request == Request::CloseSession {
                self.sessions.mark_closing(session);
            }
            self.propose(now, session, Some((conn, xid)), decided, out);
            return;
        }
        let live = self.sessions.live_mut(session).expect("touched just now");
        if live.waiting.is_empty() {
            self.read(conn, session, xid, &request, &who, out);
        } else {
            live.waiting.push_back(Waiting::Read { conn, xid, request, who });
        }
    }

    /// Identities hold from here on, also for requests that are already waiting behind others:
    /// they were taken with the identities of their time.
    fn on_auth(
        &mut self,
        conn: ConnId,
        xid: Xid,
        scheme: Option<&Text>,
        auth: Option<&[u8]>,
        out: &mut Vec<Output>,
    ) {
        let Some(connection) = self.conns.get_mut(&conn) else { return };
        let super_digest = self.settings.super_digest.as_deref();
        let address = connection.address;
        let scheme = scheme.map_or("", |scheme| scheme);
        let Some((id, above)) = auth::authenticate(scheme, auth, address, super_digest) else {
            return self.refuse(conn, xid, Body::None, out);
        };
        let mut who = connection.who.to_vec();
        for id in above.into_iter().chain([id]) {
            if !who.contains(&id) {
                who.push(id);
            }
        }
        connection.who = who.into();
        self.reply(conn, Reply { xid, zxid: Zxid::ZERO, err: None, body: Body::None }, out);
    }

    /// Authentication failed: the connection ends, the session lives on.
    fn refuse(&mut self, conn: ConnId, xid: Xid, body: Body, out: &mut Vec<Output>) {
        let err = Some(Code::AuthFailed);
        self.reply(conn, Reply { xid, zxid: Zxid::ZERO, err, body }, out);
        self.close(conn, out);
    }
    /// Answers a session's reads up to its next write that is not applied.
    fn read_on(&mut self, session: SessionId, out: &mut Vec<Output>) {
        while let Some(live) = self.sessions.live_mut(session)
            && let Some(Waiting::Read { .. }) = live.waiting.front()
            && let Some(Waiting::Read { conn, xid, request, who }) = live.waiting.pop_front()
        {
            self.read(conn, session, xid, &request, &who, out);
        }
    }

    fn read(
        &mut self,
        conn: ConnId,
        session: SessionId,
        xid: Xid,
        request: &Request,
        who: &[Id],
        out: &mut Vec<Output>,
    ) {
        // The client may have gone while this waited; its watches would have no home.
        if !self.conns.contains(&conn) {
            return;
        }
        let (tree, watches, skip_acl) = (&self.tree, &mut self.watches, self.settings.skip_acl);
        let mut read = Read { tree, watches, conn, session, who, skip_acl };
        let (err, body) = match read.answer(request, out) {
            // The one answer with both an error and a body.
            Ok(body) if matches!(request, Request::MultiReadBroken(_)) => {
                (Some(Code::MarshallingError), body)
            }
            Ok(body) => (None, body),
            Err(code) => (Some(code), Body::None),
        };
        let xid = if *request == Request::Ping { Xid::PING } else { xid };
        self.reply(conn, Reply { xid, zxid: self.zxid_last, err, body }, out);
    }

    fn reply(&self, conn: ConnId, reply: Reply, out: &mut Vec<Output>) {
        if self.conns.contains(&conn) {
            out.push(Output::Reply { conn, reply });
        }
    }

    /// Ends a connection from this side.
    fn close(&mut self, conn: ConnId, out: &mut Vec<Output>) {
        if self.conns.contains(&conn) {
            self.forget(conn);
            out.push(Output::Close { conn });
        }
    }

    fn forget(&mut self, conn: ConnId) {
        let Some(connection) = self.conns.remove(&conn) else { return };
        self.watches.drop_conn(conn);
        if let ConnState::Open(session) = connection.state
            && let Some(live) = self.sessions.live_mut(session)
        {
            live.conn.take_if(|serving| *serving == conn);
        }
    }

    /// Newest transaction applied.
    #[must_use]
    pub const fn zxid_last(&self) -> Zxid {
        self.zxid_last
    }

    /// The znodes.
    #[must_use]
    pub const fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The sessions.
    #[must_use]
    pub const fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// The watches.
    #[must_use]
    pub const fn watches(&self) -> &Watches {
        &self.watches
    }

    /// The rules.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Which session a connection serves.
    #[must_use]
    pub fn session_of(&self, conn: ConnId) -> Option<SessionId> {
        match self.conns.get(&conn)?.state {
            ConnState::Accepted | ConnState::Opening { .. } => None,
            ConnState::Open(session) => Some(session),
        }
    }

    /// All ephemerals, by session.
    #[must_use]
    pub fn ephemerals(&self) -> Vec<(SessionId, Vec<Text>)> {
        let list = |(session, paths): (_, &alloc::collections::BTreeSet<Text>)| {
            (session, paths.iter().cloned().collect())
        };
        self.tree.ephemerals().map(list).collect()
    }

    /// How many proposals are not yet committed.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        self.leader.outstanding()
    }

    /// Checks everything that must always be so. Goes through everything: for tests and
    /// simulations of small trees.
    ///
    /// # Panics
    /// If it is not.
    pub fn assert_invariants(&self) {
        self.tree.assert_invariants();
        self.overlay.assert_invariants(&self.tree);
        self.sessions.assert_invariants();
        self.watches.assert_invariants();
        for (session, _) in self.tree.ephemerals() {
            assert!(self.sessions.live(session).is_some(), "{session} left ephemerals behind");
        }
        for (conn, _) in self.watches.by_conn() {
            assert!(self.conns.contains(&conn), "{conn:?} left watches behind");
        }
        for (conn, connection) in self.conns.sorted() {
            if let ConnState::Open(session) = connection.state {
                let serving = self.sessions.live(session).and_then(|live| live.conn);
                assert_eq!(serving, Some(*conn), "{session} is served in two places");
            }
        }
    }
}
