//! A run, written down: JSON lines that people can read and that are performed to the letter.
//!
//! ```text
//!   {"zoolab-trace":1,"version":"0.1.0","seed":42,"plan":{…}}    how the world was set up
//!   {"at":1200,"step":"deliver 3->1 PROPOSAL 1:1 #2"}            each step, when and what
//!   {"end":"held","steps":1,"hash":"…"}                          what came of it
//! ```
//!
//! A name that ends in `.zst` is written compressed; what is compressed is seen from its bytes
//! when it is read.

mod reader;
mod recorder;
mod writer;

use serde::{Deserialize, Serialize};

use crate::drive::{End, Report};
use crate::step::{Instant, Step};
use crate::swarm::Plan;

pub use self::reader::TraceError;
pub use self::recorder::Recorder;
pub use self::writer::replace;

/// The format that is written, and the only one that is read.
const FORMAT: u32 = 1;

/// The first line.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Which format this is.
    #[serde(rename = "zoolab-trace")]
    pub format: u32,
    /// Which zoolab wrote it.
    pub version: String,
    /// The seed it was found with. Replay does not need it.
    pub seed: u64,
    /// What is to be seen here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// What the run was to be like; the world begins with its setting.
    pub plan: Plan,
}

impl Header {
    /// For a run from now on.
    #[must_use]
    pub fn new(seed: u64, plan: Plan) -> Self {
        let version = env!("CARGO_PKG_VERSION").into();
        Self { format: FORMAT, version, seed, about: None, plan }
    }
}

/// A line in the middle.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct StepLine<'a> {
    at: u64,
    step: std::borrow::Cow<'a, str>,
}

/// How a run ended, in one word.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Word {
    /// It was itself the replay of something that did not fit.
    Diverged,
    /// Every promise was kept.
    Held,
    /// Our own code gave up.
    Panicked,
    /// Things did not get well again.
    Stuck,
    /// A promise was broken.
    Violated,
}

/// The last line.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Ending {
    /// How it ended.
    pub end: Word,
    /// Which promise was broken, if one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promise: Option<String>,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// How many steps there were.
    pub steps: u64,
    /// The hash of all of them.
    pub hash: String,
}

impl Ending {
    /// Of this run.
    #[must_use]
    pub fn of(report: &Report) -> Self {
        let (end, promise, what) = match &report.end {
            End::Diverged { .. } => (Word::Diverged, None, Some(report.end.to_string())),
            End::Held => (Word::Held, None, None),
            End::Panicked(what) => (Word::Panicked, None, Some(what.clone())),
            End::Stuck(what) => (Word::Stuck, None, Some(what.clone())),
            End::Violated(violation) => {
                (Word::Violated, Some(violation.promise.name()), Some(violation.what.clone()))
            }
        };
        Self { end, promise, what, steps: report.figures.steps, hash: report.hash.to_string() }
    }
}

/// A whole trace.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Trace {
    /// How it began.
    pub header: Header,
    /// Its steps.
    pub steps: Vec<(Instant, Step)>,
    /// How it ended; none if whoever wrote it was cut off.
    pub ending: Option<Ending>,
}
