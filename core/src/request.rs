//! What clients ask and what they are told, as values. The bytes are in [`wire`](crate::wire).

use alloc::sync::Arc;
use alloc::vec::Vec;

use compact_str::CompactString;

use crate::acl::{AclList, AclWish};
use crate::code::Code;
use crate::ids::{Millis, SessionId, Xid, Zxid};
use crate::tree::Stat;
use crate::{Data, Text};

/// Operation numbers, as on the wire and in the log.
pub mod opcode {
    #![allow(missing_docs, reason = "the names are the documentation: ZooDefs.OpCode")]
    pub const NOTIFICATION: i32 = 0;
    pub const CREATE: i32 = 1;
    pub const DELETE: i32 = 2;
    pub const EXISTS: i32 = 3;
    pub const GET_DATA: i32 = 4;
    pub const SET_DATA: i32 = 5;
    pub const GET_ACL: i32 = 6;
    pub const SET_ACL: i32 = 7;
    pub const GET_CHILDREN: i32 = 8;
    pub const SYNC: i32 = 9;
    pub const PING: i32 = 11;
    pub const GET_CHILDREN2: i32 = 12;
    pub const CHECK: i32 = 13;
    pub const MULTI: i32 = 14;
    pub const CREATE2: i32 = 15;
    pub const RECONFIG: i32 = 16;
    pub const CHECK_WATCHES: i32 = 17;
    pub const REMOVE_WATCHES: i32 = 18;
    pub const CREATE_CONTAINER: i32 = 19;
    pub const DELETE_CONTAINER: i32 = 20;
    pub const CREATE_TTL: i32 = 21;
    pub const MULTI_READ: i32 = 22;
    pub const AUTH: i32 = 100;
    pub const SET_WATCHES: i32 = 101;
    pub const SASL: i32 = 102;
    pub const GET_EPHEMERALS: i32 = 103;
    pub const GET_ALL_CHILDREN_NUMBER: i32 = 104;
    pub const SET_WATCHES2: i32 = 105;
    pub const ADD_WATCH: i32 = 106;
    pub const WHO_AM_I: i32 = 107;
    pub const ERROR: i32 = -1;
    pub const CREATE_SESSION: i32 = -10;
    pub const CLOSE_SESSION: i32 = -11;
}

/// The first frame of a connection.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct ConnectRequest {
    /// The newest state the client has seen; a server behind it must not serve it.
    pub last_zxid_seen: Zxid,
    /// What the client would like, in milliseconds.
    pub timeout_ms: i32,
    /// The session to go on with, or none.
    pub session: SessionId,
    /// Proves that the session is the client's.
    pub password: Option<Arc<[u8]>>,
    /// Whether a read-only server would do; `None` if the client is too old to say, and then
    /// the answer does not mention it either.
    pub read_only: Option<bool>,
}

/// The answer to the first frame.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct ConnectResponse {
    /// What was agreed, in milliseconds; zero or less says the session is over.
    pub timeout_ms: i32,
    /// The session.
    pub session: SessionId,
    /// To be shown when coming back.
    pub password: [u8; 16],
    /// Whether this server is read-only; `None` if the client would not understand.
    pub read_only: Option<bool>,
}

impl ConnectResponse {
    /// Tells a client that its session is over.
    #[must_use]
    pub const fn expired(read_only: Option<bool>) -> Self {
        Self { timeout_ms: 0, session: SessionId::NONE, password: [0; 16], read_only }
    }
}

/// Which of the four ways to ask for a new node.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum CreateOp {
    /// Answered with the path.
    Create,
    /// Answered with path and stat.
    Create2,
    /// A node that goes when its last child has gone.
    Container,
    /// A node that goes when nothing has changed it for a while.
    Ttl,
}

impl CreateOp {
    /// The number on the wire and in the log.
    #[must_use]
    pub const fn opcode(self) -> i32 {
        match self {
            Self::Create => opcode::CREATE,
            Self::Create2 => opcode::CREATE2,
            Self::Container => opcode::CREATE_CONTAINER,
            Self::Ttl => opcode::CREATE_TTL,
        }
    }
}

/// A wish for a new node.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Create {
    /// How it was asked for.
    pub op: CreateOp,
    /// Where; a sequence number may follow.
    pub path: Text,
    /// What it holds.
    pub data: Data,
    /// Who may do what with it; null and empty are refused later, by name.
    pub acl: Option<Vec<AclWish>>,
    /// The create mode, unchecked.
    pub flags: i32,
    /// For TTL nodes; −1 where the request has none.
    pub ttl_ms: i64,
}

/// One step of a multi.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Op {
    /// The version must be this one.
    Check {
        /// Of which node.
        path: Text,
        /// −1 is any.
        version: i32,
    },
    /// Make a node.
    Create(Create),
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

/// One step of a multiRead.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum ReadOp {
    /// Names of children.
    GetChildren {
        /// Of which node.
        path: Text,
    },
    /// Data and stat.
    GetData {
        /// Of which node.
        path: Text,
    },
}

/// The watches a client had on its last connection.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct SetWatches {
    /// The newest state it had seen.
    pub relative_zxid: Zxid,
    /// Watches on existing nodes.
    pub data: Vec<Text>,
    /// Watches on missing nodes.
    pub exist: Vec<Text>,
    /// Watches on children.
    pub child: Vec<Text>,
    /// Persistent watches.
    pub persistent: Vec<Text>,
    /// Persistent watches on whole subtrees.
    pub recursive: Vec<Text>,
}

/// What a client asks on an open session.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Request {
    /// Watch a path until told otherwise.
    AddWatch {
        /// Where; nothing is checked.
        path: Text,
        /// 0 persistent, 1 persistent and recursive; anything else is refused.
        mode: i32,
    },
    /// Acquire an identity.
    Auth {
        /// `digest`, `ip`.
        scheme: Option<Text>,
        /// What the scheme needs.
        auth: Option<Arc<[u8]>>,
    },
    /// Is there such a watch?
    CheckWatches {
        /// Where.
        path: Text,
        /// The watcher type, unchecked.
        kind: i32,
    },
    /// The client is done.
    CloseSession,
    /// Make a node.
    Create(Create),
    /// Make a node at a null path: refused, but its flags are looked at first.
    CreateNowhere {
        /// How it was asked for.
        op: CreateOp,
        /// The create mode, unchecked.
        flags: i32,
        /// For TTL nodes.
        ttl_ms: i64,
    },
    /// Remove a node.
    Delete {
        /// Which one.
        path: Text,
        /// −1 is any.
        version: i32,
    },
    /// Is there such a node?
    Exists {
        /// Where.
        path: Text,
        /// Tell me of the next change.
        watch: bool,
    },
    /// Who may do what?
    GetAcl {
        /// With which node.
        path: Text,
    },
    /// How many descendants?
    GetAllChildrenNumber {
        /// Of which node.
        path: Text,
    },
    /// Which children?
    GetChildren {
        /// Of which node.
        path: Text,
        /// Tell me of the next change.
        watch: bool,
        /// With the node's stat (getChildren2).
        stat: bool,
    },
    /// What does it hold?
    GetData {
        /// Which node.
        path: Text,
        /// Tell me of the next change.
        watch: bool,
    },
    /// Which ephemerals does this session have?
    GetEphemerals {
        /// Only paths that begin so.
        prefix: Option<Text>,
    },
    /// All of these or nothing.
    Multi(Vec<Op>),
    /// All of these from one state.
    MultiRead(Vec<ReadOp>),
    /// A multiRead that breaks off: after these comes a null path or a write. Answered with an
    /// error *and* the results so far.
    MultiReadBroken(Vec<ReadOp>),
    /// I am here.
    Ping,
    /// Change the ensemble.
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
    /// Forget watches.
    RemoveWatches {
        /// Where.
        path: Text,
        /// The watcher type, unchecked.
        kind: i32,
    },
    /// A step of a SASL exchange.
    Sasl,
    /// Replace a node's ACL.
    SetAcl {
        /// Which one.
        path: Text,
        /// The new one.
        acl: Option<Vec<AclWish>>,
        /// Of the ACL; −1 is any.
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
    /// Watch again what was watched on the last connection.
    SetWatches(SetWatches),
    /// Catch up with the leader.
    Sync {
        /// Echoed.
        path: Option<Text>,
    },
    /// No such operation.
    Unknown {
        /// The number.
        opcode: i32,
    },
    /// The body could not be read.
    Unreadable {
        /// What it was meant to be.
        opcode: i32,
        /// Whether the record as such was whole, and only a path in it was null. Such a write
        /// takes a zxid before it fails; one that cannot be decoded does not.
        whole: bool,
    },
    /// Which identities do I have?
    WhoAmI,
}

/// The answer to a request.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Reply {
    /// The request's.
    pub xid: Xid,
    /// The newest transaction this server had applied; a write's own.
    pub zxid: Zxid,
    /// Why not.
    pub err: Option<Code>,
    /// What was asked for; next to an error in one case only, a broken multiRead.
    pub body: Body,
}

/// What a reply carries.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Body {
    /// An ACL and its node's stat.
    Acl {
        /// Redacted for those who may not know.
        acl: AclList,
        /// The node's.
        stat: Stat,
    },
    /// Names of children, sorted, and the node's stat if asked for.
    Children {
        /// Without the parent's path.
        names: Vec<CompactString>,
        /// getChildren2 only.
        stat: Option<Stat>,
    },
    /// A number: descendants, or the 0 that acknowledges a persistent watch.
    Count(i32),
    /// A new node's path, and its stat except for plain create.
    Created {
        /// With its sequence number.
        path: Text,
        /// Fresh.
        stat: Option<Stat>,
    },
    /// A node's data and stat.
    Data {
        /// As written.
        data: Data,
        /// The node's.
        stat: Stat,
    },
    /// Results of a multi or multiRead.
    Multi(Vec<OpResult>),
    /// Nothing.
    None,
    /// Paths of ephemerals.
    Paths(Vec<Text>),
    /// A stat alone.
    Stat(Stat),
    /// The path of a sync.
    Synced(Option<Text>),
    /// A SASL token; always null here.
    Token,
    /// Identities as (scheme, user).
    Users(Vec<(Text, Text)>),
}

/// One result within a multi or multiRead.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum OpResult {
    /// The version was right.
    Check,
    /// Names of children.
    Children(Vec<CompactString>),
    /// A node was made; with stat except for plain create.
    Created {
        /// With its sequence number.
        path: Text,
        /// Fresh.
        stat: Option<Stat>,
    },
    /// Data and stat.
    Data {
        /// As written.
        data: Data,
        /// The node's.
        stat: Stat,
    },
    /// A node was removed.
    Deleted,
    /// This one failed, or another did; `None` is the 0 of those before the one that failed.
    Error(Option<Code>),
    /// Data was set.
    Set(Stat),
}

/// What happened to a watched node.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[repr(i32)]
pub enum EventKind {
    /// It is there.
    Created = 1,
    /// It is gone.
    Deleted = 2,
    /// It holds something else.
    DataChanged = 3,
    /// It has other children.
    ChildrenChanged = 4,
}

impl EventKind {
    /// The number on the wire.
    #[must_use]
    pub const fn number(self) -> i32 {
        self as i32
    }
}

/// A watch event.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Event {
    /// What happened.
    pub kind: EventKind,
    /// Where, as the server names it.
    pub path: Text,
    /// The transaction that did it; [`Zxid::NONE`] if setWatches found out later.
    pub zxid: Zxid,
}

/// When something happened and by whom, for every transaction.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Stamp {
    /// Its place in the order.
    pub zxid: Zxid,
    /// The wall clock of the server that prepared it.
    pub time: Millis,
}
