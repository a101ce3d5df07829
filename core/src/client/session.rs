//! The client itself: where its session stands, and which input goes where.
//!
//! ```text
//!               Start                Connected              Greeted
//!   NotConnected ---> dialling ------------------> greeting ---------> Connected,
//!                      ^    ^                         |                ConnectedReadOnly
//!          Redial      |    | no answer in time,      |                        |
//!        (a while)     |    | refused, lost           v   lost, silent, garbled|
//!                     waiting <-----------------------+<-----------------------+
//!
//!   from anywhere:  Closed       the application closed it, and the server knows or cannot be told
//!                   Expired      a server says so, or nothing was heard for too long
//!                   AuthFailed   a server did not take our credentials
//! ```
//!
//! Each attempt to connect decides for all calls that were made since the last one failed: they
//! are sent if it succeeds, and fail with it if it does not.
//!
//! How connections come and go is in `connection.rs`; how calls end, in `outcome.rs`.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::num::NonZeroU32;

use super::address::Address;
use super::answer::Shape;
use super::call::{After, Call, Made};
use super::calls::{Asked, Calls};
use super::chance::Chance;
use super::chroot::Chroot;
use super::config::{Config, Session};
use super::error::Failed;
use super::events::{Events, SessionState};
use super::hosts::Hosts;
use super::io::{CallId, Frame, Input, Line, Output, Timer};
use super::pace::{self, Pace};
use super::probe::Probe;
use super::state::{End, Expected, Phase, State};
use super::watches::Watches;
use crate::Text;
use crate::ids::{Millis, Xid, Zxid};
use crate::request::{Body, Request};
use crate::wire;

/// One client: see the [module](super).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Client {
    pub(super) chroot: Chroot,
    pub(super) read_only: bool,
    pub(super) rewatch: bool,
    pub(super) requested_ms: u32,
    request_timeout_ms: Option<NonZeroU32>,

    pub(super) hosts: Hosts,
    pub(super) phase: Phase,
    /// Of all lines so far, so that none has the number of another.
    pub(super) lines: u64,
    /// Whether a line was ever up. Before, no other client can be in step with this one, and
    /// there is no reason to wait before dialling.
    pub(super) reached: bool,
    pub(super) pace: Pace,
    pub(super) probe: Probe,

    pub(super) session: Option<Session>,
    /// What the server agreed to, or before that what the client wishes.
    pub(super) timeout_ms: u32,
    /// Whether a server that can write knows the session. One that only reads makes up its own,
    /// which is nothing to anybody else.
    pub(super) session_is_real: bool,
    pub(super) zxid_last: Zxid,
    /// In the order in which the application gave them.
    pub(super) auths: Vec<(Text, Arc<[u8]>)>,
    /// Whether the application wants the session to end: then no attempt to connect follows the
    /// one under way.
    pub(super) closing: bool,

    pub(super) calls: Calls,
    pub(super) watches: Watches,
    pub(super) events: Events,
}

impl Client {
    /// A client that has not begun yet; [`Input::Start`] makes it.
    ///
    /// To shuffle its servers it takes a draw less than there are.
    #[must_use]
    pub fn new(config: Config, mut chance: Chance) -> Self {
        let Config {
            connect,
            timeout_ms,
            read_only,
            session,
            default_watcher,
            rewatch,
            request_timeout_ms,
        } = config;
        Self {
            chroot: connect.chroot,
            read_only,
            rewatch,
            requested_ms: timeout_ms,
            request_timeout_ms,
            hosts: Hosts::new(&connect.servers, &mut chance),
            phase: Phase::New,
            lines: 0,
            reached: false,
            pace: Pace::default(),
            probe: Probe::new(Millis(0)),
            session,
            timeout_ms,
            session_is_real: session.is_some(),
            zxid_last: Zxid::ZERO,
            auths: Vec::new(),
            closing: false,
            calls: Calls::new(),
            watches: Watches::default(),
            events: Events::new(default_watcher),
        }
    }

    /// What it is doing.
    #[must_use]
    pub const fn state(&self) -> State {
        match self.phase {
            Phase::New => State::NotConnected,
            Phase::Dialling { .. } | Phase::Greeting { .. } | Phase::Waiting => State::Connecting,
            Phase::Open { read_only: false, .. } => State::Connected,
            Phase::Open { read_only: true, .. } => State::ConnectedReadOnly,
            Phase::Over(End::AuthFailed) => State::AuthFailed,
            Phase::Over(End::Closed) => State::Closed,
            Phase::Over(End::Expired) => State::Expired,
        }
    }

    /// Its session, to go on with elsewhere.
    #[must_use]
    pub const fn session(&self) -> Option<Session> {
        self.session
    }

    /// How long its session may go unheard of: what the server agreed to or, before that, what it
    /// was told to ask for.
    #[must_use]
    pub const fn timeout_ms(&self) -> u32 {
        self.timeout_ms
    }

    /// The newest transaction it has heard of in a reply.
    #[must_use]
    pub const fn zxid_last(&self) -> Zxid {
        self.zxid_last
    }

    /// How many calls have no answer yet.
    #[must_use]
    pub fn calls_open(&self) -> usize {
        self.calls.count()
    }

    /// The server that it is connected to.
    #[must_use]
    pub const fn server(&self) -> Option<&Address> {
        match &self.phase {
            Phase::Greeting { host, .. } | Phase::Open { host, .. } => Some(host),
            Phase::Dialling { .. } | Phase::New | Phase::Over(_) | Phase::Waiting => None,
        }
    }

    /// What the next frame on a line must be, given all inputs before it.
    #[must_use]
    pub fn expected(&self, on: Line) -> Expected {
        match &self.phase {
            Phase::Greeting { line, .. } if *line == on => Expected::Greeting,
            Phase::Open { line, .. } if *line == on => {
                let next = self.calls.expected();
                Expected::Answer(next.map_or(Shape::None, |(_, shape)| shape))
            }
            Phase::Dialling { .. }
            | Phase::Greeting { .. }
            | Phase::New
            | Phase::Open { .. }
            | Phase::Over(_)
            | Phase::Waiting => Expected::Nothing,
        }
    }

    /// The input that a frame's bytes are, without the length before them. To be taken before the
    /// next frame is read.
    #[must_use]
    pub fn read(&self, line: Line, payload: &[u8]) -> Input {
        let input =
            match self.expected(line) {
                Expected::Answer(shape) => wire::decode_answer(payload, shape)
                    .map(|answer| Input::Answered { line, answer }),
                Expected::Greeting => wire::decode_connected(payload)
                    .map(|response| Input::Greeted { line, response }),
                Expected::Nothing => return Input::Garbled { line },
            };
        input.unwrap_or(Input::Garbled { line })
    }

    /// Takes one input to its end.
    ///
    /// `now` is a steady clock. It only serves to know how long ago something was heard when a
    /// connection is lost, and how long a call has waited; a timer that is said to have run out
    /// has run out, whatever the clock shows.
    pub fn step(&mut self, now: Millis, input: Input, out: &mut Vec<Output>) {
        let before = out.len();
        let mut heard = false;
        match input {
            Input::AddAuth { scheme, auth } => self.on_auth(scheme, auth, out),
            Input::Answered { line, answer } if self.is_open(line) => {
                heard = true;
                self.pace.heard = now;
                self.on_answer(now, answer, out);
            }
            Input::Call { id, call } => self.on_call(now, id, call, out),
            Input::Close { id } => self.on_close(now, id, out),
            Input::Connected { line } => self.on_connected(now, line, out),
            Input::DefaultWatcher(watcher) => self.events.default = watcher,
            Input::Disconnected { line } | Input::Refused { line } if self.is_on(line) => {
                self.lost(now, out);
            }
            Input::Greeted { line, response } if self.is_greeting(line) => {
                heard = true;
                self.pace.heard = now;
                self.on_greeted(now, &response, out);
            }
            // What does not belong here ends the line as surely as what cannot be read.
            Input::Answered { line, .. }
            | Input::Garbled { line }
            | Input::Greeted { line, .. }
                if self.is_on(line) =>
            {
                self.hang_up(now, out);
            }
            // From a line that was given up.
            Input::Answered { .. }
            | Input::Disconnected { .. }
            | Input::Garbled { .. }
            | Input::Greeted { .. }
            | Input::Refused { .. } => {}
            Input::Probed { probe, writable } => {
                if self.probe.answered(probe, writable) {
                    self.hang_up(now, out);
                }
            }
            Input::Servers { servers, chance } => self.on_servers(now, &servers, chance, out),
            Input::Start => self.on_start(now, out),
            Input::Timeout(timer) => {
                // One that was disarmed may have run out at the same moment.
                if self.pace.ran_out(timer) {
                    self.on_timeout(now, timer, out);
                }
            }
        }
        self.keep_pace(now, heard, before, out);
        self.assert_invariants();
    }

    /// Starts the timers that follow from what was said and heard in this step.
    fn keep_pace(&mut self, now: Millis, heard: bool, before: usize, out: &mut Vec<Output>) {
        if let Phase::Open { .. } = self.phase {
            let silence_ms = pace::silence_ms(self.timeout_ms);
            let sends = |output: &Output| matches!(output, Output::Send { .. });
            if out[before..].iter().any(sends) {
                self.pace.sent = now;
                self.pace.wake(Timer::Ping, pace::ping_ms(silence_ms), out);
            } else if !self.pace.is_running(Timer::Ping) {
                let idle_ms = pace::between(self.pace.sent, now);
                self.pace.wake(Timer::Ping, pace::ping_ms(silence_ms).saturating_sub(idle_ms), out);
            }
            if heard {
                self.pace.wake(Timer::Silence, silence_ms, out);
            }
        }
        if let Some(most_ms) = self.request_timeout_ms {
            let due = self.calls.oldest().map(|since| Millis(since.0 + i64::from(most_ms.get())));
            self.pace.request_until(now, due, out);
        }
    }

    fn on_timeout(&mut self, now: Millis, timer: Timer, out: &mut Vec<Output>) {
        match timer {
            Timer::Attempt => self.hang_up(now, out),
            Timer::Expiry => self.expire(out),
            Timer::Ping => self.send(Xid::PING, Request::Ping, out),
            Timer::Probe => self.ask_around(now, out),
            Timer::Redial => self.dial(out),
            Timer::Request => self.give_up_oldest(now, out),
            Timer::Silence => {
                // A host that slept may find that more than the connection is over.
                let silent_ms = pace::between(self.pace.heard, now);
                if self.session.is_some() && silent_ms >= pace::expiry_ms(self.timeout_ms) {
                    self.expire(out);
                } else {
                    self.hang_up(now, out);
                }
            }
        }
    }

    fn on_auth(&mut self, scheme: Text, auth: Arc<[u8]>, out: &mut Vec<Output>) {
        if !self.state().is_alive() {
            return;
        }
        self.auths.push((scheme.clone(), auth.clone()));
        // Otherwise it is sent with the others as soon as there is a connection. The Java client
        // then sends it twice.
        if let Phase::Open { .. } = self.phase {
            self.send(Xid::AUTH, Request::Auth { scheme: Some(scheme), auth: Some(auth) }, out);
        }
    }

    fn on_call(&mut self, now: Millis, id: CallId, call: Call, out: &mut Vec<Output>) {
        match call.make(&self.chroot) {
            Ok(Made::Ask(request, after)) => {
                let asked = Asked { id: Some(id), after, since: now };
                self.ask(request, asked, out);
            }
            Ok(Made::Done(body)) => {
                out.push(Output::Complete { id, zxid: Zxid::NONE, result: Ok(body) });
            }
            Err(failed) => {
                out.push(Output::Complete { id, zxid: Zxid::NONE, result: Err(failed) });
            }
        }
    }

    fn on_close(&mut self, now: Millis, id: CallId, out: &mut Vec<Output>) {
        match self.phase {
            Phase::Over(_) => {
                out.push(Output::Complete { id, zxid: Zxid::NONE, result: Ok(Body::None) });
            }
            Phase::New => {
                self.over(End::Closed, out);
                out.push(Output::Complete { id, zxid: Zxid::NONE, result: Ok(Body::None) });
                self.tell(SessionState::Closed, out);
            }
            Phase::Dialling { .. }
            | Phase::Greeting { .. }
            | Phase::Open { .. }
            | Phase::Waiting => {
                let asked = Asked { id: Some(id), after: After::Close, since: now };
                self.ask(Request::CloseSession, asked, out);
                self.closing = true;
                self.probe.stop();
                self.pace.disarm(Timer::Probe, out);
            }
        }
    }

    /// Sends a request, or keeps it until it can be sent, or fails it if it never will be.
    pub(super) fn ask(&mut self, request: Request, asked: Asked, out: &mut Vec<Output>) {
        if let Phase::Over(end) = self.phase {
            self.finish(asked, Zxid::NONE, Err(end.failure()), out);
        } else if self.closing {
            // Nothing comes after the end of a session.
            self.finish(asked, Zxid::NONE, Err(Failed::ConnectionLoss), out);
        } else if let Phase::Open { .. } = self.phase {
            let xid = self.calls.send(&request, asked);
            self.send(xid, request, out);
        } else {
            self.calls.queue(request, asked);
        }
    }

    /// Puts a frame on the line that is open.
    pub(super) fn send(&self, xid: Xid, request: Request, out: &mut Vec<Output>) {
        if let Phase::Open { line, .. } = self.phase {
            out.push(Output::Send { line, frame: Frame::Request(xid, request) });
        }
    }

    /// Tells watchers what has become of the session.
    pub(super) fn tell(&mut self, state: SessionState, out: &mut Vec<Output>) {
        self.events.session(state, &self.watches, out);
        if !self.rewatch && state != SessionState::SyncConnected {
            self.watches.forget_one_shot();
        }
    }

    /// Tells watchers that the client is closed, if it was to be.
    pub(super) fn tell_closed(&mut self, out: &mut Vec<Output>) {
        if self.closing {
            self.phase = Phase::Over(End::Closed);
            self.tell(SessionState::Closed, out);
        }
    }

    /// Ends for good. What watchers are told of it comes before or after; that differs.
    pub(super) fn over(&mut self, end: End, out: &mut Vec<Output>) {
        self.drop_line(out);
        for timer in Timer::ALL {
            self.pace.disarm(timer, out);
        }
        self.phase = Phase::Over(end);
        self.fail_all(end.failure(), out);
    }

    /// Checks what must hold between inputs.
    ///
    /// # Panics
    /// If it does not.
    pub fn assert_invariants(&self) {
        let runs = |timer| self.pace.is_running(timer);
        let is_open = matches!(self.phase, Phase::Open { .. });
        let is_trying = match self.phase {
            Phase::Dialling { .. } | Phase::Greeting { .. } => true,
            Phase::New | Phase::Open { .. } | Phase::Over(_) | Phase::Waiting => false,
        };
        let is_waiting = self.phase == Phase::Waiting;
        assert_eq!(runs(Timer::Redial), is_waiting, "redialling while {:?}", self.phase);
        assert_eq!(runs(Timer::Attempt), is_trying, "an attempt while {:?}", self.phase);
        assert_eq!(runs(Timer::Ping), is_open, "pings while {:?}", self.phase);
        assert_eq!(runs(Timer::Silence), is_open, "listening while {:?}", self.phase);
        let can_expire = self.session.is_some() && (is_trying || is_waiting);
        assert_eq!(runs(Timer::Expiry), can_expire, "expiring while {:?}", self.phase);
        let is_looking = self.state() == State::ConnectedReadOnly && !self.closing;
        assert_eq!(runs(Timer::Probe), is_looking, "probing while {:?}", self.phase);
        assert!(is_open || !self.calls.is_waiting(), "waiting for answers while {:?}", self.phase);
        assert!(!is_open || !self.calls.is_queueing(), "not sent though there is a connection");
        if let Phase::Over(_) = self.phase {
            assert!(self.pace.is_idle(), "a timer after the end");
            assert_eq!(self.calls.count(), 0, "a call after the end");
        }
        // These look at everything there is, which a step does not.
        if cfg!(debug_assertions) {
            self.calls.assert_invariants();
            self.watches.assert_invariants();
        }
    }
}
