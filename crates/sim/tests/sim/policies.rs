//! The cost of each translation layer, in cases that can be worked out by hand.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use flashscope_device::{ByteRange, Bytes, DeviceExt, Op, Pattern};
use flashscope_sim::profile::{
    Association, Background, Basis, GcVictim, HybridLog, LogStructured, PageMapped, Policy, State,
};
use flashscope_sim::{Profile, ProfileError, VirtualStick};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const PAGE: Bytes = Bytes::kib(16);

fn hybrid(association: Association, log_blocks: u32) -> Policy {
    let basis = Basis::Assumed;
    Policy::HybridLog(HybridLog { basis, association, log_blocks, copy_page_us: 1e3, erase_us: 5e3 })
}

fn log_structured(unit: Bytes, streams: u32) -> Policy {
    Policy::LogStructured(LogStructured {
        basis: Basis::Assumed,
        streams,
        unit: Some(unit),
        over_provisioning: 0.1,
        background_share: 0.0,
        copy_page_us: 1e3,
        erase_us: 5e3,
    })
}

fn page_mapped(over_provisioning: f64, victim: GcVictim, hot_cold: bool) -> Policy {
    Policy::PageMapped(PageMapped {
        basis: Basis::Assumed,
        over_provisioning,
        victim,
        hot_cold,
        background_share: 0.0,
        copy_page_us: 1e3,
        erase_us: 5e3,
    })
}

/// A stick without noise, with pages of 16 KiB.
fn profile(policy: &Policy, blocks: u64, block_pages: u64, state: State) -> Profile {
    let mut profile = Profile::builtin("transcend-8g").unwrap();
    (profile.ftl.page, profile.ftl.erase_block) = (PAGE, PAGE * block_pages);
    profile.ftl.fat_area = Bytes::ZERO;
    profile.capacity = PAGE * block_pages * blocks;
    profile.policy = policy.clone();
    profile.state = state;
    (profile.noise.jitter, profile.noise.outliers_per_million) = (0.0, 0.0);
    profile.check().unwrap();
    profile
}

/// The same profile with free copies and erases.
fn with_free_copies(profile: &Profile) -> Profile {
    let mut profile = profile.clone();
    match &mut profile.policy {
        Policy::OpenBlocks(_) => {}
        Policy::HybridLog(policy) => (policy.copy_page_us, policy.erase_us) = (0.0, 0.0),
        Policy::LogStructured(policy) => (policy.copy_page_us, policy.erase_us) = (0.0, 0.0),
        Policy::PageMapped(policy) => (policy.copy_page_us, policy.erase_us) = (0.0, 0.0),
    }
    profile
}

/// A stick, and one with free copies and erases: the difference is the time of copies and erases.
struct Twins {
    stick: VirtualStick,
    free: VirtualStick,
}

impl Twins {
    fn new(profile: &Profile) -> Self {
        Self { stick: VirtualStick::new(profile, 1), free: VirtualStick::new(&with_free_copies(profile), 1) }
    }

    /// Milliseconds of copies and erases in a request: 1 ms a page, 5 ms a block.
    fn run(&mut self, op: &Op) -> u128 {
        let time = |stick: &mut VirtualStick| {
            let completion = stick.run(op.clone()).unwrap();
            completion.outcome.as_ref().unwrap();
            stick.audit().unwrap();
            completion.latency()
        };
        let difference = time(&mut self.stick) - time(&mut self.free);
        assert_eq!(difference, Duration::from_millis(difference.as_millis().try_into().unwrap()));
        difference.as_millis()
    }

    fn page(&mut self, page: u64) -> u128 {
        self.run(&write(PAGE * page, PAGE))
    }

    fn pages(&mut self, pages: impl IntoIterator<Item = u64>) -> Vec<u128> {
        pages.into_iter().map(|page| self.page(page)).collect()
    }
}

fn write(offset: Bytes, length: Bytes) -> Op {
    Op::write(ByteRange::new(offset, length), Pattern::new(1))
}

#[test]
fn bast_switches_a_sequential_log() {
    let mut twins = Twins::new(&profile(&hybrid(Association::Block, 2), 64, 8, State::Full));
    // Pages 24 to 31 are block 3. After the last one the log becomes the data block, and the old one is
    // erased.
    assert_eq!(twins.pages(24..32), [0, 0, 0, 0, 0, 0, 0, 5]);
    assert_eq!((twins.stick.statistics().pages_copied, twins.stick.statistics().erases), (0, 1));
}

#[test]
fn bast_partially_merges_a_log_of_the_first_pages() {
    let mut twins = Twins::new(&profile(&hybrid(Association::Block, 2), 64, 8, State::Full));
    // Three pages of block 3, one of block 4. Block 5 needs a log: five pages are copied to the end of block
    // 3's log, one block erased.
    assert_eq!(twins.pages([24, 25, 26, 32, 40]), [0, 0, 0, 0, 10]);
    // Block 4's log, the older one now, holds one page.
    assert_eq!(twins.page(48), 12);
}

#[test]
fn bast_fully_merges_a_random_log() {
    let mut twins = Twins::new(&profile(&hybrid(Association::Block, 2), 64, 8, State::Full));
    // All eight pages are copied, and both the data block and the log are erased.
    assert_eq!(twins.pages([26, 25, 32, 40]), [0, 0, 0, 18]);
    // A log full of versions of one page.
    assert_eq!(twins.pages([41; 7]), [0, 0, 0, 0, 0, 0, 18]);
}

#[test]
fn blank_pages_are_not_copied() {
    for state in [State::New, State::Trimmed] {
        let mut twins = Twins::new(&profile(&hybrid(Association::Block, 2), 64, 8, state));
        assert_eq!(twins.pages([24, 25, 26, 32, 40]), [0; 5]);
        // Random: the only page is copied, and the log is erased; there is no old block.
        assert_eq!(twins.pages([57, 64, 72]), [0, 0, 6]);
    }
    let mut twins = Twins::new(&profile(&hybrid(Association::Block, 2), 64, 8, State::Full));
    let rest = ByteRange::new(PAGE * 27, PAGE * 4);
    assert_eq!(twins.run(&Op::Discard { range: rest }), 0);
    // Of block 3, three pages are in the log and one is left to copy.
    assert_eq!(twins.pages([24, 25, 26, 32, 40]), [0, 0, 0, 0, 6]);
}

/// The FAT area is mapped separately, so no page of it is continued behind it.
#[test]
fn run_that_leaves_the_fat_area_inside_a_page_programs_the_page_behind_it() {
    for association in [Association::Block, Association::Full] {
        let mut profile = profile(&hybrid(association, 2), 64, 8, State::New);
        profile.ftl.fat_area = profile.ftl.erase_block;
        profile.check().unwrap();
        let mut stick = VirtualStick::new(&profile, 1);
        let (end, half) = (profile.ftl.fat_area, PAGE / 2);
        for request in [write(end - PAGE, half), write(end - half, half + PAGE)] {
            stick.run(request).unwrap().outcome.unwrap();
        }
        stick.audit().unwrap();
    }
}

#[test]
fn fast_merges_every_block_of_a_shared_log() {
    let mut twins = Twins::new(&profile(&hybrid(Association::Full, 3), 64, 8, State::Full));
    // The second pages of 16 blocks fill the two shared logs. The next page needs the older log, which holds
    // pages of eight blocks: eight times eight copies and an erase, plus the erase of the log.
    let costs = twins.pages((0..25).map(|block| block * 8 + 1));
    assert_eq!(costs[..16], [0; 16]);
    assert_eq!(costs[16], 8 * (8 + 5) + 5);
    assert_eq!(costs[17..24], [0; 7]);
    assert_eq!(costs[24], 8 * (8 + 5) + 5);
}

#[test]
fn fast_erases_a_shared_log_of_superseded_pages() {
    let mut twins = Twins::new(&profile(&hybrid(Association::Full, 3), 64, 8, State::Full));
    // One page 17 times: the first log holds no newest version when it is reused.
    let costs = twins.pages([9; 17]);
    assert_eq!((&costs[..16], costs[16]), (&[0; 16][..], 5));
}

#[test]
fn fast_sequential_log_holds_one_run() {
    let mut twins = Twins::new(&profile(&hybrid(Association::Full, 3), 64, 8, State::Full));
    assert_eq!(twins.pages(24..32), [0, 0, 0, 0, 0, 0, 0, 5]);
    // A second run takes the log from the first: seven copies and an erase. The first run continues in a
    // shared log.
    assert_eq!(twins.pages([40, 48, 41, 42]), [0, 12, 0, 0]);
    // A random page inside the run's block ends the run, with six pages to copy.
    assert_eq!(twins.pages([49, 55]), [0, 6 + 5]);
}

#[test]
fn mapping_unit_larger_than_the_page_is_completed_by_copies() {
    // Units of four pages, and two streams.
    let mut twins = Twins::new(&profile(&log_structured(PAGE * 4, 2), 64, 8, State::Full));
    // Two interleaved sequential runs: nothing to complete.
    let pairs = (0..8).flat_map(|step| [step, 100 + step]);
    assert_eq!(twins.pages(pairs), [0; 16]);
    // A page inside a unit: the one before it is copied at once.
    assert_eq!(twins.page(201), 1);
    // The two pages after it are copied when the stream is reused, after the other stream.
    assert_eq!(twins.pages([300, 400]), [0, 2]);
    // A blank unit has nothing to complete.
    let mut twins = Twins::new(&profile(&log_structured(PAGE * 4, 2), 64, 8, State::New));
    assert_eq!(twins.pages([201, 301, 101, 9]), [0; 4]);
}

#[test]
fn run_takes_over_the_unit_of_another_run() {
    let mut twins = Twins::new(&profile(&log_structured(PAGE * 4, 2), 64, 8, State::Full));
    // Stream 1 stops in the middle of unit 10. Stream 2 writes the whole unit: nothing is left to complete.
    assert_eq!(twins.pages([40, 41]), [0, 0]);
    assert_eq!(twins.run(&write(PAGE * 40, PAGE * 4)), 0);
    assert_eq!(twins.pages([100, 200]), [0, 0]);
}

#[test]
fn flush_ends_only_a_run_that_stopped_inside_a_page() {
    let mut twins = Twins::new(&profile(&log_structured(PAGE * 4, 2), 64, 8, State::Full));
    // One page of a unit: the run goes on after the flush.
    assert_eq!([twins.page(40), twins.run(&Op::Flush), twins.page(41)], [0; 3]);
    // One and a half: the flush programs the second page, and copies the other two of the unit.
    assert_eq!([twins.run(&write(PAGE * 80, PAGE + PAGE / 2)), twins.run(&Op::Flush)], [0, 2]);
}

/// Copies per page written, over twice the capacity, after a warm-up of `warm_up` times the capacity.
fn copies_per_write(profile: &Profile, warm_up: u64, mut page: impl FnMut(u64) -> u64) -> f64 {
    let mut stick = VirtualStick::new(profile, 3);
    let pages = profile.capacity / profile.ftl.page;
    let copied = |stick: &mut VirtualStick, page: &mut dyn FnMut(u64) -> u64, writes: u64| {
        let before = stick.statistics().pages_copied;
        for _ in 0..writes {
            stick.run(write(PAGE * page(pages), PAGE)).unwrap().outcome.unwrap();
        }
        (stick.statistics().pages_copied - before) as f64 / writes as f64
    };
    copied(&mut stick, &mut page, pages * warm_up);
    let copies = copied(&mut stick, &mut page, pages * 2);
    stick.audit().unwrap();
    copies
}

fn uniform() -> impl FnMut(u64) -> u64 {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    move |pages| random.next_u64() % pages
}

/// 90 % of the writes go to 10 % of the pages.
fn hot_and_cold() -> impl FnMut(u64) -> u64 {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    move |pages| {
        let hot = pages / 10;
        if random.next_u64().is_multiple_of(10) {
            hot + random.next_u64() % (pages - hot)
        } else {
            random.next_u64() % hot
        }
    }
}

/// Write amplification of greedy garbage collection under uniformly random writes. In the mean field the
/// share of blocks with i valid pages is proportional to 1/i, from full blocks down to the collected ones
/// (Van Houdt 2013). The lowest level has a fractional share, so that the mean is `mean` pages per block.
fn greedy_amplification(block_pages: u32, mean: f64) -> f64 {
    let (mut pages, mut blocks) = (0.0, 0.0);
    for valid in (1..=block_pages).rev() {
        // The share of blocks that reach this level; the others are collected one level above.
        let part = (mean * blocks - pages) / (1.0 - mean / f64::from(valid));
        if (0.0..=1.0).contains(&part) && blocks > 0.0 {
            return f64::from(block_pages) / (f64::from(block_pages - valid) + part);
        }
        pages += 1.0;
        blocks += 1.0 / f64::from(valid);
    }
    1.0
}

#[test]
fn greedy_write_amplification_matches_its_closed_form() {
    for over_provisioning in [0.08, 0.15, 0.3] {
        let policy = page_mapped(over_provisioning, GcVictim::Greedy, false);
        let profile = profile(&policy, 400, 128, State::Full);
        let measured = 1.0 + copies_per_write(&profile, 6, uniform());
        // When a block is collected, all but the reserve are closed.
        let closed = (400.0 * over_provisioning).round() + 400.0 - 1.0;
        let expected = greedy_amplification(128, 400.0 * 128.0 / closed);
        assert!((measured / expected - 1.0).abs() < 0.02, "{over_provisioning}: {measured} for {expected}");
    }
}

#[test]
fn steady_state_matches_endless_random_overwriting() {
    for (victim, hot_cold) in
        [(GcVictim::Greedy, false), (GcVictim::Greedy, true), (GcVictim::CostBenefit, false)]
    {
        for (over_provisioning, block_pages) in [(0.08, 128), (0.25, 16)] {
            let policy = page_mapped(over_provisioning, victim, hot_cold);
            let in_state = |state| profile(&policy, 400, block_pages, state);
            let overwritten = copies_per_write(&in_state(State::Full), 6, uniform());
            let steady = copies_per_write(&in_state(State::Steady), 0, uniform());
            let ratio = (1.0 + steady) / (1.0 + overwritten);
            assert!(
                (ratio - 1.0).abs() < 0.04,
                "{victim:?} {over_provisioning} {block_pages}: {steady} for {overwritten}"
            );
        }
    }
}

#[test]
fn cost_benefit_copies_less_than_greedy_with_hot_data() {
    let copies = |victim| {
        copies_per_write(&profile(&page_mapped(0.15, victim, true), 200, 64, State::Full), 8, hot_and_cold())
    };
    let (greedy, cost_benefit) = (copies(GcVictim::Greedy), copies(GcVictim::CostBenefit));
    assert!(cost_benefit < greedy * 0.9, "{cost_benefit} for {greedy}");
}

#[test]
fn separate_copy_block_reduces_copies_with_hot_data() {
    let copies = |hot_cold| {
        let policy = page_mapped(0.15, GcVictim::Greedy, hot_cold);
        copies_per_write(&profile(&policy, 200, 64, State::Full), 8, hot_and_cold())
    };
    let (separate, mixed) = (copies(true), copies(false));
    assert!(separate < mixed * 0.9, "{separate} for {mixed}");
}

#[test]
fn page_map_copies_nothing_for_sequential_overwrites() {
    let policy = page_mapped(0.1, GcVictim::Greedy, false);
    let mut next = 0;
    let sequential = |pages| {
        next += 1;
        (next - 1) % pages
    };
    assert_eq!(copies_per_write(&profile(&policy, 64, 8, State::Full), 2, sequential).to_bits(), 0);
}

#[test]
fn collected_block_counts_as_a_merge_only_if_pages_were_copied() {
    let policy = page_mapped(0.1, GcVictim::Greedy, false);
    let mut stick = VirtualStick::new(&profile(&policy, 64, 8, State::Full), 1);
    let (pages, mut random_page) = (64 * 8, uniform());
    for page in 0..pages * 3 {
        stick.run(write(PAGE * (page % pages), PAGE)).unwrap().outcome.unwrap();
    }
    let sequential = stick.statistics();
    assert_eq!((sequential.merges, sequential.pages_copied), (0, 0));
    assert!(sequential.erases > 64, "{sequential:?}");
    for _ in 0..pages * 3 {
        stick.run(write(PAGE * random_page(pages), PAGE)).unwrap().outcome.unwrap();
    }
    let random = stick.statistics();
    let most = random.pages_copied.min(random.erases - sequential.erases);
    assert!((1..=most).contains(&random.merges), "{random:?}");
}

#[test]
fn sequential_writes_below_the_page_program_it_once() {
    for policy in [page_mapped(0.1, GcVictim::Greedy, false), hybrid(Association::Block, 1)] {
        let erases = |length: Bytes| {
            let mut stick = VirtualStick::new(&profile(&policy, 64, 8, State::Full), 1);
            let capacity = stick.profile().capacity;
            for step in 0..capacity / length {
                stick.run(write(length * step, length)).unwrap().outcome.unwrap();
            }
            stick.statistics().erases
        };
        assert_eq!(erases(Bytes::kib(4)), erases(PAGE));
        assert!(erases(PAGE) > 50);
    }
}

#[test]
fn flush_programs_the_buffered_page() {
    let mut stick =
        VirtualStick::new(&profile(&page_mapped(0.1, GcVictim::Greedy, false), 64, 8, State::Full), 1);
    for step in 0..64 * 8 * 4 {
        stick.run(write(Bytes::kib(4) * step, Bytes::kib(4))).unwrap().outcome.unwrap();
        stick.run(Op::Flush).unwrap().outcome.unwrap();
    }
    // Each page was programmed four times: four times the blocks of the stick, less the free ones.
    assert!(stick.statistics().erases > 3 * 64);
    stick.audit().unwrap();
}

#[test]
fn discarded_pages_are_not_copied() {
    let policy = page_mapped(0.1, GcVictim::Greedy, false);
    let copies = |discard: bool| {
        let mut stick = VirtualStick::new(&profile(&policy, 200, 64, State::Steady), 1);
        let mut page = uniform();
        for step in 0..20_000 {
            if discard && step == 0 {
                let half = ByteRange::new(stick.profile().capacity / 2, stick.profile().capacity / 4);
                stick.run(Op::Discard { range: half }).unwrap().outcome.unwrap();
            }
            stick.run(write(PAGE * page(6400), PAGE)).unwrap().outcome.unwrap();
        }
        stick.audit().unwrap();
        stick.statistics().pages_copied
    };
    assert!(copies(true) * 2 < copies(false));
}

#[test]
fn idle_garbage_collection_frees_blocks() {
    let mut policy = page_mapped(0.2, GcVictim::Greedy, false);
    if let Policy::PageMapped(policy) = &mut policy {
        policy.background_share = 0.5;
    }
    let mut profile = profile(&page_mapped(0.2, GcVictim::Greedy, false), 100, 32, State::Steady);
    profile.policy = policy;
    assert!(profile.check().unwrap_err().to_string().contains("[background]"));
    profile.background =
        Some(Background { basis: Basis::Assumed, idle_after_us: 1e5, unit_us: 0.0, stall: None });
    let mut twins = Twins::new(&profile);
    let mut page = uniform();
    let mut busy = |twins: &mut Twins| (0..96).map(|_| twins.page(page(3200))).sum::<u128>();
    assert!(busy(&mut twins) > 100);
    twins.run(&Op::Pause { duration: Duration::from_secs(3600) });
    // Ten blocks are free now; the writes take three.
    assert_eq!(busy(&mut twins), 0);
}

/// One block has an invalid page. Its other seven go to the block of copies, which stays open, as that of
/// writes does.
#[test]
fn idle_garbage_collection_copies_no_block_of_valid_pages() {
    for victim in [GcVictim::Greedy, GcVictim::CostBenefit] {
        let mut profile = profile(&page_mapped(0.1, victim, true), 64, 8, State::Full);
        if let Policy::PageMapped(policy) = &mut profile.policy {
            policy.background_share = 1.0;
        }
        profile.background =
            Some(Background { basis: Basis::Assumed, idle_after_us: 1e5, unit_us: 0.0, stall: None });
        let mut stick = VirtualStick::new(&profile, 1);
        stick.run(write(PAGE * 3, PAGE)).unwrap().outcome.unwrap();
        stick.pause(Duration::from_secs(60)).unwrap();
        let statistics = stick.statistics();
        assert_eq!((statistics.erases, statistics.pages_copied), (1, 7), "{victim:?}");
        stick.audit().unwrap();
    }
}

#[test]
fn copies_of_a_flush_are_no_idle_time() {
    let mut profile = profile(&log_structured(PAGE * 4, 2), 64, 8, State::Steady);
    if let Policy::LogStructured(policy) = &mut profile.policy {
        policy.background_share = 1.0;
    }
    // Shorter than the two copies, and longer than a command of 150 us.
    profile.background =
        Some(Background { basis: Basis::Assumed, idle_after_us: 1.5e3, unit_us: 0.0, stall: None });
    let mut stick = VirtualStick::new(&profile, 1);
    stick.run(write(PAGE * 80, PAGE + PAGE / 2)).unwrap().outcome.unwrap();
    let flush = stick.run(Op::Flush).unwrap();
    assert!(flush.latency() >= Duration::from_millis(2), "two copies: {flush:?}");
    stick.run(Op::read(ByteRange::new(PAGE * 80, PAGE))).unwrap().outcome.unwrap();
    assert_eq!(stick.statistics().erases, 0);
    stick.pause(Duration::from_millis(20)).unwrap();
    assert!(stick.statistics().erases > 0, "idle: {:?}", stick.statistics());
}

/// Sizes that are not powers of two, three planes, odd dies, and units cut short by the capacity.
#[test]
fn odd_geometries_keep_all_invariants() {
    let geometries = [(1536, 12), (3072, 48), (6144, 24), (12_288, 16), (24_576, 48), (640, 5), (2560, 40)];
    for (block_kib, page_kib) in geometries {
        for policy in [
            hybrid(Association::Block, 3),
            hybrid(Association::Full, 4),
            log_structured(Bytes::kib(page_kib), 3),
            log_structured(Bytes::kib(block_kib), 2),
            page_mapped(0.07, GcVictim::CostBenefit, true),
        ] {
            for state in [State::New, State::Full, State::Steady] {
                let mut profile = profile(&hybrid(Association::Block, 1), 16, 16, state);
                (profile.ftl.erase_block, profile.ftl.page) = (Bytes::kib(block_kib), Bytes::kib(page_kib));
                profile.capacity = Bytes::kib(block_kib) * 9 + Bytes::kib(37);
                profile.policy = policy.clone();
                profile.check().unwrap();
                run_random_requests(&profile);
            }
        }
    }
}

/// Writes and discards of random sizes at random offsets, with audits.
fn run_random_requests(profile: &Profile) {
    let mut stick = VirtualStick::new(profile, 1);
    let sectors = profile.capacity.sectors().0;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
    let mut draw = |below: u64| random.next_u64() % below;
    for step in 0..400 {
        let start = draw(sectors);
        let magnitude = 1 + draw(13);
        let length = (draw(1 << magnitude) + 1).min(sectors - start);
        let range = ByteRange::new(Bytes::new(512) * start, Bytes::new(512) * length);
        let op = if draw(8) == 0 { Op::Discard { range } } else { Op::write(range, Pattern::new(1)) };
        stick.run(op).unwrap().outcome.unwrap();
        if step % 20 == 0 {
            stick.audit().unwrap();
        }
    }
    stick.audit().unwrap();
}

#[test]
fn impossible_policies_are_refused_with_key_and_bounds() {
    let page_mapped = "[policy.page_mapped]\nbasis = \"assumed\"\nover_provisioning = 0.07\nvictim = \"greedy\"\ncopy_page_us = 900\nerase_us = 4000\n";
    let hybrid_log = "[policy.hybrid_log]\nbasis = \"assumed\"\nassociation = \"full\"\nlog_blocks = 6\ncopy_page_us = 900\nerase_us = 4000\n";
    let log_structured = "[policy.log_structured]\nbasis = \"assumed\"\nstreams = 3\nunit = \"64KiB\"\nover_provisioning = 0.07\ncopy_page_us = 900\nerase_us = 4000\n";
    let cases = [
        (page_mapped, "0.07", "1.5", "policy.page_mapped.over_provisioning", "from 0 to 1"),
        (page_mapped, "0.07", "-1", "policy.page_mapped.over_provisioning", "from 0 to 1"),
        (page_mapped, "4000", "nan", "policy.page_mapped.erase_us", "from 0 to 100000000"),
        (page_mapped, "900", "1e30", "policy.page_mapped.copy_page_us", "from 0 to 100000000"),
        (
            page_mapped,
            "victim",
            "background_share = 7\nvictim",
            "policy.page_mapped.background_share",
            "from 0 to 1",
        ),
        (hybrid_log, "= 6", "= 1", "policy.hybrid_log.log_blocks", "2 to 1024"),
        (hybrid_log, "= 6", "= 4000", "policy.hybrid_log.log_blocks", "2 to 1024"),
        (hybrid_log, "4000", "-3", "policy.hybrid_log.erase_us", "from 0"),
        (log_structured, "64KiB", "24KiB", "policy.log_structured.unit", "a multiple of page (16 KiB)"),
        (log_structured, "64KiB", "8MiB", "policy.log_structured.unit", "erase_block (4 MiB)"),
        (log_structured, "64KiB", "0", "policy.log_structured.unit", "a multiple of page (16 KiB)"),
        (log_structured, "streams = 3", "streams = 65", "policy.log_structured.streams", "1 to 64"),
    ];
    for (policy, old, new, expected_key, bounds) in cases {
        assert!(with_policy(policy).is_ok(), "{:?}", with_policy(policy));
        let Err(ProfileError::Impossible { key, allowed, .. }) = with_policy(&policy.replacen(old, new, 1))
        else {
            unreachable!("{new} was accepted")
        };
        assert_eq!(key, expected_key);
        assert!(allowed.contains(bounds), "{allowed}");
    }
    for (old, new) in [("\"greedy\"", "\"lazy\""), ("victim = \"greedy\"", ""), ("basis", "bassis")] {
        assert!(matches!(with_policy(&page_mapped.replace(old, new)), Err(ProfileError::Syntax(_))), "{new}");
    }
}

/// The Transcend profile without a FAT area and with another policy.
fn with_policy(policy: &str) -> Result<Profile, ProfileError> {
    let text = Profile::text("transcend-8g").unwrap().replace("fat_area = \"4MiB\"", "");
    let (before, after) = text.split_once("[policy.open_blocks]").unwrap();
    let (_, after) = after.split_once("[noise]").unwrap();
    Profile::parse(&format!("{before}{policy}\n[noise]{after}"))
}

#[test]
fn map_larger_than_memory_is_refused() {
    let mut profile = profile(&page_mapped(0.1, GcVictim::Greedy, false), 64, 8, State::New);
    profile.ftl.page = Bytes::new(512);
    profile.capacity = Bytes::gib(2048);
    let Err(ProfileError::Impossible { key, allowed, .. }) = profile.check() else {
        unreachable!("no bound")
    };
    assert_eq!(key, "ftl.page");
    assert!(allowed.contains("at least 16 KiB"), "{allowed}");
}

#[test]
fn small_write_path_and_fat_area_require_open_blocks() {
    let mut profile = profile(&page_mapped(0.1, GcVictim::Greedy, false), 64, 8, State::New);
    profile.small_writes = Profile::builtin("patriot-xt-16g").unwrap().small_writes;
    assert!(profile.check().unwrap_err().to_string().contains("small_writes.up_to"));
    profile.small_writes = None;
    profile.ftl.fat_area = profile.ftl.erase_block;
    assert!(profile.check().unwrap_err().to_string().contains("ftl.fat_area"));
}
