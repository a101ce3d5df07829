//! Planted cases of what never reaches a goal, and drawn ones judged by simpler means.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use zoolab_sim::search::{
    Arrival, Awake, Expansion, Graph, Lasso, Liveness, Reach, Space, Verdict, live, print_of,
};

use crate::tangle::Tangle;

/// A space spelled out: steps from, to, and the fair action they belong to.
struct Planted {
    goals: &'static [u64],
    steps: &'static [(u64, u64, Option<u32>)],
}

impl Planted {
    fn arrival(&self, step: u16, state: u64) -> Arrival<Self> {
        let goal = self.goals.contains(&state);
        let print = print_of([state, 0]);
        Arrival { step, print, state, asleep: (), verdict: Verdict::Fine, goal }
    }
}

/// A step is named by its place in the list.
impl Space for Planted {
    type State = u64;
    type Steps = ();
    type Worker = ();

    fn identity(&self) -> String {
        String::from("planted")
    }

    fn worker(&self) {}

    fn initial(&self, (): &mut ()) -> Arrival<Self> {
        self.arrival(0, 0)
    }

    fn expand(
        &self,
        (): &mut (),
        state: &u64,
        _: &Awake<()>,
        out: &mut Vec<Arrival<Self>>,
    ) -> Expansion {
        let before = out.len();
        for (step, (from, to, _)) in (0..).zip(self.steps) {
            if from == state {
                out.push(self.arrival(step, *to));
            }
        }
        Expansion { enabled: (out.len() - before) as u32 }
    }

    fn fair(&self, (): &mut (), _: &u64, step: u16) -> Option<u32> {
        self.steps[usize::from(step)].2
    }
}

fn graph<S: Space>(space: &S) -> Graph {
    let threads = NonZeroUsize::MIN;
    Graph::build(space, 100_000, threads, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn judge(
    reach: Reach,
    goals: &'static [u64],
    steps: &'static [(u64, u64, Option<u32>)],
) -> Liveness {
    live(&graph(&Planted { goals, steps }), reach)
}

fn lasso(stem: &[u16], cycle: &[u16]) -> Option<Lasso> {
    Some(Lasso { stem: stem.to_vec(), cycle: cycle.to_vec() })
}

const A: Option<u32> = Some(1);
const B: Option<u32> = Some(2);

#[test]
fn what_always_ends_in_a_goal_is_live() {
    let found = judge(Reach::AgainAndAgain, &[2], &[(0, 1, A), (1, 2, A), (0, 2, None)]);
    assert!(found.holds(), "{found:?}");
}

#[test]
fn a_dead_end_that_is_no_goal_is_found() {
    let found = judge(Reach::AgainAndAgain, &[1], &[(0, 1, A), (0, 2, A), (2, 3, A)]);
    let expected = Liveness { dead_ends: 1, dead_end: lasso(&[1, 2], &[]), ..Liveness::default() };
    assert_eq!(found, expected);
}

#[test]
fn where_nothing_has_to_happen_it_may_stand_still() {
    let found = judge(Reach::AgainAndAgain, &[2], &[(0, 1, A), (1, 2, None)]);
    let expected = Liveness { standstills: 1, standstill: lasso(&[0], &[]), ..Liveness::default() };
    assert_eq!(found, expected);
}

#[test]
fn a_fair_cycle_is_found_with_the_way_to_it() {
    // Back and forth between 1 and 2; the way out, by the same action as the way forth, is not
    // forced.
    let steps = &[(0, 1, A), (1, 2, A), (2, 1, B), (1, 3, A)];
    let found = judge(Reach::AgainAndAgain, &[3], steps);
    let expected = Liveness { cycles: 1, cycle: lasso(&[0], &[1, 2]), ..Liveness::default() };
    assert_eq!(found, expected);
}

#[test]
fn a_cycle_that_puts_off_a_fair_action_for_ever_does_not_count() {
    // The way out, by B, can happen all the time and is never taken.
    let steps = &[(0, 1, A), (1, 0, A), (0, 2, B), (1, 2, B)];
    assert!(judge(Reach::AgainAndAgain, &[2], steps).holds());
    // If it cannot happen in one of the states, it need not happen at all.
    let steps = &[(0, 1, A), (1, 0, A), (0, 2, B)];
    let found = judge(Reach::AgainAndAgain, &[2], steps);
    assert_eq!(found.cycle, lasso(&[], &[0, 1]));
}

#[test]
fn a_state_that_leads_to_itself_is_a_cycle() {
    let found = judge(Reach::AgainAndAgain, &[1], &[(0, 0, A), (0, 1, A)]);
    assert_eq!(found.cycle, lasso(&[], &[0]));
    assert!(judge(Reach::AgainAndAgain, &[1], &[(0, 0, A), (0, 1, B)]).holds());
}

#[test]
fn a_goal_on_the_only_cycle_makes_it_good() {
    let steps = &[(0, 1, A), (1, 2, A), (2, 0, A)];
    assert!(judge(Reach::AgainAndAgain, &[1], steps).holds());
    // With a way past the goal it is good no more.
    let steps = &[(0, 1, A), (1, 2, A), (2, 0, A), (0, 2, A)];
    let found = judge(Reach::AgainAndAgain, &[1], steps);
    assert_eq!(found.cycle, lasso(&[], &[3, 2]));
}

#[test]
fn a_cycle_behind_the_goal_matters_only_if_another_goal_must_follow() {
    let steps = &[(0, 1, A), (1, 2, A), (2, 3, A), (3, 2, A)];
    assert!(judge(Reach::Once, &[1], steps).holds());
    assert_eq!(judge(Reach::AgainAndAgain, &[1], steps).cycle, lasso(&[0, 1], &[2, 3]));
    // What begins with the goal has reached it.
    assert!(judge(Reach::Once, &[0], steps).holds());
}

#[test]
fn a_state_met_before_does_not_hide_a_cycle() {
    // 1 is reached at once, and again from 2: a search that stops at states it has seen would
    // take 2 -> 1 for the end of the path.
    let steps = &[(0, 1, A), (0, 2, A), (2, 1, A), (1, 4, A), (4, 2, A), (1, 3, B)];
    assert_eq!(judge(Reach::AgainAndAgain, &[3], steps).cycle, lasso(&[0], &[3, 4, 2]));
}

#[test]
fn the_cycle_goes_where_it_must_to_be_fair() {
    // Two loops at 0. A can happen everywhere on the first, so the cycle takes the second too.
    let steps = &[(0, 1, None), (1, 0, None), (1, 9, A), (0, 2, A), (2, 0, None)];
    let found = judge(Reach::AgainAndAgain, &[9], steps);
    assert_eq!((found.cycles, found.cycle), (1, lasso(&[], &[3, 4])));
    let steps = &[(0, 1, B), (1, 0, B), (1, 9, A), (0, 2, A), (2, 0, None), (2, 9, B)];
    let found = judge(Reach::AgainAndAgain, &[9], steps);
    assert_eq!(found.cycle, lasso(&[], &[3, 4, 0, 1]));
}

/// The fair components of a drawn system without its goals, found the plain way: whoever reaches
/// each other belongs together.
fn plain_cycles(space: &Tangle) -> u64 {
    let is_goal = |state: u64| state % 101 == 100;
    let after =
        |state: u64| space.enabled(state).into_iter().map(move |r| (r, space.after(state, r)));
    let inside = |state: u64| after(state).filter(move |(_, to)| !is_goal(*to));
    let all: Vec<u64> = space.distances().into_keys().filter(|state| !is_goal(*state)).collect();
    // By state: what can be reached from it by one step or more.
    let mut reached: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for state in &all {
        let mut queue: Vec<u64> = inside(*state).map(|(_, to)| to).collect();
        let mut seen = BTreeSet::new();
        while let Some(at) = queue.pop() {
            if seen.insert(at) {
                queue.extend(inside(at).map(|(_, to)| to));
            }
        }
        reached.insert(*state, seen);
    }
    let mut components = BTreeSet::new();
    for state in &all {
        let mutual =
            |other: &&u64| reached[state].contains(other) && reached[other].contains(state);
        let component: BTreeSet<u64> = all.iter().filter(mutual).copied().collect();
        components.insert(component);
    }
    let fair = |component: &&BTreeSet<u64>| {
        let rules = (0..64_u16).filter(|rule| rule.is_multiple_of(2));
        let mut always =
            rules.filter(|rule| component.iter().all(|state| space.enabled(*state).contains(rule)));
        always.all(|rule| {
            component.iter().any(|state| component.contains(&space.after(*state, rule)))
        })
    };
    components.iter().filter(|component| !component.is_empty()).filter(fair).count() as u64
}

#[test]
fn cycles_are_found_exactly_where_there_are_fair_ones() {
    let mut found_any = 0;
    for seed in 0..300 {
        let space = Tangle::drawn(seed);
        if space.distances().len() > 200 {
            continue;
        }
        let found = live(&graph(&space), Reach::AgainAndAgain).cycles;
        assert_eq!(found, plain_cycles(&space), "seed {seed}");
        found_any += found;
    }
    assert!(found_any > 30, "{found_any}");
}

#[test]
fn every_lasso_of_a_drawn_system_closes_and_is_fair() {
    let mut found_any = 0;
    for seed in 0..300 {
        let space = Tangle::drawn(seed);
        let found = live(&graph(&space), Reach::AgainAndAgain);
        let Some(Lasso { stem, cycle }) = found.cycle else { continue };
        found_any += 1;
        let start = space.walk(&stem).unwrap();
        let mut path = stem;
        let mut states = Vec::new();
        for step in &cycle {
            states.push(space.walk(&path).unwrap());
            path.push(*step);
        }
        assert_eq!(space.walk(&path), Some(start), "seed {seed}");
        assert!(states.iter().all(|state| state % 101 != 100));
        // Rules with an even number are fair.
        let enabled = |state: &u64| -> BTreeSet<u16> {
            space.enabled(*state).into_iter().filter(|rule| rule.is_multiple_of(2)).collect()
        };
        let always = states.iter().map(enabled).reduce(|all, more| &all & &more).unwrap();
        assert!(always.iter().all(|rule| cycle.contains(rule)), "seed {seed}");
    }
    assert!(found_any > 30, "{found_any}");
}
