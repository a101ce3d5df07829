//! A world taken apart: what each server and each pair of servers is, and a world put together
//! from such. For searches, which keep each of them once, however many worlds it is part of.

use std::sync::Arc;

use super::clients::Clients;
use super::held::Held;
use super::host::Host;
use super::pair::Pair;
use super::{Budget, World};

impl World {
    /// Its parts can be shared with other worlds from now on.
    pub(super) fn share(&mut self) {
        self.hosts.iter_mut().for_each(Held::share);
        self.pairs.iter_mut().for_each(Held::share);
        self.clients.share();
        self.apps.share();
    }

    /// The machine at a place.
    ///
    /// # Panics
    /// Outside of searches, in which nothing is shared.
    #[must_use]
    pub fn host_at(&self, place: usize) -> &Arc<Host> {
        self.hosts[place].shared()
    }

    /// What is between the servers at two places, the lower one first.
    ///
    /// # Panics
    /// Outside of searches, in which nothing is shared.
    #[must_use]
    pub fn pair_at(&self, place: usize) -> &Arc<Pair> {
        self.pairs[place].shared()
    }

    /// How many pairs of servers there are.
    #[must_use]
    pub fn pairs_len(&self) -> usize {
        self.pairs.len()
    }

    /// The places of the pairs that a server is part of.
    pub fn pairs_of(&self, place: usize) -> impl Iterator<Item = usize> {
        let id = self.ids[place];
        (0..self.pairs.len()).filter(move |pair| self.pairs[*pair].ends.contains(&id))
    }

    /// Puts another machine at a place.
    pub fn put_host(&mut self, place: usize, host: Arc<Host>) {
        self.hosts[place] = Held::Shared(host);
    }

    /// Puts something else between two servers.
    pub fn put_pair(&mut self, place: usize, pair: Arc<Pair>) {
        self.pairs[place] = Held::Shared(pair);
    }

    /// All clients.
    ///
    /// # Panics
    /// Outside of searches, in which nothing is shared.
    #[must_use]
    pub fn all_clients(&self) -> &Arc<Clients> {
        self.clients.shared()
    }

    /// Puts others in the clients' place.
    pub fn put_clients(&mut self, clients: Arc<Clients>) {
        self.clients = Held::Shared(clients);
    }

    /// Leaves so much to happen.
    pub const fn put_budget(&mut self, budget: Budget) {
        self.budget = budget;
    }
}
