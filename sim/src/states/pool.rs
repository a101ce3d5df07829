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
    items: Vec<(Arc<T>, Box<[u128]>)>,
}

const UNPOISONED: &str = "nobody panics while holding it";

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self { inner: RwLock::new(Inner { table: HashTable::new(), items: Vec::new() }) }
    }
}

impl<T> Pool<T> {
    /// The number of something with these fingerprints, the first of which says what it is.
    pub(super) fn put(&self, value: &Arc<T>, prints: Box<[u128]>) -> u32 {
        let mut inner = self.inner.write().expect(UNPOISONED);
        let Inner { table, items } = &mut *inner;
        let own = prints[0];
        let found = table.find(own as u64, |id| items[*id as usize].1[0] == own);
        if let Some(id) = found {
            return *id;
        }
        let id = u32::try_from(items.len()).expect("fewer than four billion");
        items.push((Arc::clone(value), prints));
        table.insert_unique(own as u64, id, |id| items[*id as usize].1[0] as u64);
        id
    }

    /// What has this number.
    pub(super) fn get(&self, id: u32) -> Arc<T> {
        Arc::clone(&self.inner.read().expect(UNPOISONED).items[id as usize].0)
    }

    /// The fingerprints of what has this number.
    pub(super) fn prints(&self, id: u32) -> Box<[u128]> {
        self.inner.read().expect(UNPOISONED).items[id as usize].1.clone()
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.inner.read().expect(UNPOISONED).items.len()
    }
}
