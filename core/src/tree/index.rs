//! From a path's hash to the place of its node.
//!
//! ```text
//!   tags     1b07…  e2c4…  0d11…              buckets of seven entries,
//!   places       4      9      1              as large as a line of the processor's cache
//!   passed   how many had to go on to the next bucket because this one was full
//! ```
//!
//! In a tree of a million nodes nothing is in the cache: what counts is how often memory has to
//! be waited for, and here that is once. An entry keeps enough of its hash that growing looks at
//! no node, and that a node is hardly ever looked at in vain.

use alloc::vec::Vec;

const ENTRIES: usize = 7;
/// Entries per bucket, on average, before there are twice as many buckets.
const FULL: usize = 6;

#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Bucket {
    tags: [u32; ENTRIES],
    places: [u32; ENTRIES],
    /// Which entries there are, as bits.
    there: u32,
    /// How many entries that belong here or before lie beyond.
    passed: u32,
}

const _: () = assert!(size_of::<Bucket>() == 64);

impl Bucket {
    /// Which entries have this tag, as bits. Without a branch: nobody could predict it.
    fn hits(&self, tag: u32) -> u32 {
        let hit = |hits, (entry, other): (usize, &u32)| hits | u32::from(*other == tag) << entry;
        self.tags.iter().enumerate().fold(0, hit) & self.there
    }

    fn vacancy(&self) -> Option<usize> {
        let entry = self.there.trailing_ones() as usize;
        (entry < ENTRIES).then_some(entry)
    }
}

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// None, or a power of two.
    buckets: Vec<Bucket>,
    len: usize,
}

/// The part of a hash that is kept. Its low bits say where the entry belongs.
const fn tag(hash: u64) -> u32 {
    (hash ^ hash >> 32) as u32
}

impl Index {
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// The place with this hash that `is` the one.
    pub(super) fn find(&self, hash: u64, is: impl Fn(u32) -> bool) -> Option<u32> {
        let (bucket, entry) = self.seek(tag(hash), is)?;
        Some(self.buckets[bucket].places[entry])
    }

    /// The line where a look-up begins: asking for it brings it into the cache.
    pub(super) fn approach(&self, hash: u64) -> u32 {
        self.home(tag(hash)).map_or(0, |home| self.buckets[home].there)
    }

    /// The first place that has this hash, most likely the right one.
    pub(super) fn guess(&self, hash: u64) -> Option<u32> {
        let tag = tag(hash);
        let bucket = &self.buckets[self.home(tag)?];
        bucket.places.get(bucket.hits(tag).trailing_zeros() as usize).copied()
    }

    fn seek(&self, tag: u32, is: impl Fn(u32) -> bool) -> Option<(usize, usize)> {
        let mut at = self.home(tag)?;
        for _ in 0..self.buckets.len() {
            let bucket = &self.buckets[at];
            let mut hits = bucket.hits(tag);
            while hits != 0 {
                let entry = hits.trailing_zeros() as usize;
                if is(bucket.places[entry]) {
                    return Some((at, entry));
                }
                hits &= hits - 1;
            }
            if bucket.passed == 0 {
                return None;
            }
            at = self.after(at);
        }
        None
    }

    fn home(&self, tag: u32) -> Option<usize> {
        Some(tag as usize & self.buckets.len().checked_sub(1)?)
    }

    fn after(&self, at: usize) -> usize {
        (at + 1) & (self.buckets.len() - 1)
    }

    /// Adds a place, which must be new.
    pub(super) fn insert(&mut self, hash: u64, place: u32) {
        if self.len >= self.buckets.len() * FULL {
            self.grow();
        }
        self.put(tag(hash), place);
        self.len += 1;
    }

    fn put(&mut self, tag: u32, place: u32) {
        let mut at = self.home(tag).expect("there is room");
        let entry = loop {
            let bucket = &mut self.buckets[at];
            if let Some(entry) = bucket.vacancy() {
                break entry;
            }
            bucket.passed += 1;
            at = self.after(at);
        };
        let bucket = &mut self.buckets[at];
        (bucket.tags[entry], bucket.places[entry]) = (tag, place);
        bucket.there |= 1 << entry;
    }

    fn grow(&mut self) {
        let larger = alloc::vec![Bucket::default(); (self.buckets.len() * 2).max(1)];
        for bucket in core::mem::replace(&mut self.buckets, larger) {
            for entry in (0..ENTRIES).filter(|entry| bucket.there & 1 << entry != 0) {
                self.put(bucket.tags[entry], bucket.places[entry]);
            }
        }
    }

    /// Takes out the place with this hash that `is` the one.
    pub(super) fn remove(&mut self, hash: u64, is: impl Fn(u32) -> bool) -> Option<u32> {
        let tag = tag(hash);
        let (found, entry) = self.seek(tag, is)?;
        let mut at = self.home(tag)?;
        while at != found {
            self.buckets[at].passed -= 1;
            at = self.after(at);
        }
        self.buckets[found].there &= !(1 << entry);
        self.len -= 1;
        Some(self.buckets[found].places[entry])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use proptest::prelude::*;

    /// Few hashes, all of which belong to few buckets, so that buckets overflow and wrap round.
    fn hash(key: u32) -> u64 {
        (u64::from(key % 5) << 32) | (u64::from(key % 3) * 0xFFFF_FFFF)
    }

    proptest! {
        #[test]
        fn does_what_a_map_does(steps in prop::collection::vec((any::<bool>(), 0_u32..200), 0..600)) {
            let mut index = Index::default();
            let mut map = BTreeMap::new();
            for (place, (born, key)) in steps.into_iter().enumerate() {
                let place = place as u32;
                let is = |map: &BTreeMap<u32, u32>, place| map.get(&key) == Some(&place);
                if born && !map.contains_key(&key) {
                    map.insert(key, place);
                    index.insert(hash(key), place);
                } else {
                    let removed = index.remove(hash(key), |place| is(&map, place));
                    prop_assert_eq!(removed, map.remove(&key));
                }
                prop_assert_eq!(index.len(), map.len());
                for (key, place) in &map {
                    prop_assert_eq!(index.find(hash(*key), |other| other == *place), Some(*place));
                }
                let found = index.find(hash(key), |place| is(&map, place));
                prop_assert_eq!(found, map.get(&key).copied());
                index.approach(hash(key));
                index.guess(hash(key));
            }
        }
    }

    #[test]
    fn nothing_is_left_of_what_has_gone() {
        let mut index = Index::default();
        assert_eq!(index.find(7, |_| true), None);
        for key in 0..1000 {
            index.insert(u64::from(key), key);
        }
        for key in 0..1000 {
            assert_eq!(index.remove(u64::from(key), |place| place == key), Some(key));
        }
        assert_eq!(index.len(), 0);
        assert!(index.buckets.iter().all(|bucket| bucket.there == 0 && bucket.passed == 0));
    }
}
