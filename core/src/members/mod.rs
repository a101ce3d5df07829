//! Who is in the ensemble, where, and what is enough: a dynamic configuration.
//!
//! ```text
//!            proposed                quorums of both have it            everybody is told
//!   in force ---------> in force, and next ------------------> in force ----------------> …
//! ```
//!
//! Its text is the data of `/zookeeper/config`, to the byte. Its version is the transaction that
//! brought it, or the first zxid of the epoch in which the ensemble began; zero says that nobody
//! has agreed on it yet.

mod change;
mod spec;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use core::fmt;
use core::hash::{Hash, Hasher};

pub use spec::{Address, Part, Spec};

use crate::code::Code;
use crate::ids::{ServerId, Zxid};
use crate::quorum::{Quorum, QuorumError};
use crate::tree::{CONFIG_NODE, Tree};
use crate::txn::{Change, NodeChange, Txn};
use crate::unordered::hash_unordered;
use crate::{Data, Text};

/// See the [module](self).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Members {
    version: Zxid,
    servers: BTreeMap<ServerId, Spec>,
    hierarchy: Option<Hierarchy>,
    /// Invariant: what the servers and the hierarchy come to.
    quorum: Arc<Quorum>,
}

/// Where they are is said once for a version.
impl Hash for Members {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.version.hash(state);
        let parts = self.servers.iter().map(|(server, spec)| (*server, spec.part));
        hash_unordered(parts, state);
    }
}

/// Groups and weights, if it is not more than half of the voters that is enough.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Hierarchy {
    groups: BTreeMap<i64, BTreeSet<ServerId>>,
    weights: BTreeMap<ServerId, u64>,
}

impl Members {
    fn of(
        servers: BTreeMap<ServerId, Spec>,
        hierarchy: Option<Hierarchy>,
        version: Zxid,
    ) -> Result<Self, MembersError> {
        let voters = || {
            let voters = servers.iter().filter(|(_, spec)| spec.part == Part::Participant);
            voters.map(|(server, _)| *server)
        };
        let quorum = match &hierarchy {
            None => Quorum::majority(voters()),
            Some(Hierarchy { groups, weights }) => {
                let grouped = |voter: &ServerId| groups.values().any(|group| group.contains(voter));
                if let Some(server) = voters().find(|voter| !grouped(voter)) {
                    return Err(MembersError::Group { server });
                }
                Quorum::hierarchical(groups.values().map(|group| {
                    let votes = |server: &&ServerId| voters().any(|voter| voter == **server);
                    let weight = |server| weights.get(server).copied().unwrap_or(1);
                    group.iter().filter(votes).map(move |server| (*server, weight(server)))
                }))
            }
        };
        let quorum = quorum.map_err(MembersError::Quorum)?;
        Ok(Self { version, servers, hierarchy, quorum: Arc::new(quorum) })
    }

    /// The members of an ensemble that nobody has changed yet. Server 7 is at `zk7`.
    #[must_use]
    pub fn first(quorum: &Quorum, observers: &BTreeSet<ServerId>) -> Self {
        let at =
            |server: ServerId, part| (server, Spec::usual(&alloc::format!("zk{server}"), part));
        let mut servers: BTreeMap<ServerId, Spec> =
            quorum.voters().into_iter().map(|server| at(server, Part::Participant)).collect();
        servers.extend(observers.iter().map(|server| at(*server, Part::Observer)));
        let hierarchy = (!quorum.is_majority()).then(|| Hierarchy {
            groups: (1..)
                .zip(quorum.groups().map(|group| group.map(|(id, _)| id).collect()))
                .collect(),
            weights: quorum.groups().flatten().collect(),
        });
        Self { version: Zxid::ZERO, servers, hierarchy, quorum: Arc::new(quorum.clone()) }
    }

    /// The same members under a version.
    #[must_use]
    pub fn with_version(&self, version: Zxid) -> Self {
        Self { version, ..self.clone() }
    }

    /// Reads the text of a configuration, with its version.
    ///
    /// # Errors
    /// If it is none.
    pub fn parse(text: &str) -> Result<Self, MembersError> {
        let missing = || MembersError::Line { found: "no version".into() };
        let line = text.lines().find_map(|line| line.trim().strip_prefix("version="));
        let hex = line.ok_or_else(missing)?.trim();
        let version =
            i64::from_str_radix(hex, 16).map_err(|_| MembersError::Number { found: hex.into() })?;
        Self::from_list(text, Zxid(version))
    }

    /// Those that a transaction brings.
    #[must_use]
    pub fn proposed_by(txn: &Txn) -> Option<Self> {
        let Change::Node(NodeChange::SetData { data, reconfig: true, .. }) = &txn.change else {
            return None;
        };
        Self::written(data, txn.stamp.zxid)
    }

    /// Those that the newest change in a tree has brought, if they are newer than these.
    #[must_use]
    pub fn newer_in(&self, tree: &Tree) -> Option<Self> {
        let node = tree.get(CONFIG_NODE)?;
        let newer = node.stat().version == -1 && node.stat().mzxid > self.version;
        if newer { Self::written(node.data(), node.stat().mzxid) } else { None }
    }

    fn written(data: &Data, version: Zxid) -> Option<Self> {
        let text = core::str::from_utf8(data.as_deref()?).ok()?;
        Self::parse(text).ok().filter(|members| members.version == version)
    }

    /// The transaction that brought it.
    #[must_use]
    pub const fn version(&self) -> Zxid {
        self.version
    }

    /// Who votes, and what is enough.
    #[must_use]
    pub const fn quorum(&self) -> &Arc<Quorum> {
        &self.quorum
    }

    /// Who follows without a vote.
    #[must_use]
    pub fn observers(&self) -> BTreeSet<ServerId> {
        let all = self.servers.iter().filter(|(_, spec)| spec.part == Part::Observer);
        all.map(|(server, _)| *server).collect()
    }

    /// Whether a server is to follow without a vote.
    #[must_use]
    pub fn is_observer(&self, server: ServerId) -> bool {
        self.get(server).is_some_and(|spec| spec.part == Part::Observer)
    }

    /// One of them.
    #[must_use]
    pub fn get(&self, server: ServerId) -> Option<&Spec> {
        self.servers.get(&server)
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = (ServerId, &Spec)> {
        self.servers.iter().map(|(server, spec)| (*server, spec))
    }
}

impl fmt::Display for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (server, spec) in &self.servers {
            writeln!(f, "server.{server}={spec}")?;
        }
        if let Some(Hierarchy { groups, weights }) = &self.hierarchy {
            for (group, members) in groups {
                write!(f, "group.{group}=")?;
                for (place, member) in members.iter().enumerate() {
                    write!(f, "{}{member}", if place == 0 { "" } else { ":" })?;
                }
                writeln!(f)?;
            }
            for (server, weight) in weights {
                writeln!(f, "weight.{server}={weight}")?;
            }
        }
        write!(f, "version={:x}", self.version.0)
    }
}

/// Why a text is no configuration, or servers cannot be one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum MembersError {
    /// Two servers would use the same address.
    Clash {
        /// One.
        server: ServerId,
        /// The other.
        other: ServerId,
        /// Which.
        address: Address,
    },
    /// A voter in no group, or a server in two.
    Group {
        /// Which one.
        server: ServerId,
    },
    /// A line that says nothing known.
    Line {
        /// What it says.
        found: Text,
    },
    /// One by one only where more than half is enough.
    NoMajority,
    /// Not a number, or one that cannot be.
    Number {
        /// What was there.
        found: Text,
    },
    /// Observers need somebody to observe.
    ObserversAlone,
    /// Nobody could ever be enough.
    Quorum(QuorumError),
    /// No description of a server.
    Spec {
        /// What was there.
        found: Text,
    },
}

impl MembersError {
    /// What a client is answered. ZooKeeper did not foresee some of these; then it is the code
    /// for whatever it did not foresee.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Number { .. } | Self::ObserversAlone => Code::MarshallingError,
            Self::Clash { .. }
            | Self::Group { .. }
            | Self::Line { .. }
            | Self::NoMajority
            | Self::Quorum(_)
            | Self::Spec { .. } => Code::BadArguments,
        }
    }
}

impl fmt::Display for MembersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clash { server, other, address } => {
                write!(f, "servers {server} and {other} would both use {address}")
            }
            Self::Group { server } => {
                write!(f, "server {server}: expected it in one group, and in no other")
            }
            Self::Line { found } => write!(
                f,
                "{found:?}: expected server.<id>=…, group.<id>=…, weight.<id>=… or version=<hex>"
            ),
            Self::NoMajority => {
                write!(f, "servers join and leave one by one only where a majority decides")
            }
            Self::Number { found } => write!(f, "{found:?}: expected a number that fits"),
            Self::ObserversAlone => write!(f, "observers, but fewer than two servers that vote"),
            Self::Quorum(error) => error.fmt(f),
            Self::Spec { found } => {
                write!(f, "{found:?}: expected host:port:port[:role][;[address:]port]")
            }
        }
    }
}

impl core::error::Error for MembersError {}

fn id(text: &str) -> Result<ServerId, MembersError> {
    text.parse().map(ServerId).map_err(|_| MembersError::Number { found: text.into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn the_first_members_are_those_of_the_ensemble() {
        let quorum = Quorum::majority((1..=2).map(ServerId)).unwrap();
        let members = Members::first(&quorum, &BTreeSet::from([ServerId(3)]));
        let text = "server.1=zk1:2888:3888:participant;0.0.0.0:2181\n\
                    server.2=zk2:2888:3888:participant;0.0.0.0:2181\n\
                    server.3=zk3:2888:3888:observer;0.0.0.0:2181\n\
                    version=0";
        assert_eq!(format!("{members}"), text);
        assert_eq!(Members::parse(text), Ok(members.clone()));
        let begun = members.with_version(Zxid(0x3_0000_0000));
        assert!(format!("{begun}").ends_with("version=300000000"));
    }

    #[test]
    fn a_hierarchy_is_read_as_it_was_written() {
        let groups = [[(ServerId(1), 2), (ServerId(2), 1)], [(ServerId(3), 1), (ServerId(4), 0)]];
        let quorum = Quorum::hierarchical(groups).unwrap();
        let members = Members::first(&quorum, &BTreeSet::new());
        let again = Members::parse(&format!("{members}")).unwrap();
        assert_eq!(again, members);
        assert_eq!(**again.quorum(), quorum);
    }

    #[test]
    fn what_is_no_configuration_says_so() {
        for text in ["", "server.1=a:1:2", "version=x", "version=1\nserver.1=a:1"] {
            assert!(Members::parse(text).is_err(), "{text:?}");
        }
    }
}
