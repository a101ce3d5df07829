//! All clients, and which connection is whose.
//!
//! What they do by themselves, and what servers say to them, is told to all of them as one: so
//! that a search can keep them as one part of a world.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::net::{IpAddr, Ipv4Addr};

use zoolab_core::unordered::hash_unordered;
use zoolab_core::{ConnId, Input, Request, ServerId};

use super::client::{Client, Conn, Down, Up};
use crate::step::{Call, ClientId, Step};

/// See the [module](self).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Clients {
    all: Vec<Client>,
    /// Those that a server knows.
    conns: BTreeMap<ConnId, ClientId>,
    conn_next: u64,
    /// Whether they differ in nothing but their numbers: a search takes those for the same who
    /// have exchanged them.
    pub(super) same: bool,
}

impl Hash for Clients {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self { all, conns, conn_next, same } = self;
        if *same {
            let known = |client| conns.iter().filter(move |(_, of)| **of == client);
            let each = |(client, this)| (this, known(client).map(|(conn, _)| *conn).collect());
            hash_unordered::<(&Client, Vec<ConnId>), H>(self.iter().map(each), state);
        } else {
            all.hash(state);
            conns.hash(state);
        }
        conn_next.hash(state);
    }
}

impl Clients {
    /// So many, who have done nothing yet.
    #[must_use]
    pub fn new(count: u16, same: bool) -> Self {
        let all = vec![Client::default(); usize::from(count)];
        Self { all, conns: BTreeMap::new(), conn_next: 0, same }
    }

    /// Everything there is to tell them apart by.
    #[must_use]
    pub fn in_order(&self) -> impl Hash {
        (&self.all, &self.conns, self.conn_next)
    }

    /// All of them, by number.
    pub fn iter(&self) -> impl Iterator<Item = (ClientId, &Client)> {
        (0..).map(ClientId).zip(&self.all)
    }

    /// One of them, if there are so many.
    #[must_use]
    pub fn get(&self, client: ClientId) -> Option<&Client> {
        self.all.get(usize::from(client.0))
    }

    /// Whether a server knows this connection.
    #[must_use]
    pub fn is_known(&self, conn: ConnId) -> bool {
        self.conns.contains_key(&conn)
    }

    fn get_mut(&mut self, client: ClientId) -> &mut Client {
        &mut self.all[usize::from(client.0)]
    }

    /// One reaches a server. Returns what that server is to be told.
    pub fn dial(&mut self, client: ClientId, server: ServerId, timeout_ms: i32) -> Input {
        self.conn_next += 1;
        let id = ConnId(self.conn_next);
        let this = self.get_mut(client);
        let hello = Up::Connect(this.hello(timeout_ms));
        let (up, down) = ([hello].into(), [].into());
        this.conn = Some(Conn { id, server, up, down, ready: false });
        self.conns.insert(id, client);
        Input::Accepted { conn: id, address: IpAddr::V4(Ipv4Addr::LOCALHOST) }
    }

    /// What one has said arrives. Returns where, and what; nowhere if the server has forgotten it.
    ///
    /// # Panics
    /// If it has said nothing.
    pub fn ask(&mut self, client: ClientId) -> Option<(ServerId, Input)> {
        let conn = self.get_mut(client).conn.as_mut().expect("a connection to ask on");
        let (id, server) = (conn.id, conn.server);
        let up = conn.up.pop_front().expect("something to ask");
        let input = match up {
            Up::Connect(request) => Input::Connect { conn: id, request },
            Up::Request(xid, request) => Input::Request { conn: id, xid, request },
        };
        self.is_known(id).then_some((server, input))
    }

    /// One takes what it was told.
    ///
    /// # Panics
    /// If it was told nothing.
    pub fn answer(&mut self, client: ClientId) {
        let this = self.get_mut(client);
        let conn = this.conn.as_mut().expect("a connection to be answered on");
        let (id, down) = (conn.id, conn.down.pop_front().expect("an answer"));
        if this.take(down) {
            self.conns.remove(&id);
        }
    }

    /// One asks for something.
    ///
    /// # Panics
    /// If it has no connection.
    pub fn call(&mut self, client: ClientId, request: Request) {
        let this = self.get_mut(client);
        let xid = this.next_xid();
        this.waiting += 1;
        let conn = this.conn.as_mut().expect("a connection to call on");
        conn.up.push_back(Up::Request(xid, request));
    }

    /// One gives its connection up. Returns which server is to be told, if one knows it.
    pub fn hang_up(&mut self, client: ClientId) -> Option<(ServerId, ConnId)> {
        let this = self.get_mut(client);
        let conn = this.conn.take()?;
        this.lost();
        self.conns.remove(&conn.id).map(|_| (conn.server, conn.id))
    }

    /// A server says something on a connection. Returns who will find it.
    pub fn tell(&mut self, conn: ConnId, down: Down) -> Option<ClientId> {
        let client = match down {
            Down::End => self.conns.remove(&conn),
            Down::Connected(_) | Down::Event(_) | Down::Reply(_) => self.conns.get(&conn).copied(),
        }?;
        self.get_mut(client).tell(down).then_some(client)
    }

    /// The process of a server is gone. Tells who will find that out.
    pub fn died(&mut self, server: ServerId, mut found: impl FnMut(ClientId)) {
        let Self { all, conns, .. } = self;
        conns.retain(|conn, client| {
            let this = &mut all[usize::from(client.0)];
            let there = this.conn.as_ref();
            let is_there = there.is_some_and(|there| there.id == *conn && there.server == server);
            if is_there && this.tell(Down::End) {
                found(*client);
            }
            !is_there
        });
    }

    /// Everything that a search lets them do next, always in the same order: reach a server that
    /// serves, as long as there is something to ask for; ask for it, hear of it.
    pub fn choices(
        &self,
        servers: &[ServerId],
        serves: impl Fn(ServerId) -> bool,
        awake: impl Fn(ServerId) -> bool,
        calls_left: bool,
        steps: &mut Vec<Step>,
    ) {
        for (client, this) in self.iter() {
            let Some(conn) = &this.conn else {
                let there = servers.iter().filter(|server| calls_left && serves(**server));
                steps.extend(there.map(|server| Step::Dial { client, server: *server }));
                continue;
            };
            if !conn.up.is_empty() && (awake(conn.server) || !self.is_known(conn.id)) {
                steps.push(Step::Ask { client });
            }
            if !conn.down.is_empty() {
                steps.push(Step::Answer { client });
            }
            if conn.ready && calls_left {
                let node = if self.same { 0 } else { client.0 };
                steps.push(Step::Call { client, call: Call::Create { node } });
            }
        }
    }
}
