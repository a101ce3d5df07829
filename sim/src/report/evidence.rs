//! Which steps a broken promise is about: those that say of the same servers what its sentence
//! says, of the same transactions and epochs.

use zoolab_core::ServerId;

use super::cast::Who;
use super::picture::{Evidence, Fact, Moment};
use crate::drive::End;

/// What a sentence names.
#[derive(Debug, Default, Eq, PartialEq)]
struct Named {
    servers: Vec<ServerId>,
    zxids: Vec<String>,
    epochs: Vec<String>,
}

/// The steps, in order, the one that broke the promise last.
pub(super) fn of(end: &End, steps: &[Moment], facts: &[Fact]) -> Vec<Evidence> {
    let End::Violated(violation) = end else { return Vec::new() };
    let last = u32::try_from(steps.len()).unwrap_or(u32::MAX);
    let named = named(&violation.what);
    let mut found: Vec<&Fact> = Vec::new();
    for zxid in &named.zxids {
        let speaks = |fact: &&Fact| fact.step < last && says(&fact.text, zxid);
        let first = facts.iter().find(speaks);
        found.extend(first);
        for server in &named.servers {
            let its = |fact: &&Fact| fact.who == Who::Server(*server) && speaks(fact);
            found.extend(facts.iter().rev().filter(its).take(2));
        }
    }
    for epoch in &named.epochs {
        let phrase = format!("epoch {epoch}");
        let speaks = |fact: &&Fact| fact.step < last && says(&fact.text, &phrase);
        found.extend(facts.iter().rev().find(speaks));
    }
    found.sort_by_key(|fact| fact.step);
    found.dedup();
    let mut evidence: Vec<Evidence> = found
        .into_iter()
        .map(|fact| Evidence { step: fact.step, text: format!("{} {}", name(fact.who), fact.text) })
        .collect();
    evidence.push(Evidence { step: last, text: violation.what.clone() });
    evidence
}

/// How somebody is called in a sentence.
fn name(who: Who) -> String {
    match who {
        Who::Server(id) => format!("server {id}"),
        Who::Client(id) => format!("client {id}"),
    }
}

/// Whether a text has this, and not as a part of something longer.
fn says(text: &str, what: &str) -> bool {
    text.match_indices(what).any(|(place, _)| {
        let inside = |c: char| c.is_ascii_digit() || c == ':';
        let before = text[..place].chars().next_back().is_some_and(inside);
        // A sentence may go on with a colon after a number; a number goes on with a digit.
        let mut after = text[place + what.len()..].chars();
        let goes_on = match after.next() {
            Some(':') => after.next().is_some_and(|c| c.is_ascii_digit()),
            Some(c) => c.is_ascii_digit(),
            None => false,
        };
        !before && !goes_on
    })
}

fn named(what: &str) -> Named {
    let mut named = Named::default();
    let mut before = "";
    for word in what.split_ascii_whitespace() {
        let plain = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let is_zxid = plain.split_once(':').is_some_and(|(epoch, counter)| {
            epoch.parse::<u32>().is_ok() && counter.parse::<u32>().is_ok()
        });
        if is_zxid {
            named.zxids.push(plain.to_owned());
        } else if let Ok(number) = plain.parse::<u32>() {
            match before {
                "server" | "servers" => {
                    named.servers.extend(u8::try_from(number).ok().map(ServerId));
                }
                "epoch" | "epochs" => named.epochs.push(plain.to_owned()),
                // As in "servers 1 and 2".
                "and" if named.servers.len() == 1 && named.epochs.is_empty() => {
                    named.servers.extend(u8::try_from(number).ok().map(ServerId));
                }
                _ => {}
            }
        }
        before = plain;
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_sentence_names_is_found() {
        let is = |what: &str| {
            let named = named(what);
            let servers: Vec<u8> = named.servers.iter().map(|id| id.0).collect();
            format!("{servers:?} {} | {}", named.zxids.join(" "), named.epochs.join(" "))
        };
        assert_eq!(is("server 2 noted epoch 4 with 3:5 safe, 3:10 is due"), "[2] 3:5 3:10 | 4");
        assert_eq!(is("servers 1 and 3 both lead epoch 7"), "[1, 3]  | 7");
        assert_eq!(is("server 1 committed 1:91, which no quorum has safe"), "[1] 1:91 | ");
    }

    #[test]
    fn a_number_is_not_found_within_a_longer_one() {
        assert!(says("proposes 3:1: create /n0", "3:1"));
        assert!(says("logs 3:1", "3:1"));
        assert!(!says("logs 3:10", "3:1"));
        assert!(!says("logs 13:1", "3:1"));
        assert!(!says("serves epoch 41", "epoch 4"));
    }
}
