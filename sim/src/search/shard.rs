//! One part of the visited set, with the frontier that lies in it.

use std::ops::Range;

use super::chunk::{Chunk, Key};
use super::table::{Slot, Table};
use super::{Arrival, Space, StateId, StepSet};

/// How many parts the visited set has.
pub(super) const SHARDS: usize = 1 << SHARD_BITS;

/// How many bits of a fingerprint say which part it is in.
pub(super) const SHARD_BITS: u32 = 5;

/// Which shard a fingerprint belongs to.
#[inline]
pub(super) const fn shard_of(print: u128) -> usize {
    (print >> (128 - SHARD_BITS)) as usize
}

/// How many fingerprints are looked up at a time, so that memory is waited for once.
const BLOCK: usize = 16;

/// A state that waits to be expanded.
pub(super) struct Front<S: Space> {
    pub(super) state: S::State,
    pub(super) asleep: S::Steps,
}

/// A step from one state to another, kept for graphs.
#[derive(Clone, Copy)]
pub(super) struct Edge {
    pub(super) from: StateId,
    pub(super) to: StateId,
    pub(super) step: u16,
    pub(super) fair: Option<u32>,
}

/// What a graph needs besides the visited set.
#[derive(Default)]
pub(super) struct Graphed {
    pub(super) edges: Vec<Edge>,
    /// Places of states that are goals, ascending.
    pub(super) goals: Vec<u32>,
}

/// See the [module](self).
pub(super) struct Shard<S: Space> {
    number: usize,
    /// The fingerprints of everything up to the layer that is being expanded; with places, if a
    /// graph is drawn.
    pub(super) old: Table,
    /// The fingerprints and places of the layer after it: most of what arrives is there already,
    /// or is new to it, and it is small enough to stay near the processor.
    pub(super) young: Table,
    /// Whether the young are of the layer after; else they are still of the one that began.
    pub(super) aged: bool,
    /// By place: from where the state was first reached.
    pub(super) parents: Vec<StateId>,
    /// By place: with which step.
    pub(super) steps: Vec<u16>,
    /// The layer that is being expanded; its first state is at place `now_from`.
    pub(super) now: Vec<Front<S>>,
    pub(super) now_from: usize,
    /// The layer after it, as far as it is known; its first state is at place `next_from`.
    pub(super) next: Vec<Front<S>>,
    pub(super) next_from: usize,
    /// The first place of each layer up to the one that is being expanded.
    pub(super) layers: Vec<u32>,
    pub(super) goals: u64,
    /// The first goal of the layer after.
    pub(super) goal: Option<StateId>,
    pub(super) graphed: Option<Graphed>,
}

impl<S: Space> Shard<S> {
    pub(super) fn new(number: usize, graphed: bool) -> Self {
        Self {
            number,
            // No two of the same size: they grow one after the other.
            old: Table::new(2 * SHARDS + number, graphed),
            young: Table::new(0, true),
            aged: true,
            parents: Vec::new(),
            steps: Vec::new(),
            now: Vec::new(),
            now_from: 0,
            next: Vec::new(),
            next_from: 0,
            layers: Vec::new(),
            goals: 0,
            goal: None,
            graphed: graphed.then(Graphed::default),
        }
    }

    /// Makes the young old, if a layer has begun since. Apart from [`turn`](Self::turn), because
    /// many threads can do it.
    pub(super) fn age(&mut self) {
        if !self.aged {
            self.old.put_all(&self.young);
            self.young.clear();
            self.aged = true;
        }
    }

    /// Takes what belongs to it from one chunk.
    pub(super) fn take(&mut self, chunk: &Chunk<S>, reduce: bool) {
        let sorted = chunk.sorted(self.number);
        for (prints, keys) in sorted.prints.chunks(BLOCK).zip(sorted.keys.chunks(BLOCK)) {
            self.young.touch(prints.iter().copied());
            let mut rest = [0; BLOCK];
            let mut count = 0;
            for (at, print) in prints.iter().enumerate() {
                if let Some(slot) = self.young.find(*print) {
                    self.meet(slot, &keys[at], chunk, reduce);
                } else {
                    rest[count] = at;
                    count += 1;
                }
            }
            let rest = &rest[..count];
            self.old.touch(rest.iter().map(|at| prints[*at]));
            rest.iter().for_each(|at| self.take_one(prints[*at], &keys[*at], chunk, reduce));
        }
    }

    /// Takes an arrival of which the young know nothing, unless it is of the same block.
    #[inline]
    fn take_one(&mut self, print: u128, key: &Key, chunk: &Chunk<S>, reduce: bool) {
        if let Some(slot) = self.old.find(print) {
            if self.graphed.is_some() {
                self.draw(key, self.old.value(slot), chunk);
            }
            return;
        }
        let place = self.parents.len();
        if let Some(slot) = self.young.put(print, place as u32) {
            self.meet(slot, key, chunk, reduce);
            return;
        }
        self.draw(key, place as u32, chunk);
        let arrival = &chunk.arrivals[key.at as usize];
        let asleep = if reduce { arrival.asleep } else { S::Steps::default() };
        let front = Front { state: arrival.state, asleep };
        self.add(key.parent, arrival.step, arrival.goal, front);
    }

    /// Another way to a state of the next layer: only what is asleep on both may sleep.
    #[inline]
    fn meet(&mut self, slot: Slot, key: &Key, chunk: &Chunk<S>, reduce: bool) {
        if reduce {
            let place = self.young.value(slot) as usize;
            let asleep = &mut self.next[place - self.next_from].asleep;
            *asleep = asleep.and(chunk.arrivals[key.at as usize].asleep);
        }
        if self.graphed.is_some() {
            self.draw(key, self.young.value(slot), chunk);
        }
    }

    /// Notes a step, if they are noted.
    fn draw(&mut self, key: &Key, to: u32, chunk: &Chunk<S>) {
        let Some(graphed) = &mut self.graphed else { return };
        let to = StateId::new(self.number, to as usize);
        let step = chunk.arrivals[key.at as usize].step;
        graphed.edges.push(Edge { from: key.parent, to, step, fair: chunk.fair(key) });
    }

    /// Takes in the initial state.
    pub(super) fn begin(&mut self, print: u128, arrival: &Arrival<S>) {
        self.young.put(print, 0);
        let front = Front { state: arrival.state, asleep: S::Steps::default() };
        self.add(StateId::ROOT, arrival.step, arrival.goal, front);
    }

    /// Takes in a state that nobody has seen; its fingerprint is in the table already.
    fn add(&mut self, parent: StateId, step: u16, goal: bool, front: Front<S>) {
        let place = self.parents.len();
        push(&mut self.parents, parent);
        push(&mut self.steps, step);
        push(&mut self.next, front);
        if goal {
            self.goals += 1;
            self.goal.get_or_insert(StateId::new(self.number, place));
            if let Some(graphed) = &mut self.graphed {
                graphed.goals.push(place as u32);
            }
        }
    }

    /// Goes on to the next layer.
    pub(super) fn turn(&mut self) {
        self.aged = false;
        std::mem::swap(&mut self.now, &mut self.next);
        self.next.clear();
        if self.next.capacity() > 2 * self.now.len().max(64) {
            self.next = Vec::new();
        }
        self.now_from = self.next_from;
        self.next_from = self.parents.len();
        self.layers.push(self.now_from as u32);
        self.goal = None;
    }

    /// Gives a state that waits back to the place it waits at; others are not kept.
    pub(super) fn put_back(&mut self, place: usize, state: S::State) {
        let front = match place.checked_sub(self.next_from) {
            Some(at) => self.next.get_mut(at),
            None => place.checked_sub(self.now_from).and_then(|at| self.now.get_mut(at)),
        };
        if let Some(front) = front {
            front.state = state;
        }
    }

    /// The places of a layer.
    pub(super) fn layer(&self, layer: usize) -> Range<usize> {
        let from = |layer: usize| match layer.checked_sub(self.layers.len()) {
            None => self.layers[layer] as usize,
            Some(0) => self.next_from,
            Some(_) => self.parents.len(),
        };
        from(layer)..from(layer + 1)
    }

    /// Bytes of what stays: fingerprints, parents, steps.
    pub(super) fn bytes_seen(&self) -> u64 {
        self.old.bytes()
            + (self.parents.capacity() * size_of::<StateId>()
                + self.steps.capacity() * size_of::<u16>()) as u64
    }

    /// Bytes of everything.
    pub(super) fn bytes(&self) -> u64 {
        let graphed = self.graphed.as_ref().map_or(0, |graphed| {
            graphed.edges.capacity() * size_of::<Edge>() + graphed.goals.capacity() * 4
        });
        let fronts = (self.now.capacity() + self.next.capacity()) * size_of::<Front<S>>();
        self.bytes_seen() + self.young.bytes() + (fronts + graphed) as u64
    }

    /// Bytes by which it may grow at so many more arrivals.
    pub(super) fn growth(&self, arrivals: usize) -> u64 {
        // At the end of the layer all that is young becomes old.
        let old = self.old.bytes_growth(self.young.len() + arrivals);
        let table = old + self.young.bytes_growth(arrivals);
        let each = size_of::<StateId>() + size_of::<u16>();
        let seen = growth(&self.parents, arrivals) * each;
        let fronts = growth(&self.next, arrivals) * size_of::<Front<S>>();
        table + (seen + fronts) as u64
    }

    /// From where and by which step a state was first reached; the initial state from nowhere.
    pub(super) fn origin(&self, state: StateId) -> (Option<StateId>, u16) {
        let parent = self.parents[state.place()];
        ((parent != StateId::ROOT).then_some(parent), self.steps[state.place()])
    }
}

/// By how much a full vector grows: by a quarter and not by the double.
const fn quarter<T>(of: &Vec<T>) -> usize {
    let quarter = of.capacity() / 4;
    if quarter < 64 { 64 } else { quarter }
}

/// By how much a vector may grow when so many more come.
const fn growth<T>(of: &Vec<T>, more: usize) -> usize {
    if of.len() + more <= of.capacity() { 0 } else { quarter(of) }
}

/// Puts one more at the end.
#[inline]
fn push<T>(to: &mut Vec<T>, one: T) {
    if to.len() == to.capacity() {
        to.reserve_exact(quarter(to));
    }
    to.push(one);
}
