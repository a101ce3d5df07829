//! `zoolab search`: every state of a small ensemble.
//!
//! ```text
//!   arguments, scenario, trace or checkpoint ---> Setup ---> Root ---> Ensemble
//!                                                                         |
//!   Report <--- layers | plunge | live | graph <--------------------------+
//! ```

mod args;
mod checkpoint;
mod coverage;
mod found;
mod graph;
mod layers;
mod live;
mod moment;
mod outlook;
mod plunge;
mod report;
mod scenario;
mod setup;
mod sums;
mod watch;

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::process::ExitCode;
use std::sync::Mutex;

use zoolab_sim::drive::hush_panics;
use zoolab_sim::states::{Preset, sets_of, words_of};

pub(crate) use self::args::Args;
use self::args::{Faults, Goal, Place};
use self::checkpoint::Notes;
use self::report::Report;
use self::setup::Setup;
use crate::Outcome;
use crate::say::say;

/// What is to be searched, and how.
#[derive(Clone, Copy)]
struct Job<'a> {
    args: &'a Args,
    setup: &'a Setup,
    /// Whether independent steps are taken in one order only.
    sleep: bool,
    /// Places that should be reached.
    reach: &'a [String],
    /// What came of it so far, if it is gone on with.
    notes: Option<&'a Notes>,
}

/// Searches, and says what came of it.
pub(crate) fn run(args: &Args) -> Outcome {
    if args.words.list {
        for preset in Preset::ALL {
            say!("{:<12} {} servers: {}", preset.name, preset.servers, preset.about);
        }
        return Ok(ExitCode::SUCCESS);
    }
    guarded(|| search(args))?
}

fn search(args: &Args) -> Outcome {
    let notes = args.way.resume.as_deref().map(Notes::read).transpose()?;
    let setup = match &notes {
        None => Setup::of(&args.place, &args.faults)?,
        Some(notes) => same(args, notes)?,
    };
    let reach = places(args, &setup, notes.as_ref())?;
    if args.words.print_scenario {
        return print(setup, reach);
    }
    let sleep = notes.as_ref().map_or(!args.way.no_sleep, |notes| notes.sleep);
    let job = Job { args, setup: &setup, sleep, reach: &reach, notes: notes.as_ref() };
    if !args.words.json {
        say!("searching {setup}");
    }
    let report = match setup.servers() {
        1 => go::<{ words_of(1) }, { sets_of(1) }>(&job),
        2 => go::<{ words_of(2) }, { sets_of(2) }>(&job),
        3 => go::<{ words_of(3) }, { sets_of(3) }>(&job),
        4 => go::<{ words_of(4) }, { sets_of(4) }>(&job),
        5 => go::<{ words_of(5) }, { sets_of(5) }>(&job),
        many => Err(format!("{many} servers are too many to search, expected 1 to 5")),
    }?;
    if args.words.json {
        report.say_json()?;
    } else {
        report.say(&setup.bounds(), args.words.layers);
    }
    Ok(if report.held { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// In the way that was asked for.
fn go<'a, const K: usize, const W: usize>(job: &Job<'a>) -> Result<Report<'a>, String> {
    let question = &job.args.question;
    match (&question.eventually, &question.graph) {
        (Some(Goal::Led), _) => live::run::<K, W>(job, question.once),
        (None, Some(path)) => graph::run::<K, W>(job, path),
        (None, None) if job.args.way.depth_first => plunge::run::<K, W>(job),
        (None, None) => layers::run::<K, W>(job),
    }
}

/// The search that was saved, which is the one that was asked for, if one was.
fn same(args: &Args, notes: &Notes) -> Result<Setup, String> {
    let file = args.way.resume.as_deref().unwrap_or_else(|| "".as_ref()).display();
    if args.place != Place::default() || args.faults != Faults::default() {
        let asked = Setup::of(&args.place, &args.faults)?;
        if let Some((there, here)) = notes.setup.difference(&asked) {
            return Err(format!("{file}: another search: it has {there}, asked for is {here}"));
        }
    }
    if args.way.no_sleep && notes.sleep {
        return Err(format!("{file}: begun without --no-sleep, and so it has to go on"));
    }
    Ok(notes.setup.clone())
}

/// All places that should be reached.
fn places(args: &Args, setup: &Setup, notes: Option<&Notes>) -> Result<Vec<String>, String> {
    for place in &args.question.reach {
        coverage::known(place).map_err(|what| format!("--reach: {what}"))?;
    }
    let mut places = args.question.reach.clone();
    if let Setup::Scenario(scenario) = setup {
        for place in &scenario.reach {
            coverage::known(place).map_err(|what| format!("reach: {what}"))?;
        }
        places.extend(scenario.reach.iter().cloned());
    }
    places.extend(notes.into_iter().flat_map(|notes| notes.reach.iter().cloned()));
    places.sort();
    places.dedup();
    Ok(places)
}

/// Prints the whole set-up.
fn print(setup: Setup, reach: Vec<String>) -> Outcome {
    let Setup::Scenario(mut scenario) = setup else {
        return Err("--print-scenario: a moment of a run is no scenario".into());
    };
    scenario.reach = reach;
    say!("{}", scenario.print()?.trim_end());
    Ok(ExitCode::SUCCESS)
}

/// What was said when something panicked last.
static LAST: Mutex<Option<String>> = Mutex::new(None);

/// Does something. A panic on the way becomes one line: in a search every bug is met many times.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    set_hook(Box::new(|panic| {
        let place = panic.location().map_or(String::new(), |place| format!(" ({place})"));
        let said = panic.payload_as_str().unwrap_or("a panic without words").replace('\n', " ");
        if let Ok(mut last) = LAST.lock() {
            *last = Some(format!("{said}{place}"));
        }
    }));
    hush_panics();
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| {
        let last = LAST.lock().ok().and_then(|mut last| last.take());
        format!("our own code gave up: {}", last.unwrap_or_default())
    })
}
