//! `zoolab run`: one run, from one seed.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use zoolab_sim::drive::{self, Done, End, Nobody, Onlooker, Report, hush_panics};
use zoolab_sim::history::online::{Both, Scribe};
use zoolab_sim::swarm::Plan;
use zoolab_sim::trace::{Header, Recorder};

use crate::finding::Finding;
use crate::say::say;
use crate::{Outcome, plan, summary};

/// Run an ensemble once, everything drawn from one seed
///
/// The seed draws who is there, what goes wrong, and when. The same seed is the same run, step by
/// step, on every machine; the hash tells.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    zoolab run --seed 42\n  \
    zoolab run --seed 42 --record 42.jsonl && zoolab replay 42.jsonl --every 1000\n  \
    zoolab run --seed 7 --scenario two-crashes.toml\n\n\
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
    /// Write a history to this file, for `zoolab check`: what is committed, and what clients say and
    /// hear as far as they show it
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
    /// Where the trace of a failure goes if it is not recorded anyway
    #[arg(long, value_name = "DIR", default_value = "target/traces")]
    traces: PathBuf,
    /// Run twice, and stop at the first step that differs
    #[arg(long)]
    check_determinism: bool,
    /// Print what the seed draws, as a scenario, and do not run it
    #[arg(long, conflicts_with_all = ["record", "check_determinism"])]
    print_scenario: bool,
}

/// Runs, and says what came of it.
pub(crate) fn run(args: &Args) -> Outcome {
    let plan = args.kind.plan(args.seed)?;
    if args.print_scenario {
        say!("{}", toml::to_string(&plan).map_err(|error| error.to_string())?.trim_end());
        return Ok(ExitCode::SUCCESS);
    }
    let recording = args.record.as_deref().map(|path| Recording::begin(&plan, args.seed, path));
    let recording = recording.transpose()?;
    let scribe = args.history.as_deref().map(|path| scribe(path, args.seed));
    let mut scribe = scribe.transpose()?;
    hush_panics();
    say!("seed {}: {}", args.seed, plan.summary());
    let onlooker: &mut dyn Onlooker = match &mut scribe {
        Some(scribe) => scribe,
        None => &mut Nobody,
    };
    let report = match recording {
        None => drive::run(&plan, args.seed, onlooker).map_err(|error| error.to_string())?,
        Some(recording) => recording.run(onlooker)?,
    };
    if let (Some(scribe), Some(path)) = (scribe, &args.history) {
        scribe.finish().map_err(|error| format!("{}: {error}", path.display()))?;
    }
    say!("{}", summary::one(&report));
    if let Some(path) = &args.record {
        say!("recorded in {}", path.display());
    }
    if let Some(path) = &args.history {
        say!("history: zoolab check {}", crate::finding::Pasted(path));
    }
    let mut differing = false;
    if args.check_determinism {
        match differs(&plan, args.seed)? {
            None => say!("deterministic: the same in every step, again and again"),
            Some(difference) => {
                say!("NOT DETERMINISTIC: {difference}");
                differing = true;
            }
        }
    }
    if differing || report.end != End::Held {
        let finding = Finding { seed: args.seed, kind: &args.kind, differs: differing };
        return Ok(finding.keep(&args.traces, args.record.as_deref()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Whoever writes a history of a run.
fn scribe(path: &Path, seed: u64) -> Result<Scribe<std::fs::File>, String> {
    let file = std::fs::File::create(path).and_then(|file| Scribe::begin(file, seed));
    file.map_err(|error| format!("{}: {error}", path.display()))
}

/// A run all of whose steps are written down.
pub(crate) struct Recording<'a> {
    plan: &'a Plan,
    seed: u64,
    path: &'a Path,
    recorder: Recorder,
}

impl<'a> Recording<'a> {
    /// Makes the file. Whoever wants one learns before the run that there cannot be one.
    pub(crate) fn begin(plan: &'a Plan, seed: u64, path: &'a Path) -> Result<Self, String> {
        let recorder = Recorder::create(path, &Header::new(seed, plan.clone()));
        let recorder = recorder.map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self { plan, seed, path, recorder })
    }

    /// Runs, while somebody else looks on as well.
    pub(crate) fn run(self, other: &mut dyn Onlooker) -> Result<Report, String> {
        let Self { plan, seed, path, mut recorder } = self;
        let mut both = Both(&mut recorder, other);
        let report = drive::run(plan, seed, &mut both).map_err(|error| error.to_string())?;
        recorder.finish(&report).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(report)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of a run of `seed` after a run of seed 1 of which so many steps are known.
    fn difference(known: usize, seed: u64) -> Option<String> {
        let plan = Plan { trouble_ms: 1000, ..Plan::quiet(3) };
        let mut first = First::default();
        drive::run(&plan, 1, &mut first).unwrap();
        first.0.truncate(known);
        let mut second = Second { first, difference: None };
        drive::run(&plan, seed, &mut second).unwrap();
        second.difference
    }

    #[test]
    fn the_first_step_that_differs_is_named() {
        assert_eq!(difference(usize::MAX, 1), None);
        let other = difference(usize::MAX, 2).unwrap();
        assert!(other.starts_with("step 3 was first: vote "), "{other}");
        assert!(other.contains("; then: vote "), "{other}");
        let more = difference(2, 1).unwrap();
        assert_eq!(more, "step 2 is one too many: restart 3");
    }
}
