//! What the project wants of its core: at a million nodes of 100 bytes, on one thread.

use serde::Serialize;

use super::level::Depth;
use super::report::Report;
use crate::bench::figures::{count, table};

const LARGE: usize = 1_000_000;
const SMALL: usize = 1_000;
const DATA_BYTES: usize = 100;
const WATCHERS: usize = 10_000;

/// Operations per second, by `prepare` and `apply`, at least.
const RATES: [(&str, f64); 3] = [("setData", 1e6), ("create", 0.7e6), ("getData", 4e6)];
/// Events per second, at least.
const EVENTS: f64 = 10e6;
/// How much more an operation may cost a server in the large tree than in the small one.
const GROWTH: f64 = 2.5;
/// Bytes for each node beyond path and data, at most.
const NODE_BYTES: f64 = 250.0;

/// One bar and how it was met.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Bar {
    what: String,
    at_least: Option<f64>,
    at_most: Option<f64>,
    measured: f64,
    pub(super) met: bool,
}

impl Bar {
    fn at_least(what: String, bar: f64, measured: f64) -> Self {
        let met = measured >= bar;
        Self { what, at_least: Some(bar), at_most: None, measured, met }
    }

    fn at_most(what: String, bar: f64, measured: f64) -> Self {
        let met = measured <= bar;
        Self { what, at_least: None, at_most: Some(bar), measured, met }
    }
}

/// Every bar that the report has figures for.
pub(super) fn compare(report: &Report) -> Vec<Bar> {
    let mut bars = Vec::new();
    if report.data_bytes != DATA_BYTES {
        return bars;
    }
    for (what, bar) in RATES {
        if let Some(ns) = report.operations.ns(Depth::Tree, what, LARGE) {
            bars.push(Bar::at_least(format!("{what} per second"), bar, 1e9 / ns));
        }
    }
    for what in ["one-shot", "persistent"] {
        if let Some(ns) = report.watch_events.ns(Depth::Step, what, WATCHERS) {
            bars.push(Bar::at_least(format!("{what} watch events per second"), EVENTS, 1e9 / ns));
        }
    }
    for what in ["create", "delete", "setData", "getData", "exists", "getChildren", "multi"] {
        if let Some(growth) = report.growth(Depth::Step, what, SMALL, LARGE) {
            bars.push(Bar::at_most(format!("growth of {what}"), GROWTH, growth));
        }
    }
    if let Some(memory) = report.memory.iter().find(|memory| memory.nodes == LARGE) {
        let what = "bytes per node".to_owned();
        bars.push(Bar::at_most(what, NODE_BYTES, memory.bytes_per_node));
    }
    bars
}

/// For a person.
pub(super) fn bars_table(bars: &[Bar]) -> String {
    let head = ["", "bar", "wanted", "measured"].map(str::to_owned).into();
    let figure = |number: f64| if number < 100.0 { format!("{number:.2}") } else { count(number) };
    let rows = bars.iter().map(|bar| {
        let Bar { what, at_least, at_most, measured, met } = bar;
        let wanted = match (at_least, at_most) {
            (Some(least), _) => format!("at least {}", figure(*least)),
            (_, most) => format!("at most {}", figure(most.unwrap_or_default())),
        };
        let mark = if *met { "met" } else { "missed" };
        vec![mark.to_owned(), what.clone(), wanted, figure(*measured)]
    });
    table(head, rows)
}
