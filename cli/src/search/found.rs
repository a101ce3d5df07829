//! A way through the states that somebody should see: performed by the world, written down as a
//! trace, and told step by step.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use zoolab_sim::checker::Checkers;
use zoolab_sim::drive::{End, drive};
use zoolab_sim::states::Ensemble;
use zoolab_sim::step::{Instant, Step};
use zoolab_sim::strategy::replay::Replay;
use zoolab_sim::swarm::Plan;
use zoolab_sim::trace::{Header, Recorder};
use zoolab_sim::world::{Outcome, World};

use crate::finding::Pasted;
use crate::say::say;

/// See the [module](self).
#[derive(Debug, Serialize)]
pub(super) struct Found {
    /// What is wrong.
    what: String,
    /// The promise that is broken, if one is.
    promise: Option<String>,
    /// The steps from where the search began.
    steps: Vec<String>,
    /// How many of them come before those that may go on for ever, if some may.
    cycle_after: Option<usize>,
    /// Where all of it is.
    trace: PathBuf,
}

/// What has to be known to perform it.
#[derive(Clone, Copy)]
pub(super) struct Stage<'a> {
    pub(super) plan: &'a Plan,
    /// From the beginning of the world to where the search began.
    pub(super) before: &'a [(Instant, Step)],
    /// Where traces go.
    pub(super) traces: &'a Path,
}

impl Stage<'_> {
    /// Performs steps that break a promise.
    pub(super) fn broken(self, steps: &[Step]) -> Result<Found, String> {
        let (trace, ending) = self.perform(steps, "search.jsonl", None)?;
        let (promise, what) = match ending {
            End::Held => (None, "a promise that a replay keeps: the search is wrong".into()),
            End::Violated(violation) => {
                (Some(violation.promise.name()), End::Violated(violation).to_string())
            }
            End::Diverged { .. } | End::Panicked(_) | End::Stuck(_) => (None, ending.to_string()),
        };
        let steps = steps.iter().map(ToString::to_string).collect();
        Ok(Found { what, promise, steps, cycle_after: None, trace })
    }

    /// Performs steps that never lead to where they should, the last of them again and again if
    /// `cycle_after` says after how many.
    pub(super) fn stuck(
        self,
        steps: &[Step],
        cycle_after: Option<usize>,
        name: &str,
        what: String,
    ) -> Result<Found, String> {
        let (trace, ending) = self.perform(steps, name, Some(what.clone()))?;
        let what = match ending {
            End::Held | End::Stuck(_) => what,
            End::Diverged { .. } | End::Panicked(_) | End::Violated(_) => {
                format!("{what}; but a replay differs, the search is wrong: {ending}")
            }
        };
        let steps = steps.iter().map(ToString::to_string).collect();
        Ok(Found { what, promise: None, steps, cycle_after, trace })
    }

    fn perform(
        self,
        steps: &[Step],
        name: &str,
        stuck: Option<String>,
    ) -> Result<(PathBuf, End), String> {
        let at = self.before.last().map_or(Instant(0), |(at, _)| *at);
        let mut all = self.before.to_vec();
        all.extend(steps.iter().map(|step| (at, step.clone())));
        let mut world = World::new(self.plan.setting.clone()).map_err(|error| error.to_string())?;
        let mut checkers = Checkers::new(Arc::clone(world.ensemble()), &world.setting().promises);
        let path = self.traces.join(name);
        let wrong = |error: std::io::Error| format!("{}: {error}", path.display());
        let header = Header::new(0, self.plan.clone());
        let mut recorder = Recorder::create(&path, &header).map_err(wrong)?;
        let mut report = drive(&mut world, &mut Replay::new(&all), &mut checkers, &mut recorder);
        if let (End::Held, Some(what)) = (&report.end, stuck) {
            report.end = End::Stuck(what);
        }
        recorder.finish(&report).map_err(wrong)?;
        Ok((path, report.end))
    }
}

impl Found {
    /// All of it for a person.
    pub(super) fn say(&self) {
        say!("FAILED: {}", self.what);
        let count = self.steps.len();
        match self.cycle_after {
            None => say!("after {count} steps:"),
            Some(stem) => say!("after {stem} steps, and then {} for ever:", count - stem),
        }
        for (place, step) in self.steps.iter().enumerate() {
            if self.cycle_after == Some(place) {
                say!("       from here on again and again:");
            }
            say!("  {:>3}  {step}", place + 1);
        }
        say!("again: zoolab replay {}", Pasted(&self.trace));
    }
}

/// The steps with these names, one after the other from where the search begins, as far as they
/// can be taken.
pub(super) fn walk<const K: usize, const W: usize>(
    space: &Ensemble<K, W>,
    names: &[u16],
) -> Vec<Step> {
    let mut world = space.root().clone();
    let mut outcome = Outcome::default();
    let mut steps = Vec::new();
    for name in names {
        let Some(step) = space.named(&world, *name) else { break };
        world.step(world.now(), &step, &mut outcome);
        steps.push(step);
    }
    steps
}
