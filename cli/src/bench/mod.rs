//! `zoolab bench`: how fast, how large.

mod alone;
mod chance;
mod check;
pub(crate) mod clock;
pub(crate) mod figures;
mod frame;
mod memory;
mod sim;
mod wire;

use std::time::Duration;

use crate::Outcome;

/// Measure speed and memory
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Check(check::Args),
    Core(alone::Args),
    Sim(sim::Args),
    Wire(wire::Args),
}

/// Measures, and says what came of it.
pub(crate) fn run(args: &Args) -> Outcome {
    match &args.what {
        What::Check(args) => check::run(args),
        What::Core(args) => alone::run(args),
        What::Sim(args) => sim::measure(args),
        What::Wire(args) => wire::run(args),
    }
}

/// A length of time on the command line.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|error| format!("{error}"))?;
    let time = Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())?;
    if time.is_zero() { Err("it has to be more than nothing".into()) } else { Ok(time) }
}
