//! A point in time, as `java.util.Date` prints it.

use zoolab_core::Millis;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// 1970 began on a Thursday.
const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// In UTC, for that is the same everywhere.
pub(super) fn text(wall: Millis) -> String {
    let (days, ms) = (wall.0.div_euclid(DAY_MS), wall.0.rem_euclid(DAY_MS));
    let weekday = WEEKDAYS[days.rem_euclid(7) as usize];
    let (year, month, day) = civil(days);
    let month = MONTHS[month - 1];
    let seconds = ms / 1000;
    let (h, m, s) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{weekday} {month} {day:02} {h:02}:{m:02}:{s:02} UTC {year}")
}

/// Year, month from 1 and day from 1 of a day counted from 1970.
///
/// Years are taken to begin in March, so that the leap day is their last.
fn civil(days: i64) -> (i64, usize, i64) {
    const DAYS_IN_400_YEARS: i64 = 146_097;
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(DAYS_IN_400_YEARS), days.rem_euclid(DAYS_IN_400_YEARS));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month as usize, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_read_as_in_java() {
        for (seconds, expected) in [
            (0, "Thu Jan 01 00:00:00 UTC 1970"),
            (951_782_400, "Tue Feb 29 00:00:00 UTC 2000"),
            (951_868_799, "Tue Feb 29 23:59:59 UTC 2000"),
            (951_868_800, "Wed Mar 01 00:00:00 UTC 2000"),
            (1_795_000_000, "Wed Nov 18 11:06:40 UTC 2026"),
            (4_107_542_399, "Sun Feb 28 23:59:59 UTC 2100"),
            (4_107_542_400, "Mon Mar 01 00:00:00 UTC 2100"),
            (-1, "Wed Dec 31 23:59:59 UTC 1969"),
        ] {
            assert_eq!(text(Millis(seconds * 1000)), expected);
        }
    }
}
