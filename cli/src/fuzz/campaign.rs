//! What is run, and in which order: what failed before, then seeds.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use zoolab_sim::checker::Promise;
use zoolab_sim::swarm::Plan;
use zoolab_sim::trace::Trace;

use super::Args;
use crate::finding::Finding;
use crate::plan::Kind;

/// Everything that decides what a campaign comes to. Part of all results, so that those of
/// different campaigns are not taken together.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Campaign {
    /// Which zoolab runs it.
    version: String,
    seeds: (u64, u64),
    bugs: Vec<String>,
    promises: Vec<String>,
    /// The file it is named by where it is run, and what is in it.
    scenario: Option<(PathBuf, Plan)>,
    until_failure: bool,
    until_flat: Option<u64>,
    twice: u64,
    pub(super) shrink: u64,
    first: Vec<First>,
}

/// Something that failed before.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct First {
    seed: u64,
    /// The trace it is from, and what its plan was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trace: Option<(String, Plan)>,
}

/// One run of a campaign.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) seed: u64,
    pub(super) plan: Plan,
    /// By what its files are named.
    pub(super) name: String,
    /// The one line that does it again.
    pub(super) again: String,
    pub(super) twice: bool,
}

impl Campaign {
    /// What these arguments ask for. What cannot be read is complained about once, and before
    /// anything is run.
    pub(super) fn of(args: &Args) -> Result<Self, String> {
        let seeds = args.seeds();
        let kind = &args.kind;
        let _ = kind.plan(seeds.start)?;
        let scenario = match &kind.scenario {
            None => None,
            Some(path) => Some((path.clone(), crate::plan::read(path)?)),
        };
        let mut first = Vec::new();
        for path in &args.first {
            first.extend(read_first(path)?);
        }
        Ok(Self {
            version: env!("CARGO_PKG_VERSION").into(),
            seeds: (seeds.start, seeds.end),
            bugs: kind.bugs.iter().map(ToString::to_string).collect(),
            promises: kind.promises.iter().map(Promise::to_string).collect(),
            scenario,
            until_failure: args.until_failure,
            until_flat: args.until_flat,
            twice: if args.check_determinism { 1 } else { args.twice },
            shrink: args.shrink,
            first,
        })
    }

    /// How many runs there are.
    pub(super) const fn count(&self) -> u64 {
        self.first.len() as u64 + self.seeds.1 - self.seeds.0
    }

    /// Whether the first failure ends it.
    pub(super) const fn until_failure(&self) -> bool {
        self.until_failure
    }

    /// After how many that reach nothing new it ends.
    pub(super) const fn until_flat(&self) -> Option<u64> {
        self.until_flat
    }

    /// The run at a place.
    pub(super) fn item(&self, kind: &Kind, place: u64) -> Result<Item, String> {
        let before = self.first.len() as u64;
        let twice = self.twice > 0 && place.is_multiple_of(self.twice);
        if let Some(First { seed, trace: Some((file, plan)) }) = self.first.get(place as usize) {
            let stem = file.strip_suffix(".zst").unwrap_or(file);
            let name = stem.strip_suffix(".jsonl").unwrap_or(stem).to_owned();
            let mut plan = plan.clone();
            plan.setting.bugs.extend(&kind.bugs);
            let again = format!("zoolab fuzz --first {file} --seeds 0..1 --until-failure");
            return Ok(Item { seed: *seed, plan: plan.checked()?, name, again, twice });
        }
        let seed = match self.first.get(place as usize) {
            Some(first) => first.seed,
            None => self.seeds.0 + (place - before),
        };
        let plan = kind.plan(seed)?;
        let again = Finding { seed, kind, differs: false }.to_string();
        Ok(Item { seed, plan, name: format!("seed-{seed}"), again, twice })
    }

    /// What it is, for people.
    pub(super) fn text(&self) -> String {
        let (from, to) = self.seeds;
        let mut text = format!("seeds {from}..{to}");
        if let Some((path, _)) = &self.scenario {
            text.push_str(&format!(", scenario {}", path.display()));
        }
        for (what, names) in [("with", &self.bugs), ("only", &self.promises)] {
            if !names.is_empty() {
                text.push_str(&format!(", {what} {}", names.join(" ")));
            }
        }
        if !self.first.is_empty() {
            text.push_str(&format!(", after {} that failed before", self.first.len()));
        }
        text
    }

    /// The first thing in which another is another, if it is one.
    pub(super) fn differs(&self, other: &Self) -> Option<String> {
        if self == other {
            return None;
        }
        let (one, two) = (self.text(), other.text());
        Some(if self.version != other.version {
            format!("of zoolab {}, this is {}", self.version, other.version)
        } else if one != two {
            format!("of another campaign: {one}; expected {two}")
        } else {
            let why = "other limits, another scenario or other seeds first";
            format!("of another campaign: {one}, with {why}")
        })
    }
}

/// A list of seeds, one in a line; or a folder of traces.
fn read_first(path: &Path) -> Result<Vec<First>, String> {
    let wrong = |error: std::io::Error| format!("{}: {error}", path.display());
    if fs::metadata(path).map_err(wrong)?.is_dir() {
        let mut files = Vec::new();
        for entry in fs::read_dir(path).map_err(wrong)? {
            let file = entry.map_err(wrong)?.path();
            let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
            let is = |name: &String| name.ends_with(".jsonl") || name.ends_with(".jsonl.zst");
            files.extend(name.filter(is).map(|_| file));
        }
        files.sort();
        return files.iter().map(|file| read_trace(file)).collect();
    }
    let name = path.to_string_lossy();
    if name.ends_with(".jsonl") || name.ends_with(".zst") {
        return Ok(vec![read_trace(path)?]);
    }
    let text = fs::read_to_string(path).map_err(wrong)?;
    let mut first = Vec::new();
    for (count, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if !line.is_empty() {
            let seed = line.replace('_', "").parse().map_err(|_| {
                format!("{}:{count}: expected a seed, found {line:?}", path.display())
            })?;
            first.push(First { seed, trace: None });
        }
    }
    Ok(first)
}

fn read_trace(path: &Path) -> Result<First, String> {
    let trace = Trace::read(path).map_err(|error| error.to_string())?;
    let file = path.to_string_lossy().into_owned();
    Ok(First { seed: trace.header.seed, trace: Some((file, trace.header.plan)) })
}
