//! Where servers are: `host:port`, lists of them, and the connection string that names both a
//! list and a chroot.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::chroot::Chroot;
use crate::Text;
use crate::path;

/// What `host` without a port means.
pub const DEFAULT_PORT: u16 = 2181;

/// One server, by a name or a number that whoever dials can resolve.
///
/// A name may stand for several machines. It is resolved anew for each attempt, one of the
/// results at random, by whoever dials: the client only knows names.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Address {
    /// In lower case, an IPv6 address without its brackets.
    pub host: Text,
    /// Not zero.
    pub port: u16,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

/// Servers to choose from, at least one.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct ServerList(Arc<[Address]>);

impl ServerList {
    /// These servers, or `None` if there is none.
    #[must_use]
    pub fn new(servers: Vec<Address>) -> Option<Self> {
        (!servers.is_empty()).then(|| Self(servers.into()))
    }

    /// All of them, as given.
    #[must_use]
    pub fn all(&self) -> &[Address] {
        &self.0
    }

    /// The most draws that following this list can use up: to shuffle it, to decide whether to
    /// leave a server, and to choose among the others one by one.
    #[must_use]
    pub fn draws(&self) -> usize {
        self.0.len() * 2
    }
}

/// `host1:port1,host2:port2/chroot`.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct ConnectString {
    /// Whom to connect to.
    pub servers: ServerList,
    /// What the client takes for the root.
    pub chroot: Chroot,
}

impl ConnectString {
    /// Takes a connection string apart.
    ///
    /// What comes after the first slash is the chroot. Blanks around servers and empty places
    /// between commas are passed over, and a colon without a port counts as none, as in ZooKeeper.
    /// IPv6 addresses are in brackets: without them nobody can tell a port from an address.
    ///
    /// # Errors
    /// Says at which byte of the text something else was expected.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let (list, chroot) = text.split_at(text.find('/').unwrap_or(text.len()));
        let chroot = Chroot::parse(chroot, list.len())?;
        let mut servers = Vec::new();
        let mut at = 0;
        for part in list.split(',') {
            let server = part.trim();
            if !server.is_empty() {
                let blanks = part.len() - part.trim_start().len();
                servers.push(parse_server(server, at + blanks)?);
            }
            at += part.len() + 1;
        }
        let servers = ServerList::new(servers).ok_or(AddressError::NoServer)?;
        Ok(Self { servers, chroot })
    }
}

/// One server, which begins at this byte of the whole.
fn parse_server(server: &str, at: usize) -> Result<Address, AddressError> {
    let (host, port) = match server.strip_prefix('[') {
        Some(rest) => {
            let Some((host, after)) = rest.split_once(']') else {
                return Err(AddressError::Bracket { at });
            };
            let after_at = at + host.len() + 2;
            match after.strip_prefix(':') {
                Some(port) => (host, Some((port, after_at + 1))),
                None if after.is_empty() => (host, None),
                None => {
                    return Err(AddressError::AfterBracket { at: after_at, got: after.to_owned() });
                }
            }
        }
        None => match server.split_once(':') {
            Some((_, rest)) if rest.contains(':') => {
                return Err(AddressError::Colons { at, got: server.to_owned() });
            }
            Some((host, "")) => (host, None),
            Some((host, port)) => (host, Some((port, at + host.len() + 1))),
            None => (server, None),
        },
    };
    if host.is_empty() {
        return Err(AddressError::NoHost { at });
    }
    let port = match port {
        None => DEFAULT_PORT,
        Some((text, at)) => text
            .parse()
            .ok()
            .filter(|port| *port != 0)
            .ok_or_else(|| AddressError::Port { at, got: text.to_owned() })?,
    };
    Ok(Address { host: host.to_ascii_lowercase().into(), port })
}

/// Why a text is no connection string.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum AddressError {
    /// Something other than a port follows a bracket.
    AfterBracket {
        /// Where.
        at: usize,
        /// What.
        got: String,
    },
    /// A bracket is never closed.
    Bracket {
        /// Where it opens.
        at: usize,
    },
    /// A chroot that is no path.
    Chroot {
        /// Where the wrong part begins.
        at: usize,
        /// The wrong part.
        got: String,
    },
    /// Several colons outside brackets.
    Colons {
        /// Where the server begins.
        at: usize,
        /// What is there.
        got: String,
    },
    /// A port without a host.
    NoHost {
        /// Where the host should be.
        at: usize,
    },
    /// No server at all.
    NoServer,
    /// A port that is no number, or none that can be.
    Port {
        /// Where.
        at: usize,
        /// What is there.
        got: String,
    },
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "connection string: ")?;
        match self {
            Self::AfterBracket { at, got } => {
                write!(f, "byte {at}: {got:?} after the bracket, expected a colon and a port")
            }
            Self::Bracket { at } => write!(f, "byte {at}: [ without ], expected [address]:port"),
            Self::Chroot { at, got } => {
                write!(f, "byte {at}: {got:?} in the chroot, expected the name of a node")
            }
            Self::Colons { at, got } => {
                write!(f, "byte {at}: {got:?} has several colons, expected [address]:port")
            }
            Self::NoHost { at } => write!(f, "byte {at}: no host, expected host:port"),
            Self::NoServer => write!(f, "no server, expected host:port,host:port/chroot"),
            Self::Port { at, got } => {
                write!(f, "byte {at}: port {got:?}, expected 1 to {}", u16::MAX)
            }
        }
    }
}

impl core::error::Error for AddressError {}

/// Where a chroot goes wrong: the first name that cannot be one, and its place.
pub(super) fn wrong_name(chroot: &str) -> Option<(usize, &str)> {
    let mut at = 1;
    for name in chroot.strip_prefix('/')?.split('/') {
        if path::validate(&alloc::format!("/{name}")).is_err() || name.is_empty() {
            return Some((at, name));
        }
        at += name.len() + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    fn shown(text: &str) -> String {
        match ConnectString::parse(text) {
            Ok(ConnectString { servers, chroot }) => {
                let servers: Vec<_> = servers.all().iter().map(ToString::to_string).collect();
                alloc::format!("{} | {chroot}", servers.join(" "))
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn servers_and_chroot_come_apart() {
        for (text, expected) in [
            ("zk1", "zk1:2181 | /"),
            ("zk1:99,zk2", "zk1:99 zk2:2181 | /"),
            (" ZK1.Example:99 ,, zk2: /", "zk1.example:99 zk2:2181 | /"),
            ("zk1/app/a", "zk1:2181 | /app/a"),
            ("[::1],[2001:DB8::2]:99/x", "[::1]:2181 [2001:db8::2]:99 | /x"),
            ("10.0.0.1:1", "10.0.0.1:1 | /"),
        ] {
            assert_eq!(shown(text), expected, "{text:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        for (text, expected) in [
            ("", "connection string: no server, expected host:port,host:port/chroot"),
            (" , ,/app", "connection string: no server, expected host:port,host:port/chroot"),
            ("a:b", "connection string: byte 2: port \"b\", expected 1 to 65535"),
            ("a, b:65536", "connection string: byte 5: port \"65536\", expected 1 to 65535"),
            ("a:0", "connection string: byte 2: port \"0\", expected 1 to 65535"),
            ("a,:2181", "connection string: byte 2: no host, expected host:port"),
            ("[]:2181", "connection string: byte 0: no host, expected host:port"),
            ("a,[::1", "connection string: byte 2: [ without ], expected [address]:port"),
            ("[::1]:", "connection string: byte 6: port \"\", expected 1 to 65535"),
            (
                "[::1]2181",
                "connection string: byte 5: \"2181\" after the bracket, expected a colon and a port",
            ),
            (
                "a,::1:2181",
                "connection string: byte 2: \"::1:2181\" has several colons, expected \
                 [address]:port",
            ),
            (
                "a/b//c",
                "connection string: byte 4: \"\" in the chroot, expected the name of a node",
            ),
            ("a/b/", "connection string: byte 4: \"\" in the chroot, expected the name of a node"),
            (
                "a/b/../c",
                "connection string: byte 4: \"..\" in the chroot, expected the name of a node",
            ),
        ] {
            assert_eq!(shown(text), expected, "{text:?}");
        }
    }
}
