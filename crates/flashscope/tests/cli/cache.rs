//! `flashscope bench cache`.

use crate::{document, flashscope, image, stderr};

#[test]
fn bench_cache_refuses_virtual_sticks_and_marks_holes_as_cached() {
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
    let document = document(&["bench", "cache", &image, "--seconds", "1", "--rounds", "1"]);
    assert_eq!(document["layers"][0]["layer"], "memory");
    // A sparse file without data: its speed is not a device's.
    assert_eq!(document["device_bytes_per_s"], serde_json::Value::Null, "{document}");
    assert!(document["layers"][1]["cached"].as_str().unwrap().contains("holes of the file"), "{document}");
    assert!(document["remarks"][0].as_str().unwrap().contains("this is an image file"), "{document}");
}
