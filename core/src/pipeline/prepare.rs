//! Deciding: a request becomes a change with absolute results, or a code.
//!
//! The order of checks can be seen by clients; it is that of `PrepRequestProcessor`. On an error
//! nothing has been decided and nothing is laid over the tree.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;

use super::overlay::{Overlay, Savepoint, View};
use crate::acl::{self, AclList, AclWish, Id, perms};
use crate::code::Code;
use crate::config::Settings;
use crate::ids::{ServerId, SessionId};
use crate::members::Members;
use crate::quota::{Figures, counts_path, limits_path};
use crate::request::{Create, CreateOp, Op, Request, Stamp, opcode};
use crate::tree::{CONFIG_NODE, Owner, RESERVED, StoredStat, Tree};
use crate::txn::{Change, NodeChange, NodeKind, SubChange};
use crate::{Data, Text, path};

/// Whether a request takes a place in the order of all writes, so that only a leader can decide
/// it.
#[must_use]
pub const fn is_write(request: &Request) -> bool {
    match request {
        Request::CloseSession
        | Request::Create(_)
        | Request::CreateNowhere { .. }
        | Request::Delete { .. }
        | Request::Multi(_)
        | Request::Reconfig { .. }
        | Request::SetAcl { .. }
        | Request::SetData { .. } => true,
        Request::Unreadable { opcode, whole } => takes_a_place(*opcode, *whole),
        Request::AddWatch { .. }
        | Request::Auth { .. }
        | Request::CheckWatches { .. }
        | Request::Exists { .. }
        | Request::GetAcl { .. }
        | Request::GetAllChildrenNumber { .. }
        | Request::GetChildren { .. }
        | Request::GetData { .. }
        | Request::GetEphemerals { .. }
        | Request::MultiRead(_)
        | Request::MultiReadBroken(_)
        | Request::Ping
        | Request::RemoveWatches { .. }
        | Request::Sasl
        | Request::SetWatches(_)
        | Request::Sync { .. }
        | Request::Unknown { .. }
        | Request::WhoAmI => false,
    }
}

/// Whether a request wants a node that ends with its session.
#[must_use]
pub fn wants_ephemeral(request: &Request) -> bool {
    let wants = |wish: &Create| {
        matches!(wish.op, CreateOp::Create | CreateOp::Create2) && matches!(wish.flags, 1 | 3)
    };
    if let Request::Create(wish) = request {
        wants(wish)
    } else if let Request::Multi(ops) = request {
        ops.iter().any(|op| matches!(op, Op::Create(wish) if wants(wish)))
    } else {
        false
    }
}

/// Who asks, as of when the request was taken.
#[derive(Clone, Copy, Debug)]
pub struct Asker<'a> {
    /// None when the server itself does.
    pub session: SessionId,
    /// Identities of the connection.
    pub who: &'a [Id],
    /// Whether the session may still ask.
    pub open: bool,
    /// Whether other servers do not know of the session: then it cannot own anything.
    pub local: bool,
}

/// Which other members are wished for.
#[derive(Clone, Copy, Debug)]
pub struct ChangeWish<'a> {
    /// Servers to add or change.
    pub joining: Option<&'a str>,
    /// Servers to remove.
    pub leaving: Option<&'a str>,
    /// All servers, instead.
    pub members: Option<&'a str>,
    /// The version this is about, or −1.
    pub base: i64,
}

impl<'a> ChangeWish<'a> {
    /// The one in a request.
    #[must_use]
    pub fn of(request: &'a Request) -> Option<Self> {
        let Request::Reconfig { joining, leaving, members, config_id } = request else {
            return None;
        };
        let (joining, leaving) = (joining.as_deref(), leaving.as_deref());
        Some(Self { joining, leaving, members: members.as_deref(), base: *config_id })
    }
}

/// What a wish for other members is judged by.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// Those in force.
    pub members: &'a Members,
    /// Whether a change is under way.
    pub is_changing: bool,
    /// Who could carry one: who votes, or might, and has everything.
    pub synced: &'a [ServerId],
}

/// So many voters at least, as with ZooKeeper's `standaloneEnabled`.
const VOTERS_MIN: usize = 2;

/// Everything deciding needs to look at, and the overlay that it changes.
#[derive(Debug)]
pub struct Prepare<'a> {
    /// What has been applied.
    pub tree: &'a Tree,
    /// What has been decided.
    pub overlay: &'a mut Overlay,
    /// The rules of the ensemble.
    pub settings: &'a Settings,
    /// The place and time of what is being decided.
    pub stamp: Stamp,
    /// Set within a multi.
    savepoint: Option<Savepoint>,
}

impl<'a> Prepare<'a> {
    /// Ready to decide one request.
    pub fn new(
        tree: &'a Tree,
        overlay: &'a mut Overlay,
        settings: &'a Settings,
        stamp: Stamp,
    ) -> Self {
        Self { tree, overlay, settings, stamp, savepoint: None }
    }

    /// Decides a request, if it is one that takes a place in the order of all writes.
    pub fn decide(&mut self, asker: Asker<'_>, request: &Request) -> Option<Result<Change, Code>> {
        Some(match request {
            Request::CloseSession => session(asker).map(|()| self.close_session(asker.session)),
            Request::Create(wish) => self.create(asker, wish).map(Change::Node),
            Request::CreateNowhere { op, flags, ttl_ms } => {
                let refused = self.mode(*op, *flags, *ttl_ms).and(session(asker));
                Err(refused.err().unwrap_or(Code::MarshallingError))
            }
            Request::Delete { path, version } => {
                self.delete(asker, path, *version).map(Change::Node)
            }
            Request::Multi(ops) => self.multi(asker, ops),
            // An ensemble of one has nothing to reconfigure; others are asked at their leader.
            Request::Reconfig { .. } => {
                let wish = ChangeWish::of(request)?;
                self.reconfig(asker, wish, None).map(|(change, _)| Change::Node(change))
            }
            Request::SetAcl { path, acl, version } => {
                self.set_acl(asker, path, acl.as_deref(), *version).map(Change::Node)
            }
            Request::SetData { path, data, version } => {
                self.set_data(asker, path, data, *version).map(Change::Node)
            }
            Request::Unreadable { opcode, whole } if takes_a_place(*opcode, *whole) => {
                // These two judge the path before they do anything with it, and null is no path.
                let judged = matches!(*opcode, opcode::SET_ACL | opcode::SET_DATA);
                Err(if judged { Code::BadArguments } else { Code::MarshallingError })
            }
            Request::AddWatch { .. }
            | Request::Auth { .. }
            | Request::CheckWatches { .. }
            | Request::Exists { .. }
            | Request::GetAcl { .. }
            | Request::GetAllChildrenNumber { .. }
            | Request::GetChildren { .. }
            | Request::GetData { .. }
            | Request::GetEphemerals { .. }
            | Request::MultiRead(_)
            | Request::MultiReadBroken(_)
            | Request::Ping
            | Request::RemoveWatches { .. }
            | Request::Sasl
            | Request::SetWatches(_)
            | Request::Sync { .. }
            | Request::Unknown { .. }
            | Request::Unreadable { .. }
            | Request::WhoAmI => return None,
        })
    }

    fn view(&self, at: &str) -> Result<View, Code> {
        self.overlay.view(self.tree, at).ok_or(Code::NoNode)
    }

    fn permit(&self, view: &View, mask: i32, asker: Asker<'_>) -> Result<(), Code> {
        let free = self.settings.skip_acl;
        if free || view.acl.lets(mask, asker.who) { Ok(()) } else { Err(Code::NoAuth) }
    }

    fn fixed(&self, wishes: Option<&[AclWish]>, asker: Asker<'_>) -> Result<AclList, Code> {
        if acl::wishes_open(wishes) {
            return Ok(self.tree.open_acl().clone());
        }
        acl::fix(wishes, asker.who)
    }

    fn put(&mut self, at: &str, view: View, before: u32) {
        self.overlay.put(self.stamp.zxid, at, view, before, &mut self.savepoint);
    }

    fn remove(&mut self, at: &str, before: u32) {
        self.overlay.remove(self.stamp.zxid, at, before, &mut self.savepoint);
    }

    fn is_ephemeral(&self, view: &View) -> bool {
        matches!(self.tree.owner(&view.stat), Owner::Session(_))
    }

    /// A new node, asked for by itself.
    ///
    /// # Errors
    /// The first check that fails, in ZooKeeper's order.
    pub fn create(&mut self, asker: Asker<'_>, wish: &Create) -> Result<NodeChange, Code> {
        let mode = self.mode(wish.op, wish.flags, wish.ttl_ms)?;
        session(asker)?;
        if asker.local && mode.kind == NodeKind::Ephemeral {
            return Err(Code::EphemeralOnLocalSession);
        }
        let at = &wish.path;
        if !at.contains('/') || at.contains('\0') {
            return Err(Code::BadArguments);
        }
        let acl = self.fixed(wish.acl.as_deref(), asker)?;
        let parent_key = path::parent(at).ok_or(Code::BadArguments)?;
        let mut parent = self.view(parent_key)?;
        self.permit(&parent, perms::CREATE, asker)?;
        let at: Text = if mode.sequential {
            format!("{at}{:010}", parent.stat.cversion).into()
        } else {
            at.clone()
        };
        path::validate(&at)?;
        if self.overlay.has(self.tree, &at) {
            return Err(Code::NodeExists);
        }
        if self.is_ephemeral(&parent) {
            return Err(Code::NoChildrenForEphemerals);
        }
        let bytes = wish.data.as_ref().map_or(0, |data| data.len() as i64);
        self.within_quota(&at, bytes, 1)?;

        let parent_cversion = parent.stat.cversion.wrapping_add(1);
        let before = parent.digest;
        // As `apply` will have it: a counter at its end sticks.
        if parent_cversion > parent.stat.cversion {
            parent.stat.cversion = parent_cversion;
            parent.stat.pzxid = self.stamp.zxid;
        }
        parent.children += 1;
        self.put(parent_key, parent, before);
        let Stamp { zxid, time } = self.stamp;
        let stat = StoredStat {
            czxid: zxid,
            mzxid: zxid,
            pzxid: zxid,
            ctime: time,
            mtime: time,
            owner: Owner::raw(mode.kind, asker.session),
            ..StoredStat::default()
        };
        let view = View { stat, data: wish.data.clone(), acl: acl.clone(), children: 0, digest: 0 };
        self.put(&at, view, 0);
        let (op, data, kind) = (wish.op, wish.data.clone(), mode.kind);
        Ok(NodeChange::Create { op, path: at, data, acl, kind, parent_cversion })
    }

    /// The checks of flags and TTL, and what they come to.
    ///
    /// What is made follows the operation, not the flag: a plain create with the container flag
    /// makes a persistent node, as ZooKeeper's does.
    fn mode(&self, op: CreateOp, flags: i32, ttl_ms: i64) -> Result<Mode, Code> {
        let (ephemeral, sequential, ttl) = match flags {
            0 | 4 => (false, false, false),
            1 => (true, false, false),
            2 => (false, true, false),
            3 => (true, true, false),
            5 => (false, false, true),
            6 => (false, true, true),
            _ => return Err(Code::BadArguments),
        };
        if ttl && !self.settings.extended_types {
            return Err(Code::Unimplemented);
        }
        let in_range = (1..=Owner::TTL_MAX_MS).contains(&ttl_ms);
        // ZooKeeper lets a TTL request without TTL through and then fails to apply it.
        if ttl != in_range || !ttl && ttl_ms >= 0 || op == CreateOp::Ttl && !ttl {
            return Err(Code::BadArguments);
        }
        let kind = match op {
            CreateOp::Container => NodeKind::Container,
            CreateOp::Ttl => NodeKind::Ttl { ms: ttl_ms },
            CreateOp::Create | CreateOp::Create2 if ephemeral => NodeKind::Ephemeral,
            CreateOp::Create | CreateOp::Create2 => NodeKind::Persistent,
        };
        Ok(Mode { kind, sequential })
    }

    /// A node to be removed by a client.
    ///
    /// # Errors
    /// The first check that fails, in ZooKeeper's order.
    pub fn delete(
        &mut self,
        asker: Asker<'_>,
        at: &Text,
        version: i32,
    ) -> Result<NodeChange, Code> {
        session(asker)?;
        let parent_key = deletable(at)?;
        let parent = self.view(parent_key)?;
        self.permit(&parent, perms::DELETE, asker)?;
        let node = self.view(at)?;
        same_version(version, node.stat.version)?;
        if node.children > 0 {
            return Err(Code::NotEmpty);
        }
        self.bury(at, &node, parent);
        Ok(NodeChange::Delete { path: at.clone(), container: false })
    }

    /// A container or TTL node to be removed by the server itself.
    ///
    /// # Errors
    /// If it has come to life again, or is gone.
    pub fn delete_container(&mut self, at: &Text) -> Result<NodeChange, Code> {
        let parent_key = deletable(at)?;
        let node = self.view(at)?;
        if node.children > 0 {
            return Err(Code::NotEmpty);
        }
        if self.is_ephemeral(&node) {
            return Err(Code::BadVersion);
        }
        let parent = self.view(parent_key)?;
        self.bury(at, &node, parent);
        Ok(NodeChange::Delete { path: at.clone(), container: true })
    }

    /// A deletion that has been decided on.
    fn bury(&mut self, at: &str, node: &View, mut parent: View) {
        let before = parent.digest;
        parent.children -= 1;
        parent.stat.pzxid = parent.stat.pzxid.max(self.stamp.zxid);
        self.put(path::parent(at).expect("deletable paths have parents"), parent, before);
        self.remove(at, node.digest);
    }

    /// Data to be set.
    ///
    /// # Errors
    /// The first check that fails, in ZooKeeper's order.
    pub fn set_data(
        &mut self,
        asker: Asker<'_>,
        at: &Text,
        data: &Data,
        version: i32,
    ) -> Result<NodeChange, Code> {
        session(asker)?;
        path::validate(at)?;
        let mut node = self.view(at)?;
        self.permit(&node, perms::WRITE, asker)?;
        let len = |data: &Data| data.as_ref().map_or(0, |data| data.len() as i64);
        self.within_quota(at, len(data) - len(&node.data), 0)?;
        same_version(version, node.stat.version)?;
        let before = node.digest;
        node.stat.version = node.stat.version.wrapping_add(1);
        node.stat.mzxid = self.stamp.zxid;
        node.stat.mtime = self.stamp.time;
        node.data.clone_from(data);
        let version = node.stat.version;
        self.put(at, node, before);
        let (path, data) = (at.clone(), data.clone());
        Ok(NodeChange::SetData { path, data, version, reconfig: false })
    }

    /// Other members to be in force, and how the configuration shows it.
    ///
    /// # Errors
    /// The first check that fails, in ZooKeeper's order. That the asker may do this at all comes
    /// last.
    pub fn reconfig(
        &mut self,
        asker: Asker<'_>,
        wish: ChangeWish<'_>,
        situation: Option<Situation<'_>>,
    ) -> Result<(NodeChange, Members), Code> {
        if !self.settings.reconfig {
            return Err(Code::ReconfigDisabled);
        }
        session(asker)?;
        let Some(Situation { members, is_changing, synced }) = situation else {
            return Err(Code::Unimplemented);
        };
        if is_changing {
            return Err(Code::ReconfigInProgress);
        }
        if wish.base != -1 && wish.base != members.version().0 {
            return Err(Code::BadVersion);
        }
        let version = self.stamp.zxid;
        let next = match wish.members {
            Some(list) => Members::from_list(list, version),
            None => members.changed(wish.joining, wish.leaving, version),
        };
        let next = next.map_err(|error| error.code())?;
        if next.quorum().voters().len() < VOTERS_MIN {
            return Err(Code::BadArguments);
        }
        if !next.quorum().is_enough_if(|server| synced.contains(&server)) {
            return Err(Code::NewConfigNoQuorum);
        }
        let path = Text::from(CONFIG_NODE);
        let mut node = self.view(&path)?;
        self.permit(&node, perms::WRITE, asker)?;
        let before = node.digest;
        let data: Data = Some(format!("{next}").into_bytes().into());
        node.stat.version = -1;
        node.stat.mzxid = version;
        node.stat.mtime = self.stamp.time;
        node.data.clone_from(&data);
        self.put(&path, node, before);
        Ok((NodeChange::SetData { path, data, version: -1, reconfig: true }, next))
    }

    /// An ACL to be set.
    ///
    /// # Errors
    /// The first check that fails, in ZooKeeper's order.
    pub fn set_acl(
        &mut self,
        asker: Asker<'_>,
        at: &Text,
        acl: Option<&[AclWish]>,
        version: i32,
    ) -> Result<NodeChange, Code> {
        session(asker)?;
        path::validate(at)?;
        let acl = self.fixed(acl, asker)?;
        let mut node = self.view(at)?;
        self.permit(&node, perms::ADMIN, asker)?;
        same_version(version, node.stat.aversion)?;
        let before = node.digest;
        node.stat.aversion = node.stat.aversion.wrapping_add(1);
        node.acl = acl.clone();
        let version = node.stat.aversion;
        self.put(at, node, before);
        Ok(NodeChange::SetAcl { path: at.clone(), acl, version })
    }

    fn check(&self, asker: Asker<'_>, at: &Text, version: i32) -> Result<NodeChange, Code> {
        session(asker)?;
        path::validate(at)?;
        let node = self.view(at)?;
        self.permit(&node, perms::READ, asker)?;
        same_version(version, node.stat.version)?;
        Ok(NodeChange::Check { path: at.clone(), version: node.stat.version.wrapping_add(1) })
    }

    /// All of these or nothing. The first failure takes back what was decided before it; the
    /// rest is not looked at.
    ///
    /// # Errors
    /// If an operation makes no sense at all; then there are no results to tell.
    pub fn multi(&mut self, asker: Asker<'_>, ops: &[Op]) -> Result<Change, Code> {
        self.savepoint = Some(self.overlay.savepoint());
        let mut changes = Vec::with_capacity(ops.len());
        let mut failed = false;
        for op in ops {
            if failed {
                changes.push(SubChange::Error(Code::RuntimeInconsistency));
                continue;
            }
            let decided = match op {
                Op::Check { path, version } => self.check(asker, path, *version),
                Op::Create(wish) => self.create(asker, &by_flag(wish)),
                Op::Delete { path, version } => self.delete(asker, path, *version),
                Op::SetData { path, data, version } => self.set_data(asker, path, data, *version),
            };
            changes.push(match decided {
                Ok(change) => SubChange::Node(change),
                Err(code) => {
                    failed = true;
                    let savepoint = self.savepoint.take().expect("set when the multi began");
                    self.overlay.roll_back(savepoint);
                    if code == Code::MarshallingError {
                        return Err(code);
                    }
                    SubChange::Error(code)
                }
            });
        }
        Ok(Change::Multi(changes))
    }

    /// A session's end, with exactly the ephemerals it will have had.
    #[must_use]
    pub fn close_session(&mut self, session: SessionId) -> Change {
        let mut paths: BTreeSet<Text> = self.tree.ephemerals_of(session).cloned().collect();
        for (path, there) in self.overlay.ephemerals(session) {
            if there {
                paths.insert(path.into());
            } else {
                paths.remove(path);
            }
        }
        for at in &paths {
            let node = self.overlay.view(self.tree, at).expect("listed because it will be there");
            let parent = path::parent(at).expect("no ephemeral is the root");
            let parent = self.overlay.view(self.tree, parent).expect("a node has a parent");
            self.bury(at, &node, parent);
        }
        Change::CloseSession { paths: paths.into_iter().collect() }
    }

    /// Hard quotas are compared with what has been applied, not with what is under way: several
    /// writes at once can overshoot, as with ZooKeeper.
    fn within_quota(&self, at: &str, bytes: i64, nodes: i64) -> Result<(), Code> {
        if !self.settings.enforce_quota {
            return Ok(());
        }
        let Some(subtree) = self.tree.quotas().governing(at) else { return Ok(()) };
        let figures = |at: &str| self.tree.get(at).map(|node| Figures::parse(node.data()));
        let Some(limits) = figures(&limits_path(subtree)) else { return Ok(()) };
        let Some(counts) = figures(&counts_path(subtree)) else { return Ok(()) };
        let over = |limit: Option<i64>, counted: i64, more: i64| {
            more != 0 && limit.is_some_and(|limit| counted.saturating_add(more) > limit)
        };
        if over(limits.count_hard(), counts.count(), nodes)
            || over(limits.bytes_hard(), counts.bytes(), bytes)
        {
            return Err(Code::QuotaExceeded);
        }
        Ok(())
    }
}

/// Whether a request that could not be read has a place all the same: not if its body could not be
/// decoded, except a multi, whose place is taken before it is looked at.
const fn takes_a_place(number: i32, whole: bool) -> bool {
    number == opcode::MULTI
        || whole && matches!(number, opcode::DELETE | opcode::SET_ACL | opcode::SET_DATA)
}

struct Mode {
    kind: NodeKind,
    sequential: bool,
}

/// Within a multi the container and TTL flags decide what is made, whatever the operation was
/// called, and a TTL operation without such a flag is a plain create.
fn by_flag(wish: &Create) -> Create {
    let op = match (wish.flags, wish.op) {
        (4, _) => CreateOp::Container,
        (5 | 6, _) => CreateOp::Ttl,
        (_, CreateOp::Ttl) => CreateOp::Create,
        (_, op) => op,
    };
    let ttl_ms = if op == CreateOp::Ttl { wish.ttl_ms } else { -1 };
    Create { op, ttl_ms, ..wish.clone() }
}

fn session(asker: Asker<'_>) -> Result<(), Code> {
    if asker.open { Ok(()) } else { Err(Code::SessionExpired) }
}

fn same_version(wanted: i32, is: i32) -> Result<(), Code> {
    if wanted == -1 || wanted == is { Ok(()) } else { Err(Code::BadVersion) }
}

/// The parent's key, if this may be deleted at all.
fn deletable(at: &str) -> Result<&str, Code> {
    if at.contains('\0') || RESERVED.contains(&path::key(at)) {
        return Err(Code::BadArguments);
    }
    path::parent(at).ok_or(Code::BadArguments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{Millis, Zxid};
    use crate::request::EventKind;

    const ME: Asker<'_> = Asker { session: SessionId(7), who: &[], open: true, local: false };

    struct Stage {
        tree: Tree,
        overlay: Overlay,
        settings: Settings,
        zxid: i64,
    }

    impl Stage {
        fn new() -> Self {
            let tree = Tree::new(false, 0);
            let overlay = Overlay::new(&tree, 0);
            Self { tree, overlay, settings: Settings::default(), zxid: 0 }
        }

        fn stamp(&mut self) -> Stamp {
            self.zxid += 1;
            Stamp { zxid: Zxid(self.zxid), time: Millis(self.zxid) }
        }

        fn decide<T>(&mut self, decide: impl FnOnce(&mut Prepare<'_>) -> T) -> T {
            let stamp = self.stamp();
            let Self { tree, overlay, settings, .. } = self;
            decide(&mut Prepare::new(tree, overlay, settings, stamp))
        }

        fn create(&mut self, path: &str, flags: i32) -> Result<Text, Code> {
            let anyone = AclWish {
                perms: perms::ALL,
                scheme: Some("world".into()),
                id: Some("anyone".into()),
            };
            let wish = Create {
                op: CreateOp::Create,
                path: path.into(),
                data: None,
                acl: Some(alloc::vec![anyone]),
                flags,
                ttl_ms: -1,
            };
            let change = self.decide(|prepare| prepare.create(ME, &wish))?;
            self.apply(&change);
            let NodeChange::Create { path, .. } = change else { panic!("{change:?}") };
            Ok(path)
        }

        fn apply(&mut self, change: &NodeChange) {
            let stamp = Stamp { zxid: Zxid(self.zxid), time: Millis(self.zxid) };
            let mut triggers = Vec::new();
            self.tree.apply(stamp, ME.session, change, &mut triggers);
            self.overlay.applied(stamp.zxid);
            self.overlay.assert_invariants(&self.tree);
            assert!(triggers.iter().all(|trigger| trigger.kind != EventKind::ChildrenChanged));
        }
    }

    /// The sequence counter sticks at its end: one last name, then none, and the parent no
    /// longer notices births.
    #[test]
    fn the_sequence_counter_sticks_at_its_end() {
        let mut stage = Stage::new();
        stage.create("/p", 0).unwrap();
        // A log says that the counter has got this far.
        let stamp = stage.stamp();
        let full = NodeChange::Create {
            op: CreateOp::Create,
            path: "/p/last".into(),
            data: None,
            acl: AclList::open(),
            kind: NodeKind::Persistent,
            parent_cversion: i32::MAX,
        };
        stage.tree.apply(stamp, ME.session, &full, &mut Vec::new());
        stage.overlay = Overlay::new(&stage.tree, 0);
        let pzxid = stage.tree.get("/p").unwrap().stat().pzxid;

        assert_eq!(stage.create("/p/s", 2).as_deref(), Ok("/p/s2147483647"));
        assert_eq!(stage.create("/p/s", 2), Err(Code::NodeExists));
        assert_eq!(stage.create("/p/other", 0).as_deref(), Ok("/p/other"));
        let parent = stage.tree.get("/p").unwrap();
        assert_eq!(parent.stat().pzxid, pzxid, "the parent stands still");
        assert_eq!(stage.tree.stat(parent).cversion, i32::MAX.wrapping_mul(2).wrapping_sub(3));
    }

    /// While it is on its way to disk a deletion is already seen, and rolled back with its multi.
    #[test]
    fn a_failed_multi_leaves_no_trace_in_the_overlay() {
        let mut stage = Stage::new();
        stage.create("/a", 0).unwrap();
        let before = stage.overlay.clone();
        let ops = [
            Op::SetData { path: "/a".into(), data: None, version: -1 },
            Op::Delete { path: "/a".into(), version: -1 },
            Op::Delete { path: "/a".into(), version: -1 },
            Op::Check { path: "/a".into(), version: 0 },
        ];
        let change = stage.decide(|prepare| prepare.multi(ME, &ops));
        let Ok(Change::Multi(changes)) = change else { panic!("{change:?}") };
        assert_eq!(changes[2], SubChange::Error(Code::NoNode));
        assert_eq!(changes[3], SubChange::Error(Code::RuntimeInconsistency));
        assert_eq!(stage.overlay, before);
    }
}
