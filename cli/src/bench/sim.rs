//! `zoolab bench sim`: how fast whole ensembles run, with every promise checked in every step.

mod report;

use std::process::ExitCode;
use std::time::Duration;

use zoolab_sim::drive::{self, Done, End, Nobody, Onlooker};
use zoolab_sim::figures::Figures;
use zoolab_sim::swarm::{Family, Plan, Work};

use self::report::{Idle, Report, Short, Steady};
use super::clock;
use super::memory::resident;
use crate::Outcome;

/// Measure the simulator: steps, messages, seeds and virtual time per second of one processor
///
/// All checkers are on. Time is that of the thread alone.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How many steps of steady writes are run
    #[arg(long, value_name = "N", default_value_t = 2_000_000)]
    steps: u64,
    /// How many servers there are then, in one ensemble after the other
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', default_values_t = [3, 5, 7],
        value_parser = clap::value_parser!(u8).range(1..))]
    servers: Vec<u8>,
    /// How many short seeds are run, if any
    #[arg(long, value_name = "N", default_value_t = 1000)]
    seeds: u64,
    /// How many seconds an idle ensemble lives, if any
    #[arg(long, value_name = "N", default_value_t = 50_000)]
    idle: u64,
    /// How many worlds are kept to see how large they are, if any
    #[arg(long, value_name = "N", default_value_t = 300)]
    worlds: u64,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

/// Stops after so many steps, and looks at the clock at each tenth.
struct Stop {
    steps: u64,
    /// After how many steps the clock is looked at next.
    look: u64,
    tenths: Vec<Duration>,
}

impl Onlooker for Stop {
    fn after(&mut self, done: &Done<'_>) -> bool {
        let count = done.place + 1;
        if count == self.look {
            self.look += (self.steps / 10).max(1);
            self.tenths.push(clock::worked());
        }
        count < self.steps
    }
}

/// Clients that have always something to write.
fn writes(voters: u8) -> Plan {
    let mut plan = Plan::quiet(voters);
    plan.work = Work::Writes;
    plan.setting.clients = 10;
    plan.setting.nodes = 10;
    plan.depth = 10;
    plan.think_us = 1000;
    plan.trouble_ms = 1 << 30;
    plan
}

/// Nothing but pings.
fn idle(seconds: u64) -> Plan {
    let mut plan = Plan::quiet(5);
    plan.work = Work::Pings;
    plan.setting.clients = 10;
    plan.think_us = 3_000_000;
    plan.trouble_ms = seconds * 1000;
    plan
}

/// Boot, elect, some hundred writes, a crash, get well again.
fn short() -> Plan {
    let mut plan = Plan::quiet(3);
    plan.work = Work::Writes;
    plan.faults = vec![(Family::Crash, 1500)];
    plan.setting.tick_ms = 500;
    plan.think_us = 25_000;
    plan.trouble_ms = 5000;
    plan
}

fn run(
    plan: &Plan,
    seed: u64,
    onlooker: &mut dyn Onlooker,
) -> Result<(drive::Report, Duration), String> {
    let start = clock::worked();
    let report = drive::run(plan, seed, onlooker).map_err(|error| error.to_string())?;
    let took = clock::worked() - start;
    match report.end {
        End::Held => Ok((report, took)),
        end @ (End::Diverged { .. } | End::Panicked(_) | End::Stuck(_) | End::Violated(_)) => {
            Err(format!("seed {seed}: {end}"))
        }
    }
}

/// Measures, and says what came of it.
pub(crate) fn measure(args: &Args) -> Outcome {
    // First of all: later the worlds would live in memory that others have left.
    let state_bytes = if args.worlds > 0 { state(args.worlds)? } else { None };
    let steady = args.servers.iter().map(|servers| steady(*servers, args.steps));
    let report = Report {
        state_bytes,
        steady: steady.collect::<Result<_, _>>()?,
        idle: match args.idle {
            0 => None,
            seconds => {
                let (report, took) = run(&idle(seconds), 1, &mut Nobody)?;
                Some(Idle::of(&report.figures, took))
            }
        },
        short: if args.seeds > 0 { Some(shorts(args.seeds)?) } else { None },
    };
    if args.json {
        println!("{}", serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?);
    } else {
        println!("{}", report.text());
    }
    Ok(ExitCode::SUCCESS)
}

fn steady(servers: u8, steps: u64) -> Result<Steady, String> {
    let look = (steps / 10).max(1);
    let mut stop = Stop { steps, look, tenths: vec![clock::worked()] };
    let (report, took) = run(&writes(servers), 1, &mut stop)?;
    let tenths: Vec<Duration> =
        stop.tenths.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
    Ok(Steady::of(servers, &report.figures, took, &tenths))
}

fn shorts(seeds: u64) -> Result<Short, String> {
    let start = clock::worked();
    let mut all = Figures::default();
    for seed in 0..seeds {
        all.add(&run(&short(), seed, &mut Nobody)?.0.figures);
    }
    Ok(Short::of(&all, clock::worked() - start))
}

/// How much memory a server and its part of the world take, from many worlds kept side by side.
fn state(worlds: u64) -> Result<Option<usize>, String> {
    /// Keeps the world as it is after so many steps.
    struct Keep(Vec<zoolab_sim::world::World>);
    impl Onlooker for Keep {
        fn after(&mut self, done: &Done<'_>) -> bool {
            if done.place == 3000 {
                self.0.push(done.world.clone());
            }
            done.place < 3000
        }
    }
    let mut plan = writes(5);
    plan.setting.recent = 20;
    plan.setting.snapshot_every = 50;
    let mut keep = Keep(Vec::new());
    // The first ones make the allocator's arenas.
    for seed in 0..20 {
        run(&plan, seed, &mut keep)?;
    }
    let before = resident();
    for seed in 20..20 + worlds {
        run(&plan, seed, &mut keep)?;
    }
    let after = resident();
    let servers = worlds as usize * 5;
    Ok(before.zip(after).map(|(before, after)| after.saturating_sub(before) / servers))
}
