//! `verify` on counterfeit, genuine and refused targets.

use std::fs;

use serde_json::Value;

use super::bad_input::assert_refused;
use super::{document, finding, flashscope, image, schema, stderr, stdout};

#[test]
fn a_fake_is_named_in_the_first_line() {
    let output = flashscope(&["verify", "sim:counterfeit-64g-wrap"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let text = stdout(&output);
    let first = "FAKE: says 62.9 GB, stores 8.05 GB (wraps around). Data beyond 8.05 GB is lost.\n";
    assert!(text.starts_with(first), "{text}");
    assert!(text.contains("8,053,063,680 of 62,914,560,000 bytes"), "{text}");
    let plan = "\n    sudo flashscope plan /dev/loopN --true-size 8053063680 --for share -o plan.json\n";
    assert!(text.contains(plan), "a command on a line of its own: {text}");
    let output = flashscope(&["verify", "sim:counterfeit-128g-limbo", "--json"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let found: Value = serde_json::from_str(&stdout(&output)).unwrap();
    schema::assert_valid("verify", &found);
    assert_eq!(found["verdict"]["kind"], "dropped");
    assert_eq!(found["verdict"]["seed"], 1, "a virtual stick is new in every run");
    assert!(found["headline"].as_str().unwrap().contains("drops writes"));
}

#[test]
fn a_genuine_stick_is_not_called_fake() {
    let found = document(&["verify", "sim:generic-2g", "--seed", "7"]);
    assert_eq!((&found["verdict"]["kind"], &found["verdict"]["seed"]), (&"no_sign".into(), &7.into()));
    assert!(found["verdict"]["true_size"].is_null(), "{}", found["verdict"]);
    let text = stdout(&flashscope(&["verify", "sim:generic-2g", "--cache-bound", "16MiB"]));
    assert!(text.starts_with("OK: no sign of a false capacity."), "{text}");
    assert!(text.contains("larger than 16") && text.contains("on demand"), "{text}");
}

#[test]
fn an_image_file_is_written_only_with_permission() {
    let folder = tempfile::tempdir().unwrap();
    let image = image(&folder, 32);
    assert_refused(&["verify", &image], 4, &["--erase"]);
    assert!(fs::read(&image).unwrap().iter().all(|byte| *byte == 0));
    let seed = || {
        let found = document(&["verify", &image, "--erase", "--yes"]);
        assert_eq!(found["verdict"]["kind"], "no_sign");
        found["verdict"]["seed"].as_u64().unwrap()
    };
    assert_ne!(seed(), seed(), "stamps of an earlier run must not pass for new ones");
}

#[test]
fn bad_arguments_are_refused() {
    assert_refused(&["verify"], 2, &["TARGET"]);
    assert_refused(&["verify", "sim:generic-2g", "--cache-bound", "100KiB"], 2, &["whole MiB"]);
    assert_refused(&["verify", "sim:generic-2g", "--cache-bound", "1TiB"], 2, &["64 GiB"]);
    assert_refused(&["verify", "sim:generic-2g", "--restart"], 2, &["--full"]);
    assert_refused(&["verify", "sim:no-such-stick"], 2, &["no-such-stick"]);
    let folder = tempfile::tempdir().unwrap();
    assert_refused(&["verify", folder.path().to_str().unwrap()], 2, &["add --full", "flashscope list"]);
}

#[test]
fn a_device_that_vanishes_gives_no_verdict() {
    assert_refused(&["verify", "sim:generic-2g?fault=unplug:after=200"], 3, &["vanished"]);
}

/// The test of the capacity interrupts the stream, and uses up a part of the cache.
#[test]
fn a_check_with_a_long_stream_finds_the_whole_cache_and_a_fake() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stick.toml");
    let good = stdout(&flashscope(&["sim", "show", "generic-2g"]));
    let cache = |mib: u32| {
        let table = format!(
            "[slc_cache]\nbasis = \"assumed\"\nsize = \"{mib}MiB\"\npage_program_us = 400\n\
             fold_megabytes_per_s = 6\nwhen_full = \"direct\""
        );
        fs::write(&path, format!("{good}\n{table}")).unwrap();
        let found = document(&["check", &format!("sim:{}", path.display()), "--sustained"]);
        let cache = finding(&found, "slc_cache_bytes");
        let mib_of = |name: &str| cache[name].as_f64().unwrap() / f64::from(1 << 20);
        (mib_of("low"), mib_of("value"), mib_of("high"))
    };
    for mib in [80, 200] {
        let ((low, value, high), truth) = (cache(mib), f64::from(mib));
        assert!(low <= truth && truth <= high, "{low} to {high} instead of {truth} MiB");
        assert!((value / truth - 1.0).abs() < 0.05, "{value} instead of {truth} MiB");
    }
    let fake = "sim:counterfeit-64g-wrap?capacity=8GiB&fault=wrap:real=1GiB";
    let output = flashscope(&["check", fake, "--sustained"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stdout(&output).contains("FAKE: says 8.59 GB, stores 1.07 GB"), "{}", stdout(&output));
}

/// The long stream leaves the test of the capacity all of a budget. Lost data without a verdict is not good.
#[test]
fn a_long_stream_with_a_budget_misses_no_fake() {
    for (stick, budget) in [
        ("counterfeit-64g-wrap", ["--write-budget", "200MiB"]),
        ("counterfeit-64g-wrap", ["--time-budget", "60s"]),
        ("counterfeit-128g-limbo", ["--time-budget", "2m"]),
    ] {
        let target = format!("sim:{stick}");
        let output = flashscope(&["check", &target, "--sustained", budget[0], budget[1]]);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(stdout(&output).contains("FAKE: says"), "{stick} {budget:?}: {}", stdout(&output));
    }
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run.flashscope.json");
    let little = ["--sustained", "--write-budget", "60MiB", "-o", run.to_str().unwrap()];
    let output = flashscope(&[&["check", "sim:counterfeit-64g-wrap"], &little[..]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(fs::read_to_string(run).unwrap().contains("the capacity is in doubt"));
}

/// Unasked, and before every other statement: in the text, the page, the document, the run file and the exit
/// code.
#[test]
fn a_check_names_a_fake_before_anything_else() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (page, run) = (at("a.html"), at("a.json"));
    let first = "FAKE: says 62.9 GB, stores 8.05 GB (wraps around). Data beyond 8.05 GB is lost.";
    let output = flashscope(&["check", "sim:counterfeit-64g-wrap", "--details", "-o", &page, "-o", &run]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let unwrapped = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = unwrapped(stdout(&output));
    let is_first = |text: &str| text.find(first) < text.find("sequential read") && text.contains(first);
    assert!(is_first(&text) && text.contains("8,053,063,680 of 62,914,560,000 bytes"), "{text}");
    let screen = unwrapped(stdout(&flashscope(&["check", "sim:counterfeit-64g-wrap"])));
    assert!(is_first(&screen) && screen.contains("58.6 GiB"), "{screen}");
    assert!(screen.contains("--true-size 8053063680 --for share"), "{screen}");
    let empty = flashscope(&["check", "sim:patriot-xt-16g?fault=limbo:real=0"]);
    assert_eq!(empty.status.code(), Some(1), "{}", stderr(&empty));
    let screen = unwrapped(stdout(&empty));
    assert!(screen.contains("FAKE: says 16") && screen.contains("stores nothing"), "{screen}");
    assert!(screen.contains("sequential write not measured") && screen.contains("return it"), "{screen}");
    assert!(text.contains("The tests ran on the first 7.50 GiB"), "{text}");
    let page = fs::read_to_string(page).unwrap();
    assert!(page.find(first).unwrap() < page.find("class=\"numbers\"").unwrap());
    assert!(is_first(&unwrapped(stdout(&flashscope(&["report", &run])))));
    let output = flashscope(&["report", &run, "--json"]);
    let found: Value = serde_json::from_str(&stdout(&output)).unwrap();
    schema::assert_valid("findings", &found);
    assert_eq!(found["capacity"]["headline"], first);
    assert_eq!(found["verdict"]["state"], "false_capacity");
    assert_eq!(found["verdict"]["headline"], first);
    assert_eq!(found["capacity"]["verdict"]["kind"], "wrap");
    let stored: Value = serde_json::from_str(&fs::read_to_string(&run).unwrap()).unwrap();
    for seen in stored["observations"].as_array().unwrap() {
        assert_eq!(seen["conditions"]["capacity"], 8_053_063_680_u64);
    }
}

#[test]
fn a_check_of_a_genuine_stick_says_what_was_excluded() {
    let text = stdout(&flashscope(&["check", "sim:patriot-xt-16g", "--details"]));
    assert!(text.contains("No sign of a false capacity") && !text.contains("FAKE"), "{text}");
    assert!(text.contains("flashscope verify sim:patriot-xt-16g"), "{text}");
}

#[test]
fn a_check_within_a_small_budget_leaves_the_capacity_out() {
    let output = flashscope(&["check", "sim:patriot-xt-16g", "--write-budget", "8MiB"]);
    assert!(stderr(&output).contains("the capacity was not tested"), "{}", stderr(&output));
    assert!(!stdout(&output).contains("No sign of a false capacity"));
}

/// What the tests wrote is read back. Wrong data stands before the speeds.
#[test]
fn a_bench_says_first_that_written_data_is_lost() {
    for (arguments, target) in [
        (&["bench", "write"][..], "sim:counterfeit-128g-limbo"),
        (&["bench", "sustained"], "sim:counterfeit-64g-wrap?capacity=8GiB&fault=wrap:real=1GiB"),
        (&["bench", "write"], "sim:patriot-xt-16g?fault=wrong-reads:share=0.05"),
        (
            &["bench", "sustained", "--write-budget", "1GiB"],
            "sim:patriot-xt-16g?fault=wrong-reads:share=0.05",
        ),
    ] {
        let output = flashscope(&[arguments, &[target]].concat());
        assert_eq!(output.status.code(), Some(1), "{target}: {}", stderr(&output));
        let text = stdout(&output);
        assert!(text.starts_with("LOST DATA: "), "{target}: {text}");
        assert!(text.contains("flashscope verify"), "{target}: {text}");
    }
    let target = "sim:patriot-xt-16g?fault=wrong-reads:share=0.05";
    let output = flashscope(&["bench", "write", target, "--size", "64KiB", "--json"]);
    let found: Value = serde_json::from_str(&stdout(&output)).unwrap();
    schema::assert_valid("findings", &found);
    let (places, lost) = (found["read_back"]["places"].as_u64(), found["read_back"]["lost"].as_u64());
    assert!(places >= Some(32) && lost > Some(0) && lost < places, "{found}");
}

#[test]
fn a_bench_of_a_genuine_stick_finds_its_data_kept() {
    for arguments in [&["bench", "write"][..], &["bench", "sustained"]] {
        let found = document(&[arguments, &["sim:generic-2g"]].concat());
        assert!(found["read_back"]["places"].as_u64() >= Some(32), "{found}");
        assert_eq!(found["read_back"]["lost"], 0);
    }
    // Wrong once, and right when it is read again.
    let once = flashscope(&["bench", "write", "sim:generic-2g?fault=wrong-reads:share=0.05,times=1"]);
    assert_eq!(once.status.code(), Some(0), "{}", stderr(&once));
}

/// The old data stays where a write failed.
#[test]
fn a_write_that_failed_is_no_sign_of_a_counterfeit() {
    let output = flashscope(&["bench", "write", "sim:transcend-8g?fault=write-errors:share=0.03"]);
    let text = stdout(&output);
    assert!(text.contains("requests failed") && !text.contains("counterfeit"), "{text}");
}
