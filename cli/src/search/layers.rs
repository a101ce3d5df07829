//! A search by layers: the shortest way to everything. It can be saved, and gone on with.

use zoolab_sim::search::{End, Limits, Search};
use zoolab_sim::states::Ensemble;

use super::Job;
use super::checkpoint::{self, Notes};
use super::coverage::Coverage;
use super::found::Stage;
use super::report::{Ending, Report};
use super::sums::Sums;
use super::watch::{Took, Watch};

/// Searches, from the beginning or from where it was saved.
pub(super) fn run<'a, const K: usize, const W: usize>(job: &Job<'a>) -> Result<Report<'a>, String> {
    let way = &job.args.way;
    let bounds = job.setup.bounds();
    let (plan, root) = (job.setup.plan(bounds), job.setup.root(bounds)?);
    if let Some(path) = &way.save {
        checkpoint::writable(path)?;
    }
    let space = Ensemble::<K, W>::new(root.world, root.checkers);
    let mut search = match &way.resume {
        None => Search::new(&space, job.sleep),
        Some(path) => {
            let watch = Watch::begin(0);
            watch.says("finding again what waits to be expanded");
            let version = job.notes.map(|notes| &*notes.zoolab);
            let resumed = Search::resume(&space, path, way.threads);
            resumed.map_err(|error| checkpoint::refused(path, &error, version))?.0
        }
    };
    let watch = Watch::begin(search.figures().expanded);
    let limits = Limits {
        depth: way.depth.map(|depth| depth as usize),
        states: way.states,
        bytes: Some(way.memory.saturating_mul(1 << 20)),
        ..Limits::default()
    };
    let end = search.run(&limits, way.threads, &mut |progress| watch.layers(progress));
    let mut coverage = Coverage::default();
    let mut took = watch.end();
    if let Some(before) = job.notes {
        coverage = before.coverage.clone();
        took.seconds += before.seconds;
        took.cpu_seconds += before.cpu_seconds;
    }
    search.workers().iter().for_each(|worker| coverage.add(&worker.coverage()));
    let saved = save(job, &search, end, &coverage, took)?;
    let sums = Sums::from(search.figures());
    let mut report = Report::new(job.setup, Ending::from(end), sums, took, space.sizes());
    report.cover(coverage, job.reach);
    report.saved = saved;
    if let Some(path) = search.path_to_broken() {
        let stage = Stage { plan: &plan, before: &root.steps, traces: &job.args.words.traces };
        report.fail(stage.broken(&space.steps(&path))?);
    }
    Ok(report)
}

/// Writes it to a file, if that is wanted and there is something to go on with.
fn save<const K: usize, const W: usize>(
    job: &Job<'_>,
    search: &Search<'_, Ensemble<K, W>>,
    end: End,
    coverage: &Coverage,
    took: Took,
) -> Result<Option<std::path::PathBuf>, String> {
    let goes_on = match end {
        End::Asked | End::Depth | End::Memory | End::States => true,
        End::Broken | End::Complete => false,
    };
    let Some(path) = job.args.way.save.as_ref().filter(|_| goes_on) else { return Ok(None) };
    let notes = Notes {
        zoolab: env!("CARGO_PKG_VERSION").into(),
        setup: job.setup.clone(),
        sleep: job.sleep,
        reach: job.reach.to_vec(),
        coverage: coverage.clone(),
        seconds: took.seconds,
        cpu_seconds: took.cpu_seconds,
    };
    let saved = search.save(path, &notes.text()?);
    saved.map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(Some(path.clone()))
}
