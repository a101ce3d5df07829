//! Which steps were taken after which faults, and which places were reached.

use std::collections::BTreeMap;

use comfy_table::{CellAlignment, Table, presets};
use serde::{Deserialize, Serialize};
use zoolab_sim::states;
use zoolab_sim::world::Bounds;

/// See the [module](self). Sums over all threads, and over all parts of a search that was saved.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Coverage {
    /// By kind of step, and by what had gone wrong before.
    taken: BTreeMap<String, BTreeMap<String, u64>>,
    /// By place, how often a step reached it.
    reached: BTreeMap<String, u64>,
}

impl Coverage {
    pub(super) fn add(&mut self, one: &states::Coverage) {
        for ((step, fault), count) in &one.pairs {
            let faults = self.taken.entry((*step).into()).or_default();
            *faults.entry((*fault).into()).or_default() += count;
        }
        for (place, count) in &one.reached {
            *self.reached.entry((*place).into()).or_default() += count;
        }
    }

    fn count(&self, step: &str, fault: &str) -> u64 {
        self.taken.get(step).and_then(|faults| faults.get(fault)).copied().unwrap_or(0)
    }

    /// Steps by rows, faults by columns.
    pub(super) fn table(&self, bounds: &Bounds) -> String {
        let faults = || states::Coverage::FAULTS.into_iter().filter(|fault| may_be(fault, bounds));
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        table.set_header(
            std::iter::once("taken".to_owned())
                .chain(faults().map(|fault| format!("after {fault}"))),
        );
        for step in states::Coverage::KINDS {
            if !self.taken.contains_key(step) && !may_happen(step, bounds) {
                continue;
            }
            let cells = faults().map(|fault| match self.count(step, fault) {
                0 if budget(step, bounds) == Some(1) && step == fault => String::new(),
                0 => "never".into(),
                count => count.to_string(),
            });
            table.add_row(std::iter::once(step.to_owned()).chain(cells));
        }
        for (place, column) in table.column_iter_mut().enumerate() {
            let right = if place == 0 { CellAlignment::Left } else { CellAlignment::Right };
            column.set_cell_alignment(right);
            column.set_padding((0, 2));
        }
        table.trim_fmt()
    }

    /// Places, and how often they were reached.
    pub(super) fn reached(&self) -> String {
        let word = |(place, count): (&String, &u64)| format!("{place} {count}");
        let words: Vec<String> = self.reached.iter().map(word).collect();
        if words.is_empty() { "nothing".into() } else { words.join(", ") }
    }

    /// Which of these places were not reached.
    pub(super) fn unreached(&self, places: &[String]) -> Vec<String> {
        let missed = places.iter().filter(|place| !self.reached.contains_key(*place));
        missed.cloned().collect()
    }
}

/// Looks for a place by its name.
pub(super) fn known(place: &str) -> Result<(), String> {
    if states::Coverage::places().any(|other| other == place) {
        return Ok(());
    }
    let all: Vec<String> = states::Coverage::places().map(|place| format!("{place:?}")).collect();
    Err(format!("no such place: {place:?}, expected one of {}", all.join(", ")))
}

/// How often a step may be taken, if that is bounded.
fn budget(step: &str, bounds: &Bounds) -> Option<u8> {
    match step {
        "crash" => Some(bounds.crashes),
        "power-loss" => Some(bounds.power_losses),
        "break" => Some(bounds.breaks),
        "write" => Some(bounds.writes),
        "call" => Some(bounds.calls),
        _ => None,
    }
}

/// Whether this may have gone wrong.
fn may_be(fault: &str, bounds: &Bounds) -> bool {
    match fault {
        "timeout" => bounds.timeouts > 0,
        _ => budget(fault, bounds) != Some(0),
    }
}

/// Whether a step of this kind may be taken at all.
fn may_happen(step: &str, bounds: &Bounds) -> bool {
    match step {
        "elect" | "join" => bounds.coarse,
        "dialled" | "vote" => !bounds.coarse,
        "disk" | "reload" => !bounds.quick_disks,
        "answer" | "ask" | "dial" => bounds.calls > 0,
        "restart" => bounds.crashes > 0 || bounds.power_losses > 0,
        "free" | "other" => false,
        _ => budget(step, bounds) != Some(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_never_taken_is_shown_as_such_and_what_cannot_be_is_not() {
        let mut coverage = Coverage::default();
        let mut one = states::Coverage::default();
        one.pairs.insert(("deliver", "nothing"), 7);
        one.pairs.insert(("deliver", "crash"), 30);
        one.pairs.insert(("crash", "nothing"), 2);
        one.reached.insert("SNAP", 1);
        coverage.add(&one);
        coverage.add(&one);
        let bounds = Bounds { coarse: true, quick_disks: true, crashes: 1, ..Bounds::default() };
        let table = coverage.table(&bounds);
        let table = table.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
        assert_eq!(
            table,
            "taken    after nothing  after crash\n\
             deliver             14           60\n\
             closed           never        never\n\
             timeout          never        never\n\
             restart          never        never\n\
             crash                4\n\
             elect            never        never\n\
             join             never        never"
        );
        assert_eq!(coverage.reached(), "SNAP 2");
        assert_eq!(coverage.unreached(&["SNAP".into(), "DIFF".into()]), ["DIFF"]);
        assert!(known("SNAP").is_ok() && known("commit").is_ok());
        let unknown = known("snap").unwrap_err();
        assert!(
            unknown.starts_with("no such place: \"snap\", expected one of \"acks taken back\", ")
        );
    }
}
