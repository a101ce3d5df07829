//! What became of updates without an answer, and when sessions ended.
//!
//! The servers' log says it all. Without it there are traces: a stat or an event that names a
//! position at which nobody was told of an update. If only one call, or the end of only one
//! session, can have left a trace, it was that one; if several can, nobody knows.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "of all that can be asked, only a few things matter here"
)]

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;

use super::order::{Close, Fate, Order};
use super::promise::Promise;
use super::report::{Finding, Report, Verdict};
use super::tell;
use crate::history::intern::{PathId, ValueId};
use crate::history::record::{Kind, Mode};
use crate::history::store::{Asked, Effect, History, StatId, Told};

/// What something at a position did to a node.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Clue {
    Children(PathId),
    Created(PathId),
    Deleted(PathId),
    Set(PathId, Option<ValueId>),
}

pub(super) fn gather(history: &History, order: &mut Order, report: &mut Report) {
    if order.exact {
        from_log(history, order, report);
    } else {
        from_traces(history, order);
    }
    let placed = order.hidden.iter().filter(|hidden| matches!(hidden.fate, Fate::Placed(_)));
    report.took_effect = placed.count() as u64;
}

fn from_log(history: &History, order: &mut Order, report: &mut Report) {
    // Some clients begin to count anew with each connection, so that one number may be several.
    let mut waiting: HashMap<(i64, i32), Vec<usize>> = HashMap::new();
    for (at, hidden) in order.hidden.iter().enumerate() {
        let session = history.sessions[hidden.session as usize].id;
        let xid = history.ops[hidden.op as usize].xid;
        waiting.entry((session, xid)).or_default().push(at);
    }
    for hidden in &mut order.hidden {
        hidden.fate = Fate::Never;
    }
    for txn in &history.txns {
        let Some(all) = waiting.get(&(txn.session, txn.cxid)) else { continue };
        if order.update_at(txn.zxid).is_some() {
            continue;
        }
        let open = |at: &&usize| order.hidden[**at].fate == Fate::Never;
        let fits = |at: &&usize| {
            let hidden = &order.hidden[**at];
            hidden.lo < txn.zxid && txn.zxid < hidden.hi
        };
        let mut best = all.iter().filter(open);
        let Some(at) = best.clone().find(fits).or_else(|| best.next()) else { continue };
        let hidden = &mut order.hidden[*at];
        let refused = matches!(txn.effect, Effect::Error(_));
        hidden.fate = if refused { Fate::Refused(txn.zxid) } else { Fate::Placed(txn.zxid) };
    }
    // Nothing is known of what would come after the log.
    let last = history.txns.last().map_or(0, |txn| txn.zxid);
    let mut lost: BTreeMap<u32, u32> = BTreeMap::new();
    for hidden in &mut order.hidden {
        let op = &history.ops[hidden.op as usize];
        let zxid = match hidden.fate {
            Fate::Placed(zxid) | Fate::Refused(zxid) => zxid,
            Fate::Never => {
                lost.entry(op.conn).or_insert(hidden.op);
                continue;
            }
            Fate::Guessed | Fate::Open => continue,
        };
        report.checked(Promise::Pfx, 1);
        if let Some(before) = lost.get(&op.conn) {
            report.find(Promise::Pfx, || Finding {
                promise: Promise::Pfx,
                verdict: Verdict::Broken,
                what: format!(
                    "an update took its place at {}, and an earlier one of its connection took none",
                    tell::zxid(zxid)
                ),
                with: vec![tell::op(history, *before), tell::op(history, hidden.op)],
                because: Vec::new(),
                cycle: Vec::new(),
            });
        }
        if zxid <= hidden.lo || zxid >= hidden.hi {
            let close = order.spans[hidden.session as usize].close;
            let over = close.is_some_and(|close| zxid > close.zxid);
            let promise = if over { Promise::Se1 } else { Promise::Fifo };
            report.find(promise, || Finding {
                promise,
                verdict: Verdict::Broken,
                what: format!(
                    "an update without an answer took effect at {}, which is not between {} and {}",
                    tell::zxid(zxid),
                    tell::zxid(hidden.lo),
                    tell::zxid(hidden.hi)
                ),
                with: vec![tell::op(history, hidden.op)],
                because: Vec::new(),
                cycle: Vec::new(),
            });
        }
    }
    for hidden in &mut order.hidden {
        if hidden.fate == Fate::Never && hidden.hi > last && hidden.hi == i64::MAX {
            // It may still be on its way; nobody can have seen it.
            hidden.lo = hidden.lo.max(last);
        }
    }
}

/// A set of positions: mostly dense, and asked in order.
#[derive(Default)]
struct Positions {
    chunks: HashMap<i64, Box<[u64; 64]>>,
}

impl Positions {
    const BITS: u32 = 12;

    fn add(&mut self, zxid: i64) {
        let chunk = self.chunks.entry(zxid >> Self::BITS).or_insert_with(|| Box::new([0; 64]));
        chunk[(zxid >> 6 & 63) as usize] |= 1 << (zxid & 63);
    }

    fn has(&self, zxid: i64) -> bool {
        let chunk = self.chunks.get(&(zxid >> Self::BITS));
        chunk.is_some_and(|chunk| chunk[(zxid >> 6 & 63) as usize] >> (zxid & 63) & 1 == 1)
    }
}

fn from_traces(history: &History, order: &mut Order) {
    let mut known = Positions::default();
    for (key, _) in &order.keys {
        if key & 1 == 0 {
            known.add((key >> 1) as i64);
        }
    }
    let mut clues: BTreeMap<i64, BTreeSet<Clue>> = BTreeMap::new();
    let mut traces = Traces { history, known: &known, first: order.first, clues: &mut clues };
    for op in &history.ops {
        traces.answer(&op.ask, &op.said);
    }
    for event in &history.events {
        let path = event.path;
        traces.clue(
            event.zxid,
            match event.kind {
                Kind::ChildrenChanged => Clue::Children(path),
                Kind::Created => Clue::Created(path),
                Kind::DataChanged => Clue::Set(path, None),
                Kind::Deleted => Clue::Deleted(path),
            },
        );
    }
    if clues.is_empty() {
        return;
    }
    let suspects = Suspects::of(history, order);
    for (zxid, clues) in &clues {
        if let [one] = suspects.who(history, order, *zxid, clues)[..] {
            match one {
                Suspect::Call(at) => suspects.place(order, at, *zxid),
                Suspect::End(session) => {
                    let span = &mut order.spans[session as usize];
                    span.close = Some(Close { zxid: *zxid, wanted: span.closing });
                }
            }
        }
    }
}

/// Collects what names positions at which nobody was told of an update.
struct Traces<'a> {
    history: &'a History,
    known: &'a Positions,
    first: i64,
    clues: &'a mut BTreeMap<i64, BTreeSet<Clue>>,
}

impl Traces<'_> {
    fn clue(&mut self, zxid: i64, clue: Clue) {
        // What was before the history is nobody's.
        let older = zxid < self.first && !self.history.header.fresh;
        if zxid > 0 && !older && !self.known.has(zxid) {
            self.clues.entry(zxid).or_default().insert(clue);
        }
    }

    fn answer(&mut self, ask: &Asked, said: &Told) {
        let Some(path) = ask.path() else {
            if let (
                Asked::Multi { first, .. } | Asked::MultiRead { first, .. },
                Told::Parts { first: results, count },
            ) = (ask, said)
            {
                for part in 0..*count {
                    let ask = self.history.parts[(first + part) as usize];
                    self.answer(&ask, &self.history.results[(results + part) as usize]);
                }
            }
            return;
        };
        match said {
            Told::Acl { stat, .. } | Told::Children { stat, .. } | Told::Stat(stat) => {
                self.stat(path, *stat, None);
            }
            Told::Created { path, stat } => self.stat(*path, *stat, None),
            Told::Data { data, stat } => self.stat(path, *stat, Some(*data)),
            Told::Done | Told::Error(_) | Told::Parts { .. } | Told::Unknown => {}
        }
    }

    fn stat(&mut self, path: PathId, stat: StatId, data: Option<ValueId>) {
        let Some(stat) = self.history.stat(stat).copied() else { return };
        self.clue(stat.czxid.0, Clue::Created(path));
        if stat.mzxid != stat.czxid {
            self.clue(stat.mzxid.0, Clue::Set(path, data));
        }
        if stat.pzxid != stat.czxid {
            self.clue(stat.pzxid.0, Clue::Children(path));
        }
    }
}

/// Who may have done something.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Suspect {
    /// An update without an answer.
    Call(usize),
    /// The end of a session.
    End(u32),
}

/// Whom to ask about a node.
pub(super) struct Suspects {
    /// Updates without an answer, by the nodes that they touch and those above.
    calls: BTreeMap<PathId, Vec<usize>>,
    /// Sessions that have had an ephemeral, by its path.
    owners: BTreeMap<PathId, BTreeSet<u32>>,
    /// The same, by what lies above.
    below: BTreeMap<PathId, BTreeSet<u32>>,
}

impl Suspects {
    pub(super) fn of(history: &History, order: &Order) -> Self {
        let mut this =
            Self { calls: BTreeMap::new(), owners: BTreeMap::new(), below: BTreeMap::new() };
        for (at, hidden) in order.hidden.iter().enumerate() {
            let ask = &history.ops[hidden.op as usize].ask;
            for part in parts(history, ask) {
                let Some(path) = part.path() else { continue };
                for path in [path, history.paths.parent(path)] {
                    let calls = this.calls.entry(path).or_default();
                    if calls.last() != Some(&at) {
                        calls.push(at);
                    }
                }
            }
        }
        for op in &history.ops {
            let Some(session) = history.session_of(op) else { continue };
            let results = match op.said {
                Told::Parts { first, count } => {
                    &history.results[first as usize..][..count as usize]
                }
                Told::Unknown => &[],
                _ => std::slice::from_ref(&op.said),
            };
            let asks = parts(history, &op.ask);
            for (at, part) in asks.iter().enumerate() {
                if let Asked::Create { path, mode: Mode::Ephemeral, .. } = part {
                    let path = match results.get(at) {
                        Some(Told::Created { path, .. }) => *path,
                        Some(_) => continue,
                        None => *path,
                    };
                    this.owners.entry(path).or_default().insert(session);
                    this.below.entry(history.paths.parent(path)).or_default().insert(session);
                }
            }
        }
        this
    }

    /// The updates without an answer that may have touched a node.
    pub(super) fn calls(&self, history: &History, path: PathId) -> Vec<usize> {
        let near = [path, history.paths.parent(path)];
        let all = near.iter().filter_map(|path| self.calls.get(path)).flatten();
        let mut all: Vec<usize> = all.copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The sessions whose end may have touched a node.
    pub(super) fn owners(&self, path: PathId) -> impl Iterator<Item = u32> {
        let near = [self.owners.get(&path), self.below.get(&path)];
        near.into_iter().flatten().flatten().copied()
    }

    fn who(
        &self,
        history: &History,
        order: &Order,
        zxid: i64,
        clues: &BTreeSet<Clue>,
    ) -> Vec<Suspect> {
        let Some(first) = clues.first() else { return Vec::new() };
        let path = first.path();
        let call = |at: &usize| {
            let hidden = &order.hidden[*at];
            let ask = &history.ops[hidden.op as usize].ask;
            hidden.fate == Fate::Open
                && hidden.lo < zxid
                && zxid < hidden.hi
                && clues.iter().all(|clue| explains(history, ask, clue))
        };
        let mut who: Vec<Suspect> =
            self.calls(history, path).into_iter().filter(call).map(Suspect::Call).collect();
        let end = |session: &u32| {
            let span = &order.spans[*session as usize];
            let of = |set: Option<&BTreeSet<u32>>| set.is_some_and(|set| set.contains(session));
            span.close.is_none()
                && span.last < zxid
                && clues.iter().all(|clue| match clue {
                    Clue::Children(path) => of(self.below.get(path)),
                    Clue::Deleted(path) => of(self.owners.get(path)),
                    Clue::Created(_) | Clue::Set(..) => false,
                })
        };
        let ends: BTreeSet<u32> = self.owners(path).filter(end).collect();
        who.extend(ends.into_iter().map(Suspect::End));
        who
    }

    /// An update took effect here, and the others of its session before or after it.
    fn place(&self, order: &mut Order, at: usize, zxid: i64) {
        let session = order.hidden[at].session;
        order.hidden[at].fate = Fate::Placed(zxid);
        for (other, hidden) in order.hidden.iter_mut().enumerate() {
            if hidden.session == session && hidden.fate == Fate::Open {
                if other < at {
                    hidden.hi = hidden.hi.min(zxid);
                } else {
                    hidden.lo = hidden.lo.max(zxid);
                }
            }
        }
    }
}

impl Clue {
    const fn path(&self) -> PathId {
        match self {
            Self::Children(path)
            | Self::Created(path)
            | Self::Deleted(path)
            | Self::Set(path, _) => *path,
        }
    }
}

/// What an update consists of.
pub(super) fn parts<'a>(history: &'a History, ask: &'a Asked) -> &'a [Asked] {
    match ask {
        Asked::Multi { first, count } => &history.parts[*first as usize..][..*count as usize],
        _ => std::slice::from_ref(ask),
    }
}

/// Whether a create may have made this node.
pub(super) fn makes(history: &History, ask: &Asked, made: PathId) -> bool {
    match ask {
        Asked::Create { path, sequential: false, .. } => *path == made,
        Asked::Create { path, sequential: true, .. } => {
            let (stem, made) = (history.paths.text(*path), history.paths.text(made));
            let number = made.strip_prefix(stem).unwrap_or("");
            number.len() >= 10 && number.bytes().all(|byte| byte.is_ascii_digit())
        }
        _ => false,
    }
}

fn explains(history: &History, ask: &Asked, clue: &Clue) -> bool {
    parts(history, ask).iter().any(|part| match (part, clue) {
        (Asked::Create { .. }, Clue::Created(made)) => makes(history, part, *made),
        (Asked::Create { path, .. } | Asked::Delete { path, .. }, Clue::Children(parent)) => {
            history.paths.parent(*path) == *parent
        }
        (Asked::Delete { path, .. }, Clue::Deleted(gone)) => path == gone,
        (Asked::SetData { path, data, .. }, Clue::Set(set, seen)) => {
            path == set && seen.is_none_or(|seen| seen == *data)
        }
        _ => false,
    })
}
