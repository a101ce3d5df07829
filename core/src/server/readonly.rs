//! Serving reads without a leader.
//!
//! ```text
//!   Looking -- no leader for a while --> Looking, read-only -- a leader is found --> all sent away
//! ```
//!
//! What is read is what the disk has, committed or not: it may be old, and it may be taken back.
//! Nothing is written, and no session of the ensemble is touched, for nobody here knows whether
//! it lives.

use alloc::vec::Vec;

use super::Server;
use crate::code::Code;
use crate::config::LocalSessions;
use crate::ids::{ConnId, SessionId, Xid};
use crate::io::{Output, Timer};
use crate::note::{Branch, Note};
use crate::pipeline::prepare::is_write;
use crate::request::{Body, Reply, Request};

/// How long a server looks for a leader at least before it serves without.
const GRACE_MS: u32 = 2000;

/// What a client that comes back to a read-only server is to its session.
pub(super) enum Known {
    /// The session is one of the ensemble: only a leader may go on with it.
    Elsewhere,
    /// It is local to this server.
    Here,
    /// Nobody here has heard of it.
    Unheard,
}

impl Server {
    pub(super) fn wake_read_only(&self, out: &mut Vec<Output>) {
        if self.ensemble.read_only {
            let ms = self.settings.tick_ms.max(GRACE_MS);
            out.push(Output::Wake { timer: Timer::ReadOnly, ms });
        }
    }

    pub(super) fn on_read_only(&mut self) {
        self.read_only = self.ensemble.read_only && self.is_looking();
    }

    /// The search for a leader has ended: whoever was content with reading may do better now.
    pub(super) fn end_read_only(&mut self, out: &mut Vec<Output>) {
        if !self.ensemble.read_only {
            return;
        }
        out.push(Output::Disarm { timer: Timer::ReadOnly });
        if core::mem::take(&mut self.read_only) {
            out.push(Output::Disarm { timer: Timer::Sessions });
            self.dismiss_clients(out);
        }
    }

    /// What a session is to a read-only server. Without local sessions one that is not in the
    /// table is taken at its word, as ZooKeeper does: it may have begun where there is a leader.
    pub(super) fn known(&self, session: SessionId) -> Known {
        if self.sessions.table().contains_key(&session) {
            Known::Elsewhere
        } else if self.sessions.is_local(session)
            || self.ensemble.local_sessions == LocalSessions::Off
        {
            Known::Here
        } else {
            Known::Unheard
        }
    }

    /// A session cannot be made here. The answer is not the one that a first frame gets, and
    /// clients take it for a broken connection.
    pub(super) fn refuse_session(&mut self, conn: ConnId, out: &mut Vec<Output>) {
        self.not_read_only(conn, Xid::default(), out);
        self.close(conn, out);
    }

    /// Refuses what only a leader can do. The end of a local session is not such a thing.
    pub(super) fn refuse_write(
        &mut self,
        conn: ConnId,
        session: SessionId,
        xid: Xid,
        request: &Request,
        out: &mut Vec<Output>,
    ) -> bool {
        let ends = *request == Request::CloseSession && self.sessions.is_local(session);
        let refused = (is_write(request) || matches!(request, Request::Sync { .. })) && !ends;
        if refused {
            self.not_read_only(conn, xid, out);
        }
        refused
    }

    fn not_read_only(&self, conn: ConnId, xid: Xid, out: &mut Vec<Output>) {
        out.push(Output::Note(Note::Reached(Branch::WriteRefused)));
        let (zxid, err) = (self.zxid_last, Some(Code::NotReadOnly));
        self.reply(conn, Reply { xid, zxid, err, body: Body::None }, out);
    }
}
