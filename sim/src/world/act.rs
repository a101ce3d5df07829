//! What one machine does by itself, and what comes of it for others.
//!
//! ```text
//!   Act ---> [ process, disk, clocks ] ---> Effect, in order
//! ```
//!
//! Nothing else changes a machine but faults that only mark it.

use std::sync::Arc;

use zoolab_core::election::Notification;
use zoolab_core::storage::Saved;
use zoolab_core::zab::Message;
use zoolab_core::{
    Boot, ConnId, Ensemble, Input, LinkId, Millis, Now, Output, Server, ServerId, Settings, Timer,
    Token,
};

use super::Pending;
use super::client::Down;
use super::disk::{DiskSeen, Finish};
use super::host::Host;
use crate::seen::Seen;
use crate::setting::Setting;
use crate::step::{Instant, Keep};

/// Something that a machine does.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Act {
    /// Its process dies; luck decides how far its disk had got.
    Crash(u64),
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

/// What comes of it outside of the machine.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Effect {
    /// Something is on its way to a client.
    Client(ConnId, Down),
    /// Its process is gone; its kernel tells the peers, if there still is one.
    Died {
        /// Whether there is.
        tell: bool,
    },
    /// Something is left to be done.
    Fresh(Pending),
    /// It ends a connection.
    HangUp(LinkId),
    /// Its process has started: whoever took the old one for alive learns that it is not.
    Risen,
    /// Something was seen.
    Seen(Seen),
    /// It hands a message to a connection.
    Send(LinkId, Message),
    /// It tells another whom to follow.
    Tell(ServerId, Notification),
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

impl Host {
    /// Does something, and says what comes of it. `outputs` is room to work in.
    pub fn act(
        &mut self,
        ground: &Ground<'_>,
        act: Act,
        outputs: &mut Vec<Output>,
        effects: &mut Vec<Effect>,
    ) {
        let server = ground.me;
        match act {
            Act::Crash(luck) => {
                self.disk.crash(luck, &mut |what| effects.push(disk_seen(server, what)));
                self.die(true, effects);
                effects.push(Effect::Seen(Seen::Crashed { server, power: false }));
            }
            Act::Disk(token) => self.disk_done(ground, token, outputs, effects),
            Act::DiskFails(token, luck) => {
                self.disk.fail(luck);
                self.input(ground, Input::PersistFailed(token), outputs, effects);
            }
            Act::Input(input) => self.input(ground, input, outputs, effects),
            Act::PowerLoss(luck, keep) => {
                let mut see = |what| effects.push(disk_seen(server, what));
                if self.disk.power_loss(luck, keep, &mut see) {
                    self.rotten = true;
                    effects.push(Effect::Seen(Seen::Rotten { server }));
                }
                if self.server.is_some() {
                    self.die(false, effects);
                }
                effects.push(Effect::Seen(Seen::Crashed { server, power: true }));
            }
            Act::Reload => self.reread(ground, outputs, effects),
            Act::Rest => {}
            Act::Restart => self.restart(ground, outputs, effects),
            Act::Timeout(timer) => {
                self.timers[timer as usize] = None;
                self.input(ground, Input::Timeout(timer), outputs, effects);
            }
        }
        self.settle(ground, outputs, effects);
    }

    /// In a search, makes equal what nobody can observe.
    fn settle(
        &mut self,
        ground: &Ground<'_>,
        outputs: &mut Vec<Output>,
        effects: &mut Vec<Effect>,
    ) {
        let Some(bounds) = ground.setting.search else { return };
        while bounds.quick_disks
            && self.is_awake()
            && let Some(token) = self.disk.pending()
        {
            self.disk_done(ground, token, outputs, effects);
            if self.reload {
                self.reread(ground, outputs, effects);
            }
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

    fn input(
        &mut self,
        ground: &Ground<'_>,
        input: Input,
        outputs: &mut Vec<Output>,
        effects: &mut Vec<Effect>,
    ) {
        let now = self.clock.now(ground.at);
        if let Some(process) = &mut self.server {
            process.step(now, input, outputs);
        }
        self.carry_out(ground, now, outputs, effects);
    }

    fn disk_done(
        &mut self,
        ground: &Ground<'_>,
        token: Token,
        outputs: &mut Vec<Output>,
        effects: &mut Vec<Effect>,
    ) {
        let server = ground.me;
        let done = self.disk.finish(token, &mut |what| effects.push(disk_seen(server, what)));
        if self.disk.pending().is_some() {
            effects.push(Effect::Fresh(Pending::Disk(server)));
        }
        let input = match done {
            Finish::Done => Input::Persisted(token),
            Finish::Refused => Input::PersistFailed(token),
        };
        self.input(ground, input, outputs, effects);
    }

    fn reread(
        &mut self,
        ground: &Ground<'_>,
        outputs: &mut Vec<Output>,
        effects: &mut Vec<Effect>,
    ) {
        let server = ground.me;
        self.reload = false;
        match self.disk.recover() {
            Ok(found) => {
                let saved = Box::new(found.saved);
                effects.push(Effect::Seen(Seen::Reloaded { server, saved: saved.clone() }));
                self.input(ground, Input::Reloaded(saved), outputs, effects);
            }
            Err(why) => {
                effects.push(Effect::Seen(Seen::Refused { server, why }));
                self.die(true, effects);
            }
        }
    }

    fn restart(
        &mut self,
        ground: &Ground<'_>,
        outputs: &mut Vec<Output>,
        effects: &mut Vec<Effect>,
    ) {
        let (server, now) = (ground.me, self.clock.now(ground.at));
        let found = match self.disk.recover() {
            Ok(found) => found,
            Err(why) => {
                self.refused = Some(why.clone());
                effects.push(Effect::Seen(Seen::Refused { server, why }));
                return;
            }
        };
        self.refused = None;
        let saved = Box::new(found.saved.clone());
        effects.push(Effect::Seen(Seen::Started { server, saved, notes: found.notes }));
        let boot = Boot { me: server, steady: now.steady, scatter: 0 };
        let (ensemble, settings) = (Arc::clone(ground.ensemble), Arc::clone(ground.settings));
        self.server = Some(Server::member(ensemble, settings, boot, found.saved, outputs));
        self.carry_out(ground, now, outputs, effects);
        effects.push(Effect::Risen);
    }

    /// Carries outputs out, one after the other; a doomed process dies on the way.
    fn carry_out(
        &mut self,
        ground: &Ground<'_>,
        now: Now,
        outputs: &mut Vec<Output>,
        effects: &mut Vec<Effect>,
    ) {
        let (doom, server) = (self.doom, ground.me);
        let last = doom.map_or(outputs.len(), |doom| usize::from(doom).min(outputs.len()));
        for output in outputs.drain(..).take(last) {
            self.carry_out_one(ground, now, output, effects);
        }
        if let Some(doom) = doom {
            let mut see = |what| effects.push(disk_seen(server, what));
            self.disk.crash(u64::from(doom), &mut see);
            self.die(true, effects);
            effects.push(Effect::Seen(Seen::Crashed { server, power: false }));
        }
    }

    fn carry_out_one(
        &mut self,
        ground: &Ground<'_>,
        now: Now,
        output: Output,
        effects: &mut Vec<Effect>,
    ) {
        let server = ground.me;
        match output {
            Output::Arm { timer, ticks } => {
                let tick_ms = i64::from(ground.settings.tick_ms);
                let here = now.steady.0.div_euclid(tick_ms);
                let due = Millis((here + i64::from(ticks.0)) * tick_ms);
                self.arm(ground, timer, due, effects);
            }
            Output::Wake { timer, ms } => {
                self.arm(ground, timer, Millis(now.steady.0 + i64::from(ms)), effects);
            }
            Output::Disarm { timer } => self.timers[timer as usize] = None,
            Output::Close { conn } => effects.push(Effect::Client(conn, Down::End)),
            Output::Connected { conn, response } => {
                effects.push(Effect::Client(conn, Down::Connected(response)));
            }
            Output::Notify { conn, event } => {
                effects.push(Effect::Client(conn, Down::Event(event)));
            }
            Output::Reply { conn, reply } => effects.push(Effect::Client(conn, Down::Reply(reply))),
            Output::Dial { to } => {
                if self.dials.insert(to) {
                    effects.push(Effect::Fresh(Pending::Dialled { from: server, to }));
                }
            }
            Output::Halt { .. } => {
                self.disk.crash(0, &mut |what| effects.push(disk_seen(server, what)));
                self.die(true, effects);
                effects.push(Effect::Seen(Seen::Halted { server }));
            }
            Output::HangUp { link } => effects.push(Effect::HangUp(link)),
            Output::Note(note) => effects.push(Effect::Seen(Seen::Note { server, note })),
            Output::Persist { token, persist } => {
                let before = self.disk.pending();
                let mut see = |what| effects.push(disk_seen(server, what));
                self.disk.ask(token, persist, &mut see);
                if self.disk.pending().is_some() && before.is_none() {
                    effects.push(Effect::Fresh(Pending::Disk(server)));
                }
            }
            Output::Reload => {
                self.reload = true;
                effects.push(Effect::Fresh(Pending::Reload(server)));
            }
            Output::Send { link, message } => effects.push(Effect::Send(link, message)),
            Output::Tell { to, notification } => effects.push(Effect::Tell(to, notification)),
        }
    }

    /// Sets a timer. Whoever schedules is told only if it could come earlier than it knows.
    fn arm(&mut self, ground: &Ground<'_>, timer: Timer, due: Millis, effects: &mut Vec<Effect>) {
        if let Some(bounds) = ground.setting.search {
            // Time stands still: what is armed is due.
            if bounds.waits_for(timer) {
                self.timers[timer as usize] = Some(Millis(0));
            }
            return;
        }
        let before = self.timers[timer as usize].replace(due);
        if before.is_none_or(|before| due < before) {
            effects.push(Effect::Fresh(Pending::Timer { server: ground.me, timer }));
        }
    }

    /// The process is gone, and everything it kept in memory.
    fn die(&mut self, tell: bool, effects: &mut Vec<Effect>) {
        self.server = None;
        self.timers = [None; Timer::ALL.len()];
        self.paused = false;
        self.doom = None;
        self.reload = false;
        self.dials.clear();
        effects.push(Effect::Died { tell });
    }

    /// What its disk would give back now, if its process died.
    ///
    /// # Errors
    /// Says why it could not be believed.
    pub fn would_recover(&self) -> Result<Saved, String> {
        let mut disk = self.disk.clone();
        disk.recover().map(|found| found.saved)
    }
}

fn disk_seen(server: ServerId, what: DiskSeen) -> Effect {
    Effect::Seen(match what {
        DiskSeen::Appended(txn) => Seen::Appended { server, txn },
        DiskSeen::Epoch(kind, epoch) => Seen::EpochWritten { server, kind, epoch },
        DiskSeen::Installed(zxid) => Seen::Installed { server, zxid },
        DiskSeen::Synced(zxid) => Seen::Synced { server, zxid },
        DiskSeen::Truncated(to) => Seen::Truncated { server, to },
    })
}
