//! Everything there is, as one value. Two equal worlds have equal futures.
//!
//! ```text
//!   Step ---> [ hosts: server, disk, clocks | links, votes, cuts | clients ] ---> Seen, Pending
//! ```
//!
//! [`World::step`] is the only thing that changes a world. It holds no generator: what chance
//! decides is in the step. What a step leaves to be done comes out as [`Pending`], so that
//! whoever picks the next step need not list everything each time.

pub mod act;
pub mod apps;
pub mod bytes;
pub mod change;
pub mod client;
pub mod clients;
pub mod clock;
pub mod disk;
mod held;
pub mod host;
mod life;
pub mod link;
pub mod meeting;
mod members;
mod outputs;
pub mod pair;
mod possible;
pub mod records;
mod search;
mod visit;

use std::iter::once_with;
use std::sync::Arc;

use zoolab_core::storage::Rules;
use zoolab_core::{
    ConnId, Ensemble, Input, LinkId, Now, Server, ServerId, Settings, Text, Timer,
    client as library,
};

use self::act::{Act, shows};
use self::apps::{Apps, Spots};
use self::client::Client;
use self::clients::Clients;
use self::held::Held;
use self::host::Host;
use self::link::Link;
use self::pair::{Pair, Vote};
use crate::seen::{Said, Seen};
use crate::setting::{Setting, SettingError};
use crate::step::{ClientId, Instant, Step};

pub use self::possible::Cannot;
pub(crate) use self::search::LINKS_PER_NAME;
pub use self::search::{Bounds, Budget, Price};

/// Something that waits to happen.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Pending {
    /// A client will find something.
    Answer(ClientId),
    /// A server will find something from a client.
    Ask(ClientId),
    /// A server will reach another, or not.
    Dialled {
        /// Who tries.
        from: ServerId,
        /// Whom.
        to: ServerId,
    },
    /// A disk will be done.
    Disk(ServerId),
    /// A frame, or the end of a connection, will arrive at an application's client.
    Down(ConnId),
    /// A message, or the end of a connection, will arrive.
    Message {
        /// On which connection.
        link: LinkId,
        /// From where.
        from: ServerId,
        /// Where.
        to: ServerId,
    },
    /// An application's client will hear whether a server can write.
    Probe(ClientId),
    /// An application's client will reach a server, or not.
    Reach(ClientId),
    /// A server will read its disk.
    Reload(ServerId),
    /// A timer will run out, not before this.
    Timer {
        /// Whose.
        server: ServerId,
        /// Which.
        timer: Timer,
    },
    /// A frame, or the end of a connection, of an application's client will arrive at a server.
    Up(ConnId),
    /// A vote will arrive.
    Vote {
        /// From whom.
        from: ServerId,
        /// Where.
        to: ServerId,
    },
    /// A timer of an application's client will run out, not before this.
    Wake {
        /// Whose.
        client: ClientId,
        /// Which.
        timer: library::Timer,
    },
}

/// What a step made visible, and what it left to be done. Reused from step to step.
#[derive(Debug, Default)]
pub struct Outcome {
    /// For those who watch.
    pub seen: Vec<Seen>,
    /// For whoever picks the next step.
    pub fresh: Vec<Pending>,
    outputs: Vec<zoolab_core::Output>,
    said: Vec<library::Output>,
    /// The place of the pair in which a connection was last looked for. Nothing depends on it.
    likely: usize,
}

/// See the [module](self).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct World {
    now: Instant,
    setting: Arc<Setting>,
    ensemble: Arc<Ensemble>,
    settings: Arc<Settings>,
    ids: Arc<[ServerId]>,
    paths: Arc<[Text]>,
    spots: Spots,
    /// By place in `ids`.
    hosts: Vec<Held<Host>>,
    /// For each two servers, in order.
    pairs: Vec<Held<Pair>>,
    link_next: u64,
    /// What may still happen in a search.
    budget: Budget,
    clients: Held<Clients>,
    apps: Held<Apps>,
}

impl World {
    /// A world in which nobody runs yet.
    ///
    /// # Errors
    /// If the setting cannot be.
    pub fn new(setting: Setting) -> Result<Self, SettingError> {
        let ensemble = setting.ensemble()?;
        let settings = setting.settings()?;
        let ids: Arc<[ServerId]> = ensemble.servers().into_iter().collect();
        let rules = Rules {
            extended_types: settings.extended_types,
            scatter: 0,
            initialize: true,
            preallocate: setting.preallocate,
            bugs: ensemble.bugs,
        };
        let hosts = (0..ids.len())
            .map(|place| {
                let skew_ms = setting.skew_ms.get(place).copied().unwrap_or(0);
                Held::Own(Box::new(Host::new(setting.disks, rules, skew_ms)))
            })
            .collect();
        let mut pairs = Vec::new();
        for (place, one) in ids.iter().enumerate() {
            let pair = |other: &ServerId| Held::Own(Box::new(Pair::new([*one, *other])));
            pairs.extend(ids[place + 1..].iter().map(pair));
        }
        let paths = (0..setting.nodes.max(1)).map(|node| Text::from(format!("/n{node}")));
        let same_clients = setting.search.is_some_and(|bounds| bounds.same_clients);
        let mut world = Self {
            now: Instant(0),
            ensemble: Arc::new(ensemble),
            settings: Arc::new(settings),
            ids,
            paths: paths.collect(),
            spots: Spots::new(setting.nodes.max(1)),
            hosts,
            pairs,
            link_next: 0,
            budget: setting.search.map_or(Budget::default(), Budget::of),
            clients: Held::Own(Box::new(Clients::new(setting.clients, same_clients))),
            apps: Held::Own(Box::new(Apps::new(setting.apps))),
            setting: Arc::new(setting),
        };
        if world.setting.search.is_some() {
            world.share();
        }
        Ok(world)
    }

    /// What time it is.
    #[must_use]
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// How it was set up.
    #[must_use]
    pub fn setting(&self) -> &Setting {
        &self.setting
    }

    /// What the servers agree on.
    #[must_use]
    pub const fn ensemble(&self) -> &Arc<Ensemble> {
        &self.ensemble
    }

    /// What the servers offer their clients.
    #[must_use]
    pub const fn settings(&self) -> &Arc<Settings> {
        &self.settings
    }

    /// All servers, in order.
    #[must_use]
    pub fn servers(&self) -> &[ServerId] {
        &self.ids
    }

    fn place(&self, server: ServerId) -> Option<usize> {
        place(&self.ids, server)
    }

    /// A server's machine.
    ///
    /// # Panics
    /// If there is no such server.
    #[must_use]
    pub fn host(&self, server: ServerId) -> &Host {
        &self.hosts[self.place(server).expect("a server of this world")]
    }

    fn host_mut(&mut self, server: ServerId) -> &mut Host {
        let place = self.place(server).expect("a server of this world");
        self.hosts[place].make_mut()
    }

    /// A client.
    #[must_use]
    pub fn client(&self, client: ClientId) -> &Client {
        self.clients.get(client).expect("a client of this world")
    }

    /// All clients.
    pub fn clients(&self) -> impl Iterator<Item = (ClientId, &Client)> {
        self.clients.iter()
    }

    /// The place of two different servers among all pairs.
    fn pair_place(&self, one: ServerId, other: ServerId) -> Option<usize> {
        pair_place(&self.ids, one, other)
    }

    /// Everything between two different servers.
    ///
    /// # Panics
    /// If they are not two servers of this world.
    #[must_use]
    pub fn pair(&self, one: ServerId, other: ServerId) -> &Pair {
        &self.pairs[self.pair_place(one, other).expect("two servers of this world")]
    }

    fn pair_mut(&mut self, one: ServerId, other: ServerId) -> &mut Pair {
        let place = self.pair_place(one, other).expect("two servers of this world");
        self.pairs[place].make_mut()
    }

    /// Where a connection of a server goes to.
    fn peer(&self, server: ServerId, link: LinkId) -> Option<ServerId> {
        outputs::peer(&self.ids, &self.pairs, server, link).map(|(peer, _, _)| peer)
    }

    /// One connection between servers.
    #[must_use]
    pub fn link(&self, link: LinkId) -> Option<&Link> {
        self.pairs.iter().find_map(|pair| pair.link(link))
    }

    /// The connections between servers.
    pub fn links(&self) -> impl Iterator<Item = (LinkId, &Link)> {
        self.pairs.iter().flat_map(|pair| pair.links.iter().map(|(id, link)| (*id, link)))
    }

    /// Whether nothing gets from one server to another.
    #[must_use]
    pub fn is_cut(&self, from: ServerId, to: ServerId) -> bool {
        let place = self.pair_place(from, to);
        place.is_some_and(|place| self.pairs[place].cut[self.pairs[place].way(from)])
    }

    /// The cuts there are.
    pub fn cuts(&self) -> impl Iterator<Item = (ServerId, ServerId)> {
        self.pairs.iter().flat_map(|pair| {
            let [one, other] = pair.ends;
            let ways = [(one, other), (other, one)].into_iter().zip(pair.cut);
            ways.filter(|(_, cut)| *cut).map(|(way, _)| way)
        })
    }

    /// By how much messages from one server to another are slower.
    #[must_use]
    pub fn slow_us(&self, from: ServerId, to: ServerId) -> u32 {
        let place = self.pair_place(from, to);
        place.map_or(0, |place| self.pairs[place].slow_us[self.pairs[place].way(from)])
    }

    /// What may still happen in a search.
    #[must_use]
    pub const fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The server that leads and serves with the newest epoch, if any does.
    #[must_use]
    pub fn leader(&self) -> Option<ServerId> {
        let leads = |server: &&ServerId| {
            self.host(**server).server.as_ref().is_some_and(Server::is_leading)
        };
        let epoch = |server: &&ServerId| {
            self.host(**server).server.as_ref().map(|server| server.epochs().1)
        };
        self.ids.iter().filter(leads).max_by_key(epoch).copied()
    }

    /// Makes one step happen, at its time. Nothing else changes a world.
    ///
    /// # Panics
    /// If it cannot happen; ask [`can`](Self::can) first where that is in doubt.
    pub fn step(&mut self, at: Instant, step: &Step, outcome: &mut Outcome) {
        assert!(at >= self.now, "time does not go back");
        self.now = at;
        if self.setting.search.is_some() {
            let price = self.price(step);
            self.budget.pay(price);
        }
        self.happen(step, outcome);
    }

    fn happen(&mut self, step: &Step, outcome: &mut Outcome) {
        match step {
            Step::Deliver { link, from, to, .. } => self.deliver(*link, *from, *to, outcome),
            Step::Closed { link, at } => self.closed(*link, *at, outcome),
            Step::Dialled { from, to } => {
                meeting::dialled(&mut self.meeting(outcome), *from, *to);
            }
            Step::Vote { from, to } => self.vote(*from, *to, false, outcome),
            Step::RepeatVote { from, to } => self.vote(*from, *to, true, outcome),
            Step::LoseVote { from, to } => {
                let pair = self.pair_mut(*from, *to);
                let way = pair.way(*from);
                pair.votes[way] = None;
            }
            Step::Disk { server, token } => self.act(*server, Act::Disk(*token), outcome),
            Step::DiskFails { server, token, luck } => {
                self.act(*server, Act::DiskFails(*token, *luck), outcome);
            }
            Step::Reload { server } => self.act(*server, Act::Reload, outcome),
            Step::Timeout { server, timer } => self.act(*server, Act::Timeout(*timer), outcome),
            Step::Dial { client, server } => self.dial(*client, *server, outcome),
            Step::Ask { client } => self.asked(*client, outcome),
            Step::Answer { client } => self.clients.make_mut().answer(*client),
            Step::Call { client, call } => self.call(*client, *call, outcome),
            Step::HangUp { client } => self.hang_up(*client, outcome),
            Step::Cut { from, to } => {
                let pair = self.pair_mut(*from, *to);
                let way = pair.way(*from);
                pair.cut[way] = true;
            }
            Step::Heal { from, to } => {
                let pair = self.pair_mut(*from, *to);
                let way = pair.way(*from);
                pair.cut[way] = false;
                self.wake(
                    |pending| match pending {
                        Pending::Message { to: at, .. } => at == *to,
                        Pending::Vote { from: a, to: b } => (a, b) == (*from, *to),
                        Pending::Dialled { from: a, to: b } => {
                            (a, b) == (*from, *to) || (b, a) == (*from, *to)
                        }
                        Pending::Answer(_)
                        | Pending::Ask(_)
                        | Pending::Disk(_)
                        | Pending::Down(_)
                        | Pending::Probe(_)
                        | Pending::Reach(_)
                        | Pending::Reload(_)
                        | Pending::Timer { .. }
                        | Pending::Up(_)
                        | Pending::Wake { .. } => false,
                    },
                    outcome,
                );
            }
            Step::Break { link } => self.break_link(*link, outcome),
            Step::SlowLink { from, to, us } => {
                let pair = self.pair_mut(*from, *to);
                let way = pair.way(*from);
                pair.slow_us[way] = *us;
            }
            Step::Crash { server, luck } => self.act(*server, Act::Crash(*luck), outcome),
            Step::Doom { server, outputs } => self.host_mut(*server).doom = Some(*outputs),
            Step::PowerLoss { servers, luck, keep } => {
                self.power_loss(servers, *luck, *keep, outcome);
            }
            Step::Restart { server } => self.act(*server, Act::Restart, outcome),
            Step::SlowDisk { server, us } => self.host_mut(*server).disk_slow_us = *us,
            Step::Rot { server, luck } => {
                let host = self.host_mut(*server);
                if host.disk.rot(*luck) {
                    host.rotten = true;
                    outcome.seen.push(Seen::Rotten { server: *server });
                }
            }
            Step::Full { server, full } => {
                let seen = &mut outcome.seen;
                let host = self.host_mut(*server);
                host.disk.set_full(*full, &mut |what| seen.push(what.of(*server)));
                if host.disk.pending().is_some() {
                    outcome.fresh.push(Pending::Disk(*server));
                }
            }
            Step::Wipe { server } => {
                let host = self.host_mut(*server);
                host.disk.wipe();
                host.rotten = false;
                outcome.seen.push(Seen::Wiped { server: *server });
            }
            Step::Pause { server } => self.host_mut(*server).paused = true,
            Step::Resume { server } => {
                self.host_mut(*server).paused = false;
                self.wake_server(*server, outcome);
            }
            Step::Jump { server, ms } => self.host_mut(*server).clock.jump(*ms),
            Step::Drift { server, ppm } => {
                let now = self.now;
                self.host_mut(*server).clock.drift(now, *ppm);
                self.wake_server(*server, outcome);
            }
            Step::Free(bounds) => self.free(*bounds, outcome),
            Step::Elect { leader, followers } => {
                let ballot = self.host(*leader).server.as_ref().and_then(Server::ballot);
                let ballot = ballot.expect("it may lead");
                meeting::elect(&mut self.meeting(outcome), ballot, followers);
            }
            Step::Join { leader, server } => {
                meeting::join(&mut self.meeting(outcome), *leader, *server);
            }
            Step::Write { server, value } => self.write(*server, *value, outcome),
            Step::Change { server, join, observe, leave } => {
                self.change(*server, change::request(join, observe, leave), outcome);
            }
            Step::Begin { client, .. }
            | Step::BreakConn { client, .. }
            | Step::CutClient { client, .. }
            | Step::Down { client, .. }
            | Step::Freeze { client }
            | Step::GiveUp { client, .. }
            | Step::HealClient { client, .. }
            | Step::Kill { client }
            | Step::Probe { client }
            | Step::Reach { client }
            | Step::Servers { client, .. }
            | Step::SlowClient { client, .. }
            | Step::Thaw { client }
            | Step::Up { client, .. }
            | Step::Wake { client, .. }
            | Step::Want { client, .. } => self.app_step(*client, step, outcome),
        }
    }

    fn deliver(&mut self, link: LinkId, from: ServerId, to: ServerId, outcome: &mut Outcome) {
        let pair = self.pair_place(from, to).expect("two servers of this world");
        outcome.likely = pair;
        let message = self.pairs[pair].make_mut().receive(link, to);
        if shows(&message) {
            let message = Said::of(&message);
            outcome.seen.extend(once_with(|| Seen::Delivered { from, to, message }));
        }
        self.input(to, outcome, || Input::Message { link, message });
    }

    fn closed(&mut self, link: LinkId, at: ServerId, outcome: &mut Outcome) {
        let peer = self.peer(at, link).expect("a connection of this world");
        self.pair_mut(at, peer).close(link, at, false);
        self.input(at, outcome, || Input::Unlinked { link: Some(link), peer });
    }

    fn break_link(&mut self, link: LinkId, outcome: &mut Outcome) {
        let ends = self.link(link).map(|found| found.ends);
        let Some([one, other]) = ends else { return };
        for to in self.pair_mut(one, other).break_link(link) {
            let from = if to == one { other } else { one };
            outcome.fresh.push(Pending::Message { link, from, to });
        }
    }

    fn vote(&mut self, from: ServerId, to: ServerId, again: bool, outcome: &mut Outcome) {
        let pair = self.pair_mut(from, to);
        let way = pair.way(from);
        let vote = if again { pair.votes[way].clone() } else { pair.votes[way].take() };
        if let Some(Vote { notification, members }) = vote {
            self.input(to, outcome, || Input::Told { from, notification, members });
        }
        if again && self.pair(from, to).votes[way].is_some() {
            outcome.fresh.push(Pending::Vote { from, to });
        }
    }

    /// What waited for a server may happen again.
    fn wake_server(&mut self, server: ServerId, outcome: &mut Outcome) {
        self.wake(
            |pending| match pending {
                Pending::Answer(_) | Pending::Down(_) | Pending::Wake { .. } => false,
                Pending::Ask(_) | Pending::Probe(_) | Pending::Reach(_) => true,
                Pending::Up(conn) => self.conn(conn).is_some_and(|conn| conn.server == server),
                Pending::Dialled { from, .. } => from == server,
                Pending::Disk(at) | Pending::Reload(at) => at == server,
                Pending::Message { to, .. } | Pending::Vote { to, .. } => to == server,
                Pending::Timer { server: at, .. } => at == server,
            },
            outcome,
        );
    }

    fn wake(&self, which: impl Fn(Pending) -> bool, outcome: &mut Outcome) {
        let mut all = Vec::new();
        self.pending(&mut all);
        outcome.fresh.extend(all.into_iter().filter(|pending| which(*pending)));
    }

    /// What a server's clocks show.
    #[must_use]
    pub fn clock(&self, server: ServerId) -> Now {
        self.host(server).clock.now(self.now)
    }
}

/// Where a server is among all, in order. Their numbers mostly count up from one.
#[inline(always)]
fn place(ids: &[ServerId], server: ServerId) -> Option<usize> {
    let likely = usize::from(server.0).wrapping_sub(1);
    if ids.get(likely) == Some(&server) {
        return Some(likely);
    }
    ids.iter().position(|id| *id == server)
}

/// The place of two different servers among all pairs.
#[inline(always)]
fn pair_place(ids: &[ServerId], one: ServerId, other: ServerId) -> Option<usize> {
    let (one, other) = (place(ids, one)?, place(ids, other)?);
    (one != other).then(|| pair_of(ids.len(), one.min(other), one.max(other)))
}

/// The place among all pairs of the servers at two places, the lower one first.
#[inline]
const fn pair_of(servers: usize, low: usize, high: usize) -> usize {
    low * (2 * servers - low - 1) / 2 + high - low - 1
}
