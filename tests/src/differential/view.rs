//! How one server's numbers are read, so that two servers can be compared.
//!
//! Zxids, times and session ids differ from server to server, but not their structure. Each is
//! renamed, none is thrown away:
//!
//! * a zxid becomes its distance from the beginning of the run, `#12`, not counting those this
//!   server spent on requests for which the other spends none;
//! * a time becomes "the time of transaction #12", which it must have been whenever that
//!   transaction was seen, and not earlier than that of any transaction before it;
//! * a session id becomes the number of the session in the run, and must be one more than the one
//!   before it; a password must be the one that belongs to the id.

use std::collections::BTreeMap;

use super::side::Seen;
use crate::raw::request::{Acls, Bytes, Hex, Texts};
use crate::raw::{
    Acl, Body, Event, OpResult, Reply, Stat, Text, Welcome, code, derived_password, event, opcode,
};

/// How far a server's clock may be from ours before it counts as another clock.
const CLOCK_SPREAD_MS: i64 = 3_600_000;

/// The names one server's numbers have.
#[derive(Clone, Debug)]
pub struct View {
    /// Zxids up to here were there before us.
    base: i64,
    /// Zxids spent for nothing, ascending.
    skipped: Vec<i64>,
    /// Sessions in the order they were opened.
    sessions: Vec<i64>,
    /// What is known of the time of each transaction, by zxid.
    times: BTreeMap<i64, i64>,
    /// The time the run began, by our clock.
    now_ms: i64,
}

impl View {
    /// Nothing is known yet.
    pub fn new(now_ms: i64) -> Self {
        let times = BTreeMap::from([(0, 0)]);
        Self { base: 0, skipped: vec![], sessions: vec![], times, now_ms }
    }

    /// Counts zxids from the one after `base`.
    pub fn set_base(&mut self, base: i64) {
        self.base = base;
    }

    /// A session was opened.
    pub fn add_session(&mut self, id: i64) {
        self.sessions.push(id);
    }

    /// `zxid` was spent on something for which the other server spends none.
    pub fn skip(&mut self, zxid: i64) {
        self.skipped.push(zxid);
        assert!(self.skipped.is_sorted(), "zxids only grow");
    }

    /// The distance of a zxid from the beginning, less the skipped ones.
    pub fn distance(&self, zxid: i64) -> i64 {
        let skipped = self.skipped.iter().filter(|skipped| **skipped <= zxid).count();
        zxid - self.base - i64::try_from(skipped).expect("a run is short")
    }

    /// The zxid `back` transactions before `zxid`, skipped ones not counted; at least 0.
    pub fn back(&self, zxid: i64, back: i64) -> i64 {
        let mut found = self.base.saturating_add(self.distance(zxid).saturating_sub(back));
        for skipped in &self.skipped {
            if *skipped <= found {
                found += 1;
            }
        }
        found.max(0)
    }

    /// What was seen, with all numbers renamed; equal for equal behaviour.
    pub fn show(&mut self, seen: &Seen) -> String {
        match seen {
            Seen::Closed => "closed".to_owned(),
            Seen::Event(event) => self.event(event),
            Seen::Failed(what) => format!("failed: {what}"),
            Seen::Reply { ask, reply } => {
                let what = if ask.is_some() { "" } else { "fence " };
                format!("{what}{}", self.reply(reply))
            }
            Seen::StillOpen => "still open".to_owned(),
            Seen::Welcome { welcome, fresh } => self.welcome(welcome, *fresh),
        }
    }

    fn zxid(&self, zxid: i64) -> String {
        match zxid {
            0 | -1 => zxid.to_string(),
            _ if zxid <= self.base => "old".to_owned(),
            _ => format!("#{}", self.distance(zxid)),
        }
    }

    fn time(&mut self, zxid: i64, time: i64) -> String {
        let known = *self.times.entry(zxid).or_insert(time);
        if known != time {
            return format!("{:+} ms", time - known);
        }
        let before = self.times.range(..zxid).next_back();
        let after = self.times.range(zxid + 1..).next();
        if before.is_some_and(|(_, before)| *before > time) || after.is_some_and(|(_, t)| *t < time)
        {
            return "out of order".to_owned();
        }
        if zxid != 0 && (time - self.now_ms).abs() > CLOCK_SPREAD_MS {
            return format!("another clock: {time}");
        }
        format!("of {}", self.zxid(zxid))
    }

    fn session(&self, id: i64) -> String {
        match self.sessions.iter().rposition(|known| *known == id) {
            _ if id == 0 => "0".to_owned(),
            Some(number) => format!("session {number}"),
            None => format!("{id:#x}"),
        }
    }

    fn welcome(&mut self, welcome: &Welcome, fresh: bool) -> String {
        let Welcome { protocol_version, timeout_ms, session_id, password, read_only, rest } =
            welcome;
        let id = match self.sessions.as_slice() {
            [.., before, last] if fresh && last == session_id => {
                format!("{:+}", session_id.wrapping_sub(*before))
            }
            _ if fresh && *session_id != 0 => format!("server {}", session_id >> 56),
            _ => self.session(*session_id),
        };
        let password = match password {
            Some(bytes) if **bytes == derived_password(*session_id) => "derived".to_owned(),
            Some(bytes) => Hex(bytes).to_string(),
            None => "null".to_owned(),
        };
        format!(
            "welcome version={protocol_version} timeout={timeout_ms} id={id} password={password} \
             readOnly={read_only:?} rest={}",
            Hex(rest)
        )
    }

    fn event(&self, event: &Event) -> String {
        let Event { zxid, err, kind, state, path, rest } = event;
        let (name, zxid, rest) = (event::name(*kind), self.zxid(*zxid), Hex(rest));
        format!("event {name}({kind}) {path} zxid={zxid} err={err} state={state} rest={rest}")
    }

    fn reply(&mut self, reply: &Reply) -> String {
        let Reply { xid, zxid, err, body, rest } = reply;
        let (zxid, name, body) = (self.zxid(*zxid), code::name(*err), self.body(body));
        let rest = if rest.is_empty() { String::new() } else { format!(" rest={}", Hex(rest)) };
        format!("xid={xid} zxid={zxid} {name}({err}) {body}{rest}")
    }

    fn body(&mut self, body: &Body) -> String {
        match body {
            Body::None => String::new(),
            Body::Acl(list, stat) => format!("{} {}", acls(list), self.stat(stat)),
            Body::Bytes(bytes) => format!("bytes {}", Hex(bytes)),
            Body::Children(names) => sorted(names),
            Body::Children2(names, stat) => format!("{} {}", sorted(names), self.stat(stat)),
            Body::Code(code) => format!("code {code}"),
            Body::Count(count) => format!("count {count}"),
            Body::Created(path, stat) => format!("{path} {}", self.stat(stat)),
            Body::Data(data, stat) => format!("{} {}", data_text(data), self.stat(stat)),
            Body::Ids(ids) => {
                // The ids of a connection are a set, and sent in the order of a hash.
                let mut ids = ids.clone();
                ids.iter_mut().for_each(|ids| ids.sort());
                format!("ids {ids:?}")
            }
            Body::Multi(results) => {
                let results: Vec<String> =
                    results.iter().map(|result| self.result(result)).collect();
                format!("[{}]", results.join("; "))
            }
            Body::Path(path) => path.to_string(),
            Body::Stat(stat) => self.stat(stat),
            Body::Token(token) => format!("token {}", data_text(token)),
        }
    }

    fn result(&mut self, result: &OpResult) -> String {
        let OpResult { opcode, err, body } = result;
        let name = if *opcode == -1 { "error" } else { opcode::name(*opcode) };
        format!("{name}({opcode}) {}({err}) {}", code::name(*err), self.body(body))
    }

    fn stat(&mut self, stat: &Stat) -> String {
        let Stat {
            czxid,
            mzxid,
            ctime,
            mtime,
            version,
            cversion,
            aversion,
            ephemeral_owner,
            data_length,
            num_children,
            pzxid,
        } = stat;
        let (ctime, mtime) = (self.time(*czxid, *ctime), self.time(*mzxid, *mtime));
        let (czxid, mzxid) = (self.zxid(*czxid), self.zxid(*mzxid));
        let (pzxid, owner) = (self.zxid(*pzxid), self.session(*ephemeral_owner));
        format!(
            "{{czxid={czxid} mzxid={mzxid} pzxid={pzxid} ctime {ctime}, mtime {mtime}, \
             version={version} cversion={cversion} aversion={aversion} owner={owner} \
             length={data_length} children={num_children}}}"
        )
    }
}

/// Long data by its length and a sum, which differs where the data does.
fn data_text(data: &Option<Vec<u8>>) -> String {
    let sum = data.iter().flatten().fold(0_u64, |sum, byte| {
        sum.wrapping_mul(0x100_0000_01b3).wrapping_add(u64::from(*byte) + 1)
    });
    match data {
        Some(bytes) if bytes.len() > 200 => format!("{} sum {sum:x}", Bytes(data)),
        _ => Bytes(data).to_string(),
    }
}

/// Children come in the order of a hash.
fn sorted(names: &Option<Vec<Text>>) -> String {
    let mut names = names.clone();
    names.iter_mut().for_each(|names| names.sort());
    Texts(&names).to_string()
}

/// The entry `auth` is replaced by one entry for each id of the connection, in the order of a
/// hash: neighbours that differ only in the id are sorted. All other order counts.
fn acls(list: &Option<Vec<Acl>>) -> String {
    let mut list = list.clone();
    for entries in list.iter_mut() {
        let alike =
            |a: &Acl, b: &Acl| a.scheme == "digest" && (&a.scheme, a.perms) == (&b.scheme, b.perms);
        entries.chunk_by_mut(alike).for_each(<[Acl]>::sort);
    }
    Acls(&list).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view() -> View {
        let mut view = View::new(1_000_000);
        view.set_base(10);
        view
    }

    #[test]
    fn zxids_are_counted_from_the_beginning_less_the_skipped() {
        let mut view = view();
        assert_eq!([0, -1, 10, 11, 15].map(|zxid| view.zxid(zxid)), ["0", "-1", "old", "#1", "#5"]);
        view.skip(13);
        assert_eq!([12, 13, 14].map(|zxid| view.zxid(zxid)), ["#2", "#2", "#3"]);
    }

    #[test]
    fn going_back_leaves_out_the_skipped() {
        let mut view = view();
        view.skip(13);
        assert_eq!([0, 1, 2, 100].map(|back| view.back(15, back)), [15, 14, 12, 0]);
    }

    #[test]
    fn a_time_belongs_to_its_transaction() {
        let mut view = view();
        assert_eq!(view.time(12, 1_000_050), "of #2");
        assert_eq!(view.time(12, 1_000_050), "of #2");
        assert_eq!(view.time(12, 1_000_051), "+1 ms");
        assert_eq!(view.time(13, 1_000_049), "out of order");
        assert_eq!(view.time(14, 1_000_050), "of #4");
        assert_eq!(view.time(0, 0), "of 0");
        assert_eq!(view.time(99, 9_000_000), "another clock: 9000000");
    }

    #[test]
    fn a_session_is_known_by_its_number_and_its_distance_to_the_one_before() {
        let mut view = view();
        view.add_session(0x0100_0000_0000_0007);
        view.add_session(0x0100_0000_0000_0008);
        assert_eq!(view.session(0x0100_0000_0000_0007), "session 0");
        assert_eq!(view.session(5), "0x5");
        let welcome = Welcome {
            protocol_version: 0,
            timeout_ms: 40_000,
            session_id: 0x0100_0000_0000_0008,
            password: Some(derived_password(0x0100_0000_0000_0008).to_vec()),
            read_only: Some(false),
            rest: vec![],
        };
        let text = view.welcome(&welcome, true);
        assert!(text.contains("id=+1 password=derived"), "{text}");
    }
}
