//! A seed becomes a sequence of steps.
//!
//! The sequence depends on nothing but the seed, its length and the setting: no answer of a server
//! changes it. What a server of 3.8 does not survive, or does differently depending on how fast it
//! is, is left out here, each time with its reason.

use super::chance::Chance;
use super::op::{Ask, Claim, Nonsense, Op};
use super::pool::{self, Paths, WatchKind, watch_kind};
use crate::raw::{Request, Text, WatchLists, flag, opcode, watcher};

/// Sessions that take part in a sequence.
pub const SLOTS: usize = 3;

/// What the servers under comparison were told to allow.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Setting {
    /// Nodes with a time to live exist.
    pub extended_types: bool,
    /// Hard quotas are enforced.
    pub enforce_quota: bool,
}

/// The first `count` steps of `seed`, prelude included.
pub fn sequence(seed: u64, count: usize, setting: Setting) -> Vec<Op> {
    let mut generator =
        Generator { seed, chance: Chance::new(seed), paths: Paths::new(seed), setting };
    let mut ops = generator.prelude();
    while ops.len() < count {
        let op = generator.op();
        ops.push(op);
    }
    ops.truncate(count);
    ops
}

#[derive(Debug)]
struct Generator {
    seed: u64,
    chance: Chance,
    paths: Paths,
    setting: Setting,
}

/// Whether a request stands alone or in a row, which not all can.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Place {
    Alone,
    Pipelined,
}

impl Generator {
    /// A few nodes to begin with, one of them guarded, and in some seeds a quota.
    fn prelude(&mut self) -> Vec<Op> {
        let base = self.paths.base().to_owned();
        let mut made: Vec<(String, String)> = ["", "/a", "/b", "/c", "/a/b"]
            .map(|tail| (format!("{base}{tail}"), String::new()))
            .to_vec();
        if self.setting.enforce_quota || self.chance.percent(25) {
            let limits = pool::limits(&mut self.chance);
            for (tail, data) in [
                ("", ""),
                ("/a", ""),
                ("/a/zookeeper_limits", limits.as_str()),
                ("/a/zookeeper_stats", "count=0,bytes=0"),
            ] {
                made.push((format!("/zookeeper/quota{base}{tail}"), data.to_owned()));
            }
        }
        let open = |(path, data): (String, String)| {
            create(opcode::CREATE2, path.into(), Some(data.into_bytes()), flag::PERSISTENT)
        };
        let guarded = Request::Create {
            opcode: opcode::CREATE,
            path: format!("{base}/c/x").into(),
            data: Some(b"guarded".to_vec()),
            acl: Some(pool::guarded_acls(&mut self.chance)),
            flags: flag::PERSISTENT,
        };
        let mut ops: Vec<Op> =
            made.into_iter().map(open).chain([guarded]).map(|request| ask(0, request)).collect();
        for slot in 1..SLOTS {
            ops.extend(self.first_watches(slot));
        }
        ops
    }

    /// Watches where most will happen.
    fn first_watches(&mut self, slot: usize) -> Vec<Op> {
        let mut asks = vec![];
        for tail in ["", "/a", "/b", "/a/b"] {
            let path = Text::from(format!("{}{tail}", self.paths.base()));
            let (one, other) = match watch_kind(self.seed, slot, &path) {
                WatchKind::Persistent => (Request::AddWatch { path, mode: 0 }, None),
                WatchKind::Recursive => (Request::AddWatch { path, mode: 1 }, None),
                WatchKind::Standard => (
                    Request::GetData { path: path.clone(), watch: true },
                    Some(Request::GetChildren { path, watch: true }),
                ),
            };
            if self.chance.percent(60) {
                asks.extend([one].into_iter().chain(other).map(Ask::Plain));
            }
        }
        if asks.is_empty() { vec![] } else { vec![Op::Ask { slot, asks, xid: None }] }
    }

    fn slot(&mut self) -> usize {
        self.chance.below(SLOTS)
    }

    fn op(&mut self) -> Op {
        let slot = self.slot();
        match self.chance.below(1000) {
            0..80 => self.batch(slot),
            80..94 => Op::Close { slot },
            94..104 => Op::Leave { slot },
            104..112 => Op::Steal { slot, claim: Claim::Right },
            112..128 => {
                let claims = [Claim::Old, Claim::Wrong, Claim::Null, Claim::Ahead];
                Op::Steal { slot, claim: *self.chance.one(&claims) }
            }
            128..132 => Op::Stranger { password: self.chance.percent(50) },
            132..140 => {
                let shapes = [
                    Nonsense::Negative,
                    Nonsense::TooLong,
                    Nonsense::Headless(0),
                    Nonsense::Headless(4),
                    Nonsense::Headless(7),
                    Nonsense::HalfAuth,
                ];
                Op::Nonsense { slot, what: *self.chance.one(&shapes) }
            }
            140..150 => self.visit(),
            150..156 => {
                let opcodes = [0, 10, 23, 99, 108, 1000, -1, -2, -100, i32::MIN, i32::MAX];
                let opcode = *self.chance.one(&opcodes);
                ask(slot, Request::Raw { opcode, body: vec![0; self.chance.below(20)] })
            }
            156..190 => {
                let request = self.request(slot, Place::Alone);
                let length = request.body().len();
                let keep = self.chance.below(length.max(1));
                self.alone(
                    slot,
                    if length == 0 { Ask::Plain(request) } else { Ask::Cut { request, keep } },
                )
            }
            190..196 => {
                let request = self.request(slot, Place::Alone);
                self.alone(slot, Ask::Padded(request))
            }
            _ => {
                let ask = self.ask(slot, Place::Alone);
                self.alone(slot, ask)
            }
        }
    }

    /// One request, now and then under an odd xid.
    fn alone(&mut self, slot: usize, ask: Ask) -> Op {
        let odd = self.chance.percent(4);
        let xid = odd.then(|| *self.chance.one(&[0, -3, -4, -7, -8, i32::MAX, i32::MIN, 1]));
        Op::Ask { slot, asks: vec![ask], xid }
    }

    fn batch(&mut self, slot: usize) -> Op {
        let count = 2 + self.chance.below(6);
        let mut asks: Vec<Ask> = (0..count).map(|_| self.ask(slot, Place::Pipelined)).collect();
        // A real server prepares the writes behind a setACL by the old list or the new one,
        // depending on whether it has been applied by then; so nothing comes behind it.
        if self.chance.percent(20) && !self.setting.enforce_quota {
            asks.push(Ask::Plain(self.set_acl()));
        }
        Op::Ask { slot, asks, xid: None }
    }

    fn visit(&mut self) -> Op {
        let timeout_ms =
            *self.chance.one(&[0, 1, -5, 3999, 4000, 12_345, 40_000, 40_001, i32::MAX]);
        let read_only = *self.chance.one(&[None, Some(false), Some(true)]);
        let count = self.chance.below(4);
        // No exists: what 3.9 refuses there is looked into on the same connection, which is gone.
        let asks = (0..count)
            .map(|_| self.ask(0, Place::Pipelined))
            .filter(|ask| ask.opcode() != opcode::EXISTS)
            .collect();
        Op::Visit { timeout_ms, read_only, asks }
    }

    fn ask(&mut self, slot: usize, place: Place) -> Ask {
        if self.chance.percent(4) {
            return self.set_watches(slot);
        }
        Ask::Plain(self.request(slot, place))
    }

    fn request(&mut self, slot: usize, place: Place) -> Request {
        // A quota looks at what is applied, not at what is under way, so pipelined writes beyond
        // it depend on the server's speed.
        let writes = place == Place::Alone || !self.setting.enforce_quota;
        let alone = place == Place::Alone;
        let draw = self.chance.below(1000);
        match draw {
            0..260 if writes => self.create(place),
            260..340 if writes => self.delete(),
            340..420 if writes => self.set_data(),
            420..460 if alone => self.set_acl(),
            460..560 if writes => self.multi(),
            560..610 => self.exists(slot, alone),
            610..670 => self.get_data(slot),
            670..700 => self.get_children(slot),
            700..730 => self.get_children2(slot),
            730..750 => Request::GetAcl { path: self.paths.read(&mut self.chance) },
            750..760 => Request::Sync { path: self.paths.read(&mut self.chance) },
            760..770 => Request::Ping,
            770..800 => self.multi_read(),
            800..840 => self.add_watch(slot),
            840..890 if alone => self.about_watches(slot),
            890..905 => Request::GetEphemerals { prefix: self.prefix() },
            905..925 => Request::GetAllChildrenNumber { path: self.paths.read(&mut self.chance) },
            925..940 => Request::WhoAmI,
            940..970 => self.auth(place),
            970..978 if alone => self.reconfig(),
            978..994 if writes => self.quota_write(),
            _ => self.get_data(slot),
        }
    }

    fn create(&mut self, place: Place) -> Request {
        let opcodes = [
            (50, opcode::CREATE),
            (30, opcode::CREATE2),
            (12, opcode::CREATE_CONTAINER),
            (if self.setting.extended_types { 25 } else { 6 }, opcode::CREATE_TTL),
        ];
        match *self.chance.weighted(&opcodes) {
            opcode::CREATE_TTL => self.create_ttl(),
            // What a flag means under the wrong opcode is decided twice, once when the request is
            // prepared and once when it is applied; in a row both may be seen.
            opcode::CREATE_CONTAINER if place == Place::Pipelined || self.chance.percent(80) => {
                self.create_as(opcode::CREATE_CONTAINER, flag::CONTAINER)
            }
            opcode => {
                let flags = self.flags(place);
                self.create_as(opcode, flags)
            }
        }
    }

    fn flags(&mut self, place: Place) -> i32 {
        let flags = [
            (40, flag::PERSISTENT),
            (20, flag::EPHEMERAL),
            (14, flag::SEQUENTIAL),
            (10, flag::EPHEMERAL_SEQUENTIAL),
        ];
        let odd = [flag::CONTAINER, flag::TTL, flag::TTL_SEQUENTIAL, 7, 8, -1, 99, i32::MIN];
        if place == Place::Alone && self.chance.percent(12) {
            *self.chance.one(&odd)
        } else {
            *self.chance.weighted(&flags)
        }
    }

    fn create_as(&mut self, opcode: i32, flags: i32) -> Request {
        let sequential = [flag::SEQUENTIAL, flag::EPHEMERAL_SEQUENTIAL].contains(&flags);
        let path: Text = match self.chance.below(100) {
            0..70 if sequential => self.paths.prefix(&mut self.chance).into(),
            0..2 => "/".into(),
            2..4 => format!("/zookeeper{}", self.paths.base()).into(),
            // The newer kind of address is accepted or not; where the parent is missing, nothing
            // comes of it either way.
            4..6 => {
                let path = self.paths.orphan();
                let (data, acl) = (pool::data(&mut self.chance), Some(pool::ipv6_acls()));
                return Request::Create { opcode, path, data, acl, flags: flag::PERSISTENT };
            }
            _ => self.paths.write(&mut self.chance),
        };
        let data = pool::data(&mut self.chance);
        let acl = self.acls(&path);
        Request::Create { opcode, path, data, acl, flags }
    }

    /// The sequence's own root stays open to all, or too little would happen below it; so does
    /// the root, which other sequences need.
    fn acls(&mut self, path: &Text) -> Option<Vec<crate::raw::Acl>> {
        if *path == *self.paths.base() || *path == "/" || path.is_null() {
            Some(crate::raw::open_acl())
        } else {
            pool::acls(&mut self.chance, path)
        }
    }

    fn create_ttl(&mut self) -> Request {
        let path = self.paths.write(&mut self.chance);
        let (data, acl) = (pool::data(&mut self.chance), self.acls(&path));
        let ttls = [600_000, 3_600_000, (1 << 40) - 1, 1 << 40, 0, -1, i64::MIN, i64::MAX];
        let (flags, ttl) = match self.chance.below(10) {
            0..8 => {
                let flags = *self.chance.one(&[flag::TTL, flag::TTL, flag::TTL_SEQUENTIAL]);
                let sane = self.chance.percent(75);
                (flags, if sane { ttls[self.chance.below(3)] } else { *self.chance.one(&ttls) })
            }
            // Without a time to live a real server prepares it and fails to apply it.
            _ => (self.flags(Place::Alone).rem_euclid(5), ttls[self.chance.below(5)]),
        };
        Request::CreateTtl { path, data, acl, flags, ttl }
    }

    fn delete(&mut self) -> Request {
        let path = match self.chance.below(100) {
            0..6 => self.paths.preset(&mut self.chance).into(),
            _ => self.paths.write(&mut self.chance),
        };
        Request::Delete { path, version: pool::version(&mut self.chance) }
    }

    fn set_data(&mut self) -> Request {
        let path = match self.chance.below(100) {
            0..2 => "/".into(),
            2..3 => "/zookeeper".into(),
            3..4 => "/zookeeper/config".into(),
            _ => self.paths.write(&mut self.chance),
        };
        let (data, version) = (pool::data(&mut self.chance), pool::version(&mut self.chance));
        Request::SetData { path, data, version }
    }

    fn set_acl(&mut self) -> Request {
        let path = match self.chance.below(100) {
            0..2 => "/".into(),
            2..5 => {
                let path = self.paths.orphan();
                return Request::SetAcl { path, acl: Some(pool::ipv6_acls()), version: -1 };
            }
            _ => self.paths.write(&mut self.chance),
        };
        let acl = self.acls(&path);
        Request::SetAcl { path, acl, version: pool::version(&mut self.chance) }
    }

    fn multi(&mut self) -> Request {
        if self.chance.percent(50) {
            return self.multi_life();
        }
        let count = self.chance.below(6);
        let mut ops = vec![];
        while ops.len() < count {
            let op = self.multi_op();
            // At a null path a real server trips before it has begun: it answers like an empty
            // multi that failed, and the zxid it had set aside is never seen again.
            if !has_null_path(&op) {
                ops.push(op);
            }
        }
        Request::Multi(ops)
    }

    /// Steps that mostly succeed together: a node's life, or a part of it.
    fn multi_life(&mut self) -> Request {
        let parent = self.paths.parent(&mut self.chance);
        let path = Text::from(format!("{parent}/{}", self.chance.one(&["m", "n", "x"])));
        let (born, parent) = (self.chance.percent(80), Text::from(parent));
        let opcodes = [opcode::CREATE, opcode::CREATE, opcode::CREATE2, opcode::CREATE_CONTAINER];
        let mut ops = vec![];
        if self.chance.percent(40) {
            ops.push(Request::Check { path: parent.clone(), version: -1 });
        }
        if born {
            let opcode = *self.chance.one(&opcodes);
            let flags = match opcode {
                opcode::CREATE_CONTAINER => flag::CONTAINER,
                _ => self.flags(Place::Pipelined),
            };
            ops.push(create(opcode, path.clone(), pool::data(&mut self.chance), flags));
        }
        if self.chance.percent(50) {
            let (target, data) = (self.chance.percent(60), pool::data(&mut self.chance));
            let path = if target { path.clone() } else { parent.clone() };
            ops.push(Request::SetData { path, data, version: -1 });
        }
        if self.chance.percent(40) {
            let version = i32::from(self.chance.percent(30)) - 1;
            ops.push(Request::Check { path: path.clone(), version });
        }
        if self.chance.percent(35) {
            ops.push(Request::Delete { path: path.clone(), version: -1 });
        }
        if self.chance.percent(30) {
            ops.push(create(opcode::CREATE, parent, None, flag::SEQUENTIAL));
        }
        Request::Multi(ops)
    }

    fn multi_op(&mut self) -> Request {
        match self.chance.below(100) {
            0..40 => {
                let opcodes = [
                    (40, opcode::CREATE),
                    (30, opcode::CREATE2),
                    (10, opcode::CREATE_CONTAINER),
                    (8, opcode::CREATE_TTL),
                ];
                let opcode = *self.chance.weighted(&opcodes);
                let bad = self.chance.percent(6);
                let flags = self.flags(if bad { Place::Alone } else { Place::Pipelined });
                match opcode {
                    opcode::CREATE_TTL => self.create_ttl(),
                    opcode::CREATE_CONTAINER => self.create_as(opcode, flag::CONTAINER),
                    _ => self.create_as(opcode, flags),
                }
            }
            40..58 => self.delete(),
            58..78 => self.set_data(),
            78..97 => {
                let path = self.paths.write(&mut self.chance);
                Request::Check { path, version: pool::version(&mut self.chance) }
            }
            97 => self.set_acl(),
            98 => Request::GetData { path: self.paths.read(&mut self.chance), watch: false },
            _ => Request::Exists { path: self.paths.read(&mut self.chance), watch: false },
        }
    }

    fn multi_read(&mut self) -> Request {
        let count = self.chance.below(5);
        let ops = (0..count)
            .map(|_| {
                let (path, watch) = (self.paths.read(&mut self.chance), self.chance.percent(30));
                match self.chance.below(100) {
                    0..55 => Request::GetData { path, watch },
                    55..96 => Request::GetChildren { path, watch },
                    96 => Request::Exists { path, watch },
                    97 => Request::GetChildren2 { path, watch },
                    _ => Request::Check { path, version: -1 },
                }
            })
            .collect();
        Request::MultiRead(ops)
    }

    /// A path and whether to watch it with a one-shot watch.
    fn watched(&mut self, slot: usize) -> (Text, bool) {
        let path = self.paths.read(&mut self.chance);
        let standard = watch_kind(self.seed, slot, &path) == WatchKind::Standard;
        (path, self.chance.percent(75) && standard)
    }

    /// In a row without a watch: 3.9 refuses what may not be read and then leaves no watch, and
    /// what that does to the requests behind it cannot be told apart from a fault.
    fn exists(&mut self, slot: usize, alone: bool) -> Request {
        let (path, watch) = self.watched(slot);
        Request::Exists { path, watch: watch && alone }
    }

    fn get_data(&mut self, slot: usize) -> Request {
        let (path, watch) = self.watched(slot);
        Request::GetData { path, watch }
    }

    fn get_children(&mut self, slot: usize) -> Request {
        let (path, watch) = self.watched(slot);
        Request::GetChildren { path, watch }
    }

    fn get_children2(&mut self, slot: usize) -> Request {
        let (path, watch) = self.watched(slot);
        Request::GetChildren2 { path, watch }
    }

    fn add_watch(&mut self, slot: usize) -> Request {
        let mut path = self.paths.read(&mut self.chance);
        for _ in 0..4 {
            if watch_kind(self.seed, slot, &path) != WatchKind::Standard {
                break;
            }
            path = self.paths.read(&mut self.chance);
        }
        // A real server takes a watch at a null path, and then cannot close the connection.
        if path.is_null() {
            path = "".into();
        }
        let mode = match watch_kind(self.seed, slot, &path) {
            _ if self.chance.percent(6) => *self.chance.one(&[-1, 2, 7]),
            WatchKind::Persistent => 0,
            WatchKind::Recursive => 1,
            WatchKind::Standard => return Request::GetData { path, watch: true },
        };
        Request::AddWatch { path, mode }
    }

    fn about_watches(&mut self, slot: usize) -> Request {
        let mut path = self.paths.read(&mut self.chance);
        // 3.8 looks for recursive watches at the parents, if anyone has one, and trips over a
        // path that does not begin with a slash.
        if !path.bytes().starts_with(b"/") {
            path = "".into();
        }
        let kinds = [
            (30, watcher::ANY),
            (25, watcher::DATA),
            (25, watcher::CHILDREN),
            (8, watcher::PERSISTENT),
            (8, watcher::PERSISTENT_RECURSIVE),
            (2, 0),
            (1, 6),
            (1, -1),
        ];
        let kind = match watch_kind(self.seed, slot, &path) {
            WatchKind::Persistent if self.chance.percent(30) => watcher::PERSISTENT,
            WatchKind::Recursive if self.chance.percent(30) => watcher::PERSISTENT_RECURSIVE,
            WatchKind::Standard | WatchKind::Persistent | WatchKind::Recursive => {
                *self.chance.weighted(&kinds)
            }
        };
        if self.chance.percent(50) {
            Request::CheckWatches { path, kind }
        } else {
            Request::RemoveWatches { path, kind }
        }
    }

    fn set_watches(&mut self, slot: usize) -> Ask {
        let two = self.chance.percent(60);
        let mut lists = WatchLists::empty();
        for _ in 0..self.chance.below(6) {
            let path = self.paths.read(&mut self.chance);
            // A null in a list stops the server half way, with the watches before it set.
            if path.is_null() {
                continue;
            }
            let list = match watch_kind(self.seed, slot, &path) {
                WatchKind::Standard => match self.chance.below(3) {
                    0 => &mut lists.data,
                    1 => &mut lists.exist,
                    _ => &mut lists.child,
                },
                WatchKind::Persistent => &mut lists.persistent,
                WatchKind::Recursive => &mut lists.persistent_recursive,
            };
            list.as_mut().expect("it began empty").push(path);
        }
        if self.chance.percent(6) {
            // The lists before it must be empty, or the server stops half way.
            lists = WatchLists { data: None, ..WatchLists::empty() };
        }
        let backs = [(30, 0), (20, 3), (20, 10), (10, 40), (10, 1_000_000_000), (5, -5)];
        Ask::SetWatches { two, back: *self.chance.weighted(&backs), lists }
    }

    fn prefix(&mut self) -> Text {
        match self.chance.below(10) {
            0 => Text::NULL,
            1 => "/".into(),
            2 => " ".into(),
            3 => format!("{}/a", self.paths.base()).into(),
            4 => self.paths.base().into(),
            _ => self.paths.read(&mut self.chance),
        }
    }

    fn auth(&mut self, place: Place) -> Request {
        let known: [(&str, &[u8]); 8] = [
            ("digest", b"u:p"),
            ("digest", b"u:p"),
            ("digest", b"v:q"),
            ("digest", b"u:wrong"),
            ("digest", b"nocolon"),
            ("digest", b""),
            ("ip", b""),
            ("ip", b"10.0.0.1"),
        ];
        let (scheme, auth) = match self.chance.below(100) {
            0..3 => ("digest", Some(b"super:test".to_vec())),
            // Being refused ends the connection, and with it the answers still under way.
            3..8 if place == Place::Alone => ("nosuch", Some(b"x".to_vec())),
            8..10 if place == Place::Alone => ("world", Some(b"anyone".to_vec())),
            10..12 if place == Place::Alone => ("", Some(vec![])),
            _ => {
                let (scheme, auth) = *self.chance.one(&known);
                (scheme, Some(auth.to_vec()))
            }
        };
        Request::Auth { scheme: scheme.into(), auth }
    }

    fn reconfig(&mut self) -> Request {
        let text = |chance: &mut Chance| match chance.below(3) {
            0 => Text::NULL,
            1 => "".into(),
            _ => "server.1=127.0.0.1:2888:3888;2181".into(),
        };
        let (joining, leaving) = (text(&mut self.chance), text(&mut self.chance));
        let members = text(&mut self.chance);
        Request::Reconfig { joining, leaving, members, config_id: *self.chance.one(&[-1, 0, 5]) }
    }

    /// Something below the quota node: limits come and go, and statistics with them.
    fn quota_write(&mut self) -> Request {
        let node = format!("/zookeeper/quota{}", self.paths.limited(&mut self.chance));
        let limits = pool::limits(&mut self.chance).into_bytes();
        let (limits_path, stats_path) =
            (format!("{node}/zookeeper_limits"), format!("{node}/zookeeper_stats"));
        match self.chance.below(10) {
            0 | 1 => create(opcode::CREATE, node.into(), Some(vec![]), flag::PERSISTENT),
            2 | 3 => create(opcode::CREATE, limits_path.into(), Some(limits), flag::PERSISTENT),
            4 | 5 => {
                let data = Some(b"count=0,bytes=0".to_vec());
                create(opcode::CREATE, stats_path.into(), data, flag::PERSISTENT)
            }
            6 | 7 => Request::SetData { path: limits_path.into(), data: Some(limits), version: -1 },
            8 => Request::Delete { path: limits_path.into(), version: -1 },
            _ => Request::Delete { path: stats_path.into(), version: -1 },
        }
    }
}

fn ask(slot: usize, request: Request) -> Op {
    Op::Ask { slot, asks: vec![Ask::Plain(request)], xid: None }
}

fn has_null_path(op: &Request) -> bool {
    if let Request::Create { path, .. }
    | Request::CreateTtl { path, .. }
    | Request::Delete { path, .. }
    | Request::SetData { path, .. }
    | Request::SetAcl { path, .. }
    | Request::Check { path, .. } = op
    {
        path.is_null()
    } else {
        false
    }
}

fn create(opcode: i32, path: Text, data: Option<Vec<u8>>, flags: i32) -> Request {
    Request::Create { opcode, path, data, acl: Some(crate::raw::open_acl()), flags }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_seed_is_one_sequence() {
        let setting = Setting::default();
        assert_eq!(sequence(3, 200, setting), sequence(3, 200, setting));
        assert_ne!(sequence(3, 200, setting), sequence(4, 200, setting));
        assert_eq!(sequence(3, 200, setting)[..50], sequence(3, 50, setting));
    }

    #[test]
    fn every_opcode_is_asked() {
        let mut missing: BTreeSet<i32> = (-11..108).filter(|n| opcode::name(*n) != "?").collect();
        for seed in 0..10 {
            for op in sequence(seed, 200, Setting::default()) {
                match op {
                    Op::Ask { asks, .. } | Op::Visit { asks, .. } => {
                        for ask in asks {
                            missing.remove(&ask.opcode());
                            if let Some(Request::Multi(ops)) = ask.request() {
                                ops.iter().for_each(|op| _ = missing.remove(&op.opcode()));
                            }
                        }
                    }
                    Op::Close { .. } => _ = missing.remove(&opcode::CLOSE_SESSION),
                    Op::Leave { .. }
                    | Op::Nonsense { .. }
                    | Op::Steal { .. }
                    | Op::Stranger { .. } => {}
                }
            }
        }
        // Two are for servers only, and one is not built: see `refusals`.
        let refused = [opcode::CREATE_SESSION, opcode::DELETE_CONTAINER, opcode::SASL];
        assert_eq!(missing, BTreeSet::from(refused));
    }

    #[test]
    fn a_slot_keeps_to_one_kind_of_watch_per_path() {
        for seed in 0..20 {
            for op in sequence(seed, 200, Setting::default()) {
                let Op::Ask { slot, asks, .. } = op else { continue };
                for ask in asks {
                    let Some((path, kind)) = ask.request().and_then(registers) else { continue };
                    let allowed = watch_kind(seed, slot, path);
                    assert_eq!(kind, allowed, "seed {seed}: s{slot} {ask}");
                }
            }
        }
    }

    fn registers(request: &Request) -> Option<(&Text, WatchKind)> {
        use Request as R;
        if let R::AddWatch { path, mode: 0 } = request {
            return Some((path, WatchKind::Persistent));
        }
        if let R::AddWatch { path, mode: 1 } = request {
            return Some((path, WatchKind::Recursive));
        }
        if let R::Exists { path, watch: true }
        | R::GetData { path, watch: true }
        | R::GetChildren { path, watch: true }
        | R::GetChildren2 { path, watch: true } = request
        {
            return Some((path, WatchKind::Standard));
        }
        None
    }
}
