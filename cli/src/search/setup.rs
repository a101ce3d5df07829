//! What is searched: where it begins, and what may happen from there.

use std::fmt;

use serde::{Deserialize, Serialize};
use zoolab_sim::states::{Preset, Root};
use zoolab_sim::swarm::Plan;
use zoolab_sim::world::Bounds;

use super::args::{Begin, Faults, Place};
use super::moment::Moment;
use super::scenario::{Scenario, changed};

/// See the [module](self).
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Setup {
    /// An ensemble of its own.
    Scenario(Box<Scenario>),
    /// The midst of a run.
    Moment(Box<Moment>),
}

impl Setup {
    /// What was asked for.
    pub(super) fn of(place: &Place, faults: &Faults) -> Result<Self, String> {
        if let Some(from) = &place.from {
            let mut moment = Moment::read(from, &place.bugs, faults)?;
            moment.plan.setting.promises.extend(&place.promises);
            return Ok(Self::Moment(Box::new(moment)));
        }
        let mut scenario = match &place.scenario {
            Some(path) => Scenario::read(path)?,
            None => named(place.preset.as_deref().unwrap_or("small"), place.servers)?,
        };
        scenario.begin = place.begin.unwrap_or(scenario.begin);
        scenario.setting.search = Some(changed(scenario.bounds(), faults)?);
        if let Some(clients) = place.clients {
            scenario.setting.clients = clients.into();
        }
        if scenario.bounds().calls > 0 {
            scenario.setting.clients = scenario.setting.clients.max(1);
        }
        scenario.setting.bugs.extend(&place.bugs);
        scenario.setting.promises.extend(&place.promises);
        Ok(Self::Scenario(Box::new(scenario.checked()?)))
    }

    /// What may happen.
    pub(super) fn bounds(&self) -> Bounds {
        match self {
            Self::Scenario(scenario) => scenario.bounds(),
            Self::Moment(moment) => moment.bounds,
        }
    }

    /// How many servers there are.
    pub(super) fn servers(&self) -> usize {
        let setting = match self {
            Self::Scenario(scenario) => &scenario.setting,
            Self::Moment(moment) => &moment.plan.setting,
        };
        let voters = setting.voters.iter().map(Vec::len).sum::<usize>();
        voters + setting.observers.len() + setting.spares.len()
    }

    /// Where it begins if this may happen.
    pub(super) fn root(&self, bounds: Bounds) -> Result<Root, String> {
        match self {
            Self::Scenario(scenario) => scenario.root(bounds).map_err(|error| error.to_string()),
            Self::Moment(moment) => {
                moment.root(bounds).map_err(|error| moment.refused(&error, &[]))
            }
        }
    }

    /// What a trace says of how it was set up, if this may happen.
    pub(super) fn plan(&self, bounds: Bounds) -> Plan {
        match self {
            Self::Scenario(scenario) => {
                let mut plan = Plan { setting: scenario.setting.clone(), ..Plan::quiet(3) };
                plan.setting.search = Some(bounds);
                plan
            }
            Self::Moment(moment) => moment.plan.clone(),
        }
    }

    /// The first word in which it differs from another, as it is here and as it is there.
    pub(super) fn difference(&self, other: &Self) -> Option<(String, String)> {
        let lines = |setup: &Self| -> Vec<String> {
            let value = serde_json::to_value(setup).unwrap_or_default();
            let mut lines = Vec::new();
            flat(&value, String::new(), &mut lines);
            lines
        };
        let (here, there) = (lines(self), lines(other));
        let both = here.iter().zip(&there).find(|(one, other)| one != other);
        let word = |line: Option<&String>| line.map_or_else(|| "nothing".into(), String::clone);
        let shorter = here.len().min(there.len());
        match both {
            Some((one, other)) => Some((one.clone(), other.clone())),
            None if here.len() == there.len() => None,
            None => Some((word(here.get(shorter)), word(there.get(shorter)))),
        }
    }
}

fn named(name: &str, servers: Option<u8>) -> Result<Scenario, String> {
    let preset = Preset::named(name).ok_or_else(|| {
        let names: Vec<&str> = Preset::ALL.iter().map(|preset| preset.name).collect();
        format!("--preset {name}: expected one of {}", names.join(", "))
    })?;
    let servers = servers.unwrap_or(preset.servers);
    Ok(Preset { servers, ..preset }.into())
}

/// Every word of a value with the way to it, in order.
fn flat(value: &serde_json::Value, way: String, lines: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(fields) => {
            for (key, value) in fields {
                let way = if way.is_empty() { key.clone() } else { format!("{way}.{key}") };
                flat(value, way, lines);
            }
        }
        serde_json::Value::Null
        | serde_json::Value::Bool(_)
        | serde_json::Value::Number(_)
        | serde_json::Value::String(_)
        | serde_json::Value::Array(_) => lines.push(format!("{way} = {value}")),
    }
}

/// One line for people.
impl fmt::Display for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let servers = self.servers();
        let servers = if servers == 1 { "1 server".into() } else { format!("{servers} servers") };
        match self {
            Self::Scenario(scenario) => {
                let so_far = match scenario.begin {
                    Begin::Fresh => "that have just started",
                    Begin::Led => "that follow a leader",
                    Begin::Proposed => "that have one write, with one on its way",
                };
                write!(f, "{servers} {so_far}")?;
            }
            Self::Moment(moment) => {
                write!(f, "{servers} as after {} steps of {}", moment.count(), moment.file)?;
            }
        }
        let bounds = self.bounds();
        let faults = [
            (bounds.writes, "write", "writes"),
            (bounds.calls, "call", "calls"),
            (bounds.crashes, "crash", "crashes"),
            (bounds.power_losses, "power loss", "power losses"),
            (bounds.breaks, "break", "breaks"),
            (bounds.timeouts, "lost patience", "times lost patience"),
        ];
        let some = faults.into_iter().filter(|(count, ..)| *count > 0);
        let words: Vec<String> = some
            .map(|(count, one, more)| format!("{count} {}", if count == 1 { one } else { more }))
            .collect();
        let words = if words.is_empty() { "nothing goes wrong".into() } else { words.join(", ") };
        let election = if bounds.coarse {
            format!("elections in one step, up to epoch {}", bounds.epochs)
        } else {
            format!("elections step by step, up to round {}", bounds.rounds)
        };
        let disks = if bounds.quick_disks { ", quick disks" } else { "" };
        let alike = if bounds.alike { ", alike" } else { "" };
        write!(f, "; {words}; {election}{disks}{alike}")?;
        let bugs = match self {
            Self::Scenario(scenario) => &scenario.setting.bugs,
            Self::Moment(moment) => &moment.plan.setting.bugs,
        };
        bugs.iter().try_for_each(|bug| write!(f, "; with {bug}"))
    }
}
