//! storage: do ZooKeeper and zoolab understand each other's data directories?

use std::error::Error;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use zoolab_tests::storage::exercise::{self, Size};
use zoolab_tests::storage::reading::Reading;
use zoolab_tests::storage::{compose, lines};

/// Every command prints the tree it deals with, one line a node; equal trees give equal lines.
///
/// Exit code 0: done; 1: a directory does not hold what it should; 2: it could not be tried.
#[derive(Debug, Parser)]
#[command(name = "storage")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Use a server a little; print what it says afterwards
    Exercise {
        /// HOST:PORT
        #[arg(value_parser = address)]
        server: SocketAddr,
        /// Only so much as can be kept in a repository
        #[arg(long)]
        small: bool,
    },
    /// Print what a server says
    Ask {
        /// HOST:PORT
        #[arg(value_parser = address)]
        server: SocketAddr,
    },
    /// Read a directory, from each of its snapshots on; print what it holds
    Read {
        /// The directory with the files, `version-2`
        directory: PathBuf,
    },
    /// Go on in a directory, which may be empty; print what must be found in it
    Write {
        /// The directory with the files, `version-2`
        directory: PathBuf,
    },
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let mut found = text.to_socket_addrs().map_err(|error| error.to_string())?;
    found.next().ok_or_else(|| "no such host".to_owned())
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(complaints) if complaints.is_empty() => ExitCode::SUCCESS,
        Ok(complaints) => {
            complaints.iter().for_each(|complaint| eprintln!("storage: {complaint}"));
            ExitCode::from(1)
        }
        Err(error) => {
            eprintln!("storage: {error}");
            ExitCode::from(2)
        }
    }
}

/// Does it, and says what is wrong with a directory.
fn run(command: Command) -> Result<Vec<String>, Box<dyn Error>> {
    let mut complaints = Vec::new();
    let lines = match command {
        Command::Exercise { server, small } => {
            let size = if small { Size::Small } else { Size::Large };
            let clients = exercise::exercise(server, size)?;
            let lines = lines::of_server(server)?;
            drop(clients);
            lines
        }
        Command::Ask { server } => lines::of_server(server)?,
        Command::Read { directory } => {
            let reading = Reading::of(&directory)?;
            eprintln!("storage: {}: {reading}", directory.display());
            complaints = reading.complaints;
            lines::of_tree(&reading.recovered.saved.tree)
        }
        Command::Write { directory } => {
            std::fs::create_dir_all(&directory)?;
            let reading = Reading::of(&directory)?;
            eprintln!("storage: {}: {reading}", directory.display());
            complaints = reading.complaints;
            lines::of_tree(&compose::compose(&directory, reading.recovered)?)
        }
    };
    lines.iter().for_each(|line| println!("{line}"));
    Ok(complaints)
}
