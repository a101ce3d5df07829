//! Makes the traces in `traces/shown` anew: for each thing worth showing, the shortest of many
//! runs of a small ensemble in which it happens. To be run when steps change their meaning.
//!
//! ```console
//! $ cargo run --release -p zoolab-sim --example exemplary -- traces/shown
//! ```

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use zoolab_core::{Branch, Note, storage};
use zoolab_sim::drive::{Done, Onlooker, run};
use zoolab_sim::seen::Seen;
use zoolab_sim::step::{Instant, Step};
use zoolab_sim::swarm::{Family, Plan};
use zoolab_sim::trace::{Header, Recorder};

/// How many seeds are looked through.
const SEEDS: u64 = 3000;
/// How much is shown of what comes after.
const STEPS_AFTER: u64 = 60;

struct Show {
    name: &'static str,
    about: &'static str,
    is: fn(&Seen) -> bool,
}

fn reached(event: &Seen, branch: Branch) -> bool {
    matches!(event, Seen::Note { note: Note::Reached(other), .. } if *other == branch)
}

const SHOWS: [Show; 8] = [
    Show {
        name: "election",
        about: "Three servers find a leader, and its epoch begins.",
        is: |event| matches!(event, Seen::Note { note: Note::Established(_), .. }),
    },
    Show {
        name: "diff",
        about: "A learner lacks some transactions and is sent them (DIFF).",
        is: |event| reached(event, Branch::Diff),
    },
    Show {
        name: "trunc",
        about: "A learner has more than its leader and cuts it off (TRUNC).",
        is: |event| reached(event, Branch::Trunc),
    },
    Show {
        name: "trunc-diff",
        about: "A learner has something else than its leader: it cuts that off and is sent the rest (TRUNC, then as DIFF).",
        is: |event| reached(event, Branch::TruncDiff),
    },
    Show {
        name: "snap",
        about: "A learner is too far behind and is sent everything (SNAP).",
        is: |event| reached(event, Branch::Snap),
    },
    Show {
        name: "torn-tail",
        about: "Power is lost while the log is written; the torn entry is found at the start.",
        is: |event| {
            let torn = |note: &storage::Note| matches!(note, storage::Note::Torn { .. });
            matches!(event, Seen::Started { notes, .. } if notes.iter().any(torn))
        },
    },
    Show {
        name: "epoch-raised",
        about: "A server finds transactions of an epoch in its log that it had not noted yet.",
        is: |event| {
            let raised = |note: &storage::Note| matches!(note, storage::Note::EpochRaised { .. });
            matches!(event, Seen::Started { notes, .. } if notes.iter().any(raised))
        },
    },
    Show {
        name: "wiped",
        about: "A server whose disk was lost has no vote until it has been given everything.",
        is: |event| reached(event, Branch::DataMissing),
    },
];

/// Looks for something, and stops some time after it.
struct Search {
    is: fn(&Seen) -> bool,
    stop: Option<u64>,
    most: u64,
}

impl Onlooker for Search {
    fn after(&mut self, done: &Done<'_>) -> bool {
        if self.stop.is_none() && done.seen.iter().any(|event| (self.is)(event)) {
            self.stop = Some(done.place + STEPS_AFTER);
        }
        done.place < self.stop.unwrap_or(self.most)
    }
}

/// Writes down what happens up to a certain step.
struct Until {
    recorder: Recorder,
    stop: u64,
}

impl Onlooker for Until {
    fn before(&mut self, place: u64, at: Instant, step: &Step) {
        self.recorder.before(place, at, step);
    }

    fn after(&mut self, done: &Done<'_>) -> bool {
        done.place < self.stop
    }
}

fn plan() -> Plan {
    let mut plan = Plan::quiet(3);
    plan.faults = vec![(Family::Power, 3000), (Family::Cut, 4000), (Family::Wipe, 9000)];
    plan.disks_lost = 1;
    plan.trouble_ms = 15_000;
    plan.think_us = 200_000;
    plan.disk_us = 10_000;
    plan.setting.clients = 2;
    plan.setting.recent = 20;
    plan
}

fn make(show: &Show, folder: &Path) -> Result<PathBuf, String> {
    let plan = plan();
    let mut best: Option<(u64, u64)> = None;
    for seed in 0..SEEDS {
        let most = best.map_or(u64::MAX, |(stop, _)| stop);
        let mut search = Search { is: show.is, stop: None, most };
        run(&plan, seed, &mut search).map_err(|error| error.to_string())?;
        if let Some(stop) = search.stop.filter(|stop| *stop < most) {
            best = Some((stop, seed));
        }
    }
    let (stop, seed) = best.ok_or_else(|| format!("{} does not happen", show.name))?;
    let path = folder.join(show.name).with_extension("jsonl");
    let wrong = |error: std::io::Error| format!("{}: {error}", path.display());
    let header = Header { about: Some(show.about.into()), ..Header::new(seed, plan.clone()) };
    let recorder = Recorder::create(&path, &header).map_err(wrong)?;
    let mut until = Until { recorder, stop };
    let report = run(&plan, seed, &mut until).map_err(|error| error.to_string())?;
    until.recorder.finish(&report).map_err(wrong)?;
    Ok(path)
}

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("expected the folder to write to, as in traces/shown");
        return ExitCode::from(2);
    };
    for show in &SHOWS {
        match make(show, &folder) {
            Ok(path) => println!("{}", path.display()),
            Err(why) => {
                eprintln!("{why}");
                return ExitCode::from(2);
            }
        }
    }
    ExitCode::SUCCESS
}
