//! What a run is to be like: drawn by its seed, or from a file.

use std::path::Path;

use zoolab_sim::swarm::Plan;

/// The plan in a file, or the one that a seed draws.
pub(crate) fn of(seed: u64, scenario: Option<&Path>) -> Result<Plan, String> {
    match scenario {
        None => Ok(Plan::draw(seed)),
        Some(path) => read(path),
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
