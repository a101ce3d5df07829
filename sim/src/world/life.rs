//! Processes start, read their disks and die.

use std::sync::Arc;

use zoolab_core::{Boot, ConnId, Input, Server, ServerId};

use super::client::Down;
use super::link::Link;
use super::{Outcome, Pending, World, note_disk};
use crate::luck::Luck;
use crate::seen::Seen;
use crate::step::{ClientId, Keep};

impl World {
    pub(super) fn reload(&mut self, server: ServerId, outcome: &mut Outcome) {
        let host = self.host_mut(server);
        host.reload = false;
        match host.disk.read_again() {
            Ok(recovered) => {
                let saved = Box::new(recovered.saved);
                outcome.seen.push(Seen::Reloaded { server, saved: saved.clone() });
                self.input(server, Input::Reloaded(saved), outcome);
            }
            Err(error) => {
                outcome.seen.push(Seen::Refused { server, why: error.to_string() });
                self.die(server, true, outcome);
            }
        }
    }

    pub(super) fn restart(&mut self, server: ServerId, outcome: &mut Outcome) {
        let now = self.host(server).clock.now(self.now);
        let (ensemble, settings) = (Arc::clone(&self.ensemble), Arc::clone(&self.settings));
        let host = self.host_mut(server);
        let recovered = match host.disk.recover() {
            Ok(recovered) => recovered,
            Err(error) => {
                let why = error.to_string();
                host.refused = Some(why.clone());
                outcome.seen.push(Seen::Refused { server, why });
                return;
            }
        };
        host.refused = None;
        let saved = Box::new(recovered.saved.clone());
        outcome.seen.push(Seen::Started { server, saved, notes: recovered.notes });
        let boot = Boot { me: server, steady: now.steady, scatter: 0 };
        let mut outputs = std::mem::take(&mut outcome.outputs);
        let member = Server::member(ensemble, settings, boot, recovered.saved, &mut outputs);
        self.host_mut(server).server = Some(member);
        self.carry_out(server, now, &mut outputs, outcome);
        outputs.clear();
        outcome.outputs = outputs;
        // Those who took the old process for alive learn now that it is not.
        for (id, link) in &mut self.links {
            let side = link.side(server);
            if link.ends[side] == server && !link.open[side] && link.open[1 - side] {
                let lane = &mut link.lanes[side];
                if !lane.ends {
                    lane.ends = true;
                    outcome.fresh.push(Pending::Message { link: *id, to: link.ends[1 - side] });
                }
            }
        }
        self.wake_server(server, outcome);
    }

    pub(super) fn power_loss(
        &mut self,
        servers: &[ServerId],
        luck: u64,
        keep: Keep,
        outcome: &mut Outcome,
    ) {
        let mut luck = Luck::new(luck);
        for server in servers {
            let seen = &mut outcome.seen;
            let host = self.host_mut(*server);
            let mut see = |what| note_disk(*server, what, seen);
            if host.disk.power_loss(luck.next(), keep, &mut see) {
                host.rotten = true;
                outcome.seen.push(Seen::Rotten { server: *server });
            }
            if self.host(*server).server.is_some() {
                self.die(*server, false, outcome);
            }
            outcome.seen.push(Seen::Crashed { server: *server, power: true });
        }
    }

    /// A process is gone. Its peers are told by its kernel, if there still is one.
    pub(super) fn die(&mut self, server: ServerId, tell: bool, outcome: &mut Outcome) {
        self.host_mut(server).die();
        let ends = |link: &Link| link.ends.contains(&server) && link.open[link.side(server)];
        for (id, link) in self.links.iter_mut().filter(|(_, link)| ends(link)) {
            link.close(server, tell);
            if tell && link.open[1 - link.side(server)] {
                outcome.fresh.push(Pending::Message { link: *id, to: link.peer(server) });
            }
        }
        self.links.retain(|_, link| !link.is_over());
        let conns: Vec<(ConnId, ClientId)> =
            self.conns.iter().map(|(conn, client)| (*conn, *client)).collect();
        for (conn, client) in conns {
            let there = self.client(client).conn.as_ref();
            if there.is_some_and(|there| there.id == conn && there.server == server) {
                self.conns.remove(&conn);
                self.tell_client(client, Down::End, outcome);
            }
        }
    }
}
