//! Watches of each kind: what they tell, when they are over, how they go on.

use zoolab_client::{
    Client, Code, CreateMode, EventKind, Events, Failed, Notice, Removed, SessionState, WatchMode,
    WatcherKind,
};

use super::proxy::Proxy;
use super::{Outcome, Stage, is, same, wrong};

async fn make(zk: &Client, path: &str) -> Outcome {
    zk.create(path, b"", CreateMode::Persistent).await.map(drop).map_err(wrong)
}

/// What happened to which node.
fn node(notice: Notice) -> Result<(EventKind, String), String> {
    let Notice::Node { kind, path, .. } = notice else { return Err(wrong(notice)) };
    Ok((kind, path.to_string()))
}

/// What comes out of a stream without waiting: the event is there before the reply is.
fn come(events: &mut Events) -> Result<Vec<(EventKind, String)>, String> {
    std::iter::from_fn(|| events.try_next()).map(node).collect()
}

fn told(list: &[(EventKind, &str)]) -> Vec<(EventKind, String)> {
    list.iter().map(|(kind, path)| (*kind, (*path).to_owned())).collect()
}

pub(super) async fn one_shot(stage: &mut Stage) -> Outcome {
    let zk = stage.client("one-shot").await?;
    let (none, mut created) = zk.exists_and_watch("/a").await.map_err(wrong)?;
    same("none", none, None)?;
    make(&zk, "/a").await?;
    // Our own change, so it is there already.
    let now = created.try_now().ok_or("nothing after a create")?;
    same("created", node(now)?, (EventKind::Created, "/a".to_owned()))?;

    let (_, changed) = zk.get_and_watch("/a").await.map_err(wrong)?;
    let (_, mut exists) = zk.exists_and_watch("/a").await.map_err(wrong)?;
    let (_, _, mut children) = zk.children_and_watch("/a").await.map_err(wrong)?;
    zk.set("/a", b"1", None).await.map_err(wrong)?;
    same("changed", node(changed.await)?, (EventKind::DataChanged, "/a".to_owned()))?;
    let now = exists.try_now().ok_or("nothing after a set")?;
    same("both", node(now)?, (EventKind::DataChanged, "/a".to_owned()))?;
    same("not of children", children.try_now(), None)?;

    let (_, mut deleted) = zk.get_and_watch("/a").await.map_err(wrong)?;
    make(&zk, "/a/b").await?;
    let now = children.try_now().ok_or("nothing after a create below")?;
    same("children", node(now)?, (EventKind::ChildrenChanged, "/a".to_owned()))?;
    same("not of data", deleted.try_now(), None)?;
    let (_, _, mut children) = zk.children_and_watch("/a/b").await.map_err(wrong)?;
    zk.delete("/a/b", None).await.map_err(wrong)?;
    let now = children.try_now().ok_or("nothing after a delete")?;
    same("deleted", node(now)?, (EventKind::Deleted, "/a/b".to_owned()))?;
    zk.delete("/a", None).await.map_err(wrong)?;
    let now = deleted.try_now().ok_or("nothing after a delete")?;
    same("deleted", node(now)?, (EventKind::Deleted, "/a".to_owned()))?;
    zk.close().await.map_err(wrong)
}

pub(super) async fn persistent(stage: &mut Stage) -> Outcome {
    let zk = stage.client("persistent").await?;
    let mut events = zk.watch("/p", WatchMode::Persistent).await.map_err(wrong)?;
    for _ in 0..2 {
        make(&zk, "/p").await?;
        zk.set("/p", b"1", None).await.map_err(wrong)?;
        make(&zk, "/p/c").await?;
        zk.set("/p/c", b"1", None).await.map_err(wrong)?;
        zk.delete("/p/c", None).await.map_err(wrong)?;
        zk.delete("/p", None).await.map_err(wrong)?;
        let expected = [
            (EventKind::Created, "/p"),
            (EventKind::DataChanged, "/p"),
            (EventKind::ChildrenChanged, "/p"),
            (EventKind::ChildrenChanged, "/p"),
            (EventKind::Deleted, "/p"),
        ];
        same("events", come(&mut events)?, told(&expected))?;
    }
    zk.close().await.map_err(wrong)?;
    same("last", events.next().await, Some(Notice::Session(SessionState::Closed)))?;
    same("over", events.next().await, None)
}

pub(super) async fn recursive(stage: &mut Stage) -> Outcome {
    let zk = stage.client("recursive").await?;
    let mut events = zk.watch("/r", WatchMode::Recursive).await.map_err(wrong)?;
    for path in ["/r", "/r/a", "/r/a/b", "/rest"] {
        make(&zk, path).await?;
    }
    zk.set("/r/a/b", b"1", None).await.map_err(wrong)?;
    zk.delete("/r/a/b", None).await.map_err(wrong)?;
    let expected = [
        (EventKind::Created, "/r"),
        (EventKind::Created, "/r/a"),
        (EventKind::Created, "/r/a/b"),
        (EventKind::DataChanged, "/r/a/b"),
        (EventKind::Deleted, "/r/a/b"),
    ];
    same("events", come(&mut events)?, told(&expected))?;
    zk.close().await.map_err(wrong)
}

pub(super) async fn removed(stage: &mut Stage) -> Outcome {
    let zk = stage.client("removed").await?;
    make(&zk, "/a").await?;
    let (_, data) = zk.get_and_watch("/a").await.map_err(wrong)?;
    let (_, _, mut children) = zk.children_and_watch("/a").await.map_err(wrong)?;
    zk.remove_watches("/a", WatcherKind::Data).await.map_err(wrong)?;
    let gone = |kind| Notice::WatchRemoved { kind, path: "/a".into(), connected: true };
    same("data", data.await, gone(Removed::Data))?;
    make(&zk, "/a/b").await?;
    is("the other one stays", children.try_now().is_some())?;

    let mut events = zk.watch("/a", WatchMode::Persistent).await.map_err(wrong)?;
    zk.remove_watches("/a", WatcherKind::Any).await.map_err(wrong)?;
    same("persistent", events.next().await, Some(gone(Removed::Persistent)))?;
    same("over", events.next().await, None)?;
    let again = zk.remove_watches("/a", WatcherKind::Any).await.err();
    same("no more", again, Some(Failed::Code(Code::NoWatcher)))?;

    // One of two is dropped; the other one goes on.
    let first = zk.watch("/a", WatchMode::Recursive).await.map_err(wrong)?;
    let mut second = zk.watch("/a", WatchMode::Recursive).await.map_err(wrong)?;
    drop(first);
    zk.set("/a/b", b"1", None).await.map_err(wrong)?;
    same("second", come(&mut second)?, told(&[(EventKind::DataChanged, "/a/b")]))?;
    zk.close().await.map_err(wrong)
}

pub(super) async fn reconnect(stage: &mut Stage) -> Outcome {
    let other = stage.client("watches").await?;
    let proxy = Proxy::to(stage.address()).await?;
    let zk = Stage::builder(&proxy.address(), "watches").connect().await.map_err(wrong)?;
    for path in ["/changed", "/deleted", "/parent", "/same", "/later", "/all"] {
        make(&other, path).await?;
    }
    let (_, changed) = zk.get_and_watch("/changed").await.map_err(wrong)?;
    let (_, deleted) = zk.exists_and_watch("/deleted").await.map_err(wrong)?;
    let (_, created) = zk.exists_and_watch("/created").await.map_err(wrong)?;
    let (_, mut passing) = zk.exists_and_watch("/passing").await.map_err(wrong)?;
    let (_, _, parent) = zk.children_and_watch("/parent").await.map_err(wrong)?;
    let (_, mut unchanged) = zk.get_and_watch("/same").await.map_err(wrong)?;
    let (_, later) = zk.get_and_watch("/later").await.map_err(wrong)?;
    let mut all = zk.watch("/all", WatchMode::Recursive).await.map_err(wrong)?;

    proxy.cut()?;
    same("cut", all.next().await, Some(Notice::Session(SessionState::Disconnected)))?;
    other.set("/changed", b"1", None).await.map_err(wrong)?;
    other.delete("/deleted", None).await.map_err(wrong)?;
    make(&other, "/created").await?;
    make(&other, "/passing").await?;
    other.delete("/passing", None).await.map_err(wrong)?;
    make(&other, "/parent/child").await?;
    make(&other, "/all/missed").await?;
    proxy.heal()?;
    same("healed", all.next().await, Some(Notice::Session(SessionState::SyncConnected)))?;
    let name = |path: &str| path.to_owned();
    same("changed", node(changed.await)?, (EventKind::DataChanged, name("/changed")))?;
    same("deleted", node(deleted.await)?, (EventKind::Deleted, name("/deleted")))?;
    same("created", node(created.await)?, (EventKind::Created, name("/created")))?;
    same("parent", node(parent.await)?, (EventKind::ChildrenChanged, name("/parent")))?;
    // What was made and removed meanwhile is missed, and what did not change watches on.
    zk.sync("/").await.map_err(wrong)?;
    same("passing", passing.try_now(), None)?;
    same("unchanged", unchanged.try_now(), None)?;
    other.set("/later", b"1", None).await.map_err(wrong)?;
    same("later", node(later.await)?, (EventKind::DataChanged, name("/later")))?;
    make(&other, "/all/seen").await?;
    let seen = all.next().await.ok_or("over")?;
    same("all", node(seen)?, (EventKind::Created, name("/all/seen")))?;
    make(&other, "/passing").await?;
    same("still watched", node(passing.await)?, (EventKind::Created, name("/passing")))?;
    zk.close().await.map_err(wrong)?;
    other.close().await.map_err(wrong)
}
