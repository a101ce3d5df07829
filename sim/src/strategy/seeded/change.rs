//! Who else could be in the ensemble: servers come and go, get a vote or lose it.

use zoolab_core::ServerId;

use super::{Seeded, Thought};
use crate::step::{Instant, Step};
use crate::world::World;

impl Seeded {
    /// Has the leader's host wish for something, which need not be possible.
    pub(super) fn change(&mut self, at: Instant, world: &World) {
        let Some((every_us, stream)) = &mut self.changes else { return };
        let next = *every_us / 4 + stream.around(*every_us);
        let (kind, coin) = (stream.below(8), stream.one_in(3));
        let all = world.servers();
        let one = *stream.pick(all).expect("there are servers");
        let other = *stream.pick(all).expect("there are servers");
        if self.calm {
            return;
        }
        self.later(at, next, Thought::Change);
        let leads = |id: &&ServerId| {
            world.host(**id).server.as_ref().is_some_and(zoolab_core::Server::is_leading)
        };
        let Some(leader) = all.iter().find(leads).copied() else { return };
        let Some(server) = &world.host(leader).server else { return };
        let quorum = server.members().quorum();
        let (mut join, mut observe, mut leave) = (Vec::new(), Vec::new(), Vec::new());
        match kind {
            0..=3 if !quorum.has_voter(one) => join.push(one),
            0..=3 if coin => observe.push(one),
            0..=3 => leave.push(one),
            // The leader itself has to go.
            4 if coin => observe.push(leader),
            4 => leave.push(leader),
            // Everybody shall vote.
            5 => join.extend(all.iter().filter(|id| !quorum.has_voter(**id))),
            // One for another.
            6 if one != other => {
                join.push(one);
                leave.push(other);
            }
            // Too many at once: it may be refused.
            _ => leave.extend(all.iter().filter(|id| **id != one && **id != other)),
        }
        self.next.push(Step::Change { server: leader, join, observe, leave });
    }
}
