//! Bugs of real servers are found in the smallest ensembles that show them, by a shortest way;
//! without them every state of the same ensembles is in order.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;

use zoolab_core::Bug;
use zoolab_sim::checker::{Checkers, Promise, Violation};
use zoolab_sim::drive::{self, Nobody, drive};
use zoolab_sim::search::{Broken, End, Figures, Limits, Search};
use zoolab_sim::setting::Setting;
use zoolab_sim::states::{Begin, Ensemble, Preset, Root, sets_of, words_of};
use zoolab_sim::step::{Instant, Step};
use zoolab_sim::strategy::replay::Replay;
use zoolab_sim::world::{Bounds, World};

/// A bug, where it is looked for, and which promises are to be broken; any, if none is named.
#[derive(Clone)]
struct Case {
    bug: Bug,
    watched: &'static [Promise],
    begin: Begin,
    bounds: Bounds,
}

impl Case {
    fn setting(&self, bugs: &[Bug]) -> Setting {
        let small = Preset::named("small").expect("there is one");
        let mut setting = Preset { bounds: self.bounds, ..small }.setting();
        setting.bugs = bugs.to_vec();
        setting.promises = self.watched.to_vec();
        setting
    }

    fn root(&self, bugs: &[Bug]) -> Root {
        Root::begin(self.begin, self.setting(bugs)).expect("three servers are an ensemble")
    }

    /// Where it is looked for, in a few words.
    fn place(&self) -> String {
        let Bounds { crashes, power_losses, breaks, writes, epochs, quick_disks, .. } = self.bounds;
        let mut place = match self.begin {
            Begin::Fresh => String::from("fresh"),
            Begin::Led => String::from("led"),
            Begin::Proposed => String::from("proposed"),
        };
        for (count, what) in [
            (writes, "writes"),
            (crashes, "crashes"),
            (power_losses, "power losses"),
            (breaks, "breaks"),
            (epochs, "epochs"),
        ] {
            if count > 0 {
                place.push_str(&format!(", {what} {count}"));
            }
        }
        if quick_disks {
            place.push_str(", quick disks");
        }
        place
    }
}

/// Nothing but elections.
fn calm() -> Bounds {
    let small = Preset::named("small").expect("there is one").bounds;
    Bounds { writes: 0, crashes: 0, epochs: 1, ..small }
}

/// Each bug with the fewest writes and faults that show it.
fn tightest() -> [Case; 11] {
    let case = |bug, begin, bounds| Case { bug, watched: &[], begin, bounds };
    let one = Bounds { writes: 1, ..calm() };
    let successor = Bounds { crashes: 1, epochs: 2, ..one };
    let three = Bounds { writes: 3, power_losses: 2, epochs: 3, quick_disks: true, ..calm() };
    [
        case(Bug::Zk335, Begin::Led, Bounds { breaks: 1, epochs: 2, ..calm() }),
        case(Bug::Zk1154, Begin::Led, Bounds { writes: 2, power_losses: 1, epochs: 2, ..calm() }),
        case(Bug::Zk2845, Begin::Led, Bounds { breaks: 1, ..one }),
        case(Bug::Zk3023, Begin::Fresh, successor),
        case(Bug::Zk3911, Begin::Fresh, successor),
        case(Bug::Zk4394, Begin::Fresh, one),
        case(Bug::Zk4643, Begin::Fresh, successor),
        case(Bug::Zk4685, Begin::Fresh, one),
        case(Bug::AckSurvivesTrunc, Begin::Led, Bounds { breaks: 1, ..one }),
        case(Bug::TruncNotSynced, Begin::Led, Bounds { breaks: 1, power_losses: 1, ..one }),
        case(Bug::TruncSnapshotNotSynced, Begin::Proposed, three),
    ]
}

/// What comes of some of them later, if the first sign does not end it.
fn damage() -> [Case; 7] {
    let case = |bug, watched, begin, bounds| Case { bug, watched, begin, bounds };
    let lost: &[Promise] = &[Promise::LeaderCompleteness];
    let one = Bounds { writes: 1, epochs: 2, ..calm() };
    let two = Bounds { writes: 2, ..one };
    let apart = Bounds { alike: false, same_values: false, ..two };
    [
        case(
            Bug::Zk335,
            &[Promise::ZxidUniqueness],
            Begin::Led,
            Bounds { power_losses: 1, epochs: 1, ..apart },
        ),
        case(
            Bug::Zk2845,
            &[Promise::ProcessConsistency],
            Begin::Led,
            Bounds { power_losses: 1, ..one },
        ),
        case(
            Bug::Zk3911,
            lost,
            Begin::Proposed,
            Bounds { power_losses: 2, epochs: 3, quick_disks: true, ..two },
        ),
        case(
            Bug::Zk4643,
            lost,
            Begin::Proposed,
            Bounds { power_losses: 1, crashes: 1, epochs: 3, ..two },
        ),
        case(Bug::AckSurvivesTrunc, lost, Begin::Led, Bounds { breaks: 1, power_losses: 1, ..one }),
        case(
            Bug::TruncNotSynced,
            &[Promise::BootTotality],
            Begin::Led,
            Bounds { breaks: 1, power_losses: 1, epochs: 1, ..one },
        ),
        case(
            Bug::TruncSnapshotNotSynced,
            &[Promise::QuorumDurability],
            Begin::Proposed,
            Bounds { writes: 3, power_losses: 3, epochs: 3, quick_disks: true, ..calm() },
        ),
    ]
}

/// What a search of all states comes to.
#[derive(Debug, Eq, PartialEq)]
struct Found {
    end: End,
    figures: Figures,
    broken: Option<Broken>,
    way: Option<Vec<Step>>,
}

fn search(root: &Root, threads: usize) -> Found {
    let space =
        Ensemble::<{ words_of(3) }, { sets_of(3) }>::new(root.world.clone(), root.checkers.clone());
    let mut search = Search::new(&space, true);
    let threads = NonZeroUsize::new(threads).expect("not zero");
    let end = search.run(&Limits::default(), threads, &mut |_| ControlFlow::Continue(()));
    Found {
        end,
        figures: search.figures().clone(),
        broken: search.broken(),
        way: search.path_to_broken().map(|path| space.steps(&path)),
    }
}

/// Performs a way as a search goes it: what its last step breaks.
fn judged(root: &Root, way: &[Step]) -> Violation {
    let mut root = root.clone();
    let (last, before) = way.split_last().expect("nothing is broken at the beginning");
    for step in before {
        root.follow(root.world.now(), step).expect("it is the last that breaks a promise");
    }
    let mut outcome = Default::default();
    root.world.step(root.world.now(), last, &mut outcome);
    root.checkers.observe(&outcome.seen).expect_err("it breaks a promise")
}

/// Performs it from the very beginning, as anybody would.
fn performed(case: &Case, root: &Root, way: &[Step]) -> drive::End {
    let mut world = World::new(case.setting(&[case.bug])).expect("bugs are built into tests");
    let mut checkers = Checkers::new(Arc::clone(world.ensemble()), case.watched);
    let mut steps = root.steps.clone();
    steps.extend(way.iter().map(|step| (Instant(0), step.clone())));
    drive(&mut world, &mut Replay::new(&steps), &mut checkers, &mut Nobody).end
}

/// How a bug is found: in so many steps, past so many states that are nearer, by breaking this.
fn found(case: &Case) -> String {
    let root = case.root(&[case.bug]);
    let found = search(&root, 1);
    assert_eq!(found.end, End::Broken, "{}: {}", case.bug, case.place());
    let way = found.way.expect("a promise is broken");
    let violation = judged(&root, &way);
    assert_eq!(performed(case, &root, &way), drive::End::Violated(violation.clone()));
    let nearer: u64 = found.figures.layers.iter().take(way.len()).sum();
    format!("{} ({}): {} steps, {nearer} nearer: {violation}", case.bug, case.place(), way.len())
}

#[test]
fn each_is_found_in_the_fewest_steps() {
    let cases = tightest();
    let found: Vec<String> = cases.iter().map(found).collect();
    insta::assert_debug_snapshot!(found, @r#"
    [
        "ZOOKEEPER-335 (led, breaks 1, epochs 2): 3 steps, 4 nearer: one-promise: server 2 promised itself to epoch 1 twice",
        "ZOOKEEPER-1154 (led, writes 2, power losses 1, epochs 2): 23 steps, 39785 nearer: history-consistency: server 1 logged 2:1 after 1:1, the epoch began with 0:0",
        "ZOOKEEPER-2845 (led, writes 1, breaks 1, epochs 1): 5 steps, 38 nearer: honest-vote: server 2 votes for server 2 at 0:0 of epoch 1, safe are epoch 1 and 1:1",
        "ZOOKEEPER-3023 (fresh, writes 1, crashes 1, epochs 2): 19 steps, 8725 nearer: commit-consistency: server 3 serves epoch 2 with 0:0, it began with 1:1",
        "ZOOKEEPER-3911 (fresh, writes 1, crashes 1, epochs 2): 15 steps, 3914 nearer: history-before-epoch: server 3 noted epoch 2 with 0:0 safe, 1:1 is due",
        "ZOOKEEPER-4394 (fresh, writes 1, epochs 1): 20 steps, 415 nearer: commit-matches: server 3 left its leader: commit 1:1 where nothing was proposed",
        "ZOOKEEPER-4643 (fresh, writes 1, crashes 1, epochs 2): 15 steps, 3914 nearer: history-before-epoch: server 3 noted epoch 2 with 0:0 safe, 1:1 is due",
        "ZOOKEEPER-4685 (fresh, writes 1, epochs 1): 13 steps, 162 nearer: ack-in-order: server 3 acknowledged 1:1 before what the epoch begins with",
        "ACK-SURVIVES-TRUNC (led, writes 1, breaks 1, epochs 1): 10 steps, 373 nearer: committed-durability: server 2 is to give up 1:1, which is committed",
        "TRUNC-NOT-SYNCED (led, writes 1, power losses 1, breaks 1, epochs 1): 9 steps, 1885 nearer: truncation-durable: server 2 read 1:1 again, which it had cut off",
        "TRUNC-SNAPSHOT-NOT-SYNCED (proposed, writes 3, power losses 2, epochs 3, quick disks): 16 steps, 41705 nearer: history-before-epoch: server 1 noted epoch 3 with 1:1 safe, 2:1 is due",
    ]
    "#);
}

#[test]
fn without_it_every_state_is_in_order() {
    let mut seen: Vec<(Begin, Bounds)> = Vec::new();
    let mut complete = Vec::new();
    for case in tightest() {
        if seen.contains(&(case.begin, case.bounds)) {
            continue;
        }
        let found = search(&case.root(&[]), 2);
        let (end, broken) = (found.end, found.figures.broken);
        assert_eq!((end, broken), (End::Complete, 0), "{}", case.place());
        let (states, depth) = (found.figures.distinct, found.figures.depth());
        complete.push(format!("{}: {states} states, depth {depth}", case.place()));
        seen.push((case.begin, case.bounds));
    }
    insta::assert_debug_snapshot!(complete, @r#"
    [
        "led, breaks 1, epochs 2: 17 states, depth 9",
        "led, writes 2, power losses 1, epochs 2: 65019 states, depth 38",
        "led, writes 1, breaks 1, epochs 1: 1229 states, depth 23",
        "fresh, writes 1, crashes 1, epochs 2: 23787 states, depth 41",
        "fresh, writes 1, epochs 1: 400 states, depth 24",
        "led, writes 1, power losses 1, breaks 1, epochs 1: 26117 states, depth 36",
        "proposed, writes 3, power losses 2, epochs 3, quick disks: 279812 states, depth 41",
    ]
    "#);
}

#[test]
fn past_the_first_sign_lies_the_damage() {
    let found: Vec<String> = damage().iter().map(found).collect();
    insta::assert_debug_snapshot!(found, @r#"
    [
        "ZOOKEEPER-335 (led, writes 2, power losses 1, epochs 1): 10 steps, 4054 nearer: zxid-uniqueness: server 3 has another 1:1 than was first proposed",
        "ZOOKEEPER-2845 (led, writes 1, power losses 1, epochs 2): 10 steps, 779 nearer: process-consistency: server 2 joins epoch 2 with 1:1, beside its leader's history",
        "ZOOKEEPER-3911 (proposed, writes 2, power losses 2, epochs 3, quick disks): 14 steps, 7268 nearer: leader-completeness: server 3 leads epoch 3 with 1:1, committed is 1:2",
        "ZOOKEEPER-4643 (proposed, writes 2, crashes 1, power losses 1, epochs 3): 16 steps, 33502 nearer: leader-completeness: server 3 leads epoch 3 with 1:1, committed is 1:2",
        "ACK-SURVIVES-TRUNC (led, writes 1, power losses 1, breaks 1, epochs 2): 15 steps, 23875 nearer: leader-completeness: server 2 leads epoch 2 with 0:0, committed is 1:1",
        "TRUNC-NOT-SYNCED (led, writes 1, power losses 1, breaks 1, epochs 1): 15 steps, 11327 nearer: boot-totality: server 2 does not start again: its log has 1:1 after 1:1",
        "TRUNC-SNAPSHOT-NOT-SYNCED (proposed, writes 3, power losses 3, epochs 3, quick disks): 17 steps, 195599 nearer: quorum-durability: epoch 3 begins with 2:1, which no quorum has safe",
    ]
    "#);
}

#[test]
fn one_thread_or_two_find_the_same_way() {
    let cases = tightest();
    for bug in [Bug::Zk4643, Bug::TruncNotSynced] {
        let case = cases.iter().find(|case| case.bug == bug).expect("each is there");
        let root = case.root(&[bug]);
        assert_eq!(search(&root, 1), search(&root, 2), "{bug}");
    }
}
