//! Bugs that real servers had are found, and nothing is found without them.

use std::sync::Arc;

use zoolab_core::Bug;
use zoolab_sim::checker::{Checkers, Promise};
use zoolab_sim::drive::{End, Nobody, Onlooker, drive, run};
use zoolab_sim::setting::Setting;
use zoolab_sim::step::{Instant, Step};
use zoolab_sim::strategy::replay::Replay;
use zoolab_sim::swarm::Plan;
use zoolab_sim::world::World;

/// Each with the first seed that finds it.
const FOUND: [(Bug, u64); 20] = [
    (Bug::Zk335, 3),
    (Bug::Zk962, 0),
    (Bug::Zk1046, 25),
    (Bug::Zk1090, 12),
    (Bug::Zk1154, 25),
    (Bug::Zk1156, 22),
    (Bug::Zk1653, 7),
    (Bug::Zk2355, 706),
    (Bug::Zk2845, 2),
    (Bug::Zk2872, 3),
    (Bug::Zk3023, 2),
    (Bug::Zk3911, 2),
    (Bug::Zk4394, 0),
    (Bug::Zk4643, 2),
    (Bug::Zk4685, 0),
    (Bug::AckBeforeSync, 0),
    (Bug::AckSurvivesTrunc, 819),
    (Bug::DirNotSynced, 3),
    (Bug::TruncNotSynced, 118),
    (Bug::TruncSnapshotNotSynced, 25),
];

fn end(seed: u64, bugs: &[Bug]) -> End {
    let mut plan = Plan::draw(seed);
    plan.setting.bugs = bugs.to_vec();
    run(&plan, seed, &mut Nobody).expect("bugs are built into tests").end
}

#[test]
fn each_bug_breaks_its_promise_and_its_seed_holds_without_it() {
    assert_eq!(FOUND.map(|(bug, _)| bug), Bug::ALL);
    let found = FOUND.map(|(bug, seed)| {
        let end = end(seed, &[bug]);
        let End::Violated(violation) = end else { panic!("{bug}, seed {seed}: {end}") };
        assert_eq!(violation.promise, Promise::broken_by(bug), "{bug}");
        format!("{bug}, seed {seed}: {violation}")
    });
    insta::assert_debug_snapshot!(found, @r#"
    [
        "ZOOKEEPER-335, seed 3: epoch-monotonicity: server 5 read epochs 3 and 3, 4 and 3 were safe",
        "ZOOKEEPER-962, seed 0: commit-matches: server 1 left its leader: commit 1:91 where nothing was proposed",
        "ZOOKEEPER-1046, seed 25: equal-trees: server 1 read another tree at 1:35 than others have",
        "ZOOKEEPER-1090, seed 12: equal-trees: server 5 read another tree at 1:409 than others have",
        "ZOOKEEPER-1154, seed 25: history-consistency: server 2 logged 4:1 after 3:3, the epoch began with 3:2",
        "ZOOKEEPER-1156, seed 22: durability: server 3 has 1:321 after a restart, 1:322 was safe",
        "ZOOKEEPER-1653, seed 7: boot-totality: server 2 does not start again: currentEpoch: 2, but the history reaches into 3",
        "ZOOKEEPER-2355, seed 706: memory-behind-disk: server 6 caught up with 3:97, safe is 3:12",
        "ZOOKEEPER-2845, seed 2: honest-vote: server 2 votes for server 2 at 1:35 of epoch 1, safe are epoch 1 and 1:36",
        "ZOOKEEPER-2872, seed 3: boot-totality: server 6 does not start again: there are logs or epochs but no usable snapshot; snapshot.80000000e: byte 838: 8 bytes expected, 3 left",
        "ZOOKEEPER-3023, seed 2: commit-consistency: server 2 serves epoch 4 with 3:5, it began with 3:10",
        "ZOOKEEPER-3911, seed 2: history-before-epoch: server 2 noted epoch 4 with 3:5 safe, 3:10 is due",
        "ZOOKEEPER-4394, seed 0: commit-matches: server 1 left its leader: commit 1:91 where nothing was proposed",
        "ZOOKEEPER-4643, seed 2: history-before-epoch: server 2 noted epoch 4 with 3:5 safe, 3:10 is due",
        "ZOOKEEPER-4685, seed 0: ack-in-order: server 1 acknowledged 1:91 before what the epoch begins with",
        "ETCD-14370, seed 0: quorum-durability: server 7 committed 1:19, which no quorum has safe",
        "ACK-SURVIVES-TRUNC, seed 819: committed-durability: server 4 is to give up 7:83, which is committed",
        "DIR-FSYNC, seed 3: durability: server 2 has 0:0 after a restart, 7:39 was safe",
        "TRUNC-NOT-SYNCED, seed 118: boot-totality: server 2 does not start again: log.10000009a: byte 16: transaction 1:154 after 1:154",
        "TRUNC-SNAPSHOT-NOT-SYNCED, seed 25: history-before-epoch: server 2 noted epoch 6 with 3:2 safe, 5:21 is due",
    ]
    "#);
    for (bug, seed) in FOUND {
        assert_eq!(end(seed, &[]), End::Held, "seed {seed} without {bug}");
    }
}

#[test]
fn bugs_are_part_of_a_setting_by_their_names() {
    let mut setting = Setting::plain(3);
    assert!(!serde_json::to_string(&setting).unwrap().contains("bugs"), "old traces have none");
    setting.bugs = vec![Bug::Zk4643, Bug::TruncNotSynced];
    let text = serde_json::to_string(&setting).unwrap();
    assert!(text.contains(r#""bugs":["ZOOKEEPER-4643","TRUNC-NOT-SYNCED"]"#), "{text}");
    assert_eq!(serde_json::from_str::<Setting>(&text).unwrap(), setting);
    assert!(setting.ensemble().unwrap().bugs.iter().eq(setting.bugs));
    let wrong = serde_json::from_str::<Setting>(r#"{"bugs":["ZOOKEEPER-1"]}"#).unwrap_err();
    let wrong = wrong.to_string();
    assert!(
        wrong.starts_with("\"ZOOKEEPER-1\": no such bug; there are ZOOKEEPER-335, "),
        "{wrong}"
    );
}

#[test]
fn promises_are_part_of_a_setting_by_their_names() {
    let mut setting = Setting::plain(3);
    assert!(!serde_json::to_string(&setting).unwrap().contains("promises"), "old traces have none");
    setting.promises = vec![Promise::InitialHistory, Promise::EqualTrees];
    let text = serde_json::to_string(&setting).unwrap();
    assert!(text.contains(r#""promises":["initial-history","equal-trees"]"#), "{text}");
    assert_eq!(serde_json::from_str::<Setting>(&text).unwrap(), setting);
    let wrong = serde_json::from_str::<Setting>(r#"{"promises":["fairness"]}"#).unwrap_err();
    let wrong = wrong.to_string();
    assert!(
        wrong.starts_with("\"fairness\": no such promise; there are ack-in-order, "),
        "{wrong}"
    );
}

/// Remembers the steps of a run.
#[derive(Default)]
struct Steps(Vec<(Instant, Step)>);

impl Onlooker for Steps {
    fn before(&mut self, _: u64, at: Instant, step: &Step) {
        self.0.push((at, step.clone()));
    }
}

/// Past the first sign of a bug there is more to see; what is not watched is counted.
#[test]
fn a_run_goes_on_past_what_is_not_watched() {
    let mut seen = Vec::new();
    for (bug, seed, promise) in [
        (Bug::Zk335, 3, Promise::EpochFresh),
        (Bug::Zk335, 3, Promise::InitialHistory),
        (Bug::Zk2845, 2, Promise::EqualTrees),
        (Bug::Zk3911, 2, Promise::EpochAckDurable),
        (Bug::Zk4643, 2, Promise::InitialHistory),
    ] {
        let mut plan = Plan::draw(seed);
        plan.setting.bugs = vec![bug];
        plan.setting.promises = vec![promise];
        let mut steps = Steps::default();
        let report = run(&plan, seed, &mut steps).expect("bugs are built into tests");
        let mut world = World::new(plan.setting.clone()).expect("it was set up before");
        let promises = &plan.setting.promises;
        let mut checkers = Checkers::new(Arc::clone(world.ensemble()), promises);
        let again = drive(&mut world, &mut Replay::new(&steps.0), &mut checkers, &mut Nobody);
        assert_eq!((&again.end, again.hash), (&report.end, report.hash), "{bug}");
        let overlooked = &report.figures.overlooked;
        assert!(!overlooked.is_empty() && !overlooked.contains_key(&promise), "{bug}");
        let words = overlooked.iter().map(|(promise, count)| format!("{promise} {count}"));
        let words: Vec<String> = words.collect();
        seen.push(format!("{bug}: {}; overlooked {}", report.end, words.join(", ")));
    }
    insta::assert_debug_snapshot!(seen, @r#"
    [
        "ZOOKEEPER-335: broken promise epoch-fresh: server 4 leads epoch 17, a quorum has promised as much; overlooked epoch-monotonicity 4, one-promise 2, primary-uniqueness 1",
        "ZOOKEEPER-335: every promise held; overlooked epoch-fresh 1, epoch-monotonicity 6, one-promise 4, primary-uniqueness 2",
        "ZOOKEEPER-2845: broken promise equal-trees: server 1 read another tree at 5:32 than others have; overlooked boot-totality 1, commit-consistency 15, epoch-ack-durable 6, history-before-epoch 3, history-consistency 2, honest-vote 31, log-order 5, no-hole 5, process-consistency 2, total-order 9",
        "ZOOKEEPER-3911: broken promise epoch-ack-durable: server 2 acknowledged epoch 4 without what it begins with; overlooked history-before-epoch 1",
        "ZOOKEEPER-4643: every promise held; overlooked history-before-epoch 2",
    ]
    "#);
}
