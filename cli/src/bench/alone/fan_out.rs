//! One change that thousands want to hear of.

use std::time::Duration;

use zoolab_core::acl::{AclWish, perms};
use zoolab_core::request::{Create, CreateOp};
use zoolab_core::{ConnId, Data, Output, Request, Text};

use super::level::{Depth, ServerLevel};
use crate::bench::clock::timed;

/// How long watchers wait.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    OneShot,
    Persistent,
}

impl Kind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::OneShot => "one-shot",
            Self::Persistent => "persistent",
        }
    }
}

/// Many connections that watch one node.
#[derive(Debug)]
pub(super) struct FanOut {
    server: ServerLevel,
    kind: Kind,
    watchers: u32,
    path: Text,
    data: Data,
}

impl FanOut {
    pub(super) fn new(kind: Kind, watchers: u32, data: usize) -> Self {
        let (path, data): (Text, Data) = ("/watched".into(), Some(vec![7; data].into()));
        let mut server = ServerLevel::new();
        let (scheme, id) = (Some("world".into()), Some("anyone".into()));
        let acl = Some(vec![AclWish { perms: perms::ALL, scheme, id }]);
        let (op, flags, ttl_ms) = (CreateOp::Create, 0, -1);
        let wish = Create { op, path: path.clone(), data: data.clone(), acl, flags, ttl_ms };
        server.request(ServerLevel::CLIENT, Request::Create(wish));
        for watcher in 1..=u64::from(watchers) {
            server.connect(ConnId(watcher));
        }
        let mut fan_out = Self { server, kind, watchers, path, data };
        if kind == Kind::Persistent {
            fan_out.watch();
        }
        fan_out.server.outputs();
        fan_out
    }

    /// How long one change takes, with everyone told of it. That everyone has to watch again
    /// before is not counted.
    pub(super) fn fire(&mut self, depth: Depth) -> Duration {
        if self.kind == Kind::OneShot {
            self.watch();
            self.server.outputs();
        }
        let (path, data, version) = (self.path.clone(), self.data.clone(), -1);
        let request = Request::SetData { path, data, version };
        let mut told = 0;
        let firing = timed(|| {
            self.server.request(ServerLevel::CLIENT, request);
            match depth {
                Depth::Wire => self.server.encode(),
                Depth::Tree | Depth::Step => {
                    let is_event = |output: &Output| matches!(output, Output::Notify { .. });
                    told = self.server.outputs().filter(is_event).count();
                }
            }
        });
        assert!(depth == Depth::Wire || told == self.watchers as usize, "{told} were told");
        firing
    }

    fn watch(&mut self) {
        for watcher in 1..=u64::from(self.watchers) {
            let path = self.path.clone();
            let request = match self.kind {
                Kind::OneShot => Request::GetData { path, watch: true },
                Kind::Persistent => Request::AddWatch { path, mode: 0 },
            };
            self.server.request(ConnId(watcher), request);
        }
    }
}
