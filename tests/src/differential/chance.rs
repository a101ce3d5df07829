//! Chance that means the same for ever: raw ChaCha8 words, and our own few lines on top.
//!
//! Ranges and shuffles of libraries change with their versions, and with them what an old seed
//! does; the words themselves are fixed by the cipher's specification.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Draws everything a seed decides.
#[derive(Clone, Debug)]
pub struct Chance {
    words: ChaCha8Rng,
}

impl Chance {
    /// The stream of `seed`.
    pub fn new(seed: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        Self { words: ChaCha8Rng::from_seed(key) }
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        assert!(bound > 0, "nothing is below 0");
        let product = u128::from(self.words.next_u64()) * bound as u128;
        usize::try_from(product >> 64).expect("less than the bound")
    }

    /// True `percent` times in a hundred.
    pub fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of `values`.
    pub fn one<'a, T>(&mut self, values: &'a [T]) -> &'a T {
        &values[self.below(values.len())]
    }

    /// One of `values`, as often as its weight says.
    pub fn weighted<'a, T>(&mut self, values: &'a [(usize, T)]) -> &'a T {
        let total = values.iter().map(|(weight, _)| weight).sum();
        let mut left = self.below(total);
        for (weight, value) in values {
            if left < *weight {
                return value;
            }
            left -= weight;
        }
        unreachable!("the draw is below the sum of the weights")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_means_the_same_for_ever() {
        let mut chance = Chance::new(7);
        let drawn: Vec<usize> = (0..8).map(|_| chance.below(1000)).collect();
        assert_eq!(drawn, [764, 465, 5, 301, 386, 336, 354, 193]);
        let weights = [(1, 'a'), (0, 'b'), (3, 'c')];
        let drawn: String = (0..12).map(|_| *chance.weighted(&weights)).collect();
        assert_eq!(drawn, "cccccacccaac");
    }

    #[test]
    fn a_weight_of_nothing_is_never_drawn() {
        let mut chance = Chance::new(1);
        assert!((0..1000).all(|_| *chance.weighted(&[(1, 'a'), (0, 'b'), (1, 'c')]) != 'b'));
    }
}
