//! Truth tests of *open-units* with sequential writes: the number found is that of the virtual stick.

use flashscope_device::layer::Budget;
use flashscope_device::memory::{MemoryDevice, TimedDevice};
use flashscope_device::{Bytes, Device};
use flashscope_infer::infer;
use flashscope_measure::experiment::OpenUnits;
use flashscope_measure::survey::Survey;
use flashscope_measure::{Experiment as _, Silent};
use flashscope_record::finding::{Caveat, FindingId, FtlClass, Reason, Value};
use flashscope_record::observation::{Data, Observations};
use flashscope_sim::VirtualStick;
use flashscope_sim::profile::{Association, Basis, SmallWrites, State};
use flashscope_sim::target::Target;
use std::time::Duration;

use crate::support::{
    assert_true, check, check_and_open_units, counted_on, counted_under_random_eviction, finding, hybrid_log,
    log_structured, request, stick, with_random_eviction,
};

#[test]
fn other_numbers_of_open_units_are_found() {
    for (linear, random) in [(1, 1), (2, 2), (3, 1), (7, 4), (20, 5)] {
        assert_true(&format!("transcend-8g?open_units_linear={linear}&open_units_random={random}"));
    }
    assert_true("patriot-xt-16g?open_units_linear=3&open_units_random=3");
}

/// Under random eviction K units take about K² writes. With such large pages these would wear out the stick.
#[test]
fn many_open_units_under_random_eviction_are_counted_with_smaller_requests() {
    let data = counted_under_random_eviction(24, "transcend-8g?page=128KiB&open_units_random=3");
    assert_eq!(request(&data.larger), Some(Bytes::kib(128)));
    assert_eq!(request(&data.cells), Some(Bytes::kib(1)));
}

/// Blocks of few pages are full before many of them are counted. Each full block is replaced by a fresh one,
/// so that only blocks in the rounds hold slots.
#[test]
fn many_small_blocks_under_random_eviction_are_counted_while_they_fill_up() {
    let target = "transcend-8g?erase_block=128KiB&page=4KiB&open_units_random=90&fat_area=0&seed=1";
    let data = counted_under_random_eviction(90, target);
    let writes: usize = data.cells.iter().map(|cell| cell.writes().count()).sum();
    assert!(writes < 20_000, "{writes} writes");
}

/// The controller writes a lone small request elsewhere, but not one that continues another request.
#[test]
fn open_units_are_counted_with_repeated_requests_if_small_ones_go_elsewhere() {
    let mut target =
        Target::parse("transcend-8g?page=32KiB&open_units_linear=44&open_units_random=3").unwrap();
    target.profile.small_writes = Some(SmallWrites {
        basis: Basis::Assumed,
        up_to: Bytes::kib(16),
        write_us: 1700.0,
        per_kib_us: 16.0,
    });
    let data = counted_on(44, target);
    assert!(data.led);
    assert_eq!(request(&data.cells), Some(Bytes::kib(1)));
}

/// A full block is not written any more, and keeps its slot until it is evicted at random. So no block may be
/// full before the number is clear.
#[test]
fn many_open_small_blocks_are_counted_with_half_kibibyte_requests() {
    let data = counted_under_random_eviction(26, "transcend-8g?erase_block=256KiB&page=16KiB");
    assert_eq!(request(&data.cells), Some(Bytes::new(512)));
}

#[test]
fn largest_countable_number_of_open_units_is_found() {
    assert_true("transcend-8g?open_units_linear=128");
}

/// Nearly every fifth write stalls as long as a merge. The number is found all the same, except by chance,
/// and a control of mostly stalled writes shows no cache.
#[test]
fn open_units_are_counted_among_stalls() {
    let sticks = [(2, 1), (2, 2), (5, 3), (14, 4), (14, 5)];
    let mut counted = 0;
    for (units, seed) in sticks {
        let options = format!("erase_block=4MiB&open_units_linear={units}&open_units_random=0&seed={seed}");
        let mut target = Target::parse(&format!("transcend-8g?{options}")).unwrap();
        target.profile.noise.jitter = 0.3;
        target.profile.noise.outliers_per_million = 185_000.0;
        target.profile.noise.outlier_us = 150_000.0;
        let (findings, _) = check_and_open_units(&target);
        let found = finding(&findings, FindingId::OpenUnitsLinear);
        assert!(found.value().is_none_or(|value| value == Value::Count(units)), "seed {seed}: {found:?}");
        counted += usize::from(found.value().is_some());
    }
    assert!(counted + 1 >= sticks.len(), "{counted}");
}

/// Blocks that are full leave the rounds, and no round is without a stall.
#[test]
fn many_small_blocks_are_counted_among_stalls() {
    let mut counted = 0;
    for (units, seed, outliers_per_million) in [(100, 5, 60_000.0), (100, 5, 90_000.0), (110, 6, 40_000.0)] {
        let options =
            format!("erase_block=64KiB&open_units_linear={units}&open_units_random={units}&seed={seed}");
        let mut target = Target::parse(&format!("transcend-8g?{options}")).unwrap();
        target.profile.noise.jitter = 0.05;
        target.profile.noise.outliers_per_million = outliers_per_million;
        target.profile.noise.outlier_us = 30_000.0;
        let (findings, _) = check_and_open_units(&target);
        let found = finding(&findings, FindingId::OpenUnitsLinear);
        assert!(found.value().is_none_or(|value| value == Value::Count(units)), "seed {seed}: {found:?}");
        counted += usize::from(found.value().is_some());
    }
    assert!(counted >= 2, "{counted} of 3");
}

/// With two open blocks, random eviction mostly evicts the least recently written one, too: some rounds of
/// three blocks decide.
#[test]
fn cost_of_every_switch_is_no_merge() {
    for (target, number) in [("readme-card", 2), ("olpc-high-perf", 5), ("wirenboard-03", 6)] {
        let (findings, units) = check_and_open_units(&Target::parse(target).unwrap());
        let found = finding(&findings, FindingId::OpenUnitsLinear);
        assert_eq!(found.value(), Some(Value::Count(number)), "{target}: {found:?}");
        assert!(!units.appended.is_empty(), "{target}");
    }
}

#[test]
fn eviction_rule_of_two_open_blocks_is_found() {
    for seed in 1..=4 {
        let options =
            format!("erase_block=1MiB&page=16KiB&open_units_linear=2&open_units_random=2&seed={seed}");
        let (findings, _) = with_random_eviction(Target::parse(&format!("transcend-8g?{options}")).unwrap());
        let class = finding(&findings, FindingId::FtlClass);
        let Some(Value::Class { class: FtlClass::LogStructured, .. }) = class.value() else {
            panic!("{seed}: {class:?}")
        };
    }
}

/// A log with one slot that maps two pages: no write merges an erase block, and none shows in reads. A result
/// measured with blocks of another size says so, and is less sure.
#[test]
fn single_log_is_counted_without_a_known_erase_block() {
    let mut target = Target::parse("transcend-8g?erase_block=512KiB&page=16KiB").unwrap();
    target.profile.state = State::New;
    target.profile.read.boundary.clear();
    target.profile.ftl.fat_area = Bytes::ZERO;
    target.profile.policy = log_structured(1, Bytes::kib(32));
    let mut stick = VirtualStick::new(&target.profile, target.seed);
    let findings = check(&mut stick, true);
    assert_eq!(finding(&findings, FindingId::EraseBlockBytes).value(), None);
    let linear = finding(&findings, FindingId::OpenUnitsLinear);
    assert_eq!(linear.value(), Some(Value::Count(1)), "{linear:?}");
    assert!(linear.confidence().get() < 0.9, "{linear:?}");
    let is_assumed = |caveat: &Caveat| matches!(caveat, Caveat::AssumedEraseBlock { found: None, .. });
    assert!(linear.caveats.iter().any(is_assumed), "{linear:?}");
    let random = finding(&findings, FindingId::OpenUnitsRandom);
    assert_eq!(random.value(), None, "random writes meet several blocks of another size");
}

/// Random writes and the FAT area meet other blocks if the erase block has another size. Sequential ones lie
/// at the starts of blocks that are far apart.
#[test]
fn counts_in_blocks_of_an_assumed_size_stand_for_sequential_writes_only() {
    let mut stick = stick("transcend-8g?open_units_linear=5&open_units_random=3").0;
    let mut observations = Survey::new(true, 11).run(&mut stick, &mut Silent);
    let values = |observations: &[Observations]| {
        let findings = infer(observations);
        let ids = [FindingId::OpenUnitsLinear, FindingId::OpenUnitsRandom, FindingId::FatAreaBytes];
        ids.map(|id| finding(&findings, id).clone())
    };
    assert!(values(&observations).iter().all(|finding| finding.value().is_some()));
    // Four reads decide nothing.
    observations.retain(|seen| !matches!(seen.data, Data::BlockEnds(_)));
    for seen in &mut observations {
        if let Data::Align(data) = &mut seen.data {
            data.samples.truncate(4);
        }
    }
    let [linear, random, fat_area] = values(&observations);
    assert_eq!(linear.value(), Some(Value::Count(5)), "{linear:?}");
    assert!(linear.caveats.iter().any(|caveat| matches!(caveat, Caveat::AssumedEraseBlock { .. })));
    for finding in [random, fat_area] {
        assert!(matches!(finding.reason(), Some(Reason::IfAssumed { .. })), "{finding:?}");
    }
}

/// All slowly opened blocks of a block-associative log stay open.
#[test]
fn open_logs_of_large_blocks_are_counted() {
    let mut target = Target::parse("transcend-8g?erase_block=64MiB&page=16KiB").unwrap();
    target.profile.state = State::Steady;
    target.profile.policy = hybrid_log((Association::Block, 12), (200.0, 4300.0));
    let (findings, _) = check_and_open_units(&target);
    assert_eq!(finding(&findings, FindingId::OpenUnitsLinear).value(), Some(Value::Count(12)));
}

/// Irregular stalls are no merges.
#[test]
fn stalls_are_not_taken_for_open_units() {
    let mut target = Target::parse("patriot-xt-16g?open_units_linear=1024&open_units_random=1024").unwrap();
    target.profile.noise.outliers_per_million = 80_000.0;
    target.profile.noise.outlier_us = 200_000.0;
    let findings = check(&mut VirtualStick::new(&target.profile, 2), true);
    for id in [FindingId::OpenUnitsLinear, FindingId::OpenUnitsRandom, FindingId::FtlClass] {
        assert!(finding(&findings, id).value().is_none(), "{:?}", finding(&findings, id));
    }
}

/// A device whose first `cache` bytes are written ten times as fast as the rest.
fn cached(mut cache: Bytes) -> impl Device {
    let mut latency = Duration::from_micros(100);
    TimedDevice::new(MemoryDevice::new(Bytes::mib(256)), move |op| {
        let length = op.range().filter(|_| op.modifies()).map_or(Bytes::ZERO, |range| range.length);
        cache = cache.saturating_sub(length);
        if cache.is_zero() && op.modifies() {
            latency = Duration::from_micros(1000);
        }
        latency
    })
}

#[test]
fn filling_cache_is_not_taken_for_a_linear_only_stick() {
    for cache_mib in [1, 2, 4, 8, 16, 24] {
        let mut device = cached(Bytes::mib(cache_mib));
        let experiment = OpenUnits::new(Bytes::mib(1), Some(Bytes::kib(64)), 1);
        let seen = experiment.measure(&mut device, &Budget::UNLIMITED, &mut Silent);
        for finding in infer(&[seen]) {
            assert!(finding.value().is_none(), "{cache_mib} MiB: {finding:?}");
        }
    }
}

/// Two blocks in three slots, the third held by a block from before, may look like LRU eviction for long. The
/// test of the eviction rule finds all three open, and a fourth block must be tested.
#[test]
fn number_raised_by_the_eviction_rule_is_searched_again() {
    counted_under_random_eviction(3, "transcend-8g?erase_block=1MiB&page=8KiB&open_units_random=0&seed=912");
}
