//! Histories: what generated requests come to, decided by the real `prepare`.

use std::collections::BTreeMap;

use proptest::prelude::*;
use zoolab_core::acl::AclWish;
use zoolab_core::pipeline::Overlay;
use zoolab_core::pipeline::prepare::{Asker, Prepare};
use zoolab_core::request::{Create, CreateOp, Op, Request, Stamp};
use zoolab_core::storage::recover::apply;
use zoolab_core::tree::Tree;
use zoolab_core::txn::{Change, Txn};
use zoolab_core::{Data, Millis, SessionId, Settings, Xid, Zxid};

/// What somebody may want. Paths are few, so that things meet.
#[derive(Clone, Debug)]
pub(crate) enum Wish {
    Close { session: u8 },
    Epoch,
    Multi(Vec<Self>),
    Node { kind: u8, path: u8, data: u8, session: u8 },
    Open { session: u8 },
    Quota,
    SetAcl { path: u8, acl: u8 },
    SetData { path: u8, data: u8 },
    Delete { path: u8 },
}

const PATHS: [&str; 10] =
    ["/a", "/b", "/a/x", "/a/y", "/a/x/1", "/a/x/2", "/b/x", "/b/z", "/c", "/c/d"];

fn node() -> impl Strategy<Value = Wish> {
    prop_oneof![
        5 => (0..9_u8, 0..10_u8, 0..5_u8, 0..3_u8)
            .prop_map(|(kind, path, data, session)| Wish::Node { kind, path, data, session }),
        3 => (0..10_u8, 0..5_u8).prop_map(|(path, data)| Wish::SetData { path, data }),
        3 => (0..10_u8).prop_map(|path| Wish::Delete { path }),
    ]
}

pub(crate) fn wishes(most: usize) -> impl Strategy<Value = Vec<Wish>> {
    let wish = prop_oneof![
        10 => node(),
        2 => proptest::collection::vec(node(), 0..4).prop_map(Wish::Multi),
        2 => (0..10_u8, 0..4_u8).prop_map(|(path, acl)| Wish::SetAcl { path, acl }),
        1 => (0..3_u8).prop_map(|session| Wish::Open { session }),
        1 => (0..3_u8).prop_map(|session| Wish::Close { session }),
        1 => Just(Wish::Epoch),
        1 => Just(Wish::Quota),
    ];
    proptest::collection::vec(wish, 1..most)
}

/// A tree and its sessions after some transaction.
pub(crate) type State = (Tree, BTreeMap<SessionId, i32>);

/// A server's state as it goes.
pub(crate) struct History {
    pub(crate) tree: Tree,
    pub(crate) sessions: BTreeMap<SessionId, i32>,
    pub(crate) zxid: Zxid,
    next: Zxid,
    overlay: Overlay,
    settings: Settings,
}

impl History {
    pub(crate) fn new() -> Self {
        let tree = Tree::new(true, 0);
        Self {
            overlay: Overlay::new(&tree, 0),
            tree,
            sessions: BTreeMap::new(),
            zxid: Zxid::ZERO,
            next: Zxid(1),
            settings: Settings { extended_types: true, ..Settings::default() },
        }
    }

    /// Goes on from what was recovered.
    pub(crate) fn at(zxid: Zxid, (tree, sessions): State) -> Self {
        let overlay = Overlay::new(&tree, 0);
        Self { tree, sessions, zxid, next: zxid.next(), overlay, ..Self::new() }
    }

    pub(crate) fn state(&self) -> State {
        (self.tree.clone(), self.sessions.clone())
    }

    /// Decides, applies, and says what goes to the log.
    pub(crate) fn perform(&mut self, wish: &Wish) -> Option<Txn> {
        if matches!(wish, Wish::Epoch) {
            let epoch = zoolab_core::Epoch(self.zxid.epoch().0 + 1);
            self.next = Zxid::first_of(epoch).next();
            return None;
        }
        let stamp = Stamp { zxid: self.next, time: Millis(1_000_000 + self.next.0 % 1000) };
        let session = match wish {
            Wish::Node { session, .. } | Wish::Open { session } | Wish::Close { session } => {
                *session
            }
            Wish::Delete { .. }
            | Wish::Epoch
            | Wish::Multi(_)
            | Wish::Quota
            | Wish::SetAcl { .. }
            | Wish::SetData { .. } => 0,
        };
        let session = SessionId(0x100 + i64::from(session));
        let change = self.decide(stamp, session, wish);
        let mut txn = Txn { stamp, session, cxid: Xid(3), change, digest: None };
        apply(&txn, &mut self.tree, &mut self.sessions);
        self.overlay.applied(stamp.zxid);
        if !matches!(txn.change, Change::Error(_)) {
            txn.digest = Some(self.tree.digest());
        }
        self.zxid = stamp.zxid;
        self.next = stamp.zxid.next();
        Some(txn)
    }

    fn decide(&mut self, stamp: Stamp, session: SessionId, wish: &Wish) -> Change {
        let Self { tree, overlay, settings, .. } = self;
        let mut prepare = Prepare::new(tree, overlay, settings, stamp);
        let me = Asker { session, who: &[], open: true, local: false };
        let request = match wish {
            Wish::Close { .. } => Request::CloseSession,
            Wish::Epoch => unreachable!("no transaction"),
            Wish::Multi(wishes) => {
                let mut ops: Vec<Op> = wishes.iter().map(op).collect();
                ops.push(Op::Check { path: "/".into(), version: -1 });
                Request::Multi(ops)
            }
            Wish::Node { .. } | Wish::SetData { .. } | Wish::Delete { .. } => match op(wish) {
                Op::Check { path, version } => unreachable!("{path} {version} only in a multi"),
                Op::Create(create) => Request::Create(create),
                Op::Delete { path, version } => Request::Delete { path, version },
                Op::SetData { path, data, version } => Request::SetData { path, data, version },
            },
            Wish::Open { session } => {
                return Change::CreateSession { timeout_ms: 4000 + i32::from(*session) };
            }
            Wish::Quota => Request::Multi(quota()),
            Wish::SetAcl { path, acl } => {
                let (path, acl) = (PATHS[usize::from(*path)].into(), Some(acls(*acl)));
                Request::SetAcl { path, acl, version: -1 }
            }
        };
        let decided = prepare.decide(me, &request).expect("only writes are asked for");
        decided.unwrap_or_else(Change::Error)
    }
}

/// All states that a history goes through, and its transactions.
pub(crate) fn play(wishes: &[Wish]) -> (BTreeMap<Zxid, State>, Vec<Txn>) {
    let mut history = History::new();
    let mut states = BTreeMap::from([(Zxid::ZERO, history.state())]);
    let mut txns = Vec::new();
    for wish in wishes {
        if let Some(txn) = history.perform(wish) {
            states.insert(history.zxid, history.state());
            txns.push(txn);
        }
    }
    (states, txns)
}

/// As the shell makes one: the limits first, then the counts.
fn quota() -> Vec<Op> {
    [
        "/zookeeper/quota/a",
        "/zookeeper/quota/a/zookeeper_limits",
        "/zookeeper/quota/a/zookeeper_stats",
    ]
    .map(|path| {
        Op::Create(Create {
            op: CreateOp::Create,
            path: path.into(),
            data: Some(b"count=9,bytes=99".as_slice().into()),
            acl: Some(acls(0)),
            flags: 0,
            ttl_ms: -1,
        })
    })
    .into()
}

fn acls(number: u8) -> Vec<AclWish> {
    let id = if number == 0 { "anyone".into() } else { format!("10.0.0.{number}") };
    let scheme = if number == 0 { "world" } else { "ip" };
    vec![
        AclWish { perms: 31, scheme: Some("world".into()), id: Some("anyone".into()) },
        AclWish { perms: 31, scheme: Some(scheme.into()), id: Some(id.into()) },
    ]
}

fn data(number: u8) -> Data {
    match number {
        0 => None,
        1 => Some([].into()),
        number => Some(vec![number; usize::from(number) * 20].into()),
    }
}

fn op(wish: &Wish) -> Op {
    match wish {
        Wish::Node { kind, path, data: bytes, .. } => {
            let (op, flags, ttl_ms) = match kind {
                0..=2 => (CreateOp::Create, 0, -1),
                3 => (CreateOp::Create, 1, -1),
                4 => (CreateOp::Create2, 2, -1),
                5 => (CreateOp::Create2, 3, -1),
                6 => (CreateOp::Container, 4, -1),
                7 => (CreateOp::Ttl, 5, 100),
                _ => (CreateOp::Create, 4, -1),
            };
            let path = PATHS[usize::from(*path)].into();
            let acl = Some(acls(*bytes % 3));
            Op::Create(Create { op, path, data: data(*bytes), acl, flags, ttl_ms })
        }
        Wish::SetData { path, data: bytes } => {
            let (path, data) = (PATHS[usize::from(*path)].into(), data(*bytes));
            Op::SetData { path, data, version: -1 }
        }
        Wish::Delete { path } => Op::Delete { path: PATHS[usize::from(*path)].into(), version: -1 },
        Wish::Close { .. }
        | Wish::Epoch
        | Wish::Multi(_)
        | Wish::Open { .. }
        | Wish::Quota
        | Wish::SetAcl { .. } => unreachable!("not in a multi"),
    }
}
