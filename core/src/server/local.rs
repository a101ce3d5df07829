//! Sessions that only this server knows.
//!
//! ```text
//!              wants an ephemeral           CreateSession applied
//!   local ------------------------> upgrading -------------------> like any other
//!     |
//!     +-- closed, or silent for too long: gone, without a transaction
//! ```

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{Role, Server};
use crate::acl::Id;
use crate::ids::{ConnId, Now, SessionId, Xid};
use crate::io::Output;
use crate::note::{Branch, Note};
use crate::request::{Body, Reply, Request, Stamp};
use crate::session::{Origin, Waiting};
use crate::txn::Change;

impl Server {
    /// Its client is done with a session. What it asked for before is done first.
    pub(super) fn close_local(
        &mut self,
        conn: ConnId,
        session: SessionId,
        xid: Xid,
        request: Request,
        who: Arc<[Id]>,
        out: &mut Vec<Output>,
    ) {
        self.sessions.mark_closing(session);
        match self.sessions.live_mut(session) {
            Some(live) if !live.waiting.is_empty() => {
                live.waiting.push_back(Waiting::Read { conn, xid, request, who });
            }
            Some(_) | None => self.end_local(session, Some((conn, xid)), out),
        }
    }

    /// A local session is over. Nobody else has to know.
    pub(super) fn end_local(
        &mut self,
        session: SessionId,
        asked: Option<(ConnId, Xid)>,
        out: &mut Vec<Output>,
    ) {
        if let Some((conn, xid)) = asked {
            let zxid = self.zxid_last;
            self.reply(conn, Reply { xid, zxid, err: None, body: Body::None }, out);
        }
        let live = self.sessions.closed(session);
        if let Some(conn) = live.and_then(|live| live.conn) {
            self.close(conn, out);
        }
    }

    /// A local session becomes one that all servers know. Whatever it asks for from now on comes
    /// after that.
    pub(super) fn upgrade(
        &mut self,
        now: Now,
        conn: ConnId,
        session: SessionId,
        out: &mut Vec<Output>,
    ) {
        let Some(timeout_ms) = self.sessions.live(session).map(|live| live.timeout_ms) else {
            return;
        };
        out.push(Output::Note(Note::Reached(Branch::SessionUpgraded)));
        if matches!(self.role, Role::Following(_)) {
            self.sessions.upgrade(session, false);
            self.forward_open(session, timeout_ms, conn, out);
            return;
        }
        let Some(zxid) = self.next_zxid(out) else { return };
        self.sessions.upgrade(session, true);
        if let Some(live) = self.sessions.live_mut(session) {
            live.origin = Some(Origin::Here);
        }
        let stamp = Stamp { zxid, time: now.wall };
        let change = Ok(Change::CreateSession { timeout_ms });
        self.propose(stamp, session, Xid::default(), None, change, out);
    }

    /// A session's creation was applied.
    pub(super) fn opened(&mut self, session: SessionId, timeout_ms: i32, out: &mut Vec<Output>) {
        if let Some(live) = self.sessions.opened(session, timeout_ms)
            && (live.closing || live.conn.is_none())
        {
            out.push(Output::Note(Note::Reached(Branch::UpgradeRace)));
        }
    }
}
