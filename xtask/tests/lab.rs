//! `flashscope list` on the device tree that a real kernel makes of real USB descriptors, in the lab.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Says why a test did not run. With `FLASHSCOPE_REQUIRE_ALL=1` that is a failure.
fn skip(reason: &str) {
    assert!(std::env::var("FLASHSCOPE_REQUIRE_ALL").as_deref() != Ok("1"), "not to be skipped: {reason}");
    #[expect(clippy::print_stderr, reason = "a test that did not run says so")]
    {
        eprintln!("skipped: {reason}");
    }
}

/// The program that the workspace's tests build anyway, beside this task.
fn program() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_xtask")).with_file_name("flashscope")
}

fn lab(arguments: &[&str]) -> Output {
    let lab =
        Command::new(env!("CARGO_BIN_EXE_xtask")).arg("lab").args(arguments).stdin(Stdio::null()).output();
    lab.unwrap()
}

/// The disks that `flashscope list` sees in a machine with these sticks, or `None`, said aloud, where there is no lab.
fn disks(sticks: &[&str]) -> Option<Vec<Value>> {
    if !program().is_file() {
        skip("flashscope is not built; cargo test --workspace builds it");
        return None;
    }
    let command =
        ["--program", program().to_str().unwrap(), "--", "flashscope", "list", "--json"].map(str::to_owned);
    let arguments: Vec<&str> = sticks.iter().copied().chain(command.iter().map(String::as_str)).collect();
    let output = lab(&arguments);
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    if talk.contains("the lab needs") {
        skip(&talk);
        return None;
    }
    assert!(output.status.success(), "{talk}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    Some(document["disks"].as_array().unwrap().clone())
}

fn link_of(disk: &Value) -> f64 {
    disk["usb"]["link_mbit_per_s"].as_f64().unwrap()
}

#[test]
fn sticks_are_seen_at_each_link_as_the_kernel_sees_them() {
    let Some(mut disks) = disks(&["--link", "5000", "--link", "480", "--link", "12"]) else { return };
    disks.sort_by(|one, other| link_of(other).total_cmp(&link_of(one)));
    let seen: Vec<(f64, Option<f64>, &str, u64)> = disks
        .iter()
        .map(|disk| {
            let usb = &disk["usb"];
            let most = disk["requests"]["max_bytes"].as_u64().unwrap();
            (link_of(disk), usb["could_mbit_per_s"].as_f64(), usb["could_status"].as_str().unwrap(), most)
        })
        .collect();
    // The emulated stick names USB 3.00 at 5000 and 2.00 below; usb-storage cuts requests at 120 KiB, on SuperSpeed at 1 MiB.
    let expected = [
        (5000.0, Some(5000.0), "known", 1 << 20),
        (480.0, Some(480.0), "known", 120 << 10),
        (12.0, Some(12.0), "at least", 120 << 10),
    ];
    assert_eq!(seen, expected);
    for disk in &disks {
        assert_eq!((disk["type"].as_str(), disk["capacity_bytes"].as_u64()), (Some("stick"), Some(64 << 20)));
        assert_eq!(
            (disk["usb"]["driver"].as_str(), disk["requests"]["depth"].as_u64()),
            (Some("usb-storage"), Some(1))
        );
        assert!(disk["serial"].as_str().unwrap().starts_with("LAB"), "{disk}");
    }
}

#[test]
fn a_stick_with_uas_takes_several_commands() {
    let Some(disks) = disks(&["--uas"]) else { return };
    let [disk] = &disks[..] else { panic!("{disks:?}") };
    assert_eq!(
        (disk["usb"]["driver"].as_str(), disk["usb"]["offers_uas"].as_bool()),
        (Some("uas"), Some(true))
    );
    assert!(disk["requests"]["depth"].as_u64() > Some(1), "{disk}");
}

#[test]
fn what_the_lab_cannot_do_is_refused_before_it_starts() {
    for (arguments, says) in [
        (&["--link", "11", "--", "true"][..], "5000, 480 or 12"),
        (&["--disk", "/nowhere.img", "--", "true"], "/nowhere.img"),
        (&["--disk", "/dev/null", "--", "true"], "never a disk of this host"),
        (&["--uas", "--link", "12", "--", "true"], "480 Mbit/s or more"),
        (&[], "<COMMAND>"),
    ] {
        let output = lab(arguments);
        let talk = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && talk.contains(says), "{arguments:?}: {talk}");
    }
}
