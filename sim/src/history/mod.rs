//! What clients said and heard, written down: the raw material of every promise that is made to
//! clients. `docs/history.md` has the format.
//!
//! ```text
//!   file ---> Reader --+                   +--> Writer ---> file
//!                      v                   |
//!                   Record, one line ------+
//!                      |
//!                      +--> Gather --> History --> check
//! ```
//!
//! A history is what went over the wire, connection by connection, in the order in which it did.
//! What an application is told by its client library comes later and in another order, and says
//! nothing about servers.

pub mod check;
pub mod edn;
pub mod fit;
mod gather;
pub mod generate;
pub mod hear;
pub mod hex;
pub mod intern;
pub mod jepsen;
mod load;
pub mod online;
mod reader;
pub mod record;
pub mod search;
pub mod store;
pub mod tree;
mod writer;

use std::fmt;

pub use self::gather::Gather;
pub use self::hex::Hex;
pub use self::load::load;
pub use self::reader::{Read, Reader};
pub use self::record::{Header, Record};
pub use self::store::History;
pub use self::writer::Writer;

/// The format that is written, and the only one that is read.
pub const FORMAT: u32 = 1;

/// A history that cannot be read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HistoryError {
    /// Which file.
    pub file: String,
    /// In which line, counted from one; none if it is about the whole file.
    pub line: Option<u64>,
    /// At which character of it, counted from one, if it is about one.
    pub column: Option<usize>,
    /// What is wrong, and what was expected.
    pub what: String,
}

impl fmt::Display for HistoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(column) = self.column {
            write!(f, ":{column}")?;
        }
        write!(f, ": {}", self.what)
    }
}

impl std::error::Error for HistoryError {}
