//! Any space of zoolab as a model of stateright, to hold one against the other.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Mutex;

use stateright_0_31::{Model, Property};
use zoolab_sim::search::{Arrival, Awake, Space, Verdict};

/// See the [crate](self). Slow: each step is looked for among all steps of its state.
pub struct AsModel<S: Space> {
    space: S,
    worker: Mutex<S::Worker>,
}

/// A state, known by its fingerprint.
pub struct Known<S: Space> {
    print: u128,
    state: S::State,
    broken: bool,
}

impl<S: Space> AsModel<S> {
    /// The model that has the states and steps of `space`.
    pub fn new(space: S) -> Self {
        let worker = Mutex::new(space.worker());
        Self { space, worker }
    }

    fn arrivals(&self, known: &Known<S>) -> Vec<Arrival<S>> {
        let mut out = Vec::new();
        // Nothing is looked at behind a broken promise.
        if !known.broken {
            let mut worker = self.worker.lock().expect("no thread has panicked");
            self.space.expand(&mut worker, &known.state, &Awake::default(), &mut out);
        }
        out
    }
}

fn known<S: Space>(arrival: &Arrival<S>) -> Known<S> {
    let broken = arrival.verdict == Verdict::Broken;
    Known { print: arrival.print, state: arrival.state, broken }
}

impl<S: Space> Clone for Known<S> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<S: Space> fmt::Debug for Known<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.print)
    }
}

impl<S: Space> Hash for Known<S> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.print.hash(state);
    }
}

impl<S: Space> PartialEq for Known<S> {
    fn eq(&self, other: &Self) -> bool {
        self.print == other.print
    }
}

impl<S: Space> Model for AsModel<S> {
    type State = Known<S>;
    type Action = u16;

    fn init_states(&self) -> Vec<Known<S>> {
        let mut worker = self.worker.lock().expect("no thread has panicked");
        vec![known(&self.space.initial(&mut worker))]
    }

    fn actions(&self, state: &Known<S>, actions: &mut Vec<u16>) {
        actions.extend(self.arrivals(state).iter().map(|arrival| arrival.step));
    }

    fn next_state(&self, state: &Known<S>, action: u16) -> Option<Known<S>> {
        self.arrivals(state).iter().find(|arrival| arrival.step == action).map(known)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("every promise is kept", |_, state: &Known<S>| !state.broken)]
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;
    use std::ops::ControlFlow;

    use stateright_0_31::Checker;
    use zoolab_sim::search::toy::Broadcast;
    use zoolab_sim::search::{End, Expansion, Limits, Search, print_of};

    use super::*;

    /// Two hands on a dial of twelve; each goes on by itself, and they must not meet at seven.
    #[derive(Clone, Copy)]
    struct Dial {
        seven: bool,
    }

    impl Dial {
        fn arrival(self, step: u16, hands: [u64; 2]) -> Arrival<Self> {
            let broken = self.seven && hands == [7, 7];
            let verdict = if broken { Verdict::Broken } else { Verdict::Fine };
            let print = print_of(hands);
            Arrival { step, print, state: hands, asleep: (), verdict, goal: false }
        }
    }

    impl Space for Dial {
        type State = [u64; 2];
        type Steps = ();
        type Worker = ();

        fn identity(&self) -> String {
            String::from("dial")
        }

        fn worker(&self) {}

        fn initial(&self, (): &mut ()) -> Arrival<Self> {
            self.arrival(0, [0, 0])
        }

        fn expand(
            &self,
            (): &mut (),
            [one, other]: &[u64; 2],
            _: &Awake<()>,
            out: &mut Vec<Arrival<Self>>,
        ) -> Expansion {
            out.push(self.arrival(0, [(one + 1) % 12, *other]));
            out.push(self.arrival(1, [*one, (other + 1) % 12]));
            Expansion { enabled: 2 }
        }
    }

    fn compare<S: Space + Clone + Send + 'static>(space: &S, end: End) {
        let mut search = Search::new(space, false);
        let got =
            search.run(&Limits::default(), NonZeroUsize::MIN, &mut |_| ControlFlow::Continue(()));
        assert_eq!(got, end);
        let model = AsModel::new(space.clone());
        let checker = model.checker().threads(1).spawn_bfs().join();
        if end == End::Complete {
            checker.assert_properties();
            let counts = (checker.unique_state_count() as u64, checker.state_count() as u64);
            assert_eq!(counts, (search.figures().distinct, search.figures().generated));
            assert_eq!(checker.max_depth(), search.figures().depth() + 1);
        } else {
            let path = checker.discovery("every promise is kept").expect("it is not");
            assert_eq!(path.into_actions().len(), search.path_to_broken().expect("so here").len());
        }
    }

    #[test]
    fn both_count_the_same_states_and_steps() {
        compare(&Broadcast::new(3, 1), End::Complete);
        compare(&Broadcast::new(2, 2), End::Complete);
        compare(&Dial { seven: false }, End::Complete);
    }

    #[test]
    fn both_find_a_broken_promise_by_as_few_steps() {
        compare(&Dial { seven: true }, End::Broken);
    }
}
