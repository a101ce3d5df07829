//! Histories of a service that is made up: a leader that decides, replicas that lag behind it,
//! clients that ask many things at once, lose their connections and come back.
//!
//! They keep every promise by construction, except for the one [`Defect`] that may be planted.
//! The service has a tree of its own, which knows nothing of the checker's.

#![expect(clippy::wildcard_enum_match_arm, reason = "each turn is about a few kinds of requests")]

mod client;
mod defect;
mod service;

use std::collections::{BTreeSet, VecDeque};

pub use self::defect::Defect;

use self::client::{Client, List, Pending, Stage, Wish};
use self::service::{Change, Entry, Key, Replica, Work};
use crate::history::hex::{Bytes, Hex};
use crate::history::record::{Answer, Ask, Header, Kind, Mode, Part, Record, SetWatches, State};
use crate::luck::Luck;

/// What kind of history.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// All of it follows from this.
    pub seed: u64,
    /// How many operations, about.
    pub ops: u64,
    /// How many clients at a time.
    pub clients: u32,
    /// How many nodes have children.
    pub parents: u32,
    /// How many children each of them may have.
    pub children: u32,
    /// How many servers.
    pub servers: u32,
    /// One connection in so many operations is lost.
    pub loss: u64,
    /// One read in so many sets a watch.
    pub watch: u64,
    /// Whether the log is part of the history.
    pub log: bool,
    /// What goes wrong.
    pub defect: Option<Defect>,
}

impl Plan {
    /// Of moderate size, with everything in it.
    #[must_use]
    pub const fn new(seed: u64, ops: u64) -> Self {
        Self {
            seed,
            ops,
            clients: 20,
            parents: 8,
            children: 6,
            servers: 3,
            loss: 250,
            watch: 5,
            log: true,
            defect: None,
        }
    }
}

/// What came of it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Outcome {
    /// Whether the defect happened.
    pub happened: bool,
    /// Whether it left a trace in what clients heard.
    pub observable: bool,
}

/// Ticks are short, so that sessions end within a history of moderate length.
const TICK_MS: u32 = 4;
const TIMEOUT_MS: u32 = 20;
/// Where the first epoch begins.
const EPOCH: i64 = 1 << 32;
/// A bound on staleness that a server that goes on keeps, in microseconds.
pub const STALE_US: u64 = 10_000;
/// A session is over so long after its timeout, in microseconds.
pub const LATE_US: u64 = 30_000;

/// The first line of such a history.
#[must_use]
pub fn header() -> Header {
    Header { tick_ms: Some(TICK_MS), ..Header::new("generated") }
}

/// Makes one up.
pub fn generate(plan: &Plan, out: &mut dyn FnMut(Record)) -> Outcome {
    let mut this = Service {
        plan: *plan,
        luck: Luck::new(plan.seed),
        at: 1,
        zxid: EPOCH,
        first: EPOCH + 1,
        log: VecDeque::new(),
        leader: Replica::default(),
        replicas: (0..plan.servers).map(|_| Replica::default()).collect(),
        clients: Vec::new(),
        conns: 0,
        sessions: 0,
        values: 0,
        issued: 0,
        leaving: Vec::new(),
        newest: 0,
        settled: 0,
        outcome: Outcome::default(),
        victim: None,
        held: None,
        gap: None,
        frozen: None,
        exposes: false,
        txns: Vec::new(),
        out,
    };
    this.run();
    this.outcome
}

struct Service<'a> {
    plan: Plan,
    luck: Luck,
    at: u64,
    /// The newest transaction.
    zxid: i64,
    /// The position of the first entry that is kept.
    first: i64,
    log: VecDeque<Entry>,
    leader: Replica,
    replicas: Vec<Replica>,
    clients: Vec<Client>,
    conns: u64,
    sessions: i64,
    values: u64,
    issued: u64,
    /// Sessions that end when nobody comes back: when, and whose.
    leaving: Vec<(u64, usize)>,
    /// The newest position that anybody has been told, and what it was a moment ago.
    newest: i64,
    settled: i64,
    outcome: Outcome,
    /// The node that is wrong for everybody, since when, and whose it should be.
    victim: Option<(Key, i64, i64)>,
    /// An event that comes late.
    held: Option<(usize, Record)>,
    /// A position that was left out for a write to come.
    gap: Option<i64>,
    frozen: Option<(usize, u64)>,
    /// The write that is decided shows the defect, if its answer is heard.
    exposes: bool,
    txns: Vec<Record>,
    out: &'a mut dyn FnMut(Record),
}

impl Service<'_> {
    fn run(&mut self) {
        for _ in 0..self.plan.clients {
            self.clients.push(Client::default());
        }
        for client in 0..self.clients.len() {
            self.join(client);
        }
        for parent in 0..self.plan.parents {
            self.issue(0, Wish::Create(Key::Parent(parent), Mode::Persistent, 0));
        }
        while self.issued < self.plan.ops {
            self.step();
        }
        // What has been asked is answered, as far as there is somebody to hear it.
        for _ in 0..64 {
            for client in 0..self.clients.len() {
                self.progress(client);
            }
            for replica in 0..self.replicas.len() {
                self.advance(replica, 1 << 20);
            }
        }
        let mut txns = std::mem::take(&mut self.txns);
        txns.sort_by_key(|record| match record {
            Record::Txn { zxid, .. } => *zxid,
            _ => Hex(0),
        });
        txns.into_iter().for_each(|txn| (self.out)(txn));
    }

    fn step(&mut self) {
        self.settled = self.newest;
        self.at += 1 + self.luck.next() % 8;
        let client = self.luck.below(self.clients.len());
        self.ask(client);
        let client = self.luck.below(self.clients.len());
        self.progress(client);
        let replica = self.luck.below(self.replicas.len());
        let so_many = self.luck.below(1 + 2 * self.replicas.len());
        self.advance(replica, so_many);
        if self.one_in(self.plan.loss) {
            let client = self.luck.below(self.clients.len());
            self.lose(client);
        }
        self.expire();
        if self.issued > self.plan.ops / 2 && !self.outcome.happened {
            self.misbehave();
        }
    }

    /// Whether this goes wrong now.
    fn goes_wrong(&self, defect: Defect) -> bool {
        self.plan.defect == Some(defect)
            && !self.outcome.happened
            && self.issued > self.plan.ops / 2
    }

    fn happen(&mut self, observable: bool) {
        self.outcome.happened = true;
        self.outcome.observable |= observable;
    }

    fn emit(&mut self, mut record: Record) {
        if let Record::Event { at, .. } = &mut record {
            // It may have been held back.
            *at = self.at;
        }
        (self.out)(record);
    }

    const fn one_in(&mut self, of: u64) -> bool {
        self.luck.next().is_multiple_of(of)
    }

    fn value(&mut self) -> u64 {
        self.values += 1;
        self.values
    }

    // ---- sessions -------------------------------------------------------------------------

    /// A client without a session opens one.
    fn join(&mut self, client: usize) {
        let duplicate = self.goes_wrong(Defect::DuplicateSession);
        let session = if duplicate {
            self.happen(true);
            self.clients[(client + 1) % self.clients.len()].session
        } else {
            self.sessions += 1;
            let session = 0x1000_0000 + self.sessions;
            self.append(session, 0, Work::Open, None);
            session
        };
        let handle = self.clients[client].handle + 1;
        self.clients[client] =
            Client { session, handle, number: client as u64, ..Client::default() };
        self.connect(client, None);
    }

    fn connect(&mut self, client: usize, session: Option<i64>) {
        let mut replica = self.luck.below(self.replicas.len());
        if self.frozen.is_some_and(|(frozen, _)| frozen == replica) {
            replica = (replica + 1) % self.replicas.len();
        }
        if session.is_some() && self.goes_wrong(Defect::FailoverBehind) {
            let oldest = |replica: &usize| self.replicas[*replica].zxid;
            replica = (0..self.replicas.len()).min_by_key(oldest).unwrap_or(replica);
        }
        let seen = self.clients[client].seen;
        let behind = self.replicas[replica].zxid < seen;
        let wrong = behind && session.is_some() && self.goes_wrong(Defect::FailoverBehind);
        if wrong {
            self.clients[client].behind = true;
        }
        while !wrong && (self.replicas[replica].zxid < seen || session.is_none()) {
            let before = self.replicas[replica].zxid;
            self.advance_one(replica, true);
            if self.replicas[replica].zxid == before {
                break;
            }
        }
        self.conns += 1;
        let (at, conn) = (self.at, self.conns);
        let handle = self.clients[client].name();
        let server = format!("zk{}", replica + 1);
        self.emit(Record::Connect { at, conn, client: Some(handle), server });
        let seen_hex = Some(Hex(seen));
        self.emit(Record::Hello { at, conn, session: session.map(Hex), seen: seen_hex });
        let id = self.clients[client].session;
        self.at += 2;
        let at = self.at;
        self.emit(Record::Open { at, conn, session: Hex(id), timeout_ms: TIMEOUT_MS });
        self.emit(Record::State { at, client: handle, state: State::Connected });
        if self.goes_wrong(Defect::ConnectedTwice) {
            self.happen(true);
            self.emit(Record::State { at, client: handle, state: State::Connected });
        }
        let this = &mut self.clients[client];
        (this.conn, this.replica, this.opened) = (Some(conn), replica, at);
        if !this.watched.is_empty() {
            this.relative = this.seen;
            self.issue(client, Wish::Restore);
        }
        if wrong {
            // It is asked before it has caught up.
            if self.clients[client].pending.is_empty() {
                self.issue(client, Wish::Exists(Key::Parent(0), false));
            }
            self.progress(client);
        }
    }

    fn lose(&mut self, client: usize) {
        let Some(conn) = self.clients[client].conn.take() else { return };
        let (at, name) = (self.at, self.clients[client].name());
        self.emit(Record::Lost { at, conn });
        self.emit(Record::State { at, client: name, state: State::Disconnected });
        let replica = self.clients[client].replica;
        self.replicas[replica].forget(conn);
        self.held.take_if(|(whose, _)| *whose == client);
        let this = &mut self.clients[client];
        this.pending.clear();
        (this.missed, this.shared, this.lied) = (0, None, false);
        // Watches whose answer was not heard are not known to the client.
        let back = !self.one_in(4) || self.goes_wrong(Defect::FailoverBehind);
        if back {
            let session = self.clients[client].session;
            self.at += 1 + self.luck.next() % 64;
            self.connect(client, Some(session));
        } else {
            let wait = u64::from(TIMEOUT_MS + 1 + TICK_MS) * 1000;
            let early = self.goes_wrong(Defect::EarlyExpiry) && self.clients[client].acted;
            if early {
                self.clients[client].hurried = true;
            }
            let due = if early { self.at } else { self.at + wait };
            self.leaving.push((due, client));
        }
    }

    fn expire(&mut self) {
        let at = self.at;
        let Some(due) = self.leaving.iter().position(|(due, _)| *due <= at) else { return };
        if self.goes_wrong(Defect::LateExpiry) {
            let (due, client) = self.leaving[due];
            // Much happens in between.
            if at < due + 2 * LATE_US {
                self.clients[client].overdue = true;
                return;
            }
        }
        let (_, client) = self.leaving.swap_remove(due);
        let this = &mut self.clients[client];
        let (overdue, session) = (std::mem::take(&mut this.overdue), this.session);
        let early = std::mem::take(&mut this.hurried);
        self.end(session, 0, None);
        if overdue && self.goes_wrong(Defect::LateExpiry) {
            self.happen(true);
        }
        if early && self.goes_wrong(Defect::EarlyExpiry) {
            // Somebody is told of something newer while the session should still be there.
            self.happen(true);
            self.probe();
        }
        self.conns += 1;
        let (at, conn, name) = (self.at, self.conns, self.clients[client].name());
        self.emit(Record::Connect { at, conn, client: Some(name), server: "zk1".into() });
        self.emit(Record::Hello { at, conn, session: Some(Hex(session)), seen: None });
        self.emit(Record::Expired { at, conn });
        self.emit(Record::State { at, client: name, state: State::Expired });
        self.emit(Record::Lost { at, conn });
        self.join(client);
    }

    /// Some client reads what is newest.
    fn probe(&mut self) {
        let Some(client) = self.clients.iter().position(|client| client.conn.is_some()) else {
            return;
        };
        let replica = self.clients[client].replica;
        self.advance(replica, usize::MAX);
        let session = self.clients[client].pending.len();
        for _ in 0..=session {
            self.progress(client);
            self.advance(replica, usize::MAX);
        }
        self.issue(client, Wish::Exists(Key::Parent(0), false));
        for _ in 0..4 {
            self.progress(client);
            self.advance(replica, usize::MAX);
        }
    }

    /// A session ends.
    fn end(&mut self, session: i64, cxid: i32, who: Option<(usize, u64)>) -> i64 {
        let mut gone: Vec<Key> = self.leader.owned_by(session);
        if self.goes_wrong(Defect::EphemeralLeft)
            && let Some(left) = gone.pop()
        {
            self.victim = Some((left, self.zxid + 1, 0));
            self.happen(false);
        }
        if self.victim.is_some_and(|(key, _, owner)| gone.contains(&key) || owner == session) {
            self.victim = None;
        }
        self.append(session, cxid, Work::Close(gone), who)
    }

    // ---- the leader -----------------------------------------------------------------------

    /// The next transaction. `who` is to be answered when it is applied.
    fn append(&mut self, session: i64, cxid: i32, work: Work, who: Option<(usize, u64)>) -> i64 {
        self.zxid += 1;
        let zxid = self.zxid;
        self.log_txn(zxid, session, cxid, &work);
        self.leader.apply(zxid, &work);
        self.log.push_back(Entry { zxid, who, work });
        zxid
    }

    fn log_txn(&mut self, zxid: i64, session: i64, cxid: i32, work: &Work) {
        if self.plan.log {
            let change = work.change();
            self.txns.push(Record::Txn { zxid: Hex(zxid), session: Hex(session), cxid, change });
        }
    }

    /// A write takes its place. Returns its position and its answer.
    fn decide(&mut self, client: usize, xid: i32, wish: &Wish) -> i64 {
        let session = self.clients[client].session;
        let conn = self.clients[client].conn.unwrap_or(0);
        if *wish == Wish::Close {
            return self.end(session, xid, Some((client, conn)));
        }
        self.exposes = self.is_shown(wish, self.zxid);
        let mut tried = Vec::new();
        let mut refused = None;
        let parts: Vec<Wish> = match wish {
            Wish::Multi(parts) => parts.clone(),
            _ => vec![wish.clone()],
        };
        let undo = self.leader.clone_of(&parts);
        let mut results = Vec::new();
        let zxid = self.zxid + 1;
        for part in &parts {
            let decided = self.one(session, part, parts.len() > 1);
            match decided {
                Ok((change, answer)) => {
                    self.leader.change(zxid, &change);
                    let stat = answer.then(|| change.key()).and_then(|key| self.leader.stat(key));
                    let path = matches!(change, Change::Create { .. }).then(|| change.key().path());
                    results.push(Part {
                        err: None,
                        ok: Some(Answer { path, stat, ..Answer::default() }),
                    });
                    tried.push(change);
                }
                Err(code) => {
                    refused = Some(code);
                    break;
                }
            }
        }
        self.leader.restore(undo);
        let multi = matches!(wish, Wish::Multi(_));
        let (work, answer) = match refused {
            Some(code) => {
                let failed = results.len();
                let part = |at: usize| Part {
                    err: Some(match at.cmp(&failed) {
                        std::cmp::Ordering::Less => 0,
                        std::cmp::Ordering::Equal => code,
                        std::cmp::Ordering::Greater => -2,
                    }),
                    ok: None,
                };
                let parts = (0..parts.len()).map(part).collect();
                let answer = if multi {
                    Ok(Answer { parts: Some(parts), ..Answer::default() })
                } else {
                    Err(code)
                };
                (Work::Error(code), answer)
            }
            None if multi => {
                (Work::Changes(tried), Ok(Answer { parts: Some(results), ..Answer::default() }))
            }
            None => {
                let ok = results.pop().and_then(|part| part.ok).unwrap_or_default();
                (Work::Changes(tried), Ok(ok))
            }
        };
        let work = self.spoil_work(work);
        let zxid = self.append(session, xid, work, Some((client, conn)));
        if self.goes_wrong(Defect::TwoShare) {
            let before =
                |one: &Pending| matches!(one.stage, Stage::Proposed(at, _) if at == zxid - 1);
            if self.clients.iter().flat_map(|client| &client.pending).any(before) {
                self.happen(false);
                self.clients[client].shared = Some(zxid);
            }
        }
        self.clients[client].answer = Some(answer);
        zxid
    }

    /// What a write is turned into by a defect of everybody.
    fn spoil_work(&mut self, work: Work) -> Work {
        let Work::Changes(changes) = &work else { return work };
        match (self.plan.defect, changes.as_slice()) {
            (Some(Defect::AckedLost), [Change::Set { key, .. }])
                if self.goes_wrong(Defect::AckedLost) =>
            {
                self.victim = Some((*key, self.zxid + 1, 0));
                self.happen(false);
                Work::Lost(changes.clone())
            }
            (Some(Defect::SetAclLost), [Change::SetAcl { key, .. }])
                if self.goes_wrong(Defect::SetAclLost) =>
            {
                self.victim = Some((*key, self.zxid + 1, 0));
                self.happen(false);
                Work::Lost(changes.clone())
            }
            (Some(Defect::TwiceApplied), [Change::Set { key, .. }])
                if self.goes_wrong(Defect::TwiceApplied) =>
            {
                self.victim = Some((*key, self.zxid + 1, 0));
                self.happen(false);
                let (one, other) = (changes[0].clone(), changes[0].clone());
                Work::Twice(one, other)
            }
            _ => work,
        }
    }

    /// What becomes of one part of a write.
    fn one(&mut self, session: i64, wish: &Wish, multi: bool) -> Result<(Change, bool), i32> {
        match wish {
            Wish::Create(key, mode, data) => {
                let key = match *key {
                    Key::Next(parent) => {
                        let above = self.leader.get(Key::Parent(parent)).ok_or(-101)?;
                        let mut number = above.created;
                        if self.goes_wrong(Defect::SequenceSkips) {
                            self.happen(false);
                            self.exposes = true;
                            number += 1;
                        }
                        Key::Sequential(parent, number)
                    }
                    key => key,
                };
                let parent = key.parent();
                if let Some(parent) = parent
                    && self.leader.get(parent).is_none()
                {
                    return Err(-101);
                }
                if self.leader.get(key).is_some() {
                    return Err(-110);
                }
                if parent.and_then(|parent| self.leader.get(parent)).is_some_and(|n| n.owner != 0) {
                    return Err(-108);
                }
                let owner = if *mode == Mode::Ephemeral { session } else { 0 };
                let time = i64::try_from(self.at / 1000).unwrap_or(0);
                Ok((Change::Create { key, data: *data, owner, time }, true))
            }
            Wish::Delete(key, version) => {
                let node = self.leader.get(*key).ok_or(-101)?;
                if *version != -1 && *version != node.version {
                    return Err(-103);
                }
                if !node.children.is_empty() {
                    return Err(-111);
                }
                Ok((Change::Delete { key: *key }, false))
            }
            Wish::Set(key, data, version) => {
                let node = self.leader.get(*key).ok_or(-101)?;
                if *version != -1 && *version != node.version {
                    if multi || !self.goes_wrong(Defect::StaleVersion) {
                        return Err(-103);
                    }
                    self.happen(false);
                    self.exposes = true;
                }
                let time = i64::try_from(self.at / 1000).unwrap_or(0);
                Ok((Change::Set { key: *key, data: *data, time }, true))
            }
            Wish::SetAcl(key, acl) => {
                self.leader.get(*key).ok_or(-101)?;
                Ok((Change::SetAcl { key: *key, acl: *acl }, true))
            }
            Wish::Check(key, version) => {
                let node = self.leader.get(*key).ok_or(-101)?;
                if *version != -1 && *version != node.version {
                    return Err(-103);
                }
                Ok((Change::Check { key: *key }, false))
            }
            _ => unreachable!("only writes are decided"),
        }
    }

    /// Whether an answer speaks of the node that is wrong.
    fn is_shown(&self, wish: &Wish, zxid: i64) -> bool {
        let Some((victim, since, _)) = self.victim else { return false };
        // Whether a node is there is all that a create tells of it.
        let there =
            matches!(self.plan.defect, Some(Defect::EphemeralEarly | Defect::EphemeralLeft));
        let shows = match wish {
            Wish::Get(key, _) | Wish::Exists(key, _) => *key == victim,
            Wish::Acl(key) => *key == victim,
            Wish::Create(key, ..) => there && *key == victim,
            _ => false,
        };
        shows && zxid >= since
    }

    // ---- replicas -------------------------------------------------------------------------

    fn advance(&mut self, replica: usize, so_many: usize) {
        for _ in 0..so_many {
            if !self.advance_one(replica, false) {
                break;
            }
        }
        let oldest = self.replicas.iter().map(|replica| replica.zxid).min().unwrap_or(0);
        while self.log.front().is_some_and(|entry| entry.zxid <= oldest) {
            self.log.pop_front();
            self.first += 1;
        }
    }

    /// Applies the next transaction.
    fn advance_one(&mut self, replica: usize, force: bool) -> bool {
        if !force && self.frozen.is_some_and(|(frozen, _)| frozen == replica) {
            return false;
        }
        let next = self.replicas[replica].zxid.max(EPOCH) + 1;
        let Some(entry) = usize::try_from(next - self.first).ok().and_then(|at| self.log.get(at))
        else {
            return false;
        };
        let mut entry = entry.clone();
        if let Work::Changes(changes) = &mut entry.work {
            if changes.len() > 1 && self.goes_wrong(Defect::MultiHalf) {
                let mut lost = changes.split_off(1);
                self.happen(false);
                lost.retain(|change| !matches!(change, Change::Check { .. }));
                let keys: Vec<Key> = lost.iter().map(Change::key).collect();
                let this = &mut self.replicas[replica];
                this.apply(entry.zxid, &entry.work);
                keys.into_iter().for_each(|key| this.mark(key));
            } else {
                self.replicas[replica].apply(entry.zxid, &entry.work);
            }
        } else {
            self.replicas[replica].apply(entry.zxid, &entry.work);
        }
        if self.goes_wrong(Defect::ValueDiffers)
            && let Work::Changes(changes) = &entry.work
            && let [Change::Set { key, .. }] = changes.as_slice()
        {
            self.happen(false);
            self.replicas[replica].spoil_value(*key);
        }
        let events = self.replicas[replica].events(&entry.work);
        for (conn, kind, key, mode) in events {
            self.notify(replica, conn, kind, key, entry.zxid, mode);
        }
        if let Some((client, conn)) = entry.who
            && self.clients[client].conn == Some(conn)
            && self.clients[client].replica == replica
        {
            self.answer_write(client, entry.zxid);
        }
        true
    }

    /// An event is sent, and received.
    fn notify(&mut self, replica: usize, conn: u64, kind: Kind, key: Key, zxid: i64, mode: u8) {
        let Some(client) = self.clients.iter().position(|client| client.conn == Some(conn)) else {
            return;
        };
        if self.clients[client].replica != replica {
            return;
        }
        let at = self.at;
        let record =
            |zxid| Record::Event { at, conn, kind, path: key.path(), zxid: Some(Hex(zxid)) };
        let event = record(zxid);
        let missed = match mode {
            1 => Defect::EventMissed,
            2 => Defect::PersistentMissed,
            _ => Defect::RecursiveMissed,
        };
        if self.goes_wrong(missed) {
            self.clients[client].missed = zxid;
            self.happen(false);
            return;
        }
        self.clients[client].heard(kind, key);
        if (self.goes_wrong(Defect::EventLate) || self.goes_wrong(Defect::EventsSwapped))
            && self.held.is_none()
        {
            self.held = Some((client, event));
            return;
        }
        if self.goes_wrong(Defect::EventsSwapped)
            && let Some((whose, Record::Event { zxid: Some(before), .. })) = &self.held
            && *whose == client
        {
            let (other, later) = (before.0 != zxid, self.held.take());
            self.emit(event);
            if let Some((_, held)) = later {
                self.emit(held);
            }
            self.happen(other);
            return;
        }
        if self.goes_wrong(Defect::EventTwice) {
            self.happen(true);
            self.emit(event.clone());
        }
        self.emit(event);
    }

    // ---- clients --------------------------------------------------------------------------

    /// A client asks for something.
    fn ask(&mut self, client: usize) {
        let this = &self.clients[client];
        let leaves = this.pending.iter().any(|one| one.wish == Wish::Close);
        if this.conn.is_none() || this.pending.len() >= 4 || leaves {
            return;
        }
        let parent = self.luck.below(self.plan.parents as usize) as u32;
        let child = self.luck.below(self.plan.children as usize) as u32;
        let key = Key::Child(parent, child);
        let any = match self.luck.below(8) {
            0 => Key::Parent(parent),
            1 => Key::Sequential(parent, self.leader.some_sequential(parent)),
            _ => key,
        };
        let version = match self.luck.below(4) {
            0 => self.leader.get(any).map_or(0, |node| node.version - 1),
            1 => self.leader.get(any).map_or(0, |node| node.version),
            _ => -1,
        };
        let watch = self.one_in(self.plan.watch);
        let value = self.value();
        // Whoever waits for a server that does nothing asks no more.
        let stuck = self.frozen.is_some_and(|(replica, _)| replica == self.clients[client].replica);
        let wish = match self.luck.below(100) {
            _ if stuck => Wish::Get(any, false),
            0..18 => Wish::Get(any, watch),
            18..30 => Wish::Exists(any, watch),
            30..42 => Wish::Children(Key::Parent(parent), watch),
            42..45 => Wish::Sync,
            45..47 if self.one_in(8) => {
                Wish::AddWatch(Key::Parent(parent), self.luck.below(2) == 0)
            }
            45..62 => Wish::Set(any, value, version),
            62..72 => Wish::Create(key, Mode::Persistent, value),
            72..78 => Wish::Create(key, Mode::Ephemeral, value),
            78..82 => Wish::Create(Key::Next(parent), Mode::Persistent, value),
            82..92 => match any {
                Key::Parent(_) => Wish::Delete(key, -1),
                any => Wish::Delete(any, version),
            },
            92..94 => Wish::SetAcl(any, self.luck.below(2) == 0),
            94..99 => {
                let other = Key::Child(parent, (child + 1) % self.plan.children);
                let third = self.value();
                let first = match self.luck.below(3) {
                    0 => Wish::Create(key, Mode::Persistent, value),
                    1 => Wish::Set(key, value, -1),
                    _ => Wish::Check(key, version),
                };
                let second = match self.luck.below(3) {
                    0 => Wish::Create(other, Mode::Persistent, third),
                    1 => Wish::Delete(other, -1),
                    _ => Wish::Set(other, third, -1),
                };
                Wish::Multi(vec![first, second])
            }
            _ if self.one_in(32) => Wish::Close,
            _ => Wish::Acl(any),
        };
        self.issue(client, wish);
    }

    fn issue(&mut self, client: usize, wish: Wish) {
        let this = &mut self.clients[client];
        let Some(conn) = this.conn else { return };
        this.xid += 1;
        this.acted = true;
        let xid = this.xid;
        let floor = self.settled;
        let (stage, exposes) = (Stage::Queued, false);
        this.pending.push_back(Pending { xid, wish: wish.clone(), stage, floor, exposes });
        self.issued += 1;
        let ask = self.request(client, &wish);
        let at = self.at;
        self.emit(Record::Call { at, conn, xid, ask });
    }

    fn request(&self, client: usize, wish: &Wish) -> Ask {
        let acl = |closed: bool| {
            let perms = if closed { "world:anyone:31" } else { "world:anyone:15" };
            vec![perms.to_owned(), "ip:10.0.0.1:31".into()]
        };
        let bytes = |data: &u64| Some(Bytes(format!("v{data}").into_bytes()));
        match wish {
            Wish::Acl(key) => Ask::GetAcl { path: key.path() },
            Wish::AddWatch(key, recursive) => {
                Ask::AddWatch { path: key.path(), recursive: *recursive }
            }
            Wish::Check(key, version) => Ask::Check { path: key.path(), version: *version },
            Wish::Children(key, watch) => Ask::GetChildren { path: key.path(), watch: *watch },
            Wish::Close => Ask::Close,
            Wish::Create(key, mode, data) => Ask::Create {
                path: key.path(),
                data: bytes(data),
                acl: None,
                mode: *mode,
                sequential: matches!(key, Key::Next(_)),
            },
            Wish::Delete(key, version) => Ask::Delete { path: key.path(), version: *version },
            Wish::Exists(key, watch) => Ask::Exists { path: key.path(), watch: *watch },
            Wish::Get(key, watch) => Ask::GetData { path: key.path(), watch: *watch },
            Wish::Multi(parts) => {
                Ask::Multi(parts.iter().map(|part| self.request(client, part)).collect())
            }
            Wish::Restore => {
                let this = &self.clients[client];
                let of = |list: List| -> Vec<String> {
                    let all = this.watched.iter().filter(|(_, other)| *other == list);
                    all.map(|(key, _)| key.path()).collect()
                };
                Ask::SetWatches(SetWatches {
                    relative: Hex(this.relative),
                    data: of(List::Data),
                    exist: of(List::Exist),
                    child: of(List::Child),
                    persistent: of(List::Persistent),
                    recursive: of(List::Recursive),
                })
            }
            Wish::Set(key, data, version) => {
                Ask::SetData { path: key.path(), data: bytes(data), version: *version }
            }
            Wish::SetAcl(key, closed) => {
                Ask::SetAcl { path: key.path(), acl: acl(*closed), version: -1 }
            }
            Wish::Sync => Ask::Sync { path: "/".into() },
        }
    }

    /// What a client has asked goes on.
    fn progress(&mut self, client: usize) {
        if self.clients[client].conn.is_none() {
            return;
        }
        // Writes go to the leader once all that was asked before is answered or on its way.
        let queue = &self.clients[client].pending;
        let on_its_way =
            queue.iter().take_while(|one| matches!(one.stage, Stage::Proposed(..))).count();
        let next = queue.get(on_its_way);
        if let Some(Pending { wish, stage: Stage::Queued, .. }) = next
            && wish.is_write()
        {
            let after = queue.get(on_its_way + 1);
            let both =
                after.is_some_and(|after| after.wish.is_write() && after.wish != Wish::Close);
            if both && *wish != Wish::Close && self.goes_wrong(Defect::PipelineSwapped) {
                self.happen(true);
                self.propose(client, on_its_way + 1);
                self.propose(client, on_its_way);
                return;
            }
            self.propose(client, on_its_way);
            return;
        }
        let replica = self.clients[client].replica;
        let Some(head) = self.clients[client].pending.front() else { return };
        let (xid, wish, stage, floor) =
            (head.xid, head.wish.clone(), head.stage.clone(), head.floor);
        match (&wish, stage) {
            (Wish::Sync, Stage::Queued) => {
                let here = self.replicas[replica].zxid;
                if here > 0 && here < floor && self.goes_wrong(Defect::SyncNothing) {
                    self.happen(true);
                    self.clients[client].pending.pop_front();
                    self.reply(client, xid, here, Ok(Answer::default()));
                    return;
                }
                let target = self.zxid;
                self.clients[client].pending[0].stage = Stage::Waiting(target);
            }
            (Wish::Sync, Stage::Waiting(target)) => {
                if self.replicas[replica].zxid >= target {
                    let zxid = self.replicas[replica].zxid;
                    self.clients[client].pending.pop_front();
                    self.reply(client, xid, zxid, Ok(Answer::default()));
                }
            }
            (_, Stage::Proposed(..)) => {}
            (wish, _) => {
                self.clients[client].pending.pop_front();
                self.read(client, replica, xid, wish);
            }
        }
    }

    fn propose(&mut self, client: usize, at: usize) {
        let (xid, wish) = {
            let one = &self.clients[client].pending[at];
            (one.xid, one.wish.clone())
        };
        let zxid = self.decide(client, xid, &wish);
        let answer = self.clients[client].answer.take().unwrap_or_else(|| Ok(Answer::default()));
        let one = &mut self.clients[client].pending[at];
        one.stage = Stage::Proposed(zxid, Box::new(answer));
        one.exposes = std::mem::take(&mut self.exposes);
    }

    /// A write of a client was applied where it is connected.
    fn answer_write(&mut self, client: usize, zxid: i64) {
        let at = self.clients[client]
            .pending
            .iter()
            .position(|one| matches!(one.stage, Stage::Proposed(at, _) if at == zxid));
        let Some(at) = at else { return };
        let Some(one) = self.clients[client].pending.remove(at) else { return };
        let Stage::Proposed(_, answer) = one.stage else { return };
        let mut zxid = zxid;
        if self.clients[client].shared == Some(zxid) {
            zxid -= 1;
        }
        let closed = one.wish == Wish::Close;
        if self.clients[client].shared.take_if(|shared| *shared == zxid + 1).is_some() {
            self.outcome.observable = true;
        }
        self.outcome.observable |= one.exposes && self.outcome.happened;
        self.reply(client, one.xid, zxid, *answer);
        if closed {
            let Some(conn) = self.clients[client].conn.take() else { return };
            let (at, name) = (self.at, self.clients[client].name());
            self.replicas[self.clients[client].replica].forget(conn);
            self.clients[client].pending.clear();
            self.emit(Record::Lost { at, conn });
            self.emit(Record::State { at, client: name, state: State::Disconnected });
            self.emit(Record::State { at, client: name, state: State::Closed });
            self.join(client);
        }
    }

    fn reply(&mut self, client: usize, xid: i32, zxid: i64, answer: Result<Answer, i32>) {
        let Some(conn) = self.clients[client].conn else { return };
        let at = self.at;
        let held = |(whose, event): &mut (usize, Record)| {
            let due = matches!(event, Record::Event { zxid: Some(event), .. } if event.0 <= zxid);
            *whose == client && due
        };
        let mut held = self.held.take_if(held);
        if !self.goes_wrong(Defect::EventLate)
            && let Some((_, event)) = held.take()
        {
            self.emit(event);
        }
        let (err, ok) = match answer {
            Ok(answer) => (None, Some(Box::new(answer))),
            Err(code) => (Some(code), None),
        };
        self.emit(Record::Reply { at, conn, xid, zxid: Some(Hex(zxid)), err, ok });
        let this = &mut self.clients[client];
        if zxid < this.seen && (this.behind || this.lied) {
            self.outcome.happened = true;
            self.outcome.observable = true;
        }
        let this = &mut self.clients[client];
        this.behind = false;
        if this.missed > 0 && zxid >= this.missed {
            this.missed = 0;
            self.outcome.observable = true;
        }
        let this = &mut self.clients[client];
        this.seen = this.seen.max(zxid);
        self.newest = self.newest.max(zxid);
        if let Some((_, event)) = held {
            self.emit(event);
            self.happen(true);
        }
        if let Some((replica, since)) = self.frozen
            && self.clients[client].replica == replica
            && self.clients[client].opened < since
            && self.at > since + 2 * STALE_US
        {
            self.outcome.observable = true;
        }
    }

    /// A read is answered from a replica.
    fn read(&mut self, client: usize, replica: usize, xid: i32, wish: &Wish) {
        let Some(conn) = self.clients[client].conn else { return };
        let here = self.replicas[replica].zxid.max(EPOCH);
        let leader = self.zxid;
        let mut zxid = here;
        let key = wish.key();
        let mut answer = self.replicas[replica].show(wish);
        let newer = self.leader.show(wish);
        let looks = key.is_some() && matches!(wish, Wish::Get(..) | Wish::Exists(..));
        if looks && newer != answer && self.goes_wrong(Defect::ReadLater) {
            self.happen(true);
            answer = newer;
        } else if looks && newer != answer && self.goes_wrong(Defect::ReadNewerDiffers) {
            self.happen(true);
            zxid = leader;
        } else if looks
            && newer == answer
            && leader > here
            && self.goes_wrong(Defect::ReadNewerSame)
        {
            self.happen(false);
            zxid = leader;
            self.clients[client].lied = true;
        }
        let wrong = key.is_some_and(|key| self.replicas[replica].is_wrong(key, wish));
        if wrong || self.is_shown(wish, here) {
            self.outcome.observable |= self.outcome.happened;
        }
        let there = answer.is_ok();
        match wish {
            Wish::Get(key, true) if there => self.watch(client, replica, conn, *key, List::Data),
            Wish::Exists(key, true) => {
                let list = if there { List::Data } else { List::Exist };
                self.watch(client, replica, conn, *key, list);
            }
            Wish::Children(key, true) if there => {
                self.watch(client, replica, conn, *key, List::Child);
            }
            Wish::AddWatch(key, recursive) => {
                let list = if *recursive { List::Recursive } else { List::Persistent };
                self.watch(client, replica, conn, *key, list);
            }
            Wish::Restore => self.restore(client, replica, conn),
            _ => {}
        }
        self.reply(client, xid, zxid, answer);
    }

    fn watch(&mut self, client: usize, replica: usize, conn: u64, key: Key, list: List) {
        self.replicas[replica].watch(conn, key, list);
        self.clients[client].watched.insert((key, list));
    }

    /// A client that came back is told what it missed.
    fn restore(&mut self, client: usize, replica: usize, conn: u64) {
        let since = self.clients[client].relative;
        let watched: BTreeSet<(Key, List)> = std::mem::take(&mut self.clients[client].watched);
        for (key, list) in watched {
            let node = self.replicas[replica].get(key);
            let kind = match (node, list) {
                (_, List::Persistent | List::Recursive) => None,
                (None, List::Exist) => None,
                (Some(_), List::Exist) => Some(Kind::Created),
                (None, _) => Some(Kind::Deleted),
                (Some(node), List::Data) => (node.mzxid > since).then_some(Kind::DataChanged),
                (Some(node), List::Child) => (node.pzxid > since).then_some(Kind::ChildrenChanged),
            };
            match kind {
                None => self.watch(client, replica, conn, key, list),
                Some(_) if self.goes_wrong(Defect::RestoreMissed) => self.happen(true),
                Some(kind) => {
                    let at = self.at;
                    self.emit(Record::Event { at, conn, kind, path: key.path(), zxid: None });
                }
            }
        }
    }

    /// What goes wrong by itself.
    fn misbehave(&mut self) {
        match self.plan.defect {
            Some(Defect::Frozen) => {
                let replica = self.luck.below(self.replicas.len());
                self.frozen = Some((replica, self.at));
                self.happen(false);
            }
            Some(Defect::EphemeralEarly) => {
                let owner = self.clients[0].session;
                let Some(key) = self.leader.owned_by(owner).pop() else { return };
                // It goes everywhere, and nobody asked for it.
                let all = self.replicas.iter().all(|replica| replica.get(key).is_some());
                if !all {
                    return;
                }
                self.leader.drop_silently(key);
                self.replicas.iter_mut().for_each(|replica| replica.drop_silently(key));
                self.victim = Some((key, self.zxid, owner));
                self.happen(false);
            }
            Some(Defect::PhantomEvent) => {
                let Some(client) = self.clients.iter().position(|one| one.conn.is_some()) else {
                    return;
                };
                let zxid = self.replicas[self.clients[client].replica].zxid;
                let (at, conn) = (self.at, self.clients[client].conn.unwrap_or(0));
                if zxid <= self.clients[client].seen {
                    return;
                }
                let path = "/nowhere".into();
                let kind = Kind::Created;
                self.emit(Record::Event { at, conn, kind, path, zxid: Some(Hex(zxid)) });
                self.happen(true);
            }
            Some(Defect::DigestDiffers) => {
                for server in 1..=2 {
                    let (zxid, digest) = (Hex(self.zxid), Hex(server));
                    self.emit(Record::Digest { server: format!("zk{server}"), zxid, digest });
                }
                self.happen(true);
            }
            Some(Defect::Zombie) => self.zombie(),
            Some(Defect::RealTimeSwapped) => self.swap(),
            _ => {}
        }
    }

    /// The end of a session is in the log, and a write of it is done all the same.
    fn zombie(&mut self) {
        let idle = |client: &Client| client.conn.is_some() && client.pending.is_empty();
        let Some(client) = self.clients.iter().position(idle) else { return };
        let session = self.clients[client].session;
        let value = self.value();
        self.end(session, 0, None);
        self.issue(client, Wish::Set(Key::Parent(0), value, -1));
        self.progress(client);
        let replica = self.clients[client].replica;
        self.advance(replica, usize::MAX);
        self.happen(true);
        let Some(conn) = self.clients[client].conn.take() else { return };
        let (at, name) = (self.at, self.clients[client].name());
        self.replicas[replica].forget(conn);
        self.clients[client].pending.clear();
        self.emit(Record::Lost { at, conn });
        self.emit(Record::State { at, client: name, state: State::Expired });
        self.join(client);
    }

    /// A write takes a position that was left out, after later ones were answered.
    fn swap(&mut self) {
        let Some(gap) = self.gap else {
            self.zxid += 1;
            self.gap = Some(self.zxid);
            let nothing = Entry { zxid: self.zxid, who: None, work: Work::Nothing };
            self.log.push_back(nothing);
            return;
        };
        if self.newest <= gap {
            return;
        }
        let idle = |client: &Client| client.conn.is_some() && client.pending.is_empty();
        let Some(client) = self.clients.iter().position(idle) else { return };
        let replica = self.clients[client].replica;
        if self.replicas[replica].zxid <= gap {
            return;
        }
        self.at += 2;
        let (xid, at) = (self.clients[client].xid + 1, self.at);
        self.clients[client].xid = xid;
        let Some(conn) = self.clients[client].conn else { return };
        let path = format!("/nobody-{}", self.values);
        let ask = Ask::Delete { path, version: -1 };
        self.emit(Record::Call { at, conn, xid, ask });
        let session = self.clients[client].session;
        self.log_txn(gap, session, xid, &Work::Error(-101));
        let (err, ok) = (Some(-101), None);
        self.at += 3;
        let at = self.at;
        self.emit(Record::Reply { at, conn, xid, zxid: Some(Hex(gap)), err, ok });
        self.happen(true);
    }
}
