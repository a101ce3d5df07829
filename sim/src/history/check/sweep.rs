//! All positions in their order: each update is applied to one tree, each read is held against
//! it, and each change fires the watches that are armed.
//!
//! After a contradiction it goes on from what was observed, so that one defect is one finding. If
//! a call without an answer may explain the contradiction, it is taken to do so; if several may,
//! nobody can tell.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "of all that can be asked, only a few things matter here"
)]

use hashbrown::HashMap;

use super::evidence::{Suspects, makes, parts};
use super::order::{Close, Fate, Order};
use super::promise::Promise;
use super::report::{Finding, Report, Verdict};
use super::tell;
use super::watches::Watches;
use crate::history::intern::{PathId, ValueId};
use crate::history::store::{Asked, Effect, Event, History, StatId, Told};
use crate::history::tree::{Born, Change, Is, Mismatch, Tree, What, code};

/// So many explanations are tried for one contradiction.
const TRIES: usize = 8;

/// Something that takes a place and was answered to nobody.
#[derive(Clone, Copy, Debug)]
enum Unheard {
    /// An update without an answer.
    Call(usize),
    /// The end of a session.
    Close(i64),
    /// A transaction of somebody who is not in the history.
    Stranger(usize),
}

/// See the [module](self).
pub(super) struct Sweep<'a> {
    history: &'a History,
    order: Order,
    tree: Tree,
    watches: Watches,
    unheard: Vec<(i64, Unheard)>,
    suspects: Option<Suspects>,
    changes: Vec<Change>,
    /// Positions of updates without an answer that took effect.
    placed: Vec<i64>,
    /// Where sessions ended, by number.
    ended: HashMap<i64, i64>,
}

impl<'a> Sweep<'a> {
    pub(super) fn new(history: &'a History, order: Order) -> Self {
        let mut unheard = Vec::new();
        let mut placed = Vec::new();
        for (at, hidden) in order.hidden.iter().enumerate() {
            if let Fate::Placed(zxid) = hidden.fate {
                unheard.push((zxid, Unheard::Call(at)));
                placed.push(zxid);
            }
        }
        for (session, span) in history.sessions.iter().zip(&order.spans) {
            if let Some(Close { zxid, .. }) = span.close {
                let answered = order
                    .update_at(zxid)
                    .is_some_and(|op| history.ops[op as usize].ask == Asked::Close);
                let own = placed.contains(&zxid);
                if !answered && !own {
                    unheard.push((zxid, Unheard::Close(session.id)));
                }
            }
        }
        let mut this = Self {
            history,
            tree: Tree::new(history.header.fresh, &history.paths),
            watches: Watches::new(history),
            unheard,
            suspects: None,
            changes: Vec::new(),
            placed,
            ended: HashMap::new(),
            order,
        };
        this.strangers();
        this.unheard.sort_by_key(|(zxid, _)| *zxid);
        this.placed.sort_unstable();
        this
    }

    /// Transactions of those who are not in the history.
    fn strangers(&mut self) {
        let mut known: Vec<i64> = self.unheard.iter().map(|(zxid, _)| *zxid).collect();
        known.sort_unstable();
        for (at, txn) in self.history.txns.iter().enumerate() {
            let changes = matches!(txn.effect, Effect::Change { .. } | Effect::Close);
            if changes
                && known.binary_search(&txn.zxid).is_err()
                && self.order.update_at(txn.zxid).is_none()
            {
                self.unheard.push((txn.zxid, Unheard::Stranger(at)));
            }
        }
    }

    /// Goes through all positions.
    pub(super) fn run(&mut self, report: &mut Report) {
        let mut unheard = 0;
        let mut txns = self.history.txns.iter().peekable();
        let (mut reads, mut kept) = (0, 0);
        let mut last_update = (0, u32::MAX);
        for at in 0..self.order.keys.len() {
            let (key, index) = self.order.keys[at];
            let zxid = (key >> 1) as i64;
            let is_update = key & 1 == 0;
            while let Some((place, who)) = self.unheard.get(unheard).copied()
                && place <= zxid
            {
                unheard += 1;
                self.apply_unheard(place, who);
                self.fire(place, report);
                if is_update && place == zxid {
                    self.clash(zxid, who, index, report);
                }
            }
            if !is_update {
                reads += 1;
                self.read(index, zxid, report);
                continue;
            }
            if last_update.0 == zxid {
                let before = last_update.1;
                report.find(Promise::Lw, || Finding {
                    promise: Promise::Lw,
                    verdict: Verdict::Broken,
                    what: format!("two updates have position {}", tell::zxid(zxid)),
                    with: vec![tell::op(self.history, before), tell::op(self.history, index)],
                    because: Vec::new(),
                    cycle: Vec::new(),
                });
            }
            last_update = (zxid, index);
            if self.order.exact {
                while txns.next_if(|txn| txn.zxid < zxid).is_some() {}
                self.compare(index, zxid, txns.peek().filter(|txn| txn.zxid == zxid), report);
            }
            kept += u64::from(!matches!(self.history.ops[index as usize].said, Told::Error(_)));
            self.update(index, zxid, report);
            self.fire(zxid, report);
        }
        while let Some((place, who)) = self.unheard.get(unheard).copied() {
            unheard += 1;
            self.apply_unheard(place, who);
            self.fire(place, report);
        }
        report.checked(Promise::At, reads);
        report.checked(Promise::Rl1, kept);
        report.checked(Promise::Rl2, self.placed.len() as u64);
        self.digests(report);
    }

    /// What is left to be told of events, in the order in which they came.
    pub(super) fn finish(self, report: &mut Report) -> (Order, Vec<Event>) {
        let Self { history, order, watches, suspects, .. } = self;
        let suspects = suspects.unwrap_or_else(|| Suspects::of(history, &order));
        let doubts = |path: PathId, zxid: i64| {
            if order.exact {
                return Vec::new();
            }
            let calls = suspects.calls(history, path).into_iter();
            let open = calls.filter(|at| {
                let hidden = &order.hidden[*at];
                let between = zxid == 0 || hidden.lo < zxid && zxid < hidden.hi;
                matches!(hidden.fate, Fate::Open | Fate::Guessed) && between
            });
            open.map(|at| order.hidden[at].op).collect()
        };
        let events = watches.finish(history, &order, &doubts, report);
        (order, events)
    }

    fn fire(&mut self, zxid: i64, report: &mut Report) {
        if self.changes.is_empty() {
            return;
        }
        self.watches.fire(self.history, &self.changes);
        self.changes.clear();
        self.watches.settle(self.history, &self.order, zxid, report);
    }

    /// Two things cannot have one position.
    fn clash(&self, zxid: i64, who: Unheard, index: u32, report: &mut Report) {
        let promise = match who {
            Unheard::Close(_) => Promise::Se4,
            Unheard::Call(_) | Unheard::Stranger(_) => Promise::Lw,
        };
        report.find(promise, || Finding {
            promise,
            verdict: Verdict::Broken,
            what: format!("an update has position {}, where something else is", tell::zxid(zxid)),
            with: vec![tell::op(self.history, index)],
            because: Vec::new(),
            cycle: Vec::new(),
        });
    }

    /// The log says what is at each position.
    fn compare(
        &self,
        index: u32,
        zxid: i64,
        txn: Option<&&crate::history::store::Txn>,
        report: &mut Report,
    ) {
        let op = &self.history.ops[index as usize];
        let session = self.history.session_of(op);
        let session = session.map_or(0, |session| self.history.sessions[session as usize].id);
        let why = match txn {
            Some(txn) if txn.session == session && txn.cxid == op.xid => return,
            // The server asked for it by itself at the same time.
            Some(txn) if txn.effect == Effect::Close && op.ask == Asked::Close => return,
            Some(txn) => format!(
                "the log has request {} of session {:#x} at {}, not this one",
                txn.cxid,
                txn.session,
                tell::zxid(zxid)
            ),
            None if zxid > self.history.txns.last().map_or(0, |txn| txn.zxid) => return,
            None if zxid < self.history.txns.first().map_or(0, |txn| txn.zxid) => return,
            None => format!("the log has nothing at {}", tell::zxid(zxid)),
        };
        report.find(Promise::Lw, || Finding {
            promise: Promise::Lw,
            verdict: Verdict::Broken,
            what: why,
            with: vec![tell::op(self.history, index)],
            because: Vec::new(),
            cycle: Vec::new(),
        });
    }

    fn apply_unheard(&mut self, zxid: i64, who: Unheard) {
        match who {
            Unheard::Call(at) => {
                let hidden = self.order.hidden[at];
                self.apply_call(hidden.op, zxid);
            }
            Unheard::Close(session) => {
                self.ended.insert(session, zxid);
                self.tree.close(session, zxid, &self.history.paths, &mut self.changes);
            }
            Unheard::Stranger(at) => {
                let txn = self.history.txns[at];
                match txn.effect {
                    Effect::Change { first, count } => {
                        for part in first..first + count {
                            let ask = self.history.parts[part as usize];
                            self.apply(&ask, None, txn.session, zxid);
                        }
                    }
                    Effect::Close => {
                        self.tree.close(txn.session, zxid, &self.history.paths, &mut self.changes);
                    }
                    Effect::Error(_) | Effect::Open => {}
                }
            }
        }
    }

    /// What an update without an answer does, if it does anything here.
    fn apply_call(&mut self, op: u32, zxid: i64) -> bool {
        let history = self.history;
        let session = history.session_of(&history.ops[op as usize]);
        let session = session.map_or(0, |session| history.sessions[session as usize].id);
        let ask = &history.ops[op as usize].ask;
        if *ask == Asked::Close {
            self.ended.insert(session, zxid);
            self.tree.close(session, zxid, &history.paths, &mut self.changes);
            return true;
        }
        for part in parts(history, ask) {
            let Some(path) = self.final_path(part) else { return false };
            if self.tree.judge_done(part, path, &history.paths).is_err() {
                return false;
            }
            self.apply(part, Some(path), session, zxid);
        }
        true
    }

    /// Where a create without an answer has put its node.
    fn final_path(&self, ask: &Asked) -> Option<PathId> {
        let path = ask.path()?;
        if let Asked::Create { sequential: true, .. } = ask {
            let number = self.tree.sequence(self.history.paths.parent(path))?;
            let text = format!("{}{number:010}", self.history.paths.text(path));
            // A name that nobody has ever spoken of cannot matter.
            return self.history.paths.find(&text);
        }
        Some(path)
    }

    fn apply(&mut self, ask: &Asked, made: Option<PathId>, session: i64, zxid: i64) {
        let paths = &self.history.paths;
        let length = |data: ValueId| {
            let length = self.history.values.get(data).map_or(0, <[u8]>::len);
            i32::try_from(length).unwrap_or(i32::MAX)
        };
        match ask {
            Asked::Create { path, data, acl, mode, .. } => {
                let acl = self.plain(*acl);
                let born = Born::of(*mode, session, *data, length(*data), acl);
                let path = made.unwrap_or(*path);
                self.tree.create(path, zxid, &born, paths, &mut self.changes);
            }
            Asked::Delete { path, .. } => self.tree.delete(*path, zxid, paths, &mut self.changes),
            Asked::SetData { path, data, .. } => {
                self.tree.set_data(*path, zxid, (*data, length(*data)), &mut self.changes);
            }
            Asked::SetAcl { path, acl, .. } => {
                let acl = self.plain(*acl);
                self.tree.set_acl(*path, zxid, acl);
            }
            _ => {}
        }
    }

    /// An ACL that servers keep as it is given, and show to everybody.
    fn plain(&self, acl: ValueId) -> Option<ValueId> {
        let Some(lines) = self.history.values.get(acl) else { return Some(acl) };
        let mut lines = lines.split(|byte| *byte == b'\n');
        let plain =
            lines.clone().all(|line| line.starts_with(b"world:") || line.starts_with(b"ip:"));
        let once = lines
            .clone()
            .enumerate()
            .all(|(at, line)| lines.clone().take(at).all(|other| other != line));
        let any = lines.next().is_some();
        (plain && once && any).then_some(acl)
    }

    /// An update that was answered.
    fn update(&mut self, index: u32, zxid: i64, report: &mut Report) {
        let history = self.history;
        let op = &history.ops[index as usize];
        let session = history.session_of(op);
        let session = session.map_or(0, |session| history.sessions[session as usize].id);
        match (op.ask, op.said) {
            (_, Told::Unknown) => {}
            (Asked::Close, Told::Error(_)) => {}
            (Asked::Close, _) => {
                self.ended.insert(session, zxid);
                self.tree.close(session, zxid, &history.paths, &mut self.changes);
            }
            (Asked::Multi { first, count }, Told::Parts { first: results, .. }) => {
                let asks = &history.parts[first as usize..][..count as usize];
                let results = &history.results[results as usize..][..count as usize];
                self.multi(index, session, zxid, (asks, results), report);
            }
            (Asked::Multi { .. }, _) => {}
            (ask, Told::Error(code)) => {
                let judge =
                    |this: &mut Self| this.tree.judge_refused(&ask, code, &this.history.paths);
                if !self.hold(index, zxid, &judge, report) && !self.order.exact {
                    self.learn_refused(&ask, code);
                }
            }
            (ask, said) => {
                let made = Self::made(&ask, &said);
                let judge = |this: &mut Self| this.judge_done(&ask, made);
                self.hold(index, zxid, &judge, report);
                self.sequences(&ask, report);
                self.apply(&ask, made, session, zxid);
                self.result(index, zxid, &ask, &said, report);
            }
        }
    }

    fn judge_done(&self, ask: &Asked, made: Option<PathId>) -> Result<(), Mismatch> {
        let Some(path) = made else { return Ok(()) };
        self.tree.judge_done(ask, path, &self.history.paths)
    }

    fn sequences(&self, ask: &Asked, report: &mut Report) {
        match ask {
            Asked::Create { sequential: true, .. } => report.checked(Promise::Sequence, 1),
            Asked::Create { mode: crate::history::record::Mode::Ephemeral, .. } => {
                report.checked(Promise::Ep1, 1);
            }
            _ => {}
        }
    }

    /// The node that an update is about, with the name that it was given.
    const fn made(ask: &Asked, said: &Told) -> Option<PathId> {
        match (ask, said) {
            (Asked::Create { .. }, Told::Created { path, .. }) => Some(*path),
            (Asked::Create { sequential: true, .. }, _) => None,
            (ask, _) => ask.path(),
        }
    }

    /// The stat that a successful update was answered with is that of its node after it.
    fn result(&mut self, index: u32, zxid: i64, ask: &Asked, said: &Told, report: &mut Report) {
        let (Told::Created { stat, .. } | Told::Stat(stat)) = said else { return };
        let (Some(path), Some(stat)) = (Self::made(ask, said), self.history.stat(*stat)) else {
            return;
        };
        let judge = |this: &mut Self| this.tree.judge_stat(path, stat);
        self.hold(index, zxid, &judge, report);
        self.tree.learn_stat(path, stat, &self.history.paths);
    }

    fn multi(
        &mut self,
        index: u32,
        session: i64,
        zxid: i64,
        (asks, results): (&[Asked], &[Told]),
        report: &mut Report,
    ) {
        let failed = results.iter().position(|result| {
            !matches!(result, Told::Error(0 | -2)) && matches!(result, Told::Error(_))
        });
        let Some(failed) = failed else {
            for (ask, said) in asks.iter().zip(results) {
                let made = Self::made(ask, said);
                let judge = |this: &mut Self| this.judge_done(ask, made);
                self.hold(index, zxid, &judge, report);
                self.sequences(ask, report);
                self.apply(ask, made, session, zxid);
                self.result(index, zxid, ask, said, report);
            }
            return;
        };
        let shape = results.iter().enumerate().all(|(at, result)| match at.cmp(&failed) {
            std::cmp::Ordering::Less => *result == Told::Error(0),
            std::cmp::Ordering::Equal => true,
            std::cmp::Ordering::Greater => *result == Told::Error(-2),
        });
        if !shape {
            report.find(Promise::At, || Finding {
                promise: Promise::At,
                verdict: Verdict::Broken,
                what: "a multi failed, and not all of its parts with it".into(),
                with: vec![tell::op(self.history, index)],
                because: Vec::new(),
                cycle: Vec::new(),
            });
        }
        let Told::Error(code) = results[failed] else { return };
        let judge = |this: &mut Self| {
            let mark = this.tree.begin();
            let changes = std::mem::take(&mut this.changes);
            let judged = this.try_on((&asks[..failed], &asks[failed]), code, session, zxid);
            this.changes = changes;
            this.tree.end(mark, false);
            judged
        };
        self.hold(index, zxid, &judge, report);
    }

    /// A multi that failed: the parts before the one that failed would have been done.
    fn try_on(
        &mut self,
        (done, failed): (&[Asked], &Asked),
        code: i32,
        session: i64,
        zxid: i64,
    ) -> Result<(), Mismatch> {
        for ask in done {
            let Some(path) = self.final_path(ask) else { return Ok(()) };
            self.judge_done(ask, Some(path))?;
            self.apply(ask, Some(path), session, zxid);
        }
        self.tree.judge_refused(failed, code, &self.history.paths)
    }

    /// A read that was answered.
    fn read(&mut self, index: u32, zxid: i64, report: &mut Report) {
        let history = self.history;
        let op = &history.ops[index as usize];
        if let (Asked::MultiRead { first, count }, Told::Parts { first: results, .. }) =
            (op.ask, op.said)
        {
            for part in 0..count {
                let ask = history.parts[(first + part) as usize];
                let said = history.results[(results + part) as usize];
                self.read_one(index, zxid, &ask, &said, report);
            }
            return;
        }
        self.read_one(index, zxid, &op.ask, &op.said, report);
        let conn = op.conn;
        let missing = op.said == Told::Error(code::NO_NODE);
        let done = !matches!(op.said, Told::Error(_));
        match op.ask {
            Asked::Exists { path, watch: true } if done || missing => {
                self.watches.watch(path, conn, false);
            }
            Asked::GetData { path, watch: true } if done => self.watches.watch(path, conn, false),
            Asked::GetChildren { path, watch: true } if done => {
                self.watches.watch(path, conn, true);
            }
            Asked::AddWatch { path, recursive } if done => {
                self.watches.add_watch(path, conn, recursive);
            }
            Asked::RemoveWatches { path, kind } if done => self.watches.remove(path, conn, kind),
            Asked::SetWatches { index: list } if done => {
                let restore = &history.restores[list as usize];
                self.watches.restore(history, &self.tree, restore, index, report);
            }
            _ => {}
        }
    }

    fn read_one(&mut self, index: u32, zxid: i64, ask: &Asked, said: &Told, report: &mut Report) {
        let Some(path) = ask.path() else { return };
        match ask {
            Asked::Exists { .. }
            | Asked::GetAcl { .. }
            | Asked::GetChildren { .. }
            | Asked::GetData { .. } => {}
            _ => return,
        }
        let judge = |this: &mut Self| this.judge_read(path, ask, said);
        if !self.hold(index, zxid, &judge, report) && self.order.exact {
            return;
        }
        self.learn(path, said);
    }

    fn judge_read(&self, path: PathId, ask: &Asked, said: &Told) -> Result<(), Mismatch> {
        let tree = &self.tree;
        let stat =
            |id: StatId| self.history.stat(id).map_or(Ok(()), |stat| tree.judge_stat(path, stat));
        match said {
            Told::Acl { acl, stat: id } => {
                stat(*id)?;
                match self.plain(*acl) {
                    Some(acl) => tree.judge_acl(path, acl),
                    None => tree.judge_there(path),
                }
            }
            Told::Children { list, stat: id } => {
                stat(*id)?;
                tree.judge_children(path, &self.history.lists[*list as usize])
            }
            Told::Data { data, stat: id } => {
                stat(*id)?;
                tree.judge_data(path, *data)
            }
            Told::Stat(id) => {
                stat(*id)?;
                tree.judge_there(path)
            }
            Told::Error(code::NO_NODE) => tree.judge_missing(path),
            Told::Created { .. }
            | Told::Done
            | Told::Error(_)
            | Told::Parts { .. }
            | Told::Unknown => {
                let _ = ask;
                Ok(())
            }
        }
    }

    /// The node is as a reply shows it.
    fn learn(&mut self, path: PathId, said: &Told) {
        let history = self.history;
        let paths = &history.paths;
        let (Told::Acl { stat, .. }
        | Told::Children { stat, .. }
        | Told::Data { stat, .. }
        | Told::Stat(stat)) = said
        else {
            if *said == Told::Error(code::NO_NODE) {
                self.tree.learn_missing(path, paths);
            }
            return;
        };
        if let Some(stat) = history.stat(*stat) {
            self.tree.learn_stat(path, stat, paths);
        }
        match said {
            Told::Acl { acl, .. } => {
                if let Some(acl) = self.plain(*acl) {
                    self.tree.learn_acl(path, acl, paths);
                }
            }
            Told::Children { list, .. } => {
                let list = &history.lists[*list as usize];
                let names = &history.names[list.first as usize..][..list.count as usize];
                self.tree.learn_children(path, list, names, paths);
            }
            Told::Data { data, .. } => self.tree.learn_data(path, *data, paths),
            _ => self.tree.learn_there(path, paths),
        }
    }

    fn learn_refused(&mut self, ask: &Asked, refused: i32) {
        let Some(path) = ask.path() else { return };
        let paths = &self.history.paths;
        match (ask, refused) {
            (Asked::Create { sequential: true, .. }, _) => {}
            (Asked::Create { .. }, code::NO_NODE) => {
                self.tree.learn_missing(paths.parent(path), paths);
            }
            (_, code::NO_NODE) => self.tree.learn_missing(path, paths),
            (_, code::BAD_VERSION | code::NODE_EXISTS | code::NOT_EMPTY) => {
                if self.tree.node(path).is == Is::Present {
                    self.tree.forget(path);
                }
                self.tree.learn_there(path, paths);
            }
            _ => {}
        }
    }

    /// Whether an answer can be. If not, and nothing explains it, that is a finding.
    fn hold(
        &mut self,
        index: u32,
        zxid: i64,
        judge: &dyn Fn(&mut Self) -> Result<(), Mismatch>,
        report: &mut Report,
    ) -> bool {
        let Err(mismatch) = judge(self) else { return true };
        // Servers write there by themselves, and say so to nobody.
        if self.history.paths.text(mismatch.path).starts_with("/zookeeper") {
            return true;
        }
        if self.order.exact {
            self.blame(index, zxid, &mismatch, Vec::new(), Verdict::Broken, report);
            return false;
        }
        // What earlier parts of the same update changed is not to be mixed up with what is tried.
        let changes = std::mem::take(&mut self.changes);
        let explained = self.explain(index, zxid, mismatch, judge, report);
        self.changes = changes;
        explained
    }

    #[cold]
    fn explain(
        &mut self,
        index: u32,
        zxid: i64,
        mut mismatch: Mismatch,
        judge: &dyn Fn(&mut Self) -> Result<(), Mismatch>,
        report: &mut Report,
    ) -> bool {
        let path = mismatch.path;
        // A server may take such nodes away by itself.
        let node = self.tree.node(path);
        if node.fleeting && mismatch.what == What::IsMissing && node.count().is_none_or(|n| n == 0)
        {
            self.tree.learn_missing(path, &self.history.paths);
            self.watches.doubt(path);
            match judge(self) {
                Ok(()) => return true,
                Err(next) => mismatch = next,
            }
        }
        let (calls, ends) = self.movable(path, zxid);
        let mut guessed = node.guessed;
        if calls.len() + ends.len() <= TRIES {
            for at in &calls {
                let op = self.order.hidden[*at].op;
                let mark = self.tree.begin();
                let fits = self.apply_call(op, 0) && judge(self).is_ok();
                self.tree.end(mark, fits);
                self.doubt_changes(fits);
                if fits {
                    self.order.hidden[*at].fate = Fate::Guessed;
                    return true;
                }
            }
            for session in &ends {
                let id = self.history.sessions[*session as usize].id;
                let mark = self.tree.begin();
                self.tree.close(id, 0, &self.history.paths, &mut self.changes);
                let fits = judge(self).is_ok();
                self.tree.end(mark, fits);
                self.doubt_changes(fits);
                if fits {
                    return true;
                }
            }
        }
        let mut because: Vec<u32> = calls.iter().map(|at| self.order.hidden[*at].op).collect();
        if let Some(suspects) = &self.suspects {
            let spent = suspects.calls(self.history, path).into_iter();
            let spent = spent.filter(|at| self.order.hidden[*at].fate == Fate::Guessed);
            let spent: Vec<usize> = spent.collect();
            guessed |= !spent.is_empty();
            because.extend(spent.into_iter().map(|at| self.order.hidden[at].op));
        }
        let open = !self.history.header.closed;
        let unsure = guessed || open || !because.is_empty() || !ends.is_empty();
        let verdict = if unsure { Verdict::Inconclusive } else { Verdict::Broken };
        self.blame(index, zxid, &mismatch, because, verdict, report);
        if unsure {
            self.watches.doubt(path);
            self.watches.doubt(self.history.paths.parent(path));
        }
        false
    }

    fn doubt_changes(&mut self, kept: bool) {
        for change in std::mem::take(&mut self.changes) {
            if kept {
                self.watches.doubt(change.path);
            }
        }
    }

    /// What may have touched a node without anybody having been told.
    fn movable(&mut self, path: PathId, zxid: i64) -> (Vec<usize>, Vec<u32>) {
        let (history, order) = (self.history, &self.order);
        let suspects = self.suspects.get_or_insert_with(|| Suspects::of(history, order));
        let open = |at: &usize| {
            let hidden = &order.hidden[*at];
            hidden.fate == Fate::Open && hidden.lo < zxid
        };
        let near = |at: &usize| {
            let ask = &history.ops[order.hidden[*at].op as usize].ask;
            parts(history, ask).iter().any(|part| {
                let touched = part.path();
                let above = touched.map(|touched| history.paths.parent(touched));
                touched == Some(path) || above == Some(path) || makes(history, part, path)
            })
        };
        let calls = suspects.calls(history, path).into_iter();
        let calls = calls.filter(open).filter(near).collect();
        let ended = |session: &u32| {
            let span = &order.spans[*session as usize];
            span.close.is_none() && span.last < zxid
        };
        let mut ends: Vec<u32> = suspects.owners(path).filter(ended).collect();
        ends.sort_unstable();
        ends.dedup();
        (calls, ends)
    }

    /// Says which promise an answer breaks.
    fn blame(
        &self,
        index: u32,
        zxid: i64,
        mismatch: &Mismatch,
        because: Vec<u32>,
        verdict: Verdict,
        report: &mut Report,
    ) {
        let history = self.history;
        let op = &history.ops[index as usize];
        let node = self.tree.node(mismatch.path);
        let stat = match op.said {
            Told::Acl { stat, .. }
            | Told::Children { stat, .. }
            | Told::Data { stat, .. }
            | Told::Stat(stat) => history.stat(stat),
            _ => None,
        };
        let owner = stat.map_or(0, |stat| stat.ephemeral_owner.0);
        let over = |session: i64| self.ended.get(&session).is_some_and(|end| *end <= zxid);
        let seen = |at: i64| self.placed.binary_search(&at).is_ok();
        let promise = match &mismatch.what {
            What::Sequence { .. } => Promise::Sequence,
            What::IsEphemeral(true) => Promise::Ep1,
            What::Number { name: "ephemeralOwner", .. } => Promise::Ep1,
            What::IsThere if owner != 0 && over(owner) => Promise::Ep2,
            What::IsMissing if node.owner().is_some() && op.said == Told::Error(code::NO_NODE) => {
                Promise::Ep3
            }
            _ if op.is_update() => Promise::Lw,
            What::Number { name: "mzxid" | "czxid", said, .. } if *said > zxid => Promise::At,
            What::Number { name: "mzxid", said, due } if said < due => {
                if seen(*due) {
                    Promise::Rl2
                } else {
                    Promise::Rl1
                }
            }
            What::IsMissing => Promise::Rl1,
            _ => Promise::At,
        };
        report.add(promise, verdict, || {
            let said = tell::mismatch(history, mismatch);
            let must = if verdict == Verdict::Broken { "" } else { " as far as is known" };
            let what = format!("at {}{must}, {said}", tell::zxid(zxid));
            let made = [node.mzxid(), node.pzxid()].into_iter().flatten();
            let mut made: Vec<u32> =
                made.filter_map(|at| self.order.update_at(at)).filter(|op| *op != index).collect();
            made.dedup();
            Finding {
                promise,
                verdict,
                what,
                with: made.into_iter().chain([index]).map(|op| tell::op(history, op)).collect(),
                because: because.into_iter().map(|op| tell::op(history, op)).collect(),
                cycle: Vec::new(),
            }
        });
    }

    /// Servers with the same zxid have the same tree.
    fn digests(&self, report: &mut Report) {
        let mut digests: Vec<_> = self.history.digests.iter().collect();
        digests.sort_by_key(|digest| digest.zxid);
        for same in digests.chunk_by(|one, other| one.zxid == other.zxid) {
            for other in &same[1..] {
                report.checked(Promise::Digest, 1);
                if other.digest == same[0].digest {
                    continue;
                }
                report.find(Promise::Digest, || Finding {
                    promise: Promise::Digest,
                    verdict: Verdict::Broken,
                    what: format!(
                        "at {} server {} has digest {:#x}, and server {} has {:#x}",
                        tell::zxid(other.zxid),
                        same[0].server,
                        same[0].digest,
                        other.server,
                        other.digest
                    ),
                    with: Vec::new(),
                    because: Vec::new(),
                    cycle: Vec::new(),
                });
            }
        }
    }
}
