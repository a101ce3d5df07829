//! Clients come, ask, are answered and go.

use zoolab_core::{Input, Request, ServerId};

use super::{Outcome, Pending, World, client};
use crate::step::{Call, ClientId};

impl World {
    pub(super) fn dial(&mut self, client: ClientId, server: ServerId, outcome: &mut Outcome) {
        if self.host(server).server.is_none() {
            return;
        }
        let timeout_ms = self.setting.session_timeout_ms;
        let input = self.clients.make_mut().dial(client, server, timeout_ms);
        outcome.fresh.push(Pending::Ask(client));
        self.input(server, outcome, || input);
    }

    pub(super) fn asked(&mut self, client: ClientId, outcome: &mut Outcome) {
        if let Some((server, input)) = self.clients.make_mut().ask(client) {
            self.input(server, outcome, || input);
        }
    }

    /// The request that a call comes to here.
    pub(crate) fn request(&self, call: Call) -> Request {
        client::request(call, &self.paths)
    }

    pub(super) fn call(&mut self, client: ClientId, call: Call, outcome: &mut Outcome) {
        let request = self.request(call);
        self.clients.make_mut().call(client, request);
        outcome.fresh.push(Pending::Ask(client));
    }

    pub(super) fn hang_up(&mut self, client: ClientId, outcome: &mut Outcome) {
        let Some((server, conn)) = self.clients.make_mut().hang_up(client) else { return };
        if self.host(server).server.is_some() {
            self.input(server, outcome, || Input::Disconnected { conn });
        }
    }
}
