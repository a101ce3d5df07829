//! What is searched: states of a few words, and the steps that lead from one to another.

use std::fmt::Debug;

/// A set of states and the steps between them.
///
/// Everything a space says must depend on nothing but its arguments: the same state has the
/// same steps, in the same order, on every thread and whenever it is asked.
pub trait Space: Sync {
    /// A state in a few words. Meaningful only within this process.
    type State: Copy + Send + Sync;
    /// A small set of steps, for sleep sets; `()` for a space that has none.
    type Steps: StepSet;
    /// What one thread keeps to itself: caches, scratch, its own figures.
    type Worker: Send;

    /// Names the space and everything it was made from; what was saved of one space is not
    /// taken up by another.
    fn identity(&self) -> String;

    /// What one thread keeps to itself, at its beginning.
    fn worker(&self) -> Self::Worker;

    /// Where everything begins. Its `step` and `asleep` are not looked at.
    fn initial(&self, worker: &mut Self::Worker) -> Arrival<Self>;

    /// Takes every step of `state` that is not asleep, always in the same order, and appends
    /// where each leads to `out`.
    fn expand(
        &self,
        worker: &mut Self::Worker,
        state: &Self::State,
        awake: &Awake<Self::Steps>,
        out: &mut Vec<Arrival<Self>>,
    ) -> Expansion;

    /// Takes the steps of several states, as [`expand`](Self::expand) does of one after the other.
    /// Of each state `each` is told, and how long `out` is after it. What is in `out` is known
    /// only when it is all over.
    fn expand_all<'s>(
        &self,
        worker: &mut Self::Worker,
        states: impl Iterator<Item = (&'s Self::State, Awake<Self::Steps>)> + Clone,
        out: &mut Vec<Arrival<Self>>,
        each: &mut impl FnMut(Expansion, usize),
    ) where
        Self: 's,
    {
        for (state, awake) in states {
            let expansion = self.expand(worker, state, &awake, out);
            each(expansion, out.len());
        }
    }

    /// The fair action that `step` of `state` belongs to, if it belongs to one.
    ///
    /// An action has the same number in every state. Fairness is weak: an action that can happen
    /// at every moment from some moment on does happen. Asked for liveness only.
    fn fair(&self, worker: &mut Self::Worker, state: &Self::State, step: u16) -> Option<u32> {
        let _ = (worker, state, step);
        None
    }
}

/// A small set of steps.
pub trait StepSet: Copy + Debug + Default + Eq + Send + Sync {
    /// How many words [`write`](Self::write) writes.
    const WORDS: usize;

    /// What is in both.
    #[must_use]
    fn and(self, other: Self) -> Self;

    /// Writes the set as words.
    fn write(self, words: &mut [u64]);

    /// Reads what [`write`](Self::write) wrote.
    #[must_use]
    fn read(words: &[u64]) -> Self;
}

/// No steps at all: for spaces without sleep sets.
impl StepSet for () {
    const WORDS: usize = 0;

    fn and(self, (): Self) -> Self {}

    fn write(self, _: &mut [u64]) {}

    fn read(_: &[u64]) -> Self {}
}

/// A set of up to `64 * N` steps.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Bits<const N: usize>([u64; N]);

impl<const N: usize> Default for Bits<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

impl<const N: usize> Bits<N> {
    /// Adds `step`.
    ///
    /// # Panics
    ///
    /// If `step` is not below `64 * N`.
    pub const fn insert(&mut self, step: u16) {
        self.0[step as usize / 64] |= 1 << (step % 64);
    }

    /// Whether `step` is in it.
    ///
    /// # Panics
    ///
    /// If `step` is not below `64 * N`.
    #[must_use]
    pub const fn has(&self, step: u16) -> bool {
        self.0[step as usize / 64] & (1 << (step % 64)) != 0
    }

    /// Whether nothing is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// What is in this one and not in `other`.
    #[must_use]
    pub fn minus(mut self, other: Self) -> Self {
        for (word, theirs) in self.0.iter_mut().zip(other.0) {
            *word &= !theirs;
        }
        self
    }

    /// The words of the set, the lowest steps first.
    #[must_use]
    pub const fn words(&self) -> &[u64; N] {
        &self.0
    }

    /// The words of the set, to change them all at once.
    pub const fn words_mut(&mut self) -> &mut [u64; N] {
        &mut self.0
    }
}

impl<const N: usize> StepSet for Bits<N> {
    const WORDS: usize = N;

    fn and(mut self, other: Self) -> Self {
        for (word, theirs) in self.0.iter_mut().zip(other.0) {
            *word &= theirs;
        }
        self
    }

    fn write(self, words: &mut [u64]) {
        words.copy_from_slice(&self.0);
    }

    fn read(words: &[u64]) -> Self {
        Self(words.try_into().expect("as many words as were written"))
    }
}

/// Which steps of a state are to be taken.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Awake<S> {
    /// Not to be taken: the other order was, or will be.
    pub asleep: S,
    /// Whether anybody looks at the sleep sets of the successors. If not, `asleep` is empty and
    /// theirs need not be computed.
    pub reduce: bool,
}

/// A step taken, and where it led.
pub struct Arrival<S: Space + ?Sized> {
    /// Names the step uniquely within the state it was taken from.
    pub step: u16,
    /// Says which state this is: the same for equal states, else different, and every bit of it
    /// as good as random.
    pub print: u128,
    /// The state.
    pub state: S::State,
    /// Sleep set of the state: steps that were asleep in the state before, or were taken from it
    /// before this one, and are independent of this one.
    ///
    /// Two steps are independent in a state if neither makes the other possible, impossible or
    /// different, both orders lead to the same state, and a promise is broken in one order only
    /// if it is in the other. A step in the set must be the same step there as it was before.
    pub asleep: S::Steps,
    /// Whether a promise was broken on the way.
    pub verdict: Verdict,
    /// Whether what should be reached is reached in this state.
    pub goal: bool,
}

impl<S: Space + ?Sized> Clone for Arrival<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Space + ?Sized> Copy for Arrival<S> {}

/// What can be said of a state whose steps were taken.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Expansion {
    /// How many steps can happen at all, asleep or not. None at all is an end.
    pub enabled: u32,
}

/// Whether every promise was kept by a step.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Verdict {
    /// A promise was broken. Nothing is looked at behind it.
    Broken,
    /// Every promise was kept.
    #[default]
    Fine,
}

/// A fingerprint of two words. Different words have different fingerprints.
///
/// For spaces whose states are no longer than that; three rounds of a Feistel network.
#[must_use]
pub const fn print_of(words: [u64; 2]) -> u128 {
    let [mut left, mut right] = words;
    right ^= scattered(left ^ 0x243F_6A88_85A3_08D3);
    left ^= scattered(right ^ 0x1319_8A2E_0370_7344);
    right ^= scattered(left ^ 0xA409_3822_299F_31D0);
    (left as u128) << 64 | right as u128
}

const fn scattered(word: u64) -> u64 {
    let product = (word as u128).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
    (product >> 64) as u64 ^ product as u64
}
