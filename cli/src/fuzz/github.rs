//! Annotations, where this is run by GitHub Actions.

use std::path::Path;

use super::report;
use super::results::Results;
use crate::say::say;

/// Says what failed so that it is shown beside the job.
pub(super) fn annotate(results: &Results, folder: &Path) {
    if std::env::var("GITHUB_ACTIONS").is_ok_and(|there| there == "true") {
        for group in report::in_order(results) {
            let title = property(&group.fingerprint.what);
            say!("::error title={title}::{}", data(&group.text(folder)));
        }
    }
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_annotation_is_one_line() {
        assert_eq!(data("50 %\nof: it"), "50 %25%0Aof: it");
        assert_eq!(property("a: b, c"), "a%3A b%2C c");
    }
}
