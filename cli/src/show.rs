//! `zoolab show`: a recorded run as a picture.

use std::path::PathBuf;
use std::process::ExitCode;

use zoolab_sim::drive::hush_panics;
use zoolab_sim::report::{Excerpt, Picture};
use zoolab_sim::trace::{Trace, replace};

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
        let mut page = Vec::new();
        picture
            .write_page(&name, &mut page)
            .and_then(|()| replace(output, &page))
            .map_err(|error| format!("{}: {error}", output.display()))?;
        let (steps, messages, bytes) = (picture.steps.len(), picture.flights.len(), page.len());
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
