//! Who picks the next step. A strategy never touches the world.

pub mod replay;
pub mod seeded;

use crate::step::{Instant, Step};
use crate::world::{Pending, World};

/// What a strategy wants.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Choice {
    /// It wanted a step that cannot happen here.
    Diverge {
        /// Which.
        wanted: Step,
        /// Why it cannot.
        why: String,
    },
    /// Everything is well, and that was to be seen.
    Stop,
    /// Things should be well by now and are not.
    Stuck(String),
    /// This, at this moment.
    Take(Instant, Step),
}

/// Decides what happens next; never touches the world.
pub trait Strategy {
    /// Picks the next step.
    fn choose(&mut self, world: &World) -> Choice;

    /// Hears of what a step left to be done.
    fn learn(&mut self, world: &World, fresh: &[Pending]);
}
