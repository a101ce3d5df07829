//! Jobs side by side, whose runs are taken in in order: what comes out does not depend on how many
//! there are, nor on which was faster.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use zoolab_sim::drive::{self, End, Nobody, Onlooker};
use zoolab_sim::pairs::Pairs;
use zoolab_sim::shrink::{Fingerprint, fingerprint};
use zoolab_sim::step;
use zoolab_sim::swarm::Plan;
use zoolab_sim::trace::{Ending, Header, Trace};

use super::campaign::{Campaign, Item};
use super::coverage::Coverage;
use super::group::Failure;
use super::results::{Ran, Results, Why};
use super::{Args, WITHOUT_END};
use crate::bench::clock;
use crate::run;
use crate::say::say;

/// How often what there is is written down.
const SAVED_EVERY: Duration = Duration::from_secs(3);

/// See the [module](self).
pub(super) struct Crew<'a> {
    pub(super) args: &'a Args,
    pub(super) campaign: &'a Campaign,
    pub(super) jobs: usize,
    pub(super) start: Instant,
    /// Somebody has seen enough.
    pub(super) enough: &'a AtomicBool,
}

/// What jobs share.
struct Shared<'a> {
    next: AtomicU64,
    over: AtomicBool,
    taking: Mutex<Taking<'a>>,
    bar: ProgressBar,
}

struct Taking<'a> {
    results: &'a mut Results,
    /// Runs that are done while one before them is not.
    early: BTreeMap<u64, Ran>,
    trouble: Option<String>,
    saved: Instant,
}

const UNPOISONED: &str = "nobody panics while holding it";

impl Crew<'_> {
    /// Runs what is left, as long as it may.
    pub(super) fn work(&self, results: &mut Results) -> Result<(), String> {
        if results.is_over() {
            return Ok(());
        }
        let bar = bar(results, self.args.seeds().end >= WITHOUT_END);
        let before = results.next;
        let shared = Shared {
            next: AtomicU64::new(before),
            over: AtomicBool::new(false),
            bar,
            taking: Mutex::new(Taking {
                results,
                early: BTreeMap::new(),
                trouble: None,
                saved: self.start,
            }),
        };
        std::thread::scope(|scope| {
            for _ in 0..self.jobs {
                scope.spawn(|| self.job(&shared, before));
            }
        });
        shared.bar.finish_and_clear();
        let Taking { results, trouble, .. } = shared.taking.into_inner().expect(UNPOISONED);
        if !results.is_over() {
            results.why = if self.late() { Why::Time } else { Why::Interrupted };
        }
        match trouble {
            Some(trouble) => Err(trouble),
            None => self.save(results),
        }
    }

    fn late(&self) -> bool {
        self.args.time.is_some_and(|most| self.start.elapsed() >= most)
    }

    fn save(&self, results: &Results) -> Result<(), String> {
        self.args.out.as_ref().map_or(Ok(()), |dir| results.write(dir))
    }

    fn job(&self, shared: &Shared<'_>, before: u64) {
        let of = shared.taking.lock().expect(UNPOISONED).results.of;
        loop {
            let enough = self.enough.load(Ordering::Relaxed) || self.late();
            if enough || shared.over.load(Ordering::Relaxed) {
                return;
            }
            // Whatever is begun is finished, so that no place is left out.
            let n = shared.next.fetch_add(1, Ordering::Relaxed);
            if n >= of {
                return;
            }
            let place = self.args.shard.place(n);
            let ran =
                self.campaign.item(&self.args.kind, place).and_then(|item| once(&item, place));
            let mut taking = shared.taking.lock().expect(UNPOISONED);
            match ran {
                Ok(ran) => {
                    taking.early.insert(n, ran);
                    self.take(shared, &mut taking, before);
                }
                Err(trouble) => taking.trouble = Some(trouble),
            }
            if taking.trouble.is_some() || taking.results.is_over() {
                shared.over.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Takes in what is next, if it is there.
    fn take(&self, shared: &Shared<'_>, taking: &mut Taking<'_>, before: u64) {
        while !taking.results.is_over()
            && let Some(ran) = taking.early.remove(&taking.results.next)
        {
            if let Some((_, failure)) = &ran.failure {
                let Failure { what, again, .. } = failure;
                shared.bar.suspend(|| say!("{again}  # {what}"));
            }
            taking.results.take(ran);
            shared.bar.inc(1);
        }
        let results = &taking.results;
        let failed: u64 = results.groups.iter().map(|group| group.count).sum();
        let seconds = self.start.elapsed().as_secs_f64().max(1e-9);
        let rate = (results.next - before) as f64 / seconds;
        let coverage = results.coverage.short();
        shared.bar.set_message(format!("{rate:.0}/s, {failed} failed, {coverage}"));
        if self.args.out.is_some() && taking.saved.elapsed() >= SAVED_EVERY {
            taking.trouble = self.save(taking.results).err();
            taking.saved = clock::now();
        }
    }
}

fn bar(results: &Results, without_end: bool) -> ProgressBar {
    let (bar, template) = if without_end {
        (ProgressBar::new_spinner(), "{spinner} {pos} seeds, {msg}")
    } else {
        (ProgressBar::new(results.of), "{wide_bar} {pos}/{len} seeds, {msg}, {eta} left")
    };
    let style = ProgressStyle::with_template(template);
    bar.set_style(style.expect("the template is one"));
    bar.set_position(results.next);
    bar
}

/// One run, or two of them.
fn once(item: &Item, place: u64) -> Result<Ran, String> {
    let Item { seed, plan, name, again, twice } = item;
    let mut pairs = Pairs::default();
    let first = drive::run(plan, *seed, &mut pairs).map_err(|error| error.to_string())?;
    let coverage = Coverage::of(&first.figures, pairs.named());
    let failure = |what: String, again: &String| {
        let (name, again) = (name.clone(), again.clone());
        Failure { place, name, what, again }
    };
    if *twice {
        let second = drive::run(plan, *seed, &mut Nobody).map_err(|error| error.to_string())?;
        if (second.hash, &second.end) != (first.hash, &first.end) {
            let where_ = run::differs(plan, *seed)?;
            let why = where_.unwrap_or_else(|| "two runs differ, and two more did not".into());
            let what = "not deterministic".to_owned();
            let sentence = format!("{what}: {why}");
            let same = Fingerprint { what, roles: Vec::new(), shape: String::new() };
            let again = format!("{again} --check-determinism");
            let failed = Some((same, failure(sentence, &again)));
            let (figures, twice) = (first.figures, true);
            return Ok(Ran { figures, coverage, twice, failure: failed });
        }
    }
    let failed = if first.end == End::Held {
        None
    } else {
        let trace = record(plan, *seed)?;
        let same = fingerprint(&trace)
            .map_err(|why| format!("{again}: it fails, and its steps do not: {why}"))?;
        Some((same, failure(first.end.to_string(), again)))
    };
    Ok(Ran { figures: first.figures, coverage, twice: *twice, failure: failed })
}

/// Remembers all steps.
#[derive(Default)]
struct Steps(Vec<(step::Instant, step::Step)>);

impl Onlooker for Steps {
    fn before(&mut self, _: u64, at: step::Instant, step: &step::Step) {
        self.0.push((at, step.clone()));
    }
}

/// Runs it once more, to have its trace.
pub(super) fn record(plan: &Plan, seed: u64) -> Result<Trace, String> {
    let mut steps = Steps::default();
    let report = drive::run(plan, seed, &mut steps).map_err(|error| error.to_string())?;
    let (header, ending) = (Header::new(seed, plan.clone()), Some(Ending::of(&report)));
    Ok(Trace { header, steps: steps.0, ending })
}
