//! A lie told on the right server's behalf, once: a comparison nobody has seen fail is decoration.

use super::op::Op;
use super::side::{Outcome, Seen};
use crate::raw::{Body, Stat};

/// What is altered in one answer of the right server.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
pub enum Sabotage {
    /// A node's version is one more.
    StatVersion,
    /// A node's pzxid is one more.
    StatZxid,
    /// A node's mtime is a millisecond later.
    StatTime,
    /// A node belongs to another session.
    StatOwner,
    /// A reply's zxid is one less.
    ReplyZxid,
    /// A refusal is another.
    ReplyCode,
    /// One event never comes.
    DropEvent,
    /// One event comes twice.
    RepeatEvent,
    /// Two events come in the wrong order.
    SwapEvents,
    /// An event comes after the reply it should precede.
    LateEvent,
}

impl Sabotage {
    /// Alters the first thing in `outcome` it fits; false if there is none.
    pub fn spoil(self, op: &Op, outcome: &mut Outcome) -> bool {
        // The order of events at a session's end is nobody's promise.
        let closes = matches!(op, Op::Close { .. } | Op::Visit { .. });
        if self == Self::SwapEvents && closes {
            return false;
        }
        outcome.tracks.iter_mut().any(|track| self.spoil_track(&mut track.seen))
    }

    fn spoil_track(self, seen: &mut Vec<Seen>) -> bool {
        match self {
            Self::StatVersion => self.spoil_stat(seen, |stat| stat.version += 1),
            Self::StatZxid => self.spoil_stat(seen, |stat| stat.pzxid += 1),
            Self::StatTime => self.spoil_stat(seen, |stat| stat.mtime += 1),
            Self::StatOwner => self.spoil_stat(seen, |stat| stat.ephemeral_owner ^= 5),
            Self::ReplyZxid | Self::ReplyCode => {
                let found = seen.iter_mut().find_map(|seen| {
                    let Seen::Reply { ask: Some(_), reply } = seen else { return None };
                    let fits = self == Self::ReplyZxid || reply.err < 0;
                    (reply.zxid > 0 && fits).then_some(reply)
                });
                let Some(reply) = found else { return false };
                if self == Self::ReplyZxid {
                    reply.zxid -= 1;
                } else {
                    reply.err -= 1;
                }
                true
            }
            Self::DropEvent => {
                let Some(index) = seen.iter().position(is_event) else { return false };
                seen.remove(index);
                true
            }
            Self::RepeatEvent => {
                let Some(index) = seen.iter().position(is_event) else { return false };
                seen.insert(index, seen[index].clone());
                true
            }
            Self::SwapEvents => {
                let differ = |pair: &[Seen]| pair.iter().all(is_event) && pair[0] != pair[1];
                let Some(index) = seen.windows(2).position(differ) else { return false };
                seen.swap(index, index + 1);
                true
            }
            Self::LateEvent => {
                let late =
                    |pair: &[Seen]| is_event(&pair[0]) && matches!(pair[1], Seen::Reply { .. });
                let Some(index) = seen.windows(2).position(late) else { return false };
                seen.swap(index, index + 1);
                true
            }
        }
    }

    fn spoil_stat(self, seen: &mut [Seen], change: impl Fn(&mut Stat)) -> bool {
        let found = seen.iter_mut().find_map(|seen| match seen {
            Seen::Reply { reply, .. } => match &mut reply.body {
                Body::Acl(_, stat)
                | Body::Children2(_, stat)
                | Body::Created(_, stat)
                | Body::Data(_, stat)
                | Body::Stat(stat) => Some(stat),
                Body::None
                | Body::Bytes(_)
                | Body::Children(_)
                | Body::Code(_)
                | Body::Count(_)
                | Body::Ids(_)
                | Body::Multi(_)
                | Body::Path(_)
                | Body::Token(_) => None,
            },
            Seen::Closed
            | Seen::Event(_)
            | Seen::Failed(_)
            | Seen::StillOpen
            | Seen::Welcome { .. } => None,
        });
        found.map(change).is_some()
    }
}

fn is_event(seen: &Seen) -> bool {
    matches!(seen, Seen::Event(_))
}
