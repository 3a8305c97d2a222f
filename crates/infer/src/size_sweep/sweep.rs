//! The time of writes by size from our own ladder, which comes to the sizes that matter several times.
//!
//! A device may be slower at one time than at another, by the same share for all sizes. So the time of a cell is a size's
//! time and a round's pace, multiplied; both are fitted alternately.

use std::collections::BTreeMap;

use flashscope_device::Bytes;

use flashscope_record::observation::{Order, Times, WriteSizeCell, WriteSizeData};

use crate::size_sweep::write_unit::SweepPoint;
use crate::statistics::{count, median};

/// A write that takes so many times as long as the quickest of its cell was held up by something else.
const HELD_UP: f64 = 2.5;
/// A size that takes so many times as long as a larger one is suspicious,
const SUSPICIOUS: f64 = 1.4;
/// until it did so in that many rounds.
const SUSPICIOUS_ROUNDS: usize = 3;
/// Writes of the same size differ by less as a rule, and so many of them by any amount, unless the device became slower or quicker.
const CHANGED: f64 = 1.5;
const BEYOND: f64 = 0.75;
/// After so many steps the fit has settled.
const STEPS: usize = 8;
/// The relative error of a figure in a published table: two to three digits, one run.
const PUBLISHED_ERROR: f64 = 0.03;
/// No write is known better, as a share of its time.
const ERROR_MIN: f64 = 0.005;
/// The standard deviation of normal noise is so many times its median absolute deviation (P. Huber, "Robust Statistics").
const DEVIATION: f64 = 1.4826;

/// The writes of one size in one round: the logarithm of their mean time, how many they are, and how much each of them
/// differs from it, as a share. A published figure is one write, and nobody knows how much it differs.
struct Cell {
    size: Bytes,
    round: usize,
    level: f64,
    writes: f64,
    differences: Vec<f64>,
    is_published: bool,
}

/// One rung per size.
#[must_use]
pub fn sweep_points(cells: &[WriteSizeCell]) -> Vec<SweepPoint> {
    let cells = in_rounds(cells);
    let (levels, paces) = fit(&cells);
    let noise = noise(&cells, &levels, &paces);
    let rung = |(size, level): (&Bytes, &f64)| {
        let here = || cells.iter().filter(|cell| cell.size == *size);
        let writes: f64 = here().map(|cell| cell.writes).sum();
        let least = if here().any(|cell| cell.is_published) { PUBLISHED_ERROR } else { ERROR_MIN };
        SweepPoint { size: *size, seconds: level.exp(), relative_error: (noise / writes.sqrt()).max(least) }
    };
    levels.iter().map(rung).collect()
}

/// Sizes that took much longer than a larger one, and were written in few rounds: they may have been held up.
#[must_use]
pub fn held_up(cells: &[WriteSizeCell]) -> Vec<Bytes> {
    let rungs = sweep_points(cells);
    let rounds = |size: Bytes| cells.iter().filter(|cell| cell.request == size).count();
    let is_held_up = |index: &usize| {
        let larger = rungs[index + 1..].iter().map(|rung| rung.seconds).fold(f64::INFINITY, f64::min);
        rungs[*index].seconds > larger * SUSPICIOUS && rounds(rungs[*index].size) < SUSPICIOUS_ROUNDS
    };
    (0..rungs.len()).filter(is_held_up).map(|index| rungs[index].size).collect()
}

/// What the writes of the control took at first and take at the end, seconds, if that has changed by far: three quarters of them lie
/// beyond all of the first round. A few writes that are held up change nothing.
#[must_use]
pub fn changed(data: &WriteSizeData) -> Option<(f64, f64)> {
    let control = data.control.as_ref()?;
    let first = data.cells.iter().find(|cell| cell.request == control.request)?;
    let (first, control) = (seconds(&first.times), seconds(&control.times));
    let (before, after) = (median(&first)?, median(&control)?);
    let beyond = |is_beyond: &dyn Fn(f64, f64) -> bool| {
        let all = control.iter().filter(|now| first.iter().all(|then| is_beyond(**now, *then)));
        count(all.count()) >= BEYOND * count(control.len())
    };
    let is_slower = after > before * CHANGED && beyond(&|now, then| now > then);
    let is_quicker = after * CHANGED < before && beyond(&|now, then| now < then);
    (is_slower || is_quicker).then_some((before, after))
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
    /// Where a size is no multiple of the page, some of its writes touch one more: the mean counts, but for writes that
    /// were held up.
    fn new(cell: &WriteSizeCell, round: usize) -> Option<Self> {
        let seconds = seconds(&cell.times);
        let quickest = seconds.iter().copied().fold(f64::INFINITY, f64::min);
        let usual: Vec<f64> = seconds.into_iter().filter(|time| *time <= HELD_UP * quickest).collect();
        let writes = count(usual.len());
        let mean = usual.iter().sum::<f64>() / writes;
        // Each difference from a mean of few is too small by this.
        let scale = (writes / (writes - 1.0).max(1.0)).sqrt();
        let differences = usual.iter().map(|time| (time / mean - 1.0).abs() * scale).collect();
        let is_published = matches!(cell.times, Times::Mean { .. });
        let level = mean.ln();
        (quickest > 0.0 && level.is_finite()).then_some(Self {
            size: cell.request,
            round,
            level,
            writes,
            differences,
            is_published,
        })
    }
}

/// Each size's level, and each round's pace. A cell far above another of its size was held up as a whole.
fn fit(cells: &[Cell]) -> (BTreeMap<Bytes, f64>, BTreeMap<usize, f64>) {
    let (mut levels, mut paces) = (BTreeMap::new(), BTreeMap::new());
    for _ in 0..STEPS {
        let pace = |cell: &Cell| cell.level - paces.get(&cell.round).copied().unwrap_or(0.0);
        let quickest = |cell: &Cell| {
            cells.iter().filter(|other| other.size == cell.size).map(pace).fold(f64::INFINITY, f64::min)
        };
        let usual: Vec<&Cell> =
            cells.iter().filter(|cell| pace(cell) <= quickest(cell) + HELD_UP.ln()).collect();
        levels = means(&usual, |cell| (cell.size, pace(cell)));
        paces = means(&usual, |cell| (cell.round, cell.level - levels[&cell.size]));
    }
    (levels, paces)
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

/// How much the time of one write differs from the fit, as a share.
fn noise(cells: &[Cell], levels: &BTreeMap<Bytes, f64>, paces: &BTreeMap<usize, f64>) -> f64 {
    let of_round = |cell: &Cell| {
        let again = cells.iter().any(|other| other.size == cell.size && other.round != cell.round);
        let difference = cell.level - levels[&cell.size] - paces.get(&cell.round).unwrap_or(&0.0);
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
    fn a_slower_round_does_not_change_what_sizes_are_to_each_other() {
        let rungs = sweep_points(&[
            cell(16, &[1000, 1010]),
            cell(64, &[2000, 2020]),
            cell(16, &[1300]),
            cell(64, &[2600]),
        ]);
        assert!((rungs[1].seconds / rungs[0].seconds - 2.0).abs() < 1e-3, "{rungs:?}");
    }

    #[test]
    fn a_size_that_was_held_up_is_named_until_it_was_seen_again() {
        let mut cells = vec![cell(16, &[90_000, 91_000]), cell(32, &[1500, 1500]), cell(64, &[2000, 2000])];
        assert_eq!(held_up(&cells), [Bytes::kib(16)]);
        cells.push(cell(16, &[1000, 1000]));
        assert_eq!(held_up(&cells), []);
        assert!((sweep_points(&cells)[0].seconds - 1e-3).abs() < 1e-4, "{:?}", sweep_points(&cells));
    }
}
