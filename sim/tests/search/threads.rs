//! The number of threads cannot be seen in what is found.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use zoolab_sim::luck::Luck;
use zoolab_sim::search::toy::Broadcast;
use zoolab_sim::search::{
    Arrival, Awake, Broken, End, Expansion, Figures, Limits, Search, Space, print_of,
};

use crate::tangle::Tangle;

#[derive(Debug, Eq, PartialEq)]
struct Found {
    end: End,
    figures: Figures,
    broken: Option<Broken>,
    path: Option<Vec<u16>>,
    goal: Option<Vec<u16>>,
}

fn found<S: Space>(space: &S, limits: &Limits, threads: usize) -> Found {
    let mut search = Search::new(space, true);
    let threads = NonZeroUsize::new(threads).unwrap();
    let end = search.run(limits, threads, &mut |_| ControlFlow::Continue(()));
    Found {
        end,
        figures: search.figures().clone(),
        broken: search.broken(),
        path: search.path_to_broken(),
        goal: search.goal().map(|goal| search.path(goal)),
    }
}

#[test]
fn one_thread_or_five_find_the_same_to_the_byte() {
    let space = Broadcast::new(3, 2);
    for limits in [Limits::default(), Limits { states: Some(9_000), ..Limits::default() }] {
        let one = found(&space, &limits, 1);
        for threads in [2, 3, 5] {
            assert_eq!(found(&space, &limits, threads), one);
        }
    }
}

#[test]
fn the_first_broken_promise_is_the_same_and_its_way_is_shortest() {
    let mut broke = 0;
    for seed in 0..60 {
        let mut space = Tangle::drawn(seed);
        let distances = space.distances();
        let reached = distances.into_iter().filter(|(_, distance)| *distance > 0);
        let Some((forbidden, distance)) = reached.max_by_key(|(state, _)| Luck::new(*state).next())
        else {
            continue;
        };
        space.forbidden = Some(forbidden);
        let one = found(&space, &Limits::default(), 1);
        assert_eq!(one.end, End::Broken);
        let path = one.path.as_ref().unwrap();
        assert_eq!(path.len(), distance, "seed {seed}");
        assert_eq!(space.walk(path), Some(forbidden));
        assert_eq!(found(&space, &Limits::default(), 3), one);
        let past = Limits { past_broken: true, ..Limits::default() };
        let counted = found(&space, &past, 2);
        assert_eq!((counted.end, counted.path), (End::Complete, one.path));
        broke += 1;
    }
    assert!(broke > 30, "{broke}");
}

#[test]
fn a_goal_is_reached_by_a_shortest_way() {
    let space = Tangle::drawn(3);
    let distances = space.distances();
    let goals = distances.iter().filter(|(state, _)| *state % 101 == 100);
    let nearest = goals.clone().map(|(_, distance)| *distance).min();
    let found = found(&space, &Limits::default(), 2);
    assert_eq!(found.figures.goals as usize, goals.count());
    assert_eq!(found.goal.map(|goal| goal.len()), nearest);
}

/// Counts up, and does not like a certain number.
struct Touchy(u64);

impl Space for Touchy {
    type State = u64;
    type Steps = ();
    type Worker = ();

    fn identity(&self) -> String {
        String::from("touchy")
    }

    fn worker(&self) {}

    fn initial(&self, (): &mut ()) -> Arrival<Self> {
        arrival(0)
    }

    fn expand(
        &self,
        (): &mut (),
        state: &u64,
        _: &Awake<()>,
        out: &mut Vec<Arrival<Self>>,
    ) -> Expansion {
        assert_ne!(*state, self.0, "not this one");
        out.extend((state + 1..state + 4).map(arrival));
        Expansion { enabled: 3 }
    }
}

fn arrival(state: u64) -> Arrival<Touchy> {
    let (print, step) = (print_of([state, 0]), (state % 3) as u16);
    Arrival { step, print, state, asleep: (), verdict: Default::default(), goal: false }
}

#[test]
fn a_panic_of_the_space_reaches_whoever_searches() {
    for threads in [1, 3] {
        let space = Touchy(1_000);
        let said = catch_unwind(AssertUnwindSafe(|| found(&space, &Limits::default(), threads)));
        let said = said.unwrap_err().downcast::<String>().unwrap();
        assert!(said.contains("not this one"), "{said}");
    }
}
