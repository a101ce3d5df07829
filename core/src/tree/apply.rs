//! Obeying: a decided change is carried out. It cannot fail, and it runs on every server.
//!
//! Recovery may apply a change to a tree that has it already, from a snapshot taken while
//! changes went on; then it does nothing more than it did the first time.

use alloc::format;
use alloc::vec::Vec;

use super::{CONFIG_NODE, Node, Owner, QUOTA_ROOT, Stat, StoredStat, Tree};
use crate::acl::AclList;
use crate::ids::{Millis, SessionId, Zxid};
use crate::members::Members;
use crate::request::{EventKind, Stamp};
use crate::txn::{NodeChange, NodeKind};
use crate::{Data, Text, path};

/// Something that watches may wait for, in the order in which it happened.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Trigger {
    /// What happened to the node itself; its parent has other children with the first two.
    pub kind: EventKind,
    /// Which node.
    pub path: Text,
    /// Who may know of the node.
    pub acl: AclList,
    /// Who may know of its parent; with creation and deletion only.
    pub parent_acl: Option<AclList>,
}

/// What a change of one node came to, for the answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Done {
    /// It was there already, or not there any more: this change had been applied before.
    Before,
    /// Nothing was to be done.
    Checked,
    /// Here is its fresh stat.
    Created(Stat),
    /// It is gone.
    Deleted,
    /// Here is its stat now.
    Set(Stat),
}

struct Birth<'a> {
    path: &'a Text,
    data: &'a Data,
    acl: &'a AclList,
    kind: NodeKind,
    parent_cversion: i32,
}

impl Tree {
    /// Carries out one change.
    pub fn apply(
        &mut self,
        stamp: Stamp,
        session: SessionId,
        change: &NodeChange,
        triggers: &mut Vec<Trigger>,
    ) -> Done {
        self.carry_out(stamp, session, change, Some(triggers))
    }

    /// The same where nobody watches.
    pub(crate) fn apply_unwatched(
        &mut self,
        stamp: Stamp,
        session: SessionId,
        change: &NodeChange,
    ) -> Done {
        self.carry_out(stamp, session, change, None)
    }

    fn carry_out(
        &mut self,
        stamp: Stamp,
        session: SessionId,
        change: &NodeChange,
        triggers: Option<&mut Vec<Trigger>>,
    ) -> Done {
        match change {
            NodeChange::Check { path: _, version: _ } => Done::Checked,
            NodeChange::Create { op: _, path, data, acl, kind, parent_cversion } => {
                let birth =
                    Birth { path, data, acl, kind: *kind, parent_cversion: *parent_cversion };
                self.create(stamp, session, &birth, triggers)
            }
            NodeChange::Delete { path, container: _ } => self.delete(stamp, path, triggers),
            NodeChange::SetAcl { path, acl, version } => self.set_acl(path, acl, *version),
            NodeChange::SetData { path, data, version, reconfig: _ } => {
                self.set_data(stamp, path, data, *version, triggers)
            }
        }
    }

    fn create(
        &mut self,
        stamp: Stamp,
        session: SessionId,
        birth: &Birth<'_>,
        triggers: Option<&mut Vec<Trigger>>,
    ) -> Done {
        let &Birth { path: at, data, acl, kind, parent_cversion } = birth;
        let Some(parent_key) = path::parent(at) else { return Done::Before };
        let Some(parent) = self.arena.get_mut(parent_key) else { return Done::Before };
        // Logs of old versions do not say; then it is simply the next.
        let cversion = match parent_cversion {
            -1 => parent.stat.cversion.wrapping_add(1),
            given => given,
        };
        if cversion > parent.stat.cversion {
            parent.stat.cversion = cversion;
            parent.stat.pzxid = stamp.zxid;
            self.digest = self.digest.wrapping_add(parent.refresh_digest());
        }
        let parent_acl = parent.acl;
        parent.add_child(path::name(at));
        if let Some(old) = self.arena.get_mut(at) {
            // A replayed creation brings back the ACL it was created with.
            let fresh = self.acls.intern(acl);
            let stale = core::mem::replace(&mut old.acl, fresh);
            self.acls.release(stale);
            return Done::Before;
        }
        let stat = StoredStat {
            czxid: stamp.zxid,
            mzxid: stamp.zxid,
            pzxid: stamp.zxid,
            ctime: stamp.time,
            mtime: stamp.time,
            owner: Owner::raw(kind, session),
            ..StoredStat::default()
        };
        let node = Node::new(at, data.clone(), stat, self.acls.intern(acl));
        self.digest = self.digest.wrapping_add(u64::from(node.digest()));
        let reported = node.reported(self.extended_types);
        self.data_bytes += size(at, data);
        self.arena.insert(node);
        self.note_kind(at, &stat);
        self.count_birth(at, data);
        if let Some(triggers) = triggers {
            triggers.push(Trigger {
                kind: EventKind::Created,
                path: at.clone(),
                acl: acl.clone(),
                parent_acl: Some(self.acls.get(parent_acl).clone()),
            });
        }
        Done::Created(reported)
    }

    fn delete(&mut self, stamp: Stamp, at: &Text, triggers: Option<&mut Vec<Trigger>>) -> Done {
        let mut parent_acl = None;
        if let Some(parent) = path::parent(at).and_then(|key| self.arena.get_mut(key)) {
            parent.remove_child(path::name(at));
            if stamp.zxid > parent.stat.pzxid {
                parent.stat.pzxid = stamp.zxid;
                self.digest = self.digest.wrapping_add(parent.refresh_digest());
            }
            parent_acl = Some(self.acls.get(parent.acl).clone());
        }
        let Some(node) = self.arena.remove(at) else { return Done::Before };
        self.digest = self.digest.wrapping_sub(u64::from(node.digest()));
        self.data_bytes -= size(at, &node.data);
        let acl = self.acls.get(node.acl).clone();
        self.acls.release(node.acl);
        self.forget_kind(at, &node.stat);
        self.count_death(at, &node.data);
        if let Some(triggers) = triggers {
            triggers.push(Trigger { kind: EventKind::Deleted, path: at.clone(), acl, parent_acl });
        }
        Done::Deleted
    }

    fn set_data(
        &mut self,
        stamp: Stamp,
        at: &Text,
        data: &Data,
        version: i32,
        triggers: Option<&mut Vec<Trigger>>,
    ) -> Done {
        let Some(node) = self.arena.get_mut(path::key(at)) else { return Done::Before };
        let before = core::mem::replace(&mut node.data, data.clone());
        node.stat.version = version;
        node.stat.mzxid = stamp.zxid;
        node.stat.mtime = stamp.time;
        self.digest = self.digest.wrapping_add(node.refresh_digest());
        let reported = node.reported(self.extended_types);
        let acl = node.acl;
        let grown = len(data) as i64 - len(&before) as i64;
        self.data_bytes = self.data_bytes.wrapping_add_signed(grown);
        self.count(at, grown, 0);
        if let Some(triggers) = triggers {
            triggers.push(Trigger {
                kind: EventKind::DataChanged,
                path: at.clone(),
                acl: self.acls.get(acl).clone(),
                parent_acl: None,
            });
        }
        Done::Set(reported)
    }

    /// Shows who is in the ensemble where no transaction has. On each server alone, and at no
    /// time that anybody could name.
    pub(crate) fn show_members(&mut self, members: &Members) {
        let Some(node) = self.arena.get(CONFIG_NODE) else { return };
        let (stat, zxid) = (node.stat(), members.version());
        if zxid > stat.mzxid || (zxid == Zxid::ZERO && stat.mzxid == zxid) {
            let data = Some(format!("{members}").into_bytes().into());
            let stamp = Stamp { zxid, time: Millis(0) };
            self.set_data(stamp, &CONFIG_NODE.into(), &data, -1, None);
        }
    }

    fn set_acl(&mut self, at: &Text, acl: &AclList, version: i32) -> Done {
        let Some(node) = self.arena.get_mut(path::key(at)) else { return Done::Before };
        let fresh = self.acls.intern(acl);
        let stale = core::mem::replace(&mut node.acl, fresh);
        self.acls.release(stale);
        node.stat.aversion = version;
        self.digest = self.digest.wrapping_add(node.refresh_digest());
        Done::Set(node.reported(self.extended_types))
    }

    pub(super) fn note_kind(&mut self, at: &Text, stat: &StoredStat) {
        match self.owner(stat) {
            Owner::Container => {
                self.containers.insert(at.clone());
            }
            Owner::Session(session) => {
                self.ephemerals.entry(session).or_default().insert(at.clone());
            }
            Owner::Ttl(_) => {
                self.ttls.insert(at.clone());
            }
            Owner::Nobody => {}
        }
    }

    fn forget_kind(&mut self, at: &str, stat: &StoredStat) {
        match self.owner(stat) {
            Owner::Container => {
                self.containers.remove(at);
            }
            Owner::Session(session) => {
                if let Some(paths) = self.ephemerals.get_mut(&session) {
                    paths.remove(at);
                    if paths.is_empty() {
                        self.ephemerals.remove(&session);
                    }
                }
            }
            Owner::Ttl(_) => {
                self.ttls.remove(at);
            }
            Owner::Nobody => {}
        }
    }

    fn count_birth(&mut self, at: &str, data: &Data) {
        if let Some(rest) = at.strip_prefix(QUOTA_ROOT) {
            if let Some(subtree) = self.quotas.limits_born(rest) {
                self.quotas.add(subtree);
            } else if let Some(subtree) = self.quotas.counts_born(rest) {
                self.recount(subtree);
            }
        }
        self.count(at, len(data) as i64, 1);
    }

    fn count_death(&mut self, at: &str, data: &Data) {
        if let Some(rest) = at.strip_prefix(QUOTA_ROOT)
            && let Some(subtree) = self.quotas.limits_born(rest)
        {
            self.quotas.remove(subtree);
        }
        self.count(at, -(len(data) as i64), -1);
    }

    /// Adds to the counts of the subtree that governs a node. Nobody is told: these nodes change
    /// on each server alone, without version or zxid.
    fn count(&mut self, at: &str, bytes: i64, nodes: i64) {
        let Some(subtree) = self.quotas.governing(at) else { return };
        let counts_node = crate::quota::counts_path(subtree);
        if let Some(node) = self.arena.get_mut(&counts_node) {
            let counts = crate::quota::counts_changed(&node.data, bytes, nodes);
            let grown = counts.len() as i64 - len(&node.data) as i64;
            node.data = Some(counts);
            self.data_bytes = self.data_bytes.wrapping_add_signed(grown);
        }
    }

    /// Learns from the nodes themselves which subtrees have quotas, and counts these afresh.
    pub(super) fn find_quotas(&mut self) {
        let limits = self.subtree(QUOTA_ROOT).filter_map(|node| {
            let rest = node.key().strip_prefix(QUOTA_ROOT)?;
            self.quotas.limits_born(rest).filter(|subtree| !subtree.is_empty()).map(Text::from)
        });
        let subtrees: Vec<Text> = limits.collect();
        for subtree in subtrees {
            self.quotas.add(&subtree);
            self.recount(&subtree);
        }
    }

    /// Counts a subtree afresh, when its counts node appears.
    fn recount(&mut self, subtree: &str) {
        let (mut bytes, mut nodes) = (0, 0);
        for node in self.subtree(path::key(subtree)) {
            nodes += 1;
            bytes += len(&node.data) as i64;
        }
        if let Some(node) = self.arena.get_mut(&crate::quota::counts_path(subtree)) {
            let counts = crate::quota::counts_fresh(bytes, nodes);
            let grown = counts.len() as i64 - len(&node.data) as i64;
            node.data = Some(counts);
            self.data_bytes = self.data_bytes.wrapping_add_signed(grown);
        }
    }
}

fn len(data: &Data) -> usize {
    data.as_ref().map_or(0, |data| data.len())
}

fn size(at: &str, data: &Data) -> u64 {
    (at.len() + len(data)) as u64
}
