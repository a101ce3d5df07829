//! The bytes of a connection as they come in, cut into frames.
//!
//! A frame is a length, big-endian, and as many bytes. The length is the other side's word: memory
//! is taken as bytes arrive, never because a length says so.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// What a new connection gets; most frames are far smaller.
const FIRST_BYTES: usize = 4 * 1024;

/// What a connection may use for reading many small frames at once. Only a frame that does not
/// fit makes the buffer larger, and only until it has been read.
const BATCH_BYTES: usize = 64 * 1024;

/// Bytes that came in and were not looked at yet.
#[derive(Debug)]
pub struct Inbox {
    /// Invariant: `start <= end <= buffer.len()`, and `start..end` is what came in.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    frame_max: usize,
}

impl Inbox {
    /// An empty one, for frames of up to `frame_max` bytes.
    #[must_use]
    pub fn new(frame_max: usize) -> Self {
        Self { buffer: vec![0; FIRST_BYTES], start: 0, end: 0, frame_max }
    }

    /// Where the next bytes go; never empty.
    pub fn space(&mut self) -> &mut [u8] {
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
            if self.buffer.len() > BATCH_BYTES {
                self.buffer = vec![0; BATCH_BYTES];
            }
        }
        if self.end == self.buffer.len() {
            if self.start > 0 {
                self.buffer.copy_within(self.start..self.end, 0);
                self.end -= self.start;
                self.start = 0;
            } else {
                // One frame fills it all.
                self.buffer.resize(self.buffer.len() * 2, 0);
            }
        }
        &mut self.buffer[self.end..]
    }

    /// Takes note of `count` bytes that were put into [`space`](Self::space).
    ///
    /// # Panics
    /// If there was no space for so many.
    pub fn filled(&mut self, count: usize) {
        self.end += count;
        assert!(self.end <= self.buffer.len(), "filled more than there was space for");
        // There is more to come than fits at once: read more at a time.
        if self.end == self.buffer.len() && self.buffer.len() < BATCH_BYTES {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
    }

    /// Everything that came in and was not taken yet.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Takes everything.
    pub fn clear(&mut self) {
        self.start = self.end;
    }

    /// Takes the next whole frame, without its length.
    ///
    /// # Errors
    /// A length that no frame may have. Nothing was taken, and nothing behind it can be read.
    pub fn next_frame(&mut self) -> Result<Option<&[u8]>, LengthError> {
        let Some((head, rest)) = self.bytes().split_first_chunk::<4>() else {
            return Ok(None);
        };
        let got = i32::from_be_bytes(*head);
        let error = LengthError { got, max: self.frame_max };
        let length = usize::try_from(got).map_err(|_| error)?;
        if length > self.frame_max {
            return Err(error);
        }
        if rest.len() < length {
            return Ok(None);
        }
        let from = self.start + 4;
        self.start = from + length;
        Ok(Some(&self.buffer[from..self.start]))
    }
}

/// A length that no frame may have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LengthError {
    got: i32,
    max: usize,
}

impl fmt::Display for LengthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a frame of {} bytes where 0 to {} are allowed", self.got, self.max)
    }
}

impl core::error::Error for LengthError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(inbox: &mut Inbox, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let space = inbox.space();
            let count = space.len().min(bytes.len());
            space[..count].copy_from_slice(&bytes[..count]);
            inbox.filled(count);
            bytes = &bytes[count..];
        }
    }

    fn frame(payload: &[u8]) -> Vec<u8> {
        [&i32::try_from(payload.len()).unwrap().to_be_bytes(), payload].concat()
    }

    #[test]
    fn frames_come_out_as_they_went_in_however_they_are_cut() {
        let frames: Vec<Vec<u8>> =
            (0..300_u16).map(|n| vec![n as u8; usize::from(n) * 7]).collect();
        let stream: Vec<u8> = frames.iter().flat_map(|payload| frame(payload)).collect();
        for piece in [1, 3, 4, 5, 1000, 4096, 100_000] {
            let mut inbox = Inbox::new(4096);
            let mut out = Vec::new();
            for bytes in stream.chunks(piece) {
                put(&mut inbox, bytes);
                while let Some(payload) = inbox.next_frame().unwrap() {
                    out.push(payload.to_vec());
                }
            }
            assert_eq!(out, frames, "in pieces of {piece}");
        }
    }

    #[test]
    fn a_length_alone_takes_no_memory() {
        let mut inbox = Inbox::new(1 << 30);
        put(&mut inbox, &(1_i32 << 30).to_be_bytes());
        assert_eq!(inbox.next_frame(), Ok(None));
        inbox.space();
        assert_eq!(inbox.buffer.len(), FIRST_BYTES);
    }

    #[test]
    fn a_large_frame_leaves_a_small_buffer_behind() {
        let mut inbox = Inbox::new(1 << 20);
        put(&mut inbox, &frame(&vec![7; 1 << 20]));
        assert_eq!(inbox.next_frame().unwrap().map(<[u8]>::len), Some(1 << 20));
        inbox.space();
        assert_eq!(inbox.buffer.len(), BATCH_BYTES);
    }

    #[test]
    fn lengths_out_of_bounds_are_errors() {
        for (got, fine) in [(-1, false), (i32::MIN, false), (10, true), (11, false)] {
            let mut inbox = Inbox::new(10);
            put(&mut inbox, &got.to_be_bytes());
            let expected = if fine { Ok(None) } else { Err(LengthError { got, max: 10 }) };
            assert_eq!(inbox.next_frame(), expected);
        }
    }
}
