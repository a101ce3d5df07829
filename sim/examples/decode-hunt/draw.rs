//! Payloads from a seed: some as a client would send them, most of them damaged.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use zoolab_core::acl::AclWish;
use zoolab_core::request::{ConnectRequest, Create, CreateOp, Op, ReadOp, SetWatches, opcode};
use zoolab_core::session::password;
use zoolab_core::{Data, Request, SessionId, Text, Xid, Zxid};

use crate::encode;

/// How many of the last payloads are kept for cutting others from.
const KEPT: usize = 64;

pub(crate) struct Draw {
    words: ChaCha8Rng,
    kept: Vec<Vec<u8>>,
}

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self { words: ChaCha8Rng::seed_from_u64(seed), kept: Vec::new() }
    }

    /// A number below `bound`; the slight lean to small ones does not matter here.
    fn below(&mut self, bound: usize) -> usize {
        (self.words.next_u32() as usize) % bound
    }

    fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn bytes(&mut self, longest: usize) -> Vec<u8> {
        let mut bytes = vec![0; self.below(longest + 1)];
        self.words.fill_bytes(&mut bytes);
        bytes
    }

    /// The next payload.
    pub(crate) fn payload(&mut self) -> Vec<u8> {
        let mut bytes = match self.below(16) {
            0 => self.bytes(200),
            1 => {
                // A header that makes sense, so that it comes to the body.
                let opcode = i32::try_from(self.below(119)).expect("small") - 11;
                let header = [1_i32.to_be_bytes(), opcode.to_be_bytes()].concat();
                [header, self.bytes(200)].concat()
            }
            2 => encode::connect(&self.connect()),
            _ => {
                let xid = Xid(self.words.next_u32().cast_signed());
                encode::request(xid, &self.request())
            }
        };
        if !self.one_in(3) {
            for _ in 0..=self.below(4) {
                self.damage(&mut bytes);
            }
        }
        if self.kept.len() < KEPT {
            self.kept.push(bytes.clone());
        } else {
            let place = self.below(KEPT);
            self.kept[place].clone_from(&bytes);
        }
        bytes
    }

    fn damage(&mut self, bytes: &mut Vec<u8>) {
        // Mostly behind the header: without one there is little to read.
        let header = if self.one_in(8) { 0 } else { bytes.len().min(8) };
        let at = header + self.below(bytes.len() + 1 - header);
        match self.below(8) {
            0 => bytes.truncate(at),
            1 | 2 => {
                let bits = 1 << self.below(8);
                bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= bits);
            }
            3 => {
                let more = self.bytes(8);
                bytes.splice(at..at, more);
            }
            4 if !self.kept.is_empty() => {
                let place = self.below(self.kept.len());
                let from = self.below(self.kept[place].len() + 1);
                bytes.truncate(at);
                bytes.extend_from_slice(&self.kept[place][from..]);
            }
            _ => {
                // What lengths, counts and versions should not be, aligned more often than not.
                let at = if self.one_in(4) { at } else { at & !3 };
                let number = self.pick(&[
                    i32::MIN,
                    i32::MIN + 1,
                    -101,
                    -2,
                    -1,
                    0,
                    1,
                    2,
                    16,
                    0xFFFF,
                    0xF_FFFF,
                    0x10_0000,
                    0x1F_FFFE,
                    0x1F_FFFF,
                    i32::MAX - 1,
                    i32::MAX,
                ]);
                let end = bytes.len().min(at + 4);
                bytes.splice(at.min(end)..end, number.to_be_bytes());
            }
        }
        bytes.truncate(4096);
    }

    fn connect(&mut self) -> ConnectRequest {
        // The first ids that a server gives out.
        let session = match self.below(4) {
            0 => SessionId((1 << 56) + self.below(40) as i64),
            1 => SessionId(self.words.next_u64().cast_signed()),
            _ => SessionId::NONE,
        };
        let right = password(session)[..].into();
        ConnectRequest {
            last_zxid_seen: Zxid(self.pick(&[0, 0, 0, 1, 50, -1, i64::MAX])),
            timeout_ms: self.pick(&[10_000, 0, -1, i32::MAX, i32::MIN]),
            session,
            password: self.pick(&[true, true, false]).then_some(right),
            read_only: self.pick(&[None, Some(false), Some(true)]),
        }
    }

    fn path(&mut self) -> Text {
        if self.one_in(20) {
            let odd = ["", "/", "a", "//", "/a/", "/.", "/\0", "/\u{fffd}", "/\u{1f600}"];
            return self.pick(&odd).into();
        }
        let mut path = String::from(self.pick(&["", "", "", "/zookeeper", "/zookeeper/quota"]));
        for _ in 0..=self.pick(&[0, 0, 0, 1, 2]) {
            path += self.pick(&["/a", "/b", "/a", "/b", "/zookeeper_limits", "/zookeeper_stats"]);
        }
        path.into()
    }

    fn paths(&mut self) -> Vec<Text> {
        (0..self.below(3)).map(|_| self.path()).collect()
    }

    fn version(&mut self) -> i32 {
        self.pick(&[-1, -1, -1, 0, 1, i32::MIN, i32::MAX])
    }

    fn data(&mut self) -> Data {
        match self.below(4) {
            0 => None,
            1 => {
                let limits =
                    ["count=2,bytes=9=;byteHardLimit=9", "count=,bytes=9223372036854775807"];
                Some(self.pick(&limits).as_bytes().into())
            }
            _ => Some(self.bytes(20).into()),
        }
    }

    fn acl(&mut self) -> Option<Vec<AclWish>> {
        let some = |text: &str| Some(Text::from(text));
        if self.one_in(20) {
            return None;
        }
        let lines = (0..=self.below(3)).map(|_| {
            let (scheme, id) = self.pick(&[
                ("world", "anyone"),
                ("world", "anyone"),
                ("world", "anyone"),
                ("auth", ""),
                ("ip", "127.0.0.1/8"),
                ("ip", "::1"),
                ("digest", "u:Jq7wMyA/w2Vd5WIDAKdu4OIIFEQ="),
                ("x", "y"),
            ]);
            AclWish { perms: self.pick(&[31, 31, 1, 0, -1]), scheme: some(scheme), id: some(id) }
        });
        Some(lines.collect())
    }

    fn create(&mut self) -> Create {
        let op = self.pick(&[
            CreateOp::Create,
            CreateOp::Create,
            CreateOp::Create2,
            CreateOp::Container,
            CreateOp::Ttl,
        ]);
        Create {
            op,
            path: self.path(),
            data: self.data(),
            acl: self.acl(),
            flags: self.pick(&[0, 0, 0, 1, 2, 3, 4, 5, 6, 7, -1]),
            ttl_ms: if op == CreateOp::Ttl {
                self.pick(&[1, 0, -1, i64::MAX, i64::MIN])
            } else {
                -1
            },
        }
    }

    fn op(&mut self) -> Op {
        match self.below(4) {
            0 => Op::Check { path: self.path(), version: self.version() },
            1 => Op::Create(self.create()),
            2 => Op::Delete { path: self.path(), version: self.version() },
            _ => Op::SetData { path: self.path(), data: self.data(), version: self.version() },
        }
    }

    fn read_op(&mut self) -> ReadOp {
        let path = self.path();
        if self.one_in(2) { ReadOp::GetChildren { path } } else { ReadOp::GetData { path } }
    }

    fn request(&mut self) -> Request {
        let watch = self.one_in(2);
        match self.below(32) {
            0..=5 => Request::Create(self.create()),
            6..=8 => Request::Delete { path: self.path(), version: self.version() },
            9 | 10 => {
                Request::SetData { path: self.path(), data: self.data(), version: self.version() }
            }
            11 => Request::SetAcl { path: self.path(), acl: self.acl(), version: self.version() },
            12..=15 => Request::Multi((0..self.below(5)).map(|_| self.op()).collect()),
            16 => Request::MultiRead((0..self.below(5)).map(|_| self.read_op()).collect()),
            17 => Request::Exists { path: self.path(), watch },
            18 => Request::GetData { path: self.path(), watch },
            19 => Request::GetChildren { path: self.path(), watch, stat: self.one_in(2) },
            20 => Request::GetAcl { path: self.path() },
            21 => Request::GetAllChildrenNumber { path: self.path() },
            22 => Request::GetEphemerals { prefix: watch.then(|| self.path()) },
            23 => Request::AddWatch { path: self.path(), mode: self.pick(&[0, 1, 2, -1]) },
            24 => {
                Request::CheckWatches { path: self.path(), kind: self.pick(&[0, 1, 2, 3, 4, 5, 6]) }
            }
            25 => Request::RemoveWatches {
                path: self.path(),
                kind: self.pick(&[0, 1, 2, 3, 4, 5, 6]),
            },
            26 => Request::SetWatches(SetWatches {
                relative_zxid: Zxid(self.pick(&[0, 1, 50, i64::MAX, i64::MIN])),
                data: self.paths(),
                exist: self.paths(),
                child: self.paths(),
                persistent: self.paths(),
                recursive: self.paths(),
            }),
            27 => Request::Sync { path: watch.then(|| self.path()) },
            28 => Request::WhoAmI,
            29 => Request::Reconfig {
                joining: None,
                leaving: Some(self.path()),
                members: None,
                config_id: self.pick(&[-1, i64::MAX]),
            },
            30 => {
                let scheme = Some(self.pick(&["digest", "ip", "digest", "nobody"]).into());
                Request::Auth { scheme, auth: Some(self.bytes(9).into()) }
            }
            _ => {
                let rare = [
                    Request::CloseSession,
                    Request::MultiReadBroken(vec![self.read_op()]),
                    Request::CreateNowhere { op: CreateOp::Create2, flags: 3, ttl_ms: -1 },
                    Request::Ping,
                    Request::Sasl,
                    Request::Unreadable { opcode: opcode::SET_DATA, whole: true },
                ];
                rare[self.below(rare.len())].clone()
            }
        }
    }
}
