//! Sessions: opening, touching, expiring, closing.
//!
//! ```text
//!   CreateSession prepared      CreateSession applied     closing marked      CloseSession applied
//!   ---------------------> live --------------------> open -------------> closing -----------> gone
//!                                        touch ^   |
//!                                              +---+
//! ```
//!
//! Deadlines are whole ticks of the steady clock, always rounded up past the timeout: a session
//! is never ended early, and at most one tick late.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

use crate::acl::Id;
use crate::config::{Boot, Settings};
use crate::ids::{ConnId, LinkId, Millis, Now, SessionId, Ticks, Xid, Zxid};
use crate::io::{Output, Timer};
use crate::lookup::Lookup;
use crate::request::Request;
use crate::txn::{Change, Txn};

/// A request that waits for the writes its session issued before it, or such a write.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Waiting {
    /// To be answered when the session's earlier writes have been.
    Read { conn: ConnId, xid: Xid, request: Request, who: alloc::sync::Arc<[Id]> },
    /// Forwarded to the leader, not yet applied.
    Forwarded { conn: ConnId, xid: Xid, wish: Wish },
    /// A sync that the leader was asked for.
    Sync { conn: ConnId, xid: Xid, request: Request },
    /// Proposed here, not yet applied.
    Write(Zxid),
}

/// What a learner has forwarded, as far as it decides which transaction comes of it: the number
/// alone does not, for clients choose it, and the server itself uses zero.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Wish {
    /// The session's end.
    Close,
    /// The session, which may have been here before all others know of it.
    Open,
    /// Anything else.
    Write,
}

impl Wish {
    /// Whether this can have come of it.
    const fn becomes(self, change: &Change) -> bool {
        match change {
            Change::CloseSession { .. } => matches!(self, Self::Close),
            Change::CreateSession { .. } => matches!(self, Self::Open),
            Change::Error(_) => matches!(self, Self::Close | Self::Write),
            Change::Multi(_) | Change::Node(_) => matches!(self, Self::Write),
        }
    }
}

/// Who knows of a session.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Scope {
    /// All servers do, or will once its creation is applied.
    Ensemble,
    /// Only this server does, which watches over it.
    Local,
    /// Only this server did; its creation has been asked for and is not applied yet.
    Upgrading,
}

/// Where a session's requests come from, as the leader sees it.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Origin {
    /// A client of the leader itself.
    Here,
    /// A learner, by its connection: one that comes back is another origin.
    Learner(LinkId),
}

/// What a server knows of a session beyond what all servers know: the leader of every one, a
/// learner of those that it serves.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Live {
    /// As agreed on its newest connection.
    pub(crate) timeout_ms: i32,
    pub(crate) scope: Scope,
    /// The tick at whose beginning it expires, if this server watches over that. Invariant: its
    /// bucket holds the session.
    deadline: Option<u64>,
    /// Set when its end has been decided; nothing more is taken from it.
    pub(crate) closing: bool,
    /// Where it is served, if its connection is here and up.
    pub(crate) conn: Option<ConnId>,
    /// Unanswered requests in order. Invariant: begins with a write if not empty.
    pub(crate) waiting: VecDeque<Waiting>,
    /// Who may act for it; set by whoever did first, or came last.
    pub(crate) origin: Option<Origin>,
    /// Transactions up to here were asked for on earlier connections.
    since: Zxid,
}

/// The next id to give out. Its highest byte names the server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct NextId(i64);

/// Without the name, which the server has as well: it may be hashed under another.
impl Hash for NextId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.0 & 0x00FF_FFFF_FFFF_FFFF).hash(state);
    }
}

/// All sessions.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Sessions {
    tick_ms: i64,
    next: NextId,
    /// Replicated: made and ended by transactions only, part of every snapshot.
    table: BTreeMap<SessionId, i32>,
    live: Lookup<SessionId, Live>,
    buckets: BTreeMap<u64, BTreeSet<SessionId>>,
    /// The tick the timer stands at. Invariant: no bucket is earlier.
    armed: Option<u64>,
    /// Heard from since the leader was last told, with their timeouts; only on learners.
    touched: BTreeMap<SessionId, i32>,
}

impl Sessions {
    pub(crate) fn new(settings: &Settings, boot: &Boot) -> Self {
        Self {
            tick_ms: i64::from(settings.tick_ms),
            next: NextId(first_id(boot)),
            table: BTreeMap::new(),
            live: Lookup::new(boot.scatter),
            buckets: BTreeMap::new(),
            armed: None,
            touched: BTreeMap::new(),
        }
    }

    /// The sessions are these, by what is on disk or in a snapshot.
    pub(crate) fn restore(&mut self, table: BTreeMap<SessionId, i32>) {
        self.forget_all();
        self.table = table;
    }

    /// All open sessions, as snapshots have them.
    pub(crate) const fn table(&self) -> &BTreeMap<SessionId, i32> {
        &self.table
    }

    /// The same, to be changed by transactions that nobody waits for.
    pub(crate) const fn table_mut(&mut self) -> &mut BTreeMap<SessionId, i32> {
        &mut self.table
    }

    /// This server serves nobody any more, and watches over nobody.
    pub(crate) fn forget_all(&mut self) {
        self.live.clear();
        self.buckets.clear();
        self.armed = None;
        self.touched.clear();
    }

    /// From now on this server watches over all sessions. Each gets its full time, for nobody
    /// knows when it was last heard from.
    pub(crate) fn watch_over_all(&mut self, now: Now, out: &mut Vec<Output>) {
        self.forget_all();
        for (id, timeout_ms) in self.list() {
            self.track(now, id, timeout_ms, out);
        }
    }

    /// Serves a session that the leader watches over. What was asked for on earlier connections,
    /// here or elsewhere, has its place up to `since`, and must not be taken for what this one
    /// will ask under the same numbers.
    pub(crate) fn serve(&mut self, id: SessionId, timeout_ms: i32, conn: ConnId, since: Zxid) {
        let (deadline, closing, origin, conn) = (None, false, None, Some(conn));
        let waiting = VecDeque::new();
        let scope = Scope::Ensemble;
        let live = Live { timeout_ms, scope, deadline, closing, conn, waiting, origin, since };
        self.live.insert(id, live);
    }

    /// Serves and watches over a session that nobody else knows.
    pub(crate) fn track_local(
        &mut self,
        now: Now,
        id: SessionId,
        timeout_ms: i32,
        conn: ConnId,
        out: &mut Vec<Output>,
    ) {
        self.track(now, id, timeout_ms, out);
        if let Some(live) = self.live.get_mut(&id) {
            live.scope = Scope::Local;
            live.conn = Some(conn);
        }
    }

    /// Whether only this server knows of this session.
    pub(crate) fn is_local(&self, id: SessionId) -> bool {
        self.live.get(&id).is_some_and(|live| live.scope == Scope::Local)
    }

    /// All sessions that only this server knows, by id.
    #[must_use]
    pub fn locals(&self) -> Vec<SessionId> {
        let local = |(id, live): (&SessionId, &Live)| (live.scope == Scope::Local).then_some(*id);
        self.live.sorted().into_iter().filter_map(local).collect()
    }

    /// A local session is to be known to all. From now on the leader watches over it, which may
    /// be this server.
    pub(crate) fn upgrade(&mut self, id: SessionId, leads: bool) {
        let Some(live) = self.live.get_mut(&id) else { return };
        live.scope = Scope::Upgrading;
        if !leads && let Some(deadline) = live.deadline.take() {
            self.unlist(deadline, id);
        }
    }

    /// It is in no bucket any more.
    fn unlist(&mut self, deadline: u64, id: SessionId) {
        if let Some(bucket) = self.buckets.get_mut(&deadline) {
            bucket.remove(&id);
            if bucket.is_empty() {
                self.buckets.remove(&deadline);
            }
        }
    }

    /// Heard from since the last time this was asked.
    pub(crate) fn take_touched(&mut self) -> Vec<(SessionId, i32)> {
        core::mem::take(&mut self.touched).into_iter().collect()
    }

    /// The connection and number of the request that has been applied, if it was forwarded by
    /// this server and is the next to be answered.
    pub(crate) fn forwarded(&mut self, txn: &Txn) -> Option<(ConnId, Xid)> {
        let live = self.live.get_mut(&txn.session)?;
        if txn.stamp.zxid <= live.since {
            return None;
        }
        match live.waiting.front() {
            Some(Waiting::Forwarded { conn, xid, wish })
                if *xid == txn.cxid && wish.becomes(&txn.change) =>
            {
                let asked = (*conn, *xid);
                live.waiting.pop_front();
                Some(asked)
            }
            Some(
                Waiting::Forwarded { .. }
                | Waiting::Read { .. }
                | Waiting::Sync { .. }
                | Waiting::Write(_),
            )
            | None => None,
        }
    }

    /// The sync that has been answered by the leader, if it was asked for on this connection and
    /// is the next to be answered.
    pub(crate) fn synced(
        &mut self,
        id: SessionId,
        asked: ConnId,
    ) -> Option<(ConnId, Xid, Request)> {
        let live = self.live.get_mut(&id)?;
        let is_sync =
            |waiting: &mut Waiting| matches!(waiting, Waiting::Sync { conn, .. } if *conn == asked);
        match live.waiting.pop_front_if(is_sync)? {
            Waiting::Sync { conn, xid, request } => Some((conn, xid, request)),
            Waiting::Forwarded { .. } | Waiting::Read { .. } | Waiting::Write(_) => None,
        }
    }

    /// How many sessions are open.
    #[must_use]
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether none is open.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// All open sessions with their persisted timeouts, by id.
    #[must_use]
    pub fn list(&self) -> Vec<(SessionId, i32)> {
        self.table.iter().map(|(id, timeout)| (*id, *timeout)).collect()
    }

    /// Which sessions expire at the beginning of which tick, if nothing is heard of them.
    #[must_use]
    pub fn buckets(&self) -> Vec<(u64, Vec<SessionId>)> {
        let list = |ids: &BTreeSet<SessionId>| ids.iter().copied().collect();
        self.buckets.iter().map(|(tick, ids)| (*tick, list(ids))).collect()
    }

    /// An id for a new session. A host's steady clock may begin anew with the host, so that old
    /// ids come again.
    pub(crate) fn fresh_id(&mut self) -> SessionId {
        loop {
            let id = SessionId(self.next.0);
            self.next.0 = self.next.0.wrapping_add(1);
            if !self.table.contains_key(&id) && !self.live.contains(&id) {
                return id;
            }
        }
    }

    /// Begins to watch over a session.
    pub(crate) fn track(
        &mut self,
        now: Now,
        id: SessionId,
        timeout_ms: i32,
        out: &mut Vec<Output>,
    ) {
        let deadline = self.deadline(now.steady, timeout_ms);
        let waiting = VecDeque::new();
        let (closing, conn, origin, since) = (false, None, None, Zxid::ZERO);
        let (scope, due) = (Scope::Ensemble, Some(deadline));
        let live = Live { timeout_ms, scope, deadline: due, closing, conn, waiting, origin, since };
        assert!(self.live.insert(id, live).is_none(), "session {id} was tracked already");
        self.buckets.entry(deadline).or_default().insert(id);
        self.arm(now, out);
    }

    /// Hears from a session. False if it is unknown or closing: then nothing of it is taken.
    pub(crate) fn touch(&mut self, now: Now, id: SessionId) -> bool {
        let (tick_ms, Some(live)) = (self.tick_ms, self.live.get_mut(&id)) else { return false };
        if live.closing {
            return false;
        }
        let Some(before) = live.deadline else {
            self.touched.insert(id, live.timeout_ms);
            return true;
        };
        let deadline = deadline(tick_ms, now.steady, live.timeout_ms);
        if deadline != before {
            live.deadline = Some(deadline);
            self.unlist(before, id);
            self.buckets.entry(deadline).or_default().insert(id);
        }
        true
    }

    /// Hears from a session on a new connection, which has its own timeout. A shorter one may
    /// bring the session's end nearer than the timer stands.
    pub(crate) fn resume(
        &mut self,
        now: Now,
        id: SessionId,
        timeout_ms: i32,
        conn: Option<ConnId>,
        out: &mut Vec<Output>,
    ) -> bool {
        match self.live.get_mut(&id) {
            Some(live) if !live.closing => {
                live.timeout_ms = timeout_ms;
                live.conn = conn;
            }
            Some(_) | None => return false,
        }
        let heard = self.touch(now, id);
        self.arm(now, out);
        heard
    }

    pub(crate) fn live(&self, id: SessionId) -> Option<&Live> {
        self.live.get(&id)
    }

    pub(crate) fn live_mut(&mut self, id: SessionId) -> Option<&mut Live> {
        self.live.get_mut(&id)
    }

    /// Whether requests of this session may be prepared.
    pub(crate) fn is_open(&self, id: SessionId) -> bool {
        self.live.get(&id).is_some_and(|live| !live.closing)
    }

    /// From now on nothing is taken from this session.
    pub(crate) fn mark_closing(&mut self, id: SessionId) {
        if let Some(live) = self.live.get_mut(&id) {
            live.closing = true;
        }
    }

    /// A session's creation was applied. Returns the session if it was local here until then.
    pub(crate) fn opened(&mut self, id: SessionId, timeout_ms: i32) -> Option<&Live> {
        self.table.insert(id, timeout_ms);
        let live = self.live.get_mut(&id).filter(|live| live.scope == Scope::Upgrading)?;
        live.scope = Scope::Ensemble;
        Some(live)
    }

    /// A session's end was applied; returns where it was served.
    pub(crate) fn closed(&mut self, id: SessionId) -> Option<Live> {
        self.table.remove(&id);
        let live = self.live.remove(&id)?;
        if let Some(deadline) = live.deadline {
            self.unlist(deadline, id);
        }
        Some(live)
    }

    /// The timer ran out: the sessions whose time is up, in order.
    ///
    /// It is the timer that says so and not the clock, so that a search in which time stands
    /// still can let it run out whenever it likes.
    pub(crate) fn expired(&mut self) -> Vec<SessionId> {
        let Some(armed) = self.armed.take() else { return Vec::new() };
        let mut expired = Vec::new();
        while let Some(entry) = self.buckets.first_entry()
            && *entry.key() <= armed
        {
            expired.extend(entry.remove());
        }
        expired
    }

    /// Sets the timer to the earliest deadline unless it stands there or before.
    pub(crate) fn arm(&mut self, now: Now, out: &mut Vec<Output>) {
        let Some((&first, _)) = self.buckets.first_key_value() else { return };
        if self.armed.is_some_and(|armed| armed <= first) {
            return;
        }
        self.armed = Some(first);
        let here = now.steady.0.div_euclid(self.tick_ms).max(0).cast_unsigned();
        let ticks = first.saturating_sub(here).max(1);
        let ticks = Ticks(u32::try_from(ticks).unwrap_or(u32::MAX));
        out.push(Output::Arm { timer: Timer::Sessions, ticks });
    }

    fn deadline(&self, steady: Millis, timeout_ms: i32) -> u64 {
        deadline(self.tick_ms, steady, timeout_ms)
    }

    pub(crate) fn assert_invariants(&self) {
        for (id, live) in self.live.sorted() {
            if let Some(deadline) = live.deadline {
                let listed = self.buckets.get(&deadline).is_some_and(|ids| ids.contains(id));
                assert!(live.closing || listed, "session {id} is in no bucket");
            }
            let first = live.waiting.front();
            assert!(!matches!(first, Some(Waiting::Read { .. })), "a read waits for nothing");
        }
        if let (Some(armed), Some((first, _))) = (self.armed, self.buckets.first_key_value()) {
            assert!(armed <= *first, "the timer stands later than the first deadline");
        }
    }
}

/// The first whole tick that lies beyond the timeout.
fn deadline(tick_ms: i64, steady: Millis, timeout_ms: i32) -> u64 {
    ((steady.0 + i64::from(timeout_ms)).div_euclid(tick_ms) + 1).max(0).cast_unsigned()
}

/// Server in the highest byte, the clock in the next five, zero in the last two.
fn first_id(boot: &Boot) -> i64 {
    let clock = (boot.steady.0.cast_unsigned() << 24) >> 8;
    let id = (clock | u64::from(boot.me.0) << 56).cast_signed();
    // That one value marks containers.
    if id == i64::MIN { id + 1 } else { id }
}

/// The password of a session: a function of its id, so that every server can check it.
///
/// It is what `java.util.Random`, seeded with the id and a constant, gives as 16 bytes.
#[must_use]
pub fn password(id: SessionId) -> [u8; 16] {
    const MULTIPLIER: u64 = 0x5_DEEC_E66D;
    const MASK: u64 = (1 << 48) - 1;
    let mut state = ((id.0.cast_unsigned() ^ 0xB341_5C00) ^ MULTIPLIER) & MASK;
    let mut bytes = [0; 16];
    for word in bytes.chunks_exact_mut(4) {
        state = state.wrapping_mul(MULTIPLIER).wrapping_add(0xB) & MASK;
        word.copy_from_slice(&((state >> 16) as u32).to_le_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::ServerId;

    const BOOT: Boot = Boot { me: ServerId(1), steady: Millis(0x12_3456), scatter: 0 };

    fn at(ms: i64) -> Now {
        Now { wall: Millis(0), steady: Millis(ms) }
    }

    #[test]
    fn passwords_are_those_of_zookeeper() {
        let cases: [(i64, u128); 4] = [
            (0x0100_0000_0000_0000, 0xf22a_cd4a_97e6_9d6d_20a4_9bb6_38ea_db38),
            (0x0100_0012_3456_0000, 0x28dc_a4e8_95de_729d_466f_3f4d_668d_25c0),
            (0x0100_0010_1c38_0000, 0xba44_017f_bf90_56ab_2807_fc73_a044_3faf),
            (1, 0x054c_c74a_3732_7db2_15e7_02e2_0c73_f005),
        ];
        for (id, expected) in cases {
            assert_eq!(u128::from_be_bytes(password(SessionId(id))), expected, "{id:#x}");
        }
    }

    #[test]
    fn ids_begin_with_server_and_clock() {
        let mut sessions = Sessions::new(&Settings::default(), &BOOT);
        assert_eq!(sessions.fresh_id(), SessionId(0x0100_0012_3456_0000));
        assert_eq!(sessions.fresh_id(), SessionId(0x0100_0012_3456_0001));
    }

    #[test]
    fn a_session_outlives_its_timeout_by_at_most_a_tick() {
        let tick = 2000;
        for start in [0, 1, 999, 1999, 2000, 5001] {
            for timeout in [4000, 4001, 5000, 39_999] {
                let ends = deadline(tick, Millis(start), timeout).cast_signed() * tick;
                let lived = ends - start;
                assert!(lived > i64::from(timeout), "{start} {timeout}");
                assert!(lived <= i64::from(timeout) + tick, "{start} {timeout}");
            }
        }
    }

    #[test]
    fn the_timer_follows_the_earliest_deadline() {
        let mut sessions = Sessions::new(&Settings::default(), &BOOT);
        let mut out = Vec::new();
        let (slow, quick) = (SessionId(1), SessionId(2));
        sessions.track(at(0), slow, 10_000, &mut out);
        sessions.track(at(0), quick, 4000, &mut out);
        let arm = |ticks| Output::Arm { timer: Timer::Sessions, ticks: Ticks(ticks) };
        assert_eq!(out, [arm(6), arm(3)]);
        assert!(sessions.touch(at(3000), quick));
        assert_eq!(sessions.expired(), []);
        out.clear();
        sessions.arm(at(6000), &mut out);
        assert_eq!(out, [arm(1)]);
        assert_eq!(sessions.expired(), [quick]);
        sessions.mark_closing(quick);
        assert!(!sessions.touch(at(8000), quick));
        sessions.assert_invariants();
    }
}
