//! How a client's connections come and go.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::address::ServerList;
use super::calls::Asked;
use super::chance::Chance;
use super::config::Session;
use super::error::Failed;
use super::events::SessionState;
use super::io::{Frame, Line, Output, Timer};
use super::pace;
use super::probe::Probe;
use super::session::Client;
use super::state::{End, Phase};
use crate::ids::{Millis, SessionId, Xid};
use crate::request::{ConnectRequest, ConnectResponse, Request};

/// All clients of a server that dies would come back at the same moment.
const REDIAL_SPREAD_MS: u32 = 999;
/// Who has tried all servers rests.
const ROUND_OVER_MS: u32 = 1000;

impl Client {
    /// Whether a line is the one in use, up or not.
    pub(super) fn is_on(&self, other: Line) -> bool {
        self.line() == Some(other)
    }

    pub(super) fn is_greeting(&self, other: Line) -> bool {
        matches!(self.phase, Phase::Greeting { line, .. } if line == other)
    }

    pub(super) fn is_open(&self, other: Line) -> bool {
        matches!(self.phase, Phase::Open { line, .. } if line == other)
    }

    const fn line(&self) -> Option<Line> {
        match self.phase {
            Phase::Dialling { line, .. }
            | Phase::Greeting { line, .. }
            | Phase::Open { line, .. } => Some(line),
            Phase::New | Phase::Over(_) | Phase::Waiting => None,
        }
    }

    pub(super) fn on_start(&mut self, now: Millis, out: &mut Vec<Output>) {
        if self.phase == Phase::New {
            self.pace.heard = now;
            self.probe = Probe::new(now);
            self.start_expiry(now, out);
            self.dial(out);
        }
    }

    /// Tries the next server.
    pub(super) fn dial(&mut self, out: &mut Vec<Output>) {
        let host = self.probe.found.take().unwrap_or_else(|| self.hosts.pick());
        self.lines += 1;
        let line = Line(self.lines);
        out.push(Output::Dial { line, host: host.clone() });
        self.phase = Phase::Dialling { line, host };
        self.start_attempt(out);
    }

    fn start_attempt(&mut self, out: &mut Vec<Output>) {
        let ms = pace::attempt_ms(self.timeout_ms, self.hosts.count());
        self.pace.wake(Timer::Attempt, ms, out);
    }

    /// Sees to it that a session of which nothing is heard any more ends here as well.
    fn start_expiry(&mut self, now: Millis, out: &mut Vec<Output>) {
        if self.session.is_some() {
            let silent_ms = pace::between(self.pace.heard, now);
            let ms = pace::expiry_ms(self.timeout_ms).saturating_sub(silent_ms);
            self.pace.wake(Timer::Expiry, ms, out);
        }
    }

    pub(super) fn on_connected(&mut self, now: Millis, line: Line, out: &mut Vec<Output>) {
        let Phase::Dialling { line: dialled, host } = &self.phase else { return };
        if *dialled != line {
            return;
        }
        self.phase = Phase::Greeting { line, host: host.clone() };
        self.reached = true;
        // A server that takes the connection counts as heard, as with the Java client.
        (self.pace.heard, self.pace.sent) = (now, now);
        self.start_expiry(now, out);
        let id = self.session.filter(|_| self.session_is_real);
        let password = self.session.map_or([0; 16], |session| session.password);
        let request = ConnectRequest {
            last_zxid_seen: self.zxid_last,
            timeout_ms: self.requested_ms.cast_signed(),
            session: id.map_or(SessionId::NONE, |session| session.id),
            password: Some(Arc::from(&password[..])),
            read_only: Some(self.read_only),
        };
        out.push(Output::Send { line, frame: Frame::Connect(request) });
        self.start_attempt(out);
    }

    pub(super) fn on_greeted(
        &mut self,
        now: Millis,
        response: &ConnectResponse,
        out: &mut Vec<Output>,
    ) {
        let Phase::Greeting { line, host } = &self.phase else { return };
        let (line, host) = (*line, host.clone());
        let Some(timeout_ms) = u32::try_from(response.timeout_ms).ok().filter(|ms| *ms > 0) else {
            self.tell(SessionState::Expired, out);
            self.over(End::Expired, out);
            return self.tell_closed(out);
        };
        self.pace.disarm(Timer::Attempt, out);
        self.pace.disarm(Timer::Expiry, out);
        self.hosts.on_connected();
        self.timeout_ms = timeout_ms;
        let ConnectResponse { session: id, password, .. } = *response;
        self.session = (id != SessionId::NONE).then_some(Session { id, password });
        let read_only = response.read_only.unwrap_or(false);
        self.session_is_real |= !read_only;
        self.phase = Phase::Open { line, host, read_only };
        self.tell(
            if read_only { SessionState::ConnectedReadOnly } else { SessionState::SyncConnected },
            out,
        );
        self.resume(out);
        if read_only && !self.closing {
            match self.probe.due_ms(now) {
                0 => self.ask_around(now, out),
                ms => self.pace.wake(Timer::Probe, ms, out),
            }
        }
    }

    /// Sends what comes first on a new connection: credentials, watches, and what has waited.
    ///
    /// As the Java client puts each of them before the others, they come in reverse: the last
    /// credentials first, and the last batch of watches.
    fn resume(&mut self, out: &mut Vec<Output>) {
        for (scheme, auth) in self.auths.iter().rev() {
            let (scheme, auth) = (Some(scheme.clone()), Some(auth.clone()));
            self.send(Xid::AUTH, Request::Auth { scheme, auth }, out);
        }
        if self.rewatch {
            let batches = self.watches.batches(self.zxid_last);
            for batch in batches.into_iter().rev() {
                let request = Request::SetWatches(batch);
                let xid = self.calls.send(&request, Asked::by_client());
                self.send(xid, request, out);
            }
        }
        while let Some((request, asked)) = self.calls.unqueue() {
            let xid = self.calls.send(&request, asked);
            self.send(xid, request, out);
        }
    }

    /// Asks the next server whether it can write.
    pub(super) fn ask_around(&mut self, now: Millis, out: &mut Vec<Output>) {
        let (probe, host) = self.probe.ask(now, &mut self.hosts);
        out.push(Output::Probe { probe, host });
        let ms = self.probe.due_ms(now);
        self.pace.wake(Timer::Probe, ms, out);
    }

    pub(super) fn on_servers(
        &mut self,
        now: Millis,
        servers: &ServerList,
        chance: Chance,
        out: &mut Vec<Output>,
    ) {
        let connected = self.server().cloned();
        if self.hosts.update(servers, connected.as_ref(), chance) {
            // What was found may be gone; and this is about spreading out.
            self.probe.found = None;
            self.hang_up(now, out);
        }
    }

    /// Gives up the line in use, if there is one.
    pub(super) fn hang_up(&mut self, now: Millis, out: &mut Vec<Output>) {
        if self.line().is_some() {
            self.drop_line(out);
            self.lost(now, out);
        }
    }

    pub(super) fn drop_line(&mut self, out: &mut Vec<Output>) {
        if let Some(line) = self.line() {
            out.push(Output::HangUp { line });
        }
    }

    /// The line in use is gone: fails all calls, tells watchers, and tries again.
    pub(super) fn lost(&mut self, now: Millis, out: &mut Vec<Output>) {
        for timer in [Timer::Attempt, Timer::Ping, Timer::Probe, Timer::Silence] {
            self.pace.disarm(timer, out);
        }
        self.probe.stop();
        self.phase = Phase::Waiting;
        self.fail_all(Failed::ConnectionLoss, out);
        self.tell(SessionState::Disconnected, out);
        if self.closing {
            self.over(End::Closed, out);
            return self.tell(SessionState::Closed, out);
        }
        if !self.pace.is_running(Timer::Expiry) {
            self.start_expiry(now, out);
        }
        let rests = self.probe.found.is_none() && self.hosts.is_round_over();
        let ms = if rests { ROUND_OVER_MS } else { 0 };
        let spread_ms = if self.reached { REDIAL_SPREAD_MS } else { 0 };
        if ms + spread_ms == 0 {
            self.dial(out);
        } else {
            self.pace.wake_within(Timer::Redial, ms, spread_ms, out);
        }
    }

    /// Nothing was heard of the session for so long that it must be over.
    pub(super) fn expire(&mut self, out: &mut Vec<Output>) {
        let end = if self.closing { End::Closed } else { End::Expired };
        self.over(End::Expired, out);
        self.phase = Phase::Over(end);
        self.tell(end.state(), out);
    }
}
