//! A step that is wanted: what it is, and not which numbers it had.
//!
//! When something before it is left out, connections, writes and transactions are numbered anew;
//! what is meant is still there.

use zoolab_core::{ConnId, LinkId, ServerId};

use crate::step::{ClientId, Instant, Step};
use crate::world::apps::Conn;
use crate::world::{Pending, World};

/// A step without the numbers that differ from run to run.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Wish {
    /// Not before this.
    pub at: Instant,
    /// What.
    pub step: Step,
    /// Between whom, if the step names a connection only by its number.
    pub(super) ends: Option<[ServerId; 2]>,
}

impl Wish {
    /// What a step means that is about to happen in this world.
    #[must_use]
    #[expect(clippy::wildcard_enum_match_arm, reason = "all others say who it is")]
    pub fn of(world: &World, at: Instant, step: &Step) -> Self {
        let ends = match step {
            Step::Break { link } | Step::Closed { link, .. } => {
                world.link(*link).map(|link| link.ends)
            }
            _ => None,
        };
        Self { at, step: step.clone(), ends }
    }

    /// Something that has not been a step of a run.
    #[must_use]
    pub const fn new(at: Instant, step: Step) -> Self {
        Self { at, step, ends: None }
    }

    /// The step that it comes to now, if it can happen.
    #[must_use]
    #[expect(clippy::wildcard_enum_match_arm, reason = "all others are what they are")]
    pub fn now(&self, world: &World) -> Option<(Instant, Step)> {
        let mut at = self.at.max(world.now());
        let step = match &self.step {
            Step::Deliver { link, from, to, kind, zxid } => {
                let links = between(world, *from, *to)?;
                let next = |link| match world.arrival(link, *from, *to) {
                    Some(Step::Deliver { link, kind: next, zxid, .. }) if next == *kind => {
                        Some((link, zxid))
                    }
                    _ => None,
                };
                let all: Vec<_> = links.filter_map(next).collect();
                let same = all.iter().find(|next| **next == (*link, *zxid)).or_else(|| all.first());
                let (link, zxid) = *same?;
                Step::Deliver { link, from: *from, to: *to, kind: *kind, zxid }
            }
            Step::Closed { link, at } => {
                let [one, other] = self.ends?;
                let from = if one == *at { other } else { one };
                let mut ends: Vec<Step> = between(world, from, *at)?
                    .filter_map(|link| world.arrival(link, from, *at))
                    .filter(|next| matches!(next, Step::Closed { .. }))
                    .collect();
                let same = ends.iter().position(|next| *next == self.step).unwrap_or(0);
                let _ = link;
                (same < ends.len()).then(|| ends.swap_remove(same))?
            }
            Step::Break { link } => {
                let [one, other] = self.ends?;
                let all: Vec<LinkId> = between(world, one, other)?.collect();
                let same = all.iter().find(|other| *other == link).or_else(|| all.last());
                Step::Break { link: *same? }
            }
            Step::Disk { server, .. } if world.servers().contains(server) => {
                world.step_of(Pending::Disk(*server))?
            }
            Step::DiskFails { server, luck, .. } if world.servers().contains(server) => {
                let token = world.host(*server).disk.pending()?;
                Step::DiskFails { server: *server, token, luck: *luck }
            }
            Step::Timeout { server, timer } if world.servers().contains(server) => {
                at = at.max(world.host(*server).due(*timer)?);
                Step::Timeout { server: *server, timer: *timer }
            }
            Step::PowerLoss { servers, luck, keep } => {
                let mut servers = servers.clone();
                servers.retain(|server| world.servers().contains(server));
                (!servers.is_empty()).then_some(())?;
                Step::PowerLoss { servers, luck: *luck, keep: *keep }
            }
            Step::Elect { leader, followers } => {
                let looks = |server: &ServerId| {
                    world.servers().contains(server)
                        && world.host(*server).server.as_ref().is_some_and(|it| it.is_looking())
                };
                let followers = followers.iter().copied().filter(looks).collect();
                Step::Elect { leader: *leader, followers }
            }
            Step::Up { client, .. } => same_of(world, *client, &self.step, Pending::Up)?,
            Step::Down { client, .. } => same_of(world, *client, &self.step, Pending::Down)?,
            Step::BreakConn { client, conn } => {
                let whole = |other: &&Conn| {
                    other.client == *client && other.client_open && other.server_open
                };
                let mine = || world.conns().iter().filter(whole);
                let same = mine().find(|other| other.id == *conn).or_else(|| mine().next_back())?;
                Step::BreakConn { client: *client, conn: same.id }
            }
            Step::Wake { client, timer } => {
                at = at.max(world.apps().nth(client.0.into())?.1.due(*timer)?.0);
                Step::Wake { client: *client, timer: *timer }
            }
            step => step.clone(),
        };
        let can = world.can(at, &step).is_ok()
            && (world.setting().search.is_none() || world.budget().affords(world.price(&step)));
        can.then_some((at, step))
    }
}

/// The connections between two servers, if they are two of this world's.
fn between(world: &World, one: ServerId, other: ServerId) -> Option<impl Iterator<Item = LinkId>> {
    let all = world.servers();
    let two = one != other && all.contains(&one) && all.contains(&other);
    two.then(|| world.pair(one, other).links.iter().map(|(id, _)| *id))
}

/// The same thing on a connection of this application, or else on its oldest on which anything
/// like it is next.
fn same_of(
    world: &World,
    client: ClientId,
    step: &Step,
    pending: fn(ConnId) -> Pending,
) -> Option<Step> {
    let mine = world.conns().iter().filter(|conn| conn.client == client);
    let all: Vec<Step> = mine.filter_map(|conn| world.step_of(pending(conn.id))).collect();
    all.iter().find(|next| *next == step).or_else(|| all.first()).cloned()
}
