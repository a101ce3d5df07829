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
    let bytes = std::fs::read(path).map_err(|error| format!("{file}: {error}"))?;
    let line = |end: usize| 1 + bytes[..end].iter().filter(|byte| **byte == b'\n').count();
    let text = std::str::from_utf8(&bytes)
        .map_err(|error| format!("{file}:{}: expected text", line(error.valid_up_to())))?;
    let plan: Plan = toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(String::new(), |span| format!(":{}", line(span.start)));
        format!("{file}{line}: {}", error.message().replace('\n', ", "))
    })?;
    plan.checked().map_err(|what| format!("{file}: {what}"))
}
