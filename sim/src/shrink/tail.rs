//! Every way to go on from a moment near the end, as long as it is shorter.

use std::collections::{BTreeSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use zoolab_core::Timer;

use super::fingerprint::{Fingerprint, Roles};
use super::passes::Shrinker;
use super::wish::Wish;
use crate::checker::Checkers;
use crate::drive::{End, caught};
use crate::setting::Setting;
use crate::step::{Instant, Step};
use crate::world::{Outcome, World};

/// How many states are looked at from one moment.
const STATES_MOST: usize = 3000;
/// How many steps count as much as one run.
const STEPS_PER_RUN: usize = 100;

/// A way from the moment.
#[derive(Clone)]
struct Way {
    world: World,
    checkers: Checkers,
    wishes: Vec<Wish>,
}

impl Shrinker<'_> {
    /// Looks for a shorter way from each moment, the last ones first, until there is too much to
    /// look at.
    pub(super) fn tail(&mut self) {
        self.pass = "shorter ends";
        let mut back = 2;
        while back <= self.best.wishes.len() && !self.over {
            let setting = self.best.plan.setting.clone();
            let (shorter, all) = self.shorter(&setting, self.best.wishes.len() - back);
            match shorter {
                Some(wishes) if self.accept(&setting, &wishes) => back = 2,
                _ if !all => return,
                _ => back += 1,
            }
        }
    }

    /// A shorter way from after so many steps, if there is one; and whether all were looked at.
    fn shorter(&mut self, setting: &Setting, from: usize) -> (Option<Vec<Wish>>, bool) {
        let (before, rest) = self.best.wishes.split_at(from);
        let (before, rest) = (before.to_vec(), rest.to_vec());
        let Some(mut way) = begin(setting, &before) else { return (None, true) };
        way.wishes.clear();
        let mut seen = BTreeSet::from([print(&way)]);
        let mut ways = VecDeque::from([way]);
        let mut outcome = Outcome::default();
        let mut count = 0;
        while let Some(way) = ways.pop_front() {
            if way.wishes.len() + 1 >= rest.len() {
                return (None, true);
            }
            let last = way.wishes.len() + 2 >= rest.len();
            let mut roles = Roles::default();
            roles.look(&way.world);
            for (at, step) in moves(&way.world, &rest) {
                count += 1;
                if count % STEPS_PER_RUN == 0 && !self.more() {
                    return (None, false);
                }
                let wish = Wish::of(&way.world, at, &step);
                let mut next = way.clone();
                outcome.seen.clear();
                outcome.fresh.clear();
                let done = caught(|| next.world.step(at, &step, &mut outcome));
                if done.is_err() {
                    continue;
                }
                next.wishes.push(wish);
                if let Err(violation) = next.checkers.observe(&outcome.seen) {
                    let end = End::Violated(violation);
                    if Fingerprint::of(&end, &roles).as_ref() == Some(&self.wanted) {
                        return (Some([before, next.wishes].concat()), true);
                    }
                    continue;
                }
                if !last && seen.insert(print(&next)) {
                    if seen.len() > STATES_MOST {
                        return (None, false);
                    }
                    ways.push_back(next);
                }
            }
        }
        (None, true)
    }
}

/// The world after these.
fn begin(setting: &Setting, wishes: &[Wish]) -> Option<Way> {
    let mut world = World::new(setting.clone()).ok()?;
    let mut checkers = Checkers::new(Arc::clone(world.ensemble()), &setting.promises);
    let mut outcome = Outcome::default();
    for wish in wishes {
        let (at, step) = wish.now(&world)?;
        outcome.seen.clear();
        outcome.fresh.clear();
        world.step(at, &step, &mut outcome);
        checkers.observe(&outcome.seen).ok()?;
    }
    Some(Way { world, checkers, wishes: Vec::new() })
}

fn print(way: &Way) -> u64 {
    let mut hasher = DefaultHasher::new();
    way.world.hash(&mut hasher);
    way.checkers.hash(&mut hasher);
    hasher.finish()
}

/// What may happen next: what is possible by itself, and what was wanted in the rest.
fn moves(world: &World, rest: &[Wish]) -> Vec<(Instant, Step)> {
    let now = world.now();
    let mut steps = Vec::new();
    world.enabled(&mut steps);
    let mut moves: Vec<(Instant, Step)> = steps.into_iter().map(|step| (now, step)).collect();
    for server in world.servers().iter().copied() {
        for timer in Timer::ALL {
            let wish = Wish::new(now, Step::Timeout { server, timer });
            moves.extend(wish.now(world));
        }
    }
    moves.extend(rest.iter().filter_map(|wish| wish.now(world)));
    let mut one_each: Vec<(Instant, Step)> = Vec::new();
    for step in moves {
        if !one_each.contains(&step) {
            one_each.push(step);
        }
    }
    one_each
}
