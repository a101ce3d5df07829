//! `zoolab fuzz`: many runs, one after the other and side by side.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use zoolab_sim::drive::{self, End, Nobody, hush_panics};
use zoolab_sim::figures::Figures;

use crate::bench::clock;
use crate::finding::Finding;
use crate::say::say;
use crate::{Outcome, plan, run, summary};

/// Run many seeds and stop at the first that breaks a promise
///
/// Of several that fail, the smallest seed is reported, whatever the number of jobs. It is run
/// once more to write its trace.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    zoolab fuzz --seeds 0..1000\n  \
    zoolab fuzz --seeds 0..100000 --jobs 8\n  \
    zoolab fuzz --seeds 0..200 --check-determinism")]
pub(crate) struct Args {
    /// The first seed, and the first one not to run
    #[arg(long, value_name = "A..B", value_parser = range, default_value = "0..1000")]
    seeds: Range<u64>,
    /// How many at the same time; as many as there are processors if not said
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    #[command(flatten)]
    kind: plan::Kind,
    /// Run each seed twice, and stop at the first step that differs
    #[arg(long)]
    check_determinism: bool,
    /// Where traces of failures go
    #[arg(long, value_name = "DIR", default_value = "target/traces")]
    traces: PathBuf,
}

fn range(text: &str) -> Result<Range<u64>, String> {
    let expected = || "expected two numbers, as in 0..1000".to_owned();
    let (from, to) = text.split_once("..").ok_or_else(expected)?;
    let number = |text: &str| text.replace('_', "").parse::<u64>().map_err(|_| expected());
    let (from, to) = (number(from)?, number(to)?);
    if from < to { Ok(from..to) } else { Err("expected the smaller number first".into()) }
}

/// What all jobs share.
struct Shared<'a> {
    next: AtomicU64,
    /// Seeds from here on need not be run: somebody has failed, or enough has been seen.
    end: AtomicU64,
    enough: &'a AtomicBool,
    found: Mutex<Found>,
    bar: ProgressBar,
}

#[derive(Default)]
struct Found {
    figures: Figures,
    /// The smallest seed that failed, and how.
    failure: Option<(u64, Failure)>,
    /// Why seeds could not be run at all.
    trouble: Option<String>,
}

struct Failure {
    what: String,
    /// Whether two runs of the seed differ.
    differs: bool,
}

/// Runs them, and says what came of it.
pub(crate) fn run(args: &Args) -> Outcome {
    static INTERRUPTED: AtomicBool = AtomicBool::new(false);
    // Without a handler an interrupt merely shows no summary.
    let _ = ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::Relaxed));
    fuzz(args, &INTERRUPTED, None)
}

/// A look at what this is, for whoever has not said what to do.
pub(crate) fn glance() -> Outcome {
    static NEVER: AtomicBool = AtomicBool::new(false);
    say!(
        "zoolab: whole ZooKeeper ensembles, run from seeds, while all kinds of things go wrong.\n"
    );
    let args = Args {
        seeds: 0..u64::MAX,
        jobs: None,
        kind: plan::Kind::default(),
        check_determinism: false,
        traces: PathBuf::from("target/traces"),
    };
    let code = fuzz(&args, &NEVER, Some(Duration::from_secs(5)))?;
    say!(
        "\nGo on:\n  \
         zoolab run --seed 42                        one run; the same steps and hash everywhere\n  \
         zoolab run --seed 42 --record 42.jsonl      and write down every step\n  \
         zoolab replay 42.jsonl --until 500          perform them again, and look inside\n  \
         zoolab fuzz --seeds 0..100000               many more\n  \
         zoolab serve                                the same core, for real clients\n  \
         zoolab help"
    );
    Ok(code)
}

fn fuzz(args: &Args, enough: &AtomicBool, at_most: Option<Duration>) -> Outcome {
    // What cannot be read is complained about once, and before anything is run.
    let _ = args.kind.plan(args.seeds.start)?;
    hush_panics();
    let jobs = match args.jobs {
        Some(jobs) => jobs.into(),
        None => std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
    };
    let bar = match at_most {
        None => ProgressBar::new(args.seeds.end - args.seeds.start),
        Some(_) => ProgressBar::new_spinner(),
    };
    let template = match at_most {
        None => "{wide_bar} {pos}/{len} seeds, {eta} left",
        Some(_) => "{spinner} {pos} seeds",
    };
    let style = ProgressStyle::with_template(template);
    bar.set_style(style.expect("the template is one"));
    let start = clock::now();
    let shared = Shared {
        next: AtomicU64::new(args.seeds.start),
        end: AtomicU64::new(args.seeds.end),
        enough,
        found: Mutex::new(Found::default()),
        bar,
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                work(args, &shared, || at_most.is_some_and(|most| start.elapsed() >= most))
            });
        }
    });
    shared.bar.finish_and_clear();
    let found = shared.found.into_inner().expect("nobody panics while holding it");
    if let Some(trouble) = found.trouble {
        return Err(trouble);
    }
    say!("{}", summary::many(&found.figures, start.elapsed()));
    let Some((seed, failure)) = found.failure else {
        let asked = args.seeds.end - args.seeds.start;
        if found.figures.runs < asked && at_most.is_none() {
            say!("interrupted: {} of {asked} seeds held", found.figures.runs);
        } else {
            let twice = if args.check_determinism { ", and again" } else { "" };
            say!("held: every promise, in every step of every seed{twice}");
        }
        return Ok(ExitCode::SUCCESS);
    };
    let Failure { what, differs } = failure;
    say!("FAILED: seed {seed}: {what}");
    let finding = Finding { seed, kind: &args.kind, differs };
    Ok(finding.keep(&args.traces, None))
}

fn work(args: &Args, shared: &Shared<'_>, late: impl Fn() -> bool) {
    let mut figures = Figures::default();
    loop {
        let seed = shared.next.fetch_add(1, Ordering::Relaxed);
        let over = seed >= shared.end.load(Ordering::Relaxed);
        if over || shared.enough.load(Ordering::Relaxed) || late() {
            break;
        }
        let failure = match once(args, seed, &mut figures) {
            Ok(failure) => failure,
            Err(trouble) => {
                shared.end.fetch_min(seed, Ordering::Relaxed);
                shared.found.lock().expect("nobody panics while holding it").trouble =
                    Some(trouble);
                break;
            }
        };
        shared.bar.inc(1);
        if let Some(failure) = failure {
            // Smaller seeds that are under way may fail as well, and come first then.
            shared.end.fetch_min(seed, Ordering::Relaxed);
            let mut found = shared.found.lock().expect("nobody panics while holding it");
            if found.failure.as_ref().is_none_or(|(other, _)| seed < *other) {
                found.failure = Some((seed, failure));
            }
        }
    }
    shared.found.lock().expect("nobody panics while holding it").figures.add(&figures);
}

/// What failed, if anything did.
fn once(args: &Args, seed: u64, figures: &mut Figures) -> Result<Option<Failure>, String> {
    let plan = args.kind.plan(seed)?;
    if args.check_determinism
        && let Some(difference) = run::differs(&plan, seed)?
    {
        return Ok(Some(Failure {
            what: format!("not deterministic: {difference}"),
            differs: true,
        }));
    }
    let report = drive::run(&plan, seed, &mut Nobody).map_err(|error| error.to_string())?;
    figures.add(&report.figures);
    let failed = report.end != End::Held;
    Ok(failed.then(|| Failure { what: report.end.to_string(), differs: false }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_seeds_is_two_numbers() {
        assert_eq!(range("3..1_000"), Ok(3..1000));
        assert_eq!(range("3-9"), Err("expected two numbers, as in 0..1000".into()));
        assert_eq!(range("a..9"), Err("expected two numbers, as in 0..1000".into()));
        assert_eq!(range("9..9"), Err("expected the smaller number first".into()));
    }
}
