//! What the core waits for, as points on the steady clock.

use std::collections::BTreeMap;

use zoolab_core::{Millis, Ticks, Timer};

/// Armed timers. Each runs out at the beginning of a tick.
#[derive(Clone, Debug)]
pub(crate) struct Timers {
    tick_ms: i64,
    due: BTreeMap<Timer, Millis>,
}

impl Timers {
    /// None armed.
    pub(crate) fn new(tick_ms: u32) -> Self {
        assert!(tick_ms > 0, "settings were checked");
        Self { tick_ms: i64::from(tick_ms), due: BTreeMap::new() }
    }

    /// Starts `timer` afresh, to run out `ticks` tick boundaries from now.
    pub(crate) fn arm(&mut self, steady: Millis, timer: Timer, ticks: Ticks) {
        let tick = steady.0.div_euclid(self.tick_ms) + i64::from(ticks.0);
        self.due.insert(timer, Millis(tick * self.tick_ms));
    }

    /// When the next one runs out.
    pub(crate) fn next(&self) -> Option<Millis> {
        self.due.values().min().copied()
    }

    /// Takes the timer that ran out first, if one has.
    pub(crate) fn take_due(&mut self, steady: Millis) -> Option<Timer> {
        let (&timer, &due) = self.due.iter().min_by_key(|&(_, due)| due)?;
        if due > steady {
            return None;
        }
        self.due.remove(&timer);
        Some(timer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_runs_out_on_a_tick_boundary() {
        let mut timers = Timers::new(2000);
        timers.arm(Millis(10_500), Timer::Sessions, Ticks(1));
        assert_eq!(timers.next(), Some(Millis(12_000)));
        assert_eq!(timers.take_due(Millis(11_999)), None);
        assert_eq!(timers.take_due(Millis(12_000)), Some(Timer::Sessions));
        assert_eq!(timers.take_due(Millis(99_000)), None);
    }

    #[test]
    fn arming_replaces_and_the_earliest_goes_first() {
        let mut timers = Timers::new(1000);
        timers.arm(Millis(0), Timer::Sessions, Ticks(1));
        timers.arm(Millis(0), Timer::Sessions, Ticks(5));
        timers.arm(Millis(0), Timer::Containers, Ticks(3));
        assert_eq!(timers.take_due(Millis(9000)), Some(Timer::Containers));
        assert_eq!(timers.take_due(Millis(9000)), Some(Timer::Sessions));
        assert_eq!(timers.next(), None);
    }
}
