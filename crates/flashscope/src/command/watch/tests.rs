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
use super::{document, drawing, facts, picture, words};

fn stick() -> Disk {
    let copy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/sysfs/desktop");
    list(&Roots::copy(&copy)).unwrap().disks.into_iter().find(|disk| disk.name == "sdb").unwrap()
}

/// A sample after so many seconds and writes of 128 KiB, each of which took 16 ms.
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

/// A stick to which `cp` writes: some seconds of work, one of them without an end of any request.
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

/// A stick to which `cp` has written for more than a minute, looked at ten times a second: writes of 120 KiB with 16 of them in
/// the queue, and two stalls.
fn copying() -> Watched {
    let stands = |tenth: u64| (203..212).contains(&tenth) || (561..569).contains(&tenth);
    let mut one = Watched::from_sample(stick(), sample(0, 0, counted(724)));
    let mut writes = 0;
    for tenth in 1..=740 {
        writes += if stands(tenth) { 0 } else { 5 + (tenth * tenth / 7 + tenth / 40) % 4 };
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
        // Who sees what waits for each disk is root, and sees all processes.
        next.sample.processes.seen.retain(|process| process.name == "cp");
        next.sample.processes.hidden = 0;
        if tenth % 10 == 0 { one.take(next) } else { one.take_snapshot(next.sample.snapshot) }
    }
    one
}

/// Made with `INSTA_UPDATE=always`, as the snapshots.
#[test]
fn the_picture_in_the_docs_is_this_screen() {
    let mut terminal = Terminal::new(TestBackend::new(80, 19)).unwrap();
    terminal.draw(|frame| picture::draw(frame, &[copying()], 0, true)).unwrap();
    let drawn = drawing::svg(terminal.backend().buffer(), "flashscope watch while cp writes to a stick");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/watch.svg");
    if std::env::var("INSTA_UPDATE").as_deref() == Ok("always") {
        std::fs::write(&path, &drawn).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(kept == drawn, "INSTA_UPDATE=always cargo test -p flashscope watch draws docs/watch.svg anew");
}

#[test]
fn the_screen_of_eighty_columns() {
    insta::assert_snapshot!(drawn(&[at_work(counted(300))], 80, 24));
}

#[test]
fn a_bound_is_said_to_be_one() {
    let one = at_work(PendingWrites::AtMost(Bytes::mib(800), BoundReason::Hidden));
    insta::assert_snapshot!(facts::text(&one, 80));
}

#[test]
fn requests_without_data_have_no_speed() {
    let mut one = Watched::from_sample(stick(), sample(0, 0, counted(0)));
    let mut flushed = sample(2, 0, counted(0));
    flushed.sample.snapshot.counters =
        Counters::parse("5 0 40 10 1 0 0 1593 1 0 1600 0 0 0 0 1 1593").unwrap();
    one.take(flushed);
    let text = facts::text(&one, 80);
    assert!(text.contains("write      no data, 0.5 requests/s, 1.6 s each"), "{text}");
    assert!(text.contains("a flush of the disk's own cache"), "{text}");
}

#[test]
fn what_is_mounted_is_to_be_unmounted_first() {
    let mounted = stick();
    let unmounted = Disk { mounts: Vec::new(), ..stick() };
    let told = |unplug: UnplugEstimate, disk: &Disk| words::unplug(unplug, disk);
    assert!(
        told(UnplugEstimate::Now, &mounted).contains("unmount it")
            && told(UnplugEstimate::AlmostNow, &mounted).contains("unmount")
    );
    assert!(!told(UnplugEstimate::Now, &unmounted).contains("unmount it"));
    assert!(told(UnplugEstimate::AlmostNow, &unmounted).contains("sync"));
    let open_end = UnplugEstimate::In { low: Some(Duration::from_secs(5)), high: None };
    assert!(told(open_end, &mounted).contains("5.0 s and more"));
    let [little, short] = [20, 990].map(|ms| Some(Duration::from_millis(ms)));
    assert!(told(UnplugEstimate::In { low: little, high: short }, &mounted).contains("less than 1 s"));
    let high = Some(Duration::from_secs(9));
    assert!(told(UnplugEstimate::In { low: little, high }, &mounted).contains("at most 9.0 s"));
}

#[test]
fn a_screen_may_be_tiny_and_the_disk_not_looked_at_yet() {
    let fresh = Watched::from_sample(stick(), sample(0, 0, counted(1)));
    assert!(drawn(&[fresh], 40, 12).contains("looking"));
    for (columns, rows) in [(1, 1), (2, 9), (9, 2), (300, 3)] {
        drawn(&[at_work(counted(3))], columns, rows);
        drawn(&[], columns, rows);
    }
}

#[test]
fn a_line_says_what_waits_and_whether_the_stick_stands() {
    let mut one = at_work(counted(300));
    let line = words::line(&one.disk, one.activity.as_ref().unwrap());
    assert!(line.contains("write 7.9 MB/s") && line.contains("waiting 301 MiB, 42 s to 47 s"), "{line}");
    assert!(!line.contains("STALLED"), "{line}");
    one.take(sample(8, 360, counted(300)));
    let line = words::line(&one.disk, one.activity.as_ref().unwrap());
    assert!(line.ends_with("STALLED"), "{line}");
}

#[test]
fn the_document_tells_count_bound_and_end_apart() {
    let of = |pending: PendingWrites| document::document(&[at_work(pending)])["disks"][0].clone();
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
