//! Answering what changes nothing: reads, from what has been applied here.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::acl::{Id, perms};
use crate::auth;
use crate::code::Code;
use crate::ids::{ConnId, SessionId};
use crate::io::Output;
use crate::request::{Body, Event, EventKind, OpResult, ReadOp, Request, SetWatches};
use crate::tree::{Node, Tree};
use crate::watch::{Interest, Mode, Watches};
use crate::{Text, Zxid};

/// Who reads what.
#[derive(Debug)]
pub(crate) struct Read<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) watches: &'a mut Watches,
    pub(crate) conn: ConnId,
    pub(crate) session: SessionId,
    pub(crate) who: &'a [Id],
    pub(crate) skip_acl: bool,
}

impl<'a> Read<'a> {
    /// Answers a request that changes nothing.
    ///
    /// # Panics
    /// If it does: then it has been decided and must not come here.
    pub(crate) fn answer(
        &mut self,
        request: &Request,
        out: &mut Vec<Output>,
    ) -> Result<Body, Code> {
        match request {
            Request::AddWatch { path, mode } => self.add_watch(path, *mode),
            Request::CheckWatches { path, kind } => self.check_watches(path, *kind),
            Request::Exists { path, watch } => self.exists(path, *watch),
            Request::GetAcl { path } => self.get_acl(path),
            Request::GetAllChildrenNumber { path } => self.get_all_children_number(path),
            Request::GetChildren { path, watch, stat } => self.get_children(path, *watch, *stat),
            Request::GetData { path, watch } => self.get_data(path, *watch),
            Request::GetEphemerals { prefix } => Ok(self.get_ephemerals(prefix.as_deref())),
            Request::MultiRead(ops) | Request::MultiReadBroken(ops) => Ok(self.multi_read(ops)),
            Request::Ping => Ok(Body::None),
            Request::RemoveWatches { path, kind } => self.remove_watches(path, *kind),
            Request::SetWatches(lists) => Ok(self.set_watches(lists, out)),
            Request::Sync { path } => Ok(Body::Synced(path.clone())),
            Request::Unreadable { .. } => Err(Code::MarshallingError),
            Request::WhoAmI => Ok(self.who_am_i()),
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
            | Request::Unknown { .. } => unreachable!("not a read"),
        }
    }

    fn readable(&self, at: &str, mask: i32) -> Result<&'a Node, Code> {
        let node = self.tree.get(at).ok_or(Code::NoNode)?;
        if self.skip_acl || self.tree.acl(node).lets(mask, self.who) {
            return Ok(node);
        }
        Err(Code::NoAuth)
    }

    fn watch(&mut self, wanted: bool, at: &Text, interest: Interest) {
        if wanted {
            self.watches.add(self.conn, at, interest, Mode::OneShot);
        }
    }

    /// A missing node is watched all the same; one that may not be read is not.
    fn exists(&mut self, at: &Text, watch: bool) -> Result<Body, Code> {
        if at.contains('\0') {
            return Err(Code::BadArguments);
        }
        let found = self.readable(at, perms::READ);
        if found.as_ref().err() != Some(&Code::NoAuth) {
            self.watch(watch, at, Interest::Data);
        }
        Ok(Body::Stat(self.tree.stat(found?)))
    }

    fn get_data(&mut self, at: &Text, watch: bool) -> Result<Body, Code> {
        let node = self.readable(at, perms::READ)?;
        self.watch(watch, at, Interest::Data);
        Ok(Body::Data { data: node.data().clone(), stat: self.tree.stat(node) })
    }

    fn get_children(&mut self, at: &Text, watch: bool, with_stat: bool) -> Result<Body, Code> {
        let node = self.readable(at, perms::READ)?;
        self.watch(watch, at, Interest::Children);
        let stat = with_stat.then(|| self.tree.stat(node));
        Ok(Body::Children { names: node.child_names(), stat })
    }

    fn get_acl(&self, at: &str) -> Result<Body, Code> {
        let node = self.readable(at, perms::READ | perms::ADMIN)?;
        let acl = self.tree.acl(node);
        let admin = self.skip_acl || acl.lets(perms::ADMIN, self.who);
        let acl = if admin { acl.clone() } else { acl.redacted() };
        Ok(Body::Acl { acl, stat: self.tree.stat(node) })
    }

    fn get_all_children_number(&self, at: &str) -> Result<Body, Code> {
        self.readable(at, perms::READ)?;
        let count = self.tree.descendants(at);
        Ok(Body::Count(i32::try_from(count).unwrap_or(i32::MAX)))
    }

    /// The prefix is text, not a path: `/a` finds `/ab`.
    fn get_ephemerals(&self, prefix: Option<&str>) -> Body {
        let prefix = prefix.filter(|prefix| !prefix.trim().is_empty()).unwrap_or("/");
        let paths = self.tree.ephemerals_of(self.session);
        Body::Paths(paths.filter(|path| path.starts_with(prefix)).cloned().collect())
    }

    fn who_am_i(&self) -> Body {
        Body::Users(self.who.iter().map(|id| (id.scheme.clone(), auth::user_name(id))).collect())
    }

    fn multi_read(&self, ops: &[ReadOp]) -> Body {
        let result = |op: &ReadOp| match op {
            ReadOp::GetChildren { path } => {
                let node = self.readable(path, perms::READ)?;
                Ok(OpResult::Children(node.child_names()))
            }
            ReadOp::GetData { path } => {
                let node = self.readable(path, perms::READ)?;
                Ok(OpResult::Data { data: node.data().clone(), stat: self.tree.stat(node) })
            }
        };
        let error = |code| OpResult::Error(Some(code));
        Body::Multi(ops.iter().map(|op| result(op).unwrap_or_else(error)).collect())
    }

    /// Nothing is checked: any path may be watched by anyone.
    fn add_watch(&mut self, at: &Text, mode: i32) -> Result<Body, Code> {
        match mode {
            0 => {
                for interest in [Interest::Data, Interest::Children] {
                    self.watches.add(self.conn, at, interest, Mode::Persistent);
                }
            }
            1 => self.watches.add(self.conn, at, Interest::Data, Mode::Recursive),
            _ => return Err(Code::MarshallingError),
        }
        Ok(Body::Count(0))
    }

    fn check_watches(&self, at: &str, kind: i32) -> Result<Body, Code> {
        let parts = watcher_type(kind)?;
        let has = |&(interest, mode): &_| self.watches.has(self.conn, at, interest, mode);
        // A persistent watch is in both places; one of them tells.
        if parts.iter().any(has) { Ok(Body::None) } else { Err(Code::NoWatcher) }
    }

    fn remove_watches(&mut self, at: &str, kind: i32) -> Result<Body, Code> {
        let mut found = false;
        for (interest, mode) in watcher_type(kind)? {
            found |= self.watches.remove(self.conn, at, *interest, *mode);
        }
        if found { Ok(Body::None) } else { Err(Code::NoWatcher) }
    }

    /// What a client watched on its last connection: where something happened meanwhile it is
    /// told at once, otherwise the watch is armed again.
    fn set_watches(&mut self, lists: &SetWatches, out: &mut Vec<Output>) -> Body {
        let SetWatches { relative_zxid, data, exist, child, persistent, recursive } = lists;
        let missed = |node: Option<&Node>, changed: fn(&Node) -> Zxid, kind| match node {
            None => Some(EventKind::Deleted),
            Some(node) => (changed(node) > *relative_zxid).then_some(kind),
        };
        for at in data {
            let kind = missed(self.tree.get(at), |node| node.stat().mzxid, EventKind::DataChanged);
            self.catch_up(at, kind, Interest::Data, out);
        }
        for at in exist {
            let kind = self.tree.get(at).map(|_| EventKind::Created);
            self.catch_up(at, kind, Interest::Data, out);
        }
        for at in child {
            let changed = |node: &Node| node.stat().pzxid;
            let kind = missed(self.tree.get(at), changed, EventKind::ChildrenChanged);
            self.catch_up(at, kind, Interest::Children, out);
        }
        for at in persistent {
            for interest in [Interest::Children, Interest::Data] {
                self.watches.add(self.conn, at, interest, Mode::Persistent);
            }
        }
        for at in recursive {
            self.watches.add(self.conn, at, Interest::Data, Mode::Recursive);
        }
        Body::None
    }

    fn catch_up(
        &mut self,
        at: &Text,
        missed: Option<EventKind>,
        interest: Interest,
        out: &mut Vec<Output>,
    ) {
        match missed {
            Some(kind) => {
                let event = Event { kind, path: at.clone(), zxid: Zxid::NONE };
                out.push(Output::Notify { conn: self.conn, event: Arc::new(event) });
            }
            None => self.watches.add(self.conn, at, interest, Mode::OneShot),
        }
    }
}

/// Where to look for a watcher type, and which mode counts there.
fn watcher_type(kind: i32) -> Result<&'static [(Interest, Option<Mode>)], Code> {
    match kind {
        1 => Ok(&[(Interest::Children, Some(Mode::OneShot))]),
        2 => Ok(&[(Interest::Data, Some(Mode::OneShot))]),
        3 => Ok(&[(Interest::Children, None), (Interest::Data, None)]),
        4 => Ok(&[
            (Interest::Children, Some(Mode::Persistent)),
            (Interest::Data, Some(Mode::Persistent)),
        ]),
        5 => Ok(&[(Interest::Data, Some(Mode::Recursive))]),
        _ => Err(Code::MarshallingError),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_alias_of_the_root_is_read_but_not_heard_of() {
        let tree = Tree::new(false, 0);
        let mut watches = Watches::new(0);
        let who = [];
        let mut read = Read {
            tree: &tree,
            watches: &mut watches,
            conn: ConnId(1),
            session: SessionId(1),
            who: &who,
            skip_acl: false,
        };
        assert!(read.get_children(&"".into(), true, false).is_ok());
        assert!(watches.has(ConnId(1), "", Interest::Children, None));
        // Events name the root `/`, and nothing waits there.
        assert!(!watches.has(ConnId(1), "/", Interest::Children, None));
    }
}
