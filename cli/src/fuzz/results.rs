//! What a shard has come to so far. Kept in a file that is always whole: written beside, and
//! renamed.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use zoolab_sim::figures::Figures;
use zoolab_sim::shrink::Fingerprint;
use zoolab_sim::trace::replace;

use super::WITHOUT_END;
use super::campaign::Campaign;
use super::coverage::Coverage;
use super::group::{Failure, Group};
use super::shard::Shard;

/// The format that is written, and the only one that is read.
const FORMAT: u32 = 1;

/// Why nothing more was run.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Why {
    /// Everything was run.
    Everything,
    /// Something failed, and that was to end it.
    Failure,
    /// Nothing new was reached any more, and that was to end it.
    Flat,
    /// Somebody has interrupted it.
    Interrupted,
    /// The time was over.
    Time,
}

/// See the [module](self).
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Results {
    #[serde(rename = "zoolab-campaign")]
    format: u32,
    pub(super) campaign: Campaign,
    pub(super) shard: Shard,
    /// How many of its runs are in here, and how many it has.
    pub(super) next: u64,
    pub(super) of: u64,
    /// Why there are no more of them.
    pub(super) why: Why,
    /// How many of them were run twice.
    pub(super) twice: u64,
    /// How many of the last ones have reached nothing new.
    pub(super) flat: u64,
    pub(super) figures: Figures,
    pub(super) coverage: Coverage,
    /// By what is broken.
    pub(super) groups: Vec<Group>,
}

/// One run, as it is taken in.
pub(super) struct Ran {
    pub(super) figures: Figures,
    pub(super) coverage: Coverage,
    pub(super) twice: bool,
    pub(super) failure: Option<(Fingerprint, Failure)>,
}

impl Results {
    /// Nothing has been run.
    pub(super) fn new(campaign: &Campaign, shard: Shard) -> Self {
        Self {
            format: FORMAT,
            campaign: campaign.clone(),
            shard,
            next: 0,
            of: shard.share(campaign.count()),
            why: Why::Interrupted,
            twice: 0,
            flat: 0,
            figures: Figures::default(),
            coverage: Coverage::default(),
            groups: Vec::new(),
        }
    }

    /// What is in a folder already, or nothing; and that something can be kept there.
    pub(super) fn begin(dir: &Path, campaign: &Campaign, shard: Shard) -> Result<Self, String> {
        let path = Self::path(dir, shard);
        let fresh = Self::new(campaign, shard);
        let results = match Self::read(&path) {
            Ok(results) => results,
            Err(NotRead::Missing) => fresh,
            Err(NotRead::Wrong(what)) => return Err(what),
        };
        if let Some(what) = results.campaign.differs(campaign) {
            return Err(format!("{}: {what}", path.display()));
        }
        results.write(dir)?;
        Ok(results)
    }

    fn path(dir: &Path, shard: Shard) -> PathBuf {
        dir.join(format!("results-{}-of-{}.json", shard.part, shard.of))
    }

    /// Reads a file.
    pub(super) fn read(path: &Path) -> Result<Self, NotRead> {
        let file = path.display();
        let bytes = fs::read(path).map_err(|error| {
            if error.kind() == ErrorKind::NotFound {
                return NotRead::Missing;
            }
            NotRead::Wrong(format!("{file}: {error}"))
        })?;
        let wrong = |error: serde_json::Error| NotRead::Wrong(format!("{file}: {error}"));
        let any: serde_json::Value = serde_json::from_slice(&bytes).map_err(wrong)?;
        let format = any.get("zoolab-campaign").and_then(serde_json::Value::as_u64);
        if format != Some(u64::from(FORMAT)) {
            let found = format.map_or("another file".into(), |format| format.to_string());
            let what = format!("{file}: expected results of format {FORMAT}, found {found}");
            return Err(NotRead::Wrong(what));
        }
        serde_json::from_slice(&bytes).map_err(wrong)
    }

    /// Writes it to a folder.
    pub(super) fn write(&self, dir: &Path) -> Result<(), String> {
        put(&Self::path(dir, self.shard), self.json().as_bytes())
    }

    /// As a file has it.
    pub(super) fn json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("all of it can be written");
        text.push('\n');
        text
    }

    /// Whether nothing is left to run.
    pub(super) fn is_over(&self) -> bool {
        self.next >= self.of || matches!(self.why, Why::Failure | Why::Flat)
    }

    /// How many runs are in here, and of how many.
    pub(super) fn done(&self) -> String {
        // What is without end is ended by something else.
        let of =
            if self.of >= WITHOUT_END / self.shard.of { "" } else { &format!(" of {}", self.of) };
        format!("{}{of}", self.next)
    }

    /// Takes in the next run.
    pub(super) fn take(&mut self, ran: Ran) {
        let Ran { figures, coverage, twice, failure } = ran;
        self.next += 1;
        self.twice += u64::from(twice);
        self.figures.add(&figures);
        self.flat = if self.coverage.add(&coverage) { 0 } else { self.flat + 1 };
        let failed = failure.is_some();
        if let Some((fingerprint, failure)) = failure {
            self.put(Group::new(fingerprint, failure));
        }
        if failed && self.campaign.until_failure() {
            self.why = Why::Failure;
        } else if self.campaign.until_flat().is_some_and(|most| self.flat >= most) {
            self.why = Why::Flat;
        } else if self.next >= self.of {
            self.why = Why::Everything;
        }
    }

    fn put(&mut self, group: Group) {
        match self.groups.binary_search_by(|other| other.fingerprint.cmp(&group.fingerprint)) {
            Ok(place) => self.groups[place].add(group),
            Err(place) => self.groups.insert(place, group),
        }
    }

    /// Takes in what another shard has come to.
    pub(super) fn merge(&mut self, other: Self) {
        self.next += other.next;
        self.of += other.of;
        self.twice += other.twice;
        self.figures.add(&other.figures);
        self.coverage.add(&other.coverage);
        for group in other.groups {
            self.put(group);
        }
    }
}

/// Why results cannot be read.
pub(super) enum NotRead {
    Missing,
    Wrong(String),
}

/// Puts a file in its place.
pub(super) fn put(path: &Path, bytes: &[u8]) -> Result<(), String> {
    replace(path, bytes).map_err(|error| format!("{}: {error}", path.display()))
}
