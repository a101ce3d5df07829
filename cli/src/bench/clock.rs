//! The one place here that reads clocks.

use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_gettime};

/// Now, by the clock that only goes forward.
pub(crate) fn now() -> Instant {
    #[expect(clippy::disallowed_methods, reason = "measuring time is what a benchmark is for")]
    Instant::now()
}

/// How long this thread has been running, not counting when others ran in its place.
pub(crate) fn worked() -> Duration {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID);
    Duration::from(time.expect("the kernel counts the time of threads"))
}

/// How long something takes that never waits. What others do on the machine meanwhile is not
/// counted, though they may crowd the caches.
pub(crate) fn timed(work: impl FnOnce()) -> Duration {
    let start = worked();
    work();
    worked() - start
}

/// How long all threads of this process have been running, taken together.
pub(crate) fn worked_by_all() -> Duration {
    let time = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID);
    Duration::from(time.expect("the kernel counts the time of processes"))
}
