//! Folders of recordings, intact and not; and replays.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::time::Duration;

use flashscope_device::memory::MemoryDevice;
use flashscope_device::trace::{ClockKind, TraceHeader, TraceRecord, TraceWriter};
use flashscope_device::{
    ByteRange, Bytes, Checksum, Completion, Device, DeviceError, Instant, Op, OpKind, Pattern, Tag,
};
use flashscope_record::{TrialOperation, TrialWorkload, Writeback};
use flashscope_recording::{
    Choice, Fit, Index, Place, Recording, RecordingError, Recordings, Wish, choose, decode, replay, try_out,
};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use tempfile::TempDir;

const CAPACITY: Bytes = Bytes::mib(1);

/// A request that was submitted at this microsecond.
fn request(at: u64, kind: OpKind, kib: u64, length_kib: u64) -> TraceRecord {
    TraceRecord {
        kind,
        range: ByteRange::new(Bytes::kib(kib), Bytes::kib(length_kib)),
        submitted_at: Instant::from_nanos(at * 1000),
        completed_at: Instant::from_nanos(at * 1000 + 500),
        succeeded: true,
    }
}

fn requests() -> Vec<TraceRecord> {
    vec![
        request(1, OpKind::Write, 0, 64),
        request(2, OpKind::Write, 64, 64),
        request(3, OpKind::Flush, 0, 0),
        request(4, OpKind::Read, 512, 4),
        request(5, OpKind::Read, 516, 4),
    ]
}

/// The file of a recording of these requests.
fn file(requests: &[TraceRecord]) -> Vec<u8> {
    let header = TraceHeader {
        capabilities: MemoryDevice::new(CAPACITY).capabilities(),
        clock: ClockKind::Virtual,
        seed: None,
        label: "recorded".to_owned(),
        profile: String::new(),
    };
    let mut writer = TraceWriter::new(Vec::new(), &header).unwrap();
    requests.iter().for_each(|request| writer.write(request).unwrap());
    compress_to_vec(writer.finish().unwrap().as_slice(), CompressionLevel::Fastest)
}

/// The entry of a file in the index.
fn entry(name: &str, bytes: &[u8], requests: u64) -> Recording {
    Recording {
        file: name.to_owned(),
        variant: "ext4".to_owned(),
        workload: TrialWorkload::Small,
        operation: TrialOperation::Write,
        writeback: Writeback::Late,
        round: 1,
        files: 2000,
        bytes: Bytes::mib(1),
        capacity: CAPACITY,
        erase_block: None,
        request_max: Bytes::kib(120),
        mkfs: "mkfs.ext4".to_owned(),
        mount: "rw".to_owned(),
        memory: Bytes::gib(2),
        kernel: "6.1".to_owned(),
        tool: "e2fsprogs 1.47".to_owned(),
        requests,
        size: Bytes::new(bytes.len() as u64),
        checksum: format!("{:016x}", Checksum::of(bytes)),
    }
}

/// A folder with these recordings and files.
fn folder(entries: &[Recording], files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let index = Index { recording: entries.to_vec() };
    fs::write(folder.path().join("recordings.toml"), toml::to_string(&index).unwrap()).unwrap();
    files.iter().for_each(|(name, bytes)| fs::write(folder.path().join(name), bytes).unwrap());
    folder
}

/// What reading the only recording of a folder gives.
fn read(folder: &Path) -> Result<Vec<TraceRecord>, RecordingError> {
    let recordings = Recordings::in_folder(folder)?;
    recordings.requests(&recordings.list()[0])
}

#[test]
fn intact_recording_gives_its_requests_in_order_of_submission() {
    let mut shuffled = requests();
    shuffled.swap(0, 1);
    let bytes = file(&shuffled);
    let folder = folder(&[entry("a.zst", &bytes, 5)], &[("a.zst", &bytes)]);
    assert_eq!(read(folder.path()).unwrap(), requests());
}

#[test]
fn pauses_and_failed_requests_are_left_out() {
    let failed = TraceRecord { succeeded: false, ..request(9, OpKind::Discard, 0, 4) };
    let all = [requests(), vec![failed, request(10, OpKind::Pause, 0, 0)]].concat();
    let bytes = file(&all);
    assert_eq!(decode(&entry("a.zst", &bytes, 7), &bytes).unwrap(), requests());
}

#[test]
fn the_programs_own_recordings_are_what_their_index_says() {
    let recordings = Recordings::embedded().unwrap();
    for recording in recordings.list() {
        let requests = recordings.requests(recording).unwrap_or_else(|error| panic!("{error}"));
        assert!(!requests.is_empty(), "{}", recording.file);
    }
}

#[test]
fn each_damage_has_its_own_error() {
    let bytes = file(&requests());
    let good = || entry("a.zst", &bytes, 5);
    let error =
        |entry: Recording, bytes: &[u8]| read(folder(&[entry], &[("a.zst", bytes)]).path()).unwrap_err();
    let missing = read(folder(&[good()], &[]).path()).unwrap_err();
    assert!(matches!(missing, RecordingError::Missing { .. }), "{missing}");
    assert!(matches!(error(good(), &bytes[1..]), RecordingError::Size { .. }));
    let longer = [bytes.as_slice(), b"x"].concat();
    assert!(matches!(error(good(), &longer), RecordingError::Size { .. }));
    let mut changed = bytes.clone();
    changed[20] ^= 1;
    assert!(matches!(error(good(), &changed), RecordingError::Checksum { .. }));
    assert!(matches!(error(entry("a.zst", b"text", 5), b"text"), RecordingError::NotCompressed { .. }));
    let text = compress_to_vec(b"no trace".as_slice(), CompressionLevel::Fastest);
    assert!(matches!(error(entry("a.zst", &text, 5), &text), RecordingError::Trace { .. }));
    assert!(matches!(error(entry("a.zst", &bytes, 4), &bytes), RecordingError::Count { .. }));
    assert!(matches!(error(entry("a.zst", &bytes, 6), &bytes), RecordingError::Count { .. }));
    let small = Recording { capacity: Bytes::kib(64), ..good() };
    assert!(matches!(error(small, &bytes), RecordingError::OutOfCapacity { .. }));
    let raw = decompressed(&bytes);
    let cut = compress_to_vec(&raw[..raw.len() - 12], CompressionLevel::Fastest);
    assert!(matches!(error(entry("a.zst", &cut, 5), &cut), RecordingError::CutOff { .. }));
}

fn decompressed(bytes: &[u8]) -> Vec<u8> {
    let mut raw = Vec::new();
    let mut decoder = ruzstd::decoding::StreamingDecoder::new(bytes).unwrap();
    std::io::Read::read_to_end(&mut decoder, &mut raw).unwrap();
    raw
}

#[test]
fn a_small_file_that_unpacks_to_many_requests_is_refused_at_the_stated_number() {
    let many: Vec<TraceRecord> = (0..200_000).map(|at| request(at, OpKind::Write, 0, 4)).collect();
    let bomb = file(&many);
    let error = decode(&entry("a.zst", &bomb, 10), &bomb).unwrap_err();
    assert!(matches!(error, RecordingError::Count { requests: 10, .. }), "{error}");
    let index = toml::to_string(&Index { recording: vec![entry("a.zst", &bomb, u64::from(u32::MAX))] });
    assert!(matches!(Index::parse(&index.unwrap()), Err(RecordingError::Entry { .. })));
}

#[test]
fn no_changed_byte_of_a_file_panics_or_gives_other_requests_unnoticed() {
    let bytes = file(&requests());
    let stated = entry("a.zst", &bytes, 5);
    for position in 0..bytes.len() {
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[position] ^= 1 << bit;
            // Without the checksum of the index, the trace's own finds what the compression does not.
            if let Ok(found) = decode(&stated, &changed) {
                assert_eq!(found, requests(), "byte {position}, bit {bit}");
            }
        }
    }
}

#[test]
fn index_with_an_impossible_value_is_refused() {
    let bytes = file(&requests());
    let good = entry("a.zst", &bytes, 5);
    let parsed = |recordings: Vec<Recording>| {
        Index::parse(&toml::to_string(&Index { recording: recordings }).unwrap())
    };
    assert!(parsed(vec![good.clone()]).is_ok() && Index::parse("# nothing").is_ok());
    let changed: [&dyn Fn(&mut Recording); 9] = [
        &|each| each.file = "../a.zst".to_owned(),
        &|each| each.file = "a.trace".to_owned(),
        &|each| each.variant = "ext4\u{1b}[31m".to_owned(),
        &|each| each.variant = "x".repeat(25),
        &|each| each.round = 0,
        &|each| each.capacity = Bytes::ZERO,
        &|each| each.size = Bytes::gib(1),
        &|each| each.checksum = "zz".to_owned(),
        &|each| each.checksum = "z".repeat(16),
    ];
    for (index, change) in changed.iter().enumerate() {
        let mut bad = good.clone();
        change(&mut bad);
        assert!(matches!(parsed(vec![bad]), Err(RecordingError::Entry { .. })), "{index}");
    }
    assert!(matches!(parsed(vec![good.clone(), good]), Err(RecordingError::Entry { .. })), "twice");
    assert!(matches!(Index::parse("[[recording]]\nfile = 1"), Err(RecordingError::Index { .. })));
    let empty = tempfile::tempdir().unwrap();
    assert!(matches!(Recordings::in_folder(empty.path()), Err(RecordingError::NoIndex { .. })));
}

#[test]
fn values_at_the_limits_of_an_index_are_read_and_those_beyond_are_refused() {
    let bytes = file(&requests());
    let good = entry("a.zst", &bytes, 5);
    let parsed =
        |recording: Recording| Index::parse(&toml::to_string(&Index { recording: vec![recording] }).unwrap());
    let with_variant = |length: usize| Recording { variant: "x".repeat(length), ..good.clone() };
    let with_size = |bytes: u64| Recording { size: Bytes::new(bytes), ..good.clone() };
    let with_requests = |requests: u64| Recording { requests, ..good.clone() };
    for (at_limit, beyond) in [
        (with_variant(24), with_variant(25)),
        (with_variant(1), with_variant(0)),
        (with_size(16 << 20), with_size((16 << 20) + 1)),
        (with_size(1), with_size(0)),
        (with_requests(1_000_000), with_requests(1_000_001)),
        (with_requests(1), with_requests(0)),
    ] {
        let read = parsed(at_limit.clone());
        assert!(read.is_ok_and(|index| index.recording == [at_limit]), "{beyond:?}");
        assert!(matches!(parsed(beyond.clone()), Err(RecordingError::Entry { .. })), "{beyond:?}");
    }
}

#[test]
fn index_of_16_mib_is_read_and_a_larger_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recordings.toml");
    // One comment: no recording.
    let mut text = "#".repeat(Bytes::mib(16).to_usize());
    fs::write(&path, &text).unwrap();
    assert!(Recordings::in_folder(folder.path()).unwrap().list().is_empty());
    text.push('#');
    fs::write(&path, &text).unwrap();
    let error = Recordings::in_folder(folder.path()).unwrap_err();
    assert!(matches!(error, RecordingError::LargeIndex { most } if most == Bytes::mib(16)), "{error}");
}

#[test]
fn choice_takes_the_nearest_erase_block_and_leaves_out_what_is_too_large() {
    let bytes = file(&requests());
    let of = |name: &str, erase_block: u64, operation| Recording {
        erase_block: Some(Bytes::mib(erase_block)),
        operation,
        ..entry(name, &bytes, 5)
    };
    let all = [
        of("w1.zst", 1, TrialOperation::Write),
        of("r1.zst", 1, TrialOperation::Read),
        of("w4.zst", 4, TrialOperation::Write),
        of("r4.zst", 4, TrialOperation::Read),
    ];
    let fit = Fit { erase_block: Bytes::mib(8), request_max: Bytes::kib(120), room: CAPACITY };
    let choices = choose(&all, &Wish::default(), &fit);
    let [choice] = choices.as_slice() else { panic!("{choices:?}") };
    assert_eq!((choice.write.file.as_str(), choice.read.unwrap().file.as_str()), ("w4.zst", "r4.zst"));
    assert!(choose(&all, &Wish::default(), &Fit { room: Bytes::kib(1), ..fit }).is_empty());
    let other = Wish { variants: vec!["vfat".to_owned()], ..Wish::default() };
    assert!(choose(&all, &other, &fit).is_empty());
    assert!(choose(&all, &Wish { rounds: Some(0), ..Wish::default() }, &fit).is_empty());
    assert!(choose(&all[1..2], &Wish::default(), &fit).is_empty(), "a read alone finds nothing to read");
}

/// A host with less memory keeps less of what it wrote, and so it reads other blocks.
#[test]
fn a_read_belongs_to_the_write_of_a_host_with_as_much_memory() {
    let bytes = file(&requests());
    let of = |name: &str, operation, memory_gib: u64| Recording {
        operation,
        memory: Bytes::gib(memory_gib),
        ..entry(name, &bytes, 5)
    };
    let all = [
        of("w2.zst", TrialOperation::Write, 2),
        of("r1.zst", TrialOperation::Read, 1),
        of("w1.zst", TrialOperation::Write, 1),
        of("r2.zst", TrialOperation::Read, 2),
    ];
    let fit = Fit { erase_block: Bytes::mib(4), request_max: Bytes::kib(120), room: CAPACITY };
    let files = |recordings: &[Recording]| -> Vec<(String, Option<String>)> {
        let choices = choose(recordings, &Wish::default(), &fit);
        let read = |choice: &Choice<'_>| choice.read.map(|read| read.file.clone());
        choices.iter().map(|choice| (choice.write.file.clone(), read(choice))).collect()
    };
    assert_eq!(files(&all), [("w2.zst".to_owned(), Some("r2.zst".to_owned()))]);
    assert_eq!(files(&all[..2]), [("w2.zst".to_owned(), None)], "the read is another host's");
}

/// A device that notes how many requests are in flight at each submission.
struct Counting {
    device: MemoryDevice,
    in_flight: usize,
    seen: Vec<(OpKind, usize)>,
}

impl Device for Counting {
    fn capabilities(&self) -> flashscope_device::Capabilities {
        flashscope_device::Capabilities { queue_depth: 8, ..self.device.capabilities() }
    }
    fn now(&self) -> Instant {
        self.device.now()
    }
    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        self.seen.push((op.kind(), self.in_flight));
        self.in_flight += 1;
        self.device.submit(tag, op)
    }
    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        let completion = self.device.wait()?;
        self.in_flight -= usize::from(completion.is_some());
        Ok(completion)
    }
}

fn replayed(requests: &[TraceRecord], queue_depth: u32) -> Vec<(OpKind, usize)> {
    let device = MemoryDevice::new(Bytes::mib(2)).with_latency(Duration::from_millis(1));
    let mut counting = Counting { device, in_flight: 0, seen: Vec::new() };
    let replayed = replay(requests, CAPACITY, &mut counting, queue_depth, Pattern::new(1));
    assert_eq!((replayed.failed, replayed.requests), (0, requests.len() as u64));
    counting.seen
}

#[test]
fn without_a_queue_one_request_is_in_flight() {
    assert!(replayed(&requests(), 1).iter().all(|(_, in_flight)| *in_flight == 0));
}

#[test]
fn with_a_queue_flushes_and_reads_that_may_depend_are_barriers() {
    let all = [requests(), vec![request(6, OpKind::Read, 100, 4), request(7, OpKind::Write, 0, 4)]].concat();
    let depths: Vec<usize> = replayed(&all, 8).iter().map(|(_, in_flight)| *in_flight).collect();
    // Two writes; a flush; a read, and the one that continues it; a read elsewhere; a write after it.
    assert_eq!(depths, [0, 1, 0, 0, 1, 0, 0]);
    let writes: Vec<TraceRecord> = (0..6).map(|at| request(at, OpKind::Write, at * 4, 4)).collect();
    let depths: Vec<usize> = replayed(&writes, 3).iter().map(|(_, in_flight)| *in_flight).collect();
    assert_eq!(depths, [0, 1, 2, 2, 2, 2], "at most three in flight");
}

#[test]
fn requests_go_to_the_start_of_the_filesystem_and_failures_are_counted() {
    let mut device = MemoryDevice::new(Bytes::mib(1));
    let writes = [request(1, OpKind::Write, 0, 4)];
    let done = replay(&writes, Bytes::kib(512), &mut device, 1, Pattern::new(3));
    assert_eq!((done.failed, done.ended), (0, None));
    let contents = device.contents();
    let is_written = |kib: usize| contents[kib * 1024..(kib + 4) * 1024].iter().any(|byte| *byte != 0);
    assert!(is_written(512) && !is_written(0));
    let beyond = replay(&writes, Bytes::mib(1), &mut device, 1, Pattern::new(3));
    assert_eq!((beyond.failed, beyond.requests), (1, 1));
    assert!(beyond.first_failure.is_some());
}

#[test]
fn discards_are_replayed_where_there_are_any_and_left_out_elsewhere() {
    let records =
        [request(1, OpKind::Write, 0, 4), request(2, OpKind::Write, 8, 4), request(3, OpKind::Discard, 0, 4)];
    let mut accepting = MemoryDevice::new(CAPACITY);
    let mut other = MemoryDevice::new(CAPACITY).without_discards();
    let with = replay(&records, Bytes::ZERO, &mut accepting, 1, Pattern::new(1));
    let without = replay(&records, Bytes::ZERO, &mut other, 1, Pattern::new(1));
    assert_eq!((with.requests, with.failed, with.time), (3, 0, Duration::from_micros(300)));
    assert_eq!((without.requests, without.failed, without.time), (2, 0, Duration::from_micros(200)));
    let holds_data = |device: &MemoryDevice, kib: usize| {
        device.contents()[kib * 1024..(kib + 4) * 1024].iter().any(|byte| *byte != 0)
    };
    assert_eq!([0, 8].map(|kib| holds_data(&accepting, kib)), [false, true]);
    assert_eq!([0, 8].map(|kib| holds_data(&other, kib)), [true, true]);
}

#[test]
fn vfat_with_flush_takes_at_least_the_sleep_of_the_kernel_after_each_file() {
    let bytes = file(&requests());
    let seconds = |mount: &str, operation| {
        let write = Recording { mount: mount.to_owned(), operation, ..entry("a.zst", &bytes, 5) };
        let folder = folder(std::slice::from_ref(&write), &[("a.zst", &bytes)]);
        let recordings = Recordings::in_folder(folder.path()).unwrap();
        let place = Place { start: Bytes::ZERO, queue_depth: 1, pattern: Pattern::new(1) };
        let choice = Choice { write: &write, read: None };
        let mut device = MemoryDevice::new(CAPACITY);
        try_out(&recordings, &choice, &mut device, place).unwrap()[0].trial.as_ref().unwrap().seconds
    };
    // 2,000 files, a tenth of a second each.
    assert!((seconds("rw,flush", TrialOperation::Write) - 200.0).abs() < 1e-9);
    assert!(seconds("rw", TrialOperation::Write) < 1.0);
    assert!(seconds("rw,flush", TrialOperation::Read) < 1.0);
}
