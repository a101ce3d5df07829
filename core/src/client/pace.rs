//! How long a client waits for what, and which of its timers are running.
//!
//! All of it follows from the session's timeout, in whole milliseconds:
//!
//! ```text
//!   |<------------- session timeout ------------->|
//!   |<--- silence: 2/3 ----------->|                       the connection is given up
//!   |<- ping: 1/3 - 1 s ->|        |                       while nothing is sent
//!   |<- an attempt to connect: 1/hosts ->|                 once for TCP, once for the handshake
//!   |<--- nothing heard while not connected: 4/3 ------------------->|   the session is over
//! ```

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::io::{Output, Timer};
use crate::ids::Millis;

/// A quiet client says something at least this often.
const PING_AT_LEAST_MS: u32 = 10_000;
/// By how much a ping is early, so that there is time for a second one.
const PING_EARLY_MS: u32 = 1000;

/// For how long a server may be silent.
pub(super) const fn silence_ms(timeout_ms: u32) -> u32 {
    (timeout_ms as u64 * 2 / 3) as u32
}

/// For how long nothing may be heard of a session before the client itself takes it for expired.
/// The server has long done so then.
pub(super) const fn expiry_ms(timeout_ms: u32) -> u32 {
    (timeout_ms as u64 * 4 / 3) as u32
}

/// How long an attempt to connect may take, and the handshake after it as well.
pub(super) fn attempt_ms(timeout_ms: u32, hosts: usize) -> u32 {
    let hosts = u32::try_from(hosts).unwrap_or(u32::MAX);
    (timeout_ms / hosts).max(1)
}

/// After how long without sending anything a ping is due.
///
/// That is the first moment at which half the silence has passed, or a second less than half if
/// the client has been quiet for more than a second; in any case once it has been quiet for more
/// than ten. The Java client asks itself only when something wakes it, and so may be up to a
/// second later.
pub(super) fn ping_ms(silence_ms: u32) -> u32 {
    let half = silence_ms / 2;
    if half <= PING_EARLY_MS {
        return half.max(1);
    }
    (half - PING_EARLY_MS).clamp(PING_EARLY_MS + 1, PING_AT_LEAST_MS + 1)
}

/// Milliseconds between two moments of the steady clock.
pub(super) fn between(from: Millis, to: Millis) -> u32 {
    u32::try_from(to.0.saturating_sub(from.0).max(0)).unwrap_or(u32::MAX)
}

/// The running timers, and when something was last said and heard.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(super) struct Pace {
    running: BTreeSet<Timer>,
    /// When a server was last heard, or at least reached.
    pub(super) heard: Millis,
    /// When something was last sent.
    pub(super) sent: Millis,
    /// When the [request timer](Timer::Request) runs out, while it runs.
    request_due: Option<Millis>,
}

impl Pace {
    pub(super) fn is_running(&self, timer: Timer) -> bool {
        self.running.contains(&timer)
    }

    /// Starts a timer afresh.
    pub(super) fn wake(&mut self, timer: Timer, ms: u32, out: &mut Vec<Output>) {
        self.wake_within(timer, ms, 0, out);
    }

    /// Starts a timer afresh that may run out up to `spread_ms` later, as chance has it.
    pub(super) fn wake_within(
        &mut self,
        timer: Timer,
        ms: u32,
        spread_ms: u32,
        out: &mut Vec<Output>,
    ) {
        self.running.insert(timer);
        out.push(Output::Wake { timer, ms, spread_ms });
    }

    /// Stops a timer if it runs.
    pub(super) fn disarm(&mut self, timer: Timer, out: &mut Vec<Output>) {
        if self.running.remove(&timer) {
            out.push(Output::Disarm { timer });
        }
    }

    /// Whether a timer that is said to have run out was running at all; then it runs no more.
    pub(super) fn ran_out(&mut self, timer: Timer) -> bool {
        if timer == Timer::Request {
            self.request_due = None;
        }
        self.running.remove(&timer)
    }

    /// Sees to it that the request timer runs out at this moment, or not at all.
    pub(super) fn request_until(
        &mut self,
        now: Millis,
        due: Option<Millis>,
        out: &mut Vec<Output>,
    ) {
        if due == self.request_due {
            return;
        }
        self.request_due = due;
        match due {
            Some(due) => self.wake(Timer::Request, between(now, due), out),
            None => self.disarm(Timer::Request, out),
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.running.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ZooKeeper's own question, to be asked in every millisecond.
    fn ping_is_due(silence_ms: u32, idle_ms: u32) -> bool {
        let (half, idle) = (i64::from(silence_ms / 2), i64::from(idle_ms));
        half - idle - if idle > 1000 { 1000 } else { 0 } <= 0 || idle > 10_000
    }

    #[test]
    fn a_ping_is_sent_in_the_first_millisecond_in_which_it_is_due() {
        for timeout_ms in [3, 10, 1500, 2999, 3000, 3003, 4000, 6000, 6003, 30_000, 33_006, 60_000]
        {
            let silence = silence_ms(timeout_ms);
            let first = (0..).find(|idle| ping_is_due(silence, *idle)).unwrap();
            assert_eq!(ping_ms(silence), first, "session timeout {timeout_ms}");
        }
    }

    #[test]
    fn the_usual_timeouts_give_the_usual_times() {
        // Session timeout, silence, ping, attempt with three hosts, expiry.
        for (timeout, silence, ping, attempt, expiry) in [
            (3000, 2000, 1000, 1000, 4000),
            (4000, 2666, 1001, 1333, 5333),
            (10_000, 6666, 2333, 3333, 13_333),
            (30_000, 20_000, 9000, 10_000, 40_000),
            (40_000, 26_666, 10_001, 13_333, 53_333),
            (i32::MAX.cast_unsigned(), 1_431_655_764, 10_001, 715_827_882, 2_863_311_529),
        ] {
            let found = (silence_ms(timeout), ping_ms(silence), attempt_ms(timeout, 3));
            assert_eq!(found, (silence, ping, attempt), "{timeout}");
            assert_eq!(expiry_ms(timeout), expiry, "{timeout}");
        }
    }
}
