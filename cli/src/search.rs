//! `zoolab search`: every state of a small ensemble.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::process::ExitCode;

use zoolab_sim::drive::hush_panics;
use zoolab_sim::search::{End, Limits, Search};
use zoolab_sim::setting::Setting;
use zoolab_sim::states::{Ensemble, Root};
use zoolab_sim::world::Bounds;
use zoolab_sim::world::disk::Grain;

use crate::Outcome;
use crate::bench::clock;

/// Visit every state of a small ensemble
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How many threads
    #[arg(long, value_name = "N", default_value = "1")]
    threads: NonZeroUsize,
    #[arg(long, default_value_t = 3)]
    servers: u8,
    #[arg(long, default_value_t = 2)]
    writes: u8,
    #[arg(long, default_value_t = 1)]
    crashes: u8,
    #[arg(long, default_value_t = 0)]
    power_losses: u8,
    #[arg(long, default_value_t = 1)]
    breaks: u8,
    #[arg(long, default_value_t = 0)]
    timeouts: u8,
    #[arg(long, default_value_t = 2)]
    epochs: u8,
    #[arg(long, default_value_t = 2)]
    rounds: u8,
    /// Elections step by step
    #[arg(long)]
    full: bool,
    #[arg(long)]
    quick_disks: bool,
    #[arg(long)]
    alike: bool,
    /// Take every order of independent steps
    #[arg(long)]
    no_reduce: bool,
    #[arg(long)]
    depth: Option<usize>,
    #[arg(long)]
    states: Option<u64>,
}

pub(crate) fn run(args: &Args) -> Outcome {
    let mut setting = Setting::plain(args.servers);
    setting.clients = 0;
    setting.snapshot_every = 0;
    setting.disks = Grain::Records;
    setting.search = Some(Bounds {
        alike: args.alike,
        coarse: !args.full,
        quick_disks: args.quick_disks,
        crashes: args.crashes,
        power_losses: args.power_losses,
        breaks: args.breaks,
        timeouts: args.timeouts,
        writes: args.writes,
        epochs: args.epochs,
        rounds: args.rounds,
    });
    hush_panics();
    let root = Root::fresh(setting).map_err(|error| error.to_string())?;
    match args.servers {
        1 => search(&Ensemble::<3, 2>::new(root.world, root.checkers), args),
        2 => search(&Ensemble::<5, 2>::new(root.world, root.checkers), args),
        3 => search(&Ensemble::<8, 4>::new(root.world, root.checkers), args),
        4 => search(&Ensemble::<12, 5>::new(root.world, root.checkers), args),
        5 => search(&Ensemble::<17, 7>::new(root.world, root.checkers), args),
        _ => Err("too many".into()),
    }
}

fn search<const K: usize, const W: usize>(space: &Ensemble<K, W>, args: &Args) -> Outcome {
    let start = clock::worked();
    let mut search = Search::new(space, !args.no_reduce);
    let limits = Limits { depth: args.depth, states: args.states, ..Limits::default() };
    let end = search.run(&limits, args.threads, &mut |progress| {
        eprint!(
            "\rlayer {} {}/{} states {}   ",
            progress.layer,
            progress.layer_expanded,
            progress.layer_states,
            progress.figures.distinct
        );
        ControlFlow::Continue(())
    });
    eprintln!();
    let took = clock::worked() - start;
    let figures = search.figures();
    println!(
        "{end}: {} distinct, {} generated, enabled {}, depth {}, ends {}, goals {}, {} bytes/state, {:.2} s cpu, {} /s",
        figures.distinct,
        figures.generated,
        figures.enabled,
        figures.depth(),
        figures.ends,
        figures.goals,
        figures.bytes_per_state(),
        took.as_secs_f64(),
        figures.distinct as f64 / took.as_secs_f64()
    );
    println!("{}", space.sizes());
    for worker in search.workers() {
        println!("{:?}", worker.coverage());
    }
    if let Some(path) = search.path_to_broken() {
        for step in space.steps(&path) {
            println!("  {step}");
        }
    }
    let _ = End::Complete;
    Ok(ExitCode::SUCCESS)
}
