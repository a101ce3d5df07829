//! Pictures of runs say what happened, and nothing else.

use std::path::Path;

use zoolab_core::Bug;
use zoolab_sim::checker::Promise;
use zoolab_sim::drive::{End, Onlooker, run};
use zoolab_sim::report::{Excerpt, Fate, Film, Kind, Mark, Picture};
use zoolab_sim::step::{Instant, Step};
use zoolab_sim::swarm::Plan;
use zoolab_sim::trace::{Header, Trace};

fn shown(name: &str) -> Trace {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/shown");
    Trace::read(&folder.join(name)).unwrap()
}

/// Remembers the steps of a run.
#[derive(Default)]
struct Steps(Vec<(Instant, Step)>);

impl Onlooker for Steps {
    fn before(&mut self, _: u64, at: Instant, step: &Step) {
        self.0.push((at, step.clone()));
    }
}

fn found(bug: Bug, seed: u64) -> Trace {
    let mut plan = Plan::draw(seed);
    plan.setting.bugs = vec![bug];
    let mut steps = Steps::default();
    run(&plan, seed, &mut steps).unwrap();
    Trace { header: Header::new(seed, plan), steps: steps.0, ending: None }
}

fn page(picture: &Picture) -> String {
    let mut page = Vec::new();
    picture.write_page("title </script>", &mut page).unwrap();
    String::from_utf8(page).unwrap()
}

/// Who says what is a matter of the steps; when it was sent, of what was on its way.
#[test]
fn each_delivery_is_the_arrival_of_one_message() {
    for name in ["election.jsonl", "snap.jsonl", "trunc-diff.jsonl", "wiped.jsonl"] {
        let trace = shown(name);
        let picture = Picture::of(&trace).unwrap();
        assert_eq!(picture.end, End::Held, "{name}");
        assert_eq!(picture.steps.len(), trace.steps.len());
        let mut arrivals = vec![None; trace.steps.len() + 1];
        for flight in &picture.flights {
            if let Fate::Arrived(step) = flight.fate {
                assert!(flight.sent < step, "{name}: {flight:?}");
                assert_eq!(arrivals[step as usize].replace(flight), None, "{name}: {flight:?}");
            }
        }
        for ((_, step), arrival) in trace.steps.iter().zip(&arrivals[1..]) {
            let arrives = matches!(
                step,
                Step::Deliver { .. } | Step::Vote { .. } | Step::Ask { .. } | Step::Answer { .. }
            );
            assert_eq!(arrival.is_some(), arrives, "{name}: {step}");
            let text = step.to_string();
            if let (Step::Deliver { .. }, Some(flight)) = (step, arrival) {
                let label = format!(" {} #", flight.label);
                assert!(text.contains(&label), "{name}: {text}: {flight:?}");
            }
        }
    }
}

#[test]
fn lanes_end_as_what_everybody_is() {
    let trace = shown("trunc.jsonl");
    let picture = Picture::of(&trace).unwrap();
    let mut film = Film::new(&trace).unwrap();
    while film.step() {}
    let last = u32::try_from(picture.steps.len()).unwrap();
    for (id, lane) in film.world().servers().iter().zip(&picture.lanes) {
        let is = |name: &str| {
            let series = lane.series.iter().find(|series| series.name == name).unwrap();
            series.after(last).to_string()
        };
        let Some(server) = &film.world().host(*id).server else {
            assert_eq!((is("role"), is("applied")), ("down".into(), "–".into()));
            continue;
        };
        assert_eq!(is("role"), server.doing());
        assert_eq!(is("applied"), server.zxid_last().to_string());
        assert_eq!(is("epoch"), server.epochs().1.to_string());
        assert_eq!(is("nodes"), server.tree().len().to_string());
    }
    let roles = &picture.lanes[0].series[0];
    assert_eq!(roles.after(0).to_string(), "down");
    assert!(roles.changes.len() > 2, "{roles:?}");
}

#[test]
fn a_broken_promise_is_shown_with_what_it_is_about() {
    for (bug, seed) in [(Bug::Zk4643, 2), (Bug::Zk1154, 76)] {
        let trace = found(bug, seed);
        let picture = Picture::of(&trace).unwrap();
        let End::Violated(violation) = &picture.end else { panic!("{bug}: {}", picture.end) };
        assert_eq!(violation.promise, Promise::broken_by(bug));
        let last = u32::try_from(picture.steps.len()).unwrap();
        assert_eq!(picture.steps.len(), trace.steps.len(), "the step that breaks it is shown");
        let (end, before) = picture.evidence.split_last().unwrap();
        assert_eq!((end.step, &end.text), (last, &violation.what));
        // What is due, or was lost, was there before, and somebody had it safe or proposed it.
        assert!(before.len() >= 2, "{bug}: {before:?}");
        assert!(before.iter().all(|one| one.step < last), "{bug}: {before:?}");
        let told = &picture.story.end;
        assert!(told.starts_with(&format!("Broken promise {}: ", violation.promise)), "{told}");
        let page = page(&picture);
        assert!(page.contains(&format!("\"promise\":\"{}\"", violation.promise)), "{bug}");
    }
}

#[test]
fn nothing_in_a_trace_gets_out_of_its_place_in_the_page() {
    let mut trace = shown("election.jsonl");
    trace.header.about = Some("</script><script>alert(1)</script>".into());
    let page = page(&Picture::of(&trace).unwrap());
    assert!(!page.contains("alert(1)</script>"), "the about of a trace ends no element");
    assert!(page.contains("<title>title &lt;/script&gt;</title>"));
    assert_eq!(page.matches("</script>").count(), 3);
}

#[test]
fn a_trace_that_does_not_fit_is_drawn_as_far_as_it_goes() {
    let mut trace = shown("election.jsonl");
    let (_, first) = trace.steps.remove(0);
    assert_eq!(first.to_string(), "restart 1");
    let picture = Picture::of(&trace).unwrap();
    let End::Diverged { wanted, .. } = &picture.end else { panic!("{}", picture.end) };
    assert_eq!(
        picture.steps.len(),
        trace.steps.iter().position(|(_, step)| step == wanted).unwrap()
    );
    assert!(picture.evidence.is_empty());
    assert!(page(&picture).contains("\"word\":\"diverged\""));
}

#[test]
fn kinds_and_marks_are_told_apart() {
    let trace = shown("trunc-diff.jsonl");
    let picture = Picture::of(&trace).unwrap();
    let kinds = |kind| picture.steps.iter().filter(|moment| moment.kind == kind).count();
    for kind in [Kind::Vote, Kind::Discovery, Kind::Sync, Kind::Broadcast, Kind::Disk, Kind::Repair]
    {
        assert!(kinds(kind) > 0, "{}", kind.name());
    }
    let mark = |mark| picture.facts.iter().filter(|fact| fact.mark == mark).count();
    assert!(mark(Mark::Truncate) > 0 && mark(Mark::Sync) > 0 && mark(Mark::Commit) > 0);
    for kind in Kind::ALL {
        assert_eq!(Kind::ALL[kind as usize], kind, "{}", kind.name());
    }
}

#[test]
fn lines_show_who_said_what_to_whom() {
    let picture = Picture::of(&shown("election.jsonl")).unwrap();
    let mut text = String::new();
    picture.draw_text(&Excerpt { steps: 53..=60, lines: 100 }, &mut text).unwrap();
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
       step           time   1              2              3              c0             c1
         53     1.860231 s   │              │───REQUEST───▶□                             ┆              3 proposes 1:1: open a session; 3 logs 1:1
         54     1.860501 s   □◀───────PROPOSAL 1:1─────────┃                             ┆              1 logs 1:1
         55     1.860647 s   │              □◀PROPOSAL 1:1─┃                             ┆              2 logs 1:1
         56     1.863369 s   │              ■              ┃                             ┆              disk 2 @4; 2 has 1:1 safe
         57     1.863374 s   ■              │              ┃                             ┆              disk 1 @4; 1 has 1:1 safe
         58     1.863564 s   │───────────ACK 1:1──────────▶┃                             ┆
         59     1.863608 s   │              │───ACK 1:1───▶✓                             ┆              3 commits 1:1; 3 applies 1:1: open a session
         60     1.863797 s   │              │◀─COMMIT 1:1──┃                             ┆              2 applies 1:1: open a session
    held: every promise, in every step
    "#);
}
