//! What applications do of their own accord, and what goes wrong with them.

use zoolab_core::ServerId;
use zoolab_core::client::WatcherKind;

use super::{Mend, Seeded, Thought};
use crate::step::wish::{Beginning, Kind, Part, Spot, Wish};
use crate::step::{ClientId, Instant, Step, Way};
use crate::swarm::{Family, Work};
use crate::world::World;
use crate::world::apps::CHILDREN;

/// How many watchers an application has.
const WATCHERS: u64 = 3;

impl Seeded {
    /// An application may want something.
    pub(super) fn app(&mut self, at: Instant, client: ClientId, world: &World) {
        let think = self.programs.around(u64::from(self.plan.think_us));
        self.later(at, think.max(1), Thought::App(client));
        let app = world.app(client);
        if app.frozen {
            return;
        }
        if !app.is_alive() {
            let how = Box::new(self.beginning(client, world));
            self.next.push(Step::Begin { client, how });
            return;
        }
        if app.waiting >= u32::from(self.plan.depth) {
            // Whoever called may have lost patience; the call goes on.
            if app.calls > 0 && self.programs.one_in(20) {
                let call = app.calls - 1 - self.programs.below(u64::from(app.waiting));
                self.next.push(Step::GiveUp { client, call });
            }
            return;
        }
        let heard = app.deeds.answered;
        if self.calm && heard > self.answered_before[usize::from(client.0)] + 3 {
            return;
        }
        let wish = match self.plan.work {
            Work::Mixed => self.anything_at_all(),
            Work::Pings => Wish::WhoAmI,
            Work::Writes => self.some_write(client, app.deeds.answered),
        };
        self.next.push(Step::Want { client, wish });
    }

    /// How a client begins: mostly with all servers and a session of its own.
    fn beginning(&mut self, client: ClientId, world: &World) -> Beginning {
        let mut servers = world.servers().to_vec();
        let (chance, calm) = (&mut self.programs, self.calm);
        if !calm && servers.len() > 1 && chance.one_in(6) {
            servers.remove(chance.below(servers.len() as u64) as usize);
        }
        let chroot = if chance.one_in(8) { Spot::Node(0) } else { Spot::Root };
        let other = ClientId(chance.below(world.apps().count() as u64) as u16);
        let of = match chance.below(10) {
            0..=2 => Some(client),
            3 => Some(other),
            _ => None,
        };
        let session = of.filter(|of| world.app(*of).session.is_some());
        Beginning { servers, luck: chance.word(), chroot, session, read_only: false }
    }

    fn spot(&mut self) -> Spot {
        let node = self.programs.below(u64::from(self.plan.setting.nodes.max(1))) as u16;
        match self.programs.below(3 + u64::from(CHILDREN)) {
            child @ 0..3 => Spot::Child(node, child as u8),
            _ => Spot::Node(node),
        }
    }

    fn version(&mut self) -> i32 {
        if self.programs.one_in(3) { self.programs.below(4) as i32 } else { -1 }
    }

    fn watch(&mut self) -> Option<u16> {
        self.programs.one_in(2).then(|| self.programs.below(WATCHERS) as u16)
    }

    fn kind(&mut self) -> Kind {
        match self.programs.below(16) {
            0..=8 => Kind::Persistent,
            9..=12 => Kind::Ephemeral,
            13 => Kind::EphemeralSequential,
            14 => Kind::Container,
            _ => Kind::Ttl,
        }
    }

    fn value(&mut self) -> u32 {
        self.value += 1;
        self.value
    }

    fn part(&mut self) -> Part {
        let (at, version) = (self.spot(), self.version());
        match self.programs.below(6) {
            0 => Part::Check { at, version },
            1 | 2 => Part::Create { at, value: self.value(), kind: self.kind() },
            3 => Part::Delete { at, version },
            _ => Part::Set { at, value: self.value(), version },
        }
    }

    fn some_write(&mut self, client: ClientId, answered: u64) -> Wish {
        let at = Spot::Node(client.0 % self.plan.setting.nodes.max(1));
        let value = self.value();
        match answered {
            0 => Wish::Create { at, value, kind: Kind::Persistent, stat: false },
            _ => Wish::Set { at, value, version: -1 },
        }
    }

    fn anything_at_all(&mut self) -> Wish {
        let at = self.spot();
        match self.programs.below(64) {
            0..=12 => {
                let (value, kind) = (self.value(), self.kind());
                Wish::Create { at, value, kind, stat: self.programs.one_in(3) }
            }
            13..=18 => Wish::Delete { at, version: self.version() },
            19..=30 => Wish::Set { at, value: self.value(), version: self.version() },
            31..=37 => Wish::Get { at, watch: self.watch() },
            38..=42 => Wish::Exists { at, watch: self.watch() },
            43..=46 => {
                let at = if self.programs.one_in(4) { Spot::Root } else { at };
                Wish::Children { at, watch: self.watch(), stat: self.programs.one_in(2) }
            }
            47 => Wish::Count { at },
            48 => Wish::Config { watch: self.watch() },
            49 => Wish::GetAcl { at },
            50 => Wish::SetAcl { at, open: !self.programs.one_in(4), version: self.version() },
            51 | 52 => Wish::Sync { at },
            53..=55 => {
                let count = self.programs.below(4);
                Wish::Multi((0..count).map(|_| self.part()).collect())
            }
            56 => {
                let count = self.programs.below(4);
                let read = |_| (self.spot(), self.programs.one_in(2));
                Wish::MultiRead((0..count).map(read).collect())
            }
            57 | 58 => {
                let watcher = self.programs.below(WATCHERS) as u16;
                Wish::AddWatch { at, watcher, recursive: self.programs.one_in(2) }
            }
            59 | 60 => {
                let kinds = [
                    WatcherKind::Any,
                    WatcherKind::Child,
                    WatcherKind::Data,
                    WatcherKind::Persistent,
                    WatcherKind::Recursive,
                ];
                let kind = *self.programs.pick(&kinds).expect("five to pick from");
                let (watcher, local) = (self.watch(), self.programs.one_in(3));
                Wish::RemoveWatches { at, kind, watcher, local }
            }
            61 => Wish::Ephemerals { at: if self.programs.one_in(2) { Spot::Root } else { at } },
            62 if self.programs.one_in(4) => Wish::AddAuth { user: self.programs.below(3) as u8 },
            62 => Wish::WhoAmI,
            _ if self.programs.one_in(6) => Wish::Close,
            _ => Wish::Sync { at },
        }
    }

    /// Something goes wrong with an application, or on its way to a server.
    pub(super) fn app_fault(
        &mut self,
        at: Instant,
        (family, luck, coin, for_us): (Family, u64, u64, u64),
        world: &World,
    ) {
        let count = world.apps().count() as u64;
        if count == 0 {
            return;
        }
        let client = ClientId((luck % count) as u16);
        let server = world.servers()[(luck / count % world.servers().len() as u64) as usize];
        let app = world.app(client);
        match family {
            Family::ClientBreak => {
                let mine = |conn: &&crate::world::apps::Conn| {
                    conn.client == client && conn.client_open && conn.server_open
                };
                if let Some(conn) = world.conns().iter().rev().find(mine) {
                    self.next.push(Step::BreakConn { client, conn: conn.id });
                }
            }
            Family::ClientCut => {
                let ways: &[Way] = match coin {
                    0 => &[Way::Up],
                    1 => &[Way::Down],
                    _ => &[Way::Up, Way::Down],
                };
                // From one server, or from all of them.
                let servers = if coin < 4 { vec![server] } else { world.servers().to_vec() };
                for server in servers {
                    for way in ways {
                        self.next.push(Step::CutClient { client, server, way: *way });
                        let mend = Mend::HealClient(client, server, *way);
                        self.later(at, for_us * 3, Thought::Mend(mend));
                    }
                }
            }
            Family::ClientKill => {
                if app.machine.is_some() && !app.frozen {
                    self.next.push(Step::Kill { client });
                }
            }
            Family::ClientMove => {
                if app.is_alive() && !app.frozen {
                    let servers = self.other_servers(server, luck, coin, world);
                    self.next.push(Step::Servers { client, servers, luck });
                    self.later(at, for_us, Thought::Mend(Mend::AllServers(client)));
                }
            }
            Family::ClientPause => {
                if !app.frozen {
                    self.next.push(Step::Freeze { client });
                    // Some sleep longer than their session lives.
                    let timeout_us = self.plan.setting.session_timeout_ms.unsigned_abs() * 1000;
                    let most =
                        if coin < 4 { for_us } else { u64::from(timeout_us) * (coin - 2) / 2 };
                    self.later(at, most, Thought::Mend(Mend::Thaw(client)));
                }
            }
            Family::ClientSlow => {
                let us = (luck % 3_000_000) as u32;
                self.next.push(Step::SlowClient { client, us });
                self.later(at, for_us * 2, Thought::Mend(Mend::QuickenClient(client)));
            }
            Family::Break
            | Family::Clock
            | Family::Crash
            | Family::Cut
            | Family::DiskFail
            | Family::Doom
            | Family::Full
            | Family::Pause
            | Family::Power
            | Family::Rolling
            | Family::Rot
            | Family::Slow
            | Family::Votes
            | Family::Wipe => {}
        }
    }

    /// Another list of servers: only this one, so that the client moves there, or a part of all.
    fn other_servers(
        &self,
        server: ServerId,
        luck: u64,
        coin: u64,
        world: &World,
    ) -> Vec<ServerId> {
        let part = world.servers().iter().copied().filter(|id| luck >> (id.0 % 64) & 1 == 1);
        let part: Vec<ServerId> = part.collect();
        if coin < 4 || part.is_empty() { vec![server] } else { part }
    }

    /// What is wrong with applications is mended.
    pub(super) fn mend_apps(&mut self, world: &World) {
        for (client, app) in world.apps() {
            if app.is_alive() {
                self.mend(Mend::AllServers(client), world);
            }
            if app.slow_us > 0 {
                self.mend(Mend::QuickenClient(client), world);
            }
            if app.frozen {
                self.mend(Mend::Thaw(client), world);
            }
        }
        for (client, server, way) in world.client_cuts().collect::<Vec<_>>() {
            self.mend(Mend::HealClient(client, server, way), world);
        }
    }
}
