//! What was counted while searching.

use serde::Serialize;
use zoolab_sim::search::{Figures, PlungeFigures};

use super::report::Ending;
use crate::say::say;

/// See the [module](self).
#[derive(Clone, Debug, Serialize)]
pub(super) struct Sums {
    pub(super) states: u64,
    /// Steps taken.
    pub(super) steps: u64,
    /// Steps that could have been taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) possible: Option<u64>,
    pub(super) expanded: u64,
    pub(super) depth: usize,
    pub(super) ends: u64,
    pub(super) goals: u64,
    /// A state was missed with a chance of one in ten to the so manieth.
    pub(super) missed_one_in_ten_to_the: u32,
    pub(super) bytes_per_state: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bytes_peak: Option<u64>,
    /// How many states are at each distance from the beginning.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) layers: Vec<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) plunge: Option<Plunge>,
}

/// What only a search has that goes down first.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Plunge {
    /// Seen before by a longer way.
    again: u64,
    /// Not expanded because of their depth.
    cut: u64,
    pub(super) forgotten: u64,
}

impl From<&Figures> for Sums {
    fn from(figures: &Figures) -> Self {
        Self {
            states: figures.distinct,
            steps: figures.generated,
            possible: Some(figures.enabled),
            expanded: figures.expanded,
            depth: figures.depth(),
            ends: figures.ends,
            goals: figures.goals,
            missed_one_in_ten_to_the: figures.odds().power(),
            bytes_per_state: figures.bytes_per_state(),
            bytes_peak: Some(figures.bytes_peak),
            layers: figures.layers.clone(),
            plunge: None,
        }
    }
}

impl From<&PlungeFigures> for Sums {
    fn from(figures: &PlungeFigures) -> Self {
        let PlungeFigures { distinct, generated, expanded, again, cut, ends, goals, .. } = *figures;
        let remembered = (distinct - figures.forgotten).max(1);
        Self {
            states: distinct,
            steps: generated,
            possible: None,
            expanded,
            depth: figures.depth as usize,
            ends,
            goals,
            missed_one_in_ten_to_the: Figures { distinct, ..Figures::default() }.odds().power(),
            bytes_per_state: figures.bytes_seen.div_ceil(remembered),
            bytes_peak: None,
            layers: Vec::new(),
            plunge: Some(Plunge { again, cut, forgotten: figures.forgotten }),
        }
    }
}

impl Sums {
    /// All of it for a person, after how the search ended.
    pub(super) fn say(&self, end: Ending) {
        let Self { states, steps, depth, ends, goals, .. } = self;
        let words = end.words();
        if let Some(Plunge { again, cut, forgotten }) = self.plunge {
            say!(
                "depth first, {words}: {states} states, {steps} steps taken, deepest {depth}, \
                 {ends} ends, {goals} goals\n\
                 {again} seen again by a shorter way, {cut} not expanded because of their depth, \
                 {forgotten} forgotten"
            );
        } else {
            let of = self.possible.map_or(String::new(), |possible| format!(" of {possible}"));
            say!(
                "{words}: {states} states, {steps} steps taken{of}, depth {depth}, {ends} ends, \
                 {goals} goals"
            );
        }
        let hundredths = (self.possible.unwrap_or(self.steps) * 100).checked_div(self.expanded);
        let hundredths = hundredths.unwrap_or(0);
        say!(
            "branching {}.{:02}, {} bytes a state, a state missed with a chance of 1 in 10^{}",
            hundredths / 100,
            hundredths % 100,
            self.bytes_per_state,
            self.missed_one_in_ten_to_the
        );
    }
}
