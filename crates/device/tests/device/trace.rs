//! Trace files: reading them back, incomplete and damaged files, and playback.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use flashscope_device::layer::{RecordSink, Trace, TraceFile};
use flashscope_device::memory::MemoryDevice;
use flashscope_device::trace::{
    ClockKind, Ending, Playback, PlaybackOptions, TraceError, TraceHeader, TraceReader, TraceRecord,
    TraceWriter,
};
use flashscope_device::{ByteRange, Bytes, Device, DeviceExt, Instant, Op, OpKind, Pattern, Tag};
use proptest::prelude::*;

fn header() -> TraceHeader {
    TraceHeader {
        capabilities: MemoryDevice::new(Bytes::mib(1)).capabilities(),
        clock: ClockKind::Virtual,
        seed: Some(7),
        label: "a stick".to_owned(),
        profile: "name = \"stick\"\n".to_owned(),
    }
}

fn written(records: &[TraceRecord]) -> Vec<u8> {
    let mut writer = TraceWriter::new(Vec::new(), &header()).unwrap();
    records.iter().for_each(|record| writer.write(record).unwrap());
    writer.finish().unwrap()
}

type Read = (Vec<TraceRecord>, Result<Option<Ending>, TraceError>);

fn read(bytes: &[u8]) -> Result<Read, TraceError> {
    let mut reader = TraceReader::new(bytes)?;
    let mut records = Vec::new();
    for record in reader.by_ref() {
        match record {
            Ok(record) => records.push(record),
            Err(error) => return Ok((records, Err(error))),
        }
    }
    Ok((records, Ok(reader.ending())))
}

fn record(kind: OpKind, offset_kib: u64, length_kib: u64, submitted_us: u64, latency_us: u64) -> TraceRecord {
    TraceRecord {
        kind,
        range: ByteRange::new(Bytes::kib(offset_kib), Bytes::kib(length_kib)),
        submitted_at: Instant::from_nanos(submitted_us * 1000),
        completed_at: Instant::from_nanos((submitted_us + latency_us) * 1000),
        succeeded: true,
    }
}

/// The format changes only together with its version: a trace of three requests, byte by byte.
#[test]
fn the_format_of_version_1_is_fixed() {
    let header = TraceHeader { label: "x".to_owned(), profile: String::new(), seed: None, ..header() };
    let mut writer = TraceWriter::new(Vec::new(), &header).unwrap();
    let failed = TraceRecord { succeeded: false, ..record(OpKind::Read, 4, 4, 100, 1) };
    for record in [record(OpKind::Write, 0, 4, 0, 100), failed, record(OpKind::Flush, 0, 0, 90, 20)] {
        writer.write(&record).unwrap();
    }
    let bytes = writer.finish().unwrap();
    let (magic, rest) = bytes.split_at(8);
    assert_eq!(magic, b"\x89FST\r\n\x1a\n");
    // Version, properties, capacity, two blocks, largest request, queue depth, label, no profile.
    assert_eq!(
        rest[..17],
        [1, 3, 0x80, 0x80, 0x40, 0x80, 4, 0x80, 4, 0x80, 0x80, 0x80, 0x20, 32, 1, b'x', 0]
    );
    // Each: flags, then the fields with an unexpected value: length in sectors, submission, latency in
    // nanoseconds.
    assert_eq!(rest[17..22], [0b101_0001, 8, 0xa0, 0x8d, 6]);
    assert_eq!(rest[22..26], [0b101_1000, 8, 0xe8, 7]);
    assert_eq!(rest[26..33], [2, 0xef, 0xab, 1, 0xa0, 0x9c, 1]);
    assert_eq!((rest[33], rest[34], rest.len()), (7, 3, 35 + 8));
}

#[test]
fn an_incomplete_trace_returns_its_complete_requests() {
    let records: Vec<_> = (0..20)
        .map(|index| record(OpKind::Write, index * 37 % 512, 4 + index % 3, index * 250, 200))
        .collect();
    let bytes = written(&records);
    let header_length = written(&[]).len() - 10;
    let mut whole_before = 0;
    for end in 0..bytes.len() {
        let cut = read(&bytes[..end]);
        if end < header_length {
            assert!(
                matches!(cut, Err(TraceError::NotATrace | TraceError::CutHeader { .. })),
                "{end}: {cut:?}"
            );
            continue;
        }
        let (found, ending) = cut.unwrap();
        assert_eq!(found, records[..found.len()]);
        assert_eq!(ending.unwrap(), Some(Ending::CutOff { position: end as u64 }), "{end}");
        assert!(found.len() >= whole_before);
        whole_before = found.len();
    }
    assert_eq!(whole_before, 20);
    let (found, ending) = read(&bytes).unwrap();
    assert_eq!((found, ending.unwrap()), (records, Some(Ending::Complete)));
}

#[test]
fn a_file_that_is_not_a_trace_or_is_newer_is_refused() {
    let error = |bytes: &[u8]| TraceReader::new(bytes).unwrap_err().to_string();
    assert!(error(b"").contains("not a flashscope trace"));
    assert!(error(b"\x89FST\n\x1a\n hello there").contains("not a flashscope trace"));
    let mut newer = written(&[]);
    newer[8] = 2;
    assert!(error(&newer).contains("format 2"));
    assert!(error(&written(&[])[..20]).contains("inside its header, at byte 20"));
    let mut trailing = written(&[]);
    trailing.push(0);
    let (_, ending) = read(&trailing).unwrap();
    assert!(ending.unwrap_err().to_string().contains("data follows its end"));
    let mut reader = TraceReader::new(&trailing[..]).unwrap();
    assert!(reader.next().is_some_and(|record| record.is_err()));
    assert!(reader.next().is_none() && reader.ending().is_none(), "nothing follows an error");
}

/// A mixed workload: sequential 64 KiB writes, random 4 KiB reads, and one flush per 64 requests.
#[test]
fn a_request_of_a_mixed_workload_takes_6_to_7_bytes() {
    let mut state = 1u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut now = 0;
    let mut next = 0;
    let records: Vec<_> = (0..100_000u64)
        .map(|index| {
            let latency = 300 + random(4000);
            let gap = if index % 16 == 0 { random(2000) } else { 0 };
            let submitted = now + gap;
            now = submitted + latency;
            match index % 8 {
                7 if index % 64 == 63 => record(OpKind::Flush, 0, 0, submitted, latency),
                5..=7 => record(OpKind::Read, random(4 << 20) * 4, 4, submitted, latency),
                _ => {
                    next += 64;
                    record(OpKind::Write, next, 64, submitted, latency)
                }
            }
        })
        .collect();
    let bytes = written(&records);
    assert_eq!(read(&bytes).unwrap().0, records);
    let each = bytes.len() as f64 / records.len() as f64;
    assert!((6.0..7.0).contains(&each), "{each} bytes per request");
}

#[test]
fn a_trace_file_equals_the_trace_in_memory() {
    let ops = || {
        (0..50).map(|index| {
            let range = ByteRange::new(Bytes::kib(index * 16 % 900), Bytes::kib(8));
            if index % 3 == 0 { Op::read(range) } else { Op::write(range, Pattern::new(1)) }
        })
    };
    let mut in_memory = Trace::new(MemoryDevice::new(Bytes::mib(1)));
    let sink = TraceFile::new(TraceWriter::new(Vec::new(), &header()).unwrap());
    let mut in_file = Trace::into_sink(MemoryDevice::new(Bytes::mib(1)), sink);
    for op in ops() {
        in_memory.run(op.clone()).unwrap();
        in_file.run(op).unwrap();
    }
    let bytes = in_file.into_inner().1.finish().unwrap();
    assert_eq!(read(&bytes).unwrap().0, in_memory.records());
}

/// A writer to a disk with this number of free bytes.
struct Full(usize);

impl std::io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_fails_the_trace_and_not_the_device() {
    let sink = TraceFile::new(TraceWriter::new(Full(100), &header()).unwrap());
    let mut device = Trace::into_sink(MemoryDevice::new(Bytes::mib(1)), sink);
    for _ in 0..50 {
        assert!(device.run(Op::read(ByteRange::new(Bytes::ZERO, Bytes::kib(4)))).is_ok());
    }
    assert_eq!(
        device.into_inner().1.finish().err().map(|error| error.kind()),
        Some(std::io::ErrorKind::StorageFull)
    );
}

/// A writer whose second write fails, as on a disk that was full for a while.
struct FailsOnce(usize);

impl std::io::Write for FailsOnce {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += 1;
        if self.0 == 2 { Err(std::io::ErrorKind::StorageFull.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_trace_with_a_gap_fails_although_its_end_was_written() {
    let mut sink = TraceFile::new(TraceWriter::new(FailsOnce(0), &header()).unwrap());
    (0..8).for_each(|index| sink.take(record(OpKind::Read, 0, 4, index, 1)));
    assert_eq!(sink.finish().err().map(|error| error.kind()), Some(std::io::ErrorKind::StorageFull));
}

fn latencies(playback: &Playback, per_request_us: u64, options: PlaybackOptions) -> (Vec<u128>, Duration) {
    let device = MemoryDevice::new(Bytes::mib(1)).with_latency(Duration::from_micros(per_request_us));
    let mut traced = Trace::new(device);
    let played = playback.run(&mut traced, options, Pattern::new(1)).unwrap();
    assert!(played.iter().all(|one| one.succeeded));
    (played.iter().map(|one| one.latency.as_micros()).collect(), traced.now().since(Instant::ZERO))
}

#[test]
fn idle_time_is_repeated_or_skipped() {
    // 100 us busy, 900 us idle, 100 us busy. The trace starts at the first submission.
    let records = vec![
        record(OpKind::Write, 0, 4, 5000, 100),
        record(OpKind::Pause, 0, 0, 5100, 500),
        record(OpKind::Read, 0, 4, 6000, 100),
    ];
    let playback = Playback::new(records);
    assert_eq!((playback.len(), playback.recorded_time()), (2, Duration::from_micros(1100)));
    assert_eq!(
        latencies(&playback, 30, PlaybackOptions::default()),
        (vec![30, 30], Duration::from_micros(960))
    );
    let fast = PlaybackOptions { skips_idle: true, queue_depth: None };
    assert_eq!(latencies(&playback, 30, fast), (vec![30, 30], Duration::from_micros(60)));
}

#[test]
fn playback_repeats_the_queue_depth() {
    // Three at once, completed out of order, then one alone.
    let records = vec![
        record(OpKind::Write, 4, 4, 0, 100),
        record(OpKind::Write, 0, 4, 0, 200),
        record(OpKind::Write, 8, 4, 0, 300),
        record(OpKind::Read, 0, 4, 300, 100),
    ];
    let playback = Playback::new(records);
    assert_eq!(latencies(&playback, 10, PlaybackOptions::default()).0, [10, 20, 30, 10]);
    let alone = PlaybackOptions { queue_depth: Some(1), ..PlaybackOptions::default() };
    assert_eq!(latencies(&playback, 10, alone).0, [10, 10, 10, 10]);
    let deep = PlaybackOptions { queue_depth: Some(9), ..PlaybackOptions::default() };
    assert_eq!(latencies(&playback, 10, deep).0, [10, 20, 30, 40]);
}

/// A trace of a device plays back on the same device with the same times.
#[test]
fn playback_on_the_traced_device_gives_the_same_trace() {
    let mut traced = Trace::new(MemoryDevice::new(Bytes::mib(1)));
    for round in 0..40u64 {
        for index in 0..1 + round % 5 {
            let range = ByteRange::new(Bytes::kib((round * 8 + index) * 4 % 1000), Bytes::kib(4));
            traced.submit(Tag(index), Op::write(range, Pattern::new(1))).unwrap();
        }
        while traced.wait().unwrap().is_some() {}
        traced.pause(Duration::from_micros(round)).unwrap();
    }
    let (_, records) = traced.into_inner();
    let playback = Playback::new(records.clone());
    let mut again = Trace::new(MemoryDevice::new(Bytes::mib(1)));
    playback.run(&mut again, PlaybackOptions::default(), Pattern::new(1)).unwrap();
    let requests = |records: &[TraceRecord]| -> Vec<TraceRecord> {
        records.iter().copied().filter(|record| record.kind != OpKind::Pause).collect()
    };
    assert_eq!(requests(again.records()), requests(&records));
}

fn records() -> impl Strategy<Value = Vec<TraceRecord>> {
    let range = prop_oneof![
        (0..1u64 << 30, 1..256u64).prop_map(|(offset, length)| (offset * 512, length * 512)),
        (any::<u64>(), any::<u64>()),
    ];
    let one = (0..5u8, range, any::<u64>(), 0..1u64 << 40, any::<bool>());
    let record = one.prop_map(|(kind, (offset, length), submitted, latency, succeeded)| {
        let kind =
            [OpKind::Read, OpKind::Write, OpKind::Flush, OpKind::Discard, OpKind::Pause][usize::from(kind)];
        let is_ranged = !matches!(kind, OpKind::Flush | OpKind::Pause);
        let (offset, length) = if is_ranged { (offset, length) } else { (0, 0) };
        TraceRecord {
            kind,
            range: ByteRange::new(Bytes::new(offset), Bytes::new(length)),
            submitted_at: Instant::from_nanos(submitted),
            completed_at: Instant::from_nanos(submitted.saturating_add(latency)),
            succeeded,
        }
    });
    proptest::collection::vec(record, 0..60)
}

proptest! {
    #[test]
    fn a_written_trace_reads_back(records in records()) {
        let (found, ending) = read(&written(&records)).unwrap();
        prop_assert_eq!(found, records);
        prop_assert_eq!(ending.unwrap(), Some(Ending::Complete));
    }

    #[test]
    fn a_changed_byte_is_detected(records in records(), position in any::<prop::sample::Index>(), change in 1..=255u8) {
        let mut bytes = written(&records);
        let position = position.index(bytes.len());
        bytes[position] ^= change;
        if let Ok((_, ending)) = read(&bytes) {
            prop_assert_ne!(ending.ok(), Some(Some(Ending::Complete)), "byte {}", position);
        }
    }

    #[test]
    fn any_bytes_are_parsed_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400), is_trace in any::<bool>()) {
        let mut text = if is_trace { let mut start = written(&[]); start.truncate(start.len() - 10); start } else { Vec::new() };
        text.extend(bytes);
        if let Ok((records, _)) = read(&text) {
            let playback = Playback::new(records);
            let _capacity = playback.required_capacity();
            let _time = playback.recorded_time();
        }
    }
}
