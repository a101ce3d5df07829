//! `zoolab fuzz`: many runs, in CI and over night, on one machine or on many.
//!
//! ```text
//!   campaign: what is run, in which order --- shard I of N ---> crew: jobs run, one after the
//!                                                               other is taken in, in order
//!                                                                         |
//!   report: text, JSON, JUnit <--- merge <--- results of each shard <-----+
//! ```
//!
//! What a campaign comes to depends on nothing but what is run: results are taken in in the order
//! of the seeds, however many jobs there are.

mod campaign;
mod coverage;
mod crew;
mod github;
mod group;
mod keep;
mod merge;
mod report;
mod results;
mod shard;

use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use zoolab_sim::drive::hush_panics;

use self::campaign::Campaign;
use self::crew::Crew;
use self::results::{Results, Why};
use self::shard::Shard;
use crate::bench::clock;
use crate::say::say;
use crate::{Outcome, plan, summary};

/// Run many seeds, and tell what fails
///
/// Failures are grouped by what is broken, by servers in which roles, in which words; the first of
/// each group is shrunk. With `--out` everything is kept in a folder: what was interrupted goes on
/// where it stopped, and the folders of shards are merged by `zoolab fuzz merge`.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  \
    zoolab fuzz --seeds 0..1000\n  \
    zoolab fuzz --time 8h --out nightly                 again, and it goes on\n  \
    zoolab fuzz --seeds 0..100000 --until-failure\n  \
    zoolab fuzz --until-flat 2000                       until nothing new is reached\n  \
    zoolab fuzz --seeds 0..80000 --shard 3/8 --out part-3\n  \
    zoolab fuzz merge part-* --out all"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: Option<What>,
    /// The first seed, and the first one not to run [default: 0..1000, without end if there is
    /// another]
    #[arg(long, value_name = "A..B", value_parser = range)]
    seeds: Option<Range<u64>>,
    /// Stop after so long, as in 90s, 10m, 8h; what is under way is finished
    #[arg(long, value_name = "TIME", value_parser = time)]
    time: Option<Duration>,
    /// How many at the same time; as many as there are processors if not said
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    #[command(flatten)]
    kind: plan::Kind,
    /// Stop at the first seed that fails
    #[arg(long)]
    until_failure: bool,
    /// Stop when so many seeds, one after the other, have reached nothing new
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    until_flat: Option<u64>,
    /// Only every N-th seed, beginning with the I-th
    #[arg(long, value_name = "I/N", default_value = "1/1")]
    shard: Shard,
    /// Keep everything in this folder, and go on with what is there
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Run these first: a list of seeds, or a folder of traces whose seeds are run with their plans
    #[arg(long, value_name = "PATH")]
    first: Vec<PathBuf>,
    /// Run one seed in so many twice, and compare every step; zero compares none
    #[arg(long, value_name = "N", default_value = "20")]
    twice: u64,
    /// Run each seed twice, and stop at the first step that differs
    #[arg(long, conflicts_with = "twice")]
    check_determinism: bool,
    /// Shrink the first failure of each group with so many runs; zero shrinks none
    #[arg(long, value_name = "RUNS", default_value = "5000")]
    shrink: u64,
    /// Where traces of failures go if there is no --out
    #[arg(long, value_name = "DIR", default_value = "target/traces")]
    traces: PathBuf,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Merge(merge::Args),
}

fn range(text: &str) -> Result<Range<u64>, String> {
    let expected = || "expected two numbers, as in 0..1000".to_owned();
    let (from, to) = text.split_once("..").ok_or_else(expected)?;
    let number = |text: &str| text.replace('_', "").parse::<u64>().map_err(|_| expected());
    let (from, to) = (number(from)?, number(to)?);
    if from < to { Ok(from..to) } else { Err("expected the smaller number first".into()) }
}

fn time(text: &str) -> Result<Duration, String> {
    let expected = || "expected a time, as in 90s, 10m or 8h".to_owned();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => return Err(expected()),
    };
    let count: u64 = digits.parse().map_err(|_| expected())?;
    let seconds = count.checked_mul(unit).filter(|seconds| *seconds > 0).ok_or_else(expected)?;
    Ok(Duration::from_secs(seconds))
}

/// As many seeds as anybody could run.
const WITHOUT_END: u64 = 1 << 40;

/// Runs them, and says what came of it.
pub(crate) fn run(args: &Args) -> Outcome {
    static INTERRUPTED: AtomicBool = AtomicBool::new(false);
    if let Some(What::Merge(args)) = &args.what {
        return merge::run(args);
    }
    // Without a handler an interrupt merely shows no summary.
    let _ = ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::Relaxed));
    let (results, elapsed) = hunt(args, &INTERRUPTED)?;
    say!("{}", summary::many(&results.figures, elapsed));
    say!("{}", results.coverage.line());
    if results.groups.is_empty() {
        say!("{}", verdict(args, &results));
        return Ok(ExitCode::SUCCESS);
    }
    for group in report::in_order(&results) {
        say!("\n{}", group.text(&args.folder()));
    }
    if let Some(dir) = &args.out {
        say!("\nreport: {}", dir.join("report.txt").display());
    }
    Ok(ExitCode::FAILURE)
}

impl Args {
    fn seeds(&self) -> Range<u64> {
        let ends = self.time.is_some() || self.until_flat.is_some() || self.until_failure;
        let most = if ends { WITHOUT_END } else { 1000 };
        self.seeds.clone().unwrap_or(0..most)
    }

    /// Where traces go.
    fn folder(&self) -> PathBuf {
        self.out.as_ref().map_or_else(|| self.traces.clone(), |out| out.join("traces"))
    }
}

fn verdict(args: &Args, results: &Results) -> String {
    let done = results.done();
    let twice = if args.check_determinism { ", and again" } else { "" };
    match results.why {
        Why::Everything => format!("held: every promise, in every step of every seed{twice}"),
        Why::Flat => format!("held: {} seeds, and the last ones reached nothing new", results.next),
        Why::Failure | Why::Time => format!("held: {done} seeds{twice}"),
        Why::Interrupted => format!("interrupted: {done} seeds held"),
    }
}

/// A look at what this is, for whoever has not said what to do.
pub(crate) fn glance() -> Outcome {
    static NEVER: AtomicBool = AtomicBool::new(false);
    say!(
        "zoolab: whole ZooKeeper ensembles, run from seeds, while all kinds of things go wrong.\n"
    );
    let args = Args {
        what: None,
        seeds: None,
        time: Some(Duration::from_secs(5)),
        jobs: None,
        kind: plan::Kind::default(),
        until_failure: true,
        until_flat: None,
        shard: Shard::WHOLE,
        out: None,
        first: Vec::new(),
        twice: 20,
        check_determinism: false,
        shrink: 5000,
        traces: PathBuf::from("target/traces"),
    };
    let (results, elapsed) = hunt(&args, &NEVER)?;
    say!("{}", summary::many(&results.figures, elapsed));
    if !results.groups.is_empty() {
        results.groups.iter().for_each(|group| say!("\n{}", group.text(&args.folder())));
        return Ok(ExitCode::FAILURE);
    }
    say!("held: every promise, in every step of every seed");
    say!(
        "\nGo on:\n  \
         zoolab run --seed 42                        one run; the same steps and hash everywhere\n  \
         zoolab run --seed 42 --record 42.jsonl      and write down every step\n  \
         zoolab replay 42.jsonl --until 500          perform them again, and look inside\n  \
         zoolab fuzz --seeds 0..100000               many more\n  \
         zoolab serve                                the same core, for real clients\n  \
         zoolab help"
    );
    Ok(ExitCode::SUCCESS)
}

fn hunt(args: &Args, enough: &AtomicBool) -> Result<(Results, Duration), String> {
    let campaign = Campaign::of(args)?;
    let mut results = match &args.out {
        Some(dir) => Results::begin(dir, &campaign, args.shard)?,
        None => Results::new(&campaign, args.shard),
    };
    hush_panics();
    let jobs = match args.jobs {
        Some(jobs) => jobs.into(),
        None => std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
    };
    let start = clock::now();
    let crew = Crew { args, campaign: &campaign, jobs, start, enough };
    let before = results.figures.clone();
    let worked = crew.work(&mut results);
    let elapsed = start.elapsed();
    // What there is is kept before anything is said of what could not be.
    let kept = keep::keep(args, &campaign, &mut results, jobs, enough);
    worked.and(kept)?;
    github::annotate(&results, &args.folder());
    if before.runs > 0 {
        say!("gone on after {} seeds\n", before.runs);
    }
    Ok((results, elapsed))
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

    #[test]
    fn a_time_is_a_number_and_a_unit() {
        let seconds = |text| time(text).map(|time| time.as_secs());
        assert_eq!(seconds("90"), Ok(90));
        assert_eq!(seconds("60s"), Ok(60));
        assert_eq!(seconds("10m"), Ok(600));
        assert_eq!(seconds("8h"), Ok(28_800));
        for wrong in ["", "s", "0s", "1w", "-1s", "9999999999999999999h"] {
            assert_eq!(seconds(wrong), Err("expected a time, as in 90s, 10m or 8h".into()));
        }
    }
}
