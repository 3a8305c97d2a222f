//! `sim fit`: profiles fitted to a log or a run.

use flashscope_device::Bytes;

use crate::{document, finding, flashscope, published, stderr, stdout};

#[test]
fn fitted_profile_is_reproducible() {
    let folder = tempfile::tempdir().unwrap();
    let log = published("readme-example-arnd.txt");
    let profiles = ["one.toml", "two.toml"].map(|name| {
        let path = folder.path().join(name);
        let output = flashscope(&["sim", "fit", log.to_str().unwrap(), "-o", path.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(stdout(&output).contains("held out"), "{}", stdout(&output));
        std::fs::read_to_string(path).unwrap()
    });
    assert_eq!(profiles[0], profiles[1]);
    let stick = format!("sim:{}", folder.path().join("one.toml").display());
    let measured = document(&["measure", "align", &stick]);
    assert_eq!(finding(&measured, "erase_block_bytes")["value"], 4 << 20);
}

#[test]
fn fit_reports_errors_of_fitted_and_held_out_cells() {
    let log = published("patriot-xporter-xt-boost-16gb.txt");
    let fit = document(&["sim", "fit", log.to_str().unwrap()]);
    let cells = fit["cells"].as_array().unwrap();
    let held = cells.iter().filter(|cell| cell["held_out"] == true).count();
    assert_eq!((cells.len(), fit["held_out"]["cells"].as_u64().unwrap()), (250, held as u64));
    assert!(held >= 125 && fit["held_out"]["median"].as_f64().unwrap() < 0.07, "{}", fit["held_out"]);
    let parameters = fit["parameters"].as_u64().unwrap();
    assert!(parameters * 5 <= fit["fitted"]["cells"].as_u64().unwrap());
}

#[test]
fn profile_fitted_to_a_run_has_its_findings() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (run, profile) = (path("run.flashscope.json"), path("twin.toml"));
    let original = document(&["check", "sim:transcend-8g", "-o", &run]);
    let output = flashscope(&["sim", "fit", &run, "--holdout", "0", "-o", &profile]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let twin = document(&["check", &format!("sim:{profile}")]);
    for id in ["erase_block_bytes", "page_bytes", "open_units_linear", "open_units_random", "fat_area_bytes"]
    {
        assert_eq!(finding(&twin, id)["value"], finding(&original, id)["value"], "{id}");
    }
}

/// A share of the cells is held out, so that the tables alone do not show every limit.
#[test]
fn profile_fitted_to_a_run_takes_page_limits_and_merges_from_its_findings() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run.flashscope.json");
    let checked = document(&["check", "sim:transcend-8g", "-o", run.to_str().unwrap()]);
    let profile = stdout(&flashscope(&["sim", "fit", run.to_str().unwrap()]));
    assert!(
        profile.contains("open_units_linear = 5") && profile.contains("open_units_random = 2"),
        "{profile}"
    );
    assert!(profile.contains("page = \"16KiB\""), "{profile}");
    let merge_us = finding(&checked, "merge_seconds")["value"].as_f64().unwrap() * 1e6;
    let line = profile.lines().find_map(|line| line.strip_prefix("merge_us = ")).unwrap();
    assert!((line.parse::<f64>().unwrap() / merge_us - 1.0).abs() < 1e-3, "{line} instead of {merge_us}");
    assert!(!profile.contains("flashbench"), "{profile}");
}

#[test]
fn logs_that_cannot_be_fitted_are_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("short.log");
    std::fs::write(&log, "$ flashbench -O --open-au-nr=2 /dev/x\n4MiB 5M/s\n2MiB 4M/s\n").unwrap();
    let output = flashscope(&["sim", "fit", log.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("at least 5"), "{}", stderr(&output));
    for wrong in [["--holdout", "1"], ["--holdout", "-1"], ["-o", "profile.txt"]] {
        let output = flashscope(&[&["sim", "fit", log.to_str().unwrap()], &wrong[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn a_fit_unlike_its_log_is_called_poor() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("odd.log");
    let mut text = "$ flashbench --open-au --open-au-nr=2 --blocksize=4096 /dev/x\n".to_owned();
    for (at, size) in [4096, 2048, 1024, 512, 256, 128, 64, 32, 16, 8, 4].into_iter().enumerate() {
        let speed = if at % 2 == 0 { "10M/s" } else { "100K/s" };
        text += &format!("{size}KiB {speed}\n");
    }
    std::fs::write(&log, text).unwrap();
    let fit = |log: &std::path::Path| flashscope(&["sim", "fit", log.to_str().unwrap()]);
    let output = fit(&log);
    assert!(
        stderr(&output).contains("warning: poor fit: half of the times differ by"),
        "{}",
        stderr(&output)
    );
    assert!(stdout(&output).starts_with("# Poor fit: half of the times differ by"), "{}", stdout(&output));
    let fits = fit(&published("readme-example-arnd.txt"));
    assert!(!stderr(&fits).contains("poor fit") && !stdout(&fits).contains("Poor fit"), "{}", stderr(&fits));
}

/// A log with every read that is held out about a hundred or a thousand times as slow. The fit does not see
/// them.
fn with_slow_held_out_reads(log: &std::path::Path) -> String {
    let fit = document(&["sim", "fit", log.to_str().unwrap()]);
    let cells = fit["cells"].as_array().unwrap().iter().filter(|cell| cell["held_out"] == true);
    let held_out: Vec<&str> = cells.map(|cell| cell["cell"].as_str().unwrap()).collect();
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["align", bytes, "pre", before, "on", across, "post", after, ..] = words.as_slice() else {
            return line.to_owned();
        };
        let candidate = Bytes::new(bytes.parse().unwrap());
        let time = |side: &str, text: &str| match text.strip_suffix("µs") {
            _ if !held_out.contains(&format!("{candidate} {side}").as_str()) => text.to_owned(),
            Some(microseconds) => format!("{microseconds}ms"),
            None => format!("10{text}"),
        };
        let [before, across, after] =
            [("before", before), ("across", across), ("after", after)].map(|(side, text)| time(side, text));
        format!("align {bytes} pre {before} on {across} post {after}")
    };
    let text = std::fs::read_to_string(log).unwrap();
    text.lines().map(|line| row(line) + "\n").collect()
}

#[test]
fn a_fit_that_misses_what_it_did_not_see_is_called_poor_but_its_profile_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("slow.log");
    std::fs::write(&log, with_slow_held_out_reads(&published("readme-example-arnd.txt"))).unwrap();
    let output = flashscope(&["sim", "fit", log.to_str().unwrap()]);
    let warning = "warning: poor fit: half of the times differ by";
    assert!(stderr(&output).contains(warning), "{}", stderr(&output));
    assert!(!stdout(&output).contains("Poor fit"), "{}", stdout(&output));
}

#[test]
fn sim_show_prints_the_basis_of_each_group() {
    let shown = stdout(&flashscope(&["sim", "show", "patriot-xt-16g"]));
    assert!(shown.contains("# measured   1 of 7 groups: read\n"), "{shown}");
    // A basis without groups has no list.
    let shown = stdout(&flashscope(&["sim", "show", "cheap-usb3-32g"]));
    let bases = "# measured   0 of 7 groups\n# fitted     1 of 7 groups: background\n";
    assert!(shown.contains(bases), "{shown}");
    let basis = document(&["sim", "show", "wirenboard-06"])["basis"].clone();
    assert!(basis.as_array().unwrap().iter().any(|of| of["group"] == "noise" && of["basis"] == "assumed"));
}
