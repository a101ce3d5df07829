//! What can happen to applications now: one thing, or all of them.

use zoolab_core::client::Timer;
use zoolab_core::{ConnId, ServerId};

use super::{App, Conn};
use crate::step::wish::Wish;
use crate::step::{ClientId, Instant, Step, Way};
use crate::world::possible::Cannot;
use crate::world::{Pending, World};

fn says(it: bool, why: impl FnOnce() -> String) -> Result<(), Cannot> {
    it.then_some(()).ok_or_else(|| Cannot(why()))
}

impl World {
    /// An application.
    ///
    /// # Panics
    /// If there is no such application.
    #[must_use]
    pub fn app(&self, client: ClientId) -> &App {
        self.apps.get(client).expect("an application of this world")
    }

    /// All applications.
    pub fn apps(&self) -> impl Iterator<Item = (ClientId, &App)> {
        self.apps.iter()
    }

    /// The connections of applications of which an end is open.
    #[must_use]
    pub fn conns(&self) -> &[Conn] {
        self.apps.conns()
    }

    /// A connection of an application.
    #[must_use]
    pub fn conn(&self, conn: ConnId) -> Option<&Conn> {
        self.apps.conn(conn)
    }

    /// The ways between applications and servers on which nothing gets through.
    pub fn client_cuts(&self) -> impl Iterator<Item = (ClientId, ServerId, Way)> {
        self.apps.cuts()
    }

    /// Everything that waits to happen to one application, or to all of them.
    pub(in crate::world) fn apps_pending(&self, of: Option<ClientId>, all: &mut Vec<Pending>) {
        let is_meant = |client| of.is_none_or(|of| of == client);
        for (client, app) in self.apps().filter(|(client, _)| is_meant(*client)) {
            all.extend(app.dial.map(|_| Pending::Reach(client)));
            all.extend(app.probe.map(|_| Pending::Probe(client)));
            let armed = Timer::ALL.iter().filter(|timer| app.due(**timer).is_some());
            all.extend(armed.map(|timer| Pending::Wake { client, timer: *timer }));
        }
        for conn in self.conns().iter().filter(|conn| is_meant(conn.client)) {
            let count = conn.up.frames.len() + usize::from(conn.up.ends);
            all.extend((0..count).map(|_| Pending::Up(conn.id)));
            let count = conn.down.frames.len() + usize::from(conn.down.ends);
            all.extend((0..count).map(|_| Pending::Down(conn.id)));
        }
    }

    /// The step by which a frame gets to a server, if it can now.
    pub(in crate::world) fn up_step(&self, conn: ConnId) -> Option<Step> {
        let conn = self.conn(conn).filter(|conn| !conn.up.is_empty())?;
        let cut = self.apps.is_cut(conn.client, conn.server, Way::Up);
        let awake = !conn.server_open || self.host(conn.server).is_awake();
        (awake && !cut).then_some(Step::Up { client: conn.client, conn: conn.id })
    }

    /// The step by which a frame gets to a client, if it can now.
    pub(in crate::world) fn down_step(&self, conn: ConnId) -> Option<Step> {
        let conn = self.conn(conn).filter(|conn| conn.client_open && !conn.down.is_empty())?;
        let cut = self.apps.is_cut(conn.client, conn.server, Way::Down);
        let stands = self.app(conn.client).frozen;
        (!stands && !cut).then_some(Step::Down { client: conn.client, conn: conn.id })
    }

    /// The step by which a client reaches a server, or not, if that can be now. Whoever stands
    /// still takes no connection, nor does whoever cannot be heard.
    pub(in crate::world) fn reach_step(&self, client: ClientId) -> Option<Step> {
        let (_, server) = self.app(client).dial?;
        self.is_in_reach(client, server).then_some(Step::Reach { client })
    }

    pub(in crate::world) fn probe_step(&self, client: ClientId) -> Option<Step> {
        let (_, server) = self.app(client).probe?;
        self.is_in_reach(client, server).then_some(Step::Probe { client })
    }

    fn is_in_reach(&self, client: ClientId, server: ServerId) -> bool {
        let cut = [Way::Up, Way::Down].iter().any(|way| self.apps.is_cut(client, server, *way));
        let stands = self.host(server).paused || self.app(client).frozen;
        !cut && !stands
    }

    /// The step by which a client's timer runs out at this time, if it may.
    pub(in crate::world) fn wake_step(
        &self,
        at: Instant,
        client: ClientId,
        timer: Timer,
    ) -> Option<Step> {
        let app = self.apps.get(client)?;
        let (due, _) = app.due(timer).filter(|_| !app.frozen)?;
        (due <= at).then_some(Step::Wake { client, timer })
    }

    fn app_known(&self, client: ClientId) -> Result<&App, Cannot> {
        let app = self.apps.get(client);
        app.ok_or_else(|| Cannot(format!("there is no application {client}")))
    }

    fn all_known(&self, servers: &[ServerId]) -> Result<(), Cannot> {
        says(!servers.is_empty(), || "a client has to know a server".into())?;
        servers.iter().try_for_each(|server| self.known(*server))
    }

    /// Whether something can happen to an application at this time.
    pub(in crate::world) fn can_app(
        &self,
        at: Instant,
        client: ClientId,
        step: &Step,
    ) -> Result<(), Cannot> {
        let app = self.app_known(client)?;
        says(self.setting().search.is_none(), || "applications stand still in a search".into())?;
        let same = |found: Option<Step>| match found {
            Some(other) if other == *step => Ok(()),
            Some(other) => Err(Cannot(format!("next there is: {other}"))),
            None => Err(Cannot("nothing of that kind is due".into())),
        };
        #[expect(clippy::wildcard_enum_match_arm, reason = "only what happens to applications")]
        match step {
            Step::Begin { how, .. } => {
                says(!app.frozen, || format!("{client} stands still"))?;
                says(!app.is_alive(), || format!("{client} has begun already"))?;
                if let Some(of) = how.session {
                    let has = self.app_known(of)?.session.is_some();
                    says(has, || format!("{of} has had no session"))?;
                }
                self.all_known(&how.servers)
            }
            Step::Reach { .. } => same(self.reach_step(client)),
            Step::Up { conn, .. } => same(self.up_step(*conn)),
            Step::Down { conn, .. } => same(self.down_step(*conn)),
            Step::Wake { timer, .. } => same(self.wake_step(at, client, *timer)),
            Step::Probe { .. } => same(self.probe_step(client)),
            Step::Want { wish, .. } => {
                says(!app.frozen, || format!("{client} stands still"))?;
                says(app.machine.is_some(), || format!("{client} has not begun"))?;
                let fits = !matches!(wish, Wish::Multi(parts) if parts.len() > 64);
                says(fits, || "more than 64 parts".into())
            }
            Step::GiveUp { call, .. } => {
                says(*call < app.calls, || format!("{client} has made {} calls", app.calls))
            }
            Step::Servers { servers, .. } => {
                says(!app.frozen, || format!("{client} stands still"))?;
                says(app.machine.is_some(), || format!("{client} has not begun"))?;
                self.all_known(servers)
            }
            Step::Kill { .. } => says(app.machine.is_some(), || format!("{client} has no process")),
            Step::Freeze { .. } => says(!app.frozen, || format!("{client} stands still already")),
            Step::Thaw { .. } => says(app.frozen, || format!("{client} does not stand still")),
            Step::CutClient { server, .. } | Step::HealClient { server, .. } => self.known(*server),
            Step::SlowClient { .. } => Ok(()),
            Step::BreakConn { conn, .. } => {
                let found = self.conn(*conn).filter(|conn| conn.client == client);
                let whole = found.is_some_and(|conn| conn.client_open && conn.server_open);
                says(whole, || format!("{client} has no such connection"))
            }
            other => Err(Cannot(format!("no application does this: {other}"))),
        }
    }
}

impl Step {
    /// The application that this happens to, if it happens to one.
    #[must_use]
    pub const fn app(&self) -> Option<ClientId> {
        match self {
            Self::Begin { client, .. }
            | Self::BreakConn { client, .. }
            | Self::CutClient { client, .. }
            | Self::Down { client, .. }
            | Self::Freeze { client }
            | Self::GiveUp { client, .. }
            | Self::HealClient { client, .. }
            | Self::Kill { client }
            | Self::Probe { client }
            | Self::Reach { client }
            | Self::Servers { client, .. }
            | Self::SlowClient { client, .. }
            | Self::Thaw { client }
            | Self::Up { client, .. }
            | Self::Wake { client, .. }
            | Self::Want { client, .. } => Some(*client),
            Self::Answer { .. }
            | Self::Ask { .. }
            | Self::Break { .. }
            | Self::Call { .. }
            | Self::Change { .. }
            | Self::Closed { .. }
            | Self::Crash { .. }
            | Self::Cut { .. }
            | Self::Deliver { .. }
            | Self::Dial { .. }
            | Self::Dialled { .. }
            | Self::Disk { .. }
            | Self::DiskFails { .. }
            | Self::Doom { .. }
            | Self::Drift { .. }
            | Self::Elect { .. }
            | Self::Free(_)
            | Self::Full { .. }
            | Self::HangUp { .. }
            | Self::Heal { .. }
            | Self::Join { .. }
            | Self::Jump { .. }
            | Self::LoseVote { .. }
            | Self::Pause { .. }
            | Self::PowerLoss { .. }
            | Self::Reload { .. }
            | Self::RepeatVote { .. }
            | Self::Restart { .. }
            | Self::Resume { .. }
            | Self::Rot { .. }
            | Self::SlowDisk { .. }
            | Self::SlowLink { .. }
            | Self::Timeout { .. }
            | Self::Vote { .. }
            | Self::Wipe { .. }
            | Self::Write { .. } => None,
        }
    }
}
