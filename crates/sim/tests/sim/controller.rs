//! Caches and buffers, area states, background work, regions, wear and heat, each against times worked out by
//! hand. The stick of these tests has round numbers: a command costs 100 us, 64 KiB take 2048 us on the link,
//! a page of 16 KiB takes 1 ms to program, an access 400 us, a merge 50 ms.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use flashscope_device::{ByteRange, Bytes, Device, DeviceExt, FailureCause, Op, Pattern};
use flashscope_sim::{Profile, ProfileError, VirtualStick};

const PLAIN: &str = r#"
name = "round"
description = "a stick of round numbers"
capacity = "64MiB"
[link]
basis = "assumed"
max_command = "64KiB"
command_us = 100
megabytes_per_s = 32
[read]
basis = "assumed"
access_us = 400
[write]
basis = "assumed"
overhead_us = 100
page_program_us = 1000
partial_page_us = 1500
[ftl]
basis = "assumed"
erase_block = "1MiB"
page = "16KiB"
[policy.open_blocks]
basis = "assumed"
open_units_linear = 2
open_units_random = 0
victim = "lru"
merge_us = 50000
[noise]
basis = "assumed"
jitter = 0
"#;

const SLC: &str = r#"
[slc_cache]
basis = "assumed"
size = "1MiB"
overhead_us = 100
page_program_us = 200
fold_megabytes_per_s = 16
when_full = "direct"
"#;

const BUFFER: &str = r#"
[write_buffer]
basis = "assumed"
size = "256KiB"
accept_us = 20
"#;

const BACKGROUND: &str = r#"
[background]
basis = "assumed"
idle_after_us = 1e6
"#;

const STALL: &str = r#"
[background.stall]
every = "1MiB"
duration_us = 300000
"#;

const WEAR: &str = r#"
[wear]
basis = "assumed"
cycles = 2
write_factor_at_end = 3.0
read_factor_at_end = 2.0
levelling = "none"
at_end = "writes-fail"
"#;

const THERMAL: &str = r#"
[thermal]
basis = "assumed"
limit = "1MiB"
resume = "512KiB"
time_constant_s = 10.0
speed_factor = 0.25
"#;

const REGION: &str = r#"
[[region]]
basis = "assumed"
start = "1MiB"
length = "1MiB"
read_factor = 2.0
write_factor = 3.0
"#;

const KIB_64: Bytes = Bytes::kib(64);

/// The plain stick with these additional tables.
fn stick(tables: &[&str]) -> VirtualStick {
    VirtualStick::new(&Profile::parse(&format!("{PLAIN}{}", tables.concat())).unwrap(), 1)
}

fn run(stick: &mut VirtualStick, op: Op) -> Duration {
    let completion = stick.run(op).unwrap();
    completion.outcome.as_ref().unwrap();
    completion.latency()
}

/// Microseconds of a write.
fn write(stick: &mut VirtualStick, offset: Bytes, length: Bytes) -> u128 {
    run(stick, Op::write(ByteRange::new(offset, length), Pattern::new(1))).as_micros()
}

/// Microseconds of a read.
fn read(stick: &mut VirtualStick, offset: Bytes, length: Bytes) -> u128 {
    run(stick, Op::read(ByteRange::new(offset, length))).as_micros()
}

/// Microseconds of each of `count` sequential writes of 64 KiB from `offset` on.
fn sequential(stick: &mut VirtualStick, offset: Bytes, count: u64) -> Vec<u128> {
    (0..count).map(|step| write(stick, offset + KIB_64 * step, KIB_64)).collect()
}

fn discard(stick: &mut VirtualStick, offset: Bytes, length: Bytes) {
    run(stick, Op::Discard { range: ByteRange::new(offset, length) });
}

#[test]
fn plain_stick_has_its_documented_times() {
    let mut stick = stick(&[]);
    assert_eq!(sequential(&mut stick, Bytes::ZERO, 3), [4200; 3]);
    assert_eq!(read(&mut stick, Bytes::ZERO, KIB_64), 2548);
}

#[test]
fn slc_cache_is_fast_until_exhausted() {
    let mut stick = stick(&[SLC]);
    // 16 writes of 64 KiB: 900 us of flash overlap with 2148 us of overhead and data. Then writes bypass the
    // cache.
    assert_eq!(sequential(&mut stick, Bytes::ZERO, 16), [2248; 16]);
    assert_eq!(stick.statistics().slc_cache_bytes, Bytes::mib(1));
    assert_eq!(sequential(&mut stick, Bytes::mib(1), 4), [4200; 4]);
    assert_eq!(stick.statistics().pages_folded, 0);
    stick.pause(Duration::from_secs(100)).unwrap();
    assert_eq!(write(&mut stick, Bytes::mib(2), KIB_64), 4200);
}

#[test]
fn slc_cache_counts_a_page_of_two_commands_once() {
    let length = Bytes::kib(24);
    let write_all = |stick: &mut VirtualStick, steps: std::ops::Range<u64>| {
        for step in steps {
            write(stick, length * step, length);
        }
    };
    let mut sequential = stick(&[SLC]);
    write_all(&mut sequential, 0..8);
    assert_eq!(sequential.statistics().slc_cache_bytes, length * 8);
    write_all(&mut sequential, 8..100);
    assert_eq!(Some(sequential.statistics().slc_cache_bytes), sequential.profile().truth().slc_cache);
    let mut flushed = stick(&[SLC]);
    for step in 0..8 {
        write(&mut flushed, length * step, length);
        run(&mut flushed, Op::Flush);
    }
    assert_eq!(flushed.statistics().slc_cache_bytes, Bytes::kib(32) * 8, "two pages each");
}

#[test]
fn exhausted_slc_cache_folds_before_each_write() {
    let mut stick = stick(&[&SLC.replace("direct", "fold")]);
    sequential(&mut stick, Bytes::ZERO, 16);
    // Each write waits until 64 KiB have been folded, in 4096 us.
    assert_eq!(sequential(&mut stick, Bytes::mib(1), 4), [6344; 4]);
    let statistics = stick.statistics();
    assert_eq!((statistics.pages_folded, statistics.page_programs), (16, 20 * 4 + 16));
    assert_eq!(statistics.bytes_programmed, Bytes::kib(16) * 96);
}

#[test]
fn idle_slc_cache_folds_after_the_idle_delay() {
    let mut stick = stick(&[SLC, BACKGROUND]);
    sequential(&mut stick, Bytes::ZERO, 16);
    stick.pause(Duration::from_millis(999)).unwrap();
    assert_eq!(stick.statistics().slc_cache_bytes, Bytes::mib(1));
    // One more millisecond of delay, and 32.768 ms for half a mebibyte.
    stick.pause(Duration::from_micros(33_768)).unwrap();
    assert_eq!(stick.statistics().slc_cache_bytes, Bytes::kib(512));
    assert_eq!(stick.statistics().pages_folded, 32);
    let times = sequential(&mut stick, Bytes::mib(1), 9);
    assert_eq!((&times[..8], times[8]), (&[2248; 8][..], 4200));
    stick.pause(Duration::from_secs(3600)).unwrap();
    assert_eq!(stick.statistics().slc_cache_bytes, Bytes::ZERO);
}

#[test]
fn slc_cache_defers_merges_to_folding() {
    let random = |stick: &mut VirtualStick| -> Vec<u128> {
        (0..16).map(|step| write(stick, Bytes::mib(3) * step + KIB_64, KIB_64)).collect()
    };
    assert!(random(&mut stick(&[]))[2..].iter().all(|time| *time > 45_000));
    let mut stick = stick(&[SLC, BACKGROUND]);
    assert_eq!(random(&mut stick), [2248; 16]);
    // 14 closed units lack 15/16 of their data: 14 merges of 46 875 us, and 65.536 ms of folding. Half the
    // time folds half of it.
    let folding_us = 14 * 46_875 + 65_536;
    stick.pause(Duration::from_micros(1_000_000 + folding_us / 2)).unwrap();
    let held = stick.statistics().slc_cache_bytes;
    assert!(held.get().abs_diff(512 << 10) < 16, "{held}");
}

#[test]
fn dynamic_slc_cache_shrinks_as_the_stick_fills() {
    let dynamic = SLC.replace("size = \"1MiB\"", "size = \"1MiB\"\nfree_share = 0.25");
    let mut stick = stick(&[&dynamic]);
    // 1 + (64 - w) / 4 = w at 13.6 MiB.
    let cache = stick.profile().slc_cache.as_ref().unwrap();
    assert_eq!(cache.from_empty(Bytes::mib(64)), Bytes::kib(13926) + Bytes::new(409));
    let times = sequential(&mut stick, Bytes::ZERO, 16 * 20);
    let fast = times.iter().filter(|time| **time == 2248).count();
    assert_eq!(fast, 16 * 13 + 8, "in whole erase blocks: 1 + (64 - 14) / 4");
    discard(&mut stick, Bytes::ZERO, Bytes::mib(20));
    let times = sequential(&mut stick, Bytes::ZERO, 16 * 5);
    assert_eq!(times.iter().filter(|time| **time == 2248).count(), 44, "1 + (64 - 3) / 4 - 13.5");
}

#[test]
fn write_buffer_accepts_what_fits_and_flush_waits_for_the_flash() {
    let mut stick = stick(&[BUFFER]);
    // 100 us of link, 20 us to accept, 2048 us of data. The flash starts at 100 us and takes 4.1 ms for each,
    // so writes are done at 4.2, 8.3, 12.4, 16.5 ms. The eighth arrives at 7 x 2168 + 100 us and waits for
    // the fourth.
    let times = sequential(&mut stick, Bytes::ZERO, 8);
    assert_eq!((&times[..7], times[7]), (&[2168; 7][..], 2168 + 16_500 - 15_276));
    run(&mut stick, Op::Flush);
    assert_eq!(stick.now().as_nanos(), 100_000 + 8 * 4_100_000);
    assert_eq!(run(&mut stick, Op::Flush).as_micros(), 100);
}

#[test]
fn recent_and_read_ahead_caches_have_their_own_hit_times() {
    let caches = r#"
[[read.cache]]
basis = "assumed"
kind = "recent"
size = "8KiB"
hit_us = 10
[[read.cache]]
basis = "assumed"
kind = "read-ahead"
size = "128KiB"
hit_us = 50
"#;
    let text = PLAIN.replace("[write]", &format!("{caches}[write]"));
    let mut stick = VirtualStick::new(&Profile::parse(&text).unwrap(), 1);
    let four = Bytes::kib(4);
    // 100 us of link and 128 us of data, plus 400 us of access, 10 us of the recent cache, or 50 us of
    // read-ahead.
    let mut at = |kib: u64| read(&mut stick, Bytes::kib(kib), four);
    assert_eq!([at(0), at(1000), at(0), at(2000), at(1000)], [628, 628, 238, 628, 628]);
    assert_eq!([at(4000), at(4004), at(4008), at(4100), at(4004)], [628, 628, 278, 278, 628]);
    assert_eq!([at(4132), at(4004)], [278, 238]);
    write(&mut stick, Bytes::kib(4064), Bytes::kib(16));
    assert_eq!(read(&mut stick, Bytes::kib(4100), four), 628);
}

#[test]
fn never_written_and_discarded_areas_have_their_own_speed() {
    let states = r#"
[states]
basis = "assumed"
unit = "16KiB"
read_trimmed_factor = 0.25
write_empty_factor = 0.5
"#;
    let text = PLAIN.replace("access_us = 400", "access_us = 400\nnever_written_factor = 0.5") + states;
    let mut stick = VirtualStick::new(&Profile::parse(&text).unwrap(), 1);
    let page = Bytes::kib(16);
    let read_page = |stick: &mut VirtualStick| read(stick, Bytes::mib(1), page);
    assert_eq!(read_page(&mut stick), 612 + 200);
    // 1.1 ms of flash, half of it in an empty area; the transfer of 100 + 512 us is longer.
    assert_eq!([write(&mut stick, Bytes::mib(1), page), write(&mut stick, Bytes::mib(2), page)], [712, 712]);
    assert_eq!(write(&mut stick, Bytes::mib(1), page), 1200 + 50_000 * 63 / 64);
    assert_eq!(read_page(&mut stick), 612 + 400);
    discard(&mut stick, Bytes::mib(1), page);
    assert_eq!(read_page(&mut stick), 612 + 100);
    assert_eq!(read(&mut stick, Bytes::mib(2), page), 612 + 400);
    discard(&mut stick, Bytes::mib(2), Bytes::kib(8));
    assert_eq!(read(&mut stick, Bytes::mib(2), page), 612 + 400, "half a unit is not discarded");
}

#[test]
fn gc_stalls_are_periodic_and_idle_time_shortens_them() {
    let mut stick = stick(&[BACKGROUND, STALL]);
    let times = sequential(&mut stick, Bytes::ZERO, 32);
    let stalled: Vec<usize> = (0..32).filter(|write| times[*write] == 4200 + 300_000).collect();
    assert_eq!((stalled, stick.statistics().stalls), (vec![15, 31], 2));
    // 8 of 16 parts are pending: 150 ms. 70 ms of idle time beyond the delay do almost half.
    sequential(&mut stick, Bytes::mib(2), 8);
    stick.pause(Duration::from_millis(1070)).unwrap();
    let times = sequential(&mut stick, Bytes::kib(2560), 13);
    assert_eq!((0..13).filter(|write| times[*write] > 100_000).collect::<Vec<_>>(), [11]);
}

#[test]
fn stall_durations_are_sampled_uniformly() {
    let spread = STALL.replace("duration_us = 300000", "duration_us = 100000\nduration_max_us = 4000000");
    let mut stick = stick(&[BACKGROUND, &spread]);
    let times = sequential(&mut stick, Bytes::ZERO, 16 * 60);
    let stalls: Vec<u128> = times.into_iter().filter(|time| *time > 50_000).collect();
    assert_eq!(stalls.len(), 60);
    assert!(stalls.iter().all(|stall| (104_200..=4_104_200).contains(stall)));
    let mean = stalls.iter().sum::<u128>() / 60;
    assert!((1_700_000..2_400_000).contains(&mean), "{mean}");
}

#[test]
fn request_waits_for_the_unit_of_background_work_under_way() {
    let units = BACKGROUND.replace("idle_after_us = 1e6", "idle_after_us = 1e6\nunit_us = 20000");
    let mut stick = stick(&[SLC, &units]);
    sequential(&mut stick, Bytes::ZERO, 16);
    // Folding takes 65.536 ms: 3 units and a rest. The read arrives 45.1 ms into the work, after 100 us of
    // link: 14.9 ms are left.
    stick.pause(Duration::from_millis(1045)).unwrap();
    assert_eq!(read(&mut stick, Bytes::ZERO, KIB_64), 2548 + 14_900);
    stick.pause(Duration::from_millis(2000)).unwrap();
    assert_eq!(read(&mut stick, Bytes::ZERO, KIB_64), 2548);
}

#[test]
fn slow_region_scales_flash_times() {
    let mut stick = stick(&[REGION]);
    assert_eq!(
        [read(&mut stick, Bytes::ZERO, KIB_64), read(&mut stick, Bytes::mib(1), KIB_64)],
        [2548, 2948]
    );
    assert_eq!(
        [write(&mut stick, Bytes::ZERO, KIB_64), write(&mut stick, Bytes::mib(1), KIB_64)],
        [4200, 12_400]
    );
    assert_eq!(read(&mut stick, Bytes::mib(2), KIB_64), 2548);
}

#[test]
fn failing_region_fails_the_configured_operations() {
    let outcomes = |fails: &str| {
        let mut stick = stick(&[REGION, &format!("fails = \"{fails}\"")]);
        let range = ByteRange::new(Bytes::mib(1) - Bytes::kib(4), Bytes::kib(8));
        [Op::read(range), Op::write(range, Pattern::new(1)), Op::Discard { range }].map(|op| {
            let completion = stick.run(op).unwrap();
            assert!(completion.latency() >= Duration::from_micros(100));
            completion.outcome.is_err_and(|error| error.cause == FailureCause::Medium)
        })
    };
    assert_eq!(outcomes("read"), [true, false, false]);
    assert_eq!(outcomes("write"), [false, true, false]);
    assert_eq!(outcomes("both"), [true, true, false]);
}

#[test]
fn failed_write_leaves_the_contents() {
    let mut stick = stick(&[REGION, "fails = \"write\""]);
    let range = ByteRange::new(Bytes::mib(1), Bytes::kib(4));
    assert!(stick.run(Op::write(range, Pattern::new(1))).unwrap().outcome.is_err());
    assert!(stick.read_bytes(range).unwrap().unwrap().iter().all(|byte| *byte == 0));
}

#[test]
fn wear_slows_requests_and_finally_fails_writes() {
    let mut stick = stick(&[WEAR]);
    // A zone is one erase block here. Each pass erases it once, and the endurance is two cycles.
    assert_eq!(sequential(&mut stick, Bytes::ZERO, 15), [4200; 15]);
    assert_eq!(write(&mut stick, Bytes::kib(960), KIB_64), 100 + 4100 * 2, "half of the cycles are used up");
    assert_eq!(read(&mut stick, Bytes::ZERO, KIB_64), 2148 + 400 * 3 / 2);
    sequential(&mut stick, Bytes::ZERO, 15);
    let last = stick.run(Op::write(ByteRange::new(Bytes::kib(960), KIB_64), Pattern::new(1))).unwrap();
    assert_eq!(last.outcome.unwrap_err().cause, FailureCause::Medium);
    assert_eq!(read(&mut stick, Bytes::ZERO, KIB_64), 2148 + 400 * 2);
    assert_eq!(write(&mut stick, Bytes::mib(5), KIB_64), 4200, "the rest of the stick is as new");
}

#[test]
fn static_levelling_and_used_cycles_apply_to_the_whole_stick() {
    let old = WEAR
        .replace("\"none\"", "\"static\"")
        .replace("cycles = 2", "cycles = 1000\ncycles_used = 500")
        .replace("writes-fail", "goes-on");
    let mut stick = stick(&[&old]);
    assert_eq!(write(&mut stick, Bytes::mib(9), KIB_64), 100 + 4100 * 2);
    let worn_out = old.replace("cycles_used = 500", "cycles_used = 5000");
    let mut stick = self::stick(&[&worn_out]);
    assert_eq!(write(&mut stick, Bytes::mib(9), KIB_64), 100 + 4100 * 3);
}

#[test]
fn heat_throttles_sustained_work_and_decays_when_idle() {
    let mut stick = stick(&[THERMAL]);
    // 64 KiB every 4.2 ms, with a time constant of 10 s: 1 MiB of heat needs 17 writes, as 16 have lost about
    // 0.3 %.
    let times = sequential(&mut stick, Bytes::ZERO, 20);
    assert_eq!((&times[..17], &times[17..]), (&[4200; 17][..], &[100 + 4100 * 4; 3][..]));
    assert_eq!(stick.statistics().hot_commands, 3);
    // About 1.25 MiB decay to 512 KiB in 10 s x ln 2.5 = 9.1 s.
    stick.pause(Duration::from_millis(8_500)).unwrap();
    assert_eq!(read(&mut stick, Bytes::ZERO, Bytes::new(512)), 100 + 4 * (400 + 16));
    stick.pause(Duration::from_millis(1_000)).unwrap();
    assert_eq!(write(&mut stick, Bytes::mib(9), KIB_64), 4200);
}

#[test]
fn read_share_scales_the_heat_of_reads() {
    let reads = |share: &str| {
        let mut stick = stick(&[THERMAL, share]);
        for _ in 0..40 {
            read(&mut stick, Bytes::ZERO, KIB_64);
        }
        stick.statistics().hot_commands
    };
    assert_eq!([reads("read_share = 0"), reads("read_share = 0.5"), reads("")], [0, 7, 23]);
}

#[test]
fn sustained_rate_excludes_caches_and_includes_stalls() {
    let about = |tables: &[&str], us_per_mib: f64| {
        let rate = stick(tables).profile().sustained_write_per_s().as_f64();
        let expected = f64::from(1 << 20) / us_per_mib * 1e6;
        assert!((rate / expected - 1.0).abs() < 0.002, "{rate} instead of {expected}");
    };
    about(&[], 16.0 * 4200.0);
    about(&[SLC], 16.0 * 4200.0);
    about(&[&SLC.replace("direct", "fold")], 16.0 * 6344.0);
    // The buffer hides the link's 100 us behind the flash's 4100 us.
    about(&[BUFFER], 16.0 * 4100.0);
    about(&[BACKGROUND, STALL], 16.0 * 4200.0 + 300_000.0);
    // Stalls of different durations count with their mean.
    about(&[BACKGROUND, STALL, "duration_max_us = 500000"], 16.0 * 4200.0 + 400_000.0);
}

#[test]
fn truth_contains_caches_and_buffers() {
    let truth = |tables: &[&str]| stick(tables).profile().truth();
    assert_eq!((truth(&[]).slc_cache, truth(&[]).write_buffer), (None, None));
    assert_eq!(truth(&[SLC]).slc_cache, Some(Bytes::mib(1)));
    assert_eq!(truth(&[BUFFER]).write_buffer, Some(Bytes::kib(256)));
}

#[test]
fn impossible_values_are_refused_with_key_and_bounds() {
    let cases = [
        (SLC, "\"1MiB\"", "0", "slc_cache.size"),
        (SLC, "\"1MiB\"", "\"64MiB\"", "slc_cache.size"),
        (SLC, "= \"1MiB\"", "= 0\nfree_share = 1.5", "slc_cache.free_share"),
        (SLC, "per_s = 16", "per_s = 0", "slc_cache.fold_megabytes_per_s"),
        (SLC, "= 200", "= -1", "slc_cache.page_program_us"),
        (BUFFER, "\"256KiB\"", "\"2GiB\"", "write_buffer.size"),
        (BUFFER, "= 20", "= nan", "write_buffer.accept_us"),
        (BACKGROUND, "1e6", "1e9", "background.idle_after_us"),
        (WEAR, "cycles = 2", "cycles = 0", "wear.cycles"),
        (WEAR, "= 3.0", "= 0.5", "wear.write_factor_at_end"),
        (THERMAL, "\"512KiB\"", "\"2MiB\"", "thermal.resume"),
        (THERMAL, "0.25", "0", "thermal.speed_factor"),
        (THERMAL, "10.0", "0", "thermal.time_constant_s"),
        (REGION, "start = \"1MiB\"", "start = \"64MiB\"", "region.start"),
        (REGION, "length = \"1MiB\"", "length = \"64MiB\"", "region.length"),
        (REGION, "= 2.0", "= 0", "region.read_factor"),
    ];
    for (table, old, new, expected) in cases {
        assert!(table.contains(old), "{old}");
        let error = Profile::parse(&format!("{PLAIN}{}", table.replace(old, new))).unwrap_err();
        let ProfileError::Impossible { key, allowed, .. } = error else { unreachable!("{error}") };
        assert_eq!(key, expected);
        assert!(!allowed.is_empty());
    }
    let stalls = format!("{PLAIN}{BACKGROUND}{STALL}duration_max_us = 5");
    assert!(Profile::parse(&stalls).unwrap_err().to_string().contains("duration_max_us = 5"));
}
