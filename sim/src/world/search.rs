//! A world in which time stands still: anything pending may happen next, and any timer may run
//! out. What can go wrong is bounded, and what nobody can observe is made equal.
//!
//! Elections may be coarse: one step picks a quorum and any of its members that has the most,
//! and takes them through discovery, by the same inputs that would get them there one by one.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use zoolab_core::election::Decision;
use zoolab_core::storage::EpochKind;
use zoolab_core::zab::MessageKind;
use zoolab_core::{Epoch, Input, LinkId, Persist, Request, Server, ServerId, Timer};

use super::act::Act;
use super::host::Host;
use super::link::Link;
use super::pair::Pair;
use super::possible::Cannot;
use super::{Outcome, World};
use crate::step::{Keep, Step};

/// What a search is bounded by. Part of a world's setting; part of every trace.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Bounds {
    /// Whether servers that differ in nothing but their names, and writes that differ in nothing
    /// but who wrote them, are the same.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub alike: bool,
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
    /// How many writes there are.
    pub writes: u8,
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
}

impl Bounds {
    /// Whether a search lets this timer run out.
    #[must_use]
    pub const fn waits_for(&self, timer: Timer) -> bool {
        match timer {
            Timer::Establish | Timer::HalfTick | Timer::Silent => true,
            Timer::Redial | Timer::Settle => !self.coarse,
            // Votes do not get lost, sessions and containers are not looked at.
            Timer::Containers | Timer::Resend | Timer::Sessions => false,
        }
    }
}

impl Budget {
    /// Everything is left.
    #[must_use]
    pub const fn of(bounds: Bounds) -> Self {
        let Bounds { crashes, power_losses, breaks, timeouts, writes, .. } = bounds;
        Self { crashes, power_losses, breaks, timeouts, writes }
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
            Timer::Containers | Timer::Resend | Timer::Sessions | Timer::Silent => None,
        }
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
                let value = if bounds.alike { 0 } else { u32::from(server.0) };
                steps.push(Step::Write { server, value });
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

impl World {
    /// A name for a new connection. In a search the names of those that are gone are used again,
    /// so that worlds do not differ by how many there were.
    pub(super) fn fresh_link(&mut self, from: ServerId, to: ServerId) -> LinkId {
        if self.setting.search.is_none() {
            self.link_next += 1;
            return LinkId(self.link_next);
        }
        let name = |count: u64| LinkId(count * 10_000 + u64::from(from.0) * 100 + u64::from(to.0));
        let mut names = (self.counts_from()..).map(name);
        names.find(|id| self.link(*id).is_none()).expect("there is always another")
    }

    /// From where on connections named by a search are counted: past all those that had a number
    /// before time stood still, so that none of them has such a name.
    pub(crate) const fn counts_from(&self) -> u64 {
        self.link_next.div_ceil(10_000)
    }

    /// From now on time stands still.
    pub(super) fn free(&mut self, bounds: Bounds, outcome: &mut Outcome) {
        Arc::make_mut(&mut self.setting).search = Some(bounds);
        self.budget = Budget::of(bounds);
        self.share();
        for place in 0..self.hosts.len() {
            for timer in Timer::ALL {
                let waits = bounds.waits_for(timer);
                let slot = &mut self.hosts[place].make_mut().timers[timer as usize];
                *slot = slot.filter(|_| waits).map(|_| zoolab_core::Millis(0));
            }
        }
        if bounds.coarse {
            self.pairs.iter_mut().for_each(|pair| pair.make_mut().votes = [None; 2]);
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
            Step::Write { .. } => Some(Price::Write),
            Step::Timeout { server, timer } => self.patience(*server, *timer).flatten(),
            Step::Answer { .. }
            | Step::Ask { .. }
            | Step::Call { .. }
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
    /// elections, where they are coarse.
    pub fn choices_together(&self, steps: &mut Vec<Step>) {
        for (from, host) in self.ids.iter().zip(&self.hosts) {
            let dials =
                host.dials.iter().map(|to| super::Pending::Dialled { from: *from, to: *to });
            steps.extend(dials.filter_map(|dial| self.step_of(dial)));
        }
        let looking: Vec<ServerId> =
            self.ids.iter().copied().filter(|id| self.is_looking(*id)).collect();
        if looking.is_empty() || !self.setting.search.is_some_and(|bounds| bounds.coarse) {
            return;
        }
        for members in 1_u64..1 << looking.len() {
            let chosen = (0..looking.len()).filter(|place| members >> place & 1 == 1);
            let chosen: Vec<ServerId> = chosen.map(|place| looking[place]).collect();
            for leader in &chosen {
                let followers = chosen.iter().copied().filter(|id| id != leader).collect();
                let step = Step::Elect { leader: *leader, followers };
                if self.can_in_search(&step).is_ok() {
                    steps.push(step);
                }
            }
        }
        for leader in self.ids.iter() {
            for server in &looking {
                let step = Step::Join { leader: *leader, server: *server };
                if self.can_in_search(&step).is_ok() {
                    steps.push(step);
                }
            }
        }
    }

    fn is_looking(&self, server: ServerId) -> bool {
        let host = self.host(server);
        host.is_awake() && host.server.as_ref().is_some_and(Server::is_looking)
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "only four kinds of steps come here")]
    pub(super) fn can_in_search(&self, step: &Step) -> Result<(), Cannot> {
        let says = |it: bool, why: &str| it.then_some(()).ok_or_else(|| Cannot(why.into()));
        let coarse = || {
            let coarse = self.setting.search.is_some_and(|bounds| bounds.coarse);
            says(coarse, "elections are not one step here")
        };
        let looking = |server: ServerId| {
            self.known(server)?;
            let is = self.is_looking(server);
            is.then_some(()).ok_or_else(|| Cannot(format!("server {server} does not look")))
        };
        match step {
            Step::Free(_) => says(self.setting.search.is_none(), "time stands still already"),
            Step::Elect { leader, followers } => {
                coarse()?;
                looking(*leader)?;
                followers.iter().try_for_each(|server| looking(*server))?;
                let ballot =
                    |server: &ServerId| self.host(*server).server.as_ref().and_then(Server::ballot);
                let most = |ballot: zoolab_core::election::Ballot| (ballot.epoch, ballot.zxid);
                let best = followers.iter().chain([leader]).filter_map(ballot).map(most).max();
                let own = ballot(leader).map(most);
                says(own.is_some() && own == best, "somebody there has more, or none may lead")?;
                let quorum = &self.ensemble.quorum;
                let enough = quorum.is_enough_if(|id| id == *leader || followers.contains(&id));
                says(enough && quorum.weight(*leader) > 0, "these are no quorum")?;
                let apart = followers.windows(2).all(|two| two[0] < two[1]);
                says(apart && !followers.contains(leader), "each is to be named once, in order")?;
                let all = followers.iter().chain([leader]);
                let accepted = all.map(|id| self.accepted(*id)).max().unwrap_or_default();
                let bounds = self.setting.search.unwrap_or_default();
                says(accepted.0 < u32::from(bounds.epochs), "there are no more epochs")
            }
            Step::Join { leader, server } => {
                coarse()?;
                looking(*server)?;
                self.known(*leader)?;
                let host = self.host(*leader);
                let process = host.server.as_ref().filter(|_| host.is_awake());
                let epoch = process.and_then(Server::leads_epoch);
                says(epoch.is_some_and(|epoch| epoch >= self.accepted(*server)), "nobody to join")
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

    fn accepted(&self, server: ServerId) -> Epoch {
        let process = self.host(server).server.as_ref();
        process.map_or(Epoch(0), |process| process.epochs().0)
    }

    /// A quorum finds a leader, and discovery is done; what follows is not.
    pub(super) fn elect(
        &mut self,
        leader: ServerId,
        followers: &[ServerId],
        outcome: &mut Outcome,
    ) {
        let ballot = self.host(leader).server.as_ref().and_then(Server::ballot);
        let ballot = ballot.expect("it may lead");
        let decision = Decision { ballot, round: 1 };
        for server in [leader].into_iter().chain(followers.iter().copied()) {
            self.input(server, outcome, || Input::Elected(decision));
        }
        self.meet(leader, followers, outcome);
    }

    /// One more finds the leader.
    pub(super) fn join(&mut self, leader: ServerId, server: ServerId, outcome: &mut Outcome) {
        let zxid = zoolab_core::Zxid::ZERO;
        let ballot = zoolab_core::election::Ballot { epoch: Epoch(0), zxid, leader };
        self.input(server, outcome, || Input::Elected(Decision { ballot, round: 1 }));
        self.meet(leader, &[server], outcome);
    }

    /// Learners connect, present themselves, are told the epoch and promise themselves to it.
    fn meet(&mut self, leader: ServerId, learners: &[ServerId], outcome: &mut Outcome) {
        for learner in learners {
            self.dialled(*learner, leader, outcome);
        }
        let mut busy = true;
        while std::mem::take(&mut busy) {
            for learner in learners {
                for (from, to) in [(*learner, leader), (leader, *learner)] {
                    while let Some(link) = self.discovering(from, to) {
                        self.deliver(link, from, to, outcome);
                        busy = true;
                    }
                }
            }
            for server in [leader].iter().chain(learners) {
                let next = self.host(*server).disk.queue().next();
                if let Some((token, Persist::Epoch { kind: EpochKind::Accepted, .. })) = next {
                    self.act(*server, Act::Disk(token), outcome);
                    busy = true;
                }
            }
        }
    }

    /// The connection on which a message of discovery is next.
    fn discovering(&self, from: ServerId, to: ServerId) -> Option<LinkId> {
        let pair = self.pair(from, to);
        let next = pair.links.iter().find(|(_, link)| {
            let first = link.inbound(to).messages.front().map(|message| message.kind());
            link.open[link.side(to)]
                && matches!(
                    first,
                    Some(
                        MessageKind::AckEpoch
                            | MessageKind::FollowerInfo
                            | MessageKind::LeaderInfo
                            | MessageKind::ObserverInfo
                    )
                )
        });
        next.map(|(link, _)| *link)
    }

    /// A write that nobody waits for.
    pub(super) fn write(&mut self, server: ServerId, value: u32, outcome: &mut Outcome) {
        let data = Some(Arc::from(value.to_be_bytes()));
        let request = Request::SetData { path: "/".into(), data, version: -1 };
        self.input(server, outcome, || Input::Own(request));
    }
}
