//! Reading a history, line by line. Whatever is wrong with it is told by its place.

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;

use super::record::{Header, Record};
use super::{FORMAT, HistoryError};

/// How compressed files begin.
const ZSTD: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
/// No line is longer; a reader that believed more would be filled up by bytes that are no history.
const LINE_MAX: u64 = 64 << 20;

/// What the next line is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Read {
    /// A record.
    Record(Record),
    /// The mark of the end, and nothing behind it.
    End,
    /// No more lines and no mark: whoever wrote it was cut off, perhaps within a line, which is
    /// then left out.
    CutOff,
}

/// Reads records from lines, and says where a line is wrong.
pub struct Reader {
    file: String,
    lines: Box<dyn BufRead>,
    header: Header,
    line: u64,
    text: Vec<u8>,
}

impl Reader {
    /// Opens a file, compressed or not.
    ///
    /// # Errors
    /// If it cannot be read, or does not begin like a history.
    pub fn open(path: &Path) -> Result<Self, HistoryError> {
        let name = path.display().to_string();
        let whole =
            |what: String| HistoryError { file: name.clone(), line: None, column: None, what };
        let file = File::open(path).map_err(|error| whole(error.to_string()))?;
        let mut bytes = BufReader::with_capacity(1 << 16, file);
        let start = bytes.fill_buf().map_err(|error| whole(error.to_string()))?;
        let lines: Box<dyn BufRead> = if start.starts_with(&ZSTD) {
            let decoder = zstd::Decoder::with_buffer(bytes)
                .map_err(|error| whole(format!("cannot be decompressed: {error}")))?;
            Box::new(BufReader::with_capacity(1 << 16, decoder))
        } else {
            Box::new(bytes)
        };
        Self::new(&name, lines)
    }

    /// Reads what has come from `file`.
    ///
    /// # Errors
    /// If it does not begin like a history.
    pub fn new(file: &str, lines: Box<dyn BufRead>) -> Result<Self, HistoryError> {
        let header = Header::new("");
        let mut this = Self { file: file.into(), lines, header, line: 0, text: Vec::new() };
        if !this.advance()? {
            return Err(this.wrong(1, "expected a header, found nothing".into()));
        }
        let any: serde_json::Value =
            serde_json::from_slice(&this.text).map_err(|error| this.json("a header", &error))?;
        match any.get("zoolab-history").map(serde_json::Value::as_u64) {
            Some(Some(format)) if format == u64::from(FORMAT) => {}
            Some(Some(other)) => {
                let what = format!("expected format {FORMAT} of histories, found {other}");
                return Err(this.wrong(1, what));
            }
            None | Some(None) => {
                let what = "expected the header of a history, with \"zoolab-history\"";
                return Err(this.wrong(1, what.into()));
            }
        }
        this.header =
            serde_json::from_slice(&this.text).map_err(|error| this.json("a header", &error))?;
        Ok(this)
    }

    /// The first line.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// The number of the line that was read last.
    #[must_use]
    pub const fn line(&self) -> u64 {
        self.line
    }

    /// Reads the next line.
    ///
    /// # Errors
    /// If it is none of a history.
    #[expect(clippy::should_implement_trait, reason = "the end is a word of its own")]
    pub fn next(&mut self) -> Result<Read, HistoryError> {
        let before = self.line;
        if !self.advance()? {
            return Ok(Read::CutOff);
        }
        let whole = self.text.last() == Some(&b'\n');
        let record = match serde_json::from_slice(&self.text) {
            Ok(record) => record,
            // Only the last line can be without its end.
            Err(_) if !whole => {
                self.line = before;
                return Ok(Read::CutOff);
            }
            Err(error) => return Err(self.json("a record of a history", &error)),
        };
        let Record::End { records } = record else { return Ok(Read::Record(record)) };
        let found = before - 1;
        if records != found {
            let what = format!("expected {records} records before the end, found {found}");
            return Err(self.wrong(1, what));
        }
        if self.advance()? {
            return Err(self.wrong(1, "expected nothing after the end".into()));
        }
        Ok(Read::End)
    }

    /// An error in the line that was read last.
    #[must_use]
    pub fn error(&self, what: String) -> HistoryError {
        let (file, line) = (self.file.clone(), Some(self.line));
        HistoryError { file, line, column: None, what }
    }

    fn wrong(&self, column: usize, what: String) -> HistoryError {
        HistoryError { line: Some(self.line.max(1)), column: Some(column), ..self.error(what) }
    }

    fn json(&self, expected: &str, error: &serde_json::Error) -> HistoryError {
        // The place is told already, and the line is not the one that serde counts.
        let text = error.to_string();
        let what = text.split(" at line ").next().unwrap_or(&text);
        self.wrong(error.column(), format!("expected {expected}: {what}"))
    }

    /// Takes the next line, if there is one.
    fn advance(&mut self) -> Result<bool, HistoryError> {
        self.text.clear();
        let mut lines = self.lines.by_ref().take(LINE_MAX);
        let taken = lines.read_until(b'\n', &mut self.text);
        let taken = match taken {
            Ok(taken) => taken,
            Err(error) => {
                self.line += 1;
                return Err(self.error(error.to_string()));
            }
        };
        if taken == 0 {
            return Ok(false);
        }
        self.line += 1;
        if taken as u64 == LINE_MAX {
            return Err(self.error(format!("expected a line of less than {LINE_MAX} bytes")));
        }
        Ok(true)
    }
}
