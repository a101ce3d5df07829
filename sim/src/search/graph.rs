//! All states of a small space and every step between them, as a graph.

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;

use super::team::UNPOISONED;
use super::{Broken, End, Figures, Limits, Progress, Search, Space, StateId};

/// A state of the graph.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Node {
    /// The state.
    pub state: StateId,
    /// Whether it is a goal.
    pub goal: bool,
}

/// A step of the graph.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Edge {
    /// Names the step within the state it is taken from.
    pub step: u16,
    /// The fair action it belongs to; see [`Space::fair`].
    pub fair: Option<u32>,
}

/// All states of a small space and every step between them.
///
/// The first node is the initial state; the others follow by distance. The edges of a node are
/// listed by the number of their step.
pub struct Graph {
    /// The states and steps.
    pub graph: DiGraph<Node, Edge>,
    /// What was seen while it was built.
    pub figures: Figures,
    /// A step that broke a promise. Where such steps lead is not in the graph.
    pub broken: Option<Broken>,
    /// From where each state was first reached, and how.
    parents: Vec<(u32, u16)>,
}

/// Why there is no graph.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum NoGraph {
    /// Whoever was told of the progress wanted it to stop.
    Asked,
    /// There are more states than allowed.
    TooLarge {
        /// How many were allowed.
        allowed: u64,
    },
}

impl std::fmt::Display for NoGraph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Asked => f.write_str("stopped when asked"),
            Self::TooLarge { allowed } => write!(f, "more than {allowed} states"),
        }
    }
}

impl std::error::Error for NoGraph {}

impl Graph {
    /// Builds the graph of a space that has no more than so many states.
    ///
    /// # Errors
    ///
    /// If it has more, or `progress` wants it to stop.
    pub fn build<S: Space>(
        space: &S,
        states: u64,
        threads: NonZeroUsize,
        progress: &mut dyn FnMut(&Progress<'_>) -> ControlFlow<()>,
    ) -> Result<Self, NoGraph> {
        let mut search = Search::graphed(space);
        let limits = Limits { states: Some(states + 1), past_broken: true, ..Limits::default() };
        match search.run(&limits, threads, progress) {
            End::Complete => Ok(Self::of(&search)),
            End::Asked => Err(NoGraph::Asked),
            End::Broken | End::Depth | End::Memory | End::States => {
                Err(NoGraph::TooLarge { allowed: states })
            }
        }
    }

    fn of<S: Space>(search: &Search<'_, S>) -> Self {
        let shards: Vec<_> =
            search.store.shards.iter().map(|shard| shard.read().expect(UNPOISONED)).collect();
        let edges = shards.iter().filter_map(|shard| shard.graphed.as_ref());
        let edge_count = edges.clone().map(|graphed| graphed.edges.len()).sum();
        let order = search.store.by_layer();
        let mut graph = DiGraph::with_capacity(order.len(), edge_count);
        let mut nodes: Vec<_> =
            shards.iter().map(|shard| vec![NodeIndex::end(); shard.parents.len()]).collect();
        for state in &order {
            let graphed = shards[state.shard()].graphed.as_ref();
            let place = state.place() as u32;
            let goal = graphed.is_some_and(|graphed| graphed.goals.binary_search(&place).is_ok());
            nodes[state.shard()][state.place()] = graph.add_node(Node { state: *state, goal });
        }
        let node = |state: StateId| nodes[state.shard()][state.place()];
        let mut edges: Vec<_> = edges.flat_map(|graphed| &graphed.edges).collect();
        edges.sort_unstable_by_key(|edge| (node(edge.from), edge.step, node(edge.to)));
        // petgraph lists the steps of a state from the last to the first.
        for edge in edges.into_iter().rev() {
            let weight = Edge { step: edge.step, fair: edge.fair };
            graph.add_edge(node(edge.from), node(edge.to), weight);
        }
        let parent = |state: &StateId| {
            let (parent, step) = shards[state.shard()].origin(*state);
            (parent.map_or(u32::MAX, |parent| node(parent).index() as u32), step)
        };
        let parents = order.iter().map(parent).collect();
        Self { graph, figures: search.figures().clone(), broken: search.broken(), parents }
    }

    /// The steps from the initial state to this one, as few as can be.
    #[must_use]
    pub fn path(&self, node: NodeIndex) -> Vec<u16> {
        let mut path = Vec::new();
        let mut at = node;
        while let Some((parent, step)) = self.parent(at) {
            path.push(step);
            at = parent;
        }
        path.reverse();
        path
    }

    /// The steps up to and with the first that broke a promise, as few as can be.
    #[must_use]
    pub fn path_to_broken(&self) -> Option<Vec<u16>> {
        let broken = self.broken?;
        let Some(parent) = broken.parent else { return Some(Vec::new()) };
        let node = self.graph.node_indices().find(|node| self.graph[*node].state == parent)?;
        let mut path = self.path(node);
        path.push(broken.step);
        Some(path)
    }

    /// From where this state was first reached, and by which step; none if everything begins
    /// there.
    #[must_use]
    pub fn parent(&self, node: NodeIndex) -> Option<(NodeIndex, u16)> {
        let (parent, step) = self.parents[node.index()];
        (parent != u32::MAX).then(|| (NodeIndex::new(parent as usize), step))
    }

    /// The graph in the language of Graphviz; `label` words a step.
    #[must_use]
    pub fn dot(&self, label: &dyn Fn(NodeIndex, u16) -> String) -> String {
        let mut text = String::from("digraph {\n  node [shape=circle]\n");
        for node in self.graph.node_indices() {
            let shape = if self.graph[node].goal { " [shape=doublecircle]" } else { "" };
            writeln!(text, "  {}{shape}", node.index()).expect("memory takes everything");
        }
        for from in self.graph.node_indices() {
            for edge in self.graph.edges(from) {
                let label = label(from, edge.weight().step);
                let label = label.replace('\\', "\\\\").replace('"', "\\\"");
                let to = edge.target().index();
                writeln!(text, "  {} -> {to} [label=\"{label}\"]", from.index())
                    .expect("memory takes everything");
            }
        }
        text.push_str("}\n");
        text
    }
}
