//! How old what was read was, and when sessions ended.

use super::order::Order;
use super::promise::Promise;
use super::report::{Finding, Report, Verdict};
use super::{Options, tell};
use crate::history::store::{History, NEVER};

/// Goes from the newest position to the oldest, with the earliest moment at which anything newer
/// was known to anybody.
pub(super) fn check(history: &History, order: &mut Order, options: &Options, report: &mut Report) {
    let slack = slack(history);
    let mut closes: Vec<(i64, u32)> = Vec::new();
    // Without the servers' tick nobody can say when a session had to end.
    let ticks = history.header.tick_ms.is_some();
    for (session, span) in (0..).zip(&order.spans) {
        if let Some(close) = span.close.filter(|close| ticks && !close.wanted) {
            closes.push((close.zxid, session));
        }
    }
    closes.sort_unstable();
    let heard = last_heard(history);
    // The earliest return of an update, and of anything, at what is newer than where we are.
    let (mut newer, mut update_here, mut here) = (NEVER, NEVER, 0);
    let (mut shown, mut shown_by) = (NEVER, u32::MAX);
    let mut reads = 0;
    let judge_close = |session: u32, zxid: i64, shown: u64, by: u32, report: &mut Report| {
        report.checked(Promise::Ep4, 1);
        let of = &history.sessions[session as usize];
        let timeout = u64::from(of.timeout_ms) * 1000;
        let last = heard[session as usize];
        if shown == NEVER || shown.saturating_add(slack) >= last.saturating_add(timeout) {
            return;
        }
        report.find(Promise::Ep4, || Finding {
            promise: Promise::Ep4,
            verdict: Verdict::Broken,
            what: format!(
                "session {:#x} with a timeout of {} ms asked for something that was done at {last} \
                 us, and its end at {} was shown at {shown} us",
                of.id,
                of.timeout_ms,
                tell::zxid(zxid)
            ),
            with: vec![tell::op(history, by)],
            because: Vec::new(),
            cycle: Vec::new(),
        });
    };
    for (key, index) in order.keys.iter().rev() {
        let op = &history.ops[*index as usize];
        if op.zxid != here {
            newer = newer.min(update_here);
            (update_here, here) = (NEVER, op.zxid);
        }
        while let Some((zxid, session)) = closes.pop_if(|(zxid, _)| *zxid > op.zxid) {
            judge_close(session, zxid, shown, shown_by, report);
        }
        if op.returned < shown {
            (shown, shown_by) = (op.returned, *index);
        }
        if key & 1 == 0 {
            update_here = update_here.min(op.returned);
            continue;
        }
        let behind = op.called.saturating_sub(newer);
        if behind == 0 {
            report.current += 1;
        } else {
            report.staleness[behind.ilog2() as usize] += 1;
        }
        reads += 1;
        let Some(bound) = options.stale else { continue };
        // Whoever had no connection in between could not see anything newer.
        let away = history.conns[op.conn as usize].opened > newer;
        if behind > bound && !away {
            report.find(Promise::Tl, || Finding {
                promise: Promise::Tl,
                verdict: Verdict::Broken,
                what: format!(
                    "a read shows {} {behind} us after something newer was known, with a bound of \
                     {bound} us",
                    tell::zxid(op.zxid)
                ),
                with: vec![tell::op(history, *index)],
                because: Vec::new(),
                cycle: Vec::new(),
            });
        }
    }
    while let Some((zxid, session)) = closes.pop() {
        judge_close(session, zxid, shown, shown_by, report);
    }
    if options.stale.is_some() {
        report.checked(Promise::Tl, reads);
    }
    if let Some(late) = options.late {
        ends_in_time(history, order, late, report);
    }
}

/// Servers round up to ticks, and learn late of what others heard.
fn slack(history: &History) -> u64 {
    let tick = u64::from(history.header.tick_ms.unwrap_or(0)) * 1000;
    tick / 2 + history.header.clock_error + 1000
}

/// When each session last asked for something that was done: the server had heard of it then.
fn last_heard(history: &History) -> Vec<u64> {
    let mut heard = vec![0; history.sessions.len()];
    for op in &history.ops {
        if op.is_definite()
            && let Some(session) = history.session_of(op)
        {
            let heard = &mut heard[session as usize];
            *heard = op.called.max(*heard);
        }
    }
    heard
}

/// An update that begins after a session must be over comes after its end.
fn ends_in_time(history: &History, order: &Order, late: u64, report: &mut Report) {
    for (index, (session, span)) in (0..).zip(history.sessions.iter().zip(&order.spans)) {
        let conns = history.conns.iter().filter(|conn| conn.session == Some(index));
        let Some(lost) = conns.map(|conn| conn.lost).max().filter(|lost| *lost != NEVER) else {
            continue;
        };
        let due = lost + u64::from(session.timeout_ms) * 1000 + late;
        let Some(end) = span.close.map(|close| close.zxid).or(order.exact.then_some(i64::MAX))
        else {
            continue;
        };
        report.checked(Promise::Ep5, 1);
        let from = history.ops.partition_point(|op| op.called <= due);
        let before = (from..history.ops.len())
            .find(|at| history.ops[*at].is_update() && (1..end).contains(&history.ops[*at].zxid));
        let Some(at) = before else { continue };
        report.find(Promise::Ep5, || Finding {
            promise: Promise::Ep5,
            verdict: Verdict::Broken,
            what: format!(
                "session {:#x} was left alone at {lost} us and must be over at {due} us, and an \
                 update that began later comes before its end",
                session.id
            ),
            with: vec![tell::op(history, u32::try_from(at).expect("an operation"))],
            because: Vec::new(),
            cycle: Vec::new(),
        });
    }
}
