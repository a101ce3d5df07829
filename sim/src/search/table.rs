//! A table from fingerprints to numbers: open addressing, a place proportional to the hash.
//!
//! Because places grow with the hash, a larger table has everything in the same order, and
//! growing is one pass over memory; and because the length need not be a power of two, it can
//! grow by less than the double.

use std::hint::black_box;

/// Never a fingerprint; marks a free slot.
const FREE: u128 = 0;

/// How many of the lowest bits the place of a fingerprint depends on.
const PLACE_BITS: u32 = 122;

/// See the [module](self).
pub(super) struct Table {
    prints: Vec<u128>,
    values: Vec<u32>,
    len: usize,
}

/// A fingerprint that is not the mark of a free slot.
pub(super) const fn checked(print: u128) -> u128 {
    if print == FREE { 1 } else { print }
}

impl Table {
    /// A table that has at least this many slots.
    pub(super) fn new(slots: usize) -> Self {
        let slots = slots.max(8);
        Self { prints: vec![FREE; slots], values: vec![0; slots], len: 0 }
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    pub(super) const fn slots(&self) -> usize {
        self.prints.len()
    }

    /// Bytes of one slot.
    pub(super) const SLOT: u64 = 20;

    /// How many slots a table has after it grew from `slots`.
    pub(super) const fn grown(slots: usize) -> usize {
        slots + slots / 2
    }

    /// Whether it must grow before one more is put in.
    pub(super) const fn is_full(&self) -> bool {
        self.len * 4 >= self.prints.len() * 3
    }

    #[inline]
    const fn home(&self, print: u128) -> usize {
        let hash = (print >> (PLACE_BITS - 64)) as u64;
        ((hash as u128 * self.prints.len() as u128) >> 64) as usize
    }

    /// Touches the places of fingerprints that will soon be asked for, so that memory is asked
    /// for all of them at once.
    #[inline]
    pub(super) fn touch(&self, prints: impl Iterator<Item = u128>) {
        let mut sum = 0;
        for print in prints {
            sum ^= self.prints[self.home(print)] as u64;
        }
        black_box(sum);
    }

    /// The number of `print`, or none after `value` was put in for it.
    ///
    /// The caller sees to it that the table is not full.
    #[inline]
    pub(super) fn put(&mut self, print: u128, value: u32) -> Option<u32> {
        let slots = self.prints.len();
        let mut slot = self.home(print);
        loop {
            let there = self.prints[slot];
            if there == print {
                return Some(self.values[slot]);
            }
            if there == FREE {
                self.prints[slot] = print;
                self.values[slot] = value;
                self.len += 1;
                return None;
            }
            slot += 1;
            if slot == slots {
                slot = 0;
            }
        }
    }

    /// The number of `print`, if it is there.
    #[cfg(test)]
    pub(super) fn find(&self, print: u128) -> Option<u32> {
        let slots = self.prints.len();
        let mut slot = self.home(print);
        loop {
            let there = self.prints[slot];
            if there == print {
                return Some(self.values[slot]);
            }
            if there == FREE {
                return None;
            }
            slot = if slot + 1 == slots { 0 } else { slot + 1 };
        }
    }

    /// Makes room.
    pub(super) fn grow(&mut self) {
        let mut larger = Self::new(Self::grown(self.prints.len()));
        for (print, value) in self.iter() {
            larger.put(print, value);
        }
        *self = larger;
    }

    /// Everything in it, in the order of its slots.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u128, u32)> {
        let both = self.prints.iter().copied().zip(self.values.iter().copied());
        both.filter(|(print, _)| *print != FREE)
    }

    /// Bytes it takes.
    pub(super) fn bytes(&self) -> u64 {
        (self.prints.capacity() * size_of::<u128>() + self.values.capacity() * size_of::<u32>())
            as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::print_of;

    #[test]
    fn what_was_put_in_is_found_however_often_it_grew() {
        let mut table = Table::new(0);
        for word in 0..10_000 {
            if table.is_full() {
                table.grow();
            }
            assert_eq!(table.put(print_of([word, 0]), word as u32), None);
        }
        for word in 0..10_000 {
            assert_eq!(table.find(print_of([word, 0])), Some(word as u32));
            assert_eq!(table.put(print_of([word, 0]), 7), Some(word as u32));
        }
        assert_eq!(table.find(print_of([0, 1])), None);
        assert_eq!(table.len(), 10_000);
        assert_eq!(table.iter().count(), 10_000);
        assert!(table.bytes() == Table::SLOT * table.slots() as u64);
    }

    #[test]
    fn fingerprints_that_crowd_at_the_end_go_round() {
        let mut table = Table::new(8);
        for low in 0..5 {
            assert_eq!(table.put(u128::MAX - low, low as u32), None);
        }
        for low in 0..5 {
            assert_eq!(table.find(u128::MAX - low), Some(low as u32));
        }
        table.grow();
        assert_eq!(table.find(u128::MAX - 4), Some(4));
    }
}
