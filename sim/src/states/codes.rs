//! Short names for what one server may do next: the same in every state, so that steps can be
//! remembered from one state to the next.

use std::collections::BTreeMap;

use zoolab_core::{LinkId, ServerId, Timer};

use super::Names;
use crate::search::Bits;
use crate::step::Step;
use crate::world::{LINKS_PER_NAME, Price, World};

const DISK: u16 = 0;
const RELOAD: u16 = 1;
const TIMEOUT: u16 = 2;
const RESTART: u16 = 10;
const WRITE: u16 = 11;
const CHANGE: u16 = 12;
const CRASH: u16 = 13;
const POWER: u16 = 21;
const PEERS: u16 = 37;
/// Connections with each peer: the how manieth at once, who dialled; and those that were there
/// when the search began.
const LINKS: u16 = NAMED + FOREIGN as u16;
const NAMED: u16 = 2 * AT_ONCE;
/// How many connections a server can have to another at once: all but one of them are over, and
/// the other has not noticed yet.
const AT_ONCE: u16 = 3;

/// How many connections of two servers a search can begin with that it has not named itself.
pub(super) const FOREIGN: usize = 2;

/// How many steps each of so many servers has a name for.
const fn per_server(servers: usize) -> u16 {
    PEERS + (1 + 2 * LINKS) * servers as u16
}

/// How many words name all steps of so many servers.
#[must_use]
pub const fn sets_of(servers: usize) -> usize {
    (per_server(servers) as usize * servers).div_ceil(64)
}

/// Which steps there are, and which of them touch the same things.
#[derive(Clone, Debug)]
pub(super) struct Codes<const W: usize> {
    ids: Vec<ServerId>,
    /// From where on a search has named connections.
    names_from: u64,
    /// Those that were there before: whom each is between, and which of theirs it is.
    foreign: BTreeMap<LinkId, ([ServerId; 2], u16)>,
    per_server: u16,
    /// By server: its own steps, and those of others that touch what is its own.
    of: Vec<Bits<W>>,
    /// By price.
    priced: [Bits<W>; 6],
    /// By way of naming, and back: the name of each step under that.
    renamed: Vec<[Vec<u16>; 2]>,
}

impl<const W: usize> Codes<W> {
    /// For the servers of this world, and the connections it begins with.
    ///
    /// # Panics
    /// If either are too many.
    #[must_use]
    pub(super) fn new(root: &World, names: &[Names]) -> Self {
        let (ids, names_from) = (root.servers(), root.names_from());
        let count = ids.len();
        let mut foreign = BTreeMap::new();
        for place in 0..root.pairs_len() {
            let links = &root.pair_at(place).links;
            let old = links.iter().filter(|(id, _)| id.0 / LINKS_PER_NAME < names_from);
            for (at, (id, link)) in (0..).zip(old) {
                assert!(usize::from(at) < FOREIGN, "too many connections to begin with");
                foreign.insert(*id, (link.ends, at));
            }
        }
        let per_server = per_server(count);
        assert_eq!(sets_of(count), W, "so many words name all steps");
        let mut codes = Self {
            ids: ids.to_vec(),
            names_from,
            foreign,
            per_server,
            of: vec![Bits::default(); count],
            priced: [Bits::default(); 6],
            renamed: Vec::new(),
        };
        for place in 0..count {
            for code in 0..per_server {
                let whole = codes.whole(place, code);
                codes.of[place].insert(whole);
            }
            for (price, codes_of) in [
                (Price::Crash, CRASH..POWER),
                (Price::PowerLoss, POWER..PEERS),
                (Price::Timeout, TIMEOUT..RESTART),
                (Price::Write, WRITE..CRASH),
                (Price::Break, codes.breaks_of(0)..per_server),
            ] {
                for code in codes_of {
                    let whole = codes.whole(place, code);
                    codes.priced[price as usize].insert(whole);
                }
            }
        }
        for place in 0..count {
            for other in (0..count).filter(|other| *other != place) {
                // Breaks between the two touch both; a vote that is overwritten is another.
                for kind in 0..LINKS {
                    let code = codes.breaks_of(other) + kind;
                    let whole = codes.whole(place, code);
                    codes.of[other].insert(whole);
                    let whole = codes.whole(other, codes.breaks_of(place) + kind);
                    codes.of[place].insert(whole);
                }
                let vote = codes.whole(other, codes.votes_of(place));
                codes.of[place].insert(vote);
            }
        }
        codes.renamed = names.iter().map(|names| codes.under(names)).collect();
        codes
    }

    /// The name of each step under other names of the servers, and back.
    fn under(&self, names: &Names) -> [Vec<u16>; 2] {
        let mut there: Vec<u16> = (0..self.len()).collect();
        let mut back = there.clone();
        for (code, renamed) in (0..self.len()).zip(&mut there) {
            let (place, own) = (usize::from(code / self.per_server), code % self.per_server);
            let place_new = names.place(place);
            *renamed = if own >= self.breaks_of(0) {
                let rest = own - self.breaks_of(0);
                let (peer, kind) = (names.place(usize::from(rest / LINKS)), rest % LINKS);
                // A break is the lower one's, and says whether that one dialled.
                if place_new < peer {
                    self.whole(place_new, self.breaks_of(peer) + kind)
                } else {
                    let flipped = if kind < NAMED { kind ^ 1 } else { kind };
                    self.whole(peer, self.breaks_of(place_new) + flipped)
                }
            } else if own >= self.votes_of(0) {
                let peer = names.place(usize::from(own - self.votes_of(0)));
                self.whole(place_new, self.votes_of(peer))
            } else if own >= PEERS {
                let (peer, kind) = ((own - PEERS) / LINKS, (own - PEERS) % LINKS);
                let peer = names.place(usize::from(peer)) as u16;
                self.whole(place_new, PEERS + LINKS * peer + kind)
            } else {
                self.whole(place_new, own)
            };
            back[usize::from(*renamed)] = code;
        }
        [there, back]
    }

    /// A set of steps under a way of naming; or back.
    #[must_use]
    pub(super) fn rename(&self, set: Bits<W>, naming: usize, back: bool) -> Bits<W> {
        if naming == 0 {
            return set;
        }
        let names = &self.renamed[naming][usize::from(back)];
        let mut renamed = Bits::default();
        for (place, word) in set.words().iter().enumerate() {
            let mut word = *word;
            while word != 0 {
                renamed.insert(names[place * 64 + word.trailing_zeros() as usize]);
                word &= word - 1;
            }
        }
        renamed
    }

    /// Whom a connection is between.
    #[must_use]
    pub(super) fn ends(&self, link: LinkId) -> [ServerId; 2] {
        let named = || [(link.0 / 100 % 100) as u8, (link.0 % 100) as u8].map(ServerId);
        self.foreign.get(&link).map_or_else(named, |(ends, _)| *ends)
    }

    const fn votes_of(&self, peer: usize) -> u16 {
        PEERS + LINKS * self.ids.len() as u16 + peer as u16
    }

    const fn breaks_of(&self, peer: usize) -> u16 {
        PEERS + (LINKS + 1) * self.ids.len() as u16 + LINKS * peer as u16
    }

    const fn whole(&self, place: usize, code: u16) -> u16 {
        place as u16 * self.per_server + code
    }

    /// How many there are.
    #[must_use]
    pub(super) const fn len(&self) -> u16 {
        self.per_server * self.ids.len() as u16
    }

    /// The name of something that one server may do.
    ///
    /// # Panics
    /// If it is nothing that a search lets happen.
    #[must_use]
    pub(super) fn name(&self, world: &World, place: usize, step: &Step) -> u16 {
        let id = self.ids[place];
        let peer = |id: ServerId| self.ids.iter().position(|other| *other == id);
        let kind = |link: LinkId| {
            if let Some((_, at)) = self.foreign.get(&link) {
                return NAMED + at;
            }
            let (count, from) = (link.0 / LINKS_PER_NAME - self.names_from, link.0 / 100 % 100);
            assert!(count < u64::from(AT_ONCE), "a search has no name for so many: {step}");
            2 * count as u16 + u16::from(from == u64::from(id.0))
        };
        let bounded = |luck: u64, most: u16| {
            assert!(luck < u64::from(most), "a search has no name for {step}");
            luck as u16
        };
        #[expect(clippy::wildcard_enum_match_arm, reason = "only what searches let happen")]
        let code = match step {
            Step::Disk { .. } => DISK,
            Step::Reload { .. } => RELOAD,
            Step::Timeout { timer, .. } => TIMEOUT + *timer as u16,
            Step::Restart { .. } => RESTART,
            Step::Write { .. } => WRITE,
            Step::Change { .. } => CHANGE,
            Step::Crash { luck, .. } => CRASH + bounded(*luck, POWER - CRASH),
            Step::PowerLoss { luck, .. } => POWER + bounded(*luck, PEERS - POWER),
            Step::Deliver { link, from, .. } => {
                let from = peer(*from).expect("a server of this world");
                PEERS + LINKS * from as u16 + kind(*link)
            }
            Step::Closed { link, .. } => {
                let ends = world.link(*link).expect("it is there").ends;
                let other = if ends[0] == id { ends[1] } else { ends[0] };
                let other = peer(other).expect("a server of this world");
                PEERS + LINKS * other as u16 + kind(*link)
            }
            Step::Vote { from, .. } => self.votes_of(peer(*from).expect("a server of this world")),
            Step::Break { link } => {
                let ends = world.link(*link).expect("it is there").ends;
                let other = if ends[0] == id { ends[1] } else { ends[0] };
                let other = peer(other).expect("a server of this world");
                self.breaks_of(other) + kind(*link)
            }
            _ => panic!("a search does not let this happen: {step}"),
        };
        self.whole(place, code)
    }

    /// Whose timer runs out, and which, in the step with this name; none if it is another step.
    #[must_use]
    pub(super) fn timeout(&self, code: u16) -> Option<(usize, Timer)> {
        let own = (code % self.per_server).checked_sub(TIMEOUT).filter(|_| code < self.len())?;
        let timer = Timer::ALL.into_iter().find(|timer| *timer as u16 == own)?;
        Some((usize::from(code / self.per_server), timer))
    }

    /// The name of a timer's running out.
    #[must_use]
    pub(super) const fn timer(&self, place: usize, timer: Timer) -> u16 {
        self.whole(place, TIMEOUT + timer as u16)
    }

    /// The name of something that several servers do together, the same in every state.
    ///
    /// # Panics
    /// If it is nothing of that kind.
    #[must_use]
    pub(super) fn together(&self, step: &Step) -> u32 {
        let place = |id: &ServerId| {
            let place = self.ids.iter().position(|other| other == id);
            place.expect("a server of this world") as u32
        };
        #[expect(clippy::wildcard_enum_match_arm, reason = "only what several do together")]
        match step {
            Step::Dialled { from, to } => 1 << 16 | place(from) << 8 | place(to),
            Step::Elect { leader, followers } => {
                let members = followers.iter().fold(0, |all, id| all | 1 << place(id));
                2 << 16 | place(leader) << 8 | members
            }
            Step::Join { leader, server } => 3 << 16 | place(leader) << 8 | place(server),
            Step::Dial { client, server } => 4 << 16 | u32::from(client.0) << 8 | place(server),
            Step::Ask { client } => 5 << 16 | u32::from(client.0),
            Step::Answer { client } => 6 << 16 | u32::from(client.0),
            Step::Call { client, .. } => 7 << 16 | u32::from(client.0),
            _ => panic!("nobody does this together: {step}"),
        }
    }

    /// What is not independent of a step of a server, at this price, with so much left.
    #[must_use]
    pub(super) fn touched(
        &self,
        place: usize,
        code: u16,
        price: Option<Price>,
        last: bool,
    ) -> Bits<W> {
        let mut touched = self.of[place];
        let own = code % self.per_server;
        if own >= self.breaks_of(0) {
            let other = usize::from((own - self.breaks_of(0)) / LINKS);
            add(&mut touched, self.of[other]);
        } else if own >= self.votes_of(0) {
            add(&mut touched, self.of[usize::from(own - self.votes_of(0))]);
        }
        if let Some(price) = price.filter(|_| last) {
            add(&mut touched, self.priced[price as usize]);
        }
        touched
    }
}

fn add<const W: usize>(to: &mut Bits<W>, from: Bits<W>) {
    for (word, other) in to.words_mut().iter_mut().zip(from.words()) {
        *word |= other;
    }
}
