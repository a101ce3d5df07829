//! `zoolab bugs`: bugs that real servers had, to be switched on and found.

mod hunt;

use std::process::ExitCode;

use comfy_table::{Table, presets};
use zoolab_core::{Bug, Bugs};
use zoolab_sim::checker::Promise;

use crate::Outcome;
use crate::say::say;

/// Look at the bugs of real servers that can be switched on
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    zoolab bugs list\n  \
    zoolab fuzz --bug ZOOKEEPER-4643 --until-failure\n\n\
    They are only there in a program that was built for it, and never in one that serves:\n  \
    cargo build --release --features bugs")]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Print what each is, and which promise it breaks
    List,
    Hunt(hunt::Args),
}

/// Prints them.
pub(crate) fn run(args: &Args) -> Outcome {
    match &args.what {
        What::List => {
            say!("{}\n\n{}", table(), built_in());
            Ok(ExitCode::SUCCESS)
        }
        What::Hunt(args) => hunt::hunt(args),
    }
}

fn table() -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(["bug", "what it is", "promise it breaks"]);
    for bug in Bug::ALL {
        table.add_row([bug.name(), bug.title(), &Promise::broken_by(bug).name()]);
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table.trim_fmt()
}

fn built_in() -> String {
    if Bugs::BUILT_IN {
        format!("built in: zoolab fuzz --bug {} --until-failure", Bug::Zk4643)
    } else {
        "none of them is built in: cargo build --release --features bugs".into()
    }
}
