//! Everything there is, as one value. Two equal worlds have equal futures.
//!
//! ```text
//!   Step ---> [ hosts: server, disk, clocks | links, votes, cuts | clients ] ---> Seen, Pending
//! ```
//!
//! [`World::step`] is the only thing that changes a world. It holds no generator: what chance
//! decides is in the step. What a step leaves to be done comes out as [`Pending`], so that
//! whoever picks the next step need not list everything each time.

pub mod client;
pub mod clock;
pub mod disk;
pub mod host;
mod life;
pub mod link;
mod outputs;
mod possible;
mod visit;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use zoolab_core::election::Notification;
use zoolab_core::storage::Rules;
use zoolab_core::{
    ConnId, Ensemble, Input, LinkId, Now, Server, ServerId, Settings, Text, Timer, Token,
};

use self::client::Client;
use self::disk::{DiskSeen, Finish};
use self::host::Host;
use self::link::Link;
use crate::seen::Seen;
use crate::setting::{Setting, SettingError};
use crate::step::{ClientId, Instant, Step};

pub use self::possible::Cannot;

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
    /// A message, or the end of a connection, will arrive.
    Message {
        /// On which connection.
        link: LinkId,
        /// Where.
        to: ServerId,
    },
    /// A server will read its disk.
    Reload(ServerId),
    /// A timer will run out, not before this.
    Timer {
        /// Whose.
        server: ServerId,
        /// Which.
        timer: Timer,
    },
    /// A vote will arrive.
    Vote {
        /// From whom.
        from: ServerId,
        /// Where.
        to: ServerId,
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
    /// Shared until one of them changes. By place in `ids`.
    hosts: Vec<Arc<Host>>,
    links: BTreeMap<LinkId, Link>,
    link_next: u64,
    votes: BTreeMap<(ServerId, ServerId), Notification>,
    cuts: BTreeSet<(ServerId, ServerId)>,
    slow: BTreeMap<(ServerId, ServerId), u32>,
    clients: Vec<Client>,
    conns: BTreeMap<ConnId, ClientId>,
    conn_next: u64,
}

impl World {
    /// A world in which nobody runs yet.
    ///
    /// # Errors
    /// If the setting cannot be.
    pub fn new(setting: Setting) -> Result<Self, SettingError> {
        let ensemble = setting.ensemble()?;
        let settings = setting.settings()?;
        let ids: Arc<[ServerId]> = ensemble.members().into_iter().collect();
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
                Arc::new(Host::new(rules, skew_ms))
            })
            .collect();
        let paths = (0..setting.nodes.max(1)).map(|node| Text::from(format!("/n{node}")));
        Ok(Self {
            now: Instant(0),
            ensemble: Arc::new(ensemble),
            settings: Arc::new(settings),
            ids,
            paths: paths.collect(),
            hosts,
            links: BTreeMap::new(),
            link_next: 0,
            votes: BTreeMap::new(),
            cuts: BTreeSet::new(),
            slow: BTreeMap::new(),
            clients: vec![Client::default(); usize::from(setting.clients)],
            conns: BTreeMap::new(),
            conn_next: 0,
            setting: Arc::new(setting),
        })
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

    /// All servers, in order.
    #[must_use]
    pub fn servers(&self) -> &[ServerId] {
        &self.ids
    }

    fn place(&self, server: ServerId) -> Option<usize> {
        self.ids.iter().position(|id| *id == server)
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
        Arc::make_mut(&mut self.hosts[place])
    }

    /// A client.
    #[must_use]
    pub fn client(&self, client: ClientId) -> &Client {
        &self.clients[usize::from(client.0)]
    }

    fn client_mut(&mut self, client: ClientId) -> &mut Client {
        &mut self.clients[usize::from(client.0)]
    }

    /// All clients.
    pub fn clients(&self) -> impl Iterator<Item = (ClientId, &Client)> {
        (0..).map(ClientId).zip(&self.clients)
    }

    /// One connection between servers.
    #[must_use]
    pub fn link(&self, link: LinkId) -> Option<&Link> {
        self.links.get(&link)
    }

    /// The connections between servers.
    pub fn links(&self) -> impl Iterator<Item = (LinkId, &Link)> {
        self.links.iter().map(|(id, link)| (*id, link))
    }

    /// Whether nothing gets from one server to another.
    #[must_use]
    pub fn is_cut(&self, from: ServerId, to: ServerId) -> bool {
        !self.cuts.is_empty() && self.cuts.contains(&(from, to))
    }

    /// The cuts there are.
    pub fn cuts(&self) -> impl Iterator<Item = (ServerId, ServerId)> {
        self.cuts.iter().copied()
    }

    /// By how much messages from one server to another are slower.
    #[must_use]
    pub fn slow_us(&self, from: ServerId, to: ServerId) -> u32 {
        if self.slow.is_empty() {
            return 0;
        }
        self.slow.get(&(from, to)).copied().unwrap_or(0)
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
        match step {
            Step::Deliver { link, to, .. } => self.deliver(*link, *to, outcome),
            Step::Closed { link, at } => self.closed(*link, *at, outcome),
            Step::Dialled { from, to } => self.dialled(*from, *to, outcome),
            Step::Vote { from, to } => self.vote(*from, *to, false, outcome),
            Step::RepeatVote { from, to } => self.vote(*from, *to, true, outcome),
            Step::LoseVote { from, to } => {
                self.votes.remove(&(*from, *to));
            }
            Step::Disk { server, token } => self.disk_done(*server, *token, outcome),
            Step::DiskFails { server, token, luck } => {
                self.host_mut(*server).disk.fail(*luck);
                self.input(*server, Input::PersistFailed(*token), outcome);
            }
            Step::Reload { server } => self.reload(*server, outcome),
            Step::Timeout { server, timer } => {
                self.host_mut(*server).timers[*timer as usize] = None;
                self.input(*server, Input::Timeout(*timer), outcome);
            }
            Step::Dial { client, server } => self.dial(*client, *server, outcome),
            Step::Ask { client } => self.asked(*client, outcome),
            Step::Answer { client } => self.answer(*client, outcome),
            Step::Call { client, call } => self.call(*client, *call, outcome),
            Step::HangUp { client } => self.hang_up(*client, outcome),
            Step::Cut { from, to } => {
                self.cuts.insert((*from, *to));
            }
            Step::Heal { from, to } => {
                self.cuts.remove(&(*from, *to));
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
                        | Pending::Reload(_)
                        | Pending::Timer { .. } => false,
                    },
                    outcome,
                );
            }
            Step::Break { link } => self.break_link(*link, outcome),
            Step::SlowLink { from, to, us } => {
                self.slow.remove(&(*from, *to));
                if *us > 0 {
                    self.slow.insert((*from, *to), *us);
                }
            }
            Step::Crash { server, luck } => {
                let seen = &mut outcome.seen;
                let disk = &mut self.host_mut(*server).disk;
                disk.crash(*luck, &mut |what| note_disk(*server, what, seen));
                self.die(*server, true, outcome);
                outcome.seen.push(Seen::Crashed { server: *server, power: false });
            }
            Step::Doom { server, outputs } => self.host_mut(*server).doom = Some(*outputs),
            Step::PowerLoss { servers, luck, keep } => {
                self.power_loss(servers, *luck, *keep, outcome);
            }
            Step::Restart { server } => self.restart(*server, outcome),
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
                host.disk.set_full(*full, &mut |what| note_disk(*server, what, seen));
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
        }
    }

    /// Hands a server an input and does what it wants done.
    fn input(&mut self, server: ServerId, input: Input, outcome: &mut Outcome) {
        let now = self.host(server).clock.now(self.now);
        let mut outputs = std::mem::take(&mut outcome.outputs);
        if let Some(process) = &mut self.host_mut(server).server {
            process.step(now, input, &mut outputs);
        }
        self.carry_out(server, now, &mut outputs, outcome);
        outputs.clear();
        outcome.outputs = outputs;
    }

    fn deliver(&mut self, link: LinkId, to: ServerId, outcome: &mut Outcome) {
        let lane = self.links.get_mut(&link).map(|found| (found.peer(to), found.inbound_mut(to)));
        let (from, lane) = lane.expect("a connection of this world");
        let message = lane.messages.pop_front().expect("a message on its way");
        if shows(&message) {
            outcome.seen.push(Seen::Delivered { from, to, message: message.clone() });
        }
        self.input(to, Input::Message { link, message }, outcome);
    }

    fn closed(&mut self, link: LinkId, at: ServerId, outcome: &mut Outcome) {
        let found = self.links.get_mut(&link).expect("a connection of this world");
        let peer = found.peer(at);
        found.close(at, false);
        if found.is_over() {
            self.links.remove(&link);
        }
        self.input(at, Input::Unlinked { link: Some(link), peer }, outcome);
    }

    fn break_link(&mut self, link: LinkId, outcome: &mut Outcome) {
        let Some(found) = self.links.get_mut(&link) else { return };
        for side in 0..2 {
            found.lanes[1 - side].messages.clear();
            if found.open[side] {
                found.lanes[1 - side].ends = true;
                outcome.fresh.push(Pending::Message { link, to: found.ends[side] });
            }
        }
    }

    fn dialled(&mut self, from: ServerId, to: ServerId, outcome: &mut Outcome) {
        self.host_mut(from).dials.remove(&to);
        let there = self.place(to).is_some_and(|place| self.hosts[place].server.is_some());
        if !there || self.is_cut(from, to) || self.is_cut(to, from) {
            self.input(from, Input::Unlinked { link: None, peer: to }, outcome);
            return;
        }
        self.link_next += 1;
        let link = LinkId(self.link_next);
        self.links.insert(link, Link::new(from, to));
        self.input(to, Input::Linked { link, peer: from, dialled: false }, outcome);
        self.input(from, Input::Linked { link, peer: to, dialled: true }, outcome);
    }

    fn vote(&mut self, from: ServerId, to: ServerId, again: bool, outcome: &mut Outcome) {
        let vote = self.votes.get(&(from, to)).copied();
        if !again {
            self.votes.remove(&(from, to));
        }
        if let Some(notification) = vote {
            self.input(to, Input::Told { from, notification }, outcome);
        }
        if again && self.votes.contains_key(&(from, to)) {
            outcome.fresh.push(Pending::Vote { from, to });
        }
    }

    fn disk_done(&mut self, server: ServerId, token: Token, outcome: &mut Outcome) {
        let seen = &mut outcome.seen;
        let host = self.host_mut(server);
        let done = host.disk.finish(token, &mut |what| note_disk(server, what, seen));
        if host.disk.pending().is_some() {
            outcome.fresh.push(Pending::Disk(server));
        }
        let input = match done {
            Finish::Done => Input::Persisted(token),
            Finish::Refused => Input::PersistFailed(token),
        };
        self.input(server, input, outcome);
    }

    /// What waited for a server may happen again.
    fn wake_server(&mut self, server: ServerId, outcome: &mut Outcome) {
        self.wake(
            |pending| match pending {
                Pending::Answer(_) => false,
                Pending::Ask(_) => true,
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

/// Whether a message is shown to those who watch.
const fn shows(message: &zoolab_core::zab::Message) -> bool {
    use zoolab_core::zab::Message;
    !matches!(message, Message::Ping { .. } | Message::Pong { .. } | Message::SnapPart { .. })
}

fn note_disk(server: ServerId, what: DiskSeen, seen: &mut Vec<Seen>) {
    seen.push(match what {
        DiskSeen::Appended(txn) => Seen::Appended { server, txn },
        DiskSeen::Epoch(kind, epoch) => Seen::EpochWritten { server, kind, epoch },
        DiskSeen::Installed(zxid) => Seen::Installed { server, zxid },
        DiskSeen::Snapshotted(zxid) => Seen::Snapshotted { server, zxid },
        DiskSeen::Synced(zxid) => Seen::Synced { server, zxid },
        DiskSeen::Truncated(to) => Seen::Truncated { server, to },
    });
}
