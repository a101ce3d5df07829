//! What a machine does for others reaches them.

use zoolab_core::{LinkId, ServerId};

use super::act::{Act, Effect, Ground, shows};
use super::client::Down;
use super::pair::Pair;
use super::{Outcome, Pending, World};
use crate::seen::Seen;

impl World {
    /// Has a machine do something, and spreads what comes of it.
    pub(super) fn act(&mut self, server: ServerId, act: Act, outcome: &mut Outcome) {
        let place = self.place(server).expect("a server of this world");
        let Self { setting, ensemble, settings, hosts, now, .. } = self;
        let ground = Ground { setting, ensemble, settings, me: server, at: *now };
        let mut effects = std::mem::take(&mut outcome.effects);
        let host = std::sync::Arc::make_mut(&mut hosts[place]);
        host.act(&ground, act, &mut outcome.outputs, &mut effects);
        for effect in effects.drain(..) {
            self.spread(server, effect, outcome);
        }
        outcome.effects = effects;
    }

    fn spread(&mut self, server: ServerId, effect: Effect, outcome: &mut Outcome) {
        match effect {
            Effect::Client(conn, down) => {
                let client = match down {
                    Down::End => self.conns.remove(&conn),
                    Down::Connected(_) | Down::Event(_) | Down::Reply(_) => {
                        self.conns.get(&conn).copied()
                    }
                };
                if let Some(client) = client {
                    self.tell_client(client, down, outcome);
                }
            }
            Effect::Died { tell } => self.died(server, tell, outcome),
            Effect::Fresh(pending) => outcome.fresh.push(pending),
            Effect::HangUp(link) => {
                if let Some(peer) = self.peer(server, link)
                    && self.pair_mut(server, peer).close(link, server, true)
                {
                    outcome.fresh.push(Pending::Message { link, from: server, to: peer });
                }
            }
            Effect::Risen => {
                self.each_pair(server, |pair, tell| pair.risen(server, tell), outcome);
                self.wake_server(server, outcome);
            }
            Effect::Seen(seen) => outcome.seen.push(seen),
            Effect::Send(link, message) => {
                let Some(to) = self.peer(server, link) else { return };
                let shown = shows(&message).then(|| message.clone());
                let Some(arrives) = self.pair_mut(server, to).send(link, server, message) else {
                    return;
                };
                if let Some(message) = shown {
                    outcome.seen.push(Seen::Sent { from: server, to, message });
                }
                if arrives {
                    outcome.fresh.push(Pending::Message { link, from: server, to });
                }
            }
            Effect::Tell(to, notification) => {
                let coarse = self.setting.search.is_some_and(|bounds| bounds.coarse);
                if self.pair_place(server, to).is_some() && !coarse {
                    let pair = self.pair_mut(server, to);
                    let way = pair.way(server);
                    if pair.votes[way].replace(notification).is_none() {
                        outcome.fresh.push(Pending::Vote { from: server, to });
                    }
                }
            }
        }
    }

    /// A process is gone. Its peers are told by its kernel, if there still is one.
    fn died(&mut self, server: ServerId, tell: bool, outcome: &mut Outcome) {
        self.each_pair(server, |pair, note| pair.died(server, tell, note), outcome);
        let conns: Vec<_> = self.conns.iter().map(|(conn, client)| (*conn, *client)).collect();
        for (conn, client) in conns {
            let there = self.client(client).conn.as_ref();
            if there.is_some_and(|there| there.id == conn && there.server == server) {
                self.conns.remove(&conn);
                self.tell_client(client, Down::End, outcome);
            }
        }
    }

    /// Does something with what is between a server and each other one. It is told of the ends of
    /// connections that are left to be noticed.
    fn each_pair(
        &mut self,
        server: ServerId,
        act: impl Fn(&mut Pair, &mut dyn FnMut(LinkId)),
        outcome: &mut Outcome,
    ) {
        let with = |pair: &&mut std::sync::Arc<Pair>| {
            pair.ends.contains(&server) && !pair.links.is_empty()
        };
        for pair in self.pairs.iter_mut().filter(with) {
            let to = pair.ends[1 - pair.way(server)];
            act(std::sync::Arc::make_mut(pair), &mut |link| {
                outcome.fresh.push(Pending::Message { link, from: server, to });
            });
        }
    }
}
