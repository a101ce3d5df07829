//! Whole servers with instant disks and a network that delivers everything in order, unless one
//! of them is cut off or down.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use zoolab_core::acl::AclWish;
use zoolab_core::ids::ConnId;
use zoolab_core::io::{Output, Persist};
use zoolab_core::quorum::Quorum;
use zoolab_core::request::{Body, ConnectRequest, Reply};
use zoolab_core::storage::{Disk, Files, Recovered, Rules, recover};
use zoolab_core::{
    Boot, Code, Data, Ensemble, Input, LinkId, Millis, Note, Now, Request, Server, ServerId,
    Settings, Text, Timer, Token, Xid, Zxid,
};

pub(crate) fn ids<const N: usize>(ids: [u8; N]) -> BTreeSet<ServerId> {
    ids.map(ServerId).into()
}

struct Node {
    server: Option<Server>,
    disk: Disk,
    files: Files,
    queue: VecDeque<(Token, Persist)>,
    timers: BTreeSet<Timer>,
    notes: Vec<Note>,
    replies: Vec<Reply>,
    /// Whether its disk waits to be told.
    slow: bool,
}

/// Something under way.
enum Way {
    Input(ServerId, Input),
    Disk(ServerId),
}

/// See the [module](self).
pub(crate) struct Net {
    ensemble: Arc<Ensemble>,
    settings: Arc<Settings>,
    nodes: BTreeMap<ServerId, Node>,
    ways: VecDeque<Way>,
    links: BTreeMap<LinkId, [ServerId; 2]>,
    links_made: u64,
    away: BTreeSet<ServerId>,
    xid: i32,
}

impl Net {
    /// An ensemble of three voters; nobody has started yet.
    fn new(reconfig: bool) -> Self {
        let mut ensemble = Ensemble::new(Quorum::majority(ids([1, 2, 3])).unwrap());
        ensemble.snapshot_every = None;
        let super_digest = Some(zoolab_core::auth::digest_of("super:test"));
        let settings = Settings { reconfig, super_digest, ..Settings::with_tick(2000) };
        Self {
            ensemble: Arc::new(ensemble),
            settings: Arc::new(settings),
            nodes: BTreeMap::new(),
            ways: VecDeque::new(),
            links: BTreeMap::new(),
            links_made: 0,
            away: BTreeSet::new(),
            xid: 0,
        }
    }

    /// Three that serve.
    pub(crate) fn three() -> Self {
        Self::new(true).started()
    }

    /// The same, where nobody may change who they are.
    pub(crate) fn without_reconfig() -> Self {
        Self::new(false).started()
    }

    fn started(self) -> Self {
        let mut net = self;
        net.start(1);
        net.start(2);
        net.start(3);
        net.settle();
        net
    }

    /// A server starts from what its disk has.
    pub(crate) fn start(&mut self, id: u8) {
        let id = ServerId(id);
        let rules = Rules { preallocate: 0, ..Rules::default() };
        let mut files = self.nodes.remove(&id).map_or_else(Files::new, |node| node.files);
        let Recovered { repairs, saved, disk, .. } = recover(&files, &rules).unwrap();
        repairs.iter().for_each(|op| files.perform(op).unwrap());
        let boot = Boot { me: id, steady: Millis(0), scatter: 0 };
        let mut out = Vec::new();
        let (ensemble, settings) = (Arc::clone(&self.ensemble), Arc::clone(&self.settings));
        let server = Some(Server::member(ensemble, settings, boot, saved, &mut out));
        let node = Node {
            server,
            disk,
            files,
            queue: VecDeque::new(),
            timers: BTreeSet::new(),
            notes: Vec::new(),
            replies: Vec::new(),
            slow: false,
        };
        self.nodes.insert(id, node);
        self.carry_out(id, out);
    }

    /// Its process dies; what its disk has not done is lost.
    pub(crate) fn crash(&mut self, id: u8) {
        let id = ServerId(id);
        let node = self.nodes.get_mut(&id).unwrap();
        node.server = None;
        node.queue.clear();
        self.hang_up_all(id);
    }

    /// Its process dies after its disk has done everything.
    pub(crate) fn crash_after_disk(&mut self, id: u8) {
        while !self.nodes[&ServerId(id)].queue.is_empty() {
            self.disk(ServerId(id));
        }
        self.crash(id);
    }

    /// Nothing reaches it, and nothing comes from it.
    pub(crate) fn cut(&mut self, id: u8) {
        self.away.insert(ServerId(id));
        self.hang_up_all(ServerId(id));
    }

    pub(crate) fn heal(&mut self) {
        self.away.clear();
    }

    fn hang_up_all(&mut self, id: ServerId) {
        let over: Vec<(LinkId, [ServerId; 2])> = self
            .links
            .iter()
            .filter(|(_, ends)| ends.contains(&id))
            .map(|(l, e)| (*l, *e))
            .collect();
        for (link, ends) in over {
            self.links.remove(&link);
            for (end, peer) in [(ends[0], ends[1]), (ends[1], ends[0])] {
                self.ways.push_back(Way::Input(end, Input::Unlinked { link: Some(link), peer }));
            }
        }
    }

    /// Its disk does nothing until it is told to.
    pub(crate) fn slow_disk(&mut self, id: u8, slow: bool) {
        self.nodes.get_mut(&ServerId(id)).unwrap().slow = slow;
        if !slow {
            self.ways.push_back(Way::Disk(ServerId(id)));
        }
    }

    fn is_away(&self, id: ServerId) -> bool {
        self.away.contains(&id) || self.nodes.get(&id).is_none_or(|node| node.server.is_none())
    }

    fn input(&mut self, id: ServerId, input: Input) {
        let now = Now { wall: Millis(5), steady: Millis(0) };
        let Some(server) = self.nodes.get_mut(&id).and_then(|node| node.server.as_mut()) else {
            return;
        };
        let mut out = Vec::new();
        server.step(now, input, &mut out);
        server.assert_invariants();
        self.carry_out(id, out);
    }

    fn carry_out(&mut self, id: ServerId, out: Vec<Output>) {
        let mut reload = false;
        for output in out {
            let node = self.nodes.get_mut(&id).unwrap();
            match output {
                Output::Persist { token, persist } => {
                    node.queue.push_back((token, persist));
                    self.ways.push_back(Way::Disk(id));
                }
                Output::Arm { timer, .. } | Output::Wake { timer, .. } => {
                    node.timers.insert(timer);
                }
                Output::Disarm { timer } => {
                    node.timers.remove(&timer);
                }
                Output::Note(note) => node.notes.push(note),
                Output::Reply { reply, .. } => node.replies.push(reply),
                Output::Reload => reload = true,
                Output::Halt { token } => panic!("server {id} halts at {token:?}"),
                Output::Tell { to, notification, members } => {
                    if !self.is_away(id) && !self.is_away(to) {
                        let told = Input::Told { from: id, notification, members };
                        self.ways.push_back(Way::Input(to, told));
                    }
                }
                Output::Dial { to } => self.dial(id, to),
                Output::HangUp { link } => {
                    if let Some(ends) = self.links.remove(&link) {
                        let peer = if ends[0] == id { ends[1] } else { ends[0] };
                        let unlinked = Input::Unlinked { link: Some(link), peer: id };
                        self.ways.push_back(Way::Input(peer, unlinked));
                    }
                }
                Output::Send { link, message } => {
                    if let Some(ends) = self.links.get(&link) {
                        let to = if ends[0] == id { ends[1] } else { ends[0] };
                        self.ways.push_back(Way::Input(to, Input::Message { link, message }));
                    }
                }
                Output::Close { .. } | Output::Connected { .. } | Output::Notify { .. } => {}
            }
        }
        if reload {
            let node = self.nodes.get_mut(&id).unwrap();
            let rules = Rules { preallocate: 0, ..Rules::default() };
            let Recovered { repairs, saved, disk, .. } =
                node.disk.read_again(&node.files, &rules).unwrap();
            node.disk = disk;
            repairs.iter().for_each(|op| node.files.perform(op).unwrap());
            self.input(id, Input::Reloaded(Box::new(saved)));
        }
    }

    fn dial(&mut self, id: ServerId, to: ServerId) {
        if self.is_away(id) || self.is_away(to) {
            self.ways.push_back(Way::Input(id, Input::Unlinked { link: None, peer: to }));
            return;
        }
        self.links_made += 1;
        let link = LinkId(self.links_made);
        self.links.insert(link, [id, to]);
        self.ways.push_back(Way::Input(to, Input::Linked { link, peer: id, dialled: false }));
        self.ways.push_back(Way::Input(id, Input::Linked { link, peer: to, dialled: true }));
    }

    fn disk(&mut self, id: ServerId) {
        let Some(node) = self.nodes.get_mut(&id).filter(|node| node.server.is_some() && !node.slow)
        else {
            return;
        };
        let Some((token, persist)) = node.queue.pop_front() else { return };
        let (mut ops, files) = (Vec::new(), node.files.clone());
        node.disk.carry_out(&persist, || files, &mut ops).unwrap();
        ops.iter().for_each(|op| node.files.perform(op).unwrap());
        self.input(id, Input::Persisted(token));
        self.ways.push_back(Way::Disk(id));
    }

    /// Everything under way arrives.
    pub(crate) fn arrive(&mut self) {
        let mut patience = 100_000;
        while let Some(way) = self.ways.pop_front() {
            patience -= 1;
            assert!(patience > 0, "they do not come to rest");
            match way {
                Way::Input(id, input) => self.input(id, input),
                Way::Disk(id) => self.disk(id),
            }
        }
    }

    fn run_out(&mut self, timer: Timer) -> bool {
        let waiting: Vec<ServerId> = self
            .nodes
            .iter()
            .filter(|(_, node)| node.server.is_some() && node.timers.contains(&timer))
            .map(|(id, _)| *id)
            .collect();
        for id in &waiting {
            self.nodes.get_mut(id).unwrap().timers.remove(&timer);
            self.input(*id, Input::Timeout(timer));
        }
        self.arrive();
        !waiting.is_empty()
    }

    /// Time passes until everybody who can serve does.
    pub(crate) fn settle(&mut self) {
        self.arrive();
        for _ in 0..40 {
            let decided = self.run_out(Timer::Settle);
            let dialled = self.run_out(Timer::Redial);
            if decided || dialled {
                continue;
            }
            let looks = |node: &Node| node.server.as_ref().is_some_and(Server::is_looking);
            if !self.nodes.values().any(looks) {
                break;
            }
            self.run_out(Timer::Resend);
        }
    }

    /// Two half ticks pass.
    pub(crate) fn tick(&mut self) {
        self.run_out(Timer::HalfTick);
        self.run_out(Timer::HalfTick);
    }

    /// Leaders to be give up.
    pub(crate) fn give_up(&mut self) {
        self.run_out(Timer::Establish);
        self.settle();
    }

    pub(crate) fn server(&self, id: u8) -> &Server {
        self.nodes[&ServerId(id)].server.as_ref().unwrap()
    }

    /// What each of them is doing, in one word.
    pub(crate) fn doing(&self) -> Vec<&'static str> {
        let words = self.nodes.values().map(|node| node.server.as_ref());
        words.map(|server| server.map_or("down", Server::doing)).collect()
    }

    pub(crate) fn leader(&self) -> Option<u8> {
        let leads = |node: &&Node| node.server.as_ref().is_some_and(Server::is_leading);
        let mut all = self.nodes.iter().filter(|(_, node)| leads(node)).map(|(id, _)| id.0);
        let leader = all.next();
        assert_eq!(all.next(), None, "two of them lead");
        leader
    }

    pub(crate) fn notes(&mut self, id: u8) -> Vec<Note> {
        std::mem::take(&mut self.nodes.get_mut(&ServerId(id)).unwrap().notes)
    }

    /// The version of the members in force, for all this server knows.
    pub(crate) fn version(&self, id: u8) -> Zxid {
        self.server(id).members().version()
    }

    /// What clients of a server read.
    pub(crate) fn shown(&self, id: u8) -> (String, Zxid, i32) {
        let node = self.server(id).tree().get("/zookeeper/config").unwrap();
        let text = String::from_utf8(node.data().as_deref().unwrap().to_vec()).unwrap();
        (text, node.stat().mzxid, node.stat().version)
    }

    /// What its disk would make of it.
    pub(crate) fn on_disk(&self, id: u8) -> Option<Zxid> {
        let saved = recover(&self.nodes[&ServerId(id)].files, &Rules::default()).unwrap().saved;
        saved.members.map(|members| members.version())
    }

    /// The host of a leader itself wishes for other members, and everything arrives.
    pub(crate) fn own(&mut self, id: u8, joining: &str, leaving: &str) {
        let text = |text: &str| Some(text).filter(|text| !text.is_empty()).map(Text::from);
        let (joining, leaving) = (text(joining), text(leaving));
        let request = Request::Reconfig { joining, leaving, members: None, config_id: -1 };
        self.input(ServerId(id), Input::Own(request));
    }

    pub(crate) fn own_write(&mut self, id: u8, path: &str) {
        let create = zoolab_core::request::Create {
            op: zoolab_core::request::CreateOp::Create,
            path: path.into(),
            data: None as Data,
            acl: Some(vec![AclWish {
                perms: 31,
                scheme: Some("world".into()),
                id: Some("anyone".into()),
            }]),
            flags: 0,
            ttl_ms: -1,
        };
        self.input(ServerId(id), Input::Own(Request::Create(create)));
    }

    /// A client of a server, with a session of its own.
    pub(crate) fn connect(&mut self, id: u8, conn: u64) {
        let id = ServerId(id);
        let conn = ConnId(conn);
        self.input(id, Input::Accepted { conn, address: [127, 0, 0, 1].into() });
        let request = ConnectRequest {
            last_zxid_seen: Zxid::ZERO,
            timeout_ms: 10_000,
            session: zoolab_core::SessionId::NONE,
            password: None,
            read_only: Some(false),
        };
        self.input(id, Input::Connect { conn, request });
        self.arrive();
    }

    /// It may do everything.
    pub(crate) fn mighty(&mut self, id: u8, conn: u64) {
        let auth = Some(b"super:test"[..].into());
        let request = Request::Auth { scheme: Some("digest".into()), auth };
        self.ask(id, conn, request).unwrap();
    }

    /// A client asks for something.
    pub(crate) fn ask_later(&mut self, id: u8, conn: u64, request: Request) {
        let id = ServerId(id);
        self.xid += 1;
        self.nodes.get_mut(&id).unwrap().replies.clear();
        let (conn, xid) = (ConnId(conn), Xid(self.xid));
        self.input(id, Input::Request { conn, xid, request });
    }

    /// What it is answered.
    pub(crate) fn answer(&self, id: u8) -> Result<Body, Code> {
        let replies = &self.nodes[&ServerId(id)].replies;
        let reply = replies.iter().find(|reply| reply.xid == Xid(self.xid));
        let reply = reply.expect("an answer").clone();
        reply.err.map_or(Ok(reply.body), Err)
    }

    /// Both.
    pub(crate) fn ask(&mut self, id: u8, conn: u64, request: Request) -> Result<Body, Code> {
        self.ask_later(id, conn, request);
        self.arrive();
        self.answer(id)
    }
}
