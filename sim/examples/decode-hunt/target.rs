//! A live server with a few clients that say whatever they are given.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use zoolab_core::request::ConnectRequest;
use zoolab_core::wire::{
    MAX_FRAME, decode_connect, decode_request, encode_connected, encode_event, encode_reply,
};
use zoolab_core::{
    Boot, ConnId, Input, Millis, Now, Output, Request, Server, ServerId, Settings, Timer,
};

use crate::encode;

/// How many clients are there at a time.
const CLIENTS: usize = 4;
const TICK_MS: u32 = 2000;
/// How often to look at everything.
const LOOK_EVERY: u64 = 500;
/// How large a tree may grow before a new server takes its place.
const NODES_MOST: usize = 1000;

pub(crate) struct Target {
    server: Server,
    now: Now,
    /// At which tick they run out.
    timers: BTreeMap<Timer, i64>,
    /// In turn.
    conns: VecDeque<ConnId>,
    next: u64,
    figures: Figures,
}

/// What came of it all.
#[derive(Debug, Default)]
struct Figures {
    inputs: u64,
    /// Payloads that open a session when they come first.
    connects: u64,
    /// Payloads that end their connection.
    refused: u64,
    /// Requests by whether they could be read.
    readable: u64,
    unreadable: u64,
    unknown: u64,
    /// What the server said.
    replies: u64,
    errors: u64,
    events: u64,
    closes: u64,
    transactions: u64,
    servers: u64,
    /// Of requests that could be read.
    opcodes: BTreeSet<Vec<u8>>,
    /// Of all bytes put out, FNV-1a.
    hash: u64,
}

impl Target {
    pub(crate) fn new() -> Self {
        let figures = Figures { hash: 0xCBF2_9CE4_8422_2325, ..Figures::default() };
        let (now, timers, conns) = (Now::default(), BTreeMap::new(), VecDeque::new());
        let server = server(now, &mut Vec::new());
        let mut target = Self { server, now, timers, conns, next: 1, figures };
        target.renew();
        target
    }

    /// A new server, and new clients for it.
    fn renew(&mut self) {
        let mut outputs = Vec::new();
        self.server = server(self.now, &mut outputs);
        self.timers.clear();
        self.conns.clear();
        outputs.iter().for_each(|output| self.note(output));
        self.figures.servers += 1;
        self.fill();
    }

    /// Reads a payload in every way a server might, and does what it says.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        self.figures.inputs += 1;
        self.now.wall.0 += 7;
        self.now.steady.0 += 7;
        if let Ok(request) = decode_connect(bytes) {
            self.figures.connects += 1;
            self.accept(request);
        }
        for max_buffer in [0, 64, usize::MAX] {
            let _ = decode_request(bytes, max_buffer);
        }
        match decode_request(bytes, MAX_FRAME) {
            Err(_) => self.figures.refused += 1,
            Ok((xid, request)) => {
                if let Request::Unknown { .. } = request {
                    self.figures.unknown += 1;
                } else if let Request::Unreadable { .. } = request {
                    self.figures.unreadable += 1;
                } else {
                    // What was read is the same when said properly.
                    let again = decode_request(&encode::request(xid, &request), MAX_FRAME);
                    assert_eq!(again, Ok((xid, request.clone())));
                    self.figures.readable += 1;
                    self.figures.opcodes.insert(bytes[4..8].to_vec());
                }
                let conn = self.conns.pop_front().expect("clients come back");
                self.conns.push_back(conn);
                self.step(Input::Request { conn, xid, request });
            }
        }
        if self.figures.inputs.is_multiple_of(LOOK_EVERY) {
            self.server.assert_invariants();
            self.run_timers();
            self.server.assert_invariants();
        }
        if self.server.tree().len() > NODES_MOST {
            self.renew();
        }
        self.fill();
    }

    /// Lets every timer run out that is due.
    fn run_timers(&mut self) {
        let tick = self.now.steady.0 / i64::from(TICK_MS);
        while let Some((timer, _)) = self.timers.iter().find(|(_, due)| **due <= tick) {
            let timer = *timer;
            self.timers.remove(&timer);
            self.step(Input::Timeout(timer));
        }
    }

    /// New clients for those that are gone.
    fn fill(&mut self) {
        while self.conns.len() < CLIENTS {
            self.accept(ConnectRequest { timeout_ms: 40_000, ..ConnectRequest::default() });
        }
        // A client that was let in by chance may stay, but not for ever.
        while self.conns.len() > 2 * CLIENTS {
            let conn = self.conns.pop_front().expect("there are many");
            self.step(Input::Disconnected { conn });
        }
    }

    fn accept(&mut self, request: ConnectRequest) {
        let conn = ConnId(self.next);
        self.next += 1;
        self.conns.push_back(conn);
        self.step(Input::Accepted { conn, address: [127, 0, 0, 1].into() });
        self.step(Input::Connect { conn, request });
    }

    /// One step, with a disk that is done at once.
    fn step(&mut self, input: Input) {
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            let mut outputs = Vec::new();
            self.server.step(self.now, input, &mut outputs);
            for output in outputs {
                if let Output::Persist { token, .. } = &output {
                    inputs.push_back(Input::Persisted(*token));
                }
                self.note(&output);
            }
        }
    }

    fn note(&mut self, output: &Output) {
        let mut bytes = Vec::new();
        match output {
            Output::Arm { timer, ticks } => {
                let tick = self.now.steady.0 / i64::from(TICK_MS);
                self.timers.insert(*timer, tick + i64::from(ticks.0));
            }
            Output::Close { conn } => {
                self.figures.closes += 1;
                self.conns.retain(|open| open != conn);
            }
            Output::Connected { response, .. } => encode_connected(response, &mut bytes),
            Output::Halt { .. } => panic!("no write failed"),
            Output::Notify { event, .. } => {
                self.figures.events += 1;
                encode_event(event, &mut bytes);
            }
            Output::Persist { persist, .. } => {
                let append = matches!(persist, zoolab_core::Persist::Append(_));
                self.figures.transactions += u64::from(append);
            }
            Output::Reply { reply, .. } => {
                self.figures.replies += 1;
                self.figures.errors += u64::from(reply.err.is_some());
                encode_reply(reply, &mut bytes);
            }
            Output::Note(zoolab_core::Note::Reached(_)) => {}
            Output::Dial { .. }
            | Output::Disarm { .. }
            | Output::HangUp { .. }
            | Output::Note(_)
            | Output::Reload
            | Output::Send { .. }
            | Output::Tell { .. }
            | Output::Wake { .. } => panic!("an ensemble of one has no peers: {output:?}"),
        }
        for byte in bytes {
            self.figures.hash = (self.figures.hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3);
        }
    }

    pub(crate) fn summary(&self) -> String {
        let Figures {
            inputs: _,
            connects,
            refused,
            readable,
            unreadable,
            unknown,
            replies,
            errors,
            events,
            closes,
            transactions,
            servers,
            opcodes,
            hash,
        } = &self.figures;
        format!(
            "{readable} read as requests of {} kinds, {unreadable} unreadable, {unknown} unknown, \
             {refused} refused, {connects} also read as first frames; {servers} servers put out \
             {replies} replies ({errors} errors), {events} events, {transactions} transactions, \
             {closes} closes, the last has {} nodes; hash {hash:016x}",
            opcodes.len(),
            self.server.tree().len(),
        )
    }
}

fn server(now: Now, outputs: &mut Vec<Output>) -> Server {
    let settings =
        Settings { extended_types: true, enforce_quota: true, ..Settings::with_tick(TICK_MS) };
    // Every server gives out the same ids, so that clients can guess them.
    let boot = Boot { me: ServerId(1), steady: Millis(0), scatter: now.steady.0.cast_unsigned() };
    Server::recover(settings, boot, outputs)
}
