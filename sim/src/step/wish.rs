//! What an application may want of its client, small enough to be part of a step.

use zoolab_core::ServerId;
use zoolab_core::client::WatcherKind;

use super::ClientId;
use crate::hash::RunningHash;

/// A place in the tree, as the application names it.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Spot {
    /// `/`.
    Root,
    /// `/n3`.
    Node(u16),
    /// `/n3/c1`.
    Child(u16, u8),
}

/// How long a node lives, and who names it.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[expect(missing_docs, reason = "they are ZooKeeper's own")]
pub enum Kind {
    Container,
    Ephemeral,
    EphemeralSequential,
    Persistent,
    Sequential,
    Ttl,
}

impl Kind {
    /// All of them, with their words.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::Container, "container"),
        (Self::Ephemeral, "ephemeral"),
        (Self::EphemeralSequential, "ephemeral-sequential"),
        (Self::Persistent, "persistent"),
        (Self::Sequential, "sequential"),
        (Self::Ttl, "ttl"),
    ];
}

/// One part of a multi. Versions of −1 are any.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[expect(missing_docs, reason = "the sentence of a part speaks of all its fields")]
pub enum Part {
    /// Has this node this version?
    Check { at: Spot, version: i32 },
    /// Make this node.
    Create { at: Spot, value: u32, kind: Kind },
    /// Remove this node.
    Delete { at: Spot, version: i32 },
    /// Give this node this data.
    Set { at: Spot, value: u32, version: i32 },
}

/// Something an application wants of its client. Watchers are the application's numbers.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[expect(missing_docs, reason = "the sentence of a wish speaks of all its fields")]
pub enum Wish {
    /// Be this user as well.
    AddAuth { user: u8 },
    /// Watch until told otherwise.
    AddWatch { at: Spot, watcher: u16, recursive: bool },
    /// Which children?
    Children { at: Spot, watch: Option<u16>, stat: bool },
    /// End the session.
    Close,
    /// What is the ensemble's configuration?
    Config { watch: Option<u16> },
    /// How many descendants?
    Count { at: Spot },
    /// Make a node; answer with its stat.
    Create { at: Spot, value: u32, kind: Kind, stat: bool },
    /// Remove a node.
    Delete { at: Spot, version: i32 },
    /// Which ephemerals does the session have?
    Ephemerals { at: Spot },
    /// Is there such a node?
    Exists { at: Spot, watch: Option<u16> },
    /// What does it hold?
    Get { at: Spot, watch: Option<u16> },
    /// Who may do what with it?
    GetAcl { at: Spot },
    /// All of these or nothing.
    Multi(Vec<Part>),
    /// All of these from one state; true asks for children.
    MultiRead(Vec<(Spot, bool)>),
    /// Forget watches: of one watcher or of all; here alone if need be.
    RemoveWatches { at: Spot, kind: WatcherKind, watcher: Option<u16>, local: bool },
    /// Give a node this data.
    Set { at: Spot, value: u32, version: i32 },
    /// Let everybody do everything, or nobody change it but its ACL.
    SetAcl { at: Spot, open: bool, version: i32 },
    /// Flush the way to the leader.
    Sync { at: Spot },
    /// Who am I?
    WhoAmI,
}

/// How a client begins.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Beginning {
    /// The servers that it knows.
    pub servers: Vec<ServerId>,
    /// Decides in which order it tries them.
    pub luck: u64,
    /// What it takes for the root.
    pub chroot: Spot,
    /// Whose last session it goes on with.
    pub session: Option<ClientId>,
    /// Whether it makes do with a server that cannot write.
    pub read_only: bool,
}

/// The names of kinds of watches.
pub(super) const WATCHER_KINDS: [(WatcherKind, &str); 5] = [
    (WatcherKind::Any, "any"),
    (WatcherKind::Child, "child"),
    (WatcherKind::Data, "data"),
    (WatcherKind::Persistent, "persistent"),
    (WatcherKind::Recursive, "recursive"),
];

impl Spot {
    const fn word(self) -> u64 {
        match self {
            Self::Root => 0,
            Self::Node(node) => 1 << 32 | (node as u64) << 8,
            Self::Child(node, child) => 2 << 32 | (node as u64) << 8 | child as u64,
        }
    }
}

fn flags(all: &[bool]) -> u64 {
    all.iter().fold(1, |word, flag| word << 1 | u64::from(*flag))
}

fn watch_word(watch: Option<u16>) -> u64 {
    watch.map_or(0, |watcher| 1 << 16 | u64::from(watcher))
}

fn number(version: i32) -> u64 {
    u64::from(version.cast_unsigned())
}

impl Part {
    fn words(self) -> [u64; 4] {
        match self {
            Self::Check { at, version } => [1, at.word(), number(version), 0],
            Self::Create { at, value, kind } => [2, at.word(), u64::from(value), kind as u64],
            Self::Delete { at, version } => [3, at.word(), number(version), 0],
            Self::Set { at, value, version } => [4, at.word(), u64::from(value), number(version)],
        }
    }
}

impl Wish {
    /// Feeds a running hash.
    pub(super) fn words(&self, hash: &mut RunningHash) {
        let words = match self {
            Self::AddAuth { user } => [1, u64::from(*user), 0, 0],
            Self::AddWatch { at, watcher, recursive } => {
                [2, at.word(), u64::from(*watcher), flags(&[*recursive])]
            }
            Self::Children { at, watch, stat } => {
                [3, at.word(), watch_word(*watch), flags(&[*stat])]
            }
            Self::Close => [4, 0, 0, 0],
            Self::Config { watch } => [5, watch_word(*watch), 0, 0],
            Self::Count { at } => [6, at.word(), 0, 0],
            Self::Create { at, value, kind, stat } => {
                [7, at.word(), u64::from(*value), (*kind as u64) << 4 | flags(&[*stat])]
            }
            Self::Delete { at, version } => [8, at.word(), number(*version), 0],
            Self::Ephemerals { at } => [9, at.word(), 0, 0],
            Self::Exists { at, watch } => [10, at.word(), watch_word(*watch), 0],
            Self::Get { at, watch } => [11, at.word(), watch_word(*watch), 0],
            Self::GetAcl { at } => [12, at.word(), 0, 0],
            Self::Multi(parts) => {
                parts.iter().flat_map(|part| part.words()).for_each(|word| hash.word(word));
                [13, parts.len() as u64, 0, 0]
            }
            Self::MultiRead(reads) => {
                let word = |(at, children): &(Spot, bool)| at.word() << 2 | flags(&[*children]);
                reads.iter().for_each(|read| hash.word(word(read)));
                [14, reads.len() as u64, 0, 0]
            }
            Self::RemoveWatches { at, kind, watcher, local } => {
                let kind = number(kind.number());
                [15, at.word(), watch_word(*watcher), kind << 4 | flags(&[*local])]
            }
            Self::Set { at, value, version } => {
                [16, at.word(), u64::from(*value), number(*version)]
            }
            Self::SetAcl { at, open, version } => {
                [17, at.word(), number(*version), flags(&[*open])]
            }
            Self::Sync { at } => [18, at.word(), 0, 0],
            Self::WhoAmI => [19, 0, 0, 0],
        };
        words.into_iter().for_each(|word| hash.word(word));
    }
}

impl Beginning {
    /// Feeds a running hash.
    pub(super) fn words(&self, hash: &mut RunningHash) {
        let Self { servers, luck, chroot, session, read_only } = self;
        servers.iter().for_each(|server| hash.word(u64::from(server.0)));
        hash.word(*luck);
        hash.word(chroot.word());
        hash.word(session.map_or(0, |client| 1 << 16 | u64::from(client.0)));
        hash.word(flags(&[*read_only]));
    }
}
