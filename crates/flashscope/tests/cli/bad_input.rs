//! Wrong options, missing files, damaged logs: a clear error, the right exit code, no panic.

use std::fs;

use super::{flashscope, flashscope_reading, image, published, stderr, stdout};

/// Runs flashscope and checks its exit code and the words of its error.
pub fn assert_refused(arguments: &[&str], code: i32, says: &[&str]) {
    let output = flashscope(arguments);
    let error = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {error}");
    for word in says {
        assert!(error.contains(word), "{arguments:?} does not say '{word}': {error}");
    }
    assert!(!error.contains("panicked"), "{error}");
}

#[test]
fn wrong_arguments_exit_with_2() {
    assert_refused(&["check"], 2, &["<TARGET>"]);
    assert_refused(&["chekc", "sim:generic-2g"], 2, &["check"]);
    assert_refused(&["check", "sim:generic-2g", "-o", "page.txt"], 2, &[".html"]);
    assert_refused(&["measure", "open-units", "sim:generic-2g", "--erase-block", "eight"], 2, &["8MiB"]);
    assert_refused(&["measure", "align", "sim:generic-2g", "--random"], 2, &["--random"]);
    for idle in ["--erase-block", "--block-size", "--open-units"] {
        let size = if idle == "--open-units" { "4" } else { "1MiB" };
        for experiment in ["sustained", "write-buffer"] {
            let says = format!("{idle} has no effect on {experiment}");
            assert_refused(&["measure", experiment, "sim:generic-2g", idle, size], 2, &[&says]);
        }
    }
    let odd = ["measure", "align", "sim:generic-2g", "--block-size", "3KiB"];
    assert_refused(&odd, 2, &["3 KiB", "2 KiB", "4 KiB"]);
    for idle in ["--erase-block", "--block-size"] {
        assert_refused(&["measure", "block-ends", "sim:generic-2g", idle, "1MiB"], 2, &[idle, "block-ends"]);
    }
    assert_refused(&["measure", "block-ends", "sim:generic-2g", "--open-units", "4"], 2, &["--open-units"]);
    let as_flashbench = ["measure", "write-buffer", "sim:generic-2g", "--format", "flashbench"];
    assert_refused(&as_flashbench, 2, &["no such table"]);
}

/// An unset variable in a script gives an empty target.
#[test]
fn empty_target_is_refused() {
    let commands: [&[&str]; 7] = [
        &["check"],
        &["measure", "align"],
        &["bench"],
        &["bench", "read"],
        &["bench", "methods"],
        &["bench", "files"],
        &["sim", "serve"],
    ];
    for command in commands {
        assert_refused(&[command, &[""]].concat(), 2, &["a value is required"]);
    }
}

#[test]
fn impossible_sizes_exit_with_2() {
    let open_units = |more: &[&str], says: &[&str]| {
        assert_refused(&[&["measure", "open-units", "sim:generic-2g"], more].concat(), 2, says);
    };
    for size in ["0", "512B", "8KiB", "18KiB", "2GiB"] {
        open_units(&["--erase-block", size], &["4 KiB", "16 KiB", "1 GiB"]);
    }
    open_units(&["--erase-block", "64KiB", "--block-size", "64KiB"], &["64 KiB", "4 KiB"]);
    open_units(&["--erase-block", "8MiB", "--block-size", "4MiB"], &["8 MiB", "512 KiB"]);
    open_units(&["--erase-block", "8MiB", "--block-size", "100"], &["512 B", "1 GiB"]);
    // Without --erase-block it is measured first: 256 KiB.
    open_units(&["--block-size", "128KiB"], &["256 KiB", "16 KiB"]);
    open_units(&["--format", "flashbench", "--block-size", "8MiB"], &["8 MiB", "4 MiB"]);
    let fat_area = ["measure", "fat-area", "sim:generic-2g", "--erase-block", "1MiB", "--block-size", "1MiB"];
    assert_refused(&fat_area, 2, &["1 MiB", "64 KiB"]);
}

#[test]
fn invalid_targets_exit_with_2() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("empty.img"), b"").unwrap();
    fs::write(path("tiny.img"), [7; 100]).unwrap();
    assert_refused(&["check", &path("missing.img")], 2, &["missing.img", "flashscope list"]);
    assert_refused(&["check", &path("empty.img")], 2, &["empty", "truncate"]);
    assert_refused(&["check", &path("tiny.img")], 2, &["100 bytes"]);
    assert_refused(&["check", "/dev/null"], 2, &["character device"]);
    assert_refused(&["restore", "/dev/null"], 2, &["is a device", "--target"]);
    assert_refused(&["check", "sim:patriot"], 2, &["patriot-xt-16g"]);
    assert_refused(&["check", "sim:generic-2g?speed=9"], 2, &["speed", "seed"]);
    assert_refused(&["check", "sim:generic-2g?capacity=0"], 2, &["capacity"]);
}

#[test]
fn odd_sized_image_is_measured_without_its_last_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = image(&folder, 32);
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len((32 << 20) + 777).unwrap();
    let output = flashscope(&["check", &path]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("are ignored"), "{}", stderr(&output));
}

#[test]
fn invalid_profile_error_names_key_and_value() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stick.toml");
    let good = stdout(&flashscope(&["sim", "show", "generic-2g"]));
    let cases = [
        ("open_units_linear = 1", "open_units_linear = -1", "open_units_linear"),
        ("erase_block = \"256KiB\"", "erase_block = \"1e30\"", "erase_block"),
        ("open_units_linear = 1", "open_unitz = 1", "open_unitz"),
    ];
    for (from, to, says) in cases {
        assert!(good.contains(from), "the profile has no '{from}':\n{good}");
        fs::write(&path, good.replace(from, to)).unwrap();
        assert_refused(&["check", &format!("sim:{}", path.display())], 2, &[says]);
    }
    fs::write(&path, "not a profile").unwrap();
    assert_refused(&["sim", "show", path.to_str().unwrap()], 2, &["stick.toml"]);
}

#[test]
fn logs_of_other_programs_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.txt");
    for (text, says) in [
        (&b""[..], "empty"),
        (b"1+0 records in\n1+0 records out\n1048576 bytes copied, 1 s, 1.0 MB/s\n", "dd"),
        (b"\x7fELF\x00\x00\x01\x02\x03\x00\x00", "no table"),
    ] {
        fs::write(&path, text).unwrap();
        assert_refused(&["import", path.to_str().unwrap()], 2, &[says]);
    }
    assert_refused(&["import", "/nowhere.txt"], 2, &["/nowhere.txt"]);
}

#[test]
fn damaged_log_lines_are_named_and_skipped() {
    let log = fs::read_to_string(published("patriot-xporter-xt-boost-16gb.txt")).unwrap();
    let garbled = log.replacen("align 8388608 pre", "align 83886#8 pre", 1).replacen("3.12M/s", "3.1", 1);
    let output = flashscope_reading(&["import", "-"], garbled.as_bytes());
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("line "), "{}", stderr(&output));
    assert!(stdout(&output).contains("8 MiB"));
}

#[test]
fn escape_sequences_in_a_log_are_removed() {
    let log = fs::read_to_string(published("readme-example-arnd.txt")).unwrap();
    let hostile = format!("# device: evil\u{1b}]0;owned\u{7}\u{1b}[31m card\n{log}");
    let output = flashscope_reading(&["import", "-", "--color", "never", "-v"], hostile.as_bytes());
    assert!(!stdout(&output).contains('\u{1b}'));
    assert!(!stderr(&output).contains('\u{1b}'));
}
