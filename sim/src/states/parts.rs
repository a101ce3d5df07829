//! What one server does, and what that does to what is between it and others: each worked out
//! once, by the same code that a world runs, and put together again.
//!
//! ```text
//!   pair --- receive ---> message      server + message --- act ---> server', effects
//!   pair --- effect ----> pair'        (each effect, on the pair it goes to)
//! ```
//!
//! There are few different servers and few different pairs, but they occur in many combinations;
//! so hardly anything has to be worked out.

use std::sync::Arc;

use zoolab_core::election::Notification;
use zoolab_core::zab::Message;
use zoolab_core::{Input, LinkId, Request, ServerId, Timer};

use super::taken::{self, Taken};
use super::{Ensemble, print};
use crate::seen::{Said, Seen};
use crate::step::Step;
use crate::world::Price;
use crate::world::act::{Act, Effect, Ground, shows};
use crate::world::pair::Pair;

/// Why a server does something: what it does, and who sent what it takes.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Cause {
    act: Act,
    from: Option<ServerId>,
}

/// Something that happens between two servers.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) enum Between {
    /// A connection breaks.
    Break(LinkId),
    /// One end closes a connection; the other end is told, or need not be.
    Close(LinkId, ServerId, bool),
    /// The process of one of them is gone.
    Died(ServerId, bool),
    /// A message is taken out.
    Receive(LinkId, ServerId),
    /// The process of one of them has started.
    Risen(ServerId),
    /// A message is put in.
    Send(LinkId, ServerId, Message),
    /// A vote is taken out.
    TakeVote(ServerId),
    /// A vote is put in.
    Vote(ServerId, Notification),
}

/// What a server may do next by itself.
#[derive(Debug)]
pub(super) struct Own {
    pub(super) awake: bool,
    /// Name, price, cause, kind.
    pub(super) steps: Vec<(u16, Option<Price>, u32, u8)>,
    /// The place of the leader it may lose patience with, the name of that, and its cause.
    pub(super) waits: Option<(usize, u16, u32)>,
}

/// What may come out of what is between two servers, for one of them.
#[derive(Debug)]
pub(super) struct Outlook {
    /// Name, what happens between the two, cause, kind.
    pub(super) arrivals: Vec<(u16, u32, u32, u8)>,
    pub(super) patience: Option<Option<Price>>,
    /// Name, what happens between the two; only for the lower one.
    pub(super) breaks: Vec<(u16, u32)>,
}

/// What came of an act.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) host: u32,
    /// Which pair, and what happens there.
    pub(super) between: Vec<(u8, u32)>,
    pub(super) seen: Option<u32>,
    pub(super) far: bool,
    pub(super) reached: u32,
    pub(super) panics: bool,
}

impl<const K: usize, const W: usize> Ensemble<K, W> {
    fn cause(&self, act: Act, from: Option<ServerId>) -> u32 {
        let cause = Arc::new(Cause { act, from });
        let prints = Box::new([print(K + 1, &*cause, &self.names[0])]);
        self.causes.put(&cause, prints)
    }

    fn between(&self, what: Between) -> u32 {
        let what = Arc::new(what);
        let prints = Box::new([print(K + 2, &*what, &self.names[0])]);
        self.betweens.put(&what, prints)
    }

    /// The place of a pair, by the places of its two.
    pub(super) fn pair_place(&self, one: usize, other: usize) -> usize {
        let (a, b) = (one.min(other), one.max(other));
        a * (2 * self.len() - a - 1) / 2 + b - a - 1
    }

    fn place(&self, server: ServerId) -> Option<usize> {
        self.ids.iter().position(|id| *id == server)
    }

    /// What a server may do next by itself.
    pub(super) fn own_steps(&self, place: usize, host: u32) -> Own {
        let (host, id) = (self.hosts[place].get(host), self.ids[place]);
        let mut steps = Vec::new();
        host.choices(self.bounds, id, &mut steps);
        let named = steps.into_iter().map(|step| {
            let code = self.codes.name(&self.root, place, &step);
            let kind = taken::kind(&step);
            #[expect(clippy::wildcard_enum_match_arm, reason = "only what a host offers")]
            let (act, price) = match step {
                Step::Disk { token, .. } => (Act::Disk(token), None),
                Step::Reload { .. } => (Act::Reload, None),
                Step::Timeout { timer, .. } => {
                    let price = host.patience(self.bounds, timer).flatten();
                    (Act::Timeout(timer), price)
                }
                Step::Restart { .. } => (Act::Restart, None),
                Step::Write { value, .. } => {
                    let data = Some(Arc::from(value.to_be_bytes()));
                    let request = Request::SetData { path: "/".into(), data, version: -1 };
                    (Act::Input(Input::Own(request)), Some(Price::Write))
                }
                Step::Crash { luck, .. } => (Act::Crash(luck), Some(Price::Crash)),
                Step::PowerLoss { luck, keep, .. } => {
                    (Act::PowerLoss(luck, keep), Some(Price::PowerLoss))
                }
                other => unreachable!("no machine offers {other}"),
            };
            (code, price, self.cause(act, None), kind)
        });
        let waits = host.waits_on().and_then(|leader| self.place(leader)).map(|leader| {
            let timer = Timer::Silent;
            let code = self.codes.name(&self.root, place, &Step::Timeout { server: id, timer });
            (leader, code, self.cause(Act::Timeout(timer), None))
        });
        Own { awake: host.is_awake(), steps: named.collect(), waits }
    }

    /// What may come out of a pair for one of the two.
    pub(super) fn arrivals(&self, place: usize, pair_place: usize, pair: u32) -> Outlook {
        let (pair, id) = (self.pairs[pair_place].get(pair), self.ids[place]);
        let mut world = self.root.clone();
        world.put_pair(pair_place, Arc::clone(&pair));
        let from = pair.ends[1 - pair.way(id)];
        let mut steps = Vec::new();
        pair.arrivals(id, &mut steps);
        let arrivals = steps.drain(..).map(|step| {
            let code = self.codes.name(&world, place, &step);
            let kind = taken::kind(&step);
            #[expect(clippy::wildcard_enum_match_arm, reason = "only what arrives")]
            let (what, input) = match step {
                Step::Deliver { link, .. } => {
                    let message = Pair::clone(&pair).receive(link, id);
                    (Between::Receive(link, id), Input::Message { link, message })
                }
                Step::Closed { link, .. } => {
                    let input = Input::Unlinked { link: Some(link), peer: from };
                    (Between::Close(link, id, false), input)
                }
                Step::Vote { .. } => {
                    let vote = pair.votes[pair.way(from)];
                    let notification = vote.expect("it was to arrive");
                    (Between::TakeVote(from), Input::Told { from, notification })
                }
                other => unreachable!("nothing arrives by {other}"),
            };
            (code, self.between(what), self.cause(Act::Input(input), Some(from)), kind)
        });
        let arrivals = arrivals.collect();
        if pair.ends[0] == id {
            pair.breaks(&mut steps);
        }
        let breaks = steps.iter().filter_map(|step| {
            let Step::Break { link } = step else { return None };
            let code = self.codes.name(&world, place, step);
            Some((code, self.between(Between::Break(*link))))
        });
        Outlook { arrivals, patience: pair.patience(id), breaks: breaks.collect() }
    }

    /// What comes of an act of a server.
    pub(super) fn act(&self, place: usize, host: u32, cause: u32) -> Done {
        let (before, cause) = (self.hosts[place].get(host), self.causes.get(cause));
        let me = self.ids[place];
        let ground = Ground {
            setting: self.root.setting(),
            ensemble: self.root.ensemble(),
            settings: self.root.settings(),
            me,
            at: self.root.now(),
        };
        let mut after = (*before).clone();
        let mut effects = Vec::new();
        let performed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            after.act(&ground, cause.act.clone(), &mut Vec::new(), &mut effects);
        }));
        let panics = performed.is_err();
        if panics {
            after = (*before).clone();
            effects.clear();
        }
        let mut seen = Vec::new();
        if let (Act::Input(Input::Message { message, .. }), Some(from)) = (&cause.act, cause.from)
            && shows(message)
        {
            seen.push(Seen::Delivered { from, to: me, message: Said::of(message) });
        }
        let mut between = Vec::new();
        let others = |place: usize| (0..self.len()).filter(move |other| *other != place);
        for effect in effects {
            match effect {
                Effect::Client(..) | Effect::Fresh(_) => {}
                Effect::Died { tell } => {
                    let what = self.between(Between::Died(me, tell));
                    between
                        .extend(others(place).map(|it| (self.pair_place(place, it) as u8, what)));
                }
                Effect::Risen => {
                    let what = self.between(Between::Risen(me));
                    between
                        .extend(others(place).map(|it| (self.pair_place(place, it) as u8, what)));
                }
                Effect::HangUp(link) => {
                    let pair = self.pair_place(place, self.peer(place, link));
                    between.push((pair as u8, self.between(Between::Close(link, me, true))));
                }
                Effect::Seen(event) => seen.push(event),
                Effect::Send(link, message) => {
                    let peer = self.peer(place, link);
                    if shows(&message) {
                        let to = self.ids[peer];
                        seen.push(Seen::Sent { from: me, to, message: Said::of(&message) });
                    }
                    let pair = self.pair_place(place, peer);
                    between.push((pair as u8, self.between(Between::Send(link, me, message))));
                }
                Effect::Tell(to, notification) => {
                    if let Some(to) =
                        self.place(to).filter(|to| *to != place && !self.bounds.coarse)
                    {
                        let pair = self.pair_place(place, to);
                        let what = self.between(Between::Vote(me, notification));
                        between.push((pair as u8, what));
                    }
                }
            }
        }
        let after = Arc::new(after);
        let id = self.put_host(place, &after);
        let (far, reached) = (seen.iter().any(taken::looks_far), taken::reached(&seen));
        let seen = self.put_seen(seen);
        Done { host: id, between, seen, far, reached, panics }
    }

    /// Whom a connection of a server goes to, by its name, unless it was there from the beginning.
    fn peer(&self, place: usize, link: LinkId) -> usize {
        let named = [(link.0 / 100 % 100) as u8, (link.0 % 100) as u8].map(ServerId);
        let ends = self.root.link(link).map_or(named, |found| found.ends);
        let other = if ends[0] == self.ids[place] { ends[1] } else { ends[0] };
        self.place(other).expect("a connection is named by a search")
    }

    /// What something makes of what is between two servers; none if a message that was taken for
    /// sent is not.
    pub(super) fn happens_between(&self, place: usize, pair: u32, what: u32) -> Option<u32> {
        let mut after = (*self.pairs[place].get(pair)).clone();
        match &*self.betweens.get(what) {
            Between::Break(link) => {
                after.break_link(*link);
            }
            Between::Close(link, at, tell) => {
                after.close(*link, *at, *tell);
            }
            Between::Died(server, tell) => after.died(*server, *tell, &mut |_| {}),
            Between::Receive(link, to) => {
                after.receive(*link, *to);
            }
            Between::Risen(server) => after.risen(*server, &mut |_| {}),
            Between::Send(link, from, message) => {
                let arrives = after.send(*link, *from, message.clone())?;
                if !arrives && matches!(message, Message::Snap { .. } | Message::Trunc { .. }) {
                    return None;
                }
            }
            Between::TakeVote(from) => {
                let way = after.way(*from);
                after.votes[way] = None;
            }
            Between::Vote(from, notification) => {
                let way = after.way(*from);
                after.votes[way] = Some(*notification);
            }
        }
        Some(self.put_pair(place, &Arc::new(after)))
    }

    /// What a world would make of a step, all at once. Slow, and the measure of the rest.
    pub(super) fn whole(&self, state: &[u32; K], place: usize, code: u16) -> Option<Taken> {
        let world = self.world(state);
        let mut steps = Vec::new();
        world.choices(self.ids[place], &mut steps);
        let named = |step: &Step| self.codes.name(&world, place, step) == code;
        let step = steps.into_iter().find(named)?;
        self.take(&world, &[(code, step)]).pop()
    }
}
