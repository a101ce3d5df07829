//! Fewer steps, the same failure.
//!
//! ```text
//!   trace ---> wishes ---> candidates: wishes left out, changed, or told in fewer steps
//!                 ^                 |
//!                 |                 v
//!                 +---- performed leniently: still the same fingerprint? ----> trace, story
//! ```
//!
//! A candidate is a list of [wishes](Wish): what is wanted, without the numbers it had. What
//! cannot happen is left out, and what did happen is the next, shorter list. Only what fails in
//! the same way is accepted: the same promise, by servers in the same roles, in the same words.
//!
//! Nothing here depends on chance or on time: the same trace and the same number of runs give the
//! same result.

mod coarse;
mod fingerprint;
mod passes;
mod perform;
mod tail;
mod wish;

use std::fmt;
use std::ops::ControlFlow;

pub use self::fingerprint::{Fingerprint, Roles};
use self::passes::Shrinker;
pub use self::wish::Wish;
use crate::drive::{End, Report};
use crate::setting::SettingError;
use crate::step::{Instant, Step};
use crate::swarm::Plan;
use crate::trace::{Ending, Header, Trace, Word};

/// How much may be tried.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// So many runs; none is without end.
    pub runs: Option<u64>,
    /// Whether elections stay as they are, step by step.
    pub fine: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { runs: Some(20_000), fine: false }
    }
}

/// Where it stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Progress {
    /// How many candidates have been performed.
    pub runs: u64,
    /// How many steps the shortest has.
    pub steps: usize,
    /// What is being tried.
    pub pass: &'static str,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Shrunk {
    /// The shortest trace that was found; it fails in the same way.
    pub trace: Trace,
    /// How both fail.
    pub fingerprint: Fingerprint,
    /// How many steps there were before.
    pub before: usize,
    /// How many candidates were performed.
    pub runs: u64,
    /// Whether nothing was left to try.
    pub whole: bool,
}

/// Why a trace cannot be shrunk.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum NotShrunk {
    /// It does not fit.
    Diverges {
        /// Which step, counted from one.
        count: u64,
        /// What it was.
        wanted: Step,
        /// Why it cannot happen.
        why: String,
    },
    /// It does not fail.
    Holds,
    /// It got stuck, and its seed does not do so any more.
    NotStuck,
    /// Its world cannot be set up.
    Setting(SettingError),
}

impl fmt::Display for NotShrunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Diverges { count, wanted, why } => write!(f, "step {count}: {wanted}; {why}"),
            Self::Holds => write!(f, "every promise holds: expected a trace that fails"),
            Self::NotStuck => {
                write!(f, "it got stuck when it was recorded; run from its seed, it does not")
            }
            Self::Setting(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for NotShrunk {}

/// How a trace fails.
///
/// # Errors
/// If it does not fit, or does not fail.
pub fn fingerprint(trace: &Trace) -> Result<Fingerprint, NotShrunk> {
    if let Some(stuck) = stuck(trace) {
        return Ok(stuck);
    }
    let read = perform::read(&trace.header.plan.setting, &trace.steps, false);
    let read = read.map_err(NotShrunk::Setting)?;
    failed(read.fingerprint, &read.report)
}

/// How it got stuck, if it did. Its steps do not show that.
fn stuck(trace: &Trace) -> Option<Fingerprint> {
    let ending = trace.ending.as_ref().filter(|ending| ending.end == Word::Stuck)?;
    Fingerprint::of(&End::Stuck(ending.what.clone().unwrap_or_default()), &Roles::default())
}

fn failed(fingerprint: Option<Fingerprint>, report: &Report) -> Result<Fingerprint, NotShrunk> {
    if let End::Diverged { wanted, why } = &report.end {
        let count = report.figures.steps + 1;
        return Err(NotShrunk::Diverges { count, wanted: wanted.clone(), why: why.clone() });
    }
    fingerprint.ok_or(NotShrunk::Holds)
}

/// Makes a trace that fails as short as it can. `progress` is told after every candidate, and may
/// end it.
///
/// # Errors
/// If it does not fit, or does not fail.
pub fn shrink(
    trace: &Trace,
    limits: Limits,
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<Shrunk, NotShrunk> {
    let before = trace.steps.len();
    let header = &trace.header;
    let (shrinker, wanted) = if let Some(wanted) = stuck(trace) {
        let mut shrinker = Shrinker::new(wanted.clone(), header, limits, progress);
        shrinker.stuck()?;
        (shrinker, wanted)
    } else {
        let read = perform::read(&header.plan.setting, &trace.steps, false);
        let read = read.map_err(NotShrunk::Setting)?;
        let wanted = failed(read.fingerprint, &read.report)?;
        let mut shrinker = Shrinker::new(wanted.clone(), header, limits, progress);
        shrinker.steps(read.wishes, trace.steps.clone(), &read.report);
        (shrinker, wanted)
    };
    let (runs, whole) = (shrinker.runs, !shrinker.over);
    let Case { plan, steps, ending, .. } = shrinker.best;
    let about = Some(match &header.about {
        Some(about) => about.clone(),
        None => format!("{wanted}; shrunk from {before} steps of seed {}", header.seed),
    });
    let header = Header { about, ..Header::new(header.seed, plan) };
    let trace = Trace { header, steps, ending: Some(ending) };
    Ok(Shrunk { trace, fingerprint: wanted, before, runs, whole })
}

/// The shortest run so far.
#[derive(Clone, Debug)]
struct Case {
    plan: Plan,
    wishes: Vec<Wish>,
    steps: Vec<(Instant, Step)>,
    ending: Ending,
}
