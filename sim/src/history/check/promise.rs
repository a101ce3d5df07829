//! What is promised to clients, by name.

use std::fmt;
use std::str::FromStr;

/// A promise to clients.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Promise {
    /// Every read shows one state: all of every update up to its position, nothing of later ones.
    At,
    /// Servers with the same zxid have the same tree.
    Digest,
    /// An ephemeral belongs to the session that made it, and has no children.
    Ep1,
    /// An ephemeral is there only while its session is open.
    Ep2,
    /// A session's ephemerals all go when it ends, and not before.
    Ep3,
    /// No session ends while it is heard from in time.
    Ep4,
    /// A session that is not heard from ends within a bound.
    Ep5,
    /// What a session asks takes effect and is answered in the order in which it asked.
    Fifo,
    /// Operations have one order, which respects real time and explains every answer: where there
    /// are no zxids.
    Lin,
    /// Updates have one order, which respects real time and explains every result.
    Lw,
    /// A lost connection loses what was asked last, and nothing before it.
    Pfx,
    /// An update that was acknowledged is kept.
    Rl1,
    /// An update that somebody has seen is kept.
    Rl2,
    /// Nothing is done for a session after its end.
    Se1,
    /// Whoever is told that a session is over is told the truth.
    Se2,
    /// No session has the number of another, and its timeout is one that servers agree to.
    Se3,
    /// Sessions begin and end at positions of their own.
    Se4,
    /// The names of sequential nodes count up.
    Sequence,
    /// A session never sees an older state than it has seen.
    Ssi,
    /// After a sync a session sees what was complete before.
    Sy,
    /// What is read is not older than a bound.
    Tl,
    /// No event without a watch and a change.
    W1,
    /// A watch fires once, at the first change.
    W2,
    /// The event of a change comes before anything newer is seen.
    W3,
    /// No event is missed.
    W4,
    /// Events come in the order of the changes.
    W5,
    /// Events and replies come in one order.
    W6,
    /// Watches of a client that comes back fire for what it missed, or are armed again.
    W7,
    /// An application is told of its session in an order that makes sense.
    W8,
}

impl Promise {
    /// All of them.
    pub const ALL: [Self; 29] = [
        Self::Lw,
        Self::At,
        Self::Ssi,
        Self::Rl1,
        Self::Rl2,
        Self::Fifo,
        Self::Pfx,
        Self::Tl,
        Self::Sy,
        Self::W1,
        Self::W2,
        Self::W3,
        Self::W4,
        Self::W5,
        Self::W6,
        Self::W7,
        Self::W8,
        Self::Ep1,
        Self::Ep2,
        Self::Ep3,
        Self::Ep4,
        Self::Ep5,
        Self::Se1,
        Self::Se2,
        Self::Se3,
        Self::Se4,
        Self::Sequence,
        Self::Digest,
        Self::Lin,
    ];

    /// Its short name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::At => "AT",
            Self::Digest => "DIGEST",
            Self::Ep1 => "EP1",
            Self::Ep2 => "EP2",
            Self::Ep3 => "EP3",
            Self::Ep4 => "EP4",
            Self::Ep5 => "EP5",
            Self::Fifo => "FIFO",
            Self::Lin => "LIN",
            Self::Lw => "LW",
            Self::Pfx => "PFX",
            Self::Rl1 => "RL1",
            Self::Rl2 => "RL2",
            Self::Se1 => "SE1",
            Self::Se2 => "SE2",
            Self::Se3 => "SE3",
            Self::Se4 => "SE4",
            Self::Sequence => "SEQUENCE",
            Self::Ssi => "SSI",
            Self::Sy => "SY",
            Self::Tl => "TL",
            Self::W1 => "W1",
            Self::W2 => "W2",
            Self::W3 => "W3",
            Self::W4 => "W4",
            Self::W5 => "W5",
            Self::W6 => "W6",
            Self::W7 => "W7",
            Self::W8 => "W8",
        }
    }

    /// What it promises, in a few words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::At => "reads show one whole state",
            Self::Digest => "equal zxids are equal trees",
            Self::Ep1 => "ephemerals belong to who made them",
            Self::Ep2 => "ephemerals live only with their session",
            Self::Ep3 => "ephemerals go with their session, not before",
            Self::Ep4 => "no session ends too early",
            Self::Ep5 => "no session ends too late",
            Self::Fifo => "client order",
            Self::Lin => "linearizable",
            Self::Lw => "linearizable writes",
            Self::Pfx => "a lost connection loses a suffix",
            Self::Rl1 => "acknowledged is kept",
            Self::Rl2 => "observed is kept",
            Self::Se1 => "nothing after a session's end",
            Self::Se2 => "expired is true",
            Self::Se3 => "session numbers and timeouts",
            Self::Se4 => "sessions take positions of their own",
            Self::Sequence => "sequential names",
            Self::Ssi => "no session goes back in time",
            Self::Sy => "sync",
            Self::Tl => "staleness within the bound",
            Self::W1 => "no event from nowhere",
            Self::W2 => "a watch fires once, at the first change",
            Self::W3 => "the event before anything newer",
            Self::W4 => "no event missed",
            Self::W5 => "events in the order of changes",
            Self::W6 => "events and replies in one order",
            Self::W7 => "watches after a reconnect",
            Self::W8 => "session events",
        }
    }
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Promise {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|this| this.name().eq_ignore_ascii_case(text));
        found.ok_or_else(|| {
            let all: Vec<&str> = Self::ALL.iter().map(|this| this.name()).collect();
            format!("{text:?} is no promise, expected one of {}", all.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for promise in Promise::ALL {
            assert_eq!(promise.name().parse(), Ok(promise));
        }
        assert!("dance".parse::<Promise>().unwrap_err().starts_with("\"dance\" is no promise"));
    }
}
