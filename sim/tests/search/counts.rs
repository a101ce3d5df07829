//! How much is seen.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use zoolab_sim::search::toy::Broadcast;
use zoolab_sim::search::{End, Figures, Limits, Progress, Search, Space};

use crate::tangle::Tangle;

/// Everything, by one thread.
pub(crate) fn whole<S: Space>(space: &S, reduce: bool) -> Search<'_, S> {
    let mut search = Search::new(space, reduce);
    let end = search.run(&Limits::default(), NonZeroUsize::MIN, &mut |_| ControlFlow::Continue(()));
    assert_eq!(end, End::Complete);
    search
}

fn figures<S: Space>(space: &S, reduce: bool) -> Figures {
    whole(space, reduce).figures().clone()
}

#[test]
fn the_toy_protocol_has_as_many_states_as_its_formula_says() {
    for (followers, proposals) in [(1, 1), (1, 3), (2, 2), (3, 2), (4, 1)] {
        let space = Broadcast::new(followers, proposals);
        let figures = figures(&space, false);
        assert_eq!(figures.distinct, space.states(), "{space:?}");
        // Every message is sent and delivered, whatever the order.
        assert_eq!(figures.depth(), usize::from(3 * followers * proposals));
        assert_eq!((figures.goals, figures.ends), (1, 1));
        assert_eq!(figures.enabled + 1, figures.generated);
    }
    let space = Broadcast::new(4, 2);
    let figures = figures(&space, false);
    assert_eq!(figures.distinct, 1_115_136);
    assert_eq!(figures.generated, 9_664_513);
    assert!(figures.bytes_per_state() <= 64, "{figures:?}");
    assert!(figures.bytes / figures.distinct <= 64, "{figures:?}");
}

#[test]
fn where_all_steps_commute_sleep_sets_leave_one_way_to_each_state() {
    let space = Broadcast::new(3, 2);
    let (with, without) = (figures(&space, true), figures(&space, false));
    assert_eq!(with.generated, with.distinct);
    assert_eq!(with.layers, without.layers);
    assert_eq!(with.enabled, without.enabled);
}

#[test]
fn sleep_sets_hide_no_state_and_make_no_way_longer() {
    let mut spared = 0;
    let mut taken = 0;
    for seed in 0..400 {
        let space = Tangle::drawn(seed);
        let distances = space.distances();
        let mut layers = vec![0; 1 + distances.values().max().unwrap()];
        distances.values().for_each(|distance| layers[*distance] += 1);
        for reduce in [false, true] {
            let figures = figures(&space, reduce);
            assert_eq!(figures.distinct as usize, distances.len(), "seed {seed} {reduce}");
            assert_eq!(figures.layers, layers, "seed {seed} {reduce}");
            assert_eq!(figures.expanded, figures.distinct);
            if reduce {
                taken += figures.generated;
                spared += figures.enabled + 1 - figures.generated;
            }
        }
    }
    assert!(spared > taken / 8, "{spared} of {taken}");
}

#[test]
fn what_a_thread_keeps_to_itself_comes_back() {
    let space = Tangle::drawn(7);
    let search = whole(&space, false);
    assert_eq!(search.workers().iter().sum::<u64>(), search.figures().enabled);
}

#[test]
fn a_depth_limit_cuts_exactly_there() {
    let space = Broadcast::new(3, 2);
    let all = figures(&space, true);
    for depth in [0, 1, 7] {
        let mut search = Search::new(&space, true);
        let limits = Limits { depth: Some(depth), ..Limits::default() };
        let end = search.run(&limits, NonZeroUsize::MIN, &mut |_| ControlFlow::Continue(()));
        assert_eq!(end, End::Depth);
        assert_eq!(search.figures().layers, all.layers[..=depth]);
        // And it goes on from there as if nothing had been.
        let limits = Limits::default();
        let end = search.run(&limits, NonZeroUsize::MIN, &mut |_| ControlFlow::Continue(()));
        assert_eq!(end, End::Complete);
        assert_eq!(search.figures().layers, all.layers);
        assert_eq!(search.figures().generated, all.generated);
    }
}

#[test]
fn limits_of_states_and_memory_stop_soon_and_it_can_go_on() {
    let space = Broadcast::new(4, 2);
    let all = figures(&space, true);
    let stops = [
        (Limits { states: Some(5_000), ..Limits::default() }, End::States),
        (Limits { bytes: Some(20 << 20), ..Limits::default() }, End::Memory),
    ];
    for (limits, expected) in stops {
        let mut search = Search::new(&space, true);
        let go_on = &mut |_: &Progress<'_>| ControlFlow::Continue(());
        assert_eq!(search.run(&limits, NonZeroUsize::MIN, go_on), expected);
        assert!(search.figures().distinct < all.distinct);
        assert!(limits.bytes.is_none_or(|bytes| search.figures().bytes_peak <= bytes));
        assert_eq!(search.run(&Limits::default(), NonZeroUsize::MIN, go_on), End::Complete);
        assert_eq!(search.figures().layers, all.layers);
    }
}

#[test]
fn whoever_is_told_of_the_progress_may_stop_it() {
    let space = Broadcast::new(3, 2);
    let mut search = Search::new(&space, false);
    let mut told = 0;
    let end = search.run(&Limits::default(), NonZeroUsize::MIN, &mut |progress| {
        told += 1;
        assert_eq!(progress.layer + 1, told);
        assert_eq!(progress.layer_expanded, progress.layer_states);
        if told == 4 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!(end, End::Asked);
    assert_eq!(search.figures().depth(), 4);
}
