//! Writes: what is checked, in which order, and what becomes of them.

use std::collections::BTreeSet;

use zoolab_core::acl::{AclWish, perms};
use zoolab_core::request::{Body, Create, CreateOp, Event, EventKind, Op, OpResult, Stamp, opcode};
use zoolab_core::tree::Stat;
use zoolab_core::{Code, Data, Id, Request, SessionId, Zxid};

use super::{Interest, Kind, Model, Told, Usage, Znode, acl, length, path};

/// One write being applied: who asks, and where in the order.
pub(super) struct Asked<'a> {
    pub(super) stamp: Stamp,
    pub(super) session: SessionId,
    pub(super) who: &'a [Id],
    pub(super) usage: &'a Usage,
}

impl Model {
    pub(super) fn ask(
        &mut self,
        asked: &Asked<'_>,
        request: &Request,
        told: &mut Vec<Told>,
    ) -> Result<Body, Code> {
        match request {
            Request::CloseSession => {
                for path in self.ephemerals(asked.session) {
                    self.remove(asked.stamp.zxid, &path, told);
                }
                self.sessions.remove(&asked.session);
                Ok(Body::None)
            }
            Request::Create(wish) => {
                let (path, stat) = self.create(asked, wish, told)?;
                Ok(Body::Created { path: path.into(), stat })
            }
            Request::Delete { path, version } => {
                self.delete(asked, path, *version, told)?;
                Ok(Body::None)
            }
            Request::CreateNowhere { op, flags, ttl_ms } => {
                self.kind(asked.session, *op, *flags, *ttl_ms)?;
                Err(Code::MarshallingError)
            }
            Request::Multi(ops) => self.multi(asked, ops, told).map(Body::Multi),
            Request::Reconfig { .. } if self.settings.reconfig => Err(Code::Unimplemented),
            Request::Reconfig { .. } => Err(Code::ReconfigDisabled),
            Request::SetAcl { path, acl, version } => {
                self.set_acl(asked, path, acl.as_deref(), *version).map(Body::Stat)
            }
            Request::SetData { path, data, version } => {
                self.set_data(asked, path, data, *version, told).map(Body::Stat)
            }
            Request::Unreadable { opcode: opcode::SET_ACL | opcode::SET_DATA, .. } => {
                Err(Code::BadArguments)
            }
            Request::Unreadable { .. } => Err(Code::MarshallingError),
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
            | Request::WhoAmI => panic!("not a write: {request:?}"),
        }
    }

    /// Tries one operation after the other, and goes back to the start if one fails.
    ///
    /// One that makes no sense at all leaves no results to tell.
    fn multi(
        &mut self,
        asked: &Asked<'_>,
        ops: &[Op],
        told: &mut Vec<Told>,
    ) -> Result<Vec<OpResult>, Code> {
        let (before, told_before) = (self.clone(), told.len());
        let mut results = Vec::new();
        for op in ops {
            let result = match op {
                Op::Check { path, version } => self.check(asked, path, *version),
                Op::Create(wish) => self
                    .create(asked, &in_multi(wish), told)
                    .map(|(path, stat)| OpResult::Created { path: path.into(), stat }),
                Op::Delete { path, version } => {
                    self.delete(asked, path, *version, told).map(|()| OpResult::Deleted)
                }
                Op::SetData { path, data, version } => {
                    self.set_data(asked, path, data, *version, told).map(OpResult::Set)
                }
            };
            match result {
                Ok(result) => results.push(result),
                Err(code) => {
                    *self = before;
                    told.truncate(told_before);
                    if code == Code::MarshallingError {
                        return Err(code);
                    }
                    results.fill(OpResult::Error(None));
                    results.push(OpResult::Error(Some(code)));
                    results.resize(ops.len(), OpResult::Error(Some(Code::RuntimeInconsistency)));
                    return Ok(results);
                }
            }
        }
        Ok(results)
    }

    fn create(
        &mut self,
        asked: &Asked<'_>,
        wish: &Create,
        told: &mut Vec<Told>,
    ) -> Result<(String, Option<Stat>), Code> {
        let (kind, sequential) = self.kind(asked.session, wish.op, wish.flags, wish.ttl_ms)?;
        path::slashed(&wish.path)?;
        let acl = acl::fix(wish.acl.as_deref(), asked.who)?;
        let parent = path::parent(&wish.path).to_owned();
        let above = self.node(&parent)?;
        self.permit(&above.acl, perms::CREATE, asked.who)?;
        let mut path = wish.path.to_string();
        if sequential {
            path += &format!("{:010}", above.cversion);
        }
        path::validate(&path)?;
        if self.nodes.contains_key(&path) {
            return Err(Code::NodeExists);
        }
        if matches!(above.kind, Kind::Ephemeral(_)) {
            return Err(Code::NoChildrenForEphemerals);
        }
        asked.usage.room(&path, length(&wish.data), 1)?;

        let Stamp { zxid, time } = asked.stamp;
        let above = self.nodes.get_mut(&parent).expect("looked at above");
        if let Some(more) = above.cversion.checked_add(1) {
            above.cversion = more;
            above.pzxid = zxid;
        }
        let above_acl = above.acl.clone();
        let born = Znode {
            kind,
            czxid: zxid,
            mzxid: zxid,
            pzxid: zxid,
            ctime: time,
            mtime: time,
            ..Znode::new(wish.data.clone(), acl.clone())
        };
        self.nodes.insert(path.clone(), born);
        let stat = self.stat(&path);
        self.count_created(&path);
        let event = |kind, path: &str| Event { kind, path: path.into(), zxid };
        let created = event(EventKind::Created, &path);
        self.call(Interest::Data, &created, &acl, &BTreeSet::new(), told);
        let changed = event(EventKind::ChildrenChanged, &parent);
        self.call(Interest::Children, &changed, &above_acl, &BTreeSet::new(), told);
        Ok((path, (wish.op != CreateOp::Create).then_some(stat)))
    }

    /// What a create makes: the operation decides, and the flags say whether it may.
    fn kind(
        &self,
        session: SessionId,
        op: CreateOp,
        flags: i32,
        ttl_ms: i64,
    ) -> Result<(Kind, bool), Code> {
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
        let allowed = if ttl { (1..1 << 40).contains(&ttl_ms) } else { ttl_ms < 0 };
        if !allowed || op == CreateOp::Ttl && !ttl {
            return Err(Code::BadArguments);
        }
        let kind = match op {
            CreateOp::Container => Kind::Container,
            CreateOp::Ttl => Kind::Ttl(ttl_ms),
            CreateOp::Create | CreateOp::Create2 if ephemeral => Kind::Ephemeral(session),
            CreateOp::Create | CreateOp::Create2 => Kind::Persistent,
        };
        Ok((kind, sequential))
    }

    fn delete(
        &mut self,
        asked: &Asked<'_>,
        path: &str,
        version: i32,
        told: &mut Vec<Told>,
    ) -> Result<(), Code> {
        path::slashed(path)?;
        if path::RESERVED.contains(&path) {
            return Err(Code::BadArguments);
        }
        let above = self.node(path::parent(path))?;
        self.permit(&above.acl, perms::DELETE, asked.who)?;
        matching(version, self.node(path)?.version)?;
        if self.children(path).next().is_some() {
            return Err(Code::NotEmpty);
        }
        self.remove(asked.stamp.zxid, path, told);
        Ok(())
    }

    /// Takes a node out and tells of it.
    pub(super) fn remove(&mut self, zxid: Zxid, path: &str, told: &mut Vec<Told>) {
        let gone = self.nodes.remove(path).expect("only nodes are removed");
        let parent = path::parent(path);
        let above = self.nodes.get_mut(parent).expect("nodes have parents");
        above.pzxid = zxid;
        let above_acl = above.acl.clone();
        self.count(path, -length(&gone.data), -1);
        let event = |kind, path: &str| Event { kind, path: path.into(), zxid };
        let deleted = event(EventKind::Deleted, path);
        let reached = self.call(Interest::Data, &deleted, &gone.acl, &BTreeSet::new(), told);
        self.call(Interest::Children, &deleted, &gone.acl, &reached, told);
        let changed = event(EventKind::ChildrenChanged, parent);
        self.call(Interest::Children, &changed, &above_acl, &BTreeSet::new(), told);
    }

    fn set_data(
        &mut self,
        asked: &Asked<'_>,
        path: &str,
        data: &Data,
        version: i32,
        told: &mut Vec<Told>,
    ) -> Result<Stat, Code> {
        path::validate(path)?;
        let node = self.node(path)?;
        self.permit(&node.acl, perms::WRITE, asked.who)?;
        let grown = length(data) - length(&node.data);
        asked.usage.room(path, grown, 0)?;
        matching(version, node.version)?;
        let Stamp { zxid, time } = asked.stamp;
        let node = self.nodes.get_mut(path).expect("looked at above");
        node.data.clone_from(data);
        node.version = node.version.wrapping_add(1);
        node.mzxid = zxid;
        node.mtime = time;
        let acl = node.acl.clone();
        let stat = self.stat(path);
        self.count(path, grown, 0);
        let event = Event { kind: EventKind::DataChanged, path: path.into(), zxid };
        self.call(Interest::Data, &event, &acl, &BTreeSet::new(), told);
        Ok(stat)
    }

    fn set_acl(
        &mut self,
        asked: &Asked<'_>,
        path: &str,
        wishes: Option<&[AclWish]>,
        version: i32,
    ) -> Result<Stat, Code> {
        path::validate(path)?;
        let acl = acl::fix(wishes, asked.who)?;
        let node = self.node(path)?;
        self.permit(&node.acl, perms::ADMIN, asked.who)?;
        matching(version, node.aversion)?;
        let node = self.nodes.get_mut(path).expect("looked at above");
        node.acl = acl;
        node.aversion = node.aversion.wrapping_add(1);
        Ok(self.stat(path))
    }

    fn check(&self, asked: &Asked<'_>, path: &str, version: i32) -> Result<OpResult, Code> {
        path::validate(path)?;
        let node = self.node(path)?;
        self.permit(&node.acl, perms::READ, asked.who)?;
        matching(version, node.version)?;
        Ok(OpResult::Check)
    }
}

/// Whether a request takes a place in the order of all writes.
///
/// What cannot be decoded takes none, except for a multi, whose place is taken before it is
/// looked at, and a whole record whose only fault is a null path.
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
        Request::Unreadable { opcode: opcode::MULTI, .. } => true,
        Request::Unreadable { opcode, whole } => {
            *whole && matches!(*opcode, opcode::DELETE | opcode::SET_ACL | opcode::SET_DATA)
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
        | Request::WhoAmI => false,
    }
}

/// A create within a multi: TTL and container flags name the operation, and a TTL operation
/// without such a flag is a plain create.
fn in_multi(wish: &Create) -> Create {
    let op = match (wish.flags, wish.op) {
        (4, _) => CreateOp::Container,
        (5 | 6, _) => CreateOp::Ttl,
        (_, CreateOp::Ttl) => CreateOp::Create,
        (_, op) => op,
    };
    let ttl_ms = if op == CreateOp::Ttl { wish.ttl_ms } else { -1 };
    Create { op, ttl_ms, ..wish.clone() }
}

fn matching(wanted: i32, is: i32) -> Result<(), Code> {
    if wanted == -1 || wanted == is { Ok(()) } else { Err(Code::BadVersion) }
}
