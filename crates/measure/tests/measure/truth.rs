//! Truth tests: what is inferred from virtual sticks, against what is true of them.

use std::time::Duration;

use flashscope_device::layer::{
    Budget, FaultSpec, Faulty, Interrupt, Interruptible, Meter, ReadOnly, Replay, Trace,
};
use flashscope_device::memory::MemoryDevice;
use flashscope_device::{
    ByteRange, Bytes, Capabilities, Completion, Device, DeviceError, DeviceExt, Instant, Op, Pattern, Tag,
};
use flashscope_infer::infer;
use flashscope_measure::experiment::{Align, BlockEnds, OpenUnits, WriteSize};
use flashscope_measure::survey::Survey;
use flashscope_measure::{Event, Experiment, Observer, Silent};
use flashscope_record::finding::{
    BlockEvidence, Caveat, Evidence, Finding, FindingId, FtlClass, Outcome, Reason, SizeEvidence, Value,
};
use flashscope_record::observation::{Cause, Data, Ended, OpenUnitsCell, OpenUnitsData, Order, StopReason};
use flashscope_record::run_file::RunFile;
use flashscope_sim::VirtualStick;
use flashscope_sim::profile::{
    Association, Basis, Class, Curve, GcVictim, HybridLog, LogStructured, PageMapped, Policy, SmallWrites,
    State, Truth, Victim, WriteBuffer,
};
use flashscope_sim::target::Target;

fn stick(target: &str) -> (VirtualStick, Truth) {
    let target = Target::parse(target).unwrap();
    (VirtualStick::new(&target.profile, target.seed), target.profile.truth())
}

fn check(device: &mut dyn Device, writes: bool) -> Vec<Finding> {
    infer(&Survey::new(writes, 11).run(device, &mut Silent))
}

fn finding(findings: &[Finding], id: FindingId) -> &Finding {
    findings.iter().find(|finding| finding.id == id).unwrap()
}

fn expected(truth: &Truth) -> [(FindingId, Value); 6] {
    let class = match truth.class {
        Class::LinearOnly => FtlClass::LinearOnly,
        Class::OpenBlock => FtlClass::OpenBlock,
        Class::LogStructured => FtlClass::LogStructured,
        Class::HybridLog | Class::PageMapped => unreachable!("no finding names this class"),
    };
    [
        (FindingId::EraseBlockBytes, Value::Bytes(truth.erase_block)),
        (FindingId::PageBytes, Value::Bytes(truth.page)),
        (FindingId::OpenUnitsLinear, Value::Count(truth.open_units_linear.unwrap())),
        (FindingId::OpenUnitsRandom, Value::Count(truth.open_units_random.unwrap())),
        (FindingId::FatAreaBytes, Value::Bytes(truth.fat_area)),
        (FindingId::FtlClass, Value::Class { class, above: truth.small_writes_up_to }),
    ]
}

/// Every finding of a full check is true, and none of them is unknown.
fn assert_true(target: &str) {
    let (mut stick, truth) = stick(target);
    let findings = check(&mut stick, true);
    for (id, value) in expected(&truth) {
        let found = finding(&findings, id);
        assert_eq!(found.value(), Some(value), "{target}: {id}: {found:?}");
        assert!(found.confidence().get() > 0.8, "{target}: {id}: {found:?}");
    }
}

#[test]
fn the_patriot_is_read_right() {
    for seed in 1..=3 {
        assert_true(&format!("patriot-xt-16g?seed={seed}"));
    }
}

/// A smaller step beside that of two planes, however large, is no page: the planes lie inside a larger one.
#[test]
fn no_smaller_page_is_found_beside_two_planes() {
    for (seed, across_us) in (1..).zip([28.0, 36.0, 40.0, 50.0, 80.0]) {
        let mut target = Target::parse("patriot-xt-16g").unwrap();
        let detail = target.profile.read.boundary.last_mut().unwrap();
        assert_eq!(detail.period, Bytes::kib(2));
        detail.across_us = across_us;
        let findings = check(&mut VirtualStick::new(&target.profile, seed), false);
        let page = finding(&findings, FindingId::PageBytes);
        let reason = page.reason();
        assert!(
            matches!(reason, Some(Reason::TwoPlanes { half, .. }) if *half == Bytes::kib(16)),
            "{across_us} us: {page:?}"
        );
    }
}

#[test]
fn the_transcend_is_read_right() {
    for seed in 1..=3 {
        assert_true(&format!("transcend-8g?seed={seed}"));
    }
}

#[test]
fn the_generic_stick_is_read_right() {
    for seed in 1..=3 {
        assert_true(&format!("generic-2g?seed={seed}"));
    }
}

#[test]
fn other_numbers_of_open_units_are_read_right() {
    for (linear, random) in [(1, 1), (2, 2), (3, 1), (7, 4), (20, 5)] {
        assert_true(&format!("transcend-8g?open_units_linear={linear}&open_units_random={random}"));
    }
    assert_true("patriot-xt-16g?open_units_linear=3&open_units_random=3");
}

/// What a full check says of a stick, and the writes of its open-units experiment.
fn check_and_open_units(target: &Target) -> (Vec<Finding>, OpenUnitsData) {
    let seen = Survey::new(true, 11).run(&mut VirtualStick::new(&target.profile, target.seed), &mut Silent);
    let data = seen.iter().find_map(|seen| match &seen.data {
        Data::OpenUnits(data) => Some(data.clone()),
        _ => None,
    });
    (infer(&seen), data.unwrap())
}

/// The writes that counted so many open units right, of which any has to go.
fn counted_where_any_goes(open_units: u32, target: &str) -> OpenUnitsData {
    counted_on(open_units, Target::parse(&format!("{target}&open_units_linear={open_units}")).unwrap())
}

/// The same on a stick that is known.
fn counted_on(open_units: u32, target: Target) -> OpenUnitsData {
    let (findings, data) = any_goes(target);
    let units = finding(&findings, FindingId::OpenUnitsLinear);
    assert_eq!(units.value(), Some(Value::Count(open_units)), "{units:?}");
    data
}

/// What is said of a stick that closes any of its open blocks, and the writes of its open-units experiment.
fn any_goes(mut target: Target) -> (Vec<Finding>, OpenUnitsData) {
    let victim = match &mut target.profile.policy {
        Policy::OpenBlocks(policy) => Some(&mut policy.victim),
        _ => None,
    };
    *victim.unwrap() = Victim::Random;
    check_and_open_units(&target)
}

fn request(cells: &[OpenUnitsCell]) -> Option<Bytes> {
    cells.first().map(|cell| cell.request)
}

/// Where any block has to go, K of them take some K² writes: of pages that large they would wear out the
/// stick.
#[test]
fn many_open_units_of_which_any_goes_are_counted_with_smaller_requests() {
    let data = counted_where_any_goes(24, "transcend-8g?page=128KiB&open_units_random=3");
    assert_eq!(request(&data.larger), Some(Bytes::kib(128)));
    assert_eq!(request(&data.cells), Some(Bytes::kib(1)));
}

/// Blocks of few pages are full before many of them are counted. Each that is hands its place to the one
/// begun behind it, so that nothing but those that take turns holds any.
#[test]
fn many_small_blocks_of_which_any_goes_are_counted_while_they_fill_up() {
    for seed in 1..=3 {
        let target =
            format!("transcend-8g?erase_block=128KiB&page=4KiB&open_units_random=90&fat_area=0&seed={seed}");
        let data = counted_where_any_goes(90, &target);
        let writes: usize = data.cells.iter().map(|cell| cell.writes().count()).sum();
        assert!(writes < 20_000, "{seed}: {writes} writes");
    }
}

/// What a controller puts aside where it is alone goes its usual way behind another request that ends there.
#[test]
fn many_open_units_are_counted_with_led_requests_where_small_ones_are_put_aside() {
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

/// A block that is full is not written any more, and keeps its place until it goes by chance: so none may
/// become full before it is clear.
#[test]
fn many_open_units_of_small_blocks_are_counted_with_still_smaller_requests() {
    let data = counted_where_any_goes(26, "transcend-8g?erase_block=256KiB&page=16KiB");
    assert_eq!(request(&data.cells), Some(Bytes::new(512)));
}

#[test]
fn the_most_open_units_that_are_told_from_more_are() {
    assert_true("transcend-8g?open_units_linear=128");
}

/// What is open in order is gone on with out of order: that tells how many fit with two writes into each, and
/// four merges.
#[test]
fn open_units_are_counted_out_of_order_in_those_that_are_open_in_order() {
    let target =
        "transcend-8g?erase_block=12MiB&page=384KiB&open_units_linear=90&open_units_random=90&capacity=32GiB";
    let (findings, data) = check_and_open_units(&Target::parse(target).unwrap());
    for id in [FindingId::OpenUnitsLinear, FindingId::OpenUnitsRandom] {
        assert_eq!(finding(&findings, id).value(), Some(Value::Count(90)), "{:?}", finding(&findings, id));
    }
    assert_eq!(data.gone_on.len(), 94);
    assert!(data.cells.iter().all(|cell| cell.order == Order::Linear));
}

/// Where what is open in order has no room in a log, each block that is gone on with pays for that. A block
/// that is written whole holds no place any more: as many as are begun then find one, until all are taken.
#[test]
fn blocks_begun_as_others_are_given_back_tell_how_many_are_open_out_of_order() {
    for (block, linear, random) in [("512KiB", 24, 24), ("512KiB", 40, 17), ("4MiB", 34, 34)] {
        let options = format!("erase_block={block}&page=16KiB&open_units_random={random}");
        let target = format!("transcend-8g?{options}&open_units_linear={linear}");
        let mut target = Target::parse(&target).unwrap();
        let Policy::OpenBlocks(policy) = &mut target.profile.policy else { panic!("another policy") };
        policy.random_log = Some(Bytes::kib(64));
        let (findings, data) = any_goes(target);
        let found = finding(&findings, FindingId::OpenUnitsRandom);
        assert_eq!(found.value(), Some(Value::Count(random)), "{found:?}");
        assert!((1..linear as usize + 8).contains(&data.given_back.len()), "{}", data.given_back.len());
        assert!(data.cells.iter().all(|cell| cell.order == Order::Linear));
    }
}

/// Where any block has to go, those that are open in order are gone on with as well; large ones need not be
/// written whole.
#[test]
fn fewer_open_units_out_of_order_are_counted_in_those_that_are_open_in_order() {
    let options = "erase_block=8MiB&page=32KiB&open_units_random=20&open_units_linear=30";
    let (findings, data) = any_goes(Target::parse(&format!("transcend-8g?{options}")).unwrap());
    let found = finding(&findings, FindingId::OpenUnitsRandom);
    assert_eq!(found.value(), Some(Value::Count(20)), "{found:?}");
    assert!((20..25).contains(&data.gone_on.len()), "{}", data.gone_on.len());
    assert!(data.given_back.is_empty());
}

/// What was written in order may fill a log as soon as its block is gone on with out of order, and blocks
/// that were gone on with hold places.
#[test]
fn what_leaving_a_run_costs_is_no_open_unit_out_of_order() {
    for seed in 1..=8 {
        let options = format!("erase_block=512KiB&page=16KiB&open_units_random=5&seed={seed}");
        let mut target = Target::parse(&format!("transcend-8g?open_units_linear=6&{options}")).unwrap();
        target.profile.state = State::New;
        let Policy::OpenBlocks(policy) = &mut target.profile.policy else { panic!("another policy") };
        policy.random_log = Some(Bytes::kib(480));
        let (findings, _) = any_goes(target);
        let found = finding(&findings, FindingId::OpenUnitsRandom);
        assert_eq!(found.value(), Some(Value::Count(5)), "{seed}: {found:?}");
    }
}

/// Among stalls at every eighth write three of four blocks are slow by chance sooner or later: more are asked
/// for.
#[test]
fn slow_blocks_out_of_order_are_told_from_stalls() {
    let mut told = 0;
    for seed in 1..=8 {
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
        told += usize::from(found.value().is_some());
    }
    assert!(told >= 6, "{told}");
}

/// One of eight blocks does not fit out of order: that it is slow in every turn tells, not that it was once.
#[test]
fn one_block_too_many_out_of_order_is_told_by_turns() {
    for seed in 1..=4 {
        let options = format!("erase_block=4MiB&page=16KiB&open_units_random=7&seed={seed}");
        let (findings, _) =
            any_goes(Target::parse(&format!("transcend-8g?open_units_linear=8&{options}")).unwrap());
        let found = finding(&findings, FindingId::OpenUnitsRandom);
        assert_eq!(found.value(), Some(Value::Count(7)), "seed {seed}: {found:?}");
        assert!(found.confidence().get() > 0.9, "seed {seed}: {found:?}");
    }
}

/// A stick of few blocks has no fresh ones left for the search out of order.
#[test]
fn open_units_are_counted_in_both_orders_on_a_stick_of_few_blocks() {
    let options =
        "capacity=136MiB&erase_block=8MiB&page=32KiB&fat_area=0&open_units_linear=12&open_units_random=11";
    let (findings, _) = check_and_open_units(&Target::parse(&format!("transcend-8g?{options}")).unwrap());
    let found =
        [FindingId::OpenUnitsLinear, FindingId::OpenUnitsRandom].map(|id| finding(&findings, id).value());
    assert_eq!(found, [Some(Value::Count(12)), Some(Value::Count(11))]);
}

/// Requests so small that they pay nothing tell nothing out of order.
#[test]
fn requests_out_of_order_are_not_so_small_that_they_are_free() {
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

/// Where it would take too long to count what is open in order, that many more were open at once than fit out
/// of order tells these.
#[test]
fn open_units_out_of_order_are_counted_where_those_in_order_are_not() {
    let mut target = Target::parse(
        "transcend-8g?erase_block=12MiB&page=96KiB&open_units_linear=100&open_units_random=8&seed=5",
    )
    .unwrap();
    let Policy::OpenBlocks(policy) = &mut target.profile.policy else { panic!("another policy") };
    policy.victim = Victim::Random;
    policy.merge_us = Curve::Constant(8_000_000.0);
    // So no smaller request would tell.
    let up_to = Bytes::kib(48);
    target.profile.small_writes =
        Some(SmallWrites { basis: Basis::Assumed, up_to, write_us: 9000.0, per_kib_us: 36.0 });
    let (findings, _) = check_and_open_units(&target);
    let [linear, random] =
        [FindingId::OpenUnitsLinear, FindingId::OpenUnitsRandom].map(|id| finding(&findings, id));
    assert_eq!(linear.value(), None, "{linear:?}");
    assert_eq!(random.value(), Some(Value::Count(8)), "{random:?}");
}

/// A log that maps pages by twos or fours completes them where a run stops in between, however slow the link.
#[test]
fn a_log_of_several_pages_is_counted_over_data() {
    for (streams, pages, more) in [(9, 2, ""), (5, 4, ""), (1, 2, "&link=usb-full&page=4KiB")] {
        let mut target = Target::parse(&format!("transcend-8g?fat_area=0{more}")).unwrap();
        target.profile.policy = log_structured(streams, target.profile.ftl.page * pages);
        target.profile.noise.jitter = 0.004;
        let (findings, _) = check_and_open_units(&target);
        let [units, class] =
            [FindingId::OpenUnitsLinear, FindingId::FtlClass].map(|id| finding(&findings, id));
        assert_eq!(units.value(), Some(Value::Count(streams)), "{streams} of {pages} pages: {units:?}");
        assert_eq!(class.value(), Some(LOG), "{streams} of {pages} pages: {class:?}");
    }
}

/// A log that maps as much at once as is written has nothing to complete, into however many blocks: smaller
/// requests show what it keeps open, and that it is a log.
#[test]
fn a_log_is_counted_with_requests_smaller_than_what_it_maps_at_once() {
    for streams in [2, 5, 40] {
        let mut target = Target::parse("transcend-8g?fat_area=0&link=usb-high").unwrap();
        target.profile.policy = log_structured(streams, target.profile.ftl.page * 4);
        target.profile.write_buffer =
            Some(WriteBuffer { basis: Basis::Assumed, size: Bytes::kib(256), accept_us: 16.0 });
        let (findings, data) = check_and_open_units(&target);
        let [units, class, fat_area] =
            [FindingId::OpenUnitsLinear, FindingId::FtlClass, FindingId::FatAreaBytes]
                .map(|id| finding(&findings, id));
        assert_eq!(request(&data.free), Some(target.profile.ftl.page * 4), "{streams}: {units:?}");
        assert_eq!(request(&data.cells), Some(target.profile.ftl.page), "{streams}: {units:?}");
        assert_eq!(units.value(), Some(Value::Count(streams)), "{streams}: {units:?}");
        assert_eq!(class.value(), Some(LOG), "{streams}: {class:?}");
        assert_eq!(fat_area.bytes(), Some(Bytes::ZERO), "{streams}: {fat_area:?}");
    }
}

/// What a log completes may take less than half as long as a write over a slow link; and a group of its pages
/// takes so long there that a completion would not show in it.
#[test]
fn a_log_behind_a_slow_link_is_counted_by_small_steps() {
    for (streams, seed) in [(3, 6), (8, 6), (8, 7)] {
        let options = "erase_block=512KiB&page=32KiB&fat_area=0&link=usb-full";
        let mut target = Target::parse(&format!("transcend-8g?{options}&seed={seed}")).unwrap();
        target.profile.policy = log_structured(streams, Bytes::kib(128));
        target.profile.noise.jitter = 0.016;
        let (findings, _) = check_and_open_units(&target);
        let [units, class] =
            [FindingId::OpenUnitsLinear, FindingId::FtlClass].map(|id| finding(&findings, id));
        assert_eq!(units.value(), Some(Value::Count(streams)), "{streams}: {units:?}");
        assert_eq!(class.value(), Some(LOG), "{streams}: {class:?}");
    }
}

/// Stalls as long as merges at nearly every fifth write: neither do they hide how many blocks fit, but by
/// chance, nor do seven writes of which most were held up tell of a cache.
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

/// Blocks that are soon full take turns no more, and no turn of so many is without a stall.
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

fn collecting(options: &str, over_provisioning: f64, victim: GcVictim) -> Target {
    let mut target = Target::parse(&format!("transcend-8g?fat_area=0&{options}")).unwrap();
    target.profile.state = State::Steady;
    target.profile.policy = Policy::PageMapped(PageMapped {
        basis: Basis::Assumed,
        over_provisioning,
        victim,
        hot_cold: false,
        background_share: 0.0,
        copy_page_us: 1200.0,
        erase_us: 3000.0,
    });
    target
}

/// Collections of large blocks come so seldom that a search sees one or none, those of small ones in each of
/// its writes: one block written from start to end shows both.
#[test]
fn a_page_mapped_stick_is_known_by_what_it_collects_in_one_run() {
    let large = "erase_block=32MiB&page=32KiB&capacity=6GiB&seed=4";
    let small = "erase_block=128KiB&page=4KiB&capacity=256MiB&seed=4";
    for (options, over_provisioning, victim) in
        [(large, 0.04, GcVictim::Greedy), (small, 0.10, GcVictim::CostBenefit)]
    {
        let (findings, data) = check_and_open_units(&collecting(options, over_provisioning, victim));
        let class = finding(&findings, FindingId::FtlClass);
        let paged = Value::Class { class: FtlClass::PageMapped, above: None };
        assert_eq!(class.value(), Some(paged), "{options} {over_provisioning}: {class:?}");
        assert!(!data.one_run.is_empty(), "{options}");
    }
}

/// Where every few writes collect space, they do so into one block as into five: that is no number of open
/// units.
#[test]
fn space_that_is_collected_all_the_time_is_no_number_of_open_units() {
    for seed in [9, 11, 12] {
        let options = format!("erase_block=1280KiB&page=80KiB&capacity=4GiB&seed={seed}");
        let (findings, _) = check_and_open_units(&collecting(&options, 0.119, GcVictim::CostBenefit));
        let units = finding(&findings, FindingId::OpenUnitsLinear);
        assert_eq!(units.value(), None, "{seed}: {units:?}");
    }
}

/// A log collects as well, but completes what it maps at once where pages come out of order.
#[test]
fn a_log_that_collects_is_not_page_mapped() {
    for streams in [1, 200] {
        let mut target = collecting("erase_block=4MiB&page=16KiB&seed=4", 0.08, GcVictim::Greedy);
        target.profile.policy = log_structured(streams, Bytes::kib(64));
        let (findings, _) = check_and_open_units(&target);
        let class = finding(&findings, FindingId::FtlClass);
        let paged = Value::Class { class: FtlClass::PageMapped, above: None };
        assert_ne!(class.value(), Some(paged), "{streams}: {class:?}");
    }
}

/// Logs that all blocks share are full once for each erase block that is written, into however many blocks,
/// but not by one run in order.
#[test]
fn logs_that_all_blocks_share_are_no_number_of_open_units() {
    for log_blocks in [3, 5] {
        let options = format!("erase_block=1MiB&page=32KiB&fat_area=0&seed={log_blocks}");
        let mut target = Target::parse(&format!("transcend-8g?{options}")).unwrap();
        target.profile.state = State::New;
        target.profile.policy = hybrid_log((Association::Full, log_blocks), (6000.0, 3000.0));
        let (findings, _) = check_and_open_units(&target);
        let [units, class] =
            [FindingId::OpenUnitsLinear, FindingId::FtlClass].map(|id| finding(&findings, id));
        let hybrid = Value::Class { class: FtlClass::HybridLog, above: None };
        assert_eq!(units.value(), Some(Value::Count(1)), "{log_blocks}: {units:?}");
        assert_eq!(class.value(), Some(hybrid), "{log_blocks}: {class:?}");
    }
}

/// A new stick has nothing to copy in order; out of order each block still takes a place, and gives it back
/// for a merge. Where in order it costs nothing at all, as with large blocks of small pages, as many are
/// counted as well.
#[test]
fn a_new_stick_is_known_by_what_merges_out_of_order() {
    let (small, large) = ("erase_block=1MiB&page=8KiB", "erase_block=2560KiB&page=4KiB");
    let (usual, quick) = ((840.0, 1700.0), (700.0, 2800.0));
    for (log_blocks, geometry, takes) in
        [(16, small, usual), (100, small, usual), (112, large, quick), (124, large, quick)]
    {
        let mut target = Target::parse(&format!("transcend-8g?{geometry}&fat_area=0")).unwrap();
        target.profile.state = State::New;
        target.profile.policy = hybrid_log((Association::Block, log_blocks), takes);
        let (findings, _) = check_and_open_units(&target);
        let [units, class] =
            [FindingId::OpenUnitsRandom, FindingId::FtlClass].map(|id| finding(&findings, id));
        assert_eq!(units.value(), Some(Value::Count(log_blocks)), "{log_blocks}: {units:?}");
        // A cache that fills up looks alike.
        assert!(matches!(&units.outcome, Outcome::Found { confidence, .. } if confidence.get() < 0.95));
        let open_block = Value::Class { class: FtlClass::OpenBlock, above: None };
        assert_eq!(class.value(), Some(open_block), "{log_blocks}: {class:?}");
    }
}

/// With two open blocks the one written longest ago is mostly the one that goes by chance, too: some turns of
/// three tell.
#[test]
fn what_every_switch_costs_is_no_merge() {
    for (target, number) in [("readme-card", 2), ("olpc-high-perf", 5), ("wirenboard-03", 6)] {
        let (findings, units) = check_and_open_units(&Target::parse(target).unwrap());
        let found = finding(&findings, FindingId::OpenUnitsLinear);
        assert_eq!(found.value(), Some(Value::Count(number)), "{target}: {found:?}");
        assert!(!units.appended.is_empty(), "{target}");
    }
}

#[test]
fn which_of_two_open_blocks_goes_is_told() {
    for seed in 1..=4 {
        let options =
            format!("erase_block=1MiB&page=16KiB&open_units_linear=2&open_units_random=2&seed={seed}");
        let (findings, _) = any_goes(Target::parse(&format!("transcend-8g?{options}")).unwrap());
        let class = finding(&findings, FindingId::FtlClass);
        let Some(Value::Class { class: FtlClass::LogStructured, .. }) = class.value() else {
            panic!("{seed}: {class:?}")
        };
    }
}

/// So many log blocks, and what it takes to copy a page and to erase a block, microseconds.
fn hybrid_log((association, log_blocks): (Association, u32), (copy_page_us, erase_us): (f64, f64)) -> Policy {
    Policy::HybridLog(HybridLog { basis: Basis::Assumed, association, log_blocks, copy_page_us, erase_us })
}

const LOG: Value = Value::Class { class: FtlClass::LogStructured, above: None };

fn log_structured(streams: u32, unit: Bytes) -> Policy {
    Policy::LogStructured(LogStructured {
        basis: Basis::Assumed,
        streams,
        unit: Some(unit),
        over_provisioning: 0.07,
        background_share: 0.0,
        copy_page_us: 3000.0,
        erase_us: 3000.0,
    })
}

/// What reads tell of the erase block where some of so many places of 1 MiB are written: so many of 1021.
fn block_of_written_here_and_there(target: &Target, seed: u64, (places, share): (u64, u64)) -> Finding {
    let mut stick = VirtualStick::new(&target.profile, seed);
    for place in (0..places).filter(|place| (place * 40_503 + seed) % 1021 < share) {
        let range = ByteRange::new(Bytes::mib(place), Bytes::mib(1));
        stick.run(Op::write(range, Pattern::new(place))).unwrap();
    }
    block_by_reads(&mut stick, seed)
}

fn block_by_reads(stick: &mut VirtualStick, seed: u64) -> Finding {
    let seen = Align::new(None, seed).measure(stick, &Budget::UNLIMITED, &mut Silent);
    finding(&infer(&[seen]), FindingId::EraseBlockBytes).clone()
}

/// What noisy reads tell of a stick's erase block, whose boundary takes so many microseconds longer, and a
/// page's.
fn block_by_noisy_reads(target: &str, jitter: f64, (block_us, page_us): (f64, f64), seed: u64) -> Finding {
    let mut target = Target::parse(target).unwrap();
    target.profile.noise.jitter = jitter;
    for (boundary, across_us) in target.profile.read.boundary.iter_mut().zip([block_us, page_us]) {
        (boundary.across_us, boundary.before_us) = (across_us, 0.0);
    }
    block_by_reads(&mut VirtualStick::new(&target.profile, seed), seed)
}

/// Where what was written meets what never was, reads on both sides differ, and the one across lies in
/// between: no boundary of the flash.
#[test]
fn edges_of_what_was_written_are_no_boundaries() {
    for seed in 1..=12 {
        let mut target = Target::parse("transcend-8g?erase_block=256KiB&capacity=1GiB").unwrap();
        target.profile.state = State::New;
        target.profile.read.never_written_factor = 0.45;
        let [block, page] = &mut target.profile.read.boundary[..] else { panic!("other boundaries") };
        (block.across_us, block.before_us, page.across_us) = (80.0, 0.0, 30.0);
        let block = block_of_written_here_and_there(&target, seed, (1024, 300));
        assert_eq!(block.bytes(), Some(Bytes::kib(256)), "{seed}: {block:?}");
    }
}

/// The same where the end of a block makes the read before it quicker, and what was written begins.
#[test]
fn edges_of_what_was_written_are_left_out_where_blocks_end_the_other_way_round() {
    for seed in 3..=6 {
        let target = "transcend-8g?erase_block=128KiB&page=4KiB&capacity=912MiB";
        let mut target = Target::parse(target).unwrap();
        target.profile.state = State::New;
        target.profile.read.never_written_factor = 0.43;
        let [block, page] = &mut target.profile.read.boundary[..] else { panic!("other boundaries") };
        (block.across_us, block.before_us, page.across_us) = (38.0, -46.0, 0.0);
        let block = block_of_written_here_and_there(&target, seed, (912, 480));
        assert_eq!(block.bytes(), Some(Bytes::kib(128)), "{seed}: {block:?}");
    }
}

/// Reads whose noise is several times a boundary's step are read where the sizes that are left differ, unless
/// places differ, too.
#[test]
fn very_noisy_reads_are_read_where_they_tell() {
    for (seed, jitter) in [(12, 0.25), (16, 0.35)] {
        let target = "transcend-8g?erase_block=256KiB&capacity=8GiB";
        let block = block_by_noisy_reads(target, jitter, (60.0, 20.0), seed);
        assert_eq!(block.bytes(), Some(Bytes::kib(256)), "{seed}: {block:?}");
    }
}

/// Where few boundaries are those of a block, the reads across them are known worst: single ones have to
/// agree before it is told.
#[test]
fn a_block_of_few_boundaries_is_read_until_single_reads_agree() {
    for seed in [5, 13, 14, 19] {
        let target = "transcend-8g?erase_block=8MiB&page=16KiB&capacity=56MiB";
        let block = block_by_noisy_reads(target, 0.35, (150.0, 75.0), seed);
        assert_eq!(block.bytes(), Some(Bytes::mib(8)), "{seed}: {block:?}");
    }
}

/// Over a slow link such an edge is a small part of a read's time, and what a block's end saves the read
/// before it hides half of it.
#[test]
fn an_edge_of_what_was_written_is_left_out_over_a_slow_link() {
    let target = "transcend-8g?erase_block=512KiB&capacity=264MiB&link=usb-full&page=2KiB";
    let mut target = Target::parse(target).unwrap();
    target.profile.state = State::New;
    (target.profile.read.access_us, target.profile.read.never_written_factor) = (580.0, 0.53);
    target.profile.noise.jitter = 0.005;
    let [block, page] = &mut target.profile.read.boundary[..] else { panic!("other boundaries") };
    (block.across_us, block.before_us, page.across_us) = (230.0, -120.0, 77.0);
    let mut stick = VirtualStick::new(&target.profile, 1);
    // The only boundary of 128 MiB that is one of no other candidate.
    let edge = Bytes::mib(128);
    for place in 0..128 {
        let range = ByteRange::new(Bytes::mib(place), Bytes::mib(1));
        stick.run(Op::write(range, Pattern::new(place))).unwrap();
    }
    let seen = Align::new(None, 1).measure(&mut stick, &Budget::UNLIMITED, &mut Silent);
    let Data::Align(data) = &seen.data else { panic!("other data") };
    let at_edge = data.samples.iter().filter(|sample| sample.boundary == Some(edge)).count();
    // What reads differ by as a rule is not known of the first.
    assert!(at_edge <= 1, "{at_edge}");
    assert_eq!(finding(&infer(&[seen]), FindingId::EraseBlockBytes).bytes(), Some(Bytes::kib(512)));
}

#[test]
fn geometry_need_not_be_a_power_of_two() {
    for geometry in [
        "erase_block=12MiB&page=48KiB",
        "erase_block=6MiB&page=24KiB",
        "erase_block=1536KiB",
        "erase_block=24MiB",
    ] {
        assert_true(&format!("transcend-8g?{geometry}"));
    }
}

/// A stick that says that data is written which it only holds in memory: a flush tells how long the flash
/// takes.
#[test]
fn the_page_is_found_behind_a_write_buffer() {
    let mut target = Target::parse("transcend-8g?page=48KiB&erase_block=6MiB").unwrap();
    let buffer = WriteBuffer { basis: Basis::Assumed, size: Bytes::kib(128), accept_us: 30.0 };
    target.profile.write_buffer = Some(buffer);
    let mut stick = VirtualStick::new(&target.profile, 3);
    let experiment = WriteSize { erase_block: Bytes::mib(6), erase_block_is_known: true, seed: 5 };
    let findings = infer(&[experiment.measure(&mut stick, &Budget::UNLIMITED, &mut Silent)]);
    let page = finding(&findings, FindingId::PageBytes);
    assert_eq!(page.bytes(), Some(Bytes::kib(48)), "{page:?}");
    let evidence = page.evidence;
    assert!(
        matches!(evidence, Some(Evidence::Sizes(SizeEvidence::PageEdges { is_flushed: true, .. }))),
        "{page:?}"
    );
}

/// A new stick or another, of which reads show nothing: writes have to find its erase block.
fn assert_written_block_is_true(mut target: Target) {
    target.profile.read.boundary.clear();
    let mut stick = VirtualStick::new(&target.profile, target.seed);
    let experiment = BlockEnds::new(Some(target.profile.ftl.page), Vec::new(), 7);
    let seen = experiment.measure(&mut stick, &Budget::UNLIMITED, &mut Silent);
    let findings = infer(std::slice::from_ref(&seen));
    let block = finding(&findings, FindingId::EraseBlockBytes);
    assert_eq!(block.bytes(), Some(target.profile.truth().erase_block), "{block:?}");
    assert!(block.confidence().get() > 0.95, "{block:?}");
    let is_short = matches!(&seen.data, Data::BlockEnds(data) if data.crossings.len() < 25);
    assert!(is_short, "{:?}", seen.data);
}

#[test]
fn the_erase_block_shows_in_writes_where_reads_show_none() {
    for target in [
        "transcend-8g?seed=2",
        "transcend-8g?erase_block=12MiB&page=48KiB",
        "transcend-8g?erase_block=1MiB&open_units_linear=1&open_units_random=1",
        "transcend-8g?erase_block=1MiB&open_units_linear=3&open_units_random=0",
        "transcend-8g?erase_block=80KiB&page=5KiB&open_units_linear=40&open_units_random=9",
        "transcend-8g?erase_block=160MiB&page=80KiB&fat_area=0",
        "transcend-8g?erase_block=160MiB&page=20KiB&fat_area=0&capacity=40GiB",
    ] {
        assert_written_block_is_true(Target::parse(target).unwrap());
    }
}

/// Where nothing shows that places are taken, the largest pages would fill gigabytes.
#[test]
fn large_pages_do_not_make_openings_write_without_end() {
    let target = Target::parse("modern-ssd-stick-128g").unwrap();
    for page in [Bytes::kib(640), Bytes::kib(896), Bytes::mib(1)] {
        let mut stick = VirtualStick::new(&target.profile, target.seed);
        let mut stick = Meter::new(&mut stick, Budget::UNLIMITED);
        BlockEnds::new(Some(page), Vec::new(), 7).measure(&mut stick, &Budget::UNLIMITED, &mut Silent);
        let written = stick.cost().bytes_written;
        assert!((Bytes::mib(119)..=Bytes::mib(122)).contains(&written), "{page}: {written}");
    }
}

/// A log that never has to merge a block: giving data to every place that was opened would leave nothing for
/// what follows.
#[test]
fn large_pages_leave_something_for_the_search_for_open_units() {
    let mut target = Target::parse("transcend-8g?page=128KiB&erase_block=12MiB").unwrap();
    target.profile.state = State::New;
    target.profile.policy = log_structured(64, Bytes::kib(256));
    let mut stick = VirtualStick::new(&target.profile, target.seed);
    let mut stick = Meter::new(&mut stick, Budget::UNLIMITED);
    let experiment = BlockEnds::new(Some(Bytes::kib(128)), Vec::new(), 7);
    let seen = experiment.measure(&mut stick, &Budget::UNLIMITED, &mut Silent);
    let is_given_data = matches!(&seen.data, Data::BlockEnds(data) if data.openings.len() > 140 + 32);
    assert!(is_given_data, "{:?}", seen.data);
    assert!(stick.cost().bytes_written <= Bytes::mib(105), "{:?}", stick.cost());
}

/// New sticks whose log blocks are given up for free as long as there is nothing to copy.
#[test]
fn a_new_stick_with_log_blocks_is_given_something_to_copy() {
    for (association, log_blocks) in
        [(Association::Block, 1), (Association::Block, 16), (Association::Block, 119), (Association::Full, 4)]
    {
        let mut target = Target::parse("transcend-8g?erase_block=2MiB").unwrap();
        target.profile.state = State::New;
        target.profile.policy = hybrid_log((association, log_blocks), (1200.0, 3000.0));
        assert_written_block_is_true(target);
    }
}

/// A log that keeps one place and maps two pages at once: no write has to merge an erase block, and none
/// shows in reads. What was measured in blocks of another size says so, and is not as sure.
#[test]
fn one_run_is_counted_where_no_erase_block_shows() {
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
    assert_eq!(random.value(), None, "out of order blocks of another size are several");
}

#[test]
fn one_run_of_large_blocks_is_told_by_what_beginning_them_costs() {
    let mut target = Target::parse("transcend-8g?erase_block=64MiB&page=16KiB").unwrap();
    target.profile.state = State::Full;
    target.profile.policy = hybrid_log((Association::Full, 6), (200.0, 4300.0));
    let (findings, units) = check_and_open_units(&target);
    assert!(units.beginnings.is_empty() && units.apart.len() == 6, "{units:?}");
    let linear = finding(&findings, FindingId::OpenUnitsLinear);
    assert_eq!(linear.value(), Some(Value::Count(1)), "{linear:?}");
    let evidence = linear.evidence;
    assert!(
        matches!(evidence, Some(Evidence::Blocks(BlockEvidence::Openings { is_by_offset: true, .. }))),
        "{linear:?}"
    );
    let class = finding(&findings, FindingId::FtlClass);
    assert_eq!(class.value(), Some(Value::Class { class: FtlClass::HybridLog, above: None }));
    // As many as were opened slowly are open here, and each needs a place wherever it begins.
    target.profile.state = State::Steady;
    target.profile.policy = hybrid_log((Association::Block, 12), (200.0, 4300.0));
    let (findings, units) = check_and_open_units(&target);
    assert!((1..6).contains(&units.apart.len()), "{:?}", units.apart);
    assert_eq!(finding(&findings, FindingId::OpenUnitsLinear).value(), Some(Value::Count(12)));
}

/// A stick with these log blocks, of which every eighth or second MiB was written.
fn partly_written(log_blocks: (Association, u32), target: &str, every: u64) -> (VirtualStick, Target) {
    let mut target = Target::parse(target).unwrap();
    target.profile.read.boundary.clear();
    target.profile.state = State::New;
    target.profile.policy = hybrid_log(log_blocks, (2200.0, 4300.0));
    let mut stick = VirtualStick::new(&target.profile, target.seed);
    let capacity = target.profile.capacity / Bytes::mib(1);
    for place in (0..capacity).filter(|place| (place * 40_503) % 1021 % every == 0) {
        let range = ByteRange::new(Bytes::mib(place), Bytes::mib(1));
        stick.run(Op::write(range, Pattern::new(place))).unwrap();
    }
    (stick, target)
}

/// Where some blocks hold data and others do not, some merges copy a few pages and others a whole block, and
/// openings merge here and there.
#[test]
fn the_erase_block_shows_in_writes_to_a_stick_that_is_partly_written() {
    let full = (Association::Full, 7);
    for (logs, target, every) in [
        ((Association::Block, 1), "transcend-8g?erase_block=128KiB&page=4KiB&capacity=512MiB", 2),
        ((Association::Block, 2), "transcend-8g?erase_block=16MiB&seed=3", 8),
        (full, "transcend-8g?erase_block=3584KiB&fat_area=0", u64::MAX),
    ] {
        let (mut stick, Target { profile, .. }) = partly_written(logs, target, every);
        let experiment = BlockEnds::new(Some(profile.ftl.page), Vec::new(), 7);
        let findings = infer(&[experiment.measure(&mut stick, &Budget::UNLIMITED, &mut Silent)]);
        let block = finding(&findings, FindingId::EraseBlockBytes);
        assert_eq!(block.bytes(), Some(profile.ftl.erase_block), "{target}: {block:?}");
    }
}

/// A block's step that is too small to count by itself counts beside that of the page; alone it does not.
#[test]
fn a_small_step_of_the_block_counts_beside_a_page() {
    let of = |page_us: f64| {
        let mut target = Target::parse("transcend-8g?erase_block=1MiB").unwrap();
        let [block, page] = &mut target.profile.read.boundary[..] else { panic!("other boundaries") };
        (block.across_us, block.before_us, page.across_us) = (page_us + 6.5, 0.0, page_us);
        let findings = check(&mut VirtualStick::new(&target.profile, 4), false);
        finding(&findings, FindingId::EraseBlockBytes).clone()
    };
    assert_eq!(of(25.0).bytes(), Some(Bytes::mib(1)), "{:?}", of(25.0));
    assert_eq!(of(0.0).bytes(), None, "{:?}", of(0.0));
}

/// What reads left is weighed; what they did not name can be found all the same.
#[test]
fn writes_decide_between_the_erase_blocks_that_reads_left() {
    for left in [[(Bytes::mib(2), 0.6), (Bytes::mib(4), 0.3)], [(Bytes::kib(192), 0.9), (Bytes::mib(6), 0.1)]]
    {
        let mut target = Target::parse("transcend-8g?seed=3").unwrap();
        target.profile.read.boundary.clear();
        let mut stick = VirtualStick::new(&target.profile, 3);
        let experiment = BlockEnds::new(Some(target.profile.ftl.page), left.into(), 7);
        let findings = infer(&[experiment.measure(&mut stick, &Budget::UNLIMITED, &mut Silent)]);
        assert_eq!(finding(&findings, FindingId::EraseBlockBytes).bytes(), Some(Bytes::mib(4)));
    }
}

#[test]
fn a_fat_area_of_several_blocks_is_measured() {
    for fat_area in ["0", "8MiB", "12MiB"] {
        assert_true(&format!("transcend-8g?fat_area={fat_area}"));
    }
}

#[test]
fn reads_alone_find_the_erase_block_and_leave_the_rest_open() {
    let (mut stick, truth) = stick("patriot-xt-16g?seed=4");
    let findings = check(&mut ReadOnly::new(&mut stick), false);
    assert_eq!(finding(&findings, FindingId::EraseBlockBytes).bytes(), Some(truth.erase_block));
    for id in
        [FindingId::OpenUnitsLinear, FindingId::OpenUnitsRandom, FindingId::FatAreaBytes, FindingId::FtlClass]
    {
        assert!(finding(&findings, id).value().is_none(), "{id}");
    }
}

#[test]
fn a_device_without_flash_has_no_findings() {
    let mut memory = MemoryDevice::new(Bytes::mib(256));
    for finding in check(&mut memory, true) {
        // A fixed time per request makes large writes efficient, and reads alike everywhere: that is true of
        // this device, and no sign of flash.
        let is_true = finding.id == FindingId::WriteUnitBytes || finding.value() == Some(Value::Shows(None));
        assert!(finding.value().is_none() || is_true, "{finding:?}");
    }
}

/// Stalls that come now and then, whatever is written, are no merges.
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

/// A candidate of which each of the first reads was held up is read again: without it its double would fit as
/// well.
#[test]
fn reads_that_are_often_held_up_leave_out_no_candidate() {
    let mut target = Target::parse("patriot-xt-16g").unwrap();
    target.profile.read.boundary.clear();
    target.profile.noise.jitter = 0.2;
    target.profile.noise.outliers_per_million = 170_000.0;
    target.profile.noise.outlier_us = 7_000.0;
    let mut stick = VirtualStick::new(&target.profile, 1);
    let seen = Align::new(None, 1).measure(&mut stick, &Budget::UNLIMITED, &mut Silent);
    let Data::Align(data) = seen.data else { panic!("align saw something else") };
    let mut held_up: Vec<Bytes> = data.samples.iter().map(|sample| sample.candidate).collect();
    for sample in &data.samples {
        let times = [sample.before, sample.across, sample.after];
        if times.iter().all(|time| *time < Duration::from_millis(2)) {
            held_up.retain(|candidate| *candidate != sample.candidate);
        }
    }
    assert_eq!(held_up, []);
}

/// Without boundaries in reads there is no erase block to be found, however noisy the reads are.
#[test]
fn held_up_reads_do_not_make_an_erase_block() {
    let mut false_blocks = 0;
    for seed in 1..=20 {
        let mut target = Target::parse("patriot-xt-16g").unwrap();
        target.profile.read.boundary.clear();
        target.profile.noise.outliers_per_million = [50_000.0, 150_000.0][usize::from(seed % 2 == 0)];
        target.profile.noise.outlier_us = 4_000.0;
        let seen = Align::new(None, seed).measure(
            &mut VirtualStick::new(&target.profile, seed),
            &Budget::UNLIMITED,
            &mut Silent,
        );
        false_blocks += usize::from(finding(&infer(&[seen]), FindingId::EraseBlockBytes).value().is_some());
    }
    assert_eq!(false_blocks, 0);
}

/// A device whose first `cache` written bytes are ten times as fast as the rest.
struct Cached {
    device: MemoryDevice,
    cache: Bytes,
}

impl Device for Cached {
    fn capabilities(&self) -> Capabilities {
        self.device.capabilities()
    }

    fn now(&self) -> Instant {
        self.device.now()
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        let length = op.range().filter(|_| op.modifies()).map_or(Bytes::ZERO, |range| range.length);
        self.cache = self.cache.saturating_sub(length);
        if self.cache.is_zero() && op.modifies() {
            self.device.set_latency(Duration::from_micros(1000));
        }
        self.device.submit(tag, op)
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        self.device.wait()
    }
}

#[test]
fn a_cache_that_fills_up_is_not_taken_for_a_linear_only_stick() {
    for cache_mib in [1, 2, 4, 8, 16, 24] {
        let mut device = Cached { device: MemoryDevice::new(Bytes::mib(256)), cache: Bytes::mib(cache_mib) };
        let experiment = OpenUnits::new(Bytes::mib(1), Some(Bytes::kib(64)), 1);
        let seen = experiment.measure(&mut device, &Budget::UNLIMITED, &mut Silent);
        for finding in infer(&[seen]) {
            assert!(finding.value().is_none(), "{cache_mib} MiB: {finding:?}");
        }
    }
}

/// Counts the requests before the experiment of this name.
#[derive(Debug)]
struct Before {
    name: &'static str,
    requests: u64,
    is_there: bool,
    ended: u64,
}

impl Observer for Before {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Begin { name, .. } => self.is_there |= name == self.name,
            Event::Progress { requests, .. } => self.requests = requests,
            Event::End if !self.is_there => self.ended += std::mem::take(&mut self.requests),
            Event::End | Event::Remark { .. } => {}
        }
    }
}

#[test]
fn sizes_are_not_compared_on_a_device_that_becomes_slower() {
    let unit = |faults: &[FaultSpec]| {
        let mut device = Faulty::new(stick("transcend-8g").0, faults, 1).unwrap();
        finding(&check(&mut device, true), FindingId::WriteUnitBytes).clone()
    };
    assert_eq!(unit(&[]).value(), Some(Value::Bytes(Bytes::kib(32))));
    let slower = unit(&["dying:after=0B,over=20MiB,delay=20ms".parse().unwrap()]);
    assert!(
        matches!(slower.reason(), Some(Reason::SpeedChanged { first_s, last_s }) if last_s > first_s),
        "{slower:?}"
    );
}

#[test]
fn a_vanishing_device_leaves_what_was_seen_and_says_why() {
    let mut before = Before { name: "open-units", requests: 0, is_there: false, ended: 0 };
    Survey::new(true, 11).run(&mut stick("transcend-8g").0, &mut before);
    let (stick, _) = stick("transcend-8g");
    let unplug = format!("unplug:after={}", before.ended + 15);
    let mut dying = Faulty::new(stick, &[unplug.parse().unwrap()], 1).unwrap();
    let seen = Survey::new(true, 11).run(&mut dying, &mut Silent);
    let findings = infer(&seen);
    assert_eq!(finding(&findings, FindingId::EraseBlockBytes).bytes(), Some(Bytes::mib(4)));
    let Some(Reason::EndedEarly { stops, .. }) = finding(&findings, FindingId::OpenUnitsLinear).reason()
    else {
        unreachable!("open units of a vanished device")
    };
    let [StopReason::Failed { error }] = stops.as_slice() else { panic!("{stops:?}") };
    assert!(error.contains("vanished"), "{error}");
}

#[test]
fn scattered_read_errors_do_not_change_the_erase_block() {
    let (stick, truth) = stick("transcend-8g?seed=3");
    let mut faulty = Faulty::new(stick, &["read-errors:share=0.02".parse().unwrap()], 5).unwrap();
    let findings = check(&mut faulty, false);
    assert_eq!(finding(&findings, FindingId::EraseBlockBytes).bytes(), Some(truth.erase_block));
}

#[test]
fn a_device_that_only_errs_ends_the_experiment() {
    let (stick, _) = stick("transcend-8g");
    let mut dead = Faulty::new(stick, &["read-errors:share=1".parse().unwrap()], 5).unwrap();
    let seen = Align::new(None, 1).measure(&mut dead, &Budget::UNLIMITED, &mut Silent);
    assert!(
        matches!(
            &seen.ended,
            Ended::Early { reason: StopReason::RequestsFailed { .. }, cause: Cause::Device }
        ),
        "{:?}",
        seen.ended
    );
}

#[test]
fn an_interrupt_and_a_spent_budget_keep_what_was_measured() {
    let interrupt = Interrupt::default();
    let (stick_a, _) = stick("transcend-8g");
    let mut device = Interruptible::new(stick_a, interrupt.clone());
    interrupt.request();
    let seen = Survey::new(true, 1).run(&mut device, &mut Silent);
    // Without open units there is no way to look for a FAT area.
    let (last, before) = seen.split_last().unwrap();
    assert!(before.iter().all(|each| matches!(&each.ended, Ended::Early { cause: Cause::Interrupt, .. })));
    assert!(matches!(last.ended, Ended::NotStarted { .. }), "{:?}", last.ended);

    let (stick_b, _) = stick("transcend-8g");
    let budget = Budget { bytes_written: Some(Bytes::mib(4)), ..Budget::UNLIMITED };
    let mut metered = Meter::new(stick_b, budget);
    let seen = Survey::new(true, 1).run(&mut metered, &mut Silent);
    assert!(metered.cost().bytes_written <= Bytes::mib(4));
    assert!(seen[1..].iter().any(|each| matches!(&each.ended, Ended::Early { cause: Cause::Budget, .. })));
}

/// A check repeated from its trace, without the stick, sees and finds the same.
#[test]
fn a_traced_check_replays_to_the_same_observations() {
    let (stick, _) = stick("generic-2g");
    let survey = Survey::new(true, 2);
    let mut traced = Trace::new(stick);
    let capabilities = traced.capabilities();
    let seen = survey.run(&mut traced, &mut Silent);
    let mut replay = Replay::new(capabilities, traced.records().to_vec());
    assert_eq!(survey.run(&mut replay, &mut Silent), seen);
}

#[test]
fn a_run_file_infers_the_same_findings_again() {
    let (mut stick, _) = stick("generic-2g");
    let observations = Survey::new(true, 2).run(&mut stick, &mut Silent);
    let run = RunFile {
        format: flashscope_record::run_file::FORMAT,
        flashscope: "test".to_owned(),
        target: "sim:generic-2g".to_owned(),
        device_name: String::new(),
        attachment: flashscope_record::attachment::Attachment::default(),
        measured_at: String::new(),
        observations,
        cost: flashscope_device::layer::Cost::default(),
        failed_requests: 0,
        remarks: Vec::new(),
    };
    let again = RunFile::parse(&run.to_json().unwrap()).unwrap();
    assert_eq!(infer(&again.observations), infer(&run.observations));
}

/// What held a place before may keep it by chance through all of a search, which then finds one too few;
/// smaller requests meet none any more.
#[test]
fn a_place_that_is_free_only_after_the_search_is_counted() {
    let data =
        counted_where_any_goes(4, "transcend-8g?erase_block=1MiB&page=8KiB&open_units_random=0&seed=832");
    assert!(!data.outgrown.is_empty());
}

/// With two blocks in three places, the third held by one of before, writes may go for long as if the one
/// written longest ago went; the turns that settle which goes find all three open, and then a fourth has to
/// be seen too many.
#[test]
fn a_number_that_the_law_brings_up_is_searched_from_there() {
    counted_where_any_goes(3, "transcend-8g?erase_block=1MiB&page=8KiB&open_units_random=0&seed=912");
}
