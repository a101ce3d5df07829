//! `zoolab bench sim`: how fast whole ensembles run, with every promise checked in every step.

use std::process::ExitCode;
use std::time::Duration;

use zoolab_sim::drive::{self, Done, End, Nobody, Onlooker, Report};
use zoolab_sim::swarm::{Family, Plan, Work};

use super::clock;
use super::figures::{count, table};
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
    /// How many short seeds are run
    #[arg(long, value_name = "N", default_value_t = 1000)]
    seeds: u64,
    /// How many seconds an idle ensemble lives
    #[arg(long, value_name = "N", default_value_t = 50_000)]
    idle: u64,
}

/// Stops after so many steps, and looks at the clock at each tenth.
struct Stop {
    steps: u64,
    tenths: Vec<Duration>,
}

impl Onlooker for Stop {
    fn after(&mut self, done: &Done<'_>) -> bool {
        let count = done.place + 1;
        if count.is_multiple_of((self.steps / 10).max(1)) {
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

fn run(plan: &Plan, seed: u64, onlooker: &mut dyn Onlooker) -> Result<(Report, Duration), String> {
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

fn rate(number: u64, took: Duration) -> f64 {
    number as f64 / took.as_secs_f64().max(1e-9)
}

/// Measures, and says what came of it.
pub(crate) fn measure(args: &Args) -> Outcome {
    println!("steady writes, every promise checked");
    let mut rows = Vec::new();
    for voters in [3, 5, 7] {
        let mut stop = Stop { steps: args.steps, tenths: vec![clock::worked()] };
        let (report, took) = run(&writes(voters), 1, &mut stop)?;
        let figures = &report.figures;
        let tenths: Vec<Duration> =
            stop.tenths.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
        let growth = match (tenths.get(1), tenths.last()) {
            (Some(first), Some(last)) => last.as_secs_f64() / first.as_secs_f64(),
            _ => f64::NAN,
        };
        rows.push(vec![
            voters.to_string(),
            count(rate(figures.steps, took)),
            count(rate(figures.messages, took)),
            count(rate(figures.commits, took)),
            format!("{:.0} ns", took.as_nanos() as f64 / figures.steps as f64),
            figures.commits.to_string(),
            format!("{growth:.2}"),
        ]);
    }
    let head = [
        "servers",
        "steps/s",
        "messages/s",
        "commits/s",
        "a step",
        "commits",
        "last : second tenth",
    ];
    println!("{}\n", table(head.map(String::from).to_vec(), rows));

    let (report, took) = run(&idle(args.idle), 1, &mut Nobody)?;
    let seconds = report.figures.time_us / 1_000_000;
    println!(
        "idle, five servers and ten sessions: {} virtual seconds per second ({} steps/s)",
        count(rate(seconds, took)),
        count(rate(report.figures.steps, took)),
    );

    let start = clock::worked();
    let mut all = zoolab_sim::figures::Figures::default();
    for seed in 0..args.seeds {
        all.add(&run(&short(), seed, &mut Nobody)?.0.figures);
    }
    let took = clock::worked() - start;
    let each = |number: u64| number as f64 / args.seeds.max(1) as f64;
    println!(
        "short seeds: {} per second (each {:.0} steps, {:.0} writes, {:.1} crashes)",
        count(rate(args.seeds, took)),
        each(all.steps),
        each(all.commits),
        each(all.crashes),
    );

    if let Some(bytes) = state()? {
        println!("state of one server with ten nodes and ten sessions: {bytes} bytes");
    }
    Ok(ExitCode::SUCCESS)
}

/// How much memory a server and its part of the world take, from many worlds kept side by side.
fn state() -> Result<Option<usize>, String> {
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
    const WORLDS: u64 = 300;
    let mut plan = writes(5);
    plan.setting.recent = 20;
    plan.setting.snapshot_every = 50;
    let mut keep = Keep(Vec::new());
    // The first ones make the allocator's arenas.
    for seed in 0..20 {
        run(&plan, seed, &mut keep)?;
    }
    let before = resident();
    for seed in 20..20 + WORLDS {
        run(&plan, seed, &mut keep)?;
    }
    let after = resident();
    let servers = WORLDS as usize * 5;
    Ok(before.zip(after).map(|(before, after)| after.saturating_sub(before) / servers))
}
