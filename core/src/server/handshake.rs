//! How a client's connection comes to serve a session, new or resumed.

use alloc::vec::Vec;

use super::readonly::Known;
use super::{ConnState, Role, Server};
use crate::config::{LocalSessions, Settings};
use crate::ids::{ConnId, Now, SessionId, Xid, Zxid};
use crate::io::Output;
use crate::note::{Branch, Note};
use crate::request::{ConnectRequest, ConnectResponse, Request, Stamp};
use crate::session::{Origin, password};
use crate::txn::Change;

impl Server {
    pub(super) fn on_connect(
        &mut self,
        now: Now,
        conn: ConnId,
        request: ConnectRequest,
        out: &mut Vec<Output>,
    ) {
        let ConnectRequest { last_zxid_seen, timeout_ms, session, password: shown, read_only } =
            request;
        // Whoever wants to write must go on looking for who can.
        let is_serving = self.is_serving() || self.read_only && read_only == Some(true);
        let known = self.read_only.then(|| self.known(session));
        let Some(connection) = self.conns.get_mut(&conn) else { return };
        // A client that has seen more than we have would be sent back in time. A second first
        // frame is no first frame.
        let is_first = connection.state == ConnState::Accepted;
        if last_zxid_seen > self.zxid_last || !is_first || !is_serving {
            self.close(conn, out);
            return;
        }
        let Settings { session_timeout_min_ms: min, session_timeout_max_ms: max, .. } =
            *self.settings;
        let timeout_ms = timeout_ms.clamp(min, max);
        if session == SessionId::NONE {
            if known.is_some() && self.ensemble.local_sessions == LocalSessions::Off {
                return self.refuse_session(conn, out);
            }
            connection.state = ConnState::Opening { read_only, timeout_ms, early: Vec::new() };
            self.open_session(now, conn, timeout_ms, out);
            return;
        }
        if matches!(known, Some(Known::Elsewhere)) {
            return self.close(conn, out);
        }
        // As in ZooKeeper, whoever names the session ends its other connection, even if the
        // password turns out to be wrong.
        if let Some(other) = self.sessions.live(session).and_then(|live| live.conn) {
            self.close(other, out);
        }
        let proven = shown.as_deref() == Some(&password(session)[..]);
        let local = self.sessions.is_local(session);
        if proven && !local && matches!(known, Some(Known::Here)) {
            self.sessions.serve(session, timeout_ms, conn, self.zxid_last);
            return self.serve(now, conn, session, read_only, Vec::new(), out);
        }
        if proven && !local && matches!(self.role, Role::Following(_)) {
            if let Some(connection) = self.conns.get_mut(&conn) {
                connection.state = ConnState::Opening { read_only, timeout_ms, early: Vec::new() };
            }
            self.revalidate(session, timeout_ms, conn, out);
            return;
        }
        if !proven || !self.sessions.resume(now, session, timeout_ms, Some(conn), out) {
            return self.expired(conn, read_only, out);
        }
        self.hand_to(session, Origin::Here, out);
        self.serve(now, conn, session, read_only, Vec::new(), out);
    }

    /// Tells a client that its session is over.
    fn expired(&mut self, conn: ConnId, read_only: Option<bool>, out: &mut Vec<Output>) {
        let response = ConnectResponse::expired(read_only.map(|_| self.read_only));
        out.push(Output::Connected { conn, response });
        self.close(conn, out);
    }

    /// The leader has said whether a session lives, and up to where it has decided what was asked
    /// for on earlier connections.
    pub(super) fn revalidated(
        &mut self,
        now: Now,
        conn: ConnId,
        session: SessionId,
        since: Option<Zxid>,
        out: &mut Vec<Output>,
    ) {
        let Some(connection) = self.conns.get_mut(&conn) else { return };
        let state = core::mem::replace(&mut connection.state, ConnState::Accepted);
        let ConnState::Opening { read_only, timeout_ms, early } = state else {
            panic!("{conn:?} was answered twice");
        };
        let Some(since) = since else { return self.expired(conn, read_only, out) };
        self.sessions.serve(session, timeout_ms, conn, since);
        self.serve(now, conn, session, read_only, early, out);
    }

    fn open_session(&mut self, now: Now, conn: ConnId, timeout_ms: i32, out: &mut Vec<Output>) {
        let session = self.sessions.fresh_id();
        if self.ensemble.local_sessions != LocalSessions::Off {
            let read_only = match self.conns.get(&conn).map(|connection| &connection.state) {
                Some(ConnState::Opening { read_only, .. }) => *read_only,
                Some(ConnState::Accepted | ConnState::Open(_)) | None => None,
            };
            self.sessions.track_local(now, session, timeout_ms, conn, out);
            return self.serve(now, conn, session, read_only, Vec::new(), out);
        }
        if matches!(self.role, Role::Following(_)) {
            self.sessions.serve(session, timeout_ms, conn, self.zxid_last);
            self.forward_open(session, timeout_ms, conn, out);
            return;
        }
        let Some(zxid) = self.next_zxid(out) else { return };
        self.sessions.track(now, session, timeout_ms, out);
        if let Some(live) = self.sessions.live_mut(session) {
            live.conn = Some(conn);
            live.origin = Some(Origin::Here);
        }
        let stamp = Stamp { zxid, time: now.wall };
        let change = Change::CreateSession { timeout_ms };
        self.propose(stamp, session, Xid::default(), Some(conn), Ok(change), out);
    }

    /// A session is served on this connection from now on.
    fn serve(
        &mut self,
        now: Now,
        conn: ConnId,
        session: SessionId,
        read_only: Option<bool>,
        early: Vec<(Xid, Request)>,
        out: &mut Vec<Output>,
    ) {
        let Some(connection) = self.conns.get_mut(&conn) else { return };
        connection.state = ConnState::Open(session);
        let timeout_ms = self.sessions.live(session).map_or(0, |live| live.timeout_ms);
        let response = ConnectResponse {
            timeout_ms,
            session,
            password: password(session),
            read_only: read_only.map(|_| self.read_only),
        };
        if self.read_only {
            out.push(Output::Note(Note::Reached(Branch::ReadOnlyServed)));
        }
        out.push(Output::Connected { conn, response });
        for (xid, request) in early {
            self.on_request(now, conn, xid, request, out);
        }
    }
    pub(super) fn session_opened(
        &mut self,
        now: Now,
        conn: ConnId,
        session: SessionId,
        out: &mut Vec<Output>,
    ) {
        let Some(connection) = self.conns.get_mut(&conn) else {
            // The client went away before it was answered. It may be back on another connection
            // already; if not, the session waits for its end.
            if let Some(live) = self.sessions.live_mut(session) {
                live.conn.take_if(|serving| *serving == conn);
            }
            return;
        };
        // It was local before, and has been served all the time.
        if matches!(connection.state, ConnState::Open(_)) {
            return;
        }
        let state = core::mem::replace(&mut connection.state, ConnState::Accepted);
        let ConnState::Opening { read_only, early, .. } = state else {
            panic!("{conn:?} was answered twice");
        };
        self.serve(now, conn, session, read_only, early, out);
    }
}
