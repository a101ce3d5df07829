//! A directory written by zoolab: a snapshot taken while changes come, and logs around it.

use std::io;
use std::path::Path;

use zoolab_core::acl::AclWish;
use zoolab_core::pipeline::Overlay;
use zoolab_core::pipeline::prepare::{Asker, Prepare};
use zoolab_core::request::{Create, CreateOp, Op, Request, Stamp};
use zoolab_core::storage::recover::apply;
use zoolab_core::storage::snapshot::SnapshotWriter;
use zoolab_core::storage::{EpochKind, FileOp, Recovered, Saved};
use zoolab_core::tree::Tree;
use zoolab_core::txn::{Change, Txn};
use zoolab_core::{Millis, SessionId, Settings, Text, Xid, Zxid};

use super::directory;

/// The session whose ephemerals the directory has. No server gives out such a number.
const SESSION: SessionId = SessionId(0x7A00_0000_0000_0001);

/// Goes on from what was recovered, and returns the tree that whoever reads the directory must
/// find.
pub fn compose(path: &Path, recovered: Recovered) -> io::Result<Tree> {
    directory::perform(path, &recovered.repairs)?;
    let mut composer = Composer::new(recovered);
    composer.changes(0);
    composer.begin_snapshot();
    for round in 1..8 {
        composer.changes(round);
        composer.go_on();
    }
    while composer.recovered.disk.is_writing() {
        composer.go_on();
    }
    composer.changes(8);
    for kind in [EpochKind::Accepted, EpochKind::Current] {
        let epoch = composer.recovered.saved.zxid_last.epoch();
        composer.recovered.disk.write_epoch(kind, epoch, &mut composer.ops);
    }
    composer.recovered.disk.sync(&mut composer.ops);
    directory::perform(path, &composer.ops)?;
    Ok(composer.recovered.saved.tree)
}

struct Composer {
    recovered: Recovered,
    overlay: Overlay,
    writer: Option<SnapshotWriter>,
    settings: Settings,
    ops: Vec<FileOp>,
}

impl Composer {
    fn new(recovered: Recovered) -> Self {
        let overlay = Overlay::new(&recovered.saved.tree, 0);
        let settings = Settings { extended_types: true, ..Settings::default() };
        Self { recovered, overlay, writer: None, settings, ops: Vec::new() }
    }

    fn begin_snapshot(&mut self) {
        let Recovered { disk, saved, .. } = &mut self.recovered;
        let Saved { tree, sessions, zxid_last, .. } = saved;
        let mut bytes = Vec::new();
        self.writer = Some(SnapshotWriter::begin(*zxid_last, tree, sessions, &mut bytes));
        disk.begin_snapshot(*zxid_last, &bytes, &mut self.ops);
    }

    fn go_on(&mut self) {
        let Recovered { disk, saved: Saved { tree, zxid_last, .. }, .. } = &mut self.recovered;
        if let Some(mut writer) = self.writer.take() {
            let mut bytes = Vec::new();
            writer.chunk(tree, *zxid_last, 5, &mut bytes);
            disk.write_snapshot(&bytes, writer.is_done(), &mut self.ops);
            self.writer = Some(writer).filter(|writer| !writer.is_done());
        }
    }

    /// Decides a request, applies what it comes to, and appends it to the log.
    fn ask(&mut self, request: &Request) {
        let Saved { tree, zxid_last, .. } = &mut self.recovered.saved;
        let stamp = stamp(zxid_last.next());
        let mut prepare = Prepare::new(tree, &mut self.overlay, &self.settings, stamp);
        let decided = prepare.decide(ME, request).expect("only writes are asked for");
        self.append(decided.unwrap_or_else(Change::Error));
    }

    fn append(&mut self, change: Change) {
        let Recovered { disk, saved, .. } = &mut self.recovered;
        let Saved { tree, sessions, zxid_last, .. } = saved;
        let stamp = stamp(zxid_last.next());
        let mut txn = Txn { stamp, session: SESSION, cxid: Xid(1), change, digest: None };
        apply(&txn, tree, sessions);
        self.overlay.applied(stamp.zxid);
        if !matches!(txn.change, Change::Error(_)) {
            txn.digest = Some(tree.digest());
        }
        *zxid_last = stamp.zxid;
        disk.append(&txn, &mut self.ops);
    }

    /// A bit of everything. Later rounds change what earlier ones made, and make it anew.
    fn changes(&mut self, round: usize) {
        if round == 0 {
            self.append(Change::CreateSession { timeout_ms: 40_000 });
            self.ask(&Request::Create(create(CreateOp::Create, "/z", 0, 0)));
        }
        for number in 0..6 {
            let path: Text = format!("/z/{number}").into();
            self.ask(&Request::Create(create(CreateOp::Create2, &path, 0, round)));
            let data = Some(vec![b'0'; round * 10].into());
            self.ask(&Request::SetData { path, data, version: -1 });
        }
        let ttl = create(CreateOp::Ttl, &format!("/t{round}"), 5, 0);
        for create in [
            create(CreateOp::Create, &format!("/z/{round}x"), 1, round),
            create(CreateOp::Create, "/z/s-", 3, 0),
            create(CreateOp::Container, &format!("/z/box{round}"), 4, 0),
            Create { ttl_ms: 3_600_000, ..ttl },
        ] {
            self.ask(&Request::Create(create));
        }
        for (path, number) in [("/z/1", 0), ("/z/2", round + 3)] {
            let (path, acl) = (path.into(), Some(acl(number)));
            self.ask(&Request::SetAcl { path, acl, version: -1 });
        }
        for gone in [round % 6, (round + 3) % 6] {
            let path = format!("/z/{gone}").into();
            self.ask(&Request::Delete { path, version: -1 });
        }
        let birth = Op::Create(create(CreateOp::Create, &format!("/m{round}"), 0, 0));
        let set = Op::SetData { path: "/z".into(), data: None, version: -1 };
        let check = Op::Check { path: "/z".into(), version: -1 };
        self.ask(&Request::Multi(vec![birth.clone(), set.clone(), check]));
        // The second time it exists already.
        self.ask(&Request::Multi(vec![set, birth]));
    }
}

fn stamp(zxid: Zxid) -> Stamp {
    Stamp { zxid, time: Millis(1_700_000_000_000 + (zxid.0 & 0xFFFF)) }
}

const ME: Asker<'_> = Asker { session: SESSION, who: &[], open: true, local: false };

fn create(op: CreateOp, path: &str, flags: i32, number: usize) -> Create {
    let data = if number == 2 { None } else { Some(vec![b'd'; number].into()) };
    Create { op, path: path.into(), data, acl: Some(acl(number)), flags, ttl_ms: -1 }
}

/// Open to everybody, and with a number in it: each number makes another list.
fn acl(number: usize) -> Vec<AclWish> {
    let line = |scheme: &str, id: String| AclWish {
        perms: 31,
        scheme: Some(scheme.into()),
        id: Some(id.into()),
    };
    let mut lines = vec![line("world", "anyone".into())];
    if number > 0 {
        lines.push(line("ip", format!("10.0.0.{number}")));
    }
    lines
}
