//! The two epochs a server must not forget, each a text file with one number.

use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::fmt;

use super::file::{FileKind, FileName};
use crate::ids::Epoch;

/// Which of the two.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum EpochKind {
    /// The newest epoch this server has promised itself to.
    Accepted,
    /// The newest epoch whose history this server has. Not above the accepted one.
    Current,
}

impl EpochKind {
    /// Its file.
    #[must_use]
    pub const fn name(self) -> FileName {
        FileName::of(match self {
            Self::Accepted => FileKind::AcceptedEpoch,
            Self::Current => FileKind::CurrentEpoch,
        })
    }
}

/// What the file says that holds this epoch.
#[must_use]
pub fn encode(epoch: Epoch) -> Vec<u8> {
    epoch.to_string().into_bytes()
}

/// Reads an epoch file: the number in its first line.
///
/// # Errors
/// If there is none.
pub fn decode(bytes: &[u8]) -> Result<Epoch, NoEpoch> {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().next().unwrap_or_default();
    line.parse().map(Epoch).map_err(|_| NoEpoch { found: line.chars().take(40).collect() })
}

/// An epoch file without an epoch.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NoEpoch {
    /// The beginning of what it says.
    pub found: String,
}

impl fmt::Display for NoEpoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}, expected an epoch: a number from 0 to {}", self.found, u32::MAX)
    }
}

impl core::error::Error for NoEpoch {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_are_written_as_zookeeper_does() {
        assert_eq!(encode(Epoch(17)), b"17");
        assert_eq!(decode(b"17"), Ok(Epoch(17)));
        assert_eq!(decode(b"17\n"), Ok(Epoch(17)));
        for bytes in [&b""[..], b"-1", b"x", b" 1", b"\xff", b"\n1", b"99999999999"] {
            assert!(decode(bytes).is_err(), "{bytes:?}");
        }
    }
}
