//! All states and steps of a small search as a graph that people can look at.

use std::path::Path;

use zoolab_sim::search::Graph;
use zoolab_sim::states::Ensemble;
use zoolab_sim::world::{Outcome, World};

use super::Job;
use super::found::Stage;
use super::live::Most;
use super::report::{Ending, Report};
use super::sums::Sums;
use super::watch::Watch;

/// As many states as there may be if nobody has said so: more nobody can look at.
const STATES: u64 = 10_000;

/// Builds the graph, and writes it in the language of Graphviz.
pub(super) fn run<'a, const K: usize, const W: usize>(
    job: &Job<'a>,
    path: &Path,
) -> Result<Report<'a>, String> {
    let way = &job.args.way;
    let bounds = job.setup.bounds();
    let (plan, root) = (job.setup.plan(bounds), job.setup.root(bounds)?);
    let space = Ensemble::<K, W>::new(root.world, root.checkers);
    let watch = Watch::begin(0);
    let most = Most { states: way.states.unwrap_or(STATES), memory: way.memory };
    let graph = most.graph(&space, job, &watch)?;
    watch.says("writing the graph");
    let worlds = worlds(&space, &graph);
    let dot = graph.dot(&|node, step| match space.named(&worlds[node.index()], step) {
        Some(step) => step.to_string(),
        None => unreachable!("a step that was taken can be taken"),
    });
    let about = format!("// {}\n// double circles: everybody follows one leader\n", job.setup);
    let written = std::fs::write(path, about + &dot);
    written.map_err(|error| format!("{}: {error}", path.display()))?;
    let end = if graph.broken.is_some() { Ending::Broken } else { Ending::Complete };
    let sums = Sums::from(&graph.figures);
    let mut report = Report::new(job.setup, end, sums, watch.end(), space.sizes());
    report.graph = Some(path.to_owned());
    if let Some(path) = graph.path_to_broken() {
        let stage = Stage { plan: &plan, before: &root.steps, traces: &job.args.words.traces };
        report.fail(stage.broken(&space.steps(&path))?);
    }
    Ok(report)
}

/// The world of each state: that of the state it was first reached from, and one step.
fn worlds<const K: usize, const W: usize>(space: &Ensemble<K, W>, graph: &Graph) -> Vec<World> {
    let mut worlds: Vec<World> = Vec::with_capacity(graph.graph.node_count());
    let mut outcome = Outcome::default();
    for node in graph.graph.node_indices() {
        // Those that are nearer to the beginning come first.
        let world = match graph.parent(node) {
            None => space.root().clone(),
            Some((parent, name)) => {
                let mut world = worlds[parent.index()].clone();
                let step = space.named(&world, name).expect("a step that was taken");
                world.step(world.now(), &step, &mut outcome);
                world
            }
        };
        worlds.push(world);
    }
    worlds
}
