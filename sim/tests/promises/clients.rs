//! Promises to clients, each left by a story of one client.

use std::sync::Arc;

use zoolab_core::acl::AclList;
use zoolab_core::client::{Call, CallId, Frame, Notice, SessionState, WatcherId};
use zoolab_core::request::{Body, ConnectResponse, CreateOp, Event, EventKind, SetWatches, Stamp};
use zoolab_core::tree::Stat;
use zoolab_core::txn::{Change, NodeChange, NodeKind};
use zoolab_core::{
    Code, ConnId, Millis, Note, Reply, Request, ServerId, SessionId, Text, Txn, Xid, Zxid,
};
use zoolab_sim::checker::Promise;
use zoolab_sim::heard::Heard;
use zoolab_sim::seen::Seen;
use zoolab_sim::step::ClientId;
use zoolab_sim::world::client::Down;

use super::{ONE, Story, THREE, TWO, zxid};

const SESSION: SessionId = SessionId(7);
const CONN: ConnId = ConnId(1);
const AGAIN: ConnId = ConnId(2);
const WATCHER: WatcherId = WatcherId(5);

fn path() -> Text {
    "/a".into()
}

fn created(kind: NodeKind) -> Change {
    let (data, acl) = (None, AclList::open());
    let op = CreateOp::Create;
    Change::Node(NodeChange::Create { op, path: path(), data, acl, kind, parent_cversion: 1 })
}

fn deleted() -> Change {
    Change::Node(NodeChange::Delete { path: path(), container: false })
}

fn set() -> Change {
    let (data, version) = (None, 1);
    Change::Node(NodeChange::SetData { path: path(), data, version, reconfig: false })
}

fn event(kind: EventKind, zxid: Zxid) -> Down {
    Down::Event(Arc::new(Event { kind, path: path(), zxid }))
}

impl Story {
    fn heard(&mut self, heard: Heard) -> &mut Self {
        self.see(Seen::Client { client: ClientId(0), heard })
    }

    /// A change is ordered, committed and applied.
    fn change(&mut self, zxid: Zxid, session: SessionId, change: Change) -> &mut Self {
        let stamp = Stamp { zxid, time: Millis(0) };
        let txn = Arc::new(Txn { stamp, session, cxid: Xid(1), change, digest: None });
        self.note(THREE, Note::Proposed(Arc::clone(&txn)));
        for server in [THREE, ONE] {
            self.see(Seen::Appended { server, txn: Arc::clone(&txn) });
            self.see(Seen::Synced { server, zxid });
        }
        self.ack(ONE, THREE, zxid).note(THREE, Note::Committed(zxid));
        self.note(THREE, Note::Applied { txn, digest: zxid.0.cast_unsigned() })
    }

    fn told(&mut self, conn: ConnId, frame: Down) -> &mut Self {
        self.heard(Heard::Told { conn, frame })
    }

    fn connect(&mut self, conn: ConnId, server: ServerId) -> &mut Self {
        self.heard(Heard::Connected { conn, server });
        let response = ConnectResponse {
            timeout_ms: 10_000,
            session: SESSION,
            password: [0; 16],
            read_only: None,
        };
        self.told(conn, Down::Connected(response))
    }

    /// A client of server 3, which is in epoch 1.
    fn client(&mut self) -> &mut Self {
        self.one_epoch().heard(Heard::Began { chroot: "/".into(), session: None });
        self.connect(CONN, THREE)
    }

    fn call(&mut self, number: u64, call: Call) -> &mut Self {
        self.heard(Heard::Called { call: CallId(number), what: Box::new(call) })
    }

    fn said(&mut self, conn: ConnId, xid: i32, request: Request) -> &mut Self {
        let frame = Box::new(Frame::Request(Xid(xid), request));
        self.heard(Heard::Said { conn, frame })
    }

    fn reply(&mut self, conn: ConnId, xid: i32, zxid: Zxid, err: Option<Code>) -> &mut Self {
        let body = Body::None;
        self.told(conn, Down::Reply(Reply { xid: Xid(xid), zxid, err, body }))
    }

    fn returned(&mut self, number: u64, zxid: Zxid) -> &mut Self {
        self.heard(Heard::Returned { call: CallId(number), zxid, result: Ok(Body::None) })
    }

    /// Asks who it is.
    fn ask(&mut self, number: i32) -> &mut Self {
        self.call(number.unsigned_abs().into(), Call::WhoAmI);
        self.said(CONN, number, Request::WhoAmI)
    }

    /// The node is there, and the client watches its data since 1:2.
    fn watch(&mut self) -> &mut Self {
        self.client().change(zxid(1, 2), SessionId::NONE, created(NodeKind::Persistent));
        self.call(1, Call::GetData { path: path(), watch: Some(WATCHER) });
        self.said(CONN, 1, Request::GetData { path: path(), watch: true });
        let body = Body::Data { data: None, stat: Stat::default() };
        let reply = Reply { xid: Xid(1), zxid: zxid(1, 2), err: None, body: body.clone() };
        self.told(CONN, Down::Reply(reply));
        let (call, zxid) = (CallId(1), zxid(1, 2));
        self.heard(Heard::Returned { call, zxid, result: Ok(body) })
    }

    fn notified(&mut self, kind: EventKind, zxid: Zxid) -> &mut Self {
        let notice = Notice::Node { kind, path: path(), zxid };
        self.heard(Heard::Notified { notice, to: vec![WATCHER] })
    }

    /// The connection is lost and another is there.
    fn come_back(&mut self) -> &mut Self {
        self.heard(Heard::Parted { conn: CONN }).connect(AGAIN, TWO)
    }

    fn watch_again(&mut self) -> &mut Self {
        let relative_zxid = zxid(1, 2);
        let lists = SetWatches { relative_zxid, data: vec![path()], ..SetWatches::default() };
        self.said(AGAIN, 2, Request::SetWatches(lists))
    }
}

/// Leaves the story of a client where this promise is broken; not every promise is to clients.
pub(super) fn planted(promise: Promise, story: &mut Story) {
    let (next, after) = (zxid(1, 3), zxid(1, 4));
    #[expect(clippy::wildcard_enum_match_arm, reason = "only promises to clients")]
    match promise {
        Promise::CallOnce => {
            story.client().ask(1).reply(CONN, 1, zxid(1, 1), None).returned(1, zxid(1, 1));
            story.returned(1, zxid(1, 1));
        }
        Promise::CallOrder => {
            story.client().ask(1).ask(2).reply(CONN, 1, zxid(1, 1), None).returned(2, zxid(1, 1));
        }
        Promise::SessionForward => {
            story.client().change(zxid(1, 2), SessionId::NONE, set()).ask(1).ask(2);
            story.reply(CONN, 1, zxid(1, 2), None).reply(CONN, 2, zxid(1, 1), None);
        }
        Promise::SessionSilent => {
            let notice = Notice::Session(SessionState::Expired);
            story.client().ask(1).heard(Heard::Notified { notice, to: Vec::new() });
            story.returned(1, zxid(1, 1));
        }
        Promise::WatchFirst => {
            story.watch().change(next, SessionId::NONE, set()).ask(2).reply(CONN, 2, next, None);
        }
        Promise::WatchKept => {
            story.watch().change(next, SessionId::NONE, set()).come_back().watch_again();
            story.reply(AGAIN, 2, next, None);
        }
        Promise::WatchOnce => {
            story.watch().change(next, SessionId::NONE, set());
            story.told(CONN, event(EventKind::DataChanged, next));
            story.notified(EventKind::DataChanged, next);
            story.told(CONN, event(EventKind::DataChanged, next));
        }
        Promise::WatchOrder => {
            story
                .watch()
                .call(2, Call::AddWatch { path: path(), watcher: WATCHER, recursive: false });
            story.said(CONN, 2, Request::AddWatch { path: path(), mode: 0 });
            story.reply(CONN, 2, zxid(1, 2), None).returned(2, zxid(1, 2));
            story.change(next, SessionId::NONE, set()).change(after, SessionId::NONE, deleted());
            story.told(CONN, event(EventKind::Deleted, after));
        }
        Promise::WatchTrue => {
            story.watch().change(next, SessionId::NONE, set());
            story.told(CONN, event(EventKind::Deleted, next));
        }
        other => unreachable!("no promise to clients: {other}"),
    }
}

/// The other ways in which these promises are broken.
#[test]
fn promises_to_clients_are_broken_in_other_ways_too() {
    let next = zxid(1, 3);
    let said = |story: &Story| story.judge().unwrap_err().to_string();
    let mut all = Vec::new();

    let mut story = Story::default();
    story.client().ask(1).ask(2).reply(CONN, 2, zxid(1, 1), None);
    all.push(said(&story));

    // It comes back and does not ask for what it watches.
    let mut story = Story::default();
    story.watch().come_back().said(AGAIN, 2, Request::WhoAmI).reply(AGAIN, 2, zxid(1, 2), None);
    all.push(said(&story));

    // The client keeps to itself what it was told.
    let mut story = Story::default();
    story.watch().change(next, SessionId::NONE, set());
    story.told(CONN, event(EventKind::DataChanged, next)).ask(2);
    all.push(said(&story));

    // It tells somebody who does not watch.
    let mut story = Story::default();
    story.watch().change(next, SessionId::NONE, set());
    story.told(CONN, event(EventKind::DataChanged, next));
    let kind = EventKind::DataChanged;
    let notice = Notice::Node { kind, path: path(), zxid: next };
    story.heard(Heard::Notified { notice, to: vec![WATCHER, WatcherId(6)] });
    all.push(said(&story));

    // What was missed is told, and there was nothing to miss.
    let mut story = Story::default();
    story.watch().come_back().watch_again();
    story.told(AGAIN, event(EventKind::DataChanged, Zxid::NONE));
    story.notified(EventKind::DataChanged, Zxid::NONE).reply(AGAIN, 2, zxid(1, 2), None);
    all.push(said(&story));

    insta::assert_debug_snapshot!(all, @r#"
    [
        "call-order: c0 was answered request 2, due was Some(1)",
        "watch-kept: c0 came back and did not watch /a again",
        "watch-kept: c0 did not tell [WatcherId(5)] of DataChanged at /a",
        "watch-true: c0 told [WatcherId(5), WatcherId(6)] of DataChanged at /a, due to hear are [WatcherId(5)]",
        "watch-true: c0 came back at 1:2 and was told of DataChanged at /a, which was not",
    ]
    "#);
}

/// Deleted and made again while a client was away: it is told, though of something else. Only of a
/// node that was not there before nor after it hears nothing.
#[test]
fn what_was_made_and_deleted_meanwhile_is_the_one_watch_that_may_be_lost() {
    let mut story = Story::default();
    story.client().call(1, Call::Exists { path: path(), watch: Some(WATCHER) });
    story.said(CONN, 1, Request::Exists { path: path(), watch: true });
    story.reply(CONN, 1, zxid(1, 1), Some(Code::NoNode));
    let result = Err(Code::NoNode.into());
    story.heard(Heard::Returned { call: CallId(1), zxid: zxid(1, 1), result });
    story.change(zxid(1, 2), SessionId::NONE, created(NodeKind::Persistent));
    let again = |story: &mut Story, at| {
        let relative_zxid = zxid(1, 1);
        let lists = SetWatches { relative_zxid, exist: vec![path()], ..SetWatches::default() };
        story.come_back().said(AGAIN, 2, Request::SetWatches(lists)).reply(AGAIN, 2, at, None);
    };
    let mut there = Story(story.0.clone());
    again(&mut there, zxid(1, 2));
    let broken = there.judge().unwrap_err();
    assert_eq!(broken.promise, Promise::WatchKept, "{broken}");
    story.change(zxid(1, 3), SessionId::NONE, deleted());
    again(&mut story, zxid(1, 3));
    assert_eq!(story.judge(), Ok(()));
    // From now on it watches again.
    story.change(zxid(1, 4), SessionId::NONE, created(NodeKind::Persistent));
    story.said(AGAIN, 3, Request::WhoAmI).reply(AGAIN, 3, zxid(1, 4), None);
    assert_eq!(story.judge().unwrap_err().promise, Promise::WatchFirst);
}
