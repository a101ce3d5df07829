//! How a client's connection comes to serve a session, new or resumed.

use alloc::vec::Vec;

use super::{ConnState, Server};
use crate::config::Settings;
use crate::ids::{ConnId, Now, SessionId, Xid};
use crate::io::Output;
use crate::request::{ConnectRequest, ConnectResponse, Request};
use crate::session::password;
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
        let Some(connection) = self.conns.get_mut(&conn) else { return };
        // A client that has seen more than we have would be sent back in time. A second first
        // frame is no first frame.
        if last_zxid_seen > self.zxid_last || connection.state != ConnState::Accepted {
            self.close(conn, out);
            return;
        }
        let Settings { session_timeout_min_ms: min, session_timeout_max_ms: max, .. } =
            *self.settings;
        let timeout_ms = timeout_ms.clamp(min, max);
        if session == SessionId::NONE {
            connection.state = ConnState::Opening { read_only, early: Vec::new() };
            self.open_session(now, conn, timeout_ms, out);
            return;
        }
        // As in ZooKeeper, whoever names the session ends its other connection, even if the
        // password turns out to be wrong.
        if let Some(other) = self.sessions.live(session).and_then(|live| live.conn) {
            self.close(other, out);
        }
        let known = shown.as_deref() == Some(&password(session)[..])
            && self.sessions.resume(now, session, timeout_ms, conn, out);
        if !known {
            let response = ConnectResponse::expired(read_only.map(|_| false));
            out.push(Output::Connected { conn, response });
            self.close(conn, out);
            return;
        }
        self.serve(now, conn, session, read_only, Vec::new(), out);
    }

    fn open_session(&mut self, now: Now, conn: ConnId, timeout_ms: i32, out: &mut Vec<Output>) {
        let session = self.sessions.fresh_id();
        self.sessions.track(now, session, timeout_ms, out);
        if let Some(live) = self.sessions.live_mut(session) {
            live.conn = Some(conn);
        }
        let change = Change::CreateSession { timeout_ms };
        self.propose(now, session, Some((conn, Xid::default())), Ok(change), out);
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
            read_only: read_only.map(|_| false),
        };
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
        let state = core::mem::replace(&mut connection.state, ConnState::Accepted);
        let ConnState::Opening { read_only, early } = state else {
            panic!("{conn:?} was answered twice");
        };
        self.serve(now, conn, session, read_only, early, out);
    }
}
