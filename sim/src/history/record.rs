//! One line of a history. Names are those of ZooKeeper where it has one.

use serde::{Deserialize, Serialize};

use super::hex::{Bytes, Hex};

/// The first line: what kind of history this is.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Which format this is.
    #[serde(rename = "zoolab-history")]
    pub format: u32,
    /// Who wrote it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// Whether the tree was that of a new ensemble when the history began. If not, what is in it
    /// is learnt from what clients are told.
    #[serde(default, skip_serializing_if = "is_false")]
    pub fresh: bool,
    /// Whether every client of the ensemble is in it, or every transaction. If not, anything may
    /// have been done by somebody else.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub closed: bool,
    /// By how much two moments of different connections may be wrong, in microseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub clock_error: u64,
    /// The tick of the servers in milliseconds, if known: sessions end at its multiples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tick_ms: Option<u32>,
}

impl Header {
    /// Of a history that begins with a new ensemble.
    #[must_use]
    pub fn new(source: &str) -> Self {
        Self {
            format: super::FORMAT,
            source: source.into(),
            fresh: true,
            closed: true,
            clock_error: 0,
            tick_ms: None,
        }
    }
}

/// A line in the middle. `at` is in microseconds of one clock.
///
/// For each connection the order of the lines is the order on the wire: of what is asked, and of
/// what is heard.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Record {
    /// A request is handed to a connection.
    Call {
        /// When.
        at: u64,
        /// To which.
        conn: u64,
        /// The client's number for it.
        xid: i32,
        /// What for.
        ask: Ask,
    },
    /// A connection is up. No number is used twice.
    Connect {
        /// When.
        at: u64,
        /// Its number.
        conn: u64,
        /// Whose it is; one client has one session handle.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        client: Option<u64>,
        /// Where it goes to.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        server: String,
    },
    /// A server says what its tree is: the digest of all of it.
    Digest {
        /// Which server.
        server: String,
        /// After which transaction.
        zxid: Hex,
        /// The digest.
        digest: Hex,
    },
    /// Nothing follows: whoever wrote this was not cut off.
    End {
        /// How many lines are between the first and this.
        records: u64,
    },
    /// A watch event is received.
    Event {
        /// When.
        at: u64,
        /// On which connection.
        conn: u64,
        /// What happened.
        kind: Kind,
        /// To which node.
        path: String,
        /// By which transaction; servers before 3.9 do not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        zxid: Option<Hex>,
    },
    /// The first answer on a connection: the session is over.
    Expired {
        /// When.
        at: u64,
        /// On which connection.
        conn: u64,
    },
    /// The first frame on a connection.
    Hello {
        /// When.
        at: u64,
        /// On which.
        conn: u64,
        /// The session to go on with; none for a new one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<Hex>,
        /// The newest zxid that the client has seen.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seen: Option<Hex>,
    },
    /// The client's end of a connection is closed. Whatever has no answer now will have none.
    Lost {
        /// When.
        at: u64,
        /// Which.
        conn: u64,
    },
    /// For readers: what else happened.
    Note {
        /// When.
        at: u64,
        /// What.
        text: String,
    },
    /// The first answer on a connection: the session is open on it.
    Open {
        /// When.
        at: u64,
        /// On which connection.
        conn: u64,
        /// The session.
        session: Hex,
        /// As agreed.
        timeout_ms: u32,
    },
    /// An answer is received.
    Reply {
        /// When.
        at: u64,
        /// On which connection.
        conn: u64,
        /// To which request.
        xid: i32,
        /// The server's newest transaction, a write's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        zxid: Option<Hex>,
        /// The code, if it was refused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        err: Option<i32>,
        /// What was asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ok: Option<Box<Answer>>,
    },
    /// A client tells its application of its session.
    State {
        /// When.
        at: u64,
        /// Which client.
        client: u64,
        /// What it says.
        state: State,
    },
    /// From a server's log: a transaction. They come in their order.
    Txn {
        /// Its place.
        zxid: Hex,
        /// Who asked; zero when the server itself did.
        session: Hex,
        /// The asking client's number for it.
        cxid: i32,
        /// What it does.
        change: Change,
    },
}

impl Record {
    /// When it was, if it was at a moment.
    #[must_use]
    pub const fn at(&self) -> Option<u64> {
        match self {
            Self::Call { at, .. }
            | Self::Connect { at, .. }
            | Self::Event { at, .. }
            | Self::Expired { at, .. }
            | Self::Hello { at, .. }
            | Self::Lost { at, .. }
            | Self::Note { at, .. }
            | Self::Open { at, .. }
            | Self::Reply { at, .. }
            | Self::State { at, .. } => Some(*at),
            Self::Digest { .. } | Self::End { .. } | Self::Txn { .. } => None,
        }
    }
}

/// What is asked of a server.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the fields are those of ZooKeeper's requests")]
pub enum Ask {
    /// Watch until told otherwise.
    AddWatch {
        path: String,
        #[serde(default, skip_serializing_if = "is_false")]
        recursive: bool,
    },
    /// In a multi: the version must be this one.
    Check {
        path: String,
        #[serde(default = "any", skip_serializing_if = "is_any")]
        version: i32,
    },
    /// The client is done.
    Close,
    /// Make a node.
    Create {
        path: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Bytes>,
        /// As `scheme:id:perms`; everybody may do everything if it is missing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        acl: Option<Vec<String>>,
        #[serde(default, skip_serializing_if = "Mode::is_persistent")]
        mode: Mode,
        #[serde(default, skip_serializing_if = "is_false")]
        sequential: bool,
    },
    /// Remove a node.
    Delete {
        path: String,
        #[serde(default = "any", skip_serializing_if = "is_any")]
        version: i32,
    },
    /// Is there such a node?
    Exists {
        path: String,
        #[serde(default, skip_serializing_if = "is_false")]
        watch: bool,
    },
    /// Who may do what?
    GetAcl { path: String },
    /// Which children?
    GetChildren {
        path: String,
        #[serde(default, skip_serializing_if = "is_false")]
        watch: bool,
    },
    /// What does it hold?
    GetData {
        path: String,
        #[serde(default, skip_serializing_if = "is_false")]
        watch: bool,
    },
    /// All of these or nothing.
    Multi(Vec<Self>),
    /// All of these from one state.
    MultiRead(Vec<Self>),
    /// Anything else, by its number. Its answer says how new the server is, and nothing more.
    Other { opcode: i32 },
    /// Forget watches.
    RemoveWatches { path: String, kind: i32 },
    /// Replace a node's ACL.
    SetAcl {
        path: String,
        acl: Vec<String>,
        #[serde(default = "any", skip_serializing_if = "is_any")]
        version: i32,
    },
    /// Replace a node's data.
    SetData {
        path: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Bytes>,
        #[serde(default = "any", skip_serializing_if = "is_any")]
        version: i32,
    },
    /// Watch again what was watched on the last connection.
    SetWatches(SetWatches),
    /// Catch up with the leader.
    Sync { path: String },
}

/// The watches a client had on its last connection.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct SetWatches {
    /// The newest zxid it had seen.
    pub relative: Hex,
    /// On nodes that were there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<String>,
    /// On nodes that were not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exist: Vec<String>,
    /// On children.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub child: Vec<String>,
    /// Until told otherwise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub persistent: Vec<String>,
    /// Until told otherwise, with everything below.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recursive: Vec<String>,
}

/// What makes a node go by itself.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Nothing.
    #[default]
    Persistent,
    /// Its session ends.
    Ephemeral,
    /// Its last child has gone.
    Container,
    /// Nothing has set it for a while.
    Ttl,
}

impl Mode {
    fn is_persistent(&self) -> bool {
        *self == Self::Persistent
    }
}

/// What a server answers: whichever of these the request asks for.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Answer {
    /// The path of a new node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What a node holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Bytes>,
    /// Names of children, in any order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub children: Option<Vec<String>>,
    /// Who may do what, as `scheme:id:perms`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acl: Option<Vec<String>>,
    /// The node's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stat: Option<Stat>,
    /// Of each part of a multi.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<Vec<Part>>,
}

/// What became of one part of a multi. A code of zero says that another part failed.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Part {
    /// The code, if it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub err: Option<i32>,
    /// What was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ok: Option<Answer>,
}

/// What is told of a node.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(missing_docs, reason = "the fields are those of ZooKeeper's Stat")]
pub struct Stat {
    pub czxid: Hex,
    pub mzxid: Hex,
    pub pzxid: Hex,
    pub ctime: i64,
    pub mtime: i64,
    pub version: i32,
    pub cversion: i32,
    pub aversion: i32,
    pub ephemeral_owner: Hex,
    pub data_length: i32,
    pub num_children: i32,
}

/// What happened to a watched node.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// It is there.
    Created,
    /// It is gone.
    Deleted,
    /// It holds something else.
    DataChanged,
    /// It has other children.
    ChildrenChanged,
}

/// What an application is told of its session.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are ZooKeeper's")]
pub enum State {
    AuthFailed,
    Closed,
    Connected,
    ConnectedReadOnly,
    Disconnected,
    Expired,
}

/// What a transaction does.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the fields are those of ZooKeeper's transactions")]
pub enum Change {
    /// In a multi: a version was right.
    Check { path: String },
    /// A session ends, and these nodes with it; all that are its own if it does not say which.
    CloseSession {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        paths: Option<Vec<String>>,
    },
    /// A node is made.
    Create {
        path: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Bytes>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        acl: Option<Vec<String>>,
        #[serde(default, skip_serializing_if = "Mode::is_persistent")]
        mode: Mode,
    },
    /// A session begins.
    CreateSession { timeout_ms: u32 },
    /// A node is removed.
    Delete { path: String },
    /// A request was refused with this code.
    Error { code: i32 },
    /// All of these, or none if one of them is an error.
    Multi(Vec<Self>),
    /// A node's ACL is replaced.
    SetAcl { path: String, acl: Vec<String>, version: i32 },
    /// A node's data is replaced.
    SetData {
        path: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Bytes>,
        version: i32,
    },
}

const fn any() -> i32 {
    -1
}

const fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
const fn is_any(version: &i32) -> bool {
    *version == -1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
const fn is_true(flag: &bool) -> bool {
    *flag
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}
