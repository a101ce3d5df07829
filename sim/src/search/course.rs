//! Where a search stands, what it expands next, and when it stops.

use std::sync::RwLock;

use super::breadth::{Broken, End, Limits};
use super::chunk::{CHUNK, CHUNKS, Chunk, Piece};
use super::shard::{SHARDS, Shard};
use super::team::UNPOISONED;
use super::{Figures, Progress, Space, StateId};

/// More states than this cannot be told apart by their [`StateId`], even if one shard has a
/// little more than its share.
const STATES_MAX: u64 = (1 << 32) - (1 << 26);

/// The visited set, the frontier and the buffers between them.
pub(super) struct Store<S: Space> {
    pub(super) shards: Vec<RwLock<Shard<S>>>,
    pub(super) chunks: Vec<RwLock<Chunk<S>>>,
}

impl<S: Space> Store<S> {
    pub(super) fn new(graphed: bool) -> Self {
        Self {
            shards: (0..SHARDS).map(|number| RwLock::new(Shard::new(number, graphed))).collect(),
            chunks: (0..CHUNKS).map(|_| RwLock::new(Chunk::new())).collect(),
        }
    }

    /// All states seen, by distance, and in the order in which they are expanded.
    pub(super) fn by_layer(&self) -> Vec<StateId> {
        let shards: Vec<_> = self.shards.iter().map(|s| s.read().expect(UNPOISONED)).collect();
        let layers = shards.first().map_or(0, |shard| shard.layers.len());
        let of = |layer| {
            let shards = shards.iter().enumerate();
            shards.flat_map(move |(number, shard)| {
                shard.layer(layer).map(move |place| StateId::new(number, place))
            })
        };
        // The last is the one after the layer that is being expanded.
        (0..=layers).flat_map(of).collect()
    }

    /// The sum over all shards.
    fn sum(&self, of: impl Fn(&Shard<S>) -> u64) -> u64 {
        self.shards.iter().map(|shard| of(&shard.read().expect(UNPOISONED))).sum()
    }
}

/// See the [module](self).
#[derive(Default)]
pub(super) struct Course {
    pub(super) figures: Figures,
    /// The distance of the states that are being expanded.
    pub(super) layer: usize,
    /// The shard, and the place in its frontier, up to which they are expanded.
    pub(super) cursor: (usize, usize),
    /// How many that is.
    pub(super) expanded: u64,
    pub(super) broken: Option<Broken>,
    /// The first goal, and its distance.
    pub(super) goal: Option<(usize, StateId)>,
    /// Arrivals of the round that had most.
    pub(super) most: u64,
}

impl Course {
    /// The initial state waits to be expanded.
    pub(super) fn begin<S: Space>(&mut self, store: &Store<S>) {
        self.figures.distinct = 1;
        self.figures.layers.push(1);
        self.look_for_goals(0, store);
        self.turn(store);
        self.weigh(store);
    }

    /// Why not to begin another round. Goes on to the next layer if this one is done.
    pub(super) fn reason_to_stop<S: Space>(
        &mut self,
        limits: &Limits,
        store: &Store<S>,
    ) -> Option<End> {
        if self.broken.is_some() && !limits.past_broken {
            return Some(End::Broken);
        }
        let states = self.layer_states();
        if self.expanded == states {
            if self.figures.layers.len() <= self.layer + 1 {
                return Some(End::Complete);
            }
            self.layer += 1;
            self.turn(store);
        }
        if limits.depth.is_some_and(|depth| self.layer >= depth) {
            return Some(End::Depth);
        }
        let states = limits.states.unwrap_or(STATES_MAX).min(STATES_MAX);
        if self.figures.distinct >= states {
            return Some(End::States);
        }
        if let Some(bytes) = limits.bytes {
            // Twice the most that ever arrived at once, and evenly: that is what hashes do.
            let arrivals = 2 * self.most as usize / SHARDS + CHUNK;
            let growth = store.sum(|shard| shard.growth(arrivals));
            if self.figures.bytes + growth > bytes {
                return Some(End::Memory);
            }
        }
        None
    }

    fn turn<S: Space>(&mut self, store: &Store<S>) {
        self.cursor = (0, 0);
        self.expanded = 0;
        for shard in &store.shards {
            shard.write().expect(UNPOISONED).turn();
        }
    }

    /// How many states have the distance that is being expanded.
    pub(super) fn layer_states(&self) -> u64 {
        self.figures.layers.get(self.layer).copied().unwrap_or(0)
    }

    /// The next pieces of the frontier, as many as there are chunks for.
    pub(super) fn plan<S: Space>(&mut self, store: &Store<S>) -> Vec<Piece> {
        let mut plan = Vec::with_capacity(CHUNKS);
        while plan.len() < CHUNKS {
            let (shard, from) = self.cursor;
            let Some(there) = store.shards.get(shard) else { break };
            let len = there.read().expect(UNPOISONED).now.len();
            if from == len {
                self.cursor = (shard + 1, 0);
                continue;
            }
            let to = len.min(from + CHUNK);
            plan.push(Piece { shard, from, to });
            self.cursor = (shard, to);
        }
        plan
    }

    /// Counts what a round has done.
    pub(super) fn count<S: Space>(&mut self, plan: usize, store: &Store<S>) {
        let mut arrivals = 0;
        for chunk in &store.chunks[..plan] {
            let chunk = chunk.read().expect(UNPOISONED);
            let sums = &chunk.sums;
            self.expanded += sums.expanded;
            self.figures.expanded += sums.expanded;
            self.figures.enabled += sums.enabled;
            self.figures.generated += sums.generated;
            self.figures.ends += sums.ends;
            self.figures.broken += sums.broken;
            arrivals += sums.generated;
            if let (None, Some((parent, step))) = (self.broken, chunk.broken) {
                self.broken = Some(Broken { parent: Some(parent), step });
            }
        }
        self.most = self.most.max(arrivals);
        let next = store.sum(|shard| shard.next.len() as u64);
        if next > 0 {
            self.figures.layers.truncate(self.layer + 1);
            self.figures.layers.push(next);
        }
        self.figures.distinct = store.sum(|shard| shard.parents.len() as u64);
        self.look_for_goals(self.layer + 1, store);
        self.weigh(store);
        self.assert_invariants();
    }

    /// Notes the first goal, as long as it is of this layer; more of the layer may follow.
    fn look_for_goals<S: Space>(&mut self, layer: usize, store: &Store<S>) {
        self.figures.goals = store.sum(|shard| shard.goals);
        if self.goal.is_some_and(|(found, _)| found < layer) {
            return;
        }
        let of = |shard: &RwLock<Shard<S>>| shard.read().expect(UNPOISONED).goal;
        self.goal = store.shards.iter().find_map(of).map(|goal| (layer, goal));
    }

    /// Weighs everything in memory.
    pub(super) fn weigh<S: Space>(&mut self, store: &Store<S>) {
        let chunk = |chunk: &RwLock<Chunk<S>>| chunk.read().expect(UNPOISONED).bytes();
        self.figures.bytes_seen = store.sum(Shard::bytes_seen);
        self.figures.bytes = store.sum(Shard::bytes) + store.chunks.iter().map(chunk).sum::<u64>();
        self.figures.bytes_peak = self.figures.bytes_peak.max(self.figures.bytes);
    }

    pub(super) fn progress(&self) -> Progress<'_> {
        Progress {
            figures: &self.figures,
            layer: self.layer,
            layer_states: self.layer_states(),
            layer_expanded: self.expanded,
        }
    }

    fn assert_invariants(&self) {
        let figures = &self.figures;
        assert_eq!(figures.distinct, figures.layers.iter().sum::<u64>());
        assert!(self.expanded <= self.layer_states());
        assert!(figures.generated >= figures.distinct + figures.broken);
    }
}
