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

#[test]
fn logs_with_one_name_or_none_do_not_name_different_devices() {
    let log = path("patriot-xporter-xt-boost-16gb.txt");
    let log = log.as_str();
    let text = std::fs::read_to_string(log).unwrap();
    let names_it = |line: &&str| line.starts_with("# device:") || line.contains(": ID ");
    let nameless: Vec<&str> = text.lines().filter(|line| !names_it(line)).collect();
    assert_eq!(nameless.len() + 2, text.lines().count());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("nameless.txt");
    std::fs::write(&file, nameless.join("\n")).unwrap();
    let nameless = file.to_str().unwrap();
    for logs in [&[log][..], &["--one-device", log, log], &["--one-device", log, nameless]] {
        let document = document(&[&["import"], logs].concat());
        let remarks = document["remarks"].to_string();
        assert!(!remarks.contains("different devices"), "{logs:?}: {remarks}");
        assert_eq!(document["identity"]["name"], "Patriot Xporter XT Boost 16 GB USB stick, 13fe:3100");
    }
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
    let run = std::fs::read_to_string(&run).unwrap();
    assert!(!run.contains("is_erased"), "an import erases nothing: {run}");
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
    std::fs::write(&file, &lost).unwrap();
    let file = file.to_str().unwrap();
    let with_table = folder.path().join("both.txt");
    std::fs::write(&with_table, log_of_tables("11.7M/s") + &lost).unwrap();
    let both = with_table.to_str().unwrap();
    for arguments in [&["import", file][..], &["import", "--brief", file], &["import", both]] {
        let output = flashscope(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", stderr(&output));
        let first = stdout(&output).lines().next().unwrap_or_default().to_owned();
        assert!(first.contains("LOST DATA: 58,112,000 of 60,209,152 places"), "{arguments:?}: {first}");
    }
    let sound = flashscope(&["import", &testdata("other-programs/f3.txt")]);
    assert_eq!((sound.status.code(), stdout(&sound).contains("LOST")), (Some(0), false));
}

/// A log of tables with these numbers of open erase blocks. 16 KiB writes of the first one take `slow_16k`.
fn log_of_tables(slow_16k: &str) -> String {
    let sizes = ["4MiB", "2MiB", "1MiB", "512KiB", "256KiB", "128KiB", "64KiB", "32KiB", "16KiB"];
    let speeds =
        ["15M/s", "14.7M/s", "14.6M/s", "14.6M/s", "14.7M/s", "14.4M/s", "13.9M/s", "12.9M/s", "11.7M/s"];
    let mut text = String::new();
    for open in [1, 2, 3] {
        text += &format!(
            "$ flashbench --open-au --open-au-nr={open} /dev/sdb --blocksize=16384 --erasesize=4194304\n"
        );
        for (size, speed) in sizes.iter().zip(speeds) {
            let speed = if open == 1 && *size == "16KiB" { slow_16k } else { speed };
            text += &format!("{size:<8}{speed}\n");
        }
    }
    text
}

#[test]
fn one_slow_figure_of_one_table_is_no_page() {
    let folder = tempfile::tempdir().unwrap();
    for slow in ["11.7M/s", "6.4M/s", "900K/s"] {
        let log = folder.path().join("tables.log");
        std::fs::write(&log, log_of_tables(slow)).unwrap();
        let findings = document(&["import", log.to_str().unwrap()]);
        assert_eq!(finding(&findings, "page_bytes")["status"], "unknown", "{slow}");
    }
}

/// Rows of 12 KiB and more are slow, that of 3 KiB is not: whatever explains the rest, 3 KiB is no page.
#[test]
fn a_page_whose_own_row_is_fast_is_unknown() {
    let mut text = "$ flashbench -a /dev/sdb --blocksize=1024\n".to_owned();
    for exponent in (0..10).rev() {
        for (size, is_third) in [(3_072_u64 << exponent, true), (2_048 << exponent, false)] {
            let extra = if is_third && size >= 12_288 { 98 + exponent % 4 * 9 } else { exponent % 5 };
            text += &format!(
                "align {size}\tpre 710\u{b5}s\ton {}\u{b5}s\tpost 710\u{b5}s\tdiff {extra}\u{b5}s\n",
                710 + extra
            );
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("align.log");
    std::fs::write(&log, text).unwrap();
    let findings = document(&["import", log.to_str().unwrap()]);
    assert_eq!(finding(&findings, "page_bytes")["status"], "unknown", "{findings}");
}

/// Anybody can write a log, with sizes of up to 64 bits.
#[test]
fn table_that_no_device_can_have_is_left_out_and_the_run_can_be_read_again() {
    let rows = "8MiB 9M/s\n4MiB 9M/s\n2MiB 8M/s\n";
    let table = |erase_block: u64| {
        format!("$ flashbench --open-au --open-au-nr=2 --erasesize={erase_block} /dev/x\n{rows}")
    };
    let folder = tempfile::tempdir().unwrap();
    let [log, run] =
        ["log.txt", "run.json"].map(|name| folder.path().join(name).to_str().unwrap().to_owned());
    let why = "erase_block is 1048576 TiB; erase blocks have at most 1 TiB";
    std::fs::write(&log, table(1 << 60)).unwrap();
    assert_refused(&["import", &log], 2, &["can be right", "line 2", why]);
    std::fs::write(&log, table(1 << 60) + &table(8 << 20)).unwrap();
    let imported = flashscope(&["import", &log, "-o", &run]);
    assert_eq!(imported.status.code(), Some(0), "{}", stderr(&imported));
    let read = document(&["report", &run]);
    assert!(read["remarks"].to_string().contains(&format!("left out the table at line 2: {why}")), "{read}");
}
