//! Many sequences against one pair of servers.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::net::SocketAddr;
use std::thread;

use super::accepted::Mend;
use super::compare::{Comparison, Difference};
use super::generate::{SLOTS, Setting, sequence};
use super::op::{Ask, Op};
use super::sabotage::Sabotage;
use super::side::{Outcome, Seen, Side};
use crate::raw::{self, Body, Request, Text};

/// The slot of a session that may do everything: it looks at all nodes after a sequence and then
/// removes them.
const JANITOR: usize = SLOTS;

/// Steps shown before the one that differs.
const HISTORY: usize = 6;

/// Nodes every server has, below which a sequence may leave something.
const ROOTS: [&str; 3] = ["/zookeeper/quota", "/zookeeper", "/"];

/// Why a run ends early.
#[derive(Debug)]
pub enum Stop {
    /// The servers differ.
    Differs(Box<Failure>),
    /// A server does not do what the comparison needs.
    Unfit(String),
    /// A server cannot be reached.
    Unreachable {
        /// Left or right.
        side: &'static str,
        /// Why not.
        error: raw::Error,
    },
}

/// A difference and how it came about.
#[derive(Debug)]
pub struct Failure {
    /// The sequence.
    pub seed: u64,
    /// The number of the step, from 0; past the end in the clearing-up.
    pub index: usize,
    /// The step.
    pub op: String,
    /// The difference.
    pub difference: Difference,
    /// The steps before, with the left server's answers.
    pub history: Vec<String>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, index, op, difference, history } = self;
        writeln!(f, "differs: seed {seed}, op {index}")?;
        for line in history {
            writeln!(f, "           {line}")?;
        }
        writeln!(f, "    op     {index}  {op}")?;
        write!(f, "{difference}")
    }
}

/// Two servers, and all that is known about them.
#[derive(Debug)]
pub struct Run {
    left: Side,
    right: Side,
    /// What the comparison has seen.
    pub comparison: Comparison,
    /// A lie still to be told.
    pub sabotage: Option<Sabotage>,
    /// What was below each of `ROOTS` before the first sequence.
    preset: Vec<BTreeSet<Text>>,
    history: VecDeque<String>,
    seed: u64,
    index: usize,
}

impl Run {
    /// Connects to both servers, and sees that they start from the same state.
    pub fn new(left: SocketAddr, right: SocketAddr, now_ms: i64) -> Result<Self, Stop> {
        let mut run = Self {
            left: Side::new(left, SLOTS + 1, now_ms),
            right: Side::new(right, SLOTS + 1, now_ms),
            comparison: Comparison::default(),
            sabotage: None,
            preset: vec![],
            history: VecDeque::new(),
            seed: 0,
            index: 0,
        };
        let hello = janitor(&[Request::Ping]);
        let (left, right) = run.perform(&hello)?;
        // The first thing a server does for anyone is to open our session.
        let fresh = run.left.begin() && run.right.begin();
        run.start(&hello, (&left, &right)).map_err(|stop| match stop {
            Stop::Differs(failure) if !fresh => Stop::Unfit(format!(
                "the servers do not start from the same state; restart both\n{failure}"
            )),
            Stop::Differs(_) | Stop::Unfit(_) | Stop::Unreachable { .. } => stop,
        })?;
        Ok(run)
    }

    /// Makes the janitor what it has to be, and looks at what is there.
    fn start(&mut self, hello: &Op, outcomes: (&Outcome, &Outcome)) -> Result<(), Stop> {
        self.compare(hello, outcomes)?;
        let auth = Request::Auth { scheme: "digest".into(), auth: Some(b"super:test".to_vec()) };
        self.step(&janitor(&[auth]))?;
        let (left, right) = self.perform(&janitor(&[Request::WhoAmI]))?;
        for (outcome, address) in [(left, self.left.address()), (right, self.right.address())] {
            if !is_super(&outcome) {
                let why = "does not take super:test for its superuser (see superDigest)";
                return Err(Stop::Unfit(format!("{address} {why}")));
            }
        }
        self.preset = self.children(&ROOTS)?;
        self.tour(&ROOTS.map(Text::from))?;
        Ok(())
    }

    /// Performs one sequence and clears up after it.
    pub fn sequence(&mut self, seed: u64, count: usize, setting: Setting) -> Result<(), Stop> {
        self.comparison.begin(seed);
        self.history.clear();
        self.seed = seed;
        self.index = 0;
        for op in sequence(seed, count, setting) {
            self.step(&op)?;
            self.index += 1;
        }
        self.clear_up()
    }

    /// Ends the janitor's session, and with it the run.
    pub fn finish(&mut self) -> Result<(), Stop> {
        self.step(&Op::Close { slot: JANITOR }).map(drop)
    }

    /// Closes all sessions, compares every node there is, and removes what was not there before.
    fn clear_up(&mut self) -> Result<(), Stop> {
        for slot in 0..SLOTS {
            if self.left.has_session(slot) {
                self.step(&Op::Close { slot })?;
            }
        }
        self.tour(&ROOTS.map(Text::from))?;
        let mut found = vec![];
        let preset = self.preset.clone();
        for ((root, preset), now) in ROOTS.iter().zip(preset).zip(self.children(&ROOTS)?) {
            found.extend(now.difference(&preset).map(|name| join(&Text::from(*root), name)));
        }
        let mut next = 0;
        while let Some(path) = found.get(next).cloned() {
            found.extend(self.tour(&[path])?);
            next += 1;
        }
        for path in found.into_iter().rev() {
            self.step(&janitor(&[Request::Delete { path, version: -1 }]))?;
        }
        Ok(())
    }

    /// Looks at all there is to see of some nodes; returns their children.
    fn tour(&mut self, paths: &[Text]) -> Result<Vec<Text>, Stop> {
        let mut children = vec![];
        for path in paths {
            let (path, watch) = (path.clone(), false);
            let op = janitor(&[
                Request::GetData { path: path.clone(), watch },
                Request::GetAcl { path: path.clone() },
                Request::GetChildren2 { path: path.clone(), watch },
            ]);
            let (left, _) = self.step(&op)?;
            let names = bodies(&left).find_map(|body| body.children().map(<[Text]>::to_vec));
            let names: BTreeSet<Text> = names.into_iter().flatten().collect();
            children.extend(names.iter().map(|name| join(&path, name)));
        }
        Ok(children)
    }

    fn children(&mut self, paths: &[&str]) -> Result<Vec<BTreeSet<Text>>, Stop> {
        let mut all = vec![];
        for path in paths {
            let request = Request::GetChildren { path: (*path).into(), watch: false };
            let (left, _) = self.step(&janitor(&[request]))?;
            let names = bodies(&left).find_map(|body| body.children().map(<[Text]>::to_vec));
            all.push(names.into_iter().flatten().collect());
        }
        Ok(all)
    }

    /// Performs one step on both servers and compares.
    fn step(&mut self, op: &Op) -> Result<(Outcome, Outcome), Stop> {
        let (left, mut right) = self.perform(op)?;
        if self.index > 0 && self.sabotage.is_some_and(|lie| lie.spoil(op, &mut right)) {
            self.sabotage = None;
        }
        let mends = self.compare(op, (&left, &right))?;
        self.remember(op, &left);
        for mend in mends {
            self.mend(op, &mend)?;
        }
        Ok((left, right))
    }

    fn mend(&mut self, op: &Op, mend: &Mend) -> Result<(), Stop> {
        let Op::Ask { slot, .. } = op else { panic!("only requests need mending: {op}") };
        let (Mend::Strict(request) | Mend::Unwatch(request)) = mend;
        let op = Op::Ask { slot: *slot, asks: vec![Ask::Plain(request.clone())], xid: None };
        let (left, right) = self.perform(&op)?;
        let views = (&mut self.left.view, &mut self.right.view);
        let result = self.comparison.compare_mend(mend, &op, (&left, &right), views);
        result.map_err(|difference| self.failure(&op, *difference))?;
        self.remember(&op, &left);
        Ok(())
    }

    fn perform(&mut self, op: &Op) -> Result<(Outcome, Outcome), Stop> {
        let (left, right) = (&mut self.left, &mut self.right);
        let (left, right) = thread::scope(|scope| {
            let left = scope.spawn(|| left.perform(op));
            let right = right.perform(op);
            (left.join().expect("a side does not panic"), right)
        });
        let unreachable = |side| move |error| Stop::Unreachable { side, error };
        Ok((left.map_err(unreachable("left"))?, right.map_err(unreachable("right"))?))
    }

    fn compare(&mut self, op: &Op, outcomes: (&Outcome, &Outcome)) -> Result<Vec<Mend>, Stop> {
        let views = (&mut self.left.view, &mut self.right.view);
        let result = self.comparison.compare(op, outcomes, views);
        result.map_err(|difference| self.failure(op, *difference))
    }

    fn failure(&self, op: &Op, difference: Difference) -> Stop {
        Stop::Differs(Box::new(Failure {
            seed: self.seed,
            index: self.index,
            op: op.to_string(),
            difference,
            history: self.history.iter().cloned().collect(),
        }))
    }

    fn remember(&mut self, op: &Op, left: &Outcome) {
        let acting = left.tracks.iter().filter(|track| track.acting);
        let shown: Vec<String> = acting
            .flat_map(|track| &track.seen)
            .filter(|seen| !matches!(seen, Seen::Reply { ask: None, .. }))
            .map(|seen| self.left.view.show(seen))
            .collect();
        self.history.push_back(format!("{}  {op}  ->  {}", self.index, shown.join(" | ")));
        if self.history.len() > HISTORY {
            self.history.pop_front();
        }
    }
}

fn janitor(requests: &[Request]) -> Op {
    let asks = requests.iter().cloned().map(Ask::Plain).collect();
    Op::Ask { slot: JANITOR, asks, xid: None }
}

fn bodies(outcome: &Outcome) -> impl Iterator<Item = &Body> {
    outcome.tracks.iter().flat_map(|track| &track.seen).filter_map(|seen| {
        let Seen::Reply { ask: Some(_), reply } = seen else { return None };
        Some(&reply.body)
    })
}

fn is_super(outcome: &Outcome) -> bool {
    bodies(outcome).any(|body| {
        let Body::Ids(Some(ids)) = body else { return false };
        ids.iter().any(|(scheme, _)| *scheme == "super")
    })
}

fn join(parent: &Text, name: &Text) -> Text {
    let parent = if *parent == "/" { b"" } else { parent.bytes() };
    Text(Some([parent, b"/", name.bytes()].concat()))
}
