//! Up to where a bounded search can see: what only the search leaves out is possible, and leads to
//! a place of which nothing is known.
//!
//! How much goes wrong is part of the question. How many epochs there are, in how many rounds an
//! election is decided, that votes are not sent again, that patience with a peer ends after so
//! many times: that is not. A run that comes to a stop there has not come to a stop at all in a
//! real ensemble, and must not be taken for one that has.
//!
//! ```text
//!   state ---- a step within the bounds ----> state
//!     |
//!     +------- one that is left out --------> beyond: a goal, for all that is known
//! ```
//!
//! So whatever is found never to reach a goal is found rightly: its steps are possible in a real
//! ensemble, and nothing that would have to happen there has been left out.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use zoolab_core::{Server, Timer};

use super::{Asleep, Ensemble, Worker, unpack};
use crate::search::{Arrival, Awake, Expansion, Space, Verdict};
use crate::world::{Bounds, Price};

/// A space that ends where the bounds of a search do: beyond is a place of which nothing is known.
#[derive(Debug)]
pub struct Horizon<'a, const K: usize, const W: usize> {
    space: &'a Ensemble<K, W>,
    /// The bounds of the question.
    bounds: Bounds,
    /// By what has led there: how often something did.
    past: [AtomicU64; 4],
}

/// Steps that have led beyond.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Past {
    /// Into one more epoch.
    pub epochs: u64,
    /// Of an election into one more round.
    pub rounds: u64,
    /// Votes sent again.
    pub votes: u64,
    /// Somebody who waits for others to agree would have lost patience.
    pub patience: u64,
}

const EPOCHS: usize = 0;
const ROUNDS: usize = 1;
const VOTES: usize = 2;
const PATIENCE: usize = 3;

impl Past {
    /// Whether everything that can happen was looked at.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for Past {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { epochs, rounds, votes, patience } = *self;
        let all = [
            (epochs, "into another epoch"),
            (rounds, "into another round"),
            (votes, "votes sent again"),
            (patience, "times patience lost"),
        ];
        let some = all.into_iter().filter(|(count, _)| *count > 0);
        let words: Vec<String> = some.map(|(count, what)| format!("{count} {what}")).collect();
        f.write_str(&if words.is_empty() { "nothing".into() } else { words.join(", ") })
    }
}

/// Bounds that go one epoch and one round further.
#[must_use]
pub const fn wider(mut bounds: Bounds) -> Bounds {
    bounds.epochs = bounds.epochs.saturating_add(1);
    bounds.rounds = bounds.rounds.saturating_add(1);
    bounds
}

impl<'a, const K: usize, const W: usize> Horizon<'a, K, W> {
    /// What can be seen within `bounds` of these states, which are those of
    /// [`wider`] bounds.
    #[must_use]
    pub fn new(space: &'a Ensemble<K, W>, bounds: Bounds) -> Self {
        Self { space, bounds, past: Default::default() }
    }

    /// What has led beyond.
    #[must_use]
    pub fn past(&self) -> Past {
        let [epochs, rounds, votes, patience] =
            [EPOCHS, ROUNDS, VOTES, PATIENCE].map(|what| self.past[what].load(Ordering::Relaxed));
        Past { epochs, rounds, votes, patience }
    }

    fn asks<T>(&self, state: &[u32; K], place: usize, ask: impl Fn(&Server) -> T) -> Option<T> {
        self.space.hosts[place].get(state[place]).server.as_ref().map(ask)
    }

    /// Why a step only happens because the bounds are wider than asked for, if that is so.
    fn past_by(&self, before: &[u32; K], arrival: &Arrival<Ensemble<K, W>>) -> Option<usize> {
        if let Some((place, timer)) = self.space.codes.timeout(arrival.step) {
            let round = self.asks(before, place, Server::round).unwrap_or(0);
            let late = timer == Timer::Settle && round > u64::from(self.bounds.rounds);
            return late.then_some(ROUNDS);
        }
        let together = arrival.step >= self.space.codes.len();
        let epoch = |place| self.asks(&arrival.state, place, |server| server.epochs().0.0);
        let epochs = (0..self.space.len()).filter_map(epoch);
        let late = together && epochs.max() > Some(u32::from(self.bounds.epochs));
        late.then_some(EPOCHS)
    }

    /// What the search leaves out altogether: who would do what.
    fn left_out(&self, state: &[u32; K]) -> impl Iterator<Item = (usize, Timer, usize)> {
        let patient = unpack(state[K - 1]).timeouts == 0;
        (0..self.space.len()).flat_map(move |place| {
            let host = self.space.hosts[place].get(state[place]);
            let looks = host.is_awake() && host.server.as_ref().is_some_and(Server::is_looking);
            let resends = looks && !self.bounds.coarse;
            let price = host.patience(self.bounds, Timer::Establish);
            let waits = patient && price == Some(Some(Price::Timeout));
            let votes = resends.then_some((place, Timer::Resend, VOTES));
            votes.into_iter().chain(waits.then_some((place, Timer::Establish, PATIENCE)))
        })
    }

    /// Of what lies beyond nothing is known, not even how many states it is.
    fn beyond(&self, step: u16, why: usize) -> Arrival<Self> {
        self.past[why].fetch_add(1, Ordering::Relaxed);
        let (asleep, verdict, goal) = (Asleep::default(), Verdict::Fine, true);
        Arrival { step, print: u128::MAX, state: [u32::MAX; K], asleep, verdict, goal }
    }
}

impl<const K: usize, const W: usize> Space for Horizon<'_, K, W> {
    type State = [u32; K];
    type Steps = Asleep<W>;
    type Worker = (Worker<K>, Vec<Arrival<Ensemble<K, W>>>);

    fn identity(&self) -> String {
        format!("{} up to the horizon", self.space.identity())
    }

    fn worker(&self) -> Self::Worker {
        (self.space.worker(), Vec::new())
    }

    fn initial(&self, (worker, _): &mut Self::Worker) -> Arrival<Self> {
        own(self.space.initial(worker))
    }

    fn expand(
        &self,
        (worker, found): &mut Self::Worker,
        state: &[u32; K],
        awake: &Awake<Asleep<W>>,
        out: &mut Vec<Arrival<Self>>,
    ) -> Expansion {
        if *state == [u32::MAX; K] {
            return Expansion { enabled: 0 };
        }
        found.clear();
        let mut expansion = self.space.expand(worker, state, awake, found);
        out.extend(found.iter().map(|arrival| match self.past_by(state, arrival) {
            Some(why) => self.beyond(arrival.step, why),
            None => own(*arrival),
        }));
        for (place, timer, why) in self.left_out(state) {
            out.push(self.beyond(self.space.codes.timer(place, timer), why));
            expansion.enabled += 1;
        }
        expansion
    }

    /// As there; and a timer that stays armed runs out, whether or not anybody is to blame.
    fn fair(&self, (worker, _): &mut Self::Worker, state: &[u32; K], step: u16) -> Option<u32> {
        match self.space.codes.timeout(step) {
            Some((_, Timer::Establish | Timer::Resend)) => Some(u32::from(step)),
            Some(_) | None => self.space.fair(worker, state, step),
        }
    }
}

/// The same, of the other space.
fn own<'a, const K: usize, const W: usize>(
    arrival: Arrival<Ensemble<K, W>>,
) -> Arrival<Horizon<'a, K, W>> {
    let Arrival { step, print, state, asleep, verdict, goal } = arrival;
    Arrival { step, print, state, asleep, verdict, goal }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::num::NonZeroUsize;
    use std::ops::ControlFlow;

    use super::*;
    use crate::search::{Graph, Liveness, Reach, live};
    use crate::setting::Setting;
    use crate::states::{Preset, Root, sets_of, words_of};

    const BOUNDS: Bounds = Bounds {
        alike: false,
        same_values: true,
        same_clients: false,
        as_is: false,
        coarse: true,
        quick_disks: false,
        crashes: 1,
        power_losses: 0,
        breaks: 0,
        timeouts: 0,
        writes: 0,
        calls: 0,
        epochs: 1,
        rounds: 0,
    };

    fn setting(bounds: Bounds) -> Setting {
        let preset = Preset::named("small").unwrap();
        Preset { servers: 2, bounds, ..preset }.setting()
    }

    fn space(setting: Setting) -> Ensemble<{ words_of(2) }, { sets_of(2) }> {
        let root = Root::fresh(setting).unwrap();
        Ensemble::new(root.world, root.checkers)
    }

    fn judged<S: Space>(space: &S) -> Liveness {
        let graph =
            Graph::build(space, 10_000, NonZeroUsize::MIN, &mut |_| ControlFlow::Continue(()));
        live(&graph.unwrap(), Reach::AgainAndAgain)
    }

    /// What is judged without a horizon, and with one; and what has led beyond it.
    fn both(bounds: Bounds) -> (Liveness, Liveness, Past) {
        let plain = judged(&space(setting(bounds)));
        let wide = space(setting(wider(bounds)));
        let horizon = Horizon::new(&wide, bounds);
        (plain, judged(&horizon), horizon.past())
    }

    #[test]
    fn an_epoch_that_is_not_granted_is_no_dead_end() {
        let (plain, judged, past) = both(BOUNDS);
        assert!(plain.dead_ends > 0, "{plain:?}");
        assert!(judged.holds(), "{judged:?}");
        assert!(past.epochs > 0, "{past}");
        let (plain, judged, past) = both(Bounds { epochs: 2, ..BOUNDS });
        assert!(plain.holds() && judged.holds(), "{plain:?} {judged:?}");
        assert_eq!((past.epochs, past.rounds, past.votes), (0, 0, 0));
    }

    #[test]
    fn neither_is_a_round_nor_a_vote_that_nobody_sends_again() {
        let (plain, judged, past) = both(Bounds { coarse: false, rounds: 2, ..BOUNDS });
        assert!(plain.dead_ends > 0, "{plain:?}");
        assert!(judged.holds(), "{judged:?}");
        assert!(past.rounds > 0 && past.votes > 0, "{past}");
    }

    #[test]
    fn what_led_beyond_is_told_in_words() {
        assert_eq!(Past::default().to_string(), "nothing");
        let past = Past { epochs: 2, patience: 7, ..Past::default() };
        assert_eq!(past.to_string(), "2 into another epoch, 7 times patience lost");
    }

    /// Fairness asks whether the same thing can happen from some moment on.
    #[test]
    fn what_several_servers_do_together_is_the_same_action_in_every_state() {
        let space = space(setting(Bounds { crashes: 2, epochs: 4, ..BOUNDS }));
        let mut worker = space.worker();
        let (mut queue, mut out) = (vec![space.initial(&mut worker).state], Vec::new());
        let mut actions = BTreeMap::new();
        for at in 0..400 {
            let state = queue[at];
            out.clear();
            space.expand(&mut worker, &state, &Awake::default(), &mut out);
            let mut steps = Vec::new();
            space.world(&state).choices_together(&mut steps);
            for arrival in &out {
                queue.push(arrival.state);
                if let Some(place) = arrival.step.checked_sub(space.codes.len()) {
                    let action = space.fair(&mut worker, &state, arrival.step).unwrap();
                    let step = steps[usize::from(place)].to_string();
                    assert_eq!(actions.entry(action).or_insert(step.clone()), &step);
                }
            }
        }
        let mut steps: Vec<&String> = actions.values().collect();
        steps.sort();
        assert_eq!(steps, ["elect 1 by 2", "elect 2 by 1", "join 1 by 2", "join 2 by 1"]);
    }
}
