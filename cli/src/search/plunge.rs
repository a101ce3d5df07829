//! A search that goes down first, within bounded memory.

use zoolab_sim::search::{PlungeEnd, PlungeLimits, Plunged, Space as _, plunge_with};
use zoolab_sim::states::Ensemble;

use super::Job;
use super::coverage::Coverage;
use super::found::Stage;
use super::report::{Ending, Report};
use super::sums::Sums;
use super::watch::Watch;

/// What a remembered state takes, with room to grow.
const BYTES_A_STATE: u64 = 48;

/// Searches.
pub(super) fn run<'a, const K: usize, const W: usize>(job: &Job<'a>) -> Result<Report<'a>, String> {
    let way = &job.args.way;
    let bounds = job.setup.bounds();
    let (plan, root) = (job.setup.plan(bounds), job.setup.root(bounds)?);
    let space = Ensemble::<K, W>::new(root.world, root.checkers);
    let remembered = way.memory.saturating_mul(1 << 20) / BYTES_A_STATE;
    let limits = PlungeLimits {
        depth: way.depth,
        remembered: usize::try_from(remembered).unwrap_or(usize::MAX),
        expanded: way.states,
    };
    let watch = Watch::begin(0);
    let mut worker = space.worker();
    let plunged = plunge_with(&space, &mut worker, &limits, &mut |figures| watch.plunge(figures));
    let sums = Sums::from(&plunged.figures);
    let mut report = Report::new(job.setup, ending(&plunged), sums, watch.end(), space.sizes());
    let mut coverage = Coverage::default();
    coverage.add(&worker.coverage());
    report.cover(coverage, job.reach);
    if let Some(path) = &plunged.broken {
        let stage = Stage { plan: &plan, before: &root.steps, traces: &job.args.words.traces };
        report.fail(stage.broken(&space.steps(path))?);
    }
    Ok(report)
}

fn ending(plunged: &Plunged) -> Ending {
    match plunged.end {
        PlungeEnd::Asked => Ending::Asked,
        PlungeEnd::Broken => Ending::Broken,
        PlungeEnd::Complete if !plunged.is_proof() => Ending::Forgotten,
        PlungeEnd::Complete if plunged.figures.cut > 0 => Ending::Depth,
        PlungeEnd::Complete => Ending::Complete,
        PlungeEnd::Expanded => Ending::States,
    }
}
