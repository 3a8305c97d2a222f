//! The merges of a layer with open erase blocks, in cases that can be worked out by hand. Blocks
//! of 1 MiB hold 64 pages; a merge of a whole block takes 64 ms. Three blocks can be open, two of
//! them for random writes, each with a log of four pages.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use flashscope_device::{ByteRange, Bytes, Device, DeviceExt, Op, Pattern};
use flashscope_sim::{Profile, VirtualStick};

const ROUND: &str = r#"
name = "round"
description = "a stick of round numbers"
capacity = "64MiB"
[link]
basis = "assumed"
max_command = "1MiB"
command_us = 0
megabytes_per_s = 50
[read]
basis = "assumed"
access_us = 400
[write]
basis = "assumed"
[write.curve]
append_us = [["4KiB", 1000], ["1MiB", 64000]]
jump_us = [["4KiB", 9000], ["1MiB", 640000]]
[ftl]
basis = "assumed"
erase_block = "1MiB"
page = "16KiB"
[policy.open_blocks]
basis = "assumed"
open_units_linear = 3
open_units_random = 2
random_log = "64KiB"
victim = "lru"
merge_us = 64000
open_us = 100000
[noise]
basis = "assumed"
jitter = 0
"#;

const BLOCK: Bytes = Bytes::mib(1);
const PAGE: Bytes = Bytes::kib(16);

fn stick(tables: &str) -> VirtualStick {
    VirtualStick::new(&Profile::parse(&format!("{ROUND}{tables}")).unwrap(), 1)
}

fn write(stick: &mut VirtualStick, offset: Bytes, length: Bytes) -> Duration {
    let completion = stick.run(Op::write(ByteRange::new(offset, length), Pattern::new(1))).unwrap();
    completion.outcome.as_ref().unwrap();
    stick.audit().unwrap();
    completion.latency()
}

/// The merges that each write costs: its block, its first page there, and its number of pages.
fn merges(stick: &mut VirtualStick, writes: &[(u64, u64, u64)]) -> Vec<u64> {
    let cost = |&(block, page, pages): &(u64, u64, u64)| {
        let before = stick.statistics().merges;
        write(stick, BLOCK * block + PAGE * page, PAGE * pages);
        stick.statistics().merges - before
    };
    writes.iter().map(cost).collect()
}

#[test]
fn a_random_write_of_three_logs_costs_three_merges() {
    // Twelve pages in the middle of a block, which the next jump puts into the log.
    let mut stick = stick("");
    assert_eq!(merges(&mut stick, &[(8, 20, 12), (8, 40, 1), (8, 50, 2), (8, 60, 1)]), [0, 3, 0, 1]);
    let before = stick.now();
    write(&mut stick, BLOCK * 8 + PAGE * 10, PAGE * 8);
    let in_logs = stick.now().since(before);
    assert!(in_logs > Duration::from_millis(128), "two merges of 64 ms: {in_logs:?}");
}

#[test]
fn a_block_that_was_broken_off_counts_as_one_for_random_writes() {
    // The start of each block is completed by a merge. The third block for random writes closes the first.
    let of_block = |block| [(block, 0, 4), (block, 10, 1)];
    let writes = [of_block(8), of_block(10), of_block(12)].concat();
    assert_eq!(merges(&mut stick(""), &writes), [0, 1, 0, 1, 0, 2]);
}

#[test]
fn a_whole_block_that_is_rewritten_is_no_random_write() {
    let time = |pages| {
        let mut stick = stick("");
        write(&mut stick, BLOCK * 8, PAGE * pages);
        let (before, time) = (stick.statistics().merges, write(&mut stick, BLOCK * 8, BLOCK));
        time - Duration::from_millis(64) * u32::try_from(stick.statistics().merges - before).unwrap()
    };
    // Sequential: 64 ms for 1 MiB, and less than a merge for the completion of what was begun.
    assert!(time(4) <= Duration::from_millis(64), "{:?}", time(4));
}

#[test]
fn opening_is_free_for_the_three_blocks_that_were_opened_last() {
    let mut stick = stick("");
    let mut is_free = |block: u64| write(&mut stick, BLOCK * block, BLOCK) < Duration::from_millis(100);
    assert_eq!([8, 9, 10].map(&mut is_free), [false; 3]);
    // Opening block 8 again makes block 9 the oldest.
    assert_eq!([8, 11, 8, 10, 9].map(&mut is_free), [true, false, true, true, false]);
}

#[test]
fn the_oldest_block_is_spared_once_if_it_was_written_again() {
    let merges_with = |victim: &str, later: &[(u64, u64, u64)]| {
        let text = ROUND.replace("\"lru\"", &format!("\"{victim}\""));
        let mut stick = VirtualStick::new(&Profile::parse(&text).unwrap(), 1);
        // Block 8 is opened first, and continued after blocks 9 and 10.
        let writes = [&[(8, 0, 2), (9, 0, 2), (10, 0, 2), (8, 2, 2)][..], later].concat();
        merges(&mut stick, &writes).split_off(4)
    };
    // Block 11 closes block 9, or block 8 if nothing spares it.
    assert_eq!(merges_with("clock", &[(11, 0, 2), (8, 4, 2)]), [1, 0]);
    assert_eq!(merges_with("fifo", &[(11, 0, 2), (8, 4, 2)]), [1, 1]);
    // Block 12 closes block 10. Block 13 closes block 8, which was not written since.
    assert_eq!(merges_with("clock", &[(11, 0, 2), (12, 0, 2), (8, 4, 2)]), [1, 1, 0]);
    assert_eq!(merges_with("clock", &[(11, 0, 2), (12, 0, 2), (13, 0, 2), (8, 4, 2)]), [1; 4]);
}

#[test]
fn a_block_is_dropped_only_after_small_writes_replaced_all_of_it() {
    let merges_at_closing = |between: &[(u64, u64, u64)]| {
        let mut stick = stick("[small_writes]\nbasis = \"assumed\"\nup_to = \"16KiB\"\nwrite_us = 100\n");
        merges(&mut stick, &[(8, 0, 4)]);
        let small = |pages: std::ops::Range<u64>| pages.rev().map(|page| (8, page, 1)).collect::<Vec<_>>();
        let writes = [small(0..32), between.to_vec(), small(32..64)].concat();
        merges(&mut stick, &writes).iter().sum::<u64>()
            + merges(&mut stick, &[(20, 0, 2), (21, 0, 2), (22, 0, 2)]).iter().sum::<u64>()
    };
    assert_eq!(merges_at_closing(&[]), 0);
    assert_eq!(merges_at_closing(&[(8, 4, 4)]), 1, "newer data of the block itself is kept");
}
