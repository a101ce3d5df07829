//! Searches that begin in the midst of a run: what is found there is what a world would do.

use std::collections::BTreeSet;
use std::sync::Arc;

use zoolab_sim::checker::Checkers;
use zoolab_sim::drive::{Done, Onlooker, run};
use zoolab_sim::rng::Stream;
use zoolab_sim::search::{Awake, Space, Verdict};
use zoolab_sim::states::{Ensemble, Root, sets_of, words_of};
use zoolab_sim::step::{Instant, Step};
use zoolab_sim::swarm::Plan;
use zoolab_sim::world::{Bounds, Outcome, World};

/// Remembers the first so many steps.
struct First {
    steps: Vec<(Instant, Step)>,
    most: usize,
}

impl Onlooker for First {
    fn after(&mut self, done: &Done<'_>) -> bool {
        self.steps.push((done.at, done.step.clone()));
        self.steps.len() < self.most
    }
}

/// More than one of everything.
const BOUNDS: Bounds = Bounds {
    alike: false,
    same_values: false,
    same_clients: false,
    as_is: false,
    coarse: false,
    quick_disks: false,
    crashes: 2,
    power_losses: 1,
    breaks: 2,
    timeouts: 2,
    writes: 2,
    calls: 2,
    epochs: 255,
    rounds: 255,
};

/// Goes some way through the states of `space`, by chance; the names of the steps, and the print of
/// where they led.
fn stroll<const K: usize, const W: usize>(
    space: &Ensemble<K, W>,
    chance: &mut Stream,
) -> (Vec<u16>, u128) {
    let mut worker = space.worker();
    let mut at = space.initial(&mut worker);
    let (mut names, mut out) = (Vec::new(), Vec::new());
    while names.len() < 60 {
        out.clear();
        space.expand(&mut worker, &at.state, &Awake::default(), &mut out);
        let apart: BTreeSet<u16> = out.iter().map(|arrival| arrival.step).collect();
        assert_eq!(apart.len(), out.len(), "no two steps of a state have the same name");
        out.retain(|arrival| arrival.verdict == Verdict::Fine);
        let Some(next) = chance.pick(&out) else { break };
        at = *next;
        names.push(at.step);
    }
    (names, at.print)
}

/// A world that takes the same steps comes to the same state.
fn holds<const K: usize, const W: usize>(root: Root, setting: &Plan, chance: &mut Stream) {
    let before = root.steps.clone();
    let space = Ensemble::<K, W>::new(root.world, root.checkers);
    for _ in 0..3 {
        let (names, print) = stroll(&space, chance);
        let now = before.last().map_or(Instant(0), |(at, _)| *at);
        let steps = space.steps(&names);
        assert_eq!(steps.len(), names.len());
        let mut world = World::new(setting.setting.clone()).unwrap();
        let mut checkers = Checkers::new(Arc::clone(world.ensemble()), &[]);
        let mut outcome = Outcome::default();
        for (at, step) in before.iter().cloned().chain(steps.into_iter().map(|step| (now, step))) {
            assert_eq!(world.can(at, &step), Ok(()), "{step}");
            outcome.seen.clear();
            world.step(at, &step, &mut outcome);
            checkers.observe(&outcome.seen).unwrap();
        }
        let there = Ensemble::<K, W>::new(world, checkers);
        assert_eq!(there.initial(&mut there.worker()).print, print);
    }
}

#[test]
fn what_is_possible_after_a_run_is_what_a_world_would_do() {
    let mut sizes = [0; 6];
    for seed in 0..60 {
        let plan = Plan::draw(seed);
        let chance = &mut Stream::new(seed, "moments");
        let mut first = First { steps: Vec::new(), most: chance.between(1, 3000) as usize };
        run(&plan, seed, &mut first).unwrap();
        let bounds = Bounds { coarse: seed % 3 == 0, ..BOUNDS };
        let root = Root::of_run(plan.setting.clone(), &first.steps, bounds).unwrap();
        let servers = root.world.servers().len();
        match servers {
            1 => holds::<{ words_of(1) }, { sets_of(1) }>(root, &plan, chance),
            2 => holds::<{ words_of(2) }, { sets_of(2) }>(root, &plan, chance),
            3 => holds::<{ words_of(3) }, { sets_of(3) }>(root, &plan, chance),
            4 => holds::<{ words_of(4) }, { sets_of(4) }>(root, &plan, chance),
            5 => holds::<{ words_of(5) }, { sets_of(5) }>(root, &plan, chance),
            _ => continue,
        }
        sizes[servers] += 1;
    }
    assert!(sizes[1..].iter().all(|seeds| *seeds > 0), "{sizes:?}");
}
