//! One run: the only loop that random runs, replay and shrinking need.

use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Arc;

use zoolab_core::Note;

use crate::checker::{Checkers, Violation};
use crate::figures::Figures;
use crate::hash::RunningHash;
use crate::seen::Seen;
use crate::setting::SettingError;
use crate::step::{Instant, Step};
use crate::strategy::seeded::Seeded;
use crate::strategy::{Choice, Strategy};
use crate::swarm::Plan;
use crate::world::{Outcome, World};

/// How a run ended.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum End {
    /// It wanted a step that could not happen.
    Diverged {
        /// Which.
        wanted: Step,
        /// Why it could not.
        why: String,
    },
    /// Every promise was kept.
    Held,
    /// Our own code gave up.
    Panicked(String),
    /// Things did not get well again.
    Stuck(String),
    /// A promise was broken.
    Violated(Violation),
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Diverged { wanted, why } => write!(f, "cannot happen: {wanted}; {why}"),
            Self::Held => write!(f, "every promise held"),
            Self::Panicked(what) => write!(f, "our own code gave up: {what}"),
            Self::Stuck(what) => write!(f, "it did not get well again: {what}"),
            Self::Violated(violation) => write!(f, "broken promise {violation}"),
        }
    }
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Report {
    /// How it ended.
    pub end: End,
    /// Of all its steps.
    pub hash: RunningHash,
    /// What happened, counted.
    pub figures: Figures,
}

/// A step that has happened.
#[derive(Clone, Copy, Debug)]
pub struct Done<'a> {
    /// How many steps were before it.
    pub place: u64,
    /// When.
    pub at: Instant,
    /// What.
    pub step: &'a Step,
    /// What it made visible.
    pub seen: &'a [Seen],
    /// Which promises it broke that nobody watches.
    pub overlooked: &'a [Violation],
    /// The hash of all steps up to this one.
    pub hash: RunningHash,
    /// The world after it.
    pub world: &'a World,
}

/// Who looks on while a run goes on.
pub trait Onlooker {
    /// A step is about to happen.
    fn before(&mut self, _place: u64, _at: Instant, _step: &Step) {}

    /// A step has happened. False ends the run.
    fn after(&mut self, _done: &Done<'_>) -> bool {
        true
    }
}

/// Nobody looks on.
#[derive(Clone, Copy, Debug)]
pub struct Nobody;

impl Onlooker for Nobody {}

thread_local! {
    /// Where this thread panicked last.
    static PLACE: Cell<Option<String>> = const { Cell::new(None) };
    /// Whether this thread is in the midst of a run.
    static RUNNING: Cell<bool> = const { Cell::new(false) };
}

/// From now on panics in runs are not printed where they happen: they become part of a run's
/// report, with their place. Others are printed as ever.
pub fn hush_panics() {
    let others = take_hook();
    set_hook(Box::new(move |panic| {
        if RUNNING.get() {
            PLACE.set(panic.location().map(ToString::to_string));
        } else {
            others(panic);
        }
    }));
}

/// One run of a plan, all chance from this seed.
///
/// # Errors
/// If the plan cannot be.
pub fn run(plan: &Plan, seed: u64, onlooker: &mut dyn Onlooker) -> Result<Report, SettingError> {
    let mut world = World::new(plan.setting.clone())?;
    let mut strategy = Seeded::new(plan.clone(), seed, &world);
    let mut checkers = Checkers::new(Arc::clone(world.ensemble()), &world.setting().promises);
    Ok(drive(&mut world, &mut strategy, &mut checkers, onlooker))
}

/// Does some work of a run or a search, in which a panic is a finding.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    RUNNING.set(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    RUNNING.set(false);
    done
}

/// What a panic that was caught has to say, and where it came from.
pub(crate) fn panicked(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
    let text = text.unwrap_or_else(|| "a panic without words".into());
    let place = PLACE.take().map_or(String::new(), |place| format!(" ({place})"));
    format!("{text}{place}")
}

/// Runs until the strategy stops, the onlooker has seen enough, or a promise is broken. A panic
/// is a finding like any other.
pub fn drive(
    world: &mut World,
    strategy: &mut dyn Strategy,
    checkers: &mut Checkers,
    onlooker: &mut dyn Onlooker,
) -> Report {
    let mut report = Report {
        end: End::Held,
        hash: RunningHash::default(),
        figures: Figures { runs: 1, ..Figures::default() },
    };
    let run = || go(world, strategy, checkers, onlooker, &mut report);
    let end = caught(run).unwrap_or_else(|panic| End::Panicked(panicked(&*panic)));
    report.end = end;
    report
}

fn go(
    world: &mut World,
    strategy: &mut dyn Strategy,
    checkers: &mut Checkers,
    onlooker: &mut dyn Onlooker,
    report: &mut Report,
) -> End {
    let mut outcome = Outcome::default();
    let mut overlooked = Vec::new();
    loop {
        let choice = strategy.choose(world);
        let (at, step) = match &choice {
            Choice::Take(at, step) => (*at, step),
            Choice::Stop => return End::Held,
            Choice::Stuck(what) => return End::Stuck(what.clone()),
            Choice::Diverge { wanted, why } => {
                return End::Diverged { wanted: wanted.clone(), why: why.clone() };
            }
        };
        let place = report.figures.steps;
        onlooker.before(place, at, step);
        outcome.seen.clear();
        outcome.fresh.clear();
        world.step(at, step, &mut outcome);
        report.hash.word(at.0);
        step.words(&mut report.hash);
        for event in &outcome.seen {
            // Where worlds differ first shows in their trees.
            if let Seen::Note { note: Note::Applied { digest, .. }, .. } = event {
                report.hash.word(*digest);
            }
        }
        report.figures.count(at, step, &outcome.seen);
        overlooked.clear();
        let judged = checkers.judge(&outcome.seen, &mut overlooked);
        report.figures.overlook(&overlooked);
        if let Err(violation) = judged {
            return End::Violated(violation);
        }
        strategy.learn(world, &outcome.fresh);
        let (seen, overlooked, hash) = (&outcome.seen[..], &overlooked[..], report.hash);
        if !onlooker.after(&Done { place, at, step, seen, overlooked, hash, world }) {
            return End::Held;
        }
    }
}
