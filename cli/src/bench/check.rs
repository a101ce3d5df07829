//! `zoolab bench check`: how long histories can be that are checked.

use std::process::ExitCode;
use std::time::Duration;

use zoolab_sim::history::check::{Options, Verdict, check};
use zoolab_sim::history::generate::{self, Plan, generate};
use zoolab_sim::history::{Gather, History};

use super::clock;
use super::figures::{count, table};
use crate::Outcome;
use crate::say::say;

/// Measure the checker of histories: operations per second of one processor, bytes per operation
///
/// The histories are made up: several servers that lag, clients that ask many things at once,
/// watches, sessions that end, one update in two hundred without an answer.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How many operations, in one history after the other
    #[arg(long, value_name = "N,N,…", value_delimiter = ',',
        default_values_t = [100_000, 1_000_000, 10_000_000])]
    ops: Vec<u64>,
    /// How many clients there are at a time
    #[arg(long, value_name = "N", default_value_t = 40)]
    clients: u32,
    /// Check without the servers' log
    #[arg(long)]
    no_log: bool,
    /// The seed of all of it
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// One history.
struct Row {
    ops: u64,
    unknown: u64,
    events: u64,
    gather: Duration,
    check: Duration,
    history: usize,
    peak: usize,
}

/// Measures, and says what came of it.
pub(crate) fn run(args: &Args) -> Outcome {
    let mut rows = Vec::new();
    for ops in &args.ops {
        let plan = Plan {
            clients: args.clients,
            parents: 200,
            children: 20,
            watch: 8,
            loss: 280,
            log: !args.no_log,
            ..Plan::new(args.seed, *ops)
        };
        let start = clock::worked();
        let mut gather = Gather::new(generate::header());
        let mut wrong = None;
        generate(&plan, &mut |record| {
            if let Err(error) = gather.take(&record) {
                wrong.get_or_insert(error);
            }
        });
        if let Some(wrong) = wrong {
            return Err(format!("what was made up is no history: {wrong}"));
        }
        let history = gather.finish();
        let gathered = clock::worked() - start;
        rows.push(measure(&history, gathered)?);
    }
    let head =
        ["operations", "unknown", "events", "made up", "checked", "ops/s", "history", "peak"];
    let lines = rows.iter().map(|row| {
        let each = |bytes: usize| format!("{:.0} B/op", bytes as f64 / row.ops as f64);
        vec![
            count(row.ops as f64),
            row.unknown.to_string(),
            count(row.events as f64),
            format!("{:.2} s", row.gather.as_secs_f64()),
            format!("{:.2} s", row.check.as_secs_f64()),
            count(row.ops as f64 / row.check.as_secs_f64().max(1e-9)),
            each(row.history),
            each(row.peak),
        ]
    });
    say!("{}", table(head.map(String::from).into(), lines));
    Ok(ExitCode::SUCCESS)
}

fn measure(history: &History, gather: Duration) -> Result<Row, String> {
    let before = peak().unwrap_or(0);
    let start = clock::worked();
    let report = check(history, &Options::default(), &mut |_| {});
    let check = clock::worked() - start;
    if report.worst() == Verdict::Broken {
        return Err(format!("what was made up breaks promises: {:?}", report.findings));
    }
    Ok(Row {
        ops: report.ops,
        unknown: report.unknown,
        events: report.events,
        gather,
        check,
        history: history.bytes_used(),
        peak: peak().unwrap_or(before),
    })
}

/// The most memory that this process ever had, if the kernel says.
fn peak() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<usize>().ok().map(|kilobytes| kilobytes * 1024)
}
