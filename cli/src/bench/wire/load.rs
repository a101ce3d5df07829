//! The load itself: all connections kept full until the time is up.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::Args;
use super::line::Line;
use super::mix::Asker;
use super::report::{Report, Tally};
use crate::bench::clock::{now, worked};

/// How long nothing may come from any connection.
const PATIENCE: Duration = Duration::from_secs(30);

/// Waits until one of these can go on; says for each whether it can.
pub(super) fn wait<'a>(
    lines: impl Iterator<Item = &'a Line>,
    patience: Duration,
) -> Result<Vec<bool>, String> {
    let mut fds: Vec<PollFd<'a>> = lines
        .map(|line| {
            let out = if line.is_sending() { PollFlags::POLLOUT } else { PollFlags::empty() };
            PollFd::new(line.fd(), PollFlags::POLLIN | out)
        })
        .collect();
    let timeout = PollTimeout::try_from(patience).map_err(|error| error.to_string())?;
    match poll(&mut fds, timeout) {
        Ok(0) => Err(format!("the server has said nothing for {} s", patience.as_secs())),
        // An interrupt is looked at by whoever waits.
        Ok(_) | Err(nix::errno::Errno::EINTR) => {
            Ok(fds.iter().map(|fd| fd.any().unwrap_or(true)).collect())
        }
        Err(error) => Err(format!("while waiting: {error}")),
    }
}

/// Loads the server and measures it.
pub(super) fn measure(
    args: &Args,
    address: SocketAddr,
    interrupted: &AtomicBool,
) -> Result<Report, String> {
    let mut lines = Vec::new();
    for name in 0..args.connections {
        let asker = Asker::new(args.mix.clone(), args.keys, args.data, args.seed, name);
        lines.push((Line::open(address)?, asker));
    }
    let bar = progress(args);
    let mut tally = Tally::default();
    let mut start = now();
    let mut warm = false;
    let mut busy = worked();
    let depth = args.depth as usize;
    for (line, asker) in &mut lines {
        refill(line, asker, depth)?;
    }
    loop {
        let ready = wait(lines.iter().map(|(line, _)| line), PATIENCE)?;
        let mut time = now();
        let elapsed = time - start;
        if !warm && elapsed >= args.warmup {
            warm = true;
            (tally, start, busy) = (Tally::default(), time, worked());
        } else if warm {
            bar.set_position(elapsed.as_millis() as u64);
            let enough = args.ops.is_some_and(|ops| tally.ops() >= ops);
            if elapsed >= args.seconds || enough || interrupted.load(Ordering::Relaxed) {
                bar.finish_and_clear();
                let busy = worked() - busy;
                return Ok(Report::new(args, tally, elapsed, busy));
            }
        } else if interrupted.load(Ordering::Relaxed) {
            bar.finish_and_clear();
            return Err("interrupted before anything was measured".into());
        }
        for ((line, asker), _) in lines.iter_mut().zip(ready).filter(|(_, ready)| *ready) {
            line.receive(|answer| {
                time = now();
                tally.add(answer.kind, answer.err, time - answer.asked);
            })?;
            refill(line, asker, depth)?;
        }
    }
}

/// As many new requests as were answered, in one write.
fn refill(line: &mut Line, asker: &mut Asker, depth: usize) -> Result<(), String> {
    let asked = now();
    while line.due() < depth {
        let (kind, request) = asker.next();
        line.ask(kind, &request, asked);
    }
    line.send()
}

fn progress(args: &Args) -> ProgressBar {
    let bar = ProgressBar::new(args.seconds.as_millis() as u64);
    let style = ProgressStyle::with_template("{wide_bar} {percent}% of {msg}");
    bar.set_style(style.expect("a template that has been tried"));
    bar.set_message(format!("{} s", args.seconds.as_secs_f64()));
    bar
}
