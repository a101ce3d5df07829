//! A search in a file: what was searched, and what has come of it so far beside the states.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use zoolab_sim::search::{NotResumed, notes};

use super::coverage::Coverage;
use super::setup::Setup;

/// What is noted beside the states. With it nothing else need be said to go on.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Notes {
    /// Which zoolab wrote it.
    pub(super) zoolab: String,
    /// What is searched.
    pub(super) setup: Setup,
    /// Whether independent steps are taken in one order only.
    pub(super) sleep: bool,
    /// Places that should be reached.
    pub(super) reach: Vec<String>,
    /// What was taken and reached.
    pub(super) coverage: Coverage,
    /// How long it took so far.
    pub(super) seconds: f64,
    pub(super) cpu_seconds: f64,
}

impl Notes {
    /// Those in a file.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let text = notes(path).map_err(|error| refused(path, &error, None))?;
        serde_json::from_str(&text)
            .map_err(|error| format!("{}: not written by zoolab search: {error}", path.display()))
    }

    pub(super) fn text(&self) -> Result<String, String> {
        serde_json::to_string(self).map_err(|error| error.to_string())
    }
}

/// Why a file cannot be gone on with; `version` is that of the zoolab which wrote it.
pub(super) fn refused(path: &Path, error: &NotResumed, version: Option<&str>) -> String {
    let file = path.display();
    match error {
        NotResumed::OtherSpace { .. } | NotResumed::Strayed => {
            let other = version.filter(|version| *version != env!("CARGO_PKG_VERSION"));
            let other = other.map_or(String::new(), |other| format!(", {other}"));
            format!("{file}: written by a zoolab{other} in which servers behaved differently")
        }
        NotResumed::Unreadable(kind) => format!("{file}: {kind}"),
        NotResumed::Damaged | NotResumed::NoSearch | NotResumed::OtherVersion { .. } => {
            format!("{file}: {error}")
        }
    }
}

/// Where a search will be saved if it has to be. Whoever wants that learns before the search that
/// it cannot be.
pub(super) fn writable(path: &Path) -> Result<(), String> {
    let wrong = |error: std::io::Error| format!("{}: {error}", path.display());
    if path.is_dir() {
        return Err(format!("{}: is a directory, expected a file", path.display()));
    }
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    let new = PathBuf::from(new);
    File::create(&new).map_err(wrong)?;
    fs::remove_file(&new).map_err(wrong)
}
