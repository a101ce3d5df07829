//! A run that failed, and how it is seen again.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::plan;
use crate::run::Recording;
use crate::say::say;

/// What has to be said to see a run again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finding<'a> {
    pub(crate) seed: u64,
    pub(crate) kind: &'a plan::Kind,
    /// Whether it is two runs of the seed that differ.
    pub(crate) differs: bool,
}

impl Finding<'_> {
    /// Says how it is seen again, and writes its trace to a folder unless it has been written
    /// already. A trace that cannot be written makes it no less of a finding.
    pub(crate) fn keep(self, traces: &Path, written: Option<&Path>) -> ExitCode {
        say!("again: {self}");
        let trace = match written {
            Some(path) => Ok(path.to_owned()),
            None => self.record(traces),
        };
        match trace {
            Ok(path) => say!("trace: zoolab replay {}", Pasted(&path)),
            Err(why) => eprintln!("zoolab: {why}"),
        }
        ExitCode::FAILURE
    }

    /// Runs it once more, to write its trace.
    fn record(self, traces: &Path) -> Result<PathBuf, String> {
        let path = traces.join(format!("seed-{}.jsonl", self.seed));
        let plan = self.kind.plan(self.seed)?;
        Recording::begin(&plan, self.seed, &path)?.run(&mut zoolab_sim::drive::Nobody)?;
        Ok(path)
    }
}

impl fmt::Display for Finding<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "zoolab run --seed {}", self.seed)?;
        if let Some(path) = &self.kind.scenario {
            write!(f, " --scenario {}", Pasted(path))?;
        }
        for bug in &self.kind.bugs {
            write!(f, " --bug {bug}")?;
        }
        for promise in &self.kind.promises {
            write!(f, " --promise {promise}")?;
        }
        if self.differs { write!(f, " --check-determinism") } else { Ok(()) }
    }
}

/// A path as a shell takes it.
pub(crate) struct Pasted<'a>(pub(crate) &'a Path);

impl fmt::Display for Pasted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.0.to_string_lossy();
        let plain = |c: char| c.is_alphanumeric() || "/._-+:,@%".contains(c);
        if path.chars().all(plain) {
            return f.write_str(&path);
        }
        write!(f, "'{}'", path.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_can_be_pasted() {
        let again = |scenario: &str, differs| {
            let kind = plan::Kind { scenario: Some(scenario.into()), ..plan::Kind::default() };
            Finding { seed: 7, kind: &kind, differs }.to_string()
        };
        assert_eq!(again("a/b-1.toml", false), "zoolab run --seed 7 --scenario a/b-1.toml");
        assert_eq!(
            again("it's mine.toml", true),
            r"zoolab run --seed 7 --scenario 'it'\''s mine.toml' --check-determinism"
        );
    }
}
