//! Findings and output of the commands.

use super::{document, finding, flashscope, flashscope_reading, published, stderr, stdout};

#[test]
fn check_finds_the_true_values_of_the_virtual_patriot() {
    let document = document(&["check", "sim:patriot-xt-16g?seed=7"]);
    assert_eq!(document["format"], 1);
    assert_eq!(document["target"], "sim:patriot-xt-16g?seed=7");
    for (id, value) in [
        ("erase_block_bytes", 8 << 20),
        ("page_bytes", 32 << 10),
        ("open_units_linear", 8),
        ("open_units_random", 8),
        ("fat_area_bytes", 0),
    ] {
        let finding = finding(&document, id);
        assert_eq!((&finding["status"], &finding["value"]), (&"found".into(), &value.into()), "{finding}");
        assert!(finding["confidence"].as_f64().unwrap() > 0.9, "{finding}");
        assert!(
            finding["low"].as_u64() <= Some(value) && finding["high"].as_u64() >= Some(value),
            "{finding}"
        );
    }
    assert_eq!(finding(&document, "ftl_class")["text"], "log-structured above 16 KiB");
    assert!(document["cost"]["writes"].as_u64() > Some(0));
    assert!(!document["advice"].as_array().unwrap().is_empty());
}

#[test]
fn check_output_fits_one_hundred_columns_without_colour() {
    let output = flashscope(&["check", "sim:generic-2g", "--details", "--color", "never"]);
    let text = stdout(&output);
    assert!(text.contains("sequential-only"), "{text}");
    assert!(!text.contains('\u{1b}'));
    assert!(text.lines().all(|line| line.chars().count() <= 100));
    assert!(stderr(&output).contains("at most"), "the amount to be written is announced");
}

#[test]
fn same_seed_gives_the_same_document() {
    let check = || {
        let mut document = document(&["check", "sim:generic-2g?seed=3", "--seed", "5"]);
        document.as_object_mut().unwrap().remove("measured_at");
        document
    };
    assert_eq!(check(), check());
}

#[test]
fn import_agrees_with_the_published_verdict() {
    let log = published("patriot-xporter-xt-boost-16gb.txt");
    let document = document(&["import", log.to_str().unwrap()]);
    let value = |id| finding(&document, id)["value"].clone();
    assert_eq!(value("erase_block_bytes"), 8 << 20);
    assert_eq!(value("page_bytes"), 32 << 10);
    assert_eq!(value("open_units_linear"), 8);
    assert_eq!(value("open_units_random"), 8);
    assert_eq!(value("fat_area_bytes"), 0);
    assert_eq!(finding(&document, "ftl_class")["text"], "log-structured above 16 KiB");
}

#[test]
fn import_reports_unknown_for_an_unclear_log() {
    let log = published("intel-600p-nvme-control.txt");
    let document = document(&["import", log.to_str().unwrap()]);
    for finding in document["findings"].as_array().unwrap() {
        assert_eq!(finding["status"], "unknown", "{finding}");
        assert!(!finding["reason"].as_str().unwrap().is_empty());
    }
}

#[test]
fn import_reads_standard_input() {
    let log = std::fs::read(published("readme-example-arnd.txt")).unwrap();
    let output = flashscope_reading(&["import", "-", "--color", "never"], &log);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("4 MiB"));
}

#[test]
fn flashbench_table_is_readable_by_import() {
    let arguments = [
        "measure",
        "open-units",
        "sim:patriot-xt-16g",
        "--erase-block",
        "8MiB",
        "--open-units",
        "9",
        "--format",
        "flashbench",
    ];
    let output = flashscope(&arguments);
    let table = stdout(&output);
    let sizes: Vec<&str> = table.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let expected = ["8MiB", "4MiB", "2MiB", "1MiB", "512KiB", "256KiB", "128KiB", "64KiB", "32KiB", "16KiB"];
    assert_eq!(sizes, expected, "{table}");
    // 9 units of 8 MiB, once for each of 10 sizes.
    assert!(stderr(&output).contains("720 MiB will be written"), "{}", stderr(&output));
    let again = flashscope_reading(&["import", "-"], &output.stdout);
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
}

#[test]
fn given_erase_block_is_not_measured() {
    let arguments = ["measure", "open-units", "sim:transcend-8g", "--erase-block", "4MiB"];
    let document = document(&arguments);
    assert_eq!(finding(&document, "open_units_linear")["value"], 5);
    assert_eq!(document["cost"]["reads"], 0);
}

#[test]
fn each_experiment_runs_alone() {
    for (experiment, id) in [
        ("align", "erase_block_bytes"),
        ("open-units", "open_units_linear"),
        ("write-size", "page_bytes"),
        ("fat-area", "fat_area_bytes"),
        ("block-ends", "erase_block_bytes"),
    ] {
        let document = document(&["measure", experiment, "sim:transcend-8g", "-q"]);
        assert_eq!(finding(&document, id)["status"], "found", "{experiment}");
        assert!(document["findings"].as_array().unwrap().len() <= 4, "{experiment}");
    }
}

#[test]
fn check_stays_within_the_write_budget() {
    let document = document(&["check", "sim:transcend-8g", "--write-budget", "20MiB"]);
    assert!(document["cost"]["bytes_written"].as_u64() <= Some(20 << 20));
}

#[test]
fn every_listed_profile_can_be_shown() {
    let listed = document(&["sim", "list"]);
    for profile in listed["profiles"].as_array().unwrap() {
        let shown = stdout(&flashscope(&["sim", "show", profile["name"].as_str().unwrap()]));
        assert!(shown.contains("[[source]]"), "{shown}");
    }
}

/// A virtual stick has no port, and its noise does not come from this machine.
#[test]
fn advice_for_a_virtual_stick_names_no_hardware() {
    for stick in ["sim:olpc-high-perf", "sim:wirenboard-22"] {
        let run = document(&["check", stick]).to_string();
        assert!(run.contains("(seed=N)"), "{run}");
        assert!(!run.contains("machine") && !run.contains("port or reader"), "{run}");
    }
}
