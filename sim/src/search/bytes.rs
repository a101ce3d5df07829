//! Numbers as bytes in a file, with a checksum at the end.

use std::io::{self, BufReader, BufWriter, Read, Write};

use crc32fast::Hasher;

/// Writes words and ends with their checksum.
pub(super) struct Sealed<W: Write> {
    to: BufWriter<W>,
    sum: Hasher,
}

impl<W: Write> Sealed<W> {
    pub(super) fn new(to: W) -> Self {
        Self { to: BufWriter::new(to), sum: Hasher::new() }
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sum.update(bytes);
        self.to.write_all(bytes)
    }

    pub(super) fn word(&mut self, word: u64) -> io::Result<()> {
        self.bytes(&word.to_le_bytes())
    }

    pub(super) fn words(&mut self, words: impl IntoIterator<Item = u64>) -> io::Result<()> {
        words.into_iter().try_for_each(|word| self.word(word))
    }

    /// A text, after its length.
    pub(super) fn text(&mut self, text: &str) -> io::Result<()> {
        self.word(text.len() as u64)?;
        self.bytes(text.as_bytes())
    }

    /// Writes the checksum and gives back what was written to.
    pub(super) fn seal(mut self) -> io::Result<W> {
        let sum = self.sum.finalize();
        self.to.write_all(&sum.to_le_bytes())?;
        self.to.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

/// Whether what is read ends with the checksum of all before.
pub(super) fn is_whole(mut from: impl Read, len: u64) -> io::Result<bool> {
    let Some(mut left) = len.checked_sub(4) else { return Ok(false) };
    let mut sum = Hasher::new();
    let mut buffer = vec![0; 1 << 16];
    while left > 0 {
        let part = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        from.read_exact(&mut buffer[..part])?;
        sum.update(&buffer[..part]);
        left -= part as u64;
    }
    let mut expected = [0; 4];
    from.read_exact(&mut expected)?;
    Ok(sum.finalize() == u32::from_le_bytes(expected))
}

/// Reads words.
pub(super) struct Words<R: Read> {
    from: BufReader<R>,
}

impl<R: Read> Words<R> {
    pub(super) fn new(from: R) -> Self {
        Self { from: BufReader::new(from) }
    }

    pub(super) fn array<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.from.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    pub(super) fn word(&mut self) -> io::Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// A word that counts something in memory.
    pub(super) fn count(&mut self) -> io::Result<usize> {
        self.word().map(|word| word as usize)
    }

    pub(super) fn words(&mut self, count: usize) -> io::Result<Vec<u64>> {
        (0..count).map(|_| self.word()).collect()
    }

    pub(super) fn text(&mut self) -> io::Result<String> {
        let len = self.word()?;
        let mut text = String::new();
        self.from.by_ref().take(len).read_to_string(&mut text)?;
        Ok(text)
    }
}
