//! What was measured, for a person or for a program.

use std::fmt::Write as _;

use serde::Serialize;

use super::level::Depth;
use crate::bench::figures::{median, nanos, per_second, table};

/// What something cost, in several rounds.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Figure {
    depth: Depth,
    /// What was asked, or which kind of watch fired.
    what: &'static str,
    /// Nodes of the tree, or connections that watch.
    size: usize,
    /// The median of the rounds.
    ns: f64,
    /// One for each round, in the order they were taken.
    rounds_ns: Vec<f64>,
}

/// What nodes need besides their paths and data.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Memory {
    pub(super) nodes: usize,
    /// Pages of the process, divided among the nodes.
    pub(super) bytes_per_node: f64,
}

/// Everything that was measured.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Report {
    pub(super) data_bytes: usize,
    pub(super) operations: Figures,
    /// Per event; the size is how many watch.
    pub(super) watch_events: Figures,
    pub(super) memory: Vec<Memory>,
}

/// Figures by what they are about.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(transparent)]
pub(super) struct Figures(Vec<Figure>);

impl Figures {
    /// Takes note of another round.
    pub(super) fn add(&mut self, depth: Depth, what: &'static str, size: usize, ns: f64) {
        let known = self
            .0
            .iter_mut()
            .find(|figure| figure.depth == depth && figure.what == what && figure.size == size);
        match known {
            Some(figure) => {
                figure.rounds_ns.push(ns);
                figure.ns = median(&figure.rounds_ns);
            }
            None => self.0.push(Figure { depth, what, size, ns, rounds_ns: vec![ns] }),
        }
    }

    /// What one of these costs.
    pub(super) fn ns(&self, depth: Depth, what: &str, size: usize) -> Option<f64> {
        let same =
            |figure: &&Figure| figure.depth == depth && figure.what == what && figure.size == size;
        self.0.iter().find(same).map(|figure| figure.ns)
    }

    /// What was asked at which depth, in order of first appearance within a depth.
    fn rows(&self) -> Vec<(Depth, &'static str)> {
        let mut rows = Vec::new();
        for depth in [Depth::Tree, Depth::Step, Depth::Wire] {
            for figure in self.0.iter().filter(|figure| figure.depth == depth) {
                if !rows.contains(&(depth, figure.what)) {
                    rows.push((depth, figure.what));
                }
            }
        }
        rows
    }

    fn sizes(&self) -> Vec<usize> {
        let mut sizes: Vec<usize> = self.0.iter().map(|figure| figure.size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }
}

impl Report {
    /// How much more an operation costs in the second tree than in the first.
    pub(super) fn growth(&self, depth: Depth, what: &str, from: usize, to: usize) -> Option<f64> {
        Some(self.operations.ns(depth, what, to)? / self.operations.ns(depth, what, from)?)
    }

    /// For a person.
    pub(super) fn tables(&self) -> String {
        let mut text = String::new();
        let _ = writeln!(text, "{}\n", self.operations_table());
        let _ = writeln!(text, "{}\n", self.events_table());
        let _ = write!(text, "{}", self.memory_table());
        text
    }

    fn operations_table(&self) -> String {
        let sizes = self.operations.sizes();
        let (&first, &last) = (sizes.first().unwrap_or(&0), sizes.last().unwrap_or(&0));
        let mut head = vec!["depth".to_owned(), "operation".to_owned()];
        head.extend(sizes.iter().map(|size| format!("{size} nodes")));
        head.push(format!("per second at {last}"));
        head.push("growth".to_owned());
        let rows = self.operations.rows().into_iter().map(|(depth, what)| {
            let mut row = vec![depth.name().to_owned(), what.to_owned()];
            let ns = |&size: &usize| self.operations.ns(depth, what, size);
            row.extend(sizes.iter().map(|size| ns(size).map_or(String::new(), nanos)));
            row.push(ns(&last).map_or(String::new(), per_second));
            let growth = self.growth(depth, what, first, last);
            row.push(growth.map_or(String::new(), |growth| format!("{growth:.2}")));
            row
        });
        table(head, rows)
    }

    fn events_table(&self) -> String {
        let sizes = self.watch_events.sizes();
        let head = ["depth", "watches", "watchers", "per event", "events per second"];
        let rows = self.watch_events.rows().into_iter().flat_map(|(depth, what)| {
            sizes.iter().filter_map(move |&size| {
                let ns = self.watch_events.ns(depth, what, size)?;
                let (depth, what) = (depth.name().to_owned(), what.to_owned());
                Some(vec![depth, what, size.to_string(), nanos(ns), per_second(ns)])
            })
        });
        table(head.map(str::to_owned).into(), rows)
    }

    fn memory_table(&self) -> String {
        let head = ["nodes", "bytes per node beyond path and data"];
        let row = |memory: &Memory| {
            vec![memory.nodes.to_string(), format!("{:.0}", memory.bytes_per_node)]
        };
        table(head.map(str::to_owned).into(), self.memory.iter().map(row))
    }
}
