//! The ensemble changes while everything goes wrong.

use zoolab_sim::drive::{End, Nobody, run};
use zoolab_sim::figures::Figures;
use zoolab_sim::step::Step;
use zoolab_sim::swarm::{Family, Plan};

use crate::watching::{Watching, plan};

fn changing(families: &[Family]) -> Plan {
    let mut plan = plan(families);
    plan.change(1500, 2);
    plan
}

#[test]
fn in_peace_servers_come_and_go() {
    let (watching, report) = Watching::run(&changing(&[]), 1);
    let wishes = watching.places(|step| matches!(step, Step::Change { .. })).len();
    let committed = report.figures.reached["change of members committed"];
    assert!(wishes > 10 && committed > 5, "{wishes} {committed}");
}

/// Whatever happens to an ensemble may happen to it while it changes.
#[test]
fn changes_survive_everything() {
    let mut figures = Figures::default();
    for seed in 0..24 {
        let families = match seed % 4 {
            0 => &[Family::Crash, Family::Break][..],
            1 => &[Family::Cut, Family::Votes],
            2 => &[Family::Power, Family::Doom, Family::Slow],
            _ => &[Family::Crash, Family::Cut, Family::Pause, Family::Rolling],
        };
        let mut plan = changing(families);
        plan.setting.snapshot_every = if seed % 2 == 0 { 0 } else { 20 };
        plan.setting.recent = if seed % 3 == 0 { 3 } else { 100 };
        plan.trouble_ms = 30_000;
        let report = run(&plan, seed, &mut Nobody).expect("the plan can be");
        assert_eq!(report.end, End::Held, "seed {seed}");
        figures.add(&report.figures);
    }
    for name in [
        "change of members proposed",
        "change of members committed",
        "change of members refused",
        "change of members completed by the next leader",
        "leader handed over",
        "members learned",
        "voter joined",
        "voter left",
    ] {
        assert!(figures.reached.contains_key(name), "{name} was never reached: {figures:#?}");
    }
}
