//! What only the whole can show.

pub mod raw;
