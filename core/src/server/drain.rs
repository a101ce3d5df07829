//! Leaving a role, the disk's answers, and what the disk has.
//!
//! ```text
//!   look ---> Draining ---- the disk is done ----> memory is as the disk ----> Looking
//!                                |                        ^
//!                                +--- Reload, Reloaded ---+   if memory cannot be relied on
//! ```
//!
//! A vote must speak of what is on disk. So whatever is on its way there is waited for first, and
//! what is logged and not committed becomes part of the tree: after a crash it would as well.

use alloc::vec::Vec;

use super::{Role, Server, Stale};
use crate::bugs::Bug;
use crate::config::LocalSessions;
use crate::ids::{Epoch, Now, Token};
use crate::io::{Output, Timer};
use crate::note::{Note, Why};
use crate::pipeline::Overlay;
use crate::storage::log::follows;
use crate::storage::recover::apply;
use crate::storage::{EpochKind, Saved};
use crate::zab::journal::{Finished, Task};
use crate::zab::leading::Phase;
use crate::zab::recent::Recent;

impl Server {
    /// Leaves whatever it was doing, and looks for a leader again.
    pub(super) fn look(&mut self, why: Why, out: &mut Vec<Output>) {
        out.push(Output::Note(Note::Left(why)));
        self.dismiss_clients(out);
        self.vote = None;
        self.heir = if let Why::Changed { leader } = why { Some(leader) } else { None };
        match core::mem::replace(&mut self.role, Role::Draining) {
            Role::Following(follower) => {
                out.push(Output::HangUp { link: follower.link });
                out.push(Output::Disarm { timer: Timer::Silent });
                if self.ensemble.local_sessions != LocalSessions::Off {
                    out.push(Output::Disarm { timer: Timer::Sessions });
                }
                self.unapplied.extend(follower.into_pending());
            }
            Role::Joining(joining) => {
                if let Some(link) = joining.link {
                    out.push(Output::HangUp { link });
                }
                out.push(Output::Disarm { timer: Timer::Silent });
                out.push(Output::Disarm { timer: Timer::Redial });
                self.unapplied.extend(joining.txns.into_iter().take(joining.logged));
            }
            Role::Leading(leading) => {
                for learner in leading.learners.iter() {
                    out.push(Output::HangUp { link: learner.link });
                }
                for timer in [Timer::Containers, Timer::Establish, Timer::HalfTick, Timer::Sessions]
                {
                    out.push(Output::Disarm { timer });
                }
                if let Phase::Broadcast(leader) = leading.phase {
                    self.unapplied.extend(leader.into_proposals());
                }
            }
            Role::Draining | Role::Looking(_) => {
                panic!("there is nothing to leave");
            }
        }
        self.drain(out);
    }

    pub(super) fn dismiss_clients(&mut self, out: &mut Vec<Output>) {
        let conns: Vec<_> = self.conns.sorted().into_iter().map(|(conn, _)| *conn).collect();
        for conn in conns {
            self.close(conn, out);
        }
        self.asked.clear();
        self.sessions.forget_all();
        // What is applied from here on may have to be taken back, and must not be written down.
        self.snapshot = None;
    }

    /// Goes on to look for a leader once the disk is done and memory is as the disk.
    pub(super) fn drain(&mut self, out: &mut Vec<Output>) {
        if self.role != Role::Draining || !self.journal.is_idle() {
            return;
        }
        match self.stale {
            Stale::Yes => {
                self.stale = Stale::Reading;
                out.push(Output::Reload);
            }
            Stale::Reading => {}
            Stale::No => {
                // Memory is kept as it is, and nobody looks at how far the log goes.
                if self.ensemble.bugs.on(Bug::Zk2845) {
                    self.unapplied.clear();
                    self.journal.reset(self.zxid_last);
                }
                self.catch_up(out);
                match self.heir.take().filter(|heir| *heir != self.me || self.ballot().is_some()) {
                    Some(heir) => self.inherit(heir, out),
                    None => self.elect(out),
                }
            }
        }
    }

    /// Applies what is in the log and was not applied. Nobody watches, and nobody waits.
    pub(super) fn catch_up(&mut self, out: &mut Vec<Output>) {
        let bugs = self.ensemble.bugs;
        while let Some(txn) = self.unapplied.pop_front() {
            apply(&txn, &mut self.tree, self.sessions.table_mut());
            self.zxid_last = txn.stamp.zxid;
            // There may be a hole before it, of which nobody knows.
            if bugs.on(Bug::Zk2355) && !follows(self.recent.last(), self.zxid_last) {
                self.recent = Recent::after(self.zxid_last, self.ensemble.recent);
                continue;
            }
            self.recent.push(txn);
        }
        self.recall_members();
        self.overlay = Overlay::new(&self.tree, self.scatter.0);
        let (zxid, digest) = (self.zxid_last, self.tree.digest());
        out.push(Output::Note(Note::CaughtUp { zxid, digest }));
    }

    /// Becomes what the disk has.
    pub(super) fn restore(&mut self, saved: Saved) {
        let Saved {
            tree,
            sessions,
            zxid_last,
            zxid_snapshot,
            log,
            accepted_epoch,
            current_epoch,
            members,
            is_blank: _,
        } = saved;
        assert!(current_epoch <= accepted_epoch, "what it has, it has promised");
        self.overlay = Overlay::new(&tree, self.scatter.0);
        self.tree = tree;
        self.sessions.restore(sessions);
        self.zxid_last = zxid_last;
        self.recent = Recent::after(zxid_snapshot, self.ensemble.recent);
        self.recent.extend(log);
        assert_eq!(self.recent.last(), zxid_last, "the log leads to the end");
        self.unapplied.clear();
        self.journal.reset(zxid_last);
        self.accepted = accepted_epoch;
        self.current = current_epoch;
        if let Some(members) = members {
            self.members = members;
        }
        self.recall_members();
        self.stale = Stale::No;
    }

    pub(super) fn on_reloaded(&mut self, now: Now, saved: Saved, out: &mut Vec<Output>) {
        if self.stale != Stale::Reading {
            return;
        }
        self.restore(saved);
        match self.role {
            Role::Joining(_) => self.reloaded(now, out),
            Role::Draining => self.drain(out),
            Role::Following(_) | Role::Leading(_) | Role::Looking(_) => {
                panic!("nobody else reads the disk");
            }
        }
    }

    pub(super) fn on_persisted(&mut self, now: Now, token: Token, out: &mut Vec<Output>) {
        let Some(finished) = self.journal.persisted(token, out) else { return };
        match finished {
            Finished::Synced(zxid) => match &mut self.role {
                Role::Following(follower) => follower.acknowledge(zxid, out),
                Role::Leading(leading) => {
                    let me = self.me;
                    if leading.leader_mut().is_some_and(|leader| leader.acknowledged(me, zxid)) {
                        self.commit_ready(now, out);
                    }
                }
                Role::Joining(_) => self.logged(now, out),
                Role::Draining | Role::Looking(_) => {}
            },
            Finished::Task(Task::Epoch { kind, epoch }) => self.on_epoch(now, kind, epoch, out),
            Finished::Task(Task::Install { zxid }) => self.installed(now, zxid, out),
            Finished::Task(Task::Members) => self.members_written(now, out),
            Finished::Task(Task::Purge) => {}
            Finished::Task(Task::Snapshot { whole }) => self.snapshot_on(whole, out),
            Finished::Task(Task::SnapshotUnsynced { zxid }) => {
                self.journal.reset(zxid);
                self.note_epoch(now, out);
            }
            Finished::Task(Task::Truncate { to: _ }) => self.truncated(out),
        }
        self.drain(out);
    }

    fn on_epoch(&mut self, now: Now, kind: EpochKind, epoch: Epoch, out: &mut Vec<Output>) {
        match kind {
            EpochKind::Accepted => {
                assert!(epoch > self.accepted, "a promise is not taken back");
                self.accepted = epoch;
                match self.role {
                    Role::Joining(_) => self.promised(now, out),
                    Role::Leading(_) => self.epoch_fixed(out),
                    Role::Draining | Role::Following(_) | Role::Looking(_) => {}
                }
            }
            EpochKind::Current => {
                let again = self.ensemble.bugs.on(Bug::Zk335);
                assert!(epoch > self.current || again, "an epoch begins once");
                self.current = epoch;
                match self.role {
                    Role::Joining(_) => self.current_written(now, out),
                    Role::Leading(_) => self.own_epoch_written(now, out),
                    Role::Draining | Role::Following(_) | Role::Looking(_) => {}
                }
            }
        }
    }

    /// A write failed. Going on in memory would be a lie; but a log that cannot be cut is only
    /// an answer.
    pub(super) fn on_persist_failed(&mut self, token: Token, out: &mut Vec<Output>) {
        if let Some(Task::Truncate { to }) = self.journal.failed(token) {
            self.truncate_refused(to, out);
            self.drain(out);
            return;
        }
        self.halted = true;
        out.push(Output::Halt { token });
    }
}
