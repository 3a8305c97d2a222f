//! What every rule answers for made-up measurements, and what it must not answer.

use std::time::Duration;

use flashscope_device::Bytes;
use flashscope_record::attachment::{Attachment, Driver, Link, Volume};
use flashscope_record::diagnosis::{
    Bottleneck, Conclusion, Diagnosis, DiagnosisEvidence, DiagnosisReason, GAIN_REPORTED_MIN, StallCause,
};
use flashscope_record::finding::{
    Confidence, Evidence, Finding, FindingId, FtlClass, ReadEvidence, Reason, Value,
};
use flashscope_record::observation::{
    Conditions, Data, Ended, LongWrite, Observations, OpenUnitsCell, OpenUnitsData, Order, Piece, Source,
    SustainedData, Times, WriteSizeCell, WriteSizeData,
};

use crate::diagnosis::diagnose;

/// The measurements of a stick that writes 60 MB/s on a fast link, in parts that a test changes.
struct Stick {
    /// The latency of a write by its size in KiB, seconds.
    latency: Box<dyn Fn(f64) -> f64>,
    /// The smallest write, KiB.
    smallest: u64,
    /// The latency of each MiB of the long stream, seconds, and which of them are stalls.
    stream: Vec<f64>,
    stalls: Vec<usize>,
    /// Round-robin writes: the number of blocks, and their latencies, seconds.
    round_robin: Vec<(u32, Vec<f64>)>,
    findings: Vec<Finding>,
    attachment: Attachment,
}

const PER_KIB: f64 = 16e-6;

fn found(id: FindingId, value: Value) -> Finding {
    let evidence = Evidence::Reads(ReadEvidence::Alike { read_s: 1e-3, noise_s: 1e-6 });
    Finding::exact(id, value, Confidence::new(0.97), evidence)
}

fn bytes(id: FindingId, bytes: Bytes) -> Finding {
    found(id, Value::Bytes(bytes))
}

fn rate(bytes_per_s: f64) -> Finding {
    let ends = [0.98, 1.02].map(|factor| Value::BytesPerSecond(bytes_per_s * factor));
    found(FindingId::SustainedWriteBytesPerS, Value::BytesPerSecond(bytes_per_s)).within(ends[0], ends[1])
}

fn sound() -> Stick {
    let driver = Some(Driver { name: "usb-storage".to_owned(), is_uas_unused: false });
    Stick {
        latency: Box::new(|kib| 1e-4 + PER_KIB * kib),
        smallest: 4,
        stream: vec![PER_KIB * 1024.0; 400],
        stalls: Vec::new(),
        round_robin: vec![(1, vec![6e-4; 12]), (5, vec![6e-4; 30])],
        findings: vec![
            bytes(FindingId::SlcCacheBytes, Bytes::ZERO),
            found(FindingId::OpenUnitsLinear, Value::Count(12)),
            rate(1.0 / PER_KIB * 1024.0),
        ],
        attachment: Attachment {
            link: Link::usb(5000.0, Some(5000.0)),
            request_max: Some(Bytes::mib(1)),
            driver,
            ..Attachment::default()
        },
    }
}

impl Stick {
    /// The same with this finding, in place of an older one.
    fn with(mut self, finding: Finding) -> Self {
        self.findings.retain(|other| other.id != finding.id);
        self.findings.push(finding);
        self
    }

    fn sweep(&self) -> WriteSizeData {
        let sizes = (0..9).map(|power| 4 << power).filter(|kib| *kib >= self.smallest);
        let cell = |kib: u64| WriteSizeCell {
            order: Order::Linear,
            request: Bytes::kib(kib),
            start: None,
            times: Times::Each(vec![Duration::from_secs_f64((self.latency)(kib as f64)); 6]),
        };
        WriteSizeData { cells: sizes.map(cell).collect(), ..WriteSizeData::default() }
    }

    fn long_stream(&self) -> SustainedData {
        let time = Duration::from_secs_f64;
        let pieces = self.stream.iter().map(|seconds| Piece { requests: 1, time: time(*seconds) });
        let long = self.stalls.iter().map(|index| LongWrite {
            written: Bytes::mib(*index as u64 + 1),
            took: time(self.stream[*index]),
            ended: time(self.stream[..=*index].iter().sum()),
        });
        SustainedData {
            request: Bytes::mib(1),
            pieces: pieces.collect(),
            long: long.collect(),
            ..SustainedData::default()
        }
    }

    fn diagnosis(&self) -> Diagnosis {
        let mut search = OpenUnitsData::default();
        for (number, latencies) in &self.round_robin {
            for (unit, seconds) in (0..).zip(latencies) {
                let kept = (Order::Linear, *number, Bytes::kib(32));
                OpenUnitsCell::keep(
                    &mut search.cells,
                    kept,
                    unit % number,
                    Duration::from_secs_f64(*seconds),
                );
            }
        }
        let all =
            [Data::WriteSize(self.sweep()), Data::Sustained(self.long_stream()), Data::OpenUnits(search)];
        let conditions =
            Conditions { source: Source::Measured, capacity: None, region: None, is_in_file: false, seed: 1 };
        let seen =
            all.map(|data| Observations { data, conditions: conditions.clone(), ended: Ended::Complete });
        diagnose(&seen, &self.findings, &self.attachment)
    }
}

fn evidence(diagnosis: &Diagnosis, bottleneck: Bottleneck) -> Option<DiagnosisEvidence> {
    diagnosis.cost(bottleneck).map(|cost| cost.evidence.clone())
}

fn untested(diagnosis: &Diagnosis, bottleneck: Bottleneck) -> Option<DiagnosisReason> {
    let found = diagnosis.untested.iter().find(|untested| untested.bottleneck == bottleneck);
    found.map(|untested| untested.reason.clone())
}

fn is_flash(diagnosis: &Diagnosis) -> bool {
    matches!(diagnosis.conclusion, Conclusion::Flash(_))
}

fn near(value: f64, truth: f64) -> bool {
    (value / truth - 1.0).abs() < 0.01
}

#[test]
fn a_sound_stick_is_limited_by_its_flash_unless_it_lies_in_memory() {
    let stick = sound();
    let diagnosis = stick.diagnosis();
    let untested = diagnosis.untested.iter().map(|untested| untested.bottleneck);
    assert!(is_flash(&diagnosis) && untested.eq([Bottleneck::Alignment]), "{diagnosis:#?}");
    let in_memory = Stick { attachment: Attachment { in_memory: true, ..stick.attachment.clone() }, ..stick };
    let conclusion = in_memory.diagnosis().conclusion;
    assert!(
        matches!(conclusion, Conclusion::Unknown { reason: DiagnosisReason::InMemory, .. }),
        "{conclusion:?}"
    );
}

/// A stick on a link of 480 Mbit/s, which carries 30 to 42 MB/s, with this time per KiB, seconds.
fn on_a_slow_link(per_kib: f64) -> Stick {
    let sound = sound();
    let attachment = Attachment { link: Link::usb(480.0, Some(5000.0)), ..sound.attachment.clone() };
    Stick {
        latency: Box::new(move |kib| 1e-4 + per_kib * kib),
        stream: vec![per_kib * 1024.0; 400],
        attachment,
        ..sound
    }
    .with(rate(1024.0 / per_kib))
}

#[test]
fn a_link_limits_a_stick_only_at_the_speed_that_the_link_carries() {
    let cost = |per_kib| on_a_slow_link(per_kib).diagnosis().cost(Bottleneck::Link).is_some();
    // 60, 34 and 20 MB/s.
    assert_eq!([17e-6, 30e-6, 51e-6].map(cost), [false, true, false]);
}

#[test]
fn small_writes_tell_the_speed_of_the_flash_only_without_a_write_buffer_and_if_they_are_fast() {
    let gain = |page_us: f64, buffer| {
        let mut stick = on_a_slow_link(30e-6).with(bytes(FindingId::PageBytes, Bytes::kib(32)));
        stick.latency = Box::new(move |kib: f64| 2e-4 + (30e-6 * kib).max(page_us * 1e-6));
        let stick = stick.with(bytes(FindingId::WriteBufferBytes, buffer));
        stick.diagnosis().gain(Bottleneck::Link).unwrap()
    };
    // A page of 32 KiB in 300 us: flash of four times the speed of the link.
    let fast = gain(300.0, Bytes::ZERO);
    assert!(fast.low > 1.2 && fast.likely > 2.0, "{fast:?}");
    let buffered = gain(300.0, Bytes::mib(1));
    assert!(buffered.low <= 1.0, "the flash may be no faster than the link: {buffered:?}");
    let slow = gain(1700.0, Bytes::ZERO);
    assert!(slow.low <= 1.0 && slow.likely > 1.5, "small writes are slow for another reason: {slow:?}");
}

#[test]
fn a_faster_link_no_longer_hides_the_partial_pages_of_a_misaligned_volume() {
    let gain = |start: Bytes| {
        let mut stick = on_a_slow_link(30e-6).with(bytes(FindingId::PageBytes, Bytes::kib(8)));
        stick.attachment.volumes = vec![Volume { start, ..Volume::default() }];
        stick.diagnosis().gain(Bottleneck::Link).unwrap().likely
    };
    let (aligned, misaligned) = (gain(Bytes::mib(1)), gain(Bytes::new(63 * 512)));
    assert!(near(aligned, 2.323) && near(misaligned, 2.165), "{aligned} {misaligned}");
}

#[test]
fn the_gain_that_is_too_small_to_report_is_no_conclusion() {
    let mut stick = sound();
    stick.latency = Box::new(|kib| 1e-4 + PER_KIB * kib + if kib < 48.0 { 1.5e-3 } else { 0.0 });
    let diagnosis = stick.diagnosis();
    let gain = diagnosis.gain(Bottleneck::SmallWrites).unwrap().likely;
    assert!((1.02..GAIN_REPORTED_MIN).contains(&gain) && is_flash(&diagnosis), "{diagnosis:#?}");
}

#[test]
fn a_gain_of_a_quarter_is_the_least_that_is_reported() {
    // Writes below 48 KiB take this much longer than their bytes, seconds.
    let everyday = |extra: f64| {
        let mut stick = sound();
        stick.latency = Box::new(move |kib| 1e-4 + PER_KIB * kib + if kib < 48.0 { extra } else { 0.0 });
        let diagnosis = stick.diagnosis();
        (diagnosis.gain(Bottleneck::SmallWrites).unwrap().likely, diagnosis.bottleneck())
    };
    let (gain, bottleneck) = everyday(1.4e-3);
    assert!(near(gain, 1.236) && bottleneck == Some(Bottleneck::Flash), "{gain}: {bottleneck:?}");
    let (gain, bottleneck) = everyday(1.7e-3);
    assert!(near(gain, 1.277) && bottleneck == Some(Bottleneck::SmallWrites), "{gain}: {bottleneck:?}");
    // Every write takes this much longer than its bytes: small files alone gain 1.22 and 1.29.
    let small_files = |overhead: f64| {
        let mut stick = sound();
        stick.latency = Box::new(move |kib| overhead + PER_KIB * kib);
        stick.diagnosis().small_files.map(|cost| cost.bottleneck)
    };
    assert_eq!([45e-6, 60e-6].map(small_files), [None, Some(Bottleneck::SmallWrites)]);
}

#[test]
fn small_writes_are_not_judged_without_them_or_behind_a_write_buffer() {
    let without = Stick { smallest: 64, ..sound() }.diagnosis();
    assert_eq!(untested(&without, Bottleneck::SmallWrites), Some(DiagnosisReason::NoSizeSweep));
    assert!(without.cost(Bottleneck::SmallWrites).is_none());
    let mut buffered = sound().with(bytes(FindingId::WriteBufferBytes, Bytes::mib(1)));
    buffered.latency = Box::new(|kib| 1e-5 + PER_KIB / 4.0 * kib);
    let buffered = buffered.diagnosis();
    assert_eq!(untested(&buffered, Bottleneck::SmallWrites), Some(DiagnosisReason::WriteBuffer));
    assert!(buffered.cost(Bottleneck::SmallWrites).is_none());
}

#[test]
fn a_stalled_large_write_does_not_slow_the_others() {
    let large = |mut stick: Stick| {
        stick.latency = {
            let latency = stick.latency;
            Box::new(move |kib| latency(kib) + if kib < 8.0 { 2e-3 } else { 0.0 })
        };
        match evidence(&stick.diagnosis(), Bottleneck::SmallWrites) {
            Some(DiagnosisEvidence::SmallWrites { large_bytes_per_s, .. }) => large_bytes_per_s,
            other => panic!("{other:?}"),
        }
    };
    let mut stalled = sound();
    stalled.latency = Box::new(|kib| 1e-4 + PER_KIB * kib + if kib > 600.0 { 0.2 } else { 0.0 });
    assert!(large(stalled) > large(sound()) * 0.8);
}

#[test]
fn a_long_copy_costs_only_if_it_is_clearly_slower_than_single_writes() {
    let long = |factor: f64| {
        let stick = Stick { stream: vec![PER_KIB * 1024.0 * factor; 400], ..sound() };
        stick.with(rate(1024.0 / PER_KIB / factor)).diagnosis()
    };
    assert_eq!(long(1.15).cost(Bottleneck::SlcCache), None, "the error of a single write");
    let slow = evidence(&long(2.0), Bottleneck::SlcCache);
    let Some(DiagnosisEvidence::SlowLongCopy { single_bytes_per_s, long_bytes_per_s }) = slow else {
        panic!("{slow:?}")
    };
    // A single write of 1 MiB takes 16.484 ms.
    assert!(near(single_bytes_per_s, 1_048_576.0 / 16.484e-3), "{single_bytes_per_s}");
    assert!(near(long_bytes_per_s, 32e6), "{long_bytes_per_s}");
}

/// A stream that becomes this many times as slow after 100 MiB, with a finding of this cache.
fn slowing_by(factor: f64, cache: Finding, buffer: Bytes) -> Diagnosis {
    let per_mib = PER_KIB * 1024.0;
    let stream = (0..400).map(|index| if index < 100 { per_mib } else { per_mib * factor }).collect();
    let stick = Stick { stream, ..sound() }.with(rate(1024.0 / PER_KIB / factor)).with(cache);
    stick.with(bytes(FindingId::WriteBufferBytes, buffer)).diagnosis()
}

fn slowing(cache: Finding, buffer: Bytes) -> Diagnosis {
    slowing_by(3.0, cache, buffer)
}

#[test]
fn an_unknown_cache_matters_only_to_a_large_slowdown_that_no_buffer_may_explain() {
    let reason = |factor: f64, reason: Reason| {
        let cache = Finding::unknown(FindingId::SlcCacheBytes, reason, []);
        untested(&slowing_by(factor, cache, Bytes::ZERO), Bottleneck::SlcCache)
    };
    let may_be_memory = Reason::MayBeMemory {
        fast: Bytes::mib(100),
        before_bytes_per_s: 64e6,
        after_bytes_per_s: 21e6,
        buffer: None,
    };
    assert_eq!(reason(3.0, Reason::NoTime), Some(DiagnosisReason::Finding(Reason::NoTime)));
    assert_eq!(reason(1.15, Reason::NoTime), None, "what gains too little needs no cause");
    assert_eq!(reason(3.0, may_be_memory), None);
}

#[test]
fn a_slowdown_costs_only_if_a_cache_larger_than_the_write_buffer_explains_it() {
    let cache = |mib| bytes(FindingId::SlcCacheBytes, Bytes::mib(mib));
    let may_be_none = || cache(100).within(Value::Bytes(Bytes::ZERO), Value::Bytes(Bytes::mib(101)));
    let is_slowdown = |diagnosis: &Diagnosis| match evidence(diagnosis, Bottleneck::SlcCache) {
        Some(DiagnosisEvidence::Slowdown { before_bytes_per_s, after_bytes_per_s }) => {
            assert!(near(before_bytes_per_s, 64e6) && near(after_bytes_per_s, 64e6 / 3.0), "{diagnosis:#?}");
            true
        }
        _ => false,
    };
    assert!(is_slowdown(&slowing(cache(100), Bytes::ZERO)));
    assert!(is_slowdown(&slowing(cache(100), Bytes::mib(8))));
    assert!(!is_slowdown(&slowing(cache(100), Bytes::mib(128))), "all of it fits into the write buffer");
    let unknown = slowing(may_be_none(), Bytes::ZERO);
    let reason = DiagnosisReason::CacheOrWriteBuffer { fast: Bytes::mib(100) };
    assert!(!is_slowdown(&unknown));
    assert_eq!(untested(&unknown, Bottleneck::SlcCache), Some(reason));
}

#[test]
fn stalls_count_once_in_a_long_copy() {
    let per_mib = PER_KIB * 1024.0;
    let is_stall = |index: &usize| index % 16 == 15;
    let stream: Vec<f64> = (0..400).map(|index| per_mib + if is_stall(&index) { 0.5 } else { 0.0 }).collect();
    let bytes_per_s = 400.0 * 1_048_576.0 / stream.iter().sum::<f64>();
    let stalls = (0..400).filter(is_stall).collect();
    let diagnosis = Stick { stream, stalls, ..sound() }.with(rate(bytes_per_s)).diagnosis();
    let Some(DiagnosisEvidence::Stalls { bytes_per_s: long, .. }) =
        evidence(&diagnosis, Bottleneck::SlcCache)
    else {
        panic!("{diagnosis:#?}")
    };
    assert!(near(long, bytes_per_s), "{long} instead of {bytes_per_s}");
}

#[test]
fn disk_of_this_machine_is_not_diagnosed_as_flash() {
    let mut stick = sound();
    assert!(!matches!(stick.diagnosis().conclusion, Conclusion::Unknown { .. }));
    stick.attachment.host_disk = Some("vda".to_owned());
    let diagnosis = stick.diagnosis();
    let reason = DiagnosisReason::HostDisk { name: "vda".to_owned() };
    assert!(
        matches!(&diagnosis.conclusion, Conclusion::Unknown { reason: seen, .. } if *seen == reason),
        "{diagnosis:#?}"
    );
    assert!(diagnosis.costs.is_empty() && diagnosis.small_files.is_none(), "{diagnosis:#?}");
}

#[test]
fn stalls_are_named_by_what_the_findings_support() {
    let per_mib = PER_KIB * 1024.0;
    let is_stall = |index: &usize| index % 16 == 15;
    let stream: Vec<f64> = (0..400).map(|index| per_mib + if is_stall(&index) { 0.5 } else { 0.0 }).collect();
    let cause = |more: Option<Finding>| {
        let bytes_per_s = 400.0 * 1_048_576.0 / stream.iter().sum::<f64>();
        let stalls = (0..400).filter(is_stall).collect();
        let stick = Stick { stream: stream.clone(), stalls, ..sound() }.with(rate(bytes_per_s));
        let diagnosis = more.into_iter().fold(stick, Stick::with).diagnosis();
        match evidence(&diagnosis, Bottleneck::SlcCache) {
            Some(DiagnosisEvidence::Stalls { cause, .. }) => cause,
            _ => panic!("{diagnosis:#?}"),
        }
    };
    let block = |mib| bytes(FindingId::EraseBlockBytes, Bytes::mib(mib));
    assert_eq!(cause(Some(block(16))), StallCause::OpeningEraseBlock);
    assert_eq!(cause(Some(block(4))), StallCause::Unknown, "one in four blocks");
    assert_eq!(cause(None), StallCause::Unknown);
    let class = |class| Some(found(FindingId::FtlClass, Value::Class { class, above: None }));
    assert_eq!(cause(class(FtlClass::PageMapped)), StallCause::GarbageCollection);
    assert_eq!(cause(class(FtlClass::OpenBlock)), StallCause::Unknown);
}

/// The speed of a stream whose finding is unknown: usable, or the reason of the finding.
fn unsettled(stream: Vec<f64>) -> Diagnosis {
    let reason = Reason::NotSettled { written: Bytes::mib(400), spread: None };
    let unknown = Finding::unknown(FindingId::SustainedWriteBytesPerS, reason, []);
    Stick { stream, ..sound() }.with(unknown).diagnosis()
}

#[test]
fn a_stream_of_unknown_speed_counts_only_if_it_is_even_enough() {
    let per_mib = PER_KIB * 1024.0;
    let waves = |factor: f64, seconds: f64| {
        let wave = move |index: usize| if index / 25 % 4 < 2 { per_mib } else { per_mib * factor };
        let stream: Vec<f64> = (0..400).map(wave).collect();
        let scale = seconds / stream.iter().sum::<f64>();
        let diagnosis = unsettled(stream.into_iter().map(|each| each * scale.max(1.0)).collect());
        untested(&diagnosis, Bottleneck::SlcCache).is_none()
    };
    assert!(waves(1.1, 0.0) && waves(1.1, 400.0));
    assert!(!waves(6.0, 0.0), "brief, and known within a factor of two");
    assert!(!waves(6.0, 400.0), "long, and as uneven");
}

/// What five streams cost: within the open blocks, and beyond them, seconds.
fn streams(
    open_units: Option<u32>,
    round_robin: Vec<(u32, Vec<f64>)>,
) -> Result<(f64, f64), DiagnosisReason> {
    let mut stick = Stick { round_robin, ..sound() };
    match open_units {
        Some(number) => stick = stick.with(found(FindingId::OpenUnitsLinear, Value::Count(number))),
        None => stick.findings.retain(|finding| finding.id != FindingId::OpenUnitsLinear),
    }
    let diagnosis = stick.diagnosis();
    if let Some(reason) = untested(&diagnosis, Bottleneck::OpenUnits) {
        return Err(reason);
    }
    match evidence(&diagnosis, Bottleneck::OpenUnits) {
        Some(DiagnosisEvidence::OpenUnits { within_s, beyond_s, .. }) => Ok((within_s, beyond_s)),
        _ => Ok((0.0, 0.0)),
    }
}

#[test]
fn the_cost_of_too_many_streams_is_that_of_the_merges_of_five() {
    let (fast, merge) = (6e-4, 0.15);
    let alone = || (1, vec![fast; 12]);
    let is = |seen: Result<(f64, f64), DiagnosisReason>, beyond: f64| {
        let (within_s, beyond_s) = seen.unwrap();
        assert!(near(within_s, fast) && near(beyond_s, beyond), "{within_s} {beyond_s}, not {beyond}");
    };
    let warming = (0..40).map(|index| if index < 20 { fast } else { merge }).collect();
    is(streams(Some(3), vec![alone(), (5, warming)]), merge);
    is(streams(Some(2), vec![alone(), (3, vec![merge; 12])]), merge);
    // Two of three writes merge with one block too many, and 93 of 100 with five streams.
    let some = (0..30).map(|index| if index % 3 == 0 { fast } else { merge }).collect();
    let with_five = fast + (merge - fast) * 2.0 / 3.0 * 1.40;
    is(streams(Some(2), vec![alone(), (3, some)]), with_five);
    assert_eq!(streams(Some(5), vec![alone(), (5, vec![fast; 10]), (6, vec![merge; 12])]), Ok((0.0, 0.0)));
    assert_eq!(streams(Some(12), vec![alone(), (5, vec![fast; 10]), (13, vec![merge; 26])]), Ok((0.0, 0.0)));
}

#[test]
fn slightly_longer_writes_into_more_blocks_are_no_merges() {
    let alone = || (1, vec![6e-4; 12]);
    assert_eq!(streams(Some(3), vec![alone(), (5, vec![8e-4; 20])]), Ok((0.0, 0.0)));
    assert_eq!(streams(None, vec![alone(), (4, vec![8e-4; 20])]), Err(DiagnosisReason::NoOpenUnits));
    assert!(streams(None, vec![alone(), (4, vec![0.15; 20])]).is_ok_and(|(_, beyond)| near(beyond, 0.15)));
}

#[test]
fn a_limit_of_commands_costs_only_with_the_driver_whose_limit_can_be_changed() {
    let of_driver = |name: &str| {
        let mut stick = sound().with(bytes(FindingId::PageBytes, Bytes::kib(8)));
        stick.attachment.request_max = Some(Bytes::kib(32));
        stick.attachment.driver = Some(Driver { name: name.to_owned(), is_uas_unused: false });
        stick.latency = Box::new(|kib| 5e-4 * (kib / 32.0).ceil() + PER_KIB * kib);
        stick.diagnosis()
    };
    assert!(of_driver("usb-storage").cost(Bottleneck::Driver).is_some());
    let other = of_driver("other");
    assert_eq!(other.cost(Bottleneck::Driver), None);
    let reason = untested(&other, Bottleneck::Driver);
    assert!(matches!(reason, Some(DiagnosisReason::CommandLimitUnknown { .. })), "{reason:?}");
}
