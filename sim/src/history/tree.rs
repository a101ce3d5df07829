//! The tree once more, for histories: as much of it as is known.
//!
//! ```text
//!   judge(ask, answer) ---> what about the answer cannot be, if anything
//!   apply(ask) -----------> the tree after it, and what happened to which node
//!   learn(answer) --------> the tree as the answer shows it
//! ```
//!
//! A history may begin with a tree that is there already, and clients may ask without ever
//! hearing what became of it. So each field of a node is known or not; what is not known agrees
//! with everything, and is learnt from the first answer that shows it.
//!
//! It is written from what ZooKeeper does, and shares nothing with the core, nor with the model
//! that the core is tested against: a list of children is a count and a sum, a path is a number,
//! and an answer is looked at without being computed.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "most requests change nothing, and most codes say nothing of the tree"
)]

use std::collections::{BTreeMap, BTreeSet};

use super::intern::{PathId, Paths, ValueId};
use super::record::{Kind, Mode, Stat};
use super::store::{Asked, List, weight};

/// There from the beginning, beside the root.
pub(super) const RESERVED: [&str; 3] = ["/zookeeper", "/zookeeper/config", "/zookeeper/quota"];

/// Codes of refusals that speak of the tree. All others are taken as they come.
pub mod code {
    #![allow(missing_docs, reason = "the names are ZooKeeper's")]
    pub const NO_NODE: i32 = -101;
    pub const BAD_VERSION: i32 = -103;
    pub const NO_CHILDREN_FOR_EPHEMERALS: i32 = -108;
    pub const NODE_EXISTS: i32 = -110;
    pub const NOT_EMPTY: i32 = -111;
}

/// Whether a node is there.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Is {
    /// Nobody has said.
    #[default]
    Unknown,
    /// It is not.
    Absent,
    /// It is.
    Present,
}

/// Bits for the fields of a node that are known.
mod field {
    pub(super) const ACL: u16 = 1 << 0;
    pub(super) const AVERSION: u16 = 1 << 1;
    pub(super) const COUNT: u16 = 1 << 2;
    pub(super) const CREATED: u16 = 1 << 3;
    pub(super) const CTIME: u16 = 1 << 4;
    pub(super) const CZXID: u16 = 1 << 5;
    pub(super) const DATA: u16 = 1 << 6;
    pub(super) const LENGTH: u16 = 1 << 7;
    pub(super) const MTIME: u16 = 1 << 8;
    pub(super) const MZXID: u16 = 1 << 9;
    pub(super) const OWNER: u16 = 1 << 10;
    pub(super) const PZXID: u16 = 1 << 11;
    pub(super) const SUM: u16 = 1 << 12;
    pub(super) const VERSION: u16 = 1 << 13;
    /// All that a new node has, but for its times: clients are not told those of the request.
    pub(super) const NEW: u16 = !(CTIME | MTIME);
}

/// One path.
#[derive(Clone, Copy, Debug, Default)]
pub struct Node {
    /// Whether there is a node.
    pub is: Is,
    /// Whether what is known of it was guessed, to explain an answer.
    pub guessed: bool,
    /// Whether the server may take it away by itself.
    pub fleeting: bool,
    known: u16,
    data: u32,
    acl: u32,
    length: i32,
    version: i32,
    aversion: i32,
    /// How many children were ever created.
    created: i32,
    count: i32,
    czxid: i64,
    mzxid: i64,
    pzxid: i64,
    ctime: i64,
    mtime: i64,
    owner: i64,
    sum: u64,
}

impl Node {
    const fn knows(&self, field: u16) -> bool {
        self.known & field == field
    }

    /// The session that it belongs to, if it is known to.
    #[must_use]
    pub const fn owner(&self) -> Option<i64> {
        match self.is {
            Is::Present if self.knows(field::OWNER) && self.owner != 0 => Some(self.owner),
            Is::Absent | Is::Present | Is::Unknown => None,
        }
    }

    /// Who may do what with it, if that is known.
    #[must_use]
    pub const fn acl(&self) -> Option<ValueId> {
        if self.knows(field::ACL) { Some(ValueId(self.acl)) } else { None }
    }

    /// By which transaction its children last changed, if that is known.
    #[must_use]
    pub const fn pzxid(&self) -> Option<i64> {
        if self.knows(field::PZXID) { Some(self.pzxid) } else { None }
    }

    /// How many children it has, if that is known.
    #[must_use]
    pub const fn count(&self) -> Option<i32> {
        if self.knows(field::COUNT) { Some(self.count) } else { None }
    }

    /// By which transaction its data was last set, if that is known.
    #[must_use]
    pub const fn mzxid(&self) -> Option<i64> {
        if self.knows(field::MZXID) { Some(self.mzxid) } else { None }
    }
}

/// Something that happened to a node.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Change {
    /// What.
    pub kind: Kind,
    /// To which.
    pub path: PathId,
    /// Who may hear of it: the ACL that decides, if it is known.
    pub acl: Option<ValueId>,
}

/// Why an answer cannot be.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Mismatch {
    /// Which node it is about.
    pub path: PathId,
    /// What the answer says of it, and what must be.
    pub what: What,
}

/// What about a node is not as it must be.
#[derive(Clone, Debug, Eq, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum What {
    /// Its children are others.
    Children,
    /// Its data is another: what was said, what it must be.
    Data(ValueId, ValueId),
    /// It must have children, or none.
    HasChildren(bool),
    /// It is there and must not be.
    IsThere,
    /// It is not there and must be.
    IsMissing,
    /// It belongs to a session, or not, against what was said.
    IsEphemeral(bool),
    /// A number is another.
    Number { name: &'static str, said: i64, due: i64 },
    /// A new node has another name.
    Sequence { due: String },
    /// The version that was asked for is right, or wrong, against what was said.
    VersionIs { asked: i32, is: i32 },
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    /// What a path is that nobody has said anything about.
    unsaid: Is,
    ephemerals: BTreeMap<i64, BTreeSet<PathId>>,
    /// Nodes as they were, while a step can be taken back.
    journal: Vec<(PathId, Node)>,
    /// How many steps may be taken back.
    tries: u32,
}

impl Tree {
    /// Of a new ensemble, or of one of which nothing is known.
    #[must_use]
    pub fn new(fresh: bool, paths: &Paths) -> Self {
        let unsaid = if fresh { Is::Absent } else { Is::Unknown };
        let mut this = Self {
            nodes: Vec::new(),
            unsaid,
            ephemerals: BTreeMap::new(),
            journal: Vec::new(),
            tries: 0,
        };
        let first = |this: &mut Self, path, children: &[PathId]| {
            let node = this.node_mut(path);
            node.is = Is::Present;
            if fresh {
                node.known = !(field::DATA | field::ACL);
                node.count = i32::try_from(children.len()).expect("few");
                node.sum = children.iter().fold(0, |sum, child| sum.wrapping_add(weight(*child)));
            }
        };
        let [top, config, quota] =
            RESERVED.map(|path| paths.find(path).expect("every history has them"));
        first(&mut this, PathId::ROOT, &[top]);
        first(&mut this, top, &[config, quota]);
        for path in [config, quota] {
            first(&mut this, path, &[]);
            // An ensemble writes its configuration by itself.
            this.node_mut(path).known = 0;
        }
        this
    }

    /// What is known of a path.
    #[must_use]
    pub fn node(&self, path: PathId) -> Node {
        let unsaid = Node { is: self.unsaid, ..Node::default() };
        self.nodes.get(path.index()).copied().unwrap_or(unsaid)
    }

    fn node_mut(&mut self, path: PathId) -> &mut Node {
        let index = path.index();
        if index >= self.nodes.len() {
            let unsaid = Node { is: self.unsaid, ..Node::default() };
            self.nodes.resize(index + 1, unsaid);
        }
        if self.tries > 0 {
            self.journal.push((path, self.nodes[index]));
        }
        &mut self.nodes[index]
    }

    /// A session's nodes.
    pub fn ephemerals(&self, session: i64) -> impl Iterator<Item = PathId> {
        self.ephemerals.get(&session).into_iter().flatten().copied()
    }

    /// From now on everything can be taken back. Returns the mark to do it with.
    pub fn begin(&mut self) -> usize {
        self.tries += 1;
        self.journal.len()
    }

    /// Takes back everything since the mark, or lets it be.
    pub fn end(&mut self, mark: usize, keep: bool) {
        while !keep && self.journal.len() > mark {
            let Some((path, before)) = self.journal.pop() else { break };
            if let Some(owner) = self.nodes[path.index()].owner() {
                self.disown(owner, path);
            }
            self.nodes[path.index()] = before;
            if let Some(owner) = before.owner() {
                self.ephemerals.entry(owner).or_default().insert(path);
            }
        }
        self.tries -= 1;
        if self.tries == 0 {
            self.journal.clear();
        }
    }

    fn disown(&mut self, owner: i64, path: PathId) {
        if let Some(all) = self.ephemerals.get_mut(&owner) {
            all.remove(&path);
            if all.is_empty() {
                self.ephemerals.remove(&owner);
            }
        }
    }

    /// The path that a create without a name of its own comes to, if it is known.
    #[must_use]
    pub fn sequence(&self, parent: PathId) -> Option<i32> {
        let above = self.node(parent);
        above.knows(field::CREATED).then_some(above.created)
    }

    /// Whether a node can be said to be there.
    ///
    /// # Errors
    /// If it cannot.
    pub fn judge_there(&self, path: PathId) -> Result<(), Mismatch> {
        let absent = self.node(path).is == Is::Absent;
        if absent { Err(Mismatch { path, what: What::IsThere }) } else { Ok(()) }
    }

    /// Whether a node can be said to be missing.
    ///
    /// # Errors
    /// If it cannot.
    pub fn judge_missing(&self, path: PathId) -> Result<(), Mismatch> {
        let present = self.node(path).is == Is::Present;
        if present { Err(Mismatch { path, what: What::IsMissing }) } else { Ok(()) }
    }

    /// Whether an update can have been done.
    ///
    /// # Errors
    /// If it must have been refused.
    pub fn judge_done(&self, ask: &Asked, path: PathId, paths: &Paths) -> Result<(), Mismatch> {
        let parent = paths.parent(path);
        let wrong = |path, what| Err(Mismatch { path, what });
        match ask {
            Asked::Create { path: wish, sequential, .. } => {
                self.judge_there(parent)?;
                if self.node(parent).owner().is_some() {
                    return wrong(parent, What::IsEphemeral(true));
                }
                self.judge_missing(path)?;
                if *sequential && let Some(number) = self.sequence(parent) {
                    let root = *wish == PathId::ROOT;
                    let stem = if root { "/" } else { paths.text(*wish) };
                    let due = format!("{stem}{number:010}");
                    if paths.text(path) != due {
                        return wrong(path, What::Sequence { due });
                    }
                }
                Ok(())
            }
            Asked::Delete { version, .. } => {
                self.judge_there(path)?;
                self.judge_version(path, *version, self.version(path), true)?;
                let node = self.node(path);
                if node.knows(field::COUNT) && node.count > 0 {
                    return wrong(path, What::HasChildren(true));
                }
                Ok(())
            }
            Asked::Check { version, .. } | Asked::SetData { version, .. } => {
                self.judge_there(path)?;
                self.judge_version(path, *version, self.version(path), true)
            }
            Asked::SetAcl { version, .. } => {
                self.judge_there(path)?;
                self.judge_version(path, *version, self.aversion(path), true)
            }
            _ => Ok(()),
        }
    }

    /// Whether an update, or a part of one, can have been refused with this code.
    ///
    /// # Errors
    /// If it must have been done, or refused for another reason.
    pub fn judge_refused(&self, ask: &Asked, code: i32, paths: &Paths) -> Result<(), Mismatch> {
        let Some(path) = ask.path() else { return Ok(()) };
        let parent = paths.parent(path);
        let wrong = |path, what| Err(Mismatch { path, what });
        match (ask, code) {
            (Asked::Create { sequential, .. }, code::NO_NODE) => {
                // A sequential name may end in a slash: then the parent is the name itself.
                if *sequential { Ok(()) } else { self.judge_missing(parent) }
            }
            (Asked::Create { sequential: false, .. }, code::NODE_EXISTS) => self.judge_there(path),
            (Asked::Create { .. }, code::NO_CHILDREN_FOR_EPHEMERALS) => {
                self.judge_there(parent)?;
                let node = self.node(parent);
                if node.knows(field::OWNER) && node.owner == 0 {
                    return wrong(parent, What::IsEphemeral(false));
                }
                Ok(())
            }
            (_, code::NO_NODE) => self.judge_missing(path),
            (Asked::SetAcl { version, .. }, code::BAD_VERSION) => {
                self.judge_there(path)?;
                self.judge_version(path, *version, self.aversion(path), false)
            }
            (
                Asked::Check { version, .. }
                | Asked::Delete { version, .. }
                | Asked::SetData { version, .. },
                code::BAD_VERSION,
            ) => {
                self.judge_there(path)?;
                self.judge_version(path, *version, self.version(path), false)
            }
            (Asked::Delete { version, .. }, code::NOT_EMPTY) => {
                self.judge_there(path)?;
                self.judge_version(path, *version, self.version(path), true)?;
                let node = self.node(path);
                if node.knows(field::COUNT) && node.count == 0 {
                    return wrong(path, What::HasChildren(false));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn version(&self, path: PathId) -> Option<i32> {
        let node = self.node(path);
        node.knows(field::VERSION).then_some(node.version)
    }

    fn aversion(&self, path: PathId) -> Option<i32> {
        let node = self.node(path);
        node.knows(field::AVERSION).then_some(node.aversion)
    }

    fn judge_version(
        &self,
        path: PathId,
        asked: i32,
        is: Option<i32>,
        right: bool,
    ) -> Result<(), Mismatch> {
        let Some(is) = is else { return Ok(()) };
        if (asked == -1 || asked == is) == right {
            return Ok(());
        }
        Err(Mismatch { path, what: What::VersionIs { asked, is } })
    }

    /// Whether a stat can be that of a node.
    ///
    /// # Errors
    /// If it cannot.
    pub fn judge_stat(&self, path: PathId, stat: &Stat) -> Result<(), Mismatch> {
        self.judge_there(path)?;
        let node = self.node(path);
        if node.is == Is::Unknown {
            return Ok(());
        }
        let number = |field, name, said: i64, due: i64| {
            if !node.knows(field) || said == due {
                return Ok(());
            }
            Err(Mismatch { path, what: What::Number { name, said, due } })
        };
        number(field::CZXID, "czxid", stat.czxid.0, node.czxid)?;
        number(field::MZXID, "mzxid", stat.mzxid.0, node.mzxid)?;
        number(field::PZXID, "pzxid", stat.pzxid.0, node.pzxid)?;
        number(field::VERSION, "version", stat.version.into(), node.version.into())?;
        number(field::AVERSION, "aversion", stat.aversion.into(), node.aversion.into())?;
        number(field::COUNT, "numChildren", stat.num_children.into(), node.count.into())?;
        if node.knows(field::COUNT) {
            let due = node.created.wrapping_mul(2).wrapping_sub(node.count);
            number(field::CREATED, "cversion", stat.cversion.into(), due.into())?;
        }
        number(field::OWNER, "ephemeralOwner", stat.ephemeral_owner.0, node.owner)?;
        number(field::LENGTH, "dataLength", stat.data_length.into(), node.length.into())?;
        number(field::CTIME, "ctime", stat.ctime, node.ctime)?;
        number(field::MTIME, "mtime", stat.mtime, node.mtime)
    }

    /// Whether this can be what a node holds.
    ///
    /// # Errors
    /// If it cannot.
    pub fn judge_data(&self, path: PathId, data: ValueId) -> Result<(), Mismatch> {
        self.judge_there(path)?;
        let node = self.node(path);
        if node.knows(field::DATA) && node.data != data.0 {
            return Err(Mismatch { path, what: What::Data(data, ValueId(node.data)) });
        }
        Ok(())
    }

    /// Whether these can be a node's children.
    ///
    /// # Errors
    /// If they cannot.
    pub fn judge_children(&self, path: PathId, list: &List) -> Result<(), Mismatch> {
        self.judge_there(path)?;
        let node = self.node(path);
        if node.knows(field::SUM) && node.sum != list.sum {
            return Err(Mismatch { path, what: What::Children });
        }
        let (said, due) = (i64::from(list.count), i64::from(node.count));
        if node.knows(field::COUNT) && said != due {
            return Err(Mismatch { path, what: What::Number { name: "numChildren", said, due } });
        }
        Ok(())
    }

    /// Whether this can be a node's ACL.
    ///
    /// # Errors
    /// If it cannot.
    pub fn judge_acl(&self, path: PathId, acl: ValueId) -> Result<(), Mismatch> {
        self.judge_there(path)?;
        let node = self.node(path);
        if node.knows(field::ACL) && node.acl != acl.0 {
            return Err(Mismatch { path, what: What::Data(acl, ValueId(node.acl)) });
        }
        Ok(())
    }

    /// A node is made, whatever was there. A zxid of 0 is one that is not known.
    pub fn create(
        &mut self,
        path: PathId,
        zxid: i64,
        born: &Born,
        paths: &Paths,
        out: &mut Vec<Change>,
    ) {
        let was = self.node(path);
        if let Some(owner) = was.owner() {
            self.disown(owner, path);
        }
        let known_zxids = if zxid == 0 { field::CZXID | field::MZXID | field::PZXID } else { 0 };
        let unknown_acl = if born.acl.is_none() { field::ACL } else { 0 };
        *self.node_mut(path) = Node {
            is: Is::Present,
            guessed: zxid == 0,
            fleeting: born.fleeting,
            known: field::NEW & !known_zxids & !unknown_acl,
            data: born.data.0,
            acl: born.acl.unwrap_or(ValueId::NULL).0,
            length: born.length,
            czxid: zxid,
            mzxid: zxid,
            pzxid: zxid,
            owner: born.owner,
            ..Node::default()
        };
        if born.owner != 0 {
            self.ephemerals.entry(born.owner).or_default().insert(path);
        }
        let parent = paths.parent(path);
        let above = self.node_mut(parent);
        above.is = Is::Present;
        if was.is != Is::Present {
            above.count += 1;
            above.sum = above.sum.wrapping_add(weight(path));
        }
        if was.is == Is::Unknown {
            above.known &= !(field::COUNT | field::SUM);
        }
        above.created = above.created.wrapping_add(1);
        Self::touch_children(above, zxid);
        let above_acl = above.acl();
        out.push(Change { kind: Kind::Created, path, acl: born.acl });
        out.push(Change { kind: Kind::ChildrenChanged, path: parent, acl: above_acl });
    }

    fn touch_children(above: &mut Node, zxid: i64) {
        above.pzxid = zxid;
        above.known =
            if zxid == 0 { above.known & !field::PZXID } else { above.known | field::PZXID };
        above.guessed |= zxid == 0;
    }

    /// A node goes, whatever was there.
    pub fn delete(&mut self, path: PathId, zxid: i64, paths: &Paths, out: &mut Vec<Change>) {
        let was = self.node(path);
        if let Some(owner) = was.owner() {
            self.disown(owner, path);
        }
        *self.node_mut(path) =
            Node { is: Is::Absent, guessed: zxid == 0, pzxid: zxid, ..Node::default() };
        let parent = paths.parent(path);
        let above = self.node_mut(parent);
        above.is = Is::Present;
        if was.is == Is::Present {
            above.count -= 1;
            above.sum = above.sum.wrapping_sub(weight(path));
        } else if was.is == Is::Unknown {
            above.known &= !(field::COUNT | field::SUM);
        }
        Self::touch_children(above, zxid);
        let above_acl = above.acl();
        out.push(Change { kind: Kind::Deleted, path, acl: was.acl() });
        out.push(Change { kind: Kind::ChildrenChanged, path: parent, acl: above_acl });
    }

    /// A node's data is replaced.
    pub fn set_data(
        &mut self,
        path: PathId,
        zxid: i64,
        (data, length): (ValueId, i32),
        out: &mut Vec<Change>,
    ) {
        let node = self.node_mut(path);
        node.is = Is::Present;
        (node.data, node.length, node.mzxid) = (data.0, length, zxid);
        node.version = node.version.wrapping_add(1);
        node.known |= field::DATA | field::LENGTH | field::MZXID;
        node.known &= !field::MTIME;
        if zxid == 0 {
            node.known &= !field::MZXID;
            node.guessed = true;
        }
        let acl = node.acl();
        out.push(Change { kind: Kind::DataChanged, path, acl });
    }

    /// A node's ACL is replaced.
    pub fn set_acl(&mut self, path: PathId, zxid: i64, acl: Option<ValueId>) {
        let node = self.node_mut(path);
        node.is = Is::Present;
        node.aversion = node.aversion.wrapping_add(1);
        node.guessed |= zxid == 0;
        match acl {
            Some(acl) => {
                node.acl = acl.0;
                node.known |= field::ACL;
            }
            None => node.known &= !field::ACL,
        }
    }

    /// A session ends, and its nodes with it.
    pub fn close(&mut self, session: i64, zxid: i64, paths: &Paths, out: &mut Vec<Change>) {
        for path in self.ephemerals.remove(&session).unwrap_or_default() {
            self.delete(path, zxid, paths, out);
        }
    }

    /// Nothing of this node counts any more.
    pub fn forget(&mut self, path: PathId) {
        let was = self.node(path);
        if let Some(owner) = was.owner() {
            self.disown(owner, path);
        }
        *self.node_mut(path) = Node::default();
    }

    /// The node is not there.
    pub fn learn_missing(&mut self, path: PathId, paths: &Paths) {
        let was = self.node(path);
        if was.is == Is::Absent {
            return;
        }
        if let Some(owner) = was.owner() {
            self.disown(owner, path);
        }
        *self.node_mut(path) = Node { is: Is::Absent, ..Node::default() };
        if was.is == Is::Present {
            // Somebody took it away, and nobody knows when.
            let above = self.node_mut(paths.parent(path));
            above.known &= !(field::COUNT | field::SUM | field::PZXID | field::CREATED);
        }
    }

    /// The node is there.
    pub fn learn_there(&mut self, path: PathId, paths: &Paths) {
        let was = self.node(path);
        if was.is == Is::Present {
            return;
        }
        let node = self.node_mut(path);
        node.is = Is::Present;
        node.known = 0;
        if was.is == Is::Absent {
            let above = self.node_mut(paths.parent(path));
            above.known &= !(field::COUNT | field::SUM | field::PZXID | field::CREATED);
        }
    }

    /// The node is as this stat says.
    pub fn learn_stat(&mut self, path: PathId, stat: &Stat, paths: &Paths) {
        const STAT: u16 = field::CZXID
            | field::MZXID
            | field::PZXID
            | field::VERSION
            | field::AVERSION
            | field::COUNT
            | field::CREATED
            | field::OWNER
            | field::LENGTH
            | field::CTIME
            | field::MTIME;
        let was = self.node(path);
        // In most cases only the times are new.
        if was.is == Is::Present && was.knows(STAT) && self.judge_stat(path, stat).is_ok() {
            return;
        }
        self.learn_there(path, paths);
        let other = |field, said: i64, is: i64| was.knows(field) && said != is;
        let remade = other(field::CZXID, stat.czxid.0, was.czxid);
        let set = remade || other(field::MZXID, stat.mzxid.0, was.mzxid);
        let children = remade
            || other(field::PZXID, stat.pzxid.0, was.pzxid)
            || other(field::COUNT, stat.num_children.into(), was.count.into());
        let acl = remade || other(field::AVERSION, stat.aversion.into(), was.aversion.into());
        if let Some(owner) = was.owner() {
            self.disown(owner, path);
        }
        let node = self.node_mut(path);
        for (gone, field) in [(set, field::DATA), (children, field::SUM), (acl, field::ACL)] {
            if gone {
                node.known &= !field;
            }
        }
        node.known |= STAT;
        node.czxid = stat.czxid.0;
        node.mzxid = stat.mzxid.0;
        node.pzxid = stat.pzxid.0;
        node.version = stat.version;
        node.aversion = stat.aversion;
        node.count = stat.num_children;
        node.created = stat.cversion.wrapping_add(stat.num_children) / 2;
        node.owner = stat.ephemeral_owner.0;
        node.length = stat.data_length;
        (node.ctime, node.mtime) = (stat.ctime, stat.mtime);
        if stat.ephemeral_owner.0 != 0 {
            self.ephemerals.entry(stat.ephemeral_owner.0).or_default().insert(path);
        }
    }

    /// The node holds this.
    pub fn learn_data(&mut self, path: PathId, data: ValueId, paths: &Paths) {
        self.learn_there(path, paths);
        let node = self.node(path);
        if !(node.knows(field::DATA) && node.data == data.0) {
            let node = self.node_mut(path);
            node.data = data.0;
            node.known |= field::DATA;
        }
    }

    /// The node has this ACL.
    pub fn learn_acl(&mut self, path: PathId, acl: ValueId, paths: &Paths) {
        self.learn_there(path, paths);
        let node = self.node_mut(path);
        node.acl = acl.0;
        node.known |= field::ACL;
    }

    /// The node has these children.
    pub fn learn_children(&mut self, path: PathId, list: &List, names: &[PathId], paths: &Paths) {
        self.learn_there(path, paths);
        let node = self.node(path);
        if node.knows(field::SUM | field::COUNT) && node.sum == list.sum {
            return;
        }
        for child in names {
            self.learn_there(*child, paths);
        }
        let node = self.node_mut(path);
        node.sum = list.sum;
        node.count = i32::try_from(list.count).unwrap_or(i32::MAX);
        node.known |= field::SUM | field::COUNT;
    }

    /// What each known child of a node is called. Goes through everything.
    pub fn children(&self, parent: PathId, paths: &Paths) -> Vec<PathId> {
        let all = (1_u32..).map(PathId).take(self.nodes.len().saturating_sub(1));
        all.filter(|path| paths.parent(*path) == parent && self.node(*path).is == Is::Present)
            .collect()
    }
}

/// What a new node begins with.
#[derive(Clone, Copy, Debug)]
pub struct Born {
    /// What it holds.
    pub data: ValueId,
    /// How much that is.
    pub length: i32,
    /// Who may do what; none if only the server knows.
    pub acl: Option<ValueId>,
    /// Its session, or 0.
    pub owner: i64,
    /// Whether the server may take it away by itself.
    pub fleeting: bool,
}

impl Born {
    /// Of what was asked for by a session.
    #[must_use]
    pub fn of(mode: Mode, session: i64, data: ValueId, length: i32, acl: Option<ValueId>) -> Self {
        let owner = if mode == Mode::Ephemeral { session } else { 0 };
        let fleeting = matches!(mode, Mode::Container | Mode::Ttl);
        Self { data, length, acl, owner, fleeting }
    }
}
