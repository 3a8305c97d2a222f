//! Truth tests of *write-size* and *block-ends*: page and erase block by writes.

use flashscope_device::layer::{Budget, Meter};
use flashscope_device::{ByteRange, Bytes, DeviceExt as _, Op, Pattern};
use flashscope_infer::infer;
use flashscope_measure::experiment::{BlockEnds, WriteSize};
use flashscope_measure::{Experiment as _, Silent};
use flashscope_record::finding::{Evidence, FindingId, SizeEvidence};
use flashscope_record::observation::Data;
use flashscope_sim::VirtualStick;
use flashscope_sim::profile::{Association, Basis, State, WriteBuffer};
use flashscope_sim::target::Target;

use crate::support::{finding, hybrid_log, log_structured};

/// The stick completes writes that are still in its memory. A flush shows how long the flash takes.
#[test]
fn page_is_found_despite_a_write_buffer() {
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

/// A stick whose reads show nothing: writes must find its erase block.
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
fn erase_block_is_found_by_writes_if_reads_show_none() {
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

/// If no opening shows that all slots are taken, the largest pages would fill gigabytes.
#[test]
fn openings_with_large_pages_stay_within_their_bytes() {
    let target = Target::parse("modern-ssd-stick-128g").unwrap();
    for page in [Bytes::kib(640), Bytes::kib(896), Bytes::mib(1)] {
        let mut stick = VirtualStick::new(&target.profile, target.seed);
        let mut stick = Meter::new(&mut stick, Budget::UNLIMITED);
        BlockEnds::new(Some(page), Vec::new(), 7).measure(&mut stick, &Budget::UNLIMITED, &mut Silent);
        let written = stick.cost().bytes_written;
        assert!((Bytes::mib(119)..=Bytes::mib(122)).contains(&written), "{page}: {written}");
    }
}

/// A log that never merges: giving data to every opened block would leave no bytes for the next experiments.
#[test]
fn openings_with_large_pages_leave_bytes_for_open_units() {
    let mut target = Target::parse("transcend-8g?page=128KiB&erase_block=12MiB").unwrap();
    target.profile.state = State::New;
    target.profile.policy = log_structured(64, Bytes::kib(256));
    let mut stick = VirtualStick::new(&target.profile, target.seed);
    let mut stick = Meter::new(&mut stick, Budget::UNLIMITED);
    let experiment = BlockEnds::new(Some(Bytes::kib(128)), Vec::new(), 7);
    let seen = experiment.measure(&mut stick, &Budget::UNLIMITED, &mut Silent);
    let has_reopened = matches!(&seen.data, Data::BlockEnds(data) if data.openings.len() > 140 + 32);
    assert!(has_reopened, "{:?}", seen.data);
    assert!(stick.cost().bytes_written <= Bytes::mib(105), "{:?}", stick.cost());
}

/// New sticks that drop log blocks for free while there is nothing to copy.
#[test]
fn erase_block_of_a_new_stick_with_log_blocks_is_found() {
    for (association, log_blocks) in
        [(Association::Block, 1), (Association::Block, 16), (Association::Block, 119), (Association::Full, 4)]
    {
        let mut target = Target::parse("transcend-8g?erase_block=2MiB").unwrap();
        target.profile.state = State::New;
        target.profile.policy = hybrid_log((association, log_blocks), (1200.0, 3000.0));
        assert_written_block_is_true(target);
    }
}

/// A stick with these log blocks, of which every eighth or second MiB is written.
fn partly_written(log_blocks: (Association, u32), target: &str, every: u64) -> (VirtualStick, Target) {
    let mut target = Target::parse(target).unwrap();
    target.profile.read.boundary.clear();
    target.profile.state = State::New;
    target.profile.policy = hybrid_log(log_blocks, (2200.0, 4300.0));
    let mut stick = VirtualStick::new(&target.profile, target.seed);
    let capacity = target.profile.capacity / Bytes::mib(1);
    for index in (0..capacity).filter(|index| (index * 40_503) % 1021 % every == 0) {
        let range = ByteRange::new(Bytes::mib(index), Bytes::mib(1));
        stick.run(Op::write(range, Pattern::new(index))).unwrap();
    }
    (stick, target)
}

/// If only some blocks hold data, some merges copy a few pages and others a whole block, and openings merge
/// irregularly.
#[test]
fn erase_block_is_found_by_writes_on_a_partly_written_stick() {
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

/// Erase blocks left by reads are candidates. Others can be found all the same.
#[test]
fn writes_decide_between_erase_blocks_left_by_reads() {
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
