//! `fs compare` on virtual sticks, with small recordings in a folder.

use std::fs;

use flashscope_device::memory::MemoryDevice;
use flashscope_device::trace::{ClockKind, TraceHeader, TraceRecord, TraceWriter};
use flashscope_device::{ByteRange, Bytes, Checksum, Device, Instant, OpKind};
use flashscope_record::{TrialOperation, TrialWorkload, Writeback};
use flashscope_recording::{Index, Recording};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::Value;
use tempfile::TempDir;

use super::bad_input::assert_refused;
use super::{document, flashscope, schema, stderr, stdout};

/// Recordings of two filesystems, three rounds each: `ext4` writes sequentially and `vfat` scattered.
pub fn recordings() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut index = Index::default();
    for round in 1..=3 {
        for (variant, stride_kib, length_kib, count) in
            [("ext4", 64, 64, 32 + u64::from(round)), ("vfat", 1028, 4, 190 + u64::from(round))]
        {
            let requests = |kind| -> Vec<(OpKind, u64, u64)> {
                let range = |at: u64| (kind, at * stride_kib, length_kib);
                (0..count).map(range).chain([(OpKind::Flush, 0, 0)]).collect()
            };
            for (operation, kind) in
                [(TrialOperation::Write, OpKind::Write), (TrialOperation::Read, OpKind::Read)]
            {
                let file = format!("{variant}-{}-{round}.zst", operation.name());
                let requests = requests(kind);
                let bytes = compressed(&records(&requests));
                fs::write(folder.path().join(&file), &bytes).unwrap();
                index.recording.push(recording(file, variant, operation, round, requests.len(), &bytes));
            }
        }
    }
    fs::write(folder.path().join("recordings.toml"), toml::to_string(&index).unwrap()).unwrap();
    folder
}

/// Requests that take no time, given by kind, offset and length in KiB.
fn records(requests: &[(OpKind, u64, u64)]) -> Vec<TraceRecord> {
    let record = |(index, (kind, offset, length)): (u64, &(OpKind, u64, u64))| {
        let at = Instant::from_nanos(index * 1000);
        let range = ByteRange::new(Bytes::kib(*offset), Bytes::kib(*length));
        TraceRecord { kind: *kind, range, submitted_at: at, completed_at: at, succeeded: true }
    };
    (0..).zip(requests).map(record).collect()
}

/// The file of a recording of these requests.
pub fn compressed(records: &[TraceRecord]) -> Vec<u8> {
    let header = TraceHeader {
        capabilities: MemoryDevice::new(Bytes::mib(1)).capabilities(),
        clock: ClockKind::Virtual,
        seed: None,
        label: "recorded".to_owned(),
        profile: String::new(),
    };
    let mut writer = TraceWriter::new(Vec::new(), &header).unwrap();
    records.iter().for_each(|record| writer.write(record).unwrap());
    compress_to_vec(writer.finish().unwrap().as_slice(), CompressionLevel::Fastest)
}

/// The entry of a file in the index.
pub fn recording(
    file: String,
    variant: &str,
    operation: TrialOperation,
    round: u32,
    requests: usize,
    bytes: &[u8],
) -> Recording {
    Recording {
        file,
        variant: variant.to_owned(),
        workload: TrialWorkload::Small,
        operation,
        writeback: Writeback::Late,
        round,
        files: 2000,
        bytes: Bytes::mib(2),
        capacity: Bytes::mib(512),
        erase_block: (variant == "ext4").then_some(Bytes::mib(4)),
        request_max: Bytes::kib(120),
        mkfs: format!("mkfs.{variant}"),
        mount: "rw".to_owned(),
        memory: Bytes::gib(2),
        kernel: "6.1.0-test".to_owned(),
        tool: "mkfs 1".to_owned(),
        requests: requests as u64,
        size: Bytes::new(bytes.len() as u64),
        checksum: format!("{:016x}", Checksum::of(bytes)),
    }
}

/// The arguments of a comparison with the recordings in `folder`.
fn compare<'a>(folder: &'a TempDir, target: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let path = folder.path().to_str().unwrap();
    [&["fs", "compare", target, "--recordings", path], more].concat()
}

fn time<'a>(document: &'a Value, variant: &str, operation: &str) -> &'a Value {
    let times = document["times"].as_array().unwrap();
    times.iter().find(|each| each["variant"] == variant && each["operation"] == operation).unwrap()
}

#[test]
fn scattered_writes_are_slower_and_the_same_every_time() {
    let folder = recordings();
    let arguments = compare(&folder, "sim:generic-2g", &[]);
    let compared = document(&arguments);
    assert_eq!(compared, document(&arguments));
    let [ext4, vfat] = ["ext4", "vfat"].map(|variant| time(&compared, variant, "write"));
    assert_eq!((ext4["trials"].as_u64(), compared["trials"].as_array().unwrap().len()), (Some(3), 12));
    assert!(ext4["high"].as_f64() < vfat["low"].as_f64(), "{ext4} {vfat}");
    let [recommendation] = compared["recommendations"].as_array().unwrap().as_slice() else { panic!() };
    assert_eq!((&recommendation["fastest"], &recommendation["baseline"]), (&"ext4".into(), &"vfat".into()));
    assert!(recommendation["gain"]["low"].as_f64().unwrap() > 1.5, "{recommendation}");
    assert_eq!(compared["source"]["kernels"], serde_json::json!(["6.1.0-test"]));
    assert!(compared["notes"][0].as_str().unwrap().contains("erase blocks of 4 MiB"), "{compared}");
}

#[test]
fn text_has_one_screen_and_details_have_charts_and_conditions() {
    let folder = recordings();
    let screen = stdout(&flashscope(&compare(&folder, "generic-2g", &[])));
    assert!(screen.starts_with("Small files: take ext4. It writes in "), "{screen}");
    assert!(
        screen.lines().count() <= 24 && screen.lines().all(|line| line.chars().count() <= 80),
        "{screen}"
    );
    assert!(screen.contains("times as fast as vfat") && screen.contains("--details"), "{screen}");
    let details = stdout(&flashscope(&compare(&folder, "generic-2g", &["--details"])));
    for part in
        ["Small files, write", "█", "Not in the intervals", "late and early were not both", "6.1.0-test"]
    {
        assert!(details.contains(part), "{part}: {details}");
    }
}

#[test]
fn page_and_document_are_written() {
    let folder = recordings();
    let [page, json] = ["page.html", "compared.json"].map(|name| folder.path().join(name));
    let output = flashscope(&compare(
        &folder,
        "sim:generic-2g",
        &["-o", page.to_str().unwrap(), "-o", json.to_str().unwrap()],
    ));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("<svg") && page.contains("class=\"interval\"") && page.contains("vfat"), "{page}");
    let document: Value = serde_json::from_str(&fs::read_to_string(json).unwrap()).unwrap();
    schema::assert_valid("fs-compare", &document);
}

#[test]
fn options_select_what_is_replayed() {
    let folder = recordings();
    let of = |more: &[&str]| document(&compare(&folder, "sim:transcend-8g?noise=0", more));
    let one = of(&["--filesystems", "ext4", "--workloads", "small", "--rounds", "2"]);
    assert_eq!(one["trials"].as_array().unwrap().len(), 4);
    assert_eq!(one["recommendations"][0]["baseline"], Value::Null);
    assert_eq!(one["start"], 4 << 20);
    let misaligned = of(&["--filesystems", "ext4", "--partition-start", "63s"]);
    assert_eq!(misaligned["start"], 63 * 512);
    let seeds = [of(&["--seed", "7"]), of(&[])].map(|document| document["seed"].as_u64().unwrap());
    assert_eq!(seeds, [7, 1]);
}

#[test]
fn wrong_wishes_are_refused_with_what_there_is() {
    let folder = recordings();
    assert_refused(
        &compare(&folder, "sim:generic-2g", &["--filesystems", "ext5"]),
        2,
        &["did you mean ext4"],
    );
    assert_refused(&compare(&folder, "sim:generic-2g", &["--filesystems", "zfs"]), 2, &["ext4, vfat"]);
    assert_refused(
        &compare(&folder, "sim:generic-2g", &["--workloads", "tree"]),
        2,
        &["no recordings of these"],
    );
    assert_refused(&compare(&folder, "sim:generic-2g", &["--workloads", "huge"]), 2, &["tree, large, small"]);
    assert_refused(&compare(&folder, "sim:generic-2g", &["--partition-start", "1000"]), 2, &["63s"]);
    assert_refused(&compare(&folder, "sim:generic-2g", &["--rounds", "0"]), 2, &["1..=100"]);
    assert_refused(&compare(&folder, "sim:generic-2g?capacity=512MiB", &[]), 2, &["?capacity=1GiB"]);
    let fake = ["stores less than it says", "verify sim:counterfeit-64g-wrap"];
    for more in [&[][..], &["--factors", "filesystem"]] {
        assert_refused(&compare(&folder, "sim:counterfeit-64g-wrap", more), 2, &fake);
    }
    assert_refused(&compare(&folder, "/dev/null", &[]), 2, &["/dev/null"]);
    assert_refused(
        &["fs", "compare", "sim:generic-2g", "--recordings", "/nonexistent"],
        2,
        &["recordings.toml"],
    );
}

#[test]
fn changed_recording_is_refused_by_name() {
    let folder = recordings();
    let file = folder.path().join("vfat-write-2.zst");
    let mut bytes = fs::read(&file).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&file, &bytes).unwrap();
    assert_refused(&compare(&folder, "sim:generic-2g", &[]), 2, &["vfat-write-2.zst is damaged"]);
    fs::write(&file, &bytes[1..]).unwrap();
    assert_refused(&compare(&folder, "sim:generic-2g", &[]), 2, &["cut off or replaced"]);
    fs::remove_file(&file).unwrap();
    assert_refused(&compare(&folder, "sim:generic-2g", &[]), 2, &["cannot be read"]);
}

#[test]
fn stick_that_fails_in_the_middle_keeps_what_was_measured() {
    let folder = recordings();
    let output = flashscope(&compare(&folder, "sim:generic-2g?fault=unplug:after=100", &["--json"]));
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    schema::assert_valid("fs-compare", &document);
    // 34 requests each of ext4's write and read; vfat's write has 192.
    assert_eq!(document["trials"].as_array().unwrap().len(), 6, "{document}");
    let failures = document["failures"].as_array().unwrap();
    assert_eq!(failures.len(), 3);
    assert!(failures[0].as_str().unwrap().contains("vfat"), "{}", failures[0]);
    assert!(stderr(&output).contains("failed: small on vfat"), "{}", stderr(&output));
    let nothing = flashscope(&compare(&folder, "sim:generic-2g?fault=unplug:after=5", &[]));
    assert_eq!(nothing.status.code(), Some(3));
    assert!(stdout(&nothing).starts_with("No trial was completed."), "{}", stdout(&nothing));
}

#[test]
fn only_an_interrupted_comparison_is_called_interrupted() {
    let folder = recordings();
    for (stick, code) in [("sim:generic-2g", 0), ("sim:generic-2g?fault=unplug:after=100", 3)] {
        let output = flashscope(&compare(&folder, stick, &[]));
        let messages = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{messages}");
        assert!(!messages.contains("interrupted"), "{stick} ran to its end: {messages}");
    }
}
