//! A run told in fewer steps: an election with discovery is one, disks are done at once, and a
//! write comes from the leader's own host.
//!
//! That is the world of a search. Where the failure is the same in it, it is the one to look at.

use std::collections::BTreeMap;

use zoolab_core::zab::MessageKind;
use zoolab_core::{Note, ServerId};

use super::wish::Wish;
use crate::seen::Seen;
use crate::setting::Setting;
use crate::step::{Instant, Step};
use crate::world::Bounds;

/// One way of telling it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Telling {
    /// Whether writes come from the leader's own host, and there are no clients.
    pub(super) own_writes: bool,
    /// Whether disks are done at once.
    pub(super) quick_disks: bool,
}

impl Telling {
    /// All of them, the shortest first.
    pub(super) const ALL: [Self; 4] = [
        Self { own_writes: true, quick_disks: true },
        Self { own_writes: true, quick_disks: false },
        Self { own_writes: false, quick_disks: true },
        Self { own_writes: false, quick_disks: false },
    ];

    /// The setting in which it is told. Nothing is bounded but by what is wanted.
    pub(super) fn setting(self, setting: &Setting) -> Setting {
        const MOST: u8 = u8::MAX;
        let mut setting = setting.clone();
        if self.own_writes {
            (setting.clients, setting.apps) = (0, 0);
        }
        setting.search = Some(Bounds {
            alike: false,
            same_values: false,
            same_clients: false,
            as_is: true,
            coarse: true,
            quick_disks: self.quick_disks,
            crashes: MOST,
            power_losses: MOST,
            breaks: MOST,
            timeouts: MOST,
            writes: MOST,
            calls: MOST,
            epochs: MOST,
            rounds: 0,
        });
        setting
    }

    /// The same wishes, and beside them the steps in which several things are one.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only meetings and proposals are told")]
    pub(super) fn wishes(self, wishes: &[Wish], seen: &[Vec<Seen>]) -> Vec<Wish> {
        let start = Instant(0);
        let mut all = Vec::new();
        // Who has promised itself to whom, and who has begun an epoch with that.
        let mut promised: BTreeMap<ServerId, Vec<ServerId>> = BTreeMap::new();
        let mut begun: BTreeMap<ServerId, bool> = BTreeMap::new();
        for (place, wish) in wishes.iter().enumerate() {
            let own = Wish { at: start, ..wish.clone() };
            let mut more = Vec::new();
            for event in seen.get(place).into_iter().flatten() {
                match event {
                    Seen::Note { server, note: Note::Elected { .. } } => {
                        promised.remove(server);
                        begun.remove(server);
                    }
                    Seen::Delivered { from, to, message }
                        if message.kind == MessageKind::AckEpoch =>
                    {
                        if begun.get(to).copied().unwrap_or(false) {
                            more.push(Step::Join { leader: *to, server: *from });
                        } else {
                            promised.entry(*to).or_default().push(*from);
                        }
                    }
                    Seen::Note { server, note: Note::Discovered { .. } } => {
                        begun.insert(*server, true);
                        let mut followers = promised.remove(server).unwrap_or_default();
                        followers.sort();
                        followers.dedup();
                        more.push(Step::Elect { leader: *server, followers });
                    }
                    Seen::Note { server, note: Note::Proposed(_) } if self.own_writes => {
                        more.push(Step::Write { server: *server, value: place as u32 });
                    }
                    _ => {}
                }
            }
            // What was asked for comes before what came of it.
            all.push(own);
            all.extend(more.into_iter().map(|step| Wish::new(start, step)));
        }
        all
    }
}
