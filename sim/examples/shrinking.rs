//! How short the first failing run of each known bug becomes: the table in docs/shrinking.md.
//!
//! ```console
//! $ cargo run --release -p zoolab-sim --example shrinking
//! ```

use std::env;
use std::ops::ControlFlow;
use std::process::ExitCode;

use zoolab_core::Bug;
use zoolab_sim::checker::Checkers;
use zoolab_sim::drive::{End, Nobody, Onlooker, drive, hush_panics, run};
use zoolab_sim::shrink::{Limits, shrink};
use zoolab_sim::step::{Instant, Step};
use zoolab_sim::strategy::replay::Replay;
use zoolab_sim::swarm::Plan;
use zoolab_sim::trace::{Ending, Header, Trace};
use zoolab_sim::world::World;

/// How many seeds are tried for each.
const SEEDS: u64 = 2000;

#[derive(Default)]
struct Steps(Vec<(Instant, Step)>);

impl Onlooker for Steps {
    fn before(&mut self, _: u64, at: Instant, step: &Step) {
        self.0.push((at, step.clone()));
    }
}

/// The first run that fails with this bug.
fn first(bug: Bug) -> Option<Trace> {
    (0..SEEDS).find_map(|seed| {
        let mut plan = Plan::draw(seed);
        plan.setting.bugs = vec![bug];
        let mut steps = Steps::default();
        let report = run(&plan, seed, &mut steps).expect("a drawn plan can be run");
        let header = Header::new(seed, plan);
        (report.end != End::Held).then(|| Trace {
            header,
            steps: steps.0,
            ending: Some(Ending::of(&report)),
        })
    })
}

/// How the steps of a trace end, with these bugs on.
fn end(trace: &Trace, bugs: &[Bug]) -> End {
    let mut setting = trace.header.plan.setting.clone();
    setting.bugs = bugs.to_vec();
    let mut world = World::new(setting).expect("it was set up before");
    let mut checkers = Checkers::new(world.ensemble().clone(), &world.setting().promises);
    drive(&mut world, &mut Replay::skipping(&trace.steps), &mut checkers, &mut Nobody).end
}

#[expect(clippy::disallowed_methods, reason = "it measures")]
fn main() -> ExitCode {
    hush_panics();
    // All of them, or those that are named.
    let named: Vec<String> = env::args().skip(1).collect();
    println!("| bug | seed | promise | steps | shrunk | runs | seconds | bug off |");
    println!("|---|---|---|---|---|---|---|---|");
    let mut all = Vec::new();
    for bug in Bug::ALL {
        if !named.is_empty() && !named.iter().any(|name| name == bug.name()) {
            continue;
        }
        let Some(trace) = first(bug) else {
            println!("| {bug} | none below {SEEDS} | | | | | | |");
            continue;
        };
        let start = std::time::Instant::now();
        let shrunk = shrink(&trace, Limits::default(), &mut |_| ControlFlow::Continue(()));
        let seconds = start.elapsed().as_secs_f64();
        let shrunk = match shrunk {
            Ok(shrunk) => shrunk,
            Err(why) => {
                println!("| {bug} | {} | {why} | | | | | |", trace.header.seed);
                continue;
            }
        };
        let off = end(&shrunk.trace, &[]);
        let off = if off == End::Held { "holds".to_owned() } else { off.to_string() };
        let (before, after) = (shrunk.before, shrunk.trace.steps.len());
        all.push(after);
        println!(
            "| {bug} | {} | {} | {before} | {after} | {} | {seconds:.1} | {off} |",
            trace.header.seed, shrunk.fingerprint.what, shrunk.runs
        );
    }
    all.sort_unstable();
    if let (Some(most), Some(median)) = (all.last(), all.get(all.len() / 2)) {
        println!("\nmedian {median} steps, at most {most}");
    }
    ExitCode::SUCCESS
}
