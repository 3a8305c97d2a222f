//! `flashscope bench cache`: which figure is the device's.

use crate::{document, flashscope, image, stderr};

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
    // A file of nothing but holes: whatever it answers, it is no speed of a device.
    assert_eq!(told["device_bytes_per_s"], serde_json::Value::Null, "{told}");
    assert!(told["layers"][1]["cached"].as_str().unwrap().contains("holes of the file"), "{told}");
    assert!(told["remarks"][0].as_str().unwrap().contains("this is an image file"), "{told}");
}
