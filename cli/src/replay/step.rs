//! `zoolab replay --step`: forward and back through a recorded run, one line at a time.
//!
//! It reads words and prints lines, so that a person and a script can use it alike.

use std::io::{BufRead, IsTerminal, Write};
use std::ops::ControlFlow;
use std::process::ExitCode;

use zoolab_core::ServerId;
use zoolab_sim::drive::End;
use zoolab_sim::report::cast::{Kind, Who, cast};
use zoolab_sim::report::{Film, facts_of};
use zoolab_sim::seen::Seen;
use zoolab_sim::step::ClientId;

use super::doing;
use crate::say::say;

/// What one can say.
const HELP: &str = "\
Enter, n, n 10    a step on, ten steps on
b, b 10           a step back, ten steps back
120, g 120        to after step 120; 0 is before the first
p                 to where the promise was broken, or to the end
f                 to the next fault
/proposal         to the next step that says so, itself or in what comes of it
d                 what the last step did, once more
s, s 2, s c0      what everybody is, what server 2 or client c0 is
all 2             all of what server 2 is
a                 what could happen now, beside timers, clients and faults
q                 no more";

/// So many moments are kept to go back to.
const KEPT_MAX: usize = 128;

/// Where one is, and moments to go back to.
struct Stepper<'a> {
    film: Film<'a>,
    /// After each so many steps, the first before any.
    kept: Vec<Film<'a>>,
    stride: usize,
    /// Whether it was seen that something failed.
    failed: bool,
}

/// Reads what to do until there is no more.
pub(super) fn run(film: Film<'_>, input: &mut dyn BufRead) -> Result<ExitCode, String> {
    let asks = std::io::stdin().is_terminal();
    let kept = vec![film.clone()];
    let mut stepper = Stepper { film, kept, stride: 64, failed: false };
    let steps = stepper.film.trace().steps.len();
    say!("{steps} steps; ? says what you can say");
    let mut line = String::new();
    loop {
        if asks {
            let mut out = std::io::stdout().lock();
            let written = write!(out, "{}> ", stepper.film.done()).and_then(|()| out.flush());
            written.map_err(|error| format!("standard output: {error}"))?;
        }
        line.clear();
        let read = input.read_line(&mut line);
        if read.map_err(|error| format!("standard input: {error}"))? == 0 {
            break;
        }
        if stepper.obey(line.trim()).is_break() {
            break;
        }
    }
    Ok(if stepper.failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

impl Stepper<'_> {
    fn obey(&mut self, said: &str) -> ControlFlow<()> {
        let (word, rest) = said.split_once(' ').unwrap_or((said, ""));
        let rest = rest.trim();
        let done = self.film.done();
        match (word, count(rest)) {
            ("q" | "quit", _) if rest.is_empty() => return ControlFlow::Break(()),
            ("" | "n", Some(by)) => self.go(done.saturating_add(by)),
            ("b", Some(by)) => {
                if done == 0 {
                    say!("this is the beginning");
                }
                self.go(done.saturating_sub(by));
            }
            ("g", Some(to)) if !rest.is_empty() => self.go(to),
            ("p", _) if rest.is_empty() => self.go(usize::MAX),
            ("f", _) if rest.is_empty() => self.seek("a fault", |stepper| {
                let next = stepper.film.next().map(|(_, step)| cast(step, stepper.film.world()));
                stepper.film.step() && next.is_some_and(|next| next.kind == Kind::Fault)
            }),
            ("d", _) if rest.is_empty() => self.tell(),
            ("s", _) => self.state(rest),
            ("all", _) => match self.find(rest) {
                Some(Who::Server(id)) => say!("{:#?}", self.film.world().host(id)),
                _ => say!("all {rest}: expected a server, {}", self.everybody()),
            },
            ("a", _) if rest.is_empty() => self.possible(),
            ("?" | "h" | "help", _) => say!("{HELP}"),
            (number, Some(_)) if number.parse::<usize>().is_ok() && rest.is_empty() => {
                self.go(number.parse().unwrap_or(usize::MAX));
            }
            _ => match said.strip_prefix('/') {
                Some(wanted) if !wanted.trim().is_empty() => {
                    let wanted = wanted.trim().to_lowercase();
                    self.seek(&format!("{wanted:?}"), |stepper| {
                        stepper.film.step()
                            && stepper.lines().iter().any(|line| line.contains(&wanted))
                    });
                }
                _ => say!("{said:?}: not understood; ? says what you can say"),
            },
        }
        ControlFlow::Continue(())
    }

    /// To after so many steps, or as far as it goes.
    fn go(&mut self, to: usize) {
        let from = self.film.done();
        if to < from {
            let nearest = self.kept.iter().rev().find(|kept| kept.done() <= to);
            self.film = nearest.expect("the beginning is kept").clone();
        }
        let mut goes_on = true;
        while self.film.done() < to && goes_on {
            goes_on = self.film.step();
            self.keep();
        }
        if self.film.end().is_none() && self.film.next().is_none() {
            // Whoever comes to the end learns how it ended.
            self.film.step();
        }
        if self.film.done() == from && to > from {
            say!("this is the end");
        }
        self.tell();
    }

    /// Steps until something is so; stays if it never is.
    fn seek(&mut self, what: &str, mut found: impl FnMut(&mut Self) -> bool) {
        let before = self.film.clone();
        loop {
            let done = self.film.done();
            if found(self) {
                self.keep();
                return self.tell();
            }
            self.keep();
            if self.film.done() == done {
                self.film = before;
                return say!("{what}: there is none from here on");
            }
        }
    }

    /// Keeps this moment, if it is one to be kept.
    fn keep(&mut self) {
        let done = self.film.done();
        if !done.is_multiple_of(self.stride)
            || self.kept.last().is_some_and(|kept| kept.done() >= done)
        {
            return;
        }
        self.kept.push(self.film.clone());
        if self.kept.len() > KEPT_MAX {
            self.stride *= 2;
            let stride = self.stride;
            self.kept.retain(|kept| kept.done().is_multiple_of(stride));
        }
    }

    /// What the last step was, and what came of it.
    fn tell(&mut self) {
        let done = self.film.done();
        let Some((at, step)) = self.film.last() else {
            return say!("step 0: nobody runs yet");
        };
        say!("step {done}  {} us  {step}", at.0);
        for line in self.consequences() {
            say!("    {line}");
        }
        // The moment before is not kept, but for some; it is performed again from one that is.
        let mut before = self.kept.iter().rev().find(|kept| kept.done() < done).cloned();
        while before.as_mut().is_some_and(|film| film.done() + 1 < done && film.step()) {}
        // A server in which our own code has given up is not to be looked at.
        if let Some(before) = before.filter(|_| !matches!(self.film.end(), Some(End::Panicked(_))))
        {
            for who in self.film.everybody() {
                let changes: Vec<String> = before
                    .state(who)
                    .into_iter()
                    .zip(self.film.state(who))
                    .filter(|((_, before), (_, now))| before != now)
                    .map(|((name, before), (_, now))| format!("{name} {before} -> {now}"))
                    .collect();
                if !changes.is_empty() {
                    say!("  {} {}", name(who), changes.join(", "));
                }
            }
        }
        for violation in self.film.overlooked() {
            say!("    overlooked: {violation}");
        }
        match self.film.end() {
            None => {}
            Some(End::Held) => say!("the end: every promise held, in every step"),
            Some(end) => {
                self.failed = true;
                say!("the end: {end}");
            }
        }
    }

    fn consequences(&self) -> Vec<String> {
        let line = |seen: &Seen| {
            if let Seen::Sent { from, to, message } = seen {
                let zxid = message.zxid;
                let zxid = if zxid.0 < 0 { String::new() } else { format!(" {zxid}") };
                return Some(format!("server {from} sends {}{zxid} to {to}", message.kind));
            }
            facts_of(seen).map(|(who, _, text)| format!("{} {text}", name(who)))
        };
        self.film.seen().iter().filter_map(line).collect()
    }

    /// All that is said of the last step, in small letters.
    fn lines(&self) -> Vec<String> {
        let step = self.film.last().map(|(_, step)| step.to_string());
        let lines = step.into_iter().chain(self.consequences());
        lines.map(|line| line.to_lowercase()).collect()
    }

    fn state(&self, whose: &str) {
        if whose.is_empty() {
            return say!("{}", doing(self.film.world()));
        }
        let Some(who) = self.find(whose) else {
            return say!("s {whose}: expected somebody, {}", self.everybody());
        };
        for (what, value) in self.film.state(who) {
            say!("  {what:<15} {value}");
        }
    }

    fn find(&self, whose: &str) -> Option<Who> {
        let server = whose.parse().ok().map(|id| Who::Server(ServerId(id)));
        let client = whose.strip_prefix('c').and_then(|id| id.parse().ok());
        let who = server.or(client.map(|id| Who::Client(ClientId(id))))?;
        self.film.everybody().contains(&who).then_some(who)
    }

    fn everybody(&self) -> String {
        let short = |who: &Who| match who {
            Who::Server(id) => id.to_string(),
            Who::Client(id) => id.to_string(),
        };
        self.film.everybody().iter().map(short).collect::<Vec<_>>().join(", ")
    }

    fn possible(&self) {
        let mut steps = Vec::new();
        self.film.world().enabled(&mut steps);
        if steps.is_empty() {
            say!("nothing, beside timers, clients and faults");
        }
        steps.iter().for_each(|step| say!("  {step}"));
        if let Some((at, next)) = self.film.next() {
            say!("next in the trace, at {} us: {next}", at.0);
        }
    }
}

/// A number; one, if there is nothing.
fn count(text: &str) -> Option<usize> {
    if text.is_empty() { Some(1) } else { text.parse().ok() }
}

fn name(who: Who) -> String {
    match who {
        Who::Server(id) => format!("server {id}"),
        Who::Client(id) => format!("client {id}"),
    }
}
