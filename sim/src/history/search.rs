//! Whether a register was linearizable, by trying out: for histories that have nothing but values.
//!
//! It is the search of Wing and Gong with Lowe's memory: operations are put in order one after
//! the other, each of them among those that had begun before any other was complete, and a state
//! that was reached with the same operations before is not tried again. Which operations those
//! were is kept as a sum of random numbers, one for each: 128 bits, where others keep a set.
//!
//! How long it takes grows with the number of operations that overlap, and doubles with each
//! write of unknown outcome when there is no order to be found. So it gives up in the end.

use hashbrown::HashSet;

use super::store::NEVER;
use crate::luck::Luck;

/// A value by number; nothing is 0.
pub type Value = u32;

/// What was done to a register.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Act {
    /// It was the first of these, and became the second.
    Cas(Value, Value),
    /// It was this.
    Read(Value),
    /// It became this.
    Write(Value),
}

/// One operation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Step {
    /// When it was asked.
    pub from: u64,
    /// When it was answered, or [`NEVER`].
    pub to: u64,
    /// What it did.
    pub act: Act,
}

/// What came of it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Found {
    /// There is an order.
    Order,
    /// There is none: this operation has no place after all that can be put before it.
    NoOrder(usize),
    /// It was given up.
    GaveUp,
}

impl Act {
    fn apply(self, state: Value) -> Option<Value> {
        match self {
            Self::Cas(from, to) => (state == from).then_some(to),
            Self::Read(value) => (state == value).then_some(state),
            Self::Write(value) => Some(value),
        }
    }
}

const END: usize = usize::MAX;

/// Calls and returns in the order of their moments; those that are put in order are taken out.
struct Entries {
    next: Vec<usize>,
    before: Vec<usize>,
}

impl Entries {
    fn lift(&mut self, at: usize) {
        let (before, next) = (self.before[at], self.next[at]);
        self.next[before] = next;
        if next != END {
            self.before[next] = before;
        }
    }

    fn put_back(&mut self, at: usize) {
        let (before, next) = (self.before[at], self.next[at]);
        self.next[before] = at;
        if next != END {
            self.before[next] = at;
        }
    }
}

/// Looks for an order of these, by time of asking, in at most so many steps.
#[must_use]
pub fn order(steps: &[Step], first: Value, budget: u64) -> Found {
    // Returns come after calls of the same moment: then they overlap.
    let mut moments: Vec<(u64, bool, usize)> = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        moments.push((step.from, false, at));
        if step.to != NEVER {
            moments.push((step.to, true, at));
        }
    }
    moments.sort_unstable();
    // Entry 0 is before all; the call and the return of a step are known by number.
    let (mut calls, mut returns) = (vec![END; steps.len()], vec![END; steps.len()]);
    for (place, (_, is_return, at)) in (1..).zip(&moments) {
        if *is_return {
            returns[*at] = place;
        } else {
            calls[*at] = place;
        }
    }
    let count = moments.len() + 1;
    let next = (1..=count).map(|at| if at < count { at } else { END }).collect();
    let before = (0..count).map(|at| at.saturating_sub(1)).collect();
    let mut entries = Entries { next, before };
    let mut luck = Luck::new(0x5EED);
    let marks: Vec<u128> =
        (0..steps.len()).map(|_| u128::from(luck.next()) << 64 | u128::from(luck.next())).collect();
    let mut left = steps.iter().filter(|step| step.to != NEVER).count();
    let (mut done, mut state) = (0_u128, first);
    let mut seen: HashSet<(u128, Value)> = HashSet::new();
    let mut stack: Vec<(usize, Value)> = Vec::new();
    let (mut deepest, mut blocked) = (0, 0);
    let mut at = entries.next[0];
    let mut tried = 0;
    while left > 0 {
        tried += 1;
        if tried > budget {
            return Found::GaveUp;
        }
        let (_, is_return, step) = moments[at - 1];
        if !is_return {
            let after = steps[step].act.apply(state);
            let fits = after.filter(|after| seen.insert((done ^ marks[step], *after)));
            if let Some(after) = fits {
                stack.push((step, state));
                done ^= marks[step];
                state = after;
                entries.lift(calls[step]);
                if returns[step] != END {
                    entries.lift(returns[step]);
                    left -= 1;
                }
                at = entries.next[0];
                continue;
            }
            // The return of something that is not in order yet is further on.
            at = entries.next[at];
            continue;
        }
        if stack.len() >= deepest {
            (deepest, blocked) = (stack.len(), step);
        }
        let Some((step, was)) = stack.pop() else { return Found::NoOrder(blocked) };
        done ^= marks[step];
        state = was;
        if returns[step] != END {
            entries.put_back(returns[step]);
            left += 1;
        }
        entries.put_back(calls[step]);
        at = entries.next[calls[step]];
    }
    Found::Order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tries every order of every subset that leaves out only what has no answer.
    fn exhaustive(steps: &[Step], first: Value) -> bool {
        fn go(steps: &[Step], used: &mut Vec<bool>, state: Value) -> bool {
            let open = |at: &usize| !used[*at] && steps[*at].to != NEVER;
            let ends = (0..steps.len()).filter(open).map(|at| steps[at].to).min();
            let Some(end) = ends else { return true };
            for at in 0..steps.len() {
                if !used[at]
                    && steps[at].from <= end
                    && let Some(after) = steps[at].act.apply(state)
                {
                    used[at] = true;
                    let found = go(steps, used, after);
                    used[at] = false;
                    if found {
                        return true;
                    }
                }
            }
            false
        }
        go(steps, &mut vec![false; steps.len()], first)
    }

    #[test]
    fn it_finds_what_trying_everything_finds() {
        let mut luck = Luck::new(7);
        let mut broken = 0;
        for _ in 0..4000 {
            let count = 2 + luck.below(6);
            let steps: Vec<Step> = (0..count)
                .map(|_| {
                    let from = luck.below(12) as u64;
                    let to = if luck.below(5) == 0 { NEVER } else { from + luck.below(6) as u64 };
                    let value = |luck: &mut Luck| luck.below(3) as Value;
                    let act = match luck.below(3) {
                        0 => Act::Read(value(&mut luck)),
                        1 => Act::Write(value(&mut luck)),
                        _ => Act::Cas(value(&mut luck), value(&mut luck)),
                    };
                    Step { from, to, act }
                })
                .collect();
            let due = exhaustive(&steps, 0);
            let found = order(&steps, 0, u64::MAX);
            assert_eq!(found == Found::Order, due, "{steps:?}");
            broken += usize::from(!due);
        }
        assert!((500..3500).contains(&broken), "{broken}");
    }

    #[test]
    fn it_gives_up() {
        let step = |value| Step { from: 0, to: 9, act: Act::Write(value) };
        let steps: Vec<Step> = (0..12).map(step).collect();
        let wrong = Step { from: 10, to: 11, act: Act::Read(99) };
        let steps = [steps, vec![wrong]].concat();
        assert_eq!(order(&steps, 0, 1000), Found::GaveUp);
        assert_eq!(order(&steps[11..], 0, 1000), Found::NoOrder(1));
    }
}
