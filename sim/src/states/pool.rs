//! Everything of one kind that was ever met, each once, by number.

use std::sync::{Arc, RwLock};

use hashbrown::HashTable;

/// See the [module](self). Shared by all threads; the numbers are in the order of their meeting
/// and mean nothing outside of this process.
#[derive(Debug)]
pub(super) struct Pool<T> {
    inner: RwLock<Inner<T>>,
}

#[derive(Debug)]
struct Inner<T> {
    table: HashTable<u32>,
    items: Vec<Item<T>>,
}

/// Something, what says that it is this, and its fingerprints.
#[derive(Debug)]
struct Item<T> {
    value: Arc<T>,
    own: u128,
    prints: Box<[u128]>,
}

const UNPOISONED: &str = "nobody panics while holding it";

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self { inner: RwLock::new(Inner { table: HashTable::new(), items: Vec::new() }) }
    }
}

impl<T> Inner<T> {
    fn number(&self, own: u128) -> Option<u32> {
        let Self { table, items } = self;
        table.find(own as u64, |id| items[*id as usize].own == own).copied()
    }
}

impl<T> Pool<T> {
    /// The number of something with these fingerprints, the first of which says what it is. The
    /// others are worked out only if it is new.
    pub(super) fn put(&self, value: &Arc<T>, print: impl Fn(usize) -> u128, prints: usize) -> u32 {
        let own = print(0);
        self.put_as(value, own, |which| if which == 0 { own } else { print(which) }, prints)
    }

    /// The number of what `own` says it is. Its fingerprints, worked out only if it is new, may be
    /// those of others, too.
    pub(super) fn put_as(
        &self,
        value: &Arc<T>,
        own: u128,
        print: impl Fn(usize) -> u128,
        prints: usize,
    ) -> u32 {
        if let Some(id) = self.inner.read().expect(UNPOISONED).number(own) {
            return id;
        }
        let prints: Box<[u128]> = (0..prints).map(print).collect();
        let mut inner = self.inner.write().expect(UNPOISONED);
        if let Some(id) = inner.number(own) {
            return id;
        }
        let Inner { table, items } = &mut *inner;
        let id = u32::try_from(items.len()).expect("fewer than four billion");
        items.push(Item { value: Arc::clone(value), own, prints });
        table.insert_unique(own as u64, id, |id| items[*id as usize].own as u64);
        id
    }

    /// What has this number.
    pub(super) fn get(&self, id: u32) -> Arc<T> {
        Arc::clone(&self.inner.read().expect(UNPOISONED).items[id as usize].value)
    }

    /// The fingerprints of what has this number.
    pub(super) fn prints(&self, id: u32) -> Box<[u128]> {
        self.inner.read().expect(UNPOISONED).items[id as usize].prints.clone()
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.inner.read().expect(UNPOISONED).items.len()
    }
}
