//! Searches that have a name.

use crate::setting::Setting;
use crate::world::Bounds;
use crate::world::disk::Grain;

/// A bounded ensemble, and what is to be learnt from all of its states.
#[derive(Clone, Debug)]
pub struct Preset {
    /// As it is called.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// How many servers.
    pub servers: u8,
    /// Whether it begins where everybody follows a leader, rather than where nobody does.
    pub led: bool,
    /// What may happen.
    pub bounds: Bounds,
}

/// Nothing but an election that is one step, and servers that are alike.
const COARSE: Bounds = Bounds {
    alike: true,
    same_values: true,
    as_is: false,
    coarse: true,
    quick_disks: false,
    crashes: 0,
    power_losses: 0,
    breaks: 0,
    timeouts: 0,
    writes: 0,
    calls: 0,
    epochs: 3,
    rounds: 0,
};

/// Nothing, and elections step by step.
const FULL: Bounds = Bounds { alike: false, coarse: false, rounds: 2, ..COARSE };

impl Preset {
    /// All of them, the quick ones first.
    pub const ALL: [Self; 8] = [
        Self {
            name: "small",
            about: "one write, one crash",
            servers: 3,
            led: false,
            bounds: Bounds { writes: 1, crashes: 1, epochs: 2, ..COARSE },
        },
        Self {
            name: "power",
            about: "one write, one power loss",
            servers: 3,
            led: false,
            bounds: Bounds { writes: 1, power_losses: 1, epochs: 2, ..COARSE },
        },
        Self {
            name: "quick-disks",
            about: "one write, one crash, one break; disks are done at once (ladder, 1)",
            servers: 3,
            led: false,
            bounds: Bounds {
                writes: 1,
                crashes: 1,
                breaks: 1,
                epochs: 2,
                quick_disks: true,
                ..COARSE
            },
        },
        Self {
            name: "two-writes",
            about: "two writes, one crash, one break",
            servers: 3,
            led: false,
            bounds: Bounds { writes: 2, crashes: 1, breaks: 1, ..COARSE },
        },
        Self {
            name: "full",
            about: "one write, one crash, from a led ensemble; elections step by step",
            servers: 3,
            led: true,
            bounds: Bounds { writes: 1, crashes: 1, epochs: 2, ..FULL },
        },
        Self {
            name: "ladder-2",
            about: "two writes, two crashes, one break",
            servers: 3,
            led: false,
            bounds: Bounds { writes: 2, crashes: 2, breaks: 1, ..COARSE },
        },
        Self {
            name: "ladder-3",
            about: "two writes, two crashes, two power losses, one break",
            servers: 3,
            led: false,
            bounds: Bounds { writes: 2, crashes: 2, power_losses: 2, breaks: 1, ..COARSE },
        },
        Self {
            name: "remix",
            about: "two writes, two crashes, two breaks, as the mixed-grained specifications",
            servers: 3,
            led: false,
            bounds: Bounds { writes: 2, crashes: 2, breaks: 2, ..COARSE },
        },
    ];

    /// The one with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|preset| preset.name == name)
    }

    /// How its world is set up.
    #[must_use]
    pub fn setting(&self) -> Setting {
        let mut setting = Setting::plain(self.servers);
        setting.clients = u16::from(self.bounds.calls > 0);
        setting.snapshot_every = 0;
        setting.disks = Grain::Records;
        setting.search = Some(self.bounds);
        setting
    }
}
