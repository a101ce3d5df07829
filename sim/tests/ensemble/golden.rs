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
        "40: 12240 steps, a459a80b9c237136, Held",
        "41: 2020 steps, e9bdb9fe73228d24, Held",
        "42: 10621 steps, 3b6673b28704107d, Held",
        "43: 27621 steps, e5fbb5dc689c3a98, Held",
        "44: 6687 steps, d5706646afc71a58, Held",
        "45: 4356 steps, d9058fb05a552deb, Held",
        "46: 21055 steps, 58bb14b0f5d514da, Held",
        "47: 7363 steps, 9d6ff140319ecfec, Held",
        "48: 15476 steps, 0bde891ed6ebacf9, Held",
        "49: 3245 steps, b62bfd0d87127392, Held",
        "50: 5068 steps, 1415980cbb0e7d0b, Held",
        "51: 5917 steps, 4e7bde47e3c24d71, Held",
        "52: 27088 steps, c61296952633b523, Held",
        "53: 716 steps, 58aede9a2490d0fb, Held",
        "54: 65947 steps, 4df76febc659089f, Held",
        "55: 2415 steps, 119a4d55d2498882, Held",
        "56: 13200 steps, 5a8ff6bfa2b42f76, Held",
        "57: 4366 steps, 5c0ed220ee51abeb, Held",
        "58: 21231 steps, cc18ec2535d5c653, Held",
        "59: 14890 steps, d3392a7a4737b6d7, Held",
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
