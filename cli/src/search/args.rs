//! What can be said to `zoolab search`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use zoolab_core::Bug;
use zoolab_sim::checker::Promise;
use zoolab_sim::states::{self, BUDGET_MOST};

/// Visit every state of a small ensemble, and judge every promise in each
///
/// The same core, the same world and the same promises as in seeded runs; only that anything
/// pending may happen next, and that what may go wrong is bounded. The counts, the first broken
/// promise and its shortest trace are the same with any number of threads.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) place: Place,
    #[command(flatten)]
    pub(super) faults: Faults,
    #[command(flatten)]
    pub(super) question: Question,
    #[command(flatten)]
    pub(super) way: Way,
    #[command(flatten)]
    pub(super) words: Words,
}

const EXAMPLES: &str = "Examples:\n  \
    zoolab search --list                                   searches that have a name\n  \
    zoolab search --preset small                           one write, one crash: a second\n  \
    zoolab search --preset small --writes 2 --breaks 1     the same, changed\n  \
    zoolab search --preset small --print-scenario > s.toml a set-up as a file, to be edited\n  \
    zoolab search --scenario s.toml --threads 2\n\n\
    Longer than there is memory or patience:\n  \
    zoolab search --preset two-writes --memory 200 --save two.search\n  \
    zoolab search --resume two.search --memory 8000\n  \
    zoolab search --preset ladder-2 --depth-first --memory 500 --states 1000000\n\n\
    Not only what must never happen:\n  \
    zoolab search --preset small --writes 0 --reach TRUNC --reach DIFF\n  \
    zoolab search --servers 2 --eventually led             everybody comes to follow one leader\n  \
    zoolab search --servers 2 --writes 0 --crashes 0 --graph states.dot\n\n\
    Around a moment of a recorded run:\n  \
    zoolab run --seed 42 --record 42.jsonl\n  \
    zoolab search --from 42.jsonl@5000 --crashes 1 --depth 12\n\n\
    Ends with 0 if what was asked holds in all that was seen, with 1 if a promise is broken, a\n\
    place is never reached or somebody never comes to follow a leader; what is printed says how\n\
    much was seen. A trace is written then, for `zoolab replay`.";

/// Where it begins.
#[derive(Clone, Debug, Default, Eq, PartialEq, clap::Args)]
#[command(next_help_heading = "Which search")]
pub(crate) struct Place {
    /// One that has a name [default: small]; what is said beside it changes it
    #[arg(long, value_name = "NAME")]
    pub(super) preset: Option<String>,
    /// One that is set up in a TOML file; what is said beside it changes it
    ///
    /// Whatever the file leaves out is as in a quiet ensemble of three, with disks of records and
    /// elections that are one step, in which nothing goes wrong and nobody writes:
    ///
    ///   begin = "fresh"               # or "led": where everybody follows a leader
    ///   reach = ["TRUNC"]             # as --reach
    ///   [setting]                     # as in scenarios of `zoolab run`
    ///   voters = [[[1, 1], [2, 1], [3, 1]]]
    ///   [setting.search]
    ///   alike = true
    ///   writes = 1
    ///   crashes = 1
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["preset", "servers", "from"],
        verbatim_doc_comment
    )]
    pub(super) scenario: Option<PathBuf>,
    /// Begin where a recorded run is after so many steps
    ///
    /// Elections go step by step then, unless --coarse is said, and --rounds and --epochs are
    /// counted from there. Such a search seldom has an end: give it a --depth.
    #[arg(long, value_name = "TRACE@STEP", conflicts_with_all = ["preset", "servers", "begin"])]
    pub(super) from: Option<String>,
    /// Where the ensemble begins: just started, or where everybody follows a leader
    #[arg(long, value_name = "WHERE")]
    pub(super) begin: Option<Begin>,
    /// How many servers
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=5))]
    pub(super) servers: Option<u8>,
    /// How many clients, for --calls
    #[arg(long, value_name = "N", conflicts_with = "from")]
    pub(super) clients: Option<u8>,
    /// Switch a bug on that real servers had; `zoolab bugs list` has their names
    #[arg(long = "bug", value_name = "ID")]
    pub(super) bugs: Vec<Bug>,
    /// Stop only where this promise is broken, and overlook others; may be said several times
    #[arg(long = "promise", value_name = "NAME")]
    pub(super) promises: Vec<Promise>,
}

/// Where an ensemble begins.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Begin {
    /// All servers have just started, and have nothing
    #[default]
    Fresh,
    /// Everybody follows a leader, and nothing is under way
    Led,
    /// Everybody follows a leader and has its first write; the second is on its way
    Proposed,
}

impl From<states::Begin> for Begin {
    fn from(begin: states::Begin) -> Self {
        match begin {
            states::Begin::Fresh => Self::Fresh,
            states::Begin::Led => Self::Led,
            states::Begin::Proposed => Self::Proposed,
        }
    }
}

impl From<Begin> for states::Begin {
    fn from(begin: Begin) -> Self {
        match begin {
            Begin::Fresh => Self::Fresh,
            Begin::Led => Self::Led,
            Begin::Proposed => Self::Proposed,
        }
    }
}

/// What may happen from there.
#[derive(Clone, Debug, Default, Eq, PartialEq, clap::Args)]
#[command(next_help_heading = "What may happen (if not said, what the set-up says)")]
pub(crate) struct Faults {
    /// How many writes
    #[arg(long, value_name = "N", value_parser = up_to_most())]
    pub(super) writes: Option<u8>,
    /// How often clients may ask for something
    ///
    /// Each takes a session as well, which is a transaction of its own. There is one client, if
    /// --clients or the set-up does not say more.
    #[arg(long, value_name = "N", value_parser = up_to_most())]
    pub(super) calls: Option<u8>,
    /// How many processes may die
    #[arg(long, value_name = "N", value_parser = up_to_most())]
    pub(super) crashes: Option<u8>,
    /// How many machines may lose power
    #[arg(long, value_name = "N", value_parser = up_to_most())]
    pub(super) power_losses: Option<u8>,
    /// How many connections may break
    ///
    /// A link that is cut is a connection that breaks: what is on its way is lost, each of the two
    /// notices whenever it likes, and nobody need connect again. So a search needs no other cuts,
    /// and nothing to heal them.
    #[arg(long, value_name = "N", visible_alias = "cuts", value_parser = up_to_most())]
    pub(super) breaks: Option<u8>,
    /// How often somebody may lose patience with a peer that is there
    #[arg(long, value_name = "N", value_parser = up_to_most())]
    pub(super) timeouts: Option<u8>,
    /// How many epochs there may be, where elections are one step
    #[arg(long, value_name = "N")]
    pub(super) epochs: Option<u8>,
    /// In how many rounds an election may be decided, where it goes step by step
    #[arg(long, value_name = "N")]
    pub(super) rounds: Option<u8>,
    /// Elections go step by step, rather than being one step
    #[arg(long, conflicts_with = "coarse")]
    pub(super) full: bool,
    /// An election, with discovery, is one step
    #[arg(long)]
    pub(super) coarse: bool,
    /// Disks are done at once
    #[arg(long)]
    pub(super) quick_disks: bool,
    /// Take servers apart that differ in nothing but their names
    #[arg(long)]
    pub(super) no_alike: bool,
    /// Take writes apart that differ in nothing but who wrote them; servers then, too
    #[arg(long)]
    pub(super) no_same_values: bool,
    /// Take clients apart that differ in nothing but their numbers; each asks for its own node
    #[arg(long)]
    pub(super) no_same_clients: bool,
    /// Take states apart that differ in what nobody can observe
    #[arg(long)]
    pub(super) as_is: bool,
}

fn up_to_most() -> clap::builder::RangedI64ValueParser<u8> {
    clap::value_parser!(u8).range(0..=i64::from(BUDGET_MOST))
}

/// What is asked, beside all promises.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "What is asked, beside all promises")]
pub(crate) struct Question {
    /// Whether this place is reached, as named under "reached"; may be said several times
    #[arg(long, value_name = "PLACE")]
    pub(super) reach: Vec<String>,
    /// Whether this happens in the end, in every fair run, however often it has happened before
    ///
    /// A run is fair if nothing that can happen from some moment on is put off for ever: messages
    /// arrive, disks get done, who has died starts again, timers run out. Faults and writes need
    /// not happen. All states are kept as a graph, so this is for small searches: --states bounds
    /// them, to 1000000 if not said. What goes beyond the bounds of epochs and rounds is not
    /// judged, and counted. Servers are told apart by their names.
    #[arg(
        long,
        value_name = "WHAT",
        conflicts_with_all = ["depth_first", "depth", "graph", "reach", "save", "resume"]
    )]
    pub(super) eventually: Option<Goal>,
    /// Once is enough: what comes after does not matter
    #[arg(long, requires = "eventually")]
    pub(super) once: bool,
    /// Write all states and steps as a graph for Graphviz
    ///
    /// For small searches: --states bounds them, to 10000 if not said.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["depth_first", "depth", "reach", "save", "resume"]
    )]
    pub(super) graph: Option<PathBuf>,
}

/// What may be asked to happen in the end.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Goal {
    /// Everybody follows one leader and has what it has
    Led,
}

/// How it is searched, and how far.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "How, and how far")]
pub(crate) struct Way {
    /// How many threads
    #[arg(long, value_name = "N", default_value = "1")]
    pub(super) threads: NonZeroUsize,
    /// Go down first and remember no more than fits into --memory
    ///
    /// Finds deep states early, by no short way; what it has not found is no proof if it had to
    /// forget states. One thread only, nothing saved.
    #[arg(long, conflicts_with_all = ["threads", "save", "resume", "layers"])]
    pub(super) depth_first: bool,
    /// Expand nothing that is further from the beginning
    #[arg(long, value_name = "STEPS")]
    pub(super) depth: Option<u32>,
    /// Stop after so many states
    #[arg(long, value_name = "N")]
    pub(super) states: Option<u64>,
    /// Stop before more megabytes are in use; depth first: forget states before that
    #[arg(long, value_name = "MB", default_value_t = 8192)]
    pub(super) memory: u64,
    /// Write the search to this file if it stops before everything is seen
    ///
    /// That is at --memory, --states or --depth, or when interrupted. The file takes the place of
    /// an older one only when it is whole.
    #[arg(long, value_name = "FILE")]
    pub(super) save: Option<PathBuf>,
    /// Go on with a search that was saved
    ///
    /// The file says what is searched; only limits need be said again.
    #[arg(long, value_name = "FILE")]
    pub(super) resume: Option<PathBuf>,
    /// Take independent steps in every order
    #[arg(long)]
    pub(super) no_sleep: bool,
}

/// What is said, and where.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "What is printed")]
pub(crate) struct Words {
    /// Print the searches that have a name, and search nothing
    #[arg(long, exclusive = true)]
    pub(super) list: bool,
    /// Print the whole set-up as a scenario, and search nothing
    #[arg(long, conflicts_with_all = ["from", "json"])]
    pub(super) print_scenario: bool,
    /// Print how many states there are at each distance from the beginning
    #[arg(long)]
    pub(super) layers: bool,
    /// Print everything that came of it as one JSON object
    #[arg(long)]
    pub(super) json: bool,
    /// Where traces of what was found go
    #[arg(long, value_name = "DIR", default_value = "target/traces")]
    pub(super) traces: PathBuf,
}
