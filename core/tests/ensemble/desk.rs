//! Servers, the connections between them, their disks and their clients, by hand.
//!
//! What servers send each other waits until the desk settles, or longer, if somebody holds it.
//! Disks are done at once. Who leads is not elected but said.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::sync::Arc;

use zoolab_core::acl::AclWish;
use zoolab_core::election::{Ballot, Decision};
use zoolab_core::quorum::Quorum;
use zoolab_core::request::{Body, ConnectRequest, ConnectResponse, Create, CreateOp};
use zoolab_core::session::password;
use zoolab_core::storage::Saved;
use zoolab_core::zab::Message;
use zoolab_core::{
    Boot, Branch, ConnId, Ensemble, Epoch, Input, LinkId, Millis, Note, Now, Output, Reply,
    Request, Server, ServerId, SessionId, Settings, Timer, Token, Txn, Xid, Zxid,
};

pub(crate) const ONE: ServerId = ServerId(1);
pub(crate) const TWO: ServerId = ServerId(2);
pub(crate) const THREE: ServerId = ServerId(3);
/// It has no vote.
pub(crate) const FOUR: ServerId = ServerId(4);

pub(crate) const TICK_MS: i64 = 2000;

/// See the [module](self).
pub(crate) struct Desk {
    ensemble: Arc<Ensemble>,
    settings: Arc<Settings>,
    servers: BTreeMap<ServerId, Server>,
    now: Now,
    timers: BTreeMap<(ServerId, Timer), i64>,
    disks: BTreeMap<ServerId, VecDeque<Token>>,
    /// Both ends of each connection between servers.
    links: BTreeMap<LinkId, (ServerId, ServerId)>,
    /// What is on its way from one server to another.
    ways: BTreeMap<(ServerId, ServerId), VecDeque<(LinkId, Message)>>,
    held: BTreeSet<(ServerId, ServerId)>,
    /// At which server, and what was said on it and not looked at.
    conns: BTreeMap<ConnId, (ServerId, Vec<String>)>,
    welcomes: BTreeMap<ConnId, ConnectResponse>,
    round: u64,
    next: u64,
    /// What each server has applied, in order.
    applied: BTreeMap<ServerId, Vec<Arc<Txn>>>,
    pub(crate) reached: Vec<Branch>,
}

impl Desk {
    /// Servers 1, 2 and 3 vote, 4 does not; 1 leads.
    pub(crate) fn new() -> Self {
        Self::with(|_| {}, |_| {})
    }

    /// The same, under other rules.
    pub(crate) fn with(
        ensemble: impl FnOnce(&mut Ensemble),
        settings: impl FnOnce(&mut Settings),
    ) -> Self {
        let mut desk = Self::apart(ensemble, settings);
        desk.led_by(ONE);
        desk
    }

    /// The same, and nobody knows of anybody yet.
    pub(crate) fn apart(
        change: impl FnOnce(&mut Ensemble),
        rules: impl FnOnce(&mut Settings),
    ) -> Self {
        let mut ensemble = Ensemble::new(Quorum::majority([ONE, TWO, THREE]).unwrap());
        ensemble.observers = [FOUR].into();
        change(&mut ensemble);
        let mut settings = Settings::with_tick(u32::try_from(TICK_MS).unwrap());
        rules(&mut settings);
        let now = Now { wall: Millis(1_700_000_000_000), steady: Millis(1_000_000) };
        let mut desk = Self {
            ensemble: Arc::new(ensemble),
            settings: Arc::new(settings),
            servers: BTreeMap::new(),
            now,
            timers: BTreeMap::new(),
            disks: BTreeMap::new(),
            links: BTreeMap::new(),
            ways: BTreeMap::new(),
            held: BTreeSet::new(),
            conns: BTreeMap::new(),
            welcomes: BTreeMap::new(),
            round: 0,
            next: 0,
            applied: BTreeMap::new(),
            reached: Vec::new(),
        };
        for me in [ONE, TWO, THREE, FOUR] {
            desk.start(me);
        }
        desk
    }

    fn start(&mut self, me: ServerId) {
        let boot = Boot { me, steady: self.now.steady, scatter: 0 };
        let saved = Saved::blank(&self.settings, 0);
        let (ensemble, settings) = (Arc::clone(&self.ensemble), Arc::clone(&self.settings));
        let mut out = Vec::new();
        let server = Server::member(ensemble, settings, boot, saved, &mut out);
        self.servers.insert(me, server);
        self.carry_out(me, out);
    }

    /// All servers that look for a leader find this one.
    pub(crate) fn led_by(&mut self, leader: ServerId) {
        self.round += 1;
        let zxid = self.servers[&leader].zxid_last();
        let ballot = Ballot { epoch: Epoch(0), zxid, leader };
        let decision = Decision { ballot, round: self.round };
        let looking = |(id, server): (&ServerId, &Server)| server.is_looking().then_some(*id);
        let mut looking: Vec<ServerId> = self.servers.iter().filter_map(looking).collect();
        looking.sort_by_key(|id| *id != leader);
        for id in looking {
            self.input(id, Input::Elected(decision));
        }
        self.settle();
    }

    /// Its process dies for good; whoever was connected to it finds out.
    pub(crate) fn dies(&mut self, dead: ServerId) {
        self.servers.remove(&dead);
        self.timers.retain(|(id, _), _| *id != dead);
        self.ways.retain(|(from, to), _| *from != dead && *to != dead);
        let links: Vec<(LinkId, (ServerId, ServerId))> =
            self.links.iter().map(|(link, ends)| (*link, *ends)).collect();
        for (link, (one, other)) in links {
            if one == dead || other == dead {
                self.links.remove(&link);
                let left = if one == dead { other } else { one };
                self.input(left, Input::Unlinked { link: Some(link), peer: dead });
            }
        }
        self.settle();
    }

    /// A process is started again, on an empty disk.
    pub(crate) fn restarts(&mut self, me: ServerId, now: Now) {
        let later = std::mem::replace(&mut self.now, now);
        self.start(me);
        self.now = later;
        self.led_by(ONE);
    }

    pub(crate) fn server(&self, id: ServerId) -> &Server {
        &self.servers[&id]
    }

    fn input(&mut self, to: ServerId, input: Input) {
        let Some(server) = self.servers.get_mut(&to) else { return };
        let mut out = Vec::new();
        server.step(self.now, input, &mut out);
        server.assert_invariants();
        self.carry_out(to, out);
    }

    fn carry_out(&mut self, me: ServerId, out: Vec<Output>) {
        for output in out {
            match output {
                Output::Arm { timer, ticks } => {
                    let here = self.now.steady.0.div_euclid(TICK_MS);
                    self.timers.insert((me, timer), (here + i64::from(ticks.0)) * TICK_MS);
                }
                Output::Close { conn } => self.say(conn, "closed"),
                Output::Connected { conn, response } => {
                    let ConnectResponse { timeout_ms, session, read_only, .. } = &response;
                    let read_only = if *read_only == Some(true) { ", read-only" } else { "" };
                    self.say(conn, &format!("session {session}, {timeout_ms} ms{read_only}"));
                    self.welcomes.insert(conn, response);
                }
                Output::Dial { to } => {
                    self.next += 1;
                    let link = LinkId(self.next);
                    self.links.insert(link, (me, to));
                    self.input(to, Input::Linked { link, peer: me, dialled: false });
                    self.input(me, Input::Linked { link, peer: to, dialled: true });
                }
                Output::Disarm { timer } => {
                    self.timers.remove(&(me, timer));
                }
                Output::HangUp { link } => {
                    if let Some((one, other)) = self.links.remove(&link) {
                        let left = if one == me { other } else { one };
                        self.input(left, Input::Unlinked { link: Some(link), peer: me });
                    }
                }
                Output::Note(Note::Applied { txn, .. }) => {
                    self.applied.entry(me).or_default().push(txn);
                }
                Output::Note(Note::Reached(branch)) => self.reached.push(branch),
                Output::Notify { conn, event } => self.say(conn, &format!("event {event:?}")),
                Output::Persist { token, .. } => {
                    self.disks.entry(me).or_default().push_back(token);
                }
                Output::Reply { conn, reply } => self.say(conn, &shown(&reply)),
                Output::Send { link, message } => {
                    let Some((one, other)) = self.links.get(&link).copied() else { continue };
                    let to = if one == me { other } else { one };
                    self.ways.entry((me, to)).or_default().push_back((link, message));
                }
                // Nobody is elected here.
                Output::Wake { timer: Timer::Resend | Timer::Settle, .. } | Output::Tell { .. } => {
                }
                Output::Wake { timer, ms } => {
                    self.timers.insert((me, timer), self.now.steady.0 + i64::from(ms));
                }
                Output::Note(_) => {}
                Output::Halt { .. } | Output::Reload => panic!("disks are fine here: {output:?}"),
            }
        }
    }

    fn say(&mut self, conn: ConnId, what: &str) {
        let (_, said) = self.conns.get_mut(&conn).expect("a client of this desk");
        assert!(said.last().is_none_or(|last| last != "closed"), "{what} on a closed connection");
        said.push(what.to_owned());
    }

    /// From now on nothing gets from one server to another.
    pub(crate) fn hold(&mut self, from: ServerId, to: ServerId) {
        self.held.insert((from, to));
    }

    /// What was held arrives.
    pub(crate) fn release(&mut self, from: ServerId, to: ServerId) {
        self.held.remove(&(from, to));
        self.settle();
    }

    /// One message gets through although it is held.
    pub(crate) fn let_one(&mut self, from: ServerId, to: ServerId) {
        let way = self.ways.get_mut(&(from, to)).expect("something is on its way");
        let (link, message) = way.pop_front().expect("something is on its way");
        self.input(to, Input::Message { link, message });
        self.settle();
    }

    /// Everything that can happen by itself does, but no time passes.
    pub(crate) fn settle(&mut self) {
        loop {
            let disk =
                |(id, queue): (&ServerId, &mut VecDeque<Token>)| Some((*id, queue.pop_front()?));
            if let Some((id, token)) = self.disks.iter_mut().find_map(disk) {
                self.input(id, Input::Persisted(token));
                continue;
            }
            let Self { ways, held, links, .. } = self;
            let mut free = ways.iter_mut().filter(|(way, _)| !held.contains(way));
            let next = free.find_map(|((_, to), queue)| Some((*to, queue.pop_front()?)));
            let Some((to, (link, message))) = next else { return };
            if links.contains_key(&link) {
                self.input(to, Input::Message { link, message });
            }
        }
    }

    /// Lets time pass; timers run out when they are due.
    pub(crate) fn pass(&mut self, ms: i64) {
        let until = self.now.steady.0 + ms;
        self.settle();
        while let Some((&(id, timer), &at)) =
            self.timers.iter().filter(|(_, at)| **at <= until).min_by_key(|(_, at)| **at)
        {
            self.timers.remove(&(id, timer));
            self.move_clock(at);
            self.input(id, Input::Timeout(timer));
            self.settle();
        }
        self.move_clock(until);
    }

    fn move_clock(&mut self, steady: i64) {
        self.now.wall.0 += steady - self.now.steady.0;
        self.now.steady.0 = steady;
    }

    /// A client connects and says its first frame.
    pub(crate) fn connects(&mut self, to: ServerId, request: ConnectRequest) -> ConnId {
        self.next += 1;
        let conn = ConnId(self.next);
        self.conns.insert(conn, (to, Vec::new()));
        self.input(to, Input::Accepted { conn, address: [127, 0, 0, 1].into() });
        self.input(to, Input::Connect { conn, request });
        conn
    }

    /// A client without a session connects, and wants this timeout.
    pub(crate) fn opens(&mut self, to: ServerId, timeout_ms: i32) -> ConnId {
        self.connects(to, ConnectRequest { timeout_ms, ..ConnectRequest::default() })
    }

    /// A client with a new session, which is told of it.
    pub(crate) fn client(&mut self, of: ServerId, timeout_ms: i32) -> (ConnId, SessionId) {
        let conn = self.opens(of, timeout_ms);
        self.settle();
        let said = self.said(conn);
        let session = self.welcomes.get(&conn).unwrap_or_else(|| panic!("{said}")).session;
        assert_ne!(session, SessionId::NONE);
        (conn, session)
    }

    /// Somebody who knows a session's id, and so its password, connects.
    pub(crate) fn comes_back(
        &mut self,
        to: ServerId,
        session: SessionId,
        timeout_ms: i32,
    ) -> ConnId {
        let password = Some(password(session)[..].into());
        let request = ConnectRequest { session, timeout_ms, password, ..ConnectRequest::default() };
        self.connects(to, request)
    }

    /// A client goes away without a word.
    pub(crate) fn hangs_up(&mut self, conn: ConnId) {
        let (server, _) = self.conns[&conn];
        self.input(server, Input::Disconnected { conn });
    }

    /// A client asks; what comes of it has to settle.
    pub(crate) fn asks(&mut self, conn: ConnId, xid: i32, request: Request) {
        let (server, _) = self.conns[&conn];
        self.input(server, Input::Request { conn, xid: Xid(xid), request });
    }

    /// What a client was told since this was last asked.
    pub(crate) fn said(&mut self, conn: ConnId) -> String {
        let (_, said) = self.conns.get_mut(&conn).expect("a client of this desk");
        let open = |what: &String| what != "closed";
        let text = said.join("; ");
        said.retain(|what| !open(what));
        text
    }

    /// A client asks and is answered.
    pub(crate) fn call(&mut self, conn: ConnId, xid: i32, request: Request) -> String {
        self.asks(conn, xid, request);
        self.settle();
        self.said(conn)
    }

    /// What a server has applied for a session, one line each.
    pub(crate) fn ordered(&self, at: ServerId, session: SessionId) -> String {
        let mut text = String::new();
        let all = self.applied.get(&at).into_iter().flatten();
        for txn in all.filter(|txn| txn.session == session) {
            writeln!(text, "{} {:?}", txn.cxid.0, txn.change).unwrap();
        }
        text
    }

    pub(crate) fn last(&self, at: ServerId) -> Option<&Txn> {
        self.applied.get(&at)?.last().map(|txn| &**txn)
    }

    /// The nodes below the root on a server, without those that are always there.
    pub(crate) fn nodes(&self, at: ServerId) -> Vec<String> {
        let root = self.servers[&at].tree().get("/").expect("a root");
        let names = root.child_names().into_iter().map(|name| name.to_string());
        names.filter(|name| name != "zookeeper").collect()
    }

    /// Since when the desk has existed, in milliseconds.
    pub(crate) const fn clock(&self) -> i64 {
        self.now.steady.0
    }
}

fn shown(reply: &Reply) -> String {
    let Reply { xid, zxid, err, body } = reply;
    let mut text = format!("{} ", xid.0);
    match err {
        None => text.push_str("ok"),
        Some(code) => write!(text, "{code:?}").unwrap(),
    }
    if *zxid != Zxid::NONE && zxid.counter() > 0 {
        write!(text, " at {zxid}").unwrap();
    }
    if let Body::Multi(results) = body {
        write!(text, " {results:?}").unwrap();
    }
    text
}

/// A new node, by its mode.
pub(crate) fn wish(path: &str, flags: i32) -> Create {
    let open = AclWish { perms: 31, scheme: Some("world".into()), id: Some("anyone".into()) };
    let op = match flags {
        4 => CreateOp::Container,
        5 | 6 => CreateOp::Ttl,
        _ => CreateOp::Create,
    };
    Create { op, path: path.into(), data: None, acl: Some(vec![open]), flags, ttl_ms: -1 }
}

pub(crate) fn create(path: &str) -> Request {
    Request::Create(wish(path, 0))
}

pub(crate) fn ephemeral(path: &str) -> Request {
    Request::Create(wish(path, 1))
}

pub(crate) fn delete(path: &str) -> Request {
    Request::Delete { path: path.into(), version: -1 }
}

pub(crate) fn exists(path: &str) -> Request {
    Request::Exists { path: path.into(), watch: false }
}
