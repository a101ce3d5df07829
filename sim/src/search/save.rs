//! A search in a file, to go on with another day.
//!
//! ```text
//!   "zoolab search" version, identity of the space, notes, where it stands
//!   each shard:  layers, parents, steps, fingerprints, sleep sets of what waits
//!   checksum
//! ```
//!
//! States are not in it, they mean nothing in another process: [`resume`](super::resume) finds
//! those that wait to be expanded again.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use super::breadth::Broken;
use super::bytes::{Sealed, Words};
use super::course::Course;
use super::shard::{Front, SHARDS, Shard};
use super::table::Table;
use super::team::UNPOISONED;
use super::{Figures, Search, Space, StateId, StepSet};

/// What a file of a search begins with.
pub(super) const MAGIC: [u8; 16] = *b"zoolab search\0\0\0";

/// The version of the format.
pub(super) const VERSION: u64 = 1;

/// Stands for "none" where a number may be missing.
const NONE: u64 = u64::MAX;

impl<S: Space> Search<'_, S> {
    /// Writes the search to a file, with notes of the caller; under another name first, so that
    /// there is either the file as it was, or all of this.
    ///
    /// # Errors
    ///
    /// If the file cannot be written. What was there before is still there then.
    pub fn save(&self, path: &Path, notes: &str) -> io::Result<()> {
        let mut name = path.as_os_str().to_owned();
        name.push(".new");
        let new = Path::new(&name);
        let file = self.write(File::create(new)?, notes)?;
        file.sync_all()?;
        fs::rename(new, path)
    }

    fn write<W: Write>(&self, to: W, notes: &str) -> io::Result<W> {
        let mut out = Sealed::new(to);
        out.bytes(&MAGIC)?;
        out.word(VERSION)?;
        out.text(&self.space.identity())?;
        out.text(notes)?;
        let sizes = [SHARDS, S::Steps::WORDS, usize::from(self.wanted.reduce)];
        out.words(sizes.map(|size| size as u64))?;
        write_course(&self.course, &mut out)?;
        for shard in &self.store.shards {
            write_shard(&shard.read().expect(UNPOISONED), &mut out)?;
        }
        out.seal()
    }
}

fn write_course<W: Write>(course: &Course, out: &mut Sealed<W>) -> io::Result<()> {
    let Course { figures, layer, cursor, expanded, broken, goal, most } = course;
    // Bytes are of this process.
    let Figures { layers, bytes_seen: _, bytes: _, bytes_peak: _, .. } = figures;
    let Figures { distinct, generated, expanded: all, enabled, ends, goals, .. } = figures;
    out.words([*distinct, *generated, *all, *enabled, *ends, *goals, figures.broken])?;
    out.word(layers.len() as u64)?;
    out.words(layers.iter().copied())?;
    out.words([*layer, cursor.0, cursor.1].map(|place| place as u64))?;
    out.words([*expanded, *most])?;
    let parent = broken.and_then(|broken| broken.parent);
    out.words([broken.map_or(NONE, |broken| u64::from(broken.step)), id(parent)])?;
    out.words([goal.map_or(NONE, |(layer, _)| layer as u64), id(goal.map(|(_, goal)| goal))])
}

fn id(state: Option<StateId>) -> u64 {
    state.map_or(NONE, StateId::word)
}

pub(super) fn read_course(from: &mut Words<impl io::Read>) -> io::Result<Course> {
    let mut figures = Figures {
        distinct: from.word()?,
        generated: from.word()?,
        expanded: from.word()?,
        enabled: from.word()?,
        ends: from.word()?,
        goals: from.word()?,
        broken: from.word()?,
        ..Figures::default()
    };
    let layers = from.count()?;
    figures.layers = from.words(layers)?;
    let layer = from.count()?;
    let cursor = (from.count()?, from.count()?);
    let (expanded, most) = (from.word()?, from.word()?);
    let (step, parent) = (from.word()?, from.word()?);
    let broken = (step != NONE).then(|| Broken { parent: state(parent), step: step as u16 });
    let (reached, goal) = (from.word()?, from.word()?);
    let goal = state(goal).map(|goal| (reached as usize, goal));
    Ok(Course { figures, layer, cursor, expanded, broken, goal, most })
}

fn state(word: u64) -> Option<StateId> {
    (word != NONE).then(|| StateId::of_word(word))
}

fn write_shard<S: Space, W: Write>(shard: &Shard<S>, out: &mut Sealed<W>) -> io::Result<()> {
    let Shard { old, young, aged, parents, steps, now, now_from, next, next_from, .. } = shard;
    let Shard { layers, goals, goal, .. } = shard;
    out.words([u64::from(*aged), *now_from as u64, *next_from as u64, *goals, id(*goal)])?;
    out.word(layers.len() as u64)?;
    out.words(layers.iter().map(|from| u64::from(*from)))?;
    out.word(parents.len() as u64)?;
    for (parent, step) in parents.iter().zip(steps) {
        out.bytes(&(parent.word() as u32).to_le_bytes())?;
        out.bytes(&step.to_le_bytes())?;
    }
    for table in [old, young] {
        out.word(table.len() as u64)?;
        for (print, value) in table.iter() {
            out.bytes(&print.to_le_bytes())?;
            out.bytes(&value.to_le_bytes())?;
        }
    }
    let mut words = vec![0; S::Steps::WORDS];
    for fronts in [now, next] {
        out.word(fronts.len() as u64)?;
        for front in fronts {
            front.asleep.write(&mut words);
            out.words(words.iter().copied())?;
        }
    }
    Ok(())
}

/// Reads a shard. The states that wait are all the same one, until they are found again.
pub(super) fn read_shard<S: Space>(
    number: usize,
    anyone: S::State,
    from: &mut Words<impl io::Read>,
) -> io::Result<Shard<S>> {
    let mut shard = Shard::new(number, false);
    shard.aged = from.word()? != 0;
    (shard.now_from, shard.next_from) = (from.count()?, from.count()?);
    (shard.goals, shard.goal) = (from.word()?, state(from.word()?));
    for _ in 0..from.count()? {
        shard.layers.push(from.word()? as u32);
    }
    let count = from.count()?;
    shard.parents.reserve_exact(count);
    shard.steps.reserve_exact(count);
    for _ in 0..count {
        shard.parents.push(StateId::of_word(u64::from(u32::from_le_bytes(from.array()?))));
        shard.steps.push(u16::from_le_bytes(from.array()?));
    }
    read_table(&mut shard.old, from)?;
    read_table(&mut shard.young, from)?;
    shard.now = read_fronts(anyone, from)?;
    shard.next = read_fronts(anyone, from)?;
    Ok(shard)
}

fn read_table(table: &mut Table, from: &mut Words<impl io::Read>) -> io::Result<()> {
    let count = from.count()?;
    table.reserve(count);
    for _ in 0..count {
        let print = u128::from_le_bytes(from.array()?);
        table.put(print, u32::from_le_bytes(from.array()?));
    }
    Ok(())
}

fn read_fronts<S: Space>(
    state: S::State,
    from: &mut Words<impl io::Read>,
) -> io::Result<Vec<Front<S>>> {
    let count = from.count()?;
    let mut fronts = Vec::with_capacity(count);
    for _ in 0..count {
        let asleep = S::Steps::read(&from.words(S::Steps::WORDS)?);
        fronts.push(Front { state, asleep });
    }
    Ok(fronts)
}
