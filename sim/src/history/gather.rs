//! Records become a history in memory. What contradicts the format is refused here; what
//! contradicts a promise is not, for that is what is looked for.

use std::collections::{BTreeMap, VecDeque};

use zoolab_core::Lookup;

use super::hex::Hex;
use super::intern::{PathId, ValueId};
use super::record::{Answer, Ask, Change, Header, Part, Record, Stat};
use super::store::{
    Asked, Conn, Digest, Effect, Event, Heard, History, List, NEVER, Op, Restore, Session, StatId,
    Told, Txn, weight,
};

/// What auth packets have for a number: they are answered at once, before what was asked earlier.
const AUTH: i32 = -4;

/// Makes a history of records, whatever the order in which files are read.
#[derive(Debug)]
pub struct Gather {
    history: History,
    /// The history's name for a connection, by file and the file's.
    conns: BTreeMap<(u32, u64), u32>,
    /// Requests without an answer, by connection.
    waiting: Vec<VecDeque<u32>>,
    sessions: Lookup<i64, u32>,
    at: u64,
    file: u32,
}

impl Gather {
    /// With nothing in it yet.
    #[must_use]
    pub fn new(header: Header) -> Self {
        Self {
            history: History::new(header),
            conns: BTreeMap::new(),
            waiting: Vec::new(),
            sessions: Lookup::new(0),
            at: 0,
            file: 0,
        }
    }

    /// From now on records come from this file, whose connections are its own.
    pub const fn turn_to(&mut self, file: u32) {
        self.file = file;
    }

    /// All there is.
    #[must_use]
    pub fn finish(mut self) -> History {
        self.history.txns.sort_by_key(|txn| txn.zxid);
        // Logs of several servers have the same transactions.
        self.history.txns.dedup_by_key(|txn| txn.zxid);
        self.history
    }

    /// Takes the next record.
    ///
    /// # Errors
    /// If it cannot be the next.
    pub fn take(&mut self, record: &Record) -> Result<(), String> {
        match record {
            Record::Call { at, conn, xid, ask } => {
                self.reach(*at)?;
                let conn = self.open(*conn)?;
                let ask = self.ask(ask)?;
                self.call(*at, conn, *xid, ask);
            }
            Record::Connect { at, conn, client, server } => {
                self.reach(*at)?;
                self.connect(*conn, *client, server.clone())?;
            }
            Record::Digest { server, zxid, digest } => {
                let (zxid, digest) = (zxid.0, digest.0);
                self.history.digests.push(Digest { server: server.clone(), zxid, digest });
            }
            Record::End { .. } => return Err("expected no end here".into()),
            Record::Event { at, conn, kind, path, zxid } => {
                self.reach(*at)?;
                let conn = self.open(*conn)?;
                let path = self.history.paths.put(path);
                let rank = self.receive(conn);
                let zxid = zxid.map_or(0, |zxid| zxid.0.max(0));
                self.history.events.push(Event { zxid, at: *at, conn, rank, path, kind: *kind });
            }
            Record::Expired { at, conn } => {
                self.reach(*at)?;
                let conn = self.open(*conn)?;
                if let Some(session) = self.history.conns[conn as usize].session.take() {
                    let session = &mut self.history.sessions[session as usize];
                    session.expired = session.expired.min(*at);
                }
            }
            Record::Hello { at, conn, session, seen } => {
                self.reach(*at)?;
                let conn = self.open(*conn)?;
                let session = session.filter(|session| session.0 != 0);
                let session = session.map(|Hex(id)| self.session(id));
                let conn = &mut self.history.conns[conn as usize];
                conn.session = session;
                conn.seen = seen.map_or(0, |seen| seen.0);
            }
            Record::Lost { at, conn } => {
                self.reach(*at)?;
                let conn = self.open(*conn)?;
                self.history.conns[conn as usize].lost = *at;
                self.waiting[conn as usize] = VecDeque::new();
            }
            Record::Note { at, text: _ } => self.reach(*at)?,
            Record::Open { at, conn, session, timeout_ms } => {
                self.reach(*at)?;
                let conn = self.open(*conn)?;
                let index = self.session(session.0);
                let conn = &mut self.history.conns[conn as usize];
                if conn.opened != NEVER {
                    return Err(format!("expected connection {} to be opened once", conn.name));
                }
                let born = conn.session != Some(index);
                conn.session = Some(index);
                conn.opened = *at;
                let session = &mut self.history.sessions[index as usize];
                session.timeout_ms = *timeout_ms;
                session.births += u32::from(born);
            }
            Record::Reply { at, conn, xid, zxid, err, ok } => {
                self.reach(*at)?;
                let conn = self.open(*conn)?;
                self.reply(*at, conn, *xid, zxid.map_or(0, |zxid| zxid.0), *err, ok.as_deref())?;
            }
            Record::State { at, client, state } => {
                self.reach(*at)?;
                self.history.states.push(Heard { at: *at, client: *client, state: *state });
            }
            Record::Txn { zxid, session, cxid, change } => {
                let effect = self.change(change);
                let (zxid, session, cxid) = (zxid.0, session.0, *cxid);
                self.history.txns.push(Txn { zxid, session, cxid, effect });
            }
        }
        Ok(())
    }

    /// A new connection.
    ///
    /// # Errors
    /// If its number was used before.
    pub fn connect(
        &mut self,
        name: u64,
        client: Option<u64>,
        server: String,
    ) -> Result<u32, String> {
        let number = u32::try_from(self.history.conns.len()).expect("fewer than 2^32 connections");
        if self.conns.insert((self.file, name), number).is_some() {
            return Err(format!("expected a new connection, found {name} once more"));
        }
        let (session, seen, opened, lost, received) = (None, 0, NEVER, NEVER, 0);
        self.history.conns.push(Conn {
            name,
            client,
            server,
            session,
            seen,
            opened,
            lost,
            received,
        });
        self.waiting.push(VecDeque::new());
        Ok(number)
    }

    fn reach(&mut self, at: u64) -> Result<(), String> {
        if at < self.at {
            return Err(format!("expected a moment from {} on, found {at}", self.at));
        }
        if at == NEVER {
            return Err(format!("expected a moment before {at}"));
        }
        self.at = at;
        Ok(())
    }

    /// The number of a connection that is up.
    fn open(&self, name: u64) -> Result<u32, String> {
        let conn = self.conns.get(&(self.file, name)).copied();
        let conn =
            conn.ok_or_else(|| format!("expected a connection, found {name}, which is none"))?;
        if self.history.conns[conn as usize].lost != NEVER {
            return Err(format!("expected nothing more on connection {name}, which is lost"));
        }
        Ok(conn)
    }

    fn session(&mut self, id: i64) -> u32 {
        if let Some(session) = self.sessions.get(&id) {
            return *session;
        }
        let session = u32::try_from(self.history.sessions.len()).expect("fewer than 2^32 sessions");
        self.history.sessions.push(Session { id, timeout_ms: 0, births: 0, expired: NEVER });
        self.sessions.insert(id, session);
        session
    }

    fn receive(&mut self, conn: u32) -> u32 {
        let conn = &mut self.history.conns[conn as usize];
        conn.received += 1;
        conn.received
    }

    fn call(&mut self, at: u64, conn: u32, xid: i32, ask: Asked) {
        let op = u32::try_from(self.history.ops.len()).expect("fewer than 2^32 operations");
        let (said, returned, zxid, rank) = (Told::Unknown, NEVER, 0, 0);
        self.history.ops.push(Op { zxid, called: at, returned, conn, rank, xid, ask, said });
        self.waiting[conn as usize].push_back(op);
    }

    fn reply(
        &mut self,
        at: u64,
        conn: u32,
        xid: i32,
        zxid: i64,
        err: Option<i32>,
        ok: Option<&Answer>,
    ) -> Result<(), String> {
        let waiting = &mut self.waiting[conn as usize];
        let ops = &self.history.ops;
        let Some(place) = waiting.iter().position(|op| ops[*op as usize].xid == xid) else {
            let name = self.history.conns[conn as usize].name;
            return Err(format!(
                "expected the answer to a request of connection {name}, and none of number {xid} waits"
            ));
        };
        let index = waiting.remove(place).expect("found there");
        if place > 0 && xid != AUTH {
            self.history.overtook.push(index);
        }
        let rank = self.receive(conn);
        let said = match err {
            Some(code) if code != 0 => Told::Error(code),
            None | Some(_) => {
                let ask = self.history.ops[index as usize].ask;
                self.told(&ask, ok)?
            }
        };
        let op = &mut self.history.ops[index as usize];
        (op.said, op.rank, op.returned, op.zxid) = (said, rank, at, zxid.max(0));
        Ok(())
    }

    fn ask(&mut self, ask: &Ask) -> Result<Asked, String> {
        let paths = &mut self.history.paths;
        Ok(match ask {
            Ask::AddWatch { path, recursive } => {
                Asked::AddWatch { path: paths.put(path), recursive: *recursive }
            }
            Ask::Check { path, version } => {
                Asked::Check { path: paths.put(path), version: *version }
            }
            Ask::Close => Asked::Close,
            Ask::Create { path, data, acl, mode, sequential } => Asked::Create {
                path: paths.put(path),
                data: self.data(data.as_ref().map(|data| &data.0[..])),
                acl: self.acl(acl.as_deref()),
                mode: *mode,
                sequential: *sequential,
            },
            Ask::Delete { path, version } => {
                Asked::Delete { path: paths.put(path), version: *version }
            }
            Ask::Exists { path, watch } => Asked::Exists { path: paths.put(path), watch: *watch },
            Ask::GetAcl { path } => Asked::GetAcl { path: paths.put(path) },
            Ask::GetChildren { path, watch } => {
                Asked::GetChildren { path: paths.put(path), watch: *watch }
            }
            Ask::GetData { path, watch } => Asked::GetData { path: paths.put(path), watch: *watch },
            Ask::Multi(parts) => {
                let (first, count) = self.asks(parts)?;
                Asked::Multi { first, count }
            }
            Ask::MultiRead(parts) => {
                let (first, count) = self.asks(parts)?;
                Asked::MultiRead { first, count }
            }
            Ask::Other { opcode } => Asked::Other { opcode: *opcode },
            Ask::RemoveWatches { path, kind } => {
                Asked::RemoveWatches { path: paths.put(path), kind: *kind }
            }
            Ask::SetAcl { path, acl, version } => {
                Asked::SetAcl { path: paths.put(path), acl: self.acl(Some(acl)), version: *version }
            }
            Ask::SetData { path, data, version } => Asked::SetData {
                path: paths.put(path),
                data: self.data(data.as_ref().map(|data| &data.0[..])),
                version: *version,
            },
            Ask::SetWatches(watches) => {
                let mut each = |list: &[String]| list.iter().map(|path| paths.put(path)).collect();
                let restore = Restore {
                    relative: watches.relative.0,
                    data: each(&watches.data),
                    exist: each(&watches.exist),
                    child: each(&watches.child),
                    persistent: each(&watches.persistent),
                    recursive: each(&watches.recursive),
                };
                let index = u32::try_from(self.history.restores.len()).expect("fewer than 2^32");
                self.history.restores.push(restore);
                Asked::SetWatches { index }
            }
            Ask::Sync { path } => Asked::Sync { path: paths.put(path) },
        })
    }

    fn asks(&mut self, parts: &[Ask]) -> Result<(u32, u32), String> {
        let mut asked = Vec::new();
        for part in parts {
            asked.push(match part {
                Ask::Check { .. }
                | Ask::Create { .. }
                | Ask::Delete { .. }
                | Ask::GetChildren { .. }
                | Ask::GetData { .. }
                | Ask::SetData { .. } => self.ask(part)?,
                Ask::AddWatch { .. }
                | Ask::Close
                | Ask::Exists { .. }
                | Ask::GetAcl { .. }
                | Ask::Multi(_)
                | Ask::MultiRead(_)
                | Ask::Other { .. }
                | Ask::RemoveWatches { .. }
                | Ask::SetAcl { .. }
                | Ask::SetWatches(_)
                | Ask::Sync { .. } => {
                    return Err("expected parts of a multi: check, create, delete, get-children, \
                         get-data or set-data"
                        .into());
                }
            });
        }
        Ok(self.parts(asked))
    }

    fn parts(&mut self, asked: Vec<Asked>) -> (u32, u32) {
        let first = u32::try_from(self.history.parts.len()).expect("fewer than 2^32 parts");
        let count = u32::try_from(asked.len()).expect("fewer than 2^32 parts");
        self.history.parts.extend(asked);
        (first, count)
    }

    fn told(&mut self, ask: &Asked, ok: Option<&Answer>) -> Result<Told, String> {
        let Some(answer) = ok else { return Ok(Told::Done) };
        let Answer { path, data, children, acl, stat, parts } = answer;
        let stat = self.stat(stat.as_ref());
        Ok(match ask {
            Asked::Create { path: wish, sequential, .. } => match path {
                Some(path) => Told::Created { path: self.history.paths.put(path), stat },
                None if *sequential => return Err("expected the path of the new node".into()),
                None => Told::Created { path: *wish, stat },
            },
            Asked::Exists { .. } | Asked::SetAcl { .. } | Asked::SetData { .. } => Told::Stat(stat),
            Asked::GetAcl { .. } => Told::Acl { acl: self.acl(acl.as_deref()), stat },
            Asked::GetChildren { path, .. } => {
                let Some(names) = children else {
                    return Err("expected the names of the children".into());
                };
                Told::Children { list: self.list(*path, names), stat }
            }
            Asked::GetData { .. } => {
                Told::Data { data: self.data(data.as_ref().map(|data| &data.0[..])), stat }
            }
            Asked::Multi { first, count } | Asked::MultiRead { first, count } => {
                let parts = parts.as_deref().unwrap_or_default();
                if parts.len() != *count as usize {
                    return Err(format!("expected {count} results, found {}", parts.len()));
                }
                let asks = self.history.parts[*first as usize..][..parts.len()].to_vec();
                let mut told = Vec::new();
                for (ask, Part { err, ok }) in asks.iter().zip(parts) {
                    told.push(match err {
                        Some(code) => Told::Error(*code),
                        None => self.told(ask, ok.as_ref())?,
                    });
                }
                let first = u32::try_from(self.history.results.len()).expect("fewer than 2^32");
                self.history.results.extend(told);
                Told::Parts { first, count: *count }
            }
            Asked::AddWatch { .. }
            | Asked::Check { .. }
            | Asked::Close
            | Asked::Delete { .. }
            | Asked::Other { .. }
            | Asked::RemoveWatches { .. }
            | Asked::SetWatches { .. }
            | Asked::Sync { .. } => Told::Done,
        })
    }

    fn stat(&mut self, stat: Option<&Stat>) -> StatId {
        let Some(stat) = stat else { return StatId::NONE };
        let id = u32::try_from(self.history.stats.len()).expect("fewer than 2^32 stats");
        self.history.stats.push(*stat);
        StatId(id)
    }

    fn list(&mut self, parent: PathId, names: &[String]) -> u32 {
        let first = u32::try_from(self.history.names.len()).expect("fewer than 2^32 names");
        let mut sum = 0_u64;
        for name in names {
            let child = self.history.paths.put_child(parent, name);
            sum = sum.wrapping_add(weight(child));
            self.history.names.push(child);
        }
        let count = u32::try_from(names.len()).expect("fewer than 2^32 names");
        let list = u32::try_from(self.history.lists.len()).expect("fewer than 2^32 lists");
        self.history.lists.push(List { first, count, sum });
        list
    }

    fn data(&mut self, data: Option<&[u8]>) -> ValueId {
        self.history.values.put(data)
    }

    /// An ACL as one value; null is whatever lets everybody do everything.
    fn acl(&mut self, acl: Option<&[String]>) -> ValueId {
        match acl {
            None => ValueId::NULL,
            Some([line]) if line == "world:anyone:31" => ValueId::NULL,
            Some(lines) => self.history.values.put(Some(lines.join("\n").as_bytes())),
        }
    }

    fn change(&mut self, change: &Change) -> Effect {
        match change {
            Change::CloseSession { paths: _ } => Effect::Close,
            Change::CreateSession { .. } => Effect::Open,
            Change::Error { code } => Effect::Error(*code),
            Change::Multi(parts) => {
                let failed = parts.iter().find_map(|part| match part {
                    Change::Error { code } => Some(*code),
                    Change::Check { .. }
                    | Change::CloseSession { .. }
                    | Change::Create { .. }
                    | Change::CreateSession { .. }
                    | Change::Delete { .. }
                    | Change::Multi(_)
                    | Change::SetAcl { .. }
                    | Change::SetData { .. } => None,
                });
                if let Some(code) = failed {
                    return Effect::Error(code);
                }
                let asked = parts.iter().filter_map(|part| self.node_change(part)).collect();
                let (first, count) = self.parts(asked);
                Effect::Change { first, count }
            }
            Change::Check { .. }
            | Change::Create { .. }
            | Change::Delete { .. }
            | Change::SetAcl { .. }
            | Change::SetData { .. } => {
                let asked = self.node_change(change).into_iter().collect();
                let (first, count) = self.parts(asked);
                Effect::Change { first, count }
            }
        }
    }

    fn node_change(&mut self, change: &Change) -> Option<Asked> {
        let paths = &mut self.history.paths;
        let version = -1;
        Some(match change {
            Change::Create { path, data, acl, mode } => Asked::Create {
                path: paths.put(path),
                data: self.data(data.as_ref().map(|data| &data.0[..])),
                acl: self.acl(acl.as_deref()),
                mode: *mode,
                sequential: false,
            },
            Change::Delete { path } => Asked::Delete { path: paths.put(path), version },
            Change::SetAcl { path, acl, .. } => {
                Asked::SetAcl { path: paths.put(path), acl: self.acl(Some(acl)), version }
            }
            Change::SetData { path, data, .. } => Asked::SetData {
                path: paths.put(path),
                data: self.data(data.as_ref().map(|data| &data.0[..])),
                version,
            },
            Change::Check { .. }
            | Change::CloseSession { .. }
            | Change::CreateSession { .. }
            | Change::Error { .. }
            | Change::Multi(_) => return None,
        })
    }
}
