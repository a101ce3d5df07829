//! zoolab as a script meets it.

mod bench;
mod bugs;
mod program;
mod serve;
