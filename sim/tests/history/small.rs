//! Small histories by hand: each has one thing wrong, and the promise that it breaks is named.

use zoolab_sim::history::check::{Options, Promise, Report, Verdict, check};
use zoolab_sim::history::{Gather, Header, Record};

/// Two clients: connections 1 and 2, sessions 0xa and 0xb, with positions 1 and 2 of epoch 1.
const BEGIN: &str = r#"
{"connect":{"at":1,"conn":1,"client":1}}
{"hello":{"at":1,"conn":1}}
{"open":{"at":2,"conn":1,"session":"0xa","timeout_ms":4000}}
{"connect":{"at":3,"conn":2,"client":2}}
{"hello":{"at":3,"conn":2}}
{"open":{"at":4,"conn":2,"session":"0xb","timeout_ms":4000}}
"#;

fn checked_with(header: &Header, text: &str, options: &Options) -> Report {
    let mut gather = Gather::new(header.clone());
    for line in BEGIN.lines().chain(text.lines()).filter(|line| !line.trim().is_empty()) {
        let record: Record =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        gather.take(&record).unwrap_or_else(|error| panic!("{line}: {error}"));
    }
    check(&gather.finish(), options, &mut |_| {})
}

fn checked(text: &str) -> Report {
    checked_with(&Header::new("by hand"), text, &Options::default())
}

/// One call and its answer, both at their moments.
fn op(conn: u64, xid: i32, from: u64, to: u64, ask: &str, rest: &str) -> (String, String) {
    (
        format!(r#"{{"call":{{"at":{from},"conn":{conn},"xid":{xid},"ask":{ask}}}}}"#),
        format!(r#"{{"reply":{{"at":{to},"conn":{conn},"xid":{xid},{rest}}}}}"#),
    )
}

/// Calls that do not overlap, one after the other.
fn in_turn(ops: &[(u64, &str, &str)]) -> String {
    let mut text = String::new();
    for (place, (conn, ask, rest)) in (1..).zip(ops) {
        let at = u64::try_from(place).unwrap() * 10;
        let (call, reply) = op(*conn, place, at, at + 5, ask, rest);
        text += &format!("{call}\n{reply}\n");
    }
    text
}

#[track_caller]
fn broken(report: &Report, promise: Promise, what: &str) {
    let broken: Vec<Promise> = report.broken().collect();
    assert_eq!(broken, [promise], "{:#?}", report.findings);
    let found = report.findings.iter().find(|finding| finding.promise == promise).unwrap();
    assert_eq!(found.what, what);
}

#[track_caller]
fn held(report: &Report) {
    assert_eq!(report.worst(), Verdict::Held, "{:#?}", report.findings);
}

const CREATE: &str = r#"{"create":{"path":"/a","data":"one"}}"#;
const GET: &str = r#"{"get-data":{"path":"/a"}}"#;
const SET: &str = r#"{"set-data":{"path":"/a","data":"two"}}"#;

/// The stat of `/a`, made at 3 and set last so often at a position.
fn stat(mzxid: i64, version: i32) -> String {
    format!(
        r#""stat":{{"czxid":"0x100000003","mzxid":"{mzxid:#x}","pzxid":"0x100000003","ctime":5,
"mtime":5,"version":{version},"cversion":0,"aversion":0,"ephemeralOwner":"0x0","dataLength":3,
"numChildren":0}}"#
    )
    .replace('\n', "")
}

fn data(zxid: i64, data: &str, mzxid: i64, version: i32) -> String {
    format!(r#""zxid":"{zxid:#x}","ok":{{"data":"{data}",{}}}"#, stat(mzxid, version))
}

fn done(zxid: i64) -> String {
    format!(r#""zxid":"{zxid:#x}","ok":{{}}"#)
}

const E: i64 = 1 << 32;

#[test]
fn what_is_right_holds() {
    let report = checked(&in_turn(&[
        (1, CREATE, &done(E + 3)),
        (2, GET, &data(E + 3, "one", E + 3, 0)),
        (2, SET, &done(E + 4)),
        // Stale, and that is fine.
        (1, GET, &data(E + 3, "one", E + 3, 0)),
        (1, r#"{"sync":{"path":"/a"}}"#, &done(E + 4)),
        (1, GET, &data(E + 4, "two", E + 4, 1)),
        (
            1,
            r#"{"get-children":{"path":"/"}}"#,
            r#""zxid":"0x100000004","ok":{"children":["a","zookeeper"]}"#,
        ),
        (1, CREATE, r#""zxid":"0x100000005","err":-110"#),
    ]));
    held(&report);
    assert_eq!((report.ops, report.updates), (8, 3));
}

#[test]
fn an_update_comes_after_what_was_complete() {
    let report = checked(&in_turn(&[
        (1, CREATE, &done(E + 5)),
        (2, r#"{"create":{"path":"/b"}}"#, &done(E + 4)),
    ]));
    broken(
        &report,
        Promise::Lw,
        "an update has position 0x100000004, and began after something at 0x100000005 was complete",
    );
    assert_eq!(
        report.findings[0].cycle,
        [
            "xid 1 was complete at 15 us, before xid 2 began at 20 us",
            "xid 2 stands at 0x100000004, not after 0x100000005 where xid 1 stands",
        ]
    );
}

#[test]
fn two_updates_have_two_positions() {
    let text = [
        op(1, 1, 10, 20, CREATE, &done(E + 3)),
        op(2, 1, 11, 21, r#"{"create":{"path":"/b"}}"#, &done(E + 3)),
    ];
    let lines = [&text[0].0, &text[1].0, &text[0].1, &text[1].1].map(String::as_str);
    broken(&checked(&lines.join("\n")), Promise::Lw, "two updates have position 0x100000003");
}

#[test]
fn results_are_those_of_the_tree() {
    let report = checked(&in_turn(&[
        (1, CREATE, &done(E + 3)),
        (2, r#"{"delete":{"path":"/a","version":7}}"#, &done(E + 4)),
    ]));
    broken(&report, Promise::Lw, "at 0x100000004, /a has version 0, and 7 was asked for");
    let report = checked(&in_turn(&[
        (1, CREATE, &done(E + 3)),
        (2, GET, r#""zxid":"0x100000003","err":-101"#),
    ]));
    broken(&report, Promise::Rl1, "at 0x100000003, /a is there");
    let report =
        checked(&in_turn(&[(1, CREATE, &done(E + 3)), (2, GET, &data(E + 3, "two", E + 3, 0))]));
    broken(&report, Promise::At, "at 0x100000003, /a has \"one\", not \"two\"");
}

#[test]
fn nobody_goes_back_in_time() {
    let report = checked(&in_turn(&[
        (1, CREATE, &done(E + 3)),
        (1, GET, r#""zxid":"0x100000002","err":-101"#),
    ]));
    broken(
        &report,
        Promise::Ssi,
        "a reply to session 0xa has position 0x100000002 after 0x100000003",
    );
}

#[test]
fn a_sync_shows_what_was_complete() {
    let report = checked(&in_turn(&[
        (1, CREATE, &done(E + 3)),
        (2, r#"{"sync":{"path":"/"}}"#, &done(E + 2)),
    ]));
    broken(
        &report,
        Promise::Sy,
        "a sync at server \"\" shows 0x100000002, and began after something at 0x100000003 was \
         complete",
    );
}

#[test]
fn events_come_once_and_before_what_they_tell_of() {
    let watch = r#"{"get-data":{"path":"/a","watch":true}}"#;
    let begin = in_turn(&[
        (1, CREATE, &done(E + 3)),
        (1, watch, &data(E + 3, "one", E + 3, 0)),
        (2, SET, &done(E + 4)),
    ]);
    let event = |at, zxid: i64| {
        format!(
            r#"{{"event":{{"at":{at},"conn":1,"kind":"data-changed","path":"/a","zxid":"{zxid:#x}"}}}}"#
        )
    };
    let (call, reply) = op(1, 9, 60, 65, GET, &data(E + 4, "two", E + 4, 1));
    held(&checked(&format!("{begin}\n{}\n{call}\n{reply}", event(50, E + 4))));
    broken(
        &checked(&format!("{begin}\n{call}\n{reply}")),
        Promise::W4,
        "connection 1 watched /a and has seen 0x100000004, and never heard that it was \
         data-changed by 0x100000004",
    );
    broken(
        &checked(&format!("{begin}\n{call}\n{reply}\n{}", event(70, E + 4))),
        Promise::W3,
        "the event of 0x100000004 came after a reply that shows 0x100000004",
    );
    broken(
        &checked(&format!("{begin}\n{}\n{}\n{call}\n{reply}", event(50, E + 4), event(51, E + 4))),
        Promise::W2,
        "an event came for a watch that had fired already, or was not armed",
    );
    let other = event(50, E + 3).replace("/a", "/b");
    let report = checked(&format!("{begin}\n{other}"));
    assert!(report.broken().any(|promise| promise == Promise::W1), "{:#?}", report.findings);
}

#[test]
fn ephemerals_go_with_their_session() {
    let create = r#"{"create":{"path":"/e","mode":"ephemeral"}}"#;
    let exists = r#"{"exists":{"path":"/e"}}"#;
    let begin = [(1, create, done(E + 3)), (1, "\"close\"", done(E + 4))];
    let begin: Vec<(u64, &str, &str)> =
        begin.iter().map(|(conn, ask, rest)| (*conn, *ask, &**rest)).collect();
    let gone = r#""zxid":"0x100000004","err":-101"#;
    held(&checked(&in_turn(&[begin[0], begin[1], (2, exists, gone)])));
    let there = format!(r#""zxid":"0x100000004","ok":{{{}}}"#, stat(E + 3, 0)).replace(
        r#""ephemeralOwner":"0x0","dataLength":3"#,
        r#""ephemeralOwner":"0xa","dataLength":0"#,
    );
    let report = checked(&in_turn(&[begin[0], begin[1], (2, exists, &there)]));
    broken(&report, Promise::Ep2, "at 0x100000004, there is no /e");
    let early = r#""zxid":"0x100000003","err":-101"#;
    // Without a log the session may have ended: nobody can tell. It acts later: it has not.
    let again = r#"{"create":{"path":"/f"}}"#;
    let report = checked(&in_turn(&[begin[0], (2, exists, early), (1, again, &done(E + 4))]));
    broken(&report, Promise::Ep3, "at 0x100000003, /e is there");
}

#[test]
fn what_is_not_known_is_not_held_against_anybody() {
    let call = format!(r#"{{"call":{{"at":20,"conn":2,"xid":1,"ask":{SET}}}}}"#);
    let first = in_turn(&[(1, CREATE, &done(E + 3))]);
    let read = |zxid, value, mzxid, version| {
        let (call, reply) = op(1, 9, 60, 65, GET, &data(zxid, value, mzxid, version));
        format!("{call}\n{reply}")
    };
    // It took effect, or it did not.
    held(&checked(&format!("{first}{call}\n{}", read(E + 3, "one", E + 3, 0))));
    let report = checked(&format!("{first}{call}\n{}", read(E + 4, "two", E + 4, 1)));
    held(&report);
    assert_eq!((report.unknown, report.took_effect), (1, 1));
    // It cannot have written something else.
    let report = checked(&format!("{first}{call}\n{}", read(E + 4, "six", E + 4, 1)));
    assert_eq!(report.worst(), Verdict::Inconclusive, "{:#?}", report.findings);
    assert!(!report.findings[0].because.is_empty());
    // With the log there is nothing to guess.
    let log = r#"
{"txn":{"zxid":"0x100000001","session":"0xa","cxid":0,"change":{"create-session":{"timeout_ms":4000}}}}
{"txn":{"zxid":"0x100000002","session":"0xb","cxid":0,"change":{"create-session":{"timeout_ms":4000}}}}
{"txn":{"zxid":"0x100000003","session":"0xa","cxid":1,"change":{"create":{"path":"/a","data":"one"}}}}
{"txn":{"zxid":"0x100000004","session":"0xb","cxid":1,"change":{"set-data":{"path":"/a","data":"two","version":1}}}}
"#;
    held(&checked(&format!("{first}{call}\n{}{log}", read(E + 4, "two", E + 4, 1))));
    let report = checked(&format!("{first}{call}\n{}{log}", read(E + 4, "six", E + 4, 1)));
    broken(&report, Promise::At, "at 0x100000004, /a has \"two\", not \"six\"");
    let report = checked(&format!("{first}{call}\n{}{log}", read(E + 4, "one", E + 3, 0)));
    broken(
        &report,
        Promise::Rl2,
        "at 0x100000004, the mzxid of /a is 0x100000004, not 0x100000003",
    );
}

#[test]
fn session_events_make_sense() {
    let state = |state: &str| format!(r#"{{"state":{{"at":9,"client":1,"state":"{state}"}}}}"#);
    let good = ["connected", "disconnected", "connected", "disconnected", "expired"];
    held(&checked(&good.map(state).join("\n")));
    broken(
        &checked(&["connected", "connected"].map(state).join("\n")),
        Promise::W8,
        "client 1 was told Connected after Connected, at 9 us",
    );
    broken(
        &checked(&["expired", "connected"].map(state).join("\n")),
        Promise::W8,
        "client 1 was told Connected after Expired, at 9 us",
    );
}

#[test]
fn names_count_up() {
    let create = r#"{"create":{"path":"/n-","sequential":true}}"#;
    let named = |zxid: i64, name: &str| format!(r#""zxid":"{zxid:#x}","ok":{{"path":"{name}"}}"#);
    held(&checked(&in_turn(&[
        (1, create, &named(E + 3, "/n-0000000000")),
        (1, create, &named(E + 4, "/n-0000000001")),
    ])));
    broken(
        &checked(&in_turn(&[
            (1, create, &named(E + 3, "/n-0000000000")),
            (1, create, &named(E + 4, "/n-0000000002")),
        ])),
        Promise::Sequence,
        "at 0x100000004, the next name is /n-0000000001, not /n-0000000002",
    );
}

#[test]
fn staleness_has_a_bound_if_one_is_given() {
    let text = in_turn(&[
        (1, CREATE, &done(E + 3)),
        (1, SET, &done(E + 4)),
        (2, GET, &data(E + 3, "one", E + 3, 0)),
    ]);
    held(&checked(&text));
    let options = Options { stale: Some(3), ..Options::default() };
    let report = checked_with(&Header::new("by hand"), &text, &options);
    broken(
        &report,
        Promise::Tl,
        "a read shows 0x100000003 5 us after something newer was known, with a bound of 3 us",
    );
}

#[test]
fn what_was_there_before_is_learnt() {
    let header = Header { fresh: false, ..Header::new("by hand") };
    let text = in_turn(&[
        (1, GET, &data(E + 9, "one", E + 8, 4)),
        (2, SET, &done(E + 10)),
        (1, GET, &data(E + 10, "two", E + 10, 6)),
    ]);
    let report = checked_with(&header, &text, &Options::default());
    broken(&report, Promise::At, "at 0x10000000a, the version of /a is 5, not 6");
}

/// The log of two sessions, and what follows.
fn log(rest: &[&str]) -> String {
    let open = |zxid: i64, session: &str| {
        format!(
            r#"{{"txn":{{"zxid":"{zxid:#x}","session":"{session}","cxid":0,"change":{{"create-session":{{"timeout_ms":4000}}}}}}}}"#
        )
    };
    let mut text = format!("\n{}\n{}\n", open(E + 1, "0xa"), open(E + 2, "0xb"));
    rest.iter().for_each(|line| text += &format!("{line}\n"));
    text
}

#[track_caller]
fn broken_among_others(report: &Report, promise: Promise, what: &str) {
    let found = report.findings.iter().find(|finding| finding.promise == promise);
    assert_eq!(found.map(|finding| &*finding.what), Some(what), "{:#?}", report.findings);
    assert_eq!(report.verdict(promise), Verdict::Broken);
}

#[test]
fn a_lost_connection_loses_a_suffix() {
    let call = |xid, path: &str| {
        format!(
            r#"{{"call":{{"at":20,"conn":2,"xid":{xid},"ask":{{"create":{{"path":"{path}"}}}}}}}}"#
        )
    };
    let text =
        format!("{}\n{}\n{{\"lost\":{{\"at\":30,\"conn\":2}}}}", call(1, "/x"), call(2, "/y"));
    let txn = |xid, path: &str| {
        format!(
            r#"{{"txn":{{"zxid":"0x100000003","session":"0xb","cxid":{xid},"change":{{"create":{{"path":"{path}"}}}}}}}}"#
        )
    };
    held(&checked(&format!("{text}{}", log(&[&txn(1, "/x")]))));
    broken(
        &checked(&format!("{text}{}", log(&[&txn(2, "/y")]))),
        Promise::Pfx,
        "an update took its place at 0x100000003, and an earlier one of its connection took none",
    );
}

#[test]
fn ephemerals_have_no_children() {
    let report = checked(&in_turn(&[
        (1, r#"{"create":{"path":"/e","mode":"ephemeral"}}"#, &done(E + 3)),
        (1, r#"{"create":{"path":"/e/x"}}"#, &done(E + 4)),
    ]));
    broken(&report, Promise::Ep1, "at 0x100000004, /e is an ephemeral and can have no children");
}

#[test]
fn sessions_end_once_and_where_nothing_else_is() {
    let back = r#"
{"lost":{"at":20,"conn":1}}
{"connect":{"at":30,"conn":3,"client":1}}
{"hello":{"at":30,"conn":3,"session":"0xa"}}
{"expired":{"at":40,"conn":3}}
{"connect":{"at":50,"conn":4,"client":1}}
{"hello":{"at":50,"conn":4,"session":"0xa"}}
{"open":{"at":60,"conn":4,"session":"0xa","timeout_ms":4000}}
"#;
    broken(
        &checked(back),
        Promise::Se2,
        "session 0xa was said to be over at 40 us, and opened on connection 4 at 60 us",
    );
    let close =
        r#"{"txn":{"zxid":"0x100000003","session":"0xb","cxid":0,"change":{"close-session":{}}}}"#;
    let text = format!("{}{}", in_turn(&[(1, CREATE, &done(E + 3))]), log(&[close]));
    broken_among_others(
        &checked(&text),
        Promise::Se4,
        "an update has position 0x100000003, where something else is",
    );
    let header = Header { tick_ms: Some(100), ..Header::new("by hand") };
    let report = checked_with(&header, "", &Options::default());
    broken(
        &report,
        Promise::Se3,
        "session 0xa has a timeout of 4000 ms, not of 2 to 20 ticks of 100 ms",
    );
}

#[test]
fn events_and_replies_come_in_one_order() {
    let watch = r#"{"get-data":{"path":"/a","watch":true}}"#;
    let text = in_turn(&[
        (1, CREATE, &done(E + 3)),
        (1, watch, &data(E + 3, "one", E + 3, 0)),
        (2, SET, &done(E + 4)),
        (2, r#"{"create":{"path":"/b"}}"#, &done(E + 5)),
        (1, r#"{"exists":{"path":"/c"}}"#, r#""zxid":"0x100000005","err":-101"#),
    ]);
    let event =
        r#"{"event":{"at":90,"conn":1,"kind":"data-changed","path":"/a","zxid":"0x100000004"}}"#;
    broken(
        &checked(&format!("{text}{event}")),
        Promise::W6,
        "the event of 0x100000004 came after a reply that shows 0x100000005",
    );
}

#[test]
fn equal_zxids_are_equal_trees() {
    let digest = |server, digest| {
        format!(r#"{{"digest":{{"server":"{server}","zxid":"0x100000002","digest":"{digest}"}}}}"#)
    };
    held(&checked(&[digest(1, "0x7"), digest(2, "0x7")].join("\n")));
    broken(
        &checked(&[digest(1, "0x7"), digest(2, "0x8")].join("\n")),
        Promise::Digest,
        "at 0x100000002 server 1 has digest 0x7, and server 2 has 0x8",
    );
}
