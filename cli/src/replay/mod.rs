//! `zoolab replay`: performs a recorded run to the letter, and looks inside.

mod step;

use std::io::BufReader;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use zoolab_core::ServerId;
use zoolab_sim::checker::Checkers;
use zoolab_sim::drive::{Done, End, Onlooker, Report, drive, hush_panics};
use zoolab_sim::report::Film;
use zoolab_sim::strategy::replay::Replay;
use zoolab_sim::trace::{Ending, Trace, Word};
use zoolab_sim::world::World;

use crate::say::say;
use crate::{Outcome, summary};

/// Perform a recorded run again, from its steps and not from its seed
///
/// Ends with 0 if what happens is what was recorded and no promise is broken, with 1 if a promise
/// is broken or a step does not fit; then it says which step was wanted, and what was possible.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    zoolab replay traces/shown/election.jsonl\n  \
    zoolab replay traces/shown/election.jsonl --every 1           each step, and who does what\n  \
    zoolab replay traces/shown/election.jsonl --until 40 --state 2\n  \
    zoolab replay traces/shown/election.jsonl --step              forward and back, by hand")]
pub(crate) struct Args {
    /// The trace, compressed or not
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Stop after so many steps
    #[arg(long, value_name = "STEP")]
    until: Option<u64>,
    /// At the end, print all of what this server is
    #[arg(long, value_name = "SERVER")]
    state: Option<u8>,
    /// Print every so many steps what happens and what each server does
    #[arg(long, value_name = "N")]
    every: Option<std::num::NonZeroU64>,
    /// Go through it by hand, forward and back; reads from standard input what to do
    #[arg(long, conflicts_with_all = ["until", "state", "every"])]
    step: bool,
}

/// Prints on the way, and stops where it is told to.
struct Look {
    until: Option<u64>,
    every: Option<std::num::NonZeroU64>,
}

impl Onlooker for Look {
    fn after(&mut self, done: &Done<'_>) -> bool {
        let count = done.place + 1;
        for violation in done.overlooked {
            say!("{count:>7} overlooked: {violation}");
        }
        if self.every.is_some_and(|every| count.is_multiple_of(every.get())) {
            let (at, step) = (done.at.0, done.step);
            say!("{count:>7} {at:>11} us  {step:<40}  {}", doing(done.world));
        }
        self.until.is_none_or(|until| count < until)
    }
}

/// Each server in a few characters.
fn doing(world: &World) -> String {
    let one = |id: &ServerId| match &world.host(*id).server {
        None => format!("{id} down"),
        Some(server) => {
            let paused = if world.host(*id).paused { " paused" } else { "" };
            format!("{id} {} {}{paused}", server.doing(), server.zxid_last())
        }
    };
    world.servers().iter().map(one).collect::<Vec<_>>().join(" | ")
}

/// Performs it, and says what came of it.
pub(crate) fn run(args: &Args) -> Outcome {
    let trace = Trace::read(&args.file).map_err(|error| error.to_string())?;
    let file = args.file.display();
    let setting = trace.header.plan.setting.clone();
    let mut world = World::new(setting).map_err(|error| format!("{file}:1: {error}"))?;
    if let Some(state) = args.state
        && !world.servers().contains(&ServerId(state))
    {
        let all: Vec<String> = world.servers().iter().map(ToString::to_string).collect();
        return Err(format!("--state {state}: expected one of {}", all.join(", ")));
    }
    if args.until == Some(0) {
        return Err("--until 0: expected a number of steps from 1 on".into());
    }
    hush_panics();
    if let Some(about) = &trace.header.about {
        say!("{about}");
    }
    say!("seed {}: {}", trace.header.seed, trace.header.plan.summary());
    if args.step {
        let film = Film::new(&trace).map_err(|error| format!("{file}:1: {error}"))?;
        return step::run(film, &mut BufReader::new(std::io::stdin()));
    }
    let mut checkers = Checkers::new(Arc::clone(world.ensemble()), &world.setting().promises);
    let mut strategy = Replay::new(&trace.steps);
    let mut look = Look { until: args.until, every: args.every };
    let mut report = drive(&mut world, &mut strategy, &mut checkers, &mut look);
    if let Some(stuck) = stuck(&trace, &report) {
        report.end = End::Stuck(stuck);
    }
    say!("{}", summary::one(&report));
    say!("servers  {}", doing(&world));
    if let Some(state) = args.state {
        let host = world.host(ServerId(state));
        say!("{host:#?}");
    }
    if let End::Diverged { wanted, why } = &report.end {
        let step = report.figures.steps;
        say!("{file}:{}: step {} wanted: {wanted}; {why}", step + 2, step + 1);
        let mut possible = Vec::new();
        world.enabled(&mut possible);
        say!("possible then, beside timers, clients and faults ({}):", possible.len());
        possible.iter().take(12).for_each(|step| say!("  {step}"));
        return Ok(ExitCode::FAILURE);
    }
    if report.figures.steps < trace.steps.len() as u64 && report.end == End::Held {
        say!("stopped after {} of {} steps", report.figures.steps, trace.steps.len());
        return Ok(ExitCode::SUCCESS);
    }
    Ok(compare(&trace, &Ending::of(&report)))
}

/// What did not get well again, if the recorded run got stuck and this was all of it. Its steps do
/// not show what was expected of it; but the same steps are the same run.
fn stuck(trace: &Trace, report: &Report) -> Option<String> {
    let then = trace.ending.as_ref().filter(|then| then.end == Word::Stuck)?;
    let same = report.end == End::Held && Ending::of(report).hash == then.hash;
    same.then(|| then.what.clone().unwrap_or_else(|| "as recorded".into()))
}

/// Holds what happened against what was recorded.
fn compare(trace: &Trace, now: &Ending) -> ExitCode {
    let Some(then) = &trace.ending else {
        say!("the trace has no end to compare with: whoever wrote it was cut off");
        return if now.end == Word::Held { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    };
    let same = then.end == now.end;
    if then.hash != now.hash {
        say!("DIFFERS: the recorded hash is {}", then.hash);
    } else if same {
        say!("as recorded");
    } else {
        say!("DIFFERS: the recorded end is {:?}, now it is {:?}", then.end, now.end);
    }
    match now.end {
        Word::Held if then.hash == now.hash && same => ExitCode::SUCCESS,
        Word::Diverged | Word::Held | Word::Panicked | Word::Stuck | Word::Violated => {
            ExitCode::FAILURE
        }
    }
}
