//! `zoolab fuzz`: that nothing depends on the number of jobs, what it finds, what it refuses.

use crate::program::after;
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
        let line = format!("fuzz --seeds 5..50 --scenario hopeless.toml --jobs {jobs}");
        let found = folder.failed(&line);
        let what = after(&found, "FAILED: seed 5: ");
        assert!(what.starts_with("it did not get well again: "), "{what}");
        let again = folder.failed(after(&found, "again: zoolab "));
        assert_eq!(after(&again, "FAILED: "), what);
        let replayed = folder.failed(after(&found, "trace: zoolab "));
        assert_eq!(after(&replayed, "FAILED: "), what);
        assert!(replayed.ends_with("\nas recorded\n"), "{replayed}");
    }
    let elsewhere = folder.failed("fuzz --seeds 5..6 --scenario hopeless.toml --traces kept/here");
    assert_eq!(after(&elsewhere, "trace: zoolab "), "replay kept/here/seed-5.jsonl");
}

#[test]
fn what_cannot_be_run_says_why_in_one_line() {
    let folder = folder("fuzz-refused");
    let seeds = "for '--seeds <A..B>': expected";
    for (arguments, expected) in [
        ("--seeds 5", format!("invalid value '5' {seeds} two numbers, as in 0..1000")),
        ("--seeds a..5", format!("invalid value 'a..5' {seeds} two numbers, as in 0..1000")),
        ("--seeds 5..5", format!("invalid value '5..5' {seeds} the smaller number first")),
        ("--seeds 0..1 --jobs 0", "invalid value '0' for '--jobs <N>': 0 is not in 1..=".into()),
        ("--jobs 99999", "invalid value '99999' for '--jobs <N>': 99999 is not in 1..=".into()),
        ("--scenario none.toml", "none.toml: No such file or directory".into()),
    ] {
        let said = folder.complaint(&format!("fuzz {arguments}"));
        assert!(said.starts_with(&expected), "{arguments}: {said}");
    }
}
