//! Chance from a seed, in streams by name: taking one fault away does not shift the others.
//!
//! Raw ChaCha8 words are the same for ever by specification. What is made of them is spelled out
//! here; no library's ranges or shuffles lie between a seed and a step.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

/// One named stream of a seed.
#[derive(Clone, Debug)]
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// The stream of this name.
    #[must_use]
    pub fn new(seed: u64, name: &str) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut words = ChaCha8Rng::from_seed(key);
        // FNV-1a of the name.
        let number = name.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        });
        words.set_stream(number);
        Self(words)
    }

    /// The next word.
    pub fn word(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `bound`, which is not zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.word()) * u128::from(bound)) >> 64) as u64
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// True so many times of so many.
    pub fn one_in(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }

    /// One of these, if there is any.
    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        if all.is_empty() { None } else { all.get(self.below(all.len() as u64) as usize) }
    }

    /// Mostly small, seldom many times the mean: halved with every coin that falls.
    pub fn around(&mut self, mean: u64) -> u64 {
        let word = self.word();
        let scale = u64::from((word >> 60).trailing_ones());
        let span = (mean << scale.min(3)) / 2;
        mean / 4 + ((u128::from(word << 4) * u128::from(span.max(1))) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_the_same_for_ever_and_apart() {
        let mut delays = Stream::new(42, "delays");
        let mut faults = Stream::new(42, "faults");
        let words = [delays.word(), delays.word(), faults.word()];
        insta::assert_debug_snapshot!(words, @r#"
        [
            8113531014688243408,
            6195439476957675862,
            13520688203895687833,
        ]
        "#);
        let drawn: Vec<u64> = (0..6).map(|_| delays.around(1000)).collect();
        insta::assert_debug_snapshot!(drawn, @r#"
        [
            484,
            1229,
            617,
            403,
            682,
            494,
        ]
        "#);
    }
}
