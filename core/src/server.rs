//! One member of the ensemble. Routes an input to whoever knows what to do with it.
//!
//! ```text
//!   Accepted -> Connect -> (CreateSession committed | session resumed) -> Request* -> closed
//! ```
//!
//! So far an ensemble has one member, which leads it from the start.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::net::IpAddr;

use crate::Text;
use crate::acl::Id;
use crate::auth;
use crate::code::Code;
use crate::config::{Boot, Settings};
use crate::ids::{ConnId, Now, SessionId, Ticks, Token, Xid, Zxid};
use crate::io::{Input, Output, Timer};
use crate::lookup::Lookup;
use crate::pipeline::Overlay;
use crate::pipeline::prepare::{Asker, Prepare};
use crate::pipeline::read::Read;
use crate::request::{
    Body, ConnectRequest, ConnectResponse, CreateOp, OpResult, Reply, Request, Stamp, opcode,
};
use crate::session::{Sessions, Waiting, password};
use crate::tree::{Done, Owner, Tree, Trigger};
use crate::txn::{Change, NodeChange, SubChange, Txn};
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

    fn on_connect(
        &mut self,
        now: Now,
        conn: ConnId,
        request: ConnectRequest,
        out: &mut Vec<Output>,
    ) {
        let ConnectRequest { last_zxid_seen, timeout_ms, session, password: shown, read_only } =
            request;
        let Some(connection) = self.conns.get_mut(&conn) else { return };
        // A client that has seen more than we have would be sent back in time. A second first
        // frame is no first frame.
        if last_zxid_seen > self.zxid_last || connection.state != ConnState::Accepted {
            self.close(conn, out);
            return;
        }
        let Settings { session_timeout_min_ms: min, session_timeout_max_ms: max, .. } =
            *self.settings;
        let timeout_ms = timeout_ms.clamp(min, max);
        if session == SessionId::NONE {
            connection.state = ConnState::Opening { read_only, early: Vec::new() };
            self.open_session(now, conn, timeout_ms, out);
            return;
        }
        // As in ZooKeeper, whoever names the session ends its other connection, even if the
        // password turns out to be wrong.
        if let Some(other) = self.sessions.live(session).and_then(|live| live.conn) {
            self.close(other, out);
        }
        let known = shown.as_deref() == Some(&password(session)[..])
            && self.sessions.resume(now, session, timeout_ms, conn, out);
        if !known {
            let response = ConnectResponse::expired(read_only.map(|_| false));
            out.push(Output::Connected { conn, response });
            self.close(conn, out);
            return;
        }
        self.serve(now, conn, session, read_only, Vec::new(), out);
    }

    fn open_session(&mut self, now: Now, conn: ConnId, timeout_ms: i32, out: &mut Vec<Output>) {
        let session = self.sessions.fresh_id();
        self.sessions.track(now, session, timeout_ms, out);
        if let Some(live) = self.sessions.live_mut(session) {
            live.conn = Some(conn);
        }
        let change = Change::CreateSession { timeout_ms };
        self.propose(now, session, Some((conn, Xid::default())), Ok(change), out);
    }

    /// A session is served on this connection from now on.
    fn serve(
        &mut self,
        now: Now,
        conn: ConnId,
        session: SessionId,
        read_only: Option<bool>,
        early: Vec<(Xid, Request)>,
        out: &mut Vec<Output>,
    ) {
        let Some(connection) = self.conns.get_mut(&conn) else { return };
        connection.state = ConnState::Open(session);
        let timeout_ms = self.sessions.live(session).map_or(0, |live| live.timeout_ms);
        let response = ConnectResponse {
            timeout_ms,
            session,
            password: password(session),
            read_only: read_only.map(|_| false),
        };
        out.push(Output::Connected { conn, response });
        for (xid, request) in early {
            self.on_request(now, conn, xid, request, out);
        }
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
        } else if is_write(&request) {
            self.write(now, session, (conn, xid), &request, &who, out);
        } else {
            let live = self.sessions.live_mut(session).expect("touched just now");
            if live.waiting.is_empty() {
                self.read(conn, session, xid, &request, &who, out);
            } else {
                live.waiting.push_back(Waiting::Read { conn, xid, request, who });
            }
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

    /// Decides a write and proposes what was decided, also if it was to refuse.
    fn write(
        &mut self,
        now: Now,
        session: SessionId,
        asked: (ConnId, Xid),
        request: &Request,
        who: &[Id],
        out: &mut Vec<Output>,
    ) {
        let asker = Asker { session, who, open: self.sessions.is_open(session) };
        let stamp = Stamp { zxid: self.leader.next_zxid(), time: now.wall };
        let mut prepare = Prepare::new(&self.tree, &mut self.overlay, &self.settings, stamp);
        let decided = match request {
            Request::CloseSession => {
                self.sessions.mark_closing(session);
                Ok(prepare.close_session(session))
            }
            Request::Create(wish) => prepare.create(asker, wish).map(Change::Node),
            Request::Delete { path, version } => {
                prepare.delete(asker, path, *version).map(Change::Node)
            }
            Request::Multi(ops) => Ok(prepare.multi(asker, ops)),
            // An ensemble of one has nothing to reconfigure.
            Request::Reconfig { .. } if self.settings.reconfig => Err(Code::Unimplemented),
            Request::Reconfig { .. } => Err(Code::ReconfigDisabled),
            Request::SetAcl { path, acl, version } => {
                prepare.set_acl(asker, path, acl.as_deref(), *version).map(Change::Node)
            }
            Request::SetData { path, data, version } => {
                prepare.set_data(asker, path, data, *version).map(Change::Node)
            }
            Request::Unreadable { .. } => Err(Code::MarshallingError),
            Request::AddWatch { .. }
            | Request::Auth { .. }
            | Request::CheckWatches { .. }
            | Request::Exists { .. }
            | Request::GetAcl { .. }
            | Request::GetAllChildrenNumber { .. }
            | Request::GetChildren { .. }
            | Request::GetData { .. }
            | Request::GetEphemerals { .. }
            | Request::MultiRead(_)
            | Request::MultiReadOfWrites
            | Request::Ping
            | Request::RemoveWatches { .. }
            | Request::Sasl
            | Request::SetWatches(_)
            | Request::Sync { .. }
            | Request::Unknown { .. }
            | Request::WhoAmI => unreachable!("not a write"),
        };
        self.propose(now, session, Some(asked), decided, out);
    }

    /// Gives what was decided its place in the order of all writes.
    fn propose(
        &mut self,
        now: Now,
        session: SessionId,
        asked: Option<(ConnId, Xid)>,
        decided: Result<Change, Code>,
        out: &mut Vec<Output>,
    ) {
        let zxid = self.leader.next_zxid();
        let (change, digest) = match decided {
            Ok(change) => (change, Some(self.overlay.digest())),
            Err(code) => (Change::Error(code), None),
        };
        let mut cxid = Xid::default();
        if let Some((conn, xid)) = asked {
            cxid = xid;
            self.asked.push_back(Asked { zxid, conn, xid });
            if let Some(live) = self.sessions.live_mut(session) {
                live.waiting.push_back(Waiting::Write(zxid));
            }
        }
        let stamp = Stamp { zxid, time: now.wall };
        self.leader.propose(Txn { stamp, session, cxid, change, digest }, out);
    }

    fn on_persisted(&mut self, now: Now, token: Token, out: &mut Vec<Output>) {
        self.leader.persisted(token, out);
        while let Some(txn) = self.leader.commit() {
            self.commit(now, &txn, out);
        }
    }

    /// Applies a transaction: events first, then the answer, then what waited for it.
    fn commit(&mut self, now: Now, txn: &Txn, out: &mut Vec<Output>) {
        assert_eq!(txn.stamp.zxid, self.zxid_last.next(), "commits leave no gap");
        self.zxid_last = txn.stamp.zxid;
        let result = self.apply(txn, out);
        self.overlay.applied(txn.stamp.zxid);
        if let Some(digest) = txn.digest {
            assert_eq!(self.tree.digest(), digest, "{} is not as was decided", txn.stamp.zxid);
        }
        let asked = self.asked.pop_front_if(|asked| asked.zxid == txn.stamp.zxid);
        match &txn.change {
            Change::CreateSession { timeout_ms } => {
                self.sessions.opened(txn.session, *timeout_ms);
                self.written(txn.session, txn.stamp.zxid);
                if let Some(asked) = asked {
                    self.session_opened(now, asked.conn, txn.session, out);
                }
                self.read_on(txn.session, out);
            }
            Change::CloseSession { .. } => {
                if let Some(Asked { conn, xid, zxid }) = asked {
                    self.reply(conn, Reply { xid, zxid, err: None, body: Body::None }, out);
                }
                let live = self.sessions.closed(txn.session);
                if let Some(conn) = live.and_then(|live| live.conn) {
                    self.close(conn, out);
                }
            }
            Change::Error(_) | Change::Multi(_) | Change::Node(_) => {
                self.written(txn.session, txn.stamp.zxid);
                if let Some(Asked { conn, xid, zxid }) = asked {
                    let (err, body) = match result {
                        Ok(body) => (None, body),
                        Err(code) => (Some(code), Body::None),
                    };
                    self.reply(conn, Reply { xid, zxid, err, body }, out);
                }
                self.read_on(txn.session, out);
            }
        }
    }

    fn session_opened(
        &mut self,
        now: Now,
        conn: ConnId,
        session: SessionId,
        out: &mut Vec<Output>,
    ) {
        let Some(connection) = self.conns.get_mut(&conn) else {
            // The client went away before it was answered. It may be back on another connection
            // already; if not, the session waits for its end.
            if let Some(live) = self.sessions.live_mut(session) {
                live.conn.take_if(|serving| *serving == conn);
            }
            return;
        };
        let state = core::mem::replace(&mut connection.state, ConnState::Accepted);
        let ConnState::Opening { read_only, early } = state else {
            panic!("{conn:?} was answered twice");
        };
        self.serve(now, conn, session, read_only, early, out);
    }

    fn apply(&mut self, txn: &Txn, out: &mut Vec<Output>) -> Result<Body, Code> {
        match &txn.change {
            Change::CreateSession { .. } => Ok(Body::None),
            Change::CloseSession { paths } => {
                for path in paths {
                    let change = NodeChange::Delete { path: path.clone(), container: false };
                    self.apply_one(txn, &change, out);
                }
                Ok(Body::None)
            }
            Change::Error(code) => Err(*code),
            Change::Multi(changes) => Ok(Body::Multi(self.apply_multi(txn, changes, out))),
            Change::Node(change) => {
                let done = self.apply_one(txn, change, out);
                Ok(body(change, done))
            }
        }
    }

    fn apply_multi(
        &mut self,
        txn: &Txn,
        changes: &[SubChange],
        out: &mut Vec<Output>,
    ) -> Vec<OpResult> {
        let failed = changes.iter().any(|change| matches!(change, SubChange::Error(_)));
        let mut results = Vec::with_capacity(changes.len());
        for change in changes {
            results.push(match change {
                SubChange::Error(code) => OpResult::Error(Some(*code)),
                SubChange::Node(_) if failed => OpResult::Error(None),
                SubChange::Node(change) => {
                    let done = self.apply_one(txn, change, out);
                    op_result(change, done)
                }
            });
        }
        results
    }

    fn apply_one(&mut self, txn: &Txn, change: &NodeChange, out: &mut Vec<Output>) -> Done {
        let mut triggers: Vec<Trigger> = Vec::new();
        let done = self.tree.apply(txn.stamp, txn.session, change, &mut triggers);
        let (conns, skip_acl) = (&self.conns, self.settings.skip_acl);
        let may = |conn: ConnId, acl: &crate::acl::AclList| {
            let connection = conns.get(&conn).expect("watches belong to living connections");
            skip_acl || acl.lets(crate::acl::perms::READ, &connection.who)
        };
        for trigger in &triggers {
            self.watches.fire(trigger, txn.stamp.zxid, &may, out);
        }
        done
    }

    /// A session's write has been applied: it no longer holds up what came after it.
    fn written(&mut self, session: SessionId, zxid: Zxid) {
        if let Some(live) = self.sessions.live_mut(session)
            && live.waiting.front() == Some(&Waiting::Write(zxid))
        {
            live.waiting.pop_front();
        }
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
        let skip_acl = self.settings.skip_acl;
        let (tree, watches) = (&self.tree, &mut self.watches);
        let mut read = Read { tree, watches, conn, session, who, skip_acl };
        let mut xid = xid;
        let result = match request {
            Request::AddWatch { path, mode } => read.add_watch(path, *mode),
            Request::CheckWatches { path, kind } => read.check_watches(path, *kind),
            Request::Exists { path, watch } => read.exists(path, *watch),
            Request::GetAcl { path } => read.get_acl(path),
            Request::GetAllChildrenNumber { path } => read.get_all_children_number(path),
            Request::GetChildren { path, watch, stat } => read.get_children(path, *watch, *stat),
            Request::GetData { path, watch } => read.get_data(path, *watch),
            Request::GetEphemerals { prefix } => Ok(read.get_ephemerals(prefix.as_deref())),
            Request::MultiRead(ops) => Ok(read.multi_read(ops)),
            Request::MultiReadOfWrites => {
                let (zxid, err) = (self.zxid_last, Some(Code::MarshallingError));
                let body = Body::Multi(Vec::new());
                return self.reply(conn, Reply { xid, zxid, err, body }, out);
            }
            Request::Ping => {
                xid = Xid::PING;
                Ok(Body::None)
            }
            Request::RemoveWatches { path, kind } => read.remove_watches(path, *kind),
            Request::SetWatches(lists) => Ok(read.set_watches(lists, out)),
            Request::Sync { path } => Ok(Body::Synced(path.clone())),
            Request::Unreadable { .. } => Err(Code::MarshallingError),
            Request::WhoAmI => Ok(read.who_am_i()),
            Request::Auth { .. }
            | Request::CloseSession
            | Request::Create(_)
            | Request::Delete { .. }
            | Request::Multi(_)
            | Request::Reconfig { .. }
            | Request::Sasl
            | Request::SetAcl { .. }
            | Request::SetData { .. }
            | Request::Unknown { .. } => unreachable!("not a read"),
        };
        let (err, body) = match result {
            Ok(body) => (None, body),
            Err(code) => (Some(code), Body::None),
        };
        self.reply(conn, Reply { xid, zxid: self.zxid_last, err, body }, out);
    }

    fn on_sessions(&mut self, now: Now, out: &mut Vec<Output>) {
        for session in self.sessions.expired() {
            if self.sessions.is_open(session) {
                self.sessions.mark_closing(session);
                let stamp = Stamp { zxid: self.leader.next_zxid(), time: now.wall };
                let change = Prepare::new(&self.tree, &mut self.overlay, &self.settings, stamp)
                    .close_session(session);
                self.propose(now, session, None, Ok(change), out);
            }
        }
        self.sessions.arm(now, out);
    }

    fn on_containers(&mut self, now: Now, out: &mut Vec<Output>) {
        let Settings { container_max_per_minute, container_check_ms, .. } = *self.settings;
        let most = u64::from(container_max_per_minute) * u64::from(container_check_ms) / 60_000;
        let done: Vec<Text> = self
            .tree
            .containers()
            .chain(self.tree.ttls())
            .filter(|path| self.has_had_its_time(now, path))
            .take(usize::try_from(most.max(1)).unwrap_or(usize::MAX))
            .cloned()
            .collect();
        for path in done {
            let stamp = Stamp { zxid: self.leader.next_zxid(), time: now.wall };
            let decided = Prepare::new(&self.tree, &mut self.overlay, &self.settings, stamp)
                .delete_container(&path);
            // Whoever came to life meanwhile stays.
            if let Ok(change) = decided {
                self.propose(now, SessionId::NONE, None, Ok(Change::Node(change)), out);
            }
        }
        self.arm_containers(out);
    }

    fn has_had_its_time(&self, now: Now, path: &str) -> bool {
        let Some(node) = self.tree.get(path) else { return false };
        let stat = node.stat();
        let idle_ms = now.wall.0.saturating_sub(stat.mtime.0);
        let over = match self.tree.owner(stat) {
            Owner::Container if stat.cversion > 0 => true,
            Owner::Container => {
                let never_used_ms = self.settings.container_never_used_ms;
                never_used_ms.is_some_and(|limit| idle_ms > i64::from(limit))
            }
            Owner::Ttl(ttl_ms) => idle_ms > ttl_ms,
            Owner::Nobody | Owner::Session(_) => false,
        };
        over && node.children_len() == 0
    }

    fn arm_containers(&self, out: &mut Vec<Output>) {
        let Settings { container_check_ms, tick_ms, .. } = *self.settings;
        let ticks = Ticks(container_check_ms.div_ceil(tick_ms).max(1));
        out.push(Output::Arm { timer: Timer::Containers, ticks });
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

/// Whether a request takes a place in the order of all writes.
const fn is_write(request: &Request) -> bool {
    match request {
        Request::CloseSession
        | Request::Create(_)
        | Request::Delete { .. }
        | Request::Multi(_)
        | Request::Reconfig { .. }
        | Request::SetAcl { .. }
        | Request::SetData { .. } => true,
        // A write that cannot be decoded takes no place, except a multi, whose place is taken
        // before it is looked at.
        Request::Unreadable { opcode, whole } => {
            *opcode == opcode::MULTI || *whole && is_write_opcode(*opcode)
        }
        Request::AddWatch { .. }
        | Request::Auth { .. }
        | Request::CheckWatches { .. }
        | Request::Exists { .. }
        | Request::GetAcl { .. }
        | Request::GetAllChildrenNumber { .. }
        | Request::GetChildren { .. }
        | Request::GetData { .. }
        | Request::GetEphemerals { .. }
        | Request::MultiRead(_)
        | Request::MultiReadOfWrites
        | Request::Ping
        | Request::RemoveWatches { .. }
        | Request::Sasl
        | Request::SetWatches(_)
        | Request::Sync { .. }
        | Request::Unknown { .. }
        | Request::WhoAmI => false,
    }
}

const fn is_write_opcode(number: i32) -> bool {
    matches!(
        number,
        opcode::CREATE
            | opcode::CREATE2
            | opcode::CREATE_CONTAINER
            | opcode::CREATE_TTL
            | opcode::DELETE
            | opcode::SET_ACL
            | opcode::SET_DATA
            | opcode::RECONFIG
    )
}

/// What a single write is answered with.
fn body(change: &NodeChange, done: Done) -> Body {
    match op_result(change, done) {
        OpResult::Created { path, stat } => Body::Created { path, stat },
        OpResult::Set(stat) => Body::Stat(stat),
        OpResult::Check
        | OpResult::Children(_)
        | OpResult::Data { .. }
        | OpResult::Deleted
        | OpResult::Error(_) => Body::None,
    }
}

fn op_result(change: &NodeChange, done: Done) -> OpResult {
    match (change, done) {
        (NodeChange::Create { op, path, .. }, Done::Created(stat)) => {
            let stat = (*op != CreateOp::Create).then_some(stat);
            OpResult::Created { path: path.clone(), stat }
        }
        (_, Done::Checked) => OpResult::Check,
        (_, Done::Deleted) => OpResult::Deleted,
        (_, Done::Set(stat)) => OpResult::Set(stat),
        (_, Done::Before | Done::Created(_)) => {
            unreachable!("what this server decided has not been applied before")
        }
    }
}
