//! `zoolab replay`: performs to the letter, shows what it is told to, and says where a trace is
//! wrong.

use crate::program::{Folder, after};
use crate::run::folder;

/// A folder with a recorded run, its lines, and what was said of it.
fn recorded(name: &str) -> (Folder, Vec<String>, String) {
    let folder = folder(name);
    let said = folder.held("run --seed 1 --scenario quick.toml --record a.jsonl");
    let text = String::from_utf8(folder.read("a.jsonl")).unwrap();
    (folder, text.lines().map(String::from).collect(), said)
}

#[test]
fn what_is_recorded_happens_again() {
    let (folder, lines, said) = recorded("as-recorded");
    assert!(said.ends_with("\nrecorded in a.jsonl\n"), "{said}");
    let again = folder.held("replay a.jsonl");
    assert_eq!(after(&again, "seed 1: "), after(&said, "seed 1: "));
    assert_eq!(after(&again, "steps "), after(&said, "steps "));
    assert!(after(&again, "servers  ").starts_with("1 "), "{again}");
    assert!(again.ends_with("\nas recorded\n"), "{again}");

    folder.held("run --seed 1 --scenario quick.toml --record b.jsonl.zst");
    assert!(folder.read("b.jsonl.zst").len() * 3 < folder.read("a.jsonl").len());
    assert_eq!(folder.held("replay b.jsonl.zst"), again);
    let steps = lines.len() - 2;
    assert_eq!(folder.held(&format!("replay a.jsonl --until {steps}")), again);
    assert_eq!(folder.held("replay a.jsonl --until 99999999"), again);
}

#[test]
fn it_stops_and_looks_where_it_is_told_to() {
    let (folder, lines, _) = recorded("look");
    let looked = folder.held("replay a.jsonl --until 10 --every 5 --state 2");
    let shown: Vec<&str> = looked.lines().filter(|line| line.contains(" us  ")).collect();
    assert_eq!(shown.len(), 2, "{looked}");
    for (place, line) in [5, 10].into_iter().zip(shown) {
        let step: serde_json::Value = serde_json::from_str(&lines[place]).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words[..2], [place.to_string(), step["at"].to_string()]);
        assert!(line.contains(step["step"].as_str().unwrap()), "{line}");
        assert!(line.contains("1 looking 0:0 | 2 looking 0:0 | 3 looking 0:0"), "{line}");
    }
    assert!(looked.contains("\nHost {\n"), "{looked}");
    let steps = lines.len() - 2;
    assert!(looked.ends_with(&format!("\nstopped after 10 of {steps} steps\n")), "{looked}");
}

#[test]
fn a_trace_that_does_not_fit_says_where_and_what_could_be() {
    let (folder, mut lines, _) = recorded("does-not-fit");
    let disk = lines.iter().position(|line| line.contains("\"step\":\"disk ")).unwrap();
    lines[disk] =
        lines[disk].replace("\"disk 1 @", "\"disk 9 @").replace("\"disk 2 @", "\"disk 9 @");
    let (time, _) = lines[disk].split_once("disk ").unwrap();
    lines[disk] = format!("{time}disk 9 @1\"}}");
    folder.write("b.jsonl", lines.join("\n"));
    let said = folder.failed("replay b.jsonl");
    let place = format!("b.jsonl:{}: step {disk} wanted: disk 9 @1; ", disk + 1);
    assert_eq!(after(&said, &place), "there is no server 9");
    assert!(said.contains("\npossible then, beside timers, clients and faults ("), "{said}");
}

#[test]
fn another_end_than_the_recorded_one_is_told() {
    let (folder, mut lines, said) = recorded("another-end");
    let (_, hash) = after(&said, "steps ").split_once("hash ").unwrap();
    let last = lines.pop().unwrap();
    folder.write("cut-off.jsonl", lines.join("\n"));
    let replayed = folder.held("replay cut-off.jsonl");
    assert!(replayed.contains("the trace has no end to compare with"), "{replayed}");

    let other = |name: &str, last: String| {
        folder.write(name, [&lines[..], &[last]].concat().join("\n"));
        folder.failed(&format!("replay {name}"))
    };
    let replayed = other("hash.jsonl", last.replace(hash, "0123456789abcdef"));
    assert_eq!(after(&replayed, "DIFFERS: "), "the recorded hash is 0123456789abcdef");
    let replayed = other("end.jsonl", last.replace("\"held\"", "\"violated\""));
    assert_eq!(after(&replayed, "DIFFERS: "), "the recorded end is Violated, now it is Held");
}

#[test]
fn a_trace_that_cannot_be_read_is_told_where() {
    let (folder, lines, _) = recorded("bad-traces");
    let with = |place: usize, line: &[u8]| {
        let mut lines: Vec<&[u8]> = lines.iter().map(String::as_bytes).collect();
        lines[place - 1] = line;
        lines.join(&b'\n')
    };
    let older = lines[0].replace("\"zoolab-trace\":1", "\"zoolab-trace\":7");
    let heavy = lines[0].replace("[[[1,1],", "[[[1,9999999999],");
    let half = lines[..49].join("\n") + "\n" + &lines[49][..9];
    for (content, expected) in [
        (Vec::new(), ":1: expected a header, found nothing"),
        (with(1, b"hello"), ":1: expected the header of a trace: expected value (column 1)"),
        (with(1, b"{}"), ":1: expected the header of a trace, with \"zoolab-trace\""),
        (with(1, older.as_bytes()), ":1: expected format 1 of traces, found 7"),
        (with(1, heavy.as_bytes()), ":1: voters, weight: 9999999999 where 0 to "),
        (with(40, b"garbage"), ":40: expected a step: expected value (column 1)"),
        (with(40, b""), ":40: expected a step: EOF while parsing a value"),
        (with(40, b"\xFF\xFE"), ":40: expected text"),
        (with(40, b"{\"at\":0,\"step\":\"restart 1\"}"), ":40: expected a time from "),
        (with(2, b"{\"at\":0,\"step\":\"explode 1\"}"), ":2: found \"explode\", expected a step"),
        (half.into_bytes(), ":50: expected a step: EOF while parsing"),
    ] {
        folder.write("bad.jsonl", content);
        let said = folder.complaint("replay bad.jsonl");
        assert!(said.starts_with(&format!("bad.jsonl{expected}")), "{expected}: {said}");
    }
}

#[test]
fn what_is_compressed_is_whole_or_refused() {
    let folder = folder("bad-zst");
    folder.held("run --seed 1 --scenario quick.toml --record a.jsonl.zst");
    let good = folder.read("a.jsonl.zst");
    for end in [4, 100, good.len() / 2, good.len() - 1] {
        folder.write("b.jsonl.zst", &good[..end]);
        let said = folder.complaint("replay b.jsonl.zst");
        assert_eq!(said, "b.jsonl.zst: cannot be decompressed: incomplete frame", "{end}");
    }
    folder.write("b.jsonl.zst", [&good[..], b"more"].concat());
    let said = folder.complaint("replay b.jsonl.zst");
    assert!(said.starts_with("b.jsonl.zst: cannot be decompressed: "), "{said}");
}

#[test]
fn what_cannot_be_replayed_says_why_in_one_line() {
    let (folder, _, _) = recorded("replay-refused");
    for (arguments, expected) in [
        ("", "the following required arguments were not provided: <FILE>"),
        (" none.jsonl", "none.jsonl: No such file or directory"),
        (" .", ".: Is a directory"),
        (" a.jsonl --state 9", "--state 9: expected one of 1, 2, 3"),
        (" a.jsonl --state 999", "invalid value '999' for '--state <SERVER>'"),
        (" a.jsonl --until 0", "--until 0: expected a number of steps from 1 on"),
        (" a.jsonl --every 0", "invalid value '0' for '--every <N>'"),
    ] {
        let said = folder.complaint(&format!("replay{arguments}"));
        assert!(said.starts_with(expected), "{arguments}: {said}");
    }
}
