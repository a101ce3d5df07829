//! The client library, input by input: each rule of ZooKeeper's own client has a test.

mod calls;
mod chroot;
mod desk;
mod equal;
mod generated;
mod pace;
mod readonly;
mod rebalance;
mod rotation;
mod server;
mod states;
mod watches;
mod wire;
