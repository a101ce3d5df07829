//! Clients to whom all kinds of things happen, in any order.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use proptest::prelude::*;
use zoolab_core::client::{
    Answer, Call, CallId, Chance, Change, Client, Config, ConnectString, CreateMode, Expected,
    Frame, Input, Line, NewNode, Output, ProbeId, Shape, State, Timer, WatcherId, WatcherKind,
};
use zoolab_core::request::{Body, ConnectResponse, Event, EventKind, Reply};
use zoolab_core::tree::Stat;
use zoolab_core::{Code, Millis, SessionId, Xid, Zxid};

/// One thing to happen, as numbers: which, and two more to choose by.
type Dice = (u8, u8, u8);

struct Run {
    client: Client,
    now: i64,
    asked: u64,
    done: BTreeSet<u64>,
    answered: CallId,
    running: BTreeSet<Timer>,
    /// What was sent on each line and has no answer.
    sent: BTreeMap<Line, Vec<Xid>>,
    line: Line,
    closed_lines: BTreeSet<Line>,
    probe: ProbeId,
}

impl Run {
    fn step(&mut self, input: Input) {
        let mut out = Vec::new();
        self.client.step(Millis(self.now), input, &mut out);
        for output in out {
            match output {
                Output::Complete { id, zxid, .. } => {
                    if zxid != Zxid::NONE {
                        assert!(id > self.answered, "an answer overtook another");
                        self.answered = id;
                    }
                    assert!(id.0 <= self.asked, "never asked");
                    assert!(self.done.insert(id.0), "call {} completed twice", id.0);
                }
                Output::Deliver { to, .. } => {
                    let once: BTreeSet<_> = to.iter().collect();
                    assert_eq!(once.len(), to.len(), "somebody is told twice");
                }
                Output::Dial { line, .. } => {
                    assert!(line > self.line, "a line was used again");
                    self.line = line;
                }
                Output::Disarm { timer } => assert!(self.running.remove(&timer)),
                Output::HangUp { line } => {
                    assert_eq!(line, self.line);
                    assert!(self.closed_lines.insert(line), "hung up twice");
                }
                Output::Probe { probe, .. } => self.probe = probe,
                Output::Send { line, frame } => {
                    assert!(line == self.line && !self.closed_lines.contains(&line));
                    if let Frame::Request(xid, _) = frame {
                        self.sent.entry(line).or_default().push(xid);
                    }
                }
                Output::Wake { timer, .. } => {
                    self.running.insert(timer);
                }
            }
        }
    }

    fn perform(&mut self, (which, a, b): Dice) {
        // Mostly the newest line, sometimes an older one.
        let line = if a < 230 { self.line } else { Line(self.line.0.saturating_sub(1)) };
        let path = || ["/", "/a", "/a/b", "/c"][usize::from(a % 4)].into();
        let watcher = WatcherId(u64::from(b % 3));
        let input = match which {
            0..30 => {
                self.asked += 1;
                let watch = (b < 128).then_some(watcher);
                let call = match a % 11 {
                    0 => {
                        let node = NewNode::open("/a", b"", CreateMode::EphemeralSequential);
                        Call::Create { node, stat: b < 99 }
                    }
                    1 => Call::Exists { path: path(), watch },
                    2 => Call::GetData { path: path(), watch },
                    3 => Call::GetChildren { path: path(), watch, stat: b % 2 == 0 },
                    4 => Call::AddWatch { path: path(), watcher, recursive: b < 128 },
                    5 => Call::RemoveWatches {
                        path: path(),
                        kind: WatcherKind::Any,
                        watcher: watch,
                        local: b % 2 == 0,
                    },
                    6 => Call::Multi(vec![Change::Delete { path: path(), version: -1 }]),
                    7 => Call::Delete { path: "no path".into(), version: -1 },
                    8 => Call::Sync { path: path() },
                    9 => Call::GetEphemerals { prefix: path() },
                    _ => Call::WhoAmI,
                };
                Input::Call { id: CallId(self.asked), call }
            }
            30..60 => Input::Connected { line },
            60..90 => {
                let timeout_ms = [0, -1, 1, 10_000, 4000, i32::MAX][usize::from(a % 6)].max(
                    // Expired sessions end the run; not too many of them.
                    if b < 240 { 1 } else { -1 },
                );
                let session = SessionId(i64::from(b % 3));
                let response = ConnectResponse {
                    timeout_ms,
                    session,
                    password: [b; 16],
                    read_only: [None, Some(true), Some(false)][usize::from(b % 3)],
                };
                Input::Greeted { line, response }
            }
            90..130 => {
                let due = self.sent.get_mut(&line).filter(|due| !due.is_empty());
                let xid = due.map_or(Xid(i32::from(a)), |due| due.remove(0));
                let err = (b < 40).then_some(Code::ALL[usize::from(b) % Code::ALL.len()]);
                let body = match (err, self.client.expected(line)) {
                    (None, Expected::Answer(shape)) if a < 250 => body_of(shape),
                    _ => Body::None,
                };
                let reply = Reply { xid, zxid: Zxid(i64::from(b)), err, body };
                Input::Answered { line, answer: Answer::Reply(reply) }
            }
            130..150 => {
                let kinds = [
                    EventKind::Created,
                    EventKind::Deleted,
                    EventKind::DataChanged,
                    EventKind::ChildrenChanged,
                ];
                let kind = kinds[usize::from(b % 4)];
                let event = Event { kind, path: path(), zxid: Zxid(1) };
                Input::Answered { line, answer: Answer::Event(event) }
            }
            150..165 => Input::Disconnected { line },
            165..175 => Input::Refused { line },
            175..180 => Input::Garbled { line },
            180..215 => {
                self.now += i64::from(a) * 10;
                let place = usize::from(b) % self.running.len().max(1);
                let Some(timer) = self.running.iter().nth(place).copied() else { return };
                self.running.remove(&timer);
                Input::Timeout(timer)
            }
            215..225 => Input::AddAuth { scheme: "digest".into(), auth: [a, b][..].into() },
            225..235 => {
                let lists = ["zk1", "zk1,zk2,zk3", "zk4", "zk2,zk3,zk4,zk5"];
                let servers = ConnectString::parse(lists[usize::from(a % 4)]).unwrap().servers;
                let chance = [u64::from(a) << 56, u64::from(b) << 56, 0].into_iter().collect();
                Input::Servers { servers, chance }
            }
            235..245 => Input::Probed { probe: self.probe, writable: b < 128 },
            245..250 => Input::DefaultWatcher((b < 128).then_some(watcher)),
            250..252 => {
                self.asked += 1;
                Input::Close { id: CallId(self.asked) }
            }
            252.. => Input::Start,
        };
        self.step(input);
    }

    /// Ends it, whatever it is doing.
    fn close(&mut self) {
        self.asked += 1;
        self.step(Input::Close { id: CallId(self.asked) });
        for _ in 0..4 {
            self.running.remove(&Timer::Redial);
            self.step(Input::Timeout(Timer::Redial));
            self.step(Input::Refused { line: self.line });
            self.step(Input::Disconnected { line: self.line });
        }
    }
}

fn body_of(shape: Shape) -> Body {
    let stat = Stat::default();
    match shape {
        Shape::Children { stat: with } => {
            Body::Children { names: Vec::new(), stat: with.then_some(stat) }
        }
        Shape::Count => Body::Count(1),
        Shape::Created { stat: with } => {
            Body::Created { path: "/a".into(), stat: with.then_some(stat) }
        }
        Shape::Data => Body::Data { data: None, stat },
        Shape::Multi => Body::Multi(Vec::new()),
        Shape::Paths => Body::Paths(Vec::new()),
        Shape::Stat => Body::Stat(stat),
        Shape::Synced => Body::Synced(None),
        Shape::Users => Body::Users(Vec::new()),
        Shape::Acl | Shape::None | Shape::Token => Body::None,
    }
}

fn new_run(read_only: bool, rewatch: bool, request_timeout_ms: u32) -> Run {
    let connect = ConnectString::parse("zk1,zk2,zk3").unwrap();
    let mut config = Config::new(connect, 10_000).unwrap();
    config.read_only = read_only;
    config.rewatch = rewatch;
    config.request_timeout_ms = NonZeroU32::new(request_timeout_ms);
    config.default_watcher = Some(WatcherId(0));
    let mut run = Run {
        client: Client::new(config, Chance::none()),
        now: 0,
        asked: 0,
        done: BTreeSet::new(),
        answered: CallId(0),
        running: BTreeSet::new(),
        sent: BTreeMap::new(),
        line: Line(0),
        closed_lines: BTreeSet::new(),
        probe: ProbeId(0),
    };
    run.step(Input::Start);
    run
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    /// The client checks its own invariants in every step.
    #[test]
    fn whatever_happens_every_call_is_completed_exactly_once(
        read_only: bool,
        rewatch: bool,
        timeout in prop_oneof![Just(0_u32), Just(900)],
        dice: Vec<Dice>,
    ) {
        let mut run = new_run(read_only, rewatch, timeout);
        for dice in dice {
            run.perform(dice);
        }
        run.close();
        prop_assert!(!run.client.state().is_alive());
        prop_assert_eq!(run.client.calls_open(), 0);
        prop_assert_eq!(run.done.len() as u64, run.asked);
        prop_assert!(run.running.is_empty());
    }

    #[test]
    fn whatever_happens_a_clone_goes_the_same_way(dice: Vec<Dice>, then: Vec<Dice>) {
        let mut run = new_run(true, true, 0);
        for dice in dice {
            run.perform(dice);
        }
        let mut twin = new_run(true, true, 0);
        twin.client = run.client.clone();
        (twin.now, twin.asked, twin.line, twin.probe) = (run.now, run.asked, run.line, run.probe);
        (twin.running, twin.sent) = (run.running.clone(), run.sent.clone());
        (twin.done, twin.closed_lines) = (run.done.clone(), run.closed_lines.clone());
        twin.answered = run.answered;
        for dice in then {
            run.perform(dice);
            twin.perform(dice);
            prop_assert_eq!(&run.client, &twin.client);
        }
    }
}

#[test]
fn the_generated_runs_reach_every_state() {
    let mut reached = BTreeSet::new();
    let mut dice = 1_u32;
    for _ in 0..300 {
        let mut run = new_run(true, true, 900);
        for _ in 0..300 {
            dice = dice.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            let [_, a, b, c] = (dice ^ dice >> 15).wrapping_mul(0x2C1B_3C6D).to_be_bytes();
            run.perform((a, b, c));
            reached.insert(run.client.state());
        }
    }
    for state in [
        State::Closed,
        State::Connected,
        State::ConnectedReadOnly,
        State::Connecting,
        State::Expired,
    ] {
        assert!(reached.contains(&state), "{state:?} not in {reached:?}");
    }
}
