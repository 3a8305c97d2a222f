//! `apply` of a plan that was applied before, and of one that is refused.

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

/// The image is blank in the middle, where a new filesystem writes nothing.
#[test]
fn undo_names_places_that_were_written_since_only_if_there_are_any() {
    if !has("sfdisk") || !has("mkfs.vfat") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let image = image(&folder, 96);
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (plan, undo) = (path("plan.json"), [path("first.undo"), path("second.undo")]);
    let wish = ["--for", "share", "--fs", "vfat", "--erase-block", "4MiB", "--seed", "7", "-o", &plan];
    let planned = flashscope(&[&["plan", &image][..], &wish].concat());
    assert_eq!(planned.status.code(), Some(0), "{}", stderr(&planned));
    for (undo, is_written) in undo.iter().zip([false, true]) {
        let applied = flashscope(&["apply", &plan, "--yes", "-o", undo]);
        assert_eq!(applied.status.code(), Some(0), "{}", stderr(&applied));
        if is_written {
            let file = fs::File::options().write(true).open(&image).unwrap();
            file.write_all_at(&vec![7_u8; 4 << 20], 48 << 20).unwrap();
        }
        let undone = flashscope(&["undo", undo, "--yes"]);
        let (messages, text) = (stderr(&undone), stdout(&undone));
        assert_eq!(undone.status.code(), Some(0), "{messages}");
        assert_eq!(messages.contains("compared places were written since 'apply'"), is_written, "{messages}");
        assert_eq!(text.contains("compared places were written since, and stay so"), is_written, "{text}");
    }
}

/// Nothing was written, so that there is no way back.
#[test]
fn plan_that_is_refused_names_no_command_to_go_back() {
    let folder = tempfile::tempdir().unwrap();
    let image = image(&folder, 96);
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (plan, undo) = (path("plan.json"), path("stick.undo"));
    let wish = ["--for", "linux-data", "--erase-block", "4MiB", "--seed", "7", "-o", &plan];
    let planned = flashscope(&[&["plan", &image][..], &wish].concat());
    assert_eq!(planned.status.code(), Some(0), "{}", stderr(&planned));
    let (text, start) = (fs::read_to_string(&plan).unwrap(), "\"start\": 4194304");
    assert!(text.contains(start), "{text}");
    fs::write(&plan, text.replace(start, "\"start\": 0")).unwrap();
    let refused = flashscope(&["apply", &plan, "--yes", "-o", &undo]);
    let messages = stderr(&refused);
    assert_eq!(refused.status.code(), Some(2), "{messages}");
    assert!(messages.contains("does not fit") && !messages.contains("to go back"), "{messages}");
    assert!(!fs::exists(&undo).unwrap());
}
