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
        "40: 12272 steps, b21a23e9851fd309, Held",
        "41: 2215 steps, 55db8848e9351015, Held",
        "42: 10836 steps, c7ec62cd0440729a, Held",
        "43: 39776 steps, 38500a7c22fa1e36, Held",
        "44: 7793 steps, b0f2a92df5cff308, Held",
        "45: 8806 steps, f8315e54dddb9bf6, Held",
        "46: 21143 steps, 364d0c7865fa302e, Held",
        "47: 6704 steps, 679057f044f5aef9, Held",
        "48: 15476 steps, 0bde891ed6ebacf9, Held",
        "49: 3159 steps, a2f8e74e045d31e7, Held",
        "50: 5068 steps, 079f1c6acb3e1b21, Held",
        "51: 5822 steps, 07e11cd12f8f4f29, Held",
        "52: 27395 steps, 4320931b4687203a, Held",
        "53: 716 steps, 58aede9a2490d0fb, Held",
        "54: 62364 steps, a92689c2d1b52e02, Held",
        "55: 2415 steps, 119a4d55d2498882, Held",
        "56: 6746 steps, 7c45bce191adffab, Held",
        "57: 4366 steps, 5c0ed220ee51abeb, Held",
        "58: 21252 steps, 48ad2b431bf91a30, Held",
        "59: 13906 steps, 3f19ff4d2cc1ed24, Held",
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
