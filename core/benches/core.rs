//! For people who tune: what one request costs, from bytes to bytes and in between.
//!
//! ```text
//! cargo bench -p zoolab-core
//! ```
//!
//! `zoolab bench core` is the other way to look: more sizes, memory, and how cost grows.

use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use zoolab_core::acl::AclWish;
use zoolab_core::pipeline::Overlay;
use zoolab_core::pipeline::prepare::{Asker, Prepare};
use zoolab_core::request::{ConnectRequest, Create, CreateOp, Request, Stamp, opcode};
use zoolab_core::tree::{Node, Tree};
use zoolab_core::txn::Change;
use zoolab_core::wire::jute::Writer;
use zoolab_core::wire::{MAX_FRAME, decode_request, encode_event, encode_reply};
use zoolab_core::{
    Boot, ConnId, Input, Millis, Now, Output, Server, ServerId, SessionId, Settings, Text, Xid,
    Zxid,
};

const NODES: usize = 10_000;
const WATCHERS: u64 = 10_000;
const NOW: Now = Now { wall: Millis(1_780_000_000_000), steady: Millis(0) };
const ME: ConnId = ConnId(0);

/// A server whose disk is done as soon as it is asked.
struct Stage {
    server: Server,
    out: Vec<Output>,
    next: usize,
}

impl Stage {
    fn new() -> Self {
        let boot = Boot { me: ServerId(1), steady: Millis(0), scatter: 1 };
        let mut out = Vec::new();
        let server = Server::recover(Settings::default(), boot, &mut out);
        out.clear();
        let mut stage = Self { server, out, next: 0 };
        stage.connect(ME);
        for number in 0..NODES {
            stage.ask(create(node(number)));
        }
        stage
    }

    fn connect(&mut self, conn: ConnId) {
        let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
        self.input(Input::Accepted { conn, address });
        let request = ConnectRequest { timeout_ms: 40_000, ..ConnectRequest::default() };
        self.input(Input::Connect { conn, request });
        self.out.clear();
    }

    /// Replies and events stay in `out`.
    fn input(&mut self, input: Input) {
        let mut pending = vec![input];
        while let Some(input) = pending.pop() {
            let from = self.out.len();
            self.server.step(NOW, input, &mut self.out);
            let mut tokens = Vec::new();
            for output in &self.out[from..] {
                if let Output::Persist { token, .. } = output {
                    tokens.push(Input::Persisted(*token));
                }
            }
            pending.extend(tokens.into_iter().rev());
        }
    }

    fn ask(&mut self, request: Request) {
        self.input(Input::Request { conn: ME, xid: Xid(1), request });
        black_box(&self.out);
        self.out.clear();
    }

    fn any(&mut self) -> Text {
        self.next = (self.next + 7919) % NODES;
        node(self.next)
    }
}

fn node(number: usize) -> Text {
    format!("/node-{number:06}").into()
}

fn data() -> Option<Arc<[u8]>> {
    Some(Arc::from([7; 100]))
}

fn create(path: Text) -> Request {
    let anyone = AclWish { perms: 31, scheme: Some("world".into()), id: Some("anyone".into()) };
    let (op, acl) = (CreateOp::Create, Some(vec![anyone]));
    Request::Create(Create { op, path, data: data(), acl, flags: 0, ttl_ms: -1 })
}

/// `prepare` and `apply`, or a look-up, and nothing around them.
fn tree(criterion: &mut Criterion) {
    let settings = Settings::default();
    let mut tree = Tree::new(settings.extended_types, 1);
    let mut overlay = Overlay::new(&tree, 1);
    let mut stamp = Stamp { zxid: Zxid::ZERO, time: NOW.wall };
    let mut triggers = Vec::new();
    let mut write = |tree: &mut Tree, request: &Request| {
        stamp.zxid = stamp.zxid.next();
        let asker = Asker { session: SessionId(1), who: &[], open: true, local: false };
        let decided = Prepare::new(tree, &mut overlay, &settings, stamp).decide(asker, request);
        let Some(Ok(Change::Node(change))) = decided else { panic!("{decided:?}") };
        black_box(tree.apply(stamp, SessionId(1), &change, &mut triggers));
        triggers.clear();
        overlay.applied(stamp.zxid);
    };
    for number in 0..NODES {
        write(&mut tree, &create(node(number)));
    }
    let mut next = 0;
    let mut any = || {
        next = (next + 7919) % NODES;
        node(next)
    };
    let mut group = criterion.benchmark_group("tree");
    group.throughput(Throughput::Elements(1));
    group.bench_function("get", |bench| {
        bench.iter_batched(&mut any, |path| tree.get(&path).is_some(), BatchSize::SmallInput);
    });
    group.bench_function("children of the root", |bench| {
        bench.iter(|| tree.get("/").map(Node::child_names));
    });
    group.bench_function("setData", |bench| {
        let set = || Request::SetData { path: any(), data: data(), version: -1 };
        bench.iter_batched(set, |request| write(&mut tree, &request), BatchSize::SmallInput);
    });
    group.bench_function("create and delete", |bench| {
        let born = create("/fleeting".into());
        let gone = Request::Delete { path: "/fleeting".into(), version: -1 };
        bench.iter(|| {
            write(&mut tree, &born);
            write(&mut tree, &gone);
        });
    });
    group.finish();
}

fn steps(criterion: &mut Criterion) {
    let mut stage = Stage::new();
    let mut group = criterion.benchmark_group("step");
    group.throughput(Throughput::Elements(1));
    group.bench_function("getData", |bench| {
        bench.iter(|| {
            let path = stage.any();
            stage.ask(Request::GetData { path, watch: false });
        });
    });
    group.bench_function("setData", |bench| {
        bench.iter(|| {
            let path = stage.any();
            stage.ask(Request::SetData { path, data: data(), version: -1 });
        });
    });
    group.bench_function("create and delete", |bench| {
        bench.iter(|| {
            stage.ask(create("/fleeting".into()));
            stage.ask(Request::Delete { path: "/fleeting".into(), version: -1 });
        });
    });
    group.finish();
}

fn fan_out(criterion: &mut Criterion) {
    let mut stage = Stage::new();
    for conn in 1..=WATCHERS {
        stage.connect(ConnId(conn));
    }
    let mut group = criterion.benchmark_group("watch");
    group.throughput(Throughput::Elements(WATCHERS));
    group.sample_size(20);
    group.bench_function("one-shot fan-out of 10,000", |bench| {
        bench.iter_batched(
            || {
                let mut server = stage.server.clone();
                let mut out = Vec::new();
                for conn in (1..=WATCHERS).map(ConnId) {
                    let request = Request::GetData { path: node(0), watch: true };
                    server.step(NOW, Input::Request { conn, xid: Xid(1), request }, &mut out);
                }
                Stage { server, out: Vec::new(), next: 0 }
            },
            |mut stage| {
                stage.ask(Request::SetData { path: node(0), data: data(), version: -1 });
                stage
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

fn bytes(criterion: &mut Criterion) {
    let mut frame = Vec::new();
    let mut writer = Writer::frame(&mut frame);
    writer.int(1);
    writer.int(opcode::SET_DATA);
    writer.text(&node(0));
    writer.buffer(data().as_deref());
    writer.int(-1);
    writer.finish();
    let mut stage = Stage::new();
    let request = Request::GetData { path: node(0), watch: true };
    stage.input(Input::Request { conn: ME, xid: Xid(1), request });
    let reply = stage.out.pop().expect("a read is answered at once");
    let request = Request::SetData { path: node(0), data: data(), version: -1 };
    stage.input(Input::Request { conn: ME, xid: Xid(2), request });
    let mut out = Vec::new();
    let mut group = criterion.benchmark_group("wire");
    group.bench_function("decode setData", |bench| {
        bench.iter(|| decode_request(black_box(&frame[4..]), MAX_FRAME));
    });
    group.bench_function("encode getData", |bench| {
        let Output::Reply { reply, .. } = &reply else { panic!("{reply:?}") };
        bench.iter(|| {
            out.clear();
            encode_reply(black_box(reply), &mut out);
        });
    });
    group.bench_function("encode event", |bench| {
        let event = stage.out.iter().find_map(|output| {
            let Output::Notify { event, .. } = output else { return None };
            Some(event)
        });
        let event = event.expect("the watch fired");
        bench.iter(|| {
            out.clear();
            encode_event(black_box(event), &mut out);
        });
    });
    group.finish();
}

criterion_group!(benches, tree, steps, fan_out, bytes);
criterion_main!(benches);
