//! Small spaces as graphs.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use zoolab_sim::search::toy::Broadcast;
use zoolab_sim::search::{Graph, NoGraph, Space};

use crate::tangle::Tangle;

fn graph<S: Space>(space: &S, threads: usize) -> Graph {
    let threads = NonZeroUsize::new(threads).unwrap();
    Graph::build(space, 100_000, threads, &mut |_| ControlFlow::Continue(())).unwrap()
}

#[test]
fn the_graph_of_the_smallest_toy_can_be_read() {
    let graph = graph(&Broadcast::new(1, 1), 1);
    let words = ["PROPOSAL", "ACK", "COMMIT"];
    insta::assert_snapshot!(graph.dot(&|_, step| words[usize::from(step)].to_owned()), @r#"
    digraph {
      node [shape=circle]
      0
      1
      2
      3 [shape=doublecircle]
      0 -> 1 [label="PROPOSAL"]
      1 -> 2 [label="ACK"]
      2 -> 3 [label="COMMIT"]
    }
    "#);
}

#[test]
fn every_edge_is_a_step_of_its_state_and_all_are_there() {
    for seed in 0..50 {
        let space = Tangle::drawn(seed);
        let graph = graph(&space, 1 + seed as usize % 3);
        let distances = space.distances();
        assert_eq!(graph.graph.node_count(), distances.len());
        assert_eq!(graph.graph.edge_count() as u64, graph.figures.enabled);
        for edge in graph.graph.edge_indices() {
            let (from, to) = graph.graph.edge_endpoints(edge).unwrap();
            let step = graph.graph[edge].step;
            let mut path = graph.path(from);
            assert_eq!(path.len(), distances[&space.walk(&path).unwrap()]);
            path.push(step);
            assert_eq!(space.walk(&path), space.walk(&graph.path(to)));
            assert_eq!(graph.graph[edge].fair.is_some(), step.is_multiple_of(2));
        }
    }
}

#[test]
fn a_space_too_large_is_said_to_be() {
    let threads = NonZeroUsize::MIN;
    let build = |states| {
        Graph::build(&Broadcast::new(2, 1), states, threads, &mut |_| ControlFlow::Continue(()))
    };
    assert_eq!(Broadcast::new(2, 1).states(), 24);
    assert!(build(24).is_ok());
    assert_eq!(build(23).err(), Some(NoGraph::TooLarge { allowed: 23 }));
}
