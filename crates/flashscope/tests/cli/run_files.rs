//! Foreign and damaged run files.

use std::collections::BTreeMap;
use std::fs;
use std::sync::LazyLock;

use flashscope_infer::infer;
use flashscope_record::run_file::RunFile;
use flashscope_report::{Report, Style, html, terminal};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::bad_input::assert_refused;
use super::{document, flashscope, published, stderr};

#[test]
fn foreign_run_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    for (text, says) in
        [("{}", "not a flashscope run file"), ("{\"format\": 99}", "newer"), ("[1,", "run file")]
    {
        fs::write(&path, text).unwrap();
        assert_refused(&["report", path.to_str().unwrap()], 2, &[says]);
    }
}

#[test]
fn impossible_numbers_in_a_run_file_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    for (key, number, says) in [
        ("open_units", json!(0), "open_units is 0"),
        ("each", json!({"secs": u64::MAX, "nanos": 0}), "times have at most"),
        ("request", json!(0), "request is 0 B"),
        ("erase_block", json!(u64::MAX), "erase_block"),
    ] {
        let mut run = MEASURED.clone();
        *run.pointer_mut(numbers(&run)[key].last().unwrap()).unwrap() = number;
        fs::write(&path, run.to_string()).unwrap();
        assert_refused(&["report", path.to_str().unwrap()], 2, &["run.json", "observations[", says]);
    }
}

#[test]
fn run_file_of_import_is_readable_by_report() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run.json");
    let run = run.to_str().unwrap();
    for log in fs::read_dir(published("")).unwrap() {
        let log = log.unwrap().path();
        let output = flashscope(&["import", log.to_str().unwrap(), "-o", run]);
        if output.status.code() == Some(0) {
            let imported = document(&["import", log.to_str().unwrap()]);
            assert_eq!(document(&["report", run])["findings"], imported["findings"], "{}", log.display());
        } else {
            assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        }
    }
}

static MEASURED: LazyLock<Value> = LazyLock::new(|| stored(&["check", "sim:generic-2g"]));
static PUBLISHED: LazyLock<Value> =
    LazyLock::new(|| stored(&["import", published("patriot-xporter-xt-boost-16gb.txt").to_str().unwrap()]));

fn stored(arguments: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let output = flashscope(&[arguments, &["-o", path.to_str().unwrap()]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// JSON pointers to all numbers, by field name.
fn numbers(run: &Value) -> BTreeMap<String, Vec<String>> {
    fn collect(value: &Value, place: &str, name: &str, found: &mut BTreeMap<String, Vec<String>>) {
        match value {
            Value::Number(_) => found.entry(name.to_owned()).or_default().push(place.to_owned()),
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    collect(item, &format!("{place}/{index}"), name, found);
                }
            }
            Value::Object(fields) => {
                for (key, field) in fields {
                    collect(field, &format!("{place}/{key}"), key, found);
                }
            }
            _ => {}
        }
    }
    let mut found = BTreeMap::new();
    collect(run, "", "", &mut found);
    found
}

/// The edges of types and limits, and what lies beside them.
const EDGES: [u64; 7] = [0, 1, u32::MAX as u64, 999_999, u64::MAX / 1_000_000_000, (1 << 60) - 1, u64::MAX];

/// Numbers at the edges, small ones, and any.
fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => prop::sample::select(EDGES.to_vec()).prop_map(|edge| json!(edge)),
        2 => (0_u64..100).prop_map(|small| json!(small)),
        1 => (0_u32..64, any::<u64>()).prop_map(|(shift, any)| json!(any >> shift)),
        1 => any::<f64>().prop_map(|any| json!(any)),
    ]
}

/// Everything that `flashscope report` does with the text of a run file.
fn report(text: &str) {
    if let Ok(run) = RunFile::parse(text) {
        let findings = infer(&run.observations);
        let report = Report::new(&run, &findings);
        assert!(!terminal(&report, 100, Style::Plain).is_empty());
        assert!(html(&report).starts_with("<!DOCTYPE html>"));
    }
}

#[test]
fn extreme_numbers_in_a_run_file_do_not_panic() {
    for run in [&*MEASURED, &*PUBLISHED] {
        // Each field gets 0, the largest size that is read, and one of the others.
        for (turn, places) in numbers(run).into_values().enumerate() {
            for edge in [EDGES[0], EDGES[5], EDGES[[1, 2, 3, 4, 6][turn % 5]]] {
                let mut run = run.clone();
                *run.pointer_mut(places.last().unwrap()).unwrap() = json!(edge);
                report(&run.to_string());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_numbers_make_a_report_panic(
        is_measured in any::<bool>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), number()), 1..5),
    ) {
        let mut run = if is_measured { MEASURED.clone() } else { PUBLISHED.clone() };
        let numbers: Vec<Vec<String>> = numbers(&run).into_values().collect();
        for (name, place, number) in changes {
            let place = place.get(name.get::<Vec<String>>(&numbers));
            *run.pointer_mut(place).unwrap() = number;
        }
        report(&run.to_string());
    }
}
