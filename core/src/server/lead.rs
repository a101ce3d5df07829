//! Leading: gathering promises, bringing learners up to date, being there for them.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{Role, Server};
use crate::bugs::Bug;
use crate::election::Stance;
use crate::ids::{Epoch, LinkId, Now, ServerId, Zxid};
use crate::io::{Output, Timer};
use crate::members::Part;
use crate::note::{Branch, Note, Why};
use crate::pipeline::Overlay;
use crate::storage::{EpochKind, snapshot};
use crate::zab::Message;
use crate::zab::discovery::Discovery;
use crate::zab::leader::Leader;
use crate::zab::leading::{Establishing, Leading, Phase};
use crate::zab::learner::Stage;
use crate::zab::stream::Way;

impl Server {
    /// Elected: gathers promises.
    pub(super) fn lead(&mut self, out: &mut Vec<Output>) {
        let discovery = Discovery::new(self.me, self.accepted, self.current, self.zxid_last);
        self.role = Role::Leading(Box::new(Leading::in_phase(Phase::Discovery(discovery))));
        self.wake_establish(out);
        self.wake_half_tick(out);
        self.fix_epoch(out);
    }

    fn wake_establish(&self, out: &mut Vec<Output>) {
        let ms = self.settings.tick_ms.saturating_mul(self.ensemble.init_limit.0);
        out.push(Output::Wake { timer: Timer::Establish, ms });
    }

    fn wake_half_tick(&self, out: &mut Vec<Output>) {
        let ms = (self.settings.tick_ms / 2).max(1);
        out.push(Output::Wake { timer: Timer::HalfTick, ms });
    }

    pub(super) fn on_establish(&mut self, out: &mut Vec<Output>) {
        if self.leading_mut().is_some_and(|leading| leading.leader().is_none()) {
            self.look(Why::NoQuorum, out);
        }
    }

    /// A server that takes this one for its leader has connected.
    pub(super) fn add_learner(&mut self, link: LinkId, peer: ServerId, out: &mut Vec<Output>) {
        let patience = u64::from(self.ensemble.init_limit.0 + self.ensemble.sync_limit.0);
        // Whoever is told "I lead" and not meant to be led is sent away.
        let known = self.settings.reconfig || self.members.get(peer).is_some();
        match self.leading_mut() {
            Some(leading) if known => {
                let deadline = leading.tick() + patience;
                // What it still says on an earlier connection speaks of a log that it may be
                // about to cut.
                if let Some(earlier) = leading.learners.remove_server(peer) {
                    out.push(Output::HangUp { link: earlier.link });
                    out.push(Output::Note(Note::Reached(Branch::LinkReplaced)));
                }
                leading.learners.add(link, peer, deadline);
            }
            Some(_) | None => out.push(Output::HangUp { link }),
        }
    }

    fn drop_learner(&mut self, link: LinkId, out: &mut Vec<Output>) {
        if let Some(leading) = self.leading_mut()
            && leading.learners.remove(link).is_some()
        {
            out.push(Output::HangUp { link });
        }
    }

    /// A learner says something.
    pub(super) fn on_learner(
        &mut self,
        now: Now,
        link: LinkId,
        message: Message,
        out: &mut Vec<Output>,
    ) {
        let patience = u64::from(self.ensemble.sync_limit.0);
        let Some(leading) = self.leading_mut() else { return };
        let tick = leading.tick();
        let Some(learner) = leading.learners.get_mut(link) else { return };
        if learner.stage >= Stage::Synced {
            learner.deadline = tick + patience;
        }
        let (stage, server) = (learner.stage, learner.server);
        match (stage, message) {
            (Stage::Silent, Message::LearnerInfo { observer, accepted, members }) => {
                if self.learn_members(members, out) {
                    let version = self.members.version();
                    return self.look(Why::Members { version }, out);
                }
                self.on_info(link, observer, accepted, out);
            }
            (Stage::Promising, Message::AckEpoch { current, zxid, snapshot }) => {
                self.on_promise(link, current, zxid, snapshot, out);
            }
            (Stage::Syncing, Message::Ack(zxid)) if zxid.counter() == 0 => {
                self.on_synced(now, link, zxid, out);
            }
            // It says once more that it has what the epoch begins with.
            (Stage::UpToDate, Message::Ack(zxid)) if zxid.counter() == 0 => {}
            (Stage::UpToDate, Message::Ack(zxid)) => self.on_ack(now, link, server, zxid, out),
            (Stage::Synced | Stage::UpToDate, Message::Pong { touched }) => {
                for (session, _) in touched {
                    self.sessions.touch(now, session);
                }
            }
            (Stage::UpToDate, Message::Request(forwarded)) => {
                self.on_forwarded(now, link, *forwarded, out);
            }
            (Stage::UpToDate, Message::Revalidate { session, timeout_ms }) => {
                self.on_revalidate(now, link, session, timeout_ms, out);
            }
            (_, _) => self.drop_learner(link, out),
        }
    }

    fn on_info(&mut self, link: LinkId, observer: bool, accepted: Epoch, out: &mut Vec<Output>) {
        let Self { role: Role::Leading(leading), joint, members, .. } = self else { return };
        let Leading { learners, phase, .. } = &mut **leading;
        let Some(learner) = learners.get_mut(link) else { return };
        let spec = members.get(learner.server);
        learner.observer = spec.map_or(observer, |spec| spec.part == Part::Observer);
        learner.stage = Stage::Informed;
        if let Phase::Discovery(discovery) = phase {
            discovery.present(learner.server, accepted, joint);
        }
        if let Some(epoch) = leading.epoch() {
            if accepted > epoch {
                // It has promised itself to a later epoch, which did not begin, and can never
                // join this one. Java leaves it out until somebody else leads.
                return self.look(Why::Epoch { promised: accepted, got: epoch }, out);
            }
            self.tell_epoch(epoch, out);
        }
        self.fix_epoch(out);
    }

    /// Writes down the new epoch once a quorum has presented itself.
    fn fix_epoch(&mut self, out: &mut Vec<Output>) {
        let Self { role: Role::Leading(leading), joint, journal, .. } = self else { return };
        if let Phase::Discovery(discovery) = &mut leading.phase
            && let Some(epoch) = discovery.fix(joint)
        {
            journal.write_epoch(EpochKind::Accepted, epoch, out);
        }
    }

    /// The new epoch is safe: now it may be told.
    pub(super) fn epoch_fixed(&mut self, out: &mut Vec<Output>) {
        let epoch = self.accepted;
        if let Some(Leading { phase: Phase::Discovery(discovery), .. }) = self.leading_mut() {
            discovery.fixed();
            self.wake_establish(out);
            self.tell_epoch(epoch, out);
            self.discovered_if_enough(out);
        }
    }

    fn tell_epoch(&mut self, epoch: Epoch, out: &mut Vec<Output>) {
        let members = self.told_members();
        let Some(leading) = self.leading_mut() else { return };
        for learner in leading.learners.iter_mut() {
            if learner.stage == Stage::Informed {
                learner.stage = Stage::Promising;
                let message = Message::LeaderInfo { epoch, members: members.clone() };
                out.push(Output::Send { link: learner.link, message });
            }
        }
    }

    fn on_promise(
        &mut self,
        link: LinkId,
        current: Option<Epoch>,
        zxid: Zxid,
        snapshot: bool,
        out: &mut Vec<Output>,
    ) {
        let Self { role: Role::Leading(leading), joint, .. } = self else { return };
        let Leading { learners, phase, .. } = &mut **leading;
        let Some(learner) = learners.get_mut(link) else { return };
        if current.is_none() {
            out.push(Output::Note(Note::Reached(Branch::EpochUncounted)));
        }
        learner.stage = Stage::Promised { zxid, snapshot };
        match phase {
            Phase::Discovery(discovery) => {
                let server = learner.server;
                // Whoever has more must lead instead; waiting would only take longer.
                if discovery.promised(server, current, zxid, joint).is_err() {
                    return self.look(Why::Behind, out);
                }
                self.discovered_if_enough(out);
            }
            Phase::Establishing(_) | Phase::Broadcast(_) => self.bring_up_to_date(link, out),
        }
    }

    /// Enough have promised: what this server has is what the epoch begins with.
    fn discovered_if_enough(&mut self, out: &mut Vec<Output>) {
        let Self { role: Role::Leading(leading), joint, journal, zxid_last, .. } = self else {
            return;
        };
        let Leading { learners, phase, .. } = &mut **leading;
        let Phase::Discovery(discovery) = phase else { return };
        let Some(epoch) = discovery.epoch() else { return };
        if !discovery.is_done(joint) {
            return;
        }
        out.push(Output::Note(Note::Discovered { epoch, zxid: *zxid_last }));
        *phase = Phase::Establishing(Establishing { epoch, have: BTreeSet::new() });
        let waiting: Vec<LinkId> = learners
            .iter()
            .filter(|learner| matches!(learner.stage, Stage::Promised { .. }))
            .map(|learner| learner.link)
            .collect();
        journal.write_epoch(EpochKind::Current, epoch, out);
        self.wake_establish(out);
        for link in waiting {
            self.bring_up_to_date(link, out);
        }
    }

    /// Sends a learner what it lacks, and from then on every proposal.
    fn bring_up_to_date(&mut self, link: LinkId, out: &mut Vec<Output>) {
        let Role::Leading(leading) = &self.role else { return };
        let members = match leading.epoch() {
            Some(epoch) if leading.leader().is_none() => self.members_of_epoch(epoch),
            Some(_) | None => self.told_members(),
        };
        let Self { role: Role::Leading(leading), recent, zxid_last, ensemble, .. } = self else {
            return;
        };
        let bugs = ensemble.bugs;
        let tick = leading.tick();
        let Some(epoch) = leading.epoch() else { return };
        let Leading { learners, phase, .. } = &mut **leading;
        let Some(learner) = learners.get_mut(link) else { return };
        let Stage::Promised { zxid: theirs, snapshot } = learner.stage else { return };
        let way = Way::choose(theirs, snapshot, recent, bugs);
        let mut send = |message| out.push(Output::Send { link, message });
        let from = match way {
            Way::Diff { from } => {
                send(Message::Diff { zxid: recent.last() });
                from
            }
            Way::Trunc { to } => {
                send(Message::Trunc { zxid: to });
                to
            }
            Way::Snap => {
                send(Message::Snap { zxid: *zxid_last });
                let bytes = snapshot::encode(*zxid_last, &self.tree, self.sessions.table());
                let size = self.ensemble.snap_part_bytes.get() as usize;
                let parts = bytes.chunks(size).count();
                for (place, part) in bytes.chunks(size).enumerate() {
                    let last = place + 1 == parts;
                    send(Message::SnapPart { bytes: part.into(), last });
                }
                *zxid_last
            }
        };
        let mut more = false;
        for txn in recent.since(from).1 {
            send(Message::Proposal(Arc::clone(txn)));
            send(Message::Commit(txn.stamp.zxid));
            more = true;
        }
        let mut taken_back = false;
        let mut outstanding = false;
        if let Phase::Broadcast(leader) = phase {
            // It may be cutting off what it acknowledged on an earlier connection.
            if !bugs.on(Bug::AckSurvivesTrunc) {
                taken_back = leader.take_back(learner.server, recent.last());
            }
            if !learner.observer && !bugs.on(Bug::Zk962) {
                for txn in leader.proposals() {
                    learner.owes.get_or_insert((txn.stamp.zxid, tick));
                    send(Message::Proposal(Arc::clone(txn)));
                    outstanding = true;
                }
            }
        }
        send(Message::NewLeader { epoch, members });
        learner.stage = Stage::Syncing;
        let mut reached = |branch| out.push(Output::Note(Note::Reached(branch)));
        reached(way.branch(more || outstanding));
        if taken_back {
            reached(Branch::AcksTakenBack);
        }
        if outstanding {
            reached(Branch::OutstandingSent);
        }
    }

    /// A learner has what the epoch begins with, on disk.
    fn on_synced(&mut self, now: Now, link: LinkId, zxid: Zxid, out: &mut Vec<Output>) {
        let patience = u64::from(self.ensemble.sync_limit.0);
        let Some(leading) = self.leading_mut() else { return };
        if leading.epoch().map(Zxid::first_of) != Some(zxid) {
            return self.drop_learner(link, out);
        }
        let deadline = leading.tick() + patience;
        let Some(learner) = leading.learners.get_mut(link) else { return };
        learner.deadline = deadline;
        learner.stage = Stage::Synced;
        let server = learner.server;
        match &mut leading.phase {
            Phase::Establishing(establishing) => {
                establishing.have.insert(server);
                self.established_if_enough(now, out);
            }
            Phase::Broadcast(_) => {
                learner.stage = Stage::UpToDate;
                out.push(Output::Note(Note::Reached(Branch::LateJoiner)));
                out.push(Output::Send { link, message: Message::UpToDate });
            }
            Phase::Discovery(_) => {}
        }
    }

    /// The own disk has the epoch, and has had the history: this server counts, too.
    pub(super) fn own_epoch_written(&mut self, now: Now, out: &mut Vec<Output>) {
        let me = self.me;
        if let Some(Leading { phase: Phase::Establishing(establishing), .. }) = self.leading_mut() {
            establishing.have.insert(me);
            self.established_if_enough(now, out);
        }
    }

    /// Enough have what the epoch begins with: from now on it cannot be lost, and is served.
    fn established_if_enough(&mut self, now: Now, out: &mut Vec<Output>) {
        let Self { role: Role::Leading(leading), joint, me, .. } = self else { return };
        let Phase::Establishing(establishing) = &leading.phase else { return };
        if !establishing.is_done(*me, joint) {
            return;
        }
        let epoch = establishing.epoch;
        out.push(Output::Note(Note::Established(epoch)));
        out.push(Output::Disarm { timer: Timer::Establish });
        if self.next.is_some() {
            out.push(Output::Note(Note::Reached(Branch::MembersPending)));
        }
        let members = self.members_of_epoch(epoch);
        self.adopt(members, out);
        self.show_members();
        let Self { role: Role::Leading(leading), joint, .. } = self else { return };
        let leader = Leader::after(Zxid::first_of(epoch), &joint.now);
        leading.phase = Phase::Broadcast(leader);
        for learner in leading.learners.iter_mut() {
            if learner.stage == Stage::Synced {
                learner.stage = Stage::UpToDate;
                out.push(Output::Send { link: learner.link, message: Message::UpToDate });
            }
        }
        self.overlay = Overlay::new(&self.tree, self.scatter.0);
        self.data_missing = false;
        self.vote_for_epoch();
        assert!(
            self.vote.is_some_and(|vote| vote.stance == Stance::Leading),
            "whoever leads was elected"
        );
        self.sessions.watch_over_all(now, out);
        self.arm_containers(out);
        // The change that the epoch began with has left it out.
        if !self.joint.has_voter(self.me) {
            out.push(Output::Note(Note::Reached(Branch::HandedOver)));
            self.look(Why::Members { version: self.members.version() }, out);
        }
    }

    fn on_ack(
        &mut self,
        now: Now,
        link: LinkId,
        server: ServerId,
        zxid: Zxid,
        out: &mut Vec<Output>,
    ) {
        let Some(leading) = self.leading_mut() else { return };
        let tick = leading.tick();
        let Leading { learners, phase: Phase::Broadcast(leader), .. } = leading else { return };
        let Some(learner) = learners.get_mut(link) else { return };
        if zxid > leader.proposed() {
            return self.drop_learner(link, out);
        }
        if learner.owes.is_some_and(|(owed, _)| owed <= zxid) {
            let more = leader.proposed() > zxid;
            learner.owes = more.then_some((leader.proposed(), tick));
        }
        if leader.acknowledged(server, zxid) {
            self.commit_ready(now, out);
        }
    }

    /// Half a tick is over: whoever was silent for too long is left, and so is a minority.
    pub(super) fn on_half_tick(&mut self, out: &mut Vec<Output>) {
        let Self { role: Role::Leading(leading), ensemble, joint, me, .. } = self else { return };
        leading.half_ticks += 1;
        let tick = leading.tick();
        let patience = u64::from(ensemble.sync_limit.0);
        if leading.half_ticks.is_multiple_of(2) {
            let lost: Vec<LinkId> = leading
                .learners
                .iter()
                .filter(|learner| {
                    let owes = learner.stage == Stage::UpToDate
                        && learner.owes.is_some_and(|(_, since)| tick > since + patience);
                    tick > learner.deadline || owes
                })
                .map(|learner| learner.link)
                .collect();
            for link in lost {
                leading.learners.remove(link);
                out.push(Output::HangUp { link });
            }
            let there = |server| {
                server == *me
                    || leading
                        .learners
                        .iter()
                        .any(|learner| learner.server == server && learner.stage >= Stage::Syncing)
            };
            if leading.leader().is_some() && !joint.is_enough_if(there) {
                return self.look(Why::NoQuorum, out);
            }
        }
        let zxid = leading.leader().map_or(Zxid::NONE, Leader::proposed);
        for learner in leading.learners.iter() {
            // Also to those who wait for others: their patience is shorter than ours.
            if learner.stage >= Stage::Synced {
                out.push(Output::Send { link: learner.link, message: Message::Ping { zxid } });
            }
        }
        self.wake_half_tick(out);
    }
}
