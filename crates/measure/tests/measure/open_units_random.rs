//! Truth tests of *open-units* with random writes.

use flashscope_device::Bytes;
use flashscope_device::layer::Budget;
use flashscope_infer::infer;
use flashscope_measure::Experiment as _;
use flashscope_measure::Silent;
use flashscope_measure::experiment::OpenUnits;
use flashscope_record::finding::{FindingId, FtlClass, Value};
use flashscope_record::observation::Order;
use flashscope_sim::VirtualStick;
use flashscope_sim::profile::{Basis, Curve, Policy, SmallWrites, State, Victim};
use flashscope_sim::target::Target;

use crate::support::{check_and_open_units, finding, with_random_eviction};

/// Random writes continue the sequentially open blocks: two writes into each, and four merges, decide the
/// number.
#[test]
fn random_open_units_are_counted_in_sequentially_open_blocks() {
    let target =
        "transcend-8g?erase_block=12MiB&page=96KiB&open_units_linear=90&open_units_random=90&capacity=32GiB";
    let (findings, data) = check_and_open_units(&Target::parse(target).unwrap());
    for id in [FindingId::OpenUnitsLinear, FindingId::OpenUnitsRandom] {
        assert_eq!(finding(&findings, id).value(), Some(Value::Count(90)), "{:?}", finding(&findings, id));
    }
    assert_eq!(data.continued.len(), 94);
    assert!(data.cells.iter().all(|cell| cell.order == Order::Linear));
}

/// If the log of a sequentially open block has no room, each random continuation merges. A block that is
/// filled frees its slot: as many blocks can be opened at random, until all slots are taken.
#[test]
fn random_open_units_are_counted_by_opening_into_freed_slots() {
    for (block, linear, random) in [("512KiB", 24, 24), ("512KiB", 40, 17), ("4MiB", 34, 34)] {
        let options = format!("erase_block={block}&page=16KiB&open_units_random={random}");
        let target = format!("transcend-8g?{options}&open_units_linear={linear}");
        let mut target = Target::parse(&target).unwrap();
        let Policy::OpenBlocks(policy) = &mut target.profile.policy else { panic!("another policy") };
        policy.random_log = Some(Bytes::kib(64));
        let (findings, data) = with_random_eviction(target);
        let found = finding(&findings, FindingId::OpenUnitsRandom);
        assert_eq!(found.value(), Some(Value::Count(random)), "{found:?}");
        assert!((1..linear as usize + 8).contains(&data.freed.len()), "{}", data.freed.len());
        assert!(data.cells.iter().all(|cell| cell.order == Order::Linear));
    }
}

/// Under random eviction sequentially open blocks are continued, too. Large ones need not be filled.
#[test]
fn fewer_random_open_units_are_counted_in_sequentially_open_blocks() {
    let options = "erase_block=8MiB&page=32KiB&open_units_random=20&open_units_linear=30";
    let (findings, data) = with_random_eviction(Target::parse(&format!("transcend-8g?{options}")).unwrap());
    let found = finding(&findings, FindingId::OpenUnitsRandom);
    assert_eq!(found.value(), Some(Value::Count(20)), "{found:?}");
    assert!((20..25).contains(&data.continued.len()), "{}", data.continued.len());
    assert!(data.freed.is_empty());
}

/// Sequential data may fill a log at the first random write into its block, and continued blocks hold slots.
#[test]
fn cost_of_leaving_a_sequential_run_is_no_random_open_unit() {
    for seed in 1..=8 {
        let options = format!("erase_block=512KiB&page=16KiB&open_units_random=5&seed={seed}");
        let mut target = Target::parse(&format!("transcend-8g?open_units_linear=6&{options}")).unwrap();
        target.profile.state = State::New;
        let Policy::OpenBlocks(policy) = &mut target.profile.policy else { panic!("another policy") };
        policy.random_log = Some(Bytes::kib(480));
        let (findings, _) = with_random_eviction(target);
        let found = finding(&findings, FindingId::OpenUnitsRandom);
        assert_eq!(found.value(), Some(Value::Count(5)), "{seed}: {found:?}");
    }
}

/// If every eighth write stalls, three of four openings are slow by chance sooner or later: more openings are
/// required.
#[test]
fn random_openings_are_distinguished_from_stalls() {
    let mut found_count = 0;
    for seed in 1..=4 {
        let options = format!("erase_block=512KiB&page=16KiB&open_units_random=18&seed={seed}");
        let mut target = Target::parse(&format!("transcend-8g?open_units_linear=60&{options}")).unwrap();
        target.profile.noise.jitter = 0.25;
        target.profile.noise.outliers_per_million = 130_000.0;
        target.profile.noise.outlier_us = 60_000.0;
        let mut stick = VirtualStick::new(&target.profile, target.seed);
        let experiment = OpenUnits::new(Bytes::kib(512), Some(Bytes::kib(16)), seed);
        let findings = infer(&[experiment.measure(&mut stick, &Budget::UNLIMITED, &mut Silent)]);
        let found = finding(&findings, FindingId::OpenUnitsRandom);
        assert!(found.value().is_none_or(|value| value == Value::Count(18)), "seed {seed}: {found:?}");
        found_count += usize::from(found.value().is_some());
    }
    assert!(found_count >= 3, "{found_count}");
}

/// One of eight blocks has no slot for random writes. It is slow in every round, not only once.
#[test]
fn one_random_block_too_many_is_found_by_repeated_rounds() {
    for seed in 1..=4 {
        let options = format!("erase_block=4MiB&page=16KiB&open_units_random=7&seed={seed}");
        let (findings, _) = with_random_eviction(
            Target::parse(&format!("transcend-8g?open_units_linear=8&{options}")).unwrap(),
        );
        let found = finding(&findings, FindingId::OpenUnitsRandom);
        assert_eq!(found.value(), Some(Value::Count(7)), "seed {seed}: {found:?}");
        assert!(found.confidence().get() > 0.9, "seed {seed}: {found:?}");
    }
}

/// A stick of few blocks has no fresh ones left for the random search.
#[test]
fn open_units_are_counted_in_both_orders_on_a_small_stick() {
    let options =
        "capacity=136MiB&erase_block=8MiB&page=32KiB&fat_area=0&open_units_linear=12&open_units_random=11";
    let (findings, _) = check_and_open_units(&Target::parse(&format!("transcend-8g?{options}")).unwrap());
    let found =
        [FindingId::OpenUnitsLinear, FindingId::OpenUnitsRandom].map(|id| finding(&findings, id).value());
    assert_eq!(found, [Some(Value::Count(12)), Some(Value::Count(11))]);
}

/// Requests too small to merge decide nothing about random writes.
#[test]
fn random_requests_are_large_enough_to_merge() {
    let options = "erase_block=224MiB&page=448KiB&fat_area=0&open_units_linear=58&open_units_random=0";
    let mut target = Target::parse(&format!("transcend-8g?capacity=56GiB&{options}")).unwrap();
    let up_to = Bytes::kib(224);
    target.profile.small_writes =
        Some(SmallWrites { basis: Basis::Assumed, up_to, write_us: 18_000.0, per_kib_us: 10.0 });
    let (findings, _) = check_and_open_units(&target);
    let found = finding(&findings, FindingId::OpenUnitsRandom);
    assert_eq!(found.value(), Some(Value::Count(0)), "{found:?}");
    let class = finding(&findings, FindingId::FtlClass).value();
    let is_right = matches!(class, Some(Value::Class { class: FtlClass::LinearOnly, above: Some(_) }));
    assert!(is_right, "{class:?}");
}

/// The sequential number takes too long. But many more blocks were open at once than have slots for random
/// writes.
#[test]
fn random_open_units_are_counted_without_the_sequential_number() {
    let mut target = Target::parse(
        "transcend-8g?erase_block=12MiB&page=96KiB&open_units_linear=100&open_units_random=8&seed=5",
    )
    .unwrap();
    let Policy::OpenBlocks(policy) = &mut target.profile.policy else { panic!("another policy") };
    policy.victim = Victim::Random;
    policy.merge_us = Curve::Constant(8_000_000.0);
    // So no smaller request merges.
    let up_to = Bytes::kib(48);
    target.profile.small_writes =
        Some(SmallWrites { basis: Basis::Assumed, up_to, write_us: 9000.0, per_kib_us: 36.0 });
    let (findings, _) = check_and_open_units(&target);
    let [linear, random] =
        [FindingId::OpenUnitsLinear, FindingId::OpenUnitsRandom].map(|id| finding(&findings, id));
    assert_eq!(linear.value(), None, "{linear:?}");
    assert_eq!(random.value(), Some(Value::Count(8)), "{random:?}");
}
