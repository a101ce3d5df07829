//! Power is lost, in one place or in many at once.

use zoolab_core::ServerId;

use super::act::Act;
use super::{Outcome, World};
use crate::luck::Luck;
use crate::step::Keep;

impl World {
    pub(super) fn power_loss(
        &mut self,
        servers: &[ServerId],
        luck: u64,
        keep: Keep,
        outcome: &mut Outcome,
    ) {
        if let [server] = servers {
            return self.act(*server, Act::PowerLoss(luck, keep), outcome);
        }
        let mut luck = Luck::new(luck);
        for server in servers {
            self.act(*server, Act::PowerLoss(luck.next(), keep), outcome);
        }
    }
}
