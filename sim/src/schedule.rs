//! The due-time queue of a seeded run: time jumps from one thing that is due to the next.
//!
//! ```text
//!   push ---> near: a ring of lists, one for each of the next microseconds ---> pop
//!        \--> far:  a heap of everything else ----------------------------/  the earlier
//! ```
//!
//! Most things are due soon, and for them neither end costs more the more there are.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::step::{Instant, Step};
use crate::world::{Pending, World};

/// What is due when. Equal times keep the order in which they were put in.
#[derive(Clone, Debug)]
pub struct Schedule<E> {
    near: Near<E>,
    far: BinaryHeap<Reverse<(Instant, u64, Due<E>)>>,
    count: u64,
}

/// Something that is due.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Due<E> {
    /// Something the world left to be done.
    Pending(Pending),
    /// Something whoever picks wanted to think of.
    Thought(E),
}

impl<E: Copy + Ord> Schedule<E> {
    /// Nothing is due.
    #[must_use]
    pub fn new() -> Self {
        Self { near: Near::new(), far: BinaryHeap::new(), count: 0 }
    }

    /// Puts something in.
    pub fn push(&mut self, at: Instant, due: Due<E>) {
        self.count += 1;
        if self.near.reaches(at) {
            self.near.push(at, self.count, due);
        } else {
            self.far.push(Reverse((at, self.count, due)));
        }
    }

    /// Takes out what is due next, and when.
    pub fn pop(&mut self) -> Option<(Instant, Due<E>)> {
        if let Some((at, slot)) = self.near.next()
            && self.far.peek().is_none_or(|Reverse((far, count, _))| {
                at < *far || at == *far && self.near.first(slot).count < *count
            })
        {
            return Some((at, self.near.take(at, slot)));
        }
        let Reverse((at, _, due)) = self.far.pop()?;
        self.near.now = self.near.now.max(at);
        Some((at, due))
    }

    /// When the next thing is due.
    #[must_use]
    pub fn next(&self) -> Option<Instant> {
        let far = self.far.peek().map(|Reverse((at, _, _))| *at);
        let near = self.near.next().map(|(at, _)| at);
        near.into_iter().chain(far).min()
    }

    /// The step by which something pending happens at this moment. A timer that has been set
    /// anew meanwhile is put back; what cannot happen is forgotten, for the world speaks up
    /// again when it can.
    #[inline]
    pub fn step(&mut self, at: Instant, pending: Pending, world: &World) -> Option<Step> {
        if let Pending::Message { link, from, to } = pending {
            return world.arrival(link, from, to);
        }
        if let Pending::Timer { server, timer } = pending {
            let host = world.host(server);
            let due = host.due(timer).filter(|_| host.is_awake())?;
            if due > at {
                self.push(due, Due::Pending(pending));
                return None;
            }
            return Some(Step::Timeout { server, timer });
        }
        if let Pending::Wake { client, timer } = pending {
            let app = world.app(client);
            let (due, _) = app.due(timer).filter(|_| !app.frozen)?;
            if due > at {
                self.push(due, Due::Pending(pending));
                return None;
            }
            return Some(Step::Wake { client, timer });
        }
        world.step_of(pending)
    }
}

impl<E: Copy + Ord> Default for Schedule<E> {
    fn default() -> Self {
        Self::new()
    }
}

/// How many microseconds the ring covers: as many as two levels of 64 bits can tell apart.
const SLOTS: usize = 64 * 64;
/// Stands for no entry.
const NONE: u32 = u32::MAX;

/// What is due within the next few microseconds.
///
/// Invariant: everything is due at `now` or less than [`SLOTS`] later, so that all entries of a
/// slot are due at the same time.
#[derive(Clone, Debug)]
struct Near<E> {
    /// The latest time at which anything was taken out of the schedule.
    now: Instant,
    /// The last entry of each slot; the first one follows it.
    last: Box<[u32]>,
    /// Which slots have any.
    used: [u64; 64],
    /// Which words of these have any.
    used_words: u64,
    entries: Vec<Entry<E>>,
    /// The first entry that is in no slot; the others follow it.
    free: u32,
}

#[derive(Clone, Debug)]
struct Entry<E> {
    due: Due<E>,
    count: u64,
    next: u32,
}

impl<E: Copy> Near<E> {
    fn new() -> Self {
        Self {
            now: Instant(0),
            last: vec![NONE; SLOTS].into(),
            used: [0; 64],
            used_words: 0,
            entries: Vec::new(),
            free: NONE,
        }
    }

    fn reaches(&self, at: Instant) -> bool {
        at >= self.now && at.0 - self.now.0 < SLOTS as u64
    }

    fn push(&mut self, at: Instant, count: u64, due: Due<E>) {
        let slot = at.0 as usize % SLOTS;
        let last = self.last[slot];
        let fresh = Entry { due, count, next: NONE };
        let place = match self.free {
            NONE => {
                self.entries.push(fresh);
                u32::try_from(self.entries.len() - 1).expect("fewer than that wait")
            }
            free => {
                let entry = &mut self.entries[free as usize];
                self.free = entry.next;
                *entry = fresh;
                free
            }
        };
        self.last[slot] = place;
        let before = if last == NONE { place } else { last };
        let first = match last {
            NONE => place,
            last => self.entries[last as usize].next,
        };
        self.entries[before as usize].next = place;
        self.entries[place as usize].next = first;
        self.used[slot / 64] |= 1 << (slot % 64);
        self.used_words |= 1 << (slot / 64);
    }

    /// When something is due next, and in which slot it is.
    fn next(&self) -> Option<(Instant, usize)> {
        let here = self.now.0 as usize % SLOTS;
        let (word, bit) = (here / 64, here % 64);
        let soon = self.used[word] >> bit << bit;
        let slot = if soon != 0 {
            word * 64 + soon.trailing_zeros() as usize
        } else {
            // Slots before this one are those of the time after the ring's end.
            let later = self.used_words & (u64::MAX << word << 1);
            let words = if later == 0 { self.used_words } else { later };
            if words == 0 {
                return None;
            }
            let word = words.trailing_zeros() as usize;
            word * 64 + self.used[word].trailing_zeros() as usize
        };
        let at = Instant(self.now.0 + (slot.wrapping_sub(here) % SLOTS) as u64);
        Some((at, slot))
    }

    fn first(&self, slot: usize) -> &Entry<E> {
        let last = &self.entries[self.last[slot] as usize];
        &self.entries[last.next as usize]
    }

    /// Takes out the first entry of a slot that has one and is due at this time.
    fn take(&mut self, at: Instant, slot: usize) -> Due<E> {
        self.now = at;
        let last = self.last[slot];
        let first = self.entries[last as usize].next;
        let Entry { due, next, .. } = self.entries[first as usize];
        if first == last {
            self.last[slot] = NONE;
            self.used[slot / 64] &= !(1 << (slot % 64));
            self.used_words &= !(u64::from(self.used[slot / 64] == 0) << (slot / 64));
        } else {
            self.entries[last as usize].next = next;
        }
        self.entries[first as usize].next = self.free;
        self.free = first;
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    /// Held against a list that is sorted by time and keeps the order of what is equal.
    #[test]
    fn earliest_first_and_equal_times_in_order() {
        let mut chance = Stream::new(7, "schedule");
        for far in [3, 300, 5000, 100_000] {
            let mut schedule = Schedule::new();
            let mut list: Vec<(u64, u32)> = Vec::new();
            let mut now = 0;
            for number in 0..3000 {
                // Sometimes before what has been taken out already.
                let at = (now + chance.below(far)).saturating_sub(2);
                schedule.push(Instant(at), Due::Thought(number));
                list.push((at, number));
                list.sort_by_key(|(at, _)| *at);
                while !list.is_empty() && chance.one_in(2) {
                    let (at, number) = list.remove(0);
                    assert_eq!(schedule.next(), Some(Instant(at)));
                    assert_eq!(schedule.pop(), Some((Instant(at), Due::Thought(number))));
                    now = now.max(at);
                }
            }
            let left: Vec<_> = std::iter::from_fn(|| schedule.pop()).collect();
            let due = list.iter().map(|(at, number)| (Instant(*at), Due::Thought(*number)));
            assert_eq!(left, due.collect::<Vec<_>>());
            assert_eq!(schedule.next(), None);
        }
    }
}
