//! Writing a trace while a run goes on, so that what led to an abrupt end is there as well.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde::Serialize;

use super::{Ending, Header, StepLine};
use crate::drive::{Onlooker, Report};
use crate::step::{Instant, Step};

/// Writes a trace while a run goes on, so that what led to an abrupt end is there as well.
pub struct Recorder {
    out: Out,
    line: String,
    /// The first thing that went wrong with the file.
    trouble: Option<io::Error>,
}

enum Out {
    Plain(BufWriter<Box<dyn Write>>),
    Compressed(Box<zstd::Encoder<'static, BufWriter<File>>>),
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder").field("trouble", &self.trouble).finish_non_exhaustive()
    }
}

impl Recorder {
    /// Writes to a file; compressed if its name ends in `.zst`.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn create(path: &Path, header: &Header) -> io::Result<Self> {
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        let file = File::create(path)?;
        let out = if path.extension().is_some_and(|extension| extension == "zst") {
            Out::Compressed(Box::new(zstd::Encoder::new(BufWriter::new(file), 1)?))
        } else {
            Out::Plain(BufWriter::new(Box::new(file)))
        };
        Self::begin(out, header)
    }

    /// Writes to anything.
    ///
    /// # Errors
    /// If that fails.
    pub fn to(out: Box<dyn Write>, header: &Header) -> io::Result<Self> {
        Self::begin(Out::Plain(BufWriter::new(out)), header)
    }

    fn begin(out: Out, header: &Header) -> io::Result<Self> {
        let mut recorder = Self { out, line: String::new(), trouble: None };
        recorder.write(header);
        match recorder.trouble.take() {
            None => Ok(recorder),
            Some(error) => Err(error),
        }
    }

    fn write(&mut self, line: &impl Serialize) {
        if self.trouble.is_some() {
            return;
        }
        let out: &mut dyn Write = match &mut self.out {
            Out::Plain(out) => out,
            Out::Compressed(out) => out,
        };
        let written = serde_json::to_writer(&mut *out, line).map_err(io::Error::from);
        self.trouble = written.and_then(|()| out.write_all(b"\n")).err();
    }

    /// Writes the end.
    ///
    /// # Errors
    /// If anything could not be written.
    pub fn finish(mut self, report: &Report) -> io::Result<()> {
        self.write(&Ending::of(report));
        if let Some(error) = self.trouble {
            return Err(error);
        }
        match self.out {
            Out::Plain(mut out) => out.flush(),
            Out::Compressed(out) => out.finish()?.flush(),
        }
    }
}

impl Onlooker for Recorder {
    fn before(&mut self, _: u64, at: Instant, step: &Step) {
        use std::fmt::Write as _;
        let mut line = std::mem::take(&mut self.line);
        line.clear();
        write!(line, "{step}").expect("a string takes everything");
        self.write(&StepLine { at: at.0, step: line.as_str().into() });
        self.line = line;
    }
}
