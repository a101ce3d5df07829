//! Random by seed: delays, faults and clients, each from its own stream of chance.
//!
//! ```text
//!   trouble: faults, clients ---> calm: everything is mended ---> well, or stuck
//! ```

mod apps;
mod calm;
mod change;
mod trouble;

use std::collections::BTreeSet;

use zoolab_core::ServerId;

use super::{Choice, Strategy};
use crate::rng::Stream;
use crate::schedule::{Due, Schedule};
use crate::step::{Call, ClientId, Instant, Step, Way};
use crate::swarm::{Family, Plan, Work};
use crate::world::apps::conn_number;
use crate::world::{Pending, World};

/// How often, in the calm, it is looked whether all is well.
const LOOK_US: u64 = 500_000;

/// Something to think of at a certain time.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Thought {
    /// An application may do something.
    App(ClientId),
    /// The trouble is over.
    Calm,
    /// Others could be in the ensemble.
    Change,
    /// A client may do something.
    Client(ClientId),
    /// Something may go wrong.
    Fault(u8),
    /// Something that went wrong may be mended.
    Mend(Mend),
    /// Is all well?
    Look,
}

/// What mends a fault.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Mend {
    AllServers(ClientId),
    Heal(ServerId, ServerId),
    HealClient(ClientId, ServerId, Way),
    Quicken(ServerId, ServerId),
    QuickenClient(ClientId),
    QuickenDisk(ServerId),
    Restart(ServerId),
    Resume(ServerId),
    Room(ServerId),
    Straighten(ServerId),
    Thaw(ClientId),
}

/// A fault that lies in wait for a server in the midst of joining its leader: that takes so short
/// that hardly any other would hit it.
#[derive(Clone, Copy, Debug)]
struct Ambush {
    family: Family,
    luck: u64,
    /// How many writes are let pass.
    writes: u64,
    /// How long until the server is started again.
    for_us: u64,
}

/// See the [module](self).
#[derive(Debug)]
pub struct Seeded {
    plan: Plan,
    schedule: Schedule<Thought>,
    delays: Stream,
    work: Stream,
    /// What applications want, and what is not due at once.
    programs: Stream,
    faults: Vec<(Family, u64, Stream)>,
    /// What becomes of votes, if anything: one in so many is lost, repeated or late.
    votes: Option<(u64, Stream)>,
    /// Who else could be in the ensemble, and how long between two such thoughts.
    changes: Option<(u64, Stream)>,
    /// Strikes a server that is being brought up to date, once.
    ambush: Option<Ambush>,
    /// The due time of the last thing on each connection, each way: order is kept. By number:
    /// connections count up.
    lanes: Vec<[Instant; 2]>,
    /// The same of applications' connections.
    conns: Vec<[Instant; 2]>,
    /// Steps decided on and not yet taken.
    next: Vec<Step>,
    calm: bool,
    /// Servers whose disks may be lost.
    victims: BTreeSet<ServerId>,
    /// The requests that each client had done when the calm began.
    done_before: Vec<u64>,
    /// The calls of each application that were answered when the calm began.
    answered_before: Vec<u64>,
    value: u32,
    rolling: Vec<ServerId>,
}

impl Seeded {
    /// A run of this plan by this seed.
    #[must_use]
    pub fn new(plan: Plan, seed: u64, world: &World) -> Self {
        let mut schedule = Schedule::new();
        let mut start = Stream::new(seed, "start");
        let next: Vec<Step> =
            world.servers().iter().rev().map(|server| Step::Restart { server: *server }).collect();
        for (client, _) in world.clients() {
            let at = Instant(start.below(3_000_000));
            schedule.push(at, Due::Thought(Thought::Client(client)));
        }
        let mut programs = Stream::new(seed, "programs");
        for (client, _) in world.apps() {
            let at = Instant(programs.below(3_000_000));
            schedule.push(at, Due::Thought(Thought::App(client)));
        }
        let faults: Vec<(Family, u64, Stream)> = plan
            .faults
            .iter()
            .map(|(family, every_ms)| {
                (*family, u64::from(*every_ms) * 1000, Stream::new(seed, family.name()))
            })
            .collect();
        let votes = plan.faults.iter().find(|(family, _)| *family == Family::Votes);
        let votes = votes.map(|(family, every_ms)| {
            (2 + u64::from(*every_ms) / 2000, Stream::new(seed, family.name()))
        });
        for (place, (_, every_us, _)) in faults.iter().enumerate() {
            let at = Instant(2_000_000 + start.below(*every_us * 2));
            schedule.push(at, Due::Thought(Thought::Fault(place as u8)));
        }
        let changes = (plan.change_ms > 0).then(|| {
            let mut stream = Stream::new(seed, "changes");
            let every_us = u64::from(plan.change_ms) * 1000;
            let at = Instant(1_000_000 + stream.below(every_us));
            schedule.push(at, Due::Thought(Thought::Change));
            (every_us, stream)
        });
        schedule.push(Instant(plan.trouble_ms * 1000), Due::Thought(Thought::Calm));
        let mut voters: Vec<ServerId> = world.ensemble().quorum.voters().into_iter().collect();
        let mut victims = BTreeSet::new();
        for _ in 0..plan.disks_lost {
            if !voters.is_empty() {
                let place = start.below(voters.len() as u64) as usize;
                victims.insert(voters.remove(place));
            }
        }
        Self {
            plan,
            schedule,
            delays: Stream::new(seed, "delays"),
            work: Stream::new(seed, "work"),
            programs,
            faults,
            votes,
            changes,
            ambush: None,
            lanes: Vec::new(),
            conns: Vec::new(),
            next,
            calm: false,
            victims,
            done_before: Vec::new(),
            answered_before: Vec::new(),
            value: 0,
            rolling: Vec::new(),
        }
    }

    fn later(&mut self, at: Instant, us: u64, thought: Thought) {
        self.schedule.push(Instant(at.0 + us), Due::Thought(thought));
    }

    fn think(&mut self, at: Instant, thought: Thought, world: &World) -> Option<Choice> {
        match thought {
            Thought::App(client) => self.app(at, client, world),
            Thought::Calm => {
                self.calm = true;
                let answered = world.apps().map(|(_, app)| app.deeds.answered);
                self.answered_before = answered.collect();
                self.done_before = world.clients().map(|(_, client)| client.done).collect();
                self.mend_all(world);
                self.later(at, LOOK_US, Thought::Look);
            }
            Thought::Client(client) => self.client(at, client, world),
            Thought::Fault(place) if !self.calm => self.fault(at, usize::from(place), world),
            Thought::Fault(_) => {}
            Thought::Change => self.change(at, world),
            Thought::Mend(mend) => self.mend(mend, world),
            Thought::Look => return self.look(at, world),
        }
        None
    }

    /// A vote may get lost, or come once more.
    fn fate(&mut self, step: Step) -> Step {
        match (step, &mut self.votes) {
            (Step::Vote { from, to }, Some((of, stream))) if !self.calm => {
                match stream.below(*of * 2) {
                    0 => Step::LoseVote { from, to },
                    1 => Step::RepeatVote { from, to },
                    _ => Step::Vote { from, to },
                }
            }
            (step, _) => step,
        }
    }

    /// By how much a vote is late.
    fn lateness(&mut self) -> u64 {
        let calm = self.calm;
        let stream = self.votes.as_mut().filter(|_| !calm);
        stream.map_or(
            0,
            |(of, stream)| {
                if stream.one_in(*of) { stream.around(2_000_000) } else { 0 }
            },
        )
    }

    fn anything(&mut self, client: ClientId, world: &World) -> Option<Call> {
        let node = self.work.below(u64::from(world.setting().nodes.max(1))) as u16;
        self.value += 1;
        let value = self.value;
        Some(match self.work.below(32) {
            0..=5 => Call::Create { node },
            6..=8 => Call::CreateEphemeral { node },
            9..=11 => Call::Delete { node },
            12..=20 => Call::Set { node, value },
            21..=25 => Call::Get { node },
            26 => Call::Sync { node },
            27 | 28 => Call::Multi { node, other: node.wrapping_add(1) },
            29 if self.work.one_in(8) => Call::Close,
            29 if self.work.one_in(2) => {
                self.next.push(Step::HangUp { client });
                return None;
            }
            _ => Call::Ping,
        })
    }

    /// A client's first request makes its node, all others change it.
    fn write(&mut self, client: ClientId, world: &World) -> Call {
        self.value += 1;
        let node = client.0 % world.setting().nodes.max(1);
        match world.client(client).done {
            0 => Call::Create { node },
            _ => Call::Set { node, value: self.value },
        }
    }

    fn client(&mut self, at: Instant, client: ClientId, world: &World) {
        let think = self.work.around(u64::from(self.plan.think_us));
        self.later(at, think.max(1), Thought::Client(client));
        let this = world.client(client);
        let Some(conn) = &this.conn else {
            if let Some(server) = self.work.pick(world.servers()).copied() {
                self.next.push(Step::Dial { client, server });
            }
            return;
        };
        if !conn.ready || this.waiting >= u32::from(self.plan.depth) {
            // Whoever waits for too long tries another server.
            if self.work.one_in(40) {
                self.next.push(Step::HangUp { client });
            }
            return;
        }
        if self.calm && this.done > self.done_before[usize::from(client.0)] + 3 {
            // Enough has been seen; the session is kept alive.
            if self.work.one_in(4) {
                self.next.push(Step::Call { client, call: Call::Ping });
            }
            return;
        }
        let call = match self.plan.work {
            Work::Mixed => self.anything(client, world),
            Work::Pings => Some(Call::Ping),
            Work::Writes => Some(self.write(client, world)),
        };
        let Some(call) = call else { return };
        self.next.push(Step::Call { client, call });
    }
}

impl Strategy for Seeded {
    fn choose(&mut self, world: &World) -> Choice {
        loop {
            while let Some(step) = self.next.pop() {
                let at = world.now();
                if world.can(at, &step).is_ok() {
                    return Choice::Take(at, step);
                }
            }
            let Some((at, due)) = self.schedule.pop() else {
                return Choice::Stuck("nothing is left to happen".into());
            };
            let at = at.max(world.now());
            match due {
                Due::Pending(Pending::Disk(server)) if self.strikes(at, server, world) => {}
                Due::Pending(pending) => {
                    let step = self.schedule.step(at, pending, world);
                    if let Pending::Vote { .. } = pending
                        && let Some(step) = step
                    {
                        return Choice::Take(at, self.fate(step));
                    } else if let Some(step) = step {
                        return Choice::Take(at, step);
                    }
                }
                Due::Thought(thought) => {
                    if let Some(choice) = self.think(at, thought, world) {
                        return choice;
                    }
                    if let Some(step) = self.next.pop()
                        && world.can(at, &step).is_ok()
                    {
                        return Choice::Take(at, step);
                    }
                }
            }
        }
    }

    fn learn(&mut self, world: &World, fresh: &[Pending]) {
        let now = world.now();
        for pending in fresh {
            let mean = u64::from(self.plan.delay_us);
            let at = match *pending {
                Pending::Timer { server, timer } => match world.host(server).due(timer) {
                    Some(due) => due.max(now),
                    None => continue,
                },
                Pending::Disk(server) => {
                    let slow = u64::from(world.host(server).disk_slow_us);
                    let us = self.delays.around(u64::from(self.plan.disk_us)) + slow;
                    Instant(now.0 + us)
                }
                Pending::Reload(_) => Instant(now.0 + self.delays.around(mean)),
                Pending::Message { link, from, to } => {
                    let us = self.delays.around(mean);
                    let slow = world.slow_us(from, to);
                    let place = link.0 as usize;
                    if self.lanes.len() <= place {
                        self.lanes.resize(place + 1, [Instant(0); 2]);
                    }
                    let lane = &mut self.lanes[place][usize::from(from < to)];
                    let at = Instant(now.0 + us + u64::from(slow)).max(*lane);
                    *lane = at;
                    at
                }
                Pending::Vote { from, to } => {
                    let slow = u64::from(world.slow_us(from, to));
                    Instant(now.0 + self.delays.around(mean) + slow + self.lateness())
                }
                Pending::Answer(_) | Pending::Ask(_) | Pending::Dialled { .. } => {
                    Instant(now.0 + self.delays.around(mean))
                }
                Pending::Probe(client) | Pending::Reach(client) => {
                    let slow = u64::from(world.app(client).slow_us);
                    Instant(now.0 + self.delays.around(mean) + slow)
                }
                Pending::Down(conn) | Pending::Up(conn) => {
                    let Some(found) = world.conn(conn) else { continue };
                    let slow = u64::from(world.app(found.client).slow_us);
                    let us = self.delays.around(mean) + slow;
                    let place = conn_number(conn) as usize;
                    if self.conns.len() <= place {
                        self.conns.resize(place + 1, [Instant(0); 2]);
                    }
                    let way = usize::from(matches!(pending, Pending::Up(_)));
                    let lane = &mut self.conns[place][way];
                    *lane = Instant(now.0 + us).max(*lane);
                    *lane
                }
                Pending::Wake { client, timer } => {
                    let Some((due, spread_ms)) = world.app(client).due(timer) else { continue };
                    let spread_us = match spread_ms {
                        0 => 0,
                        most => self.programs.below(u64::from(most) + 1) * 1000,
                    };
                    Instant(due.0 + spread_us).max(now)
                }
            };
            self.schedule.push(at, Due::Pending(*pending));
        }
    }
}
