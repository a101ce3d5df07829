//! Whether a history keeps what is promised to clients, in near-linear time.
//!
//! ```text
//!   History --> calibrate   do the zxids of replies mean what they should?
//!           --> order       real time and client order: positions against moments
//!           --> evidence    what became of calls without an answer
//!           --> sweep       one tree, all positions in order: each result, each watch
//!           --> stream      what each connection heard, in the order in which it did
//!           --> stale       how old what was read was, and when sessions ended
//! ```
//!
//! Each reply carries the position of the state that it speaks of. That turns a search for an
//! order that explains everything into looking whether the claimed one does. If it does, no
//! service can have lied its way there: the order is the proof.

mod evidence;
mod order;
mod promise;
mod report;
mod stale;
mod stream;
mod sweep;
mod tell;
mod watches;

pub use self::promise::Promise;
pub use self::report::{Finding, Report, Rung, Staleness, Tally, Verdict};

use self::order::Order;
use self::sweep::Sweep;
use super::store::History;

/// What to hold a history against, beside what always must hold.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Options {
    /// No read may be older than this, in microseconds.
    pub stale: Option<u64>,
    /// A session that is not heard from must be over so long after its timeout, in microseconds.
    pub late: Option<u64>,
    /// So many findings are told of each promise, broken and inconclusive ones apart.
    pub findings: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { stale: None, late: None, findings: 5 }
    }
}

/// Checks everything. `progress` hears what begins.
#[must_use]
pub fn check(
    history: &History,
    options: &Options,
    progress: &mut dyn FnMut(&'static str),
) -> Report {
    let mut report = Report::new(options.findings);
    report.ops = history.ops.len() as u64;
    report.events = history.events.len() as u64;
    report.sessions = history.sessions.len() as u64;
    report.txns = history.txns.len() as u64;
    report.rung = if history.txns.is_empty() { Rung::Zxids } else { Rung::Log };
    progress("real time");
    let mut order = Order::of(history);
    order.real_time(history, &mut report);
    progress("client order");
    order.sessions(history, &mut report);
    progress("positions");
    order.sort(history);
    progress("unknown outcomes");
    evidence::gather(history, &mut order, &mut report);
    progress("results");
    let mut sweep = Sweep::new(history, order);
    sweep.run(&mut report);
    progress("events");
    let (mut order, events) = sweep.finish(&mut report);
    stream::check(history, &events, &mut report);
    progress("staleness");
    stale::check(history, &mut order, options, &mut report);
    report
}
