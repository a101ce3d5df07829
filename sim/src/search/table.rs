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
    /// By slot; none at all in a table that only says what is in it. They lie apart from the
    /// fingerprints, where a search that does not ask for them need not wait for them.
    values: Vec<u32>,
    valued: bool,
    len: usize,
}

/// Where a fingerprint is, until the table grows.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Slot(usize);

/// A fingerprint that is not the mark of a free slot.
pub(super) const fn checked(print: u128) -> u128 {
    if print == FREE { 1 } else { print }
}

impl Table {
    /// A table that has at least this many slots; with a number in each, if `valued`.
    pub(super) fn new(slots: usize, valued: bool) -> Self {
        let slots = slots.max(8);
        let values = if valued { vec![0; slots] } else { Vec::new() };
        Self { prints: vec![FREE; slots], values, valued, len: 0 }
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// How many slots it has after so many more were put in: half as many again, as often as it
    /// takes to have a quarter free.
    const fn slots_for(&self, more: usize) -> usize {
        let mut slots = self.prints.len();
        while (self.len + more) * 4 > slots * 3 {
            slots += slots / 2;
        }
        slots
    }

    /// Bytes by which it may grow when so many more are put in.
    pub(super) const fn bytes_growth(&self, more: usize) -> u64 {
        let slots = self.slots_for(more);
        let each = size_of::<u128>() + if self.valued { size_of::<u32>() } else { 0 };
        ((slots - self.prints.len()) * each) as u64
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

    /// The slot of `print`, or the free one where it would be.
    #[inline]
    fn seek(&self, print: u128) -> Result<Slot, Slot> {
        let slots = self.prints.len();
        let mut slot = self.home(print);
        loop {
            let there = self.prints[slot];
            if there == print {
                return Ok(Slot(slot));
            }
            if there == FREE {
                return Err(Slot(slot));
            }
            slot += 1;
            if slot == slots {
                slot = 0;
            }
        }
    }

    /// The slot of `print`, if it is there.
    #[inline]
    pub(super) fn find(&self, print: u128) -> Option<Slot> {
        self.seek(print).ok()
    }

    /// The slot of `print`, or none after `value` was put in for it.
    #[inline]
    pub(super) fn put(&mut self, print: u128, value: u32) -> Option<Slot> {
        if (self.len + 1) * 4 > self.prints.len() * 3 {
            self.reserve(1);
        }
        match self.seek(print) {
            Ok(slot) => Some(slot),
            Err(Slot(free)) => {
                self.prints[free] = print;
                if self.valued {
                    self.values[free] = value;
                }
                self.len += 1;
                None
            }
        }
    }

    /// The number in a slot.
    #[inline]
    pub(super) fn value(&self, slot: Slot) -> u32 {
        self.values[slot.0]
    }

    /// Changes the number in a slot.
    pub(super) fn set_value(&mut self, slot: Slot, value: u32) {
        self.values[slot.0] = value;
    }

    /// Everything in it, beginning where `print` would be, and round.
    pub(super) fn from(&self, print: u128) -> impl Iterator<Item = (Slot, u32)> {
        let home = self.home(print);
        let slots = (home..self.prints.len()).chain(0..home);
        let taken = slots.filter(|slot| self.prints[*slot] != FREE);
        taken.map(|slot| (Slot(slot), self.values[slot]))
    }

    /// Takes out what is in a slot, and moves up what lies behind it only because of it.
    pub(super) fn remove(&mut self, Slot(slot): Slot) {
        let slots = self.prints.len();
        let distance =
            |from: usize, to: usize| if to < from { to + slots - from } else { to - from };
        let mut hole = slot;
        let mut at = (slot + 1) % slots;
        while self.prints[at] != FREE {
            if distance(self.home(self.prints[at]), at) >= distance(hole, at) {
                self.prints[hole] = self.prints[at];
                self.values[hole] = self.values[at];
                hole = at;
            }
            at = (at + 1) % slots;
        }
        self.prints[hole] = FREE;
        self.len -= 1;
    }

    /// Moves to a table of so many slots. Both have everything in the same order, so that places
    /// fill up evenly on the way.
    fn grow_to(&mut self, slots: usize) {
        let mut larger = Self::new(slots, self.valued);
        for (print, value) in self.iter() {
            larger.put(print, value);
        }
        *self = larger;
    }

    /// Makes room for so many more.
    ///
    /// Whoever puts in many in their order must have made room before: the lowest of many would
    /// crowd at the beginning of a small table.
    #[cold]
    pub(super) fn reserve(&mut self, more: usize) {
        let slots = self.slots_for(more);
        if slots > self.prints.len() {
            self.grow_to(slots);
        }
    }

    /// Puts in everything that is in another.
    pub(super) fn put_all(&mut self, other: &Self) {
        self.reserve(other.len);
        for (print, value) in other.iter() {
            self.put(print, value);
        }
    }

    /// Takes everything out. Keeps the room, unless it is much more than was needed.
    pub(super) fn clear(&mut self) {
        if self.prints.len() > 4 * self.len.max(8) {
            *self = Self::new(2 * self.len, self.valued);
        } else {
            self.prints.fill(FREE);
            self.len = 0;
        }
    }

    /// Everything in it, in the order of its slots; of a table without numbers each is nought.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u128, u32)> {
        let taken = self.prints.iter().enumerate().filter(|(_, print)| **print != FREE);
        taken.map(|(slot, print)| (*print, self.values.get(slot).copied().unwrap_or(0)))
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
        for valued in [true, false] {
            let mut table = Table::new(0, valued);
            for word in 0..10_000 {
                let growth = table.bytes_growth(1);
                let bytes = table.bytes();
                assert_eq!(table.put(print_of([word, 0]), word as u32), None);
                assert!(table.bytes() <= bytes + growth);
            }
            for word in 0..10_000 {
                let slot = table.put(print_of([word, 0]), 7).unwrap();
                assert!(!valued || table.value(slot) == word as u32);
                assert_eq!(table.find(print_of([word, 0])), Some(slot));
            }
            assert_eq!(table.find(print_of([0, 1])), None);
            assert_eq!((table.len(), table.iter().count()), (10_000, 10_000));
            table.clear();
            assert_eq!((table.len(), table.iter().count()), (0, 0));
        }
    }

    #[test]
    fn what_is_taken_out_is_gone_and_all_else_is_still_found() {
        let mut table = Table::new(64, true);
        // Close together, so that they lie in each other's places, over the end too.
        let print = |number: u32| (u128::from(number) << 121).wrapping_sub(7 << 120) | 1;
        for round in 0..64 {
            let numbers = (0..32).map(|number| (number * 7 + round) % 64);
            numbers.clone().for_each(|number| _ = table.put(print(number), number));
            let (gone, left): (Vec<_>, Vec<_>) = numbers.partition(|number| number % 3 == 0);
            for number in gone {
                let slot = table.find(print(number)).unwrap();
                table.remove(slot);
                assert_eq!(table.find(print(number)), None);
            }
            for number in &left {
                assert_eq!(table.value(table.find(print(*number)).unwrap()), *number);
            }
            assert_eq!((table.len(), table.iter().count()), (left.len(), left.len()));
            left.iter().for_each(|number| table.remove(table.find(print(*number)).unwrap()));
        }
    }

    #[test]
    fn fingerprints_that_crowd_at_the_end_go_round() {
        let mut table = Table::new(8, true);
        for low in 0..5 {
            assert_eq!(table.put(u128::MAX - low, low as u32), None);
        }
        let mut other = Table::new(8, true);
        other.put_all(&table);
        for low in 0..5 {
            assert_eq!(other.value(other.find(u128::MAX - low).unwrap()), low as u32);
        }
        other.put(1, 1);
        other.put(2, 2);
        assert_eq!(other.value(other.find(u128::MAX - 4).unwrap()), 4);
    }
}
