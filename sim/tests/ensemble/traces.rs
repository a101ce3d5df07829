//! Traces: written, read, performed to the letter.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use zoolab_sim::checker::Checkers;
use zoolab_sim::drive::{End, Nobody, Report, drive, run};
use zoolab_sim::step::Step;
use zoolab_sim::strategy::Strategy;
use zoolab_sim::strategy::replay::Replay;
use zoolab_sim::swarm::Plan;
use zoolab_sim::trace::{Ending, Header, Recorder, Trace};
use zoolab_sim::world::World;

fn perform(trace: &Trace, strategy: &mut dyn Strategy) -> Report {
    let mut world = World::new(trace.header.plan.setting.clone()).expect("it was set up before");
    let mut checkers = Checkers::new(Arc::clone(world.ensemble()), &world.setting().promises);
    drive(&mut world, strategy, &mut checkers, &mut Nobody)
}

fn record(seed: u64, path: &Path) -> Report {
    let plan = Plan::draw(seed);
    let mut recorder = Recorder::create(path, &Header::new(seed, plan.clone())).unwrap();
    let report = run(&plan, seed, &mut recorder).unwrap();
    recorder.finish(&report).unwrap();
    report
}

fn scratch(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn kept(folder: &str) -> Vec<(PathBuf, Trace)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces").join(folder);
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).expect("it is there").map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_none_or(|extension| extension != "md"));
    paths.sort();
    paths
        .into_iter()
        .map(|path| (path.clone(), Trace::read(&path).expect("it is a trace")))
        .collect()
}

#[test]
fn what_is_recorded_is_performed_to_the_letter() {
    for name in ["plain.jsonl", "compressed.jsonl.zst"] {
        let path = scratch(name);
        let report = record(43, &path);
        let trace = Trace::read(&path).unwrap();
        assert_eq!(trace.ending, Some(Ending::of(&report)));
        let again = perform(&trace, &mut Replay::new(&trace.steps));
        assert_eq!(Ending::of(&again), Ending::of(&report), "{name}");
    }
    let size = |name| fs::metadata(scratch(name)).unwrap().len();
    assert!(size("compressed.jsonl.zst") * 5 < size("plain.jsonl"));
}

#[test]
fn a_trace_that_does_not_fit_says_where() {
    let path = scratch("diverges.jsonl");
    record(43, &path);
    let mut trace = Trace::read(&path).unwrap();
    let place = trace.steps.iter().position(|(_, step)| matches!(step, Step::Disk { .. })).unwrap();
    let (_, missing) = trace.steps.remove(place);
    let report = perform(&trace, &mut Replay::new(&trace.steps));
    let End::Diverged { wanted, why } = report.end else { panic!("{:?}", report.end) };
    assert!(report.figures.steps >= place as u64);
    assert!(!why.is_empty() && wanted != missing, "{wanted}: {why}");
}

#[test]
fn bad_traces_are_told_by_line() {
    let good = include_str!("../../../traces/shown/election.jsonl");
    let lines: Vec<&str> = good.lines().collect();
    let wrong = |text: &str| Trace::parse("x.jsonl", text).unwrap_err().to_string();
    let with = |place: usize, line: &str| {
        let mut lines = lines.clone();
        lines[place] = line;
        wrong(&lines.join("\n"))
    };
    let all = [
        wrong(""),
        with(0, "hello"),
        with(0, "{\"zoolab-trace\":2}"),
        with(0, "{\"zoolab-trace\":1,\"version\":\"0\",\"seed\":1,\"plan\":{\"depth\":0}}"),
        with(3, "{\"at\":0,\"step\":\"explode 3\"}"),
        with(3, "{\"at\":0,\"step\":\"restart many\"}"),
        with(3, "{\"at\":0}"),
        with(20, "{\"at\":0,\"step\":\"restart 1\"}"),
        with(20, "{\"at\":9007199254740993,\"step\":\"restart 1\"}"),
        wrong(&format!("{}\n{{\"end\":\"held\",\"steps\":7,\"hash\":\"0\"}}", lines[0])),
        wrong(&format!("{good}{}\n", lines[1])),
    ];
    insta::assert_debug_snapshot!(all, @r#"
    [
        "x.jsonl:1: expected a header, found nothing",
        "x.jsonl:1: expected the header of a trace: expected value (column 1)",
        "x.jsonl:1: expected format 1 of traces, found 2",
        "x.jsonl:1: depth: 0 where 1 to 255 are allowed",
        "x.jsonl:4: found \"explode\", expected a step, as in deliver, disk, timeout, call, cut, crash …",
        "x.jsonl:4: found \"many\", expected a server's number",
        "x.jsonl:4: expected a step: missing field `step` (column 8)",
        "x.jsonl:21: expected a time from 200368 on, found 0",
        "x.jsonl:21: expected a time up to 9007199254740992, found 9007199254740993",
        "x.jsonl:2: expected 7 steps before, found 0",
        "x.jsonl:98: expected nothing after the end",
    ]
    "#);
    let missing = Trace::read(Path::new("no/such/file.jsonl")).unwrap_err().to_string();
    assert!(missing.starts_with("no/such/file.jsonl: "), "{missing}");
}

#[test]
fn exemplary_runs_happen_as_recorded() {
    let all = kept("shown");
    assert!(all.len() >= 6, "{}", all.len());
    for (path, trace) in all {
        let report = perform(&trace, &mut Replay::new(&trace.steps));
        assert_eq!(Some(Ending::of(&report)), trace.ending, "{}", path.display());
        assert!(trace.header.about.is_some(), "{} does not say what it shows", path.display());
    }
}

/// Each of these broke a promise once. What no longer fits is left out; what is left holds.
#[test]
fn what_was_found_stays_mended() {
    for (path, trace) in kept("found") {
        let report = perform(&trace, &mut Replay::skipping(&trace.steps));
        assert_eq!(report.end, End::Held, "{}", path.display());
        assert!(report.figures.steps > 50, "{} fits nowhere any more", path.display());
        // Whoever hung was not to be seen from its steps: the seed has to get well again.
        let (plan, seed) = (&trace.header.plan, trace.header.seed);
        let again = run(plan, seed, &mut Nobody).expect("it was set up before");
        assert_eq!(again.end, End::Held, "{} from its seed", path.display());
    }
}
