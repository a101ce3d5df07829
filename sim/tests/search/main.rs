//! The search of all runs, on spaces that are known in full.

mod counts;
mod ensemble;
mod graph;
mod live;
mod plunge;
mod saved;
mod tangle;
mod threads;
