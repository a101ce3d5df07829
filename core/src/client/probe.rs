//! Looking for a server that can write, while connected to one that only reads.
//!
//! One server after the other is asked on a connection of its own, with pauses from a tenth of a
//! second to a minute, each twice as long as the one before.

use super::address::Address;
use super::hosts::Hosts;
use super::io::ProbeId;
use super::pace::between;
use crate::ids::Millis;

const PAUSE_LEAST_MS: u32 = 100;
const PAUSE_MOST_MS: u32 = 60_000;

/// See the [module](self).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Probe {
    pause_ms: u32,
    /// When a server was last asked, or when the client began.
    last: Millis,
    /// Which question is open, or was last.
    id: ProbeId,
    asked: Option<Address>,
    /// A server that can write, to connect to next.
    pub(super) found: Option<Address>,
}

impl Probe {
    pub(super) const fn new(now: Millis) -> Self {
        Self { pause_ms: PAUSE_LEAST_MS, last: now, id: ProbeId(0), asked: None, found: None }
    }

    /// How long to wait before the next question.
    pub(super) fn due_ms(&self, now: Millis) -> u32 {
        self.pause_ms.saturating_sub(between(self.last, now))
    }

    /// Asks the next server.
    pub(super) fn ask(&mut self, now: Millis, hosts: &mut Hosts) -> (ProbeId, Address) {
        let host = hosts.pick();
        self.last = now;
        self.pause_ms = (self.pause_ms * 2).min(PAUSE_MOST_MS);
        self.id.0 += 1;
        self.asked = Some(host.clone());
        (self.id, host)
    }

    /// Takes an answer; true if it is news of a server to go to.
    pub(super) fn answered(&mut self, id: ProbeId, writable: bool) -> bool {
        if id != self.id {
            return false;
        }
        let asked = self.asked.take();
        if !writable || asked.is_none() {
            return false;
        }
        self.found = asked;
        self.pause_ms = PAUSE_LEAST_MS;
        true
    }

    /// Nothing is asked any more.
    pub(super) fn stop(&mut self) {
        self.asked = None;
    }
}
