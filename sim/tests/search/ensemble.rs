//! Every state of small ensembles: the numbers are facts, and a change of one is news.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use zoolab_core::Bug;
use zoolab_sim::search::{End, Figures, Limits, Search};
use zoolab_sim::states::{Begin, Ensemble, Preset, Root, sets_of, words_of};
use zoolab_sim::world::Bounds;

fn space(bounds: Bounds, bugs: &[Bug]) -> Ensemble<{ words_of(3) }, { sets_of(3) }> {
    let preset = Preset::named("small").expect("there is one");
    let mut setting = Preset { bounds, ..preset }.setting();
    setting.bugs = bugs.to_vec();
    let root = Root::fresh(setting).expect("three servers are an ensemble");
    Ensemble::new(root.world, root.checkers)
}

fn all(bounds: Bounds, reduce: bool, threads: usize) -> Figures {
    let space = space(bounds, &[]);
    let mut search = Search::new(&space, reduce);
    let threads = NonZeroUsize::new(threads).expect("not zero");
    let end = search.run(&Limits::default(), threads, &mut |_| ControlFlow::Continue(()));
    assert_eq!(end, End::Complete);
    search.figures().clone()
}

fn small() -> Bounds {
    Preset::named("small").expect("there is one").bounds
}

#[test]
fn small_has_as_many_states_as_it_had_at_any_number_of_threads() {
    let one = all(small(), true, 1);
    assert_eq!((one.distinct, one.depth()), (23_787, 41));
    assert_eq!(one.broken, 0);
    let two = all(small(), true, 2);
    assert_eq!((one.layers, one.generated, one.goals), (two.layers, two.generated, two.goals));
}

#[test]
fn sleep_sets_hide_no_state_and_names_no_kind_of_state() {
    let bounds = Bounds { writes: 1, crashes: 0, breaks: 1, ..small() };
    let (with, without) = (all(bounds, true, 2), all(bounds, false, 2));
    assert_eq!(with.layers, without.layers);
    assert!(with.generated < without.generated);
    let apart = Bounds { alike: false, ..bounds };
    let (with, without) = (all(apart, true, 2), all(apart, false, 2));
    assert_eq!(with.layers, without.layers);
    let merged = all(bounds, true, 2).distinct;
    assert!(merged * 5 < with.distinct && with.distinct <= merged * 6, "{merged}");
}

/// A bug is found, by a shortest way that is the same with every reduction on and off.
#[test]
fn a_bug_is_found_whatever_is_left_out() {
    let bounds = Bounds { writes: 1, crashes: 0, ..small() };
    let mut depths = Vec::new();
    for (alike, reduce) in [(true, true), (true, false), (false, true), (false, false)] {
        let space = space(Bounds { alike, ..bounds }, &[Bug::Zk4685]);
        let mut search = Search::new(&space, reduce);
        let two = NonZeroUsize::new(2).expect("not zero");
        let end = search.run(&Limits::default(), two, &mut |_| ControlFlow::Continue(()));
        assert_eq!(end, End::Broken, "{alike} {reduce}");
        let path = search.path_to_broken().expect("a promise is broken");
        assert_eq!(space.steps(&path).len(), path.len());
        depths.push(path.len());
    }
    assert!(depths.iter().all(|depth| *depth == depths[0]), "{depths:?}");
}

/// How a search from here ends, after how many steps, and past how many states.
fn verdict<const K: usize, const W: usize>(
    (begin, servers, clients): (Begin, u8, u16),
    bounds: Bounds,
    bugs: &[Bug],
) -> (End, usize, u64) {
    let preset = Preset::named("small").expect("there is one");
    let mut setting = Preset { bounds, servers, ..preset }.setting();
    setting.bugs = bugs.to_vec();
    setting.clients = clients;
    let root = Root::begin(begin, setting).expect("they are an ensemble");
    let space = Ensemble::<K, W>::new(root.world, root.checkers);
    let mut search = Search::new(&space, true);
    let two = NonZeroUsize::new(2).expect("not zero");
    let end = search.run(&Limits::default(), two, &mut |_| ControlFlow::Continue(()));
    if let Some(path) = search.path_to_broken() {
        assert_eq!(space.steps(&path).len(), path.len());
    }
    (end, search.path_to_broken().map_or(0, |path| path.len()), search.figures().distinct)
}

/// Names, values and what nobody can observe: each left in or out, together with each other, with
/// and without a bug. The verdict is the same, and so is the length of the shortest way.
#[test]
fn what_is_merged_changes_no_verdict() {
    let bounds = Bounds { crashes: 0, breaks: 1, quick_disks: true, ..small() };
    for bugs in [&[][..], &[Bug::Zk4394], &[Bug::Zk4685]] {
        let of = |alike, same_values, as_is| {
            let bounds = Bounds { alike, same_values, as_is, ..bounds };
            let begin = (Begin::Fresh, 3, 0);
            verdict::<{ words_of(3) }, { sets_of(3) }>(begin, bounds, bugs)
        };
        let all = of(true, true, false);
        let named = [of(false, true, false), of(false, false, false)];
        let as_is = [of(true, true, true), of(false, true, true), of(false, false, true)];
        let (end, steps, states) = all;
        for other in named.iter().chain(&as_is) {
            assert_eq!((other.0, other.1), (end, steps), "{bugs:?}");
        }
        assert_eq!(end == End::Broken, !bugs.is_empty());
        if bugs.is_empty() {
            assert!(states * 5 < named[0].2 && states < as_is[0].2, "{all:?} {named:?} {as_is:?}");
            // Values keep names apart, and do nothing else.
            assert_eq!(named[0], named[1]);
            assert!(named[0].2 < as_is[1].2, "{named:?} {as_is:?}");
        }
    }
}

/// Two clients who ask for the same, told apart or not.
#[test]
fn clients_that_are_the_same_change_no_verdict() {
    let calls = Bounds { writes: 0, crashes: 0, calls: 2, epochs: 1, alike: false, ..small() };
    let of = |same_clients| {
        let bounds = Bounds { same_clients, ..calls };
        verdict::<{ words_of(2) }, { sets_of(2) }>((Begin::Led, 2, 2), bounds, &[])
    };
    let (merged, apart) = (of(true), of(false));
    assert_eq!((merged.0, apart.0), (End::Complete, End::Complete));
    assert!(merged.2 < apart.2 && apart.2 <= 2 * merged.2, "{merged:?} {apart:?}");
    let of = |same_clients| {
        let bounds = Bounds { same_clients, calls: 1, breaks: 1, quick_disks: true, ..calls };
        let begin = (Begin::Led, 3, 2);
        verdict::<{ words_of(3) }, { sets_of(3) }>(begin, bounds, &[Bug::Zk2845])
    };
    let (merged, apart) = (of(true), of(false));
    assert_eq!((merged.0, merged.1), (apart.0, apart.1));
    assert_eq!(merged.0, End::Broken);
    assert!(merged.2 < apart.2, "{merged:?} {apart:?}");
}
