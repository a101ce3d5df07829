//! What can be otherwise with sessions, switched on in runs that are drawn without it.

use zoolab_sim::drive::{End, Nobody, run};
use zoolab_sim::figures::Figures;
use zoolab_sim::setting::Setting;
use zoolab_sim::swarm::Plan;

/// Some seeds hold with this in their setting.
fn hold(seeds: std::ops::Range<u64>, with: impl Fn(&mut Setting)) -> Figures {
    let mut figures = Figures::default();
    for seed in seeds {
        let mut plan = Plan::draw(seed);
        with(&mut plan.setting);
        let report = run(&plan, seed, &mut Nobody).expect("it can be set up");
        assert_eq!(report.end, End::Held, "seed {seed}: {}", plan.summary());
        figures.add(&report.figures);
    }
    figures
}

#[test]
fn servers_that_are_told_of_moves_keep_all_promises() {
    let figures = hold(0..40, |setting| {
        setting.tell_moved = true;
        setting.read_only = true;
        setting.extended_types = true;
        setting.container_check_ms = 1000;
    });
    for name in ["session moved", "revalidation refused"] {
        assert!(figures.reached.contains_key(name), "{name}: {figures:#?}");
    }
}
