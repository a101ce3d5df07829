//! A client and a server of our own, on loopback.
#![cfg(not(madsim))]

use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use zoolab_client::{
    Client, Code, ConnectError, CreateMode, EventKind, Failed, Notice, Removed, SessionState,
    State, WatchMode, WatcherKind,
};
use zoolab_server::{Options, Serving, Whitelist};

struct Running {
    address: String,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Running {
    async fn start() -> Self {
        Self::with(Options::default()).await
    }

    async fn with(options: Options) -> Self {
        let serving = Serving::bind(options).await.unwrap();
        let address = serving.local_addr().to_string();
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(async move {
            let _ = serving.run(async { drop(stopped.await) }).await;
        });
        Self { address, stop, task }
    }

    async fn stop(self) {
        self.stop.send(()).unwrap();
        self.task.await.unwrap();
    }
}

fn node(kind: EventKind, notice: &Notice) -> bool {
    matches!(notice, Notice::Node { kind: found, .. } if *found == kind)
}

#[tokio::test]
async fn a_dropped_call_is_performed_and_takes_no_other_calls_answer() {
    let server = Running::start().await;
    let zk = Client::connect(&server.address).await.unwrap();
    for round in 0..50 {
        let path = format!("/{round}");
        drop(zk.create(&path, b"", CreateMode::Persistent));
        let mut kept = zk.set(&path, b"x", None);
        drop(zk.get(&path));
        let children = zk.children("/");
        // Waited for in vain, most likely, and then again.
        let first = timeout(Duration::ZERO, &mut kept).await;
        let (names, _) = children.await.unwrap();
        assert!(names.contains(&round.to_string()), "{names:?}");
        let stat = match first {
            Ok(set) => set.unwrap(),
            Err(_) => kept.await.unwrap(),
        };
        assert_eq!(stat.version, 1);
    }
    assert_eq!(zk.children("/").await.unwrap().0.len(), 51, "with /zookeeper");
}

#[tokio::test]
async fn a_watch_that_is_dropped_leaves_nothing_behind() {
    let options = Options { four_letter_words: Whitelist::all(), ..Options::default() };
    let server = Running::with(options).await;
    let zk = Client::connect(&server.address).await.unwrap();
    zk.create("/a", b"", CreateMode::Persistent).await.unwrap();
    let first = zk.watch("/a", WatchMode::Recursive).await.unwrap();
    let mut second = zk.watch("/a", WatchMode::Recursive).await.unwrap();
    drop(first);
    zk.set("/a", b"1", None).await.unwrap();
    assert!(node(EventKind::DataChanged, &second.try_next().unwrap()), "the other one stays");
    drop(second);
    // Also one whose call was dropped before it was answered.
    drop(zk.watch("/a", WatchMode::Persistent));
    let removed = zk.remove_watches("/a", WatcherKind::Any).await;
    assert_eq!(removed, Err(Failed::Code(Code::NoWatcher)));
    let (_, watch) = zk.get_and_watch("/a").await.unwrap();
    drop(watch);
    // The client has forgotten; the server has not, and its event is nobody's.
    assert_eq!(
        zk.remove_watches("/a", WatcherKind::Data).await,
        Err(Failed::Code(Code::NoWatcher))
    );
    zk.set("/a", b"2", None).await.unwrap();
}

#[tokio::test]
async fn an_event_is_there_before_the_reply_that_shows_it() {
    let server = Running::start().await;
    let zk = Client::connect(&server.address).await.unwrap();
    let other = Client::connect(&server.address).await.unwrap();
    zk.create("/a", b"", CreateMode::Persistent).await.unwrap();
    for version in 0..100 {
        let (content, mut watch) = zk.get_and_watch("/a").await.unwrap();
        assert_eq!(content.stat.version, version);
        let set = other.set("/a", b"", None);
        while zk.get("/a").await.unwrap().stat.version == version {}
        assert!(node(EventKind::DataChanged, &watch.try_now().unwrap()));
        set.await.unwrap();
    }
}

#[tokio::test]
async fn removed_watches_say_so_and_are_over() {
    let server = Running::start().await;
    let zk = Client::connect(&server.address).await.unwrap();
    let (none, watch) = zk.exists_and_watch("/a").await.unwrap();
    assert_eq!(none, None);
    zk.remove_watches("/a", WatcherKind::Data).await.unwrap();
    let removed = Notice::WatchRemoved { kind: Removed::Data, path: "/a".into(), connected: true };
    assert_eq!(watch.await, removed);
    let mut events = zk.watch("/a", WatchMode::Persistent).await.unwrap();
    zk.remove_watches("/a", WatcherKind::Any).await.unwrap();
    assert!(matches!(events.next().await, Some(Notice::WatchRemoved { .. })));
    assert_eq!(events.next().await, None);
}

#[tokio::test]
async fn a_watch_for_what_was_refused_is_none() {
    let server = Running::start().await;
    let zk = Client::connect(&server.address).await.unwrap();
    let refused = zk.get_and_watch("/a").await.err();
    assert_eq!(refused, Some(Failed::Code(Code::NoNode)));
    assert_eq!(zk.exists("a").await, Err(Failed::Code(Code::BadArguments)));
}

#[tokio::test]
async fn a_session_goes_on_in_another_client() {
    let server = Running::start().await;
    let zk = Client::connect(&server.address).await.unwrap();
    zk.create("/e", b"", CreateMode::Ephemeral).await.unwrap();
    let session = zk.session().unwrap();
    drop(zk);
    let heir = Client::builder(&server.address).resume(session).connect().await.unwrap();
    assert_eq!(heir.session(), Some(session));
    heir.close().await.unwrap();
    let gone = Client::builder(&server.address).resume(session).connect().await.err();
    assert_eq!(gone, Some(ConnectError::Over(State::Expired)));
    let last = Client::connect(&server.address).await.unwrap();
    assert_eq!(last.exists("/e").await, Ok(None));
}

#[tokio::test]
async fn after_the_end_everybody_is_told() {
    let server = Running::start().await;
    let zk = Client::connect(&server.address).await.unwrap();
    let mut states = zk.states();
    let (_, watch) = zk.exists_and_watch("/a").await.unwrap();
    let mut events = zk.watch("/a", WatchMode::Persistent).await.unwrap();
    let before = zk.create("/a-", b"", CreateMode::PersistentSequential);
    let closed = zk.close();
    let after = zk.get("/");
    assert_eq!(&*before.await.unwrap(), "/a-0000000000");
    closed.await.unwrap();
    assert_eq!(after.await, Err(Failed::ConnectionLoss));
    assert_eq!(zk.get("/").await, Err(Failed::Code(Code::SessionExpired)));
    let closed = Notice::Session(SessionState::Closed);
    assert_eq!(watch.await, closed);
    assert_eq!(events.next().await, Some(closed));
    assert_eq!(events.next().await, None);
    assert_eq!(states.next().await, Some(SessionState::Closed));
    assert_eq!(states.next().await, None);
    assert_eq!(zk.states().next().await, None);
    assert_eq!(zk.established().await, State::Closed);
    assert_eq!(zk.close().await, Ok(()), "it is closed");
}

#[tokio::test]
async fn without_a_server_one_is_told_in_time() {
    // Somebody who takes connections and never says anything.
    let mute = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = mute.local_addr().unwrap().to_string();
    let within = Duration::from_millis(50);
    let none = Client::builder(&address).connect_within(within).connect().await.err();
    assert_eq!(none, Some(ConnectError::Timeout(within)));
    let wrong = Client::connect("127.0.0.1:port").await.unwrap_err().to_string();
    assert!(wrong.contains("port"), "{wrong}");
    let timeout = Client::builder(&address).session_timeout(Duration::ZERO).connect().await;
    assert!(matches!(timeout.err(), Some(ConnectError::Config(_))));
}

#[tokio::test]
async fn what_is_asked_before_there_is_a_connection_waits() {
    let server = Running::start().await;
    let zk = Client::builder(&server.address).start().unwrap();
    let mut states = zk.states();
    let made = zk.create("/a", b"", CreateMode::Persistent);
    let read = zk.get("/a");
    made.await.unwrap();
    read.await.unwrap();
    assert_eq!(states.next().await, Some(SessionState::SyncConnected));
}

#[tokio::test]
async fn a_server_that_stops_is_left_for_another() {
    let (first, second) = (Running::start().await, Running::start().await);
    let zk = Client::connect(&first.address).await.unwrap();
    let mut states = zk.states();
    let wrong = zk.update_servers(&format!("{}/chroot", second.address)).unwrap_err();
    assert_eq!(wrong.to_string(), "servers with chroot /chroot, expected none or /");
    zk.update_servers(&second.address).unwrap();
    // Another server of ours is another ensemble, and knows nothing of the session.
    assert_eq!(states.next().await, Some(SessionState::Disconnected));
    assert_eq!(states.next().await, Some(SessionState::Expired));
    first.stop().await;
    second.stop().await;
}

#[tokio::test]
async fn an_answer_too_long_ends_the_connection_and_nothing_else() {
    let server = Running::start().await;
    let zk = Client::builder(&server.address).frame_max(1000).connect().await.unwrap();
    zk.create("/a", &[7; 2000], CreateMode::Ephemeral).await.unwrap();
    assert_eq!(zk.get("/a").await, Err(Failed::ConnectionLoss));
    assert!(zk.exists("/a").await.unwrap().is_some());
}
