//! The laboratory around the core.
//!
//! [`model`] is the tree once more, as simple as possible, for everything that has to be
//! compared with what the core says.

pub mod model;
