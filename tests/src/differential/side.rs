//! One of the two servers, with the sessions that talk to it.
//!
//! Carries out a step and brings back everything that was seen, in the order of each wire. It
//! decides nothing: what both servers are told depends on the step alone.

use std::net::SocketAddr;
use std::time::Duration;

use super::op::{Ask, Claim, Nonsense, Op};
use super::view::View;
use crate::raw::{
    Error, Event, Frame, Hello, Raw, Reply, Request, Result, Text, Welcome, Writer,
    derived_password, opcode,
};

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// A session id no server of this kind hands out.
const UNKNOWN_SESSION: i64 = 0x0100_dead_beef_0000;

/// One thing seen on a wire.
#[derive(Clone, Debug, PartialEq)]
pub enum Seen {
    /// The server hung up.
    Closed,
    /// A watch fired.
    Event(Event),
    /// No answer, or one that is none.
    Failed(String),
    /// An answer to the step's request number `ask`, or to a ping of the harness.
    Reply {
        /// Which request of the step it answers.
        ask: Option<usize>,
        /// The answer.
        reply: Reply,
    },
    /// The server was expected to hang up and did not.
    StillOpen,
    /// The answer to a hello.
    Welcome {
        /// The answer.
        welcome: Welcome,
        /// Whether a new session was asked for.
        fresh: bool,
    },
}

/// What was seen on one connection during a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    /// The connection: a slot, or a guest.
    pub who: String,
    /// Whether this connection did the step's requests.
    pub acting: bool,
    /// What was seen, in order.
    pub seen: Vec<Seen>,
}

/// What was seen during a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// By connection.
    pub tracks: Vec<Track>,
}

/// Where a slot's session is.
#[derive(Debug)]
enum Slot {
    /// There is none.
    Absent,
    /// Alive, without a connection.
    Away(Welcome),
    /// Alive and connected.
    Here(Raw),
}

/// One server and everyone who talks to it.
#[derive(Debug)]
pub struct Side {
    address: SocketAddr,
    slots: Vec<Slot>,
    /// Newest zxid any reply showed.
    zxid_last: i64,
    /// How this server's numbers are read.
    pub view: View,
}

impl Side {
    /// A server nobody talks to yet.
    pub fn new(address: SocketAddr, slots: usize, now_ms: i64) -> Self {
        let slots = (0..slots).map(|_| Slot::Absent).collect();
        Self { address, slots, zxid_last: 0, view: View::new(now_ms) }
    }

    /// The server's address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether the slot holds a session, connected or not.
    pub fn has_session(&self, slot: usize) -> bool {
        !matches!(self.slots[slot], Slot::Absent)
    }

    /// Carries out one step; an error only if the server cannot be reached at all.
    pub fn perform(&mut self, op: &Op) -> Result<Outcome> {
        let mut tracks = vec![];
        match op {
            Op::Ask { slot, asks, xid } => {
                let mut seen = self.attend(*slot)?;
                self.ask(*slot, asks, *xid, &mut seen);
                tracks.push(acting(*slot, seen));
            }
            Op::Close { slot } => {
                let mut seen = self.attend(*slot)?;
                self.ask(*slot, &[Ask::Plain(Request::CloseSession)], None, &mut seen);
                if let Slot::Here(raw) = &mut self.slots[*slot] {
                    await_end(raw, &mut seen);
                }
                self.slots[*slot] = Slot::Absent;
                tracks.push(acting(*slot, seen));
            }
            Op::Leave { slot } => {
                let mut seen = self.attend(*slot)?;
                if let Some(raw) = self.depart(*slot) {
                    seen.push(match raw.hang_up() {
                        Ok(()) => Seen::Closed,
                        Err(error) => failed(&error),
                    });
                }
                tracks.push(acting(*slot, seen));
            }
            Op::Nonsense { slot, what } => {
                let mut seen = self.attend(*slot)?;
                if let Some(mut raw) = self.depart(*slot) {
                    match raw.write(&nonsense(*what)) {
                        Ok(()) => await_end(&mut raw, &mut seen),
                        Err(error) => seen.push(failed(&error)),
                    }
                }
                tracks.push(acting(*slot, seen));
            }
            Op::Steal { slot, claim } => {
                let seen = self.attend(*slot)?;
                tracks.push(acting(*slot, seen));
                self.steal(*slot, *claim, &mut tracks)?;
            }
            Op::Stranger { password } => {
                let hello = Hello {
                    session_id: UNKNOWN_SESSION,
                    password: Some(match password {
                        true => derived_password(UNKNOWN_SESSION).to_vec(),
                        false => vec![7; 16],
                    }),
                    ..Hello::default()
                };
                let mut seen = vec![];
                if let Some(mut raw) = self.greet(&hello, &mut seen)? {
                    await_end(&mut raw, &mut seen);
                }
                tracks.push(guest(seen));
            }
            Op::Visit { timeout_ms, read_only, asks } => {
                let hello = Hello {
                    timeout_ms: *timeout_ms,
                    read_only: *read_only,
                    password: None,
                    ..Hello::default()
                };
                let seen = self.visit(&hello, asks)?;
                tracks.push(guest(seen));
            }
        }
        self.fence(&mut tracks);
        self.note_zxids(&tracks);
        Ok(Outcome { tracks })
    }

    /// Makes sure that the slot has a connection; tells what that took.
    fn attend(&mut self, slot: usize) -> Result<Vec<Seen>> {
        let hello = match &self.slots[slot] {
            Slot::Here(_) => return Ok(vec![]),
            Slot::Absent => Hello::default(),
            Slot::Away(welcome) => welcome.again(),
        };
        let mut seen = vec![];
        // A client that comes back says what it has seen; one that is new says nothing.
        let last_zxid_seen = if hello.session_id == 0 { 0 } else { self.zxid_last };
        if let Some(mut raw) = self.greet(&Hello { last_zxid_seen, ..hello }, &mut seen)? {
            if raw.welcome().is_some_and(|welcome| !welcome.is_expired()) {
                self.slots[slot] = Slot::Here(raw);
            } else {
                await_end(&mut raw, &mut seen);
                self.slots[slot] = Slot::Absent;
            }
        }
        Ok(seen)
    }

    /// Takes the connection out of a slot whose session lives on.
    fn depart(&mut self, slot: usize) -> Option<Raw> {
        let before = std::mem::replace(&mut self.slots[slot], Slot::Absent);
        match before {
            Slot::Here(raw) => {
                let welcome = raw.welcome().expect("a slot's connection was welcomed").clone();
                self.slots[slot] = Slot::Away(welcome);
                Some(raw)
            }
            Slot::Absent | Slot::Away(_) => {
                self.slots[slot] = before;
                None
            }
        }
    }

    fn dial(&self) -> Result<Raw> {
        let mut raw = Raw::dial(self.address)?;
        raw.set_patience(PATIENCE);
        Ok(raw)
    }

    /// Says hello on a new connection; `None` if there was no answer.
    fn greet(&mut self, hello: &Hello, seen: &mut Vec<Seen>) -> Result<Option<Raw>> {
        let mut raw = self.dial()?;
        Ok(match raw.greet(hello) {
            Ok(welcome) => {
                seen.push(self.welcome(welcome, hello));
                Some(raw)
            }
            Err(error) => {
                seen.push(failed(&error));
                None
            }
        })
    }

    fn welcome(&mut self, welcome: Welcome, hello: &Hello) -> Seen {
        let fresh = hello.session_id == 0;
        if fresh && !welcome.is_expired() {
            self.view.add_session(welcome.session_id);
        }
        Seen::Welcome { welcome, fresh }
    }

    /// Sends the requests, then reads until each has its reply.
    fn ask(&mut self, slot: usize, asks: &[Ask], xid: Option<i32>, seen: &mut Vec<Seen>) {
        let requests = self.lower(asks);
        let Slot::Here(raw) = &mut self.slots[slot] else { return };
        let mut sent = vec![];
        for (index, request) in requests.iter().enumerate() {
            let result = match xid {
                Some(xid) if index == 0 => raw.send_as(xid, request).map(|()| xid),
                Some(_) | None => raw.send(request),
            };
            match result {
                Ok(xid) if request.opcode() == opcode::PING => sent.push((-2, index, xid)),
                Ok(xid) => sent.push((xid, index, xid)),
                Err(error) => {
                    seen.push(failed(&error));
                    break;
                }
            }
        }
        let mut open = collect(raw, &mut sent, seen);
        let refused = |seen: &Seen| matches!(seen, Seen::Reply { reply, .. } if reply.err != 0);
        if open && asks.len() == 1 && asks[0].may_close() && seen.last().is_some_and(refused) {
            await_end(raw, seen);
            open = false;
        }
        if !open {
            self.depart(slot);
        }
    }

    fn lower(&self, asks: &[Ask]) -> Vec<Request> {
        asks.iter().map(|ask| ask.lower(|back| self.view.back(self.zxid_last, back))).collect()
    }

    fn steal(&mut self, slot: usize, claim: Claim, tracks: &mut Vec<Track>) -> Result<()> {
        let Slot::Here(raw) = &self.slots[slot] else { return Ok(()) };
        let right = raw.welcome().expect("a slot's connection was welcomed").again();
        let hello = match claim {
            Claim::Right => Hello { timeout_ms: 30_000, ..right },
            Claim::Old => Hello { read_only: None, ..right },
            Claim::Wrong => Hello { password: Some(vec![1; 16]), ..right },
            Claim::Null => Hello { password: None, ..right },
            Claim::Ahead => Hello { last_zxid_seen: self.zxid_last + 1000, ..right },
        };
        let mut seen = vec![];
        let second = self.greet(&hello, &mut seen)?;
        if claim == Claim::Ahead {
            tracks.push(guest(seen));
            return Ok(());
        }
        // Whoever asks for a session takes it from the connection it had, password or not.
        let mut first = self.depart(slot).expect("it was here a moment ago");
        await_end(&mut first, &mut tracks.last_mut().expect("the slot has a track").seen);
        match second {
            Some(raw) if raw.welcome().is_some_and(|welcome| !welcome.is_expired()) => {
                self.slots[slot] = Slot::Here(raw);
            }
            Some(mut raw) => await_end(&mut raw, &mut seen),
            None => {}
        }
        tracks.push(guest(seen));
        Ok(())
    }

    fn visit(&mut self, hello: &Hello, asks: &[Ask]) -> Result<Vec<Seen>> {
        let mut seen = vec![];
        let mut raw = self.dial()?;
        let mut requests = self.lower(asks);
        requests.push(Request::CloseSession);
        if let Err(error) = raw.write_frame(&hello.encode()) {
            return Ok(vec![failed(&error)]);
        }
        let mut sent = vec![];
        for (index, request) in requests.iter().enumerate() {
            match raw.send(request) {
                Ok(xid) => sent.push((xid, index, xid)),
                Err(error) => return Ok(vec![failed(&error)]),
            }
        }
        match raw.welcomed() {
            Ok(welcome) => seen.push(self.welcome(welcome, hello)),
            Err(error) => return Ok(vec![failed(&error)]),
        }
        if collect(&mut raw, &mut sent, &mut seen) {
            await_end(&mut raw, &mut seen);
        }
        Ok(seen)
    }

    /// A ping on every connection: its reply follows every event that was already queued.
    fn fence(&mut self, tracks: &mut Vec<Track>) {
        let mut pinged = vec![];
        for (index, slot) in self.slots.iter_mut().enumerate() {
            if let Slot::Here(raw) = slot {
                pinged.push((index, raw.send(&Request::Ping)));
            }
        }
        for (slot, sent) in pinged {
            let Slot::Here(raw) = &mut self.slots[slot] else { continue };
            let mut seen = vec![];
            let open = match sent {
                Ok(_) => collect(raw, &mut vec![(-2, usize::MAX, -2)], &mut seen),
                Err(error) => {
                    seen.push(failed(&error));
                    false
                }
            };
            if !open {
                self.depart(slot);
            }
            match tracks.iter_mut().find(|track| track.who == name(slot)) {
                Some(track) => track.seen.append(&mut seen),
                None => tracks.push(Track { who: name(slot), acting: false, seen }),
            }
        }
    }

    fn note_zxids(&mut self, tracks: &[Track]) {
        for seen in tracks.iter().flat_map(|track| &track.seen) {
            if let Seen::Reply { reply, .. } = seen {
                self.zxid_last = self.zxid_last.max(reply.zxid);
            }
        }
    }

    /// Takes the present as the beginning: zxids are counted from here. True if the server was
    /// fresh, and our session the first thing that happened to it.
    pub fn begin(&mut self) -> bool {
        self.view.set_base(self.zxid_last - 1);
        self.zxid_last == 1
    }
}

/// Reads until every request in `sent` (xid shown, number, xid) has its reply. False if the
/// connection can no longer be used.
fn collect(raw: &mut Raw, sent: &mut Vec<(i32, usize, i32)>, seen: &mut Vec<Seen>) -> bool {
    while !sent.is_empty() {
        match raw.receive() {
            Ok(Frame::Event(event)) => seen.push(Seen::Event(event)),
            Ok(Frame::Reply(reply)) => {
                let position = sent.iter().position(|(xid, ..)| *xid == reply.xid);
                let ask = position.map(|position| sent.remove(position).1);
                seen.push(Seen::Reply { ask: ask.filter(|ask| *ask != usize::MAX), reply });
            }
            Err(error) => {
                seen.push(failed(&error));
                return false;
            }
        }
    }
    true
}

/// Reads until the server hangs up.
fn await_end(raw: &mut Raw, seen: &mut Vec<Seen>) {
    raw.set_patience(Duration::from_secs(3));
    loop {
        match raw.receive() {
            Ok(Frame::Event(event)) => seen.push(Seen::Event(event)),
            Ok(Frame::Reply(reply)) => seen.push(Seen::Reply { ask: None, reply }),
            Err(Error::Timeout { .. }) => {
                seen.push(Seen::StillOpen);
                break;
            }
            Err(error) => {
                seen.push(failed(&error));
                break;
            }
        }
    }
}

/// What is wrong, without addresses and times, so that two servers can be compared.
fn failed(error: &Error) -> Seen {
    match error {
        Error::Closed { .. } => Seen::Closed,
        Error::Timeout { .. } => Seen::Failed("no answer".to_owned()),
        Error::Garbled { source, .. } => Seen::Failed(format!("garbled: {source}")),
        Error::Unreachable { .. }
        | Error::FrameLength { .. }
        | Error::Unasked { .. }
        | Error::Expired { .. }
        | Error::Refused(_)
        | Error::Io { .. } => Seen::Failed(error.to_string()),
    }
}

fn nonsense(what: Nonsense) -> Vec<u8> {
    match what {
        Nonsense::Negative => Writer::new().i32(-7).finish(),
        Nonsense::TooLong => Writer::new().i32(0x10_0000).raw(&[0; 64]).finish(),
        Nonsense::Headless(length) => Writer::new().buffer(Some(&vec![0; length])).finish(),
        Nonsense::HalfAuth => {
            let body = Request::Auth { scheme: Text::from("digest"), auth: None }.body();
            let body = Writer::new().i32(-4).i32(opcode::AUTH).raw(&body[..9]).finish();
            Writer::new().buffer(Some(&body)).finish()
        }
    }
}

fn name(slot: usize) -> String {
    format!("s{slot}")
}

fn acting(slot: usize, seen: Vec<Seen>) -> Track {
    Track { who: name(slot), acting: true, seen }
}

fn guest(seen: Vec<Seen>) -> Track {
    Track { who: "guest".to_owned(), acting: true, seen }
}
