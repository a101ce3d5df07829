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
pub(super) const CHUNK: usize = 128;

/// How many chunks are expanded before the shards take what arrived.
pub(super) const CHUNKS: usize = 64;

/// An arrival as its shard sees it.
#[derive(Clone, Copy)]
pub(super) struct Key {
    pub(super) print: u128,
    pub(super) parent: StateId,
    /// Place among the arrivals of the chunk.
    pub(super) at: u32,
    /// The fair action of the step plus one, if that is wanted; else nought.
    pub(super) fair: u32,
}

/// See the [module](self). The buffers are used again and again.
pub(super) struct Chunk<S: Space> {
    pub(super) arrivals: Vec<Arrival<S>>,
    /// Of each state expanded: who it is, and how many arrivals there were after it.
    parents: Vec<(StateId, u32)>,
    keys: Vec<Key>,
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
            keys: Vec::new(),
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
        let mut counts = [0; SHARDS];
        let mut parent = first;
        for front in piece {
            let from = self.arrivals.len();
            let awake = Awake { asleep: front.asleep, reduce: wanted.reduce };
            let expansion = space.expand(worker, &front.state, &awake, &mut self.arrivals);
            self.sums.enabled += u64::from(expansion.enabled);
            self.sums.ends += u64::from(expansion.enabled == 0);
            for arrival in &self.arrivals[from..] {
                match arrival.verdict {
                    Verdict::Fine => counts[shard_of(checked(arrival.print))] += 1,
                    Verdict::Broken => {
                        self.sums.broken += 1;
                        self.broken.get_or_insert((parent, arrival.step));
                    }
                }
            }
            self.parents.push((parent, self.arrivals.len() as u32));
            parent = parent.following();
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
        let key = Key { print: 0, parent: StateId::ROOT, at: 0, fair: 0 };
        if self.keys.len() < sum as usize {
            self.keys.resize(sum as usize, key);
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
                self.keys[*end] = Key { print, parent: *parent, at, fair: 0 };
                *end += 1;
            }
            from = *to;
        }
    }

    fn ask_fair(&mut self, space: &S, worker: &mut S::Worker, piece: &[Front<S>]) {
        let first = self.parents.first().map(|(first, _)| *first);
        let all = self.starts[SHARDS] as usize;
        for key in &mut self.keys[..all] {
            let front = &piece[key.parent.place() - first.map_or(0, StateId::place)];
            let step = self.arrivals[key.at as usize].step;
            key.fair = space.fair(worker, &front.state, step).map_or(0, |action| action + 1);
        }
    }

    /// What belongs to `shard`, in the order it arrived.
    #[inline]
    pub(super) fn keys(&self, shard: usize) -> &[Key] {
        &self.keys[self.starts[shard] as usize..self.starts[shard + 1] as usize]
    }

    /// Bytes it takes.
    pub(super) fn bytes(&self) -> u64 {
        (self.arrivals.capacity() * size_of::<Arrival<S>>()
            + self.parents.capacity() * size_of::<(StateId, u32)>()
            + self.keys.capacity() * size_of::<Key>()) as u64
    }
}
