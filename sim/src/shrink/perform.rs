//! One candidate, performed.

use std::sync::Arc;

use super::fingerprint::{Fingerprint, Roles};
use super::wish::Wish;
use crate::checker::Checkers;
use crate::drive::{Done, Nobody, Onlooker, Report, drive};
use crate::seen::Seen;
use crate::setting::{Setting, SettingError};
use crate::step::{Instant, Step};
use crate::strategy::replay::Replay;
use crate::strategy::{Choice, Strategy};
use crate::world::{Pending, World};

/// Takes what is wanted, one after the other; what cannot happen is left out.
struct Lenient<'a> {
    wishes: &'a [Wish],
    next: usize,
    /// The places of those that were taken.
    taken: Vec<usize>,
    steps: Vec<(Instant, Step)>,
    roles: Roles,
}

impl Strategy for Lenient<'_> {
    fn choose(&mut self, world: &World) -> Choice {
        self.roles.look(world);
        while let Some(wish) = self.wishes.get(self.next) {
            self.next += 1;
            if let Some((at, step)) = wish.now(world) {
                self.taken.push(self.next - 1);
                self.steps.push((at, step.clone()));
                return Choice::Take(at, step);
            }
        }
        Choice::Stop
    }

    fn learn(&mut self, _: &World, _: &[Pending]) {}
}

/// What came of wishes.
pub(super) struct Performed {
    /// The steps that happened.
    pub(super) steps: Vec<(Instant, Step)>,
    /// What each of them was wanted by.
    pub(super) wishes: Vec<Wish>,
    pub(super) fingerprint: Option<Fingerprint>,
    pub(super) report: Report,
    /// The world as it was left.
    pub(super) world: World,
}

/// Performs wishes in a world of this setting, as far as they can be.
pub(super) fn perform(setting: &Setting, wishes: &[Wish]) -> Result<Performed, SettingError> {
    let mut world = World::new(setting.clone())?;
    let mut checkers = Checkers::new(Arc::clone(world.ensemble()), &setting.promises);
    let (taken, steps) = (Vec::with_capacity(wishes.len()), Vec::with_capacity(wishes.len()));
    let mut lenient = Lenient { wishes, next: 0, taken, steps, roles: Roles::default() };
    let report = drive(&mut world, &mut lenient, &mut checkers, &mut Nobody);
    let fingerprint = Fingerprint::of(&report.end, &lenient.roles);
    let Lenient { taken, steps, .. } = lenient;
    let wishes = taken.into_iter().map(|place| wishes[place].clone()).collect();
    Ok(Performed { steps, wishes, fingerprint, report, world })
}

/// Follows steps to the letter, and notes what each of them means.
struct Reading<'a> {
    replay: Replay<'a>,
    wishes: Vec<Wish>,
    roles: Roles,
}

impl Strategy for Reading<'_> {
    fn choose(&mut self, world: &World) -> Choice {
        self.roles.look(world);
        let choice = self.replay.choose(world);
        if let Choice::Take(at, step) = &choice {
            self.wishes.push(Wish::of(world, *at, step));
        }
        choice
    }

    fn learn(&mut self, _: &World, _: &[Pending]) {}
}

/// What happened at each step.
#[derive(Default)]
struct All(Vec<Vec<Seen>>);

impl Onlooker for All {
    fn after(&mut self, done: &Done<'_>) -> bool {
        self.0.push(done.seen.to_vec());
        true
    }
}

/// What came of steps performed to the letter.
pub(super) struct Read {
    pub(super) wishes: Vec<Wish>,
    pub(super) fingerprint: Option<Fingerprint>,
    pub(super) report: Report,
    /// What each step but the last made visible, if that was asked for.
    pub(super) seen: Vec<Vec<Seen>>,
}

/// Performs steps to the letter.
pub(super) fn read(
    setting: &Setting,
    steps: &[(Instant, Step)],
    look: bool,
) -> Result<Read, SettingError> {
    let mut world = World::new(setting.clone())?;
    let mut checkers = Checkers::new(Arc::clone(world.ensemble()), &setting.promises);
    let mut reading =
        Reading { replay: Replay::new(steps), wishes: Vec::new(), roles: Roles::default() };
    let mut all = All::default();
    let onlooker: &mut dyn Onlooker = if look { &mut all } else { &mut Nobody };
    let report = drive(&mut world, &mut reading, &mut checkers, onlooker);
    let fingerprint = Fingerprint::of(&report.end, &reading.roles);
    Ok(Read { wishes: reading.wishes, fingerprint, report, seen: all.0 })
}
