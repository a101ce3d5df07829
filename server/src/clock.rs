//! The clocks of the machine. Nothing else in this crate reads one.

use tokio::time::{Duration, Instant};
use zoolab_core::{Millis, Now};

/// Two clocks: one that its owner may set, and one that only goes on.
///
/// The steady one begins at the wall clock's time of the start. Session ids begin there too, so
/// a server that is started again does not give out ids that clients of the last run still hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    began: Instant,
    wall_at_start: Millis,
}

impl Clock {
    /// Clocks of a server that starts now.
    #[allow(clippy::disallowed_methods, reason = "in madsim tokio's Instant is std's, simulated")]
    pub(crate) fn start() -> Self {
        Self { began: Instant::now(), wall_at_start: wall() }
    }

    /// Both clocks.
    pub(crate) fn now(&self) -> Now {
        Now { wall: wall(), steady: self.steady() }
    }

    /// The steady clock alone.
    pub(crate) fn steady(&self) -> Millis {
        let elapsed = self.began.elapsed().as_millis();
        let elapsed = i64::try_from(elapsed).expect("no server runs for 292 million years");
        Millis(self.wall_at_start.0 + elapsed)
    }

    /// For how long this server has been running, in milliseconds.
    pub(crate) fn uptime_ms(&self) -> i64 {
        self.steady().0 - self.wall_at_start.0
    }

    /// When the steady clock will show `steady`; in the past, the time of the start at the latest.
    pub(crate) fn instant(&self, steady: Millis) -> Instant {
        let ahead = u64::try_from(steady.0 - self.wall_at_start.0).unwrap_or(0);
        self.began + Duration::from_millis(ahead)
    }
}

#[allow(clippy::disallowed_methods, reason = "this is the one place that reads the wall clock")]
fn wall() -> Millis {
    // A clock before 1970 is wrong anyway; zero is as good as any other wrong time.
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    Millis(since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX)))
}
