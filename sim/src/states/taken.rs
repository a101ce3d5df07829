//! What comes of a step: which members of the world are others afterwards, and what was seen.
//!
//! The same server in the same surroundings does the same: what one step does is worked out once,
//! by the world itself, and remembered.

use zoolab_core::zab::MessageKind;
use zoolab_core::{Branch, Note};

use crate::seen::Seen;
use crate::step::Step;
use crate::world::Price;

/// One step, and what comes of it.
#[derive(Clone, Debug)]
pub(super) struct Taken {
    /// Its name within the state.
    pub(super) code: u16,
    /// What it costs.
    pub(super) price: Option<Price>,
    /// Which places hold something else now.
    pub(super) changes: Vec<(u8, u32)>,
    /// What was seen, by number; none if nothing was.
    pub(super) seen: Option<u32>,
    /// Whether its being judged depends on servers that it does not touch.
    pub(super) far: bool,
    /// Places worth reaching that it reached.
    pub(super) reached: u32,
    /// Of which kind it is; see [`KINDS`].
    pub(super) kind: u8,
    /// Our own code gave up on the way.
    pub(super) panics: bool,
}

/// Kinds of steps, for figures.
pub(super) const KINDS: [&str; 20] = [
    "deliver",
    "closed",
    "dialled",
    "vote",
    "disk",
    "reload",
    "timeout",
    "restart",
    "write",
    "crash",
    "power-loss",
    "break",
    "elect",
    "join",
    "free",
    "dial",
    "ask",
    "answer",
    "call",
    "other",
];

/// Of which kind a step is.
pub(super) const fn kind(step: &Step) -> u8 {
    match step {
        Step::Deliver { .. } => 0,
        Step::Closed { .. } => 1,
        Step::Dialled { .. } => 2,
        Step::Vote { .. } => 3,
        Step::Disk { .. } => 4,
        Step::Reload { .. } => 5,
        Step::Timeout { .. } => 6,
        Step::Restart { .. } => 7,
        Step::Write { .. } | Step::Change { .. } => 8,
        Step::Crash { .. } => 9,
        Step::PowerLoss { .. } => 10,
        Step::Break { .. } => 11,
        Step::Elect { .. } => 12,
        Step::Join { .. } => 13,
        Step::Free(_) => 14,
        Step::Dial { .. } => 15,
        Step::Ask { .. } => 16,
        Step::Answer { .. } => 17,
        Step::Call { .. } => 18,
        Step::Cut { .. }
        | Step::DiskFails { .. }
        | Step::Doom { .. }
        | Step::Drift { .. }
        | Step::Full { .. }
        | Step::HangUp { .. }
        | Step::Heal { .. }
        | Step::Jump { .. }
        | Step::LoseVote { .. }
        | Step::Pause { .. }
        | Step::RepeatVote { .. }
        | Step::Resume { .. }
        | Step::Rot { .. }
        | Step::SlowDisk { .. }
        | Step::SlowLink { .. }
        | Step::Begin { .. }
        | Step::BreakConn { .. }
        | Step::CutClient { .. }
        | Step::Down { .. }
        | Step::Freeze { .. }
        | Step::GiveUp { .. }
        | Step::HealClient { .. }
        | Step::Kill { .. }
        | Step::Probe { .. }
        | Step::Reach { .. }
        | Step::Servers { .. }
        | Step::SlowClient { .. }
        | Step::Thaw { .. }
        | Step::Up { .. }
        | Step::Wake { .. }
        | Step::Want { .. }
        | Step::Wipe { .. } => 19,
    }
}

/// Whether the promises about this look at, or note, what is known of other servers.
pub(super) fn looks_far(event: &Seen) -> bool {
    match event {
        Seen::Installed { .. }
        | Seen::Rotten { .. }
        | Seen::Truncated { .. }
        | Seen::Wiped { .. } => true,
        Seen::Note { note, .. } => match note {
            Note::Committed(_)
            | Note::Discovered { .. }
            | Note::Established(_)
            | Note::Joined(_)
            | Note::Proposed(_) => true,
            Note::Applied { .. }
            | Note::CaughtUp { .. }
            | Note::Elected { .. }
            | Note::Left(_)
            | Note::Looking { .. }
            | Note::Reached(_)
            | Note::Serving(_) => false,
        },
        Seen::Sent { message, .. } => {
            matches!(message.kind, MessageKind::Snap | MessageKind::Trunc)
        }
        Seen::Appended { .. }
        | Seen::Client { .. }
        | Seen::Crashed { .. }
        | Seen::Delivered { .. }
        | Seen::EpochWritten { .. }
        | Seen::Halted { .. }
        | Seen::MembersWritten { .. }
        | Seen::Refused { .. }
        | Seen::Reloaded { .. }
        | Seen::Snapshotted { .. }
        | Seen::Started { .. }
        | Seen::Synced { .. } => false,
    }
}

/// Places worth reaching, by bit.
pub(super) const REACHED: [(Branch, &str); 13] = [
    (Branch::AcksTakenBack, "acks taken back"),
    (Branch::Diff, "DIFF"),
    (Branch::DiffEmpty, "DIFF, empty"),
    (Branch::EpochRaised, "epoch raised"),
    (Branch::EpochUncounted, "promise not counted"),
    (Branch::LateJoiner, "late joiner"),
    (Branch::LinkReplaced, "earlier connection replaced"),
    (Branch::OutstandingSent, "outstanding proposal sent"),
    (Branch::Rollover, "rollover"),
    (Branch::Snap, "SNAP"),
    (Branch::Trunc, "TRUNC"),
    (Branch::TruncDiff, "TRUNC+DIFF"),
    (Branch::TruncRefused, "TRUNC refused"),
];

/// Further such places: an epoch has begun, a transaction is committed.
pub(super) const ESTABLISHED: u32 = 1 << 30;
pub(super) const COMMITTED: u32 = 1 << 31;

/// What was reached, as bits.
pub(super) fn reached(seen: &[Seen]) -> u32 {
    seen.iter().fold(0, |all, event| {
        let Seen::Note { note, .. } = event else {
            let raised = |note: &zoolab_core::storage::Note| {
                matches!(note, zoolab_core::storage::Note::EpochRaised { .. })
            };
            let started = matches!(event, Seen::Started { notes, .. } if notes.iter().any(raised));
            return all | u32::from(started) << 3;
        };
        all | match note {
            Note::Reached(branch) => {
                let place = REACHED.iter().position(|(other, _)| other == branch);
                place.map_or(0, |place| 1 << place)
            }
            Note::Established(_) => ESTABLISHED,
            Note::Committed(_) => COMMITTED,
            Note::Applied { .. }
            | Note::CaughtUp { .. }
            | Note::Discovered { .. }
            | Note::Elected { .. }
            | Note::Joined(_)
            | Note::Left(_)
            | Note::Looking { .. }
            | Note::Proposed(_)
            | Note::Serving(_) => 0,
        }
    })
}
