//! Chance for where it does not matter to anybody but the servers, whose load it spreads.

use std::hash::{BuildHasher, RandomState};

use zoolab_core::client::Chance;

/// Draws: hashes of a counter under a key that nobody knows. In a simulation the key follows from
/// the seed.
#[derive(Debug)]
pub(crate) struct Luck {
    key: RandomState,
    drawn: u64,
}

impl Luck {
    pub(crate) fn new() -> Self {
        Self { key: RandomState::new(), drawn: 0 }
    }

    /// A number, uniform over all 64 bits.
    pub(crate) fn draw(&mut self) -> u64 {
        self.drawn += 1;
        self.key.hash_one(self.drawn)
    }

    /// A number from none to `most`.
    pub(crate) fn up_to(&mut self, most: u32) -> u32 {
        let parts = u128::from(most) + 1;
        u32::try_from((u128::from(self.draw()) * parts) >> 64).expect("not above `most`")
    }

    /// So many draws, for the machine.
    pub(crate) fn chance(&mut self, draws: usize) -> Chance {
        (0..draws).map(|_| self.draw()).collect()
    }

    /// Puts a list in an order, all about equally likely.
    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            let most = u32::try_from(last).unwrap_or(u32::MAX);
            list.swap(last, self.up_to(most) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_below_the_most_and_reach_it() {
        let mut luck = Luck::new();
        let mut seen = [0; 4];
        for _ in 0..1000 {
            seen[luck.up_to(3) as usize] += 1;
        }
        assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
        assert_eq!(luck.up_to(0), 0);
    }
}
