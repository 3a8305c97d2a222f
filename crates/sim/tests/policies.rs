//! What each translation layer costs, in cases that can be worked out by hand.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use flashscope_device::{ByteRange, Bytes, DeviceExt, Op, Pattern};
use flashscope_sim::profile::{
    Association, Background, Basis, CollectionVictim, HybridLog, LogStructured, PageMapped, Policy, State,
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

fn page_mapped(over_provisioning: f64, victim: CollectionVictim, hot_cold: bool) -> Policy {
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

/// A quiet stick of so many blocks of so many pages of 16 KiB.
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

/// The same profile with work inside the flash for free.
fn gratis(profile: &Profile) -> Profile {
    let mut profile = profile.clone();
    match &mut profile.policy {
        Policy::OpenBlocks(_) => {}
        Policy::HybridLog(policy) => (policy.copy_page_us, policy.erase_us) = (0.0, 0.0),
        Policy::LogStructured(policy) => (policy.copy_page_us, policy.erase_us) = (0.0, 0.0),
        Policy::PageMapped(policy) => (policy.copy_page_us, policy.erase_us) = (0.0, 0.0),
    }
    profile
}

/// A stick beside another that copies and erases in no time: the difference is what copying and erasing took.
struct Twins {
    stick: VirtualStick,
    gratis: VirtualStick,
}

impl Twins {
    fn new(profile: &Profile) -> Self {
        Self { stick: VirtualStick::new(profile, 1), gratis: VirtualStick::new(&gratis(profile), 1) }
    }

    /// Milliseconds that a request spends copying and erasing: pages of 1 ms and blocks of 5 ms.
    fn run(&mut self, op: &Op) -> u128 {
        let time = |stick: &mut VirtualStick| {
            let completion = stick.run(op.clone()).unwrap();
            completion.outcome.as_ref().unwrap();
            stick.audit().unwrap();
            completion.latency()
        };
        let difference = time(&mut self.stick) - time(&mut self.gratis);
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
fn a_block_associative_log_written_in_order_is_switched() {
    let mut twins = Twins::new(&profile(&hybrid(Association::Block, 2), 64, 8, State::Full));
    // Pages 24 to 31 are block 3: the last one makes the log the data block, and the old one is erased.
    assert_eq!(twins.pages(24..32), [0, 0, 0, 0, 0, 0, 0, 5]);
    assert_eq!((twins.stick.statistics().pages_copied, twins.stick.statistics().erases), (0, 1));
}

#[test]
fn a_block_associative_log_that_holds_the_beginning_is_merged_partially() {
    let mut twins = Twins::new(&profile(&hybrid(Association::Block, 2), 64, 8, State::Full));
    // Three pages of block 3, one of block 4; block 5 needs a log: five pages are copied behind the three, one block is erased.
    assert_eq!(twins.pages([24, 25, 26, 32, 40]), [0, 0, 0, 0, 10]);
    // Block 4's log, the older one now, holds one page.
    assert_eq!(twins.page(48), 12);
}

#[test]
fn a_block_associative_log_out_of_order_is_merged_fully() {
    let mut twins = Twins::new(&profile(&hybrid(Association::Block, 2), 64, 8, State::Full));
    // All eight pages are copied, and both the data block and the log are erased.
    assert_eq!(twins.pages([26, 25, 32, 40]), [0, 0, 0, 18]);
    // A log that is full of one page again and again.
    assert_eq!(twins.pages([41; 7]), [0, 0, 0, 0, 0, 0, 18]);
}

#[test]
fn what_was_never_written_need_not_be_copied() {
    for state in [State::New, State::Trimmed] {
        let mut twins = Twins::new(&profile(&hybrid(Association::Block, 2), 64, 8, state));
        assert_eq!(twins.pages([24, 25, 26, 32, 40]), [0; 5]);
        // Out of order: the one page there is is copied, and the log erased; there is no old block.
        assert_eq!(twins.pages([57, 64, 72]), [0, 0, 6]);
    }
    let mut twins = Twins::new(&profile(&hybrid(Association::Block, 2), 64, 8, State::Full));
    let rest = ByteRange::new(PAGE * 27, PAGE * 4);
    assert_eq!(twins.run(&Op::Discard { range: rest }), 0);
    // Of block 3, three pages are in the log and one is left to copy.
    assert_eq!(twins.pages([24, 25, 26, 32, 40]), [0, 0, 0, 0, 6]);
}

#[test]
fn fully_associative_logs_merge_every_block_they_hold_pages_of() {
    let mut twins = Twins::new(&profile(&hybrid(Association::Full, 3), 64, 8, State::Full));
    // The second page of 16 blocks fills the two shared logs; the next page needs the older one, which holds pages of eight
    // blocks: eight times eight copies and an erase, and the log is erased.
    let costs = twins.pages((0..25).map(|block| block * 8 + 1));
    assert_eq!(costs[..16], [0; 16]);
    assert_eq!(costs[16], 8 * (8 + 5) + 5);
    assert_eq!(costs[17..24], [0; 7]);
    assert_eq!(costs[24], 8 * (8 + 5) + 5);
}

#[test]
fn a_shared_log_of_superseded_pages_is_only_erased() {
    let mut twins = Twins::new(&profile(&hybrid(Association::Full, 3), 64, 8, State::Full));
    // One page 17 times: the first log holds no newest version when it is needed again.
    let costs = twins.pages([9; 17]);
    assert_eq!((&costs[..16], costs[16]), (&[0; 16][..], 5));
}

#[test]
fn the_sequential_log_of_a_fully_associative_layer_takes_one_run() {
    let mut twins = Twins::new(&profile(&hybrid(Association::Full, 3), 64, 8, State::Full));
    assert_eq!(twins.pages(24..32), [0, 0, 0, 0, 0, 0, 0, 5]);
    // A second run takes the log from the first: seven copies and an erase. What goes on in the first goes to a shared log.
    assert_eq!(twins.pages([40, 48, 41, 42]), [0, 12, 0, 0]);
    // Out of order inside the run's own block: the run ends, with six pages to copy.
    assert_eq!(twins.pages([49, 55]), [0, 6 + 5]);
}

#[test]
fn a_mapping_unit_larger_than_the_page_is_completed_by_copies() {
    // Units of four pages; streams that keep theirs open.
    let mut twins = Twins::new(&profile(&log_structured(PAGE * 4, 2), 64, 8, State::Full));
    // Two runs in turn, in order: nothing to complete.
    let pairs = (0..8).flat_map(|step| [step, 100 + step]);
    assert_eq!(twins.pages(pairs), [0; 16]);
    // A page inside a unit: one before it is copied at once.
    assert_eq!(twins.page(201), 1);
    // The two behind it when the stream is needed elsewhere: after the other one was.
    assert_eq!(twins.pages([300, 400]), [0, 2]);
    // Where nothing was written there is nothing to complete.
    let mut twins = Twins::new(&profile(&log_structured(PAGE * 4, 2), 64, 8, State::New));
    assert_eq!(twins.pages([201, 301, 101, 9]), [0; 4]);
}

#[test]
fn a_run_that_comes_into_a_unit_of_another_takes_it_over() {
    let mut twins = Twins::new(&profile(&log_structured(PAGE * 4, 2), 64, 8, State::Full));
    // Stream one stops in the middle of unit 10; stream two writes it whole: nothing is left to complete.
    assert_eq!(twins.pages([40, 41]), [0, 0]);
    assert_eq!(twins.run(&write(PAGE * 40, PAGE * 4)), 0);
    assert_eq!(twins.pages([100, 200]), [0, 0]);
}

/// Copies per page written, after as many writes as `warm_up` times the capacity, over the same number again.
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

/// Nine of ten writes go to a tenth of the pages.
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

/// Write amplification of greedy collection under uniformly random writes. In the mean field the share of blocks with i valid
/// pages is proportional to 1/i, from full blocks down to those collected (Van Houdt 2013); here with a real number of
/// pages for the lowest level, so that the shares hold `mean` pages per block.
fn greedy_amplification(block_pages: u32, mean: f64) -> f64 {
    let (mut pages, mut blocks) = (0.0, 0.0);
    for valid in (1..=block_pages).rev() {
        // The part of this level that blocks spend their lives in; the others are collected above it.
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
fn greedy_collection_amplifies_as_its_closed_form_says() {
    for over_provisioning in [0.08, 0.15, 0.3] {
        let policy = page_mapped(over_provisioning, CollectionVictim::Greedy, false);
        let profile = profile(&policy, 400, 128, State::Full);
        let measured = 1.0 + copies_per_write(&profile, 6, uniform());
        // When a block is collected all are closed but the one in reserve.
        let closed = (400.0 * over_provisioning).round() + 400.0 - 1.0;
        let expected = greedy_amplification(128, 400.0 * 128.0 / closed);
        assert!((measured / expected - 1.0).abs() < 0.02, "{over_provisioning}: {measured} for {expected}");
    }
}

#[test]
fn a_steady_stick_is_what_endless_overwriting_leaves() {
    for (victim, hot_cold) in [
        (CollectionVictim::Greedy, false),
        (CollectionVictim::Greedy, true),
        (CollectionVictim::CostBenefit, false),
    ] {
        for (over_provisioning, block_pages) in [(0.08, 128), (0.25, 16)] {
            let policy = page_mapped(over_provisioning, victim, hot_cold);
            let of = |state| profile(&policy, 400, block_pages, state);
            let worn = copies_per_write(&of(State::Full), 6, uniform());
            let steady = copies_per_write(&of(State::Steady), 0, uniform());
            let ratio = (1.0 + steady) / (1.0 + worn);
            assert!(
                (ratio - 1.0).abs() < 0.04,
                "{victim:?} {over_provisioning} {block_pages}: {steady} for {worn}"
            );
        }
    }
}

#[test]
fn cost_benefit_beats_greedy_where_some_data_is_hot() {
    let copies = |victim| {
        copies_per_write(&profile(&page_mapped(0.15, victim, true), 200, 64, State::Full), 8, hot_and_cold())
    };
    let (greedy, cost_benefit) = (copies(CollectionVictim::Greedy), copies(CollectionVictim::CostBenefit));
    assert!(cost_benefit < greedy * 0.9, "{cost_benefit} for {greedy}");
}

#[test]
fn a_block_of_its_own_for_copies_keeps_hot_pages_from_cold_ones() {
    let copies = |hot_cold| {
        let policy = page_mapped(0.15, CollectionVictim::Greedy, hot_cold);
        copies_per_write(&profile(&policy, 200, 64, State::Full), 8, hot_and_cold())
    };
    let (apart, together) = (copies(true), copies(false));
    assert!(apart < together * 0.9, "{apart} for {together}");
}

#[test]
fn a_page_map_overwritten_in_order_copies_nothing() {
    let policy = page_mapped(0.1, CollectionVictim::Greedy, false);
    let mut next = 0;
    let in_order = |pages| {
        next += 1;
        (next - 1) % pages
    };
    assert_eq!(copies_per_write(&profile(&policy, 64, 8, State::Full), 2, in_order).to_bits(), 0);
}

#[test]
fn writes_below_the_page_that_go_on_program_it_once() {
    for policy in [page_mapped(0.1, CollectionVictim::Greedy, false), hybrid(Association::Block, 1)] {
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
fn a_flush_ends_the_page_in_the_buffer() {
    let mut stick = VirtualStick::new(
        &profile(&page_mapped(0.1, CollectionVictim::Greedy, false), 64, 8, State::Full),
        1,
    );
    for step in 0..64 * 8 * 4 {
        stick.run(write(Bytes::kib(4) * step, Bytes::kib(4))).unwrap().outcome.unwrap();
        stick.run(Op::Flush).unwrap().outcome.unwrap();
    }
    // Each page was programmed four times: four times as many blocks as the stick has, less those that were free.
    assert!(stick.statistics().erases > 3 * 64);
    stick.audit().unwrap();
}

#[test]
fn what_was_discarded_is_not_copied() {
    let policy = page_mapped(0.1, CollectionVictim::Greedy, false);
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
fn idle_time_is_used_to_collect() {
    let mut policy = page_mapped(0.2, CollectionVictim::Greedy, false);
    if let Policy::PageMapped(policy) = &mut policy {
        policy.background_share = 0.5;
    }
    let mut profile = profile(&page_mapped(0.2, CollectionVictim::Greedy, false), 100, 32, State::Steady);
    profile.policy = policy;
    assert!(profile.check().unwrap_err().to_string().contains("[background]"));
    profile.background =
        Some(Background { basis: Basis::Assumed, idle_after_us: 1e5, unit_us: 0.0, stall: None });
    let mut twins = Twins::new(&profile);
    let mut page = uniform();
    let mut busy = |twins: &mut Twins| (0..96).map(|_| twins.page(page(3200))).sum::<u128>();
    assert!(busy(&mut twins) > 100);
    twins.run(&Op::Pause { duration: Duration::from_secs(3600) });
    // Ten blocks are free now, of which the writes take three.
    assert_eq!(busy(&mut twins), 0);
}

/// Sizes that are no powers of two, of flash with three planes, odd dies, and units that the capacity cuts short.
#[test]
fn any_geometry_will_do() {
    let geometries = [(1536, 12), (3072, 48), (6144, 24), (12_288, 16), (24_576, 48), (640, 5), (2560, 40)];
    for (block_kib, page_kib) in geometries {
        for policy in [
            hybrid(Association::Block, 3),
            hybrid(Association::Full, 4),
            log_structured(Bytes::kib(page_kib), 3),
            log_structured(Bytes::kib(block_kib), 2),
            page_mapped(0.07, CollectionVictim::CostBenefit, true),
        ] {
            for state in [State::New, State::Full, State::Steady] {
                let mut profile = profile(&hybrid(Association::Block, 1), 16, 16, state);
                (profile.ftl.erase_block, profile.ftl.page) = (Bytes::kib(block_kib), Bytes::kib(page_kib));
                profile.capacity = Bytes::kib(block_kib) * 9 + Bytes::kib(37);
                profile.policy = policy.clone();
                profile.check().unwrap();
                anything(&profile);
            }
        }
    }
}

/// Writes and discards of any size anywhere, with the books audited.
fn anything(profile: &Profile) {
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
            unreachable!("{new} passed")
        };
        assert_eq!(key, expected_key);
        assert!(allowed.contains(bounds), "{allowed}");
    }
    for (old, new) in [("\"greedy\"", "\"lazy\""), ("victim = \"greedy\"", ""), ("basis", "bassis")] {
        assert!(matches!(with_policy(&page_mapped.replace(old, new)), Err(ProfileError::Syntax(_))), "{new}");
    }
}

/// The Transcend profile without FAT area and under another policy.
fn with_policy(policy: &str) -> Result<Profile, ProfileError> {
    let text = Profile::text("transcend-8g").unwrap().replace("fat_area = \"4MiB\"", "");
    let (before, behind) = text.split_once("[policy.open_blocks]").unwrap();
    let (_, behind) = behind.split_once("[noise]").unwrap();
    Profile::parse(&format!("{before}{policy}\n[noise]{behind}"))
}

#[test]
fn a_map_that_would_take_all_memory_is_refused() {
    let mut profile = profile(&page_mapped(0.1, CollectionVictim::Greedy, false), 64, 8, State::New);
    profile.ftl.page = Bytes::new(512);
    profile.capacity = Bytes::gib(2048);
    let Err(ProfileError::Impossible { key, allowed, .. }) = profile.check() else {
        unreachable!("no bound")
    };
    assert_eq!(key, "ftl.page");
    assert!(allowed.contains("at least 16 KiB"), "{allowed}");
}

#[test]
fn only_open_blocks_have_a_path_of_small_writes_and_a_fat_area() {
    let mut profile = profile(&page_mapped(0.1, CollectionVictim::Greedy, false), 64, 8, State::New);
    profile.small_writes = Profile::builtin("patriot-xt-16g").unwrap().small_writes;
    assert!(profile.check().unwrap_err().to_string().contains("small_writes.up_to"));
    profile.small_writes = None;
    profile.ftl.fat_area = profile.ftl.erase_block;
    assert!(profile.check().unwrap_err().to_string().contains("ftl.fat_area"));
}
