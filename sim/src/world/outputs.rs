//! Doing what a server wants done.

use zoolab_core::storage::Saved;
use zoolab_core::{Millis, Now, Output, ServerId, Timer};

use super::client::Down;
use super::{Outcome, Pending, World, note_disk, shows};
use crate::seen::Seen;

impl World {
    /// Carries outputs out, one after the other; a doomed process dies on the way.
    pub(super) fn carry_out(
        &mut self,
        server: ServerId,
        now: Now,
        outputs: &mut Vec<Output>,
        outcome: &mut Outcome,
    ) {
        let doom = self.host(server).doom;
        let last = doom.map_or(outputs.len(), |doom| usize::from(doom).min(outputs.len()));
        for output in outputs.drain(..).take(last) {
            self.carry_out_one(server, now, output, outcome);
        }
        if let Some(doom) = doom {
            let seen = &mut outcome.seen;
            let disk = &mut self.host_mut(server).disk;
            disk.crash(u64::from(doom), &mut |what| note_disk(server, what, seen));
            self.die(server, true, outcome);
            outcome.seen.push(Seen::Crashed { server, power: false });
        }
    }

    fn carry_out_one(&mut self, server: ServerId, now: Now, output: Output, outcome: &mut Outcome) {
        match output {
            Output::Arm { timer, ticks } => {
                let tick_ms = i64::from(self.settings.tick_ms);
                let here = now.steady.0.div_euclid(tick_ms);
                let due = Millis((here + i64::from(ticks.0)) * tick_ms);
                self.arm(server, timer, due, outcome);
            }
            Output::Wake { timer, ms } => {
                self.arm(server, timer, Millis(now.steady.0 + i64::from(ms)), outcome);
            }
            Output::Disarm { timer } => self.host_mut(server).timers[timer as usize] = None,
            Output::Close { conn } => {
                if let Some(client) = self.conns.remove(&conn) {
                    self.tell_client(client, Down::End, outcome);
                }
            }
            Output::Connected { conn, response } => {
                if let Some(client) = self.conns.get(&conn).copied() {
                    self.tell_client(client, Down::Connected(response), outcome);
                }
            }
            Output::Notify { conn, event } => {
                if let Some(client) = self.conns.get(&conn).copied() {
                    self.tell_client(client, Down::Event(event), outcome);
                }
            }
            Output::Reply { conn, reply } => {
                if let Some(client) = self.conns.get(&conn).copied() {
                    self.tell_client(client, Down::Reply(reply), outcome);
                }
            }
            Output::Dial { to } => {
                if self.host_mut(server).dials.insert(to) {
                    outcome.fresh.push(Pending::Dialled { from: server, to });
                }
            }
            Output::Halt { .. } => {
                let seen = &mut outcome.seen;
                let disk = &mut self.host_mut(server).disk;
                disk.crash(0, &mut |what| note_disk(server, what, seen));
                self.die(server, true, outcome);
                outcome.seen.push(Seen::Halted { server });
            }
            Output::HangUp { link } => {
                if let Some(peer) = self.peer(server, link)
                    && self.close_link(link, server, peer, true)
                {
                    outcome.fresh.push(Pending::Message { link, from: server, to: peer });
                }
            }
            Output::Note(note) => outcome.seen.push(Seen::Note { server, note }),
            Output::Persist { token, persist } => {
                let seen = &mut outcome.seen;
                let disk = &mut self.host_mut(server).disk;
                let before = disk.pending();
                disk.ask(token, persist, &mut |what| note_disk(server, what, seen));
                if disk.pending().is_some() && before.is_none() {
                    outcome.fresh.push(Pending::Disk(server));
                }
            }
            Output::Reload => {
                self.host_mut(server).reload = true;
                outcome.fresh.push(Pending::Reload(server));
            }
            Output::Send { link, message } => {
                let Some(to) = self.peer(server, link) else { return };
                let Some(found) = self.pair_mut(server, to).link_mut(link) else { return };
                let side = found.side(server);
                if !found.open[side] || found.lanes[side].ends {
                    return;
                }
                let arrives = found.open[1 - side];
                if shows(&message) {
                    let message = message.clone();
                    outcome.seen.push(Seen::Sent { from: server, to, message });
                }
                // Nothing gets to an end that is closed; whoever sends does not know.
                if arrives {
                    let found = self.pair_mut(server, to).link_mut(link).expect("it was there");
                    found.lanes[side].messages.push_back(message);
                    outcome.fresh.push(Pending::Message { link, from: server, to });
                }
            }
            Output::Tell { to, notification } => {
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

    /// Sets a timer. Whoever schedules is told only if it could come earlier than it knows.
    fn arm(&mut self, server: ServerId, timer: Timer, due: Millis, outcome: &mut Outcome) {
        if self.setting.search.is_some() {
            // Time stands still: what is armed is due.
            if self.waits_for(timer) {
                self.host_mut(server).timers[timer as usize] = Some(Millis(0));
            }
            return;
        }
        let slot = &mut self.host_mut(server).timers[timer as usize];
        let before = slot.replace(due);
        if before.is_none_or(|before| due < before) {
            outcome.fresh.push(Pending::Timer { server, timer });
        }
    }

    /// What a server's disk would give back now, if its process died.
    ///
    /// # Errors
    /// Says why it could not be believed.
    pub fn would_recover(&self, server: ServerId) -> Result<Saved, String> {
        let mut disk = self.host(server).disk.clone();
        disk.recover().map(|found| found.saved)
    }
}
