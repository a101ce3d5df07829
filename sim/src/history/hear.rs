//! What is seen of simulated clients and servers becomes a history.

use std::collections::BTreeMap;
use std::sync::Arc;

use zoolab_core::acl::{Acl, AclList, AclWish};
use zoolab_core::client::{Frame, Notice, SessionState};
use zoolab_core::request::{
    Body, Create, Event, EventKind, Op, OpResult, ReadOp, Reply, Request, opcode,
};
use zoolab_core::tree::Stat as CoreStat;
use zoolab_core::txn::{self, NodeChange, NodeKind, SubChange};
use zoolab_core::{Data, Epoch, Note, SessionId, Text, Txn, Zxid};

use super::hex::{Bytes, Hex};
use super::record::{
    Answer, Ask, Change, Header, Kind, Mode, Part, Record, SetWatches, Stat, State,
};
use crate::heard::Heard;
use crate::seen::Seen;
use crate::step::ClientId;
use crate::world::client::Down;

/// Listens to one run, and says what there is to write down.
#[derive(Clone, Debug, Default)]
pub struct Hear {
    /// What was handed to logs, by position: which of it counts is known later.
    appended: BTreeMap<Zxid, Arc<Txn>>,
    /// Where the history ended that each epoch began with.
    began: BTreeMap<Epoch, Zxid>,
    /// The newest transaction that is written down.
    last: Zxid,
    /// How often each client has begun.
    lives: BTreeMap<ClientId, u64>,
}

impl Hear {
    /// What stands first in the history of a run. Clocks go wrong there, so that nothing is said
    /// of when sessions end.
    #[must_use]
    pub fn header(seed: u64) -> Header {
        Header::new(&format!("simulated, seed {seed}"))
    }

    /// Hears what a step made visible.
    pub fn hear(&mut self, at: u64, seen: &[Seen], out: &mut dyn FnMut(Record)) {
        for seen in seen {
            match seen {
                Seen::Appended { txn, .. } => {
                    self.appended.insert(txn.stamp.zxid, Arc::clone(txn));
                }
                Seen::Client { client, heard } => self.client(at, *client, heard, out),
                Seen::Note { note: Note::Discovered { epoch, zxid }, .. } => {
                    self.began.insert(*epoch, *zxid);
                }
                Seen::Note { note: Note::Applied { txn, .. }, .. } => {
                    self.appended.entry(txn.stamp.zxid).or_insert_with(|| Arc::clone(txn));
                    self.reach(txn.stamp.zxid, out);
                }
                Seen::Crashed { .. }
                | Seen::Delivered { .. }
                | Seen::EpochWritten { .. }
                | Seen::Halted { .. }
                | Seen::Installed { .. }
                | Seen::MembersWritten { .. }
                | Seen::Note { .. }
                | Seen::Refused { .. }
                | Seen::Reloaded { .. }
                | Seen::Rotten { .. }
                | Seen::Sent { .. }
                | Seen::Snapshotted { .. }
                | Seen::Started { .. }
                | Seen::Synced { .. }
                | Seen::Truncated { .. }
                | Seen::Wiped { .. } => {}
            }
        }
    }

    /// A transaction counts, and so does everything before it.
    fn reach(&mut self, zxid: Zxid, out: &mut dyn FnMut(Record)) {
        if zxid <= self.last {
            return;
        }
        // From epoch to epoch back to what is written down.
        let mut spans = vec![zxid];
        while let Some(end) = spans.last()
            && end.epoch() > self.last.epoch()
            && let Some(before) = self.began.get(&end.epoch())
            && *before > self.last
        {
            spans.push(*before);
        }
        for end in spans.into_iter().rev() {
            let start = Zxid::first_of(end.epoch()).max(self.last).next();
            if start <= end {
                let all = self.appended.range(start..=end);
                all.for_each(|(_, txn)| out(transaction(txn)));
            }
            self.last = self.last.max(end);
        }
        self.appended = self.appended.split_off(&self.last);
    }

    fn client(&mut self, at: u64, client: ClientId, heard: &Heard, out: &mut dyn FnMut(Record)) {
        match heard {
            Heard::Began { .. } => *self.lives.entry(client).or_default() += 1,
            Heard::Connected { conn, server } => out(Record::Connect {
                at,
                conn: conn.0,
                client: Some(self.handle(client)),
                server: server.to_string(),
            }),
            Heard::Notified { notice: Notice::Session(state), .. } => {
                let state = match state {
                    SessionState::AuthFailed => State::AuthFailed,
                    SessionState::Closed => State::Closed,
                    SessionState::ConnectedReadOnly => State::ConnectedReadOnly,
                    SessionState::Disconnected => State::Disconnected,
                    SessionState::Expired => State::Expired,
                    SessionState::SyncConnected => State::Connected,
                };
                out(Record::State { at, client: self.handle(client), state });
            }
            Heard::Parted { conn } => out(Record::Lost { at, conn: conn.0 }),
            Heard::Said { conn, frame } => match &**frame {
                Frame::Connect(hello) => out(Record::Hello {
                    at,
                    conn: conn.0,
                    session: (hello.session != SessionId::NONE).then_some(Hex(hello.session.0)),
                    seen: Some(Hex(hello.last_zxid_seen.0)),
                }),
                Frame::Request(_, Request::Ping) => {}
                Frame::Request(xid, request) => {
                    out(Record::Call { at, conn: conn.0, xid: xid.0, ask: ask(request) });
                }
            },
            Heard::Told { conn, frame } => told(at, conn.0, frame, out),
            Heard::Called { .. }
            | Heard::Closing { .. }
            | Heard::GaveUp { .. }
            | Heard::Gone
            | Heard::Notified { .. }
            | Heard::Returned { .. } => {}
        }
    }

    /// One session handle: a client that begins again has another.
    fn handle(&self, client: ClientId) -> u64 {
        self.lives.get(&client).copied().unwrap_or(0) * 0x1_0000 + u64::from(client.0)
    }
}

fn told(at: u64, conn: u64, frame: &Down, out: &mut dyn FnMut(Record)) {
    match frame {
        Down::Connected(response) if response.timeout_ms <= 0 => out(Record::Expired { at, conn }),
        Down::Connected(response) => out(Record::Open {
            at,
            conn,
            session: Hex(response.session.0),
            timeout_ms: response.timeout_ms.unsigned_abs(),
        }),
        Down::End => {}
        Down::Event(event) => {
            let Event { kind, path, zxid } = &**event;
            let kind = match kind {
                EventKind::Created => Kind::Created,
                EventKind::Deleted => Kind::Deleted,
                EventKind::DataChanged => Kind::DataChanged,
                EventKind::ChildrenChanged => Kind::ChildrenChanged,
            };
            let zxid = (zxid.0 > 0).then_some(Hex(zxid.0));
            out(Record::Event { at, conn, kind, path: path.to_string(), zxid });
        }
        Down::Reply(Reply { xid, zxid, err, body }) => {
            let ok = err.is_none().then(|| Box::new(answer(body)));
            let (xid, zxid, err) = (xid.0, Some(Hex(zxid.0)), err.map(|code| code.number()));
            out(Record::Reply { at, conn, xid, zxid, err, ok });
        }
    }
}

fn bytes(data: &Data) -> Option<Bytes> {
    data.as_ref().map(|data| Bytes(data.to_vec()))
}

fn wishes(acl: &[AclWish]) -> Vec<String> {
    let text = |text: &Option<Text>| text.as_ref().map_or(String::new(), ToString::to_string);
    let line = |wish: &AclWish| format!("{}:{}:{}", text(&wish.scheme), text(&wish.id), wish.perms);
    acl.iter().map(line).collect()
}

fn lines(acl: &AclList) -> Vec<String> {
    let line = |Acl { perms, id }: &Acl| format!("{}:{}:{perms}", id.scheme, id.id);
    acl.lines().iter().map(line).collect()
}

/// A request, as a history has it.
#[must_use]
pub fn ask(request: &Request) -> Ask {
    let other = |opcode| Ask::Other { opcode };
    match request {
        Request::AddWatch { path, mode: mode @ 0..=1 } => {
            Ask::AddWatch { path: path.to_string(), recursive: *mode == 1 }
        }
        Request::AddWatch { .. } => other(opcode::ADD_WATCH),
        Request::Auth { .. } => other(opcode::AUTH),
        Request::CheckWatches { .. } => other(opcode::CHECK_WATCHES),
        Request::CloseSession => Ask::Close,
        Request::Create(create) => self::create(create),
        Request::CreateNowhere { op, .. } => other(op.opcode()),
        Request::Delete { path, version } => {
            Ask::Delete { path: path.to_string(), version: *version }
        }
        Request::Exists { path, watch } => Ask::Exists { path: path.to_string(), watch: *watch },
        Request::GetAcl { path } => Ask::GetAcl { path: path.to_string() },
        Request::GetAllChildrenNumber { .. } => other(opcode::GET_ALL_CHILDREN_NUMBER),
        Request::GetChildren { path, watch, .. } => {
            Ask::GetChildren { path: path.to_string(), watch: *watch }
        }
        Request::GetData { path, watch } => Ask::GetData { path: path.to_string(), watch: *watch },
        Request::GetEphemerals { .. } => other(opcode::GET_EPHEMERALS),
        Request::Multi(parts) => Ask::Multi(parts.iter().map(part).collect()),
        Request::MultiRead(parts) => Ask::MultiRead(parts.iter().map(read_part).collect()),
        Request::MultiReadBroken(_) => other(opcode::MULTI_READ),
        Request::Ping => other(opcode::PING),
        Request::Reconfig { .. } => other(opcode::RECONFIG),
        Request::RemoveWatches { path, kind } => {
            Ask::RemoveWatches { path: path.to_string(), kind: *kind }
        }
        Request::Sasl => other(opcode::SASL),
        Request::SetAcl { path, acl, version } => Ask::SetAcl {
            path: path.to_string(),
            acl: wishes(acl.as_deref().unwrap_or_default()),
            version: *version,
        },
        Request::SetData { path, data, version } => {
            Ask::SetData { path: path.to_string(), data: bytes(data), version: *version }
        }
        Request::SetWatches(watches) => {
            let all = |paths: &[Text]| paths.iter().map(ToString::to_string).collect();
            Ask::SetWatches(SetWatches {
                relative: Hex(watches.relative_zxid.0),
                data: all(&watches.data),
                exist: all(&watches.exist),
                child: all(&watches.child),
                persistent: all(&watches.persistent),
                recursive: all(&watches.recursive),
            })
        }
        Request::Sync { path } => {
            Ask::Sync { path: path.as_ref().map_or(String::new(), ToString::to_string) }
        }
        Request::Unknown { opcode } | Request::Unreadable { opcode, .. } => other(*opcode),
        Request::WhoAmI => other(opcode::WHO_AM_I),
    }
}

fn create(create: &Create) -> Ask {
    let Create { op: _, path, data, acl, flags, ttl_ms: _ } = create;
    let mode = match flags {
        1 | 3 => Mode::Ephemeral,
        4 => Mode::Container,
        5 | 6 => Mode::Ttl,
        _ => Mode::Persistent,
    };
    Ask::Create {
        path: path.to_string(),
        data: bytes(data),
        acl: Some(wishes(acl.as_deref().unwrap_or_default())),
        mode,
        sequential: matches!(flags, 2 | 3 | 6),
    }
}

fn part(op: &Op) -> Ask {
    match op {
        Op::Check { path, version } => Ask::Check { path: path.to_string(), version: *version },
        Op::Create(create) => self::create(create),
        Op::Delete { path, version } => Ask::Delete { path: path.to_string(), version: *version },
        Op::SetData { path, data, version } => {
            Ask::SetData { path: path.to_string(), data: bytes(data), version: *version }
        }
    }
}

fn read_part(op: &ReadOp) -> Ask {
    match op {
        ReadOp::GetChildren { path } => Ask::GetChildren { path: path.to_string(), watch: false },
        ReadOp::GetData { path } => Ask::GetData { path: path.to_string(), watch: false },
    }
}

fn stat(stat: &CoreStat) -> Option<Stat> {
    Some(Stat {
        czxid: Hex(stat.czxid.0),
        mzxid: Hex(stat.mzxid.0),
        pzxid: Hex(stat.pzxid.0),
        ctime: stat.ctime.0,
        mtime: stat.mtime.0,
        version: stat.version,
        cversion: stat.cversion,
        aversion: stat.aversion,
        ephemeral_owner: Hex(stat.ephemeral_owner.0),
        data_length: stat.data_length,
        num_children: stat.num_children,
    })
}

/// An answer, as a history has it.
#[must_use]
pub fn answer(body: &Body) -> Answer {
    let nothing = Answer::default();
    match body {
        Body::Acl { acl, stat: at } => Answer { acl: Some(lines(acl)), stat: stat(at), ..nothing },
        Body::Children { names, stat: at } => Answer {
            children: Some(names.iter().map(ToString::to_string).collect()),
            stat: at.as_ref().and_then(stat),
            ..nothing
        },
        Body::Created { path, stat: at } => {
            Answer { path: Some(path.to_string()), stat: at.as_ref().and_then(stat), ..nothing }
        }
        Body::Data { data, stat: at } => Answer { data: bytes(data), stat: stat(at), ..nothing },
        Body::Multi(results) => {
            Answer { parts: Some(results.iter().map(result).collect()), ..nothing }
        }
        Body::Stat(at) => Answer { stat: stat(at), ..nothing },
        Body::Count(_)
        | Body::None
        | Body::Paths(_)
        | Body::Synced(_)
        | Body::Token
        | Body::Users(_) => nothing,
    }
}

fn result(result: &OpResult) -> Part {
    let nothing = Answer::default();
    let done = |answer| Part { err: None, ok: Some(answer) };
    match result {
        OpResult::Check | OpResult::Deleted => done(nothing),
        OpResult::Children(names) => done(Answer {
            children: Some(names.iter().map(ToString::to_string).collect()),
            ..nothing
        }),
        OpResult::Created { path, stat: at } => done(Answer {
            path: Some(path.to_string()),
            stat: at.as_ref().and_then(stat),
            ..nothing
        }),
        OpResult::Data { data, stat: at } => {
            done(Answer { data: bytes(data), stat: stat(at), ..nothing })
        }
        OpResult::Error(code) => Part { err: Some(code.map_or(0, |code| code.number())), ok: None },
        OpResult::Set(at) => done(Answer { stat: stat(at), ..nothing }),
    }
}

/// A transaction, as a history has it.
#[must_use]
pub fn transaction(txn: &Txn) -> Record {
    let change = match &txn.change {
        txn::Change::CloseSession { paths } => {
            Change::CloseSession { paths: Some(paths.iter().map(ToString::to_string).collect()) }
        }
        txn::Change::CreateSession { timeout_ms } => {
            Change::CreateSession { timeout_ms: timeout_ms.unsigned_abs() }
        }
        txn::Change::Error(code) => Change::Error { code: code.number() },
        txn::Change::Multi(parts) => Change::Multi(
            parts
                .iter()
                .map(|part| match part {
                    SubChange::Error(code) => Change::Error { code: code.number() },
                    SubChange::Node(change) => node(change),
                })
                .collect(),
        ),
        txn::Change::Node(change) => node(change),
    };
    let (zxid, session) = (Hex(txn.stamp.zxid.0), Hex(txn.session.0));
    Record::Txn { zxid, session, cxid: txn.cxid.0, change }
}

fn node(change: &NodeChange) -> Change {
    match change {
        NodeChange::Check { path, .. } => Change::Check { path: path.to_string() },
        NodeChange::Create { path, data, acl, kind, .. } => Change::Create {
            path: path.to_string(),
            data: bytes(data),
            acl: Some(lines(acl)),
            mode: match kind {
                NodeKind::Container => Mode::Container,
                NodeKind::Ephemeral => Mode::Ephemeral,
                NodeKind::Persistent => Mode::Persistent,
                NodeKind::Ttl { .. } => Mode::Ttl,
            },
        },
        NodeChange::Delete { path, .. } => Change::Delete { path: path.to_string() },
        NodeChange::SetAcl { path, acl, version } => {
            Change::SetAcl { path: path.to_string(), acl: lines(acl), version: *version }
        }
        NodeChange::SetData { path, data, version, .. } => {
            Change::SetData { path: path.to_string(), data: bytes(data), version: *version }
        }
    }
}
