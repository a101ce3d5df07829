//! A system drawn from a seed: a few variables, and rules that look at some and set others.
//!
//! It has cycles, dead ends, states with ways of different length to them, and steps that have
//! nothing to do with each other: everything sleep sets could stumble over. Small enough to be
//! searched by a few lines that share nothing with the engine.

use std::collections::{BTreeMap, VecDeque};

use zoolab_sim::luck::Luck;
use zoolab_sim::rng::Stream;
use zoolab_sim::search::{Arrival, Awake, Bits, Expansion, Space, Verdict, print_of};

/// Each variable has one of so many values.
const VALUES: u64 = 3;

/// Happens where all of `needs` hold, and makes all of `sets` so; pairs of variable and value.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) needs: Vec<(usize, u64)>,
    pub(crate) sets: Vec<(usize, u64)>,
}

impl Rule {
    fn drawn(chance: &mut Stream, variables: u64) -> Self {
        let mut pairs = |most| {
            let count = chance.between(1, most);
            let mut pair = || (chance.below(variables) as usize, chance.below(VALUES));
            (0..count).map(|_| pair()).collect()
        };
        Self { needs: pairs(2), sets: pairs(2) }
    }

    fn can_happen(&self, state: u64) -> bool {
        self.needs.iter().all(|(variable, value)| digit(state, *variable) == *value)
    }

    pub(crate) fn after(&self, state: u64) -> u64 {
        self.sets.iter().fold(state, |state, (variable, value)| {
            let place = VALUES.pow(*variable as u32);
            state - digit(state, *variable) * place + value * place
        })
    }

    fn disturbs(&self, other: &Self) -> bool {
        let touched = |variable| other.needs.iter().chain(&other.sets).any(|(v, _)| v == variable);
        self.sets.iter().any(|(variable, _)| touched(variable))
    }
}

fn digit(state: u64, variable: usize) -> u64 {
    state / VALUES.pow(variable as u32) % VALUES
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub(crate) struct Tangle {
    seed: u64,
    rules: Vec<Rule>,
    /// By rule: the rules independent of it.
    independent: Vec<Bits<1>>,
    /// Each state has an order of its own in which it takes its steps.
    disorder: bool,
    /// The state that must not be.
    pub(crate) forbidden: Option<u64>,
}

impl Tangle {
    pub(crate) fn drawn(seed: u64) -> Self {
        let mut chance = Stream::new(seed, "tangle");
        let variables = chance.between(3, 8);
        let count = chance.between(variables, 30);
        let rules: Vec<_> = (0..count).map(|_| Rule::drawn(&mut chance, variables)).collect();
        let apart = |rule: &Rule| {
            let mut apart = Bits::default();
            for (number, other) in rules.iter().enumerate() {
                if !rule.disturbs(other) && !other.disturbs(rule) {
                    apart.insert(number as u16);
                }
            }
            apart
        };
        let independent = rules.iter().map(apart).collect();
        Self { seed, rules, independent, disorder: chance.one_in(2), forbidden: None }
    }

    pub(crate) fn enabled(&self, state: u64) -> Vec<u16> {
        let can = |rule: &u16| self.rules[usize::from(*rule)].can_happen(state);
        let mut enabled: Vec<u16> = (0..self.rules.len() as u16).filter(can).collect();
        if self.disorder {
            enabled.sort_by_key(|rule| Luck::new(state * 64 + u64::from(*rule)).next());
        }
        enabled
    }

    /// Where a rule that can happen leads.
    pub(crate) fn after(&self, state: u64, rule: u16) -> u64 {
        self.rules[usize::from(rule)].after(state)
    }

    /// The distance of every state, found the plain way.
    pub(crate) fn distances(&self) -> BTreeMap<u64, usize> {
        let mut distances = BTreeMap::from([(0, 0)]);
        let mut queue = VecDeque::from([0]);
        while let Some(state) = queue.pop_front() {
            let distance = distances[&state] + 1;
            for rule in self.enabled(state) {
                let after = self.rules[usize::from(rule)].after(state);
                distances.entry(after).or_insert_with(|| {
                    queue.push_back(after);
                    distance
                });
            }
        }
        distances
    }

    /// Where these rules lead; none if one of them cannot happen.
    pub(crate) fn walk(&self, path: &[u16]) -> Option<u64> {
        path.iter().try_fold(0, |state, rule| {
            let rule = &self.rules[usize::from(*rule)];
            rule.can_happen(state).then(|| rule.after(state))
        })
    }

    fn arrival(&self, step: u16, state: u64, asleep: Bits<1>) -> Arrival<Self> {
        let verdict = if self.forbidden == Some(state) { Verdict::Broken } else { Verdict::Fine };
        let goal = state % 101 == 100;
        Arrival { step, print: print_of([state, self.seed]), state, asleep, verdict, goal }
    }
}

impl Space for Tangle {
    type State = u64;
    type Steps = Bits<1>;
    type Worker = u64;

    fn identity(&self) -> String {
        format!("tangle {}", self.seed)
    }

    fn worker(&self) -> u64 {
        0
    }

    fn initial(&self, _: &mut u64) -> Arrival<Self> {
        self.arrival(0, 0, Bits::default())
    }

    fn expand(
        &self,
        taken: &mut u64,
        state: &u64,
        awake: &Awake<Bits<1>>,
        out: &mut Vec<Arrival<Self>>,
    ) -> Expansion {
        let mut asleep = awake.asleep;
        let enabled = self.enabled(*state);
        for step in &enabled {
            if asleep.has(*step) {
                continue;
            }
            let rule = usize::from(*step);
            let mut theirs = asleep;
            theirs.words_mut()[0] &= self.independent[rule].words()[0];
            out.push(self.arrival(*step, self.rules[rule].after(*state), theirs));
            if awake.reduce {
                asleep.insert(*step);
            }
            *taken += 1;
        }
        Expansion { enabled: enabled.len() as u32 }
    }

    /// Rules with an even number are fair.
    fn fair(&self, _: &mut u64, _: &u64, step: u16) -> Option<u32> {
        step.is_multiple_of(2).then_some(u32::from(step))
    }
}
