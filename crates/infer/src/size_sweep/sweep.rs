//! The time of writes by size, from our own size sweep, which measures the sizes that matter several times.
//!
//! A device may be slower in one round than in another, by the same share for all sizes. So the time of a
//! cell is the product of its size's time and its round's slowdown; both are fitted alternately.

use std::collections::BTreeMap;

use flashscope_device::Bytes;

use flashscope_record::observation::{Order, Times, WriteSizeCell, WriteSizeData};

use crate::size_sweep::write_unit::SweepPoint;
use crate::statistics::{count, median};
use crate::thresholds::{CLEARLY_LONGER, ITERATIONS, MOST, NOT_NOISE, OUTLIER_RATIO};

/// A size that takes this many times as long as a larger one is suspicious, ... Guess.
const SUSPICIOUS: f64 = 1.4;
/// The relative error of a figure in a published table: two to three digits, one run. Guess.
pub const PUBLISHED_ERROR: f64 = 0.03;
/// The smallest relative error of a write's time. Guess.
const ERROR_MIN: f64 = 0.005;
/// The standard deviation of normal noise in units of its median absolute deviation (P. Huber, "Robust
/// Statistics").
const DEVIATION: f64 = 1.4826;

/// The writes of one size in one round: the logarithm of their mean time, their number, and how much each
/// differs from it, as a share. A published figure counts as one write without differences.
struct Cell {
    size: Bytes,
    round: usize,
    level: f64,
    writes: f64,
    differences: Vec<f64>,
    is_published: bool,
}

/// One point per size.
#[must_use]
pub fn sweep_points(measured: &[WriteSizeCell]) -> Vec<SweepPoint> {
    let cells = in_rounds(measured);
    let (levels, slowdowns) = fit(&cells);
    let noise = noise(&cells, &levels, &slowdowns);
    let point = |(size, level): (&Bytes, &f64)| {
        let here = || cells.iter().filter(|cell| cell.size == *size);
        let writes: f64 = here().map(|cell| cell.writes).sum();
        let error_min = if here().any(|cell| cell.is_published) { PUBLISHED_ERROR } else { ERROR_MIN };
        SweepPoint {
            size: *size,
            seconds: level.exp(),
            relative_error: (noise / writes.sqrt()).max(error_min),
            outliers: outliers(measured, *size),
        }
    };
    levels.iter().map(point).collect()
}

/// The share of the writes of this size that took more than [`OUTLIER_RATIO`] times as long as the fastest.
fn outliers(cells: &[WriteSizeCell], size: Bytes) -> f64 {
    let of_size = cells.iter().filter(|cell| cell.order == Order::Linear && cell.request == size);
    let times: Vec<f64> = of_size.flat_map(|cell| seconds(&cell.times)).collect();
    let fastest = times.iter().copied().fold(f64::INFINITY, f64::min);
    count(times.iter().filter(|time| **time > OUTLIER_RATIO * fastest).count()) / count(times.len()).max(1.0)
}

/// Sizes that took much longer than a larger one, and were written in few rounds: they may have stalled.
#[must_use]
pub fn stalled_sizes(cells: &[WriteSizeCell]) -> Vec<Bytes> {
    let points = sweep_points(cells);
    let rounds = |size: Bytes| cells.iter().filter(|cell| cell.request == size).count();
    let is_stalled = |index: &usize| {
        let larger = points[index + 1..].iter().map(|point| point.seconds).fold(f64::INFINITY, f64::min);
        points[*index].seconds > larger * SUSPICIOUS && rounds(points[*index].size) < NOT_NOISE
    };
    (0..points.len()).filter(is_stalled).map(|index| points[index].size).collect()
}

/// The median time of the control's writes at first and at the end, seconds, if the device changed its speed.
#[must_use]
pub fn changed(data: &WriteSizeData) -> Option<(f64, f64)> {
    let control = data.control.as_ref()?;
    let first = data.cells.iter().find(|cell| cell.request == control.request)?;
    let (first, control) = (seconds(&first.times), seconds(&control.times));
    let (before, after) = (median(&first)?, median(&control)?);
    let beyond = |is_beyond: &dyn Fn(f64, f64) -> bool| {
        let all = control.iter().filter(|now| first.iter().all(|then| is_beyond(**now, *then)));
        count(all.count()) >= MOST * count(control.len())
    };
    let is_slower = after > before * CLEARLY_LONGER && beyond(&|now, then| now > then);
    let is_faster = after * CLEARLY_LONGER < before && beyond(&|now, then| now < then);
    (is_slower || is_faster).then_some((before, after))
}

fn seconds(times: &Times) -> Vec<f64> {
    match times {
        Times::Each(each) => each.iter().map(std::time::Duration::as_secs_f64).collect(),
        Times::Mean { per_request, .. } => vec![per_request.as_secs_f64()],
    }
}

/// The cells with their rounds: a round ends where a size comes again.
fn in_rounds(cells: &[WriteSizeCell]) -> Vec<Cell> {
    let mut result: Vec<Cell> = Vec::new();
    let mut round = 0;
    for cell in cells.iter().filter(|cell| cell.order == Order::Linear) {
        if result.iter().any(|other| other.round == round && other.size == cell.request) {
            round += 1;
        }
        result.extend(Cell::new(cell, round));
    }
    result
}

impl Cell {
    /// From the mean, without stalls: if a size is no multiple of the page, some of its writes touch one page
    /// more.
    fn new(cell: &WriteSizeCell, round: usize) -> Option<Self> {
        let seconds = seconds(&cell.times);
        let fastest = seconds.iter().copied().fold(f64::INFINITY, f64::min);
        let regular: Vec<f64> = seconds.into_iter().filter(|time| *time <= OUTLIER_RATIO * fastest).collect();
        let writes = count(regular.len());
        let mean = regular.iter().sum::<f64>() / writes;
        // Each difference from a mean of few is too small by this.
        let scale = (writes / (writes - 1.0).max(1.0)).sqrt();
        let differences = regular.iter().map(|time| (time / mean - 1.0).abs() * scale).collect();
        let is_published = matches!(cell.times, Times::Mean { .. });
        let level = mean.ln();
        (fastest > 0.0 && level.is_finite()).then_some(Self {
            size: cell.request,
            round,
            level,
            writes,
            differences,
            is_published,
        })
    }
}

/// Each size's level, and each round's slowdown, both as logarithms. A cell far above another of its size
/// stalled as a whole.
fn fit(cells: &[Cell]) -> (BTreeMap<Bytes, f64>, BTreeMap<usize, f64>) {
    let (mut levels, mut slowdowns) = (BTreeMap::new(), BTreeMap::new());
    for _ in 0..ITERATIONS {
        let level_of = |cell: &Cell| cell.level - slowdowns.get(&cell.round).copied().unwrap_or(0.0);
        let fastest = |cell: &Cell| {
            cells.iter().filter(|other| other.size == cell.size).map(level_of).fold(f64::INFINITY, f64::min)
        };
        let regular: Vec<&Cell> =
            cells.iter().filter(|cell| level_of(cell) <= fastest(cell) + OUTLIER_RATIO.ln()).collect();
        levels = means(&regular, |cell| (cell.size, level_of(cell)));
        slowdowns = means(&regular, |cell| (cell.round, cell.level - levels[&cell.size]));
    }
    (levels, slowdowns)
}

/// The weighted mean of a value by a key.
fn means<K: Ord>(cells: &[&Cell], keyed: impl Fn(&Cell) -> (K, f64)) -> BTreeMap<K, f64> {
    let mut sums: BTreeMap<K, (f64, f64)> = BTreeMap::new();
    for cell in cells {
        let (key, value) = keyed(cell);
        let sum = sums.entry(key).or_default();
        *sum = (sum.0 + value * cell.writes, sum.1 + cell.writes);
    }
    sums.into_iter().map(|(key, (sum, weight))| (key, sum / weight)).collect()
}

/// The deviation of a single write from the fit, as a share.
fn noise(cells: &[Cell], levels: &BTreeMap<Bytes, f64>, slowdowns: &BTreeMap<usize, f64>) -> f64 {
    let of_round = |cell: &Cell| {
        let again = cells.iter().any(|other| other.size == cell.size && other.round != cell.round);
        let difference = cell.level - levels[&cell.size] - slowdowns.get(&cell.round).unwrap_or(&0.0);
        again.then(|| difference.abs() * cell.writes.sqrt())
    };
    let inside =
        cells.iter().filter(|cell| cell.writes > 1.0).flat_map(|cell| cell.differences.iter().copied());
    let all: Vec<f64> = inside.chain(cells.iter().filter_map(of_round)).collect();
    median(&all).unwrap_or(0.0) * DEVIATION
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn cell(kib: u64, micros: &[u64]) -> WriteSizeCell {
        let each = micros.iter().map(|micros| Duration::from_micros(*micros)).collect();
        WriteSizeCell {
            order: Order::Linear,
            request: Bytes::kib(kib),
            start: None,
            times: Times::Each(each),
        }
    }

    #[test]
    fn a_slower_round_does_not_change_the_ratio_of_sizes() {
        let points = sweep_points(&[
            cell(16, &[1000, 1010]),
            cell(64, &[2000, 2020]),
            cell(16, &[1300]),
            cell(64, &[2600]),
        ]);
        assert!((points[1].seconds / points[0].seconds - 2.0).abs() < 1e-3, "{points:?}");
    }

    #[test]
    fn a_stalled_size_is_listed_until_it_is_measured_again() {
        let mut cells = vec![cell(16, &[90_000, 91_000]), cell(32, &[1500, 1500]), cell(64, &[2000, 2000])];
        assert_eq!(stalled_sizes(&cells), [Bytes::kib(16)]);
        cells.push(cell(16, &[1000, 1000]));
        assert_eq!(stalled_sizes(&cells), []);
        assert!((sweep_points(&cells)[0].seconds - 1e-3).abs() < 1e-4, "{:?}", sweep_points(&cells));
    }

    #[test]
    fn the_error_of_a_size_shrinks_with_the_root_of_its_writes() {
        let error = |rounds: usize, micros: [u64; 8]| {
            let points = sweep_points(&vec![cell(16, &micros); rounds]);
            points[0].relative_error
        };
        // Each write differs from the mean by 50 of 1050 µs.
        let uneven = [1000, 1100, 1000, 1100, 1000, 1100, 1000, 1100];
        let deviation = 50.0 / 1050.0 * (8.0_f64 / 7.0).sqrt() * DEVIATION;
        for rounds in [1, 2, 4] {
            let expected = deviation / (8.0 * count(rounds)).sqrt();
            let seen = error(rounds, uneven);
            assert!((seen / expected - 1.0).abs() < 1e-6, "{rounds} rounds: {seen}, not {expected}");
        }
        assert!((error(1, [1000; 8]) - ERROR_MIN).abs() < 1e-12, "no figure is more exact");
    }

    /// In the second round, 16 KiB take a tenth longer and 64 KiB less, so that no round is slower. Each mean
    /// of two writes differs from its fit by half of that. Four single writes differ by more from the mean of
    /// their cell, and four do not differ.
    #[test]
    fn the_difference_of_a_mean_from_its_fit_counts_with_the_root_of_its_writes() {
        let points = sweep_points(&[
            cell(16, &[900, 1100]),
            cell(64, &[2200, 2200]),
            cell(16, &[1100, 1100]),
            cell(64, &[1800, 2200]),
        ]);
        let expected = 1.1_f64.ln() / 2.0 * 2.0_f64.sqrt() * DEVIATION / 4.0_f64.sqrt();
        for point in &points {
            assert!((point.relative_error / expected - 1.0).abs() < 1e-6, "{expected}: {points:?}");
        }
    }
}
