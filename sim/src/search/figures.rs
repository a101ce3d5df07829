//! What a search has seen, in numbers.

use std::fmt;

/// What a search has seen, in numbers; the same at any number of threads.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Figures {
    /// States seen, each counted once.
    pub distinct: u64,
    /// Steps taken, and one for the beginning.
    pub generated: u64,
    /// States whose steps were taken.
    pub expanded: u64,
    /// Steps that could have been taken; more than were where sleep sets spared some.
    pub enabled: u64,
    /// States where nothing can happen any more.
    pub ends: u64,
    /// States that are goals.
    pub goals: u64,
    /// Steps that broke a promise; where they lead is not counted as a state.
    pub broken: u64,
    /// How many states have which distance from the beginning.
    pub layers: Vec<u64>,
    /// Bytes of the visited set: fingerprints, parents, steps.
    pub bytes_seen: u64,
    /// Bytes of everything, frontier and buffers included.
    pub bytes: u64,
    /// The most it ever was, except for what is held while a part of the table is copied.
    pub bytes_peak: u64,
}

impl Figures {
    /// Steps that led to a state seen before.
    #[must_use]
    pub const fn revisits(&self) -> u64 {
        self.generated - self.broken - self.distinct
    }

    /// The greatest distance from the beginning.
    #[must_use]
    pub const fn depth(&self) -> usize {
        self.layers.len().saturating_sub(1)
    }

    /// Hundredths of steps that can happen in a state, on average.
    #[must_use]
    pub fn branching_hundredths(&self) -> u64 {
        (self.enabled * 100).checked_div(self.expanded).unwrap_or(0)
    }

    /// Distinct states per second, of time that the caller has measured.
    #[must_use]
    pub fn rate(&self, micros: u64) -> u64 {
        let rate = u128::from(self.distinct) * 1_000_000 / u128::from(micros.max(1));
        u64::try_from(rate).unwrap_or(u64::MAX)
    }

    /// Bytes that stay for each state.
    #[must_use]
    pub fn bytes_per_state(&self) -> u64 {
        self.bytes_seen.div_ceil(self.distinct.max(1))
    }

    /// How improbable it is that two states had the same fingerprint, and one was missed.
    #[must_use]
    pub const fn odds(&self) -> Odds {
        Odds { states: self.distinct }
    }
}

/// The chance that any two of so many states share their 128 bits: n^2 / 2^129.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Odds {
    states: u64,
}

impl Odds {
    /// The largest n for which it is still as improbable as one in ten to the n.
    #[must_use]
    pub fn power(self) -> u32 {
        let squared = u128::from(self.states.max(1)).pow(2);
        // 2^129 as four times 2^127, so that nothing overflows.
        let quarter = (1_u128 << 127) / squared;
        quarter.checked_mul(4).map_or(38, u128::ilog10)
    }
}

impl fmt::Display for Odds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1 in 10^{}", self.power())
    }
}

/// How far a search is, after a round.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// What was seen so far; the last of its layers is not complete.
    pub figures: &'a Figures,
    /// The distance of the states that are being expanded.
    pub layer: usize,
    /// How many states have this distance.
    pub layer_states: u64,
    /// How many of them have been expanded.
    pub layer_expanded: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_odds_are_those_of_birthdays() {
        assert_eq!(Odds { states: 1 }.to_string(), "1 in 10^38");
        // 2^129 is 6.8e38.
        assert_eq!(Odds { states: 1_000_000 }.to_string(), "1 in 10^26");
        assert_eq!(Odds { states: 100_000_000 }.to_string(), "1 in 10^22");
    }

    #[test]
    fn averages_of_nothing_are_nought() {
        let none = Figures::default();
        assert_eq!((none.branching_hundredths(), none.rate(0), none.bytes_per_state()), (0, 0, 0));
    }
}
