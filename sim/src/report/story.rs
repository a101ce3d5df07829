//! A run in words, step by step, without what goes without saying.

use super::cast::{Kind, Who};
use super::evidence::name;
use super::picture::{Fact, Moment};
use super::words::Mark;
use crate::drive::End;

/// More than this nobody reads; the end is what matters.
const SENTENCES_MAX: usize = 400;

/// One step in words.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Sentence {
    /// Which.
    pub step: u32,
    /// What happens.
    pub text: String,
}

/// The last sentences there are to say, and how many were left out before.
pub(super) fn of(steps: &[Moment], facts: &[Fact], end: &End) -> (Vec<Sentence>, usize) {
    let mut sentences = Vec::new();
    let mut rest = facts;
    for (place, moment) in (1..).zip(steps) {
        let its = rest.iter().take_while(|fact| fact.step == place).count();
        let (facts, later) = rest.split_at(its);
        rest = later;
        if let Some(text) = sentence(moment, facts) {
            sentences.push(Sentence { step: place, text });
        }
    }
    let last = u32::try_from(steps.len()).unwrap_or(u32::MAX);
    match end {
        End::Held => {}
        End::Violated(violation) => {
            let text = format!("This breaks {}: {}.", violation.promise, violation.what);
            sentences.push(Sentence { step: last, text });
        }
        End::Diverged { .. } | End::Panicked(_) | End::Stuck(_) => {
            sentences
                .push(Sentence { step: last, text: format!("{}.", capital(&end.to_string())) });
        }
    }
    let left_out = sentences.len().saturating_sub(SENTENCES_MAX);
    (sentences.split_off(left_out), left_out)
}

/// What happens in a step, if it is worth telling.
fn sentence(moment: &Moment, facts: &[Fact]) -> Option<String> {
    let told = facts.iter().filter(|fact| !fact.text.is_empty());
    let worth = |fact: &Fact| !matches!(fact.mark, Mark::Apply | Mark::Write | Mark::Looks);
    let matters = match moment.kind {
        Kind::Fault | Kind::Repair | Kind::Search => true,
        Kind::Vote
        | Kind::Discovery
        | Kind::Sync
        | Kind::Broadcast
        | Kind::Forward
        | Kind::Ping
        | Kind::Link
        | Kind::Client
        | Kind::Disk
        | Kind::Timer => told.clone().any(worth),
    };
    if !matters {
        return None;
    }
    // Whoever has several things to say is named once.
    let mut parts: Vec<(Who, Vec<&str>)> = Vec::new();
    for fact in told {
        match parts.last_mut() {
            Some((who, texts)) if *who == fact.who => texts.push(&fact.text),
            _ => parts.push((fact.who, vec![&fact.text])),
        }
    }
    let parts: Vec<String> =
        parts.into_iter().map(|(who, texts)| format!("{} {}", name(who), list(&texts))).collect();
    let what = happens(moment, !parts.is_empty());
    let both = [what, Some(parts.join("; "))].into_iter().flatten().filter(|part| !part.is_empty());
    Some(format!("{}.", capital(&both.collect::<Vec<_>>().join(": "))))
}

/// A step as a clause; none if what comes of it says it all.
fn happens(moment: &Moment, has_facts: bool) -> Option<String> {
    let verb = moment.text.split(' ').next().unwrap_or_default();
    let words: Vec<&str> = moment.text.split(' ').skip(1).collect();
    let (one, other) = (moment.who.first().copied(), moment.who.get(1).copied());
    let one = one.map(name).unwrap_or_default();
    let other = other.map(name).unwrap_or_default();
    let word = |place: usize| words.get(place).copied().unwrap_or_default();
    Some(match verb {
        "deliver" => {
            let zxid = word(2);
            let zxid = if zxid.contains(':') { format!(" {zxid}") } else { String::new() };
            format!("{}{zxid} from {other} reaches {one}", word(1))
        }
        "vote" => format!("the vote of {other} reaches {one}"),
        "disk" => format!("the disk of {one} is done"),
        "timeout" => format!("{one} has waited long enough ({})", word(1)),
        "closed" => format!("{one} notices the end of its connection with {other}"),
        "dialled" => format!("{one} has dialled {other}"),
        "ask" => format!("a frame of {other} reaches {one}"),
        "crash" | "restart" | "power-loss" | "rot" | "wipe" | "reload" if has_facts => return None,
        "cut" => format!("nothing gets from {other} to {one} any more"),
        "heal" => format!("{one} can be reached from {other} again"),
        "break" => format!("the connection between {one} and {other} breaks"),
        "pause" => format!("{one} stands still"),
        "resume" => format!("{one} goes on"),
        "full" => format!("the disk of {one} is full"),
        "room" => format!("the disk of {one} has room again"),
        "doom" => format!("{one} is to die in its next step, after {} outputs", word(2)),
        "disk-fails" => format!("the disk of {one} fails"),
        "slow-disk" => format!("the disk of {one} takes {} longer", word(1)),
        "slow-link" => format!("messages from {other} to {one} take {} longer", word(1)),
        "lose-vote" => format!("the vote of {other} to {one} is lost"),
        "repeat-vote" => format!("the vote of {other} reaches {one}, and will once more"),
        "jump" => format!("the wall clock of {one} jumps by {}", word(1)),
        "drift" => format!("the clocks of {one} are off by {}", word(1)),
        "elect" => format!("{one} is elected by {}", words[2.min(words.len())..].join(" and ")),
        "join" => format!("{one} finds {other}, its leader"),
        "write" => format!("{one} is asked for a write"),
        "free" => "from now on time stands still".into(),
        _ => moment.text.clone(),
    })
}

fn list(texts: &[&str]) -> String {
    match texts {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [many @ .., last] => format!("{} and {last}", many.join(", ")),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
