//! What one thread has worked out of servers, and of what is between two of them.
//!
//! A search does little else than look these things up, in no order, and waits for memory each
//! time. So what is looked up together lies together: in a few long lists, by number, in as few
//! bytes as will do, and owned by nobody else.

use std::hint::black_box;
use std::ops::Range;

use super::couples::Couples;
use super::parts::{Done, Outlook, Own};
use crate::world::Price;

/// Where nothing is.
const NONE: u32 = u32::MAX;

/// A step of a server by itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnStep {
    pub(super) cause: u32,
    pub(super) code: u16,
    pub(super) price: Option<Price>,
    pub(super) kind: u8,
}

/// What a server may do by itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostCard {
    from: u32,
    count: u8,
    pub(super) awake: bool,
    /// Its disk is done with what it is at, if that is a promise to an epoch.
    pub(super) promise: Option<u32>,
    /// The place of the leader it may lose patience with, the name of that, and its cause.
    pub(super) waits: Option<(u8, u16, u32)>,
}

impl HostCard {
    /// The places of its steps.
    pub(super) fn steps(self) -> Range<usize> {
        run(self.from, self.count)
    }
}

/// What came of an act of a server.
#[derive(Clone, Debug)]
pub(super) struct After {
    pub(super) host: u32,
    pub(super) seen: Option<u32>,
    pub(super) reached: u32,
    pub(super) far: bool,
    pub(super) panics: bool,
    /// The places of what happens between it and others.
    pub(super) between: Range<usize>,
    /// The places of what clients are told.
    pub(super) told: Range<usize>,
}

/// All servers of one place.
#[derive(Debug, Default)]
pub(super) struct Hosts {
    /// By number.
    cards: Vec<Option<HostCard>>,
    steps: Vec<OwnStep>,
    /// By step: where begins what comes of it, once that was asked for.
    led: Vec<u32>,
    /// By server and cause, where begins what comes of it.
    done: Couples,
    /// What comes of acts: the server, what was seen, what was reached, how much follows; then
    /// what happens between it and others, then what clients are told.
    words: Vec<u32>,
}

const FAR: u32 = 1;
const PANICS: u32 = 2;
/// So many low bits of a word say what happens, the others between which two.
const WHAT_BITS: u32 = 26;

impl Hosts {
    pub(super) fn card(&self, host: u32) -> Option<HostCard> {
        self.cards.get(host as usize).copied().flatten()
    }

    /// Touches where the card of a server is: all that is touched before any of it is needed is
    /// waited for at once.
    #[inline]
    pub(super) fn touch_card(&self, host: u32) {
        black_box(self.card(host).is_some());
    }

    /// Touches what its card speaks of.
    #[inline]
    pub(super) fn touch_steps(&self, host: u32) {
        let Some(card) = self.card(host) else { return };
        if let Some(at) = card.steps().next() {
            black_box(self.steps[at].cause ^ self.led[at]);
        }
    }

    /// Touches what comes of its steps.
    #[inline]
    pub(super) fn touch_after(&self, host: u32) {
        let Some(card) = self.card(host) else { return };
        for at in card.steps() {
            black_box(self.words.get(self.led[at] as usize).copied());
        }
    }

    /// Touches where it says what a cause makes of a server.
    #[inline]
    pub(super) fn touch_done(&self, host: u32, cause: u32) {
        self.done.touch(host, cause);
    }

    pub(super) fn learn(&mut self, host: u32, own: &Own) -> HostCard {
        let Own { awake, steps, promise, waits } = own;
        let card = HostCard {
            from: end(&self.steps),
            count: few(steps.len()),
            awake: *awake,
            promise: *promise,
            waits: waits.map(|(place, code, cause)| (few(place), code, cause)),
        };
        let packed = |(code, price, cause, kind): &(u16, Option<Price>, u32, u8)| OwnStep {
            cause: *cause,
            code: *code,
            price: *price,
            kind: *kind,
        };
        self.steps.extend(steps.iter().map(packed));
        self.led.resize(self.steps.len(), NONE);
        *slot(&mut self.cards, host) = Some(card);
        card
    }

    /// The step at a place.
    pub(super) fn step(&self, place: usize) -> OwnStep {
        self.steps[place]
    }

    /// What comes of the step at a place, if that is known.
    pub(super) fn after_step(&self, place: usize) -> Option<After> {
        let at = self.led[place];
        (at != NONE).then(|| self.after_at(at))
    }

    /// What a cause makes of a server, if that is known.
    pub(super) fn after(&self, host: u32, cause: u32) -> Option<After> {
        self.done.get(host, cause).map(|at| self.after_at(at))
    }

    /// Notes what a cause makes of a server; the step at this place, if it has that cause.
    pub(super) fn note(
        &mut self,
        host: u32,
        cause: u32,
        step: Option<usize>,
        done: &Done,
    ) -> After {
        let Done { host: new, between, told, seen, far, reached, panics } = done;
        let at = end(&self.words);
        let marks = if *far { FAR } else { 0 } | if *panics { PANICS } else { 0 };
        let counts = u32::from(few(between.len())) << 8 | u32::from(few(told.len())) << 16;
        self.words.extend([*new, seen.unwrap_or(NONE), *reached, marks | counts]);
        self.words.extend(between.iter().map(|(pair, what)| {
            assert!(*what < 1 << WHAT_BITS && *pair < 1 << (32 - WHAT_BITS), "a word is too short");
            u32::from(*pair) << WHAT_BITS | what
        }));
        self.words.extend(told);
        match step {
            Some(place) => self.led[place] = at,
            None => self.done.put(host, cause, at),
        }
        self.after_at(at)
    }

    fn after_at(&self, at: u32) -> After {
        let at = at as usize;
        let [host, seen, reached, rest] = *self.words[at..].first_chunk().expect("four words");
        let [_, between, told, _] = rest.to_le_bytes().map(usize::from);
        let from = at + 4;
        After {
            host,
            seen: (seen != NONE).then_some(seen),
            reached,
            far: rest & FAR != 0,
            panics: rest & PANICS != 0,
            between: from..from + between,
            told: from + between..from + between + told,
        }
    }

    /// The place of a pair, and what happens there.
    pub(super) fn between(&self, place: usize) -> (usize, u32) {
        let word = self.words[place];
        ((word >> WHAT_BITS) as usize, word & ((1 << WHAT_BITS) - 1))
    }

    /// What clients are told.
    pub(super) fn told(&self, place: usize) -> u32 {
        self.words[place]
    }
}

/// A step by which something arrives.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArrivalStep {
    /// What happens between the two.
    pub(super) what: u32,
    pub(super) cause: u32,
    pub(super) code: u16,
    pub(super) kind: u8,
}

/// What may come out of what is between two servers, for one of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairCard {
    arrivals_from: u32,
    breaks_from: u32,
    arrivals: u8,
    breaks: u8,
    pub(super) patience: Option<Option<Price>>,
    /// What happens between the two, and cause, of the next message if that is one of discovery.
    pub(super) discovery: Option<(u32, u32)>,
}

impl PairCard {
    /// The places of what may arrive.
    pub(super) fn arrivals(self) -> Range<usize> {
        run(self.arrivals_from, self.arrivals)
    }

    /// The places of what may break.
    pub(super) fn breaks(self) -> Range<usize> {
        run(self.breaks_from, self.breaks)
    }
}

/// Everything that was ever between the same two servers.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    /// By number, for the lower and for the upper of the two.
    cards: Vec<[Option<PairCard>; 2]>,
    arrivals: Vec<ArrivalStep>,
    /// Name, and what happens between the two.
    breaks: Vec<(u16, u32)>,
    /// What becomes of it when something happens; [`NONE`] where a message was not sent after all.
    after: Couples,
}

impl Pairs {
    pub(super) fn card(&self, pair: u32, upper: bool) -> Option<PairCard> {
        self.cards.get(pair as usize)?[usize::from(upper)]
    }

    /// Touches where the cards of a pair are.
    #[inline]
    pub(super) fn touch_cards(&self, pair: u32) {
        black_box([false, true].map(|upper| self.card(pair, upper).is_some()));
    }

    /// Touches where it says what becomes of a pair.
    #[inline]
    pub(super) fn touch_after(&self, pair: u32, what: u32) {
        self.after.touch(pair, what);
    }

    pub(super) fn learn(&mut self, pair: u32, upper: bool, outlook: &Outlook) -> PairCard {
        let Outlook { arrivals, discovery, patience, breaks } = outlook;
        let card = PairCard {
            arrivals_from: end(&self.arrivals),
            breaks_from: end(&self.breaks),
            arrivals: few(arrivals.len()),
            breaks: few(breaks.len()),
            patience: *patience,
            discovery: *discovery,
        };
        let packed = |(code, what, cause, kind): &(u16, u32, u32, u8)| ArrivalStep {
            what: *what,
            cause: *cause,
            code: *code,
            kind: *kind,
        };
        self.arrivals.extend(arrivals.iter().map(packed));
        self.breaks.extend(breaks);
        slot(&mut self.cards, pair)[usize::from(upper)] = Some(card);
        card
    }

    /// What arrives, at a place.
    pub(super) fn arrival(&self, place: usize) -> ArrivalStep {
        self.arrivals[place]
    }

    /// The name of what breaks, at a place, and what happens then.
    pub(super) fn break_at(&self, place: usize) -> (u16, u32) {
        self.breaks[place]
    }

    /// What becomes of a pair, if that is known; nothing if a message was not sent after all.
    pub(super) fn after(&self, pair: u32, what: u32) -> Option<Option<u32>> {
        self.after.get(pair, what).map(|after| (after != NONE).then_some(after))
    }

    pub(super) fn note(&mut self, pair: u32, what: u32, after: Option<u32>) {
        self.after.put(pair, what, after.unwrap_or(NONE));
    }
}

fn run(from: u32, count: u8) -> Range<usize> {
    from as usize..from as usize + usize::from(count)
}

fn end<T>(all: &[T]) -> u32 {
    u32::try_from(all.len()).ok().filter(|end| *end < NONE).expect("fewer than four billion")
}

fn few(count: usize) -> u8 {
    u8::try_from(count).expect("one act has few consequences")
}

/// The place of a number, made if there are not as many yet.
fn slot<T: Clone + Default>(all: &mut Vec<T>, id: u32) -> &mut T {
    let id = id as usize;
    if all.len() <= id {
        all.resize(id + 1, T::default());
    }
    &mut all[id]
}
