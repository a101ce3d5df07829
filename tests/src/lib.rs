//! What only the whole can show.

pub mod behaviour;
pub mod desk;
pub mod differential;
pub mod raw;
pub mod storage;
