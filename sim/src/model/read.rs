//! Answering what changes nothing but watches.

use zoolab_core::acl::perms;
use zoolab_core::request::{Body, Event, EventKind, OpResult, ReadOp, SetWatches};
use zoolab_core::{AclList, Code, ConnId, Id, Request, SessionId, Zxid};

use super::watch::{Interest, Mode, Watch};
use super::{Model, Told, Znode, acl, path};

/// Who reads.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    /// Where watches and events belong.
    pub conn: ConnId,
    /// Whose ephemerals are meant.
    pub session: SessionId,
    /// As of when the request was taken.
    pub who: &'a [Id],
}

impl Model {
    /// Answers a read from the tree as it is. Events come before the answer.
    ///
    /// # Errors
    /// The code the client gets.
    pub fn read(
        &mut self,
        reader: Reader<'_>,
        request: &Request,
        told: &mut Vec<Told>,
    ) -> Result<Body, Code> {
        let Reader { conn, session, who } = reader;
        match request {
            Request::AddWatch { path, mode } => {
                self.watch_for_good(conn, path, *mode)?;
                Ok(Body::Count(0))
            }
            Request::CheckWatches { path, kind } => {
                let found = self.watches.iter().any(watches_of(conn, path, *kind)?);
                if found { Ok(Body::None) } else { Err(Code::NoWatcher) }
            }
            Request::RemoveWatches { path, kind } => {
                let (before, meant) = (self.watches.len(), watches_of(conn, path, *kind)?);
                self.watches.retain(|watch| !meant(watch));
                if self.watches.len() < before { Ok(Body::None) } else { Err(Code::NoWatcher) }
            }
            Request::Exists { path, .. } if path.contains('\0') => Err(Code::BadArguments),
            Request::Exists { path, watch } => {
                let found = self.see(path, perms::READ, who).map(|_| ());
                if *watch && found != Err(Code::NoAuth) {
                    self.watch(conn, path, Interest::Data, Mode::OneShot);
                }
                found.map(|()| Body::Stat(self.stat(path)))
            }
            Request::GetAcl { path } => {
                let node = self.see(path, perms::READ | perms::ADMIN, who)?;
                let all = self.permit(&node.acl, perms::ADMIN, who).is_ok();
                let acl = if all { node.acl.clone() } else { acl::redact(&node.acl) };
                Ok(Body::Acl { acl: AclList::new(acl), stat: self.stat(path) })
            }
            Request::GetAllChildrenNumber { path } => {
                self.see(path, perms::READ, who)?;
                let above = path::root_if_empty(path);
                let below = self.nodes.keys().filter(|path| path::is_below(path, above));
                // Under its other name the root begins like everything below it.
                let count = below.count() + usize::from(path.is_empty());
                Ok(Body::Count(i32::try_from(count).expect("few nodes")))
            }
            Request::GetChildren { path, watch, stat } => {
                self.see(path, perms::READ, who)?;
                if *watch {
                    self.watch(conn, path, Interest::Children, Mode::OneShot);
                }
                let names = self.children(path).map(Into::into).collect();
                Ok(Body::Children { names, stat: stat.then(|| self.stat(path)) })
            }
            Request::GetData { path, watch } => {
                let data = self.see(path, perms::READ, who)?.data.clone();
                if *watch {
                    self.watch(conn, path, Interest::Data, Mode::OneShot);
                }
                Ok(Body::Data { data, stat: self.stat(path) })
            }
            Request::GetEphemerals { prefix } => {
                let prefix = prefix.as_deref().filter(|prefix| !prefix.trim().is_empty());
                let mut paths = self.ephemerals(session);
                paths.retain(|path| path.starts_with(prefix.unwrap_or("/")));
                Ok(Body::Paths(paths.into_iter().map(Into::into).collect()))
            }
            Request::MultiRead(ops) | Request::MultiReadBroken(ops) => {
                Ok(Body::Multi(ops.iter().map(|op| self.read_op(op, who)).collect()))
            }
            Request::Ping => Ok(Body::None),
            Request::SetWatches(lists) => {
                self.set_watches(conn, lists, told);
                Ok(Body::None)
            }
            Request::Sync { path } => Ok(Body::Synced(path.clone())),
            Request::Unreadable { .. } => Err(Code::MarshallingError),
            Request::WhoAmI => {
                let user = |id: &Id| match &*id.scheme {
                    "digest" => id.id.split(':').next().unwrap_or_default().into(),
                    "ip" => id.id.clone(),
                    _ => "".into(),
                };
                Ok(Body::Users(who.iter().map(|id| (id.scheme.clone(), user(id))).collect()))
            }
            Request::Auth { .. }
            | Request::CloseSession
            | Request::Create(_)
            | Request::CreateNowhere { .. }
            | Request::Delete { .. }
            | Request::Multi(_)
            | Request::Reconfig { .. }
            | Request::Sasl
            | Request::SetAcl { .. }
            | Request::SetData { .. }
            | Request::Unknown { .. } => panic!("not a read: {request:?}"),
        }
    }

    fn see(&self, path: &str, mask: i32, who: &[Id]) -> Result<&Znode, Code> {
        let node = self.node(path)?;
        self.permit(&node.acl, mask, who)?;
        Ok(node)
    }

    fn read_op(&self, op: &ReadOp, who: &[Id]) -> OpResult {
        let (ReadOp::GetChildren { path } | ReadOp::GetData { path }) = op;
        match (op, self.see(path, perms::READ, who)) {
            (_, Err(code)) => OpResult::Error(Some(code)),
            (ReadOp::GetChildren { .. }, Ok(_)) => {
                OpResult::Children(self.children(path).map(Into::into).collect())
            }
            (ReadOp::GetData { .. }, Ok(node)) => {
                OpResult::Data { data: node.data.clone(), stat: self.stat(path) }
            }
        }
    }

    fn watch(&mut self, conn: ConnId, path: &str, interest: Interest, mode: Mode) {
        self.watches.insert(Watch { conn, path: path.into(), interest, mode });
    }

    fn watch_for_good(&mut self, conn: ConnId, path: &str, mode: i32) -> Result<(), Code> {
        match mode {
            0 => {
                self.watch(conn, path, Interest::Data, Mode::Persistent);
                self.watch(conn, path, Interest::Children, Mode::Persistent);
            }
            1 => self.watch(conn, path, Interest::Data, Mode::Recursive),
            _ => return Err(Code::MarshallingError),
        }
        Ok(())
    }

    /// Watches from an earlier connection: what has happened since is told, the rest is watched
    /// again. Who may read it does not matter here.
    fn set_watches(&mut self, conn: ConnId, lists: &SetWatches, told: &mut Vec<Told>) {
        let SetWatches { relative_zxid: seen, data, exist, child, persistent, recursive } = lists;
        let mut missed = Vec::new();
        for path in data {
            missed.push((
                path,
                Interest::Data,
                match self.node(path) {
                    Err(_) => Some(EventKind::Deleted),
                    Ok(node) => (node.mzxid > *seen).then_some(EventKind::DataChanged),
                },
            ));
        }
        for path in exist {
            let there = self.node(path).is_ok();
            missed.push((path, Interest::Data, there.then_some(EventKind::Created)));
        }
        for path in child {
            missed.push((
                path,
                Interest::Children,
                match self.node(path) {
                    Err(_) => Some(EventKind::Deleted),
                    Ok(node) => (node.pzxid > *seen).then_some(EventKind::ChildrenChanged),
                },
            ));
        }
        for (path, interest, kind) in missed {
            match kind {
                Some(kind) => {
                    told.push((conn, Event { kind, path: path.clone(), zxid: Zxid::NONE }));
                }
                None => self.watch(conn, path, interest, Mode::OneShot),
            }
        }
        for (paths, mode) in [(persistent, 0), (recursive, 1)] {
            for path in paths {
                self.watch_for_good(conn, path, mode).expect("there is such a mode");
            }
        }
    }
}

/// Which watches a watcher type of checkWatches and removeWatches means.
fn watches_of(
    conn: ConnId,
    path: &str,
    kind: i32,
) -> Result<impl Fn(&Watch) -> bool + use<'_>, Code> {
    if !(1..=5).contains(&kind) {
        return Err(Code::MarshallingError);
    }
    Ok(move |watch: &Watch| {
        let meant = match kind {
            1 => watch.interest == Interest::Children && watch.mode == Mode::OneShot,
            2 => watch.interest == Interest::Data && watch.mode == Mode::OneShot,
            4 => watch.mode == Mode::Persistent,
            5 => watch.mode == Mode::Recursive,
            _ => true,
        };
        meant && watch.conn == conn && watch.path == path
    })
}
