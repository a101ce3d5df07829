//! zoolab as a script meets it.

mod bench;
mod fuzz;
mod program;
mod replay;
mod run;
mod serve;
