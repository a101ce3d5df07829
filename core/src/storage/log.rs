//! A log file: transactions behind each other, then zeros or the end.
//!
//! ```text
//!   "ZKLG" 2 dbid | checksum length payload 'B' | checksum length payload 'B' | 0 0 0 …
//!   16 bytes      | 8        4      …       1   |                             | padding
//! ```
//!
//! The file ends where a crash may have torn the last write: at a length of zero, inside a
//! record, or where the closing `B` is missing. ZooKeeper stops reading at any of these. We also
//! look behind it: if the record would be whole but for its length or its `B`, or if another
//! whole one follows, then nothing was torn but something durable has rotted, and going on would
//! forget acknowledged transactions without a word.

use alloc::vec::Vec;
use core::fmt;

use super::checksum;
use super::txn::{self, TxnError};
use crate::ids::Zxid;
use crate::txn::Txn;
use crate::wire::jute::Writer;

/// How every log file begins: magic, version 2, database 0.
pub const HEADER: [u8; 16] = *b"ZKLG\0\0\0\x02\0\0\0\0\0\0\0\0";
/// Magic and version; nobody looks at the database.
const HEADER_CHECKED: usize = 8;
/// Checksum and length.
const PREFIX: usize = 12;
const END: u8 = b'B';
/// No transaction is shorter than its header.
const PAYLOAD_MIN: usize = 32;

/// Whether this transaction may come right after that one: the next, or the first of a later
/// epoch.
#[must_use]
pub const fn follows(last: Zxid, next: Zxid) -> bool {
    let first = next.counter() == 1 && next.epoch().0 > last.epoch().0;
    next.0 > last.0 && (next.0 - 1 == last.0 || first)
}

/// Writes one entry behind `out`.
pub fn put_entry(txn: &Txn, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&[0; 8]);
    let mut payload = Writer::frame(out);
    txn::encode(txn, &mut payload);
    payload.finish();
    let checksum = u64::from(checksum::adler32(&out[start + PREFIX..]));
    out[start..start + 8].copy_from_slice(&checksum.to_be_bytes());
    out.push(END);
}

/// How big a file must be for a write at `position`, as ZooKeeper grows it: by whole blocks of
/// `preallocate`, before the last 4096 bytes are reached. `None` if it is big enough.
#[must_use]
pub const fn grown(position: u64, size: u64, preallocate: u64) -> Option<u64> {
    if preallocate == 0 || position + 4096 < size {
        None
    } else if position > size {
        let size = position + preallocate;
        Some(size - size % preallocate)
    } else {
        Some(size + preallocate)
    }
}

/// Why a log file cannot be believed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum LogError {
    /// Whole, but not what was written.
    Checksum {
        /// Where the entry begins.
        at: usize,
        /// What it should be.
        stored: u64,
        /// What it is.
        computed: u32,
    },
    /// Not a log file of this version.
    Header,
    /// A length that cannot be.
    Length {
        /// Where the entry begins.
        at: usize,
        /// What it says.
        length: i32,
    },
    /// A broken entry where no crash can have broken it.
    Rotten {
        /// Where the entry begins.
        at: usize,
        /// Where the next whole one begins, or the end of this one if only its length or its
        /// last byte is wrong.
        whole: usize,
    },
    /// The right bytes, but no transaction.
    Txn {
        /// Where the entry begins.
        at: usize,
        /// What is wrong.
        error: TxnError,
    },
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Checksum { at, stored, computed } => {
                write!(f, "byte {at}: checksum {computed:#x}, expected {stored:#x}")
            }
            Self::Header => write!(f, "byte 0: expected \"ZKLG\" and version 2"),
            Self::Length { at, length } => write!(f, "byte {at}: an entry of length {length}"),
            Self::Rotten { at, whole } => write!(
                f,
                "byte {at}: a damaged entry, and not by a crash: what was written after it is \
                 whole up to byte {whole}"
            ),
            Self::Txn { at, error } => write!(f, "byte {at}: {error}"),
        }
    }
}

impl core::error::Error for LogError {}

/// How a file ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Tail {
    /// With zeros or nothing.
    Clean,
    /// With the remains of a write that a crash broke off.
    Torn,
    /// Before it began: not even the header is whole.
    Unborn,
}

/// One entry, and where it is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Entry {
    /// Its first byte.
    pub at: usize,
    /// The byte after it.
    pub end: usize,
    /// What it says.
    pub read: txn::Read,
}

/// Goes through the entries of a file, in order. After the last, or an error, there is nothing
/// more.
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    bytes: &'a [u8],
    at: usize,
    zxid_last: Zxid,
    tail: Option<Tail>,
}

impl<'a> Entries<'a> {
    /// Of a file with these bytes.
    ///
    /// # Errors
    /// If it is no log file. One that a crash kept from being written is, with no entries.
    pub fn new(bytes: &'a [u8]) -> Result<Self, LogError> {
        let same = bytes.iter().zip(HEADER).take_while(|(byte, due)| *byte == due).count();
        let whole = bytes.len() >= HEADER.len() && same >= HEADER_CHECKED;
        let tail = match whole {
            true => None,
            // A write that was broken off leaves a beginning, then zeros or nothing.
            false if bytes.iter().skip(same).all(|byte| *byte == 0) => Some(Tail::Unborn),
            false => return Err(LogError::Header),
        };
        Ok(Self { bytes, at: if whole { HEADER.len() } else { 0 }, zxid_last: Zxid::ZERO, tail })
    }

    /// Where the last entry ends.
    #[must_use]
    pub const fn end(&self) -> usize {
        self.at
    }

    /// How the file ends, once all entries have been read.
    #[must_use]
    pub const fn tail(&self) -> Option<Tail> {
        self.tail
    }

    /// The next entry, or nothing where the file ends.
    ///
    /// # Errors
    /// If it is there but cannot be believed.
    #[expect(clippy::should_implement_trait, reason = "an error is not one of many items")]
    pub fn next(&mut self) -> Result<Option<Entry>, LogError> {
        if self.tail.is_some() {
            return Ok(None);
        }
        let at = self.at;
        let rest = &self.bytes[at..];
        let Some((stored, length)) = prefix(rest) else {
            return self.ends();
        };
        let Ok(length) = usize::try_from(length) else {
            return Err(LogError::Length { at, length });
        };
        let end = PREFIX.saturating_add(length);
        if length == 0 || rest.get(end) != Some(&END) {
            return self.ends();
        }
        let payload = &rest[PREFIX..end];
        let computed = checksum::adler32(payload);
        if stored != u64::from(computed) {
            return Err(LogError::Checksum { at, stored, computed });
        }
        let read = txn::decode(payload).map_err(|error| LogError::Txn { at, error })?;
        self.zxid_last = read.txn.stamp.zxid;
        self.at = at + end + 1;
        Ok(Some(Entry { at, end: self.at, read }))
    }

    /// The file ends here, if a crash can have left it like this.
    fn ends(&mut self) -> Result<Option<Entry>, LogError> {
        let rest = &self.bytes[self.at..];
        let Some(last) = rest.iter().rposition(|byte| *byte != 0) else {
            self.tail = Some(Tail::Clean);
            return Ok(None);
        };
        self.tail = Some(Tail::Torn);
        match self.whole_nevertheless(&rest[..=last]) {
            Some(whole) => Err(LogError::Rotten { at: self.at, whole: self.at + whole }),
            None => Ok(None),
        }
    }

    /// Looks for proof that these bytes are no torn write: that its last byte or its length is
    /// all that is wrong with an entry, or that another one follows.
    fn whole_nevertheless(&self, rest: &[u8]) -> Option<usize> {
        let (stored, length) = prefix(rest)?;
        let last = rest.len() - 1;
        let matches = |end: usize| {
            let payload = rest.get(PREFIX..end);
            payload.is_some_and(|payload| {
                payload.len() >= PAYLOAD_MIN && stored == u64::from(adler2::adler32_slice(payload))
            })
        };
        let end_claimed = PREFIX.saturating_add(usize::try_from(length).unwrap_or(0));
        // A crash leaves a zero where the last byte is missing.
        if end_claimed <= last && rest[end_claimed] != 0 && matches(end_claimed) {
            return Some(end_claimed + 1);
        }
        if rest[last] == END && matches(last) {
            return Some(last + 1);
        }
        (1..rest.len()).find(|start| self.is_successor(&rest[*start..]))
    }

    /// Whether here begins an entry that could have been written soon after the last good one.
    fn is_successor(&self, rest: &[u8]) -> bool {
        let Some((stored, length)) = prefix(rest) else { return false };
        let Ok(length) = usize::try_from(length) else { return false };
        let end = PREFIX.saturating_add(length);
        // The dearest question last.
        if length < PAYLOAD_MIN || stored >> 32 != 0 || rest.get(end) != Some(&END) {
            return false;
        }
        let payload = &rest[PREFIX..end];
        let zxid: [u8; 8] = payload[12..20].try_into().expect("eight bytes were taken");
        i64::from_be_bytes(zxid) >= self.zxid_last.0
            && stored == u64::from(adler2::adler32_slice(payload))
    }
}

/// Checksum and length, if there are so many bytes.
fn prefix(rest: &[u8]) -> Option<(u64, i32)> {
    let (checksum, rest) = rest.split_first_chunk()?;
    let (length, _) = rest.split_first_chunk()?;
    Some((u64::from_be_bytes(*checksum), i32::from_be_bytes(*length)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{Millis, SessionId, Xid};
    use crate::request::Stamp;
    use crate::txn::Change;

    fn txn(zxid: i64) -> Txn {
        let stamp = Stamp { zxid: Zxid(zxid), time: Millis(5) };
        let change = Change::CreateSession { timeout_ms: 4000 };
        Txn { stamp, session: SessionId(9), cxid: Xid(0), change, digest: Some(1) }
    }

    fn file(zxids: core::ops::RangeInclusive<i64>) -> Vec<u8> {
        let mut bytes = HEADER.to_vec();
        zxids.for_each(|zxid| put_entry(&txn(zxid), &mut bytes));
        bytes
    }

    /// The zxids of a file, where it ends and how.
    fn read(bytes: &[u8]) -> Result<(Vec<i64>, usize, Tail), LogError> {
        let mut entries = Entries::new(bytes)?;
        let mut zxids = Vec::new();
        while let Some(entry) = entries.next()? {
            zxids.push(entry.read.txn.stamp.zxid.0);
        }
        Ok((zxids, entries.end(), entries.tail().expect("all were read")))
    }

    #[test]
    fn a_file_comes_back() {
        let mut bytes = file(1..=3);
        let end = bytes.len();
        assert_eq!(read(&bytes), Ok((alloc::vec![1, 2, 3], end, Tail::Clean)));
        bytes.resize(end + 1000, 0);
        assert_eq!(read(&bytes), Ok((alloc::vec![1, 2, 3], end, Tail::Clean)));
    }

    #[test]
    fn a_torn_write_ends_a_file() {
        let whole = file(1..=2);
        let kept = file(1..=1).len();
        for padding in [0, 5000] {
            for cut in 0..whole.len() {
                let mut bytes = whole[..cut].to_vec();
                bytes.resize(cut + padding, 0);
                let (zxids, end, tail) = read(&bytes).unwrap();
                let due = if cut < kept { (&[][..], 16) } else { (&[1][..], kept) };
                // The last four bytes of the header are zeros like the padding.
                if tail == Tail::Unborn {
                    assert!(cut < HEADER.len());
                } else {
                    assert_eq!((&zxids[..], end), due, "cut at {cut}");
                }
            }
        }
    }

    #[test]
    fn a_flipped_bit_is_never_taken_for_a_torn_write() {
        for padding in [0, 500] {
            let mut bytes = file(1..=3);
            let end = bytes.len();
            bytes.resize(end + padding, 0);
            for bit in 0..end * 8 {
                bytes[bit / 8] ^= 1 << (bit % 8);
                let in_database = (8..16).contains(&(bit / 8));
                assert_eq!(read(&bytes).is_ok(), in_database, "bit {bit}: {:?}", read(&bytes));
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }

    #[test]
    fn errors_say_where() {
        let first = file(1..=1).len();
        let mut bytes = file(1..=2);
        bytes[first + 8] = 0x80;
        let length = i32::MIN + 48;
        assert_eq!(read(&bytes), Err(LogError::Length { at: first, length }));
        assert_eq!(read(b"ZKSN\0\0\0\x02"), Err(LogError::Header));
    }

    #[test]
    fn order_is_the_next_or_a_new_epoch() {
        let zxid = |epoch: i64, counter: i64| Zxid(epoch << 32 | counter);
        assert!(follows(zxid(0, 0), zxid(0, 1)));
        assert!(follows(zxid(1, 5), zxid(1, 6)));
        assert!(follows(zxid(1, 5), zxid(2, 1)));
        assert!(follows(zxid(1, 5), zxid(4, 1)));
        assert!(follows(zxid(2, 0), zxid(2, 1)));
        assert!(follows(zxid(0, 0xFFFF_FFFF), zxid(1, 0)), "an ensemble of one only counts");
        assert!(!follows(zxid(1, 5), zxid(1, 5)));
        assert!(!follows(zxid(1, 5), zxid(1, 7)));
        assert!(!follows(zxid(1, 5), zxid(2, 0)));
        assert!(!follows(zxid(1, 5), zxid(2, 2)));
        assert!(!follows(zxid(2, 5), zxid(1, 1)));
        assert!(!follows(Zxid(i64::MAX), Zxid(i64::MIN)));
    }

    #[test]
    fn files_grow_as_those_of_zookeeper() {
        let block = 65_536 * 1024;
        assert_eq!(grown(16, 16, block), Some(16 + block));
        assert_eq!(grown(block, 16 + block, block), Some(16 + 2 * block));
        assert_eq!(grown(100, 16 + block, block), None);
        assert_eq!(grown(10_000, 16, 4096), Some(12_288));
        assert_eq!(grown(10_000, 16, 0), None);
    }
}
