//! What a server should say: connections, sessions, a disk that is slow, and the model for
//! everything that has been applied.
//!
//! ```text
//!   Request -- write --> proposed --> on its way to disk --> committed: events, answer,
//!      |                                                          |     then the reads behind it
//!      +---- read ---> behind its session's writes? -- yes -------+
//!                              |
//!                              no --> answered at once
//! ```

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

use zoolab_core::request::{
    Body, ConnectRequest, ConnectResponse, Create, Event, Op, Reply, Stamp,
};
use zoolab_core::session::password;
use zoolab_core::{
    Code, ConnId, Id, Millis, Now, Request, SessionId, Settings, Text, Ticks, Timer, Xid, Zxid,
};
use zoolab_sim::model::{Act, Kind, Model, Reader, Told, Usage, is_write};

/// Everything that can happen to a server.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Accept {
        conn: ConnId,
        address: IpAddr,
    },
    Connect {
        conn: ConnId,
        request: ConnectRequest,
    },
    Disconnect {
        conn: ConnId,
    },
    /// The disk is done with so many things, one after the other, or with all it has.
    Disk {
        count: usize,
    },
    /// The disk cannot do the next thing.
    DiskFails,
    Request {
        conn: ConnId,
        xid: Xid,
        request: Request,
    },
    Timeout(Timer),
    /// Time goes by; the wall clock may be set as well.
    Wait {
        ms: i64,
        wall_ms: i64,
    },
}

/// What a step makes visible, apart for each client: nobody sees the order between them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Said {
    pub(crate) clients: BTreeMap<ConnId, Vec<Saying>>,
    pub(crate) disk: Vec<DiskOp>,
    pub(crate) armed: Vec<(Timer, Ticks)>,
    pub(crate) halted: bool,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Saying {
    Closed,
    Connected(ConnectResponse),
    Event(Event),
    Reply(Reply),
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum DiskOp {
    Append(Zxid),
    Sync,
}

#[derive(Clone, Debug)]
struct Conn {
    address: IpAddr,
    who: Vec<Id>,
    stage: Stage,
}

#[derive(Clone, Debug)]
enum Stage {
    Fresh,
    Opening { session: SessionId, read_only: Option<bool>, early: Vec<(Xid, Request)> },
    Serving(SessionId),
}

#[derive(Clone, Debug)]
struct Session {
    timeout_ms: i32,
    /// The tick at which it expires; none once it has.
    deadline: Option<i64>,
    closing: bool,
    conn: Option<ConnId>,
    unanswered: VecDeque<Unanswered>,
}

#[derive(Clone, Debug)]
enum Unanswered {
    Read { conn: ConnId, xid: Xid, request: Request, who: Vec<Id> },
    Write(Zxid),
}

/// A write on its way to disk.
#[derive(Clone, Debug)]
struct Proposal {
    stamp: Stamp,
    session: SessionId,
    from: Option<(ConnId, Xid)>,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    Ask { who: Vec<Id>, request: Request, usage: Usage },
    Collect { path: String },
    Open { timeout_ms: i32 },
}

impl What {
    fn act(&self) -> Act<'_> {
        match self {
            Self::Ask { who, request, usage } => Act::Ask { who, request, usage: Some(usage) },
            Self::Collect { path } => Act::Collect { path },
            Self::Open { timeout_ms } => Act::Open { timeout_ms: *timeout_ms },
        }
    }
}

/// What one run is about: runs should differ in kind, not only in detail.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Theme {
    /// How many times slower than usual the disk is, every other while; at least one.
    pub(crate) lazy: u32,
    /// Everything happens at a few paths.
    pub(crate) narrow: bool,
    /// Sessions are closed all the time.
    pub(crate) restless: bool,
}

/// How to make a model wrong on purpose: called after each write with what was before it.
pub(crate) type Spoil = fn(&Model, &mut Model, Act<'_>);

#[derive(Clone)]
pub(crate) struct Expected {
    pub(crate) theme: Theme,
    /// So far.
    steps: usize,
    pub(crate) model: Model,
    pub(crate) now: Now,
    pub(crate) said: Said,
    pub(crate) halted: bool,
    pub(crate) next_conn: u64,
    pub(crate) next_xid: i32,
    spoil: Option<Spoil>,
    conns: BTreeMap<ConnId, Conn>,
    sessions: BTreeMap<SessionId, Session>,
    next_session: i64,
    proposals: VecDeque<Proposal>,
    /// Newest proposal.
    proposed: Zxid,
    disk: VecDeque<DiskOp>,
    /// What the sync on the disk's list covers.
    syncing: Option<Zxid>,
    /// The tick the timer for sessions stands at.
    armed: Option<i64>,
}

/// Short, because it stands at the head of every failure.
impl std::fmt::Debug for Expected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.model.settings)
    }
}

/// Passwords the tests use, with their digests (`echo -n bob:secret | openssl sha1 -binary | base64`).
pub(crate) const DIGESTS: [(&str, &str); 4] = [
    ("bob:secret", "bob:fyVmFCwVbTJYrznoSu1koqYEYF0="),
    ("u:p", "u:Jq7wMyA/w2Vd5WIDAKdu4OIIFEQ="),
    ("solo", "solo:SfJXQf8Ntlp8QpCqc/NLTUo2RMY="),
    ("super:test", SUPER),
];
pub(crate) const SUPER: &str = "super:D/InIHSb7yEEbrWz8b9l71RjZJU=";

impl Expected {
    pub(crate) fn new(settings: Settings, theme: Theme, now: Now, spoil: Option<Spoil>) -> Self {
        Self {
            theme,
            steps: 0,
            model: Model::new(settings),
            now,
            said: Said::default(),
            halted: false,
            next_conn: 1,
            next_xid: 1,
            spoil,
            conns: BTreeMap::new(),
            sessions: BTreeMap::new(),
            // Server 1, five bytes of clock, two of zero.
            next_session: 1 << 56 | (now.steady.0 & 0xFF_FFFF_FFFF) << 16,
            proposals: VecDeque::new(),
            proposed: Zxid::ZERO,
            disk: VecDeque::new(),
            syncing: None,
            armed: None,
        }
    }

    pub(crate) fn step(&mut self, step: &Step) {
        self.steps += 1;
        self.said = Said::default();
        if let Step::Wait { ms, wall_ms } = step {
            self.now.steady.0 += ms;
            self.now.wall.0 += ms + wall_ms;
            return;
        }
        if self.halted {
            return;
        }
        match step {
            Step::Accept { conn, address } => {
                let who = vec![Id { scheme: "ip".into(), id: address.to_string().into() }];
                self.model.conns.insert(*conn, who.clone());
                self.conns.insert(*conn, Conn { address: *address, who, stage: Stage::Fresh });
                self.next_conn = conn.0 + 1;
            }
            Step::Connect { conn, request } => self.connect(*conn, request),
            Step::Disconnect { conn } => self.forget(*conn),
            Step::Disk { count } => {
                let mut left = *count;
                while left > 0 && !self.disk.is_empty() {
                    self.disk_done();
                    left -= 1;
                }
            }
            Step::DiskFails => {
                self.halted = true;
                self.said.halted = true;
            }
            Step::Request { conn, xid, request } => {
                self.next_xid = self.next_xid.max(xid.0.wrapping_add(1));
                self.request(*conn, *xid, request);
            }
            Step::Timeout(Timer::Containers) => self.collect(),
            Step::Timeout(Timer::Sessions) => self.expire(),
            Step::Timeout(
                Timer::Establish
                | Timer::HalfTick
                | Timer::ReadOnly
                | Timer::Redial
                | Timer::Resend
                | Timer::Settle
                | Timer::Silent,
            ) => unreachable!("an ensemble of one has no peers to wait for"),
            Step::Wait { .. } => unreachable!("taken above"),
        }
    }

    /// Whether this can happen now.
    pub(crate) fn can(&self, step: &Step) -> bool {
        match step {
            Step::DiskFails => self.disk_len() > 0,
            Step::Timeout(Timer::Sessions) => self.armed.is_some(),
            Step::Accept { conn, .. } => conn.0 >= self.next_conn,
            Step::Connect { .. }
            | Step::Disconnect { .. }
            | Step::Disk { .. }
            | Step::Request { .. }
            | Step::Timeout(Timer::Containers)
            | Step::Wait { .. } => true,
            Step::Timeout(
                Timer::Establish
                | Timer::HalfTick
                | Timer::ReadOnly
                | Timer::Redial
                | Timer::Resend
                | Timer::Settle
                | Timer::Silent,
            ) => false,
        }
    }

    fn say(&mut self, conn: ConnId, saying: Saying) {
        if self.conns.contains_key(&conn) {
            self.said.clients.entry(conn).or_default().push(saying);
        }
    }

    fn reply(&mut self, conn: ConnId, xid: Xid, zxid: Zxid, answer: Result<Body, Code>) {
        let (err, body) = match answer {
            Ok(body) => (None, body),
            Err(code) => (Some(code), Body::None),
        };
        self.say(conn, Saying::Reply(Reply { xid, zxid, err, body }));
    }

    fn tell(&mut self, told: Vec<Told>) {
        for (conn, event) in told {
            self.say(conn, Saying::Event(event));
        }
    }

    fn close(&mut self, conn: ConnId) {
        self.say(conn, Saying::Closed);
        self.forget(conn);
    }

    fn forget(&mut self, conn: ConnId) {
        self.conns.remove(&conn);
        self.model.disconnect(conn);
        for session in self.sessions.values_mut() {
            session.conn.take_if(|served| *served == conn);
        }
    }

    fn connect(&mut self, conn: ConnId, request: &ConnectRequest) {
        let Some(stage) = self.conns.get(&conn).map(|conn| conn.stage.clone()) else { return };
        if request.last_zxid_seen > self.model.zxid || !matches!(stage, Stage::Fresh) {
            return self.close(conn);
        }
        let Settings { session_timeout_min_ms: min, session_timeout_max_ms: max, .. } =
            self.model.settings;
        let timeout_ms = request.timeout_ms.clamp(min, max);
        let read_only = request.read_only.map(|_| false);
        if request.session == SessionId::NONE {
            return self.open(conn, timeout_ms, read_only);
        }
        let id = request.session;
        let others: Vec<ConnId> = self
            .conns
            .iter()
            .filter(|(_, conn)| match &conn.stage {
                Stage::Fresh => false,
                Stage::Opening { session, .. } | Stage::Serving(session) => *session == id,
            })
            .map(|(conn, _)| *conn)
            .collect();
        for other in others {
            self.close(other);
        }
        let right = request.password.as_deref() == Some(&password(id)[..]);
        match self.sessions.get_mut(&id) {
            Some(session) if right && !session.closing => {
                session.timeout_ms = timeout_ms;
                session.conn = Some(conn);
                self.touch(id);
                self.arm();
                self.serve(conn, id, read_only);
            }
            Some(_) | None => {
                let response = ConnectResponse::expired(read_only);
                self.say(conn, Saying::Connected(response));
                self.close(conn);
            }
        }
    }

    fn open(&mut self, conn: ConnId, timeout_ms: i32, read_only: Option<bool>) {
        let id = SessionId(self.next_session);
        self.next_session += 1;
        let session = Session {
            timeout_ms,
            deadline: None,
            closing: false,
            conn: Some(conn),
            unanswered: VecDeque::new(),
        };
        self.sessions.insert(id, session);
        self.touch(id);
        self.arm();
        let stage = Stage::Opening { session: id, read_only, early: Vec::new() };
        self.conns.get_mut(&conn).expect("it just spoke").stage = stage;
        self.propose(id, Some((conn, Xid(0))), What::Open { timeout_ms });
    }

    fn serve(&mut self, conn: ConnId, id: SessionId, read_only: Option<bool>) {
        self.conns.get_mut(&conn).expect("checked before").stage = Stage::Serving(id);
        let timeout_ms = self.sessions[&id].timeout_ms;
        let password = password(id);
        let response = ConnectResponse { timeout_ms, session: id, password, read_only };
        self.say(conn, Saying::Connected(response));
    }

    /// Sessions end with the first whole tick beyond their timeout.
    fn touch(&mut self, id: SessionId) {
        let tick_ms = i64::from(self.model.settings.tick_ms);
        let session = self.sessions.get_mut(&id).expect("only known sessions are touched");
        let ends_ms = self.now.steady.0 + i64::from(session.timeout_ms);
        session.deadline = Some(ends_ms / tick_ms + 1);
    }

    /// The timer may stand early, never late.
    fn arm(&mut self) {
        let Some(first) = self.sessions.values().filter_map(|session| session.deadline).min()
        else {
            return;
        };
        if self.armed.is_none_or(|armed| armed > first) {
            self.armed = Some(first);
            let here = self.now.steady.0 / i64::from(self.model.settings.tick_ms);
            let ticks = u32::try_from((first - here).max(1)).expect("timeouts are short");
            self.said.armed.push((Timer::Sessions, Ticks(ticks)));
        }
    }

    fn request(&mut self, conn: ConnId, xid: Xid, request: &Request) {
        let Some(Conn { address, who, stage }) = self.conns.get_mut(&conn) else { return };
        let id = match stage {
            Stage::Fresh => return self.close(conn),
            Stage::Opening { early, .. } => return early.push((xid, request.clone())),
            Stage::Serving(id) => *id,
        };
        if let Request::Auth { scheme, auth } = request {
            let new = identities(&self.model.settings, *address, scheme.as_ref(), auth.as_deref());
            for id in &new {
                if !who.contains(id) {
                    who.push(id.clone());
                }
            }
            self.model.conns.insert(conn, who.clone());
            if new.is_empty() {
                self.reply(conn, xid, Zxid::ZERO, Err(Code::AuthFailed));
                return self.close(conn);
            }
            return self.reply(conn, xid, Zxid::ZERO, Ok(Body::None));
        }
        if *request == Request::Sasl {
            let (err, body) = (Some(Code::AuthFailed), Body::Token);
            self.say(conn, Saying::Reply(Reply { xid, zxid: Zxid::ZERO, err, body }));
            return self.close(conn);
        }
        let who = who.clone();
        let session = self.sessions.get(&id).expect("served sessions are known");
        if session.closing {
            return;
        }
        self.touch(id);
        if let Request::Unknown { .. } = request {
            self.reply(conn, xid, Zxid::NONE, Err(Code::Unimplemented));
            return self.close(conn);
        }
        let session = self.sessions.get_mut(&id).expect("looked at above");
        if is_write(request) {
            session.closing = *request == Request::CloseSession;
            let (request, usage) = (request.clone(), self.model.usage());
            self.propose(id, Some((conn, xid)), What::Ask { who, request, usage });
        } else if session.unanswered.is_empty() {
            self.read(conn, id, xid, request, &who);
        } else {
            let request = request.clone();
            session.unanswered.push_back(Unanswered::Read { conn, xid, request, who });
        }
    }

    fn read(&mut self, conn: ConnId, session: SessionId, xid: Xid, request: &Request, who: &[Id]) {
        if !self.conns.contains_key(&conn) {
            return;
        }
        let mut told = Vec::new();
        let answer = self.model.read(Reader { conn, session, who }, request, &mut told);
        self.tell(told);
        let zxid = self.model.zxid;
        if matches!(request, Request::MultiReadBroken(_)) {
            // The one error with a body.
            let err = Some(Code::MarshallingError);
            let body = answer.expect("reads within a multiRead fail one by one");
            return self.say(conn, Saying::Reply(Reply { xid, zxid, err, body }));
        }
        let xid = if *request == Request::Ping { Xid::PING } else { xid };
        self.reply(conn, xid, zxid, answer);
    }

    fn propose(&mut self, session: SessionId, from: Option<(ConnId, Xid)>, what: What) {
        self.proposed = self.proposed.next();
        let stamp = Stamp { zxid: self.proposed, time: self.now.wall };
        if let (Some(_), Some(session)) = (from, self.sessions.get_mut(&session)) {
            session.unanswered.push_back(Unanswered::Write(self.proposed));
        }
        self.proposals.push_back(Proposal { stamp, session, from, what });
        self.write(DiskOp::Append(self.proposed));
        self.sync();
    }

    fn write(&mut self, op: DiskOp) {
        self.disk.push_back(op);
        self.said.disk.push(op);
    }

    /// One sync at a time.
    fn sync(&mut self) {
        if self.syncing.is_none() {
            self.syncing = Some(self.proposed);
            self.write(DiskOp::Sync);
        }
    }

    fn disk_done(&mut self) {
        let Some(DiskOp::Sync) = self.disk.pop_front() else { return };
        let covered = self.syncing.take().expect("a sync was asked for");
        if covered < self.proposed {
            self.sync();
        }
        while let Some(proposal) =
            self.proposals.pop_front_if(|proposal| proposal.stamp.zxid <= covered)
        {
            self.commit(&proposal);
        }
    }

    /// Events first, then the answer, then the reads that waited for it.
    fn commit(&mut self, proposal: &Proposal) {
        let Proposal { stamp, session: id, from, what } = proposal;
        let mut told = Vec::new();
        let before = self.spoil.map(|spoil| (spoil, self.model.clone()));
        let answer = self.model.apply(*stamp, *id, what.act(), &mut told);
        if let Some((spoil, before)) = before {
            spoil(&before, &mut self.model, what.act());
        }
        self.tell(told);
        let closes = matches!(what, What::Ask { request: Request::CloseSession, .. });
        if let Some((conn, xid)) = *from {
            match what {
                What::Open { .. } => self.opened(conn),
                What::Ask { .. } | What::Collect { .. } => {
                    self.reply(conn, xid, stamp.zxid, answer);
                }
            }
        }
        if closes {
            let session = self.sessions.remove(id).expect("sessions end once");
            if let Some(conn) = session.conn {
                self.close(conn);
            }
        } else {
            self.read_on(*id, stamp.zxid);
        }
    }

    fn opened(&mut self, conn: ConnId) {
        let Some(Conn { stage: Stage::Opening { session, read_only, early }, .. }) =
            self.conns.get(&conn).cloned()
        else {
            return;
        };
        self.serve(conn, session, read_only);
        let first =
            self.sessions.get_mut(&session).and_then(|session| session.unanswered.pop_front());
        assert!(matches!(first, Some(Unanswered::Write(_))), "its opening stood first");
        for (xid, request) in early {
            self.request(conn, xid, &request);
        }
    }

    fn read_on(&mut self, id: SessionId, zxid: Zxid) {
        while let Some(session) = self.sessions.get_mut(&id) {
            match session.unanswered.front() {
                Some(Unanswered::Write(written)) if *written > zxid => return,
                Some(_) => {}
                None => return,
            }
            if let Some(Unanswered::Read { conn, xid, request, who }) =
                session.unanswered.pop_front()
            {
                self.read(conn, id, xid, &request, &who);
            }
        }
    }

    fn expire(&mut self) {
        let armed = self.armed.take().expect("only an armed timer runs out");
        let mut over: Vec<(i64, SessionId)> = Vec::new();
        for (id, session) in &mut self.sessions {
            if let Some(deadline) = session.deadline.take_if(|deadline| *deadline <= armed)
                && !session.closing
            {
                session.closing = true;
                over.push((deadline, *id));
            }
        }
        over.sort_unstable();
        for (_, id) in over {
            let (who, request, usage) = (Vec::new(), Request::CloseSession, Usage::default());
            self.propose(id, None, What::Ask { who, request, usage });
        }
        self.arm();
    }

    fn collect(&mut self) {
        let Settings { container_max_per_minute, container_check_ms, tick_ms, .. } =
            self.model.settings;
        let is_ttl = |path: &String| matches!(self.model.nodes[path].kind, Kind::Ttl(_));
        let mut over = self.model.collectable(self.now.wall);
        over.sort_by_key(is_ttl);
        let most = u64::from(container_max_per_minute) * u64::from(container_check_ms) / 60_000;
        over.truncate(usize::try_from(most.max(1)).expect("small"));
        if !over.is_empty() {
            // The tree as it will be when everything in flight has been applied.
            let mut ahead = self.model.clone();
            for Proposal { stamp, session, from: _, what } in &self.proposals {
                let _answer = ahead.apply(*stamp, *session, what.act(), &mut Vec::new());
            }
            over.retain(|path| {
                let kind = ahead.nodes.get(path).map(|node| node.kind);
                ahead.children(path).next().is_none()
                    && kind.is_some_and(|kind| !matches!(kind, Kind::Ephemeral(_)))
            });
        }
        for path in over {
            self.propose(SessionId::NONE, None, What::Collect { path });
        }
        let ticks = Ticks(container_check_ms.div_ceil(tick_ms));
        self.said.armed.push((Timer::Containers, ticks));
    }

    // What the generator has to know in order to hit something.

    pub(crate) fn conns(&self, fresh: bool) -> Vec<ConnId> {
        let is_fresh = |conn: &Conn| matches!(conn.stage, Stage::Fresh);
        let all = self.conns.iter().filter(|(_, conn)| is_fresh(conn) == fresh);
        all.map(|(id, _)| *id).collect()
    }

    pub(crate) fn sessions(&self) -> Vec<SessionId> {
        self.sessions.keys().copied().collect()
    }

    /// What writes in flight are about, a sequential create by the name it was asked for.
    pub(crate) fn in_flight(&self) -> Vec<Text> {
        let requests = self.proposals.iter().filter_map(|proposal| match &proposal.what {
            What::Ask { request, .. } => Some(request),
            What::Collect { .. } | What::Open { .. } => None,
        });
        let mut paths = Vec::new();
        for request in requests {
            if let Request::Create(Create { path, .. })
            | Request::Delete { path, .. }
            | Request::SetAcl { path, .. }
            | Request::SetData { path, .. } = request
            {
                paths.push(path.clone());
            } else if let Request::Multi(ops) = request {
                paths.extend(ops.iter().map(|op| {
                    let (Op::Check { path, .. }
                    | Op::Create(Create { path, .. })
                    | Op::Delete { path, .. }
                    | Op::SetData { path, .. }) = op;
                    path.clone()
                }));
            }
        }
        paths
    }

    pub(crate) fn disk_len(&self) -> usize {
        if self.halted { 0 } else { self.disk.len() }
    }

    /// How many times slower than usual the disk is at the moment.
    pub(crate) const fn lazy_now(&self) -> u32 {
        if self.steps / 25 % 2 == 1 { self.theme.lazy } else { 1 }
    }

    pub(crate) fn proposals_len(&self) -> usize {
        self.proposals.len()
    }

    pub(crate) const fn sessions_armed(&self) -> bool {
        self.armed.is_some()
    }
}

/// What an auth packet gives; nothing if it is refused.
fn identities(
    settings: &Settings,
    address: IpAddr,
    scheme: Option<&Text>,
    auth: Option<&[u8]>,
) -> Vec<Id> {
    let id = |scheme: &str, id: &str| Id { scheme: scheme.into(), id: id.into() };
    match (scheme.map(|scheme| &**scheme), auth) {
        (Some("ip"), _) => vec![id("ip", &address.to_string())],
        (Some("digest"), Some(auth)) => {
            let known = DIGESTS.iter().find(|(password, _)| password.as_bytes() == auth);
            let (_, digest) = known.expect("the tests know all passwords");
            let mut ids = vec![id("digest", digest)];
            if settings.super_digest.as_deref() == Some(digest) {
                ids.push(id("super", ""));
            }
            ids
        }
        (Some(_) | None, _) => Vec::new(),
    }
}

/// The clocks a test begins with.
pub(crate) const START: Now = Now { wall: Millis(1_700_000_000_000), steady: Millis(0x12_3456) };
