//! `sim replay`: traces on virtual sticks, and invalid traces.

use std::fs;
use std::path::PathBuf;

use flashscope_device::layer::{Trace, TraceFile};
use flashscope_device::trace::{ClockKind, TraceHeader, TraceWriter};
use flashscope_device::{ByteRange, Bytes, Device, DeviceExt, Op, Pattern};
use flashscope_sim::target;
use tempfile::TempDir;

use super::bad_input::assert_refused;
use super::{document, flashscope, flashscope_reading, stderr, stdout};

/// Sequential writes, then reads, a pause of a second between them, on the virtual stick that `text` names.
fn trace(folder: &TempDir, text: &str) -> PathBuf {
    let stick = target::open(text).unwrap();
    let header = TraceHeader {
        capabilities: stick.capabilities(),
        clock: ClockKind::Virtual,
        seed: Some(1),
        label: format!("\u{1b}[31m{text}"),
        profile: String::new(),
    };
    let sink = TraceFile::new(TraceWriter::new(Vec::new(), &header).unwrap());
    let mut device = Trace::into_sink(stick, sink);
    let range = |index: u64, kib: u64| ByteRange::new(Bytes::kib(index * kib), Bytes::kib(kib));
    for index in 0..256 {
        device.run(Op::write(range(index, 64), Pattern::new(1))).unwrap();
    }
    device.run(Op::Flush).unwrap();
    device.pause(std::time::Duration::from_secs(1)).unwrap();
    for index in 0..64 {
        device.run(Op::read(range(index * 37 % 64, 4))).unwrap();
    }
    let path = folder.path().join("stick.trace");
    fs::write(&path, device.into_inner().1.finish().unwrap()).unwrap();
    path
}

#[test]
fn replay_on_the_recorded_stick_takes_the_same_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = trace(&folder, "patriot-xt-16g?noise=0");
    let path = path.to_str().unwrap();
    let same = document(&["sim", "replay", path, "sim:patriot-xt-16g?noise=0"]);
    assert_eq!(same["trace"]["requests"], 321);
    assert_eq!(same["recorded"], same["replayed"]);
    assert_eq!(same["replayed"]["bytes"], 256 * 65_536 + 64 * 4096);
    assert!(same["inside"]["write_amplification"].as_f64().unwrap() >= 1.0);
    // The pause of 1 s is idle time, which is left out.
    let fast = document(&["sim", "replay", path, "patriot-xt-16g?noise=0", "--as-fast-as-possible"]);
    let time = |document: &serde_json::Value| document["replayed"]["time_ns"].as_u64().unwrap();
    assert_eq!(time(&same) - time(&fast), 1_000_000_000);
}

#[test]
fn replay_on_another_stick_shows_both_latencies() {
    let folder = tempfile::tempdir().unwrap();
    let path = trace(&folder, "patriot-xt-16g");
    let path = path.to_str().unwrap();
    let other = document(&["sim", "replay", path, "generic-2g", "--seed", "5", "--queue-depth", "1"]);
    assert_eq!((&other["stick"]["name"], &other["stick"]["seed"]), (&"generic-2g".into(), &5.into()));
    assert!(other["replayed"]["time_ns"].as_u64() > other["recorded"]["time_ns"].as_u64());
    for kind in ["read", "write", "flush"] {
        let figures = &other["replayed"]["kinds"][kind];
        assert!(figures["p50_ns"].as_u64() <= figures["p99_ns"].as_u64(), "{figures}");
    }
    let output = flashscope(&["sim", "replay", path, "generic-2g"]);
    let text = stdout(&output);
    for says in [
        "321 requests",
        "recorded",
        "replayed",
        "p99.9",
        "merges",
        "write amplification",
        "Latency of a write",
        "█",
    ] {
        assert!(text.contains(says), "no '{says}' in {text}");
    }
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn replay_writes_every_latency_as_csv() {
    let folder = tempfile::tempdir().unwrap();
    let path = trace(&folder, "generic-2g");
    let table = folder.path().join("latencies.csv");
    let arguments = ["sim", "replay", path.to_str().unwrap(), "generic-2g", "-o", table.to_str().unwrap()];
    assert_eq!(flashscope(&arguments).status.code(), Some(0));
    let text = fs::read_to_string(&table).unwrap();
    assert_eq!(text.lines().count(), 322);
    let first: Vec<&str> = text.lines().nth(1).unwrap().split(',').collect();
    assert_eq!((first[0], first[1], first[2], first[5], first[7]), ("write", "0", "65536", "true", "true"));
    assert_eq!(first[4], first[6]);
}

#[test]
fn truncated_trace_is_replayed_up_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = fs::read(trace(&folder, "generic-2g")).unwrap();
    let output = flashscope_reading(&["sim", "replay", "-", "generic-2g"], &bytes[..bytes.len() / 2]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("was cut off after"), "{}", stderr(&output));
}

#[test]
fn invalid_traces_exit_with_2() {
    let folder = tempfile::tempdir().unwrap();
    let path = trace(&folder, "generic-2g");
    let path = path.to_str().unwrap();
    assert_refused(&["sim", "replay", "/nowhere.trace", "generic-2g"], 2, &["/nowhere.trace"]);
    assert_refused(&["sim", "replay", path, "generic"], 2, &["generic-2g"]);
    let small = ["sim", "replay", path, "generic-2g?capacity=8MiB"];
    assert_refused(&small, 2, &["16 MiB", "8 MiB", "?capacity=1GiB"]);
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x40;
    fs::write(path, &bytes).unwrap();
    assert_refused(&["sim", "replay", path, "generic-2g"], 2, &["damaged at byte"]);
    fs::write(path, "a text").unwrap();
    assert_refused(&["sim", "replay", path, "generic-2g"], 2, &["not a flashscope trace"]);
}

#[test]
fn faults_of_a_target_are_named_and_occur() {
    let output = flashscope(&["check", "sim:generic-2g?fault=unplug:after=40"]);
    let text = stdout(&output) + &stderr(&output);
    assert!(text.contains("unplug:after=40") && text.contains("vanished"), "{text}");
    let late = stdout(&flashscope(&["check", "sim:generic-2g?fault=unplug:after=3000"]));
    assert!(late.contains("The device failed or vanished: only a part was measured."), "{late}");
    assert_refused(&["check", "sim:generic-2g?fault=melt:now=1"], 2, &["melt", "wrap, limbo"]);
    assert_refused(&["check", "sim:generic-2g?fault=wrap:real=4GiB"], 2, &["real=4GiB is more than"]);
    let folder = tempfile::tempdir().unwrap();
    let profile = folder.path().join("fake.toml");
    let good = stdout(&flashscope(&["sim", "show", "generic-2g"]));
    fs::write(&profile, format!("fault = [\"read-errors:share=1\"]\n{good}")).unwrap();
    let output = flashscope(&["check", &format!("sim:{}", profile.display())]);
    assert!(stderr(&output).contains("read-errors:share=1"), "{}", stderr(&output));
    assert_eq!(output.status.code(), Some(3));
    fs::write(&profile, format!("fault = [\"wrap:real=-1\"]\n{good}")).unwrap();
    assert_refused(&["check", &format!("sim:{}", profile.display())], 2, &["'-1' is not a value for real"]);
}
