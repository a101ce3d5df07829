//! What a campaign has come to: as text, as JSON, and for those who read JUnit's XML. The same
//! campaign gives the same bytes, in one piece or in many.

use std::path::Path;

use super::group::Group;
use super::results::{Results, Why, put};
use super::shard::Shard;
use crate::summary;

/// Writes all three to a folder. What is said of a part is said of it as if it were all there is.
pub(super) fn write(dir: &Path, results: &Results) -> Result<(), String> {
    let mut results = results.clone();
    results.shard = Shard::WHOLE;
    results.flat = 0;
    put(&dir.join("report.json"), results.json().as_bytes())?;
    put(&dir.join("junit.xml"), junit(&results).as_bytes())?;
    put(&dir.join("report.txt"), text(&results).as_bytes())
}

/// For people.
pub(super) fn text(results: &Results) -> String {
    let Results { campaign, twice, figures, coverage, .. } = results;
    let done = results.done();
    let why = match results.why {
        Why::Everything => "",
        Why::Failure => ", until one failed",
        Why::Flat => ", until nothing new was reached",
        Why::Interrupted => ", then interrupted",
        Why::Time => ", until the time was over",
    };
    let mut text = format!(
        "zoolab fuzz: {}\n{done} run{why}; {twice} of them twice\n{}\n{}\n",
        campaign.text(),
        summary::happened(figures),
        coverage.text(),
    );
    let groups = in_order(results);
    if groups.is_empty() {
        text.push_str("\nheld: every promise, in every step\n");
    }
    for group in groups {
        let count = group.count;
        text.push_str(&format!("\n{} ({count})\n", group.fingerprint));
        text.push_str(&format!("{}\n", group.text(Path::new("traces"))));
    }
    text
}

/// The one that came first, first.
pub(super) fn in_order(results: &Results) -> Vec<&Group> {
    let mut groups: Vec<&Group> = results.groups.iter().collect();
    groups.sort_by_key(|group| group.first().place);
    groups
}

fn junit(results: &Results) -> String {
    let groups = in_order(results);
    let (tests, failures) = (groups.len() + 1, groups.len());
    let name = escaped(&results.campaign.text());
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites name=\"zoolab fuzz\" tests=\"{tests}\" failures=\"{failures}\">\n  \
         <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\">\n    \
         <testcase classname=\"zoolab.fuzz\" name=\"{} run\">\n      <system-out>{}\
         </system-out>\n    </testcase>\n",
        results.done(),
        escaped(&results.coverage.line()),
    );
    for group in groups {
        xml.push_str(&format!(
            "    <testcase classname=\"zoolab.fuzz\" name=\"{}\">\n      \
             <failure type=\"{}\" message=\"{}\">{}</failure>\n    </testcase>\n",
            escaped(&group.fingerprint.to_string()),
            escaped(&group.fingerprint.what),
            escaped(&group.first().what),
            escaped(&group.text(Path::new("traces"))),
        ));
    }
    xml.push_str("  </testsuite>\n</testsuites>\n");
    xml
}

/// As it may stand in XML.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(letter),
            letter if letter.is_control() => escaped.push('\u{FFFD}'),
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_breaks_the_xml() {
        assert_eq!(escaped("a<b> & \"c\"\n\u{1}"), "a&lt;b&gt; &amp; &quot;c&quot;\n\u{FFFD}");
    }
}
