//! `zoolab bench`: that it measures what it says, cleans up, and complains in one line.

use serde_json::Value;

use crate::program::{Server, complaint, run};

/// Runs a benchmark and returns what it prints as JSON.
fn figures(arguments: &[&str]) -> Value {
    let output = run(&[&["bench"], arguments, &["--json"]].concat());
    let (out, err) = (String::from_utf8(output.stdout), String::from_utf8(output.stderr));
    assert_eq!(output.status.code(), Some(0), "{}", err.unwrap());
    serde_json::from_str(&out.unwrap()).unwrap()
}

#[test]
fn a_load_asks_what_it_was_told_and_leaves_nothing_behind() {
    let server = Server::start(&[]);
    let mix = "get=1,set=1,exists=1,children=1,create=1,multi=1";
    let arguments = ["wire", "--connect", &server.address, "--mix", mix, "--ops", "3000"];
    let quick = ["--connections", "3", "--depth", "20", "--keys", "50", "--warmup", "0.01"];
    let report = figures(&[&arguments[..], &quick].concat());
    let ops = report["ops"].as_u64().unwrap();
    assert!(ops >= 3000, "{report}");
    assert_eq!(report["errors"].as_object().unwrap().len(), 0, "{report}");
    let rows = report["latencies"].as_array().unwrap();
    let names: Vec<_> = rows.iter().map(|row| row["op"].as_str().unwrap()).collect();
    assert_eq!(names, ["get", "set", "exists", "children", "create", "multi", "all"]);
    for row in rows {
        let time = |name: &str| row[name].as_u64().unwrap();
        assert!(time("p50_ns") <= time("p99_ns") && time("p99_ns") <= time("max_ns"), "{row}");
        assert!(time("ops") > 0, "{row}");
    }
    // The root, counted twice as ZooKeeper does, and ZooKeeper's own three.
    assert!(server.word("srvr").contains("Node count: 5\n"), "{}", server.word("srvr"));
}

#[test]
fn the_core_is_measured_at_each_depth() {
    let arguments = ["core", "--sizes", "1000", "--seconds", "0.01", "--watchers", "10"];
    let report = figures(&arguments);
    assert!(report.to_string().contains("getData"), "{report}");
}

#[test]
fn the_simulator_is_measured_at_each_size_and_only_as_far_as_asked() {
    let few = ["sim", "--servers", "3,5", "--steps", "2000", "--worlds", "0"];
    let report = figures(&[&few[..], &["--seeds", "2", "--idle", "0"]].concat());
    for (servers, row) in [3, 5].into_iter().zip(report["steady"].as_array().unwrap()) {
        assert_eq!((&row["servers"], &row["steps"]), (&servers.into(), &2000.into()), "{row}");
        let speed = |name: &str| row[name].as_f64().unwrap();
        assert!(speed("steps_per_second") > speed("messages_per_second"), "{row}");
        assert!(speed("messages_per_second") > speed("commits_per_second"), "{row}");
    }
    assert!(report["short"]["seeds_per_second"].as_f64().unwrap() > 0.0, "{report}");
    assert!(report["idle"].is_null() && report["state_bytes"].is_null(), "{report}");
}

#[test]
fn a_server_and_its_world_take_some_memory() {
    let none = ["sim", "--steps", "1", "--seeds", "0", "--idle", "0", "--worlds", "40"];
    let report = figures(&none);
    let bytes = report["state_bytes"].as_u64().unwrap();
    assert!((1000..1_000_000).contains(&bytes), "{report}");
}

#[test]
fn what_cannot_be_measured_says_why_in_one_line() {
    let nobody = complaint(&["bench", "wire", "--connect", "127.0.0.1:1", "--seconds", "1"]);
    assert!(nobody.starts_with("127.0.0.1:1: "), "{nobody}");
    let where_to = complaint(&["bench", "wire", "--connect", "nowhere"]);
    assert!(where_to.contains("expected HOST:PORT"), "{where_to}");
    let mix = complaint(&["bench", "wire", "--connect", "127.0.0.1:1", "--mix", "got=1"]);
    assert!(mix.contains("no such operation: \"got\""), "{mix}");
}
