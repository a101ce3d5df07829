//! What happened, as people read it.

use std::borrow::Cow;
use std::time::Duration;

use zoolab_sim::drive::{End, Report};
use zoolab_sim::figures::Figures;

use crate::bench::figures::count;

/// One run.
pub(crate) fn one(report: &Report) -> String {
    let figures = &report.figures;
    let end = match &report.end {
        End::Held if !figures.overlooked.is_empty() => "held: every promise that counts".to_owned(),
        End::Held => "held: every promise, in every step".to_owned(),
        End::Diverged { .. } | End::Panicked(_) | End::Stuck(_) | End::Violated(_) => {
            format!("FAILED: {}", report.end)
        }
    };
    let (steps, hash) = (figures.steps, report.hash);
    format!("{}\n{end}\nsteps {steps}, hash {hash}", happened(figures))
}

/// Many runs.
pub(crate) fn many(figures: &Figures, took: Duration) -> String {
    let speed = figures.steps as f64 / took.as_secs_f64().max(1e-9);
    format!(
        "{} seeds, {} steps in {:.1} s ({} steps/s)\n{}",
        figures.runs,
        count(figures.steps as f64),
        took.as_secs_f64(),
        count(speed),
        happened(figures)
    )
}

pub(crate) fn happened(figures: &Figures) -> String {
    let list = |counts: &std::collections::BTreeMap<Cow<'static, str>, u64>| {
        let words: Vec<String> =
            counts.iter().map(|(name, number)| format!("{name} {number}")).collect();
        if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
    };
    let unreached: Vec<&str> = figures.unreached().collect();
    let mut text = format!(
        "virtual time {}, {} elections, {} epochs, {} commits, {} messages, {} crashes, \
         {} power losses\nfaults   {}\nreached  {}",
        span(figures.time_us),
        figures.elections,
        figures.epochs,
        figures.commits,
        figures.messages,
        figures.crashes,
        figures.power_losses,
        list(&figures.faults),
        list(&figures.reached),
    );
    if !figures.overlooked.is_empty() {
        let words =
            figures.overlooked.iter().map(|(promise, number)| format!("{promise} {number}"));
        text.push_str(&format!("\noverlooked {}", words.collect::<Vec<_>>().join(", ")));
    }
    if figures.runs > 100 && !unreached.is_empty() {
        text.push_str(&format!("\nNOT REACHED: {}", unreached.join(", ")));
    }
    text
}

fn span(us: u64) -> String {
    let seconds = us / 1_000_000;
    match seconds {
        0..600 => format!("{seconds} s"),
        600..36_000 => format!("{} min", seconds / 60),
        36_000..864_000 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}
