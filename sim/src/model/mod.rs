//! The tree once more, as simple as possible, for checkers to compare with.
//!
//! ```text
//!   apply(stamp, session, act) ---> an answer, and events, before it
//!   read(reader, request) --------> an answer, and events, before it
//! ```
//!
//! One map from path to node, one set of watches; whatever can be computed from them is computed
//! when it is asked for. Writes are applied one after the other, in the order of their zxids:
//! nothing is ever in flight here. That is the point: a server that decides early, applies late
//! and answers in between must still look like this to its clients.
//!
//! It is written from what ZooKeeper does, and shares nothing with the core but the vocabulary.
//! Connections, clocks and disks are not here; [`Act`] says what became of them.

mod acl;
mod path;
mod quota;
mod read;
mod watch;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use zoolab_core::acl::perms;
use zoolab_core::request::{Body, Event, Stamp};
use zoolab_core::tree::Stat;
use zoolab_core::{Acl, Code, ConnId, Data, Id, Millis, Request, SessionId, Settings, Zxid};

pub use quota::Usage;
pub use read::Reader;
pub use watch::{Interest, Mode, Watch};
pub use write::is_write;

use write::Asked;

/// What makes a node go by itself.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Kind {
    /// Its last child has gone.
    Container,
    /// Its session has ended.
    Ephemeral(SessionId),
    /// Nothing.
    Persistent,
    /// Its data was not set for so many milliseconds, and it has no children.
    Ttl(i64),
}

/// One znode. Its children are whoever lies below it.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Znode {
    /// As written.
    pub data: Data,
    /// Who may do what.
    pub acl: Vec<Acl>,
    /// What ends it.
    pub kind: Kind,
    /// Created by.
    pub czxid: Zxid,
    /// Data last set by.
    pub mzxid: Zxid,
    /// Children last changed by.
    pub pzxid: Zxid,
    /// When created.
    pub ctime: Millis,
    /// When data was last set.
    pub mtime: Millis,
    /// How often data was set.
    pub version: i32,
    /// How many children were ever created; the next sequence number.
    pub cversion: i32,
    /// How often the ACL was set.
    pub aversion: i32,
}

/// What takes a place in the order of all writes.
#[derive(Clone, Copy, Debug)]
pub enum Act<'a> {
    /// A client asks. [`Request::CloseSession`] is also what expiry comes to.
    Ask {
        /// As of when the request was taken.
        who: &'a [Id],
        /// What for.
        request: &'a Request,
        /// What hard quotas were compared with, if not with the tree as it is here.
        usage: Option<&'a Usage>,
    },
    /// The server removes a container or TTL node that has had its time.
    Collect {
        /// Which one.
        path: &'a str,
    },
    /// A session begins.
    Open {
        /// As agreed.
        timeout_ms: i32,
    },
}

/// Whom to tell what.
pub type Told = (ConnId, Event);

/// See the [module](self).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Model {
    /// The rules.
    pub settings: Settings,
    /// By path; the root is `/`.
    pub nodes: BTreeMap<String, Znode>,
    /// Open sessions with their timeouts.
    pub sessions: BTreeMap<SessionId, i32>,
    /// Connections with their identities; events are for them.
    pub conns: BTreeMap<ConnId, Vec<Id>>,
    /// Who wants to hear of what.
    pub watches: BTreeSet<Watch>,
    /// Newest write applied.
    pub zxid: Zxid,
}

impl Model {
    /// A fresh tree.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let mut nodes = BTreeMap::new();
        for path in path::RESERVED {
            let mut znode = Znode::new(Some([].into()), acl::anyone(perms::ALL));
            if path == "/zookeeper/config" {
                znode.acl = acl::anyone(perms::READ);
                znode.aversion = -1;
            }
            nodes.insert(path.to_owned(), znode);
        }
        Self {
            settings,
            nodes,
            sessions: BTreeMap::new(),
            conns: BTreeMap::new(),
            watches: BTreeSet::new(),
            zxid: Zxid::ZERO,
        }
    }

    /// Applies the next write. Events come before the answer.
    ///
    /// # Errors
    /// The code the client gets; the tree is as before, but the write has had its place.
    pub fn apply(
        &mut self,
        stamp: Stamp,
        session: SessionId,
        act: Act<'_>,
        told: &mut Vec<Told>,
    ) -> Result<Body, Code> {
        assert!(stamp.zxid > self.zxid, "{} after {}", stamp.zxid, self.zxid);
        self.zxid = stamp.zxid;
        match act {
            Act::Ask { who, request, usage } => {
                let now;
                let usage = match usage {
                    Some(usage) => usage,
                    None => {
                        now = self.usage();
                        &now
                    }
                };
                self.ask(&Asked { stamp, session, who, usage }, request, told)
            }
            Act::Collect { path } => {
                self.remove(stamp.zxid, path, told);
                Ok(Body::None)
            }
            Act::Open { timeout_ms } => {
                self.sessions.insert(session, timeout_ms);
                Ok(Body::None)
            }
        }
    }

    /// The node at a path; the empty text is the root as well.
    fn node(&self, path: &str) -> Result<&Znode, Code> {
        self.nodes.get(path::root_if_empty(path)).ok_or(Code::NoNode)
    }

    fn permit(&self, acl: &[Acl], mask: i32, who: &[Id]) -> Result<(), Code> {
        let free = self.settings.skip_acl || acl::lets(acl, mask, who);
        if free { Ok(()) } else { Err(Code::NoAuth) }
    }

    /// Names of a node's children, in order.
    pub fn children(&self, path: &str) -> impl Iterator<Item = &str> {
        let prefix = path::prefix_below(path::root_if_empty(path));
        let below = self.nodes.keys().filter_map(move |path| path.strip_prefix(&prefix));
        below.filter(|name| !name.is_empty() && !name.contains('/'))
    }

    /// A session's ephemerals, by path.
    #[must_use]
    pub fn ephemerals(&self, session: SessionId) -> Vec<String> {
        let owned = |(_, node): &(_, &Znode)| node.kind == Kind::Ephemeral(session);
        self.nodes.iter().filter(owned).map(|(path, _)| path.clone()).collect()
    }

    /// The containers and TTL nodes that have had their time.
    #[must_use]
    pub fn collectable(&self, now: Millis) -> Vec<String> {
        let over = |path: &str, node: &Znode| {
            let idle_ms = now.0.saturating_sub(node.mtime.0);
            self.children(path).next().is_none()
                && match node.kind {
                    Kind::Container if node.cversion > 0 => true,
                    Kind::Container => {
                        let limit_ms = self.settings.container_never_used_ms;
                        limit_ms.is_some_and(|limit_ms| idle_ms > limit_ms.into())
                    }
                    Kind::Ttl(ttl_ms) => idle_ms > ttl_ms,
                    Kind::Ephemeral(_) | Kind::Persistent => false,
                }
        };
        let paths = self.nodes.iter().filter(|(path, node)| over(path, node));
        paths.map(|(path, _)| path.clone()).collect()
    }

    /// What clients are told of a node, which must be there.
    #[must_use]
    pub fn stat(&self, path: &str) -> Stat {
        let node = self.node(path).expect("asked of a node that is there");
        let num_children = i32::try_from(self.children(path).count()).expect("few children");
        Stat {
            czxid: node.czxid,
            mzxid: node.mzxid,
            ctime: node.ctime,
            mtime: node.mtime,
            version: node.version,
            // Every creation without a living child was also a deletion.
            cversion: node.cversion.wrapping_mul(2).wrapping_sub(num_children),
            aversion: node.aversion,
            ephemeral_owner: match node.kind {
                Kind::Ephemeral(session) => session,
                Kind::Container | Kind::Persistent | Kind::Ttl(_) => SessionId::NONE,
            },
            data_length: i32::try_from(length(&node.data)).expect("little data"),
            num_children,
            pzxid: node.pzxid,
        }
    }

    /// The digest of the whole tree, from scratch.
    #[must_use]
    pub fn digest(&self) -> u64 {
        let counts = |(path, _): &(&String, &Znode)| !path.starts_with("/zookeeper/");
        let digests = self.nodes.iter().filter(counts).map(|(path, node)| node.digest(path));
        digests.fold(0, |sum, digest| sum.wrapping_add(digest.into()))
    }
}

impl Znode {
    fn new(data: Data, acl: Vec<Acl>) -> Self {
        Self {
            data,
            acl,
            kind: Kind::Persistent,
            czxid: Zxid::ZERO,
            mzxid: Zxid::ZERO,
            pzxid: Zxid::ZERO,
            ctime: Millis(0),
            mtime: Millis(0),
            version: 0,
            cversion: 0,
            aversion: 0,
        }
    }

    /// The owner as stored: a session, or a mark.
    #[must_use]
    pub const fn owner(&self) -> i64 {
        match self.kind {
            Kind::Container => i64::MIN,
            Kind::Ephemeral(session) => session.0,
            Kind::Persistent => 0,
            Kind::Ttl(ms) => (0xFF << 56) | ms,
        }
    }

    fn digest(&self, path: &str) -> u32 {
        let mut bytes = if path == "/" { Vec::new() } else { path.as_bytes().to_vec() };
        bytes.extend_from_slice(self.data.as_deref().unwrap_or_default());
        for long in [self.czxid.0, self.mzxid.0, self.pzxid.0, self.ctime.0, self.mtime.0] {
            bytes.extend_from_slice(&long.to_be_bytes());
        }
        for int in [self.version, self.cversion, self.aversion] {
            bytes.extend_from_slice(&int.to_be_bytes());
        }
        bytes.extend_from_slice(&self.owner().to_be_bytes());
        crc32fast::hash(&bytes)
    }
}

fn length(data: &Data) -> i64 {
    data.as_deref().map_or(0, |data| data.len() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_tree_is_that_of_zookeeper() {
        let model = Model::new(Settings::default());
        assert_eq!(model.digest(), 0x51C6_D660);
        let root = model.stat("/");
        assert_eq!((root.cversion, root.num_children), (-1, 1));
        assert_eq!(model.stat("/zookeeper").cversion, -2);
        assert_eq!(model.children("").collect::<Vec<_>>(), ["zookeeper"]);
    }

    #[test]
    fn paths_are_looked_at_as_zookeeper_does() {
        for good in ["/", "/a", "/...", "/a.", "/\u{a0}", "/\u{ffef}"] {
            assert_eq!(path::validate(good), Ok(()), "{good:?}");
        }
        for bad in ["", "a", "/a/", "//", "/.", "/a/..", "/\u{7f}", "/\u{f8ff}", "/\u{1f600}"] {
            assert_eq!(path::validate(bad), Err(Code::BadArguments), "{bad:?}");
        }
        assert_eq!(path::parent("/a"), "/");
        assert!(path::is_below("/a/b", "/a") && path::is_below("/a", "/"));
        assert!(!path::is_below("/ab", "/a") && !path::is_below("/", "/"));
        assert!(!path::is_below("/a", ""));
    }
}
