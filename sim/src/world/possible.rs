//! What can happen now: one step, or all of them.

use std::fmt;

use zoolab_core::{LinkId, ServerId, Timer};

use super::{Pending, World};
use crate::step::{ClientId, Instant, Step};

/// Why a step cannot happen.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Cannot(pub String);

impl fmt::Display for Cannot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl World {
    /// Everything that waits to happen, always in the same order.
    pub fn pending(&self, all: &mut Vec<Pending>) {
        for pair in &self.pairs {
            for (id, link) in &pair.links {
                for to in link.ends {
                    let (from, lane) = (link.peer(to), link.inbound(to));
                    let count = lane.messages.len() + usize::from(lane.ends);
                    all.extend((0..count).map(|_| Pending::Message { link: *id, from, to }));
                }
            }
            let [one, other] = pair.ends;
            let ways = [(one, other), (other, one)].into_iter().zip(&pair.votes);
            let votes = ways.filter(|(_, vote)| vote.is_some());
            all.extend(votes.map(|((from, to), _)| Pending::Vote { from, to }));
        }
        for (server, host) in self.ids.iter().zip(&self.hosts) {
            let server = *server;
            all.extend(host.dials.iter().map(|to| Pending::Dialled { from: server, to: *to }));
            if host.server.is_some() && host.disk.pending().is_some() {
                all.push(Pending::Disk(server));
            }
            if host.reload {
                all.push(Pending::Reload(server));
            }
            let armed = Timer::ALL.iter().filter(|timer| host.timers[**timer as usize].is_some());
            all.extend(armed.map(|timer| Pending::Timer { server, timer: *timer }));
        }
        for (client, this) in self.clients() {
            let Some(conn) = &this.conn else { continue };
            all.extend(conn.up.iter().map(|_| Pending::Ask(client)));
            all.extend(conn.down.iter().map(|_| Pending::Answer(client)));
        }
        self.apps_pending(None, all);
    }

    /// The step by which something pending happens, if it can happen now.
    #[must_use]
    pub fn step_of(&self, pending: Pending) -> Option<Step> {
        match pending {
            Pending::Answer(client) => {
                let conn = self.client(client).conn.as_ref()?;
                (!conn.down.is_empty()).then_some(Step::Answer { client })
            }
            Pending::Ask(client) => {
                let conn = self.client(client).conn.as_ref()?;
                let awake = self.host(conn.server).is_awake() || !self.clients.is_known(conn.id);
                (!conn.up.is_empty() && awake).then_some(Step::Ask { client })
            }
            Pending::Dialled { from, to } => {
                let host = self.host(from);
                let can = host.is_awake() && host.dials.contains(&to);
                can.then_some(Step::Dialled { from, to })
            }
            Pending::Disk(server) => {
                let host = self.host(server);
                let token = host.disk.pending().filter(|_| host.is_awake())?;
                Some(if host.disk.is_full() {
                    Step::DiskFails { server, token, luck: token.0 }
                } else {
                    Step::Disk { server, token }
                })
            }
            Pending::Down(conn) => self.down_step(conn),
            Pending::Message { link, from, to } => self.arrival(link, from, to),
            Pending::Probe(client) => self.probe_step(client),
            Pending::Reach(client) => self.reach_step(client),
            Pending::Up(conn) => self.up_step(conn),
            Pending::Wake { client, timer } => self.wake_step(self.now, client, timer),
            Pending::Reload(server) => {
                let host = self.host(server);
                (host.reload && host.is_awake()).then_some(Step::Reload { server })
            }
            Pending::Timer { server, timer } => {
                let host = self.host(server);
                let due = host.timers[timer as usize]?;
                let now = host.clock.now(self.now).steady;
                (host.is_awake() && due <= now).then_some(Step::Timeout { server, timer })
            }
            Pending::Vote { from, to } => {
                let can = self.host(to).is_awake()
                    && !self.is_cut(from, to)
                    && self.pair(from, to).votes[self.pair(from, to).way(from)].is_some();
                can.then_some(Step::Vote { from, to })
            }
        }
    }

    /// The step by which the next thing on a connection arrives, if it can arrive now.
    #[inline]
    pub(crate) fn arrival(&self, link: LinkId, from: ServerId, to: ServerId) -> Option<Step> {
        let pair = self.pair(from, to);
        let found = pair.link(link)?;
        if !found.open[found.side(to)] || pair.cut[pair.way(from)] || !self.host(to).is_awake() {
            return None;
        }
        let lane = found.inbound(to);
        match lane.messages.front() {
            Some(message) => {
                let (kind, zxid) = (message.kind(), message.zxid());
                Some(Step::Deliver { link, from, to, kind, zxid })
            }
            None => lane.ends.then_some(Step::Closed { link, at: to }),
        }
    }

    /// Lists what could happen next by itself, always in the same order. Faults and what clients
    /// do of their own accord are for whoever picks.
    pub fn enabled(&self, steps: &mut Vec<Step>) {
        steps.clear();
        let mut all = Vec::new();
        self.pending(&mut all);
        all.dedup();
        steps.extend(all.into_iter().filter_map(|pending| self.step_of(pending)));
    }

    /// Whether a step can happen at this moment.
    ///
    /// # Errors
    /// Says why not.
    pub fn can(&self, at: Instant, step: &Step) -> Result<(), Cannot> {
        if at < self.now {
            return Err(Cannot(format!("it is {} µs already", self.now.0)));
        }
        // Only timers look at the time.
        if let Step::Timeout { server, timer } = step {
            self.known(*server)?;
            let host = self.host(*server);
            let due = host.timers[*timer as usize];
            let late = due.is_some_and(|due| due <= host.clock.now(at).steady);
            return if late && host.is_awake() {
                Ok(())
            } else {
                Err(Cannot("nothing of that kind is due".into()))
            };
        }
        match step.app() {
            Some(client) => self.can_app(at, client, step),
            None => self.can_now(step),
        }
    }

    fn can_now(&self, step: &Step) -> Result<(), Cannot> {
        let same = |pending: Pending| match self.step_of(pending) {
            Some(other) if other == *step => Ok(()),
            Some(other) => Err(Cannot(format!("next there is: {other}"))),
            None => Err(Cannot("nothing of that kind is due".into())),
        };
        match step {
            Step::Deliver { link, from, to, .. } => {
                self.two(*from, *to)?;
                same(Pending::Message { link: *link, from: *from, to: *to })
            }
            Step::Closed { link, at } => {
                self.known(*at)?;
                let from = self.peer(*at, *link);
                let from = from.ok_or_else(|| Cannot(format!("there is no link {}", link.0)))?;
                same(Pending::Message { link: *link, from, to: *at })
            }
            Step::Dialled { from, to } => {
                self.two(*from, *to)?;
                same(Pending::Dialled { from: *from, to: *to })
            }
            Step::Vote { from, to } => {
                self.two(*from, *to)?;
                same(Pending::Vote { from: *from, to: *to })
            }
            Step::RepeatVote { from, to } => {
                self.two(*from, *to)?;
                let there = self.step_of(Pending::Vote { from: *from, to: *to }).is_some();
                there.then_some(()).ok_or_else(|| Cannot("no such vote is on its way".into()))
            }
            Step::Disk { server, .. } => {
                self.known(*server)?;
                same(Pending::Disk(*server))
            }
            Step::DiskFails { server, token, .. } => {
                self.known(*server)?;
                let host = self.host(*server);
                let next = host.disk.pending().filter(|_| host.is_awake());
                (next == Some(*token))
                    .then_some(())
                    .ok_or_else(|| Cannot(format!("the disk of server {server} is not at that")))
            }
            Step::Reload { server } => {
                self.known(*server)?;
                same(Pending::Reload(*server))
            }
            Step::Timeout { server, timer } => {
                self.known(*server)?;
                same(Pending::Timer { server: *server, timer: *timer })
            }
            Step::Dial { client, server } => {
                self.known(*server)?;
                self.connected(*client, false)
            }
            Step::Ask { client } => {
                self.connected(*client, true)?;
                same(Pending::Ask(*client))
            }
            Step::Answer { client } => {
                self.connected(*client, true)?;
                same(Pending::Answer(*client))
            }
            Step::Call { client, .. } => {
                self.connected(*client, true)?;
                let ready = self.client(*client).conn.as_ref().is_some_and(|conn| conn.ready);
                ready.then_some(()).ok_or_else(|| Cannot("its session is not open".into()))
            }
            Step::HangUp { client } => self.connected(*client, true),
            Step::LoseVote { from, to } | Step::Cut { from, to } | Step::Heal { from, to } => {
                self.two(*from, *to)
            }
            Step::SlowLink { from, to, .. } => self.two(*from, *to),
            Step::Break { link } => {
                let there = self.link(*link).is_some();
                there.then_some(()).ok_or_else(|| Cannot(format!("there is no link {}", link.0)))
            }
            Step::Crash { server, .. }
            | Step::Doom { server, .. }
            | Step::Pause { server }
            | Step::Resume { server } => {
                self.known(*server)?;
                self.up(*server, true)
            }
            Step::PowerLoss { servers, .. } => {
                servers.iter().try_for_each(|server| self.known(*server))
            }
            Step::Restart { server } | Step::Wipe { server } => {
                self.known(*server)?;
                self.up(*server, false)
            }
            Step::SlowDisk { server, .. }
            | Step::Rot { server, .. }
            | Step::Full { server, .. }
            | Step::Jump { server, .. }
            | Step::Drift { server, .. } => self.known(*server),
            Step::Change { server, join, observe, leave } => {
                [join, observe, leave].into_iter().flatten().try_for_each(|id| self.known(*id))?;
                self.known(*server)?;
                let host = self.host(*server);
                let leads = host.server.as_ref().is_some_and(zoolab_core::Server::is_leading);
                let may = leads && host.is_awake();
                may.then_some(()).ok_or_else(|| Cannot(format!("server {server} does not lead")))
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
            | Step::Want { client, .. } => self.can_app(self.now, *client, step),
            Step::Free(_) | Step::Elect { .. } | Step::Join { .. } | Step::Write { .. } => {
                self.can_in_search(step)
            }
        }
    }

    pub(super) fn known(&self, server: ServerId) -> Result<(), Cannot> {
        let known = self.place(server).is_some();
        known.then_some(()).ok_or_else(|| Cannot(format!("there is no server {server}")))
    }

    fn two(&self, one: ServerId, other: ServerId) -> Result<(), Cannot> {
        self.known(one)?;
        self.known(other)?;
        let two = one != other;
        two.then_some(()).ok_or_else(|| Cannot(format!("server {one} is not two servers")))
    }

    pub(super) fn up(&self, server: ServerId, up: bool) -> Result<(), Cannot> {
        let is = self.host(server).server.is_some();
        let word = if is { "up" } else { "down" };
        (is == up).then_some(()).ok_or_else(|| Cannot(format!("server {server} is {word}")))
    }

    fn connected(&self, client: ClientId, connected: bool) -> Result<(), Cannot> {
        let this = self.clients.get(client);
        let this = this.ok_or_else(|| Cannot(format!("there is no client {}", client.0)))?;
        let is = this.conn.is_some();
        let word = if is { "connected" } else { "not connected" };
        (is == connected)
            .then_some(())
            .ok_or_else(|| Cannot(format!("client {} is {word}", client.0)))
    }
}
