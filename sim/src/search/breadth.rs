//! The search: layer by layer, so that every state is found by a shortest way.

use std::fmt;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::panic::resume_unwind;

use super::chunk::Wanted;
use super::course::{Course, Store};
use super::shard::{SHARD_BITS, SHARDS, shard_of};
use super::table::checked;
use super::team::{Team, UNPOISONED};
use super::{Figures, Progress, Space, Verdict};

/// A state that was seen, for as long as its search lives.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct StateId(u32);

impl StateId {
    /// Stands for the parent of the initial state.
    pub(super) const ROOT: Self = Self(u32::MAX);

    pub(super) const fn new(shard: usize, place: usize) -> Self {
        Self((place << SHARD_BITS | shard) as u32)
    }

    pub(super) const fn shard(self) -> usize {
        self.0 as usize % SHARDS
    }

    pub(super) const fn place(self) -> usize {
        self.0 as usize >> SHARD_BITS
    }

    pub(super) const fn word(self) -> u64 {
        self.0 as u64
    }

    pub(super) const fn of_word(word: u64) -> Self {
        Self(word as u32)
    }

    /// The state at the next place of the same shard.
    pub(super) const fn following(self) -> Self {
        Self(self.0 + SHARDS as u32)
    }
}

/// When to stop before everything is seen.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Limits {
    /// States at this distance are not expanded.
    pub depth: Option<usize>,
    /// Stops soon after so many states.
    pub states: Option<u64>,
    /// Stops before more bytes are in use than these.
    pub bytes: Option<u64>,
    /// Goes on after a promise was broken, and counts.
    pub past_broken: bool,
}

/// How a search ended, or where it stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum End {
    /// The caller wanted it to stop.
    Asked,
    /// A promise is broken.
    Broken,
    /// Every state that can be reached was seen.
    Complete,
    /// Every state within [`Limits::depth`] was seen, and those at this depth were not expanded.
    Depth,
    /// [`Limits::bytes`] would be exceeded.
    Memory,
    /// [`Limits::states`] was reached.
    States,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Asked => "stopped when asked",
            Self::Broken => "stopped at a broken promise",
            Self::Complete => "complete",
            Self::Depth => "complete up to the greatest depth allowed",
            Self::Memory => "stopped at the greatest memory allowed",
            Self::States => "stopped at the greatest number of states allowed",
        })
    }
}

/// A step that broke a promise.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Broken {
    /// The state it was taken from; none if the initial state is itself what is wrong.
    pub parent: Option<StateId>,
    /// The step.
    pub step: u16,
}

/// A search by layers, so that every state is found by a shortest way.
///
/// It can be run for a while, looked at, saved, and run on.
pub struct Search<'a, S: Space> {
    pub(super) space: &'a S,
    pub(super) wanted: Wanted,
    pub(super) store: Store<S>,
    pub(super) course: Course,
    workers: Vec<S::Worker>,
}

impl<'a, S: Space> Search<'a, S> {
    /// A search that has seen the initial state; with sleep sets if `reduce`.
    pub fn new(space: &'a S, reduce: bool) -> Self {
        let mut search = Self::empty(space, Wanted { reduce, fair: false });
        search.begin();
        search
    }

    /// A search that also remembers every step between the states it sees.
    pub(super) fn graphed(space: &'a S) -> Self {
        let mut search = Self::empty(space, Wanted { reduce: false, fair: true });
        search.begin();
        search
    }

    pub(super) fn empty(space: &'a S, wanted: Wanted) -> Self {
        let store = Store::new(wanted.fair);
        Self { space, wanted, store, course: Course::default(), workers: vec![space.worker()] }
    }

    fn begin(&mut self) {
        let arrival = self.space.initial(&mut self.workers[0]);
        self.course.figures.generated = 1;
        if arrival.verdict == Verdict::Broken {
            self.course.figures.broken = 1;
            self.course.broken = Some(Broken { parent: None, step: arrival.step });
            return;
        }
        let print = checked(arrival.print);
        let shard = self.store.shards[shard_of(print)].get_mut().expect(UNPOISONED);
        shard.begin(print, &arrival);
        self.course.begin(&self.store);
    }

    /// Searches on, with so many threads, until everything is seen or there is a reason to stop;
    /// `progress` is told after every round and may be that reason.
    ///
    /// What is found does not depend on the number of threads.
    ///
    /// # Panics
    ///
    /// If the space does. The search is of no use afterwards.
    pub fn run(
        &mut self,
        limits: &Limits,
        threads: NonZeroUsize,
        progress: &mut dyn FnMut(&Progress<'_>) -> ControlFlow<()>,
    ) -> End {
        let Self { space, wanted, store, course, workers } = self;
        while workers.len() < threads.get() {
            workers.push(space.worker());
        }
        let team = Team::new(*space, store, *wanted, threads.get());
        let (lead, others) = workers.split_first_mut().expect("there is at least one");
        let end = std::thread::scope(|scope| {
            let team = &team;
            for worker in others.iter_mut().take(threads.get() - 1) {
                scope.spawn(move || team.follow(worker));
            }
            let end = loop {
                if let Some(end) = course.reason_to_stop(limits, store) {
                    break Ok(end);
                }
                let plan = course.plan(store);
                let pieces = plan.len();
                if let Err(said) = team.round(plan, lead) {
                    break Err(said);
                }
                course.count(pieces, store);
                if progress(&course.progress()).is_break() {
                    break Ok(course.reason_to_stop(limits, store).unwrap_or(End::Asked));
                }
            };
            team.end();
            end
        });
        end.unwrap_or_else(|said| resume_unwind(said))
    }

    /// What was seen so far.
    #[must_use]
    pub const fn figures(&self) -> &Figures {
        &self.course.figures
    }

    /// The first step that broke a promise: at the least distance, from the first state of that
    /// distance that has one, and the first there.
    #[must_use]
    pub const fn broken(&self) -> Option<Broken> {
        self.course.broken
    }

    /// The first goal that was reached, by a shortest way.
    #[must_use]
    pub fn goal(&self) -> Option<StateId> {
        self.course.goal.map(|(_, goal)| goal)
    }

    /// What the threads kept to themselves.
    #[must_use]
    pub fn workers(&self) -> &[S::Worker] {
        &self.workers
    }

    /// The steps that lead from the initial state to this one, as few as can be.
    #[must_use]
    pub fn path(&self, state: StateId) -> Vec<u16> {
        let mut path = Vec::new();
        let mut at = state;
        loop {
            let shard = self.store.shards[at.shard()].read().expect(UNPOISONED);
            let (Some(parent), step) = shard.origin(at) else { break };
            path.push(step);
            at = parent;
        }
        path.reverse();
        path
    }

    /// The steps up to and with the first that broke a promise, as few as can be.
    #[must_use]
    pub fn path_to_broken(&self) -> Option<Vec<u16>> {
        let broken = self.course.broken?;
        let Some(parent) = broken.parent else { return Some(Vec::new()) };
        let mut path = self.path(parent);
        path.push(broken.step);
        Some(path)
    }
}
