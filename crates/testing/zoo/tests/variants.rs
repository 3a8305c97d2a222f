//! The defining behaviour of variants whose law is in the translation layer, seen from outside.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::time::Duration;

use flashscope_device::{ByteRange, Bytes, DeviceExt, Op, Pattern};
use flashscope_sim::profile::{Curve, Policy, Victim};
use flashscope_sim::{Profile, VirtualStick};
use flashscope_zoo::{Law, Scope, Specimen};

const SIZE: Bytes = Bytes::kib(4);

/// Variants of each law.
const EACH: u64 = 12;

fn variants(law: Law) -> impl Iterator<Item = Specimen> {
    let laws = Law::ALL.len() as u64;
    let specimens = (0..laws * EACH).map(|index| Specimen::variant(5, index).unwrap());
    specimens.filter(move |each| each.scope == Scope::Variant(law))
}

/// Three open blocks with merges of 300 ms, without noise.
fn three_open_blocks(victim: Victim) -> VirtualStick {
    let mut profile = Profile::builtin("transcend-8g").unwrap();
    let Policy::OpenBlocks(policy) = &mut profile.policy else { unreachable!("it has open blocks") };
    (policy.open_units_linear, policy.open_units_random, policy.victim) = (3, 3, victim);
    policy.merge_us = Curve::Constant(300e3);
    (profile.noise.jitter, profile.noise.outliers_per_million) = (0.0, 0.0);
    profile.check().unwrap();
    VirtualStick::new(&profile, 1)
}

/// For each block of a sequence: whether the write that continues it merges another block.
fn merges(victim: Victim, blocks: &[u64]) -> Vec<bool> {
    let mut stick = three_open_blocks(victim);
    let block = stick.profile().ftl.erase_block;
    let page = stick.profile().ftl.page;
    let mut ends = BTreeMap::new();
    let mut is_slow = |number: &u64| {
        let end = ends.entry(*number).or_insert(0);
        let range = ByteRange::new(block * (100 + *number) + page * *end, page);
        *end += 1;
        stick.run(Op::write(range, Pattern::new(1))).unwrap().latency() > Duration::from_millis(100)
    };
    blocks.iter().map(&mut is_slow).collect()
}

/// Blocks 0, 1, 2 are open, 0 was written last. Then 3 evicts one of them: the next writes show which.
#[test]
fn fifo_evicts_the_block_opened_first_although_it_was_written_last() {
    let after_eviction_of_oldest = |victim| {
        let merges = merges(victim, &[0, 1, 2, 0, 3, 0]);
        assert_eq!(merges[..5], [false, false, false, false, true]);
        merges[5]
    };
    assert!(after_eviction_of_oldest(Victim::Fifo), "0 was evicted");
    assert!(!after_eviction_of_oldest(Victim::Lru), "1 was evicted");
    assert!(!after_eviction_of_oldest(Victim::Clock), "0 was spared");
}

/// A spared block is not spared again unless it is written again; a block that was only opened is evicted.
#[test]
fn clock_spares_a_rewritten_block_once() {
    // 3 spares 0 and evicts 1; 4 evicts 2; 5 evicts 0, which was not written since.
    let merges = |last| merges(Victim::Clock, &[0, 1, 2, 0, 3, 4, 5, last])[7];
    assert!(merges(0), "0 was evicted in its turn");
    // FIFO order after that: 3, 4, 5 are open.
    assert!(!merges(3) && !merges(4), "3 and 4 are open");
}

#[test]
fn variants_of_eviction_have_their_victim_in_the_profile() {
    for (law, victim) in [(Law::Fifo, "fifo"), (Law::Clock, "clock")] {
        let all: Vec<String> = variants(law).map(|each| each.describe()).collect();
        assert!(all.len() as u64 == EACH && all.iter().all(|text| text.contains(&format!("\"{victim}\""))));
    }
}

#[test]
fn variants_of_one_number_are_the_same_device() {
    for index in 0..40 {
        let (one, other) = (Specimen::variant(3, index).unwrap(), Specimen::variant(3, index).unwrap());
        assert_eq!((one.describe(), &one.truth), (other.describe(), &other.truth));
        let times = |specimen: &Specimen| -> Vec<Duration> {
            let mut device = specimen.device().unwrap();
            let step = (device.capabilities().capacity / 64).round_down(SIZE);
            let writes = (0..64).map(|index| Op::write(ByteRange::new(step * index, SIZE), Pattern::new(1)));
            writes.map(|op| device.run(op).unwrap().latency()).collect()
        };
        assert_eq!(times(&one), times(&other));
    }
}
