//! A server's two clocks, which run as fast as they like.

use zoolab_core::{Millis, Now};

use crate::step::Instant;

const MILLION: i64 = 1_000_000;
/// What a steady clock shows when a world begins.
const STEADY_US: i64 = 1_000_000_000;
/// What a right wall clock shows when a world begins.
const WALL_MS: i64 = 1_700_000_000_000;

/// See the [module](self).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Clock {
    /// Since when it has run at this rate.
    since: Instant,
    /// What the steady clock showed then, in microseconds.
    steady_us: i64,
    /// By how much it is too fast, in parts of a million.
    ppm: i32,
    /// What the wall clock shows beyond the steady one.
    wall_ms: i64,
}

impl Clock {
    /// A clock that is off by so much.
    #[must_use]
    pub const fn new(skew_ms: i64) -> Self {
        let wall_ms = (WALL_MS - STEADY_US / 1000).saturating_add(skew_ms);
        Self { since: Instant(0), steady_us: STEADY_US, ppm: 0, wall_ms }
    }

    fn steady_us(&self, at: Instant) -> i64 {
        let passed = at.0.saturating_sub(self.since.0).cast_signed();
        if self.ppm == 0 {
            return self.steady_us + passed;
        }
        let gained = i128::from(passed) * i128::from(self.ppm) / i128::from(MILLION);
        self.steady_us + passed + i64::try_from(gained).unwrap_or(0)
    }

    /// What it shows.
    #[must_use]
    pub fn now(&self, at: Instant) -> Now {
        let steady = self.steady_us(at).div_euclid(1000);
        Now { wall: Millis(steady.saturating_add(self.wall_ms)), steady: Millis(steady) }
    }

    /// The first moment at which the steady clock shows this.
    #[must_use]
    pub fn when(&self, steady: Millis) -> Instant {
        let (wanted, rate) = (steady.0 * 1000, i128::from(MILLION + i64::from(self.ppm)));
        let passes = i128::from((wanted - self.steady_us).max(0)) * i128::from(MILLION) / rate;
        let mut at = Instant(self.since.0 + u64::try_from(passes).unwrap_or(u64::MAX / 4));
        // Integers are rounded: the first moment that is late enough is next to this one.
        while self.steady_us(at) < wanted {
            at.0 += 1;
        }
        while at > self.since && self.steady_us(Instant(at.0 - 1)) >= wanted {
            at.0 -= 1;
        }
        at
    }

    /// Runs at another rate from now on.
    pub fn drift(&mut self, at: Instant, ppm: i32) {
        self.steady_us = self.steady_us(at);
        self.since = at;
        self.ppm = ppm;
    }

    /// Whether it runs too fast or too slow.
    #[must_use]
    pub const fn is_off(&self) -> bool {
        self.ppm != 0
    }

    /// A moment passes, in a world where time stands still.
    pub const fn pass(&mut self) {
        self.steady_us += 1000;
    }

    /// Somebody sets the wall clock.
    pub const fn jump(&mut self, ms: i64) {
        self.wall_ms = self.wall_ms.saturating_add(ms);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fast_clock_is_ahead_and_never_goes_back() {
        let mut clock = Clock::new(5);
        let second = Instant(1_000_000);
        assert_eq!(clock.now(second).steady, Millis(1_001_000));
        assert_eq!(clock.now(second).wall, Millis(WALL_MS + 1005));
        clock.drift(second, 10_000);
        let later = Instant(101_000_000);
        assert_eq!(clock.now(later).steady, Millis(1_001_000 + 101_000));
        clock.drift(later, -10_000);
        assert_eq!(clock.now(later).steady, Millis(1_001_000 + 101_000));
        clock.jump(-1_000_000);
        assert_eq!(clock.now(later).steady, Millis(1_001_000 + 101_000));
    }

    #[test]
    fn a_timer_is_due_when_the_clock_says_so() {
        for ppm in [-50_000, -7, 0, 3, 200_000] {
            let mut clock = Clock::new(0);
            clock.drift(Instant(123_457), ppm);
            for ms in [1_000_130, 1_000_777, 2_000_001] {
                let at = clock.when(Millis(ms));
                assert!(clock.now(at).steady >= Millis(ms), "{ppm} {ms}");
                assert!(clock.now(Instant(at.0 - 1)).steady < Millis(ms), "{ppm} {ms}");
            }
        }
    }
}
