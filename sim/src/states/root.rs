//! Where a search begins: everybody has just started, with nothing; or everybody follows a leader;
//! or a transaction is on its way already; or a run has come so far.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use zoolab_core::{Server, ServerId, Timer, Zxid};

use super::codes::FOREIGN;
use crate::checker::{Checkers, Violation};
use crate::setting::{Setting, SettingError};
use crate::step::{Instant, Step};
use crate::world::{Bounds, Budget, Cannot, Outcome, World};

/// How far everybody is where a search begins.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Begin {
    /// All servers have started, and look for a leader.
    Fresh,
    /// Everybody follows a leader, and nothing is under way.
    Led,
    /// Everybody follows a leader and has applied its first transaction; the second one is
    /// proposed and on its way. These are the first two of the writes that may be.
    Proposed,
}

/// A world in a search, what is known of it, and how it came to be.
#[derive(Clone, Debug)]
pub struct Root {
    /// The world.
    pub world: World,
    /// What the promises are judged by.
    pub checkers: Checkers,
    /// The steps from the beginning of the world, each with its time.
    pub steps: Vec<(Instant, Step)>,
}

/// Why a search cannot begin there.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum NoRoot {
    /// Two servers hold more connections with each other than a search can begin with.
    Connections {
        /// One of them.
        one: ServerId,
        /// The other.
        other: ServerId,
        /// How many.
        count: usize,
    },
    /// A step on the way breaks a promise.
    Broken {
        /// Which step, counted from one.
        count: usize,
        /// What it was.
        step: Step,
        /// The promise.
        violation: Box<Violation>,
    },
    /// A step on the way cannot happen.
    DoesNotFit {
        /// Which step, counted from one.
        count: usize,
        /// What it was.
        step: Step,
        /// Why it cannot.
        why: Cannot,
    },
    /// Nobody finds a leader.
    Leaderless {
        /// In so many steps.
        steps: usize,
    },
    /// The setting cannot be.
    Setting(SettingError),
}

impl fmt::Display for NoRoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken { count, step, violation } => {
                write!(f, "step {count}: {step}: broken promise {violation}")
            }
            Self::Connections { one, other, count } => write!(
                f,
                "servers {one} and {other} hold {count} connections there, a search can begin \
                 with {FOREIGN}"
            ),
            Self::DoesNotFit { count, step, why } => write!(f, "step {count}: {step}: {why}"),
            Self::Leaderless { steps } => write!(f, "nobody found a leader in {steps} steps"),
            Self::Setting(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for NoRoot {}

impl Root {
    /// The world of this setting, so far on.
    ///
    /// # Errors
    /// If the setting cannot be, or what comes before breaks a promise.
    ///
    /// # Panics
    /// If time goes on in it.
    pub fn begin(begin: Begin, setting: Setting) -> Result<Self, NoRoot> {
        let (epochs, writes) = match begin {
            Begin::Fresh => (0, 0),
            Begin::Led => (1, 0),
            Begin::Proposed => (1, 2),
        };
        let bounds = setting.search.unwrap_or_default();
        for (name, value, least) in
            [("search, epochs", bounds.epochs, epochs), ("search, writes", bounds.writes, writes)]
        {
            if value < least {
                let (value, least, most) = (value.into(), least.into(), u8::MAX.into());
                return Err(NoRoot::Setting(SettingError::Bounds { name, value, least, most }));
            }
        }
        match begin {
            Begin::Fresh => Self::fresh(setting),
            Begin::Led => Self::led(setting),
            Begin::Proposed => Self::proposed(setting),
        }
    }

    /// All servers of this setting have started and look for a leader.
    ///
    /// # Errors
    /// If the setting cannot be, or a fresh ensemble breaks a promise.
    ///
    /// # Panics
    /// If time goes on in it.
    pub fn fresh(setting: Setting) -> Result<Self, NoRoot> {
        assert!(setting.search.is_some(), "time stands still in a search");
        let mut root = Self::empty(setting)?;
        for server in root.world.servers().to_vec() {
            root.follow(Instant(0), &Step::Restart { server })?;
        }
        Ok(root)
    }

    /// Everybody follows a leader, and nothing is under way: what a fresh ensemble comes to if the
    /// first thing that may happen does, again and again.
    ///
    /// # Errors
    /// As [`fresh`](Self::fresh), or if nobody finds a leader in a long time.
    ///
    /// # Panics
    /// If time goes on in it.
    pub fn led(setting: Setting) -> Result<Self, NoRoot> {
        /// More steps than any healthy ensemble needs.
        const STEPS_MOST: usize = 10_000;
        let mut root = Self::fresh(setting)?;
        let mut seen = VecDeque::new();
        while !root.is_led() {
            // Timers only when nothing else is left, or an election would be over too early; and
            // those first that lead on rather than back, each in its turn.
            let steps = root.choices();
            let free = steps.iter().filter(|step| root.world.price(step).is_none());
            let next = free.min_by_key(|step| match timer(step) {
                Some(Timer::Redial | Timer::Settle) => (true, false, seen.contains(*step)),
                Some(_) => (true, true, seen.contains(*step)),
                None => (false, false, false),
            });
            let Some(step) = next.filter(|_| root.steps.len() < STEPS_MOST) else {
                return Err(NoRoot::Leaderless { steps: root.steps.len() });
            };
            if timer(step).is_some() {
                seen.push_back(step.clone());
                if seen.len() >= root.world.servers().len() {
                    seen.pop_front();
                }
            }
            let step = step.clone();
            root.follow(Instant(0), &step)?;
        }
        Ok(root)
    }

    /// Nobody has started yet.
    fn empty(setting: Setting) -> Result<Self, NoRoot> {
        let world = World::new(setting).map_err(NoRoot::Setting)?;
        let checkers = Checkers::new(Arc::clone(world.ensemble()), &world.setting().promises);
        Ok(Self { world, checkers, steps: Vec::new() })
    }

    /// Everybody follows a leader and has its first transaction; the second is proposed.
    ///
    /// # Errors
    /// As [`led`](Self::led).
    ///
    /// # Panics
    /// If time goes on in it, and if there are no two writes.
    pub fn proposed(setting: Setting) -> Result<Self, NoRoot> {
        let mut root = Self::led(setting)?;
        root.write()?;
        let applied = |root: &Self, id: &ServerId| {
            let server = root.world.host(*id).server.as_ref();
            server.map_or(Zxid::ZERO, Server::zxid_last).counter() == 1
        };
        while !root.world.servers().iter().all(|id| applied(&root, id)) || !root.is_led() {
            let step = root.calm().expect("what is proposed can be committed");
            root.follow(Instant(0), &step)?;
        }
        root.write()?;
        Ok(root)
    }

    /// Its leader proposes something.
    fn write(&mut self) -> Result<(), NoRoot> {
        let leader = self.world.leader().expect("somebody leads");
        let mut steps = Vec::new();
        self.world.choices(leader, &mut steps);
        let write = steps.into_iter().find(|step| matches!(step, Step::Write { .. }));
        self.follow(Instant(0), &write.expect("whoever leads may write"))
    }

    /// The first thing that may happen by itself while nobody loses patience.
    fn calm(&self) -> Option<Step> {
        let calm =
            |step: &Step| self.world.price(step).is_none() && !matches!(step, Step::Timeout { .. });
        self.choices().into_iter().find(calm)
    }

    fn choices(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        for server in self.world.servers() {
            self.world.choices(*server, &mut steps);
        }
        self.world.choices_together(&mut steps);
        steps
    }

    fn is_led(&self) -> bool {
        let all = self.world.servers();
        let server = |id| self.world.host(id).server.as_ref();
        let Some(leader) = self.world.leader() else { return false };
        let idle = |id| self.world.host(id).disk.pending().is_none();
        self.world.links().all(|(_, link)| link.lanes.iter().all(|lane| lane.messages.is_empty()))
            && all.iter().all(|id| {
                idle(*id)
                    && server(*id).is_some_and(Server::is_serving)
                    && server(*id).and_then(Server::following) == Some(leader)
            })
    }

    /// Where a run has come by these steps, from where time stands still within these bounds.
    ///
    /// What stood still goes on before that, what was cut is healed, and full disks get room: in a
    /// search nobody would ever see to it, and it has all delays that those could cause.
    ///
    /// # Errors
    /// If a step does not fit, or breaks a promise.
    pub fn of_run(
        setting: Setting,
        steps: &[(Instant, Step)],
        bounds: Bounds,
    ) -> Result<Self, NoRoot> {
        let mut root = Self::empty(setting)?;
        for (at, step) in steps {
            root.follow(*at, step)?;
        }
        let now = root.world.now();
        for step in root.mends().into_iter().chain([Step::Free(bounds)]) {
            root.follow(now, &step)?;
        }
        root.world.put_budget(Budget::of(bounds));
        for place in 0..root.world.pairs_len() {
            let pair = root.world.pair_at(place);
            let (count, [one, other]) = (pair.links.len(), pair.ends);
            if count > FOREIGN {
                return Err(NoRoot::Connections { one, other, count });
            }
        }
        Ok(root)
    }

    /// What has to be mended before time stands still.
    fn mends(&self) -> Vec<Step> {
        let heal = |(from, to)| Step::Heal { from, to };
        let mut steps: Vec<Step> = self.world.cuts().map(heal).collect();
        for server in self.world.servers().iter().copied() {
            let host = self.world.host(server);
            if host.paused {
                steps.push(Step::Resume { server });
            }
            if host.disk.is_full() {
                steps.push(Step::Full { server, full: false });
            }
        }
        steps
    }

    /// One step further.
    ///
    /// # Errors
    /// If it cannot happen, or breaks a promise.
    pub fn follow(&mut self, at: Instant, step: &Step) -> Result<(), NoRoot> {
        let (at, count) = (at.max(self.world.now()), self.steps.len() + 1);
        let fits = self.world.can(at, step);
        fits.map_err(|why| NoRoot::DoesNotFit { count, step: step.clone(), why })?;
        let mut outcome = Outcome::default();
        self.world.step(at, step, &mut outcome);
        self.checkers.observe(&outcome.seen).map_err(|violation| {
            let violation = Box::new(violation);
            NoRoot::Broken { count, step: step.clone(), violation }
        })?;
        self.steps.push((at, step.clone()));
        Ok(())
    }
}

/// The timer that runs out, if one does.
fn timer(step: &Step) -> Option<Timer> {
    if let Step::Timeout { timer, .. } = step { Some(*timer) } else { None }
}
