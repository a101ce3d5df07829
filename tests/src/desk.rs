//! A server on the desk: bytes in, bytes out, and a hand on its disk and its clock.
//!
//! No socket and no waiting: what takes seconds on a network takes one call here, and what
//! depends on who is faster can be told to happen either way. Requests are written and replies
//! read by the [`raw`](crate::raw) codec, which shares nothing with the server's own.

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr};

use zoolab_core::wire;
use zoolab_core::{
    Boot, ConnId, Input, Millis, Note, Now, Output, Persist, Server, ServerId, Settings, Timer,
    Token,
};

use crate::raw::{Event, Frame, Hello, Reader, Reply, Request, Welcome, Writer, opcode};

/// What one client has sent and been sent.
#[derive(Debug, Default)]
struct Line {
    /// Payloads not yet looked at.
    frames: VecDeque<Vec<u8>>,
    /// Requests without reply: xid and opcode.
    due: VecDeque<(i32, i32)>,
    closed: bool,
}

/// See the [module](self).
#[derive(Debug)]
pub struct Desk {
    /// The server itself, to look at.
    pub server: Server,
    now: Now,
    tick_ms: i64,
    lines: BTreeMap<ConnId, Line>,
    timers: BTreeMap<Timer, i64>,
    /// Writes the disk has not confirmed.
    writing: VecDeque<Token>,
    /// Whether the disk stands still.
    holding: bool,
    /// Everything ever appended to the log.
    pub log: Vec<zoolab_core::Txn>,
}

/// A client of the desk.
pub type Client = ConnId;

impl Default for Desk {
    fn default() -> Self {
        Self::new(Settings::default())
    }
}

impl Desk {
    /// A fresh server.
    pub fn new(settings: Settings) -> Self {
        let now = Now { wall: Millis(1_700_000_000_000), steady: Millis(1_000_000) };
        let boot = Boot { me: ServerId(1), steady: now.steady, scatter: 7 };
        let mut out = Vec::new();
        let tick_ms = i64::from(settings.tick_ms);
        let server = Server::recover(settings, boot, &mut out);
        let mut desk = Self {
            server,
            now,
            tick_ms,
            lines: BTreeMap::new(),
            timers: BTreeMap::new(),
            writing: VecDeque::new(),
            holding: false,
            log: Vec::new(),
        };
        desk.carry_out(out);
        desk
    }

    /// Hands the server one input and does what it wants done.
    pub fn input(&mut self, input: Input) {
        self.step(input);
        while !self.holding
            && let Some(token) = self.writing.pop_front()
        {
            self.step(Input::Persisted(token));
        }
    }

    fn step(&mut self, input: Input) {
        let mut out = Vec::new();
        self.server.step(self.now, input, &mut out);
        self.carry_out(out);
        self.server.assert_invariants();
    }

    fn carry_out(&mut self, out: Vec<Output>) {
        for output in out {
            match output {
                Output::Arm { timer, ticks } => {
                    let here = self.now.steady.0.div_euclid(self.tick_ms);
                    self.timers.insert(timer, (here + i64::from(ticks.0)) * self.tick_ms);
                }
                Output::Close { conn } => self.line(conn).closed = true,
                Output::Connected { conn, response } => {
                    self.put(conn, |bytes| wire::encode_connected(&response, bytes));
                }
                Output::Halt { .. } => {}
                Output::Notify { conn, event } => {
                    self.put(conn, |bytes| wire::encode_event(&event, bytes));
                }
                Output::Persist { token, persist } => {
                    if let Persist::Append(txn) = persist {
                        self.log.push((*txn).clone());
                    }
                    self.writing.push_back(token);
                }
                Output::Reply { conn, reply } => {
                    self.put(conn, |bytes| wire::encode_reply(&reply, bytes));
                }
                // What somebody has got to needs nobody else.
                Output::Note(Note::Reached(_)) => {}
                Output::Dial { .. }
                | Output::Disarm { .. }
                | Output::HangUp { .. }
                | Output::Note(_)
                | Output::Reload
                | Output::Send { .. }
                | Output::Tell { .. }
                | Output::Wake { .. } => panic!("an ensemble of one has no peers: {output:?}"),
            }
        }
    }

    fn line(&mut self, conn: Client) -> &mut Line {
        self.lines.get_mut(&conn).expect("a client of this desk")
    }

    fn put(&mut self, conn: Client, encode: impl FnOnce(&mut Vec<u8>)) {
        let line = self.line(conn);
        assert!(!line.closed, "something was said on a closed connection");
        let mut bytes = Vec::new();
        encode(&mut bytes);
        let length = u32::from_be_bytes(bytes[..4].try_into().unwrap());
        assert_eq!(length as usize, bytes.len() - 4, "the frame's length");
        line.frames.push_back(bytes.split_off(4));
    }

    /// From now on nothing reaches the disk.
    pub fn hold_disk(&mut self) {
        self.holding = true;
    }

    /// The disk catches up.
    pub fn release_disk(&mut self) {
        self.holding = false;
        if let Some(token) = self.writing.pop_front() {
            self.input(Input::Persisted(token));
        }
    }

    /// Lets time pass; timers run out when they are due.
    pub fn pass(&mut self, ms: i64) {
        let until = self.now.steady.0 + ms;
        while let Some((timer, at)) = self
            .timers
            .iter()
            .map(|(timer, at)| (*timer, *at))
            .filter(|(_, at)| *at <= until)
            .min_by_key(|(_, at)| *at)
        {
            self.timers.remove(&timer);
            self.move_clock(at);
            self.input(Input::Timeout(timer));
        }
        self.move_clock(until);
    }

    fn move_clock(&mut self, steady: i64) {
        self.now.wall.0 += steady - self.now.steady.0;
        self.now.steady.0 = steady;
    }

    /// The steady clock.
    pub fn clock(&self) -> i64 {
        self.now.steady.0
    }

    /// A connection on which nothing has been said.
    pub fn dial(&mut self) -> Client {
        self.dial_from(IpAddr::V4(Ipv4Addr::LOCALHOST))
    }

    /// A connection from some address.
    pub fn dial_from(&mut self, address: IpAddr) -> Client {
        let conn = ConnId(self.lines.len() as u64 + 1);
        self.lines.insert(conn, Line::default());
        self.input(Input::Accepted { conn, address });
        conn
    }

    /// Sends a first frame.
    pub fn greet(&mut self, conn: Client, hello: &Hello) {
        let request = wire::decode_connect(&hello.encode()).expect("a whole first frame");
        self.input(Input::Connect { conn, request });
    }

    /// Takes the answer to a first frame, as bytes.
    pub fn welcome_bytes(&mut self, conn: Client) -> Option<Vec<u8>> {
        self.line(conn).frames.pop_front()
    }

    /// Takes the answer to a first frame.
    pub fn welcome(&mut self, conn: Client) -> Welcome {
        let bytes = self.welcome_bytes(conn).expect("an answer to the first frame");
        Welcome::decode(&bytes).expect("a whole answer")
    }

    /// A client with a session of its own.
    pub fn client(&mut self) -> Client {
        let conn = self.dial();
        self.greet(conn, &Hello::default());
        assert!(!self.welcome(conn).is_expired());
        conn
    }

    /// Sends any payload. False if the server would end the connection over it.
    pub fn send_bytes(&mut self, conn: Client, payload: &[u8]) -> bool {
        match wire::decode_request(payload, wire::MAX_FRAME) {
            Ok((xid, request)) => {
                self.input(Input::Request { conn, xid, request });
                true
            }
            Err(_) => false,
        }
    }

    /// Sends a request under an xid of the caller's choice.
    pub fn send_as(&mut self, conn: Client, xid: i32, request: &Request) {
        let due = if request.opcode() == opcode::PING { -2 } else { xid };
        self.line(conn).due.push_back((due, request.opcode()));
        let bytes = Writer::new().i32(xid).i32(request.opcode()).raw(&request.body()).finish();
        assert!(self.send_bytes(conn, &bytes), "the server would hang up over {request:?}");
    }

    /// The next payload sent to a client, as bytes.
    pub fn bytes(&mut self, conn: Client) -> Option<Vec<u8>> {
        self.line(conn).frames.pop_front()
    }

    /// The next frame sent to a client.
    pub fn frame(&mut self, conn: Client) -> Option<Frame> {
        let bytes = self.bytes(conn)?;
        let mut reader = Reader::new(&bytes);
        let header = "a reply has a header";
        let (xid, zxid) = (reader.i32().expect(header), reader.i64().expect(header));
        let err = reader.i32().expect(header);
        if xid == -1 {
            let event = Event::decode(zxid, err, reader.rest()).expect("a whole event");
            return Some(Frame::Event(event));
        }
        let due = &mut self.line(conn).due;
        let place = due.iter().position(|(due, _)| *due == xid).expect("a request with this xid");
        let (_, opcode) = due.remove(place).expect("found just now");
        Some(Frame::Reply(Reply::decode(xid, zxid, err, opcode, reader.rest())))
    }

    /// Everything sent to a client and not looked at.
    pub fn frames(&mut self, conn: Client) -> Vec<Frame> {
        std::iter::from_fn(|| self.frame(conn)).collect()
    }

    /// Sends a request and takes its reply, which must be the only frame.
    pub fn call(&mut self, conn: Client, request: &Request) -> Reply {
        let xid = 1000 + self.log.len() as i32;
        self.send_as(conn, xid, request);
        match self.frame(conn) {
            Some(Frame::Reply(reply)) => reply,
            other => panic!("a reply to {request:?} expected, got {other:?}"),
        }
    }

    /// Sends a request and takes events and the reply, which must come last.
    pub fn call_with_events(&mut self, conn: Client, request: &Request) -> (Vec<Event>, Reply) {
        let xid = 1000 + self.log.len() as i32;
        self.send_as(conn, xid, request);
        let mut frames = self.frames(conn);
        let Some(Frame::Reply(reply)) = frames.pop() else { panic!("no reply to {request:?}") };
        let events = frames.into_iter().map(|frame| match frame {
            Frame::Event(event) => event,
            Frame::Reply(other) => panic!("an answer too many: {other}"),
        });
        (events.collect(), reply)
    }

    /// Events sent to a client; nothing else may have been.
    pub fn events(&mut self, conn: Client) -> Vec<Event> {
        let event = |frame| match frame {
            Frame::Event(event) => event,
            Frame::Reply(reply) => panic!("an event expected, got {reply}"),
        };
        self.frames(conn).into_iter().map(event).collect()
    }

    /// Whether the server has ended a connection.
    pub fn is_closed(&mut self, conn: Client) -> bool {
        self.line(conn).closed
    }

    /// The client goes away without a word.
    pub fn hang_up(&mut self, conn: Client) {
        self.line(conn).closed = true;
        self.input(Input::Disconnected { conn });
    }

    /// Comes back to a session on a new connection.
    pub fn come_back(&mut self, welcome: &Welcome, last_zxid_seen: i64) -> Client {
        let conn = self.dial();
        self.greet(conn, &Hello { last_zxid_seen, ..welcome.again() });
        assert!(!self.welcome(conn).is_expired(), "the session is over");
        conn
    }
}
