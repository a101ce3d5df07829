//! What happened in a run, counted.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use zoolab_core::storage;
use zoolab_core::{Branch, Note};

use crate::checker::{Promise, Violation};
use crate::seen::Seen;
use crate::step::{Instant, Step};

/// See the [module](self).
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Figures {
    /// How many runs these are of.
    pub runs: u64,
    /// Steps taken.
    pub steps: u64,
    /// Virtual time, in microseconds.
    pub time_us: u64,
    /// Rounds of elections that ended.
    pub elections: u64,
    /// Epochs that began.
    pub epochs: u64,
    /// Transactions that were committed.
    pub commits: u64,
    /// Messages between servers that arrived.
    pub messages: u64,
    /// Frames of clients that arrived at servers, and of servers at clients.
    pub frames: u64,
    /// Processes that died.
    pub crashes: u64,
    /// Machines that lost power.
    pub power_losses: u64,
    /// How often each place worth reaching was reached.
    pub reached: BTreeMap<Cow<'static, str>, u64>,
    /// How often each kind of fault happened.
    pub faults: BTreeMap<Cow<'static, str>, u64>,
    /// How often each promise was broken that nobody watches.
    #[serde(with = "named")]
    pub overlooked: BTreeMap<Promise, u64>,
}

/// What must be reached across many seeds; otherwise they test less than they seem to.
pub const MUST_REACH: [&str; 16] = [
    "DIFF",
    "DIFF, empty",
    "TRUNC",
    "TRUNC+DIFF",
    "SNAP",
    "late joiner",
    "torn tail",
    "rollover",
    "epoch raised",
    "acks taken back",
    "data missing",
    "fuzzy snapshot",
    "change of members committed",
    "change of members completed by the next leader",
    "leader handed over",
    "members learned",
];

/// The names by which faults are counted.
pub(crate) const FAULTS: [&str; 20] = [
    "break",
    "crash",
    "cut",
    "disk-fails",
    "doom",
    "drift",
    "full",
    "heal",
    "jump",
    "lose-vote",
    "pause",
    "power-loss",
    "repeat-vote",
    "restart",
    "resume",
    "room",
    "rot",
    "slow-disk",
    "slow-link",
    "wipe",
];

const fn name(branch: Branch) -> &'static str {
    match branch {
        Branch::AcksTakenBack => "acks taken back",
        Branch::ChangeCommitted => "change of members committed",
        Branch::ChangeProposed => "change of members proposed",
        Branch::ChangeRefused => "change of members refused",
        Branch::ContainerCleaned => "container cleaned",
        Branch::DataMissing => "data missing",
        Branch::Diff => "DIFF",
        Branch::DiffEmpty => "DIFF, empty",
        Branch::EpochRaised => "epoch raised",
        Branch::EpochUncounted => "promise not counted",
        Branch::HandedOver => "leader handed over",
        Branch::LateJoiner => "late joiner",
        Branch::LinkReplaced => "earlier connection replaced",
        Branch::MembersLearned => "members learned",
        Branch::MembersPending => "change of members completed by the next leader",
        Branch::OutstandingSent => "outstanding proposal sent",
        Branch::ReadOnlyServed => "read-only served",
        Branch::RevalidationRefused => "revalidation refused",
        Branch::Rollover => "rollover",
        Branch::SessionHandedOver => "session moved",
        Branch::SessionMoved => "late write of a moved session",
        Branch::SessionUpgraded => "session upgraded",
        Branch::Snap => "SNAP",
        Branch::SnapshotFuzzy => "fuzzy snapshot",
        Branch::Trunc => "TRUNC",
        Branch::TruncDiff => "TRUNC+DIFF",
        Branch::WriteRefused => "write refused, no leader",
        Branch::UpgradeRace => "upgrade race",
        Branch::TruncRefused => "TRUNC refused",
        Branch::VoterJoined => "voter joined",
        Branch::VoterLeft => "voter left",
    }
}

/// By what name a fault is counted, if it is one.
pub(crate) const fn fault(step: &Step) -> Option<&'static str> {
    Some(match step {
        Step::Break { .. } => "break",
        Step::Crash { .. } => "crash",
        Step::Cut { .. } => "cut",
        Step::DiskFails { .. } => "disk-fails",
        Step::Doom { .. } => "doom",
        Step::Drift { .. } => "drift",
        Step::Full { full: true, .. } => "full",
        Step::Full { full: false, .. } => "room",
        Step::Heal { .. } => "heal",
        Step::Jump { .. } => "jump",
        Step::LoseVote { .. } => "lose-vote",
        Step::Pause { .. } => "pause",
        Step::PowerLoss { .. } => "power-loss",
        Step::RepeatVote { .. } => "repeat-vote",
        Step::Restart { .. } => "restart",
        Step::Resume { .. } => "resume",
        Step::Rot { .. } => "rot",
        Step::SlowDisk { .. } => "slow-disk",
        Step::SlowLink { .. } => "slow-link",
        Step::Wipe { .. } => "wipe",
        Step::BreakConn { .. } => "break-conn",
        Step::CutClient { .. } => "cut-client",
        Step::Freeze { .. } => "freeze",
        Step::HealClient { .. } => "heal-client",
        Step::Kill { .. } => "kill",
        Step::SlowClient { .. } => "slow-client",
        Step::Thaw { .. } => "thaw",
        Step::Answer { .. }
        | Step::Ask { .. }
        | Step::Begin { .. }
        | Step::Down { .. }
        | Step::GiveUp { .. }
        | Step::Probe { .. }
        | Step::Reach { .. }
        | Step::Servers { .. }
        | Step::Up { .. }
        | Step::Wake { .. }
        | Step::Want { .. }
        | Step::Call { .. }
        | Step::Change { .. }
        | Step::Closed { .. }
        | Step::Deliver { .. }
        | Step::Dial { .. }
        | Step::Dialled { .. }
        | Step::Disk { .. }
        | Step::Elect { .. }
        | Step::Free(_)
        | Step::HangUp { .. }
        | Step::Join { .. }
        | Step::Reload { .. }
        | Step::Timeout { .. }
        | Step::Vote { .. }
        | Step::Write { .. } => return None,
    })
}

impl Figures {
    /// Counts one step and what it made visible.
    pub fn count(&mut self, at: Instant, step: &Step, seen: &[Seen]) {
        self.steps += 1;
        self.time_us = at.0;
        if let Some(name) = fault(step) {
            *self.faults.entry(name.into()).or_default() += 1;
        }
        self.messages += u64::from(matches!(step, Step::Deliver { .. }));
        self.frames += u64::from(matches!(
            step,
            Step::Answer { .. } | Step::Ask { .. } | Step::Down { .. } | Step::Up { .. }
        ));
        for event in seen {
            match event {
                Seen::Crashed { power, .. } => {
                    self.crashes += u64::from(!power);
                    self.power_losses += u64::from(*power);
                }
                Seen::Note { note, .. } => self.note(note),
                Seen::Started { notes, .. } => {
                    for note in notes {
                        let name = match note {
                            storage::Note::EpochRaised { .. } => "epoch raised",
                            storage::Note::Installed { .. } => "installation finished at start",
                            storage::Note::Torn { .. } => "torn tail",
                            storage::Note::Skipped { .. } => "snapshot skipped",
                            storage::Note::Removed { .. } => "leftover removed",
                            storage::Note::Mismatch { .. } | storage::Note::Repeated { .. } => {
                                continue;
                            }
                        };
                        *self.reached.entry(name.into()).or_default() += 1;
                    }
                }
                Seen::Appended { .. }
                | Seen::Client { .. }
                | Seen::Delivered { .. }
                | Seen::EpochWritten { .. }
                | Seen::Halted { .. }
                | Seen::Installed { .. }
                | Seen::MembersWritten { .. }
                | Seen::Refused { .. }
                | Seen::Reloaded { .. }
                | Seen::Rotten { .. }
                | Seen::Sent { .. }
                | Seen::Snapshotted { .. }
                | Seen::Synced { .. }
                | Seen::Truncated { .. }
                | Seen::Wiped { .. } => {}
            }
        }
    }

    fn note(&mut self, note: &Note) {
        match note {
            Note::Committed(_) => self.commits += 1,
            Note::Elected { .. } => self.elections += 1,
            Note::Established(_) => self.epochs += 1,
            Note::Reached(branch) => *self.reached.entry(name(*branch).into()).or_default() += 1,
            Note::Applied { .. }
            | Note::CaughtUp { .. }
            | Note::Discovered { .. }
            | Note::Joined(_)
            | Note::Left(_)
            | Note::Looking { .. }
            | Note::Proposed(_)
            | Note::Serving(_) => {}
        }
    }

    /// Counts promises that a step broke and that nobody watches.
    pub fn overlook(&mut self, overlooked: &[Violation]) {
        for violation in overlooked {
            *self.overlooked.entry(violation.promise).or_default() += 1;
        }
    }

    /// What must be reached and was not.
    pub fn unreached(&self) -> impl Iterator<Item = &'static str> {
        MUST_REACH.into_iter().filter(|name| !self.reached.contains_key(*name))
    }

    /// Adds what was counted elsewhere.
    pub fn add(&mut self, other: &Self) {
        self.runs += other.runs;
        self.steps += other.steps;
        self.time_us += other.time_us;
        self.elections += other.elections;
        self.epochs += other.epochs;
        self.commits += other.commits;
        self.messages += other.messages;
        self.frames += other.frames;
        self.crashes += other.crashes;
        self.power_losses += other.power_losses;
        for (name, count) in &other.reached {
            *self.reached.entry(name.clone()).or_default() += count;
        }
        for (name, count) in &other.faults {
            *self.faults.entry(name.clone()).or_default() += count;
        }
        for (promise, count) in &other.overlooked {
            *self.overlooked.entry(*promise).or_default() += count;
        }
    }
}

/// Promises are written by their names.
mod named {
    use std::collections::BTreeMap;

    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::checker::Promise;

    pub(super) fn serialize<S: Serializer>(
        all: &BTreeMap<Promise, u64>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_map(all.iter().map(|(promise, count)| (promise.name(), count)))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<BTreeMap<Promise, u64>, D::Error> {
        let all = BTreeMap::<String, u64>::deserialize(from)?;
        let named = |(name, count): (String, u64)| {
            let promise = name.parse();
            promise
                .map(|promise| (promise, count))
                .map_err(|error| D::Error::custom(format!("{name:?}: {error}")))
        };
        all.into_iter().map(named).collect()
    }
}
