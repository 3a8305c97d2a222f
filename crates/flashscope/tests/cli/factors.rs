//! `fs compare --factors` on folders of small recordings.

use std::fs;
use std::path::Path;

use flashscope_device::trace::TraceRecord;
use flashscope_device::{ByteRange, Bytes, Instant, OpKind};
use flashscope_record::TrialOperation;
use flashscope_recording::{Index, Recording};
use serde_json::Value;
use tempfile::TempDir;

use super::filesystems::{compressed, recording};
use super::{document, flashscope, stderr, stdout};

const CAPACITY: Bytes = Bytes::gib(1);
/// The erase block of the stick of these tests.
const ERASE_BLOCK: Bytes = Bytes::mib(4);
const STICK: &str = "sim:transcend-8g";
const ALL: &str = "alignment,stripe,filesystem";

/// The requests of a filesystem. With a stripe it fills whole erase blocks, without one halves of them, and
/// vfat quarters with a write of its table before each. Each round has another length.
fn requests(variant: &str, round: u32) -> Vec<TraceRecord> {
    let (run, first) = match variant {
        "vfat" => (Bytes::mib(1), Bytes::mib(1)),
        "ext4" => (Bytes::mib(2), Bytes::mib(1)),
        _ => (ERASE_BLOCK, Bytes::ZERO),
    };
    let piece = Bytes::kib(64);
    let runs = Bytes::mib(32 + 4 * u64::from(round)) / run;
    let writes = (0..runs).flat_map(|index| {
        let table = (variant == "vfat").then_some((Bytes::kib(32), Bytes::kib(4)));
        let start = Bytes::mib(64) + ERASE_BLOCK * (index * 37 % 101) + first;
        table.into_iter().chain((0..run / piece).map(move |number| (start + piece * number, piece)))
    });
    let writes = writes.map(|(offset, length)| (OpKind::Write, ByteRange::new(offset, length)));
    let flush = (OpKind::Flush, ByteRange::new(Bytes::ZERO, Bytes::ZERO));
    let request = |(at, (kind, range)): (u64, (OpKind, ByteRange))| {
        let (submitted_at, completed_at) =
            (Instant::from_nanos(at * 1000), Instant::from_nanos(at * 1000 + 500));
        TraceRecord { kind, range, submitted_at, completed_at, succeeded: true }
    };
    (0..).zip(writes.chain([flush])).map(request).collect()
}

fn write(folder: &Path, variant: &str, round: u32) -> Recording {
    let requests = requests(variant, round);
    let bytes = compressed(&requests);
    let file = format!("{variant}_{round}.zst");
    fs::write(folder.join(&file), &bytes).unwrap();
    Recording {
        bytes: Bytes::mib(8),
        capacity: CAPACITY,
        erase_block: variant.ends_with("-stripe").then_some(ERASE_BLOCK),
        ..recording(file, variant, TrialOperation::Write, round, requests.len(), &bytes)
    }
}

/// A folder with `rounds` recordings of each of these filesystems.
fn recordings(variants: &[&str], rounds: u32) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let each = variants.iter().flat_map(|variant| (1..=rounds).map(move |round| (*variant, round)));
    let recording = each.map(|(variant, round)| write(folder.path(), variant, round)).collect();
    let index = toml::to_string(&Index { recording }).unwrap();
    fs::write(folder.path().join("recordings.toml"), index).unwrap();
    folder
}

fn usual() -> TempDir {
    recordings(&["vfat", "ext4", "ext4-stripe"], 3)
}

fn arguments<'a>(folder: &'a TempDir, factors: &'a str, further: &[&'a str]) -> Vec<&'a str> {
    let folder = folder.path().to_str().unwrap();
    let first = ["fs", "compare", STICK, "--recordings", folder, "--factors", factors];
    [&first[..], further].concat()
}

/// The effect of this kind of these factors.
fn effect<'a>(document: &'a Value, kind: &str, factors: &[&str]) -> &'a Value {
    let effects = document["experiments"][0]["effects"].as_array().unwrap();
    let named = |effect: &&Value| -> bool {
        let changes = effect["changes"].as_array().unwrap();
        effect["kind"] == kind
            && changes.iter().map(|change| change["factor"].as_str().unwrap()).eq(factors.iter().copied())
    };
    effects.iter().find(named).unwrap()
}

#[test]
fn three_factors_have_all_effects_whose_cells_exist() {
    let folder = usual();
    let document = document(&arguments(&folder, ALL, &[]));
    let [experiment] = document["experiments"].as_array().unwrap().as_slice() else { panic!("{document}") };
    assert_eq!((&experiment["workload"], &experiment["operation"]), (&"small".into(), &"write".into()));
    assert_eq!((&experiment["rounds"], document["trials"].as_array().unwrap().len()), (&3.into(), 18));
    let nested = effect(&document, "interaction", &["stripe", "filesystem"]);
    assert_eq!(nested["unknown"], "no-cells");
    let known = experiment["effects"].as_array().unwrap().iter().filter(|effect| !effect["ratio"].is_null());
    assert_eq!(known.count(), 11);
    let main = effect(&document, "main", &["filesystem"]);
    assert_eq!(main["with"][1]["levels"], serde_json::json!(["none"]), "{main}");
    assert!(main["low"].as_f64().unwrap() > 1.5, "vfat leaves twice as many parts of erase blocks: {main}");
    let both = effect(&document, "both", &["alignment", "stripe"]);
    assert!(both["low"].as_f64().unwrap() > 1.5, "{both}");
    let stripe = effect(&document, "alone", &["stripe", "alignment"]);
    assert!(both["low"].as_f64().unwrap() > stripe["high"].as_f64().unwrap(), "{stripe} {both}");
}

#[test]
fn ratio_is_that_of_the_times() {
    let folder = usual();
    let document = document(&arguments(&folder, ALL, &[]));
    let mean_log = |variant: &str, start: u64| {
        let trials = document["trials"].as_array().unwrap().iter();
        let of = trials.filter(|trial| trial["variant"] == variant && trial["start"] == start);
        of.map(|trial| trial["seconds"].as_f64().unwrap().ln()).sum::<f64>() / 3.0
    };
    let expected = (mean_log("ext4", 63 * 512) - mean_log("ext4-stripe", ERASE_BLOCK.get())).exp();
    let found = effect(&document, "both", &["alignment", "stripe"])["ratio"].as_f64().unwrap();
    assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
}

#[test]
fn text_and_page_give_the_answer() {
    let folder = usual();
    let page = folder.path().join("page.html");
    let output = flashscope(&arguments(&folder, ALL, &["-o", page.to_str().unwrap()]));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("small, write Alignment alone ") && words.contains("; vfat to ext4 "), "{text}");
    assert!(text.contains(" alignment × stripe "), "{text}");
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("Alignment alone ") && page.contains("<svg"));
    assert_eq!(stdout(&flashscope(&arguments(&folder, ALL, &[]))), text, "the same answer every time");
}

#[test]
fn pair_of_filesystems_is_chosen_with_the_factor() {
    let folder = recordings(&["vfat", "ext4"], 2);
    let output = flashscope(&arguments(&folder, "filesystem=ext4:vfat", &[]));
    assert!(stdout(&output).contains("\nExt4 to vfat 0."), "{}", stdout(&output));
}

#[test]
fn one_recording_of_each_is_too_few() {
    let folder = recordings(&["ext4", "ext4-stripe"], 1);
    let output = flashscope(&arguments(&folder, "alignment,stripe", &[]));
    let text = stdout(&output);
    assert!(text.contains("unknown (too few rounds)"), "{text}");
    let lines = text.lines().filter(|line| line.starts_with(' ') && line.contains("x  "));
    assert_eq!(lines.count(), 0, "no ratio without an interval: {text}");
}

#[test]
fn factors_without_recordings_or_sense_are_refused() {
    let folder = recordings(&["vfat", "ext4"], 2);
    let refused = |factors: &str, further: &[&str], words: &str| {
        let output = flashscope(&arguments(&folder, factors, further));
        assert_eq!(output.status.code(), Some(2), "{factors} {further:?}");
        assert!(stderr(&output).contains(words), "{factors}: {}", stderr(&output));
    };
    refused(ALL, &[], "with a stripe");
    refused("alignment,alignment", &[], "named twice");
    refused("filesystem,filesystem=ext4:vfat", &[], "named twice");
    refused("filesystem", &["--filesystems", "ext4"], "without --filesystems");
    refused("alignment", &["--filesystems", "ext4,vfat"], "must name one only");
    refused("alignment", &["--partition-start", "1MiB"], "not on an erase block");
    refused("alignment", &["--filesystems", "nilfs2"], "nilfs2");
    refused("filesystem=vfat:ntfs", &[], "ntfs");
    refused("size", &[], "alignment, stripe, filesystem");
}
