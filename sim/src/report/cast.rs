//! What a step is about: of which kind it is, and who takes part.

use zoolab_core::zab::MessageKind;
use zoolab_core::{ConnId, ServerId, Zxid};

use super::words::Mark;
use crate::step::{ClientId, Step};
use crate::world::World;

/// What steps and messages are told apart by.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Kind {
    /// Whom to follow.
    Vote,
    /// A leader gathers promises.
    Discovery,
    /// A learner is brought up to date.
    Sync,
    /// Proposals, acknowledgements, commits.
    Broadcast,
    /// Requests on their way to the leader, and sessions asked about.
    Forward,
    /// Signs of life.
    Ping,
    /// Connections begin and end.
    Link,
    /// Clients call and are answered.
    Client,
    /// Disks are done.
    Disk,
    /// Timers run out.
    Timer,
    /// Something goes wrong.
    Fault,
    /// Something is put right.
    Repair,
    /// What only searches do.
    Search,
}

impl Kind {
    /// All of them, in order.
    pub const ALL: [Self; 13] = [
        Self::Vote,
        Self::Discovery,
        Self::Sync,
        Self::Broadcast,
        Self::Forward,
        Self::Ping,
        Self::Link,
        Self::Client,
        Self::Disk,
        Self::Timer,
        Self::Fault,
        Self::Repair,
        Self::Search,
    ];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vote => "votes",
            Self::Discovery => "discovery",
            Self::Sync => "synchronization",
            Self::Broadcast => "broadcast",
            Self::Forward => "forwarding",
            Self::Ping => "pings",
            Self::Link => "connections",
            Self::Client => "clients",
            Self::Disk => "disks",
            Self::Timer => "timers",
            Self::Fault => "faults",
            Self::Repair => "repairs",
            Self::Search => "search",
        }
    }

    /// That of a message between servers. An acknowledgement of counter zero is one of everything
    /// that an epoch begins with.
    #[must_use]
    pub const fn of_message(kind: MessageKind, zxid: Zxid) -> Self {
        match kind {
            MessageKind::FollowerInfo
            | MessageKind::ObserverInfo
            | MessageKind::LeaderInfo
            | MessageKind::AckEpoch => Self::Discovery,
            MessageKind::Ack if zxid.counter() == 0 => Self::Sync,
            MessageKind::Diff
            | MessageKind::NewLeader
            | MessageKind::Snap
            | MessageKind::SnapPart
            | MessageKind::Trunc
            | MessageKind::UpToDate => Self::Sync,
            MessageKind::Ack
            | MessageKind::Commit
            | MessageKind::CommitAndActivate
            | MessageKind::Inform
            | MessageKind::InformAndActivate
            | MessageKind::Proposal => Self::Broadcast,
            MessageKind::Ping | MessageKind::Pong => Self::Ping,
            MessageKind::Moved
            | MessageKind::Request
            | MessageKind::Revalidate
            | MessageKind::Revalidated
            | MessageKind::Synced => Self::Forward,
        }
    }
}

/// Somebody who has a lane.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Who {
    /// A server.
    Server(ServerId),
    /// A client.
    Client(ClientId),
}

/// What a step is about. The first of those who take part is the one to whom it happens.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Cast {
    /// What it is told apart by.
    pub kind: Kind,
    /// Who takes part.
    pub who: Vec<Who>,
    /// What it leaves to be seen, beside what comes of it.
    pub mark: Option<Mark>,
}

/// What a step is about, told by the world before it.
#[must_use]
pub fn cast(step: &Step, before: &World) -> Cast {
    let to_one =
        |kind, server: &ServerId, mark| Cast { kind, who: vec![Who::Server(*server)], mark };
    let between = |kind, to: &ServerId, from: &ServerId, mark| Cast {
        kind,
        who: vec![Who::Server(*to), Who::Server(*from)],
        mark,
    };
    let client = |client: &ClientId| {
        let there = before.clients().find(|(id, _)| id == client);
        let server = there.and_then(|(_, this)| this.conn.as_ref().map(|conn| conn.server));
        let who = [Some(Who::Client(*client)), server.map(Who::Server)];
        Cast { kind: Kind::Client, who: who.into_iter().flatten().collect(), mark: None }
    };
    let linked = |link| {
        let ends = before.link(link).map(|link| link.ends);
        ends.into_iter().flatten().map(Who::Server).collect::<Vec<_>>()
    };
    // Where an application's connection goes to comes with it.
    let app = |id: &ClientId, conn: Option<ConnId>, kind, mark| {
        let server = conn.and_then(|conn| Some(before.conn(conn)?.server));
        let who = [Some(Who::Client(*id)), server.map(Who::Server)];
        Cast { kind, who: who.into_iter().flatten().collect(), mark }
    };
    match step {
        Step::Begin { client, .. } => app(client, None, Kind::Client, Some(Mark::Start)),
        Step::Reach { client }
        | Step::Probe { client }
        | Step::Want { client, .. }
        | Step::GiveUp { client, .. }
        | Step::Servers { client, .. } => app(client, None, Kind::Client, None),
        Step::Down { client, conn } => app(client, Some(*conn), Kind::Client, None),
        Step::Up { client, conn } => {
            let mut cast = app(client, Some(*conn), Kind::Client, None);
            cast.who.reverse();
            cast
        }
        Step::Wake { client, .. } => app(client, None, Kind::Timer, Some(Mark::Timer)),
        Step::Kill { client } => app(client, None, Kind::Fault, Some(Mark::Crash)),
        Step::Freeze { client } => app(client, None, Kind::Fault, Some(Mark::Pause)),
        Step::Thaw { client } => app(client, None, Kind::Repair, Some(Mark::Resume)),
        Step::SlowClient { client, us } => {
            let kind = if *us == 0 { Kind::Repair } else { Kind::Fault };
            app(client, None, kind, Some(Mark::Slow))
        }
        Step::BreakConn { client, conn } => {
            app(client, Some(*conn), Kind::Fault, Some(Mark::Break))
        }
        Step::CutClient { client, server, .. } => Cast {
            kind: Kind::Fault,
            who: vec![Who::Client(*client), Who::Server(*server)],
            mark: Some(Mark::Cut),
        },
        Step::HealClient { client, server, .. } => Cast {
            kind: Kind::Repair,
            who: vec![Who::Client(*client), Who::Server(*server)],
            mark: Some(Mark::Heal),
        },
        Step::Deliver { from, to, kind, zxid, .. } => {
            between(Kind::of_message(*kind, *zxid), to, from, None)
        }
        Step::Closed { link, at } => {
            let mut who = vec![Who::Server(*at)];
            who.extend(linked(*link).into_iter().filter(|other| *other != Who::Server(*at)));
            Cast { kind: Kind::Link, who, mark: Some(Mark::Closed) }
        }
        Step::Dialled { from, to } => between(Kind::Link, from, to, None),
        Step::Vote { from, to } => between(Kind::Vote, to, from, None),
        Step::Disk { server, .. } => to_one(Kind::Disk, server, None),
        Step::Reload { server } => to_one(Kind::Disk, server, None),
        Step::Timeout { server, .. } => to_one(Kind::Timer, server, Some(Mark::Timer)),
        Step::Free(_) => Cast { kind: Kind::Search, who: Vec::new(), mark: None },
        Step::Elect { leader, followers } => {
            let all = [leader].into_iter().chain(followers);
            let who = all.map(|server| Who::Server(*server)).collect();
            Cast { kind: Kind::Search, who, mark: None }
        }
        Step::Join { leader, server } => between(Kind::Search, server, leader, None),
        Step::Write { server, .. } | Step::Change { server, .. } => {
            to_one(Kind::Search, server, None)
        }
        Step::Dial { client, server } => {
            let who = vec![Who::Client(*client), Who::Server(*server)];
            Cast { kind: Kind::Client, who, mark: None }
        }
        Step::Ask { client: id } => {
            let mut cast = client(id);
            cast.who.reverse();
            cast
        }
        Step::Answer { client: id } | Step::Call { client: id, .. } => client(id),
        Step::HangUp { client: id } => Cast { mark: Some(Mark::Closed), ..client(id) },
        Step::Cut { from, to } => between(Kind::Fault, to, from, Some(Mark::Cut)),
        Step::Heal { from, to } => between(Kind::Repair, to, from, Some(Mark::Heal)),
        Step::Break { link } => {
            Cast { kind: Kind::Fault, who: linked(*link), mark: Some(Mark::Break) }
        }
        Step::SlowLink { from, to, us } => {
            let kind = if *us == 0 { Kind::Repair } else { Kind::Fault };
            between(kind, to, from, Some(Mark::Slow))
        }
        Step::LoseVote { from, to } | Step::RepeatVote { from, to } => {
            between(Kind::Fault, to, from, None)
        }
        Step::Crash { server, .. } => to_one(Kind::Fault, server, None),
        Step::Doom { server, .. } => to_one(Kind::Fault, server, Some(Mark::Doom)),
        Step::PowerLoss { servers, .. } => {
            let who = servers.iter().map(|server| Who::Server(*server)).collect();
            Cast { kind: Kind::Fault, who, mark: None }
        }
        Step::Restart { server } => to_one(Kind::Repair, server, None),
        Step::DiskFails { server, .. } => to_one(Kind::Fault, server, Some(Mark::DiskFails)),
        Step::SlowDisk { server, us } => {
            let kind = if *us == 0 { Kind::Repair } else { Kind::Fault };
            to_one(kind, server, Some(Mark::Slow))
        }
        Step::Rot { server, .. } => to_one(Kind::Fault, server, None),
        Step::Full { server, full } => {
            let kind = if *full { Kind::Fault } else { Kind::Repair };
            to_one(kind, server, Some(Mark::Full))
        }
        Step::Wipe { server } => to_one(Kind::Fault, server, None),
        Step::Pause { server } => to_one(Kind::Fault, server, Some(Mark::Pause)),
        Step::Resume { server } => to_one(Kind::Repair, server, Some(Mark::Resume)),
        Step::Jump { server, .. } | Step::Drift { server, .. } => {
            to_one(Kind::Fault, server, Some(Mark::Clock))
        }
    }
}
