//! Where a search begins: everybody has just started, with nothing; or everybody follows a leader;
//! or a run has come so far.

use std::collections::VecDeque;
use std::sync::Arc;

use zoolab_core::Server;

use crate::checker::Checkers;
use crate::setting::{Setting, SettingError};
use crate::step::{Instant, Step};
use crate::world::{Bounds, Budget, Outcome, World};

/// A world in a search, what is known of it, and how it came to be.
#[derive(Clone, Debug)]
pub struct Root {
    /// The world.
    pub world: World,
    /// What the promises are judged by.
    pub checkers: Checkers,
    /// The steps from the beginning of the world, each with its time.
    pub steps: Vec<(Instant, Step)>,
}

impl Root {
    /// All servers of this setting have started and look for a leader.
    ///
    /// # Errors
    /// If the setting cannot be.
    ///
    /// # Panics
    /// If time goes on in it, or a fresh ensemble breaks a promise.
    pub fn fresh(setting: Setting) -> Result<Self, SettingError> {
        assert!(setting.search.is_some(), "time stands still in a search");
        let world = World::new(setting)?;
        let checkers = Checkers::new(Arc::clone(world.ensemble()));
        let mut root = Self { world, checkers, steps: Vec::new() };
        for server in root.world.servers().to_vec() {
            root.take(Step::Restart { server });
        }
        Ok(root)
    }

    /// Everybody follows a leader, and nothing is under way: what a fresh ensemble comes to if the
    /// first thing that may happen does, again and again.
    ///
    /// # Errors
    /// If the setting cannot be.
    ///
    /// # Panics
    /// As [`fresh`](Self::fresh), and if nobody finds a leader in a long time.
    pub fn led(setting: Setting) -> Result<Self, SettingError> {
        /// More steps than any healthy ensemble needs.
        const STEPS_MOST: usize = 10_000;
        let mut root = Self::fresh(setting)?;
        let mut seen = VecDeque::new();
        for _ in 0..STEPS_MOST {
            if root.is_led() {
                return Ok(root);
            }
            let mut steps = Vec::new();
            for server in root.world.servers().to_vec() {
                root.world.choices(server, &mut steps);
            }
            root.world.choices_together(&mut steps);
            // Timers only when nothing else is left, or an election would be over too early.
            let free = |step: &&Step| root.world.price(step).is_none();
            let timer = |step: &&Step| matches!(step, Step::Timeout { .. });
            let calm = steps.iter().filter(free).find(|step| !timer(step));
            let step = calm.or_else(|| {
                let due = steps.iter().filter(free).find(|step| {
                    let line = step.to_string();
                    !seen.iter().any(|other| *other == line)
                });
                due.or_else(|| steps.iter().find(free))
            });
            let step = step.expect("something may happen").clone();
            if matches!(step, Step::Timeout { .. }) {
                // Each in its turn.
                seen.push_back(step.to_string());
                if seen.len() > 2 {
                    seen.pop_front();
                }
            }
            root.take(step);
        }
        panic!("nobody found a leader");
    }

    fn is_led(&self) -> bool {
        let all = self.world.servers();
        let server = |id| self.world.host(id).server.as_ref();
        let Some(leader) = self.world.leader() else { return false };
        let idle = |id| self.world.host(id).disk.pending().is_none();
        self.world.links().all(|(_, link)| link.lanes.iter().all(|lane| lane.messages.is_empty()))
            && all.iter().all(|id| {
                idle(*id)
                    && server(*id).is_some_and(Server::is_serving)
                    && server(*id).and_then(Server::following) == Some(leader)
            })
    }

    /// Where a run has come by these steps, from where time stands still within these bounds.
    ///
    /// What stood still goes on before that, what was cut is healed, and full disks get room: in a
    /// search nobody would ever see to it, and it has all delays that those could cause.
    ///
    /// # Errors
    /// Says at which step it does not fit, or breaks a promise.
    pub fn of_run(
        setting: Setting,
        steps: &[(Instant, Step)],
        bounds: Bounds,
    ) -> Result<Self, String> {
        let world = World::new(setting).map_err(|error| error.to_string())?;
        let checkers = Checkers::new(Arc::clone(world.ensemble()));
        let mut root = Self { world, checkers, steps: Vec::new() };
        for (at, step) in steps {
            root.follow(*at, step)?;
        }
        let now = root.world.now();
        for step in root.mends().into_iter().chain([Step::Free(bounds)]) {
            root.follow(now, &step)?;
        }
        root.world.put_budget(Budget::of(bounds));
        Ok(root)
    }

    /// What has to be mended before time stands still.
    fn mends(&self) -> Vec<Step> {
        let heal = |(from, to)| Step::Heal { from, to };
        let mut steps: Vec<Step> = self.world.cuts().map(heal).collect();
        for server in self.world.servers().iter().copied() {
            let host = self.world.host(server);
            if host.paused {
                steps.push(Step::Resume { server });
            }
            if host.disk.is_full() {
                steps.push(Step::Full { server, full: false });
            }
        }
        steps
    }

    /// A step that somebody else has written down.
    fn follow(&mut self, at: Instant, step: &Step) -> Result<(), String> {
        let wrong = |count: usize, what: String| format!("step {}: {step}: {what}", count + 1);
        let (at, count) = (at.max(self.world.now()), self.steps.len());
        self.world.can(at, step).map_err(|why| wrong(count, why.to_string()))?;
        let mut outcome = Outcome::default();
        self.world.step(at, step, &mut outcome);
        let kept = self.checkers.observe(&outcome.seen);
        kept.map_err(|violation| wrong(count, violation.to_string()))?;
        self.steps.push((at, step.clone()));
        Ok(())
    }

    /// One step further.
    ///
    /// # Panics
    /// If it breaks a promise.
    pub fn take(&mut self, step: Step) {
        let mut outcome = Outcome::default();
        let at = self.world.now();
        self.world.step(at, &step, &mut outcome);
        self.checkers.observe(&outcome.seen).expect("a search begins where nothing is broken");
        self.steps.push((at, step));
    }
}
