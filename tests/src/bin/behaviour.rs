//! behaviour: does the async client do on this server what it promises?

use std::process::ExitCode;

use clap::Parser;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};
use zoolab_tests::behaviour::{Stage, names, perform};

/// Performs scripts with the async client, against a server that it starts, kills and starts
/// again. Exit code 0: all is as promised; 1: something is not; 2: it could not be tried.
#[derive(Debug, Parser)]
#[command(name = "behaviour")]
struct Arguments {
    /// Where the server listens, HOST:PORT
    address: String,
    /// Only these scripts
    #[arg(long, value_name = "NAME", value_parser = script)]
    only: Vec<String>,
    /// What starts the server and stays in the foreground: it takes super:test for its superuser,
    /// allows nodes with a time to live, and keeps its data when it is killed
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

fn script(name: &str) -> Result<String, String> {
    if names().any(|known| known == name) {
        return Ok(name.to_owned());
    }
    Err(format!("there are {}", names().collect::<Vec<_>>().join(", ")))
}

fn main() -> ExitCode {
    let Arguments { address, only, command } = Arguments::parse();
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let mut told_to_stop = signal(SignalKind::terminate()).expect("signals can be waited for");
        let performed = play(address, &only, command);
        // Either way the server goes with its stage.
        tokio::select! {
            code = performed => code,
            _ = told_to_stop.recv() => ExitCode::from(2),
        }
    })
}

async fn play(address: String, only: &[String], command: Vec<String>) -> ExitCode {
    let mut stage = match Stage::new(address, command).await {
        Ok(stage) => stage,
        Err(error) => {
            eprintln!("behaviour: {error}");
            return ExitCode::from(2);
        }
    };
    let wanted = |name: &str| only.is_empty() || only.iter().any(|only| only == name);
    match perform(&mut stage, wanted).await {
        Ok(()) => {
            println!("{} scripts are as promised", names().filter(|name| wanted(name)).count());
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("not as promised: {error}");
            ExitCode::from(1)
        }
    }
}
