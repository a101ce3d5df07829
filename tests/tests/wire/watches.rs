//! Watches: what fires, when, for whom, and what is left afterwards.

use zoolab_core::Settings;
use zoolab_tests::desk::{Client, Desk};
use zoolab_tests::raw::{Event, Hello, Request, WatchLists, acl, event, perm, watcher};

use crate::ask::{
    add_watch, all_fine, auth, children_watch, create, create_acl, create_flag, delete, err,
    exists_watch, get, get_watch, set, set_acl, texts,
};

const CREATED: i32 = event::NODE_CREATED;
const DELETED: i32 = event::NODE_DELETED;
const CHANGED: i32 = event::NODE_DATA_CHANGED;
const CHILDREN: i32 = event::NODE_CHILDREN_CHANGED;

fn short(events: &[Event]) -> Vec<(i32, String)> {
    events.iter().map(|event| (event.kind, event.path.lossy())).collect()
}

/// Two clients, one who watches and one who acts.
struct Stage {
    desk: Desk,
    watcher: Client,
    actor: Client,
}

impl Stage {
    fn new(setup: &[Request]) -> Self {
        let mut desk = Desk::default();
        let (watcher, actor) = (desk.client(), desk.client());
        all_fine(&mut desk, actor, setup);
        Self { desk, watcher, actor }
    }

    fn watch(&mut self, requests: &[Request]) {
        for request in requests {
            let code = err(&mut self.desk, self.watcher, request);
            assert!(code == 0 || code == -101, "{request:?}: {code}");
        }
    }

    /// What the watcher hears when the actor does this.
    fn hears(&mut self, request: &Request) -> Vec<(i32, String)> {
        assert_eq!(err(&mut self.desk, self.actor, request), 0, "{request:?}");
        short(&self.desk.events(self.watcher))
    }
}

fn one(kind: i32, path: &str) -> Vec<(i32, String)> {
    vec![(kind, path.into())]
}

#[test]
fn each_kind_of_watch_hears_its_own() {
    let watches: [(&str, &[Request]); 5] = [
        ("exists", &[exists_watch("/x")]),
        ("data", &[get_watch("/x")]),
        ("children", &[children_watch("/x")]),
        ("persistent", &[add_watch("/x", 0)]),
        ("recursive", &[add_watch("/x", 1)]),
    ];
    let setup = [create("/x"), create("/x/c"), create("/x/c/d")];
    type Heard = Vec<(i32, String)>;
    let rows: [(Request, [Heard; 5]); 7] = [
        (
            set("/x", "1"),
            [
                one(CHANGED, "/x"),
                one(CHANGED, "/x"),
                vec![],
                one(CHANGED, "/x"),
                one(CHANGED, "/x"),
            ],
        ),
        (
            create("/x/new"),
            [vec![], vec![], one(CHILDREN, "/x"), one(CHILDREN, "/x"), one(CREATED, "/x/new")],
        ),
        (delete("/x/c/d"), [vec![], vec![], vec![], vec![], one(DELETED, "/x/c/d")]),
        (set("/x/c", "1"), [vec![], vec![], vec![], vec![], one(CHANGED, "/x/c")]),
        (create("/x/c/deep"), [vec![], vec![], vec![], vec![], one(CREATED, "/x/c/deep")]),
        (set_acl("/x", &[acl(31, "world", "anyone")]), [vec![], vec![], vec![], vec![], vec![]]),
        (create("/other"), [vec![], vec![], vec![], vec![], vec![]]),
    ];
    for (request, expected) in &rows {
        for ((name, watch), expected) in watches.iter().zip(expected) {
            let mut stage = Stage::new(&setup);
            stage.watch(watch);
            assert_eq!(stage.hears(request), *expected, "{name} watch, {request:?}");
        }
    }
}

#[test]
fn creation_and_deletion_are_heard_by_all_who_should() {
    let watches: [(&str, Request, bool); 5] = [
        ("exists", exists_watch("/x"), true),
        ("data", get_watch("/x"), false),
        ("children", children_watch("/x"), false),
        ("persistent", add_watch("/x", 0), true),
        ("recursive", add_watch("/x", 1), true),
    ];
    for (name, watch, on_missing) in watches {
        let mut stage = Stage::new(&[]);
        stage.watch(std::slice::from_ref(&watch));
        let expected = if on_missing { one(CREATED, "/x") } else { vec![] };
        assert_eq!(stage.hears(&create("/x")), expected, "{name} watch");
        let mut stage = Stage::new(&[create("/x")]);
        stage.watch(&[watch]);
        assert_eq!(stage.hears(&delete("/x")), one(DELETED, "/x"), "{name} watch");
    }
}

#[test]
fn one_shot_watches_fire_once_and_persistent_ones_stay() {
    let mut stage = Stage::new(&[create("/x")]);
    stage.watch(&[get_watch("/x"), get_watch("/x")]);
    assert_eq!(stage.hears(&set("/x", "1")), one(CHANGED, "/x"));
    assert_eq!(stage.hears(&set("/x", "2")), vec![]);
    assert!(stage.desk.server.watches().is_empty());
    stage.watch(&[add_watch("/x", 0)]);
    for request in [set("/x", "3"), set("/x", "4")] {
        assert_eq!(stage.hears(&request), one(CHANGED, "/x"));
    }
    assert_eq!(stage.hears(&delete("/x")), one(DELETED, "/x"));
    assert_eq!(stage.hears(&create("/x")), one(CREATED, "/x"));
    assert_eq!(stage.hears(&create("/x/c")), one(CHILDREN, "/x"));
}

#[test]
fn a_deletion_is_heard_once_and_takes_both_watches() {
    let mut stage = Stage::new(&[create("/p"), create("/p/x")]);
    stage.watch(&[get_watch("/p/x"), children_watch("/p/x"), children_watch("/p")]);
    assert_eq!(stage.hears(&delete("/p/x")), [(DELETED, "/p/x".into()), (CHILDREN, "/p".into())]);
    assert!(stage.desk.server.watches().is_empty());
}

#[test]
fn the_node_is_heard_of_before_its_parent() {
    let mut stage = Stage::new(&[create("/a")]);
    stage.watch(&[exists_watch("/a/b"), children_watch("/a")]);
    assert_eq!(stage.hears(&create("/a/b")), [(CREATED, "/a/b".into()), (CHILDREN, "/a".into())]);
    stage.watch(&[add_watch("/a", 1), children_watch("/a")]);
    assert_eq!(stage.hears(&create("/a/c")), [(CREATED, "/a/c".into()), (CHILDREN, "/a".into())]);
    stage.watch(&[add_watch("/", 1)]);
    assert_eq!(
        stage.hears(&create("/a/d")),
        one(CREATED, "/a/d"),
        "two recursive watches, one event"
    );
}

#[test]
fn children_of_the_root_are_heard_of_as_a_slash() {
    let mut stage = Stage::new(&[]);
    stage.watch(&[children_watch("/")]);
    assert_eq!(stage.hears(&create("/a")), one(CHILDREN, "/"));
}

#[test]
fn events_come_before_the_reply_of_the_write_that_caused_them() {
    let mut desk = Desk::default();
    let client = desk.client();
    all_fine(&mut desk, client, &[create("/a"), get_watch("/a")]);
    let (events, reply) = desk.call_with_events(client, &set("/a", "x"));
    assert_eq!(short(&events), one(CHANGED, "/a"));
    assert_eq!(events[0].zxid, reply.zxid, "from 3.9 on events say which transaction");
}

#[test]
fn a_missing_node_is_watched_by_exists_only() {
    let mut stage = Stage::new(&[]);
    stage.watch(&[get_watch("/x"), children_watch("/x")]);
    assert!(stage.desk.server.watches().is_empty());
    stage.watch(&[exists_watch("/x")]);
    assert_eq!(stage.hears(&create("/x")), one(CREATED, "/x"));
}

#[test]
fn refusals_and_failed_multis_fire_nothing() {
    let mut stage = Stage::new(&[create("/x")]);
    stage.watch(&[get_watch("/x"), children_watch("/x")]);
    assert_eq!(err(&mut stage.desk, stage.actor, &create("/x")), -110);
    let failing = Request::Multi(vec![set("/x", "1"), create("/x/a"), delete("/missing")]);
    assert_eq!(stage.hears(&failing), vec![]);
    assert_eq!(stage.hears(&Request::Multi(vec![crate::ask::check("/x", 0)])), vec![]);
    assert_eq!(stage.desk.server.watches().len(), 1, "one path, one client, both kinds");
}

#[test]
fn modes_live_side_by_side() {
    let mut stage = Stage::new(&[create("/x")]);
    stage.watch(&[add_watch("/x", 0), get_watch("/x")]);
    assert_eq!(stage.hears(&set("/x", "1")), one(CHANGED, "/x"), "one event for both");
    assert_eq!(
        stage.hears(&set("/x", "2")),
        one(CHANGED, "/x"),
        "the persistent one is still there"
    );
}

#[test]
fn watches_end_with_the_connection() {
    let mut desk = Desk::default();
    let conn = desk.dial();
    desk.greet(conn, &Hello::default());
    let welcome = desk.welcome(conn);
    all_fine(&mut desk, conn, &[create("/x"), get_watch("/x"), add_watch("/x", 1)]);
    desk.hang_up(conn);
    assert!(desk.server.watches().is_empty());
    let back = desk.come_back(&welcome, 0);
    assert_eq!(desk.call_with_events(back, &set("/x", "1")).0, []);
}

#[test]
fn an_event_that_may_not_be_read_is_dropped_and_its_watch_spent() {
    let mut desk = Desk::default();
    let (watching, acting) = (desk.client(), desk.client());
    let digest = zoolab_core::auth::digest_of("u:p");
    let mine = [acl(perm::ALL, "digest", &digest)];
    all_fine(&mut desk, acting, &[auth("digest", "u:p")]);
    // Created under an ACL that the watcher is not in.
    assert_eq!(err(&mut desk, watching, &exists_watch("/x")), -101);
    all_fine(&mut desk, acting, &[create_acl("/x", &mine)]);
    assert_eq!(desk.events(watching), []);
    assert!(desk.server.watches().is_empty(), "spent");
    // A persistent watch stays and hears again when it may.
    all_fine(&mut desk, watching, &[add_watch("/x", 0)]);
    all_fine(&mut desk, acting, &[set("/x", "1"), set_acl("/x", &zoolab_tests::raw::open_acl())]);
    assert_eq!(desk.events(watching), []);
    all_fine(&mut desk, acting, &[set("/x", "2")]);
    assert_eq!(short(&desk.events(watching)), one(CHANGED, "/x"));
}

#[test]
fn children_events_ask_for_the_parents_acl_and_deletions_for_the_nodes() {
    let mut desk = Desk::default();
    let (watching, acting) = (desk.client(), desk.client());
    let digest = zoolab_core::auth::digest_of("u:p");
    let mine = [acl(perm::ALL, "digest", &digest)];
    all_fine(&mut desk, acting, &[auth("digest", "u:p"), create("/p"), create_acl("/p/x", &mine)]);
    all_fine(&mut desk, watching, &[add_watch("/p", 0), add_watch("/p/x", 0)]);
    all_fine(&mut desk, acting, &[delete("/p/x")]);
    assert_eq!(short(&desk.events(watching)), one(CHILDREN, "/p"));
    all_fine(&mut desk, acting, &[set_acl("/p", &mine), create("/p/y")]);
    assert_eq!(desk.events(watching), []);
}

fn lists(data: &[&str], exist: &[&str], child: &[&str]) -> WatchLists {
    WatchLists {
        data: Some(texts(data)),
        exist: Some(texts(exist)),
        child: Some(texts(child)),
        ..WatchLists::empty()
    }
}

#[test]
fn watches_set_again_fire_at_once_where_something_was_missed() {
    let mut desk = Desk::default();
    let client = desk.client();
    all_fine(&mut desk, client, &[create("/same"), create("/changed"), create("/parent")]);
    let seen = desk.server.zxid_last().0;
    all_fine(&mut desk, client, &[set("/changed", "x"), create("/parent/c"), create("/made")]);
    let lists = lists(
        &["/gone", "/changed", "/same"],
        &["/made", "/missing"],
        &["/gone", "/parent", "/same"],
    );
    let request = Request::SetWatches { relative_zxid: seen, lists };
    let (events, reply) = desk.call_with_events(client, &request);
    assert_eq!(reply.err, 0);
    assert_eq!(
        short(&events),
        [
            (DELETED, "/gone".into()),
            (CHANGED, "/changed".into()),
            (CREATED, "/made".into()),
            (DELETED, "/gone".into()),
            (CHILDREN, "/parent".into()),
        ]
    );
    assert!(events.iter().all(|event| event.zxid == -1 && event.state == 3));
    // What had not changed is armed.
    assert_eq!(short(&desk.call_with_events(client, &set("/same", "1")).0), one(CHANGED, "/same"));
    assert_eq!(
        short(&desk.call_with_events(client, &create("/missing")).0),
        one(CREATED, "/missing")
    );
    assert_eq!(short(&desk.call_with_events(client, &create("/same/c")).0), one(CHILDREN, "/same"));
}

#[test]
fn what_came_and_went_while_away_is_not_seen() {
    let mut desk = Desk::default();
    let client = desk.client();
    all_fine(&mut desk, client, &[create("/again")]);
    let seen = desk.server.zxid_last().0;
    all_fine(
        &mut desk,
        client,
        &[create("/blink"), delete("/blink"), delete("/again"), create("/again")],
    );
    let request =
        Request::SetWatches { relative_zxid: seen, lists: lists(&["/again"], &["/blink"], &[]) };
    let (events, _) = desk.call_with_events(client, &request);
    assert_eq!(short(&events), one(CHANGED, "/again"), "made anew looks like changed");
    assert_eq!(short(&desk.call_with_events(client, &create("/blink")).0), one(CREATED, "/blink"));
}

#[test]
fn persistent_watches_are_set_again_without_catching_up() {
    let mut desk = Desk::default();
    let client = desk.client();
    all_fine(&mut desk, client, &[create("/p"), create("/r")]);
    let lists = WatchLists {
        persistent: Some(texts(&["/p"])),
        persistent_recursive: Some(texts(&["/r"])),
        ..WatchLists::empty()
    };
    let (events, reply) =
        desk.call_with_events(client, &Request::SetWatches2 { relative_zxid: 0, lists });
    assert_eq!((events, reply.err), (vec![], 0));
    assert_eq!(short(&desk.call_with_events(client, &create("/p/a")).0), one(CHILDREN, "/p"));
    assert_eq!(short(&desk.call_with_events(client, &create("/r/a")).0), one(CREATED, "/r/a"));
    assert_eq!(short(&desk.call_with_events(client, &set("/r/a", "")).0), one(CHANGED, "/r/a"));
}

#[test]
fn a_null_list_is_a_marshalling_error_and_any_path_will_do() {
    let mut desk = Desk::default();
    let client = desk.client();
    let null = WatchLists { data: None, ..WatchLists::empty() };
    assert_eq!(err(&mut desk, client, &Request::SetWatches { relative_zxid: 0, lists: null }), -5);
    let odd = lists(&[], &["abc", "/a/", "/a//b"], &[]);
    assert_eq!(err(&mut desk, client, &Request::SetWatches { relative_zxid: 9, lists: odd }), 0);
}

#[test]
fn adding_a_watch_is_acknowledged_with_a_zero_and_knows_two_modes() {
    let mut desk = Desk::default();
    let client = desk.client();
    desk.send_as(client, 1, &add_watch("no/such/path", 0));
    assert_eq!(desk.bytes(client).unwrap()[16..], [0, 0, 0, 0]);
    for mode in [2, -1, 7] {
        assert_eq!(err(&mut desk, client, &add_watch("/a", mode)), -5);
    }
}

#[test]
fn watches_are_checked_and_removed_by_type_for_ones_own_connection() {
    let mut desk = Desk::default();
    let (mine, other) = (desk.client(), desk.client());
    all_fine(&mut desk, mine, &[create("/x")]);
    let check = |kind| Request::CheckWatches { path: "/x".into(), kind };
    let remove = |kind| Request::RemoveWatches { path: "/x".into(), kind };
    for bad in [0, 6, -1] {
        assert_eq!(err(&mut desk, mine, &check(bad)), -5);
        assert_eq!(err(&mut desk, mine, &remove(bad)), -5);
    }
    let arms = [
        (watcher::CHILDREN, children_watch("/x")),
        (watcher::DATA, get_watch("/x")),
        (watcher::PERSISTENT, add_watch("/x", 0)),
        (watcher::PERSISTENT_RECURSIVE, add_watch("/x", 1)),
    ];
    for (kind, arm) in &arms {
        assert_eq!(err(&mut desk, mine, &check(*kind)), -121);
        assert_eq!(err(&mut desk, mine, &remove(*kind)), -121);
        all_fine(&mut desk, mine, std::slice::from_ref(arm));
        assert_eq!(err(&mut desk, other, &check(*kind)), -121, "another's watch");
        for (wrong, _) in arms.iter().filter(|(other, _)| other != kind) {
            assert_eq!(err(&mut desk, mine, &remove(*wrong)), -121, "{kind} is not {wrong}");
        }
        all_fine(&mut desk, mine, &[check(*kind), check(watcher::ANY), remove(*kind)]);
        assert!(desk.server.watches().is_empty());
    }
    for (_, arm) in &arms {
        all_fine(&mut desk, mine, std::slice::from_ref(arm));
    }
    all_fine(&mut desk, mine, &[remove(watcher::ANY)]);
    assert!(desk.server.watches().is_empty());
}

#[test]
fn the_end_of_a_session_is_heard_by_others() {
    let mut stage = Stage::new(&[create("/p"), create_flag("/p/e1", 1), create_flag("/p/e2", 1)]);
    stage.watch(&[get_watch("/p/e1"), get_watch("/p/e2"), add_watch("/p", 0)]);
    assert_eq!(
        stage.hears(&Request::CloseSession),
        [
            (DELETED, "/p/e1".into()),
            (CHILDREN, "/p".into()),
            (DELETED, "/p/e2".into()),
            (CHILDREN, "/p".into()),
        ]
    );
}

#[test]
fn a_read_never_shows_what_an_event_has_not_told() {
    let mut desk = Desk::new(Settings::default());
    let (watching, acting) = (desk.client(), desk.client());
    all_fine(&mut desk, acting, &[create("/x")]);
    all_fine(&mut desk, watching, &[get_watch("/x")]);
    desk.hold_disk();
    desk.send_as(acting, 1, &set("/x", "new"));
    desk.send_as(watching, 1, &get("/x"));
    desk.release_disk();
    desk.send_as(watching, 2, &get("/x"));
    let frames: Vec<String> = desk
        .frames(watching)
        .iter()
        .map(|frame| match frame {
            zoolab_tests::raw::Frame::Reply(reply) => {
                format!("{} bytes", reply.body.stat().unwrap().data_length)
            }
            zoolab_tests::raw::Frame::Event(_) => "event".into(),
        })
        .collect();
    assert_eq!(frames, ["0 bytes", "event", "3 bytes"]);
}
