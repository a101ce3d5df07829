//! Chance from outside: numbers drawn by whoever runs the client, used up one by one.
//!
//! A draw `d` stands for the number `d / 2^64` in `[0, 1)`, and probabilities are ratios of
//! integers, so that the same draws decide the same on every machine.

use alloc::collections::VecDeque;

/// Draws, each uniform over all 64 bits.
///
/// What was not given counts as the greatest draw. It moves nothing that need not be moved:
/// without any chance a list stays in its order, and a client stays with its server if it may.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Chance {
    draws: VecDeque<u64>,
}

impl Chance {
    /// No draws at all.
    #[must_use]
    pub const fn none() -> Self {
        Self { draws: VecDeque::new() }
    }

    fn draw(&mut self) -> u128 {
        u128::from(self.draws.pop_front().unwrap_or(u64::MAX))
    }

    /// A place in `0..count`, all equally likely. The count is not zero.
    pub(super) fn below(&mut self, count: usize) -> usize {
        assert!(count > 0, "a choice among nothing");
        let place = (self.draw() * count as u128) >> 64;
        usize::try_from(place).expect("below a count of this size")
    }

    /// Whether something happens whose probability is this. Strictly: what has none never does.
    pub(super) fn happens(&mut self, odds: Odds) -> bool {
        let Odds { parts, of } = odds;
        self.draw() * u128::from(of) < u128::from(parts) << 64
    }

    /// Puts a list in an order, all equally likely; takes one draw less than there are elements.
    pub(super) fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.below(last + 1));
        }
    }
}

impl FromIterator<u64> for Chance {
    fn from_iter<I: IntoIterator<Item = u64>>(draws: I) -> Self {
        Self { draws: draws.into_iter().collect() }
    }
}

/// A probability: so many parts of so many.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) struct Odds {
    parts: u64,
    of: u64,
}

impl Odds {
    /// It happens.
    pub(super) const CERTAIN: Self = Self { parts: 1, of: 1 };
    /// It does not happen.
    pub(super) const NEVER: Self = Self { parts: 0, of: 1 };

    /// `parts` of `of`, which is not zero and not less.
    pub(super) fn new(parts: usize, of: usize) -> Self {
        assert!(of > 0 && parts <= of, "{parts} parts of {of}");
        Self { parts: parts as u64, of: of as u64 }
    }

    /// Of the opposite.
    pub(super) const fn not(self) -> Self {
        Self { parts: self.of - self.parts, of: self.of }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    /// The `part`-th of `of` equal parts of all draws, its first or last.
    const fn edge(part: u128, of: u128) -> u64 {
        ((part << 64).div_ceil(of)) as u64
    }

    #[test]
    fn what_has_a_third_happens_up_to_the_very_draw() {
        let third = Odds::new(1, 3);
        for (draw, expected) in
            [(0, true), (edge(1, 3) - 1, true), (edge(1, 3), false), (u64::MAX, false)]
        {
            assert_eq!(Chance::from_iter([draw]).happens(third), expected, "{draw}");
        }
    }

    #[test]
    fn certain_and_never_do_not_depend_on_the_draw() {
        for draw in [0, 1, u64::MAX / 2, u64::MAX] {
            assert!(Chance::from_iter([draw]).happens(Odds::CERTAIN));
            assert!(!Chance::from_iter([draw]).happens(Odds::NEVER));
            assert!(Chance::from_iter([draw]).happens(Odds::NEVER.not()));
        }
    }

    #[test]
    fn each_place_has_an_equal_part_of_the_draws() {
        for (draw, place) in
            [(0, 0), (edge(1, 5) - 1, 0), (edge(1, 5), 1), (edge(4, 5), 4), (u64::MAX, 4)]
        {
            assert_eq!(Chance::from_iter([draw]).below(5), place, "{draw}");
        }
    }

    #[test]
    fn without_chance_a_list_stays_as_it_is() {
        let mut list = [1, 2, 3, 4];
        Chance::none().shuffle(&mut list);
        assert_eq!(list, [1, 2, 3, 4]);
        Chance::from_iter([0, 0, 0]).shuffle(&mut list);
        assert_eq!(list, [2, 3, 4, 1]);
    }

    #[test]
    fn every_order_comes_from_some_draws() {
        let mut orders = alloc::collections::BTreeSet::new();
        for first in 0..3 {
            for second in 0..2 {
                let mut list = [1, 2, 3];
                Chance::from_iter([edge(first, 3), edge(second, 2)]).shuffle(&mut list);
                orders.insert(Vec::from(list));
            }
        }
        assert_eq!(orders.len(), 6);
    }
}
