//! What one machine does by itself, and what comes of it for others.
//!
//! ```text
//!   Act ---> [ process, disk, clocks ] ---> Others, one effect after the other
//! ```
//!
//! Nothing else changes a machine but faults that only mark it.

use std::sync::Arc;

use zoolab_core::zab::Message;
use zoolab_core::{
    Boot, ConnId, Ensemble, Input, LinkId, Millis, Now, Output, Server, ServerId, Settings, Timer,
    Token,
};

use super::Pending;
use super::client::Down;
use super::disk::{DiskSeen, Finish};
use super::host::Host;
use super::pair::Vote;
use crate::seen::Seen;
use crate::setting::Setting;
use crate::step::{Instant, Keep};

/// Something that a machine does.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Act {
    /// Its process dies; luck decides how far its disk had got.
    Crash(u64),
    /// It has reached another, by a new connection; or it has not.
    Dialled(ServerId, Option<LinkId>),
    /// Its disk has done what is next.
    Disk(Token),
    /// Its disk fails at what is next; luck decides what is left.
    DiskFails(Token, u64),
    /// Its process takes an input.
    Input(Input),
    /// It loses power; luck decides what its disk has kept, and how.
    PowerLoss(u64, Keep),
    /// Its process reads its disk again.
    Reload,
    /// Nothing, but to make equal what nobody can observe.
    Rest,
    /// Its process starts.
    Restart,
    /// A timer runs out.
    Timeout(Timer),
}

/// What comes of it outside of the machine, as it comes.
pub trait Others {
    /// Something is on its way to a client.
    fn client(&mut self, conn: ConnId, down: Down);

    /// Its process is gone; its kernel tells the peers, if there still is one.
    fn died(&mut self, tell: bool);

    /// Something is left to be done.
    fn fresh(&mut self, pending: Pending);

    /// It ends a connection.
    fn hang_up(&mut self, link: LinkId);

    /// Its process has started: whoever took the old one for alive learns that it is not.
    fn risen(&mut self);

    /// Something was seen. It is made where it stays: what was just written in small parts is
    /// slow to be read in large ones.
    fn seen(&mut self, seen: impl FnOnce() -> Seen);

    /// It hands a message to a connection.
    fn send(&mut self, link: LinkId, message: Message);

    /// It tells another whom to follow.
    fn tell(&mut self, to: ServerId, vote: Vote);
}

/// The same, written down.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[expect(missing_docs, reason = "each is what `Others` says of it")]
pub enum Effect {
    Client(ConnId, Down),
    Died { tell: bool },
    Fresh(Pending),
    HangUp(LinkId),
    Risen,
    Seen(Seen),
    Send(LinkId, Message),
    Tell(ServerId, Vote),
}

impl Others for Vec<Effect> {
    fn client(&mut self, conn: ConnId, down: Down) {
        self.push(Effect::Client(conn, down));
    }

    fn died(&mut self, tell: bool) {
        self.push(Effect::Died { tell });
    }

    fn fresh(&mut self, pending: Pending) {
        self.push(Effect::Fresh(pending));
    }

    fn hang_up(&mut self, link: LinkId) {
        self.push(Effect::HangUp(link));
    }

    fn risen(&mut self) {
        self.push(Effect::Risen);
    }

    fn seen(&mut self, seen: impl FnOnce() -> Seen) {
        self.push(Effect::Seen(seen()));
    }

    fn send(&mut self, link: LinkId, message: Message) {
        self.push(Effect::Send(link, message));
    }

    fn tell(&mut self, to: ServerId, vote: Vote) {
        self.push(Effect::Tell(to, vote));
    }
}

/// What a machine stands on.
#[derive(Clone, Copy, Debug)]
pub struct Ground<'a> {
    /// How the world was set up.
    pub setting: &'a Setting,
    /// What the servers agree on.
    pub ensemble: &'a Arc<Ensemble>,
    /// What they offer their clients.
    pub settings: &'a Arc<Settings>,
    /// Which machine it is.
    pub me: ServerId,
    /// What time it is.
    pub at: Instant,
}

/// Whether a message is shown to those who watch.
pub const fn shows(message: &Message) -> bool {
    !matches!(message, Message::Ping { .. } | Message::Pong { .. } | Message::SnapPart { .. })
}

/// Shows what became true of a disk.
fn show(server: ServerId, others: &mut impl Others) -> impl FnMut(DiskSeen) {
    move |what| others.seen(|| what.of(server))
}

impl Host {
    /// Does something, and says what comes of it. `outputs` is room to work in.
    pub fn act(
        &mut self,
        ground: &Ground<'_>,
        act: Act,
        outputs: &mut Vec<Output>,
        others: &mut impl Others,
    ) {
        let server = ground.me;
        match act {
            Act::Crash(luck) => {
                self.disk.crash(luck, &mut show(server, others));
                self.die(true, others);
                others.seen(|| Seen::Crashed { server, power: false });
            }
            Act::Dialled(peer, link) => {
                self.dials.remove(&peer);
                let input = link.map_or(Input::Unlinked { link: None, peer }, |link| {
                    Input::Linked { link, peer, dialled: true }
                });
                self.input(ground, || input, outputs, others);
            }
            Act::Disk(token) => self.disk_done(ground, token, outputs, others),
            Act::DiskFails(token, luck) => {
                self.disk.fail(luck);
                self.input(ground, || Input::PersistFailed(token), outputs, others);
            }
            Act::Input(input) => self.input(ground, || input, outputs, others),
            Act::PowerLoss(luck, keep) => {
                if self.disk.power_loss(luck, keep, &mut show(server, others)) {
                    self.rotten = true;
                    others.seen(|| Seen::Rotten { server });
                }
                if self.server.is_some() {
                    self.die(false, others);
                }
                others.seen(|| Seen::Crashed { server, power: true });
            }
            Act::Reload => self.reread(ground, outputs, others),
            Act::Rest => {}
            Act::Restart => self.restart(ground, outputs, others),
            Act::Timeout(timer) => {
                self.timers[timer as usize] = None;
                self.input(ground, || Input::Timeout(timer), outputs, others);
            }
        }
        self.settle(ground, outputs, others);
    }

    /// In a search, makes equal what nobody can observe.
    fn settle(&mut self, ground: &Ground<'_>, outputs: &mut Vec<Output>, others: &mut impl Others) {
        let Some(bounds) = ground.setting.search else { return };
        while bounds.quick_disks
            && self.is_awake()
            && let Some(token) = self.disk.pending()
        {
            self.disk_done(ground, token, outputs, others);
            if self.reload {
                self.reread(ground, outputs, others);
            }
        }
        if bounds.as_is {
            return;
        }
        if bounds.coarse
            && let Some(server) = &mut self.server
            && server.is_looking()
            && server.round() > 1
        {
            server.forget_rounds();
        }
        self.rename_tokens();
    }

    /// Its process takes an input, if it runs. The input is large, so it is made where it is taken.
    #[inline]
    pub(super) fn take(
        &mut self,
        ground: &Ground<'_>,
        input: impl FnOnce() -> Input,
        outputs: &mut Vec<Output>,
        others: &mut impl Others,
    ) {
        self.input(ground, input, outputs, others);
        self.settle(ground, outputs, others);
    }

    #[inline]
    fn input(
        &mut self,
        ground: &Ground<'_>,
        input: impl FnOnce() -> Input,
        outputs: &mut Vec<Output>,
        others: &mut impl Others,
    ) {
        let now = self.clock.now(ground.at);
        if let Some(process) = &mut self.server {
            process.step(now, input(), outputs);
        }
        self.carry_out(ground, now, outputs, others);
    }

    fn disk_done(
        &mut self,
        ground: &Ground<'_>,
        token: Token,
        outputs: &mut Vec<Output>,
        others: &mut impl Others,
    ) {
        let server = ground.me;
        let done = self.disk.finish(token, &mut show(server, others));
        if self.disk.pending().is_some() {
            others.fresh(Pending::Disk(server));
        }
        let input = match done {
            Finish::Done => Input::Persisted(token),
            Finish::Refused => Input::PersistFailed(token),
        };
        self.input(ground, || input, outputs, others);
    }

    fn reread(&mut self, ground: &Ground<'_>, outputs: &mut Vec<Output>, others: &mut impl Others) {
        let server = ground.me;
        self.reload = false;
        match self.disk.read_again() {
            Ok(found) => {
                let saved = Box::new(found.saved);
                others.seen(|| Seen::Reloaded { server, saved: saved.clone() });
                self.input(ground, || Input::Reloaded(saved), outputs, others);
            }
            Err(why) => {
                others.seen(|| Seen::Refused { server, why });
                self.die(true, others);
            }
        }
    }

    fn restart(
        &mut self,
        ground: &Ground<'_>,
        outputs: &mut Vec<Output>,
        others: &mut impl Others,
    ) {
        if ground.setting.search.is_some() && ground.setting.clients > 0 {
            // The names of sessions begin with when their server started.
            self.clock.pass();
        }
        let (server, now) = (ground.me, self.clock.now(ground.at));
        let found = match self.disk.recover() {
            Ok(found) => found,
            Err(why) => {
                self.refused = Some(why.clone());
                others.seen(|| Seen::Refused { server, why });
                return;
            }
        };
        self.refused = None;
        let saved = Box::new(found.saved.clone());
        others.seen(|| Seen::Started { server, saved, notes: found.notes });
        let boot = Boot { me: server, steady: now.steady, scatter: 0 };
        let (ensemble, settings) = (Arc::clone(ground.ensemble), Arc::clone(ground.settings));
        self.server = Some(Server::member(ensemble, settings, boot, found.saved, outputs));
        self.carry_out(ground, now, outputs, others);
        others.risen();
    }

    /// Carries outputs out, one after the other; a doomed process dies on the way.
    fn carry_out(
        &mut self,
        ground: &Ground<'_>,
        now: Now,
        outputs: &mut Vec<Output>,
        others: &mut impl Others,
    ) {
        let (doom, server) = (self.doom, ground.me);
        let last = doom.map_or(outputs.len(), |doom| usize::from(doom).min(outputs.len()));
        outputs.truncate(last);
        for output in outputs.drain(..) {
            self.carry_out_one(ground, now, output, others);
        }
        if let Some(doom) = doom {
            self.disk.crash(u64::from(doom), &mut show(server, others));
            self.die(true, others);
            others.seen(|| Seen::Crashed { server, power: false });
        }
    }

    fn carry_out_one(
        &mut self,
        ground: &Ground<'_>,
        now: Now,
        output: Output,
        others: &mut impl Others,
    ) {
        let server = ground.me;
        match output {
            Output::Arm { timer, ticks } => {
                let tick_ms = i64::from(ground.settings.tick_ms);
                let here = now.steady.0.div_euclid(tick_ms);
                let due = Millis((here + i64::from(ticks.0)) * tick_ms);
                self.arm(ground, timer, due, others);
            }
            Output::Wake { timer, ms } => {
                self.arm(ground, timer, Millis(now.steady.0 + i64::from(ms)), others);
            }
            Output::Disarm { timer } => self.timers[timer as usize] = None,
            Output::Close { conn } => others.client(conn, Down::End),
            Output::Connected { conn, response } => {
                others.client(conn, Down::Connected(response));
            }
            Output::Notify { conn, event } => {
                others.client(conn, Down::Event(event));
            }
            Output::Reply { conn, reply } => others.client(conn, Down::Reply(reply)),
            Output::Dial { to } => {
                if self.dials.insert(to) {
                    others.fresh(Pending::Dialled { from: server, to });
                }
            }
            Output::Halt { .. } => {
                self.disk.crash(0, &mut show(server, others));
                self.die(true, others);
                others.seen(|| Seen::Halted { server });
            }
            Output::HangUp { link } => others.hang_up(link),
            Output::Note(note) => others.seen(|| Seen::Note { server, note }),
            Output::Persist { token, persist } => {
                let before = self.disk.pending();
                self.disk.ask(token, persist, &mut show(server, others));
                if self.disk.pending().is_some() && before.is_none() {
                    others.fresh(Pending::Disk(server));
                }
            }
            Output::Reload => {
                self.reload = true;
                others.fresh(Pending::Reload(server));
            }
            Output::Send { link, message } => others.send(link, message),
            Output::Tell { to, notification, members } => {
                others.tell(to, Vote { notification, members });
            }
        }
    }

    /// Sets a timer. Whoever schedules is told only if it could come earlier than it knows.
    fn arm(&mut self, ground: &Ground<'_>, timer: Timer, due: Millis, others: &mut impl Others) {
        if let Some(bounds) = ground.setting.search {
            // Time stands still: what is armed is due.
            if bounds.waits_for(timer) {
                self.timers[timer as usize] = Some(Millis(0));
            }
            return;
        }
        let before = self.timers[timer as usize].replace(due);
        if before.is_none_or(|before| due < before) {
            others.fresh(Pending::Timer { server: ground.me, timer });
        }
    }

    /// The process is gone, and everything it kept in memory.
    fn die(&mut self, tell: bool, others: &mut impl Others) {
        self.server = None;
        self.timers = [None; Timer::ALL.len()];
        self.paused = false;
        self.doom = None;
        self.reload = false;
        self.dials.clear();
        others.died(tell);
    }
}
