//! One server of a configuration: `host:port:port[:role][;[address:]port]`.

use alloc::string::ToString as _;
use alloc::vec::Vec;
use core::fmt;

use super::MembersError;
use crate::Text;

/// Clients may come by any of the host's addresses unless one is given.
const ANYWHERE: &str = "0.0.0.0";

/// Whether a server votes.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Part {
    /// It does.
    Participant,
    /// It follows without a vote.
    Observer,
}

impl Part {
    const fn name(self) -> &'static str {
        match self {
            Self::Participant => "participant",
            Self::Observer => "observer",
        }
    }
}

/// A host and one of its ports. Names stay names: whoever dials resolves them.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Address {
    /// A name or an address, without brackets.
    pub host: Text,
    /// The port.
    pub port: u16,
}

impl Address {
    /// Whether it means one place: the same wildcard or loopback on two hosts is no conflict.
    fn is_one_place(&self) -> bool {
        let everywhere = matches!(&*self.host, ANYWHERE | "::" | "::1" | "localhost");
        !everywhere && !self.host.starts_with("127.")
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

/// One member of an ensemble: where it is, and what part it has.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Spec {
    /// Where its learners connect while it leads.
    pub quorum: Address,
    /// Where the others tell it whom to follow; on the same host.
    pub election_port: u16,
    /// Whether it votes.
    pub part: Part,
    /// Where clients connect, if that is known.
    pub client: Option<Address>,
}

impl Spec {
    /// A server at these ports, as ZooKeeper's documents number them.
    #[must_use]
    pub fn usual(host: &str, part: Part) -> Self {
        let client = Address { host: ANYWHERE.into(), port: 2181 };
        let quorum = Address { host: host.into(), port: 2888 };
        Self { quorum, election_port: 3888, part, client: Some(client) }
    }

    /// Reads one.
    ///
    /// # Errors
    /// If it is none.
    pub fn parse(text: &str) -> Result<Self, MembersError> {
        let wrong = || MembersError::Spec { found: text.into() };
        let halves = pieces(text, ';');
        let (server, client) = match halves[..] {
            [server] => (server, None),
            [server, client] => (server, Some(client)),
            _ => return Err(wrong()),
        };
        let client = match client.map(host_and_rest).transpose()? {
            None => None,
            Some((port, rest)) if rest.is_empty() => {
                Some(Address { host: ANYWHERE.into(), port: number(port)? })
            }
            Some((host, rest)) => match rest[..] {
                [port] => Some(Address { host: host.into(), port: number(port)? }),
                _ => return Err(wrong()),
            },
        };
        let (host, rest) = host_and_rest(server)?;
        let (port, election_port, part) = match rest[..] {
            [port, election] => (port, election, Part::Participant),
            [port, election, part] => match part.trim().to_ascii_lowercase().as_str() {
                "participant" => (port, election, Part::Participant),
                "observer" => (port, election, Part::Observer),
                _ => return Err(wrong()),
            },
            _ => return Err(wrong()),
        };
        let (port, election_port) = (number(port)?, number(election_port)?);
        if port == election_port {
            return Err(wrong());
        }
        let quorum = Address { host: host.into(), port };
        Ok(Self { quorum, election_port, part, client })
    }

    /// An address that both would use.
    #[must_use]
    pub fn clash(&self, other: &Self) -> Option<Address> {
        let theirs: Vec<Address> = other.addresses().collect();
        self.addresses().find(|mine| theirs.contains(mine))
    }

    fn addresses(&self) -> impl Iterator<Item = Address> {
        let election = Address { host: self.quorum.host.clone(), port: self.election_port };
        let all = [Some(self.quorum.clone()), Some(election), self.client.clone()];
        all.into_iter().flatten().filter(Address::is_one_place)
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { quorum, election_port, part, client } = self;
        write!(f, "{quorum}:{election_port}:{}", part.name())?;
        if let Some(client) = client { write!(f, ";{client}") } else { Ok(()) }
    }
}

/// What lies between the separators; empty ends do not count, as in Java.
fn pieces(text: &str, separator: char) -> Vec<&str> {
    text.trim_end_matches(separator).split(separator).collect()
}

/// A host, which may be in brackets, and what follows it.
fn host_and_rest(text: &str) -> Result<(&str, Vec<&str>), MembersError> {
    let Some(inner) = text.strip_prefix('[') else {
        let mut all = pieces(text, ':');
        let host = all.remove(0);
        return Ok((host, all));
    };
    let wrong = || MembersError::Spec { found: text.into() };
    let (host, rest) = inner.split_once(']').ok_or_else(wrong)?;
    if host.is_empty() {
        return Err(wrong());
    }
    match rest.strip_prefix(':') {
        Some(rest) => Ok((host, pieces(rest, ':'))),
        None if rest.is_empty() => Ok((host, Vec::new())),
        None => Err(wrong()),
    }
}

fn number(text: &str) -> Result<u16, MembersError> {
    let number: i32 =
        text.parse().map_err(|_| MembersError::Spec { found: text.to_string().into() })?;
    number.try_into().map_err(|_| MembersError::Number { found: text.into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn what_is_written_is_what_was_read_in_full() {
        let all = [
            ("a:1:2", "a:1:2:participant"),
            ("a:1:2:observer", "a:1:2:observer"),
            ("a:1:2:PARTICIPANT;2181", "a:1:2:participant;0.0.0.0:2181"),
            ("10.0.0.1:1:2;b:3", "10.0.0.1:1:2:participant;b:3"),
            ("[2001:db8::1]:1:2;[::]:3", "[2001:db8::1]:1:2:participant;[::]:3"),
        ];
        for (text, full) in all {
            let spec = Spec::parse(text).unwrap();
            assert_eq!(format!("{spec}"), full);
            assert_eq!(Spec::parse(full), Ok(spec));
        }
    }

    #[test]
    fn what_is_none_is_refused() {
        for text in
            ["", "a", "a:1", "a:1:2:3:4", "a:1:1", "a:x:2", "a:1:2:leader", "a:1:2;b:3:4", "[a:1:2"]
        {
            assert!(matches!(Spec::parse(text), Err(MembersError::Spec { .. })), "{text:?}");
        }
        assert!(matches!(Spec::parse("a:1:70000"), Err(MembersError::Number { .. })));
        assert!(matches!(Spec::parse("a:1:2;-3"), Err(MembersError::Number { .. })));
    }

    #[test]
    fn an_address_belongs_to_one_server() {
        let spec = |text: &str| Spec::parse(text).unwrap();
        let clash = |a: &str, b: &str| spec(a).clash(&spec(b)).map(|place| format!("{place}"));
        assert_eq!(clash("a:1:2;2181", "b:1:2;2181"), None, "everywhere is on each host another");
        assert_eq!(clash("a:1:2", "a:3:4"), None);
        assert_eq!(clash("a:1:2", "a:3:1"), Some("a:1".into()));
        assert_eq!(clash("a:1:2", "b:1:2;a:2"), Some("a:2".into()));
        assert_eq!(clash("127.0.0.1:1:2", "127.0.0.1:1:2"), None, "nor is loopback one place");
    }
}
