//! Every command's `--json` document against its schema, and run files against theirs. [`document`] checks
//! the schema of a document; so do all other tests that use it.

use std::path::Path;

use serde_json::Value;

use super::bad_input::assert_refused;
use super::{document, flashscope, image, published, schema, stderr};

/// Runs each command of a group and checks its document.
fn check_all(commands: &[&[&str]]) {
    for command in commands {
        document(command);
    }
}

#[test]
fn findings_documents_match_their_schema() {
    let folder = tempfile::tempdir().unwrap();
    let image = image(&folder, 32);
    let log = published("readme-example-arnd.txt");
    let short = ["--write-budget", "64MiB", "--time-budget", "30"];
    let speeds = ["--size", "64KiB", "--write-budget", "64MiB"];
    check_all(&[
        &["check", "sim:generic-2g"],
        &["check", "sim:generic-2g", "--sustained", short[0], short[1], short[2], short[3]],
        &["check", &image, "--time-budget", "1"],
        &["check", &image, "--erase", "--yes", short[0], short[1]],
        &["import", log.to_str().unwrap()],
        &["bench", "sim:generic-2g", speeds[0], speeds[1], speeds[2], speeds[3]],
        &["bench", "read", "sim:generic-2g", speeds[0], speeds[1]],
        &["bench", "write", "sim:generic-2g", speeds[0], speeds[1], speeds[2], speeds[3]],
        &["bench", "sustained", "sim:generic-2g", short[0], short[1]],
        &["bench", "sustained", "sim:generic-2g", "--samples", "14x1MiB"],
    ]);
}

#[test]
fn documents_of_all_experiments_match_their_schema() {
    let experiments =
        ["align", "open-units", "write-size", "block-ends", "fat-area", "sustained", "write-buffer"];
    for experiment in experiments {
        document(&["measure", experiment, "sim:generic-2g", "--write-budget", "256MiB"]);
    }
    document(&["measure", "align", "sim:generic-2g", "--format", "flashbench"]);
}

#[test]
fn documents_of_stored_runs_match_their_schema() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (checked, stream) = (path("check.flashscope.json"), path("stream.flashscope.json"));
    document(&["check", "sim:transcend-8g", "-o", &checked]);
    document(&["bench", "sustained", "sim:generic-2g", "--write-budget", "256MiB", "-o", &stream]);
    check_all(&[
        &["report", &checked],
        &["report", &stream],
        &["report", "compare", &stream, &stream],
        &["sim", "fit", &checked],
    ]);
}

/// Runs a command with `-o` and returns its run file, which it checks against the schema.
fn run_file(command: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.flashscope.json");
    let output = flashscope(&[command, &["-o", path.to_str().unwrap()]].concat());
    assert_eq!(output.status.code(), Some(0), "{command:?}: {}", stderr(&output));
    let run: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    schema::assert_valid("run-file", &run);
    run
}

#[test]
fn run_files_of_every_command_match_their_schema() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().to_str().unwrap();
    let (log, image) = (published("patriot-xporter-xt-boost-16gb.txt"), image(&folder, 32));
    let commands: [&[&str]; 7] = [
        &["check", "sim:transcend-8g"],
        &["check", "sim:generic-2g", "--sustained", "--write-budget", "256MiB"],
        &["check", &image, "--time-budget", "1"],
        &["bench", "sim:generic-2g", "--size", "64KiB", "--write-budget", "64MiB"],
        &["bench", "files", directory, "--count", "40", "--rounds", "1"],
        &["bench", "methods", directory, "--size", "1MiB", "--rounds", "1"],
        &["import", log.to_str().unwrap()],
    ];
    let stored: Vec<Value> = commands.iter().map(|command| run_file(command)).collect();
    assert!(stored.iter().all(|run| run["format"] == 2));
    let experiments = ["align", "open-units", "write-size", "block-ends", "fat-area", "discard"];
    for experiment in experiments {
        run_file(&["measure", experiment, "sim:generic-2g", "--write-budget", "256MiB"]);
    }
}

#[test]
fn a_damaged_run_file_does_not_match_its_schema() {
    let run = run_file(&["measure", "align", "sim:generic-2g"]);
    for (part, value) in [("/observations", Value::Null), ("/observations/0/data/read", "4 KiB".into())] {
        let mut damaged = run.clone();
        *damaged.pointer_mut(part).unwrap() = value;
        assert!(!schema::is_valid("run-file", &damaged), "{part}");
    }
}

#[test]
fn documents_about_this_machine_match_their_schema() {
    for machine in ["desktop", "card-readers", "raspberry-pi", "hostile", "no-stick"] {
        let copy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/sysfs").join(machine);
        document(&["list", "--all", "--sysfs", copy.to_str().unwrap()]);
    }
    document(&["list", "--all"]);
}

#[test]
fn documents_about_virtual_sticks_match_their_schema() {
    let log = published("readme-example-arnd.txt");
    check_all(&[
        &["sim", "list"],
        &["sim", "show", "patriot-xt-16g"],
        &["sim", "fit", log.to_str().unwrap()],
    ]);
}

#[test]
fn documents_of_files_methods_and_caches_match_their_schema() {
    let folder = tempfile::tempdir().unwrap();
    let image = image(&folder, 4);
    let directory = folder.path().to_str().unwrap();
    check_all(&[
        &["bench", "files", directory, "--count", "40", "--rounds", "1"],
        &["bench", "methods", directory, "--size", "1MiB", "--rounds", "1"],
        &["bench", "cache", &image, "--seconds", "1", "--rounds", "1"],
    ]);
}

#[test]
fn every_schema_is_in_the_docs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
    for name in schema::names() {
        let stored = std::fs::read_to_string(folder.join(format!("{name}.json"))).unwrap();
        let stored: Value = serde_json::from_str(&stored).unwrap();
        assert_eq!(stored["title"], format!("flashscope {name}"));
    }
    assert_refused(&["schema", "no-such-document"], 2, &["no-such-document", "prints the names"]);
}
