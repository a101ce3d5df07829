//! Directories that real servers left behind, read by every test run.

use std::fs;
use std::path::Path;

use zoolab_tests::storage::lines;
use zoolab_tests::storage::reading::Reading;

/// `told.txt` is what the server said of its tree before it was stopped.
#[test]
fn the_directory_of_a_java_server_holds_what_it_said() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/storage/java-3.8.0");
    let reading = Reading::of(&path).unwrap_or_else(|error| panic!("{error}"));
    reading.recovered.saved.tree.assert_invariants();
    let told = fs::read_to_string(path.join("told.txt")).unwrap();
    let told: Vec<&str> = told.lines().collect();
    assert_eq!(lines::of_tree(&reading.recovered.saved.tree), told);
    assert_eq!(reading.complaints, [""; 0]);
    assert_eq!(reading.to_string(), "2 snapshots, up to 0:56, 28 nodes, 2 sessions, 47 digests");
}
