//! All states of an ensemble: the world, and what its watchers know, in a few numbers.
//!
//! ```text
//!   world  = servers, pairs of servers, clients, what may go wrong   each kept once,
//!   ledger = what the promises are judged by                         known by number
//!
//!   (server, its pairs) ---- World::step, once ----> what each of its steps changes
//!   (ledger, what was seen) - Checkers, once ------> ledger, or a broken promise
//! ```
//!
//! Nothing here knows the protocol. A state's steps are those that [`World`] offers, and what they
//! do is what [`World::step`] does; but the same server in the same surroundings does the same,
//! so that is worked out once and remembered. What is left of a step is to look it up.
//!
//! Two steps are independent if they belong to different servers and neither looks at what is
//! known of others: they touch different members, and the ends of a connection touch different
//! ends of its lanes. Breaks belong to both ends, elections to all who take part, and steps of
//! the same price are not independent when there is but one left.

mod assembly;
mod codes;
mod couples;
mod horizon;
mod known;
mod parts;
mod pool;
mod preset;
mod print;
mod prints;
mod root;
mod taken;
mod trace;
mod worker;

use std::sync::Arc;

use zoolab_core::ServerId;

use self::codes::Codes;
pub use self::codes::sets_of;
pub use self::horizon::{Horizon, Past, wider};
use self::parts::{Between, Cause, ForClients};
use self::pool::Pool;
pub use self::preset::Preset;
pub use self::print::{Names, print};
pub use self::root::{Begin, NoRoot, Root};
use self::taken::Taken;
pub use self::worker::{Coverage, Worker};
use crate::checker::Checkers;
use crate::drive::caught;
use crate::search::{Arrival, Awake, Bits, Expansion, Space, StepSet, Verdict};
use crate::seen::Seen;
use crate::world::clients::Clients;
use crate::world::host::Host;
use crate::world::pair::Pair;
use crate::world::{Bounds, Budget, Outcome, World};

/// Where a search begins, and everything met on the way. `K` numbers make a state; `W` words name
/// all steps.
#[derive(Debug)]
pub struct Ensemble<const K: usize, const W: usize> {
    root: World,
    checkers: Checkers,
    bounds: Bounds,
    ids: Vec<ServerId>,
    /// By pair, the places of its two.
    ends: Vec<[usize; 2]>,
    codes: Codes<W>,
    /// Ways of naming the servers, the own names first.
    names: Vec<Names>,
    hosts: Vec<Pool<Host>>,
    pairs: Vec<Pool<Pair>>,
    clients: Pool<Clients>,
    ledgers: Pool<Checkers>,
    seen: Pool<Vec<Seen>>,
    causes: Pool<Cause>,
    betweens: Pool<Between>,
    tidings: Pool<ForClients>,
    identity: String,
}

/// Steps that need not be taken, and those of them that look at what is known of others.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Asleep<const W: usize> {
    all: Bits<W>,
    far: Bits<W>,
}

impl<const W: usize> StepSet for Asleep<W> {
    const WORDS: usize = 2 * W;

    fn and(self, other: Self) -> Self {
        Self { all: self.all.and(other.all), far: self.far.and(other.far) }
    }

    fn write(self, words: &mut [u64]) {
        let (all, far) = words.split_at_mut(W);
        self.all.write(all);
        self.far.write(far);
    }

    fn read(words: &[u64]) -> Self {
        let (all, far) = words.split_at(W);
        Self { all: Bits::read(all), far: Bits::read(far) }
    }
}

/// How many numbers a state of so many servers takes.
#[must_use]
pub const fn words_of(servers: usize) -> usize {
    servers + servers * (servers - 1) / 2 + 3
}

impl<const K: usize, const W: usize> Ensemble<K, W> {
    /// Everything that can come of this world, which is in a search already, and of what is known
    /// of it.
    ///
    /// # Panics
    /// If `K` does not fit so many servers, or time goes on in this world.
    #[must_use]
    pub fn new(root: World, checkers: Checkers) -> Self {
        let ids = root.servers().to_vec();
        assert_eq!(words_of(ids.len()), K, "so many numbers make a state");
        let bounds = root.setting().search.expect("time stands still in a search");
        assert_eq!(
            unpack(pack(Budget::of(bounds))),
            Budget::of(bounds),
            "up to {BUDGET_MOST} of each"
        );
        let quorum = &root.ensemble().quorum;
        let plain = root.setting().voters.len() == 1
            && ids.iter().all(|id| quorum.has_voter(*id) && quorum.weight(*id) == 1);
        let alike = bounds.alike && bounds.same_values && bounds.coarse && plain;
        let alike = alike && root.setting().clients == 0;
        let names = if alike { Names::all(&ids) } else { vec![Names::own(&ids)] };
        let identity = serde_json::to_string(root.setting()).expect("a setting can be written");
        let place = |end: ServerId| ids.iter().position(|id| *id == end).expect("a server");
        let ends = (0..root.pairs_len()).map(|pair| root.pair_at(pair).ends.map(place)).collect();
        Self {
            ends,
            codes: Codes::new(&root, &names),
            names,
            hosts: ids.iter().map(|_| Pool::default()).collect(),
            pairs: (0..root.pairs_len()).map(|_| Pool::default()).collect(),
            clients: Pool::default(),
            ledgers: Pool::default(),
            seen: Pool::default(),
            causes: Pool::default(),
            betweens: Pool::default(),
            tidings: Pool::default(),
            identity,
            root,
            checkers,
            bounds,
            ids,
        }
    }

    fn len(&self) -> usize {
        self.ids.len()
    }

    /// How many different servers, pairs of servers, ledgers and sights were met.
    #[must_use]
    pub fn sizes(&self) -> String {
        let all = |pools: Vec<usize>| pools.iter().sum::<usize>();
        let hosts = all(self.hosts.iter().map(Pool::len).collect());
        let pairs = all(self.pairs.iter().map(Pool::len).collect());
        let (ledgers, seen) = (self.ledgers.len(), self.seen.len());
        format!("{hosts} servers, {pairs} pairs, {ledgers} ledgers, {seen} sights")
    }

    const CLIENTS: usize = K - 3;
    const LEDGER: usize = K - 2;
    const BUDGET: usize = K - 1;

    fn put_host(&self, place: usize, host: &Arc<Host>) -> u32 {
        let print = |naming: usize| {
            let names = &self.names[naming];
            print(names.place(place), &**host, names)
        };
        self.hosts[place].put(host, print, self.names.len())
    }

    fn put_pair(&self, place: usize, pair: &Arc<Pair>) -> u32 {
        let ends = pair.ends.map(|end| self.place(end).expect("a server of this world"));
        let print = |naming: usize| {
            let names = &self.names[naming];
            let [one, other] = ends.map(|end| names.place(end));
            let place = self.len() + self.pair_place(one, other);
            if one < other {
                print(place, &**pair, names)
            } else {
                print(place, &pair.flipped(), names)
            }
        };
        self.pairs[place].put(pair, print, self.names.len())
    }

    fn put_clients(&self, clients: &Arc<Clients>) -> u32 {
        // Those who have exchanged their numbers have the same fingerprint, and yet take steps by
        // other names.
        let own = print(Self::CLIENTS, &clients.in_order(), &self.names[0]);
        let print = |naming: usize| print(Self::CLIENTS, &**clients, &self.names[naming]);
        self.clients.put_as(clients, own, print, self.names.len())
    }

    fn put_ledger(&self, ledger: &Arc<Checkers>) -> u32 {
        let print = |naming: usize| print(Self::LEDGER, &**ledger, &self.names[naming]);
        self.ledgers.put(ledger, print, self.names.len())
    }

    /// What was seen, if anything was.
    fn put_seen(&self, seen: Vec<Seen>) -> Option<u32> {
        let seen = Arc::new(seen);
        let put = || self.seen.put(&seen, |_| print(K, &*seen, &self.names[0]), 1);
        (!seen.is_empty()).then(put)
    }

    /// The fingerprint of what is left to go wrong.
    fn budget_print(budget: u32) -> u128 {
        crate::search::print_of([u64::from(budget), u64::MAX])
    }

    /// The places of the two servers of a pair.
    fn ends(&self, pair: usize) -> [usize; 2] {
        self.ends[pair]
    }

    /// Takes all steps of a state that need be taken. Where they lead is not judged yet, and which
    /// states those are not known.
    fn take_all(
        &self,
        worker: &mut Worker<K>,
        state: &[u32; K],
        awake: &Awake<Asleep<W>>,
        out: &mut Vec<Arrival<Self>>,
    ) -> Expansion {
        let mut expanding = worker::Expanding::begin(self, worker, state, awake, out);
        for place in 0..self.len() {
            expanding.alone(place);
        }
        expanding.together();
        Expansion { enabled: expanding.enabled() }
    }

    /// The world of a state.
    fn world(&self, state: &[u32; K]) -> World {
        let mut world = self.root.clone();
        for (place, (pool, id)) in self.hosts.iter().zip(state).enumerate() {
            world.put_host(place, pool.get(*id));
        }
        for place in 0..self.pairs.len() {
            world.put_pair(place, self.pairs[place].get(state[self.len() + place]));
        }
        world.put_clients(self.clients.get(state[Self::CLIENTS]));
        world.put_budget(unpack(state[Self::BUDGET]));
        world
    }

    /// What comes of steps of a world, of which all members are known by number.
    fn take(&self, world: &World, steps: &[(u16, crate::step::Step)]) -> Vec<Taken> {
        steps
            .iter()
            .map(|(code, step)| {
                let price = world.price(step);
                let mut after = world.clone();
                let mut outcome = Outcome::default();
                let performed = caught(|| after.step(self.root.now(), step, &mut outcome));
                let panics = performed.is_err();
                if panics {
                    after = world.clone();
                    outcome.seen.clear();
                }
                let mut changes = Vec::new();
                for place in 0..self.len() {
                    let new = after.host_at(place);
                    if !Arc::ptr_eq(world.host_at(place), new) {
                        changes.push((place as u8, self.put_host(place, new)));
                    }
                }
                for place in 0..self.pairs.len() {
                    let new = after.pair_at(place);
                    if !Arc::ptr_eq(world.pair_at(place), new) {
                        changes.push(((self.len() + place) as u8, self.put_pair(place, new)));
                    }
                }
                if !Arc::ptr_eq(world.all_clients(), after.all_clients()) {
                    let clients = self.put_clients(after.all_clients());
                    changes.push((Self::CLIENTS as u8, clients));
                }
                let seen = &outcome.seen;
                let far = seen.iter().any(taken::looks_far);
                let reached = taken::reached(seen);
                let seen = self.put_seen(std::mem::take(&mut outcome.seen));
                let kind = taken::kind(step);
                Taken { code: *code, price, changes, seen, far, reached, kind, panics }
            })
            .collect()
    }
}

/// Of so many states the steps are taken at once: as many as memory is asked for at once.
const AT_ONCE: usize = 16;

/// More than this of a kind cannot go wrong in a search.
pub const BUDGET_MOST: u8 = 31;

/// What is left to go wrong, as one number.
const fn pack(budget: Budget) -> u32 {
    let Budget { crashes, power_losses, breaks, timeouts, writes, calls } = budget;
    (crashes as u32 & 31)
        | (power_losses as u32 & 31) << 5
        | (breaks as u32 & 31) << 10
        | (timeouts as u32 & 31) << 15
        | (writes as u32 & 31) << 20
        | (calls as u32 & 31) << 25
}

const fn unpack(budget: u32) -> Budget {
    Budget {
        crashes: (budget & 31) as u8,
        power_losses: (budget >> 5 & 31) as u8,
        breaks: (budget >> 10 & 31) as u8,
        timeouts: (budget >> 15 & 31) as u8,
        writes: (budget >> 20 & 31) as u8,
        calls: (budget >> 25 & 31) as u8,
    }
}

impl<const K: usize, const W: usize> Space for Ensemble<K, W> {
    type State = [u32; K];
    type Steps = Asleep<W>;
    type Worker = Worker<K>;

    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn worker(&self) -> Worker<K> {
        Worker::new(self.names.len())
    }

    fn initial(&self, worker: &mut Worker<K>) -> Arrival<Self> {
        let mut state = [0; K];
        for (place, slot) in state.iter_mut().enumerate().take(self.len()) {
            *slot = self.put_host(place, self.root.host_at(place));
        }
        for place in 0..self.pairs.len() {
            state[self.len() + place] = self.put_pair(place, self.root.pair_at(place));
        }
        state[Self::CLIENTS] = self.put_clients(self.root.all_clients());
        state[Self::LEDGER] = self.put_ledger(&Arc::new(self.checkers.clone()));
        state[Self::BUDGET] = pack(*self.root.budget());
        let (_, print) = worker.least(self, &state);
        let goal = worker.is_well(self, &state);
        let (asleep, verdict) = (Asleep::default(), Verdict::Fine);
        Arrival { step: 0, print, state, asleep, verdict, goal }
    }

    fn expand(
        &self,
        worker: &mut Worker<K>,
        state: &[u32; K],
        awake: &Awake<Asleep<W>>,
        out: &mut Vec<Arrival<Self>>,
    ) -> Expansion {
        let from = out.len();
        let expansion = self.take_all(worker, state, awake, out);
        worker.settle(self, &mut out[from..]);
        expansion
    }

    fn expand_all<'s>(
        &self,
        worker: &mut Worker<K>,
        mut states: impl Iterator<Item = (&'s [u32; K], Awake<Asleep<W>>)> + Clone,
        out: &mut Vec<Arrival<Self>>,
        each: &mut impl FnMut(Expansion, usize),
    ) where
        Self: 's,
    {
        loop {
            let some = states.clone().take(AT_ONCE);
            worker.look_ahead(self, some.clone().map(|(state, _)| state));
            let (from, mut any) = (out.len(), false);
            for (state, awake) in some {
                let expansion = self.take_all(worker, state, &awake, out);
                each(expansion, out.len());
                any = true;
            }
            if !any {
                return;
            }
            worker.settle(self, &mut out[from..]);
            states.nth(AT_ONCE - 1);
        }
    }

    fn fair(&self, worker: &mut Worker<K>, state: &[u32; K], step: u16) -> Option<u32> {
        let Some(place) = step.checked_sub(self.codes.len()) else {
            let price = worker.price(self, state, step)?;
            return price.is_none().then_some(u32::from(step));
        };
        // The place of a step among those of several servers is another in every state.
        let mut steps = Vec::new();
        self.world(state).choices_together(&mut steps);
        steps.get(usize::from(place)).map(|step| self.codes.together(step))
    }
}
