//! A real server beside what is expected of it.

use std::collections::{BTreeMap, VecDeque};

use proptest::prelude::*;
use proptest_state_machine::ReferenceStateMachine;
use zoolab_core::request::Body;
use zoolab_core::{Boot, ConnId, Input, Note, Now, Output, Persist, Server, ServerId, Token};
use zoolab_sim::model::Model;

use crate::expected::{DiskOp, Expected, START, Said, Saying, Step};
use crate::generate;

/// The reference: what is expected of a server.
pub(crate) struct Honest;

impl ReferenceStateMachine for Honest {
    type State = Expected;
    type Transition = Step;

    fn init_state() -> BoxedStrategy<Expected> {
        generate::beginning(None)
    }

    fn transitions(state: &Expected) -> BoxedStrategy<Step> {
        generate::step(state)
    }

    fn apply(mut state: Expected, step: &Step) -> Expected {
        state.step(step);
        state
    }

    fn preconditions(state: &Expected, step: &Step) -> bool {
        state.can(step)
    }
}

/// How closely to look.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Look {
    /// At everything a server lets see.
    Inside,
    /// At what it puts out.
    Outside,
}

/// A server with its disk, and everything that ever happened to it.
#[derive(Debug)]
pub(crate) struct Lab {
    pub(crate) server: Server,
    now: Now,
    disk: VecDeque<(Token, DiskOp)>,
    halted: Option<Token>,
    pub(crate) inputs: Vec<(Now, Input)>,
    pub(crate) outputs: Vec<Output>,
}

pub(crate) const BOOT: Boot = Boot { me: ServerId(1), steady: START.steady, scatter: 0 };

impl Lab {
    pub(crate) fn new(expected: &Expected) -> Self {
        let mut outputs = Vec::new();
        let server = Server::recover(expected.model.settings.clone(), BOOT, &mut outputs);
        let (now, disk) = (expected.now, VecDeque::new());
        Self { server, now, disk, halted: None, inputs: Vec::new(), outputs }
    }

    /// Makes a step happen and compares what it makes visible, to clients alone or to anyone who
    /// may look at the server.
    ///
    /// # Panics
    /// If it is not as expected after this step.
    pub(crate) fn check(&mut self, step: &Step, expected: &Expected, look: Look) {
        let said = self.step(step.clone());
        assert_eq!(sorted(said), sorted(expected.said.clone()), "after {step:?}");
        match look {
            Look::Inside => self.compare(expected),
            Look::Outside => {}
        }
    }

    fn step(&mut self, step: Step) -> Said {
        let mut said = Said::default();
        match step {
            Step::Accept { conn, address } => {
                self.input(Input::Accepted { conn, address }, &mut said);
            }
            Step::Connect { conn, request } => {
                self.input(Input::Connect { conn, request }, &mut said);
            }
            Step::Disconnect { conn } => self.input(Input::Disconnected { conn }, &mut said),
            Step::Disk { count } => {
                let mut left = count;
                while left > 0
                    && let Some((token, _)) = self.disk.pop_front()
                {
                    self.input(Input::Persisted(token), &mut said);
                    left -= 1;
                }
            }
            Step::DiskFails => {
                let (token, _) = *self.disk.front().expect("the disk has something to do");
                self.input(Input::PersistFailed(token), &mut said);
                if said.halted {
                    assert_eq!(self.halted, Some(token), "the failure is named");
                }
            }
            Step::Request { conn, xid, request } => {
                self.input(Input::Request { conn, xid, request }, &mut said);
            }
            Step::Timeout(timer) => self.input(Input::Timeout(timer), &mut said),
            Step::Wait { ms, wall_ms } => {
                self.now.steady.0 += ms;
                self.now.wall.0 += ms + wall_ms;
            }
        }
        said
    }

    fn input(&mut self, input: Input, said: &mut Said) {
        self.inputs.push((self.now, input.clone()));
        let mut out = Vec::new();
        self.server.step(self.now, input, &mut out);
        for output in &out {
            self.note(output, said);
        }
        self.outputs.append(&mut out);
    }

    fn note(&mut self, output: &Output, said: &mut Said) {
        let mut say = |conn: &ConnId, saying| {
            let sayings: &mut Vec<Saying> = said.clients.entry(*conn).or_default();
            assert_ne!(sayings.last(), Some(&Saying::Closed), "nothing is said after the end");
            sayings.push(saying);
        };
        match output {
            Output::Arm { timer, ticks } => said.armed.push((*timer, *ticks)),
            Output::Close { conn } => say(conn, Saying::Closed),
            Output::Connected { conn, response } => say(conn, Saying::Connected(response.clone())),
            Output::Halt { token } => {
                said.halted = true;
                self.halted = Some(*token);
            }
            Output::Notify { conn, event } => say(conn, Saying::Event((**event).clone())),
            Output::Persist { token, persist } => {
                let op = match persist {
                    Persist::Append(txn) => DiskOp::Append(txn.stamp.zxid),
                    Persist::Sync => DiskOp::Sync,
                    Persist::Epoch { .. }
                    | Persist::Install { .. }
                    | Persist::Members(_)
                    | Persist::Purge { .. }
                    | Persist::SnapshotBegin { .. }
                    | Persist::SnapshotMore { .. }
                    | Persist::SnapshotUnsynced { .. }
                    | Persist::Truncate { .. } => panic!("{persist:?} by an ensemble of one"),
                };
                said.disk.push(op);
                self.disk.push_back((*token, op));
            }
            // What somebody has got to needs nobody else.
            Output::Note(Note::Reached(_)) => {}
            Output::Reply { conn, reply } => say(conn, Saying::Reply(reply.clone())),
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

    fn compare(&self, expected: &Expected) {
        let (server, model) = (&self.server, &expected.model);
        server.assert_invariants();
        assert_eq!(server.zxid_last(), model.zxid);
        assert_eq!(server.outstanding(), expected.proposals_len());
        assert_eq!(server.sessions().list(), Vec::from_iter(model.sessions.clone()));
        compare_trees(server, model);
        assert_eq!(server.tree().digest(), model.digest(), "digest");
        let mut watched: BTreeMap<ConnId, Vec<_>> = BTreeMap::new();
        for watch in &model.watches {
            let paths = watched.entry(watch.conn).or_default();
            if paths.last() != Some(&watch.path) {
                paths.push(watch.path.clone());
            }
        }
        let by_conn = server.watches().by_conn().into_iter();
        let strings = |paths: Vec<_>| Vec::from_iter(paths.iter().map(ToString::to_string));
        let watches: BTreeMap<_, _> = by_conn
            .map(|(conn, paths): (_, Vec<zoolab_core::Text>)| (conn, strings(paths)))
            .collect();
        assert_eq!(watches, watched, "watches");
    }
}

fn compare_trees(server: &Server, model: &Model) {
    let tree = server.tree();
    assert_eq!(tree.len(), model.nodes.len(), "number of nodes");
    for (path, expected) in &model.nodes {
        let node = tree.get(path).unwrap_or_else(|| panic!("{path} is missing"));
        assert_eq!(node.data(), &expected.data, "data of {path}");
        assert_eq!(tree.acl(node).lines(), expected.acl, "ACL of {path}");
        assert_eq!(tree.stat(node), model.stat(path), "stat of {path}");
        assert_eq!(node.stat().owner, expected.owner(), "stored owner of {path}");
        assert_eq!(node.stat().cversion, expected.cversion, "stored cversion of {path}");
    }
    let ephemerals = server.ephemerals();
    for (session, paths) in &ephemerals {
        let paths: Vec<String> = paths.iter().map(ToString::to_string).collect();
        assert_eq!(paths, model.ephemerals(*session), "ephemerals of {session}");
    }
}

/// What has no order in ZooKeeper gets one.
fn sorted(mut said: Said) -> Said {
    for saying in said.clients.values_mut().flatten() {
        if let Saying::Reply(reply) = saying
            && let Body::Users(users) = &mut reply.body
        {
            users.sort();
        }
    }
    said
}
