//! A search that begins in the midst of a recorded run.

use std::path::Path;

use serde::{Deserialize, Serialize};
use zoolab_core::{Bug, Server};
use zoolab_sim::states::{NoRoot, Root};
use zoolab_sim::step::{Instant, Step};
use zoolab_sim::swarm::Plan;
use zoolab_sim::trace::Trace;
use zoolab_sim::world::{Bounds, World};

use super::args::Faults;
use super::scenario::{ROUNDS, SERVERS_MAX, changed};

/// A run up to some step, and what may happen from there.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Moment {
    /// The trace it is from.
    pub(super) file: String,
    /// How the run was set up.
    pub(super) plan: Plan,
    /// Its steps, each with its time and as its line.
    steps: Vec<(u64, String)>,
    /// What may happen.
    pub(super) bounds: Bounds,
}

impl Moment {
    /// Reads the trace, and finds out where an election would be.
    pub(super) fn read(from: &str, bugs: &[Bug], faults: &Faults) -> Result<Self, String> {
        let expected = || format!("--from {from}: expected a trace and a step, as in x.jsonl@500");
        let (file, step) = from.rsplit_once('@').ok_or_else(expected)?;
        let step: usize = step.parse().map_err(|_| expected())?;
        let trace = Trace::read(Path::new(file)).map_err(|error| error.to_string())?;
        let most = trace.steps.len();
        let steps = trace.steps.get(..step);
        let steps =
            steps.ok_or_else(|| format!("{file}: expected a step up to {most}, found {step}"))?;
        let mut plan = trace.header.plan;
        plan.setting.bugs.extend(bugs);
        let plan = plan.checked().map_err(|what| format!("{file}:1: {what}"))?;
        if plan.setting.search.is_some() {
            return Err(format!("{file}:1: time stands still there already: it is of a search"));
        }
        let steps = steps.iter().map(|(at, step)| (at.0, step.to_string())).collect();
        let bounds = changed(Bounds { epochs: EPOCHS, ..Bounds::default() }, faults)?;
        let mut moment = Self { file: file.into(), plan, steps, bounds };
        let root = moment.root(bounds).map_err(|error| moment.refused(&error, bugs))?;
        let servers = root.world.servers().len();
        if servers > SERVERS_MAX {
            let most = SERVERS_MAX;
            return Err(format!("{file}:1: {servers} servers are too many, expected up to {most}"));
        }
        let (epoch, round) = reached(&root.world);
        moment.bounds.epochs = add("--epochs", faults.epochs.unwrap_or(EPOCHS), epoch)?;
        moment.bounds.rounds = add("--rounds", faults.rounds.unwrap_or(ROUNDS), round)?;
        Ok(moment)
    }

    /// Where it begins if this may happen.
    pub(super) fn root(&self, bounds: Bounds) -> Result<Root, NoRoot> {
        Root::of_run(self.plan.setting.clone(), &self.steps(), bounds)
    }

    /// How many steps were taken before.
    pub(super) const fn count(&self) -> usize {
        self.steps.len()
    }

    fn steps(&self) -> Vec<(Instant, Step)> {
        let read = |line: &String| line.parse().expect("a step that was written as its line");
        self.steps.iter().map(|(at, line)| (Instant(*at), read(line))).collect()
    }

    /// Why the run does not get there.
    pub(super) fn refused(&self, error: &NoRoot, bugs: &[Bug]) -> String {
        let file = &self.file;
        let bugs: Vec<&str> = bugs.iter().map(|bug| bug.name()).collect();
        let with =
            if bugs.is_empty() { String::new() } else { format!("with {}, ", bugs.join(" ")) };
        match error {
            // The header is the first line.
            NoRoot::DoesNotFit { count, .. } => {
                format!("{file}:{}: {with}the run does not get there: {error}", count + 1)
            }
            NoRoot::Broken { count, .. } => {
                let before = count - 1;
                format!("{file}:{}: {with}{error}; expected a moment up to {before}", count + 1)
            }
            NoRoot::Connections { .. } => {
                format!("{file}:{}: {error}; expected another moment", self.steps.len() + 1)
            }
            NoRoot::Leaderless { .. } | NoRoot::Setting(_) => format!("{file}:1: {error}"),
        }
    }
}

/// How many more epochs there may be if nobody has said so.
const EPOCHS: u8 = 3;

/// The highest epoch that anybody has promised itself to, and the highest round of an election.
fn reached(world: &World) -> (u64, u64) {
    let servers = || world.servers().iter().filter_map(|id| world.host(*id).server.as_ref());
    let epoch = servers().map(|server| u64::from(server.epochs().0.0)).max();
    (epoch.unwrap_or(0), servers().map(Server::round).max().unwrap_or(0))
}

fn add(option: &str, more: u8, there: u64) -> Result<u8, String> {
    let sum = there.saturating_add(more.into());
    u8::try_from(sum).map_err(|_| {
        format!("{option}: there have been {there} already, and more than 255 are not counted")
    })
}
