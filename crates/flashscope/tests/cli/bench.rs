//! `flashscope bench`: speeds as a person and as a script get them, and what is refused.

use serde_json::Value;

use crate::{document, flashscope, image, stderr, stdout};

fn speeds(document: &Value) -> &Vec<Value> {
    document["speeds"].as_array().unwrap()
}

#[test]
fn every_speed_has_its_interval_and_the_spread_of_its_requests() {
    let document = document(&["bench", "write", "sim:generic-2g", "--size", "1MiB", "--order", "sequential"]);
    let [speed] = speeds(&document).as_slice() else { unreachable!("one row was asked for") };
    let figure = |key: &str| speed[key].as_f64().unwrap();
    assert!(figure("low") < figure("bytes_per_s") && figure("bytes_per_s") < figure("high"));
    assert!((5.3e6..5.8e6).contains(&figure("bytes_per_s")), "{speed}");
    let latency = |key: &str| speed["latency_s"][key].as_f64().unwrap();
    let rising = ["min", "p50", "p90", "p99", "p999", "max"].map(latency);
    assert!(rising.is_sorted() && rising[0] > 0.0, "{speed}");
    assert_eq!((&speed["direction"], &speed["order"]), (&Value::from("write"), &Value::from("linear")));
}

#[test]
fn a_target_alone_is_written_only_where_that_is_allowed() {
    let everything = document(&["bench", "sim:generic-2g", "--size", "64KiB"]);
    let directions: Vec<&Value> = speeds(&everything).iter().map(|speed| &speed["direction"]).collect();
    assert_eq!(directions, ["write", "write", "read", "read"]);
    let folder = tempfile::tempdir().unwrap();
    let image = image(&folder, 32);
    let reads = document(&["bench", &image, "--size", "64KiB", "--time-budget", "1"]);
    assert!(speeds(&reads).iter().all(|speed| speed["direction"] == "read"));
    assert_eq!(reads["cost"]["bytes_written"], 0);
}

#[test]
fn writing_needs_permission_and_sizes_must_fit() {
    let folder = tempfile::tempdir().unwrap();
    let image = image(&folder, 32);
    let refused = flashscope(&["bench", "write", &image]);
    assert_eq!(refused.status.code(), Some(4));
    assert!(stderr(&refused).contains("--erase"), "{}", stderr(&refused));
    for arguments in [&["bench"][..], &["bench", "read", &image, "--size", "1000"], &["bench", "/"]] {
        assert_eq!(flashscope(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn a_stored_run_shows_the_same_speeds_and_nothing_that_was_not_measured() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run.json");
    let run = run.to_str().unwrap();
    let shown = flashscope(&["bench", "read", "sim:patriot-xt-16g", "-o", run]);
    let again = flashscope(&["report", run]);
    assert_eq!(stdout(&shown), stdout(&again));
    assert!(stdout(&again).starts_with("This stick reads "), "{}", stdout(&again));
    assert!(!stdout(&again).contains("erase block"), "{}", stdout(&again));
}
