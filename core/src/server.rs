//! One member of the ensemble. Routes an input to whoever knows what to do with it.
//!
//! ```text
//!   Accepted -> Connect -> (CreateSession committed | session resumed) -> Request* -> closed
//!
//!   Draining -> Looking -+-> Leading ------------+-> Draining …
//!                        +-> Joining -> Following +
//! ```
//!
//! Clients are served while it leads in broadcast, or follows. Leaving either ends all their
//! connections.

mod commit;
mod drain;
mod forward;
mod handshake;
mod lead;
mod learn;
mod local;
mod look;
mod readonly;
mod reconfig;
mod snapshot;
mod upkeep;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::net::IpAddr;

use crate::Text;
use crate::acl::Id;
use crate::auth;
use crate::code::Code;
use crate::config::{Boot, Ensemble, LocalSessions, Settings};
use crate::election::{Ballot, Election, Notification};
use crate::ids::{ConnId, Epoch, Now, ServerId, SessionId, Token, Xid, Zxid};
use crate::io::{Input, Output, Timer};
use crate::lookup::{Lookup, Scatter};
use crate::members::Members;
use crate::pipeline::prepare::{Asker, ChangeWish, Prepare, is_write, wants_ephemeral};
use crate::pipeline::read::Read;
use crate::pipeline::{Overlay, ahead};
use crate::quorum::Joint;
use crate::request::{Body, Reply, Request, Stamp};
use crate::session::{Origin, Scope, Sessions, Waiting};
use crate::storage::Saved;
use crate::storage::snapshot::SnapshotWriter;
use crate::tree::Tree;
use crate::txn::Txn;
use crate::watch::Watches;
use crate::zab::follower::Follower;
use crate::zab::joining::Joining;
use crate::zab::journal::Journal;
use crate::zab::leader::Leader;
use crate::zab::leading::{Leading, Phase};
use crate::zab::recent::Recent;

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
    /// The session is on its way to disk, or the leader is being asked about it. What the client
    /// says meanwhile waits here.
    Opening { read_only: Option<bool>, timeout_ms: i32, early: Vec<(Xid, Request)> },
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

/// What a server is doing. Each variant owns exactly the state that makes sense while it lasts.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
enum Role {
    /// It has left what it was doing and waits for its disk, so that it votes for what it has.
    Draining,
    /// Learns without a vote of its own in what is proposed, or with one.
    Following(Follower),
    /// Gets what its leader has.
    Joining(Box<Joining>),
    /// Leads, or is about to.
    Leading(Box<Leading>),
    /// Looks for a leader.
    Looking(Box<Election>),
}

/// One server, as a value.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Server {
    settings: Arc<Settings>,
    ensemble: Arc<Ensemble>,
    /// Who is in the ensemble.
    members: Arc<Members>,
    /// Who will be, if what is proposed comes to be. Invariant: part of the history.
    next: Option<Arc<Members>>,
    /// Whose word is enough. Invariant: what the members in force and the next come to.
    joint: Joint,
    /// Who leads by a change of members, so that nobody has to be elected.
    heir: Option<ServerId>,
    me: ServerId,
    /// Whether it is an ensemble by itself, which never needs an election.
    alone: bool,
    tree: Tree,
    overlay: Overlay,
    sessions: Sessions,
    watches: Watches,
    conns: Lookup<ConnId, Connection>,
    /// In order of their zxids.
    asked: VecDeque<Asked>,
    /// Newest transaction applied.
    zxid_last: Zxid,
    role: Role,
    journal: Journal,
    /// In the log and not applied: leaving a role does not wait for commits.
    unapplied: VecDeque<Arc<Txn>>,
    recent: Recent,
    /// The newest epoch this server has promised itself to, on disk.
    accepted: Epoch,
    /// The newest epoch whose history this server has, on disk.
    current: Epoch,
    /// The newest election round it took part in.
    round: u64,
    /// Whether it serves reads while it looks for a leader.
    read_only: bool,
    /// What it tells those who look for a leader, once it has found one.
    vote: Option<Notification>,
    /// Its disk was lost; until it has been given everything again it must not vote.
    data_missing: bool,
    /// Its log could not be cut where a leader wanted it; only a snapshot helps.
    needs_snapshot: bool,
    /// What is in memory is not what is on disk any more.
    stale: Stale,
    /// A snapshot in the making.
    snapshot: Option<SnapshotWriter>,
    /// Transactions applied since the last snapshot was begun.
    since_snapshot: u32,
    /// A write failed: nothing is said any more.
    halted: bool,
    scatter: Scatter,
}

/// Whether memory can be relied on.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Stale {
    /// It is what the disk has, or is about to have.
    No,
    /// It is not, and the disk has to be read.
    Yes,
    /// The disk is being read.
    Reading,
}

impl Server {
    /// A server with nothing on disk that is an ensemble by itself, ready to serve. It writes no
    /// snapshots.
    #[must_use]
    pub fn recover(settings: Settings, boot: Boot, out: &mut Vec<Output>) -> Self {
        let saved = Saved::blank(&settings, boot.scatter);
        Self::alone(Arc::new(Ensemble::of_one(boot.me)), Arc::new(settings), boot, saved, out)
    }

    /// A server that is an ensemble by itself, as its disk has it, ready to serve. The sessions
    /// that its disk has get their full time once more.
    ///
    /// # Panics
    /// If there is anybody else in the ensemble.
    #[must_use]
    pub fn alone(
        ensemble: Arc<Ensemble>,
        settings: Arc<Settings>,
        boot: Boot,
        saved: Saved,
        out: &mut Vec<Output>,
    ) -> Self {
        assert!(ensemble.members().iter().eq([&boot.me]), "an ensemble of one is only this server");
        // What was logged since the last snapshot counts, or a server that never lives long would
        // never write one.
        let since_snapshot = u32::try_from(saved.log.len()).unwrap_or(u32::MAX);
        // Whoever else was in a larger ensemble is not asked.
        let saved = Saved { members: None, ..saved };
        let mut server = Self::new(ensemble, settings, boot, saved);
        server.alone = true;
        server.since_snapshot = since_snapshot;
        // A disk that comes from a larger ensemble may have an epoch in which nothing happened.
        let begun = Zxid::first_of(server.current);
        let leader = Leader::after(server.zxid_last.max(begun), &server.joint.now);
        server.role = Role::Leading(Box::new(Leading::in_phase(Phase::Broadcast(leader))));
        let now = Now { wall: boot.steady, steady: boot.steady };
        server.sessions.watch_over_all(now, out);
        server.arm_containers(out);
        server
    }

    /// A member of an ensemble, as its disk has it. It looks for a leader, or for followers.
    #[must_use]
    pub fn member(
        ensemble: Arc<Ensemble>,
        settings: Arc<Settings>,
        boot: Boot,
        saved: Saved,
        out: &mut Vec<Output>,
    ) -> Self {
        let mut server = Self::new(ensemble, settings, boot, saved);
        server.drain(out);
        server
    }

    fn new(ensemble: Arc<Ensemble>, settings: Arc<Settings>, boot: Boot, saved: Saved) -> Self {
        let first = || Arc::new(Members::first(&ensemble.quorum, &ensemble.observers));
        let members = saved.members.clone().unwrap_or_else(first);
        let joint = Joint { now: Arc::clone(members.quorum()), next: None };
        let mut server = Self {
            overlay: Overlay::new(&saved.tree, boot.scatter),
            sessions: Sessions::new(&settings, &boot),
            watches: Watches::new(boot.scatter),
            conns: Lookup::new(boot.scatter),
            asked: VecDeque::new(),
            zxid_last: saved.zxid_last,
            me: boot.me,
            members,
            next: None,
            joint,
            heir: None,
            alone: false,
            tree: Tree::new(settings.extended_types, boot.scatter),
            role: Role::Draining,
            journal: Journal::at(saved.zxid_last),
            unapplied: VecDeque::new(),
            recent: Recent::after(saved.zxid_snapshot, ensemble.recent),
            accepted: saved.accepted_epoch,
            current: saved.current_epoch,
            round: 0,
            read_only: false,
            vote: None,
            data_missing: saved.is_blank,
            needs_snapshot: false,
            stale: Stale::No,
            snapshot: None,
            since_snapshot: 0,
            halted: false,
            scatter: Scatter(boot.scatter),
            settings,
            ensemble,
        };
        server.restore(saved);
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
                if !self.is_serving() && !self.read_only {
                    self.close(conn, out);
                }
            }
            Input::Connect { conn, request } => self.on_connect(now, conn, request, out),
            Input::Disconnected { conn } => self.forget(conn),
            Input::Elected(decision) => self.on_elected(decision, out),
            Input::Linked { link, peer, dialled } => self.on_linked(link, peer, dialled, out),
            Input::Message { link, message } => self.on_message(now, link, message, out),
            Input::Own(request) => self.on_own(now, &request, out),
            Input::Persisted(token) => self.on_persisted(now, token, out),
            Input::PersistFailed(token) => self.on_persist_failed(token, out),
            Input::Reloaded(saved) => self.on_reloaded(now, *saved, out),
            Input::Request { conn, xid, request } => self.on_request(now, conn, xid, request, out),
            Input::Timeout(timer) => self.on_timeout(now, timer, out),
            Input::Told { from, notification, members } => {
                self.on_told(from, notification, members, out);
            }
            Input::Unlinked { link, peer } => self.on_unlinked(link, peer, out),
        }
    }

    fn on_timeout(&mut self, now: Now, timer: Timer, out: &mut Vec<Output>) {
        match timer {
            Timer::Containers => self.on_containers(now, out),
            Timer::Establish => self.on_establish(out),
            Timer::HalfTick => self.on_half_tick(out),
            Timer::ReadOnly => self.on_read_only(),
            Timer::Redial => self.on_redial(out),
            Timer::Resend => self.on_resend(out),
            Timer::Sessions => self.on_sessions(now, out),
            Timer::Settle => self.on_settle(out),
            Timer::Silent => self.on_silent(out),
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
        if self.read_only && self.refuse_write(conn, session, xid, &request, out) {
            return;
        }
        if self.sessions.is_local(session) {
            if request == Request::CloseSession {
                return self.close_local(conn, session, xid, request, who, out);
            }
            if wants_ephemeral(&request) && self.ensemble.local_sessions == LocalSessions::Upgrading
            {
                self.upgrade(now, conn, session, out);
                // The epoch may have had no number for it.
                if self.sessions.live(session).is_none() {
                    return;
                }
            }
        }
        if matches!(self.role, Role::Following(_)) && self.forward(conn, xid, &request, &who, out) {
            return;
        }
        if is_write(&request) {
            let live = self.sessions.live_mut(session).expect("touched just now");
            live.origin = Some(Origin::Here);
            let local = live.scope == Scope::Local;
            self.decide(now, session, local, xid, Some(conn), &request, &who, out);
            return;
        }
        let live = self.sessions.live_mut(session).expect("touched just now");
        if live.waiting.is_empty() {
            self.read(conn, session, xid, &request, &who, out);
        } else {
            live.waiting.push_back(Waiting::Read { conn, xid, request, who });
        }
    }

    /// The host's own write, if this server leads.
    fn on_own(&mut self, now: Now, request: &Request, out: &mut Vec<Output>) {
        if self.is_leading() && is_write(request) {
            let mighty = [Self::host_id()];
            let who = if ChangeWish::of(request).is_some() { &mighty[..] } else { &[] };
            self.decide(now, SessionId::NONE, false, Xid::default(), None, request, who, out);
        }
    }

    /// Decides a write and proposes what comes of it. `conn` waits for the answer, if it is one
    /// of this server's.
    #[expect(clippy::too_many_arguments, reason = "a request is what it is, who asks and where")]
    fn decide(
        &mut self,
        now: Now,
        session: SessionId,
        local: bool,
        xid: Xid,
        conn: Option<ConnId>,
        request: &Request,
        who: &[Id],
        out: &mut Vec<Output>,
    ) {
        let Some(zxid) = self.next_zxid(out) else { return };
        let known = self.sessions.live(session);
        // Whoever is local to a learner is not known here.
        let open = known.map_or(local || session == SessionId::NONE, |live| !live.closing);
        let local = known.map_or(local, |live| live.scope == Scope::Local);
        let asker = Asker { session, who, open, local };
        let stamp = Stamp { zxid, time: now.wall };
        if let Some(wish) = ChangeWish::of(request) {
            return self.decide_change(stamp, asker, (xid, conn), wish, out);
        }
        let mut prepare = Prepare::new(&self.tree, &mut self.overlay, &self.settings, stamp);
        let decided = prepare.decide(asker, request).expect("only writes come here");
        if *request == Request::CloseSession {
            self.sessions.mark_closing(session);
        }
        self.propose(stamp, session, xid, conn, decided, out);
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
        if *request == Request::CloseSession {
            return self.end_local(session, Some((conn, xid)), out);
        }
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
        self.leader().map_or(0, Leader::outstanding)
    }

    /// Whether clients are served.
    #[must_use]
    pub fn is_serving(&self) -> bool {
        match &self.role {
            Role::Following(_) => true,
            Role::Leading(leading) => leading.leader().is_some(),
            Role::Draining | Role::Joining(_) | Role::Looking(_) => false,
        }
    }

    /// Whether it has no leader, and serves clients that only read.
    #[must_use]
    pub const fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Whether it leads and serves.
    #[must_use]
    pub fn is_leading(&self) -> bool {
        self.leader().is_some()
    }

    /// Whether it looks for a leader.
    #[must_use]
    pub const fn is_looking(&self) -> bool {
        matches!(self.role, Role::Looking(_))
    }

    /// Whether it leads, or is about to, and has too few learners for that: it will give up.
    #[must_use]
    pub fn is_short(&self) -> bool {
        let Role::Leading(leading) = &self.role else { return false };
        let there = |server| {
            server == self.me || leading.learners.iter().any(|learner| learner.server == server)
        };
        !self.joint.is_enough_if(there)
    }

    /// The epoch it leads, or is about to, if that is fixed.
    #[must_use]
    pub fn leads_epoch(&self) -> Option<Epoch> {
        match &self.role {
            Role::Leading(leading) => leading.epoch(),
            Role::Draining | Role::Following(_) | Role::Joining(_) | Role::Looking(_) => None,
        }
    }

    /// What speaks for it in an election; none if it may not vote.
    #[must_use]
    pub fn ballot(&self) -> Option<Ballot> {
        let votes = self.joint.has_voter(self.me) && !self.data_missing;
        votes.then_some(Ballot { epoch: self.current, zxid: self.zxid_last, leader: self.me })
    }

    /// The election round it is in, or was last in.
    #[must_use]
    pub const fn round(&self) -> u64 {
        self.round
    }

    /// The newest name it gave to something its disk is at.
    #[must_use]
    pub const fn token_last(&self) -> Token {
        self.journal.token_last()
    }

    /// Looks for a leader as if for the first time. For searches without elections, in which
    /// nobody can tell how often it has looked before.
    pub fn forget_rounds(&mut self) {
        if self.is_looking() {
            self.round = 0;
            self.elect(&mut Vec::new());
        }
    }

    /// Gives what its disk is at other names. For searches, in which two servers that differ in
    /// nothing else shall be the same; the disk's queue has to be renamed alike.
    pub fn rename_tokens(&mut self, name: &dyn Fn(Token) -> Token, last: Token) {
        self.journal.rename(name, last);
    }

    /// The epochs on its disk: promised, and had.
    #[must_use]
    pub const fn epochs(&self) -> (Epoch, Epoch) {
        (self.accepted, self.current)
    }

    /// What it is doing, in one word.
    #[must_use]
    pub fn doing(&self) -> &'static str {
        match &self.role {
            _ if self.halted => "halted",
            Role::Draining => "draining",
            Role::Following(follower) if follower.observer() => "observing",
            Role::Following(_) => "following",
            Role::Joining(_) => "joining",
            Role::Leading(leading) => match leading.phase {
                Phase::Broadcast(_) => "leading",
                Phase::Discovery(_) => "discovering",
                Phase::Establishing(_) => "establishing",
            },
            Role::Looking(_) => "looking",
        }
    }

    /// Whom it follows, or is about to; itself if it leads.
    #[must_use]
    pub fn following(&self) -> Option<ServerId> {
        match &self.role {
            Role::Following(follower) => Some(follower.leader),
            Role::Joining(joining) => Some(joining.leader),
            Role::Leading(_) => Some(self.me),
            Role::Draining | Role::Looking(_) => None,
        }
    }

    fn leader(&self) -> Option<&Leader> {
        match &self.role {
            Role::Leading(leading) => leading.leader(),
            Role::Draining | Role::Following(_) | Role::Joining(_) | Role::Looking(_) => None,
        }
    }

    fn leading_mut(&mut self) -> Option<&mut Leading> {
        match &mut self.role {
            Role::Leading(leading) => Some(leading),
            Role::Draining | Role::Following(_) | Role::Joining(_) | Role::Looking(_) => None,
        }
    }

    /// Checks everything that must always be so. Goes through everything: for tests and
    /// simulations of small trees.
    ///
    /// # Panics
    /// If it is not.
    pub fn assert_invariants(&self) {
        self.tree.assert_invariants();
        if self.is_leading() {
            self.overlay.assert_invariants(&self.tree);
        }
        self.sessions.assert_invariants();
        self.watches.assert_invariants();
        for (session, _) in self.tree.ephemerals() {
            let known = self.sessions.table().contains_key(&session);
            assert!(known, "{session} left ephemerals behind");
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
