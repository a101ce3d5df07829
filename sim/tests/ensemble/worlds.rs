//! A world is a value.

use std::hash::{DefaultHasher, Hash, Hasher};

use zoolab_core::ServerId;
use zoolab_sim::drive::{Done, End, Nobody, Onlooker, run};
use zoolab_sim::setting::Setting;
use zoolab_sim::step::{Instant, Step};
use zoolab_sim::swarm::{Family, Plan};
use zoolab_sim::world::{Outcome, World};

fn hash(world: &World) -> u64 {
    let mut hasher = DefaultHasher::new();
    world.hash(&mut hasher);
    hasher.finish()
}

/// Starts all servers, then takes turns among what can happen.
fn advance(world: &mut World, steps: usize) {
    let mut outcome = Outcome::default();
    for server in world.servers().to_vec() {
        if world.host(server).server.is_none() {
            world.step(world.now(), &Step::Restart { server }, &mut outcome);
        }
    }
    let mut possible = Vec::new();
    for turn in 0..steps {
        world.enabled(&mut possible);
        let at = Instant(world.now().0 + 1000);
        possible.retain(|step| world.can(at, step).is_ok());
        if !possible.is_empty() {
            world.step(at, &possible[turn % possible.len()], &mut outcome);
        } else {
            // Nothing but time can pass: a clock that is set to what it shows lets it.
            let at = Instant(world.now().0 + 100_000);
            world.step(at, &Step::Jump { server: ServerId(1), ms: 0 }, &mut outcome);
        }
    }
}

#[test]
fn equal_worlds_have_equal_futures_and_hashes() {
    let mut one = World::new(Setting::plain(3)).unwrap();
    advance(&mut one, 60);
    let mut two = one.clone();
    assert_eq!(one, two);
    assert_eq!(hash(&one), hash(&two));
    advance(&mut one, 800);
    assert_ne!(one, two);
    assert_ne!(hash(&one), hash(&two));
    advance(&mut two, 800);
    assert_eq!(one, two);
    assert_eq!(hash(&one), hash(&two));
    let doing = |id: &ServerId| one.host(*id).server.as_ref().map(|server| server.doing());
    let all: Vec<_> = one.servers().iter().map(doing).collect();
    assert!(one.leader().is_some(), "no leader after {} us: {all:?}", one.now().0);
}

#[test]
fn what_is_enabled_can_happen() {
    struct Check(u32);
    impl Onlooker for Check {
        fn after(&mut self, done: &Done<'_>) -> bool {
            if done.place.is_multiple_of(50) {
                let mut possible = Vec::new();
                done.world.enabled(&mut possible);
                for step in &possible {
                    assert_eq!(done.world.can(done.world.now(), step), Ok(()), "{step}");
                    let line = step.to_string();
                    assert_eq!(line.parse().as_ref(), Ok(step), "{line}");
                    self.0 += 1;
                }
            }
            true
        }
    }
    let mut check = Check(0);
    for seed in 0..10 {
        run(&Plan::draw(seed), seed, &mut check).unwrap();
    }
    assert!(check.0 > 1000, "{}", check.0);
}

/// More disks are lost than the ensemble can do without: nothing has to get well again, but
/// nothing false may be said.
#[test]
fn beyond_the_budget_only_safety_must_hold() {
    let mut down = 0;
    for seed in 0..20 {
        let mut plan = Plan::quiet(3);
        plan.faults = vec![(Family::Wipe, 3000), (Family::Rot, 3000), (Family::Power, 6000)];
        plan.disks_lost = 3;
        plan.calm_ms = 30_000;
        plan.setting.clients = 3;
        assert!(!plan.must_recover());
        let report = run(&plan, seed, &mut Nobody).unwrap();
        assert_eq!(report.end, End::Held, "seed {seed}");
        // Without a quorum of disks it never served again.
        down += u32::from(report.figures.time_us >= 89_000_000);
    }
    assert!(down > 0, "the budget was never exceeded");
}

/// And if it has to get well and cannot, the report says what is stuck.
#[test]
fn what_is_stuck_is_named() {
    let mut plan = Plan::quiet(3);
    plan.faults = vec![(Family::Wipe, 2000), (Family::Cut, 1000)];
    plan.disks_lost = 1;
    plan.calm_ms = 1;
    let ends: Vec<End> = (0..40).map(|seed| run(&plan, seed, &mut Nobody).unwrap().end).collect();
    let stuck = ends.iter().find_map(|end| match end {
        End::Stuck(what) => Some(what.clone()),
        End::Diverged { .. } | End::Held | End::Panicked(_) | End::Violated(_) => None,
    });
    let stuck = stuck.expect("a millisecond is too short for somebody");
    assert!(
        stuck.contains("server") || stuck.contains("client") || stuck.contains("lead"),
        "{stuck}"
    );
}
