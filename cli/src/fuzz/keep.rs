//! What is kept of failures: the first trace of each group, and the short one with its story.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use zoolab_sim::shrink::{Limits, shrink};
use zoolab_sim::story::Story;

use super::campaign::Campaign;
use super::group::{Group, Traces};
use super::results::Results;
use super::{Args, crew, report};

/// Writes whatever is not there yet; and in a folder of results, these and what is said of them.
pub(super) fn keep(
    args: &Args,
    campaign: &Campaign,
    results: &mut Results,
    jobs: usize,
    enough: &AtomicBool,
) -> Result<(), String> {
    let folder = args.folder();
    let next = AtomicUsize::new(0);
    let trouble = Mutex::new(None);
    // Whoever was in a hurry the last time has not waited for short ones.
    let lacks = |group: &&mut Group| {
        let there = group.traces.as_ref();
        there.is_none_or(|traces| traces.short.is_none() && campaign.shrink > 0)
    };
    let todo: Vec<Mutex<&mut Group>> =
        results.groups.iter_mut().filter(lacks).map(Mutex::new).collect();
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(todo.len()) {
            scope.spawn(|| {
                while let Some(group) = todo.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut group = group.lock().expect("each is taken once");
                    let done = traces(args, campaign, &group, &folder, enough);
                    match done {
                        Ok(traces) => group.traces = Some(traces),
                        Err(why) => *trouble.lock().expect("nobody panics") = Some(why),
                    }
                }
            });
        }
    });
    if let Some(why) = trouble.into_inner().expect("nobody panics") {
        // A folder that was asked for is whole or an error; a finding is told in any case.
        if args.out.is_some() {
            return Err(why);
        }
        eprintln!("zoolab: {why}");
    }
    let Some(dir) = &args.out else { return Ok(()) };
    results.write(dir)?;
    report::write(dir, results)
}

fn traces(
    args: &Args,
    campaign: &Campaign,
    group: &Group,
    folder: &Path,
    enough: &AtomicBool,
) -> Result<Traces, String> {
    let first = group.first();
    let item = campaign.item(&args.kind, first.place)?;
    let trace = crew::record(&item.plan, item.seed)?;
    let name = item.name.rsplit('/').next().unwrap_or(&item.name);
    let long = format!("{name}.jsonl");
    let wrong = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    let path = folder.join(&long);
    trace.write(&path).map_err(|error| wrong(&path, error))?;
    let steps = trace.steps.len() as u64;
    let mut traces = Traces { place: first.place, steps, long, short: None, story: None };
    if campaign.shrink == 0 || enough.load(Ordering::Relaxed) {
        return Ok(traces);
    }
    let limits = Limits { runs: Some(campaign.shrink), fine: false };
    let mut whole = true;
    let shrunk = shrink(&trace, limits, &mut |_| {
        whole = !enough.load(Ordering::Relaxed);
        if whole { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    // What differs from run to run has nothing to be shrunk to, and who is in a hurry has not
    // waited for it.
    if let Ok(shrunk) = shrunk
        && whole
    {
        let short = format!("{name}.short.jsonl");
        let path = folder.join(&short);
        shrunk.trace.write(&path).map_err(|error| wrong(&path, error))?;
        let story = Story::of(&shrunk.trace).map_err(|error| error.to_string())?;
        traces.short = Some((short, shrunk.trace.steps.len() as u64));
        traces.story = Some(story.to_string());
    }
    Ok(traces)
}
