//! Looking ahead: which nodes requests will ask for.

use alloc::vec::Vec;

use crate::path;
use crate::request::{Op, ReadOp, Request};

/// Adds the nodes that deciding or answering a request begins with; it may come to more.
pub fn nodes<'a>(request: &'a Request, paths: &mut Vec<&'a str>) {
    match request {
        Request::Create(wish) => with_parent(&wish.path, paths),
        Request::Delete { path, .. } => with_parent(path, paths),
        Request::Exists { path, .. }
        | Request::GetAcl { path }
        | Request::GetAllChildrenNumber { path }
        | Request::GetChildren { path, .. }
        | Request::GetData { path, .. }
        | Request::SetAcl { path, .. }
        | Request::SetData { path, .. } => paths.push(path),
        Request::Multi(ops) => {
            for op in ops {
                match op {
                    Op::Check { path, .. } | Op::SetData { path, .. } => paths.push(path),
                    Op::Create(wish) => with_parent(&wish.path, paths),
                    Op::Delete { path, .. } => with_parent(path, paths),
                }
            }
        }
        Request::MultiRead(ops) | Request::MultiReadBroken(ops) => {
            for op in ops {
                let (ReadOp::GetChildren { path } | ReadOp::GetData { path }) = op;
                paths.push(path);
            }
        }
        Request::AddWatch { .. }
        | Request::Auth { .. }
        | Request::CheckWatches { .. }
        | Request::CloseSession
        | Request::CreateNowhere { .. }
        | Request::GetEphemerals { .. }
        | Request::Ping
        | Request::Reconfig { .. }
        | Request::RemoveWatches { .. }
        | Request::Sasl
        | Request::SetWatches(_)
        | Request::Sync { .. }
        | Request::Unknown { .. }
        | Request::Unreadable { .. }
        | Request::WhoAmI => {}
    }
}

fn with_parent<'a>(path: &'a str, paths: &mut Vec<&'a str>) {
    paths.extend(path::parent(path));
    paths.push(path);
}
