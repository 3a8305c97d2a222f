//! `whatif` on virtual sticks and run files, with small recordings in a folder.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use super::bad_input::assert_refused;
use super::filesystems::recordings;
use super::{document, flashscope, image, schema, stderr, stdout};

/// The arguments of a prediction with the recordings in `folder`.
fn whatif<'a>(folder: &'a TempDir, target: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["whatif", target, "--recordings", folder.path().to_str().unwrap()], more].concat()
}

/// A file in `folder`.
fn path(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).to_str().unwrap().to_owned()
}

/// The run file of a check.
fn run_file(folder: &TempDir, target: &str) -> String {
    let file = path(folder, "run.json");
    let output = flashscope(&["check", target, "-q", "-o", &file]);
    assert!(Path::new(&file).exists(), "{}", stderr(&output));
    file
}

fn read(file: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

#[test]
fn best_layout_of_a_virtual_stick_gains_and_is_the_same_every_time() {
    let folder = recordings();
    let arguments = whatif(&folder, "sim:transcend-8g", &[]);
    let predicted = document(&arguments);
    assert_eq!(predicted, document(&arguments));
    assert_eq!(predicted["baseline"], serde_json::json!({ "variant": "vfat", "start": 63 * 512 }));
    assert_eq!(predicted["baseline_is_present"], false);
    assert_eq!(predicted["twin"]["erase_block"], 4 << 20);
    let [best] = predicted["best"].as_array().unwrap().as_slice() else { panic!("{predicted}") };
    assert_eq!((&best["layout"]["variant"], &best["is_shown"]), (&"ext4".into(), &true.into()));
    let gain = |end: &str| best["gain"][end].as_f64().unwrap();
    assert!(1.0 < gain("low") && gain("low") < gain("ratio") && gain("ratio") < gain("high"), "{best}");
    // Two filesystems at three places, written and read.
    let predictions = predicted["predictions"].as_array().unwrap();
    assert_eq!(predictions.len(), 12);
    for each in predictions {
        let [low, seconds, high] = ["low", "seconds", "high"].map(|end| each[end].as_f64().unwrap());
        assert!(low < seconds && seconds < high, "{each}");
    }
    let own = predictions.iter().find(|each| each["layout"] == predicted["baseline"]).unwrap();
    assert_eq!((&own["gain"]["ratio"], &own["gain"]["low"]), (&1.0.into(), &1.0.into()));
}

#[test]
fn run_file_gives_the_same_answer_as_its_stick() {
    let folder = recordings();
    let run = run_file(&folder, "sim:transcend-8g");
    let [of_run, of_stick] =
        [run.as_str(), "sim:transcend-8g"].map(|target| document(&whatif(&folder, target, &[])));
    assert_eq!(of_run["predictions"], of_stick["predictions"]);
}

#[test]
fn present_layout_of_a_run_file_is_the_baseline() {
    let folder = recordings();
    let run = run_file(&folder, "sim:transcend-8g");
    let mut changed = read(&run);
    let volume = |filesystem: &str| serde_json::json!([{ "name": "sdb1", "start": 2 << 20, "size": 1 << 30, "filesystem": filesystem }]);
    changed["attachment"]["volumes"] = volume("ext4");
    changed["device_name"] = "a stick of 8 GB".into();
    fs::write(&run, changed.to_string()).unwrap();
    let predicted = document(&whatif(&folder, &run, &["--filesystems", "vfat"]));
    assert_eq!(predicted["device"], "a stick of 8 GB");
    assert_eq!(predicted["baseline"], serde_json::json!({ "variant": "ext4", "start": 2 << 20 }));
    assert_eq!(predicted["baseline_is_present"], true);
    let screen = stdout(&flashscope(&whatif(&folder, &run, &[])));
    assert!(screen.contains("Now: ext4 at 2 MiB."), "{screen}");
    changed["attachment"]["volumes"] = volume("jfs");
    changed["device_name"] = "".into();
    fs::write(&run, changed.to_string()).unwrap();
    let predicted = document(&whatif(&folder, &run, &[]));
    assert_eq!(predicted["device"], "sim:transcend-8g", "without a name, what was measured");
    assert_eq!(
        (&predicted["baseline"]["variant"], &predicted["baseline_is_present"]),
        (&"vfat".into(), &false.into())
    );
    assert!(predicted["notes"].to_string().contains("(jfs) was not recorded"), "{predicted}");
}

#[test]
fn report_advises_ext4_with_its_predicted_gain_where_small_files_are_slow() {
    let folder = recordings();
    let run = run_file(&folder, "sim:transcend-8g");
    let mut changed = read(&run);
    let actions = |changed: &Value| {
        fs::write(&run, changed.to_string()).unwrap();
        let actions = document(&["report", &run])["verdict"]["actions"].take();
        actions.as_array().unwrap().clone()
    };
    let with_id = |actions: Vec<Value>, id: &str| actions.into_iter().find(|action| action["id"] == id);
    assert_eq!(with_id(actions(&changed), "use_ext4"), None, "the present filesystem is not known");
    let volume = |filesystem: &str| serde_json::json!([{ "name": "sdb1", "start": 63 * 512, "size": 1 << 30, "filesystem": filesystem }]);
    changed["target"] = "/dev/sdb".into();
    changed["attachment"]["volumes"] = volume("vfat");
    let advised = with_id(actions(&changed), "use_ext4").unwrap();
    let of = |end: &str| advised["gain"][end].as_f64().unwrap();
    assert!(of("low") > 1.0 && of("likely") > 2.0, "{advised}");
    assert_eq!(advised["scope"], "small_files");
    assert_eq!(advised["commands"][0], "sudo flashscope plan /dev/sdb --for linux-data -o plan.json");
    changed["attachment"]["volumes"] = volume("ext4");
    assert_eq!(with_id(actions(&changed), "use_ext4"), None, "it has ext4");
}

#[test]
fn text_has_one_screen_and_details_have_every_layout() {
    let folder = recordings();
    let screen = stdout(&flashscope(&whatif(&folder, "transcend-8g", &[])));
    let fits = screen.lines().count() <= 24 && screen.lines().all(|line| line.chars().count() <= 80);
    assert!(fits, "{screen}");
    for part in ["Taken as sold: vfat at sector 63.", "ext4 at", "times as fast (", "--details"] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    let details = stdout(&flashscope(&whatif(&folder, "transcend-8g", &["--details"])));
    for part in ["small, read", "vfat at 4 MiB", "95 % interval", "worn stick"] {
        assert!(details.contains(part), "{part}: {details}");
    }
}

#[test]
fn page_and_document_are_written() {
    let folder = recordings();
    let [page, json] = ["page.html", "predicted.json"].map(|name| path(&folder, name));
    let output = flashscope(&whatif(&folder, "sim:transcend-8g", &["-o", &page, "-o", &json]));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("vfat at sector 63") && page.contains("times as fast"), "{page}");
    schema::assert_valid("whatif", &read(&json));
}

#[test]
fn runs_without_a_twin_are_refused_with_the_reason() {
    let folder = recordings();
    let run = run_file(&folder, "sim:transcend-8g");
    let mut unknown = read(&run);
    let kind = |seen: &Value| seen.to_string().contains("\"samples\"");
    unknown["observations"].as_array_mut().unwrap().retain(|seen| !kind(seen));
    fs::write(&run, unknown.to_string()).unwrap();
    assert_refused(&whatif(&folder, &run, &[]), 2, &["erase block", "not known"]);
    let mut later = read(&run);
    later["format"] = 99.into();
    fs::write(&run, later.to_string()).unwrap();
    assert_refused(&whatif(&folder, &run, &[]), 2, &["format 99", "newer flashscope"]);
    fs::write(&run, "{ \"format\": 1 }").unwrap();
    assert_refused(&whatif(&folder, &run, &[]), 2, &["not a flashscope run file"]);
    let stick = image(&folder, 64);
    let reads = path(&folder, "reads.json");
    flashscope(&["check", &stick, "-q", "-o", &reads]);
    assert_refused(&whatif(&folder, &reads, &[]), 2, &["no small writes", "--scratch -o run.json"]);
    let counterfeit = run_file(&folder, "sim:counterfeit-128g-limbo");
    assert_refused(&whatif(&folder, &counterfeit, &[]), 2, &["the stick says 117 GiB and stores 15 GiB"]);
}

#[test]
fn targets_that_only_allow_reads_name_the_command_that_makes_a_run_file() {
    let folder = recordings();
    let directory = folder.path().to_str().unwrap();
    assert_refused(&whatif(&folder, directory, &[]), 2, &[&format!("check {directory} -o run.json")]);
    let stick = image(&folder, 64);
    // An image may be of a stick, but is none.
    assert_refused(&whatif(&folder, &stick, &[]), 2, &["check /dev/sdX --scratch -o run.json"]);
    assert_refused(&whatif(&folder, "/nonexistent", &[]), 2, &["cannot read /nonexistent"]);
}

#[test]
fn wrong_wishes_and_small_sticks_are_refused() {
    let folder = recordings();
    let refused = |target: &str, more: &[&str], says: &[&str]| {
        assert_refused(&whatif(&folder, target, more), 2, says);
    };
    refused("sim:generic-2g", &["--filesystems", "zfs"], &["ext4, vfat"]);
    refused("sim:generic-2g", &["--workloads", "tree"], &["no recordings of these"]);
    refused("sim:generic-2g?capacity=256MiB", &[], &["holds 256 MiB", "512"]);
    refused("sim:generic-2g", &["-o", "page.txt"], &[".html"]);
    assert_refused(&["whatif", "sim:generic-2g", "--recordings", "/nonexistent"], 2, &["recordings.toml"]);
}

#[test]
fn plan_with_a_run_predicts_its_gain_over_the_present_filesystem() {
    let folder = TempDir::new().unwrap();
    let run = run_file(&folder, "sim:transcend-8g");
    let arguments = ["plan", "sim:transcend-8g", "--for", "linux-data", "--seed", "1", "--run", &run];
    assert_eq!(document(&arguments).get("predicted"), None, "nothing is on the stick");
    let mut changed = read(&run);
    changed["attachment"]["volumes"] =
        serde_json::json!([{ "name": "sdb1", "start": 63 * 512, "size": 1 << 30, "filesystem": "vfat" }]);
    fs::write(&run, changed.to_string()).unwrap();
    let predicted = document(&arguments)["predicted"].clone();
    assert_eq!(
        (&predicted["now"], &predicted["now_start"]),
        (&serde_json::json!("vfat"), &serde_json::json!(63 * 512))
    );
    // Replayed on the stick itself: 5.0 times.
    let [low, likely, high] = ["low", "likely", "high"].map(|end| predicted["gain"][end].as_f64().unwrap());
    assert!(1.0 < low && low < likely && likely < high && (low..high).contains(&5.0), "{predicted}");
    let text = stdout(&flashscope(&arguments));
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Predicted: the 33,000 files"), "{text}");
    assert!(text.contains("as with the present vfat at 31.5 KiB."), "{text}");
    let without_journal = [arguments.as_slice(), &["--no-journal"]].concat();
    assert_eq!(document(&without_journal).get("predicted"), None, "not recorded as it is planned");
}
