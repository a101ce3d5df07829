//! `zoolab search`: that what is said on the command line is what is searched, and what it says
//! in the end is so.

use serde_json::Value;
use zoolab_core::Bugs;

use crate::program::{Folder, after};
use crate::run::QUICK;

/// Nothing but one write: a few hundred states.
const CALM: &str = "search --writes 1 --crashes 0";

/// How it ended, and how much was seen.
fn counts(said: &str) -> &str {
    let ended = |line: &&str| line.contains(" states, ") && line.contains(" steps taken");
    said.lines().find(ended).expect(said)
}

/// What it says for programs, without what the machine had to do with it.
fn json(said: &str) -> Value {
    let mut value: Value = serde_json::from_str(said).expect(said);
    let all = value.as_object_mut().unwrap();
    for time in ["seconds", "cpu_seconds", "bytes_peak", "bytes_per_state", "kept"] {
        all.remove(time);
    }
    value
}

#[test]
fn all_of_it_is_reported() {
    let folder = Folder::new("search-report");
    let said = folder.held(&format!("{CALM} --layers"));
    assert!(
        said.starts_with("searching 3 servers that have just started; 1 write; elections in one"),
        "{said}"
    );
    // Which of two orders sleeps depends on fingerprints, so how many steps that spares may change.
    let (states, rest) = counts(&said).split_once(" steps taken ").expect(&said);
    assert!(states.starts_with("complete: 400 states, "), "{said}");
    assert_eq!(rest, "of 1046, depth 24, 2 ends, 11 goals");
    assert!(said.contains("\nbranching 2.61, "), "{said}");
    assert!(said.contains(" bytes a state, a state missed with a chance of 1 in 10^33\n"));
    assert!(said.contains(" states a second of processor time\n"), "{said}");
    let layers = said.lines().filter_map(|line| {
        let (layer, states) = line.trim().split_once(' ')?;
        layer.parse::<usize>().ok()?;
        states.trim().parse::<u64>().ok()
    });
    let layers: Vec<u64> = layers.collect();
    assert_eq!((layers.len(), layers.iter().sum::<u64>()), (25, 400), "{said}");
    // Each kind of step after each kind of fault, and what was never taken.
    assert!(after(&said, "taken ").trim().starts_with("after nothing  after write"), "{said}");
    let words = |kind| after(&said, kind).split_whitespace().collect::<Vec<_>>();
    assert_eq!((words("elect "), words("closed ")), (vec!["9", "never"], vec!["never"; 2]));
    assert!(after(&said, "reached  ").contains("commit "), "{said}");
    assert!(said.ends_with("held: every promise, in every state\n"), "{said}");
}

#[test]
fn the_number_of_threads_cannot_be_seen() {
    let folder = Folder::new("search-threads");
    let search = "search --writes 1 --crashes 0 --power-losses 1 --quick-disks --json --layers";
    let one = json(&folder.held(search));
    assert_eq!(one["end"], "complete");
    for threads in [2, 3] {
        assert_eq!(json(&folder.held(&format!("{search} --threads {threads}"))), one);
    }
}

#[test]
fn searches_with_names_are_listed_and_can_be_printed_changed_and_read_again() {
    let folder = Folder::new("search-scenario");
    let list = folder.held("search --list");
    let names: Vec<&str> = list.lines().filter_map(|line| line.split(' ').next()).collect();
    for name in ["small", "two-writes", "full", "ladder-1", "ladder-6", "mixed", "remix", "mspec-2"]
    {
        assert!(names.contains(&name), "{list}");
    }
    for name in names {
        let printed = folder.held(&format!("search --preset {name} --print-scenario"));
        folder.write("printed.toml", &printed);
        let again = folder.held("search --scenario printed.toml --print-scenario");
        assert_eq!(again, printed, "{name}");
    }
    let printed = folder.held(&format!("{CALM} --print-scenario"));
    folder.write("calm.toml", &printed);
    let told = counts(&folder.held(CALM)).to_owned();
    assert_eq!(counts(&folder.held("search --scenario calm.toml")), told);
    // What is said beside the file changes it.
    let less = folder.held("search --scenario calm.toml --writes 0");
    assert_eq!(counts(&less), counts(&folder.held("search --writes 0 --crashes 0")));
    assert_ne!(counts(&less), told);
}

/// Each bound lets something happen that did not, each switch takes apart what was merged.
#[test]
fn each_bound_and_each_switch_counts() {
    let folder = Folder::new("search-bounds");
    let states = |more: &str| {
        let said = folder.held(&format!("search --crashes 0 --quick-disks --json {more}"));
        let value = json(&said);
        assert_eq!(value["end"], "complete", "{more}");
        value["states"].as_u64().unwrap()
    };
    let calm = states("--writes 1");
    for more in ["--power-losses 1", "--breaks 1", "--no-alike", "--no-same-values"] {
        let count = states(&format!("--writes 1 {more}"));
        assert!(count > calm, "{more}: {count}, {calm}");
    }
    let two = states("--writes 2");
    let crash = json(&folder.held("search --writes 1 --crashes 1 --quick-disks --json"));
    assert!(two > calm && crash["states"].as_u64() > Some(calm), "{two}, {crash}, {calm}");
    assert_eq!(states("--writes 1 --cuts 1"), states("--writes 1 --breaks 1"));
    let (merged, as_is) =
        (states("--writes 1 --breaks 1"), states("--writes 1 --breaks 1 --as-is"));
    assert!(as_is > merged, "{as_is} {merged}");
    let epochs = states("--writes 0 --breaks 1 --epochs 3");
    assert!(epochs > states("--writes 0 --breaks 1 --epochs 1"), "{epochs}");
    let disks = json(&folder.held(&format!("{CALM} --json")))["states"].as_u64().unwrap();
    assert!(disks > calm, "{disks}, {calm}");
    // Independent steps in every order: the same states by more steps.
    let apart = json(&folder.held(&format!("{CALM} --no-sleep --json")));
    let one = json(&folder.held(&format!("{CALM} --json")));
    assert_eq!((&apart["states"], &apart["layers"]), (&one["states"], &one["layers"]));
    assert!(apart["steps"].as_u64() > one["steps"].as_u64());
    let patience = "search --servers 2 --writes 0 --crashes 0 --json --timeouts";
    let patience = [0, 1].map(|count| json(&folder.held(&format!("{patience} {count}"))));
    assert!(patience[1]["states"].as_u64() > patience[0]["states"].as_u64());
    let full = "search --servers 2 --begin led --writes 1 --crashes 0 --json";
    let full = ["", " --full", " --full --rounds 3"]
        .map(|more| json(&folder.held(&format!("{full}{more}")))["states"].as_u64());
    assert!(full[0] <= full[1] && full[1] <= full[2], "{full:?}");
    let calls =
        "search --servers 2 --begin led --writes 0 --crashes 0 --calls 1 --clients 2 --json";
    let calls = ["", " --no-same-clients"]
        .map(|more| json(&folder.held(&format!("{calls}{more}")))["states"].as_u64());
    assert!(calls[0] < calls[1], "{calls:?}");
}

#[test]
fn depth_first_sees_as_much_and_says_when_it_had_to_forget() {
    let folder = Folder::new("search-plunge");
    let by_layers = json(&folder.held(&format!("{CALM} --json")));
    let plunged = json(&folder.held(&format!("{CALM} --depth-first --json")));
    for what in ["end", "states", "goals", "ends"] {
        assert_eq!(plunged[what], by_layers[what], "{what}");
    }
    assert_eq!(plunged["plunge"]["forgotten"], 0);
    let little = folder.held("search --writes 0 --crashes 0 --depth-first --memory 0");
    assert!(counts(&little).contains("some states had to be forgotten"), "{little}");
    assert!(little.contains("no proof, since "), "{little}");
    let bounded = folder.held(&format!("{CALM} --depth-first --depth 7"));
    assert!(counts(&bounded).contains("complete up to the greatest depth allowed"), "{bounded}");
    assert!(bounded.ends_with("every state within that depth\n"), "{bounded}");
}

#[test]
fn what_stops_at_a_limit_is_saved_and_gone_on_with() {
    let folder = Folder::new("search-resume");
    let whole = json(&folder.held(&format!("{CALM} --json")));
    let stopped = folder.held(&format!("{CALM} --states 100 --save calm.search"));
    assert!(counts(&stopped).starts_with("stopped at the greatest number of states allowed: "));
    assert!(stopped.contains("\nheld so far: every promise, in every state seen;"), "{stopped}");
    assert_eq!(after(&stopped, "go on: "), "zoolab search --resume calm.search");
    assert_eq!(json(&folder.held("search --resume calm.search --json --threads 2")), whole);
    // By memory: it stops before that is exceeded, and goes on with more.
    let stopped = folder.held("search --memory 1 --save small.search");
    assert!(counts(&stopped).starts_with("stopped at the greatest memory allowed: "), "{stopped}");
    let deeper = folder.held("search --resume small.search --depth 12 --save small.search");
    let deep = folder.held("search --depth 12");
    assert_eq!(counts(&deeper), counts(&deep));

    for (line, expected) in [
        ("--resume none.search", "none.search: "),
        ("--resume calm.search --writes 2", "calm.search: another search: it has "),
        ("--resume calm.search --no-sleep", "calm.search: begun without --no-sleep"),
        ("--save .", ".: is a directory"),
    ] {
        let said = folder.complaint(&format!("search --json {line}"));
        assert!(said.starts_with(expected), "{said}");
    }
    let mut bytes = folder.read("calm.search");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    folder.write("calm.search", &bytes);
    let said = folder.complaint("search --json --resume calm.search");
    assert!(said.starts_with("calm.search: "), "{said}");
}

#[test]
fn a_search_that_tests_nothing_is_noticed() {
    let folder = Folder::new("search-reach");
    folder.held(&format!("{CALM} --reach commit --reach DIFF"));
    let said = folder.failed(&format!("{CALM} --reach commit --reach TRUNC"));
    assert_eq!(after(&said, "FAILED: "), "never reached: TRUNC");
    let early = folder.held(&format!("{CALM} --reach TRUNC --states 20"));
    assert!(early.contains("\nnot reached so far: TRUNC\n"), "{early}");
    let unknown = folder.complaint("search --reach trunc");
    assert!(
        unknown.starts_with("--reach: no such place: \"trunc\", expected one of "),
        "{unknown}"
    );
    folder.write("reach.toml", "reach = [\"SNAP\"]\n[setting.search]\nwrites = 1\nalike = true\nsame-values = true\ncoarse = true\nepochs = 1\n");
    let said = folder.failed("search --scenario reach.toml");
    assert_eq!(after(&said, "FAILED: "), "never reached: SNAP");
}

#[test]
fn small_spaces_can_be_looked_at() {
    let folder = Folder::new("search-graph");
    let search = "search --servers 2 --writes 1 --crashes 0";
    let said = folder.held(&format!("{search} --graph states.dot"));
    assert!(said.contains("\ngraph in states.dot; "), "{said}");
    let dot = String::from_utf8(folder.read("states.dot")).unwrap();
    let states = json(&folder.held(&format!("{search} --json")))["states"].as_u64().unwrap();
    let nodes = dot.lines().filter(|line| {
        let name = line.trim().split(' ').next().unwrap_or_default();
        !line.contains("->") && name.parse::<u64>().is_ok()
    });
    assert_eq!(nodes.count() as u64, states, "{dot}");
    assert!(dot.contains("doublecircle") && dot.contains("\"elect "), "{dot}");
    let refused = folder.complaint(&format!("{search} --json --graph states.dot --states 3"));
    assert_eq!(refused, "there are more than 3 states: bound them, or allow more --states");
}

#[test]
fn everybody_comes_to_follow_a_leader_in_the_end() {
    let folder = Folder::new("search-live");
    let calm = "search --servers 2 --begin led --writes 0 --crashes 0";
    let said = folder.held(&format!("{calm} --breaks 1 --eventually led --json"));
    assert_eq!(json(&said)["liveness"]["fair_cycles"], 0, "{said}");
    let said = folder.held(&format!("{calm} --eventually led --once"));
    assert!(said.contains("led in the end: in every fair run, at least once\n"), "{said}");
}

/// A server that finds twice the same in its log never starts again. No state by itself is wrong
/// for whoever does not watch boots; that it goes on for ever is.
#[test]
fn what_never_gets_well_is_a_lasso() {
    if !Bugs::BUILT_IN {
        return;
    }
    let folder = Folder::new("search-lasso");
    let search = "search --servers 2 --begin led --crashes 0 --power-losses 1 --breaks 1 \
                  --promise equal-trees --eventually led --traces .";
    folder.held(search);
    let said = folder.failed(&format!("{search} --bug trunc-not-synced"));
    let what = "a fair cycle: the same happens for ever, and not everybody follows one leader";
    assert!(after(&said, "FAILED: ").starts_with(what), "{said}");
    assert!(said.contains("\nafter 17 steps, and then 1 for ever:\n"), "{said}");
    let again = "       from here on again and again:\n   18  restart 2\n";
    assert!(said.contains(again), "{said}");
    assert!(said.contains("\nheld: every promise, in every state\n"), "{said}");
    let replayed = folder.failed("replay ./search-cycle.jsonl");
    assert!(replayed.contains("a fair cycle: "), "{replayed}");
}

/// A bug is found by the same shortest way at any number of threads; what is found is a trace.
#[test]
fn a_bug_is_found_or_not_built_in() {
    let folder = Folder::new("search-bug");
    let search = "search --crashes 0 --bug zookeeper-4685 --traces .";
    if !Bugs::BUILT_IN {
        let said = folder.complaint(&format!("{search} --json"));
        let expected = "ZOOKEEPER-4685 is asked for, but no bugs are built in: ";
        assert!(said.starts_with(expected), "{said}");
        return;
    }
    let said = folder.failed(search);
    let what = after(&said, "FAILED: broken promise ").to_owned();
    assert!(what.starts_with("ack-in-order: server "), "{what}");
    assert!(said.contains("\nafter 13 steps:\n"), "{said}");
    assert_eq!(after(&said, "again: "), "zoolab replay ./search.jsonl");
    let trace = folder.read("search.jsonl");
    let again = folder.failed("replay ./search.jsonl");
    assert_eq!(after(&again, "FAILED: broken promise "), what);
    assert!(again.contains("\nas recorded\n"), "{again}");
    let one = json(&folder.failed(&format!("{search} --json")));
    assert_eq!(one["found"][0]["promise"], "ack-in-order");
    assert_eq!(one["found"][0]["steps"].as_array().unwrap().len(), 13);
    assert_eq!(json(&folder.failed(&format!("{search} --json --threads 2"))), one);
    assert_eq!(folder.read("search.jsonl"), trace);
    // With another promise to watch it is overlooked.
    folder.held("search --crashes 0 --bug zookeeper-4685 --promise equal-trees --traces .");
}

/// From a run to a search and back.
#[test]
fn a_moment_of_a_run_is_looked_around() {
    let folder = Folder::new("search-from");
    folder.write("quick.toml", QUICK);
    folder.held("run --seed 1 --scenario quick.toml --record run.jsonl");
    let around = "search --from run.jsonl@900 --depth 5";
    let said = folder.held(around);
    let expected = "searching 3 servers as after 900 steps of run.jsonl; nothing goes wrong; ";
    assert!(said.starts_with(expected), "{said}");
    assert!(counts(&said).starts_with("complete up to the greatest depth allowed: "), "{said}");
    let more = folder.held("search --from run.jsonl@900 --depth 5 --crashes 1");
    assert_ne!(counts(&more), counts(&said));

    for (line, expected) in [
        ("run.jsonl", "--from run.jsonl: expected a trace and a step, as in x.jsonl@500"),
        ("run.jsonl@x", "--from run.jsonl@x: expected a trace and a step, as in x.jsonl@500"),
        ("run.jsonl@99999999", "run.jsonl: expected a step up to "),
        ("none.jsonl@1", "none.jsonl: No such file or directory"),
    ] {
        let said = folder.complaint(&format!("search --json --from {line}"));
        assert!(said.starts_with(expected), "{said}");
    }
}

/// A bug is switched on around a moment of a run in which it was not: what the search finds is
/// one trace from the very beginning of the run.
#[test]
fn what_is_found_around_a_moment_is_a_trace() {
    if !Bugs::BUILT_IN {
        return;
    }
    let folder = Folder::new("search-from-bug");
    folder.write("quick.toml", QUICK);
    folder.held("run --seed 1 --scenario quick.toml --record run.jsonl");
    let said =
        folder.failed("search --from run.jsonl@900 --breaks 1 --bug zookeeper-2845 --traces .");
    let what = after(&said, "FAILED: broken promise ").to_owned();
    let again = folder.failed("replay ./search.jsonl");
    assert_eq!(after(&again, "FAILED: broken promise "), what);
    assert!(again.contains("\nas recorded\n"), "{again}");
    let lines = String::from_utf8(folder.read("search.jsonl")).unwrap().lines().count();
    assert!(lines > 900, "{lines}");
}

#[test]
fn what_cannot_be_searched_says_why_in_one_line() {
    let folder = Folder::new("search-refused");
    folder.write("five.toml", "[setting.search]\ncrashes = 99\n");
    folder.write("typo.toml", "[setting.search]\ncrahses = 1\n");
    for (line, expected) in [
        ("--preset none", "--preset none: expected one of small, power, "),
        ("--crashes 99", "invalid value '99' for '--crashes <N>'"),
        ("--rounds 3", "--rounds: elections are one step here"),
        ("--full --epochs 3", "--epochs: only bounds elections that are one step"),
        ("--servers 9", "invalid value '9' for '--servers <N>'"),
        ("--clients 2", "clients: 2 with no calls to make, see --calls"),
        ("--threads 0", "invalid value '0' for '--threads <N>'"),
        ("--promise none", "invalid value 'none' for '--promise <NAME>'"),
        ("--scenario none.toml", "none.toml: No such file or directory"),
        ("--scenario five.toml", "five.toml: search.crashes: 99 where 0 to 31 are allowed"),
        ("--scenario typo.toml", "typo.toml:2: unknown field `crahses`, expected one of "),
        ("--eventually led --depth 3", "the argument '--eventually <WHAT>' cannot be used with"),
        ("--begin proposed", "search, writes: 1 where 2 to 255 are allowed"),
    ] {
        let said = folder.complaint(&format!("search --json {line}"));
        assert!(said.starts_with(expected), "{line}: {said}");
    }
}
