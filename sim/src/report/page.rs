//! A picture as one page of HTML that needs nothing else: no network, no other file.
//!
//! What is many is packed into bytes, small numbers in one byte each, and the page unpacks what it
//! draws. Texts are kept as what they have in common and the numbers in between: thousands of
//! steps are made of some dozens of sentences.
//!
//! ```text
//!   steps    for each: microseconds since the one before, text, facts: how many, lane, mark, text
//!   starts   for every 256th step: where it begins in `steps`, its time
//!   who      for each step: its kind, its first two lanes
//!   flights  for each: steps since the last one was sent, lanes, kind, fate, how long, text
//!   series   for each of a lane: how many changes, steps since the one before, value
//! ```

use std::collections::BTreeMap;
use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::cast::Kind;
use super::flights::Fate;
use super::picture::Picture;
use super::words::Mark;
use crate::drive::End;

/// From how many steps on the page looks up where one is.
const STRIDE: usize = 256;
/// Stands for a number in a text.
const HOLE: char = '\u{1}';
/// More sentences than this nobody reads; the end is what matters.
const SENTENCES_MAX: usize = 400;
/// Nobody's lane.
const NOBODY: u8 = 255;

const HTML: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");

/// Texts by number, with holes where they have numbers.
#[derive(Debug, Default)]
struct Texts {
    by_text: BTreeMap<String, usize>,
    all: Vec<String>,
}

impl Texts {
    fn number(&mut self, text: String) -> usize {
        if let Some(number) = self.by_text.get(&text) {
            return *number;
        }
        let number = self.all.len();
        self.all.push(text.clone());
        self.by_text.insert(text, number);
        number
    }

    /// Puts a text's number, and its numbers.
    fn put(&mut self, text: &str, out: &mut Vec<u8>) {
        let (with_holes, numbers) = holes(text);
        put(out, self.number(with_holes) as u64);
        numbers.into_iter().for_each(|number| put(out, number));
    }
}

/// A text with its numbers taken out: those that come back as they were.
fn holes(text: &str) -> (String, Vec<u64>) {
    let (mut with_holes, mut numbers) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let digits = rest[start..].find(|c: char| !c.is_ascii_digit());
        let end = digits.map_or(rest.len(), |digits| start + digits);
        let run = &rest[start..end];
        let is_plain = run == "0" || !run.starts_with('0');
        let is_word = rest[end..].starts_with(|c: char| c.is_alphanumeric());
        with_holes.push_str(&rest[..start]);
        match run.parse::<u64>() {
            Ok(number) if run.len() <= 9 && is_plain && !is_word => {
                with_holes.push(HOLE);
                numbers.push(number);
            }
            _ => with_holes.push_str(run),
        }
        rest = &rest[end..];
    }
    with_holes.push_str(rest);
    (with_holes, numbers)
}

/// Seven bits a byte, the lowest first; the highest bit says that there is more.
fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

impl Picture {
    /// Writes the page.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_page(&self, title: &str, out: &mut dyn Write) -> io::Result<()> {
        let mut texts = Texts::default();
        let mut bytes = Vec::new();
        let mut sections = BTreeMap::new();
        let mut section = |name: &'static str, part: Vec<u8>| {
            sections.insert(name, [bytes.len(), part.len()]);
            bytes.extend(part);
        };
        let (steps, starts) = self.pack_steps(&mut texts);
        section("steps", steps);
        section("starts", starts);
        section("who", self.pack_who());
        section("flights", self.pack_flights(&mut texts));
        section("series", self.pack_series(&mut texts));
        let left_out = self.story.lines.len().saturating_sub(SENTENCES_MAX);
        let meta = json!({
            "title": title,
            "about": self.about,
            "seed": self.seed.to_string(),
            "plan": self.plan,
            "steps": self.steps.len(),
            "flights": self.flights.len(),
            "stride": STRIDE,
            "sections": sections,
            "texts": texts.all,
            "kinds": Kind::ALL.map(Kind::name),
            "marks": Mark::ALL.into_iter().map(Mark::name).collect::<Vec<_>>(),
            "lanes": self.lanes.iter().map(|lane| json!({
                "name": lane.name,
                "kind": lane.kind.name(),
                "series": lane.series.iter().map(|series| series.name).collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
            "end": self.ending(),
            "evidence": self.evidence.iter().map(|one| json!([one.step, one.text]))
                .collect::<Vec<_>>(),
            "story": self.story.lines[left_out..],
            "storyEnd": self.story.end,
            "leftOut": left_out,
        });
        // The page is drawn before its data is read.
        let mut rest = HTML;
        while let Some((before, (name, after))) =
            rest.split_once("{{").and_then(|(before, rest)| Some((before, rest.split_once("}}")?)))
        {
            out.write_all(before.as_bytes())?;
            match name {
                "title" => out.write_all(escape(title).as_bytes())?,
                "style" => out.write_all(STYLE.as_bytes())?,
                "script" => out.write_all(SCRIPT.as_bytes())?,
                // Nothing in it may end the element that it is in.
                "meta" => {
                    let text = serde_json::to_string(&meta).map_err(io::Error::from)?;
                    out.write_all(text.replace('<', "\\u003c").as_bytes())?;
                }
                "data" => out.write_all(STANDARD.encode(&bytes).as_bytes())?,
                other => unreachable!("the page has no {other}"),
            }
            rest = after;
        }
        out.write_all(rest.as_bytes())
    }

    fn ending(&self) -> serde_json::Value {
        match &self.end {
            End::Held => json!({ "word": "held", "what": "every promise held, in every step" }),
            End::Violated(violation) => json!({
                "word": "violated",
                "promise": violation.promise.name(),
                "what": violation.what,
            }),
            End::Diverged { .. } => json!({ "word": "diverged", "what": self.end.to_string() }),
            End::Panicked(what) => json!({ "word": "panicked", "what": what }),
            End::Stuck(what) => json!({ "word": "stuck", "what": what }),
        }
    }

    /// The steps, and where one finds them.
    fn pack_steps(&self, texts: &mut Texts) -> (Vec<u8>, Vec<u8>) {
        let (mut steps, mut starts) = (Vec::new(), Vec::new());
        let (mut before, mut facts) = (0, &self.facts[..]);
        for (place, moment) in self.steps.iter().enumerate() {
            if place.is_multiple_of(STRIDE) {
                put(&mut starts, steps.len() as u64);
                put(&mut starts, before);
            }
            put(&mut steps, moment.at.0 - before);
            before = moment.at.0;
            texts.put(&moment.text, &mut steps);
            let its = facts.iter().take_while(|fact| fact.step as usize == place + 1).count();
            put(&mut steps, its as u64);
            for fact in &facts[..its] {
                steps.push(self.lane_byte(Some(fact.who)));
                steps.push(fact.mark as u8);
                texts.put(&fact.text, &mut steps);
            }
            facts = &facts[its..];
        }
        (steps, starts)
    }

    fn pack_who(&self) -> Vec<u8> {
        let one = |moment: &super::picture::Moment| {
            let lane = |place: usize| self.lane_byte(moment.who.get(place).copied());
            [moment.kind as u8, lane(0), lane(1)]
        };
        self.steps.iter().flat_map(one).collect()
    }

    fn pack_flights(&self, texts: &mut Texts) -> Vec<u8> {
        let mut out = Vec::new();
        let mut before = 0;
        let last = u32::try_from(self.steps.len()).unwrap_or(u32::MAX);
        for flight in &self.flights {
            // One that is repeated was sent earlier than those before it here.
            let sent = flight.sent.max(before);
            put(&mut out, u64::from(sent - before));
            before = sent;
            out.push(self.lane_byte(Some(flight.from)));
            out.push(self.lane_byte(Some(flight.to)));
            let (fate, until) = match flight.fate {
                Fate::Arrived(step) => (0, step),
                Fate::Lost(step) => (1, step),
                Fate::UnderWay => (2, last),
                Fate::Replaced(step) => (3, step),
            };
            out.push(flight.kind as u8 | fate << 6);
            put(&mut out, u64::from(until.saturating_sub(sent)));
            texts.put(&flight.label, &mut out);
        }
        out
    }

    fn pack_series(&self, texts: &mut Texts) -> Vec<u8> {
        let mut out = Vec::new();
        for series in self.lanes.iter().flat_map(|lane| &lane.series) {
            put(&mut out, series.changes.len() as u64);
            let mut before = 0;
            for (step, value) in &series.changes {
                put(&mut out, u64::from(step - before));
                before = *step;
                texts.put(&value.to_string(), &mut out);
            }
        }
        out
    }

    fn lane_byte(&self, who: Option<super::cast::Who>) -> u8 {
        let place = who.and_then(|who| self.lane_of(who));
        place.and_then(|place| u8::try_from(place).ok()).unwrap_or(NOBODY)
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_out_of_a_text_comes_back() {
        for text in [
            "deliver 1->3 PROPOSAL 1:7 #2",
            "crash 1 luck=1f3a90",
            "slow-disk 2 500us",
            "0 00 007 12345678901 -4",
            "",
        ] {
            let (with_holes, numbers) = holes(text);
            let mut numbers = numbers.into_iter();
            let back: String = with_holes
                .chars()
                .map(|c| if c == HOLE { numbers.next().unwrap().to_string() } else { c.into() })
                .collect();
            assert_eq!(back, text);
            assert_eq!(numbers.next(), None);
        }
        assert_eq!(holes("vote 1->3").0, holes("vote 2->1").0);
    }

    #[test]
    fn numbers_are_short_if_they_are_small() {
        let packed = |number| {
            let mut out = Vec::new();
            put(&mut out, number);
            out
        };
        assert_eq!(packed(127), [127]);
        assert_eq!(packed(128), [0x80, 1]);
        assert_eq!(packed(u64::from(u32::MAX)).len(), 5);
    }
}
