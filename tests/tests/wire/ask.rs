//! Requests in few words.

use zoolab_tests::desk::{Client, Desk};
use zoolab_tests::raw::{Acl, Request, Stat, Text, opcode, open_acl};

pub(crate) fn create(path: &str) -> Request {
    create_flag(path, 0)
}

pub(crate) fn create_flag(path: &str, flags: i32) -> Request {
    create_as(opcode::CREATE, path, flags)
}

pub(crate) fn create_as(opcode: i32, path: &str, flags: i32) -> Request {
    Request::Create { opcode, path: path.into(), data: Some(vec![]), acl: Some(open_acl()), flags }
}

pub(crate) fn create_acl(path: &str, acl: &[Acl]) -> Request {
    let (opcode, data, acl) = (opcode::CREATE, Some(vec![]), Some(acl.to_vec()));
    Request::Create { opcode, path: path.into(), data, acl, flags: 0 }
}

pub(crate) fn create_ttl(path: &str, flags: i32, ttl: i64) -> Request {
    let (data, acl) = (Some(vec![]), Some(open_acl()));
    Request::CreateTtl { path: path.into(), data, acl, flags, ttl }
}

pub(crate) fn delete(path: &str) -> Request {
    Request::Delete { path: path.into(), version: -1 }
}

pub(crate) fn set(path: &str, data: &str) -> Request {
    set_version(path, data, -1)
}

pub(crate) fn set_version(path: &str, data: &str, version: i32) -> Request {
    Request::SetData { path: path.into(), data: Some(data.into()), version }
}

pub(crate) fn set_acl(path: &str, acl: &[Acl]) -> Request {
    Request::SetAcl { path: path.into(), acl: Some(acl.to_vec()), version: -1 }
}

pub(crate) fn get(path: &str) -> Request {
    Request::GetData { path: path.into(), watch: false }
}

pub(crate) fn get_watch(path: &str) -> Request {
    Request::GetData { path: path.into(), watch: true }
}

pub(crate) fn exists(path: &str) -> Request {
    Request::Exists { path: path.into(), watch: false }
}

pub(crate) fn exists_watch(path: &str) -> Request {
    Request::Exists { path: path.into(), watch: true }
}

pub(crate) fn children(path: &str) -> Request {
    Request::GetChildren { path: path.into(), watch: false }
}

pub(crate) fn children_watch(path: &str) -> Request {
    Request::GetChildren { path: path.into(), watch: true }
}

pub(crate) fn get_acl(path: &str) -> Request {
    Request::GetAcl { path: path.into() }
}

pub(crate) fn add_watch(path: &str, mode: i32) -> Request {
    Request::AddWatch { path: path.into(), mode }
}

pub(crate) fn check(path: &str, version: i32) -> Request {
    Request::Check { path: path.into(), version }
}

pub(crate) fn auth(scheme: &str, auth: &str) -> Request {
    Request::Auth { scheme: scheme.into(), auth: Some(auth.into()) }
}

pub(crate) fn texts(texts: &[&str]) -> Vec<Text> {
    texts.iter().map(|text| Text::from(*text)).collect()
}

/// Performs requests that must succeed.
pub(crate) fn all_fine(desk: &mut Desk, client: Client, requests: &[Request]) {
    for request in requests {
        let reply = desk.call(client, request);
        assert_eq!(reply.err, 0, "{request:?}: {reply}");
    }
}

/// The stat of a node that must exist.
pub(crate) fn stat(desk: &mut Desk, client: Client, path: &str) -> Stat {
    let reply = desk.call(client, &exists(path));
    reply.body.stat().unwrap_or_else(|| panic!("{path}: {reply}"))
}

/// The error code of a request.
pub(crate) fn err(desk: &mut Desk, client: Client, request: &Request) -> i32 {
    desk.call(client, request).err
}
