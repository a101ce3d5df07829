//! The fingerprints of all that is in one place of a state, as one thread knows them.
//!
//! A state has one fingerprint under each way of naming the servers, the sum of those of its
//! members, and goes by the least. To find out which that is, half of each will do: so the halves
//! by which they are compared lie together, and the other half is only looked at of the least.

use std::hint::black_box;

/// See the [module](self).
#[derive(Debug)]
pub(super) struct Prints {
    namings: usize,
    /// By number: under each way of naming the half that is compared; then the others.
    words: Vec<u64>,
}

/// Rows of several words begin as far apart.
const APART: usize = 8;

impl Prints {
    pub(super) const fn new(namings: usize) -> Self {
        Self { namings, words: Vec::new() }
    }

    /// Where the row of something begins.
    #[inline]
    const fn at(&self, id: u32) -> usize {
        let row = 2 * self.namings;
        id as usize * if row <= 2 { row } else { row.next_multiple_of(APART) }
    }

    /// Touches the row of something that will soon be asked for.
    #[inline]
    pub(super) fn touch(&self, id: u32) {
        let at = self.at(id);
        black_box([at, at + self.namings].map(|at| self.words.get(at).copied()));
    }

    /// Whether they are known of this.
    #[inline]
    pub(super) fn has(&self, id: u32) -> bool {
        // A fingerprint that begins with nought is asked for again and again, and no harm done.
        self.words.get(self.at(id)).is_some_and(|word| *word != 0)
    }

    pub(super) fn learn(&mut self, id: u32, prints: &[u128]) {
        let at = self.at(id);
        let end = self.at(id + 1);
        if self.words.len() < end {
            self.words.resize(end, 0);
        }
        let row = &mut self.words[at..end];
        for (naming, print) in prints.iter().enumerate() {
            row[naming] = (print >> 64) as u64;
            row[self.namings + naming] = *print as u64;
        }
    }

    /// The halves that are compared.
    #[inline]
    pub(super) fn leads(&self, id: u32) -> &[u64] {
        let at = self.at(id);
        &self.words[at..at + self.namings]
    }

    /// The other half under a way of naming.
    #[inline]
    pub(super) fn rest(&self, id: u32, naming: usize) -> u64 {
        self.words[self.at(id) + self.namings + naming]
    }
}
