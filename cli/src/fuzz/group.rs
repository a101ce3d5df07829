//! Failures that are the same: one fingerprint.

use std::path::Path;

use serde::{Deserialize, Serialize};
use zoolab_sim::shrink::Fingerprint;

use crate::finding::Pasted;

/// How many are named in each group.
const NAMED: usize = 20;

/// One run that failed.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Failure {
    /// Its place in the campaign.
    pub(super) place: u64,
    /// By what its files are named.
    pub(super) name: String,
    /// What failed, in a sentence.
    pub(super) what: String,
    /// The one line that does it again.
    pub(super) again: String,
}

/// See the [module](self).
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Group {
    pub(super) fingerprint: Fingerprint,
    /// How many there are.
    pub(super) count: u64,
    /// The first of them, by place.
    pub(super) failures: Vec<Failure>,
    /// What is known of the first one.
    pub(super) traces: Option<Traces>,
}

/// The traces of a group's first failure, in the folder of traces.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Traces {
    /// Whose they are.
    pub(super) place: u64,
    /// How many steps it has.
    pub(super) steps: u64,
    /// The file.
    pub(super) long: String,
    /// The short one, and how many steps that has.
    pub(super) short: Option<(String, u64)>,
    /// The short one in words.
    pub(super) story: Option<String>,
}

impl Group {
    pub(super) fn new(fingerprint: Fingerprint, failure: Failure) -> Self {
        Self { fingerprint, count: 1, failures: vec![failure], traces: None }
    }

    /// Takes in others like it.
    pub(super) fn add(&mut self, other: Self) {
        self.count += other.count;
        self.failures.extend(other.failures);
        self.failures.sort_by_key(|failure| failure.place);
        self.failures.truncate(NAMED);
        let first = self.failures[0].place;
        let traces = [self.traces.take(), other.traces];
        self.traces = traces.into_iter().flatten().find(|traces| traces.place == first);
    }

    /// The first of them.
    pub(super) fn first(&self) -> &Failure {
        &self.failures[0]
    }

    /// All of it for a person. Traces are in this folder.
    pub(super) fn text(&self, folder: &Path) -> String {
        let Failure { name, what, again, .. } = self.first();
        let seed = name.replace("seed-", "seed ");
        let mut text = format!("FAILED: {seed}: {what}\nagain: {again}");
        if self.count > 1 {
            let others: Vec<&str> =
                self.failures[1..].iter().map(|failure| failure.name.as_str()).collect();
            let all = self.failures.len() as u64 == self.count;
            let more = if all { "" } else { ", …" };
            let (count, others) = (self.count - 1, others.join(", ").replace("seed-", ""));
            text.push_str(&format!("\nthe same in {count} more: {others}{more}"));
        }
        if let Some(traces) = &self.traces {
            let path = |file: &String| folder.join(file);
            text.push_str(&format!("\ntrace: zoolab replay {}", Pasted(&path(&traces.long))));
            if let Some((short, steps)) = &traces.short {
                let short = path(short);
                let (short, all) = (Pasted(&short), traces.steps);
                text.push_str(&format!("\nshort: zoolab replay {short}"));
                text.push_str(&format!("\n{all} steps, {steps} are enough:"));
            }
            if let Some(story) = &traces.story {
                text.push_str(&format!("\n\n{story}"));
            }
        }
        text
    }
}
