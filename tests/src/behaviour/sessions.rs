//! Sessions: what they own, what they survive, how they end.

use std::time::Duration;

use zoolab_client::{
    Client, Code, CreateMode, EventKind, Failed, Notice, SessionState, State, WatchMode,
};

use super::proxy::Proxy;
use super::{Outcome, Stage, is, same, wrong};

/// Short, so that its end can be waited for.
const SHORT: Duration = Duration::from_secs(1);

fn is_deleted(notice: &Notice) -> bool {
    matches!(notice, Notice::Node { kind: EventKind::Deleted, .. })
}

pub(super) async fn ephemerals(stage: &mut Stage) -> Outcome {
    let (zk, other) = (stage.client("ephemerals").await?, stage.another("ephemerals").await?);
    zk.create("/e", b"", CreateMode::Ephemeral).await.map_err(wrong)?;
    zk.create("/f-", b"", CreateMode::EphemeralSequential).await.map_err(wrong)?;
    let (seen, gone) = other.exists_and_watch("/e").await.map_err(wrong)?;
    let owner = zk.session().ok_or("no session")?.id;
    same("owner", seen.map(|stat| stat.ephemeral_owner), Some(owner))?;
    let mut mine = zk.ephemerals("/").await.map_err(wrong)?;
    mine.sort();
    same("mine", mine, vec!["/ephemerals/e".into(), "/ephemerals/f-0000000001".into()])?;
    same("not others'", other.ephemerals("/").await, Ok(Vec::new()))?;
    zk.close().await.map_err(wrong)?;
    is("they go with the session", is_deleted(&gone.await))?;
    same("all of them", other.children("/").await.map_err(wrong)?.0, Vec::<String>::new())?;
    other.close().await.map_err(wrong)
}

pub(super) async fn reconnect(stage: &mut Stage) -> Outcome {
    let other = stage.client("reconnect").await?;
    let proxy = Proxy::to(stage.address()).await?;
    let zk = Stage::builder(&proxy.address(), "reconnect").connect().await.map_err(wrong)?;
    let mut states = zk.states();
    let session = zk.session();
    zk.create("/e", b"", CreateMode::Ephemeral).await.map_err(wrong)?;
    for _ in 0..3 {
        proxy.cut()?;
        same("cut", states.next().await, Some(SessionState::Disconnected))?;
        same("state", zk.status().state, State::Connecting)?;
        is("others see it", other.exists("/e").await.map_err(wrong)?.is_some())?;
        proxy.heal()?;
        same("healed", states.next().await, Some(SessionState::SyncConnected))?;
        same("session", zk.session(), session)?;
        zk.set("/e", b"", None).await.map_err(wrong)?;
    }
    // What is under way when the connection goes was done, or not; nobody knows.
    let sets: Vec<_> = (0..100).map(|_| zk.set("/e", b"", None)).collect();
    let (mut done, mut lost) = (0, 0);
    for set in sets {
        match set.await {
            Ok(_) if lost == 0 => done += 1,
            Err(Failed::ConnectionLoss) => lost += 1,
            other => return Err(format!("after {done} and {lost}: {other:?}")),
        }
        if done == 10 {
            proxy.cut()?;
        }
    }
    proxy.heal()?;
    let version = zk.get("/e").await.map_err(wrong)?.stat.version;
    is("what was answered is done", (3 + done..=103).contains(&version))?;
    zk.close().await.map_err(wrong)?;
    same("closed", other.exists("/e").await, Ok(None))?;
    other.close().await.map_err(wrong)
}

pub(super) async fn another_server(stage: &mut Stage) -> Outcome {
    stage.client("another").await?.close().await.map_err(wrong)?;
    let (first, second) = (Proxy::to(stage.address()).await?, Proxy::to(stage.address()).await?);
    let zk = Stage::builder(&first.address(), "another").connect().await.map_err(wrong)?;
    let mut states = zk.states();
    let session = zk.session();
    let (_, watch) = zk.exists_and_watch("/a").await.map_err(wrong)?;
    // Ours is not among them, so the client has to move.
    zk.update_servers(&second.address()).map_err(wrong)?;
    same("left", states.next().await, Some(SessionState::Disconnected))?;
    same("moved", states.next().await, Some(SessionState::SyncConnected))?;
    same("session", zk.session(), session)?;
    first.cut()?;
    zk.create("/a", b"", CreateMode::Ephemeral).await.map_err(wrong)?;
    is("watch", matches!(watch.await, Notice::Node { kind: EventKind::Created, .. }))?;
    let here = zk.status().server.ok_or("no server")?;
    is("server", second.address().ends_with(here.rsplit(':').next().unwrap_or("")))?;
    zk.close().await.map_err(wrong)
}

pub(super) async fn expiry(stage: &mut Stage) -> Outcome {
    let other = stage.client("expiry").await?;
    let proxy = Proxy::to(stage.address()).await?;
    let builder = Stage::builder(&proxy.address(), "expiry").session_timeout(SHORT);
    let zk = builder.connect().await.map_err(wrong)?;
    let mut states = zk.states();
    let mut events = zk.watch("/", WatchMode::Recursive).await.map_err(wrong)?;
    let (_, watch) = zk.exists_and_watch("/never").await.map_err(wrong)?;
    zk.create("/e", b"", CreateMode::Ephemeral).await.map_err(wrong)?;
    is("our own", matches!(events.next().await, Some(Notice::Node { .. })))?;
    let (seen, gone) = other.exists_and_watch("/e").await.map_err(wrong)?;
    is("it is there", seen.is_some())?;
    proxy.cut()?;
    same("cut", states.next().await, Some(SessionState::Disconnected))?;
    is("others see the end first", is_deleted(&gone.await))?;
    proxy.heal()?;
    same("told", states.next().await, Some(SessionState::Expired))?;
    same("nothing after it", states.next().await, None)?;
    let end = |state| Some(Notice::Session(state));
    same("stream", events.next().await, end(SessionState::Disconnected))?;
    same("its end", events.next().await, end(SessionState::Expired))?;
    same("watch", Some(watch.await), end(SessionState::Expired))?;
    same("calls", zk.get("/").await.err(), Some(Failed::Code(Code::SessionExpired)))?;
    let session = zk.session().ok_or("no session")?;
    let heir = Stage::builder(stage.address(), "expiry").resume(session).connect().await;
    is("nobody can go on with it", heir.is_err())?;
    other.close().await.map_err(wrong)
}

pub(super) async fn restart(stage: &mut Stage) -> Outcome {
    let zk = stage.client("restart").await?;
    let mut states = zk.states();
    let session = zk.session();
    zk.create("/kept", b"one", CreateMode::Persistent).await.map_err(wrong)?;
    zk.create("/e", b"", CreateMode::Ephemeral).await.map_err(wrong)?;
    let set = zk.set("/kept", b"two", 0).await.map_err(wrong)?;
    let (_, changed) = zk.get_and_watch("/kept").await.map_err(wrong)?;
    let mut events = zk.watch("/", WatchMode::Recursive).await.map_err(wrong)?;
    stage.kill()?;
    same("killed", states.next().await, Some(SessionState::Disconnected))?;
    let while_down = zk.get("/kept");
    stage.start().await?;
    // Somebody new looks first: a client that has seen more than its server has is not let in.
    let other = Client::connect(stage.address()).await.map_err(wrong)?;
    let found = other.get("/restart/kept").await.map_err(|failed| format!("lost: {failed}"))?;
    same("found", found.bytes(), b"two")?;
    same("started", states.next().await, Some(SessionState::SyncConnected))?;
    same("session", zk.session(), session)?;
    // It waited for the next attempt to connect, and shared its fate.
    match while_down.await {
        Ok(_) | Err(Failed::ConnectionLoss) => {}
        Err(other) => return Err(wrong(other)),
    }
    let kept = zk.get("/kept").await.map_err(wrong)?;
    same("kept", (kept.bytes(), kept.stat), (&b"two"[..], set))?;
    let mine = zk.exists("/e").await.map_err(wrong)?;
    let owner = mine.map(|stat| stat.ephemeral_owner);
    same("ephemeral", owner, session.map(|session| session.id))?;

    other.set("/restart/kept", b"three", None).await.map_err(wrong)?;
    let is_changed = |notice: &Notice| matches!(notice, Notice::Node { kind: EventKind::DataChanged, path, .. } if &**path == "/kept");
    is("watch", is_changed(&changed.await))?;
    let end = |state| Some(Notice::Session(state));
    same("stream", events.next().await, end(SessionState::Disconnected))?;
    same("goes on", events.next().await, end(SessionState::SyncConnected))?;
    is("watches on", events.next().await.is_some_and(|notice| is_changed(&notice)))?;
    zk.close().await.map_err(wrong)?;
    same("gone", other.exists("/restart/e").await, Ok(None))?;
    other.close().await.map_err(wrong)
}
