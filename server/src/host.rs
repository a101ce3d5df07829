//! The core and what it needs from a host: connections, timers, a disk.
//!
//! ```text
//!   connection tasks --- inputs ---> [ Host: core, clients, timers ]
//!                    <-- outboxes ---
//!                    <---- bells ----   of those who are told something on account of others
//! ```
//!
//! Everything happens under one lock and without waiting. What the core wants to have persisted
//! is left for the keeper of the disk; without a disk it is answered at once.
//!
//! Not here: bytes, sockets, files, clocks. Whoever holds the lock brings the time along.

use std::collections::VecDeque;
use std::mem;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::sync::Notify;
use tracing::debug;
use zoolab_core::request::ConnectRequest;
use zoolab_core::storage::Saved;
use zoolab_core::txn::Change;
use zoolab_core::{
    Boot, ConnId, Ensemble, Input, Lookup, Millis, Now, Output, Persist, Request, Server, Settings,
    Timer, Token, Txn, Xid, Zxid,
};

use crate::client::{Client, Closing};
use crate::op::Op;
use crate::outbox::Outgoing;
use crate::stats::{Counts, Totals};
use crate::timers::Timers;

/// ZooKeeper remembers the digest after every 128th transaction …
const DIGEST_INTERVAL: i64 = 128;

/// … and so many of them.
const DIGESTS_MAX: usize = 1024;

/// ZooKeeper's default: client requests, sessions, server packets, warnings.
const TRACE_MASK: i64 = 0b1_0011_0010;

/// How many of the requests at hand the core looks ahead at.
const LOOK_AHEAD_MAX: usize = 128;

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Host {
    server: Server,
    timers: Timers,
    clients: Lookup<ConnId, Client>,
    conn_next: ConnId,
    events_max: usize,
    disk: Disk,
    /// Room for outputs. Empty between inputs.
    outputs: Vec<Output>,
    /// To be rung when the lock is released.
    bells: Vec<Arc<Notify>>,
    digests: VecDeque<(Zxid, u64)>,
    /// What the whole server did.
    pub(crate) totals: Totals,
    /// Set and read by four-letter words. Nothing here is traced by it.
    pub(crate) trace_mask: i64,
}

/// Where what has to be persisted goes.
#[derive(Debug)]
enum Disk {
    /// Nowhere.
    None {
        /// As good as persisted, and the core was not told yet. Empty between inputs.
        persisted: VecDeque<Token>,
    },
    /// To the keeper.
    Kept {
        /// Not taken yet.
        asked: Vec<(Token, Persist)>,
    },
}

impl Disk {
    fn ask(&mut self, token: Token, persist: Persist) {
        match self {
            Self::None { persisted } => persisted.push_back(token),
            Self::Kept { asked } => asked.push((token, persist)),
        }
    }

    fn persisted(&mut self) -> Option<Token> {
        match self {
            Self::None { persisted } => persisted.pop_front(),
            Self::Kept { .. } => None,
        }
    }
}

/// Under which circumstances the core is handed an input.
#[derive(Clone, Copy, Debug)]
struct Occasion {
    now: Now,
    /// The connection whose task is doing this: it needs no bell.
    conn: Option<ConnId>,
    /// Whether it is about sessions that were not heard from in time.
    expiring: bool,
}

impl Occasion {
    fn ring(&self, conn: ConnId, client: &Client, bells: &mut Vec<Arc<Notify>>) {
        if self.conn != Some(conn) {
            bells.push(Arc::clone(&client.bell));
        }
    }
}

fn known(clients: &mut Lookup<ConnId, Client>, conn: ConnId) -> &mut Client {
    clients.get_mut(&conn).expect("the core speaks to connections that are there")
}

impl Host {
    /// A server that begins with nothing and keeps nothing.
    pub(crate) fn in_memory(settings: Settings, boot: Boot, events_max: usize, now: Now) -> Self {
        let mut outputs = Vec::new();
        let server = Server::recover(settings, boot, &mut outputs);
        let disk = Disk::None { persisted: VecDeque::new() };
        Self::new(server, disk, boot, events_max, now, outputs)
    }

    /// A server that begins with what its disk has.
    pub(crate) fn on_disk(
        ensemble: Ensemble,
        settings: Settings,
        boot: Boot,
        saved: Saved,
        events_max: usize,
        now: Now,
    ) -> Self {
        let (ensemble, settings) = (Arc::new(ensemble), Arc::new(settings));
        let mut outputs = Vec::new();
        let server = Server::alone(ensemble, settings, boot, saved, &mut outputs);
        Self::new(server, Disk::Kept { asked: Vec::new() }, boot, events_max, now, outputs)
    }

    fn new(
        server: Server,
        disk: Disk,
        boot: Boot,
        events_max: usize,
        now: Now,
        outputs: Vec<Output>,
    ) -> Self {
        let mut host = Self {
            timers: Timers::new(server.settings().tick_ms),
            server,
            clients: Lookup::new(boot.scatter),
            conn_next: ConnId(1),
            events_max,
            disk,
            outputs: Vec::new(),
            bells: Vec::new(),
            digests: VecDeque::new(),
            totals: Totals::default(),
            trace_mask: TRACE_MASK,
        };
        host.carry_out_all(Occasion { now, conn: None, expiring: false }, outputs);
        host
    }

    /// A connection came up.
    pub(crate) fn accept(&mut self, now: Now, address: SocketAddr) -> (ConnId, Arc<Notify>) {
        let conn = self.conn_next;
        self.conn_next = ConnId(conn.0 + 1);
        let client = Client::new(address, now);
        let bell = Arc::clone(&client.bell);
        self.clients.insert(conn, client);
        self.feed(now, Some(conn), Input::Accepted { conn, address: address.ip() });
        (conn, bell)
    }

    /// A client's first frame, which came in at `since`.
    pub(crate) fn connect(
        &mut self,
        now: Now,
        conn: ConnId,
        since: Millis,
        request: ConnectRequest,
    ) {
        self.totals.connects += 1;
        if self.ask(conn, since, Op::CONNECT) {
            self.feed(now, Some(conn), Input::Connect { conn, request });
        }
    }

    /// A client's request, which came in at `since`.
    pub(crate) fn request(
        &mut self,
        now: Now,
        conn: ConnId,
        since: Millis,
        (xid, request): (Xid, Request),
    ) {
        if self.ask(conn, since, Op::of(&request)) {
            self.feed(now, Some(conn), Input::Request { conn, xid, request });
        }
    }

    /// These requests are about to come, or the first of them.
    pub(crate) fn look_ahead<'a>(&self, requests: impl ExactSizeIterator<Item = &'a Request>) {
        // A single one does not wait any less for being looked at first, and what was looked at
        // long ago would have to be looked at again.
        if requests.len() > 1 {
            self.server.look_ahead(requests.take(LOOK_AHEAD_MAX));
        }
    }

    /// Takes note of a question. False if the connection is about to end, and nobody will answer.
    fn ask(&mut self, conn: ConnId, since: Millis, op: Op) -> bool {
        self.totals.received += 1;
        let client = self.client_mut(conn);
        client.ask(since, op);
        client.closing.is_none()
    }

    /// Moves what waits for a client into `out`, and says whether the connection is to end then.
    pub(crate) fn take(
        &mut self,
        conn: ConnId,
        at: Millis,
        out: &mut Vec<Outgoing>,
    ) -> Option<Closing> {
        let Self { clients, totals, .. } = self;
        let client = clients.get_mut(&conn).expect("a connection has a client");
        client.take(at, out, totals);
        client.closing
    }

    /// A connection is gone. Returns how many are left.
    pub(crate) fn disconnect(&mut self, now: Now, conn: ConnId) -> usize {
        match self.client(conn).closing {
            // It was the core that ended it.
            Some(Closing::Done) => {}
            Some(Closing::Overflow { .. } | Closing::Stopping) | None => {
                self.feed(now, Some(conn), Input::Disconnected { conn });
            }
        }
        self.clients.remove(&conn);
        self.clients.len()
    }

    /// Lets the timers run out whose time has come.
    pub(crate) fn timeouts(&mut self, now: Now) {
        while let Some(timer) = self.timers.take_due(now.steady) {
            self.feed(now, None, Input::Timeout(timer));
        }
    }

    /// When to call [`timeouts`](Self::timeouts) next.
    pub(crate) fn timeout_next(&self) -> Option<Millis> {
        self.timers.next()
    }

    /// Whether something waits to be persisted.
    pub(crate) fn has_asked(&self) -> bool {
        matches!(&self.disk, Disk::Kept { asked } if !asked.is_empty())
    }

    /// Takes what is to be persisted, in this order.
    pub(crate) fn take_asked(&mut self) -> Vec<(Token, Persist)> {
        match &mut self.disk {
            Disk::None { .. } => Vec::new(),
            Disk::Kept { asked } => mem::take(asked),
        }
    }

    /// The disk has done these.
    pub(crate) fn persisted(&mut self, now: Now, done: Vec<Token>) {
        for token in done {
            self.feed(now, None, Input::Persisted(token));
        }
    }

    /// The disk could not do this: the core has nothing to say any more.
    pub(crate) fn persist_failed(&mut self, now: Now, token: Token) {
        self.feed(now, None, Input::PersistFailed(token));
    }

    /// Has all connections end. Returns how many there are.
    pub(crate) fn stop(&mut self) -> usize {
        for conn in self.conns() {
            let client = self.client_mut(conn);
            client.closing.get_or_insert(Closing::Stopping);
            let bell = Arc::clone(&client.bell);
            self.bells.push(bell);
        }
        self.clients.len()
    }

    /// Whom to wake when the lock is released.
    pub(crate) fn take_bells(&mut self) -> Vec<Arc<Notify>> {
        mem::take(&mut self.bells)
    }

    /// The core, to look at.
    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    /// The digest of the tree after every 128th transaction.
    pub(crate) fn digests(&self) -> impl Iterator<Item = &(Zxid, u64)> {
        self.digests.iter()
    }

    /// One client.
    pub(crate) fn client(&self, conn: ConnId) -> &Client {
        self.clients.get(&conn).expect("a connection has a client")
    }

    /// One client, to be changed.
    pub(crate) fn client_mut(&mut self, conn: ConnId) -> &mut Client {
        self.clients.get_mut(&conn).expect("a connection has a client")
    }

    /// All connections, in the order they came.
    pub(crate) fn conns(&self) -> Vec<ConnId> {
        self.clients.sorted().into_iter().map(|(&conn, _)| conn).collect()
    }

    /// How many connections there are.
    pub(crate) fn conns_len(&self) -> usize {
        self.clients.len()
    }

    /// Forgets what each connection did.
    pub(crate) fn reset_counts(&mut self) {
        for conn in self.conns() {
            self.client_mut(conn).counts = Counts::default();
        }
    }

    /// Takes one input to its very end: with everything the core wants done because of it.
    fn feed(&mut self, now: Now, conn: Option<ConnId>, input: Input) {
        let expiring = matches!(input, Input::Timeout(Timer::Sessions));
        let mut outputs = mem::take(&mut self.outputs);
        self.server.step(now, input, &mut outputs);
        self.carry_out_all(Occasion { now, conn, expiring }, outputs);
    }

    fn carry_out_all(&mut self, occasion: Occasion, mut outputs: Vec<Output>) {
        loop {
            for output in outputs.drain(..) {
                self.carry_out(occasion, output);
            }
            let Some(token) = self.disk.persisted() else { break };
            self.server.step(occasion.now, Input::Persisted(token), &mut outputs);
        }
        self.outputs = outputs;
    }

    fn carry_out(&mut self, occasion: Occasion, output: Output) {
        let at = occasion.now.steady;
        let Self { server, clients, totals, bells, .. } = self;
        match output {
            Output::Arm { timer, ticks } => self.timers.arm(at, timer, ticks),
            Output::Close { conn } => {
                let client = known(clients, conn);
                client.closing = Some(Closing::Done);
                occasion.ring(conn, client, bells);
            }
            Output::Connected { conn, response } => {
                let client = known(clients, conn);
                client.timeout_ms = response.timeout_ms;
                client.connected(at, server.zxid_last(), totals);
                if client.send(Outgoing::Connected(response)) {
                    occasion.ring(conn, client, bells);
                }
            }
            // Whoever reported the failure ends the server.
            Output::Halt { .. } => {}
            Output::Notify { conn, event } => {
                let client = known(clients, conn);
                if client.outbox().events() < self.events_max {
                    if client.send(Outgoing::Event(event)) {
                        occasion.ring(conn, client, bells);
                    }
                } else if client.closing.is_none() {
                    client.overflow();
                    occasion.ring(conn, client, bells);
                }
            }
            Output::Persist { token, persist } => {
                match &persist {
                    Persist::Append(txn) => self.note(occasion, txn),
                    Persist::Sync
                    | Persist::Epoch { .. }
                    | Persist::Install { .. }
                    | Persist::Members(_)
                    | Persist::Purge { .. }
                    | Persist::SnapshotBegin { .. }
                    | Persist::SnapshotMore { .. }
                    | Persist::SnapshotUnsynced { .. }
                    | Persist::Truncate { .. } => {}
                }
                self.disk.ask(token, persist);
            }
            Output::Reply { conn, reply } => {
                let client = known(clients, conn);
                client.replied(at, &reply, totals);
                if client.send(Outgoing::Reply(reply)) {
                    occasion.ring(conn, client, bells);
                }
            }
            Output::Note(_) => {}
            Output::Dial { .. }
            | Output::Disarm { .. }
            | Output::HangUp { .. }
            | Output::Reload
            | Output::Send { .. }
            | Output::Tell { .. }
            | Output::Wake { .. } => unreachable!("an ensemble of one has no peers"),
        }
    }

    /// What people may want to know of a transaction.
    fn note(&mut self, occasion: Occasion, txn: &Txn) {
        self.totals.commits += 1;
        match &txn.change {
            Change::CloseSession { paths } => {
                self.totals.sessions_expired += u64::from(occasion.expiring);
                let how = if occasion.expiring { "expired" } else { "closed" };
                debug!(session = %txn.session, ephemerals = paths.len(), "session {how}");
            }
            Change::CreateSession { timeout_ms } => {
                debug!(session = %txn.session, timeout_ms, "session opened");
            }
            Change::Error(_) | Change::Multi(_) | Change::Node(_) => {}
        }
        let zxid = txn.stamp.zxid;
        if let Some(digest) = txn.digest.filter(|_| zxid.0 % DIGEST_INTERVAL == 0) {
            if self.digests.len() == DIGESTS_MAX {
                self.digests.pop_front();
            }
            self.digests.push_back((zxid, digest));
        }
    }
}
