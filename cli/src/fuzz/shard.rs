//! A part of a campaign: every N-th seed.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// See the [module](self).
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub(super) struct Shard {
    /// Which, counted from one.
    pub(super) part: u64,
    pub(super) of: u64,
}

impl Shard {
    /// All of it.
    pub(super) const WHOLE: Self = Self { part: 1, of: 1 };
    /// More parts are none.
    const MOST: u64 = 100_000;

    /// How many of so many places are its own.
    pub(super) const fn share(self, places: u64) -> u64 {
        (places + self.of - self.part) / self.of
    }

    /// Where its n-th place is among all.
    pub(super) const fn place(self, n: u64) -> u64 {
        n * self.of + self.part - 1
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.part, self.of)
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> Self {
        shard.to_string()
    }
}

impl TryFrom<String> for Shard {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || "expected a part and how many there are, as in 3/8".to_owned();
        let (part, of) = text.split_once('/').ok_or_else(expected)?;
        let number = |text: &str| text.parse::<u64>().map_err(|_| expected());
        let (part, of) = (number(part)?, number(of)?);
        if !(1..=Self::MOST).contains(&of) {
            return Err(format!("expected 1 to {} parts, found {of}", Self::MOST));
        }
        if !(1..=of).contains(&part) {
            return Err(format!("expected a part from 1 to {of}, found {part}"));
        }
        Ok(Self { part, of })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_in_one_shard() {
        for of in 1..5 {
            for places in 0..12 {
                let mut all = Vec::new();
                for part in 1..=of {
                    let shard = Shard { part, of };
                    all.extend((0..shard.share(places)).map(|n| shard.place(n)));
                }
                all.sort_unstable();
                assert_eq!(all, (0..places).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_shard_is_one_of_those_there_are() {
        assert_eq!("3/8".parse(), Ok(Shard { part: 3, of: 8 }));
        for (text, expected) in [
            ("9/8", "expected a part from 1 to 8, found 9"),
            ("0/8", "expected a part from 1 to 8, found 0"),
            ("1/0", "expected 1 to 100000 parts, found 0"),
            ("3", "expected a part and how many there are, as in 3/8"),
        ] {
            assert_eq!(text.parse::<Shard>(), Err(expected.to_owned()));
        }
    }
}
