//! A bit of everything that ends up in a log, done to a server.

use std::net::SocketAddr;

use crate::raw::{Acl, Raw, Request, Result, acl, code, flag, opcode, open_acl};

/// How much to do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Size {
    /// So much that snapshots are taken on the way.
    Large,
    /// A few kilobytes, to be kept.
    Small,
}

/// Uses a fresh server that has extended types and takes super:test for its superuser. Its
/// sessions stay open, so that their ephemerals can be found in its directory.
pub fn exercise(address: SocketAddr, size: Size) -> Result<Vec<Raw>> {
    let mut one = Raw::connect(address)?;
    let mut two = Raw::connect(address)?;
    nodes(&mut one)?;
    access(&mut one, &mut two)?;
    sessions(&mut one, &mut two, address)?;
    multis(&mut one)?;
    quotas(&mut one)?;
    refusals(&mut one)?;
    if size == Size::Large {
        one.set_data("/a", &[7; 100_000], -1)?.ok()?;
        crowd(&mut one, &mut two)?;
    }
    Ok(vec![one, two])
}

fn nodes(client: &mut Raw) -> Result<()> {
    let open = open_acl();
    for path in ["/a", "/a/b", "/a/b/c", "/empty", "/umläut", "/seq", "/gone", "/gone/too"] {
        client.create(path, path.as_bytes(), &open, flag::PERSISTENT)?.ok()?;
    }
    client.call(&create(opcode::CREATE2, "/null", None, &open, flag::PERSISTENT))?.ok()?;
    client.set_data("/empty", b"", 0)?.ok()?;
    client.set_data("/", b"the root", -1)?.ok()?;
    client.set_data("/a", &[7; 300], 0)?.ok()?;
    for _ in 0..4 {
        client.create("/seq/n-", b"", &open, flag::SEQUENTIAL)?.ok()?;
    }
    client.delete("/seq/n-0000000001", -1)?.ok()?;
    client.delete("/gone/too", 0)?.ok()?;
    client.delete("/gone", 0)?.ok()?;
    client.create_container("/box", b"c", &open)?.ok()?;
    client.create("/box/in", b"", &open, flag::PERSISTENT)?.ok()?;
    client.create_ttl("/ttl", b"t", &open, flag::TTL, 3_600_000)?.ok()?;
    client.create_ttl("/ttl-", b"t", &open, flag::TTL_SEQUENTIAL, 1 << 39)?.ok()?;
    Ok(())
}

fn access(one: &mut Raw, two: &mut Raw) -> Result<()> {
    two.auth("digest", b"user:secret")?.ok()?;
    let mine = [acl(31, "auth", ""), acl(1, "world", "anyone")];
    two.create("/mine", b"m", &mine, flag::PERSISTENT)?.ok()?;
    two.create("/mine/below", b"m", &[acl(3, "ip", "127.0.0.1")], flag::PERSISTENT)?.ok()?;
    assert_eq!(one.set_data("/mine", b"x", -1)?.err, code::NO_AUTH);
    two.set_acl("/mine", &[acl(23, "auth", ""), acl(1, "ip", "10.0.0.0/8")], 0)?.ok()?;
    two.set_acl("/a/b", &[acl(31, "world", "anyone"), acl(1, "ip", "10.0.0.1")], 0)?.ok()?;
    Ok(())
}

fn sessions(one: &mut Raw, two: &mut Raw, address: SocketAddr) -> Result<()> {
    let open = open_acl();
    one.create("/mayfly", b"1", &open, flag::EPHEMERAL)?.ok()?;
    two.create("/a/mayfly-", b"2", &open, flag::EPHEMERAL_SEQUENTIAL)?.ok()?;
    let mut short = Raw::connect(address)?;
    for path in ["/a/short", "/short", "/empty/short"] {
        short.create(path, b"3", &open, flag::EPHEMERAL)?.ok()?;
    }
    short.call(&Request::CloseSession)?.ok()?;
    Ok(())
}

fn multis(client: &mut Raw) -> Result<()> {
    let open = open_acl();
    let set = |path: &str| Request::SetData {
        path: path.into(),
        data: Some(b"multi".to_vec()),
        version: -1,
    };
    let all = [
        create(opcode::CREATE, "/m", Some(b"m"), &open, flag::PERSISTENT),
        create(opcode::CREATE2, "/m/s-", Some(b""), &open, flag::EPHEMERAL_SEQUENTIAL),
        create(opcode::CREATE_CONTAINER, "/m/box", None, &open, flag::CONTAINER),
        set("/m"),
        Request::Check { path: "/m".into(), version: 1 },
        create(opcode::CREATE, "/m/gone", None, &open, flag::PERSISTENT),
        Request::Delete { path: "/m/gone".into(), version: 0 },
    ];
    client.multi(&all)?.ok()?;
    let failing = [set("/m"), Request::Delete { path: "/nowhere".into(), version: 0 }, set("/a")];
    client.multi(&failing)?;
    client.multi(&[])?;
    Ok(())
}

fn quotas(client: &mut Raw) -> Result<()> {
    let open = open_acl();
    let root = "/zookeeper/quota/a";
    client.create(root, b"", &open, flag::PERSISTENT)?.ok()?;
    let limits = b"count=1000,bytes=1000000";
    client.create(format!("{root}/zookeeper_limits"), limits, &open, flag::PERSISTENT)?.ok()?;
    let counts = b"count=0,bytes=0";
    client.create(format!("{root}/zookeeper_stats"), counts, &open, flag::PERSISTENT)?.ok()?;
    client.create("/a/counted", b"12345", &open, flag::PERSISTENT)?.ok()?;
    client.set_data("/a/counted", b"123", -1)?.ok()?;
    client.delete("/a/b/c", -1)?.ok()?;
    Ok(())
}

fn refusals(client: &mut Raw) -> Result<()> {
    let open = open_acl();
    assert_eq!(client.delete("/nowhere", -1)?.err, code::NO_NODE);
    assert_eq!(client.delete("/box", -1)?.err, code::NOT_EMPTY);
    assert_eq!(client.set_data("/a", b"", 99)?.err, code::BAD_VERSION);
    assert_eq!(client.create("/a", b"", &open, 0)?.err, code::NODE_EXISTS);
    assert_eq!(client.create("/no/where", b"", &open, 0)?.err, code::NO_NODE);
    assert_eq!(client.create("/mayfly/x", b"", &open, 0)?.err, code::NO_CHILDREN_FOR_EPHEMERALS);
    assert_eq!(client.create("/x", b"", &[], 0)?.err, code::INVALID_ACL);
    assert_eq!(client.create("/a/.", b"", &open, 0)?.err, code::BAD_ARGUMENTS);
    Ok(())
}

/// Many writes that do not wait for each other, so that snapshots are taken while they come.
fn crowd(one: &mut Raw, two: &mut Raw) -> Result<()> {
    let open = open_acl();
    one.create("/crowd", b"", &open, flag::PERSISTENT)?.ok()?;
    for round in 0..6 {
        for number in 0..60 {
            let path = format!("/crowd/{round}-{number}");
            one.send(&create(opcode::CREATE, &path, Some(b"new"), &open, flag::PERSISTENT))?;
            let path = path.into();
            let data = Some(vec![number; usize::from(number)]);
            one.send(&Request::SetData { path, data, version: -1 })?;
            let (path, data) = (format!("/crowd/x{number}"), Some(b"e".as_slice()));
            two.send(&create(opcode::CREATE, &path, data, &open, flag::EPHEMERAL))?;
            two.send(&Request::Delete { path: path.into(), version: -1 })?;
        }
        for _ in 0..120 {
            one.reply()?.ok()?;
            two.reply()?.ok()?;
        }
    }
    Ok(())
}

fn create(opcode: i32, path: &str, data: Option<&[u8]>, acl: &[Acl], flags: i32) -> Request {
    let (path, data, acl) = (path.into(), data.map(<[u8]>::to_vec), Some(acl.to_vec()));
    Request::Create { opcode, path, data, acl, flags }
}
