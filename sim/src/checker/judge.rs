//! Which promises count, and what becomes of those that are broken.
//!
//! Where one is broken that is not watched, things go on: its being broken may be the known first
//! sign of a fault, and the damage that is looked for is still to come. The ledger goes on with
//! what has happened, not with what should have.

use super::promise::{Promise, Violation};

/// The promises that end a run when they are broken.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) struct Watched(u64);

const _: () = assert!(Promise::ALL.len() <= 64, "a bit for each");

impl Watched {
    /// All of them.
    pub(super) const ALL: Self = Self(u64::MAX);

    /// These; all of them if none is named.
    #[must_use]
    pub(super) fn of(promises: &[Promise]) -> Self {
        if promises.is_empty() {
            return Self::ALL;
        }
        Self(promises.iter().fold(0, |all, promise| all | 1 << *promise as u32))
    }

    /// Whether this one is among them.
    #[must_use]
    pub(super) const fn has(self, promise: Promise) -> bool {
        self.0 >> promise as u32 & 1 == 1
    }
}

/// Judges what one step made visible.
#[derive(Debug)]
pub(super) struct Judge<'a> {
    pub(super) watched: Watched,
    pub(super) overlooked: &'a mut Vec<Violation>,
}

impl Judge<'_> {
    /// Holds, or breaks the promise with these values.
    pub(super) fn holds(
        &mut self,
        promise: Promise,
        holds: bool,
        what: impl FnOnce() -> String,
    ) -> Result<(), Violation> {
        if holds {
            return Ok(());
        }
        let violation = Violation { promise, what: what() };
        if self.watched.has(promise) {
            return Err(violation);
        }
        self.overlooked.push(violation);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn naming_none_is_naming_all() {
        assert_eq!(Watched::of(&[]), Watched::ALL);
        let some = Watched::of(&[Promise::ZxidUniqueness, Promise::AckInOrder]);
        let has = Promise::ALL.into_iter().filter(|promise| some.has(*promise));
        assert!(has.eq([Promise::AckInOrder, Promise::ZxidUniqueness]));
    }
}
