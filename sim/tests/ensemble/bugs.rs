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
    (Bug::Zk335, 1),
    (Bug::Zk962, 0),
    (Bug::Zk1046, 22),
    (Bug::Zk1090, 2),
    (Bug::Zk1154, 76),
    (Bug::Zk1156, 54),
    (Bug::Zk1653, 47),
    (Bug::Zk2355, 451),
    (Bug::Zk2845, 2),
    (Bug::Zk2872, 3),
    (Bug::Zk3023, 2),
    (Bug::Zk3911, 2),
    (Bug::Zk4394, 0),
    (Bug::Zk4643, 2),
    (Bug::Zk4685, 0),
    (Bug::AckBeforeSync, 0),
    (Bug::AckSurvivesTrunc, 180),
    (Bug::DirNotSynced, 4),
    (Bug::TruncNotSynced, 1005),
    (Bug::TruncSnapshotNotSynced, 77),
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
        "ZOOKEEPER-335, seed 1: epoch-monotonicity: server 1 read epochs 3 and 3, 4 and 4 were safe",
        "ZOOKEEPER-962, seed 0: commit-matches: server 1 left its leader: commit 1:61 where nothing was proposed",
        "ZOOKEEPER-1046, seed 22: equal-trees: server 4 read another tree at 1:248 than others have",
        "ZOOKEEPER-1090, seed 2: equal-trees: server 3 read another tree at 3:242 than others have",
        "ZOOKEEPER-1154, seed 76: history-consistency: server 3 logged 6:1 after 5:108, the epoch began with 5:107",
        "ZOOKEEPER-1156, seed 54: durability: server 1 has 1:1143 after a restart, 1:1144 was safe",
        "ZOOKEEPER-1653, seed 47: boot-totality: server 4 does not start again: currentEpoch: 2, but the history reaches into 3",
        "ZOOKEEPER-2355, seed 451: memory-behind-disk: server 1 caught up with 6:44, safe is 6:26",
        "ZOOKEEPER-2845, seed 2: honest-vote: server 2 votes for server 2 at 1:152 of epoch 1, safe are epoch 1 and 1:155",
        "ZOOKEEPER-2872, seed 3: boot-totality: server 6 does not start again: there are logs or epochs but no usable snapshot; snapshot.500000027: byte 2121: 4 bytes expected, 2 left",
        "ZOOKEEPER-3023, seed 2: commit-consistency: server 2 serves epoch 2 with 1:155, it began with 1:161",
        "ZOOKEEPER-3911, seed 2: history-before-epoch: server 2 noted epoch 2 with 1:155 safe, 1:161 is due",
        "ZOOKEEPER-4394, seed 0: commit-matches: server 1 left its leader: commit 1:61 where nothing was proposed",
        "ZOOKEEPER-4643, seed 2: history-before-epoch: server 2 noted epoch 2 with 1:155 safe, 1:161 is due",
        "ZOOKEEPER-4685, seed 0: ack-in-order: server 1 acknowledged 1:61 before what the epoch begins with",
        "ETCD-14370, seed 0: quorum-durability: server 7 committed 1:13, which no quorum has safe",
        "ACK-SURVIVES-TRUNC, seed 180: committed-durability: server 3 is to give up 8:10, which is committed",
        "DIR-FSYNC, seed 4: durability: server 4 has 0:0 after a restart, 1:18 was safe",
        "TRUNC-NOT-SYNCED, seed 1005: boot-totality: server 3 does not start again: log.20000004f: byte 16: transaction 2:79 after 2:80",
        "TRUNC-SNAPSHOT-NOT-SYNCED, seed 77: history-before-epoch: server 5 noted epoch 5 with 3:49 safe, 4:1 is due",
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
        (Bug::Zk335, 1, Promise::EpochFresh),
        (Bug::Zk335, 1, Promise::InitialHistory),
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
        "ZOOKEEPER-335: every promise held; overlooked epoch-monotonicity 1, primary-uniqueness 1",
        "ZOOKEEPER-335: every promise held; overlooked epoch-monotonicity 1, primary-uniqueness 1",
        "ZOOKEEPER-2845: broken promise equal-trees: server 2 has another tree at 2:30 than others; overlooked commit-consistency 5, epoch-ack-durable 2, history-before-epoch 1, history-consistency 1, honest-vote 16, log-order 9, no-hole 9, total-order 3",
        "ZOOKEEPER-3911: broken promise epoch-ack-durable: server 2 acknowledged epoch 2 without what it begins with; overlooked history-before-epoch 1",
        "ZOOKEEPER-4643: every promise held; overlooked history-before-epoch 2",
    ]
    "#);
}
