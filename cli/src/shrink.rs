//! `zoolab shrink`: a failing trace, as short as it can be.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use zoolab_sim::drive::hush_panics;
use zoolab_sim::shrink::{Limits, NotShrunk, Shrunk, shrink};
use zoolab_sim::story::Story;
use zoolab_sim::trace::Trace;

use crate::Outcome;
use crate::bench::clock;
use crate::finding::Pasted;
use crate::say::say;

/// Make a failing trace as short as it can be
///
/// Everything is left out without which it fails in the same way: the same promise is broken, by
/// servers in the same roles, in the same words. Elections become one step where that changes
/// nothing. The result is a trace like any other, and a story.
///
/// The same trace and the same number of runs give the same result, whoever shrinks it; a limit in
/// seconds does not.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    zoolab shrink target/traces/seed-7.jsonl\n  \
    zoolab shrink seed-7.jsonl -o traces/found/lost-write.jsonl --time 60\n  \
    zoolab shrink seed-7.jsonl --fine                  elections stay step by step")]
pub(crate) struct Args {
    /// A trace that fails, compressed or not
    #[arg(value_name = "TRACE")]
    file: PathBuf,
    /// Where the short one goes; beside the long one if not said
    #[arg(short, long, value_name = "OUT")]
    out: Option<PathBuf>,
    /// Stop after so many runs
    #[arg(long, value_name = "N", default_value = "20000",
        value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// Stop after so many seconds
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..))]
    time: Option<u64>,
    /// Keep elections step by step
    #[arg(long)]
    fine: bool,
}

/// Shrinks it, writes it, and tells its story.
pub(crate) fn run(args: &Args) -> Outcome {
    let trace = Trace::read(&args.file).map_err(|error| error.to_string())?;
    let out = args.out.clone().unwrap_or_else(|| beside(&args.file));
    if same_file(&out, &args.file) {
        let (out, file) = (out.display(), args.file.display());
        return Err(format!("--out {out}: expected another file than {file}"));
    }
    hush_panics();
    let file = args.file.display();
    let shrunk = small(&trace, args).map_err(|why| match why {
        NotShrunk::Diverges { count, .. } => format!("{file}:{}: {why}", count + 1),
        NotShrunk::Setting(_) => format!("{file}:1: {why}"),
        NotShrunk::Holds | NotShrunk::NotStuck => format!("{file}: {why}"),
    })?;
    shrunk.trace.write(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    let story = Story::of(&shrunk.trace).map_err(|error| error.to_string())?;
    let Shrunk { before, runs, .. } = shrunk;
    say!("{}", shrunk.fingerprint);
    say!("{before} steps, {} are enough ({runs} runs)", shrunk.trace.steps.len());
    if !shrunk.whole {
        say!("stopped before everything was tried: --runs and --time allow more");
    }
    say!("\n{story}\n\ntrace: zoolab replay {}", Pasted(&out));
    Ok(ExitCode::SUCCESS)
}

fn small(trace: &Trace, args: &Args) -> Result<Shrunk, NotShrunk> {
    let bar = ProgressBar::new_spinner();
    let style = ProgressStyle::with_template("{spinner} {msg}");
    bar.set_style(style.expect("the template is one"));
    let (start, most) = (clock::now(), args.time.map(Duration::from_secs));
    let limits = Limits { runs: Some(args.runs), fine: args.fine };
    let shrunk = shrink(trace, limits, &mut |progress| {
        if progress.runs.is_multiple_of(16) {
            let (runs, steps) = (progress.runs, progress.steps);
            bar.set_message(format!("{steps} steps, {runs} runs: {}", progress.pass));
            bar.tick();
        }
        if most.is_some_and(|most| start.elapsed() >= most) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    bar.finish_and_clear();
    shrunk
}

/// `a/seed-7.jsonl.zst` becomes `a/seed-7.short.jsonl`.
fn beside(file: &Path) -> PathBuf {
    let name = file.file_name().map_or("trace".into(), |name| name.to_string_lossy());
    let name = name.strip_suffix(".zst").unwrap_or(&name);
    let name = name.strip_suffix(".jsonl").unwrap_or(name);
    file.with_file_name(format!("{name}.short.jsonl"))
}

fn same_file(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| std::fs::canonicalize(path).ok();
    one == other || place(one).is_some() && place(one) == place(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_one_lies_beside_the_long_one() {
        assert_eq!(beside(Path::new("a/b.jsonl.zst")), Path::new("a/b.short.jsonl"));
        assert_eq!(beside(Path::new("b")), Path::new("b.short.jsonl"));
    }
}
