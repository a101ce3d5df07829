//! Looking for a leader, and telling others who look.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{Role, Server};
use crate::bugs::Bug;
use crate::election::{Ballot, Decision, Election, Notification, Stance, Wish};
use crate::ids::ServerId;
use crate::io::{Output, Timer};
use crate::members::Members;
use crate::note::{Branch, Note};

impl Server {
    /// Begins a round. Everything this server has is on its disk, and nothing else.
    pub(super) fn elect(&mut self, out: &mut Vec<Output>) {
        assert!(self.journal.is_idle(), "a vote speaks of what is on disk");
        let honest = self.journal.durable() == self.zxid_last;
        let bugs = self.ensemble.bugs;
        assert!(honest || bugs.on(Bug::Zk2355), "a vote speaks of what is on disk");
        // The epoch is what the log says, whatever was begun without a transaction.
        if bugs.on(Bug::Zk335) {
            self.accepted = self.zxid_last.epoch();
        }
        let ballot = self.ballot();
        out.push(Output::Note(Note::Looking { ballot }));
        if self.data_missing {
            out.push(Output::Note(Note::Reached(Branch::DataMissing)));
        }
        self.vote = None;
        let mut wishes = Vec::new();
        let joint = self.joint.clone();
        let election = Election::begin(self.me, joint, self.round, ballot, &mut wishes);
        self.round = election.round();
        self.role = Role::Looking(Box::new(election));
        self.wake_read_only(out);
        self.grant(wishes, out);
    }

    pub(super) fn on_resend(&mut self, out: &mut Vec<Output>) {
        if let Role::Looking(election) = &mut self.role {
            let mut wishes = Vec::new();
            election.resend(&mut wishes);
            self.grant(wishes, out);
        }
    }

    pub(super) fn on_settle(&mut self, out: &mut Vec<Output>) {
        if let Role::Looking(election) = &mut self.role
            && let Some(decision) = election.settled()
        {
            self.decided(decision, out);
        }
    }

    pub(super) fn on_told(
        &mut self,
        from: ServerId,
        notification: Notification,
        members: Option<Arc<Members>>,
        out: &mut Vec<Output>,
    ) {
        if !self.is_looking() {
            if notification.stance == Stance::Looking
                && let Some(notification) = self.vote
            {
                self.tell(from, notification, out);
            }
            return;
        }
        if self.learn_members(members, out) {
            return self.look_again(out);
        }
        let Role::Looking(election) = &mut self.role else { return };
        if !self.joint.has_voter(from) {
            // It has no vote and wants to know; it would learn of the leader by this.
            if let Some(notification) = election.notification() {
                self.tell(from, notification, out);
            }
            return;
        }
        let mut wishes = Vec::new();
        let decision = election.hear(from, notification, &mut wishes);
        self.round = election.round();
        self.grant(wishes, out);
        if let Some(decision) = decision {
            self.decided(decision, out);
        }
    }

    pub(super) fn on_elected(&mut self, decision: Decision, out: &mut Vec<Output>) {
        let may = decision.ballot.leader != self.me || self.ballot().is_some();
        if self.is_looking() && may {
            self.decided(decision, out);
        }
    }

    fn decided(&mut self, decision: Decision, out: &mut Vec<Output>) {
        let Decision { ballot, round } = decision;
        let leader = ballot.leader;
        self.round = round;
        self.end_read_only(out);
        out.push(Output::Note(Note::Elected { leader, round }));
        out.push(Output::Disarm { timer: Timer::Resend });
        out.push(Output::Disarm { timer: Timer::Settle });
        let stance = if leader == self.me {
            Stance::Leading
        } else if !self.members.is_observer(self.me) {
            Stance::Following
        } else {
            Stance::Observing
        };
        self.vote = Some(Notification { stance, ballot, round });
        if leader == self.me { self.lead(out) } else { self.join(leader, out) }
    }

    /// The ensemble is another than it thought: it has to ask others. Its disk comes first.
    fn look_again(&mut self, out: &mut Vec<Output>) {
        out.push(Output::Disarm { timer: Timer::Resend });
        out.push(Output::Disarm { timer: Timer::Settle });
        self.role = Role::Draining;
        self.drain(out);
    }

    /// Goes to whoever leads by a change of members, or leads.
    pub(super) fn inherit(&mut self, leader: ServerId, out: &mut Vec<Output>) {
        let ballot = Ballot { epoch: self.current, zxid: self.zxid_last, leader };
        self.decided(Decision { ballot, round: self.round }, out);
    }

    fn tell(&self, to: ServerId, notification: Notification, out: &mut Vec<Output>) {
        out.push(Output::Tell { to, notification, members: self.told_members() });
    }

    fn grant(&self, wishes: Vec<Wish>, out: &mut Vec<Output>) {
        for wish in wishes {
            match wish {
                Wish::Tell { to, notification } => self.tell(to, notification, out),
                Wish::Resend { ms } => out.push(Output::Wake { timer: Timer::Resend, ms }),
                Wish::Settle { ms } => out.push(Output::Wake { timer: Timer::Settle, ms }),
            }
        }
    }

    /// An observer's word counts for nothing, and it may have become one, or none.
    pub(super) fn vote_with_part(&mut self) {
        let votes = !self.members.is_observer(self.me);
        if let Some(vote) = &mut self.vote
            && vote.stance != Stance::Leading
        {
            vote.stance = if votes { Stance::Following } else { Stance::Observing };
        }
    }

    /// Those who look shall compare the new epoch, which all who follow this leader have in
    /// common, whatever they knew of it when they decided.
    pub(super) fn vote_for_epoch(&mut self) {
        if let Some(vote) = &mut self.vote {
            vote.ballot.epoch = self.current;
        }
    }
}
