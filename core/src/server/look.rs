//! Looking for a leader, and telling others who look.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::{Role, Server};
use crate::bugs::Bug;
use crate::election::{Decision, Election, Notification, Stance, Wish};
use crate::ids::{Now, ServerId};
use crate::io::{Output, Timer};
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
        let quorum = self.ensemble.quorum.clone();
        let election = Election::begin(self.me, quorum, self.round, ballot, &mut wishes);
        self.round = election.round();
        self.role = Role::Looking(Box::new(election));
        grant(wishes, out);
    }

    pub(super) fn on_resend(&mut self, out: &mut Vec<Output>) {
        if let Role::Looking(election) = &mut self.role {
            let mut wishes = Vec::new();
            election.resend(&mut wishes);
            grant(wishes, out);
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
        _now: Now,
        from: ServerId,
        notification: Notification,
        out: &mut Vec<Output>,
    ) {
        let Role::Looking(election) = &mut self.role else {
            if notification.stance == Stance::Looking
                && let Some(notification) = self.vote
            {
                out.push(Output::Tell { to: from, notification });
            }
            return;
        };
        if !self.ensemble.quorum.has_voter(from) {
            // It has no vote and wants to know; it would learn of the leader by this.
            if let Some(notification) = election.notification() {
                out.push(Output::Tell { to: from, notification });
            }
            return;
        }
        let mut wishes = Vec::new();
        let decision = election.hear(from, notification, &mut wishes);
        self.round = election.round();
        grant(wishes, out);
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
        out.push(Output::Note(Note::Elected { leader, round }));
        out.push(Output::Disarm { timer: Timer::Resend });
        out.push(Output::Disarm { timer: Timer::Settle });
        let stance = if leader == self.me {
            Stance::Leading
        } else if self.ensemble.quorum.has_voter(self.me) {
            Stance::Following
        } else {
            Stance::Observing
        };
        self.vote = Some(Notification { stance, ballot, round });
        if leader == self.me { self.lead(out) } else { self.join(leader, out) }
    }

    /// Those who look shall compare the new epoch, which all who follow this leader have in
    /// common, whatever they knew of it when they decided.
    pub(super) fn vote_for_epoch(&mut self) {
        if let Some(vote) = &mut self.vote {
            vote.ballot.epoch = self.current;
        }
    }
}

fn grant(wishes: Vec<Wish>, out: &mut Vec<Output>) {
    out.extend(wishes.into_iter().map(|wish| match wish {
        Wish::Tell { to, notification } => Output::Tell { to, notification },
        Wish::Resend { ms } => Output::Wake { timer: Timer::Resend, ms },
        Wish::Settle { ms } => Output::Wake { timer: Timer::Settle, ms },
    }));
}
