//! One server against the model: whatever clients, clocks and disks do, they see the same.

mod determinism;
mod encode;
mod expected;
mod generate;
mod lab;
mod places;
mod reached;
mod scripts;
mod spoilt;
mod wire;

use std::cell::RefCell;
use std::sync::atomic::Ordering;

use proptest::test_runner::{Config, RngSeed, TestError, TestRunner};
use proptest_state_machine::{ReferenceStateMachine, Sequential};

use expected::{Spoil, Step};
use lab::{Honest, Lab, Look};
use reached::Reached;

/// The same cases in every run; `PROPTEST_CASES` and `PROPTEST_RNG_SEED` make a hunt of it.
fn config(cases: u32) -> Config {
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = cases;
    }
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = RngSeed::Fixed(1);
    }
    config
}

/// Runs a server beside what is expected of it, which may be spoilt, and hands each run that held
/// to `then`. A failure comes shrunk, one step a line.
fn run(config: Config, wrong: Option<(Spoil, Look)>, then: impl Fn(Lab)) -> Result<(), Failure> {
    let (spoil, look) =
        (wrong.map(|(spoil, _)| spoil), wrong.map_or(Look::Inside, |(_, look)| look));
    let strategy = Sequential::new(
        (1..150).into(),
        move || generate::beginning(spoil),
        Honest::preconditions,
        Honest::transitions,
        Honest::apply,
    );
    let result = TestRunner::new(config).run(&strategy, |(mut expected, steps, seen)| {
        let mut lab = Lab::new(&expected);
        for step in &steps {
            if let Some(seen) = &seen {
                seen.fetch_add(1, Ordering::SeqCst);
            }
            expected.step(step);
            lab.check(step, &expected, look);
        }
        then(lab);
        Ok(())
    });
    match result {
        Ok(()) => Ok(()),
        Err(TestError::Abort(reason)) => panic!("{reason}"),
        Err(TestError::Fail(reason, (beginning, steps, _))) => {
            Err(Failure { reason: reason.to_string(), settings: format!("{beginning:?}"), steps })
        }
    }
}

/// A run in which a server did not do what is expected of it.
struct Failure {
    reason: String,
    settings: String,
    steps: Vec<Step>,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}\nwith {}", self.reason, self.settings)?;
        self.steps.iter().try_for_each(|step| writeln!(f, "  {step:?}"))
    }
}

#[test]
fn a_server_says_what_the_model_says() {
    let reached = RefCell::new(Reached::default());
    let result = run(config(2000), None, |lab| reached.borrow_mut().note(&lab.outputs));
    if let Err(failure) = result {
        panic!("{failure}");
    }
    reached.borrow().assert_all();
}
