//! Every promise is seen broken: a story that keeps them all, and for each a way to leave it.

mod clients;

use std::collections::BTreeSet;
use std::sync::Arc;

use zoolab_core::election::Ballot;
use zoolab_core::members::Members;
use zoolab_core::quorum::Quorum;
use zoolab_core::request::Stamp;
use zoolab_core::storage::{EpochKind, Saved};
use zoolab_core::txn::{Change, NodeChange};
use zoolab_core::zab::Message;
use zoolab_core::{
    Code, Ensemble, Epoch, Millis, Note, ServerId, SessionId, Settings, Txn, Why, Xid, Zxid,
};
use zoolab_sim::checker::{Checkers, Promise, Violation};
use zoolab_sim::seen::{Said, Seen};

const ONE: ServerId = ServerId(1);
const TWO: ServerId = ServerId(2);
const THREE: ServerId = ServerId(3);

fn zxid(epoch: i64, counter: i64) -> Zxid {
    Zxid(epoch << 32 | counter)
}

fn txn(zxid: Zxid) -> Arc<Txn> {
    let stamp = Stamp { zxid, time: Millis(0) };
    let change = Change::Error(Code::NoNode);
    Arc::new(Txn { stamp, session: SessionId(1), cxid: Xid(1), change, digest: None })
}

/// With this transaction these are to be the voters.
fn change(zxid: Zxid, voters: &[ServerId]) -> Arc<Txn> {
    let data = Some(members(zxid, voters).to_string().into_bytes().into());
    let path = "/zookeeper/config".into();
    let change = NodeChange::SetData { path, data, version: -1, reconfig: true };
    let txn = txn(zxid);
    let (session, change) = (SessionId::NONE, Change::Node(change));
    Arc::new(Txn { session, change, ..Txn::clone(&txn) })
}

fn members(zxid: Zxid, voters: &[ServerId]) -> Arc<Members> {
    let quorum = Quorum::majority(voters.iter().copied()).expect("somebody votes");
    Arc::new(Members::first(&quorum, &BTreeSet::new()).with_version(zxid))
}

fn saved(last: Zxid, epoch: Epoch) -> Box<Saved> {
    let settings = Settings::with_tick(2000);
    let blank = Saved::blank(&settings, 0);
    let (accepted_epoch, current_epoch) = (epoch, epoch);
    Box::new(Saved { zxid_last: last, accepted_epoch, current_epoch, ..blank })
}

/// Events, in the order in which they are seen.
#[derive(Default)]
struct Story(Vec<Seen>);

impl Story {
    fn see(&mut self, event: Seen) -> &mut Self {
        self.0.push(event);
        self
    }

    fn note(&mut self, server: ServerId, note: Note) -> &mut Self {
        self.see(Seen::Note { server, note })
    }

    fn sent(&mut self, from: ServerId, to: ServerId, message: Message) -> &mut Self {
        self.see(Seen::Sent { from, to, message: Said::of(&message) })
    }

    fn delivered(&mut self, from: ServerId, to: ServerId, message: Message) -> &mut Self {
        self.see(Seen::Delivered { from, to, message: Said::of(&message) })
    }

    fn wrote(&mut self, server: ServerId, kind: EpochKind, epoch: u32) -> &mut Self {
        self.see(Seen::EpochWritten { server, kind, epoch: Epoch(epoch) })
    }

    fn boot(&mut self) -> &mut Self {
        for server in [ONE, TWO, THREE] {
            let saved = saved(Zxid::ZERO, Epoch(0));
            self.see(Seen::Started { server, saved, notes: Vec::new() });
            let ballot = Ballot { epoch: Epoch(0), zxid: Zxid::ZERO, leader: server };
            self.note(server, Note::Looking { ballot: Some(ballot) });
            self.note(server, Note::Elected { leader: THREE, round: 1 });
        }
        self
    }

    /// `leader` finds out that it leads an epoch, with the promise of `other`, whose epoch was
    /// the one before.
    fn discover(&mut self, leader: ServerId, other: ServerId, epoch: u32, last: Zxid) -> &mut Self {
        self.discover_from(leader, other, epoch, last, epoch - 1)
    }

    /// The same, when `other` is in an older epoch.
    fn discover_from(
        &mut self,
        leader: ServerId,
        other: ServerId,
        epoch: u32,
        last: Zxid,
        current: u32,
    ) -> &mut Self {
        let info =
            Message::LearnerInfo { observer: false, accepted: Epoch(epoch - 1), members: None };
        let current = Some(Epoch(current));
        self.note(leader, Note::Elected { leader, round: 1 })
            .delivered(other, leader, info)
            .wrote(leader, EpochKind::Accepted, epoch)
            .delivered(leader, other, Message::LeaderInfo { epoch: Epoch(epoch), members: None })
            .wrote(other, EpochKind::Accepted, epoch)
            .sent(other, leader, Message::AckEpoch { current, zxid: last, snapshot: false })
            .note(leader, Note::Discovered { epoch: Epoch(epoch), zxid: last })
    }

    /// Both have what it begins with.
    fn establish(&mut self, leader: ServerId, other: ServerId, epoch: u32) -> &mut Self {
        let epoch_new = Epoch(epoch);
        self.wrote(leader, EpochKind::Current, epoch)
            .sent(leader, other, Message::NewLeader { epoch: epoch_new, members: None })
            .delivered(leader, other, Message::NewLeader { epoch: epoch_new, members: None })
            .wrote(other, EpochKind::Current, epoch)
            .ack(other, leader, Zxid::first_of(epoch_new))
            .note(leader, Note::Established(epoch_new))
            .note(other, Note::Serving(epoch_new))
    }

    fn propose(&mut self, leader: ServerId, zxid: Zxid) -> &mut Self {
        self.note(leader, Note::Proposed(txn(zxid)))
    }

    /// A leader proposes something for session 1.
    fn orders(&mut self, leader: ServerId, zxid: Zxid, change: Change) -> &mut Self {
        let txn = Txn { change, ..(*txn(zxid)).clone() };
        self.note(leader, Note::Proposed(Arc::new(txn)))
    }

    fn log(&mut self, server: ServerId, zxid: Zxid) -> &mut Self {
        self.see(Seen::Appended { server, txn: txn(zxid) })
    }

    fn sync(&mut self, server: ServerId, zxid: Zxid) -> &mut Self {
        self.see(Seen::Synced { server, zxid })
    }

    fn ack(&mut self, from: ServerId, to: ServerId, zxid: Zxid) -> &mut Self {
        self.sent(from, to, Message::Ack(zxid)).delivered(from, to, Message::Ack(zxid))
    }

    fn apply(&mut self, server: ServerId, zxid: Zxid) -> &mut Self {
        self.note(server, Note::Applied { txn: txn(zxid), digest: zxid.0.cast_unsigned() })
    }

    /// Proposed, and on the disks of both.
    fn safe(&mut self, leader: ServerId, other: ServerId, zxid: Zxid) -> &mut Self {
        self.propose(leader, zxid)
            .log(leader, zxid)
            .log(other, zxid)
            .sync(leader, zxid)
            .sync(other, zxid)
            .ack(other, leader, zxid)
    }

    /// The same, with a change of members.
    fn safe_change(&mut self, leader: ServerId, other: ServerId, txn: &Arc<Txn>) -> &mut Self {
        let zxid = txn.stamp.zxid;
        self.note(leader, Note::Proposed(Arc::clone(txn)));
        for server in [leader, other] {
            self.see(Seen::Appended { server, txn: Arc::clone(txn) }).sync(server, zxid);
        }
        self.ack(other, leader, zxid)
    }

    /// And committed, and applied by both.
    fn write(&mut self, leader: ServerId, other: ServerId, zxid: Zxid) -> &mut Self {
        self.safe(leader, other, zxid)
            .note(leader, Note::Committed(zxid))
            .apply(leader, zxid)
            .delivered(leader, other, Message::Commit(zxid))
            .apply(other, zxid)
    }

    fn crash(&mut self, server: ServerId) -> &mut Self {
        self.see(Seen::Crashed { server, power: false })
    }

    /// Epoch 1 of server 3 with server 1 is there, and 1:1 is committed.
    fn one_epoch(&mut self) -> &mut Self {
        self.boot().discover(THREE, ONE, 1, Zxid::ZERO).establish(THREE, ONE, 1);
        self.write(THREE, ONE, zxid(1, 1))
    }

    /// And epoch 2 of the same two.
    fn two_epochs(&mut self) -> &mut Self {
        self.one_epoch().discover(THREE, ONE, 2, zxid(1, 1)).establish(THREE, ONE, 2)
    }

    fn judge(&self) -> Result<(), Violation> {
        checkers(&[]).observe(&self.0)
    }

    /// Judged while these are watched, and what is overlooked.
    fn judge_by(&self, watched: &[Promise]) -> (Result<(), Violation>, Vec<Violation>) {
        let mut overlooked = Vec::new();
        (checkers(watched).judge(&self.0, &mut overlooked), overlooked)
    }
}

fn checkers(watched: &[Promise]) -> Checkers {
    let quorum = Quorum::majority([ONE, TWO, THREE]).expect("three are an ensemble");
    Checkers::new(Arc::new(Ensemble::new(quorum)), watched)
}

/// Leaves the story where this promise, and none that is looked at earlier, is broken.
fn planted(promise: Promise) -> Story {
    let mut story = Story::default();
    let (next, after) = (zxid(1, 2), zxid(1, 3));
    match promise {
        Promise::AckInOrder => {
            story.one_epoch().delivered(ONE, THREE, Message::Ack(zxid(1, 9)));
        }
        Promise::MembersDecided => {
            story.one_epoch().note(ONE, Note::Joined(members(next, &[ONE, TWO])));
        }
        Promise::MembersMonotonicity => {
            let all = [ONE, TWO, THREE];
            let written =
                |version| Seen::MembersWritten { server: ONE, members: members(version, &all) };
            story.one_epoch().note(ONE, Note::Joined(members(zxid(1, 0), &all)));
            // The disk may be behind, and not go back.
            story.see(written(Zxid::ZERO)).see(written(zxid(1, 0))).see(written(Zxid::ZERO));
        }
        Promise::OneChange => {
            story.one_epoch().note(THREE, Note::Proposed(change(next, &[ONE, TWO])));
            story.note(THREE, Note::Proposed(change(after, &[TWO, THREE])));
        }
        Promise::AckDurable => {
            story.one_epoch().propose(THREE, next).log(ONE, next);
            story.sent(ONE, THREE, Message::Ack(next));
        }
        Promise::BootTotality => {
            let why = "the log has a hole".into();
            story.one_epoch().crash(ONE).see(Seen::Refused { server: ONE, why });
        }
        Promise::CallOnce
        | Promise::CallOrder
        | Promise::SessionForward
        | Promise::SessionSilent
        | Promise::WatchFirst
        | Promise::WatchKept
        | Promise::WatchOnce
        | Promise::WatchOrder
        | Promise::WatchTrue => clients::planted(promise, &mut story),
        Promise::CommitConsistency => {
            story.two_epochs().write(THREE, ONE, zxid(2, 1)).apply(TWO, zxid(2, 1));
        }
        Promise::CommitMatches => {
            let why = Why::CommitOutOfOrder { expected: None, got: next };
            story.one_epoch().note(ONE, Note::Left(why));
        }
        Promise::CommitOrder => {
            story.one_epoch().safe(THREE, ONE, next).safe(THREE, ONE, after);
            story.note(THREE, Note::Committed(after));
        }
        Promise::CommittedDurability => {
            story.one_epoch().sent(THREE, ONE, Message::Trunc { zxid: Zxid::ZERO });
        }
        Promise::CommittedMonotonicity => {
            // The news that epoch 2 has begun comes late, and with something that epoch 3 lacks.
            let mine = zxid(1, 1);
            story.boot().discover(THREE, ONE, 1, Zxid::ZERO).establish(THREE, ONE, 1);
            story.propose(THREE, mine).log(THREE, mine).sync(THREE, mine);
            story.discover(THREE, ONE, 2, Zxid::ZERO);
            story.discover_from(TWO, ONE, 3, Zxid::ZERO, 1).establish(TWO, ONE, 3);
            story.note(THREE, Note::Established(Epoch(2)));
        }
        Promise::DeliveredCommitted => {
            story.one_epoch().safe(THREE, ONE, next).apply(ONE, next);
        }
        Promise::Durability => {
            let saved = saved(Zxid::ZERO, Epoch(1));
            story.one_epoch().crash(ONE);
            story.see(Seen::Started { server: ONE, saved, notes: Vec::new() });
        }
        Promise::EpochAckDurable => {
            story.one_epoch().sent(TWO, THREE, Message::Ack(zxid(1, 0)));
        }
        Promise::EpochFresh => {
            story.one_epoch().note(TWO, Note::Elected { leader: TWO, round: 2 });
            story.wrote(TWO, EpochKind::Accepted, 1);
        }
        Promise::EpochMonotonicity => {
            story.one_epoch().wrote(ONE, EpochKind::Accepted, 0);
        }
        Promise::EpochOrder => {
            story.one_epoch().wrote(ONE, EpochKind::Current, 5);
        }
        Promise::EqualTrees => {
            story.one_epoch().safe(THREE, ONE, next).note(THREE, Note::Committed(next));
            story.apply(THREE, next).note(ONE, Note::Applied { txn: txn(next), digest: 7 });
        }
        Promise::GlobalPrimaryOrder => {
            story.two_epochs().write(THREE, ONE, zxid(2, 1)).apply(ONE, zxid(1, 1));
        }
        Promise::HistoryBeforeEpoch => {
            story.two_epochs().wrote(TWO, EpochKind::Accepted, 2).wrote(TWO, EpochKind::Current, 2);
        }
        Promise::HistoryConsistency => {
            story.two_epochs().propose(THREE, zxid(2, 1)).log(TWO, zxid(2, 1));
        }
        Promise::HonestVote => {
            let ballot = Ballot { epoch: Epoch(1), zxid: zxid(1, 9), leader: ONE };
            story.one_epoch().note(ONE, Note::Looking { ballot: Some(ballot) });
        }
        Promise::InitialHistory => {
            story.two_epochs().discover(TWO, ONE, 3, zxid(1, 1));
        }
        Promise::Integrity => {
            story.one_epoch().log(ONE, next);
        }
        Promise::LeaderCompleteness => {
            story.one_epoch().discover(TWO, ONE, 2, zxid(1, 1));
        }
        Promise::LocalPrimaryOrder => {
            story.one_epoch().propose(THREE, after);
        }
        Promise::LogOrder => {
            story.one_epoch().log(ONE, zxid(1, 1));
        }
        Promise::MemoryBehindDisk => {
            story.one_epoch().note(TWO, Note::CaughtUp { zxid: zxid(1, 1), digest: 0 });
        }
        Promise::MessageLegal => {
            story.one_epoch().delivered(ONE, TWO, Message::Commit(zxid(1, 1)));
        }
        Promise::NoHole => {
            story.one_epoch().propose(THREE, next).propose(THREE, after).log(ONE, after);
        }
        Promise::OldLeaderSilent => {
            story.one_epoch().safe(THREE, ONE, next);
            story.discover_from(ONE, TWO, 2, Zxid::ZERO, 0).wrote(ONE, EpochKind::Current, 2);
            story.log(TWO, zxid(1, 1)).log(TWO, next).sync(TWO, next);
            story.note(ONE, Note::Established(Epoch(2)));
            // Server 3 commits something that server 1 does not have.
            story.propose(THREE, after).log(THREE, after).sync(THREE, after);
            story.note(THREE, Note::Committed(after));
        }
        Promise::OnePromise => {
            let (current, zxid) = (Some(Epoch(1)), zxid(1, 1));
            let again = Message::AckEpoch { current, zxid, snapshot: false };
            story.one_epoch().sent(ONE, THREE, again);
        }
        Promise::Phase => {
            story.one_epoch().note(ONE, Note::Left(Why::Misplaced));
        }
        Promise::PrefixConsistency => {
            story.one_epoch().safe(THREE, ONE, next);
            story.note(ONE, Note::CaughtUp { zxid: next, digest: 0 });
            story.note(ONE, Note::Serving(Epoch(1)));
        }
        Promise::PrimaryIntegrity => {
            // Epoch 2 finds its leader when epoch 3 has begun already.
            let info = Message::LearnerInfo { observer: false, accepted: Epoch(1), members: None };
            let (epoch, zxid_last) = (Epoch(2), Zxid::ZERO);
            story.one_epoch().discover_from(THREE, ONE, 3, zxid(1, 1), 1).establish(THREE, ONE, 3);
            story.note(TWO, Note::Elected { leader: TWO, round: 2 }).delivered(ONE, TWO, info);
            story.wrote(TWO, EpochKind::Accepted, 2);
            story.note(TWO, Note::Discovered { epoch, zxid: zxid_last });
            story.propose(TWO, zxid(2, 1));
        }
        Promise::PrimaryUniqueness => {
            let (epoch, zxid) = (Epoch(1), Zxid::ZERO);
            story.one_epoch().note(TWO, Note::Discovered { epoch, zxid });
        }
        Promise::ProcessConsistency => {
            story.one_epoch().propose(THREE, next).log(ONE, next).sync(ONE, next);
            story.discover(THREE, ONE, 2, next).wrote(ONE, EpochKind::Current, 2);
            story.sent(ONE, THREE, Message::Ack(zxid(2, 0)));
        }
        Promise::PromiseDurable => {
            story.one_epoch().delivered(
                TWO,
                ONE,
                Message::LeaderInfo { epoch: Epoch(5), members: None },
            );
            let (current, zxid) = (Some(Epoch(1)), zxid(1, 1));
            story.sent(ONE, TWO, Message::AckEpoch { current, zxid, snapshot: false });
        }
        Promise::ProposalInOrder => {
            let why = Why::ProposalOutOfOrder { last: next, got: next };
            story.one_epoch().note(ONE, Note::Left(why));
        }
        Promise::QuorumDurability => {
            story.one_epoch().propose(THREE, next).log(THREE, next).log(ONE, next);
            story.sync(THREE, next).note(THREE, Note::Committed(next));
        }
        Promise::SessionKnown => {
            let delete = NodeChange::Delete { path: "/a".into(), container: false };
            story.one_epoch().orders(THREE, next, Change::Node(delete));
        }
        Promise::SessionOver => {
            story.one_epoch().orders(THREE, next, Change::CreateSession { timeout_ms: 1 });
            story.orders(THREE, after, Change::CloseSession { paths: Vec::new() });
            story.orders(THREE, after.next(), Change::CreateSession { timeout_ms: 1 });
        }
        Promise::SessionTakesAll => {
            story.one_epoch().orders(THREE, next, Change::CreateSession { timeout_ms: 1 });
            let paths = vec!["/of-somebody-else".into()];
            story.orders(THREE, after, Change::CloseSession { paths });
        }
        Promise::SnapshotSoundness => {
            story.one_epoch().see(Seen::Installed { server: TWO, zxid: zxid(1, 1) });
        }
        Promise::TotalOrder => {
            story.one_epoch().write(THREE, ONE, next).apply(ONE, next);
        }
        Promise::TruncationDurable => {
            story.one_epoch().propose(THREE, next).log(ONE, next).sync(ONE, next);
            story.sent(THREE, ONE, Message::Trunc { zxid: zxid(1, 1) });
            story.see(Seen::Truncated { server: ONE, to: zxid(1, 1) }).crash(ONE);
            let saved = saved(next, Epoch(1));
            story.see(Seen::Started { server: ONE, saved, notes: Vec::new() });
        }
        Promise::TruncationTarget => {
            story.one_epoch().sent(THREE, ONE, Message::Trunc { zxid: zxid(1, 9) });
        }
        Promise::ZxidUniqueness => {
            let mut other = (*txn(next)).clone();
            other.cxid = Xid(9);
            story.one_epoch().propose(THREE, next);
            story.see(Seen::Appended { server: ONE, txn: Arc::new(other) });
        }
    }
    story
}

#[test]
fn the_story_keeps_every_promise() {
    let mut story = Story::default();
    story.two_epochs().write(THREE, ONE, zxid(2, 1)).write(THREE, ONE, zxid(2, 2));
    assert_eq!(story.judge(), Ok(()));
}

#[test]
fn every_promise_is_seen_broken_and_named() {
    let wrong: Vec<String> = Promise::ALL
        .into_iter()
        .filter_map(|promise| {
            let story = planted(promise);
            let found = story.judge().map_err(|violation| violation.promise);
            let before = Story(story.0[..story.0.len() - 1].to_vec()).judge();
            (found != Err(promise) || before != Ok(()))
                .then(|| format!("{promise}: {found:?}, before the last event {before:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn only_what_is_watched_counts_and_the_rest_is_noted() {
    for promise in Promise::ALL {
        let story = planted(promise);
        let broken = story.judge();
        assert_eq!(story.judge_by(&[promise]), (broken.clone(), Vec::new()), "{promise}");
        let others: Vec<Promise> = Promise::ALL.into_iter().filter(|it| *it != promise).collect();
        let (judged, overlooked) = story.judge_by(&others);
        assert_eq!(overlooked.first(), broken.as_ref().err(), "{promise}");
        assert_ne!(judged.err().map(|violation| violation.promise), Some(promise));
    }
}

/// Whatever was overlooked, what follows is judged: no story after any other is too strange.
#[test]
fn a_ledger_goes_on_after_whatever_was_overlooked() {
    let stories: Vec<Story> = Promise::ALL.into_iter().map(planted).collect();
    let mut judged = 0;
    for (first, watched) in Promise::ALL.into_iter().enumerate() {
        let (mut checkers, mut overlooked) = (checkers(&[watched]), Vec::new());
        for place in 0..stories.len() {
            for event in &stories[(first + place) % stories.len()].0 {
                let event = std::slice::from_ref(event);
                if let Err(violation) = checkers.judge(event, &mut overlooked) {
                    assert_eq!(violation.promise, watched);
                }
                judged += 1;
            }
        }
        assert!(overlooked.iter().all(|violation| violation.promise != watched), "{watched}");
        assert!(!overlooked.is_empty(), "{watched}");
    }
    assert!(judged > 10_000, "{judged}");
}

/// A server that installs what it was sent after a cut has that, and logs what comes next.
#[test]
fn a_snapshot_of_its_own_stands_for_what_the_leader_had() {
    let (next, after) = (zxid(1, 2), zxid(1, 3));
    let mut story = Story::default();
    story.one_epoch().write(THREE, ONE, next).safe(THREE, ONE, after);
    let mut cut = Story(story.0.clone());
    cut.see(Seen::Truncated { server: ONE, to: zxid(1, 1) });
    cut.see(Seen::Snapshotted { server: ONE, zxid: next }).log(ONE, after);
    let (judged, overlooked) = cut.judge_by(&[Promise::NoHole, Promise::LogOrder]);
    assert_eq!(judged, Ok(()), "{overlooked:?}");
    let mut hole = Story(story.0);
    hole.see(Seen::Truncated { server: ONE, to: zxid(1, 1) }).log(ONE, after);
    let (judged, _) = hole.judge_by(&[Promise::NoHole]);
    assert_eq!(judged.map_err(|violation| violation.promise), Err(Promise::NoHole));
}

#[test]
fn promises_go_by_their_names() {
    for promise in Promise::ALL {
        assert_eq!(promise.to_string().parse(), Ok(promise));
    }
    let unknown = "leader-fairness".parse::<Promise>().unwrap_err().to_string();
    assert!(
        unknown.starts_with("no such promise; there are ack-in-order, ack-durable, "),
        "{unknown}"
    );
}

/// While the ensemble changes, two quorums have to agree, and whoever has left does not count.
#[test]
fn what_is_enough_changes_with_the_ensemble() {
    let (at, after) = (zxid(1, 2), zxid(1, 3));
    let txn = change(at, &[TWO, THREE]);
    let mut old = Story::default();
    old.one_epoch().safe_change(THREE, ONE, &txn).note(THREE, Note::Committed(at));
    let mut both = Story::default();
    // Server 2 comes late, with all there is.
    both.one_epoch().ack(TWO, THREE, zxid(1, 0)).0.retain(
        |seen| !matches!(seen, Seen::Sent { from: TWO, message, .. } if message.zxid == zxid(1, 0)),
    );
    both.log(TWO, zxid(1, 1)).sync(TWO, zxid(1, 1)).safe_change(THREE, TWO, &txn);
    both.note(THREE, Note::Committed(at)).note(THREE, Note::Joined(members(at, &[TWO, THREE])));
    assert_eq!(both.judge(), Ok(()));
    let mut left = Story(both.0);
    left.see(Seen::Appended { server: ONE, txn }).sync(ONE, at).safe(THREE, ONE, after);
    left.note(THREE, Note::Committed(after));
    let all: Vec<String> = [old, left].map(|story| story.judge().unwrap_err().to_string()).into();
    insta::assert_debug_snapshot!(all, @r#"
    [
        "quorum-durability: server 3 committed 1:2, which no quorum has safe",
        "quorum-durability: server 3 committed 1:3, which no quorum has safe",
    ]
    "#);
}

/// Some promises can be broken in more than one way.
#[test]
fn there_are_other_ways_to_break_them() {
    let mut early = Story::default();
    early.one_epoch().sent(THREE, TWO, Message::NewLeader { epoch: Epoch(1), members: None });
    early.delivered(TWO, THREE, Message::Ack(zxid(1, 1)));
    let mut late = Story::default();
    late.two_epochs().note(TWO, Note::Serving(Epoch(2)));
    let all: Vec<String> = [early, late].map(|story| story.judge().unwrap_err().to_string()).into();
    insta::assert_debug_snapshot!(all, @r#"
    [
        "ack-in-order: server 2 acknowledged 1:1 before what the epoch begins with",
        "commit-consistency: server 2 serves epoch 2 with 0:0, it began with 1:1",
    ]
    "#);
}

#[test]
fn a_violation_is_one_sentence_with_values() {
    let all: Vec<String> = [Promise::QuorumDurability, Promise::Durability, Promise::EqualTrees]
        .map(|promise| planted(promise).judge().unwrap_err().to_string())
        .into();
    insta::assert_debug_snapshot!(all, @r#"
    [
        "quorum-durability: server 3 committed 1:2, which no quorum has safe",
        "durability: server 1 has 0:0 after a restart, 1:1 was safe",
        "equal-trees: server 1 has another tree at 1:2 than others",
    ]
    "#);
}
