//! `zoolab replay --step`: forward and back, by what is said on standard input.

use std::io::Write as _;
use std::process::Stdio;

use crate::program::Folder;
use crate::run::folder;

fn recorded(name: &str) -> Folder {
    let folder = folder(name);
    folder.held("run --seed 1 --scenario quick.toml --record a.jsonl");
    folder
}

/// What it prints when it is told these lines, and its exit code.
fn told(folder: &Folder, file: &str, lines: &[&str]) -> (String, i32) {
    let mut child = folder
        .command(&format!("replay {file} --step"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let said = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    child.stdin.take().unwrap().write_all(said.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    (String::from_utf8(output.stdout).unwrap(), output.status.code().unwrap())
}

/// The steps it was at, one after the other.
fn places(said: &str) -> Vec<usize> {
    let number = |line: &str| line.strip_prefix("step ")?.split([' ', ':']).next()?.parse().ok();
    said.lines().filter_map(number).collect()
}

#[test]
fn forward_and_back_is_where_one_was() {
    let folder = recorded("step-places");
    let (said, code) = told(&folder, "a.jsonl", &["", "n 9", "b 4", "300", "b", "g 0", "b", "q"]);
    assert_eq!((places(&said), code), (vec![1, 10, 6, 300, 299, 0, 0], 0), "{said}");
    assert!(said.contains("\nthis is the beginning\n"), "{said}");

    // Whoever has been further on sees the same as one who has not.
    let (again, _) = told(&folder, "a.jsonl", &["299"]);
    let at = |said: &str| said[said.find("\nstep 299 ").unwrap()..].to_owned();
    let other = at(&said);
    assert!(other.starts_with(at(&again).trim_end()), "{other} is not {again}");
}

#[test]
fn each_step_says_what_it_changes() {
    let folder = recorded("step-changes");
    let (said, _) = told(&folder, "a.jsonl", &["1", "s", "s 1", "s c0", "/leads epoch 1"]);
    assert!(said.contains("\nstep 1  0 us  restart 1\n"), "{said}");
    assert!(said.contains("\n    server 1 looks for a leader, has 0:0 of epoch 0\n"), "{said}");
    assert!(said.contains("\n  server 1 role down -> looking, epoch – -> 0"), "{said}");
    assert!(said.contains("\n1 looking 0:0 | 2 down | 3 down\n"), "{said}");
    assert!(said.contains("\n  role            looking\n"), "{said}");
    assert!(said.contains("\n  role            without session\n"), "{said}");
    assert!(said.contains(" leads epoch 1\n"), "{said}");
    assert!(said.contains(" role establishing -> leading"), "{said}");
}

#[test]
fn the_end_says_how_it_ended() {
    let folder = recorded("step-end");
    let steps = String::from_utf8(folder.read("a.jsonl")).unwrap().lines().count() - 2;
    let (said, code) = told(&folder, "a.jsonl", &["p", "n", "/no such thing", "f", "1", "f"]);
    assert_eq!(code, 0);
    assert_eq!(places(&said)[..2], [steps, steps], "{said}");
    assert_eq!(said.matches("\nthe end: every promise held, in every step").count(), 2, "{said}");
    assert!(said.contains("\nthis is the end\n"), "{said}");
    assert!(said.contains("\n\"no such thing\": there is none from here on\n"), "{said}");
    assert!(said.contains("\na fault: there is none from here on\n"), "{said}");
    let last = said.lines().rfind(|line| line.starts_with("step ")).unwrap();
    assert!(["crash ", "cut "].iter().any(|fault| last.contains(fault)), "{last}");

    folder.failed("run --seed 1 --scenario hopeless.toml --record stuck.jsonl");
    let (said, code) = told(&folder, "stuck.jsonl", &["p"]);
    assert_eq!(code, 1);
    assert!(said.contains("\nthe end: it did not get well again: "), "{said}");
    // Who has not seen that it failed does not know.
    assert_eq!(told(&folder, "stuck.jsonl", &["5"]).1, 0);
}

#[test]
fn what_is_not_understood_is_said_and_changes_nothing() {
    let folder = recorded("step-not-understood");
    let lines = ["3", "dance", "g", "n many", "s 9", "all c0", "/", "?", "d"];
    let (said, code) = told(&folder, "a.jsonl", &lines);
    assert_eq!((places(&said), code), (vec![3, 3], 0), "{said}");
    for line in ["dance", "g", "n many", "/"] {
        let expected = format!("\n{line:?}: not understood; ? says what you can say\n");
        assert!(said.contains(&expected), "{line}: {said}");
    }
    assert!(said.contains("\ns 9: expected somebody, 1, 2, 3, c0, c1\n"), "{said}");
    assert!(said.contains("\nall c0: expected a server, 1, 2, 3, c0, c1\n"), "{said}");
    assert!(said.contains("\nEnter, n, n 10    a step on, ten steps on\n"), "{said}");
    let refused = folder.complaint("replay a.jsonl --step --until 3");
    assert!(refused.starts_with("the argument '--step' cannot be used with"), "{refused}");
}
