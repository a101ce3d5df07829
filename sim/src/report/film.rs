//! A trace, performed one step after the other, with the world after each.
//!
//! Whoever wants to go back keeps a copy of it.

use std::sync::Arc;

use zoolab_core::ServerId;

use super::cast::Who;
use super::lanes::{self, Log, Value};
use crate::checker::{Checkers, Violation};
use crate::drive::{End, caught, panicked};
use crate::seen::Seen;
use crate::setting::SettingError;
use crate::step::{Instant, Step};
use crate::trace::{Trace, Word};
use crate::world::{Outcome, World};

/// See the [module](self).
#[derive(Debug)]
pub struct Film<'a> {
    trace: &'a Trace,
    world: World,
    checkers: Checkers,
    outcome: Outcome,
    overlooked: Vec<Violation>,
    /// By server.
    logs: Vec<(ServerId, Log)>,
    done: usize,
    end: Option<End>,
}

impl Clone for Film<'_> {
    fn clone(&self) -> Self {
        let mut outcome = Outcome::default();
        outcome.seen.clone_from(&self.outcome.seen);
        Self {
            trace: self.trace,
            world: self.world.clone(),
            checkers: self.checkers.clone(),
            outcome,
            overlooked: self.overlooked.clone(),
            logs: self.logs.clone(),
            done: self.done,
            end: self.end.clone(),
        }
    }
}

impl<'a> Film<'a> {
    /// Before the first step.
    ///
    /// # Errors
    /// If the setting of the trace cannot be.
    pub fn new(trace: &'a Trace) -> Result<Self, SettingError> {
        let world = World::new(trace.header.plan.setting.clone())?;
        let checkers = Checkers::new(Arc::clone(world.ensemble()), &world.setting().promises);
        let logs = world.servers().iter().map(|id| (*id, Log::default())).collect();
        let (outcome, overlooked) = (Outcome::default(), Vec::new());
        Ok(Self { trace, world, checkers, outcome, overlooked, logs, done: 0, end: None })
    }

    /// What is performed.
    #[must_use]
    pub const fn trace(&self) -> &'a Trace {
        self.trace
    }

    /// The world as it is.
    #[must_use]
    pub const fn world(&self) -> &World {
        &self.world
    }

    /// How many steps have happened.
    #[must_use]
    pub const fn done(&self) -> usize {
        self.done
    }

    /// The step that has just happened.
    #[must_use]
    pub fn last(&self) -> Option<&'a (Instant, Step)> {
        self.done.checked_sub(1).map(|place| &self.trace.steps[place])
    }

    /// The step that is next, if there is one and nothing has ended before.
    #[must_use]
    pub fn next(&self) -> Option<&'a (Instant, Step)> {
        self.trace.steps.get(self.done).filter(|_| self.end.is_none())
    }

    /// What the last step made visible.
    #[must_use]
    pub fn seen(&self) -> &[Seen] {
        &self.outcome.seen
    }

    /// Which promises the last step broke that nobody watches.
    #[must_use]
    pub fn overlooked(&self) -> &[Violation] {
        &self.overlooked
    }

    /// Everybody, servers first.
    #[must_use]
    pub fn everybody(&self) -> Vec<Who> {
        let servers = self.world.servers().iter().map(|id| Who::Server(*id));
        servers.chain(self.world.clients().map(|(id, _)| Who::Client(id))).collect()
    }

    /// What somebody is, thing by thing; always the same things.
    ///
    /// # Panics
    /// If there is nobody of that name.
    #[must_use]
    pub fn state(&self, who: Who) -> Vec<(&'static str, Value)> {
        lanes::state(self, who)
    }

    pub(super) fn logs(&self) -> &[(ServerId, Log)] {
        &self.logs
    }

    /// How it ended; none while there are steps to come.
    #[must_use]
    pub const fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// One more step. False if there is none, or it cannot happen; then [`end`](Self::end) says
    /// how it ended. A step that breaks a promise has happened.
    pub fn step(&mut self) -> bool {
        let Some((at, step)) = self.next() else {
            self.end.get_or_insert_with(|| at_the_end(self.trace));
            return false;
        };
        if let Err(why) = self.world.can(*at, step) {
            self.end = Some(End::Diverged { wanted: step.clone(), why: why.to_string() });
            return false;
        }
        self.outcome.seen.clear();
        self.outcome.fresh.clear();
        self.overlooked.clear();
        let Self { world, checkers, outcome, overlooked, .. } = self;
        let happened = caught(|| {
            world.step(*at, step, outcome);
            checkers.judge(&outcome.seen, overlooked)
        });
        for (id, log) in &mut self.logs {
            *log = self.outcome.seen.iter().fold(*log, |log, event| log.after(*id, event));
        }
        self.done += 1;
        match happened {
            Ok(Ok(())) => {}
            Ok(Err(violation)) => self.end = Some(End::Violated(violation)),
            Err(panic) => self.end = Some(End::Panicked(panicked(&*panic))),
        }
        true
    }
}

/// What the end of the steps is. That things did not get well again cannot be seen from steps:
/// the recorded run knows.
fn at_the_end(trace: &Trace) -> End {
    match &trace.ending {
        Some(ending) if ending.end == Word::Stuck => {
            End::Stuck(ending.what.clone().unwrap_or_else(|| "as recorded".into()))
        }
        _ => End::Held,
    }
}
