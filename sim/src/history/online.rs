//! A run of the simulator as a history: written to a file while it goes on, or kept and checked.

use std::io::{self, BufWriter, Write};

use super::check::{Options, Report, check};
use super::hear::Hear;
use super::{Gather, Writer};
use crate::drive::{Done, Onlooker};

/// Writes down what clients say and hear, and what is committed.
pub struct Scribe<W: Write> {
    hear: Hear,
    writer: Writer<BufWriter<W>>,
    error: Option<io::Error>,
}

impl<W: Write> Scribe<W> {
    /// Of a run of this seed.
    ///
    /// # Errors
    /// If nothing can be written there.
    pub fn begin(to: W, seed: u64) -> io::Result<Self> {
        let writer = Writer::begin(BufWriter::new(to), &Hear::header(seed))?;
        Ok(Self { hear: Hear::default(), writer, error: None })
    }

    /// Marks the end.
    ///
    /// # Errors
    /// If something could not be written.
    pub fn finish(self) -> io::Result<()> {
        match self.error {
            Some(error) => Err(error),
            None => self.writer.finish().map(|_| ()),
        }
    }
}

impl<W: Write> Onlooker for Scribe<W> {
    fn after(&mut self, done: &Done<'_>) -> bool {
        let Self { hear, writer, error } = self;
        hear.hear(done.at.0, done.seen, &mut |record| {
            if error.is_none() {
                *error = writer.put(&record).err();
            }
        });
        error.is_none()
    }
}

/// Keeps what clients say and hear, to check it when the run is over. A run is short, and so is
/// what there is to keep.
#[derive(Debug)]
pub struct Listener {
    hear: Hear,
    gather: Gather,
    wrong: Option<String>,
}

impl Listener {
    /// Of a run of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let gather = Gather::new(Hear::header(seed));
        Self { hear: Hear::default(), gather, wrong: None }
    }

    /// Holds it against the promises.
    ///
    /// # Errors
    /// If what was heard is no history.
    pub fn check(self, options: &Options) -> Result<Report, String> {
        match self.wrong {
            Some(wrong) => Err(wrong),
            None => Ok(check(&self.gather.finish(), options, &mut |_| {})),
        }
    }
}

impl Onlooker for Listener {
    fn after(&mut self, done: &Done<'_>) -> bool {
        let Self { hear, gather, wrong } = self;
        hear.hear(done.at.0, done.seen, &mut |record| {
            if let Err(what) = gather.take(&record) {
                wrong.get_or_insert_with(|| format!("{what}: {record:?}"));
            }
        });
        wrong.is_none()
    }
}

/// Two who look on at once.
pub struct Both<'a>(pub &'a mut dyn Onlooker, pub &'a mut dyn Onlooker);

impl Onlooker for Both<'_> {
    fn before(&mut self, place: u64, at: crate::step::Instant, step: &crate::step::Step) {
        self.0.before(place, at, step);
        self.1.before(place, at, step);
    }

    fn after(&mut self, done: &Done<'_>) -> bool {
        let first = self.0.after(done);
        self.1.after(done) && first
    }
}
