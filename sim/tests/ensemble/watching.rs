//! Somebody who remembers everything.

use zoolab_sim::drive::{Done, End, Onlooker, Report, run};
use zoolab_sim::seen::Seen;
use zoolab_sim::step::{Instant, Step};
use zoolab_sim::swarm::{Family, Plan};

/// All steps of a run, each with what it made visible.
#[derive(Default)]
pub(crate) struct Watching {
    pub(crate) steps: Vec<(Instant, Step)>,
    pub(crate) seen: Vec<(usize, Seen)>,
}

impl Onlooker for Watching {
    fn after(&mut self, done: &Done<'_>) -> bool {
        let place = self.steps.len();
        self.steps.push((done.at, done.step.clone()));
        self.seen.extend(done.seen.iter().map(|event| (place, event.clone())));
        true
    }
}

impl Watching {
    /// Watches a run.
    pub(crate) fn run(plan: &Plan, seed: u64) -> (Self, Report) {
        let mut watching = Self::default();
        let report = run(plan, seed, &mut watching).expect("the plan can be");
        assert_eq!(report.end, End::Held, "seed {seed}");
        (watching, report)
    }

    /// Places of such steps.
    pub(crate) fn places(&self, is: impl Fn(&Step) -> bool) -> Vec<usize> {
        (0..self.steps.len()).filter(|place| is(&self.steps[*place].1)).collect()
    }

    /// How many such events there were.
    pub(crate) fn count(&self, is: impl Fn(&Seen) -> bool) -> usize {
        self.seen.iter().filter(|(_, event)| is(event)).count()
    }
}

/// Five servers, a minute of these faults, and clients that are busy.
pub(crate) fn plan(families: &[Family]) -> Plan {
    let mut plan = Plan::quiet(5);
    plan.faults = families.iter().map(|family| (*family, 3000)).collect();
    plan.disks_lost = 2;
    plan.think_us = 20_000;
    plan.setting.clients = 4;
    plan.setting.tick_ms = 500;
    plan
}
