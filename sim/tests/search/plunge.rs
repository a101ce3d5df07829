//! The search that goes down first.

use std::ops::ControlFlow;

use zoolab_sim::search::toy::Broadcast;
use zoolab_sim::search::{PlungeEnd, PlungeLimits, Plunged, Space, plunge};

use crate::counts::whole;
use crate::tangle::Tangle;

const NO_LIMITS: PlungeLimits =
    PlungeLimits { depth: None, remembered: usize::MAX, expanded: None };

fn plunged<S: Space>(space: &S, limits: PlungeLimits) -> Plunged {
    plunge(space, &limits, &mut |_| ControlFlow::Continue(()))
}

#[test]
fn it_sees_what_the_search_by_layers_sees() {
    let space = Broadcast::new(3, 2);
    let found = plunged(&space, NO_LIMITS);
    let figures = &found.figures;
    assert!(found.is_proof(), "{found}");
    assert_eq!(figures.distinct, space.states());
    assert_eq!(figures.generated, whole(&space, false).figures().generated);
    assert_eq!((figures.goals, figures.ends, figures.depth), (1, 1, 18));
    assert_eq!(found.goal.map(|goal| goal.len()), Some(18));
}

#[test]
fn with_any_limit_of_depth_it_sees_exactly_what_is_that_near() {
    let mut again = 0;
    for seed in 0..100 {
        let space = Tangle::drawn(seed);
        let distances = space.distances();
        for depth in 0..12 {
            let found = plunged(&space, PlungeLimits { depth: Some(depth), ..NO_LIMITS });
            let near = distances.values().filter(|distance| **distance <= depth as usize).count();
            assert!(found.is_proof());
            assert_eq!(found.figures.distinct as usize, near, "seed {seed}, depth {depth}");
            again += found.figures.again;
        }
    }
    assert!(again > 1_000, "{again}");
}

#[test]
fn short_of_memory_it_forgets_says_so_and_still_ends() {
    let mut forgotten = 0;
    for seed in 0..60 {
        let space = Tangle::drawn(seed);
        let states = space.distances().len();
        // With less than that some take long: ways that are forgotten are gone again.
        let remembered = states * 9 / 10;
        let limits = PlungeLimits { remembered, expanded: Some(200_000), ..NO_LIMITS };
        let found = plunged(&space, limits);
        assert!(found.figures.distinct as usize >= states || found.end == PlungeEnd::Expanded);
        assert_eq!(
            found.is_proof(),
            found.end == PlungeEnd::Complete && found.figures.forgotten == 0
        );
        if found.end == PlungeEnd::Complete && found.figures.forgotten > 0 {
            forgotten += 1;
            let words = format!("no proof: {} states had to be forgotten", found.figures.forgotten);
            assert_eq!(found.to_string(), words);
        }
        assert_eq!(plunged(&space, limits), found, "the same is forgotten every time");
        let enough = PlungeLimits { remembered: states, ..NO_LIMITS };
        assert!(plunged(&space, enough).is_proof());
    }
    assert!(forgotten > 5, "{forgotten}");
}

#[test]
fn a_broken_promise_is_found_with_a_way_to_it() {
    let mut broke = 0;
    for seed in 0..60 {
        let mut space = Tangle::drawn(seed);
        space.forbidden = space.distances().into_keys().nth(20);
        if space.forbidden.is_none() {
            continue;
        }
        let found = plunged(&space, NO_LIMITS);
        assert_eq!(found.end, PlungeEnd::Broken);
        assert_eq!(space.walk(&found.broken.unwrap()), space.forbidden, "seed {seed}");
        broke += 1;
    }
    assert!(broke > 20, "{broke}");
}

#[test]
fn it_stops_when_told_to() {
    let space = Broadcast::new(3, 2);
    let limits = PlungeLimits { expanded: Some(100), ..NO_LIMITS };
    let found = plunged(&space, limits);
    assert_eq!((found.end, found.figures.expanded), (PlungeEnd::Expanded, 100));
    let found = plunge(&space, &NO_LIMITS, &mut |_| ControlFlow::Break(()));
    assert_eq!(found.end, PlungeEnd::Asked);
    assert!(!found.is_proof());
}
