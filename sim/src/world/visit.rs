//! Clients come, ask, are answered and go.

use std::net::{IpAddr, Ipv4Addr};

use zoolab_core::{ConnId, Input, ServerId};

use super::client::{self, Conn, Up};
use super::{Outcome, Pending, World};
use crate::step::{Call, ClientId};

impl World {
    pub(super) fn dial(&mut self, client: ClientId, server: ServerId, outcome: &mut Outcome) {
        if self.host(server).server.is_none() {
            return;
        }
        self.conn_next += 1;
        let id = ConnId(self.conn_next);
        let timeout_ms = self.setting.session_timeout_ms;
        let this = self.client_mut(client);
        let hello = Up::Connect(this.hello(timeout_ms));
        let (up, down) = ([hello].into(), [].into());
        this.conn = Some(Conn { id, server, up, down, ready: false });
        self.conns.insert(id, client);
        outcome.fresh.push(Pending::Ask(client));
        let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
        self.input(server, outcome, || Input::Accepted { conn: id, address });
    }

    pub(super) fn asked(&mut self, client: ClientId, outcome: &mut Outcome) {
        let conn = self.client_mut(client).conn.as_mut().expect("a connection to ask on");
        let (id, server) = (conn.id, conn.server);
        let up = conn.up.pop_front().expect("something to ask");
        if !self.conns.contains_key(&id) {
            return;
        }
        self.input(server, outcome, || match up {
            Up::Connect(request) => Input::Connect { conn: id, request },
            Up::Request(xid, request) => Input::Request { conn: id, xid, request },
        });
    }

    pub(super) fn answer(&mut self, client: ClientId, outcome: &mut Outcome) {
        let this = self.client_mut(client);
        let conn = this.conn.as_mut().expect("a connection to be answered on");
        let (id, down) = (conn.id, conn.down.pop_front().expect("an answer"));
        if this.take(down) {
            self.conns.remove(&id);
        }
        let _ = outcome;
    }

    pub(super) fn call(&mut self, client: ClientId, call: Call, outcome: &mut Outcome) {
        let request = client::request(call, &self.paths);
        let this = self.client_mut(client);
        let xid = this.next_xid();
        this.waiting += 1;
        let conn = this.conn.as_mut().expect("a connection to call on");
        conn.up.push_back(Up::Request(xid, request));
        outcome.fresh.push(Pending::Ask(client));
    }

    pub(super) fn hang_up(&mut self, client: ClientId, outcome: &mut Outcome) {
        let this = self.client_mut(client);
        let Some(conn) = this.conn.take() else { return };
        this.lost();
        if self.conns.remove(&conn.id).is_some() && self.host(conn.server).server.is_some() {
            self.input(conn.server, outcome, || Input::Disconnected { conn: conn.id });
        }
    }
}
