//! Does what should happen happen in the end? On the whole graph of a small space.
//!
//! A run is *fair* if no fair action can happen at every moment from some moment on and yet does
//! not happen ([`Space::fair`] says which actions are fair; all others need never happen). A
//! promise of the kind "a goal is reached" is broken by fair runs of three kinds, and only by
//! these:
//!
//! * a **dead end**: nothing can happen any more, and it is no goal;
//! * a **standstill**: no fair action can happen, so the run may stay there for ever;
//! * a **fair cycle** without a goal on it.
//!
//! For the last: take a strongly connected component of the graph without goals. The cycle that
//! goes through all of its states and steps is fair if every fair action that can happen in all
//! of its states is taken by one of its steps. If some action is not, no cycle in a part of the
//! component is fair either: the action can happen in all of the part too and is not taken there.
//! So components are all that has to be looked at, and each only once.
//!
//! Deliberately not here: strong fairness (an action that can happen again and again does).

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, EdgeIndex, NodeIndex};
use petgraph::visit::EdgeRef;

use super::Graph;

/// How often a goal is to be reached.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reach {
    /// Again and again: also after a goal, another must follow, or the goal lasts.
    AgainAndAgain,
    /// Once; what comes after does not matter.
    Once,
}

/// A run that never reaches a goal (again): `stem` from the beginning, then `cycle` for ever.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Lasso {
    /// Leads from the initial state to the first state of the cycle.
    pub stem: Vec<u16>,
    /// Leads from there back to it. Empty where the run stays for ever.
    pub cycle: Vec<u16>,
}

/// What keeps goals from being reached; of each kind the one that is nearest to the beginning.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Liveness {
    /// States without a goal where nothing can happen.
    pub dead_ends: u64,
    /// The nearest of them.
    pub dead_end: Option<Lasso>,
    /// States without a goal where only actions can happen that need not.
    pub standstills: u64,
    /// The nearest of them.
    pub standstill: Option<Lasso>,
    /// Components without a goal through which a fair cycle leads.
    pub cycles: u64,
    /// Such a cycle.
    pub cycle: Option<Lasso>,
}

impl Liveness {
    /// Whether every fair run reaches what it should.
    #[must_use]
    pub const fn holds(&self) -> bool {
        self.dead_ends == 0 && self.standstills == 0 && self.cycles == 0
    }
}

/// Looks for runs that never reach a goal.
///
/// Steps that broke a promise are not in a graph: see to [`Graph::broken`] first.
#[must_use]
pub fn live(graph: &Graph, reach: Reach) -> Liveness {
    let stems = Stems::new(graph, reach);
    let mut found = Liveness::default();
    for node in stems.order.iter().filter(|node| !graph.graph[**node].goal) {
        let mut steps = graph.graph.edges(*node).peekable();
        let (count, first) = if steps.peek().is_none() {
            (&mut found.dead_ends, &mut found.dead_end)
        } else if steps.all(|step| step.weight().fair.is_none()) {
            (&mut found.standstills, &mut found.standstill)
        } else {
            continue;
        };
        *count += 1;
        first.get_or_insert_with(|| Lasso { stem: stems.to(graph, *node), cycle: Vec::new() });
    }
    let mut nearest = None;
    for component in stems.components(graph) {
        if Component::new(graph, &component).is_fair() {
            found.cycles += 1;
            let first = component.iter().map(|node| (stems.rank[node.index()], *node)).min();
            if nearest.as_ref().is_none_or(|(best, _)| first < *best) {
                nearest = Some((first, component));
            }
        }
    }
    if let Some((Some((_, start)), component)) = nearest {
        let cycle = Component::new(graph, &component).fair_cycle(start);
        let steps = cycle.iter().map(|edge| graph.graph[*edge].step).collect();
        found.cycle = Some(Lasso { stem: stems.to(graph, start), cycle: steps });
    }
    found
}

/// Which states are reached, and by which shortest paths; past goals only if that matters.
struct Stems {
    /// The states reached, by distance.
    order: Vec<NodeIndex>,
    /// By state: its place in `order`.
    rank: Vec<Option<u32>>,
    /// By state: the step by which it was reached.
    by: Vec<Option<EdgeIndex>>,
}

impl Stems {
    fn new(graph: &Graph, reach: Reach) -> Self {
        let count = graph.graph.node_count();
        let mut stems = Self { order: vec![], rank: vec![None; count], by: vec![None; count] };
        let is_end = |node: NodeIndex| reach == Reach::Once && graph.graph[node].goal;
        stems.add(graph.graph.node_indices().next().filter(|first| !is_end(*first)), None);
        let mut next = 0;
        while let Some(node) = stems.order.get(next).copied() {
            next += 1;
            for edge in graph.graph.edges(node) {
                let to = Some(edge.target()).filter(|to| !is_end(*to));
                stems.add(to, Some(edge.id()));
            }
        }
        stems
    }

    fn add(&mut self, node: Option<NodeIndex>, by: Option<EdgeIndex>) {
        let Some(node) = node else { return };
        if self.rank[node.index()].is_none() {
            self.rank[node.index()] = Some(self.order.len() as u32);
            self.by[node.index()] = by;
            self.order.push(node);
        }
    }

    fn to(&self, graph: &Graph, node: NodeIndex) -> Vec<u16> {
        let edges = back(graph, node, |node| self.by[node.index()]);
        edges.into_iter().map(|edge| graph.graph[edge].step).collect()
    }

    /// The strongly connected components of what was reached, without the goals.
    fn components(&self, graph: &Graph) -> Vec<Vec<NodeIndex>> {
        let wanted = |node: NodeIndex| self.rank[node.index()].is_some() && !graph.graph[node].goal;
        let part: DiGraph<NodeIndex, ()> =
            graph.graph.filter_map(|node, _| wanted(node).then_some(node), |_, _| Some(()));
        let original = |component: Vec<NodeIndex>| component.iter().map(|n| part[*n]).collect();
        kosaraju_scc(&part).into_iter().map(original).collect()
    }
}

/// Follows steps back to where there is none, and returns them in their order.
fn back(
    graph: &Graph,
    node: NodeIndex,
    by: impl Fn(NodeIndex) -> Option<EdgeIndex>,
) -> Vec<EdgeIndex> {
    let mut path = Vec::new();
    let mut at = node;
    while let Some(edge) = by(at) {
        path.push(edge);
        at = graph.graph.edge_endpoints(edge).expect("it is one of its own").0;
    }
    path.reverse();
    path
}

/// States that can all be reached from each other without passing a goal.
struct Component<'a> {
    graph: &'a Graph,
    nodes: &'a [NodeIndex],
    members: BTreeSet<NodeIndex>,
}

impl<'a> Component<'a> {
    fn new(graph: &'a Graph, nodes: &'a [NodeIndex]) -> Self {
        Self { graph, nodes, members: nodes.iter().copied().collect() }
    }

    /// The steps from a state that stay inside.
    fn inside(&self, node: NodeIndex) -> impl Iterator<Item = (EdgeIndex, NodeIndex)> {
        let edges = self.graph.graph.edges(node).map(|edge| (edge.id(), edge.target()));
        edges.filter(|(_, to)| self.members.contains(to))
    }

    /// The fair actions that can happen in a state, wherever they lead.
    fn enabled(&self, node: NodeIndex) -> BTreeSet<u32> {
        self.graph.graph.edges(node).filter_map(|edge| edge.weight().fair).collect()
    }

    /// Whether a fair cycle leads through all of it.
    fn is_fair(&self) -> bool {
        let mut always = self.enabled(self.nodes[0]);
        let mut cycles = false;
        let mut taken = BTreeSet::new();
        for node in self.nodes {
            if !always.is_empty() {
                let enabled = self.enabled(*node);
                always.retain(|action| enabled.contains(action));
            }
            for (edge, _) in self.inside(*node) {
                cycles = true;
                taken.extend(self.graph.graph[edge].fair);
            }
        }
        cycles && always.is_subset(&taken)
    }

    /// A fair cycle from `start` back to it, fairly short: as long as it would leave out a fair
    /// action, it goes by where that is taken, or cannot happen.
    fn fair_cycle(&self, start: NodeIndex) -> Vec<EdgeIndex> {
        let mut walk: Vec<EdgeIndex> = Vec::new();
        let mut at = start;
        loop {
            let mut cycle = walk.clone();
            if cycle.is_empty() || at != start {
                cycle.extend(self.way(at, &|_, to| to == start));
            }
            let Some(action) = self.left_out(start, &cycle) else { return cycle };
            let taken = |edge: EdgeIndex| self.graph.graph[edge].fair == Some(action);
            let way = self.way(at, &|edge, to| taken(edge) || !self.enabled(to).contains(&action));
            at = way.last().map_or(at, |last| self.target(*last));
            walk.extend(way);
        }
    }

    /// A fair action that can happen all along the cycle and is not taken.
    fn left_out(&self, start: NodeIndex, cycle: &[EdgeIndex]) -> Option<u32> {
        let mut always = self.enabled(start);
        for edge in cycle {
            let enabled = self.enabled(self.target(*edge));
            always.retain(|action| enabled.contains(action));
        }
        for edge in cycle {
            self.graph.graph[*edge].fair.map(|action| always.remove(&action));
        }
        always.first().copied()
    }

    fn target(&self, edge: EdgeIndex) -> NodeIndex {
        self.graph.graph.edge_endpoints(edge).expect("it is one of its own").1
    }

    /// The shortest way inside, of one step at least, whose last step is a wanted one.
    fn way(
        &self,
        from: NodeIndex,
        wanted: &dyn Fn(EdgeIndex, NodeIndex) -> bool,
    ) -> Vec<EdgeIndex> {
        let mut by = BTreeMap::from([(from, None)]);
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            for (edge, to) in self.inside(node) {
                if wanted(edge, to) {
                    let mut way = back(self.graph, node, |node| by.get(&node).copied().flatten());
                    way.push(edge);
                    return way;
                }
                by.entry(to).or_insert_with(|| {
                    queue.push_back(to);
                    Some(edge)
                });
            }
        }
        unreachable!("in a component that is fair there is a way")
    }
}
