//! Server and clients, unchanged, in a simulated network in which everything goes wrong.
//!
//! ```text
//! RUSTFLAGS="--cfg madsim" MADSIM_TEST_SEED=7 \
//!     cargo test -p zoolab-client --test simulated --target-dir target/madsim
//! ```
//!
//! What happened, and when, is a list of lines; `EVENTS` names a file that it is written to. The
//! same seed gives the same lines, in every process.
#![cfg(madsim)]

#[allow(dead_code, reason = "this disk neither fails nor counts")]
#[path = "../../server/tests/disk/memory.rs"]
mod memory;

use std::fmt;
use std::fs;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use madsim::net::NetSim;
use madsim::plugin::simulator;
use madsim::rand::{Rng, thread_rng};
use madsim::runtime::{Handle, NodeHandle};
use memory::Memory;
use tokio::time::{Duration, Instant, sleep, timeout};
use zoolab_client::{Client, Code, CreateMode, EventKind, Failed, Notice, SessionState, WatchMode};
use zoolab_server::{Options, Serving};

const SERVER: &str = "10.0.0.1:2181";
const FAULTS: usize = 10;

/// No trouble lasts longer than sessions do, but for the last.
const SESSION: Duration = Duration::from_secs(40);
const TROUBLE_MS: Range<u64> = 50..4000;

/// By then all is over, in simulated time, or something is lost for ever.
const LONG: Duration = Duration::from_secs(600);

/// What happened.
#[derive(Clone)]
struct Events {
    began: Instant,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Events {
    #[allow(clippy::disallowed_methods, reason = "it is a simulated one")]
    fn begin() -> Self {
        Self { began: Instant::now(), lines: Arc::default() }
    }

    fn note(&self, what: impl fmt::Display) {
        let at = self.began.elapsed().as_micros();
        self.lines.lock().unwrap().push(format!("{at:>12} {what}"));
    }
}

/// What everybody in a story knows.
#[derive(Clone)]
struct Story {
    events: Events,
    disk: Memory,
    /// The newest number that was written, and answered.
    answered: Arc<AtomicU64>,
    /// The newest that was asked for.
    asked: Arc<AtomicU64>,
    calm: Arc<AtomicBool>,
}

fn number(bytes: &[u8]) -> u64 {
    std::str::from_utf8(bytes).unwrap().parse().unwrap()
}

fn some(range: Range<u64>) -> u64 {
    thread_rng().gen_range(range)
}

async fn connect() -> Client {
    let builder = Client::builder(SERVER).session_timeout(SESSION).connect_within(LONG);
    builder.connect().await.unwrap()
}

fn node(name: &str, last: u8) -> NodeHandle {
    Handle::current().create_node().name(name).ip([10, 0, 0, last].into()).build()
}

/// Asks until it is answered.
async fn insist<T>(ask: impl Fn() -> zoolab_client::Call<T>) -> Result<T, Failed> {
    loop {
        match ask().await {
            Err(Failed::ConnectionLoss) => {}
            other => return other,
        }
    }
}

impl Story {
    fn begin(disk: Memory) -> Self {
        disk.sync_takes(Duration::from_millis(3));
        Self {
            events: Events::begin(),
            disk,
            answered: Arc::default(),
            asked: Arc::default(),
            calm: Arc::default(),
        }
    }

    fn server(&self) -> NodeHandle {
        let story = self.clone();
        let serve = move || {
            let story = story.clone();
            async move {
                let listen = SERVER.parse().unwrap();
                let options = Options { listen, log_grows_by: 0, ..Options::default() };
                let disk = Box::new(story.disk.clone());
                let serving = Serving::recover(options, disk).await.unwrap();
                story.events.note("server: serves");
                serving.run(std::future::pending()).await.unwrap();
            }
        };
        let handle = Handle::current();
        handle.create_node().name("server").ip([10, 0, 0, 1].into()).init(serve).build()
    }

    /// Writes one number after the other for as long as there is trouble.
    async fn write(self) -> Result<Client, String> {
        let zk = connect().await;
        let session = zk.session();
        self.events.note(format_args!("writer: {session:?}"));
        insist(|| zk.create("/mine", b"", CreateMode::Ephemeral)).await.or_else(already)?;
        loop {
            // One more after all is calm, for a reader that has missed nothing so far.
            let calm = self.calm.load(Ordering::Relaxed);
            let write = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
            let set = insist(|| zk.set("/number", write.to_string().as_bytes(), None)).await;
            let stat = set.map_err(|failed| format!("write {write}: {failed}"))?;
            self.events.note(format_args!("writer: {write} is {}", stat.mzxid));
            self.answered.store(write, Ordering::Relaxed);
            if calm {
                break;
            }
            sleep(Duration::from_millis(some(0..100))).await;
        }
        if zk.session() != session {
            return Err(format!("{session:?} has become {:?}", zk.session()));
        }
        Ok(zk)
    }

    /// Hears of each number, or of a later one, until it has heard of the last.
    async fn read(self) -> Result<(), String> {
        let zk = connect().await;
        let mut states = zk.states();
        let mut all = zk.watch("/", WatchMode::Recursive).await.map_err(|it| it.to_string())?;
        let (mut last, mut zxid) = (0, None);
        loop {
            let (before, read) =
                (self.answered.load(Ordering::Relaxed), zk.get_and_watch("/number"));
            let (content, changed) = match read.await {
                Err(Failed::ConnectionLoss) => continue,
                other => other.map_err(|failed| format!("read: {failed}"))?,
            };
            let got = number(content.bytes());
            self.events.note(format_args!("reader: {got} is {}", content.stat.mzxid));
            // There is one server only: it has what was answered before.
            if got < last.max(before) || got > self.asked.load(Ordering::Relaxed) {
                return Err(format!("read {got}, but {last} was read, {before} answered"));
            }
            if zxid.is_some_and(|zxid| content.stat.mzxid < zxid) {
                return Err(format!("{got} is older than {last}"));
            }
            (last, zxid) = (got, Some(content.stat.mzxid));
            while let Some(state) = states.try_next() {
                self.events.note(format_args!("reader: {state:?}"));
            }
            while let Some(notice) = all.try_next() {
                self.events.note(format_args!("reader: {notice:?}"));
            }
            let is_last =
                self.calm.load(Ordering::Relaxed) && last == self.asked.load(Ordering::Relaxed);
            if is_last {
                return zk.close().await.map_err(|failed| failed.to_string());
            }
            // One that is lost is waited for in vain.
            let notice = changed.await;
            if !matches!(notice, Notice::Node { kind: EventKind::DataChanged, .. }) {
                return Err(format!("{notice:?}"));
            }
        }
    }

    /// One thing after the other, each over before the next begins.
    async fn trouble(&self, server: &NodeHandle, clients: &[NodeHandle]) -> Result<(), String> {
        let (net, handle) = (simulator::<NetSim>(), Handle::current());
        for _ in 0..FAULTS {
            sleep(Duration::from_millis(some(0..2000))).await;
            let (kind, time) = (some(0..5), Duration::from_millis(some(TROUBLE_MS)));
            match kind {
                0 | 1 => {
                    let cut = if kind == 0 { server } else { &clients[some(0..2) as usize] };
                    self.events.note(format_args!("cut {:?} for {time:?}", cut.id()));
                    net.clog_node(cut.id());
                    sleep(time).await;
                    net.unclog_node(cut.id());
                }
                2 => {
                    self.events.note(format_args!("slow for {time:?}"));
                    let latency = |low: u64, high: u64| {
                        let range = Duration::from_millis(low)..Duration::from_millis(high);
                        net.update_config(|config| config.send_latency = range);
                    };
                    latency(100, 900);
                    sleep(time).await;
                    latency(1, 10);
                }
                _ => {
                    let power = kind == 4;
                    self.events.note(format_args!("kill, power {power}, for {time:?}"));
                    handle.kill(server.id());
                    if power {
                        self.disk.lose_power();
                    }
                    sleep(time).await;
                    handle.restart(server.id());
                    self.look().await?;
                }
            }
            self.events.note("healed");
        }
        self.calm.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Somebody new, who has seen nothing, finds what was answered.
    async fn look(&self) -> Result<(), String> {
        let answered = self.answered.load(Ordering::Relaxed);
        let zk = connect().await;
        let found = insist(|| zk.get("/number")).await.map(|it| number(it.bytes()));
        let mine = insist(|| zk.exists("/mine")).await;
        zk.close().await.map_err(|failed| failed.to_string())?;
        self.events.note(format_args!("found {found:?}"));
        match found {
            Ok(found) if found >= answered => {}
            other => return Err(format!("{answered} was answered, found {other:?}")),
        }
        match mine {
            Ok(Some(_)) => Ok(()),
            other => Err(format!("the ephemeral is {other:?}")),
        }
    }

    async fn perform(&self) -> Result<(), String> {
        let server = self.server();
        let first = connect().await;
        first.create("/number", b"0", CreateMode::Persistent).await.unwrap();
        first.close().await.unwrap();
        let clients = [node("writer", 2), node("reader", 3)];
        let writer = clients[0].spawn(self.clone().write());
        let reader = clients[1].spawn(self.clone().read());
        // Both are there before anything happens.
        while self.answered.load(Ordering::Relaxed) == 0 {
            sleep(Duration::from_millis(1)).await;
        }
        self.trouble(&server, &clients).await?;
        let zk = writer.await.unwrap()?;
        reader.await.unwrap()?;
        self.look().await?;
        self.expire(zk, clients[0].id()).await
    }

    /// The writer is cut off for longer than its session may go unheard of.
    async fn expire(&self, zk: Client, writer: madsim::task::NodeId) -> Result<(), String> {
        let net = simulator::<NetSim>();
        let other = connect().await;
        let (seen, gone) = other.exists_and_watch("/mine").await.map_err(|it| it.to_string())?;
        self.events.note(format_args!("cut off: {:?}", seen.map(|stat| stat.ephemeral_owner)));
        let mut states = zk.states();
        net.clog_node(writer);
        let notice = gone.await;
        self.events.note(format_args!("others hear {notice:?}"));
        if !matches!(notice, Notice::Node { kind: EventKind::Deleted, .. }) {
            return Err(format!("{notice:?}"));
        }
        net.unclog_node(writer);
        let last = loop {
            match states.next().await {
                Some(SessionState::Disconnected | SessionState::SyncConnected) => {}
                other => break other,
            }
        };
        self.events.note(format_args!("told {last:?}"));
        let failed = zk.get("/number").await.err();
        if (last, failed) != (Some(SessionState::Expired), Some(Failed::Code(Code::SessionExpired)))
        {
            return Err(format!("{last:?}, and then {failed:?}"));
        }
        Ok(())
    }
}

fn already<T: Default>(failed: Failed) -> Result<T, String> {
    // Done by a call whose answer was lost.
    if failed == Failed::Code(Code::NodeExists) {
        return Ok(T::default());
    }
    Err(failed.to_string())
}

#[tokio::test]
async fn sessions_watches_and_writes_survive_what_they_should() {
    let story = Story::begin(Memory::default());
    let director = node("director", 4);
    let performed = story.clone();
    let outcome =
        director.spawn(async move { timeout(LONG, performed.perform()).await }).await.unwrap();
    let events = story.events.lines.lock().unwrap().join("\n") + "\n";
    if let Ok(file) = std::env::var("EVENTS") {
        fs::write(file, &events).unwrap();
    }
    match outcome {
        Ok(Ok(())) => {}
        Ok(Err(broken)) => panic!("{events}{broken}"),
        Err(_) => panic!("{events}it is not over after {LONG:?}"),
    }
}

/// The same on a disk that says it has synced and has not: the story would notice.
#[tokio::test]
async fn a_disk_that_lies_is_found_out() {
    let disk = Memory::default();
    let story = Story::begin(disk.clone());
    let told = async move {
        let server = story.server();
        let first = connect().await;
        disk.lie();
        first.create("/number", b"0", CreateMode::Persistent).await.unwrap();
        Handle::current().kill(server.id());
        disk.lose_power();
        Handle::current().restart(server.id());
        story.look().await.unwrap_err()
    };
    let broken = node("director", 4).spawn(told).await.unwrap();
    assert!(broken.contains("NoNode"), "{broken}");
}
