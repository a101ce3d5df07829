//! A client on the desk: a script goes in, one thing that happens per line, and comes out with
//! what the client wanted done below each line.
//!
//! ```text
//!   start · up · refused · down · garbled          what becomes of the newest line
//!   greet 10000 [ro] [s=2] · expired               the answer to the first frame
//!   ok 5 · err 5 NoNode · pong · authfailed        the answer to the oldest request, at zxid 5
//!   event Created /a 5                             a watch fires
//!   1 get /a w7                                    call 1, watched by watcher 7
//!   after 900                                      time passes, and timers run out
//!   timeout Ping                                   a timer runs out whatever the time
//!   timers                                         shows what the client waits for
//! ```

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;

use zoolab_core::client::{
    Answer, Call, CallId, Chance, Change, Client, Config, ConnectString, CreateMode, Frame, Input,
    Line, NewNode, Notice, Output, ProbeId, Shape, Timer, WatcherId, WatcherKind,
};
use zoolab_core::request::{
    Body, ConnectResponse, Event, EventKind, OpResult, ReadOp, Reply, Request,
};
use zoolab_core::tree::Stat;
use zoolab_core::{AclList, Code, Millis, SessionId, Text, Xid, Zxid};

/// See the [module](self).
#[derive(Clone)]
pub(crate) struct Desk {
    pub(crate) client: Client,
    pub(crate) now: i64,
    /// When each timer runs out at the earliest, and how much later it may.
    pub(crate) timers: BTreeMap<Timer, (i64, u32)>,
    line: Line,
    /// Requests without an answer on that line.
    due: VecDeque<(Xid, Request)>,
    probe: ProbeId,
    log: String,
}

/// A configuration for a session of ten seconds.
pub(crate) fn config(connect: &str) -> Config {
    let connect = ConnectString::parse(connect).unwrap();
    let mut config = Config::new(connect, 10_000).unwrap();
    config.default_watcher = Some(WatcherId(0));
    config
}

/// Performs a script with the usual configuration.
pub(crate) fn run(connect: &str, script: &str) -> String {
    Desk::new(config(connect)).run(script)
}

impl Desk {
    pub(crate) fn new(config: Config) -> Self {
        Self::with(config, Chance::none())
    }

    pub(crate) fn with(config: Config, chance: Chance) -> Self {
        Self {
            client: Client::new(config, chance),
            now: 1_000_000,
            timers: BTreeMap::new(),
            line: Line::default(),
            due: VecDeque::new(),
            probe: ProbeId::default(),
            log: String::new(),
        }
    }

    /// Connected for the first time.
    pub(crate) fn connected(config: Config) -> Self {
        let mut desk = Self::new(config);
        desk.run("start\nup\ngreet 10000");
        desk
    }

    /// Performs a script, one thing per line, and says what came of it.
    pub(crate) fn run(&mut self, script: &str) -> String {
        self.log.clear();
        for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
            writeln!(self.log, "{line}").unwrap();
            self.perform(line);
        }
        std::mem::take(&mut self.log)
    }

    fn perform(&mut self, text: &str) {
        let words: Vec<_> = text.split_whitespace().collect();
        match words[..] {
            ["after", ms] => self.after(ms.parse().unwrap()),
            ["timers"] => {
                for (timer, (due, spread)) in &self.timers {
                    let spread =
                        if *spread > 0 { format!(" to {spread} more") } else { String::new() };
                    writeln!(self.log, "  {timer:?} in {}{spread}", due - self.now).unwrap();
                }
            }
            ["state"] => writeln!(self.log, "  {:?}", self.client.state()).unwrap(),
            _ => {
                let input = self.input(&words);
                self.step(input);
            }
        }
    }

    /// Lets time pass; whatever timer runs out on the way does so as early as it may.
    fn after(&mut self, ms: i64) {
        let until = self.now + ms;
        while let Some((timer, due)) =
            self.timers.iter().map(|(timer, (due, _))| (*timer, *due)).min_by_key(|(_, due)| *due)
            && due <= until
        {
            self.timers.remove(&timer);
            writeln!(self.log, "  {} ms: {timer:?}", due - (until - ms)).unwrap();
            self.now = due;
            self.step(Input::Timeout(timer));
        }
        self.now = until;
    }

    /// Hands over one input and carries out what comes of it.
    pub(crate) fn step(&mut self, input: Input) -> Vec<Output> {
        let mut out = Vec::new();
        self.client.step(Millis(self.now), input, &mut out);
        for output in &out {
            self.carry_out(output);
        }
        out
    }

    fn carry_out(&mut self, output: &Output) {
        let said = match output {
            Output::Complete { id, zxid, result } => {
                let at =
                    if *zxid == Zxid::NONE { String::new() } else { format!(" at {}", zxid.0) };
                match result {
                    Ok(body) => format!("{} is done{at}{}", id.0, shown_body(body)),
                    Err(failed) => format!("{} fails{at}: {failed}", id.0),
                }
            }
            Output::Deliver { notice, to } => {
                let to: Vec<_> = to.iter().map(|watcher| format!("w{}", watcher.0)).collect();
                format!("tell {}: {}", to.join(" "), shown_notice(notice))
            }
            Output::Dial { line, host } => {
                (self.line, self.due) = (*line, VecDeque::new());
                format!("dial {host} as {}", line.0)
            }
            Output::Disarm { timer } => {
                self.timers.remove(timer).expect("only what runs is disarmed");
                return;
            }
            Output::HangUp { line } => format!("hang up {}", line.0),
            Output::Probe { probe, host } => {
                self.probe = *probe;
                format!("can {host} write?")
            }
            Output::Send { line, frame } => {
                assert_eq!(*line, self.line, "sent on a line that was given up");
                let said = shown_frame(frame);
                if let Frame::Request(xid, request) = frame
                    && xid.0 > 0
                {
                    self.due.push_back((*xid, request.clone()));
                }
                format!("send {said}")
            }
            Output::Wake { timer, ms, spread_ms } => {
                self.timers.insert(*timer, (self.now + i64::from(*ms), *spread_ms));
                return;
            }
        };
        writeln!(self.log, "  {said}").unwrap();
    }

    /// What a line of a script would hand over, as this desk knows its line.
    pub(crate) fn input_of(&mut self, text: &str) -> Input {
        self.input(&text.split_whitespace().collect::<Vec<_>>())
    }

    fn input(&mut self, words: &[&str]) -> Input {
        let line = self.line;
        match *words {
            ["start"] => Input::Start,
            ["up"] => Input::Connected { line },
            ["refused"] => Input::Refused { line },
            ["down"] => Input::Disconnected { line },
            ["garbled"] => Input::Garbled { line },
            ["expired"] => Input::Greeted { line, response: ConnectResponse::expired(Some(false)) },
            ["greet", ms, ref how @ ..] => {
                let session = how.iter().find_map(|word| word.strip_prefix("s="));
                let session = SessionId(session.map_or(1, |id| id.parse().unwrap()));
                let response = ConnectResponse {
                    timeout_ms: ms.parse().unwrap(),
                    session,
                    password: [session.0 as u8; 16],
                    read_only: Some(how.contains(&"ro")),
                };
                Input::Greeted { line, response }
            }
            ["ok", zxid] => {
                let (xid, request) = self.due.pop_front().expect("something was asked");
                self.reply(xid, zxid, None, body_for(&request))
            }
            ["err", zxid, code] => {
                let (xid, _) = self.due.pop_front().expect("something was asked");
                self.reply(xid, zxid, Some(code_named(code)), Body::None)
            }
            ["reply", xid, zxid] => self.reply(Xid(xid.parse().unwrap()), zxid, None, Body::None),
            ["pong"] => self.reply(Xid::PING, "99", None, Body::None),
            ["authok"] => self.reply(Xid::AUTH, "0", None, Body::None),
            ["authrefused", code] => self.reply(Xid::AUTH, "0", Some(code_named(code)), Body::None),
            ["authfailed"] => self.reply(Xid::AUTH, "0", Some(Code::AuthFailed), Body::None),
            ["event", kind, path, zxid] => {
                let kind = match kind {
                    "Created" => EventKind::Created,
                    "Deleted" => EventKind::Deleted,
                    "DataChanged" => EventKind::DataChanged,
                    "ChildrenChanged" => EventKind::ChildrenChanged,
                    other => panic!("no such event: {other}"),
                };
                let event = Event { kind, path: path.into(), zxid: Zxid(zxid.parse().unwrap()) };
                Input::Answered { line, answer: Answer::Event(event) }
            }
            ["auth", scheme, auth] => {
                Input::AddAuth { scheme: scheme.into(), auth: auth.as_bytes().into() }
            }
            ["timeout", timer] => {
                let timer =
                    Timer::ALL.into_iter().find(|known| format!("{known:?}") == timer).unwrap();
                self.timers.remove(&timer);
                Input::Timeout(timer)
            }
            ["writable"] => Input::Probed { probe: self.probe, writable: true },
            ["readonly"] => Input::Probed { probe: self.probe, writable: false },
            ["servers", list] => {
                let servers = ConnectString::parse(list).unwrap().servers;
                Input::Servers { servers, chance: Chance::none() }
            }
            ["default", watcher] => {
                let watcher = watcher.strip_prefix('w').expect("a watcher").parse().unwrap();
                Input::DefaultWatcher(Some(WatcherId(watcher)))
            }
            [id, "close"] => Input::Close { id: CallId(id.parse().unwrap()) },
            [id, ref call @ ..] => {
                Input::Call { id: CallId(id.parse().unwrap()), call: call_of(call) }
            }
            [] => unreachable!("empty lines are passed over"),
        }
    }

    fn reply(&self, xid: Xid, zxid: &str, err: Option<Code>, body: Body) -> Input {
        let reply = Reply { xid, zxid: Zxid(zxid.parse().unwrap()), err, body };
        Input::Answered { line: self.line, answer: Answer::Reply(reply) }
    }
}

fn code_named(name: &str) -> Code {
    Code::ALL.into_iter().find(|code| format!("{code:?}") == name).expect("a code")
}

fn call_of(words: &[&str]) -> Call {
    let watch = words.last().and_then(|word| word.strip_prefix('w')?.parse().ok()).map(WatcherId);
    let stat = words.contains(&"stat");
    let path = || -> Text { words[1].into() };
    match words[0] {
        "create" => {
            let mode = match words.get(2) {
                Some(&"container") => CreateMode::Container,
                Some(&"ephemeral") => CreateMode::Ephemeral,
                Some(&"sequential") => CreateMode::PersistentSequential,
                Some(&"ttl") => CreateMode::Ttl { ms: words[3].parse().unwrap() },
                Some(_) | None => CreateMode::Persistent,
            };
            Call::Create { node: NewNode::open(words[1], b"x", mode), stat }
        }
        "delete" => Call::Delete { path: path(), version: -1 },
        "exists" => Call::Exists { path: path(), watch },
        "get" => Call::GetData { path: path(), watch },
        "set" => Call::SetData { path: path(), data: Some(b"y"[..].into()), version: -1 },
        "children" => Call::GetChildren { path: path(), watch, stat },
        "acl" => Call::GetAcl { path: path() },
        "setacl" => {
            let acl = AclList::open().lines().to_vec();
            Call::SetAcl { path: path(), acl, version: -1 }
        }
        "noacl" => Call::SetAcl { path: path(), acl: Vec::new(), version: -1 },
        "count" => Call::GetAllChildrenNumber { path: path() },
        "ephemerals" => Call::GetEphemerals { prefix: path() },
        "sync" => Call::Sync { path: path() },
        "config" => Call::GetConfig { watch },
        "whoami" => Call::WhoAmI,
        "reconfig" => Call::Reconfig {
            joining: None,
            leaving: Some(words[1].into()),
            members: None,
            config_id: -1,
        },
        "multi" => {
            let delete = |path: &&str| Change::Delete { path: (*path).into(), version: -1 };
            Call::Multi(words[1..].iter().map(delete).collect())
        }
        "multiread" => {
            let get = |path: &&str| ReadOp::GetData { path: (*path).into() };
            Call::MultiRead(words[1..].iter().map(get).collect())
        }
        "watch" => {
            let watcher = watch.expect("somebody watches");
            Call::AddWatch { path: path(), watcher, recursive: words[2] == "recursive" }
        }
        "unwatch" => Call::RemoveWatches {
            path: path(),
            kind: match words[2] {
                "any" => WatcherKind::Any,
                "child" => WatcherKind::Child,
                "data" => WatcherKind::Data,
                "persistent" => WatcherKind::Persistent,
                "recursive" => WatcherKind::Recursive,
                other => panic!("no such watches: {other}"),
            },
            watcher: watch,
            local: words.contains(&"local"),
        },
        other => panic!("no such call: {other}"),
    }
}

/// What a server that agrees to everything answers.
fn body_for(request: &Request) -> Body {
    let (stat, data): (_, zoolab_core::Data) = (Stat::default(), Some(b"x"[..].into()));
    match Shape::of(request) {
        Shape::Acl => Body::Acl { acl: AclList::open(), stat },
        Shape::Children { stat: with } => {
            Body::Children { names: vec!["b".into()], stat: with.then_some(stat) }
        }
        Shape::Count => Body::Count(0),
        Shape::Created { stat: with } => {
            let Request::Create(wish) = request else { panic!("{request:?}") };
            let number = if wish.flags == 2 { "0000000007" } else { "" };
            let path = format!("{}{number}", wish.path).into();
            Body::Created { path, stat: with.then_some(stat) }
        }
        Shape::Data => Body::Data { data, stat },
        Shape::Multi => {
            if let Request::Multi(ops) = request {
                Body::Multi(vec![OpResult::Deleted; ops.len()])
            } else {
                Body::Multi(vec![OpResult::Data { data, stat }])
            }
        }
        Shape::None => Body::None,
        Shape::Paths => Body::Paths(vec!["/app/e".into()]),
        Shape::Stat => Body::Stat(stat),
        Shape::Synced => {
            let Request::Sync { path } = request else { panic!("{request:?}") };
            Body::Synced(path.clone())
        }
        Shape::Token => Body::Token,
        Shape::Users => Body::Users(vec![("ip".into(), "10.0.0.1".into())]),
    }
}

fn shown_notice(notice: &Notice) -> String {
    match notice {
        Notice::Node { kind, path, zxid } => format!("{kind:?} {path} at {}", zxid.0),
        Notice::Session(state) => format!("{state:?}"),
        Notice::WatchRemoved { kind, path, connected: true } => {
            format!("{kind:?} watch removed {path}")
        }
        Notice::WatchRemoved { kind, path, connected: false } => {
            format!("{kind:?} watch removed {path}, disconnected")
        }
    }
}

fn shown_body(body: &Body) -> String {
    let with = |stat: bool| if stat { " with stat" } else { "" };
    match body {
        Body::Children { names, stat } => format!(": {names:?}{}", with(stat.is_some())),
        Body::Count(count) => format!(": {count}"),
        Body::Created { path, stat } => format!(": {path}{}", with(stat.is_some())),
        Body::None => String::new(),
        Body::Paths(paths) => format!(": {paths:?}"),
        Body::Synced(path) => format!(": {}", path.as_deref().unwrap_or("null")),
        Body::Multi(results) => format!(": {} results", results.len()),
        Body::Users(users) => format!(": {users:?}"),
        Body::Acl { .. } => ": acl".into(),
        Body::Data { .. } => ": data".into(),
        Body::Stat(_) => ": stat".into(),
        Body::Token => ": token".into(),
    }
}

fn shown_frame(frame: &Frame) -> String {
    match frame {
        Frame::Connect(hello) => {
            let ro = if hello.read_only == Some(true) { " or read-only" } else { "" };
            let (session, seen) = (hello.session.0, hello.last_zxid_seen.0);
            let password = hello.password.as_ref().unwrap()[0];
            format!("connect session {session}/{password} {} ms seen {seen}{ro}", hello.timeout_ms)
        }
        Frame::Request(Xid(-2), Request::Ping) => "ping".into(),
        Frame::Request(Xid(-4), Request::Auth { scheme, auth }) => {
            let auth = String::from_utf8_lossy(auth.as_ref().unwrap());
            format!("auth {} {auth}", scheme.as_ref().unwrap())
        }
        Frame::Request(xid, request) => format!("#{} {}", xid.0, shown_request(request)),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the others are rare and show themselves")]
fn shown_request(request: &Request) -> String {
    let watching = |watch: &bool| if *watch { " watching" } else { "" };
    match request {
        Request::Create(wish) => format!("create {} {:?} {}", wish.path, wish.op, wish.flags),
        Request::Delete { path, .. } => format!("delete {path}"),
        Request::Exists { path, watch } => format!("exists {path}{}", watching(watch)),
        Request::GetData { path, watch } => format!("get {path}{}", watching(watch)),
        Request::GetChildren { path, watch, stat } => {
            format!("children{} {path}{}", if *stat { "2" } else { "" }, watching(watch))
        }
        Request::SetData { path, .. } => format!("set {path}"),
        Request::CloseSession => "close".into(),
        Request::SetWatches(lists) => {
            let mut text = format!("watch again since {}:", lists.relative_zxid.0);
            for (name, paths) in [
                ("data", &lists.data),
                ("exist", &lists.exist),
                ("child", &lists.child),
                ("persistent", &lists.persistent),
                ("recursive", &lists.recursive),
            ] {
                if !paths.is_empty() {
                    write!(text, " {name} {}", paths.join(" ")).unwrap();
                }
            }
            text
        }
        other => format!("{other:?}"),
    }
}
