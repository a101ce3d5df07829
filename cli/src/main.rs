//! zoolab: the command line. Arguments in, one function called, one exit code out.

mod bench;
mod bugs;
mod check;
mod finding;
mod fuzz;
mod plan;
mod replay;
mod run;
mod say;
mod search;
mod serve;
mod show;
mod shrink;
mod summary;

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

/// Could not run: bad arguments, an address in use, an unreadable file.
const COULD_NOT_RUN: u8 = 2;

/// A laboratory for ZooKeeper
///
/// zoolab is a complete ZooKeeper written as pure state machines, and the tools around it.
#[derive(Debug, Parser)]
#[command(
    name = "zoolab",
    version,
    after_help = "Start here:\n  \
        zoolab                          a few seconds of fuzzing\n  \
        zoolab run --seed 42            one run of a simulated ensemble\n  \
        zoolab fuzz --seeds 0..1000     many; what fails is grouped and shrunk\n  \
        zoolab replay FILE              a recorded run, to the letter\n  \
        zoolab show FILE -o PAGE.html   a recorded run as a picture\n  \
        zoolab shrink FILE              the few steps of it that matter\n  \
        zoolab check FILE               whether a recorded history keeps the promises\n  \
        zoolab bugs list                bugs of real servers, to be found\n  \
        zoolab serve                    serve ZooKeeper clients on 127.0.0.1:2181\n  \
        zoolab help serve               what a verb does, and all its options\n\n\
        Exit codes:\n  \
        0  all went well, and every promise held\n  \
        1  a promise was broken\n  \
        2  could not run; one line on standard error says why"
)]
struct Cli {
    #[command(subcommand)]
    verb: Option<Verb>,
}

/// One module per verb.
#[derive(Debug, Subcommand)]
enum Verb {
    Bench(bench::Args),
    Bugs(bugs::Args),
    Check(check::Args),
    Fuzz(fuzz::Args),
    Replay(replay::Args),
    Run(run::Args),
    Search(search::Args),
    Serve(serve::Args),
    Show(show::Args),
    Shrink(shrink::Args),
}

/// How a verb ended: with an exit code, or with one line about why it could not run.
type Outcome = Result<ExitCode, String>;

fn main() -> ExitCode {
    let outcome = match Cli::try_parse() {
        Ok(Cli { verb }) => match verb {
            None => fuzz::glance(),
            Some(Verb::Bench(args)) => bench::run(&args),
            Some(Verb::Bugs(args)) => bugs::run(&args),
            Some(Verb::Check(args)) => check::run(&args),
            Some(Verb::Fuzz(args)) => fuzz::run(&args),
            Some(Verb::Replay(args)) => replay::run(&args),
            Some(Verb::Run(args)) => run::run(&args),
            Some(Verb::Search(args)) => search::run(&args),
            Some(Verb::Serve(args)) => serve::run(args),
            Some(Verb::Show(args)) => show::run(&args),
            Some(Verb::Shrink(args)) => shrink::run(&args),
        },
        Err(error) => misunderstood(&error),
    };
    outcome.unwrap_or_else(|why| {
        eprintln!("zoolab: {why}");
        ExitCode::from(COULD_NOT_RUN)
    })
}

/// Help is an answer, anything else a complaint.
fn misunderstood(error: &clap::Error) -> Outcome {
    if !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        // Nobody may be listening, and that is fine.
        let _ = error.print();
        return Ok(ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(COULD_NOT_RUN)));
    }
    Err(one_line(&error.to_string()))
}

/// The first paragraph of what clap has to say, on one line.
fn one_line(message: &str) -> String {
    let message = message.strip_prefix("error: ").unwrap_or(message);
    let paragraph = message.lines().map(str::trim).take_while(|line| !line.is_empty());
    paragraph.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_makes_sense() {
        Cli::command().debug_assert();
    }

    #[test]
    fn complaints_are_one_line() {
        let complaint = |line: &str| {
            let error = Cli::try_parse_from(line.split(' ')).unwrap_err();
            one_line(&error.to_string())
        };
        assert_eq!(
            complaint("zoolab serve --tick soon"),
            "invalid value 'soon' for '--tick <MS>': invalid digit found in string"
        );
        assert_eq!(complaint("zoolab serve --tock 1"), "unexpected argument '--tock' found");
        assert_eq!(complaint("zoolab dance"), "unrecognized subcommand 'dance'");
    }
}
