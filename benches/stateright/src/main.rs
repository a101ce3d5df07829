//! The toy broadcast protocol, searched once in a process of its own: by zoolab's engine or by
//! stateright, with the same state of 16 bytes and the same code that delivers a message.
//!
//! Prints: distinct states, steps taken, microseconds of CPU time, bytes by which the process
//! grew at most.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::process::ExitCode;

use nix::time::{ClockId, clock_gettime};
use zoolab_sim::search::toy::{Broadcast, Messages};
use zoolab_sim::search::{End, Limits, Progress, Search};

/// What one run has to show.
struct Run {
    distinct: u64,
    generated: u64,
}

fn zoolab(toy: Broadcast, reduce: bool) -> Run {
    let mut search = Search::new(&toy, reduce);
    let go_on = &mut |_: &Progress<'_>| ControlFlow::Continue(());
    assert_eq!(search.run(&Limits::default(), NonZeroUsize::MIN, go_on), End::Complete);
    let figures = search.figures();
    Run { distinct: figures.distinct, generated: figures.generated }
}

/// The protocol as one version of stateright wants it.
macro_rules! beside {
    ($module:ident, $stateright:ident) => {
        mod $module {
            use super::{Broadcast, Messages, Run};
            use $stateright::{Checker, Model, Property};

            struct Toy(Broadcast);

            impl Model for Toy {
                type State = Messages;
                type Action = u16;

                fn init_states(&self) -> Vec<Messages> {
                    vec![self.0.first()]
                }

                fn actions(&self, state: &Messages, actions: &mut Vec<u16>) {
                    actions.extend(state.each());
                }

                fn next_state(&self, state: &Messages, action: u16) -> Option<Messages> {
                    Some(self.0.deliver(*state, action))
                }

                fn properties(&self) -> Vec<Property<Self>> {
                    vec![Property::always("nothing", |_, _| true)]
                }
            }

            fn run(checker: &impl Checker<Toy>) -> Run {
                checker.assert_properties();
                let (distinct, generated) = (checker.unique_state_count(), checker.state_count());
                Run { distinct: distinct as u64, generated: generated as u64 }
            }

            pub(crate) fn breadth(toy: Broadcast) -> Run {
                run(&Toy(toy).checker().threads(1).spawn_bfs().join())
            }

            pub(crate) fn depth(toy: Broadcast) -> Run {
                run(&Toy(toy).checker().threads(1).spawn_dfs().join())
            }
        }
    };
}

beside!(v30, stateright_0_30);
beside!(v31, stateright_0_31);

/// Nanoseconds of CPU time this process has used.
fn cpu_ns() -> i64 {
    let time = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).expect("Linux has this clock");
    time.tv_sec() * 1_000_000_000 + time.tv_nsec()
}

/// A figure of `/proc/self/status`, in bytes.
fn memory(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has this file");
    let line = status.lines().find(|line| line.starts_with(name)).expect("it has this line");
    let kibibytes = line.split_whitespace().nth(1).expect("the line has a figure");
    kibibytes.parse::<u64>().expect("the figure is a number") * 1024
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse().ok());
    let (Some(engine), Some(followers), Some(proposals)) =
        (arguments.first(), number(1), number(2))
    else {
        eprintln!("beside-stateright: usage: beside-stateright ENGINE FOLLOWERS PROPOSALS");
        return ExitCode::from(2);
    };
    let toy = Broadcast::new(followers, proposals);
    let (cpu, before) = (cpu_ns(), memory("VmRSS"));
    let run = match engine.as_str() {
        "zoolab" => zoolab(toy, false),
        "zoolab-sleep" => zoolab(toy, true),
        "0.30.2-bfs" => v30::breadth(toy),
        "0.30.2-dfs" => v30::depth(toy),
        "0.31.0-bfs" => v31::breadth(toy),
        "0.31.0-dfs" => v31::depth(toy),
        other => {
            eprintln!("beside-stateright: no such engine: {other}");
            return ExitCode::from(2);
        }
    };
    let grown = memory("VmHWM").saturating_sub(before);
    assert_eq!(run.distinct, toy.states(), "{engine} missed states, or invented some");
    println!("{} {} {} {grown}", run.distinct, run.generated, (cpu_ns() - cpu) / 1000);
    ExitCode::SUCCESS
}
