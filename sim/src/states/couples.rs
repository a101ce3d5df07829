//! A map from two numbers to a third, all in one piece of memory: whoever looks something up
//! waits for memory once.

use std::hint::black_box;

/// See the [module](self). The two numbers may not both be the greatest.
#[derive(Debug)]
pub(super) struct Couples {
    /// As many as a power of two; at least half of them are free.
    slots: Vec<Slot>,
    len: usize,
}

#[derive(Clone, Copy, Debug)]
#[repr(align(16))]
struct Slot {
    key: u64,
    value: u32,
}

const FREE: Slot = Slot { key: u64::MAX, value: 0 };

/// How many slots there are at first.
const SLOTS: usize = 64;

impl Default for Couples {
    fn default() -> Self {
        Self { slots: vec![FREE; SLOTS], len: 0 }
    }
}

const fn key(one: u32, other: u32) -> u64 {
    (one as u64) << 32 | other as u64
}

impl Couples {
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    #[inline]
    const fn home(&self, key: u64) -> usize {
        let product = (key as u128).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
        let hash = (product >> 64) as u64 ^ product as u64;
        hash as usize & (self.slots.len() - 1)
    }

    /// Touches the place of something that will soon be asked for.
    #[inline]
    pub(super) fn touch(&self, one: u32, other: u32) {
        black_box(self.slots[self.home(key(one, other))].value);
    }

    /// The slot of these two, or the free one where they would be.
    #[inline]
    fn seek(&self, key: u64) -> usize {
        let mut at = self.home(key);
        while self.slots[at].key != key && self.slots[at].key != FREE.key {
            at = (at + 1) & (self.slots.len() - 1);
        }
        at
    }

    #[inline]
    pub(super) fn get(&self, one: u32, other: u32) -> Option<u32> {
        let key = key(one, other);
        let slot = self.slots[self.seek(key)];
        (slot.key == key).then_some(slot.value)
    }

    /// Notes a third number for two of which nothing is known.
    pub(super) fn put(&mut self, one: u32, other: u32, value: u32) {
        if 2 * self.len >= self.slots.len() {
            let slots = vec![FREE; 2 * self.slots.len()];
            let old = std::mem::replace(&mut self.slots, slots);
            for slot in old.into_iter().filter(|slot| slot.key != FREE.key) {
                let at = self.seek(slot.key);
                self.slots[at] = slot;
            }
        }
        let key = key(one, other);
        let at = self.seek(key);
        assert!(self.slots[at].key == FREE.key, "it is known already");
        self.slots[at] = Slot { key, value };
        self.len += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_found_and_nothing_else() {
        let mut couples = Couples::default();
        for one in 0..100 {
            for other in 0..100 {
                assert_eq!(couples.get(one, other * other), None);
                couples.put(one, other * other, one * 1000 + other);
            }
        }
        assert_eq!(couples.len(), 10_000);
        for one in 0..100 {
            for other in 0..100 {
                couples.touch(one, other);
                assert_eq!(couples.get(one, other * other), Some(one * 1000 + other));
                assert_eq!(couples.get(one + 100, other), None);
            }
        }
        couples.clear();
        assert_eq!((couples.get(1, 1), couples.len()), (None, 0));
    }
}
