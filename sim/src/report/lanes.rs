//! What each server and each client is, step by step: only what changes is written down.

use std::fmt;

use zoolab_core::client::State;
use zoolab_core::{Epoch, ServerId, Timer, Zxid};

use super::cast::Who;
use super::film::Film;
use crate::seen::Seen;
use crate::step::ClientId;
use crate::world::World;
use crate::world::apps::{App, Deeds};
use crate::world::client::Client;

/// Somebody, over time.
#[derive(Clone, Debug)]
pub struct Lane {
    /// Whose it is.
    pub who: Who,
    /// What it is called.
    pub name: String,
    /// What kind of somebody.
    pub kind: LaneKind,
    /// What it is, one series for each thing there is to say.
    pub series: Vec<Series>,
}

/// What kind of somebody has a lane.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LaneKind {
    /// A client.
    Client,
    /// A server without a vote.
    Observer,
    /// A server with a vote.
    Voter,
}

impl LaneKind {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Observer => "observer",
            Self::Voter => "voter",
        }
    }
}

/// One thing there is to say of somebody, over time.
#[derive(Clone, Debug)]
pub struct Series {
    /// What it is called.
    pub name: &'static str,
    /// What it is from this many steps on; the first is from the beginning.
    pub changes: Vec<(u32, Value)>,
}

impl Series {
    /// What it is after so many steps.
    #[must_use]
    pub fn after(&self, steps: u32) -> &Value {
        let place = self.changes.partition_point(|(from, _)| *from <= steps);
        &self.changes[place.saturating_sub(1)].1
    }
}

/// What something is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Value {
    /// There is nothing to say.
    None,
    /// A word.
    Word(&'static str),
    /// A number.
    Number(u64),
    /// A number of a transaction.
    Zxid(Zxid),
    /// A digest.
    Digest(u64),
    /// A list in words.
    List(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("–"),
            Self::Word(word) => f.write_str(word),
            Self::Number(number) => write!(f, "{number}"),
            Self::Zxid(zxid) => write!(f, "{zxid}"),
            Self::Digest(digest) => write!(f, "{digest:016x}"),
            Self::List(list) => f.write_str(list),
        }
    }
}

/// Of a server, in few bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct ServerNow {
    role: &'static str,
    is_paused: bool,
    follows: Option<ServerId>,
    accepted: Epoch,
    current: Epoch,
    log: Log,
    applied: Option<Zxid>,
    open: usize,
    disk: usize,
    is_full: bool,
    disk_slow_us: u32,
    is_rotten: bool,
    timers: u32,
    sessions: usize,
    nodes: usize,
    digest: Option<u64>,
}

/// What is known of a server's disk from what was seen.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Log {
    /// The end of what was handed to it.
    written: Zxid,
    /// The end of what no power loss can take away.
    safe: Zxid,
}

const OF_SERVER: [&str; 15] = [
    "role",
    "epoch",
    "accepted epoch",
    "follows",
    "logged",
    "safe",
    "applied",
    "proposals open",
    "disk queue",
    "disk",
    "timers",
    "sessions",
    "nodes",
    "tree",
    "standing",
];

const OF_CLIENT: [&str; 7] =
    ["role", "at server", "has seen", "waits for", "answered", "refused", "unknown"];

impl ServerNow {
    fn of(world: &World, id: ServerId, log: Log) -> Self {
        let host = world.host(id);
        let server = host.server.as_ref();
        let epochs = server.map_or((Epoch(0), Epoch(0)), |server| server.epochs());
        let armed = |timers: u32, timer: Timer| {
            timers | u32::from(host.timers[timer as usize].is_some()) << timer as u8
        };
        Self {
            role: match server {
                Some(server) => server.doing(),
                None if host.refused.is_some() => "refused",
                None => "down",
            },
            is_paused: host.paused,
            follows: server.and_then(|server| server.following()),
            accepted: epochs.0,
            current: epochs.1,
            log,
            applied: server.map(|server| server.zxid_last()),
            open: server.map_or(0, |server| server.outstanding()),
            disk: host.disk.queue().count(),
            is_full: host.disk.is_full(),
            disk_slow_us: host.disk_slow_us,
            is_rotten: host.rotten,
            timers: Timer::ALL.into_iter().fold(0, armed),
            sessions: server.map_or(0, |server| server.sessions().len()),
            nodes: server.map_or(0, |server| server.tree().len()),
            digest: server.map(|server| server.tree().digest()),
        }
    }

    fn values(&self) -> [Value; OF_SERVER.len()] {
        let runs = self.applied.is_some();
        let number = |number: u64| if runs { Value::Number(number) } else { Value::None };
        let disk = match (self.is_full, self.is_rotten, self.disk_slow_us) {
            (true, _, _) => "full",
            (_, true, _) => "rotten",
            (_, _, 1..) => "slow",
            _ => "fine",
        };
        let timers = Timer::ALL.into_iter().filter(|timer| self.timers >> *timer as u8 & 1 == 1);
        let timers: Vec<String> = timers.map(|timer| format!("{timer:?}")).collect();
        [
            Value::Word(self.role),
            number(u64::from(self.current.0)),
            number(u64::from(self.accepted.0)),
            self.follows.map_or(Value::None, |server| Value::Number(u64::from(server.0))),
            Value::Zxid(self.log.written),
            Value::Zxid(self.log.safe),
            self.applied.map_or(Value::None, Value::Zxid),
            number(self.open as u64),
            Value::Number(self.disk as u64),
            Value::Word(disk),
            if timers.is_empty() { Value::None } else { Value::List(timers.join(", ")) },
            number(self.sessions as u64),
            number(self.nodes as u64),
            self.digest.map_or(Value::None, Value::Digest),
            if self.is_paused { Value::Word("paused") } else { Value::None },
        ]
    }
}

/// Of a client, in few bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct ClientNow {
    role: &'static str,
    server: Option<ServerId>,
    zxid: Zxid,
    counts: [u64; 4],
}

impl ClientNow {
    fn of(client: &Client) -> Self {
        let role = match (&client.conn, client.session.is_some()) {
            (Some(conn), _) if conn.ready => "connected",
            (Some(_), _) => "connecting",
            (None, true) => "away",
            (None, false) => "without session",
        };
        Self {
            role,
            server: client.conn.as_ref().map(|conn| conn.server),
            zxid: client.zxid_seen,
            counts: [u64::from(client.waiting), client.done, client.refused, client.unknown],
        }
    }

    /// The same of an application.
    fn of_app(app: &App) -> Self {
        let role = match app.state() {
            _ if app.frozen => "paused",
            State::AuthFailed => "refused",
            State::Closed => "closed",
            State::Connected => "connected",
            State::ConnectedReadOnly => "reading only",
            State::Connecting => "connecting",
            State::Expired => "expired",
            State::NotConnected => "not begun",
        };
        let machine = app.machine.as_ref();
        let server = machine.and_then(|machine| machine.server()?.host.get(1..)?.parse().ok());
        let zxid = machine.map_or(Zxid::ZERO, |machine| machine.zxid_last());
        let Deeds { done, refused, unknown, .. } = app.deeds;
        let counts = [u64::from(app.waiting), done, refused, unknown];
        Self { role, server: server.map(ServerId), zxid, counts }
    }

    /// Of all of them, simple ones and applications.
    fn all(world: &World) -> impl Iterator<Item = (ClientId, Self)> {
        let simple = world.clients().map(|(id, client)| (id, Self::of(client)));
        simple.chain(world.apps().map(|(id, app)| (id, Self::of_app(app))))
    }

    fn values(&self) -> [Value; OF_CLIENT.len()] {
        let [waiting, done, refused, unknown] = self.counts.map(Value::Number);
        let server = self.server.map_or(Value::None, |id| Value::Number(u64::from(id.0)));
        [Value::Word(self.role), server, Value::Zxid(self.zxid), waiting, done, refused, unknown]
    }
}

/// All lanes so far.
#[derive(Debug)]
pub(super) struct Lanes {
    all: Vec<Lane>,
    servers: Vec<(ServerId, ServerNow)>,
    clients: Vec<(ClientId, ClientNow)>,
}

impl Lanes {
    /// Before the first step.
    pub(super) fn new(world: &World) -> Self {
        let server = |id: &ServerId| (*id, ServerNow::of(world, *id, Log::default()));
        let servers: Vec<_> = world.servers().iter().map(server).collect();
        let clients: Vec<_> = ClientNow::all(world).collect();
        let observers = &world.ensemble().observers;
        let mut all = Vec::new();
        for (id, now) in &servers {
            let is_observer = observers.contains(id);
            all.push(Lane {
                who: Who::Server(*id),
                name: format!("server {id}"),
                kind: if is_observer { LaneKind::Observer } else { LaneKind::Voter },
                series: begin(&OF_SERVER, &now.values()),
            });
        }
        for (id, now) in &clients {
            all.push(Lane {
                who: Who::Client(*id),
                name: format!("client {id}"),
                kind: LaneKind::Client,
                series: begin(&OF_CLIENT, &now.values()),
            });
        }
        Self { all, servers, clients }
    }

    /// Looks at the world after so many steps.
    pub(super) fn look(&mut self, steps: u32, film: &Film<'_>) {
        let world = film.world();
        let Self { all, servers, clients } = self;
        let (of_servers, of_clients) = all.split_at_mut(servers.len());
        let logs = film.logs().iter().map(|(_, log)| *log);
        for (((id, before), lane), log) in servers.iter_mut().zip(of_servers).zip(logs) {
            let now = ServerNow::of(world, *id, log);
            if now != *before {
                change(lane, steps, &before.values(), &now.values());
                *before = now;
            }
        }
        let now = clients.iter_mut().zip(ClientNow::all(world)).zip(of_clients);
        for (((_, before), (_, now)), lane) in now {
            if now != *before {
                change(lane, steps, &before.values(), &now.values());
                *before = now;
            }
        }
    }

    /// All of them, servers first.
    pub(super) fn into_all(self) -> Vec<Lane> {
        self.all
    }
}

fn begin(names: &[&'static str], values: &[Value]) -> Vec<Series> {
    let series = names.iter().zip(values);
    series.map(|(name, value)| Series { name, changes: vec![(0, value.clone())] }).collect()
}

fn change(lane: &mut Lane, steps: u32, before: &[Value], now: &[Value]) {
    for (series, (before, now)) in lane.series.iter_mut().zip(before.iter().zip(now)) {
        if before != now {
            series.changes.push((steps, now.clone()));
        }
    }
}

impl Log {
    /// After something was seen.
    pub(super) fn after(self, id: ServerId, seen: &Seen) -> Self {
        let (server, log) = match seen {
            Seen::Appended { server, txn } => (server, Self { written: txn.stamp.zxid, ..self }),
            Seen::Synced { server, zxid } => (server, Self { safe: *zxid, ..self }),
            Seen::Installed { server, zxid } => (server, Self { written: *zxid, safe: *zxid }),
            Seen::Truncated { server, to } => {
                (server, Self { written: *to, safe: self.safe.min(*to) })
            }
            Seen::Started { server, saved, .. } | Seen::Reloaded { server, saved } => {
                (server, Self { written: saved.zxid_last, safe: saved.zxid_last })
            }
            Seen::Wiped { server } => (server, Self::default()),
            Seen::Client { .. }
            | Seen::Crashed { .. }
            | Seen::Delivered { .. }
            | Seen::EpochWritten { .. }
            | Seen::Halted { .. }
            | Seen::MembersWritten { .. }
            | Seen::Note { .. }
            | Seen::Refused { .. }
            | Seen::Rotten { .. }
            | Seen::Sent { .. }
            | Seen::Snapshotted { .. } => return self,
        };
        if *server == id { log } else { self }
    }
}

/// What somebody is, thing by thing.
pub(super) fn state(film: &Film<'_>, who: Who) -> Vec<(&'static str, Value)> {
    let world = film.world();
    match who {
        Who::Server(id) => {
            let log = film.logs().iter().find(|(server, _)| *server == id);
            let values = ServerNow::of(world, id, log.expect("a server of this world").1).values();
            OF_SERVER.into_iter().zip(values).collect()
        }
        Who::Client(id) => {
            OF_CLIENT.into_iter().zip(ClientNow::of(world.client(id)).values()).collect()
        }
    }
}
