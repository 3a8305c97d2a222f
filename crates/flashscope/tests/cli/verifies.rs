//! `verify` on counterfeit, genuine and refused targets.

use serde_json::Value;

use super::bad_input::assert_refused;
use super::{document, flashscope, image, schema, stderr, stdout};

#[test]
fn a_fake_is_named_in_the_first_line() {
    let output = flashscope(&["verify", "sim:counterfeit-64g-wrap"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let text = stdout(&output);
    let first = "FAKE: says 62.9 GB, stores 8.05 GB (wraps around). Data beyond 8.05 GB is lost.\n";
    assert!(text.starts_with(first), "{text}");
    assert!(text.contains("8,053,063,680 of 62,914,560,000 bytes"), "{text}");
    let output = flashscope(&["verify", "sim:counterfeit-128g-limbo", "--json"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let found: Value = serde_json::from_str(&stdout(&output)).unwrap();
    schema::assert_valid("verify", &found);
    assert_eq!(found["verdict"]["kind"], "dropped");
    assert!(found["headline"].as_str().unwrap().contains("drops writes"));
}

#[test]
fn a_genuine_stick_is_not_called_fake() {
    let found = document(&["verify", "sim:generic-2g", "--seed", "7"]);
    assert_eq!((&found["verdict"]["kind"], &found["verdict"]["seed"]), (&"no_sign".into(), &7.into()));
    assert_eq!(found["verdict"]["true_size"], found["verdict"]["announced"]);
    let text = stdout(&flashscope(&["verify", "sim:generic-2g", "--cache-bound", "16MiB"]));
    assert!(text.starts_with("OK: no sign of a false capacity."), "{text}");
    assert!(text.contains("larger than 16") && text.contains("on demand"), "{text}");
}

#[test]
fn an_image_file_is_written_only_with_permission() {
    let folder = tempfile::tempdir().unwrap();
    let image = image(&folder, 32);
    assert_refused(&["verify", &image], 4, &["--erase"]);
    assert!(std::fs::read(&image).unwrap().iter().all(|byte| *byte == 0));
    let found = document(&["verify", &image, "--erase", "--yes"]);
    assert_eq!(found["verdict"]["kind"], "no_sign");
}

#[test]
fn bad_arguments_are_refused() {
    assert_refused(&["verify"], 2, &["TARGET"]);
    assert_refused(&["verify", "sim:generic-2g", "--cache-bound", "100KiB"], 2, &["whole MiB"]);
    assert_refused(&["verify", "sim:generic-2g", "--cache-bound", "1TiB"], 2, &["64 GiB"]);
    assert_refused(&["verify", "sim:generic-2g", "--restart"], 2, &["--full"]);
    assert_refused(&["verify", "sim:no-such-stick"], 2, &["no-such-stick"]);
}

#[test]
fn a_device_that_vanishes_gives_no_verdict() {
    assert_refused(&["verify", "sim:generic-2g?fault=unplug:after=200"], 3, &["vanished"]);
}
