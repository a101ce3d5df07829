//! A tree as lines of text, one a node, by path: what a server says, or what a directory holds.

use std::fmt::Write as _;
use std::net::SocketAddr;

use zoolab_core::path;
use zoolab_core::tree::Tree;

use crate::raw::{self, Acl, Body, Raw, Stat, acl};

/// What a server says, asked as its superuser.
pub fn of_server(address: SocketAddr) -> raw::Result<Vec<String>> {
    let mut client = Raw::connect(address)?;
    client.auth("digest", b"super:test")?.ok()?;
    let mut lines = Vec::new();
    let mut ahead = vec!["/".to_owned()];
    while let Some(path) = ahead.pop() {
        let data = client.get_data(&path, false)?.ok()?;
        let acls = client.get_acl(&path)?.ok()?;
        let children = client.get_children2(&path, false)?.ok()?;
        let (Body::Data(data, stat), Body::Acl(acls, _)) = (&data, &acls) else {
            panic!("{path}: not what was asked for");
        };
        lines.push(line(&path, data.as_deref(), stat, acls.as_deref().unwrap_or_default()));
        let prefix = if path == "/" { "" } else { &path };
        let names = children.children().unwrap_or_default();
        ahead.extend(names.iter().map(|name| format!("{prefix}/{}", name.lossy())));
    }
    client.call(&raw::Request::CloseSession)?;
    lines.sort();
    Ok(lines)
}

/// What a tree holds.
#[must_use]
pub fn of_tree(tree: &Tree) -> Vec<String> {
    let nodes = tree.nodes().map(|node| {
        let stat = tree.stat(node);
        let stat = Stat {
            czxid: stat.czxid.0,
            mzxid: stat.mzxid.0,
            ctime: stat.ctime.0,
            mtime: stat.mtime.0,
            version: stat.version,
            cversion: stat.cversion,
            aversion: stat.aversion,
            ephemeral_owner: stat.ephemeral_owner.0,
            data_length: stat.data_length,
            num_children: stat.num_children,
            pzxid: stat.pzxid.0,
        };
        let acls = tree.acl(node).lines().iter();
        let acls: Vec<Acl> =
            acls.map(|line| acl(line.perms, &line.id.scheme, &line.id.id)).collect();
        line(path::shown(node.key()), node.data().as_deref(), &stat, &acls)
    });
    let mut lines: Vec<String> = nodes.collect();
    lines.sort();
    lines
}

fn line(path: &str, data: Option<&[u8]>, stat: &Stat, acls: &[Acl]) -> String {
    let mut line = format!("{path} {stat}");
    for acl in acls {
        let _ = write!(line, " {acl}");
    }
    match data {
        None => line.push_str(" null"),
        Some(data) => {
            line.push_str(" =");
            data.iter().for_each(|byte| {
                let _ = write!(line, "{byte:02x}");
            });
        }
    }
    line
}
