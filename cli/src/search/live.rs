//! Whether what should happen in the end does, in every fair run: on the whole graph of a search.

use std::ops::ControlFlow;

use serde::Serialize;
use zoolab_sim::search::{Figures, Graph, Lasso, Liveness, NoGraph, Progress, Reach, live};
use zoolab_sim::states::{Ensemble, Horizon, Past, wider};
use zoolab_sim::world::Bounds;

use super::Job;
use super::found::{Found, Stage, walk};
use super::report::{Ending, Report};
use super::watch::Watch;
use crate::say::say;

/// As many states as there may be if nobody has said so.
const STATES: u64 = 1_000_000;

/// What is wrong if somebody never comes to where they should.
const NOT_LED: &str = "not everybody follows one leader and has what it has";

/// Builds the graph of all states, and looks for runs that never come to where they should.
pub(super) fn run<'a, const K: usize, const W: usize>(
    job: &Job<'a>,
    once: bool,
) -> Result<Report<'a>, String> {
    // In a graph of servers that are alike nobody can be followed round a cycle.
    let bounds = Bounds { alike: false, ..job.setup.bounds() };
    let (plan, root) = (job.setup.plan(wider(bounds)), job.setup.root(wider(bounds))?);
    let space = Ensemble::<K, W>::new(root.world, root.checkers);
    let horizon = Horizon::new(&space, bounds);
    let watch = Watch::begin(0);
    let states = job.args.way.states.unwrap_or(STATES);
    let most = Most { states, memory: job.args.way.memory };
    let graph = most.graph(&horizon, job, &watch)?;
    watch.says("looking for runs that never get there");
    let reach = if once { Reach::Once } else { Reach::AgainAndAgain };
    let found = graph.broken.is_none().then(|| live(&graph, reach));
    let past = horizon.past();
    let end = if found.is_none() { Ending::Broken } else { Ending::Complete };
    let sums = sums(&graph.figures, past);
    let mut report = Report::new(job.setup, end, sums, watch.end(), space.sizes());
    let stage = Stage { plan: &plan, before: &root.steps, traces: &job.args.words.traces };
    if let Some(broken) = graph.path_to_broken() {
        report.fail(stage.broken(&space.steps(&broken))?);
    }
    if let Some(found) = found {
        let lassos = lassos(&found);
        report.liveness = Some(Lively::new(&found, past, once));
        for (lasso, name, what) in lassos {
            report.fail(stuck(&space, stage, lasso, name, what)?);
        }
    }
    Ok(report)
}

/// How much of a graph there may be.
#[derive(Clone, Copy)]
pub(super) struct Most {
    pub(super) states: u64,
    /// In megabytes.
    pub(super) memory: u64,
}

impl Most {
    /// The graph of all states.
    pub(super) fn graph<S: zoolab_sim::search::Space>(
        self,
        space: &S,
        job: &Job<'_>,
        watch: &Watch,
    ) -> Result<Graph, String> {
        let mut full = false;
        let progress = &mut |progress: &Progress<'_>| {
            full = progress.figures.bytes > self.memory.saturating_mul(1 << 20);
            if full { ControlFlow::Break(()) } else { watch.layers(progress) }
        };
        let graph = Graph::build(space, self.states, job.args.way.threads, progress);
        graph.map_err(|error| match error {
            NoGraph::TooLarge { allowed } => {
                format!("there are more than {allowed} states: bound them, or allow more --states")
            }
            NoGraph::Asked if full => {
                let memory = self.memory;
                format!("the states take more than {memory} MB: bound them, or raise --memory")
            }
            NoGraph::Asked => "interrupted: without all states there is no answer".into(),
        })
    }
}

/// What was counted. The one state of which nothing is known is none of those that were seen.
fn sums(figures: &Figures, past: Past) -> super::sums::Sums {
    let mut sums = super::sums::Sums::from(figures);
    if !past.is_none() {
        (sums.states, sums.goals, sums.ends) = (sums.states - 1, sums.goals - 1, sums.ends - 1);
        sums.expanded -= 1;
    }
    sums
}

/// Of each kind the nearest, with a name for its trace and what is wrong.
fn lassos(found: &Liveness) -> Vec<(&Lasso, &'static str, String)> {
    let all = [
        (&found.dead_end, "search-dead-end.jsonl", "a dead end: nothing can happen any more"),
        (&found.standstill, "search-standstill.jsonl", "a standstill: nothing has to happen"),
        (&found.cycle, "search-cycle.jsonl", "a fair cycle: the same happens for ever"),
    ];
    let some = all.into_iter().filter_map(|(lasso, name, what)| {
        lasso.as_ref().map(|lasso| (lasso, name, format!("{what}, and {NOT_LED}")))
    });
    some.collect()
}

/// Performs a run that never gets there.
fn stuck<const K: usize, const W: usize>(
    space: &Ensemble<K, W>,
    stage: Stage<'_>,
    lasso: &Lasso,
    name: &str,
    what: String,
) -> Result<Found, String> {
    let Lasso { stem, cycle } = lasso;
    let once = [&stem[..], cycle].concat();
    // Whoever has gone round must be able to go round again.
    let steps = walk(space, &[&once[..], cycle].concat());
    if steps.len() < once.len() + cycle.len() {
        let (place, of) = (steps.len(), once.len());
        return Err(format!("{what}; but it cannot be performed beyond step {place} of {of}"));
    }
    let cycle_after = (!cycle.is_empty()).then_some(stem.len());
    stage.stuck(&steps[..once.len()], cycle_after, name, what)
}

/// Whether what should happen in the end does.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Lively {
    dead_ends: u64,
    standstills: u64,
    fair_cycles: u64,
    /// Steps that lead to where nothing is judged.
    beyond: Beyond,
    #[serde(skip)]
    once: bool,
}

/// Steps that lead to where nothing is judged, by what is beyond.
#[derive(Clone, Copy, Debug, Serialize)]
struct Beyond {
    epochs: u64,
    rounds: u64,
    votes_sent_again: u64,
    patience_lost: u64,
    #[serde(skip)]
    past: Past,
}

impl From<Past> for Beyond {
    fn from(past: Past) -> Self {
        let Past { epochs, rounds, votes, patience } = past;
        Self { epochs, rounds, votes_sent_again: votes, patience_lost: patience, past }
    }
}

impl Lively {
    fn new(found: &Liveness, past: Past, once: bool) -> Self {
        let Liveness { dead_ends, standstills, cycles, .. } = *found;
        let beyond = Beyond::from(past);
        Self { dead_ends, standstills, fair_cycles: cycles, beyond, once }
    }

    const fn holds(&self) -> bool {
        self.dead_ends == 0 && self.standstills == 0 && self.fair_cycles == 0
    }

    /// All of it for a person.
    pub(super) fn say(&self) {
        let Self { dead_ends, standstills, fair_cycles, beyond, once } = self;
        let often = if *once { "at least once" } else { "again and again" };
        if self.holds() {
            say!("led in the end: in every fair run, {often}");
        } else {
            say!(
                "not led in the end: {dead_ends} dead ends, {standstills} standstills, \
                 {fair_cycles} fair cycles"
            );
        }
        if !beyond.past.is_none() {
            say!("beyond what is searched, and so not judged: {}", beyond.past);
        }
    }
}
