//! Faults bite: the effect of each family is to be seen in what happens.

use std::collections::BTreeMap;

use zoolab_core::{Note, ServerId, Why};
use zoolab_sim::drive::{Done, End, Onlooker, run};
use zoolab_sim::seen::Seen;
use zoolab_sim::step::{Keep, Step};
use zoolab_sim::swarm::Family;

use crate::watching::{Watching, plan};

fn note(event: &Seen) -> Option<&Note> {
    if let Seen::Note { note, .. } = event { Some(note) } else { None }
}

/// The longest that a message, or a disk, took.
fn slowest(watching: &Watching) -> (u64, u64) {
    let mut sent: BTreeMap<(ServerId, ServerId), std::collections::VecDeque<u64>> = BTreeMap::new();
    let (mut message, mut disk) = (0, 0);
    let mut appended: BTreeMap<ServerId, u64> = BTreeMap::new();
    for (place, event) in &watching.seen {
        let at = watching.steps[*place].0.0;
        match event {
            Seen::Sent { from, to, .. } => sent.entry((*from, *to)).or_default().push_back(at),
            Seen::Delivered { from, to, .. } => {
                let then = sent.get_mut(&(*from, *to)).and_then(|queue| queue.pop_front());
                message = message.max(at - then.unwrap_or(at));
            }
            Seen::Appended { server, .. } => {
                appended.entry(*server).or_insert(at);
            }
            Seen::Synced { server, .. } => {
                disk = disk.max(at - appended.remove(server).unwrap_or(at));
            }
            _ => {}
        }
    }
    (message, disk)
}

#[test]
fn nothing_goes_wrong_in_peace() {
    let (watching, report) = Watching::run(&plan(&[]), 1);
    assert_eq!(report.figures.epochs, 1);
    assert_eq!(watching.count(|event| matches!(event, Seen::Crashed { .. })), 0);
    assert!(report.figures.commits > 500, "{}", report.figures.commits);
    let (message, disk) = slowest(&watching);
    assert!(message < 50_000 && disk < 100_000, "{message} {disk}");
}

#[test]
fn broken_connections_are_noticed_at_both_ends() {
    let (watching, report) = Watching::run(&plan(&[Family::Break]), 1);
    let broken = watching.places(|step| matches!(step, Step::Break { .. }));
    let mut both = 0;
    for place in broken {
        let Step::Break { link } = watching.steps[place].1 else { unreachable!() };
        let closed =
            |step: &Step| matches!(step, Step::Closed { link: other, .. } if *other == link);
        both += usize::from(watching.steps[place..].iter().filter(|(_, s)| closed(s)).count() == 2);
    }
    assert!(both > 0);
    assert!(watching.count(|e| note(e) == Some(&Note::Left(Why::Closed))) > 0);
    assert!(report.figures.elections > 5, "somebody had to look for a leader again");
}

#[test]
fn clocks_jump_and_drift() {
    let mut back = 0;
    for seed in 0..6 {
        let (watching, _) = Watching::run(&plan(&[Family::Clock]), seed);
        assert!(!watching.places(|step| matches!(step, Step::Jump { .. })).is_empty());
        let drift = |step: &Step| matches!(step, Step::Drift { ppm, .. } if *ppm != 0);
        assert!(!watching.places(drift).is_empty());
        // Wall clocks that are set back show in the times of transactions.
        let times: Vec<i64> = watching
            .seen
            .iter()
            .filter_map(|(_, event)| {
                let Some(Note::Proposed(txn)) = note(event) else { return None };
                Some(txn.stamp.time.0)
            })
            .collect();
        back += times.windows(2).filter(|pair| pair[1] < pair[0]).count();
    }
    assert!(back > 0, "time never went back");
}

#[test]
fn crashed_processes_come_back_with_what_was_safe() {
    let (watching, report) = Watching::run(&plan(&[Family::Crash]), 1);
    assert!(report.figures.crashes > 3);
    let started = watching.count(|event| matches!(event, Seen::Started { .. }));
    assert_eq!(started as u64, 5 + report.figures.crashes);
    assert!(
        watching.count(|e| matches!(e, Seen::Started { saved, .. } if saved.zxid_last.0 > 0)) > 0
    );
}

#[test]
fn nothing_gets_through_a_cut() {
    let mut epochs = 0;
    for seed in 0..6 {
        epochs += cut_off(seed);
    }
    assert!(epochs > 6, "no leader was ever cut off");
}

fn cut_off(seed: u64) -> u64 {
    let (watching, report) = Watching::run(&plan(&[Family::Cut]), seed);
    let mut cut = std::collections::BTreeSet::new();
    let mut cuts = 0;
    for (_, step) in &watching.steps {
        match step {
            Step::Cut { from, to } => {
                cuts += 1;
                cut.insert((*from, *to));
            }
            Step::Heal { from, to } => {
                cut.remove(&(*from, *to));
            }
            Step::Deliver { from, to, .. } | Step::Vote { from, to } => {
                assert!(!cut.contains(&(*from, *to)), "{step}");
            }
            _ => {}
        }
    }
    assert!(cuts > 3, "{cuts}");
    report.figures.epochs
}

#[test]
fn a_failed_sync_stops_a_server() {
    let (watching, _) = Watching::run(&plan(&[Family::DiskFail]), 1);
    let failed = watching.places(|step| matches!(step, Step::DiskFails { .. })).len();
    assert!(failed > 0);
    assert_eq!(watching.count(|event| matches!(event, Seen::Halted { .. })), failed);
}

#[test]
fn processes_die_between_two_outputs() {
    let (watching, _) = Watching::run(&plan(&[Family::Doom]), 1);
    let died = watching.seen.iter().filter(|(place, event)| {
        matches!(event, Seen::Crashed { .. })
            && !matches!(watching.steps[*place].1, Step::Crash { .. })
    });
    let places: Vec<usize> = died.map(|(place, _)| *place).collect();
    assert!(!places.is_empty());
    // Some of them when a message was being dealt with.
    assert!(places.iter().any(|place| matches!(watching.steps[*place].1, Step::Deliver { .. })));
}

#[test]
fn a_full_disk_stops_a_server() {
    let (watching, _) = Watching::run(&plan(&[Family::Full]), 1);
    let full = watching.places(|step| matches!(step, Step::Full { full: true, .. }));
    assert!(!full.is_empty());
    assert!(watching.count(|event| matches!(event, Seen::Halted { .. })) > 0);
}

#[test]
fn a_paused_server_does_nothing() {
    let (watching, report) = Watching::run(&plan(&[Family::Pause]), 1);
    let mut paused = std::collections::BTreeSet::new();
    let mut pauses = 0;
    for (_, step) in &watching.steps {
        match step {
            Step::Pause { server } => {
                pauses += 1;
                paused.insert(*server);
            }
            Step::Resume { server } => {
                paused.remove(server);
            }
            Step::Deliver { to: server, .. }
            | Step::Vote { to: server, .. }
            | Step::Disk { server, .. }
            | Step::Timeout { server, .. } => assert!(!paused.contains(server), "{step}"),
            _ => {}
        }
    }
    assert!(pauses > 3);
    assert!(report.figures.elections > 5, "nobody was missed");
}

#[test]
fn power_loss_loses_what_was_not_safe_and_tears() {
    let mut lost = 0;
    let mut torn = 0;
    for seed in 0..6 {
        let (watching, report) = Watching::run(&plan(&[Family::Power]), seed);
        assert!(report.figures.power_losses > 0);
        torn += report.figures.reached.get("torn tail").copied().unwrap_or(0);
        let mut last = BTreeMap::new();
        for (_, event) in &watching.seen {
            match event {
                Seen::Appended { server, txn } => {
                    last.insert(*server, txn.stamp.zxid);
                }
                Seen::Started { server, saved, .. } => {
                    lost += usize::from(last.get(server).is_some_and(|had| saved.zxid_last < *had));
                }
                _ => {}
            }
        }
    }
    assert!(lost > 0, "everything written was always kept");
    assert!(torn > 0, "no tail was ever torn");
}

#[test]
fn a_power_loss_may_leave_holes() {
    let (mut holes, mut refused) = (0, 0);
    // Much is under way when the power goes.
    let mut plan = plan(&[Family::Power]);
    (plan.disk_us, plan.depth, plan.think_us) = (50_000, 10, 2000);
    for seed in 0..10 {
        let (watching, _) = Watching::run(&plan, seed);
        let any = |step: &Step| matches!(step, Step::PowerLoss { keep: Keep::Any, .. });
        let places = watching.places(any);
        let left = |(place, event): &&(usize, Seen)| {
            matches!(event, Seen::Rotten { .. }) && places.contains(place)
        };
        holes += watching.seen.iter().filter(left).count();
        refused += watching.count(|event| matches!(event, Seen::Refused { .. }));
    }
    assert!(holes > 0, "what was written first was always kept first");
    assert!(refused > 0, "no hole was ever found out");
}

/// Nobody tells the peers of a machine without power; until it starts again they take their
/// connections for open, and what they say goes nowhere.
#[test]
fn a_power_loss_leaves_connections_half_open() {
    struct HalfOpen {
        links: usize,
        closed_later: usize,
        known: std::collections::BTreeSet<zoolab_core::LinkId>,
    }
    impl Onlooker for HalfOpen {
        fn after(&mut self, done: &Done<'_>) -> bool {
            match done.step {
                Step::PowerLoss { .. } => {
                    let half = done.world.links().filter(|(_, link)| link.open[0] != link.open[1]);
                    self.known.extend(half.map(|(id, _)| id));
                    self.links = self.links.max(self.known.len());
                }
                Step::Closed { link, .. } => {
                    self.closed_later += usize::from(self.known.contains(link));
                }
                _ => {}
            }
            true
        }
    }
    let mut look = HalfOpen { links: 0, closed_later: 0, known: Default::default() };
    let report = run(&plan(&[Family::Power]), 1, &mut look).expect("the plan can be");
    assert_eq!(report.end, End::Held);
    assert!(look.links > 0, "every connection was closed at both ends at once");
    assert!(look.closed_later > 0, "nobody ever noticed");
}

#[test]
fn rolling_restarts_go_through_all_servers() {
    let (watching, _) = Watching::run(&plan(&[Family::Rolling]), 1);
    let crashed: Vec<ServerId> = watching
        .steps
        .iter()
        .filter_map(|(_, step)| match step {
            Step::Crash { server, .. } => Some(*server),
            _ => None,
        })
        .collect();
    assert_eq!(crashed[..5], [5, 4, 3, 2, 1].map(ServerId));
}

#[test]
fn flipped_bits_are_found_out() {
    let mut refused = 0;
    for seed in 0..10 {
        let (watching, report) = Watching::run(&plan(&[Family::Rot, Family::Crash]), seed);
        refused += watching.count(|event| matches!(event, Seen::Refused { .. }));
        refused += report.figures.reached.get("snapshot skipped").copied().unwrap_or(0) as usize;
    }
    assert!(refused > 0, "no flipped bit was noticed");
}

#[test]
fn slow_links_and_disks_take_their_time() {
    let (mut messages, mut disks) = (0, 0);
    for seed in 0..6 {
        let (watching, _) = Watching::run(&plan(&[Family::Slow]), seed);
        let (message, disk) = slowest(&watching);
        (messages, disks) = (messages.max(message), disks.max(disk));
    }
    assert!(messages > 100_000, "{messages}");
    assert!(disks > 100_000, "{disks}");
}

#[test]
fn votes_get_lost_come_twice_and_late() {
    let plan = plan(&[Family::Votes, Family::Crash]);
    let (watching, _) = Watching::run(&plan, 1);
    assert!(!watching.places(|step| matches!(step, Step::LoseVote { .. })).is_empty());
    assert!(!watching.places(|step| matches!(step, Step::RepeatVote { .. })).is_empty());
}

#[test]
fn a_wiped_server_is_given_everything_again() {
    let (watching, report) = Watching::run(&plan(&[Family::Wipe]), 1);
    assert!(watching.count(|event| matches!(event, Seen::Wiped { .. })) > 0);
    assert!(watching.count(|event| matches!(event, Seen::Installed { .. })) > 0);
    assert!(report.figures.reached["data missing"] > 0);
}
