//! The answers of a row: speed, interval, percentiles, and whether flash gave them, each by its definition.

use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_record::finding::Cached;
use flashscope_record::observation::{
    Direction, LinkLimit, Order, ReadBack, SpeedCase, SpeedCell, SpeedData,
};

use crate::streams::batch_means::STUDENT_95;
use crate::streams::speed::phases::Latencies;
use crate::streams::speed::{Expected, Speed, Unsettled, exceeds, is_clear, speed, speed_of};

const WRITE: SpeedCase =
    SpeedCase { direction: Direction::Write, order: Order::Linear, request: Bytes::mib(1), queue_depth: 1 };
const READ: SpeedCase =
    SpeedCase { direction: Direction::Read, order: Order::Random, request: Bytes::kib(4), queue_depth: 1 };

/// A row of requests with these latencies in microseconds, one after the other.
fn row(case: SpeedCase, microseconds: impl IntoIterator<Item = u64>) -> SpeedCell {
    let mut cell = SpeedCell::new(case);
    let mut ended = Duration::ZERO;
    for each in microseconds.into_iter().map(Duration::from_micros) {
        ended += each;
        cell.keep(each, ended);
    }
    cell
}

/// A row of sequential writes with these latencies in milliseconds.
fn writes(milliseconds: impl IntoIterator<Item = u64>) -> SpeedCell {
    row(WRITE, milliseconds.into_iter().map(|each| each * 1000))
}

fn data(cells: Vec<SpeedCell>) -> SpeedData {
    SpeedData { cells, ..SpeedData::default() }
}

/// Half the width of the interval, as a share; the value is the geometric mean of its ends.
fn half_width(seen: &Speed) -> f64 {
    let Speed { bytes_per_s, bytes_per_s_low: low, bytes_per_s_high: high, .. } = *seen;
    assert!(low < bytes_per_s && bytes_per_s < high, "{seen:?}");
    assert!((low * high / bytes_per_s.powi(2) - 1.0).abs() < 1e-9, "{seen:?}");
    high / bytes_per_s - 1.0
}

#[test]
fn the_interval_of_an_even_row_has_the_least_width_and_that_of_an_uneven_one_its_spread() {
    assert!((half_width(&speed(&writes([50; 240]), None).unwrap()) - 0.01).abs() < 1e-9);
    // Twelve parts of 20 writes, alternately 40 and 60 ms: the error of their mean is 10 / sqrt(11) of 50 ms.
    let uneven =
        speed(&writes((0..240).map(|index| if index / 20 % 2 == 0 { 40 } else { 60 })), None).unwrap();
    let error = 10.0 / 11.0_f64.sqrt() / 50.0;
    assert!((half_width(&uneven) - error * *STUDENT_95).abs() < 1e-6, "{uneven:?}");
}

#[test]
fn few_requests_have_a_speed_where_they_took_seconds() {
    let took = [1300, 1310, 1330, 1300, 2, 1350, 1320];
    let slow = speed(&writes(took), None).unwrap();
    let mean = took.iter().sum::<u64>() as f64 / 7e3;
    assert!((slow.bytes_per_s * mean / 1_048_576.0 - 1.0).abs() < 1e-6, "{slow:?}");
    assert!((0.3..0.6).contains(&half_width(&slow)), "the fast one widens it: {slow:?}");
    assert!(!is_clear(&writes(took)));
    assert!(speed(&writes(took.map(|each| each / 10)), None).is_none(), "a second is too short");
    assert!(speed(&writes([1300; 5]), None).is_none(), "five are too few");
    assert!(speed(&writes([1, 1, 1, 1, 1, 1, 9000]), None).is_none(), "one of them hung");
}

#[test]
fn the_interval_over_periods_of_stalls_has_both_ends() {
    let stall = |index: u64| if index % 16 == 15 { 400 + index % 3 * 40 } else { 50 };
    let data = data(vec![writes((0..160).map(stall))]);
    let seen = speed_of(&data, &data.cells[0]).unwrap();
    assert!(half_width(&seen) >= 0.01 - 1e-9, "{seen:?}");
    let mean = (0..160).map(stall).sum::<u64>() as f64 / 160.0 / 1e3;
    assert!((seen.bytes_per_s * mean / 1_048_576.0 - 1.0).abs() < 1e-6, "{seen:?}");
}

#[test]
fn every_percentile_has_its_share_of_the_latencies_below_it() {
    // Of the latencies 0 to 1000 µs, each a millionth of a second longer than the last.
    let took: Vec<u64> = (0..=1000).rev().map(|each| each * 1000).collect();
    let Latencies { min, p50, p90, p99, p999, max } = Latencies::of(&took).unwrap();
    for (seen, micros) in [(min, 0.0), (p50, 500.0), (p90, 900.0), (p99, 990.0), (p999, 999.0), (max, 1000.0)]
    {
        assert!((seen * 1e6 - micros).abs() < 1e-6, "{seen} is not {micros} us");
    }
}

#[test]
fn a_row_is_clear_only_if_it_is_long_narrow_and_alike_in_both_halves() {
    assert!(is_clear(&writes([200; 24])));
    assert!(!is_clear(&writes([200; 23])), "too few requests");
    assert!(is_clear(&writes([20; 100])) && !is_clear(&writes([20; 99])), "shorter than two seconds");
    let uneven = writes((0..240).map(|index| if index / 20 % 2 == 0 { 47 } else { 53 }));
    assert!(!is_clear(&uneven), "the interval is too wide");
    let halves = |second| is_clear(&writes((0..120).map(|index| if index < 60 { 1000 } else { second })));
    assert_eq!([1010, 1025].map(halves), [true, false], "its halves differ");
}

#[test]
fn a_speed_may_exceed_the_link_by_the_tolerance_of_clocks_only() {
    let link = LinkLimit { bytes_per_s: Bytes::new(50_000_000), name: "USB".to_owned() };
    assert_eq!([50.9e6, 51.1e6].map(|speed| exceeds(speed, &link)), [false, true]);
}

fn with_read_back(cell: SpeedCell, lost: u32, places: u32) -> SpeedCell {
    SpeedCell { read_back: ReadBack { places, lost }, ..cell }
}

fn cached(data: &SpeedData) -> Vec<Option<Cached>> {
    data.cells.iter().map(|cell| speed_of(data, cell).unwrap().cached).collect()
}

#[test]
fn sequential_writes_are_judged_row_by_row_and_random_writes_together() {
    let not_kept = |lost, checked| Some(Cached::NotKept { lost, checked });
    let rows = |case, lost: [u32; 2]| {
        let cells = lost.map(|lost| with_read_back(row(case, [50_000; 60]), lost, 100));
        cached(&data(cells.into_iter().chain([row(READ, [200; 60])]).collect()))
    };
    assert_eq!(rows(WRITE, [2, 2]), [None, None, None], "one in fifty is tolerated");
    assert_eq!(rows(WRITE, [40, 2]), [not_kept(40, 100), None, None]);
    let random = SpeedCase { order: Order::Random, ..WRITE };
    assert_eq!(rows(random, [3, 1]), [None, None, None]);
    assert_eq!(rows(random, [40, 0]), [not_kept(40, 200), not_kept(40, 200), None], "reads are not writes");
}

#[test]
fn only_single_random_reads_show_answers_faster_than_flash() {
    let is_cached = |case| cached(&data(vec![row(case, [9; 300])]))[0].is_some();
    assert!(is_cached(READ));
    assert!(!is_cached(SpeedCase { order: Order::Linear, ..READ }), "may be read ahead");
    assert!(!is_cached(SpeedCase { queue_depth: 8, ..READ }), "several are on their way");
    let some = data(vec![row(READ, (0..300).map(|index| if index % 3 == 0 { 9 } else { 110 }))]);
    assert_eq!(cached(&some), [None], "two of three reads are as slow as flash");
}

/// Whether the second of two rows may be slowed by the cache that the first one exhausted.
fn after_cache(first: SpeedCell, second: SpeedCell) -> Option<Bytes> {
    let data = data(vec![first, second]);
    match speed_of(&data, &data.cells[1]).unwrap().unsettled {
        Some(Unsettled::AfterExhaustedCache(size)) => Some(size),
        _ => None,
    }
}

#[test]
fn a_row_after_an_exhausted_cache_is_unsettled_until_it_wrote_as_much_or_recovered() {
    let exhausts = || writes((0..240).map(|index| if index < 100 { 20 } else { 60 }));
    assert_eq!(after_cache(exhausts(), writes([60; 80])), Some(Bytes::mib(101)));
    assert_eq!(after_cache(exhausts(), writes([60; 120])), None, "wrote more than the cache holds");
    assert_eq!(
        after_cache(writes((0..240).map(|index| if index < 100 { 60 } else { 20 })), writes([60; 80])),
        None
    );
    assert_eq!(after_cache(writes([60; 240]), writes([60; 80])), None, "no cache was exhausted");
    // 124 ms at first, and 100 ms in the end.
    let slow = |index: i32| (24_000.0 * (-f64::from(index) / 20.0).exp()) as u64;
    let recovers = || row(WRITE, (0..96).map(|index| 100_000 + slow(index)));
    let data = data(vec![exhausts(), recovers(), writes([60; 80])]);
    assert_eq!(speed_of(&data, &data.cells[1]).unwrap().unsettled, None, "became faster, and is steady");
    assert_eq!(speed_of(&data, &data.cells[2]).unwrap().unsettled, None, "an earlier row recovered");
}

#[test]
fn stalls_more_frequent_than_requests_are_not_expected() {
    let before = [writes((0..320).map(|index| if index % 16 == 15 { 500 } else { 50 }))];
    let expected = |mib| Expected::of(SpeedCase { request: Bytes::mib(mib), ..WRITE }, &before).is_some();
    assert_eq!([1, 16, 17].map(expected), [true, true, false]);
    assert_eq!(Expected::of(READ, &before), None, "reads meet no stalls of writes");
}
