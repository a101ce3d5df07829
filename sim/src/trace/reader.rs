//! Reading a trace. Whatever is wrong with it is told by line.

use std::fmt;
use std::io::Read as _;
use std::path::Path;

use super::{Ending, FORMAT, Header, StepLine, Trace};
use crate::step::{Instant, Step};

/// How compressed files begin.
const ZSTD: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
/// What a trace may grow to when it is decompressed.
const BYTES_MAX: u64 = 4 << 30;

/// The latest moment, some three hundred years from the start: a number that every reader of JSON
/// can hold.
const AT_MAX: u64 = 1 << 53;

/// A trace that cannot be read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TraceError {
    /// Which file.
    pub file: String,
    /// In which line, counted from one; none if it is about the whole file.
    pub line: Option<usize>,
    /// What is wrong, and what was expected.
    pub what: String,
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.what),
            None => write!(f, "{}: {}", self.file, self.what),
        }
    }
}

impl std::error::Error for TraceError {}

impl Trace {
    /// Reads a file, compressed or not.
    ///
    /// # Errors
    /// If it cannot be read, or is no trace.
    pub fn read(path: &Path) -> Result<Self, TraceError> {
        let file = path.display().to_string();
        let whole = |what: String| TraceError { file: file.clone(), line: None, what };
        let mut bytes = std::fs::read(path).map_err(|error| whole(error.to_string()))?;
        if bytes.starts_with(&ZSTD) {
            let plain = zstd::Decoder::new(&bytes[..]).and_then(|decoder| {
                let mut plain = Vec::new();
                decoder.take(BYTES_MAX + 1).read_to_end(&mut plain).map(|_| plain)
            });
            bytes = plain.map_err(|error| whole(format!("cannot be decompressed: {error}")))?;
            if bytes.len() as u64 > BYTES_MAX {
                return Err(whole(format!("is larger than {BYTES_MAX} bytes")));
            }
        }
        let text = std::str::from_utf8(&bytes).map_err(|error| {
            let line = bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
            let what = "expected text".into();
            TraceError { file: file.clone(), line: Some(line + 1), what }
        })?;
        Self::parse(&file, text)
    }

    /// Reads a text that has come from `file`.
    ///
    /// # Errors
    /// If it is no trace.
    pub fn parse(file: &str, text: &str) -> Result<Self, TraceError> {
        let wrong =
            |line: usize, what: String| TraceError { file: file.into(), line: Some(line), what };
        let mut lines = (1..).zip(text.lines());
        let (_, first) =
            lines.next().ok_or_else(|| wrong(1, "expected a header, found nothing".into()))?;
        let header = header(first).map_err(|what| wrong(1, what))?;
        let mut steps: Vec<(Instant, Step)> = Vec::new();
        let mut ending = None;
        let mut before = 0;
        for (line, text) in lines {
            if ending.is_some() {
                return Err(wrong(line, "expected nothing after the end".into()));
            }
            if text.starts_with("{\"end\"") {
                let last: Ending = serde_json::from_str(text)
                    .map_err(|error| wrong(line, json("the end of a trace", &error)))?;
                if last.steps != steps.len() as u64 {
                    let (due, found) = (last.steps, steps.len());
                    return Err(wrong(line, format!("expected {due} steps before, found {found}")));
                }
                ending = Some(last);
                continue;
            }
            let StepLine { at, step } =
                serde_json::from_str(text).map_err(|error| wrong(line, json("a step", &error)))?;
            if at < before {
                return Err(wrong(line, format!("expected a time from {before} on, found {at}")));
            }
            if at > AT_MAX {
                return Err(wrong(line, format!("expected a time up to {AT_MAX}, found {at}")));
            }
            before = at;
            let step =
                step.parse::<Step>().map_err(|error| wrong(line, format!("found {error}")))?;
            steps.push((Instant(at), step));
        }
        Ok(Self { header, steps, ending })
    }
}

fn header(line: &str) -> Result<Header, String> {
    let any: serde_json::Value =
        serde_json::from_str(line).map_err(|error| json("the header of a trace", &error))?;
    match any.get("zoolab-trace").map(serde_json::Value::as_u64) {
        None => return Err("expected the header of a trace, with \"zoolab-trace\"".into()),
        Some(Some(format)) if format == u64::from(FORMAT) => {}
        Some(Some(other)) => {
            return Err(format!("expected format {FORMAT} of traces, found {other}"));
        }
        Some(None) => return Err(format!("expected format {FORMAT} of traces")),
    }
    let mut header: Header =
        serde_json::from_str(line).map_err(|error| json("the header of a trace", &error))?;
    header.plan = header.plan.checked()?;
    Ok(header)
}

fn json(expected: &str, error: &serde_json::Error) -> String {
    // The line is told already, and is not the one that serde counts.
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or(&text);
    format!("expected {expected}: {what} (column {})", error.column())
}
