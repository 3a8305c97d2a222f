//! `apply` of a plan that was applied before.

use std::fs;
use std::os::unix::fs::FileExt;

use serde_json::Value;

use super::served::has;
use super::{flashscope, image, stderr, stdout};

#[test]
fn plan_that_is_applied_a_second_time_names_the_undo_file_to_keep() {
    // Other filesystems store the second in which they were made.
    if !has("sfdisk") || !has("mkfs.vfat") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let image = image(&folder, 96);
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let plan = path("plan.json");
    let wish = ["--for", "share", "--fs", "vfat", "--erase-block", "4MiB", "--seed", "7", "-o", &plan];
    let planned = flashscope(&[&["plan", &image][..], &wish].concat());
    assert_eq!(planned.status.code(), Some(0), "{}", stderr(&planned));
    let applied = |undo: &str| {
        let output = flashscope(&["apply", &plan, "--yes", "-o", undo]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        (stderr(&output), stdout(&output))
    };
    let [first, second, third] = ["first.undo", "second.undo", "third.undo"].map(path);
    let (messages, text) = applied(&first);
    assert!(!messages.contains("was applied before") && text.contains("Applied to"), "{messages}{text}");
    // In the boot sector of the partition.
    let planned: Value = serde_json::from_str(&fs::read_to_string(&plan).unwrap()).unwrap();
    let start = planned["partitions"][0]["placement"]["start"].as_u64().unwrap();
    let file = fs::File::options().write(true).open(&image).unwrap();
    file.write_all_at(b"since", start + 3).unwrap();
    let (messages, text) = applied(&second);
    assert!(
        messages.contains(&format!("was applied before: {second} leads back to that only")),
        "{messages}"
    );
    assert!(text.contains("Applied to"), "{text}");
    let (messages, text) = applied(&third);
    assert!(!messages.contains("was applied before"), "{messages}");
    assert!(text.contains("Already applied to") && !fs::exists(&third).unwrap(), "{text}");
}
