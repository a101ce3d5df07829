//! `zoolab run`: that a seed is a run, how one that failed is seen again, what it refuses.

use std::fs::File;

use crate::program::{Folder, after, only_line};

/// Three seconds, and all kinds of things happen.
pub(crate) const QUICK: &str = "trouble-ms = 3000\nwork = \"writes\"\nthink-us = 20000\n\
    faults = [[\"crash\", 1500], [\"cut\", 1500]]\n[setting]\ntick-ms = 500\nclients = 2\n";

/// There is no time to get well in.
pub(crate) const HOPELESS: &str = "trouble-ms = 100\ncalm-ms = 0\n";

/// A folder with these scenarios.
pub(crate) fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("quick.toml", QUICK);
    folder.write("hopeless.toml", HOPELESS);
    folder
}

#[test]
fn the_same_seed_is_the_same_run() {
    let folder = folder("same-seed");
    let first = folder.held("run --seed 1 --scenario quick.toml");
    assert!(first.starts_with("seed 1: 3 voters, 0 observers, 2 clients, tick 500 ms"), "{first}");
    assert!(first.contains("\nheld: every promise, in every step\nsteps "), "{first}");
    assert_eq!(folder.held("run --seed 1 --scenario quick.toml"), first);
    let other = folder.held("run --seed 2 --scenario quick.toml");
    assert_ne!(after(&other, "steps "), after(&first, "steps "));
}

#[test]
fn a_printed_scenario_is_what_the_seed_draws() {
    let folder = folder("print-scenario");
    folder.write("drawn.toml", folder.held("run --seed 42 --print-scenario"));
    let drawn = folder.held("run --seed 42");
    assert_eq!(folder.held("run --seed 42 --scenario drawn.toml"), drawn);
    let again = folder.held("run --seed 7 --scenario drawn.toml --print-scenario");
    assert_eq!(again.as_bytes(), folder.read("drawn.toml"));
}

#[test]
fn determinism_is_checked_when_asked_for() {
    let folder = folder("run-determinism");
    let plain = folder.held("run --seed 1 --scenario quick.toml");
    let checked = folder.held("run --seed 1 --scenario quick.toml --check-determinism");
    let more = "deterministic: the same in every step, again and again\n";
    assert_eq!(checked, plain + more);
}

#[test]
fn what_fails_is_seen_again_by_one_line() {
    let folder = folder("hopeless");
    let first = folder.failed("run --seed 1 --scenario hopeless.toml");
    assert!(first.starts_with("seed 1: "), "{first}");
    let what = after(&first, "FAILED: it did not get well again: ");
    assert_eq!(what, "client c0 gets nothing done");
    let again = after(&first, "again: zoolab ");
    assert_eq!(again, "run --seed 1 --scenario hopeless.toml");
    assert_eq!(folder.failed(again), first);

    let trace = after(&first, "trace: zoolab ");
    assert_eq!(trace, "replay target/traces/seed-1.jsonl");
    let replayed = folder.failed(trace);
    assert_eq!(after(&replayed, "FAILED: it did not get well again: "), what);
    assert_eq!(after(&replayed, "steps "), after(&first, "steps "));
    assert!(replayed.ends_with("\nas recorded\n"), "{replayed}");

    let elsewhere = folder.failed("run --seed 1 --scenario hopeless.toml --record mine.jsonl.zst");
    assert_eq!(after(&elsewhere, "trace: zoolab "), "replay mine.jsonl.zst");
    assert_eq!(folder.failed("replay mine.jsonl.zst"), replayed);
}

#[test]
fn what_fails_has_failed_though_its_trace_cannot_be_written() {
    let folder = folder("no-traces");
    for verb in ["run --seed 1", "fuzz --seeds 1..2"] {
        let line = format!("{verb} --scenario hopeless.toml --traces quick.toml");
        let output = folder.command(&line).output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "{stdout}");
        assert!(stdout.contains("\nFAILED: "), "{stdout}");
        assert!(stdout.ends_with("\nagain: zoolab run --seed 1 --scenario hopeless.toml\n"));
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(only_line(&stderr), "quick.toml/seed-1.jsonl: File exists (os error 17)");
    }
}

#[test]
fn nobody_has_to_listen() {
    let folder = folder("nobody-listens");
    folder.held("run --seed 1 --scenario quick.toml --record a.jsonl");
    for line in
        ["run --seed 1 --scenario quick.toml", "fuzz --seeds 0..2", "replay a.jsonl --every 1"]
    {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = folder.command(line).stdout(writer).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{line}");
        assert_eq!(output.stderr, b"", "{line}");
    }
    // What is lost for any other reason is no success.
    let full = File::options().write(true).open("/dev/full").unwrap();
    let mut command = folder.command("run --seed 1 --scenario quick.toml");
    let output = command.stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(only_line(&stderr).starts_with("standard output: No space left"), "{stderr}");
}

#[test]
fn a_scenario_that_says_nothing_right_is_told_where() {
    let folder = folder("bad-scenarios");
    let after_setting = "expected one of `setting`, `faults`, `change-ms`, ";
    for (text, expected) in [
        ("depth = 1\nnonsense here\n", ":2: key with no value, expected `=`".into()),
        ("depth = \n", ":1: string values must be quoted, expected literal string".into()),
        ("depth = 1\n\ndepth = 2\n", ":3: duplicate key".into()),
        ("\ndept = 1\n", format!(":2: unknown field `dept`, {after_setting}")),
        ("[setting]\n\nvoter = 1\n", ":3: unknown field `voter`, expected one of `voters`".into()),
        (
            "depth = 1\nfaults = [\n  [\"crash\", 900],\n  [\"crush\", 900],\n]\n",
            ":4: unknown variant `crush`, expected one of `break`, `clock`, `crash`".into(),
        ),
        ("work = \"play\"\n", ":1: unknown variant `play`, expected one of `mixed`".into()),
        ("depth = 256\n", ":1: invalid value: integer `256`, expected u8".into()),
        ("faults = \"cut\"\n", ":1: invalid type: string \"cut\", expected a sequence".into()),
        ("faults = [[\"cut\", 0]]\n", ": faults: \"cut\" has no time between two".into()),
        ("depth = 0\n", ": depth: 0 where 1 to 255 are allowed".into()),
        ("think-us = 0\n", ": think-us: 0 where 1 to ".into()),
        ("calm-ms = 9000000000000\n", ": calm-ms: 9000000000000 where 0 to ".into()),
        ("[setting]\ntick-ms = 0\n", ": tick-ms: 0 where 1 to ".into()),
        ("[setting]\nsync-limit = 0\n", ": sync-limit: 0 where 1 to 65536 are allowed".into()),
        ("[setting]\ninit-limit = 99999\n", ": init-limit: 99999 where 1 to 65536 are".into()),
        ("[setting]\npreallocate = 99999999999\n", ": preallocate: 99999999999 where 0".into()),
        ("[setting]\nskew-ms = [0, -999999999999]\n", ": skew-ms: 999999999999 where 0".into()),
        ("[setting]\nvoters = []\n", ": voters: no voter has any weight".into()),
        ("[setting]\nvoters = [[[1, 1], [1, 1]]]\n", ": voters: server 1 is in two groups".into()),
        ("[setting]\nvoters = [[[1, 9999999999]]]\n", ": voters, weight: 9999999999 where".into()),
        ("[setting]\nobservers = [3]\n", ": observers: server 3 is a voter as well".into()),
    ] {
        folder.write("bad.toml", text);
        for verb in ["run --seed 1", "fuzz --seeds 0..1000000"] {
            let said = folder.complaint(&format!("{verb} --scenario bad.toml"));
            assert!(said.starts_with(&format!("bad.toml{expected}")), "{text}: {said}");
        }
    }
    folder.write("bad.toml", b"depth = 1\nwork = \xFF\n");
    let said = folder.complaint("run --seed 1 --scenario bad.toml");
    assert_eq!(said, "bad.toml:2: expected text");
}

#[test]
fn what_cannot_be_run_says_why_in_one_line() {
    let folder = folder("run-refused");
    for (arguments, expected) in [
        ("", "the following required arguments were not provided: --seed <N>"),
        (" --seed many", "invalid value 'many' for '--seed <N>'"),
        (" --seed -1", "unexpected argument '-1' found"),
        (" --seed 1 --scenario none.toml", "none.toml: No such file or directory"),
        (" --seed 1 --scenario .", ".: Is a directory"),
        (" --seed 1 --record quick.toml/a.jsonl", "quick.toml/a.jsonl: "),
        (" --seed 1 --record .", ".: Is a directory"),
        (" --seed 1 --print-scenario --record a", "the argument '--print-scenario' cannot be"),
    ] {
        let said = folder.complaint(&format!("run{arguments}"));
        assert!(said.starts_with(expected), "{arguments}: {said}");
    }
}
