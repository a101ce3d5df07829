//! Five nodes in madsim that pass messages to each other and do nothing else: what a message
//! costs there at the very least. `benches/beside-madsim` builds and runs it.
//!
//! ```text
//! RUSTFLAGS="--cfg madsim" cargo run --release -p zoolab-server --example ping-pong \
//!     --target-dir target/madsim -- 1000000
//! ```

#[cfg(madsim)]
mod nodes;

#[cfg(madsim)]
fn main() {
    let argument = std::env::args().nth(1).unwrap_or_else(|| "1000000".into());
    let Ok(messages) = argument.parse() else {
        eprintln!("ping-pong: {argument:?}: expected a number of messages");
        std::process::exit(2);
    };
    println!("tcp {:.0}", nodes::rate(messages, nodes::over_tcp));
    println!("udp {:.0}", nodes::rate(messages, nodes::over_udp));
}

#[cfg(not(madsim))]
fn main() {
    eprintln!("ping-pong: built without madsim; expected RUSTFLAGS=\"--cfg madsim\"");
    std::process::exit(2);
}
