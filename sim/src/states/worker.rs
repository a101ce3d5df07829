//! What one thread keeps to itself: what it has worked out, and what it has counted.

use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::HashMap;
use zoolab_core::{LinkId, Server, ServerId, Zxid};

use super::assembly::Assembly;
use super::couples::Couples;
use super::known::{self, After, ArrivalStep, HostCard, OwnStep, PairCard};
use super::prints::Prints;
use super::taken::{self, COMMITTED, ESTABLISHED, KINDS, REACHED, Taken};
use super::{Asleep, Ensemble, pack, unpack};
use crate::search::{Arrival, Awake, Verdict};
use crate::step::Step;
use crate::world::act::Act;
use crate::world::meeting::{Standing, meetings};
use crate::world::{Budget, Price};

/// More than this is forgotten, and worked out again when needed.
const JUDGED_MOST: usize = 6_000_000;
const TOGETHER_MOST: usize = 200_000;

/// A broken promise, where a ledger would be.
const BROKEN: u32 = u32::MAX;

/// Kinds of steps, by their place among all.
const TIMEOUT: u8 = 6;
const BREAK: u8 = 11;

/// The clients after something has happened to them; and which server is told what of it.
type Told = (u32, Option<(ServerId, u32)>);

/// What a server is, as far as others care.
#[derive(Clone, Copy, Debug)]
struct Facts {
    up: bool,
    leads: bool,
    serves: bool,
    settled: bool,
    following: Option<ServerId>,
    last: Zxid,
    /// Whether it has a part in a step of several servers.
    calls: bool,
}

/// Of these facts those that are asked for all the time, as bits. Nothing at all if they are not
/// known yet.
const KNOWN: u8 = 1;
const SERVES: u8 = 2;
const CALLS: u8 = 4;

/// Which steps were taken, and where they led.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Coverage {
    /// By kind of step, and by what had gone wrong before: nothing, or each kind of fault.
    pub pairs: BTreeMap<(&'static str, &'static str), u64>,
    /// Places worth reaching, and how often a step reached them.
    pub reached: BTreeMap<&'static str, u64>,
}

impl Coverage {
    /// All kinds of steps.
    pub const KINDS: [&'static str; KINDS.len()] = KINDS;

    /// What may have gone wrong before a step: nothing, or each kind of fault.
    pub const FAULTS: [&'static str; 7] =
        ["nothing", "crash", "power-loss", "break", "timeout", "write", "call"];

    /// All places worth reaching, by name.
    pub fn places() -> impl Iterator<Item = &'static str> {
        REACHED.iter().map(|(_, name)| *name).chain([EPOCH_BEGUN, COMMIT])
    }
}

const EPOCH_BEGUN: &str = "epoch begun";
const COMMIT: &str = "commit";

/// What one thread keeps to itself: what it has worked out, and what it has counted.
#[derive(Debug)]
pub struct Worker<const K: usize> {
    /// By place.
    prints: Vec<Prints>,
    /// By place and number.
    facts: Vec<Vec<Option<Facts>>>,
    marks: Vec<Vec<u8>>,
    hosts: Vec<known::Hosts>,
    between: Vec<known::Pairs>,
    standing: Vec<Vec<Option<Arc<Standing>>>>,
    causes: HashMap<Act, u32>,
    opened: HashMap<(u8, u32, ServerId), Option<(u32, LinkId)>>,
    both_seen: HashMap<(u32, u32), u32>,
    for_clients: HashMap<(u32, u32), Told>,
    /// By the servers there are.
    together: HashMap<[u32; K], Arc<Vec<Step>>>,
    judged: Couples,
    /// Of arrivals that are not judged yet, what was seen.
    seen: Vec<Option<u32>>,
    /// Room for a sum under each way of naming.
    sums: Vec<u64>,
    pairs: [[u64; 7]; KINDS.len()],
    reached: [u64; 32],
}

impl<const K: usize> Worker<K> {
    pub(super) fn new(namings: usize) -> Self {
        Self {
            prints: (0..K).map(|_| Prints::new(namings)).collect(),
            facts: vec![Vec::new(); K],
            marks: vec![Vec::new(); K],
            hosts: (0..K).map(|_| known::Hosts::default()).collect(),
            between: (0..K).map(|_| known::Pairs::default()).collect(),
            standing: vec![Vec::new(); K],
            causes: HashMap::new(),
            opened: HashMap::new(),
            both_seen: HashMap::new(),
            for_clients: HashMap::new(),
            together: HashMap::new(),
            judged: Couples::default(),
            seen: Vec::new(),
            sums: vec![0; namings],
            pairs: [[0; 7]; KINDS.len()],
            reached: [0; 32],
        }
    }

    /// What was counted.
    #[must_use]
    pub fn coverage(&self) -> Coverage {
        let mut coverage = Coverage::default();
        for (kind, counts) in KINDS.iter().zip(&self.pairs) {
            for (fault, count) in
                Coverage::FAULTS.iter().zip(counts).filter(|(_, count)| **count > 0)
            {
                coverage.pairs.insert((kind, fault), *count);
            }
        }
        let names = REACHED.iter().map(|(_, name)| *name);
        let mut count = |name: &'static str, bit: usize| {
            if self.reached[bit] > 0 {
                coverage.reached.insert(name, self.reached[bit]);
            }
        };
        names.enumerate().for_each(|(bit, name)| count(name, bit));
        count(EPOCH_BEGUN, ESTABLISHED.trailing_zeros() as usize);
        count(COMMIT, COMMITTED.trailing_zeros() as usize);
        coverage
    }

    /// The way of naming under which the fingerprint of a state is least, and that fingerprint.
    pub(super) fn least<const W: usize>(
        &mut self,
        space: &Ensemble<K, W>,
        state: &[u32; K],
    ) -> (usize, u128) {
        let budget = Ensemble::<K, W>::budget_print(state[K - 1]);
        self.sums.fill((budget >> 64) as u64);
        let members = || state.iter().copied().enumerate().take(K - 1);
        for (place, id) in members() {
            if !self.prints[place].has(id) {
                self.learn_prints(space, place, id);
            }
            for (sum, lead) in self.sums.iter_mut().zip(self.prints[place].leads(id)) {
                *sum = sum.wrapping_add(*lead);
            }
        }
        let lead = *self.sums.iter().min().expect("they have names");
        let rest = |naming| {
            let rests = members().map(|(place, id)| self.prints[place].rest(id, naming));
            rests.fold(budget as u64, u64::wrapping_add)
        };
        // Of those that begin the same, the first of those that also end so.
        let tied = self.sums.iter().enumerate().filter(|(_, sum)| **sum == lead);
        let least = tied.map(|(naming, _)| (rest(naming), naming)).min();
        let (rest, naming) = least.expect("one is the least");
        (naming, u128::from(lead) << 64 | u128::from(rest))
    }

    #[cold]
    fn learn_prints<const W: usize>(&mut self, space: &Ensemble<K, W>, place: usize, id: u32) {
        let servers = space.len();
        let prints = if place < servers {
            space.hosts[place].prints(id)
        } else if place < Ensemble::<K, W>::CLIENTS {
            space.pairs[place - servers].prints(id)
        } else if place == Ensemble::<K, W>::CLIENTS {
            space.clients.prints(id)
        } else {
            space.ledgers.prints(id)
        };
        self.prints[place].learn(id, &prints);
    }

    /// Touches what will be looked at when the steps of these states are taken, so that memory is
    /// asked for all of it at once: first where things are, then what is there says where the next
    /// are.
    pub(super) fn look_ahead<'s, const W: usize>(
        &self,
        space: &Ensemble<K, W>,
        states: impl Iterator<Item = &'s [u32; K]> + Clone,
    ) {
        let count = space.len();
        for state in states.clone() {
            for (place, id) in state.iter().enumerate().take(K - 1) {
                self.prints[place].touch(*id);
            }
            for (hosts, host) in self.hosts.iter().zip(state).take(count) {
                hosts.touch_card(*host);
            }
            for (pair, pairs) in self.between.iter().enumerate().take(space.pairs.len()) {
                pairs.touch_cards(state[count + pair]);
            }
        }
        for state in states.clone() {
            for (hosts, host) in self.hosts.iter().zip(state).take(count) {
                hosts.touch_steps(*host);
            }
        }
        for state in states {
            for (hosts, host) in self.hosts.iter().zip(state).take(count) {
                hosts.touch_after(*host);
            }
            for (place, pairs) in self.between.iter().enumerate().take(space.pairs.len()) {
                let pair = state[count + place];
                for (upper, to) in space.ends(place).into_iter().enumerate() {
                    let Some(card) = pairs.card(pair, upper == 1) else { continue };
                    for at in card.arrivals() {
                        let ArrivalStep { what, cause, .. } = pairs.arrival(at);
                        pairs.touch_after(pair, what);
                        self.hosts[to].touch_done(state[to], cause);
                    }
                }
            }
        }
    }

    /// Judges where steps have led, and finds out which states those are.
    pub(super) fn settle<const W: usize>(
        &mut self,
        space: &Ensemble<K, W>,
        arrivals: &mut [Arrival<Ensemble<K, W>>],
    ) {
        let seen = std::mem::take(&mut self.seen);
        assert_eq!(seen.len(), arrivals.len(), "each has seen something or nothing");
        let judged = || arrivals.iter().zip(&seen);
        for (arrival, seen) in judged().filter_map(|(one, seen)| seen.map(|seen| (one, seen))) {
            self.judged.touch(arrival.state[K - 2], seen);
        }
        for (arrival, seen) in arrivals.iter_mut().zip(&seen) {
            let Some(seen) = *seen else { continue };
            match self.judge(space, arrival.state[K - 2], seen) {
                BROKEN => arrival.verdict = Verdict::Broken,
                next => arrival.state[K - 2] = next,
            }
        }
        for arrival in &*arrivals {
            for (place, id) in arrival.state.iter().enumerate().take(K - 1) {
                self.prints[place].touch(*id);
            }
        }
        for arrival in arrivals {
            let (naming, print) = self.least(space, &arrival.state);
            let Asleep { all, far } = arrival.asleep;
            let rename = |set| space.codes.rename(set, naming, false);
            arrival.asleep = Asleep { all: rename(all), far: rename(far) };
            arrival.print = print;
            arrival.goal = self.is_well(space, &arrival.state);
        }
        self.seen = seen;
        self.seen.clear();
    }

    #[inline]
    fn marks<const W: usize>(&mut self, space: &Ensemble<K, W>, place: usize, id: u32) -> u8 {
        match self.marks[place].get(id as usize) {
            Some(marks) if *marks != 0 => *marks,
            _ => self.learn_marks(space, place, id),
        }
    }

    #[cold]
    fn learn_marks<const W: usize>(&mut self, space: &Ensemble<K, W>, place: usize, id: u32) -> u8 {
        let Facts { up, serves, calls, .. } = self.facts(space, place, id);
        let mark = |is, mark| if is { mark } else { 0 };
        let marks = KNOWN | mark(up && serves, SERVES) | mark(calls, CALLS);
        let all = &mut self.marks[place];
        if all.len() <= id as usize {
            all.resize(id as usize + 1, 0);
        }
        all[id as usize] = marks;
        marks
    }

    fn facts<const W: usize>(&mut self, space: &Ensemble<K, W>, place: usize, id: u32) -> Facts {
        let all = &mut self.facts[place];
        if let Some(Some(facts)) = all.get(id as usize) {
            return *facts;
        }
        let host = space.hosts[place].get(id);
        let server = host.server.as_ref();
        let is = |is: fn(&Server) -> bool| server.is_some_and(is);
        let facts = Facts {
            up: host.is_awake(),
            leads: is(Server::is_leading),
            serves: is(Server::is_serving),
            settled: server.is_some_and(|server| server.outstanding() == 0),
            following: server.and_then(Server::following),
            last: server.map_or(Zxid::NONE, Server::zxid_last),
            calls: host.standing().calls(),
        };
        if all.len() <= id as usize {
            all.resize(id as usize + 1, None);
        }
        all[id as usize] = Some(facts);
        facts
    }

    /// Whether everybody follows one leader, and has what it has.
    pub(super) fn is_well<const W: usize>(
        &mut self,
        space: &Ensemble<K, W>,
        state: &[u32; K],
    ) -> bool {
        let mut leader = None;
        for (place, id) in state.iter().enumerate().take(space.len()) {
            if self.marks(space, place, *id) & SERVES == 0 {
                return false;
            }
        }
        for (place, id) in state.iter().enumerate().take(space.len()) {
            let facts = self.facts(space, place, *id);
            if facts.leads {
                leader = Some((space.ids[place], facts));
            }
        }
        let Some((id, of)) = leader.filter(|(_, of)| of.settled) else { return false };
        (0..space.len()).all(|place| {
            let facts = self.facts(space, place, state[place]);
            facts.following == Some(id) && facts.last == of.last
        })
    }

    /// What a server may do by itself.
    pub(super) fn own<const W: usize>(
        &mut self,
        space: &Ensemble<K, W>,
        place: usize,
        host: u32,
    ) -> HostCard {
        let hosts = &mut self.hosts[place];
        hosts.card(host).unwrap_or_else(|| hosts.learn(host, &space.own_steps(place, host)))
    }

    /// What may come out of a pair, for one of the two.
    pub(super) fn out_of<const W: usize>(
        &mut self,
        space: &Ensemble<K, W>,
        place: usize,
        pair_place: usize,
        pair: u32,
    ) -> PairCard {
        let upper = space.root.pair_at(pair_place).ends[1] == space.ids[place];
        let pairs = &mut self.between[pair_place];
        let learn = |pairs: &mut known::Pairs| {
            pairs.learn(pair, upper, &space.arrivals(place, pair_place, pair))
        };
        pairs.card(pair, upper).unwrap_or_else(|| learn(pairs))
    }

    /// What comes of an act.
    pub(super) fn done<const W: usize>(
        &mut self,
        space: &Ensemble<K, W>,
        place: usize,
        host: u32,
        cause: u32,
    ) -> After {
        let hosts = &mut self.hosts[place];
        let known = hosts.after(host, cause);
        known.unwrap_or_else(|| hosts.note(host, cause, None, &space.act(place, host, cause)))
    }

    /// What comes of a step of its own.
    fn done_own<const W: usize>(
        &mut self,
        space: &Ensemble<K, W>,
        place: usize,
        host: u32,
        step: usize,
    ) -> After {
        let hosts = &mut self.hosts[place];
        let cause = hosts.step(step).cause;
        let act = || space.act(place, host, cause);
        hosts.after_step(step).unwrap_or_else(|| hosts.note(host, cause, Some(step), &act()))
    }

    /// What an act does to what is between two servers: which two, and what.
    pub(super) fn effect(&self, place: usize, at: usize) -> (usize, u32) {
        self.hosts[place].between(at)
    }

    /// What clients are told by an act.
    pub(super) fn told(&self, place: usize, at: usize) -> u32 {
        self.hosts[place].told(at)
    }

    /// What something makes of what is between two servers.
    pub(super) fn after<const W: usize>(
        &mut self,
        space: &Ensemble<K, W>,
        place: usize,
        pair: u32,
        what: u32,
    ) -> Option<u32> {
        let pairs = &mut self.between[place];
        if let Some(after) = pairs.after(pair, what) {
            return after;
        }
        let after = space.happens_between(place, pair, what);
        pairs.note(pair, what, after);
        after
    }

    /// What a server brings to a step of several.
    pub(super) fn standing<const W: usize>(
        &mut self,
        space: &Ensemble<K, W>,
        place: usize,
        host: u32,
    ) -> Arc<Standing> {
        let make = || space.hosts[place].get(host).standing();
        Arc::clone(known(&mut self.standing[place], host, make))
    }

    /// The number of a cause.
    pub(super) fn cause<const W: usize>(&mut self, space: &Ensemble<K, W>, act: Act) -> u32 {
        if let Some(cause) = self.causes.get(&act) {
            return *cause;
        }
        let cause = space.cause(act.clone(), None);
        self.causes.insert(act, cause);
        cause
    }

    /// What is between two servers after one has reached the other, and by which connection.
    pub(super) fn opened<const W: usize>(
        &mut self,
        space: &Ensemble<K, W>,
        place: usize,
        pair: u32,
        from: ServerId,
    ) -> Option<(u32, LinkId)> {
        let open = || space.opens(place, pair, from);
        *self.opened.entry((place as u8, pair, from)).or_insert_with(open)
    }

    /// First one thing was seen and then another.
    pub(super) fn both_seen<const W: usize>(
        &mut self,
        space: &Ensemble<K, W>,
        before: u32,
        then: u32,
    ) -> u32 {
        let both = || space.both_seen(before, then);
        *self.both_seen.entry((before, then)).or_insert_with(both)
    }

    /// What something makes of all clients, and what a server is told of it.
    pub(super) fn for_clients<const W: usize>(
        &mut self,
        space: &Ensemble<K, W>,
        clients: u32,
        what: u32,
    ) -> Told {
        let make = || space.happens_to_clients(clients, what);
        *self.for_clients.entry((clients, what)).or_insert_with(make)
    }

    /// What several servers may do together, and what clients may do.
    fn joint<const W: usize>(
        &mut self,
        space: &Ensemble<K, W>,
        state: &[u32; K],
    ) -> Option<Arc<Vec<Step>>> {
        let mut any = space.root.setting().clients > 0;
        for (place, id) in state.iter().enumerate().take(space.len()) {
            any |= self.marks(space, place, *id) & CALLS != 0;
        }
        if !any {
            return None;
        }
        let mut key = *state;
        key[space.len()..Ensemble::<K, W>::CLIENTS].fill(0);
        let calls_left = unpack(key[K - 1]).calls > 0;
        key[K - 2..].copy_from_slice(&[0, u32::from(calls_left)]);
        if let Some(steps) = self.together.get(&key) {
            return Some(Arc::clone(steps));
        }
        let all: Vec<_> =
            (0..space.len()).map(|place| self.standing(space, place, state[place])).collect();
        let of = |server| &*all[space.place(server).expect("a server of this world")];
        let mut steps = Vec::new();
        meetings(&space.ids, &of, space.bounds, &mut steps);
        let clients = space.clients.get(state[Ensemble::<K, W>::CLIENTS]);
        let (serves, awake) = (|server| of(server).serves, |server| of(server).awake);
        clients.choices(&space.ids, serves, awake, calls_left, &mut steps);
        let steps = Arc::new(steps);
        if self.together.len() >= TOGETHER_MOST {
            self.together.clear();
        }
        self.together.insert(key, Arc::clone(&steps));
        Some(steps)
    }

    /// What the promises are judged by after this was seen; [`BROKEN`] if one is broken.
    fn judge<const W: usize>(&mut self, space: &Ensemble<K, W>, ledger: u32, seen: u32) -> u32 {
        if let Some(next) = self.judged.get(ledger, seen) {
            return next;
        }
        let mut after = (*space.ledgers.get(ledger)).clone();
        let next = match after.observe(&space.seen.get(seen)) {
            Ok(()) => space.put_ledger(&Arc::new(after)),
            Err(_) => BROKEN,
        };
        if self.judged.len() >= JUDGED_MOST {
            self.judged.clear();
        }
        self.judged.put(ledger, seen, next);
        next
    }

    /// What a step of a state costs; none if it has no step of this name.
    pub(super) fn price<const W: usize>(
        &mut self,
        space: &Ensemble<K, W>,
        state: &[u32; K],
        code: u16,
    ) -> Option<Option<Price>> {
        if code >= space.codes.len() {
            return Some(None);
        }
        let place = usize::from(code / (space.codes.len() / space.len() as u16));
        space.whole(state, place, code).map(|taken| taken.price)
    }
}

/// What is kept under a number, made if it is not known yet.
fn known<T>(all: &mut Vec<Option<Arc<T>>>, id: u32, make: impl FnOnce() -> T) -> &Arc<T> {
    let id = id as usize;
    if all.len() <= id {
        all.resize(id + 1, None);
    }
    all[id].get_or_insert_with(|| Arc::new(make()))
}

/// Why a server does something in a step of its own.
#[derive(Clone, Copy, Debug)]
enum Why {
    /// The step at this place among its own.
    Own(usize),
    /// By number.
    Cause(u32),
    /// It does nothing: something happens to a connection.
    None,
}

/// One state whose steps are being taken.
pub(super) struct Expanding<'a, const K: usize, const W: usize> {
    space: &'a Ensemble<K, W>,
    worker: &'a mut Worker<K>,
    state: &'a [u32; K],
    budget: Budget,
    /// What has gone wrong before, as bits.
    faults: u8,
    /// Asleep, or taken already.
    asleep: Asleep<W>,
    reduce: bool,
    enabled: u32,
    out: &'a mut Vec<Arrival<Ensemble<K, W>>>,
}

impl<'a, const K: usize, const W: usize> Expanding<'a, K, W> {
    pub(super) fn begin(
        space: &'a Ensemble<K, W>,
        worker: &'a mut Worker<K>,
        state: &'a [u32; K],
        awake: &Awake<Asleep<W>>,
        out: &'a mut Vec<Arrival<Ensemble<K, W>>>,
    ) -> Self {
        let budget = unpack(state[K - 1]);
        let all = Budget::of(space.bounds);
        let mut faults = 0;
        for (bit, (left, all)) in [
            (budget.crashes, all.crashes),
            (budget.power_losses, all.power_losses),
            (budget.breaks, all.breaks),
            (budget.timeouts, all.timeouts),
            (budget.writes, all.writes),
            (budget.calls, all.calls),
        ]
        .into_iter()
        .enumerate()
        {
            faults |= u8::from(left < all) << bit;
        }
        let Awake { mut asleep, reduce } = *awake;
        if reduce {
            // Sleep sets are kept under the names that the fingerprint is of.
            let (naming, _) = worker.least(space, state);
            let rename = |set| space.codes.rename(set, naming, true);
            asleep = Asleep { all: rename(asleep.all), far: rename(asleep.far) };
        }
        Self { space, worker, state, budget, faults, asleep, reduce, enabled: 0, out }
    }

    pub(super) const fn enabled(&self) -> u32 {
        self.enabled
    }

    /// Takes the steps of one server.
    pub(super) fn alone(&mut self, place: usize) {
        let host = self.state[place];
        let own = self.worker.own(self.space, place, host);
        for at in own.steps() {
            let OwnStep { code, price, kind, .. } = self.worker.hosts[place].step(at);
            self.one(place, (code, price, kind), None, Why::Own(at));
        }
        for other in (0..self.space.len()).filter(|other| *other != place) {
            let pair = self.space.pair_place(place, other);
            let between = self.state[self.space.len() + pair];
            let out = self.worker.out_of(self.space, place, pair, between);
            if own.awake {
                for at in out.arrivals() {
                    let arrival = self.worker.between[pair].arrival(at);
                    let ArrivalStep { what, cause, code, kind } = arrival;
                    self.one(place, (code, None, kind), Some((pair, what)), Why::Cause(cause));
                }
            }
            if let (Some((leader, code, cause)), Some(price)) = (own.waits, out.patience)
                && usize::from(leader) == other
            {
                self.one(place, (code, price, TIMEOUT), None, Why::Cause(cause));
            }
            for at in out.breaks() {
                let (code, what) = self.worker.between[pair].break_at(at);
                let step = (code, Some(Price::Break), BREAK);
                self.one(place, step, Some((pair, what)), Why::None);
            }
        }
    }

    /// Takes one step of a server, if it may and need be taken.
    fn one(
        &mut self,
        place: usize,
        (code, price, kind): (u16, Option<Price>, u8),
        between: Option<(usize, u32)>,
        why: Why,
    ) {
        if !self.budget.affords(price) {
            return;
        }
        self.enabled += 1;
        if self.reduce && self.asleep.all.has(code) {
            return;
        }
        let (space, first) = (self.space, self.space.len());
        let mut state = *self.state;
        let mut whole = true;
        if let Some((pair, what)) = between {
            let slot = &mut state[first + pair];
            *slot = self.worker.after(space, pair, *slot, what).expect("nothing is sent");
        }
        let done = match why {
            Why::None => None,
            Why::Own(step) => Some(self.worker.done_own(space, place, state[place], step)),
            Why::Cause(cause) => Some(self.worker.done(space, place, state[place], cause)),
        };
        if let Some(done) = &done {
            state[place] = done.host;
            for at in done.told.clone() {
                let what = self.worker.told(place, at);
                let slot = &mut state[Ensemble::<K, W>::CLIENTS];
                *slot = self.worker.for_clients(space, *slot, what).0;
            }
            for at in done.between.clone() {
                let (pair, what) = self.worker.effect(place, at);
                let slot = &mut state[first + pair];
                match self.worker.after(space, pair, *slot, what) {
                    Some(after) => *slot = after,
                    None => whole = false,
                }
            }
        }
        let done = done.as_ref();
        let far = done.is_some_and(|done| done.far);
        if whole {
            let seen = done.and_then(|done| done.seen);
            let asleep = self.still_asleep(place, code, price, far, seen.is_some());
            let reached = done.map_or(0, |done| done.reached);
            let panics = done.is_some_and(|done| done.panics);
            self.arrive(state, (code, price, kind), (seen, reached, panics), asleep);
        } else {
            // A message was not sent after all, so something else was seen.
            let taken = space.whole(self.state, place, code).expect("it can be taken");
            let asleep = self.still_asleep(place, code, price, taken.far, taken.seen.is_some());
            self.take(&taken, asleep);
        }
        if self.reduce {
            self.asleep.all.insert(code);
            if far {
                self.asleep.far.insert(code);
            }
        }
    }

    /// Takes the steps of several servers at once. Nothing is independent of them.
    pub(super) fn together(&mut self) {
        let space = self.space;
        let Some(joint) = self.worker.joint(space, self.state) else { return };
        for (code, step) in (space.codes.len()..).zip(joint.iter()) {
            let price = matches!(step, Step::Call { .. }).then_some(Price::Call);
            if !self.budget.affords(price) {
                continue;
            }
            self.enabled += 1;
            let after = Assembly::after(space, self.worker, self.state, step);
            if after.broken_off {
                let world = space.world(self.state);
                let taken = space.take(&world, &[(code, step.clone())]).pop();
                self.take(&taken.expect("one step was taken"), Asleep::default());
            } else {
                let Assembly { state, seen, reached, panics, .. } = after;
                let step = (code, price, taken::kind(step));
                self.arrive(state, step, (seen, reached, panics), Asleep::default());
            }
        }
    }

    /// What need not be taken after this step either.
    fn still_asleep(
        &self,
        place: usize,
        code: u16,
        price: Option<Price>,
        far: bool,
        seen: bool,
    ) -> Asleep<W> {
        if far || !self.reduce {
            return Asleep::default();
        }
        let last = match price {
            None => false,
            Some(Price::Crash) => self.budget.crashes == 1,
            Some(Price::PowerLoss) => self.budget.power_losses == 1,
            Some(Price::Break) => self.budget.breaks == 1,
            Some(Price::Timeout) => self.budget.timeouts == 1,
            Some(Price::Write) => self.budget.writes == 1,
            Some(Price::Call) => self.budget.calls == 1,
        };
        let touched = self.space.codes.touched(place, code, price, last);
        let all = self.asleep.all.minus(touched);
        if seen {
            return Asleep { all: all.minus(self.asleep.far), far: Default::default() };
        }
        Asleep { all, far: self.asleep.far.minus(touched) }
    }

    fn take(&mut self, taken: &Taken, asleep: Asleep<W>) {
        let mut state = *self.state;
        for (place, id) in &taken.changes {
            state[usize::from(*place)] = *id;
        }
        let Taken { code, price, kind, seen, reached, panics, .. } = *taken;
        self.arrive(state, (code, price, kind), (seen, reached, panics), asleep);
    }

    fn arrive(
        &mut self,
        mut state: [u32; K],
        (code, price, kind): (u16, Option<Price>, u8),
        (seen, reached, panics): (Option<u32>, u32, bool),
        asleep: Asleep<W>,
    ) {
        self.count(kind, reached);
        let mut budget = self.budget;
        budget.pay(price);
        state[K - 1] = pack(budget);
        let verdict = if panics { Verdict::Broken } else { Verdict::Fine };
        self.worker.seen.push(seen);
        self.out.push(Arrival { step: code, print: 0, state, asleep, verdict, goal: false });
    }

    fn count(&mut self, kind: u8, mut reached: u32) {
        let counts = &mut self.worker.pairs[usize::from(kind)];
        counts[0] += u64::from(self.faults == 0);
        let mut faults = self.faults;
        while faults != 0 {
            counts[1 + faults.trailing_zeros() as usize] += 1;
            faults &= faults - 1;
        }
        while reached != 0 {
            self.worker.reached[reached.trailing_zeros() as usize] += 1;
            reached &= reached - 1;
        }
    }
}
