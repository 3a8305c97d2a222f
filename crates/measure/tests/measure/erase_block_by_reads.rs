//! Truth tests of *align*: erase block and page by reads.

use flashscope_device::layer::{Budget, ReadOnly};
use flashscope_device::{ByteRange, Bytes, DeviceExt as _, Op, Pattern};
use flashscope_infer::infer;
use flashscope_measure::experiment::Align;
use flashscope_measure::{Experiment as _, Silent};
use flashscope_record::finding::{Finding, FindingId, Reason};
use flashscope_record::observation::{Data, Observations};
use flashscope_sim::VirtualStick;
use flashscope_sim::profile::State;
use flashscope_sim::target::Target;
use std::time::Duration;

use crate::support::{check, finding, stick};

/// A smaller step beside that of two planes is no page: the planes lie inside a larger one.
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

/// The erase block by reads on a stick of which `share` of 1021 areas of 1 MiB are written.
fn block_of_partly_written_stick(target: &Target, seed: u64, (areas, share): (u64, u64)) -> Finding {
    let mut stick = VirtualStick::new(&target.profile, seed);
    for index in (0..areas).filter(|index| (index * 40_503 + seed) % 1021 < share) {
        let range = ByteRange::new(Bytes::mib(index), Bytes::mib(1));
        stick.run(Op::write(range, Pattern::new(index))).unwrap();
    }
    block_by_reads(&mut stick, seed)
}

fn block_by_reads(stick: &mut VirtualStick, seed: u64) -> Finding {
    let seen = Align::new(None, seed).measure(stick, &Budget::UNLIMITED, &mut Silent);
    finding(&infer(&[seen]), FindingId::EraseBlockBytes).clone()
}

/// The erase block by noisy reads. Reads across a block or page boundary take this much longer, microseconds.
fn block_by_noisy_reads(target: &str, jitter: f64, (block_us, page_us): (f64, f64), seed: u64) -> Finding {
    let mut target = Target::parse(target).unwrap();
    target.profile.noise.jitter = jitter;
    for (boundary, across_us) in target.profile.read.boundary.iter_mut().zip([block_us, page_us]) {
        (boundary.across_us, boundary.before_us) = (across_us, 0.0);
    }
    block_by_reads(&mut VirtualStick::new(&target.profile, seed), seed)
}

/// Tables of a log that differ decide nothing. Single reads of our own are weighed together.
#[test]
fn reads_of_two_runs_are_no_tables_that_disagree() {
    let seen = |mib: u64| {
        let (mut stick, _) = stick(&format!("transcend-8g?erase_block={mib}MiB&seed=4"));
        Align::new(None, mib).measure(&mut stick, &Budget::UNLIMITED, &mut Silent)
    };
    let block = |seen: &[Observations]| finding(&infer(seen), FindingId::EraseBlockBytes).clone();
    let both = [seen(4), seen(8)];
    for (seen, mib) in both.iter().zip([4, 8]) {
        let alone = block(std::slice::from_ref(seen));
        assert_eq!(alone.bytes(), Some(Bytes::mib(mib)), "{alone:?}");
    }
    let together = block(&both);
    assert!(!format!("{together:?}").contains("TablesDisagree"), "{together:?}");
}

/// At the edge of a written area the reads on both sides differ, and the read across lies in between: no
/// boundary of the flash.
#[test]
fn edges_of_written_areas_are_no_boundaries() {
    for seed in 1..=12 {
        let mut target = Target::parse("transcend-8g?erase_block=256KiB&capacity=1GiB").unwrap();
        target.profile.state = State::New;
        target.profile.read.never_written_factor = 0.45;
        let [block, page] = &mut target.profile.read.boundary[..] else { panic!("other boundaries") };
        (block.across_us, block.before_us, page.across_us) = (80.0, 0.0, 30.0);
        let block = block_of_partly_written_stick(&target, seed, (1024, 300));
        assert_eq!(block.bytes(), Some(Bytes::kib(256)), "{seed}: {block:?}");
    }
}

/// The same if the end of a block makes the read before it faster.
#[test]
fn edges_of_written_areas_are_left_out_if_reads_before_a_block_end_are_faster() {
    for seed in 3..=4 {
        let target = "transcend-8g?erase_block=128KiB&page=4KiB&capacity=912MiB";
        let mut target = Target::parse(target).unwrap();
        target.profile.state = State::New;
        target.profile.read.never_written_factor = 0.43;
        let [block, page] = &mut target.profile.read.boundary[..] else { panic!("other boundaries") };
        (block.across_us, block.before_us, page.across_us) = (38.0, -46.0, 0.0);
        let block = block_of_partly_written_stick(&target, seed, (912, 480));
        assert_eq!(block.bytes(), Some(Bytes::kib(128)), "{seed}: {block:?}");
    }
}

/// With noise of several times the step, reads go where the remaining sizes differ.
#[test]
fn very_noisy_reads_find_the_erase_block() {
    for (seed, jitter) in [(12, 0.25), (16, 0.35)] {
        let target = "transcend-8g?erase_block=256KiB&capacity=8GiB";
        let block = block_by_noisy_reads(target, jitter, (60.0, 20.0), seed);
        assert_eq!(block.bytes(), Some(Bytes::kib(256)), "{seed}: {block:?}");
    }
}

/// A block with few boundaries has the fewest reads across them: single reads must agree.
#[test]
fn block_with_few_boundaries_is_read_until_single_reads_agree() {
    for seed in [5, 13, 14, 19] {
        let target = "transcend-8g?erase_block=8MiB&page=16KiB&capacity=56MiB";
        let block = block_by_noisy_reads(target, 0.35, (150.0, 75.0), seed);
        assert_eq!(block.bytes(), Some(Bytes::mib(8)), "{seed}: {block:?}");
    }
}

/// Over a slow link such an edge is a small part of the latency, and a faster read before a block end hides
/// half of it.
#[test]
fn edge_of_written_area_is_left_out_over_a_slow_link() {
    let target = "transcend-8g?erase_block=512KiB&capacity=264MiB&link=usb-full&page=2KiB";
    let mut target = Target::parse(target).unwrap();
    target.profile.state = State::New;
    (target.profile.read.access_us, target.profile.read.never_written_factor) = (580.0, 0.53);
    target.profile.noise.jitter = 0.005;
    let [block, page] = &mut target.profile.read.boundary[..] else { panic!("other boundaries") };
    (block.across_us, block.before_us, page.across_us) = (230.0, -120.0, 77.0);
    let mut stick = VirtualStick::new(&target.profile, 1);
    // The only boundary of 128 MiB that belongs to no other candidate.
    let edge = Bytes::mib(128);
    for index in 0..128 {
        let range = ByteRange::new(Bytes::mib(index), Bytes::mib(1));
        stick.run(Op::write(range, Pattern::new(index))).unwrap();
    }
    let seen = Align::new(None, 1).measure(&mut stick, &Budget::UNLIMITED, &mut Silent);
    let Data::Align(data) = &seen.data else { panic!("not data of align") };
    let at_edge = data.samples.iter().filter(|sample| sample.boundary == Some(edge)).count();
    // The first samples do not show the usual difference yet.
    assert!(at_edge <= 1, "{at_edge}");
    assert_eq!(finding(&infer(&[seen]), FindingId::EraseBlockBytes).bytes(), Some(Bytes::kib(512)));
}

/// A block step that is too small alone counts beside that of the page.
#[test]
fn small_block_step_counts_only_beside_a_page_step() {
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

#[test]
fn reads_alone_find_the_erase_block_and_nothing_else() {
    let (mut stick, truth) = stick("patriot-xt-16g?seed=4");
    let findings = check(&mut ReadOnly::new(&mut stick), false);
    assert_eq!(finding(&findings, FindingId::EraseBlockBytes).bytes(), Some(truth.erase_block));
    for id in
        [FindingId::OpenUnitsLinear, FindingId::OpenUnitsRandom, FindingId::FatAreaBytes, FindingId::FtlClass]
    {
        assert!(finding(&findings, id).value().is_none(), "{id}");
    }
}

/// A candidate whose first reads all stalled is read again: without it its double would fit as well.
#[test]
fn stalled_reads_leave_out_no_candidate() {
    let mut target = Target::parse("patriot-xt-16g").unwrap();
    target.profile.read.boundary.clear();
    target.profile.noise.jitter = 0.2;
    target.profile.noise.outliers_per_million = 170_000.0;
    target.profile.noise.outlier_us = 7_000.0;
    let mut stick = VirtualStick::new(&target.profile, 1);
    let seen = Align::new(None, 1).measure(&mut stick, &Budget::UNLIMITED, &mut Silent);
    let Data::Align(data) = seen.data else { panic!("not data of align") };
    let mut stalled: Vec<Bytes> = data.samples.iter().map(|sample| sample.candidate).collect();
    for sample in &data.samples {
        let times = [sample.before, sample.across, sample.after];
        if times.iter().all(|time| *time < Duration::from_millis(2)) {
            stalled.retain(|candidate| *candidate != sample.candidate);
        }
    }
    assert_eq!(stalled, []);
}

/// Without boundaries in reads there is no erase block, whatever the noise.
#[test]
fn stalled_reads_show_no_erase_block() {
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
