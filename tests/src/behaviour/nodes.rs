//! Reading and writing: what comes back, in which order, and what is refused how.

use std::time::Duration;

use tokio::time::timeout;
use zoolab_client::{
    Change, Code, CreateMode, Failed, NewNode, OpResult, ReadOp, SessionId, WatcherKind,
};

use super::{Outcome, Stage, is, same, wrong};

pub(super) async fn nodes_and_stats(stage: &mut Stage) -> Outcome {
    let zk = stage.client("nodes").await?;
    let node = NewNode::open("/a", b"one", CreateMode::Persistent);
    let (path, made) = zk.create_node(node).await.map_err(wrong)?;
    same("path", &*path, "/a")?;
    same("versions", (made.version, made.cversion, made.aversion), (0, 0, 0))?;
    same("zxids", (made.mzxid, made.pzxid), (made.czxid, made.czxid))?;
    same("times", made.mtime, made.ctime)?;
    same("sizes", (made.data_length, made.num_children), (3, 0))?;
    same("owner", made.ephemeral_owner, SessionId::NONE)?;
    let read = zk.get("/a").await.map_err(wrong)?;
    same("read", (read.bytes(), read.stat), (&b"one"[..], made))?;

    let set = zk.set("/a", b"three", 0).await.map_err(wrong)?;
    same("set", (set.version, set.data_length, set.czxid), (1, 5, made.czxid))?;
    is("a later change has a later zxid", set.mzxid > made.mzxid && set.pzxid == made.pzxid)?;
    zk.create("/a/b", b"", CreateMode::Persistent).await.map_err(wrong)?;
    let (names, parent) = zk.children("/a").await.map_err(wrong)?;
    same("children", names, vec!["b".to_owned()])?;
    let child = zk.exists("/a/b").await.map_err(wrong)?.ok_or("no child")?;
    same("parent", (parent.cversion, parent.num_children, parent.pzxid), (1, 1, child.czxid))?;
    same("descendants", zk.descendants("/").await, Ok(2))?;

    let null = NewNode { data: None, ..NewNode::open("/null", b"", CreateMode::Persistent) };
    zk.create_node(null).await.map_err(wrong)?;
    same("null", zk.get("/null").await.map_err(wrong)?.data, None)?;
    zk.set("/null", b"", None).await.map_err(wrong)?;
    is("empty is not null", zk.get("/null").await.map_err(wrong)?.data.is_some())?;

    same("delete", zk.delete("/a/b", 0).await, Ok(()))?;
    same("deleted", zk.exists("/a/b").await, Ok(None))?;
    same("sync", zk.sync("/").await, Ok(()))?;
    is("the newest zxid is known", zk.status().zxid_last > set.mzxid)?;
    zk.close().await.map_err(wrong)
}

pub(super) async fn error_codes(stage: &mut Stage) -> Outcome {
    let zk = stage.client("errors").await?;
    zk.create("/a", b"", CreateMode::Persistent).await.map_err(wrong)?;
    zk.create("/a/b", b"", CreateMode::Persistent).await.map_err(wrong)?;
    zk.create("/e", b"", CreateMode::Ephemeral).await.map_err(wrong)?;
    let no_acl = NewNode { acl: Vec::new(), ..NewNode::open("/c", b"", CreateMode::Persistent) };
    let ttl = CreateMode::Ttl { ms: 0 };
    let persistent = CreateMode::Persistent;
    let found = [
        ("get", zk.get("/x").await.err(), Code::NoNode),
        ("set", zk.set("/x", b"", None).await.err(), Code::NoNode),
        ("delete", zk.delete("/x", None).await.err(), Code::NoNode),
        ("children", zk.children("/x").await.err(), Code::NoNode),
        ("acl", zk.acl("/x").await.err(), Code::NoNode),
        ("watched get", zk.get_and_watch("/x").await.err(), Code::NoNode),
        ("orphan", zk.create("/x/y", b"", persistent).await.err(), Code::NoNode),
        ("again", zk.create("/a", b"", persistent).await.err(), Code::NodeExists),
        ("root", zk.create("/", b"", persistent).await.err(), Code::NodeExists),
        ("full", zk.delete("/a", None).await.err(), Code::NotEmpty),
        ("set version", zk.set("/a", b"", 7).await.err(), Code::BadVersion),
        ("delete version", zk.delete("/a/b", 7).await.err(), Code::BadVersion),
        ("below", zk.create("/e/f", b"", persistent).await.err(), Code::NoChildrenForEphemerals),
        ("relative", zk.get("a").await.err(), Code::BadArguments),
        ("slash", zk.get("/a/").await.err(), Code::BadArguments),
        ("dots", zk.get("/a/../b").await.err(), Code::BadArguments),
        ("no time", zk.create("/t", b"", ttl).await.err(), Code::BadArguments),
        ("no acl", zk.create_node(no_acl).await.err(), Code::InvalidAcl),
        ("watch", zk.remove_watches("/a", WatcherKind::Any).await.err(), Code::NoWatcher),
    ];
    for (what, failed, code) in found {
        same(what, failed, Some(Failed::Code(code)))?;
    }
    zk.close().await.map_err(wrong)?;
    same("closed", zk.get("/a").await.err(), Some(Failed::Code(Code::SessionExpired)))
}

pub(super) async fn sequential(stage: &mut Stage) -> Outcome {
    let zk = stage.client("sequential").await?;
    let seq = |path, mode| zk.create(path, b"", mode);
    let first = seq("/n-", CreateMode::PersistentSequential).await.map_err(wrong)?;
    same("first", &*first, "/n-0000000000")?;
    let second = seq("/n-", CreateMode::EphemeralSequential).await.map_err(wrong)?;
    same("second", &*second, "/n-0000000001")?;
    zk.delete(&second, None).await.map_err(wrong)?;
    // Every child that was ever made counts.
    zk.create("/other", b"", CreateMode::Persistent).await.map_err(wrong)?;
    let third = seq("/m-", CreateMode::PersistentSequential).await.map_err(wrong)?;
    same("third", &*third, "/m-0000000003")?;
    let under = seq("/", CreateMode::PersistentSequential).await.map_err(wrong)?;
    same("without a name", &*under, "/0000000004")?;
    seq("/box", CreateMode::Container).await.map_err(wrong)?;
    let ttl = CreateMode::TtlSequential { ms: 1_000_000 };
    same("ttl", &*seq("/t-", ttl).await.map_err(wrong)?, "/t-0000000006")?;
    zk.close().await.map_err(wrong)
}

pub(super) async fn multi(stage: &mut Stage) -> Outcome {
    let zk = stage.client("multi").await?;
    let create = |path| Change::Create(NewNode::open(path, b"x", CreateMode::Persistent));
    let check = |path: &str, version| Change::Check { path: path.into(), version };
    let set = |path: &str| Change::SetData { path: path.into(), data: None, version: -1 };
    let delete = |path: &str| Change::Delete { path: path.into(), version: -1 };
    let all = vec![create("/a"), create("/a/b"), check("/a", 0), set("/a"), delete("/a/b")];
    let done = zk.multi(all).await.map_err(wrong)?;
    let [made, below, checked, set_it, deleted] = &done[..] else { return Err(wrong(done)) };
    let path = |it: &OpResult| {
        let OpResult::Created { path, .. } = it else { return None };
        Some(path.to_string())
    };
    same("paths", (path(made), path(below)), (Some("/a".to_owned()), Some("/a/b".to_owned())))?;
    same("checked", (checked, deleted), (&OpResult::Check, &OpResult::Deleted))?;
    let OpResult::Set(stat) = set_it else { return Err(wrong(set_it)) };
    let now = zk.exists("/a").await.map_err(wrong)?.ok_or("no /a")?;
    same("one transaction", (stat.version, stat.mzxid, now.pzxid), (1, now.czxid, now.czxid))?;

    let none = zk.multi(vec![create("/c"), check("/a", 7), set("/a")]).await.map_err(wrong)?;
    let errors = [None, Some(Code::BadVersion), Some(Code::RuntimeInconsistency)];
    same("which one failed", none, errors.map(OpResult::Error).to_vec())?;
    same("nothing is done", zk.exists("/c").await, Ok(None))?;
    same("nothing asked", zk.multi(Vec::new()).await, Ok(Vec::new()))?;

    let get = |path: &str| ReadOp::GetData { path: path.into() };
    let children = ReadOp::GetChildren { path: "/".into() };
    let read = zk.multi_read(vec![get("/a"), get("/x"), children]).await.map_err(wrong)?;
    let [data, missing, names] = &read[..] else { return Err(wrong(read)) };
    is("data", matches!(data, OpResult::Data { data: None, stat } if stat.version == 1))?;
    same("missing", missing, &OpResult::Error(Some(Code::NoNode)))?;
    same("names", names, &OpResult::Children(vec!["a".into()]))?;
    zk.close().await.map_err(wrong)
}

pub(super) async fn pipelining(stage: &mut Stage) -> Outcome {
    let zk = stage.client("pipelining").await?;
    // Nothing of this is waited for before all of it is asked.
    let made = zk.create("/a", b"", CreateMode::Persistent);
    let asked: Vec<_> = (1..=200)
        .map(|n: i32| {
            let set = zk.set("/a", n.to_string().as_bytes(), n - 1);
            (n, set, zk.get("/a"), zk.set("/a", b"", 1000))
        })
        .collect();
    let gone = zk.delete("/a", 200);
    made.await.map_err(wrong)?;
    for (n, set, get, stale) in asked {
        same("set", set.await.map_err(wrong)?.version, n)?;
        let read = get.await.map_err(wrong)?;
        same("read", (read.bytes(), read.stat.version), (n.to_string().as_bytes(), n))?;
        same("stale", stale.await.err(), Some(Failed::Code(Code::BadVersion)))?;
    }
    same("gone", gone.await, Ok(()))?;
    zk.close().await.map_err(wrong)
}

pub(super) async fn cancelling(stage: &mut Stage) -> Outcome {
    let zk = stage.client("cancelling").await?;
    for round in 0..50 {
        let path = format!("/{round}");
        drop(zk.create(&path, b"", CreateMode::Persistent));
        let mut set = zk.set(&path, b"x", 0);
        drop(zk.set(&path, b"y", 1));
        drop(zk.get_and_watch(&path));
        let read = zk.get(&path);
        // Waited for in vain, most likely, and then again: the answer is its own.
        let early = timeout(Duration::ZERO, &mut set).await;
        let stat = match early {
            Ok(stat) => stat,
            Err(_) => set.await,
        };
        same("set", stat.map_err(wrong)?.version, 1)?;
        let content = read.await.map_err(wrong)?;
        same("what was dropped is done", (content.bytes(), content.stat.version), (&b"y"[..], 2))?;
        let left = zk.remove_watches(&path, WatcherKind::Any).await.err();
        same("what was dropped watches nothing", left, Some(Failed::Code(Code::NoWatcher)))?;
    }
    zk.close().await.map_err(wrong)
}
