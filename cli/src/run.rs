//! `zoolab run`: one run, from one seed.

use std::path::PathBuf;
use std::process::ExitCode;

use zoolab_sim::drive::{self, Done, End, Nobody, Onlooker, Report, hush_panics};
use zoolab_sim::swarm::Plan;
use zoolab_sim::trace::{Header, Recorder};

use crate::{Outcome, plan, summary};

/// Run an ensemble once, everything drawn from one seed
///
/// The seed draws who is there, what goes wrong, and when. The same seed is the same run, step by
/// step, on every machine; the hash tells.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    zoolab run --seed 42\n  \
    zoolab run --seed 42 --record 42.jsonl && zoolab replay 42.jsonl --every 1000\n  \
    zoolab run --seed 7 --scenario two-crashes.toml\n  \
    zoolab run --seed 7 --bug ZOOKEEPER-4643\n\n\
    A scenario says what the seed would draw; whatever it leaves out is as in a quiet ensemble\n\
    of three. `zoolab run --seed 42 --print-scenario` prints all there is to say:\n\n  \
    trouble-ms = 30000\n  \
    faults = [[\"crash\", 4000], [\"cut\", 9000]]   # one every so many milliseconds\n  \
    [setting]\n  \
    voters = [[[1, 1], [2, 1], [3, 1]]]         # groups of [server, weight]")]
pub(crate) struct Args {
    /// The seed
    #[arg(long, value_name = "N")]
    seed: u64,
    #[command(flatten)]
    kind: plan::Kind,
    /// Write all steps to this file; compressed if its name ends in .zst
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Run twice, and stop at the first step that differs
    #[arg(long)]
    check_determinism: bool,
    /// Print what the seed draws, as a scenario, and do not run it
    #[arg(long)]
    print_scenario: bool,
}

/// Runs, and says what came of it.
pub(crate) fn run(args: &Args) -> Outcome {
    let plan = args.kind.plan(args.seed)?;
    if args.print_scenario {
        print!("{}", toml::to_string(&plan).map_err(|error| error.to_string())?);
        return Ok(ExitCode::SUCCESS);
    }
    hush_panics();
    println!("seed {}: {}", args.seed, plan.summary());
    if args.check_determinism
        && let Some(difference) = differs(&plan, args.seed)?
    {
        println!("NOT DETERMINISTIC: {difference}");
        return Ok(ExitCode::FAILURE);
    }
    let report = match &args.record {
        None => drive::run(&plan, args.seed, &mut Nobody).map_err(|error| error.to_string())?,
        Some(path) => {
            let report = record(&plan, args.seed, path)?;
            println!("recorded in {}", path.display());
            report
        }
    };
    println!("{}", summary::one(&report));
    if report.end != End::Held {
        println!("{}", args.kind.again(args.seed));
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs and writes down all steps.
pub(crate) fn record(plan: &Plan, seed: u64, path: &std::path::Path) -> Result<Report, String> {
    let wrong = |error: std::io::Error| format!("{}: {error}", path.display());
    let header = Header::new(seed, plan.clone());
    let mut recorder = Recorder::create(path, &header).map_err(wrong)?;
    let report = drive::run(plan, seed, &mut recorder).map_err(|error| error.to_string())?;
    recorder.finish(&report).map_err(wrong)?;
    Ok(report)
}

/// Remembers a run by the hash after each step.
#[derive(Default)]
struct First(Vec<(u64, String)>);

impl Onlooker for First {
    fn after(&mut self, done: &Done<'_>) -> bool {
        self.0.push((done.hash.finish(), done.step.to_string()));
        true
    }
}

/// Holds a run against a remembered one.
struct Second {
    first: First,
    difference: Option<String>,
}

impl Onlooker for Second {
    fn after(&mut self, done: &Done<'_>) -> bool {
        let place = done.place as usize;
        let (hash, step) = (done.hash.finish(), done.step);
        self.difference = match self.first.0.get(place) {
            Some((same, _)) if *same == hash => None,
            Some((_, first)) => Some(format!("step {place} was first: {first}; then: {step}")),
            None => Some(format!("step {place} is one too many: {step}")),
        };
        self.difference.is_none()
    }
}

/// Where two runs of a seed differ first, if they do.
pub(crate) fn differs(plan: &Plan, seed: u64) -> Result<Option<String>, String> {
    let mut first = First::default();
    let before = drive::run(plan, seed, &mut first).map_err(|error| error.to_string())?;
    let mut second = Second { first, difference: None };
    let after = drive::run(plan, seed, &mut second).map_err(|error| error.to_string())?;
    let steps = second.first.0.len();
    Ok(second.difference.or_else(|| {
        (before.hash != after.hash || before.end != after.end)
            .then(|| format!("the second run ended after {} of {steps} steps", after.figures.steps))
    }))
}
