//! The encoding below the protocol: big-endian numbers, lengths before bytes, −1 for null.
//!
//! Written from the protocol's description alone, without a look at the core's codec: what both
//! agree on is then evidence, not an echo.

use std::fmt;

/// Bytes that are meant as text, or null.
///
/// Kept as bytes in both directions: a test may send what is not UTF-8, and must see exactly what
/// came back.
#[derive(Clone, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct Text(pub Option<Vec<u8>>);

impl Text {
    /// The absent string, which is not the empty one.
    pub const NULL: Self = Self(None);

    /// The bytes; none for null.
    pub fn bytes(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }

    /// Whether this is the absent string.
    pub fn is_null(&self) -> bool {
        self.0.is_none()
    }

    /// The text for a reader, with what is not UTF-8 written as `\xNN`; null becomes `null`.
    pub fn lossy(&self) -> String {
        let Some(bytes) = &self.0 else { return "null".to_owned() };
        let mut text = String::new();
        for chunk in bytes.utf8_chunks() {
            text += chunk.valid();
            for byte in chunk.invalid() {
                text += &format!("\\x{byte:02x}");
            }
        }
        text
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Text {
    /// Quoted, with control characters escaped; null without quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(bytes) = &self.0 else { return f.write_str("null") };
        f.write_str("\"")?;
        for chunk in bytes.utf8_chunks() {
            for character in chunk.valid().chars() {
                if character == '/' || character.is_ascii_graphic() && character != '"' {
                    write!(f, "{character}")?;
                } else {
                    write!(f, "{}", character.escape_default())?;
                }
            }
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        f.write_str("\"")
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(Some(text.as_bytes().to_vec()))
    }
}

impl From<&String> for Text {
    fn from(text: &String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(Some(text.into_bytes()))
    }
}

impl From<&[u8]> for Text {
    fn from(bytes: &[u8]) -> Self {
        Self(Some(bytes.to_vec()))
    }
}

impl From<&Self> for Text {
    fn from(text: &Self) -> Self {
        text.clone()
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.0.as_deref() == Some(other.as_bytes())
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self == *other
    }
}

/// Puts values after one another, as the wire wants them.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// Nothing written yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What was written.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }

    /// One byte, 0 or 1.
    pub fn bool(mut self, value: bool) -> Self {
        self.bytes.push(u8::from(value));
        self
    }

    /// Four bytes.
    pub fn i32(mut self, value: i32) -> Self {
        self.bytes.extend(value.to_be_bytes());
        self
    }

    /// Eight bytes.
    pub fn i64(mut self, value: i64) -> Self {
        self.bytes.extend(value.to_be_bytes());
        self
    }

    /// A length and the bytes; null is the length −1.
    pub fn buffer(self, value: Option<&[u8]>) -> Self {
        let Some(value) = value else { return self.i32(-1) };
        let length = i32::try_from(value.len()).expect("no test writes 2 GiB");
        self.i32(length).raw(value)
    }

    /// A string, encoded as a buffer.
    pub fn text(self, value: &Text) -> Self {
        self.buffer(value.0.as_deref())
    }

    /// A count and the elements, each written by `one`; null is the count −1.
    pub fn list<T>(self, values: Option<&[T]>, one: impl Fn(Self, &T) -> Self) -> Self {
        let Some(values) = values else { return self.i32(-1) };
        let count = i32::try_from(values.len()).expect("no test writes 2^31 elements");
        values.iter().fold(self.i32(count), one)
    }

    /// Bytes as they are, without a length.
    pub fn raw(mut self, bytes: &[u8]) -> Self {
        self.bytes.extend(bytes);
        self
    }
}

/// Why bytes could not be read as what they were taken for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Garbled {
    /// The bytes ended inside a value.
    Short {
        /// What was being read.
        what: &'static str,
        /// Bytes it needs.
        need: usize,
        /// Bytes that were left.
        left: usize,
    },
    /// A length or count that is negative and not −1.
    Length {
        /// The number as it was read.
        got: i32,
    },
}

impl fmt::Display for Garbled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { what, need, left } => {
                write!(f, "{what} needs {need} bytes where {left} are left")
            }
            Self::Length { got } => write!(f, "length {got} where -1 or more was due"),
        }
    }
}

impl std::error::Error for Garbled {}

/// Takes values off the front of bytes.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Reads from the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// What was not read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    fn take(&mut self, what: &'static str, need: usize) -> Result<&'a [u8], Garbled> {
        let Some((head, rest)) = self.rest.split_at_checked(need) else {
            return Err(Garbled::Short { what, need, left: self.rest.len() });
        };
        self.rest = rest;
        Ok(head)
    }

    /// One byte; anything but 0 is true.
    pub fn bool(&mut self) -> Result<bool, Garbled> {
        Ok(self.take("a boolean", 1)? != [0])
    }

    /// Four bytes.
    pub fn i32(&mut self) -> Result<i32, Garbled> {
        let bytes = self.take("an int", 4)?;
        Ok(i32::from_be_bytes(bytes.try_into().expect("four bytes were taken")))
    }

    /// Eight bytes.
    pub fn i64(&mut self) -> Result<i64, Garbled> {
        let bytes = self.take("a long", 8)?;
        Ok(i64::from_be_bytes(bytes.try_into().expect("eight bytes were taken")))
    }

    fn length(&mut self) -> Result<Option<usize>, Garbled> {
        match self.i32()? {
            -1 => Ok(None),
            got => usize::try_from(got).map(Some).map_err(|_| Garbled::Length { got }),
        }
    }

    /// A length and as many bytes.
    pub fn buffer(&mut self) -> Result<Option<Vec<u8>>, Garbled> {
        let Some(length) = self.length()? else { return Ok(None) };
        Ok(Some(self.take("a buffer", length)?.to_vec()))
    }

    /// A string, encoded as a buffer.
    pub fn text(&mut self) -> Result<Text, Garbled> {
        Ok(Text(self.buffer()?))
    }

    /// A count and as many elements, each read by `one`.
    pub fn list<T>(
        &mut self,
        one: impl Fn(&mut Self) -> Result<T, Garbled>,
    ) -> Result<Option<Vec<T>>, Garbled> {
        let Some(count) = self.length()? else { return Ok(None) };
        // An element has at least one byte, so a huge count fails before it fills the memory.
        (0..count).map(|_| one(self)).collect::<Result<Vec<T>, Garbled>>().map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_back() {
        let bytes = Writer::new()
            .bool(true)
            .i32(-2)
            .i64(i64::MIN)
            .text(&"/ä".into())
            .text(&Text::NULL)
            .buffer(Some(b""))
            .list(Some(&[1, 2]), |w, v| w.i32(*v))
            .list::<i32>(None, |w, v| w.i32(*v))
            .finish();
        let mut reader = Reader::new(&bytes);
        assert_eq!(reader.bool(), Ok(true));
        assert_eq!(reader.i32(), Ok(-2));
        assert_eq!(reader.i64(), Ok(i64::MIN));
        assert_eq!(reader.text(), Ok("/ä".into()));
        assert_eq!(reader.text(), Ok(Text::NULL));
        assert_eq!(reader.buffer(), Ok(Some(vec![])));
        assert_eq!(reader.list(Reader::i32), Ok(Some(vec![1, 2])));
        assert_eq!(reader.list(Reader::i32), Ok(None));
        assert_eq!(reader.rest(), b"");
    }

    #[test]
    fn short_bytes_are_an_error_with_numbers() {
        let error = Reader::new(&[0, 0, 0, 9, b'x']).buffer().unwrap_err();
        assert_eq!(error.to_string(), "a buffer needs 9 bytes where 1 are left");
        assert_eq!(Reader::new(&[255, 255, 255, 254]).text(), Err(Garbled::Length { got: -2 }));
    }

    #[test]
    fn text_is_shown_so_that_nothing_is_mistaken() {
        let text = Text(Some(b"/a\0\xff b".to_vec()));
        assert_eq!(text.to_string(), "\"/a\\u{0}\\xff b\"");
        assert_eq!(Text::NULL.to_string(), "null");
        assert_eq!(Text::from("").to_string(), "\"\"");
    }
}
