//! zoolab: the command line.
fn main() {}
