//! Between a client's server and the leader: what only the leader can decide, and its answers.
//!
//! ```text
//!   client -- write --> learner -- REQUEST --> leader: decide, propose
//!                          |                      |
//!   client <-- reply -- applied <---- COMMIT -----+
//! ```
//!
//! Each forwarded write becomes exactly one transaction, an error if need be, in the order it was
//! forwarded: so the next one with its session and number is the one a client waits for.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{ConnState, Role, Server};
use crate::acl::Id;
use crate::code::Code;
use crate::ids::{ConnId, LinkId, Now, SessionId, Xid, Zxid};
use crate::io::Output;
use crate::note::{Branch, Note};
use crate::pipeline::prepare::is_write;
use crate::request::{Request, Stamp};
use crate::session::{Origin, Scope, Waiting, Wish};
use crate::txn::Change;
use crate::zab::leader::Leader;
use crate::zab::{Ask, Forwarded, Message};

impl Server {
    /// Hands a request to the leader if it is one for the leader.
    pub(super) fn forward(
        &mut self,
        conn: ConnId,
        xid: Xid,
        request: &Request,
        who: &Arc<[Id]>,
        out: &mut Vec<Output>,
    ) -> bool {
        let Some(session) = self.session_of(conn) else { return false };
        let Role::Following(follower) = &mut self.role else { return false };
        let Some(live) = self.sessions.live_mut(session) else { return false };
        let ask = if is_write(request) {
            let closes = *request == Request::CloseSession;
            live.closing |= closes;
            let wish = if closes { Wish::Close } else { Wish::Write };
            live.waiting.push_back(Waiting::Forwarded { conn, xid, wish });
            Ask::Write(request.clone())
        } else if matches!(request, Request::Sync { .. }) {
            live.waiting.push_back(Waiting::Sync { conn, xid, request: request.clone() });
            follower.syncs.push_back((session, conn));
            Ask::Sync
        } else {
            return false;
        };
        let local = live.scope == Scope::Local;
        let forwarded = Forwarded { session, local, cxid: xid, who: Arc::clone(who), ask };
        let message = Message::Request(Box::new(forwarded));
        out.push(Output::Send { link: follower.link, message });
        true
    }

    /// Asks the leader for a new session.
    pub(super) fn forward_open(
        &mut self,
        session: SessionId,
        timeout_ms: i32,
        conn: ConnId,
        out: &mut Vec<Output>,
    ) {
        let Role::Following(follower) = &self.role else { return };
        let (cxid, who) = (Xid::default(), Arc::from([]));
        if let Some(live) = self.sessions.live_mut(session) {
            let (xid, wish) = (cxid, Wish::Open);
            live.waiting.push_back(Waiting::Forwarded { conn, xid, wish });
        }
        let (local, ask) = (false, Ask::Open { timeout_ms });
        let forwarded = Forwarded { session, local, cxid, who, ask };
        let message = Message::Request(Box::new(forwarded));
        out.push(Output::Send { link: follower.link, message });
    }

    /// Asks the leader whether a session lives.
    pub(super) fn revalidate(
        &mut self,
        session: SessionId,
        timeout_ms: i32,
        conn: ConnId,
        out: &mut Vec<Output>,
    ) {
        let Role::Following(follower) = &mut self.role else { return };
        follower.revalidating.push_back((session, conn));
        let message = Message::Revalidate { session, timeout_ms };
        out.push(Output::Send { link: follower.link, message });
    }

    pub(super) fn on_revalidated(
        &mut self,
        now: Now,
        session: SessionId,
        since: Option<Zxid>,
        out: &mut Vec<Output>,
    ) {
        let Role::Following(follower) = &mut self.role else { return };
        let Some((asked, conn)) = follower.revalidating.pop_front() else { return };
        assert_eq!(asked, session, "answers come in the order of questions");
        // Another connection of the same client may have overtaken this one.
        let serving = self.sessions.live(session).and_then(|live| live.conn);
        if let Some(other) = serving.filter(|other| since.is_some() && *other != conn) {
            self.close(other, out);
        }
        self.revalidated(now, conn, session, since, out);
    }

    /// The leader has heard of a session from another server: what is left of it here is over.
    pub(super) fn on_moved(&mut self, session: SessionId, out: &mut Vec<Output>) {
        if let Some(conn) = self.sessions.live(session).and_then(|live| live.conn) {
            self.close(conn, out);
        }
    }

    /// The leader has sent everything committed before the oldest sync was asked for.
    pub(super) fn on_leader_synced(&mut self, out: &mut Vec<Output>) {
        let Role::Following(follower) = &mut self.role else { return };
        let Some((session, conn)) = follower.syncs.pop_front() else { return };
        let Some((conn, xid, request)) = self.sessions.synced(session, conn) else { return };
        self.read(conn, session, xid, &request, &[], out);
        self.read_on(session, out);
    }

    /// A learner's client wants something.
    pub(super) fn on_forwarded(
        &mut self,
        now: Now,
        link: LinkId,
        forwarded: Forwarded,
        out: &mut Vec<Output>,
    ) {
        let Forwarded { session, local, cxid, who, ask } = forwarded;
        let origin = Origin::Learner(link);
        match ask {
            Ask::Open { timeout_ms } => {
                let Some(zxid) = self.next_zxid(out) else { return };
                if self.sessions.live(session).is_none() {
                    self.sessions.track(now, session, timeout_ms, out);
                }
                self.hand_to(session, origin, out);
                let stamp = Stamp { zxid, time: now.wall };
                let change = Ok(Change::CreateSession { timeout_ms });
                self.propose(stamp, session, cxid, None, change, out);
            }
            Ask::Sync => {
                if let Some(leading) = self.leading_mut()
                    && let Some(leader) = leading.leader_mut()
                    && leader.sync(link)
                {
                    out.push(Output::Send { link, message: Message::Synced });
                }
            }
            Ask::Write(request) => {
                let open = self.sessions.touch(now, session);
                if open && request != Request::CloseSession && self.has_moved(session, origin) {
                    let Some(zxid) = self.next_zxid(out) else { return };
                    let stamp = Stamp { zxid, time: now.wall };
                    out.push(Output::Note(Note::Reached(Branch::SessionMoved)));
                    self.propose(stamp, session, cxid, None, Err(Code::SessionMoved), out);
                    return;
                }
                self.decide(now, session, local, cxid, None, &request, &who, out);
            }
        }
    }

    /// Whether another acts for this session. Whoever comes first after a change of leaders does.
    fn has_moved(&mut self, session: SessionId, origin: Origin) -> bool {
        let Some(live) = self.sessions.live_mut(session) else { return false };
        *live.origin.get_or_insert(origin) != origin
    }

    /// From now on this origin acts for the session. Whoever did before is told, so that it stops
    /// serving it, and does not take for its own what others ask under the same numbers.
    pub(super) fn hand_to(&mut self, session: SessionId, origin: Origin, out: &mut Vec<Output>) {
        let Some(live) = self.sessions.live_mut(session) else { return };
        let before = live.origin.replace(origin).filter(|before| *before != origin);
        match before {
            Some(Origin::Learner(link)) => {
                out.push(Output::Note(Note::Reached(Branch::SessionHandedOver)));
                if self.ensemble.tell_moved
                    && let Role::Leading(leading) = &mut self.role
                    && leading.learners.get_mut(link).is_some()
                {
                    out.push(Output::Send { link, message: Message::Moved { session } });
                }
            }
            Some(Origin::Here) => {
                out.push(Output::Note(Note::Reached(Branch::SessionHandedOver)));
                if let Some(conn) = live.conn {
                    self.close(conn, out);
                }
            }
            None => {}
        }
    }

    pub(super) fn on_revalidate(
        &mut self,
        now: Now,
        link: LinkId,
        session: SessionId,
        timeout_ms: i32,
        out: &mut Vec<Output>,
    ) {
        let conn = self.sessions.live(session).and_then(|live| live.conn);
        // What is local here cannot go elsewhere.
        let valid = !self.sessions.is_local(session)
            && self.sessions.resume(now, session, timeout_ms, conn, out);
        if valid {
            self.hand_to(session, Origin::Learner(link), out);
        } else {
            out.push(Output::Note(Note::Reached(Branch::RevalidationRefused)));
        }
        let Some(zxid) = self.leader().map(Leader::proposed) else { return };
        let message = Message::Revalidated { session, valid, zxid };
        out.push(Output::Send { link, message });
    }

    /// Whether a connection waits for its session.
    #[must_use]
    pub fn is_opening(&self, conn: ConnId) -> bool {
        let state = self.conns.get(&conn).map(|connection| &connection.state);
        matches!(state, Some(ConnState::Opening { .. }))
    }
}
