//! Searches that have a name.

use super::root::Begin;
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
    /// How many servers vote.
    pub servers: u8,
    /// How many may come to vote.
    pub spares: u8,
    /// How far everybody is at the beginning.
    pub begin: Begin,
    /// What may happen.
    pub bounds: Bounds,
}

/// Nothing but an election that is one step, and servers that are alike.
const COARSE: Bounds = Bounds {
    alike: true,
    same_values: true,
    same_clients: true,
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

/// One that begins where all servers have just started.
const fn fresh(name: &'static str, about: &'static str, servers: u8, bounds: Bounds) -> Preset {
    Preset { name, about, servers, spares: 0, begin: Begin::Fresh, bounds }
}

impl Preset {
    /// All of them. Those of our own come first, the quick ones before the others; then a ladder
    /// on which each step has more than the one before; then those that are as large as searches
    /// that others have published, as far as what they count can be compared.
    pub const ALL: [Self; 16] = [
        fresh(
            "small",
            "one write, one crash",
            3,
            Bounds { writes: 1, crashes: 1, epochs: 2, ..COARSE },
        ),
        fresh(
            "power",
            "one write, one power loss",
            3,
            Bounds { writes: 1, power_losses: 1, epochs: 2, ..COARSE },
        ),
        fresh(
            "quick-disks",
            "one write, one crash, one break; disks are done at once",
            3,
            Bounds { writes: 1, crashes: 1, breaks: 1, epochs: 2, quick_disks: true, ..COARSE },
        ),
        fresh(
            "two-writes",
            "two writes, one crash, one break",
            3,
            Bounds { writes: 2, crashes: 1, breaks: 1, ..COARSE },
        ),
        Self {
            begin: Begin::Led,
            ..fresh(
                "full",
                "one write, one crash, from a led ensemble; elections step by step",
                3,
                Bounds { writes: 1, crashes: 1, epochs: 2, ..FULL },
            )
        },
        Self {
            spares: 1,
            begin: Begin::Led,
            ..fresh(
                "reconfig",
                "a fourth server gets a vote, or one write; one crash, from a led ensemble; disks \
                 are done at once",
                3,
                Bounds { writes: 1, crashes: 1, epochs: 2, quick_disks: true, ..COARSE },
            )
        },
        fresh(
            "ladder-1",
            "one write, one crash; disks are done at once",
            3,
            Bounds { writes: 1, crashes: 1, epochs: 2, quick_disks: true, ..COARSE },
        ),
        fresh(
            "ladder-2",
            "two writes, two crashes, one break",
            3,
            Bounds { writes: 2, crashes: 2, breaks: 1, ..COARSE },
        ),
        fresh(
            "ladder-3",
            "two writes, two crashes, two power losses, one break",
            3,
            Bounds { writes: 2, crashes: 2, power_losses: 2, breaks: 1, ..COARSE },
        ),
        fresh(
            "ladder-4",
            "two writes, one crash, one break; disks are done at once, elections step by step",
            3,
            Bounds { writes: 2, crashes: 1, breaks: 1, quick_disks: true, ..FULL },
        ),
        fresh(
            "ladder-5",
            "four writes, three crashes, three power losses, three breaks",
            3,
            Bounds { writes: 4, crashes: 3, power_losses: 3, breaks: 3, epochs: 4, ..COARSE },
        ),
        fresh(
            "ladder-6",
            "two writes, two crashes, one power loss, one break",
            5,
            Bounds { writes: 2, crashes: 2, power_losses: 1, breaks: 1, ..COARSE },
        ),
        fresh(
            "mixed",
            "two writes, four crashes, four breaks, as for the mixed specification of ZooKeeper \
             3.4.10",
            3,
            Bounds { writes: 2, crashes: 4, breaks: 4, epochs: 4, ..COARSE },
        ),
        fresh(
            "remix",
            "two writes, two crashes, two breaks, as when Remix measured how efficient it is",
            3,
            Bounds { writes: 2, crashes: 2, breaks: 2, ..COARSE },
        ),
        fresh(
            "remix-hunt",
            "four writes, three crashes, three breaks, as when Remix looked for bugs",
            3,
            Bounds { writes: 4, crashes: 3, breaks: 3, epochs: 4, ..COARSE },
        ),
        Self {
            begin: Begin::Proposed,
            ..fresh(
                "mspec-2",
                "one write is everywhere and one on its way, two crashes, two breaks, as Remix's \
                 mSpec-2 is published",
                3,
                Bounds { writes: 2, crashes: 2, breaks: 2, ..COARSE },
            )
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
        setting.spares = (1..=self.spares).map(|spare| self.servers + spare).collect();
        setting.reconfig = self.spares > 0;
        setting.clients = u16::from(self.bounds.calls > 0);
        setting.snapshot_every = 0;
        setting.disks = Grain::Records;
        setting.search = Some(self.bounds);
        setting
    }
}
