//! Promises about sessions: what is ordered of them, and what is theirs.
//!
//! The books follow the one order of writes as the leader of the newest epoch makes it. What an
//! older leader still proposes will not become part of it, and is not looked at.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use zoolab_core::txn::{Change, NodeChange, NodeKind, SubChange};
use zoolab_core::{Ensemble, Epoch, LocalSessions, ServerId, SessionId, Text, Txn, Zxid};

use super::history::History;
use super::judge::Judge;
use super::ledger::Ledger;
use super::promise::{Promise, Violation};

/// Which sessions there are at some point of the order, and what is theirs.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct State {
    open: BTreeMap<SessionId, BTreeSet<Text>>,
    over: BTreeSet<SessionId>,
    owners: BTreeMap<Text, SessionId>,
}

/// See the [module](self). A function of what else the ledger has.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Books {
    /// Whether a session may be one that its server alone knows.
    local: bool,
    /// The end of what the newest epoch began with.
    begun: Zxid,
    then: State,
    /// With what has been proposed in that epoch.
    now: State,
}

impl Books {
    pub(super) fn new(ensemble: &Ensemble) -> Self {
        let local = ensemble.local_sessions != LocalSessions::Off;
        Self { local, ..Self::default() }
    }
}

impl State {
    fn perform(&mut self, txn: &Txn) {
        match &txn.change {
            Change::CreateSession { .. } => {
                self.open.entry(txn.session).or_default();
            }
            Change::CloseSession { .. } => {
                for path in self.open.remove(&txn.session).unwrap_or_default() {
                    self.owners.remove(&path);
                }
                self.over.insert(txn.session);
            }
            Change::Error(_) => {}
            Change::Multi(parts) => {
                if !is_refused(&txn.change) {
                    parts.iter().for_each(|part| match part {
                        SubChange::Node(change) => self.change(txn.session, change),
                        SubChange::Error(_) => {}
                    });
                }
            }
            Change::Node(change) => self.change(txn.session, change),
        }
    }

    fn change(&mut self, session: SessionId, change: &NodeChange) {
        match change {
            NodeChange::Create { path, kind: NodeKind::Ephemeral, .. } => {
                self.open.entry(session).or_default().insert(path.clone());
                self.owners.insert(path.clone(), session);
            }
            NodeChange::Delete { path, .. } => {
                if let Some(owner) = self.owners.remove(path)
                    && let Some(paths) = self.open.get_mut(&owner)
                {
                    paths.remove(path);
                }
            }
            NodeChange::Check { .. }
            | NodeChange::Create { .. }
            | NodeChange::SetAcl { .. }
            | NodeChange::SetData { .. } => {}
        }
    }
}

/// Whether it changes nothing.
fn is_refused(change: &Change) -> bool {
    match change {
        Change::Error(_) => true,
        Change::Multi(parts) => parts.iter().any(|part| matches!(part, SubChange::Error(_))),
        Change::CloseSession { .. } | Change::CreateSession { .. } | Change::Node(_) => false,
    }
}

fn makes_ephemeral(change: &Change) -> bool {
    let makes = |change: &NodeChange| {
        matches!(change, NodeChange::Create { kind: NodeKind::Ephemeral, .. })
    };
    match change {
        Change::Node(change) => makes(change),
        Change::Multi(parts) => {
            parts.iter().any(|part| matches!(part, SubChange::Node(change) if makes(change)))
        }
        Change::CloseSession { .. } | Change::CreateSession { .. } | Change::Error(_) => false,
    }
}

impl Ledger {
    /// An epoch has begun: what it begins with is in the order for good.
    pub(super) fn book_epoch(&mut self, begun: &History) {
        let mut books = Arc::unwrap_or_clone(std::mem::take(&mut self.books));
        for end in begun.ends() {
            let first = if end.epoch() == books.begun.epoch() { books.begun.counter() } else { 0 };
            if end.epoch() < books.begun.epoch() {
                continue;
            }
            for counter in first + 1..=end.counter() {
                let zxid = Zxid(Zxid::first_of(end.epoch()).0 + i64::from(counter));
                if let Some((txn, _)) = self.first(zxid) {
                    books.then.perform(txn);
                }
            }
        }
        books.begun = begun.last();
        books.now = books.then.clone();
        self.books = Arc::new(books);
    }

    /// A leader proposes: if it is that of the newest epoch, its word is the order.
    pub(super) fn book(
        &mut self,
        server: ServerId,
        epoch: Epoch,
        txn: &Arc<Txn>,
        judge: &mut Judge<'_>,
    ) -> Result<(), Violation> {
        if self.established != Some(epoch) {
            return Ok(());
        }
        let (zxid, session, change) = (txn.stamp.zxid, txn.session, &txn.change);
        let State { open, over, .. } = &self.books.now;
        if session != SessionId::NONE && !is_refused(change) {
            judge.holds(Promise::SessionOver, !over.contains(&session), || {
                format!("server {server} proposed {zxid} for session {session}, which is over")
            })?;
            let opens = matches!(change, Change::CreateSession { .. });
            let known = opens || open.contains_key(&session);
            let may = known || self.books.local && !makes_ephemeral(change);
            judge.holds(Promise::SessionKnown, may, || {
                format!("server {server} proposed {zxid} for session {session}, which is not open")
            })?;
        }
        if let Change::CloseSession { paths } = change {
            let nothing = BTreeSet::new();
            let due = open.get(&session).unwrap_or(&nothing);
            judge.holds(Promise::SessionTakesAll, paths.iter().eq(due), || {
                format!("server {server} proposed {zxid}, which ends session {session} with {paths:?}; its own are {due:?}")
            })?;
        }
        Arc::make_mut(&mut self.books).now.perform(txn);
        Ok(())
    }
}
