//! `bench` on a served stick.

use crate::support::document;
use crate::support::served::{Mounted, Served, has, run};
use crate::turn;

#[test]
fn memory_page_cache_and_device_speeds_are_separate_on_a_served_stick() {
    let _turn = turn();
    let Some(stick) = Served::start(&["generic-2g", "--loop"]) else { return };
    let target = stick.block_device().to_owned();
    let result = document(&["bench", "cache", &target, "--seconds", "1", "--rounds", "1", "--switch-cache"]);
    let layer = |index: usize, key: &str| result["layers"][index][key].clone();
    assert!(layer(0, "bytes_per_s").as_f64().unwrap() > 200e6 && layer(0, "cached").is_string(), "{result}");
    assert!(layer(1, "cached").is_null() && layer(2, "cached").is_null(), "{result}");
    assert!((8e6..21e6).contains(&result["device_bytes_per_s"].as_f64().unwrap()), "{result}");
    assert!(result["write_cache"].as_str().unwrap().contains("not switchable here"), "{result}");
    stick.stop();
}

#[test]
fn small_files_on_a_cheap_stick_are_explained_by_small_writes() {
    let _turn = turn();
    if !has("mkfs.ext4") {
        return;
    }
    let Some(stick) = Served::start(&["generic-2g", "--loop", "--speed", "15"]) else { return };
    let device = stick.block_device().to_owned();
    run("mkfs.ext4", &["-q", "-O", "^has_journal", "-E", "lazy_itable_init=0", &device]);
    let mounted = Mounted::from(&device);
    let folder = mounted.path().to_str().unwrap();
    let result = document(&["bench", "files", folder, "--count", "60", "--rounds", "1", "--flush", "each"]);
    assert_eq!(result["cause"], "small_writes", "{result}");
    assert!(result["ratio"]["median"].as_f64().unwrap() > 5.0, "{result}");
    assert!(
        result["verdict"].as_str().unwrap().contains("small writes are slow on this controller"),
        "{result}"
    );
    assert!(
        result["instead"].as_array().unwrap().is_empty() && result["small"]["wrong_files"] == 0,
        "{result}"
    );
    drop(mounted);
    stick.stop();
}

#[test]
fn page_cache_claims_ten_times_the_true_speed_of_a_cheap_stick() {
    let _turn = turn();
    let Some(stick) = Served::start(&["cheap-usb3-32g", "--loop"]) else { return };
    let target = stick.block_device().to_owned();
    let document = document(&["bench", "methods", &target, "--erase", &stick.yes(), "--size", "8MiB"]);
    let zeros = &document["ways"][0];
    assert!(zeros["times_truth"].as_f64().unwrap() > 10.0, "{document}");
    assert!(zeros["why"].to_string().contains("page cache"), "{zeros}");
    let cached = &document["bottleneck"]["illusions"][0];
    assert_eq!(cached["layer"], "page_cache", "{document}");
    assert!(cached["times"].as_f64().unwrap() > 10.0, "{cached}");
    stick.stop();
}
