//! What a seed means, for ever: the same steps in debug and release, on every machine. A change
//! here is a decision.

use zoolab_sim::drive::{End, Nobody, run};
use zoolab_sim::figures::{Figures, MUST_REACH};
use zoolab_sim::swarm::Plan;

fn of(seed: u64) -> String {
    let report = run(&Plan::draw(seed), seed, &mut Nobody).expect("a drawn plan can be");
    format!("{seed}: {} steps, {}, {:?}", report.figures.steps, report.hash, report.end)
}

#[test]
fn twenty_seeds_mean_what_they_meant() {
    let all: Vec<String> = (40..60).map(of).collect();
    insta::assert_debug_snapshot!(all, @r#"
    [
        "40: 10367 steps, 717f3ea54e425bfe, Held",
        "41: 2761 steps, 33f7f0a7f38b2043, Held",
        "42: 6079 steps, a02d1517fab6a888, Held",
        "43: 6660 steps, 63a8bbc6d26a9cba, Held",
        "44: 4707 steps, cedaf9dfcfe8cd00, Held",
        "45: 4313 steps, 4b1df8a07bda3a4e, Held",
        "46: 18251 steps, 4916a2b9439b3ef6, Held",
        "47: 7800 steps, 683dc19d8280447b, Held",
        "48: 5240 steps, 7bff1fab41660f24, Held",
        "49: 2864 steps, cc4d92038ef984e1, Held",
        "50: 2679 steps, 99da0406f93c1fc4, Held",
        "51: 4910 steps, d15895f5628918b7, Held",
        "52: 15098 steps, 3ab7b2fe7bb79701, Held",
        "53: 647 steps, df2f6f9d75de706a, Held",
        "54: 43320 steps, 24ecf226f419a698, Held",
        "55: 1826 steps, 319714f2411a4ab2, Held",
        "56: 11933 steps, dfb3694006b33909, Held",
        "57: 590 steps, 8e83e96d568a575d, Held",
        "58: 16330 steps, 1bd216f76ed9fe58, Held",
        "59: 7583 steps, 4a5d3e74e1684244, Held",
    ]
    "#);
}

#[test]
fn a_seed_is_the_same_on_other_threads() {
    let here: Vec<String> = (40..46).map(of).collect();
    let there = std::thread::scope(|scope| {
        let halves =
            [40..43, 43..46].map(|seeds| scope.spawn(move || seeds.map(of).collect::<Vec<_>>()));
        halves.into_iter().flat_map(|half| half.join().expect("it ends well")).collect::<Vec<_>>()
    });
    assert_eq!(here, there);
}

/// A fixed range of seeds holds, and reaches everything that is worth reaching.
#[test]
fn seeds_hold_and_reach_the_rare_branches() {
    let jobs = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get) as u64;
    let figures = std::thread::scope(|scope| {
        let parts: Vec<_> = (0..jobs)
            .map(|job| {
                scope.spawn(move || {
                    let mut figures = Figures::default();
                    for seed in (0..400).filter(|seed| seed % jobs == job) {
                        let plan = Plan::draw(seed);
                        let report = run(&plan, seed, &mut Nobody).expect("a drawn plan can be");
                        assert_eq!(report.end, End::Held, "seed {seed}: {}", plan.summary());
                        figures.add(&report.figures);
                    }
                    figures
                })
            })
            .collect();
        let mut all = Figures::default();
        parts.into_iter().for_each(|part| all.add(&part.join().expect("it ends well")));
        all
    });
    assert_eq!(figures.runs, 400);
    for name in MUST_REACH {
        assert!(figures.reached.contains_key(name), "{name} was never reached: {figures:#?}");
    }
}
