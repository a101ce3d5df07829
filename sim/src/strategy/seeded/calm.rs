//! The calm after the trouble: whether all is well again, and if not, what is stuck.

use super::{LOOK_US, Mend, Seeded, Thought};
use crate::step::{ClientId, Instant};
use crate::strategy::Choice;
use crate::world::World;

impl Seeded {
    /// Whether all is well.
    pub(super) fn look(&mut self, at: Instant, world: &World) -> Option<Choice> {
        let Some(wrong) = self.wrong(world) else { return Some(Choice::Stop) };
        let over = at.0 >= (self.plan.trouble_ms + self.plan.calm_ms) * 1000;
        if over {
            // Without the disks of a quorum nothing can be expected but that nothing false is
            // said.
            let may = !self.plan.must_recover();
            return Some(if may { Choice::Stop } else { Choice::Stuck(wrong) });
        }
        // Whoever did not come up, or went down again, is helped.
        for server in world.servers().to_vec() {
            self.mend(Mend::Restart(server), world);
        }
        self.later(at, LOOK_US, Thought::Look);
        None
    }

    pub(super) fn wrong(&self, world: &World) -> Option<String> {
        let Some(leader) = world.leader() else {
            let doing: Vec<String> = world
                .servers()
                .iter()
                .map(|id| {
                    let host = world.host(*id);
                    let down = host.refused.as_deref().unwrap_or("down");
                    format!("{id} {}", host.server.as_ref().map_or(down, |server| server.doing()))
                })
                .collect();
            return Some(format!("nobody leads: {}", doing.join(", ")));
        };
        let leading = world.host(leader).server.as_ref()?;
        for id in world.servers() {
            let Some(server) = &world.host(*id).server else {
                let why = world.host(*id).refused.as_deref().unwrap_or("nobody started it");
                return Some(format!("server {id} is down: {why}"));
            };
            if server.following() != Some(leader) || !server.is_serving() {
                return Some(format!("server {id} is {} and not with {leader}", server.doing()));
            }
            if server.zxid_last() != leading.zxid_last() {
                let (has, due) = (server.zxid_last(), leading.zxid_last());
                return Some(format!("server {id} is at {has}, the leader at {due}"));
            }
        }
        if leading.outstanding() > 0 {
            return Some(format!("leader {leader} has proposals without commit"));
        }
        let done = |(id, client): &(ClientId, &crate::world::client::Client)| {
            client.done > self.done_before[usize::from(id.0)]
        };
        let simple = world.clients().find(|client| !done(client));
        let simple = simple.map(|(id, _)| format!("client {id} gets nothing done"));
        let answered = |(id, app): &(ClientId, &crate::world::apps::App)| {
            app.deeds.answered > self.answered_before[usize::from(id.0)]
        };
        simple.or_else(|| {
            let (id, app) = world.apps().find(|app| !answered(app))?;
            Some(format!("application {id} gets no answer: its client is {:?}", app.state()))
        })
    }
}
