//! Feeds a server what no client should send, for as long as one likes.
//!
//! ```text
//!   drawn request -> bytes -> damaged -> decoded -> Server::step -> answers as bytes
//! ```
//!
//! Nothing of it may panic, and the server's invariants must hold. The same seed gives the same
//! hunt. `cargo run --release -p zoolab-sim --example decode-hunt -- --inputs 1000000 --seed 1`

mod draw;
#[path = "../../tests/server/encode.rs"]
mod encode;
mod target;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::Parser;

use draw::Draw;
use target::Target;

/// Feeds a server what no client should send.
#[derive(Debug, Parser)]
struct Args {
    /// How many payloads.
    #[arg(long, default_value_t = 1_000_000)]
    inputs: u64,
    /// Which ones.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> ExitCode {
    let Args { inputs, seed } = Args::parse();
    let mut draw = Draw::new(seed);
    let mut target = Target::new();
    for input in 0..inputs {
        let bytes = draw.payload();
        let held = catch_unwind(AssertUnwindSafe(|| target.take(&bytes)));
        if held.is_err() {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            println!("broken: input {input} of seed {seed}: {hex}");
            return ExitCode::FAILURE;
        }
        if (input + 1) % (inputs / 10).max(1) == 0 {
            eprintln!("{} of {inputs} inputs", input + 1);
        }
    }
    println!("held: {inputs} inputs of seed {seed}: {}", target.summary());
    ExitCode::SUCCESS
}
