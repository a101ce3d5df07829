//! What makes two failures the same: the promise, what those were doing whom it is about, and the
//! sentence without its numbers.

use std::fmt;

use serde::{Deserialize, Serialize};
use zoolab_core::ServerId;

use crate::drive::End;
use crate::world::World;

/// What two failures have in common that are the same failure.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Fingerprint {
    /// The promise that was broken, or how it failed otherwise.
    pub what: String,
    /// What those were doing, just before, of whom the sentence speaks.
    pub roles: Vec<String>,
    /// The sentence without its numbers.
    pub shape: String,
}

impl Fingerprint {
    /// Of a run that ended like this, if it failed.
    #[must_use]
    pub fn of(end: &End, roles: &Roles) -> Option<Self> {
        let (what, sentence) = match end {
            End::Held | End::Diverged { .. } => return None,
            End::Panicked(what) => ("panicked".to_owned(), what),
            End::Stuck(what) => ("stuck".to_owned(), what),
            End::Violated(violation) => (violation.promise.name(), &violation.what),
        };
        let roles = if matches!(end, End::Violated(_)) { roles.of(sentence) } else { Vec::new() };
        Some(Self { what, roles, shape: shape(sentence) })
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        if !self.roles.is_empty() {
            write!(f, " ({})", self.roles.join(", "))?;
        }
        write!(f, ": {}", self.shape)
    }
}

/// What each server was doing before the last step.
#[derive(Clone, Debug, Default)]
pub struct Roles(Vec<(ServerId, &'static str)>);

impl Roles {
    /// Looks at them once more.
    pub fn look(&mut self, world: &World) {
        self.0.clear();
        self.0.extend(world.servers().iter().map(|id| {
            let doing = world.host(*id).server.as_ref().map_or("down", |server| server.doing());
            (*id, doing)
        }));
    }

    /// What those were doing of whom this sentence speaks.
    fn of(&self, sentence: &str) -> Vec<String> {
        let words: Vec<&str> = words(sentence).collect();
        let mut roles = Vec::new();
        for two in words.windows(2) {
            let named = matches!(two[0], "server" | "leader" | "learner" | "follower");
            let id = two[1].parse().map(ServerId).ok().filter(|_| named);
            let known = self.0.iter().find(|(server, _)| Some(*server) == id);
            roles.extend(known.map(|(_, doing)| (*doing).to_owned()));
        }
        roles
    }
}

fn words(sentence: &str) -> impl Iterator<Item = &str> {
    sentence.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Every word that has a digit becomes one and the same.
fn shape(sentence: &str) -> String {
    let mut shape = String::new();
    for part in sentence.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let end = part.chars().next_back().filter(|c| !c.is_alphanumeric());
        let word = end.map_or(part, |end| &part[..part.len() - end.len_utf8()]);
        let counts = word.contains(|c: char| c.is_ascii_digit());
        shape.push_str(if counts { "#" } else { word });
        shape.extend(end);
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_do_not_count_and_words_do() {
        assert_eq!(
            shape("server 2 does not start again: log.10000009a: byte 16: 1:154 after 1:154"),
            "server # does not start again: log.#: byte #: #:# after #:#"
        );
        assert_eq!(shape("nothing"), "nothing");
        assert_ne!(shape("commit 1:2 where 1:1 was due"), shape("commit 1:2 where nothing was"));
    }

    #[test]
    fn roles_are_those_of_whom_a_sentence_speaks() {
        let roles = Roles(vec![(ServerId(1), "leading"), (ServerId(2), "joining")]);
        let of = |sentence| roles.of(sentence).join(" ");
        assert_eq!(of("server 2 noted epoch 1 with 2:1 safe"), "joining");
        assert_eq!(of("server 2 votes for server 1 at 0:0"), "joining leading");
        assert_eq!(of("epoch 3 begins with 2:1, which no quorum has safe"), "");
    }
}
