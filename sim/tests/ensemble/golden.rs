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
        "40: 10367 steps, 01f393f448fe8e80, Held",
        "41: 2761 steps, c233ccdd97d9db04, Held",
        "42: 6079 steps, 064736aa82ed9528, Held",
        "43: 6660 steps, 800138fac598e19d, Held",
        "44: 4707 steps, e17261276c1b28fa, Held",
        "45: 7285 steps, 9796b5174c95ab99, Held",
        "46: 18251 steps, 21f4ea1597d1407f, Held",
        "47: 7800 steps, 1be840ea22e45ce1, Held",
        "48: 5240 steps, 2811cb2e74e1cccd, Held",
        "49: 2864 steps, c4cbcea6179c767a, Held",
        "50: 2679 steps, 0ace38755d24bb5e, Held",
        "51: 4910 steps, e8b3d159e260b5cd, Held",
        "52: 15098 steps, d47934f0d1052647, Held",
        "53: 647 steps, 5c7143b62c29747d, Held",
        "54: 43320 steps, 5c3d35f7a5fcc506, Held",
        "55: 1826 steps, 3dd9360dde076408, Held",
        "56: 11933 steps, 22009c79ae3f5f7e, Held",
        "57: 590 steps, c66278e0d0ef1faa, Held",
        "58: 16330 steps, febd5e50468c8461, Held",
        "59: 7583 steps, 7209747a9dae4c84, Held",
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
