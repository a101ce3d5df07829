//! `zoolab fuzz`: that nothing depends on the number of jobs, what it finds, what it refuses.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::program::{after, only_line};
use crate::run::folder;

/// All it prints but how long it took.
fn timeless(text: &str) -> String {
    let (count, rest) = text.split_once(" in ").expect(text);
    let (_, rest) = rest.split_once('\n').expect(text);
    format!("{count}\n{rest}")
}

#[test]
fn two_jobs_see_what_one_sees() {
    let folder = folder("jobs");
    let line = "fuzz --seeds 0..24 --scenario quick.toml";
    let one = timeless(&folder.held(&format!("{line} --jobs 1")));
    assert!(one.starts_with("24 seeds, "), "{one}");
    assert!(one.ends_with("\nheld: every promise, in every step of every seed\n"), "{one}");
    assert_eq!(timeless(&folder.held(&format!("{line} --jobs 2"))), one);

    let checked = timeless(&folder.held(&format!("{line} --jobs 2 --check-determinism")));
    assert_eq!(checked, one.replace("every seed\n", "every seed, and again\n"));
}

#[test]
fn seeds_are_drawn_unless_a_scenario_is_given() {
    let folder = folder("drawn-seeds");
    let all = folder.held("fuzz --seeds 5..7 --jobs 1");
    let steps = |seed: u64| -> u64 {
        let one = folder.held(&format!("run --seed {seed}"));
        after(&one, "steps ").split(',').next().unwrap().parse().unwrap()
    };
    let sum = (steps(5) + steps(6)) as f64 / 1000.0;
    assert!(all.starts_with(&format!("2 seeds, {sum:.1} k steps in ")), "{sum}: {all}");
}

#[test]
fn the_smallest_seed_that_fails_is_told_whatever_the_jobs() {
    let folder = folder("smallest");
    for jobs in [1, 2] {
        let line = "fuzz --seeds 5..50 --scenario hopeless.toml --until-failure";
        let found = folder.failed(&format!("{line} --jobs {jobs}"));
        let what = after(&found, "FAILED: seed 5: ");
        assert!(what.starts_with("it did not get well again: "), "{what}");
        let again = folder.failed(after(&found, "again: zoolab "));
        assert_eq!(after(&again, "FAILED: "), what);
        for kept in ["trace: zoolab ", "short: zoolab "] {
            let replayed = folder.failed(after(&found, kept));
            assert_eq!(after(&replayed, "FAILED: "), what);
            assert!(replayed.ends_with("\nas recorded\n"), "{replayed}");
        }
    }
    let line = "fuzz --seeds 5..6 --scenario hopeless.toml --traces kept/here --shrink 0";
    let elsewhere = folder.failed(line);
    assert_eq!(after(&elsewhere, "trace: zoolab "), "replay kept/here/seed-5.jsonl");
    assert!(!elsewhere.contains("short: "), "{elsewhere}");
}

#[test]
fn what_is_the_same_is_one_group_and_each_failure_has_its_line() {
    let folder = folder("groups");
    let found = folder.failed("fuzz --seeds 5..9 --scenario hopeless.toml --jobs 2");
    for seed in 5..9 {
        let line = format!("zoolab run --seed {seed} --scenario hopeless.toml  # it did not");
        assert!(found.contains(&line), "{line}: {found}");
    }
    assert_eq!(found.matches("FAILED: ").count(), 1, "{found}");
    assert_eq!(after(&found, "the same in 3 more: "), "6, 7, 8");
}

#[test]
fn shards_in_any_order_are_the_whole() {
    let folder = folder("shards");
    let line = "fuzz --seeds 0..14 --scenario hopeless.toml --shrink 100";
    folder.failed(&format!("{line} --out whole"));
    for part in 1..=3 {
        folder.failed(&format!("{line} --out part-{part} --shard {part}/3 --jobs {part}"));
    }
    let text = folder.failed("fuzz merge part-1 part-2 part-3 --out one");
    assert!(text.starts_with("zoolab fuzz: seeds 0..14, scenario hopeless.toml\n"), "{text}");
    assert!(text.contains("\n14 of 14 run; "), "{text}");
    assert_eq!(folder.failed("fuzz merge part-3 part-1 part-2 part-3 --out two"), text);
    let names = ["report.txt", "report.json", "junit.xml", "traces/seed-0.jsonl"];
    for name in names.into_iter().chain(["traces/seed-0.short.jsonl"]) {
        let whole = folder.read(&format!("whole/{name}"));
        assert!(!whole.is_empty());
        assert_eq!(folder.read(&format!("one/{name}")), whole, "{name}");
        assert_eq!(folder.read(&format!("two/{name}")), whole, "{name}");
    }
    let xml = String::from_utf8(folder.read("one/junit.xml")).unwrap();
    assert!(xml.contains("<testsuites name=\"zoolab fuzz\" tests=\"2\" failures=\"1\">"), "{xml}");

    let said = folder.complaint("fuzz merge part-1 part-3");
    assert_eq!(said, "of 3 parts these are missing: 2; --partial goes without");
    let some = folder.failed("fuzz merge part-1 part-3 --partial");
    assert!(some.contains("\n9 of 9 run"), "{some}");
    folder.failed("fuzz --seeds 0..9 --scenario hopeless.toml --out other --shrink 0");
    let said = folder.complaint("fuzz merge part-1 other");
    assert!(
        said.starts_with("other/results-1-of-1.json: of another campaign: seeds 0..9"),
        "{said}"
    );
    let said = folder.complaint("fuzz merge part-1 whole");
    assert!(
        said.ends_with("expected one of 3 parts, as in part-1/results-1-of-3.json, found 1"),
        "{said}"
    );
    assert!(folder.complaint("fuzz merge nowhere").starts_with("nowhere: No such file"), "");
    let said = folder.complaint("fuzz merge whole/traces");
    assert!(said.starts_with("whole/traces: expected results of zoolab fuzz --out"), "{said}");
}

#[test]
fn what_was_interrupted_goes_on_and_comes_to_the_same() {
    let folder = folder("resumed");
    let line = "fuzz --seeds 0..60 --scenario hopeless.toml --shrink 20 --jobs 2";
    folder.failed(&format!("{line} --out whole"));
    let mut child =
        folder.command(&format!("{line} --out cut")).stdout(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert!(first.starts_with("zoolab run --seed 0 "), "{first}");
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    child.wait().unwrap();
    let said = folder.failed(&format!("{line} --out cut"));
    assert!(said.starts_with("zoolab run --seed ") || said.contains("gone on after "), "{said}");
    for name in ["report.txt", "report.json", "junit.xml", "results-1-of-1.json"] {
        let [whole, cut] = ["whole", "cut"]
            .map(|dir| String::from_utf8(folder.read(&format!("{dir}/{name}"))).unwrap());
        assert_eq!(cut, whole, "{name}");
    }
    let said = folder.complaint(&format!("{line} --out cut --bug ZOOKEEPER-1"));
    assert!(said.contains("no such bug"), "{said}");
    let said = folder.complaint("fuzz --seeds 0..61 --scenario hopeless.toml --out cut");
    let expected = "cut/results-1-of-1.json: of another campaign: seeds 0..60, scenario \
                    hopeless.toml; expected seeds 0..61, scenario hopeless.toml";
    assert_eq!(said, expected);
}

#[test]
fn it_ends_when_nothing_new_is_reached_whatever_the_jobs() {
    let folder = folder("flat");
    let line = "fuzz --scenario quick.toml --until-flat 10";
    let one = timeless(&folder.held(&format!("{line} --jobs 1")));
    assert!(one.ends_with(" seeds, and the last ones reached nothing new\n"), "{one}");
    assert_eq!(timeless(&folder.held(&format!("{line} --jobs 2"))), one);
}

#[test]
fn what_failed_before_comes_first() {
    let folder = folder("first");
    folder.write("seeds.txt", "# what\n7\n\n1_000 # why\n");
    folder.held("run --seed 3 --scenario quick.toml --record traces/three.jsonl.zst");
    folder.write("traces/readme.md", "no trace");
    let line = "fuzz --first traces --first seeds.txt --seeds 0..1 --scenario quick.toml --jobs 1";
    let said = folder.held(&format!("{line} --out kept"));
    assert!(said.starts_with("4 seeds, "), "{said}");
    let report = String::from_utf8(folder.read("kept/report.txt")).unwrap();
    assert!(report.contains("after 3 that failed before\n4 of 4 run"), "{report}");
    folder.write("bad.txt", "7\nseven\n");
    let said = folder.complaint("fuzz --first bad.txt");
    assert_eq!(said, "bad.txt:2: expected a seed, found \"seven\"");
    folder.write("bad.jsonl", "hello\n");
    let said = folder.complaint("fuzz --first bad.jsonl");
    assert!(said.starts_with("bad.jsonl:1: expected the header of a trace"), "{said}");
}

#[test]
fn github_is_told_where_it_listens() {
    let folder = folder("github");
    let line = "fuzz --seeds 5..7 --scenario hopeless.toml --shrink 0 --jobs 1";
    let output = folder.command(line).env("GITHUB_ACTIONS", "true").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let told = after(&said, "::error title=stuck::");
    assert!(told.contains("seed 5: it did not get well again: "), "{told}");
    assert!(told.contains("%0Aagain: zoolab run --seed 5 "), "{told}");
}

#[test]
fn a_full_disk_leaves_what_there_was() {
    let folder = folder("full-disk");
    let line = "fuzz --seeds 0..8 --scenario hopeless.toml --shrink 0 --jobs 1";
    folder.failed(&format!("{line} --out kept --shard 1/2"));
    let before = folder.read("kept/results-1-of-2.json");
    // No file may have more than so many bytes: what a full disk does, without filling one.
    let full = |line: &str| {
        let zoolab = env!("CARGO_BIN_EXE_zoolab");
        let script = format!("trap '' XFSZ; ulimit -f 1; exec {zoolab} {line}");
        let mut shell = Command::new("sh");
        let output = shell.current_dir(folder.path()).args(["-c", &script]).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        (String::from_utf8(output.stdout).unwrap(), only_line(&stderr).to_owned())
    };
    let (said, why) = full(&format!("{line} --out kept --shard 2/2"));
    assert!(why.starts_with("kept/"), "{why}");
    assert!(why.contains("File too large"), "{why}");
    // What was found by then was told.
    assert!(said.is_empty() || said.contains("zoolab run --seed 1 "), "{said}");
    let (_, why) = full("fuzz merge kept --partial --out merged");
    assert!(why.starts_with("merged/"), "{why}");
    assert_eq!(folder.read("kept/results-1-of-2.json"), before);
    for dir in ["kept", "merged", "kept/traces"] {
        let Ok(entries) = std::fs::read_dir(folder.path().join(dir)) else { continue };
        for entry in entries {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(!name.ends_with(".part"), "{dir}/{name}");
        }
    }
    // With room again it goes on.
    folder.failed(&format!("{line} --out kept --shard 2/2"));
    folder.failed("fuzz merge kept --out merged");
}

#[test]
fn what_cannot_be_run_says_why_in_one_line() {
    let folder = folder("fuzz-refused");
    let seeds = "for '--seeds <A..B>': expected";
    folder.write("old/results-1-of-1.json", "{\"zoolab-campaign\":7}");
    folder.write("odd/results-1-of-1.json", "{}");
    folder.write("half/results-1-of-1.json", "{\"zoolab-campaign\":1,\"cam");
    for (arguments, expected) in [
        ("--out old", "old/results-1-of-1.json: expected results of format 1, found 7".to_owned()),
        (
            "merge odd",
            "odd/results-1-of-1.json: expected results of format 1, found another".into(),
        ),
        ("merge half", "half/results-1-of-1.json: EOF while parsing a string".into()),
        ("--seeds 5", format!("invalid value '5' {seeds} two numbers, as in 0..1000")),
        ("--seeds a..5", format!("invalid value 'a..5' {seeds} two numbers, as in 0..1000")),
        ("--seeds 5..5", format!("invalid value '5..5' {seeds} the smaller number first")),
        ("--seeds 0..1 --jobs 0", "invalid value '0' for '--jobs <N>': 0 is not in 1..=".into()),
        ("--jobs 99999", "invalid value '99999' for '--jobs <N>': 99999 is not in 1..=".into()),
        ("--scenario none.toml", "none.toml: No such file or directory".into()),
        (
            "--shard 9/8",
            "invalid value '9/8' for '--shard <I/N>': expected a part from 1 to 8, found 9".into(),
        ),
        ("--shard 0/8", "invalid value '0/8' for '--shard <I/N>': expected a part from 1".into()),
        ("--time soon", "invalid value 'soon' for '--time <TIME>': expected a time, as in".into()),
        ("--until-flat 0", "invalid value '0' for '--until-flat <N>': ".into()),
        ("--first none", "none: No such file or directory".into()),
        ("--out quick.toml", "quick.toml/results-1-of-1.json: Not a directory".into()),
        ("merge", "the following required arguments were not provided: <DIR>...".into()),
    ] {
        let said = folder.complaint(&format!("fuzz {arguments}"));
        assert!(said.starts_with(&expected), "{arguments}: {said}");
    }
}
