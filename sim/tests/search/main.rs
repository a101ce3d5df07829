//! The search of all runs, on spaces that are known in full.

mod bugs;
mod counts;
mod ensemble;
mod graph;
mod live;
mod plunge;
mod presets;
mod saved;
mod tangle;
mod threads;
