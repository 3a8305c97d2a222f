//! Every fault on the in-memory device: the result of checked reads, the lost writes, and repeatability by
//! seed.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::time::Duration;

use flashscope_device::layer::fault::{
    CounterfeitSpec, CutSpec, DroppedDataCache, DroppedReads, DyingSpec, ErrorSpec, Lookup, Survivors,
    Trigger, WrongReadSpec,
};
use flashscope_device::layer::{FaultSpec, Faulty};
use flashscope_device::memory::MemoryDevice;
use flashscope_device::{
    BlockState, Buffer, ByteRange, Bytes, CheckReport, Device, DeviceError, DeviceExt, FailureCause, Instant,
    Lba, Op, Pattern, Payload, ReadInto, Success, Tag,
};
use proptest::prelude::*;

const PATTERN: Pattern = Pattern::new(1);

fn faulty(size: Bytes, faults: &[&str], seed: u64) -> Faulty<'static> {
    let faults: Vec<FaultSpec> = faults.iter().map(|fault| fault.parse().unwrap()).collect();
    Faulty::new(MemoryDevice::new(size), &faults, seed).unwrap()
}

fn range(offset_kib: u64, length_kib: u64) -> ByteRange {
    ByteRange::new(Bytes::kib(offset_kib), Bytes::kib(length_kib))
}

fn write(device: &mut impl Device, range: ByteRange, pattern: Pattern) {
    assert_eq!(device.run(Op::write(range, pattern)).unwrap().outcome, Ok(Success::Done));
}

fn check(device: &mut impl Device, range: ByteRange, pattern: Pattern) -> Success {
    device.run(Op::Read { range, into: ReadInto::Check(pattern) }).unwrap().outcome.unwrap()
}

fn report(device: &mut impl Device, range: ByteRange, pattern: Pattern) -> CheckReport {
    match check(device, range, pattern) {
        Success::Wrong(report) => *report,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_address_beyond_the_wrap_reads_the_start_of_the_device() {
    let mut device = faulty(Bytes::mib(1), &["wrap:real=256KiB"], 1);
    write(&mut device, range(0, 64), PATTERN);
    let wrong = report(&mut device, range(256, 64), PATTERN);
    assert_eq!(wrong.misplaced, 128);
    let home = BlockState::Misplaced { home: Lba(0), generation: 0 };
    assert_eq!(wrong.first_wrong, Some((Lba(512), home)));
    // The last write is right; the sectors that it overwrote are misplaced.
    write(&mut device, range(512, 64), PATTERN);
    assert_eq!(check(&mut device, range(512, 64), PATTERN), Success::AllRight);
    let home = BlockState::Misplaced { home: Lba(1024), generation: 0 };
    assert_eq!(report(&mut device, range(0, 64), PATTERN).first_wrong, Some((Lba(0), home)));
}

#[test]
fn writes_of_bytes_and_of_the_pattern_wrap_alike() {
    let mut device = faulty(Bytes::mib(1), &["wrap:real=256KiB"], 1);
    write(&mut device, range(300, 32), PATTERN);
    let bytes = device.read_bytes(range(44, 32)).unwrap().unwrap();
    assert_eq!(PATTERN.check(Bytes::kib(300).sectors(), &bytes).right, 64);
    let mut other = Buffer::zeroed(Bytes::kib(32));
    PATTERN.next_generation().fill(Bytes::kib(812).sectors(), &mut other);
    device.run(Op::Write { range: range(812, 32), payload: Payload::Bytes(other) }).unwrap();
    let wrong = report(&mut device, range(300, 32), PATTERN);
    let home = BlockState::Misplaced { home: Bytes::kib(812).sectors(), generation: 1 };
    assert_eq!((wrong.misplaced, wrong.first_wrong), (64, Some((Bytes::kib(300).sectors(), home))));
}

#[test]
fn a_request_across_the_wrap_has_one_completion() {
    let mut device = faulty(Bytes::mib(1), &["wrap:real=256KiB"], 1);
    write(&mut device, range(192, 128), PATTERN);
    assert_eq!(check(&mut device, range(192, 128), PATTERN), Success::AllRight);
    assert_eq!(report(&mut device, range(0, 64), PATTERN).misplaced, 128);
    let bytes = device.read_bytes(range(192, 128)).unwrap().unwrap();
    assert!(PATTERN.check(Bytes::kib(192).sectors(), &bytes).is_right());
}

#[test]
fn limbo_drops_writes_beyond_the_real_capacity() {
    for (reads, state) in [
        ("zeros", Some(BlockState::Blank { byte: 0 })),
        ("ones", Some(BlockState::Blank { byte: 0xff })),
        ("garbage", Some(BlockState::Corrupt)),
    ] {
        let mut device = faulty(Bytes::mib(1), &[&format!("limbo:real=256KiB,reads={reads}")], 1);
        write(&mut device, range(0, 1024), PATTERN);
        assert_eq!(check(&mut device, range(0, 256), PATTERN), Success::AllRight);
        let wrong = report(&mut device, range(128, 256), PATTERN);
        assert_eq!((wrong.right, wrong.first_wrong.map(|(_, state)| state)), (256, state));
        let twice = [0, 1].map(|_| device.read_bytes(range(512, 16)).unwrap().unwrap());
        assert!(twice[0] == twice[1]);
        assert!(device.now() > Instant::ZERO);
    }
}

#[test]
fn a_chain_drive_wraps_addresses_and_then_drops_writes() {
    let mut device = faulty(Bytes::mib(1), &["chain:wrap=512KiB,real=256KiB"], 1);
    write(&mut device, range(0, 1024), PATTERN);
    // The second half of the address space maps to the first half; the upper half of each is dropped.
    assert_eq!(report(&mut device, range(0, 256), PATTERN).misplaced, 512);
    assert_eq!(report(&mut device, range(256, 256), PATTERN).blank, 512);
    assert_eq!(check(&mut device, range(512, 256), PATTERN), Success::AllRight);
    assert_eq!(report(&mut device, range(768, 256), PATTERN).blank, 512);
}

#[test]
fn a_cache_returns_recently_dropped_data() {
    let mut strict = faulty(Bytes::mib(1), &["limbo:real=256KiB,cache=64KiB"], 1);
    write(&mut strict, range(512, 32), PATTERN);
    assert_eq!(check(&mut strict, range(512, 32), PATTERN), Success::AllRight);
    assert_eq!(report(&mut strict, range(576, 32), PATTERN).blank, 64);
    write(&mut strict, range(576, 32), PATTERN);
    assert_eq!(report(&mut strict, range(512, 32), PATTERN).blank, 64);
    // A loose cache does not compare addresses.
    let mut loose = faulty(Bytes::mib(1), &["limbo:real=256KiB,cache=64KiB,lookup=loose"], 1);
    write(&mut loose, range(512, 32), PATTERN);
    assert_eq!(report(&mut loose, range(576, 32), PATTERN).misplaced, 64);
    loose.run(Op::Discard { range: range(640, 32) }).unwrap();
    assert_eq!(report(&mut loose, range(512, 32), PATTERN).blank, 64);
}

#[test]
fn a_counterfeit_that_does_not_fit_the_device_is_refused_with_key_and_bound() {
    let refusal = |fault: &str| {
        let fault: FaultSpec = fault.parse().unwrap();
        Faulty::new(MemoryDevice::new(Bytes::mib(1)), &[fault], 1).unwrap_err().to_string()
    };
    assert!(refusal("wrap:real=2MiB").contains("real=2MiB is more than 1MiB"));
    assert!(
        refusal("limbo:real=6KiB,block=4KiB").contains("real=6KiB is not a multiple of the block of 4 KiB")
    );
    assert!(refusal("limbo:real=4KiB,cache=6KiB,block=4KiB").contains("cache=6KiB"));
}

#[test]
fn the_same_seed_fails_the_same_requests() {
    let failures = |seed| -> Vec<bool> {
        let mut device = faulty(Bytes::mib(1), &["read-errors:share=0.3"], seed);
        (0..100).map(|_| device.run(Op::read(range(0, 4))).unwrap().outcome.is_err()).collect()
    };
    assert_eq!(failures(1), failures(1));
    assert_ne!(failures(1), failures(2));
    let share = failures(3).iter().filter(|failed| **failed).count();
    assert!((15..45).contains(&share), "{share} of 100");
}

#[test]
fn a_failed_write_takes_time_and_leaves_the_old_data() {
    let mut device = faulty(Bytes::mib(1), &["write-errors:range=64KiB+64KiB"], 1);
    write(&mut device, range(0, 64), PATTERN);
    write(&mut device, range(128, 64), PATTERN);
    let before = device.now();
    let bytes = Buffer::zeroed(Bytes::kib(8));
    let failed = device.run(Op::Write { range: range(60, 8), payload: Payload::Bytes(bytes) }).unwrap();
    assert_eq!(failed.outcome.unwrap_err().cause, FailureCause::Medium);
    assert_eq!(failed.buffer.map(|buffer| buffer.length()), Some(Bytes::kib(8)));
    assert!(device.now() > before);
    assert_eq!(check(&mut device, range(0, 64), PATTERN), Success::AllRight);
}

#[test]
fn an_unplugged_device_is_gone() {
    let mut device = faulty(Bytes::mib(1), &["unplug:after=2"], 0);
    assert!(device.run(Op::read(range(0, 4))).is_ok());
    assert!(device.run(Op::read(range(0, 4))).is_ok());
    assert!(matches!(device.run(Op::read(range(0, 4))), Err(DeviceError::Gone { .. })));
    let mut by_size = faulty(Bytes::mib(1), &["unplug:after=8KiB"], 0);
    assert!(by_size.run(Op::read(range(0, 8))).is_ok());
    assert!(matches!(by_size.run(Op::read(range(0, 4))), Err(DeviceError::Gone { .. })));
}

#[test]
fn a_device_unplugged_at_an_instant_completes_nothing_later() {
    let mut device = faulty(Bytes::mib(1), &["unplug:at=350us"], 0);
    let answered = (0..10).take_while(|_| device.run(Op::read(range(0, 4))).is_ok()).count();
    assert_eq!(answered, 3);
    let [event] = &device.log().events()[..] else { panic!("one event") };
    assert_eq!((event.at, event.is_gone, event.lost.unanswered), (Instant::from_nanos(350_000), true, 1));
}

#[test]
fn a_power_cut_loses_and_reports_unflushed_writes() {
    let mut device = faulty(Bytes::mib(1), &["power-cut:after=4,cache=24KiB,survivors=none"], 1);
    let newer = PATTERN.next_generation();
    write(&mut device, range(0, 64), PATTERN);
    device.run(Op::Flush).unwrap();
    write(&mut device, range(0, 16), newer);
    write(&mut device, range(32, 16), newer);
    // The fifth request finds the power restored. The cache holds 24 KiB, but a write leaves it only as a
    // whole: the older one of 16 KiB is durable, and the newer one of 16 KiB is lost.
    assert_eq!(check(&mut device, range(0, 16), newer), Success::AllRight);
    assert_eq!(report(&mut device, range(32, 16), newer).stale, 32);
    assert_eq!(check(&mut device, range(32, 32), PATTERN), Success::AllRight);
    let [event] = &device.log().events()[..] else { panic!("one event") };
    assert_eq!((event.lost.requests, event.lost.bytes), (1, Bytes::kib(16)));
    assert_eq!(event.lost.ranges, [range(32, 16)]);
    assert!(event.to_string().contains("1 acknowledged write lost 16 KiB"), "{event}");
}

#[test]
fn a_volatile_cache_adds_no_latency_before_the_cut() {
    let times = |faults: &[&str]| {
        let mut device = faulty(Bytes::mib(1), faults, 1);
        let ops = [
            Op::write(range(0, 8), PATTERN),
            Op::read(range(0, 8)),
            Op::Flush,
            Op::write(range(4, 8), PATTERN),
        ];
        for (tag, op) in ops.into_iter().enumerate() {
            device.submit(Tag(tag as u64), op).unwrap();
        }
        let completions = std::iter::from_fn(|| device.wait().unwrap());
        completions.map(|one| (one.tag, one.submitted_at, one.completed_at)).collect::<Vec<_>>()
    };
    assert_eq!(times(&["power-cut:after=4,cache=64KiB"]), times(&[]));
}

#[test]
fn unplugging_loses_the_writes_in_the_cache() {
    let mut below = MemoryDevice::new(Bytes::mib(1));
    let fault: FaultSpec = "unplug:after=8,cache=1MiB,survivors=none".parse().unwrap();
    let mut device = Faulty::new(&mut below, &[fault], 1).unwrap();
    let written =
        (0..20).take_while(|index| device.run(Op::write(range(index * 8, 8), PATTERN)).is_ok()).count();
    let lost = device.log().events().remove(0).lost;
    drop(device);
    assert_eq!((written, lost.requests, lost.bytes), (8, 8, Bytes::kib(64)));
    assert!(lost.to_string().starts_with("8 acknowledged writes lost 64 KiB (first 8 KiB at "), "{lost}");
    assert!(below.contents().iter().all(|byte| *byte == 0));
}

#[test]
fn write_in_flight_at_the_cut_is_unanswered_and_not_counted_as_lost() {
    let mut device = faulty(Bytes::mib(1), &["unplug:at=150us,cache=1MiB,survivors=none"], 1);
    write(&mut device, range(0, 8), PATTERN);
    assert!(device.run(Op::write(range(8, 8), PATTERN)).is_err(), "it would end at 200 us");
    let [event] = &device.log().events()[..] else { panic!("one event") };
    assert_eq!(
        event.to_string(),
        "the device was unplugged at 0.000150 s: 1 acknowledged write lost 8 KiB \
         (first 8 KiB at offset 0 (sector 0)); requests in flight: 1"
    );
}

#[test]
fn latency_and_errors_grow_as_a_device_wears_out() {
    let mut device = faulty(Bytes::mib(1), &["dying:after=1MiB,over=4MiB,errors=0.8,delay=10ms"], 1);
    let mut tenth = |_| {
        let ran: Vec<_> = (0..64).map(|_| device.run(Op::write(range(0, 8), PATTERN)).unwrap()).collect();
        let failed = ran.iter().filter(|one| one.outcome.is_err()).count();
        (failed, ran.iter().map(|one| one.latency()).sum::<Duration>() / 64)
    };
    let steps: Vec<_> = (0..10).map(&mut tenth).collect();
    assert_eq!((steps[0], steps[1].0), ((0, Duration::from_micros(100)), 0));
    assert!(steps[4].0 > 5 && steps[9].0 > 35, "{steps:?}");
    // Each tenth writes 512 KiB. The mean of 64 exponential delays has a standard deviation of an eighth.
    for (index, (_, latency)) in (0_u8..).zip(&steps).skip(3) {
        let wear = (f64::from(index) * 0.5 + 0.25 - 1.0) / 4.0;
        let expected = 1e-4 + 1e-2 * wear;
        let ratio = latency.as_secs_f64() / expected;
        assert!((0.6..1.6).contains(&ratio), "tenth {index}: {ratio} of {expected} s");
    }
}

#[test]
fn a_worn_out_device_delays_requests_and_no_pause() {
    let mut device = faulty(Bytes::mib(1), &["dying:over=512B,delay=10ms"], 1);
    write(&mut device, range(0, 4), PATTERN);
    let before = device.now();
    device.pause(Duration::from_millis(5)).unwrap();
    assert_eq!(device.now().since(before), Duration::from_millis(5));
    // Without wear each takes 100 us.
    for op in [Op::read(range(0, 4)), Op::Flush, Op::Discard { range: range(0, 4) }] {
        let completion = device.run(op).unwrap();
        assert!(completion.latency() > Duration::from_micros(100), "{completion:?}");
    }
}

#[test]
fn an_invalid_fault_is_refused_with_the_allowed_values() {
    for (text, expected) in [
        ("", "unknown fault ''"),
        ("melt:after=1", "wrap, limbo, chain"),
        ("wrap", "needs real"),
        ("wrap:real=2GiB,wrap=1GiB", "no key 'wrap'"),
        ("wrap:real=0", "from 512 B"),
        ("wrap:real=1000", "multiple of 512 B"),
        ("limbo:real=-1", "'-1' is not a value for real"),
        ("limbo:real=1e30", "1e30"),
        ("limbo:real=1GiB,fake=512MiB", "from 1 GiB"),
        ("limbo:real=1GiB,reads=blanks", "zeros, ones, garbage"),
        ("limbo:real=1GiB,lookup=loose", "needs cache"),
        ("chain:wrap=1GiB,real=2GiB", "from 2 GiB"),
        ("read-errors:", "share or range"),
        ("read-errors:share=0", "above 0 and up to 1"),
        ("read-errors:share=NaN", "above 0 and up to 1"),
        ("read-errors:range=1GiB", "OFFSET+LENGTH"),
        ("unplug:after=1,at=2s", "once"),
        ("unplug:after=1,after=2", "once"),
        ("unplug:at=2", "12.5s"),
        ("power-cut:cache=1MiB", "after or at"),
        ("power-cut:after=1,cache=2TiB", "to 1 GiB"),
        ("dying:after=1GiB", "needs over"),
        ("dying:over=1GiB", "errors or delay"),
    ] {
        let error = text.parse::<FaultSpec>().unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
    for text in ["dying:over=1GiB,errors=0.5", "dying:over=1GiB,delay=1ms", "power-cut:at=2s"] {
        assert!(text.parse::<FaultSpec>().is_ok(), "{text}");
    }
}

fn sizes() -> impl Strategy<Value = Bytes> {
    (1..=1u64 << 20).prop_map(|sectors| Bytes::new(sectors * 512))
}

fn cuts() -> impl Strategy<Value = CutSpec> {
    let trigger = prop_oneof![
        any::<u64>().prop_map(Trigger::Requests),
        any::<u64>().prop_map(|bytes| Trigger::Transferred(Bytes::new(bytes))),
        (0..=1_000_000_000_000_000_000u64).prop_map(|time| Trigger::At(Duration::from_nanos(time))),
    ];
    let survivors = prop_oneof![Just(Survivors::None), Just(Survivors::Some)];
    (trigger, sizes(), survivors).prop_map(|(trigger, cache, survivors)| CutSpec {
        trigger,
        cache,
        survivors,
    })
}

fn counterfeits() -> impl Strategy<Value = CounterfeitSpec> {
    let reads = prop_oneof![Just(DroppedReads::Zeros), Just(DroppedReads::Ones), Just(DroppedReads::Garbage)];
    let lookup = prop_oneof![Just(Lookup::Strict), Just(Lookup::Loose)];
    let cache =
        proptest::option::of((sizes(), lookup).prop_map(|(size, lookup)| DroppedDataCache { size, lookup }));
    (sizes(), proptest::option::of(sizes()), proptest::option::of(sizes()), reads, cache).prop_map(
        |(real, wrap, fake, reads, cache)| CounterfeitSpec {
            real,
            wrap: wrap.map(|more| real + more),
            fake: fake.map(|more| real + more),
            reads,
            cache,
            block: None,
        },
    )
}

fn error_shares() -> impl Strategy<Value = ErrorSpec> {
    (f64::MIN_POSITIVE..=1.0, proptest::option::of((sizes(), sizes()))).prop_map(|(share, range)| ErrorSpec {
        share,
        range: range.map(|(offset, length)| ByteRange::new(offset, length)),
    })
}

fn faults() -> impl Strategy<Value = FaultSpec> {
    let dying = (sizes(), sizes(), 0.0..=1.0, 0..1u64 << 50).prop_map(|(after, over, errors, delay)| {
        DyingSpec { after, over, errors, delay: Duration::from_nanos(delay) }
    });
    prop_oneof![
        counterfeits().prop_map(FaultSpec::Counterfeit),
        error_shares().prop_map(FaultSpec::ReadErrors),
        error_shares().prop_map(FaultSpec::WriteErrors),
        (error_shares(), proptest::option::of(1..9u32)).prop_map(|(errors, times)| {
            FaultSpec::WrongReads(WrongReadSpec { share: errors.share, range: errors.range, times })
        }),
        cuts().prop_map(FaultSpec::Unplug),
        cuts().prop_map(FaultSpec::PowerCut),
        dying.prop_map(FaultSpec::Dying),
    ]
}

/// Steps of a run on a counterfeit: first sector, number of sectors, kind of request.
fn steps() -> impl Strategy<Value = Vec<(u64, u64, u8)>> {
    proptest::collection::vec((0..256u64, 1..64u64, 0..4u8), 1..40)
}

/// A model of a counterfeit: the contents of each reported sector, by the specification alone.
struct Model {
    spec: CounterfeitSpec,
    flash: Vec<[u8; 512]>,
    ghosts: Vec<Option<(u64, [u8; 512])>>,
}

impl Model {
    fn map(&self, sector: u64) -> Result<usize, usize> {
        let address = self.spec.wrap.map_or(sector, |wrap| sector % wrap.sectors().0);
        let slot = self.spec.cache.map_or(0, |cache| sector % cache.size.sectors().0);
        let to_index = |value: u64| usize::try_from(value).unwrap();
        if address < self.spec.real.sectors().0 { Ok(to_index(address)) } else { Err(to_index(slot)) }
    }

    fn write(&mut self, sector: u64, data: [u8; 512]) {
        match self.map(sector) {
            Ok(flash) => self.flash[flash] = data,
            Err(slot) if self.spec.cache.is_some() => self.ghosts[slot] = Some((sector, data)),
            Err(_) => {}
        }
    }

    fn read(&self, sector: u64) -> [u8; 512] {
        match self.map(sector) {
            Ok(flash) => self.flash[flash],
            Err(slot) => match self.ghosts[slot] {
                Some((home, data))
                    if home == sector
                        || self.spec.cache.is_some_and(|cache| cache.lookup == Lookup::Loose) =>
                {
                    data
                }
                _ => [0; 512],
            },
        }
    }
}

proptest! {
    #[test]
    fn a_fault_parses_from_its_own_text(fault in faults()) {
        let text = fault.to_string();
        prop_assert_eq!(text.parse::<FaultSpec>().unwrap(), fault, "{}", text);
    }

    #[test]
    fn any_text_parses_or_is_refused(text in "[a-z-]{0,12}:?([a-z]{0,8}=?[0-9a-zA-Z.+-]{0,12},?){0,4}") {
        if let Ok(fault) = text.parse::<FaultSpec>() {
            prop_assert_eq!(fault.to_string().parse::<FaultSpec>().unwrap(), fault);
        }
    }

    /// After a power cut every sector holds the flushed data or newer data. The report names at most the
    /// bytes written since the flush. The same seed gives the same result.
    #[test]
    fn a_power_cut_leaves_nothing_older_than_the_last_flush(
        steps in proptest::collection::vec((0..28u64, 1..4u64, 0..6u8), 1..60), after in 0..60u64, seed: u64,
    ) {
        let run = || {
            let fault = format!("power-cut:after={after},cache=6KiB");
            let mut device = faulty(Bytes::kib(16), &[&fault], seed);
            // For each sector: the last flushed generation, and the newest generation.
            let mut flushed = [0; 32];
            let mut youngest = [0; 32];
            let mut unflushed = 0;
            for (number, (start, length, what)) in (1u32..).zip(&steps) {
                if what % 6 == 0 {
                    device.run(Op::Flush).unwrap();
                    if device.log().events().is_empty() {
                        (flushed, unflushed) = (youngest, 0);
                    }
                    continue;
                }
                if !device.log().events().is_empty() || u64::from(number) > after {
                    break;
                }
                let range = ByteRange::new(Bytes::new(start * 512), Bytes::new(length * 512));
                write(&mut device, range, Pattern { seed: 1, generation: number });
                unflushed += range.length.get();
                (*start..start + length).for_each(|sector| youngest[usize::try_from(sector).unwrap()] = number);
            }
            while device.log().events().is_empty() {
                device.run(Op::read(range(0, 1))).unwrap();
            }
            let lost = device.log().events().remove(0).lost;
            let bytes = device.read_bytes(range(0, 16)).unwrap().unwrap();
            let newest = Pattern { seed: 1, generation: u32::MAX };
            let found = bytes.as_chunks::<512>().0.iter().enumerate().map(|(sector, block)| {
                match newest.identify(Lba(sector as u64), block) {
                    BlockState::Stale { generation } => generation,
                    BlockState::Blank { byte: 0 } => 0,
                    other => panic!("sector {sector} is {other:?}"),
                }
            });
            (found.collect::<Vec<u32>>(), flushed, youngest, lost.bytes.get(), unflushed)
        };
        let (found, flushed, youngest, lost, unflushed) = run();
        for (sector, generation) in found.iter().enumerate() {
            prop_assert!((flushed[sector]..=youngest[sector]).contains(generation), "sector {}", sector);
        }
        prop_assert!(lost <= unflushed.min(6 << 10), "{} of {}", lost, unflushed);
        prop_assert_eq!(run().0, found);
    }

    /// Random writes, discards, checks and reads give the same results as the model.
    #[test]
    fn a_counterfeit_equals_its_model(
        steps in steps(), wrap in proptest::option::of(0..64u64), real in 8..96u64,
        cache in proptest::option::of((1..48u64, any::<bool>())),
    ) {
        let sectors = |count: u64| Bytes::new(count * 512);
        let cache = cache.map(|(size, loose)| DroppedDataCache {
            size: sectors(size),
            lookup: if loose { Lookup::Loose } else { Lookup::Strict },
        });
        let wrap = wrap.map(|more| sectors(real + more));
        let spec = CounterfeitSpec { wrap, cache, fake: Some(sectors(320)), ..CounterfeitSpec::holding(sectors(real)) };
        let below = MemoryDevice::new(sectors(real));
        let mut device = Faulty::new(below, &[FaultSpec::Counterfeit(spec)], 1).unwrap();
        let mut model = Model { spec, flash: vec![[0; 512]; 128], ghosts: vec![None; 64] };
        for (number, (start, length, what)) in steps.into_iter().enumerate() {
            let range = ByteRange::new(sectors(start), sectors(length));
            let pattern = Pattern { seed: 1, generation: u32::try_from(number).unwrap() };
            let mut data = Buffer::zeroed(range.length);
            if what < 2 {
                pattern.fill(Lba(start), &mut data);
            }
            let op = match what {
                0 => Op::write(range, pattern),
                1 => Op::Write { range, payload: Payload::Bytes(data.clone()) },
                2 => Op::Discard { range },
                _ => Op::Read { range, into: ReadInto::Check(pattern) },
            };
            let completion = device.run(op).unwrap();
            let expected: Vec<u8> = if what == 3 {
                (start..start + length).flat_map(|sector| model.read(sector)).collect()
            } else {
                for (sector, block) in (start..).zip(data.as_chunks::<512>().0) {
                    model.write(sector, *block);
                }
                Vec::new()
            };
            if what == 3 {
                let judged = Success::of_check(pattern.check(Lba(start), &expected));
                prop_assert_eq!(completion.outcome.unwrap(), judged);
                prop_assert_eq!(&device.read_bytes(range).unwrap().unwrap()[..], &expected[..]);
            }
        }
    }
}

#[test]
fn wrong_reads_are_fixed_sectors_and_end_after_their_times() {
    let pattern = Pattern::new(1);
    let wrong = |device: &mut Faulty<'_>| {
        let check = Op::Read { range: range(0, 1024), into: ReadInto::Check(pattern) };
        match device.run(check).unwrap().outcome.unwrap() {
            Success::Wrong(report) => report.corrupt,
            _ => 0,
        }
    };
    let mut device = faulty(Bytes::mib(1), &["wrong-reads:share=0.1"], 1);
    assert!(device.run(Op::write(range(0, 1024), pattern)).unwrap().outcome.is_ok());
    let count = wrong(&mut device);
    assert!((140..=270).contains(&count), "{count} of 2048");
    assert_eq!(wrong(&mut device), count);
    let bytes = device.read_bytes(range(0, 1024)).unwrap().unwrap();
    assert_eq!(pattern.check(Lba(0), &bytes).corrupt, count, "bytes and checks agree");

    let mut once = faulty(Bytes::mib(1), &["wrong-reads:range=4KiB+1KiB,times=1"], 1);
    assert!(once.run(Op::write(range(0, 1024), pattern)).unwrap().outcome.is_ok());
    assert_eq!([wrong(&mut once), wrong(&mut once)], [2, 0]);
}

/// The first half is written, the second is blank. The wrong sectors are before, or among, the blank ones.
#[test]
fn a_check_of_wrong_sectors_beside_blank_ones_reports_what_the_bytes_hold() {
    for fault in ["wrong-reads:range=4KiB+1KiB", "wrong-reads:range=96KiB+1KiB"] {
        let mut device = faulty(Bytes::mib(1), &[fault], 1);
        write(&mut device, range(0, 64), PATTERN);
        let reported = report(&mut device, range(0, 128), PATTERN);
        let bytes = device.read_bytes(range(0, 128)).unwrap().unwrap();
        assert_eq!(reported, PATTERN.check(Lba(0), &bytes), "{fault}");
    }
}
