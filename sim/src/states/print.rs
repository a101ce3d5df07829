//! Fingerprints of 128 bits: XXH3 over a canonical encoding, the same on every machine.

use std::hash::{Hash, Hasher};

use xxhash_rust::xxh3::Xxh3;
use zoolab_core::ServerId;

/// Other names for servers, by place: for states that differ in nothing but names.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Names([u8; 16]);

impl Names {
    /// Everybody keeps its name.
    #[must_use]
    pub fn own() -> Self {
        Self(std::array::from_fn(|id| id as u8))
    }

    /// The first list takes the names of the second.
    #[must_use]
    pub fn of(old: &[ServerId], new: &[ServerId]) -> Self {
        let mut names = Self::own();
        for (old, new) in old.iter().zip(new) {
            names.0[usize::from(old.0)] = new.0;
        }
        names
    }

    /// The new name of a server.
    #[must_use]
    pub const fn name(&self, id: u16) -> u16 {
        if (id as usize) < 16 { self.0[id as usize] as u16 } else { id }
    }
}

/// Takes what is hashed as bytes of fixed width, the lowest first. What hashes as 16 bits is a
/// server, what hashes as 128 bits a connection; both are renamed.
struct Canonical {
    xxh3: Xxh3,
    names: Names,
}

impl Hasher for Canonical {
    fn finish(&self) -> u64 {
        self.xxh3.digest()
    }

    fn write(&mut self, bytes: &[u8]) {
        self.xxh3.update(bytes);
    }

    fn write_u8(&mut self, word: u8) {
        self.xxh3.update(&[word]);
    }

    fn write_u16(&mut self, word: u16) {
        self.xxh3.update(&self.names.name(word).to_le_bytes());
    }

    fn write_u32(&mut self, word: u32) {
        self.xxh3.update(&word.to_le_bytes());
    }

    fn write_u64(&mut self, word: u64) {
        self.xxh3.update(&word.to_le_bytes());
    }

    fn write_u128(&mut self, link: u128) {
        // As searches name connections: who dialled whom, the how manieth.
        let part = |of: u128| u128::from(self.names.name((of % 100) as u16));
        let renamed = link / 10_000 * 10_000 + part(link / 100) * 100 + part(link);
        self.xxh3.update(&renamed.to_le_bytes());
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn write_isize(&mut self, word: isize) {
        self.write_u64(word as u64);
    }
}

/// The fingerprint of something at a place.
#[must_use]
pub fn print(place: usize, value: &impl Hash, names: Names) -> u128 {
    let mut canonical = Canonical { xxh3: Xxh3::new(), names };
    canonical.write_u64(place as u64);
    value.hash(&mut canonical);
    canonical.xxh3.digest128()
}
