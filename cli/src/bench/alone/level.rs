//! How deep a question goes: the same requests, handed to the tree alone, to a server as values,
//! or to a server as bytes.

use std::collections::VecDeque;
use std::fmt;
use std::hint::black_box;
use std::mem;
use std::net::{IpAddr, Ipv4Addr};

use serde::Serialize;
use zoolab_core::acl::{Id, perms};
use zoolab_core::pipeline::prepare::{Asker, Prepare};
use zoolab_core::pipeline::{Overlay, ahead};
use zoolab_core::request::{Body, ConnectRequest, Stamp};
use zoolab_core::tree::{Node, Tree, Trigger};
use zoolab_core::txn::{Change, NodeChange, SubChange};
use zoolab_core::wire::{MAX_FRAME, decode_request, encode_event, encode_reply};
use zoolab_core::{
    Boot, ConnId, Input, Millis, Now, Output, Request, Server, ServerId, SessionId, Settings, Xid,
    Zxid,
};

use crate::bench::frame::frame;

/// Any number; entries lie elsewhere in memory with another.
const SCATTER: u64 = 0x5EED;

/// Some day in 2026.
const WALL: Millis = Millis(1_780_000_000_000);

/// When bytes are handed on, as a server would.
const FLUSH: usize = 64 * 1024;

/// How much of the core is passed through.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(super) enum Depth {
    /// `prepare` and `apply`, or a look-up.
    Tree,
    /// A server's step, values in and out.
    Step,
    /// A server's step, bytes in and out.
    Wire,
}

impl Depth {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Step => "step",
            Self::Wire => "wire",
        }
    }
}

impl fmt::Display for Depth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Something that answers requests.
pub(super) trait Level {
    /// In which ways it can be asked.
    fn depths(&self) -> &'static [Depth];

    /// Takes the next requests in the form they have at this depth. Not timed.
    fn load(&mut self, depth: Depth, requests: Vec<Request>);

    /// Answers what was loaded, so many at a time. This is what is timed.
    fn perform(&mut self, at_hand: usize);

    /// The tree behind it.
    fn tree(&self) -> &Tree;
}

/// `prepare`, `apply`, and nothing around them.
#[derive(Debug)]
pub(super) struct TreeLevel {
    tree: Tree,
    overlay: Overlay,
    settings: Settings,
    stamp: Stamp,
    who: Vec<Id>,
    triggers: Vec<Trigger>,
    loaded: Vec<Request>,
}

impl TreeLevel {
    pub(super) fn new() -> Self {
        let settings = Settings::default();
        let tree = Tree::new(settings.extended_types, SCATTER);
        Self {
            overlay: Overlay::new(&tree, SCATTER),
            tree,
            settings,
            stamp: Stamp { zxid: Zxid::ZERO, time: WALL },
            who: vec![Id { scheme: "ip".into(), id: "127.0.0.1".into() }],
            triggers: Vec::new(),
            loaded: Vec::new(),
        }
    }

    fn answer(&mut self, request: &Request) {
        if let Some(body) = self.read(request) {
            black_box(body);
        } else {
            self.write(request);
        }
    }

    /// As a server's reads do it.
    #[expect(clippy::wildcard_enum_match_arm, reason = "a benchmark asks few of all requests")]
    fn read(&self, request: &Request) -> Option<Body> {
        Some(match request {
            Request::Exists { path, .. } => Body::Stat(self.tree.stat(self.readable(path))),
            Request::GetData { path, .. } => {
                let node = self.readable(path);
                Body::Data { data: node.data().clone(), stat: self.tree.stat(node) }
            }
            Request::GetChildren { path, .. } => {
                let names = self.readable(path).child_names();
                Body::Children { names, stat: None }
            }
            _ => return None,
        })
    }

    fn readable(&self, path: &str) -> &Node {
        let node = self.tree.get(path).expect("only what is there is asked for");
        assert!(self.tree.acl(node).lets(perms::READ, &self.who));
        node
    }

    fn write(&mut self, request: &Request) {
        self.stamp.zxid = self.stamp.zxid.next();
        let Self { tree, overlay, settings, stamp, who, .. } = self;
        let asker = Asker { session: SessionId(1), who, open: true, local: false };
        let decided = Prepare::new(tree, overlay, settings, *stamp).decide(asker, request);
        match decided.expect("what is no read is a write") {
            Ok(Change::Node(change)) => self.apply(&change),
            Ok(Change::Multi(changes)) => {
                for change in &changes {
                    let SubChange::Node(change) = change else { panic!("refused: {change:?}") };
                    self.apply(change);
                }
            }
            refused => panic!("refused: {request:?}: {refused:?}"),
        }
        self.overlay.applied(self.stamp.zxid);
    }

    fn apply(&mut self, change: &NodeChange) {
        let done = self.tree.apply(self.stamp, SessionId(1), change, &mut self.triggers);
        black_box((done, &self.triggers));
        self.triggers.clear();
    }
}

impl Level for TreeLevel {
    fn depths(&self) -> &'static [Depth] {
        &[Depth::Tree]
    }

    fn load(&mut self, _: Depth, requests: Vec<Request>) {
        self.stamp.time.0 += 1;
        self.loaded = requests;
    }

    fn perform(&mut self, at_hand: usize) {
        let loaded = mem::take(&mut self.loaded);
        for requests in loaded.chunks(at_hand) {
            if at_hand > 1 {
                let mut paths = Vec::new();
                for request in requests {
                    ahead::nodes(request, &mut paths);
                }
                self.tree.look_ahead(&paths);
            }
            for request in requests {
                self.answer(request);
            }
        }
        // Kept, for what they hold is given back outside the timed part.
        self.loaded = loaded;
    }

    fn tree(&self) -> &Tree {
        &self.tree
    }
}

/// A server with a client, whose disk is done as soon as it is asked.
#[derive(Debug)]
pub(super) struct ServerLevel {
    server: Server,
    now: Now,
    xid: i32,
    out: Vec<Output>,
    loaded: Loaded,
    decoded: Vec<Request>,
    bytes_out: Vec<u8>,
}

#[derive(Debug)]
enum Loaded {
    Values(VecDeque<Request>),
    /// Frames behind each other, and where each ends.
    Bytes(Vec<u8>, Vec<usize>),
}

impl ServerLevel {
    /// The client that is always there.
    pub(super) const CLIENT: ConnId = ConnId(0);

    pub(super) fn new() -> Self {
        let mut out = Vec::new();
        let boot = Boot { me: ServerId(1), steady: Millis(0), scatter: SCATTER };
        let server = Server::recover(Settings::default(), boot, &mut out);
        let now = Now { wall: WALL, steady: Millis(0) };
        let mut level = Self {
            server,
            now,
            xid: 0,
            out,
            loaded: Loaded::Values(VecDeque::new()),
            decoded: Vec::new(),
            bytes_out: Vec::new(),
        };
        level.connect(Self::CLIENT);
        level
    }

    /// One more client.
    pub(super) fn connect(&mut self, conn: ConnId) {
        let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
        self.input(Input::Accepted { conn, address });
        let request = ConnectRequest { timeout_ms: i32::MAX, ..ConnectRequest::default() };
        self.input(Input::Connect { conn, request });
        assert!(self.server.session_of(conn).is_some(), "{conn:?} has no session");
        self.out.clear();
    }

    /// As a host does with what it has at hand.
    fn look_ahead<'a>(&self, requests: impl ExactSizeIterator<Item = &'a Request>) {
        if requests.len() > 1 {
            self.server.look_ahead(requests);
        }
    }

    /// One request, to its answer.
    pub(super) fn request(&mut self, conn: ConnId, request: Request) {
        let xid = self.next_xid();
        self.input(Input::Request { conn, xid, request });
        let Some(Output::Reply { reply, .. }) = self.out.last() else {
            panic!("no answer: {:?}", self.out);
        };
        assert_eq!(reply.err, None, "refused");
    }

    /// What came of it, since this was last called.
    pub(super) fn outputs(&mut self) -> std::vec::Drain<'_, Output> {
        self.out.drain(..)
    }

    /// The same as bytes, as a client gets them.
    pub(super) fn encode(&mut self) {
        if self.bytes_out.len() > FLUSH {
            self.bytes_out.clear();
        }
        for output in self.out.drain(..) {
            match output {
                Output::Notify { event, .. } => encode_event(&event, &mut self.bytes_out),
                Output::Reply { reply, .. } => encode_reply(&reply, &mut self.bytes_out),
                Output::Arm { .. }
                | Output::Close { .. }
                | Output::Connected { .. }
                | Output::Halt { .. }
                | Output::Persist { .. }
                | Output::Dial { .. }
                | Output::Disarm { .. }
                | Output::HangUp { .. }
                | Output::Note(_)
                | Output::Reload
                | Output::Send { .. }
                | Output::Tell { .. }
                | Output::Wake { .. } => {}
            }
        }
        black_box(&self.bytes_out);
    }

    fn next_xid(&mut self) -> Xid {
        self.xid = self.xid.wrapping_add(1).max(1);
        Xid(self.xid)
    }

    fn input(&mut self, input: Input) {
        let mut place = self.out.len();
        self.server.step(self.now, input, &mut self.out);
        while let Some(output) = self.out.get(place) {
            if let Output::Persist { token, .. } = *output {
                self.server.step(self.now, Input::Persisted(token), &mut self.out);
            }
            place += 1;
        }
    }
}

impl Level for ServerLevel {
    fn depths(&self) -> &'static [Depth] {
        &[Depth::Step, Depth::Wire]
    }

    fn load(&mut self, depth: Depth, requests: Vec<Request>) {
        self.now.wall.0 += 1;
        self.loaded = match depth {
            Depth::Tree | Depth::Step => Loaded::Values(requests.into()),
            Depth::Wire => {
                let (mut bytes, mut ends) = (Vec::new(), Vec::new());
                for request in requests {
                    frame(self.next_xid(), &request, &mut bytes);
                    ends.push(bytes.len());
                }
                Loaded::Bytes(bytes, ends)
            }
        };
    }

    fn perform(&mut self, at_hand: usize) {
        match mem::replace(&mut self.loaded, Loaded::Values(VecDeque::new())) {
            Loaded::Values(mut requests) => {
                while !requests.is_empty() {
                    let next = ..at_hand.min(requests.len());
                    self.look_ahead(requests.range(next));
                    for request in requests.drain(next) {
                        self.request(Self::CLIENT, request);
                        black_box(&self.out);
                        self.out.clear();
                    }
                }
            }
            Loaded::Bytes(bytes, ends) => {
                let mut begin = 0;
                for ends in ends.chunks(at_hand) {
                    self.decoded.extend(ends.iter().map(|&end| {
                        let payload = &bytes[mem::replace(&mut begin, end) + 4..end];
                        decode_request(payload, MAX_FRAME).expect("a request").1
                    }));
                    let mut decoded = mem::take(&mut self.decoded);
                    self.look_ahead(decoded.iter());
                    for request in decoded.drain(..) {
                        self.request(Self::CLIENT, request);
                        self.encode();
                    }
                    self.decoded = decoded;
                }
            }
        }
    }

    fn tree(&self) -> &Tree {
        self.server.tree()
    }
}
