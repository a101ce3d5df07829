//! Jute, ZooKeeper's encoding: big-endian numbers, lengths before texts, −1 for null.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use crate::Text;

/// Why bytes are not a record.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum WireError {
    /// The payload ends inside a field.
    Short {
        /// Where the field began.
        at: usize,
        /// How many bytes it needs.
        wanted: usize,
        /// How many there are.
        left: usize,
    },
    /// A text or buffer with a length that cannot be.
    Length {
        /// Where.
        at: usize,
        /// What it says.
        length: i32,
        /// The most it may say.
        most: usize,
    },
    /// A text that is null where there must be one.
    Null {
        /// Where the next field begins.
        at: usize,
    },
    /// A number that means nothing.
    Number {
        /// Where the next field begins.
        at: usize,
        /// What it says.
        got: i32,
        /// What it should be.
        expected: &'static str,
    },
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { at, wanted, left } => {
                write!(f, "byte {at}: {wanted} bytes expected, {left} left")
            }
            Self::Length { at, length, most } => {
                write!(f, "byte {at}: length {length}, expected -1 to {most}")
            }
            Self::Null { at } => write!(f, "before byte {at}: null, expected a text"),
            Self::Number { at, got, expected } => {
                write!(f, "before byte {at}: {got}, expected {expected}")
            }
        }
    }
}

impl core::error::Error for WireError {}

/// Reads a payload from front to back.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    longest: usize,
}

impl<'a> Reader<'a> {
    /// Over a payload; no text or buffer in it may be longer than `longest`.
    #[must_use]
    pub const fn new(bytes: &'a [u8], longest: usize) -> Self {
        Self { bytes, at: 0, longest }
    }

    /// How many bytes were read.
    #[must_use]
    pub const fn at(&self) -> usize {
        self.at
    }

    /// How many bytes are left.
    #[must_use]
    pub const fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    fn take(&mut self, wanted: usize) -> Result<&'a [u8], WireError> {
        let (at, left) = (self.at, self.left());
        if wanted > left {
            return Err(WireError::Short { at, wanted, left });
        }
        self.at += wanted;
        Ok(&self.bytes[at..at + wanted])
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        Ok(self.take(N)?.try_into().expect("as many were taken"))
    }

    /// Any byte but zero is true.
    pub fn bool(&mut self) -> Result<bool, WireError> {
        Ok(self.array::<1>()?[0] != 0)
    }

    /// Four bytes.
    pub fn int(&mut self) -> Result<i32, WireError> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    /// Eight bytes.
    pub fn long(&mut self) -> Result<i64, WireError> {
        Ok(i64::from_be_bytes(self.array()?))
    }

    fn slice(&mut self) -> Result<Option<&'a [u8]>, WireError> {
        let at = self.at;
        let length = self.int()?;
        match usize::try_from(length) {
            _ if length == -1 => Ok(None),
            Ok(wanted) if wanted <= self.longest => self.take(wanted).map(Some),
            Ok(_) | Err(_) => Err(WireError::Length { at, length, most: self.longest }),
        }
    }

    /// Bytes, or null.
    pub fn buffer(&mut self) -> Result<Option<Arc<[u8]>>, WireError> {
        Ok(self.slice()?.map(Arc::from))
    }

    /// A text, or null. What is not UTF-8 becomes U+FFFD, which no valid path has.
    pub fn text(&mut self) -> Result<Option<Text>, WireError> {
        Ok(self.slice()?.map(|bytes| match core::str::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(_) => replaced(bytes).into(),
        }))
    }

    /// A vector, or null. The count is not believed: elements are read until they run out.
    pub fn vector<T>(
        &mut self,
        mut element: impl FnMut(&mut Self) -> Result<T, WireError>,
    ) -> Result<Option<Vec<T>>, WireError> {
        let count = self.int()?;
        if count == -1 {
            return Ok(None);
        }
        let mut all = Vec::new();
        for _ in 0..count {
            all.push(element(self)?);
        }
        Ok(Some(all))
    }
}

/// A text with U+FFFD where it is not UTF-8, as Java's decoder puts them.
///
/// It differs from the usual way in one place: an encoded surrogate counts as one mistake, not as
/// one for each of its bytes.
fn replaced(mut bytes: &[u8]) -> String {
    let mut text = String::new();
    loop {
        let error = match core::str::from_utf8(bytes) {
            Ok(rest) => {
                text.push_str(rest);
                return text;
            }
            Err(error) => error,
        };
        let (valid, wrong) = bytes.split_at(error.valid_up_to());
        text.push_str(core::str::from_utf8(valid).expect("valid up to here"));
        text.push('\u{fffd}');
        let length = match wrong {
            [0xED, 0xA0..=0xBF, 0x80..=0xBF, ..] => 3,
            [0xED, 0xA0..=0xBF, ..] => 2,
            _ => error.error_len().unwrap_or(wrong.len()),
        };
        bytes = &wrong[length..];
    }
}

/// Writes frames behind each other.
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
}

impl<'a> Writer<'a> {
    /// Begins a frame; its length is filled in by [`finish`](Self::finish).
    pub fn frame(out: &'a mut Vec<u8>) -> Self {
        let start = out.len();
        out.extend_from_slice(&[0; 4]);
        Self { out, start }
    }

    /// Writes on where `out` ends; there is no frame, and so nothing to finish.
    pub fn plain(out: &'a mut Vec<u8>) -> Self {
        let start = out.len();
        Self { out, start }
    }

    /// A frame within this one: four bytes of length before what `content` writes.
    pub fn nested(&mut self, content: impl FnOnce(&mut Writer<'_>)) {
        let mut inner = Writer::frame(self.out);
        content(&mut inner);
        inner.finish();
    }

    /// Ends the frame.
    pub fn finish(self) {
        let length = self.out.len() - self.start - 4;
        let length = i32::try_from(length).expect("no reply has 2 GiB");
        self.out[self.start..self.start + 4].copy_from_slice(&length.to_be_bytes());
    }

    /// 0 or 1.
    pub fn bool(&mut self, value: bool) {
        self.out.push(u8::from(value));
    }

    /// Four bytes.
    pub fn int(&mut self, value: i32) {
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    /// Eight bytes.
    pub fn long(&mut self, value: i64) {
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    /// Bytes, or null.
    pub fn buffer(&mut self, value: Option<&[u8]>) {
        match value {
            None => self.int(-1),
            Some(bytes) => {
                self.count(bytes.len());
                self.out.extend_from_slice(bytes);
            }
        }
    }

    /// A text.
    pub fn text(&mut self, value: &str) {
        self.buffer(Some(value.as_bytes()));
    }

    /// How many elements or bytes follow.
    pub fn count(&mut self, count: usize) {
        self.int(i32::try_from(count).expect("no reply has 2 GiB"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_and_empty_differ() {
        let mut reader = Reader::new(&[255, 255, 255, 255, 0, 0, 0, 0], 10);
        assert_eq!(reader.buffer(), Ok(None));
        assert_eq!(reader.buffer(), Ok(Some([].into())));
        assert_eq!(reader.left(), 0);
    }

    #[test]
    fn unreasonable_lengths_are_named() {
        let error = Reader::new(&[0, 0, 0, 11], 10).buffer().unwrap_err();
        assert_eq!(error, WireError::Length { at: 0, length: 11, most: 10 });
        let error = Reader::new(&[128, 0, 0, 0], 10).text().unwrap_err();
        assert_eq!(error, WireError::Length { at: 0, length: i32::MIN, most: 10 });
        let error = Reader::new(&[0, 0, 0, 9, 1], 10).text().unwrap_err();
        assert_eq!(error, WireError::Short { at: 4, wanted: 9, left: 1 });
    }

    #[test]
    fn a_huge_count_allocates_nothing() {
        let mut reader = Reader::new(&[127, 255, 255, 255], 10);
        assert!(reader.vector(Reader::long).is_err());
        let mut reader = Reader::new(&[255, 255, 255, 254], 10);
        assert_eq!(reader.vector(Reader::long), Ok(Some(Vec::new())));
    }

    #[test]
    fn broken_utf8_becomes_replacement_characters() {
        let mut reader = Reader::new(&[0, 0, 0, 2, b'/', 0xFF], 10);
        assert_eq!(reader.text().unwrap().unwrap().as_ref(), "/\u{fffd}");
        let cases: [(&[u8], &str); 6] = [
            (b"a\xED\xA0\x80b", "a\u{fffd}b"),
            (b"a\xED\xA0b", "a\u{fffd}b"),
            (b"\xED\xA0", "\u{fffd}"),
            (b"\xED\xED\xBF\xBF", "\u{fffd}\u{fffd}"),
            (b"\xE2\x82", "\u{fffd}"),
            (b"\xC0\x80", "\u{fffd}\u{fffd}"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(replaced(bytes), expected, "{bytes:x?}");
        }
    }
}
