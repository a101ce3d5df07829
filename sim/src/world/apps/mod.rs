//! Applications, each with a client of the core's: all of them, and which connection is whose.
//!
//! ```text
//!   want ---> [ App: client, timers ] --- Conn: frames, in order, each way ---> server
//! ```
//!
//! An application is told what to do by the steps; what it does with answers is nothing. In a
//! search applications stand still, and nothing reaches them.

mod app;
mod call;
mod conn;
mod happen;
mod possible;

use std::collections::BTreeSet;

use zoolab_core::client::{Failed, Notice};
use zoolab_core::client::{Frame, Input, Line, Output, SessionState, Timer};
use zoolab_core::{ConnId, ServerId, Xid, Zxid};

pub use self::app::{App, Deeds};
pub use self::conn::{Conn, Lane};
use super::Pending;
use super::client::Down;
use crate::heard::Heard;
use crate::seen::Seen;
use crate::step::wish::Spot;
use crate::step::{ClientId, Instant, Way};

/// Applications' connections have numbers from here on, so that none is a simple client's.
const CONNS_FROM: u64 = 1 << 32;

/// How a connection is numbered where people read it.
#[must_use]
pub const fn conn_number(conn: ConnId) -> u64 {
    conn.0.wrapping_sub(CONNS_FROM)
}

/// The connection with this number, if there can be one.
#[must_use]
pub fn conn_of(number: u64) -> Option<ConnId> {
    number.checked_add(CONNS_FROM).map(ConnId)
}

/// Whether a connection is an application's.
pub(super) const fn is_app(conn: ConnId) -> bool {
    conn.0 >= CONNS_FROM
}

/// See the [module](self).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Apps {
    all: Vec<App>,
    /// Those that an end is open of, in order.
    conns: Vec<Conn>,
    conns_made: u64,
    cuts: BTreeSet<(ClientId, ServerId, Way)>,
}

/// Where one gets what a step made visible, and what it left to be done.
pub(super) struct Room<'a> {
    pub(super) now: Instant,
    pub(super) seen: &'a mut Vec<Seen>,
    pub(super) fresh: &'a mut Vec<Pending>,
    pub(super) outputs: &'a mut Vec<Output>,
}

impl Apps {
    /// So many, who have done nothing yet.
    #[must_use]
    pub fn new(count: u16) -> Self {
        let all = vec![App::default(); usize::from(count)];
        Self { all, conns: Vec::new(), conns_made: 0, cuts: BTreeSet::new() }
    }

    /// All of them, by number.
    pub fn iter(&self) -> impl Iterator<Item = (ClientId, &App)> {
        (0..).map(ClientId).zip(&self.all)
    }

    /// One of them, if there are so many.
    #[must_use]
    pub fn get(&self, client: ClientId) -> Option<&App> {
        self.all.get(usize::from(client.0))
    }

    fn get_mut(&mut self, client: ClientId) -> &mut App {
        &mut self.all[usize::from(client.0)]
    }

    fn place(&self, conn: ConnId) -> Option<usize> {
        self.conns.binary_search_by_key(&conn, |conn| conn.id).ok()
    }

    /// A connection.
    #[must_use]
    pub fn conn(&self, conn: ConnId) -> Option<&Conn> {
        self.place(conn).map(|place| &self.conns[place])
    }

    /// All connections of which an end is open, in order.
    #[must_use]
    pub fn conns(&self) -> &[Conn] {
        &self.conns
    }

    /// Whether nothing gets this way.
    #[must_use]
    pub fn is_cut(&self, client: ClientId, server: ServerId, way: Way) -> bool {
        !self.cuts.is_empty() && self.cuts.contains(&(client, server, way))
    }

    /// The cuts there are.
    pub fn cuts(&self) -> impl Iterator<Item = (ClientId, ServerId, Way)> {
        self.cuts.iter().copied()
    }

    /// A client takes an input, and what it wants done is done.
    fn input(&mut self, client: ClientId, input: Input, room: &mut Room<'_>) {
        let app = self.get_mut(client);
        let Some(machine) = &mut app.machine else { return };
        let mut outputs = std::mem::take(room.outputs);
        machine.step(room.now.millis(), input, &mut outputs);
        for output in outputs.drain(..) {
            self.carry_out(client, output, room);
        }
        *room.outputs = outputs;
        let app = self.get_mut(client);
        if let Some(machine) = &app.machine {
            app.session = machine.session().or(app.session);
        }
    }

    fn carry_out(&mut self, client: ClientId, output: Output, room: &mut Room<'_>) {
        let app = self.get_mut(client);
        match output {
            Output::Complete { id, zxid, result } => {
                app.waiting = app.waiting.saturating_sub(1);
                app.deeds.answered += u64::from(zxid != Zxid::NONE);
                match &result {
                    Ok(_) => app.deeds.done += 1,
                    Err(Failed::Code(_) | Failed::Unknown(_)) => app.deeds.refused += 1,
                    Err(Failed::ConnectionLoss | Failed::RequestTimeout) => app.deeds.unknown += 1,
                }
                room.hears(client, Heard::Returned { call: id, zxid, result });
            }
            Output::Deliver { notice, to } => {
                if notice == Notice::Session(SessionState::SyncConnected) {
                    app.deeds.connected += 1;
                }
                room.hears(client, Heard::Notified { notice, to });
            }
            Output::Dial { line, host } => {
                let server = host.host.get(1..).and_then(|number| number.parse().ok());
                let server = ServerId(server.expect("servers are named by their numbers"));
                app.dial = Some((line, server));
                room.fresh.push(Pending::Reach(client));
            }
            Output::Disarm { timer } => app.timers[timer as usize] = None,
            Output::HangUp { line } => self.hang_up(client, line, room),
            Output::Probe { probe, host } => {
                let server = host.host.get(1..).and_then(|number| number.parse().ok());
                let server = ServerId(server.expect("servers are named by their numbers"));
                app.probe = Some((probe, server));
                room.fresh.push(Pending::Probe(client));
            }
            Output::Send { line, frame } => self.send(client, line, frame, room),
            Output::Wake { timer, ms, spread_ms } => {
                let due = Instant(room.now.0 + u64::from(ms) * 1000);
                let before = app.timers[timer as usize].replace((due, spread_ms));
                if before.is_none_or(|(before, _)| due < before) {
                    room.fresh.push(Pending::Wake { client, timer });
                }
            }
        }
    }

    /// The connection that a client knows by this name. The one it has used last is the likely
    /// one.
    fn on_line(&mut self, client: ClientId, line: Line) -> Option<&mut Conn> {
        let mine = |conn: &&mut Conn| (conn.client, conn.line) == (client, line);
        self.conns.iter_mut().rev().find(mine)
    }

    fn send(&mut self, client: ClientId, line: Line, frame: Frame, room: &mut Room<'_>) {
        let Some(conn) = self.on_line(client, line) else { return };
        let id = conn.id;
        // What is said behind a break is lost.
        if !conn.up.ends {
            conn.up.frames.push_back(frame.clone());
            room.fresh.push(Pending::Up(id));
        }
        if !matches!(frame, Frame::Request(Xid::PING, _)) {
            room.hears(client, Heard::Said { conn: id, frame: Box::new(frame) });
        }
    }

    /// A client closes its end, or the attempt to have one. What it has said still arrives.
    fn hang_up(&mut self, client: ClientId, line: Line, room: &mut Room<'_>) {
        let app = self.get_mut(client);
        if app.dial.take_if(|(dialled, _)| *dialled == line).is_some() {
            return;
        }
        if let Some(conn) = self.on_line(client, line) {
            let id = conn.id;
            if conn.leave() {
                room.fresh.push(Pending::Up(id));
            }
            room.hears(client, Heard::Parted { conn: id });
            self.sweep(id);
        }
    }

    /// Forgets a connection that nobody holds for open.
    fn sweep(&mut self, conn: ConnId) {
        if let Some(place) = self.place(conn)
            && self.conns[place].is_over()
        {
            self.conns.remove(place);
        }
    }

    /// A server says something on a connection.
    pub(super) fn tell(&mut self, conn: ConnId, down: Down, fresh: &mut Vec<Pending>) {
        let Some(place) = self.place(conn) else { return };
        let this = &mut self.conns[place];
        let arrives = match down {
            Down::End => this.shut(true),
            down @ (Down::Connected(_) | Down::Event(_) | Down::Reply(_)) => {
                let arrives = this.client_open && !this.down.ends;
                if arrives {
                    this.down.frames.push_back(down);
                }
                arrives
            }
        };
        if arrives {
            fresh.push(Pending::Down(conn));
        }
        self.sweep(conn);
    }

    /// The process of a server is gone; its kernel tells the clients, if there still is one.
    pub(super) fn died(&mut self, server: ServerId, tell: bool, fresh: &mut Vec<Pending>) {
        self.conns.retain_mut(|conn| {
            if conn.server == server && conn.server_open && conn.shut(tell) {
                fresh.push(Pending::Down(conn.id));
            }
            !conn.is_over()
        });
    }
}

impl Room<'_> {
    fn hears(&mut self, client: ClientId, heard: Heard) {
        self.seen.push(Seen::Client { client, heard });
    }
}

/// The newest transaction that a frame from a server speaks of.
#[must_use]
pub fn zxid_of(down: &Down) -> Zxid {
    match down {
        Down::Connected(_) | Down::End => Zxid::NONE,
        Down::Event(event) => event.zxid,
        Down::Reply(reply) => reply.zxid,
    }
}

/// The application's name for a place, made once for all.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Spots(std::sync::Arc<[zoolab_core::Text]>);

/// How many children of a node have a name that is made beforehand.
pub const CHILDREN: u8 = 3;

impl Spots {
    pub(super) fn new(nodes: u16) -> Self {
        let text = |spot: Spot| zoolab_core::Text::from(spot.to_string());
        let of = |node| {
            let children = (0..CHILDREN).map(move |child| Spot::Child(node, child));
            [Spot::Node(node)].into_iter().chain(children)
        };
        Self((0..nodes).flat_map(of).map(text).collect())
    }

    pub(super) fn text(&self, spot: Spot) -> zoolab_core::Text {
        let each = usize::from(CHILDREN) + 1;
        let place = match spot {
            Spot::Root => None,
            Spot::Node(node) => Some(usize::from(node) * each),
            Spot::Child(node, child) if child < CHILDREN => {
                Some(usize::from(node) * each + usize::from(child) + 1)
            }
            Spot::Child(..) => None,
        };
        let known = place.and_then(|place| self.0.get(place));
        known.cloned().unwrap_or_else(|| spot.to_string().into())
    }
}

impl App {
    /// When a timer may run out, and by how much later it may be, in milliseconds.
    #[must_use]
    pub fn due(&self, timer: Timer) -> Option<(Instant, u32)> {
        self.timers[timer as usize]
    }
}
