//! The names of a node's children, in order.
//!
//! ```text
//!   runs   [ aa … dk ]  [ dl … mq ]  [ mr … zz ]     each up to 256 names, side by side in memory
//! ```
//!
//! Listing a thousand children of a large tree is waiting for memory; names that lie side by side
//! come without being asked for. Adding a name moves no more than a run's length of others.

use alloc::vec::Vec;
use core::cmp::Ordering;
use core::hash::{Hash, Hasher};

use compact_str::CompactString;

/// How many names a run has at most: the longer, the quicker to list and the slower to change.
/// Short in tests, for what happens at its ends.
const RUN: usize = if cfg!(test) { 8 } else { 256 };

#[derive(Clone, Debug)]
struct Run {
    /// Invariant: the first of `names`. Here as well so that finding a run looks at no other.
    first: CompactString,
    /// Invariant: in order, one at least, [`RUN`] at most.
    names: Vec<CompactString>,
}

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub(super) struct Children {
    /// In order.
    runs: Vec<Run>,
    /// How many names there are.
    len: usize,
}

impl Children {
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The run in which a name is or would be, unless it would be before all others.
    fn run_of(&self, name: &str) -> Option<usize> {
        self.runs.partition_point(|run| *run.first <= *name).checked_sub(1)
    }

    /// Adds a name; doing so twice is doing so once.
    pub(super) fn insert(&mut self, name: &str) {
        if self.runs.is_empty() {
            self.runs.push(Run { first: name.into(), names: Vec::new() });
        }
        let at = self.run_of(name).unwrap_or(0);
        let names = &mut self.runs[at].names;
        let Err(place) = find(names, name) else { return };
        names.insert(place, name.into());
        if place == 0 {
            self.runs[at].first = name.into();
        }
        self.len += 1;
        self.split(at);
    }

    fn split(&mut self, at: usize) {
        let is_last = at + 1 == self.runs.len();
        let names = &mut self.runs[at].names;
        if names.len() <= RUN {
            return;
        }
        // Names that come in order, as sequential ones do, leave full runs behind.
        let kept = if is_last { RUN } else { RUN / 2 };
        let upper: Vec<CompactString> = names.drain(kept..).collect();
        names.shrink_to_fit();
        self.runs.insert(at + 1, Run { first: upper[0].clone(), names: upper });
    }

    /// Removes a name, if it is there.
    pub(super) fn remove(&mut self, name: &str) {
        let Some(at) = self.run_of(name) else { return };
        let run = &mut self.runs[at];
        let Ok(place) = find(&run.names, name) else { return };
        run.names.remove(place);
        self.len -= 1;
        match run.names.first() {
            None => {
                self.runs.remove(at);
            }
            Some(first) if place == 0 => run.first = first.clone(),
            Some(_) => self.join(at),
        }
    }

    /// Joins a run with the one after it when both have become short.
    fn join(&mut self, at: usize) {
        let [run, next, ..] = &mut self.runs[at..] else { return };
        if run.names.len() + next.names.len() <= RUN / 4 {
            run.names.append(&mut next.names);
            self.runs.remove(at + 1);
        }
    }

    /// The first name after this one.
    pub(super) fn after(&self, name: &str) -> Option<&CompactString> {
        let at = self.run_of(name).unwrap_or(0);
        let names = &self.runs.get(at)?.names;
        let place = names.partition_point(|other| **other <= *name);
        names.get(place).or_else(|| Some(&self.runs.get(at + 1)?.first))
    }

    /// All names at once, in order.
    pub(super) fn to_vec(&self) -> Vec<CompactString> {
        let mut all = Vec::with_capacity(self.len);
        for run in &self.runs {
            all.extend_from_slice(&run.names);
        }
        all
    }

    /// All names, in order.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &CompactString> + Clone {
        self.runs.iter().flat_map(|run| &run.names)
    }
}

/// Where a name is, or else where it belongs.
fn find(names: &[CompactString], name: &str) -> Result<usize, usize> {
    let (mut low, mut high) = (0, names.len());
    // By branches: the processor guesses which way it goes and fetches what comes next, whereas
    // the library's search waits for memory at each turn.
    while low < high {
        let middle = low.midpoint(high);
        match (*names[middle]).cmp(name) {
            Ordering::Less => low = middle + 1,
            Ordering::Equal => return Ok(middle),
            Ordering::Greater => high = middle,
        }
    }
    Err(low)
}

/// Equal when the names are; how they came to lie is nobody's business.
impl PartialEq for Children {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

impl Eq for Children {}

impl Hash for Children {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_usize(self.len);
        for name in self.iter() {
            name.hash(state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use alloc::format;
    use alloc::string::String;
    use proptest::prelude::*;

    fn assert_invariants(children: &Children) {
        assert_eq!(children.len, children.runs.iter().map(|run| run.names.len()).sum::<usize>());
        assert!(children.iter().is_sorted_by(|a, b| a < b));
        for run in &children.runs {
            assert_eq!(run.names.first(), Some(&run.first));
            assert!(run.names.len() <= RUN);
        }
    }

    proptest! {
        #[test]
        fn does_what_a_set_does(
            steps in prop::collection::vec((prop::bool::weighted(0.7), 0_u16..100), 0..600),
        ) {
            let mut children = Children::default();
            let mut set = BTreeSet::<String>::new();
            for (born, number) in steps {
                let name = format!("{number:x}");
                if born {
                    children.insert(&name);
                    set.insert(name.clone());
                } else {
                    children.remove(&name);
                    set.remove(&name);
                }
                let after = set.iter().find(|other| **other > name).map(String::as_str);
                prop_assert_eq!(children.after(&name).map(CompactString::as_str), after);
            }
            assert_invariants(&children);
            prop_assert_eq!(children.len(), set.len());
            prop_assert!(children.iter().eq(set.iter()));
            prop_assert!(children.iter().rev().eq(set.iter().rev()));
            prop_assert!(children.to_vec().iter().eq(set.iter()));
        }
    }

    #[test]
    fn the_way_names_came_does_not_matter() {
        let name = |number: u32| format!("{number:04}");
        let (mut up, mut down) = (Children::default(), Children::default());
        for number in 0..1000 {
            up.insert(&name(number));
            down.insert(&name(999 - number));
        }
        assert_eq!(up, down);
        assert_invariants(&up);
        assert_invariants(&down);
        assert_eq!(up.runs.len(), 1000 / RUN, "names in order leave full runs behind");
        for number in 0..1000 {
            up.remove(&name(number));
            down.remove(&name(999 - number));
            assert_invariants(&up);
            assert_invariants(&down);
        }
        assert_eq!(up, Children::default());
        assert_eq!(up, down);
    }
}
