//! Histories of a service that is made up: nothing is found wrong with one that is right, and
//! whatever is planted is found wherever it shows.

use zoolab_sim::history::check::{Options, Promise, Report, Verdict, check};
use zoolab_sim::history::generate::{self, Defect, LATE_US, Outcome, Plan, STALE_US, generate};
use zoolab_sim::history::{Gather, History};

fn made(plan: &Plan) -> (History, Outcome) {
    let mut gather = Gather::new(generate::header());
    let outcome = generate(plan, &mut |record| {
        gather.take(&record).unwrap_or_else(|error| panic!("{error}: {record:?}"));
    });
    (gather.finish(), outcome)
}

fn checked(history: &History, defect: Option<Defect>) -> Report {
    let stale = (defect == Some(Defect::Frozen)).then_some(STALE_US);
    let late = (defect == Some(Defect::LateExpiry)).then_some(LATE_US);
    check(history, &Options { stale, late, findings: 3 }, &mut |_| {})
}

#[test]
fn nothing_is_wrong_with_what_is_right() {
    for seed in 0..12 {
        for log in [true, false] {
            let (history, _) = made(&Plan { log, ..Plan::new(seed, 6000) });
            let report = checked(&history, None);
            let (ops, unknown) = (report.ops, report.unknown);
            assert!(ops > 5000 && unknown > 0, "seed {seed}: {ops} operations, {unknown} unknown");
            if log {
                assert_eq!(report.worst(), Verdict::Held, "seed {seed}: {:#?}", report.findings);
            } else {
                let broken: Vec<Promise> = report.broken().collect();
                assert_eq!(broken, [], "seed {seed}, no log: {:#?}", report.findings);
            }
        }
    }
}

#[test]
fn generated_histories_put_promises_to_the_test() {
    let (history, _) = made(&Plan::new(1, 20_000));
    let mut options = Options::default();
    (options.stale, options.late) = (Some(u64::MAX / 4), Some(LATE_US));
    let report = check(&history, &options, &mut |_| {});
    assert_eq!(report.worst(), Verdict::Held, "{:#?}", report.findings);
    let untested: Vec<Promise> = Promise::ALL
        .into_iter()
        .filter(|promise| report.tallies.get(promise).is_none_or(|tally| tally.checked == 0))
        .collect();
    let expected = [Promise::Ep2, Promise::Ep3, Promise::Se4, Promise::Digest, Promise::Lin];
    assert_eq!(untested, expected);
}

/// What may be said of a defect.
fn names(defect: Defect) -> &'static [Promise] {
    use Promise::{
        At, Digest, Ep1, Ep2, Ep3, Ep4, Ep5, Fifo, Lw, Rl1, Rl2, Se1, Se3, Sequence, Ssi, Sy, Tl,
        W1, W2, W3, W4, W5, W6, W7, W8,
    };
    match defect {
        Defect::AckedLost => &[Rl1, Lw, At],
        Defect::ConnectedTwice => &[W8],
        Defect::DigestDiffers => &[Digest],
        Defect::DuplicateSession => &[Se3],
        Defect::EarlyExpiry => &[Ep4],
        Defect::EphemeralEarly => &[Ep3, Lw, Rl1, At],
        Defect::EphemeralLeft => &[Ep2, Lw, Rl1, At],
        Defect::EventLate => &[W3, W6],
        Defect::EventMissed | Defect::PersistentMissed | Defect::RecursiveMissed => &[W4],
        Defect::EventTwice => &[W2],
        Defect::EventsSwapped => &[W5],
        Defect::FailoverBehind => &[Ssi, Fifo],
        Defect::Frozen => &[Tl],
        Defect::LateExpiry => &[Ep5],
        Defect::MultiHalf => &[At, Rl1, Rl2],
        Defect::PhantomEvent => &[W1],
        Defect::PipelineSwapped => &[Fifo],
        Defect::ReadLater => &[At, Rl1, Rl2],
        Defect::ReadNewerDiffers => &[At, Rl1, Rl2, Ep2, Ep3],
        Defect::ReadNewerSame => &[Ssi, Fifo],
        Defect::RealTimeSwapped => &[Lw],
        Defect::RestoreMissed => &[W7],
        Defect::SequenceSkips => &[Sequence],
        Defect::SetAclLost => &[At, Lw],
        Defect::StaleVersion => &[Lw],
        Defect::SyncNothing => &[Sy],
        Defect::TwiceApplied => &[At, Lw, Rl1],
        Defect::TwoShare => &[Lw],
        Defect::ValueDiffers => &[At],
        Defect::Zombie => &[Se1, Ep1],
    }
}

#[test]
fn whatever_is_planted_is_found_where_it_shows() {
    let mut wrong = Vec::new();
    for defect in Defect::ALL {
        let (mut shown, mut caught) = (0, 0);
        for seed in 0..16 {
            if shown >= 3 {
                break;
            }
            let slow = matches!(defect, Defect::Frozen | Defect::LateExpiry);
            let ops = if slow { 30_000 } else { 5000 };
            let plan = Plan { defect: Some(defect), ..Plan::new(seed, ops) };
            let (history, outcome) = made(&plan);
            if !outcome.observable {
                continue;
            }
            shown += 1;
            let report = checked(&history, Some(defect));
            let named = report.broken().any(|promise| names(defect).contains(&promise));
            caught += usize::from(named);
            if !named {
                let all: Vec<Promise> = report.broken().collect();
                wrong.push(format!("{defect}, seed {seed}: broken are {all:?}"));
            }
        }
        if shown == 0 || shown > caught {
            wrong.push(format!("{defect}: shown {shown}, caught {caught}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn without_the_log_order_is_still_certain() {
    let order = [
        Defect::FailoverBehind,
        Defect::TwoShare,
        Defect::RealTimeSwapped,
        Defect::EventLate,
        Defect::EventsSwapped,
        Defect::ReadNewerSame,
    ];
    for defect in order {
        let mut shown = 0;
        for seed in 0..24 {
            let plan = Plan { defect: Some(defect), log: false, ..Plan::new(seed, 6000) };
            let (history, outcome) = made(&plan);
            if !outcome.observable || shown >= 3 {
                continue;
            }
            shown += 1;
            let report = checked(&history, Some(defect));
            assert_eq!(report.worst(), Verdict::Broken, "{defect}, seed {seed}");
        }
        assert!(shown > 0, "{defect}");
    }
}
