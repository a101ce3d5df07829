//! Raw words from a seed, and what a benchmark makes of them. The same seed asks the same
//! questions on every machine.

/// Xorshift64*, by Vigna: small, quick, and good enough to pick nodes by.
#[derive(Clone, Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    /// Any seed will do; zero becomes another one, for which the generator would stand still.
    pub(crate) fn new(seed: u64) -> Self {
        // Close seeds become distant states (SplitMix64).
        let mut state = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Self((state ^ (state >> 31)).max(1))
    }

    /// The next word.
    pub(crate) fn word(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// One of `0..end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        assert!(end > 0, "one of none");
        // The high half of the product: as even as anyone can see for ends far below 2^64.
        ((u128::from(self.word()) * end as u128) >> 64) as usize
    }

    /// All of `0..end`, in any order.
    pub(crate) fn shuffled(&mut self, end: usize) -> Vec<u32> {
        let end = u32::try_from(end).expect("fewer than 2^32 to shuffle");
        let mut all: Vec<u32> = (0..end).collect();
        for last in (1..all.len()).rev() {
            all.swap(last, self.below(last + 1));
        }
        all
    }

    /// So many bytes.
    pub(crate) fn bytes(&mut self, len: usize) -> Vec<u8> {
        let words = std::iter::repeat_with(|| self.word().to_le_bytes()).flatten();
        words.take(len).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_asks_the_same() {
        let words = |seed| {
            let mut chance = Chance::new(seed);
            [chance.word(), chance.word(), chance.word()]
        };
        assert_eq!(words(7), words(7));
        assert_ne!(words(7), words(8));
        assert_ne!(words(0), [0; 3]);
    }

    #[test]
    fn shuffling_loses_nothing() {
        let mut all = Chance::new(1).shuffled(1000);
        assert!(all.windows(2).any(|pair| pair[0] > pair[1]));
        all.sort_unstable();
        assert!(all.into_iter().eq(0..1000));
    }

    #[test]
    fn every_number_below_is_drawn() {
        let mut chance = Chance::new(3);
        let mut drawn = [0; 10];
        for _ in 0..1000 {
            drawn[chance.below(10)] += 1;
        }
        assert!(drawn.iter().all(|&times| times > 50), "{drawn:?}");
    }
}
