//! The full test on counterfeits, bad and genuine devices whose true capacity is known, and continued tests.

use flashscope_device::layer::{FaultSpec, Faulty, Interrupt, Interruptible};
use flashscope_device::{Bytes, Device, DeviceError};
use flashscope_measure::capacity::full::{begin, continue_from, fill_and_verify, holds_stamps};
use flashscope_measure::{Event, Observer, Silent};
use flashscope_record::capacity::{CapacityKind, PlaceState};
use flashscope_record::full_capacity::{FullProgress, FullVerdict, RegionState};
use flashscope_sim::target;
use flashscope_zoo::{CapacityCase, CapacityClass};

const MIB: u64 = 1 << 20;
const STICK: &str = "patriot-xt-16g?capacity=1GiB&noise=0";

fn verdict(device: &mut dyn Device) -> FullVerdict {
    let mut progress = begin(device, 1);
    fill_and_verify(device, &mut progress, &mut |_| {}, &mut Silent).unwrap()
}

fn faulty(faults: &[&str]) -> Faulty<'static> {
    let faults: Vec<FaultSpec> = faults.iter().map(|fault| fault.parse().unwrap()).collect();
    Faulty::new(target::open(STICK).unwrap(), &faults, 1).unwrap()
}

fn of_faults(faults: &[&str]) -> FullVerdict {
    verdict(&mut faulty(faults))
}

fn assert_exact(fault: &str, kind: CapacityKind, size: u64, period: Option<u64>) -> FullVerdict {
    let seen = of_faults(&[fault]);
    let found = (seen.kind, seen.true_size.map(Bytes::get), seen.wrap_period.map(Bytes::get));
    assert_eq!(found, (kind, Some(size), period), "{fault}: {:?} {:?}", seen.bad, seen.trouble);
    assert!(!seen.is_unsteady, "{fault}: {:?}", seen.trouble);
    seen
}

#[test]
fn genuine_stick_keeps_everything() {
    let mut stick = target::open(STICK).unwrap();
    let seen = verdict(&mut stick);
    assert_eq!((seen.kind, seen.is_bad(), seen.bad.len()), (CapacityKind::NoSign, false, 0));
    assert_eq!(seen.true_size, Some(stick.capabilities().capacity));
    assert_eq!((seen.cost.bytes_written, seen.cost.bytes_read), (Bytes::gib(1), Bytes::gib(1)));
    assert_eq!(seen.regions.len(), 512);
    assert_eq!(seen.regions.iter().map(|region| region.length).sum::<Bytes>(), Bytes::gib(1));
    assert!(seen.regions.iter().all(|region| region.write_bytes_per_s.is_some()));
}

#[test]
fn wraps_of_any_period_are_exact() {
    for period in [512 * MIB, 300 * MIB, 4096 * 70_001, 512 * 1_048_583] {
        let fault = format!("wrap:real={period},fake=2GiB");
        assert_exact(&fault, CapacityKind::Wrap, period, Some(period));
    }
}

#[test]
fn dropped_writes_are_exact_and_say_what_returns() {
    for (reads, state) in
        [("zeros", PlaceState::Zeros), ("ones", PlaceState::Ones), ("garbage", PlaceState::Garbage)]
    {
        let size = 700 * MIB + 512 * 77;
        let fault = format!("limbo:real={size},fake=2GiB,reads={reads}");
        let seen = assert_exact(&fault, CapacityKind::Dropped, size, None);
        assert_eq!((seen.bad.len(), seen.bad[0].state), (1, state));
        assert_eq!(Bytes::new(512 * seen.bad[0].count), Bytes::gib(2) - Bytes::new(size));
        let lying = seen.regions.iter().filter(|region| region.state == RegionState::Lying).count();
        assert!((335..=338).contains(&lying), "{lying}");
    }
}

#[test]
fn caches_for_dropped_data_do_not_hide_the_boundary() {
    for cache in ["1MiB", "64MiB", "256MiB"] {
        for lookup in ["strict", "loose"] {
            let fault = format!("limbo:real=700MiB,fake=2GiB,cache={cache},lookup={lookup}");
            let seen = assert_exact(&fault, CapacityKind::Dropped, 700 * MIB, None);
            assert!(seen.cache_seen.is_some(), "{fault}");
        }
    }
}

#[test]
fn chains_are_exact_wherever_the_top_falls() {
    for (wrap, real, fake) in [(512, 256, 2048), (512, 300, 1900), (700, 100, 2048), (900, 899, 1800)] {
        let fault = format!("chain:wrap={wrap}MiB,real={real}MiB,fake={fake}MiB");
        assert_exact(&fault, CapacityKind::Chain, real * MIB, Some(wrap * MIB));
    }
}

#[test]
fn errors_beyond_the_size_are_exact() {
    for kinds in [&["write-errors"][..], &["read-errors"], &["write-errors", "read-errors"]] {
        let size = 600 * MIB + 4096 * 77;
        let faults: Vec<String> =
            kinds.iter().map(|kind| format!("{kind}:share=1,range={size}+{}", 1024 * MIB - size)).collect();
        let faults: Vec<&str> = faults.iter().map(String::as_str).collect();
        let seen = of_faults(&faults);
        assert_eq!((seen.kind, seen.true_size), (CapacityKind::Errors, Some(Bytes::new(size))), "{kinds:?}");
        assert!(seen.cost.requests < 4000, "not each failing request is tried: {}", seen.cost.requests);
        assert!(seen.regions.last().is_some_and(|region| region.state == RegionState::Bad));
    }
}

#[test]
fn errors_that_move_are_a_bad_contact_or_a_dying_device_and_no_fake() {
    for fault in ["read-errors:share=0.1", "write-errors:share=0.1"] {
        let seen = of_faults(&[fault]);
        assert!(seen.is_unsteady && seen.is_bad(), "{fault}: {:?}", seen.trouble);
        assert!(!matches!(seen.kind, CapacityKind::Dropped | CapacityKind::Wrap | CapacityKind::Errors));
        assert!(seen.trouble.repeated_requests > 50, "{:?}", seen.trouble);
    }
    let seen = of_faults(&["dying:after=300MiB,over=600MiB,errors=0.4,delay=100ms"]);
    assert!(seen.is_unsteady, "{:?} {:?}", seen.kind, seen.trouble);
}

#[test]
fn one_bad_area_is_a_share_and_a_map_and_stays_where_it_is() {
    let seen = of_faults(&["read-errors:share=1,range=100MiB+3MiB"]);
    assert_eq!((seen.kind, seen.is_unsteady, seen.true_size), (CapacityKind::Scattered, false, None));
    assert!((seen.bad_share - 3.0 / 1024.0).abs() < 1e-9, "{}", seen.bad_share);
    let bad: Vec<u64> = seen
        .regions
        .iter()
        .filter(|region| region.state == RegionState::Bad)
        .map(|region| region.offset.get() / MIB)
        .collect();
    assert_eq!(bad, [100, 102]);
}

/// The first case of this class that is filled in seconds.
fn small_case(class: CapacityClass) -> CapacityCase {
    let mut cases = (0..200).map(|index| CapacityCase::of_class(class, 1, index).unwrap());
    cases.find(|case| case.device().unwrap().capabilities().capacity <= Bytes::gib(2)).unwrap()
}

#[test]
fn bad_blocks_all_over_the_device_are_scattered() {
    let case = small_case(CapacityClass::BadBlocks);
    let seen = verdict(&mut *case.device().unwrap());
    assert_eq!((seen.kind, seen.is_unsteady), (CapacityKind::Scattered, false), "{}", case.text);
    assert!((0.02..0.5).contains(&seen.bad_share), "{}", seen.bad_share);
}

/// What every quick test must pass: it keeps what is written until its pool is empty.
#[test]
fn mapper_on_demand_is_found_out_with_the_size_of_its_pool() {
    let case = small_case(CapacityClass::OnDemand);
    let seen = verdict(&mut *case.device().unwrap());
    assert_eq!(seen.kind, CapacityKind::Dropped, "{}: {:?}", case.text, seen.bad);
    let size = seen.true_size.unwrap();
    assert!((Bytes::mib(512)..=Bytes::gib(1)).contains(&size) && size.is_multiple_of(Bytes::kib(64)));
    assert!(case.text.contains(&format!("pool: {}", size / Bytes::kib(64))), "{size} {}", case.text);
}

/// Requests the interrupt after a number of requests.
struct InterruptAfter {
    interrupt: Interrupt,
    requests: u64,
}

impl Observer for InterruptAfter {
    fn event(&mut self, event: Event<'_>) {
        if matches!(event, Event::Progress { requests, .. } if requests >= self.requests) {
            self.interrupt.request();
        }
    }
}

/// Runs until the request with this number, and returns the progress that is stored then.
fn interrupted(device: &mut dyn Device, progress: FullProgress, requests: u64) -> FullProgress {
    let interrupt = Interrupt::default();
    let mut observer = InterruptAfter { interrupt: interrupt.clone(), requests };
    let mut device = Interruptible::new(device, interrupt);
    let mut progress = progress;
    let ended = fill_and_verify(&mut device, &mut progress, &mut |_| {}, &mut observer);
    assert!(ended.is_err_and(|error| error == DeviceError::Interrupted), "at request {requests}");
    progress
}

/// Everything but speed and cost.
fn facts(seen: &FullVerdict) -> impl PartialEq + std::fmt::Debug + use<> {
    let regions: Vec<_> = seen
        .regions
        .iter()
        .map(|region| (region.offset, matches!(region.state, RegionState::Lying), region.bad.clone()))
        .collect();
    ((seen.kind, seen.true_size, seen.wrap_period, seen.bad_share), seen.bad.clone(), regions)
}

#[test]
fn a_test_that_was_interrupted_anywhere_ends_with_the_same_verdict() {
    let faults = [
        "wrap:real=300MiB,fake=1GiB",
        "limbo:real=700MiB,fake=1GiB",
        "chain:wrap=512MiB,real=300MiB,fake=1GiB",
        "read-errors:share=1,range=100MiB+3MiB",
    ];
    for fault in faults {
        let whole = of_faults(&[fault]);
        let mut device = faulty(&[fault]);
        let mut progress = begin(&device, 1);
        for requests in [1, 200, 333, 900, 1100, 1101, 1900] {
            progress = interrupted(&mut device, progress, requests);
            assert!(holds_stamps(&mut device, &progress).unwrap(), "{fault}");
            continue_from(&mut progress);
        }
        let seen = fill_and_verify(&mut device, &mut progress, &mut |_| {}, &mut Silent).unwrap();
        assert_eq!(facts(&seen), facts(&whole), "{fault}");
        assert_eq!(seen.continued, 7);
    }
}

/// The last 32 MiB were in the stick's write buffer when it was unplugged.
#[test]
fn a_test_continues_after_a_power_cut_that_lost_cached_writes() {
    let mut device = faulty(&["power-cut:after=700MiB,cache=32MiB,survivors=none"]);
    let interrupt = Interrupt::default();
    let mut observer = InterruptAfter { interrupt: interrupt.clone(), requests: 702 };
    let mut stored = begin(&device, 1);
    let mut progress = stored.clone();
    let mut until_cut = Interruptible::new(&mut device, interrupt);
    let store = &mut |durable: &FullProgress| stored = durable.clone();
    let ended = fill_and_verify(&mut until_cut, &mut progress, store, &mut observer);
    assert!(ended.is_err_and(|error| error == DeviceError::Interrupted));
    assert!(stored.position > Bytes::mib(300) && stored.position < Bytes::mib(700), "{}", stored.position);
    continue_from(&mut stored);
    let seen = fill_and_verify(&mut device, &mut stored, &mut |_| {}, &mut Silent).unwrap();
    assert_eq!((seen.kind, seen.bad.len()), (CapacityKind::NoSign, 0), "{:?}", seen.bad);
}

/// Nothing says that writes were lost; the second look shows that the places are not bad.
#[test]
fn writes_that_a_short_power_cut_lost_are_a_bad_contact() {
    let seen = of_faults(&["power-cut:after=700MiB,cache=32MiB,survivors=none"]);
    assert_eq!((seen.kind, seen.is_unsteady), (CapacityKind::NoSign, true));
    assert_eq!(seen.trouble.right_after_second_write, 1);
}

#[test]
fn a_device_that_was_used_since_is_not_continued() {
    let mut device = target::open(STICK).unwrap();
    let fresh = begin(&device, 1);
    let progress = interrupted(&mut device, fresh, 300);
    assert!(holds_stamps(&mut device, &progress).unwrap());
    let mut other = target::open(STICK).unwrap();
    assert!(!holds_stamps(&mut other, &progress).unwrap(), "an empty stick");
    let foreign = begin(&other, 2);
    interrupted(&mut other, foreign, 300);
    assert!(!holds_stamps(&mut other, &progress).unwrap(), "stamps of another test");
}

/// The throughput is that of plain sequential requests of 1 MiB, one after the other or several in flight.
#[test]
fn throughput_is_that_of_sequential_writes_and_reads() {
    use flashscope_device::{ByteRange, DeviceExt, Op, Pattern};
    for stick in ["patriot-xt-16g?capacity=2GiB", "cheap-usb3-32g?capacity=2GiB"] {
        let mut plain = target::open(stick).unwrap();
        let mut time = |make: &dyn Fn(ByteRange) -> Op| {
            let started = plain.now();
            for at in 0..2048 {
                plain.run(make(ByteRange::new(Bytes::mib(at), Bytes::mib(1)))).unwrap();
            }
            plain.now().since(started).as_secs_f64()
        };
        let (write_s, read_s) = (time(&|range| Op::write(range, Pattern::new(9))), time(&Op::read));
        let seen = verdict(&mut target::open(stick).unwrap());
        let bytes = Bytes::gib(2).as_f64();
        let write = seen.write_bytes_per_s.unwrap() * write_s / bytes;
        let read = seen.read_bytes_per_s.unwrap() * read_s / bytes;
        assert!(write > 0.97 && read > 0.97, "{stick}: {write:.3} {read:.3}");
    }
}
