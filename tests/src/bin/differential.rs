//! differential: does the right server answer as the left one does?

use std::collections::{BTreeMap, BTreeSet};
use std::net::{SocketAddr, ToSocketAddrs};
use std::ops::Range;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Parser;
use zoolab_tests::differential::generate::{Setting, sequence};
use zoolab_tests::differential::refusals;
use zoolab_tests::differential::run::{Run, Stop};
use zoolab_tests::differential::sabotage::Sabotage;
use zoolab_tests::raw::{code, event, opcode};

/// Performs the same random sequences on two servers and compares everything they say.
///
/// The left server is the reference, a ZooKeeper 3.8; both must be freshly started, and take
/// super:test for their superuser. Exit code 0: no difference; 1: a difference; 2: it could not be
/// tried.
#[derive(Debug, Parser)]
#[command(name = "differential")]
struct Arguments {
    /// The reference, HOST:PORT
    #[arg(long, value_parser = address)]
    left: SocketAddr,
    /// The server to be compared with it, HOST:PORT
    #[arg(long, value_parser = address)]
    right: SocketAddr,
    /// Which sequences, FROM..TO
    #[arg(long, default_value = "0..100", value_parser = range)]
    seeds: Range<u64>,
    /// Steps per sequence
    #[arg(long, default_value_t = 200)]
    ops: usize,
    /// Both servers have extended types enabled
    #[arg(long)]
    extended_types: bool,
    /// Both servers enforce quotas
    #[arg(long)]
    enforce_quota: bool,
    /// Ask the right server also for what 3.9 refuses and 3.8 does not survive
    #[arg(long)]
    refusals: bool,
    /// Alter one answer of the right server: must end in a difference
    #[arg(long)]
    sabotage: Option<Sabotage>,
    /// Only print the steps
    #[arg(long)]
    show: bool,
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let mut found = text.to_socket_addrs().map_err(|error| error.to_string())?;
    found.next().ok_or_else(|| "no such host".to_owned())
}

fn range(text: &str) -> Result<Range<u64>, String> {
    let expected = || "a range is written FROM..TO".to_owned();
    let (from, to) = text.split_once("..").ok_or_else(expected)?;
    let number = |text: &str| text.parse().map_err(|_| expected());
    Ok(number(from)?..number(to)?)
}

impl Arguments {
    fn setting(&self) -> Setting {
        let Self { extended_types, enforce_quota, .. } = *self;
        Setting { extended_types, enforce_quota }
    }

    /// The command that shows a seed's run again.
    fn again(&self, seed: u64) -> String {
        let mut line = "cargo run -p zoolab-tests --bin differential --".to_owned();
        line += &format!(" --left {} --right {}", self.left, self.right);
        line += &format!(" --seeds {seed}..{} --ops {}", seed + 1, self.ops);
        for (flag, name) in [
            (self.extended_types, " --extended-types"),
            (self.enforce_quota, " --enforce-quota"),
            (self.refusals, " --refusals"),
        ] {
            line += if flag { name } else { "" };
        }
        line
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.show {
        show(&arguments);
        return ExitCode::SUCCESS;
    }
    match compare(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Differs(failure)) => {
            print!("{failure}");
            println!("    again  {}", arguments.again(failure.seed));
            println!("           (on servers freshly started)");
            ExitCode::from(1)
        }
        Err(Stop::Unfit(why)) => {
            eprintln!("differential: {why}");
            ExitCode::from(2)
        }
        Err(Stop::Unreachable { side, error }) => {
            eprintln!("differential: the {side} server: {error}");
            ExitCode::from(2)
        }
    }
}

fn show(arguments: &Arguments) {
    for seed in arguments.seeds.clone() {
        for (index, op) in sequence(seed, arguments.ops, arguments.setting()).iter().enumerate() {
            println!("{seed}.{index}  {op}");
        }
    }
}

fn compare(arguments: &Arguments) -> Result<(), Stop> {
    let mut run = Run::new(arguments.left, arguments.right, now_ms())?;
    run.sabotage = arguments.sabotage;
    let (mut passed, mut steps) = (0, 0);
    for seed in arguments.seeds.clone() {
        run.sequence(seed, arguments.ops, arguments.setting())?;
        passed += 1;
        steps += arguments.ops;
    }
    run.finish()?;
    let mut refused = 0;
    if arguments.refusals {
        let (asked, complaints) = refusals::ask_all(arguments.right)
            .map_err(|error| Stop::Unreachable { side: "right", error })?;
        if !complaints.is_empty() {
            for complaint in &complaints {
                println!("differs: {complaint}");
            }
            println!("    again  {}", arguments.again(arguments.seeds.start));
            std::process::exit(1);
        }
        refused = asked;
    }
    report(&run, passed, steps, refused);
    Ok(())
}

fn report(run: &Run, passed: usize, steps: usize, refused: usize) {
    let requests: u64 = run.comparison.answers.values().sum();
    let events: u64 = run.comparison.events.values().sum();
    println!(
        "{passed} passed, 0 failed: {steps} steps, {requests} answers, {events} events, \
         {refused} refusals"
    );
    tell("", &run.comparison.answers);
    tell("in multi: ", &run.comparison.results);
    for (kind, count) in &run.comparison.events {
        println!("  {:31} {count}", event::name(*kind));
    }
    for (name, count) in &run.comparison.used {
        println!("  accepted difference: {name} {count}");
    }
}

/// One line per opcode: how often each answer was given.
fn tell(place: &str, answers: &BTreeMap<(i32, i32), u64>) {
    let opcodes: BTreeSet<i32> = answers.keys().map(|(opcode, _)| *opcode).collect();
    for asked in opcodes {
        let codes = answers.range((asked, i32::MIN)..=(asked, i32::MAX)).rev();
        let codes: Vec<String> =
            codes.map(|((_, err), count)| format!("{} {count}", code::name(*err))).collect();
        let name = if asked == -1 { "error" } else { opcode::name(asked) };
        println!("  {:31} {}", format!("{place}{name} ({asked})"), codes.join(", "));
    }
}

#[expect(clippy::disallowed_methods, reason = "servers stamp nodes with the wall clock")]
fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is past 1970");
    i64::try_from(since.as_millis()).expect("and before the year 292 million")
}
