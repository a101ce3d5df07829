//! Paths and values, each kept once and known by a number.

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

/// Texts of bytes behind each other, each once.
#[derive(Clone, Debug, Default)]
struct Arena {
    bytes: Vec<u8>,
    ends: Vec<u64>,
    table: HashTable<u32>,
}

impl Arena {
    fn get(&self, id: u32) -> &[u8] {
        get(&self.bytes, &self.ends, id)
    }

    /// The number of a text, and whether it is new.
    fn put(&mut self, text: &[u8]) -> (u32, bool) {
        let Self { bytes, ends, table } = self;
        let hash = xxh3_64(text);
        if let Some(id) = table.find(hash, |id| get(bytes, ends, *id) == text) {
            return (*id, false);
        }
        let id = u32::try_from(ends.len()).expect("fewer than 2^32 different ones");
        bytes.extend_from_slice(text);
        ends.push(bytes.len() as u64);
        table.insert_unique(hash, id, |id| xxh3_64(get(bytes, ends, *id)));
        (id, true)
    }

    fn find(&self, text: &[u8]) -> Option<u32> {
        self.table.find(xxh3_64(text), |id| self.get(*id) == text).copied()
    }

    fn bytes_used(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * 8 + self.table.capacity() * 5
    }
}

fn get<'a>(bytes: &'a [u8], ends: &[u64], id: u32) -> &'a [u8] {
    let id = id as usize;
    let from = if id == 0 { 0 } else { ends[id - 1] };
    &bytes[from as usize..ends[id] as usize]
}

/// A path, by number.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct PathId(pub u32);

impl PathId {
    /// `/`
    pub const ROOT: Self = Self(0);

    /// As an index.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// All paths, with those above them.
#[derive(Clone, Debug)]
pub struct Paths {
    texts: Arena,
    parents: Vec<PathId>,
}

impl Default for Paths {
    fn default() -> Self {
        let mut texts = Arena::default();
        texts.put(b"/");
        Self { texts, parents: vec![PathId::ROOT] }
    }
}

impl Paths {
    /// The number of a path. The empty text is the root as well.
    pub fn put(&mut self, path: &str) -> PathId {
        let path = if path.is_empty() { "/" } else { path };
        if let Some(id) = self.texts.find(path.as_bytes()) {
            return PathId(id);
        }
        let parent = self.put(path.rsplit_once('/').map_or("", |(parent, _)| parent));
        self.parents.push(parent);
        PathId(self.texts.put(path.as_bytes()).0)
    }

    /// The number of a path, if it has one.
    #[must_use]
    pub fn find(&self, path: &str) -> Option<PathId> {
        self.texts.find(path.as_bytes()).map(PathId)
    }

    /// The number of a child's path.
    pub fn put_child(&mut self, parent: PathId, name: &str) -> PathId {
        let above = if parent == PathId::ROOT { "" } else { self.text(parent) };
        let path = format!("{above}/{name}");
        self.put(&path)
    }

    /// The path as a text.
    #[must_use]
    pub fn text(&self, path: PathId) -> &str {
        std::str::from_utf8(self.texts.get(path.0)).expect("paths were texts")
    }

    /// The last part of a path.
    #[must_use]
    pub fn name(&self, path: PathId) -> &str {
        self.text(path).rsplit_once('/').map_or("", |(_, name)| name)
    }

    /// What lies above. The root lies above itself.
    #[must_use]
    pub fn parent(&self, path: PathId) -> PathId {
        self.parents[path.index()]
    }

    /// How many there are.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.parents.len()
    }

    pub(super) fn bytes_used(&self) -> usize {
        self.texts.bytes_used() + self.parents.capacity() * 4
    }
}

/// What a node holds, or who may do what with it, by number.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ValueId(pub u32);

impl ValueId {
    /// Null.
    pub const NULL: Self = Self(0);
}

/// All values.
#[derive(Clone, Debug, Default)]
pub struct Values(Arena);

impl Values {
    /// The number of a value.
    pub fn put(&mut self, value: Option<&[u8]>) -> ValueId {
        value.map_or(ValueId::NULL, |value| ValueId(self.0.put(value).0 + 1))
    }

    /// The value.
    #[must_use]
    pub fn get(&self, value: ValueId) -> Option<&[u8]> {
        value.0.checked_sub(1).map(|id| self.0.get(id))
    }

    pub(super) fn bytes_used(&self) -> usize {
        self.0.bytes_used()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_know_what_lies_above() {
        let mut paths = Paths::default();
        let deep = paths.put("/a/b/c");
        assert_eq!(paths.text(deep), "/a/b/c");
        assert_eq!(paths.text(paths.parent(deep)), "/a/b");
        let top = paths.put("/a");
        assert_eq!(paths.parent(top), PathId::ROOT);
        assert_eq!(paths.put_child(PathId::ROOT, "a"), top);
        assert_eq!(paths.put(""), PathId::ROOT);
        assert_eq!((paths.name(deep), paths.count()), ("c", 4));
    }

    #[test]
    fn values_are_kept_once() {
        let mut values = Values::default();
        let ids: Vec<ValueId> =
            [None, Some(&b""[..]), Some(b"x"), Some(b"")].map(|value| values.put(value)).into();
        assert_eq!(ids, [ValueId(0), ValueId(1), ValueId(2), ValueId(1)]);
        assert_eq!(values.get(ids[2]), Some(&b"x"[..]));
        assert_eq!(values.get(ids[0]), None);
    }
}
