//! Where a client is, and who it is.

use zoolab_client::{
    Acl, Client, Code, CreateMode, EventKind, Failed, Id, NewNode, Notice, Reconfig, SessionState,
    WatchMode,
};

use super::proxy::Proxy;
use super::{Outcome, Stage, is, same, wrong};

pub(super) async fn chroot(stage: &mut Stage) -> Outcome {
    let zk = stage.client("chroot").await?;
    let all = Client::connect(stage.address()).await.map_err(wrong)?;
    let path = zk.create("/a", b"", CreateMode::Ephemeral).await.map_err(wrong)?;
    same("path", &*path, "/a")?;
    is("it is elsewhere", all.exists("/chroot/a").await.map_err(wrong)?.is_some())?;
    same("a server's paths", zk.ephemerals("/").await, Ok(vec!["/chroot/a".into()]))?;
    let (names, _) = zk.children("/").await.map_err(wrong)?;
    same("its root", names, vec!["a".to_owned()])?;
    let mut events = zk.watch("/", WatchMode::Recursive).await.map_err(wrong)?;
    let (_, watch) = zk.get_and_watch("/a").await.map_err(wrong)?;
    let set = all.set("/chroot/a", b"", None).await.map_err(wrong)?;
    let changed = |notice: Option<Notice>| match notice {
        Some(Notice::Node { kind: EventKind::DataChanged, path, .. }) => Some(path),
        _ => None,
    };
    same("event", changed(Some(watch.await)), Some("/a".into()))?;
    same("event of a stream", changed(events.next().await), Some("/a".into()))?;
    is("it was a change", set.version == 1)?;
    let nowhere =
        Stage::builder(stage.address(), "chroot/nowhere").connect().await.map_err(wrong)?;
    let failed = nowhere.create("/a", b"", CreateMode::Persistent).await.err();
    same("a chroot that is not there", failed, Some(Failed::Code(Code::NoNode)))?;
    for client in [zk, all, nowhere] {
        client.close().await.map_err(wrong)?;
    }
    Ok(())
}

/// What of a node's ACL is about these.
fn acl(perms: i32, scheme: &str, id: &str) -> Vec<Acl> {
    vec![Acl { perms, id: Id { scheme: scheme.into(), id: id.into() } }]
}

const ALL: i32 = 31;
const READ: i32 = 1;

pub(super) async fn acl_and_auth(stage: &mut Stage) -> Outcome {
    let other = stage.client("acl").await?;
    let proxy = Proxy::to(stage.address()).await?;
    let zk = Stage::builder(&proxy.address(), "acl").auth("digest", b"user:password");
    let zk = zk.connect().await.map_err(wrong)?;
    let open = NewNode::open("/mine", b"secret", CreateMode::Persistent);
    let node = NewNode { acl: acl(ALL, "auth", ""), ..open };
    zk.create_node(node).await.map_err(wrong)?;
    let (lines, stat) = zk.acl("/mine").await.map_err(wrong)?;
    let [line] = &lines[..] else { return Err(wrong(lines)) };
    is("its maker's", &*line.id.scheme == "digest" && line.id.id.starts_with("user:"))?;
    same("version", stat.aversion, 0)?;
    let users = zk.who_am_i().await.map_err(wrong)?;
    is("who", users.contains(&("digest".into(), "user".into())))?;

    let no_auth = Some(Failed::Code(Code::NoAuth));
    same("others read", other.get("/mine").await.err(), no_auth)?;
    same("others write", other.set("/mine", b"", None).await.err(), no_auth)?;
    other.add_auth("digest", b"user:wrong");
    same("wrong password", other.get("/mine").await.err(), no_auth)?;
    other.add_auth("digest", b"user:password");
    same("right password", other.get("/mine").await.map_err(wrong)?.bytes(), b"secret")?;

    // Who one is goes along to the next connection.
    let mut states = zk.states();
    proxy.cut()?;
    same("cut", states.next().await, Some(SessionState::Disconnected))?;
    proxy.heal()?;
    same("healed", states.next().await, Some(SessionState::SyncConnected))?;
    same("still", zk.get("/mine").await.map_err(wrong)?.bytes(), b"secret")?;

    let everybody = acl(READ, "world", "anyone");
    let set = zk.set_acl("/mine", everybody.clone(), 0).await.map_err(wrong)?;
    same("version", set.aversion, 1)?;
    same("as set", zk.acl("/mine").await.map_err(wrong)?.0, everybody.clone())?;
    same("nobody writes", zk.set("/mine", b"", None).await.err(), no_auth)?;
    same("nor changes that", zk.set_acl("/mine", everybody, None).await.err(), no_auth)?;
    other.add_auth("digest", b"super:test");
    same("but one", other.set("/mine", b"", None).await.map_err(wrong)?.version, 1)?;
    let strange = NewNode {
        acl: acl(ALL, "strange", "id"),
        ..NewNode::open("/s", b"", CreateMode::Persistent)
    };
    let invalid = Some(Failed::Code(Code::InvalidAcl));
    same("no such scheme", zk.create_node(strange).await.err(), invalid)?;
    zk.close().await.map_err(wrong)?;
    other.close().await.map_err(wrong)
}

pub(super) async fn auth_refused(stage: &mut Stage) -> Outcome {
    let zk = stage.client("refused").await?;
    let mut states = zk.states();
    let (_, watch) = zk.exists_and_watch("/a").await.map_err(wrong)?;
    zk.add_auth("strange", b"");
    same("told", states.next().await, Some(SessionState::AuthFailed))?;
    same("nothing after it", states.next().await, None)?;
    same("watch", watch.await, Notice::Session(SessionState::AuthFailed))?;
    same("over", zk.get("/").await.err(), Some(Failed::Code(Code::AuthFailed)))
}

pub(super) async fn configuration(stage: &mut Stage) -> Outcome {
    let zk = stage.client("configuration").await?;
    let (config, _watch) = zk.config_and_watch().await.map_err(wrong)?;
    same("one server has none", config.bytes(), b"")?;
    let more =
        Reconfig { joining: Some("server.2=127.0.0.1:1:2;3".to_owned()), ..Reconfig::default() };
    zk.add_auth("digest", b"super:test");
    let alone = zk.reconfig(more).await.err();
    same("nor gets any", alone, Some(Failed::Code(Code::Unimplemented)))?;
    zk.close().await.map_err(wrong)
}
