//! A crash between any two file operations: what was promised is there, and nothing that never was.

use std::collections::BTreeMap;

use proptest::prelude::*;
use zoolab_core::storage::{Disk, EpochKind, FileOp, RecoverError, Rules, TruncateError, recover};
use zoolab_core::{Epoch, Zxid};

use crate::RULES;
use crate::history::{History, State, Wish, wishes};
use crate::power::Power;
use crate::scribe::{Scribe, install};

/// One thing a server asks of its disk.
#[derive(Clone, Debug)]
enum Ask {
    Append(Vec<Wish>),
    BeginSnapshot,
    Epoch(EpochKind),
    /// The snapshot of a leader that lacks so many transactions, and has others.
    Install(usize, Vec<Wish>),
    Purge,
    Roll,
    Sync,
    /// Back by so many transactions.
    Truncate(usize),
    WriteSnapshot(usize),
}

fn asks() -> impl Strategy<Value = Vec<Ask>> {
    let ask = prop_oneof![
        8 => wishes(5).prop_map(Ask::Append),
        2 => Just(Ask::BeginSnapshot),
        5 => (1..8_usize).prop_map(Ask::WriteSnapshot),
        1 => Just(Ask::Epoch(EpochKind::Accepted)),
        1 => Just(Ask::Epoch(EpochKind::Current)),
        2 => (0..4_usize, proptest::option::of(wishes(4)))
            .prop_map(|(back, wishes)| Ask::Install(back, wishes.unwrap_or_default())),
        1 => Just(Ask::Purge),
        1 => Just(Ask::Roll),
        4 => Just(Ask::Sync),
        2 => (0..6_usize).prop_map(Ask::Truncate),
    ];
    proptest::collection::vec(ask, 1..14)
}

/// What may be found on disk.
#[derive(Clone)]
struct Promise {
    /// Every state that the server may have.
    states: BTreeMap<Zxid, State>,
    /// The oldest of them that will do.
    least: Zxid,
    accepted: Epoch,
    current: Epoch,
}

impl Promise {
    fn allows(&self, zxid: Zxid, state: &State) -> bool {
        zxid >= self.least && self.states.get(&zxid) == Some(state)
    }
}

struct Stage {
    power: Power,
    disk: Disk,
    scribe: Scribe,
    history: History,
    promise: Promise,
    chance: u64,
}

impl Stage {
    fn new(preallocate: u64, chance: u64) -> Self {
        let history = History::new();
        let states = BTreeMap::from([(Zxid::ZERO, history.state())]);
        let (accepted, current) = (Epoch(0), Epoch(0));
        let promise = Promise { states, least: Zxid::ZERO, accepted, current };
        let rules = Rules { preallocate, ..RULES };
        let fresh = recover(&Default::default(), &rules).unwrap();
        let mut stage = Self {
            power: Power::default(),
            disk: fresh.disk,
            scribe: Scribe::default(),
            history,
            promise,
            chance,
        };
        let promise = stage.promise.clone();
        stage.carry_out(&fresh.repairs, promise);
        stage
    }

    /// Carries operations out, crashing before and after each of them.
    fn carry_out(&mut self, ops: &[FileOp], after: Promise) {
        for op in ops {
            self.crash(&[&self.promise.clone(), &after]);
            self.power.perform(op);
        }
        self.promise = after;
        self.crash(&[&self.promise.clone()]);
    }

    fn crash(&mut self, promises: &[&Promise]) {
        check(&self.power.process_crash(), promises, "the process crashed");
        for _ in 0..2 {
            let seed = &mut self.chance;
            let mut chance = |of: usize| {
                *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (*seed >> 33) as usize % of
            };
            check(&self.power.power_loss(&mut chance), promises, "the power went");
        }
    }

    fn ask(&mut self, ask: &Ask) {
        let mut ops = Vec::new();
        let mut after = self.promise.clone();
        let zxid_last = self.history.zxid;
        match ask {
            Ask::Append(wishes) => {
                let mut txns = Vec::new();
                for wish in wishes {
                    if let Some(txn) = self.history.perform(wish) {
                        after.states.insert(self.history.zxid, self.history.state());
                        txns.push(txn);
                    }
                }
                txns.iter().for_each(|txn| self.disk.append(txn, &mut ops));
                // A server promises itself to an epoch before it takes anything of it.
                let epoch = self.history.zxid.epoch();
                if epoch > after.accepted {
                    after.accepted = epoch;
                    let mut first = Vec::new();
                    self.disk.write_epoch(EpochKind::Accepted, epoch, &mut first);
                    ops.splice(0..0, first);
                }
            }
            Ask::BeginSnapshot => {
                self.scribe.begin(&self.history, &mut self.disk, &mut ops);
                after.least = zxid_last;
            }
            Ask::Epoch(EpochKind::Accepted) => {
                after.accepted = Epoch(after.accepted.0 + 1);
                self.disk.write_epoch(EpochKind::Accepted, after.accepted, &mut ops);
            }
            Ask::Epoch(EpochKind::Current) => {
                after.current = after.accepted;
                self.disk.write_epoch(EpochKind::Current, after.current, &mut ops);
            }
            Ask::Install(back, wishes) => {
                if let Some((zxid, state)) = after.states.iter().rev().nth(*back) {
                    self.history = History::at(*zxid, state.clone());
                }
                self.history.perform(&Wish::Epoch);
                for wish in wishes {
                    self.history.perform(wish);
                }
                let zxid = self.history.zxid;
                let epoch = zxid.epoch();
                if epoch > after.accepted {
                    after.accepted = epoch;
                    self.disk.write_epoch(EpochKind::Accepted, epoch, &mut ops);
                }
                install(&self.history, &mut self.disk, &mut ops);
                after.states = BTreeMap::from([(zxid, self.history.state())]);
                after.least = zxid;
            }
            Ask::Purge => self.disk.purge(1, &mut ops),
            Ask::Roll => {
                self.disk.roll(&mut ops);
                after.least = zxid_last;
            }
            Ask::Sync => {
                self.disk.sync(&mut ops);
                after.least = zxid_last;
            }
            Ask::Truncate(back) => {
                let to = *after.states.keys().rev().nth(*back).unwrap_or(&Zxid::ZERO);
                match self.disk.truncate(to, &self.power.process_crash(), &mut ops) {
                    Ok(()) => {
                        // What is cut off may go piece by piece.
                        self.promise.least = self.promise.least.min(to);
                        after.states.retain(|zxid, _| *zxid <= to);
                        after.least = to;
                        self.history = History::at(to, after.states[&to].clone());
                    }
                    Err(TruncateError::NoSnapshot { .. } | TruncateError::NotInLog { .. }) => {
                        assert!(ops.is_empty());
                    }
                    Err(error) => panic!("{error}"),
                }
            }
            Ask::WriteSnapshot(nodes) => {
                if self.scribe.go_on(&self.history, *nodes, &mut self.disk, &mut ops) {
                    after.least = zxid_last;
                }
            }
        }
        self.carry_out(&ops, after);
    }
}

fn check(files: &zoolab_core::storage::Files, promises: &[&Promise], how: &str) {
    let mut files = files.clone();
    let before = files.clone();
    let recovered = match recover(&files, &RULES) {
        Ok(recovered) => recovered,
        Err(error) => panic!("{how}: {error}: {:?}", names(&before)),
    };
    let state = (recovered.saved.tree, recovered.saved.sessions);
    let zxid = recovered.saved.zxid_last;
    let allowed = promises.iter().any(|promise| promise.allows(zxid, &state));
    let least: Vec<Zxid> = promises.iter().map(|promise| promise.least).collect();
    assert!(allowed, "{how}: found {zxid}, promised {least:?}: {:?}", names(&before));
    let current = |promise: &&Promise| recovered.saved.current_epoch >= promise.current;
    assert!(promises.iter().any(current), "{how}: current epoch {}", recovered.saved.current_epoch);
    let accepted = |promise: &&Promise| recovered.saved.accepted_epoch >= promise.accepted;
    assert!(
        promises.iter().any(accepted),
        "{how}: accepted epoch {}",
        recovered.saved.accepted_epoch
    );
    // A crash within the repairs is a crash as well.
    for op in &recovered.repairs {
        files.perform(op).unwrap_or_else(|error| panic!("{how}: {op}: {error}"));
        let again = recover(&files, &RULES).unwrap_or_else(|error| panic!("{how}: {op}: {error}"));
        assert_eq!(again.saved.zxid_last, zxid, "{how}: {op}");
        assert!((again.saved.tree, again.saved.sessions) == state, "{how}: {op}: another tree");
    }
}

fn names(files: &zoolab_core::storage::Files) -> Vec<String> {
    files.iter().map(|(name, bytes)| format!("{name} ({})", bytes.len())).collect()
}

proptest! {
    #[test]
    fn a_crash_anywhere_keeps_what_was_promised(
        asks in asks(),
        preallocate in prop_oneof![Just(0), Just(300)],
        chance in any::<u64>(),
    ) {
        let mut stage = Stage::new(preallocate, chance);
        for ask in &asks {
            stage.ask(ask);
        }
    }
}

/// Logs without a snapshot are the rest of a history, never its beginning.
#[test]
fn a_lost_snapshot_is_not_an_empty_tree() {
    let mut stage = Stage::new(0, 1);
    stage.ask(&Ask::Append(vec![Wish::Open { session: 1 }]));
    let files = stage.power.process_crash();
    let rest = files.iter().filter(|(name, _)| name.to_string() != "snapshot.0");
    let rest = rest.map(|(name, bytes)| (name, bytes.to_vec())).collect();
    assert_eq!(recover(&rest, &RULES), Err(RecoverError::NoSnapshot { skipped: Vec::new() }));
}
