//! Several servers at once, put together from what is known of each.

use zoolab_core::{LinkId, ServerId};

use super::Ensemble;
use super::known::After;
use super::parts::ForClients;
use super::worker::Worker;
use crate::step::Step;
use crate::world::act::Act;
use crate::world::meeting::{self, Floor};

/// A state in which servers meet, and what has come of it so far.
pub(super) struct Assembly<'a, const K: usize, const W: usize> {
    space: &'a Ensemble<K, W>,
    worker: &'a mut Worker<K>,
    pub(super) state: [u32; K],
    /// What was seen, by number.
    pub(super) seen: Option<u32>,
    pub(super) reached: u32,
    /// Our own code gave up on the way.
    pub(super) panics: bool,
    /// It cannot be put together after all: a message was not sent, so something else was seen.
    pub(super) broken_off: bool,
}

impl<'a, const K: usize, const W: usize> Assembly<'a, K, W> {
    /// What a step of several servers makes of a state.
    pub(super) fn after(
        space: &'a Ensemble<K, W>,
        worker: &'a mut Worker<K>,
        state: &[u32; K],
        step: &Step,
    ) -> Self {
        let (seen, reached) = (None, 0);
        let (panics, broken_off) = (false, false);
        let mut floor = Self { space, worker, state: *state, seen, reached, panics, broken_off };
        #[expect(clippy::wildcard_enum_match_arm, reason = "nothing else takes several servers")]
        match step {
            Step::Dialled { from, to } => meeting::dialled(&mut floor, *from, *to),
            Step::Elect { leader, followers } => {
                let place = space.place(*leader).expect("a server of this world");
                let ballot = floor.worker.standing(space, place, state[place]).ballot;
                meeting::elect(&mut floor, ballot.expect("it may lead"), followers);
            }
            Step::Join { leader, server } => meeting::join(&mut floor, *leader, *server),
            Step::Answer { .. } | Step::Ask { .. } | Step::Call { .. } | Step::Dial { .. } => {
                let what = space.told(ForClients::Does(step.clone()));
                let told = floor.client(what.expect("there are clients"));
                if let Some((server, cause)) = told {
                    floor.act_for(floor.place(server), cause);
                }
            }
            other => unreachable!("one server does this alone: {other}"),
        }
        if floor.panics {
            floor.state = *state;
            floor.seen = None;
        }
        floor
    }

    fn place(&self, server: ServerId) -> usize {
        self.space.place(server).expect("a server of this world")
    }

    const fn is_over(&self) -> bool {
        self.panics || self.broken_off
    }

    /// Where the number of what is between two servers is kept, and the place of the pair.
    fn between(&self, one: usize, other: usize) -> (usize, usize) {
        let pair = self.space.pair_place(one, other);
        (self.ids() + pair, pair)
    }

    const fn ids(&self) -> usize {
        self.space.ids.len()
    }

    fn spread(&mut self, place: usize, done: &After) {
        self.state[place] = done.host;
        for at in done.between.clone() {
            let (pair, what) = self.worker.effect(place, at);
            let slot = self.ids() + pair;
            match self.worker.after(self.space, pair, self.state[slot], what) {
                Some(after) => self.state[slot] = after,
                None => self.broken_off = true,
            }
        }
        for at in done.told.clone() {
            self.client(self.worker.told(place, at));
        }
        self.reached |= done.reached;
        self.panics |= done.panics;
        self.seen = match (self.seen, done.seen) {
            (Some(before), Some(then)) => Some(self.worker.both_seen(self.space, before, then)),
            (before, then) => before.or(then),
        };
    }

    fn client(&mut self, what: u32) -> Option<(ServerId, u32)> {
        let slot = &mut self.state[Ensemble::<K, W>::CLIENTS];
        let (after, told) = self.worker.for_clients(self.space, *slot, what);
        *slot = after;
        told
    }

    fn act_for(&mut self, place: usize, cause: u32) {
        if self.is_over() {
            return;
        }
        let done = self.worker.done(self.space, place, self.state[place], cause);
        self.spread(place, &done);
    }
}

impl<const K: usize, const W: usize> Floor for Assembly<'_, K, W> {
    fn act(&mut self, server: ServerId, act: Act) {
        let place = self.place(server);
        let cause = self.worker.cause(self.space, act);
        self.act_for(place, cause);
    }

    fn open(&mut self, from: ServerId, to: ServerId) -> Option<LinkId> {
        let [one, other] = [from, to].map(|server| self.place(server));
        if !self.worker.standing(self.space, other, self.state[other]).runs {
            return None;
        }
        let (slot, pair) = self.between(one, other);
        let (after, link) = self.worker.opened(self.space, pair, self.state[slot], from)?;
        self.state[slot] = after;
        Some(link)
    }

    fn discover(&mut self, from: ServerId, to: ServerId) -> bool {
        let [one, other] = [from, to].map(|server| self.place(server));
        let (slot, pair) = self.between(one, other);
        let out = self.worker.out_of(self.space, other, pair, self.state[slot]);
        let Some((what, cause)) = out.discovery.filter(|_| !self.is_over()) else { return false };
        let after = self.worker.after(self.space, pair, self.state[slot], what);
        self.state[slot] = after.expect("nothing is sent");
        self.act_for(other, cause);
        true
    }

    fn promise(&mut self, server: ServerId) -> bool {
        let place = self.place(server);
        let own = self.worker.own(self.space, place, self.state[place]);
        let Some(cause) = own.promise.filter(|_| !self.is_over()) else { return false };
        self.act_for(place, cause);
        true
    }
}
