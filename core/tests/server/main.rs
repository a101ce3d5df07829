//! One server, step by step.

mod alone;
mod multi;
mod session;

use std::collections::VecDeque;

use zoolab_core::request::ConnectRequest;
use zoolab_core::session::password;
use zoolab_core::{
    Boot, ConnId, Input, Millis, Now, Output, Server, ServerId, SessionId, Settings, Token,
};

/// A server whose disk is done when told to be.
pub(crate) struct Stage {
    pub(crate) server: Server,
    now: Now,
    disk: VecDeque<Token>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let boot = Boot { me: ServerId(1), steady: Millis(0), scatter: 0 };
        Self::of(Server::recover(Settings::with_tick(2000), boot, &mut Vec::new()))
    }

    pub(crate) fn of(server: Server) -> Self {
        Self { server, now: Now::default(), disk: VecDeque::new() }
    }

    pub(crate) fn step(&mut self, input: Input) -> Vec<Output> {
        let mut out = Vec::new();
        self.server.step(self.now, input, &mut out);
        self.server.assert_invariants();
        for output in &out {
            if let Output::Persist { token, .. } = output {
                self.disk.push_back(*token);
            }
        }
        out
    }

    pub(crate) fn disk(&mut self) -> Vec<Output> {
        let mut out = Vec::new();
        while let Some(token) = self.disk.pop_front() {
            out.extend(self.step(Input::Persisted(token)));
        }
        out
    }

    pub(crate) fn connect(
        &mut self,
        conn: u64,
        session: SessionId,
        timeout_ms: i32,
    ) -> Vec<Output> {
        let conn = ConnId(conn);
        self.step(Input::Accepted { conn, address: [127, 0, 0, 1].into() });
        let password = Some(password(session)[..].into());
        let request = ConnectRequest { session, timeout_ms, password, ..ConnectRequest::default() };
        self.step(Input::Connect { conn, request })
    }
}
