//! Looking for a leader: fast leader election, one round after another.
//!
//! ```text
//!             enough equal votes                    nothing better for a while
//!   gathering -------------------> settling --------------------------------> decided
//!      ^  ^                           |
//!      |  +---- a better vote came ---+
//!      |
//!      +-- a higher round was heard of: begin it instead
//!
//!   any of them: enough decided servers agree, their leader among them ------> decided
//! ```
//!
//! Follows `FastLeaderElection`. It promises nothing: two servers may both believe they lead,
//! and a restarted one may vote twice in a round. Only discovery, with its promises on disk, makes
//! one of them a leader.
//!
//! While the ensemble changes, the members in force elect, one of themselves; the next ones are
//! heard and told as well. ZooKeeper wants a quorum of both, and lets the next ones be elected:
//! then those who have not heard of the change and those who have never agree.
//!
//! Stricter than the Java code in one place: what arrives while settling is recorded like
//! anything else instead of being dropped.

mod ballot;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

pub use ballot::{Ballot, Notification, Stance};

use crate::ids::{Epoch, ServerId, Zxid};
use crate::quorum::Joint;

/// How long nothing better must come before a round ends.
pub const SETTLE_MS: u32 = 200;
/// How long to wait before saying it again, at first; doubled each time.
pub const RESEND_MIN_MS: u32 = 200;
/// How long to wait before saying it again, at most.
pub const RESEND_MAX_MS: u32 = 60_000;

/// What an election wants done.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Wish {
    /// Tell one server.
    Tell {
        /// Whom.
        to: ServerId,
        /// What.
        notification: Notification,
    },
    /// Wake me to say it again unless told otherwise.
    Resend {
        /// After so long.
        ms: u32,
    },
    /// Wake me when it is time to decide.
    Settle {
        /// After so long.
        ms: u32,
    },
}

/// How a round ended.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Decision {
    /// Whom to follow, which may be oneself.
    pub ballot: Ballot,
    /// The round in which that was decided.
    pub round: u64,
}

/// See the [module](self).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Election {
    me: ServerId,
    quorum: Joint,
    round: u64,
    /// What this server itself has to offer; `None` if it has no vote or may have lost data.
    own: Option<Ballot>,
    /// The best heard of in this round.
    proposal: Option<Ballot>,
    /// Votes of this round, our own included. Invariant: all senders are voters.
    votes: BTreeMap<ServerId, Notification>,
    /// What decided servers said, of any round.
    decided: BTreeMap<ServerId, Notification>,
    settling: bool,
    resend_ms: u32,
}

impl Election {
    /// Begins the round after `last_round`. `own` is the end of this server's durable history.
    #[must_use]
    pub fn begin(
        me: ServerId,
        quorum: Joint,
        last_round: u64,
        own: Option<Ballot>,
        out: &mut Vec<Wish>,
    ) -> Self {
        let own = own.filter(|ballot| quorum.has_voter(me) && ballot.zxid != Zxid::NONE);
        let mut election = Self {
            me,
            quorum,
            round: last_round + 1,
            own,
            proposal: own,
            votes: BTreeMap::new(),
            decided: BTreeMap::new(),
            settling: false,
            resend_ms: RESEND_MIN_MS,
        };
        election.announce(out);
        out.push(Wish::Resend { ms: election.resend_ms });
        election.settle_if_enough(out);
        election
    }

    /// The round under way.
    #[must_use]
    pub const fn round(&self) -> u64 {
        self.round
    }

    /// What this server says at the moment.
    #[must_use]
    pub fn notification(&self) -> Option<Notification> {
        let ballot = self.proposal?;
        Some(Notification { stance: Stance::Looking, ballot, round: self.round })
    }

    /// Whoever has no vote asks instead: its word counts for nothing, and is answered.
    fn announce(&mut self, out: &mut Vec<Wish>) {
        let vote = self.notification();
        let (leader, zxid) = (self.me, Zxid::NONE);
        let ballot = Ballot { epoch: Epoch(0), zxid, leader };
        let question = Notification { stance: Stance::Looking, ballot, round: self.round };
        let notification = vote.unwrap_or(question);
        for to in self.quorum.voters() {
            if to != self.me {
                out.push(Wish::Tell { to, notification });
            } else if vote.is_some() {
                self.votes.insert(to, notification);
            }
        }
    }

    /// Hears what another server says.
    pub fn hear(
        &mut self,
        from: ServerId,
        notification: Notification,
        out: &mut Vec<Wish>,
    ) -> Option<Decision> {
        let Notification { stance, ballot, round } = notification;
        let known = self.quorum.has_voter(from) && self.quorum.has_voter(ballot.leader);
        if !known || from == self.me {
            return None;
        }
        match stance {
            Stance::Observing => None,
            Stance::Looking => {
                self.hear_vote(from, notification, out);
                None
            }
            Stance::Following | Stance::Leading => {
                if round == self.round {
                    self.votes.insert(from, notification);
                }
                self.decided.insert(from, notification);
                self.join(ballot, round)
            }
        }
    }

    fn hear_vote(&mut self, from: ServerId, notification: Notification, out: &mut Vec<Wish>) {
        let Notification { ballot, round, .. } = notification;
        // A server that may have lost its data must not influence anyone, nor be influenced.
        let Some(own) = self.own else { return };
        if ballot.zxid == Zxid::NONE {
            return;
        }
        if round < self.round {
            // Whoever is behind learns of the newer round by this.
            out.extend(self.notification().map(|mine| Wish::Tell { to: from, notification: mine }));
            return;
        }
        if round > self.round {
            self.round = round;
            self.votes.clear();
            self.proposal = Some(if ballot.beats(&own, &self.quorum) { ballot } else { own });
            self.settling = false;
            self.announce(out);
        } else if self.proposal.is_some_and(|best| ballot.beats(&best, &self.quorum)) {
            self.proposal = Some(ballot);
            self.settling = false;
            self.announce(out);
        }
        self.votes.insert(from, notification);
        self.settle_if_enough(out);
    }

    /// Whether a quorum votes as we do in this round; then only a better vote can stop it.
    fn settle_if_enough(&mut self, out: &mut Vec<Wish>) {
        let mine = self.notification();
        let same: BTreeSet<ServerId> = self
            .votes
            .iter()
            .filter(|(_, vote)| {
                mine.is_some_and(|mine| (vote.ballot, vote.round) == (mine.ballot, mine.round))
            })
            .map(|(server, _)| *server)
            .collect();
        // Those who are only proposed to vote may not know that; discovery will ask them.
        let enough = self.quorum.now.is_enough(&same);
        if enough && !self.settling {
            out.push(Wish::Settle { ms: SETTLE_MS });
        }
        self.settling = enough;
    }

    /// Joins servers that have decided, if they are enough and their leader says so itself.
    fn join(&self, ballot: Ballot, round: u64) -> Option<Decision> {
        let leader = ballot.leader;
        for heard in [&self.votes, &self.decided] {
            let same: BTreeSet<ServerId> = heard
                .iter()
                .filter(|(_, other)| other.stance != Stance::Looking)
                .filter(|(_, other)| {
                    // Followers may know the leader by different histories, never by two epochs.
                    other.ballot.leader == leader && other.ballot.epoch == ballot.epoch
                })
                .map(|(server, _)| *server)
                .collect();
            let confirmed = if leader == self.me {
                self.own.is_some() && round == self.round
            } else {
                heard.get(&leader).is_some_and(|other| other.stance == Stance::Leading)
            };
            // Whoever has proposed a change that nobody else has would wait for servers that are
            // not in the ensemble. To follow promises nothing.
            if self.quorum.is_enough_in_one(&same) && confirmed {
                return Some(Decision { ballot, round });
            }
        }
        None
    }

    /// Nothing better has come for a while.
    pub fn settled(&mut self) -> Option<Decision> {
        let settling = core::mem::take(&mut self.settling);
        let ballot = self.proposal.filter(|_| settling)?;
        Some(Decision { ballot, round: self.round })
    }

    /// Nothing has come of it for a while: says it again, ever more rarely.
    pub fn resend(&mut self, out: &mut Vec<Wish>) {
        self.announce(out);
        self.resend_ms = (self.resend_ms * 2).min(RESEND_MAX_MS);
        out.push(Wish::Resend { ms: self.resend_ms });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quorum::Quorum;
    use alloc::collections::VecDeque;

    fn ballot(leader: u8, epoch: u32, counter: i64) -> Ballot {
        let zxid = Zxid(Zxid::first_of(Epoch(epoch)).0 + counter);
        Ballot { epoch: Epoch(epoch), zxid, leader: ServerId(leader) }
    }

    fn three() -> Joint {
        Quorum::majority((1..=3).map(ServerId)).unwrap().into()
    }

    fn begin(me: u8, own: Ballot) -> (Election, Vec<Wish>) {
        let mut out = Vec::new();
        let election = Election::begin(ServerId(me), three(), 0, Some(own), &mut out);
        (election, out)
    }

    fn vote(ballot: Ballot, round: u64) -> Notification {
        Notification { stance: Stance::Looking, ballot, round }
    }

    #[test]
    fn the_longer_history_wins_and_then_the_higher_id() {
        let quorum = three();
        assert!(ballot(1, 2, 0).beats(&ballot(3, 1, 9), &quorum));
        assert!(ballot(1, 1, 9).beats(&ballot(3, 1, 8), &quorum));
        assert!(ballot(3, 1, 8).beats(&ballot(1, 1, 8), &quorum));
        assert!(!ballot(1, 1, 8).beats(&ballot(1, 1, 8), &quorum));
        let weights = [(ServerId(1), 1), (ServerId(2), 1), (ServerId(3), 0)];
        let quorum = Joint::from(Quorum::weighted(weights).unwrap());
        assert!(!ballot(3, 9, 9).beats(&ballot(1, 1, 1), &quorum), "without weight never");
    }

    #[test]
    fn a_better_vote_is_adopted_and_told() {
        let (mut election, _) = begin(1, ballot(1, 1, 5));
        let mut out = Vec::new();
        election.hear(ServerId(3), vote(ballot(3, 1, 6), 1), &mut out);
        let told: Vec<ServerId> = out
            .iter()
            .filter_map(|wish| match wish {
                Wish::Tell { to, notification } if notification.ballot == ballot(3, 1, 6) => {
                    Some(*to)
                }
                Wish::Tell { .. } | Wish::Resend { .. } | Wish::Settle { .. } => None,
            })
            .collect();
        assert_eq!(told, [ServerId(2), ServerId(3)]);
        assert!(out.contains(&Wish::Settle { ms: SETTLE_MS }), "two of three agree");
        assert_eq!(election.settled().map(|decision| decision.ballot.leader), Some(ServerId(3)));
    }

    #[test]
    fn a_better_vote_while_settling_unsettles() {
        let (mut election, _) = begin(1, ballot(1, 1, 5));
        let mut out = Vec::new();
        election.hear(ServerId(2), vote(ballot(1, 1, 5), 1), &mut out);
        assert_eq!(out, [Wish::Settle { ms: SETTLE_MS }]);
        out.clear();
        // Server 3 knows of more; server 2 has not been asked again yet.
        election.hear(ServerId(3), vote(ballot(3, 2, 0), 1), &mut out);
        assert!(election.settling, "servers 1 and 3 are a quorum for it");
        assert_eq!(election.settled().unwrap().ballot.leader, ServerId(3));
        assert_eq!(election.settled(), None, "a round ends once");
    }

    #[test]
    fn whoever_is_behind_is_told_and_whoever_is_ahead_is_joined() {
        let (mut election, _) = begin(2, ballot(2, 1, 5));
        let mut out = Vec::new();
        election.hear(ServerId(1), vote(ballot(1, 1, 4), 7), &mut out);
        assert_eq!(election.round(), 7);
        assert_eq!(election.notification().unwrap().ballot, ballot(2, 1, 5), "our own is better");
        out.clear();
        election.hear(ServerId(3), vote(ballot(3, 9, 9), 6), &mut out);
        let mine = election.notification().unwrap();
        assert_eq!(out, [Wish::Tell { to: ServerId(3), notification: mine }]);
        assert_eq!(mine.ballot.leader, ServerId(2), "an old round's vote counts for nothing");
    }

    #[test]
    fn a_settled_ensemble_is_joined_only_on_its_leaders_own_word() {
        let decided = |stance| Notification { stance, ballot: ballot(3, 4, 0), round: 12 };
        let (mut election, _) = begin(1, ballot(1, 3, 7));
        let mut out = Vec::new();
        assert_eq!(election.hear(ServerId(2), decided(Stance::Following), &mut out), None);
        let decision = election.hear(ServerId(3), decided(Stance::Leading), &mut out).unwrap();
        assert_eq!((decision.ballot.leader, decision.round), (ServerId(3), 12));
        // The followers of a dead leader alone convince nobody.
        let quorum = Joint::from(Quorum::majority((1..=5).map(ServerId)).unwrap());
        let mut election = Election::begin(ServerId(1), quorum, 0, Some(ballot(1, 3, 7)), &mut out);
        for follower in [2, 4, 5] {
            let heard = election.hear(ServerId(follower), decided(Stance::Following), &mut out);
            assert_eq!(heard, None);
        }
    }

    #[test]
    fn a_server_that_may_have_lost_data_neither_votes_nor_listens_but_joins() {
        let mut out = Vec::new();
        let lost = Ballot { zxid: Zxid::NONE, ..ballot(1, 0, 0) };
        let mut election = Election::begin(ServerId(1), three(), 0, Some(lost), &mut out);
        let votes = |wish: &Wish| match wish {
            Wish::Tell { notification, .. } => notification.ballot.zxid != Zxid::NONE,
            Wish::Resend { .. } | Wish::Settle { .. } => false,
        };
        assert!(!out.iter().any(votes), "it only asks");
        election.hear(ServerId(2), vote(ballot(2, 1, 1), 5), &mut out);
        assert_eq!(election.notification(), None);
        let decided = |stance| Notification { stance, ballot: ballot(3, 1, 1), round: 2 };
        election.hear(ServerId(2), decided(Stance::Following), &mut out);
        assert!(election.hear(ServerId(3), decided(Stance::Leading), &mut out).is_some());
    }

    /// From 1, 2, 3 to 3, 4, 5: server 4 has all that 3 has, and 1 and 2 have not heard of it.
    #[test]
    fn whoever_is_only_proposed_to_vote_votes_for_others() {
        let next = Some(Quorum::majority((3..=5).map(ServerId)).unwrap().into());
        let joint = Joint { next, ..three() };
        let mut out = Vec::new();
        let mut election =
            Election::begin(ServerId(4), joint.clone(), 0, Some(ballot(4, 1, 5)), &mut out);
        election.hear(ServerId(3), vote(ballot(3, 1, 5), 1), &mut out);
        assert_eq!(election.notification().unwrap().ballot.leader, ServerId(3));
        let mut election = Election::begin(ServerId(3), joint, 0, Some(ballot(3, 1, 5)), &mut out);
        election.hear(ServerId(1), vote(ballot(3, 1, 5), 1), &mut out);
        assert_eq!(election.settled().map(|decision| decision.ballot.leader), Some(ServerId(3)));
    }

    #[test]
    fn strangers_are_not_heard() {
        let (mut election, _) = begin(1, ballot(1, 1, 5));
        let before = election.clone();
        let mut out = Vec::new();
        election.hear(ServerId(9), vote(ballot(3, 9, 9), 99), &mut out);
        election.hear(ServerId(2), vote(ballot(9, 9, 9), 99), &mut out);
        assert_eq!((election, out), (before, Vec::new()));
    }

    #[test]
    fn repeating_becomes_rarer() {
        let (mut election, _) = begin(1, ballot(1, 1, 5));
        let mut waits = Vec::new();
        for _ in 0..12 {
            let mut out = Vec::new();
            election.resend(&mut out);
            assert_eq!(out.iter().filter(|wish| matches!(wish, Wish::Tell { .. })).count(), 2);
            waits.extend(out.iter().filter_map(|wish| match wish {
                Wish::Resend { ms } => Some(*ms),
                Wish::Tell { .. } | Wish::Settle { .. } => None,
            }));
        }
        assert_eq!(waits[..3], [400, 800, 1600]);
        assert_eq!(waits.last(), Some(&RESEND_MAX_MS));
    }

    /// Five servers, any order of delivery, some messages lost and said again: whenever all has
    /// been heard, a quorum that settles has settled on the best.
    #[test]
    fn whatever_the_order_the_best_is_elected() {
        for seed in 0..500_u64 {
            let mut chance = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
            let mut draw = |below: usize| {
                chance ^= chance << 13;
                chance ^= chance >> 7;
                chance ^= chance << 17;
                (chance % below as u64) as usize
            };
            let quorum = Joint::from(Quorum::majority((1..=5).map(ServerId)).unwrap());
            let mut mail: VecDeque<(ServerId, ServerId, Notification)> = VecDeque::new();
            let mut servers = BTreeMap::new();
            let post = |from, wishes: Vec<Wish>, mail: &mut VecDeque<_>, lose: bool| {
                for wish in wishes {
                    if let Wish::Tell { to, notification } = wish
                        && !lose
                    {
                        mail.push_back((from, to, notification));
                    }
                }
            };
            for id in 1..=5 {
                let (mut out, own) = (Vec::new(), ballot(id, 1, draw(3) as i64));
                let last_round = draw(4) as u64;
                let election =
                    Election::begin(ServerId(id), quorum.clone(), last_round, Some(own), &mut out);
                let lose = draw(2) == 0;
                post(ServerId(id), out, &mut mail, lose);
                servers.insert(ServerId(id), election);
            }
            for _ in 0..3 {
                while !mail.is_empty() {
                    let place = draw(mail.len());
                    let (from, to, notification) = mail.remove(place).unwrap();
                    let mut out = Vec::new();
                    servers.get_mut(&to).unwrap().hear(from, notification, &mut out);
                    post(to, out, &mut mail, false);
                }
                for (&id, election) in &mut servers {
                    let mut out = Vec::new();
                    election.resend(&mut out);
                    post(id, out, &mut mail, false);
                }
            }
            let best = servers.values().filter_map(|election| election.own).max().unwrap();
            for election in servers.values_mut() {
                assert_eq!(
                    election.settled().map(|decision| decision.ballot),
                    Some(best),
                    "{seed}"
                );
            }
        }
    }
}
