//! Writing a history, line by line: whatever stops the writer, each line before is whole.

use std::io::{self, Write};

use super::record::{Header, Record};

/// Writes records as lines, with a mark at the end.
#[derive(Debug)]
pub struct Writer<W> {
    to: W,
    line: Vec<u8>,
    records: u64,
}

impl<W: Write> Writer<W> {
    /// Begins one.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin(to: W, header: &Header) -> io::Result<Self> {
        let mut this = Self { to, line: Vec::new(), records: 0 };
        this.line(header)?;
        Ok(this)
    }

    /// Writes the next line, in one piece.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn put(&mut self, record: &Record) -> io::Result<()> {
        self.line(record)?;
        self.records += 1;
        Ok(())
    }

    /// Marks the end, and gives back where it was written to.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.line(&Record::End { records: self.records })?;
        self.to.flush()?;
        Ok(self.to)
    }

    fn line(&mut self, value: &impl serde::Serialize) -> io::Result<()> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, value)?;
        self.line.push(b'\n');
        self.to.write_all(&self.line)
    }
}
