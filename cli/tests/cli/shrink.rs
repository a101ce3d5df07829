//! `zoolab shrink`: what it makes of a trace, and what it refuses.

use crate::program::after;
use crate::run::folder;

#[test]
fn a_short_trace_is_a_trace_and_lies_beside_the_long_one() {
    let folder = folder("shrink");
    folder.failed("run --seed 5 --scenario hopeless.toml --record long.jsonl.zst");
    let said = folder.held("shrink long.jsonl.zst");
    assert!(said.starts_with("stuck: client # gets nothing done\n"), "{said}");
    assert_eq!(after(&said, "trace: zoolab "), "replay long.short.jsonl");
    let replayed = folder.failed("replay long.short.jsonl");
    assert!(replayed.ends_with("\nas recorded\n"), "{replayed}");
    let again = folder.held("shrink long.jsonl.zst -o b/other.jsonl.zst");
    assert_eq!(after(&again, "trace: zoolab "), "replay b/other.jsonl.zst");
    assert!(folder.failed("replay b/other.jsonl.zst").contains(after(&replayed, "steps ")));
}

#[test]
fn what_cannot_be_shrunk_says_why_in_one_line() {
    let folder = folder("shrink-refused");
    folder.held("run --seed 1 --scenario quick.toml --record held.jsonl");
    folder.failed("run --seed 5 --scenario hopeless.toml --record a.jsonl");
    let text = String::from_utf8(folder.read("a.jsonl")).unwrap();
    folder.write("old.jsonl", text.replacen("\"zoolab-trace\":1", "\"zoolab-trace\":9", 1));
    folder.write("odd.jsonl", text.replace("restart 1", "crash 1 luck=0").replace("stuck", "held"));
    folder.write(
        "bug.jsonl",
        text.replacen("\"skew-ms\"", "\"bugs\":[\"ZOOKEEPER-1\"],\"skew-ms\"", 1),
    );
    for (arguments, expected) in [
        ("", "the following required arguments were not provided: <TRACE>"),
        (" none.jsonl", "none.jsonl: No such file or directory"),
        (" held.jsonl", "held.jsonl: every promise holds: expected a trace that fails"),
        (" old.jsonl", "old.jsonl:1: expected format 1 of traces, found 9"),
        (" odd.jsonl", "odd.jsonl:2: step 1: crash 1 luck=0; server 1 is down"),
        (" bug.jsonl", "bug.jsonl:1: expected the header of a trace: \"ZOOKEEPER-1\": no such bug"),
        (" a.jsonl -o a.jsonl", "--out a.jsonl: expected another file than a.jsonl"),
        (" a.jsonl -o a.jsonl/b", "a.jsonl/b: "),
        (" a.jsonl -o /dev/full", "/dev/full: No space left on device"),
        (" a.jsonl --runs 0", "invalid value '0' for '--runs <N>'"),
        (" a.jsonl --time soon", "invalid value 'soon' for '--time <S>'"),
    ] {
        let said = folder.complaint(&format!("shrink{arguments}"));
        assert!(said.starts_with(expected), "{arguments}: {said}");
    }
}
