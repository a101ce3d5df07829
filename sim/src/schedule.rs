//! The due-time queue of a seeded run: time jumps from one thing that is due to the next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::step::{Instant, Step};
use crate::world::{Pending, World};

/// What is due when. Equal times keep the order in which they were put in.
#[derive(Clone, Debug)]
pub struct Schedule<E> {
    heap: BinaryHeap<Reverse<(Instant, u64, Due<E>)>>,
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
    pub const fn new() -> Self {
        Self { heap: BinaryHeap::new(), count: 0 }
    }

    /// Puts something in.
    pub fn push(&mut self, at: Instant, due: Due<E>) {
        self.count += 1;
        self.heap.push(Reverse((at, self.count, due)));
    }

    /// Takes out what is due next, and when.
    pub fn pop(&mut self) -> Option<(Instant, Due<E>)> {
        self.heap.pop().map(|Reverse((at, _, due))| (at, due))
    }

    /// When the next thing is due.
    #[must_use]
    pub fn next(&self) -> Option<Instant> {
        self.heap.peek().map(|Reverse((at, _, _))| *at)
    }

    /// The step by which something pending happens at this moment. A timer that has been set
    /// anew meanwhile is put back; what cannot happen is forgotten, for the world speaks up
    /// again when it can.
    pub fn step(&mut self, at: Instant, pending: Pending, world: &World) -> Option<Step> {
        if let Pending::Timer { server, timer } = pending {
            let host = world.host(server);
            let due = host.due(timer).filter(|_| host.is_awake())?;
            if due > at {
                self.push(due, Due::Pending(pending));
                return None;
            }
            return Some(Step::Timeout { server, timer });
        }
        world.step_of(pending)
    }
}

impl<E: Copy + Ord> Default for Schedule<E> {
    fn default() -> Self {
        Self::new()
    }
}
