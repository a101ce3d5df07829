//! `zoolab check`: what holds, what is broken, and what cannot be read.

use crate::program::Folder;

const HISTORY: &str = r#"{"zoolab-history":1,"source":"a test","fresh":true}
{"connect":{"at":1,"conn":1}}
{"hello":{"at":1,"conn":1}}
{"open":{"at":2,"conn":1,"session":"0xa","timeout_ms":4000}}
{"call":{"at":10,"conn":1,"xid":1,"ask":{"create":{"path":"/a","data":"one"}}}}
{"reply":{"at":20,"conn":1,"xid":1,"zxid":"0x100000002","ok":{}}}
{"call":{"at":30,"conn":1,"xid":2,"ask":{"get-data":{"path":"/a"}}}}
{"reply":{"at":40,"conn":1,"xid":2,"zxid":"0x100000002","ok":{"data":"one"}}}
{"end":{"records":7}}
"#;

#[test]
fn a_good_history_holds() {
    let folder = Folder::new("check-held");
    folder.write("good.jsonl", HISTORY);
    let said = folder.held("check good.jsonl");
    assert!(said.starts_with("2 operations (1 updates, 0 of unknown outcome), 0 events"), "{said}");
    assert!(said.contains("held: every promise that was put to the test"), "{said}");
    folder.write("short.jsonl", HISTORY.split_inclusive('\n').take(6).collect::<String>());
    let said = folder.held("check short.jsonl");
    assert!(said.contains("short.jsonl was cut off"), "{said}");
}

#[test]
fn a_broken_promise_is_told_with_its_values() {
    let folder = Folder::new("check-broken");
    folder.write("bad.jsonl", HISTORY.replace(r#"{"data":"one"}}}"#, r#"{"data":"two"}}}"#));
    let said = folder.failed("check bad.jsonl");
    assert!(
        said.contains(
            "BROKEN AT (reads show one whole state): at 0x100000002, /a has \"one\", not \"two\"\n  \
             session 0xa, conn 1, xid 1: create /a = \"one\" -> /a at zxid 0x100000002, from 10 to \
             20 us\n"
        ),
        "{said}"
    );
    let json = folder.failed("check bad.jsonl --json");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["verdict"], "broken");
    assert_eq!(json["findings"][0]["promise"], "AT");
}

#[test]
fn what_cannot_be_read_is_told_by_its_place() {
    let folder = Folder::new("check-unreadable");
    folder.write("bad.jsonl", HISTORY.replace("\"xid\":2,\"zxid\"", "\"xid\":3,\"zxid\""));
    assert_eq!(
        folder.complaint("check bad.jsonl"),
        "bad.jsonl:8: expected the answer to a request of connection 1, and none of number 3 waits"
    );
    folder.write("bad.jsonl", "dance\n");
    assert_eq!(
        folder.complaint("check bad.jsonl"),
        "bad.jsonl:1:1: expected a header: expected value"
    );
}
