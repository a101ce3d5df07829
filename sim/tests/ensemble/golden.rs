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
        "40: 11257 steps, e184c764817e66ab, Held",
        "41: 2160 steps, aec90c9c646894af, Held",
        "42: 8449 steps, 9a2c28f2c1ee6c6f, Held",
        "43: 26443 steps, a8d019537cbfccb0, Held",
        "44: 9121 steps, a076f8ad4a81c0db, Held",
        "45: 8784 steps, 8f9c87172c866ee8, Held",
        "46: 22660 steps, c336f83cd488170d, Held",
        "47: 7501 steps, 042ad36bdf6d005d, Held",
        "48: 15476 steps, 0bde891ed6ebacf9, Held",
        "49: 2364 steps, 7f49ac781e5df44f, Held",
        "50: 4478 steps, 0c6be1a4f85c4f4c, Held",
        "51: 4296 steps, 59ac54d3c863be13, Held",
        "52: 27722 steps, 2c749a25ef18de1b, Held",
        "53: 716 steps, 58aede9a2490d0fb, Held",
        "54: 52425 steps, 6dc2ebd8960331ca, Held",
        "55: 2415 steps, 119a4d55d2498882, Held",
        "56: 6167 steps, 3f0001c98a388fc4, Held",
        "57: 4366 steps, 5c0ed220ee51abeb, Held",
        "58: 18930 steps, 89fc2250c1b9e6e4, Held",
        "59: 16016 steps, f3f1b9db76853669, Held",
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
