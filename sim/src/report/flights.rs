//! Messages on their way: from the step that sends one to the step in which it arrives.
//!
//! Steps say what arrives, not when it was sent. That is found by looking at what is on its way
//! after each step: whatever is there now and was not before has been sent.

use std::collections::{BTreeMap, VecDeque};

use zoolab_core::election::Notification;
use zoolab_core::{ConnId, LinkId, ServerId};

use super::cast::{Kind, Who};
use super::words::first_word;
use crate::step::{ClientId, Step};
use crate::world::World;
use crate::world::client::{Down, Up};

/// One message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Flight {
    /// From whom.
    pub from: Who,
    /// To whom.
    pub to: Who,
    /// In which step it was sent.
    pub sent: u32,
    /// What became of it.
    pub fate: Fate,
    /// What it is told apart by.
    pub kind: Kind,
    /// What it says.
    pub label: String,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fate {
    /// It arrived in this step.
    Arrived(u32),
    /// It was lost in this step.
    Lost(u32),
    /// A newer vote took its place in this step.
    Replaced(u32),
    /// It is still on its way.
    UnderWay,
}

/// All messages so far.
#[derive(Debug, Default)]
pub(super) struct Flights {
    all: Vec<Flight>,
    /// By connection and sender, those that have not arrived.
    lanes: BTreeMap<(LinkId, ServerId), Queue>,
    votes: BTreeMap<(ServerId, ServerId), (Notification, usize)>,
    clients: BTreeMap<ClientId, Line>,
}

#[derive(Debug, Default)]
struct Queue {
    on_the_way: VecDeque<usize>,
    /// The step after which it was last there.
    there: u32,
}

/// A client's connection.
#[derive(Debug)]
struct Line {
    conn: ConnId,
    up: VecDeque<usize>,
    down: VecDeque<usize>,
}

impl Flights {
    /// All of them, in the order in which they were sent.
    pub(super) fn into_all(self) -> Vec<Flight> {
        self.all
    }

    /// Looks at the world after a step.
    pub(super) fn look(&mut self, place: u32, step: &Step, world: &World) {
        self.arrive(place, step);
        self.look_at_links(place, world);
        self.look_at_votes(place, world);
        self.look_at_clients(place, world);
    }

    fn arrive(&mut self, place: u32, step: &Step) {
        let Self { all, lanes, votes, clients } = self;
        let arrived = if let Step::Deliver { link, from, .. } = step {
            lanes.get_mut(&(*link, *from)).and_then(|queue| queue.on_the_way.pop_front())
        } else if let Step::Vote { from, to } = step {
            votes.remove(&(*from, *to)).map(|(_, flight)| flight)
        } else if let Step::RepeatVote { from, to } = step {
            // One arrives, and one stays.
            votes.get_mut(&(*from, *to)).map(|(_, flight)| {
                all.push(all[*flight].clone());
                std::mem::replace(flight, all.len() - 1)
            })
        } else if let Step::Ask { client } = step {
            clients.get_mut(client).and_then(|line| line.up.pop_front())
        } else if let Step::Answer { client } = step {
            clients.get_mut(client).and_then(|line| line.down.pop_front())
        } else {
            None
        };
        if let Some(flight) = arrived {
            self.all[flight].fate = Fate::Arrived(place);
        }
    }

    fn look_at_links(&mut self, place: u32, world: &World) {
        for (id, link) in world.links() {
            for (side, lane) in link.lanes.iter().enumerate() {
                let (from, to) = (link.ends[side], link.ends[1 - side]);
                let queue = self.lanes.entry((id, from)).or_default();
                queue.there = place;
                if lane.messages.len() < queue.on_the_way.len() {
                    lose(&mut self.all, queue.on_the_way.drain(..), place);
                }
                for message in lane.messages.range(queue.on_the_way.len()..) {
                    let (kind, zxid) = (message.kind(), message.zxid());
                    let label =
                        if zxid.0 < 0 { kind.to_string() } else { format!("{kind} {zxid}") };
                    queue.on_the_way.push_back(self.all.len());
                    self.all.push(Flight {
                        from: Who::Server(from),
                        to: Who::Server(to),
                        sent: place,
                        fate: Fate::UnderWay,
                        kind: Kind::of_message(kind, zxid),
                        label,
                    });
                }
            }
        }
        let all = &mut self.all;
        self.lanes.retain(|_, queue| {
            let there = queue.there == place;
            if !there {
                lose(all, queue.on_the_way.drain(..), place);
            }
            there
        });
    }

    fn look_at_votes(&mut self, place: u32, world: &World) {
        let servers = world.servers();
        for (nth, one) in servers.iter().enumerate() {
            for other in &servers[nth + 1..] {
                let pair = world.pair(*one, *other);
                for (from, to) in [(*one, *other), (*other, *one)] {
                    let vote = pair.votes[pair.way(from)].as_ref();
                    self.look_at_vote(place, from, to, vote.map(|vote| vote.notification));
                }
            }
        }
    }

    fn look_at_vote(
        &mut self,
        place: u32,
        from: ServerId,
        to: ServerId,
        vote: Option<Notification>,
    ) {
        let known = self.votes.get(&(from, to)).copied();
        if vote == known.map(|(vote, _)| vote) {
            return;
        }
        if let Some((_, flight)) = known {
            let newer = vote.is_some();
            self.all[flight].fate = if newer { Fate::Replaced(place) } else { Fate::Lost(place) };
        }
        let Some(vote) = vote else {
            self.votes.remove(&(from, to));
            return;
        };
        self.votes.insert((from, to), (vote, self.all.len()));
        let ballot = vote.ballot;
        self.all.push(Flight {
            from: Who::Server(from),
            to: Who::Server(to),
            sent: place,
            fate: Fate::UnderWay,
            kind: Kind::Vote,
            label: format!("vote for {} at {}", ballot.leader, ballot.zxid),
        });
    }

    fn look_at_clients(&mut self, place: u32, world: &World) {
        for (client, this) in world.clients() {
            let conn = this.conn.as_ref();
            let known = self.clients.get_mut(&client);
            if let Some(line) = known
                && conn.is_none_or(|conn| conn.id != line.conn)
            {
                lose(&mut self.all, line.up.drain(..).chain(line.down.drain(..)), place);
                self.clients.remove(&client);
            }
            let Some(conn) = conn else { continue };
            let new = || Line { conn: conn.id, up: VecDeque::new(), down: VecDeque::new() };
            let line = self.clients.entry(client).or_insert_with(new);
            let (me, server) = (Who::Client(client), Who::Server(conn.server));
            let all = &mut self.all;
            let up = conn.up.iter().map(up_in_words);
            follow(all, &mut line.up, up, (me, server), place);
            let down = conn.down.iter().map(down_in_words);
            follow(all, &mut line.down, down, (server, me), place);
        }
    }
}

fn follow(
    all: &mut Vec<Flight>,
    known: &mut VecDeque<usize>,
    there: impl ExactSizeIterator<Item = String>,
    (from, to): (Who, Who),
    place: u32,
) {
    if there.len() < known.len() {
        lose(all, known.drain(..), place);
    }
    let new = there.skip(known.len());
    for label in new.collect::<Vec<_>>() {
        known.push_back(all.len());
        let fate = Fate::UnderWay;
        all.push(Flight { from, to, sent: place, fate, kind: Kind::Client, label });
    }
}

fn lose(all: &mut [Flight], lost: impl IntoIterator<Item = usize>, place: u32) {
    for flight in lost {
        all[flight].fate = Fate::Lost(place);
    }
}

fn up_in_words(up: &Up) -> String {
    match up {
        Up::Connect(_) => "connect".into(),
        Up::Request(_, request) => first_word(&format!("{request:?}")),
    }
}

fn down_in_words(down: &Down) -> String {
    match down {
        Down::Connected(response) if response.timeout_ms <= 0 => "session expired".into(),
        Down::Connected(_) => "connected".into(),
        Down::End => "end".into(),
        Down::Event(_) => "event".into(),
        Down::Reply(reply) => match reply.err {
            None => "reply".into(),
            Some(code) => format!("reply {code:?}"),
        },
    }
}
