//! What one piece of the frontier led to, sorted by the shard it belongs to.

use super::shard::{Front, SHARDS, shard_of};
use super::table::checked;
use super::{Arrival, Awake, Space, StateId, Verdict};

/// A piece of the frontier: at most [`CHUNK`] states of one shard.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Piece {
    pub(super) shard: usize,
    /// First place in the shard's frontier.
    pub(super) from: usize,
    /// The place after the last.
    pub(super) to: usize,
}

/// How many states are expanded at a time.
pub(super) const CHUNK: usize = 64;

/// How many chunks are expanded before the shards take what arrived.
pub(super) const CHUNKS: usize = 32;

/// An arrival as its shard sees it, besides its fingerprint.
#[derive(Clone, Copy)]
pub(super) struct Key {
    pub(super) parent: StateId,
    /// Place among the arrivals of the chunk.
    pub(super) at: u32,
}

/// What belongs to one shard, in the order it arrived. Fingerprints lie apart: of an arrival
/// that is not new, nothing else is looked at.
#[derive(Clone, Copy)]
pub(super) struct Sorted<'a> {
    pub(super) prints: &'a [u128],
    pub(super) keys: &'a [Key],
}

/// See the [module](self). The buffers are used again and again.
pub(super) struct Chunk<S: Space> {
    pub(super) arrivals: Vec<Arrival<S>>,
    /// Of each state expanded: who it is, and how many arrivals there were after it.
    parents: Vec<(StateId, u32)>,
    /// Sorted by shard: fingerprints, and what else their shard wants to know.
    prints: Vec<u128>,
    keys: Vec<Key>,
    /// By place among the arrivals: the fair action of the step, if that is wanted.
    fair: Vec<Option<u32>>,
    starts: [u32; SHARDS + 1],
    pub(super) sums: Sums,
    /// The first arrival that broke a promise.
    pub(super) broken: Option<(StateId, u16)>,
}

/// What is counted while expanding.
#[derive(Clone, Copy, Default)]
pub(super) struct Sums {
    pub(super) expanded: u64,
    pub(super) enabled: u64,
    pub(super) generated: u64,
    pub(super) ends: u64,
    pub(super) broken: u64,
}

/// What a chunk is to be filled with besides the arrivals themselves.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    /// Sleep sets are kept.
    pub(super) reduce: bool,
    /// Fair actions are asked for.
    pub(super) fair: bool,
}

impl<S: Space> Chunk<S> {
    pub(super) const fn new() -> Self {
        Self {
            arrivals: Vec::new(),
            parents: Vec::new(),
            prints: Vec::new(),
            keys: Vec::new(),
            fair: Vec::new(),
            starts: [0; SHARDS + 1],
            sums: Sums { expanded: 0, enabled: 0, generated: 0, ends: 0, broken: 0 },
            broken: None,
        }
    }

    /// Expands a piece of the frontier; `first` is its first state.
    pub(super) fn fill(
        &mut self,
        space: &S,
        worker: &mut S::Worker,
        piece: &[Front<S>],
        first: StateId,
        wanted: Wanted,
    ) {
        self.arrivals.clear();
        self.parents.clear();
        self.sums = Sums::default();
        self.broken = None;
        let mut parent = first;
        let reduce = wanted.reduce;
        let states = piece.iter().map(|front| {
            let awake = Awake { asleep: front.asleep, reduce };
            (&front.state, awake)
        });
        let Self { arrivals, parents, sums, .. } = self;
        space.expand_all(worker, states, arrivals, &mut |expansion, end| {
            sums.enabled += u64::from(expansion.enabled);
            sums.ends += u64::from(expansion.enabled == 0);
            parents.push((parent, end as u32));
            parent = parent.following();
        });
        let mut counts = [0; SHARDS];
        let mut from = 0;
        for (parent, to) in &self.parents {
            for arrival in &self.arrivals[from..*to as usize] {
                match arrival.verdict {
                    Verdict::Fine => counts[shard_of(checked(arrival.print))] += 1,
                    Verdict::Broken => {
                        self.sums.broken += 1;
                        self.broken.get_or_insert((*parent, arrival.step));
                    }
                }
            }
            from = *to as usize;
        }
        self.sums.expanded = piece.len() as u64;
        self.sums.generated = self.arrivals.len() as u64;
        self.sort(&counts);
        if wanted.fair {
            self.ask_fair(space, worker, piece);
        }
    }

    /// Sorts what arrived by shard; within a shard the order stays.
    fn sort(&mut self, counts: &[u32; SHARDS]) {
        let mut sum = 0;
        let mut ends = [0; SHARDS];
        for (shard, count) in counts.iter().enumerate() {
            self.starts[shard] = sum;
            ends[shard] = sum as usize;
            sum += count;
        }
        self.starts[SHARDS] = sum;
        if self.keys.len() < sum as usize {
            self.prints.resize(sum as usize, 0);
            self.keys.resize(sum as usize, Key { parent: StateId::ROOT, at: 0 });
        }
        let mut from = 0;
        for (parent, to) in &self.parents {
            let arrivals = &self.arrivals[from as usize..*to as usize];
            for (at, arrival) in (from..).zip(arrivals) {
                if arrival.verdict == Verdict::Broken {
                    continue;
                }
                let print = checked(arrival.print);
                let end = &mut ends[shard_of(print)];
                self.prints[*end] = print;
                self.keys[*end] = Key { parent: *parent, at };
                *end += 1;
            }
            from = *to;
        }
    }

    fn ask_fair(&mut self, space: &S, worker: &mut S::Worker, piece: &[Front<S>]) {
        self.fair.clear();
        for (front, (_, to)) in piece.iter().zip(&self.parents) {
            let arrivals = &self.arrivals[self.fair.len()..*to as usize];
            let fair = arrivals.iter().map(|one| space.fair(worker, &front.state, one.step));
            self.fair.extend(fair);
        }
    }

    /// What belongs to `shard`.
    #[inline]
    pub(super) fn sorted(&self, shard: usize) -> Sorted<'_> {
        let range = self.starts[shard] as usize..self.starts[shard + 1] as usize;
        Sorted { prints: &self.prints[range.clone()], keys: &self.keys[range] }
    }

    /// The fair action of the step of an arrival, if those are wanted.
    pub(super) fn fair(&self, key: &Key) -> Option<u32> {
        self.fair.get(key.at as usize).copied().flatten()
    }

    /// Bytes it takes.
    pub(super) fn bytes(&self) -> u64 {
        (self.arrivals.capacity() * size_of::<Arrival<S>>()
            + self.parents.capacity() * size_of::<(StateId, u32)>()
            + self.prints.capacity() * size_of::<u128>()
            + self.keys.capacity() * size_of::<Key>()
            + self.fair.capacity() * size_of::<Option<u32>>()) as u64
    }
}
