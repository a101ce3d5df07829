//! One number, spun out into as many as a fault needs. Spelled out here, so that a step means the
//! same for ever.

/// What chance has decided about the inside of a fault.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Luck(u64);

impl Luck {
    /// Spins this number out.
    #[must_use]
    pub const fn new(luck: u64) -> Self {
        Self(luck)
    }

    /// The next number: splitmix64.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not zero.
    pub const fn below(&mut self, bound: usize) -> usize {
        ((self.next() as u128 * bound as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn luck_is_the_same_for_ever() {
        let mut luck = Luck::new(42);
        let first: Vec<u64> = (0..3).map(|_| luck.next()).collect();
        assert_eq!(
            first,
            [13_679_457_532_755_275_413, 2_949_826_092_126_892_291, 5_139_283_748_462_763_858]
        );
    }
}
