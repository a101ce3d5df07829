//! Adler-32, the checksum of ZooKeeper's logs and snapshots.
//!
//! Most entries of a log are short. For these the two sums are taken in one go, in small numbers
//! of which the processor can multiply many at once; `adler2` is made for long ones.

const MODULUS: u32 = 65_521;
/// What is longer is not short.
const SHORT: usize = 256;
/// By what each byte counts in the second sum, if it is the last, the one before it …, reversed.
const WEIGHTS: [i16; SHORT] = {
    let mut weights = [0; SHORT];
    let mut place = 0;
    while place < SHORT {
        weights[place] = (SHORT - place) as i16;
        place += 1;
    }
    weights
};

// Neither sum can overflow.
const _: () = assert!(SHORT * (SHORT + 1) / 2 * 255 < i32::MAX as usize);

/// The checksum of these bytes.
pub(super) fn adler32(bytes: &[u8]) -> u32 {
    let Some(skipped) = SHORT.checked_sub(bytes.len()) else {
        return adler2::adler32_slice(bytes);
    };
    let (mut sum, mut weighted) = (0_i32, 0_i32);
    for (byte, weight) in bytes.iter().zip(&WEIGHTS[skipped..]) {
        let byte = i16::from(*byte);
        sum = sum.wrapping_add(i32::from(byte));
        weighted = weighted.wrapping_add(i32::from(byte).wrapping_mul(i32::from(*weight)));
    }
    let a = (1 + sum.cast_unsigned()) % MODULUS;
    let b = (bytes.len() as u32 + weighted.cast_unsigned()) % MODULUS;
    b << 16 | a
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn short_ones_are_as_long_ones() {
        for len in 0..SHORT + 2 {
            for step in [0, 1, 7, 255] {
                let bytes: Vec<u8> = (0..len).map(|place| !((place * step) as u8)).collect();
                assert_eq!(adler32(&bytes), adler2::adler32_slice(&bytes), "{len} {step}");
            }
        }
        assert_eq!(adler32(b"Wikipedia"), 0x11E6_0398);
    }
}
