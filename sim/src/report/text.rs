//! A picture for a terminal: a column for each lane, a line for each step.
//!
//! ```text
//!    step         time    1              2              3
//!      42     1.204 ms    ┃──PROPOSAL 1:3─────────────▶ │    3 logs 1:3
//! ```

use std::fmt::{self, Write as _};
use std::ops::RangeInclusive;

use super::cast::{Kind, Who};
use super::flights::{Fate, Flight};
use super::lanes::{Lane, Value};
use super::picture::{Fact, Picture};
use super::words::Mark;
use crate::drive::End;

/// How many characters a lane takes.
const WIDTH: usize = 15;

/// What of a picture is drawn.
#[derive(Clone, Debug)]
pub struct Excerpt {
    /// Which steps.
    pub steps: RangeInclusive<u32>,
    /// How many lines at most; the last ones are drawn.
    pub lines: usize,
}

impl Picture {
    /// Draws it in lines.
    ///
    /// # Errors
    /// If nothing can be written.
    pub fn draw_text(&self, excerpt: &Excerpt, out: &mut dyn fmt::Write) -> fmt::Result {
        let mut facts: Vec<&[Fact]> = vec![&[]; self.steps.len() + 1];
        for chunk in self.facts.chunk_by(|one, other| one.step == other.step) {
            facts[chunk[0].step as usize] = chunk;
        }
        let mut arrivals: Vec<Option<&Flight>> = vec![None; self.steps.len() + 1];
        for flight in &self.flights {
            if let Fate::Arrived(step) = flight.fate {
                arrivals[step as usize] = Some(flight);
            }
        }
        let in_range = |step: &u32| excerpt.steps.contains(step);
        let drawn = (1..=u32::try_from(self.steps.len()).unwrap_or(u32::MAX))
            .filter(in_range)
            .filter(|step| self.is_worth_a_line(*step, facts[*step as usize]));
        let drawn: Vec<u32> = drawn.collect();
        let left_out = drawn.len().saturating_sub(excerpt.lines);
        if left_out > 0 {
            writeln!(out, "{left_out} earlier lines left out; --steps shows others")?;
        }
        let mut head = format!("{:>7} {:>14}   ", "step", "time");
        for lane in &self.lanes {
            let name = lane.name.trim_start_matches("server ").trim_start_matches("client ");
            let _ = write!(head, "{name:<WIDTH$}");
        }
        writeln!(out, "{}", head.trim_end())?;
        for step in &drawn[left_out..] {
            self.draw_line(*step, arrivals[*step as usize], facts[*step as usize], out)?;
        }
        match &self.end {
            End::Held => writeln!(out, "held: every promise, in every step"),
            End::Violated(_) => {
                writeln!(out, "{}", self.end)?;
                let because = &self.evidence[..self.evidence.len().saturating_sub(1)];
                because
                    .iter()
                    .try_for_each(|one| writeln!(out, "  step {}: {}", one.step, one.text))
            }
            End::Diverged { .. } | End::Panicked(_) | End::Stuck(_) => {
                writeln!(out, "{}", self.end)
            }
        }
    }

    /// Signs of life, connections and timers speak for themselves only if something comes of them.
    fn is_worth_a_line(&self, step: u32, facts: &[Fact]) -> bool {
        match self.steps[step as usize - 1].kind {
            Kind::Ping | Kind::Link | Kind::Timer | Kind::Client => {
                facts.iter().any(|fact| !fact.text.is_empty())
            }
            Kind::Vote
            | Kind::Discovery
            | Kind::Sync
            | Kind::Broadcast
            | Kind::Forward
            | Kind::Disk
            | Kind::Fault
            | Kind::Repair
            | Kind::Search => true,
        }
    }

    fn draw_line(
        &self,
        step: u32,
        arrival: Option<&Flight>,
        facts: &[Fact],
        out: &mut dyn fmt::Write,
    ) -> fmt::Result {
        let moment = &self.steps[step as usize - 1];
        let mut line = vec![' '; self.lanes.len() * WIDTH];
        for (place, lane) in self.lanes.iter().enumerate() {
            line[place * WIDTH] = line_of(lane, step);
        }
        let place_of = |who: Who| self.lane_of(who).map(|place| place * WIDTH);
        let places = arrival.map(|flight| (place_of(flight.from), place_of(flight.to)));
        if let (Some(flight), Some((Some(from), Some(to)))) = (arrival, places) {
            draw_arrow(&mut line, from, to, &flight.label);
        } else if let Some(place) = moment.who.first().and_then(|who| place_of(*who)) {
            line[place] = '●';
        }
        for fact in facts {
            if let (Some(place), Some(glyph)) = (place_of(fact.who), glyph(fact.mark)) {
                line[place] = glyph;
            }
        }
        let mut words: Vec<String> = Vec::new();
        if arrival.is_none() {
            words.push(moment.text.clone());
        }
        for fact in facts.iter().filter(|fact| !fact.text.is_empty()) {
            let who = match fact.who {
                Who::Server(id) => id.to_string(),
                Who::Client(id) => id.to_string(),
            };
            words.push(format!("{who} {}", fact.text));
        }
        let line: String = line.into_iter().collect();
        let us = moment.at.0;
        let time = format!("{}.{:06} s", us / 1_000_000, us % 1_000_000);
        let text = format!("{step:>7} {time:>14}   {line}{}", words.join("; "));
        writeln!(out, "{}", text.trim_end())
    }
}

/// A lane's own line, by what its owner does.
fn line_of(lane: &Lane, step: u32) -> char {
    let Value::Word(role) = lane.series[0].after(step) else { return ' ' };
    match *role {
        "leading" => '┃',
        "following" | "observing" | "connected" => '│',
        "down" | "refused" | "halted" | "away" | "without session" => ' ',
        _ => '┆',
    }
}

fn draw_arrow(line: &mut [char], from: usize, to: usize, label: &str) {
    let (low, high) = (from.min(to), from.max(to));
    line[low + 1..high].fill('─');
    if to > from {
        line[to - 1] = '▶';
    } else {
        line[to + 1] = '◀';
    }
    let room = high - low - 3;
    let label: Vec<char> = label.chars().take(room).collect();
    let start = low + 2 + (room - label.len()) / 2;
    line[start..start + label.len()].copy_from_slice(&label);
}

const fn glyph(mark: Mark) -> Option<char> {
    Some(match mark {
        Mark::Crash | Mark::Halt | Mark::Refused => '✗',
        Mark::PowerLoss => '↯',
        Mark::Start => '△',
        Mark::Cut | Mark::Break => '╳',
        Mark::Pause => '‖',
        Mark::Wipe => '∅',
        Mark::Rot => '⌁',
        Mark::Commit => '✓',
        Mark::Sync | Mark::Epoch | Mark::Install | Mark::Truncate => '■',
        Mark::Write => '□',
        Mark::Apply
        | Mark::Branch
        | Mark::Client
        | Mark::Clock
        | Mark::Closed
        | Mark::DiskFails
        | Mark::Doom
        | Mark::Elected
        | Mark::Full
        | Mark::Heal
        | Mark::Leads
        | Mark::Leaves
        | Mark::Looks
        | Mark::Propose
        | Mark::Reload
        | Mark::Resume
        | Mark::Serves
        | Mark::Slow
        | Mark::Snapshot
        | Mark::Timer => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_point_to_where_messages_arrive() {
        let drawn = |from: usize, to: usize, label: &str| {
            let mut line = vec!['.'; 2 * WIDTH];
            draw_arrow(&mut line, from * WIDTH, to * WIDTH, label);
            line.into_iter().collect::<String>()
        };
        assert_eq!(drawn(0, 1, "ACK 1:3"), ".───ACK 1:3───▶...............");
        assert_eq!(drawn(1, 0, "FOLLOWERINFO 1:0"), ".◀FOLLOWERINFO─...............");
    }
}
