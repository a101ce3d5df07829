//! A simple client: one session, one connection at a time, one request after another.

use std::collections::VecDeque;
use std::sync::Arc;

use zoolab_core::request::{
    ConnectRequest, ConnectResponse, Create, CreateOp, Event, Op, Reply, Request,
};
use zoolab_core::{ConnId, ServerId, SessionId, Text, Xid, Zxid};

use crate::step::Call;

/// What a client sends.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Up {
    /// Its first frame.
    Connect(ConnectRequest),
    /// A request.
    Request(Xid, Request),
}

/// What a client is sent.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Down {
    /// The answer to its first frame.
    Connected(ConnectResponse),
    /// The connection is over.
    End,
    /// A watch event.
    Event(Arc<Event>),
    /// The answer to a request.
    Reply(Reply),
}

/// A client's connection.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Conn {
    /// Its number.
    pub id: ConnId,
    /// At which server.
    pub server: ServerId,
    /// On the way there.
    pub up: VecDeque<Up>,
    /// On the way back.
    pub down: VecDeque<Down>,
    /// Whether the session is open on it.
    pub ready: bool,
}

/// See the [module](self).
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Client {
    /// Its session, and what proves that it is its own.
    pub session: Option<(SessionId, [u8; 16])>,
    /// The newest state it has seen.
    pub zxid_seen: Zxid,
    /// Its connection.
    pub conn: Option<Conn>,
    xid: i32,
    /// Requests without an answer.
    pub waiting: u32,
    /// Requests that were answered without an error.
    pub done: u64,
    /// Requests that were answered with one.
    pub refused: u64,
    /// Requests of which nobody knows what became of them.
    pub unknown: u64,
}

impl Client {
    /// What it says first.
    #[must_use]
    pub fn hello(&self, timeout_ms: i32) -> ConnectRequest {
        let (session, password) = self.session.unwrap_or((SessionId::NONE, [0; 16]));
        ConnectRequest {
            last_zxid_seen: self.zxid_seen,
            timeout_ms,
            session,
            password: Some(Arc::from(&password[..])),
            read_only: Some(false),
        }
    }

    /// The number of its next request.
    pub const fn next_xid(&mut self) -> Xid {
        self.xid += 1;
        Xid(self.xid)
    }

    /// Something is on its way to it, if it has a connection.
    pub(super) fn tell(&mut self, down: Down) -> bool {
        let Some(conn) = &mut self.conn else { return false };
        conn.down.push_back(down);
        true
    }

    /// Takes what it was sent. True if its connection is over.
    pub fn take(&mut self, down: Down) -> bool {
        match down {
            Down::Connected(response) if response.timeout_ms <= 0 => {
                self.session = None;
                false
            }
            Down::Connected(response) => {
                self.session = Some((response.session, response.password));
                if let Some(conn) = &mut self.conn {
                    conn.ready = true;
                }
                false
            }
            Down::End => {
                self.lost();
                true
            }
            Down::Event(_) => false,
            Down::Reply(reply) => {
                self.zxid_seen = self.zxid_seen.max(reply.zxid);
                self.waiting = self.waiting.saturating_sub(1);
                match reply.err {
                    None => self.done += 1,
                    Some(_) => self.refused += 1,
                }
                false
            }
        }
    }

    /// Its connection is gone.
    pub fn lost(&mut self) {
        self.conn = None;
        self.unknown += u64::from(std::mem::take(&mut self.waiting));
    }
}

/// The request that a call comes to. Paths are made once.
#[must_use]
pub fn request(call: Call, paths: &[Text]) -> Request {
    let path = |node: u16| paths[usize::from(node) % paths.len()].clone();
    let create = |node, flags| Create {
        op: CreateOp::Create,
        path: path(node),
        data: Some(Arc::from([])),
        acl: Some(vec![zoolab_core::acl::AclWish {
            perms: 31,
            scheme: Some(Text::from("world")),
            id: Some(Text::from("anyone")),
        }]),
        flags,
        ttl_ms: -1,
    };
    match call {
        Call::Create { node } => Request::Create(create(node, 0)),
        Call::CreateEphemeral { node } => Request::Create(create(node, 1)),
        Call::Delete { node } => Request::Delete { path: path(node), version: -1 },
        Call::Set { node, value } => {
            let data = Some(Arc::from(value.to_be_bytes()));
            Request::SetData { path: path(node), data, version: -1 }
        }
        Call::Get { node } => Request::GetData { path: path(node), watch: false },
        Call::Sync { node } => Request::Sync { path: Some(path(node)) },
        Call::Multi { node, other } => {
            Request::Multi(vec![Op::Create(create(node, 0)), Op::Create(create(other, 0))])
        }
        Call::Close => Request::CloseSession,
        Call::Ping => Request::Ping,
    }
}
