//! What is shrunk fails in the same way, is a trace like any other, and holds without the bug.

use std::ops::ControlFlow;
use std::sync::Arc;

use zoolab_core::Bug;
use zoolab_sim::checker::Checkers;
use zoolab_sim::drive::{End, Nobody, Onlooker, drive, run};
use zoolab_sim::shrink::{Limits, NotShrunk, Shrunk, fingerprint, shrink};
use zoolab_sim::step::{Instant, Step};
use zoolab_sim::story::Story;
use zoolab_sim::strategy::replay::Replay;
use zoolab_sim::swarm::{Family, Plan};
use zoolab_sim::trace::{Ending, Header, Trace};
use zoolab_sim::world::World;

#[derive(Default)]
struct Steps(Vec<(Instant, Step)>);

impl Onlooker for Steps {
    fn before(&mut self, _: u64, at: Instant, step: &Step) {
        self.0.push((at, step.clone()));
    }
}

fn trace(plan: Plan, seed: u64) -> Trace {
    let mut steps = Steps::default();
    let report = run(&plan, seed, &mut steps).expect("it can be run");
    let ending = Some(Ending::of(&report));
    Trace { header: Header::new(seed, plan), steps: steps.0, ending }
}

fn failing(bug: Bug, seed: u64) -> Trace {
    let mut plan = Plan::draw(seed);
    plan.setting.bugs = vec![bug];
    trace(plan, seed)
}

fn small(trace: &Trace, limits: Limits) -> Shrunk {
    shrink(trace, limits, &mut |_| ControlFlow::Continue(())).expect("it fails")
}

fn performed(trace: &Trace, bugs: &[Bug]) -> (End, Ending) {
    let mut setting = trace.header.plan.setting.clone();
    setting.bugs = bugs.to_vec();
    let mut world = World::new(setting).expect("it can be set up");
    let mut checkers = Checkers::new(Arc::clone(world.ensemble()), &[]);
    let mut strategy =
        if bugs.is_empty() { Replay::skipping(&trace.steps) } else { Replay::new(&trace.steps) };
    let report = drive(&mut world, &mut strategy, &mut checkers, &mut Nobody);
    let ending = Ending::of(&report);
    (report.end, ending)
}

#[test]
fn real_bugs_become_short_and_stay_what_they_were() {
    for (bug, seed, most) in [(Bug::Zk2845, 2, 20), (Bug::Zk4685, 0, 40)] {
        let long = failing(bug, seed);
        let limits = Limits { runs: Some(4000), fine: false };
        let shrunk = small(&long, limits);
        let short = &shrunk.trace;
        assert_eq!(shrunk.before, long.steps.len());
        assert!(short.steps.len() <= most, "{bug}: {} steps", short.steps.len());
        assert_eq!(fingerprint(&long).as_ref(), Ok(&shrunk.fingerprint), "{bug}");
        assert_eq!(fingerprint(short).as_ref(), Ok(&shrunk.fingerprint), "{bug}");
        let (_, ending) = performed(short, &[bug]);
        assert_eq!(Some(&ending), short.ending.as_ref(), "{bug}");
        assert_eq!(performed(short, &[]).0, End::Held, "{bug} off");
        // Written, read, shrunk again: the same.
        let text = short.to_text().unwrap();
        assert_eq!(Trace::parse("short", &text).as_ref(), Ok(short), "{bug}");
        assert_eq!(small(&long, limits).trace, *short, "{bug}: another time");
    }
}

#[test]
fn elections_stay_step_by_step_if_that_is_wanted() {
    let long = failing(Bug::Zk2845, 2);
    let fine = small(&long, Limits { runs: Some(1500), fine: true }).trace;
    assert!(fine.header.plan.setting.search.is_none());
    let (before, after) = (long.steps.len(), fine.steps.len());
    assert!(after < before, "{after} of {before} steps");
    assert!(fine.steps.iter().any(|(_, step)| matches!(step, Step::Vote { .. })));
    assert_eq!(fingerprint(&fine), fingerprint(&long));
}

#[test]
fn whoever_asks_may_end_it_at_any_time() {
    let long = failing(Bug::Zk2845, 2);
    for most in [1, 20, 200] {
        let mut told = 0;
        let shrunk = shrink(&long, Limits::default(), &mut |progress| {
            told += 1;
            assert_eq!(progress.runs, told);
            if told < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        let shrunk = shrunk.unwrap();
        assert!(!shrunk.whole && shrunk.runs == most, "{} runs", shrunk.runs);
        assert_eq!(fingerprint(&shrunk.trace), Ok(shrunk.fingerprint), "after {most} runs");
        let limited = small(&long, Limits { runs: Some(most), fine: false });
        assert!(!limited.whole);
        assert_eq!(fingerprint(&limited.trace), Ok(limited.fingerprint), "{most} runs");
    }
}

/// What is stuck cannot be told from its steps: less is drawn from its seed.
#[test]
fn a_run_that_got_stuck_is_shrunk_from_its_seed() {
    let mut plan = Plan { trouble_ms: 100, calm_ms: 0, ..Plan::quiet(5) };
    plan.setting.clients = 4;
    plan.faults = vec![(Family::Crash, 1500), (Family::Pause, 1000)];
    let long = trace(plan, 7);
    let shrunk = small(&long, Limits::default());
    let (before, after) = (&long.header.plan, &shrunk.trace.header.plan);
    assert!(shrunk.trace.steps.len() < long.steps.len(), "{}", shrunk.trace.steps.len());
    assert!(after.setting.clients < before.setting.clients && after.faults.is_empty());
    assert_eq!(fingerprint(&shrunk.trace), fingerprint(&long));
    let again = trace(after.clone(), 7);
    assert_eq!((again.steps, again.ending), (shrunk.trace.steps, shrunk.trace.ending));
}

#[test]
fn what_does_not_fail_is_refused() {
    let refused = |trace: &Trace| {
        shrink(trace, Limits::default(), &mut |_| ControlFlow::Continue(())).unwrap_err()
    };
    let held = trace(Plan { trouble_ms: 1000, ..Plan::quiet(3) }, 1);
    assert_eq!(refused(&held), NotShrunk::Holds);
    let mut odd = held;
    odd.steps.remove(1);
    let NotShrunk::Diverges { count, .. } = refused(&odd) else { panic!("it does not fit") };
    assert!(count > 1);
}

#[test]
fn a_story_says_who_does_what_and_how_it_ends() {
    let long = failing(Bug::Zk4643, 2);
    let short = small(&long, Limits { runs: Some(4000), fine: false }).trace;
    let story = Story::of(&short).unwrap();
    let text = story.to_string();
    assert!(story.lines.len() <= short.steps.len(), "{text}");
    assert_eq!(story.lines.last().unwrap().0, short.steps.len(), "{text}");
    assert!(story.end.starts_with("Broken promise history-before-epoch: server "), "{text}");
    for part in [" starts", " is to lead", " hears NEWLEADER ", "joining, "] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
