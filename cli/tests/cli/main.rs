//! zoolab as a script meets it.

mod bench;
mod bugs;
mod check;
mod durable;
mod fuzz;
mod program;
mod replay;
mod run;
mod search;
mod serve;
mod show;
mod shrink;
mod step;
