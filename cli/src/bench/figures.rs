//! Figures as people read them.

use comfy_table::{CellAlignment, Table, presets};

/// The middle one, or the mean of the two in the middle.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    match (sorted.len(), sorted.len() / 2) {
        (0, _) => f64::NAN,
        (len, half) if len % 2 == 0 => f64::midpoint(sorted[half - 1], sorted[half]),
        (_, half) => sorted[half],
    }
}

/// A time.
pub(crate) fn nanos(ns: f64) -> String {
    match ns {
        _ if ns < 1e3 => format!("{ns:.0} ns"),
        _ if ns < 1e6 => format!("{:.2} us", ns / 1e3),
        _ => format!("{:.2} ms", ns / 1e6),
    }
}

/// How many of such a time go into a second.
pub(crate) fn per_second(ns: f64) -> String {
    count(1e9 / ns)
}

/// A large number.
pub(crate) fn count(number: f64) -> String {
    match number {
        _ if number < 1e3 => format!("{number:.0}"),
        _ if number < 1e6 => format!("{:.1} k", number / 1e3),
        _ => format!("{:.2} M", number / 1e6),
    }
}

/// Numbers to the right, the first two columns to the left.
pub(crate) fn table(head: Vec<String>, rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(head);
    for row in rows {
        table.add_row(row);
    }
    for (place, column) in table.column_iter_mut().enumerate() {
        let alignment = if place < 2 { CellAlignment::Left } else { CellAlignment::Right };
        column.set_cell_alignment(alignment);
        column.set_padding((0, 2));
    }
    table.trim_fmt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        assert_eq!(nanos(123.4), "123 ns");
        assert_eq!(nanos(1234.0), "1.23 us");
        assert_eq!(nanos(12_340_000.0), "12.34 ms");
        assert_eq!(per_second(250.0), "4.00 M");
        assert_eq!(per_second(1e6), "1.0 k");
        assert_eq!(count(12.0), "12");
    }

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
    }
}
