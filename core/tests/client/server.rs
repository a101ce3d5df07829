//! The client and a server of the core, with bytes between them.

use std::collections::{BTreeMap, VecDeque};

use zoolab_core::client::{
    Call, CallId, Chance, Change, Client, Config, ConnectString, CreateMode, Failed, Frame, Input,
    Line, NewNode, Notice, Output, State, Timer, WatcherId, WatcherKind,
};
use zoolab_core::request::{Body, OpResult, ReadOp};
use zoolab_core::wire;
use zoolab_core::{
    AclList, Boot, Code, ConnId, Millis, Now, Server, ServerId, SessionId, Settings, Zxid,
};

type Done = (CallId, Zxid, Result<Body, Failed>);

/// A server, a client, and one connection at a time.
struct Pair {
    server: Server,
    client: Client,
    now: Now,
    conn: Option<(Line, ConnId)>,
    conns: u64,
    /// Bytes to the client.
    down: VecDeque<u8>,
    greeted: bool,
    timers: BTreeMap<Timer, i64>,
    done: Vec<Done>,
    heard: Vec<(Notice, Vec<WatcherId>)>,
    hung_up: u32,
}

impl Pair {
    fn new(chroot: &str) -> Self {
        let now = Now { wall: Millis(1_700_000_000_000), steady: Millis(1_000_000) };
        let boot = Boot { me: ServerId(1), steady: now.steady, scatter: 0 };
        let settings = Settings { extended_types: true, ..Settings::with_tick(2000) };
        let connect = ConnectString::parse(&format!("zk1{chroot}")).unwrap();
        let mut config = Config::new(connect, 10_000).unwrap();
        config.default_watcher = Some(WatcherId(0));
        let mut pair = Self {
            server: Server::recover(settings, boot, &mut Vec::new()),
            client: Client::new(config, Chance::none()),
            now,
            conn: None,
            conns: 0,
            down: VecDeque::new(),
            greeted: false,
            timers: BTreeMap::new(),
            done: Vec::new(),
            heard: Vec::new(),
            hung_up: 0,
        };
        pair.step(Input::Start);
        pair
    }

    fn step(&mut self, input: Input) {
        let mut out = Vec::new();
        self.client.step(self.now.steady, input, &mut out);
        for output in out {
            match output {
                Output::Complete { id, zxid, result } => self.done.push((id, zxid, result)),
                Output::Deliver { notice, to } => self.heard.push((notice, to)),
                Output::Dial { line, .. } => {
                    self.conns += 1;
                    let conn = ConnId(self.conns);
                    self.conn = Some((line, conn));
                    self.greeted = false;
                    self.down.clear();
                    let address = [127, 0, 0, 1].into();
                    self.server(zoolab_core::Input::Accepted { conn, address });
                    self.step(Input::Connected { line });
                }
                Output::HangUp { line } => {
                    self.hung_up += 1;
                    self.close(line);
                }
                Output::Send { line, frame } => self.send(line, &frame),
                Output::Wake { timer, ms, .. } => {
                    self.timers.insert(timer, self.now.steady.0 + i64::from(ms));
                }
                Output::Disarm { timer } => {
                    self.timers.remove(&timer);
                }
                Output::Probe { .. } => panic!("the server can write"),
            }
        }
    }

    /// A frame goes to the server as bytes.
    fn send(&mut self, line: Line, frame: &Frame) {
        let Some((current, conn)) = self.conn else { return };
        assert_eq!(line, current);
        let mut bytes = Vec::new();
        wire::encode_frame(frame, &mut bytes);
        let length = usize::try_from(u32::from_be_bytes(bytes[..4].try_into().unwrap())).unwrap();
        assert_eq!(length, bytes.len() - 4);
        let input = if matches!(frame, Frame::Connect(_)) {
            let request = wire::decode_connect(&bytes[4..]).unwrap();
            zoolab_core::Input::Connect { conn, request }
        } else {
            let (xid, request) = wire::decode_request(&bytes[4..], wire::MAX_FRAME).unwrap();
            zoolab_core::Input::Request { conn, xid, request }
        };
        self.server(input);
    }

    fn server(&mut self, input: zoolab_core::Input) {
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            let mut out = Vec::new();
            self.server.step(self.now, input, &mut out);
            for output in out {
                let mut bytes = Vec::new();
                let to = match output {
                    zoolab_core::Output::Persist { token, .. } => {
                        inputs.push_back(zoolab_core::Input::Persisted(token));
                        continue;
                    }
                    zoolab_core::Output::Connected { conn, response } => {
                        wire::encode_connected(&response, &mut bytes);
                        conn
                    }
                    zoolab_core::Output::Notify { conn, event } => {
                        wire::encode_event(&event, &mut bytes);
                        conn
                    }
                    zoolab_core::Output::Reply { conn, reply } => {
                        wire::encode_reply(&reply, &mut bytes);
                        conn
                    }
                    zoolab_core::Output::Arm { .. }
                    | zoolab_core::Output::Close { .. }
                    | zoolab_core::Output::Dial { .. }
                    | zoolab_core::Output::Disarm { .. }
                    | zoolab_core::Output::Halt { .. }
                    | zoolab_core::Output::HangUp { .. }
                    | zoolab_core::Output::Note(_)
                    | zoolab_core::Output::Reload
                    | zoolab_core::Output::Send { .. }
                    | zoolab_core::Output::Tell { .. }
                    | zoolab_core::Output::Wake { .. } => continue,
                };
                if self.conn.is_some_and(|(_, conn)| conn == to) {
                    self.down.extend(bytes);
                }
            }
        }
    }

    /// The client gets whatever is on its way.
    fn settle(&mut self) {
        while self.down.len() >= 4 {
            let Some((line, _)) = self.conn else { return };
            let length: Vec<u8> = self.down.drain(..4).collect();
            let length = u32::from_be_bytes(length.try_into().unwrap());
            let payload: Vec<u8> = self.down.drain(..usize::try_from(length).unwrap()).collect();
            let input = self.client.read(line, &payload);
            assert!(!matches!(input, Input::Garbled { .. }), "garbled: {payload:?}");
            self.step(input);
        }
    }

    fn call(&mut self, id: u64, call: Call) {
        self.step(Input::Call { id: CallId(id), call });
    }

    /// Asks and waits.
    fn ask(&mut self, call: Call) -> Result<Body, Failed> {
        self.call(1_000_000, call);
        self.settle();
        self.done.pop().expect("an answer").2
    }

    fn close(&mut self, line: Line) {
        if let Some((current, conn)) = self.conn
            && current == line
        {
            self.conn = None;
            self.server(zoolab_core::Input::Disconnected { conn });
        }
    }

    /// The connection breaks; what was on its way is lost.
    fn cut(&mut self) {
        if let Some((line, _)) = self.conn {
            self.close(line);
            self.step(Input::Disconnected { line });
        }
    }

    fn redial(&mut self) {
        if self.timers.remove(&Timer::Redial).is_some() {
            self.step(Input::Timeout(Timer::Redial));
        }
        self.settle();
    }
}

fn create(path: &str, mode: CreateMode) -> Call {
    Call::Create { node: NewNode::open(path, b"1", mode), stat: false }
}

fn set(path: &str) -> Call {
    Call::SetData { path: path.into(), data: Some(b"2"[..].into()), version: -1 }
}

fn get(path: &str, watch: Option<u64>) -> Call {
    Call::GetData { path: path.into(), watch: watch.map(WatcherId) }
}

#[test]
fn every_call_is_understood_and_so_is_its_answer() {
    let mut pair = Pair::new("");
    pair.settle();
    let path = || "/a".into();
    let open = AclList::open().lines().to_vec();
    let calls = [
        create("/a", CreateMode::Persistent),
        Call::Create { node: NewNode::open("/a/c", b"", CreateMode::Container), stat: true },
        create("/a/t", CreateMode::Ttl { ms: 5000 }),
        create("/a/e", CreateMode::Ephemeral),
        create("/a/s-", CreateMode::PersistentSequential),
        create("/a/es-", CreateMode::EphemeralSequential),
        create("/a/ts-", CreateMode::TtlSequential { ms: 1 }),
        get("/a", Some(1)),
        set("/a"),
        Call::Exists { path: path(), watch: None },
        Call::Exists { path: "/none".into(), watch: Some(WatcherId(1)) },
        Call::GetAcl { path: path() },
        Call::SetAcl { path: path(), acl: open, version: -1 },
        Call::GetChildren { path: path(), watch: Some(WatcherId(1)), stat: false },
        Call::GetChildren { path: path(), watch: None, stat: true },
        Call::GetAllChildrenNumber { path: path() },
        Call::GetEphemerals { prefix: "/".into() },
        Call::Sync { path: path() },
        Call::GetConfig { watch: None },
        Call::Multi(vec![
            Change::Create(NewNode::open("/m", b"", CreateMode::Persistent)),
            Change::Create(NewNode::open("/mc", b"", CreateMode::Container)),
            Change::Check { path: "/m".into(), version: 0 },
            Change::SetData { path: "/m".into(), data: None, version: 0 },
            Change::Delete { path: "/m".into(), version: 1 },
        ]),
        Call::Multi(vec![Change::Delete { path: "/none".into(), version: -1 }]),
        Call::MultiRead(vec![
            ReadOp::GetData { path: path() },
            ReadOp::GetChildren { path: path() },
            ReadOp::GetData { path: "/none".into() },
        ]),
        Call::AddWatch { path: path(), watcher: WatcherId(2), recursive: false },
        Call::AddWatch { path: path(), watcher: WatcherId(2), recursive: true },
        Call::RemoveWatches {
            path: path(),
            kind: WatcherKind::Recursive,
            watcher: Some(WatcherId(2)),
            local: false,
        },
        Call::RemoveWatches { path: path(), kind: WatcherKind::Any, watcher: None, local: false },
        Call::Reconfig { joining: None, leaving: Some("3".into()), members: None, config_id: -1 },
        Call::WhoAmI,
        Call::Delete { path: "/a/e".into(), version: 0 },
    ];
    let count = calls.len();
    for (id, call) in calls.into_iter().enumerate() {
        pair.call(id as u64, call);
    }
    pair.settle();
    assert_eq!(pair.done.len(), count);
    let failed: Vec<_> = pair
        .done
        .iter()
        .filter_map(|(id, _, result)| Some((id.0, result.as_ref().err()?)))
        .collect();
    let no_node = Failed::Code(Code::NoNode);
    let disabled = Failed::Code(Code::ReconfigDisabled);
    assert_eq!(failed, [(10, &no_node), (26, &disabled)]);
    let results = |id: usize| match &pair.done[id].2 {
        Ok(Body::Multi(results)) => results.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(results(19).len(), 5);
    assert_eq!(results(20), [OpResult::Error(Some(Code::NoNode))]);
    assert!(matches!(
        results(21)[..],
        [OpResult::Data { .. }, OpResult::Children(_), OpResult::Error(Some(Code::NoNode))]
    ));
    assert_eq!(pair.hung_up, 0);
}

#[test]
fn a_watch_survives_a_reconnect_and_tells_of_what_happened_meanwhile() {
    let mut pair = Pair::new("/app");
    pair.settle();
    // The chroot has to be made from outside it.
    let mut root = NewNode::open("/", b"", CreateMode::Persistent);
    root.path = "/".into();
    assert!(pair.ask(Call::Create { node: root, stat: false }).is_ok());
    pair.ask(create("/a", CreateMode::Persistent)).unwrap();
    pair.ask(get("/a", Some(1))).unwrap();
    pair.ask(Call::Exists { path: "/b".into(), watch: Some(WatcherId(2)) }).unwrap_err();
    pair.ask(Call::GetChildren { path: "/".into(), watch: Some(WatcherId(3)), stat: false })
        .unwrap();
    pair.ask(Call::AddWatch { path: "/".into(), watcher: WatcherId(4), recursive: true }).unwrap();
    pair.heard.clear();
    // It happens, but the news is lost with the connection.
    pair.call(1, set("/a"));
    pair.call(2, create("/b", CreateMode::Persistent));
    pair.cut();
    assert_eq!(pair.client.state(), State::Connecting);
    pair.redial();
    let heard: Vec<_> = pair
        .heard
        .iter()
        .filter_map(|(notice, to)| match notice {
            Notice::Node { kind, path, .. } => Some(format!("{kind:?} {path} {to:?}")),
            Notice::Session(_) | Notice::WatchRemoved { .. } => None,
        })
        .collect();
    assert_eq!(
        heard,
        [
            "DataChanged /a [WatcherId(1), WatcherId(4)]",
            "Created /b [WatcherId(2), WatcherId(4)]",
            "ChildrenChanged / [WatcherId(3)]",
        ]
    );
    pair.heard.clear();
    pair.ask(set("/b")).unwrap();
    assert!(matches!(&pair.heard[..], [(Notice::Node { path, .. }, to)]
        if &**path == "/b" && *to == [WatcherId(4)]));
}

#[test]
fn a_session_that_was_closed_is_found_expired() {
    let mut pair = Pair::new("");
    pair.settle();
    let session = pair.client.session().unwrap();
    pair.step(Input::Close { id: CallId(1) });
    pair.settle();
    assert_eq!(pair.client.state(), State::Closed);
    assert_eq!(pair.done.pop().unwrap().2, Ok(Body::None));
    // Somebody else comes with the same session to the same server.
    let connect = ConnectString::parse("zk1").unwrap();
    let mut config = Config::new(connect, 10_000).unwrap();
    config.session = Some(session);
    pair.client = Client::new(config, Chance::none());
    pair.step(Input::Start);
    pair.settle();
    assert_eq!(pair.client.state(), State::Expired);
}

#[test]
fn identities_are_acquired_again_on_every_connection() {
    let mut pair = Pair::new("");
    pair.settle();
    pair.step(Input::AddAuth { scheme: "digest".into(), auth: b"bob:secret"[..].into() });
    let users = |pair: &mut Pair| match pair.ask(Call::WhoAmI) {
        Ok(Body::Users(users)) => {
            users.iter().map(|(_, user)| user.to_string()).collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    assert!(users(&mut pair).contains(&"bob".to_owned()));
    pair.cut();
    pair.redial();
    assert!(users(&mut pair).contains(&"bob".to_owned()));
}

#[test]
fn a_scheme_that_the_server_does_not_know_ends_the_client() {
    let mut pair = Pair::new("");
    pair.settle();
    pair.step(Input::AddAuth { scheme: "kerberos".into(), auth: b""[..].into() });
    pair.settle();
    assert_eq!(pair.client.state(), State::AuthFailed);
}

/// Many calls while the connection breaks now and then: nothing is garbled, every call is
/// completed once and in order, and what was acknowledged is there.
#[test]
fn calls_over_a_connection_that_breaks_are_completed_once_and_in_order() {
    let mut dice = 5_u64;
    let mut roll = |sides: u64| {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (dice >> 33) % sides
    };
    let mut pair = Pair::new("");
    pair.settle();
    let session = pair.client.session();
    let mut asked = 0;
    for _ in 0..5000 {
        let path = format!("/n{}", roll(8));
        let watch = (roll(2) == 0).then(|| roll(3));
        match roll(12) {
            0 => pair.cut(),
            1 | 2 => pair.redial(),
            3..6 => pair.settle(),
            action => {
                asked += 1;
                let call = match action {
                    6 => create(&path, CreateMode::Persistent),
                    7 => Call::Delete { path: path.into(), version: -1 },
                    8 => set(&path),
                    9 => Call::GetChildren {
                        path: "/".into(),
                        watch: watch.map(WatcherId),
                        stat: roll(2) == 0,
                    },
                    10 => Call::Exists { path: path.into(), watch: watch.map(WatcherId) },
                    _ => get(&path, watch),
                };
                pair.call(asked, call);
            }
        }
    }
    pair.settle();
    pair.redial();
    let ids: Vec<_> = pair.done.iter().map(|(id, ..)| id.0).collect();
    assert_eq!(ids, (1..=asked).collect::<Vec<_>>());
    let zxids: Vec<_> =
        pair.done.iter().map(|(_, zxid, _)| *zxid).filter(|zxid| *zxid != Zxid::NONE).collect();
    assert!(zxids.is_sorted());
    let worked = pair.done.iter().filter(|(.., result)| result.is_ok()).count();
    let lost = pair.done.iter().filter(|(.., result)| *result == Err(Failed::ConnectionLoss));
    assert!(worked > 500 && lost.count() > 100, "{worked} worked");
    assert_eq!(pair.client.session(), session);
    assert_ne!(session.unwrap().id, SessionId::NONE);
    assert_eq!(pair.hung_up, 0);
}
