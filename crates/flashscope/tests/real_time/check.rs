//! A served stick, through FUSE, the loop device, io_uring and the kernel, has the findings of the virtual
//! stick.

use serde_json::Value;

use crate::support::served::Served;
use crate::support::{document, finding, flashscope, stderr, stdout};
use crate::turn;

/// Sticks whose erase block shows in reads: fitted to logs, fitted to reviews, and invented.
const STICKS: [&str; 5] =
    ["patriot-xt-16g", "generic-2g", "transcend-8g", "readme-card", "linuxplanet-noname-2g"];

/// The value of each finding by its id; null if unknown.
fn values(arguments: &[&str]) -> Vec<(String, Value)> {
    let output = flashscope(&[arguments, &["--json", "-q"]].concat());
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let findings = document["findings"].as_array().unwrap().iter();
    findings.map(|finding| (finding["id"].as_str().unwrap().to_owned(), finding["value"].clone())).collect()
}

/// The findings that differ.
fn different(direct: &[(String, Value)], served: &[(String, Value)]) -> Vec<String> {
    assert_eq!(direct.len(), served.len());
    let pairs = direct.iter().zip(served);
    pairs
        .filter(|((id, direct), (_, served))| !agree(id, direct, served))
        .map(|pair| format!("{pair:?}"))
        .collect()
}

/// The kernel and FUSE add time to every request. This may move the write unit to the next size, and
/// changes the mean merge time. All other findings must be equal.
fn agree(id: &str, direct: &Value, served: &Value) -> bool {
    let within = |factor: f64| match (direct.as_f64(), served.as_f64()) {
        (Some(direct), Some(served)) => served <= direct * factor && direct <= served * factor,
        _ => direct == served,
    };
    match id {
        "write_unit_bytes" => within(2.0),
        "merge_seconds" => within(1.15),
        // On a busy machine the small steps of the page may be lost in noise, but a wrong page is an error.
        "page_bytes" => served.is_null() || direct == served,
        _ => direct == served,
    }
}

/// The differences of the last of three rounds; none if one round has none. A busy machine can delay any
/// request.
fn differences(direct: &[(String, Value)], measure: &[&str]) -> Vec<String> {
    let mut rounds = (0..3).map(|_| different(direct, &values(measure)));
    let mut last = rounds.next().unwrap();
    while let Some(next) = (!last.is_empty()).then(|| rounds.next()).flatten() {
        last = next;
    }
    last
}

#[test]
fn served_sticks_have_the_erase_block_of_virtual_sticks() {
    let _turn = turn();
    for stick in STICKS {
        let direct = values(&["measure", "align", &format!("sim:{stick}")]);
        assert!(direct[0].1.is_number(), "{stick}: {direct:?}");
        let Some(served) = Served::start(&[stick, "--loop"]) else { return };
        let differences = differences(&direct, &["measure", "align", served.block_device()]);
        assert_eq!(differences, Vec::<String>::new(), "{stick}");
    }
}

#[test]
fn served_stick_has_all_findings_of_the_virtual_stick() {
    let _turn = turn();
    let stick = "generic-2g";
    let direct = values(&["check", &format!("sim:{stick}")]);
    assert!(direct.iter().filter(|(_, value)| !value.is_null()).count() >= 5, "{direct:?}");
    let Some(served) = Served::start(&[stick, "--loop"]) else { return };
    let differences = differences(&direct, &["check", "--erase", &served.yes(), served.block_device()]);
    assert_eq!(differences, Vec::<String>::new());
}

#[test]
fn check_of_a_block_device_finds_the_erase_block_of_the_virtual_stick() {
    let _turn = turn();
    // At a quarter of its speed, differences between reads are four times longer, but the machine's noise
    // is not.
    let stick = ["patriot-xt-16g", "--loop", "--speed", "0.25"];
    let Some(served) = Served::start(&stick) else { return };
    let erase_block = |document| finding(&document, "erase_block_bytes")["value"].clone();
    let modelled = erase_block(document(&["measure", "align", "sim:patriot-xt-16g"]));
    assert_eq!(modelled, 8 << 20);
    // On a busy machine, unknown is acceptable; a wrong value is not.
    let mut checks = (0..3).map(|_| erase_block(document(&["check", served.block_device()])));
    assert_eq!(checks.find(|found| !found.is_null()), Some(modelled));
}
