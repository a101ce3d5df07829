//! What applications ask of a client, and what becomes of it on the way to a server.

use alloc::vec::Vec;

use super::chroot::Chroot;
use super::create::{NewNode, wishes};
use super::error::Failed;
use super::io::WatcherId;
use super::watches::{Kind, WatcherKind};
use crate::acl::Acl;
use crate::code::Code;
use crate::path;
use crate::request::{Body, Op, ReadOp, Request};
use crate::{Data, Text};

/// The node with the ensemble's configuration. It has the same name under any chroot.
pub const CONFIG_NODE: &str = "/zookeeper/config";

/// Something asked of a client. Paths are the client's, versions of −1 are any.
///
/// A path that cannot be is refused on the spot with [`Code::BadArguments`].
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Call {
    /// Watch until told otherwise.
    AddWatch {
        /// Where.
        path: Text,
        /// Who.
        watcher: WatcherId,
        /// Everything below as well.
        recursive: bool,
    },
    /// Make a node. Answered with [`Body::Created`].
    Create {
        /// The node.
        node: NewNode,
        /// Answer with its stat as well. Containers and TTL nodes have it in any case.
        stat: bool,
    },
    /// Remove a node.
    Delete {
        /// Which one.
        path: Text,
        /// The one it has to have.
        version: i32,
    },
    /// Is there such a node? Answered with [`Body::Stat`], or [`Code::NoNode`].
    Exists {
        /// Where.
        path: Text,
        /// Who wants to hear of its coming, going and changing.
        watch: Option<WatcherId>,
    },
    /// Who may do what? Answered with [`Body::Acl`].
    GetAcl {
        /// With which node.
        path: Text,
    },
    /// How many descendants? Answered with [`Body::Count`].
    GetAllChildrenNumber {
        /// Of which node.
        path: Text,
    },
    /// Which children? Answered with [`Body::Children`].
    GetChildren {
        /// Of which node.
        path: Text,
        /// Who wants to hear of others.
        watch: Option<WatcherId>,
        /// With the node's stat.
        stat: bool,
    },
    /// Who is in the ensemble? Answered with [`Body::Data`].
    GetConfig {
        /// Who wants to hear of others.
        watch: Option<WatcherId>,
    },
    /// What does it hold? Answered with [`Body::Data`].
    GetData {
        /// Which node.
        path: Text,
        /// Who wants to hear of its changing and going.
        watch: Option<WatcherId>,
    },
    /// Which ephemerals does this session have? Answered with [`Body::Paths`]. Both what is asked
    /// and what is answered are the server's paths, chroot or not, as in the Java client.
    GetEphemerals {
        /// Only paths that begin so; `/` is all.
        prefix: Text,
    },
    /// All of these or nothing. Answered with [`Body::Multi`], whose paths are the server's, as in
    /// the Java client.
    Multi(Vec<Change>),
    /// All of these from one state. Answered with [`Body::Multi`].
    MultiRead(Vec<ReadOp>),
    /// Change the ensemble. Answered with [`Body::Data`].
    Reconfig {
        /// Servers to add or change.
        joining: Option<Text>,
        /// Servers to remove.
        leaving: Option<Text>,
        /// All servers, instead.
        members: Option<Text>,
        /// The configuration this is about, or −1.
        config_id: i64,
    },
    /// Forget watches. [`Code::NoWatcher`] if there is none.
    RemoveWatches {
        /// Where.
        path: Text,
        /// Which ones.
        kind: WatcherKind,
        /// Whose; everybody's if absent. For one watcher the server is only asked whether there
        /// are such watches, and goes on sending events, for others may want them.
        watcher: Option<WatcherId>,
        /// Also if the server cannot be asked, or says no.
        local: bool,
    },
    /// Replace a node's ACL. Answered with [`Body::Stat`].
    SetAcl {
        /// Which one.
        path: Text,
        /// The new one, not empty.
        acl: Vec<Acl>,
        /// The one it has to have.
        version: i32,
    },
    /// Replace a node's data. Answered with [`Body::Stat`].
    SetData {
        /// Which one.
        path: Text,
        /// The new data.
        data: Data,
        /// The one it has to have.
        version: i32,
    },
    /// Catch up with the leader. Answered with [`Body::Synced`].
    Sync {
        /// Any path will do.
        path: Text,
    },
    /// Which identities do I have? Answered with [`Body::Users`].
    WhoAmI,
}

/// One step of a multi.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Change {
    /// The version must be this one.
    Check {
        /// Of which node.
        path: Text,
        /// −1 is any.
        version: i32,
    },
    /// Make a node; answered without its stat, unless it is a container or a TTL node.
    Create(NewNode),
    /// Remove a node.
    Delete {
        /// Which one.
        path: Text,
        /// −1 is any.
        version: i32,
    },
    /// Replace a node's data.
    SetData {
        /// Which one.
        path: Text,
        /// The new data.
        data: Data,
        /// −1 is any.
        version: i32,
    },
}

impl Change {
    fn into_op(self, chroot: &Chroot) -> Result<Op, Failed> {
        let below = |path: Text| -> Result<Text, Failed> {
            path::validate(&path)?;
            Ok(chroot.to_server(&path))
        };
        Ok(match self {
            Self::Check { path, version } => Op::Check { path: below(path)?, version },
            Self::Create(node) => {
                node.checked()?;
                Op::Create(node.into_wish(false, chroot))
            }
            Self::Delete { path, version } => Op::Delete { path: below(path)?, version },
            Self::SetData { path, data, version } => {
                Op::SetData { path: below(path)?, data, version }
            }
        })
    }
}

/// What a call comes to.
pub(super) enum Made {
    /// It is asked of a server, and then something is to be done about the answer.
    Ask(Request, After),
    /// It needs no server.
    Done(Body),
}

/// What is to be done when a call is answered, or fails. Paths are the server's.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) enum After {
    /// The session is over.
    Close,
    /// The path in the answer is the server's; the stat was not asked for.
    Created { stat: bool },
    /// Nothing.
    Nothing,
    /// The path in the answer is the server's.
    Synced,
    /// If it worked, forget these watches.
    Unwatch { path: Text, kind: WatcherKind, watcher: Option<WatcherId>, local: bool },
    /// If it worked, this is watched.
    Watch { path: Text, on: Watched, watcher: WatcherId },
}

/// Which watch an answer sets.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) enum Watched {
    /// Children of a node that is there.
    Child,
    /// A node that is there.
    Data,
    /// A node, there or not.
    Exist,
    /// A path.
    Persistent,
    /// A path and everything below.
    Recursive,
}

impl Watched {
    /// The kind of watch that the server has set if it answered so.
    pub(super) const fn kind(self, refused: Option<Failed>) -> Option<Kind> {
        match (self, refused) {
            (Self::Child, None) => Some(Kind::Child),
            (Self::Data | Self::Exist, None) => Some(Kind::Data),
            (Self::Exist, Some(Failed::Code(Code::NoNode))) => Some(Kind::Exist),
            (Self::Persistent, None | Some(Failed::Code(Code::NoNode))) => Some(Kind::Persistent),
            (Self::Recursive, None | Some(Failed::Code(Code::NoNode))) => Some(Kind::Recursive),
            (_, Some(_)) => None,
        }
    }
}

impl Call {
    /// The request that this comes to.
    ///
    /// # Errors
    /// If no server need be asked to know that it cannot be.
    pub(super) fn make(self, chroot: &Chroot) -> Result<Made, Failed> {
        let below = |path: &Text| -> Result<Text, Failed> {
            path::validate(path)?;
            Ok(chroot.to_server(path))
        };
        let watched = |path: &Text, on, watch: Option<WatcherId>| match watch {
            Some(watcher) => After::Watch { path: path.clone(), on, watcher },
            None => After::Nothing,
        };
        let (request, after) = match self {
            Self::AddWatch { path, watcher, recursive } => {
                let path = below(&path)?;
                let on = if recursive { Watched::Recursive } else { Watched::Persistent };
                let after = watched(&path, on, Some(watcher));
                (Request::AddWatch { path, mode: i32::from(recursive) }, after)
            }
            Self::Create { node, stat } => {
                node.checked()?;
                if node.acl.is_empty() {
                    return Err(Code::InvalidAcl.into());
                }
                (Request::Create(node.into_wish(stat, chroot)), After::Created { stat })
            }
            Self::Delete { path, version } => {
                let there = below(&path)?;
                // Nobody deletes the root. Under a chroot the server would not know.
                let path = if &*path == "/" { path } else { there };
                (Request::Delete { path, version }, After::Nothing)
            }
            Self::Exists { path, watch } => {
                let path = below(&path)?;
                let after = watched(&path, Watched::Exist, watch);
                (Request::Exists { path, watch: watch.is_some() }, after)
            }
            Self::GetAcl { path } => (Request::GetAcl { path: below(&path)? }, After::Nothing),
            Self::GetAllChildrenNumber { path } => {
                (Request::GetAllChildrenNumber { path: below(&path)? }, After::Nothing)
            }
            Self::GetChildren { path, watch, stat } => {
                let path = below(&path)?;
                let after = watched(&path, Watched::Child, watch);
                (Request::GetChildren { path, watch: watch.is_some(), stat }, after)
            }
            Self::GetConfig { watch } => {
                let path = CONFIG_NODE.into();
                let after = watched(&path, Watched::Data, watch);
                (Request::GetData { path, watch: watch.is_some() }, after)
            }
            Self::GetData { path, watch } => {
                let path = below(&path)?;
                let after = watched(&path, Watched::Data, watch);
                (Request::GetData { path, watch: watch.is_some() }, after)
            }
            Self::GetEphemerals { prefix } => {
                path::validate(&prefix)?;
                (Request::GetEphemerals { prefix: Some(prefix) }, After::Nothing)
            }
            Self::Multi(changes) => {
                if changes.is_empty() {
                    return Ok(Made::Done(Body::Multi(Vec::new())));
                }
                let ops = changes.into_iter().map(|change| change.into_op(chroot));
                (Request::Multi(ops.collect::<Result<_, _>>()?), After::Nothing)
            }
            Self::MultiRead(reads) => {
                if reads.is_empty() {
                    return Ok(Made::Done(Body::Multi(Vec::new())));
                }
                let reads = reads.into_iter().map(|read| -> Result<_, Failed> {
                    Ok(match read {
                        ReadOp::GetChildren { path } => ReadOp::GetChildren { path: below(&path)? },
                        ReadOp::GetData { path } => ReadOp::GetData { path: below(&path)? },
                    })
                });
                (Request::MultiRead(reads.collect::<Result<_, _>>()?), After::Nothing)
            }
            Self::Reconfig { joining, leaving, members, config_id } => {
                (Request::Reconfig { joining, leaving, members, config_id }, After::Nothing)
            }
            Self::RemoveWatches { path, kind, watcher, local } => {
                let path = below(&path)?;
                let after = After::Unwatch { path: path.clone(), kind, watcher, local };
                let kind = kind.number();
                let request = match watcher {
                    Some(_) => Request::CheckWatches { path, kind },
                    None => Request::RemoveWatches { path, kind },
                };
                (request, after)
            }
            Self::SetAcl { path, acl, version } => {
                let path = below(&path)?;
                if acl.is_empty() {
                    return Err(Code::InvalidAcl.into());
                }
                (Request::SetAcl { path, acl: Some(wishes(acl)), version }, After::Nothing)
            }
            Self::SetData { path, data, version } => {
                (Request::SetData { path: below(&path)?, data, version }, After::Nothing)
            }
            Self::Sync { path } => (Request::Sync { path: Some(below(&path)?) }, After::Synced),
            Self::WhoAmI => (Request::WhoAmI, After::Nothing),
        };
        Ok(Made::Ask(request, after))
    }
}
