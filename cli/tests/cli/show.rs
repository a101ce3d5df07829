//! `zoolab show`: a page that needs nothing else, lines for the terminal, and one line about what
//! is wrong.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;

use crate::program::{Folder, after, only_line};
use crate::run::folder;

fn recorded(name: &str) -> Folder {
    let folder = folder(name);
    folder.held("run --seed 1 --scenario quick.toml --record a.jsonl");
    folder
}

#[test]
fn a_page_is_whole_and_needs_nothing_else() {
    let folder = recorded("show-page");
    let steps = String::from_utf8(folder.read("a.jsonl")).unwrap().lines().count() - 2;
    let said = folder.held("show a.jsonl -o a.html");
    let page = String::from_utf8(folder.read("a.html")).unwrap();
    assert!(after(&said, "a.html: ").starts_with(&format!("{steps} steps, ")), "{said}");
    assert!(said.contains(&format!(", {} bytes", page.len())), "{said}");
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    for outside in ["http:", "https:", "src=", "@import", "url(", "fetch(", "<link"] {
        assert!(!page.contains(outside), "{outside}");
    }
    // What was there before is replaced, and nothing is left beside it.
    folder.write("a.html", "old");
    folder.held("show a.jsonl -o a.html");
    assert_eq!(folder.read("a.html"), page.as_bytes(), "the same trace, the same bytes");
    let beside = fs::read_dir(folder.path()).unwrap();
    let part = |name: &String| name.contains(".part");
    let names: Vec<String> =
        beside.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(!names.iter().any(part), "{names:?}");
}

#[test]
fn lines_are_drawn_for_the_terminal() {
    let folder = recorded("show-text");
    let all = folder.held("show a.jsonl --text");
    assert!(all.contains("\nheld: every promise, in every step\n"), "{all}");
    assert!(all.contains(" earlier lines left out; --steps shows others\n"), "{all}");
    let some = folder.held("show a.jsonl --text --steps 1..60");
    assert!(some.contains("1 starts with 0:0, accepted epoch 0, current 0"), "{some}");
    assert!(some.contains('△') && some.contains('▶'), "{some}");
    let one = folder.held("show a.jsonl --text --steps 2..2");
    assert_eq!(one.lines().count(), 4, "{one}");
}

#[test]
fn what_cannot_be_drawn_says_why_in_one_line() {
    let folder = recorded("show-refused");
    folder.write("garbage.jsonl", "hello\n");
    fs::create_dir(folder.path().join("dir")).unwrap();
    for (arguments, expected) in [
        ("", "the following required arguments were not provided: --output <FILE> <TRACE>"),
        (" a.jsonl", "the following required arguments were not provided: --output <FILE>"),
        (" none.jsonl -o a.html", "none.jsonl: No such file or directory"),
        (" garbage.jsonl -o a.html", "garbage.jsonl:1: expected the header of a trace"),
        (" a.jsonl -o a.jsonl/a.html", "a.jsonl/a.html: "),
        (" a.jsonl -o dir", "dir: Is a directory"),
        (
            " a.jsonl -o a.html --steps 1..2",
            "the following required arguments were not provided: --text",
        ),
        (
            " a.jsonl --text --steps 5",
            "invalid value '5' for '--steps <FROM..TO>': expected two steps, as in 100..200",
        ),
        (
            " a.jsonl --text --steps 9..5",
            "invalid value '9..5' for '--steps <FROM..TO>': expected the first step not to be",
        ),
        (" a.jsonl --text --steps 9999999..", "--steps: expected steps from 1 to "),
    ] {
        let said = folder.complaint(&format!("show{arguments}"));
        assert!(said.starts_with(expected), "{arguments}: {said}");
    }
    assert!(!folder.path().join("a.html").exists());
}

#[test]
fn a_full_disk_is_told_and_leaves_nothing() {
    let folder = recorded("show-full");
    let output = folder.command("show a.jsonl -o /dev/full").output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.status.signal()), (Some(2), None), "{stderr}");
    assert!(only_line(&stderr).starts_with("/dev/full: No space left on device"), "{stderr}");
}
