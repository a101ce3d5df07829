//! What a load consists of.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::Serialize;
use zoolab_core::acl::AclWish;
use zoolab_core::request::{Create, CreateOp, Op, Request};
use zoolab_core::{Data, Text};

use super::ground::{ROOT, key};
use crate::bench::chance::Chance;

/// One kind of request.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Get,
    Set,
    Exists,
    Children,
    Create,
    Multi,
}

impl Kind {
    pub(super) const ALL: [Self; 6] =
        [Self::Get, Self::Set, Self::Exists, Self::Children, Self::Create, Self::Multi];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Set => "set",
            Self::Exists => "exists",
            Self::Children => "children",
            Self::Create => "create",
            Self::Multi => "multi",
        }
    }
}

/// Kinds of requests and how often each is asked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Mix {
    /// Invariant: not empty, no weight is zero.
    weights: Vec<(Kind, usize)>,
}

impl Mix {
    pub(super) fn draw(&self, chance: &mut Chance) -> Kind {
        let [(only, _)] = self.weights[..] else {
            let mut place = chance.below(self.weights.iter().map(|(_, weight)| weight).sum());
            for &(kind, weight) in &self.weights {
                if place < weight {
                    return kind;
                }
                place -= weight;
            }
            unreachable!("drawn below the sum of all weights");
        };
        only
    }
}

impl FromStr for Mix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut weights: Vec<(Kind, usize)> = Vec::new();
        for part in text.split(',') {
            let (name, weight) = part.split_once('=').unwrap_or((part, "1"));
            let kind = Kind::ALL.into_iter().find(|kind| kind.name() == name);
            let Some(kind) = kind else {
                let names: Vec<_> = Kind::ALL.into_iter().map(Kind::name).collect();
                return Err(format!("no such operation: {name:?}; expected {}", names.join(", ")));
            };
            let weight = weight.parse().ok().filter(|weight| (1..=1_000_000).contains(weight));
            let Some(weight) = weight else {
                return Err(format!("{part:?}: a weight of 1 to 1000000 expected"));
            };
            if weights.iter().any(|(other, _)| *other == kind) {
                return Err(format!("{name:?} is named twice"));
            }
            weights.push((kind, weight));
        }
        Ok(Self { weights })
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (kind, weight)) in self.weights.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(f, "{comma}{}={weight}", kind.name())?;
        }
        Ok(())
    }
}

/// Makes requests of a mix.
#[derive(Debug)]
pub(super) struct Asker {
    mix: Mix,
    keys: usize,
    data: Data,
    acl: Vec<AclWish>,
    chance: Chance,
    /// Makes the names of created nodes one's own.
    name: u32,
    created: u64,
}

impl Asker {
    pub(super) fn new(mix: Mix, keys: u32, data: u32, seed: u64, name: u32) -> Self {
        let mut chance = Chance::new(seed.wrapping_add(u64::from(name) << 32));
        let data = Some(Arc::from(chance.bytes(data as usize)));
        Self { mix, keys: keys as usize, data, acl: open_acl(), chance, name, created: 0 }
    }

    pub(super) fn next(&mut self) -> (Kind, Request) {
        let kind = self.mix.draw(&mut self.chance);
        let (watch, version) = (false, -1);
        let request = match kind {
            Kind::Get => Request::GetData { path: self.any(), watch },
            Kind::Set => Request::SetData { path: self.any(), data: self.data.clone(), version },
            Kind::Exists => Request::Exists { path: self.any(), watch },
            Kind::Children => Request::GetChildren { path: self.any(), watch, stat: false },
            Kind::Create => {
                self.created += 1;
                let path = format!("{ROOT}/c-{}-{}", self.name, self.created).into();
                Request::Create(create(path, self.data.clone(), self.acl.clone()))
            }
            Kind::Multi => Request::Multi(vec![
                Op::Check { path: self.any(), version },
                Op::SetData { path: self.any(), data: self.data.clone(), version },
            ]),
        };
        (kind, request)
    }

    fn any(&mut self) -> Text {
        key(self.chance.below(self.keys))
    }
}

pub(super) fn open_acl() -> Vec<AclWish> {
    vec![AclWish { perms: 31, scheme: Some("world".into()), id: Some("anyone".into()) }]
}

pub(super) fn create(path: Text, data: Data, acl: Vec<AclWish>) -> Create {
    Create { op: CreateOp::Create, path, data, acl: Some(acl), flags: 0, ttl_ms: -1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixes_are_read_and_written() {
        let mix: Mix = "get=90,set=10".parse().unwrap();
        assert_eq!(mix.to_string(), "get=90,set=10");
        assert_eq!("create".parse::<Mix>().unwrap().to_string(), "create=1");
        for (bad, word) in [
            ("", "no such"),
            ("got", "no such"),
            ("get=0", "weight"),
            ("get,get", "twice"),
            ("get=x", "weight"),
        ] {
            let error = bad.parse::<Mix>().unwrap_err();
            assert!(error.contains(word), "{bad:?}: {error}");
        }
    }

    #[test]
    fn weights_are_kept() {
        let mix: Mix = "get=3,set=1".parse().unwrap();
        let mut chance = Chance::new(1);
        let gets = (0..4000).filter(|_| mix.draw(&mut chance) == Kind::Get).count();
        assert!((2800..3200).contains(&gets), "{gets}");
    }
}
