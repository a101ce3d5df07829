//! Who watches a search while it goes on: shows where it is, and may stop it.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use zoolab_sim::search::{PlungeFigures, Progress};

use super::outlook::Outlook;
use crate::bench::clock;
use crate::bench::figures::count;

/// Set when somebody has had enough.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// See the [module](self). It is silent where nobody looks: standard error is no terminal then.
pub(super) struct Watch {
    bar: ProgressBar,
    wall: Instant,
    worked: Duration,
    /// What had been expanded before, in a search that is gone on with.
    before: u64,
}

impl Watch {
    pub(super) fn begin(before: u64) -> Self {
        // Without a handler an interrupt merely shows no summary, and nothing is saved.
        let _ = ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::Relaxed));
        let bar = ProgressBar::new_spinner();
        let style = ProgressStyle::with_template("{spinner} {wide_msg}");
        bar.set_style(style.expect("the template is one"));
        Self { bar, wall: clock::now(), worked: clock::worked_by_all(), before }
    }

    /// Says what goes on where there are no numbers yet.
    pub(super) fn says(&self, what: &str) {
        self.bar.set_message(what.to_owned());
        self.bar.tick();
    }

    /// A round of a search by layers is over.
    pub(super) fn layers(&self, progress: &Progress<'_>) -> ControlFlow<()> {
        let Progress { figures, layer, layer_expanded, layer_states } = progress;
        let expanded = figures.expanded - self.before;
        if !self.bar.is_hidden() {
            let took = self.wall.elapsed();
            self.bar.set_message(format!(
                "{} states, layer {layer} ({} of {}), {}/s, {} MB; {}",
                count(figures.distinct as f64),
                count(*layer_expanded as f64),
                count(*layer_states as f64),
                count(expanded as f64 / took.as_secs_f64().max(1e-9)),
                figures.bytes >> 20,
                Outlook::of(progress).with_time(expanded, took),
            ));
            self.bar.tick();
        }
        go_on()
    }

    /// Some states of a search that goes down first are expanded.
    pub(super) fn plunge(&self, figures: &PlungeFigures) -> ControlFlow<()> {
        if !self.bar.is_hidden() {
            let took = self.wall.elapsed().as_secs_f64();
            self.bar.set_message(format!(
                "{} states, deepest {}, {} forgotten, {}/s, {} MB",
                count(figures.distinct as f64),
                figures.depth,
                count(figures.forgotten as f64),
                count(figures.expanded as f64 / took.max(1e-9)),
                figures.bytes_seen >> 20,
            ));
            self.bar.tick();
        }
        go_on()
    }

    /// It is over: how long it took, and how long all threads have worked.
    pub(super) fn end(self) -> Took {
        self.bar.finish_and_clear();
        let worked = clock::worked_by_all() - self.worked;
        Took { seconds: self.wall.elapsed().as_secs_f64(), cpu_seconds: worked.as_secs_f64() }
    }
}

fn go_on() -> ControlFlow<()> {
    if INTERRUPTED.load(Ordering::Relaxed) {
        return ControlFlow::Break(());
    }
    ControlFlow::Continue(())
}

/// How long something took, and how long all threads have worked.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Took {
    pub(super) seconds: f64,
    pub(super) cpu_seconds: f64,
}
