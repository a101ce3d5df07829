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

use zoolab_core::zab::Message;
use zoolab_core::{ConnId, Input, LinkId, Request, ServerId, Timer};

use super::taken::{self, Taken};
use super::{Ensemble, print};
use crate::drive::caught;
use crate::seen::{Said, Seen};
use crate::step::Step;
use crate::world::Price;
use crate::world::act::{Act, Effect, Ground, shows};
use crate::world::change;
use crate::world::client::Down;
use crate::world::link::Link;
use crate::world::pair::{Pair, Vote};

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
    Vote(ServerId, Vote),
}

/// Something that clients are told, or do.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) enum ForClients {
    /// One does something by itself.
    Does(Step),
    /// The process of a server is gone.
    Died(ServerId),
    /// A server says something on a connection.
    Told(ConnId, Down),
}

/// What a server may do next by itself.
#[derive(Debug)]
pub(super) struct Own {
    pub(super) awake: bool,
    /// Name, price, cause, kind.
    pub(super) steps: Vec<(u16, Option<Price>, u32, u8)>,
    /// Its disk is done with what it is at, if that is a promise to an epoch.
    pub(super) promise: Option<u32>,
    /// The place of the leader it may lose patience with, the name of that, and its cause.
    pub(super) waits: Option<(usize, u16, u32)>,
}

/// What may come out of what is between two servers, for one of them.
#[derive(Debug)]
pub(super) struct Outlook {
    /// Name, what happens between the two, cause, kind.
    pub(super) arrivals: Vec<(u16, u32, u32, u8)>,
    /// What happens between the two, and cause, of the next message if that is one of discovery.
    pub(super) discovery: Option<(u32, u32)>,
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
    /// What clients are told.
    pub(super) told: Vec<u32>,
    pub(super) seen: Option<u32>,
    pub(super) far: bool,
    pub(super) reached: u32,
    pub(super) panics: bool,
}

impl<const K: usize, const W: usize> Ensemble<K, W> {
    pub(super) fn cause(&self, act: Act, from: Option<ServerId>) -> u32 {
        let cause = Arc::new(Cause { act, from });
        self.causes.put(&cause, |_| print(K + 1, &*cause, &self.names[0]), 1)
    }

    fn between(&self, what: Between) -> u32 {
        let what = Arc::new(what);
        self.betweens.put(&what, |_| print(K + 2, &*what, &self.names[0]), 1)
    }

    /// The place of a pair, by the places of its two.
    pub(super) fn pair_place(&self, one: usize, other: usize) -> usize {
        let (a, b) = (one.min(other), one.max(other));
        a * (2 * self.len() - a - 1) / 2 + b - a - 1
    }

    pub(super) fn place(&self, server: ServerId) -> Option<usize> {
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
                Step::Change { join, observe, leave, .. } => {
                    let request = change::request(&join, &observe, &leave);
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
        let steps = named.collect();
        let promise = host.promise().map(|token| self.cause(Act::Disk(token), None));
        Own { awake: host.is_awake(), steps, promise, waits }
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
                    let vote = pair.votes[pair.way(from)].clone();
                    let Vote { notification, members } = vote.expect("it was to arrive");
                    (Between::TakeVote(from), Input::Told { from, notification, members })
                }
                other => unreachable!("nothing arrives by {other}"),
            };
            (code, self.between(what), self.cause(Act::Input(input), Some(from)), kind)
        });
        let arrivals = arrivals.collect();
        let discovery = pair.discovering(id).map(|link| {
            let message = Pair::clone(&pair).receive(link, id);
            let cause = self.cause(Act::Input(Input::Message { link, message }), Some(from));
            (self.between(Between::Receive(link, id)), cause)
        });
        if pair.ends[0] == id {
            pair.breaks(&mut steps);
        }
        let breaks = steps.iter().filter_map(|step| {
            let Step::Break { link } = step else { return None };
            let code = self.codes.name(&world, place, step);
            Some((code, self.between(Between::Break(*link))))
        });
        let breaks = breaks.collect();
        Outlook { arrivals, discovery, patience: pair.patience(id), breaks }
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
        let performed = caught(|| {
            after.act(&ground, cause.act.clone(), &mut Vec::new(), &mut effects);
        });
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
        let (mut between, mut told) = (Vec::new(), Vec::new());
        let others = |place: usize| (0..self.len()).filter(move |other| *other != place);
        for effect in effects {
            match effect {
                Effect::Fresh(_) => {}
                Effect::Client(conn, down) => told.extend(self.told(ForClients::Told(conn, down))),
                Effect::Died { tell } => {
                    told.extend(self.told(ForClients::Died(me)));
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
                Effect::Tell(to, vote) => {
                    if let Some(to) =
                        self.place(to).filter(|to| *to != place && !self.bounds.coarse)
                    {
                        let pair = self.pair_place(place, to);
                        let what = self.between(Between::Vote(me, vote));
                        between.push((pair as u8, what));
                    }
                }
            }
        }
        let after = Arc::new(after);
        let id = self.put_host(place, &after);
        let (far, reached) = (seen.iter().any(taken::looks_far), taken::reached(&seen));
        let seen = self.put_seen(seen);
        Done { host: id, between, told, seen, far, reached, panics }
    }

    /// Whom a connection of a server goes to, by its name, unless it was there from the beginning.
    fn peer(&self, place: usize, link: LinkId) -> usize {
        let ends = self.codes.ends(link);
        let other = if ends[0] == self.ids[place] { ends[1] } else { ends[0] };
        self.place(other).expect("a connection is between two of its servers")
    }

    /// The number of something for clients; none where there are none.
    pub(super) fn told(&self, what: ForClients) -> Option<u32> {
        let what = Arc::new(what);
        let put = || self.tidings.put(&what, |_| print(K + 3, &*what, &self.names[0]), 1);
        (self.root.setting().clients > 0).then(put)
    }

    /// What something makes of all clients, and what a server is told of it: where, and the cause.
    pub(super) fn happens_to_clients(
        &self,
        clients: u32,
        what: u32,
    ) -> (u32, Option<(ServerId, u32)>) {
        let mut after = (*self.clients.get(clients)).clone();
        let told = match &*self.tidings.get(what) {
            ForClients::Died(server) => {
                after.died(*server, |_| {});
                None
            }
            ForClients::Told(conn, down) => {
                after.tell(*conn, down.clone());
                None
            }
            #[expect(clippy::wildcard_enum_match_arm, reason = "only what clients do")]
            ForClients::Does(step) => match step {
                Step::Dial { client, server } => {
                    let timeout_ms = self.root.setting().session_timeout_ms;
                    Some((*server, after.dial(*client, *server, timeout_ms)))
                }
                Step::Ask { client } => after.ask(*client),
                Step::Answer { client } => {
                    after.answer(*client);
                    None
                }
                Step::Call { client, call } => {
                    after.call(*client, self.root.request(*call));
                    None
                }
                other => unreachable!("no client does this: {other}"),
            },
        };
        let told = told.map(|(server, input)| (server, self.cause(Act::Input(input), None)));
        (self.put_clients(&Arc::new(after)), told)
    }

    /// What is between two servers once one of them has reached the other, and by which
    /// connection; none if it cannot be reached.
    pub(super) fn opens(&self, place: usize, pair: u32, from: ServerId) -> Option<(u32, LinkId)> {
        let mut after = (*self.pairs[place].get(pair)).clone();
        if after.cut != [false; 2] {
            return None;
        }
        let to = after.ends[1 - after.way(from)];
        let link = after.fresh_name(from, to, self.root.names_from());
        after.links.push((link, Link::new(from, to)));
        Some((self.put_pair(place, &Arc::new(after)), link))
    }

    /// First one thing was seen and then another.
    pub(super) fn both_seen(&self, before: u32, then: u32) -> u32 {
        let (before, then) = (self.seen.get(before), self.seen.get(then));
        let all = before.iter().chain(&*then).cloned().collect();
        self.put_seen(all).expect("something was seen")
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
            Between::Vote(from, vote) => {
                let way = after.way(*from);
                after.votes[way] = Some(vote.clone());
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
