//! Four-letter words: plain text questions that people and their tools ask a server.
//!
//! They stand where the length of the first frame would. As lengths they would all be far above
//! any frame that is allowed, so nothing is lost. The answers follow ZooKeeper 3.9 line by line.

mod date;
mod machine;
mod report;

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use zoolab_core::ConnId;

use crate::shared::Shared;

/// What goes before the commit in ZooKeeper's own version. Clients and tools compare it to know
/// what they can ask for.
pub(crate) const VERSION: &str = concat!(
    "3.9.0-zoolab-",
    env!("CARGO_PKG_VERSION"),
    ", built on ",
    // A date would make two builds of one source differ.
    "an unknown date"
);

/// A four-letter word.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Word {
    /// What the server was told at its start.
    Conf,
    /// All connections.
    Cons,
    /// Forget what connections did.
    Crst,
    /// How much is on disk.
    Dirs,
    /// Sessions, ephemerals and connections.
    Dump,
    /// The machine around the server.
    Envi,
    /// The trace mask.
    Gtmk,
    /// Digests of the tree at some transactions.
    Hash,
    /// Whether the server is read-only.
    Isro,
    /// Everything that is counted.
    Mntr,
    /// Are you okay?
    Ruok,
    /// Forget what the server did.
    Srst,
    /// The server in a few lines.
    Srvr,
    /// The same with all connections.
    Stat,
    /// Set the trace mask, which is remembered and has no effect.
    Stmk {
        /// To this.
        mask: i64,
    },
    /// Watches by connection.
    Wchc,
    /// Watches by path.
    Wchp,
    /// Watches, counted.
    Wchs,
}

impl Word {
    /// All words.
    pub const ALL: [Self; 18] = [
        Self::Conf,
        Self::Cons,
        Self::Crst,
        Self::Dirs,
        Self::Dump,
        Self::Envi,
        Self::Gtmk,
        Self::Hash,
        Self::Isro,
        Self::Mntr,
        Self::Ruok,
        Self::Srst,
        Self::Srvr,
        Self::Stat,
        Self::Stmk { mask: 0 },
        Self::Wchc,
        Self::Wchp,
        Self::Wchs,
    ];

    /// The four letters.
    #[must_use]
    pub const fn letters(self) -> &'static str {
        match self {
            Self::Conf => "conf",
            Self::Cons => "cons",
            Self::Crst => "crst",
            Self::Dirs => "dirs",
            Self::Dump => "dump",
            Self::Envi => "envi",
            Self::Gtmk => "gtmk",
            Self::Hash => "hash",
            Self::Isro => "isro",
            Self::Mntr => "mntr",
            Self::Ruok => "ruok",
            Self::Srst => "srst",
            Self::Srvr => "srvr",
            Self::Stat => "stat",
            Self::Stmk { .. } => "stmk",
            Self::Wchc => "wchc",
            Self::Wchp => "wchp",
            Self::Wchs => "wchs",
        }
    }

    /// Reads a word. `None` if these are not the letters of one, `Some(None)` if more bytes have
    /// to come.
    pub(crate) fn parse(letters: [u8; 4], rest: &[u8]) -> Option<Option<Self>> {
        let word = Self::ALL.into_iter().find(|word| word.letters().as_bytes() == letters)?;
        if !matches!(word, Self::Stmk { .. }) {
            return Some(Some(word));
        }
        Some(rest.first_chunk().map(|mask| Self::Stmk { mask: i64::from_be_bytes(*mask) }))
    }
}

/// Which four-letter words are answered. `srvr` always is, as in ZooKeeper.
///
/// Some words tell more than a stranger should know, and some take long.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Whitelist {
    letters: BTreeSet<&'static str>,
}

impl Whitelist {
    /// Every word.
    #[must_use]
    pub fn all() -> Self {
        Self { letters: Word::ALL.into_iter().map(Word::letters).collect() }
    }

    /// Whether a word is answered.
    #[must_use]
    pub fn has(&self, word: Word) -> bool {
        self.letters.contains(word.letters())
    }
}

impl Default for Whitelist {
    fn default() -> Self {
        Self { letters: BTreeSet::from([Word::Srvr.letters()]) }
    }
}

impl FromStr for Whitelist {
    type Err = WhitelistError;

    /// Words with commas between them, or `*`.
    fn from_str(text: &str) -> Result<Self, WhitelistError> {
        let mut list = Self::default();
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            if name == "*" {
                return Ok(Self::all());
            }
            let known = Word::ALL.into_iter().map(Word::letters).find(|letters| *letters == name);
            list.letters.insert(known.ok_or_else(|| WhitelistError { word: name.to_owned() })?);
        }
        Ok(list)
    }
}

impl fmt::Display for Whitelist {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters: Vec<_> = self.letters.iter().copied().collect();
        write!(f, "{}", letters.join(","))
    }
}

/// No such four-letter word.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WhitelistError {
    word: String,
}

impl fmt::Display for WhitelistError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = Word::ALL.map(Word::letters).join(" ");
        write!(f, "no such word: {}; there are: {known}", self.word)
    }
}

impl std::error::Error for WhitelistError {}

/// The answer to a word.
pub(crate) fn answer(shared: &Shared, conn: ConnId, word: Word) -> String {
    let allowed = shared.options.four_letter_words.has(word);
    let now = shared.clock.now();
    shared.with_host(|host| {
        host.totals.received += 1;
        let client = host.client_mut(conn);
        client.counts.received += 1;
        client.word = true;
        let text = if allowed {
            report::Report { shared, host, now }.tell(word)
        } else {
            let letters = word.letters();
            format!("{letters} is not executed because it is not in the whitelist.\n")
        };
        host.totals.sent += 1;
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whitelist_reads_as_it_is_written() {
        assert_eq!(Whitelist::default().to_string(), "srvr");
        let list: Whitelist = "stat, ruok,,".parse().unwrap();
        assert_eq!(list.to_string(), "ruok,srvr,stat");
        assert_eq!("ruok,*".parse(), Ok(Whitelist::all()));
        assert_eq!("".parse(), Ok(Whitelist::default()));
        let error = "ruok,whoa".parse::<Whitelist>().unwrap_err();
        assert!(error.to_string().starts_with("no such word: whoa; there are: conf "));
    }

    #[test]
    fn only_whole_words_are_words() {
        assert_eq!(Word::parse(*b"ruok", b""), Some(Some(Word::Ruok)));
        assert_eq!(Word::parse(*b"RUOK", b""), None);
        assert_eq!(Word::parse([0, 0, 0, 45], b""), None);
        assert_eq!(Word::parse(*b"stmk", &[0; 7]), Some(None));
        let mask = 258_i64.to_be_bytes();
        assert_eq!(Word::parse(*b"stmk", &mask), Some(Some(Word::Stmk { mask: 258 })));
    }

    #[test]
    fn no_word_could_be_a_length() {
        for word in Word::ALL {
            let length = i32::from_be_bytes(word.letters().as_bytes().try_into().unwrap());
            assert!(length > 0x6000_0000, "{word:?}");
        }
    }
}
