//! Which faults came upon whom at what: a statement of what a campaign has exercised.
//!
//! A pair is a fault and the kind of the last thing that happened at the server it hits: a crash
//! right after PROPOSAL was heard is another pair than one right after a disk was done.

use std::collections::{BTreeMap, BTreeSet};

use zoolab_core::zab::MessageKind;
use zoolab_core::{ServerId, Timer};

use crate::drive::Onlooker;
use crate::figures;
use crate::step::{Instant, Step};

/// Everything that may happen at a server by itself, but for messages and timers.
const OTHERS: [&str; 7] = ["nothing yet", "ask", "closed", "dialled", "disk", "reload", "vote"];
const MESSAGES: u8 = OTHERS.len() as u8;
const TIMERS: u8 = MESSAGES + MessageKind::ALL.len() as u8;
const KINDS: u8 = TIMERS + Timer::ALL.len() as u8;

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    /// The kind of the last step at each server.
    last: BTreeMap<ServerId, u8>,
    hit: BTreeSet<(&'static str, u8)>,
}

/// The pairs by their names: to each fault, upon what it has come.
pub type Named = BTreeMap<String, BTreeSet<String>>;

impl Pairs {
    /// All that were seen.
    #[must_use]
    pub fn named(&self) -> Named {
        let mut named = Named::new();
        for (fault, kind) in &self.hit {
            named.entry((*fault).to_owned()).or_default().insert(name(*kind));
        }
        named
    }

    /// How many pairs there are to be seen. Not all of them are possible.
    #[must_use]
    pub const fn most() -> usize {
        KINDS as usize * figures::FAULTS.len()
    }
}

fn name(kind: u8) -> String {
    let place = usize::from(kind);
    match kind {
        0..MESSAGES => OTHERS[place].to_owned(),
        MESSAGES..TIMERS => MessageKind::ALL[place - usize::from(MESSAGES)].to_string(),
        _ => format!("timeout {:?}", Timer::ALL[place - usize::from(TIMERS)]),
    }
}

impl Onlooker for Pairs {
    #[expect(clippy::wildcard_enum_match_arm, reason = "all others are no part of a pair")]
    fn before(&mut self, _: u64, _: Instant, step: &Step) {
        let (server, kind) = match step {
            Step::Deliver { to, kind, .. } => (*to, MESSAGES + *kind as u8),
            Step::Timeout { server, timer } => (*server, TIMERS + *timer as u8),
            Step::Closed { at, .. } => (*at, 2),
            Step::Dialled { from, .. } => (*from, 3),
            Step::Disk { server, .. } => (*server, 4),
            Step::Reload { server } => (*server, 5),
            Step::Vote { to, .. } => (*to, 6),
            step => {
                if let Some(fault) = figures::fault(step) {
                    self.faults(fault, step);
                }
                return;
            }
        };
        self.last.insert(server, kind);
    }
}

impl Pairs {
    #[expect(clippy::wildcard_enum_match_arm, reason = "all others hit nobody that they name")]
    fn faults(&mut self, fault: &'static str, step: &Step) {
        let one = match step {
            Step::PowerLoss { servers, .. } => {
                return servers.iter().for_each(|it| self.hits(fault, *it));
            }
            Step::Cut { to, .. }
            | Step::Heal { to, .. }
            | Step::LoseVote { to, .. }
            | Step::RepeatVote { to, .. }
            | Step::SlowLink { to, .. } => *to,
            Step::Crash { server, .. }
            | Step::DiskFails { server, .. }
            | Step::Doom { server, .. }
            | Step::Drift { server, .. }
            | Step::Full { server, .. }
            | Step::Jump { server, .. }
            | Step::Pause { server }
            | Step::Restart { server }
            | Step::Resume { server }
            | Step::Rot { server, .. }
            | Step::SlowDisk { server, .. }
            | Step::Wipe { server } => *server,
            _ => return,
        };
        self.hits(fault, one);
    }

    fn hits(&mut self, fault: &'static str, server: ServerId) {
        let kind = self.last.get(&server).copied().unwrap_or(0);
        self.hit.insert((fault, kind));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_paired_with_what_its_server_was_at() {
        let mut pairs = Pairs::default();
        for line in [
            "restart 1",
            "disk 1 @1",
            "crash 1 luck=0",
            "deliver 1->2 PROPOSAL 1:1 #1",
            "power-loss 1 2 luck=0",
            "timeout 2 Silent",
            "cut 1->2",
        ] {
            pairs.before(0, Instant(0), &line.parse().unwrap());
        }
        let named = pairs.named().into_iter().map(|(fault, upon)| {
            format!("{fault}: {}", upon.into_iter().collect::<Vec<_>>().join(", "))
        });
        assert_eq!(
            named.collect::<Vec<_>>(),
            [
                "crash: disk",
                "cut: timeout Silent",
                "power-loss: PROPOSAL, disk",
                "restart: nothing yet",
            ]
        );
        let kinds = OTHERS.len() + MessageKind::ALL.len() + Timer::ALL.len();
        assert_eq!(Pairs::most(), kinds * figures::FAULTS.len());
    }
}
