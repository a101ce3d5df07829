//! A run as something that can be drawn.

use super::cast::{Kind, Who, cast};
use super::evidence;
use super::film::Film;
use super::flights::{Flight, Flights};
use super::lanes::{Lane, Lanes};
use super::words::{Mark, facts_of};
use crate::drive::End;
use crate::setting::SettingError;
use crate::step::Instant;
use crate::story::Story;
use crate::trace::Trace;

/// Everything that is drawn of a run. Steps are counted from one; what holds before the first is at zero.
#[derive(Debug)]
pub struct Picture {
    /// What is to be seen here, if whoever made the trace said so.
    pub about: Option<String>,
    /// The seed it was found with.
    pub seed: u64,
    /// What the run was to be like, in one line.
    pub plan: String,
    /// Everybody, servers first.
    pub lanes: Vec<Lane>,
    /// The steps that happened. The one that could not, if there was one, is not among them.
    pub steps: Vec<Moment>,
    /// The messages, in the order in which they were sent.
    pub flights: Vec<Flight>,
    /// What happened to whom, in order.
    pub facts: Vec<Fact>,
    /// How it ended.
    pub end: End,
    /// Which steps speak of what the broken promise speaks of.
    pub evidence: Vec<Evidence>,
    /// The run in words.
    pub story: Story,
}

/// A step.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Moment {
    /// When.
    pub at: Instant,
    /// What it is told apart by.
    pub kind: Kind,
    /// Who takes part; the first is the one to whom it happens.
    pub who: Vec<Who>,
    /// As it is in the trace.
    pub text: String,
}

/// Something that happened to somebody.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fact {
    /// In which step.
    pub step: u32,
    /// To whom.
    pub who: Who,
    /// What it looks like.
    pub mark: Mark,
    /// In words, without the one to whom it happened; none if the step's own words do.
    pub text: String,
}

/// A step that has to do with the broken promise.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Evidence {
    /// Which.
    pub step: u32,
    /// What it says about it.
    pub text: String,
}

impl Picture {
    /// Performs a trace, and writes down what there is to draw.
    ///
    /// # Errors
    /// If the setting of the trace cannot be.
    pub fn of(trace: &Trace) -> Result<Self, SettingError> {
        let mut film = Film::new(trace)?;
        let mut lanes = Lanes::new(film.world());
        let mut flights = Flights::default();
        let mut steps = Vec::with_capacity(trace.steps.len());
        let mut facts = Vec::new();
        while let Some((at, step)) = film.next() {
            let Ok(()) = film.world().can(*at, step) else {
                film.step();
                break;
            };
            let cast = cast(step, film.world());
            film.step();
            let place = u32::try_from(film.done()).unwrap_or(u32::MAX);
            for who in cast.who.iter().take(if cast.mark.is_some() { 2 } else { 0 }) {
                let mark = cast.mark.expect("there is one");
                let both = matches!(mark, Mark::Cut | Mark::Heal | Mark::Break);
                if both || Some(who) == cast.who.first() {
                    facts.push(Fact { step: place, who: *who, mark, text: String::new() });
                }
            }
            for (who, mark, text) in film.seen().iter().filter_map(facts_of) {
                facts.push(Fact { step: place, who, mark, text });
            }
            let panicked = matches!(film.end(), Some(End::Panicked(_)));
            if !panicked {
                // A world in which our own code has given up is not to be looked at.
                lanes.look(place, &film);
                flights.look(place, step, film.world());
            }
            let (kind, who) = (cast.kind, cast.who);
            steps.push(Moment { at: *at, kind, who, text: step.to_string() });
        }
        film.step();
        let end = film.end().cloned().unwrap_or(End::Held);
        let lanes = lanes.into_all();
        let evidence = evidence::of(&end, &steps, &facts);
        let story = Story::of(trace)?;
        Ok(Self {
            about: trace.header.about.clone(),
            seed: trace.header.seed,
            plan: trace.header.plan.summary(),
            lanes,
            steps,
            flights: flights.into_all(),
            facts,
            end,
            evidence,
            story,
        })
    }

    /// Which lane is whose.
    #[must_use]
    pub fn lane_of(&self, who: Who) -> Option<usize> {
        self.lanes.iter().position(|lane| lane.who == who)
    }
}
