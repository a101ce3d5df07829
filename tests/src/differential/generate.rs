//! A seed becomes a sequence of steps.
//!
//! The sequence depends on nothing but the seed, its length and the setting: no answer of a server
//! changes it. What a server of 3.8 does not survive, or does differently depending on how fast it
//! is, is left out here, each time with its reason.

mod reads;
mod writes;

use super::chance::Chance;
use super::op::{Ask, Claim, Nonsense, Op};
use super::pool::{self, Paths};
use crate::raw::{Request, Text, flag, opcode};

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
}

fn ask(slot: usize, request: Request) -> Op {
    Op::Ask { slot, asks: vec![Ask::Plain(request)], xid: None }
}

fn create(opcode: i32, path: Text, data: Option<Vec<u8>>, flags: i32) -> Request {
    Request::Create { opcode, path, data, acl: Some(crate::raw::open_acl()), flags }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::differential::pool::{WatchKind, watch_kind};

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
