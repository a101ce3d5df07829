//! The laboratory around the core.
//!
//! [`model`] is the tree once more, as simple as possible, for everything that has to be
//! compared with what the core says.

pub mod checker;
pub mod drive;
pub mod figures;
pub mod hash;
pub mod heard;
pub mod history;
pub mod luck;
pub mod model;
pub mod pairs;
pub mod report;
pub mod rng;
pub mod schedule;
pub mod search;
pub mod seen;
pub mod setting;
pub mod shrink;
pub mod states;
pub mod step;
pub mod story;
pub mod strategy;
pub mod swarm;
pub mod trace;
pub mod world;
