//! The verdict on counterfeits, bad and genuine devices whose true capacity is known.

use std::time::Duration;

use flashscope_device::layer::{FaultSpec, Faulty};
use flashscope_device::memory::{MemoryDevice, TimedDevice};
use flashscope_device::{Buffer, ByteRange, Bytes, Device, DeviceExt as _, Op, OpKind, Payload};
use flashscope_measure::Silent;
use flashscope_measure::capacity::{
    CACHE_BOUND_DEFAULT, Limits, Settings, estimate, probe, probe_stage, verify,
};
use flashscope_record::capacity::{CapacityHint, CapacityKind, CapacityVerdict, PlaceState};
use flashscope_sim::profile::Profile;
use flashscope_sim::target::{self, Target};
use flashscope_zoo::{CapacityCase, CapacityClass};

const GIB: u64 = 1 << 30;

fn verdict(device: &mut dyn Device, cache_bound: Bytes) -> CapacityVerdict {
    verify(device, Settings { cache_bound, seed: 1 }, &mut Silent).unwrap()
}

fn of_fault(stick: &str, faults: &[&str], cache_bound: Bytes) -> CapacityVerdict {
    let stick = target::open(stick).unwrap();
    let faults: Vec<FaultSpec> = faults.iter().map(|fault| fault.parse().unwrap()).collect();
    verdict(&mut Faulty::new(stick, &faults, 1).unwrap(), cache_bound)
}

fn on_8gib(fault: &str) -> CapacityVerdict {
    of_fault("patriot-xt-16g?capacity=8GiB&noise=0", &[fault], CACHE_BOUND_DEFAULT)
}

/// What is expected of a verdict: its kind, true size and period.
type Expected = (CapacityKind, Option<u64>, Option<u64>);

fn assert_verdict(text: &str, seen: &CapacityVerdict, (kind, size, period): Expected) {
    let found = (seen.kind, seen.true_size.map(Bytes::get), seen.wrap_period.map(Bytes::get));
    assert_eq!(found, (kind, size, period), "{text}: {:?} {:?}", seen.bad, seen.hints);
}

/// The drives that `f3probe`'s self-test emulates (see `crates/sim/tests/sim/counterfeits.rs`). The last one
/// is also a drive of 1 GiB that wraps: no request can tell them apart. The one before exceeds the
/// bound: only some of its lost places show.
#[test]
fn eleven_drives_of_f3probe() {
    use CapacityKind::{Chain, Dropped, NoSign, Scattered, Wrap};
    let (small, large) = (CACHE_BOUND_DEFAULT, Bytes::gib(1));
    let cases: [(&str, Bytes, Expected); 12] = [
        ("limbo:real=2MiB,fake=2MiB", small, (NoSign, None, None)),
        ("limbo:real=1GiB,fake=1GiB,block=4KiB", small, (NoSign, None, None)),
        ("limbo:real=0,fake=1GiB", small, (Dropped, Some(0), None)),
        ("limbo:real=1777645568,fake=32505331712", small, (Dropped, Some(1_777_645_568), None)),
        ("wrap:real=2GiB,fake=16GiB", small, (Wrap, Some(2 * GIB), Some(2 * GIB))),
        ("chain:wrap=4GiB,real=2GiB,fake=16GiB", small, (Chain, Some(2 * GIB), Some(4 * GIB))),
        ("limbo:real=1049088,fake=1TiB", small, (Dropped, Some(1_049_088), None)),
        ("limbo:real=7600799744,fake=67108864000,cache=256MiB", small, (Dropped, Some(7_600_799_744), None)),
        (
            "limbo:real=7600799744,fake=67108864000,cache=256MiB,lookup=loose",
            small,
            (Dropped, Some(7_600_799_744), None),
        ),
        ("limbo:real=0,fake=1TiB,cache=1GiB", large, (Dropped, Some(0), None)),
        ("limbo:real=0,fake=1TiB,cache=1GiB", small, (Scattered, None, None)),
        ("limbo:real=0,fake=1TiB,cache=1GiB,lookup=loose", large, (Wrap, Some(GIB), Some(GIB))),
    ];
    for (text, bound, expected) in cases {
        let stick = "patriot-xt-16g?capacity=8GiB&noise=0";
        assert_verdict(text, &of_fault(stick, &[text], bound), expected);
    }
}

/// f3probe calls the first three "the real thing".
#[test]
fn wraps_of_any_period_are_exact() {
    let periods =
        [7 * GIB, 7680 << 20, 7341 << 20, 4096 * 625_001, 4096 * 1_300_003, 512 * 1_048_583, 1 << 20];
    for period in periods {
        let seen = on_8gib(&format!("wrap:real={period},fake=60GiB"));
        assert_verdict(&format!("{period}"), &seen, (CapacityKind::Wrap, Some(period), Some(period)));
    }
}

#[test]
fn limbo_with_caches_up_to_the_bound_is_exact_and_says_what_returns() {
    for (reads, state) in [("zeros", PlaceState::Zeros), ("ones", PlaceState::Ones)] {
        for cache in ["4KiB", "1MiB", "64MiB", "255MiB", "256MiB"] {
            let text = format!("limbo:real=5GiB,fake=117GiB,reads={reads},cache={cache}");
            let seen = on_8gib(&text);
            assert_verdict(&text, &seen, (CapacityKind::Dropped, Some(5 * GIB), None));
            assert_eq!(seen.bad[0].state, state, "{text}");
        }
    }
}

/// The short run decides; a cache larger than a quarter of it needs the long one.
#[test]
fn fakes_with_small_caches_need_few_writes() {
    let most = [("real=5GiB,fake=60GiB,cache=4KiB", 64), ("real=5GiB,fake=60GiB,cache=4MiB", 64)];
    for (limbo, most) in most {
        let seen = on_8gib(&format!("limbo:{limbo}"));
        assert_eq!(seen.true_size, Some(Bytes::gib(5)), "{limbo}");
        assert!(seen.cost.bytes_written <= Bytes::mib(most), "{limbo}: {}", seen.cost.bytes_written);
    }
    let wrap = on_8gib("wrap:real=7GiB,fake=60GiB");
    assert!(wrap.cost.bytes_written <= Bytes::mib(300), "{}", wrap.cost.bytes_written);
}

#[test]
fn chains_are_exact_wherever_the_top_falls() {
    for (wrap, real, fake) in [(4, 2, 14), (4, 3, 17), (5, 1, 64), (8, 7, 128), (6, 5, 16)] {
        let text = format!("chain:wrap={wrap}GiB,real={real}GiB,fake={fake}GiB");
        let expected = (CapacityKind::Chain, Some(real * GIB), Some(wrap * GIB));
        assert_verdict(&text, &on_8gib(&text), expected);
    }
}

#[test]
fn errors_beyond_the_size_are_a_kind_of_their_own() {
    for kinds in [&["write-errors"][..], &["read-errors"], &["write-errors", "read-errors"]] {
        let range = format!("{}+1GiB", 7 * GIB + 4096 * 77);
        let range = range.replace("+1GiB", &format!("+{}", GIB - 4096 * 77));
        let faults: Vec<String> = kinds.iter().map(|kind| format!("{kind}:share=1,range={range}")).collect();
        let faults: Vec<&str> = faults.iter().map(String::as_str).collect();
        let seen = of_fault("patriot-xt-16g?capacity=8GiB", &faults, CACHE_BOUND_DEFAULT);
        assert_verdict(&range, &seen, (CapacityKind::Errors, Some(7 * GIB + 4096 * 77), None));
    }
}

#[test]
fn rare_errors_are_no_false_alarm() {
    for fault in ["read-errors:share=0.02", "write-errors:share=0.02"] {
        let seen = on_8gib(fault);
        assert_verdict(fault, &seen, (CapacityKind::NoSign, None, None));
    }
}

#[test]
fn on_demand_mappers_are_undecided() {
    for index in 0..30 {
        let case = CapacityCase::of_class(CapacityClass::OnDemand, 1, index).unwrap();
        let seen = verdict(&mut case.device().unwrap(), CACHE_BOUND_DEFAULT);
        assert_eq!(seen.cache_excluded, CACHE_BOUND_DEFAULT);
        // The fastest stick reads flash in 140 us, as fast as an area without any.
        if case.text.contains("modern-ssd-stick") {
            assert_eq!(seen.kind, CapacityKind::NoSign, "{}: {:?}", case.text, seen.bad);
            continue;
        }
        assert_eq!((seen.kind, seen.true_size), (CapacityKind::Undecided, None), "{}", case.text);
        let is_hint = |hint: &CapacityHint| matches!(hint, CapacityHint::UnwrittenReadsFast { .. });
        assert!(seen.hints.iter().any(is_hint), "{}", case.text);
    }
}

const UNWRITTEN: Duration = Duration::from_micros(50);
const WRITTEN: Duration = Duration::from_micros(200);

/// A device that maps flash when it is written. Other areas read fast, and hold this byte throughout.
fn maps_on_demand(byte: u8) -> impl Device {
    let whole = ByteRange::new(Bytes::ZERO, Bytes::mib(64));
    let mut contents = Buffer::zeroed(whole.length);
    contents.fill(byte);
    let mut device = MemoryDevice::new(whole.length);
    let op = Op::Write { range: whole, payload: Payload::Bytes(contents) };
    device.run(op).unwrap().outcome.unwrap();
    let mut all_written: Vec<ByteRange> = Vec::new();
    TimedDevice::new(device, move |op| {
        let is_written = |range: ByteRange| all_written.iter().any(|written| written.overlaps(range));
        let is_fast = op.kind() == OpKind::Read && op.range().is_some_and(|range| !is_written(range));
        all_written.extend(op.range().filter(|_| op.modifies()));
        if is_fast { UNWRITTEN } else { WRITTEN }
    })
}

/// Flash that was erased reads as ones, a missing map as zeros. Any other byte was written by someone.
#[test]
fn fast_areas_of_zeros_or_ones_hint_at_mapping_on_demand_and_those_of_other_bytes_do_not() {
    let hint = CapacityHint::UnwrittenReadsFast { unwritten: UNWRITTEN, written: WRITTEN };
    for (byte, kind, hints) in [
        (0, CapacityKind::Undecided, vec![hint]),
        (0xff, CapacityKind::Undecided, vec![hint]),
        (0x55, CapacityKind::NoSign, Vec::new()),
    ] {
        let seen = verdict(&mut maps_on_demand(byte), Bytes::mib(4));
        assert_eq!((seen.kind, seen.hints), (kind, hints), "{byte:#x}");
    }
}

const fn is_kind(class: CapacityClass, kind: CapacityKind) -> bool {
    matches!(
        (class, kind),
        (CapacityClass::Genuine, CapacityKind::NoSign)
            | (CapacityClass::OnDemand, CapacityKind::Undecided)
            | (CapacityClass::Mixed, CapacityKind::Mixed)
            | (CapacityClass::Wrap, CapacityKind::Wrap)
            | (CapacityClass::Limbo | CapacityClass::LimboCache, CapacityKind::Dropped)
            | (CapacityClass::Chain, CapacityKind::Chain)
            | (CapacityClass::Errors, CapacityKind::Errors)
            | (CapacityClass::BadBlocks, CapacityKind::Scattered)
    )
}

fn assert_case(case: &CapacityCase) {
    let seen = verdict(&mut case.device().unwrap(), CACHE_BOUND_DEFAULT);
    assert!(is_kind(case.class, seen.kind), "{}: {:?} {:?}", case.text, seen.kind, seen.bad);
    let (found, size) = (seen.stored().unwrap_or_default(), case.true_size.unwrap_or_default());
    // The sectors right below the boundary may be bad as well.
    let off = Bytes::new(if case.class == CapacityClass::Mixed { 4096 } else { 0 });
    assert!(found <= size && size - found <= off, "{}: {found} {:?}", case.text, seen.bad);
}

#[test]
fn random_counterfeits_have_the_right_kind_and_size() {
    for index in 0..30 {
        assert_case(&CapacityCase::counterfeit(1, index).unwrap());
    }
}

#[test]
fn genuine_sticks_raise_no_alarm() {
    for index in 0..30 {
        assert_case(&CapacityCase::of_class(CapacityClass::Genuine, 1, index).unwrap());
    }
}

/// Of blocks of which 16 % are bad, the share is found within 5 percentage points.
#[test]
fn scattered_bad_blocks_are_a_share_and_a_map() {
    let case = CapacityCase::of_class(CapacityClass::BadBlocks, 1, 3).unwrap();
    let seen = verdict(&mut case.device().unwrap(), CACHE_BOUND_DEFAULT);
    assert_eq!(seen.kind, CapacityKind::Scattered);
    assert!(seen.places.len() > 250 && (0.02..0.5).contains(&seen.bad_share), "{}", seen.bad_share);
}

#[test]
fn the_same_seed_gives_the_same_verdict() {
    assert_eq!(on_8gib("wrap:real=7GiB,fake=60GiB"), on_8gib("wrap:real=7GiB,fake=60GiB"));
}

fn short(stick: &str) -> CapacityVerdict {
    let mut device = Target::parse(stick).unwrap().device().unwrap();
    probe(&mut device, 1, Limits::default(), &mut Silent).unwrap().unwrap()
}

/// On genuine sticks the short test costs at most 96 MiB and, but for the slowest, 10 s.
#[test]
fn short_test_names_the_counterfeits_among_the_built_in_sticks() {
    for name in Profile::builtin_names() {
        let seen = short(name);
        if name.starts_with("counterfeit") {
            let full = full(name);
            assert!(seen.kind.is_bad(), "{name}: {seen:?}");
            assert_eq!((seen.kind, seen.true_size), full, "{name}");
            continue;
        }
        assert_eq!(seen.kind, CapacityKind::NoSign, "{name}: {:?}", seen.bad);
        let (written, time) = (seen.cost.bytes_written, seen.cost.device_time.as_secs());
        assert!(written <= Bytes::mib(96) && time <= 15, "{name}: {written}, {time} s");
        assert!(seen.cache_excluded >= Bytes::mib(3) && seen.cache_excluded < written, "{name}");
    }
}

/// The kind and true size that `verify` finds.
fn full(stick: &str) -> (CapacityKind, Option<Bytes>) {
    let seen = verdict(&mut Target::parse(stick).unwrap().device().unwrap(), CACHE_BOUND_DEFAULT);
    (seen.kind, seen.true_size)
}

/// Only a cache larger than what the short test excludes may hide a counterfeit from it.
#[test]
fn short_test_finds_random_counterfeits_and_no_genuine_stick() {
    for index in 0..30 {
        let case = CapacityCase::counterfeit(1, index).unwrap();
        let seen = probe(&mut case.device().unwrap(), 1, Limits::default(), &mut Silent).unwrap().unwrap();
        let may_hide = case.class == CapacityClass::LimboCache && seen.cache_excluded < Bytes::mib(60);
        assert!(seen.kind.is_bad() || may_hide, "{}: {:?}", case.text, seen.cost);
        let case = CapacityCase::of_class(CapacityClass::Genuine, 1, index).unwrap();
        let seen = probe(&mut case.device().unwrap(), 1, Limits::default(), &mut Silent).unwrap();
        assert!(seen.is_none_or(|seen| !seen.kind.is_bad()), "{}", case.text);
    }
}

#[test]
fn short_test_leaves_out_devices_that_are_too_small() {
    let mut device = MemoryDevice::new(Bytes::mib(15));
    assert_eq!(probe(&mut device, 1, Limits::default(), &mut Silent), Ok(None));
}

/// With the larger bound a short run comes before the long one.
#[test]
fn a_sound_device_takes_no_more_requests_than_were_estimated() {
    for (mib, bound_mib) in [(64, 12), (256, 60)] {
        let (mut device, bound) = (MemoryDevice::new(Bytes::mib(mib)), Bytes::mib(bound_mib));
        let most = estimate(&device, bound).requests;
        let seen = verdict(&mut device, bound);
        assert_eq!(seen.kind, CapacityKind::NoSign);
        assert!(seen.cost.requests <= most, "{mib} MiB: {} of {most}", seen.cost.requests);
        let mut device = MemoryDevice::new(Bytes::mib(mib));
        let most = probe_stage(&device, Limits::default()).unwrap().estimate.requests;
        let seen = probe(&mut device, 2, Limits::default(), &mut Silent).unwrap().unwrap();
        assert_eq!(seen.kind, CapacityKind::NoSign);
        assert!(seen.cost.requests <= most, "short, {mib} MiB: {} of {most}", seen.cost.requests);
    }
}

/// The scan for aliases takes most requests there.
#[test]
fn a_short_run_on_a_large_device_takes_no_more_requests_than_were_estimated() {
    let limits = Limits { bytes_written: Bytes::mib(4), ..Limits::default() };
    for text in ["generic-2g?capacity=32GiB", "transcend-8g"] {
        let mut device = Target::parse(text).unwrap().device().unwrap();
        let most = probe_stage(&device, limits).unwrap().estimate.requests;
        let seen = probe(&mut device, 2, limits, &mut Silent).unwrap().unwrap();
        assert_eq!(seen.kind, CapacityKind::NoSign, "{text}");
        assert!(seen.cost.requests <= most, "{text}: {} of {most}", seen.cost.requests);
    }
}

/// A cache a little smaller than the run has lost only the data that was written first.
#[test]
fn places_lie_closest_at_the_start_of_the_run() {
    let seen = verdict(&mut MemoryDevice::new(Bytes::mib(64)), Bytes::mib(12));
    let within = |mib: u64| {
        let range = ByteRange::new(Bytes::mib(mib), Bytes::mib(1));
        seen.places.iter().filter(|place| (range.offset..range.end()).contains(&place.offset)).count()
    };
    // The run has 16 MiB, and 16 places more in the first of them.
    assert!(within(48) > 24 && within(49) < 18, "{} and {}", within(48), within(49));
}

#[test]
fn a_boundary_and_bad_places_below_it_are_mixed() {
    for (size, share) in [(5 * GIB, 0.15), (5 * GIB + 4096, 0.25)] {
        for kind in ["limbo", "wrap"] {
            let faults = [
                format!("{kind}:real={size},fake=60GiB"),
                format!("wrong-reads:share={share},range=0+{size}"),
            ];
            let faults: Vec<&str> = faults.iter().map(String::as_str).collect();
            let seen = of_fault("patriot-xt-16g?capacity=8GiB&noise=0", &faults, CACHE_BOUND_DEFAULT);
            let found = seen.true_size.unwrap().get();
            assert_eq!(seen.kind, CapacityKind::Mixed, "{faults:?}: {found} {:?}", seen.bad);
            assert!(found <= size && size - found <= 4096, "{faults:?}: {found}");
            assert_eq!(seen.wrap_period.map(Bytes::get), (kind == "wrap").then_some(size));
            assert!((seen.bad_share - share).abs() < 0.08, "{faults:?}: {}", seen.bad_share);
        }
    }
}

/// Bad once and right the second time: a bad contact. It is said, and decides nothing.
#[test]
fn reads_that_are_wrong_once_give_no_verdict() {
    for fault in ["wrong-reads:share=0.2,times=1", "wrong-reads:share=1,times=1"] {
        let seen = on_8gib(fault);
        assert_verdict(fault, &seen, (CapacityKind::NoSign, None, None));
        let is_once = |hint: &CapacityHint| matches!(hint, CapacityHint::WrongOnce { .. });
        assert!(seen.hints.iter().any(is_once), "{:?}", seen.hints);
    }
    let of_sector = format!("wrong-reads:range={}+512,times=1", 8 * GIB - 512);
    assert_verdict(&of_sector, &on_8gib(&of_sector), (CapacityKind::NoSign, None, None));
}
