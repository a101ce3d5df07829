//! The values a sequence is made of: few paths, so that steps meet, and everything that is wrong.

use std::collections::VecDeque;

use super::chance::Chance;
use crate::raw::{Acl, Text, acl};

/// The digest id of `u:p`.
pub const ID_U: &str = "u:Jq7wMyA/w2Vd5WIDAKdu4OIIFEQ=";

/// How many paths are remembered.
const RECENT: usize = 4;

/// What a slot may watch at a path.
///
/// 3.8 remembers one kind per connection and path, the last one; 3.9 remembers all. A slot keeps
/// to one kind per path, so that both servers hold the same watches.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WatchKind {
    /// One-shot watches of reads.
    Standard,
    /// Persistent.
    Persistent,
    /// Persistent recursive.
    Recursive,
}

/// Which kind of watch `slot` uses at `path` in the sequence of `seed`.
pub fn watch_kind(seed: u64, slot: usize, path: &Text) -> WatchKind {
    // FNV-1a, spelled out here because it decides what a seed means.
    let bytes = seed.to_le_bytes().into_iter().chain([u8::try_from(slot).unwrap_or(u8::MAX)]);
    let hash = bytes
        .chain(path.bytes().iter().copied())
        .fold(0xcbf2_9ce4_8422_2325, |hash, b| (hash ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
    match (hash >> 32) % 8 {
        0 | 1 => WatchKind::Persistent,
        2 => WatchKind::Recursive,
        _ => WatchKind::Standard,
    }
}

/// The paths of one sequence.
#[derive(Clone, Debug)]
pub struct Paths {
    base: String,
    pool: Vec<(usize, String)>,
    /// Paths drawn lately: a watch and the write that fires it must meet.
    recent: VecDeque<String>,
}

impl Paths {
    /// The paths below `/d<seed>`.
    pub fn new(seed: u64) -> Self {
        let base = format!("/d{seed}");
        let pool = [
            (6, ""),
            (14, "/a"),
            (8, "/b"),
            (8, "/c"),
            (6, "/a/a"),
            (10, "/a/b"),
            (4, "/a/m"),
            (2, "/b/m"),
            (3, "/a/b/c"),
            (4, "/b/x"),
            (3, "/b/y"),
            (10, "/c/x"),
            (5, "/c/x/y"),
            (3, "/ab"),
            (1, "/\u{e4}\u{a0}\u{ffef}"),
        ];
        let pool = pool.map(|(weight, path)| (weight, format!("{base}{path}"))).to_vec();
        Self { base, pool, recent: VecDeque::new() }
    }

    /// The sequence's own root.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// A path that makes sense, often one that was drawn a moment ago, or its parent.
    pub fn good(&mut self, chance: &mut Chance) -> String {
        if !self.recent.is_empty() && chance.percent(40) {
            let path = self.recent[chance.below(self.recent.len())].clone();
            let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
            let upward = chance.percent(25) && parent.len() >= self.base.len();
            return if upward { parent.to_owned() } else { path };
        }
        let path = match chance.below(100) {
            0..88 => chance.weighted(&self.pool).clone(),
            88..96 => {
                let parent = chance.weighted(&self.pool).clone();
                format!("{parent}/{}{:010}", chance.one(&["s", "", "t-"]), chance.below(5))
            }
            _ => format!("{}/none/{}", self.base, chance.one(&["x", "y/z"])),
        };
        self.recent.push_back(path.clone());
        if self.recent.len() > RECENT {
            self.recent.pop_front();
        }
        path
    }

    /// A node that is likely to be there.
    pub fn parent(&self, chance: &mut Chance) -> String {
        format!("{}{}", self.base, chance.one(&["", "/a", "/a", "/b", "/c", "/a/b"]))
    }

    /// A path whose parent no step creates.
    pub fn orphan(&self) -> Text {
        format!("{}/never/x", self.base).into()
    }

    /// The parent of whatever a sequential create makes.
    pub fn prefix(&self, chance: &mut Chance) -> String {
        let parent = chance.weighted(&self.pool);
        format!("{parent}/{}", chance.one(&["s", "s", "", "t-"]))
    }

    /// A path for a read, now and then one outside of the sequence's own subtree.
    pub fn read(&mut self, chance: &mut Chance) -> Text {
        match chance.below(100) {
            0..82 => self.good(chance).into(),
            82..90 => self.preset(chance).into(),
            90..94 => self.quota(chance).into(),
            _ => self.bad(chance),
        }
    }

    /// A path for a write, now and then one that must be refused.
    pub fn write(&mut self, chance: &mut Chance) -> Text {
        match chance.below(100) {
            0..90 => self.good(chance).into(),
            _ => self.bad(chance),
        }
    }

    /// A node every server has, or the root's other name.
    pub fn preset(&self, chance: &mut Chance) -> String {
        let presets = ["/", "", "/zookeeper", "/zookeeper/quota", "/zookeeper/config"];
        (*chance.one(&presets)).to_owned()
    }

    /// Directories that may have a quota.
    pub fn limited(&self, chance: &mut Chance) -> String {
        format!("{}{}", self.base, chance.one(&["", "/a", "/a", "/b", "/c"]))
    }

    /// A node of the quota subtree.
    pub fn quota(&self, chance: &mut Chance) -> String {
        let leaf = chance.one(&["", "/zookeeper_limits", "/zookeeper_stats", "/zookeeper_stats"]);
        format!("/zookeeper/quota{}{leaf}", self.limited(chance))
    }

    /// A path that breaks a rule, or comes as close to it as one can without.
    pub fn bad(&self, chance: &mut Chance) -> Text {
        let base = &self.base;
        let tail: &[u8] = match chance.below(28) {
            0 => return Text::NULL,
            1 => return "".into(),
            2 => return "abc".into(),
            3 => return "a/b".into(),
            4 => return "/".into(),
            5 => return "//".into(),
            6 => b"/",
            7 => b"//x",
            8 => b"/a//x",
            9 => b"/.",
            10 => b"/..",
            11 => b"/./x",
            12 => b"/a/../x",
            13 => b"/...",
            14 => b"/..x",
            15 => b"/x.",
            16 => b"/a\0",
            17 => b"/\x01x",
            18 => b"/x\x1f",
            19 => b"/\x7f",
            20 => "/\u{9f}".as_bytes(),
            // A surrogate, as some encoders write it.
            21 => b"/\xed\xa0\x80",
            22 => "/\u{e000}".as_bytes(),
            23 => "/\u{f8ff}".as_bytes(),
            24 => "/\u{fff0}".as_bytes(),
            25 => "/\u{1f600}".as_bytes(),
            26 => b"/x\xff",
            _ => b"/a/",
        };
        Text(Some([base.as_bytes(), tail].concat()))
    }
}

/// Data of all kinds: none, nothing, little, more.
pub fn data(chance: &mut Chance) -> Option<Vec<u8>> {
    match chance.below(100) {
        0..8 => None,
        8..18 => Some(vec![]),
        18..88 => Some(format!("value {}", chance.below(100)).into_bytes()),
        88..98 => Some(vec![b'x'; 100 + chance.below(1000)]),
        _ => Some(vec![b'y'; 20_000]),
    }
}

/// An access control list for a node at `path`: mostly open, under `/c` mostly not.
pub fn acls(chance: &mut Chance, path: &Text) -> Option<Vec<Acl>> {
    let guarded = path.bytes().windows(2).any(|pair| pair == b"/c");
    let draw = chance.below(100);
    match (guarded, draw) {
        (true, 0..30) | (false, 0..80) => Some(vec![acl(31, "world", "anyone")]),
        (true, 30..92) | (false, 80..92) => Some(guarded_acls(chance)),
        _ => odd_acls(chance),
    }
}

/// A valid list that shuts someone out, or nearly so.
pub fn guarded_acls(chance: &mut Chance) -> Vec<Acl> {
    let anyone = |perms| acl(perms, "world", "anyone");
    match chance.below(16) {
        0 => vec![anyone(1)],
        1 => vec![anyone(0)],
        2 => vec![anyone(5)],
        3 => vec![anyone(29)],
        4 => vec![anyone(30)],
        5 => vec![anyone(16)],
        6 => vec![anyone(31 | 64)],
        7 => vec![acl(31, "digest", ID_U)],
        8 => vec![acl(31, "digest", ID_U), anyone(1)],
        9 => vec![acl(3, "digest", ID_U), acl(28, "digest", "v:abc"), anyone(1)],
        10 => vec![acl(31, "auth", "")],
        11 => vec![Acl { perms: 31, scheme: "auth".into(), id: Text::NULL }, anyone(5)],
        12 => vec![acl(31, "ip", "127.0.0.1")],
        13 => vec![acl(31, "ip", "127.1.2.3/8"), anyone(8)],
        14 => vec![acl(31, "ip", "10.0.0.0/8"), anyone(4)],
        _ => vec![anyone(31), anyone(31), acl(31, "digest", ID_U), anyone(31)],
    }
}

fn odd_acls(chance: &mut Chance) -> Option<Vec<Acl>> {
    let null = Text::NULL;
    Some(match chance.below(20) {
        0 => return None,
        1 => vec![],
        2 => vec![acl(31, "world", "other")],
        3 => vec![acl(31, "nosuch", "x")],
        4 => vec![acl(31, "super", "x")],
        5 => vec![acl(31, "digest", "nocolon")],
        6 => vec![acl(31, "digest", "a:b:c")],
        7 => vec![acl(31, "digest", "a:")],
        8 => vec![acl(31, "digest", ":b"), acl(31, "world", "anyone")],
        9 => vec![acl(31, "ip", "300.1.1.1")],
        10 => vec![acl(31, "ip", "1.2.3")],
        11 => vec![acl(31, "ip", "127.0.0.1/33")],
        12 => vec![acl(31, "ip", "127.0.0.1/0")],
        13 => vec![acl(31, "ip", "127.0.0.1/")],
        14 => vec![acl(31, "ip", "127.0.0.1/-1")],
        15 => vec![Acl { perms: 31, scheme: "world".into(), id: null }],
        16 => vec![Acl { perms: 31, scheme: null, id: "x".into() }],
        17 => vec![Acl { perms: 31, scheme: "digest".into(), id: null }],
        18 => vec![acl(31, "", "")],
        _ => vec![acl(31, "world", "anyone"), acl(31, "world", "other")],
    })
}

/// A list only a server that knows the newer kind of address accepts.
pub fn ipv6_acls() -> Vec<Acl> {
    vec![acl(31, "ip", "::1"), acl(31, "world", "anyone")]
}

/// A version to expect: mostly any, else near the truth, else absurd.
pub fn version(chance: &mut Chance) -> i32 {
    match chance.below(100) {
        0..60 => -1,
        60..75 => 0,
        75..92 => i32::try_from(1 + chance.below(3)).expect("at most 3"),
        _ => *chance.one(&[-2, i32::MIN, i32::MAX, 7]),
    }
}

/// The text of a quota, well formed: a server that reads another does not survive it.
pub fn limits(chance: &mut Chance) -> String {
    let soft = format!("count={},bytes={}", chance.below(6), chance.below(300));
    match chance.below(6) {
        0 => soft,
        1 => "count=-1,bytes=-1".to_owned(),
        2 => format!("count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit={}", chance.below(6)),
        3 => format!("count=-1,bytes=-1=;byteHardLimit={};countHardLimit=-1", chance.below(200)),
        _ => format!(
            "{soft}=;byteHardLimit={};countHardLimit={}",
            chance.below(2000),
            chance.below(12)
        ),
    }
}
