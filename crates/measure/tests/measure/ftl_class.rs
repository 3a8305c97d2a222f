//! Truth tests of the class of translation layer: logs, page-mapped sticks, hybrid logs.

use flashscope_device::Bytes;
use flashscope_record::finding::{FindingId, FtlClass, Value};
use flashscope_sim::profile::{Association, Basis, GcVictim, PageMapped, Policy, State};
use flashscope_sim::target::Target;

use crate::support::{LOG, check_and_open_units, finding, hybrid_log, log_structured};

/// A log that maps two or four pages completes them if a run stops in between, whatever the link.
#[test]
fn log_that_maps_several_pages_is_counted_over_data() {
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

/// Over a slow link a merge of the log may take less than half as long as a write, and a group of pages hides
/// it.
#[test]
fn log_on_a_slow_link_is_counted_by_small_steps() {
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

/// Collections of large blocks are too rare for the search, those of small ones come with every write. One
/// block written from start to end shows both.
#[test]
fn page_mapped_stick_is_recognised_by_garbage_collection_in_one_run() {
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

/// Collections come every few writes, into one block as into five: that is no number of open units.
#[test]
fn constant_garbage_collection_gives_no_number_of_open_units() {
    for seed in [9, 11, 12] {
        let options = format!("erase_block=1280KiB&page=80KiB&capacity=4GiB&seed={seed}");
        let (findings, _) = check_and_open_units(&collecting(&options, 0.119, GcVictim::CostBenefit));
        let units = finding(&findings, FindingId::OpenUnitsLinear);
        assert_eq!(units.value(), None, "{seed}: {units:?}");
    }
}

/// A log collects garbage, too, but merges pages that come out of sequence.
#[test]
fn log_with_garbage_collection_is_not_page_mapped() {
    for streams in [1, 200] {
        let mut target = collecting("erase_block=4MiB&page=16KiB&seed=4", 0.08, GcVictim::Greedy);
        target.profile.policy = log_structured(streams, Bytes::kib(64));
        let (findings, _) = check_and_open_units(&target);
        let class = finding(&findings, FindingId::FtlClass);
        let paged = Value::Class { class: FtlClass::PageMapped, above: None };
        assert_ne!(class.value(), Some(paged), "{streams}: {class:?}");
    }
}

/// A new stick has nothing to copy for sequential writes. Random writes still take a slot for each block, and
/// an eviction merges. Large blocks of small pages cost nothing at all sequentially, and are counted as well.
#[test]
fn new_stick_is_recognised_by_random_merges() {
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
        let open_block = Value::Class { class: FtlClass::OpenBlock, above: None };
        assert_eq!(class.value(), Some(open_block), "{log_blocks}: {class:?}");
    }
}
