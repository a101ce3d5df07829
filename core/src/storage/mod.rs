//! What a server keeps on disk, as bytes and file operations, in ZooKeeper's own format.
//!
//! ```text
//!   append, sync, snapshot … --> Disk --> FileOps --> a host's files, real or simulated
//!                                                          |
//!   tree, sessions, epochs … <-- recover <-- Files <-------+  after a crash
//! ```
//!
//! A data directory can be handed to ZooKeeper and back. Invariant: nothing here panics on bytes,
//! whatever they are.

mod checksum;
pub mod disk;
pub mod epoch;
pub mod file;
pub mod log;
pub mod recover;
pub mod snapshot;
pub mod txn;

pub use disk::{Disk, TruncateError};
pub use epoch::EpochKind;
pub use file::{FileKind, FileName, FileOp, Files};
pub use recover::{Note, RecoverError, Recovered, Rules, Saved, recover};
