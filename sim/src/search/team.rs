//! The threads of a search: in step with each other, round by round.
//!
//! ```text
//!   plan --> | expand chunks | settle shards | --> plan ...
//!            barrier         barrier         barrier
//! ```
//!
//! The thread that leads plans; all of them, it too, take chunks and then shards one by one
//! until none are left.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex, PoisonError, RwLock};

use super::chunk::{Piece, Wanted};
use super::course::Store;
use super::{Space, StateId};

/// See the [module](self).
pub(super) struct Team<'a, S: Space> {
    space: &'a S,
    store: &'a Store<S>,
    wanted: Wanted,
    /// What this round expands, one piece per chunk.
    plan: RwLock<Vec<Piece>>,
    next_piece: AtomicUsize,
    next_shard: AtomicUsize,
    barrier: Barrier,
    over: AtomicBool,
    /// What a thread had to say that came to grief.
    grief: Mutex<Option<Box<dyn Any + Send>>>,
}

/// Locks are poisoned only after a panic, and then nothing is done any more.
pub(super) const UNPOISONED: &str = "after a panic nothing goes on";

impl<'a, S: Space> Team<'a, S> {
    pub(super) fn new(space: &'a S, store: &'a Store<S>, wanted: Wanted, threads: usize) -> Self {
        Self {
            space,
            store,
            wanted,
            plan: RwLock::new(Vec::new()),
            next_piece: AtomicUsize::new(0),
            next_shard: AtomicUsize::new(0),
            barrier: Barrier::new(threads),
            over: AtomicBool::new(false),
            grief: Mutex::new(None),
        }
    }

    /// What every thread but the leading one does, until it is over.
    pub(super) fn follow(&self, worker: &mut S::Worker) {
        loop {
            self.barrier.wait();
            if self.over.load(Ordering::SeqCst) {
                return;
            }
            self.work(worker);
        }
    }

    /// One round, by the leading thread.
    ///
    /// Returns what the space said if it panicked; nothing of the round may be looked at then.
    pub(super) fn round(
        &self,
        plan: Vec<Piece>,
        worker: &mut S::Worker,
    ) -> Result<(), Box<dyn Any + Send>> {
        *self.plan.write().expect(UNPOISONED) = plan;
        self.next_piece.store(0, Ordering::SeqCst);
        self.next_shard.store(0, Ordering::SeqCst);
        self.barrier.wait();
        self.work(worker);
        self.grief.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }

    /// Sends the other threads home.
    pub(super) fn end(&self) {
        self.over.store(true, Ordering::SeqCst);
        self.barrier.wait();
    }

    fn work(&self, worker: &mut S::Worker) {
        self.guard(|| self.expand(worker));
        self.barrier.wait();
        self.guard(|| self.settle());
        self.barrier.wait();
    }

    /// A thread that does not come to the barrier would keep the others waiting for ever.
    fn guard(&self, work: impl FnOnce()) {
        if let Err(said) = catch_unwind(AssertUnwindSafe(work)) {
            let mut grief = self.grief.lock().unwrap_or_else(PoisonError::into_inner);
            grief.get_or_insert(said);
        }
    }

    fn expand(&self, worker: &mut S::Worker) {
        let plan = self.plan.read().expect(UNPOISONED);
        loop {
            let number = self.next_piece.fetch_add(1, Ordering::Relaxed);
            let Some(piece) = plan.get(number) else { return };
            let shard = self.store.shards[piece.shard].read().expect(UNPOISONED);
            let mut chunk = self.store.chunks[number].write().expect(UNPOISONED);
            let first = StateId::new(piece.shard, shard.now_from + piece.from);
            let fronts = &shard.now[piece.from..piece.to];
            chunk.fill(self.space, worker, fronts, first, self.wanted);
        }
    }

    fn settle(&self) {
        let used = self.plan.read().expect(UNPOISONED).len();
        let chunks = &self.store.chunks[..used];
        let chunks: Vec<_> = chunks.iter().map(|chunk| chunk.read().expect(UNPOISONED)).collect();
        loop {
            let number = self.next_shard.fetch_add(1, Ordering::Relaxed);
            let Some(shard) = self.store.shards.get(number) else { return };
            let mut shard = shard.write().expect(UNPOISONED);
            shard.age();
            for chunk in &chunks {
                shard.take(chunk, self.wanted.reduce);
            }
        }
    }
}
