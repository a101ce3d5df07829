//! Promises, checked while a run goes on.
//!
//! ```text
//!   Seen ---> Ledger ---> epochs   promises about epochs: votes, promises, leaders
//!                         logs     promises about what disks have
//!                         commits  promises about what is proposed, committed and applied
//!                         books    promises about sessions and what is theirs
//!                         members  promises about who is in the ensemble
//!                         clients  promises to clients, by what they say and hear
//!                               |
//!                               v
//!                             judge   whether a broken one counts
//! ```

mod books;
mod clients;
mod commits;
mod epochs;
mod history;
mod judge;
mod ledger;
mod logs;
mod members;
pub mod promise;

use std::sync::Arc;

use zoolab_core::Ensemble;

use self::clients::Clients;
use self::judge::{Judge, Watched};
use self::ledger::Ledger;
pub use self::promise::{Promise, UnknownPromise, Violation};
use crate::seen::Seen;

/// All promises, of which some or all are watched.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Checkers {
    ledger: Ledger,
    clients: Clients,
    watched: Watched,
}

impl Checkers {
    /// For an ensemble that has never run. Only these promises are watched; all, if none is named.
    #[must_use]
    pub fn new(ensemble: Arc<Ensemble>, promises: &[Promise]) -> Self {
        Self {
            ledger: Ledger::new(&ensemble),
            clients: Clients::default(),
            watched: Watched::of(promises),
        }
    }

    /// Looks at what a step made visible.
    ///
    /// # Errors
    /// If a promise is broken that is watched.
    pub fn observe(&mut self, seen: &[Seen]) -> Result<(), Violation> {
        self.judge(seen, &mut Vec::new())
    }

    /// The same, and says which promises are broken that nobody watches.
    ///
    /// # Errors
    /// If a promise is broken that is watched.
    pub fn judge(
        &mut self,
        seen: &[Seen],
        overlooked: &mut Vec<Violation>,
    ) -> Result<(), Violation> {
        let mut judge = Judge { watched: self.watched, overlooked };
        let Self { ledger, clients, .. } = self;
        seen.iter().try_for_each(|event| {
            if let Seen::Client { client, heard } = event {
                return clients.observe(*client, heard, ledger, &mut judge);
            }
            ledger.observe(event, &mut judge)
        })
    }
}
