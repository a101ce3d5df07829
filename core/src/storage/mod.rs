//! What a server keeps on disk, as bytes and file operations, in ZooKeeper's own format.

pub mod epoch;
pub mod file;
pub mod log;
pub mod snapshot;
pub mod txn;
