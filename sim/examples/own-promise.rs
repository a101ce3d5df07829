//! Your own application under every failure, and your own promise about it: what a test in your
//! own CI would do.
//!
//! The application registers names: each client makes one node after the other. The promise: a
//! name that a client was told is registered stays so, whoever leads.
//!
//! ```console
//! $ cargo run --release -p zoolab-sim --example own-promise -- 100
//! $ cargo run --release -p zoolab-sim --example own-promise -- 100 --rogue
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use zoolab_core::Note;
use zoolab_sim::checker::Checkers;
use zoolab_sim::drive::{Done, End, Onlooker, drive};
use zoolab_sim::seen::Seen;
use zoolab_sim::setting::SettingError;
use zoolab_sim::step::{Call, ClientId, Instant, Step};
use zoolab_sim::strategy::seeded::Seeded;
use zoolab_sim::strategy::{Choice, Strategy};
use zoolab_sim::swarm::{Plan, Work};
use zoolab_sim::trace::{Header, Trace};
use zoolab_sim::world::{Pending, World};

/// The application: what clients ask for. When they do, and what goes wrong meanwhile, is left to
/// the seed.
struct Registering {
    seeded: Seeded,
    /// Whether somebody tidies up what is not theirs: the fault that the promise has to find.
    rogue: bool,
}

impl Strategy for Registering {
    fn choose(&mut self, world: &World) -> Choice {
        let choice = self.seeded.choose(world);
        // The seed would have them say that they are there; they have something better to do.
        let Choice::Take(at, Step::Call { client, .. }) = choice else { return choice };
        let this = world.client(client);
        let (clients, finished) = (world.setting().clients, this.done + this.refused);
        let nth = u16::try_from(finished).unwrap_or(u16::MAX);
        let call = match client {
            ClientId(0) if self.rogue && nth % 4 == 3 => Call::Delete { node: clients },
            // Nobody's node is another's.
            ClientId(own) => Call::Create { node: own.saturating_add(clients.saturating_mul(nth)) },
        };
        Choice::Take(at, Step::Call { client, call })
    }

    fn learn(&mut self, world: &World, fresh: &[Pending]) {
        self.seeded.learn(world, fresh);
    }
}

/// The promise. It sees what clients are told, and looks into whoever leads.
#[derive(Default)]
struct Registered {
    /// What each client waits for, and how much it had got done before.
    asked: BTreeMap<ClientId, (u16, u64)>,
    names: BTreeSet<u16>,
    broken: Option<String>,
    /// All steps, for the trace.
    steps: Vec<(Instant, Step)>,
}

impl Registered {
    fn look(&mut self, world: &World) {
        let Some(leader) = world.leader() else { return };
        let Some(server) = &world.host(leader).server else { return };
        let is_there = |node: &&u16| server.tree().get(&format!("/n{node}")).is_some();
        if let Some(node) = self.names.iter().find(|node| !is_there(node)) {
            self.broken = Some(format!("server {leader} leads, and /n{node} is not registered"));
        }
    }
}

impl Onlooker for Registered {
    fn before(&mut self, _: u64, at: Instant, step: &Step) {
        self.steps.push((at, step.clone()));
    }

    fn after(&mut self, done: &Done<'_>) -> bool {
        let mut news = done
            .seen
            .iter()
            .any(|event| matches!(event, Seen::Note { note: Note::Established(_), .. }));
        if let Step::Call { client, call: Call::Create { node } } = done.step {
            self.asked.insert(*client, (*node, done.world.client(*client).done));
        }
        if let Step::Answer { client } = done.step
            && let Some((node, before)) = self.asked.get(client)
            && done.world.client(*client).done > *before
        {
            self.names.insert(*node);
            self.asked.remove(client);
            news = true;
        }
        if news {
            self.look(done.world);
        }
        self.broken.is_none()
    }
}

/// A run in which something failed.
pub(crate) struct Failure {
    pub(crate) what: String,
    pub(crate) trace: Trace,
}

/// One run, everything drawn from this seed. Also gives how many names were registered.
pub(crate) fn run(seed: u64, rogue: bool) -> Result<(usize, Option<Failure>), SettingError> {
    // Who is there and what goes wrong is drawn; what matters to the application is said.
    let mut plan = Plan::draw(seed);
    plan.setting.clients = 3;
    plan.setting.nodes = 4096;
    plan.work = Work::Pings;
    plan.depth = 1;
    let header = Header::new(seed, plan.clone());
    let mut world = World::new(plan.setting.clone())?;
    let mut application = Registering { seeded: Seeded::new(plan, seed, &world), rogue };
    let mut checkers = Checkers::new(Arc::clone(world.ensemble()), &[]);
    let mut promise = Registered::default();
    let report = drive(&mut world, &mut application, &mut checkers, &mut promise);
    let what = match (promise.broken, report.end) {
        (Some(broken), _) => Some(format!("registered-stays: {broken}")),
        (None, End::Held) => None,
        (None, end) => Some(end.to_string()),
    };
    let trace = Trace { header, steps: promise.steps, ending: None };
    Ok((promise.names.len(), what.map(|what| Failure { what, trace })))
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let seeds = arguments.next().and_then(|count| count.parse().ok());
    let (Some(seeds), rogue) = (seeds, arguments.next().as_deref() == Some("--rogue")) else {
        eprintln!("own-promise: expected a number of seeds, and --rogue or nothing");
        return ExitCode::from(2);
    };
    let mut names = 0;
    for seed in 0..seeds {
        match run(seed, rogue) {
            Ok((registered, None)) => names += registered,
            Ok((_, Some(failure))) => {
                println!("seed {seed}: {}", failure.what);
                let path = Path::new("target/traces/own-promise.jsonl");
                match failure.trace.write(path) {
                    Ok(()) => println!("zoolab show {} -o page.html", path.display()),
                    Err(error) => eprintln!("own-promise: {}: {error}", path.display()),
                }
                return ExitCode::FAILURE;
            }
            Err(error) => {
                eprintln!("own-promise: seed {seed}: {error}");
                return ExitCode::from(2);
            }
        }
    }
    println!("{seeds} seeds, {names} names registered: all of them stayed");
    ExitCode::SUCCESS
}
