//! All runs, each state once: an exhaustive search that knows nothing of what it searches.
//!
//! ```text
//!            frontier, in chunks            arrivals, by shard
//!   layer n ---------------------> expand ---------------------> settle ---> layer n + 1
//!                                 (threads)                     (threads)
//!                                                                   |
//!                        visited: fingerprint, parent, step <-------+
//! ```
//!
//! [`Space`] is what is searched; [`Search`] visits it layer by layer, with any number of
//! threads, and always with the same result: the visited set has a fixed number of shards, by
//! bits of the fingerprint; a round expands a bounded number of chunks of the frontier, then
//! each shard takes what arrived, in the order of the chunks. Which thread did what cannot be
//! seen.
//!
//! ```
//! use std::{num::NonZeroUsize, ops::ControlFlow};
//! use zoolab_sim::search::{End, Limits, Search, toy::Broadcast};
//!
//! let toy = Broadcast::new(2, 2);
//! let mut search = Search::new(&toy, true);
//! let end = search.run(&Limits::default(), NonZeroUsize::MIN, &mut |_| ControlFlow::Continue(()));
//! assert_eq!((end, search.figures().distinct), (End::Complete, toy.states()));
//! assert_eq!(search.path(search.goal().unwrap()).len(), 12);
//! ```
//!
//! **Sleep sets.** Two steps that do not touch each other lead to the same state in either
//! order; a state's sleep set names steps that need not be taken from it because the other order
//! was taken. The space knows which steps are independent and computes the sets of successors;
//! the engine keeps them with the frontier, and a state reached by several arrivals gets the
//! intersection. Visited layer by layer, that suffices; a state never has to be expanded again:
//!
//! Take any state s at distance d, and of all its shortest paths the one that comes first when
//! paths are compared at the state where they part, by the order in which that state takes its
//! steps. Suppose a step t of it were asleep, and let it be the first such. The state it is
//! asleep in is on a shortest path, so it was expanded in the layer after its arrival along this
//! very path, and t was in the sleep set of that arrival too: somewhere up the path, at a state
//! q, t was taken before the path's own step, and is independent of everything the path takes
//! from q until t. With t moved up to q the path is as long, ends in s as well, and comes
//! earlier: a contradiction. So that path is taken: sleep sets hide no state, and no state is
//! found a layer later than without them. (Depth first this does not hold, so
//! [`plunge`] does without.)
//!
//! Deliberately not here: the World as a space, clocks, and the wording of what was found.

mod breadth;
mod bytes;
mod chunk;
mod course;
mod figures;
mod graph;
mod live;
mod plunge;
mod resume;
mod save;
mod shard;
mod space;
mod table;
mod team;
pub mod toy;

pub use breadth::{Broken, End, Limits, Search, StateId};
pub use figures::{Figures, Odds, Progress};
pub use graph::{Edge, Graph, NoGraph, Node};
pub use live::{Lasso, Liveness, Reach, live};
pub use plunge::{PlungeEnd, PlungeFigures, PlungeLimits, Plunged, plunge, plunge_with};
pub use resume::{NotResumed, notes};
pub use space::{Arrival, Awake, Bits, Expansion, Space, StepSet, Verdict, print_of};
