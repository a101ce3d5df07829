//! The order of all writes. One type per role; so far the one role that an ensemble of one has.

mod leader;
mod log;

pub use leader::Leader;
