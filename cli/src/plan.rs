//! What a run is to be like: drawn by its seed, or from a file.

use std::path::{Path, PathBuf};

use zoolab_core::Bug;
use zoolab_sim::swarm::Plan;

/// How all runs of a verb are to be.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Kind {
    /// A TOML file that says what a run is to be like, instead of its seed
    #[arg(long, value_name = "FILE")]
    scenario: Option<PathBuf>,
    /// Switch a bug on that real servers had; `zoolab bugs list` has their names
    #[arg(long = "bug", value_name = "ID")]
    bugs: Vec<Bug>,
}

impl Kind {
    /// The plan in the file, or the one that a seed draws.
    pub(crate) fn plan(&self, seed: u64) -> Result<Plan, String> {
        let mut plan = match &self.scenario {
            None => Plan::draw(seed),
            Some(path) => read(path)?,
        };
        if !self.bugs.is_empty() {
            plan.setting.bugs.extend(&self.bugs);
            plan = plan.checked()?;
        }
        Ok(plan)
    }

    /// The line that shows a run again.
    pub(crate) fn again(&self, seed: u64) -> String {
        let Self { scenario, bugs } = self;
        let mut line = format!("again: zoolab run --seed {seed}");
        if let Some(path) = scenario {
            line.push_str(&format!(" --scenario {}", path.display()));
        }
        bugs.iter().for_each(|bug| line.push_str(&format!(" --bug {bug}")));
        line
    }
}

/// Reads a scenario. What it does not say is as in a quiet ensemble of three.
pub(crate) fn read(path: &Path) -> Result<Plan, String> {
    let file = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| format!("{file}: {error}"))?;
    let plan: Plan = toml::from_str(&text).map_err(|error| {
        let before = error.span().map_or("", |span| text.get(..span.start).unwrap_or(""));
        let line = before.lines().count().max(1) + usize::from(before.ends_with('\n'));
        let line = if before.is_empty() { 1 } else { line };
        format!("{file}:{line}: {}", error.message().replace('\n', ", "))
    })?;
    plan.checked().map_err(|what| format!("{file}: {what}"))
}
