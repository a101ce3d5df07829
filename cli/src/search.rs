//! `zoolab search`: every state of a small ensemble.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::{ProgressBar, ProgressStyle};
use zoolab_core::Bug;
use zoolab_sim::checker::Checkers;
use zoolab_sim::drive::{End as RunEnd, drive, hush_panics};
use zoolab_sim::search::{End, Figures, Limits, Progress, Search};
use zoolab_sim::setting::Setting;
use zoolab_sim::states::{Coverage, Ensemble, Preset, Root, sets_of, words_of};
use zoolab_sim::step::{Instant, Step};
use zoolab_sim::strategy::replay::Replay;
use zoolab_sim::swarm::Plan;
use zoolab_sim::trace::{Header, Recorder, Trace};
use zoolab_sim::world::{Bounds, World};

use crate::Outcome;
use crate::bench::clock;
use crate::bench::figures::count;
use crate::say::say;

/// Visit every state of a small ensemble, and judge every promise in each
///
/// The same core, the same world and the same promises as in seeded runs; only that anything
/// pending may happen next, and that what may go wrong is bounded. The counts, the first broken
/// promise and its shortest trace are the same with any number of threads.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    zoolab search --list\n  \
    zoolab search --preset small\n  \
    zoolab search --preset two-writes --threads 2\n  \
    zoolab search --preset small --writes 2 --breaks 1\n  \
    zoolab search --from 42.jsonl@5000 --crashes 1 --depth 12")]
pub(crate) struct Args {
    /// Which search; what is said beside it changes it
    #[arg(long, value_name = "NAME", default_value = "small")]
    preset: String,
    /// Print the searches that have a name, and search nothing
    #[arg(long)]
    list: bool,
    /// How many threads
    #[arg(long, value_name = "N", default_value = "1")]
    threads: NonZeroUsize,
    /// Begin where a recorded run is after so many steps
    #[arg(long, value_name = "TRACE@STEP", conflicts_with_all = ["preset", "servers", "bugs"])]
    from: Option<String>,
    /// Switch a bug on that real servers had; `zoolab bugs list` has their names
    #[arg(long = "bug", value_name = "ID")]
    bugs: Vec<Bug>,
    /// How many servers
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=5))]
    servers: Option<u8>,
    /// How many writes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=31))]
    writes: Option<u8>,
    /// How often clients may ask for something
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=31))]
    calls: Option<u8>,
    /// How many processes may die
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=31))]
    crashes: Option<u8>,
    /// How many machines may lose power
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=31))]
    power_losses: Option<u8>,
    /// How many connections may break
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=31))]
    breaks: Option<u8>,
    /// How often somebody may lose patience with a peer that is there
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=31))]
    timeouts: Option<u8>,
    /// How many epochs there may be
    #[arg(long, value_name = "N")]
    epochs: Option<u8>,
    /// In how many rounds an election may be decided, where it goes step by step
    #[arg(long, value_name = "N")]
    rounds: Option<u8>,
    /// Elections go step by step, rather than being one step
    #[arg(long)]
    full: bool,
    /// Disks are done at once
    #[arg(long)]
    quick_disks: bool,
    /// Take servers apart that differ in nothing but their names
    #[arg(long)]
    no_alike: bool,
    /// Take writes apart that differ in nothing but who wrote them; then servers are taken apart, too
    #[arg(long)]
    no_same_values: bool,
    /// Take states apart that differ in what nobody can observe
    #[arg(long)]
    as_is: bool,
    /// Take independent steps in every order
    #[arg(long)]
    no_sleep: bool,
    /// Expand nothing that is further from the beginning
    #[arg(long, value_name = "STEPS")]
    depth: Option<usize>,
    /// Stop after so many states
    #[arg(long, value_name = "N")]
    states: Option<u64>,
    /// Stop before more megabytes are in use
    #[arg(long, value_name = "MB", default_value_t = 8192)]
    memory: u64,
    /// Where the trace of a broken promise goes
    #[arg(long, value_name = "DIR", default_value = "target/traces")]
    traces: PathBuf,
}

/// Searches, and says what came of it.
pub(crate) fn run(args: &Args) -> Outcome {
    if args.list {
        for preset in Preset::ALL {
            say!("{:<12} {} servers: {}", preset.name, preset.servers, preset.about);
        }
        return Ok(ExitCode::SUCCESS);
    }
    hush_panics();
    let (root, plan) = root(args)?;
    match root.world.servers().len() {
        1 => search(Ensemble::<{ words_of(1) }, { sets_of(1) }>::new, root, &plan, args),
        2 => search(Ensemble::<{ words_of(2) }, { sets_of(2) }>::new, root, &plan, args),
        3 => search(Ensemble::<{ words_of(3) }, { sets_of(3) }>::new, root, &plan, args),
        4 => search(Ensemble::<{ words_of(4) }, { sets_of(4) }>::new, root, &plan, args),
        5 => search(Ensemble::<{ words_of(5) }, { sets_of(5) }>::new, root, &plan, args),
        many => Err(format!("{many} servers are too many to search, expected up to 5")),
    }
}

/// Where it begins, and the plan that its trace will show.
fn root(args: &Args) -> Result<(Root, Plan), String> {
    if let Some(from) = &args.from {
        let expected = || format!("--from {from}: expected a trace and a step, as in x.jsonl@500");
        let (file, step) = from.rsplit_once('@').ok_or_else(expected)?;
        let step: usize = step.parse().map_err(|_| expected())?;
        let trace = Trace::read(Path::new(file)).map_err(|error| error.to_string())?;
        let steps = trace.steps.get(..step).ok_or_else(|| {
            format!("{file}: expected a step up to {}, found {step}", trace.steps.len())
        })?;
        let bounds = changed(args, Bounds { epochs: u8::MAX, ..Bounds::default() });
        let bounds = Bounds { alike: false, ..bounds };
        let root = Root::of_run(trace.header.plan.setting.clone(), steps, bounds);
        return Ok((root.map_err(|what| format!("{file}: {what}"))?, trace.header.plan));
    }
    let preset = Preset::named(&args.preset).ok_or_else(|| {
        let names: Vec<&str> = Preset::ALL.iter().map(|preset| preset.name).collect();
        format!("--preset {}: expected one of {}", args.preset, names.join(", "))
    })?;
    let servers = args.servers.unwrap_or(preset.servers);
    let bounds = changed(args, preset.bounds);
    let mut setting: Setting = Preset { servers, bounds, ..preset }.setting();
    setting.bugs.clone_from(&args.bugs);
    let begin = if preset.led { Root::led } else { Root::fresh };
    let root = begin(setting.clone()).map_err(|error| error.to_string())?;
    Ok((root, Plan { setting, ..Plan::quiet(servers) }))
}

fn changed(args: &Args, bounds: Bounds) -> Bounds {
    let coarse = bounds.coarse && !args.full;
    Bounds {
        alike: bounds.alike && coarse && !args.no_alike && !args.no_same_values,
        same_values: bounds.same_values && !args.no_same_values,
        as_is: bounds.as_is || args.as_is,
        coarse,
        quick_disks: bounds.quick_disks || args.quick_disks,
        crashes: args.crashes.unwrap_or(bounds.crashes),
        power_losses: args.power_losses.unwrap_or(bounds.power_losses),
        breaks: args.breaks.unwrap_or(bounds.breaks),
        timeouts: args.timeouts.unwrap_or(bounds.timeouts),
        writes: args.writes.unwrap_or(bounds.writes),
        calls: args.calls.unwrap_or(bounds.calls),
        epochs: args.epochs.unwrap_or(bounds.epochs),
        rounds: args.rounds.unwrap_or(if args.full { 2 } else { bounds.rounds }),
    }
}

fn search<const K: usize, const W: usize>(
    space: impl FnOnce(World, Checkers) -> Ensemble<K, W>,
    root: Root,
    plan: &Plan,
    args: &Args,
) -> Outcome {
    static INTERRUPTED: AtomicBool = AtomicBool::new(false);
    // Without a handler an interrupt merely shows no summary.
    let _ = ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::Relaxed));
    let before = root.steps;
    let space = space(root.world, root.checkers);
    let limits = Limits {
        depth: args.depth,
        states: args.states,
        bytes: Some(args.memory.saturating_mul(1 << 20)),
        ..Limits::default()
    };
    let bar = ProgressBar::new_spinner();
    let style = ProgressStyle::with_template("{spinner} {msg}");
    bar.set_style(style.expect("the template is one"));
    let (start, wall) = (clock::worked_by_all(), clock::now());
    let mut search = Search::new(&space, !args.no_sleep);
    let end = search.run(&limits, args.threads, &mut |progress: &Progress<'_>| {
        let states = count(progress.figures.distinct as f64);
        let Progress { layer, layer_expanded, layer_states, .. } = progress;
        bar.set_message(format!(
            "{states} states, layer {layer}: {layer_expanded} of {layer_states} expanded"
        ));
        bar.tick();
        if INTERRUPTED.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    bar.finish_and_clear();
    let took = (clock::worked_by_all() - start).as_secs_f64();
    let figures = search.figures();
    say!("{}", told(figures, end));
    say!(
        "{:.1} s of processor time, {:.1} s: {} states a second of processor time",
        took,
        wall.elapsed().as_secs_f64(),
        count(figures.distinct as f64 / took.max(1e-9))
    );
    say!("kept once: {}", space.sizes());
    coverage(search.workers().iter().map(|worker| worker.coverage()));
    let Some(path) = search.path_to_broken() else {
        say!("held: every promise, in every state seen");
        return Ok(ExitCode::SUCCESS);
    };
    let steps = space.steps(&path);
    broken(plan, &before, steps, &args.traces)
}

fn told(figures: &Figures, end: End) -> String {
    let hundredths = |of: u64| format!("{}.{:02}", of / 100, of % 100);
    format!(
        "{end}: {} states, {} steps taken of {}, depth {}, {} ends, {} goals\n\
         branching {}, {} bytes a state, a state missed with a chance of {}",
        figures.distinct,
        figures.generated,
        figures.enabled,
        figures.depth(),
        figures.ends,
        figures.goals,
        hundredths(figures.branching_hundredths()),
        figures.bytes_per_state(),
        figures.odds(),
    )
}

fn coverage(all: impl Iterator<Item = Coverage>) {
    let mut sum = Coverage::default();
    for one in all {
        for (pair, count) in one.pairs {
            *sum.pairs.entry(pair).or_default() += count;
        }
        for (name, count) in one.reached {
            *sum.reached.entry(name).or_default() += count;
        }
    }
    let pair =
        |((step, fault), count): (&(&str, &str), &u64)| format!("{step} after {fault} {count}");
    say!("taken    {}", sum.pairs.iter().map(pair).collect::<Vec<_>>().join(", "));
    let name = |(name, count): (&&str, &u64)| format!("{name} {count}");
    say!("reached  {}", sum.reached.iter().map(name).collect::<Vec<_>>().join(", "));
}

/// Performs what was found, writes it down and tells it.
fn broken(plan: &Plan, before: &[(Instant, Step)], steps: Vec<Step>, traces: &Path) -> Outcome {
    let at = before.last().map_or(Instant(0), |(at, _)| *at);
    let mut all = before.to_vec();
    all.extend(steps.iter().map(|step| (at, step.clone())));
    let mut world = World::new(plan.setting.clone()).map_err(|error| error.to_string())?;
    let mut checkers = Checkers::new(Arc::clone(world.ensemble()));
    let path = traces.join("search.jsonl");
    let wrong = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut recorder = Recorder::create(&path, &Header::new(0, plan.clone())).map_err(wrong)?;
    let report = drive(&mut world, &mut Replay::new(&all), &mut checkers, &mut recorder);
    recorder.finish(&report).map_err(wrong)?;
    let end = match &report.end {
        RunEnd::Held => "a promise that a replay keeps: the search is wrong".to_owned(),
        RunEnd::Diverged { .. } | RunEnd::Panicked(_) | RunEnd::Stuck(_) | RunEnd::Violated(_) => {
            report.end.to_string()
        }
    };
    say!("FAILED: {end}");
    say!("after {} steps:", steps.len());
    for (place, step) in steps.iter().enumerate() {
        say!("  {:>3}  {step}", place + 1);
    }
    say!("again: zoolab replay {}", path.display());
    Ok(ExitCode::FAILURE)
}
