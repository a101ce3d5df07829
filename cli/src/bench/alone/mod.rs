//! `zoolab bench core`: the core alone, in process, on one thread.
//!
//! ```text
//!   tree   prepare and apply, or a look-up                    what an operation costs
//!   step   Input::Request, Persisted at once, Output::Reply   values in, values out
//!   wire   bytes, decoded, stepped, encoded, bytes            all but sockets and disks
//! ```
//!
//! Requests are made a batch at a time, before the clock starts: they are in the cache as if
//! they had just been read from a socket, and the nodes they name are not. The core looks ahead at
//! as many of them as a host would have at hand; that is timed. All sizes are measured
//! in turn, several times round, so that noise of the machine falls on all of them.

mod bars;
mod fan_out;
mod level;
mod report;
mod stage;

use std::process::ExitCode;
use std::time::Duration;

use indicatif::ProgressBar;
use serde::Serialize;

use crate::Outcome;
use crate::bench::clock::timed;
use bars::{Bar, bars_table};
use fan_out::{FanOut, Kind};
use level::{Depth, Level, ServerLevel, TreeLevel};
use report::{Figures, Memory, Report};
use stage::{Question, Stage};

/// How many requests are made at a time.
const BATCH: usize = 256;

/// How often everything is measured; the median counts.
const ROUNDS: u32 = 5;

/// Measure the core alone: speed and memory
///
/// No sockets, no disk, one thread. Each operation is measured at three depths: "tree" is prepare
/// and apply, or a look-up; "step" is a server stepping from values to values; "wire" is the same
/// from bytes to bytes. Trees have about 1000 children per parent at every size, and every node
/// is as likely to be asked for as any other. Times are medians of five rounds.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    zoolab bench core\n  \
    zoolab bench core --sizes 1000,1000000 --check\n  \
    zoolab bench core --sizes 10000 --seconds 2 --json")]
pub(crate) struct Args {
    /// How many nodes the trees have, with commas between them
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = size,
          default_values_t = [1_000, 10_000, 100_000, 1_000_000])]
    sizes: Vec<usize>,

    /// How many bytes each node holds
    #[arg(long, value_name = "BYTES", default_value_t = 100)]
    data: usize,

    /// How long to measure each figure, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "0.5", value_parser = super::seconds)]
    seconds: Duration,

    /// Measure these only: create (with delete), setData, getData, exists, getChildren, multi
    #[arg(long, value_name = "LIST", value_delimiter = ',', hide_possible_values = true,
          default_values_t = Question::ASKED)]
    operations: Vec<Question>,

    /// Measure at these depths only
    #[arg(long, value_name = "LIST", value_delimiter = ',',
          default_values_t = [Depth::Tree, Depth::Step, Depth::Wire])]
    depths: Vec<Depth>,

    /// How many requests are at hand at a time
    ///
    /// Clients that do not wait for each answer, or many clients, keep a server supplied, and it
    /// can look ahead. 1 is one by one.
    #[arg(long, value_name = "COUNT", default_value_t = 32,
          value_parser = clap::value_parser!(u16).range(1..=256))]
    at_hand: u16,

    /// How many connections watch the one node of the fan-out; 0 leaves it out
    #[arg(long, value_name = "COUNT", default_value_t = 10_000)]
    watchers: u32,

    /// What the questions are drawn from
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,

    /// Print JSON instead of tables
    #[arg(long)]
    json: bool,

    /// Compare with the bars of the project; exit code 1 if one is missed
    #[arg(long)]
    check: bool,
}

fn size(text: &str) -> Result<usize, String> {
    let size = text.parse().map_err(|error| format!("{error}"))?;
    if (1..=10_000_000).contains(&size) { Ok(size) } else { Err("not in 1 to 10000000".into()) }
}

/// Measures, and says what came of it.
pub(crate) fn run(args: &Args) -> Outcome {
    let report = measure(args);
    let bars = if args.check { bars::compare(&report) } else { Vec::new() };
    if args.check && bars.is_empty() {
        return Err("--check needs --data 100 and a size of 1000000".into());
    }
    let met = bars.iter().all(|bar| bar.met);
    if args.json {
        #[derive(Serialize)]
        struct All<'a> {
            #[serde(flatten)]
            report: &'a Report,
            bars: &'a [Bar],
        }
        let all = All { report: &report, bars: &bars };
        println!("{}", serde_json::to_string_pretty(&all).map_err(|error| error.to_string())?);
    } else {
        println!("{}", report.tables());
        if args.check {
            println!("\n{}", bars_table(&bars));
        }
    }
    Ok(if met { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn measure(args: &Args) -> Report {
    let mut report = Report {
        data_bytes: args.data,
        operations: Figures::default(),
        watch_events: Figures::default(),
        memory: Vec::new(),
    };
    let progress = ProgressBar::new_spinner();
    progress.enable_steady_tick(Duration::from_millis(200));
    let mut stands = Vec::new();
    for &size in &args.sizes {
        progress.set_message(format!("filling trees of {size} nodes"));
        let levels: [Box<dyn Level>; 2] =
            [Box::new(TreeLevel::new()), Box::new(ServerLevel::new())];
        for level in levels {
            stands.extend(Stand::filled(level, size, args, &mut report));
        }
    }
    let time = args.seconds / ROUNDS;
    for round in 1..=ROUNDS {
        progress.set_message(format!("measuring, round {round} of {ROUNDS}"));
        for question in &args.operations {
            for stand in &mut stands {
                stand.measure(*question, time, &mut report.operations);
            }
        }
    }
    drop(stands);
    if args.watchers > 0 {
        progress.set_message("measuring watch events");
        fan_out(args, &mut report.watch_events);
    }
    progress.finish_and_clear();
    report
}

fn fan_out(args: &Args, figures: &mut Figures) {
    let watchers = args.watchers as usize;
    let depths = args.depths.iter().filter(|&&depth| depth != Depth::Tree);
    for kind in [Kind::OneShot, Kind::Persistent] {
        let mut fan_out = FanOut::new(kind, args.watchers, args.data);
        for _ in 0..ROUNDS {
            for &depth in depths.clone() {
                let (mut fired, mut times) = (Duration::ZERO, 0);
                while fired < args.seconds / ROUNDS {
                    fired += fan_out.fire(depth);
                    times += 1;
                }
                figures.add(depth, kind.name(), watchers, ns_each(fired, times * watchers));
            }
        }
    }
}

fn ns_each(time: Duration, times: usize) -> f64 {
    time.as_nanos() as f64 / times as f64
}

/// One tree, or server, of one size.
struct Stand {
    level: Box<dyn Level>,
    depths: Vec<Depth>,
    at_hand: usize,
    stage: Stage,
}

impl Stand {
    /// Fills a tree, from nothing; also a figure, and the one time to see what a node needs.
    /// None if it is not wanted.
    fn filled(
        level: Box<dyn Level>,
        size: usize,
        args: &Args,
        report: &mut Report,
    ) -> Option<Self> {
        let wanted = |depth: &Depth| args.depths.contains(depth);
        let depths: Vec<Depth> = level.depths().iter().copied().filter(wanted).collect();
        let depth = *depths.first()?;
        let (at_hand, stage) = (args.at_hand.into(), Stage::new(size, args.data, args.seed));
        let mut stand = Self { level, depths, at_hand, stage };
        let ground = stand.stage.ground();
        stand.perform(depth, ground);
        let resident = crate::bench::memory::resident();
        let bytes_before = stand.level.tree().data_bytes();
        let mut time = Duration::ZERO;
        while stand.stage.missing() > 0 {
            let requests = stand.stage.ask(Question::Create, BATCH.min(stand.stage.missing()));
            time += stand.perform(depth, requests);
        }
        report.operations.add(depth, "fill", size, ns_each(time, size));
        if depth == Depth::Tree
            && size >= crate::bench::memory::NODES_MIN
            && let (Some(before), Some(now)) = (resident, crate::bench::memory::resident())
        {
            let own_bytes = (stand.level.tree().data_bytes() - bytes_before) as f64;
            let bytes = (now.saturating_sub(before) as f64 - own_bytes) / size as f64;
            report.memory.push(Memory { nodes: size, bytes_per_node: bytes });
        }
        Some(stand)
    }

    /// One round of one question, at every depth.
    fn measure(&mut self, question: Question, time: Duration, figures: &mut Figures) {
        for depth in self.depths.clone() {
            if question == Question::Create {
                self.measure_births(depth, time, figures);
                continue;
            }
            let (mut taken, mut times) = (Duration::ZERO, 0);
            while taken < time {
                let requests = self.stage.ask(question, BATCH);
                taken += self.perform(depth, requests);
                times += BATCH;
            }
            figures.add(depth, question.name(), self.stage.size(), ns_each(taken, times));
        }
    }

    /// As many are deleted as created, so that the tree keeps its size.
    fn measure_births(&mut self, depth: Depth, time: Duration, figures: &mut Figures) {
        let (mut creating, mut deleting, mut times) = (Duration::ZERO, Duration::ZERO, 0);
        while creating < time {
            let requests = self.stage.ask(Question::Create, BATCH);
            creating += self.perform(depth, requests);
            let requests = self.stage.ask(Question::Delete, BATCH);
            deleting += self.perform(depth, requests);
            times += BATCH;
        }
        for (question, taken) in [(Question::Create, creating), (Question::Delete, deleting)] {
            figures.add(depth, question.name(), self.stage.size(), ns_each(taken, times));
        }
    }

    fn perform(&mut self, depth: Depth, requests: Vec<zoolab_core::Request>) -> Duration {
        self.level.load(depth, requests);
        timed(|| self.level.perform(self.at_hand))
    }
}
