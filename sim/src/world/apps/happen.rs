//! What applications do, what happens to them, and what servers hear of it.

use std::net::{IpAddr, Ipv4Addr};

use zoolab_core::client::{
    Address, CallId, Chance, Client, Config, ConnectString, Frame, Input, ServerList, Timer,
};
use zoolab_core::client::{Answer, DEFAULT_PORT, WatcherId};
use zoolab_core::{ConnId, Input as ServerInput, ServerId, Text, Xid};

use super::{CONNS_FROM, Conn, Lane, Room, call};
use crate::heard::Heard;
use crate::luck::Luck;
use crate::step::wish::{Beginning, Spot, Wish};
use crate::step::{ClientId, Step};
use crate::world::client::Down;
use crate::world::{Outcome, Pending, World};

/// The watcher that hears of the session whatever else it watches.
const DEFAULT_WATCHER: WatcherId = WatcherId(1 << 32);

/// Where a client finds a server.
fn address(server: ServerId) -> Address {
    Address { host: Text::from(format!("s{server}")), port: DEFAULT_PORT }
}

fn chance(luck: u64, draws: usize) -> Chance {
    let mut luck = Luck::new(luck);
    (0..draws).map(|_| luck.next()).collect()
}

fn list(servers: &[ServerId]) -> ServerList {
    let servers = servers.iter().map(|server| address(*server)).collect();
    ServerList::new(servers).expect("a client knows a server")
}

impl World {
    /// Something happens to an application.
    pub(in crate::world) fn app_step(
        &mut self,
        client: ClientId,
        step: &Step,
        outcome: &mut Outcome,
    ) {
        #[expect(clippy::wildcard_enum_match_arm, reason = "only what happens to applications")]
        match step {
            Step::Begin { how, .. } => self.begin(client, how, outcome),
            Step::Reach { .. } => self.reach(client, outcome),
            Step::Up { conn, .. } => self.frame_up(*conn, outcome),
            Step::Down { conn, .. } => self.frame_down(client, *conn, outcome),
            Step::Wake { timer, .. } => self.app_wakes(client, *timer, outcome),
            Step::Probe { .. } => self.probe(client, outcome),
            Step::Want { wish, .. } => self.want(client, wish, outcome),
            Step::GiveUp { call, .. } => {
                self.with_apps(outcome, |_, room| {
                    room.hears(client, Heard::GaveUp { call: CallId(*call) });
                });
            }
            Step::Servers { servers, luck, .. } => {
                let servers = list(servers);
                let chance = chance(*luck, servers.draws());
                self.app_input(client, Input::Servers { servers, chance }, outcome);
            }
            Step::Kill { .. } => self.kill(client, outcome),
            Step::Freeze { .. } => self.apps.make_mut().get_mut(client).frozen = true,
            Step::Thaw { .. } => {
                self.apps.make_mut().get_mut(client).frozen = false;
                self.wake_app(client, outcome);
            }
            Step::CutClient { server, way, .. } => {
                self.apps.make_mut().cuts.insert((client, *server, *way));
            }
            Step::HealClient { server, way, .. } => {
                self.apps.make_mut().cuts.remove(&(client, *server, *way));
                self.wake_app(client, outcome);
            }
            Step::SlowClient { us, .. } => self.apps.make_mut().get_mut(client).slow_us = *us,
            Step::BreakConn { conn, .. } => self.break_conn(*conn, outcome),
            other => unreachable!("no application does this: {other}"),
        }
    }

    fn with_apps<T>(
        &mut self,
        outcome: &mut Outcome,
        work: impl FnOnce(&mut super::Apps, &mut Room<'_>) -> T,
    ) -> T {
        let Outcome { seen, fresh, said, .. } = outcome;
        let mut room = Room { now: self.now, seen, fresh, outputs: said };
        work(self.apps.make_mut(), &mut room)
    }

    fn app_input(&mut self, client: ClientId, input: Input, outcome: &mut Outcome) {
        self.with_apps(outcome, |apps, room| apps.input(client, input, room));
    }

    /// What waits for an application may happen again.
    fn wake_app(&self, client: ClientId, outcome: &mut Outcome) {
        self.apps_pending(Some(client), &mut outcome.fresh);
    }

    fn begin(&mut self, client: ClientId, how: &Beginning, outcome: &mut Outcome) {
        let chroot = match how.chroot {
            Spot::Root => Text::from("/"),
            spot @ (Spot::Node(_) | Spot::Child(..)) => self.spots.text(spot),
        };
        let names: Vec<String> = how.servers.iter().map(|server| format!("s{server}")).collect();
        let connect = format!("{}{chroot}", names.join(","));
        let connect = ConnectString::parse(&connect).expect("names and a path");
        let draws = connect.servers.draws();
        let mut config = Config::new(connect, self.setting.session_timeout_ms)
            .expect("a setting with a positive timeout");
        config.session = how.session.and_then(|of| self.apps.get(of)?.session);
        config.default_watcher = Some(DEFAULT_WATCHER);
        config.read_only = how.read_only;
        let session = config.session.map(|session| session.id);
        let machine = Client::new(config, chance(how.luck, draws));
        let app = self.apps.make_mut().get_mut(client);
        app.machine = Some(machine);
        app.timers = [None; Timer::ALL.len()];
        (app.dial, app.probe, app.waiting) = (None, None, 0);
        self.with_apps(outcome, |apps, room| {
            room.hears(client, Heard::Began { chroot, session });
            apps.input(client, Input::Start, room);
        });
    }

    fn reach(&mut self, client: ClientId, outcome: &mut Outcome) {
        let dial = self.apps.make_mut().get_mut(client).dial.take();
        let (line, server) = dial.expect("a client that dials");
        if self.host(server).server.is_none() {
            return self.app_input(client, Input::Refused { line }, outcome);
        }
        let apps = self.apps.make_mut();
        apps.conns_made += 1;
        let id = ConnId(CONNS_FROM + apps.conns_made);
        let (up, down) = (Lane::new(), Lane::new());
        let conn =
            Conn { id, client, line, server, up, down, client_open: true, server_open: true };
        apps.conns.push(conn);
        let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
        self.input(server, outcome, || ServerInput::Accepted { conn: id, address });
        self.with_apps(outcome, |apps, room| {
            room.hears(client, Heard::Connected { conn: id, server });
            apps.input(client, Input::Connected { line }, room);
        });
    }

    fn frame_up(&mut self, conn: ConnId, outcome: &mut Outcome) {
        let place = self.apps.place(conn).expect("a connection to be heard on");
        let this = &mut self.apps.make_mut().conns[place];
        let server = this.server;
        let frame = this.up.frames.pop_front();
        if frame.is_none() {
            this.up.ends = false;
        }
        if !this.server_open {
            // Whoever is there now does not know it, and says so.
            let up =
                self.hosts[self.place(server).expect("a server of this world")].server.is_some();
            let this = &mut self.apps.make_mut().conns[place];
            if this.shut(up) {
                outcome.fresh.push(Pending::Down(conn));
            }
            return;
        }
        let input = match frame {
            Some(Frame::Connect(request)) => ServerInput::Connect { conn, request },
            Some(Frame::Request(xid, request)) => ServerInput::Request { conn, xid, request },
            None => {
                this.server_open = false;
                self.apps.make_mut().sweep(conn);
                ServerInput::Disconnected { conn }
            }
        };
        self.input(server, outcome, || input);
    }

    fn frame_down(&mut self, client: ClientId, conn: ConnId, outcome: &mut Outcome) {
        self.with_apps(outcome, |apps, room| {
            let place = apps.place(conn).expect("a connection to hear on");
            let this = &mut apps.conns[place];
            let line = this.line;
            let Some(down) = this.down.frames.pop_front() else {
                if this.leave() {
                    room.fresh.push(Pending::Up(conn));
                }
                apps.sweep(conn);
                room.hears(client, Heard::Parted { conn });
                return apps.input(client, Input::Disconnected { line }, room);
            };
            let ping = matches!(&down, Down::Reply(reply) if reply.xid == Xid::PING);
            if !ping {
                room.hears(client, Heard::Told { conn, frame: down.clone() });
            }
            let input = match down {
                Down::Connected(response) => Input::Greeted { line, response },
                Down::End => unreachable!("the end of a connection is no frame of it"),
                Down::Event(event) => {
                    Input::Answered { line, answer: Answer::Event((*event).clone()) }
                }
                Down::Reply(reply) => Input::Answered { line, answer: Answer::Reply(reply) },
            };
            apps.input(client, input, room);
        });
    }

    fn app_wakes(&mut self, client: ClientId, timer: Timer, outcome: &mut Outcome) {
        self.apps.make_mut().get_mut(client).timers[timer as usize] = None;
        self.app_input(client, Input::Timeout(timer), outcome);
    }

    fn probe(&mut self, client: ClientId, outcome: &mut Outcome) {
        let asked = self.apps.make_mut().get_mut(client).probe.take();
        let (probe, server) = asked.expect("a client that asks");
        let process = self.host(server).server.as_ref();
        let writable = process.is_some_and(zoolab_core::Server::is_serving);
        self.app_input(client, Input::Probed { probe, writable }, outcome);
    }

    fn want(&mut self, client: ClientId, wish: &Wish, outcome: &mut Outcome) {
        let spots = self.spots.clone();
        self.with_apps(outcome, |apps, room| {
            let app = apps.get_mut(client);
            let id = CallId(app.calls);
            let input = call::input(wish, id, &spots);
            #[expect(clippy::wildcard_enum_match_arm, reason = "all others are no calls")]
            let heard = match &input {
                Input::Call { id, call } => {
                    Some(Heard::Called { call: *id, what: Box::new(call.clone()) })
                }
                Input::Close { id } => Some(Heard::Closing { call: *id }),
                _ => None,
            };
            if let Some(heard) = heard {
                app.calls += 1;
                app.waiting += 1;
                room.hears(client, heard);
            }
            apps.input(client, input, room);
        });
    }

    /// Its process dies; its kernel closes its connections.
    fn kill(&mut self, client: ClientId, outcome: &mut Outcome) {
        self.with_apps(outcome, |apps, room| {
            let app = apps.get_mut(client);
            app.machine = None;
            app.timers = [None; Timer::ALL.len()];
            (app.dial, app.probe, app.waiting) = (None, None, 0);
            app.frozen = false;
            let mine = |conn: &&mut Conn| conn.client == client && conn.client_open;
            for conn in apps.conns.iter_mut().filter(mine) {
                if conn.leave() {
                    room.fresh.push(Pending::Up(conn.id));
                }
                room.seen.push(crate::seen::Seen::Client {
                    client,
                    heard: Heard::Parted { conn: conn.id },
                });
            }
            apps.conns.retain(|conn| !conn.is_over());
            room.hears(client, Heard::Gone);
        });
    }

    /// What is under way is lost, and each end finds that out by itself.
    fn break_conn(&mut self, conn: ConnId, outcome: &mut Outcome) {
        let apps = self.apps.make_mut();
        let place = apps.place(conn).expect("a connection to break");
        let this = &mut apps.conns[place];
        this.up.frames.clear();
        this.down.frames.clear();
        (this.up.ends, this.down.ends) = (this.server_open, this.client_open);
        if this.up.ends {
            outcome.fresh.push(Pending::Up(conn));
        }
        if this.down.ends {
            outcome.fresh.push(Pending::Down(conn));
        }
    }
}
