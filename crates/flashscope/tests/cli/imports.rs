//! `import` of several logs: one line each, or combined.

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
