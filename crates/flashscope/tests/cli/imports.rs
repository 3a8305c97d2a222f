//! `import` of several logs: one line each, or combined.

use std::path::Path;

use super::bad_input::assert_refused;
use super::{document, finding, flashscope, published, stderr, stdout};

fn path(name: &str) -> String {
    published(name).to_str().unwrap().to_owned()
}

#[test]
fn brief_prints_one_line_a_log() {
    let logs =
        ["patriot-xporter-xt-boost-16gb.txt", "intel-600p-nvme-control.txt", "readme-example-arnd.txt"];
    let logs = logs.map(path);
    let output = flashscope(&["import", "--brief", &logs[0], &logs[1], &logs[2]]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    for (line, (log, says)) in lines.iter().zip(logs.iter().zip([
        "erase block 8 MiB (99 %), ",
        "unknown: ",
        "erase block 4 MiB (99 %), ",
    ])) {
        assert!(line.starts_with(&format!("{log}: {says}")), "{line}");
    }
}

#[test]
fn unreadable_log_does_not_stop_the_others() {
    let log = path("readme-example-arnd.txt");
    let output = flashscope(&["import", "--brief", "/nowhere.txt", &log]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("/nowhere.txt"), "{}", stderr(&output));
    assert_eq!(stdout(&output).lines().count(), 1, "{}", stdout(&output));
}

#[test]
fn several_logs_need_brief_or_one_device() {
    let [align, units] = ["pqi-microsd-32gb-gentoo.txt", "olpc-high-perf-arnd.txt"].map(path);
    assert_refused(&["import", &align, &units], 2, &["--one-device", "--brief"]);
    assert_refused(&["import", &align, "--brief", "--json"], 2, &["--brief", "--json"]);
    let both = document(&["import", "--one-device", &align, &units]);
    assert_eq!(finding(&both, "erase_block_bytes")["value"], 4 << 20);
    let reason = finding(&both, "open_units_random")["reason"].as_str().unwrap();
    assert!(reason.contains("at least 5"), "{reason}");
    let remarks = both["remarks"].to_string();
    assert!(remarks.contains("name different devices"), "{remarks}");
    let brief = flashscope(&["import", "--one-device", "--brief", &align, &units]);
    assert_eq!(stdout(&brief).lines().count(), 1, "{}", stdout(&brief));
}

/// A file of test data that is no published log.
fn testdata(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name);
    folder.to_str().unwrap().to_owned()
}

#[test]
fn a_table_with_a_column_for_each_device_gives_the_column_that_is_asked_for() {
    let log = testdata("import/two-cards-side-by-side.txt");
    assert_refused(&["import", &log], 2, &["High perf card, Unusable card", "--column", "--brief"]);
    assert_refused(&["import", &log, "--column", "3"], 2, &["no column 3"]);
    assert_refused(
        &["import", &path("readme-example-arnd.txt"), "--column", "1"],
        2,
        &["leave --column out"],
    );
    let second = document(&["import", &log, "--column", "2"]);
    assert_eq!(second["identity"]["name"], "Unusable card");
    let brief = flashscope(&["import", "--brief", &log]);
    assert_eq!(stdout(&brief).lines().count(), 2, "{}", stdout(&brief));
    assert!(stdout(&brief).contains("column 2 (Unusable card)"), "{}", stdout(&brief));
}

#[test]
fn output_of_other_programs_becomes_speeds_with_their_source_and_no_finding() {
    for (name, program, rows) in [
        ("fio-sequential-write.json", "fio 3.33", 1),
        ("fio-random-mixed.json", "fio 3.33", 2),
        ("f3.txt", "f3 8.0", 2),
        ("kdiskmark.txt", "KDiskMark", 4),
        ("gnome-disks.txt", "GNOME Disks", 2),
    ] {
        let file = testdata(&format!("other-programs/{name}"));
        let document = document(&["import", &file]);
        let speeds = document["published_speeds"].as_array().unwrap();
        assert_eq!((speeds.len(), &speeds[0]["program"]), (rows, &program.into()), "{name}");
        assert_eq!(document["findings"], serde_json::json!([]), "{name}");
        let text = stdout(&flashscope(&["import", &file]));
        assert!(text.contains("Speeds by another program") && text.contains(program), "{text}");
        let brief = stdout(&flashscope(&["import", "--brief", &file]));
        assert!(brief.contains(&format!("{program} measured")), "{brief}");
    }
}

#[test]
fn speeds_of_another_program_are_stored_and_shown_again() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("fio.json").to_str().unwrap().to_owned();
    let log = testdata("other-programs/fio-sequential-write.json");
    let stored = flashscope(&["import", &log, "-o", &run]);
    assert_eq!(stored.status.code(), Some(0), "{}", stderr(&stored));
    let shown = stdout(&flashscope(&["report", &run]));
    assert!(shown.contains("sequential write, 1 MiB, queue depth 1, direct"), "{shown}");
}

#[test]
fn a_broken_document_of_fio_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("fio.json");
    let whole = std::fs::read_to_string(testdata("other-programs/fio-sequential-write.json")).unwrap();
    std::fs::write(&broken, &whole[..whole.len() / 2]).unwrap();
    assert_refused(&["import", broken.to_str().unwrap()], 2, &["JSON of fio is broken"]);
}

#[test]
fn data_that_f3read_found_lost_comes_first_and_gives_exit_code_1() {
    let text = std::fs::read_to_string(testdata("other-programs/f3.txt")).unwrap();
    let lost = text.replace("LOST: 0.00 Byte (0 sectors)", "LOST: 27.71 GB (58112000 sectors)");
    assert_ne!(lost, text);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lost.txt");
    std::fs::write(&file, lost).unwrap();
    let file = file.to_str().unwrap();
    for arguments in [&["import", file][..], &["import", "--brief", file]] {
        let output = flashscope(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", stderr(&output));
        let first = stdout(&output).lines().next().unwrap_or_default().to_owned();
        assert!(first.contains("LOST DATA: 58,112,000 of 60,209,152 places"), "{arguments:?}: {first}");
    }
    let sound = flashscope(&["import", &testdata("other-programs/f3.txt")]);
    assert_eq!((sound.status.code(), stdout(&sound).contains("LOST")), (Some(0), false));
}
