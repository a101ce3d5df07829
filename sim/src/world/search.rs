//! A world in which time stands still: anything pending may happen next, and any timer may run
//! out. What can go wrong is bounded, and what nobody can observe is made equal.
//!
//! Elections may be coarse: [one step](super::meeting) picks a quorum and any of its members that
//! has the most, and takes them through discovery.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use zoolab_core::storage::EpochKind;
use zoolab_core::{Input, LinkId, Persist, Request, Server, ServerId, Timer, Token};

use super::act::Act;
use super::host::Host;
use super::link::Link;
use super::meeting::{Floor, Standing, may_elect, may_join, meetings};
use super::pair::Pair;
use super::possible::Cannot;
use super::{Outcome, World};
use crate::step::{Keep, Step};

/// Names of connections are as far apart, and who they are between is told by what is left.
pub(crate) const LINKS_PER_NAME: u64 = 10_000;

/// What a search is bounded by. Part of a world's setting; part of every trace.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Bounds {
    /// Whether servers that differ in nothing but their names are the same. Only where an election
    /// is one step, for otherwise names are compared; and only with `same_values`, for otherwise
    /// they are written down.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub alike: bool,
    /// Whether writes that differ in nothing but who wrote them are the same.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub same_values: bool,
    /// Whether clients that differ in nothing but their numbers are the same. They all ask for the
    /// same node then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub same_clients: bool,
    /// Whether what nobody can observe stays as it is: how many things a disk was asked for before,
    /// how many rounds of elections went by that were one step.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub as_is: bool,
    /// Whether an election, with discovery, is one step.
    pub coarse: bool,
    /// Whether disks are done at once.
    pub quick_disks: bool,
    /// How many processes may die.
    pub crashes: u8,
    /// How many machines may lose power.
    pub power_losses: u8,
    /// How many connections may break.
    pub breaks: u8,
    /// How often somebody may lose patience with a peer that is there.
    pub timeouts: u8,
    /// How many writes there are. Where there are spare servers, one of them may be a change.
    pub writes: u8,
    /// How often a client may ask for something. Its session is there as well, which takes a
    /// transaction to begin; so servers are not alike where there are clients.
    pub calls: u8,
    /// How many epochs there may be.
    pub epochs: u8,
    /// In how many rounds an election may be decided, where it is not one step.
    pub rounds: u8,
}

/// What is left of a search's bounds.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Budget {
    /// Processes that may still die.
    pub crashes: u8,
    /// Machines that may still lose power.
    pub power_losses: u8,
    /// Connections that may still break.
    pub breaks: u8,
    /// How often somebody may still lose patience.
    pub timeouts: u8,
    /// Writes still to come.
    pub writes: u8,
    /// Calls of clients still to come.
    pub calls: u8,
}

impl Bounds {
    /// Whether a search lets this timer run out.
    #[must_use]
    pub const fn waits_for(&self, timer: Timer) -> bool {
        match timer {
            Timer::Establish | Timer::HalfTick | Timer::Silent => true,
            Timer::Redial | Timer::Settle => !self.coarse,
            // Votes do not get lost, sessions and containers are not looked at, and nobody reads
            // without a leader.
            Timer::Containers | Timer::ReadOnly | Timer::Resend | Timer::Sessions => false,
        }
    }
}

impl Budget {
    /// Everything is left.
    #[must_use]
    pub const fn of(bounds: Bounds) -> Self {
        let Bounds { crashes, power_losses, breaks, timeouts, writes, calls, .. } = bounds;
        Self { crashes, power_losses, breaks, timeouts, writes, calls }
    }

    /// Takes a price off.
    ///
    /// # Panics
    /// If there is not enough.
    pub const fn pay(&mut self, price: Option<Price>) {
        let left = match price {
            None => return,
            Some(Price::Crash) => &mut self.crashes,
            Some(Price::PowerLoss) => &mut self.power_losses,
            Some(Price::Break) => &mut self.breaks,
            Some(Price::Timeout) => &mut self.timeouts,
            Some(Price::Write) => &mut self.writes,
            Some(Price::Call) => &mut self.calls,
        };
        *left -= 1;
    }

    /// Whether there is enough.
    #[must_use]
    pub const fn affords(&self, price: Option<Price>) -> bool {
        match price {
            None => true,
            Some(Price::Crash) => self.crashes > 0,
            Some(Price::PowerLoss) => self.power_losses > 0,
            Some(Price::Break) => self.breaks > 0,
            Some(Price::Timeout) => self.timeouts > 0,
            Some(Price::Write) => self.writes > 0,
            Some(Price::Call) => self.calls > 0,
        }
    }
}

/// What a step costs in a search.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Price {
    /// A process.
    Crash,
    /// The power of a machine.
    PowerLoss,
    /// A connection.
    Break,
    /// Somebody's patience.
    Timeout,
    /// One of the writes.
    Write,
    /// One of the calls.
    Call,
}

impl Host {
    /// Whether a search lets a timer run out now, and at what price. What has become pointless to
    /// wait for is for nothing: a quorum that is not there.
    #[must_use]
    pub fn patience(&self, bounds: Bounds, timer: Timer) -> Option<Option<Price>> {
        let process = self.server.as_ref().filter(|_| self.is_awake())?;
        self.timers[timer as usize]?;
        match timer {
            Timer::Establish if process.is_leading() => None,
            Timer::Establish if process.is_short() => Some(None),
            Timer::Establish => Some(Some(Price::Timeout)),
            Timer::HalfTick => (process.is_leading() && process.is_short()).then_some(None),
            Timer::Settle => (process.round() <= u64::from(bounds.rounds)).then_some(None),
            Timer::Redial => Some(None),
            Timer::Containers
            | Timer::ReadOnly
            | Timer::Resend
            | Timer::Sessions
            | Timer::Silent => None,
        }
    }

    /// What its disk is at, if that is a promise to an epoch.
    #[must_use]
    pub fn promise(&self) -> Option<Token> {
        let (token, next) = self.disk.queue().next()?;
        matches!(next, Persist::Epoch { kind: EpochKind::Accepted, .. }).then_some(token)
    }

    /// The leader whose silence it may lose patience with.
    #[must_use]
    pub fn waits_on(&self) -> Option<ServerId> {
        let process = self.server.as_ref().filter(|_| self.is_awake())?;
        self.timers[Timer::Silent as usize]?;
        process.following()
    }

    /// Everything that a search may do next with this machine, whatever surrounds it, at whatever
    /// price, always in the same order.
    pub fn choices(&self, bounds: Bounds, server: ServerId, steps: &mut Vec<Step>) {
        if self.is_awake() {
            if let Some(token) = self.disk.pending() {
                steps.push(Step::Disk { server, token });
            }
            if self.reload {
                steps.push(Step::Reload { server });
            }
            for timer in Timer::ALL {
                if self.patience(bounds, timer).is_some() {
                    steps.push(Step::Timeout { server, timer });
                }
            }
            if self.server.as_ref().is_some_and(Server::is_leading) {
                // Who wrote it makes it another.
                let value = if bounds.same_values { 0 } else { u32::from(server.0) };
                steps.push(Step::Write { server, value });
                let spares = self.server.iter().flat_map(Server::spares).take(1);
                steps.extend(spares.map(|spare| {
                    let (observe, leave) = (Vec::new(), Vec::new());
                    Step::Change { server, join: vec![spare], observe, leave }
                }));
            }
            let ways = 0..self.disk.ways(false);
            steps.extend(ways.map(|luck| Step::Crash { server, luck }));
        } else {
            steps.push(Step::Restart { server });
        }
        let ways = self.disk.ways(true);
        // Nothing to lose, and down already: no loss.
        if self.server.is_some() || ways > 1 {
            let (servers, keep) = (vec![server], Keep::Beginning);
            let loss = |luck| Step::PowerLoss { servers: servers.clone(), luck, keep };
            steps.extend((0..ways).map(loss));
        }
    }
}

impl Pair {
    /// Whether a learner may lose patience with its leader, and at what price: for nothing if that
    /// is gone without a word.
    #[must_use]
    pub fn patience(&self, server: ServerId) -> Option<Option<Price>> {
        let own = |link: &Link| link.ends[0] == server && link.open[0];
        let (_, link) = self.links.iter().find(|(_, link)| own(link))?;
        let told = link.inbound(server).ends;
        (!told).then_some(if link.open[1] { Some(Price::Timeout) } else { None })
    }

    /// What may arrive at one of the two next.
    pub fn arrivals(&self, to: ServerId, steps: &mut Vec<Step>) {
        let from = self.ends[1 - self.way(to)];
        if self.cut[self.way(from)] {
            return;
        }
        for (link, found) in self.links.iter().filter(|(_, found)| found.open[found.side(to)]) {
            let lane = found.inbound(to);
            match lane.messages.front() {
                Some(message) => {
                    let (link, kind, zxid) = (*link, message.kind(), message.zxid());
                    steps.push(Step::Deliver { link, from, to, kind, zxid });
                }
                None if lane.ends => steps.push(Step::Closed { link: *link, at: to }),
                None => {}
            }
        }
        if self.votes[self.way(from)].is_some() {
            steps.push(Step::Vote { from, to });
        }
    }

    /// Which connections may break.
    pub fn breaks(&self, steps: &mut Vec<Step>) {
        let whole = self.links.iter().filter(|(_, link)| {
            link.open == [true; 2] && !link.lanes[0].ends && !link.lanes[1].ends
        });
        steps.extend(whole.map(|(link, _)| Step::Break { link: *link }));
    }
}

impl Pair {
    /// A name for a new connection in a search: who dialled whom, the how manieth. The names of
    /// those that are gone are used again, so that worlds do not differ by how many there were.
    #[must_use]
    pub fn fresh_name(&self, from: ServerId, to: ServerId, names_from: u64) -> LinkId {
        let ends = u64::from(from.0) * 100 + u64::from(to.0);
        let mut names = (names_from..).map(|count| LinkId(count * LINKS_PER_NAME + ends));
        names.find(|id| self.link(*id).is_none()).expect("there is always another")
    }
}

impl World {
    /// A name for a new connection.
    pub(super) fn fresh_link(&mut self, from: ServerId, to: ServerId) -> LinkId {
        if self.setting.search.is_some() {
            return self.pair(from, to).fresh_name(from, to, self.names_from());
        }
        self.link_next += 1;
        LinkId(self.link_next)
    }

    /// From which number on a search names connections: all that were made before it began, while
    /// time went on, have names below.
    #[must_use]
    pub const fn names_from(&self) -> u64 {
        self.link_next.div_ceil(LINKS_PER_NAME)
    }

    /// From now on time stands still.
    pub(super) fn free(&mut self, bounds: Bounds, outcome: &mut Outcome) {
        Arc::make_mut(&mut self.setting).search = Some(bounds);
        self.budget = Budget::of(bounds);
        self.clients.make_mut().same = bounds.same_clients;
        self.share();
        for place in 0..self.hosts.len() {
            for timer in Timer::ALL {
                let waits = bounds.waits_for(timer);
                let slot = &mut self.hosts[place].make_mut().timers[timer as usize];
                *slot = slot.filter(|_| waits).map(|_| zoolab_core::Millis(0));
            }
        }
        if bounds.coarse {
            self.pairs.iter_mut().for_each(|pair| pair.make_mut().votes = [None, None]);
        }
        for place in 0..self.ids.len() {
            let server = self.ids[place];
            self.act(server, Act::Rest, outcome);
        }
    }

    /// What a step would cost in a search.
    #[must_use]
    pub fn price(&self, step: &Step) -> Option<Price> {
        match step {
            Step::Crash { .. } => Some(Price::Crash),
            Step::PowerLoss { .. } => Some(Price::PowerLoss),
            Step::Break { .. } => Some(Price::Break),
            Step::Change { .. } | Step::Write { .. } => Some(Price::Write),
            Step::Call { .. } => Some(Price::Call),
            Step::Timeout { server, timer } => self.patience(*server, *timer).flatten(),
            Step::Answer { .. }
            | Step::Ask { .. }
            | Step::Begin { .. }
            | Step::BreakConn { .. }
            | Step::CutClient { .. }
            | Step::Down { .. }
            | Step::Freeze { .. }
            | Step::GiveUp { .. }
            | Step::HealClient { .. }
            | Step::Kill { .. }
            | Step::Probe { .. }
            | Step::Reach { .. }
            | Step::Servers { .. }
            | Step::SlowClient { .. }
            | Step::Thaw { .. }
            | Step::Up { .. }
            | Step::Wake { .. }
            | Step::Want { .. }
            | Step::Closed { .. }
            | Step::Cut { .. }
            | Step::Deliver { .. }
            | Step::Dial { .. }
            | Step::Dialled { .. }
            | Step::Disk { .. }
            | Step::DiskFails { .. }
            | Step::Doom { .. }
            | Step::Drift { .. }
            | Step::Elect { .. }
            | Step::Free(_)
            | Step::Full { .. }
            | Step::HangUp { .. }
            | Step::Heal { .. }
            | Step::Join { .. }
            | Step::Jump { .. }
            | Step::LoseVote { .. }
            | Step::Pause { .. }
            | Step::Reload { .. }
            | Step::RepeatVote { .. }
            | Step::Restart { .. }
            | Step::Resume { .. }
            | Step::Rot { .. }
            | Step::SlowDisk { .. }
            | Step::SlowLink { .. }
            | Step::Vote { .. }
            | Step::Wipe { .. } => None,
        }
    }

    /// Whether a search lets a timer run out now, and at what price.
    fn patience(&self, server: ServerId, timer: Timer) -> Option<Option<Price>> {
        let bounds = self.setting.search?;
        let host = self.host(server);
        match timer {
            Timer::Silent => self.pair(server, host.waits_on()?).patience(server),
            Timer::Containers
            | Timer::Establish
            | Timer::HalfTick
            | Timer::ReadOnly
            | Timer::Redial
            | Timer::Resend
            | Timer::Sessions
            | Timer::Settle => host.patience(bounds, timer),
        }
    }

    /// Everything that a search may do next with one server alone, at whatever price, always in
    /// the same order.
    pub fn choices(&self, server: ServerId, steps: &mut Vec<Step>) {
        let (host, bounds) = (self.host(server), self.setting.search.unwrap_or_default());
        host.choices(bounds, server, steps);
        for pair in self.pairs.iter().filter(|pair| pair.ends.contains(&server)) {
            let peer = pair.ends[1 - pair.way(server)];
            if host.is_awake() {
                pair.arrivals(server, steps);
            }
            if host.waits_on() == Some(peer) && pair.patience(server).is_some() {
                steps.push(Step::Timeout { server, timer: Timer::Silent });
            }
            if pair.ends[0] == server {
                pair.breaks(steps);
            }
        }
    }

    /// Everything that a search may do next with several servers at once: connecting, and
    /// elections, where they are coarse; and with clients. Always in the same order.
    pub fn choices_together(&self, steps: &mut Vec<Step>) {
        let bounds = self.setting.search.unwrap_or_default();
        let all = self.standing();
        let of = |server| &all[self.place(server).expect("a server of this world")];
        meetings(&self.ids, &of, bounds, steps);
        let serves = |server| of(server).serves;
        let awake = |server| of(server).awake;
        self.clients.choices(&self.ids, serves, awake, self.budget.calls > 0, steps);
    }

    fn standing(&self) -> Vec<Standing> {
        self.hosts.iter().map(|host| host.standing()).collect()
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "only four kinds of steps come here")]
    pub(super) fn can_in_search(&self, step: &Step) -> Result<(), Cannot> {
        let says = |it: bool, why: &str| it.then_some(()).ok_or_else(|| Cannot(why.into()));
        let coarse = || {
            let coarse = self.setting.search.is_some_and(|bounds| bounds.coarse);
            says(coarse, "elections are not one step here")
        };
        let all = self.standing();
        let of = |server| &all[self.place(server).expect("a server of this world")];
        match step {
            Step::Free(_) => says(self.setting.search.is_none(), "time stands still already"),
            Step::Elect { leader, followers } => {
                coarse()?;
                followers.iter().chain([leader]).try_for_each(|server| self.known(*server))?;
                let bounds = self.setting.search.unwrap_or_default();
                may_elect(*leader, followers, &of, bounds)
            }
            Step::Join { leader, server } => {
                coarse()?;
                [leader, server].into_iter().try_for_each(|server| self.known(*server))?;
                may_join(*leader, *server, &of)
            }
            Step::Write { server, .. } => {
                self.known(*server)?;
                let host = self.host(*server);
                let leads = host.server.as_ref().is_some_and(Server::is_leading);
                says(leads && host.is_awake(), "it does not lead")
            }
            _ => unreachable!("{step} happens outside of searches, too"),
        }
    }

    /// A write that nobody waits for.
    pub(super) fn write(&mut self, server: ServerId, value: u32, outcome: &mut Outcome) {
        let data = Some(Arc::from(value.to_be_bytes()));
        let request = Request::SetData { path: "/".into(), data, version: -1 };
        self.input(server, outcome, || Input::Own(request));
    }
}

/// A world in which servers meet.
pub(super) struct Meeting<'a> {
    world: &'a mut World,
    outcome: &'a mut Outcome,
}

impl World {
    pub(super) const fn meeting<'a>(&'a mut self, outcome: &'a mut Outcome) -> Meeting<'a> {
        Meeting { world: self, outcome }
    }
}

impl Floor for Meeting<'_> {
    fn act(&mut self, server: ServerId, act: Act) {
        self.world.act(server, act, self.outcome);
    }

    fn open(&mut self, from: ServerId, to: ServerId) -> Option<LinkId> {
        let world = &mut *self.world;
        let there = world.place(to).is_some_and(|place| world.hosts[place].server.is_some());
        if !there || world.is_cut(from, to) || world.is_cut(to, from) {
            return None;
        }
        let link = world.fresh_link(from, to);
        world.pair_mut(from, to).links.push((link, Link::new(from, to)));
        Some(link)
    }

    fn discover(&mut self, from: ServerId, to: ServerId) -> bool {
        let link = self.world.pair(from, to).discovering(to);
        if let Some(link) = link {
            self.world.deliver(link, from, to, self.outcome);
        }
        link.is_some()
    }

    fn promise(&mut self, server: ServerId) -> bool {
        let promise = self.world.host(server).promise();
        if let Some(token) = promise {
            self.act(server, Act::Disk(token));
        }
        promise.is_some()
    }
}
