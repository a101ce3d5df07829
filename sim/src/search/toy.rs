//! A protocol so small that the number of its states is known: to test and to measure with.

use super::{Arrival, Awake, Bits, Expansion, Space, Verdict, print_of};

/// One leader tells its followers of proposals, and commits each at the first acknowledgement.
///
/// ```text
///   leader    o---PROPOSAL---> follower        of each proposal and follower:
///   leader <-------ACK-------o follower          proposal in flight, ack in flight, ack in
///   leader    o----COMMIT----> follower          commit in flight, commit in
/// ```
///
/// All proposals are on their way from the beginning, and messages overtake each other. As long
/// as no ack of a proposal is in, each of F followers is in one of two places: 2^F states. With
/// at least one in there are 3^F - 2^F ways for the acks to be, and commits are on their way to
/// all, or in: times 2^F. K proposals have nothing to do with each other:
///
/// ```text
///   ( 2^F + (3^F - 2^F) * 2^F ) ^ K
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Broadcast {
    followers: u16,
    proposals: u16,
}

/// The messages of each proposal and follower: three bits of 128.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Messages(pub [u64; 2]);

/// A message in flight: proposal, ack and commit of the first proposal to the first follower,
/// then of the first to the second, and so on.
const KINDS: u16 = 3;

impl Broadcast {
    /// `followers` times `proposals` is at most 21.
    ///
    /// # Panics
    ///
    /// If it is more.
    #[must_use]
    pub const fn new(followers: u16, proposals: u16) -> Self {
        assert!(followers * proposals <= 21);
        Self { followers, proposals }
    }

    /// How many states there are.
    #[must_use]
    pub const fn states(&self) -> u64 {
        let two = 2_u64.pow(self.followers as u32);
        let three = 3_u64.pow(self.followers as u32);
        (two + (three - two) * two).pow(self.proposals as u32)
    }

    /// Where everything begins: all proposals in flight.
    #[must_use]
    pub fn first(&self) -> Messages {
        let mut messages = Messages([0; 2]);
        for pair in 0..self.followers * self.proposals {
            messages.flip(pair * KINDS);
        }
        messages
    }

    /// What `step` leads to; a step is the message that is delivered, by its place.
    #[must_use]
    #[inline]
    pub fn deliver(&self, messages: Messages, step: u16) -> Messages {
        let mut after = messages;
        after.flip(step);
        let pair = step / KINDS;
        match step % KINDS {
            0 => after.flip(step + 1),
            1 if self.is_first_ack(messages, pair) => {
                let first = pair - pair % self.followers;
                for follower in first..first + self.followers {
                    after.flip(follower * KINDS + 2);
                }
            }
            1 | 2 => {}
            3.. => unreachable!("there are three kinds"),
        }
        after
    }

    /// Whether no ack of the proposal is in yet: then proposal or ack to everyone is in flight.
    #[inline]
    fn is_first_ack(&self, messages: Messages, pair: u16) -> bool {
        let first = pair - pair % self.followers;
        let mut all = (first..first + self.followers).map(|pair| pair * KINDS);
        all.all(|place| messages.has(place) || messages.has(place + 1))
    }
}

impl Messages {
    /// Whether the message is in flight.
    #[must_use]
    #[inline]
    pub const fn has(&self, place: u16) -> bool {
        self.0[place as usize / 64] >> (place % 64) & 1 == 1
    }

    #[inline]
    const fn flip(&mut self, place: u16) {
        self.0[place as usize / 64] ^= 1 << (place % 64);
    }

    /// The messages in flight, by their places.
    #[inline]
    pub fn each(self) -> impl Iterator<Item = u16> {
        let [mut low, mut high] = self.0;
        std::iter::from_fn(move || {
            let (word, base) = if low != 0 { (&mut low, 0) } else { (&mut high, 64) };
            if *word == 0 {
                return None;
            }
            let place = word.trailing_zeros() as u16;
            *word &= *word - 1;
            Some(base + place)
        })
    }
}

impl Space for Broadcast {
    type State = Messages;
    type Steps = Bits<1>;
    type Worker = ();

    fn identity(&self) -> String {
        format!("broadcast of {} proposals to {} followers", self.proposals, self.followers)
    }

    fn worker(&self) {}

    fn initial(&self, (): &mut ()) -> Arrival<Self> {
        arrival(0, self.first(), Bits::default())
    }

    fn expand(
        &self,
        (): &mut (),
        state: &Messages,
        awake: &Awake<Bits<1>>,
        out: &mut Vec<Arrival<Self>>,
    ) -> Expansion {
        let mut asleep = awake.asleep;
        let mut enabled = 0;
        for step in state.each() {
            enabled += 1;
            if awake.reduce && asleep.has(step) {
                continue;
            }
            let after = self.deliver(*state, step);
            out.push(arrival(step, after, asleep));
            if awake.reduce {
                // Deliveries commute, but for the acks of one proposal: the first commits. That
                // only flips the same bits whichever it is, so even those do.
                asleep.insert(step);
            }
        }
        Expansion { enabled }
    }
}

#[inline]
fn arrival(step: u16, state: Messages, asleep: Bits<1>) -> Arrival<Broadcast> {
    let goal = state == Messages([0; 2]);
    let print = print_of(state.0);
    Arrival { step, print, state, asleep, verdict: Verdict::Fine, goal }
}
