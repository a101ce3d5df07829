//! Who is in the ensemble: changes that are wished for, proposed, decided, and learned of.
//!
//! ```text
//!   wish -- prepare --> proposed ---- quorums of old and new have it ----> in force
//!                          |                                                  ^
//!                          +-- its leader is gone: the next epoch begins -----+
//!
//!   in force --> on disk; told to whoever presents itself, joins, or looks for a leader
//! ```
//!
//! What is proposed is part of the history, and is read from there again after a crash, or is cut
//! off with it. ZooKeeper keeps it in a file besides, which outlives a change that was cut off.
//!
//! Invariant: what is in force on any server has been decided; so whoever hears of newer members
//! takes them over at once, whatever its own history says.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{Role, Server};
use crate::acl::Id;
use crate::ids::{ConnId, Epoch, Now, ServerId, Xid, Zxid};
use crate::io::{Output, Persist};
use crate::members::Members;
use crate::note::{Branch, Note, Why};
use crate::pipeline::prepare::{Asker, ChangeWish, Prepare, Situation};
use crate::quorum::Joint;
use crate::request::Stamp;
use crate::txn::{Change, Txn};
use crate::zab::journal::Task;
use crate::zab::learner::Stage;

impl Server {
    /// What others are told of the members in force: nothing while nobody has agreed on any.
    pub(super) fn told_members(&self) -> Option<Arc<Members>> {
        (self.members.version() > Zxid::ZERO).then(|| Arc::clone(&self.members))
    }

    /// The members in force once this epoch has begun.
    pub(super) fn members_of_epoch(&self, epoch: Epoch) -> Option<Arc<Members>> {
        let begins = self.settings.reconfig && self.members.version() == Zxid::ZERO;
        let begun = || Arc::new(self.members.with_version(Zxid::first_of(epoch)));
        self.next.clone().or_else(|| begins.then(begun)).or_else(|| self.told_members())
    }

    /// Somebody knows that these are in force. True if that is news.
    pub(super) fn adopt(&mut self, members: Option<Arc<Members>>, out: &mut Vec<Output>) -> bool {
        let Some(members) = members.filter(|theirs| theirs.version() > self.members.version())
        else {
            return false;
        };
        out.push(Output::Note(Note::Joined(Arc::clone(&members))));
        self.journal.ask(Task::Members, Persist::Members(Arc::clone(&members)), out);
        self.next.take_if(|next| next.version() <= members.version());
        self.members = members;
        self.rejoin();
        self.vote_with_part();
        true
    }

    /// The same, heard from others.
    pub(super) fn learn_members(
        &mut self,
        members: Option<Arc<Members>>,
        out: &mut Vec<Output>,
    ) -> bool {
        let news = self.adopt(members, out);
        if news {
            out.push(Output::Note(Note::Reached(Branch::MembersLearned)));
        }
        news
    }

    /// A transaction went to the log. If it changes the ensemble, both count from here on.
    pub(super) fn foresee(&mut self, txn: &Txn) {
        if let Some(next) = Members::proposed_by(txn)
            && next.version() > self.members.version()
        {
            self.next = Some(Arc::new(next));
            self.rejoin();
        }
    }

    /// Memory has another history now: what it says of members is what is proposed.
    pub(super) fn recall_members(&mut self) {
        self.next = self.members.newer_in(&self.tree).map(Arc::new);
        self.rejoin();
    }

    fn rejoin(&mut self) {
        let next = self.next.as_ref().map(|next| Arc::clone(next.quorum()));
        self.joint = Joint { now: Arc::clone(self.members.quorum()), next };
    }

    /// Clients are about to be served: they can read who is in the ensemble. Nobody is told, for
    /// nobody is there.
    pub(super) fn show_members(&mut self) {
        if self.settings.reconfig {
            self.tree.show_members(&self.members);
        }
    }

    /// Decides a wish for other members, and proposes what comes of it.
    pub(super) fn decide_change(
        &mut self,
        stamp: Stamp,
        asker: Asker<'_>,
        (xid, conn): (Xid, Option<ConnId>),
        wish: ChangeWish<'_>,
        out: &mut Vec<Output>,
    ) {
        let synced = self.synced_voters();
        let situation = (!self.alone).then(|| Situation {
            members: &self.members,
            is_changing: self.next.is_some(),
            synced: &synced,
        });
        let mut prepare = Prepare::new(&self.tree, &mut self.overlay, &self.settings, stamp);
        let (decided, next) = match prepare.reconfig(asker, wish, situation) {
            Ok((change, next)) => (Ok(Change::Node(change)), Some(next)),
            Err(code) => (Err(code), None),
        };
        let refused = decided.is_err();
        let branch = if refused { Branch::ChangeRefused } else { Branch::ChangeProposed };
        out.push(Output::Note(Note::Reached(branch)));
        self.propose(stamp, asker.session, xid, conn, decided, out);
        if let Some(next) = next
            && let Some(leader) = self.leading_mut().and_then(|leading| leading.leader_mut())
        {
            leader.change(next.quorum());
            self.next = Some(Arc::new(next));
            self.rejoin();
        }
    }

    /// Who would carry a change: this server and those that have all it has.
    fn synced_voters(&self) -> Vec<ServerId> {
        let Role::Leading(leading) = &self.role else { return Vec::new() };
        let learners = leading.learners.iter();
        let synced = learners.filter(|it| it.stage == Stage::UpToDate && !it.observer);
        synced.map(|learner| learner.server).chain([self.me]).collect()
    }

    /// As a leader: the change is committed, and in force. Who leads from here on.
    pub(super) fn change_committed(&mut self, txn: &Txn, out: &mut Vec<Output>) -> ServerId {
        let me = self.me;
        let next = self.next.take().filter(|next| next.version() == txn.stamp.zxid);
        let next = next.expect("whoever commits a change has proposed it");
        let place = |members: &Members| {
            members.get(me).map(|spec| (spec.quorum.clone(), spec.election_port))
        };
        let stays = next.quorum().weight(me) > 0 && place(&next) == place(&self.members);
        let quorum = Arc::clone(next.quorum());
        let (old, new) = (self.members.quorum().voters(), quorum.voters());
        let mut reached = |branch| out.push(Output::Note(Note::Reached(branch)));
        reached(Branch::ChangeCommitted);
        if !new.is_subset(&old) {
            reached(Branch::VoterJoined);
        }
        if !old.is_subset(&new) {
            reached(Branch::VoterLeft);
        }
        self.adopt(Some(next), out);
        let Some(leader) = self.leading_mut().and_then(|leading| leading.leader_mut()) else {
            return me;
        };
        leader.changed();
        let heir = if stays { None } else { leader.furthest(&quorum, me) };
        heir.unwrap_or(me)
    }

    /// As a learner: a change is committed, and in force.
    ///
    /// # Errors
    /// If this server has to go on in another part, or with another leader.
    pub(super) fn change_learned(
        &mut self,
        now: Now,
        txn: Arc<Txn>,
        leader: ServerId,
        out: &mut Vec<Output>,
    ) -> Result<(), Why> {
        let Some(next) = Members::proposed_by(&txn) else { return Err(Why::Misplaced) };
        self.adopt(Some(Arc::new(next)), out);
        self.commit(now, txn, out);
        let Role::Following(follower) = &self.role else { return Ok(()) };
        self.same_part(follower.leader, leader, follower.observer())
    }

    /// Whether this server goes on as it is.
    ///
    /// # Errors
    /// If it does not: then it knows where to go.
    pub(super) fn same_part(
        &self,
        leader: ServerId,
        heir: ServerId,
        observer: bool,
    ) -> Result<(), Why> {
        let same = leader == heir && observer == self.members.is_observer(self.me);
        if same { Ok(()) } else { Err(Why::Changed { leader: heir }) }
    }

    /// Who its host is, to whom nothing is forbidden.
    pub(super) fn host_id() -> Id {
        Id { scheme: "super".into(), id: "".into() }
    }

    /// The members in force, for all this server knows.
    #[must_use]
    pub const fn members(&self) -> &Arc<Members> {
        &self.members
    }

    /// The members that are proposed, in its own history.
    #[must_use]
    pub const fn members_next(&self) -> Option<&Arc<Members>> {
        self.next.as_ref()
    }

    /// Who could come to have a vote, of those who have never had one.
    pub fn spares(&self) -> impl Iterator<Item = ServerId> {
        let spares = self.ensemble.spares.iter().copied();
        spares.filter(|server| !self.joint.has_voter(*server))
    }

    /// Who has to agree at the moment, for all this server knows.
    #[must_use]
    pub const fn joint(&self) -> &Joint {
        &self.joint
    }
}
