//! Data directories that move between ZooKeeper and zoolab.
//!
//! ```text
//!   exercise a server -> what it says of its tree --+
//!                          |                        +--> the same lines?
//!                     its directory -> recover -> tree
//! ```

pub mod compose;
pub mod directory;
pub mod exercise;
pub mod lines;
pub mod reading;
