//! A whole history in memory, close together: what is kept of each operation decides how long a
//! history can be.

use super::intern::{PathId, Paths, ValueId, Values};
use super::record::{Header, Kind, Mode, Stat, State};

/// What stands for a moment that never came.
pub const NEVER: u64 = u64::MAX;

/// One request and its answer. Ordered by when they were asked, which for a session is the order
/// in which it asked them.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    /// The zxid of the answer; 0 if it says none.
    pub zxid: i64,
    /// When it was asked.
    pub called: u64,
    /// When it was answered, or [`NEVER`].
    pub returned: u64,
    /// On which connection.
    pub conn: u32,
    /// The place of the answer among all that was received on the connection.
    pub rank: u32,
    /// The client's number for it.
    pub xid: i32,
    /// What was asked.
    pub ask: Asked,
    /// What was answered.
    pub said: Told,
}

impl Op {
    /// Whether its outcome is known.
    #[must_use]
    pub const fn is_definite(&self) -> bool {
        self.returned != NEVER
    }

    /// Whether it has a place of its own in the order of all updates, as far as is known.
    ///
    /// What cannot be decoded, what waited too long and what a server without a quorum refuses
    /// has none, and what was refused before it was ordered says so with no zxid.
    #[must_use]
    pub const fn is_update(&self) -> bool {
        let placed = !matches!(self.said, Told::Error(-5 | -119 | -127));
        self.ask.is_update() && placed && (self.zxid > 0 || !self.is_definite())
    }
}

/// What was asked, with a few numbers. Parts of a multi are in [`History::parts`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(missing_docs, reason = "as in a record")]
pub enum Asked {
    AddWatch { path: PathId, recursive: bool },
    Check { path: PathId, version: i32 },
    Close,
    Create { path: PathId, data: ValueId, acl: ValueId, mode: Mode, sequential: bool },
    Delete { path: PathId, version: i32 },
    Exists { path: PathId, watch: bool },
    GetAcl { path: PathId },
    GetChildren { path: PathId, watch: bool },
    GetData { path: PathId, watch: bool },
    Multi { first: u32, count: u32 },
    MultiRead { first: u32, count: u32 },
    Other { opcode: i32 },
    RemoveWatches { path: PathId, kind: i32 },
    SetAcl { path: PathId, acl: ValueId, version: i32 },
    SetData { path: PathId, data: ValueId, version: i32 },
    SetWatches { index: u32 },
    Sync { path: PathId },
}

impl Asked {
    /// Whether it wants to change something.
    #[must_use]
    pub const fn is_update(&self) -> bool {
        match self {
            Self::Close
            | Self::Create { .. }
            | Self::Delete { .. }
            | Self::Multi { .. }
            | Self::SetAcl { .. }
            | Self::SetData { .. } => true,
            Self::Other { opcode } => *opcode == 16,
            Self::AddWatch { .. }
            | Self::Check { .. }
            | Self::Exists { .. }
            | Self::GetAcl { .. }
            | Self::GetChildren { .. }
            | Self::GetData { .. }
            | Self::MultiRead { .. }
            | Self::RemoveWatches { .. }
            | Self::SetWatches { .. }
            | Self::Sync { .. } => false,
        }
    }

    /// The node it is about, if it is about one.
    #[must_use]
    pub const fn path(&self) -> Option<PathId> {
        match self {
            Self::AddWatch { path, .. }
            | Self::Check { path, .. }
            | Self::Create { path, .. }
            | Self::Delete { path, .. }
            | Self::Exists { path, .. }
            | Self::GetAcl { path }
            | Self::GetChildren { path, .. }
            | Self::GetData { path, .. }
            | Self::RemoveWatches { path, .. }
            | Self::SetAcl { path, .. }
            | Self::SetData { path, .. }
            | Self::Sync { path } => Some(*path),
            Self::Close
            | Self::Multi { .. }
            | Self::MultiRead { .. }
            | Self::Other { .. }
            | Self::SetWatches { .. } => None,
        }
    }
}

/// A stat, by number; or none.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct StatId(pub u32);

impl StatId {
    /// There is none.
    pub const NONE: Self = Self(u32::MAX);
}

/// What was answered. Results of the parts of a multi are in [`History::results`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(missing_docs, reason = "as in a record")]
pub enum Told {
    /// Nothing: its outcome is unknown.
    Unknown,
    Acl {
        acl: ValueId,
        stat: StatId,
    },
    Children {
        list: u32,
        stat: StatId,
    },
    Created {
        path: PathId,
        stat: StatId,
    },
    Data {
        data: ValueId,
        stat: StatId,
    },
    /// It is done, and there is nothing to say.
    Done,
    Error(i32),
    Parts {
        first: u32,
        count: u32,
    },
    Stat(StatId),
}

/// A watch event.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// By which transaction; 0 if the server does not say.
    pub zxid: i64,
    /// When it was received.
    pub at: u64,
    /// On which connection.
    pub conn: u32,
    /// Its place among all that was received there.
    pub rank: u32,
    /// To which node.
    pub path: PathId,
    /// What happened.
    pub kind: Kind,
}

/// One connection.
#[derive(Clone, Debug)]
pub struct Conn {
    /// As the file calls it.
    pub name: u64,
    /// Whose it is.
    pub client: Option<u64>,
    /// Where it goes to.
    pub server: String,
    /// Its session, if it was opened: an index.
    pub session: Option<u32>,
    /// What the client said it had seen.
    pub seen: i64,
    /// When it was open, if it was.
    pub opened: u64,
    /// When it was closed, or [`NEVER`].
    pub lost: u64,
    /// How many replies and events were received.
    pub received: u32,
}

/// One session.
#[derive(Clone, Debug)]
pub struct Session {
    /// As servers call it.
    pub id: i64,
    /// As agreed last.
    pub timeout_ms: u32,
    /// How often it was opened as a new one.
    pub births: u32,
    /// When a server said that it is over, or [`NEVER`].
    pub expired: u64,
}

/// A transaction from a server's log.
#[derive(Clone, Copy, Debug)]
pub struct Txn {
    /// Its place.
    pub zxid: i64,
    /// Who asked.
    pub session: i64,
    /// By which number.
    pub cxid: i32,
    /// What it does.
    pub effect: Effect,
}

/// What a transaction does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Effect {
    /// These parts, from [`History::parts`].
    Change {
        /// From here on.
        first: u32,
        /// So many.
        count: u32,
    },
    /// A session ends.
    Close,
    /// Nothing: it was refused.
    Error(i32),
    /// A session begins.
    Open,
}

/// The watches of a client that comes back.
#[derive(Clone, Debug, Default)]
pub struct Restore {
    /// The newest zxid it had seen.
    pub relative: i64,
    /// On nodes that were there.
    pub data: Vec<PathId>,
    /// On nodes that were not.
    pub exist: Vec<PathId>,
    /// On children.
    pub child: Vec<PathId>,
    /// Until told otherwise.
    pub persistent: Vec<PathId>,
    /// Until told otherwise, with everything below.
    pub recursive: Vec<PathId>,
}

/// A list of children.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct List {
    /// Where it begins in [`History::names`].
    pub first: u32,
    /// How many they are.
    pub count: u32,
    /// The sum of what each of them [weighs](weight), by which lists are compared.
    pub sum: u64,
}

/// What a child adds to the sum of a list: two lists of one node have the same sum if they have
/// the same children, and almost surely not otherwise.
#[must_use]
pub const fn weight(child: PathId) -> u64 {
    // The finalizer of SplitMix64.
    let mut word = (child.0 as u64).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// What a server says its tree is.
#[derive(Clone, Debug)]
pub struct Digest {
    /// Which server.
    pub server: String,
    /// After which transaction.
    pub zxid: i64,
    /// The digest.
    pub digest: i64,
}

/// What an application was told of its session.
#[derive(Clone, Copy, Debug)]
pub struct Heard {
    /// When.
    pub at: u64,
    /// Which client it is of.
    pub client: u64,
    /// What it was told.
    pub state: State,
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct History {
    /// Of the first file.
    pub header: Header,
    /// Requests, by when they were asked.
    pub ops: Vec<Op>,
    /// Events, by when they were received.
    pub events: Vec<Event>,
    /// Connections.
    pub conns: Vec<Conn>,
    /// Sessions.
    pub sessions: Vec<Session>,
    /// The log, by zxid; empty if there is none.
    pub txns: Vec<Txn>,
    /// What applications were told.
    pub states: Vec<Heard>,
    /// What servers say of their trees.
    pub digests: Vec<Digest>,
    /// Watches of clients that came back.
    pub restores: Vec<Restore>,
    /// Parts of multis.
    pub parts: Vec<Asked>,
    /// Their results.
    pub results: Vec<Told>,
    /// Stats.
    pub stats: Vec<Stat>,
    /// Lists of children.
    pub lists: Vec<List>,
    /// The children in them.
    pub names: Vec<PathId>,
    /// Replies that came before the reply to an earlier request of the connection: their
    /// operations.
    pub overtook: Vec<u32>,
    /// All paths.
    pub paths: Paths,
    /// All values and ACLs.
    pub values: Values,
    /// Files that were cut off.
    pub cut_off: Vec<String>,
}

impl History {
    /// With nothing in it yet.
    #[must_use]
    pub fn new(header: Header) -> Self {
        let mut paths = Paths::default();
        for path in super::tree::RESERVED {
            paths.put(path);
        }
        Self {
            header,
            ops: Vec::new(),
            events: Vec::new(),
            conns: Vec::new(),
            sessions: Vec::new(),
            txns: Vec::new(),
            states: Vec::new(),
            digests: Vec::new(),
            restores: Vec::new(),
            parts: Vec::new(),
            results: Vec::new(),
            stats: Vec::new(),
            lists: Vec::new(),
            names: Vec::new(),
            overtook: Vec::new(),
            paths,
            values: Values::default(),
            cut_off: Vec::new(),
        }
    }

    /// The stat of this number.
    #[must_use]
    pub fn stat(&self, stat: StatId) -> Option<&Stat> {
        self.stats.get(stat.0 as usize)
    }

    /// Whose operation it is.
    #[must_use]
    pub fn session_of(&self, op: &Op) -> Option<u32> {
        self.conns[op.conn as usize].session
    }

    /// How much memory it takes.
    #[must_use]
    pub fn bytes_used(&self) -> usize {
        fn of<T>(all: &Vec<T>) -> usize {
            all.capacity() * size_of::<T>()
        }
        of(&self.ops)
            + of(&self.events)
            + of(&self.conns)
            + of(&self.sessions)
            + of(&self.txns)
            + of(&self.parts)
            + of(&self.results)
            + of(&self.stats)
            + of(&self.lists)
            + of(&self.names)
            + self.paths.bytes_used()
            + self.values.bytes_used()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_takes_little() {
        assert!(size_of::<Asked>() <= 16, "{}", size_of::<Asked>());
        assert!(size_of::<Told>() <= 12, "{}", size_of::<Told>());
        assert!(size_of::<Op>() <= 64, "{}", size_of::<Op>());
        assert!(size_of::<Stat>() <= 72, "{}", size_of::<Stat>());
    }
}
