//! A map for looking up, not for going through: a hash map whose order nobody can see.
//!
//! Equality and hash are those of the content. Going through it sorts first.

use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Lookup<K, V> {
    map: HashMap<K, V, FixedState>,
}

/// What moves entries about in memory. No behaviour depends on it, so all of them are equal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scatter(pub(crate) u64);

impl PartialEq for Scatter {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Scatter {}

impl Hash for Scatter {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl<K: Eq + Hash + Ord, V> Lookup<K, V> {
    /// An empty one; `scatter` only moves entries about in memory.
    #[must_use]
    pub fn new(scatter: u64) -> Self {
        Self { map: HashMap::with_hasher(FixedState::with_seed(scatter)) }
    }

    /// How many entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// The value for a key.
    #[must_use]
    pub fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: core::borrow::Borrow<Q>,
    {
        self.map.get(key)
    }

    /// The value for a key, to be changed.
    pub fn get_mut<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: core::borrow::Borrow<Q>,
    {
        self.map.get_mut(key)
    }

    /// Whether there is a value for a key.
    #[must_use]
    pub fn contains<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> bool
    where
        K: core::borrow::Borrow<Q>,
    {
        self.map.contains_key(key)
    }

    /// Puts a value; returns the one before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        self.map.insert(key, value)
    }

    /// Takes a value out.
    pub fn remove<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: core::borrow::Borrow<Q>,
    {
        self.map.remove(key)
    }

    /// Nothing is left.
    pub fn clear(&mut self) {
        self.map.clear();
    }

    /// The value for a key, made if it is missing.
    pub fn or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        self.map.entry(key).or_insert_with(make)
    }

    /// Everything, by key. Sorts: not for the hot path.
    #[must_use]
    pub fn sorted(&self) -> Vec<(&K, &V)> {
        let mut all: Vec<_> = self.map.iter().collect();
        all.sort_unstable_by(|a, b| a.0.cmp(b.0));
        all
    }
}

impl<K: Eq + Hash, V: PartialEq> PartialEq for Lookup<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.map == other.map
    }
}

impl<K: Eq + Hash, V: Eq> Eq for Lookup<K, V> {}

impl<K: Eq + Hash + Ord, V: Hash> Hash for Lookup<K, V> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for entry in self.sorted() {
            entry.hash(state);
        }
        state.write_usize(self.len());
    }
}
