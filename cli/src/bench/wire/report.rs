//! What a load came to.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

use super::Args;
use super::mix::Kind;
use crate::bench::figures::{count, nanos, table};

/// The longest time that is told apart.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// Times and errors, as they come.
#[derive(Debug, Default)]
pub(super) struct Tally {
    times: BTreeMap<Kind, Histogram<u64>>,
    errors: BTreeMap<i32, u64>,
    ops: u64,
}

impl Tally {
    pub(super) fn add(&mut self, kind: Kind, err: i32, time: Duration) {
        self.ops += 1;
        if err != 0 {
            *self.errors.entry(err).or_default() += 1;
        }
        let times = self.times.entry(kind).or_insert_with(histogram);
        times.saturating_record(time.as_nanos() as u64);
    }

    pub(super) const fn ops(&self) -> u64 {
        self.ops
    }
}

fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST_NS, 3).expect("bounds that have been tried")
}

/// What a load came to, for people and programs.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    connections: u32,
    depth: u32,
    mix: String,
    seconds: f64,
    ops: u64,
    ops_per_second: f64,
    /// How much of a core the load generator itself took, in percent. Near 100 it is the
    /// generator that is measured.
    generator_busy_percent: f64,
    /// By code.
    errors: BTreeMap<i32, u64>,
    latencies: Vec<Latency>,
}

/// How long requests of one kind took.
#[derive(Debug, Serialize)]
struct Latency {
    op: &'static str,
    ops: u64,
    p50_ns: u64,
    p90_ns: u64,
    p99_ns: u64,
    max_ns: u64,
}

impl Latency {
    fn of(op: &'static str, times: &Histogram<u64>) -> Self {
        Self {
            op,
            ops: times.len(),
            p50_ns: times.value_at_quantile(0.5),
            p90_ns: times.value_at_quantile(0.9),
            p99_ns: times.value_at_quantile(0.99),
            max_ns: times.max(),
        }
    }
}

impl Report {
    pub(super) fn new(args: &Args, tally: Tally, elapsed: Duration, busy: Duration) -> Self {
        let Tally { times, errors, ops } = tally;
        let seconds = elapsed.as_secs_f64();
        let mut all = histogram();
        for one in times.values() {
            all.add(one).expect("all have the same bounds");
        }
        let mut latencies: Vec<Latency> =
            times.iter().map(|(kind, times)| Latency::of(kind.name(), times)).collect();
        if times.len() > 1 {
            latencies.push(Latency::of("all", &all));
        }
        Self {
            connections: args.connections,
            depth: args.depth,
            mix: args.mix.to_string(),
            seconds,
            ops,
            ops_per_second: ops as f64 / seconds,
            generator_busy_percent: 100.0 * busy.as_secs_f64() / seconds,
            errors,
            latencies,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = ["op", "ops", "per second", "p50", "p90", "p99", "max"];
        let rows = self.latencies.iter().map(|row| {
            let per_second = count(row.ops as f64 / self.seconds);
            let times = [row.p50_ns, row.p90_ns, row.p99_ns, row.max_ns];
            let times = times.into_iter().map(|ns| nanos(ns as f64));
            [row.op.to_owned(), row.ops.to_string(), per_second].into_iter().chain(times).collect()
        });
        writeln!(f, "{}", table(head.map(str::to_owned).to_vec(), rows))?;
        write!(
            f,
            "\n{} operations in {:.1} s over {} connections, {} on their way on each; \
             the generator was busy {:.0} % of the time",
            self.ops, self.seconds, self.connections, self.depth, self.generator_busy_percent
        )?;
        for (code, times) in &self.errors {
            write!(f, "\n{times} operations were refused with code {code}")?;
        }
        Ok(())
    }
}
