//! `zoolab check`: whether a recorded history keeps what is promised to clients.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};
use serde::Serialize;
use zoolab_sim::history::check::{Finding, Options, Promise, Report, Rung, Verdict, check};
use zoolab_sim::history::jepsen::Jepsen;
use zoolab_sim::history::load;

use crate::bench::figures::count;
use crate::say::say;
use crate::{Outcome, bench};

/// Check whether a recorded history keeps what is promised to clients
///
/// Several files are one history: clients that were recorded apart, by one clock, and transaction
/// logs of servers (`log.…`), which say what became of calls without an answer. A log of
/// operations of Jepsen, as EDN or JSON, stands alone: registers and sets are linearizable or not.
///
/// Ends with 0 if every promise held or nobody can tell, with 1 if one was broken, with 2 if a
/// file cannot be read.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    zoolab check clients.jsonl\n  \
    zoolab check one.jsonl two.jsonl.zst --stale 2000\n  \
    zoolab check clients.jsonl version-2/log.100000001\n  \
    zoolab check history.edn\n  \
    zoolab check clients.jsonl --json | jq .findings\n\n\
    docs/history.md has the format.")]
pub(crate) struct Args {
    /// Histories, compressed or not; logs of servers; or one log of Jepsen
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Say it as JSON
    #[arg(long)]
    json: bool,
    /// No read may be older than this
    #[arg(long, value_name = "MS")]
    stale: Option<u64>,
    /// A session that nobody hears from must be over so long after its timeout
    #[arg(long, value_name = "MS")]
    late: Option<u64>,
    /// Tell so many findings of each promise
    #[arg(long, value_name = "N", default_value_t = 5)]
    findings: usize,
    /// End with 1 as well if nobody can tell
    #[arg(long)]
    strict: bool,
}

/// Reads, checks, and says what came of it.
pub(crate) fn run(args: &Args) -> Outcome {
    let bar = Progress::new(args.json);
    bar.tell("reading");
    let (report, cut_off, took) = if args.files.iter().any(|file| Jepsen::is(file)) {
        let [file] = args.files.as_slice() else {
            return Err("a log of Jepsen stands alone: expected one file".into());
        };
        let log = Jepsen::read(file).map_err(|error| error.to_string())?;
        bar.tell("searching");
        let start = bench::clock::now();
        (log.check(args.findings), Vec::new(), start.elapsed())
    } else {
        let history = load(&args.files).map_err(|error| error.to_string())?;
        let micros = |ms: Option<u64>| ms.map(|ms| ms.saturating_mul(1000));
        let options =
            Options { stale: micros(args.stale), late: micros(args.late), findings: args.findings };
        let start = bench::clock::now();
        let report = check(&history, &options, &mut |stage| bar.tell(stage));
        (report, history.cut_off, start.elapsed())
    };
    bar.done();
    if args.json {
        let text = serde_json::to_string_pretty(&Json::of(&report, &cut_off))
            .map_err(|error| error.to_string())?;
        say!("{text}");
    } else {
        text(&report, &cut_off, took.as_secs_f64());
    }
    let failed = match report.worst() {
        Verdict::Broken => true,
        Verdict::Inconclusive => args.strict,
        Verdict::Held => false,
    };
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// What is being done, for those who wait.
struct Progress(Option<indicatif::ProgressBar>);

impl Progress {
    fn new(quiet: bool) -> Self {
        let shown = !quiet && std::io::stderr().is_terminal();
        Self(shown.then(indicatif::ProgressBar::new_spinner))
    }

    fn tell(&self, what: &'static str) {
        if let Some(bar) = &self.0 {
            bar.set_message(what);
            bar.tick();
        }
    }

    fn done(self) {
        if let Some(bar) = self.0 {
            bar.finish_and_clear();
        }
    }
}

fn text(report: &Report, cut_off: &[String], seconds: f64) {
    say!(
        "{} operations ({} updates, {} of unknown outcome), {} events, {} sessions",
        report.ops,
        report.updates,
        report.unknown,
        report.events,
        report.sessions
    );
    say!("{}", rests_on(report));
    for file in cut_off {
        say!("{file} was cut off: what it has up to there is checked");
    }
    say!("");
    let mut table = Table::new();
    table.load_style(NOTHING);
    table.set_header(["promise", "", "checked", "broken", "unclear", ""]);
    for (promise, tally) in &report.tallies {
        let verdict = word(report.verdict(*promise));
        table.add_row([
            promise.name().to_owned(),
            promise.words().to_owned(),
            tally.checked.to_string(),
            tally.broken.to_string(),
            tally.inconclusive.to_string(),
            verdict.to_owned(),
        ]);
    }
    for column in [2, 3, 4] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    say!("{}", table.to_string().lines().map(str::trim_end).collect::<Vec<_>>().join("\n"));
    let untested: Vec<&str> = Promise::ALL
        .iter()
        .filter(|promise| !report.tallies.contains_key(promise))
        .map(|promise| promise.name())
        .collect();
    if !untested.is_empty() {
        say!("not put to the test: {}", untested.join(", "));
    }
    staleness(report);
    for finding in &report.findings {
        tell(finding);
    }
    say!("");
    let speed = count(report.ops as f64 / seconds.max(1e-9));
    say!("{} ({seconds:.2} s, {speed} operations/s)", sum(report));
}

fn rests_on(report: &Report) -> String {
    match report.rung {
        Rung::Log => format!(
            "by the zxids of replies and a log of {} transactions: {} of the unknown took effect",
            report.txns, report.took_effect
        ),
        Rung::Zxids => format!(
            "by the zxids of replies: {} of the unknown left traces of taking effect",
            report.took_effect
        ),
        Rung::Versions => "by the versions that stats show: zxids are not to be trusted".into(),
        Rung::Search => "by trying out: there are no zxids".into(),
    }
}

fn staleness(report: &Report) {
    let behind: u64 = report.staleness.iter().sum();
    let all = behind + report.current;
    if behind == 0 {
        return;
    }
    let percentile = |part: u64| {
        let due = behind * part / 100;
        let mut sum = 0;
        let found = report.staleness.iter().position(|count| {
            sum += count;
            sum > due
        });
        found.map_or(0, |power| 2_u64 << power)
    };
    say!(
        "of {all} reads {behind} were behind: half of them by less than {} us, 99 % by less than \
         {} us",
        percentile(50),
        percentile(99)
    );
}

fn tell(finding: &Finding) {
    say!("");
    let verdict = match finding.verdict {
        Verdict::Broken => "BROKEN",
        Verdict::Inconclusive => "unclear",
        Verdict::Held => "held",
    };
    say!("{verdict} {} ({}): {}", finding.promise, finding.promise.words(), finding.what);
    finding.with.iter().for_each(|line| say!("  {line}"));
    finding.cycle.iter().for_each(|edge| say!("  {edge}"));
    if !finding.because.is_empty() {
        say!("  nobody can tell, for these may have taken effect, or not:");
        finding.because.iter().take(8).for_each(|line| say!("    {line}"));
        if finding.because.len() > 8 {
            say!("    and {} more", finding.because.len() - 8);
        }
    }
}

const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Held => "held",
        Verdict::Inconclusive => "inconclusive",
        Verdict::Broken => "BROKEN",
    }
}

fn sum(report: &Report) -> String {
    let broken: Vec<&str> = report.broken().map(Promise::name).collect();
    match report.worst() {
        Verdict::Held => "held: every promise that was put to the test".into(),
        Verdict::Inconclusive => "inconclusive: nothing is broken for certain".into(),
        Verdict::Broken => format!("BROKEN: {}", broken.join(", ")),
    }
}

#[derive(Serialize)]
struct Json {
    verdict: &'static str,
    rung: &'static str,
    operations: u64,
    updates: u64,
    unknown: u64,
    took_effect: u64,
    events: u64,
    sessions: u64,
    transactions: u64,
    cut_off: Vec<String>,
    promises: Vec<JsonPromise>,
    findings: Vec<JsonFinding>,
}

#[derive(Serialize)]
struct JsonPromise {
    promise: &'static str,
    words: &'static str,
    verdict: &'static str,
    checked: u64,
    broken: u64,
    inconclusive: u64,
}

#[derive(Serialize)]
struct JsonFinding {
    promise: &'static str,
    verdict: &'static str,
    what: String,
    with: Vec<String>,
    because: Vec<String>,
    cycle: Vec<String>,
}

impl Json {
    fn of(report: &Report, cut_off: &[String]) -> Self {
        let lower = |verdict: Verdict| match verdict {
            Verdict::Broken => "broken",
            Verdict::Held | Verdict::Inconclusive => word(verdict),
        };
        Self {
            verdict: lower(report.worst()),
            rung: match report.rung {
                Rung::Log => "log",
                Rung::Zxids => "zxids",
                Rung::Versions => "versions",
                Rung::Search => "search",
            },
            operations: report.ops,
            updates: report.updates,
            unknown: report.unknown,
            took_effect: report.took_effect,
            events: report.events,
            sessions: report.sessions,
            transactions: report.txns,
            cut_off: cut_off.to_vec(),
            promises: report
                .tallies
                .iter()
                .map(|(promise, tally)| JsonPromise {
                    promise: promise.name(),
                    words: promise.words(),
                    verdict: lower(report.verdict(*promise)),
                    checked: tally.checked,
                    broken: tally.broken,
                    inconclusive: tally.inconclusive,
                })
                .collect(),
            findings: report
                .findings
                .iter()
                .map(|finding| JsonFinding {
                    promise: finding.promise.name(),
                    verdict: lower(finding.verdict),
                    what: finding.what.clone(),
                    with: finding.with.clone(),
                    because: finding.because.clone(),
                    cycle: finding.cycle.clone(),
                })
                .collect(),
        }
    }
}
