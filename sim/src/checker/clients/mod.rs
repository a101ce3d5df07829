//! Promises to clients, held against what each of them says and hears.
//!
//! ```text
//!   committed ---> Past: what each transaction did -----------------------+
//!   said      ---> Armed: what the server watches for the connection ---> due: what must be told
//!   called    ---> Watching: which watchers are to hear of it                before a reply
//! ```
//!
//! A connection is held against the server, an application against its client: what a server
//! tells too late, twice, or not at all is seen where it arrives, before the client has made
//! anything of it.

mod armed;
mod past;
mod watching;

use std::collections::VecDeque;

use zoolab_core::client::{CallId, Failed, Frame, Notice, SessionState, WatcherId};
use zoolab_core::request::{Body, ConnectResponse, Event, EventKind, SetWatches};
use zoolab_core::{Code, ConnId, Reply, Request, SessionId, Text, Xid, Zxid};

use self::armed::{Arm, Armed, Due};
use self::past::Past;
use self::watching::{Intent, Watching};
use super::judge::Judge;
use super::ledger::Ledger;
use super::promise::{Promise, Violation};
use crate::heard::Heard;
use crate::step::ClientId;
use crate::world::client::Down;

/// So many events are remembered, to know one that comes twice.
const TOLD_MOST: usize = 64;

/// What is known of one connection, while it is open.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Line {
    conn: ConnId,
    /// Requests without a reply, in order, and what each arms.
    asked: VecDeque<(Xid, Arm)>,
    armed: Armed,
    /// What has been held against the watches.
    upto: Zxid,
    /// What must be told before the next reply.
    due: VecDeque<Due>,
    /// What was told as missed, since the last reply.
    missed: Vec<Due>,
    /// What was told, the newest last.
    told: VecDeque<Due>,
    /// What it was asked to watch again; until its first reply.
    again: Option<Vec<SetWatches>>,
}

/// What is known of one client.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
struct Who {
    chroot: Chroot,
    session: Option<SessionId>,
    /// The newest state that the session has seen through this client.
    seen: Zxid,
    /// Whether it was told that its session is over.
    over: bool,
    /// Calls without a result, in order.
    open: VecDeque<(CallId, Intent)>,
    /// The call just made, as long as nothing else has happened.
    fresh: Option<CallId>,
    line: Option<Line>,
    watching: Watching,
    /// Whom it is to tell of what now.
    to_tell: Option<(EventKind, Text, Vec<WatcherId>)>,
}

/// What a client takes for the root.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Chroot(Text);

impl Default for Chroot {
    fn default() -> Self {
        Self("/".into())
    }
}

/// See the [module](self).
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(super) struct Clients {
    past: Past,
    all: Vec<Who>,
}

impl Clients {
    pub(super) fn observe(
        &mut self,
        client: ClientId,
        heard: &Heard,
        ledger: &Ledger,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        let place = usize::from(client.0);
        if self.all.len() <= place {
            self.all.resize(place + 1, Who::default());
        }
        if let Heard::Told { .. } = heard {
            self.past.advance(ledger);
        }
        self.all[place].observe(client, heard, &self.past, judge)
    }
}

impl Who {
    fn observe(
        &mut self,
        me: ClientId,
        heard: &Heard,
        past: &Past,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        if !matches!(heard, Heard::Notified { notice: Notice::Node { .. }, .. }) {
            self.all_told(me, judge)?;
        }
        let fresh = self.fresh;
        // These may come between a call and a result that needs no server.
        if !matches!(
            heard,
            Heard::Said { .. } | Heard::Notified { notice: Notice::WatchRemoved { .. }, .. }
        ) {
            self.fresh = None;
        }
        match heard {
            Heard::Began { chroot, session: _ } => {
                *self = Self { chroot: Chroot(chroot.clone()), ..Self::default() };
                Ok(())
            }
            Heard::Called { call, what } => {
                self.called(*call, Intent::of(what));
                Ok(())
            }
            Heard::Closing { call } => {
                self.called(*call, Intent::Nothing);
                Ok(())
            }
            Heard::Connected { conn, server: _ } => {
                self.line = Some(Line::new(*conn));
                Ok(())
            }
            Heard::GaveUp { .. } => Ok(()),
            Heard::Gone => {
                *self = Self::default();
                Ok(())
            }
            Heard::Notified { notice, to } => self.notified(me, notice, to, judge),
            Heard::Parted { conn } => {
                self.line.take_if(|line| line.conn == *conn);
                Ok(())
            }
            Heard::Returned { call, zxid, result } => {
                self.returned(me, (*call, fresh), *zxid, result, judge)
            }
            Heard::Said { conn, frame } => {
                if let Some(line) = self.line.as_mut().filter(|line| line.conn == *conn)
                    && let Frame::Request(xid, request) = &**frame
                {
                    line.said(*xid, request);
                }
                Ok(())
            }
            Heard::Told { conn, frame } => self.told(me, *conn, frame, past, judge),
        }
    }

    fn called(&mut self, call: CallId, intent: Intent) {
        self.open.push_back((call, intent));
        self.fresh = Some(call);
    }

    fn returned(
        &mut self,
        me: ClientId,
        (call, fresh): (CallId, Option<CallId>),
        zxid: Zxid,
        result: &Result<Body, Failed>,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        let place = self.open.iter().position(|(open, _)| *open == call);
        let what = || format!("{me} got a result of call {}, which has none to come", call.0);
        judge.holds(Promise::CallOnce, place.is_some(), what)?;
        let Some(place) = place else { return Ok(()) };
        // What no server need be asked to know is known at once.
        let at_once = fresh == Some(call) && zxid == Zxid::NONE;
        judge.holds(Promise::CallOrder, place == 0 || at_once, || {
            let before = self.open[0].0.0;
            format!("{me} got the result of call {} before that of call {before}", call.0)
        })?;
        judge.holds(Promise::SessionSilent, !self.over || zxid == Zxid::NONE, || {
            format!("{me} got the result of call {} after its session was over", call.0)
        })?;
        if let Some((_, intent)) = self.open.remove(place) {
            self.watching.ended(&intent, result);
        }
        Ok(())
    }

    /// Whatever was to be told at once has been.
    fn all_told(&mut self, me: ClientId, judge: &mut Judge<'_>) -> Result<(), Violation> {
        let Some((kind, path, to)) = self.to_tell.take() else { return Ok(()) };
        judge.holds(Promise::WatchKept, to.is_empty(), || {
            format!("{me} did not tell {to:?} of {kind:?} at {path}")
        })
    }

    fn notified(
        &mut self,
        me: ClientId,
        notice: &Notice,
        to: &[WatcherId],
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        match notice {
            Notice::Node { kind, path, zxid: _ } => {
                let due = self.to_tell.take();
                let fits =
                    |(of, at, _): &&(EventKind, Text, Vec<WatcherId>)| (of, at) == (kind, path);
                let due = due.as_ref().filter(fits).map_or(&[][..], |(_, _, due)| due);
                let extra = to.iter().find(|watcher| !due.contains(watcher));
                judge.holds(Promise::WatchTrue, extra.is_none(), || {
                    format!("{me} told {to:?} of {kind:?} at {path}, due to hear are {due:?}")
                })?;
                judge.holds(Promise::WatchKept, due.len() == to.len(), || {
                    format!("{me} told {to:?} of {kind:?} at {path}, due to hear are {due:?}")
                })
            }
            Notice::Session(state) => {
                self.over |= match state {
                    SessionState::AuthFailed | SessionState::Closed | SessionState::Expired => true,
                    SessionState::ConnectedReadOnly
                    | SessionState::Disconnected
                    | SessionState::SyncConnected => false,
                };
                Ok(())
            }
            Notice::WatchRemoved { .. } => Ok(()),
        }
    }

    fn told(
        &mut self,
        me: ClientId,
        conn: ConnId,
        frame: &Down,
        past: &Past,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        let Some(mut line) = self.line.take_if(|line| line.conn == conn) else { return Ok(()) };
        let told = match frame {
            Down::Connected(response) => {
                self.greeted(response);
                Ok(())
            }
            Down::End => Ok(()),
            Down::Event(event) => self.event(me, &mut line, event, past, judge),
            Down::Reply(reply) => self.reply(me, &mut line, reply, past, judge),
        };
        self.line = Some(line);
        told
    }

    fn greeted(&mut self, response: &ConnectResponse) {
        if response.timeout_ms > 0 && self.session != Some(response.session) {
            self.session = Some(response.session);
            self.seen = Zxid::ZERO;
        }
    }

    fn event(
        &mut self,
        me: ClientId,
        line: &mut Line,
        event: &Event,
        past: &Past,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        let Event { kind, path, zxid: _ } = event;
        line.event(me, event, past, judge)?;
        let path_here = watching::to_client(path, &self.chroot.0);
        let to = self.watching.fire(*kind, &path_here);
        if !to.is_empty() {
            self.to_tell = Some((*kind, path_here, to.into_iter().collect()));
        }
        Ok(())
    }

    fn reply(
        &mut self,
        me: ClientId,
        line: &mut Line,
        reply: &Reply,
        past: &Past,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        let Reply { xid, zxid, err, body: _ } = reply;
        if *xid == Xid::AUTH {
            return Ok(());
        }
        if let Some(asked) = line.again.take() {
            let left_out = self.watching.left_out(&asked, &self.chroot.0);
            judge.holds(Promise::WatchKept, left_out.is_none(), || {
                let path = left_out.map_or("", |path| path);
                format!("{me} came back and did not watch {path} again")
            })?;
        }
        if *zxid > Zxid::ZERO {
            let seen = self.seen;
            judge.holds(Promise::SessionForward, *zxid >= seen, || {
                format!("{me} was shown {zxid} after {seen}")
            })?;
            self.seen = seen.max(*zxid);
            let over = self.session.and_then(|session| past.closed(session));
            let over = over.filter(|over| over < zxid && err.is_none());
            judge.holds(Promise::SessionSilent, over.is_none(), || {
                let over = over.unwrap_or_default();
                format!("{me} was answered at {zxid}, its session ended at {over}")
            })?;
        }
        line.reply(me, reply, past, judge)
    }
}

impl Line {
    fn new(conn: ConnId) -> Self {
        Self {
            conn,
            asked: VecDeque::new(),
            armed: Armed::default(),
            upto: Zxid::ZERO,
            due: VecDeque::new(),
            missed: Vec::new(),
            told: VecDeque::new(),
            again: Some(Vec::new()),
        }
    }

    fn said(&mut self, xid: Xid, request: &Request) {
        if xid == Xid::AUTH || xid == Xid::PING {
            return;
        }
        #[expect(clippy::wildcard_enum_match_arm, reason = "only what is about watches")]
        let arm = match request {
            Request::AddWatch { path, mode: 0 } => Arm::Persistent(path.clone()),
            Request::AddWatch { path, .. } => Arm::Recursive(path.clone()),
            Request::Exists { path, watch: true } => Arm::Exists(path.clone()),
            Request::GetChildren { path, watch: true, .. } => Arm::Children(path.clone()),
            Request::GetData { path, watch: true } => Arm::Data(path.clone()),
            Request::RemoveWatches { path, kind } => Arm::Remove(path.clone(), *kind),
            Request::SetWatches(lists) => {
                if let Some(again) = &mut self.again {
                    again.push(lists.clone());
                }
                Arm::Again(Box::new(lists.clone()))
            }
            _ => Arm::Nothing,
        };
        self.asked.push_back((xid, arm));
    }

    /// What is due by the time that a server is as far as this.
    fn advance(&mut self, upto: Zxid, past: &Past) {
        if upto <= self.upto {
            return;
        }
        if !self.armed.is_empty() {
            for (zxid, triggers) in past.between(self.upto, upto) {
                for trigger in triggers {
                    self.armed.fire(*zxid, trigger, &mut self.due);
                }
            }
        }
        self.upto = upto;
    }

    fn event(
        &mut self,
        me: ClientId,
        event: &Event,
        past: &Past,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        let Event { kind, path, zxid } = event;
        let this = Due { zxid: *zxid, kind: *kind, path: path.clone() };
        let say = |what: &str| format!("{me} was told of {kind:?} at {path} by {zxid}, {what}");
        if *zxid == Zxid::NONE {
            let asked = matches!(self.asked.front(), Some((_, Arm::Again(_))));
            judge.holds(Promise::WatchTrue, asked, || say("and has missed nothing"))?;
            self.missed.push(this);
            return Ok(());
        }
        self.advance(*zxid, past);
        let place = self.due.iter().position(|due| *due == this);
        let Some(place) = place else {
            let again = self.told.contains(&this);
            judge.holds(Promise::WatchOnce, !again, || say("and had been already"))?;
            return judge.holds(Promise::WatchTrue, again, || say("which it does not watch"));
        };
        judge.holds(Promise::WatchOrder, place == 0, || {
            let first = &self.due[0];
            say(&format!("before {:?} at {} by {}", first.kind, first.path, first.zxid))
        })?;
        self.due.remove(place);
        if self.told.len() == TOLD_MOST {
            self.told.pop_front();
        }
        self.told.push_back(this);
        Ok(())
    }

    fn reply(
        &mut self,
        me: ClientId,
        reply: &Reply,
        past: &Past,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        let Reply { xid, zxid, err, body: _ } = reply;
        if *zxid > Zxid::ZERO {
            self.advance(*zxid, past);
        }
        let first = self.due.pop_front();
        judge.holds(Promise::WatchFirst, first.is_none(), || {
            let due =
                first.as_ref().map(|due| format!("{:?} at {} by {}", due.kind, due.path, due.zxid));
            format!("{me} was shown {zxid} before it was told of {}", due.unwrap_or_default())
        })?;
        self.due.clear();
        let fits = self.asked.front().is_some_and(|(asked, _)| asked == xid);
        judge.holds(Promise::CallOrder, fits, || {
            let due = self.asked.front().map(|(asked, _)| asked.0);
            format!("{me} was answered request {}, due was {due:?}", xid.0)
        })?;
        let Some((_, arm)) = self.asked.pop_front() else { return Ok(()) };
        self.arm(me, &arm, *zxid, *err, past, judge)
    }

    fn arm(
        &mut self,
        me: ClientId,
        arm: &Arm,
        zxid: Zxid,
        err: Option<Code>,
        past: &Past,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        let done = err.is_none();
        match arm {
            Arm::Children(path) if done => self.armed.children(path),
            Arm::Data(path) if done => self.armed.data(path),
            Arm::Exists(path) if done || err == Some(Code::NoNode) => self.armed.data(path),
            Arm::Persistent(path) if done => self.armed.persistent(path),
            Arm::Recursive(path) if done => self.armed.recursive(path),
            Arm::Remove(path, kind) if done => self.armed.remove(path, *kind),
            Arm::Again(lists) if done => {
                let due = self.armed.again(lists, zxid, past);
                let told = std::mem::take(&mut self.missed);
                let lost = due.iter().find(|due| !told.contains(due));
                judge.holds(Promise::WatchKept, lost.is_none(), || {
                    let lost = lost.map(|lost| format!("{:?} at {}", lost.kind, lost.path));
                    let lost = lost.unwrap_or_default();
                    format!("{me} came back at {zxid} and was not told of {lost}")
                })?;
                let extra = told.iter().find(|told| !due.contains(told));
                judge.holds(Promise::WatchTrue, extra.is_none(), || {
                    let extra = extra.map(|extra| format!("{:?} at {}", extra.kind, extra.path));
                    let extra = extra.unwrap_or_default();
                    format!("{me} came back at {zxid} and was told of {extra}, which was not")
                })?;
                judge.holds(Promise::WatchOnce, told.len() == due.len(), || {
                    format!("{me} came back at {zxid} and was told something twice")
                })?;
            }
            Arm::Again(_)
            | Arm::Children(_)
            | Arm::Data(_)
            | Arm::Exists(_)
            | Arm::Nothing
            | Arm::Persistent(_)
            | Arm::Recursive(_)
            | Arm::Remove(..) => {}
        }
        Ok(())
    }
}
