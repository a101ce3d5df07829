//! Where a search begins: everybody has just started, with nothing, or a run has come so far.

use std::sync::Arc;

use crate::checker::Checkers;
use crate::setting::{Setting, SettingError};
use crate::step::{Instant, Step};
use crate::world::{Outcome, World};

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
