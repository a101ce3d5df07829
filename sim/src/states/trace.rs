//! A way through the states, as the steps of a world.

use crate::step::Step;
use crate::world::{Outcome, World};

use super::Ensemble;

impl<const K: usize, const W: usize> Ensemble<K, W> {
    /// Where everything begins.
    #[must_use]
    pub const fn root(&self) -> &World {
        &self.root
    }

    /// The step of one of these worlds that has this name, if it can happen there.
    #[must_use]
    pub fn named(&self, world: &World, code: u16) -> Option<Step> {
        let mut steps = Vec::new();
        if code >= self.codes.len() {
            world.choices_together(&mut steps);
            return steps.into_iter().nth(usize::from(code - self.codes.len()));
        }
        for (place, id) in self.ids.iter().enumerate() {
            steps.clear();
            world.choices(*id, &mut steps);
            let named = |step: &Step| self.codes.name(world, place, step) == code;
            if let Some(step) = steps.iter().find(|step| named(step)) {
                return Some(step.clone());
            }
        }
        None
    }

    /// The steps that these names stand for, from the beginning.
    ///
    /// # Panics
    /// If they are no way through these states.
    #[must_use]
    pub fn steps(&self, names: &[u16]) -> Vec<Step> {
        let mut world = self.root.clone();
        let mut outcome = Outcome::default();
        let mut steps = Vec::new();
        for (place, code) in names.iter().enumerate() {
            let step = self.named(&world, *code).expect("it happened before");
            // The last one may be where our own code gives up.
            if place + 1 < names.len() {
                world.step(self.root.now(), &step, &mut outcome);
            }
            steps.push(step);
        }
        steps
    }
}
