//! What a server does by itself when its time has come: ending sessions, removing containers.

use alloc::vec::Vec;

use super::Server;
use crate::Text;
use crate::config::Settings;
use crate::ids::{Now, SessionId, Ticks, Xid};
use crate::io::{Output, Timer};
use crate::note::{Branch, Note};
use crate::pipeline::prepare::Prepare;
use crate::request::Stamp;
use crate::tree::Owner;
use crate::txn::Change;

impl Server {
    pub(super) fn on_sessions(&mut self, now: Now, out: &mut Vec<Output>) {
        if !self.is_serving() && !self.read_only {
            return;
        }
        for session in self.sessions.expired() {
            if self.sessions.is_local(session) {
                self.end_local(session, None, out);
            } else if self.sessions.is_open(session) {
                let Some(zxid) = self.next_zxid(out) else { return };
                self.sessions.mark_closing(session);
                let stamp = Stamp { zxid, time: now.wall };
                let change = Prepare::new(&self.tree, &mut self.overlay, &self.settings, stamp)
                    .close_session(session);
                self.propose(stamp, session, Xid::default(), None, Ok(change), out);
            }
        }
        self.sessions.arm(now, out);
    }

    pub(super) fn on_containers(&mut self, now: Now, out: &mut Vec<Output>) {
        if !self.is_leading() {
            return;
        }
        let Settings { container_max_per_minute, container_check_ms, .. } = *self.settings;
        let most = u64::from(container_max_per_minute) * u64::from(container_check_ms) / 60_000;
        let done: Vec<Text> = self
            .tree
            .containers()
            .chain(self.tree.ttls())
            .filter(|path| self.has_had_its_time(now, path))
            .take(usize::try_from(most.max(1)).unwrap_or(usize::MAX))
            .cloned()
            .collect();
        for path in done {
            let Some(zxid) = self.next_zxid(out) else { return };
            let stamp = Stamp { zxid, time: now.wall };
            let decided = Prepare::new(&self.tree, &mut self.overlay, &self.settings, stamp)
                .delete_container(&path);
            // Whoever came to life meanwhile stays.
            if let Ok(change) = decided {
                out.push(Output::Note(Note::Reached(Branch::ContainerCleaned)));
                let change = Ok(Change::Node(change));
                self.propose(stamp, SessionId::NONE, Xid::default(), None, change, out);
            }
        }
        self.arm_containers(out);
    }

    fn has_had_its_time(&self, now: Now, path: &str) -> bool {
        let Some(node) = self.tree.get(path) else { return false };
        let stat = node.stat();
        let idle_ms = now.wall.0.saturating_sub(stat.mtime.0);
        let over = match self.tree.owner(stat) {
            Owner::Container if stat.cversion > 0 => true,
            Owner::Container => {
                let never_used_ms = self.settings.container_never_used_ms;
                never_used_ms.is_some_and(|limit| idle_ms > i64::from(limit))
            }
            Owner::Ttl(ttl_ms) => idle_ms > ttl_ms,
            Owner::Nobody | Owner::Session(_) => false,
        };
        over && node.children_len() == 0
    }

    pub(super) fn arm_containers(&self, out: &mut Vec<Output>) {
        let Settings { container_check_ms, tick_ms, .. } = *self.settings;
        let ticks = Ticks(container_check_ms.div_ceil(tick_ms).max(1));
        out.push(Output::Arm { timer: Timer::Containers, ticks });
    }
}
