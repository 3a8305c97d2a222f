//! `flashscope bench cache`: which figure is the device's.

use crate::served::Served;
use crate::{document, flashscope, image, stderr};

#[test]
fn memory_page_cache_and_device_are_told_apart_on_a_served_stick() {
    let Some(stick) = Served::start_in_real_time(&["generic-2g", "--loop"]) else { return };
    let target = stick.block_device().to_owned();
    let told = document(&["bench", "cache", &target, "--seconds", "1", "--rounds", "1", "--switch-cache"]);
    let layer = |index: usize, key: &str| told["layers"][index][key].clone();
    assert!(layer(0, "bytes_per_s").as_f64().unwrap() > 200e6 && layer(0, "cached").is_string(), "{told}");
    assert!(layer(1, "cached").is_null() && layer(2, "cached").is_null(), "{told}");
    assert!((8e6..21e6).contains(&told["device_bytes_per_s"].as_f64().unwrap()), "{told}");
    assert!(told["write_cache"].as_str().unwrap().contains("not switchable here"), "{told}");
    stick.stop();
}

#[test]
fn a_virtual_stick_has_no_page_cache_and_what_is_not_there_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let image = image(&folder, 4);
    for (target, words) in [
        ("sim:generic-2g", "sim serve generic-2g --loop"),
        ("nowhere", "no such file"),
        ("/", "is a directory"),
    ] {
        let output = flashscope(&["bench", "cache", target]);
        assert_eq!(output.status.code(), Some(2), "{target}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{target}: {}", stderr(&output));
    }
    let told = document(&["bench", "cache", &image, "--seconds", "1", "--rounds", "1"]);
    assert_eq!(told["layers"][0]["layer"], "memory");
}
