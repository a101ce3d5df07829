//! Fingerprints of 128 bits: XXH3 over a canonical encoding, the same on every machine.

use std::hash::{Hash, Hasher};

use xxhash_rust::xxh3::xxh3_128;
use zoolab_core::ServerId;
use zoolab_core::unordered::{BEGIN, END};

/// Other names for servers: for states that differ in nothing but names.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Names {
    /// By old name.
    ids: [u8; 16],
    /// The place that each place's server goes to.
    places: Vec<usize>,
}

impl Names {
    /// Each of these servers takes the name of the one at the place named for it.
    #[must_use]
    pub fn new(servers: &[ServerId], places: &[usize]) -> Self {
        let mut ids = std::array::from_fn(|id| id as u8);
        for (old, place) in servers.iter().zip(places) {
            if let Some(id) = ids.get_mut(usize::from(old.0)) {
                *id = servers[*place].0;
            }
        }
        Self { ids, places: places.to_vec() }
    }

    /// Everybody keeps its name.
    #[must_use]
    pub fn own(servers: &[ServerId]) -> Self {
        Self::new(servers, &(0..servers.len()).collect::<Vec<_>>())
    }

    /// All ways of giving the servers each other's names, their own first.
    #[must_use]
    pub fn all(servers: &[ServerId]) -> Vec<Self> {
        let mut ways: Vec<Vec<usize>> = vec![Vec::new()];
        for _ in servers {
            let further = |way: &Vec<usize>| {
                let free = (0..servers.len()).filter(|place| !way.contains(place));
                free.map(|place| [&way[..], &[place]].concat()).collect::<Vec<_>>()
            };
            ways = ways.iter().flat_map(further).collect();
        }
        ways.iter().map(|places| Self::new(servers, places)).collect()
    }

    /// The place that a place's server goes to.
    #[must_use]
    pub fn place(&self, place: usize) -> usize {
        self.places[place]
    }

    fn id(&self, id: u16) -> u16 {
        self.ids.get(usize::from(id)).map_or(id, |id| u16::from(*id))
    }
}

/// Takes what is hashed as bytes of fixed width, the lowest first. What hashes as 16 bits is a
/// server, what hashes as 128 bits a connection; both are renamed. Of several things of which none
/// comes first, the sum is taken.
struct Canonical<'a> {
    bytes: Vec<u8>,
    names: &'a Names,
    /// Where the thing begins that is being taken, and the sum of those before.
    outer: Vec<(usize, u128)>,
}

impl Hasher for Canonical<'_> {
    fn finish(&self) -> u64 {
        xxh3_128(&self.bytes) as u64
    }

    fn write(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    fn write_u8(&mut self, word: u8) {
        self.bytes.push(word);
    }

    fn write_u16(&mut self, word: u16) {
        self.bytes.extend_from_slice(&self.names.id(word).to_le_bytes());
    }

    fn write_u32(&mut self, word: u32) {
        self.bytes.extend_from_slice(&word.to_le_bytes());
    }

    fn write_u64(&mut self, word: u64) {
        self.bytes.extend_from_slice(&word.to_le_bytes());
    }

    fn write_u128(&mut self, link: u128) {
        // As searches name connections: who dialled whom, the how manieth.
        let part = |of: u128| u128::from(self.names.id((of % 100) as u16));
        let renamed = link / 10_000 * 10_000 + part(link / 100) * 100 + part(link);
        self.bytes.extend_from_slice(&renamed.to_le_bytes());
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn write_i128(&mut self, mark: i128) {
        if mark == BEGIN {
            self.outer.push((self.bytes.len(), 0));
        } else if mark == END {
            let (start, sum) = self.outer.pop().expect("what ends has begun");
            self.bytes.truncate(start);
            self.bytes.extend_from_slice(&sum.to_le_bytes());
        } else {
            let (start, sum) = self.outer.last_mut().expect("what goes on has begun");
            *sum = sum.wrapping_add(xxh3_128(&self.bytes[*start..]));
            self.bytes.truncate(*start);
        }
    }

    fn write_isize(&mut self, word: isize) {
        self.write_u64(word as u64);
    }
}

/// The fingerprint of something at a place.
#[must_use]
pub fn print(place: usize, value: &impl Hash, names: &Names) -> u128 {
    let bytes = Vec::with_capacity(2048);
    let mut canonical = Canonical { bytes, names, outer: Vec::new() };
    canonical.write_u64(place as u64);
    value.hash(&mut canonical);
    xxh3_128(&canonical.bytes)
}
