//! `flashscope bench`: results as text and JSON, and refusals.

use serde_json::Value;

use crate::{document, flashscope, image, stderr, stdout};

fn speeds(document: &Value) -> &Vec<Value> {
    document["speeds"].as_array().unwrap()
}

#[test]
fn speed_has_an_interval_and_latency_percentiles() {
    let document = document(&["bench", "write", "sim:generic-2g", "--size", "1MiB", "--order", "sequential"]);
    let [speed] = speeds(&document).as_slice() else { unreachable!("one test was requested") };
    let figure = |key: &str| speed[key].as_f64().unwrap();
    assert!(figure("low") < figure("bytes_per_s") && figure("bytes_per_s") < figure("high"));
    assert!((1.2e6..1.3e6).contains(&figure("bytes_per_s")), "{speed}");
    let latency = |key: &str| speed["latency_s"][key].as_f64().unwrap();
    let sorted = ["min", "p50", "p90", "p99", "p999", "max"].map(latency);
    assert!(sorted.is_sorted() && sorted[0] > 0.0, "{speed}");
    assert_eq!((&speed["direction"], &speed["order"]), (&Value::from("write"), &Value::from("linear")));
    let written = |key: &str| speed["written_bytes"][key].as_u64().unwrap();
    assert_eq!(written("to") - written("from"), speed["requests"].as_u64().unwrap() << 20);
}

#[test]
fn sequential_speed_names_its_amount_and_limits() {
    let seen =
        flashscope(&["bench", "write", "sim:lexar-633x-16g", "--size", "1MiB", "--order", "sequential"]);
    let text = stdout(&seen).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Sequential write 11.9 MB/s.") && text.contains("measured over 682 MiB"), "{text}");
    assert!(text.contains("rarer stalls, would not show") && !text.contains("back to back"), "{text}");
    let dropped = flashscope(&["bench", "write", "sim:counterfeit-128g-limbo"]);
    let text = stdout(&dropped).split_whitespace().collect::<Vec<_>>().join(" ");
    let cached = "is cached (72 of 80 offsets returned other data than was written";
    assert!(
        text.contains(cached)
            && text.contains("Not counted: this figure, and the next 4 rows")
            && !text.contains("IOPS (4 KiB"),
        "{text}"
    );
    let rows = flashscope(&["bench", "write", "sim:generic-2g", "--size", "64KiB"]);
    let text = stdout(&rows).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("each starts in the state the previous one left"), "{text}");
}

#[test]
fn tests_after_an_exhausted_cache_are_marked_unsettled() {
    let run = ["bench", "write", "sim:modern-ssd-stick-128g"];
    let text = stdout(&flashscope(&run)).split_whitespace().collect::<Vec<_>>().join(" ");
    let result = "random write, 1 MiB: a previous test left 12.5 GiB in the SLC cache";
    assert!(text.contains(result), "{text}");
    let row = document(&run);
    let why: Vec<&Value> = speeds(&row).iter().map(|speed| &speed["unsettled"]["reason"]).collect();
    assert_eq!((why[0], why[3], why[4]), (&Value::Null, &Value::from("behind_cache"), &Value::Null), "{row}");
}

#[test]
fn sustained_stream_announces_its_cost_and_reports_its_cache() {
    let run = ["bench", "sustained", "sim:samsung-fit-plus"];
    let (messages, result) = (stderr(&flashscope(&run)), stdout(&flashscope(&run)));
    assert!(messages.contains("(10.7 GiB if there is no SLC cache"), "{messages}");
    assert!(messages.contains("at most 107 minutes at 10 MB/s, 18 hours at 1 MB/s"), "{messages}");
    assert!(result.contains("writes (10.7 GiB)") && result.contains("Writes stall for 248 ms"), "{result}");
    let result = stdout(&flashscope(&["bench", "sustained", "sim:modern-ssd-stick-128g"]));
    let result = result.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(result.contains("the first 12.5 GiB are faster"), "{result}");
    assert!(
        result.contains("Write speed falls from")
            && result.contains("after 12.5 GiB (SLC cache of 12.5 GiB exhausted)"),
        "{result}"
    );
}

/// This stick stalls for 90 s every 4 GiB, far more than a default test writes.
#[test]
fn thorough_tests_include_rare_stalls() {
    let run =
        ["bench", "write", "sim:lexar-633x-16g", "--order", "sequential", "--size", "1MiB", "--thorough"];
    let messages = stderr(&flashscope(&run));
    let cost =
        "write 1 test, including rare stalls and SLC cache folding: at most 60 minutes and 29.7 GiB written";
    assert!(messages.contains(cost), "{messages}");
    let text = stdout(&flashscope(&run)).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Run: bench sustained. "), "{text}");
    let row = document(&run);
    let speed = &speeds(&row)[0];
    let figure = |key: &str| speed[key].as_f64().unwrap();
    assert!((9.4e6..9.6e6).contains(&figure("bytes_per_s")), "{speed}");
    assert!(row["cost"]["bytes_written"].as_u64().unwrap() > 16 << 30, "{row}");
    assert!(speed["latency_s"]["max"].as_f64().unwrap() > 80.0, "{speed}");
}

#[test]
fn thorough_needs_a_disk_and_erase() {
    let folder = tempfile::tempdir().unwrap();
    let (path, image) = (folder.path().to_str().unwrap(), image(&folder, 32));
    for (arguments, code, words) in [
        (&["bench", "write", path, "--thorough"][..], 2, "which fills the free space"),
        (&["bench", path, "--thorough"], 2, "which fills the free space"),
        (&["bench", &image, "--thorough"], 4, "needs --scratch or --erase"),
        (&["bench", "write", &image, "--thorough"], 4, "--erase"),
        (&["bench", "read", &image, "--thorough"], 2, "--thorough"),
    ] {
        let refused = flashscope(arguments);
        assert_eq!(refused.status.code(), Some(code), "{arguments:?}: {}", stderr(&refused));
        assert!(stderr(&refused).contains(words), "{arguments:?}: {}", stderr(&refused));
    }
}

/// Only the first random 1 MiB write of this stick finds an open block.
#[test]
fn startup_of_a_single_request_is_not_reported() {
    let run = ["bench", "write", "sim:samsung-oem-sd"];
    let row = document(&run);
    let single = |speed: &&Value| speed["startup"]["bytes"] == speed["request_bytes"];
    assert!(speeds(&row).iter().any(|speed| single(&speed)), "{row}");
    let text = stdout(&flashscope(&run));
    assert!(!text.contains("the first 1 MiB went at"), "{text}");
}

#[test]
fn time_budget_accepts_seconds_and_units() {
    let result = |time: &str| {
        let run = document(&["bench", "write", "sim:generic-2g", "--time-budget", time]);
        (run["cost"]["writes"].as_u64().unwrap(), run["ended"].to_string())
    };
    let (seconds, ended) = result("6");
    assert!(seconds > 2 && ended.contains("budget"), "{ended}");
    assert_eq!([result("6s"), result("0.1m"), result("6000ms")].map(|(writes, _)| writes), [seconds; 3]);
    for wrong in ["6x", "0s", "5MiB"] {
        let refused = flashscope(&["bench", "write", "sim:generic-2g", "--time-budget", wrong]);
        assert!(
            refused.status.code() == Some(2) && stderr(&refused).contains("90s, 5m or 1h30m"),
            "{}",
            stderr(&refused)
        );
    }
}

/// `--order` removes the tests of the other order only.
#[test]
fn order_option_keeps_the_default_tests_of_that_order() {
    let rows = |options: &[&str]| {
        let document = document(&[&["bench", "read", "sim:transcend-8g"], options].concat());
        let row = |speed: &Value| {
            [&speed["order"], &speed["request_bytes"], &speed["queue_depth"]].map(ToString::to_string)
        };
        speeds(&document).iter().map(row).collect::<Vec<_>>()
    };
    let of_order = |order: &str| -> Vec<_> {
        rows(&[]).into_iter().filter(|[named, ..]| named.contains(order)).collect()
    };
    for (order, named, count) in [("sequential", "linear", 3), ("random", "random", 5)] {
        let rows = rows(&["--order", order]);
        assert_eq!((rows.len(), &rows), (count, &of_order(named)), "{order}");
    }
}

#[test]
fn bench_writes_only_with_permission() {
    let everything = document(&["bench", "sim:generic-2g", "--size", "64KiB"]);
    let directions: Vec<&Value> = speeds(&everything).iter().map(|speed| &speed["direction"]).collect();
    assert_eq!(directions, ["write", "write", "read", "read"]);
    let folder = tempfile::tempdir().unwrap();
    let image = image(&folder, 32);
    let reads = document(&["bench", &image, "--size", "64KiB", "--time-budget", "1"]);
    assert!(speeds(&reads).iter().all(|speed| speed["direction"] == "read"));
    assert_eq!(reads["cost"]["bytes_written"], 0);
    for (target, only_reads) in [(image.as_str(), true), ("sim:generic-2g", false)] {
        let output = flashscope(&["bench", target, "--size", "64KiB", "--time-budget", "1"]);
        let messages = stderr(&output);
        assert!(messages.contains(&format!("{target}: ")), "{messages}");
        assert_eq!(messages.contains("read only: the data on it does not change"), only_reads, "{messages}");
    }
}

#[test]
fn bench_write_needs_erase_and_valid_sizes() {
    let folder = tempfile::tempdir().unwrap();
    let image = image(&folder, 32);
    let refused = flashscope(&["bench", "write", &image]);
    assert_eq!(refused.status.code(), Some(4));
    assert!(stderr(&refused).contains("--erase"), "{}", stderr(&refused));
    for arguments in [&["bench"][..], &["bench", "read", &image, "--size", "1000"]] {
        assert_eq!(flashscope(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn tests_too_large_for_the_target_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let tiny = folder.path().join("tiny.img");
    let bench = |bytes: usize| {
        std::fs::write(&tiny, vec![7; bytes]).unwrap();
        flashscope(&["bench", "read", tiny.to_str().unwrap(), "--json", "--time-budget", "1"])
    };
    let none = bench(4096);
    assert_eq!(none.status.code(), Some(3), "{}", stderr(&none));
    assert!(!stderr(&none).contains("at most"), "{}", stderr(&none));
    let some = bench(256 << 10);
    assert_eq!(some.status.code(), Some(0), "{}", stderr(&some));
    assert!(stderr(&some).contains("tests of 1 MiB and larger requests are left out"), "{}", stderr(&some));
    let document: Value = serde_json::from_str(&stdout(&some)).unwrap();
    assert_eq!(speeds(&document)[0]["request_bytes"], 65536, "{document}");
}

/// In memory, which is fast.
fn directory_in_memory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

fn is_empty(folder: &tempfile::TempDir) -> bool {
    std::fs::read_dir(folder.path()).unwrap().count() == 0
}

#[test]
fn bench_in_a_directory_needs_no_erase_and_removes_its_file() {
    let folder = directory_in_memory();
    let name = folder.path().to_str().unwrap();
    let row = ["--size", "1MiB", "--order", "sequential", "--time-budget", "1"];
    for part in ["read", "write"] {
        let output = flashscope(&[&["bench", part, name, "--json"], &row[..]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
        assert_eq!(document["identity"]["kind"], "folder", "{document}");
        assert!(document["identity"]["capacity_bytes"].as_u64().unwrap() >= 16 << 20, "{document}");
        assert!(
            document["cost"]["bytes_written"].as_u64().unwrap() >= 16 << 20,
            "filling counts: {document}"
        );
        assert!(stderr(&output).contains("temporary file of"), "{}", stderr(&output));
        assert_eq!(name.starts_with("/dev/shm"), stderr(&output).contains("measures memory"));
        assert!(is_empty(&folder));
    }
    let samples = document(&["bench", "sustained", name, "--samples", "14x1MiB"]);
    assert_eq!(
        (&samples["cost"]["writes"], &samples["cost"]["bytes_written"]),
        (&14.into(), &(14 << 20).into())
    );
    assert!(is_empty(&folder));
}

#[test]
fn bench_in_a_directory_stays_within_the_write_budget() {
    let folder = directory_in_memory();
    let name = folder.path().to_str().unwrap();
    let limits = ["--write-budget", "80MiB", "--time-budget", "2"];
    // Filling the file counts. Write tests write it once more.
    for (part, row, file_max) in [
        ("read", &["--size", "4KiB"][..], 80_u64),
        ("write", &["--size", "4KiB"], 40),
        ("sustained", &[], 80),
    ] {
        let result = document(&[&["bench", part, name], row, &limits].concat());
        let figure = |pointer: &str| result.pointer(pointer).and_then(Value::as_u64).unwrap();
        assert!(figure("/identity/capacity_bytes") <= file_max << 20, "{part}: {result}");
        assert!(figure("/cost/bytes_written") <= 80 << 20, "{part}: {result}");
        assert!(is_empty(&folder));
    }
    let refused = flashscope(&["bench", "sustained", name, "--write-budget", "10MiB"]);
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("at least 64 MiB"), "{}", stderr(&refused));
}

#[test]
fn small_file_does_not_prove_that_there_is_no_slc_cache() {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().to_str().unwrap();
    let result = document(&["bench", "sustained", name, "--write-budget", "70MiB", "--time-budget", "20"]);
    let about = |finding: &&Value| finding["id"] == "slc_cache_bytes";
    let cache = result["findings"].as_array().unwrap().iter().find(about);
    // There is no finding if the directory is in memory.
    assert!(cache.is_none_or(|cache| cache["value"] != 0), "{result}");
}

#[test]
fn announced_cost_is_limited_by_the_budgets() {
    let limits = ["--write-budget", "100MiB", "--time-budget", "60"];
    let messages = |command: &[&str]| stderr(&flashscope(&[command, &limits].concat()));
    let sustained = messages(&["bench", "sustained", "sim:generic-2g"]);
    assert!(sustained.contains("at most 100 MiB will be written: at most"), "{sustained}");
    assert!(sustained.contains("ends after 60 s at the latest"), "{sustained}");
    let rows = messages(&["bench", "write", "sim:generic-2g", "--size", "4KiB"]);
    assert!(rows.contains("at most 60 s and 100 MiB written"), "{rows}");
    let check = messages(&["check", "sim:generic-2g", "--sustained"]);
    assert!(check.contains("at most 100 MiB (limit it with") && check.contains("after 60 s"), "{check}");
    // Samples need no more than their own size.
    let unlimited = stderr(&flashscope(&["bench", "sustained", "sim:generic-2g", "--samples", "14x1MiB"]));
    assert!(unlimited.contains("at most 14 MiB will be written: at most 1 minute at 10 MB/s"), "{unlimited}");
    // Without an SLC cache, a stick of this size is written three times.
    let small = |budget: &str| {
        let stick = "sim:generic-2g?capacity=64MiB";
        stderr(&flashscope(&["bench", "sustained", stick, "--write-budget", budget]))
    };
    let (enough, more) = (small("192MiB"), small("193MiB"));
    assert!(enough.contains("at most 192 MiB will be written: at most"), "{enough}");
    assert!(more.contains("at most 193 MiB will be written (192 MiB if there is no SLC cache"), "{more}");
}

#[test]
fn directory_in_memory_has_no_verdict() {
    let folder = directory_in_memory();
    let name = folder.path().to_str().unwrap();
    if !name.starts_with("/dev/shm") {
        return;
    }
    let limits = ["--write-budget", "80MiB", "--time-budget", "2"];
    for command in [
        &["bench", "sustained", name, limits[0], limits[1], limits[2], limits[3]][..],
        &["bench", "read", name, "--size", "1MiB", limits[2], limits[3]],
        &["bench", "methods", name, "--size", "2MiB", "--rounds", "1"],
        &["bench", "files", name, "--count", "4", "--rounds", "1"],
    ] {
        let output = flashscope(command);
        assert_eq!(output.status.code(), Some(0), "{command:?}: {}", stderr(&output));
        assert!(stdout(&output).starts_with("No verdict"), "{command:?}: {}", stdout(&output));
        assert!(!stdout(&output).contains("How sure"), "{command:?}: {}", stdout(&output));
    }
}

#[test]
fn invalid_directories_are_refused_with_advice() {
    let folder = directory_in_memory();
    let name = folder.path().to_str().unwrap();
    for (arguments, words) in [
        (&["write", name, "--erase", "--yes"][..], "leave it out"),
        (&["read", &format!("{name}/none")], "there is no such"),
    ] {
        let output = flashscope(&[&["bench"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{arguments:?}: {}", stderr(&output));
    }
    assert!(is_empty(&folder));
}

#[test]
fn report_of_a_stored_bench_matches_the_original() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run.json");
    let run = run.to_str().unwrap();
    let shown = flashscope(&["bench", "read", "sim:patriot-xt-16g", "-o", run]);
    let again = flashscope(&["report", run]);
    assert_eq!(stdout(&shown), stdout(&again));
    assert!(stdout(&again).starts_with("Sequential read "), "{}", stdout(&again));
    assert!(!stdout(&again).contains("erase block"), "{}", stdout(&again));
}

#[test]
fn bench_methods_compares_methods_and_removes_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().to_str().unwrap();
    let kept = tempfile::tempdir().unwrap();
    let run = kept.path().join("run.json");
    let run = run.to_str().unwrap();
    let document = document(&["bench", "methods", name, "--size", "4MiB", "--rounds", "2", "-o", run]);
    let ways = document["ways"].as_array().unwrap();
    assert!(ways.len() >= 4 && ways[0]["way"] == "buffered_zeros", "{document}");
    assert!(ways.iter().all(|way| way["durable_seconds"].as_f64() >= way["claimed_seconds"].as_f64()));
    assert!(document["true_bytes_per_s"].as_f64().unwrap() > 0.0);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    assert!(["found", "unknown"].contains(&document["bottleneck"]["status"].as_str().unwrap()));
    assert!(ways.iter().all(|way| way["cached"].is_null()), "nothing is faster than memory: {document}");
    let again = crate::document(&["report", run]);
    assert_eq!((&again["ways"][0]["way"], &again["target"]), (&ways[0]["way"], &document["target"]));
    assert!(ways.iter().all(|way| way["rounds"] == 2), "{document}");
    assert!(document["true"]["low"].as_f64() <= document["true"]["high"].as_f64(), "{document}");
    let shown = stdout(&flashscope(&["report", run]));
    assert!(shown.contains("conv=fdatasync") && shown.contains("2 rounds of all methods"), "{shown}");
    // A run file of an older version: one sample a method.
    let mut stored: Value = serde_json::from_str(&std::fs::read_to_string(run).unwrap()).unwrap();
    let claims = stored["observations"][0]["data"]["claims"].as_array_mut().unwrap();
    claims.truncate(ways.len());
    std::fs::write(run, stored.to_string()).unwrap();
    let shown = stdout(&flashscope(&["report", run]));
    assert!(
        shown.contains("One round: a single stall") && shown.matches("one round").count() >= ways.len(),
        "{shown}"
    );
}

/// The document names it in any case.
#[test]
fn bench_methods_notes_the_system_disk_only_there() {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().to_str().unwrap();
    let output = flashscope(&["bench", "methods", name, "--size", "2MiB", "--rounds", "1", "--json"]);
    let messages = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{messages}");
    let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let is_on = |place: &str| document["instead"].as_array().unwrap().iter().any(|instead| *instead == place);
    let is_noted = messages.contains("is on the system disk: this measures that disk");
    assert_eq!(is_noted, is_on("system_disk") && !is_on("memory"), "{messages}{document}");
}

#[test]
fn bench_methods_refuses_invalid_targets_with_advice() {
    let folder = tempfile::tempdir().unwrap();
    let image = image(&folder, 2);
    let directory = folder.path().to_str().unwrap();
    for (arguments, code, words) in [
        (&["sim:generic-2g"][..], 2, "sim serve generic-2g --loop"),
        (&[&image], 4, "--erase"),
        (&[&image, "--erase", "--yes"], 2, "--size"),
        (&["nowhere"], 2, "there is no such file"),
        (&[directory, "--erase", "--yes"], 2, "leave it out"),
        (&[directory, "--size", "1000"], 2, "whole MiB"),
    ] {
        let output = flashscope(&[&["bench", "methods"], arguments].concat());
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn report_compare_compares_two_streams() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (cheap, better, page) = (path("cheap.json"), path("better.json"), path("page.html"));
    let result = document(&["bench", "sustained", "sim:cheap-usb3-32g", "-o", &cheap]);
    assert_eq!(result["course"]["stalls"]["period_bytes"], 16 << 20, "{result}");
    document(&["bench", "sustained", "sim:samsung-fit-plus", "-o", &better]);
    let compared = document(&["report", "compare", &cheap, &better]);
    let first = |index: usize, key: &str| compared["compared"][index][key].as_f64().unwrap();
    let ratio = |key: &str| first(1, key) / first(0, key);
    assert!((1.5..3.0).contains(&ratio("first_10_mb_bytes_per_s")), "{compared}");
    assert!((3.6..4.5).contains(&ratio("first_1_gb_bytes_per_s")), "{compared}");
    let faster = &compared["ratios"][0];
    assert_eq!((&faster["faster"], &faster["slower"]), (&"better".into(), &"cheap".into()), "{compared}");
    let figure = |key: &str| faster[key].as_f64().unwrap();
    assert!(1.0 < figure("low") && figure("low") < figure("likely") && figure("likely") < figure("high"));
    let printed = flashscope(&["report", "compare", &cheap, &better, "-o", &page]);
    assert_eq!(printed.status.code(), Some(0));
    assert!(stdout(&printed).starts_with("better writes "), "{}", stdout(&printed));
    assert!(std::fs::read_to_string(&page).unwrap().contains("<svg"));
    let (with_o, long) = (path("with-o.html"), path("long.html"));
    let both = flashscope(&["report", "compare", &cheap, &better, "-o", &with_o, "--output", &long]);
    assert_eq!(both.status.code(), Some(0), "{}", stderr(&both));
    assert!(stdout(&both).contains("sustained"), "it is printed as well: {}", stdout(&both));
    for written in [with_o, long] {
        assert_eq!(std::fs::read_to_string(&written).unwrap(), std::fs::read_to_string(&page).unwrap());
    }
    let one = flashscope(&["report", "compare", &cheap]);
    assert_eq!(one.status.code(), Some(2), "{}", stderr(&one));
}

/// The speed is reported although the sustained speed is unknown.
#[test]
fn short_stream_reports_its_speed_so_far() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let words =
        |arguments: &[&str]| stdout(&flashscope(arguments)).split_whitespace().collect::<Vec<_>>().join(" ");
    let short = |name| ["sim:samsung-fit-plus", "--time-budget", "60", "-q", "-o", name];
    let (bench, check) = (path("bench.json"), path("check.json"));
    let result = words(&[&["bench", "sustained"], &short(&bench)[..]].concat());
    assert!(
        result.starts_with("Sequential write 30.")
            && result.contains("sustained write speed unknown: the stream"),
        "{result}"
    );
    let result = words(&[&["check", "--erase", "--yes", "--sustained"], &short(&check)[..]].concat());
    assert!(
        result.contains("sequential write 30.") && result.contains("random write 4 KiB not measured"),
        "{result}"
    );
    let compared = document(&["report", "compare", &bench, &check]);
    let so_far = &compared["compared"][0]["so_far"];
    let figure = |key: &str| so_far[key].as_f64().unwrap();
    assert!(figure("low") < figure("bytes_per_s") && figure("bytes_per_s") < figure("high"), "{compared}");
    assert_eq!(so_far, &document(&["report", &bench])["course"]["so_far"]);
    let table = words(&["report", "compare", &bench, &check]);
    assert!(table.contains("unknown (30."), "{table}");
}

#[test]
fn compared_runs_with_equal_file_names_are_distinguished() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for (name, stick) in [("a", "sim:cheap-usb3-32g"), ("b", "sim:samsung-fit-plus"), ("c", "sim:generic-2g")]
    {
        std::fs::create_dir(folder.path().join(name)).unwrap();
        document(&["bench", "sustained", stick, "-o", &path(&format!("{name}/run.json"))]);
    }
    std::fs::copy(path("a/run.json"), path("other.json")).unwrap();
    std::fs::copy(path("a/run.json"), path("c/run.json")).unwrap();
    std::fs::create_dir_all(folder.path().join("c/a")).unwrap();
    std::fs::copy(path("a/run.json"), path("c/a/run.json")).unwrap();
    let names = |files: &[&str]| -> Vec<String> {
        let files: Vec<String> = files.iter().map(|file| path(file)).collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let compared = document(&[&["report", "compare"][..], &files].concat());
        let compared = compared["compared"].as_array().unwrap().clone();
        compared.iter().map(|device| device["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(
        names(&["a/run.json", "b/run.json", "other.json"]),
        ["run (sim:cheap-usb3-32g)", "run (sim:samsung-fit-plus)", "other"]
    );
    assert_eq!(names(&["a/run.json", "c/run.json"]), ["run (a)", "run (c)"]);
    assert_eq!(names(&["a/run.json", "c/a/run.json"]), ["run (1)", "run (2)"]);
}

#[test]
fn samples_have_the_requested_number_and_size() {
    let result = document(&["bench", "sustained", "sim:generic-2g", "--samples", "20x10MiB"]);
    assert_eq!(
        (&result["cost"]["writes"], &result["cost"]["bytes_written"]),
        (&20.into(), &(200 << 20).into())
    );
    // Fewer than 14 samples give no speed.
    for odd in ["1000", "13x1MiB"] {
        let refused = flashscope(&["bench", "sustained", "sim:generic-2g", "--samples", odd]);
        assert_eq!(refused.status.code(), Some(2));
        assert!(stderr(&refused).contains("from 14") && stderr(&refused).contains("1000x10MiB"), "{odd}");
    }
}

/// The image is too small for either, which is found out after the announcement.
#[test]
fn bench_methods_announces_what_it_writes() {
    let folder = tempfile::tempdir().unwrap();
    let image = image(&folder, 2);
    let run = folder.path().join("run.json");
    let announced = |more: &[&str]| {
        let target = ["bench", "methods", &image, "--erase", "--yes", "-o", run.to_str().unwrap()];
        let output = flashscope(&[&target[..], more].concat());
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        // Without a complete round there is nothing to show or to store.
        assert!(stdout(&output).is_empty() && !run.exists(), "{}", stdout(&output));
        stderr(&output)
    };
    let usual = announced(&[]);
    let cost = "at most 6 rounds of five methods, 64 MiB each (less on a slow stick), \
                at most 1.88 GiB in total; at 10 MB/s a round takes 34 s; after the first";
    assert!(usual.contains(cost), "{usual}");
    let given = announced(&["--size", "4MiB", "--rounds", "1"]);
    let cost =
        "one round of five methods, 4 MiB each, at most 20 MiB in total; at 10 MB/s a round takes 3 s\n";
    assert!(given.contains(cost), "{given}");
}
