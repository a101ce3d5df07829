//! What everything committed has done to the tree and to sessions, by zxid: what clients may be
//! told, and when.

use std::collections::BTreeMap;

use zoolab_core::request::EventKind;
use zoolab_core::txn::{Change, NodeChange, SubChange};
use zoolab_core::{SessionId, Text, Txn, Zxid, path};

use crate::checker::history::History;
use crate::checker::ledger::Ledger;

/// Something that happened to a node.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum What {
    Child,
    Created,
    Deleted,
    Set,
}

/// What a transaction does to one node.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Trigger {
    pub(super) kind: EventKind,
    pub(super) path: Text,
}

/// See the [module](self).
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(super) struct Past {
    /// What has been looked at.
    upto: Zxid,
    /// What each transaction did that did anything to nodes, in order.
    txns: Vec<(Zxid, Vec<Trigger>)>,
    nodes: BTreeMap<Text, Vec<(Zxid, What)>>,
    /// Where each session was closed.
    closed: BTreeMap<SessionId, Zxid>,
}

/// The transaction after this one, if it is committed.
fn next(committed: &History, after: Zxid) -> Option<Zxid> {
    let ends = committed.ends();
    let end = ends.iter().find(|end| **end > after)?;
    let same = end.epoch() == after.epoch() && after.counter() > 0;
    Some(if same { after.next() } else { Zxid::first_of(end.epoch()).next() })
}

impl Past {
    /// Looks at what has been committed since.
    pub(super) fn advance(&mut self, ledger: &Ledger) {
        if ledger.committed.last() == self.upto {
            return;
        }
        while let Some(zxid) = next(&ledger.committed, self.upto) {
            let Some((txn, _)) = ledger.first(zxid) else { break };
            self.upto = zxid;
            self.take(txn);
        }
    }

    fn take(&mut self, txn: &Txn) {
        let (zxid, session) = (txn.stamp.zxid, txn.session);
        let mut triggers = Vec::new();
        match &txn.change {
            Change::CloseSession { paths } => {
                for path in paths {
                    self.delete(zxid, path, &mut triggers);
                }
                self.closed.entry(session).or_insert(zxid);
            }
            Change::CreateSession { .. } | Change::Error(_) => {}
            Change::Multi(parts) => {
                let failed = |part: &SubChange| matches!(part, SubChange::Error(_));
                if !parts.iter().any(failed) {
                    for part in parts {
                        if let SubChange::Node(change) = part {
                            self.change(zxid, change, &mut triggers);
                        }
                    }
                }
            }
            Change::Node(change) => self.change(zxid, change, &mut triggers),
        }
        if !triggers.is_empty() {
            self.txns.push((zxid, triggers));
        }
    }

    fn change(&mut self, zxid: Zxid, change: &NodeChange, triggers: &mut Vec<Trigger>) {
        match change {
            NodeChange::Check { .. } | NodeChange::SetAcl { .. } => {}
            NodeChange::Create { path: at, .. } => {
                self.happened(at, zxid, What::Created);
                self.child(at, zxid);
                triggers.push(Trigger { kind: EventKind::Created, path: at.clone() });
            }
            NodeChange::Delete { path: at, .. } => self.delete(zxid, at, triggers),
            NodeChange::SetData { path: at, .. } => {
                self.happened(at, zxid, What::Set);
                triggers.push(Trigger { kind: EventKind::DataChanged, path: at.clone() });
            }
        }
    }

    fn delete(&mut self, zxid: Zxid, at: &Text, triggers: &mut Vec<Trigger>) {
        self.happened(at, zxid, What::Deleted);
        self.child(at, zxid);
        triggers.push(Trigger { kind: EventKind::Deleted, path: at.clone() });
    }

    fn child(&mut self, at: &Text, zxid: Zxid) {
        let parent = Text::from(parent_of(at));
        self.happened(&parent, zxid, What::Child);
    }

    fn happened(&mut self, at: &Text, zxid: Zxid, what: What) {
        if let Some(all) = self.nodes.get_mut(at) {
            all.push((zxid, what));
        } else {
            self.nodes.insert(at.clone(), vec![(zxid, what)]);
        }
    }

    /// What each transaction did that comes after one and not after another, in order.
    pub(super) fn between(&self, after: Zxid, upto: Zxid) -> &[(Zxid, Vec<Trigger>)] {
        let from = self.txns.partition_point(|(zxid, _)| *zxid <= after);
        let rest = &self.txns[from..];
        &rest[..rest.partition_point(|(zxid, _)| *zxid <= upto)]
    }

    fn last(&self, at: &str, upto: Zxid, of: impl Fn(What) -> bool) -> Option<(Zxid, What)> {
        let all = self.nodes.get(at)?;
        let known = &all[..all.partition_point(|(zxid, _)| *zxid <= upto)];
        known.iter().rev().find(|(_, what)| of(*what)).copied()
    }

    /// Whether there was such a node.
    pub(super) fn exists(&self, at: &str, upto: Zxid) -> bool {
        let life = |what| matches!(what, What::Created | What::Deleted);
        match self.last(at, upto, life) {
            Some((_, what)) => what == What::Created,
            // These were there from the beginning.
            None => at == "/" || at.starts_with("/zookeeper"),
        }
    }

    /// When its data was last set.
    pub(super) fn set_at(&self, at: &str, upto: Zxid) -> Zxid {
        let set = self.last(at, upto, |what| matches!(what, What::Created | What::Set));
        set.map_or(Zxid::ZERO, |(zxid, _)| zxid)
    }

    /// When it last had other children.
    pub(super) fn children_at(&self, at: &str, upto: Zxid) -> Zxid {
        let child = self.last(at, upto, |what| matches!(what, What::Created | What::Child));
        child.map_or(Zxid::ZERO, |(zxid, _)| zxid)
    }

    /// Where a session was closed, if it was.
    pub(super) fn closed(&self, session: SessionId) -> Option<Zxid> {
        self.closed.get(&session).copied()
    }
}

/// The path of a node's parent.
pub(super) fn parent_of(at: &str) -> &str {
    path::shown(path::parent(at).unwrap_or_default())
}
