//! A search taken up again: the states that wait are found once more.
//!
//! A state is reached from its parent, that from its own, and so on up to the beginning. Only
//! states on such ways are expanded, each once, layer by layer from the beginning; all others
//! stay fingerprints.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::path::Path;

use super::bytes::{Words, is_whole};
use super::chunk::Wanted;
use super::save::{MAGIC, VERSION, read_course, read_shard};
use super::shard::{SHARDS, Shard};
use super::table::checked;
use super::team::UNPOISONED;
use super::{Arrival, Awake, Search, Space, StateId, StepSet};

/// Why a file cannot be gone on with.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum NotResumed {
    /// It is cut short or altered.
    Damaged,
    /// It is of another space.
    OtherSpace {
        /// The space that was to be searched.
        expected: String,
        /// The space the file is of.
        got: String,
    },
    /// It was written by another version.
    OtherVersion {
        /// The version of this program.
        expected: u64,
        /// The version of the file.
        got: u64,
    },
    /// It is no search at all.
    NoSearch,
    /// The space calls itself the same and is not: steps lead elsewhere than they did.
    Strayed,
    /// It cannot be read.
    Unreadable(io::ErrorKind),
}

impl fmt::Display for NotResumed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged => f.write_str("the file is cut short or altered"),
            Self::OtherSpace { expected, got } => {
                write!(f, "a search of another space: wanted `{expected}`, got `{got}`")
            }
            Self::OtherVersion { expected, got } => {
                write!(f, "written in version {got} of the format where {expected} was due")
            }
            Self::NoSearch => f.write_str("no saved search"),
            Self::Strayed => {
                f.write_str("the space is called the same but its steps lead elsewhere")
            }
            Self::Unreadable(kind) => write!(f, "cannot be read: {kind}"),
        }
    }
}

impl std::error::Error for NotResumed {}

impl From<io::Error> for NotResumed {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error.kind())
    }
}

impl<'a, S: Space> Search<'a, S> {
    /// Goes on with a search that was [saved](Self::save), and gives back its notes. The states
    /// that wait are found again by so many threads.
    ///
    /// # Errors
    ///
    /// If the file is not a whole and readable search of this very space.
    pub fn resume(
        space: &'a S,
        path: &Path,
        threads: NonZeroUsize,
    ) -> Result<(Self, String), NotResumed> {
        let Opened { mut from, identity: got, notes } = open(path)?;
        let expected = space.identity();
        if expected != got {
            return Err(NotResumed::OtherSpace { expected, got });
        }
        let (shards, words, reduce) = (from.count()?, from.count()?, from.word()?);
        if (shards, words) != (SHARDS, S::Steps::WORDS) {
            return Err(NotResumed::Strayed);
        }
        let mut search = Self::empty(space, Wanted { reduce: reduce != 0, fair: false });
        search.course = read_course(&mut from)?;
        let mut worker = space.worker();
        let first = space.initial(&mut worker);
        for (number, shard) in search.store.shards.iter_mut().enumerate() {
            *shard.get_mut().expect(UNPOISONED) = read_shard(number, first.state, &mut from)?;
        }
        search.find_again(&first, threads)?;
        search.course.weigh(&search.store);
        Ok((search, notes))
    }

    /// Finds the states that wait to be expanded.
    fn find_again(&mut self, first: &Arrival<S>, threads: NonZeroUsize) -> Result<(), NotResumed> {
        let space = self.space;
        let mut shards: Vec<&mut Shard<S>> =
            self.store.shards.iter_mut().map(|s| s.get_mut().expect(UNPOISONED)).collect();
        let needed = needed(&shards, self.course.cursor);
        let layers = shards[0].layers.len();
        let mut known: Vec<Known<S>> = Vec::new();
        for layer in 0..=layers {
            let wanted = wanted(&shards, &needed, layer);
            if layer == 0 {
                let is_first = |(parent, _, state): &Wish| {
                    *parent == StateId::ROOT && is_seen(&shards, *state, first.print)
                };
                if !wanted.iter().all(is_first) {
                    return Err(NotResumed::Strayed);
                }
                known = wanted.iter().map(|(_, _, state)| (*state, first.state)).collect();
            } else {
                known = expand(space, &shards, &known, &wanted, threads)?;
            }
            for (state, packed) in &known {
                shards[state.shard()].put_back(state.place(), *packed);
            }
            known.sort_unstable_by_key(|(state, _)| *state);
        }
        Ok(())
    }
}

/// The notes of a search that was [saved](Search::save), for whoever has to find out what was
/// searched.
///
/// # Errors
///
/// If the file is not a whole and readable search.
pub fn notes(path: &Path) -> Result<String, NotResumed> {
    Ok(open(path)?.notes)
}

/// A file that is a search.
struct Opened {
    /// What comes after the notes.
    from: Words<File>,
    identity: String,
    notes: String,
}

fn open(path: &Path) -> Result<Opened, NotResumed> {
    let mut file = File::open(path)?;
    let mut magic = [0; MAGIC.len()];
    let begins = file.read_exact(&mut magic);
    if begins.is_err() || magic != MAGIC {
        return Err(NotResumed::NoSearch);
    }
    let len = file.metadata()?.len();
    if !is_whole(File::open(path)?, len)? {
        return Err(NotResumed::Damaged);
    }
    let mut from = Words::new(file);
    let (expected, got) = (VERSION, from.word()?);
    if expected != got {
        return Err(NotResumed::OtherVersion { expected, got });
    }
    let (identity, notes) = (from.text()?, from.text()?);
    Ok(Opened { from, identity, notes })
}

/// A state that is needed: from where, by which step, who.
type Wish = (StateId, u16, StateId);

/// A state found again.
type Known<S> = (StateId, <S as Space>::State);

/// Which states of each shard wait, or are on the way to one that does.
fn needed<S: Space>(shards: &[&mut Shard<S>], cursor: (usize, usize)) -> Vec<Vec<bool>> {
    let mut needed: Vec<_> = shards.iter().map(|shard| vec![false; shard.parents.len()]).collect();
    for (number, shard) in shards.iter().enumerate() {
        let done = match number.cmp(&cursor.0) {
            std::cmp::Ordering::Less => shard.now.len(),
            std::cmp::Ordering::Equal => cursor.1,
            std::cmp::Ordering::Greater => 0,
        };
        for place in shard.now_from + done..shard.parents.len() {
            let mut at = StateId::new(number, place);
            while at != StateId::ROOT && !needed[at.shard()][at.place()] {
                needed[at.shard()][at.place()] = true;
                at = shards[at.shard()].parents[at.place()];
            }
        }
    }
    needed
}

/// The states of a layer that are needed, by parent and step.
fn wanted<S: Space>(shards: &[&mut Shard<S>], needed: &[Vec<bool>], layer: usize) -> Vec<Wish> {
    let mut wanted = Vec::new();
    for (number, shard) in shards.iter().enumerate() {
        let places = shard.layer(layer).filter(|place| needed[number][*place]);
        wanted.extend(
            places.map(|place| {
                (shard.parents[place], shard.steps[place], StateId::new(number, place))
            }),
        );
    }
    wanted.sort_unstable();
    wanted
}

/// Takes the steps to all states wanted, from parents that are known.
fn expand<S: Space>(
    space: &S,
    shards: &[&mut Shard<S>],
    known: &[Known<S>],
    wanted: &[Wish],
    threads: NonZeroUsize,
) -> Result<Vec<Known<S>>, NotResumed> {
    let families: Vec<&[Wish]> = wanted.chunk_by(|one, other| one.0 == other.0).collect();
    let part = families.len().div_ceil(threads.get()).max(1);
    std::thread::scope(|scope| {
        let parts = families.chunks(part);
        let work = |part| scope.spawn(move || expand_part(space, shards, known, part));
        let threads: Vec<_> = parts.map(work).collect();
        let mut all = Vec::with_capacity(wanted.len());
        for thread in threads {
            all.extend(thread.join().unwrap_or_else(|said| resume_unwind(said))?);
        }
        Ok(all)
    })
}

fn expand_part<S: Space>(
    space: &S,
    shards: &[&mut Shard<S>],
    known: &[Known<S>],
    families: &[&[Wish]],
) -> Result<Vec<Known<S>>, NotResumed> {
    let mut worker = space.worker();
    let mut found = Vec::new();
    let mut out = Vec::new();
    for family in families {
        let parent = known.binary_search_by_key(&family[0].0, |(state, _)| *state);
        let (_, state) = parent.map(|at| known[at]).map_err(|_| NotResumed::Strayed)?;
        out.clear();
        space.expand(&mut worker, &state, &Awake::default(), &mut out);
        for (_, step, state) in *family {
            let arrival = out.iter().find(|arrival| arrival.step == *step);
            let same = arrival.filter(|arrival| is_seen(shards, *state, arrival.print));
            found.push((*state, same.ok_or(NotResumed::Strayed)?.state));
        }
    }
    Ok(found)
}

/// Whether the fingerprint of a state is where it should be.
fn is_seen<S: Space>(shards: &[&mut Shard<S>], state: StateId, print: u128) -> bool {
    let shard = &shards[state.shard()];
    let print = checked(print);
    shard.young.find(print).is_some() || shard.old.find(print).is_some()
}
