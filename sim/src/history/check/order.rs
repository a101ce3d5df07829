//! Positions against moments: real time, and the order in which each client asked.

use std::collections::BTreeMap;

use super::promise::Promise;
use super::report::{Finding, Report, Verdict};
use super::tell;
use crate::history::store::{Asked, Effect, History, NEVER, Told};

/// What became of an update without an answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Fate {
    /// Nobody knows.
    Open,
    /// It took effect here.
    Placed(i64),
    /// It was refused here.
    Refused(i64),
    /// It never had a place.
    Never,
    /// It was taken to have taken effect somewhere, to explain an answer.
    Guessed,
}

/// An update without an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hidden {
    pub(super) op: u32,
    pub(super) session: u32,
    /// If it has a place, it is after this one,
    pub(super) lo: i64,
    /// and before this one.
    pub(super) hi: i64,
    pub(super) fate: Fate,
}

/// The end of a session.
#[derive(Clone, Copy, Debug)]
pub(super) struct Close {
    pub(super) zxid: i64,
    /// Whether the client wanted it.
    pub(super) wanted: bool,
}

/// What is known of a session's positions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    /// The newest it has seen.
    pub(super) last: i64,
    pub(super) close: Option<Close>,
    /// Whether its client asked for its end.
    pub(super) closing: bool,
}

/// All positions.
#[derive(Debug)]
pub(super) struct Order {
    /// Answered operations by position, updates before reads: twice the zxid, and one for reads.
    pub(super) keys: Vec<(u64, u32)>,
    pub(super) hidden: Vec<Hidden>,
    /// By session.
    pub(super) spans: Vec<Span>,
    /// The newest that was answered on each connection.
    pub(super) conn_last: Vec<i64>,
    /// Whether the log says what became of every update.
    pub(super) exact: bool,
    /// The oldest position that is spoken of.
    pub(super) first: i64,
}

/// Positions are one order, so that whatever contradicts them is a cycle of two.
fn cycle(history: &History, before: u32, after: u32) -> Vec<String> {
    let [first, second] = [before, after].map(|op| &history.ops[op as usize]);
    let (xid, other) = (first.xid, second.xid);
    vec![
        format!(
            "xid {xid} was complete at {} us, before xid {other} began at {} us",
            first.returned, second.called
        ),
        format!(
            "xid {other} stands at {}, not after {} where xid {xid} stands",
            tell::zxid(second.zxid),
            tell::zxid(first.zxid)
        ),
    ]
}

fn asked_in_turn(history: &History, before: u32, after: u32) -> Vec<String> {
    let [first, second] = [before, after].map(|op| &history.ops[op as usize]);
    let (xid, other) = (first.xid, second.xid);
    vec![
        format!("the session asked xid {xid} before it asked xid {other}"),
        format!(
            "xid {other} stands at {}, before {} where xid {xid} stands",
            tell::zxid(second.zxid),
            tell::zxid(first.zxid)
        ),
    ]
}

/// Where an operation stands among all.
pub(super) const fn key(zxid: i64, is_update: bool) -> u64 {
    (zxid as u64) << 1 | !is_update as u64
}

impl Order {
    pub(super) fn of(history: &History) -> Self {
        let mut spans = vec![Span::default(); history.sessions.len()];
        let ids: BTreeMap<i64, usize> =
            history.sessions.iter().enumerate().map(|(at, session)| (session.id, at)).collect();
        for txn in &history.txns {
            if txn.effect == Effect::Close
                && let Some(session) = ids.get(&txn.session)
            {
                spans[*session].close = Some(Close { zxid: txn.zxid, wanted: false });
            }
        }
        Self {
            keys: Vec::new(),
            hidden: Vec::new(),
            spans,
            conn_last: vec![0; history.conns.len()],
            exact: !history.txns.is_empty(),
            first: i64::MAX,
        }
    }

    /// An update comes after everything that was complete before it began.
    pub(super) fn real_time(&mut self, history: &History, report: &mut Report) {
        let ops = &history.ops;
        let complete = |(index, op): (u32, &super::super::store::Op)| {
            (op.returned != NEVER && op.zxid > 0).then_some((op.returned, index))
        };
        let mut ends: Vec<(u64, u32)> = (0..).zip(ops).filter_map(complete).collect();
        ends.sort_unstable();
        let mut ends = ends.into_iter().peekable();
        let error = history.header.clock_error;
        let mut floor = (0, u32::MAX);
        let (mut updates, mut syncs) = (0, 0);
        for (index, op) in (0..).zip(ops) {
            while let Some((_, end)) =
                ends.next_if(|(returned, _)| returned.saturating_add(error) < op.called)
            {
                floor = floor.max((ops[end as usize].zxid, end));
            }
            let is_update = op.is_update();
            if is_update && !op.is_definite() {
                let Some(session) = history.session_of(op) else { continue };
                let (lo, hi, fate) = (floor.0, i64::MAX, Fate::Open);
                self.hidden.push(Hidden { op: index, session, lo, hi, fate });
                continue;
            }
            if op.zxid <= 0 || !op.is_definite() {
                continue;
            }
            updates += u64::from(is_update);
            if is_update && op.zxid <= floor.0 {
                report.find(Promise::Lw, || Finding {
                    promise: Promise::Lw,
                    verdict: Verdict::Broken,
                    what: format!(
                        "an update has position {}, and began after something at {} was complete",
                        tell::zxid(op.zxid),
                        tell::zxid(floor.0)
                    ),
                    with: vec![tell::op(history, floor.1), tell::op(history, index)],
                    because: Vec::new(),
                    cycle: cycle(history, floor.1, index),
                });
            }
            if let Asked::Sync { .. } = op.ask
                && op.said == Told::Done
            {
                syncs += 1;
                if op.zxid < floor.0 {
                    let server = &history.conns[op.conn as usize].server;
                    report.find(Promise::Sy, || Finding {
                        promise: Promise::Sy,
                        verdict: Verdict::Broken,
                        what: format!(
                            "a sync at server {server:?} shows {}, and began after something at \
                             {} was complete",
                            tell::zxid(op.zxid),
                            tell::zxid(floor.0)
                        ),
                        with: vec![tell::op(history, floor.1), tell::op(history, index)],
                        because: Vec::new(),
                        cycle: cycle(history, floor.1, index),
                    });
                }
            }
        }
        report.checked(Promise::Lw, updates);
        report.checked(Promise::Sy, syncs);
        report.updates = updates + self.hidden.len() as u64;
        report.unknown = self.hidden.len() as u64;
    }

    /// Each session sees newer and newer states, and its updates follow each other.
    pub(super) fn sessions(&mut self, history: &History, report: &mut Report) {
        const NOBODY: u32 = u32::MAX;
        let ops = &history.ops;
        let mut last = vec![NOBODY; history.sessions.len()];
        let mut open: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        let mut hidden = 0;
        let (mut fifo, mut ssi, mut ended) = (0, 0, 0);
        for (index, op) in (0..).zip(ops) {
            let Some(session) = history.session_of(op) else { continue };
            let is_hidden = self.hidden.get(hidden).is_some_and(|this| this.op == index);
            let span = &mut self.spans[session as usize];
            if op.ask == Asked::Close {
                span.closing = true;
            }
            if is_hidden {
                let this = &mut self.hidden[hidden];
                this.lo = this.lo.max(span.last);
                open.entry(session).or_default().push(hidden);
                hidden += 1;
                continue;
            }
            if op.zxid <= 0 {
                continue;
            }
            self.first = self.first.min(op.zxid);
            let conn_last = &mut self.conn_last[op.conn as usize];
            *conn_last = op.zxid.max(*conn_last);
            let is_update = op.is_update();
            let done = !matches!(op.said, Told::Error(_));
            if is_update {
                fifo += 1;
                for this in open.remove(&session).unwrap_or_default() {
                    self.hidden[this].hi = op.zxid;
                }
            } else {
                ssi += 1;
            }
            let before = last[session as usize];
            if before != NOBODY && (op.zxid < span.last || is_update && op.zxid == span.last) {
                let promise = if is_update { Promise::Fifo } else { Promise::Ssi };
                report.find(promise, || {
                    let what = if is_update { "an update of" } else { "a reply to" };
                    let (now, seen) = (tell::zxid(op.zxid), tell::zxid(span.last));
                    let id = history.sessions[session as usize].id;
                    Finding {
                        promise,
                        verdict: Verdict::Broken,
                        what: format!("{what} session {id:#x} has position {now} after {seen}"),
                        with: vec![tell::op(history, before), tell::op(history, index)],
                        because: Vec::new(),
                        cycle: asked_in_turn(history, before, index),
                    }
                });
            }
            last[session as usize] = index;
            // After a contradiction: on from what was seen.
            span.last = op.zxid;
            if op.ask == Asked::Close && done {
                span.close = Some(Close { zxid: op.zxid, wanted: true });
            }
            if let Some(close) = span.close
                && done
            {
                ended += 1;
                if op.zxid > close.zxid {
                    report.find(Promise::Se1, || {
                        let id = history.sessions[session as usize].id;
                        let (now, end) = (tell::zxid(op.zxid), tell::zxid(close.zxid));
                        Finding {
                            promise: Promise::Se1,
                            verdict: Verdict::Broken,
                            what: format!(
                                "session {id:#x} ended at {end}, and is answered from {now}"
                            ),
                            with: vec![tell::op(history, index)],
                            because: Vec::new(),
                            cycle: Vec::new(),
                        }
                    });
                }
            }
        }
        for span in &mut self.spans {
            if let Some(close) = &mut span.close {
                close.wanted |= span.closing;
            }
        }
        for this in &mut self.hidden {
            if let Some(close) = self.spans[this.session as usize].close {
                let own = history.ops[this.op as usize].ask == Asked::Close;
                this.hi = this.hi.min(close.zxid.saturating_add(own.into()));
            }
        }
        report.checked(Promise::Fifo, fifo);
        report.checked(Promise::Ssi, ssi);
        report.checked(Promise::Se1, ended);
        for op in &history.overtook {
            report.find(Promise::Fifo, || Finding {
                promise: Promise::Fifo,
                verdict: Verdict::Broken,
                what: "a reply came before the reply to what was asked earlier on its connection"
                    .into(),
                with: vec![tell::op(history, *op)],
                because: Vec::new(),
                cycle: Vec::new(),
            });
        }
        self.handles(history, report);
    }

    /// Numbers, timeouts and ends of sessions.
    fn handles(&self, history: &History, report: &mut Report) {
        let broken = |promise, what: String| Finding {
            promise,
            verdict: Verdict::Broken,
            what,
            with: Vec::new(),
            because: Vec::new(),
            cycle: Vec::new(),
        };
        for (index, session) in (0..).zip(&history.sessions) {
            let id = session.id;
            report.checked(Promise::Se3, 1);
            if session.births > 1 {
                let times = session.births;
                report.find(Promise::Se3, || {
                    broken(Promise::Se3, format!("session {id:#x} was opened as new {times} times"))
                });
            }
            if let (Some(tick), 1..) = (history.header.tick_ms, session.timeout_ms) {
                let timeout = session.timeout_ms;
                if timeout < tick.saturating_mul(2) || timeout > tick.saturating_mul(20) {
                    report.find(Promise::Se3, || {
                        let what = format!(
                            "session {id:#x} has a timeout of {timeout} ms, not of 2 to 20 ticks \
                             of {tick} ms"
                        );
                        broken(Promise::Se3, what)
                    });
                }
            }
            if session.expired == NEVER {
                continue;
            }
            report.checked(Promise::Se2, 1);
            let later = history.conns.iter().find(|conn| {
                let after = conn.opened != NEVER && conn.opened > session.expired;
                conn.session == Some(index) && after
            });
            if let Some(conn) = later {
                report.find(Promise::Se2, || {
                    let what = format!(
                        "session {id:#x} was said to be over at {} us, and opened on connection \
                         {} at {} us",
                        session.expired, conn.name, conn.opened
                    );
                    broken(Promise::Se2, what)
                });
            }
        }
        self.told(history, report);
    }

    /// What applications are told of their sessions.
    fn told(&self, history: &History, report: &mut Report) {
        use crate::history::record::State;
        let mut now: BTreeMap<u64, State> = BTreeMap::new();
        for heard in &history.states {
            let before = now.insert(heard.client, heard.state).unwrap_or(State::Disconnected);
            report.checked(Promise::W8, 1);
            let up = |state| matches!(state, State::Connected | State::ConnectedReadOnly);
            let fits = match (before, heard.state) {
                (State::AuthFailed | State::Closed | State::Expired, _) => false,
                (before, after) if before == after => false,
                (before, State::Disconnected) => up(before),
                _ => true,
            };
            if !fits {
                let heard = *heard;
                report.find(Promise::W8, || Finding {
                    promise: Promise::W8,
                    verdict: Verdict::Broken,
                    what: format!(
                        "client {} was told {:?} after {before:?}, at {} us",
                        heard.client, heard.state, heard.at
                    ),
                    with: Vec::new(),
                    because: Vec::new(),
                    cycle: Vec::new(),
                });
            }
        }
    }

    /// Answered operations by position.
    pub(super) fn sort(&mut self, history: &History) {
        self.keys.reserve_exact(history.ops.len());
        for (index, op) in (0..).zip(&history.ops) {
            if op.zxid > 0 {
                self.keys.push((key(op.zxid, op.is_update()), index));
            }
        }
        self.keys.sort_unstable();
    }

    /// The answered update at a position.
    pub(super) fn update_at(&self, zxid: i64) -> Option<u32> {
        let due = key(zxid, true);
        let at = self.keys.partition_point(|(key, _)| *key < due);
        self.keys.get(at).filter(|(key, _)| *key == due).map(|(_, op)| *op)
    }
}
