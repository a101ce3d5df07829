//! `zoolab bench wire`: load over the wire, on any ZooKeeper.
//!
//! ```text
//!   one thread --- poll ---> connections, each with `depth` requests on their way
//!                 replies in, as many requests out, in one write per batch
//! ```
//!
//! One thread serves all connections and never waits for one of them: it takes as little as it
//! can of the machine it shares with the server, and tells how busy it was.

mod ground;
mod line;
mod load;
mod mix;
mod report;

use std::net::{SocketAddr, ToSocketAddrs};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::Outcome;
use ground::Ground;
use mix::Mix;

/// Put load on a server over the wire, and measure what it bears
///
/// Works against any ZooKeeper. Makes its nodes under /zoolab-bench and removes them afterwards,
/// also when interrupted.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    zoolab bench wire --connect 127.0.0.1:2181\n  \
    zoolab bench wire --connect 127.0.0.1:2181 --mix set --connections 50 --depth 10\n  \
    zoolab bench wire --connect 127.0.0.1:2181 --mix get=90,set=10 --seconds 30 --json")]
pub(crate) struct Args {
    /// The server
    #[arg(long, value_name = "HOST:PORT")]
    connect: String,

    /// How many connections, each with a session of its own
    #[arg(long, value_name = "COUNT", default_value_t = 10,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    connections: u32,

    /// How many requests each connection has on their way
    #[arg(long, value_name = "COUNT", default_value_t = 100,
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    depth: u32,

    /// What to ask, with weights: get, set, exists, children, create, multi
    #[arg(long, visible_alias = "op", value_name = "OP=WEIGHT,…", default_value = "get=50,set=50")]
    mix: Mix,

    /// How long to measure, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = super::seconds)]
    seconds: Duration,

    /// Stop after so many operations, if that is sooner
    #[arg(long, value_name = "COUNT")]
    ops: Option<u64>,

    /// How long to load the server before measuring, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = super::seconds)]
    warmup: Duration,

    /// How many nodes to read and write
    #[arg(long, value_name = "COUNT", default_value_t = 1000,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    keys: u32,

    /// How many bytes they hold
    #[arg(long, value_name = "BYTES", default_value_t = 100,
          value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    data: u32,

    /// What the questions are drawn from
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,

    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// Measures, and says what came of it.
pub(crate) fn run(args: &Args) -> Outcome {
    let address = resolve(&args.connect)?;
    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupted);
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed))
        .map_err(|error| format!("cannot listen for an interrupt: {error}"))?;
    let ground = Ground { address, keys: args.keys, data: args.data, seed: args.seed };
    ground.prepare(&interrupted)?;
    let measured = load::measure(args, address, &interrupted);
    // Whatever came of it, nothing is left behind.
    let cleared = ground.clear();
    let report = measured?;
    cleared?;
    if args.json {
        let text = serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?;
        println!("{text}");
    } else {
        println!("{report}");
    }
    Ok(ExitCode::SUCCESS)
}

fn resolve(text: &str) -> Result<SocketAddr, String> {
    let expected = "expected HOST:PORT, such as 127.0.0.1:2181";
    let mut found =
        text.to_socket_addrs().map_err(|error| format!("{text}: {error}; {expected}"))?;
    found.next().ok_or_else(|| format!("{text}: no such host; {expected}"))
}
