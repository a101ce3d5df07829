//! Learning from a leader: getting what it has, then taking part.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{Role, Server, Stale};
use crate::bugs::Bug;
use crate::ids::{Epoch, LinkId, Now, ServerId, Zxid};
use crate::io::{Output, Persist, Timer};
use crate::note::{Branch, Note, Why};
use crate::pipeline::Overlay;
use crate::storage::recover::apply;
use crate::storage::{EpochKind, snapshot};
use crate::txn::Txn;
use crate::zab::Message;
use crate::zab::follower::Follower;
use crate::zab::joining::{Joining, State};
use crate::zab::journal::Task;
use crate::zab::recent::Recent;

/// How often a learner tries to reach its leader.
const TRIES_MAX: u32 = 5;
/// How long it waits in between.
const REDIAL_MS: u32 = 100;

impl Server {
    /// Has found a leader: goes to it.
    pub(super) fn join(&mut self, leader: ServerId, out: &mut Vec<Output>) {
        self.role = Role::Joining(Box::new(Joining::new(leader)));
        self.wake_silent(self.ensemble.init_limit.0, out);
        out.push(Output::Dial { to: leader });
    }

    fn wake_silent(&self, ticks: u32, out: &mut Vec<Output>) {
        let ms = self.settings.tick_ms.saturating_mul(ticks);
        out.push(Output::Wake { timer: Timer::Silent, ms });
    }

    fn joining_mut(&mut self) -> Option<&mut Joining> {
        match &mut self.role {
            Role::Joining(joining) => Some(joining),
            Role::Draining | Role::Following(_) | Role::Leading(_) | Role::Looking(_) => None,
        }
    }

    pub(super) fn on_linked(
        &mut self,
        link: LinkId,
        peer: ServerId,
        dialled: bool,
        out: &mut Vec<Output>,
    ) {
        if !dialled {
            return self.add_learner(link, peer, out);
        }
        let observer = self.members.is_observer(self.me);
        let accepted = self.accepted;
        let members = self.told_members();
        match self.joining_mut() {
            Some(joining) if joining.state == State::Dialling && joining.leader == peer => {
                joining.link = Some(link);
                joining.observer = observer;
                joining.state = State::AwaitEpoch;
                let message = Message::LearnerInfo { observer, accepted, members };
                out.push(Output::Send { link, message });
            }
            // It has gone elsewhere meanwhile.
            Some(_) | None => out.push(Output::HangUp { link }),
        }
    }

    pub(super) fn on_unlinked(
        &mut self,
        link: Option<LinkId>,
        peer: ServerId,
        out: &mut Vec<Output>,
    ) {
        let Some(link) = link else { return self.on_unreachable(peer, out) };
        match &mut self.role {
            Role::Following(follower) if follower.link == link => self.look(Why::Closed, out),
            // Sent away before a word was said: whoever was elected may not know it yet.
            Role::Joining(joining)
                if joining.link == Some(link) && joining.state == State::AwaitEpoch =>
            {
                joining.link = None;
                joining.state = State::Dialling;
                self.on_unreachable(peer, out);
            }
            Role::Joining(joining) if joining.link == Some(link) => self.look(Why::Closed, out),
            Role::Leading(leading) => {
                leading.learners.remove(link);
            }
            Role::Draining | Role::Following(_) | Role::Joining(_) | Role::Looking(_) => {}
        }
    }

    fn on_unreachable(&mut self, peer: ServerId, out: &mut Vec<Output>) {
        let Some(joining) = self.joining_mut() else { return };
        if joining.state != State::Dialling || joining.leader != peer {
            return;
        }
        joining.tries += 1;
        if joining.tries < TRIES_MAX {
            out.push(Output::Wake { timer: Timer::Redial, ms: REDIAL_MS });
        } else {
            self.look(Why::Unreachable, out);
        }
    }

    pub(super) fn on_redial(&mut self, out: &mut Vec<Output>) {
        if let Some(joining) = self.joining_mut()
            && joining.state == State::Dialling
        {
            out.push(Output::Dial { to: joining.leader });
        }
    }

    pub(super) fn on_silent(&mut self, out: &mut Vec<Output>) {
        if matches!(self.role, Role::Following(_) | Role::Joining(_)) {
            self.look(Why::Silent, out);
        }
    }

    pub(super) fn on_message(
        &mut self,
        now: Now,
        link: LinkId,
        message: Message,
        out: &mut Vec<Output>,
    ) {
        match &mut self.role {
            Role::Following(follower) if follower.link == link => {
                self.wake_silent(self.ensemble.sync_limit.0, out);
                if let Err(why) = self.on_broadcast(now, message, out) {
                    self.look(why, out);
                }
            }
            Role::Joining(joining) if joining.link == Some(link) => {
                joining.inbox.push_back(message);
                self.work_off(now, out);
            }
            Role::Leading(_) => self.on_learner(now, link, message, out),
            // From a connection that was left.
            Role::Draining | Role::Following(_) | Role::Joining(_) | Role::Looking(_) => {}
        }
    }

    /// Takes what has come in, until the disk has to be waited for.
    fn work_off(&mut self, now: Now, out: &mut Vec<Output>) {
        while let Some(joining) = self.joining_mut()
            && !joining.is_busy()
            && let Some(message) = joining.inbox.pop_front()
        {
            if let Err(why) = self.on_sync(now, message, out) {
                return self.look(why, out);
            }
        }
        // What was left over when the last step made a follower of it.
        if let Some(joining) = self.joining_mut() {
            let ticks = match joining.state {
                State::Acknowledged => self.ensemble.sync_limit.0,
                State::Dialling
                | State::AwaitEpoch
                | State::WritingAccepted
                | State::AwaitWay
                | State::Receiving { .. }
                | State::Installing(_)
                | State::Truncating { .. }
                | State::Reloading { .. }
                | State::Streaming
                | State::Logging
                | State::WritingCurrent => self.ensemble.init_limit.0,
            };
            self.wake_silent(ticks, out);
        }
    }

    /// One message of the leader, on the way to having what it has.
    fn on_sync(&mut self, now: Now, message: Message, out: &mut Vec<Output>) -> Result<(), Why> {
        let (accepted, zxid_last, bugs) = (self.accepted, self.zxid_last, self.ensemble.bugs);
        let Role::Joining(joining) = &mut self.role else { return Ok(()) };
        let Some(link) = joining.link else { return Ok(()) };
        match (&mut joining.state, message) {
            (State::AwaitEpoch, Message::LeaderInfo { epoch, members }) => {
                if epoch < accepted {
                    return Err(Why::Epoch { promised: accepted, got: epoch });
                }
                joining.epoch = epoch;
                let (leader, observer) = (joining.leader, joining.observer);
                let news = self.learn_members(members, out);
                self.same_part(leader, leader, observer)?;
                let Role::Joining(joining) = &mut self.role else { return Ok(()) };
                if epoch == accepted && news {
                    joining.state = State::WritingAccepted;
                } else if epoch == accepted {
                    // Promised before, perhaps to another: it must not count twice.
                    self.say_what_it_has(None, out);
                } else {
                    joining.state = State::WritingAccepted;
                    self.journal.write_epoch(EpochKind::Accepted, epoch, out);
                }
            }
            (State::AwaitWay, Message::Diff { zxid }) => {
                joining.state = State::Streaming;
                joining.last = zxid_last;
                if bugs.on(Bug::Zk2355) {
                    self.zxid_last = zxid;
                }
            }
            (State::AwaitWay, Message::Trunc { zxid: to }) => {
                joining.state = State::Truncating { to };
                self.stale = Stale::Yes;
                self.journal.ask(Task::Truncate { to }, Persist::Truncate { to }, out);
            }
            (State::AwaitWay, Message::Snap { zxid }) => {
                joining.state = State::Receiving { zxid, bytes: Vec::new() };
            }
            (State::Receiving { zxid, bytes }, Message::SnapPart { bytes: part, last }) => {
                bytes.extend_from_slice(&part);
                if last {
                    let (zxid, bytes) = (*zxid, core::mem::take(bytes));
                    let extended_types = self.settings.extended_types;
                    let read = snapshot::decode(&bytes, extended_types, self.scatter.0);
                    let read = read.map_err(|_| Why::Snapshot)?;
                    joining.state = State::Installing(Arc::new(read));
                    self.stale = Stale::Yes;
                    let persist = Persist::Install { zxid, bytes: bytes.into() };
                    self.journal.ask(Task::Install { zxid }, persist, out);
                }
            }
            (State::Streaming | State::Acknowledged, Message::Proposal(txn)) => {
                joining.receive(txn)?;
            }
            (State::Streaming | State::Acknowledged, Message::Commit(zxid)) => {
                // What was logged at NEWLEADER was struck off the list of what is proposed.
                if bugs.on(Bug::Zk4394) && joining.txns.len() == joining.logged {
                    return Err(Why::CommitOutOfOrder { expected: None, got: zxid });
                }
                joining.commit(zxid)?;
            }
            (State::Streaming | State::Acknowledged, Message::Inform(txn)) => {
                let zxid = txn.stamp.zxid;
                joining.receive(txn)?;
                joining.commit(zxid)?;
            }
            (
                State::Streaming | State::Acknowledged,
                Message::CommitAndActivate { zxid, leader },
            ) => {
                let members = joining.proposed(zxid)?;
                joining.commit(zxid)?;
                joining.activate(members, leader)?;
            }
            (
                State::Streaming | State::Acknowledged,
                Message::InformAndActivate { txn, leader },
            ) => {
                let zxid = txn.stamp.zxid;
                joining.receive(txn)?;
                let members = joining.proposed(zxid)?;
                joining.commit(zxid)?;
                joining.activate(members, leader)?;
            }
            (State::Streaming, Message::NewLeader { epoch, members }) if epoch == joining.epoch => {
                joining.state = State::Logging;
                joining.know(members);
                if bugs.on(Bug::TruncSnapshotNotSynced) && joining.was_cut {
                    self.snapshot_committed(out);
                } else if !bugs.on(Bug::Zk3911) && !bugs.on(Bug::Zk4643) {
                    self.log_committed(out);
                }
                self.logged(now, out);
            }
            (State::Acknowledged, Message::UpToDate) => self.serve_as_learner(now, out)?,
            (State::Acknowledged, Message::Ping { .. }) => {
                let touched = Vec::new();
                out.push(Output::Send { link, message: Message::Pong { touched } });
            }
            (_, _) => return Err(Why::Misplaced),
        }
        Ok(())
    }

    /// What the leader has sent and committed goes to the log.
    fn log_committed(&mut self, out: &mut Vec<Output>) {
        let bugs = self.ensemble.bugs;
        let Self { role: Role::Joining(joining), journal, unapplied, .. } = self else { return };
        for txn in joining.take_committed() {
            journal.append(&txn, out);
            unapplied.push_back(txn);
        }
        // What is only proposed is logged as well.
        if bugs.on(Bug::Zk4394) || bugs.on(Bug::Zk4685) {
            joining.txns.iter().for_each(|txn| journal.append(txn, out));
            joining.logged = joining.txns.len();
        }
    }

    /// As ZooKeeper has it after TRUNC: what the leader has sent and committed is applied, and
    /// goes into a snapshot instead of the log.
    fn snapshot_committed(&mut self, out: &mut Vec<Output>) {
        let Self { role: Role::Joining(joining), tree, sessions, recent, .. } = self else {
            return;
        };
        for txn in joining.take_committed() {
            apply(&txn, tree, sessions.table_mut());
            recent.push(txn);
        }
        let zxid = recent.last();
        let bytes = snapshot::encode(zxid, tree, sessions.table()).into();
        self.zxid_last = zxid;
        self.overlay = Overlay::new(&self.tree, self.scatter.0);
        let persist = Persist::SnapshotUnsynced { zxid, bytes };
        self.journal.ask(Task::SnapshotUnsynced { zxid }, persist, out);
    }

    /// The promise is on disk: now the leader may hear of it.
    pub(super) fn promised(&mut self, now: Now, out: &mut Vec<Output>) {
        self.say_what_it_has(Some(self.current), out);
        self.work_off(now, out);
    }

    fn say_what_it_has(&mut self, current: Option<Epoch>, out: &mut Vec<Output>) {
        // Whoever has lost its disk has lost its promises, too: it cannot tell whether it gave
        // this one before.
        let current = current.filter(|_| !self.data_missing);
        let zxid = if self.data_missing { Zxid::NONE } else { self.zxid_last };
        let snapshot = self.needs_snapshot;
        assert!(self.journal.is_idle(), "it speaks of what is on disk");
        let Role::Joining(joining) = &mut self.role else { return };
        joining.state = State::AwaitWay;
        let Some(link) = joining.link else { return };
        let message = Message::AckEpoch { current, zxid, snapshot };
        out.push(Output::Send { link, message });
    }

    /// Who is in the ensemble is on disk: whoever had promised itself before can go on.
    pub(super) fn members_written(&mut self, now: Now, out: &mut Vec<Output>) {
        let accepted = self.accepted;
        if let Some(joining) = self.joining_mut()
            && joining.state == State::WritingAccepted
            && joining.epoch == accepted
            && self.journal.is_idle()
        {
            self.say_what_it_has(None, out);
            self.work_off(now, out);
        }
    }

    /// The log has been cut: what is left is read again.
    pub(super) fn truncated(&mut self, out: &mut Vec<Output>) {
        let Some(joining) = self.joining_mut() else { return };
        let State::Truncating { to } = joining.state else { return };
        joining.state = State::Reloading { to };
        self.stale = Stale::Reading;
        out.push(Output::Reload);
    }

    /// The log cannot be cut there: this server does not hold that transaction, or has no
    /// snapshot without the later ones.
    pub(super) fn truncate_refused(&mut self, to: Zxid, out: &mut Vec<Output>) {
        self.needs_snapshot = true;
        self.stale = Stale::No;
        out.push(Output::Note(Note::Reached(Branch::TruncRefused)));
        if self.joining_mut().is_some() {
            self.look(Why::Truncate { to }, out);
        }
    }

    pub(super) fn reloaded(&mut self, now: Now, out: &mut Vec<Output>) {
        let (zxid_last, bugs) = (self.zxid_last, self.ensemble.bugs);
        let Some(joining) = self.joining_mut() else { return };
        let State::Reloading { to } = joining.state else { panic!("nothing was to be read") };
        assert!(zxid_last == to || bugs.on(Bug::Zk1156), "the log was cut at {to}");
        joining.last = zxid_last;
        joining.was_cut = true;
        joining.state = State::Streaming;
        self.work_off(now, out);
    }

    /// The leader's snapshot is on disk, and nothing else: memory follows.
    pub(super) fn installed(&mut self, now: Now, zxid: Zxid, out: &mut Vec<Output>) {
        let Some(joining) = self.joining_mut() else { return };
        let State::Installing(read) = core::mem::replace(&mut joining.state, State::Streaming)
        else {
            panic!("nothing was to be installed");
        };
        joining.last = zxid;
        self.tree = read.tree.clone();
        self.sessions.restore(read.sessions.clone());
        self.recall_members();
        self.overlay = Overlay::new(&self.tree, self.scatter.0);
        self.zxid_last = zxid;
        self.recent = Recent::after(zxid, self.ensemble.recent);
        self.journal.reset(zxid);
        self.unapplied.clear();
        self.stale = Stale::No;
        self.needs_snapshot = false;
        self.data_missing = false;
        self.work_off(now, out);
    }

    /// The disk has moved on: if it has everything, the epoch is next.
    pub(super) fn logged(&mut self, now: Now, out: &mut Vec<Output>) {
        let Self { role: Role::Joining(joining), ensemble, joint, me, .. } = self else { return };
        if joining.state != State::Logging || !self.journal.is_idle() {
            return;
        }
        // The log answers for itself, and does not wait for whoever answers NEWLEADER.
        if ensemble.bugs.on(Bug::Zk4685)
            && joint.has_voter(*me)
            && let Some(link) = joining.link
        {
            let only_proposed = joining.txns.iter().take(joining.logged);
            for txn in self.unapplied.iter().chain(only_proposed) {
                out.push(Output::Send { link, message: Message::Ack(txn.stamp.zxid) });
            }
        }
        // It says that it has applied what it has only logged.
        if ensemble.bugs.on(Bug::Zk3023) {
            self.zxid_last = self.journal.durable();
        } else {
            self.catch_up(out);
        }
        self.note_epoch(now, out);
    }

    /// It has what the epoch begins with.
    pub(super) fn note_epoch(&mut self, now: Now, out: &mut Vec<Output>) {
        let current = self.current;
        let Some(joining) = self.joining_mut() else { return };
        joining.state = State::WritingCurrent;
        let epoch = joining.epoch;
        if epoch > current {
            self.journal.write_epoch(EpochKind::Current, epoch, out);
        } else {
            // It has been here before, and lost its connection.
            self.current_written(now, out);
        }
    }

    /// History and epoch are on disk: now the leader may count on it.
    pub(super) fn current_written(&mut self, now: Now, out: &mut Vec<Output>) {
        let bugs = self.ensemble.bugs;
        let Some(joining) = self.joining_mut() else { return };
        assert_eq!(joining.state, State::WritingCurrent, "one after the other");
        // The epoch came first; now its history.
        if bugs.on(Bug::Zk4643) && joining.committed > 0 {
            joining.state = State::Logging;
            self.log_committed(out);
            return;
        }
        joining.state = State::Acknowledged;
        let zxid = Zxid::first_of(joining.epoch);
        let Some(link) = joining.link else { return };
        out.push(Output::Send { link, message: Message::Ack(zxid) });
        self.work_off(now, out);
    }

    /// The leader serves: so does this server.
    fn serve_as_learner(&mut self, now: Now, out: &mut Vec<Output>) -> Result<(), Why> {
        let placeholder = core::mem::replace(&mut self.role, Role::Draining);
        let Role::Joining(joining) = placeholder else { panic!("only a joining server does") };
        let Joining { leader, link, epoch, inbox, mut txns, committed, logged, .. } = *joining;
        let (members, observer) = (joining.members, joining.observer);
        let link = link.expect("the leader was heard from");
        let mut follower = Follower::new(leader, link, observer);
        let commits: Vec<Zxid> = txns.iter().take(committed).map(|txn| txn.stamp.zxid).collect();
        txns.drain(..logged).for_each(|txn| follower.adopt(txn));
        let mut proposed: Vec<Arc<Txn>> = Vec::new();
        for txn in txns {
            follower.propose(Arc::clone(&txn), &mut self.journal, out)?;
            proposed.push(txn);
        }
        self.role = Role::Following(follower);
        proposed.iter().for_each(|txn| self.foresee(txn));
        self.adopt(members, out);
        self.same_part(leader, leader, observer)?;
        self.show_members();
        self.sessions.forget_all();
        self.data_missing = false;
        self.vote_for_epoch();
        out.push(Output::Note(Note::Serving(epoch)));
        out.push(Output::Send { link, message: Message::Ack(Zxid::first_of(epoch)) });
        // Whatever was logged before it was taken up here.
        if let Role::Following(follower) = &mut self.role {
            follower.acknowledge(self.journal.durable(), out);
        }
        self.wake_silent(self.ensemble.sync_limit.0, out);
        for zxid in commits {
            let Role::Following(follower) = &mut self.role else { return Ok(()) };
            let txn = follower.commit(zxid)?;
            self.commit(now, txn, out);
        }
        for message in inbox {
            self.on_broadcast(now, message, out)?;
        }
        Ok(())
    }

    /// What this server has said it had applied, it does now.
    fn apply_late(&mut self, now: Now, out: &mut Vec<Output>) {
        self.zxid_last = self.recent.last();
        while let Some(txn) = self.unapplied.pop_front() {
            self.commit(now, txn, out);
        }
    }

    /// One message of the leader, in broadcast.
    fn on_broadcast(
        &mut self,
        now: Now,
        message: Message,
        out: &mut Vec<Output>,
    ) -> Result<(), Why> {
        if self.ensemble.bugs.on(Bug::Zk3023) {
            self.apply_late(now, out);
        }
        let Self { role: Role::Following(follower), journal, sessions, .. } = self else {
            return Ok(());
        };
        match message {
            Message::Proposal(txn) => {
                let changes = txn.is_reconfig().then(|| Arc::clone(&txn));
                follower.propose(txn, journal, out)?;
                if let Some(txn) = changes {
                    self.foresee(&txn);
                }
            }
            Message::Commit(zxid) => {
                let txn = follower.commit(zxid)?;
                self.commit(now, txn, out);
            }
            Message::Inform(txn) => {
                let zxid = txn.stamp.zxid;
                follower.propose(txn, journal, out)?;
                let txn = follower.commit(zxid)?;
                self.commit(now, txn, out);
            }
            Message::CommitAndActivate { zxid, leader } => {
                let txn = follower.commit(zxid)?;
                self.change_learned(now, txn, leader, out)?;
            }
            Message::InformAndActivate { txn, leader } => {
                let zxid = txn.stamp.zxid;
                follower.propose(txn, journal, out)?;
                let txn = follower.commit(zxid)?;
                self.change_learned(now, txn, leader, out)?;
            }
            Message::Ping { .. } => {
                let touched = sessions.take_touched();
                let message = Message::Pong { touched };
                out.push(Output::Send { link: follower.link, message });
            }
            Message::Moved { session } => self.on_moved(session, out),
            Message::Revalidated { session, valid, zxid } => {
                self.on_revalidated(now, session, valid.then_some(zxid), out);
            }
            Message::Synced => self.on_leader_synced(out),
            Message::Ack(_)
            | Message::AckEpoch { .. }
            | Message::Diff { .. }
            | Message::LeaderInfo { .. }
            | Message::LearnerInfo { .. }
            | Message::NewLeader { .. }
            | Message::Pong { .. }
            | Message::Request(_)
            | Message::Revalidate { .. }
            | Message::Snap { .. }
            | Message::SnapPart { .. }
            | Message::Trunc { .. }
            | Message::UpToDate => return Err(Why::Misplaced),
        }
        Ok(())
    }
}
