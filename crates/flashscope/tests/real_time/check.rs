//! Virtual and real agree: a stick served as a block device gives the findings of the same stick asked directly, through
//! FUSE, the loop device, io_uring and the kernel.

use serde_json::Value;

use crate::support::served::Served;
use crate::support::{document, finding, flashscope, stderr, stdout};
use crate::turn;

/// Sticks whose boundaries show in reads: fitted from logs, from reviews, and made up.
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

/// What is found different.
fn different(direct: &[(String, Value)], served: &[(String, Value)]) -> Vec<String> {
    assert_eq!(direct.len(), served.len());
    let pairs = direct.iter().zip(served);
    pairs
        .filter(|((id, direct), (_, served))| !agree(id, direct, served))
        .map(|pair| format!("{pair:?}"))
        .collect()
}

/// The write unit is where a share of the best speed is reached. The kernel and FUSE add their time to every request, which
/// may move it to the size beside. The time of a merge is a mean. Everything else is the stick's own.
fn agree(id: &str, direct: &Value, served: &Value) -> bool {
    let within = |factor: f64| match (direct.as_f64(), served.as_f64()) {
        (Some(direct), Some(served)) => served <= direct * factor && direct <= served * factor,
        _ => direct == served,
    };
    match id {
        "write_unit_bytes" => within(2.0),
        "merge_seconds" => within(1.15),
        // The smallest steps in reads may be lost in what a busy machine adds; another page is never found.
        "page_bytes" => served.is_null() || direct == served,
        _ => direct == served,
    }
}

/// The differences in the last of three rounds; none as soon as one round has none. In real time, a busy machine can hold up
/// any request.
fn differences(direct: &[(String, Value)], measure: &[&str]) -> Vec<String> {
    let mut rounds = (0..3).map(|_| different(direct, &values(measure)));
    let mut last = rounds.next().unwrap();
    while let Some(next) = (!last.is_empty()).then(|| rounds.next()).flatten() {
        last = next;
    }
    last
}

#[test]
fn five_served_sticks_show_the_erase_block_that_they_show_directly() {
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
fn a_served_stick_is_found_out_in_full_as_it_is_directly() {
    let _turn = turn();
    let stick = "generic-2g";
    let direct = values(&["check", &format!("sim:{stick}")]);
    assert!(direct.iter().filter(|(_, value)| !value.is_null()).count() >= 5, "{direct:?}");
    let Some(served) = Served::start(&[stick, "--loop"]) else { return };
    let differences = differences(&direct, &["check", "--erase", "--yes", served.block_device()]);
    assert_eq!(differences, Vec::<String>::new());
}

#[test]
fn on_the_block_device_check_finds_what_it_finds_on_the_virtual_stick() {
    let _turn = turn();
    // A fourth as fast as it is: what differs between reads is four times as long, and a busy machine's noise is not.
    let stick = ["patriot-xt-16g", "--loop", "--speed", "0.25"];
    let Some(served) = Served::start(&stick) else { return };
    let erase_block = |document| finding(&document, "erase_block_bytes")["value"].clone();
    let modelled = erase_block(document(&["measure", "align", "sim:patriot-xt-16g"]));
    assert_eq!(modelled, 8 << 20);
    // On a machine that is busy all the same the honest answer is unknown; it must not be another one.
    let mut checks = (0..3).map(|_| erase_block(document(&["check", served.block_device()])));
    assert_eq!(checks.find(|found| !found.is_null()), Some(modelled));
}
