//! Promises, checked while a run goes on.
//!
//! ```text
//!   Seen ---> Ledger ---> epochs   promises about epochs: votes, promises, leaders
//!                         logs     promises about what disks have
//!                         commits  promises about what is proposed, committed and applied
//! ```

mod commits;
mod epochs;
mod history;
mod ledger;
mod logs;
pub mod promise;

use std::sync::Arc;

use zoolab_core::Ensemble;

use self::ledger::Ledger;
pub use self::promise::{Promise, Violation};
use crate::seen::Seen;

/// All promises.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Checkers {
    ledger: Ledger,
}

impl Checkers {
    /// For an ensemble that has never run.
    #[must_use]
    pub fn new(ensemble: Arc<Ensemble>) -> Self {
        Self { ledger: Ledger::new(ensemble) }
    }

    /// Looks at what a step made visible.
    ///
    /// # Errors
    /// If a promise is broken.
    pub fn observe(&mut self, seen: &[Seen]) -> Result<(), Violation> {
        seen.iter().try_for_each(|event| self.ledger.observe(event))
    }
}
