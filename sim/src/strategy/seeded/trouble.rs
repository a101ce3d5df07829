//! What goes wrong, and what mends it.

use zoolab_core::{LinkId, ServerId};

use super::{Ambush, Mend, Seeded, Thought};
use crate::step::{Instant, Keep, Step};
use crate::swarm::Family;
use crate::world::World;

impl Seeded {
    pub(super) fn up(world: &World) -> Vec<ServerId> {
        let up = |server: &&ServerId| world.host(**server).server.is_some();
        world.servers().iter().filter(up).copied().collect()
    }

    pub(super) fn fault(&mut self, at: Instant, place: usize, world: &World) {
        let (family, every_us, stream) = &mut self.faults[place];
        let (family, every_us) = (*family, *every_us);
        // A shortest time before the next, or nothing would ever complete.
        let next = every_us / 4 + stream.around(every_us);
        let for_us = 200_000 + stream.around(4_000_000);
        let (luck, coin) = (stream.word(), stream.below(8));
        let up = Self::up(world);
        let one = stream.pick(&up).copied();
        let all = world.servers();
        let pair = (all[(luck % all.len() as u64) as usize], one);
        self.later(at, next, Thought::Fault(place as u8));
        let Some(server) = one else { return };
        let seconds = for_us;
        if coin == 7 && matches!(family, Family::Crash | Family::Power) {
            self.ambush = Some(Ambush { family, luck, writes: luck % 4, for_us });
            return;
        }
        match family {
            Family::ClientBreak
            | Family::ClientCut
            | Family::ClientKill
            | Family::ClientMove
            | Family::ClientPause
            | Family::ClientSlow => {
                self.app_fault(at, (family, luck, coin, for_us), world);
            }
            Family::Break => {
                let links: Vec<LinkId> = world.links().map(|(id, _)| id).collect();
                if !links.is_empty() {
                    let link = links[(luck % links.len() as u64) as usize];
                    self.next.push(Step::Break { link });
                }
            }
            Family::Clock => {
                if coin < 4 {
                    let ms = (luck % 40_000).cast_signed() - 20_000;
                    self.next.push(Step::Jump { server, ms });
                } else {
                    let ppm = (luck % 400_000) as i32 - 200_000;
                    self.next.push(Step::Drift { server, ppm });
                    self.later(at, seconds, Thought::Mend(Mend::Straighten(server)));
                }
            }
            Family::Crash => {
                self.next.push(Step::Crash { server, luck });
                self.later(at, seconds, Thought::Mend(Mend::Restart(server)));
            }
            Family::Cut => self.cut(at, seconds, coin, server, world),
            Family::DiskFail => {
                let host = world.host(server);
                if let Some(token) = host.disk.pending().filter(|_| host.is_awake()) {
                    self.next.push(Step::DiskFails { server, token, luck });
                    self.later(at, seconds, Thought::Mend(Mend::Restart(server)));
                }
            }
            Family::Doom => {
                self.next.push(Step::Doom { server, outputs: (luck % 6) as u8 });
                self.later(at, seconds, Thought::Mend(Mend::Restart(server)));
            }
            Family::Full => {
                self.next.push(Step::Full { server, full: true });
                self.later(at, seconds / 2, Thought::Mend(Mend::Room(server)));
                self.later(at, seconds, Thought::Mend(Mend::Restart(server)));
            }
            Family::Pause => {
                if !world.host(server).paused {
                    self.next.push(Step::Pause { server });
                    self.later(at, seconds * 2, Thought::Mend(Mend::Resume(server)));
                }
            }
            Family::Power => {
                let servers = match coin {
                    0 => up,
                    1 | 2 => up.into_iter().filter(|id| luck >> id.0 & 1 == 0).collect(),
                    _ => vec![server],
                };
                for server in &servers {
                    self.later(at, seconds, Thought::Mend(Mend::Restart(*server)));
                }
                // Only who may lose its disk: what is left may not be readable.
                let may = servers.iter().all(|server| self.victims.contains(server));
                let keep = if may && luck >> 60 < 8 { Keep::Any } else { Keep::Beginning };
                if !servers.is_empty() {
                    self.next.push(Step::PowerLoss { servers, luck, keep });
                }
            }
            Family::Rolling => {
                if self.rolling.is_empty() {
                    self.rolling = all.to_vec();
                }
                if let Some(server) = self.rolling.pop()
                    && world.host(server).server.is_some()
                {
                    self.next.push(Step::Crash { server, luck });
                    self.later(at, 500_000, Thought::Mend(Mend::Restart(server)));
                }
            }
            Family::Rot => {
                if self.victims.contains(&server) {
                    self.next.push(Step::Rot { server, luck });
                }
            }
            Family::Slow => {
                let us = (luck % 400_000) as u32;
                if coin < 4 {
                    self.next.push(Step::SlowDisk { server, us });
                    self.later(at, seconds, Thought::Mend(Mend::QuickenDisk(server)));
                } else {
                    let (from, to) = (pair.0, server);
                    self.next.push(Step::SlowLink { from, to, us });
                    self.later(at, seconds, Thought::Mend(Mend::Quicken(from, to)));
                }
            }
            // Those happen to each vote on its way.
            Family::Votes => {}
            Family::Wipe => {
                // Whoever is down and may lose its disk does; else it goes down first.
                let victim = self.victims.iter().find(|id| world.host(**id).server.is_none());
                if let Some(server) = victim.copied() {
                    self.next.push(Step::Wipe { server });
                } else if let Some(server) = self.victims.first().copied() {
                    self.next.push(Step::Wipe { server });
                    self.next.push(Step::Crash { server, luck });
                    self.later(at, seconds, Thought::Mend(Mend::Restart(server)));
                }
            }
        }
    }

    /// Whether the ambush strikes now, when a disk is about to be done with something.
    pub(super) fn strikes(&mut self, at: Instant, server: ServerId, world: &World) -> bool {
        let Some(ambush) = &mut self.ambush else { return false };
        let process = world.host(server).server.as_ref();
        if self.calm || process.is_none_or(|process| process.doing() != "joining") {
            return false;
        }
        if ambush.writes > 0 {
            ambush.writes -= 1;
            return false;
        }
        let Ambush { family, luck, for_us, .. } = *ambush;
        self.ambush = None;
        self.next.push(if family == Family::Power {
            Step::PowerLoss { servers: vec![server], luck, keep: Keep::Beginning }
        } else {
            Step::Crash { server, luck }
        });
        self.later(at, for_us, Thought::Mend(Mend::Restart(server)));
        true
    }

    /// One way, both ways, one against all, halves, or a ring.
    pub(super) fn cut(&mut self, at: Instant, us: u64, coin: u64, server: ServerId, world: &World) {
        let all = world.servers();
        let place = all.iter().position(|id| *id == server).unwrap_or(0);
        let mut cuts = Vec::new();
        match coin {
            0 | 1 => {
                let other = all[(place + 1) % all.len()];
                cuts.push((server, other));
            }
            2 | 3 => {
                let other = all[(place + 1) % all.len()];
                cuts.extend([(server, other), (other, server)]);
            }
            4 | 5 => cuts.extend(all.iter().flat_map(|id| [(server, *id), (*id, server)])),
            6 => {
                let (here, there) = all.split_at(place);
                for a in here {
                    cuts.extend(there.iter().flat_map(|b| [(*a, *b), (*b, *a)]));
                }
            }
            _ => {
                // Each sees only its neighbours.
                for (i, a) in all.iter().enumerate() {
                    for (j, b) in all.iter().enumerate() {
                        let far = i.abs_diff(j) > 1 && i.abs_diff(j) + 1 < all.len();
                        if far {
                            cuts.push((*a, *b));
                        }
                    }
                }
            }
        }
        for (from, to) in cuts.into_iter().filter(|(from, to)| from != to) {
            self.next.push(Step::Cut { from, to });
            self.later(at, us, Thought::Mend(Mend::Heal(from, to)));
        }
    }

    pub(super) fn mend(&mut self, mend: Mend, world: &World) {
        let step = match mend {
            Mend::AllServers(client) => {
                let luck = self.programs.word();
                Step::Servers { client, servers: world.servers().to_vec(), luck }
            }
            Mend::Heal(from, to) => Step::Heal { from, to },
            Mend::HealClient(client, server, way) => Step::HealClient { client, server, way },
            Mend::Quicken(from, to) => Step::SlowLink { from, to, us: 0 },
            Mend::QuickenClient(client) => Step::SlowClient { client, us: 0 },
            Mend::QuickenDisk(server) => Step::SlowDisk { server, us: 0 },
            Mend::Restart(server) => {
                let host = world.host(server);
                if host.server.is_some() {
                    return;
                }
                // Whoever looks after it replaces a disk that cannot be read.
                if host.rotten && self.calm {
                    self.next.push(Step::Restart { server });
                    Step::Wipe { server }
                } else {
                    Step::Restart { server }
                }
            }
            Mend::Resume(server) => {
                if world.host(server).server.is_none() {
                    return;
                }
                Step::Resume { server }
            }
            Mend::Room(server) => Step::Full { server, full: false },
            Mend::Straighten(server) => Step::Drift { server, ppm: 0 },
            Mend::Thaw(client) => Step::Thaw { client },
        };
        self.next.push(step);
    }

    /// Everything is mended that can be.
    pub(super) fn mend_all(&mut self, world: &World) {
        for server in world.servers().to_vec() {
            let host = world.host(server);
            self.mend(Mend::Restart(server), world);
            let broken = [
                (host.paused, Mend::Resume(server)),
                (host.disk.is_full(), Mend::Room(server)),
                (host.disk_slow_us > 0, Mend::QuickenDisk(server)),
                (host.clock.is_off(), Mend::Straighten(server)),
            ];
            for (_, mend) in broken.into_iter().filter(|(broken, _)| *broken) {
                self.mend(mend, world);
            }
        }
        self.mend_apps(world);
        for (from, to) in world.cuts().collect::<Vec<_>>() {
            self.mend(Mend::Heal(from, to), world);
        }
        for from in world.servers() {
            for to in world.servers() {
                if world.slow_us(*from, *to) > 0 {
                    self.mend(Mend::Quicken(*from, *to), world);
                }
            }
        }
    }
}
