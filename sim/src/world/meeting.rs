//! Several servers at once: connecting, and elections that are one step.
//!
//! ```text
//!   elect   a quorum finds the one of its members that has most;
//!   join    one more finds a leader that is there;
//!           each learner connects, presents itself, is told the epoch, promises itself to it
//! ```
//!
//! Who may meet is told by what each machine says of itself ([`Standing`]); what happens is told to
//! a [`Floor`]: a world, or what a search knows of one. Both take the same inputs in the same
//! order as they would one by one.

use zoolab_core::election::{Ballot, Decision};
use zoolab_core::quorum::Joint;
use zoolab_core::zab::MessageKind;
use zoolab_core::{Epoch, Input, LinkId, Server, ServerId, Zxid};

use super::act::Act;
use super::host::Host;
use super::pair::Pair;
use super::possible::Cannot;
use super::search::Bounds;
use crate::step::Step;

/// What one machine brings to a meeting.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Standing {
    /// Whether its process runs, if only standing still.
    pub runs: bool,
    /// Whether it does not stand still.
    pub awake: bool,
    /// Whether it serves clients.
    pub serves: bool,
    /// Whether it looks for a leader.
    pub looking: bool,
    /// What speaks for it; none if it may not lead.
    pub ballot: Option<Ballot>,
    /// Who has to agree, for all it knows.
    pub joint: Option<Joint>,
    /// The epoch it has promised itself to.
    pub accepted: Epoch,
    /// The epoch it leads, or is about to.
    pub leads: Option<Epoch>,
    /// Whom it tries to reach.
    pub dials: Vec<ServerId>,
}

impl Standing {
    /// Whether it has any part in a meeting but that of one who is found.
    #[must_use]
    pub const fn calls(&self) -> bool {
        self.looking || self.awake && !self.dials.is_empty()
    }
}

impl Host {
    /// What it brings to a meeting.
    #[must_use]
    pub fn standing(&self) -> Standing {
        let awake = self.is_awake();
        let process = self.server.as_ref();
        let up = process.filter(|_| awake);
        Standing {
            runs: process.is_some(),
            awake,
            serves: up.is_some_and(Server::is_serving),
            looking: up.is_some_and(Server::is_looking),
            ballot: process.and_then(Server::ballot),
            joint: process.map(|process| process.joint().clone()),
            accepted: process.map_or(Epoch(0), |process| process.epochs().0),
            leads: up.and_then(Server::leads_epoch),
            dials: self.dials.iter().copied().collect(),
        }
    }
}

/// Everything that servers which stand like this may do together, always in the same order.
pub fn meetings<'a>(
    ids: &[ServerId],
    standing: &impl Fn(ServerId) -> &'a Standing,
    bounds: Bounds,
    steps: &mut Vec<Step>,
) {
    for from in ids {
        let its = standing(*from);
        let dials = its.dials.iter().filter(|_| its.awake);
        steps.extend(dials.map(|to| Step::Dialled { from: *from, to: *to }));
    }
    let looking: Vec<ServerId> = ids.iter().copied().filter(|id| standing(*id).looking).collect();
    if looking.is_empty() || !bounds.coarse {
        return;
    }
    for members in 1_u64..1 << looking.len() {
        let chosen = (0..looking.len()).filter(|place| members >> place & 1 == 1);
        let chosen: Vec<ServerId> = chosen.map(|place| looking[place]).collect();
        for leader in &chosen {
            let followers: Vec<_> = chosen.iter().copied().filter(|id| id != leader).collect();
            if may_elect(*leader, &followers, standing, bounds).is_ok() {
                steps.push(Step::Elect { leader: *leader, followers });
            }
        }
    }
    for leader in ids {
        for server in &looking {
            if may_join(*leader, *server, standing).is_ok() {
                steps.push(Step::Join { leader: *leader, server: *server });
            }
        }
    }
}

/// Whether these may find this leader.
pub(super) fn may_elect<'a>(
    leader: ServerId,
    followers: &[ServerId],
    standing: &impl Fn(ServerId) -> &'a Standing,
    bounds: Bounds,
) -> Result<(), Cannot> {
    let says = |it: bool, why: &str| it.then_some(()).ok_or_else(|| Cannot(why.into()));
    let all = || followers.iter().copied().chain([leader]);
    all().try_for_each(|server| looks(server, standing))?;
    let most = |ballot: Ballot| (ballot.epoch, ballot.zxid);
    let best = all().filter_map(|server| standing(server).ballot).map(most).max();
    let own = standing(leader).ballot.map(most);
    says(own.is_some() && own == best, "somebody there has more, or none may lead")?;
    // Only members in force elect; whoever else is there comes with them.
    let there = |id| id == leader || followers.contains(&id);
    let enough = standing(leader)
        .joint
        .as_ref()
        .is_some_and(|joint| joint.now.is_enough_if(there) && joint.weight(leader) > 0);
    says(enough, "these are no quorum")?;
    let apart = followers.windows(2).all(|two| two[0] < two[1]);
    says(apart && !followers.contains(&leader), "each is to be named once, in order")?;
    let accepted = all().map(|server| standing(server).accepted).max().unwrap_or_default();
    says(accepted.0 < u32::from(bounds.epochs), "there are no more epochs")
}

/// Whether this one may find this leader, which is there.
pub(super) fn may_join<'a>(
    leader: ServerId,
    server: ServerId,
    standing: &impl Fn(ServerId) -> &'a Standing,
) -> Result<(), Cannot> {
    looks(server, standing)?;
    let leads = standing(leader).leads;
    let may = leads.is_some_and(|epoch| epoch >= standing(server).accepted);
    may.then_some(()).ok_or_else(|| Cannot("nobody to join".into()))
}

fn looks<'a>(server: ServerId, standing: &impl Fn(ServerId) -> &'a Standing) -> Result<(), Cannot> {
    let looks = standing(server).looking;
    looks.then_some(()).ok_or_else(|| Cannot(format!("server {server} does not look")))
}

/// Where servers meet.
pub trait Floor {
    /// One of them does something, and what comes of it reaches the others.
    fn act(&mut self, server: ServerId, act: Act);

    /// A new connection, if there can be one.
    fn open(&mut self, from: ServerId, to: ServerId) -> Option<LinkId>;

    /// The next message of discovery between the two arrives, if one is next.
    fn discover(&mut self, from: ServerId, to: ServerId) -> bool;

    /// Its disk is done with a promise, if that is what it is at.
    fn promise(&mut self, server: ServerId) -> bool;
}

/// One tries to reach another.
pub fn dialled(floor: &mut impl Floor, from: ServerId, to: ServerId) {
    let link = floor.open(from, to);
    if let Some(link) = link {
        floor.act(to, Act::Input(Input::Linked { link, peer: from, dialled: false }));
    }
    floor.act(from, Act::Dialled(to, link));
}

/// A quorum finds a leader, by what speaks for it, and discovery is done; what follows is not.
pub fn elect(floor: &mut impl Floor, ballot: Ballot, followers: &[ServerId]) {
    let leader = ballot.leader;
    for server in [leader].iter().chain(followers) {
        floor.act(*server, Act::Input(Input::Elected(Decision { ballot, round: 1 })));
    }
    meet(floor, leader, followers);
}

/// One more finds the leader.
pub fn join(floor: &mut impl Floor, leader: ServerId, server: ServerId) {
    let ballot = Ballot { epoch: Epoch(0), zxid: Zxid::ZERO, leader };
    floor.act(server, Act::Input(Input::Elected(Decision { ballot, round: 1 })));
    meet(floor, leader, &[server]);
}

/// Learners connect, present themselves, are told the epoch and promise themselves to it.
fn meet(floor: &mut impl Floor, leader: ServerId, learners: &[ServerId]) {
    for learner in learners {
        dialled(floor, *learner, leader);
    }
    let mut busy = true;
    while std::mem::take(&mut busy) {
        for learner in learners {
            for (from, to) in [(*learner, leader), (leader, *learner)] {
                while floor.discover(from, to) {
                    busy = true;
                }
            }
        }
        for server in [leader].iter().chain(learners) {
            busy |= floor.promise(*server);
        }
    }
}

impl Pair {
    /// The connection on which a message of discovery is what arrives next at one of the two.
    #[must_use]
    pub fn discovering(&self, to: ServerId) -> Option<LinkId> {
        let next = self.links.iter().find(|(_, link)| {
            let first = link.inbound(to).messages.front().map(|message| message.kind());
            link.open[link.side(to)]
                && matches!(
                    first,
                    Some(
                        MessageKind::AckEpoch
                            | MessageKind::FollowerInfo
                            | MessageKind::LeaderInfo
                            | MessageKind::ObserverInfo
                    )
                )
        });
        next.map(|(link, _)| *link)
    }
}
