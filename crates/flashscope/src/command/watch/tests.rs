//! The screen, the text and the document, from canned samples.

use std::path::Path;
use std::time::Duration;

use flashscope_device::{Bytes, Instant};
use flashscope_infer::activity::UnplugEstimate;
use flashscope_linux::activity::DiskSample;
use flashscope_linux::{Disk, Roots, list};
use flashscope_record::activity::{
    BoundReason, Counters, PendingWrites, Process, Processes, Sample, Snapshot,
};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::watched::Watched;
use super::{drawing, facts, picture};
use crate::document::WatchDocument;
use crate::text::activity as text;

fn stick() -> Disk {
    let copy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/sysfs/desktop");
    list(&Roots::copy(&copy)).unwrap().disks.into_iter().find(|disk| disk.name == "sdb").unwrap()
}

/// A sample after `seconds` and `writes` writes of 128 KiB, 16 ms each.
fn sample(seconds: u64, writes: u64, pending: PendingWrites) -> DiskSample {
    let line =
        format!("5 0 40 10 {writes} 0 {} {} 1 {} {}", writes * 256, writes * 16, seconds * 990, writes * 20);
    let process = |pid: u32, name: &str, written_bytes: Option<u64>| Process {
        pid,
        name: name.to_owned(),
        files: 2,
        files_to_write: 1,
        written_bytes,
    };
    let seen = vec![process(812, "file manager", None), process(4711, "cp", Some(writes << 17))];
    let processes = Processes { seen, hidden: 7 };
    let at = Instant::ZERO + Duration::from_secs(seconds);
    let snapshot = Snapshot { at, counters: Counters::parse(&line).unwrap(), pending, sequence: Some(7) };
    DiskSample { sample: Sample { snapshot, processes }, mounts: Vec::new() }
}

const fn counted(mebibytes: u64) -> PendingWrites {
    PendingWrites::Counted { dirty: Bytes::mib(mebibytes), writeback: Bytes::mib(1), error: Bytes::kib(128) }
}

/// A stick to which `cp` writes for seven seconds; one of them completes no request.
fn at_work(last: PendingWrites) -> Watched {
    let mut one = Watched::from_sample(stick(), sample(0, 0, counted(400)));
    let writes = [60, 120, 190, 190, 240, 300];
    for (second, writes) in (1..).zip(writes) {
        one.take(sample(second, writes, counted(400)));
    }
    one.take(sample(7, 360, last));
    one
}

fn drawn(watched: &[Watched], columns: u16, rows: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal.draw(|frame| picture::draw(frame, watched, 0, false)).unwrap();
    terminal.backend().to_string()
}

/// A stick to which `cp` has written for more than a minute, sampled ten times a second: 120 KiB writes at
/// queue depth 16, and two stalls.
fn copying() -> Watched {
    let is_stalled = |tenth: u64| (203..212).contains(&tenth) || (561..569).contains(&tenth);
    let mut one = Watched::from_sample(stick(), sample(0, 0, counted(724)));
    let mut writes = 0;
    for tenth in 1..=740 {
        writes += if is_stalled(tenth) { 0 } else { 5 + (tenth * tenth / 7 + tenth / 40) % 4 };
        let mut next = sample(0, writes, counted(723 - writes * 120 / 1024));
        let stat = format!(
            "5 0 40 10 {writes} 0 {} {} 1 {} {}",
            writes * 240,
            writes * 240,
            tenth * 100,
            writes * 240
        );
        next.sample.snapshot.at = Instant::ZERO + Duration::from_millis(tenth * 100);
        next.sample.snapshot.counters = Counters::parse(&stat).unwrap();
        // Counting waiting data for each disk needs root, which also sees all processes.
        next.sample.processes.seen.retain(|process| process.name == "cp");
        next.sample.processes.hidden = 0;
        if tenth % 10 == 0 { one.take(next) } else { one.take_snapshot(next.sample.snapshot) }
    }
    one
}

/// Made with `INSTA_UPDATE=always`, as the snapshots.
#[test]
fn picture_in_the_docs_is_current() {
    let mut terminal = Terminal::new(TestBackend::new(80, 19)).unwrap();
    terminal.draw(|frame| picture::draw(frame, &[copying()], 0, true)).unwrap();
    let drawn = drawing::svg(terminal.backend().buffer(), "flashscope watch while cp writes to a stick");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/watch.svg");
    if std::env::var("INSTA_UPDATE").as_deref() == Ok("always") {
        std::fs::write(&path, &drawn).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(kept == drawn, "docs/watch.svg is stale: INSTA_UPDATE=always cargo test -p flashscope watch");
}

#[test]
fn screen_of_eighty_columns() {
    insta::assert_snapshot!(drawn(&[at_work(counted(300))], 80, 24));
}

#[test]
fn upper_bound_is_marked_in_the_text() {
    let one = at_work(PendingWrites::AtMost(Bytes::mib(800), BoundReason::Hidden));
    insta::assert_snapshot!(facts::text(&one, 80));
}

#[test]
fn requests_without_data_show_no_throughput() {
    let mut one = Watched::from_sample(stick(), sample(0, 0, counted(0)));
    let mut flushed = sample(2, 0, counted(0));
    flushed.sample.snapshot.counters =
        Counters::parse("5 0 40 10 1 0 0 1593 1 0 1600 0 0 0 0 1 1593").unwrap();
    one.take(flushed);
    let text = facts::text(&one, 80);
    assert!(text.contains("write      no data, 0.5 IOPS, 1.6 s each"), "{text}");
    assert!(text.contains("a flush of the disk's write cache"), "{text}");
}

#[test]
fn mounted_disk_must_be_unmounted_before_unplugging() {
    let mounted = stick();
    let unmounted = Disk { mounts: Vec::new(), ..stick() };
    let text_of = |unplug: UnplugEstimate, disk: &Disk| text::unplug(unplug, disk);
    assert!(
        text_of(UnplugEstimate::Now, &mounted).contains("unmounting it")
            && text_of(UnplugEstimate::AlmostNow, &mounted).contains("unmount")
    );
    assert!(!text_of(UnplugEstimate::Now, &unmounted).contains("unmounting it"));
    assert!(text_of(UnplugEstimate::AlmostNow, &unmounted).contains("sync"));
    let open_end = UnplugEstimate::In { low: Some(Duration::from_secs(5)), high: None };
    assert!(text_of(open_end, &mounted).contains("at least 5.0 s"));
    let [little, short] = [20, 990].map(|ms| Some(Duration::from_millis(ms)));
    assert!(text_of(UnplugEstimate::In { low: little, high: short }, &mounted).contains("less than 1 s"));
    let high = Some(Duration::from_secs(9));
    assert!(text_of(UnplugEstimate::In { low: little, high }, &mounted).contains("at most 9.0 s"));
    let second = Some(Duration::from_secs(1));
    assert!(text_of(UnplugEstimate::In { low: second, high }, &mounted).contains("in 1.0 s to 9.0 s"));
    let until_second = text_of(UnplugEstimate::In { low: little, high: second }, &mounted);
    assert!(until_second.contains("at most 1.0 s"), "{until_second}");
}

#[test]
fn tiny_screens_and_disks_without_an_interval_are_drawn() {
    let fresh = Watched::from_sample(stick(), sample(0, 0, counted(1)));
    assert!(drawn(&[fresh], 40, 12).contains("measuring"));
    for (columns, rows) in [(1, 1), (2, 9), (9, 2), (300, 3)] {
        drawn(&[at_work(counted(3))], columns, rows);
        drawn(&[], columns, rows);
    }
}

#[test]
fn line_shows_waiting_data_and_a_current_stall() {
    let mut one = at_work(counted(300));
    let line = text::line(&one.disk, one.activity.as_ref().unwrap());
    assert!(line.contains("write 7.9 MB/s") && line.contains("waiting 301 MiB, 42 s to 47 s"), "{line}");
    assert!(!line.contains("STALLED"), "{line}");
    one.take(sample(8, 360, counted(300)));
    let line = text::line(&one.disk, one.activity.as_ref().unwrap());
    assert!(line.ends_with("STALLED"), "{line}");
}

#[test]
fn document_distinguishes_count_bound_and_unknown() {
    let of = |waiting: PendingWrites| {
        let one = at_work(waiting);
        let disks = [(&one.disk, one.activity.as_ref().unwrap())];
        serde_json::to_value(WatchDocument::now(disks.into_iter())).unwrap()["disks"][0].clone()
    };
    let disk = of(counted(300));
    assert_eq!(disk["waiting"]["status"], "this disk");
    assert_eq!(disk["waiting"]["bytes"], 301 << 20);
    assert_eq!(disk["safe_to_unplug"]["status"], "later");
    assert_eq!(disk["write"]["bytes"], 60 << 17);
    assert_eq!(
        (&disk["stalls"][0]["cause"], &disk["stalls"][0]["seconds"]),
        (&"device busy".into(), &1.0.into())
    );
    assert_eq!((&disk["processes"][0]["name"], &disk["processes_hidden"]), (&"cp".into(), &7.into()));
    let bound = of(PendingWrites::AtMost(Bytes::mib(9), BoundReason::ControlGroups));
    assert_eq!(
        (&bound["waiting"]["status"], &bound["safe_to_unplug"]["seconds_low"]),
        (&"at most".into(), &().into())
    );
    let unknown = of(PendingWrites::Unknown);
    assert_eq!(
        (&unknown["waiting"]["bytes"], &unknown["safe_to_unplug"]["status"]),
        (&().into(), &"unknown".into())
    );
}
