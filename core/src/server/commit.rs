//! From decided to applied and answered: proposing, committing, applying.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{Asked, Role, Server};
use crate::acl::{AclList, perms};
use crate::bugs::Bug;
use crate::code::Code;
use crate::ids::{ConnId, Now, SessionId, Xid, Zxid};
use crate::io::Output;
use crate::note::{Branch, Note, Why};
use crate::request::{Body, CreateOp, OpResult, Reply, Stamp};
use crate::session::Waiting;
use crate::storage::log::follows;
use crate::tree::{Done, Trigger};
use crate::txn::{Change, NodeChange, SubChange, Txn};
use crate::zab::Message;
use crate::zab::leader::Leader;
use crate::zab::leading::{Leading, Phase};
use crate::zab::learner::Stage;

impl Server {
    /// The place of the next proposal. None if the epoch has no more: then this server has
    /// stepped down.
    pub(super) fn next_zxid(&mut self, out: &mut Vec<Output>) -> Option<Zxid> {
        let zxid = self.leader()?.proposed();
        if zxid.counter() >= self.ensemble.counter_max && !self.alone {
            out.push(Output::Note(Note::Reached(Branch::Rollover)));
            self.look(Why::Rollover, out);
            return None;
        }
        Some(zxid.next())
    }

    /// Gives what was decided its place in the order of all writes, which is the next one.
    pub(super) fn propose(
        &mut self,
        stamp: Stamp,
        session: SessionId,
        cxid: Xid,
        conn: Option<ConnId>,
        decided: Result<Change, Code>,
        out: &mut Vec<Output>,
    ) {
        let (change, digest) = match decided {
            Ok(change) => (change, Some(self.overlay.digest())),
            Err(code) => (Change::Error(code), None),
        };
        let zxid = stamp.zxid;
        if let Some(conn) = conn {
            self.asked.push_back(Asked { zxid, conn, xid: cxid });
            if let Some(live) = self.sessions.live_mut(session) {
                live.waiting.push_back(Waiting::Write(zxid));
            }
        }
        let txn = Arc::new(Txn { stamp, session, cxid, change, digest });
        let Role::Leading(leading) = &mut self.role else { panic!("only a leader proposes") };
        let tick = leading.tick();
        let Leading { learners, phase: Phase::Broadcast(leader), .. } = &mut **leading else {
            panic!("only a leader in broadcast proposes");
        };
        leader.propose(Arc::clone(&txn));
        if self.ensemble.bugs.on(Bug::AckBeforeSync) {
            leader.acknowledged(self.me, zxid);
        }
        if !self.alone {
            out.push(Output::Note(Note::Proposed(Arc::clone(&txn))));
            for learner in learners.iter_mut() {
                if learner.stage >= Stage::Syncing && !learner.observer {
                    learner.owes.get_or_insert((zxid, tick));
                    let message = Message::Proposal(Arc::clone(&txn));
                    out.push(Output::Send { link: learner.link, message });
                }
            }
        }
        self.journal.append(&txn, out);
    }

    /// Commits whatever a quorum has.
    pub(super) fn commit_ready(&mut self, now: Now, out: &mut Vec<Output>) {
        while let Role::Leading(leading) = &mut self.role
            && let Some(txn) = leading.leader_mut().and_then(Leader::commit)
        {
            let zxid = txn.stamp.zxid;
            let mut heir = None;
            if !self.alone {
                out.push(Output::Note(Note::Committed(zxid)));
                let shared = Arc::clone(&txn);
                let (commit, inform) = if txn.is_reconfig() {
                    let leader = self.change_committed(&txn, out);
                    heir = Some(leader).filter(|heir| *heir != self.me);
                    let commit = Message::CommitAndActivate { zxid, leader };
                    (commit, Message::InformAndActivate { txn: shared, leader })
                } else {
                    (Message::Commit(zxid), Message::Inform(shared))
                };
                let Role::Leading(leading) = &self.role else { return };
                leading.learners.broadcast(&commit, Some(&inform), out);
            }
            let Role::Leading(leading) = &mut self.role else { return };
            if let Some(leader) = leading.leader_mut() {
                while let Some(link) = leader.synced(zxid) {
                    out.push(Output::Send { link, message: Message::Synced });
                }
            }
            self.commit(now, txn, out);
            if let Some(leader) = heir {
                out.push(Output::Note(Note::Reached(Branch::HandedOver)));
                return self.look(Why::Changed { leader }, out);
            }
        }
    }

    /// Applies a transaction: events first, then the answer, then what waited for it.
    pub(super) fn commit(&mut self, now: Now, txn: Arc<Txn>, out: &mut Vec<Output>) {
        let zxid = txn.stamp.zxid;
        assert!(self.alone || follows(self.zxid_last, zxid), "{zxid} after {}", self.zxid_last);
        self.zxid_last = zxid;
        if self.ensemble.bugs.on(Bug::Zk1090) {
            self.snapshot_if_due(out);
        }
        let result = self.apply(&txn, out);
        self.overlay.applied(zxid);
        if let Some(digest) = txn.digest {
            assert_eq!(self.tree.digest(), digest, "{zxid} is not as was decided");
        }
        if !self.alone {
            let digest = self.tree.digest();
            out.push(Output::Note(Note::Applied { txn: Arc::clone(&txn), digest }));
            self.recent.push(Arc::clone(&txn));
        }
        let asked = self.asked.pop_front_if(|asked| asked.zxid == zxid);
        let asked = asked.map(|asked| (asked.conn, asked.xid));
        let asked = asked.or_else(|| self.sessions.forwarded(&txn));
        match &txn.change {
            Change::CreateSession { timeout_ms } => {
                self.opened(txn.session, *timeout_ms, out);
                self.written(txn.session, zxid);
                if let Some((conn, _)) = asked {
                    self.session_opened(now, conn, txn.session, out);
                }
                self.read_on(txn.session, out);
            }
            Change::CloseSession { .. } => {
                if let Some((conn, xid)) = asked {
                    self.reply(conn, Reply { xid, zxid, err: None, body: Body::None }, out);
                }
                let live = self.sessions.closed(txn.session);
                if let Some(conn) = live.and_then(|live| live.conn) {
                    self.close(conn, out);
                }
            }
            Change::Error(_) | Change::Multi(_) | Change::Node(_) => {
                let more = self.written(txn.session, zxid);
                if let Some((conn, _)) = asked
                    && result == Err(Code::SessionMoved)
                {
                    // Its client has to come again to be the session's owner; an answer would
                    // leave it where each write is refused.
                    self.close(conn, out);
                } else if let Some((conn, xid)) = asked {
                    let (err, body) = match result {
                        Ok(body) => (None, body),
                        Err(code) => (Some(code), Body::None),
                    };
                    self.reply(conn, Reply { xid, zxid, err, body }, out);
                }
                if more {
                    self.read_on(txn.session, out);
                }
            }
        }
        // Answering may have ended the epoch.
        if self.is_serving() && !self.ensemble.bugs.on(Bug::Zk1090) {
            self.snapshot_if_due(out);
        }
    }

    fn apply(&mut self, txn: &Txn, out: &mut Vec<Output>) -> Result<Body, Code> {
        match &txn.change {
            Change::CreateSession { .. } => Ok(Body::None),
            Change::CloseSession { paths } => {
                for path in paths {
                    let change = NodeChange::Delete { path: path.clone(), container: false };
                    self.apply_one(txn, &change, out);
                }
                Ok(Body::None)
            }
            Change::Error(code) => Err(*code),
            Change::Multi(changes) => Ok(Body::Multi(self.apply_multi(txn, changes, out))),
            Change::Node(change) => {
                let done = self.apply_one(txn, change, out);
                Ok(body(change, done))
            }
        }
    }

    fn apply_multi(
        &mut self,
        txn: &Txn,
        changes: &[SubChange],
        out: &mut Vec<Output>,
    ) -> Vec<OpResult> {
        let failed = changes.iter().any(|change| matches!(change, SubChange::Error(_)));
        let mut results = Vec::with_capacity(changes.len());
        for change in changes {
            results.push(match change {
                SubChange::Error(code) => OpResult::Error(Some(*code)),
                SubChange::Node(_) if failed => OpResult::Error(None),
                SubChange::Node(change) => {
                    let done = self.apply_one(txn, change, out);
                    op_result(change, done)
                }
            });
        }
        results
    }

    fn apply_one(&mut self, txn: &Txn, change: &NodeChange, out: &mut Vec<Output>) -> Done {
        if self.watches.is_empty() {
            return self.tree.apply_unwatched(txn.stamp, txn.session, change);
        }
        let mut triggers: Vec<Trigger> = Vec::new();
        let done = self.tree.apply(txn.stamp, txn.session, change, &mut triggers);
        let (conns, skip_acl) = (&self.conns, self.settings.skip_acl);
        let may = |conn: ConnId, acl: &AclList| {
            let connection = conns.get(&conn).expect("watches belong to living connections");
            skip_acl || acl.lets(perms::READ, &connection.who)
        };
        for trigger in &triggers {
            self.watches.fire(trigger, txn.stamp.zxid, &may, out);
        }
        done
    }

    /// A session's write has been applied: it no longer holds up what came after it. True if
    /// something did.
    fn written(&mut self, session: SessionId, zxid: Zxid) -> bool {
        let Some(live) = self.sessions.live_mut(session) else { return false };
        live.waiting.pop_front_if(|it| matches!(it, Waiting::Write(other) if *other == zxid));
        !live.waiting.is_empty()
    }
}

/// What a single write is answered with.
fn body(change: &NodeChange, done: Done) -> Body {
    match op_result(change, done) {
        OpResult::Created { path, stat } => Body::Created { path, stat },
        OpResult::Set(stat) => {
            if let NodeChange::SetData { data, reconfig: true, .. } = change {
                return Body::Data { data: data.clone(), stat };
            }
            Body::Stat(stat)
        }
        OpResult::Check
        | OpResult::Children(_)
        | OpResult::Data { .. }
        | OpResult::Deleted
        | OpResult::Error(_) => Body::None,
    }
}

fn op_result(change: &NodeChange, done: Done) -> OpResult {
    match (change, done) {
        (NodeChange::Create { op, path, .. }, Done::Created(stat)) => {
            let stat = (*op != CreateOp::Create).then_some(stat);
            OpResult::Created { path: path.clone(), stat }
        }
        (_, Done::Checked) => OpResult::Check,
        (_, Done::Deleted) => OpResult::Deleted,
        (_, Done::Set(stat)) => OpResult::Set(stat),
        (_, Done::Before | Done::Created(_)) => {
            unreachable!("what this server decided has not been applied before")
        }
    }
}
