//! Two outcomes of one step: equal, or explained, or different.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::accepted::{ACCEPTED, Case, Mend, Verdict};
use super::op::{Ask, Op};
use super::pool::{WatchKind, watch_kind};
use super::side::{Outcome, Seen, Track};
use super::view::View;
use crate::raw::{Body, OpResult, Request, Text, WatchLists, code, opcode};

/// What the two servers did differently.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Difference {
    /// The connection on which it was seen.
    pub who: String,
    /// Which thing seen on it is the first that differs.
    pub index: usize,
    /// What the left server said there, all of it.
    pub left: Vec<String>,
    /// What the right server said there, all of it.
    pub right: Vec<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, lines) in [("left", &self.left), ("right", &self.right)] {
            if lines.is_empty() {
                writeln!(f, "    {name:5}  nothing on {}", self.who)?;
            }
            for (index, line) in lines.iter().enumerate() {
                let mark = if index == self.index { ">" } else { " " };
                writeln!(f, "  {mark} {name:5}  {} {line}", self.who)?;
            }
        }
        Ok(())
    }
}

/// Compares the steps of a run, and remembers what that takes.
#[derive(Debug, Default)]
pub struct Comparison {
    seed: u64,
    /// How often each accepted difference was met.
    pub used: BTreeMap<&'static str, u64>,
    /// Answers by opcode and error, as the left server gave them.
    pub answers: BTreeMap<(i32, i32), u64>,
    /// Results inside multi and multiRead by opcode and error, as the left server gave them.
    pub results: BTreeMap<(i32, i32), u64>,
    /// Events by type, as the left server sent them.
    pub events: BTreeMap<i32, u64>,
    /// Which slots have ever asked for a watch at a path in this sequence.
    watched: BTreeMap<Text, BTreeSet<usize>>,
}

impl Comparison {
    /// A new sequence begins.
    pub fn begin(&mut self, seed: u64) {
        self.seed = seed;
        self.watched.clear();
    }

    /// Compares what a step did on both sides. If all is well, says what makes the servers' states
    /// equal again where an accepted difference set them apart.
    pub fn compare(
        &mut self,
        op: &Op,
        outcomes: (&Outcome, &Outcome),
        views: (&mut View, &mut View),
    ) -> Result<Vec<Mend>, Box<Difference>> {
        self.note(op);
        let (left, right) = (settle(op, outcomes.0), settle(op, outcomes.1));
        let causes = causes(op, &left);
        let mut mends = vec![];
        let whos = |outcome: &Outcome| -> Vec<String> {
            outcome.tracks.iter().map(|track| track.who.clone()).collect()
        };
        if whos(&left) != whos(&right) {
            let (left, right) = (whos(&left), whos(&right));
            let who = "connections:".to_owned();
            return Err(Box::new(Difference { who, index: 0, left, right }));
        }
        for (left, right) in left.tracks.iter().zip(&right.tracks) {
            self.count(op, left);
            let length = left.seen.len().max(right.seen.len());
            for index in 0..length {
                let pair = (left.seen.get(index), right.seen.get(index));
                let explained = match pair {
                    (Some(l), Some(r)) => {
                        let causes = causes_at(op, left, index, &causes);
                        self.explain(op, (l, r), &causes, (views.0, views.1))
                    }
                    _ => None,
                };
                match explained {
                    Some(mut mend) => mends.append(&mut mend),
                    None => {
                        return Err(Box::new(Difference {
                            who: left.who.clone(),
                            index,
                            left: left.seen.iter().map(|seen| views.0.show(seen)).collect(),
                            right: right.seen.iter().map(|seen| views.1.show(seen)).collect(),
                        }));
                    }
                }
            }
        }
        Ok(mends)
    }

    /// What must be mended if the two are equal or accepted; `None` if they differ.
    fn explain(
        &mut self,
        op: &Op,
        (left, right): (&Seen, &Seen),
        causes: &[i64],
        (left_view, right_view): (&mut View, &mut View),
    ) -> Option<Vec<Mend>> {
        if left_view.show(left) == right_view.show(right) {
            return Some(vec![]);
        }
        let ask = ask_of(op, left);
        let path = ask.and_then(Ask::request).and_then(watch_path);
        let slot = slot_of(op);
        let kind = |path| watch_kind(self.seed, slot, path);
        let others = |path| self.watched.get(path).is_some_and(|s| s.iter().any(|s| *s != slot));
        let case = Case {
            ask,
            left,
            right,
            causes,
            watched_by_others: path.is_some_and(others),
            own_kind: path.map_or(WatchKind::Standard, kind),
        };
        for accepted in ACCEPTED {
            for Verdict { left, right, skip, mend } in (accepted.explain)(&case) {
                let mut view = left_view.clone();
                skip.into_iter().for_each(|zxid| view.skip(zxid));
                if view.show(&left) == right_view.show(&right) {
                    *left_view = view;
                    *self.used.entry(accepted.name).or_default() += 1;
                    return Some(mend);
                }
            }
        }
        None
    }

    /// Compares the answers to a mending request.
    pub fn compare_mend(
        &mut self,
        mend: &Mend,
        op: &Op,
        outcomes: (&Outcome, &Outcome),
        views: (&mut View, &mut View),
    ) -> Result<(), Box<Difference>> {
        let relaxed = |outcome: &Outcome| {
            let mut outcome = outcome.clone();
            for seen in outcome.tracks.iter_mut().flat_map(|track| &mut track.seen) {
                if let Seen::Reply { ask: Some(_), reply } = seen
                    && reply.err == code::NO_WATCHER
                {
                    reply.err = code::OK;
                }
            }
            outcome
        };
        let (left, right) = outcomes;
        let mends = match mend {
            Mend::Strict(_) => self.compare(op, (left, right), views)?,
            Mend::Unwatch(_) => self.compare(op, (&relaxed(left), &relaxed(right)), views)?,
        };
        assert!(mends.is_empty(), "a mend needs no mending");
        Ok(())
    }

    /// Remembers who may watch what.
    fn note(&mut self, op: &Op) {
        let Op::Ask { slot, asks, .. } = op else { return };
        for ask in asks {
            let mut paths = vec![];
            if let Ask::SetWatches { lists, .. } = ask {
                let WatchLists { data, exist, child, persistent, persistent_recursive } = lists;
                for list in [data, exist, child, persistent, persistent_recursive] {
                    paths.extend(list.iter().flatten().cloned());
                }
            } else {
                paths.extend(ask.request().and_then(watch_path).cloned());
            }
            for path in paths {
                self.watched.entry(path).or_default().insert(*slot);
            }
        }
    }

    fn count(&mut self, op: &Op, track: &Track) {
        for seen in &track.seen {
            match seen {
                Seen::Reply { reply, .. } => {
                    if let Some(ask) = ask_of(op, seen) {
                        *self.answers.entry((ask.opcode(), reply.err)).or_default() += 1;
                    }
                    if let Body::Multi(results) = &reply.body {
                        for OpResult { opcode, err, .. } in results {
                            *self.results.entry((*opcode, *err)).or_default() += 1;
                        }
                    }
                }
                Seen::Event(event) => *self.events.entry(event.kind).or_default() += 1,
                Seen::Closed | Seen::Failed(_) | Seen::StillOpen | Seen::Welcome { .. } => {}
            }
        }
    }
}

/// The path of a request that concerns watches, or could.
fn watch_path(request: &Request) -> Option<&Text> {
    if let Request::Exists { path, .. }
    | Request::GetData { path, .. }
    | Request::GetChildren { path, .. }
    | Request::GetChildren2 { path, .. }
    | Request::AddWatch { path, .. }
    | Request::CheckWatches { path, .. }
    | Request::RemoveWatches { path, .. } = request
    {
        Some(path)
    } else {
        None
    }
}

const CLOSE: Ask = Ask::Plain(Request::CloseSession);

/// The request of `op` that `seen` answers.
fn ask_of<'a>(op: &'a Op, seen: &Seen) -> Option<&'a Ask> {
    let Seen::Reply { ask: Some(ask), .. } = seen else { return None };
    match op {
        Op::Ask { asks, .. } => asks.get(*ask),
        Op::Visit { asks, .. } => Some(asks.get(*ask).unwrap_or(&CLOSE)),
        Op::Close { .. } => Some(&CLOSE),
        Op::Leave { .. } | Op::Nonsense { .. } | Op::Steal { .. } | Op::Stranger { .. } => None,
    }
}

/// The slot a step is about; no slot's number for a guest.
fn slot_of(op: &Op) -> usize {
    match op {
        Op::Ask { slot, .. }
        | Op::Close { slot }
        | Op::Leave { slot }
        | Op::Nonsense { slot, .. }
        | Op::Steal { slot, .. } => *slot,
        Op::Stranger { .. } | Op::Visit { .. } => usize::MAX,
    }
}

/// The zxids of the step's transactions.
fn causes(op: &Op, outcome: &Outcome) -> Vec<i64> {
    let acting = outcome.tracks.iter().filter(|track| track.acting);
    acting.flat_map(|track| &track.seen).filter_map(|seen| cause(op, seen)).collect()
}

fn cause(op: &Op, seen: &Seen) -> Option<i64> {
    let Seen::Reply { reply, .. } = seen else { return None };
    ask_of(op, seen).filter(|ask| ask.is_write()).map(|_| reply.zxid)
}

/// The zxids an event at `index` can come from: on the connection that did the step, that of the
/// next reply, if it answers a write; elsewhere any of the step's.
fn causes_at(op: &Op, track: &Track, index: usize, all: &[i64]) -> Vec<i64> {
    if !track.acting {
        return all.to_vec();
    }
    let next = track.seen[index..].iter().find(|seen| matches!(seen, Seen::Reply { .. }));
    next.and_then(|seen| cause(op, seen)).into_iter().collect()
}

/// Puts into one order what has none.
///
/// A session's end deletes its ephemerals in the order of a hash, so the events of a closing may
/// come in any; a reply to auth may overtake the replies before it.
fn settle(op: &Op, outcome: &Outcome) -> Outcome {
    let mut outcome = outcome.clone();
    let closes = matches!(op, Op::Close { .. } | Op::Visit { .. });
    for track in &mut outcome.tracks {
        if closes {
            let both_events =
                |a: &Seen, b: &Seen| matches!((a, b), (Seen::Event(_), Seen::Event(_)));
            for run in track.seen.chunk_by_mut(both_events) {
                run.sort_by_key(|seen| {
                    let Seen::Event(event) = seen else { return None };
                    Some((event.path.clone(), event.kind))
                });
            }
        }
        let is_auth =
            |seen: &Seen| ask_of(op, seen).is_some_and(|ask| ask.opcode() == opcode::AUTH);
        let pipelined = matches!(op, Op::Ask { asks, .. } | Op::Visit { asks, .. } if asks.len() > 1)
            || matches!(op, Op::Visit { .. });
        if pipelined {
            let (mut auth, rest): (Vec<Seen>, Vec<Seen>) =
                track.seen.drain(..).partition(|seen| is_auth(seen));
            auth.sort_by_key(|seen| {
                let Seen::Reply { ask, .. } = seen else { return None };
                *ask
            });
            track.seen = rest;
            track.seen.append(&mut auth);
        }
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::differential::sabotage::Sabotage;
    use crate::raw::{Event, Reply, Stat, event, open_acl};

    /// Two views of servers that began at different zxids.
    fn views() -> (View, View) {
        let mut views = (View::new(1000), View::new(1000));
        views.0.set_base(100);
        views.1.set_base(5000);
        views
    }

    fn ask(request: Request) -> Op {
        Op::Ask { slot: 0, asks: vec![Ask::Plain(request)], xid: None }
    }

    fn reply(zxid: i64, err: i32, body: Body) -> Seen {
        Seen::Reply { ask: Some(0), reply: Reply { xid: 1, zxid, err, body, rest: vec![] } }
    }

    fn fired(zxid: i64, kind: i32, path: &str) -> Seen {
        Seen::Event(Event { zxid, err: 0, kind, state: 3, path: path.into(), rest: vec![] })
    }

    fn outcome(seen: Vec<Seen>) -> Outcome {
        Outcome { tracks: vec![Track { who: "s0".to_owned(), acting: true, seen }] }
    }

    /// Compares what two servers of `views` said; on success, the accepted differences used.
    fn compare(op: &Op, left: &Outcome, right: &Outcome) -> Result<Vec<&'static str>, Difference> {
        let mut comparison = Comparison::default();
        let (mut left_view, mut right_view) = views();
        comparison
            .compare(op, (left, right), (&mut left_view, &mut right_view))
            .map_err(|difference| *difference)?;
        Ok(comparison.used.into_keys().collect())
    }

    fn stat(zxid: i64) -> Stat {
        Stat { czxid: zxid, mzxid: zxid, pzxid: zxid, ctime: 1007, mtime: 1007, ..Stat::default() }
    }

    /// A write with two events before its reply, as a server that began at `base` tells it.
    fn written(base: i64) -> Outcome {
        outcome(vec![
            fired(-1, event::NODE_CREATED, "/a/b"),
            fired(-1, event::NODE_CHILDREN_CHANGED, "/a"),
            reply(base + 3, 0, Body::Created("/a/b".into(), stat(base + 3))),
            reply(base + 4, code::NO_NODE, Body::None),
        ])
    }

    fn writing() -> Op {
        ask(Request::Create {
            opcode: opcode::CREATE2,
            path: "/a/b".into(),
            data: None,
            acl: Some(open_acl()),
            flags: 0,
        })
    }

    #[test]
    fn servers_that_began_at_different_zxids_agree() {
        assert_eq!(compare(&writing(), &written(100), &written(5000)), Ok(vec![]));
        assert!(compare(&writing(), &written(100), &written(5001)).is_err());
    }

    #[test]
    fn every_sabotage_is_a_difference() {
        use clap::ValueEnum;
        for sabotage in Sabotage::value_variants() {
            let mut spoilt = written(5000);
            assert!(sabotage.spoil(&writing(), &mut spoilt), "{sabotage:?} finds nothing to do");
            let result = compare(&writing(), &written(100), &spoilt);
            assert!(result.is_err(), "{sabotage:?} goes unnoticed");
        }
    }

    #[test]
    fn only_a_session_s_end_may_shuffle_its_events() {
        let events = |zxid, paths: [&str; 2]| {
            let mut seen = paths.map(|path| fired(-1, event::NODE_DELETED, path)).to_vec();
            seen.push(reply(zxid, 0, Body::None));
            outcome(seen)
        };
        let (left, right) = (events(101, ["/a", "/b"]), events(5001, ["/b", "/a"]));
        assert_eq!(compare(&Op::Close { slot: 0 }, &left, &right), Ok(vec![]));
        let multi = ask(Request::Multi(vec![]));
        assert_eq!(compare(&multi, &left, &right).unwrap_err().index, 0);
    }

    #[test]
    fn an_event_s_zxid_is_that_of_its_cause_or_wrong() {
        let with = |base: i64, zxid| {
            outcome(vec![fired(zxid, event::NODE_DELETED, "/a"), reply(base + 2, 0, Body::None)])
        };
        let delete = ask(Request::Delete { path: "/a".into(), version: -1 });
        let used = Ok(vec!["event-zxid"]);
        assert_eq!(compare(&delete, &with(100, -1), &with(5000, 5002)), used);
        assert!(compare(&delete, &with(100, -1), &with(5000, 5001)).is_err());
        assert!(compare(&delete, &with(100, 102), &with(5000, -1)).is_err());
        // What setWatches sends has no cause.
        let read = Ask::SetWatches { two: false, back: 0, lists: WatchLists::empty() };
        let read = Op::Ask { slot: 0, asks: vec![read], xid: None };
        assert!(compare(&read, &with(100, -1), &with(5000, 5002)).is_err());
    }

    #[test]
    fn a_zxid_spent_on_an_unreadable_write_is_left_out_from_then_on() {
        let request = Request::Delete { path: "/a".into(), version: -1 };
        let cut = Ask::Cut { request: request.clone(), keep: 3 };
        let cut = Op::Ask { slot: 0, asks: vec![cut], xid: None };
        let unread = |zxid| outcome(vec![reply(zxid, code::MARSHALLING_ERROR, Body::None)]);
        let done = |zxid| outcome(vec![reply(zxid, 0, Body::None)]);
        let mut comparison = Comparison::default();
        let (mut left, mut right) = views();
        let mut equal = |op: &Op, l: &Outcome, r: &Outcome| {
            comparison.compare(op, (l, r), (&mut left, &mut right)).is_ok()
        };
        assert!(equal(&ask(request.clone()), &done(101), &done(5001)));
        assert!(equal(&cut, &unread(102), &unread(5001)));
        assert!(equal(&ask(request.clone()), &done(103), &done(5002)));
        assert!(!equal(&ask(request), &done(104), &done(5004)));
        assert!(!equal(&cut, &unread(106), &unread(5003)));
    }

    #[test]
    fn create2_inside_multi_must_show_a_fresh_stat() {
        let Op::Ask { asks, .. } = writing() else { unreachable!("it is a request") };
        let multi = ask(Request::Multi(vec![asks[0].request().unwrap().clone()]));
        let result = |zxid, opcode, body| {
            outcome(vec![reply(zxid, 0, Body::Multi(vec![OpResult { opcode, err: 0, body }]))])
        };
        let left = result(101, opcode::CREATE, Body::Path("/a/b".into()));
        let right = |stat| result(5001, opcode::CREATE2, Body::Created("/a/b".into(), stat));
        let used = Ok(vec!["create2-in-multi"]);
        assert_eq!(compare(&multi, &left, &right(stat(5001))), used);
        let stale = Stat { cversion: 1, ..stat(5001) };
        assert!(compare(&multi, &left, &right(stale)).is_err());
    }

    #[test]
    fn a_missing_connection_is_a_difference() {
        let lost = Outcome { tracks: vec![] };
        assert!(compare(&writing(), &written(100), &lost).is_err());
    }
}
