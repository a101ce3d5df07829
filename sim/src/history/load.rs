//! Several files as one history: clients that were recorded apart, and logs of servers.
//!
//! What a file is, is seen from how it begins.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use zoolab_core::storage::log::Entries;

use super::hear::transaction;
use super::{Gather, History, HistoryError, Read, Reader, Record};

/// How ZooKeeper's logs begin.
const LOG: [u8; 4] = *b"ZKLG";

/// One file, and what comes next in it.
struct Source {
    reader: Reader,
    next: Option<Record>,
    number: u32,
}

impl Source {
    /// Takes the next record from the file. False if there is none, and whether it was cut off.
    fn advance(&mut self) -> Result<bool, HistoryError> {
        self.next = None;
        match self.reader.next()? {
            Read::Record(record) => self.next = Some(record),
            Read::CutOff => return Ok(true),
            Read::End => {}
        }
        Ok(false)
    }

    fn at(&self) -> u64 {
        self.next.as_ref().and_then(Record::at).unwrap_or(0)
    }
}

/// Reads them all, in the order of their moments.
///
/// # Errors
/// If one of them cannot be read, or is no history.
pub fn load(files: &[PathBuf]) -> Result<History, HistoryError> {
    let mut sources = Vec::new();
    let mut cut_off = Vec::new();
    let mut header: Option<super::Header> = None;
    let mut logs = Vec::new();
    for (number, file) in (0..).zip(files) {
        if begins_with(file, &LOG)? {
            logs.push(file);
            continue;
        }
        let reader = Reader::open(file)?;
        let other = reader.header();
        let all = header.get_or_insert_with(|| other.clone());
        all.fresh &= other.fresh;
        all.closed &= other.closed;
        all.clock_error = all.clock_error.max(other.clock_error);
        all.tick_ms = all.tick_ms.or(other.tick_ms);
        let mut source = Source { reader, next: None, number };
        if source.advance()? {
            cut_off.push(name(file));
        }
        sources.push(source);
    }
    let Some(header) = header else {
        let file = logs.first().map_or_else(String::new, |file| name(file));
        let what = "expected a history beside the log".into();
        return Err(HistoryError { file, line: None, column: None, what });
    };
    let mut gather = Gather::new(header);
    while let Some(source) =
        sources.iter_mut().filter(|source| source.next.is_some()).min_by_key(|source| source.at())
    {
        gather.turn_to(source.number);
        if let Some(record) = &source.next {
            gather.take(record).map_err(|what| source.reader.error(what))?;
        }
        if source.advance()? {
            cut_off.push(name(&files[source.number as usize]));
        }
    }
    for log in logs {
        read_log(log, &mut gather)?;
    }
    let mut history = gather.finish();
    history.cut_off = cut_off;
    Ok(history)
}

/// Whether a file begins with these bytes.
pub(super) fn begins_with(file: &Path, start: &[u8]) -> Result<bool, HistoryError> {
    let mut bytes = Vec::new();
    let read = File::open(file).and_then(|open| open.take(4).read_to_end(&mut bytes));
    read.map_err(|error| whole(file, error.to_string()))?;
    Ok(bytes == start)
}

fn whole(file: &Path, what: String) -> HistoryError {
    HistoryError { file: name(file), line: None, column: None, what }
}

/// A log of a server says what became of everything.
fn read_log(file: &Path, gather: &mut Gather) -> Result<(), HistoryError> {
    let bytes = std::fs::read(file).map_err(|error| whole(file, error.to_string()))?;
    let wrong = |error: zoolab_core::storage::log::LogError| whole(file, error.to_string());
    let mut entries = Entries::new(&bytes).map_err(wrong)?;
    while let Some(entry) = entries.next().map_err(wrong)? {
        gather.take(&transaction(&entry.read.txn)).map_err(|what| whole(file, what))?;
    }
    Ok(())
}

fn name(file: &Path) -> String {
    file.display().to_string()
}
