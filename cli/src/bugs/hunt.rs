//! `zoolab bugs hunt`: how soon each bug is found from seeds, and that its seed holds without it.

use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use comfy_table::{CellAlignment, Table, presets};
use indicatif::{ProgressBar, ProgressStyle};
use zoolab_core::{Bug, Bugs};
use zoolab_sim::drive::{End, Nobody, Report, hush_panics, run};
use zoolab_sim::swarm::Plan;

use crate::Outcome;
use crate::bench::clock;
use crate::say::say;

/// Run seeds with each bug switched on until one breaks a promise
///
/// What is found is run once more without the bug, and must hold then. The exit code is 1 if a
/// bug was not found within the budget, or if a seed does not hold without it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    zoolab bugs hunt\n  \
    zoolab bugs hunt ZOOKEEPER-4643 ZOOKEEPER-1154 --budget 1000")]
pub(super) struct Args {
    /// Which bugs; all of them if none is named
    #[arg(value_name = "ID")]
    bugs: Vec<Bug>,
    /// How many seeds are tried for each, from 0 on
    #[arg(long, value_name = "SEEDS", default_value_t = 10_000)]
    budget: u64,
    /// How many at the same time; as many as there are processors if not said
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
}

/// A run that broke something.
struct Catch {
    seed: u64,
    end: End,
    steps: u64,
}

/// Hunts them one after the other.
pub(super) fn hunt(args: &Args) -> Outcome {
    if let Err(missing) = Bugs::of(Bug::ALL) {
        return Err(missing.to_string());
    }
    hush_panics();
    let jobs = match args.jobs {
        Some(jobs) => jobs.into(),
        None => std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
    };
    let bugs = if args.bugs.is_empty() { &Bug::ALL[..] } else { &args.bugs };
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["bug", "found by", "seeds", "steps", "seconds", "without it"]);
    let bar = ProgressBar::new(args.budget);
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} seeds");
    bar.set_style(style.expect("the template is one"));
    let mut all_found = true;
    for &bug in bugs {
        bar.reset();
        bar.set_message(bug.name());
        let start = clock::now();
        let caught = first(bug, args.budget, jobs, &bar)?;
        let took = start.elapsed();
        let Some(caught) = caught else {
            all_found = false;
            let seeds = args.budget.to_string();
            table.add_row([bug.name(), "not found", &seeds, "", &seconds(took), ""]);
            continue;
        };
        let without = end(caught.seed, &[])?.end;
        all_found &= without == End::Held;
        let held = if without == End::Held { "holds".to_owned() } else { without.to_string() };
        let row = [
            bug.name().to_owned(),
            sign(&caught.end),
            (caught.seed + 1).to_string(),
            caught.steps.to_string(),
            seconds(took),
            held,
        ];
        table.add_row(row);
    }
    bar.finish_and_clear();
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    for place in 2..=4 {
        let column = table.column_mut(place).expect("the header has six");
        column.set_cell_alignment(CellAlignment::Right);
    }
    say!("{}", table.trim_fmt());
    Ok(if all_found { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What a run ended by, in a word.
fn sign(end: &End) -> String {
    match end {
        End::Violated(violation) => violation.promise.name(),
        End::Diverged { .. } | End::Held | End::Panicked(_) | End::Stuck(_) => end.to_string(),
    }
}

fn seconds(took: Duration) -> String {
    format!("{}.{}", took.as_secs(), took.subsec_millis() / 100)
}

fn end(seed: u64, bugs: &[Bug]) -> Result<Report, String> {
    let mut plan = Plan::draw(seed);
    plan.setting.bugs = bugs.to_vec();
    run(&plan, seed, &mut Nobody).map_err(|error| error.to_string())
}

/// The smallest seed that finds it, whatever the number of jobs.
fn first(bug: Bug, budget: u64, jobs: usize, bar: &ProgressBar) -> Result<Option<Catch>, String> {
    let (next, stop) = (AtomicU64::new(0), AtomicU64::new(budget));
    let best: Mutex<Result<Option<Catch>, String>> = Mutex::new(Ok(None));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= stop.load(Ordering::Relaxed) {
                return;
            }
            let report = end(seed, &[bug]);
            bar.inc(1);
            if matches!(&report, Ok(report) if report.end == End::Held) {
                continue;
            }
            // Smaller seeds that are under way may find it as well, and come first then.
            stop.fetch_min(seed, Ordering::Relaxed);
            let mut best = best.lock().expect("nobody panics while holding it");
            match (report, &*best) {
                (Err(trouble), _) => *best = Err(trouble),
                (Ok(_), Ok(Some(other))) if other.seed < seed => {}
                (Ok(report), Ok(_)) => {
                    let Report { end, figures, .. } = report;
                    *best = Ok(Some(Catch { seed, end, steps: figures.steps }));
                }
                (Ok(_), Err(_)) => {}
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(work);
        }
    });
    best.into_inner().expect("nobody panics while holding it")
}
