//! What a run is to be like: drawn by its seed, or from a file.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use zoolab_core::Bug;
use zoolab_sim::checker::Promise;
use zoolab_sim::swarm::Plan;

/// How all runs of a verb are to be.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Kind {
    /// A TOML file that says what a run is to be like, instead of its seed
    #[arg(long, value_name = "FILE")]
    pub(crate) scenario: Option<PathBuf>,
    /// Switch a bug on that real servers had; `zoolab bugs list` has their names
    #[arg(long = "bug", value_name = "ID")]
    pub(crate) bugs: Vec<Bug>,
    /// Fail only where this promise is broken, and overlook others; may be said several times
    #[arg(long = "promise", value_name = "NAME")]
    pub(crate) promises: Vec<Promise>,
}

impl Kind {
    /// The plan in the file, or the one that a seed draws.
    pub(crate) fn plan(&self, seed: u64) -> Result<Plan, String> {
        let mut plan = match &self.scenario {
            None => Plan::draw(seed),
            Some(path) => read(path)?,
        };
        plan.setting.promises.extend(&self.promises);
        if !self.bugs.is_empty() {
            plan.setting.bugs.extend(&self.bugs);
            plan = plan.checked()?;
        }
        Ok(plan)
    }
}

/// Reads a scenario. What it does not say is as in a quiet ensemble of three.
pub(crate) fn read(path: &Path) -> Result<Plan, String> {
    let (_, plan) = parse::<Plan>(path)?;
    if plan.setting.search.is_some() {
        let file = path.display();
        return Err(format!("{file}: search: time stands still there, see `zoolab search --help`"));
    }
    plan.checked().map_err(|what| format!("{}: {what}", path.display()))
}

/// Reads a TOML file, and gives back its text as well.
pub(crate) fn parse<T: DeserializeOwned>(path: &Path) -> Result<(String, T), String> {
    let file = path.display();
    let bytes = std::fs::read(path).map_err(|error| format!("{file}: {error}"))?;
    let line = |end: usize| 1 + bytes[..end].iter().filter(|byte| **byte == b'\n').count();
    let text = std::str::from_utf8(&bytes)
        .map_err(|error| format!("{file}:{}: expected text", line(error.valid_up_to())))?;
    let value = toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(String::new(), |span| format!(":{}", line(span.start)));
        format!("{file}{line}: {}", error.message().replace('\n', ", "))
    })?;
    Ok((text.to_owned(), value))
}
