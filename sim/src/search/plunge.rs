//! The other search: one way down as far as it goes, then back, within bounded memory.
//!
//! It finds deep states long before the search by layers does, by no short way, and remembers
//! no more states than it may. If there are more, some are forgotten and visited again; then
//! what it has not found is no proof. States on the way down are never forgotten, so it never
//! walks in circles.
//!
//! With a limit of depth, a state met again by a shorter way is expanded again: what lies behind
//! it may be within the limit only now. Sleep sets are not used: that they hide no state has been
//! shown for the search by layers only.

use std::fmt;
use std::ops::ControlFlow;

use super::table::{Table, checked};
use super::{Arrival, Awake, Space, Verdict};

/// How far to go down, and how much to remember.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PlungeLimits {
    /// States at this distance are not expanded.
    pub depth: Option<u32>,
    /// The most states remembered, at about 30 bytes each; those that wait their turn are not
    /// among them.
    pub remembered: usize,
    /// Stops after so many states were expanded.
    pub expanded: Option<u64>,
}

/// What a plunge has seen, in numbers.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct PlungeFigures {
    /// States seen; one that was forgotten counts again.
    pub distinct: u64,
    /// Steps taken, and one for the beginning.
    pub generated: u64,
    /// States whose steps were taken.
    pub expanded: u64,
    /// How many of these were seen before, by a longer way.
    pub again: u64,
    /// States that were not expanded because they are at the limit of depth.
    pub cut: u64,
    /// States where nothing can happen any more.
    pub ends: u64,
    /// States that are goals.
    pub goals: u64,
    /// States that had to be forgotten.
    pub forgotten: u64,
    /// The longest way down.
    pub depth: u32,
    /// Bytes of the visited set.
    pub bytes_seen: u64,
}

/// How a plunge ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PlungeEnd {
    /// The caller wanted it to stop.
    Asked,
    /// A promise is broken.
    Broken,
    /// There is no way left that was not gone.
    Complete,
    /// [`PlungeLimits::expanded`] was reached.
    Expanded,
}

/// What a plunge has found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Plunged {
    /// Why it ended.
    pub end: PlungeEnd,
    /// What it has seen.
    pub figures: PlungeFigures,
    /// The steps up to and with the first that broke a promise; seldom as few as could be.
    pub broken: Option<Vec<u16>>,
    /// The steps to the first goal; seldom as few as could be.
    pub goal: Option<Vec<u16>>,
    /// The limits it had.
    pub limits: PlungeLimits,
}

impl Plunged {
    /// Whether every state within the limit of depth was seen.
    #[must_use]
    pub fn is_proof(&self) -> bool {
        self.end == PlungeEnd::Complete && self.figures.forgotten == 0
    }
}

impl fmt::Display for Plunged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.end {
            PlungeEnd::Asked => f.write_str("stopped when asked"),
            PlungeEnd::Broken => f.write_str("stopped at a broken promise"),
            PlungeEnd::Complete if self.figures.forgotten > 0 => {
                write!(f, "no proof: {} states had to be forgotten", self.figures.forgotten)
            }
            PlungeEnd::Complete if self.figures.cut > 0 => {
                f.write_str("complete up to the greatest depth allowed")
            }
            PlungeEnd::Complete => f.write_str("complete"),
            PlungeEnd::Expanded => f.write_str("stopped at the greatest number of states allowed"),
        }
    }
}

/// Searches depth first, by one thread; `progress` is told now and then and may stop it.
pub fn plunge<S: Space>(
    space: &S,
    limits: &PlungeLimits,
    progress: &mut dyn FnMut(&PlungeFigures) -> ControlFlow<()>,
) -> Plunged {
    plunge_with(space, &mut space.worker(), limits, progress)
}

/// As [`plunge`]; for whoever wants to look at the worker afterwards.
pub fn plunge_with<S: Space>(
    space: &S,
    worker: &mut S::Worker,
    limits: &PlungeLimits,
    progress: &mut dyn FnMut(&PlungeFigures) -> ControlFlow<()>,
) -> Plunged {
    let first = space.initial(worker);
    let mut diver = Diver::new(*limits);
    let end = if first.verdict == Verdict::Broken {
        diver.broken = Some(Vec::new());
        PlungeEnd::Broken
    } else {
        diver.dive(space, worker, first, progress)
    };
    diver.figures.bytes_seen = diver.seen.bytes();
    let Diver { figures, broken, goal, .. } = diver;
    Plunged { end, figures, broken, goal, limits: *limits }
}

/// Expansions between two tellings of the progress.
const TOLD_EVERY: u64 = 1 << 14;

/// In the number kept with a fingerprint: the state is on the way down. The rest is its depth.
const ON_THE_WAY: u32 = 1 << 31;

/// A state that waits for its turn.
struct Waiting<S: Space> {
    arrival: Arrival<S>,
    depth: u32,
}

struct Diver {
    limits: PlungeLimits,
    seen: Table,
    /// The way down to the state that is being expanded: who is on it, and by which steps.
    prints: Vec<u128>,
    steps: Vec<u16>,
    figures: PlungeFigures,
    broken: Option<Vec<u16>>,
    goal: Option<Vec<u16>>,
}

impl Diver {
    fn new(limits: PlungeLimits) -> Self {
        Self {
            limits,
            seen: Table::new(0, true),
            prints: Vec::new(),
            steps: Vec::new(),
            figures: PlungeFigures { generated: 1, ..PlungeFigures::default() },
            broken: None,
            goal: None,
        }
    }

    fn dive<S: Space>(
        &mut self,
        space: &S,
        worker: &mut S::Worker,
        first: Arrival<S>,
        progress: &mut dyn FnMut(&PlungeFigures) -> ControlFlow<()>,
    ) -> PlungeEnd {
        let mut stack = vec![Waiting { arrival: first, depth: 0 }];
        let mut out = Vec::new();
        while let Some(Waiting { arrival, depth }) = stack.pop() {
            self.come_up(depth);
            if !self.enter(&arrival, depth) {
                continue;
            }
            if self.limits.depth.is_some_and(|most| depth >= most) {
                self.figures.cut += 1;
                continue;
            }
            out.clear();
            let expansion = space.expand(worker, &arrival.state, &Awake::default(), &mut out);
            self.figures.expanded += 1;
            self.figures.generated += out.len() as u64;
            self.figures.ends += u64::from(expansion.enabled == 0);
            if let Some(broken) = out.iter().find(|one| one.verdict == Verdict::Broken) {
                self.broken = Some(self.way_with(broken.step));
                return PlungeEnd::Broken;
            }
            stack.extend(out.iter().rev().map(|one| Waiting { arrival: *one, depth: depth + 1 }));
            if self.limits.expanded.is_some_and(|most| self.figures.expanded >= most) {
                return PlungeEnd::Expanded;
            }
            self.figures.bytes_seen = self.seen.bytes();
            if self.figures.expanded.is_multiple_of(TOLD_EVERY)
                && progress(&self.figures).is_break()
            {
                return PlungeEnd::Asked;
            }
        }
        PlungeEnd::Complete
    }

    /// Goes back up until the way down has this many states.
    fn come_up(&mut self, depth: u32) {
        while self.prints.len() > depth as usize {
            let print = self.prints.pop().expect("there are more");
            self.steps.pop();
            let slot = self.seen.find(print).expect("who is on the way is not forgotten");
            let value = self.seen.value(slot);
            self.seen.set_value(slot, value & !ON_THE_WAY);
        }
    }

    /// Puts a state on the way down; or not, if there is nothing new behind it.
    fn enter<S: Space>(&mut self, arrival: &Arrival<S>, depth: u32) -> bool {
        let print = checked(arrival.print);
        match self.seen.find(print) {
            Some(slot) => {
                let before = self.seen.value(slot) & !ON_THE_WAY;
                if self.limits.depth.is_none() || before <= depth {
                    return false;
                }
                self.figures.again += 1;
                self.seen.set_value(slot, depth | ON_THE_WAY);
            }
            None => {
                if self.seen.len() >= self.limits.remembered.max(1) {
                    self.forget(print);
                }
                self.seen.put(print, depth | ON_THE_WAY);
                self.figures.distinct += 1;
                self.figures.depth = self.figures.depth.max(depth);
                if arrival.goal {
                    self.figures.goals += 1;
                    if self.goal.is_none() {
                        self.goal =
                            Some(if depth == 0 { vec![] } else { self.way_with(arrival.step) });
                    }
                }
            }
        }
        self.prints.push(print);
        self.steps.push(arrival.step);
        true
    }

    /// Forgets the deepest of the states that lie where `print` would: the least is behind it.
    /// If all states remembered are on the way down, one more is remembered instead.
    fn forget(&mut self, print: u128) {
        let candidates = self.seen.from(print).filter(|(_, value)| value & ON_THE_WAY == 0);
        let deepest = candidates.take(8).max_by_key(|(slot, depth)| (*depth, *slot));
        if let Some((slot, _)) = deepest {
            self.seen.remove(slot);
            self.figures.forgotten += 1;
        }
    }

    /// The way down, and one step more. The initial state was not reached by any step.
    fn way_with(&self, step: u16) -> Vec<u16> {
        self.steps.iter().skip(1).copied().chain([step]).collect()
    }
}
