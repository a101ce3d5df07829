//! `zoolab show`: a recorded run as a picture.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use zoolab_sim::drive::hush_panics;
use zoolab_sim::report::{Excerpt, Picture};
use zoolab_sim::trace::Trace;

use crate::Outcome;
use crate::say::say;

/// Draw a recorded run: a page of HTML that needs nothing else, or lines for the terminal
///
/// A lane for each server and client, messages as arrows, crashes and cuts as marks, what
/// everybody is at each step, and the promise that was broken with what it is about.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    zoolab show traces/shown/election.jsonl -o election.html\n  \
    zoolab show traces/shown/election.jsonl --text\n  \
    zoolab show long.jsonl.zst --text --steps 12000..12100")]
pub(crate) struct Args {
    /// The trace, compressed or not
    #[arg(value_name = "TRACE")]
    file: PathBuf,
    /// Where the page goes
    #[arg(short, long, value_name = "FILE", required_unless_present = "text")]
    output: Option<PathBuf>,
    /// Draw it in lines, in the terminal
    #[arg(long)]
    text: bool,
    /// Which steps to draw in lines; without it, the last ones
    #[arg(long, value_name = "FROM..TO", requires = "text", value_parser = steps)]
    steps: Option<(u32, u32)>,
}

/// How many lines are drawn of a run that is longer, if nobody says which.
const LINES: usize = 120;

fn steps(text: &str) -> Result<(u32, u32), String> {
    let range = text.split_once("..").and_then(|(from, to)| {
        let to = if to.is_empty() { u32::MAX } else { to.parse().ok()? };
        Some((if from.is_empty() { 1 } else { from.parse().ok()? }, to))
    });
    let (from, to) = range.ok_or("expected two steps, as in 100..200")?;
    if from > to {
        return Err(format!(
            "expected the first step not to be after the last, found {from}..{to}"
        ));
    }
    Ok((from, to))
}

/// Draws it.
pub(crate) fn run(args: &Args) -> Outcome {
    let trace = Trace::read(&args.file).map_err(|error| error.to_string())?;
    hush_panics();
    let file = args.file.display();
    let picture = Picture::of(&trace).map_err(|error| format!("{file}:1: {error}"))?;
    if args.text {
        draw(args, &picture)?;
    }
    if let Some(output) = &args.output {
        let name = args.file.file_name().unwrap_or(args.file.as_os_str()).to_string_lossy();
        let bytes = write(output, |out| picture.write_page(&name, out))
            .map_err(|error| format!("{}: {error}", output.display()))?;
        let (steps, messages) = (picture.steps.len(), picture.flights.len());
        say!("{}: {steps} steps, {messages} messages, {bytes} bytes", output.display());
    }
    Ok(ExitCode::SUCCESS)
}

fn draw(args: &Args, picture: &Picture) -> Result<(), String> {
    let last = u32::try_from(picture.steps.len()).unwrap_or(u32::MAX);
    let excerpt = match args.steps {
        None => Excerpt { steps: 1..=last, lines: LINES },
        Some((from, _)) if from > last => {
            return Err(format!("--steps: expected steps from 1 to {last}, found {from}"));
        }
        Some((from, to)) => Excerpt { steps: from..=to, lines: usize::MAX },
    };
    let mut text = String::new();
    if let Some(about) = &picture.about {
        say!("{about}");
    }
    say!("seed {}: {}", picture.seed, picture.plan);
    picture.draw_text(&excerpt, &mut text).map_err(|error| error.to_string())?;
    say!("{}", text.trim_end());
    Ok(())
}

/// Writes a file beside where it is to be, and gives it its name when it is whole.
fn write(
    path: &Path,
    content: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> io::Result<u64> {
    let found = std::fs::metadata(path);
    if found.as_ref().is_ok_and(std::fs::Metadata::is_dir) {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "Is a directory"));
    }
    if found.is_ok_and(|found| !found.is_file()) {
        // A pipe or a terminal keeps its name.
        return fill(File::options().write(true).open(path)?, content).map(|(_, bytes)| bytes);
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let written = File::create(&part).and_then(|file| fill(file, content)).and_then(|written| {
        let (file, bytes) = written;
        file.sync_all()?;
        std::fs::rename(&part, path)?;
        Ok(bytes)
    });
    if written.is_err() {
        // What is half written is nothing to anybody.
        let _ = std::fs::remove_file(&part);
    }
    written
}

/// Writes all of it, and says how much that was.
fn fill(
    file: File,
    content: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> io::Result<(File, u64)> {
    let mut out = Counted { out: BufWriter::new(file), bytes: 0 };
    content(&mut out)?;
    let bytes = out.bytes;
    let file = out.out.into_inner().map_err(io::IntoInnerError::into_error)?;
    Ok((file, bytes))
}

struct Counted {
    out: BufWriter<File>,
    bytes: u64,
}

impl io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
