//! zoolab as a script meets it.

mod bench;
mod program;
mod serve;
