//! `flashscope check --class` and `--claimed`.

use serde_json::Value;

use super::{flashscope, image, schema, stderr, stdout};

/// The document and the exit code.
fn class_check(arguments: &[&str]) -> (Value, Option<i32>) {
    let output = flashscope(&[&["check", "--class", "--json"], arguments].concat());
    let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    schema::assert_valid("classes", &document);
    (document["classes"].clone(), output.status.code())
}

/// The verdict on a class, with the reason if it cannot be tested.
fn verdict(classes: &Value, mark: &str) -> String {
    let result = classes["all"].as_array().unwrap().iter().find(|result| result["mark"] == mark).unwrap();
    match result["reason"].as_str() {
        Some(reason) => reason.to_owned(),
        None => result["verdict"].as_str().unwrap().to_owned(),
    }
}

/// The random tests of A1 have their speeds in IOPS as well. A request has 4 KiB.
fn assert_iops(classes: &Value) {
    let a1 = classes["all"].as_array().unwrap().iter().find(|result| result["mark"] == "A1").unwrap();
    let tests = a1["tests"].as_array().unwrap();
    let required: Vec<&Value> = tests.iter().map(|test| &test["required_iops"]).collect();
    assert_eq!(required, [&Value::Null, &Value::from(1500.0_f64), &Value::from(500.0_f64)], "{a1:#}");
    let bytes_of_request =
        |test: &Value| Some(test["measured_bytes_per_s"].as_f64()? / test["measured_iops"].as_f64()?);
    let sizes: Vec<f64> = tests.iter().filter_map(bytes_of_request).collect();
    assert!(!sizes.is_empty() && sizes.iter().all(|size| (size - 4096.0).abs() < 0.001), "{a1:#}");
}

#[test]
fn classes_of_virtual_sticks_follow_their_speeds() {
    let (classes, code) = class_check(&["sim:a1-card-64g"]);
    assert_eq!(code, Some(0));
    let verdicts = ["C10", "U1", "V10", "U3", "V60", "A1", "A2"].map(|mark| verdict(&classes, mark));
    // USB 2 carries at most 42 MB/s, and its commands take part of the 0.85 ms of a read.
    assert_eq!(
        verdicts,
        ["pass", "pass", "pass", "fail", "link", "link_latency", "command_queue"],
        "{classes:#}"
    );
    assert!(classes["units"]["count"].as_u64() > Some(100), "{classes:#}");
    assert_iops(&classes);
    let (classes, code) = class_check(&["sim:generic-2g"]);
    assert_eq!((code, verdict(&classes, "A1").as_str()), (Some(0), "fail"), "{classes:#}");
}

#[test]
fn exit_code_of_class_follows_the_claims() {
    let code = |claimed: &str| {
        let output = flashscope(&[
            "check",
            "sim:generic-2g",
            "--class",
            "--write-budget",
            "256MiB",
            "--claimed",
            claimed,
        ]);
        (output.status.code(), stdout(&output))
    };
    let (failed, text) = code("C10,A1");
    assert_eq!(failed, Some(1), "{text}");
    assert!(text.contains("Claims C10, A1.") && text.contains("fail"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let (untestable, text) = code("V90");
    assert_eq!(untestable, Some(5), "{text}");
    assert!(text.contains("Not testable here: V90"), "{text}");
    let refused = flashscope(&["check", "sim:generic-2g", "--class", "--claimed", "V31"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("a mark (C2 to C10"), "{}", stderr(&refused));
}

#[test]
fn exit_code_of_a_check_follows_the_claims_as_well() {
    let code = |claimed: &[&str]| {
        let output = flashscope(&[&["check", "sim:generic-2g", "--json"], claimed].concat());
        output.status.code()
    };
    assert_eq!(code(&[]), Some(0), "nothing is claimed");
    assert_eq!(code(&["--claimed", "10MB/s"]), Some(0), "it reads at 17 MB/s");
    assert_eq!(code(&["--claimed", "25MB/s"]), Some(1));
    assert_eq!(code(&["--claimed", "V90"]), Some(0), "not testable at this link");
}

#[test]
fn claim_about_reading_is_tested_without_writes() {
    let output = flashscope(&["check", "sim:generic-2g", "--class", "--claimed", "10MB/s"]);
    assert!(stdout(&output).contains("Passes: 10MB/s"), "{}", stdout(&output));
    assert!(stderr(&output).contains("reads only") && !stderr(&output).contains("written"), "{output:?}");
    let of_writes = flashscope(&["check", "sim:generic-2g", "--class", "--claimed", "10MB/s,C2"]);
    assert!(stderr(&of_writes).contains("will be written"), "{}", stderr(&of_writes));
}

#[test]
fn classes_are_not_testable_by_reading_alone() {
    let folder = tempfile::tempdir().unwrap();
    let image = image(&folder, 64);
    let (classes, code) = class_check(&[&image, "--time-budget", "1"]);
    assert_eq!((code, verdict(&classes, "C10").as_str()), (Some(5), "read_only"), "{classes:#}");
}

#[test]
fn failed_claim_stands_on_the_first_screen_within_its_lines() {
    let text = stdout(&flashscope(&["check", "sim:generic-2g", "--claimed", "U3,C2"]));
    assert!(text.contains("Fails its mark U3: sequential write "), "{text}");
    assert!(text.contains("of 30 MB/s in its slowest 4 MiB."), "a class does not ask the mean: {text}");
    let widest = text.lines().map(|line| line.chars().count()).max();
    assert!(text.lines().count() <= 20 && widest <= Some(80), "{text}");
    let output = flashscope(&["check", "sim:generic-2g", "--claimed", "U3", "--json"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let checked: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(checked["classes"]["claimed"][0]["verdict"], "fail", "{checked:#}");
    let details = stdout(&flashscope(&["check", "sim:generic-2g", "--details"]));
    let words = details.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("Marks and classes") && words.contains("check TARGET --class"), "{details}");
}
