//! A seed becomes a setting: who is there, what goes wrong and how often, what clients do.
//!
//! Seeds should differ in kind, not only in detail: in each, some families of faults are off, and
//! the others differ in strength.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::rng::Stream;
use crate::setting::{LONG_MS, Setting, SettingError};

/// A family of faults.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Connections break.
    Break,
    /// Clocks jump and drift.
    Clock,
    /// Processes die.
    Crash,
    /// Connections of applications' clients break.
    ClientBreak,
    /// Nothing gets from some applications to some servers, or back.
    ClientCut,
    /// Applications die.
    ClientKill,
    /// Applications are told of other servers, and their sessions move.
    ClientMove,
    /// Applications stand still, some of them longer than their sessions live.
    ClientPause,
    /// Applications are far away, or read slowly.
    ClientSlow,
    /// Nothing gets from some servers to others.
    Cut,
    /// Disks fail to do what they were asked.
    DiskFail,
    /// Processes die between two outputs of a step.
    Doom,
    /// Disks run full.
    Full,
    /// Servers stand still.
    Pause,
    /// Power is lost, here and there or everywhere.
    Power,
    /// All servers are restarted, one after the other.
    Rolling,
    /// Bits flip.
    Rot,
    /// Disks and links are slow.
    Slow,
    /// Votes get lost, or come again.
    Votes,
    /// Disks are replaced by empty ones.
    Wipe,
}

impl Family {
    /// All of them.
    pub const ALL: [Self; 20] = [
        Self::Break,
        Self::Clock,
        Self::Crash,
        Self::ClientBreak,
        Self::ClientCut,
        Self::ClientKill,
        Self::ClientMove,
        Self::ClientPause,
        Self::ClientSlow,
        Self::Cut,
        Self::DiskFail,
        Self::Doom,
        Self::Full,
        Self::Pause,
        Self::Power,
        Self::Rolling,
        Self::Rot,
        Self::Slow,
        Self::Votes,
        Self::Wipe,
    ];

    /// Its stream of chance.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Break => "break",
            Self::Clock => "clock",
            Self::Crash => "crash",
            Self::ClientBreak => "client-break",
            Self::ClientCut => "client-cut",
            Self::ClientKill => "client-kill",
            Self::ClientMove => "client-move",
            Self::ClientPause => "client-pause",
            Self::ClientSlow => "client-slow",
            Self::Cut => "cut",
            Self::DiskFail => "disk-fail",
            Self::Doom => "doom",
            Self::Full => "full",
            Self::Pause => "pause",
            Self::Power => "power",
            Self::Rolling => "rolling",
            Self::Rot => "rot",
            Self::Slow => "slow",
            Self::Votes => "votes",
            Self::Wipe => "wipe",
        }
    }
}

/// What clients do.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// Everything they can.
    #[default]
    Mixed,
    /// They say that they are there.
    Pings,
    /// They write, and nothing else.
    Writes,
}

/// What a run is to be like.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Plan {
    /// The world.
    pub setting: Setting,
    /// Which faults happen, and how long on the average between two of them, in milliseconds.
    pub faults: Vec<(Family, u32)>,
    /// How long on the average between two wishes for other members, in milliseconds; never, if
    /// zero.
    #[serde(skip_serializing_if = "is_zero")]
    pub change_ms: u32,
    /// How many servers may lose what is on their disks. Beyond a minority only safety can hold.
    pub disks_lost: u8,
    /// How long the trouble lasts.
    pub trouble_ms: u64,
    /// How long the calm may take until everything is well.
    pub calm_ms: u64,
    /// How long a message takes, on the average.
    pub delay_us: u32,
    /// How long a disk takes, on the average.
    pub disk_us: u32,
    /// What clients do.
    pub work: Work,
    /// How long a client waits between two requests, on the average.
    pub think_us: u32,
    /// How many requests a client may have on the way.
    pub depth: u8,
}

impl Default for Plan {
    fn default() -> Self {
        Self::quiet(3)
    }
}

impl Plan {
    /// So many voters, nothing goes wrong.
    #[must_use]
    pub fn quiet(voters: u8) -> Self {
        Self {
            setting: Setting::plain(voters),
            faults: Vec::new(),
            change_ms: 0,
            disks_lost: 0,
            trouble_ms: 60_000,
            calm_ms: 600_000,
            delay_us: 500,
            disk_us: 2000,
            work: Work::Mixed,
            think_us: 200_000,
            depth: 1,
        }
    }

    /// What this seed draws.
    #[must_use]
    pub fn draw(seed: u64) -> Self {
        let mut draw = Stream::new(seed, "setting");
        let mut plan = Self::quiet(draw_voters(&mut draw));
        let voters = plan.setting.voters[0].len() as u64;
        draw_quorum(&mut draw, &mut plan.setting);
        let setting = &mut plan.setting;
        let observers = if draw.one_in(3) { draw.between(1, 2) } else { 0 };
        setting.observers = (1..=observers).map(|id| (voters + id) as u8).collect();
        (setting.clients, setting.apps) = (0, draw.between(1, 6) as u16);
        setting.nodes = draw.between(1, 20) as u16;
        setting.tick_ms = *draw.pick(&[500, 1000, 2000]).expect("three to pick from");
        setting.init_limit = draw.between(5, 10) as u32;
        setting.sync_limit = draw.between(2, 5) as u32;
        setting.session_timeout_ms = draw.between(4000, 20_000) as i32;
        if draw.one_in(4) {
            setting.counter_max = draw.between(5, 120) as u32;
        }
        setting.recent = *draw.pick(&[3, 20, 100, 500]).expect("four to pick from");
        setting.snapshot_every = if draw.one_in(3) { 0 } else { draw.between(5, 100) as u32 };
        setting.snapshot_nodes = positive(draw.between(1, 6));
        setting.snap_part_bytes = positive(draw.between(64, 1024));
        setting.preallocate = if draw.one_in(2) { 0 } else { 4096 };
        let servers = voters + observers;
        setting.skew_ms = (0..servers).map(|_| draw.below(20_000).cast_signed() - 10_000).collect();
        plan.delay_us = *draw.pick(&[200, 1000, 10_000]).expect("three to pick from");
        plan.disk_us = *draw.pick(&[100, 3000, 20_000]).expect("three to pick from");
        plan.think_us = *draw.pick(&[20_000, 100_000, 400_000]).expect("three to pick from");
        plan.depth = draw.between(1, 5) as u8;
        plan.trouble_ms = draw.between(20_000, 60_000);
        for family in Family::ALL {
            // Each has its own coin, so that a new family does not change the others.
            let mut coin = Stream::new(seed, family.name());
            if coin.one_in(2) {
                plan.faults.push((family, coin.between(1500, 20_000) as u32));
            }
        }
        let minority = (voters.saturating_sub(1) / 2) as u8;
        let harmful = [Family::Rot, Family::Wipe, Family::Power];
        let harmed = plan.faults.iter().any(|(family, _)| harmful.contains(family));
        let most = if draw.one_in(12) { voters as u8 } else { minority };
        plan.disks_lost = if harmed { most } else { 0 };
        plan.draw_changes(seed);
        plan
    }

    /// In some runs the ensemble changes. Whose disks may be lost then, nobody could say: today's
    /// minority is tomorrow's majority. So nobody's are.
    fn draw_changes(&mut self, seed: u64) {
        let mut coin = Stream::new(seed, "members");
        let (groups, first) = (self.setting.voters.len(), &self.setting.voters[0]);
        let plain = groups == 1 && first.iter().all(|(_, weight)| *weight == 1);
        if coin.one_in(6) && plain && first.len() > 1 {
            self.change(coin.between(1500, 15_000) as u32, coin.between(1, 2) as u8);
        }
    }

    /// The ensemble changes every so often, and has so many spare servers.
    pub fn change(&mut self, every_ms: u32, spares: u8) {
        let setting = &mut self.setting;
        let ids = setting.voters.iter().flatten().map(|(id, _)| id).chain(&setting.observers);
        let most = ids.max().copied().unwrap_or_default();
        setting.spares = (1..=spares).map(|id| most + id).collect();
        setting.reconfig = true;
        self.change_ms = every_ms;
        self.disks_lost = 0;
        self.faults.retain(|(family, _)| !matches!(family, Family::Rot | Family::Wipe));
    }

    /// Itself, if it can be run.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn checked(self) -> Result<Self, String> {
        self.setting.ensemble().map_err(|error| error.to_string())?;
        self.setting.settings().map_err(|error| error.to_string())?;
        let often = self.faults.iter().find(|(_, every_ms)| *every_ms == 0);
        if let Some((family, _)) = often {
            return Err(format!("faults: {:?} has no time between two of them", family.name()));
        }
        for (name, value, least, most) in [
            ("think-us", self.think_us.into(), 1, u32::MAX.into()),
            ("depth", self.depth.into(), 1, u8::MAX.into()),
            ("trouble-ms", self.trouble_ms, 0, LONG_MS),
            ("calm-ms", self.calm_ms, 0, LONG_MS),
        ] {
            if !(least..=most).contains(&value) {
                return Err(SettingError::Bounds { name, value, least, most }.to_string());
            }
        }
        Ok(self)
    }

    /// Whether everything must be well in the end. With too many disks lost, it cannot.
    #[must_use]
    pub fn must_recover(&self) -> bool {
        let voters = self.setting.voters.iter().map(Vec::len).sum::<usize>();
        let plain = self.setting.voters.len() == 1
            && self.setting.voters[0].iter().all(|(_, weight)| *weight == 1);
        self.disks_lost == 0 || plain && usize::from(self.disks_lost) <= (voters - 1) / 2
    }

    /// One line for people.
    #[must_use]
    pub fn summary(&self) -> String {
        let Setting { voters, observers, clients, apps, tick_ms, bugs, .. } = &self.setting;
        let clients = clients + apps;
        let sizes: Vec<String> = voters.iter().map(|group| group.len().to_string()).collect();
        let faults: Vec<&str> = self.faults.iter().map(|(family, _)| family.name()).collect();
        let changes = if self.change_ms > 0 { ", changing" } else { "" };
        let bugs: Vec<&str> = bugs.iter().map(|bug| bug.name()).collect();
        format!(
            "{} voters, {} observers{changes}, {clients} clients, tick {tick_ms} ms, {} s of {}{}{}",
            sizes.join("+"),
            observers.len(),
            self.trouble_ms / 1000,
            if faults.is_empty() { "peace".to_owned() } else { faults.join(" ") },
            if bugs.is_empty() { "" } else { ", with " },
            bugs.join(" "),
        )
    }
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn draw_voters(draw: &mut Stream) -> u8 {
    *draw.pick(&[1, 2, 3, 3, 3, 4, 5, 5, 6, 7]).expect("ten to pick from")
}

fn draw_quorum(draw: &mut Stream, setting: &mut Setting) {
    let voters = setting.voters[0].len();
    if voters >= 3 && draw.one_in(6) {
        for (_, weight) in &mut setting.voters[0] {
            *weight = draw.between(0, 3);
        }
        setting.voters[0][0].1 = 1;
    } else if voters >= 6 && draw.one_in(2) {
        let all = setting.voters.remove(0);
        setting.voters = all.chunks(2).map(<[_]>::to_vec).collect();
    }
}

fn positive(number: u64) -> NonZeroU32 {
    NonZeroU32::new(number as u32).unwrap_or(NonZeroU32::MIN)
}
