//! A snapshot: the sessions and all nodes, written while changes go on.
//!
//! ```text
//!   "ZKSN" 2 dbid | sessions | ACLs by number | nodes, parents first | "/" | seal
//!                 | zxid and digest of the tree at the end           |     | seal
//!                 | zxid at the end once more                        |     | seal
//! ```
//!
//! A seal is the checksum of everything before it. The snapshot is named after the last
//! transaction that was applied before it began; the nodes may also show the effects of later
//! ones, up to the zxid at the end. All of these have to be applied again to get a tree that
//! ever was. The last two parts may be absent in files of older versions.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::txn::{DIGEST_VERSION, put_acl, take_acl};
use crate::Text;
use crate::acl::AclList;
use crate::ids::{Millis, SessionId, Zxid};
use crate::tree::{Misplaced, Node, Restore, StoredStat, Tree};
use crate::wire::jute::{Reader, WireError, Writer};

/// Magic, version 2, database −1.
const HEADER: [u8; 16] = *b"ZKSN\0\0\0\x02\xff\xff\xff\xff\xff\xff\xff\xff";
/// Magic and version; nobody looks at the database.
const HEADER_CHECKED: usize = 8;
/// How ZooKeeper numbers the ACL that lets everybody do everything.
const ACL_OPEN: i64 = -1;
/// Checksum and `/`.
const SEAL_BYTES: usize = 13;

/// A snapshot in the making. It is handed the tree again and again, and puts out a few nodes each
/// time.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct SnapshotWriter {
    zxid: Zxid,
    acls: BTreeMap<AclList, i64>,
    /// The node put out last.
    key: Option<String>,
    /// Of everything put out.
    checksum: u32,
    /// Whether nodes that were born after the beginning are put out as well, as ZooKeeper does.
    newborn: bool,
    done: bool,
}

impl SnapshotWriter {
    /// Begins: puts out the sessions, as they are now, and the ACLs. `zxid` is the last
    /// transaction applied to the tree.
    pub fn begin(
        zxid: Zxid,
        tree: &Tree,
        sessions: &BTreeMap<SessionId, i32>,
        out: &mut Vec<u8>,
    ) -> Self {
        let open = AclList::open();
        let listed = tree.acl_lists().filter(|list| **list != open).cloned().zip(1..);
        let acls = listed.collect();
        let mut writer = Self { zxid, acls, key: None, checksum: 1, newborn: false, done: false };
        let start = out.len();
        out.extend_from_slice(&HEADER);
        let mut record = Writer::plain(out);
        record.count(sessions.len());
        for (id, timeout_ms) in sessions {
            record.long(id.0);
            record.int(*timeout_ms);
        }
        record.count(writer.acls.len());
        for (list, id) in &writer.acls {
            record.long(*id);
            put_acl(list, &mut record);
        }
        writer.sum(&out[start..]);
        writer.acls.insert(open, ACL_OPEN);
        writer
    }

    /// The transaction it is named after.
    #[must_use]
    pub const fn zxid(&self) -> Zxid {
        self.zxid
    }

    /// From now on puts out nodes that were born after the beginning as well. To apply their birth
    /// again must not do any harm then.
    pub(crate) const fn with_newborn(&mut self) {
        self.newborn = true;
    }

    /// Whether everything has been put out.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        self.done
    }

    /// Looks at so many nodes more and puts them out; after the last one, seals the file.
    ///
    /// Changes may have been applied since the last call; `zxid` is the last of them. What was
    /// born after the beginning is left out: its birth is applied again anyway.
    ///
    /// # Panics
    /// If it is done already, or if the tree has gone back in time.
    pub fn chunk(&mut self, tree: &Tree, zxid: Zxid, nodes: usize, out: &mut Vec<u8>) {
        assert!(!self.done, "the snapshot is whole already");
        assert!(zxid >= self.zxid, "the tree is older than the snapshot");
        let start = out.len();
        for _ in 0..nodes {
            let Some(node) = tree.after(self.key.as_deref()) else {
                self.sum(&out[start..]);
                self.seal(tree, zxid, out);
                return;
            };
            if node.stat().czxid <= self.zxid || self.newborn {
                // An ACL that was not there at the beginning is set again by its transaction.
                let acl = self.acls.get(tree.acl(node)).copied().unwrap_or(ACL_OPEN);
                put_node(node, acl, &mut Writer::plain(out));
            }
            let key = self.key.get_or_insert_default();
            key.clear();
            key.push_str(node.key());
        }
        self.sum(&out[start..]);
    }

    fn seal(&mut self, tree: &Tree, zxid: Zxid, out: &mut Vec<u8>) {
        self.part(out, |out| out.text("/"));
        self.part(out, |out| {
            out.long(zxid.0);
            out.int(DIGEST_VERSION);
            out.long(tree.digest().cast_signed());
        });
        self.part(out, |out| out.long(zxid.0));
        self.done = true;
    }

    /// The end of a part, and its seal.
    fn part(&mut self, out: &mut Vec<u8>, content: impl FnOnce(&mut Writer<'_>)) {
        let start = out.len();
        content(&mut Writer::plain(out));
        self.sum(&out[start..]);
        let start = out.len();
        let mut seal = Writer::plain(out);
        seal.long(i64::from(self.checksum));
        seal.text("/");
        self.sum(&out[start..]);
    }

    fn sum(&mut self, bytes: &[u8]) {
        let mut adler = adler2::Adler32::from_checksum(self.checksum);
        adler.write_slice(bytes);
        self.checksum = adler.checksum();
    }
}

/// A whole snapshot at once.
#[must_use]
pub fn encode(zxid: Zxid, tree: &Tree, sessions: &BTreeMap<SessionId, i32>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = SnapshotWriter::begin(zxid, tree, sessions, &mut out);
    writer.chunk(tree, zxid, usize::MAX, &mut out);
    assert!(writer.is_done(), "no tree has so many nodes");
    out
}

fn put_node(node: &Node, acl: i64, out: &mut Writer<'_>) {
    let &StoredStat { czxid, mzxid, pzxid, ctime, mtime, version, cversion, aversion, owner } =
        node.stat();
    out.text(node.key());
    out.buffer(node.data().as_deref());
    out.long(acl);
    for long in [czxid.0, mzxid.0, ctime.0, mtime.0] {
        out.long(long);
    }
    for int in [version, cversion, aversion] {
        out.int(int);
    }
    out.long(owner);
    out.long(pzxid.0);
}

/// Whether a file ends as a whole snapshot does. Quick, and no proof.
#[must_use]
pub fn is_plausible(bytes: &[u8]) -> bool {
    bytes.starts_with(&HEADER[..HEADER_CHECKED]) && bytes.ends_with(b"\0\0\0\x01/")
}

/// What a snapshot says of its own end.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Mark {
    /// The last transaction that may show. The tree is right once this has been applied again.
    pub zxid: Zxid,
    /// The digest of the tree then, if it is summed as ours.
    pub digest: Option<u64>,
}

/// A snapshot as read.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Snapshot {
    /// The nodes as they were written.
    pub tree: Tree,
    /// The sessions at the beginning, with their timeouts.
    pub sessions: BTreeMap<SessionId, i32>,
    /// Where it ended, if it says.
    pub mark: Option<Mark>,
    /// The last transaction at the end, if it says. ZooKeeper writes it since 3.9.
    pub zxid_processed: Option<Zxid>,
}

/// Why bytes are no snapshot.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum SnapshotError {
    /// A node has an ACL that is not listed.
    Acl {
        /// Where.
        at: usize,
        /// The number it has.
        id: i64,
    },
    /// A seal that does not fit what is before it.
    Checksum {
        /// Where.
        at: usize,
        /// What it should be.
        stored: i64,
        /// What it is.
        computed: u32,
    },
    /// Not a snapshot of this version.
    Header,
    /// A node where it cannot be.
    Misplaced {
        /// Where in the file.
        at: usize,
        /// Where in the tree.
        path: Text,
        /// Why not.
        why: Misplaced,
    },
    /// Something follows the last seal.
    Rest {
        /// Where.
        at: usize,
    },
    /// A text that is not there.
    Text {
        /// Where.
        at: usize,
    },
    /// A record that ends too early, or a length that cannot be.
    Wire(WireError),
}

impl From<WireError> for SnapshotError {
    fn from(error: WireError) -> Self {
        Self::Wire(error)
    }
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Acl { at, id } => write!(f, "byte {at}: ACL {id} is not listed"),
            Self::Checksum { at, stored, computed } => {
                write!(f, "byte {at}: checksum {computed:#x}, expected {stored:#x}")
            }
            Self::Header => write!(f, "byte 0: expected \"ZKSN\" and version 2"),
            Self::Misplaced { at, path, why: Misplaced::Orphan } => {
                write!(f, "byte {at}: node {path:?} before its parent")
            }
            Self::Misplaced { at, path, why: Misplaced::Twice } => {
                write!(f, "byte {at}: node {path:?} a second time")
            }
            Self::Rest { at } => write!(f, "byte {at}: expected the end"),
            Self::Text { at } => write!(f, "byte {at}: expected a text"),
            Self::Wire(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for SnapshotError {}

/// Reads a whole snapshot.
///
/// # Errors
/// Says where it is not one. Nothing of it can be used then.
pub fn decode(bytes: &[u8], extended_types: bool, scatter: u64) -> Result<Snapshot, SnapshotError> {
    if !bytes.starts_with(&HEADER[..HEADER_CHECKED]) {
        return Err(SnapshotError::Header);
    }
    let mut reader = Reading { bytes, reader: Reader::new(bytes, bytes.len()) };
    reader.reader.long()?;
    reader.reader.long()?;
    let sessions = reader.sessions()?;
    let acls = reader.acls()?;
    let tree = reader.nodes(&acls, extended_types, scatter)?;
    reader.seal()?;
    // Both following parts may be switched off, each by itself.
    let mark = match reader.reader.left() {
        0 => None,
        left if left == 8 + SEAL_BYTES => None,
        _ => Some(reader.mark()?),
    };
    let zxid_processed = match reader.reader.left() {
        0 => None,
        _ => {
            let zxid = Zxid(reader.reader.long()?);
            reader.seal()?;
            Some(zxid)
        }
    };
    if reader.reader.left() > 0 {
        return Err(SnapshotError::Rest { at: reader.at() });
    }
    Ok(Snapshot { tree, sessions, mark, zxid_processed })
}

struct Reading<'a> {
    bytes: &'a [u8],
    reader: Reader<'a>,
}

impl Reading<'_> {
    fn at(&self) -> usize {
        self.bytes.len() - self.reader.left()
    }

    fn sessions(&mut self) -> Result<BTreeMap<SessionId, i32>, SnapshotError> {
        let mut sessions = BTreeMap::new();
        for _ in 0..self.reader.int()? {
            let id = SessionId(self.reader.long()?);
            sessions.insert(id, self.reader.int()?);
        }
        Ok(sessions)
    }

    fn acls(&mut self) -> Result<BTreeMap<i64, AclList>, SnapshotError> {
        let mut acls = BTreeMap::from([(ACL_OPEN, AclList::open())]);
        for _ in 0..self.reader.int()? {
            let id = self.reader.long()?;
            acls.insert(id, take_acl(&mut self.reader)?);
        }
        Ok(acls)
    }

    fn nodes(
        &mut self,
        acls: &BTreeMap<i64, AclList>,
        extended_types: bool,
        scatter: u64,
    ) -> Result<Tree, SnapshotError> {
        let mut tree = Restore::new(extended_types, scatter);
        loop {
            let at = self.at();
            let key = self.reader.text()?.ok_or(SnapshotError::Text { at })?;
            if &*key == "/" {
                return Ok(tree.finish());
            }
            let data = self.reader.buffer()?;
            let id = self.reader.long()?;
            let acl = acls.get(&id).ok_or(SnapshotError::Acl { at, id })?;
            let stat = self.stat()?;
            tree.put(&key, data, stat, acl).map_err(|why| SnapshotError::Misplaced {
                at,
                path: key,
                why,
            })?;
        }
    }

    fn stat(&mut self) -> Result<StoredStat, WireError> {
        let reader = &mut self.reader;
        Ok(StoredStat {
            czxid: Zxid(reader.long()?),
            mzxid: Zxid(reader.long()?),
            ctime: Millis(reader.long()?),
            mtime: Millis(reader.long()?),
            version: reader.int()?,
            cversion: reader.int()?,
            aversion: reader.int()?,
            owner: reader.long()?,
            pzxid: Zxid(reader.long()?),
        })
    }

    fn mark(&mut self) -> Result<Mark, SnapshotError> {
        let zxid = Zxid(self.reader.long()?);
        let version = self.reader.int()?;
        let digest = if version < DIGEST_VERSION {
            self.reader.text()?;
            None
        } else {
            Some(self.reader.long()?.cast_unsigned()).filter(|_| version == DIGEST_VERSION)
        };
        self.seal()?;
        Ok(Mark { zxid, digest })
    }

    fn seal(&mut self) -> Result<(), SnapshotError> {
        let at = self.at();
        let computed = adler2::adler32_slice(&self.bytes[..at]);
        let stored = self.reader.long()?;
        if stored != i64::from(computed) {
            return Err(SnapshotError::Checksum { at, stored, computed });
        }
        let at = self.at();
        match self.reader.text()? {
            Some(slash) if &*slash == "/" => Ok(()),
            Some(_) | None => Err(SnapshotError::Text { at }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{CreateOp, Stamp};
    use crate::txn::{NodeChange, NodeKind};

    fn create(tree: &mut Tree, zxid: i64, path: &str, kind: NodeKind, acl: AclList) {
        let cversion = tree.get(crate::path::parent(path).unwrap()).unwrap().stat().cversion;
        let change = NodeChange::Create {
            op: CreateOp::Create,
            path: path.into(),
            data: Some(path.as_bytes().into()),
            acl,
            kind,
            parent_cversion: cversion + 1,
        };
        let stamp = Stamp { zxid: Zxid(zxid), time: Millis(zxid * 1000) };
        tree.apply(stamp, SessionId(77), &change, &mut Vec::new());
    }

    fn delete(tree: &mut Tree, zxid: i64, path: &str) {
        let change = NodeChange::Delete { path: path.into(), container: false };
        let stamp = Stamp { zxid: Zxid(zxid), time: Millis(zxid * 1000) };
        tree.apply(stamp, SessionId(77), &change, &mut Vec::new());
    }

    fn sample() -> Tree {
        let mut tree = Tree::new(true, 0);
        create(&mut tree, 1, "/a", NodeKind::Persistent, AclList::open());
        create(&mut tree, 2, "/a/b", NodeKind::Ephemeral, AclList::read_only());
        create(&mut tree, 3, "/a/c", NodeKind::Container, AclList::new(Vec::new()));
        create(&mut tree, 4, "/d", NodeKind::Ttl { ms: 5 }, AclList::open());
        let limits = "/zookeeper/quota/a/zookeeper_limits";
        create(&mut tree, 5, "/zookeeper/quota/a", NodeKind::Persistent, AclList::open());
        create(&mut tree, 6, limits, NodeKind::Persistent, AclList::open());
        let counts = "/zookeeper/quota/a/zookeeper_stats";
        create(&mut tree, 7, counts, NodeKind::Persistent, AclList::open());
        tree
    }

    #[test]
    fn a_tree_comes_back() {
        let tree = sample();
        let sessions = BTreeMap::from([(SessionId(77), 4000), (SessionId(-5), 1)]);
        let bytes = encode(Zxid(7), &tree, &sessions);
        assert!(is_plausible(&bytes));
        let read = decode(&bytes, true, 99).unwrap();
        read.tree.assert_invariants();
        assert_eq!(read.tree, tree);
        assert_eq!(read.tree.quotas(), tree.quotas());
        assert_eq!(read.sessions, sessions);
        let digest = Some(tree.digest());
        assert_eq!(read.mark, Some(Mark { zxid: Zxid(7), digest }));
        assert_eq!(read.zxid_processed, Some(Zxid(7)));
    }

    #[test]
    fn the_last_parts_may_be_absent() {
        let tree = sample();
        let bytes = encode(Zxid(7), &tree, &BTreeMap::new());
        let first = bytes.len() - (8 + SEAL_BYTES) - (20 + SEAL_BYTES);
        let read = decode(&bytes[..first], true, 0).unwrap();
        assert_eq!((read.mark, read.zxid_processed), (None, None));
        let second = bytes.len() - (8 + SEAL_BYTES);
        let read = decode(&bytes[..second], true, 0).unwrap();
        assert_eq!((read.mark.map(|mark| mark.zxid), read.zxid_processed), (Some(Zxid(7)), None));
        for end in 0..bytes.len() {
            let read = decode(&bytes[..end], true, 0);
            assert_eq!(read.is_ok(), end == first || end == second, "cut at {end}");
        }
    }

    #[test]
    fn every_flipped_bit_is_found() {
        let mut bytes = encode(Zxid(7), &sample(), &BTreeMap::from([(SessionId(1), 2)]));
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(&bytes, true, 0).is_err(), "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }

    /// The node at hand and its parent vanish between two calls; others are born on both sides.
    #[test]
    fn a_snapshot_goes_on_while_nodes_come_and_go() {
        let mut tree = sample();
        let mut out = Vec::new();
        let mut writer = SnapshotWriter::begin(Zxid(7), &tree, &BTreeMap::new(), &mut out);
        writer.chunk(&tree, Zxid(7), 3, &mut out);
        assert_eq!(writer.key.as_deref(), Some("/a/b"));
        delete(&mut tree, 8, "/a/b");
        delete(&mut tree, 9, "/a/c");
        delete(&mut tree, 10, "/a");
        create(&mut tree, 11, "/a", NodeKind::Persistent, AclList::open());
        create(&mut tree, 12, "/a/z", NodeKind::Persistent, AclList::read_only());
        writer.chunk(&tree, Zxid(12), 100, &mut out);
        assert!(writer.is_done());
        let read = decode(&out, true, 0).unwrap();
        let keys: Vec<&str> = read.tree.nodes().map(Node::key).collect();
        assert_eq!(keys[..5], ["", "/a", "/a/b", "/d", "/zookeeper"]);
        let digest = Some(tree.digest());
        assert_eq!(read.mark, Some(Mark { zxid: Zxid(12), digest }));
    }
}
