//! Findings and output of the commands.

use super::{document, finding, flashscope, flashscope_reading, published, stderr, stdout};

#[test]
fn check_finds_the_true_values_of_the_virtual_patriot() {
    let document = document(&["check", "sim:patriot-xt-16g?seed=6"]);
    assert_eq!(document["format"], 1);
    assert_eq!(document["target"], "sim:patriot-xt-16g?seed=6");
    for (id, value) in [
        ("erase_block_bytes", 8 << 20),
        ("page_bytes", 32 << 10),
        ("open_units_linear", 8),
        ("open_units_random", 8),
        ("fat_area_bytes", 0),
    ] {
        let finding = finding(&document, id);
        assert_eq!((&finding["status"], &finding["value"]), (&"found".into(), &value.into()), "{finding}");
        assert!(finding["confidence"].as_f64().unwrap() > 0.8, "{finding}");
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
fn first_line_of_an_experiment_answers_its_question() {
    for (experiment, answers) in [
        ("write-size", &["Page 16 KiB", "write unit 32 KiB"][..]),
        ("fat-area", &["FAT area 4 MiB"]),
        ("block-ends", &["The erase block of this stick is 4 MiB"]),
    ] {
        let text = stdout(&flashscope(&["measure", experiment, "sim:transcend-8g", "-q"]));
        let first = text.split("\n\n").next().unwrap().replace('\n', " ");
        for answer in answers {
            assert!(first.to_lowercase().contains(&answer.to_lowercase()), "{experiment}: {first}");
        }
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

/// A failed write opens no block, so that small requests seem to escape merges.
#[test]
fn class_of_a_stick_whose_writes_fail_names_no_request_size_that_is_false() {
    for target in ["samsung-fit-plus?seed=1", "olpc-toshiba-4g?seed=3", "a1-card-64g?seed=2"] {
        let target = format!("sim:{target}&fault=write-errors:share=0.3");
        let output = flashscope(&["check", &target, "--json"]);
        assert_eq!(output.status.code(), Some(1), "{target}: {}", stderr(&output));
        let document: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
        let text = finding(&document, "ftl_class")["text"].to_string();
        assert!(!text.contains("above"), "{target}: {text}");
    }
}

/// The large writes come first.
#[test]
fn check_that_a_budget_cuts_short_says_so_and_repeats_its_own_target() {
    let target = "sim:transcend-8g?seed=3";
    let text = stdout(&flashscope(&["check", target, "--write-budget", "64MiB"]));
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("Unknown: the run ended before small writes were measured"), "{text}");
    let action = format!(
        "repeat the check with a larger budget, to measure small writes as well flashscope check '{target}' "
    );
    assert!(words.contains(&action), "{text}");
}

/// A virtual stick holds no data that could be put back.
#[test]
fn check_without_a_write_advises_a_command_that_measures_writing() {
    let text = stdout(&flashscope(&["check", "sim:generic-2g", "--write-budget", "0"]));
    assert!(text.contains("measure writing\n") && !text.contains("put back"), "{text}");
    let mut commands = text.lines().filter_map(|line| line.trim().strip_prefix("flashscope "));
    let command: Vec<&str> = commands.next().unwrap().split(' ').collect();
    let checked = document(&command);
    assert!(checked["verdict"]["numbers"][1]["bytes_per_s"].is_f64(), "{command:?}: {checked:#}");
}

/// The erase block is measured by reads first, and stands in the run file.
#[test]
fn measure_does_not_call_unknown_what_it_measured_beside() {
    let output = flashscope(&["measure", "write-size", "sim:transcend-8g"]);
    assert!(stderr(&output).contains("erase block: 4 MiB, measured by reads"), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("Page: 16 KiB") && !text.contains("rase block: unknown"), "{text}");
}

#[test]
fn failing_stick_is_backed_up_unless_its_data_was_overwritten() {
    let stick = "sim:generic-2g?fault=read-errors:share=0.02";
    for (options, is_erased) in [(&[][..], true), (&["--scratch"], false), (&["--erase", "--yes"], true)] {
        let output = flashscope(&[&["check", stick], options].concat());
        let text = stdout(&output);
        assert!(text.contains("Failing") || text.contains("requests failed"), "{options:?}: {text}");
        assert_eq!(text.contains("copy the data off"), !is_erased, "{options:?}: {text}");
        assert_eq!(text.contains("keep no data on this stick"), is_erased, "{options:?}: {text}");
    }
}

/// A stick whose program time or reads are so slow. `parts` are sections of its profile.
fn slow_stick(folder: &tempfile::TempDir, read_us: u32, program_us: u32) -> String {
    let profile = format!(
        "name = \"slow\"\ndescription = \"a slow stick\"\ncapacity = \"7600MiB\"\n[[source]]\nwhat = \"a test\"\nwhere = \"here\"\n\
         [link]\nbasis = \"assumed\"\nbus = \"usb-high\"\nmax_command = \"120KiB\"\ncommand_us = 130\nmegabytes_per_s = 30\n\
         [read]\nbasis = \"assumed\"\naccess_us = {read_us}\nread_ahead_saves_us = 300.0\n\
         [write]\nbasis = \"assumed\"\noverhead_us = 300\npage_program_us = {program_us}\npartial_page_us = {program_us}\n\
         [ftl]\nbasis = \"assumed\"\nerase_block = \"4MiB\"\npage = \"16KiB\"\n\
         [policy.open_blocks]\nbasis = \"assumed\"\nopen_units_linear = 2\nopen_units_random = 1\nvictim = \"lru\"\n\
         merge_us = 400000\nrandom_merge_copies = 2\n\
         [noise]\nbasis = \"assumed\"\njitter = 0.03\noutliers_per_million = 100\noutlier_us = 20000\n"
    );
    let path = folder.path().join("slow.toml");
    std::fs::write(&path, profile).unwrap();
    format!("sim:{}", path.display())
}

/// The slower a stick, the shorter the stream that the time allows.
#[test]
fn a_stick_that_writes_400_kb_a_second_is_slow() {
    let folder = tempfile::tempdir().unwrap();
    for program_us in [40_000, 100_000, 300_000] {
        let checked = document(&["check", &slow_stick(&folder, 500, program_us)]);
        assert_eq!(checked["verdict"]["state"], "slow", "{program_us} us: {}", checked["verdict"]);
    }
    let text = stdout(&flashscope(&["check", &slow_stick(&folder, 500, 40_000)]));
    assert!(text.contains("Slow: its flash writes only 0.") && !text.contains("not measured"), "{text}");
}

#[test]
fn a_stick_that_reads_slowly_is_not_called_ok() {
    let folder = tempfile::tempdir().unwrap();
    let text = stdout(&flashscope(&["check", &slow_stick(&folder, 90_000, 600)]));
    assert!(text.contains(" Slow: it reads only ") && !text.contains("OK"), "{text}");
}
