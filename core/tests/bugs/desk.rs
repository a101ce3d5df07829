//! One member of an ensemble of three on the desk; the script plays the others and its disk.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::Arc;

use zoolab_core::election::{Ballot, Notification, Stance};
use zoolab_core::quorum::Quorum;
use zoolab_core::request::Stamp;
use zoolab_core::storage::{Disk, FileOp, Files, Recovered, Rules, recover};
use zoolab_core::txn::Change;
use zoolab_core::zab::Message;
use zoolab_core::{
    Boot, Bug, Bugs, Code, Ensemble, Epoch, Input, LinkId, Millis, Note, Now, Output, Persist,
    Server, ServerId, SessionId, Settings, Timer, Token, Txn, Xid, Zxid,
};

pub(crate) const ONE: ServerId = ServerId(1);
pub(crate) const TWO: ServerId = ServerId(2);
pub(crate) const THREE: ServerId = ServerId(3);

pub(crate) fn zxid(epoch: i64, counter: i64) -> Zxid {
    Zxid(epoch << 32 | counter)
}

/// A proposal of a transaction that changes nothing.
pub(crate) fn proposal(epoch: i64, counter: i64) -> Message {
    let stamp = Stamp { zxid: zxid(epoch, counter), time: Millis(0) };
    let change = Change::Error(Code::NoNode);
    let (session, cxid) = (SessionId(7), Xid(1));
    Message::Proposal(Arc::new(Txn { stamp, session, cxid, change, digest: None }))
}

pub(crate) fn commit(epoch: i64, counter: i64) -> Message {
    Message::Commit(zxid(epoch, counter))
}

pub(crate) fn new_leader(epoch: u32) -> Message {
    Message::NewLeader { epoch: Epoch(epoch), members: None }
}

/// See the [module](self).
pub(crate) struct Desk {
    server: Server,
    ensemble: Arc<Ensemble>,
    rules: Rules,
    disk: Disk,
    files: Files,
    queue: VecDeque<(Token, Persist)>,
    link: u64,
    log: String,
    /// Whether what is done with files is part of the log.
    files_shown: bool,
}

impl Desk {
    /// This server, with an empty disk.
    pub(crate) fn new(me: ServerId, bugs: &[Bug]) -> Self {
        let quorum = Quorum::majority([ONE, TWO, THREE]).unwrap();
        let mut ensemble = Ensemble::new(quorum);
        ensemble.bugs = Bugs::of(bugs.iter().copied()).unwrap();
        let rules = Rules { preallocate: 0, bugs: ensemble.bugs, ..Rules::default() };
        Self::start(me, Arc::new(ensemble), rules, Files::new())
    }

    fn start(me: ServerId, ensemble: Arc<Ensemble>, rules: Rules, mut files: Files) -> Self {
        let Recovered { repairs, saved, disk, .. } = recover(&files, &rules).unwrap();
        repairs.iter().for_each(|op| files.perform(op).unwrap());
        let settings = Arc::new(Settings::with_tick(2000));
        let boot = Boot { me, steady: Millis(0), scatter: 0 };
        let mut out = Vec::new();
        let server = Server::member(Arc::clone(&ensemble), settings, boot, saved, &mut out);
        let (queue, link, log, files_shown) = (VecDeque::new(), 0, String::new(), false);
        let mut desk = Self { server, ensemble, rules, disk, files, queue, link, log, files_shown };
        desk.carry_out(out);
        desk
    }

    /// Its process dies, and another one is started.
    pub(crate) fn restarts(&mut self, me: ServerId) {
        let (ensemble, files) = (Arc::clone(&self.ensemble), std::mem::take(&mut self.files));
        let log = std::mem::take(&mut self.log);
        *self = Self::start(me, ensemble, self.rules, files);
        let new = std::mem::replace(&mut self.log, log);
        self.log.push_str("restart\n");
        self.log.push_str(&new);
    }

    /// What has happened since this was last asked.
    pub(crate) fn log(&mut self) -> String {
        std::mem::take(&mut self.log)
    }

    /// From now on, what is done with files is part of the log.
    pub(crate) const fn shows_files(&mut self) {
        self.files_shown = true;
    }

    fn perform(&mut self, ops: &[FileOp]) {
        for op in ops {
            if self.files_shown {
                writeln!(self.log, "    {op}").unwrap();
            }
            self.files.perform(op).unwrap();
        }
    }

    /// The transactions that its disk has.
    pub(crate) fn on_disk(&self) -> Vec<String> {
        let saved = recover(&self.files, &self.rules).unwrap().saved;
        saved.log.iter().map(|txn| txn.stamp.zxid.to_string()).collect()
    }

    pub(crate) const fn server(&self) -> &Server {
        &self.server
    }

    pub(crate) fn input(&mut self, input: Input) {
        let now = Now { wall: Millis(0), steady: Millis(0) };
        let mut out = Vec::new();
        self.server.step(now, input, &mut out);
        self.server.assert_invariants();
        self.carry_out(out);
    }

    fn carry_out(&mut self, out: Vec<Output>) {
        let mut reload = false;
        for output in out {
            if let Some(line) = show(&output) {
                writeln!(self.log, "  {line}").unwrap();
            }
            match output {
                Output::Persist { token, persist } => self.queue.push_back((token, persist)),
                Output::Reload => reload = true,
                _ => {}
            }
        }
        if reload {
            let Recovered { repairs, saved, disk, .. } =
                self.disk.read_again(&self.files, &self.rules).unwrap();
            self.disk = disk;
            self.log.push_str("read again\n");
            self.perform(&repairs);
            self.input(Input::Reloaded(Box::new(saved)));
        }
    }

    /// The disk does the next thing that is not an append; those promise nothing.
    fn disk_once(&mut self) -> bool {
        while let Some((token, persist)) = self.queue.pop_front() {
            let mut ops = Vec::new();
            self.disk.carry_out(&persist, || self.files.clone(), &mut ops).unwrap();
            if !matches!(persist, Persist::Append(_)) {
                self.log.push_str("disk done\n");
            }
            self.perform(&ops);
            if !matches!(persist, Persist::Append(_)) {
                self.input(Input::Persisted(token));
                return true;
            }
        }
        false
    }

    /// The disk does everything.
    pub(crate) fn disk(&mut self) {
        while self.disk_once() {}
    }

    pub(crate) const fn link(&self) -> LinkId {
        LinkId(self.link)
    }

    /// The newest connection carries a message to it.
    pub(crate) fn hears(&mut self, message: Message) {
        writeln!(self.log, "{}", text(&message)).unwrap();
        self.input(Input::Message { link: self.link(), message });
    }

    /// The newest connection ends.
    pub(crate) fn is_left(&mut self, peer: ServerId) {
        self.log.push_str("connection lost\n");
        self.input(Input::Unlinked { link: Some(self.link()), peer });
    }

    fn is_told(&mut self, from: ServerId, stance: Stance, leader: ServerId, round: u64) {
        let ballot = Ballot { epoch: Epoch(9), zxid: zxid(9, 9), leader };
        let notification = Notification { stance, ballot, round };
        self.input(Input::Told { from, notification, members: None });
    }

    /// It finds a leader, connects to it, and says what it has.
    pub(crate) fn follows(&mut self, leader: ServerId, epoch: u32) {
        for peer in [ONE, TWO, THREE].into_iter().filter(|peer| *peer != ONE) {
            let stance = if peer == leader { Stance::Leading } else { Stance::Following };
            self.is_told(peer, stance, leader, 7);
        }
        self.link += 1;
        self.input(Input::Linked { link: self.link(), peer: leader, dialled: true });
        self.hears(Message::LeaderInfo { epoch: Epoch(epoch), members: None });
        self.disk();
    }

    /// It is elected.
    pub(crate) fn leads(&mut self) {
        let Some(own) = self.own_vote() else { panic!("it does not look for a leader") };
        self.input(Input::Told { from: ONE, notification: own, members: None });
        self.input(Input::Timeout(Timer::Settle));
    }

    /// What it said last to others, so that they agree.
    fn own_vote(&mut self) -> Option<Notification> {
        let mut out = Vec::new();
        self.server.step(Now::default(), Input::Timeout(Timer::Resend), &mut out);
        out.iter().find_map(|output| match output {
            Output::Tell { notification, .. } => Some(*notification),
            _ => None,
        })
    }

    /// A follower connects, and presents itself.
    pub(crate) fn is_followed(&mut self, peer: ServerId, accepted: u32) {
        self.link += 1;
        self.input(Input::Linked { link: self.link(), peer, dialled: false });
        let accepted = Epoch(accepted);
        self.hears(Message::LearnerInfo { observer: false, accepted, members: None });
    }
}

fn text(message: &Message) -> String {
    let (kind, zxid) = (message.kind(), message.zxid());
    if zxid == Zxid::NONE { kind.to_string() } else { format!("{kind} {zxid}") }
}

/// What matters here.
fn show(output: &Output) -> Option<String> {
    Some(match output {
        Output::Send { message, .. } => format!("says {}", text(message)),
        Output::Persist { persist, .. } => match persist {
            Persist::Append(txn) => format!("asks the disk: append {}", txn.stamp.zxid),
            Persist::Epoch { kind, epoch } => format!("asks the disk: {kind:?} epoch {epoch}"),
            Persist::SnapshotUnsynced { zxid, .. } => {
                format!("asks the disk: snapshot {zxid}, as it is")
            }
            Persist::Sync => "asks the disk: sync".into(),
            Persist::Truncate { to } => format!("asks the disk: truncate to {to}"),
            other => panic!("{other:?}"),
        },
        Output::Note(Note::Applied { txn, .. }) => format!("applies {}", txn.stamp.zxid),
        Output::Note(Note::Committed(zxid)) => format!("commits {zxid}"),
        Output::Note(Note::Left(why)) => format!("leaves: {why}"),
        Output::Note(Note::Looking { ballot: Some(ballot) }) => format!("votes for {ballot}"),
        Output::Note(Note::Serving(epoch)) => format!("serves epoch {epoch}"),
        _ => return None,
    })
}
