//! Follows a trace to the letter.

use super::{Choice, Strategy};
use crate::step::{Instant, Step};
use crate::world::{Pending, World};

/// See the [module](self).
#[derive(Debug)]
pub struct Replay<'a> {
    rest: &'a [(Instant, Step)],
    /// Whether steps that cannot happen are left out.
    skips: bool,
}

impl<'a> Replay<'a> {
    /// Follows these steps.
    #[must_use]
    pub const fn new(steps: &'a [(Instant, Step)]) -> Self {
        Self { rest: steps, skips: false }
    }

    /// Follows these steps as far as it can: those that cannot happen are left out. For traces of
    /// what has been mended since.
    #[must_use]
    pub const fn skipping(steps: &'a [(Instant, Step)]) -> Self {
        Self { rest: steps, skips: true }
    }
}

impl Strategy for Replay<'_> {
    fn choose(&mut self, world: &World) -> Choice {
        while let Some(((at, wanted), rest)) = self.rest.split_first() {
            self.rest = rest;
            match world.can(*at, wanted) {
                Ok(()) => return Choice::Take(*at, wanted.clone()),
                Err(_) if self.skips => {}
                Err(why) => {
                    return Choice::Diverge { wanted: wanted.clone(), why: why.to_string() };
                }
            }
        }
        Choice::Stop
    }

    fn learn(&mut self, _: &World, _: &[Pending]) {}
}
