//! What each connection heard, in the order in which it did: events before anything newer.

use super::promise::Promise;
use super::report::{Finding, Report, Verdict};
use super::tell;
use crate::history::store::{Event, History};

/// `events` are by connection and the order in which they were received; their zxids are known
/// where they could be found out.
pub(super) fn check(history: &History, events: &[Event], report: &mut Report) {
    let conns = history.conns.len();
    let mut next = vec![0_usize; conns];
    let mut end = vec![0_usize; conns];
    for (at, event) in events.iter().enumerate() {
        let conn = event.conn as usize;
        if end[conn] == 0 {
            next[conn] = at;
        }
        end[conn] = at + 1;
    }
    let mut seen = vec![(0, u32::MAX); conns];
    let mut told: Vec<Option<usize>> = vec![None; conns];
    let mut count = 0;
    let mut hear = |at: usize, seen: (i64, u32), report: &mut Report| {
        let event = &events[at];
        if event.zxid <= 0 {
            return;
        }
        count += 1;
        if seen.0 >= event.zxid {
            // One that is older than what was seen is out of order altogether.
            let promise = if seen.0 == event.zxid { Promise::W3 } else { Promise::W6 };
            report.find(promise, || Finding {
                promise,
                verdict: Verdict::Broken,
                what: format!(
                    "the event of {} came after a reply that shows {}",
                    tell::zxid(event.zxid),
                    tell::zxid(seen.0)
                ),
                with: vec![tell::op(history, seen.1), tell::event(history, event)],
                because: Vec::new(),
                cycle: Vec::new(),
            });
        }
        let last = &mut told[event.conn as usize];
        if let Some(before) = last.map(|last| &events[last])
            && before.zxid > event.zxid
        {
            report.find(Promise::W5, || Finding {
                promise: Promise::W5,
                verdict: Verdict::Broken,
                what: format!(
                    "the event of {} came after that of {}",
                    tell::zxid(event.zxid),
                    tell::zxid(before.zxid)
                ),
                with: vec![tell::event(history, before), tell::event(history, event)],
                because: Vec::new(),
                cycle: Vec::new(),
            });
        }
        *last = Some(at);
    };
    // Replies of a connection come in the order of its calls, so that they are met in the order
    // in which they were received.
    for (index, op) in (0..).zip(&history.ops) {
        if op.zxid <= 0 {
            continue;
        }
        let conn = op.conn as usize;
        while next[conn] < end[conn] && events[next[conn]].rank < op.rank {
            hear(next[conn], seen[conn], report);
            next[conn] += 1;
        }
        seen[conn] = seen[conn].max((op.zxid, index));
    }
    for conn in 0..conns {
        for at in next[conn]..end[conn] {
            hear(at, seen[conn], report);
        }
    }
    for promise in [Promise::W3, Promise::W5, Promise::W6] {
        report.checked(promise, count);
    }
}
