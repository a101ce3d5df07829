//! What a server keeps on disk, as bytes and file operations, in ZooKeeper's own format.

pub mod txn;
