//! Who wants to hear of what.

use std::collections::BTreeSet;

use zoolab_core::acl::perms;
use zoolab_core::request::Event;
use zoolab_core::{Acl, ConnId};

use super::{Model, Told, path};

/// What is watched at a path.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Interest {
    /// Its children.
    Children,
    /// The node itself.
    Data,
}

/// How long and how wide a watch is.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Mode {
    /// Until it fires.
    OneShot,
    /// Until removed.
    Persistent,
    /// Until removed, and for everything below.
    Recursive,
}

/// One watch of one connection.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Watch {
    /// Whose.
    pub conn: ConnId,
    /// Where, as the client wrote it.
    pub path: String,
    /// In what.
    pub interest: Interest,
    /// For how long.
    pub mode: Mode,
}

impl Model {
    /// One trigger: whoever watches exactly there, and whoever watches recursively above, once
    /// each. Returns who was reached, also those who may not know.
    pub(super) fn call(
        &mut self,
        interest: Interest,
        event: &Event,
        acl: &[Acl],
        except: &BTreeSet<ConnId>,
        told: &mut Vec<Told>,
    ) -> BTreeSet<ConnId> {
        let there = |watch: &Watch| watch.interest == interest && *watch.path == *event.path;
        let above = |watch: &Watch| {
            watch.interest == interest
                && watch.mode == Mode::Recursive
                && path::is_below(&event.path, &watch.path)
        };
        let hit = self.watches.iter().filter(|watch| there(watch) || above(watch));
        let reached: BTreeSet<ConnId> = hit.map(|watch| watch.conn).collect();
        self.watches.retain(|watch| !there(watch) || watch.mode != Mode::OneShot);
        for conn in reached.difference(except) {
            let who = self.conns.get(conn).expect("watches belong to connections");
            if self.permit(acl, perms::READ, who).is_ok() {
                told.push((*conn, event.clone()));
            }
        }
        reached
    }

    /// A connection is gone, and its watches with it.
    pub fn disconnect(&mut self, conn: ConnId) {
        self.conns.remove(&conn);
        self.watches.retain(|watch| watch.conn != conn);
    }
}
