//! The running hash of a run: equal for equal steps, on every machine. Spelled out here, so that
//! it means the same for ever.

use std::fmt;

/// See the [module](self).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct RunningHash(u64);

impl Default for RunningHash {
    fn default() -> Self {
        Self(0x6A09_E667_F3BC_C908)
    }
}

impl RunningHash {
    /// Takes one more word.
    pub const fn word(&mut self, word: u64) {
        let mixed = (self.0 ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed.rotate_left(29) ^ (mixed >> 32);
    }

    /// The hash of everything taken.
    #[must_use]
    pub const fn finish(self) -> u64 {
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

impl fmt::Display for RunningHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_every_bit_count() {
        let of = |words: &[u64]| {
            let mut hash = RunningHash::default();
            words.iter().for_each(|word| hash.word(*word));
            hash.finish()
        };
        assert_ne!(of(&[1, 2]), of(&[2, 1]));
        assert_ne!(of(&[0]), of(&[]));
        for bit in 0..64 {
            assert_ne!(of(&[1 << bit, 7]), of(&[0, 7]), "bit {bit}");
        }
    }
}
