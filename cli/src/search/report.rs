//! What came of a search, for a person or for a program.

use std::path::PathBuf;

use serde::Serialize;
use zoolab_sim::search::End;
use zoolab_sim::world::Bounds;

use super::coverage::Coverage;
use super::found::Found;
use super::live::Lively;
use super::setup::Setup;
use super::sums::Sums;
use super::watch::Took;
use crate::bench::figures::count;
use crate::finding::Pasted;
use crate::say::say;

/// See the [module](self). What was not asked for is not in it.
#[derive(Debug, Serialize)]
pub(super) struct Report<'a> {
    /// What was searched.
    pub(super) setup: &'a Setup,
    /// How it ended.
    pub(super) end: Ending,
    /// Whether everything that was asked holds in all that was seen.
    pub(super) held: bool,
    #[serde(flatten)]
    pub(super) sums: Sums,
    pub(super) seconds: f64,
    pub(super) cpu_seconds: f64,
    /// What was worked out once.
    pub(super) kept: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) coverage: Option<Coverage>,
    /// Places that should have been reached and were not.
    pub(super) unreached: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) liveness: Option<Lively>,
    /// What is wrong.
    pub(super) found: Vec<Found>,
    /// Where the search was saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) saved: Option<PathBuf>,
    /// Where the graph is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) graph: Option<PathBuf>,
}

/// How a search ended, in one word.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Ending {
    /// It was interrupted.
    Asked,
    /// At a broken promise.
    Broken,
    /// Everything was seen.
    Complete,
    /// Everything was seen up to the greatest depth allowed.
    Depth,
    /// Everything was seen, but some states had to be forgotten.
    Forgotten,
    /// At the greatest memory allowed.
    Memory,
    /// At the greatest number of states allowed.
    States,
}

impl Ending {
    /// Whether all that was asked for was seen.
    pub(super) const fn is_whole(self) -> bool {
        matches!(self, Self::Complete | Self::Depth)
    }

    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Asked => "interrupted",
            Self::Broken => "stopped at a broken promise",
            Self::Complete => "complete",
            Self::Depth => "complete up to the greatest depth allowed",
            Self::Forgotten => "complete, but some states had to be forgotten",
            Self::Memory => "stopped at the greatest memory allowed",
            Self::States => "stopped at the greatest number of states allowed",
        }
    }
}

impl From<End> for Ending {
    fn from(end: End) -> Self {
        match end {
            End::Asked => Self::Asked,
            End::Broken => Self::Broken,
            End::Complete => Self::Complete,
            End::Depth => Self::Depth,
            End::Memory => Self::Memory,
            End::States => Self::States,
        }
    }
}

impl<'a> Report<'a> {
    /// So far nothing is wrong.
    pub(super) fn new(setup: &'a Setup, end: Ending, sums: Sums, took: Took, kept: String) -> Self {
        let Took { seconds, cpu_seconds } = took;
        Self {
            setup,
            end,
            held: true,
            sums,
            seconds,
            cpu_seconds,
            kept,
            coverage: None,
            unreached: Vec::new(),
            liveness: None,
            found: Vec::new(),
            saved: None,
            graph: None,
        }
    }

    /// Something is wrong.
    pub(super) fn fail(&mut self, found: Found) {
        self.found.push(found);
        self.held = false;
    }

    /// What was taken and reached, and whether these places were.
    pub(super) fn cover(&mut self, coverage: Coverage, places: &[String]) {
        self.unreached = coverage.unreached(places);
        self.coverage = Some(coverage);
        // What a search has not reached that has stopped before its end, it may reach yet.
        self.held &= self.unreached.is_empty() || !self.end.is_whole();
    }

    /// All of it for a program.
    pub(super) fn say_json(&self) -> Result<(), String> {
        say!("{}", serde_json::to_string(self).map_err(|error| error.to_string())?);
        Ok(())
    }

    /// All of it for a person.
    pub(super) fn say(&self, bounds: &Bounds, layers: bool) {
        self.sums.say(self.end);
        let per_second = count(self.sums.states as f64 / self.cpu_seconds.max(1e-9));
        say!(
            "{:.1} s of processor time, {:.1} s: {per_second} states a second of processor time",
            self.cpu_seconds,
            self.seconds,
        );
        say!("kept once: {}", self.kept);
        if layers {
            let layers = self.sums.layers.iter().enumerate();
            let lines = layers.map(|(layer, states)| format!("\n  {layer:>4}  {states:>12}"));
            say!("states at each distance from the beginning:{}", lines.collect::<String>());
        }
        if let Some(coverage) = &self.coverage {
            say!("\n{}\n\nreached  {}", coverage.table(bounds), coverage.reached());
        }
        if let Some(path) = &self.graph {
            let path = path.display();
            say!("graph in {path}; steps that break a promise are not in it");
        }
        self.found.iter().for_each(Found::say);
        self.say_judgement();
    }

    fn say_judgement(&self) {
        match self.end {
            Ending::Broken => {}
            Ending::Complete => say!("held: every promise, in every state"),
            Ending::Depth => say!("held: every promise, in every state within that depth"),
            Ending::Forgotten => say!(
                "held: every promise, in every state seen; no proof, since {} had to be \
                 forgotten: more --memory would remember them",
                self.sums.plunge.map_or(0, |plunge| plunge.forgotten)
            ),
            Ending::Asked | Ending::Memory | Ending::States => {
                say!("held so far: every promise, in every state seen; others were not seen");
            }
        }
        if !self.unreached.is_empty() {
            let places = self.unreached.join(", ");
            if self.end.is_whole() {
                say!("FAILED: never reached: {places}");
            } else {
                say!("not reached so far: {places}");
            }
        }
        if let Some(lively) = &self.liveness {
            lively.say();
        }
        match &self.saved {
            Some(path) => say!("go on: zoolab search --resume {}", Pasted(path)),
            None if self.end == Ending::Memory => {
                say!("there was no more memory: raise --memory, or keep what was seen with --save");
            }
            None => {}
        }
    }
}
