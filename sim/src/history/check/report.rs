//! What came of a check.

use std::collections::BTreeMap;

use super::promise::Promise;

/// How a promise fared.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Tally {
    /// How often it was put to the test.
    pub checked: u64,
    /// How often it was broken.
    pub broken: u64,
    /// How often nobody can tell.
    pub inconclusive: u64,
}

/// Whether a promise was kept.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Verdict {
    /// It was, as often as it was put to the test.
    Held,
    /// Nobody can tell, because of what is not known.
    Inconclusive,
    /// It was not.
    Broken,
}

/// Something that is wrong, or may be.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// Which promise it is about.
    pub promise: Promise,
    /// Broken or inconclusive.
    pub verdict: Verdict,
    /// What happened, in one sentence with its values.
    pub what: String,
    /// The operations it rests on, one line each.
    pub with: Vec<String>,
    /// If it is inconclusive: the calls whose outcome is not known, one line each.
    pub because: Vec<String>,
    /// Where order is at fault: why each of the operations has to come before the next, and the
    /// last before the first.
    pub cycle: Vec<String>,
}

/// How stale reads were: how many were behind by less than 2^n microseconds.
pub type Staleness = [u64; 64];

/// What came of a check: for each promise how often it was looked at, and what was found.
#[derive(Clone, Debug)]
pub struct Report {
    /// How each promise fared. One that was never put to the test is not in here.
    pub tallies: BTreeMap<Promise, Tally>,
    /// What is wrong, or may be; only the first few for each promise.
    pub findings: Vec<Finding>,
    /// Operations.
    pub ops: u64,
    /// Of these, updates.
    pub updates: u64,
    /// Of these, such whose outcome the client never heard.
    pub unknown: u64,
    /// Of these, such as were found to have taken effect.
    pub took_effect: u64,
    /// Watch events.
    pub events: u64,
    /// Sessions.
    pub sessions: u64,
    /// Transactions in the log.
    pub txns: u64,
    /// What the verdict rests on.
    pub rung: Rung,
    /// Of reads that were behind at all.
    pub staleness: Staleness,
    /// Reads that were up to date.
    pub current: u64,
    /// How many findings are kept of each promise.
    keep: usize,
}

/// What a verdict rests on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Rung {
    /// The zxids of replies, and the servers' log.
    Log,
    /// The zxids of replies.
    Zxids,
    /// The versions that stats show, as zxids are missing or not to be trusted.
    Versions,
    /// Trying out.
    Search,
}

impl Report {
    pub(crate) fn new(keep: usize) -> Self {
        Self {
            tallies: BTreeMap::new(),
            findings: Vec::new(),
            ops: 0,
            updates: 0,
            unknown: 0,
            took_effect: 0,
            events: 0,
            sessions: 0,
            txns: 0,
            rung: Rung::Zxids,
            staleness: [0; 64],
            current: 0,
            keep,
        }
    }

    pub(crate) fn checked(&mut self, promise: Promise, times: u64) {
        if times > 0 {
            self.tallies.entry(promise).or_default().checked += times;
        }
    }

    pub(crate) fn find(&mut self, promise: Promise, finding: impl FnOnce() -> Finding) {
        self.add(promise, Verdict::Broken, finding);
    }

    pub(crate) fn add(
        &mut self,
        promise: Promise,
        verdict: Verdict,
        finding: impl FnOnce() -> Finding,
    ) {
        let tally = self.tallies.entry(promise).or_default();
        let count = match verdict {
            Verdict::Held => return,
            Verdict::Inconclusive => &mut tally.inconclusive,
            Verdict::Broken => &mut tally.broken,
        };
        *count += 1;
        if *count <= self.keep as u64 {
            self.findings.push(finding());
        }
    }

    /// Whether a promise was kept.
    #[must_use]
    pub fn verdict(&self, promise: Promise) -> Verdict {
        match self.tallies.get(&promise) {
            Some(Tally { broken: 1.., .. }) => Verdict::Broken,
            Some(Tally { inconclusive: 1.., .. }) => Verdict::Inconclusive,
            Some(Tally { .. }) | None => Verdict::Held,
        }
    }

    /// The worst of all verdicts.
    #[must_use]
    pub fn worst(&self) -> Verdict {
        let all = Promise::ALL.into_iter().map(|promise| self.verdict(promise));
        all.max().unwrap_or(Verdict::Held)
    }

    /// The promises that were broken.
    pub fn broken(&self) -> impl Iterator<Item = Promise> {
        Promise::ALL.into_iter().filter(|promise| self.verdict(*promise) == Verdict::Broken)
    }
}
