//! What a machine does for others reaches them.

use std::iter::once_with;

use zoolab_core::zab::Message;
use zoolab_core::{ConnId, Input, LinkId, Output, ServerId};

use super::act::{Act, Ground, Others, shows};
use super::apps::{Apps, is_app};
use super::client::Down;
use super::clients::Clients;
use super::held::Held;
use super::host::Host;
use super::pair::{Pair, Vote};
use super::{Outcome, Pending, World, pair_of, pair_place, place};
use crate::seen::{Said, Seen};
use crate::setting::Setting;

/// Everything that is no machine, as one machine gets at it.
#[derive(Debug)]
struct Around<'a> {
    me: ServerId,
    setting: &'a Setting,
    ids: &'a [ServerId],
    pairs: &'a mut [Held<Pair>],
    clients: &'a mut Held<Clients>,
    apps: &'a mut Held<Apps>,
    seen: &'a mut Vec<Seen>,
    fresh: &'a mut Vec<Pending>,
    likely: &'a mut usize,
}

impl World {
    /// Has a machine do something, and spreads what comes of it.
    pub(super) fn act(&mut self, server: ServerId, act: Act, outcome: &mut Outcome) {
        let starts = matches!(act, Act::Restart);
        self.at(server, outcome, |host, ground, outputs, others| {
            host.act(ground, act, outputs, others);
        });
        if starts && self.host(server).server.is_some() {
            self.wake_server(server, outcome);
        }
    }

    /// Hands a server an input and does what it wants done.
    #[inline]
    pub(super) fn input(
        &mut self,
        server: ServerId,
        outcome: &mut Outcome,
        input: impl FnOnce() -> Input,
    ) {
        self.at(server, outcome, |host, ground, outputs, others| {
            host.take(ground, input, outputs, others);
        });
    }

    #[inline]
    fn at(
        &mut self,
        server: ServerId,
        outcome: &mut Outcome,
        work: impl FnOnce(&mut Host, &Ground<'_>, &mut Vec<Output>, &mut Around<'_>),
    ) {
        let place = self.place(server).expect("a server of this world");
        let Self { setting, ensemble, settings, hosts, now, ids, pairs, clients, apps, .. } = self;
        let ground = Ground { setting, ensemble, settings, me: server, at: *now };
        let Outcome { seen, fresh, outputs, likely, said: _ } = outcome;
        let me = server;
        let mut others = Around { me, setting, ids, pairs, clients, apps, seen, fresh, likely };
        work(hosts[place].make_mut(), &ground, outputs, &mut others);
    }
}

impl Others for Around<'_> {
    #[inline]
    fn seen(&mut self, seen: impl FnOnce() -> Seen) {
        self.seen.extend(once_with(seen));
    }

    fn fresh(&mut self, pending: Pending) {
        self.fresh.push(pending);
    }

    fn client(&mut self, conn: ConnId, down: Down) {
        if is_app(conn) {
            // In a search nothing reaches them.
            if self.setting.search.is_none() {
                self.apps.make_mut().tell(conn, down, self.fresh);
            }
            return;
        }
        let client = self.clients.make_mut().tell(conn, down);
        self.fresh.extend(client.map(Pending::Answer));
    }

    fn hang_up(&mut self, link: LinkId) {
        let me = self.me;
        if let Some((to, pair, _)) = self.peer(link)
            && self.pairs[pair].make_mut().close(link, me, true)
        {
            self.fresh.push(Pending::Message { link, from: me, to });
        }
    }

    fn send(&mut self, link: LinkId, message: Message) {
        let from = self.me;
        let Some((to, pair, place)) = self.peer(link) else { return };
        let link_mut = &mut self.pairs[pair].make_mut().links[place].1;
        let Some(lane) = link_mut.way_out(from) else { return };
        if shows(&message) && (lane.is_some() || !gives_up(&message)) {
            let message = Said::of(&message);
            self.seen.extend(once_with(|| Seen::Sent { from, to, message }));
        }
        if let Some(messages) = lane {
            messages.push_back(message);
            self.fresh.push(Pending::Message { link, from, to });
        }
    }

    fn tell(&mut self, to: ServerId, vote: Vote) {
        let from = self.me;
        if self.setting.search.is_some_and(|bounds| bounds.coarse) {
            return;
        }
        if let Some(place) = pair_place(self.ids, from, to) {
            let pair = self.pairs[place].make_mut();
            let way = pair.way(from);
            if pair.votes[way].replace(vote).is_none() {
                self.fresh.push(Pending::Vote { from, to });
            }
        }
    }

    fn died(&mut self, tell: bool) {
        let me = self.me;
        self.each_pair(|pair, note| pair.died(me, tell, note));
        let Self { clients, apps, fresh, .. } = self;
        if self.setting.search.is_none() {
            apps.make_mut().died(me, tell, fresh);
        }
        clients.make_mut().died(me, |client| fresh.push(Pending::Answer(client)));
    }

    fn risen(&mut self) {
        let me = self.me;
        self.each_pair(|pair, note| pair.risen(me, note));
    }
}

impl Around<'_> {
    /// Where one of its connections goes to; see [`peer`]. What was last found comes first: most
    /// answer those who spoke to them.
    fn peer(&mut self, link: LinkId) -> Option<(ServerId, usize, usize)> {
        if let Some(pair) = self.pairs.get(*self.likely)
            && pair.ends.contains(&self.me)
            && let Some(place) = pair.place_of(link)
        {
            return Some((pair.ends[1 - pair.way(self.me)], *self.likely, place));
        }
        let found = peer(self.ids, self.pairs, self.me, link)?;
        *self.likely = found.1;
        Some(found)
    }

    /// Does something with what is between it and each other one. It is told of the ends of
    /// connections that are left to be noticed.
    fn each_pair(&mut self, act: impl Fn(&mut Pair, &mut dyn FnMut(LinkId))) {
        let from = self.me;
        let with = |pair: &&mut Held<Pair>| pair.ends.contains(&from) && !pair.links.is_empty();
        for pair in self.pairs.iter_mut().filter(with) {
            let to = pair.ends[1 - pair.way(from)];
            act(pair.make_mut(), &mut |link| {
                self.fresh.push(Pending::Message { link, from, to });
            });
        }
    }
}

/// Where a connection of a server goes to, the place of what is between the two, and that of the
/// connection there.
pub(super) fn peer(
    ids: &[ServerId],
    pairs: &[Held<Pair>],
    server: ServerId,
    link: LinkId,
) -> Option<(ServerId, usize, usize)> {
    let me = place(ids, server)?;
    for (there, peer) in ids.iter().enumerate().filter(|(there, _)| *there != me) {
        let pair = pair_of(ids.len(), me.min(there), me.max(there));
        if let Some(place) = pairs[pair].place_of(link) {
            return Some((*peer, pair, place));
        }
    }
    None
}

/// Whether a message has its receiver give something up. One that cannot arrive is not shown: it
/// speaks of what its receiver had when it was still there.
const fn gives_up(message: &Message) -> bool {
    matches!(message, Message::Snap { .. } | Message::Trunc { .. })
}
