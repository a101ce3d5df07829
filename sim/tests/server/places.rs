//! Where requests go: paths are drawn as places in a list and found in the tree as it is when the
//! request is made.

use zoolab_core::request::{Create, Op, ReadOp, SetWatches};
use zoolab_core::{Request, Text, Zxid};

use crate::expected::Expected;

/// Zxids below this are found as well: between the first and the newest.
pub(crate) const SEEN_MOST: i64 = 10_000;

#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// Where nodes are, or might be; the root is first.
    pub(crate) nodes: Vec<Text>,
    /// Where clients watch.
    pub(crate) watched: Vec<Text>,
    /// What writes in flight are about.
    pub(crate) in_flight: Vec<Text>,
    /// How far writes have got.
    pub(crate) zxid: i64,
}

impl Places {
    pub(crate) fn of(state: &Expected) -> Self {
        let model = &state.model;
        Self {
            nodes: match state.theme.narrow {
                true => ["/", "/a", "/b"].map(Into::into).to_vec(),
                false => model.nodes.keys().map(|path| path.as_str().into()).collect(),
            },
            watched: model.watches.iter().map(|watch| watch.path.as_str().into()).collect(),
            in_flight: state.in_flight(),
            zxid: model.zxid.0,
        }
    }

    /// `@7/a` is child `a` of the seventh node, `*7` the seventh path that is watched, `!7` the
    /// seventh that a write in flight is about, and `=7/x` the node `x` of the seventh node's
    /// quota. Anything else is what it is.
    fn find(&self, path: &Text) -> Text {
        let Some(mark @ ('@' | '*' | '!' | '=')) = path.chars().next() else { return path.clone() };
        let end = path.find('/').unwrap_or(path.len());
        let number: usize = path[1..end].parse().expect("a place is a number");
        let list = match mark {
            '*' if !self.watched.is_empty() => &self.watched,
            '!' if !self.in_flight.is_empty() => &self.in_flight,
            _ => &self.nodes,
        };
        let (found, below) = (&list[number % list.len()], &path[end..]);
        let above = if mark == '=' { "/zookeeper/quota" } else { "" };
        match &**found {
            "/" if mark == '=' || !below.is_empty() => format!("{above}{below}").into(),
            _ if mark == '@' && below.is_empty() => found.clone(),
            found => format!("{above}{found}{below}").into(),
        }
    }

    fn find_all(&self, paths: &[Text]) -> Vec<Text> {
        paths.iter().map(|path| self.find(path)).collect()
    }

    /// The same request with its paths found.
    pub(crate) fn resolve(&self, mut request: Request) -> Request {
        match &mut request {
            Request::AddWatch { path, .. }
            | Request::CheckWatches { path, .. }
            | Request::Create(Create { path, .. })
            | Request::Delete { path, .. }
            | Request::Exists { path, .. }
            | Request::GetAcl { path }
            | Request::GetAllChildrenNumber { path }
            | Request::GetChildren { path, .. }
            | Request::GetData { path, .. }
            | Request::RemoveWatches { path, .. }
            | Request::SetAcl { path, .. }
            | Request::SetData { path, .. }
            | Request::GetEphemerals { prefix: Some(path) }
            | Request::Sync { path: Some(path) } => *path = self.find(path),
            Request::Multi(ops) => {
                for op in ops {
                    let (Op::Check { path, .. }
                    | Op::Create(Create { path, .. })
                    | Op::Delete { path, .. }
                    | Op::SetData { path, .. }) = op;
                    *path = self.find(path);
                }
            }
            Request::MultiRead(ops) | Request::MultiReadBroken(ops) => {
                for op in ops {
                    let (ReadOp::GetChildren { path } | ReadOp::GetData { path }) = op;
                    *path = self.find(path);
                }
            }
            Request::SetWatches(lists) => {
                let SetWatches { relative_zxid, data, exist, child, persistent, recursive } = lists;
                if (0..SEEN_MOST).contains(&relative_zxid.0) {
                    *relative_zxid = Zxid(relative_zxid.0 % (self.zxid + 1));
                }
                for paths in [data, exist, child, persistent, recursive] {
                    *paths = self.find_all(paths);
                }
            }
            Request::Auth { .. }
            | Request::CloseSession
            | Request::GetEphemerals { prefix: None }
            | Request::CreateNowhere { .. }
            | Request::Ping
            | Request::Reconfig { .. }
            | Request::Sasl
            | Request::Sync { path: None }
            | Request::Unknown { .. }
            | Request::Unreadable { .. }
            | Request::WhoAmI => {}
        }
        request
    }
}
