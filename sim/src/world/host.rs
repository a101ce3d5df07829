//! One machine: a server's process, if it runs, its disk and its clocks.

use std::collections::BTreeSet;

use zoolab_core::storage::Rules;
use zoolab_core::{Millis, Server, ServerId, Timer, Token};

use super::clock::Clock;
use super::disk::{Grain, SimDisk};
use crate::step::Instant;

/// See the [module](self).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Host {
    /// The process; none if it is down.
    pub server: Option<Server>,
    /// Its disk.
    pub disk: SimDisk,
    /// Its clocks.
    pub clock: Clock,
    /// When each timer runs out, by the steady clock.
    pub timers: [Option<Millis>; Timer::ALL.len()],
    /// Whether it stands still.
    pub paused: bool,
    /// After how many outputs of its next step it dies.
    pub doom: Option<u8>,
    /// Whether it waits to read its disk.
    pub reload: bool,
    /// Whom it tries to reach.
    pub dials: BTreeSet<ServerId>,
    /// Whether a bit of its disk has flipped.
    pub rotten: bool,
    /// Why it did not start when it was last told to.
    pub refused: Option<String>,
    /// By how much its disk is slower than others.
    pub disk_slow_us: u32,
}

impl Host {
    /// A machine that has never run.
    #[must_use]
    pub fn new(grain: Grain, rules: Rules, skew_ms: i64) -> Self {
        Self {
            server: None,
            disk: SimDisk::new(grain, rules),
            clock: Clock::new(skew_ms),
            timers: [None; Timer::ALL.len()],
            paused: false,
            doom: None,
            reload: false,
            dials: BTreeSet::new(),
            rotten: false,
            refused: None,
            disk_slow_us: 0,
        }
    }

    /// Whether a process runs and does not stand still.
    #[must_use]
    pub const fn is_awake(&self) -> bool {
        self.server.is_some() && !self.paused
    }

    /// When a timer runs out.
    #[must_use]
    pub fn due(&self, timer: Timer) -> Option<Instant> {
        self.timers[timer as usize].map(|steady| self.clock.when(steady))
    }

    /// Names what the disk was asked for anew, as if nothing had been asked before.
    pub(super) fn rename_tokens(&mut self) {
        let old: Vec<Token> = self.disk.queue().map(|(token, _)| token).collect();
        let last = Token(old.len() as u64);
        let name = |token: Token| {
            let place = old.iter().position(|other| *other == token);
            Token(place.expect("what is waited for is asked for") as u64 + 1)
        };
        if let Some(server) = &mut self.server {
            server.rename_tokens(&name, last);
        }
        self.disk.rename_tokens();
    }
}
