//! Promises about who is in the ensemble, and whose disks are enough for what.
//!
//! ```text
//!   … z-1 |  z: a change, and what is proposed until it is decided  | later …
//!    old  |                     old and new                         |  new
//! ```

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use zoolab_core::members::Members;
use zoolab_core::quorum::Quorum;
use zoolab_core::{Ensemble, Epoch, ServerId, Txn, Zxid};

use super::judge::Judge;
use super::ledger::Ledger;
use super::promise::{Promise, Violation};

/// What has become of changes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Changes {
    /// By version, those that were ever in force. The first are those of the ensemble.
    decided: BTreeMap<Zxid, Arc<Quorum>>,
    /// By version, those that were proposed and may still come into force.
    proposed: BTreeMap<Zxid, Arc<Members>>,
    /// The version before the last, and the newest proposal that still needs its word.
    before: Option<(Zxid, Zxid)>,
}

/// Without any it says nothing, as most have none.
impl Hash for Changes {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self { decided, proposed, before } = self;
        if decided.len() > 1 || !proposed.is_empty() {
            decided.keys().for_each(|version| version.hash(state));
            proposed.hash(state);
            before.hash(state);
        }
    }
}

impl Changes {
    pub(super) fn new(ensemble: &Ensemble) -> Self {
        let first = Arc::new(ensemble.quorum.clone());
        let decided = BTreeMap::from([(Zxid::ZERO, first)]);
        Self { decided, proposed: BTreeMap::new(), before: None }
    }

    fn last(&self) -> (Zxid, &Arc<Quorum>) {
        let (version, quorum) = self.decided.last_key_value().expect("the first are there");
        (*version, quorum)
    }

    /// Those of this version, or the newest before it.
    pub(super) fn quorum_of(&self, version: Zxid) -> &Quorum {
        let known = self.decided.range(..=version).next_back();
        known.map_or_else(|| &**self.last().1, |(_, quorum)| quorum)
    }

    /// Whether those of whom this is true are enough now.
    pub(super) fn is_enough(&self, is: impl FnMut(ServerId) -> bool) -> bool {
        self.last().1.is_enough_if(is)
    }

    /// Whether the disks of those of whom this is true are enough to commit what was proposed
    /// there, and not only for one of two ensembles.
    pub(super) fn may_commit(&self, zxid: Zxid, mut is: impl FnMut(ServerId) -> bool) -> bool {
        let (version, now) = self.last();
        let before = self.before.filter(|(_, until)| zxid <= *until);
        let before = before.and_then(|(version, _)| self.decided.get(&version));
        let next = self.proposed.range(version..=zxid).filter(|(at, _)| at.epoch() == zxid.epoch());
        let next = next.map(|(_, members)| members.quorum());
        [now].into_iter().chain(before).chain(next).all(|quorum| quorum.is_enough_if(&mut is))
    }

    /// Whether they are enough for an epoch that begins with these changes pending.
    pub(super) fn may_begin(
        &self,
        has: impl Fn(Zxid) -> bool,
        mut is: impl FnMut(ServerId) -> bool,
    ) -> bool {
        let pending = self.pending(has).map(|members| members.quorum());
        [self.last().1].into_iter().chain(pending).all(|quorum| quorum.is_enough_if(&mut is))
    }

    fn pending(&self, has: impl Fn(Zxid) -> bool) -> impl Iterator<Item = &Arc<Members>> {
        let (last, _) = self.last();
        let newer = self.proposed.iter().filter(move |(version, _)| **version > last);
        newer.filter(move |(version, _)| has(**version)).map(|(_, members)| members)
    }

    /// What is committed now may be a change.
    pub(super) fn committed(&mut self, zxid: Zxid, newest: Zxid) {
        if let Some(members) = self.proposed.remove(&zxid) {
            self.before = Some((self.last().0, newest));
            self.decided.insert(zxid, Arc::clone(members.quorum()));
        }
    }

    /// An epoch has begun: with it whatever is pending in what it begins with is decided, and
    /// nothing else of what was proposed before will ever be.
    pub(super) fn begun(&mut self, epoch: Epoch, has: impl Fn(Zxid) -> bool) {
        let newest = self.pending(has).last().cloned();
        if let Some(members) = newest {
            self.decided.insert(members.version(), Arc::clone(members.quorum()));
        }
        self.proposed.retain(|version, _| version.epoch() >= epoch);
        self.before = None;
    }

    /// The members of an ensemble that begins are those that it was set up with. It may begin
    /// more than once, while nobody has changed it: whoever hears late that it has led the first
    /// epoch does not know of the second.
    fn founds(&mut self, version: Zxid) {
        let mut before = self.decided.range(..version);
        if before.all(|(other, _)| other.counter() == 0) {
            let first = Arc::clone(&self.decided[&Zxid::ZERO]);
            self.decided.insert(version, first);
        }
    }
}

impl Ledger {
    /// One change at a time.
    pub(super) fn change_proposed(
        &mut self,
        server: ServerId,
        txn: &Txn,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        let Some(members) = Members::proposed_by(txn) else { return Ok(()) };
        let version = members.version();
        let (last, _) = self.changes.last();
        let mut others = self.changes.proposed.range(last..version);
        let pending = others.find(|(other, _)| other.epoch() == version.epoch());
        let pending = pending.map(|(other, _)| *other);
        judge.holds(Promise::OneChange, pending.is_none(), || {
            let other = pending.unwrap_or_default();
            format!("server {server} proposed a change with {version}, {other} is undecided")
        })?;
        self.changes.proposed.insert(version, Arc::new(members));
        Ok(())
    }

    /// A server takes members for being in force.
    pub(super) fn joined(
        &mut self,
        server: ServerId,
        members: &Members,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        let version = members.version();
        let reign = self.reigns.get(&version.epoch());
        let founded = version.counter() == 0 && reign.is_some_and(|reign| reign.established);
        if founded {
            self.changes.founds(version);
        }
        let decided = self.changes.decided.get(&version);
        let same = decided.is_some_and(|quorum| quorum == members.quorum());
        judge.holds(Promise::MembersDecided, same, || {
            let voters = members.quorum().voters();
            let voters: Vec<String> = voters.iter().map(ToString::to_string).collect();
            let voters = voters.join(", ");
            format!("server {server} is in an ensemble of {voters} since {version}: not decided")
        })?;
        self.in_force(server, version, judge)
    }

    /// What a server takes for being in force never becomes older.
    pub(super) fn in_force(
        &mut self,
        server: ServerId,
        version: Zxid,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        let member = self.member_mut(server);
        let before = std::mem::replace(&mut member.members, version);
        let lost = member.lost || member.damaged;
        judge.holds(Promise::MembersMonotonicity, lost || before <= version, || {
            format!("server {server} goes by the members of {version} after those of {before}")
        })
    }

    /// Nor does what it has on its disk, which is done later than what it takes for being in force.
    pub(super) fn members_written(
        &mut self,
        server: ServerId,
        version: Zxid,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        let member = self.member_mut(server);
        let before = std::mem::replace(&mut member.members_safe, version);
        member.members = member.members.max(version);
        let lost = member.lost || member.damaged;
        judge.holds(Promise::MembersMonotonicity, lost || before <= version, || {
            format!("server {server} wrote the members of {version} after those of {before}")
        })
    }

    /// What was on disk is there again.
    pub(super) fn members_read(
        &mut self,
        server: ServerId,
        version: Zxid,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        let member = self.member_mut(server);
        member.members = version;
        let (due, lost) = (member.members_safe, member.lost || member.damaged);
        judge.holds(Promise::MembersMonotonicity, lost || due <= version, || {
            format!("server {server} read the members of {version}, those of {due} were safe")
        })?;
        self.member_mut(server).members_safe = version;
        Ok(())
    }
}
