//! Complaints about clients, so many a second and no more.
//!
//! Strangers decide how often there is something to complain about. The log, and whoever reads
//! it, must not be theirs to fill.

use std::sync::{Mutex, PoisonError};

use zoolab_core::Millis;

const WINDOW_MS: i64 = 1000;
const LINES_PER_WINDOW: u32 = 10;

/// Decides which complaints are heard.
#[derive(Debug, Default)]
pub(crate) struct Complaints {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    window: Option<Millis>,
    lines: u32,
    swallowed: u64,
}

impl Complaints {
    /// Whether to say it; if so, how many were not heard since the last one that was.
    pub(crate) fn may_speak(&self, steady: Millis) -> Option<u64> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.window.is_none_or(|began| steady.0 - began.0 >= WINDOW_MS) {
            state.window = Some(steady);
            state.lines = 0;
        }
        if state.lines == LINES_PER_WINDOW {
            state.swallowed += 1;
            return None;
        }
        state.lines += 1;
        Some(std::mem::take(&mut state.swallowed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_heard_is_counted() {
        let complaints = Complaints::default();
        let heard = |at| complaints.may_speak(Millis(at));
        for _ in 0..LINES_PER_WINDOW {
            assert_eq!(heard(5000), Some(0));
        }
        for _ in 0..7 {
            assert_eq!(heard(5999), None);
        }
        assert_eq!(heard(6000), Some(7));
        assert_eq!(heard(6000), Some(0));
    }
}
