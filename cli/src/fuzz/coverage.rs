//! What a campaign has reached: places worth reaching, and pairs of faults and steps.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use zoolab_sim::figures::{Figures, MUST_REACH};
use zoolab_sim::pairs::{Named, Pairs};

/// See the [module](self).
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Coverage {
    marks: BTreeSet<String>,
    /// To each fault, upon what it has come.
    pairs: BTreeMap<String, BTreeSet<String>>,
}

impl Coverage {
    /// Of one run.
    pub(super) fn of(figures: &Figures, pairs: Named) -> Self {
        Self { marks: figures.reached.keys().map(ToString::to_string).collect(), pairs }
    }

    /// Adds what was reached elsewhere. True if any of it is new.
    pub(super) fn add(&mut self, other: &Self) -> bool {
        let before = self.size();
        self.marks.extend(other.marks.iter().cloned());
        for (fault, upon) in &other.pairs {
            self.pairs.entry(fault.clone()).or_default().extend(upon.iter().cloned());
        }
        self.size() > before
    }

    fn size(&self) -> usize {
        self.marks.len() + self.pairs()
    }

    fn pairs(&self) -> usize {
        self.pairs.values().map(BTreeSet::len).sum()
    }

    /// How much it is, in a few words.
    pub(super) fn short(&self) -> String {
        let must = MUST_REACH.iter().filter(|name| self.marks.contains(**name)).count();
        format!("{must}/{} marks, {} pairs", MUST_REACH.len(), self.pairs())
    }

    /// How much it is, in a line.
    pub(super) fn line(&self) -> String {
        let must = MUST_REACH.iter().filter(|name| self.marks.contains(**name)).count();
        let (pairs, most) = (self.pairs(), Pairs::most());
        format!(
            "coverage {} marks, {must} of the {} that must be; {pairs} of {most} pairs of a \
             fault and the step before it",
            self.marks.len(),
            MUST_REACH.len()
        )
    }

    /// All of it.
    pub(super) fn text(&self) -> String {
        let words = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(", ");
        let mut text = format!("{}\nmarks: {}", self.line(), words(&self.marks));
        for (fault, upon) in &self.pairs {
            text.push_str(&format!("\n{fault} after: {}", words(upon)));
        }
        text
    }
}
