//! `zoolab bugs` and `--bug`: bugs are named, and only there where they were asked for.

use zoolab_core::{Bug, Bugs};

use crate::program::{complaint, run};

fn says(arguments: &[&str]) -> (Option<i32>, String) {
    let output = run(arguments);
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn every_bug_is_listed_and_whether_they_are_built_in() {
    let (code, list) = says(&["bugs", "list"]);
    assert_eq!(code, Some(0));
    for bug in Bug::ALL {
        let line = list.lines().find(|line| line.starts_with(bug.name())).expect(&list);
        assert!(line.contains(bug.title()), "{line}");
    }
    assert_eq!(list.contains("none of them is built in"), !Bugs::BUILT_IN, "{list}");
}

#[test]
fn a_bug_is_found_or_not_built_in() {
    for verb in [&["run", "--seed", "0"][..], &["fuzz", "--seeds", "0..9", "--jobs", "1"]] {
        let traces = concat!(env!("CARGO_TARGET_TMPDIR"), "/bugs");
        let to: &[&str] = if verb[0] == "fuzz" { &["--traces", traces] } else { &[] };
        let arguments = [verb, to, &["--bug", "zookeeper-4394"]].concat();
        if Bugs::BUILT_IN {
            let (code, out) = says(&arguments);
            assert_eq!(code, Some(1), "{out}");
            assert!(out.contains("broken promise commit-matches: server "), "{out}");
            let again = "again: zoolab run --seed 0 --bug ZOOKEEPER-4394\n";
            assert!(out.contains(again), "{out}");
        } else {
            assert_eq!(
                complaint(&arguments),
                "ZOOKEEPER-4394 is asked for, but no bugs are built in: \
                 cargo build --release --features bugs"
            );
        }
    }
    let unknown = complaint(&["run", "--seed", "0", "--bug", "ZOOKEEPER-1"]);
    assert!(unknown.contains("no such bug; there are ZOOKEEPER-335, "), "{unknown}");
}

#[test]
fn a_hunt_says_by_what_and_how_soon_a_bug_is_found() {
    let arguments = ["bugs", "hunt", "zookeeper-4394", "--budget", "3", "--jobs", "1"];
    if !Bugs::BUILT_IN {
        let said = complaint(&arguments);
        assert!(said.ends_with("no bugs are built in: cargo build --release --features bugs"));
        return;
    }
    let (code, table) = says(&arguments);
    assert_eq!(code, Some(0), "{table}");
    let row = table.lines().find(|line| line.starts_with("ZOOKEEPER-4394 ")).expect(&table);
    let words: Vec<&str> = row.split_whitespace().collect();
    assert_eq!((words[1], words[2], words[5]), ("commit-matches", "1", "holds"), "{table}");
    // One that takes longer than that is not found, and that is a failure.
    let (code, table) = says(&["bugs", "hunt", "ACK-SURVIVES-TRUNC", "--budget", "1"]);
    assert_eq!(code, Some(1), "{table}");
    assert!(table.contains("not found"), "{table}");
}
