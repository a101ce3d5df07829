//! From decided to applied and answered: proposing, committing, applying.

use alloc::vec::Vec;

use super::{Asked, Server};
use crate::acl::{AclList, perms};
use crate::code::Code;
use crate::ids::{ConnId, Now, SessionId, Token, Xid, Zxid};
use crate::io::Output;
use crate::request::{Body, CreateOp, OpResult, Reply, Stamp};
use crate::session::Waiting;
use crate::tree::{Done, Trigger};
use crate::txn::{Change, NodeChange, SubChange, Txn};

impl Server {
    /// Gives what was decided its place in the order of all writes.
    pub(super) fn propose(
        &mut self,
        now: Now,
        session: SessionId,
        asked: Option<(ConnId, Xid)>,
        decided: Result<Change, Code>,
        out: &mut Vec<Output>,
    ) {
        let zxid = self.leader.next_zxid();
        let (change, digest) = match decided {
            Ok(change) => (change, Some(self.overlay.digest())),
            Err(code) => (Change::Error(code), None),
        };
        let mut cxid = Xid::default();
        if let Some((conn, xid)) = asked {
            cxid = xid;
            self.asked.push_back(Asked { zxid, conn, xid });
            if let Some(live) = self.sessions.live_mut(session) {
                live.waiting.push_back(Waiting::Write(zxid));
            }
        }
        let stamp = Stamp { zxid, time: now.wall };
        self.leader.propose(Txn { stamp, session, cxid, change, digest }, out);
    }

    pub(super) fn on_persisted(&mut self, now: Now, token: Token, out: &mut Vec<Output>) {
        self.leader.persisted(token, out);
        while let Some(txn) = self.leader.commit() {
            self.commit(now, &txn, out);
        }
    }

    /// Applies a transaction: events first, then the answer, then what waited for it.
    fn commit(&mut self, now: Now, txn: &Txn, out: &mut Vec<Output>) {
        assert_eq!(txn.stamp.zxid, self.zxid_last.next(), "commits leave no gap");
        self.zxid_last = txn.stamp.zxid;
        let result = self.apply(txn, out);
        self.overlay.applied(txn.stamp.zxid);
        if let Some(digest) = txn.digest {
            assert_eq!(self.tree.digest(), digest, "{} is not as was decided", txn.stamp.zxid);
        }
        let asked = self.asked.pop_front_if(|asked| asked.zxid == txn.stamp.zxid);
        match &txn.change {
            Change::CreateSession { timeout_ms } => {
                self.sessions.opened(txn.session, *timeout_ms);
                self.written(txn.session, txn.stamp.zxid);
                if let Some(asked) = asked {
                    self.session_opened(now, asked.conn, txn.session, out);
                }
                self.read_on(txn.session, out);
            }
            Change::CloseSession { .. } => {
                if let Some(Asked { conn, xid, zxid }) = asked {
                    self.reply(conn, Reply { xid, zxid, err: None, body: Body::None }, out);
                }
                let live = self.sessions.closed(txn.session);
                if let Some(conn) = live.and_then(|live| live.conn) {
                    self.close(conn, out);
                }
            }
            Change::Error(_) | Change::Multi(_) | Change::Node(_) => {
                self.written(txn.session, txn.stamp.zxid);
                if let Some(Asked { conn, xid, zxid }) = asked {
                    let (err, body) = match result {
                        Ok(body) => (None, body),
                        Err(code) => (Some(code), Body::None),
                    };
                    self.reply(conn, Reply { xid, zxid, err, body }, out);
                }
                self.read_on(txn.session, out);
            }
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

    /// A session's write has been applied: it no longer holds up what came after it.
    fn written(&mut self, session: SessionId, zxid: Zxid) {
        if let Some(live) = self.sessions.live_mut(session)
            && live.waiting.front() == Some(&Waiting::Write(zxid))
        {
            live.waiting.pop_front();
        }
    }
}

/// What a single write is answered with.
fn body(change: &NodeChange, done: Done) -> Body {
    match op_result(change, done) {
        OpResult::Created { path, stat } => Body::Created { path, stat },
        OpResult::Set(stat) => Body::Stat(stat),
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
