//! Counts for people who watch a server: packets, bytes, latencies.

use std::sync::atomic::{AtomicU64, Ordering};

use zoolab_core::{Millis, Xid, Zxid};

/// How long answers took, in whole milliseconds as ZooKeeper counts them.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Latency {
    /// How many answers.
    pub(crate) count: u64,
    /// All of them together.
    pub(crate) sum: u64,
    /// The shortest; zero while there is none.
    pub(crate) min: u64,
    /// The longest.
    pub(crate) max: u64,
}

impl Latency {
    /// Counts `times` answers that took `ms` each.
    pub(crate) fn add(&mut self, ms: u64, times: u64) {
        if times == 0 {
            return;
        }
        self.min = if self.count == 0 { ms } else { self.min.min(ms) };
        self.max = self.max.max(ms);
        self.sum += ms * times;
        self.count += times;
    }

    /// The mean with four decimals, and at least one, as Java prints it.
    pub(crate) fn mean(&self) -> String {
        if self.count == 0 {
            return "0.0".to_owned();
        }
        let scaled =
            (u128::from(self.sum) * 10_000 + u128::from(self.count) / 2) / u128::from(self.count);
        let text = format!("{}.{:04}", scaled / 10_000, scaled % 10_000);
        let text = text.trim_end_matches('0');
        if text.ends_with('.') { format!("{text}0") } else { text.to_owned() }
    }
}

/// Counts of the whole server since its start, or since `srst`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    /// Frames and four-letter words.
    pub(crate) received: u64,
    /// Frames and answers to four-letter words.
    pub(crate) sent: u64,
    /// Answers to anything.
    pub(crate) latency: Latency,
    /// Answers to requests that change nothing.
    pub(crate) latency_reads: Latency,
    /// Answers to requests that would change something.
    pub(crate) latency_writes: Latency,
    /// Connections that asked for a session.
    pub(crate) connects: u64,
    /// Connections that ended without the server wanting it.
    pub(crate) drops: u64,
    /// Connections that were not let in.
    pub(crate) rejected: u64,
    /// Connections that never asked for a session.
    pub(crate) sessionless: u64,
    /// Sessions that nobody was heard from in time.
    pub(crate) sessions_expired: u64,
    /// Transactions applied.
    pub(crate) commits: u64,
}

/// Counts of one connection since it came, or since `crst`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts {
    /// Frames and four-letter words.
    pub(crate) received: u64,
    /// Frames.
    pub(crate) sent: u64,
    /// Answers.
    pub(crate) latency: Latency,
    /// The last answer, if there was one.
    pub(crate) last: Last,
}

/// A connection's last answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Last {
    /// What was asked, in ZooKeeper's four letters.
    pub(crate) op: &'static str,
    /// The last client's number that was not a special one.
    pub(crate) xid: Option<Xid>,
    /// The zxid it carried.
    pub(crate) zxid: Zxid,
    /// When, by the steady clock; zero if never.
    pub(crate) at: Millis,
    /// How long it took.
    pub(crate) latency_ms: u64,
}

impl Default for Counts {
    fn default() -> Self {
        let last = Last { op: "NA", xid: None, zxid: Zxid::NONE, at: Millis(0), latency_ms: 0 };
        Self { received: 0, sent: 0, latency: Latency::default(), last }
    }
}

/// Sizes of what went over the sockets. Counted without the host's lock, once per write or read.
#[derive(Debug)]
pub(crate) struct Sizes {
    received_bytes: AtomicU64,
    sent_bytes: AtomicU64,
    response_last: AtomicU64,
    response_min: AtomicU64,
    response_max: AtomicU64,
}

impl Sizes {
    /// Nothing yet.
    pub(crate) const fn new() -> Self {
        Self {
            received_bytes: AtomicU64::new(0),
            sent_bytes: AtomicU64::new(0),
            response_last: AtomicU64::new(0),
            response_min: AtomicU64::new(u64::MAX),
            response_max: AtomicU64::new(0),
        }
    }

    /// Bytes came in.
    pub(crate) fn received(&self, bytes: usize) {
        self.received_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Bytes went out, in frames of these sizes.
    pub(crate) fn sent(&self, bytes: usize, frames: Frames) {
        self.sent_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        if let Some(last) = frames.last {
            self.response_last.store(last as u64, Ordering::Relaxed);
            self.response_min.fetch_min(frames.min as u64, Ordering::Relaxed);
            self.response_max.fetch_max(frames.max as u64, Ordering::Relaxed);
        }
    }

    /// All bytes that came in.
    pub(crate) fn received_bytes(&self) -> u64 {
        self.received_bytes.load(Ordering::Relaxed)
    }

    /// All bytes that went out.
    pub(crate) fn sent_bytes(&self) -> u64 {
        self.sent_bytes.load(Ordering::Relaxed)
    }

    /// Last, smallest and largest frame sent.
    pub(crate) fn responses(&self) -> Option<(u64, u64, u64)> {
        let min = self.response_min.load(Ordering::Relaxed);
        let last = self.response_last.load(Ordering::Relaxed);
        (min != u64::MAX).then(|| (last, min, self.response_max.load(Ordering::Relaxed)))
    }

    /// Begins anew.
    pub(crate) fn reset(&self) {
        let Self { received_bytes, sent_bytes, response_last, response_min, response_max } = self;
        for counter in [received_bytes, sent_bytes, response_last, response_max] {
            counter.store(0, Ordering::Relaxed);
        }
        response_min.store(u64::MAX, Ordering::Relaxed);
    }
}

/// Sizes of the frames in one write.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Frames {
    last: Option<usize>,
    min: usize,
    max: usize,
}

impl Frames {
    /// One more frame.
    pub(crate) fn add(&mut self, bytes: usize) {
        self.min = if self.last.is_none() { bytes } else { self.min.min(bytes) };
        self.max = self.max.max(bytes);
        self.last = Some(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_reads_as_in_java() {
        for (answers, expected) in [
            (&[][..], "0.0"),
            (&[(0, 10)], "0.0"),
            (&[(3, 1)], "3.0"),
            (&[(1, 1), (2, 1)], "1.5"),
            (&[(1, 2), (0, 1)], "0.6667"),
            (&[(1, 1), (0, 9999)], "0.0001"),
        ] {
            let mut latency = Latency::default();
            for &(ms, times) in answers {
                latency.add(ms, times);
            }
            assert_eq!(latency.mean(), expected, "of {answers:?}");
        }
    }

    #[test]
    fn the_shortest_is_not_the_initial_zero() {
        let mut latency = Latency::default();
        latency.add(5, 2);
        latency.add(7, 1);
        assert_eq!((latency.min, latency.max, latency.count, latency.sum), (5, 7, 3, 17));
    }
}
