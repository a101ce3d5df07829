//! A search that is set up in a file, and the file that sets one up.

use std::path::Path;

use serde::{Deserialize, Serialize};
use zoolab_core::ServerId;
use zoolab_sim::setting::Setting;
use zoolab_sim::states::{BUDGET_MOST, NoRoot, Preset, Root};
use zoolab_sim::world::Bounds;
use zoolab_sim::world::disk::Grain;

use super::args::{Begin, Faults};
use crate::plan;

/// An ensemble, where it begins, and what should be reached.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Scenario {
    /// Where it begins.
    pub(super) begin: Begin,
    /// Places that a finished search must have reached.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) reach: Vec<String>,
    /// Who is there, and in `search` what may happen.
    pub(super) setting: Setting,
}

/// Whatever a file leaves out is like this: nothing goes wrong, and nobody writes.
///
/// What a setting does not write because it is as ever must be the same here; else a printed
/// set-up would read back as another. Of that there is one exception, the disks.
impl Default for Scenario {
    fn default() -> Self {
        let bounds = Bounds { coarse: true, epochs: 2, rounds: 2, ..Bounds::default() };
        let mut setting = Setting::plain(3);
        setting.clients = 0;
        setting.snapshot_every = 0;
        setting.disks = Grain::Records;
        setting.search = Some(bounds);
        Self { begin: Begin::Fresh, reach: Vec::new(), setting }
    }
}

impl From<Preset> for Scenario {
    fn from(preset: Preset) -> Self {
        Self { begin: preset.begin.into(), reach: Vec::new(), setting: preset.setting() }
    }
}

impl Scenario {
    /// Reads one.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let (text, Self { .. }) = plan::parse(path)?;
        let wrong = |error: toml::de::Error| format!("{}: {}", path.display(), error.message());
        let mut whole = Self::default().table()?;
        lay(&mut whole, text.parse().map_err(wrong)?);
        let scenario: Self = whole.try_into().map_err(wrong)?;
        scenario.checked().map_err(|what| format!("{}: {what}", path.display()))
    }

    /// As a file that reads back the same.
    pub(super) fn print(&self) -> Result<String, String> {
        let mut table = self.table()?;
        if self.setting.disks == Grain::Bytes
            && let Some(toml::Value::Table(setting)) = table.get_mut("setting")
        {
            setting.insert("disks".into(), "bytes".into());
        }
        toml::to_string(&table).map_err(|error| error.to_string())
    }

    fn table(&self) -> Result<toml::Table, String> {
        toml::Table::try_from(self).map_err(|error| error.to_string())
    }

    /// Itself, if it can be searched.
    pub(super) fn checked(self) -> Result<Self, String> {
        self.setting.ensemble().map_err(|error| error.to_string())?;
        self.setting.settings().map_err(|error| error.to_string())?;
        let Setting { voters, observers, clients, .. } = &self.setting;
        let calls = self.bounds().calls;
        if *clients > 0 && calls == 0 {
            return Err(format!("clients: {clients} with no calls to make, see --calls"));
        }
        if *clients > BUDGET_MOST.into() {
            return Err(format!("clients: {clients} where up to {BUDGET_MOST} are allowed"));
        }
        let voters = voters.iter().flatten().map(|(id, _)| *id);
        let ids: Vec<u8> = voters.chain(observers.iter().copied()).collect();
        if let Some(id) = ids.iter().find(|id| **id > SERVER_MAX) {
            return Err(format!("server {}: expected a number up to {SERVER_MAX}", ServerId(*id)));
        }
        if ids.len() > SERVERS_MAX {
            return Err(format!(
                "{} servers are too many, expected up to {SERVERS_MAX}",
                ids.len()
            ));
        }
        if let Some(bounds) = &self.setting.search {
            check(bounds)?;
        }
        Ok(self)
    }

    /// What may happen.
    pub(super) fn bounds(&self) -> Bounds {
        self.setting.search.unwrap_or_default()
    }

    /// Where it begins if this may happen.
    pub(super) fn root(&self, bounds: Bounds) -> Result<Root, NoRoot> {
        let setting = Setting { search: Some(bounds), ..self.setting.clone() };
        Root::begin(self.begin.into(), setting)
    }
}

/// How many servers can be searched.
pub(super) const SERVERS_MAX: usize = 5;

/// Connections are named by two digits for each end.
const SERVER_MAX: u8 = 99;

/// Lays what a file says over what it leaves out.
fn lay(under: &mut toml::Table, over: toml::Table) {
    for (key, value) in over {
        match (under.get_mut(&key), value) {
            (Some(toml::Value::Table(under)), toml::Value::Table(over)) => lay(under, over),
            (_, value) => _ = under.insert(key, value),
        }
    }
}

fn check(bounds: &Bounds) -> Result<(), String> {
    for (name, value) in [
        ("crashes", bounds.crashes),
        ("power-losses", bounds.power_losses),
        ("breaks", bounds.breaks),
        ("timeouts", bounds.timeouts),
        ("writes", bounds.writes),
        ("calls", bounds.calls),
    ] {
        if value > BUDGET_MOST {
            return Err(format!("search.{name}: {value} where 0 to {BUDGET_MOST} are allowed"));
        }
    }
    if bounds.alike && !bounds.coarse {
        return Err("search.alike: servers are only alike where elections are coarse".into());
    }
    if bounds.alike && (!bounds.same_values || bounds.calls > 0) {
        return Err("search.alike: servers are only alike with same-values and no calls".into());
    }
    Ok(())
}

/// What may happen, changed by what was said beside it.
pub(super) fn changed(bounds: Bounds, faults: &Faults) -> Result<Bounds, String> {
    let coarse = (bounds.coarse || faults.coarse) && !faults.full;
    if faults.rounds.is_some() && coarse {
        return Err("--rounds: elections are one step here, --full lets them have rounds".into());
    }
    if faults.epochs.is_some() && !coarse {
        return Err("--epochs: only bounds elections that are one step, see --coarse".into());
    }
    let same_values = bounds.same_values && !faults.no_same_values;
    let calls = faults.calls.unwrap_or(bounds.calls);
    // What had no rounds needs some.
    let rounds = if coarse { bounds.rounds } else { bounds.rounds.max(ROUNDS) };
    Ok(Bounds {
        alike: bounds.alike && coarse && !faults.no_alike && same_values && calls == 0,
        same_values,
        same_clients: bounds.same_clients && !faults.no_same_clients,
        as_is: bounds.as_is || faults.as_is,
        coarse,
        quick_disks: bounds.quick_disks || faults.quick_disks,
        crashes: faults.crashes.unwrap_or(bounds.crashes),
        power_losses: faults.power_losses.unwrap_or(bounds.power_losses),
        breaks: faults.breaks.unwrap_or(bounds.breaks),
        timeouts: faults.timeouts.unwrap_or(bounds.timeouts),
        writes: faults.writes.unwrap_or(bounds.writes),
        calls,
        epochs: faults.epochs.unwrap_or(bounds.epochs),
        rounds: faults.rounds.unwrap_or(rounds),
    })
}

/// In how many rounds an election may be decided if nobody has said so.
pub(super) const ROUNDS: u8 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    fn again(scenario: &Scenario) -> Scenario {
        let mut whole = Scenario::default().table().unwrap();
        lay(&mut whole, scenario.print().unwrap().parse().unwrap());
        whole.try_into().unwrap()
    }

    #[test]
    fn what_is_printed_reads_back_the_same() {
        for preset in Preset::ALL {
            let scenario = Scenario::from(preset);
            assert_eq!(again(&scenario), scenario);
        }
        let mut odd =
            Scenario { begin: Begin::Led, reach: vec!["SNAP".into()], ..Scenario::default() };
        odd.setting.disks = Grain::Bytes;
        odd.setting.voters = vec![vec![(1, 1), (4, 3)], vec![(2, 1)]];
        odd.setting.search = Some(Bounds { rounds: 7, timeouts: 3, ..Bounds::default() });
        assert_eq!(again(&odd), odd);
    }

    #[test]
    fn all_presets_can_be_searched() {
        for preset in Preset::ALL {
            assert!(Scenario::from(preset).checked().is_ok());
        }
    }
}
