//! What the simulator came to, for a person or for a program.

use std::time::Duration;

use serde::Serialize;
use zoolab_sim::figures::Figures;

use crate::bench::figures::{count, table};

/// Everything that was measured.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) steady: Vec<Steady>,
    /// Absent, as the others, if it was not asked for.
    pub(super) idle: Option<Idle>,
    pub(super) short: Option<Short>,
    /// What one server and its part of the world take.
    pub(super) state_bytes: Option<usize>,
}

/// Steady writes.
#[derive(Debug, Serialize)]
pub(super) struct Steady {
    servers: u8,
    steps: u64,
    messages: u64,
    frames: u64,
    commits: u64,
    /// Of the thread alone, as all times here.
    cpu_seconds: f64,
    steps_per_second: f64,
    /// Those between servers.
    messages_per_second: f64,
    /// Clients' requests and the answers to them, each when it arrives.
    frames_per_second: f64,
    commits_per_second: f64,
    /// How much longer the last tenth of the steps took than the second.
    growth: Option<f64>,
}

/// An ensemble in which nothing happens but pings.
#[derive(Debug, Serialize)]
pub(super) struct Idle {
    virtual_seconds_per_second: f64,
    steps_per_second: f64,
}

/// Short runs with a crash.
#[derive(Debug, Serialize)]
pub(super) struct Short {
    seeds_per_second: f64,
    steps_each: f64,
    commits_each: f64,
    crashes_each: f64,
}

fn rate(number: u64, took: Duration) -> f64 {
    number as f64 / took.as_secs_f64().max(1e-9)
}

impl Steady {
    pub(super) fn of(servers: u8, figures: &Figures, took: Duration, tenths: &[Duration]) -> Self {
        let growth = tenths.get(1).zip(tenths.last());
        Self {
            servers,
            steps: figures.steps,
            messages: figures.messages,
            frames: figures.frames,
            commits: figures.commits,
            cpu_seconds: took.as_secs_f64(),
            steps_per_second: rate(figures.steps, took),
            messages_per_second: rate(figures.messages, took),
            frames_per_second: rate(figures.frames, took),
            commits_per_second: rate(figures.commits, took),
            growth: growth.map(|(first, last)| last.as_secs_f64() / first.as_secs_f64()),
        }
    }

    fn row(&self) -> Vec<String> {
        vec![
            self.servers.to_string(),
            count(self.steps_per_second),
            count(self.messages_per_second),
            count(self.frames_per_second),
            count(self.commits_per_second),
            format!("{:.0} ns", 1e9 / self.steps_per_second),
            self.commits.to_string(),
            self.growth.map_or(String::new(), |growth| format!("{growth:.2}")),
        ]
    }
}

impl Idle {
    pub(super) fn of(figures: &Figures, took: Duration) -> Self {
        Self {
            virtual_seconds_per_second: rate(figures.time_us / 1_000_000, took),
            steps_per_second: rate(figures.steps, took),
        }
    }
}

impl Short {
    pub(super) fn of(figures: &Figures, took: Duration) -> Self {
        let each = |number: u64| number as f64 / figures.runs.max(1) as f64;
        Self {
            seeds_per_second: rate(figures.runs, took),
            steps_each: each(figures.steps),
            commits_each: each(figures.commits),
            crashes_each: each(figures.crashes),
        }
    }
}

impl Report {
    /// For a person.
    pub(super) fn text(&self) -> String {
        let head = [
            "servers",
            "steps/s",
            "messages/s",
            "clients' frames/s",
            "commits/s",
            "a step",
            "commits",
            "last : second tenth",
        ];
        let rows = self.steady.iter().map(Steady::row);
        let mut lines = vec![format!(
            "steady writes, every promise checked\n{}\n",
            table(head.map(String::from).to_vec(), rows)
        )];
        lines.extend(self.idle.as_ref().map(|idle| {
            format!(
                "idle, five servers and ten sessions: {} virtual seconds per second ({} steps/s)",
                count(idle.virtual_seconds_per_second),
                count(idle.steps_per_second),
            )
        }));
        lines.extend(self.short.as_ref().map(|short| {
            format!(
                "short seeds: {} per second (each {:.0} steps, {:.0} writes, {:.1} crashes)",
                count(short.seeds_per_second),
                short.steps_each,
                short.commits_each,
                short.crashes_each,
            )
        }));
        lines.extend(self.state_bytes.map(|bytes| {
            format!("state of one server with ten nodes and ten sessions: {bytes} bytes")
        }));
        lines.join("\n")
    }
}
